//! What a syntax rule does about the code that it matched: a piece of the file is replaced by what a template gives, and imports
//! that it needs are added.
//!
//! Whatever is not certain gives no repair: a name that an import would hide, or a place that cannot be deleted alone.

mod imports;
mod removal;
mod template;

use super::compile::compile_core;
use super::file::{FixCase, RuleFile};
use super::object::RuleObject;
use ast_grep_config::RuleCore;
use ast_grep_core::matcher::Matcher;
use ast_grep_core::meta_var::MetaVarEnv;
use ast_grep_core::tree_sitter::StrDoc;
use ast_grep_core::{Node, NodeMatch};
use imports::{ImportPlace, find_place};
use removal::removal_range;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;
use template::Template;
use tribunal_context::grammar::Grammar;
use tribunal_core::diff::language::Language;
use tribunal_core::findings::report::{Fix, FixKind, Insertion};

type SyntaxNode<'t> = Node<'t, StrDoc<Grammar>>;
type Variables<'t> = MetaVarEnv<'t, StrDoc<Grammar>>;

/// The ways in which a rule can repair what it finds, first to last.
#[derive(Default)]
pub struct Repairs {
    cases: Vec<Case>,
}

struct Case {
    language: Language,
    matcher: Option<RuleCore>,
    replaced: Vec<Replaced>,
    kind: FixKind,
    imports: Vec<String>,
}

/// A node and what is put in its place.
struct Replaced {
    /// The variable whose node it is; without one it is the matched node.
    name: Option<String>,
    template: Template,
}

/// The replaced pieces of a file, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repair {
    pieces: Vec<Piece>,
    kind: FixKind,
    insertions: Vec<Insertion>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Piece {
    range: Range<usize>,
    text: String,
}

impl Repairs {
    pub fn compile(file: &RuleFile, language: Language, core: &RuleCore) -> Result<Self, String> {
        let last = FixCase {
            rule: None,
            constraints: None,
            transform: None,
            replaces: None,
            fix: file.fix.clone(),
            offer: file.offer.clone(),
            imports: file.imports.clone(),
            also: Vec::new(),
        };
        let has_last = last.fix.is_some() || last.offer.is_some();
        let cases = file.fixes.iter().chain(has_last.then_some(&last));
        Ok(Self { cases: cases.map(|case| Case::compile(case, file, language, core)).collect::<Result<_, _>>()? })
    }

    /// What is done about a match, if anything can be.
    pub fn repair(&self, found: &NodeMatch<'_, StrDoc<Grammar>>) -> Option<Repair> {
        let (case, variables) = self.cases.iter().find_map(|case| Some((case, case.fits(found)?)))?;
        case.repair(found, &variables)
    }
}

impl Case {
    fn compile(case: &FixCase, file: &RuleFile, language: Language, core: &RuleCore) -> Result<Self, String> {
        let (text, kind) = match (&case.fix, &case.offer) {
            (Some(text), None) => (text, FixKind::Safe),
            (None, Some(text)) => (text, FixKind::Offered),
            _ => return Err("one of `fix` and `offer` must say what is put in place".into()),
        };
        let mut names: BTreeSet<String> = core.defined_vars().into_iter().map(str::to_owned).collect();
        let matcher = match &case.rule {
            Some(rule) => Some(compile_matcher(rule, case, file, language)?),
            None if case.constraints.is_some() || case.transform.is_some() => {
                return Err("`constraints` and `transform` of a fix need its `rule`".into());
            }
            None => None,
        };
        names.extend(matcher.iter().flat_map(RuleCore::defined_vars).map(str::to_owned));
        let main = Replaced { name: case.replaces.clone(), template: Template::new(text, &names) };
        let also = case
            .also
            .iter()
            .map(|also| Replaced { name: Some(also.replaces.clone()), template: Template::new(&also.with, &names) });
        let replaced: Vec<Replaced> = std::iter::once(main).chain(also).collect();
        if let Some(name) = replaced.iter().filter_map(|replaced| replaced.name.as_ref()).find(|name| !names.contains(*name)) {
            return Err(format!("`replaces` names ${name}, which no rule defines"));
        }
        Ok(Self { language, matcher, replaced, kind, imports: case.imports.clone() })
    }

