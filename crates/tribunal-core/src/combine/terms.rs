//! The words of a text, made comparable: what two reviewers would both write of one defect.
//!
//! A word counts by its first letters without its ending, so that `validates`, `validated` and `validation` are one term. Code counts
//! twice: as the whole identifier, and as its parts (`max_size_kb` is `max`, `size` and `kb`). Two neighbours are a term of their own.
//! Words without a meaning of their own are left out. A term is a hash; nothing here keeps the text.

use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The terms of one text with their weights, in the order of their ids.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Terms {
    weights: Vec<(TermId, f64)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct TermId(u64);

/// The parts of an identifier weigh less than a word that somebody chose to write.
const PART: f64 = 0.5;
/// Two neighbouring words weigh less than either.
const NEIGHBOURS: f64 = 0.5;
/// More letters tell a word's forms apart, not its meaning.
const LETTERS: usize = 6;

impl Terms {
    pub fn of_prose(text: &str) -> Self {
        Self::of_texts(&[(text, 1.0)], "", 0.0)
    }

    /// Texts, each with its weight, and the identifiers of some code.
    pub fn of_texts(prose: &[(&str, f64)], code: &str, code_weight: f64) -> Self {
        let mut weights: Vec<(TermId, f64)> = Vec::with_capacity(64);
        for (text, weight) in prose {
            let mut previous = None;
            for word in words(text) {
                let part_weight = if word.is_code { PART } else { 1.0 };
                if word.is_code {
                    weights.push((identifier(word.text), *weight));
                }
                each_stem(word.text, |stem| {
                    weights.push((stem, part_weight * weight));
                    weights.extend(previous.map(|previous| (neighbours(previous, stem), NEIGHBOURS * weight)));
                    previous = Some(stem);
                });
            }
        }
        for word in words(code) {
            weights.push((identifier(word.text), code_weight));
            each_stem(word.text, |stem| weights.push((stem, PART * code_weight)));
        }
        weights.sort_unstable_by_key(|(term, _)| *term);
        weights.dedup_by(|next, kept| {
            let is_same = next.0 == kept.0;
            if is_same {
                kept.1 += next.1;
            }
            is_same
        });
        Self { weights }
    }

    pub fn weights(&self) -> &[(TermId, f64)] {
        &self.weights
    }

    pub fn contains(&self, term: TermId) -> bool {
        self.weights.binary_search_by_key(&term, |(known, _)| *known).is_ok()
    }
}

impl TermId {
    /// The share of review comments that hold it, whatever they are about. Most terms are rare.
    pub fn usual_share(self) -> f64 {
        USUAL.get(&self).copied().unwrap_or(0.0)
    }
}

/// A run of letters, digits, `_` and `$`.
struct Word<'a> {
    text: &'a str,
    is_code: bool,
}

/// A script without spaces has no words to find: each of its characters stands alone.
fn is_ideograph(c: char) -> bool {
    ('\u{2e80}'..='\u{d7ff}').contains(&c)
}

fn words(text: &str) -> Vec<Word<'_>> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c.is_alphanumeric() || c == '_' || c == '$';
    let mut words = Vec::new();
    let (mut is_quoted, mut start) = (false, None);
    let mut rest = text.char_indices();
    loop {
        let (at, c) = rest.next().unwrap_or((text.len(), ' '));
        if c.is_ascii_lowercase() {
            start.get_or_insert(at);
            continue;
        }
        let alone = is_ideograph(c);
        if is_word(c) && !alone {
            start.get_or_insert(at);
            continue;
        }
        if let Some(start) = start.take() {
            let word = &text[start..at];
            let is_code = is_identifier(word) || c == '(' || (is_quoted && word.len() > 2 && !is_stop_word(&word.to_lowercase()));
            words.push(Word { text: word, is_code });
        }
        if alone && is_word(c) {
            words.push(Word { text: &text[at..at + c.len_utf8()], is_code: false });
        }
        is_quoted ^= c == '`';
        if at == text.len() {
            return words;
        }
    }
}

