//! `[settle]` and `[escalate]`: how much of a plan is settled without a person, how a specialist is started again, and who is asked
//! when only a person can decide.

use super::config::{Config, RULES_AGENT};
use super::identity::Bots;
use super::span::Span;
use crate::ids::AgentName;
use crate::merge::policy::MergePolicy;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

/// TS-28.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "u8", into = "u8")]
pub enum Level {
    /// Nothing is reviewed and nothing merged: what is due is listed (CF-24).
    #[default]
    HandsOn,
    /// Reviewed, and merged by a person.
    Assisted,
    /// What is clean is merged, if every condition of a merge holds.
    AutoMerge,
}

impl Level {
    pub fn number(self) -> u8 {
        self.into()
    }

    pub fn word(self) -> &'static str {
        match self {
            Level::HandsOn => "hands-on",
            Level::Assisted => "assisted",
            Level::AutoMerge => "auto-merge",
        }
    }

    pub fn reviews(self) -> bool {
        self >= Level::Assisted
    }

    pub fn merges(self) -> bool {
        self == Level::AutoMerge
    }
}

impl From<Level> for u8 {
    fn from(level: Level) -> u8 {
        match level {
            Level::HandsOn => 0,
            Level::Assisted => 1,
            Level::AutoMerge => 2,
        }
    }
}

impl TryFrom<u8> for Level {
    type Error = String;

    fn try_from(number: u8) -> Result<Self, String> {
        match number {
            0 => Ok(Level::HandsOn),
            1 => Ok(Level::Assisted),
            2 => Ok(Level::AutoMerge),
            _ => Err(format!("there is no automation level {number}; the levels are 0, 1 and 2")),
        }
    }
}

impl FromStr for Level {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number: u8 =
            text.trim().parse().map_err(|_| format!("`{text}` is no automation level; the levels are 0, 1 and 2"))?;
        number.try_into()
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.number())
    }
}

impl JsonSchema for Level {
    fn schema_name() -> Cow<'static, str> {
        "Level".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer", "minimum": 0, "maximum": 2 })
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SettleConfig {
    /// The automation level of plans that name none: 0 lists what is due, 1 reviews, 2 also merges. Default 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<Level>,
    /// How a specialist is started again for its one refinement. Default `review`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restart: Option<Restart>,
    /// What `restart = "mention"` writes at the end of the review, such as `@hall-of-automata`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mention: Option<String>,
    /// The label that `restart = "label"` puts on the pull request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The agent that `restart = "agent"` has fix what was found. Default: the fixer of `[fix]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentName>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EscalateConfig {
    /// The login of whoever decides, where a plan names nobody.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
}

/// TS-72 to TS-77: the review alone starts nobody, unless somebody waits for it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Restart {
    /// The review asks for changes, and whoever wrote them is expected to look.
    #[default]
    Review,
    /// The review mentions somebody.
    Mention,
    /// A label is put on the pull request.
    Label,
    /// An agent of ours fixes what was found.
    Agent,
}

/// The settled way of starting a specialist again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Specialist {
    Awaited,
    Mentioned(String),
    Labelled(String),
    Agent(AgentName),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SettlePolicy {
    pub specialist: Specialist,
    pub escalate_to: Option<String>,
    /// Machine accounts that the forge takes for people.
    pub bots: Bots,
    /// Between two looks (TS-47), and how long the whole may take.
    pub poll: Span,
    pub total: Span,
    /// The words by which an issue names the larger work that it is part of.
    #[serde(default = "usual_words")]
    pub part_of: String,
}

fn usual_words() -> String {
    MergePolicy::default().part_of
}

/// TS-47.
const POLL: Span = Span::seconds(120);
const TOTAL: Span = Span::seconds(7_200);
/// What somebody is mentioned with is a name and not a text.
const MAX_MENTION: usize = 100;

