//! A large change is given in parts: by file, then by symbol, code first and prose last. Nothing is cut in silence: every changed line
//! stands in exactly one part.

use crate::call::usage::estimate_tokens;
use crate::diff::change::{AddedLines, ChangedFile, DiffLine, Origin};
use crate::findings::key::Outline;
use crate::ids::RepoPath;
use std::collections::BTreeSet;

/// A piece of one file's diff, as it stands in a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slice {
    pub path: RepoPath,
    pub text: String,
    /// Lines of the new file that it shows.
    pub shown: BTreeSet<u32>,
}

/// Which hunks a reviewer is given.
pub struct Focus<'a> {
    /// Lines that are new since the last review; absent in a full one.
    pub window: Option<&'a AddedLines>,
    /// Lines of findings that are still open, which must be looked at again.
    pub open_lines: &'a BTreeSet<u32>,
}

/// One file's diff in slices of at most `limit` tokens, cut between hunks or where a symbol begins where possible.
pub fn slices(file: &ChangedFile, outline: Option<&Outline>, focus: &Focus<'_>, limit: u64) -> Vec<Slice> {
    let how = file.status.word();
    let old = file.old_path.as_ref().filter(|old| *old != &file.path).map(|old| format!(", was {}", super::shown(old.as_str())));
    let heading = format!("=== FILE {} ({how}{}) ===\n", super::shown(file.path.as_str()), old.unwrap_or_default());
    let mut slices = Vec::new();
    let mut current = heading.clone();
    let mut lines_shown = BTreeSet::new();
    let mut left_out = 0;
    let mut flush = |current: &mut String, shown: &mut BTreeSet<u32>| {
        if current.len() > heading.len() {
            let text = std::mem::replace(current, heading.clone());
            slices.push(Slice { path: file.path.clone(), text, shown: std::mem::take(shown) });
        }
    };
    for hunk in &file.hunks {
        let shown = in_focus(&hunk.lines, outline, focus);
        let hidden = shown.iter().filter(|shown| !**shown).count();
        left_out += hidden;
        if hidden == hunk.lines.len() {
            continue;
        }
        let hunk_heading = format!("@@ {} @@\n", super::shown(hunk.heading.trim()));
        let lines: Vec<String> = hunk.lines.iter().map(|line| numbered(line, focus.window)).collect();
        let size: u64 = lines.iter().zip(&shown).filter(|(_, shown)| **shown).map(|(line, _)| estimate_tokens(line)).sum();
        if estimate_tokens(&current) + size > limit {
            flush(&mut current, &mut lines_shown);
        }
        current.push_str(&hunk_heading);
        let mut is_gap = false;
        for ((line, text), shown) in hunk.lines.iter().zip(&lines).zip(&shown) {
            if !shown {
                is_gap = true;
                continue;
            }
            if std::mem::take(&mut is_gap) {
                current.push_str("       …\n");
            }
            let filled = estimate_tokens(&current) + estimate_tokens(text);
            let begins = || line.new_line.is_some_and(|number| outline.is_some_and(|outline| outline.begins_at(number)));
            if filled > limit || (filled * 4 > limit * 3 && begins()) {
                flush(&mut current, &mut lines_shown);
                current.push_str(&hunk_heading);
            }
            current.push_str(text);
            lines_shown.extend(line.new_line);
        }
    }
    if left_out > 0 && current.len() > heading.len() {
        current.push_str(&format!("({left_out} more lines of this file's diff are unchanged since the last review)\n"));
    }
    if file.hunks.is_empty() {
        current.push_str("(no text changed)\n");
    }
    flush(&mut current, &mut lines_shown);
    slices
}

/// How far around a new line an incremental reader sees.
const NEAR: u32 = 8;
/// A function beyond this is not shown whole for a line that changed in it.
const MAX_SYMBOL_LINES: u32 = 120;

/// Which lines of a hunk are shown: all in a full review; else what is new, what is open, and the function around each.
fn in_focus(lines: &[DiffLine], outline: Option<&Outline>, focus: &Focus<'_>) -> Vec<bool> {
    let Some(window) = focus.window else { return vec![true; lines.len()] };
    let is_wanted = |number: &u32| window.contains(*number) || focus.open_lines.contains(number);
    let spans: Vec<(u32, u32)> = lines
        .iter()
        .filter_map(|line| line.new_line)
        .filter(is_wanted)
        .map(|number| {
            let around = outline.and_then(|outline| outline.innermost(number));
            let around = around.filter(|symbol| symbol.end_line - symbol.start_line < MAX_SYMBOL_LINES);
            let (start, end) = around.map_or((number, number), |symbol| (symbol.start_line, symbol.end_line));
            (start.min(number.saturating_sub(NEAR)), end.max(number + NEAR))
        })
        .collect();
    let spans = joined(spans);
    // What was removed has no line of its own in the new file; it is shown with the line before it.
    let mut here = false;
    let has_new_side = lines.iter().any(|line| line.new_line.is_some());
    lines
        .iter()
        .map(|line| {
            if let Some(number) = line.new_line {
                let next = spans.partition_point(|(_, end)| *end < number);
                here = spans.get(next).is_some_and(|(start, _)| *start <= number);
            }
            here || !has_new_side
        })
        .collect()
}

