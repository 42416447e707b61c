//! The lock of a set as it lies on the disk (SL section 17): `review.lock`, which tells others who is at work, and a guard of the
//! operating system around every look at it that may write. Who is at work is told by the lock that a host holds on its run as long as
//! its process lives; a process number alone, which another process may have by now, only counts in a file of somebody else's.

use crate::host::embedded::lock_path;
use std::fs::{File, TryLockError};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use tribunal_core::ids::RunId;
use tribunal_core::procedure::sweep::lock::{Answer, Decision, Found, Hold, Holder, Skill, decide, hold, lets_go};

#[derive(Debug, Clone)]
pub struct SetLock {
    /// Where the lock lies.
    pub folder: PathBuf,
    /// Where hosts hold the locks of their runs.
    pub runs: PathBuf,
}

const LOCK: &str = "review.lock";
const GUARD: &str = "review.guard";

impl SetLock {
    /// Takes it if it is free, or ours, or to be passed over.
    pub fn take(&self, mine: &Holder, run: &RunId, seize: Option<&Holder>) -> Decision {
        let guarded = || -> Result<Decision, String> {
            let _guard = self.guard()?;
            let decision = decide(self.found(), run, seize);
            if matches!(decision, Decision::Take { .. } | Decision::Keep) {
                self.write(mine)?;
            }
            Ok(decision)
        };
        guarded().unwrap_or_else(Decision::Fail)
    }

