//! Many patterns over the same text. One pass over it says which of them match, and only those are compiled and searched for: most
//! text holds no key, and to compile a pattern takes longer than to search a line with it.

use regex::{Regex, RegexSet};
use std::sync::OnceLock;

pub struct PatternSet {
    set: Option<RegexSet>,
    each: Vec<(String, OnceLock<Option<Regex>>)>,
}

impl PatternSet {
    pub fn new(patterns: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let each: Vec<_> = patterns.into_iter().map(|pattern| (pattern.into(), OnceLock::new())).collect();
        Self { set: RegexSet::new(each.iter().map(|(pattern, _)| pattern)).ok(), each }
    }

    pub fn len(&self) -> usize {
        self.each.len()
    }

    pub fn is_match(&self, text: &str) -> bool {
        match &self.set {
            Some(set) => set.is_match(text),
            None => self.matching(text).any(|(_, pattern)| pattern.is_match(text)),
        }
    }

    /// Those that match somewhere in the text, each with its place in the list.
    pub fn matching(&self, text: &str) -> impl Iterator<Item = (usize, &Regex)> {
        let places: Vec<usize> = match &self.set {
            Some(set) => set.matches(text).into_iter().collect(),
            None => (0..self.each.len()).collect(),
        };
        places.into_iter().filter_map(|place| Some((place, self.compiled(place)?)))
    }

    fn compiled(&self, place: usize) -> Option<&Regex> {
        let (pattern, compiled) = self.each.get(place)?;
        compiled.get_or_init(|| Regex::new(pattern).ok()).as_ref()
    }

    /// Is every pattern one, and do they fit into one set?
    #[cfg(test)]
    pub fn is_whole(&self) -> bool {
        self.set.is_some() && (0..self.each.len()).all(|place| self.compiled(place).is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_matches_is_compiled() {
        let set = PatternSet::new(["a+", "b+", "c+"]);
        let found: Vec<usize> = set.matching("xxbbcx").map(|(place, _)| place).collect();
        assert_eq!(found, [1, 2]);
        assert!(set.each[0].1.get().is_none());
        assert!(set.is_match("a") && !set.is_match("x"));
    }
}
