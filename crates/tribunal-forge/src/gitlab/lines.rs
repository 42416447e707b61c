//! Where a line stands in a merge request's diff. GitLab names it by its number on both sides, and a range by codes made of a hash
//! of the path and the two numbers; a number alone is enough only for a line that the change added or removed.

use super::wire::{DiffVersion, FileDiff};
use serde_json::{Value, json};
use sha1::{Digest, Sha1};
use tribunal_core::findings::anchor::Side;
use tribunal_core::pull::talk::NewComment;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    Added,
    Removed,
    Unchanged,
}

/// A line with its number on both sides. On the side where it is missing, that of the line that would follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Row {
    old: u32,
    new: u32,
    origin: Origin,
}

impl Row {
    fn stands_at(&self, side: Side, line: u32) -> bool {
        match (side, self.origin) {
            (Side::New, Origin::Added | Origin::Unchanged) => self.new == line,
            (Side::Old, Origin::Removed | Origin::Unchanged) => self.old == line,
            (Side::New, Origin::Removed) | (Side::Old, Origin::Added) => false,
        }
    }

    fn code(&self, path: &str) -> String {
        let hash: String = Sha1::digest(path.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
        format!("{hash}_{}_{}", self.old, self.new)
    }

    /// An end of a range. The two numbers may not stand beside the code: drafts refuse them there.
    fn end(&self, path: &str) -> Value {
        let kind = if self.origin == Origin::Added { "new" } else { "old" };
        json!({ "line_code": self.code(path), "type": kind })
    }
}

/// All lines of a file's diff, and what lies between its hunks.
#[derive(Debug, Default)]
struct Lines {
    rows: Vec<Row>,
    /// Behind each hunk: the numbers of the next line, old and new.
    behind: Vec<(u32, u32)>,
}

impl Lines {
    fn read(diff: &str) -> Lines {
        let mut lines = Lines::default();
        let mut at: Option<(u32, u32)> = None;
        for line in diff.split('\n') {
            if line.starts_with("@@") {
                lines.behind.extend(at);
                at = header(line);
                continue;
            }
            let Some((old, new)) = &mut at else { continue };
            let (origin, old_step, new_step) = match line.as_bytes().first() {
                Some(b'+') => (Origin::Added, 0, 1),
                Some(b'-') => (Origin::Removed, 1, 0),
                Some(b' ') => (Origin::Unchanged, 1, 1),
                // A missing line break at the end of the file, or the end of the text.
                _ => continue,
            };
            lines.rows.push(Row { old: *old, new: *new, origin });
            (*old, *new) = (*old + old_step, *new + new_step);
        }
        lines.behind.extend(at);
        lines
    }

