//! What can go wrong between us and a forge, and what it means.
//!
//! One distinction carries everything: has a write *certainly not* happened, or is that unknown? After an unknown one the only right
//! move is to look before anything is sent again (design rule 9).

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum ForgeFault {
    #[error("{host} cannot be reached: {message}")]
    Unreachable { host: String, message: String },
    /// A write was sent and no answer, or an answer of a failing server, came back.
    #[error("{host} did not say whether it did that ({message})")]
    Uncertain { host: String, message: String },
    #[error("{host} is failing: HTTP {status}{}", said(.message))]
    Failing { host: String, status: u16, message: String },
    #[error("{host} does not accept this token{}", said(.message))]
    Unauthorized { host: String, message: String },
    #[error("the token may not do that on {host}{}{}", missing(.needs), said(.message))]
    Forbidden { host: String, needs: Option<String>, message: String },
    #[error("{what} is not on {host}, or this token may not see it")]
    NotFound { host: String, what: String },
    #[error("{what} has moved to {to}")]
    Moved { what: String, to: String },
    /// The head is not the one that was given, or two things were done at once.
    #[error("{host} refused: {message}")]
    Conflict { host: String, message: String },
    #[error("{host} refused (HTTP {status}): {message}")]
    Refused { host: String, status: u16, message: String },
    #[error("{host} asks to be left alone{}", wait(.seconds))]
    Limited { host: String, seconds: Option<u64> },
    /// An answer that cannot be what it should be. Never read as "nothing there" (design rule 8).
    #[error("{host} gave an answer that does not add up: {message}")]
    Hollow { host: String, message: String },
    #[error("{kind} cannot do that: {what}")]
    Unsupported { kind: String, what: String },
}

fn said(message: &str) -> String {
    if message.is_empty() { String::new() } else { format!(": {message}") }
}

fn missing(needs: &Option<String>) -> String {
    needs.as_ref().map(|needs| format!("; it needs {needs}")).unwrap_or_default()
}

fn wait(seconds: &Option<u64>) -> String {
    seconds.map(|seconds| format!(" for {seconds} s")).unwrap_or_default()
}

impl ForgeFault {
    /// The write may have been done.
    pub fn is_uncertain(&self) -> bool {
        matches!(self, ForgeFault::Uncertain { .. })
    }

    /// Nothing is wrong with what was asked: later it may work.
    pub fn may_pass(&self) -> bool {
        match self {
            ForgeFault::Unreachable { .. }
            | ForgeFault::Uncertain { .. }
            | ForgeFault::Failing { .. }
            | ForgeFault::Limited { .. } => true,
            ForgeFault::Unauthorized { .. }
            | ForgeFault::Forbidden { .. }
            | ForgeFault::NotFound { .. }
            | ForgeFault::Moved { .. }
            | ForgeFault::Conflict { .. }
            | ForgeFault::Refused { .. }
            | ForgeFault::Hollow { .. }
            | ForgeFault::Unsupported { .. } => false,
        }
    }
}
