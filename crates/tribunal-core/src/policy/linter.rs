//! A linter with a built-in profile, as configured. A word in `[panel]` is enough: where no `[agents.NAME]` stands beside it, it means
//! the profile of that name. Such a word names a program, so in a repository's file it is treated as if the agent were written out,
//! and needs the person's trust.

use crate::linter::built_in;
use crate::linter::profile::Profile;
use crate::linter::triage::read_table;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use toml::{Table, Value};

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinterConfig {
    /// The built-in profile: `ruff`, `eslint`. docs/reference/linters.md lists them.
    pub profile: String,
    /// A name on the PATH or an absolute path. Default: the profile's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// Arguments instead of the profile's, with its placeholders `{files}`, `{folders}`, `{config}`, `{own}` and `{output}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub args: Option<Vec<String>>,
    /// `base`: the base's configuration, where it is pure data. `default`: none of the repository's. Default `base`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config: Option<LinterConfigFrom>,
    /// Seconds until it is killed. Default 300.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<u64>,
    /// Files and folders that it may read, as of a `command` agent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub read: Vec<String>,
    /// Rule, or beginning of a rule with `*` → `off`, or category and weight such as `E5 factual`. Before the profile's own.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub rules: BTreeMap<String, String>,
}

/// Which configuration of the repository a linter reads.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LinterConfigFrom {
    #[default]
    Base,
    Default,
}

impl LinterConfig {
    pub fn of(profile: &str) -> Self {
        LinterConfig { profile: profile.to_owned(), ..LinterConfig::default() }
    }

    pub fn profile(&self) -> Option<&'static Profile> {
        built_in::profile(&self.profile)
    }

    /// What is run.
    pub fn program(&self) -> Option<&str> {
        self.program.as_deref().or_else(|| self.profile().map(|profile| profile.program.as_str()))
    }

    pub fn check(&self) -> Result<(), String> {
        if self.profile().is_none() {
            let known: Vec<&str> = built_in::SOURCES.iter().map(|(name, _)| *name).collect();
            return Err(format!("there is no linter profile `{}`; known are {}", self.profile, known.join(", ")));
        }
        read_table(&self.rules).map(|_| ())
    }
}

/// The entry that a word of `[panel]` stands for.
fn entry(name: &str) -> Value {
    Value::Table(Table::from_iter(
        [("kind", "linter"), ("profile", name)].map(|(key, text)| (key.to_owned(), Value::String(text.to_owned()))),
    ))
}

/// Words of `[panel]` that mean a profile because the same table defines no agent of that name.
fn words(table: &Table) -> Vec<String> {
    let agents = table.get("agents").and_then(Value::as_table);
    let panel = table.get("panel").and_then(Value::as_table);
    let players = panel.into_iter().flat_map(|panel| panel.values()).filter_map(Value::as_array).flatten();
    let mut words: Vec<String> = players.flat_map(names).filter(|name| built_in::is_linter(name)).collect();
    words.retain(|name| agents.is_none_or(|agents| !agents.contains_key(name)));
    words.sort();
    words.dedup();
    words
}

/// The agents that a player names: itself and its stand-ins.
fn names(player: &Value) -> Vec<String> {
    match player {
        Value::String(name) => vec![name.clone()],
        Value::Table(player) => {
            let fallback = player.get("fallback").and_then(Value::as_array).into_iter().flatten();
            player.get("agent").into_iter().chain(fallback).filter_map(Value::as_str).map(str::to_owned).collect()
        }
        _ => Vec::new(),
    }
}

/// Writes out the linters of a repository's panel, so that they need trust like every agent that runs a program.
pub(super) fn write_out(table: &mut Table) {
    for name in words(table) {
        if let Value::Table(agents) = table.entry("agents").or_insert_with(|| Value::Table(Table::new())) {
            agents.insert(name.clone(), entry(&name));
        }
    }
}

/// The same for the person's own panel. What a layer below defines under the name stays, unless it is that very linter: whoever lists
/// it trusts it.
pub(super) fn write_out_over(table: &mut Table, below: &Table) {
    let defined = below.get("agents").and_then(Value::as_table);
    for name in words(table) {
        let is_defined = defined.and_then(|agents| agents.get(&name)).is_some_and(|agent| !is_the_profile(agent));
        if let (false, Value::Table(agents)) = (is_defined, table.entry("agents").or_insert_with(|| Value::Table(Table::new()))) {
            agents.insert(name.clone(), entry(&name));
        }
    }
}

