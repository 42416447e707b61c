//! The larger work that a merge belongs to (SL-70, TS-105): closed when and only when every story of it is closed, and there is one.
//! What cannot be read leaves it open, with a warning (SL-103, SL-172).

use super::words::{counted, listed};
use crate::plan::links::{part_of, task_list};
use crate::publish::visible::visible_line;
use crate::pull::facts::Issue;
use crate::pull::told::Told;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How far up the chain of parents anything is carried.
pub const MAX_CHAIN: usize = 10;

/// The epics that a description names, in its order. None is no error (SL-104).
pub fn parents(body: &str, keyword: &str, own_number: u64) -> Vec<u64> {
    part_of(body, keyword).into_iter().filter(|number| *number != own_number).collect()
}

/// A piece of an epic.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Story {
    pub number: u64,
    pub open: Told<bool>,
}

/// What was found out about an epic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Epic {
    pub issue: Issue,
    /// Issues and open pull requests that say that they are part of it, and its sub-issues where the forge has such.
    pub children: Told<Vec<Story>>,
    /// The state of each issue that its task list names.
    pub listed: BTreeMap<u64, Told<bool>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "end", rename_all = "kebab-case")]
pub enum EpicEnd {
    /// All stories are closed: close it, with this comment.
    Close {
        stories: Vec<u64>,
        comment: String,
    },
    /// Somebody closed it before.
    Closed,
    StaysOpen {
        reason: String,
    },
    /// Left open, and somebody should look.
    Warning {
        reason: String,
    },
}

