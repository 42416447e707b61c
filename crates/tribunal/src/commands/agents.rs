//! `tribunal agents`: who can play a role here, and whether it really answers.

use super::doctor::on_path;
use crate::cli::ListFormat;
use crate::situation::{Situation, exit};
use crate::terminal::out;
use crate::terminal::table::table;
use crate::workspace;
use serde_json::json;
use std::time::Instant;
use tribunal_agent::cli::found::{self, Found};
use tribunal_agent::linter::found::{InstalledLinter, installed, try_sample, version};
use tribunal_agent::model::key::resolve;
use tribunal_agent::model::schema::validate;
use tribunal_core::call::Question;
use tribunal_core::ids::{AgentName, RunId};
use tribunal_core::linter::built_in::is_linter;
use tribunal_core::policy::agents::{AgentConfig, Means};
use tribunal_core::policy::linter::LinterConfig;
use tribunal_core::report::receipt::SeatState;
use tribunal_engine::effects::ask::{Agents, Recording, Slot};

pub fn list(format: ListFormat) -> Result<u8, Situation> {
    let repository = workspace::discover_optional()?;
    let setup = workspace::set_up(repository.as_ref(), None)?;
    let rows: Vec<[String; 5]> = setup
        .policy
        .agents
        .iter()
        .map(|(name, agent)| {
            let plays: Vec<&str> = setup
                .policy
                .panel
                .iter()
                .filter(|(_, players)| players.iter().any(|player| player.agents().any(|agent| agent == name)))
                .map(|(role, _)| role.as_str())
                .collect();
            let price = match agent.means() {
                Means::Rules | Means::Sarif | Means::NotTrusted => "free".to_owned(),
                Means::Command => "unknown".to_owned(),
                Means::Model(..) | Means::Cli(..) => setup
                    .policy
                    .prices
                    .get(name)
                    .map_or("unknown".to_owned(), |price| format!("${} in, ${} out", price.input, price.output)),
            };
            [name.0.clone(), described(agent), ready(agent), price, if plays.is_empty() { "–".into() } else { plays.join(", ") }]
        })
        .collect();
    let found = found::all();
    let linters = installed();
    match format {
        ListFormat::Json => {
            let agents: Vec<_> = rows
                .iter()
                .map(|[name, what, ready, price, plays]| json!({ "name": name, "what": what, "state": ready, "price": price, "plays": plays }))
                .collect();
            let found: Vec<_> = found
                .iter()
                .map(|cli| json!({ "cli": cli.cli.program(), "path": cli.path, "version": cli.version, "known_to_work": cli.is_known }))
                .collect();
            let linters: Vec<_> = linters
                .iter()
                .map(|linter| json!({ "linter": linter.name, "path": linter.path, "version": linter.version }))
                .collect();
            out::json(&json!({ "agents": agents, "found": found, "linters": linters }))?;
        }
        ListFormat::Text => {
            out::say(&table(&["AGENT", "WHAT", "STATE", "PRICE PER MTOK", "PLAYS"], rows.into_iter().map(Vec::from)))?;
            if !found.is_empty() {
                out::say(&format!(
                    "On this machine: {}. `tribunal init --dry-run` shows how to use one.",
                    found.iter().map(said).collect::<Vec<_>>().join(", ")
                ))?;
            }
            if !linters.is_empty() {
                out::say(&format!(
                    "Linters on this machine: {}. One word in [panel] seats one; see docs/linters.md.",
                    linters.iter().map(named).collect::<Vec<_>>().join(", ")
                ))?;
            }
        }
    }
    Ok(exit::DONE)
}

/// A CLI on the PATH, and whether its version is one that was tried.
fn said(found: &Found) -> String {
    let version = found.version.as_deref().unwrap_or("of unknown version");
    let tried = if found.is_known { String::new() } else { format!(" (tried with {}x)", found::known(found.cli)) };
    format!("{} {version}{tried}", found.cli.program())
}

/// A linter with its version.
pub fn named(linter: &InstalledLinter) -> String {
    match &linter.version {
        Some(version) => format!("{} {version}", linter.name),
        None => linter.name.to_owned(),
    }
}

fn described(agent: &AgentConfig) -> String {
    match (agent.model(), agent) {
        (Some(model), _) => format!("{} {model}", agent.kind()),
        (None, AgentConfig::Linter(linter)) => format!("linter {}", linter.profile),
        (None, _) => agent.kind().to_owned(),
    }
}

/// Whether it could be asked, without asking it.
fn ready(agent: &AgentConfig) -> String {
    if let Some(why) = agent.not_trusted() {
        return why.to_owned();
    }
    if let Some(program) = agent.program().filter(|program| !on_path(program)) {
        return match agent {
            AgentConfig::Linter(linter) => not_installed(program, linter),
            _ => format!("`{program}` is not on the PATH"),
        };
    }
    let (source, wire, base_url) = match agent.means() {
        Means::Model(wire, config) => (config.key.as_ref(), wire, config.base_url.as_deref()),
        Means::Cli(cli, config) => (config.key.as_ref(), cli.wire(), config.base_url.as_deref()),
        Means::Rules | Means::Command | Means::Sarif | Means::NotTrusted => return "ready".into(),
    };
    use tribunal_core::policy::agents::KeySource;
    match source {
        // Not run only to be listed: it may ask a person.
        Some(KeySource::Command(_) | KeySource::Keyring(_)) => "key not looked up".into(),
        Some(KeySource::Env(_)) | None => match resolve(source, wire, base_url, &|_| false, &|name| std::env::var(name).ok()) {
            Ok(_) => "ready".into(),
            Err(problem) => problem,
        },
    }
}

