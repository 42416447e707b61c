//! Who can play a role, as configured: `[agents.NAME]`.

use super::linter::LinterConfig;
use crate::call::clocks::ClockConfig;
use crate::call::price::Price;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What plays a role.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum AgentConfig {
    /// The built-in rules.
    Rules {},
    /// Any program: a JSON brief on standard input, a JSON report on standard output.
    Command {
        /// Program and arguments. No shell is involved.
        command: Vec<String>,
        /// Seconds until it is killed. Default 300.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        timeout_seconds: Option<u64>,
        /// Variables passed on from the environment. Default: only PATH, HOME replaced, LANG. Tokens of forges and keys of models are
        /// refused.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        env: Vec<String>,
        /// The variable that holds the key of its own model, passed on to it under the same name: `{ env = "NAME" }`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        key: Option<KeySource>,
        /// May it open network connections? Default true: a model is usually elsewhere.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        network: Option<bool>,
        /// Files and folders that it may read, beside the system, the programs on the PATH and its own installation: absolute, or
        /// below your home as `~/x`. Never a whole home folder, nor a place where keys are kept.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        read: Vec<String>,
    },
    /// A linter's results.
    Sarif {
        /// A SARIF file to read, relative to the repository.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        file: Option<String>,
        /// Or a linter to run in a copy of the changed tree; it prints SARIF.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        command: Option<Vec<String>>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        timeout_seconds: Option<u64>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        env: Vec<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        network: Option<bool>,
        /// Files and folders that it may read, as of a `command` agent.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        read: Vec<String>,
        /// Category of its results unless `categories` says otherwise. Default: the first category of the role.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        category: Option<String>,
        /// Glob over rule ids → category.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        categories: BTreeMap<String, String>,
    },
    /// A linter with a built-in profile. A word in `[panel]` means the same.
    Linter(LinterConfig),
    /// Anthropic's Messages API, and servers that speak it.
    Anthropic(ModelConfig),
    /// OpenAI's Responses API.
    Openai(ModelConfig),
    /// OpenAI's Chat Completions API, and the many servers that speak it: Ollama, vLLM, llama.cpp, LM Studio, OpenRouter, Azure.
    OpenaiChat(ModelConfig),
    /// Google's Gemini API.
    Gemini(ModelConfig),
    /// Claude Code.
    Claude(CliConfig),
    /// OpenAI's Codex CLI.
    Codex(CliConfig),
    /// Google's Gemini CLI.
    GeminiCli(CliConfig),
    Opencode(CliConfig),
    /// GitHub's Copilot CLI, with a model of your own.
    Copilot(CliConfig),
    /// Edits files and answers nothing else: it can fix, not review.
    Aider(CliConfig),
    /// An agent of a repository's file that the person has not trusted. It holds nothing that could be run, and no file can name it.
    #[schemars(skip)]
    NotTrusted(NotTrustedAgent),
}

/// What is left of an agent that is not trusted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NotTrustedAgent {
    /// What is wrong, and the command that trusts it.
    pub why: String,
    /// It is nothing but the word for a built-in linter, which the person's own panel may trust.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_profile: bool,
}

/// A model over HTTP.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ModelConfig {
    /// As the vendor or server names it.
    pub model: String,
    /// Where it is asked, up to and including the version: `https://api.openai.com/v1`. Default: the vendor's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// Where its key comes from. Default: the vendor's usual variable; none for a `base_url` of your own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<KeySource>,
    /// The header that carries the key, where it is not the usual one (Azure: `api-key`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_header: Option<String>,
    /// How hard it thinks, where it can be told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<Effort>,
    /// Tokens it may write for one answer. Default 16000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_output_tokens: Option<u64>,
    /// Tokens it can read at once; larger changes are given in parts. Default 128000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_tokens: Option<u64>,
    /// How it is asked for JSON: `schema` (default), `json` for servers without schemas, `prompt` for those with neither.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub structured: Option<Structured>,
    #[serde(default, skip_serializing_if = "ClockConfig::is_default")]
    pub clocks: ClockConfig,
    /// Dollars for a million tokens, where the list that ships is wrong or does not know the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
}

/// A coding-agent CLI. It reads a copy of the change's tree and can change nothing.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CliConfig {
    /// A name on the PATH or an absolute path. Default: its usual name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// As the CLI names it.
    pub model: String,
    /// The API behind it, up to and including the version. Default: the vendor's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// Where the key of that API comes from. The CLI itself never sees it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<KeySource>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<Effort>,
    /// Turns it may take for one answer, where it can be told. Default 24.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_turns: Option<u32>,
    /// Tokens of prompt it is given at once; larger changes are given in parts. Default 100000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_tokens: Option<u64>,
    #[serde(default, skip_serializing_if = "ClockConfig::is_default")]
    pub clocks: ClockConfig,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
}

/// Where a secret comes from: never from the file itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum KeySource {
    /// A variable of the environment.
    Env(String),
    /// A program that prints it.
    Command(Vec<String>),
    /// An entry of the system's keyring, under the service `tribunal`.
    Keyring(String),
}

