//! Writing, linking and reading below a folder without following a link on the way.
//!
//! A program in the sandbox may write to its copy and its home, and we do not run in the sandbox: a path below them that is opened by its
//! text leads wherever a link there leads, with our rights. So each part of a path is opened by the descriptor of the part above it, and
//! a link is an error. A file that is created is new.

#[cfg(not(unix))]
pub use other::Folder;
#[cfg(unix)]
pub use unix::Folder;

use std::ffi::OsStr;
use std::io::{self, Read};
use std::path::{Component, Path};

/// The names of the folders on the way, and the last name. `..` and absolute paths lead out.
fn parts(inside: &Path) -> io::Result<(Vec<&OsStr>, &OsStr)> {
    let names = inside.components().filter(|part| !matches!(part, Component::CurDir)).map(|part| match part {
        Component::Normal(name) => Ok(name),
        _ => Err(io::Error::new(io::ErrorKind::InvalidInput, "it leads out of the folder")),
    });
    let mut names = names.collect::<io::Result<Vec<_>>>()?;
    let last = names.pop().ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "it names no file"))?;
    Ok((names, last))
}

fn bounded(file: impl Read, most: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let length = file.take(most as u64 + 1).read_to_end(&mut bytes)?;
    if length > most {
        return Err(io::Error::other(format!("it has more than {} MiB", most / (1024 * 1024))));
    }
    Ok(bytes)
}

fn not_regular() -> io::Error {
    io::Error::other("it is not a regular file")
}

#[cfg(unix)]
mod unix {
    use super::{bounded, not_regular, parts};
    use rustix::fs::{AtFlags, Mode, OFlags, mkdirat, open, openat, symlinkat, unlinkat};
    use rustix::io::Errno;
    use std::ffi::OsStr;
    use std::fs::File;
    use std::io::{self, Write as _};
    use std::os::fd::OwnedFd;
    use std::path::Path;

    const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

    /// Systems differ in what they call a link that is opened as a folder.
    fn of_folder(error: Errno) -> io::Error {
        if matches!(error, Errno::LOOP | Errno::MLINK) { io::ErrorKind::NotADirectory.into() } else { error.into() }
    }

    #[derive(Debug)]
    pub struct Folder(OwnedFd);

    impl Folder {
        pub fn open(path: &Path) -> io::Result<Self> {
            Ok(Folder(open(path, FOLDER, Mode::empty())?))
        }

        /// Writes a file that is not there yet, and makes the folders above it.
        pub fn create(&self, inside: &Path, bytes: &[u8]) -> io::Result<()> {
            let (folder, name) = self.make_above(inside)?;
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let file = openat(&folder, name, flags, Mode::from_raw_mode(0o666))?;
            File::from(file).write_all(bytes)
        }

        /// The same in the place of a file or a link.
        pub fn replace(&self, inside: &Path, bytes: &[u8]) -> io::Result<()> {
            let (folder, name) = self.make_above(inside)?;
            match unlinkat(&folder, name, AtFlags::empty()) {
                Ok(()) | Err(Errno::NOENT) => self.create(inside, bytes),
                Err(error) => Err(error.into()),
            }
        }

        /// Makes a link that is not there yet, and the folders above it.
        pub fn link(&self, target: &Path, inside: &Path) -> io::Result<()> {
            let (folder, name) = self.make_above(inside)?;
            Ok(symlinkat(target, &folder, name)?)
        }

        /// A regular file, up to a bound.
        pub fn read(&self, inside: &Path, most: usize) -> io::Result<Vec<u8>> {
            let (above, name) = parts(inside)?;
            let mut folder = self.0.try_clone()?;
            for step in above {
                folder = openat(&folder, step, FOLDER, Mode::empty()).map_err(of_folder)?;
            }
            // Opening a pipe would wait for somebody who writes.
            let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
            let file = match openat(&folder, name, flags, Mode::empty()) {
                Err(Errno::LOOP | Errno::NXIO) => return Err(not_regular()),
                opened => File::from(opened?),
            };
            if file.metadata()?.is_file() { bounded(file, most) } else { Err(not_regular()) }
        }

