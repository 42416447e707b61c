//! The code that an open finding cites, as it stands now: what a reviewer needs to verify it, also when its file is no part of the
//! change or its lines are in no hunk.

use super::anchor::{AnchorFailure, AnchorIndex, Quoting};
use super::key::normalise_code;
use crate::diff::change::Change;
use crate::publish::outgoing::masked;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where the cited lines are, and the text around them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PresentCode {
    pub cited: CitedLines,
    /// Numbered lines of the file at the head, around the cited lines or around the place where they were.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CitedLines {
    /// They are in the file.
    Present,
    /// They are not in the file.
    Absent,
    /// The evidence is masked, so it cannot be compared with the file.
    Masked,
    /// The file is not at the head, or is no text.
    NoFile,
}

/// Lines that are shown on each side.
const AROUND: usize = 8;
/// A file that is longer is not searched.
const MAX_BYTES: usize = 2 * 1024 * 1024;
/// A line that is longer is cut.
const MAX_LINE_CHARS: usize = 300;

/// `line` is where the evidence stood when it was last seen.
pub fn present_code(evidence: &str, line: u32, text: Option<&str>) -> PresentCode {
    let Some(text) = text.filter(|text| text.len() <= MAX_BYTES) else {
        return PresentCode { cited: CitedLines::NoFile, text: String::new() };
    };
    let lines: Vec<&str> = text.lines().collect();
    let expected = (line as usize).saturating_sub(1);
    let length = evidence.lines().count().max(1);
    let found = if is_masked(evidence) { None } else { place(evidence, length, &lines, expected) };
    let cited = match found {
        Some(_) => CitedLines::Present,
        None if is_masked(evidence) => CitedLines::Masked,
        None => CitedLines::Absent,
    };
    let start = found.unwrap_or_else(|| expected.min(lines.len().saturating_sub(1)));
    let (from, to) = (start.saturating_sub(AROUND), (start + length + AROUND).min(lines.len()));
    let numbered = lines.iter().enumerate().take(to).skip(from).map(|(index, line)| {
        let line: String = line.chars().take(MAX_LINE_CHARS).collect();
        format!("{:>6} {line}\n", index + 1)
    });
    // Not only lines of the change stand here.
    PresentCode { cited, text: masked(&numbered.collect::<String>()) }
}

/// The first of the lines that hold the evidence; of several places, the one nearest to where it was.
fn place(evidence: &str, length: usize, lines: &[&str], expected: usize) -> Option<usize> {
    let wanted = normalise_code(evidence);
    let holds = |start: &usize| normalise_code(&lines[*start..(start + length).min(lines.len())].join("\n")).contains(&wanted);
    let places = (0..lines.len()).filter(holds);
    places.min_by_key(|start| start.abs_diff(expected)).filter(|_| !wanted.is_empty())
}

fn is_masked(evidence: &str) -> bool {
    evidence.contains(" masked")
}

/// Does any line of the change, on either side, hold the evidence? In doubt it does.
pub fn is_in_change(evidence: &str, change: &Change) -> bool {
    change
        .files
        .iter()
        .any(|file| !matches!(AnchorIndex::new(file).anchor(Quoting::Copied, evidence, None), Err(AnchorFailure::NotInDiff)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diff::parse::parse_diff;

    const FILE: &str = "import os\n\n\ndef run(cmd):\n    os.system(cmd)\n\n\ndef stop():\n    return None\n";

    #[test]
    fn the_cited_lines_are_found_where_they_are_now() {
        let present = present_code("os.system( cmd )", 1, Some(FILE));
        assert_eq!(present.cited, CitedLines::Present);
        assert!(present.text.contains("     5     os.system(cmd)\n"), "{}", present.text);
        let two = present_code("def run(cmd):\n    os.system(cmd)", 40, Some(FILE));
        assert_eq!(two.cited, CitedLines::Present);
    }

    #[test]
    fn what_replaced_the_cited_lines_is_shown() {
        let present = present_code("os.popen(cmd)", 5, Some(FILE));
        assert_eq!(present.cited, CitedLines::Absent);
        assert!(present.text.contains("os.system(cmd)"));
        assert_eq!(present_code("os.popen(cmd)", 900, Some(FILE)).cited, CitedLines::Absent);
        assert_eq!(present_code("x", 1, Some("")).text, "");
        assert_eq!(present_code("x", 1, None).cited, CitedLines::NoFile);
        assert_eq!(present_code("key = \"AKIA…(16 masked, 3f)\"", 1, Some(FILE)).cited, CitedLines::Masked);
    }

    #[test]
    fn code_that_moved_to_another_file_is_in_the_change() {
        let diff = "diff --git a/b.py b/b.py\nnew file mode 100644\n--- /dev/null\n+++ b/b.py\n@@ -0,0 +1,2 @@\n+import os\n+os.system(cmd)\n";
        let change = parse_diff(diff.as_bytes()).unwrap();
        assert!(is_in_change("os.system(cmd)", &change));
        assert!(!is_in_change("os.popen(cmd)", &change));
        assert!(is_in_change("", &change), "in doubt it is");
    }
}
