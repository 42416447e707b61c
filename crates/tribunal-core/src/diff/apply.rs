//! Hunks applied to the old text give the new text: how a bare diff becomes whole files where the old ones are at hand. Taken back
//! from the new text, they give the old one.

use super::change::{Hunk, Origin};

/// The new text, or nothing if the hunks do not fit the old one.
pub fn apply_hunks(old: &str, hunks: &[Hunk]) -> Option<String> {
    replace(old, hunks, |hunk| hunk.old_start, Origin::Removed, Origin::Added)
}

/// The old text, or nothing if the hunks do not fit the new one.
pub fn undo_hunks(new: &str, hunks: &[Hunk]) -> Option<String> {
    replace(new, hunks, |hunk| hunk.new_start, Origin::Added, Origin::Removed)
}

/// Takes the lines of `from` out of a text and puts those of `to` in.
fn replace(text: &str, hunks: &[Hunk], start: fn(&Hunk) -> u32, from: Origin, to: Origin) -> Option<String> {
    let lines: Vec<&str> = text.lines().collect();
    let mut written: Vec<&str> = Vec::with_capacity(lines.len());
    let mut at = 0;
    for hunk in hunks {
        let start = start(hunk) as usize;
        // A hunk that only adds names the line it adds after.
        let start = if hunk.lines.iter().any(|line| line.origin != to) { start.checked_sub(1)? } else { start };
        written.extend(lines.get(at..start)?);
        at = start;
        for line in &hunk.lines {
            if line.origin == Origin::Context || line.origin == from {
                if *lines.get(at)? != line.text.strip_suffix('\r').unwrap_or(&line.text) {
                    return None;
                }
                at += 1;
            }
            if line.origin == Origin::Context || line.origin == to {
                written.push(&line.text);
            }
        }
    }
    written.extend(lines.get(at..)?);
    let mut text = written.join("\n");
    if !text.is_empty() {
        text.push('\n');
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diff::parse::parse_diff;

    #[test]
    fn hunks_turn_old_into_new_and_refuse_what_does_not_fit() {
        let change = parse_diff(b"--- a/a\n+++ b/a\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n@@ -5,0 +6 @@\n+six\n").unwrap();
        let hunks = &change.files[0].hunks;
        assert_eq!(apply_hunks("one\ntwo\nthree\nfour\nfive\n", hunks).unwrap(), "one\n2\nthree\nfour\nfive\nsix\n");
        assert_eq!(apply_hunks("other\n", hunks), None);
        assert_eq!(undo_hunks("one\n2\nthree\nfour\nfive\nsix\n", hunks).unwrap(), "one\ntwo\nthree\nfour\nfive\n");
        assert_eq!(undo_hunks("other\n", hunks), None);
    }
}
