//! Which functions and types a change touches.

use std::collections::{BTreeMap, BTreeSet};
use tribunal_context::symbols::{Definition, SymbolKind, Symbols, symbols};
use tribunal_core::diff::change::{ChangedFile, FileStatus, Origin};
use tribunal_core::diff::language::Language;
use tribunal_core::prompt::pieces::{Candidate, ChangedSymbol, Line, PieceKind};

/// Lines around a changed line that are shown of a definition that is too long to be shown whole.
const AROUND: u32 = 12;
/// Lines of its beginning.
const HEAD: u32 = 6;

/// Names under which a type's own name calls a method.
const CONSTRUCTORS: [&str; 8] = ["__init__", "__new__", "__construct", "constructor", "initialize", "init", "new", "__call__"];

/// A changed function or type.
pub struct Changed {
    pub symbol: ChangedSymbol,
    pub kind: SymbolKind,
    pub language: Language,
    /// Names by which others use it.
    pub names: Vec<String>,
    pub container: Option<String>,
    /// Nothing for one that the change removes.
    pub definition: Option<Definition>,
    /// Changed lines in it, as numbers of the new file.
    pub touched: BTreeSet<u32>,
    pub is_test: bool,
    /// Names that its changed lines call, in reading order.
    pub calls: Vec<String>,
    /// Types that its changed lines and its head name.
    pub types: Vec<String>,
}

impl Changed {
    /// The definition itself.
    pub fn whole(&self, files: &[&ChangedFile]) -> Option<Candidate> {
        let definition = self.definition.as_ref()?;
        let file = files.iter().find(|file| file.path == self.symbol.path)?;
        let text = file.new_text.as_deref()?;
        let is_near = |number: u32| {
            number < definition.name_line + HEAD
                || number == definition.end_line
                || self.touched.range(number.saturating_sub(AROUND)..=number + AROUND).next().is_some()
        };
        let lines = lines(text, definition.start_line, definition.end_line);
        let short: Vec<Line> = lines.iter().filter(|(number, _)| is_near(*number)).cloned().collect();
        Some(Candidate {
            kind: PieceKind::Definition,
            of: self.symbol.clone(),
            path: self.symbol.path.clone(),
            short: (short.len() < lines.len()).then_some(short),
            lines,
            distance: 0,
            reason: format!("all of {}", self.symbol.name),
        })
    }
}

/// Numbered lines of a text, from 1 and inclusive.
pub fn lines(text: &str, start: u32, end: u32) -> Vec<Line> {
    (1..).zip(text.lines()).skip_while(|(number, _)| *number < start).take_while(|(number, _)| *number <= end).map(own).collect()
}

fn own((number, text): (u32, &str)) -> Line {
    (number, text.to_owned())
}

/// The symbols of all files, at most `most`, and whether there are more.
pub fn changed_symbols(files: &[&ChangedFile], most: usize) -> (Vec<Changed>, bool) {
    let none = BTreeSet::new();
    let parsed: Vec<(&ChangedFile, Language, Symbols)> = files
        .iter()
        .filter_map(|file| {
            let language = file.language()?;
            Some((*file, language, symbols(language, file.new_text.as_deref()?, &none)?))
        })
        .collect();
    let mut found: Vec<Changed> = Vec::new();
    for (file, language, symbols) in &parsed {
        let mut touched: BTreeMap<(u32, u32, &str), (&Definition, BTreeSet<u32>)> = BTreeMap::new();
        for line in touched_lines(file, symbols) {
            let around = symbols.innermost(line, SymbolKind::Function).or_else(|| symbols.innermost(line, SymbolKind::Type));
            if let Some(definition) = around {
                let key = (definition.start_line, definition.end_line, definition.name.as_str());
                touched.entry(key).or_insert_with(|| (definition, BTreeSet::new())).1.insert(line);
            }
        }
        found.extend(touched.into_values().map(|(definition, touched)| changed(file, *language, symbols, definition, touched)));
    }
    let defined: BTreeSet<&str> =
        parsed.iter().flat_map(|(_, _, symbols)| &symbols.definitions).map(|definition| definition.name.as_str()).collect();
    found.extend(files.iter().flat_map(|file| removed(file, &defined)));
    let is_cut = found.len() > most;
    // Product code first: what tests change is seldom called by anything.
    found.sort_by_key(|changed| (changed.is_test, changed.symbol.clone()));
    found.truncate(most);
    (found, is_cut)
}

