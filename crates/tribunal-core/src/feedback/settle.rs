//! Waiting until reviewers have finished talking (RL-14 to RL-22), without the losses of the original: what is there when time runs
//! out is kept (RL-63), an edit replaces what it edits and a resolved thread goes away (RL-22), and a look that failed ends
//! nothing (RL-65). No clock of ours decides what is new (RL-50): an item is known by its last word.

use super::item::{Item, ItemId, Surface};
use crate::procedure::Millis;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiting {
    pub started: Millis,
    /// What was said before the wait: items with their last words.
    pub after: BTreeMap<ItemId, String>,
    pub settle_ms: Millis,
    pub timeout_ms: Millis,
    /// The window is counted from here, and does not slide (RL-20).
    pub first_activity: Option<Millis>,
    collected: BTreeMap<ItemId, Item>,
}

/// What one look at the pull request gave.
#[derive(Debug, Clone, Copy)]
pub enum Look<'a> {
    /// All items in scope, and whether a reviewer says that its review is still to come.
    Saw {
        items: &'a [Item],
        running: bool,
        /// Something new that is no item, such as a review without words.
        also: bool,
        /// Everything was read for this look. A cheap look compares a time stamp, and several words within a second share one.
        whole: bool,
    },
    Failed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tick {
    Sleep,
    /// The wait is over as far as is known: read everything once more, at once.
    ReadAll,
    Settled,
    TimedOut,
}

impl Waiting {
    pub fn new(started: Millis, after: &[Item], settle_ms: Millis, timeout_ms: Millis) -> Self {
        let after = after.iter().map(|item| (item.id.clone(), item.last_word.clone())).collect();
        Waiting { started, after, settle_ms, timeout_ms, first_activity: None, collected: BTreeMap::new() }
    }

    /// Takes in a look, then says what to do. Settling is asked before time (RL-63). Nothing ends on a look that did not read
    /// everything: the last words of a burst may not show in it.
    pub fn tick(&mut self, now: Millis, look: Look<'_>) -> Tick {
        let mut waits_for_more = false;
        let (mut is_whole, has_failed) = (true, matches!(look, Look::Failed));
        if let Look::Saw { items, running, also, whole } = look {
            is_whole = whole;
            let active = items.iter().filter(|item| self.is_activity(item)).map(|item| (item.id.clone(), item.clone())).collect();
            self.collected = active;
            waits_for_more = running;
            // When all of it was taken back there is nothing to settle, and the wait begins anew.
            self.first_activity = if self.collected.is_empty() && !also { None } else { self.first_activity.or(Some(now)) };
        }
        let settled = self.first_activity.is_some_and(|first| now.saturating_sub(first) >= self.settle_ms);
        let out_of_time = now.saturating_sub(self.started) >= self.timeout_ms;
        if (settled && !waits_for_more || out_of_time) && !is_whole {
            Tick::ReadAll
        } else if settled && !waits_for_more && !has_failed {
            Tick::Settled
        } else if out_of_time {
            Tick::TimedOut
        } else {
            Tick::Sleep
        }
    }

    /// A thread that is open counts at once, however old it is; anything else must be new (RL-19).
    fn is_activity(&self, item: &Item) -> bool {
        let is_new = self.after.get(&item.id) != Some(&item.last_word);
        item.is_open() && (is_new || matches!(item.surface, Surface::Thread { .. }))
    }

    /// What there is, in the order of names; also after time ran out (RL-17, CF-31).
    pub fn collected(&self) -> Vec<&Item> {
        self.collected.values().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::item::{Label, Voice};
    use super::super::samples::{codex, item};
    use super::*;

    const MINUTE: Millis = 60_000;

    fn thread(id: &str, body: &str) -> Item {
        item(id, &codex(), Voice::Known("codex".into()), "a.rs", 1, body)
    }

    fn comment(id: &str, word: &str) -> Item {
        Item { surface: Surface::Comment { id: id.into() }, last_word: word.into(), ..thread(id, "x") }
    }

    fn waiting(after: &[Item]) -> Waiting {
        Waiting::new(0, after, 3 * MINUTE, 120 * MINUTE)
    }

    fn saw(items: &[Item]) -> Look<'_> {
        Look::Saw { items, running: false, also: false, whole: true }
    }

    /// RL-15, RL-20: the window begins with the first activity and does not slide.
    #[test]
    fn it_settles_three_minutes_after_the_first_word() {
        let mut waiting = waiting(&[]);
        assert_eq!(waiting.tick(MINUTE, saw(&[])), Tick::Sleep);
        assert_eq!(waiting.tick(2 * MINUTE, saw(&[thread("a", "x")])), Tick::Sleep);
        assert_eq!(waiting.tick(4 * MINUTE, saw(&[thread("a", "x"), thread("b", "y")])), Tick::Sleep);
        assert_eq!(waiting.tick(5 * MINUTE, saw(&[thread("a", "x"), thread("b", "y")])), Tick::Settled);
        assert_eq!(waiting.collected().len(), 2);
    }

