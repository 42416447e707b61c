//! What is done about one task.

use super::{Settling, file};
use crate::verdicts::{Gave, VerdictOrder, give};
use crate::{EngineError, Progress};
use std::path::Path;
use tribunal_core::ids::{RunId, Sha};
use tribunal_core::procedure::settle::plan_file::TaskId;
use tribunal_core::procedure::settle::seen::Given;
use tribunal_core::procedure::settle::{Input, Phase, Refinement, State};
use tribunal_core::publish::verdict::{Assessment, Sitting};

impl Settling {
    fn says(&self, task: &TaskId, number: u64, what: &str) {
        (self.listener)(Progress::Working { what: format!("{task}: {what} #{number}") });
    }

    pub(super) async fn review(
        &self,
        state: &State,
        order: RunId,
        task: &TaskId,
        number: u64,
        head: &Sha,
    ) -> Result<Input, EngineError> {
        self.says(task, number, "reviews");
        let specialist = state.memory.plan.as_ref().and_then(|plan| plan.task(task)).map(|task| task.specialist.clone());
        let persona = specialist.and_then(|name| file::persona(Path::new(&state.request.plan), &name));
        let Some(order) = state.review_order(order, task, number, head, persona.as_deref()) else {
            return Err(EngineError::Worker(format!("the plan has no task {task}")));
        };
        Ok(Input::Reviewed(self.clerk.review(&order).await.map(Box::new)))
    }

    pub(super) async fn give(
        &self,
        state: &State,
        task: &TaskId,
        number: u64,
        assessment: Assessment,
    ) -> Result<Input, EngineError> {
        let Phase::Giving { document, .. } = &state.phase else {
            return Err(EngineError::Worker("no verdict is to be given".into()));
        };
        self.says(task, number, "gives its verdict on");
        let (pull, me) = tokio::try_join!(self.on.forge.pull(number), self.on.forge.identity())?;
        let seen = self.seen(state, &pull, &me).await?;
        if let Some(hindrance) = seen.talked_over() {
            return Ok(Input::Gave(Err(hindrance)));
        }
        let order = VerdictOrder {
            place: &state.request.place(number),
            document,
            sitting: &Sitting::Settle { assessment },
            run: &state.request.run,
            closing: &state.closing(task, assessment, document.verdict),
        };
        let given = match give(&self.on, &order).await? {
            Gave::Stands(standing) => Given::of(standing),
            Gave::Refrained(refrain) => return Ok(Input::Gave(Err(refrain.into()))),
            Gave::Would(_) => None,
        };
        given.map(|given| Input::Gave(Ok(given))).ok_or_else(|| EngineError::Worker("a rehearsal gives no verdict".into()))
    }

    pub(super) async fn label(&self, task: &TaskId, number: u64, label: &str) -> Result<Input, EngineError> {
        self.says(task, number, "starts the specialist again for");
        self.on.forge.add_label(number, &label.into()).await?;
        Ok(Input::Labelled(Ok(())))
    }

    pub(super) async fn refine(
        &self,
        state: &State,
        order: RunId,
        task: &TaskId,
        number: u64,
        head: &Sha,
    ) -> Result<Input, EngineError> {
        self.says(task, number, "refines");
        let me = self.on.forge.identity().await?;
        let order = state.remedy_order(order, number, head, &me.login);
        let remedied = self.clerk.remedy(&order).await;
        Ok(Input::Refined(remedied.and_then(|remedied| Refinement::of(&remedied.report, remedied.commits.len()))))
    }
}
