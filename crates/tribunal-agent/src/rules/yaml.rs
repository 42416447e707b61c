//! Values of YAML that are written in another way than they read: with escapes, as copies of other values, or under keys that stand on
//! lines of their own. Who reads a file line by line sees none of them.

use tribunal_core::diff::change::AddedLines;

/// Whether the change wrote such a value. Text of a block or of a value without quotes is what it reads.
pub fn hides_values(text: &str, added: &AddedLines) -> bool {
    let mut reader = Reader::default();
    (1..).zip(text.split('\n')).any(|(number, line)| reader.hides_value(line) && added.contains(number))
}

/// Characters that end a line for YAML and not for who reads this one.
const LINE_ENDS: [char; 4] = ['\r', '\u{85}', '\u{2028}', '\u{2029}'];

/// What is open where a line begins.
#[derive(Default)]
struct Reader {
    /// The column of the innermost key or item.
    depth: usize,
    /// Lines that are indented deeper than this are text.
    text: Option<usize>,
    quote: Option<char>,
    /// How many braces and brackets are open.
    flow: usize,
    /// A value without quotes has begun in them.
    is_plain: bool,
}

impl Reader {
    /// Reads the next line.
    fn hides_value(&mut self, line: &str) -> bool {
        let line = line.strip_suffix('\r').unwrap_or(line);
        let mut is_hidden = line.contains(LINE_ENDS);
        let blank = |c: char| matches!(c, ' ' | '\t');
        if let Some(depth) = self.text {
            let indent = line.len() - line.trim_start_matches(' ').len();
            if line.trim_matches(blank).is_empty() || indent > depth {
                return is_hidden;
            }
            self.text = None;
        }
        let mut key_column = None;
        let mut has_key = false;
        let mut rest = line;
        if self.quote.is_none() && self.flow == 0 {
            if line.starts_with('%') || line.starts_with("...") {
                return is_hidden;
            }
            // A document begins.
            rest = line.strip_prefix("---").filter(|rest| rest.is_empty() || rest.starts_with(blank)).unwrap_or(line);
        }
        loop {
            if let Some(quote) = self.quote {
                let (end, is_escaped) = end_of_quoted(rest, quote);
                is_hidden |= is_escaped;
                let Some(end) = end else { return is_hidden };
                self.quote = None;
                rest = &rest[end..];
            }
            if self.is_plain {
                let Some(end) = end_of_plain_in_flow(rest) else { return is_hidden };
                self.is_plain = false;
                rest = &rest[end..];
            }
            rest = rest.trim_start_matches(blank);
            let column = line.len() - rest.len();
            let Some(first) = rest.chars().next() else { return is_hidden };
            let after = &rest[first.len_utf8()..];
            let stands_alone = after.is_empty() || after.starts_with(blank);
            match first {
                '#' => return is_hidden,
                '"' | '\'' => {
                    self.quote = Some(first);
                    key_column = key_column.or(Some(column));
                    rest = after;
                }
                '{' | '[' => {
                    self.flow += 1;
                    key_column = key_column.or(Some(column));
                    rest = after;
                }
                '}' | ']' | ',' if self.flow > 0 => {
                    self.flow -= usize::from(first != ',');
                    rest = after;
                }
                ':' if self.flow > 0 => rest = after,
                ':' if stands_alone => {
                    if !has_key {
                        (self.depth, has_key) = (key_column.unwrap_or(column), true);
                    }
                    rest = after;
                }
                '?' if stands_alone => {
                    is_hidden = true;
                    rest = after;
                }
                '-' if stands_alone && self.flow == 0 => {
                    self.depth = column;
                    rest = after;
                }
                '&' | '!' => rest = &rest[end_of_name(rest)..],
                '*' if is_alias(rest) => {
                    is_hidden = true;
                    rest = &rest[end_of_name(rest)..];
                }
                _ if self.flow > 0 => self.is_plain = true,
                '|' | '>' => {
                    self.text = Some(self.depth);
                    return is_hidden;
                }
                _ => match end_of_key(rest).filter(|_| !has_key) {
                    Some(end) => {
                        (self.depth, has_key) = (column, true);
                        rest = &rest[end..];
                    }
                    // It goes on in lines that are indented deeper.
                    None => {
                        self.text = Some(self.depth);
                        return is_hidden;
                    }
                },
            }
        }
    }
}

