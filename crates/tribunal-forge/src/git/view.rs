//! A person's repository as git is shown it: its refs, objects, index and files, under a configuration of ours.
//!
//! git looks for the configuration, the hooks, `info/` and `shallow` in the common directory (`GIT_COMMON_DIR`), and for `HEAD`, the
//! index and the refs in the git directory itself. So the common directory is a temporary folder of ours, which holds the allowed
//! settings and links to the two lists that a review needs: `info/exclude` and `shallow`.
//!
//! Before that, the folders are checked: a `.git` that leads to another repository, or a work tree that is not the folder around
//! it, would hand files to reviewers that the person did not mean.

use super::class::{NoRepository, no_repository};
use super::git_folder::{borrowed_objects, refuse_special_files};
use super::own_folder::OwnFolder;
use super::settings::Settings;
use super::work_file::{MAX_TEXT_BYTES, read_regular_file};
use super::{GitError, Repository};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

#[derive(Debug)]
pub(super) struct View {
    folder: OwnFolder,
    pub settings: Settings,
    /// Filters that the person's own configuration defines, by name, once they were asked for.
    persons_filters: OnceLock<BTreeSet<String>>,
}

impl View {
    fn of(common_dir: &Path, settings: Settings) -> Result<Self, GitError> {
        let io = |source| GitError::Io { what: "a temporary folder for git's settings cannot be made".into(), source };
        let folder = OwnFolder::new().map_err(io)?;
        let top = folder.path();
        for name in ["refs", "objects", "info"] {
            fs::create_dir(top.join(name)).map_err(io)?;
        }
        fs::write(top.join("config"), settings.allowed_text()).map_err(io)?;
        // Both are lists: of patterns, and of ids.
        for name in ["info/exclude", "shallow"] {
            link(&common_dir.join(name), &top.join(name)).map_err(io)?;
        }
        Ok(Self { folder, settings, persons_filters: OnceLock::new() })
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

#[cfg(unix)]
fn link(target: &Path, at: &Path) -> std::io::Result<()> {
    // A pipe or a device in their place would never end.
    if fs::metadata(target).is_ok_and(|found| found.is_file()) { std::os::unix::fs::symlink(target, at) } else { Ok(()) }
}

#[cfg(not(unix))]
fn link(target: &Path, at: &Path) -> std::io::Result<()> {
    if fs::metadata(target).is_ok_and(|found| found.is_file()) { fs::copy(target, at).map(drop) } else { Ok(()) }
}

/// The folders of a repository, as git finds them.
pub(super) struct Folders {
    pub git_dir: PathBuf,
    pub common_dir: PathBuf,
}

impl Repository {
    /// Finds the repository around a folder.
    pub fn discover(start: &Path) -> Result<Self, GitError> {
        let start = fs::canonicalize(start).map_err(|_| GitError::NotARepository(start.to_path_buf()))?;
        refuse_special_files(&start)?;
        let folders = found(&start)?;
        let settings = Settings::of(&folders.git_dir, &folders.common_dir)?;
        let work_tree = work_tree(&start, &folders, &settings)?;
        borrowed_objects(&folders)?;
        let view = View::of(&folders.common_dir, settings)?;
        Ok(Self {
            work_tree,
            git_dir: folders.git_dir,
            common_dir: folders.common_dir,
            view: Some(Arc::new(view)),
            snapshots: None,
            remote: None,
            cache: Arc::default(),
        })
    }

    /// Filters that this repository's or the person's configuration defines. None of them is run.
    pub(super) fn filters(&self) -> Result<BTreeSet<String>, GitError> {
        let of_repository = self.view.iter().flat_map(|view| view.settings.filters()).map(str::to_owned);
        Ok(of_repository.chain(self.persons_filters()?.iter().cloned()).collect())
    }

    /// Filters that git knows of: it never reads the repository's own configuration.
    pub(super) fn persons_filters(&self) -> Result<&BTreeSet<String>, GitError> {
        static NONE: BTreeSet<String> = BTreeSet::new();
        let Some(view) = &self.view else { return Ok(&NONE) };
        if let Some(known) = view.persons_filters.get() {
            return Ok(known);
        }
        // Exit code 1 says that there is none.
        let asked = self.on_tree(super::class::UntrustedTree::Config).args(["-z", "--name-only", "--get-regexp", r"^filter\."]);
        let listed = String::from_utf8_lossy(&asked.output(None)?.stdout).into_owned();
        let name = |key: &str| Some(key.strip_prefix("filter.")?.rsplit_once('.')?.0.to_owned());
        Ok(view.persons_filters.get_or_init(|| listed.split('\0').filter_map(name).collect()))
    }

    /// Refuses to write where a link leads out of the git directory. In a linked work tree git has two: a path can lie in either.
    pub(super) fn refuse_links(&self, paths: &[&str]) -> Result<(), GitError> {
        for (folder, path) in
            [&self.git_dir, &self.common_dir].into_iter().flat_map(|folder| paths.iter().map(move |path| (folder, path)))
        {
            let mut step = folder.clone();
            for name in path.split('/') {
                step.push(name);
                if fs::symlink_metadata(&step).is_ok_and(|found| found.is_symlink()) {
                    return Err(GitError::Link(step));
                }
            }
        }
        Ok(())
    }

    /// The same for all that git writes when a ref moves: its log and, if it is checked out, that of `HEAD`.
    pub(super) fn refuse_linked_ref(&self, name: &str) -> Result<(), GitError> {
        self.refuse_links(&[name, &format!("logs/{name}"), "logs/HEAD", "packed-refs"])
    }
}

fn found(start: &Path) -> Result<Folders, GitError> {
    let ask = |bare_repositories: &str| {
        let asked = no_repository(NoRepository::RevParse, start).setting("safe.bareRepository", bare_repositories);
        asked.args(["--path-format=absolute", "--git-dir", "--git-common-dir"]).output(None)
    };
    let mut answer = ask("explicit")?;
    if !answer.success && answer.stderr.contains("bare repository") {
        // A bare repository that comes with the files of another one is content, not the repository that the person means.
        if let Some(outer) = start.ancestors().find(|folder| is_embedded_in(start, folder)) {
            return Err(GitError::Embedded { inside: outer.to_path_buf() });
        }
        answer = ask("all")?;
    }
    if !answer.success {
        if answer.stderr.contains("not a git repository") {
            return Err(GitError::NotARepository(start.to_path_buf()));
        }
        return Err(GitError::Failed { command: "rev-parse".into(), message: answer.stderr });
    }
    let text = String::from_utf8_lossy(&answer.stdout).into_owned();
    let mut lines = text.lines().map(|line| fs::canonicalize(line).unwrap_or_else(|_| PathBuf::from(line)));
    let (Some(git_dir), Some(common_dir)) = (lines.next(), lines.next()) else {
        return Err(GitError::Hollow("rev-parse named no folder".into()));
    };
    Ok(Folders { git_dir, common_dir })
}

/// Does this folder hold a repository of its own that is not the one around the start?
fn is_embedded_in(start: &Path, folder: &Path) -> bool {
    let own = folder.join(".git");
    own.exists() && !start.starts_with(&own)
}

/// The folder whose files belong to this repository: the one that holds `.git`, and only if both sides say so.
fn work_tree(start: &Path, folders: &Folders, settings: &Settings) -> Result<Option<PathBuf>, GitError> {
    let Folders { git_dir, common_dir } = folders;
    let same = |path: PathBuf, other: &Path| fs::canonicalize(path).is_ok_and(|path| path == other);
    let named = settings.get("core", "worktree").map(|path| git_dir.join(path));
    let holder = start.ancestors().find(|folder| fs::symlink_metadata(folder.join(".git")).is_ok());
    let Some(holder) = holder.filter(|holder| same(holder.join(".git"), git_dir) || holder.join(".git").is_file()) else {
        // A bare repository: nothing but its own folder is known to be its.
        return if named.is_none() && common_dir == git_dir { Ok(None) } else { Err(GitError::Redirected(git_dir.clone())) };
    };
    let is_bare = settings.is_true("core", "bare");
    let kind = fs::symlink_metadata(holder.join(".git"));
    if kind.as_ref().is_ok_and(fs::Metadata::is_dir) {
        if common_dir != git_dir {
            return Err(GitError::Redirected(common_dir.clone()));
        }
        return match named {
            Some(named) if !same(named.clone(), holder) => Err(GitError::ForeignWorkTree { named, holder: holder.to_path_buf() }),
            Some(_) => Ok(Some(holder.to_path_buf())),
            None => Ok((!is_bare).then(|| holder.to_path_buf())),
        };
    }
    // A file or a link that leads elsewhere counts if what it leads to names this folder: a linked work tree, a submodule, or a git
    // directory that was put elsewhere when it was made.
    let back = read_regular_file(&git_dir.join("gitdir"), MAX_TEXT_BYTES).ok();
    let back = back.map(|text| PathBuf::from(String::from_utf8_lossy(&text).trim_end()));
    let is_linked = git_dir.parent() == Some(common_dir.join("worktrees").as_path())
        && back.is_some_and(|back| back.parent().is_some_and(|back| same(git_dir.join(back), holder)));
    if is_linked {
        return Ok(Some(holder.to_path_buf()));
    }
    match named {
        Some(named) if common_dir == git_dir && same(named.clone(), holder) => Ok(Some(holder.to_path_buf())),
        None if common_dir == git_dir && is_bare && git_dir.starts_with(holder) => Ok(None),
        _ => Err(GitError::Redirected(git_dir.clone())),
    }
}
