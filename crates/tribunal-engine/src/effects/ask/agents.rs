//! What asking needs beside the question: keys, connections, scratch space. Nothing in it is part of a run's state.

use super::{Slot, Tree};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::Mutex;
use tribunal_agent::cli::CliAgent;
use tribunal_agent::model::key::{Secret, resolve};
use tribunal_agent::model::{Model, Sign, client};
use tribunal_core::call::fault::{Fault, Remedy};
use tribunal_core::call::money::Money;
use tribunal_core::call::price::Price;
use tribunal_core::call::usage::Usage;
use tribunal_core::call::{Answer, Question};
use tribunal_core::findings::key::sha256_hex;
use tribunal_core::findings::leak::{Watch, secrets_of};
use tribunal_core::ids::{AgentName, RunId};
use tribunal_core::policy::agents::{AgentConfig, CliConfig, Means};
use tribunal_core::policy::config::Policy;
use tribunal_core::policy::passed_variables::is_hidden_from_key_programs;
use tribunal_store::Ledger;

/// What is kept of a run's calls beyond their answers, and whose answers are given instead of new ones.
#[derive(Debug, Clone, Default)]
pub struct Recording {
    pub keep_questions: bool,
    pub play: Option<RunId>,
}

type Key = Result<Option<Arc<Secret>>, String>;

pub struct Agents {
    ledger: Arc<Ledger>,
    pub recording: Recording,
    /// Where agent CLIs get their private folders.
    pub scratch: PathBuf,
    keys: Mutex<BTreeMap<AgentName, Key>>,
    clients: Mutex<BTreeMap<String, reqwest::Client>>,
}

/// A key as text, for as long as a call takes.
pub struct HeldKey(Option<Arc<Secret>>);

impl HeldKey {
    pub fn as_deref(&self) -> Option<&str> {
        self.0.as_deref().map(Secret::expose)
    }
}

impl Agents {
    pub fn new(ledger: Arc<Ledger>, scratch: PathBuf, recording: Recording) -> Self {
        Self { ledger, recording, scratch, keys: Mutex::default(), clients: Mutex::default() }
    }

    pub fn ledger(&self) -> &Arc<Ledger> {
        &self.ledger
    }

    /// A key is looked up once a process: a command that prints it may ask a person.
    pub async fn key(&self, policy: &Policy, name: &AgentName, agent: &AgentConfig) -> Result<HeldKey, String> {
        let mut keys = self.keys.lock().await;
        if let Some(known) = keys.get(name) {
            return known.clone().map(HeldKey);
        }
        let (agent, named) = (agent.clone(), policy.key_programs_of_repository.get(name).cloned());
        let found = tokio::task::spawn_blocking(move || {
            let (source, wire, base_url) = match agent.means() {
                Means::Model(wire, config) => (config.key.as_ref(), wire, config.base_url.as_deref()),
                Means::Cli(cli, config) => (config.key.as_ref(), cli.wire(), config.base_url.as_deref()),
                Means::Rules | Means::Command | Means::Sarif | Means::NotTrusted => return Ok(None),
            };
            // The person trusted a program of the repository with this key, and with no other.
            let is_hidden = |variable: &str| {
                let is_named = |named: &Vec<String>| named.iter().any(|name| name.eq_ignore_ascii_case(variable));
                named.as_ref().is_some_and(|named| is_named(named) || is_hidden_from_key_programs(variable))
            };
            resolve(source, wire, base_url, &is_hidden, &|variable| std::env::var(variable).ok())
        })
        .await
        .map_err(|error| error.to_string())?;
        let key: Key = found.map(|secret| secret.map(Arc::new));
        keys.insert(name.clone(), key.clone());
        key.map(HeldKey)
    }

    /// Everything that no text of an agent may hold.
    pub async fn watch(&self, canary: &str) -> Watch {
        let keys = self.keys.lock().await;
        let held = keys.values().filter_map(|key| key.as_ref().ok()?.as_deref()).map(|secret| secret.expose().to_owned());
        let values: Vec<String> = held.chain(secrets_of_environment()).collect();
        Watch::new(values.iter().map(String::as_str), canary)
    }

