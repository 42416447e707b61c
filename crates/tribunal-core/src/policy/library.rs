//! `[library]`: where decision records and specs lie, and how what a change should refer to is looked up.

use super::agents::{AgentConfig, Means, Wire};
use super::config::Config;
use super::span::Span;
use crate::ids::AgentName;
use crate::library::places::{Places, check_folder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LibraryConfig {
    /// Folders of decision records. Default: docs/adrs, docs/adr, docs/decisions, doc/adr, docs/architecture/decisions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decisions: Option<Vec<String>>,
    /// Folders of specs: a folder each, with a spec.md and a design.md. Default: docs/openspec/specs, openspec/specs, docs/specs, specs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub specs: Option<Vec<String>>,
    /// Is code looked up too? Default true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<bool>,
    /// When a review says which records and issues a change should perhaps name. Default `sweep`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub references: Option<References>,
    /// Hits below are not said, 0 to 1. Default 0.4.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_score: Option<f64>,
    /// Hints for one change at most. Default 8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
    /// The agent whose endpoint makes vectors: of kind `openai-chat` or `openai`, with a model for embeddings. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub embeddings: Option<AgentName>,
    /// Parts of a repository that have records of their own: name to folder.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub modules: BTreeMap<String, String>,
    /// Another index, asked instead of the built-in one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub qmd: Option<QmdConfig>,
}

/// The `qmd` command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QmdConfig {
    /// Program and arguments before those of a query. Default: qmd.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<Vec<String>>,
    /// Its collections begin with this: NAME-adrs, NAME-specs, NAME-issues, NAME-code.
    pub collection: String,
    /// How long an answer is waited for. Default 60s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Span>,
    /// After this long it is told to read everything anew. Default 2h.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_age: Option<Span>,
    /// Variables passed on from the environment, besides PATH, HOME and LANG.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub env: Vec<String>,
    /// Files and folders that it may read, beside its own: those of its collections. Absolute, or below your home as `~/x`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub read: Vec<String>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum References {
    Never,
    /// In reviews that a sweep orders.
    #[default]
    Sweep,
    /// In every review of a pull request.
    Always,
}

/// What holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LibraryPolicy {
    pub places: Places,
    pub references: References,
    pub min_score: f64,
    pub limit: usize,
    pub embeddings: Option<AgentName>,
    pub qmd: Option<QmdConfig>,
    /// Why the external index that the repository asks for does not count. Nothing is looked up elsewhere in its place (SL-43).
    #[serde(default)]
    pub qmd_not_trusted: Option<String>,
}

pub const MIN_SCORE: f64 = 0.4;
pub const LIMIT: usize = 8;

const DECISIONS: [&str; 5] = ["docs/adrs", "docs/adr", "docs/decisions", "doc/adr", "docs/architecture/decisions"];
const SPECS: [&str; 4] = ["docs/openspec/specs", "openspec/specs", "docs/specs", "specs"];

impl LibraryPolicy {
    pub fn new(config: &Config, module: Option<&str>) -> Result<Self, String> {
        let library = &config.library;
        let folders = |given: &Option<Vec<String>>, usual: &[&str]| -> Result<Vec<String>, String> {
            let folders = given.clone().unwrap_or_else(|| usual.iter().map(|folder| (*folder).to_owned()).collect());
            folders.iter().map(|folder| check_folder(folder)).collect()
        };
        let modules: BTreeMap<String, String> = library
            .modules
            .iter()
            .map(|(name, folder)| Ok((name.clone(), check_folder(folder)?)))
            .collect::<Result<_, String>>()?;
        if let Some(min) = library.min_score.filter(|min| !(0.0..=1.0).contains(min)) {
            return Err(format!("[library] min_score is {min}; it goes from 0 to 1"));
        }
        if let Some(agent) = &library.embeddings {
            check_embeddings(agent, &config.agents)?;
        }
        if let Some(qmd) = &library.qmd {
            check_qmd(qmd)?;
        }
        Ok(LibraryPolicy {
            places: Places {
                decisions: folders(&library.decisions, &DECISIONS)?,
                specs: folders(&library.specs, &SPECS)?,
                code: library.code.unwrap_or(true),
                modules: chosen(modules, module)?,
                module: module.map(str::to_owned),
            },
            references: library.references.unwrap_or_default(),
            min_score: library.min_score.unwrap_or(MIN_SCORE),
            limit: library.limit.unwrap_or(LIMIT),
            embeddings: library.embeddings.clone(),
            qmd: library.qmd.clone(),
            qmd_not_trusted: config.not_trusted.get("library.qmd").cloned(),
        })
    }

