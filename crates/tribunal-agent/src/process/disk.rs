//! How much a child has written. No limit of the kernel counts a folder, so its folders are looked through while it runs, as often as
//! that costs little.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
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
    let mut rest: Vec<(&PathBuf, PathBuf, usize)> = folders.iter().map(|folder| (folder, PathBuf::new(), 0)).collect();
    while let Some((top, inside, depth)) = rest.pop() {
        for entry in entries(top, &inside) {
            held.files += 1;
            held.bytes = held.bytes.saturating_add(entry.bytes);
            if held.files > most.files || held.bytes > most.bytes {
                return None;
            }
            if entry.is_folder {
                if depth >= MAX_DEPTH {
                    return None;
                }
                rest.push((top, inside.join(entry.name), depth + 1));
            }
        }
    }
    Some(held)
}

struct Entry {
    name: OsString,
    is_folder: bool,
    /// What it takes on the disk: a file may claim more than it has.
    bytes: u64,
}

#[cfg(unix)]
fn entries(top: &Path, inside: &Path) -> Vec<Entry> {
    use crate::tree::held;
    use rustix::fs::FileType;
    use std::os::unix::ffi::OsStringExt as _;
    let found = held::open_below(top, inside).and_then(|folder| held::entries(&folder)).unwrap_or_default();
    let entry = |(name, about): (std::ffi::CString, rustix::fs::Stat)| Entry {
        name: OsString::from_vec(name.into_bytes()),
        is_folder: FileType::from_raw_mode(about.st_mode) == FileType::Directory,
        bytes: u64::try_from(about.st_blocks).unwrap_or_default() * 512,
    };
    found.into_iter().map(entry).collect()
}

#[cfg(not(unix))]
fn entries(top: &Path, inside: &Path) -> Vec<Entry> {
    let found = std::fs::read_dir(top.join(inside)).into_iter().flatten().flatten();
    let entry = |entry: std::fs::DirEntry| {
        let about = entry.metadata().ok()?;
        Some(Entry { name: entry.file_name(), is_folder: about.is_dir(), bytes: about.len() })
    };
    found.filter_map(entry).collect()
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
