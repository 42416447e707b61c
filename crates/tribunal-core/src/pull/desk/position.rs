//! Where lines that were written about have gone since.

use crate::diff::change::{ChangedFile, FileStatus, Origin};

/// A place in a later version of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moved {
    pub path: String,
    /// Nothing when the line itself was changed or taken out.
    pub line: Option<u32>,
}

/// Follows a line through a change; line 0 stands for the file. The change is the one from the version that the line was counted in
/// to the later one.
pub fn follow(files: &[ChangedFile], path: &str, line: u32) -> Moved {
    let came_from = |file: &&ChangedFile| match file.status {
        FileStatus::Renamed => file.old_path.as_ref().is_some_and(|old| old.as_str() == path),
        FileStatus::Deleted | FileStatus::Modified => file.path.as_str() == path,
        // A copy leaves its source where it was.
        FileStatus::Added | FileStatus::Copied => false,
    };
    let Some(file) = files.iter().find(came_from) else { return Moved { path: path.to_owned(), line: Some(line) } };
    let line = if file.status == FileStatus::Deleted { None } else { line_after(file, line) };
    Moved { path: file.path.as_str().to_owned(), line }
}

fn line_after(file: &ChangedFile, line: u32) -> Option<u32> {
    let mut shift = 0_i64;
    for hunk in &file.hunks {
        let old = hunk.lines.iter().filter(|changed| changed.origin != Origin::Added).count();
        let new = hunk.lines.iter().filter(|changed| changed.origin != Origin::Removed).count();
        // A hunk that only puts lines in names the line behind which it does.
        let first = if old == 0 { hunk.old_start + 1 } else { hunk.old_start };
        let behind = first + u32::try_from(old).unwrap_or(u32::MAX);
        if line < first {
            break;
        }
        if line < behind {
            return hunk.lines.iter().find(|changed| changed.old_line == Some(line)).and_then(|changed| changed.new_line);
        }
        shift += i64::try_from(new).unwrap_or(i64::MAX) - i64::try_from(old).unwrap_or(i64::MAX);
    }
    u32::try_from(i64::from(line) + shift).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diff::parse::parse_diff;
    use proptest::prelude::*;

    fn files(diff: &str) -> Vec<ChangedFile> {
        parse_diff(diff.as_bytes()).unwrap().files
    }

    fn line(diff: &str, line: u32) -> Option<u32> {
        follow(&files(diff), "a", line).line
    }

    const HEAD: &str = "diff --git a/a b/a\nindex 1111111111111111111111111111111111111111..2222222222222222222222222222222222222222 100644\n--- a/a\n+++ b/a\n";

    #[test]
    fn lines_move_with_what_is_put_in_and_taken_out_above() {
        let diff = format!("{HEAD}@@ -2,0 +3,2 @@\n+x\n+y\n@@ -5 +6,0 @@\n-gone\n");
        assert_eq!([1, 2, 3, 4, 5, 6].map(|at| line(&diff, at)), [Some(1), Some(2), Some(5), Some(6), None, Some(7)]);
    }

    #[test]
    fn a_changed_line_is_gone_and_its_neighbours_are_not() {
        let diff = format!("{HEAD}@@ -1,3 +1,3 @@\n one\n-two\n+zwei\n three\n");
        assert_eq!([1, 2, 3, 9].map(|at| line(&diff, at)), [Some(1), None, Some(3), Some(9)]);
    }

    #[test]
    fn a_renamed_file_takes_its_lines_along_and_a_deleted_one_has_none() {
        let renamed = "diff --git a/a b/b\nsimilarity index 100%\nrename from a\nrename to b\n";
        assert_eq!(follow(&files(renamed), "a", 3), Moved { path: "b".into(), line: Some(3) });
        let deleted = "diff --git a/a b/a\ndeleted file mode 100644\nindex 1111111111111111111111111111111111111111..0000000000000000000000000000000000000000\n--- a/a\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n";
        assert_eq!(follow(&files(deleted), "a", 1).line, None);
        assert_eq!(follow(&files(deleted), "other", 1).line, Some(1));
    }

    proptest! {
        /// Against the plainest model: keep or take out each line, put some in behind it, and count.
        #[test]
        fn every_line_that_stays_is_found(
            hunks in prop::collection::vec((1_u32..4, prop::collection::vec((any::<bool>(), 0_u32..3), 0..6)), 1..4)
        ) {
            let mut diff = HEAD.to_owned();
            let (mut old, mut new, mut expected) = (0, 0, Vec::new());
            for (gap, mut plan) in hunks {
                // Lines between hunks, which the diff does not show; and one change at least, or there would be no hunk.
                for _ in 0..gap {
                    (old, new) = (old + 1, new + 1);
                    expected.push(Some(new));
                }
                plan.push((false, 1));
                let added: u32 = plan.iter().map(|(_, added)| added).sum();
                let kept = plan.iter().filter(|(stays, _)| *stays).count() as u32;
                diff.push_str(&format!("@@ -{},{} +{},{} @@\n", old + 1, plan.len(), new + 1, kept + added));
                for (stays, added) in plan {
                    diff.push_str(if stays { " kept\n" } else { "-gone\n" });
                    diff.push_str(&"+new\n".repeat(added as usize));
                    old += 1;
                    new += u32::from(stays);
                    expected.push(stays.then_some(new));
                    new += added;
                }
            }
            expected.push(Some(new + 1));
            let found: Vec<Option<u32>> = (1..=old + 1).map(|at| line(&diff, at)).collect();
            prop_assert_eq!(found, expected, "{}", diff);
        }
    }
}
