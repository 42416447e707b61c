//! The binary's inside: what was typed, what it means, and how the answer looks. No decision about a change is made here.

#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod cli;
pub mod commands;
pub mod schemas;
pub mod situation;
pub mod terminal;
pub mod workspace;

use clap::Parser as _;
use std::process::ExitCode;
use tribunal_core::findings::leak::secrets_of;
use tribunal_core::publish::outgoing::known::learn_secret;

pub fn run() -> ExitCode {
    // A variable that is no text is none of ours.
    for (name, value) in
        std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
    {
        secrets_of(&name, &value, |path| std::path::Path::new(path).exists()).into_iter().for_each(learn_secret);
    }
    let cli = match cli::Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            if error.use_stderr() {
                let _ = error.print();
                return ExitCode::from(situation::exit::USAGE);
            }
            return end(terminal::out::write(&terminal::out::Printable::own(error.render().ansi().to_string()))
                .map(|()| situation::exit::DONE));
        }
    };
    end(commands::dispatch(cli))
}

fn end(result: Result<u8, situation::Situation>) -> ExitCode {
    match result {
        Ok(code) => ExitCode::from(code),
        Err(situation) => {
            situation.print();
            ExitCode::from(situation.exit)
        }
    }
}