/// A name that no sentence holds: with an underscore, a hump, or in long capitals.
fn is_identifier(word: &str) -> bool {
    if word.bytes().skip(1).all(|byte| byte.is_ascii_lowercase()) {
        return false;
    }
    let has_hump = word.chars().zip(word.chars().skip(1)).any(|(a, b)| a.is_lowercase() && b.is_uppercase());
    let is_shouted = word.len() > 4 && word.chars().all(char::is_uppercase);
    has_hump || is_shouted || word.trim_matches('_').contains('_')
}

/// Calls `use_stem` with the term of each part of a word, split at humps, underscores and digits.
fn each_stem(word: &str, mut use_stem: impl FnMut(TermId)) {
    if word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return stem(word).into_iter().for_each(use_stem);
    }
    let mut part = String::with_capacity(word.len());
    let mut before: Option<char> = None;
    let mut rest = word.chars();
    while let Some(c) = rest.next() {
        let is_hump = before.is_some_and(|before| {
            (before.is_lowercase() && c.is_uppercase())
                || (before.is_numeric() != c.is_numeric())
                || (before.is_uppercase() && c.is_uppercase() && rest.clone().next().is_some_and(char::is_lowercase))
        });
        let is_part = c.is_alphanumeric();
        if (is_hump || !is_part) && !part.is_empty() {
            stem(&part).into_iter().for_each(&mut use_stem);
            part.clear();
        }
        match c {
            _ if c.is_ascii_alphanumeric() => part.push(c.to_ascii_lowercase()),
            _ if is_part => part.extend(c.to_lowercase()),
            _ => {}
        }
        before = Some(c);
    }
    stem(&part).into_iter().for_each(use_stem);
}

/// Nothing for a word without a meaning of its own.
fn stem(word: &str) -> Option<TermId> {
    let is_short = word.len() < 2;
    (!is_short && !is_stop_word(word)).then(|| TermId(hash(1, shorten(word))))
}

/// The first letters of a word without its ending.
fn shorten(word: &str) -> &str {
    let ending = match word.as_bytes() {
        [.., b'i', b'n', b'g'] => 3,
        [.., b's', b's'] => 0,
        [.., b'e', b'd' | b's'] => 2,
        [.., b'e' | b's'] => 1,
        _ => 0,
    };
    let base = if word.len() >= 3 + ending { &word[..word.len() - ending] } else { word };
    base.char_indices().nth(LETTERS).map_or(base, |(end, _)| &base[..end])
}

fn identifier(word: &str) -> TermId {
    TermId(hash(2, &word.trim_matches('_').to_lowercase()))
}

fn neighbours(first: TermId, second: TermId) -> TermId {
    TermId((first.0.rotate_left(17) ^ second.0).wrapping_mul(PRIME))
}

const PRIME: u64 = 0x0000_0100_0000_01b3;

/// FNV-1a. The kind keeps an identifier apart from a word of the same letters.
fn hash(kind: u64, text: &str) -> u64 {
    let offset = 0xcbf2_9ce4_8422_2325 ^ kind;
    text.bytes().fold(offset, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(PRIME))
}

fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.binary_search(&word).is_ok()
}

/// Words that join others. In the order of the alphabet.
const STOP_WORDS: &[&str] = &[
    "a",
    "all",
    "also",
    "an",
    "and",
    "any",
    "are",
    "as",
    "at",
    "be",
    "because",
    "been",
    "being",
    "both",
    "but",
    "by",
    "can",
    "cause",
    "causes",
    "causing",
    "could",
    "did",
    "do",
    "does",
    "doing",
    "done",
    "each",
    "etc",
    "for",
    "from",
    "had",
    "has",
    "have",
    "if",
    "in",
    "instead",
    "into",
    "is",
    "it",
    "its",
    "lead",
    "leading",
    "leads",
    "may",
    "might",
    "must",
    "no",
    "not",
    "now",
    "of",
    "on",
    "only",
    "or",
    "other",
    "potential",
    "potentially",
    "rather",
    "same",
    "should",
    "so",
    "such",
    "than",
    "that",
    "the",
    "their",
    "them",
    "then",
    "there",
    "these",
    "they",
    "this",
    "those",
    "to",
    "use",
    "used",
    "uses",
    "using",
    "via",
    "was",
    "were",
    "what",
    "when",
    "where",
    "whether",
    "which",
    "while",
    "will",
    "with",
    "without",
    "would",
];

