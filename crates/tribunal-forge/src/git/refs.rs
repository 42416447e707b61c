//! Names to ids: what is the head, what is the base, what do they have in common.

use super::{GitError, Repository, output};
use tribunal_core::ids::{RepoPath, Sha};

/// A name and the commit that it stands for.
pub struct Named {
    pub commit: Sha,
    /// If the name means more than one thing here: the full name that was taken, and the commit that git would have taken.
    pub instead_of: Option<(String, Sha)>,
}

impl Repository {
    /// The branch that is checked out, or nothing on a detached head.
    pub fn current_branch(&self) -> Option<String> {
        // Not `--short`, which says `heads/x` as soon as there is a tag `x`: the name would change under the branch.
        let full = self.run_text(["symbolic-ref", "--quiet", "HEAD"]).ok()?;
        Some(full.strip_prefix("refs/heads/").unwrap_or(&full).to_owned()).filter(|name| !name.is_empty())
    }

    /// The commit that is checked out; a branch without commits has none.
    pub fn head(&self) -> Result<Sha, GitError> {
        match self.commit("HEAD") {
            Err(GitError::UnknownRevision(_)) => Err(GitError::Unborn(self.current_branch().unwrap_or_else(|| "HEAD".into()))),
            other => other,
        }
    }

    /// Resolves anything a person may type to a commit's full id.
    pub fn commit(&self, revision: &str) -> Result<Sha, GitError> {
        let unknown = || GitError::UnknownRevision(revision.to_owned());
        if revision.is_empty() || revision.contains('\0') {
            return Err(unknown());
        }
        let id = self
            .run_text(["rev-parse", "--verify", "--quiet", "--end-of-options", &format!("{revision}^{{commit}}")])
            .map_err(|_| unknown())?;
        // `rev-parse --end-of-options` echoes the marker in some releases of git.
        id.lines().last().filter(|id| id.len() >= 40).map(Sha::from).ok_or_else(unknown)
    }

    /// Resolves what a person calls a branch. git itself takes a tag before a branch of the same name, and tags come along with
    /// every fetch; here the branch counts, of this repository first, then of a remote.
    pub fn branch_or_commit(&self, name: &str) -> Result<Named, GitError> {
        let plain = self.commit(name);
        let is_id = name.len() >= 40 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
        if is_id || name == "HEAD" || name.starts_with("refs/") {
            return Ok(Named { commit: plain?, instead_of: None });
        }
        for folder in ["refs/heads", "refs/remotes"] {
            let full = format!("{folder}/{name}");
            let Ok(commit) = self.commit(&full) else { continue };
            let instead_of = plain.ok().filter(|other| *other != commit).map(|other| (full, other));
            return Ok(Named { commit, instead_of });
        }
        Ok(Named { commit: plain?, instead_of: None })
    }

    pub fn tree_of(&self, id: &Sha) -> Result<Sha, GitError> {
        Ok(Sha(self.run_text(["rev-parse", "--verify", "--quiet", &format!("{id}^{{tree}}")])?))
    }

    /// Does git still have this object? (PR-25)
    pub fn has(&self, id: &Sha) -> bool {
        self.run(["cat-file", "-e", id.as_str()]).is_ok()
    }

    pub fn empty_tree(&self) -> Result<Sha, GitError> {
        let mut asked = self.git();
        asked.args(["hash-object", "-t", "tree", "--stdin"]);
        let answer = output(asked, Some(b""))?;
        Ok(Sha(String::from_utf8_lossy(&Self::checked(Some(&"hash-object".into()), answer)?).trim().to_owned()))
    }

    /// Read from the commit itself: to `rev-list` a commit at the edge of a shallow clone looks like a first one, and everything
    /// in it would look new.
    pub fn first_parent(&self, commit: &Sha) -> Result<Option<Sha>, GitError> {
        let text = self.run_text(["cat-file", "commit", commit.as_str()])?;
        let headers = text.lines().take_while(|line| !line.is_empty());
        match headers.filter_map(|line| line.strip_prefix("parent ")).map(Sha::from).next() {
            Some(parent) if !self.has(&parent) => Err(GitError::NoParent(commit.clone())),
            found => Ok(found),
        }
    }

    /// Who commits here.
    pub fn user_name(&self) -> Option<String> {
        self.run_text(["config", "--get", "user.name"]).ok().filter(|name| !name.is_empty())
    }

    /// Where the remotes are, `origin` first, then `upstream`.
    pub fn remote_urls(&self) -> Vec<String> {
        let listed = self.run_text(["config", "--get-regexp", r"^remote\..*\.url$"]).unwrap_or_default();
        let mut urls: Vec<(u8, String)> = listed
            .lines()
            .filter_map(|line| line.split_once(' '))
            .map(|(name, url)| match name {
                "remote.origin.url" => (0, url.to_owned()),
                "remote.upstream.url" => (1, url.to_owned()),
                _ => (2, url.to_owned()),
            })
            .collect();
        urls.sort_by_key(|(rank, _)| *rank);
        urls.into_iter().map(|(_, url)| url).collect()
    }

    pub fn is_shallow(&self) -> bool {
        self.run_text(["rev-parse", "--is-shallow-repository"]).is_ok_and(|answer| answer == "true")
    }

