//! What must never be, judged from what was written down alone: no state of any run is believed here, nor any function of the machine.

use super::forge::Pr;
use super::history::{Event, History};
use std::collections::{BTreeMap, BTreeSet};
use tribunal_core::call::money::Money;
use tribunal_core::combine::verdict::Verdict;
use tribunal_core::gate::{Answerer, Choice, Gate, GateName};
use tribunal_core::ids::{AgentName, RunId, Sha};
use tribunal_core::merge::policy::{Confirm, MergePolicy, Wanted, When};
use tribunal_core::procedure::Millis;
use tribunal_core::procedure::sweep::effect::{Acquired, Reviewed, Stage};
use tribunal_core::procedure::sweep::report::{ReviewCell, Row, Status};
use tribunal_core::procedure::sweep::request::{Ceilings, Mode};
use tribunal_core::procedure::sweep::{Act, Effect, Order, Outcome, Read, Report, Request, Ticket};
use tribunal_core::pull::facts::{CheckState, PullState};
use tribunal_core::report::receipt::Cost;

/// What the judge knows of a run.
struct Run {
    request: Request,
    began: Millis,
    open: BTreeMap<Ticket, Order>,
    sent: BTreeSet<Ticket>,
    tick: u32,
    /// Acts of this tick for each pull request: first review, response, second review.
    rounds: BTreeMap<u64, [u32; 3]>,
    touched: BTreeSet<u64>,
    iterations: u32,
    /// Reviews that were made and said.
    reviewed: BTreeMap<RunId, Reviewed>,
    said: BTreeSet<(RunId, bool)>,
    fixers: BTreeMap<u64, BTreeSet<AgentName>>,
    heard: BTreeSet<u64>,
    /// People's words in this tick that something may be merged.
    consents: BTreeSet<(GateName, Option<u64>, Option<Sha>)>,
    ceilings: Option<Ceilings>,
    spent: Money,
    set_aside: BTreeMap<Ticket, Money>,
    merged: BTreeSet<u64>,
    stopped: Option<&'static str>,
    reports: BTreeSet<Ticket>,
    ended: bool,
}

#[derive(Default)]
pub struct Judge {
    pulls: BTreeMap<u64, Pr>,
    policy: Option<MergePolicy>,
    lock: Option<RunId>,
    runs: BTreeMap<RunId, Run>,
    pub merges: u64,
}

type Verdicts = Result<(), String>;

fn ensure(holds: bool, wrong: impl FnOnce() -> String) -> Verdicts {
    if holds { Ok(()) } else { Err(wrong()) }
}

/// All of it, and that every run came to its end.
pub fn judge(history: &History) -> Result<Judge, String> {
    let mut judge = Judge::default();
    for event in &history.0 {
        judge.hear(event)?;
    }
    for (run, known) in &judge.runs {
        ensure(known.ended, || format!("{run} has no end"))?;
        let dry = known.request.terms.dry_run;
        ensure(known.reports.len() == usize::from(!dry), || format!("{run} gave {} reports", known.reports.len()))?;
        ensure(known.open.is_empty(), || format!("{run} ended with {:?} under way", known.open))?;
    }
    Ok(judge)
}

impl Judge {
    pub fn hear(&mut self, event: &Event) -> Verdicts {
        match event {
            Event::Pull(pull) => drop(self.pulls.insert(pull.number, pull.clone())),
            Event::Policy(policy) => self.policy = Some(policy.clone()),
            Event::Lock(run) => self.lock.clone_from(run),
            Event::Began { run, at, request } => drop(self.runs.insert(run.clone(), Run::new(request, *at))),
            Event::Sent { run, at, effect } => self.run(run)?.sent(effect, *at)?,
            Event::Did { run, .. } => {
                ensure(self.lock.as_ref() == Some(run), || format!("{run} acts, and the lock is {:?}", self.lock))?;
            }
            Event::Merged { run, ticket, number, head } => {
                self.merges += 1;
                self.merged(run, *ticket, *number, head)?;
                self.run(run)?.merged.insert(*number);
            }
            Event::Came { run, ticket, outcome, .. } => self.run(run)?.came(*ticket, outcome)?,
            Event::Interrupted { run } => self.run(run)?.stopped = Some("it was interrupted"),
            Event::Ended { run, report } => self.run(run)?.ended(report)?,
        }
        Ok(())
    }

    fn run(&mut self, run: &RunId) -> Result<&mut Run, String> {
        self.runs.get_mut(run).ok_or_else(|| format!("{run} never began"))
    }

