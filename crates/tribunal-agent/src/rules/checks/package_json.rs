//! The values of a `package.json` with the place that each stands at: whatever tool reads it goes by its values, and not by its lines.
//!
//! It is read from token to token, so that each value keeps its line, and so that a hunk can be read, too. Nothing that npm takes ends
//! the reading: neither deep nesting nor an escape that means no character.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use tribunal_core::diff::apply::undo_hunks;
use tribunal_core::diff::change::{ChangedFile, DiffLine, FileStatus};

/// No section that means anything has a longer name, and names must not grow with the nesting.
const MAX_NAME_BYTES: usize = 1024;

/// A value that stands under a key.
#[derive(Debug)]
pub struct Entry {
    /// The keys around it, each behind a dot.
    pub section: Rc<str>,
    pub key: String,
    pub value: String,
    /// Whether the value is a text, and not a number or a word such as `true`.
    pub is_text: bool,
    /// Where it stands: the lines of the value, of its key and of the key of its section.
    lines: [u32; 3],
}

impl Entry {
    fn identity(&self) -> (&str, &str, &str, bool) {
        (&self.section, &self.key, &self.value, self.is_text)
    }
}

/// What a change writes into a file.
pub struct Written<'a> {
    /// Each with the line of the change that shows it best.
    pub new: Vec<(&'a DiffLine, Entry)>,
    /// All that stood there before, where it is known.
    pub before: Vec<Entry>,
}

/// The file after the change, where all of it is known.
pub fn whole(file: &ChangedFile) -> Option<Vec<Entry>> {
    match &file.new_text {
        Some(text) => Some(entries(text)),
        None => super::whole_text(file).map(|lines| entries(&lines.join("\n"))),
    }
}

pub fn written(file: &ChangedFile) -> Written<'_> {
    let added: BTreeMap<u32, &DiffLine> = file.added_lines().filter_map(|line| Some((line.new_line?, line))).collect();
    let shown = |entry: &Entry| entry.lines.iter().find_map(|number| added.get(number).copied());
    let Some(whole) = whole(file) else {
        let hunks = file.hunks.iter().flat_map(|hunk| {
            let new_side: Vec<&DiffLine> = hunk.lines.iter().filter(|line| line.new_line.is_some()).collect();
            let text: Vec<&str> = new_side.iter().map(|line| line.text.as_str()).collect();
            let mut found = entries(&text.join("\n"));
            let number = |line: u32| new_side.get(line as usize - 1).and_then(|line| line.new_line).unwrap_or(0);
            found.iter_mut().for_each(|entry| entry.lines = entry.lines.map(number));
            found
        });
        return Written { new: hunks.filter_map(|entry| Some((shown(&entry)?, entry))).collect(), before: Vec::new() };
    };
    let old_text = || file.new_text.as_deref().and_then(|text| undo_hunks(text, &file.hunks));
    let before = match file.status {
        FileStatus::Added => Some(Vec::new()),
        _ => old_text().map(|text| entries(&text)),
    };
    let known: Option<BTreeSet<_>> = before.as_ref().map(|before| before.iter().map(Entry::identity).collect());
    // A value that the change gave another meaning may stand on a line that it left alone.
    let first = added.values().next().copied();
    let place = |entry: &Entry| match &known {
        Some(known) if known.contains(&entry.identity()) => None,
        Some(_) => shown(entry).or(first),
        None => shown(entry),
    };
    let new = whole.into_iter().filter_map(|entry| Some((place(&entry)?, entry))).collect();
    Written { new, before: before.unwrap_or_default() }
}

/// An object or a list that is open.
struct Open {
    /// Nothing in a list, and nothing where the name is too long.
    section: Option<Rc<str>>,
    line: u32,
    /// The last text, which a colon makes a key.
    last: Option<(String, u32)>,
    /// The key whose value comes next.
    key: Option<(String, u32)>,
}

impl Open {
    fn new(section: Option<Rc<str>>, line: u32) -> Self {
        Self { section, line, last: None, key: None }
    }

    fn push_value(&mut self, value: String, is_text: bool, line: u32, found: &mut Vec<Entry>) {
        match (self.key.take(), &self.section) {
            (Some((key, key_line)), Some(section)) => {
                found.push(Entry { section: Rc::clone(section), key, value, is_text, lines: [line, key_line, self.line] });
            }
            (Some(_), None) => {}
            (None, _) => self.last = is_text.then_some((value, line)),
        }
    }
}

