//! Who uses what the change touches: callers, and the tests that cover it.

use super::changed::{Changed, lines};
use super::families::endings;
use super::source::{ParsedFile, Sources, words};
use std::collections::{BTreeMap, BTreeSet};
use tribunal_context::symbols::{Definition, Mention, SymbolKind};
use tribunal_core::diff::language::{Language, is_test_path};
use tribunal_core::ids::RepoPath;
use tribunal_core::prompt::pieces::{Candidate, Line, PieceKind, distance};
use tribunal_forge::git::search::{Place, Wanted};

/// A function of so many lines is shown whole around a call.
const WHOLE: u32 = 24;
/// Lines of a longer one above and below the call.
const AROUND: u32 = 4;
/// Files of product code, and of tests, that are looked at for one symbol.
const FILES: usize = 6;
const TEST_FILES: usize = 3;
/// Candidates of one symbol.
const CALLERS: usize = 6;
const TESTS: usize = 3;

pub fn of(symbols: &[Changed], sources: &mut Sources<'_>) -> Vec<Candidate> {
    let mut families: BTreeMap<&[&str], Vec<&Changed>> = BTreeMap::new();
    for symbol in symbols {
        families.entry(endings(symbol.language)).or_default().push(symbol);
    }
    let mut found = Vec::new();
    for family in families.into_values() {
        let names: BTreeSet<&str> = family.iter().flat_map(|symbol| &symbol.names).map(String::as_str).collect();
        let Some(language) = family.first().map(|symbol| symbol.language) else { continue };
        let places = sources.search(language, &names, Wanted::Mentions);
        let by_name = by_name(&places, &names);
        let mut paths: Vec<RepoPath> = Vec::new();
        // The best file of each symbol before the second best of any.
        let wanted: Vec<Vec<RepoPath>> = family.iter().map(|symbol| files_to_read(symbol, &by_name)).collect();
        for nth in 0..FILES + TEST_FILES {
            for path in wanted.iter().filter_map(|paths| paths.get(nth)) {
                if !paths.contains(path) {
                    paths.push(path.clone());
                }
            }
        }
        let parsed = sources.parsed(&paths, &names);
        for (symbol, wanted) in family.iter().zip(&wanted) {
            let files = parsed.iter().filter(|file| wanted.contains(&file.path));
            let mut uses: Vec<Candidate> = files.flat_map(|file| uses_in(symbol, file)).collect();
            uses.sort_by_cached_key(|one| (one.kind, one.distance, one.lines.len(), one.path.clone()));
            for (kind, most) in [(PieceKind::Caller, CALLERS), (PieceKind::Test, TESTS)] {
                found.extend(uses.iter().filter(|one| one.kind == kind).take(most).cloned());
            }
        }
    }
    found
}

fn by_name<'a>(places: &'a [Place], names: &BTreeSet<&'a str>) -> BTreeMap<&'a str, Vec<&'a Place>> {
    let mut by_name: BTreeMap<&str, Vec<&Place>> = BTreeMap::new();
    for place in places {
        for word in words(&place.text).collect::<BTreeSet<_>>() {
            if let Some(name) = names.get(word) {
                by_name.entry(name).or_default().push(place);
            }
        }
    }
    by_name
}

/// Where it is probably used: files with a call of it first, then near ones.
fn files_to_read(symbol: &Changed, by_name: &BTreeMap<&str, Vec<&Place>>) -> Vec<RepoPath> {
    let mut files: BTreeMap<&RepoPath, bool> = BTreeMap::new();
    let own = |place: &Place| {
        place.path == symbol.symbol.path
            && symbol.definition.as_ref().is_some_and(|one| (one.start_line..=one.end_line).contains(&place.line))
    };
    for name in &symbol.names {
        for place in by_name.get(name.as_str()).into_iter().flatten().filter(|place| !own(place)) {
            *files.entry(&place.path).or_default() |= looks_called(&place.text, name, symbol.kind);
        }
    }
    let mut ranked: Vec<(bool, u32, &RepoPath)> =
        files.into_iter().map(|(path, called)| (!called, distance(path, &symbol.symbol.path), path)).collect();
    ranked.sort();
    let of_kind = |is_test: bool, most: usize| {
        ranked.iter().filter(move |(.., path)| is_test_path(path) == is_test).take(most).map(|(.., path)| (*path).clone())
    };
    // Rust's and others' tests stand in the file itself.
    of_kind(false, FILES).chain(of_kind(true, TEST_FILES)).collect()
}