    /// CF-1, SL-169: everything that a merge rests on, as the forge has it at that moment.
    fn merged(&self, run: &RunId, ticket: Ticket, number: u64, head: &Sha) -> Verdicts {
        let pull = self.pulls.get(&number).ok_or("an unknown pull request is merged")?;
        let known = self.runs.get(run).ok_or("an unknown run merges")?;
        let policy = self.policy.as_ref().ok_or("there is no policy")?;
        let at = |what: &str| format!("{run} merges #{number} at {}: {what}", &head.0[32..]);
        let Some(Order::Act(Act::Merge { warrant })) = known.open.get(&ticket) else { return Err(at("nobody ordered it")) };
        let clearance = &warrant.clearance;
        ensure(self.lock.as_ref() == Some(run), || at("without the lock"))?;
        ensure(pull.head == *head && clearance.head() == head, || at("the head is another"))?;
        ensure(pull.state == PullState::Open && !pull.draft && !pull.hold, || at("it is not to be merged"))?;
        ensure(!pull.markers && !pull.conflicts, || at("it is in conflict"))?;
        ensure(matches!(pull.checks, CheckState::Success | CheckState::Skipped), || at("its checks are not green"))?;
        for on in &pull.after {
            let done = self.pulls.get(on).is_some_and(|on| on.state == PullState::Merged);
            ensure(done, || at(&format!("before #{on}")))?;
        }
        let wanted = match known.request.terms.merging {
            Wanted::Asked => true,
            Wanted::AsConfigured => policy.when == When::Approved,
            Wanted::Refused => false,
        };
        ensure(wanted, || at("nobody wants it merged"))?;
        ensure(clearance.method() == policy.method, || at("in another way than the base says"))?;
        let review = known.reviewed.get(clearance.run()).ok_or_else(|| at("without a review"))?;
        ensure(review.head == *head && review.verdict == Verdict::Lgtm && review.blocking.is_empty(), || {
            at("its review is no approval")
        })?;
        ensure(known.said.contains(&(clearance.run().clone(), true)), || at("its approval was not said"))?;
        let fixers = known.fixers.get(&number);
        let own =
            review.agents.iter().any(|agent| agent.as_str() != "rules" && fixers.is_some_and(|fixers| fixers.contains(agent)));
        ensure(!own, || at("who fixed it has approved it"))?;
        let consent = |name: GateName| known.consents.contains(&(name, Some(number), Some(head.clone())));
        let asked = consent(GateName::PostFeedbackMerge) || consent(GateName::MergeOrder);
        ensure(!known.heard.contains(&number) || consent(GateName::PostFeedbackMerge), || {
            at("nobody looked again after feedback")
        })?;
        ensure(policy.confirm == Confirm::Auto || asked, || at("nobody confirmed it"))?;
        Ok(())
    }
}

impl Run {
    fn new(request: &Request, began: Millis) -> Self {
        let ceilings = match &request.terms.mode {
            Mode::Once => None,
            Mode::Loop(looping) => Some(looping.ceilings),
        };
        Run {
            request: request.clone(),
            began,
            open: BTreeMap::new(),
            sent: BTreeSet::new(),
            tick: 0,
            rounds: BTreeMap::new(),
            touched: BTreeSet::new(),
            iterations: 0,
            reviewed: BTreeMap::new(),
            said: BTreeSet::new(),
            fixers: BTreeMap::new(),
            heard: BTreeSet::new(),
            consents: BTreeSet::new(),
            ceilings,
            spent: Money::ZERO,
            set_aside: BTreeMap::new(),
            merged: BTreeSet::new(),
            stopped: None,
            reports: BTreeSet::new(),
            ended: false,
        }
    }