    #[allow(clippy::too_many_arguments, reason = "each is a different thing, made by the one caller")]
    pub(super) async fn put(
        &self,
        slot: &Slot<'_>,
        agent: &AgentConfig,
        key: Option<&str>,
        question: &Question,
        cap: Option<Money>,
        price: Option<Price>,
        first_byte: &(dyn Fn() + Sync),
    ) -> Result<Answer, (Fault, Usage)> {
        match agent.means() {
            Means::Model(wire, config) => {
                let base = config.base_url.as_deref().unwrap_or_else(|| wire.base_url());
                let client = self.client(base).await.map_err(|fault| (fault, Usage::default()))?;
                let cache_key = &sha256_hex(format!("{}{}", question.system, question.shared).as_bytes())[..32];
                let model = Model { wire, config, key, client: &client, cache_key };
                let mut heard = |sign: Sign| {
                    if sign == Sign::FirstByte {
                        first_byte();
                    }
                };
                model.ask_with_patience(question, &mut heard).await
            }
            Means::Cli(cli, config) => {
                // What the policy says of its price, `[prices]` included: its proxy counts with that.
                let config = CliConfig { price, ..config.clone() };
                let (key, question) = (key.map(str::to_owned), question.clone());
                let (tree, scratch) = (slot.tree.clone(), self.scratch.clone());
                let asked = tokio::task::spawn_blocking(move || {
                    let agent = CliAgent {
                        cli,
                        config: &config,
                        key: key.as_deref(),
                        tree: tree.as_deref().map(Tree::path),
                        cap,
                        scratch_root: &scratch,
                    };
                    ask_with_patience(&agent, &question)
                });
                asked.await.unwrap_or_else(|error| {
                    Err((Fault::Nonsense { message: format!("its runner died: {error}") }, Usage::default()))
                })
            }
            Means::Rules | Means::Command | Means::Sarif | Means::NotTrusted => {
                let message = format!("a `{}` agent cannot be asked a question", agent.kind());
                Err((Fault::BadRequest { status: 0, message }, Usage::default()))
            }
        }
    }

    pub(super) async fn client(&self, base: &str) -> Result<reqwest::Client, Fault> {
        let mut clients = self.clients.lock().await;
        if let Some(client) = clients.get(base) {
            return Ok(client.clone());
        }
        let made = client(base)?;
        clients.insert(base.to_owned(), made.clone());
        Ok(made)
    }
}

/// A CLI retries by itself what a moment can mend, so it is started again only once, only for that, and only for what is left of its
/// total clock.
fn ask_with_patience(agent: &CliAgent<'_>, question: &Question) -> Result<Answer, (Fault, Usage)> {
    let begun = Instant::now();
    let (fault, usage) = match agent.ask(question) {
        Err((fault, usage)) if usage.is_nothing() => (fault, usage),
        answered => return answered,
    };
    let total = Duration::from_secs(agent.config.clocks.for_cli().total);
    match fault.remedy(0, 0) {
        Remedy::Retry { after } if begun.elapsed() + Duration::from_millis(after) < total => {
            std::thread::sleep(Duration::from_millis(after));
            let mut config = agent.config.clone();
            config.clocks.total_seconds = Some(total.saturating_sub(begun.elapsed()).as_secs().max(1));
            CliAgent { config: &config, ..*agent }.ask(question)
        }
        Remedy::Retry { .. } | Remedy::Later { .. } | Remedy::Fail => Err((fault, usage)),
    }
}

/// What the environment calls a secret. A variable that is no text is none of ours.
fn secrets_of_environment() -> impl Iterator<Item = String> {
    let texts = std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    let is_there = |path: &str| Path::new(path).exists();
    texts.flat_map(move |(name, value)| secrets_of(&name, &value, is_there).into_iter().map(str::to_owned).collect::<Vec<_>>())
}
