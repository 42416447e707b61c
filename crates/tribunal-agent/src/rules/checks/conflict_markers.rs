//! Conflict markers that were committed: the file no longer parses, or both sides of a merge ship at once.
//!
//! `=======` alone underlines headings all over the world, so a marker counts only as part of the sequence that git writes:
//! start, middle and end, in this order, at the first column, on added lines of one file.

use super::Scope;
use tribunal_core::diff::change::{Change, ChangedFile, DiffLine};
use tribunal_core::findings::report::Claim;
use tribunal_core::ids::RepoPath;

pub fn check(scope: &Scope<'_>) -> Vec<Claim> {
    let mut claims = Vec::new();
    for file in scope.files().filter(|file| !shows_conflicts(file)) {
        claims.extend(conflicts(file).into_iter().map(|line| scope.claim(file, line)));
    }
    claims
}

/// Where a change adds conflicts: the file, and the line that each begins at (SL-36, SL-38).
pub fn marked(change: &Change) -> Vec<(RepoPath, u32)> {
    let files = change.files.iter().filter(|file| !shows_conflicts(file));
    let lines = files.flat_map(|file| conflicts(file).into_iter().filter_map(|line| Some((file.path.clone(), line.new_line?))));
    lines.collect()
}

/// Recorded data may hold anything: the input of a test, or a patch.
fn shows_conflicts(file: &ChangedFile) -> bool {
    let path = file.path.as_str().to_ascii_lowercase();
    let data_folder = path.split('/').rev().skip(1).any(|part| {
        matches!(part, "fixtures" | "fixture" | "testdata" | "test-data" | "test_data" | "snapshots" | "__snapshots__" | "golden")
    });
    let data_name = matches!(file.path.extension(), Some("snap" | "diff" | "patch" | "rej" | "orig"));
    data_folder || data_name
}

/// The first line of every complete conflict.
fn conflicts(file: &ChangedFile) -> Vec<&DiffLine> {
    let mut found = Vec::new();
    let mut start: Option<&DiffLine> = None;
    let mut divided = false;
    let mut fenced = false;
    let prose = file.is_prose();
    for line in file.lines().filter(|line| line.new_line.is_some()) {
        if prose && is_fence(&line.text) {
            fenced = !fenced;
        }
        // A line number is present on both kinds of new-side lines; only an added one has no old number.
        if fenced || line.old_line.is_some() {
            continue;
        }
        if is_labelled(&line.text, '<') {
            (start, divided) = (Some(line), false);
        } else if start.is_some() && line.text == "=======" {
            divided = true;
        } else if is_labelled(&line.text, '>') {
            if divided {
                found.extend(start);
            }
            (start, divided) = (None, false);
        }
    }
    found
}

/// Seven of `sign`, a blank, and the name of a side: git always writes one.
fn is_labelled(line: &str, sign: char) -> bool {
    let rest = line.trim_start_matches(sign);
    line.len() - rest.len() == 7 && rest.strip_prefix(' ').is_some_and(|label| !label.trim().is_empty())
}

fn is_fence(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("```") || line.starts_with("~~~")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::examples::added;

    fn count(path: &str, lines: &[&str]) -> usize {
        conflicts(&added(path, &lines.join("\n")).files[0]).len()
    }

    #[test]
    fn each_complete_conflict_is_one_finding() {
        let one = ["<<<<<<< HEAD", "a", "=======", "b", ">>>>>>> topic"];
        assert_eq!(count("a.py", &one), 1);
        assert_eq!(count("a.py", &[one, one].concat()), 2);
    }

    #[test]
    fn a_middle_outside_a_conflict_is_no_divider() {
        assert_eq!(count("a.py", &["=======", "<<<<<<< HEAD", ">>>>>>> topic"]), 0);
        assert_eq!(count("a.py", &["<<<<<<< HEAD", ">>>>>>> topic", "======="]), 0);
        assert_eq!(count("a.py", &["<<<<<<<< HEAD", "=======", ">>>>>>> topic"]), 0);
    }
}
