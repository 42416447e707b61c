//! What is asked of the index for a change, and of what it is made (SL-39).

use super::words::words;
use crate::ids::RepoPath;

#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// For the search by words.
    pub words: Vec<String>,
    /// For the search by meaning.
    pub sentence: String,
    pub limit: usize,
    pub min_score: f64,
}

/// Why it is asked; an index that ranks by itself may use it.
pub const INTENT: &str = "decision records and earlier issues that this pull request should refer to";
/// More words find nothing better.
const MOST_WORDS: usize = 48;
const MOST_PATHS: usize = 12;

impl Question {
    /// As somebody types it.
    pub fn typed(text: &str, limit: usize, min_score: f64) -> Self {
        Question { words: each_once(words(text)), sentence: text.trim().to_owned(), limit, min_score }
    }

    /// Of the title, the names of the files and the symbols that the change touches; the title comes first.
    pub fn of_change(title: &str, paths: &[&RepoPath], symbols: &[String], limit: usize, min_score: f64) -> Self {
        let of_paths = paths.iter().flat_map(|path| words(stem(path.file_name())));
        let of_symbols = symbols.iter().flat_map(|symbol| words(symbol));
        let words = each_once(words(title).into_iter().chain(of_paths).chain(of_symbols).collect());
        Question { words, sentence: sentence(title, paths), limit, min_score }
    }
}

fn sentence(title: &str, paths: &[&RepoPath]) -> String {
    let names: Vec<&str> = paths.iter().take(MOST_PATHS).map(|path| path.as_str()).collect();
    match names.as_slice() {
        [] => format!("{}.", title.trim()),
        names => format!("{}. It changes {}.", title.trim().trim_end_matches('.'), names.join(", ")),
    }
}

/// A file's ending says nothing of what it is about.
fn stem(name: &str) -> &str {
    name.split_once('.').map_or(name, |(stem, _)| if stem.is_empty() { name } else { stem })
}

fn each_once(words: Vec<String>) -> Vec<String> {
    let mut seen = std::collections::BTreeSet::new();
    words.into_iter().filter(|word| seen.insert(word.clone())).take(MOST_WORDS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SL-39: title, base names, symbols; one sentence; eight at most, from 0.4.
    #[test]
    fn a_change_asks_by_title_files_and_symbols() {
        let paths = [RepoPath::from("src/session_store.rs"), RepoPath::from("README.md")];
        let paths: Vec<&RepoPath> = paths.iter().collect();
        let question = Question::of_change("Retry the login once", &paths, &["retryBudget".into()], 8, 0.4);
        assert_eq!(question.words, ["retry", "login", "once", "session", "store", "readme", "budget"]);
        assert_eq!(question.sentence, "Retry the login once. It changes src/session_store.rs, README.md.");
        assert_eq!((question.limit, question.min_score), (8, 0.4));
    }

    #[test]
    fn a_long_list_of_words_is_cut() {
        let many: String = (1000..1200).map(|n| format!("{n} ")).collect();
        assert_eq!(Question::typed(&many, 8, 0.3).words.len(), MOST_WORDS);
    }
}
