//! Folders that a child could write, walked by descriptors: a process that is still there can put a link in the place of any name, at
//! any moment. So each step opens one name in a folder that is already open and follows nothing, and what is changed or removed is named
//! from there.

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, fchmod, fstat, openat, renameat, statat, unlinkat};
use rustix::io::Errno;
use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Component, Path};

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
/// A folder that fills again while it is emptied is given up.
const MOST_ROUNDS: usize = 100;

/// A folder by its name in another one. What is a link or no folder is an error.
pub fn open_folder(at: BorrowedFd<'_>, name: impl rustix::path::Arg + Copy) -> io::Result<OwnedFd> {
    Ok(openat(at, name, FOLDER, Mode::empty())?)
}

/// A folder below another one, opened name by name.
pub fn open_below(top: &Path, inside: &Path) -> io::Result<OwnedFd> {
    let mut folder = open_folder(rustix::fs::CWD, top)?;
    for part in inside.components() {
        match part {
            Component::CurDir => {}
            Component::Normal(name) => folder = open_folder(folder.as_fd(), name)?,
            Component::Prefix(_) | Component::RootDir | Component::ParentDir => return Err(io::ErrorKind::InvalidInput.into()),
        }
    }
    Ok(folder)
}

/// The names in a folder, and what each is without following it.
pub fn entries(folder: &OwnedFd) -> io::Result<Vec<(CString, rustix::fs::Stat)>> {
    let mut found = Vec::new();
    for name in names(folder)? {
        match statat(folder, &*name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(about) => found.push((name, about)),
            Err(Errno::NOENT) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(found)
}

fn names(folder: &OwnedFd) -> io::Result<Vec<CString>> {
    let mut names = Vec::new();
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        if entry.file_name() != c"." && entry.file_name() != c".." {
            names.push(entry.file_name().to_owned());
        }
    }
    Ok(names)
}

/// See [`super::delete`].
pub fn delete(tree: &Path) -> io::Result<()> {
    let cwd = rustix::fs::CWD;
    let top = match open_for_emptying(cwd, tree) {
        Ok(top) => top,
        Err(Errno::NOENT) => return Ok(()),
        Err(Errno::LOOP | Errno::NOTDIR) => return Ok(unlinkat(cwd, tree, AtFlags::empty())?),
        Err(error) => return Err(error.into()),
    };
    for _ in 0..MOST_ROUNDS {
        empty_all(&top)?;
        match unlinkat(cwd, tree, AtFlags::REMOVEDIR) {
            Ok(()) | Err(Errno::NOENT) => return Ok(()),
            Err(Errno::NOTEMPTY | Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(still_filling())
}

fn still_filling() -> io::Error {
    io::Error::other("somebody writes to the folder while it is deleted")
}

/// Folders are moved to the top before they are emptied, so that nothing recurses and few descriptors are open.
fn empty_all(top: &OwnedFd) -> io::Result<()> {
    let mut number = 0_u64;
    let mut folders = empty(top, None, &mut number)?;
    let mut rounds = 0;
    while let Some(name) = folders.pop() {
        match open_for_emptying(top.as_fd(), &*name) {
            Ok(folder) => folders.extend(empty(&folder, Some(top), &mut number)?),
            Err(Errno::NOENT) => continue,
            Err(Errno::LOOP | Errno::NOTDIR) => {
                remove(top, &name)?;
                continue;
            }
            Err(error) => return Err(error.into()),
        }
        match unlinkat(top, &*name, AtFlags::REMOVEDIR) {
            Ok(()) | Err(Errno::NOENT) => {}
            // Another name by now, or more in it.
            Err(Errno::NOTDIR | Errno::NOTEMPTY | Errno::EXIST) if rounds < MOST_ROUNDS => {
                rounds += 1;
                folders.push(name);
            }
            Err(Errno::NOTEMPTY | Errno::EXIST) => return Err(still_filling()),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Removes what is no folder. The folders are moved to `top`, unless they are there already; their names in it.
fn empty(folder: &OwnedFd, top: Option<&OwnedFd>, number: &mut u64) -> io::Result<Vec<CString>> {
    let mut folders = Vec::new();
    for (name, about) in entries(folder)? {
        if FileType::from_raw_mode(about.st_mode) != FileType::Directory && remove(folder, &name)? {
            continue;
        }
        let Some(top) = top else {
            folders.push(name);
            continue;
        };
        // Who may not write to a folder may not move it either.
        match open_for_emptying(folder.as_fd(), &*name) {
            Ok(_) => {}
            Err(Errno::NOENT) => continue,
            Err(Errno::LOOP | Errno::NOTDIR) => {
                remove(folder, &name)?;
                continue;
            }
            Err(error) => return Err(error.into()),
        }
        let above = free_name(top, number)?;
        match renameat(folder, &*name, top, &*above) {
            Ok(()) => folders.push(above),
            Err(Errno::NOENT) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(folders)
}

fn free_name(top: &OwnedFd, number: &mut u64) -> io::Result<CString> {
    loop {
        *number += 1;
        let name = CString::new(format!(".gone-{number}"))?;
        match statat(top, &*name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(_) => {}
            Err(Errno::NOENT) => return Ok(name),
            Err(error) => return Err(error.into()),
        }
    }
}

/// Whether it is gone; a folder is not.
fn remove(folder: &OwnedFd, name: &CStr) -> io::Result<bool> {
    match unlinkat(folder, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => Ok(true),
        Err(Errno::ISDIR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// The same as [`open_folder`], also where nobody may enter it.
fn open_for_emptying(at: BorrowedFd<'_>, name: impl rustix::path::Arg + Copy) -> Result<OwnedFd, Errno> {
    let folder = match openat(at, name, FOLDER, Mode::empty()) {
        Err(Errno::ACCESS) => {
            allow_entry(at, name)?;
            openat(at, name, FOLDER, Mode::empty())?
        }
        opened => opened?,
    };
    let mode = Mode::from_raw_mode(fstat(&folder)?.st_mode);
    if !mode.contains(Mode::RWXU) {
        fchmod(&folder, mode | Mode::RWXU)?;
    }
    Ok(folder)
}

/// Through a descriptor that only stands for the folder: a mode cannot be changed by a name without following it.
#[cfg(target_os = "linux")]
fn allow_entry(at: BorrowedFd<'_>, name: impl rustix::path::Arg + Copy) -> Result<(), Errno> {
    use std::os::fd::AsRawFd as _;
    let place = openat(at, name, OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?;
    rustix::fs::chmod(format!("/proc/self/fd/{}", place.as_raw_fd()), Mode::RWXU)
}

#[cfg(not(target_os = "linux"))]
fn allow_entry(at: BorrowedFd<'_>, name: impl rustix::path::Arg + Copy) -> Result<(), Errno> {
    rustix::fs::chmodat(at, name, Mode::RWXU, AtFlags::SYMLINK_NOFOLLOW)
}
