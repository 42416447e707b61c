//! All flow rules of one language, ready to match. They are followed together: a value knows for which of them it is dangerous.

use super::entry::{FlowTable, Form};
use super::origin::RuleBits;
use super::pattern::{Pattern, PatternIndex, Shape};
use super::syntax::Syntax;
use super::tables::{FlowTables, ListKind, resolve};
use crate::rules::compile::{Rule, compile_core};
use crate::rules::load::RuleError;
use crate::rules::object::RuleObject;
use ast_grep_config::RuleCore;
use ast_grep_core::Matcher;
use regex::Regex;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use tribunal_core::diff::language::Language;
use tribunal_core::findings::scale::Severity;

/// One bit per rule.
const MAX_RULES: usize = RuleBits::BITS as usize;

pub struct FlowRules {
    pub rules: Vec<Arc<Rule>>,
    pub syntax: Syntax,
    pub entries: Vec<SourceEntry>,
    /// Each with its place in `entries`.
    pub sources: PatternIndex<usize>,
    pub parameters: Vec<ParameterSource>,
    pub sinks: PatternIndex<Sink>,
    pub sanitizers: PatternIndex<RuleBits>,
    pub passes: PatternIndex<()>,
    pub builders: PatternIndex<()>,
    pub collectors: PatternIndex<()>,
    pub maps: PatternIndex<()>,
    pub exits: PatternIndex<()>,
    pub checked_parts: BTreeSet<String>,
    pub safe_types: Option<Regex>,
    pub safe_parameters: Option<Regex>,
    pub nodes: Vec<NodeRule>,
}

/// One source, shared by all rules that name it.
#[derive(Debug, Default)]
pub struct SourceEntry {
    pub rules: RuleBits,
    /// The severity for the rules where it is less than the rule's own.
    pub severities: BTreeMap<usize, Severity>,
}

pub struct ParameterSource {
    pub parameter: Regex,
    pub function: Option<Regex>,
    pub entry: usize,
}

#[derive(Debug, Clone)]
pub struct Sink {
    pub rule: usize,
    pub built: Option<Regex>,
    pub leading: bool,
    pub severity: Option<Severity>,
}

/// An entry in the form of an ast-grep rule.
pub struct NodeRule {
    pub core: RuleCore,
    /// The kinds of nodes that it can match.
    pub kinds: BTreeSet<usize>,
    pub focus: Option<String>,
    pub what: NodeUse,
}

pub enum NodeUse {
    Source(usize),
    Sink(Sink),
    Sanitizer(RuleBits),
}

impl FlowRules {
    /// Nothing where no flow rule speaks the language.
    pub fn compile(rules: &[Arc<Rule>], language: Language, tables: &FlowTables) -> Result<Option<Self>, RuleError> {
        let speaks = |rule: &&Arc<Rule>| rule.file.flow.is_some() && rule.file.languages.contains(&language);
        let rules: Vec<Arc<Rule>> = rules.iter().filter(speaks).cloned().collect();
        let Some(first) = rules.first() else { return Ok(None) };
        let fail = |problem: String| RuleError { origin: first.origin.clone(), problem };
        if rules.len() > MAX_RULES {
            return Err(fail(format!("more than {MAX_RULES} flow rules for {}", language.name())));
        }
        let syntax = Syntax::new(language);
        let syntax = syntax.ok_or_else(|| fail(format!("the flow of data is not followed in {}", language.name())))?;
        let none = FlowTable::default();
        let table = tables.of(language).unwrap_or(&none);
        let mut builder = Builder { known: BTreeMap::new(), language, flow: Self::empty(syntax) };
        builder.add_table(table).map_err(|problem| RuleError { origin: "rules/flow".to_owned(), problem })?;
        for (index, rule) in rules.iter().enumerate() {
            builder.add_rule(index, rule, table).map_err(|problem| RuleError { origin: rule.origin.clone(), problem })?;
        }
        Ok(Some(Self { rules, ..builder.flow }))
    }

    fn empty(syntax: Syntax) -> Self {
        Self {
            rules: Vec::new(),
            syntax,
            entries: Vec::new(),
            sources: PatternIndex::default(),
            parameters: Vec::new(),
            sinks: PatternIndex::default(),
            sanitizers: PatternIndex::default(),
            passes: PatternIndex::default(),
            builders: PatternIndex::default(),
            collectors: PatternIndex::default(),
            maps: PatternIndex::default(),
            exits: PatternIndex::default(),
            checked_parts: BTreeSet::new(),
            safe_types: None,
            safe_parameters: None,
            nodes: Vec::new(),
        }
    }
}

struct Builder {
    /// Sources by what they look for: several rules share each.
    known: BTreeMap<String, usize>,
    language: Language,
    flow: FlowRules,
}

