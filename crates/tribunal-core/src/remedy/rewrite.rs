//! Which lines fixes wrote, and where lines stand after them (PR-119).
//!
//! Taken from the patch between the head that was read and the last commit of a pass: what a later commit of the same pass moved is
//! then counted where it stands, and nobody else's commits are in it.

use super::signals::Touched;
use crate::diff::change::{Change, ChangedFile, Hunk, Origin};
use crate::ids::RepoPath;
use serde::{Deserialize, Serialize};

/// One place of a file: `removed` lines, from the line `first` of the file before, became `added` lines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rewrite {
    pub path: RepoPath,
    pub first: u32,
    pub removed: u32,
    pub added: u32,
}

/// Every place of a change, in the order of its files and lines.
pub fn rewrites(change: &Change) -> Vec<Rewrite> {
    let of_file = |file: &ChangedFile| file.hunks.iter().flat_map(|hunk| of_hunk(&file.path, hunk)).collect::<Vec<_>>();
    change.files.iter().flat_map(of_file).collect()
}

fn of_hunk(path: &RepoPath, hunk: &Hunk) -> Vec<Rewrite> {
    // A hunk without any old line names the line that it is put after.
    let mut next = hunk.lines.iter().find_map(|line| line.old_line).unwrap_or(hunk.old_start + 1);
    let mut found: Vec<Rewrite> = Vec::new();
    let mut is_open = false;
    for line in &hunk.lines {
        if line.origin == Origin::Context {
            (is_open, next) = (false, next + 1);
            continue;
        }
        if !is_open {
            found.push(Rewrite { path: path.clone(), first: next, removed: 0, added: 0 });
        }
        is_open = true;
        if let Some(place) = found.last_mut() {
            let is_removed = line.origin == Origin::Removed;
            place.removed += u32::from(is_removed);
            place.added += u32::from(!is_removed);
            next += u32::from(is_removed);
        }
    }
    found
}

/// The lines that were written, as they are numbered afterwards. What was only taken out left no line behind.
pub fn written(rewrites: &[Rewrite]) -> Vec<Touched> {
    let mut touched = Vec::new();
    for (at, place) in rewrites.iter().enumerate().filter(|(_, place)| place.added > 0) {
        let above = rewrites[..at].iter().filter(|other| other.path == place.path);
        let first = moved(place.first, above);
        touched.push(Touched { path: place.path.clone(), first, last: first + place.added - 1 });
    }
    touched
}

/// Where these lines of the file before stand afterwards: from the first to the last of them that are left.
pub fn after(lines: &Touched, rewrites: &[Rewrite]) -> Option<Touched> {
    let here = || rewrites.iter().filter(|place| place.path == lines.path);
    let (mut first, mut last) = (lines.first, lines.last);
    for place in here().filter(|place| place.removed > 0) {
        let (start, end) = (place.first, place.first + place.removed);
        if (start..end).contains(&first) {
            first = end;
        }
    }
    for place in rewrites.iter().rev().filter(|place| place.path == lines.path && place.removed > 0) {
        if (place.first..place.first + place.removed).contains(&last) {
            last = place.first.saturating_sub(1);
        }
    }
    let above = |line: u32| here().filter(move |place| place.first + place.removed <= line);
    (first <= last).then(|| Touched {
        path: lines.path.clone(),
        first: moved(first, above(first)),
        last: moved(last, above(last)),
    })
}

fn moved<'a>(line: u32, above: impl Iterator<Item = &'a Rewrite>) -> u32 {
    let shift: i64 = above.map(|place| i64::from(place.added) - i64::from(place.removed)).sum();
    u32::try_from(i64::from(line) + shift).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diff::parse::parse_diff;
    use proptest::prelude::*;

    fn lines(first: u32, last: u32) -> Touched {
        Touched { path: "a".into(), first, last }
    }

    fn place(first: u32, removed: u32, added: u32) -> Rewrite {
        Rewrite { path: "a".into(), first, removed, added }
    }

    fn read(hunks: &str) -> Vec<Rewrite> {
        let patch = format!("diff --git a/a b/a\n--- a/a\n+++ b/a\n{hunks}");
        rewrites(&parse_diff(patch.as_bytes()).unwrap())
    }

    /// PR-119: the lines that were written, each where it stands after the others.
    #[test]
    fn only_what_was_written_is_touched() {
        let hunks = "@@ -2,4 +2,5 @@\n b\n-c\n+C\n+D\n d\n e\n@@ -20,4 +21,2 @@\n t\n-u\n-v\n w\n@@ -40,1 +39,2 @@\n y\n+z\n";
        let found = read(hunks);
        assert_eq!(found, [place(3, 1, 2), place(21, 2, 0), place(41, 0, 1)]);
        assert_eq!(written(&found), [lines(3, 4), lines(40, 40)]);
    }

    #[test]
    fn a_new_file_and_a_patch_without_context() {
        let made = "diff --git a/a b/a\nnew file mode 100644\n--- /dev/null\n+++ b/a\n@@ -0,0 +1,2 @@\n+x\n+y\n";
        assert_eq!(written(&rewrites(&parse_diff(made.as_bytes()).unwrap())), [lines(1, 2)]);
        assert_eq!(read("@@ -5,0 +6,1 @@\n+x\n"), [place(6, 0, 1)]);
    }

    #[test]
    fn what_stood_there_moves_along() {
        let places = [place(3, 1, 2), place(21, 2, 0)];
        assert_eq!(after(&lines(1, 2), &places), Some(lines(1, 2)));
        assert_eq!(after(&lines(10, 12), &places), Some(lines(11, 13)));
        assert_eq!(after(&lines(3, 5), &places), Some(lines(5, 6)));
        assert_eq!(after(&lines(21, 22), &places), None);
        assert_eq!(after(&lines(20, 30), &places), Some(lines(21, 29)));
        let elsewhere = Touched { path: "b".into(), ..lines(10, 12) };
        assert_eq!(after(&elsewhere, &places), Some(elsewhere.clone()));
    }

    proptest! {
        /// Each line of a file is followed through a patch: what `after` says is where it is.
        #[test]
        fn lines_are_found_again(blocks in prop::collection::vec((1u32..4, 0u32..3, 0u32..3), 1..5)) {
            let (mut places, mut old, mut new, mut kept) = (Vec::new(), 1, 1, Vec::new());
            for (same, removed, added) in blocks {
                for _ in 0..same {
                    kept.push((old, new));
                    (old, new) = (old + 1, new + 1);
                }
                if removed + added > 0 {
                    places.push(place(old, removed, added));
                }
                for gone in old..old + removed {
                    prop_assert_eq!(after(&lines(gone, gone), &places), None);
                }
                (old, new) = (old + removed, new + added);
            }
            for (before, now) in kept {
                prop_assert_eq!(after(&lines(before, before), &places), Some(lines(now, now)));
                prop_assert!(!written(&places).iter().any(|range| range.overlaps(&lines(now, now))));
            }
        }
    }
}
