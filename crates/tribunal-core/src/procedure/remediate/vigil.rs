//! Waiting, look by look (WL-22 to WL-27, RL-15 to RL-24): when to look, what at, and what ends the wait.

use super::Wake;
use crate::feedback::baseline::Change;
use crate::policy::loops::{LoopKind, LoopPolicy};
use crate::procedure::Millis;

/// Every so many looks everything is read, because no forge's time stamp shows an edit, a resolution or a status.
const SWEEP: u32 = 10;
/// Two failures in a row end the wait; one may be anything (WL-26).
const MAX_FAILURES: u32 = 2;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vigil {
    poll: Millis,
    until: Millis,
    /// How long what has begun may go on; nothing: every change is told at once.
    settle: Option<Millis>,
    /// The window is counted from here and does not slide (RL-20).
    first_activity: Option<Millis>,
    /// The activity began before the wait, so no comparison shows it.
    active: bool,
    /// A reviewer says that its word is still to come (RL-24).
    running: bool,
    looks: u32,
    failures: u32,
}

/// What one look came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Glance {
    /// The cheap request showed what it showed before.
    Same,
    Saw {
        change: Change,
        running: bool,
    },
    Failed(String),
}

impl Vigil {
    pub fn new(loops: &LoopPolicy, until: Millis, active: bool, now: Millis) -> Self {
        Vigil {
            poll: loops.wait.poll.as_millis(),
            until,
            settle: (loops.kind == LoopKind::Respond).then(|| loops.wait.settle.as_millis()),
            first_activity: active.then_some(now),
            active,
            running: false,
            looks: 0,
            failures: 0,
        }
    }

    /// Has time ended the wait? Settling is asked first (RL-63).
    pub fn is_over(&self, now: Millis) -> Option<Wake> {
        let window = self.settle.unwrap_or(0);
        let settled = self.first_activity.is_some_and(|since| now >= since.saturating_add(window));
        if settled && !self.running {
            return Some(Wake::Changed(Change::Changed));
        }
        (now >= self.until).then_some(match self.first_activity {
            Some(_) => Wake::Changed(Change::Changed),
            None => Wake::TimedOut,
        })
    }

    /// Must this look read everything? The first does: an approval that is there already, or a word that came meanwhile, is not
    /// waited for.
    pub fn reads_all(&self) -> bool {
        self.looks.is_multiple_of(SWEEP)
    }

    /// Takes in a look; what is said then ends the wait.
    pub fn looked(&mut self, glance: Glance, now: Millis) -> Option<Wake> {
        self.looks = self.looks.wrapping_add(1);
        let (change, running) = match glance {
            Glance::Failed(why) => {
                self.failures += 1;
                return (self.failures >= MAX_FAILURES).then_some(Wake::Failed(why));
            }
            Glance::Same => {
                self.failures = 0;
                return None;
            }
            Glance::Saw { change, running } => (change, running),
        };
        (self.failures, self.running) = (0, running);
        match (change, self.settle) {
            // All of it was taken back: there is nothing to settle.
            (Change::Nothing, _) if !self.active => self.first_activity = None,
            (Change::Nothing, _) => {}
            (Change::Changed, Some(_)) => self.first_activity = self.first_activity.or(Some(now)),
            (other, _) => return Some(Wake::Changed(other)),
        }
        None
    }

