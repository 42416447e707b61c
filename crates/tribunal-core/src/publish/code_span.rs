//! Code spans as CommonMark (6.1) reads them, for everything that tells code from prose: a run of backticks is closed by the next run
//! of the same length.

use std::collections::BTreeMap;

/// Where the code spans of a text can end. Found once for a text: a search from each run of backticks takes the square of its length.
pub struct CodeSpans<'a> {
    text: &'a str,
    /// Where runs of backticks begin, by their length.
    runs: BTreeMap<usize, Vec<usize>>,
}

impl<'a> CodeSpans<'a> {
    pub fn of(text: &'a str) -> Self {
        let mut runs: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        let mut at = 0;
        while let Some(found) = text[at..].find('`') {
            let run = backtick_run(&text[at + found..]);
            runs.entry(run).or_default().push(at + found);
            at += found + run;
        }
        Self { text, runs }
    }

    /// The code span that a run of backticks at this place begins, both runs included.
    pub fn at(&self, place: usize) -> Option<&'a str> {
        let run = backtick_run(&self.text[place..]);
        let starts = self.runs.get(&run)?;
        let close = *starts.get(starts.partition_point(|start| *start <= place))?;
        Some(&self.text[place..close + run])
    }
}

/// How many backticks the text begins with.
pub fn backtick_run(text: &str) -> usize {
    text.len() - text.trim_start_matches('`').len()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CommonMark 0.31, 6.1.
    #[test]
    fn a_run_is_closed_by_one_of_its_length() {
        for (text, span) in [
            ("`a` b", Some("`a`")),
            ("`` a ` b `` c", Some("`` a ` b ``")),
            ("`a``b`", Some("`a``b`")),
            ("``a` b", None),
            ("` a", None),
        ] {
            assert_eq!(CodeSpans::of(text).at(0), span, "{text}");
        }
        assert_eq!(CodeSpans::of("`a` `b`").at(4), Some("`b`"));
    }
}
