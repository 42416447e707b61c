//! A cache of git's answers about objects named by full ids. An id always names the same content, so the answers cannot go stale.
//! Each question to git is a process, and a review asks many of them several times.

use super::class::UntrustedTree;
use super::listed::Listed;
use super::{GitError, Repository};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tribunal_core::ids::{RepoPath, Sha};

/// When the answers exceed this many bytes, all are dropped: a watch loop may run for days.
const MAX_BYTES: usize = 16 << 20;
const MAX_IDS: usize = 1 << 18;

/// What is true of two commits or trees, the earlier or the base first.
type OfPair<T> = BTreeMap<(Sha, Sha), T>;

/// By old side, new side, and whether renames are looked for.
type Compared = BTreeMap<(Sha, Sha, bool), Arc<Listed>>;

#[derive(Debug, Default)]
pub(super) struct ObjectCache {
    pub(super) compared: Compared,
    /// Every path of the tree that was asked about last.
    pub(super) paths: Option<(Sha, Vec<RepoPath>)>,
    /// How many files a tree has.
    pub(super) file_counts: BTreeMap<Sha, u64>,
    answers: BTreeMap<Vec<OsString>, Vec<u8>>,
    answer_bytes: usize,
    /// Objects that the clone has. Missing ones are not cached, because a fetch may add them.
    pub(super) present: BTreeSet<String>,
    /// Is the first part of the second's history?
    pub(super) ancestors: OfPair<bool>,
    /// Do the two merge without conflicts?
    pub(super) merges: OfPair<bool>,
    pub(super) changed_files: OfPair<u64>,
    /// Pairs of trees whose changed files have all been fetched.
    pub(super) fetched_pairs: BTreeSet<(Sha, Sha)>,
}

/// By folder: a sweep opens the clone of one project once for each pull request.
static CLONES: Mutex<BTreeMap<PathBuf, Arc<Mutex<ObjectCache>>>> = Mutex::new(BTreeMap::new());

/// The cache of the clone in this folder, shared within this process.
pub(super) fn of_clone(folder: &Path) -> Arc<Mutex<ObjectCache>> {
    Arc::clone(CLONES.lock().unwrap_or_else(PoisonError::into_inner).entry(folder.to_owned()).or_default())
}

/// Drops the cache of a folder. A new clone has none of the objects that an earlier one in the same folder had.
pub(super) fn forget(folder: &Path) {
    CLONES.lock().unwrap_or_else(PoisonError::into_inner).remove(folder);
}

impl ObjectCache {
    pub(super) fn add_present(&mut self, ids: impl IntoIterator<Item = String>) {
        if self.present.len() > MAX_IDS {
            self.present.clear();
        }
        self.present.extend(ids);
    }

    /// Keeps what is true of two full ids; names that may move are not kept.
    pub(super) fn keep_pair<T>(kept: &mut OfPair<T>, pair: (&Sha, &Sha), answer: T) {
        if kept.len() > MAX_IDS {
            kept.clear();
        }
        if pair.0.is_full() && pair.1.is_full() {
            kept.insert((pair.0.clone(), pair.1.clone()), answer);
        }
    }

    fn keep(&mut self, question: Vec<OsString>, answer: &[u8]) {
        if self.answer_bytes + answer.len() > MAX_BYTES {
            self.answers.clear();
            self.answer_bytes = 0;
        }
        if answer.len() <= MAX_BYTES {
            self.answer_bytes += answer.len();
            self.answers.insert(question, answer.to_owned());
        }
    }
}

