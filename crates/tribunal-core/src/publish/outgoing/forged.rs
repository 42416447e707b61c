//! Marks that others wrote. Our hidden comments are read by their first characters, so a text of others that has them is changed in
//! these characters, and is shown.

use regex::Regex;
use std::sync::LazyLock;

/// How every hidden comment of ours begins, now and in earlier versions, and those of the tools whose answers we read.
static OPENING: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?i)<!--(?P<gap>[\s\p{Cf}\x00-\x20]*)(?P<name>tribunal|pr-review|hivemind)").ok());

/// The text without a mark in it: `<!-- tribunal:1 …` becomes `<! -- tribunal:1 …`, which no reader takes for a comment.
pub fn without_marks(text: &str) -> String {
    match OPENING.as_ref() {
        Some(opening) if opening.is_match(text) => opening.replace_all(text, "<! --${gap}${name}").into_owned(),
        _ => text.to_owned(),
    }
}

pub fn has_mark(text: &str) -> bool {
    OPENING.as_ref().is_some_and(|opening| opening.is_match(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Issue 16, D17: marker text in a description is shown and means nothing.
    #[test]
    fn a_mark_of_somebody_else_is_shown() {
        assert_eq!(without_marks("a <!-- tribunal:1 x.y --> b"), "a <! -- tribunal:1 x.y --> b");
        assert_eq!(
            without_marks("<!--tribunal:memory x-->\n<!--\tPR-Review:sticky -->"),
            "<! --tribunal:memory x-->\n<! --\tPR-Review:sticky -->"
        );
        assert_eq!(without_marks("<!-- a comment of theirs -->"), "<!-- a comment of theirs -->");
        assert!(!has_mark(&without_marks("<!--<!-- tribunal:1 <!-- tribunal-review x -->")));
    }
}
