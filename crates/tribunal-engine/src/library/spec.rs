//! The texts that a change is held against, from the base that it is to be merged into.

use super::records::texts;
use crate::EngineError;
use std::collections::BTreeSet;
use tribunal_core::ids::{RepoPath, Sha};
use tribunal_core::library::page::{Kind, record_pages};
use tribunal_core::library::places::Places;
use tribunal_core::library::spec::{Source, SpecTrouble, decisions_named, find};
use tribunal_forge::git::Repository;

/// A spec whole, or nothing.
pub struct Architecture {
    pub sources: Vec<Source>,
}

impl Architecture {
    /// SL-27: `spec.md` and `design.md` of a spec, and the decisions that they name. Nothing where no file claims the id.
    pub fn of(
        repository: &Repository,
        base: &Sha,
        places: &Places,
        id: &str,
    ) -> Result<Result<Option<Architecture>, SpecTrouble>, EngineError> {
        let records = Places { code: false, ..places.clone() };
        let listed = repository.listed(base, &records.folders())?;
        let of_kind = |kind: Kind| -> Vec<(RepoPath, String)> {
            listed.iter().filter(|(path, _)| records.kind(path) == Some(kind)).cloned().collect()
        };
        let specs = texts(repository, &of_kind(Kind::Spec))?;
        let files = match find(id, &specs) {
            Ok(Some(files)) => files,
            Ok(None) => return Ok(Ok(None)),
            Err(trouble) => return Ok(Err(trouble)),
        };
        let text = |path: &RepoPath| specs.iter().find(|(found, _)| found == path).map_or("", |(_, text)| text.as_str());
        let (spec, design) = (text(&files.spec), text(&files.design));
        let source = |path: &RepoPath, text: &str| Source { name: path.as_str().to_owned(), text: text.to_owned() };
        let mut sources = vec![source(&files.spec, spec), source(&files.design, design)];
        let wanted: BTreeSet<String> = decisions_named(&[spec, design]).into_iter().collect();
        if !wanted.is_empty() {
            for (path, text) in texts(repository, &of_kind(Kind::Decision))? {
                let name = record_pages(Kind::Decision, path.as_str(), &text).first().map(|page| page.name.clone());
                if name.is_some_and(|name| wanted.contains(&name)) {
                    sources.push(source(&path, &text));
                }
            }
        }
        Ok(Ok(Some(Architecture { sources })))
    }
}
