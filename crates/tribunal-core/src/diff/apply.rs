//! Hunks applied to the old text give the new text: how a bare diff becomes whole files where the old ones are at hand.

use super::change::{Hunk, Origin};

/// The new text, or nothing if the hunks do not fit the old one.
pub fn apply_hunks(old: &str, hunks: &[Hunk]) -> Option<String> {
    let old_lines: Vec<&str> = old.lines().collect();
    let mut new_lines: Vec<&str> = Vec::with_capacity(old_lines.len());
    let mut at = 0;
    for hunk in hunks {
        let has_old = hunk.lines.iter().any(|line| line.origin != Origin::Added);
        // A hunk that only adds names the line it adds after.
        let start = if has_old { (hunk.old_start as usize).checked_sub(1)? } else { hunk.old_start as usize };
        new_lines.extend(old_lines.get(at..start)?);
        at = start;
        for line in &hunk.lines {
            if line.origin != Origin::Added {
                if *old_lines.get(at)? != line.text {
                    return None;
                }
                at += 1;
            }
            if line.origin != Origin::Removed {
                new_lines.push(&line.text);
            }
        }
    }
    new_lines.extend(old_lines.get(at..)?);
    let mut text = new_lines.join("\n");
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
    }
}
