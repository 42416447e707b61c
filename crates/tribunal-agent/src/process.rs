//! Runs a program we do not trust: own folder, allow-listed environment, bounded output, bounded time, killed with everything
//! it started.

use crate::AgentFailure;
use crate::sandbox::{Limits, confine};
use std::collections::BTreeSet;
use std::io::{Read, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, mpsc};
use std::time::{Duration, Instant};

/// An answer beyond this is garbage, whatever it says.
pub const MAX_OUTPUT: usize = 32 * 1024 * 1024;
const MAX_TALK: usize = 64 * 1024;

pub struct Invocation<'a> {
    pub command: &'a [String],
    pub input: Vec<u8>,
    /// Where it runs. `scratch` is writable beside it.
    pub directory: &'a Path,
    pub scratch: &'a Path,
    pub env: &'a [String],
    pub network: bool,
    pub timeout: Duration,
}

/// What it printed, and whether it said it had failed.
#[derive(Debug)]
pub struct Printed {
    pub stdout: Vec<u8>,
    pub stderr: String,
    pub success: bool,
    pub exit: String,
}

/// Passed on unless the config names more.
const ENVIRONMENT: [&str; 6] = ["PATH", "LANG", "LC_ALL", "TZ", "SYSTEMROOT", "SSL_CERT_FILE"];

pub fn run(invocation: &Invocation<'_>) -> Result<Printed, AgentFailure> {
    let Some((program, args)) = invocation.command.split_first() else {
        return Err(AgentFailure::Failed("its command is empty".into()));
    };
    let mut command = Command::new(program);
    command.args(args).current_dir(invocation.directory).env_clear();
    for name in ENVIRONMENT.iter().map(|name| (*name).to_owned()).chain(invocation.env.iter().cloned()) {
        if let Some(value) = std::env::var_os(&name) {
            command.env(name, value);
        }
    }
    command.env("HOME", invocation.scratch).env("TMPDIR", invocation.scratch);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    own_group(&mut command);
    let writable = vec![PathBuf::from(invocation.directory), PathBuf::from(invocation.scratch)];
    confine(&mut command, &Limits { writable, network: invocation.network });
    let child = command.spawn().map_err(|error| AgentFailure::Failed(format!("`{program}` cannot be started: {error}")))?;
    supervise(child, invocation.input.clone(), invocation.timeout)
}

enum Event {
    Output(Result<Vec<u8>, String>),
    Talk(Vec<u8>),
}

/// Groups that are running now, so that an interrupt can end them all.
static RUNNING: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

/// Ends every program that was started here and is still running.
pub fn end_all() {
    if let Ok(mut running) = RUNNING.lock() {
        for id in std::mem::take(&mut *running) {
            signal_group(id);
        }
    }
}

fn note(id: u32, is_running: bool) {
    if let Ok(mut running) = RUNNING.lock() {
        if is_running {
            running.insert(id);
        } else {
            running.remove(&id);
        }
    }
}

/// Feeds a child of [`own_group`], hears it out, and ends it with everything it started.
pub(crate) fn supervise(child: Child, input: Vec<u8>, timeout: Duration) -> Result<Printed, AgentFailure> {
    let id = child.id();
    note(id, true);
    let answer = listen(child, input, timeout);
    note(id, false);
    answer
}

fn listen(mut child: Child, input: Vec<u8>, timeout: Duration) -> Result<Printed, AgentFailure> {
    let deadline = Instant::now() + timeout;
    let (sender, events) = mpsc::channel();
    let stdin = child.stdin.take();
    // A program may answer without reading its brief; the broken pipe is then nobody's problem.
    std::thread::spawn(move || stdin.map(|mut stdin| stdin.write_all(&input)));
    if let Some(mut stdout) = child.stdout.take() {
        let sender = sender.clone();
        std::thread::spawn(move || sender.send(Event::Output(read_bounded(&mut stdout, MAX_OUTPUT))));
    }
    if let Some(mut stderr) = child.stderr.take() {
        std::thread::spawn(move || sender.send(Event::Talk(read_bounded(&mut stderr, MAX_TALK).unwrap_or_default())));
    }
    let (mut stdout, mut stderr) = (None, None);
    while stdout.is_none() || stderr.is_none() {
        let left = deadline.saturating_duration_since(Instant::now());
        match events.recv_timeout(left) {
            Ok(Event::Output(Ok(bytes))) => stdout = Some(bytes),
            Ok(Event::Output(Err(problem))) => {
                kill_group(&mut child);
                return Err(AgentFailure::Failed(problem));
            }
            Ok(Event::Talk(bytes)) => stderr = Some(bytes),
            Err(_) => {
                kill_group(&mut child);
                return Err(AgentFailure::TimedOut { after_seconds: timeout.as_secs() });
            }
        }
    }
    // Its pipes are closed; give it the rest of its time to end, then end it.
    while Instant::now() < deadline {
        match child.try_wait() {
            Ok(Some(status)) => {
                kill_group(&mut child);
                return Ok(Printed {
                    stdout: stdout.unwrap_or_default(),
                    stderr: String::from_utf8_lossy(&stderr.unwrap_or_default()).trim().to_owned(),
                    success: status.success(),
                    exit: status.to_string(),
                });
            }
            Ok(None) => std::thread::sleep(Duration::from_millis(2)),
            Err(error) => return Err(AgentFailure::Failed(error.to_string())),
        }
    }
    kill_group(&mut child);
    Err(AgentFailure::TimedOut { after_seconds: timeout.as_secs() })
}

