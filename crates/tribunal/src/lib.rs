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
            let wrong = error.use_stderr();
            let _ = error.print();
            return ExitCode::from(if wrong { 2 } else { 0 });
        }
    };
    // A command that runs other programs must outlive one that does not read what it is given.
    if !matches!(cli.command, cli::Command::Review(_) | cli::Command::Demo { .. }) {
        reset_broken_pipe();
    }
    match commands::dispatch(cli) {
        Ok(code) => ExitCode::from(code),
        Err(situation) => {
            situation.print();
            ExitCode::from(situation.exit)
        }
    }
}

/// `tribunal history | head` must end quietly.
#[cfg(unix)]
#[allow(unsafe_code)]
fn reset_broken_pipe() {
    unsafe extern "C" {
        fn signal(signum: i32, handler: usize) -> usize;
    }
    // SAFETY: restores the default action for SIGPIPE (13) before any thread is started.
    unsafe {
        signal(13, 0);
    }
}

#[cfg(not(unix))]
fn reset_broken_pipe() {}
