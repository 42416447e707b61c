//! Code spans as CommonMark (6.1) reads them, for everything that tells code from prose.

/// The code span that the text begins with, both runs of backticks included: a run is closed by the next run of the same length.
pub fn code_span(text: &str) -> Option<&str> {
    let length = backtick_run(text);
    let mut at = length;
    while let Some(found) = text[at..].find('`') {
        let (start, run) = (at + found, backtick_run(&text[at + found..]));
        if run == length {
            return Some(&text[..start + run]);
        }
        at = start + run;
    }
    None
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
            assert_eq!(code_span(text), span, "{text}");
        }
    }
}