/// Every value under a key. Of a part of a file, the sections that begin in it.
fn entries(text: &str) -> Vec<Entry> {
    let mut found = Vec::new();
    let mut outside = Open::new(Some("".into()), 1);
    let mut open: Vec<Open> = Vec::new();
    let mut line = 1;
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_outside = open.is_empty();
        let here = open.last_mut().unwrap_or(&mut outside);
        let mut length = first.len_utf8();
        match first {
            '\n' => line += 1,
            ':' => here.key = here.last.take(),
            ',' => (here.last, here.key) = (None, None),
            '{' | '[' => {
                let key = here.key.take();
                let key_line = key.as_ref().map_or(line, |(_, line)| *line);
                let section = match (key, &here.section) {
                    _ if first == '[' => None,
                    (Some((key, _)), Some(around)) if around.len() + key.len() < MAX_NAME_BYTES => {
                        Some(format!("{around}.{key}").into())
                    }
                    (None, Some(around)) if is_outside => Some(Rc::clone(around)),
                    _ => None,
                };
                open.push(Open::new(section, key_line));
            }
            '}' | ']' => drop(open.pop()),
            '"' => {
                length = text_length(rest);
                here.push_value(unescaped(&rest[..length]), true, line, &mut found);
            }
            // Some tools take comments.
            '/' if rest.starts_with("//") => length = rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => {
                length = rest[2..].find("*/").map_or(rest.len(), |end| end + 4);
                line += rest[..length].matches('\n').count() as u32;
            }
            _ if first.is_whitespace() || first == '\u{feff}' => {}
            _ => {
                let is_end = |c: char| c.is_whitespace() || "\",:{}[]".contains(c);
                length = rest.find(is_end).unwrap_or(rest.len()).max(length);
                here.push_value(rest[..length].to_owned(), false, line, &mut found);
            }
        }
        rest = &rest[length..];
    }
    found
}

/// How long the text is that begins here, with its quotes. None goes beyond its line.
fn text_length(rest: &str) -> usize {
    let mut is_escaped = false;
    for (at, byte) in rest.bytes().enumerate().skip(1) {
        match byte {
            b'\n' => return at,
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    rest.len()
}

fn unescaped(quoted: &str) -> String {
    serde_json::from_str(quoted).unwrap_or_else(|_| quoted.trim_matches('"').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<(String, String, String, [u32; 3])> {
        let all = entries(text).into_iter();
        all.map(|entry| (entry.section.to_string(), entry.key, entry.value, entry.lines)).collect()
    }

    fn entry(section: &str, key: &str, value: &str, lines: [u32; 3]) -> (String, String, String, [u32; 3]) {
        (section.to_owned(), key.to_owned(), value.to_owned(), lines)
    }

    #[test]
    fn values_are_known_by_their_place_and_not_by_their_line() {
        let whole = [entry(".a", "b", "c", [1, 1, 1]), entry(".a.d", "e", "1", [1, 1, 1]), entry("", "f", "true", [1, 1, 1])];
        assert_eq!(read(r#"{"a":{"b":"c","d":{"e":1}},"f":true}"#), whole);
        assert_eq!(read("{\n\"\\u0061\"\n:\n{ \"b\":\n\"\\u0063\" }\n}"), [entry(".a", "b", "c", [5, 4, 2])]);
        assert_eq!(read("  \"a\": {\n    \"b\": \"c\",\n"), [entry(".a", "b", "c", [2, 2, 1])], "a part of a file");
        assert_eq!(read("{ /* \" */ \"a\": // \"\n1 }"), [entry("", "a", "1", [2, 1, 1])]);
        assert_eq!(read(r#"{"": {"a": 1}, "b": [{"c": 1}, "d"]}"#), [entry(".", "a", "1", [1, 1, 1])]);
    }

    #[test]
    fn no_text_ends_the_reading() {
        let last = entry("", "a", "b", [1, 1, 1]);
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        for before in [deep.as_str(), r#""\ud800""#, "1e999"] {
            assert_eq!(read(&format!(r#"{{"x": {before}, "a": "b"}}"#)).last(), Some(&last));
        }
    }
}
