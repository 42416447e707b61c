//! What a description says of other issues and pull requests: which it closes, which it is part of, which must come first, and the
//! entries of a task list. Words in code, in quotations and in hidden comments (templates are full of them) say nothing.

use serde::{Deserialize, Serialize};

/// Something that is named by its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reference {
    /// `#7`: an issue, or a pull request where the two share their numbers.
    Number(u64),
    /// `!7`: a merge request of GitLab.
    Pull(u64),
}

impl Reference {
    pub fn number(self) -> u64 {
        match self {
            Reference::Number(number) | Reference::Pull(number) => number,
        }
    }
}

impl std::fmt::Display for Reference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Reference::Number(number) => write!(f, "#{number}"),
            Reference::Pull(number) => write!(f, "!{number}"),
        }
    }
}

/// One line `- [ ] …` of a task list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub ticked: bool,
    /// The issue that it stands for; without one it is plain work that somebody ticks by hand.
    pub issue: Option<u64>,
    pub text: String,
}

/// The words that every forge reads.
const CLOSING: [&str; 9] = ["close", "closes", "closed", "fix", "fixes", "fixed", "resolve", "resolves", "resolved"];
const NEEDING: [&str; 5] = ["depends on", "depends-on", "depend on", "blocked by", "blocked-by"];

/// The issues that merging closes: `Fixes #7`, `Closes: #7, #8 and #9`. In the order in which they are named.
pub fn closes(body: &str) -> Vec<u64> {
    issues(named_after(body, &CLOSING))
}

/// The larger work that this is part of: `Part of #40`. The keyword is the team's own.
pub fn part_of(body: &str, keyword: &str) -> Vec<u64> {
    let keyword = keyword.trim().trim_end_matches(':').split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    if keyword.is_empty() { Vec::new() } else { issues(named_after(body, &[&keyword])) }
}

/// What must be merged or closed before: `Depends on #12`, `Blocked by !3`.
pub fn depends_on(body: &str) -> Vec<Reference> {
    named_after(body, &NEEDING)
}

/// What has to wait for this: `Blocks #9`.
pub fn blocks(body: &str) -> Vec<Reference> {
    named_after(body, &["blocks"])
}

/// The entries of all task lists.
pub fn task_list(body: &str) -> Vec<Entry> {
    spoken_lines(body).iter().filter_map(|line| entry(line)).collect()
}

fn entry(line: &str) -> Option<Entry> {
    let item = line.trim_start().strip_prefix(['-', '*', '+'])?.trim_start();
    let (ticked, text) = [("[ ]", false), ("[x]", true), ("[X]", true)]
        .into_iter()
        .find_map(|(box_, ticked)| Some((ticked, item.strip_prefix(box_)?.strip_prefix(char::is_whitespace)?.trim())))?;
    let issue = text.split(|c: char| c.is_whitespace() || matches!(c, '(' | '[' | ',')).find_map(|word| match reference(word)? {
        (Reference::Number(number), _) => Some(number),
        (Reference::Pull(_), _) => None,
    });
    Some(Entry { ticked, issue, text: text.to_owned() })
}

fn issues(references: Vec<Reference>) -> Vec<u64> {
    references
        .into_iter()
        .filter_map(|reference| match reference {
            Reference::Number(number) => Some(number),
            Reference::Pull(_) => None,
        })
        .collect()
}

/// The references that follow one of the keywords, each once.
fn named_after(body: &str, keywords: &[&str]) -> Vec<Reference> {
    let mut found: Vec<Reference> = Vec::new();
    for line in spoken_lines(body) {
        let words: Vec<String> = line.split_whitespace().map(str::to_lowercase).collect();
        for at in 0..words.len() {
            let Some(after) = keywords.iter().find_map(|keyword| end_of_keyword(&words, at, keyword)) else { continue };
            for reference in listed(&words[after..]) {
                if !found.contains(&reference) {
                    found.push(reference);
                }
            }
        }
    }
    found
}

/// Where the words go on behind a keyword that begins at `at`; a colon may follow it, and signs of Markdown may stand around it.
fn end_of_keyword(words: &[String], at: usize, keyword: &str) -> Option<usize> {
    let parts: Vec<&str> = keyword.split(' ').collect();
    let said = words.get(at..at + parts.len())?;
    let bare = |word: &str| word.trim_matches(|c: char| matches!(c, '*' | '_' | '(' | '[' | '-' | ':')).to_owned();
    let last = parts.len() - 1;
    let holds = said.iter().zip(&parts).enumerate().all(|(place, (word, part))| {
        let word = if place == 0 || place == last { bare(word) } else { word.clone() };
        word == *part
    });
    holds.then_some(at + parts.len())
}

/// `#1, #2 and #3`: as far as the list goes on.
fn listed(words: &[String]) -> Vec<Reference> {
    let mut found = Vec::new();
    for word in words {
        if matches!(word.as_str(), "and" | "&" | ":" | ",") {
            continue;
        }
        let Some((reference, goes_on)) = reference(word) else { break };
        found.push(reference);
        // Without a comma, only `and` leads to another; `Fixes #1. #2 is next` names one.
        if !goes_on && words.get(found.len()).is_none_or(|next| next != "and" && next != "&" && next != ",") {
            break;
        }
    }
    found
}

