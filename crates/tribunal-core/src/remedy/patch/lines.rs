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

/// Code without what stands in quotes; what is put into a string by braces is code.
pub fn without_strings(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut quote: Option<char> = None;
    let mut depth = 0usize;
    let mut escaped = false;
    for c in line.chars() {
        match quote {
            None => {
                if matches!(c, '"' | '\'' | '`') {
                    quote = Some(c);
                }
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
    }
    out
}