fn read_bounded(from: &mut impl Read, limit: usize) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let mut chunk = vec![0_u8; 64 * 1024];
    loop {
        match from.read(&mut chunk) {
            Ok(0) => return Ok(bytes),
            Ok(count) if bytes.len() + count > limit => {
                return Err(format!("it printed more than {} MiB", limit / (1024 * 1024)));
            }
            Ok(count) => bytes.extend_from_slice(&chunk[..count]),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error.to_string()),
        }
    }
}

#[cfg(unix)]
pub(crate) fn own_group(command: &mut Command) {
    use std::os::unix::process::CommandExt as _;
    command.process_group(0);
}

#[cfg(not(unix))]
pub(crate) fn own_group(_command: &mut Command) {}

/// Ends the child and everything it started that stayed in its group.
fn kill_group(child: &mut Child) {
    signal_group(child.id());
    let _ = child.kill();
    let _ = child.wait();
}

#[cfg(unix)]
#[allow(unsafe_code)]
fn signal_group(id: u32) {
    if let Ok(group) = i32::try_from(id) {
        // SAFETY: kill only sends a signal; the group was made for this child by `own_group`.
        unsafe {
            libc::kill(-group, libc::SIGKILL);
        }
    }
}

#[cfg(not(unix))]
fn signal_group(_id: u32) {}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, timeout: Duration) -> Result<Printed, AgentFailure> {
        let folder = tempfile::tempdir().unwrap();
        let command = ["sh".to_owned(), "-c".to_owned(), script.to_owned()];
        run(&Invocation {
            command: &command,
            input: b"hello".to_vec(),
            directory: folder.path(),
            scratch: folder.path(),
            env: &[],
            network: false,
            timeout,
        })
    }

    #[test]
    fn it_reads_its_brief_and_prints_its_answer() {
        let printed = shell("cat", Duration::from_secs(20)).unwrap();
        assert_eq!(printed.stdout, b"hello");
        assert!(printed.success);
    }

    /// Issue, bad input: a hang ends with everything it started.
    #[test]
    fn a_hang_is_killed_with_its_children() {
        let begun = Instant::now();
        let failure = shell("sleep 300 & sleep 300", Duration::from_millis(300)).unwrap_err();
        assert_eq!(failure, AgentFailure::TimedOut { after_seconds: 0 });
        assert!(begun.elapsed() < Duration::from_secs(20));
    }

    /// Issue, bad input: a gigabyte of output is cut short, not swallowed.
    #[test]
    fn a_flood_is_refused() {
        let failure = shell("head -c 1073741824 /dev/zero", Duration::from_secs(60)).unwrap_err();
        assert!(failure.to_string().contains("printed more than 32 MiB"), "{failure}");
    }

    #[test]
    fn the_environment_is_allow_listed() {
        let printed = shell("env | cut -d= -f1 | sort | tr '\\n' ' '", Duration::from_secs(20)).unwrap();
        let names = String::from_utf8(printed.stdout).unwrap();
        assert!(!names.contains("CARGO"), "{names}");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn it_cannot_write_outside_its_folder() {
        if crate::sandbox::describe().starts_with("none") {
            eprintln!("SKIPPED: this kernel has no Landlock");
            assert!(std::env::var_os("CI").is_none(), "CI must have Landlock");
            return;
        }
        let outside = tempfile::tempdir().unwrap();
        let target = outside.path().join("written");
        let printed =
            shell(&format!("echo x > {} ; echo y > inside && cat inside", target.display()), Duration::from_secs(20)).unwrap();
        assert!(!target.exists());
        assert_eq!(printed.stdout, b"y\n");
    }
}
