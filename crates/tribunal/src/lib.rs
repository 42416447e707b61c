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

pub fn run() -> ExitCode {
    let cli = match cli::Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            if error.use_stderr() {
                let _ = error.print();
                return ExitCode::from(situation::exit::USAGE);
            }
            return end(terminal::out::write(&error.render().ansi().to_string()).map(|()| situation::exit::DONE));
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
