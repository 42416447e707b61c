//! Conflict markers that were committed: the file no longer parses, or both sides of a merge ship at once.
//!
//! `=======` alone underlines headings all over the world, so a marker counts only as part of the sequence that git writes:
//! start, middle and end, in this order, at the first column, on added lines of one file.

use super::change::{ChangedFile, DiffLine};

/// The first line of every complete conflict that a change adds.
pub fn conflicts(file: &ChangedFile) -> Vec<&DiffLine> {
    if shows_conflicts(file) { Vec::new() } else { markers(file) }
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

fn markers(file: &ChangedFile) -> Vec<&DiffLine> {
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
    line.len() - rest.len() == 7 && rest.strip_prefix(' ').is_some_and(|label| is_side(label.trim()))
}

/// The words of the blocks in which a language model is asked to answer are no branches.
fn is_side(label: &str) -> bool {
    !label.is_empty() && !matches!(label, "SEARCH" | "REPLACE" | "ORIGINAL" | "UPDATED")
}

fn is_fence(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("```") || line.starts_with("~~~")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diff::parse::parse_diff;

    fn count(path: &str, lines: &[&str]) -> usize {
        let added: String = lines.iter().map(|line| format!("+{line}\n")).collect();
        let (none, some) = ("0".repeat(40), "2".repeat(40));
        let head =
            format!("diff --git a/{path} b/{path}\nnew file mode 100644\nindex {none}..{some}\n--- /dev/null\n+++ b/{path}\n");
        let diff = format!("{head}@@ -0,0 +1,{} @@\n{added}", lines.len());
        conflicts(&parse_diff(diff.as_bytes()).unwrap().files[0]).len()
    }

    const ONE: [&str; 5] = ["<<<<<<< HEAD", "a", "=======", "b", ">>>>>>> topic"];

    #[test]
    fn each_complete_conflict_is_one() {
        assert_eq!(count("a.py", &ONE), 1);
        assert_eq!(count("a.py", &[ONE, ONE].concat()), 2);
    }

    #[test]
    fn a_middle_outside_a_conflict_is_no_divider() {
        assert_eq!(count("a.py", &["=======", "<<<<<<< HEAD", ">>>>>>> topic"]), 0);
        assert_eq!(count("a.py", &["<<<<<<< HEAD", ">>>>>>> topic", "======="]), 0);
        assert_eq!(count("a.py", &["<<<<<<<< HEAD", "=======", ">>>>>>> topic"]), 0);
    }

    #[test]
    fn blocks_of_an_answer_are_no_conflict() {
        assert_eq!(count("a.ts", &["<<<<<<< SEARCH", "a", "=======", "b", ">>>>>>> REPLACE"]), 0);
    }

    #[test]
    fn recorded_data_may_show_conflicts() {
        assert_eq!(count("tests/fixtures/merge.txt", &ONE), 0);
        assert_eq!(count("a.patch", &ONE), 0);
    }
}
