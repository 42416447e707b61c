//! A bare clone of our own for each project on a forge: commits and trees of what was fetched, and of files only those that somebody
//! looks at. Diffs come from here, so no limit of an API applies, and a fork that was deleted is read like any other.
//!
//! Nothing in it is ever checked out, no hook runs, no submodule is followed, and only HTTP is spoken.

use super::bounded::{self, Bounds, NOT_TOO_SLOW};
use super::class::{Git, NoRepository, TrustedClone, UntrustedTree, no_repository};
use super::object_cache;
use super::{GitError, Repository};
use crate::port::GitSource;
use std::collections::BTreeSet;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use tribunal_core::findings::key::sha256_hex;
use tribunal_core::ids::Sha;

/// How git reaches the forge. Given through the environment: arguments can be read by every process of the machine.
#[derive(Debug, Clone)]
pub struct Remote {
    settings: Vec<(String, String)>,
}

impl Remote {
    fn of(source: &GitSource) -> Self {
        let mut settings = vec![
            ("remote.origin.url".to_owned(), source.url.clone()),
            ("remote.origin.promisor".to_owned(), "true".to_owned()),
            ("remote.origin.partialclonefilter".to_owned(), "blob:none".to_owned()),
            // A redirect would carry the token to whoever is named there.
            ("http.followRedirects".to_owned(), "false".to_owned()),
        ];
        if let Some(authorization) = &source.authorization {
            // For this origin alone, whatever else git is made to ask.
            let origin = origin(&source.url);
            settings.push((format!("http.{origin}/.extraHeader"), format!("Authorization: {authorization}")));
            // With a token of ours nobody else's credentials are wanted.
            settings.push(("credential.helper".to_owned(), String::new()));
        }
        Remote { settings }
    }

    /// Only commands that talk to the forge are given this.
    pub(super) fn apply(&self, git: Git<TrustedClone>) -> Git<TrustedClone> {
        self.settings.iter().fold(git, |git, (key, value)| git.setting(key, value))
    }
}

/// `scheme://host:port` of an address, without the name of a user.
fn origin(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("https", url));
    let host = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    format!("{scheme}://{}", host.rsplit('@').next().unwrap_or(host))
}

/// Where a ref of the forge is kept in the clone. Two refs never share a name, whatever stands in theirs.
fn own_ref(kind: &str, theirs: &str) -> String {
    format!("refs/tribunal/{kind}/{}", &sha256_hex(theirs.as_bytes())[..24])
}

const NO_FILES: &str = "--filter=blob:none";
const SMALL_FILES: &str = "--filter=blob:limit=256k";

/// Base and head of a pull request, fetched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fetched {
    pub base: Sha,
    pub head: Sha,
}

impl Repository {
    /// The clone in this folder, made if it is not there.
    pub fn clone_of(folder: &Path, source: &GitSource) -> Result<Self, GitError> {
        let io = |source| GitError::Io { what: format!("{} cannot be made", folder.display()), source };
        if !folder.join("HEAD").is_file() {
            let beside = folder.parent().unwrap_or(folder);
            private_folder(beside).map_err(io)?;
            // Made aside and moved into place whole: another process may be doing the same.
            let made = tempfile::Builder::new().prefix(".new-").tempdir_in(beside).map_err(io)?;
            no_repository(NoRepository::Init, made.path()).args(["--quiet", "--bare", "--template=", "."]).run(None)?;
            if std::fs::rename(made.path(), folder).is_ok() {
                let _ = made.keep();
            }
            object_cache::forget(folder);
        }
        let cache = object_cache::of_clone(folder);
        let folder = std::fs::canonicalize(folder).map_err(io)?;
        private_folder(&folder).map_err(io)?;
        Ok(Self {
            work_tree: None,
            git_dir: folder.clone(),
            common_dir: folder,
            view: None,
            snapshots: None,
            remote: Some(Arc::new(Remote::of(source))),
            cache,
        })
    }

    /// Fetches base and head, unless both are here. Returns what they are then: another head where somebody pushed meanwhile, and
    /// the branch's tip where the base was thrown away.
    pub fn fetch_pull(&self, source: &GitSource, base: &Sha, head: &Sha) -> Result<Fetched, GitError> {
        if self.missing(&BTreeSet::from([base.0.clone(), head.0.clone()]))?.is_empty() {
            return Ok(Fetched { base: base.clone(), head: head.clone() });
        }
        let lock = self.lock()?;
        let (here_base, here_head) = (own_ref("base", &source.head_ref), own_ref("head", &source.head_ref));
        // What was pushed since the last time is small, and its files come along; a first time brings the whole history, without.
        let filter = if self.commit(&here_head).is_ok() { SMALL_FILES } else { NO_FILES };
        self.fetch(&[format!("+{}:{here_base}", source.base_ref), format!("+{}:{here_head}", source.head_ref)], filter, None)?;
        let base = if self.has_here(base)? { base.clone() } else { self.commit(&here_base)? };
        let at_ref = self.commit(&here_head)?;
        // Only now: another process may fetch another pull request's base to the same name.
        drop(lock);
        // Behind a newer one lies the one that was asked for. Where it does not, the ref lags: some forges move it after the push.
        let lags = at_ref != *head && !self.has_here(head)? && self.fetch_commit(head);
        Ok(Fetched { base, head: if lags { head.clone() } else { at_ref } })
    }

