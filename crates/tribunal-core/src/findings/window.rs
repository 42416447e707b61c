//! What an incremental review may speak of (PR-31).
//!
//! A model reads the same lines twice and says something else, so it may raise only what changed since the last review, or
//! repeat what is open. What changed is more than the lines that were written: a line that was deleted changes those around it,
//! and a function with a changed line is another function. Rules and linters say the same of the same code, so whatever they say
//! anew is news, wherever it stands; the window does not bind them.

use super::anchor::{Anchor, Side, is_narrow_quote};
use super::key::{Outline, normalise_code};
use crate::diff::change::{AddedLines, ChangedFile, DiffLine, FileContent, Origin};
use crate::ids::{CategoryCode, RepoPath};
use crate::policy::agents::AgentConfig;
use std::collections::BTreeMap;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Window {
    touched: BTreeMap<RepoPath, Touched>,
    open: Vec<Known>,
}

/// The part of a file that changed since the last review.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Touched {
    /// It cannot be compared line by line.
    Whole,
    Lines(TouchedLines),
}

/// Lines of the file as it is now.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TouchedLines {
    /// Written since, or next to what was deleted since: a symbol that holds one is another symbol.
    changed: AddedLines,
    /// Those and what git shows around them.
    near: AddedLines,
}

/// An open finding, as far as a repetition of it can be told from news.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Known {
    pub path: RepoPath,
    pub category: CategoryCode,
    pub symbol: String,
    pub code: String,
}

impl Touched {
    pub fn of(file: &ChangedFile) -> Self {
        match file.content {
            FileContent::Text => Touched::Lines(TouchedLines {
                changed: file.hunks.iter().flat_map(|hunk| changed(&hunk.lines)).collect(),
                near: file.lines().filter_map(|line| line.new_line).collect(),
            }),
            FileContent::Binary | FileContent::Submodule | FileContent::Symlink => Touched::Whole,
        }
    }
}

/// What was deleted has no line of its own; the lines on both sides of it stand in for it.
fn changed(lines: &[DiffLine]) -> impl Iterator<Item = u32> {
    let is_gone = |line: Option<&DiffLine>| line.is_some_and(|line| line.origin == Origin::Removed);
    let beside = move |index: usize| {
        is_gone(lines.get(index + 1)) || index.checked_sub(1).is_some_and(|before| is_gone(lines.get(before)))
    };
    let counts = move |(index, line): &(usize, &DiffLine)| line.origin == Origin::Added || beside(*index);
    lines.iter().enumerate().filter(counts).filter_map(|(_, line)| line.new_line)
}

impl Window {
    pub fn new(touched: BTreeMap<RepoPath, Touched>, open: Vec<Known>) -> Self {
        Self { touched, open }
    }

    /// Those who may change their mind about unchanged code. Whoever is not known to be steady is bound.
    pub fn binds(agent: &AgentConfig) -> bool {
        !matches!(agent, AgentConfig::Rules {} | AgentConfig::Sarif { .. } | AgentConfig::Linter(_))
    }

    /// The lines of a file's diff that changed since the last review, as numbers of the new file.
    pub fn lines_of(&self, file: &ChangedFile) -> Vec<u32> {
        let shown = file.lines().filter_map(|line| line.new_line);
        match self.touched.get(&file.path) {
            None => Vec::new(),
            Some(Touched::Whole) => shown.collect(),
            Some(Touched::Lines(lines)) => shown.filter(|line| lines.near.contains(*line)).collect(),
        }
    }

    pub fn admits(
        &self,
        path: &RepoPath,
        category: &CategoryCode,
        anchor: &Anchor,
        symbol: &str,
        outline: Option<&Outline>,
    ) -> bool {
        self.is_touched(path, anchor, outline) || self.is_open(path, category, anchor, symbol)
    }

    fn is_touched(&self, path: &RepoPath, anchor: &Anchor, outline: Option<&Outline>) -> bool {
        match (self.touched.get(path), anchor.side) {
            (None, _) => false,
            // A deletion has no line in the new file; the file having changed since is all that can be asked.
            (Some(_), Side::Old) | (Some(Touched::Whole), Side::New) => true,
            (Some(Touched::Lines(lines)), Side::New) => {
                let around = outline.and_then(|outline| outline.innermost(anchor.line_start));
                lines.near.touches(anchor.line_start, anchor.line_end)
                    || around.is_some_and(|symbol| lines.changed.touches(symbol.start_line, symbol.end_line))
            }
        }
    }

