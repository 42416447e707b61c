//! Files of a commit into their collection. What has the same id as before is not read again.

use super::{Library, LibraryTrouble};
use crate::EngineError;
use crate::effects::blocking;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use tribunal_context::index::{Fresh, Index, IndexError, Refreshed};
use tribunal_core::ids::{RepoPath, Sha};
use tribunal_core::library::page::{Kind, Page, code_pages, record_pages};
use tribunal_core::plan::files::{looks_binary, skipped_by_name};
use tribunal_core::policy::library::LibraryPolicy;
use tribunal_forge::git::{GitError, Repository};

/// Larger files are data.
const MOST_BYTES: usize = 512 * 1024;
/// Contents that are read at once.
const AT_ONCE: usize = 500;

impl Library {
    pub(super) async fn shelve_files(
        &self,
        library: &LibraryPolicy,
        repository: &Arc<Repository>,
        commit: &Sha,
        kind: Kind,
    ) -> Result<Refreshed, LibraryTrouble> {
        let (folder, places) = (self.index_folder(library), library.places.clone());
        let (at, commit) = (Arc::clone(repository), commit.clone());
        let listed: BTreeMap<String, String> = blocking(move || {
            let files = at.listed(&commit, &places.folders())?;
            let is_code = kind == Kind::Code;
            let wanted = files
                .into_iter()
                .filter(|(path, _)| places.kind(path) == Some(kind) && !(is_code && skipped_by_name(path).is_some()));
            Ok::<_, GitError>(wanted.map(|(path, id)| (path.0, id)).collect())
        })
        .await?
        .map_err(EngineError::from)?;
        let known = {
            let folder = folder.clone();
            self.when_free(move || {
                let index = Index::open(&folder, kind)?;
                Ok(index
                    .sources()
                    .iter()
                    .map(|(source, entry)| (source.clone(), entry.stamp.clone()))
                    .collect::<BTreeMap<_, _>>())
            })
            .await?
        };
        let gone: Vec<String> = known.keys().filter(|source| !listed.contains_key(*source)).cloned().collect();
        let changed: Vec<(String, String)> = listed.into_iter().filter(|(path, id)| known.get(path) != Some(id)).collect();
        let at = Arc::clone(repository);
        let fresh = blocking(move || read(&at, changed, kind)).await?.map_err(EngineError::from)?;
        self.when_free(move || put(&folder, kind, &fresh, &gone)).await
    }
}

pub(super) fn put(folder: &std::path::Path, kind: Kind, fresh: &[Fresh], gone: &[String]) -> Result<Refreshed, IndexError> {
    Index::open(folder, kind)?.refresh(fresh.to_vec(), gone)
}

fn read(repository: &Repository, changed: Vec<(String, String)>, kind: Kind) -> Result<Vec<Fresh>, GitError> {
    let mut fresh = Vec::new();
    for some in changed.chunks(AT_ONCE) {
        let ids: BTreeSet<String> = some.iter().map(|(_, id)| id.clone()).collect();
        let contents = repository.contents(&ids)?;
        for (path, id) in some {
            let pages = contents.get(id).map(|bytes| pages(kind, path, bytes)).unwrap_or_default();
            fresh.push(Fresh { source: path.clone(), stamp: id.clone(), pages });
        }
    }
    Ok(fresh)
}

/// Nothing of what is no text; it is remembered all the same, so that it is not read again.
fn pages(kind: Kind, path: &str, bytes: &[u8]) -> Vec<Page> {
    if bytes.len() > MOST_BYTES || looks_binary(bytes) {
        return Vec::new();
    }
    let text = String::from_utf8_lossy(bytes);
    match kind {
        Kind::Code => code_pages(path, &text),
        Kind::Decision | Kind::Spec | Kind::Issue => record_pages(kind, path, &text),
    }
}

/// The texts of these files, as a commit has them.
pub(super) fn texts(repository: &Repository, files: &[(RepoPath, String)]) -> Result<Vec<(RepoPath, String)>, GitError> {
    let ids: BTreeSet<String> = files.iter().map(|(_, id)| id.clone()).collect();
    let contents = repository.contents(&ids)?;
    let text = |id: &String| contents.get(id).map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    Ok(files.iter().filter_map(|(path, id)| Some((path.clone(), text(id)?))).collect())
}
