//! The form in which words are indexed and asked for: both sides go through here, so that `retries` finds `retrying`.

use frostem::{Algorithm, Stemmer};

/// The longest stem, in characters. SQLite truncates long tokens when it indexes them, but not when it looks one up; both get the
/// truncated form. Anything longer is data and not a word.
const LONGEST: usize = 100;

/// One for each word, in the same order.
pub fn stems(words: &[String]) -> Vec<String> {
    let stemmer = Stemmer::new(Algorithm::English);
    words.iter().map(|word| stemmer.stem(&word.chars().take(LONGEST).collect::<String>()).into_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_a_word_have_one_stem() {
        let stem = |word: &str| stems(&[word.to_owned()]).remove(0);
        assert_eq!(stem("retries"), stem("retrying"));
        assert_ne!(stem("session"), stem("expire"));
        assert_eq!((stem("größe"), stem("検索"), stem("")), ("größe".to_owned(), "検索".to_owned(), String::new()));
    }

    #[test]
    fn a_very_long_word_is_cut_between_characters() {
        let long = stems(&["ß".repeat(70_000)]).remove(0);
        assert_eq!(long.chars().count(), LONGEST);
    }
}