    /// Issue 16, 17: the last words of a burst are within the same second as those before, so the end is never told by a cheap look.
    #[test]
    fn nothing_ends_before_everything_was_read_once_more() {
        let mut waiting = Waiting::new(0, &[], MINUTE, 10 * MINUTE);
        let early = [thread("a", "x")];
        waiting.tick(0, saw(&early));
        let cheap = Look::Saw { items: &early, running: false, also: false, whole: false };
        assert_eq!(waiting.tick(MINUTE, cheap), Tick::ReadAll);
        assert_eq!(waiting.tick(MINUTE, saw(&[thread("a", "x"), thread("b", "y")])), Tick::Settled);
        assert_eq!(waiting.collected().len(), 2);
        let mut late = Waiting::new(0, &[], 20 * MINUTE, 10 * MINUTE);
        assert_eq!(late.tick(10 * MINUTE, cheap), Tick::ReadAll);
        assert_eq!(late.tick(10 * MINUTE, Look::Failed), Tick::TimedOut);
    }

    /// RL-63: settling is asked before time, and what was collected is there in both cases.
    #[test]
    fn nothing_is_lost_when_time_runs_out() {
        let mut both = Waiting::new(0, &[], MINUTE, 2 * MINUTE);
        both.tick(MINUTE, saw(&[thread("a", "x")]));
        assert_eq!(both.clone().tick(2 * MINUTE, saw(&[thread("a", "x")])), Tick::Settled);
        let mut late = Waiting::new(0, &[], 5 * MINUTE, 2 * MINUTE);
        late.tick(MINUTE, saw(&[thread("a", "x")]));
        assert_eq!(late.tick(2 * MINUTE, saw(&[thread("a", "x")])), Tick::TimedOut);
        assert_eq!(late.collected().len(), 1);
        assert_eq!(waiting(&[]).tick(120 * MINUTE, saw(&[])), Tick::TimedOut);
    }

    /// RL-22: edits are picked up, and what was resolved or deleted in the window goes.
    #[test]
    fn edits_replace_and_resolved_threads_go() {
        let mut waiting = waiting(&[]);
        waiting.tick(0, saw(&[thread("a", "x"), thread("b", "y"), thread("c", "z")]));
        let resolved = Item { label: Label::Handled, resolved: true, ..thread("b", "y") };
        waiting.tick(MINUTE, saw(&[thread("a", "edited"), resolved]));
        let bodies: Vec<&str> = waiting.collected().iter().map(|item| item.body.as_str()).collect();
        assert_eq!(bodies, ["edited"]);
        // All of it taken back: the wait begins anew.
        assert_eq!(waiting.tick(3 * MINUTE, saw(&[])), Tick::Sleep);
        assert_eq!(waiting.first_activity, None);
    }

    /// RL-19, RL-50: comments must be new by their words, not by a clock; open threads count at once.
    #[test]
    fn old_comments_are_no_activity_and_old_threads_are() {
        let before = [comment("c", "c.1"), thread("t", "x")];
        let mut waiting = waiting(&before);
        waiting.tick(0, saw(&before));
        assert_eq!(waiting.collected().iter().map(|item| item.id.0.as_str()).collect::<Vec<_>>(), ["t"]);
        waiting.tick(1, saw(&[comment("c", "c.2")]));
        assert_eq!(waiting.collected()[0].last_word, "c.2");
    }

    /// RL-65: a look that failed keeps what was collected, and time goes on.
    #[test]
    fn a_failed_look_ends_nothing() {
        let mut waiting = waiting(&[]);
        waiting.tick(0, saw(&[thread("a", "x")]));
        assert_eq!(waiting.tick(MINUTE, Look::Failed), Tick::Sleep);
        assert_eq!(waiting.collected().len(), 1);
        assert_eq!(waiting.tick(3 * MINUTE, Look::Failed), Tick::Sleep, "it may have missed the last words");
        assert_eq!(waiting.tick(4 * MINUTE, saw(&[thread("a", "x")])), Tick::Settled);
    }

    /// RL-24 (4): while a reviewer says that its word is still to come, nothing is settled; time still ends it.
    #[test]
    fn a_running_review_is_waited_for() {
        let mut waiting = Waiting::new(0, &[], MINUTE, 10 * MINUTE);
        let items = [thread("a", "x")];
        let running = Look::Saw { items: &items, running: true, also: false, whole: true };
        assert_eq!(waiting.tick(0, running), Tick::Sleep);
        assert_eq!(waiting.tick(5 * MINUTE, running), Tick::Sleep);
        assert_eq!(waiting.clone().tick(10 * MINUTE, running), Tick::TimedOut);
        assert_eq!(waiting.tick(6 * MINUTE, saw(&items)), Tick::Settled);
    }
}
