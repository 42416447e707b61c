//! The code around a change that decides whether it is right, read from the head's tree: candidates for
//! [`tribunal_core::prompt::pieces`], which ranks them. Everything here is bounded by files, bytes and a clock, and what cannot be read
//! is no context: a review without it is still a review.

mod changed;
mod definitions;
mod families;
mod source;
mod uses;

use changed::changed_symbols;
use source::Sources;
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};
use tribunal_core::diff::change::ChangedFile;
use tribunal_core::ids::{RepoPath, Sha};
use tribunal_core::plan::untracked::is_secret_name;
use tribunal_core::prompt::pieces::{Candidate, ChangedSymbol};
use tribunal_core::publish::outgoing::mask::mask;
use tribunal_forge::git::Repository;

/// What a search for context may take.
#[derive(Debug, Clone, Copy)]
pub struct ContextLimits {
    /// For all searches together.
    pub time: Duration,
    /// Files that are read besides those of the change.
    pub files: usize,
    /// Bytes of one file.
    pub file_bytes: u64,
    /// Changed functions and types that are looked at.
    pub symbols: usize,
}

impl Default for ContextLimits {
    fn default() -> Self {
        ContextLimits { time: Duration::from_secs(15), files: 96, file_bytes: 512 * 1024, symbols: 80 }
    }
}

/// What was found.
#[derive(Debug, Clone, Default)]
pub struct Gathered {
    pub candidates: Vec<Candidate>,
    /// Changed functions and types, with their changed lines. A removed one has none.
    pub symbols: BTreeMap<ChangedSymbol, BTreeSet<u32>>,
    /// A limit was reached.
    pub is_cut: bool,
}

/// Candidates for a change. Without a repository there are only the files of the change.
pub fn gather(tree: Option<(&Repository, &Sha)>, files: &[&ChangedFile], limits: ContextLimits) -> Gathered {
    let mut sources = Sources::new(tree, files, limits, Instant::now());
    let (symbols, is_cut) = changed_symbols(files, limits.symbols);
    let mut candidates: Vec<Candidate> = symbols.iter().filter_map(|symbol| symbol.whole(files)).collect();
    candidates.extend(uses::of(&symbols, &mut sources));
    candidates.extend(definitions::named_by(&symbols, &mut sources));
    let candidates = candidates.into_iter().filter_map(masked).collect();
    Gathered {
        candidates,
        symbols: symbols.into_iter().map(|symbol| (symbol.symbol, symbol.touched)).collect(),
        is_cut: is_cut || sources.is_cut,
    }
}

/// May a file that the change does not touch be shown? Hidden files, and those that are called like secrets, never are.
fn may_be_shown(path: &RepoPath) -> bool {
    !path.as_str().split('/').any(|part| part.starts_with('.')) && !is_secret_name(path)
}

/// A key in unchanged code is nobody's to read.
fn masked(mut candidate: Candidate) -> Option<Candidate> {
    for lines in std::iter::once(&mut candidate.lines).chain(candidate.short.as_mut()) {
        let text = lines.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>().join("\n");
        let masked = mask(&text);
        if masked != text {
            let shown: Vec<&str> = masked.split('\n').collect();
            if shown.len() != lines.len() {
                return None;
            }
            for ((_, line), shown) in lines.iter_mut().zip(shown) {
                *line = shown.to_owned();
            }
        }
    }
    Some(candidate)
}

#[cfg(test)]
mod tests;
