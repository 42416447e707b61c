//! Reads files of a checkout, which whoever wrote its branch may have put there. A link could lead to a device that never ends, or to a
//! file of the person's own, whose content would be quoted or sent to a model. So no part of a path below the top may be a link, what is
//! read is a regular file, and it has a bound.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Component, Path, PathBuf};

/// For configuration, roles, rules and notes of a person: more than anybody writes by hand.
pub const MAX_TEXT_BYTES: u64 = 1024 * 1024;

#[derive(Debug, thiserror::Error)]
pub enum WorkFileError {
    #[error("{} is a symbolic link, which a branch can bring and which is not followed; put the file itself there", .0.display())]
    Link(PathBuf),
    #[error("{} is not a regular file", .0.display())]
    NotRegular(PathBuf),
    #[error("{} is larger than {most}", .path.display(), most = size(*.most))]
    TooLarge { path: PathBuf, most: u64 },
    #[error("{} leads out of the checkout", .0.display())]
    Outside(PathBuf),
    #[error("{} cannot be read: {source}", .path.display())]
    Io { path: PathBuf, source: io::Error },
}

impl WorkFileError {
    pub fn is_not_found(&self) -> bool {
        matches!(self, WorkFileError::Io { source, .. } if source.kind() == io::ErrorKind::NotFound)
    }
}

fn size(bytes: u64) -> String {
    match bytes / MAX_TEXT_BYTES {
        0 => format!("{bytes} bytes"),
        mebibytes => format!("{mebibytes} MiB"),
    }
}

/// A file below the top of a checkout; nothing if it is not there.
pub fn read_work_file(top: &Path, inside: &Path, most: u64) -> Result<Option<Vec<u8>>, WorkFileError> {
    if !is_there_to_read(top, inside)? {
        return Ok(None);
    }
    match read_regular_file(&top.join(inside), most) {
        Err(error) if error.is_not_found() => Ok(None),
        read => read.map(Some),
    }
}

/// The names in a folder below the top of a checkout; none if it is not there.
pub fn list_work_folder(top: &Path, inside: &Path) -> Result<Vec<String>, WorkFileError> {
    if !is_there_to_read(top, inside)? {
        return Ok(Vec::new());
    }
    let entries = fs::read_dir(top.join(inside)).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    Ok(names)
}

/// A file that a person named in any way. Where it lies in a checkout, the checkout's rules hold for it.
pub fn read_named_file(path: &Path, most: u64) -> Result<Vec<u8>, WorkFileError> {
    read_regular_file(&check_named_path(path)?, most)
}

/// The whole path of a file that a person named, to read or to write. Where it lies in a checkout, no part below its top may be a link:
/// a branch can put one where the person expects their own file. Every `.git` above counts, because a link can lead to another checkout.
pub fn check_named_path(path: &Path) -> Result<PathBuf, WorkFileError> {
    let whole = std::path::absolute(path).map_err(|source| WorkFileError::Io { path: path.to_owned(), source })?;
    let whole = without_steps_up(&whole);
    for top in whole.ancestors().skip(1).filter(|above| fs::symlink_metadata(above.join(".git")).is_ok()) {
        check_work_path(top, whole.strip_prefix(top).unwrap_or(&whole))?;
    }
    Ok(whole)
}

/// A file that is a regular one, wherever it lies, up to a bound. What is larger than its size says, as devices and files of `/proc` are,
/// is held to the bound while it is read.
pub fn read_regular_file(path: &Path, most: u64) -> Result<Vec<u8>, WorkFileError> {
    let failed = |source| WorkFileError::Io { path: path.to_owned(), source };
    // Asked before it is opened: opening a pipe waits for somebody who writes.
    if !fs::metadata(path).map_err(failed)?.is_file() {
        return Err(WorkFileError::NotRegular(path.to_owned()));
    }
    let file = File::open(path).map_err(failed)?;
    if !file.metadata().map_err(failed)?.is_file() {
        return Err(WorkFileError::NotRegular(path.to_owned()));
    }
    let mut bytes = Vec::new();
    let length = file.take(most.saturating_add(1)).read_to_end(&mut bytes).map_err(failed)?;
    if length as u64 > most {
        return Err(WorkFileError::TooLarge { path: path.to_owned(), most });
    }
    Ok(bytes)
}