    fn holder(&self) -> Result<Option<Holder>, String> {
        match std::fs::read_to_string(self.path()) {
            Ok(text) => serde_json::from_str(&text).map(Some).map_err(|error| error.to_string()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Asked before each act: is it still this run's? If not, the words say whose it is.
    pub fn hold(&self, run: &RunId) -> Result<(), String> {
        let _guard = self.guard()?;
        let (found, pid) = (self.found(), std::process::id());
        let process = begun(pid);
        match (hold(&found, run, pid, process.as_deref()), found) {
            (Hold::Ours, _) => Ok(()),
            (Hold::Refresh, Found::Lock(holder, _)) => self.write(&Holder { pid, process, ..*holder }),
            (Hold::Refresh, Found::Nothing | Found::Unreadable(_)) => Ok(()),
            (Hold::Lost(words), _) => Err(words),
        }
    }

    /// Removes it if it still names this run.
    pub fn release(&self, run: &RunId) -> Result<(), String> {
        let _guard = self.guard()?;
        if lets_go(&self.found(), run) {
            std::fs::remove_file(self.path()).map_err(|error| self.told(&error))?;
        }
        Ok(())
    }

    fn path(&self) -> PathBuf {
        self.folder.join(LOCK)
    }

    fn told(&self, error: &std::io::Error) -> String {
        format!("{}: {error}", self.path().display())
    }

    /// Held by the operating system until it is dropped, so nobody who dies leaves it behind.
    fn guard(&self) -> Result<File, String> {
        let open = || -> std::io::Result<File> {
            std::fs::create_dir_all(&self.folder)?;
            let file = File::options().create(true).truncate(false).write(true).open(self.folder.join(GUARD))?;
            file.lock()?;
            Ok(file)
        };
        open().map_err(|error| self.told(&error))
    }

    fn found(&self) -> Found {
        match self.holder() {
            Ok(None) => Found::Nothing,
            Ok(Some(holder)) => {
                let life = holder.life(self.answer(&holder));
                Found::Lock(Box::new(holder), life)
            }
            Err(why) => Found::Unreadable(format!("{}: {why}", self.path().display())),
        }
    }

    fn answer(&self, holder: &Holder) -> Answer {
        match &holder.run {
            Some(run) => is_worked_on(&self.runs, run),
            None => process(holder.pid),
        }
    }

    /// Whole or not at all (SL-121).
    fn write(&self, mine: &Holder) -> Result<(), String> {
        let text = serde_json::to_string_pretty(mine).map_err(|error| error.to_string())? + "\n";
        let temporary = self.folder.join(format!("{LOCK}.tmp"));
        let write = || -> std::io::Result<()> {
            let mut file = File::create(&temporary)?;
            file.write_all(text.as_bytes())?;
            file.sync_all()?;
            std::fs::rename(&temporary, self.path())
        };
        write().map_err(|error| self.told(&error))
    }
}

/// Does a process hold the lock of this run?
fn is_worked_on(runs: &Path, run: &RunId) -> Answer {
    let file = match File::options().write(true).open(lock_path(runs, run.as_str())) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Answer::Gone,
        Err(error) => return Answer::Unclear(error.to_string()),
    };
    match file.try_lock() {
        Ok(()) => Answer::Gone,
        Err(TryLockError::WouldBlock) => Answer::There { process: None },
        Err(TryLockError::Error(error)) => Answer::Unclear(error.to_string()),
    }
}

/// This run's own entry.
pub fn mine(run: &RunId, iteration: u32, started_at: String) -> Holder {
    let pid = std::process::id();
    Holder { pid, iteration, started_at, skill: Skill::Review, run: Some(run.clone()), process: begun(pid) }
}

/// A process of another program, by its number alone.
#[cfg(target_os = "linux")]
fn process(pid: u32) -> Answer {
    match std::fs::exists(format!("/proc/{pid}")) {
        Ok(true) => Answer::There { process: begun(pid) },
        Ok(false) if Path::new("/proc/self").exists() => Answer::Gone,
        Ok(false) => Answer::Unclear("/proc is not there".to_owned()),
        Err(error) => Answer::Unclear(error.to_string()),
    }
}

#[cfg(not(target_os = "linux"))]
fn process(pid: u32) -> Answer {
    let asked = tribunal_programs::command("ps").and_then(|mut ps| ps.args(["-p", &pid.to_string()]).output());
    match asked {
        Ok(output) if output.status.success() => Answer::There { process: begun(pid) },
        Ok(_) => Answer::Gone,
        Err(error) => Answer::Unclear(error.to_string()),
    }
}

/// When a process began, in words that only this machine understands, and that are the same until it ends (SL-125).
#[cfg(target_os = "linux")]
fn begun(pid: u32) -> Option<String> {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name of the program stands in brackets and may hold anything; the 22nd field is the 20th behind it.
    let started = stat.rsplit_once(')')?.1.split_whitespace().nth(19)?;
    Some(format!("{} {started}", boot.trim()))
}

#[cfg(not(target_os = "linux"))]
fn begun(pid: u32) -> Option<String> {
    let output = tribunal_programs::command("ps").ok()?.args(["-o", "lstart=", "-p", &pid.to_string()]).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    Some(text).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn lock(folder: &tempfile::TempDir) -> SetLock {
        SetLock { folder: folder.path().join("set"), runs: folder.path().to_owned() }
    }

    /// What a host holds while it works on a run.
    fn at_work(lock: &SetLock, run: &str) -> File {
        let path = lock_path(&lock.runs, run);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let file = File::create(path).unwrap();
        file.lock().unwrap();
        file
    }

    fn take(lock: &SetLock, run: &str, seize: Option<&Holder>) -> Decision {
        let run = RunId::from(run);
        lock.take(&mine(&run, 1, "2026-11-17T12:00:00Z".into()), &run, seize)
    }

    /// SL-123, SL-124, CF-29: one holds it; the dead are passed over, the living only by a person's word.
    #[test]
    fn one_run_holds_the_lock() {
        let folder = tempfile::tempdir().unwrap();
        let lock = lock(&folder);
        let _first = at_work(&lock, "one");
        assert_eq!(take(&lock, "one", None), Decision::Take { reaped: None });
        assert_eq!(take(&lock, "one", None), Decision::Keep);
        let Decision::Busy { holder, note: None } = take(&lock, "two", None) else { unreachable!("two hold it") };
        assert!(holder.is(&"one".into()));
        assert_eq!(take(&lock, "two", Some(&holder)), Decision::Take { reaped: None });
        assert!(lock.hold(&"one".into()).unwrap_err().contains("two"), "who was passed over finds out before its next act");
        assert_eq!(lock.hold(&"two".into()), Ok(()));
        // Nobody works on `two`.
        assert_eq!(take(&lock, "three", None), Decision::Take { reaped: Some(std::process::id()) });
        lock.release(&"two".into()).unwrap();
        assert!(lock.holder().unwrap().is_some(), "only its holder gives it back");
        lock.release(&"three".into()).unwrap();
        assert_eq!(lock.holder().unwrap(), None);
        assert!(lock.hold(&"three".into()).is_err());
    }

    /// A run that goes on after a kill has the lock, and says that it is another process now.
    #[test]
    fn a_lock_names_the_process_of_now() {
        let folder = tempfile::tempdir().unwrap();
        let lock = lock(&folder);
        take(&lock, "one", None);
        let before = lock.holder().unwrap().unwrap();
        lock.write(&Holder { pid: 1, process: Some("long ago".into()), ..before.clone() }).unwrap();
        assert_eq!(lock.hold(&"one".into()), Ok(()));
        assert_eq!(lock.holder().unwrap(), Some(before));
    }

    /// SL-122: a lock of another program goes by its process; what nobody understands is left alone.
    #[test]
    fn locks_of_others_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let lock = lock(&folder);
        std::fs::create_dir_all(&lock.folder).unwrap();
        let write = |pid: u32, more: &str| {
            let text = format!(r#"{{"pid": {pid}, "iteration": 1, "started_at": "x", "skill": "work"{more}}}"#);
            std::fs::write(lock.path(), text).unwrap();
        };
        write(std::process::id(), "");
        assert!(matches!(take(&lock, "one", None), Decision::Busy { .. }));
        // The same number, another process (SL-125).
        write(std::process::id(), r#", "process": "long ago""#);
        assert!(matches!(take(&lock, "one", None), Decision::Take { reaped: Some(_) }));
        write(u32::MAX - 1, "");
        assert_eq!(take(&lock, "one", None), Decision::Take { reaped: Some(u32::MAX - 1) });
        std::fs::write(lock.path(), "nonsense").unwrap();
        assert!(matches!(take(&lock, "one", None), Decision::Fail(_)));
        assert_eq!(std::fs::read_to_string(lock.path()).unwrap(), "nonsense");
    }
}