pub fn not_installed(program: &str, linter: &LinterConfig) -> String {
    let how = linter.profile().map_or("see its own documentation", |profile| profile.install.as_str());
    format!("`{program}` is not installed; install it: {how}")
}

/// Runs a linter over its profile's sample.
fn test_linter(name: &str, linter: &LinterConfig) -> Result<u8, Situation> {
    let failed = |reason: String| {
        Situation::new("agent-failed", exit::INCOMPLETE, format!("{name} does not work: {reason}"))
            .help("docs/linters.md says how linters are run")
    };
    let profile = linter.profile().ok_or_else(|| failed(format!("there is no linter profile `{}`", linter.profile)))?;
    let program = linter.program().unwrap_or_default();
    let begun = Instant::now();
    try_sample(linter, profile).map_err(|failure| failed(failure.to_string()))?;
    let seconds = begun.elapsed().as_secs_f64();
    let said = version(program, &profile.version).unwrap_or_else(|| "of unknown version".to_owned());
    out::say(&format!("{name} works: {program} {said} found {} in its sample in {seconds:.1} s.", profile.sample.rule))?;
    Ok(exit::DONE)
}

/// One tiny question, by the same way that a review takes.
pub async fn test(name: String) -> Result<u8, Situation> {
    let repository = workspace::discover_optional()?;
    let setup = workspace::set_up(repository.as_ref(), None)?;
    let agent_name = AgentName::from(name.as_str());
    let Some(agent) = setup.policy.agents.get(&agent_name) else {
        if is_linter(&name) {
            return test_linter(&name, &LinterConfig::of(&name));
        }
        let known: Vec<&str> = setup.policy.agents.keys().map(AgentName::as_str).collect();
        return Err(Situation::new("unknown-agent", exit::USAGE, format!("there is no [agents.{name}]"))
            .help(format!("configured here: {}", known.join(", "))));
    };
    if let AgentConfig::Linter(linter) = agent {
        return test_linter(&name, linter);
    }
    match agent.means() {
        Means::Model(..) | Means::Cli(..) => {}
        Means::NotTrusted => {
            return Err(Situation::new("not-trusted", exit::INCOMPLETE, format!("{name} was not asked: {}", ready(agent))));
        }
        Means::Rules | Means::Command | Means::Sarif => {
            out::say(&format!("{name} ({}) needs no test call: {}.", agent.kind(), ready(agent)))?;
            return Ok(exit::DONE);
        }
    }
    let ledger = workspace::open_ledger(&workspace::ledger_folder(repository.as_ref())).await?;
    let agents = Agents::new(ledger, workspace::scratch_root(), Recording::default());
    let question = tiny();
    let run = RunId(format!("test-{}", jiff::Timestamp::now().as_millisecond()));
    let slot = Slot { run: &run, case_id: "agents test", agent: &agent_name, name: "test".into(), tree: None };
    let begun = Instant::now();
    let outcome = agents.ask(&setup.policy, &slot, &question, &|| {}).await?;
    let seconds = begun.elapsed().as_secs_f64();
    let text = match outcome.said {
        Ok(text) => text,
        Err(state) => return Err(not_working(&name, &state)),
    };
    validate(&question.schema, &text).map_err(|problem| {
        Situation::new(
            "agent-failed",
            exit::INCOMPLETE,
            format!("{name} answered, but not in the form that was asked for: {problem}"),
        )
        .help("a server without JSON schemas needs `structured = \"json\"` or `\"prompt\"` in its [agents] entry")
    })?;
    let usage = outcome.spend.usage;
    out::say(&format!(
        "{name} works: {} answered in {seconds:.1} s, {} tokens in, {} out, cost {}.",
        described(agent),
        usage.total_input(),
        usage.output,
        outcome.spend.cost.words()
    ))?;
    Ok(exit::DONE)
}

fn tiny() -> Question {
    Question {
        system: "You answer with one JSON object that fits the schema, and nothing else.".into(),
        shared: "This is a test of a connection.".into(),
        own: "Set `ok` to true.".into(),
        schema: json!({ "type": "object", "properties": { "ok": { "type": "boolean" } }, "required": ["ok"], "additionalProperties": false }),
        repair: None,
    }
}

fn not_working(name: &str, state: &SeatState) -> Situation {
    let reason = state.trouble().unwrap_or_default();
    let code = match state {
        SeatState::Unavailable { .. } => exit::NOT_YET,
        SeatState::OverBudget { .. } => exit::BUDGET,
        SeatState::Ok
        | SeatState::Failed { .. }
        | SeatState::TimedOut { .. }
        | SeatState::Withheld { .. }
        | SeatState::NotTrusted { .. } => exit::INCOMPLETE,
    };
    Situation::new("agent-failed", code, format!("{name} does not work: {reason}"))
        .help("`tribunal agents` shows what is configured; docs/agents.md shows how each kind is set up")
}