        fn make_above<'p>(&self, inside: &'p Path) -> io::Result<(OwnedFd, &'p OsStr)> {
            let (above, name) = parts(inside)?;
            let mut folder = self.0.try_clone()?;
            for step in above {
                match mkdirat(&folder, step, Mode::from_raw_mode(0o777)) {
                    Ok(()) | Err(Errno::EXIST) => {}
                    Err(error) => return Err(error.into()),
                }
                folder = openat(&folder, step, FOLDER, Mode::empty()).map_err(of_folder)?;
            }
            Ok((folder, name))
        }
    }
}

/// Systems without our sandbox, and without descriptors of folders: each part is looked at before it is used.
#[cfg(not(unix))]
mod other {
    use super::{bounded, not_regular, parts};
    use std::fs;
    use std::io::{self, Write as _};
    use std::path::{Path, PathBuf};

    #[derive(Debug)]
    pub struct Folder(PathBuf);

    impl Folder {
        pub fn open(path: &Path) -> io::Result<Self> {
            if path.symlink_metadata()?.is_dir() { Ok(Folder(path.to_owned())) } else { Err(io::ErrorKind::NotADirectory.into()) }
        }

        pub fn create(&self, inside: &Path, bytes: &[u8]) -> io::Result<()> {
            fs::File::options().write(true).create_new(true).open(self.make_above(inside)?)?.write_all(bytes)
        }

        pub fn replace(&self, inside: &Path, bytes: &[u8]) -> io::Result<()> {
            match fs::remove_file(self.make_above(inside)?) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
                _ => self.create(inside, bytes),
            }
        }

        /// Needs a privilege there; nothing depends on it.
        pub fn link(&self, _: &Path, _: &Path) -> io::Result<()> {
            Ok(())
        }

        pub fn read(&self, inside: &Path, most: usize) -> io::Result<Vec<u8>> {
            let (above, name) = parts(inside)?;
            let mut path = self.0.clone();
            for step in above {
                path = Self::open(&path.join(step))?.0;
            }
            let path = path.join(name);
            if path.symlink_metadata()?.is_file() { bounded(fs::File::open(path)?, most) } else { Err(not_regular()) }
        }

        fn make_above(&self, inside: &Path) -> io::Result<PathBuf> {
            let (above, name) = parts(inside)?;
            let mut path = self.0.clone();
            for step in above {
                path.push(step);
                match fs::create_dir(&path) {
                    Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
                    _ => path = Self::open(&path)?.0,
                }
            }
            Ok(path.join(name))
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    /// A program in the sandbox leaves links in what it may write to. Nothing of ours goes through them.
    #[test]
    fn no_link_is_followed() {
        let root = tempfile::tempdir().unwrap();
        let (copy, outside) = (root.path().join("copy"), root.path().join("outside"));
        fs::create_dir(&copy).unwrap();
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("file"), "mine").unwrap();
        symlink(outside.join("file"), copy.join("file")).unwrap();
        symlink(outside.join("new"), copy.join("new")).unwrap();
        symlink(&outside, copy.join("folder")).unwrap();
        symlink(&copy, root.path().join("top")).unwrap();
        let folder = Folder::open(&copy).unwrap();
        let untouched = || {
            let names: Vec<_> = fs::read_dir(&outside).unwrap().map(|entry| entry.unwrap().file_name()).collect();
            names == ["file"] && fs::read(outside.join("file")).unwrap() == b"mine"
        };
        for inside in ["file", "new", "folder/file", "folder/new", "folder/deep/new", "../outside/new", "/tmp/x", ".."] {
            let inside = Path::new(inside);
            assert!(folder.create(inside, b"x").is_err() && untouched(), "{inside:?}");
            assert!(folder.link(Path::new("/etc"), inside).is_err() && untouched(), "{inside:?}");
            assert!(folder.read(inside, 9).is_err(), "{inside:?}");
        }
        assert!(folder.replace(Path::new("folder/file"), b"x").is_err() && untouched());
        folder.replace(Path::new("file"), b"ours").unwrap();
        assert!(untouched() && copy.join("file").symlink_metadata().unwrap().is_file());
        assert_eq!(folder.read(Path::new("./file"), 4).unwrap(), b"ours");
        assert!(folder.read(Path::new("file"), 3).is_err());
        folder.create(Path::new("a/b/c"), b"deep").unwrap();
        assert_eq!(folder.read(Path::new("a/b/c"), 9).unwrap(), b"deep");
        assert!(folder.read(Path::new("a/b"), 9).is_err(), "a folder is no file");
        assert!(Folder::open(&root.path().join("top")).is_err());
    }
}
