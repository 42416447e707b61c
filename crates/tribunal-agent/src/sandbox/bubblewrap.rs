//! bubblewrap, for systems where we may not make namespaces ourselves but `bwrap` may, or whose kernel has no Landlock.
//!
//! It shows the child only the listed files, and only its own processes. The network stays this machine's, because our proxy is
//! there; Landlock's rule for ports is put around bubblewrap, and seccomp inside it.

use super::plan::Calls;
use super::{Limits, Network, Reads, calls, files};
use seccompiler::BpfProgram;
use std::fs::File;
use std::io::{Seek as _, Write as _};
use std::os::fd::AsRawFd as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// Is it here, and may it do what we ask of it?
pub fn works() -> bool {
    static FOUND: OnceLock<bool> = OnceLock::new();
    *FOUND.get_or_init(|| {
        let limits = Limits::new(Reads::default(), Vec::new(), Network::None);
        let Some(mut wrapped) = wrap(&["sh".into(), "-c".into(), ":".into()], &limits, Path::new("/usr")) else { return false };
        inherit(&mut wrapped.command, &wrapped.filters);
        wrapped.command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        wrapped.command.status().is_ok_and(|status| status.success())
    })
}

/// A command, and what must stay open until it runs.
pub struct Wrapped {
    pub command: Command,
    pub filters: Vec<File>,
}

pub fn wrap(program: &[String], limits: &Limits, directory: &Path) -> Option<Wrapped> {
    // By its place: the child's PATH is another than ours.
    let mut command = Command::new(tribunal_programs::find("bwrap")?);
    for flag in ["--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--die-with-parent", "--new-session"] {
        command.arg(flag);
    }
    command.args(["--cap-drop", "ALL"]);
    if limits.network == Network::None {
        command.arg("--unshare-net");
    }
    for folder in super::view::TEMPORARY.iter().filter(|folder| !folder.starts_with("/dev")) {
        command.args(["--tmpfs", folder]);
    }
    let mut bind = |how: &str, path: &Path| {
        command.arg(how).arg(path).arg(path);
    };
    for path in files::system().chain(limits.reads.run.iter().cloned()).chain(limits.reads.read.iter().cloned()) {
        bind("--ro-bind-try", &path);
    }
    for path in &limits.writable {
        bind("--bind-try", path);
    }
    command.args(["--proc", "/proc", "--dev", "/dev", "--remount-ro", "/proc", "--remount-ro", "/", "--chdir"]).arg(directory);
    let filters: Option<Vec<File>> = calls::filters(limits.network, Calls::default()).ok()?.iter().map(as_file).collect();
    let filters = filters?;
    for filter in &filters {
        command.arg("--add-seccomp-fd").arg(filter.as_raw_fd().to_string());
    }
    command.arg("--").args(program);
    Some(Wrapped { command, filters })
}

/// As bubblewrap reads it: the instructions as they lie in memory.
fn as_file(filter: &BpfProgram) -> Option<File> {
    let mut file = tempfile::tempfile().ok()?;
    for step in filter {
        file.write_all(&step.code.to_ne_bytes()).ok()?;
        file.write_all(&[step.jt, step.jf]).ok()?;
        file.write_all(&step.k.to_ne_bytes()).ok()?;
    }
    file.rewind().ok()?;
    Some(file)
}

/// Lets this child, and no other that is started meanwhile, keep the filters' descriptors.
#[allow(unsafe_code)]
pub fn inherit(command: &mut Command, filters: &[File]) {
    use std::os::unix::process::CommandExt as _;
    let descriptors: Vec<i32> = filters.iter().map(|file| file.as_raw_fd()).collect();
    // SAFETY: one plain system call for each descriptor, between fork and exec.
    unsafe {
        command.pre_exec(move || {
            for descriptor in &descriptors {
                libc::fcntl(*descriptor, libc::F_SETFD, 0);
            }
            Ok(())
        });
    }
}