    /// Outside of all hunks nothing changed, so that the distance of the two numbers is that of the last hunk before.
    fn find(&self, side: Side, line: u32) -> Option<Row> {
        if let Some(row) = self.rows.iter().find(|row| row.stands_at(side, line)) {
            return Some(*row);
        }
        if self.rows.is_empty() {
            return None;
        }
        let own = |pair: &(u32, u32)| if side == Side::New { pair.1 } else { pair.0 };
        let (old, new) = self.behind.iter().rev().find(|pair| own(pair) <= line).copied().unwrap_or((1, 1));
        let (old, new) = match side {
            Side::New => ((line + old).checked_sub(new)?, line),
            Side::Old => (line, (line + new).checked_sub(old)?),
        };
        Some(Row { old, new, origin: Origin::Unchanged })
    }
}

/// `@@ -12,7 +12,9 @@ fn name` → 12, 12.
fn header(line: &str) -> Option<(u32, u32)> {
    let mut words = line.split(' ').skip(1);
    let mut number = |sign: char| words.next()?.strip_prefix(sign)?.split(',').next()?.parse().ok();
    Some((number('-')?, number('+')?))
}

/// The position of a comment on lines; without the file's diff, by what the comment says itself.
pub fn on_lines(version: &DiffVersion, files: &[FileDiff], comment: &NewComment) -> Value {
    let file = files.iter().find(|file| match comment.side {
        Side::New => file.new_path == comment.path,
        Side::Old => file.old_path == comment.old_path,
    });
    let lines = file.map(|file| Lines::read(&file.diff)).unwrap_or_default();
    let mut position = of_file(version, file, comment);
    position["position_type"] = "text".into();
    let row = lines.find(comment.side, comment.line);
    match (row.map(|row| (row, row.origin)), comment.side) {
        (Some((row, Origin::Unchanged)), _) => {
            position["old_line"] = row.old.into();
            position["new_line"] = row.new.into();
        }
        (_, Side::New) => position["new_line"] = comment.line.into(),
        (_, Side::Old) => position["old_line"] = comment.line.into(),
    }
    let start = comment.start_line.filter(|start| *start < comment.line).and_then(|start| lines.find(comment.side, start));
    if let (Some(start), Some(end)) = (start, row) {
        let path = position["new_path"].as_str().unwrap_or(&comment.path).to_owned();
        position["line_range"] = json!({ "start": start.end(&path), "end": end.end(&path) });
    }
    position
}

/// The position of a comment on a whole file.
pub fn on_file(version: &DiffVersion, files: &[FileDiff], comment: &NewComment) -> Value {
    let file = files.iter().find(|file| file.new_path == comment.path || file.old_path == comment.old_path);
    of_file(version, file, comment)
}

/// Both paths always, for an added or a deleted file the same one twice.
fn of_file(version: &DiffVersion, file: Option<&FileDiff>, comment: &NewComment) -> Value {
    let (old, new) = file.map_or((&comment.old_path, &comment.path), |file| (&file.old_path, &file.new_path));
    json!({
        "position_type": "file",
        "base_sha": version.base_commit_sha,
        "start_sha": version.start_commit_sha,
        "head_sha": version.head_commit_sha,
        "old_path": old,
        "new_path": new,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIFF: &str = "@@ -3,4 +3,5 @@ fn a\n three\n-four\n+FOUR\n+four and a half\n five\n six\n@@ -20,2 +21,1 @@\n twenty\n-gone\n\\ No newline at end of file\n";

    fn version() -> DiffVersion {
        let sha = |text: &str| text.into();
        DiffVersion {
            id: 1,
            base_commit_sha: sha("b"),
            start_commit_sha: sha("s"),
            head_commit_sha: sha("h"),
            created_at: String::new(),
        }
    }

    fn files() -> Vec<FileDiff> {
        vec![FileDiff { old_path: "old.rs".into(), new_path: "new.rs".into(), diff: DIFF.into() }]
    }

    fn comment(side: Side, line: u32, start_line: Option<u32>) -> NewComment {
        let (path, old_path) = ("new.rs".to_owned(), "old.rs".to_owned());
        NewComment { path, old_path, side, line, start_line, body: "".into() }
    }

    fn numbers(side: Side, line: u32) -> (Option<u64>, Option<u64>) {
        let position = on_lines(&version(), &files(), &comment(side, line, None));
        assert_eq!((&position["old_path"], &position["new_path"]), (&json!("old.rs"), &json!("new.rs")));
        (position["old_line"].as_u64(), position["new_line"].as_u64())
    }

    /// forges.md 4: added line → new number, removed line → old number, unchanged line → both, wherever it stands.
    #[test]
    fn a_line_is_named_by_the_numbers_that_it_has() {
        assert_eq!(numbers(Side::New, 4), (None, Some(4)));
        assert_eq!(numbers(Side::New, 5), (None, Some(5)));
        assert_eq!(numbers(Side::Old, 4), (Some(4), None));
        assert_eq!(numbers(Side::Old, 21), (Some(21), None));
        assert_eq!(numbers(Side::New, 6), (Some(5), Some(6)), "in a hunk");
        assert_eq!(numbers(Side::Old, 6), (Some(6), Some(7)), "in a hunk, from the old side");
        assert_eq!(numbers(Side::New, 1), (Some(1), Some(1)), "before the first hunk");
        assert_eq!(numbers(Side::New, 10), (Some(9), Some(10)), "between two");
        assert_eq!(numbers(Side::New, 30), (Some(30), Some(30)), "behind the last");
    }

    #[test]
    fn a_range_is_named_by_codes_alone() {
        let position = on_lines(&version(), &files(), &comment(Side::New, 5, Some(3)));
        let hash = "9d2f9d2a2e5d3ebb96d9c7f3ad0bc3bd4b0bd5ab";
        let codes = [&position["line_range"]["start"], &position["line_range"]["end"]];
        let ends: Vec<_> = codes.iter().map(|end| end["line_code"].as_str().unwrap().split_once('_').unwrap()).collect();
        assert_eq!(ends[0].0.len(), hash.len());
        assert_eq!((ends[0].1, ends[1].1), ("3_3", "5_5"));
        assert_eq!((&codes[0]["type"], &codes[1]["type"]), (&json!("old"), &json!("new")));
        assert!(codes[0].get("new_line").is_none());
    }

    /// A diff that is too large to be shown leaves the number that the comment has.
    #[test]
    fn without_a_diff_the_comment_speaks_for_itself() {
        let position = on_lines(&version(), &[], &comment(Side::Old, 9, Some(7)));
        assert_eq!((&position["old_line"], &position["new_path"]), (&json!(9), &json!("new.rs")));
        assert!(position.get("line_range").is_none() && position.get("new_line").is_none());
        assert_eq!(on_file(&version(), &[], &comment(Side::New, 9, None))["position_type"], "file");
    }
}
