//! What differs from CLI to CLI, as data: how it is told, and how its output is read.
//!
//! Written against outputs of the real programs (`fixtures/`); `found` says which versions those were.

use super::home::Home;
use super::{claude, codex, copilot, gemini, opencode};
use crate::process::Printed;
use serde_json::Value;
use std::path::Path;
use tribunal_core::call::Question;
use tribunal_core::call::fault::Fault;
use tribunal_core::call::money::Money;
use tribunal_core::call::usage::Usage;
use tribunal_core::policy::agents::{Cli, Effort};

/// What a profile is told.
pub struct Setting<'a> {
    pub model: &'a str,
    pub effort: Option<Effort>,
    pub turns: u32,
    pub cap: Option<Money>,
    /// `http://127.0.0.1:PORT`: where the CLI believes its API to be.
    pub address: String,
    pub token: &'a str,
    pub home: &'a Home,
    pub tree: Option<&'a Path>,
    pub question: &'a Question,
    /// Whether our sandbox is around it.
    pub is_confined: bool,
}

/// How the CLI is started.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Plan {
    pub args: Vec<String>,
    pub env: Vec<(String, String)>,
    /// Path in the home → content.
    pub files: Vec<(String, String)>,
    /// The system prompt goes in by a file and not with the rest.
    pub system_is_apart: bool,
    /// The CLI takes a schema by itself.
    pub schema_is_apart: bool,
}

/// How a run ended.
pub struct Ending<'a> {
    pub stdout: &'a [u8],
    pub stderr: &'a str,
    pub code: Option<i32>,
    pub home: &'a Home,
}

impl<'a> Ending<'a> {
    pub fn of(printed: &'a Printed, home: &'a Home) -> Self {
        Self { stdout: &printed.stdout, stderr: &printed.stderr, code: printed.code, home }
    }

    /// Of a CLI that was stopped: what it had said by then.
    pub fn cut_short(stdout: &'a [u8], home: &'a Home) -> Self {
        Self { stdout, stderr: "", code: None, home }
    }

    /// Each line of standard output that is a JSON object. Others are talk.
    pub fn events(&self) -> Vec<Value> {
        self.stdout
            .split(|byte| *byte == b'\n')
            .filter_map(|line| serde_json::from_slice::<Value>(line).ok())
            .filter(Value::is_object)
            .collect()
    }

    /// A file that the CLI was told to write. What is not regular or too large was not written by it.
    pub fn file(&self, name: &str) -> Option<String> {
        String::from_utf8(crate::process::written_file(self.home.path(), name).ok()?).ok()
    }
}

/// What was read from it. A `fault` means that the CLI itself says it failed.
#[derive(Debug, Default, PartialEq)]
pub struct Reading {
    pub text: Option<String>,
    pub usage: Usage,
    pub stated_cost: Option<Money>,
    pub fault: Option<Fault>,
}

pub fn plan(cli: Cli, setting: &Setting<'_>) -> Plan {
    match cli {
        Cli::Claude => claude::plan(setting),
        Cli::Codex => codex::plan(setting),
        Cli::Gemini => gemini::plan(setting),
        Cli::Opencode => opencode::plan(setting),
        Cli::Copilot => copilot::plan(setting),
        Cli::Aider => Plan::default(),
    }
}

pub fn read(cli: Cli, ending: &Ending<'_>) -> Reading {
    match cli {
        Cli::Claude => claude::read(ending),
        Cli::Codex => codex::read(ending),
        Cli::Gemini => gemini::read(ending),
        Cli::Opencode => opencode::read(ending),
        Cli::Copilot => copilot::read(ending),
        Cli::Aider => Reading::default(),
    }
}

/// The name under which the API will be asked for the model, where the CLI does not make up its own. Claude has short names for the
/// newest of each size, and marks of its own behind a name.
pub fn pinned(cli: Cli, model: &str) -> Option<String> {
    match cli {
        Cli::Claude if !model.starts_with("claude-") || model.contains('[') => None,
        Cli::Claude | Cli::Codex | Cli::Gemini | Cli::Opencode | Cli::Copilot | Cli::Aider => Some(model.to_owned()),
    }
}

/// Texts as owned arguments.
pub fn words<const N: usize>(parts: [&str; N]) -> Vec<String> {
    parts.map(str::to_owned).into()
}

pub fn variables<const N: usize>(parts: [(&str, &str); N]) -> Vec<(String, String)> {
    parts.map(|(name, value)| (name.to_owned(), value.to_owned())).into()
}

pub fn number(value: &Value, name: &str) -> u64 {
    value.get(name).and_then(Value::as_u64).unwrap_or(0)
}

pub fn text<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
    value.get(name).and_then(Value::as_str)
}

pub fn effort(effort: Effort) -> &'static str {
    match effort {
        Effort::Low => "low",
        Effort::Medium => "medium",
        Effort::High => "high",
    }
}
