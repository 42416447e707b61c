//! Names to ids: what is the head, what is the base, what do they have in common.

use super::class::{NoRepository, PersonsCheckout, UntrustedTree, no_repository};
use super::{GitError, Repository};
use tribunal_core::ids::{RepoPath, Sha};

/// A name and the commit that it stands for.
pub struct Named {
    pub commit: Sha,
    /// If the name means more than one thing here: the full name that was taken, and the commit that git would have taken.
    pub instead_of: Option<(String, Sha)>,
}

/// The branch that changes are made against.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DefaultTip {
    /// In full: `refs/remotes/origin/main`.
    pub name: String,
    pub commit: Sha,
    /// The remote calls it its head. Else it is guessed by a usual name, which anybody who may push can give to a branch.
    pub is_remote_head: bool,
}

impl Repository {
    /// The branch that is checked out, or nothing on a detached head.
    pub fn current_branch(&self) -> Option<String> {
        // Not `--short`, which says `heads/x` as soon as there is a tag `x`: the name would change under the branch.
        let full = self.ask_text(UntrustedTree::SymbolicRef, ["--quiet", "HEAD"]).ok()?;
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
            .ask_text(UntrustedTree::RevParse, ["--verify", "--quiet", "--end-of-options", &format!("{revision}^{{commit}}")])
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
        let tree = self.ask_cached(UntrustedTree::RevParse, &["--verify", "--quiet", &format!("{id}^{{tree}}")], &[id])?;
        Ok(Sha(String::from_utf8_lossy(&tree).trim_end().to_owned()))
    }

    /// Does git still have this object? (PR-25)
    pub fn has(&self, id: &Sha) -> bool {
        if self.cache().present.contains(id.as_str()) {
            return true;
        }
        let is_here = self.ask(UntrustedTree::CatFile, ["-e", id.as_str()]).is_ok();
        if is_here && id.is_full() {
            self.cache().add_present([id.0.clone()]);
        }
        is_here
    }

    pub fn empty_tree(&self) -> Result<Sha, GitError> {
        Ok(Sha(self.on_tree(UntrustedTree::HashObject).args(["-t", "tree", "--stdin"]).run_text(Some(b""))?))
    }

    /// Read from the commit itself: to `rev-list` a commit at the edge of a shallow clone looks like a first one, and everything
    /// in it would look new.
    pub fn first_parent(&self, commit: &Sha) -> Result<Option<Sha>, GitError> {
        let text = self.ask_text(UntrustedTree::CatFile, ["commit", commit.as_str()])?;
        let headers = text.lines().take_while(|line| !line.is_empty());
        match headers.filter_map(|line| line.strip_prefix("parent ")).map(Sha::from).next() {
            Some(parent) if !self.has(&parent) => Err(GitError::NoParent(commit.clone())),
            found => Ok(found),
        }
    }

    /// Who commits here.
    pub fn user_name(&self) -> Option<String> {
        self.identity("user.name")
    }

    /// A value that says who the person is: of this repository, else of the person, whose file may tell folders apart.
    pub(super) fn identity(&self, key: &str) -> Option<String> {
        let (section, name) = key.split_once('.')?;
        let of_repository = || self.view.as_ref()?.settings.get(section, name).map(str::to_owned);
        let here = self.work_tree.as_deref().unwrap_or(&self.git_dir);
        let of_person =
            || no_repository(NoRepository::Config, here).args(["--global", "--includes", "--get", key]).run_text(None);
        let of_machine = || self.ask_text(UntrustedTree::Config, ["--get", key]);
        let is_said = |value: &String| !value.trim().is_empty();
        of_repository().filter(is_said).or_else(|| of_person().ok().filter(is_said)).or_else(|| of_machine().ok().filter(is_said))
    }

    /// Where the remotes are, `origin` first, then `upstream`.
    pub fn remote_urls(&self) -> Vec<String> {
        let Some(view) = &self.view else { return Vec::new() };
        let rank = |name: &str| match name {
            "origin" => 0,
            "upstream" => 1,
            _ => 2,
        };
        let mut urls: Vec<(u8, String)> =
            view.settings.named("remote", "url").map(|(name, url)| (rank(name), url.to_owned())).collect();
        urls.sort_by_key(|(rank, _)| *rank);
        urls.into_iter().map(|(_, url)| url).collect()
    }

    pub fn is_shallow(&self) -> bool {
        self.ask_text(UntrustedTree::RevParse, ["--is-shallow-repository"]).is_ok_and(|answer| answer == "true")
    }

    pub fn merge_base(&self, base: &Sha, head: &Sha, base_name: &str, head_name: &str) -> Result<Sha, GitError> {
        let found = self.ask_cached(UntrustedTree::MergeBase, &[base.as_str(), head.as_str()], &[base, head]).ok();
        let found =
            found.and_then(|id| String::from_utf8(id).ok()).map(|id| id.trim_end().to_owned()).filter(|id| !id.is_empty());
        found.map(Sha).ok_or_else(|| GitError::NoMergeBase {
            base: base_name.to_owned(),
            head: head_name.to_owned(),
            shallow: self.is_shallow(),
        })
    }

