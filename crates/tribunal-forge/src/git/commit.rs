//! Commits that are made without a work tree, in our own clone, and pushed only onto the head they were made for.

use super::class::{TrustedClone, UntrustedTree};
use super::write::Signature;
use super::{GitError, Repository};
use std::collections::BTreeMap;
use tribunal_core::ids::{RepoPath, Sha};
use tribunal_core::publish::outgoing::Outgoing;
use tribunal_core::pull::pushable::Pushable;

/// What came of a push.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pushed {
    Landed,
    /// The branch is no longer where it was; nothing was pushed.
    Moved,
    Refused(String),
}

impl Repository {
    /// Commits these files on top of a commit; everything else stays as it is there. Nothing points to it yet.
    pub fn commit_files(
        &self,
        onto: &Sha,
        files: &BTreeMap<RepoPath, String>,
        by: &Signature,
        message: &Outgoing,
    ) -> Result<Sha, GitError> {
        let folder = tempfile::tempdir().map_err(|source| GitError::Io { what: "no folder for an index".into(), source })?;
        let index = folder.path().join("index");
        let staged = |what, args: &[&str], input: Option<&[u8]>| {
            self.on_tree(what).env("GIT_INDEX_FILE", &index).args(args).run(input).map_err(|error| self.explained(error))
        };
        self.refuse_links(&["objects"])?;
        staged(UntrustedTree::ReadTree, &[onto.as_str()], None)?;
        for (path, text) in files {
            let blob = self.store_blob(text)?;
            let mode = self.mode_at(onto, path).unwrap_or_else(|| "100644".to_owned());
            let entry = format!("{mode} {blob}\t{path}\0");
            staged(UntrustedTree::UpdateIndex, &["-z", "--add", "--index-info"], Some(entry.as_bytes()))?;
        }
        let tree = String::from_utf8_lossy(&staged(UntrustedTree::WriteTree, &["--missing-ok"], None)?).trim().to_owned();
        let asked = by.commits(by.writes(self.on_tree(UntrustedTree::CommitTree)));
        // The time of the parent and not of the clock: doing it again gives the same commit.
        let time = self.ask_text(UntrustedTree::Show, ["-s", "--no-show-signature", "--format=%ct", onto.as_str()])?;
        let date = format!("@{} +0000", time.trim());
        let asked = asked.env("GIT_AUTHOR_DATE", &date).env("GIT_COMMITTER_DATE", &date);
        Ok(Sha(asked.args([&tree, "-p", onto.as_str(), "-F", "-"]).run_text(Some(message.as_bytes()))?))
    }

    fn store_blob(&self, text: &str) -> Result<String, GitError> {
        self.on_tree(UntrustedTree::HashObject).args(["-w", "--stdin", "--no-filters"]).run_text(Some(text.as_bytes()))
    }

    /// Only plain files are rewritten; what a link points to or a submodule holds is not ours to change.
    fn mode_at(&self, commit: &Sha, path: &RepoPath) -> Option<String> {
        let listed = self.ask_text(UntrustedTree::LsTree, [commit.as_str(), "--", path.as_str()]).ok()?;
        let mode = listed.split_whitespace().next()?;
        matches!(mode, "100644" | "100755").then(|| mode.to_owned())
    }

    /// Is it a plain file there, or nothing at all?
    pub fn may_be_rewritten(&self, commit: &Sha, path: &RepoPath) -> bool {
        let listed = self.ask_text(UntrustedTree::LsTree, [commit.as_str(), "--", path.as_str()]).unwrap_or_default();
        listed.is_empty() || matches!(listed.split_whitespace().next(), Some("100644" | "100755"))
    }

    /// Keeps commits that nothing else points to.
    pub fn keep(&self, name: &str, commit: &Sha) -> Result<(), GitError> {
        let name = format!("refs/tribunal/{name}");
        self.refuse_linked_ref(&name)?;
        self.ask(UntrustedTree::UpdateRef, [&name, commit.as_str()]).map(drop)
    }

    pub fn let_go(&self, name: &str) -> Result<(), GitError> {
        let name = format!("refs/tribunal/{name}");
        self.refuse_linked_ref(&name)?;
        self.ask(UntrustedTree::UpdateRef, ["-d", &name]).map(drop)
    }

    pub fn kept(&self, name: &str) -> Option<Sha> {
        self.commit(&format!("refs/tribunal/{name}")).ok()
    }

    /// The patch from one commit to another, as a diff.
    pub fn patch_between(&self, old: &Sha, new: &Sha) -> Result<Vec<u8>, GitError> {
        let args = ["-r", "-p", "--no-commit-id", "--no-ext-diff", "--no-textconv", "--no-color", "--full-index"];
        let sides = ["--no-renames", "--src-prefix=a/", "--dst-prefix=b/", old.as_str(), new.as_str()];
        self.comparing(old, new, |git| git.args(args).args(sides))
    }

    /// Pushes to the forge that this clone was made from. git compares and swaps: a branch that moved is left alone.
    pub fn push(&self, branch: &Pushable, new: &Sha) -> Result<Pushed, GitError> {
        let (full, expected) = (format!("refs/heads/{}", branch.branch()), branch.head());
        let asked = self.in_clone(TrustedClone::Push)?.args(["--porcelain", "--quiet", "--no-verify"]);
        let lease = format!("--force-with-lease={full}:{expected}");
        let answer = asked.args([lease.as_str(), "origin", &format!("{new}:{full}")]).output(None)?;
        if answer.success {
            return Ok(Pushed::Landed);
        }
        // Where the branch stands says more than the words: a push that was cut off may still be under way on the other side, and
        // refuses the one that repeats it.
        match self.tip_there(&full) {
            Some(tip) if tip == *new => return Ok(Pushed::Landed),
            Some(tip) if tip != *expected => return Ok(Pushed::Moved),
            Some(_) | None => {}
        }
        let said = format!("{}\n{}", String::from_utf8_lossy(&answer.stdout), answer.stderr);
        if said.contains("stale info") || said.contains("fetch first") || said.contains("non-fast-forward") {
            return Ok(Pushed::Moved);
        }
        let tells = |line: &&str| !line.is_empty() && !line.contains("alternate object path");
        Ok(Pushed::Refused(said.lines().map(str::trim).filter(tells).collect::<Vec<_>>().join(" ")))
    }

    /// Where the forge has a branch now, if it says.
    fn tip_there(&self, full: &str) -> Option<Sha> {
        let listed = self.in_clone(TrustedClone::LsRemote).ok()?.args(["--quiet", "origin", full]).run_text(None).ok()?;
        listed.split_whitespace().next().map(Sha::from)
    }
}
