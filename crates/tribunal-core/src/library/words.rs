//! The words of a text by which it is found. Identifiers are taken apart, and words that every text has are left out.

/// Say nothing about what a text is about. In order, to be found quickly.
const COMMON: [&str; 72] = [
    "a", "about", "after", "all", "also", "an", "and", "any", "are", "as", "at", "be", "been", "but", "by", "can", "could", "do",
    "does", "each", "for", "from", "has", "have", "how", "if", "in", "into", "is", "it", "its", "may", "must", "no", "not", "of",
    "on", "one", "only", "or", "our", "out", "shall", "should", "so", "some", "such", "than", "that", "the", "their", "them",
    "then", "there", "these", "they", "this", "to", "up", "was", "we", "were", "what", "when", "which", "who", "will", "with",
    "would", "yet", "you", "your",
];

/// In lower case, in their order, each as often as it stands there.
pub fn words(text: &str) -> Vec<String> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .flat_map(parts)
        .map(|word| word.to_lowercase())
        .filter(|word| is_telling(word))
        .collect()
}

/// `retryBudget2` is `retry`, `Budget`, `2`; `HTTPServer` is `HTTP`, `Server`.
fn parts(word: &str) -> Vec<&str> {
    let mut cuts = vec![0];
    let mut before: Option<char> = None;
    let mut chars = word.char_indices().peekable();
    while let Some((at, here)) = chars.next() {
        let next_is_small = chars.peek().is_some_and(|(_, next)| next.is_lowercase());
        let begins = before.is_some_and(|before| {
            (before.is_lowercase() && here.is_uppercase())
                || (before.is_uppercase() && here.is_uppercase() && next_is_small)
                || before.is_numeric() != here.is_numeric()
        });
        if begins {
            cuts.push(at);
        }
        before = Some(here);
    }
    cuts.push(word.len());
    cuts.windows(2).map(|cut| &word[cut[0]..cut[1]]).collect()
}

fn is_telling(word: &str) -> bool {
    let letters = word.chars().count();
    let is_number = word.chars().all(char::is_numeric);
    // A number of four digits or more is a name of something; a shorter one stands everywhere. Of letters, scripts that write a word
    // with one or two signs count too.
    let long_enough = if is_number { letters >= 4 } else { letters >= 2 || !word.is_ascii() };
    long_enough && COMMON.binary_search(&word).is_err()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_taken_apart() {
        assert_eq!(words("retryBudget HTTPServer snake_case v2"), ["retry", "budget", "http", "server", "snake", "case"]);
        assert_eq!(words("src/session-store.rs"), ["src", "session", "store", "rs"]);
        assert_eq!(words("ADR-0007"), ["adr", "0007"]);
    }

    #[test]
    fn what_stands_everywhere_says_nothing() {
        assert_eq!(words("This is the one of them, and it has 12 of it"), Vec::<String>::new());
        assert!(COMMON.is_sorted());
        assert_eq!(words("größe 検索"), ["größe", "検索"]);
    }
}