impl Builder {
    fn add_table(&mut self, table: &FlowTable) -> Result<(), String> {
        let flow = &mut self.flow;
        for text in &table.always_safe {
            for pattern in Pattern::parse(text)? {
                flow.sanitizers.insert(pattern, RuleBits::MAX);
            }
        }
        let lists = [
            (&table.passes, &mut flow.passes),
            (&table.builders, &mut flow.builders),
            (&table.collectors, &mut flow.collectors),
            (&table.maps, &mut flow.maps),
            (&table.exits, &mut flow.exits),
        ];
        for (texts, index) in lists {
            for text in texts {
                for pattern in Pattern::parse(text)? {
                    index.insert(pattern, ());
                }
            }
        }
        flow.checked_parts = table.checked_parts.iter().cloned().collect();
        flow.safe_types = table.safe_types.as_deref().map(compile_regex).transpose()?;
        flow.safe_parameters = table.safe_parameters.as_deref().map(compile_regex).transpose()?;
        Ok(())
    }

    fn add_rule(&mut self, index: usize, rule: &Rule, table: &FlowTable) -> Result<(), String> {
        let Some(flow) = &rule.file.flow else { return Ok(()) };
        let bit: RuleBits = 1 << index;
        for form in resolve(&flow.sources, table, ListKind::Sources)? {
            self.add_source(index, form)?;
        }
        for form in resolve(&flow.sanitizers, table, ListKind::Sanitizers)? {
            match target(&form)? {
                Target::Node(body) => self.add_node(body, None, NodeUse::Sanitizer(bit))?,
                Target::Parameter(_) => return Err("only a source can be a `parameter`".to_owned()),
                Target::Patterns(patterns) => patterns.into_iter().for_each(|it| self.flow.sanitizers.insert(it, bit)),
            }
        }
        for form in resolve(&flow.sinks, table, ListKind::Sinks)? {
            let built = form.built.as_deref().map(compile_regex).transpose()?;
            let sink = Sink { rule: index, built, leading: form.leading, severity: form.severity };
            match target(&form)? {
                Target::Node(body) => self.add_node(body, form.focus.clone(), NodeUse::Sink(sink))?,
                Target::Parameter(_) => return Err("only a source can be a `parameter`".to_owned()),
                Target::Patterns(patterns) => {
                    patterns.into_iter().for_each(|pattern| self.flow.sinks.insert(pattern, sink.clone()));
                }
            }
        }
        Ok(())
    }

    fn add_source(&mut self, index: usize, form: Form) -> Result<(), String> {
        let identity = Form { severity: None, ..form.clone() };
        let identity = serde_json::to_string(&identity).map_err(|error| error.to_string())?;
        let entry = match self.known.get(&identity) {
            Some(entry) => *entry,
            None => {
                let entry = self.flow.entries.len();
                self.flow.entries.push(SourceEntry::default());
                match target(&form)? {
                    Target::Node(body) => self.add_node(body, form.focus.clone(), NodeUse::Source(entry))?,
                    Target::Parameter(parameter) => {
                        let function = form.function.as_deref().map(compile_regex).transpose()?;
                        self.flow.parameters.push(ParameterSource { parameter: compile_regex(parameter)?, function, entry });
                    }
                    Target::Patterns(patterns) => {
                        patterns.into_iter().for_each(|pattern| self.flow.sources.insert(pattern, entry));
                    }
                }
                self.known.insert(identity, entry);
                entry
            }
        };
        self.flow.entries[entry].rules |= 1 << index;
        if let Some(severity) = form.severity {
            self.flow.entries[entry].severities.insert(index, severity);
        }
        Ok(())
    }

    fn add_node(&mut self, body: &RuleObject, focus: Option<String>, what: NodeUse) -> Result<(), String> {
        let core = compile_core(&[("rule", body)], self.language)?;
        let kinds = core.potential_kinds().ok_or("a `rule` matches no kind of node in particular; add a `kind`")?;
        self.flow.nodes.push(NodeRule { kinds: kinds.iter().collect(), core, focus, what });
        Ok(())
    }
}

/// What a form looks for.
enum Target<'a> {
    Patterns(Vec<Pattern>),
    Parameter(&'a str),
    Node(&'a RuleObject),
}

fn target(form: &Form) -> Result<Target<'_>, String> {
    match (&form.pattern, &form.name, &form.parameter, &form.rule) {
        (Some(pattern), None, None, None) => Pattern::parse(pattern).map(Target::Patterns),
        (None, Some(name), None, None) => {
            let patterns = Pattern::parse(name)?;
            match patterns.iter().all(|pattern| pattern.shape == Shape::Name) {
                true => Ok(Target::Patterns(patterns)),
                false => Err(format!("`{name}` is not a name")),
            }
        }
        (None, None, Some(parameter), None) => Ok(Target::Parameter(parameter)),
        (None, None, None, Some(rule)) => Ok(Target::Node(rule)),
        _ => Err("exactly one of `list`, `pattern`, `name`, `parameter` and `rule` says what an entry looks for".to_owned()),
    }
}

fn compile_regex(pattern: &str) -> Result<Regex, String> {
    Regex::new(pattern).map_err(|error| error.to_string())
}
