//! The files that a child sees: a root of its own, in which only what is listed is mounted.
//!
//! Everything but the writable folders is mounted read-only, which is the only way to refuse `chmod`, `chown`, `utime` and
//! `setxattr` on files of others: no permission and no Landlock looks at a call on a file that one owns. What is not listed has no
//! name. `/tmp`, `/var/tmp` and `/dev/shm` are small, empty and gone with the child.
//!
//! [`View::new`] is made before the fork; [`View::enter`] makes system calls only.
#![allow(unsafe_code)]

use super::{Limits, files};
use std::collections::BTreeMap;
use std::ffi::{CStr, CString};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// Folders that every program expects to be able to write to.
pub const TEMPORARY: [&str; 3] = ["/tmp", "/var/tmp", "/dev/shm"];
const TEMPORARY_OPTIONS: &CStr = c"size=64m,nr_inodes=16k,mode=1777";
const ROOT_OPTIONS: &CStr = c"size=8m,nr_inodes=32k,mode=0755";
/// Where the machine's own files are while the view is built.
const OLD: &str = "/.old";
const DEVICES: [&str; 5] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];
const LINKS: [(&CStr, &CStr); 4] = [
    (c"/proc/self/fd", c"/dev/fd"),
    (c"/proc/self/fd/0", c"/dev/stdin"),
    (c"/proc/self/fd/1", c"/dev/stdout"),
    (c"/proc/self/fd/2", c"/dev/stderr"),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Access {
    Read,
    Device,
    Write,
}

/// One mount.
#[derive(Debug)]
struct Bind {
    source: CString,
    target: CString,
    /// Folders above the target, from the root on.
    parents: Vec<CString>,
    is_folder: bool,
    access: Access,
}

#[derive(Debug)]
pub struct View {
    /// A folder of the machine over which the new root is built.
    base: CString,
    temporary: Vec<(CString, Vec<CString>)>,
    binds: Vec<Bind>,
    directory: CString,
}

/// Where something is shown, and what is shown there.
type Shown = BTreeMap<PathBuf, (PathBuf, Access)>;

impl View {
    pub fn new(limits: &Limits, directory: &Path) -> io::Result<Self> {
        let mut shown = Shown::new();
        let reads = files::system().chain(limits.reads.run.iter().cloned()).chain(limits.reads.read.iter().cloned());
        let all = reads
            .map(|path| (path, Access::Read))
            .chain(DEVICES.iter().map(|path| (PathBuf::from(path), Access::Device)))
            .chain(limits.writable.iter().map(|path| (path.clone(), Access::Write)));
        for (path, access) in all {
            // What does not exist cannot be shown. A relative path has no place in a root.
            let Ok(real) = path.canonicalize() else { continue };
            if !path.is_absolute() || path.components().any(|part| part == std::path::Component::ParentDir) {
                continue;
            }
            // Under the name that it was given and under its real one: programs find their files by either.
            for target in [path, real.clone()] {
                let shown = shown.entry(target).or_insert_with(|| (real.clone(), access));
                shown.1 = shown.1.max(access);
            }
        }
        let binds: io::Result<Vec<Bind>> = shown
            .iter()
            .filter(|(target, (source, access))| !is_shown_already(&shown, target, source, *access))
            .map(|(target, (source, access))| Bind::new(target, source, *access))
            .collect();
        let base = ["/tmp", "/mnt", "/srv", "/usr"].into_iter().find(|base| Path::new(base).is_dir()).unwrap_or("/");
        let temporary: io::Result<Vec<_>> =
            TEMPORARY.iter().map(|path| Ok((text(Path::new(path))?, parents(Path::new(path))?))).collect();
        Ok(Self { base: text(Path::new(base))?, temporary: temporary?, binds: binds?, directory: text(directory)? })
    }

    /// Makes it and moves in. The caller is the first process of its namespaces.
    pub unsafe fn enter(&self) -> io::Result<()> {
        // SAFETY: plain system calls on strings that end with a zero byte and live as long as `self`.
        unsafe {
            mount(c"tmpfs", &self.base, Some(c"tmpfs"), libc::MS_NOSUID | libc::MS_NODEV, Some(ROOT_OPTIONS))?;
            done(libc::chdir(self.base.as_ptr()))?;
            done(libc::mkdir(c".old".as_ptr(), 0o700))?;
            done(libc::syscall(libc::SYS_pivot_root, c".".as_ptr(), c".old".as_ptr()) as libc::c_int)?;
            done(libc::chdir(c"/".as_ptr()))?;
            for (folder, parents) in &self.temporary {
                make_folders(parents);
                make_folder(folder);
                mount(c"tmpfs", folder, Some(c"tmpfs"), libc::MS_NOSUID | libc::MS_NODEV, Some(TEMPORARY_OPTIONS))?;
            }
            for bind in &self.binds {
                bind.make()?;
            }
            for (target, link) in LINKS {
                done(libc::symlink(target.as_ptr(), link.as_ptr()))?;
            }
            make_folder(c"/proc");
            // Before the old one goes: the kernel allows it only beside a whole one.
            let flags = libc::MS_NOSUID | libc::MS_NODEV | libc::MS_NOEXEC;
            mount(c"proc", c"/proc", Some(c"proc"), flags, None)?;
            // User 0 may write to the machine's settings without any privilege.
            restrict(c"/proc", READ_ONLY, false)?;
            done(libc::umount2(c"/.old".as_ptr(), libc::MNT_DETACH))?;
            done(libc::rmdir(c"/.old".as_ptr()))?;
            restrict(c"/", READ_ONLY | NO_SUID | NO_DEVICES, false)?;
            // The folder that we came from is of the machine.
            done(libc::chdir(self.directory.as_ptr()))
        }
    }
}

/// The nearest folder above shows it in the same way.
fn is_shown_already(shown: &Shown, target: &Path, source: &Path, access: Access) -> bool {
    let above = target.ancestors().skip(1).find_map(|above| Some((above, shown.get(above)?)));
    let Some((above, (above_source, above_access))) = above else { return false };
    let same_place = match (target.strip_prefix(above), source.strip_prefix(above_source)) {
        (Ok(in_target), Ok(in_source)) => in_target == in_source,
        _ => false,
    };
    // A link inside what is shown leads to the real place, which is shown by itself.
    *above_access == access && (same_place || target != source)
}

impl Bind {
    fn new(target: &Path, source: &Path, access: Access) -> io::Result<Self> {
        let mut old = PathBuf::from(OLD);
        old.push(source.strip_prefix("/").unwrap_or(source));
        Ok(Self { source: text(&old)?, target: text(target)?, parents: parents(target)?, is_folder: source.is_dir(), access })
    }

    unsafe fn make(&self) -> io::Result<()> {
        // SAFETY: as in `View::enter`.
        unsafe {
            make_folders(&self.parents);
            if self.is_folder {
                make_folder(&self.target);
            } else {
                let flags = libc::O_CREAT | libc::O_WRONLY | libc::O_CLOEXEC | libc::O_NOFOLLOW | libc::O_NONBLOCK;
                let descriptor = libc::open(self.target.as_ptr(), flags, 0o600);
                if descriptor >= 0 {
                    libc::close(descriptor);
                }
            }
            // If the place could not be made, mounting there fails.
            mount(&self.source, &self.target, None, libc::MS_BIND | libc::MS_REC, None)?;
            let flags = match self.access {
                Access::Read => READ_ONLY | NO_SUID | NO_DEVICES,
                Access::Device => READ_ONLY | NO_SUID,
                Access::Write => NO_SUID | NO_DEVICES,
            };
            restrict(&self.target, flags, true)
        }
    }
}

fn text(path: &Path) -> io::Result<CString> {
    CString::new(path.as_os_str().as_bytes()).map_err(|_| io::ErrorKind::InvalidInput.into())
}

fn parents(path: &Path) -> io::Result<Vec<CString>> {
    let mut above: Vec<&Path> = path.ancestors().skip(1).filter(|above| above.parent().is_some()).collect();
    above.reverse();
    above.into_iter().map(text).collect()
}

fn done(result: libc::c_int) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

unsafe fn make_folder(path: &CStr) {
    // SAFETY: a plain system call. One that is there is what is wanted.
    unsafe {
        libc::mkdir(path.as_ptr(), 0o755);
    }
}

unsafe fn make_folders(paths: &[CString]) {
    for path in paths {
        // SAFETY: as above.
        unsafe { make_folder(path) }
    }
}

unsafe fn mount(
    source: &CStr,
    target: &CStr,
    kind: Option<&CStr>,
    flags: libc::c_ulong,
    options: Option<&CStr>,
) -> io::Result<()> {
    let pointer = |text: Option<&CStr>| text.map_or(std::ptr::null(), CStr::as_ptr);
    // SAFETY: every string ends with a zero byte; where there is none the kernel takes a null pointer.
    unsafe { done(libc::mount(source.as_ptr(), target.as_ptr(), pointer(kind), flags, pointer(options).cast())) }
}

const READ_ONLY: u64 = 1;
const NO_SUID: u64 = 2;
const NO_DEVICES: u64 = 4;

/// `struct mount_attr` of the kernel.
#[repr(C)]
struct Attributes {
    set: u64,
    clear: u64,
    propagation: u64,
    user_namespace: u64,
}

/// Adds restrictions to a mount, and to all below it, without touching those that it has.
unsafe fn restrict(target: &CStr, set: u64, below: bool) -> io::Result<()> {
    const RECURSIVE: libc::c_uint = 0x8000;
    let attributes = Attributes { set, clear: 0, propagation: 0, user_namespace: 0 };
    let flags = if below { RECURSIVE } else { 0 };
    // SAFETY: the structure is given with its size.
    unsafe {
        done(libc::syscall(
            libc::SYS_mount_setattr,
            libc::AT_FDCWD,
            target.as_ptr(),
            flags,
            &raw const attributes,
            size_of::<Attributes>(),
        ) as libc::c_int)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sandbox::{Network, Reads};

    fn targets(view: &View) -> Vec<(String, Access)> {
        view.binds.iter().map(|bind| (bind.target.to_string_lossy().into_owned(), bind.access)).collect()
    }

    #[test]
    fn a_folder_is_shown_by_its_given_and_its_real_name_once() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("real/bin")).unwrap();
        std::fs::create_dir(root.join("real/scratch")).unwrap();
        std::os::unix::fs::symlink(root.join("real"), root.join("link")).unwrap();
        let reads = Reads { run: vec![root.join("link"), root.join("real/bin"), root.join("absent")], read: Vec::new() };
        let limits = Limits::new(reads, vec![root.join("real/scratch")], Network::None);
        let view = View::new(&limits, &root).unwrap();
        let ours: Vec<_> = targets(&view).into_iter().filter(|(target, _)| target.starts_with(root.to_str().unwrap())).collect();
        let at = |name: &str| root.join(name).display().to_string();
        assert_eq!(
            ours,
            [(at("link"), Access::Read), (at("real"), Access::Read), (at("real/scratch"), Access::Write)],
            "the folder of programs inside is there already"
        );
    }

    #[test]
    fn what_climbs_is_not_shown() {
        let reads = Reads { run: vec![PathBuf::from("/usr/../root"), PathBuf::from("usr")], read: Vec::new() };
        let view = View::new(&Limits::new(reads, Vec::new(), Network::None), Path::new("/")).unwrap();
        assert!(!targets(&view).iter().any(|(target, _)| target.contains("root") || !target.starts_with('/')), "{view:?}");
    }
}