impl KeySource {
    /// The variable that holds it, if one does.
    pub fn variable(&self) -> Option<&str> {
        match self {
            KeySource::Env(name) => Some(name),
            KeySource::Command(_) | KeySource::Keyring(_) => None,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Effort {
    Low,
    Medium,
    High,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Structured {
    #[default]
    Schema,
    Json,
    Prompt,
}

/// How an agent is reached, which is what its runner needs to know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wire {
    Anthropic,
    Openai,
    OpenaiChat,
    Gemini,
}

impl Wire {
    pub fn base_url(self) -> &'static str {
        match self {
            Wire::Anthropic => "https://api.anthropic.com/v1",
            Wire::Openai | Wire::OpenaiChat => "https://api.openai.com/v1",
            Wire::Gemini => "https://generativelanguage.googleapis.com/v1beta",
        }
    }

    pub fn key_variable(self) -> &'static str {
        match self {
            Wire::Anthropic => "ANTHROPIC_API_KEY",
            Wire::Openai | Wire::OpenaiChat => "OPENAI_API_KEY",
            Wire::Gemini => "GEMINI_API_KEY",
        }
    }
}

/// The CLIs that Tribunal has a profile for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cli {
    Claude,
    Codex,
    Gemini,
    Opencode,
    Copilot,
    Aider,
}

impl Cli {
    pub const ALL: [Cli; 6] = [Cli::Claude, Cli::Codex, Cli::Gemini, Cli::Opencode, Cli::Copilot, Cli::Aider];

    /// Its usual name on the PATH.
    pub fn program(self) -> &'static str {
        match self {
            Cli::Claude => "claude",
            Cli::Codex => "codex",
            Cli::Gemini => "gemini",
            Cli::Opencode => "opencode",
            Cli::Copilot => "copilot",
            Cli::Aider => "aider",
        }
    }

    /// The API it speaks to when it is run by us.
    pub fn wire(self) -> Wire {
        match self {
            Cli::Claude => Wire::Anthropic,
            Cli::Codex => Wire::Openai,
            Cli::Gemini => Wire::Gemini,
            Cli::Opencode | Cli::Copilot | Cli::Aider => Wire::OpenaiChat,
        }
    }
}

/// Agents by how they are run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Means<'a> {
    Rules,
    Command,
    /// A linter: its own SARIF, or one with a profile.
    Sarif,
    Model(Wire, &'a ModelConfig),
    Cli(Cli, &'a CliConfig),
    /// It is not asked.
    NotTrusted,
}

impl AgentConfig {
    pub fn means(&self) -> Means<'_> {
        match self {
            AgentConfig::Rules {} => Means::Rules,
            AgentConfig::Command { .. } => Means::Command,
            AgentConfig::Sarif { .. } | AgentConfig::Linter(_) => Means::Sarif,
            AgentConfig::Anthropic(model) => Means::Model(Wire::Anthropic, model),
            AgentConfig::Openai(model) => Means::Model(Wire::Openai, model),
            AgentConfig::OpenaiChat(model) => Means::Model(Wire::OpenaiChat, model),
            AgentConfig::Gemini(model) => Means::Model(Wire::Gemini, model),
            AgentConfig::Claude(cli) => Means::Cli(Cli::Claude, cli),
            AgentConfig::Codex(cli) => Means::Cli(Cli::Codex, cli),
            AgentConfig::GeminiCli(cli) => Means::Cli(Cli::Gemini, cli),
            AgentConfig::Opencode(cli) => Means::Cli(Cli::Opencode, cli),
            AgentConfig::Copilot(cli) => Means::Cli(Cli::Copilot, cli),
            AgentConfig::Aider(cli) => Means::Cli(Cli::Aider, cli),
            AgentConfig::NotTrusted(_) => Means::NotTrusted,
        }
    }

    pub fn kind(&self) -> &'static str {
        match self.means() {
            Means::Rules => "rules",
            Means::Command => "command",
            Means::Sarif if matches!(self, AgentConfig::Linter(_)) => "linter",
            Means::Sarif => "sarif",
            Means::Model(Wire::Anthropic, _) => "anthropic",
            Means::Model(Wire::Openai, _) => "openai",
            Means::Model(Wire::OpenaiChat, _) => "openai-chat",
            Means::Model(Wire::Gemini, _) => "gemini",
            Means::Cli(Cli::Gemini, _) => "gemini-cli",
            Means::Cli(cli, _) => cli.program(),
            Means::NotTrusted => super::admission::NOT_TRUSTED_KIND,
        }
    }

    /// The program that it starts, if it starts one.
    pub fn program(&self) -> Option<&str> {
        match self {
            AgentConfig::Command { command, .. } => command.first().map(String::as_str),
            AgentConfig::Sarif { command, .. } => command.as_ref().and_then(|command| command.first()).map(String::as_str),
            AgentConfig::Linter(linter) => linter.program(),
            _ => match self.means() {
                Means::Cli(cli, config) => Some(config.program.as_deref().unwrap_or(cli.program())),
                Means::Rules | Means::Command | Means::Sarif | Means::Model(..) | Means::NotTrusted => None,
            },
        }
    }

    /// Why it is not asked, if the person has not trusted it.
    pub fn not_trusted(&self) -> Option<&str> {
        match self {
            AgentConfig::NotTrusted(stub) => Some(&stub.why),
            _ => None,
        }
    }

    /// Is it the word for a built-in linter that a repository's file names and nobody trusted?
    pub fn is_profile_not_trusted(&self) -> bool {
        matches!(self, AgentConfig::NotTrusted(stub) if stub.is_profile)
    }

    /// The key that a `command` agent calls its own.
    pub fn own_key(&self) -> Option<&KeySource> {
        match self {
            AgentConfig::Command { key, .. } => key.as_ref(),
            _ => None,
        }
    }

    pub fn model(&self) -> Option<&str> {
        match self.means() {
            Means::Model(_, config) => Some(&config.model),
            Means::Cli(_, config) => Some(&config.model),
            Means::Rules | Means::Command | Means::Sarif | Means::NotTrusted => None,
        }
    }

    pub fn check(&self) -> Result<(), String> {
        match self {
            AgentConfig::Command { key: Some(KeySource::Command(_) | KeySource::Keyring(_)), .. } => {
                Err("`key` of a command names the variable that holds it: { env = \"NAME\" }".into())
            }
            AgentConfig::Command { command, key, read, .. } => {
                check_key(key.as_ref(), None)?;
                check_program(command)?;
                check_read(read)
            }
            AgentConfig::Sarif { file: None, command: None, .. } => Err("needs a `file` to read or a `command` to run".into()),
            AgentConfig::Sarif { file: Some(_), command: Some(_), .. } => Err("has both `file` and `command`; keep one".into()),
            AgentConfig::Linter(linter) => {
                linter.check()?;
                check_read(&linter.read)?;
                linter.program.as_ref().map_or(Ok(()), |program| check_program(std::slice::from_ref(program)))
            }
            AgentConfig::Sarif { command: Some(command), read, .. } => check_program(command).and_then(|()| check_read(read)),
            _ => match self.means() {
                Means::Model(_, model) => {
                    if let Some(price) = &model.price
                        && let Some(problem) = price.problem()
                    {
                        return Err(problem.into());
                    }
                    check_common(&model.model, model.base_url.as_deref(), model.key.as_ref(), &model.clocks)
                }
                Means::Cli(_, cli) => {
                    if let Some(program) = &cli.program {
                        check_program(std::slice::from_ref(program))?;
                    }
                    if let Some(price) = &cli.price
                        && let Some(problem) = price.problem()
                    {
                        return Err(problem.into());
                    }
                    check_common(&cli.model, cli.base_url.as_deref(), cli.key.as_ref(), &cli.clocks)
                }
                Means::Rules | Means::Command | Means::Sarif | Means::NotTrusted => Ok(()),
            },
        }
    }
}