impl SettlePolicy {
    pub fn new(config: &Config) -> Result<Self, String> {
        let settle = &config.settle;
        let missing = |key: &str, restart: &str| format!("[settle] restart = \"{restart}\" needs `{key}`");
        let specialist = match settle.restart.unwrap_or_default() {
            Restart::Review => Specialist::Awaited,
            Restart::Mention => {
                let mention = settle.mention.clone().filter(|text| !text.trim().is_empty());
                Specialist::Mentioned(mention.ok_or_else(|| missing("mention", "mention"))?)
            }
            Restart::Label => {
                let label = settle.label.clone().filter(|text| !text.trim().is_empty());
                Specialist::Labelled(label.ok_or_else(|| missing("label", "label"))?)
            }
            Restart::Agent => {
                let fixer = settle.agent.clone().or_else(|| config.fix.agent.clone());
                Specialist::Agent(fixer.unwrap_or_else(|| RULES_AGENT.into()))
            }
        };
        if let Specialist::Mentioned(mention) = &specialist
            && (mention.len() > MAX_MENTION || mention.chars().any(char::is_control))
        {
            return Err(format!("[settle] mention is one line of at most {MAX_MENTION} characters"));
        }
        if let Some(agent) = settle.agent.as_ref().filter(|agent| agent.as_str() != RULES_AGENT)
            && !config.agents.contains_key(agent)
        {
            return Err(format!("[settle] agent names `{agent}`, but there is no [agents.{agent}]"));
        }
        let to = config.escalate.to.as_deref().map(login).transpose().map_err(|problem| format!("[escalate] to: {problem}"))?;
        Ok(SettlePolicy {
            specialist,
            escalate_to: to,
            bots: config.identity.bots.clone(),
            poll: config.wait.poll.unwrap_or(POLL).max(Span::seconds(1)),
            total: config.wait.total.unwrap_or(TOTAL),
            part_of: config.merge.policy().part_of,
        })
    }
}

/// A login that may stand behind an `@`: nothing in it calls anybody else.
pub fn login(text: &str) -> Result<String, String> {
    let name = text.trim().trim_start_matches('@');
    let fits = !name.is_empty()
        && name.len() <= MAX_MENTION
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '[' | ']'));
    if fits { Ok(name.to_owned()) } else { Err(format!("`{text}` is no login")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(text: &str) -> Result<SettlePolicy, String> {
        SettlePolicy::new(&toml::from_str(text).map_err(|error| error.to_string())?)
    }

    /// TS-28: three levels, and no other.
    #[test]
    fn there_are_three_levels() {
        let of = |number: u8| Level::try_from(number).map(|level| (level.word(), level.reviews(), level.merges()));
        assert_eq!(of(0), Ok(("hands-on", false, false)));
        assert_eq!(of(1), Ok(("assisted", true, false)));
        assert_eq!(of(2), Ok(("auto-merge", true, true)));
        assert!(of(3).is_err());
        assert!("two".parse::<Level>().is_err());
        assert_eq!(Level::default(), Level::HandsOn);
    }

    /// TS-72, TS-77: each way to start a specialist again has what it needs, or says what is missing.
    #[test]
    fn a_restart_has_what_it_needs() {
        let specialist = |text: &str| policy(text).map(|policy| policy.specialist);
        assert_eq!(specialist(""), Ok(Specialist::Awaited));
        assert_eq!(
            specialist("[settle]\nrestart = \"mention\"\nmention = \"@hall-of-automata\"\n"),
            Ok(Specialist::Mentioned("@hall-of-automata".into()))
        );
        assert_eq!(
            specialist("[settle]\nrestart = \"label\"\nlabel = \"hall:refine\"\n"),
            Ok(Specialist::Labelled("hall:refine".into()))
        );
        assert_eq!(specialist("[settle]\nrestart = \"agent\"\n"), Ok(Specialist::Agent("rules".into())));
        let fixer = "[settle]\nrestart = \"agent\"\n[fix]\nagent = \"rules\"\n";
        assert_eq!(specialist(fixer), Ok(Specialist::Agent("rules".into())));
        assert!(specialist("[settle]\nrestart = \"mention\"\n").unwrap_err().contains("needs `mention`"));
        assert!(specialist("[settle]\nrestart = \"label\"\n").unwrap_err().contains("needs `label`"));
        assert!(specialist("[settle]\nrestart = \"agent\"\nagent = \"nobody\"\n").unwrap_err().contains("[agents.nobody]"));
        assert!(specialist("[settle]\nlevel = 3\n").is_err());
    }

    /// TS-47: two minutes between two looks, and two hours in all, unless somebody says otherwise.
    #[test]
    fn a_watch_has_its_times() {
        let usual = policy("").unwrap();
        assert_eq!((usual.poll, usual.total), (Span::seconds(120), Span::seconds(7_200)));
        let other = policy("[wait]\npoll = \"5s\"\ntotal = \"1h\"\n").unwrap();
        assert_eq!((other.poll, other.total), (Span::seconds(5), Span::seconds(3_600)));
    }

    /// TS-105: larger work is found by the words that the repository uses, as after any other merge.
    #[test]
    fn larger_work_is_named_by_the_words_of_the_repository() {
        assert_eq!(policy("").unwrap().part_of, "Part of");
        assert_eq!(policy("[merge]\npart_of = \"Belongs to\"\n").unwrap().part_of, "Belongs to");
    }

    /// CF-26: who is named is one person.
    #[test]
    fn escalations_go_to_a_login() {
        assert_eq!(policy("[escalate]\nto = \"@ann\"\n").unwrap().escalate_to, Some("ann".into()));
        assert!(policy("[escalate]\nto = \"ann and @everybody\"\n").is_err());
    }
}
