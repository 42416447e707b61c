//! Where a comment may stand, and where it goes when the branch moves.

use crate::state::{MergeRequest, Version};
use fake_forge_base::{FileDiff, Mark, Repository};
use serde_json::{Value, json};
use sha1::{Digest, Sha1};

/// Why a position was not taken.
pub enum Unfit {
    /// SHAs that belong to no version of the diff: GitLab fails over them.
    Shas,
    /// 400, with GitLab's words.
    Place(&'static str, &'static str),
}

const NO_LINE: Unfit = Unfit::Place("line_code", "can't be blank");

pub fn check(repository: &Repository, request: &MergeRequest, position: &Value) -> Result<(), Unfit> {
    let text = |name: &str| position[name].as_str().unwrap_or_default();
    let fits = |version: &&Version| {
        (text("base_sha"), text("start_sha"), text("head_sha")) == (&*version.base, &*version.start, &*version.head)
    };
    let version = request.versions.iter().find(fits).ok_or(Unfit::Shas)?;
    if text("old_path").is_empty() || text("new_path").is_empty() {
        return Err(Unfit::Place("position", "is incomplete"));
    }
    let diff = repository.diff_between(&version.base, &version.head);
    let same = |file: &&FileDiff| (file.old_path.as_str(), file.new_path.as_str()) == (text("old_path"), text("new_path"));
    let file = diff.files.iter().find(same).ok_or(NO_LINE)?;
    if text("position_type") == "file" {
        return Ok(());
    }
    let number = |name: &str| position[name].as_u64().and_then(|line| u32::try_from(line).ok());
    let rows = rows(file);
    let row = rows.iter().find(|row| match (number("old_line"), number("new_line")) {
        (None, Some(new)) => row.mark == Mark::Added && row.new == new,
        (Some(old), None) => row.mark == Mark::Deleted && row.old == old,
        (Some(old), Some(new)) => row.mark == Mark::Context && (row.old, row.new) == (old, new),
        (None, None) => false,
    });
    let unfolded = match (number("old_line"), number("new_line")) {
        (Some(old), Some(new)) => unchanged(repository, version, file, old, new),
        _ => false,
    };
    if row.is_none() && !unfolded {
        return Err(NO_LINE);
    }
    match &position["line_range"] {
        Value::Null => Ok(()),
        range => ["start", "end"].iter().try_for_each(|end| check_end(&range[*end], file, &rows)),
    }
}

fn check_end(end: &Value, file: &FileDiff, rows: &[Row]) -> Result<(), Unfit> {
    let schema = Unfit::Place("position", "must be a valid json schema");
    let fields = end.as_object().ok_or(Unfit::Place("position", "must be a valid json schema"))?;
    if fields.keys().any(|name| !matches!(name.as_str(), "line_code" | "type")) {
        return Err(schema);
    }
    let kind = |row: &Row| if row.mark == Mark::Added { "new" } else { "old" };
    let known = |row: &&Row| end["line_code"] == code(&file.new_path, row.old, row.new) && end["type"] == kind(row);
    rows.iter().find(known).map(drop).ok_or(schema)
}

fn code(path: &str, old: u32, new: u32) -> String {
    let hash: String = Sha1::digest(path.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{hash}_{old}_{new}")
}

struct Row {
    mark: Mark,
    old: u32,
    new: u32,
}

/// Lines with a number on both sides: where one is missing, that of the line that follows.
fn rows(file: &FileDiff) -> Vec<Row> {
    let mut rows = Vec::new();
    for hunk in &file.hunks {
        let start = |sign: char| {
            let word = hunk.header.split(' ').find_map(|word| word.strip_prefix(sign)).unwrap_or_default();
            word.split(',').next().and_then(|number| number.parse::<u32>().ok()).unwrap_or_default()
        };
        let (mut old, mut new) = (start('-'), start('+'));
        for line in &hunk.lines {
            rows.push(Row { mark: line.mark, old, new });
            old += u32::from(line.old.is_some());
            new += u32::from(line.new.is_some());
        }
    }
    rows
}

/// A line that no hunk shows, which a reader can unfold.
fn unchanged(repository: &Repository, version: &Version, file: &FileDiff, old: u32, new: u32) -> bool {
    let line = |sha: &str, path: &str, number: u32| {
        let content = repository.file(sha, path)?;
        String::from_utf8_lossy(&content).lines().nth(number.checked_sub(1)? as usize).map(str::to_owned)
    };
    let before = line(&version.base, &file.old_path, old);
    before.is_some()
        && before == line(&version.head, &file.new_path, new)
        && (file.old_path != file.new_path
            || repository.carry_line(&version.base, &version.head, &file.new_path, old) == Some(new))
}

/// A comment on an earlier version is shown where its line is now.
pub fn bring_up_to_date(repository: &Repository, request: &MergeRequest, position: &mut Value) {
    for pair in request.versions.windows(2) {
        carry(repository, &pair[0], &pair[1], position);
    }
}

/// Moves a position to the new version where its line is still there; else it stays at the old one, which is what outdated means.
pub fn carry(repository: &Repository, before: &Version, after: &Version, position: &mut Value) {
    if position["head_sha"] != before.head.as_str() {
        return;
    }
    let text = |name: &str| position[name].as_str().unwrap_or_default().to_owned();
    let (old_path, new_path) = (text("old_path"), text("new_path"));
    let number = |name: &str| position[name].as_u64().and_then(|line| u32::try_from(line).ok());
    let diff = repository.diff_between(&after.base, &after.head);
    let Some(file) = diff.file(&new_path) else { return };
    let numbers = match (number("old_line"), number("new_line")) {
        (None, None) => Some((None, None)),
        (Some(old), None) => {
            let moved = repository.carry_line(&before.base, &after.base, &old_path, old);
            let gone = |line: &u32| rows(file).iter().any(|row| row.mark == Mark::Deleted && row.old == *line);
            moved.filter(gone).map(|line| (Some(line), None))
        }
        (_, Some(new)) => repository.carry_line(&before.head, &after.head, &new_path, new).and_then(|line| {
            let shown = rows(file).into_iter().find(|row| row.mark != Mark::Deleted && row.new == line);
            match shown {
                Some(row) if row.mark == Mark::Added => Some((None, Some(line))),
                Some(row) => Some((Some(row.old), Some(line))),
                None => number("old_line").map(|old| (Some(old), Some(line))),
            }
        }),
    };
    let Some((old, new)) = numbers else { return };
    position["base_sha"] = json!(after.base);
    position["start_sha"] = json!(after.start);
    position["head_sha"] = json!(after.head);
    position["old_line"] = json!(old);
    position["new_line"] = json!(new);
}
