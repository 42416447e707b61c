//! How much a child has written. No limit of the kernel counts a folder, so its folders are looked through while it runs, as often as
//! that costs little.

use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Folders nested deeper than this were made to trip somebody up.
const MAX_DEPTH: usize = 200;
/// Of the time, at most this part goes into looking.
const SHARE: u32 = 20;
const OFTEN: Duration = Duration::from_millis(250);

/// What the folders hold.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Held {
    pub bytes: u64,
    pub files: u64,
}

/// Watches what is added to some folders.
pub struct Disk<'a> {
    folders: &'a [PathBuf],
    at_first: Held,
    most: Held,
    next: Instant,
}

impl<'a> Disk<'a> {
    /// `most` is what may be added to what is there now.
    pub fn watch(folders: &'a [PathBuf], most: Held) -> Self {
        let begun = Instant::now();
        let at_first = held_by(folders, Held { bytes: u64::MAX, files: u64::MAX }).unwrap_or_default();
        Self { folders, at_first, most, next: Instant::now() + pause(begun) }
    }

    pub fn is_due(&self) -> bool {
        Instant::now() >= self.next
    }

    /// Whether it is too much. `besides` are bytes that no folder shows.
    pub fn is_over(&mut self, besides: u64) -> bool {
        let begun = Instant::now();
        let limit = Held {
            bytes: self.at_first.bytes.saturating_add(self.most.bytes),
            files: self.at_first.files.saturating_add(self.most.files),
        };
        let now = held_by(self.folders, limit);
        self.next = Instant::now() + pause(begun);
        now.is_none_or(|now| now.bytes.saturating_add(besides) > limit.bytes)
    }
}

fn pause(begun: Instant) -> Duration {
    OFTEN.max(begun.elapsed() * SHARE)
}

/// Nothing if it is more than `most`, or nested too deeply. Links are not followed; what vanishes meanwhile counts nothing.
fn held_by(folders: &[PathBuf], most: Held) -> Option<Held> {
    let mut held = Held::default();
    let mut rest: Vec<(PathBuf, usize)> = folders.iter().map(|folder| (folder.clone(), 0)).collect();
    while let Some((folder, depth)) = rest.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            let Ok(about) = entry.metadata() else { continue };
            held.files += 1;
            held.bytes = held.bytes.saturating_add(size(&about));
            if held.files > most.files || held.bytes > most.bytes {
                return None;
            }
            if about.is_dir() {
                if depth >= MAX_DEPTH {
                    return None;
                }
                rest.push((entry.path(), depth + 1));
            }
        }
    }
    Some(held)
}

/// What it takes on the disk: a file may claim more than it has.
#[cfg(unix)]
fn size(about: &std::fs::Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::blocks(about) * 512
}

#[cfg(not(unix))]
fn size(about: &std::fs::Metadata) -> u64 {
    about.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_added_counts_and_what_was_there_does_not() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("given"), vec![1; 300_000]).unwrap();
        let folders = [folder.path().to_owned()];
        let mut disk = Disk::watch(&folders, Held { bytes: 200_000, files: 2 });
        assert!(!disk.is_over(0));
        std::fs::write(folder.path().join("one"), vec![1; 100_000]).unwrap();
        assert!(!disk.is_over(0) && disk.is_over(150_000));
        std::fs::write(folder.path().join("two"), vec![1; 150_000]).unwrap();
        assert!(disk.is_over(0));
        std::fs::remove_file(folder.path().join("two")).unwrap();
        for name in ["a", "b"] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        assert!(disk.is_over(0), "three files were added");
    }

    #[test]
    fn a_nest_is_too_much() {
        let folder = tempfile::tempdir().unwrap();
        let deep: PathBuf = std::iter::repeat_n("d", MAX_DEPTH + 2).collect();
        std::fs::create_dir_all(folder.path().join(deep)).unwrap();
        let most = Held { bytes: u64::MAX, files: u64::MAX };
        assert_eq!(held_by(&[folder.path().to_owned()], most), None);
    }
}
