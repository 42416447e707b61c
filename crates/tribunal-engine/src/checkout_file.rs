//! Files in a checkout that steer a run: SARIF files that somebody's linter wrote beside the change, plans and their personas. A file
//! that a branch itself brings is not a linter's or a maintainer's word but its author's: an empty SARIF file would make a seat
//! green. So a file that git tracks, or that is reached through a link in the checkout, is refused.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};
use tribunal_core::ids::{RepoPath, Sha};
use tribunal_forge::git::work_file::read_regular_file;
use tribunal_forge::git::{GitError, Repository};

/// More than any linter has to say.
pub const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// The content of a SARIF file, and the folder that absolute paths in it are below. `reviewed` is the head under review and the
/// repository that has it.
pub fn read_sarif(file: &str, reviewed: Option<(&Repository, &Sha)>) -> Result<(Vec<u8>, PathBuf), String> {
    let here = checkout(reviewed.map(|(repository, _)| repository));
    let top = match here.as_ref().and_then(|repository| repository.work_tree.clone()) {
        Some(top) => top,
        None => std::env::current_dir().map_err(|error| format!("the current folder cannot be read: {error}"))?,
    };
    let path = top.join(file);
    check(&path, here.as_ref(), reviewed)?;
    Ok((read_regular_file(&path, MAX_BYTES).map_err(|error| error.to_string())?, top))
}

/// The checkout that files are named from: the one under review, or that of the current folder where our own clone is reviewed.
pub fn checkout(reviewed: Option<&Repository>) -> Option<Repository> {
    match reviewed.filter(|repository| repository.work_tree.is_some()) {
        Some(repository) => Some(repository.clone()),
        None => Repository::discover(&std::env::current_dir().ok()?).ok(),
    }
}

/// Refuses a file that the change could have brought. Outside of a checkout that is one which the reviewed head has, too: its files can
/// have been unpacked there.
pub fn check(path: &Path, here: Option<&Repository>, reviewed: Option<(&Repository, &Sha)>) -> Result<(), String> {
    let Some(top) = here.and_then(|repository| repository.work_tree.as_deref()) else { return check_unpacked(path, reviewed) };
    let named = path.strip_prefix(top).ok();
    if let Some(link) = named.and_then(|named| first_link(top, named)) {
        return Err(format!("{}: {} is a link, which a change can bring; name the file itself", path.display(), link.display()));
    }
    let real = path.canonicalize().ok();
    let real_top = top.canonicalize().ok();
    let resolved = real.as_deref().zip(real_top.as_deref()).and_then(|(real, top)| real.strip_prefix(top).ok());
    for inside in named.into_iter().chain(resolved) {
        let name = inside.to_string_lossy().replace('\\', "/");
        if inside.components().any(|part| part == Component::ParentDir) || starts_in(&name, ".git") {
            return Err(format!("{}: it is no file of the work tree", path.display()));
        }
        if let Some(tracked) = tracked_as(&name, here, reviewed)? {
            return Err(format!(
                "{}: git tracks {tracked}, so the change itself could have written what it says; it must be a file that git ignores",
                path.display()
            ));
        }
    }
    Ok(())
}

/// Nobody knows where the top of what was unpacked is, so every end of the path is looked for in the reviewed head.
fn check_unpacked(path: &Path, reviewed: Option<(&Repository, &Sha)>) -> Result<(), String> {
    let tracked: BTreeSet<String> = paths_at(reviewed)?.iter().map(|path| path.as_str().to_lowercase()).collect();
    for whole in std::path::absolute(path).ok().into_iter().chain(path.canonicalize().ok()) {
        let parts: Vec<String> = whole.components().map(|part| part.as_os_str().to_string_lossy().to_lowercase()).collect();
        let mut ends = (0..parts.len()).map(|first| parts[first..].join("/"));
        if let Some(name) = ends.find(|end| tracked.contains(end)) {
            return Err(format!(
                "{}: the reviewed head has {name}, so the change itself could have written what it says; it must be a file that the \
                 change does not have",
                path.display()
            ));
        }
    }
    Ok(())
}

/// The same as a question, for a file of whatever checkout it lies in. A checkout that cannot be read may track it.
pub fn could_be_brought(file: &Path) -> bool {
    match Repository::discover(file.parent().unwrap_or(Path::new("."))) {
        Ok(repository) => check(file, Some(&repository), None).is_err(),
        Err(GitError::NotARepository(_)) => false,
        Err(_) => true,
    }
}

