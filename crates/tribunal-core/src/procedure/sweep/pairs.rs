//! The rounds of a tick: a lane for each pair, and in each lane one pull request after the other (SL-46 to SL-48).

use super::drive::{Machine, Went};
use super::effect::{Act, Order, Outcome, Read, Ticket, Trouble};
use super::permit::Permit;
use super::purse::Grant;
use super::round::{Ending, Learnt, News, Round, Turn, Wish};
use super::screen::checks;
use super::tick::Tick;
use super::{Phase, StepError};

/// What nobody is sent for any more.
pub(super) const NO_MONEY: &str = "the cost budget is used up";

impl Machine {
    pub fn begin_rounds(&mut self, permit: Permit, mut tick: Box<Tick>) {
        tick.distribute(self.state.request.terms.pairs);
        self.keep_going(permit, tick);
    }

    /// An outcome for the round of one pull request.
    pub fn in_round(&mut self, permit: Permit, ticket: Ticket, mut tick: Box<Tick>, order: &Order, outcome: Outcome) -> Went {
        let Some((number, news)) = news(order, outcome) else { return Err(StepError::WrongAnswer(ticket.0)) };
        if let News::Looked(Ok(seen)) = &news {
            tick.checks.insert(number, checks(seen));
        }
        if let News::Reviewed(Err(Trouble::Unavailable(_))) | News::Responded(Err(Trouble::Unavailable(_))) = &news {
            // Whoever was turned away is not asked by several at once.
            tick.width = 1;
        }
        self.count_posts(&news);
        self.turn(permit, &mut tick, number, news);
        self.keep_going(permit, tick);
        Ok(())
    }

    /// SL-131: one for a review, one for each reply.
    fn count_posts(&mut self, news: &News) {
        let posts = match news {
            News::Rejected(Ok(())) | News::Concluded(Ok(_)) | News::Remained(Ok(())) => 1,
            News::Responded(Ok(response)) => response.replies,
            _ => 0,
        };
        self.state.tour.purse.comments += posts;
    }

    /// Takes a round on by what it is told, and does what it then wishes. A round that is told that there is no money wishes for
    /// something that costs none, or is over.
    fn turn(&mut self, permit: Permit, tick: &mut Tick, number: u64, news: News) {
        let Some(round) = tick.rounds.remove(&number) else { return };
        let fixers = self.state.tour.pulls.get(&number).map(|tracked| tracked.fixers.clone()).unwrap_or_default();
        let turn = round.next(news, &fixers);
        self.take(permit, tick, number, turn);
    }

    fn take(&mut self, permit: Permit, tick: &mut Tick, number: u64, turn: Turn) {
        let Turn { round, wish, learnt } = turn;
        self.learn(number, learnt);
        let over = round.ending().is_some();
        tick.rounds.insert(number, round);
        match wish {
            Some(_) if self.is_stopping() => {
                tick.end(number, Ending::NotBegun("the run ended before its round did".into()));
                free(tick, number);
            }
            Some(wish) => self.grant(permit, tick, number, wish),
            None if over => free(tick, number),
            None => {}
        }
    }

    pub fn learn(&mut self, number: u64, learnt: Option<Learnt>) {
        let iteration = self.iteration();
        if let Some(Learnt::Responded(response)) = &learnt {
            let notes: Vec<String> = response.not_acted_on.iter().map(|words| format!("PR #{number}: {words}")).collect();
            notes.into_iter().for_each(|note| self.state.tour.note(note));
        }
        if let (Some(learnt), Some(tracked)) = (learnt, self.state.tour.pulls.get_mut(&number)) {
            tracked.learn(learnt, iteration);
        }
    }

    fn grant(&mut self, permit: Permit, tick: &mut Tick, number: u64, wish: Wish) {
        let pair = tick.pair_of(number).unwrap_or(1);
        // Those who work and have nothing set aside yet will ask next.
        let others =
            tick.lanes.iter().filter(|lane| lane.current.is_some_and(|other| other != number && !self.holds_money(other)));
        let others = u32::try_from(others.count()).unwrap_or(0);
        match self.fulfil(permit, number, pair, others, &wish) {
            Grant::Go(_) => {}
            Grant::Wait => {
                if let Some(lane) = tick.lane_of(number) {
                    lane.parked = Some(wish);
                }
            }
            Grant::Refused => self.turn(permit, tick, number, News::NoMoney(NO_MONEY.to_owned())),
        }
    }

    fn holds_money(&self, number: u64) -> bool {
        self.state.flights.values().any(|flight| flight.reserved.micros > 0 && flight.order.number() == Some(number))
    }