    fn sent(&mut self, effect: &Effect, at: Millis) -> Verdicts {
        let (ticket, run) = (effect.ticket, self.request.run.clone());
        ensure(!self.ended, || format!("{run} goes on after its end"))?;
        ensure(self.sent.insert(ticket), || format!("{run} gives a ticket twice"))?;
        self.open.insert(ticket, effect.order.clone());
        let act = match &effect.order {
            Order::Read(Read::Discover { .. } | Read::Look { .. } | Read::Rest { .. }) => {
                return ensure(self.stopped.is_none(), || format!("{run} sends {:?} although {:?}", effect.order, self.stopped));
            }
            Order::Act(act) => act,
        };
        ensure(!self.request.terms.dry_run, || format!("{run} is a dry run, and sends {act:?}"))?;
        let last = matches!(act, Act::Export { .. } | Act::Report { .. } | Act::Release { .. });
        ensure(last || self.stopped.is_none(), || format!("{run} sends {act:?} although {:?}", self.stopped))?;
        match act {
            Act::Acquire { tick, .. } if *tick != self.tick => {
                self.tick = *tick;
                self.rounds.clear();
                self.consents.clear();
            }
            Act::Review { number, stage, without, allowance, .. } => {
                let place = match stage {
                    Stage::First => Some(0),
                    Stage::Second => Some(2),
                    Stage::Updated => None,
                };
                let fixers = self.fixers.get(number).cloned().unwrap_or_default();
                ensure(fixers.is_subset(without), || format!("{run} lets {fixers:?} review #{number}, which they fixed"))?;
                if let Some(place) = place {
                    self.in_round(*number, place, at)?;
                }
                self.pay(ticket, *allowance)?;
            }
            Act::Respond { number, allowance, .. } => {
                self.in_round(*number, 1, at)?;
                self.pay(ticket, *allowance)?;
            }
            Act::Merge { .. } => {
                let merges = self.open.values().filter(|order| matches!(order, Order::Act(Act::Merge { .. }))).count();
                ensure(merges == 1, || format!("{run} merges two at once"))?;
                let rounds = self.open.values().any(|order| {
                    matches!(order, Order::Act(Act::Review { stage: Stage::First | Stage::Second, .. } | Act::Respond { .. }))
                });
                ensure(!rounds, || format!("{run} merges while rounds are under way"))?;
            }
            Act::Report { .. } => {
                self.reports.insert(ticket);
            }
            _ => {}
        }
        let working = self.open.values().filter(|order| {
            matches!(order, Order::Act(Act::Review { .. } | Act::Respond { .. } | Act::Conclude { .. } | Act::Remains { .. }))
        });
        ensure(working.count() as u32 <= self.request.terms.pairs, || format!("{run} has more at work than pairs"))
    }

    /// SL-1: each once for a pull request and a tick, in their order; none after the time is over or over the ceiling of distinct ones.
    fn in_round(&mut self, number: u64, place: usize, at: Millis) -> Verdicts {
        let run = &self.request.run;
        let round = self.rounds.entry(number).or_default();
        round[place] += 1;
        ensure(round[place] == 1, || format!("{run} begins a second round of #{number} in tick {}", self.tick))?;
        ensure(round[..place].iter().all(|times| *times == 1), || format!("{run} skips a part of the round of #{number}"))?;
        self.touched.insert(number);
        let Some(ceilings) = self.ceilings else { return Ok(()) };
        let single = self.request.target.single().is_some();
        ensure(single || self.touched.len() as u32 <= ceilings.pulls, || format!("{run} touches too many pull requests"))?;
        // A round that was begun in time comes to its end: a look, a review, a response and what it waits for.
        let late = at.saturating_sub(self.began + ceilings.minutes * 60_000);
        ensure(late <= 30 * 60_000, || format!("{run} works {late} ms after its time"))
    }

    fn ceiling(&self) -> Option<Money> {
        match self.ceilings {
            Some(ceilings) => ceilings.dollars,
            None => self.request.plain_ceiling().0,
        }
    }

    /// Design rule 10: what is spent and set aside stays under the ceiling, at every moment.
    fn pay(&mut self, ticket: Ticket, allowance: Option<Money>) -> Verdicts {
        let run = self.request.run.clone();
        let Some(ceiling) = self.ceiling() else {
            return ensure(allowance.is_none(), || format!("{run} has no ceiling, and sets {allowance:?} aside"));
        };
        let Some(allowance) = allowance else { return Err(format!("{run} sends somebody without an allowance")) };
        self.set_aside.insert(ticket, allowance);
        let all = self.set_aside.values().copied().fold(self.spent, Money::plus);
        ensure(all <= ceiling, || format!("{run} has {all} of {ceiling} spent and set aside"))
    }

    fn came(&mut self, ticket: Ticket, outcome: &Outcome) -> Verdicts {
        let run = self.request.run.clone();
        let Some(order) = self.open.remove(&ticket) else {
            return Err(format!("{run} is told what it did not ask: {outcome:?}"));
        };
        match (&order, outcome) {
            (Order::Act(Act::Ask { gate }), Outcome::Answered(answer)) => self.answered(gate, answer),
            (Order::Act(Act::Acquire { .. }), Outcome::Acquired(Acquired::Got { .. })) => {
                self.iterations += 1;
                let most = self.ceilings.map_or(1, |ceilings| ceilings.iterations);
                // One more may be entered, to find out that it is the last.
                ensure(self.iterations <= most + 1, || format!("{run} has {} iterations", self.iterations))?;
            }
            (Order::Act(Act::Review { .. }), Outcome::Reviewed { said, effort }) => {
                self.paid(ticket, effort.spend.cost)?;
                if let Ok(review) = said {
                    self.reviewed.insert(review.run.clone(), (**review).clone());
                }
            }
            (Order::Act(Act::Respond { number, .. }), Outcome::Responded { said, effort }) => {
                self.paid(ticket, effort.spend.cost)?;
                if let Ok(response) = said {
                    if response.head.is_some() {
                        self.fixers.entry(*number).or_default().extend(response.agents.clone());
                    }
                    if !response.people.is_empty() {
                        self.heard.insert(*number);
                    }
                }
            }
            (Order::Act(Act::Conclude { review, verdict, .. }), Outcome::Concluded(Ok(_))) => {
                self.said.insert((review.clone(), *verdict == Verdict::Lgtm));
            }
            _ => {}
        }
        if let Some(tribunal_core::procedure::sweep::Trouble::Displaced(_)) = outcome.trouble() {
            self.stopped = Some("it lost the lock");
        }
        Ok(())
    }

