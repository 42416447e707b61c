//! Deferred feedback as a file of the repository (WL-85, CF-18): for decisions that shall stand beside the code, where an issue is for
//! work that somebody will do. Each item is entered once, under a name made of what it is, so that entering it again changes nothing.

use super::answer::{address, or_none, quoted, title_of};
use super::assess::Assessment;
use crate::feedback::fixable::Fixable;
use crate::feedback::item::{Item, ItemId};
use crate::findings::admit::one_line;
use crate::findings::key::sha256_hex;
use crate::ids::RepoPath;
use crate::publish::markdown::{code, inert};
use std::collections::BTreeMap;

/// Where it goes unless the configuration says otherwise.
pub const PATH: &str = "docs/deferred.md";
const BEGINNING: &str = "# Deferred\n\nFeedback that was right and not acted on where it was given, with the reason.\n";
/// What the commit is called.
pub const SUBJECT: &str = "Record deferred feedback";

/// The record with these items in it, and where each of them stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// Nothing: all of them were in it already.
    pub text: Option<String>,
    pub homes: BTreeMap<ItemId, String>,
}

/// `old` is the record as it is, if there is one; `case_id` and `url` are those of the pull request with this number.
pub fn record(
    old: Option<&str>,
    path: &RepoPath,
    (case_id, number, url): (&str, u64, &str),
    deferred: &[(&Fixable, &Assessment)],
) -> Recorded {
    let mut text = old.unwrap_or(BEGINNING).to_owned();
    let mut homes = BTreeMap::new();
    let ending = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let before = text.clone();
    for (item, assessment) in deferred {
        let name = name(case_id, item);
        homes.insert(item.id.clone(), format!("{path}#{}", name.to_lowercase()));
        let heading = format!("## {name}");
        if text.lines().any(|line| line.trim_end() == heading) {
            continue;
        }
        let kept = text.trim_end().len();
        text.truncate(kept);
        let entry = entry(&heading, item, number, url, assessment).replace('\n', ending);
        text.push_str(&format!("{ending}{ending}{entry}"));
    }
    Recorded { text: (old.is_none() || text != before).then_some(text), homes }
}

/// A heading of its own, which forges make an anchor of by writing it small.
fn name(case_id: &str, item: &Item) -> String {
    format!("D-{}", &sha256_hex(format!("{case_id}\n{}", item.id).as_bytes())[..10])
}

fn entry(heading: &str, item: &Item, number: u64, url: &str, assessment: &Assessment) -> String {
    let severity = item.priority.map_or_else(|| "not given".to_owned(), |priority| priority.to_string());
    format!(
        "{heading}\n\n**{}**\n\n- From: pull request #{number}, {}, by {}\n- Severity, as its author sees it: {severity}\n- Why deferred: {}\n- Proposed fix: {}\n- References: {}, {}\n\n{}\n",
        inert(&title_of(item)),
        code(&item.place()),
        inert(&one_line(&item.author.login)),
        or_none(&assessment.rationale),
        or_none(&assessment.notes),
        address(url),
        address(&item.url),
        quoted(&crate::findings::plain::plain(&item.body)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feedback::item::Voice;
    use crate::feedback::samples::{fixable, item, rabbit};
    use crate::remedy::assess::Decision;

    fn deferred(id: &str, body: &str) -> (Item, Assessment) {
        let item = item(id, &rabbit(), Voice::Known("coderabbit".into()), "src/cart.rs", 10, body);
        let mut assessment = Assessment::unanswered(&item);
        (assessment.decision, assessment.rationale) = (Decision::Defer, "the module is rewritten next month".into());
        (item, assessment)
    }

    fn recorded(old: Option<&str>, items: &[(Item, Assessment)]) -> Recorded {
        let items: Vec<(Fixable, &Assessment)> = items.iter().map(|(item, assessment)| (fixable(item), assessment)).collect();
        let items: Vec<(&Fixable, &Assessment)> = items.iter().map(|(item, assessment)| (item, *assessment)).collect();
        record(old, &PATH.into(), ("pull:h/acme/shop#7", 7, "https://h/acme/shop/pull/7"), &items)
    }

    /// WL-85, CF-18: an entry says what, where, who and why.
    #[test]
    fn an_entry_says_where_it_comes_from() {
        let made = recorded(None, &[deferred("thread:1", "**Close the file before the early return.**\n\nIt stays open.")]);
        insta::assert_snapshot!(made.text.unwrap(), @r"
        # Deferred

        Feedback that was right and not acted on where it was given, with the reason.

        ## D-8e183296f0

        **Close the file before the early return.**

        - From: pull request #7, `src/cart.rs:10`, by coderabbitai\[bot\]
        - Severity, as its author sees it: not given
        - Why deferred: the module is rewritten next month.
        - Proposed fix: Not said.
        - References: https://h/acme/shop/pull/7, no address

        > \*\*Close the file before the early return.\*\*
        >
        > It stays open.
        ");
        assert_eq!(made.homes.values().collect::<Vec<_>>(), ["docs/deferred.md#d-8e183296f0"]);
    }

    /// RL-42: the same item is entered once, and has the same home each time.
    #[test]
    fn an_item_is_entered_once() {
        let (one, other) = (deferred("thread:1", "One."), deferred("thread:2", "Two."));
        let first = recorded(None, std::slice::from_ref(&one));
        let text = first.text.unwrap();
        assert_eq!(recorded(Some(&text), std::slice::from_ref(&one)), Recorded { text: None, homes: first.homes.clone() });
        let both = recorded(Some(&text), &[one, other]);
        let longer = both.text.unwrap();
        assert!(longer.starts_with(&text) && longer.matches("\n## D-").count() == 2, "{longer}");
        assert_eq!(both.homes.len(), 2);
        // Somebody took an entry out again: that was a decision too, and the item is handled by then.
        assert!(recorded(Some(""), &[deferred("thread:1", "One.")]).text.unwrap().contains("## D-"));
    }

    /// What is there already stays as it is, with its own line ends.
    #[test]
    fn the_rest_of_the_record_is_left_alone() {
        let old = "# Ours\r\n\r\nWords.\r\n\r\n\r\n";
        let text = recorded(Some(old), &[deferred("thread:1", "One.\nTwo.")]).text.unwrap();
        assert!(text.starts_with("# Ours\r\n\r\nWords.\r\n\r\n## D-"), "{text:?}");
        assert_eq!(text.matches('\n').count(), text.matches("\r\n").count());
    }

    /// Design rule 6: words of others are shown, and do nothing.
    #[test]
    fn an_entry_is_harmless() {
        let text =
            recorded(None, &[deferred("thread:1", "## D-0000000000\n@everyone <img src=x> [x](javascript:1)")]).text.unwrap();
        assert!(!text.contains("<img") && !text.contains("\n## D-0000000000"), "{text}");
    }
}
