//! Merging without a work tree: git writes the merged tree (`merge-tree`), and a commit is made of it. No branch is touched here.
//!
//! The result depends on commits alone. Attributes of a checkout, and the merge drivers they could choose, play no part: whoever
//! merges, from wherever, gets the same tree.

use super::class::{Git, Output, UntrustedTree, one_path};
use super::object_cache::ObjectCache;
use super::write::Signature;
use super::{GitError, Repository, named};
use tempfile::TempDir;
use tribunal_core::diff::parse::text_of;
use tribunal_core::ids::{RepoPath, Sha};
use tribunal_core::publish::outgoing::Outgoing;

/// More commits than this are not replayed one by one.
const MOST_REPLAYED: usize = 500;

#[derive(Debug, thiserror::Error)]
pub enum MergeError {
    #[error("these files conflict: {}", named(.0))]
    Conflicts(Vec<RepoPath>),
    #[error("commit {} does not apply on the base; these files conflict: {}", .commit.short(), named(.paths))]
    Replay { commit: Sha, paths: Vec<RepoPath> },
    #[error("{0} commits are too many to replay one by one; {MOST_REPLAYED} is the most")]
    TooMany(usize),
    #[error(transparent)]
    Git(#[from] GitError),
}

/// Makes merge commits in one repository.
pub struct Merger<'a> {
    repository: &'a Repository,
    by: Signature,
    /// Where objects go that nobody shall keep.
    aside: Option<TempDir>,
}

impl<'a> Merger<'a> {
    pub fn new(repository: &'a Repository, by: Signature) -> Self {
        Self { repository, by, aside: None }
    }

    /// One that leaves no object behind: for looking whether a merge would work.
    pub fn trial(repository: &'a Repository, by: Signature) -> Result<Self, GitError> {
        let aside = tempfile::Builder::new().prefix("tribunal-merge-").tempdir();
        let aside = aside.map_err(|source| GitError::Io { what: "a temporary folder cannot be made".into(), source })?;
        Ok(Self { repository, by, aside: Some(aside) })
    }

    fn git(&self, what: UntrustedTree) -> Git<UntrustedTree> {
        let asked = self.repository.on_tree(what).setting("i18n.commitEncoding", "UTF-8");
        let asked = self.by.writes(self.by.commits(asked));
        match &self.aside {
            None => asked,
            Some(aside) => asked
                .env("GIT_OBJECT_DIRECTORY", aside.path())
                .env("GIT_ALTERNATE_OBJECT_DIRECTORIES", one_path(&self.repository.common_dir.join("objects"))),
        }
    }

    fn ask(&self, what: UntrustedTree, args: &[&str], input: Option<&[u8]>) -> Result<String, GitError> {
        if self.aside.is_none() {
            self.repository.refuse_links(&["objects"])?;
        }
        self.git(what).args(args).run_text(input).map_err(|error| self.repository.explained(error))
    }

    /// The tree that two commits give together.
    pub fn tree(&self, ours: &Sha, theirs: &Sha) -> Result<Sha, MergeError> {
        let asked = self.git(UntrustedTree::MergeTree).args(["--write-tree", "--no-messages", "--name-only", "-z"]);
        merged(asked.args([ours.as_str(), theirs.as_str()]).output(None)?)
    }

    pub fn merge(&self, ours: &Sha, theirs: &Sha, message: &Outgoing) -> Result<Sha, MergeError> {
        let tree = self.tree(ours, theirs)?;
        Ok(self.commit(&tree, &[ours, theirs], &self.by, message)?)
    }

    pub fn squash(&self, base: &Sha, head: &Sha, author: &Signature, message: &Outgoing) -> Result<Sha, MergeError> {
        let tree = self.tree(base, head)?;
        Ok(self.commit(&tree, &[base], author, message)?)
    }

    /// Replays what the head adds on top of the base, one commit after the other, each as its author wrote it.
    pub fn rebase(&self, base: &Sha, head: &Sha) -> Result<Sha, MergeError> {
        let range = format!("{base}..{head}");
        let listed = self.ask(UntrustedTree::RevList, &["--reverse", "--topo-order", "--no-merges", &range], None)?;
        let commits: Vec<Sha> = listed.lines().map(Sha::from).collect();
        if commits.len() > MOST_REPLAYED {
            return Err(MergeError::TooMany(commits.len()));
        }
        let mut tip = base.clone();
        for commit in commits {
            let parent = self.repository.first_parent(&commit)?;
            tip = if parent.as_ref() == Some(&tip) { commit } else { self.replay(&commit, parent.as_ref(), &tip)? };
        }
        Ok(tip)
    }