/// Some repositories link a folder such as `.github` elsewhere. That is no fault where what is asked for is not behind the link either.
fn is_there_to_read(top: &Path, inside: &Path) -> Result<bool, WorkFileError> {
    match check_work_path(top, inside) {
        Err(WorkFileError::Link(link)) if link != inside && fs::metadata(top.join(inside)).is_err() => Ok(false),
        checked => checked,
    }
}

/// Is something there? A link on the way is an error, also where it leads nowhere.
pub fn check_work_path(top: &Path, inside: &Path) -> Result<bool, WorkFileError> {
    let mut way = top.to_path_buf();
    for part in inside.components() {
        match part {
            Component::CurDir => continue,
            Component::Normal(name) => way.push(name),
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
                return Err(WorkFileError::Outside(inside.to_owned()));
            }
        }
        match fs::symlink_metadata(&way) {
            Ok(found) if found.is_symlink() => {
                return Err(WorkFileError::Link(way.strip_prefix(top).unwrap_or(&way).to_owned()));
            }
            Ok(_) => {}
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => return Ok(false),
            Err(source) => return Err(WorkFileError::Io { path: way, source }),
        }
    }
    Ok(true)
}

/// `a/../b` is `b`, by its text.
fn without_steps_up(path: &Path) -> PathBuf {
    let mut whole = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                whole.pop();
            }
            Component::CurDir => {}
            part => whole.push(part),
        }
    }
    whole
}

#[cfg(all(test, unix))]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn only_regular_files_within_a_bound_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().join("top");
        fs::create_dir_all(top.join("sub")).unwrap();
        fs::write(top.join("sub/a"), "text").unwrap();
        fs::write(folder.path().join("private"), "secret").unwrap();
        symlink("/dev/zero", top.join("endless")).unwrap();
        symlink("../private", top.join("private")).unwrap();
        symlink("sub", top.join("linked")).unwrap();
        symlink("nowhere", top.join("dangling")).unwrap();
        let read = |inside: &str, most| read_work_file(&top, Path::new(inside), most).map_err(|error| error.to_string());
        assert_eq!(read("sub/a", 4), Ok(Some(b"text".to_vec())));
        assert_eq!(read("./sub/a", 4), Ok(Some(b"text".to_vec())));
        assert_eq!((read("sub/b", 4), read("sub/a/b", 4)), (Ok(None), Ok(None)));
        assert!(read("sub/a", 3).unwrap_err().contains("larger than 3 bytes"));
        assert!(read("sub", 4).unwrap_err().contains("not a regular file"));
        assert!(read("../private", 9).unwrap_err().contains("leads out"));
        for link in ["endless", "private", "linked/a", "dangling"] {
            assert!(read(link, 9).unwrap_err().contains("symbolic link"), "{link}");
        }
        assert_eq!(read("linked/b", 9), Ok(None), "nothing is behind the link");
        assert!(list_work_folder(&top, Path::new("linked")).is_err());
        assert_eq!(list_work_folder(&top, Path::new("sub")).unwrap(), ["a"]);
        let named = |path: &str| read_named_file(&top.join(path), 9).map_err(|error| error.to_string());
        assert_eq!(named("linked/a"), Ok(b"text".to_vec()), "no checkout, so the links are the person's own");
        fs::create_dir_all(top.join(".git")).unwrap();
        assert!(named("linked/a").unwrap_err().contains("symbolic link"));
        assert!(named("sub/../private").unwrap_err().contains("symbolic link"));
        assert_eq!(named("../private"), Ok(b"secret".to_vec()));
        // Another checkout behind the link does not make the link its own.
        fs::create_dir_all(folder.path().join("other/.git")).unwrap();
        fs::write(folder.path().join("other/file"), "other").unwrap();
        symlink("../other", top.join("beside")).unwrap();
        assert!(named("beside/file").unwrap_err().contains("symbolic link"));
        assert!(check_named_path(&top.join("beside/new")).unwrap_err().to_string().contains("symbolic link"));
        assert!(check_named_path(&top.join("dangling")).unwrap_err().to_string().contains("symbolic link"));
        assert_eq!(check_named_path(&top.join("sub/new")).unwrap(), top.join("sub/new"));
        let device = read_regular_file(Path::new("/dev/zero"), 9).unwrap_err();
        assert!(device.to_string().contains("not a regular file"));
    }
}
