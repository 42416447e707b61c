//! `tribunal doctor`: what was found, what is missing, and what that means.

use crate::situation::{Situation, exit};
use crate::workspace;
use std::process::Command;
use tribunal_agent::rules::load;
use tribunal_core::policy::agents::{AgentConfig, Cli, Means};

enum Mark {
    Good,
    Note,
    Bad,
}

fn say(mark: &Mark, text: &str) {
    let sign = match mark {
        Mark::Good => "\u{1b}[32m✓\u{1b}[0m",
        Mark::Note => "\u{1b}[33m-\u{1b}[0m",
        Mark::Bad => "\u{1b}[31m✗\u{1b}[0m",
    };
    anstream::println!("{sign} {text}");
}

pub fn run() -> Result<u8, Situation> {
    let mut broken = false;
    match Command::new("git").arg("--version").output() {
        Ok(output) => say(&Mark::Good, String::from_utf8_lossy(&output.stdout).trim()),
        Err(_) => {
            say(&Mark::Bad, "git is not on the PATH; nothing works without it");
            return Ok(exit::USAGE);
        }
    }
    let repository = workspace::discover_optional()?;
    match &repository {
        None => say(&Mark::Note, "not inside a git repository: only `tribunal review --stdin` and `--diff-file` work here"),
        Some(repository) => {
            match repository.default_branch() {
                Ok(name) => say(&Mark::Good, &format!("changes are compared with {name}")),
                Err(error) => say(&Mark::Note, &error.to_string()),
            }
            if repository.is_shallow() {
                say(&Mark::Note, "this clone is shallow; if base and head do not meet, run `git fetch --unshallow`");
            }
            let folder = repository.tribunal_dir();
            let writable = std::fs::create_dir_all(&folder).and_then(|()| tempfile::tempfile_in(&folder)).is_ok();
            if writable {
                say(&Mark::Good, &format!("the ledger lives in {}", folder.display()));
            } else {
                broken = true;
                say(&Mark::Bad, &format!("{} cannot be written, so no review can be recorded", folder.display()));
            }
        }
    }
    match workspace::set_up(repository.as_ref(), None) {
        Err(situation) => {
            broken = true;
            say(&Mark::Bad, &situation.happened);
        }
        Ok(setup) => {
            for notice in &setup.notices {
                say(&Mark::Note, notice);
            }
            say(
                &Mark::Good,
                &format!("{} built-in rules in the binary, {} in force", load::built_in_sources().len(), setup.rules.rules.len()),
            );
            for (role, players) in &setup.policy.panel {
                let names: Vec<String> = players
                    .iter()
                    .map(|player| {
                        let kind = setup.policy.agents.get(&player.agent).map_or("unknown", AgentConfig::kind);
                        format!("{} ({kind})", player.agent)
                    })
                    .collect();
                say(
                    &Mark::Good,
                    &format!("{role} is played by {}", if names.is_empty() { "nobody".into() } else { names.join(", ") }),
                );
            }
            for (name, agent) in &setup.policy.agents {
                let program = match agent {
                    AgentConfig::Command { command, .. } => command.first().map(String::as_str),
                    AgentConfig::Sarif { command, .. } => {
                        command.as_ref().and_then(|command| command.first()).map(String::as_str)
                    }
                    _ => match agent.means() {
                        Means::Cli(cli, config) => Some(config.program.as_deref().unwrap_or(cli.program())),
                        Means::Rules | Means::Command | Means::Sarif | Means::Model(..) => None,
                    },
                };
                if let Some(program) = program.filter(|program| !on_path(program)) {
                    broken = true;
                    say(&Mark::Bad, &format!("agent {name}: `{program}` is not on the PATH"));
                }
            }
        }
    }
    say(&Mark::Good, &format!("sandbox for agents and linters: {}", tribunal_agent::sandbox::describe()));
    let found: Vec<&str> = Cli::ALL.into_iter().map(Cli::program).filter(|name| on_path(name)).collect();
    if found.is_empty() {
        say(&Mark::Note, "no coding-agent CLI found on the PATH");
    } else {
        say(&Mark::Note, &format!("found {}; `tribunal init --dry-run` shows how one plays a role", found.join(", ")));
    }
    Ok(if broken { exit::USAGE } else { exit::DONE })
}

pub fn on_path(program: &str) -> bool {
    if program.contains('/') {
        return std::path::Path::new(program).exists();
    }
    std::env::var_os("PATH").is_some_and(|path| std::env::split_paths(&path).any(|folder| folder.join(program).is_file()))
}
