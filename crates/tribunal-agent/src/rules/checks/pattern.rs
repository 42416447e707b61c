//! Regular expressions that are written in this crate: compiled when first used, and never a panic in a reviewer's run.
//!
//! A pattern that does not compile matches nothing. That cannot reach a user: each rule's bad examples would stop being found.

use regex::{Captures, Regex};
use std::borrow::Cow;
use std::ops::Range;
use std::sync::OnceLock;

pub struct Pattern {
    text: &'static str,
    regex: OnceLock<Option<Regex>>,
}

impl Pattern {
    pub const fn new(text: &'static str) -> Self {
        Self { text, regex: OnceLock::new() }
    }

    pub fn is_match(&self, line: &str) -> bool {
        self.regex().is_some_and(|regex| regex.is_match(line))
    }

    pub fn captures<'t>(&self, line: &'t str) -> Option<Captures<'t>> {
        self.regex()?.captures(line)
    }

    pub fn replace_all<'t>(&self, line: &'t str, with: &str) -> Cow<'t, str> {
        self.regex().map_or(Cow::Borrowed(line), |regex| regex.replace_all(line, with))
    }

    /// What stands between the matches.
    pub fn split<'t>(&'static self, text: &'t str) -> impl Iterator<Item = &'t str> {
        self.regex().into_iter().flat_map(move |regex| regex.split(text))
    }

    /// The first group that took part in the match.
    pub fn group<'t>(&self, line: &'t str) -> Option<&'t str> {
        self.captures(line)?.iter().skip(1).flatten().next().map(|found| found.as_str())
    }

    pub fn all<'t>(&'static self, line: &'t str) -> impl Iterator<Item = &'t str> {
        self.regex().into_iter().flat_map(move |regex| regex.find_iter(line)).map(|found| found.as_str())
    }

    /// Where it matches.
    pub fn ranges<'t>(&'static self, line: &'t str) -> impl Iterator<Item = Range<usize>> + 't {
        self.regex().into_iter().flat_map(move |regex| regex.find_iter(line)).map(|found| found.range())
    }

    fn regex(&self) -> Option<&Regex> {
        let compiled = self.regex.get_or_init(|| Regex::new(self.text).ok());
        debug_assert!(compiled.is_some(), "{}", self.text);
        compiled.as_ref()
    }
}
