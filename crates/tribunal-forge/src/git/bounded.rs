//! A fetch brings what strangers pushed, so it has limits of its own: nobody fills a disk or holds a clone's lock with a pull request.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::{Duration, Instant};

/// What one fetch may bring, and how long it may take.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    pub bytes: u64,
    pub time: Duration,
}

const GIB: u64 = 1 << 30;

impl Bounds {
    /// Files of a change. Far more than is reviewed of one; what is too large is named by its size, which is known once it is here.
    pub const FILES: Bounds = Bounds { bytes: 2 * GIB, time: Duration::from_secs(30 * 60) };
    /// Commits and trees of a whole repository.
    pub const HISTORY: Bounds = Bounds { bytes: 16 * GIB, time: Duration::from_secs(30 * 60) };
}

/// Git ends a transfer itself that brings less than this many bytes a second for a minute.
pub(super) const NOT_TOO_SLOW: [(&str, &str); 2] = [("http.lowSpeedLimit", "1000"), ("http.lowSpeedTime", "60")];

/// What a server says for people is not kept beyond this.
const MAX_SAID: u64 = 64 * 1024;

const LONGEST_NAP: Duration = Duration::from_millis(100);

/// Waits for a fetch into these objects, and ends it where it goes beyond its bounds. Gives whether it succeeded, and what was said.
pub(super) fn wait(mut child: Child, objects: &Path, bounds: Bounds) -> std::io::Result<(bool, String)> {
    let stderr = child.stderr.take();
    let listener = std::thread::spawn(move || stderr.map(beginning).unwrap_or_default());
    let packs = objects.join("pack");
    let (begun, before) = (Instant::now(), size_of(&packs));
    let mut nap = Duration::from_millis(1);
    loop {
        if let Some(status) = child.try_wait()? {
            let said = listener.join().unwrap_or_default();
            return Ok((status.success(), said));
        }
        let problem = if begun.elapsed() > bounds.time {
            format!("it took more than {} s", bounds.time.as_secs_f32())
        } else if size_of(&packs).saturating_sub(before) > bounds.bytes {
            format!("it brought more than {} MiB", bounds.bytes >> 20)
        } else {
            std::thread::sleep(nap);
            nap = LONGEST_NAP.min(nap * 2);
            continue;
        };
        child.kill()?;
        child.wait()?;
        // Its helpers end when nobody listens to them. What they had written is no pack yet.
        unfinished(&packs).iter().for_each(|path| drop(std::fs::remove_file(path)));
        return Ok((false, format!("stopped, because {problem}")));
    }
}

/// All of it is read, so that nobody waits for us; the beginning is kept.
fn beginning(mut from: impl Read) -> String {
    let mut kept = Vec::new();
    let _ = from.by_ref().take(MAX_SAID).read_to_end(&mut kept);
    let _ = std::io::copy(&mut from, &mut std::io::sink());
    String::from_utf8_lossy(&kept).trim().to_owned()
}

fn size_of(packs: &Path) -> u64 {
    let entries = std::fs::read_dir(packs).into_iter().flatten().filter_map(Result::ok);
    entries.filter_map(|entry| entry.metadata().ok()).map(|metadata| metadata.len()).sum()
}

fn unfinished(packs: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(packs).into_iter().flatten().filter_map(Result::ok);
    entries.filter(|entry| entry.file_name().to_string_lossy().starts_with("tmp_")).map(|entry| entry.path()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    fn waited(script: &str, bounds: Bounds) -> (bool, String, Vec<PathBuf>) {
        let objects = tempfile::tempdir().unwrap();
        std::fs::create_dir(objects.path().join("pack")).unwrap();
        let mut command = Command::new("sh");
        command
            .args(["-c", script])
            .current_dir(objects.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let (success, said) = wait(command.spawn().unwrap(), objects.path(), bounds).unwrap();
        (success, said, unfinished(&objects.path().join("pack")))
    }

    const SMALL: Bounds = Bounds { bytes: 3 << 20, time: Duration::from_secs(60) };

    /// Issue 16, F19: a pull request of endless files neither fills the disk nor stays there.
    #[test]
    fn a_fetch_without_an_end_is_stopped() {
        let endless = "while :; do head -c 100000 /dev/zero >> pack/tmp_pack_1 || exit; done";
        let (success, said, left) = waited(endless, SMALL);
        assert_eq!((success, said.as_str(), left.len()), (false, "stopped, because it brought more than 3 MiB", 0));
        let (success, said, _) = waited("exec sleep 600", Bounds { time: Duration::from_millis(50), ..SMALL });
        assert_eq!((success, said.as_str()), (false, "stopped, because it took more than 0.05 s"));
    }

    /// What was there before does not count, and a server that talks without an end is heard for a while.
    #[test]
    fn others_are_left_to_end() {
        let (success, said, _) = waited("head -c 1000000 /dev/zero | tr '\\0' x >&2; exit 3", SMALL);
        assert_eq!((success, said.len()), (false, 64 * 1024));
        assert_eq!(waited("echo all is well >&2", SMALL), (true, "all is well".to_owned(), Vec::new()));
    }
}
