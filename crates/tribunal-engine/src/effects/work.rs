//! The review as work of a host.

use super::Effects;
use crate::host::{Leaves, Work};
use crate::{EngineError, Listener};
use std::sync::Arc;
use tribunal_core::combine::verdict::Verdict;
use tribunal_core::ids::{EffectKey, RunId};
use tribunal_core::procedure::review::{Effect, Input, Phase, State, step};
use tribunal_core::procedure::{Millis, Step};
use tribunal_core::report::document::Document;
use tribunal_store::DocumentRow;

impl Work for Effects {
    type State = State;
    type Input = Input;
    type Effect = Effect;

    const PROCEDURE: &'static str = "review";
    const WAITS_ON: &'static str = "another review of the same change";

    fn step(state: Option<State>, input: Input, now: Millis) -> Result<Step<State, Effect>, EngineError> {
        Ok(step(state, input, now)?)
    }

    fn is_settled(state: &State) -> bool {
        state.is_settled()
    }

    fn key(effect: &Effect, run: &RunId) -> EffectKey {
        effect.key(run)
    }

    fn upgrade(state: State) -> Result<State, EngineError> {
        Ok(state.upgrade()?)
    }

    fn leaves(state: &State, case_id: &str) -> Leaves {
        // A review that another machine made is kept here as well: what goes on from it need not ask the forge again.
        let (Phase::Done(document) | Phase::Noop { document: Some(document), .. }) = &state.phase else {
            return Leaves::default();
        };
        Leaves { document: Some(document_row(case_id, document)), names: names(document) }
    }

    async fn run(self: Arc<Self>, effect: Effect, state: Arc<State>, case_id: Arc<str>) -> Result<Input, EngineError> {
        self.perform(effect, state, case_id).await
    }

    fn listener(&self) -> &Listener {
        &self.listener
    }
}

fn document_row(case_id: &str, document: &Document) -> DocumentRow {
    DocumentRow {
        run: document.receipt.run.0.clone(),
        case_id: case_id.to_owned(),
        at: i64::try_from(document.receipt.finished_at).unwrap_or(i64::MAX),
        base: document.base.0.clone(),
        head: document.head.0.clone(),
        subject: document.receipt.subject.clone(),
        outcome: document.outcome.word().to_owned(),
        verdict: Verdict::words(document.verdict).to_owned(),
        findings: i64::try_from(document.findings.len() + document.spec_gaps.len()).unwrap_or(i64::MAX),
        body: document.to_json(),
    }
}

fn names(document: &Document) -> Vec<(String, i64)> {
    let findings = document.findings.iter().map(|finding| (&finding.key, finding.id));
    let gaps = document.spec_gaps.iter().map(|gap| (&gap.key, gap.id));
    findings.chain(gaps).map(|(key, id)| (key.0.clone(), i64::from(id.0))).collect()
}