/// A guess from one line, which decides what is read first and nothing else.
fn looks_called(text: &str, name: &str, kind: SymbolKind) -> bool {
    if kind == SymbolKind::Type {
        return !["import", "use ", "from ", "#include", "using "].iter().any(|word| text.trim_start().starts_with(word));
    }
    text.match_indices(name).any(|(at, _)| {
        let after = text[at + name.len()..].trim_start();
        let before = text[..at].trim_end();
        let is_defined = ["def", "fn", "func", "function", "fun", "void", "sub"].iter().any(|word| before.ends_with(word));
        !is_defined && (after.starts_with(['(', '!', '<']) || after.starts_with("::<"))
    })
}

/// Every function of a file that uses the symbol.
fn uses_in(symbol: &Changed, file: &ParsedFile) -> Vec<Candidate> {
    let is_of_symbol = |mention: &&Mention| symbol.names.contains(&mention.name);
    let is_own = |mention: &&Mention| {
        file.path == symbol.symbol.path
            && symbol.definition.as_ref().is_some_and(|one| (one.start_line..=one.end_line).contains(&mention.line))
    };
    let all = |mentions: &[Mention]| -> BTreeSet<u32> {
        mentions.iter().filter(is_of_symbol).filter(|mention| !is_own(mention)).map(|mention| mention.line).collect()
    };
    let mut uses = all(&file.symbols.calls);
    if symbol.kind == SymbolKind::Type {
        uses.extend(all(&file.symbols.types));
    }
    if uses.is_empty() {
        // It is handed on, or used as a property.
        uses = all(&file.symbols.others);
        uses.retain(|line| file.symbols.innermost(*line, SymbolKind::Function).is_some());
    }
    let function_of = |line: u32| file.symbols.innermost(line, SymbolKind::Function);
    let mut by_function: BTreeMap<(u32, u32), BTreeSet<u32>> = BTreeMap::new();
    for line in uses {
        let place = function_of(line).map_or((line, line), |one| (one.start_line, one.end_line));
        by_function.entry(place).or_default().insert(line);
    }
    let knows_container = symbol.container.as_deref().is_none_or(|container| words(&file.text).any(|word| word == container));
    let away = distance(&file.path, &symbol.symbol.path) + u32::from(!knows_container);
    let around = |uses: &BTreeSet<u32>| uses.first().and_then(|line| function_of(*line));
    by_function.values().map(|uses| candidate(symbol, file, around(uses), uses, away)).collect()
}

fn candidate(symbol: &Changed, file: &ParsedFile, around: Option<&Definition>, uses: &BTreeSet<u32>, distance: u32) -> Candidate {
    let first = uses.first().copied().unwrap_or(1);
    let lines = match around {
        Some(function) if function.end_line - function.start_line < WHOLE => {
            lines(&file.text, function.start_line, function.end_line)
        }
        Some(function) => {
            let mut shown = lines(&file.text, function.start_line, function.name_line + 1);
            let (from, to) = (first.saturating_sub(AROUND).max(function.start_line), (first + AROUND).min(function.end_line));
            shown.extend(lines(&file.text, from.max(function.name_line + 2), to));
            shown
        }
        None => lines(&file.text, first.saturating_sub(2).max(1), first + 2),
    };
    let head = around.map_or(first, |function| function.name_line);
    let short: Vec<Line> = lines.iter().filter(|(number, _)| *number == head || number.abs_diff(first) <= 1).cloned().collect();
    let is_test = is_test_path(&file.path) || around.is_some_and(|function| is_test_function(&file.path, function, &file.text));
    let (name, of) = (around.map_or("code outside of functions", |function| &function.name), &symbol.symbol.name);
    let reason = match (is_test, symbol.kind, symbol.definition.is_some()) {
        (_, _, false) => format!("{name} uses {of}, which the change removes"),
        (true, ..) => format!("{name} tests {of}"),
        (false, SymbolKind::Function, true) => format!("{name} calls {of}"),
        (false, SymbolKind::Type, true) => format!("{name} uses {of}"),
    };
    Candidate {
        kind: if is_test { PieceKind::Test } else { PieceKind::Caller },
        of: symbol.symbol.clone(),
        path: file.path.clone(),
        short: (short.len() < lines.len()).then_some(short),
        lines,
        distance,
        reason,
    }
}

/// Rust's tests stand beside the code.
fn is_test_function(path: &RepoPath, function: &Definition, text: &str) -> bool {
    let before = function.start_line.saturating_sub(4);
    Language::of(path) == Some(Language::Rust)
        && lines(text, before, function.name_line).iter().any(|(_, line)| {
            let line = line.trim();
            line.starts_with("#[") && line.contains("test")
        })
}
