//! Several reviewers, one defect: items that say the same of the same place are answered by one change (PR-113).
//!
//! Two remarks of one reviewer are two remarks. Nothing is ever joined across files, and a chain of small likenesses joins nothing:
//! each member is held against the one that leads.
//!
//! Only what may be acted on is grouped. A remark of somebody without the right to write would otherwise lead a group, or tie remarks
//! together that have nothing else in common, so that one of them is answered and closed with the other.

use super::fixable::Fixable;
use super::item::{Item, ItemId, Voice};
use super::words::gist;
use crate::findings::scale::Priority;
use std::collections::BTreeSet;

/// Reviewers point at the first line, the last line or the call in between.
const NEAR: u32 = 3;
/// How much of the words of the shorter gist must be in the other, in per cent.
const ALIKE: usize = 50;

/// Groups of two and more; the first member leads. Items come oldest first.
pub fn groups(items: &[Fixable]) -> Vec<Vec<ItemId>> {
    let mut ordered: Vec<(usize, &Item)> = items.iter().map(Fixable::item).enumerate().collect();
    ordered.sort_by_key(|(age, item)| (item.voice != Voice::Panel, item.priority.unwrap_or(Priority::Q), *age));
    let mut groups: Vec<Vec<&Item>> = Vec::new();
    for (_, item) in ordered {
        let fits = |group: &&mut Vec<&Item>| {
            group.first().is_some_and(|leader| is_same(leader, item)) && group.iter().all(|member| vendor(member) != vendor(item))
        };
        match groups.iter_mut().find(fits) {
            Some(group) => group.push(item),
            None => groups.push(vec![item]),
        }
    }
    groups
        .into_iter()
        .filter(|group| group.len() > 1)
        .map(|group| group.into_iter().map(|item| item.id.clone()).collect())
        .collect()
}

fn vendor(item: &Item) -> (&Voice, &str) {
    match &item.voice {
        // One reviewer may write under several accounts.
        Voice::Panel | Voice::Known(_) | Voice::Check => (&item.voice, ""),
        Voice::Bot | Voice::Person => (&item.voice, item.author.id.as_str()),
    }
}

fn is_same(one: &Item, other: &Item) -> bool {
    let same_place = one.path.is_some() && one.path == other.path;
    let near = match (one.line, other.line) {
        (Some(a), Some(b)) => a.abs_diff(b) <= NEAR,
        (None, _) | (_, None) => false,
    };
    same_place && near && (shares_code(one, other) || says_same(one, other))
}

fn shares_code(one: &Item, other: &Item) -> bool {
    !rule_codes(&one.body).is_disjoint(&rule_codes(&other.body))
}

/// Letters that look like a rule's and name something else.
const NO_RULES: &[&str] = &["SHA", "HTTP", "RFC", "ISO", "AES", "RSA", "UTF", "ES", "MD", "X", "PR", "GH", "IPV", "INT", "UINT"];

/// `CWE-89`, `SC2086`, `RUF012`, `clippy::unwrap_used`.
fn rule_codes(body: &str) -> BTreeSet<String> {
    let words = body.split(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | ':' | '_')));
    words.filter(|word| is_rule_code(word)).map(str::to_uppercase).collect()
}

fn is_rule_code(word: &str) -> bool {
    if let Some(lint) = word.strip_prefix("clippy::") {
        return !lint.is_empty();
    }
    if let Some(number) = word.strip_prefix("CWE-") {
        return !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    }
    let letters = word.len() - word.trim_start_matches(|c: char| c.is_ascii_uppercase()).len();
    let digits = word[letters..].len();
    (1..=6).contains(&letters)
        && (3..=5).contains(&digits)
        && word[letters..].bytes().all(|byte| byte.is_ascii_digit())
        && !NO_RULES.contains(&&word[..letters])
}

fn says_same(one: &Item, other: &Item) -> bool {
    let (one, other) = (keywords(&one.body), keywords(&other.body));
    let shared = one.intersection(&other).count();
    shared >= 2 && shared * 100 >= ALIKE * one.len().min(other.len())
}

/// Words that any remark may hold.
const COMMON: &[&str] = &[
    "this",
    "that",
    "with",
    "when",
    "then",
    "than",
    "from",
    "into",
    "here",
    "there",
    "should",
    "could",
    "would",
    "must",
    "does",
    "have",
    "will",
    "before",
    "after",
    "because",
    "which",
    "what",
    "where",
    "while",
    "please",
    "consider",
    "make",
    "sure",
    "line",
    "code",
    "function",
    "method",
    "value",
    "issue",
    "failure",
    "mode",
    "mitigation",
    "also",
    "only",
    "been",
    "being",
    "your",
    "they",
    "their",
    "instead",
    "using",
    "used",
    "always",
    "never",
    "potential",
    "possible",
];