/// Lines that were written, and those between which something was deleted inside one function.
fn touched_lines(file: &ChangedFile, symbols: &Symbols) -> BTreeSet<u32> {
    let mut touched = BTreeSet::new();
    for hunk in &file.hunks {
        let mut before: Option<u32> = None;
        let mut is_gone = false;
        for line in &hunk.lines {
            match (line.origin, line.new_line) {
                (Origin::Removed, _) | (_, None) => is_gone = true,
                (origin, Some(number)) => {
                    if origin == Origin::Added && !line.text.trim().is_empty() {
                        touched.insert(number);
                    }
                    let around = |line: u32| symbols.innermost(line, SymbolKind::Function).map(|one| one.start_line);
                    if let Some(before) = before.filter(|_| std::mem::take(&mut is_gone))
                        && around(before).is_some()
                        && around(before) == around(number)
                    {
                        touched.insert(before);
                    }
                    before = Some(number);
                }
            }
        }
    }
    touched
}

fn changed(
    file: &ChangedFile,
    language: Language,
    symbols: &Symbols,
    definition: &Definition,
    touched: BTreeSet<u32>,
) -> Changed {
    let is_head = |line: u32| (definition.start_line..=definition.name_line + 2).contains(&line);
    let mut calls: Vec<String> = Vec::new();
    for call in symbols.calls.iter().filter(|call| touched.contains(&call.line)) {
        if !calls.contains(&call.name) && call.name != definition.name {
            calls.push(call.name.clone());
        }
    }
    let mut types: Vec<String> = Vec::new();
    let inside = |line: u32| (definition.start_line..=definition.end_line).contains(&line);
    for name in symbols.types.iter().filter(|one| inside(one.line) && (touched.contains(&one.line) || is_head(one.line))) {
        if !types.contains(&name.name) && name.name != definition.name {
            types.push(name.name.clone());
        }
    }
    Changed {
        symbol: ChangedSymbol { path: file.path.clone(), start_line: definition.start_line, name: definition.name.clone() },
        kind: definition.kind,
        language,
        names: used_names(&definition.name, definition.container.as_deref()),
        container: definition.container.clone(),
        definition: Some(definition.clone()),
        touched,
        is_test: file.is_test(),
        calls,
        types,
    }
}

fn used_names(name: &str, container: Option<&str>) -> Vec<String> {
    match container {
        Some(container) if CONSTRUCTORS.contains(&name) => vec![container.to_owned()],
        _ => vec![name.to_owned()],
    }
}

/// Functions and types that the change deletes, and that nothing in its files defines any more: whoever still uses them is broken.
fn removed(file: &ChangedFile, defined: &BTreeSet<&str>) -> Vec<Changed> {
    let Some(language) = file.language() else { return Vec::new() };
    let text: String = file.removed_lines().map(|line| format!("{}\n", line.text)).collect();
    if text.is_empty() || file.status == FileStatus::Renamed && file.added_lines().next().is_none() {
        return Vec::new();
    }
    let Some(symbols) = symbols(language, &text, &BTreeSet::new()) else { return Vec::new() };
    let names: BTreeSet<(&str, SymbolKind)> = symbols
        .definitions
        .iter()
        .map(|definition| (definition.name.as_str(), definition.kind))
        .filter(|(name, _)| !defined.contains(name) && !CONSTRUCTORS.contains(name))
        .collect();
    let symbol = |(name, kind): (&str, SymbolKind)| Changed {
        symbol: ChangedSymbol { path: file.path.clone(), start_line: 0, name: name.to_owned() },
        kind,
        language,
        names: vec![name.to_owned()],
        container: None,
        definition: None,
        touched: BTreeSet::new(),
        is_test: file.is_test(),
        calls: Vec::new(),
        types: Vec::new(),
    };
    names.into_iter().map(symbol).collect()
}