    pub fn merge_base(&self, base: &Sha, head: &Sha, base_name: &str, head_name: &str) -> Result<Sha, GitError> {
        self.run_text(["merge-base", base.as_str(), head.as_str()]).ok().filter(|id| !id.is_empty()).map(Sha).ok_or_else(|| {
            GitError::NoMergeBase { base: base_name.to_owned(), head: head_name.to_owned(), shallow: self.is_shallow() }
        })
    }

    /// Where what is checked out left this commit's history; nothing where they have none in common.
    pub fn where_head_left(&self, tip: &Sha) -> Option<Sha> {
        self.run_text(["merge-base", tip.as_str(), "HEAD"]).ok().filter(|id| !id.is_empty()).map(Sha)
    }

    /// The full name of the branch that changes are made against. Full names, so that a tag cannot stand in for a branch.
    pub fn default_branch(&self) -> Result<String, GitError> {
        Ok(self.default_tip()?.0)
    }

    /// The same, and its commit.
    pub fn default_tip(&self) -> Result<(String, Sha), GitError> {
        let named = ["main", "master", "trunk", "develop"];
        match self.first_branch(&named)? {
            Some(found) => Ok(found),
            None => {
                let configured = self.run_text(["config", "--get", "init.defaultBranch"]).unwrap_or_default();
                let found = if configured.is_empty() { None } else { self.first_branch(&[&configured])? };
                found.ok_or(GitError::NoBase)
            }
        }
    }

    /// What a remote calls its head, `origin` first; else the first of these names, remote branches before local ones.
    fn first_branch(&self, names: &[&str]) -> Result<Option<(String, Sha)>, GitError> {
        let mut patterns = vec!["refs/remotes/*/HEAD".to_owned()];
        for name in names {
            patterns.extend([format!("refs/remotes/*/{name}"), format!("refs/heads/{name}")]);
        }
        let mut args = vec!["for-each-ref".to_owned(), "--format=%(objectname)%00%(refname)%00%(symref)".to_owned()];
        args.extend(patterns);
        let listed = self.run_text(args)?;
        let parts = |line: &'_ str| -> Option<(String, String, Sha)> {
            let (id, names) = line.split_once('\0')?;
            let (name, target) = names.split_once('\0')?;
            Some((name.to_owned(), target.to_owned(), Sha::from(id)))
        };
        let refs: Vec<(String, String, Sha)> = listed.lines().filter_map(parts).collect();
        let remote = |name: &str| name.strip_prefix("refs/remotes/").and_then(|rest| rest.split('/').next()).map(str::to_owned);
        // A remote's head that names a branch which was never fetched is not listed at all.
        let mut heads: Vec<_> = refs.iter().filter(|(_, target, _)| !target.is_empty()).collect();
        // `origin` first, then `upstream`, then whatever there is.
        let rank = |name: &str| {
            (remote(name).as_deref() != Some("origin"), remote(name).as_deref() != Some("upstream"), name.to_owned())
        };
        heads.sort_by_key(|(name, ..)| rank(name));
        if let Some((_, target, id)) = heads.first() {
            return Ok(Some((target.clone(), id.clone())));
        }
        for name in names {
            let mut found: Vec<_> = refs.iter().filter(|(full, ..)| full.ends_with(&format!("/{name}"))).collect();
            found.sort_by_key(|(full, ..)| (full.starts_with("refs/heads/"), rank(full)));
            if let Some((full, _, id)) = found.first() {
                return Ok(Some((full.clone(), id.clone())));
            }
        }
        Ok(None)
    }

    /// A file as it stands in a commit or tree, or nothing if it is not there.
    pub fn file_at(&self, id: &Sha, path: &str) -> Option<Vec<u8>> {
        self.run(["cat-file", "blob", &format!("{id}:{path}")]).ok()
    }

    /// Is there a file of this name in a commit or tree?
    pub fn has_file(&self, id: &Sha, path: &RepoPath) -> bool {
        self.files_among(id, &[path.as_str()]).iter().any(|found| found == path)
    }

    /// Those of these files and folders' contents that a commit or tree holds.
    pub fn files_among(&self, id: &Sha, paths: &[&str]) -> Vec<RepoPath> {
        let mut args = vec!["ls-tree", "-r", "-z", "--name-only", "--full-tree", id.as_str(), "--"];
        args.extend(paths);
        let listed = self.run(args).unwrap_or_default();
        listed
            .split(|byte| *byte == 0)
            .filter(|path| !path.is_empty())
            .map(|path| RepoPath(tribunal_core::diff::parse::text_of(path)))
            .collect()
    }

    /// Every path of the index: what git tracks in the work tree.
    pub fn index_paths(&self) -> Result<Vec<RepoPath>, GitError> {
        let listed = self.run(["ls-files", "-z", "--cached"])?;
        let paths = listed.split(|byte| *byte == 0).filter(|path| !path.is_empty());
        Ok(paths.map(|path| RepoPath(tribunal_core::diff::parse::text_of(path))).collect())
    }

    /// Every path of a tree; used to tell whether a repository has tests at all.
    pub fn all_paths(&self, id: &Sha) -> Result<Vec<RepoPath>, GitError> {
        let listed = self.run(["ls-tree", "-r", "-z", "--name-only", id.as_str()])?;
        Ok(listed
            .split(|byte| *byte == 0)
            .filter(|path| !path.is_empty())
            .map(|path| RepoPath(tribunal_core::diff::parse::text_of(path)))
            .collect())
    }
}
