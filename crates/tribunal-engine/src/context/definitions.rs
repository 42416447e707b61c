//! What changed lines call and which types they use, where the repository defines it.

use super::changed::{Changed, lines};
use super::families::endings;
use super::source::{ParsedFile, Sources, words};
use std::collections::{BTreeMap, BTreeSet};
use tribunal_context::symbols::{Definition, SymbolKind};
use tribunal_core::diff::language::is_test_path;
use tribunal_core::ids::RepoPath;
use tribunal_core::prompt::pieces::{Candidate, Line, PieceKind, distance};
use tribunal_forge::git::search::{Place, Wanted};

/// Lines of a definition that are shown.
const MOST_LINES: u32 = 40;
const FEWEST_LINES: u32 = 8;
/// Names of one change that are looked up.
const NAMES: usize = 60;
/// Callees and types of one symbol.
const OF_ONE: usize = 8;
/// A name that is defined in more files says too little, unless one of them is near.
const FILES_OF_A_NAME: usize = 6;

pub fn named_by(symbols: &[Changed], sources: &mut Sources<'_>) -> Vec<Candidate> {
    let mut families: BTreeMap<&[&str], Vec<&Changed>> = BTreeMap::new();
    for symbol in symbols.iter().filter(|symbol| symbol.definition.is_some()) {
        families.entry(endings(symbol.language)).or_default().push(symbol);
    }
    let mut found = Vec::new();
    for family in families.into_values() {
        let names = names_of(&family);
        let Some(language) = family.first().map(|symbol| symbol.language) else { continue };
        let places = sources.search(language, &names, Wanted::Definitions);
        let by_name = by_name(&places, &names);
        let mut paths: Vec<RepoPath> = Vec::new();
        for symbol in &family {
            for name in symbol.calls.iter().chain(&symbol.types) {
                for path in likely_files(name, &symbol.symbol.path, &by_name) {
                    if !paths.contains(&path) {
                        paths.push(path);
                    }
                }
            }
        }
        let parsed = sources.parsed(&paths, &BTreeSet::new());
        for symbol in family {
            let wanted = [
                (PieceKind::Callee, SymbolKind::Function, &symbol.calls, "calls"),
                // A constructor is called by the name of its type.
                (PieceKind::Type, SymbolKind::Type, &symbol.calls, "makes"),
                (PieceKind::Type, SymbolKind::Type, &symbol.types, "uses"),
            ];
            for (kind, defined, names, verb) in wanted {
                let of_kind = names.iter().filter_map(|name| {
                    let (file, definition) = nearest(name, defined, &symbol.symbol.path, &parsed)?;
                    Some(candidate(symbol, kind, file, definition, verb))
                });
                found.extend(of_kind.take(OF_ONE));
            }
        }
    }
    found
}

fn names_of<'a>(family: &[&'a Changed]) -> BTreeSet<&'a str> {
    let mut names: BTreeSet<&str> = BTreeSet::new();
    // The first names of each symbol before the last of any.
    for nth in 0..NAMES {
        let of_each = family.iter().flat_map(|symbol| [symbol.calls.get(nth), symbol.types.get(nth)]);
        for name in of_each.flatten().filter(|name| name.len() > 2) {
            if names.len() < NAMES {
                names.insert(name);
            }
        }
    }
    names
}

fn by_name<'a>(places: &[Place], names: &BTreeSet<&'a str>) -> BTreeMap<&'a str, BTreeSet<RepoPath>> {
    let mut by_name: BTreeMap<&str, BTreeSet<RepoPath>> = BTreeMap::new();
    for place in places {
        for word in words(&place.text) {
            if let Some(name) = names.get(word) {
                by_name.entry(name).or_default().insert(place.path.clone());
            }
        }
    }
    by_name
}

/// The nearest files in which a name seems to be defined.
fn likely_files(name: &str, from: &RepoPath, by_name: &BTreeMap<&str, BTreeSet<RepoPath>>) -> Vec<RepoPath> {
    let Some(paths) = by_name.get(name) else { return Vec::new() };
    let mut ranked: Vec<(bool, u32, &RepoPath)> = paths
        .iter()
        .map(|path| (is_test_path(path) && !is_test_path(from), distance(path, from), path))
        .filter(|(_, away, _)| paths.len() <= FILES_OF_A_NAME || *away <= 1)
        .collect();
    ranked.sort();
    ranked.into_iter().take(2).map(|(.., path)| path.clone()).collect()
}

fn nearest<'a>(
    name: &str,
    kind: SymbolKind,
    from: &RepoPath,
    parsed: &'a [ParsedFile],
) -> Option<(&'a ParsedFile, &'a Definition)> {
    let all = parsed.iter().flat_map(|file| file.symbols.definitions.iter().map(move |definition| (file, definition)));
    let named = all.filter(|(_, definition)| definition.kind == kind && definition.name == name);
    named.min_by_key(|(file, definition)| {
        (is_test_path(&file.path) && !is_test_path(from), distance(&file.path, from), file.path.clone(), definition.start_line)
    })
}

fn candidate(symbol: &Changed, kind: PieceKind, file: &ParsedFile, definition: &Definition, verb: &str) -> Candidate {
    let shown = |most: u32| -> Vec<Line> {
        let last = definition.end_line.min(definition.name_line + most - 1);
        lines(&file.text, definition.start_line, last)
    };
    Candidate {
        kind,
        of: symbol.symbol.clone(),
        path: file.path.clone(),
        lines: shown(MOST_LINES),
        short: (definition.end_line >= definition.name_line + FEWEST_LINES).then(|| shown(FEWEST_LINES)),
        distance: distance(&file.path, &symbol.symbol.path),
        reason: format!("{} {verb} {}", symbol.symbol.name, definition.name),
    }
}
