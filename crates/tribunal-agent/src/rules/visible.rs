//! The part of a change that the rules may see, and how closely. Files are borrowed: a copy of a large change would double it.

use std::collections::BTreeSet;
use tribunal_core::diff::change::{Change, ChangedFile};
use tribunal_core::ids::RepoPath;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// Its lines, and its code where it can be parsed.
    Whole,
    /// Its lines alone: a tool wrote it.
    Lines,
    /// It is left to the last review. Checks of the whole diff still know of it.
    Aside,
}

pub struct VisibleChange<'a> {
    files: Vec<(&'a ChangedFile, Look)>,
    /// Every changed file, also those that nobody looks at.
    pub all: &'a [ChangedFile],
    pub repository_has_tests: bool,
    pub tested: &'a BTreeSet<RepoPath>,
    pub own_addresses: &'a BTreeSet<String>,
}

impl<'a> VisibleChange<'a> {
    /// The files for which there is a way to look.
    pub fn new(change: &'a Change, look: impl Fn(&ChangedFile) -> Option<Look>) -> Self {
        let files = change.files.iter().filter_map(|file| Some((file, look(file)?))).collect();
        Self {
            files,
            all: &change.files,
            repository_has_tests: change.repository_has_tests,
            tested: &change.tested,
            own_addresses: &change.own_addresses,
        }
    }

    pub fn files(&self) -> impl Iterator<Item = &'a ChangedFile> + Clone {
        self.files.iter().map(|(file, _)| *file)
    }

    pub fn to_scan(&self) -> Vec<(&'a ChangedFile, Look)> {
        self.files.iter().filter(|(_, look)| *look != Look::Aside).copied().collect()
    }
}
