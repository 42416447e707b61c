//! A child that tries to get out, started like any other, so that `tribunal doctor` tells what children really get and not what was
//! planned for them.
//!
//! It needs no program: it is a copy of us that stops before `exec`, inside all layers, makes system calls, and ends.
#![allow(unsafe_code)]

use super::plan::{Machine, Walls};
use super::{Limits, Network, Reads, enter};
use std::ffi::CString;
use std::io::{self, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// One way out. What is true was possible.
type Attempt = (&'static str, unsafe fn(&Places) -> bool);

/// What the child goes for.
struct Places {
    file: CString,
    new: CString,
    environment: CString,
    supervisor: libc::pid_t,
}

const ATTEMPTS: [Attempt; 11] = [
    ("a file outside was read", |places| unsafe { opens(&places.file, libc::O_RDONLY) }),
    ("a file outside was written", |places| unsafe { opens(&places.file, libc::O_WRONLY) }),
    ("a file was made outside", |places| unsafe { opens(&places.new, libc::O_WRONLY | libc::O_CREAT) }),
    ("the mode of a file outside was changed", |places| unsafe { libc::chmod(places.file.as_ptr(), 0o644) == 0 }),
    ("the times of a file outside were changed", |places| unsafe {
        libc::utimensat(libc::AT_FDCWD, places.file.as_ptr(), std::ptr::null(), 0) == 0
    }),
    ("our environment was read", |places| unsafe { opens(&places.environment, libc::O_RDONLY) }),
    ("a signal reached us", |places| unsafe { libc::kill(places.supervisor, 0) == 0 }),
    ("a Unix socket was made", |_| unsafe { makes_socket(libc::AF_UNIX, libc::SOCK_STREAM) }),
    ("a TCP socket was made", |_| unsafe { makes_socket(libc::AF_INET, libc::SOCK_STREAM) }),
    ("a UDP socket was made", |_| unsafe { makes_socket(libc::AF_INET6, libc::SOCK_DGRAM) }),
    ("a namespace was made", |_| unsafe { libc::unshare(libc::CLONE_NEWUSER) == 0 }),
];

unsafe fn opens(path: &CString, flags: libc::c_int) -> bool {
    // SAFETY: a plain system call; the descriptor is ours.
    unsafe {
        let descriptor = libc::open(path.as_ptr(), flags | libc::O_CLOEXEC, 0o600);
        if descriptor >= 0 {
            libc::close(descriptor);
        }
        descriptor >= 0
    }
}

unsafe fn makes_socket(family: libc::c_int, kind: libc::c_int) -> bool {
    // SAFETY: as above.
    unsafe {
        let descriptor = libc::socket(family, kind, 0);
        if descriptor >= 0 {
            libc::close(descriptor);
        }
        descriptor >= 0
    }
}

fn text(path: &Path) -> io::Result<CString> {
    CString::new(path.as_os_str().as_bytes()).map_err(|_| io::ErrorKind::InvalidInput.into())
}

/// How many ways were tried, or which of them were open. None were where bubblewrap starts the child.
pub fn try_to_get_out(machine: &Machine) -> Result<usize, String> {
    let broken = |error: io::Error| format!("no child could be tried: {error}");
    match attempts(machine).map_err(broken)? {
        None => Ok(0),
        Some(open) if open.is_empty() => Ok(ATTEMPTS.len()),
        Some(open) => Err(format!("a child got out: {}", open.join(", "))),
    }
}

fn attempts(machine: &Machine) -> io::Result<Option<Vec<&'static str>>> {
    let folder = tempfile::tempdir()?;
    let (scratch, outside) = (folder.path().join("scratch"), folder.path().join("outside"));
    std::fs::create_dir(&scratch)?;
    std::fs::create_dir(&outside)?;
    std::fs::write(outside.join("file"), "")?;
    let places = Places {
        file: text(&outside.join("file"))?,
        new: text(&outside.join("new"))?,
        environment: text(Path::new(&format!("/proc/{}/environ", std::process::id())))?,
        supervisor: std::process::id() as libc::pid_t,
    };
    let limits = Limits::new(Reads::default(), vec![scratch.clone()], Network::None);
    let plan = machine.plan(limits.network).map_err(io::Error::other)?;
    let Some(plan) = plan.filter(|plan| plan.walls != Walls::Bubblewrap) else {
        return Ok(None);
    };
    let mut command = Command::new("/");
    let confined = enter::confine(&mut command, &limits, &plan, &scratch)?;
    // SAFETY: the closure makes system calls on what was made before, and ends the process.
    unsafe {
        command.pre_exec(move || {
            for (number, (_, attempt)) in ATTEMPTS.iter().enumerate() {
                let answer = [b'a' + number as u8, if attempt(&places) { b'1' } else { b'0' }];
                libc::write(1, answer.as_ptr().cast(), answer.len());
            }
            libc::_exit(0)
        });
    }
    command.current_dir(&scratch).env_clear().stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child =
        command.spawn().map_err(|error| io::Error::other(format!("{}: {error}", confined.stage.reached().words())))?;
    let mut answers = Vec::new();
    if let Some(mut stdout) = child.stdout.take() {
        stdout.read_to_end(&mut answers)?;
    }
    child.wait()?;
    let answers: Vec<&[u8]> = answers.chunks(2).collect();
    if answers.len() != ATTEMPTS.len() {
        return Err(io::Error::other("it ended before it had tried everything"));
    }
    let open = ATTEMPTS.iter().zip(answers).filter(|(_, answer)| answer[1] != b'0').map(|((name, _), _)| *name);
    Ok(Some(open.collect()))
}