    fn is_open(&self, path: &RepoPath, category: &CategoryCode, anchor: &Anchor, symbol: &str) -> bool {
        self.open.iter().any(|known| {
            (&known.path, &known.category, known.symbol.as_str()) == (path, category, symbol)
                && same_place(&known.code, &anchor.quote)
        })
    }
}

/// One quotes a line, another the lines around it, and both mean the same place. Whoever quotes a whole function means no line of it.
fn same_place(one: &str, other: &str) -> bool {
    let is_narrow = is_narrow_quote(one) && is_narrow_quote(other);
    if is_narrow { is_part(one, other) } else { normalise_code(one) == normalise_code(other) }
}

/// Whether one quote is the other or a part of it.
pub fn is_part(one: &str, other: &str) -> bool {
    let (one, other) = (normalise_code(one), normalise_code(other));
    one.contains(&other) || other.contains(&one)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diff::parse::parse_diff;
    use crate::findings::key::Symbol;

    fn anchor(line: u32, quote: &str) -> Anchor {
        Anchor { side: Side::New, line_start: line, line_end: line, quote: quote.into() }
    }

    /// PR-31, issue 3 point 7: to delete a check is to change what it guarded, near by and in the whole function.
    #[test]
    fn a_deletion_touches_what_stands_around_it() {
        let since = "--- a/m.go\n+++ b/m.go\n@@ -10,6 +10,5 @@\n ten\n-defer close()\n eleven\n }\n \n func g\n";
        let file = &parse_diff(since.as_bytes()).unwrap().files[0];
        let window = Window::new(BTreeMap::from([("m.go".into(), Touched::of(file))]), Vec::new());
        let symbol = |name: &str, start_line, end_line| Symbol { name: name.into(), start_line, end_line };
        let outline = Outline::new(vec![symbol("f", 2, 12), symbol("g", 14, 40)]);
        let admits = |line| window.admits(&"m.go".into(), &"E5".into(), &anchor(line, "x"), "", Some(&outline));
        assert!(admits(2) && admits(10) && admits(11) && admits(14), "the function around it, and what git shows near it");
        assert!(!admits(1) && !admits(15) && !admits(40), "not the next function");
        assert!(!window.admits(&"n.go".into(), &"E5".into(), &anchor(11, "x"), "", Some(&outline)));
    }

    /// Design rule 2: what is open and said again is no news and no drop.
    #[test]
    fn what_is_open_may_be_repeated() {
        let known = Known { path: "a.py".into(), category: "E5".into(), symbol: "f".into(), code: "x = 1\ny = 2".into() };
        let window = Window::new(BTreeMap::new(), vec![known]);
        let admits = |category: &str, symbol: &str, quote: &str| {
            window.admits(&"a.py".into(), &category.into(), &anchor(9, quote), symbol, None)
        };
        assert!(admits("E5", "f", "y  = 2"));
        assert!(!admits("E1", "f", "y = 2") && !admits("E5", "g", "y = 2") && !admits("E5", "f", "z = 3"));
        let whole = Known { path: "a.py".into(), category: "E5".into(), symbol: "f".into(), code: "a\nb\nc\nd".into() };
        let window = Window::new(BTreeMap::new(), vec![whole]);
        let admits = |quote: &str| window.admits(&"a.py".into(), &"E5".into(), &anchor(9, quote), "f", None);
        assert!(admits("a\nb\n c\nd") && !admits("b"), "a line of a function that is quoted whole is another matter");
    }

    #[test]
    fn a_file_that_cannot_be_compared_is_touched_whole() {
        let binary = "diff --git a/a b/a\nindex 1..2 100644\nBinary files a/a and b/a differ\n";
        assert_eq!(Touched::of(&parse_diff(binary.as_bytes()).unwrap().files[0]), Touched::Whole);
    }
}
