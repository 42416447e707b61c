//! Rules over single added lines: regular expressions with an entropy floor, for secrets and other things without a grammar.

use super::file::LineRule;
use regex::{Regex, RegexSet};
use std::sync::OnceLock;

/// Expressions are compiled when the first line with a keyword turns up: most changes hold none of them.
pub struct LineMatcher {
    rule: LineRule,
    compiled: OnceLock<Result<Compiled, String>>,
    keywords: Vec<String>,
}

struct Compiled {
    any: Vec<Regex>,
    unless: RegexSet,
    question: RegexSet,
}

/// A line that a rule speaks about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hit {
    /// It may be meant: the rule asks instead of telling.
    pub asks: bool,
}

/// Lines beyond this are data, not code that someone wrote.
const MAX_LINE_BYTES: usize = 4096;

impl LineMatcher {
    pub fn new(rule: &LineRule) -> Self {
        let keywords = rule.keywords.iter().map(|word| word.to_ascii_lowercase()).collect();
        Self { rule: rule.clone(), compiled: OnceLock::new(), keywords }
    }

    /// Whether every expression of the rule can be read.
    pub fn check(&self) -> Result<(), String> {
        self.compiled().as_ref().map(|_| ()).map_err(Clone::clone)
    }

    fn compiled(&self) -> &Result<Compiled, String> {
        self.compiled.get_or_init(|| {
            let any = self.rule.any.iter().map(|text| Regex::new(text)).collect::<Result<_, _>>();
            Ok(Compiled {
                any: any.map_err(|error: regex::Error| error.to_string())?,
                unless: RegexSet::new(&self.rule.unless).map_err(|error| error.to_string())?,
                question: RegexSet::new(&self.rule.question).map_err(|error| error.to_string())?,
            })
        })
    }

    pub fn find(&self, line: &str) -> Option<Hit> {
        if line.len() > MAX_LINE_BYTES || !self.has_keyword(line) {
            return None;
        }
        // A rule that cannot be read was refused when it was loaded.
        let compiled = self.compiled().as_ref().ok()?;
        let found = compiled.any.iter().any(|regex| {
            regex.captures_iter(line).any(|captures| {
                let hit = captures.name("secret").or_else(|| captures.get(0)).map_or("", |found| found.as_str());
                self.rule.entropy.is_none_or(|floor| entropy(hit) >= floor)
            })
        });
        (found && !compiled.unless.is_match(line)).then(|| Hit { asks: compiled.question.is_match(line) })
    }

    fn has_keyword(&self, line: &str) -> bool {
        self.keywords.is_empty() || {
            let lower = line.to_ascii_lowercase();
            self.keywords.iter().any(|word| lower.contains(word))
        }
    }
}

/// Shannon entropy in bits per character: random keys have more of it than words.
pub fn entropy(text: &str) -> f64 {
    let mut counts = std::collections::BTreeMap::new();
    let mut total = 0_u32;
    for c in text.chars() {
        *counts.entry(c).or_insert(0_u32) += 1;
        total += 1;
    }
    counts
        .values()
        .map(|&count| {
            let share = f64::from(count) / f64::from(total);
            -share * share.log2()
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_may_be_meant_is_asked_about() {
        let matcher = LineMatcher::new(&LineRule {
            any: vec!["key = .+".into()],
            unless: vec!["env".into()],
            question: vec!["default".into()],
            entropy: None,
            keywords: Vec::new(),
        });
        assert_eq!(matcher.find("key = a1"), Some(Hit { asks: false }));
        assert_eq!(matcher.find("default key = a1"), Some(Hit { asks: true }));
        assert_eq!(matcher.find("key = env"), None);
    }

    #[test]
    fn random_text_has_more_entropy_than_words() {
        assert!(entropy("aaaaaaaaaaaa") < 0.1);
        assert!(entropy("changeme-changeme") < 3.2);
        assert!(entropy("9fK2pQ7xZ1mV8bT4cR6w") > 4.0);
    }
}