    /// Where the base branch is now. What a forge says of a pull request's base may be of an earlier day.
    pub fn fetch_base(&self, source: &GitSource) -> Result<Sha, GitError> {
        let here = own_ref("tip", &source.base_ref);
        let _lock = self.lock()?;
        self.fetch(&[format!("+{}:{here}", source.base_ref)], NO_FILES, None)?;
        self.commit(&here)
    }

    /// Asks for a commit that may still be on the forge, such as the head before a force-push.
    pub fn fetch_commit(&self, sha: &Sha) -> bool {
        let has = || self.has_here(sha).unwrap_or(false);
        has()
            || (sha.is_full()
                && self.remote.is_some()
                && self.lock().and_then(|_lock| self.fetch(std::slice::from_ref(&sha.0), NO_FILES, None)).is_ok()
                && has())
    }

    /// Compares two trees, both of which `how` names. What a clone does not have of them is brought once it is known to be needed.
    pub(super) fn comparing(
        &self,
        old: &Sha,
        new: &Sha,
        how: impl Fn(Git<UntrustedTree>) -> Git<UntrustedTree>,
    ) -> Result<Vec<u8>, GitError> {
        self.check_growth(old, new)?;
        let ask = || how(self.on_tree(UntrustedTree::DiffTree)).run(None);
        match ask() {
            Err(GitError::Failed { .. }) if self.remote.is_some() => {
                self.bring_changed(old, new)?;
                ask()
            }
            answer => answer.map_err(|error| self.explained(error)),
        }
    }

    /// Brings the files that differ between these trees, all of them in one request.
    pub fn bring_changed(&self, base: &Sha, head: &Sha) -> Result<(), GitError> {
        let pair = (base.clone(), head.clone());
        if self.remote.is_none() || self.cache().fetched_pairs.contains(&pair) {
            return Ok(());
        }
        let args = ["-r", "--raw", "-z", "--no-renames", "--no-abbrev", "--no-commit-id", base.as_str(), head.as_str()];
        self.check_growth(base, head)?;
        // Of a change that is too large for a list, the beginning is brought, which is what is read.
        let listed = self.read_entries(self.on_tree(UntrustedTree::DiffTree).args(args))?;
        let ids = listed.entries.iter().flat_map(|entry| {
            let sides = [(&entry.old_mode, &entry.old_id), (&entry.new_mode, &entry.new_id)];
            // A submodule's commit is not in this repository.
            sides.into_iter().filter(|(mode, _)| !matches!(mode.as_str(), "160000" | "000000"))
        });
        self.bring(ids.map(|(_, id)| id.clone()).collect())?;
        if base.is_full() && head.is_full() {
            self.cache().fetched_pairs.insert(pair);
        }
        Ok(())
    }

    /// Brings every file of a tree.
    pub fn bring_tree(&self, tree: &Sha) -> Result<(), GitError> {
        if self.remote.is_none() {
            return Ok(());
        }
        let listed = self.ask_text(UntrustedTree::LsTree, ["-r", "--format=%(objecttype) %(objectname)", tree.as_str()])?;
        self.bring(listed.lines().filter_map(|line| line.strip_prefix("blob ")).map(str::to_owned).collect())
    }

    pub(super) fn bring(&self, ids: BTreeSet<String>) -> Result<(), GitError> {
        if self.remote.is_none() {
            return Ok(());
        }
        let missing = self.missing(&ids)?;
        if missing.is_empty() {
            return Ok(());
        }
        let _lock = self.lock()?;
        self.fetch(&["--stdin".to_owned()], NO_FILES, Some(missing.join("\n") + "\n"))
    }

    /// Which of these are not here, without asking the forge for them.
    fn missing(&self, ids: &BTreeSet<String>) -> Result<Vec<String>, GitError> {
        let unknown: Vec<String> = ids.difference(&self.cache().present).cloned().collect();
        if unknown.is_empty() {
            return Ok(Vec::new());
        }
        let input: String = unknown.iter().map(|id| format!("{id}\n")).collect();
        let answer = self.on_tree(UntrustedTree::CatFile).arg("--batch-check").run(Some(input.as_bytes()))?;
        let text = String::from_utf8_lossy(&answer);
        let (mut present, mut missing) = (Vec::new(), Vec::new());
        for line in text.lines() {
            match line.split_once(' ') {
                Some((id, "missing")) => missing.push(id.to_owned()),
                Some((id, _)) => present.push(id.to_owned()),
                None => return Err(GitError::Hollow(format!("cat-file said `{line}`"))),
            }
        }
        self.cache().add_present(present);
        Ok(missing)
    }