    /// The full name of the branch that changes are made against. Full names, so that a tag cannot stand in for a branch.
    pub fn default_branch(&self) -> Result<String, GitError> {
        Ok(self.default_tip()?.name)
    }

    /// The same, its commit, and how it is known.
    pub fn default_tip(&self) -> Result<DefaultTip, GitError> {
        let named = ["main", "master", "trunk", "develop"];
        match self.first_branch(&named)? {
            Some(found) => Ok(found),
            None => {
                let configured = self.ask_text(UntrustedTree::Config, ["--get", "init.defaultBranch"]).unwrap_or_default();
                let found = if configured.is_empty() { None } else { self.first_branch(&[&configured])? };
                found.ok_or(GitError::NoBase)
            }
        }
    }

    /// What `origin`, else `upstream`, calls its head; else the first of these names, of a remote before local ones. No other
    /// remote counts: whoever adds a contributor's fork does not mean to be told by it what the base is.
    fn first_branch(&self, names: &[&str]) -> Result<Option<DefaultTip>, GitError> {
        let mut args = vec!["--format=%(objectname)%00%(refname)%00%(symref)".to_owned()];
        for remote in ["origin", "upstream"] {
            args.push(format!("refs/remotes/{remote}/HEAD"));
            args.extend(names.iter().map(|name| format!("refs/remotes/{remote}/{name}")));
        }
        args.extend(names.iter().map(|name| format!("refs/heads/{name}")));
        let listed = self.ask_text(UntrustedTree::ForEachRef, args)?;
        let parts = |line: &'_ str| -> Option<(String, String, Sha)> {
            let (id, names) = line.split_once('\0')?;
            let (name, target) = names.split_once('\0')?;
            Some((name.to_owned(), target.to_owned(), Sha::from(id)))
        };
        let refs: Vec<(String, String, Sha)> = listed.lines().filter_map(parts).collect();
        let remote = |name: &str| name.strip_prefix("refs/remotes/").and_then(|rest| rest.split('/').next()).map(str::to_owned);
        // A remote's head that names a branch which was never fetched is not listed at all.
        let is_remote_head = |name: &str, target: &str| {
            let own = remote(name).map(|remote| format!("refs/remotes/{remote}/"));
            own.is_some_and(|own| target.starts_with(&own) && name == format!("{own}HEAD"))
        };
        let mut heads: Vec<_> = refs.iter().filter(|(name, target, _)| is_remote_head(name, target)).collect();
        let rank = |name: &str| (remote(name).as_deref() != Some("origin"), name.to_owned());
        heads.sort_by_key(|(name, ..)| rank(name));
        if let Some((_, target, id)) = heads.first() {
            return Ok(Some(DefaultTip { name: target.clone(), commit: id.clone(), is_remote_head: true }));
        }
        for name in names {
            let is_it = |full: &str| {
                let in_remote = |remote: &str| full == format!("refs/remotes/{remote}/{name}");
                full == format!("refs/heads/{name}") || in_remote("origin") || in_remote("upstream")
            };
            let mut found: Vec<_> = refs.iter().filter(|(full, ..)| is_it(full)).collect();
            found.sort_by_key(|(full, ..)| (full.starts_with("refs/heads/"), rank(full)));
            if let Some((full, _, id)) = found.first() {
                return Ok(Some(DefaultTip { name: full.clone(), commit: id.clone(), is_remote_head: false }));
            }
        }
        Ok(None)
    }

    /// A file as it stands in a commit or tree, or nothing if it is not there.
    pub fn file_at(&self, id: &Sha, path: &str) -> Option<Vec<u8>> {
        let read = || self.ask_cached(UntrustedTree::CatFile, &["blob", &format!("{id}:{path}")], &[id]).ok();
        if self.remote.is_none() {
            return read();
        }
        read().or_else(|| {
            let blob = self.ask_text(UntrustedTree::RevParse, ["--verify", "--quiet", &format!("{id}:{path}")]).ok()?;
            self.bring([blob].into()).ok()?;
            read()
        })
    }

    /// Is there a file of this name in a commit or tree?
    pub fn has_file(&self, id: &Sha, path: &RepoPath) -> bool {
        self.files_among(id, &[path.as_str()]).iter().any(|found| found == path)
    }

    /// Those of these files and folders' contents that a commit or tree holds.
    pub fn files_among(&self, id: &Sha, paths: &[&str]) -> Vec<RepoPath> {
        let mut args = vec!["-r", "-z", "--name-only", "--full-tree", id.as_str(), "--"];
        args.extend(paths);
        let listed = self.ask_cached(UntrustedTree::LsTree, &args, &[id]).unwrap_or_default();
        listed
            .split(|byte| *byte == 0)
            .filter(|path| !path.is_empty())
            .map(|path| RepoPath(tribunal_core::diff::parse::text_of(path)))
            .collect()
    }

    /// Every path of the index: what git tracks in the work tree.
    pub fn index_paths(&self) -> Result<Vec<RepoPath>, GitError> {
        let listed = self.in_checkout(PersonsCheckout::LsFiles)?.args(["-z", "--cached"]).run(None)?;
        let paths = listed.split(|byte| *byte == 0).filter(|path| !path.is_empty());
        Ok(paths.map(|path| RepoPath(tribunal_core::diff::parse::text_of(path))).collect())
    }
}
