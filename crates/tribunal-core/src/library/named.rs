//! What a text names: records by their id, issues by their number.

use regex::Regex;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// The ids with this prefix: `ADR-` and four digits. In capitals, each once, as they come; `ADR-00071` and `XADR-0007` are none.
pub fn ids(text: &str, prefix: &str) -> Vec<String> {
    let upper = text.to_ascii_uppercase();
    let start = format!("{prefix}-");
    let mut found: Vec<String> = Vec::new();
    let of_a_word = |c: char| c.is_alphanumeric() || c == '_';
    for (at, _) in upper.match_indices(&start) {
        let digits = &upper[at + start.len()..];
        let whole = digits.len() >= 4 && digits.bytes().take(4).all(|byte| byte.is_ascii_digit());
        let before = upper[..at].chars().next_back().is_some_and(of_a_word);
        if !whole || before || digits[4..].chars().next().is_some_and(of_a_word) {
            continue;
        }
        let id = format!("{start}{}", &digits[..4]);
        if !found.contains(&id) {
            found.push(id);
        }
    }
    found
}

static NUMBERS: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?:^|[^\w&/])#(\d{1,12})\b|/issues/(\d{1,12})\b|\bissue[ -]#?(\d{1,12})\b").ok());

/// Issues that a text names in any way: `Closes #7`, `Related: #7`, an address that ends in `/issues/7`.
pub fn issue_numbers(text: &str) -> BTreeSet<u64> {
    let Some(pattern) = NUMBERS.as_ref() else { return BTreeSet::new() };
    let text = text.to_ascii_lowercase();
    pattern.captures_iter(&text).filter_map(|found| found.iter().skip(1).flatten().next()?.as_str().parse().ok()).collect()
}

/// `feature/42-login` is about issue 42.
pub fn issue_of_branch(branch: &str) -> Option<u64> {
    let last = branch.rsplit('/').next()?;
    let digits = last.split(['-', '_']).next()?;
    (!digits.is_empty() && digits.len() < 9).then(|| digits.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// SL-85: four digits, over title and body.
    #[test]
    fn ids_have_four_digits() {
        assert_eq!(ids("see adr-0007, ADR-0012 and ADR-0007", "ADR"), ["ADR-0007", "ADR-0012"]);
        assert!(ids("ADR-007 ADR-00071 XADR-0007 ADR-0007b", "ADR").is_empty());
        assert_eq!(ids("docs/adrs/ADR-0007.md", "ADR"), ["ADR-0007"]);
    }

    /// SL-41: every way in which a description names an issue.
    #[test]
    fn issues_are_named_in_many_ways() {
        let text = "Closes #1, fixes: #2\nPart of #3. Related: #4 (see https://forge.example/a/b/issues/5) and issue 6";
        assert_eq!(issue_numbers(text), [1, 2, 3, 4, 5, 6].into());
        assert!(issue_numbers("a&#39;b colour:#123456x page#7 #abc").is_empty());
        assert_eq!(issue_of_branch("feature/42-login"), Some(42));
        assert_eq!(issue_of_branch("feature/login-42"), None);
    }

    proptest! {
        #[test]
        fn any_text_can_be_read(text in "\\PC{0,60}") {
            let _ = (ids(&text, "ADR"), issue_numbers(&text), issue_of_branch(&text));
        }
    }
}
