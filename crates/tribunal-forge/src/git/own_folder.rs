//! A temporary folder that goes when this process ends; where the process was killed, the next one removes it.
//!
//! Whoever made it holds a lock on a file in it, and the system releases that lock however the process ends. A number of a process would
//! say less: it may be somebody else's by now, or count in another container that shares the temporary folder.

use std::io;
use std::path::Path;
use tempfile::TempDir;

const PREFIX: &str = "tribunal-git-";

/// The folder goes first, and then the lock: as long as there is something to remove, it is held.
#[derive(Debug)]
pub(super) struct OwnFolder {
    folder: TempDir,
    /// Not every file system knows locks; there the folder of a killed process stays.
    #[cfg(unix)]
    _lock: Option<std::fs::File>,
}

impl OwnFolder {
    pub fn new() -> io::Result<Self> {
        Self::new_in(&std::env::temp_dir())
    }

    fn new_in(parent: &Path) -> io::Result<Self> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(PREFIX);
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
        let folder = builder.tempdir_in(parent)?;
        #[cfg(unix)]
        let own = {
            let _lock = unix::lock(folder.path()).ok();
            unix::remove_stale(parent, folder.path());
            OwnFolder { folder, _lock }
        };
        #[cfg(not(unix))]
        let own = OwnFolder { folder };
        Ok(own)
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

#[cfg(unix)]
mod unix {
    use std::fs::{self, File, Metadata, OpenOptions};
    use std::io;
    use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
    use std::path::Path;

    const LOCK: &str = "tribunal.lock";

    /// The file has its name only once it is locked, so that nobody ever sees one that is not.
    pub fn lock(folder: &Path) -> io::Result<File> {
        let unnamed = folder.join("tribunal.lock.new");
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&unnamed)?;
        file.lock()?;
        fs::rename(unnamed, folder.join(LOCK))?;
        Ok(file)
    }

    /// Removes what killed processes of this account left beside `own`. Whatever is in doubt stays: it may be in use.
    pub fn remove_stale(parent: &Path, own: &Path) {
        let (Ok(ours), Ok(entries)) = (fs::symlink_metadata(own), fs::read_dir(parent)) else { return };
        for entry in entries.flatten() {
            let is_named_so = entry.file_name().to_str().is_some_and(|name| name.starts_with(super::PREFIX));
            let path = entry.path();
            if is_named_so && path != own && fs::symlink_metadata(&path).is_ok_and(|found| is_like(&found, &ours)) {
                remove_unlocked(&path);
            }
        }
    }

    /// A folder of this account that nobody else can change.
    fn is_like(found: &Metadata, ours: &Metadata) -> bool {
        found.is_dir() && found.uid() == ours.uid() && found.dev() == ours.dev() && found.mode() & 0o077 == 0
    }

    fn remove_unlocked(folder: &Path) {
        let lock = folder.join(LOCK);
        // Not through a link, and not a pipe that would wait for somebody.
        if !fs::symlink_metadata(&lock).is_ok_and(|found| found.is_file()) {
            return;
        }
        let Ok(file) = File::open(lock) else { return };
        if file.try_lock().is_ok() {
            // What stays now is removed by the next one.
            let _ = fs::remove_dir_all(folder);
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    fn folder_with(parent: &Path, name: &str, files: &[&str]) -> std::path::PathBuf {
        let folder = parent.join(name);
        fs::create_dir(&folder).unwrap();
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).unwrap();
        files.iter().for_each(|file| fs::write(folder.join(file), "").unwrap());
        folder
    }

    /// What a killed process left goes; what is in use, of another kind, or open to others stays, and no link is followed.
    #[test]
    fn only_what_nobody_holds_is_removed() {
        let parent = tempfile::tempdir().unwrap();
        let at = parent.path();
        let living = OwnFolder::new_in(at).unwrap();
        let stale = folder_with(at, "tribunal-git-stale", &["tribunal.lock", "config"]);
        fs::create_dir(stale.join("info")).unwrap();
        let outside = folder_with(at, "outside", &["tribunal.lock", "kept"]);
        symlink(&outside, stale.join("info/exclude")).unwrap();
        let kept = [
            folder_with(at, "tribunal-git-being-made", &["tribunal.lock.new"]),
            folder_with(at, "other-stale", &["tribunal.lock"]),
            folder_with(at, "tribunal-git-open-to-others", &["tribunal.lock"]),
            folder_with(at, "tribunal-git-with-a-link", &[]),
        ];
        fs::set_permissions(&kept[2], fs::Permissions::from_mode(0o770)).unwrap();
        symlink(outside.join("tribunal.lock"), kept[3].join("tribunal.lock")).unwrap();
        symlink(&outside, at.join("tribunal-git-link")).unwrap();
        fs::write(at.join("tribunal-git-file"), "").unwrap();

        let next = OwnFolder::new_in(at).unwrap();
        assert!(!stale.exists());
        for folder in kept.iter().map(std::path::PathBuf::as_path).chain([living.path(), next.path(), &outside]) {
            assert!(folder.exists(), "{}", folder.display());
        }
        assert!(outside.join("kept").exists() && at.join("tribunal-git-link").exists() && at.join("tribunal-git-file").exists());

        let of_living = living.path().to_owned();
        drop(living);
        assert!(!of_living.exists());
    }
}
