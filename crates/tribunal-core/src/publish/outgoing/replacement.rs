//! Code that a reviewer proposes. It cannot be masked: a person applies it with a click, and half a line is wrong code. So what may
//! not leave as it is does not leave at all, and the reason is told.

use super::forged::has_mark;
use super::known::is_known;
use super::mask::has_secret;
use crate::publish::visible::{is_hidden_behind, with_previous};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplacementProblem {
    HiddenCharacter,
    ForgedMark,
    Secret,
    NewLink,
}

impl ReplacementProblem {
    pub fn words(self) -> &'static str {
        match self {
            ReplacementProblem::HiddenCharacter => "it holds characters that cannot be seen",
            ReplacementProblem::ForgedMark => "it holds a hidden mark of this tool",
            ReplacementProblem::Secret => "it holds a secret",
            ReplacementProblem::NewLink => "it adds a link that the code does not have",
        }
    }
}

/// What is wrong with a replacement. What the code has already, it may keep.
pub fn problem(replacement: &str, code: &str) -> Option<ReplacementProblem> {
    let is_new =
        |(before, c): (Option<char>, char)| is_hidden_behind(before, c) && !matches!(c, '\n' | '\t') && !code.contains(c);
    if with_previous(replacement).any(is_new) {
        return Some(ReplacementProblem::HiddenCharacter);
    }
    if has_mark(replacement) {
        return Some(ReplacementProblem::ForgedMark);
    }
    if has_secret(replacement) || is_known(replacement) {
        return Some(ReplacementProblem::Secret);
    }
    links(replacement).iter().any(|link| !code.contains(link)).then_some(ReplacementProblem::NewLink)
}

/// The addresses in a text, each with its scheme.
fn links(text: &str) -> Vec<&str> {
    let end = |rest: &str| rest.find(|c: char| c.is_whitespace() || "\"'`<>)]}\\".contains(c)).unwrap_or(rest.len());
    let scheme = |at: usize| text[..at].trim_end_matches(|c: char| c.is_ascii_alphanumeric() || "+-.".contains(c)).len();
    let lower = text.to_ascii_lowercase();
    let mut links = Vec::new();
    for begin in ["://", "www.", "javascript:", "data:text/", "mailto:"] {
        // Code that holds an address holds every address inside of it, so the search goes on behind it.
        let mut done = 0;
        for (at, _) in lower.match_indices(begin) {
            if at < done {
                continue;
            }
            let start = if begin == "://" { scheme(at) } else { at };
            if begin != "://" || start < at {
                done = at + end(&text[at..]);
                links.push(&text[start..done]);
            }
        }
    }
    links.sort_unstable();
    links.dedup();
    links
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Issue 16, C13: links, forged marks, hidden characters and keys do not reach a suggestion block.
    #[test]
    fn what_a_replacement_may_not_hold() {
        let code = "fetch(\"https://api.example.org/v1\")";
        for (replacement, problem_of) in [
            ("fetch(\"https://api.example.org/v1\", timeout=3)", None),
            ("let x = a[1..]; // `code` and <T>", None),
            ("fetch(\"https://evil.example/v1\")", Some(ReplacementProblem::NewLink)),
            ("see www.evil.example", Some(ReplacementProblem::NewLink)),
            ("x = 1 # \u{202e}", Some(ReplacementProblem::HiddenCharacter)),
            ("x\u{1b}[2J", Some(ReplacementProblem::HiddenCharacter)),
            ("x\n<!-- tribunal:1 a.b -->", Some(ReplacementProblem::ForgedMark)),
            ("key = \"AKIAQ3WZ7T5RY2KXQ3WZ\"", Some(ReplacementProblem::Secret)),
        ] {
            assert_eq!(problem(replacement, code), problem_of, "{replacement}");
        }
        assert_eq!(problem("\u{feff}x = 2", "\u{feff}x = 1"), None);
    }
}
