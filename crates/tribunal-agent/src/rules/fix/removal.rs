//! What goes with code that is deleted: the comma of an argument, the line of a statement.

use super::SyntaxNode;
use std::ops::Range;

/// All that is deleted with a node. Nothing if something would be left that reads differently.
pub fn removal_range(node: &SyntaxNode<'_>, source: &str) -> Option<Range<usize>> {
    let Range { mut start, mut end } = node.range();
    let is_comma = |node: &SyntaxNode<'_>| node.kind() == ",";
    if let Some(comma) = node.next().filter(is_comma) {
        end = comma.range().end;
        let rest = source.get(end..)?;
        end += rest.len() - rest.trim_start_matches([' ', '\t']).len();
    } else if let Some(comma) = node.prev().filter(is_comma) {
        start = comma.range().start;
    }
    let range = widened(start, end, source);
    // The line before goes on in the next one, which is another one now.
    let is_continued = source.get(..range.start)?.trim_end_matches(['\n', '\r']).ends_with('\\') && range.start != start;
    (!is_continued).then_some(range)
}

/// With the blanks and line breaks around it that would be left over.
fn widened(mut start: usize, mut end: usize, source: &str) -> Range<usize> {
    // A statement takes its line break with it in some grammars.
    while end > start && source[..end].ends_with(['\n', '\r']) {
        end -= 1;
    }
    let before = &source[..start];
    let line = before.rfind('\n').map_or(0, |at| at + 1);
    let rest = &source[end..];
    let line_end = rest.find('\n').map_or(source.len(), |at| end + at + 1);
    let is_blank_before = before[line..].trim().is_empty();
    let is_blank_after = source[end..line_end].trim().is_empty();
    match (is_blank_before, is_blank_after) {
        (true, true) => line..line_end,
        // The last thing of its line: no blanks are left at its end.
        (false, true) => {
            start = line + before[line..].trim_end().len();
            start..end + (rest.len() - rest.trim_start_matches([' ', '\t']).len())
        }
        (false, false) if before.ends_with(' ') && rest.starts_with(' ') => start..end + 1,
        (_, false) => start..end,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn without(source: &str, code: &str) -> String {
        let start = source.find(code).unwrap();
        let range = widened(start, start + code.len(), source);
        format!("{}{}", &source[..range.start], &source[range.end..])
    }

    #[test]
    fn a_line_goes_when_nothing_else_stands_in_it() {
        assert_eq!(without("a\n  b\nc\n", "b"), "a\nc\n");
        assert_eq!(without("a\n  b", "b"), "a\n");
        assert_eq!(without("{ b; c }\n", "b;"), "{ c }\n");
        assert_eq!(without("if (a) b;\nc\n", "b;"), "if (a)\nc\n");
    }
}
