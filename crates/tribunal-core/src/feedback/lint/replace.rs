//! The fix that a linter carries, as a suggestion block: what people and the embedded fixer read already.

/// A place in a file, counted from one; the column is that of the first character behind it where it ends something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Spot {
    pub line: u32,
    /// Nothing: the beginning of the line, or its end.
    pub column: Option<u32>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replace {
    pub from: Spot,
    pub to: Spot,
    pub text: String,
    /// Are columns counted as UTF-16 does, which is what SARIF means unless it says otherwise?
    pub utf16: bool,
}

/// The block that makes these replacements, for a remark on line `first` of the text that they were written for, which is `line` of
/// the text as it is now. Nothing where they do not fit: somebody else has to think then.
pub fn suggestion(fix: &[Replace], first: u32, line: u32, before: &str, text: &str) -> Option<String> {
    let (from, to) = span(fix)?;
    if !(from..=to).contains(&first) {
        return None;
    }
    let old = lines(before, from, to)?;
    let shift = |number: u32| u32::try_from(i64::from(number) + i64::from(line) - i64::from(first)).ok();
    // What stands there now must be what the fix was written for.
    if lines(text, shift(from)?, shift(to)?)? != old {
        return None;
    }
    let new = replaced(fix, from, &old)?;
    let longest = new.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let body = if new.is_empty() { String::new() } else { format!("{}\n", new.trim_end_matches(['\r', '\n'])) };
    Some(format!("{fence}suggestion:-{}+{}\n{body}{fence}", first - from, to - first))
}

/// The whole lines that these replacements change in the text they were written for: first, last, and what they become, without the
/// last line's end.
pub fn whole_lines(fix: &[Replace], text: &str) -> Option<(u32, u32, String)> {
    let (from, to) = span(fix)?;
    let new = replaced(fix, from, &lines(text, from, to)?)?;
    Some((from, to, new.trim_end_matches(['\r', '\n']).to_owned()))
}

/// The first and the last line that these replacements change.
fn span(fix: &[Replace]) -> Option<(u32, u32)> {
    let (from, to) = (fix.iter().map(|one| one.from.line).min()?, fix.iter().map(|one| one.to.line).max()?);
    // A region that ends before the first character of a line leaves that line alone.
    let ends_above = fix.iter().all(|one| one.to.line < to || one.to.column == Some(1)) && to > from;
    Some((from, if ends_above { to - 1 } else { to }))
}

fn lines(text: &str, from: u32, to: u32) -> Option<String> {
    let all: Vec<&str> = text.split_inclusive('\n').collect();
    Some(all.get((from as usize).checked_sub(1)?..to as usize)?.concat())
}

/// The lines after all replacements, the last one first, so that none moves another.
fn replaced(fix: &[Replace], from: u32, old: &str) -> Option<String> {
    let mut spans: Vec<(usize, usize, &str)> = Vec::new();
    for one in fix {
        let start = offset(old, one.from, from, one.utf16, false)?;
        let end = offset(old, one.to, from, one.utf16, true)?;
        if start > end {
            return None;
        }
        spans.push((start, end, &one.text));
    }
    spans.sort_by_key(|(start, end, _)| (*start, *end));
    if spans.windows(2).any(|pair| pair[0].1 > pair[1].0) {
        return None;
    }
    let mut new = old.to_owned();
    for (start, end, text) in spans.into_iter().rev() {
        new.replace_range(start..end, text);
    }
    Some(new)
}

/// Bytes before a spot. Without a column it is the beginning of its line, or the end without the line's own end.
fn offset(text: &str, spot: Spot, first: u32, utf16: bool, at_end: bool) -> Option<usize> {
    let above = spot.line.checked_sub(first)? as usize;
    let begin: usize = text.split_inclusive('\n').take(above).map(str::len).sum();
    let line = text[begin..].split_inclusive('\n').next().unwrap_or_default();
    let code = line.trim_end_matches(['\r', '\n']);
    let Some(column) = spot.column else { return Some(begin + if at_end { code.len() } else { 0 }) };
    let mut left = column.checked_sub(1)? as usize;
    for (at, c) in code.char_indices() {
        if left == 0 {
            return Some(begin + at);
        }
        left = left.checked_sub(if utf16 { c.len_utf16() } else { 1 })?;
    }
    // The end of the line, and no further.
    (left == 0).then_some(begin + code.len())
}