/// The numbers in an epic's task list whose state has to be asked for.
pub fn listed_stories(epic: &Issue) -> Vec<u64> {
    let mut numbers: Vec<u64> = task_list(&epic.body).into_iter().filter_map(|entry| entry.issue).collect();
    numbers.retain(|number| *number != epic.number);
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

/// Does an issue or a pull request say that it is part of an epic? A search finds more than was asked for.
pub fn belongs(body: &str, keyword: &str, epic: u64) -> bool {
    part_of(body, keyword).contains(&epic)
}

/// Closes it or leaves it open.
pub fn end(epic: &Epic) -> EpicEnd {
    if !epic.issue.open {
        return EpicEnd::Closed;
    }
    let number = epic.issue.number;
    let warning = |reason: String| EpicEnd::Warning { reason: format!("#{number} is left open: {reason}") };
    let children = match &epic.children {
        Told::Unknown(because) => return warning(format!("its stories could not be read ({})", visible_line(because))),
        Told::Is(children) => children,
    };
    let mut stories: BTreeMap<u64, Told<bool>> =
        children.iter().map(|story| (story.number, story.open.clone())).filter(|(story, _)| *story != number).collect();
    for story in listed_stories(&epic.issue) {
        let open = epic.listed.get(&story).cloned().unwrap_or_else(|| Told::Unknown("it was not asked for".into()));
        stories.entry(story).or_insert(open);
    }
    let unread = stories.iter().find_map(|(story, open)| match open {
        Told::Unknown(because) => Some((story, because)),
        Told::Is(_) => None,
    });
    if let Some((story, because)) = unread {
        return warning(format!("the story #{story} could not be read ({})", visible_line(because)));
    }
    let open: Vec<u64> = stories.iter().filter(|(_, open)| **open == Told::Is(true)).map(|(story, _)| *story).collect();
    // A box without a number is work, too.
    let unticked = task_list(&epic.issue.body).iter().filter(|entry| entry.issue.is_none() && !entry.ticked).count();
    let plain =
        (unticked > 0).then(|| counted(unticked, "entry of its list without a number", "entries of its list without numbers"));
    let still: Vec<String> = open.iter().map(|story| format!("#{story}")).chain(plain).collect();
    if !still.is_empty() {
        return EpicEnd::StaysOpen { reason: format!("#{number} stays open: {} still open", listed(still)) };
    }
    if stories.is_empty() {
        return EpicEnd::StaysOpen { reason: format!("#{number} stays open: no story of it was found") };
    }
    let stories: Vec<u64> = stories.into_keys().collect();
    let names = stories.iter().map(|story| format!("#{story}")).collect::<Vec<_>>().join(", ");
    EpicEnd::Close { comment: format!("All stories are done: {names}."), stories }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feedback::samples::person;
    use proptest::prelude::*;

    fn epic(body: &str, children: &[(u64, bool)]) -> Epic {
        let issue = Issue {
            number: 40,
            title: "The shop".into(),
            body: body.into(),
            author: person("ann"),
            open: true,
            labels: vec![],
            url: String::new(),
            assignees: vec![],
            created_at: String::new(),
            updated_at: String::new(),
            closed_at: None,
        };
        let children = children.iter().map(|(number, open)| Story { number: *number, open: Told::Is(*open) }).collect();
        Epic { issue, children: Told::Is(children), listed: BTreeMap::new() }
    }

    /// SL-70: all closed, and it is closed with a comment that says so.
    #[test]
    fn an_epic_is_closed_with_its_last_story() {
        let EpicEnd::Close { stories, comment } = end(&epic("", &[(41, false), (42, false)])) else { panic!("is not closed") };
        assert_eq!(stories, [41, 42]);
        assert_eq!(comment, "All stories are done: #41, #42.");
    }

    /// SL-172: never with an open story; and never without any.
    #[test]
    fn an_open_story_keeps_it_open() {
        let open = end(&epic("", &[(41, false), (42, true)]));
        assert_eq!(open, EpicEnd::StaysOpen { reason: "#40 stays open: #42 still open".into() });
        assert!(matches!(end(&epic("", &[])), EpicEnd::StaysOpen { .. }));
        assert!(matches!(end(&epic("- [ ] write the docs", &[(41, false)])), EpicEnd::StaysOpen { .. }));
        assert!(matches!(end(&epic("- [x] write the docs", &[(41, false)])), EpicEnd::Close { .. }));
        let closed = Epic { issue: Issue { open: false, ..epic("", &[]).issue }, ..epic("", &[(41, true)]) };
        assert_eq!(end(&closed), EpicEnd::Closed);
    }

    /// SL-70: its own task list counts, and the issue's state counts, not the box.
    #[test]
    fn stories_of_the_task_list_count() {
        let mut listing = epic("- [x] #41\n- [ ] #42", &[]);
        assert!(matches!(end(&listing), EpicEnd::Warning { .. }), "nobody asked for their state");
        listing.listed = [(41, Told::Is(false)), (42, Told::Is(false))].into();
        assert!(matches!(end(&listing), EpicEnd::Close { .. }));
        listing.listed = [(41, Told::Is(true)), (42, Told::Is(false))].into();
        assert!(matches!(end(&listing), EpicEnd::StaysOpen { .. }));
    }

    /// SL-103: what cannot be read leaves it open, with a warning.
    #[test]
    fn what_cannot_be_read_leaves_it_open() {
        let unread = Epic { children: Told::Unknown("HTTP 502".into()), ..epic("", &[]) };
        assert_eq!(
            end(&unread),
            EpicEnd::Warning { reason: "#40 is left open: its stories could not be read (HTTP 502)".into() }
        );
        let one = Epic { children: Told::Is(vec![Story { number: 41, open: Told::Unknown("gone".into()) }]), ..epic("", &[]) };
        assert!(matches!(end(&one), EpicEnd::Warning { .. }));
    }

    /// SL-104: no parent is no error; one is not its own parent.
    #[test]
    fn parents_are_read_from_the_description() {
        assert_eq!(parents("Part of #40", "Part of", 7), [40]);
        assert_eq!(parents("Part of #7", "Part of", 7), Vec::<u64>::new());
        assert_eq!(parents("nothing", "Part of", 7), Vec::<u64>::new());
        assert!(belongs("Part of #40", "Part of", 40) && !belongs("Part of #400", "Part of", 40));
    }

    proptest! {
        /// SL-172, for every mix of stories.
        #[test]
        fn closed_only_when_every_story_is(states in prop::collection::vec(0u8..3, 0..6), box_state in 0u8..3) {
            let body = ["", "- [ ] #99", "- [ ] more"][usize::from(box_state)];
            let mut given = epic(body, &[]);
            let told = |state: &u8| match state { 0 => Told::Is(false), 1 => Told::Is(true), _ => Told::Unknown("?".into()) };
            given.children = Told::Is((50u64..).zip(&states).map(|(number, state)| Story { number, open: told(state) }).collect());
            given.listed = [(99, Told::Is(false))].into();
            let any = !states.is_empty() || box_state == 1;
            let may = any && states.iter().all(|state| *state == 0) && box_state != 2;
            prop_assert_eq!(matches!(end(&given), EpicEnd::Close { .. }), may);
        }
    }
}
