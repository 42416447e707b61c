//! Runs a program we do not trust: own folder, allow-listed environment, bounded output, memory, processes and time, ended with
//! everything it started.
//!
//! The calling thread supervises until the end. It must be the one that starts the child: the kernel ends the child when the thread
//! that started it is gone.

use crate::AgentFailure;
use crate::folder::Folder;
use crate::sandbox::home::link_tools;
use crate::sandbox::plan::Machine;
use crate::sandbox::reads::Homes;
use crate::sandbox::{Limits, NotConfined};
use disk::{Disk, Held};
use std::collections::BTreeSet;
use std::io::{Read, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, mpsc};
use std::time::{Duration, Instant};

mod disk;
pub mod family;
pub mod pulse;
mod start;

pub use pulse::Pulse;

/// An answer beyond this is garbage, whatever it says.
pub const MAX_OUTPUT: usize = 32 * 1024 * 1024;
const MAX_TALK: usize = 64 * 1024;
const MEBIBYTE: u64 = 1024 * 1024;
/// How often the family is counted and the clocks are read.
const WATCH: Duration = Duration::from_millis(100);
/// How long the keeper may take to end a family before we do it ourselves.
const PATIENCE: Duration = Duration::from_secs(3);

pub struct Invocation<'a> {
    pub command: &'a [String],
    pub input: Vec<u8>,
    /// Where it runs. `scratch` is its HOME.
    pub directory: &'a Path,
    pub scratch: &'a Path,
    /// Variables passed on from our environment.
    pub env: &'a [String],
    /// Variables set for it, which win over those passed on.
    pub set: &'a [(String, String)],
    pub limits: Limits,
    pub clocks: Clocks,
}

/// How long it may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Clocks {
    /// Until it begins to answer.
    pub first_byte: Option<Duration>,
    /// Between two signs of life.
    pub idle: Option<Duration>,
    pub total: Duration,
}

impl Clocks {
    pub fn total(total: Duration) -> Self {
        Self { first_byte: None, idle: None, total }
    }
}

/// Called for each whole line of standard output as it comes.
pub type OnLine<'a> = &'a mut dyn FnMut(&[u8]);

/// Who else takes part in a run. All of it may be left out.
#[derive(Default)]
pub struct Company<'a> {
    pub on_line: Option<OnLine<'a>>,
    /// Signs of life that come by another way than standard output.
    pub pulse: Option<&'a Pulse>,
    /// Gets the listener that was made in the child's own network, before the child can connect to it.
    pub door: Option<Box<dyn FnOnce(TcpListener) + 'a>>,
}

/// What it printed, and whether it said it had failed.
#[derive(Debug)]
pub struct Printed {
    pub stdout: Vec<u8>,
    pub stderr: String,
    pub success: bool,
    pub exit: String,
    pub code: Option<i32>,
}

