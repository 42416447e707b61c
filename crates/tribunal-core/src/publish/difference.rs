//! The difference between two texts, for a person who is asked to agree to it: every line that moved, came or went is shown, and
//! nothing in it can hide.

use super::visible::visible_line;
use diffy::{Line, create_patch};

/// One line of a difference, made visible.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Row {
    /// Where the lines below stand: `@@ -1,4 +1,5 @@`.
    Place(String),
    Same(String),
    Removed(String),
    Added(String),
}

pub fn difference(before: &str, after: &str) -> Vec<Row> {
    let mut rows = Vec::new();
    for hunk in create_patch(before, after).hunks() {
        rows.push(Row::Place(format!("@@ -{} +{} @@", hunk.old_range(), hunk.new_range())));
        for line in hunk.lines() {
            match line {
                Line::Context(text) => rows.push(Row::Same(shown(text))),
                Line::Delete(text) => rows.push(Row::Removed(shown(text))),
                Line::Insert(text) => rows.push(Row::Added(shown(text))),
            }
        }
    }
    rows
}

fn shown(line: &str) -> String {
    match line.strip_suffix('\n') {
        Some(line) => tabs_kept(line),
        None => tabs_kept(line) + " (no line break at the end)",
    }
}

/// A tab is layout; all else that cannot be seen is written out, the `\r` before a line break included.
fn tabs_kept(line: &str) -> String {
    line.split('\t').map(visible_line).collect::<Vec<_>>().join("\t")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(before: &str, after: &str) -> Vec<String> {
        difference(before, after)
            .into_iter()
            .filter_map(|row| match row {
                Row::Place(_) | Row::Same(_) => None,
                Row::Removed(line) => Some(format!("-{line}")),
                Row::Added(line) => Some(format!("+{line}")),
            })
            .collect()
    }

    /// Design section 7: what changes by its place alone is a difference.
    #[test]
    fn swapped_and_repeated_lines_are_shown() {
        assert_eq!(text("[a]\nx\n[b]\ny\n", "[a]\ny\n[b]\nx\n").len(), 4);
        assert_eq!(text("a\nb\n", "a\nb\nb\n"), ["+b"]);
        assert_eq!(text("a\na\n", "a\n"), ["-a"]);
    }

    #[test]
    fn what_cannot_be_seen_is_written_out() {
        assert_eq!(text("", "evil\u{1b}[2K\rnice\n"), ["+evil<U+001B>[2K<U+000D>nice"]);
        assert_eq!(text("a\n", "a\r\n"), ["-a", "+a<U+000D>"]);
        assert_eq!(text("a\n", "a"), ["-a", "+a (no line break at the end)"]);
    }
}
