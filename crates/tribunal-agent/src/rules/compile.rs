//! From rule files to matchers. A grammar's patterns are compiled when the first file of that language turns up: a small
//! change pays for one language, not for fifteen.

use super::checks;
use super::file::{RuleFile, TestCode};
use super::fix::Repairs;
use super::flow::compile::FlowRules;
use super::flow::tables::FlowTables;
use super::lines::LineMatcher;
use super::load::{LoadedRule, RuleError};
use super::object::RuleObject;
use ast_grep_config::{DeserializeEnv, RuleCore, SerializableRuleCore};
use ast_grep_core::Matcher;
use globset::{Glob, GlobSet, GlobSetBuilder};
use rayon::prelude::*;
use regex::Regex;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};
use tribunal_context::grammar::Grammar;
use tribunal_core::diff::language::Language;
use tribunal_core::findings::role::{Role, RoleInput};
use tribunal_core::ids::RepoPath;

/// All rules of a run, ready to match.
pub struct RuleSet {
    pub rules: Vec<Arc<Rule>>,
    syntax: BTreeMap<Language, OnceLock<Result<Arc<SyntaxRules>, RuleError>>>,
    flow_tables: FlowTables,
}

/// One rule: its file, and which paths it looks at.
pub struct Rule {
    pub origin: String,
    pub file: RuleFile,
    paths: PathFilter,
    pub lines: Option<LineMatcher>,
    pub check: Option<checks::Check>,
    pub unless_removed: Option<Regex>,
}

/// The syntax rules of one language, indexed by the node kinds they can match.
pub struct SyntaxRules {
    pub matchers: Vec<SyntaxRule>,
    /// All rules that follow data, together.
    pub flow: Option<FlowRules>,
    by_kind: Vec<Vec<usize>>,
}

pub struct SyntaxRule {
    pub rule: Arc<Rule>,
    pub core: RuleCore,
    pub repairs: Repairs,
}

struct PathFilter {
    files: Option<GlobSet>,
    ignores: GlobSet,
    tests: TestCode,
}

impl RuleSet {
    pub fn new(loaded: Vec<LoadedRule>) -> Result<Self, RuleError> {
        let tables = FlowTables::built_in().map_err(|problem| RuleError { origin: "rules/flow".to_owned(), problem })?;
        Self::with_tables(loaded, tables)
    }

    pub fn with_tables(loaded: Vec<LoadedRule>, flow_tables: FlowTables) -> Result<Self, RuleError> {
        let mut by_id: BTreeMap<String, Arc<Rule>> = BTreeMap::new();
        for rule in loaded {
            let rule = Rule::new(rule)?;
            // A later rule of the same id replaces the earlier one: that is how a repository overrides a built-in rule.
            by_id.insert(rule.file.id.clone(), Arc::new(rule));
        }
        let rules: Vec<_> = by_id.into_values().collect();
        let mut syntax = BTreeMap::new();
        for language in rules.iter().filter(|rule| rule.file.needs_syntax()).flat_map(|rule| &rule.file.languages) {
            syntax.entry(*language).or_insert_with(OnceLock::new);
        }
        Ok(Self { rules, syntax, flow_tables })
    }

    /// Why these rules cannot play a role, if they cannot.
    pub fn cannot_play(&self, role: &Role) -> Option<String> {
        if role.reads.contains(&RoleInput::Spec) {
            return Some(format!("the built-in rules cannot read a spec; give {} an agent that can, in [panel]", role.name));
        }
        let speaks = self.rules.iter().any(|rule| role.owns(&rule.file.category));
        (!speaks).then(|| format!("no rule speaks of {}'s categories; give it another agent in [panel]", role.name))
    }

    /// The matchers of a language, or nothing where no rule speaks it.
    pub fn syntax_rules(&self, language: Language) -> Result<Option<Arc<SyntaxRules>>, RuleError> {
        let Some(cell) = self.syntax.get(&language) else { return Ok(None) };
        cell.get_or_init(|| SyntaxRules::compile(&self.rules, language, &self.flow_tables).map(Arc::new)).clone().map(Some)
    }

    /// Compiles everything, so that a rule that does not parse is reported whatever the change holds.
    pub fn compile_all(&self) -> Result<(), RuleError> {
        for language in self.syntax.keys() {
            self.syntax_rules(*language)?;
        }
        for rule in &self.rules {
            if let Some(lines) = &rule.lines {
                lines.check().map_err(|problem| RuleError { origin: rule.origin.clone(), problem })?;
            }
        }
        Ok(())
    }

    pub fn speaks(&self, language: Language) -> bool {
        self.syntax.contains_key(&language)
    }

    pub fn get(&self, id: &str) -> Option<&Arc<Rule>> {
        self.rules.iter().find(|rule| rule.file.id == id)
    }
}

