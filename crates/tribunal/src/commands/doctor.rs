//! `tribunal doctor`: what was found, what is missing, and what that means.

mod forge;

use super::agents::{named, not_installed};
use crate::situation::{Situation, exit};
use crate::terminal::out;
use crate::workspace::{self, Setup};
use tribunal_agent::rules::load;
use tribunal_core::findings::role::{Role, RoleInput};
use tribunal_core::policy::agents::{AgentConfig, Cli};
use tribunal_core::publish::visible::visible_line;
use tribunal_forge::git::Repository;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    Good,
    Note,
    Bad,
}

/// One line of what was found.
struct Line {
    mark: Mark,
    text: String,
}

fn good(text: impl Into<String>) -> Line {
    Line { mark: Mark::Good, text: text.into() }
}

fn note(text: impl Into<String>) -> Line {
    Line { mark: Mark::Note, text: text.into() }
}

fn bad(text: impl Into<String>) -> Line {
    Line { mark: Mark::Bad, text: text.into() }
}

pub async fn run() -> Result<u8, Situation> {
    let mut broken = false;
    for line in examine().await {
        let sign = match line.mark {
            Mark::Good => "\u{1b}[32m✓\u{1b}[0m",
            Mark::Note => "\u{1b}[33m-\u{1b}[0m",
            Mark::Bad => "\u{1b}[31m✗\u{1b}[0m",
        };
        out::say(&format!("{sign} {}", visible_line(&line.text)))?;
        broken |= line.mark == Mark::Bad;
    }
    Ok(if broken { exit::USAGE } else { exit::DONE })
}

/// A finding never ends the examination: what else is missing is worth knowing at once.
async fn examine() -> Vec<Line> {
    let Ok(git) = tribunal_forge::git::git_version() else {
        return vec![bad("git is not on the PATH; nothing works without it")];
    };
    let mut lines = vec![good(git)];
    let repository = match workspace::discover_optional() {
        Ok(Some(repository)) => {
            lines.extend(of_repository(&repository));
            lines.extend(forge::lines(&repository).await);
            Some(repository)
        }
        Ok(None) => {
            lines.push(note("not inside a git repository: only `tribunal review --stdin` and `--diff-file` work here"));
            None
        }
        Err(situation) => {
            lines.push(bad(one_line(&situation.happened)));
            None
        }
    };
    match workspace::set_up(repository.as_ref(), None) {
        Err(situation) => lines.push(bad(one_line(&situation.happened))),
        Ok(setup) => lines.extend(of_set_up(&setup)),
    }
    let sandbox = tribunal_agent::sandbox::strength::examine();
    let said = format!("sandbox for agents and linters: {}", sandbox.words);
    lines.push(match (sandbox.holds, tribunal_agent::sandbox::strength().is_none()) {
        (true, _) => good(said),
        (false, true) => note(said),
        (false, false) => bad(said),
    });
    let ignored: Vec<String> = tribunal_programs::ignored().iter().map(|entry| format!("`{}`", entry.display())).collect();
    if !ignored.is_empty() {
        let ignored = ignored.join(", ");
        lines.push(note(format!(
            "no program is taken from these entries of PATH, which are relative, inside this checkout or gone: {ignored}"
        )));
    }
    let found: Vec<&str> = Cli::ALL.into_iter().map(Cli::program).filter(|name| on_path(name)).collect();
    lines.push(note(if found.is_empty() {
        "no coding-agent CLI found on the PATH".to_owned()
    } else {
        format!("found {}; `tribunal init --dry-run` shows how one plays a role", found.join(", "))
    }));
    let linters: Vec<String> = tribunal_agent::linter::found::installed().iter().map(named).collect();
    if !linters.is_empty() {
        lines.push(note(format!("found linters {}; one word in [panel] seats one", linters.join(", "))));
    }
    lines
}

/// git explains itself over several lines.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn of_repository(repository: &Repository) -> Vec<Line> {
    let mut lines = vec![match repository.default_branch() {
        Ok(name) => good(format!("changes are compared with {name}")),
        Err(error) => note(error.to_string()),
    }];
    if repository.is_shallow() {
        lines.push(note("this clone is shallow; if base and head do not meet, run `git fetch --unshallow`"));
    }
    let folder = repository.tribunal_dir();
    let writable = workspace::make_own_folder(&folder).is_ok() && tempfile::tempfile_in(&folder).is_ok();
    lines.push(if writable {
        good(format!("the ledger lives in {}", folder.display()))
    } else {
        bad(format!("{} cannot be written, so no review can be recorded", folder.display()))
    });
    lines
}

fn of_set_up(setup: &Setup) -> Vec<Line> {
    let mut lines: Vec<Line> = setup.notices.iter().map(note).collect();
    let (built_in, in_force) = (load::built_in_sources().len(), setup.rules.rules.len());
    lines.push(good(format!("{built_in} built-in rules in the binary, {in_force} in force")));
    lines.extend(setup.roles.iter().map(|role| of_role(role, setup)));
    for (name, agent) in &setup.policy.agents {
        if let Some(program) = agent.program().filter(|program| !on_path(program)) {
            let missing = match agent {
                AgentConfig::Linter(linter) => not_installed(program, linter),
                _ => format!("`{program}` is not on the PATH"),
            };
            lines.push(bad(format!("agent {name}: {missing}")));
        }
    }
    lines
}

/// Who plays a role, and whether that can work.
fn of_role(role: &Role, setup: &Setup) -> Line {
    let players = setup.policy.panel.get(&role.name).cloned().unwrap_or_default();
    let agents: Vec<_> = players.into_iter().map(|player| player.agent).collect();
    let kind = |agent| setup.policy.agents.get(agent).map_or("unknown", AgentConfig::kind);
    let names: Vec<String> = agents.iter().map(|agent| format!("{agent} ({})", kind(agent))).collect();
    let by_rules = agents.iter().any(|agent| matches!(setup.policy.agents.get(agent), Some(AgentConfig::Rules {})));
    let played = format!("{} is played by {}", role.name, if names.is_empty() { "nobody".into() } else { names.join(", ") });
    match setup.rules.cannot_play(role).filter(|_| by_rules) {
        None => good(played),
        // It is called only when somebody gives a spec.
        Some(reason) if role.reads.contains(&RoleInput::Spec) => note(format!("{played}, but {reason}")),
        Some(reason) => bad(format!("{played}, but {reason}")),
    }
}

pub fn on_path(program: &str) -> bool {
    if program.contains('/') {
        return std::path::Path::new(program).exists();
    }
    tribunal_programs::find(program).is_some()
}