/// The words that carry the gist, with their endings cut so that `leaks` is `leaking`.
fn keywords(body: &str) -> BTreeSet<String> {
    gist(body)
        .to_lowercase()
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|word| word.chars().count() >= 4 && !COMMON.contains(word))
        .map(stem)
        .collect()
}

fn stem(word: &str) -> String {
    let cut = ["ing", "ed", "es", "s"].into_iter().find_map(|ending| word.strip_suffix(ending));
    cut.filter(|cut| cut.chars().count() >= 3).unwrap_or(word).to_owned()
}

#[cfg(test)]
mod tests {
    use super::super::samples::{bot, codex, fixable, item, person, rabbit};
    use super::*;

    fn known(name: &str) -> Voice {
        Voice::Known(name.into())
    }

    fn ids(items: &[Item]) -> Vec<Vec<String>> {
        let items: Vec<Fixable> = items.iter().map(fixable).collect();
        groups(&items).into_iter().map(|group| group.into_iter().map(|id| id.0).collect()).collect()
    }

    /// PR-113: the same thing about the same place, by different reviewers, is one.
    #[test]
    fn reviewers_who_say_the_same_are_grouped() {
        let items = [
            item("a", &codex(), known("codex"), "src/a.rs", 10, "![P2 Badge](x) Close the file handle before returning"),
            item(
                "b",
                &rabbit(),
                known("coderabbit"),
                "src/a.rs",
                12,
                "_⚠️ Potential issue_ | _🟠 Major_\n\n**The file handle is never closed.**",
            ),
            item("c", &person("alice"), Voice::Person, "src/a.rs", 11, "rename this to `open_cart`"),
        ];
        assert_eq!(ids(&items), [["b", "a"]]);
    }

    /// PR-113: the rule's code is enough, whatever the words; but codes of protocols and hashes are no rules.
    #[test]
    fn a_rule_s_code_is_enough() {
        let items = [
            item("a", &codex(), known("codex"), "x.sh", 5, "SC2086: quote it"),
            item("b", &bot("lint[bot]"), Voice::Bot, "x.sh", 5, "Double quote to prevent globbing (SC2086)"),
        ];
        assert_eq!(ids(&items), [["a", "b"]]);
        for (one, other) in [("use SHA256", "hash it, SHA256"), ("answer HTTP404", "sends HTTP404 twice")] {
            let items = [
                item("a", &codex(), known("codex"), "x.rs", 5, one),
                item("b", &person("alice"), Voice::Person, "x.rs", 5, other),
            ];
            assert!(ids(&items).is_empty(), "{one}");
        }
        assert!(is_rule_code("CWE-89") && is_rule_code("clippy::unwrap_used") && is_rule_code("RUF012") && !is_rule_code("P1"));
    }

    /// Never across files, never far apart, never two remarks of one reviewer, never without a line.
    #[test]
    fn what_is_elsewhere_stays_apart() {
        let said = "The file handle is never closed";
        let with = |id: &str, voice: Voice, path: &str, line: u32| item(id, &codex(), voice, path, line, said);
        let first = with("a", known("codex"), "src/a.rs", 10);
        for second in [
            with("b", known("coderabbit"), "src/b.rs", 10),
            with("b", known("coderabbit"), "src/a.rs", 14),
            with("b", known("codex"), "src/a.rs", 10),
            Item { line: None, ..with("b", known("coderabbit"), "src/a.rs", 10) },
            Item { path: None, ..with("b", known("coderabbit"), "src/a.rs", 10) },
        ] {
            assert!(ids(&[first.clone(), second.clone()]).is_empty(), "{second:?}");
        }
        assert_eq!(ids(&[first, with("b", known("coderabbit"), "src/a.rs", 13)]), [["a", "b"]]);
    }

    /// The panel leads, then the weightiest, then the oldest.
    #[test]
    fn one_member_leads() {
        let said = "The file handle is never closed";
        let items = [
            item("old", &person("alice"), Voice::Person, "a.rs", 1, said),
            item("new", &person("bob"), Voice::Person, "a.rs", 1, said),
            item("heavy", &rabbit(), known("coderabbit"), "a.rs", 1, &format!("🔴 Critical\n{said}")),
            item("panel", &person("tribunal"), Voice::Panel, "a.rs", 1, said),
        ];
        assert_eq!(ids(&items), [["panel", "heavy", "old", "new"]]);
    }

    #[test]
    fn other_words_about_the_same_line_stay_apart() {
        let items = [
            item("a", &codex(), known("codex"), "a.rs", 1, "This query is built from user input and can be injected"),
            item("b", &rabbit(), known("coderabbit"), "a.rs", 1, "The transaction is not rolled back on an early return"),
        ];
        assert!(ids(&items).is_empty());
    }
}