    /// The variables of the match and of this case, if it fits.
    fn fits<'t>(&self, found: &NodeMatch<'t, StrDoc<Grammar>>) -> Option<Variables<'t>> {
        let mut variables = Cow::Borrowed(found.get_env());
        if let Some(matcher) = &self.matcher {
            matcher.match_node_with_env(found.get_node().clone(), &mut variables)?;
        }
        Some(variables.into_owned())
    }

    fn repair<'t>(&self, found: &NodeMatch<'t, StrDoc<Grammar>>, variables: &Variables<'t>) -> Option<Repair> {
        let mut pieces = self.replaced.iter().map(|one| one.piece(found, variables)).collect::<Option<Vec<Piece>>>()?;
        pieces.sort_by_key(|piece| piece.range.start);
        if pieces.windows(2).any(|pair| pair[0].range.end > pair[1].range.start) {
            return None;
        }
        let node = found.get_node();
        let root = node.ancestors().last().unwrap_or_else(|| node.clone());
        let mut insertions = Vec::new();
        for statement in &self.imports {
            match find_place(self.language, &root, statement) {
                ImportPlace::Present => {}
                ImportPlace::At(insertion) => insertions.push(insertion),
                ImportPlace::Nowhere => return None,
            }
        }
        insertions.sort();
        Some(Repair { pieces, kind: self.kind, insertions })
    }
}

impl Replaced {
    fn piece<'t>(&self, found: &NodeMatch<'t, StrDoc<Grammar>>, variables: &Variables<'t>) -> Option<Piece> {
        let node = match &self.name {
            Some(name) => variables.get_match(name)?,
            None => found.get_node(),
        };
        let source = node.get_doc().src.as_str();
        if self.template.is_empty() {
            return Some(Piece { range: removal_range(node, source)?, text: String::new() });
        }
        Some(Piece { range: node.range(), text: self.template.fill(variables, source, node.range().start)? })
    }
}

fn compile_matcher(rule: &RuleObject, case: &FixCase, file: &RuleFile, language: Language) -> Result<RuleCore, String> {
    let more = [("constraints", &case.constraints), ("utils", &file.utils), ("transform", &case.transform)];
    let parts: Vec<(&str, &RuleObject)> =
        std::iter::once(("rule", rule)).chain(more.into_iter().filter_map(|(name, part)| Some((name, part.as_ref()?)))).collect();
    compile_core(&parts, language).map_err(|problem| format!("in a fix: {problem}"))
}

/// A piece of a single line, as a rule over lines replaces it.
pub fn line_fix(line: &str, number: u32, range: Range<usize>, text: &str, kind: FixKind) -> Option<Fix> {
    let new = format!("{}{text}{}", line.get(..range.start)?, line.get(range.end..)?);
    let replacement = if new.trim().is_empty() { String::new() } else { new };
    Some(Fix { kind, ..Fix::of_lines(number, number, replacement) })
}

impl Repair {
    /// Whether both can be made at once: of one kind, in different places.
    pub fn goes_with(&self, other: &Repair) -> bool {
        let is_apart = |a: &Piece, b: &Piece| a.range.end <= b.range.start || b.range.end <= a.range.start;
        self.kind == other.kind && self.pieces.iter().all(|a| other.pieces.iter().all(|b| is_apart(a, b)))
    }
}

/// Repairs of one place as whole lines, which is what a suggestion block can say.
pub fn fix_of(repairs: &[Repair], source: &str) -> Option<Fix> {
    let mut pieces: Vec<&Piece> = repairs.iter().flat_map(|repair| &repair.pieces).collect();
    pieces.sort_by_key(|piece| piece.range.start);
    let (first, last) = (pieces.first()?.range.start, pieces.last()?.range.end);
    let start = source.get(..first)?.rfind('\n').map_or(0, |at| at + 1);
    // What takes its line break with it ends on its own line, unless something is left of that.
    let ends_with_line = last > first && source.get(first..last)?.ends_with('\n');
    let end = if ends_with_line { last - 1 } else { source.get(last..)?.find('\n').map_or(source.len(), |at| last + at) };
    let mut text = String::new();
    let mut at = start;
    for piece in &pieces {
        text.push_str(source.get(at..piece.range.start)?);
        text.push_str(&piece.text);
        at = piece.range.end;
    }
    text.push_str(source.get(at..end.max(at))?);
    let replacement = if text.trim().is_empty() { String::new() } else { text.trim_end_matches(['\r', '\n']).to_owned() };
    let line = |offset: usize| Some(source.get(..offset)?.matches('\n').count() as u32 + 1);
    let mut insertions: Vec<Insertion> = repairs.iter().flat_map(|repair| repair.insertions.clone()).collect();
    insertions.sort();
    insertions.dedup();
    let kind = repairs.first()?.kind;
    Some(Fix { line_start: line(start)?, line_end: line(end)?, replacement, kind, insertions })
}
