//! From rule files to matchers. A pattern is compiled when the first file turns up that has its words: a small change pays for the few
//! rules that may find something in it, not for those of fifteen languages.

use super::checks;
use super::file::{RuleFile, TestCode};
use super::fix::Repairs;
use super::flow::compile::FlowRules;
use super::flow::tables::FlowTables;
use super::lines::LineMatcher;
use super::load::{LoadedRule, RuleError};
use super::object::RuleObject;
use super::php_names::PhpNames;
use aho_corasick::AhoCorasick;
use ast_grep_config::{DeserializeEnv, RuleCore, SerializableRuleCore};
use ast_grep_core::Matcher;
use globset::{Glob, GlobSet, GlobSetBuilder};
use rayon::prelude::*;
use regex::Regex;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};
use tribunal_context::grammar::Grammar;
use tribunal_core::diff::language::{Language, is_plainly_test_path};
use tribunal_core::findings::role::{Role, RoleInput};
use tribunal_core::findings::scale::Severity;
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
    needs: &'static [&'static [&'static str]],
}

/// The syntax rules of one language.
pub struct SyntaxRules {
    pub language: Language,
    /// Empty for every language but PHP.
    pub php_names: PhpNames,
    rules: Vec<LazyRule>,
    /// Finds the words that the rules need, each by its number in `needs` of [`LazyRule`].
    words: AhoCorasick,
    word_count: usize,
    /// All rules that follow data, together.
    pub flow: Option<FlowRules>,
}

struct LazyRule {
    rule: Arc<Rule>,
    /// One word of each group, by its number.
    needs: Vec<Vec<usize>>,
    compiled: OnceLock<Result<SyntaxRule, RuleError>>,
}

pub struct SyntaxRule {
    pub rule: Arc<Rule>,
    pub core: RuleCore,
    pub repairs: Repairs,
    /// The kinds of nodes that it can match.
    kinds: Vec<usize>,
}

/// The rules that may find something in one text, indexed by the kinds of nodes that they can match.
pub struct FileRules<'a> {
    pub matchers: Vec<&'a SyntaxRule>,
    by_kind: Vec<Vec<usize>>,
}

struct PathFilter {
    files: Option<Arc<GlobSet>>,
    ignores: Arc<GlobSet>,
    tests: TestCode,
}

impl RuleSet {
    pub fn new(loaded: Vec<LoadedRule>) -> Result<Self, RuleError> {
        let tables = FlowTables::built_in().map_err(|problem| RuleError { origin: "rules/flow".to_owned(), problem })?;
        Self::with_tables(loaded, tables)
    }

