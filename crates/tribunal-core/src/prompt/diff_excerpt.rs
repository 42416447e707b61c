//! The part of a file's diff that some findings are about: what a second opinion needs to see, and no more.

use crate::combine::finding::Finding;
use crate::diff::change::{ChangedFile, DiffLine, Hunk};
use crate::findings::anchor::Side;
use crate::findings::key::Outline;

/// Lines shown around a finding.
const NEAR: u32 = 12;
/// A function beyond this is not shown whole.
const MAX_SYMBOL_LINES: u32 = 120;

/// The file with those lines of its hunks that are near the findings, or in the function around one. The whole text stays, for excerpts
/// of unchanged code.
pub fn diff_near(file: &ChangedFile, outline: Option<&Outline>, findings: &[&Finding]) -> ChangedFile {
    let wanted: Vec<Span> = findings.iter().flat_map(|finding| spans(finding, outline)).collect();
    let hunks = file.hunks.iter().flat_map(|hunk| runs(hunk, &wanted)).collect();
    ChangedFile { hunks, ..file.clone() }
}

/// Lines of one side, 1-based and inclusive.
struct Span {
    side: Side,
    start: u32,
    end: u32,
}

fn spans(finding: &Finding, outline: Option<&Outline>) -> Vec<Span> {
    let side = finding.side;
    let around = |start: u32, end: u32| {
        let symbol = outline.filter(|_| side == Side::New).and_then(|outline| outline.innermost(start));
        let symbol = symbol.filter(|symbol| symbol.end_line - symbol.start_line < MAX_SYMBOL_LINES);
        let (first, last) = symbol.map_or((start, end), |symbol| (symbol.start_line, symbol.end_line));
        Span { side, start: first.min(start.saturating_sub(NEAR)), end: last.max(end + NEAR) }
    };
    let places = finding.all_places().map(|place| (place.line_start, place.line_end));
    let steps = finding.trace.iter().map(|step| (step.line, step.line));
    places.chain(steps).map(|(start, end)| around(start, end)).collect()
}

/// The wanted lines of a hunk, each unbroken run as a hunk of its own. What was removed goes with the line beside it.
fn runs(hunk: &Hunk, wanted: &[Span]) -> Vec<Hunk> {
    let is_within = |line: &DiffLine| {
        wanted.iter().any(|span| {
            let number = match span.side {
                Side::New => line.new_line,
                Side::Old => line.old_line,
            };
            number.is_some_and(|number| (span.start..=span.end).contains(&number))
        })
    };
    let own: Vec<bool> = hunk.lines.iter().map(is_within).collect();
    // Whether the nearest line of the new side is wanted, seen from each line upwards and downwards.
    let nearest = |lines: &mut dyn Iterator<Item = usize>| {
        let mut is_wanted = false;
        let mut beside = vec![false; own.len()];
        for index in lines {
            if hunk.lines[index].new_line.is_some() {
                is_wanted = own[index];
            }
            beside[index] = is_wanted;
        }
        beside
    };
    let (above, below) = (nearest(&mut (0..own.len())), nearest(&mut (0..own.len()).rev()));
    let is_shown = |index: usize| own[index] || hunk.lines[index].new_line.is_none() && (above[index] || below[index]);
    let mut found: Vec<Hunk> = Vec::new();
    let mut is_open = false;
    for (index, line) in hunk.lines.iter().enumerate() {
        if !is_shown(index) {
            is_open = false;
            continue;
        }
        if !is_open {
            let (old_start, new_start) = (line.old_line.unwrap_or(hunk.old_start), line.new_line.unwrap_or(hunk.new_start));
            found.push(Hunk { old_start, new_start, heading: hunk.heading.clone(), lines: Vec::new() });
            is_open = true;
        }
        if let Some(run) = found.last_mut() {
            run.lines.push(line.clone());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diff::parse::parse_diff;
    use crate::findings::key::Symbol;
    use proptest::prelude::*;

    /// A new file of so many lines.
    fn added(lines: u32) -> ChangedFile {
        let body: String = (1..=lines).map(|n| format!("+line {n} end\n")).collect();
        let diff =
            format!("diff --git a/a.py b/a.py\nnew file mode 100644\n--- /dev/null\n+++ b/a.py\n@@ -0,0 +1,{lines} @@\n{body}");
        parse_diff(diff.as_bytes()).unwrap().files.remove(0)
    }

    fn at(line: u32) -> Finding {
        Finding { line_start: line, line_end: line, ..crate::combine::tests::sample_finding() }
    }

    fn shown(file: &ChangedFile) -> Vec<u32> {
        file.lines().filter_map(|line| line.new_line).collect()
    }

    #[test]
    fn only_the_lines_around_are_shown() {
        let file = added(200);
        let (one, other) = (at(50), at(150));
        let seen = diff_near(&file, None, &[&one, &other]);
        assert_eq!(shown(&seen), (38..=62).chain(138..=162).collect::<Vec<_>>());
        assert_eq!(seen.hunks.iter().map(|hunk| hunk.new_start).collect::<Vec<_>>(), [38, 138]);
        let outline = Outline::new(vec![Symbol { name: "f".into(), start_line: 20, end_line: 80 }]);
        assert_eq!(shown(&diff_near(&file, Some(&outline), &[&one])), (20..=80).collect::<Vec<_>>());
    }

    #[test]
    fn what_was_removed_goes_with_the_lines_beside_it() {
        let diff = "--- a/a.py\n+++ b/a.py\n@@ -1,4 +1,3 @@ def f():\n one\n-gone\n-also gone\n+new\n two\n";
        let file = parse_diff(diff.as_bytes()).unwrap().files.remove(0);
        let seen = diff_near(&file, None, &[&at(2)]);
        assert_eq!(seen.lines().map(|line| line.text.as_str()).collect::<Vec<_>>(), ["one", "gone", "also gone", "new", "two"]);
        let old = Finding { side: Side::Old, ..at(2) };
        assert!(diff_near(&file, None, &[&old]).lines().any(|line| line.text == "gone"));
    }

    proptest! {
        /// The lines of every finding are shown, and nothing that the diff does not have.
        #[test]
        fn every_finding_is_shown(lines in prop::collection::vec(1u32..300, 1..6)) {
            let file = added(300);
            let findings: Vec<Finding> = lines.iter().map(|line| at(*line)).collect();
            let seen = diff_near(&file, None, &findings.iter().collect::<Vec<_>>());
            let shown = shown(&seen);
            prop_assert!(lines.iter().all(|line| shown.contains(line)));
            prop_assert!(shown.is_sorted() && shown.len() <= lines.len() * (2 * NEAR as usize + 1));
        }
    }
}
