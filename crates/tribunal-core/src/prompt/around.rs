//! Unchanged lines that help to read a change: the function a hunk stands in, and the definitions of what its new lines call. A small
//! change pays for small context, never for the repository.

use crate::call::usage::estimate_tokens;
use crate::diff::change::ChangedFile;
use crate::findings::key::{Outline, Symbol};
use crate::ids::RepoPath;
use std::collections::BTreeSet;

/// A function beyond this is not shown whole.
const MAX_SYMBOL_LINES: u32 = 120;
/// A definition beyond this is shown by its beginning.
const MAX_DEFINITION_LINES: u32 = 40;

/// Lines to show of one file: 1-based, inclusive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excerpt {
    pub path: RepoPath,
    pub text: String,
}

/// A file of the change with its whole text, as far as there is one.
pub struct Source<'a> {
    pub file: &'a ChangedFile,
    pub text: &'a str,
    pub outline: &'a Outline,
}

/// Excerpts for the given files, within `budget` tokens, enclosing functions before definitions.
pub fn excerpts(sources: &[Source<'_>], budget: u64) -> Vec<Excerpt> {
    let mut left = budget;
    let mut chosen: Vec<(usize, BTreeSet<u32>)> = sources.iter().enumerate().map(|(n, _)| (n, BTreeSet::new())).collect();
    let called: BTreeSet<&str> =
        sources.iter().flat_map(|source| source.file.added_lines()).flat_map(|line| words(&line.text)).collect();
    for wanted in [enclosing as fn(&Source<'_>, &BTreeSet<&str>) -> Vec<(u32, u32)>, definitions] {
        for (n, lines) in &mut chosen {
            let source = &sources[*n];
            let shown = shown_lines(source.file);
            for (start, end) in wanted(source, &called) {
                let fresh: Vec<u32> = (start..=end).filter(|line| !shown.contains(line) && !lines.contains(line)).collect();
                let cost: u64 = fresh.iter().map(|line| estimate_tokens(line_of(source.text, *line)) + 3).sum();
                if cost <= left {
                    left -= cost;
                    lines.extend(fresh);
                }
            }
        }
    }
    chosen
        .into_iter()
        .filter(|(_, lines)| !lines.is_empty())
        .map(|(n, lines)| Excerpt { path: sources[n].file.path.clone(), text: listing(sources[n].text, &lines) })
        .collect()
}

/// Names that the new lines call and that none of these files defines: worth a look elsewhere. The first few, in reading order.
pub fn called_elsewhere(sources: &[Source<'_>], most: usize) -> Vec<String> {
    let defined: BTreeSet<&str> =
        sources.iter().flat_map(|source| source.outline.symbols()).map(|symbol| symbol.name.as_str()).collect();
    let mut found: Vec<String> = Vec::new();
    for line in sources.iter().flat_map(|source| source.file.added_lines()) {
        for (at, _) in line.text.match_indices('(') {
            let name = line.text[..at].rsplit(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
            if name.len() > 3 && !defined.contains(name) && !found.iter().any(|known| known == name) {
                found.push(name.to_owned());
            }
        }
    }
    found.truncate(most);
    found
}

/// A definition of another file, by its beginning.
pub fn definition(path: &RepoPath, text: &str, symbol: &Symbol) -> Excerpt {
    let lines = (symbol.start_line..=symbol.end_line.min(symbol.start_line + MAX_DEFINITION_LINES)).collect();
    Excerpt { path: path.clone(), text: listing(text, &lines) }
}

/// The innermost function around each hunk.
fn enclosing(source: &Source<'_>, _: &BTreeSet<&str>) -> Vec<(u32, u32)> {
    let changed = source.file.added_lines().filter_map(|line| line.new_line);
    let mut found: Vec<(u32, u32)> = changed
        .filter_map(|line| source.outline.innermost(line))
        .filter(|symbol| symbol.end_line - symbol.start_line < MAX_SYMBOL_LINES)
        .map(range)
        .collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// Symbols of the same files that the new lines name.
fn definitions(source: &Source<'_>, called: &BTreeSet<&str>) -> Vec<(u32, u32)> {
    let named = source.outline.symbols().iter().filter(|symbol| called.contains(symbol.name.as_str()));
    named.map(|symbol| (symbol.start_line, symbol.end_line.min(symbol.start_line + MAX_DEFINITION_LINES))).collect()
}

fn range(symbol: &Symbol) -> (u32, u32) {
    (symbol.start_line, symbol.end_line)
}

fn shown_lines(file: &ChangedFile) -> BTreeSet<u32> {
    file.lines().filter_map(|line| line.new_line).collect()
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| word.len() > 2)
}

fn line_of(text: &str, number: u32) -> &str {
    text.lines().nth(number as usize - 1).unwrap_or_default()
}

fn listing(text: &str, lines: &BTreeSet<u32>) -> String {
    let mut out = String::new();
    let mut last = None;
    for (number, line) in (1..).zip(text.lines()) {
        if lines.contains(&number) {
            if last.is_some_and(|last| number > last + 1) {
                out.push_str("       …\n");
            }
            out.push_str(&format!(" {number:>6} {}\n", super::shown(line)));
            last = Some(number);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diff::parse::parse_diff;

    /// Issue 4, build 4: the function around the change and what it calls, nothing else.
    #[test]
    fn the_function_around_and_what_it_calls() {
        let text = "def helper(x):\n    return x\n\ndef unrelated():\n    pass\n\ndef main():\n    a = 1\n    b = 2\n    c = 3\n    d = 4\n    e = helper(a)\n    return e\n";
        let diff = "diff --git a/m.py b/m.py\n--- a/m.py\n+++ b/m.py\n@@ -11,2 +11,3 @@\n     d = 4\n+    e = helper(a)\n     return e\n";
        let mut change = parse_diff(diff.as_bytes()).unwrap();
        let file = change.files.remove(0);
        let symbol = |name: &str, start_line, end_line| Symbol { name: name.into(), start_line, end_line };
        let outline = Outline::new(vec![symbol("helper", 1, 2), symbol("unrelated", 4, 5), symbol("main", 7, 13)]);
        let sources = [Source { file: &file, text, outline: &outline }];
        let found = excerpts(&sources, 1000);
        assert!(found[0].text.contains("def main") && found[0].text.contains("def helper"), "{}", found[0].text);
        assert!(!found[0].text.contains("unrelated") && !found[0].text.contains("helper(a)"));
        assert!(excerpts(&sources, 3).is_empty(), "no budget, no context");
        assert!(called_elsewhere(&sources, 9).is_empty(), "`helper` is defined here");
        let other = Outline::default();
        assert_eq!(called_elsewhere(&[Source { file: &file, text, outline: &other }], 9), ["helper"]);
    }
}
