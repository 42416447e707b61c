//! Files of the head as they are needed: those of the change are at hand, the others are read once.

use super::families::endings;
use super::{ContextLimits, may_be_shown};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;
use tribunal_context::symbols::{Symbols, symbols};
use tribunal_core::diff::change::ChangedFile;
use tribunal_core::diff::language::Language;
use tribunal_core::ids::{RepoPath, Sha};
use tribunal_forge::git::Repository;
use tribunal_forge::git::search::{Place, SearchLimits, Wanted};

/// Bytes of what git finds.
const SEARCH_BYTES: usize = 4 * 1024 * 1024;
/// Lines of one file that git names.
const LINES_OF_ONE_FILE: u32 = 60;

pub struct Sources<'a> {
    tree: Option<(&'a Repository, &'a Sha)>,
    texts: BTreeMap<RepoPath, String>,
    limits: ContextLimits,
    begun: Instant,
    /// Files that were read besides those of the change.
    read: usize,
    pub is_cut: bool,
}

/// A file with what it defines and calls.
pub struct ParsedFile {
    pub path: RepoPath,
    pub text: String,
    pub symbols: Symbols,
}

impl<'a> Sources<'a> {
    pub fn new(tree: Option<(&'a Repository, &'a Sha)>, files: &[&ChangedFile], limits: ContextLimits, begun: Instant) -> Self {
        let text = |file: &&ChangedFile| Some((file.path.clone(), file.new_text.as_deref()?.to_owned()));
        Self { tree, texts: files.iter().filter_map(text).collect(), limits, begun, read: 0, is_cut: false }
    }

    /// Lines that hold one of these names, in the head's tree and in the change's files.
    pub fn search(&mut self, language: Language, names: &BTreeSet<&str>, wanted: Wanted) -> Vec<Place> {
        let names: Vec<&str> = names.iter().copied().collect();
        match self.tree {
            None => self.search_at_hand(language, &names),
            Some((repository, head)) => {
                let time = self.limits.time.saturating_sub(self.begun.elapsed());
                let limits = SearchLimits { time, bytes: SEARCH_BYTES, per_file: LINES_OF_ONE_FILE };
                let found = repository.search(head, &names, endings(language), wanted, limits);
                self.is_cut |= found.is_cut;
                let is_shown = |place: &Place| self.texts.contains_key(&place.path) || may_be_shown(&place.path);
                found.places.into_iter().filter(is_shown).collect()
            }
        }
    }

    fn search_at_hand(&self, language: Language, names: &[&str]) -> Vec<Place> {
        let is_of_family = |path: &RepoPath| Language::of(path).is_some_and(|other| endings(other) == endings(language));
        let holds = |text: &str| words(text).any(|word| names.contains(&word));
        let files = self.texts.iter().filter(|(path, _)| is_of_family(path));
        files
            .flat_map(|(path, text)| (1..).zip(text.lines()).map(move |(line, text)| (path, line, text)))
            .filter(|(_, _, text)| holds(text))
            .map(|(path, line, text)| Place { path: path.clone(), line, text: text.to_owned() })
            .collect()
    }

    /// These files, parsed, the first ones as far as the limits allow. Places of `wanted` names are listed in them.
    pub fn parsed(&mut self, paths: &[RepoPath], wanted: &BTreeSet<&str>) -> Vec<ParsedFile> {
        let missing: Vec<&RepoPath> = paths.iter().filter(|path| !self.texts.contains_key(path)).collect();
        let room = self.limits.files.saturating_sub(self.read);
        self.is_cut |= missing.len() > room;
        let missing = &missing[..missing.len().min(room)];
        if let (Some((repository, head)), false) = (self.tree, missing.is_empty()) {
            self.read += missing.len();
            self.texts.extend(repository.texts_at(head, missing, self.limits.file_bytes));
        }
        let mut parsed = Vec::new();
        for path in paths {
            if self.begun.elapsed() > self.limits.time {
                self.is_cut = true;
                break;
            }
            let (Some(text), Some(language)) = (self.texts.get(path), Language::of(path)) else { continue };
            if let Some(symbols) = symbols(language, text, wanted) {
                parsed.push(ParsedFile { path: path.clone(), text: text.clone(), symbols });
            }
        }
        parsed
    }
}

/// Identifiers of a line.
pub fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}
