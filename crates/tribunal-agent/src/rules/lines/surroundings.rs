//! What stands around a line, read by indentation. YAML, HCL and Dockerfiles have no grammar here, but people indent them, and the same
//! line means different things under `ingress` and under `egress`.

use crate::rules::file::LineRule;
use regex::{Regex, RegexSet};

/// A whole file, line by line.
pub struct Surroundings<'a> {
    text: &'a str,
    lines: Vec<&'a str>,
}

/// What a rule asks of the surroundings of a line.
pub struct Conditions {
    inside: Vec<Regex>,
    not_inside: RegexSet,
    beside: Vec<Regex>,
    not_beside: RegexSet,
    file_has: Vec<Regex>,
    file_lacks: RegexSet,
}

impl Conditions {
    pub fn new(rule: &LineRule) -> Result<Self, regex::Error> {
        let all = |patterns: &[String]| patterns.iter().map(|pattern| Regex::new(pattern)).collect::<Result<Vec<_>, _>>();
        let by_line = |patterns: &[String]| patterns.iter().map(|pattern| format!("(?m){pattern}")).collect::<Vec<_>>();
        Ok(Self {
            inside: all(&rule.inside)?,
            not_inside: RegexSet::new(&rule.not_inside)?,
            beside: all(&rule.beside)?,
            not_beside: RegexSet::new(&rule.not_beside)?,
            file_has: all(&by_line(&rule.file_has))?,
            file_lacks: RegexSet::new(by_line(&rule.file_lacks))?,
        })
    }

    /// Without conditions a line can be judged alone.
    pub fn is_empty(&self) -> bool {
        self.inside.is_empty()
            && self.not_inside.is_empty()
            && self.beside.is_empty()
            && self.not_beside.is_empty()
            && self.file_has.is_empty()
            && self.file_lacks.is_empty()
    }

    /// Whether they hold for the line with this index.
    pub fn hold(&self, around: &Surroundings<'_>, index: usize) -> bool {
        // Found only for rules that ask: to find them may take as long as the file.
        let asks_enclosing = !self.inside.is_empty() || !self.not_inside.is_empty();
        let asks_block = !self.beside.is_empty() || !self.not_beside.is_empty();
        let enclosing = if asks_enclosing { around.enclosing(index) } else { Vec::new() };
        let is_enclosed = |regex: &Regex| enclosing.iter().any(|line| regex.is_match(line));
        let block = if asks_block { around.block(index) } else { Vec::new() };
        let is_beside = |regex: &Regex| block.iter().any(|line| regex.is_match(line));
        self.inside.iter().all(is_enclosed)
            && !enclosing.iter().any(|line| self.not_inside.is_match(line))
            && self.beside.iter().all(is_beside)
            && !block.iter().any(|line| self.not_beside.is_match(line))
            && self.file_has.iter().all(|regex| regex.is_match(around.text))
            && !self.file_lacks.is_match(around.text)
    }
}

impl<'a> Surroundings<'a> {
    pub fn new(text: &'a str) -> Self {
        Self { text, lines: text.lines().collect() }
    }