/// The first part of the way from the top to the file that is a link.
fn first_link(top: &Path, inside: &Path) -> Option<PathBuf> {
    let mut way = top.to_path_buf();
    inside.components().find_map(|part| {
        way.push(part);
        std::fs::symlink_metadata(&way).is_ok_and(|about| about.file_type().is_symlink()).then(|| way.clone())
    })
}

/// What git tracks at this path or above it, in the index, at what is checked out, or at the head under review. A tree that was made of
/// uncommitted work holds untracked files as well, and is not asked.
fn tracked_as(name: &str, here: Option<&Repository>, reviewed: Option<(&Repository, &Sha)>) -> Result<Option<String>, String> {
    let mut listed: Vec<RepoPath> = Vec::new();
    if let Some(here) = here {
        listed.extend(here.index_paths().map_err(|error| error.to_string())?);
        if let Ok(head) = here.head() {
            listed.extend(here.all_paths(&head).map_err(|error| error.to_string())?);
        }
    }
    listed.extend(paths_at(reviewed)?);
    Ok(listed.into_iter().find(|path| starts_in(name, path.as_str())).map(|path| path.0))
}

/// The files of the head under review, if it is a commit.
fn paths_at(reviewed: Option<(&Repository, &Sha)>) -> Result<Vec<RepoPath>, String> {
    match reviewed {
        Some((repository, head)) if repository.commit(head.as_str()).is_ok() => {
            repository.all_paths(head).map_err(|error| error.to_string())
        }
        _ => Ok(Vec::new()),
    }
}

/// Is it this path, or below it? Without regard to case, as some file systems are. What is above a file in git is a link or a submodule.
fn starts_in(name: &str, path: &str) -> bool {
    let (name, path) = (name.to_lowercase(), path.to_lowercase());
    name == path || name.strip_prefix(&path).is_some_and(|rest| rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use std::fs;
    use std::process::Command;

    /// Reviewed from elsewhere, as a job does that unpacked the change's files without a `.git`.
    #[test]
    fn a_file_of_the_reviewed_head_is_refused_outside_of_a_checkout() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        let (clone, unpacked) = (top.join("clone"), top.join("job/unpacked/out"));
        fs::create_dir_all(clone.join("out")).unwrap();
        fs::create_dir_all(&unpacked).unwrap();
        fs::write(clone.join("out/lint.sarif"), "{}").unwrap();
        let own = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com"];
        for args in [&["init", "--quiet"][..], &["add", "--all"], &["commit", "--quiet", "--message", "Bring"]] {
            assert!(Command::new("git").current_dir(&clone).args(own).args(args).status().unwrap().success(), "{args:?}");
        }
        let repository = Repository::discover(&clone).unwrap();
        let head = repository.head().unwrap();
        let reviewed = Some((&repository, &head));
        for name in ["lint.sarif", "own.sarif"] {
            fs::write(unpacked.join(name), "{}").unwrap();
            fs::write(top.join(name), "{}").unwrap();
        }
        let refused = check(&unpacked.join("lint.sarif"), None, reviewed).unwrap_err();
        assert!(refused.contains("the reviewed head has out/lint.sarif"), "{refused}");
        for own in [unpacked.join("own.sarif"), top.join("own.sarif"), top.join("lint.sarif")] {
            assert_eq!(check(&own, None, reviewed), Ok(()), "{}", own.display());
        }
        assert_eq!(check(&unpacked.join("lint.sarif"), None, None), Ok(()));
    }

    /// Issue 16: a checkout that is refused does not make its files a person's own.
    #[test]
    fn a_file_of_an_unreadable_checkout_may_be_the_branchs() {
        let folder = tempfile::tempdir().unwrap();
        let plan = folder.path().join("plan.json");
        fs::write(&plan, "{}").unwrap();
        assert!(!could_be_brought(&plan), "it lies in no checkout");
        let git = folder.path().join(".git");
        ["objects", "refs"].iter().for_each(|name| fs::create_dir_all(git.join(name)).unwrap());
        fs::write(git.join("HEAD"), "ref: refs/heads/main\n").unwrap();
        fs::write(git.join("config"), "[core]\n\tworktree = /somewhere/else\n").unwrap();
        assert!(could_be_brought(&plan));
    }
}