impl Repository {
    pub(super) fn cache(&self) -> MutexGuard<'_, ObjectCache> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs git for an answer that depends on these objects only, and caches it. Names that may move (branches, short ids) and failures
    /// are not cached.
    pub(super) fn ask_cached(&self, what: UntrustedTree, args: &[&str], objects: &[&Sha]) -> Result<Vec<u8>, GitError> {
        if !objects.iter().all(|object| object.is_full()) {
            return self.ask(what, args);
        }
        let question: Vec<OsString> =
            std::iter::once(format!("{what:?}").into()).chain(args.iter().map(OsString::from)).collect();
        if let Some(answer) = self.cache().answers.get(&question) {
            return Ok(answer.clone());
        }
        let answer = self.ask(what, args)?;
        self.cache().keep(question, &answer);
        Ok(answer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::port::GitSource;

    fn clone_in(folder: &Path) -> Repository {
        let source = GitSource {
            url: "https://git.example.org/a/b.git".into(),
            authorization: None,
            base_ref: "refs/heads/main".into(),
            head_ref: "refs/pull/1/head".into(),
        };
        Repository::clone_of(folder, &source).unwrap()
    }

    fn blob(repository: &Repository, text: &str) -> Sha {
        Sha(repository.on_tree(UntrustedTree::HashObject).args(["-w", "--stdin"]).run_text(Some(text.as_bytes())).unwrap())
    }

    fn content(repository: &Repository, name: &Sha) -> Vec<u8> {
        repository.ask_cached(UntrustedTree::CatFile, &["blob", name.as_str()], &[name]).unwrap()
    }

    #[test]
    fn a_full_id_is_asked_once_and_a_ref_every_time() {
        let folder = tempfile::tempdir().unwrap();
        let repository = clone_in(&folder.path().join("clone.git"));
        let (one, two, name) = (blob(&repository, "one"), blob(&repository, "two"), Sha::from("refs/tribunal/test"));
        for (id, text) in [(&one, "one"), (&two, "two")] {
            repository.on_tree(UntrustedTree::UpdateRef).args([name.as_str(), id.as_str()]).run(None).unwrap();
            assert_eq!(content(&repository, &name), text.as_bytes());
        }
        assert_eq!(content(&repository, &one), b"one");
        std::fs::remove_dir_all(repository.git_dir.join("objects")).unwrap();
        assert_eq!(content(&repository, &one), b"one");
    }

    fn commit(repository: &Repository, message: &str, parents: &[&Sha]) -> Sha {
        let tree = repository.empty_tree().unwrap();
        let by = crate::git::write::Signature { name: "Ann".into(), email: "ann@example.org".into() };
        let made = by.writes(by.commits(repository.on_tree(UntrustedTree::CommitTree))).arg(tree.as_str());
        let made = parents.iter().fold(made, |made, parent| made.args(["-p", parent.as_str()]));
        Sha(made.args(["-m", message]).run_text(None).unwrap())
    }

    #[test]
    fn history_is_asked_once_unless_more_of_it_may_come() {
        let folder = tempfile::tempdir().unwrap();
        let repository = clone_in(&folder.path().join("clone.git"));
        repository.on_tree(UntrustedTree::HashObject).args(["-t", "tree", "-w", "--stdin"]).run(Some(b"")).unwrap();
        let first = commit(&repository, "first", &[]);
        let second = commit(&repository, "second", &[&first]);
        assert!(repository.is_ancestor(&first, &second) && !repository.is_ancestor(&second, &first));
        let missing = Sha("1".repeat(40));
        assert!(!repository.is_ancestor(&missing, &first) && !repository.has(&missing) && repository.has(&first));
        let kept = |repository: &Repository| repository.cache().ancestors.len();
        assert_eq!((kept(&repository), repository.cache().present.contains(missing.as_str())), (2, false));

        let shallow = clone_in(&folder.path().join("shallow.git"));
        shallow.on_tree(UntrustedTree::HashObject).args(["-t", "tree", "-w", "--stdin"]).run(Some(b"")).unwrap();
        let (one, other) = (commit(&shallow, "one", &[]), commit(&shallow, "other", &[]));
        std::fs::write(shallow.common_dir.join("shallow"), format!("{other}\n")).unwrap();
        assert!(!shallow.is_ancestor(&one, &other));
        assert_eq!(kept(&shallow), 0, "its history may still be fetched");
    }

    #[test]
    fn a_new_clone_has_none_of_the_objects_of_the_old_one() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("clone.git");
        let old = clone_in(&place);
        let id = blob(&old, "one");
        assert!(old.fetch_commit(&id), "it is here");
        std::fs::remove_dir_all(&place).unwrap();
        let new = clone_in(&place);
        assert!(!new.cache().present.contains(id.as_str()) && old.cache().present.contains(id.as_str()));
    }

    #[test]
    fn memory_is_bounded() {
        let mut cache = ObjectCache::default();
        for n in 0..40 {
            cache.keep(vec![n.to_string().into()], &vec![0; MAX_BYTES / 8]);
        }
        assert!(cache.answer_bytes <= MAX_BYTES && !cache.answers.is_empty());
        cache.keep(vec!["huge".into()], &vec![0; MAX_BYTES + 1]);
        assert!(!cache.answers.contains_key(&vec![OsString::from("huge")]));
    }
}