    /// The lines that a line is nested under, innermost first.
    fn enclosing(&self, index: usize) -> Vec<&'a str> {
        self.parents(index).into_iter().map(|parent| self.lines[parent]).collect()
    }

    fn parents(&self, index: usize) -> Vec<usize> {
        let Some(line) = self.lines.get(index) else { return Vec::new() };
        let mut found = Vec::new();
        let mut depth = indent(line);
        let mut is_item = is_item(line);
        for above in (0..index).rev() {
            let line = self.lines[above];
            if is_separator(line) {
                break;
            }
            let here = indent(line);
            // The items of a YAML list may stand as deep as their key.
            let is_key_of_items = is_item && here == depth && !self::is_item(line) && line.trim_end().ends_with(':');
            // A brace on a line of its own belongs to the line above it.
            let is_head_of_brace = here == depth && found.last().is_some_and(|inner: &usize| self.lines[*inner].trim() == "{");
            if !is_code(line) || here > depth || here == depth && !is_key_of_items && !is_head_of_brace {
                continue;
            }
            found.push(above);
            depth = here;
            is_item = self::is_item(line);
        }
        found
    }

    /// The lines that conditions look at for a line, the nearest that it is nested under first.
    pub fn neighbours(&self, index: usize) -> Vec<usize> {
        let mut found = self.parents(index);
        found.extend(self.block_lines(index));
        found
    }

    fn block(&self, index: usize) -> Vec<&'a str> {
        self.block_lines(index).into_iter().map(|line| self.lines[line]).collect()
    }

    /// The lines of the block that a line belongs to, the line that opens the block first.
    fn block_lines(&self, index: usize) -> Vec<usize> {
        let opens = match self.lines.get(index) {
            Some(line) if is_item(line) => Some(index),
            Some(_) => self.parents(index).first().copied(),
            None => return Vec::new(),
        };
        let Some(first) = opens else { return self.document(index) };
        let depth = indent(self.lines[first]);
        let is_inner = |line: &str| !is_separator(line) && (!is_code(line) || indent(line) > depth);
        let rest = (first + 1..self.lines.len()).take_while(|at| is_inner(self.lines[*at]));
        std::iter::once(first).chain(rest.filter(|at| is_code(self.lines[*at]))).collect()
    }

    /// The YAML document that a line stands in, or the whole file.
    fn document(&self, index: usize) -> Vec<usize> {
        let start = self.lines[..index].iter().rposition(|line| is_separator(line)).map_or(0, |at| at + 1);
        let rest = (start..self.lines.len()).take_while(|at| !is_separator(self.lines[*at]));
        rest.filter(|at| is_code(self.lines[*at])).collect()
    }
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches([' ', '\t']).len()
}

fn is_item(line: &str) -> bool {
    line.trim_start().starts_with("- ")
}

fn is_separator(line: &str) -> bool {
    line.starts_with("---")
}

fn is_code(line: &str) -> bool {
    let line = line.trim_start();
    !line.is_empty() && !line.starts_with('#') && !line.starts_with("//")
}

#[cfg(test)]
mod tests {
    use super::*;

    const YAML: &str =
        "spec:\n  containers:\n  - name: a\n    # image: c\n    image: b\n    ports:\n      - 80\n  - name: c\n---\nkind: x\n";

    #[test]
    fn a_line_is_enclosed_by_what_it_is_indented_under() {
        let around = Surroundings::new(YAML);
        assert_eq!(around.enclosing(6), ["    ports:", "  - name: a", "  containers:", "spec:"]);
        assert_eq!(around.enclosing(7), ["  containers:", "spec:"]);
        assert_eq!(around.enclosing(9), Vec::<&str>::new());
    }

    #[test]
    fn a_brace_belongs_to_the_line_above_it() {
        let around = Surroundings::new("a();\nawait Eventually(() =>\n{\n    wait();\n});\n");
        assert_eq!(around.enclosing(3), ["{", "await Eventually(() =>"]);
    }

    #[test]
    fn a_block_ends_where_its_indentation_does() {
        let around = Surroundings::new(YAML);
        assert_eq!(around.block(4), ["  - name: a", "    image: b", "    ports:", "      - 80"]);
        assert_eq!(around.block(7), ["  - name: c"]);
        assert_eq!(around.block(9), ["kind: x"]);
    }

    #[test]
    fn every_condition_must_hold() {
        let rule = |text: &str| serde_json::from_str::<LineRule>(text).map(|rule| Conditions::new(&rule).unwrap()).unwrap();
        let holds = |text: &str| rule(text).hold(&Surroundings::new(YAML), 4);
        assert!(rule(r#"{"any": ["x"]}"#).is_empty());
        assert!(holds(
            r#"{"any": [], "inside": ["containers"], "beside": ["ports"], "not_beside": ["kind"], "file_has": ["^kind"]}"#
        ));
        for wrong in [
            r#"{"any": [], "inside": ["containers", "ports"]}"#,
            r#"{"any": [], "not_inside": ["^spec"]}"#,
            r#"{"any": [], "beside": ["name: c"]}"#,
            r#"{"any": [], "not_beside": ["80"]}"#,
            r#"{"any": [], "file_has": ["^image"]}"#,
            r#"{"any": [], "file_lacks": ["kind: x$"]}"#,
        ] {
            assert!(!holds(wrong), "{wrong}");
        }
    }
}
