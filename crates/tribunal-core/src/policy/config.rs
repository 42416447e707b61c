//! The configuration file, as typed: every key optional, unknown keys refused. [`super::layers`] puts several files, the
//! environment and flags over each other; [`Policy`] is what comes out.

use crate::combine::Caps;
use crate::combine::verdict::FailLevel;
use crate::ids::{AgentName, RoleName};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// `.tribunal.toml`
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Tribunal configuration, version 1")]
pub struct Config {
    /// For editors that read schemas from a key.
    #[serde(rename = "$schema", default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<String>,
    #[serde(default)]
    pub review: ReviewConfig,
    #[serde(default)]
    pub files: FilesConfig,
    /// Role → the agents that play it, each alone. An empty list switches the role off.
    #[serde(default)]
    pub panel: BTreeMap<RoleName, Vec<AgentName>>,
    #[serde(default)]
    pub agents: BTreeMap<AgentName, AgentConfig>,
    #[serde(default)]
    pub rules: RulesConfig,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReviewConfig {
    /// Findings at or above this fail the run. Default P0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fail_level: Option<FailLevel>,
    /// The branch that changes are made against, when it is not the default branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// Prose for reviewers and severity directives, as with `--context`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// P2 findings posted inline; the rest is listed. Default 12.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_inline_p2: Option<u32>,
    /// P3 findings listed in the summary. Default 5.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_listed_p3: Option<u32>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FilesConfig {
    /// Globs of files to leave out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skip: Option<Vec<String>>,
    /// Globs of files to read although they look generated, vendored or locked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub review: Option<Vec<String>>,
    /// A file whose new version is larger is not read, and the review is incomplete. Default 20 MiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_bytes: Option<u64>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RulesConfig {
    /// Ids of built-in rules that do not fit this repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disable: Option<Vec<String>>,
}

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
        /// Variables passed on from the environment. Default: only PATH, HOME replaced, LANG.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        env: Vec<String>,
        /// May it open network connections? Default true: a model is usually elsewhere.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        network: Option<bool>,
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
        /// Category of its results unless `categories` says otherwise. Default: the first category of the role.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        category: Option<String>,
        /// Glob over rule ids → category.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        categories: BTreeMap<String, String>,
    },
}

impl AgentConfig {
    pub fn kind(&self) -> &'static str {
        match self {
            AgentConfig::Rules {} => "rules",
            AgentConfig::Command { .. } => "command",
            AgentConfig::Sarif { .. } => "sarif",
        }
    }
}

/// The name under which the built-in rules play.
pub const RULES_AGENT: &str = "rules";

/// The settled answer to every question a run may ask. Stored with the run, so that resuming needs no file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Policy {
    pub fail_level: FailLevel,
    pub base: Option<String>,
    pub context: Option<String>,
    pub caps: Caps,
    pub skip: Vec<String>,
    pub review: Vec<String>,
    pub max_bytes: u64,
    pub panel: BTreeMap<RoleName, Vec<AgentName>>,
    pub agents: BTreeMap<AgentName, AgentConfig>,
    pub disabled_rules: Vec<String>,
}

pub const DEFAULT_MAX_BYTES: u64 = 20 * 1024 * 1024;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PolicyError {
    #[error("[panel] gives {role} to `{agent}`, but there is no [agents.{agent}]")]
    UnknownAgent { role: RoleName, agent: AgentName },
    #[error("[panel] names `{role}`, which is no role; roles are {known}")]
    UnknownRole { role: RoleName, known: String },
    #[error("[agents.{agent}]: {problem}")]
    Agent { agent: AgentName, problem: String },
    #[error("[files]: {0}")]
    Files(String),
}

impl Policy {
    pub fn new(config: &Config, roles: &[RoleName]) -> Result<Self, PolicyError> {
        let caps = Caps::default();
        let mut agents = config.agents.clone();
        agents.entry(RULES_AGENT.into()).or_insert(AgentConfig::Rules {});
        for (name, agent) in &agents {
            check_agent(agent).map_err(|problem| PolicyError::Agent { agent: name.clone(), problem })?;
        }
        for (role, players) in &config.panel {
            if !roles.contains(role) {
                let known = roles.iter().map(RoleName::as_str).collect::<Vec<_>>().join(", ");
                return Err(PolicyError::UnknownRole { role: role.clone(), known });
            }
            if let Some(agent) = players.iter().find(|agent| !agents.contains_key(*agent)) {
                return Err(PolicyError::UnknownAgent { role: role.clone(), agent: agent.clone() });
            }
        }
        let panel = roles
            .iter()
            .map(|role| (role.clone(), config.panel.get(role).cloned().unwrap_or_else(|| vec![RULES_AGENT.into()])))
            .collect();
        let policy = Policy {
            fail_level: config.review.fail_level.unwrap_or(FailLevel::P0),
            base: config.review.base.clone(),
            context: config.review.context.clone(),
            caps: Caps {
                inline_p2: config.review.max_inline_p2.unwrap_or(caps.inline_p2),
                listed_p3: config.review.max_listed_p3.unwrap_or(caps.listed_p3),
            },
            skip: config.files.skip.clone().unwrap_or_default(),
            review: config.files.review.clone().unwrap_or_default(),
            max_bytes: config.files.max_bytes.unwrap_or(DEFAULT_MAX_BYTES),
            panel,
            agents,
            disabled_rules: config.rules.disable.clone().unwrap_or_default(),
        };
        crate::plan::files::FileRules::new(&policy.skip, &policy.review).map_err(PolicyError::Files)?;
        Ok(policy)
    }
}

fn check_agent(agent: &AgentConfig) -> Result<(), String> {
    match agent {
        AgentConfig::Rules {} => Ok(()),
        AgentConfig::Command { command, .. } => check_program(command),
        AgentConfig::Sarif { file: None, command: None, .. } => Err("needs a `file` to read or a `command` to run".into()),
        AgentConfig::Sarif { file: Some(_), command: Some(_), .. } => Err("has both `file` and `command`; keep one".into()),
        AgentConfig::Sarif { command: Some(command), .. } => check_program(command),
        AgentConfig::Sarif { .. } => Ok(()),
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

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(text: &str) -> Result<Policy, String> {
        let config: Config = toml::from_str(text).map_err(|error| error.to_string())?;
        Policy::new(&config, &["security-reviewer".into(), "sdet".into()]).map_err(|error| error.to_string())
    }

    #[test]
    fn an_empty_config_is_the_embedded_default() {
        let policy = policy("").unwrap();
        assert_eq!(policy.panel[&RoleName::from("sdet")], vec![AgentName::from("rules")]);
        assert_eq!(policy.fail_level, FailLevel::P0);
    }

    #[test]
    fn a_seat_without_an_agent_is_refused() {
        assert!(policy("[panel]\nsdet = ['gpt']").unwrap_err().contains("no [agents.gpt]"));
        assert!(policy("[panel]\nsdett = ['rules']").unwrap_err().contains("is no role"));
        assert!(policy("[agents.x]\nkind = 'sarif'").unwrap_err().contains("needs a `file`"));
        assert!(policy("[agents.x]\nkind = 'command'\ncommand = ['./x.py']").unwrap_err().contains("relative path"));
    }
}
