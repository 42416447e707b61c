//! The first question with a given beginning pays for it; questions that wait until it has begun to be answered read it from the
//! vendor's cache. Only worth the wait for a long beginning: a short one is asked by all at once.

use std::collections::BTreeMap;
use std::sync::Mutex;
use tokio::sync::watch;
use tribunal_core::call::usage::estimate_tokens;
use tribunal_core::ids::AgentName;

/// Below this, waiting for the first byte costs more time than a cache saves money.
const WORTH_WAITING: u64 = 10_000;

#[derive(Default)]
pub struct WarmUp {
    begun: Mutex<BTreeMap<(AgentName, usize), watch::Receiver<bool>>>,
}

/// Permission to ask. Whoever leads says when the beginning is warm, at the latest when dropped.
pub struct Turn {
    lead: Option<watch::Sender<bool>>,
}

impl WarmUp {
    pub async fn take(&self, agent: &AgentName, part: usize, shared: &str) -> Turn {
        if estimate_tokens(shared) < WORTH_WAITING {
            return Turn { lead: None };
        }
        let (sender, receiver) = watch::channel(false);
        let known = match self.begun.lock() {
            Ok(mut begun) => match begun.get(&(agent.clone(), part)) {
                Some(known) => Some(known.clone()),
                None => {
                    begun.insert((agent.clone(), part), receiver);
                    None
                }
            },
            Err(_) => None,
        };
        match known {
            None => Turn { lead: Some(sender) },
            Some(mut known) => {
                // A leader that is gone has answered or failed: either way there is nothing to wait for.
                let _ = known.wait_for(|warm| *warm).await;
                Turn { lead: None }
            }
        }
    }
}

impl Turn {
    pub fn warm(&self) {
        if let Some(lead) = &self.lead {
            lead.send_replace(true);
        }
    }
}