/// Spans in their order, each clear of the next.
fn joined(mut spans: Vec<(u32, u32)>) -> Vec<(u32, u32)> {
    spans.sort_unstable();
    let mut joined: Vec<(u32, u32)> = Vec::new();
    for (start, end) in spans {
        match joined.last_mut() {
            Some((_, last)) if start <= *last => *last = end.max(*last),
            _ => joined.push((start, end)),
        }
    }
    joined
}

fn numbered(line: &DiffLine, window: Option<&AddedLines>) -> String {
    let (mark, number) = match line.origin {
        Origin::Added => ('+', line.new_line),
        Origin::Context => (' ', line.new_line),
        Origin::Removed => ('-', line.old_line),
    };
    let is_new =
        line.origin == Origin::Added && number.is_some_and(|number| window.is_some_and(|window| window.contains(number)));
    format!("{mark}{:>6}{} {}\n", number.unwrap_or(0), if is_new { "*" } else { "" }, super::shown(&line.text))
}

/// Fills parts in the given order. A slice that is larger than the limit (one endless line) is a part of its own.
pub fn parts(slices: Vec<Slice>, limit: u64) -> Vec<Vec<Slice>> {
    let mut parts: Vec<Vec<Slice>> = Vec::new();
    let mut filled = 0;
    for slice in slices {
        let size = estimate_tokens(&slice.text);
        match parts.last_mut() {
            Some(part) if filled + size <= limit => {
                part.push(slice);
                filled += size;
            }
            _ => {
                parts.push(vec![slice]);
                filled = size;
            }
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diff::parse::parse_diff;
    use crate::findings::key::Symbol;

    fn file(lines: u32) -> ChangedFile {
        let mut diff =
            format!("diff --git a/a.py b/a.py\nnew file mode 100644\n--- /dev/null\n+++ b/a.py\n@@ -0,0 +1,{lines} @@\n");
        for n in 1..=lines {
            diff.push_str(&format!("+line number {n} of this file\n"));
        }
        parse_diff(diff.as_bytes()).unwrap().files.remove(0)
    }

    const EVERYTHING: Focus<'static> = Focus { window: None, open_lines: &BTreeSet::new() };

    /// Issue 4, build 4: nothing is cut in silence.
    #[test]
    fn every_line_stands_in_exactly_one_part() {
        let slices = slices(&file(1000), None, &EVERYTHING, 500);
        assert!(slices.len() > 10);
        for n in 1..=1000 {
            let holding = slices.iter().filter(|slice| slice.text.contains(&format!("line number {n} of"))).count();
            assert_eq!(holding, 1, "{n}");
        }
        assert!(slices.iter().all(|slice| slice.text.starts_with("=== FILE a.py (added) ===\n@@")));
        assert!(slices.iter().all(|slice| estimate_tokens(&slice.text) <= 520));
    }

    #[test]
    fn a_cut_prefers_the_beginning_of_a_symbol() {
        let outline = Outline::new(
            (0..10).map(|n| Symbol { name: format!("f{n}"), start_line: n * 17 + 1, end_line: n * 17 + 17 }).collect(),
        );
        let slices = slices(&file(170), Some(&outline), &EVERYTHING, 250);
        let starts: Vec<u32> =
            slices.iter().map(|slice| slice.text.lines().nth(2).unwrap()[1..7].trim().parse::<u32>().unwrap()).collect();
        assert!(starts.iter().all(|start| (start - 1) % 17 == 0), "{starts:?}");
    }

    #[test]
    fn an_incremental_reader_gets_the_new_hunks_and_those_of_open_findings() {
        let diff = "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1,1 +1,2 @@\n one\n+two\n@@ -50,1 +51,2 @@\n three\n+four\n@@ -90,1 +92,2 @@\n five\n+six\n";
        let file = parse_diff(diff.as_bytes()).unwrap().files.remove(0);
        let (window, open) = (AddedLines::from_iter([52]), BTreeSet::from([93]));
        let slices = slices(&file, None, &Focus { window: Some(&window), open_lines: &open }, 10_000);
        let text = &slices[0].text;
        assert!(text.contains("+    52* four") && text.contains("+    93 six") && !text.contains("two"), "{text}");
        assert!(text.contains("2 more lines"), "{text}");
    }

    /// A new file is one hunk; a push to it is still a few lines.
    #[test]
    fn a_large_hunk_is_shown_around_its_new_lines() {
        let outline = Outline::new(vec![Symbol { name: "f".into(), start_line: 480, end_line: 510 }]);
        let (window, open) = (AddedLines::from_iter([500]), BTreeSet::from([20]));
        let slices = slices(&file(1000), Some(&outline), &Focus { window: Some(&window), open_lines: &open }, 10_000);
        let shown: Vec<u32> = slices[0].text.lines().filter_map(|line| line.get(1..7)?.trim().parse().ok()).collect();
        assert_eq!(shown, (12..=28).chain(480..=510).collect::<Vec<_>>());
        assert!(slices[0].text.contains("+   500* line") && slices[0].text.contains("…"));
    }

    #[test]
    fn parts_are_filled_in_order() {
        let slice = |n: usize| Slice { path: "a".into(), text: "x".repeat(n), shown: BTreeSet::new() };
        let parts = parts(vec![slice(100), slice(100), slice(1000), slice(50)], 70);
        assert_eq!(parts.iter().map(Vec::len).collect::<Vec<_>>(), [2, 1, 1]);
    }
}