    /// Does a review say what is missing?
    pub fn says_references(&self, ordered_by_a_sweep: bool) -> bool {
        match self.references {
            References::Never => false,
            References::Sweep => ordered_by_a_sweep,
            References::Always => true,
        }
    }
}

/// SL-23: an unknown module is an error that lists the known ones.
fn chosen(modules: BTreeMap<String, String>, module: Option<&str>) -> Result<BTreeMap<String, String>, String> {
    let Some(name) = module else { return Ok(modules) };
    match modules.get(name) {
        Some(folder) => Ok(BTreeMap::from([(name.to_owned(), folder.clone())])),
        None if modules.is_empty() => Err(format!("there is no module `{name}`: [library.modules] names none")),
        None => {
            let known: Vec<&str> = modules.keys().map(String::as_str).collect();
            Err(format!("there is no module `{name}`; [library.modules] has {}", known.join(", ")))
        }
    }
}

fn check_embeddings(name: &AgentName, agents: &BTreeMap<AgentName, AgentConfig>) -> Result<(), String> {
    let Some(agent) = agents.get(name) else {
        return Err(format!("[library] embeddings names `{name}`, but there is no [agents.{name}]"));
    };
    match agent.means() {
        // One that is not trusted is not asked; what is looked up by words alone is looked up.
        Means::Model(Wire::Openai | Wire::OpenaiChat, _) | Means::NotTrusted => Ok(()),
        Means::Model(..) | Means::Cli(..) | Means::Rules | Means::Sarif | Means::Command => Err(format!(
            "[library] embeddings names `{name}`, which is of kind `{}`; vectors are asked for in OpenAI's way: kind `openai-chat`",
            agent.kind()
        )),
    }
}

fn check_qmd(qmd: &QmdConfig) -> Result<(), String> {
    let fine = !qmd.collection.is_empty()
        && !qmd.collection.starts_with('-')
        && qmd.collection.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'));
    if !fine {
        return Err(format!("[library.qmd] collection: `{}` is no name of a collection", qmd.collection));
    }
    if qmd.command.as_ref().is_some_and(|command| command.first().is_none_or(|program| program.is_empty())) {
        return Err("[library.qmd] command is empty".to_owned());
    }
    super::agents::check_read(&qmd.read).map_err(|problem| format!("[library.qmd] {problem}"))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(text: &str, module: Option<&str>) -> Result<LibraryPolicy, String> {
        LibraryPolicy::new(&toml::from_str(text).map_err(|error: toml::de::Error| error.to_string())?, module)
    }

    /// SL-23: folders of the configuration, or the usual ones.
    #[test]
    fn folders_are_configured() {
        let usual = policy("", None).unwrap();
        assert!(usual.places.decisions.contains(&"docs/adrs".to_owned()));
        assert!(usual.places.specs.contains(&"docs/openspec/specs".to_owned()));
        let own = policy("[library]\ndecisions = ['./notes/']\nspecs = []", None).unwrap();
        assert_eq!((own.places.decisions, own.places.specs), (vec!["notes".to_owned()], vec![]));
    }

    /// SL-10, SL-23: one module of several, or all of them; an unknown one is told with the known ones.
    #[test]
    fn a_module_is_chosen_by_name() {
        let modules = "[library.modules]\nbilling = 'services/billing'\nweb = 'web'";
        assert_eq!(policy(modules, None).unwrap().places.modules.len(), 2);
        assert_eq!(policy(modules, Some("web")).unwrap().places.modules, BTreeMap::from([("web".into(), "web".into())]));
        assert_eq!(policy(modules, Some("wbe")).unwrap_err(), "there is no module `wbe`; [library.modules] has billing, web");
        assert!(policy("", Some("web")).unwrap_err().contains("names none"));
    }

    #[test]
    fn nonsense_is_refused() {
        for (text, words) in [
            ("[library]\ndecisions = ['../other']", "outside"),
            ("[library]\nmin_score = 4.0", "0 to 1"),
            ("[library]\nembeddings = 'e'", "no [agents.e]"),
            ("[library]\nembeddings = 'rules'\n[agents.rules]\nkind = 'rules'", "openai-chat"),
            ("[library.qmd]\ncollection = '--all'", "no name"),
            ("[library.qmd]\ncollection = 'x'\ncommand = []", "empty"),
        ] {
            let error = policy(text, None).unwrap_err();
            assert!(error.contains(words), "{text}: {error}");
        }
    }

    #[test]
    fn references_are_said_where_they_are_wanted() {
        let says = |text: &str, sweep| policy(text, None).unwrap().says_references(sweep);
        assert!(says("", true) && !says("", false));
        assert!(says("[library]\nreferences = 'always'", false) && !says("[library]\nreferences = 'never'", true));
    }
}
