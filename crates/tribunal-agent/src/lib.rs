//! What plays a role.
//!
//! An agent gets a seat's brief (a role, the change, what else it may read) and answers with a report. It holds no forge token,
//! knows no forge, and writes nothing but its own scratch folder: what thinks cannot post, push or merge.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod cli;
pub mod command;
pub mod folder;
pub mod linter;
pub mod model;
pub mod process;
pub mod rules;
pub mod sandbox;
pub mod sarif;
pub mod scratch;
pub mod tree;

/// Why an agent gave no usable answer. Each fails its seat visibly.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AgentFailure {
    #[error("{0}")]
    Failed(String),
    #[error("no answer within {after_seconds} s")]
    TimedOut { after_seconds: u64 },
}

/// 256 bits that nobody can guess, as text.
pub(crate) fn token() -> std::io::Result<String> {
    use std::fmt::Write as _;
    let mut bytes = [0_u8; 32];
    getrandom::fill(&mut bytes).map_err(|error| std::io::Error::other(error.to_string()))?;
    Ok(bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    }))
}