/// Words that many review comments hold, whatever they are about, by the share of comments that hold them.
const USUAL_WORDS: [(f64, &[&str]); 3] = [
    (0.14, &["call", "check", "error", "method", "return", "value"]),
    (
        0.07,
        &[
            "add",
            "after",
            "allow",
            "before",
            "code",
            "create",
            "data",
            "delete",
            "exist",
            "fail",
            "function",
            "get",
            "incorrect",
            "line",
            "list",
            "logic",
            "match",
            "missing",
            "name",
            "need",
            "never",
            "new",
            "request",
            "set",
            "test",
            "time",
            "type",
            "update",
            "user",
            "valid",
        ],
    ),
    (
        0.035,
        &[
            "access",
            "action",
            "actual",
            "already",
            "always",
            "behavior",
            "block",
            "break",
            "case",
            "change",
            "condition",
            "consider",
            "count",
            "default",
            "define",
            "different",
            "direct",
            "doesn",
            "duplicate",
            "empty",
            "ensure",
            "even",
            "event",
            "exception",
            "failure",
            "false",
            "field",
            "file",
            "find",
            "first",
            "handle",
            "implement",
            "include",
            "inconsistent",
            "invalid",
            "issue",
            "key",
            "log",
            "loop",
            "make",
            "mean",
            "message",
            "multiple",
            "none",
            "null",
            "object",
            "one",
            "operation",
            "parameter",
            "pass",
            "path",
            "prevent",
            "process",
            "query",
            "reference",
            "remove",
            "require",
            "result",
            "run",
            "state",
            "still",
            "store",
            "string",
            "throw",
            "true",
            "variable",
            "won",
            "work",
            "write",
            "wrong",
        ],
    ),
];

static USUAL: LazyLock<BTreeMap<TermId, f64>> = LazyLock::new(|| {
    USUAL_WORDS.iter().flat_map(|(share, words)| words.iter().filter_map(|word| Some((stem(word)?, *share)))).collect()
});

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(text: &str) -> Vec<TermId> {
        let mut ids = Vec::new();
        words(text).iter().for_each(|word| each_stem(word.text, |stem| ids.push(stem)));
        ids.sort();
        ids
    }

    #[test]
    fn forms_of_a_word_are_one_term() {
        assert_eq!(ids("validates caching"), ids("validated cache"));
        assert_eq!(ids("VALIDATION"), ids("validation"));
        assert_ne!(ids("lock"), ids("cache"));
        assert_eq!(ids("is the of"), []);
    }

    #[test]
    fn an_identifier_is_its_parts_too() {
        assert_eq!(ids("maxSizeKB HTTPServer"), ids("max_size_kb http server"));
        let named = Terms::of_prose("`downsize` is defined twice");
        assert!(named.contains(identifier("downsize")) && named.contains(ids("downsize")[0]));
        assert!(Terms::of_prose("it calls downsize(x)").contains(identifier("downsize")), "a call");
        assert!(!Terms::of_prose("they downsize it").contains(identifier("downsize")), "a word");
    }

    #[test]
    fn every_script_has_terms() {
        assert_eq!(ids("größe").len(), 1);
        assert_eq!(words("検索が遅い").len(), 5);
    }

    /// They are looked up by bisection.
    #[test]
    fn stop_words_are_in_order() {
        assert!(STOP_WORDS.is_sorted());
    }

    #[test]
    fn usual_words_are_known_in_every_form() {
        assert_eq!(ids("returned")[0].usual_share(), 0.14);
        assert_eq!(ids("downsizing")[0].usual_share(), 0.0);
    }
}
