//! Which lines of a diff can carry a comment. Some forges refuse a whole review for one line outside of the diff (PR-142), others
//! take any line and show the comment nowhere; so every place is checked here before anything is sent.

use crate::combine::finding::Finding;
use crate::diff::change::{Change, Origin};
use crate::findings::anchor::Side;
use std::collections::BTreeMap;

/// The diff as a forge shows it, by path.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Shown {
    files: BTreeMap<String, ShownFile>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct ShownFile {
    old_path: String,
    /// The lines of each hunk: new side (added and context), old side (removed).
    hunks: Vec<(Vec<u32>, Vec<u32>)>,
}

/// Where a comment on a finding goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spot {
    pub path: String,
    pub old_path: String,
    pub side: Side,
    pub line: u32,
    pub start_line: Option<u32>,
}

impl Shown {
    pub fn of(change: &Change) -> Self {
        let files = change.files.iter().map(|file| {
            // A forge shows a moved file by what it changed, whatever else was read of it.
            let shown = if file.is_reread() { &[] } else { file.hunks.as_slice() };
            let hunks = shown.iter().map(|hunk| {
                let of = |keep: fn(Origin) -> bool| hunk.lines.iter().filter(move |line| keep(line.origin));
                let new = of(|origin| origin != Origin::Removed).filter_map(|line| line.new_line).collect();
                let old = of(|origin| origin == Origin::Removed).filter_map(|line| line.old_line).collect();
                (new, old)
            });
            let old_path = file.old_path.as_ref().unwrap_or(&file.path).0.clone();
            (file.path.0.clone(), ShownFile { old_path, hunks: hunks.collect() })
        });
        Shown { files: files.collect() }
    }

    /// The place of a finding, if the diff shows it. Of a range that leaves its hunk only the last line is kept.
    pub fn spot(&self, finding: &Finding) -> Option<Spot> {
        let file = self.files.get(finding.file.as_str())?;
        let lines = |hunk: &(Vec<u32>, Vec<u32>), line: u32| match finding.side {
            Side::New => hunk.0.binary_search(&line).is_ok(),
            Side::Old => hunk.1.binary_search(&line).is_ok(),
        };
        // The last line, or else the last of the range that is shown.
        let (hunk, line) = (finding.line_start..=finding.line_end)
            .rev()
            .find_map(|line| Some((file.hunks.iter().find(|hunk| lines(hunk, line))?, line)))?;
        let start = finding.line_start;
        Some(Spot {
            path: finding.file.0.clone(),
            old_path: file.old_path.clone(),
            side: finding.side,
            line,
            start_line: (start < line && lines(hunk, start)).then_some(start),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diff::parse::parse_diff;

    #[test]
    fn a_file_that_was_read_anew_is_not_shown_so() {
        let text = "diff --git a/tests/a.py b/src/a.py\nsimilarity index 100%\nrename from tests/a.py\nrename to src/a.py\n";
        let mut change = parse_diff(text.as_bytes()).unwrap();
        change.files[0].new_text = Some("x = 1\n".into());
        change.files[0].reread_if_repurposed();
        assert_eq!(change.added_count(), 1);
        assert_eq!(Shown::of(&change).files["src/a.py"].hunks, []);
    }
}