/// Is it what a word alone means, trusted or not?
fn is_the_profile(agent: &Value) -> bool {
    let Some(agent) = agent.as_table() else { return false };
    let kind = agent.get("kind").and_then(Value::as_str);
    match kind {
        Some("linter") => agent.len() == 2,
        Some(super::admission::NOT_TRUSTED_KIND) => agent.get("is_profile").and_then(Value::as_bool) == Some(true),
        _ => false,
    }
}

/// Does an item to be trusted hold nothing but a profile's name?
pub(super) fn is_profile_alone(name: &str, values: &BTreeMap<String, Value>) -> bool {
    let is = |key: &str, text: &str| values.get(&format!("agents.{name}.{key}")).and_then(Value::as_str) == Some(text);
    values.len() == 2 && is("kind", "linter") && is("profile", name)
}

#[cfg(test)]
mod tests {
    use crate::policy::admission::{Remedy, RepositoryLayer};
    use crate::policy::agents::AgentConfig;
    use crate::policy::layers::{Layer, merge_layers, read_layer};

    const PANEL: &str = "[panel]\nstaff-engineer = ['rules', 'ruff', { agent = 'eslint', fallback = ['biome'] }]";
    const REMEDY: Remedy<'static> = Remedy { command: "tribunal trust", is_base: true };

    fn repository(text: &str, is_trusted: bool) -> Layer {
        RepositoryLayer::read(".tribunal.toml", text).unwrap().admit(&|_| is_trusted, REMEDY).layer
    }

    fn kinds(layers: &[Layer]) -> Vec<String> {
        let agents = merge_layers(layers).unwrap().config.agents;
        agents.iter().map(|(name, agent)| format!("{name} {}", agent.kind())).collect()
    }

    /// Issue 16: whatever in a repository's file names a program counts only after this person trusted it. A linter's word does.
    #[test]
    fn a_word_of_a_repository_needs_trust() {
        let items = RepositoryLayer::read("x", PANEL).unwrap().items();
        assert_eq!(items.iter().map(|item| item.name()).collect::<Vec<_>>(), ["agents.biome", "agents.eslint", "agents.ruff"]);
        assert_eq!(items[2].lines(), ["agents.ruff.kind = \"linter\"", "agents.ruff.profile = \"ruff\""]);
        assert_eq!(kinds(&[repository(PANEL, false)]), ["biome not-trusted", "eslint not-trusted", "ruff not-trusted"]);
        assert_eq!(kinds(&[repository(PANEL, true)]), ["biome linter", "eslint linter", "ruff linter"]);
    }

    /// Whoever lists a linter in their own configuration trusts it, for every repository.
    #[test]
    fn a_word_of_the_person_needs_none() {
        let own = read_layer("config.toml", "[panel]\nstaff-engineer = ['ruff']").unwrap();
        assert_eq!(kinds(std::slice::from_ref(&own)), ["ruff linter"]);
        let merged = merge_layers(&[repository(PANEL, false), own.clone()]).unwrap();
        assert_eq!(merged.config.agents[&"ruff".into()].kind(), "linter");
        assert_eq!(merged.config.agents[&"eslint".into()].kind(), "not-trusted");
        assert!(
            merged.notices[0].contains("agents.eslint") && !merged.notices[0].contains("agents.ruff"),
            "{:?}",
            merged.notices
        );
        // What the repository calls ruff is something else.
        let other = "[agents.ruff]\nkind = 'sarif'\ncommand = ['x']";
        assert_eq!(kinds(&[repository(other, false), own.clone()]), ["ruff not-trusted"]);
        assert_eq!(kinds(&[repository(other, true), own]), ["ruff sarif"]);
    }

    /// An agent that is written out is meant, wherever the word stands.
    #[test]
    fn an_entry_of_the_name_wins() {
        let text = "[panel]\nsdet = ['ruff']\n[agents.ruff]\nkind = 'linter'\nprofile = 'ruff'\nprogram = '/opt/ruff'\nrules = { 'E501' = 'off' }";
        let config = merge_layers(&[read_layer("x", text).unwrap()]).unwrap().config;
        let AgentConfig::Linter(linter) = &config.agents[&"ruff".into()] else { panic!("{config:?}") };
        assert_eq!(linter.program(), Some("/opt/ruff"));
        assert!(config.agents[&"ruff".into()].check().is_ok());
        let wrong = |text: &str| toml::from_str::<AgentConfig>(text).unwrap().check().unwrap_err();
        assert!(wrong("kind = 'linter'\nprofile = 'rufff'").contains("no linter profile"));
        assert!(wrong("kind = 'linter'\nprofile = 'ruff'\nrules = { E501 = 'P1' }").contains("E5 factual"));
        assert!(wrong("kind = 'linter'\nprofile = 'ruff'\nprogram = './ruff'").contains("relative path"));
    }
}