    /// Sends what is wished for, if there is money for it.
    pub fn fulfil(&mut self, permit: Permit, number: u64, pair: u32, others: u32, wish: &Wish) -> Grant {
        match wish.clone() {
            Wish::Look => {
                let until = self.checks_until();
                self.read(Read::Look { number, until });
            }
            Wish::Reject { head, markers } => drop(self.act(permit, Act::Reject { number, head, markers })),
            Wish::Conclude { head, review, verdict } => {
                self.act(permit, Act::Conclude { number, head, review, verdict });
            }
            Wish::Remains { head, items } => drop(self.act(permit, Act::Remains { number, head, items })),
            Wish::Review { head, stage } => {
                let without = self.state.tour.pulls.get(&number).map(|tracked| tracked.fixers.clone()).unwrap_or_default();
                return self.pay(permit, others, |allowance| Act::Review { number, head, stage, pair, without, allowance });
            }
            Wish::Respond { head, review, without } => {
                return self.pay(permit, others, |allowance| Act::Respond { number, head, review, pair, without, allowance });
            }
        }
        Grant::Go(None)
    }

    /// Those that wait for money first, then the next ones; when nobody has anything left to do, the merges.
    fn keep_going(&mut self, permit: Permit, mut tick: Box<Tick>) {
        for at in 0..tick.lanes.len() {
            let lane = &mut tick.lanes[at];
            let (Some(number), Some(wish)) = (lane.current, lane.parked.take()) else { continue };
            if self.is_stopping() {
                tick.end(number, Ending::NotBegun("the run ended before its round did".into()));
                free(&mut tick, number);
            } else {
                self.grant(permit, &mut tick, number, wish);
            }
        }
        while let Some(at) = self.idle_lane(&tick) {
            self.begin_next(permit, &mut tick, at);
        }
        if tick.lanes.iter().any(|lane| lane.current.is_some()) {
            self.state.phase = Phase::Rounds(tick);
        } else {
            self.gather(permit, tick);
        }
    }

    fn idle_lane(&self, tick: &Tick) -> Option<usize> {
        let busy = tick.lanes.iter().filter(|lane| lane.current.is_some()).count();
        let idle = tick.lanes.iter().position(|lane| lane.current.is_none() && !lane.queue.is_empty());
        idle.filter(|_| busy < tick.width.max(1))
    }

    fn begin_next(&mut self, permit: Permit, tick: &mut Tick, at: usize) {
        let Some(number) = tick.lanes[at].queue.pop_front() else { return };
        if let Some(why) = self.not_begun(number) {
            return tick.end(number, Ending::NotBegun(why));
        }
        self.state.tour.touched.insert(number);
        tick.lanes[at].current = Some(number);
        let Some(round) = tick.rounds.remove(&number) else { return };
        self.take(permit, tick, number, round.begin());
    }

    /// Why the next one has to wait for another run.
    fn not_begun(&self, number: u64) -> Option<String> {
        let tour = &self.state.tour;
        if self.is_stopping() {
            return Some("the run ended before its turn".into());
        }
        if self.state.is_out_of_time(self.now) {
            return Some("the time of the run is over".into());
        }
        let ceilings = tour.ceilings.filter(|_| self.state.request.target.single().is_none())?;
        let full = tour.touched.len() as u64 >= u64::from(ceilings.pulls) && !tour.touched.contains(&number);
        full.then(|| format!("the ceiling of {} pull requests is reached", ceilings.pulls))
    }
}

/// Its pair may take the next one.
fn free(tick: &mut Tick, number: u64) {
    if let Some(lane) = tick.lane_of(number) {
        lane.current = None;
        lane.parked = None;
    }
}

fn news(order: &Order, outcome: Outcome) -> Option<(u64, News)> {
    let number = order.number()?;
    let news = match (order, outcome) {
        (Order::Read(Read::Look { .. }), Outcome::Looked(looked)) => News::Looked(looked),
        (Order::Act(Act::Reject { .. }), Outcome::Rejected(rejected)) => News::Rejected(rejected),
        (Order::Act(Act::Review { .. }), Outcome::Reviewed { said, .. }) => News::Reviewed(said),
        (Order::Act(Act::Conclude { .. }), Outcome::Concluded(concluded)) => News::Concluded(concluded),
        (Order::Act(Act::Respond { .. }), Outcome::Responded { said, .. }) => News::Responded(said),
        (Order::Act(Act::Remains { .. }), Outcome::Remained(remained)) => News::Remained(remained),
        _ => return None,
    };
    Some((number, news))
}

impl Order {
    /// The pull request that it is about.
    pub fn number(&self) -> Option<u64> {
        match self {
            Order::Read(Read::Look { number, .. })
            | Order::Act(
                Act::Reject { number, .. }
                | Act::Review { number, .. }
                | Act::Conclude { number, .. }
                | Act::Respond { number, .. }
                | Act::Remains { number, .. }
                | Act::Update { number, .. }
                | Act::Hold { number, .. }
                | Act::Epics { number }
                | Act::Sync { number },
            ) => Some(*number),
            Order::Act(Act::Merge { warrant }) => Some(warrant.clearance.number()),
            Order::Act(Act::Ask { gate }) => gate.number,
            Order::Read(Read::Discover { .. } | Read::Rest { .. })
            | Order::Act(Act::Acquire { .. } | Act::Export { .. } | Act::Report { .. } | Act::Release { .. }) => None,
        }
    }
}

impl Round {
    /// Nothing about it can change any more in this tick.
    pub fn is_over(&self) -> bool {
        self.ending().is_some()
    }
}