    fn answered(&mut self, gate: &Gate, answer: &tribunal_core::gate::Answer) {
        let counts =
            matches!(answer.by, Answerer::Person(_)) && answer.at <= gate.until && gate.options().contains(&answer.choice);
        if !counts {
            return;
        }
        match answer.choice {
            Choice::Stop => self.stopped = Some("somebody said stop"),
            Choice::Merge => drop(self.consents.insert((gate.name, gate.number, gate.head.clone()))),
            Choice::Raise => {
                if let (Some(ceilings), Some(raise)) = (self.ceilings.as_mut(), answer.raise) {
                    ceilings.iterations = ceilings.iterations.max(raise.iterations.unwrap_or(0));
                    ceilings.pulls = ceilings.pulls.max(raise.pulls.unwrap_or(0));
                    ceilings.minutes = ceilings.minutes.max(raise.minutes.unwrap_or(0));
                    ceilings.dollars = ceilings.dollars.map(|most| most.max(raise.dollars.unwrap_or_default()));
                }
            }
            _ => {}
        }
    }

    fn paid(&mut self, ticket: Ticket, cost: Cost) -> Verdicts {
        let allowance = self.set_aside.remove(&ticket);
        let strict = match self.ceilings {
            Some(ceilings) => ceilings.dollars_set,
            None => self.request.plain_ceiling().1,
        };
        self.spent = self.spent.plus(match cost {
            Cost::Free => Money::ZERO,
            Cost::MicroUsd(money) => money,
            Cost::Unknown if strict => allowance.unwrap_or_default(),
            Cost::Unknown => Money::ZERO,
        });
        let Some(ceiling) = self.ceiling() else { return Ok(()) };
        ensure(self.spent <= ceiling, || format!("{} has spent {} of {ceiling}", self.request.run, self.spent))
    }

    fn ended(&mut self, report: &Report) -> Verdicts {
        let run = &self.request.run;
        ensure(!self.ended, || format!("{run} ends twice"))?;
        self.ended = true;
        ensure(report.run == *run, || format!("{run} ends with the report of another"))?;
        ensure(report.conditions.iter().any(|fired| fired.name == report.stop), || {
            format!("{run} ends for no reason that held")
        })?;
        ensure(report.dry_run == self.request.terms.dry_run, || format!("{run} does not say that it only looked"))?;
        for row in &report.pulls {
            self.row(row)?;
        }
        for number in &self.merged {
            let told =
                report.pulls.iter().any(|row| row.number == *number && matches!(row.status, Status::Complete | Status::Over));
            ensure(told, || format!("{run} merged #{number}, and does not say so"))?;
        }
        // Never green without a review of everything (design rule 1).
        let unfinished = report.pulls.iter().find(|row| row.exit_code() != 0);
        let budget = matches!(report.stop.as_str(), "pr_terminal" | "nothing_open");
        ensure(report.exit_code != 0 || unfinished.is_none() || budget, || format!("{run} exits 0 over {unfinished:?}"))
    }

    /// What a report claims of a pull request was so.
    fn row(&self, row: &Row) -> Verdicts {
        let run = &self.request.run;
        let claims = |what: &str| format!("{run} says that #{} is {what}", row.number);
        let approved = self.reviewed.values().any(|review| {
            review.head == row.head && review.verdict == Verdict::Lgtm && self.said.contains(&(review.run.clone(), true))
        });
        ensure(row.status != Status::Complete || self.merged.contains(&row.number), || {
            claims("merged, and it did not merge it")
        })?;
        ensure(row.status != Status::PendingManualMerge || approved, || claims("approved, and nobody approved it"))?;
        ensure(row.review != ReviewCell::Approved || approved, || claims("approved, and nobody approved it"))
    }
}
