//! A suggestion block in a comment is a fix that its author wrote out: it needs no model to be understood.

use super::splice::Splice;
use crate::feedback::fixable::Fixable;
use crate::ids::RepoPath;
use crate::pull::spoken::spoken_blocks;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suggestion {
    /// Lines above and below the last one commented, as GitLab counts them. Without it the block is for the commented range itself.
    pub reach: Option<(u32, u32)>,
    pub lines: Vec<String>,
}

/// The one suggestion of an item. Several leave open which one is meant, so they are none; nor is one that our own finding only
/// offers.
pub fn suggestion(item: &Fixable) -> Option<Suggestion> {
    item.about.fix.is_safe().then(|| parse_suggestion(&item.body)).flatten()
}

/// What a body suggests, whoever wrote it. Only [`suggestion`] leads to an edit.
pub fn parse_suggestion(body: &str) -> Option<Suggestion> {
    let blocks = spoken_blocks(body).into_iter();
    let mut found = blocks.filter_map(|(info, lines)| Some(Suggestion { reach: reach(&info)?, lines }));
    found.next().filter(|_| found.next().is_none())
}

/// `suggestion`, `suggestion:-1+2`.
fn reach(info: &str) -> Option<Option<(u32, u32)>> {
    let rest = info.strip_prefix("suggestion")?;
    if rest.is_empty() {
        return Some(None);
    }
    let (above, below) = rest.strip_prefix(":-")?.split_once('+')?;
    Some(Some((above.parse().ok()?, below.parse().ok()?)))
}

/// The suggestion as a change of the file, if its lines are there. `lines` is the commented range.
pub fn splice(suggestion: &Suggestion, path: &RepoPath, lines: (u32, u32), text: &str) -> Option<Splice> {
    let (first, last) = match suggestion.reach {
        Some((above, below)) => (lines.1.checked_sub(above)?, lines.1.checked_add(below)?),
        None => lines,
    };
    if first == 0 || first > last {
        return None;
    }
    let all: Vec<&str> = text.split_inclusive('\n').collect();
    all.get(first as usize - 1..last as usize)?;
    let ending = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let is_at_end = last as usize == all.len() && !text.ends_with('\n');
    let mut new: String = suggestion.lines.iter().map(|line| format!("{}{ending}", line.trim_end_matches('\r'))).collect();
    if is_at_end {
        new.truncate(new.trim_end_matches(['\r', '\n']).len());
    }
    Some(Splice { path: path.clone(), first, last, text: new })
}

#[cfg(test)]
mod tests {
    use super::super::edits::apply;
    use super::super::splice::edit;
    use super::*;
    use crate::feedback::item::{Item, Voice};
    use crate::feedback::samples::{fixable, item, person};
    use crate::findings::about::About;
    use crate::findings::report::FixKind;

    const TEXT: &str = "one\ntwo\ntwo\nfour\n";

    fn applied(body: &str, line: u32) -> Option<String> {
        let edit = edit(&[splice(&parse_suggestion(body)?, &"a".into(), (line, line), TEXT)?], TEXT)?;
        apply(&[edit], |_| Some(TEXT.to_owned())).ok()?.remove(&RepoPath::from("a"))
    }

    #[test]
    fn github_and_gitlab_blocks_are_read() {
        assert_eq!(applied("Use this:\n```suggestion\n2\n```\n", 3).as_deref(), Some("one\ntwo\n2\nfour\n"));
        assert_eq!(applied("```suggestion:-1+1\nx\ny\n```", 3).as_deref(), Some("one\nx\ny\n"));
        assert_eq!(applied("````suggestion\n```\n````", 1).as_deref(), Some("```\ntwo\ntwo\nfour\n"));
        assert_eq!(applied("```suggestion\n```", 4).as_deref(), Some("one\ntwo\ntwo\n"));
        // Of somebody else, or shown only as an example.
        for quoted in [
            "> ```suggestion\n> 2\n> ```",
            "~~~\n```suggestion\n2\n```\n~~~",
            "So:\n\n    ```suggestion\n    2\n    ```",
            "<!--\n```suggestion\n2\n```\n-->",
        ] {
            assert_eq!(applied(quoted, 1), None, "{quoted}");
        }
        let folded = "<details>\n<summary>Suggestion</summary>\n\n```suggestion\n2\n```\n\n</details>";
        assert_eq!(applied(folded, 1).as_deref(), Some("2\ntwo\ntwo\nfour\n"));
    }

    /// A comment on several lines: GitHub's block stands for all of them, GitLab counts from the last.
    #[test]
    fn a_block_on_several_lines_replaces_them() {
        let replaced = |body: &str| {
            splice(&parse_suggestion(body).unwrap(), &"a".into(), (2, 3), TEXT).map(|splice| (splice.first, splice.last))
        };
        assert_eq!(replaced("```suggestion\nx\n```"), Some((2, 3)));
        assert_eq!(replaced("```suggestion:-1+0\nx\n```"), Some((2, 3)));
        assert_eq!(replaced("```suggestion:-0+1\nx\n```"), Some((3, 4)));
    }

    /// What a finding of ours offers, a person applies.
    #[test]
    fn an_offered_change_is_not_made_unattended() {
        let of_kind = |fix| {
            let about = About { slug: Some("x".into()), fix, ..About::default() };
            let item = item("thread:1", &person("tribunal"), Voice::Panel, "a", 1, "```suggestion\nx\n```");
            suggestion(&fixable(&Item { about, ..item })).is_some()
        };
        assert!(of_kind(FixKind::Safe) && !of_kind(FixKind::Offered));
    }

    #[test]
    fn what_is_not_clear_is_no_suggestion() {
        assert_eq!(applied("```python\nx\n```", 1), None);
        assert_eq!(applied("```suggestion\na\n```\nor\n```suggestion\nb\n```", 1), None);
        assert_eq!(applied("```suggestion\na\n```", 9), None);
        assert_eq!(applied("```suggestion:-5+0\na\n```", 2), None);
    }
}