    pub fn with_tables(loaded: Vec<LoadedRule>, flow_tables: FlowTables) -> Result<Self, RuleError> {
        let mut by_id: BTreeMap<String, Arc<Rule>> = BTreeMap::new();
        let mut sets = GlobSets::default();
        for rule in loaded {
            let rule = Rule::new(rule, &mut sets)?;
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

    /// The rules of a language, or nothing where none speaks it.
    pub fn syntax_rules(&self, language: Language) -> Result<Option<Arc<SyntaxRules>>, RuleError> {
        let Some(cell) = self.syntax.get(&language) else { return Ok(None) };
        cell.get_or_init(|| SyntaxRules::new(&self.rules, language, &self.flow_tables).map(Arc::new)).clone().map(Some)
    }

    /// Compiles everything, so that a rule that does not parse is reported whatever the change holds.
    pub fn compile_all(&self) -> Result<(), RuleError> {
        for language in self.syntax.keys() {
            if let Some(rules) = self.syntax_rules(*language)? {
                rules.compile_all()?;
            }
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
    fn new(loaded: LoadedRule, sets: &mut GlobSets) -> Result<Self, RuleError> {
        let LoadedRule { origin, file, needs } = loaded;
        let fail = |problem: String| RuleError { origin: origin.clone(), problem };
        let paths = PathFilter {
            files: if file.files.is_empty() { None } else { Some(sets.of(&file.files).map_err(fail)?) },
            ignores: sets.of(&file.ignores).map_err(fail)?,
            tests: file.tests,
        };
        let lines = file.lines.as_ref().map(|lines| LineMatcher::new(lines, &file));
        let check = match &file.check {
            None => None,
            Some(name) => Some(checks::by_name(name).ok_or_else(|| fail(format!("there is no check called `{name}`")))?),
        };
        let unless_removed =
            file.unless_removed.as_deref().map(Regex::new).transpose().map_err(|error| fail(error.to_string()))?;
        Ok(Self { origin, file, paths, lines, check, unless_removed, needs })
    }

    pub fn looks_at(&self, path: &RepoPath, is_test: bool) -> bool {
        let tests_fit = match self.paths.tests {
            // A name that only looks like one of a test may be the change's choice: what is gravest is asked about there.
            TestCode::Skip => !is_test || self.file.severity == Severity::Blocker && !is_plainly_test_path(path),
            TestCode::Only => is_test,
            TestCode::Include => true,
        };
        tests_fit
            && self.paths.files.as_ref().is_none_or(|files| files.is_match(path.as_str()))
            && !self.paths.ignores.is_match(path.as_str())
    }
}

impl SyntaxRules {
    fn new(rules: &[Arc<Rule>], language: Language, tables: &FlowTables) -> Result<Self, RuleError> {
        let speaks = |rule: &&Arc<Rule>| rule.file.languages.contains(&language) && rule.file.rule.is_some();
        let mut words: BTreeMap<&str, usize> = BTreeMap::new();
        let mut number = |word: &'static str| {
            let next = words.len();
            *words.entry(word).or_insert(next)
        };
        let lazy = rules.iter().filter(speaks).map(|rule| LazyRule {
            rule: Arc::clone(rule),
            needs: rule.needs.iter().map(|group| group.iter().map(|word| number(word)).collect()).collect(),
            compiled: OnceLock::new(),
        });
        let lazy: Vec<LazyRule> = lazy.collect();
        let mut by_number: Vec<&str> = vec![""; words.len()];
        words.iter().for_each(|(word, number)| by_number[*number] = word);
        let words =
            AhoCorasick::new(&by_number).map_err(|error| RuleError { origin: "rules".to_owned(), problem: error.to_string() })?;
        let flow = FlowRules::compile(rules, language, tables)?;
        let php_names = if language == Language::Php { php_names(rules, tables) } else { PhpNames::default() };
        Ok(Self { language, php_names, rules: lazy, words, word_count: by_number.len(), flow })
    }

    /// The rules that may find something in this text and look at files like this one.
    pub fn for_text(&self, text: &str, looks_at: impl Fn(&Rule) -> bool) -> Result<FileRules<'_>, RuleError> {
        let mut has = vec![false; self.word_count];
        self.words.find_overlapping_iter(text).for_each(|found| has[found.pattern().as_usize()] = true);
        let may_match =
            |rule: &&LazyRule| rule.needs.iter().all(|group| group.iter().any(|&word| has[word])) && looks_at(&rule.rule);
        let needed: Vec<&LazyRule> = self.rules.iter().filter(may_match).collect();
        let matchers: Vec<&SyntaxRule> =
            needed.par_iter().map(|rule| rule.compiled(self.language)).collect::<Result<_, RuleError>>()?;
        let mut by_kind: Vec<Vec<usize>> = Vec::new();
        for (index, matcher) in matchers.iter().enumerate() {
            for &kind in &matcher.kinds {
                if by_kind.len() <= kind {
                    by_kind.resize_with(kind + 1, Vec::new);
                }
                by_kind[kind].push(index);
            }
        }
        Ok(FileRules { matchers, by_kind })
    }

    fn compile_all(&self) -> Result<(), RuleError> {
        self.rules.par_iter().try_for_each(|rule| rule.compiled(self.language).map(drop))
    }
}

/// The names in the rules of PHP and in what they share.
fn php_names(rules: &[Arc<Rule>], tables: &FlowTables) -> PhpNames {
    let files = rules.iter().map(|rule| &rule.file).filter(|file| file.languages.contains(&Language::Php));
    let objects = files.clone().flat_map(|file| [&file.rule, &file.constraints, &file.utils].into_iter().flatten());
    let flows = files.filter_map(|file| serde_json::to_string(file.flow.as_ref()?).ok());
    let table = tables.of(Language::Php).and_then(|table| serde_json::to_string(table).ok());
    let written: Vec<String> = flows.chain(table).collect();
    PhpNames::new(objects.map(RuleObject::json).chain(written.iter().map(String::as_str)))
}

impl FileRules<'_> {
    /// The matchers of a kind of node, each with its place in `matchers`.
    pub fn for_kind(&self, kind: u16) -> impl Iterator<Item = (usize, &SyntaxRule)> {
        self.by_kind.get(usize::from(kind)).into_iter().flatten().map(|&index| (index, self.matchers[index]))
    }
}

impl LazyRule {
    /// Without a pool of threads of its own: whoever waits for a rule must not be given another file by the one that compiles it.
    fn compiled(&self, language: Language) -> Result<&SyntaxRule, RuleError> {
        self.compiled.get_or_init(|| SyntaxRule::compile(&self.rule, language)).as_ref().map_err(Clone::clone)
    }
}

impl SyntaxRule {
    fn compile(rule: &Arc<Rule>, language: Language) -> Result<Self, RuleError> {
        let file = &rule.file;
        let fail = |problem: String| RuleError { origin: rule.origin.clone(), problem };
        let more =
            [("rule", &file.rule), ("constraints", &file.constraints), ("utils", &file.utils), ("transform", &file.transform)];
        let parts: Vec<(&str, &RuleObject)> =
            more.into_iter().filter_map(|(name, value)| Some((name, value.as_ref()?))).collect();
        let core = compile_core(&parts, language).map_err(fail)?;
        let repairs = Repairs::compile(file, language, &core).map_err(fail)?;
        let kinds = core
            .potential_kinds()
            .ok_or_else(|| fail(format!("matches no kind of {} node in particular; add a `kind`", language.name())))?;
        Ok(Self { rule: Arc::clone(rule), kinds: kinds.iter().collect(), core, repairs })
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

/// Sets of patterns of paths. Many rules share one, and each takes long to build.
#[derive(Default)]
struct GlobSets(BTreeMap<Vec<String>, Arc<GlobSet>>);

impl GlobSets {
    fn of(&mut self, patterns: &[String]) -> Result<Arc<GlobSet>, String> {
        if let Some(set) = self.0.get(patterns) {
            return Ok(Arc::clone(set));
        }
        let mut builder = GlobSetBuilder::new();
        for pattern in patterns {
            builder.add(Glob::new(pattern).map_err(|error| error.to_string())?);
        }
        let set = Arc::new(builder.build().map_err(|error| error.to_string())?);
        self.0.insert(patterns.to_vec(), Arc::clone(&set));
        Ok(set)
    }
}

#[cfg(test)]
mod tests;
