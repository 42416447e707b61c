//! One question to a model or an agent CLI: set aside, asked, settled, and kept, so that a run that is resumed does not pay twice and
//! a recording can be played again.

mod agents;
mod embed;
mod tree;

pub use agents::{Agents, Recording};
pub use tree::Tree;

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};
use tribunal_agent::model::schema::validate;
use tribunal_core::budget::{Ask, Spent, admit, month_of};
use tribunal_core::call::allowance::worst_case;
use tribunal_core::call::money::Money;
use tribunal_core::call::usage::{Usage, estimate_tokens};
use tribunal_core::call::{Answer, Question, Repair};
use tribunal_core::findings::key::sha256_hex;
use tribunal_core::findings::leak::Leak;
use tribunal_core::ids::{AgentName, RunId};
use tribunal_core::policy::config::Policy;
use tribunal_core::procedure::review::Spend;
use tribunal_core::publish::outgoing::{masked, masked_json};
use tribunal_core::report::receipt::{Cost, SeatState};
use tribunal_store::{CallRow, Spending, StoreError};

/// Which question of which run.
pub struct Slot<'a> {
    pub run: &'a RunId,
    pub case_id: &'a str,
    pub agent: &'a AgentName,
    /// Seat, part and try: the same whenever the same question is asked.
    pub name: String,
    /// What an agent CLI may read beside the question.
    pub tree: Option<Arc<Tree>>,
}

/// What a call came to: an answer, or the state its seat ends in; and what it took either way.
pub struct Outcome {
    pub said: Result<String, SeatState>,
    pub spend: Spend,
}

/// As kept in the ledger.
#[derive(serde::Serialize, serde::Deserialize)]
struct Kept {
    text: String,
    usage: Usage,
    cost: Cost,
}

impl Agents {
    /// An answer of one type: asked, and asked once more with the validator's words if it does not fit. An answer that repeats the
    /// run's canary is not kept: text of the change steered whoever gave it.
    pub async fn ask_for<T: serde::de::DeserializeOwned>(
        &self,
        policy: &Policy,
        slot: &Slot<'_>,
        canary: &str,
        mut question: Question,
        first_byte: &(dyn Fn() + Sync),
    ) -> Result<(Result<T, SeatState>, Spend), StoreError> {
        let mut spend = Spend::default();
        let failed = |reason: String| Err(SeatState::Failed { reason: reason.into() });
        for attempt in ["ask", "repair"] {
            let slot = Slot { name: format!("{}/{attempt}", slot.name), tree: slot.tree.clone(), ..*slot };
            let outcome = self.ask(policy, &slot, &question, first_byte).await?;
            spend = spend.plus(outcome.spend);
            let text = match outcome.said {
                Ok(text) => text,
                Err(state) => return Ok((Err(state), spend)),
            };
            if self.watch(canary).await.leak(&text) == Some(Leak::Canary) {
                let reason =
                    "its answer repeated the run's canary word, so text of the change steered it; nothing it said is kept";
                return Ok((failed(reason.into()), spend));
            }
            let fits = validate(&question.schema, &text)
                .and_then(|value| serde_json::from_value::<T>(value).map_err(|error| error.to_string()));
            match fits {
                Ok(answer) => return Ok((Ok(answer), spend)),
                Err(problem) => question.repair = Some(Repair { answer: text, problem }),
            }
        }
        let problem = question.repair.map(|repair| repair.problem).unwrap_or_default();
        let reason = format!("its answer does not fit the schema, and neither did its repair: {}", problem.replace('\n', " "));
        Ok((failed(reason), spend))
    }