/// Where the quoted text ends that has begun, if it does on this line, and whether it holds an escape that hides what it says. A
/// backslash at the end of a line joins it to the next.
fn end_of_quoted(rest: &str, quote: char) -> (Option<usize>, bool) {
    let mut is_escaped = false;
    let mut chars = rest.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' if quote == '"' => is_escaped |= chars.next().is_none_or(|(_, escape)| matches!(escape, 'x' | 'u' | 'U')),
            '\'' if quote == '\'' && chars.peek().is_some_and(|(_, next)| *next == '\'') => drop(chars.next()),
            _ if c == quote => return (Some(at + 1), is_escaped),
            _ => {}
        }
    }
    (None, is_escaped)
}

/// Where a value without quotes ends in braces or brackets, if it does on this line.
fn end_of_plain_in_flow(rest: &str) -> Option<usize> {
    let mut before = None;
    for (at, c) in rest.char_indices() {
        let next = rest[at + c.len_utf8()..].chars().next();
        let is_end = match c {
            ',' | '[' | ']' | '{' | '}' => true,
            ':' => next.is_none_or(|next| " \t,[]{}".contains(next)),
            '#' => before.is_none_or(|before| matches!(before, ' ' | '\t')),
            _ => false,
        };
        if is_end {
            return Some(at);
        }
        before = Some(c);
    }
    None
}

/// Where the colon of a key without quotes ends, if this is one.
fn end_of_key(rest: &str) -> Option<usize> {
    let code = rest.split(" #").next().unwrap_or(rest);
    let is_colon = |at: &usize| matches!(code.as_bytes().get(at + 1), None | Some(b' ' | b'\t'));
    code.match_indices(':').map(|(at, _)| at).find(is_colon).map(|at| at + 1)
}

/// Where the name of an anchor, a tag or an alias ends.
fn end_of_name(rest: &str) -> usize {
    rest.find(|c: char| " \t,[]{}".contains(c)).unwrap_or(rest.len()).max(1)
}

/// A star before a name, and nothing behind it.
fn is_alias(rest: &str) -> bool {
    let (name, after) = rest.split_at(end_of_name(rest));
    let after = after.trim_start_matches([' ', '\t']);
    name.len() > 1 && (after.is_empty() || after.starts_with(['#', ',', ']', '}', ':']))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines that hide something.
    fn hidden(text: &str) -> Vec<usize> {
        let mut reader = Reader::default();
        (1..).zip(text.split('\n')).filter(|(_, line)| reader.hides_value(line)).map(|(number, _)| number).collect()
    }

    #[test]
    fn values_that_read_otherwise_are_seen() {
        for text in [
            "\"r\\u0075n\": make",
            "- \"r\\x75n\": make",
            "run: \"\\U00000061\"",
            "a: { b: c, \"r\\u0075n\": make }",
            "run: *script",
            "- *step # as above",
            "a: [b, *c]",
            "<<: *defaults",
            "? run",
            "- ? run",
            "a: b\rrun: c",
            "run: \"a\\",
        ] {
            assert_eq!(hidden(text), [1], "{text}");
        }
        // Text ends where its indentation does, and a quote in it opens nothing.
        assert_eq!(hidden("- run: |\n    a: \"\\u0061\n    *)\n  \"r\\u0075n\": b"), [4]);
        assert_eq!(hidden("a: b\n  'c\nd: *e"), [3]);
        assert_eq!(hidden("a: [b\n  'c, *d]"), [2]);
        assert_eq!(hidden("a: \"b\n  c: |\n    \\u0061\""), [3]);
        assert_eq!(hidden("- |\n  *)\n- *a"), [3]);
        assert_eq!(hidden("---\n  a: b\n  \"r\\u0075n\": c"), [3]);
        assert_eq!(hidden("- [a]: b\n  \"r\\u0075n\": c"), [2]);
    }

    #[test]
    fn ordinary_workflows_are_read_as_they_are() {
        let text = r#"# *a
name: "CI: \"all\" \n"
on:
  push:
    branches: ['*', "release/*", main]
    paths: [ '*.md', "**/*.py" ]
  schedule:
    - cron: '*/5 * * * *'
env: { A: "b", C: '\u0061', D: it's "\u0061" }
jobs:
  a:
    if: github.event_name == 'push' && !cancelled()
    runs-on: ${{ matrix.os }}
    steps:
      - uses: actions/checkout@v4 # don't
        with:
          name: a"\u0061"
      - name: don't "stop"
        run: |
          printf "\u001b[31m"
          case "$a" in
            *)
              ;;
          esac

          ? a
      - run: >-
          echo "\x41"
          *a
      - run: echo "\u0041" &&
          "\u0041"
      - '*.md'
      -
        run: |
          *a
"#;
        assert_eq!(hidden(text), [] as [usize; 0]);
        assert_eq!(hidden(&text.replace('\n', "\r\n")), [] as [usize; 0]);
    }
}