fn check_common(model: &str, base_url: Option<&str>, key: Option<&KeySource>, clocks: &ClockConfig) -> Result<(), String> {
    if model.trim().is_empty() {
        return Err("`model` is empty".into());
    }
    if let Some(url) = base_url
        && !url.starts_with("https://")
        && !url.starts_with("http://")
    {
        return Err(format!("`base_url` is `{url}`, which is no http or https address"));
    }
    if base_url.is_some_and(|url| super::keys::host(url).is_empty()) {
        return Err("`base_url` names no host".into());
    }
    if let Some(problem) = clocks.problem() {
        return Err(problem.into());
    }
    check_key(key, base_url)
}

fn check_key(key: Option<&KeySource>, base_url: Option<&str>) -> Result<(), String> {
    match key {
        Some(KeySource::Env(name)) if looks_like_a_secret(name) => {
            Err("`key.env` must be the name of a variable, and this looks like the key itself; take it out of the file".into())
        }
        Some(KeySource::Command(command)) => check_program(command),
        Some(KeySource::Env(name)) => match super::passed_variables::refused_key(name, base_url) {
            Some(why) => Err(format!("`key.env` names `{name}`, which is no key of this agent: {why}")),
            None => Ok(()),
        },
        Some(KeySource::Keyring(_)) | None => Ok(()),
    }
}

fn looks_like_a_secret(name: &str) -> bool {
    name.chars().any(|c| !c.is_ascii_alphanumeric() && c != '_') || name.len() > 64
}

/// `read` names whole paths: a relative one would be the change's own, and one with `..` would hide where it leads.
pub fn check_read(paths: &[String]) -> Result<(), String> {
    match paths.iter().find(|path| !(path.starts_with('/') || path.starts_with("~/")) || path.split('/').any(|part| part == ".."))
    {
        Some(path) => Err(format!("`read` names `{path}`, which is neither an absolute path nor one below your home (`~/x`)")),
        None => Ok(()),
    }
}

/// A path inside the repository would name the change's own version of the program, which is exactly what must not run.
fn check_program(command: &[String]) -> Result<(), String> {
    match command.first() {
        None => Err("`command` is empty".into()),
        Some(program) if program.contains('/') && !program.starts_with('/') => Err(format!(
            "`{program}` is a relative path, which the change under review could replace; use a program on the PATH or an absolute path"
        )),
        Some(_) => Ok(()),
    }
}
