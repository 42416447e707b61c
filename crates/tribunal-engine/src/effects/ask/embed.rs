//! Vectors for texts: set aside and settled as every other call, so that a ceiling holds for them too.

use super::{Agents, Slot, row, spent};
use tribunal_agent::model::Model;
use tribunal_core::budget::{Ask, admit};
use tribunal_core::call::usage::estimate_tokens;
use tribunal_core::policy::agents::Means;
use tribunal_core::policy::config::Policy;
use tribunal_core::report::receipt::Cost;
use tribunal_store::StoreError;

impl Agents {
    /// The vectors of some texts, or why there are none. They are kept by whoever asked, not in the ledger.
    pub async fn embed(
        &self,
        policy: &Policy,
        slot: &Slot<'_>,
        texts: &[String],
    ) -> Result<Result<Vec<Vec<f32>>, String>, StoreError> {
        let Some(agent) = policy.agents.get(slot.agent) else { return Ok(Err(format!("there is no [agents.{}]", slot.agent))) };
        if let Some(why) = agent.not_trusted() {
            return Ok(Err(why.to_owned()));
        }
        let Means::Model(wire, config) = agent.means() else {
            return Ok(Err(format!("[agents.{}] is no model", slot.agent)));
        };
        let key = match self.key(policy, slot.agent, agent).await {
            Ok(key) => key,
            Err(problem) => return Ok(Err(problem)),
        };
        let base = config.base_url.as_deref().unwrap_or_else(|| wire.base_url());
        let client = match self.client(base).await {
            Ok(client) => client,
            Err(fault) => return Ok(Err(fault.to_string())),
        };
        let price = policy.prices.get(slot.agent);
        let tokens: u64 = texts.iter().map(|text| estimate_tokens(text)).sum();
        let ask = Ask { cost: price.map(|price| price.most(tokens, 0)), tokens };
        let row = row(slot, &texts.join("\0"), &ask, false);
        if let Err(reason) = self.ledger().reserve(&row, |spending| admit(&policy.budget, &spent(spending), &ask)).await? {
            return Ok(Err(reason));
        }
        let model = Model { wire, config, key: key.as_deref(), client: &client, cache_key: "" };
        let (said, usage, cost) = match model.embed(texts).await {
            Ok(embedded) => (Ok(embedded.vectors), embedded.usage, Cost::of_answer(None, &embedded.usage, price)),
            Err((fault, usage)) => (Err(fault.to_string()), usage, Cost::of_fault(&fault, &usage, price)),
        };
        let taken = i64::try_from(usage.total_input() + usage.output).unwrap_or(i64::MAX);
        self.ledger().settle(&row.key, super::micros(cost), taken, None).await?;
        Ok(said)
    }
}
