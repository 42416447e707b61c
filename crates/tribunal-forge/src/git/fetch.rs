//! A bare clone of our own for each project on a forge: commits and trees of what was fetched, and of files only those that somebody
//! looks at. Diffs come from here, so no limit of an API applies, and a fork that was deleted is read like any other.
//!
//! Nothing in it is ever checked out, no hook runs, no submodule is followed, and only HTTP is spoken.

use super::{GitError, Repository, command, output};
use crate::port::GitSource;
use std::collections::BTreeSet;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;
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
            ("protocol.allow".to_owned(), "never".to_owned()),
            ("protocol.https.allow".to_owned(), "always".to_owned()),
            ("protocol.http.allow".to_owned(), "always".to_owned()),
            // A redirect would carry the token to whoever is named there.
            ("http.followRedirects".to_owned(), "false".to_owned()),
            ("gc.auto".to_owned(), "0".to_owned()),
            ("maintenance.auto".to_owned(), "false".to_owned()),
        ];
        if let Some(authorization) = &source.authorization {
            settings.push(("http.extraHeader".to_owned(), format!("Authorization: {authorization}")));
            // With a token of ours nobody else's credentials are wanted.
            settings.push(("credential.helper".to_owned(), String::new()));
        }
        Remote { settings }
    }

    pub(super) fn apply(&self, command: &mut std::process::Command) {
        command.env("GIT_CONFIG_COUNT", self.settings.len().to_string());
        for (n, (key, value)) in self.settings.iter().enumerate() {
            command.env(format!("GIT_CONFIG_KEY_{n}"), key).env(format!("GIT_CONFIG_VALUE_{n}"), value);
        }
    }
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
            std::fs::create_dir_all(beside).map_err(io)?;
            // Made aside and moved into place whole: another process may be doing the same.
            let made = tempfile::Builder::new().prefix(".new-").tempdir_in(beside).map_err(io)?;
            let mut init = command(made.path());
            init.args(["init", "--quiet", "--bare", "--template=", "."]);
            Self::checked(Some(&"init".into()), output(init, None)?)?;
            if std::fs::rename(made.path(), folder).is_ok() {
                let _ = made.keep();
            }
        }
        let folder = std::fs::canonicalize(folder).map_err(io)?;
        Ok(Self {
            work_tree: None,
            git_dir: folder.clone(),
            common_dir: folder,
            snapshots: None,
            remote: Some(Arc::new(Remote::of(source))),
            compared: Arc::default(),
        })
    }

    /// Fetches base and head, unless both are here. Returns what they are then: another head where somebody pushed meanwhile, and
    /// the branch's tip where the base was thrown away.
    pub fn fetch_pull(&self, source: &GitSource, base: &Sha, head: &Sha) -> Result<Fetched, GitError> {
        if self.missing(&BTreeSet::from([base.0.clone(), head.0.clone()]))?.is_empty() {
            return Ok(Fetched { base: base.clone(), head: head.clone() });
        }
        let lock = self.lock()?;
        let name = source.head_ref.replace('/', "-");
        let (here_base, here_head) = (format!("refs/tribunal/base/{name}"), format!("refs/tribunal/head/{name}"));
        // What was pushed since the last time is small, and its files come along; a first time brings the whole history, without.
        let filter = if self.commit(&here_head).is_ok() { SMALL_FILES } else { NO_FILES };
        self.fetch(&[format!("+{}:{here_base}", source.base_ref), format!("+{}:{here_head}", source.head_ref)], filter, None)?;
        drop(lock);
        let base = if self.has_here(base)? { base.clone() } else { self.commit(&here_base)? };
        let at_ref = self.commit(&here_head)?;
        // Behind a newer one lies the one that was asked for. Where it does not, the ref lags: some forges move it after the push.
        let lags = at_ref != *head && !self.has_here(head)? && self.fetch_commit(head);
        Ok(Fetched { base, head: if lags { head.clone() } else { at_ref } })
    }

    /// Where the base branch is now. What a forge says of a pull request's base may be of an earlier day.
    pub fn fetch_base(&self, source: &GitSource) -> Result<Sha, GitError> {
        let here = format!("refs/tribunal/tip/{}", source.base_ref.replace('/', "-"));
        let lock = self.lock()?;
        self.fetch(&[format!("+{}:{here}", source.base_ref)], NO_FILES, None)?;
        drop(lock);
        self.commit(&here)
    }

    /// Asks for a commit that may still be on the forge, such as the head before a force-push.
    pub fn fetch_commit(&self, sha: &Sha) -> bool {
        let is_id = sha.as_str().len() >= 40 && sha.as_str().bytes().all(|byte| byte.is_ascii_hexdigit());
        let has = || self.has_here(sha).unwrap_or(false);
        has()
            || (is_id
                && self.remote.is_some()
                && self.lock().and_then(|_lock| self.fetch(std::slice::from_ref(&sha.0), NO_FILES, None)).is_ok()
                && has())
    }

    /// Brings the files that differ between these trees, all of them in one request.
    pub fn bring_changed(&self, base: &Sha, head: &Sha) -> Result<(), GitError> {
        if self.remote.is_none() {
            return Ok(());
        }
        let raw = self.run_text(["diff-tree", "-r", "--raw", "--no-renames", "--no-abbrev", base.as_str(), head.as_str()])?;
        let ids = raw.lines().filter_map(|line| {
            let mut words = line.trim_start_matches(':').split_whitespace();
            let (old_mode, new_mode) = (words.next()?, words.next()?);
            let (old, new) = (words.next()?, words.next()?);
            // A submodule's commit is not in this repository.
            Some([(old_mode, old), (new_mode, new)].into_iter().filter(|(mode, _)| !matches!(*mode, "160000" | "000000")))
        });
        self.bring(ids.flatten().map(|(_, id)| id.to_owned()).collect())
    }

    /// Brings every file of a tree.
    pub fn bring_tree(&self, tree: &Sha) -> Result<(), GitError> {
        if self.remote.is_none() {
            return Ok(());
        }
        let listed = self.run_text(["ls-tree", "-r", "--format=%(objecttype) %(objectname)", tree.as_str()])?;
        self.bring(listed.lines().filter_map(|line| line.strip_prefix("blob ")).map(str::to_owned).collect())
    }

    pub(super) fn bring(&self, ids: BTreeSet<String>) -> Result<(), GitError> {
        let missing = self.missing(&ids)?;
        if missing.is_empty() {
            return Ok(());
        }
        let _lock = self.lock()?;
        self.fetch(&["--stdin".to_owned()], NO_FILES, Some(missing.join("\n") + "\n"))
    }

    /// Which of these are not here, without asking the forge for them.
    fn missing(&self, ids: &BTreeSet<String>) -> Result<Vec<String>, GitError> {
        let input: String = ids.iter().map(|id| format!("{id}\n")).collect();
        // A remote that may be asked for more is asked for each one, and setting it to false in front takes nothing back.
        let mut asked = self.git_here();
        asked.args(["cat-file", "--batch-check"]);
        let answer = Self::checked(Some(&"cat-file".into()), output(asked, Some(input.as_bytes()))?)?;
        let text = String::from_utf8_lossy(&answer);
        Ok(text.lines().filter_map(|line| line.strip_suffix(" missing")).map(str::to_owned).collect())
    }

    fn has_here(&self, sha: &Sha) -> Result<bool, GitError> {
        Ok(self.missing(&BTreeSet::from([sha.0.clone()]))?.is_empty())
    }

    fn fetch(&self, what: &[String], filter: &str, input: Option<String>) -> Result<(), GitError> {
        let mut asked = self.git();
        if input.is_some() {
            // These are files and no history: there is nothing to negotiate about.
            asked.args(["-c", "fetch.negotiationAlgorithm=noop"]);
        }
        asked.args(["fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--recurse-submodules=no", filter]);
        asked.arg("origin").args(what);
        let answer = output(asked, input.as_deref().map(str::as_bytes))?;
        if answer.success {
            return Ok(());
        }
        Err(GitError::Fetch(answer.stderr))
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
