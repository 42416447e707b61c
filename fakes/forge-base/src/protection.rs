//! What a branch asks of a merge, and which issues a merge closes.

/// Set by whoever administers the project.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Protection {
    pub approvals: u32,
    /// Names of checks that must be green.
    pub checks: Vec<String>,
}

/// The issues that a description closes, by the words that all forges know.
pub fn closing(body: &str) -> Vec<u64> {
    const WORDS: [&str; 9] = ["close", "closes", "closed", "fix", "fixes", "fixed", "resolve", "resolves", "resolved"];
    let words: Vec<String> = body.split_whitespace().map(str::to_lowercase).collect();
    let number = |word: &String| word.strip_prefix('#')?.trim_end_matches(|c: char| !c.is_ascii_digit()).parse().ok();
    words.windows(2).filter(|pair| WORDS.contains(&pair[0].trim_end_matches(':'))).filter_map(|pair| number(&pair[1])).collect()
}