    fn replay(&self, commit: &Sha, parent: Option<&Sha>, onto: &Sha) -> Result<Sha, MergeError> {
        let old = match parent {
            Some(parent) => self.tree_of(parent)?,
            None => self.repository.empty_tree()?,
        };
        let (ours, theirs) = (self.tree_of(onto)?, self.tree_of(commit)?);
        let tree = self.tree_between(&old, &ours, &theirs).map_err(|error| match error {
            MergeError::Conflicts(paths) => MergeError::Replay { commit: commit.clone(), paths },
            other => other,
        })?;
        // What the base has already is not said twice; a commit that was empty from the start is meant to be.
        if tree == ours && theirs != old {
            return Ok(onto.clone());
        }
        let original = self.git(UntrustedTree::CatFile).args(["commit", commit.as_str()]).run(None)?;
        let committer = self.ask(UntrustedTree::Var, &["GIT_COMMITTER_IDENT"], None)?;
        let copy = rewritten(&original, &tree, onto, &committer);
        Ok(Sha(self.ask(UntrustedTree::HashObject, &["-t", "commit", "-w", "--stdin"], Some(&copy))?))
    }

    /// A merge with a base of our choice. `merge-tree --merge-base` came with git 2.40; two commits that part at a third one say the
    /// same to every git that we support.
    fn tree_between(&self, old: &Sha, ours: &Sha, theirs: &Sha) -> Result<Sha, MergeError> {
        let base = self.commit(old, &[], &self.by, "base")?;
        let ours = self.commit(ours, &[&base], &self.by, "ours")?;
        let theirs = self.commit(theirs, &[&base], &self.by, "theirs")?;
        self.tree(&ours, &theirs)
    }

    fn tree_of(&self, commit: &Sha) -> Result<Sha, GitError> {
        Ok(Sha(self.ask(UntrustedTree::RevParse, &["--verify", "--quiet", &format!("{commit}^{{tree}}")], None)?))
    }

    fn commit(&self, tree: &Sha, parents: &[&Sha], author: &Signature, message: &str) -> Result<Sha, GitError> {
        let asked = author.writes(self.git(UntrustedTree::CommitTree)).arg(tree.as_str());
        let asked = parents.iter().fold(asked, |asked, parent| asked.args(["-p", parent.as_str()]));
        Ok(Sha(asked.args(["-F", "-"]).run_text(Some(message.as_bytes()))?))
    }
}

impl Repository {
    /// Whether the head can be merged into the base without conflicts. Leaves no object behind.
    pub fn merges_cleanly(&self, base: &Sha, head: &Sha, by: Signature) -> Result<bool, GitError> {
        if let Some(answer) = self.cache().merges.get(&(base.clone(), head.clone())) {
            return Ok(*answer);
        }
        let is_clean = match Merger::trial(self, by).map_err(MergeError::from).and_then(|merger| merger.tree(base, head)) {
            Ok(_) => true,
            Err(MergeError::Conflicts(_) | MergeError::Replay { .. } | MergeError::TooMany(_)) => false,
            Err(MergeError::Git(error)) => return Err(error),
        };
        ObjectCache::keep_pair(&mut self.cache().merges, (base, head), is_clean);
        Ok(is_clean)
    }
}

/// `<tree> NUL`, and on a conflict the files that have one, each with a NUL.
fn merged(answer: Output) -> Result<Sha, MergeError> {
    let mut parts = answer.stdout.split(|byte| *byte == 0).filter(|part| !part.is_empty());
    let tree = parts.next().map(|id| String::from_utf8_lossy(id).into_owned()).filter(|id| id.len() >= 40);
    match tree {
        Some(tree) if answer.success => Ok(Sha(tree)),
        Some(_) => {
            let mut paths: Vec<RepoPath> = parts.map(|path| RepoPath(text_of(path))).collect();
            paths.dedup();
            Err(MergeError::Conflicts(paths))
        }
        None => Err(GitError::Failed { command: "merge-tree".into(), message: answer.stderr }.into()),
    }
}

/// The same author, encoding and words in another place. A signature would no longer be true, and is left out.
fn rewritten(original: &[u8], tree: &Sha, parent: &Sha, committer: &str) -> Vec<u8> {
    let end = original.windows(2).position(|pair| pair == b"\n\n").unwrap_or(original.len());
    let (headers, message) = original.split_at(end);
    let header =
        |name: &[u8]| headers.split(|byte| *byte == b'\n').find(|line| line.starts_with(name)).unwrap_or_default().to_vec();
    let (author, encoding) = (header(b"author "), header(b"encoding "));
    let mut copy = format!("tree {tree}\nparent {parent}\n").into_bytes();
    copy.extend(author);
    copy.extend(format!("\ncommitter {committer}").into_bytes());
    if !encoding.is_empty() {
        copy.push(b'\n');
        copy.extend(encoding);
    }
    copy.extend(message);
    copy
}
