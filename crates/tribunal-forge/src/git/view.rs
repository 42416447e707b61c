//! A person's repository as git is shown it: its refs, objects, index and files, under a configuration of ours.
//!
//! git looks for the configuration, the hooks, `info/` and `shallow` in the common directory (`GIT_COMMON_DIR`), and for `HEAD`, the
//! index and the refs in the git directory itself. So the common directory is a temporary folder of ours, which holds the allowed
//! settings and links to the two lists that a review needs: `info/exclude` and `shallow`.
//!
//! Before that, the folders are checked: a `.git` that leads to another repository, or a work tree that is not the folder around
//! it, would hand files to reviewers that the person did not mean.

use super::class::{NoRepository, no_repository};
use super::own_folder::OwnFolder;
use super::settings::Settings;
use super::work_file::{MAX_TEXT_BYTES, WorkFileError, read_regular_file};
use super::{GitError, Repository};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

#[derive(Debug)]
pub(super) struct View {
    folder: OwnFolder,
    pub settings: Settings,
    /// Filters by name, once they were asked for.
    filters: OnceLock<BTreeSet<String>>,
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
        Ok(Self { folder, settings, filters: OnceLock::new() })
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
struct Folders {
    git_dir: PathBuf,
    common_dir: PathBuf,
}

impl Repository {
    /// Finds the repository around a folder.
    pub fn discover(start: &Path) -> Result<Self, GitError> {
        let start = fs::canonicalize(start).map_err(|_| GitError::NotARepository(start.to_path_buf()))?;
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
    pub(super) fn filters(&self) -> Result<&BTreeSet<String>, GitError> {
        static NONE: BTreeSet<String> = BTreeSet::new();
        let Some(view) = &self.view else { return Ok(&NONE) };
        if let Some(known) = view.filters.get() {
            return Ok(known);
        }
        // Exit code 1 says that there is none.
        let asked = self.on_tree(super::class::UntrustedTree::Config).args(["-z", "--name-only", "--get-regexp", r"^filter\."]);
        let listed = String::from_utf8_lossy(&asked.output(None)?.stdout).into_owned();
        let name = |key: &str| Some(key.strip_prefix("filter.")?.rsplit_once('.')?.0.to_owned());
        let mut names: BTreeSet<String> = listed.split('\0').filter_map(name).collect();
        names.extend(view.settings.filters().map(str::to_owned));
        Ok(view.filters.get_or_init(|| names))
    }

    /// Refuses to write where a link leads out of the git directory.
    pub(super) fn refuse_links(&self, paths: &[&str]) -> Result<(), GitError> {
        for path in paths {
            let mut step = self.common_dir.clone();
            for name in path.split('/') {
                step.push(name);
                if fs::symlink_metadata(&step).is_ok_and(|found| found.is_symlink()) {
                    return Err(GitError::Link(step));
                }
            }
        }
        Ok(())
    }
}

fn found(start: &Path) -> Result<Folders, GitError> {
    let ask = |more: &[&str]| {
        let asked = no_repository(NoRepository::RevParse, start);
        let asked = more.iter().fold(asked, |asked, setting| asked.setting(*setting));
        asked.args(["--path-format=absolute", "--git-dir", "--git-common-dir"]).output(None)
    };
    let mut answer = ask(&[])?;
    if !answer.success && answer.stderr.contains("bare repository") {
        // A bare repository that comes with the files of another one is content, not the repository that the person means.
        if let Some(outer) = start.ancestors().find(|folder| is_embedded_in(start, folder)) {
            return Err(GitError::Embedded { inside: outer.to_path_buf() });
        }
        answer = ask(&["safe.bareRepository=all"])?;
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

/// Objects of another repository are used only if the person said so: the other one may hold what is not meant for reviewers. They are
/// borrowed by a list, or by a link in the place of a folder of this repository.
fn borrowed_objects(folders: &Folders) -> Result<(), GitError> {
    let (listed, linked) = (alternates(&folders.common_dir)?, links_away(folders));
    if listed.is_empty() && linked.is_empty() {
        return Ok(());
    }
    let asked = no_repository(NoRepository::Config, Path::new("/")).args(["--global", "-z", "--get-all", "tribunal.alternates"]);
    let allowed = String::from_utf8_lossy(&asked.output(None)?.stdout).into_owned();
    let allowed: Vec<PathBuf> = allowed.split('\0').filter_map(|path| fs::canonicalize(path).ok()).collect();
    let is_allowed = |folder: &PathBuf| fs::canonicalize(folder).is_ok_and(|folder| allowed.contains(&folder));
    if let Some(folder) = listed.into_iter().find(|folder| !is_allowed(folder)) {
        return Err(GitError::Alternates(fs::canonicalize(&folder).unwrap_or(folder)));
    }
    match linked.into_iter().find(|(_, target)| !allowed.contains(target)) {
        None => Ok(()),
        Some((link, target)) => Err(GitError::LinkedAway { link, target }),
    }
}

/// What `objects/info/alternates` lists.
fn alternates(common_dir: &Path) -> Result<Vec<PathBuf>, GitError> {
    let objects = common_dir.join("objects");
    let list = objects.join("info/alternates");
    match fs::metadata(&list) {
        Err(_) => return Ok(Vec::new()),
        Ok(found) if !found.is_file() => return Err(GitError::Redirected(list)),
        Ok(_) => {}
    }
    let failed = |error: WorkFileError| GitError::Io {
        what: "the list of alternates cannot be read".to_owned(),
        source: std::io::Error::other(error.to_string()),
    };
    let text = read_regular_file(&list, MAX_TEXT_BYTES).map_err(failed)?;
    let text = String::from_utf8_lossy(&text);
    let folders = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    Ok(folders.map(|line| objects.join(line)).collect())
}

/// Links in the places of objects and refs that lead out of the git directory, as `git-new-workdir` makes them, and where each leads. A
/// link to another ref of the same repository is one that git writes itself.
fn links_away(folders: &Folders) -> Vec<(PathBuf, PathBuf)> {
    let mut found = Vec::new();
    let mut git_dirs = vec![&folders.common_dir];
    git_dirs.extend(Some(&folders.git_dir).filter(|git_dir| **git_dir != folders.common_dir));
    let Ok(real) = fs::canonicalize(&folders.common_dir) else { return found };
    for git_dir in git_dirs {
        let mut look = |path: PathBuf| {
            if fs::symlink_metadata(&path).is_ok_and(|about| about.is_symlink())
                && let Ok(target) = fs::canonicalize(&path)
                && !target.starts_with(&real)
            {
                found.push((path, target));
            }
        };
        ["objects", "refs", "packed-refs"].into_iter().for_each(|name| look(git_dir.join(name)));
        // Loose objects lie one folder deep; a link in place of a single one would have to know its id.
        for folder in ["objects", "objects/info", "objects/pack"] {
            entries(&git_dir.join(folder)).filter(|(_, kind)| kind.is_symlink()).for_each(|(path, _)| look(path));
        }
        let mut refs = vec![git_dir.join("refs")];
        while let Some(folder) = refs.pop().filter(|folder| !folder.is_symlink()) {
            for (path, kind) in entries(&folder) {
                if kind.is_dir() {
                    refs.push(path);
                } else if kind.is_symlink() {
                    look(path);
                }
            }
        }
    }
    found
}

fn entries(folder: &Path) -> impl Iterator<Item = (PathBuf, fs::FileType)> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| Some((entry.path(), entry.file_type().ok()?)))
}