/// Why there is no answer. What it had printed by then may still tell what it cost.
#[derive(Debug)]
pub struct Stopped {
    pub why: Why,
    pub stdout: Vec<u8>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Why {
    #[error("`{program}` cannot be started: {problem}")]
    NotStarted { program: String, problem: String },
    #[error("{0}")]
    NotConfined(#[from] NotConfined),
    #[error("no first byte within {seconds} s")]
    NoFirstByte { seconds: u64 },
    #[error("no sign of life for {seconds} s")]
    Stalled { seconds: u64 },
    #[error("no answer within {seconds} s")]
    OutOfTime { seconds: u64 },
    #[error("it printed more than {mebibytes} MiB")]
    Flood { mebibytes: u64 },
    #[error("it used more than {mebibytes} MiB of memory")]
    Memory { mebibytes: u64 },
    #[error("it started more than {limit} processes")]
    Processes { limit: usize },
    #[error("it wrote more than {mebibytes} MiB or {files} files")]
    Disk { mebibytes: u64, files: u64 },
    #[error("processes that it started could not be ended; its folders are left as they are: {folders}")]
    Survivors { folders: String },
    #[error("{0}")]
    Broken(String),
}

impl From<Stopped> for AgentFailure {
    fn from(stopped: Stopped) -> Self {
        match stopped.why {
            Why::OutOfTime { seconds } | Why::NoFirstByte { seconds } | Why::Stalled { seconds } => {
                AgentFailure::TimedOut { after_seconds: seconds }
            }
            why => AgentFailure::Failed(why.to_string()),
        }
    }
}

/// A file that a program was told to write, by its place in a folder that the program could write to. A link on the way, what is not
/// regular and what is too large was not written by it.
pub fn written_file(folder: &Path, inside: &str) -> std::io::Result<Vec<u8>> {
    Folder::open(folder)?.read(Path::new(inside), MAX_OUTPUT)
}

/// Passed on unless the config names more.
const ENVIRONMENT: [&str; 6] = ["PATH", "LANG", "LC_ALL", "TZ", "SYSTEMROOT", "SSL_CERT_FILE"];
/// In the environment of all that a run starts: what has left every other trace is known by it.
const MARK: &str = "TRIBUNAL_CHILD";

pub fn run(invocation: &Invocation<'_>) -> Result<Printed, AgentFailure> {
    Ok(run_with(invocation, Company::default())?)
}

pub fn run_with(invocation: &Invocation<'_>, company: Company<'_>) -> Result<Printed, Stopped> {
    run_on(&Machine::here(), invocation, company)
}

/// The same on a machine that can do this much.
pub(crate) fn run_on(machine: &Machine, invocation: &Invocation<'_>, company: Company<'_>) -> Result<Printed, Stopped> {
    let nothing = |why| Stopped { why, stdout: Vec::new() };
    let program = invocation.command.first().cloned().unwrap_or_default();
    if program.is_empty() {
        return Err(nothing(Why::Broken("its command is empty".into())));
    }
    let cannot = |problem: String| nothing(Why::NotStarted { program: program.clone(), problem });
    let (mut command, confined) = start::prepare(machine, invocation).map_err(|error| match error {
        start::Unstarted::NotConfined(lack) => nothing(lack.into()),
        start::Unstarted::Io(error) => cannot(error.to_string()),
    })?;
    link_tools(invocation.scratch, &invocation.limits.reads, &Homes::here()).map_err(|error| cannot(error.to_string()))?;
    let mark = crate::token().map_err(|error| cannot(error.to_string()))?;
    environment(&mut command, invocation, &mark);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let limits = &invocation.limits;
    // What a quick child has written by the time that we look would count as given.
    let mut disk = Disk::watch(&limits.writable, Held { bytes: limits.disk, files: limits.files });
    let child = command.spawn().map_err(|error| cannot(confined.explain(&error)))?;
    let id = child.id();
    note(id, true);
    let mut family = Family { child, apart: confined.apart(), mark: format!("{MARK}={mark}"), survivors: confined.survivors() };
    let Company { on_line, pulse, door } = company;
    if let (Some(door), Some(listener)) = (door, confined.listener()) {
        door(listener);
    }
    drop(confined);
    let answer = listen(&mut family, invocation, on_line, pulse, &mut disk);
    let has_ended = family.end();
    note(id, false);
    if has_ended {
        return answer;
    }
    // They could change what was written while it is read, and would see what is put there next.
    crate::tree::leave_alone(&invocation.limits.writable);
    let folders = invocation.limits.writable.iter().map(|folder| folder.display().to_string()).collect::<Vec<_>>().join(", ");
    let stdout = answer.map_or_else(|stopped| stopped.stdout, |printed| printed.stdout);
    Err(Stopped { why: Why::Survivors { folders }, stdout })
}

fn environment(command: &mut Command, invocation: &Invocation<'_>, mark: &str) {
    command.env_clear();
    for name in ENVIRONMENT.iter().map(|name| (*name).to_owned()).chain(invocation.env.iter().cloned()) {
        if name == "PATH" {
            command.env(name, tribunal_programs::path_variable());
        } else if let Some(value) = std::env::var_os(&name) {
            command.env(name, value);
        }
    }
    command.env("HOME", invocation.scratch).env("TMPDIR", invocation.scratch).env(MARK, mark);
    command.envs(invocation.set.iter().map(|(name, value)| (name, value)));
}

enum Event {
    Output(Vec<u8>),
    OutputEnded,
    Talk(Vec<u8>),
}

/// Families that are running now, so that an interrupt can end them all.
static RUNNING: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

/// Ends every program that was started here and is still running.
pub fn end_all() {
    if let Ok(mut running) = RUNNING.lock() {
        for id in std::mem::take(&mut *running) {
            start::ask_to_end(id);
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

/// A child and all that descends from it.
struct Family {
    child: Child,
    apart: bool,
    mark: String,
    survivors: start::Survivors,
}

impl Family {
    /// Its members without those that are copies of ourselves.
    fn members(&self) -> Vec<family::Member> {
        let keeper = self.child.id();
        family::below(keeper).into_iter().filter(|member| !self.apart || member.parent != keeper).collect()
    }

    fn overgrown(&self, limits: &Limits, disk: &mut Disk<'_>) -> Option<Why> {
        let members = self.members();
        let memory: u64 = members.iter().map(|member| member.memory).sum();
        if memory > limits.memory {
            return Some(Why::Memory { mebibytes: limits.memory / MEBIBYTE });
        }
        if members.len() > limits.processes {
            return Some(Why::Processes { limit: limits.processes });
        }
        (disk.is_due() && disk.is_over(family::held_without_name(&members)))
            .then_some(Why::Disk { mebibytes: limits.disk / MEBIBYTE, files: limits.files })
    }

    /// Ends whatever is left; whether nothing is.
    fn end(&mut self) -> bool {
        start::ask_to_end(self.child.id());
        let begun = Instant::now();
        let mut has_ended = false;
        while !has_ended && begun.elapsed() < PATIENCE {
            match self.child.try_wait() {
                Ok(None) => std::thread::sleep(Duration::from_millis(2)),
                Ok(Some(_)) | Err(_) => has_ended = true,
            }
        }
        let rest = family::below(self.child.id());
        start::end_group(self.child.id());
        let _ = self.child.kill();
        let _ = self.child.wait();
        for id in rest.iter().map(|member| member.id).chain(if self.apart { Vec::new() } else { family::marked(&self.mark) }) {
            start::end(id);
        }
        self.apart || (has_ended && !self.survivors.are_left())
    }
}

/// Standard output so far, whole lines told as they come.
struct Output<'a> {
    bytes: Vec<u8>,
    told: usize,
    on_line: Option<OnLine<'a>>,
}

impl Output<'_> {
    fn take(&mut self, chunk: &[u8]) {
        self.bytes.extend_from_slice(chunk);
        let Some(on_line) = self.on_line.as_mut() else { return };
        while let Some(length) = self.bytes[self.told..].iter().position(|byte| *byte == b'\n') {
            on_line(&self.bytes[self.told..self.told + length]);
            self.told += length + 1;
        }
    }
}

fn listen(
    family: &mut Family,
    invocation: &Invocation<'_>,
    on_line: Option<OnLine<'_>>,
    pulse: Option<&Pulse>,
    disk: &mut Disk<'_>,
) -> Result<Printed, Stopped> {
    let own_pulse = Pulse::default();
    let pulse = pulse.unwrap_or(&own_pulse);
    let limits = &invocation.limits;
    let events = readers(&mut family.child, invocation.input.clone());
    let mut output = Output { bytes: Vec::new(), told: 0, on_line };
    let (mut ended, mut stderr) = (false, None);
    let begun = Instant::now();
    let mut counted = begun;
    let why = loop {
        match events.recv_timeout(WATCH) {
            Ok(Event::Output(chunk)) if output.bytes.len() + chunk.len() > MAX_OUTPUT => {
                break Why::Flood { mebibytes: (MAX_OUTPUT / (1024 * 1024)) as u64 };
            }
            Ok(Event::Output(chunk)) => {
                pulse.printed();
                output.take(&chunk);
            }
            Ok(Event::OutputEnded) => ended = true,
            Ok(Event::Talk(bytes)) => stderr = Some(bytes),
            Err(mpsc::RecvTimeoutError::Timeout | mpsc::RecvTimeoutError::Disconnected) => {}
        }
        if ended && stderr.is_some() {
            // Its pipes are closed; it has the rest of its time to end.
            match family.child.try_wait() {
                Ok(Some(status)) => {
                    return Ok(Printed {
                        stdout: output.bytes,
                        stderr: String::from_utf8_lossy(&stderr.unwrap_or_default()).trim().to_owned(),
                        success: status.success(),
                        exit: status.to_string(),
                        code: status.code(),
                    });
                }
                Ok(None) => std::thread::sleep(Duration::from_millis(2)),
                Err(error) => break Why::Broken(error.to_string()),
            }
        }
        if let Some(why) = pulse.late(&invocation.clocks) {
            break why;
        }
        if counted.elapsed() >= WATCH {
            counted = Instant::now();
            if let Some(why) = family.overgrown(limits, disk) {
                break why;
            }
        }
    };
    family.end();
    Err(Stopped { why, stdout: output.bytes })
}

fn readers(child: &mut Child, input: Vec<u8>) -> mpsc::Receiver<Event> {
    let (sender, events) = mpsc::sync_channel(64);
    let stdin = child.stdin.take();
    // A program may answer without reading its brief; the broken pipe is then nobody's problem.
    std::thread::spawn(move || stdin.map(|mut stdin| stdin.write_all(&input)));
    if let Some(mut stdout) = child.stdout.take() {
        let sender = sender.clone();
        std::thread::spawn(move || {
            let mut chunk = vec![0_u8; 64 * 1024];
            while let Some(count) = some(&mut stdout, &mut chunk) {
                if sender.send(Event::Output(chunk[..count].to_vec())).is_err() {
                    return;
                }
            }
            let _ = sender.send(Event::OutputEnded);
        });
    }
    if let Some(mut stderr) = child.stderr.take() {
        std::thread::spawn(move || {
            // The end of what it says tells more than the beginning; the rest is read and forgotten.
            let mut talk = Vec::new();
            let mut chunk = vec![0_u8; 16 * 1024];
            while let Some(count) = some(&mut stderr, &mut chunk) {
                talk.extend_from_slice(&chunk[..count]);
                let surplus = talk.len().saturating_sub(MAX_TALK);
                talk.drain(..surplus);
            }
            let _ = sender.send(Event::Talk(talk));
        });
    }
    events
}

fn some(from: &mut impl Read, into: &mut [u8]) -> Option<usize> {
    loop {
        match from.read(into) {
            Ok(0) => return None,
            Ok(count) => return Some(count),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => return None,
        }
    }
}

#[cfg(test)]
mod tests;
