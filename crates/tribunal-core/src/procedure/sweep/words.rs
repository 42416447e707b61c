//! What a sweep says on a pull request.

use super::effect::Remaining;
use crate::merge::facts::Marker;
use crate::publish::markdown::{code, inert};
use std::collections::BTreeMap;

/// A comment has only so much room.
const MOST_ROWS: usize = 100;

/// A name in code type, in a cell of a table: there a bar ends the cell even in code.
pub(super) fn cell(name: &str) -> String {
    code(name).replace('|', "\\|")
}

/// SL-36.
pub fn markers(markers: &[Marker]) -> String {
    let mut lines: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for marker in markers {
        lines.entry(marker.path.as_str()).or_default().push(marker.line.to_string());
    }
    let files = lines.len();
    let rows = lines.into_iter().take(MOST_ROWS);
    let rows: Vec<String> = rows.map(|(path, lines)| format!("| {} | {} |", cell(path), lines.join(", "))).collect();
    let more = files.saturating_sub(MOST_ROWS);
    let more = if more > 0 { format!("\n\n{more} more files hold markers, too.") } else { String::new() };
    format!(
        "## Conflict Markers Detected\n\nThis pull request adds lines that git leaves behind when it cannot merge a file. It cannot \
         be reviewed like this.\n\n| File | Line(s) |\n| --- | --- |\n{}{more}\n\nPlease resolve the conflicts and push again.",
        rows.join("\n")
    )
}

/// SL-67.
pub fn remains(items: &[Remaining]) -> String {
    let row = |item: &Remaining| {
        let weight = item.priority.map_or("—".to_owned(), |priority| priority.to_string());
        format!("| {} | {weight} | {} | {} |", inert(&item.name), inert(&item.place), inert(&item.words))
    };
    let rows: Vec<String> = items.iter().take(MOST_ROWS).map(row).collect();
    let more = items.len().saturating_sub(MOST_ROWS);
    let more = if more > 0 { format!("\n\nand {more} more.") } else { String::new() };
    let table = match items.is_empty() {
        true => "Nothing in particular is named; see the review above.".to_owned(),
        false => format!("| What | Weight | Where | Why it is open |\n| --- | --- | --- | --- |\n{}{more}", rows.join("\n")),
    };
    format!(
        "## What remains for a person\n\nThis pull request had its one round of review and response, and is not approved.\n\n{table}"
    )
}