    pub async fn ask(
        &self,
        policy: &Policy,
        slot: &Slot<'_>,
        question: &Question,
        first_byte: &(dyn Fn() + Sync),
    ) -> Result<Outcome, StoreError> {
        if let Some(outcome) = self.kept(slot).await? {
            return Ok(outcome);
        }
        let failed =
            |reason: String| Ok(Outcome { said: Err(SeatState::Failed { reason: reason.into() }), spend: Spend::default() });
        let Some(agent) = policy.agents.get(slot.agent) else {
            return failed(format!("there is no [agents.{}]", slot.agent));
        };
        if let Some(why) = agent.not_trusted() {
            let state = SeatState::NotTrusted { reason: why.into() };
            return Ok(Outcome { said: Err(state), spend: Spend::default() });
        }
        let key = match self.key(policy, slot.agent, agent).await {
            Ok(key) => key,
            Err(problem) => return failed(problem),
        };
        let price = policy.prices.get(slot.agent);
        let input = [&question.system, &question.shared, &question.own].iter().map(|text| estimate_tokens(text)).sum::<u64>();
        let worst = worst_case(agent, input + estimate_tokens(&question.schema.to_string()));
        let ask = Ask { cost: price.map(|price| price.most(worst.input, worst.output)), tokens: worst.input + worst.output };
        let text = serde_json::json!({ "system": question.system, "shared": question.shared, "own": question.own }).to_string();
        let row = row(slot, &text, &ask, self.recording.keep_questions);
        let admitted = self.ledger().reserve(&row, |spending| admit(&policy.budget, &spent(spending), &ask)).await?;
        if let Err(reason) = admitted {
            return Ok(Outcome { said: Err(SeatState::OverBudget { reason: reason.into() }), spend: Spend::default() });
        }
        let answered = self.put(slot, agent, key.as_deref(), question, ask.cost, price.copied(), first_byte).await;
        let (said, usage, cost) = match answered {
            Ok(Answer { text, usage, stated_cost }) => {
                let cost = Cost::of_answer(stated_cost, &usage, price);
                (Ok(text), usage, cost)
            }
            Err((fault, usage)) => {
                let cost = Cost::of_fault(&fault, &usage, price);
                (Err(SeatState::from_fault(&fault)), usage, cost)
            }
        };
        let kept = said.as_ref().ok().map(|text| Kept { text: stored(text), usage, cost });
        let kept = kept.and_then(|kept| serde_json::to_string(&kept).ok());
        let tokens = i64::try_from(usage.total_input() + usage.output).unwrap_or(i64::MAX);
        self.ledger().settle(&row.key, micros(cost), tokens, kept.as_deref()).await?;
        Ok(Outcome { said, spend: Spend { calls: 1, usage, cost } })
    }

    /// The answer of a run that goes on, or of a recording that is played.
    async fn kept(&self, slot: &Slot<'_>) -> Result<Option<Outcome>, StoreError> {
        let own = self.ledger().answered(slot.run.as_str(), &slot.name).await?;
        if let Some(kept) = own.as_deref().and_then(|text| serde_json::from_str::<Kept>(text).ok()) {
            let spend = Spend { calls: 1, usage: kept.usage, cost: kept.cost };
            return Ok(Some(Outcome { said: Ok(kept.text), spend }));
        }
        let Some(played) = &self.recording.play else { return Ok(None) };
        let recorded = self.ledger().answered(played.as_str(), &slot.name).await?;
        let said = match recorded.as_deref().and_then(|text| serde_json::from_str::<Kept>(text).ok()) {
            Some(kept) => Ok(kept.text),
            None => Err(SeatState::Failed { reason: format!("the recording {played} holds no answer for {}", slot.name).into() }),
        };
        Ok(Some(Outcome { said, spend: Spend::default() }))
    }
}

/// A text as the ledger keeps it: without secrets. JSON stays JSON.
fn stored(text: &str) -> String {
    match serde_json::from_str::<serde_json::Value>(text) {
        Ok(value) => masked_json(value).to_string(),
        Err(_) => masked(text),
    }
}

/// A call as the ledger keeps it.
fn row(slot: &Slot<'_>, asked: &str, ask: &Ask, keep: bool) -> CallRow {
    let now = now();
    CallRow {
        key: sha256_hex(format!("{}\n{}", slot.run, slot.name).as_bytes()),
        run: slot.run.0.clone(),
        case_id: slot.case_id.to_owned(),
        month: month_of(now),
        at: i64::try_from(now).unwrap_or(i64::MAX),
        slot: slot.name.clone(),
        agent: slot.agent.0.clone(),
        question_hash: sha256_hex(asked.as_bytes()),
        question: keep.then(|| stored(asked)),
        reserved: ask.cost.map_or(0, |cost| i64::try_from(cost.micros).unwrap_or(i64::MAX)),
        tokens: i64::try_from(ask.tokens).unwrap_or(i64::MAX),
    }
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_millis() as u64)
}

/// As the ledger keeps it; nothing for what nobody knows.
fn micros(cost: Cost) -> Option<i64> {
    match cost {
        Cost::MicroUsd(money) => Some(i64::try_from(money.micros).unwrap_or(i64::MAX)),
        Cost::Free => Some(0),
        Cost::Unknown => None,
    }
}

fn spent(spending: Spending) -> Spent {
    let money = |micros: i64| Money { micros: u64::try_from(micros).unwrap_or(0) };
    Spent {
        run: money(spending.run),
        case: money(spending.case),
        month: money(spending.month),
        run_tokens: u64::try_from(spending.run_tokens).unwrap_or(0),
    }
}