    /// How long to sleep before the next look.
    pub fn nap(&self, now: Millis) -> Millis {
        let settles = self.first_activity.zip(self.settle).map(|(since, window)| since.saturating_add(window));
        let next = settles.filter(|_| !self.running).map_or(self.until, |at| at.min(self.until));
        self.poll.min(next.saturating_sub(now)).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::config::Config;

    const MINUTE: Millis = 60_000;

    fn vigil(kind: LoopKind, active: bool) -> Vigil {
        Vigil::new(&LoopPolicy::new(kind, &Config::default()).unwrap(), 60 * MINUTE, active, 0)
    }

    fn saw(change: Change) -> Glance {
        Glance::Saw { change, running: false }
    }

    /// WL-26, WL-107: one failed look is nothing, two in a row end the wait; a good one in between starts the count anew.
    #[test]
    fn two_failed_looks_in_a_row_end_the_wait() {
        let failed = || Glance::Failed("the forge is down".into());
        let mut vigil = vigil(LoopKind::Watch, false);
        assert_eq!(vigil.looked(failed(), 1), None);
        assert_eq!(vigil.looked(Glance::Same, 2), None);
        assert_eq!(vigil.looked(failed(), 3), None);
        assert_eq!(vigil.looked(failed(), 4), Some(Wake::Failed("the forge is down".into())));
    }

    /// WL-11, WL-24: a watch wakes at every change, silence is no change.
    #[test]
    fn a_watch_wakes_at_once() {
        let mut vigil = vigil(LoopKind::Watch, false);
        assert_eq!(vigil.looked(saw(Change::Nothing), 1), None);
        assert_eq!(vigil.looked(saw(Change::Changed), 2), Some(Wake::Changed(Change::Changed)));
        assert_eq!(vigil.is_over(60 * MINUTE), Some(Wake::TimedOut));
    }

    /// RL-15, RL-20: the window begins with the first activity and does not slide; an approval or an end is told at once.
    #[test]
    fn a_response_waits_until_it_is_quiet() {
        let mut vigil = vigil(LoopKind::Respond, false);
        assert_eq!(vigil.looked(saw(Change::Changed), MINUTE), None);
        assert_eq!(vigil.looked(saw(Change::Changed), 3 * MINUTE), None);
        assert_eq!(vigil.is_over(3 * MINUTE), None);
        assert_eq!(vigil.nap(4 * MINUTE - 1_000), 1_000);
        assert_eq!(vigil.is_over(4 * MINUTE), Some(Wake::Changed(Change::Changed)));
        let approved = Change::Approved { by: "codex".into() };
        assert_eq!(vigil.looked(saw(approved.clone()), 4 * MINUTE), Some(Wake::Changed(approved)));
    }

    /// RL-22: what was taken back settles nothing; what began before the wait cannot be taken back by it.
    #[test]
    fn what_was_taken_back_is_no_activity() {
        let mut vigil = vigil(LoopKind::Respond, false);
        vigil.looked(saw(Change::Changed), 0);
        vigil.looked(saw(Change::Nothing), MINUTE);
        assert_eq!(vigil.is_over(10 * MINUTE), None);
        let mut begun = self::vigil(LoopKind::Respond, true);
        begun.looked(saw(Change::Nothing), MINUTE);
        assert_eq!(begun.is_over(3 * MINUTE), Some(Wake::Changed(Change::Changed)));
    }

    /// RL-24 (4): while a reviewer says that it is at work nothing is settled, but time still ends the wait with what there is.
    #[test]
    fn a_running_review_is_waited_for() {
        let mut vigil = vigil(LoopKind::Respond, false);
        vigil.looked(Glance::Saw { change: Change::Changed, running: true }, 0);
        assert_eq!(vigil.is_over(10 * MINUTE), None);
        assert_eq!(vigil.nap(10 * MINUTE), 30_000);
        assert_eq!(vigil.is_over(60 * MINUTE), Some(Wake::Changed(Change::Changed)));
        vigil.looked(saw(Change::Changed), 11 * MINUTE);
        assert_eq!(vigil.is_over(11 * MINUTE), Some(Wake::Changed(Change::Changed)));
    }

    /// The first look and every tenth read everything; the others cost one request.
    #[test]
    fn most_looks_are_cheap() {
        let mut vigil = vigil(LoopKind::Watch, false);
        let reads: Vec<bool> = (0..20)
            .map(|at| {
                let all = vigil.reads_all();
                vigil.looked(Glance::Same, at);
                all
            })
            .collect();
        assert_eq!(reads.iter().filter(|all| **all).count(), 2);
        assert!(reads[0] && reads[10]);
    }
}
