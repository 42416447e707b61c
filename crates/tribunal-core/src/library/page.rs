//! What is found: a section of a record, an issue, a piece of code. Small enough to be shown, large enough to be judged.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    Decision,
    Spec,
    Issue,
    Code,
}

impl Kind {
    pub const ALL: [Kind; 4] = [Kind::Decision, Kind::Spec, Kind::Issue, Kind::Code];

    pub fn word(self) -> &'static str {
        match self {
            Kind::Decision => "decision",
            Kind::Spec => "spec",
            Kind::Issue => "issue",
            Kind::Code => "code",
        }
    }

    /// As collections are called.
    pub fn plural(self) -> &'static str {
        match self {
            Kind::Decision => "decisions",
            Kind::Spec => "specs",
            Kind::Issue => "issues",
            Kind::Code => "code",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Page {
    pub kind: Kind,
    /// The document it is of: a path, or `#12`. Everything of a document is replaced at once.
    pub source: String,
    /// What people call the document: `ADR-0007`, `SPEC-0012`, `#12`, or its path.
    pub name: String,
    pub title: String,
    /// Where a reader finds it: a path, or an address.
    pub place: String,
    /// The heading it stands under; empty for a document that has none.
    pub section: String,
    /// From 1.
    pub line: u32,
    /// False for a record that was rejected, withdrawn or replaced, and for a closed issue.
    pub in_force: bool,
    pub text: String,
}

/// Longer sections are cut into pieces of about this many bytes.
const PIECE: usize = 4_000;
const CODE_LINES: usize = 80;
/// Fewer words are no section of their own.
const FEWEST_WORDS: usize = 4;
/// Of an issue; the rest is left out (SL-85).
pub const ISSUE_BYTES: usize = 100 * 1024;

/// The sections of a Markdown file.
pub fn record_pages(kind: Kind, path: &str, text: &str) -> Vec<Page> {
    let title = title_of(text).unwrap_or_else(|| file_name(path).to_owned());
    let name = record_name(kind, path, &title, text);
    let in_force = !is_retired(text);
    let mut pages: Vec<Page> = Vec::new();
    for Section { heading, line, text } in sections(text) {
        pages.push(Page {
            kind,
            source: path.to_owned(),
            name: name.clone(),
            title: title.clone(),
            place: path.to_owned(),
            section: heading,
            line,
            in_force,
            text,
        });
    }
    pages
}

/// The pieces of a source file.
pub fn code_pages(path: &str, text: &str) -> Vec<Page> {
    let lines: Vec<&str> = text.lines().collect();
    let piece = |(number, lines): (usize, &[&str])| {
        let first = number * CODE_LINES + 1;
        Page {
            kind: Kind::Code,
            source: path.to_owned(),
            name: path.to_owned(),
            title: file_name(path).to_owned(),
            place: path.to_owned(),
            section: format!("lines {first} to {}", first + lines.len() - 1),
            line: u32::try_from(first).unwrap_or(u32::MAX),
            in_force: true,
            text: lines.join("\n"),
        }
    };
    lines.chunks(CODE_LINES).enumerate().map(piece).filter(|page| !page.text.trim().is_empty()).collect()
}

struct Section {
    heading: String,
    line: u32,
    text: String,
}

/// Cut at headings down to the third level. A section that says next to nothing (`Status: accepted`) goes with the next one: it would
/// be found by the words of the title alone.
fn sections(text: &str) -> Vec<Section> {
    let mut found: Vec<Section> = Vec::new();
    let mut open = Section { heading: String::new(), line: 1, text: String::new() };
    let mut in_code = false;
    for (number, line) in (1u32..).zip(text.lines()) {
        in_code ^= line.trim_start().starts_with("```");
        let heading = heading(line).filter(|(level, _)| !in_code && *level <= 3);
        let is_full = open.text.len() > PIECE && line.trim().is_empty();
        if heading.is_some() || is_full {
            let has_words = words_of(&open.text) >= FEWEST_WORDS;
            let said = heading.map_or_else(|| open.heading.clone(), |(_, words)| words.to_owned());
            if has_words {
                found.push(std::mem::replace(&mut open, Section { heading: said, line: number, text: String::new() }));
            } else {
                (open.heading, open.line) = (said, number);
            }
        }
        open.text.push_str(line);
        open.text.push('\n');
    }
    if !open.text.trim().is_empty() {
        found.push(open);
    }
    found
}

fn words_of(text: &str) -> usize {
    text.lines().filter(|line| heading(line).is_none()).flat_map(str::split_whitespace).count()
}

pub(super) fn heading(line: &str) -> Option<(usize, &str)> {
    let level = line.chars().take_while(|c| *c == '#').count();
    let words = line[level..].strip_prefix(' ')?;
    (1..=6).contains(&level).then(|| (level, words.trim().trim_end_matches('#').trim()))
}

/// The first heading, or `title:` of its front matter.
pub fn title_of(text: &str) -> Option<String> {
    let front = text.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---")).map(|(front, _)| front);
    let named = front.and_then(|front| front.lines().find_map(|line| line.strip_prefix("title:")));
    let named = named.map(|title| title.trim().trim_matches(['"', '\'']).to_owned());
    named
        .or_else(|| text.lines().find_map(|line| heading(line).map(|(_, words)| words.to_owned())))
        .filter(|title| !title.is_empty())
}

/// `ADR-0007` or `SPEC-0012`, as it calls itself or as its file is numbered; else its path.
fn record_name(kind: Kind, path: &str, title: &str, text: &str) -> String {
    let prefix = match kind {
        Kind::Decision => "ADR",
        Kind::Spec => "SPEC",
        Kind::Issue | Kind::Code => return path.to_owned(),
    };
    let first_lines: String = text.lines().take(12).collect::<Vec<_>>().join("\n");
    let called = [path, title, &first_lines].into_iter().find_map(|text| super::named::ids(text, prefix).into_iter().next());
    let numbered = || {
        let digits: String = file_name(path).chars().take_while(char::is_ascii_digit).collect();
        (kind == Kind::Decision && (3..=5).contains(&digits.len())).then(|| format!("{prefix}-{digits:0>4}"))
    };
    called.or_else(numbered).unwrap_or_else(|| path.to_owned())
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Its status says that nobody has to follow it: `Status: superseded by ADR-0009`, or the first words under `## Status`.
fn is_retired(text: &str) -> bool {
    let mut lines = text.lines().map(|line| line.trim().trim_start_matches(['-', '*', ' ']).to_lowercase());
    let said = loop {
        let Some(line) = lines.next() else { return false };
        let bare = line.trim_start_matches('#').trim_start().replace("**", "");
        if let Some(rest) = bare.strip_prefix("status") {
            let rest = rest.trim_start_matches(':').trim();
            break if rest.is_empty() { lines.find(|line| !line.is_empty()).unwrap_or_default() } else { rest.to_owned() };
        }
    };
    ["superseded", "deprecated", "rejected", "withdrawn", "replaced"].iter().any(|word| said.starts_with(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECORD: &str = "# 7. Retries have a budget\n\n## Status\n\nAccepted\n\n## Decision\n\nEach client may retry once.\n\n### Limits\n\nNever twice.\n";

    #[test]
    fn a_record_is_cut_at_its_headings() {
        let pages = record_pages(Kind::Decision, "docs/adrs/0007-retries.md", RECORD);
        let seen: Vec<(&str, &str, u32)> =
            pages.iter().map(|page| (page.name.as_str(), page.section.as_str(), page.line)).collect();
        assert_eq!(seen, [("ADR-0007", "Decision", 7), ("ADR-0007", "Limits", 11)]);
        assert!(pages.iter().all(|page| page.title == "7. Retries have a budget" && page.in_force));
        assert!(pages[0].text.contains("Accepted") && pages[1].text.contains("Never twice"));
    }

    #[test]
    fn names_are_found_where_people_put_them() {
        let name = |kind, path: &str, text: &str| record_pages(kind, path, text)[0].name.clone();
        assert_eq!(name(Kind::Decision, "docs/adrs/ADR-0012-x.md", "# X\n\ny"), "ADR-0012");
        assert_eq!(name(Kind::Decision, "doc/adr/003-x.md", "# X\n\ny"), "ADR-0003");
        assert_eq!(name(Kind::Decision, "docs/adrs/queue.md", "# ADR-0002: queue\n\ny"), "ADR-0002");
        assert_eq!(name(Kind::Decision, "docs/adrs/queue.md", "# Queue\n\ny"), "docs/adrs/queue.md");
        assert_eq!(name(Kind::Spec, "docs/openspec/specs/login/spec.md", "# SPEC-0004: Login\n\ny"), "SPEC-0004");
    }

    /// A decision that nobody has to follow must not be asked for.
    #[test]
    fn a_record_that_was_replaced_is_not_in_force() {
        let in_force = |text: &str| record_pages(Kind::Decision, "docs/adrs/0001-x.md", text)[0].in_force;
        assert!(in_force(RECORD) && in_force("# X\n\nno status"));
        for retired in [
            "# X\n\n## Status\n\nSuperseded by ADR-0009\n",
            "# X\n\n- **Status**: Rejected\n",
            "---\nstatus: deprecated\n---\n# X\n",
        ] {
            assert!(!in_force(retired), "{retired}");
        }
    }

    #[test]
    fn code_is_cut_by_lines() {
        let text = (1..=200).map(|n| format!("line {n}")).collect::<Vec<_>>().join("\n");
        let pages = code_pages("src/a.rs", &text);
        assert_eq!(pages.iter().map(|page| page.line).collect::<Vec<_>>(), [1, 81, 161]);
        assert_eq!(pages[2].section, "lines 161 to 200");
        assert!(code_pages("src/a.rs", "\n\n").is_empty());
    }
}
