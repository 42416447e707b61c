//! A linter's fix, turned into whole lines: what a suggestion on a forge and the embedded fixer can use.

use crate::feedback::lint::{Replace, Spot, whole_lines};
use crate::findings::report::Fix;

/// One replacement in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    pub place: Place,
    pub text: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// UTF-16 units before its beginning and before its end.
    Offsets {
        start: u32,
        end: u32,
    },
    Spots(Replace),
}

/// The lines of `text` after all edits. Nothing where they do not fit it.
pub fn fix_of(edits: &[Edit], text: &str) -> Option<Fix> {
    if text.starts_with('\u{feff}') {
        // Some count the mark and some do not.
        return None;
    }
    let replaces: Vec<Replace> = edits.iter().map(|edit| replace(edit, text)).collect::<Option<_>>()?;
    let (line_start, line_end, replacement) = whole_lines(&replaces, text)?;
    Some(Fix::of_lines(line_start, line_end, replacement))
}

fn replace(edit: &Edit, text: &str) -> Option<Replace> {
    match &edit.place {
        Place::Spots(replace) => Some(replace.clone()),
        Place::Offsets { start, end } => {
            Some(Replace { from: spot(text, *start)?, to: spot(text, *end)?, text: edit.text.clone(), utf16: true })
        }
    }
}

/// Line and column of an offset, both in UTF-16 units and counted from 1.
fn spot(text: &str, offset: u32) -> Option<Spot> {
    let (mut line, mut column, mut left) = (1, 1, offset);
    for c in text.chars() {
        if left == 0 {
            break;
        }
        let units = c.len_utf16() as u32;
        left = left.checked_sub(units)?;
        (line, column) = if c == '\n' { (line + 1, 1) } else { (line, column + units) };
    }
    (left == 0).then_some(Spot { line, column: Some(column) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fixed(edits: &[(u32, u32, &str)], text: &str) -> Option<(u32, u32, String)> {
        let edits: Vec<Edit> = edits
            .iter()
            .map(|(start, end, text)| Edit { place: Place::Offsets { start: *start, end: *end }, text: (*text).to_owned() })
            .collect();
        fix_of(&edits, text).map(|fix| (fix.line_start, fix.line_end, fix.replacement))
    }

    #[test]
    fn offsets_are_counted_as_utf_16() {
        assert_eq!(fixed(&[(3, 8, "const")], "a\n\u{1f600}let x\n"), None, "beyond a pair");
        assert_eq!(fixed(&[(4, 7, "const")], "a\n\u{1f600}let x\n"), Some((2, 2, "\u{1f600}const x".into())));
        assert_eq!(fixed(&[(0, 2, "")], "a\nb\n"), Some((1, 1, String::new())), "a line that goes");
        assert_eq!(fixed(&[(0, 99, "")], "a\n"), None);
        assert_eq!(fixed(&[(0, 1, "x"), (2, 3, "y")], "a b\n"), Some((1, 1, "x y".into())));
        assert_eq!(fixed(&[(0, 3, "x"), (2, 3, "y")], "a b\n"), None, "one over the other");
    }
}