/// `#12`, `!12`, with what may stand around it; and whether a comma follows.
fn reference(word: &str) -> Option<(Reference, bool)> {
    let word = word.trim_start_matches(['*', '_', '(', '[']);
    let (make, digits): (fn(u64) -> Reference, &str) = match (word.strip_prefix('#'), word.strip_prefix('!')) {
        (Some(rest), _) => (Reference::Number, rest),
        (None, Some(rest)) => (Reference::Pull, rest),
        (None, None) => return None,
    };
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    let (digits, tail) = digits.split_at(end);
    // `#12abc` and `#12-rc1` are names of something else.
    if tail.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '-' | '/' | '#')) {
        return None;
    }
    Some((make(digits.parse().ok().filter(|number| *number > 0)?), tail.ends_with(',')))
}

/// The lines that somebody says: without code, quotations and hidden comments.
fn spoken_lines(body: &str) -> Vec<String> {
    let mut fence: Option<&str> = None;
    let mut lines = Vec::new();
    for line in without_comments(body).lines() {
        let start = line.trim_start();
        let mark = ["```", "~~~"].into_iter().find(|mark| start.starts_with(mark));
        match (fence, mark) {
            (Some(open), Some(mark)) if open == mark => fence = None,
            (None, Some(mark)) => fence = Some(mark),
            (Some(_), _) => {}
            (None, None) if start.starts_with('>') || line.starts_with("    ") && !is_item(start) || line.starts_with('\t') => {}
            (None, None) => lines.push(without_code(line)),
        }
    }
    lines
}

/// A nested list is indented too, and is not code.
fn is_item(line: &str) -> bool {
    line.starts_with(['-', '*', '+']) || line.starts_with(|c: char| c.is_ascii_digit())
}

/// Everything between `<!--` and `-->`; one that is never closed hides the rest, as on a forge.
fn without_comments(body: &str) -> String {
    let mut out = String::new();
    let mut rest = body;
    while let Some((before, hidden)) = rest.split_once("<!--") {
        out.push_str(before);
        let Some((_, after)) = hidden.split_once("-->") else { return out };
        rest = after;
    }
    out.push_str(rest);
    out
}

fn without_code(line: &str) -> String {
    let pieces: Vec<&str> = line.split('`').collect();
    // An even number of marks pairs up; a lone one is only a mark.
    if pieces.len().is_multiple_of(2) { line.to_owned() } else { pieces.into_iter().step_by(2).collect::<Vec<_>>().join(" ") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// SL-68: the issues that a merge closes.
    #[test]
    fn issues_that_are_closed() {
        for (body, expected) in [
            ("Fixes #12.", vec![12]),
            ("closes: #1, #2 and #3\n\nresolves #4", vec![1, 2, 3, 4]),
            ("**Closes** #7", vec![7]),
            ("- [x] Fixes #5", vec![5]),
            ("(fixes #5)", vec![5]),
            ("Fixes #1. #2 is next", vec![1]),
            ("fixes #1 #2", vec![1]),
            ("Fixes #1, fixes #2", vec![1, 2]),
            ("fixes #3 and fixes #3", vec![3]),
            ("see #12", vec![]),
            ("prefixes #12", vec![]),
            ("fixes #12abc, fixes #0, fixes other/repo#4", vec![]),
            ("fixes !12", vec![]),
            ("> fixes #1\n```\nfixes #2\n```\n<!-- fixes #3 -->\n`fixes #4`\n    fixes #5", vec![]),
            ("<!-- fixes #1", vec![]),
            ("~~~\n```\nfixes #1\n~~~\nfixes #2", vec![2]),
        ] {
            assert_eq!(closes(body), expected, "{body}");
        }
    }

    /// SL-70: the epic, by a keyword that a team may choose.
    #[test]
    fn the_larger_work() {
        assert_eq!(part_of("Closes #3\n\nPart of #40", "Part of"), vec![40]);
        assert_eq!(part_of("part  of: #40, #41", "part of"), vec![40, 41]);
        assert_eq!(part_of("Epic: #9", "Epic"), vec![9]);
        assert_eq!(part_of("Epic: #9", "Epic:"), vec![9]);
        assert_eq!(part_of("a part of it is in #40", "Part of"), Vec::<u64>::new());
        assert_eq!(part_of("Part of #40", ""), Vec::<u64>::new());
    }

    /// SL-82: only what somebody declares is a dependency.
    #[test]
    fn what_must_come_first() {
        use Reference::{Number, Pull};
        assert_eq!(depends_on("Depends on #12 and !3\nblocked by: #4"), vec![Number(12), Pull(3), Number(4)]);
        assert_eq!(depends_on("Depends-On: #5"), vec![Number(5)]);
        assert_eq!(blocks("Blocks #9 and #10, blocked by #3"), vec![Number(9), Number(10)]);
        assert_eq!(depends_on("this depends on what #5 does"), vec![]);
    }

    /// SL-70: the stories that an epic lists itself.
    #[test]
    fn entries_of_a_task_list() {
        let body = "- [ ] #12\n* [x] Login page (#13)\n    - [ ] write the docs\n- [ ]#14\n```\n- [ ] #15\n```\n1. #16";
        let read: Vec<_> = task_list(body).into_iter().map(|entry| (entry.ticked, entry.issue)).collect();
        assert_eq!(read, vec![(false, Some(12)), (true, Some(13)), (false, None)]);
    }

    proptest! {
        #[test]
        fn any_text_can_be_read(body in "\\PC{0,80}", keyword in "\\PC{0,10}") {
            let _ = (closes(&body), depends_on(&body), part_of(&body, &keyword), task_list(&body));
        }

        #[test]
        fn a_list_is_read_whole(numbers in proptest::collection::btree_set(1u64..999, 1..6)) {
            let list = numbers.iter().map(|number| format!("#{number}")).collect::<Vec<_>>().join(", ");
            prop_assert_eq!(closes(&format!("Text.\n\nFixes {list}.\n")), numbers.into_iter().collect::<Vec<_>>());
        }
    }
}
