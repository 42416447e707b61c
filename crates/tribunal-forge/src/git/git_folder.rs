//! The files of a git directory, looked at before git opens them: whoever made the archive that it was unpacked from chose what they are.

use super::GitError;
use super::class::{NoRepository, no_repository};
use super::view::Folders;
use super::work_file::{MAX_TEXT_BYTES, WorkFileError, read_regular_file};
use std::fs;
use std::path::{Path, PathBuf};

/// Folders that git reads and writes. The others (hooks, submodules, large files) are never opened by a command of ours.
const READ_FOLDERS: [&str; 5] = ["objects", "refs", "reftable", "logs", "info"];

/// Refuses pipes, sockets and devices where git expects a file: opening one can wait for ever. Before the first call of git.
pub(super) fn refuse_special_files(start: &Path) -> Result<(), GitError> {
    for git_dir in git_dirs_near(start)? {
        // The monitor of files that comes with git listens there; nobody asks it.
        let is_asked = |path: &Path| path.extension().is_none_or(|ending| ending != "ipc");
        let files = entries(&git_dir).filter(|(path, kind)| !kind.is_dir() && is_asked(path));
        if let Some((path, _)) = files.chain(below(&git_dir, &READ_FOLDERS)).find(|(path, kind)| is_special(path, *kind)) {
            return Err(GitError::SpecialFile(path));
        }
    }
    Ok(())
}

fn is_special(path: &Path, kind: fs::FileType) -> bool {
    let is_plain = |kind: fs::FileType| kind.is_file() || kind.is_dir();
    // A link that leads nowhere opens nothing.
    if kind.is_symlink() { fs::metadata(path).is_ok_and(|found| !is_plain(found.file_type())) } else { !is_plain(kind) }
}

/// The git directories that git could take for the one around a folder, with those that they share with other work trees.
fn git_dirs_near(start: &Path) -> Result<Vec<PathBuf>, GitError> {
    let mut found = Vec::new();
    for folder in start.ancestors() {
        let own = folder.join(".git");
        if let Ok(about) = fs::metadata(&own) {
            found.push(if about.is_dir() { own } else { named_in(&own, "gitdir: ", folder)? });
            break;
        }
        if folder.join("objects").is_dir() {
            found.push(folder.to_path_buf());
        }
    }
    for git_dir in found.clone() {
        let common = git_dir.join("commondir");
        if fs::symlink_metadata(&common).is_ok() {
            found.push(named_in(&common, "", &git_dir)?);
        }
    }
    Ok(found)
}

/// The path in a file of one line.
fn named_in(file: &Path, before: &str, folder: &Path) -> Result<PathBuf, GitError> {
    let text = match read_regular_file(file, MAX_TEXT_BYTES) {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(WorkFileError::NotRegular(path)) => return Err(GitError::SpecialFile(path)),
        // Whatever else is wrong with it, git says it better.
        Err(_) => String::new(),
    };
    let text = text.trim_end();
    Ok(folder.join(text.strip_prefix(before).unwrap_or(text)))
}

/// Everything below some folders of a git directory. No link is followed.
fn below<'a>(git_dir: &'a Path, folders: &'a [&str]) -> impl Iterator<Item = (PathBuf, fs::FileType)> + 'a {
    let tops = folders.iter().map(|name| git_dir.join(name));
    let mut waiting: Vec<PathBuf> = tops.filter(|top| fs::symlink_metadata(top).is_ok_and(|found| found.is_dir())).collect();
    let mut listed = Vec::new();
    std::iter::from_fn(move || {
        loop {
            if let Some((path, kind)) = listed.pop() {
                let kind: fs::FileType = kind;
                if kind.is_dir() {
                    waiting.push(path);
                    continue;
                }
                return Some((path, kind));
            }
            listed.extend(entries(&waiting.pop()?));
        }
    })
}

/// Objects of another repository are used only if the person said so: the other one may hold what is not meant for reviewers. They are
/// borrowed by a list, or by a link in the place of a folder of this repository.
pub(super) fn borrowed_objects(folders: &Folders) -> Result<(), GitError> {
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
    // As git has it: nothing is trimmed, and a comment begins with the first byte of its line.
    let folders: Vec<&str> = text.split('\n').filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
    // git takes the quotes off, and what comes after the closing one for another folder. It never writes them itself.
    if folders.iter().any(|line| line.starts_with('"')) {
        return Err(GitError::Redirected(list));
    }
    Ok(folders.into_iter().map(|line| objects.join(line)).collect())
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
        below(git_dir, &["objects", "refs", "reftable"]).filter(|(_, kind)| kind.is_symlink()).for_each(|(path, _)| look(path));
    }
    found
}

fn entries(folder: &Path) -> impl Iterator<Item = (PathBuf, fs::FileType)> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| Some((entry.path(), entry.file_type().ok()?)))
}
