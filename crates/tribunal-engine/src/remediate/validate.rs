//! The repository's own commands, in a sandboxed copy of the fixed tree.

use super::Remedies;
use crate::EngineError;
use crate::effects::blocking;
use std::sync::Arc;
use std::time::Duration;
use tribunal_agent::process::{Clocks, Invocation, run};
use tribunal_agent::sandbox::{Limits, Network, Reads};
use tribunal_agent::scratch::Scratch;
use tribunal_agent::tree::cut_links;
use tribunal_core::ids::Sha;
use tribunal_core::procedure::remediate::{Input, State, Validation};
use tribunal_core::publish::outgoing::masked;
use tribunal_core::publish::visible::visible;

/// Of a failed command's output, the end is what tells.
const TAIL: usize = 2_000;

impl Remedies {
    pub(super) async fn validate(&self, state: &State, tip: Sha) -> Result<Input, EngineError> {
        if let Some(why) = state.request.loops.validate_not_trusted.clone() {
            return Ok(Input::Validated(Validation::CannotRun { command: "[validate] commands".to_owned(), why }));
        }
        let commands = state.request.loops.validate.clone();
        if commands.is_empty() {
            return Ok(Input::Validated(Validation::NotRun));
        }
        let read = state.request.loops.validate_read.clone();
        let timeout = Duration::from_secs(state.request.loops.validate_timeout.as_seconds());
        let (repository, scratch) = (Arc::clone(&self.repository), self.agents.scratch.clone());
        let validation = blocking(move || -> Result<Validation, EngineError> {
            let io = |source| EngineError::Io { what: "no folder for a copy of the tree".into(), source };
            let (copy, home) = (Scratch::below(&scratch).map_err(io)?, Scratch::below(&scratch).map_err(io)?);
            repository.bring_tree(&tip)?;
            repository.export(&tip, copy.path())?;
            cut_links(copy.path()).map_err(io)?;
            for command in &commands {
                let words = ["sh".to_owned(), "-c".to_owned(), command.clone()];
                let reads = match Reads::of_command(&words, &read) {
                    Ok(reads) => reads,
                    Err(why) => return Ok(Validation::CannotRun { command: command.clone(), why }),
                };
                let writable = vec![copy.path().to_owned(), home.path().to_owned()];
                let printed = run(&Invocation {
                    command: &words,
                    input: Vec::new(),
                    directory: copy.path(),
                    scratch: home.path(),
                    env: &[],
                    set: &[],
                    limits: Limits::new(reads, writable, Network::None).for_builds(),
                    clocks: Clocks::total(timeout),
                });
                match printed {
                    Ok(printed) if printed.success => {}
                    Ok(printed) if matches!(printed.code, Some(126 | 127)) => {
                        let why = tail(&printed.stderr);
                        return Ok(Validation::CannotRun { command: command.clone(), why });
                    }
                    Ok(printed) => {
                        let output = tail(&format!("{}\n{}", String::from_utf8_lossy(&printed.stdout), printed.stderr));
                        return Ok(Validation::Failed { command: command.clone(), output });
                    }
                    Err(failure) => {
                        return Ok(Validation::CannotRun { command: command.clone(), why: failure.to_string() });
                    }
                }
            }
            Ok(Validation::Passed)
        })
        .await??;
        Ok(Input::Validated(validation))
    }
}

fn tail(text: &str) -> String {
    let text = text.trim();
    let from = text.char_indices().rev().nth(TAIL).map_or(0, |(at, _)| at);
    masked(&visible(&text[from..]))
}
