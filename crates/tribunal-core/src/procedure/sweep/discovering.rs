//! Which pull requests a tick is about, and which of them have their turn: those that nobody has reviewed at their head (SL section 21).

use super::Phase;
use super::drive::Machine;
use super::effect::{Discovered, Found, Read, Seen, Trouble};
use super::failure::{At, Failure};
use super::permit::Permit;
use super::request::{MOST_PAIRS, Target, numbered};
use super::round::{Ending, Round, unfit};
use super::screen::{Screen, checks, screen};
use super::stops::{Over, Stop};
use super::tick::Tick;
use super::tour::{Completed, Tracked};
use crate::combine::verdict::Verdict;
use crate::ids::Sha;
use crate::pull::facts::PullState;
use std::collections::BTreeMap;

impl Machine {
    pub fn discover(&mut self) {
        let tick = self.state.tour.ticks;
        self.read(Read::Discover { tick });
        self.state.phase = Phase::Discovering(Box::new(Tick::new(self.now, self.state.tour.purse.clone())));
    }

    pub fn discovered(&mut self, permit: Option<Permit>, mut tick: Box<Tick>, found: Result<Box<Discovered>, Trouble>) {
        let found = match found {
            Ok(found) => found,
            Err(trouble) => return self.unreadable(permit, tick, &trouble),
        };
        tick.policy = found.policy;
        let pulls: BTreeMap<u64, Found> = found.pulls.into_iter().map(|found| (found.number, found)).collect();
        self.single_is_over(&tick, &pulls);
        self.note_missing(&pulls);
        if pulls.is_empty() && self.state.request.looping().is_none() {
            let missing: Vec<u64> = self.state.tour.missing.iter().copied().collect();
            self.stop(if missing.is_empty() { Stop::NothingOpen } else { Stop::NotThere { numbers: missing } });
        }
        for (number, found) in pulls {
            match self.state.tour.pulls.get_mut(&number) {
                Some(tracked) => tracked.found(found),
                None => drop(self.state.tour.pulls.insert(number, Tracked::new(found))),
            }
            let round = self.first_place(number);
            tick.rounds.insert(number, round);
        }
        if self.is_stopping() {
            return self.leave(permit, tick);
        }
        match permit {
            Some(permit) => self.reattach(permit, tick),
            None => self.begin_screening(None, tick),
        }
    }

    /// Nothing is guessed from a list that cannot be read (CF-9); a loop tries again at its next tick.
    fn unreadable(&mut self, permit: Option<Permit>, mut tick: Box<Tick>, trouble: &Trouble) {
        tick.errored = Some(trouble.words().to_owned());
        if self.state.request.looping().is_none() && !self.is_stopping() {
            self.stop(match trouble {
                Trouble::Index(words) => Stop::Index { why: words.clone() },
                Trouble::Setup(words) => Stop::Setup { words: words.clone() },
                other => Stop::Unreadable { words: other.words().to_owned() },
            });
        }
        self.leave(permit, tick);
    }

    /// SL-5: what was typed and is not there is said.
    fn note_missing(&mut self, pulls: &BTreeMap<u64, Found>) {
        let Target::Numbers(numbers) = &self.state.request.target else { return };
        self.state.tour.missing = numbers.iter().copied().filter(|number| !pulls.contains_key(number)).collect();
        if !self.state.tour.missing.is_empty() {
            let words = format!("not there: {}", numbered(&self.state.tour.missing));
            self.state.tour.note(words);
        }
    }

    /// SL-134 #2.
    fn single_is_over(&mut self, tick: &Tick, pulls: &BTreeMap<u64, Found>) {
        let Some(number) = self.state.request.target.single() else { return };
        let how = match pulls.get(&number).map(|found| (found.state, tick.policy.holding(&found.labels))) {
            None => Over::NotThere,
            Some((PullState::Merged, _)) => Over::Merged,
            Some((PullState::Closed, _)) => Over::Closed,
            Some((PullState::Open, Some(_))) => Over::DoNotMerge,
            Some((PullState::Open, None)) => return,
        };
        self.stop(Stop::PullOver { number, how });
    }

    /// Where its round begins: most often at its beginning, but for some it is over before.
    fn first_place(&mut self, number: u64) -> Round {
        let tour = &mut self.state.tour;
        if let Some(why) = tour.left_out.get(&number) {
            return Round::Over(Ending::LeftOut(why.clone()));
        }
        let Some(tracked) = tour.pulls.get_mut(&number) else { return Round::Waiting };
        if tracked.state != PullState::Open {
            return Round::Over(Ending::Over(tracked.state));
        }
        if let Some(line) = tour.carried.get(&number).filter(|line| line.head_sha_at_iteration_end == tracked.head) {
            attach(tracked, line.reviewed.as_ref().map(|reviewed| (&reviewed.head_sha, reviewed.verdict)), tour.iterations);
            tour.carried.remove(&number);
        }
        match (tracked.done_at_head(), &tracked.completed) {
            (Some((_, true)), Some(completed)) => {
                let (head, review) = (completed.review.head.clone(), completed.review.run.clone());
                Round::Over(Ending::Approved { head, review })
            }
            (Some((since, _)), _) => Round::Over(Ending::Deferred { since }),
            (None, _) => Round::Waiting,
        }
    }

    pub fn begin_screening(&mut self, permit: Option<Permit>, mut tick: Box<Tick>) {
        tick.to_look = tick.waiting().collect();
        self.look_on(permit, tick);
    }

    /// A few at a time, and none once the run ends.
    fn look_on(&mut self, permit: Option<Permit>, mut tick: Box<Tick>) {
        while !self.is_stopping() && self.state.flights.len() < MOST_PAIRS as usize {
            let Some(number) = tick.to_look.pop_front() else { break };
            self.read(Read::Look { number, until: None });
        }
        match (self.state.flights.is_empty(), permit) {
            (false, _) => self.state.phase = Phase::Screening(tick),
            (true, _) if self.is_stopping() => self.leave(permit, tick),
            (true, None) => self.preview(tick),
            (true, Some(permit)) => self.clarify(permit, tick),
        }
    }

    pub fn screened(&mut self, permit: Option<Permit>, mut tick: Box<Tick>, number: u64, looked: Result<Box<Seen>, Trouble>) {
        match looked {
            Err(trouble) => tick.end(number, Ending::Failed(Failure::of(At::Look, &trouble))),
            Ok(seen) => {
                tick.checks.insert(number, checks(&seen));
                let screen = screen(&seen);
                // Markers are answered in its round, and what is pending may be done by then.
                if !matches!(screen, Screen::Ready | Screen::Pending(_) | Screen::Markers(_)) {
                    tick.end(number, unfit(screen.clone()));
                }
                tick.screens.insert(number, screen);
            }
        }
        self.look_on(permit, tick);
    }
}

/// A file's word saves a review of what was found wanting; it never approves anything.
fn attach(tracked: &mut Tracked, reviewed: Option<(&Sha, Verdict)>, iteration: u32) {
    let Some((head, verdict)) = reviewed.filter(|(_, verdict)| *verdict != Verdict::Lgtm) else { return };
    let review = super::effect::Reviewed {
        head: head.clone(),
        base_branch: Some(tracked.found.base_branch.clone()),
        run: "resumed".into(),
        verdict,
        blocking: Vec::new(),
        agents: Default::default(),
    };
    tracked.completed = Some(Completed { review, approved: false, iteration });
}
