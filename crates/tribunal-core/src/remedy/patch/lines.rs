//! The lines of a file that a patch really changed: what only moved or was indented anew is left out.

use crate::diff::change::{Change, ChangedFile};
use crate::findings::anchor::fold;
use std::collections::BTreeMap;

/// Folded lines, in order.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Changed {
    pub removed: Vec<String>,
    pub added: Vec<String>,
}

/// Lines that stand elsewhere in the patch with the same words cancel each other out.
pub fn of(change: &Change, file: &ChangedFile) -> Changed {
    let mut balance: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for other in &change.files {
        for line in other.added_lines() {
            balance.entry(fold(&line.text)).or_default().0 += 1;
        }
        for line in other.removed_lines() {
            balance.entry(fold(&line.text)).or_default().1 += 1;
        }
    }
    let kept = |text: &str, added: bool| {
        let folded = fold(text);
        let (plus, minus) = balance.get(&folded).copied().unwrap_or_default();
        let wins = if added { plus > minus } else { minus > plus };
        (!folded.is_empty() && wins).then_some(folded)
    };
    Changed {
        removed: file.removed_lines().filter_map(|line| kept(&line.text, false)).collect(),
        added: file.added_lines().filter_map(|line| kept(&line.text, true)).collect(),
    }
}

/// A line that is only a comment does nothing: it is no counterpart to code, and its loss is no loss.
pub fn is_comment(line: &str) -> bool {
    let line = line.trim_start();
    let hash = line.starts_with('#') && !line.starts_with("#[") && !line.starts_with("#!") && !is_directive(line);
    hash || ["//", "/*", "* ", "*/", "-- ", "<!--", "\"\"\"", "'''"].iter().any(|begin| line.starts_with(begin)) || line == "*"
}

fn is_directive(line: &str) -> bool {
    ["#include", "#if", "#define", "#else", "#endif", "#pragma", "#undef"].iter().any(|word| line.starts_with(word))
}

/// A line without the comment behind its code.
pub fn without_comment(line: &str) -> &str {
    let mut quote: Option<char> = None;
    let mut previous = ' ';
    for (at, c) in line.char_indices() {
        let rest = &line[at..];
        match quote {
            Some(open) if c == open && previous != '\\' => quote = None,
            Some(_) => {}
            None if opens(rest, previous) => quote = Some(c),
            None if rest.starts_with("//") && previous != ':' => return line[..at].trim_end(),
            None if c == '#' && previous == ' ' && !rest.starts_with("#[") => return line[..at].trim_end(),
            None => {}
        }
        previous = c;
    }
    line
}

/// Does a string begin here? A lifetime, an apostrophe or a quote that nothing closes begins none.
fn opens(rest: &str, previous: char) -> bool {
    let Some(c) = rest.chars().next().filter(|c| matches!(c, '"' | '\'' | '`')) else { return false };
    let closed = rest[1..].contains(c);
    closed
        && (c != '\''
            || !(previous.is_alphanumeric() && !matches!(previous, 'f' | 'b' | 'r' | 'u') || matches!(previous, '<' | '&')))
}

/// Code without what stands in quotes; what is put into a string by braces is code.
pub fn without_strings(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut quote: Option<char> = None;
    let (mut depth, mut escaped, mut previous) = (0usize, false, ' ');
    for (at, c) in line.char_indices() {
        match quote {
            None => {
                quote = opens(&line[at..], previous).then_some(c);
                out.push(c);
            }
            Some(_) if escaped => escaped = false,
            Some(_) if c == '\\' => escaped = true,
            Some(open) if c == open && depth == 0 => {
                quote = None;
                out.push(c);
            }
            Some(_) if c == '{' => {
                depth += 1;
                out.push(' ');
            }
            Some(_) if c == '}' => {
                depth = depth.saturating_sub(1);
                out.push(' ');
            }
            Some(_) if depth > 0 => out.push(c),
            Some(_) => {}
        }
        previous = c;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn strings_and_comments_are_told_from_code() {
        assert_eq!(without_strings("log(\"token\", f\"{token}\")"), "log(\"\", f\" token \")");
        assert_eq!(without_strings("fn f<'a>(x: &'a str) -> bool"), "fn f<'a>(x: &'a str) -> bool");
        assert_eq!(without_comment("go()  # authorize(user)"), "go()");
        assert_eq!(without_comment("go(); // verify"), "go();");
        assert_eq!(without_comment("x = \"# no // comment\""), "x = \"# no // comment\"");
        assert_eq!(without_comment("see(https://a.example)"), "see(https://a.example)");
    }

    proptest! {
        #[test]
        fn any_line_can_be_read(line in "\\PC{0,60}|[\"'`{}#/\\\\ a]{0,30}") {
            prop_assert!(line.starts_with(without_comment(&line)));
            prop_assert!(without_strings(&line).len() <= line.len());
        }
    }
}