    fn has_here(&self, sha: &Sha) -> Result<bool, GitError> {
        Ok(self.missing(&BTreeSet::from([sha.0.clone()]))?.is_empty())
    }

    fn fetch(&self, what: &[String], filter: &str, input: Option<String>) -> Result<(), GitError> {
        let mut asked =
            NOT_TOO_SLOW.into_iter().fold(self.in_clone(TrustedClone::Fetch)?, |git, (key, value)| git.setting(key, value));
        let bounds = if input.is_some() { Bounds::FILES } else { Bounds::HISTORY };
        if input.is_some() {
            // These are files and no history: there is nothing to negotiate about.
            asked = asked.setting("fetch.negotiationAlgorithm", "noop");
        }
        let asked = asked.args(["--quiet", "--no-tags", "--no-write-fetch-head", "--recurse-submodules=no", filter]);
        let child = asked.arg("origin").args(what).spawn_given(input.unwrap_or_default())?;
        let waited = bounded::wait(child, &self.common_dir.join("objects"), bounds);
        let io = |source| GitError::Io { what: "git fetch could not be watched".into(), source };
        match waited.map_err(io)? {
            (true, _) => Ok(()),
            (false, said) => Err(GitError::Fetch(said)),
        }
    }

    /// One process at a time fetches; git's own locks would make the second one fail.
    fn lock(&self) -> Result<File, GitError> {
        let io = |source| GitError::Io { what: "the lock of the clone cannot be taken".into(), source };
        let file =
            File::options().create(true).truncate(false).write(true).open(self.git_dir.join("tribunal.lock")).map_err(io)?;
        file.lock().map_err(io)?;
        Ok(file)
    }
}

/// A folder that nobody else on this machine can look into, whatever the umask is.
pub(super) fn private_folder(folder: &Path) -> std::io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        if std::fs::metadata(folder)?.permissions().mode() & 0o077 != 0 {
            std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o700))?;
        }
        Ok(())
    }
    #[cfg(not(unix))]
    std::fs::create_dir_all(folder)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::class::Class;

    fn environment<C: Class>(git: Git<C>) -> String {
        let command = git.assembled().unwrap();
        let given = command.get_envs().map(|(name, value)| format!("{name:?}={value:?}\n"));
        given.chain(command.get_args().map(|arg| format!("{arg:?}\n"))).collect()
    }

    /// Issue 16: `release/1` and `release-1` are two branches, here as well.
    #[test]
    fn no_two_refs_share_a_name() {
        let refs = ["refs/heads/release/1", "refs/heads/release-1", "refs-heads-release-1", "refs/heads/Release/1"];
        let names: BTreeSet<String> = refs.iter().map(|theirs| own_ref("tip", theirs).to_lowercase()).collect();
        assert_eq!(names.len(), refs.len());
    }

    /// Issue 16, point 7: only what talks to the forge has the token, and only its own origin is sent it.
    #[test]
    fn the_token_is_given_to_fetch_and_push_alone() {
        let folder = tempfile::tempdir().unwrap();
        let source = GitSource {
            url: "https://git.example.org/a/b.git".into(),
            authorization: Some("Bearer abc123".into()),
            base_ref: "refs/heads/main".into(),
            head_ref: "refs/pull/1/head".into(),
        };
        let clone = Repository::clone_of(&folder.path().join("clone.git"), &source).unwrap();
        for class in [TrustedClone::Fetch, TrustedClone::Push, TrustedClone::LsRemote] {
            let given = environment(clone.in_clone(class).unwrap());
            assert!(given.contains("abc123") && given.contains("http.https://git.example.org/.extraHeader"), "{given}");
            assert!(given.contains("\"GIT_ALLOW_PROTOCOL\"=Some(\"https:http\")"), "{given}");
        }
        for class in [UntrustedTree::CatFile, UntrustedTree::LsTree, UntrustedTree::MergeTree, UntrustedTree::ReadTree] {
            for git in [clone.on_tree(class), clone.on_tree_beside(class, Path::new("/index"))] {
                let given = environment(git);
                assert!(!given.contains("abc123") && !given.contains("extraHeader"), "{given}");
                assert!(
                    given.contains("\"GIT_ALLOW_PROTOCOL\"=Some(\"\")")
                        && given.contains("\"safe.bareRepository\"")
                        && given.contains("\"attr.tree\"")
                        && given.contains("4b825dc642cb6eb9a060e54bf8d69288fbee4904"),
                    "{given}"
                );
            }
        }
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(std::fs::metadata(&clone.git_dir).unwrap().permissions().mode() & 0o777, 0o700);
    }

    /// Issue 16, point 7: the header goes to the forge's own origin and to no other.
    #[test]
    fn the_token_is_bound_to_the_origin() {
        for (url, origin) in [
            ("https://git.example.org/a/b.git", "https://git.example.org"),
            ("http://127.0.0.1:3000/a/b.git", "http://127.0.0.1:3000"),
            ("https://somebody@git.example.org:8443/a", "https://git.example.org:8443"),
        ] {
            assert_eq!(super::origin(url), origin, "{url}");
        }
    }
}
