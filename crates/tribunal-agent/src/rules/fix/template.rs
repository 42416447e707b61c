//! The text that a fix puts in place: `$NAME` and `$$$NAME` stand for what the rule matched, all other text for itself.
//!
//! What was matched is copied as it stands, so no string, comment or line break in it changes. Only the lines of the template are
//! indented: like the line that it begins in, and a tab at their start is one level of the file's own indentation.

use super::Variables;
use std::collections::BTreeSet;

#[derive(Debug, PartialEq, Eq)]
pub struct Template {
    parts: Vec<Part>,
}

#[derive(Debug, PartialEq, Eq)]
enum Part {
    Text(String),
    One(String),
    Many(String),
}

impl Template {
    /// `names` are the variables that have a value; any other `$` is a character.
    pub fn new(text: &str, names: &BTreeSet<String>) -> Self {
        let mut parts = Vec::new();
        let mut plain = String::new();
        let mut rest = text.strip_suffix('\n').unwrap_or(text);
        while let Some(at) = rest.find('$') {
            plain.push_str(&rest[..at]);
            rest = &rest[at..];
            let dollars = rest.len() - rest.trim_start_matches('$').len();
            let after = &rest[dollars..];
            let end = after.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(after.len());
            let name = &after[..end];
            let used = if dollars >= 3 { 3 } else { 1 };
            if dollars > 0 && names.contains(name) {
                plain.push_str(&rest[..dollars - used]);
                if !plain.is_empty() {
                    parts.push(Part::Text(std::mem::take(&mut plain)));
                }
                parts.push(if used == 3 { Part::Many(name.to_owned()) } else { Part::One(name.to_owned()) });
            } else {
                plain.push_str(&rest[..dollars + end]);
            }
            rest = &rest[dollars + end..];
        }
        plain.push_str(rest);
        if !plain.is_empty() {
            parts.push(Part::Text(plain));
        }
        Self { parts }
    }

    /// Whether nothing is put in place: the code is deleted.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// The text for a node of `source` that begins at `start`.
    pub fn fill(&self, variables: &Variables<'_>, source: &str, start: usize) -> Option<String> {
        let line = source.get(..start)?.rfind('\n').map_or(0, |at| at + 1);
        let begin = source.get(line..start)?;
        let base = &begin[..begin.len() - begin.trim_start().len()];
        let unit = indentation_unit(source);
        let mut text = String::new();
        for part in &self.parts {
            match part {
                Part::Text(plain) => text.push_str(&indented(plain, base, &unit)),
                Part::One(name) => match (variables.get_match(name), variables.get_transformed(name)) {
                    (Some(node), _) => text.push_str(&node.text()),
                    (None, Some(bytes)) => {
                        let value = std::str::from_utf8(bytes).ok()?;
                        // A transformation forgets how the lines of its source were indented.
                        if value.contains('\n') {
                            return None;
                        }
                        text.push_str(value);
                    }
                    (None, None) => {}
                },
                Part::Many(name) => {
                    let nodes = variables.get_multiple_matches(name);
                    if let (Some(first), Some(last)) = (nodes.first(), nodes.last()) {
                        text.push_str(source.get(first.range().start..last.range().end)?);
                    }
                }
            }
        }
        Some(text)
    }
}

/// The lines of a template but its first, with the indentation of their place.
fn indented(plain: &str, base: &str, unit: &str) -> String {
    let mut lines = plain.split('\n').peekable();
    let mut text = lines.next().unwrap_or_default().to_owned();
    while let Some(line) = lines.next() {
        let body = line.trim_start_matches('\t');
        text.push('\n');
        // On the last line a variable may follow.
        if !line.is_empty() || lines.peek().is_none() {
            text.push_str(base);
            text.push_str(&unit.repeat(line.len() - body.len()));
            text.push_str(body);
        }
    }
    text
}

/// What one level of a file is indented by: a tab, or the fewest blanks that a line begins with.
fn indentation_unit(source: &str) -> String {
    let begins = source.lines().filter(|line| !line.trim().is_empty()).map(|line| &line[..line.len() - line.trim_start().len()]);
    let indented: Vec<&str> = begins.filter(|begin| !begin.is_empty()).collect();
    if indented.iter().any(|begin| begin.starts_with('\t')) {
        return "\t".to_owned();
    }
    // One blank is the star of a comment.
    let blanks = indented.iter().map(|begin| begin.len()).filter(|blanks| *blanks > 1).min();
    " ".repeat(blanks.unwrap_or(4).min(8))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> Vec<Part> {
        Template::new(text, &BTreeSet::from(["X".to_owned(), "ARGS".to_owned()])).parts
    }

    #[test]
    fn only_variables_with_a_value_are_replaced() {
        let text = |text: &str| Part::Text(text.into());
        assert_eq!(
            parts("f($X, $$$ARGS)"),
            [text("f("), Part::One("X".into()), text(", "), Part::Many("ARGS".into()), text(")")]
        );
        assert_eq!(parts("${$X:?} \"$@\" $HOME"), [text("${"), Part::One("X".into()), text(":?} \"$@\" $HOME")]);
        assert_eq!(parts("$XY $x $"), [text("$XY $x $")]);
        assert_eq!(parts(""), []);
    }

    #[test]
    fn lines_of_a_template_take_the_indentation_of_their_place() {
        assert_eq!(indented("if a:\n\tb\nc", "  ", "  "), "if a:\n    b\n  c");
        assert_eq!(indentation_unit("a\n  b\n    c\n"), "  ");
        assert_eq!(indentation_unit("/*\n * x\n */\na {\n    b\n"), "    ");
        assert_eq!(indentation_unit("a {\n\tb\n"), "\t");
        assert_eq!(indentation_unit("a\n"), "    ");
    }
}