impl Rule {
    fn new(loaded: LoadedRule) -> Result<Self, RuleError> {
        let LoadedRule { origin, file } = loaded;
        let fail = |problem: String| RuleError { origin: origin.clone(), problem };
        let paths = PathFilter {
            files: if file.files.is_empty() { None } else { Some(globs(&file.files).map_err(fail)?) },
            ignores: globs(&file.ignores).map_err(fail)?,
            tests: file.tests,
        };
        let lines = file.lines.as_ref().map(|lines| LineMatcher::new(lines, &file));
        let check = match &file.check {
            None => None,
            Some(name) => Some(checks::by_name(name).ok_or_else(|| fail(format!("there is no check called `{name}`")))?),
        };
        let unless_removed =
            file.unless_removed.as_deref().map(Regex::new).transpose().map_err(|error| fail(error.to_string()))?;
        Ok(Self { origin, file, paths, lines, check, unless_removed })
    }

    pub fn looks_at(&self, path: &RepoPath, is_test: bool) -> bool {
        let tests_fit = match self.paths.tests {
            TestCode::Skip => !is_test,
            TestCode::Only => is_test,
            TestCode::Include => true,
        };
        tests_fit
            && self.paths.files.as_ref().is_none_or(|files| files.is_match(path.as_str()))
            && !self.paths.ignores.is_match(path.as_str())
    }
}

impl SyntaxRules {
    fn compile(rules: &[Arc<Rule>], language: Language, tables: &FlowTables) -> Result<Self, RuleError> {
        let of_language: Vec<&Arc<Rule>> = rules.iter().filter(|rule| rule.file.languages.contains(&language)).collect();
        // Compiling a pattern means parsing it; a language has dozens.
        let compiled: Vec<Option<SyntaxRule>> =
            of_language.par_iter().map(|rule| SyntaxRule::compile(rule, language)).collect::<Result<_, _>>()?;
        let matchers: Vec<SyntaxRule> = compiled.into_iter().flatten().collect();
        let mut by_kind: Vec<Vec<usize>> = Vec::new();
        for (index, matcher) in matchers.iter().enumerate() {
            let kinds = matcher.core.potential_kinds().ok_or_else(|| RuleError {
                origin: matcher.rule.origin.clone(),
                problem: format!("matches no kind of {} node in particular; add a `kind`", language.name()),
            })?;
            for kind in &kinds {
                if by_kind.len() <= kind {
                    by_kind.resize_with(kind + 1, Vec::new);
                }
                by_kind[kind].push(index);
            }
        }
        let flow = FlowRules::compile(rules, language, tables)?;
        Ok(Self { matchers, flow, by_kind })
    }

    /// The matchers of a kind of node, each with its place in `matchers`.
    pub fn for_kind(&self, kind: u16) -> impl Iterator<Item = (usize, &SyntaxRule)> {
        self.by_kind.get(usize::from(kind)).into_iter().flatten().map(|&index| (index, &self.matchers[index]))
    }
}

impl SyntaxRule {
    fn compile(rule: &Arc<Rule>, language: Language) -> Result<Option<Self>, RuleError> {
        let file = &rule.file;
        let Some(body) = &file.rule else { return Ok(None) };
        let fail = |problem: String| RuleError { origin: rule.origin.clone(), problem };
        let more = [("constraints", &file.constraints), ("utils", &file.utils), ("transform", &file.transform)];
        let mut parts = vec![("rule", body)];
        parts.extend(more.into_iter().filter_map(|(name, value)| Some((name, value.as_ref()?))));
        let core = compile_core(&parts, language).map_err(fail)?;
        let repairs = Repairs::compile(file, language, &core).map_err(fail)?;
        Ok(Some(Self { rule: Arc::clone(rule), core, repairs }))
    }
}

/// Compiles an ast-grep rule from its parts.
pub fn compile_core(parts: &[(&str, &RuleObject)], language: Language) -> Result<RuleCore, String> {
    let fields: Vec<String> = parts.iter().map(|(name, object)| format!("\"{name}\":{}", object.json())).collect();
    let object = format!("{{{}}}", fields.join(","));
    let core: SerializableRuleCore = serde_json::from_str(&object).map_err(|error| error.to_string())?;
    core.get_matcher(DeserializeEnv::new(Grammar::from(language)))
        .map_err(|error| format!("under {}: {}", language.name(), causes(&error)))
}

/// Why ast-grep refuses a rule.
pub fn causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}

fn globs(patterns: &[String]) -> Result<GlobSet, String> {
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        set.add(Glob::new(pattern).map_err(|error| error.to_string())?);
    }
    set.build().map_err(|error| error.to_string())
}
