//! Does what a run asks for, as its host would: looks before it writes, does nothing twice, and fails now and then.

use super::cast::{Responder, Reviewer};
use super::forge::Deed;
use super::history::Event;
use super::world::{Process, World};
use std::collections::{BTreeSet, VecDeque};
use tribunal_core::call::money::Money;
use tribunal_core::call::usage::Usage;
use tribunal_core::combine::verdict::Verdict;
use tribunal_core::gate::{Answer, Answerer, Choice, Gate, Raise};
use tribunal_core::ids::{AgentName, RunId, Sha};
use tribunal_core::merge::epic::EpicEnd;
use tribunal_core::merge::hold::joined;
use tribunal_core::procedure::Millis;
use tribunal_core::procedure::review::Spend;
use tribunal_core::procedure::sweep::effect::{
    Acquired, Concluded, Discovered, Effort, How, Merged, Remaining, Responded, Reviewed, Updated,
};
use tribunal_core::procedure::sweep::lock::{Decision, Found, Hold, Holder, Life, POLL, Skill, decide, hold, lets_go};
use tribunal_core::procedure::sweep::merging::Warrant;
use tribunal_core::procedure::sweep::request::{Request, Target};
use tribunal_core::procedure::sweep::{Act, Effect, Order, Outcome, Read, Ticket, Trouble};
use tribunal_core::pull::facts::{CheckState, PullState};
use tribunal_core::pull::talk::ReviewEvent;
use tribunal_core::report::receipt::Cost;

pub const REVIEWER: &str = "claude";
pub const FIXER: &str = "codex";

/// Nothing: it is not through yet, and is asked again later.
pub fn run(world: &mut World, me: &Process, request: &Request, effect: &Effect) -> Option<Outcome> {
    if let Some(planned) = world.planned.get_mut(&name(effect)).and_then(VecDeque::pop_front) {
        return Some(planned);
    }
    match &effect.order {
        Order::Read(read) => look(world, request, read),
        Order::Act(Act::Acquire { how, .. }) => acquire(world, me, how),
        Order::Act(act) => Some(perform(world, me, effect.ticket, act)),
    }
}

/// `review 7`, for people who write tests.
pub fn name(effect: &Effect) -> String {
    let key = effect.key(&RunId::from("run"));
    let word = key.as_str().rsplit('/').next().unwrap_or_default().to_owned();
    effect.order.number().map_or(word.clone(), |number| format!("{word} {number}"))
}

fn look(world: &mut World, request: &Request, read: &Read) -> Option<Outcome> {
    match read {
        Read::Discover { .. } => {
            world.pass_time(500);
            if world.happens(|odds| odds.index) {
                return Some(Outcome::Discovered(Err(Trouble::Index("no answer".into()))));
            }
            if world.happens(|odds| odds.read_fails) {
                return Some(Outcome::Discovered(Err(Trouble::Forge("HTTP 502".into()))));
            }
            let forge = &world.forge;
            let belongs = |number: u64, state: PullState| match &request.target {
                Target::Numbers(numbers) => numbers.contains(&number),
                Target::One(one) => *one == number,
                Target::Open | Target::Spec(_) | Target::Label(_) | Target::Search(_) => state == PullState::Open,
            };
            let pulls = forge.pulls.values().filter(|pull| belongs(pull.number, pull.state));
            let pulls = pulls.map(|pull| forge.found(pull)).collect();
            Some(Outcome::Discovered(Ok(Box::new(Discovered { pulls, policy: forge.policy.clone() }))))
        }
        Read::Look { number, until } => {
            world.pass_time(300);
            if world.happens(|odds| odds.read_fails) {
                return Some(Outcome::Looked(Err(Trouble::Forge("HTTP 502".into()))));
            }
            let pull = world.forge.pulls.get(number)?.clone();
            let waits = pull.checks == CheckState::Pending && until.is_some_and(|until| world.now() < until);
            if waits {
                world.pass_time(20_000);
                return None;
            }
            Some(Outcome::Looked(Ok(Box::new(world.forge.seen(&pull)))))
        }
        Read::Rest { until } => {
            if world.now() < *until && !world.interrupted.contains(&request.run) {
                let left = until - world.now();
                world.pass_time(left.min(60_000));
                return None;
            }
            Some(Outcome::Rested)
        }
    }
}

fn found(world: &World) -> Found {
    match &world.forge.lock {
        None => Found::Nothing,
        Some(holder) => {
            let life = if world.alive.contains(&holder.pid) { Life::Alive } else { Life::Dead };
            Found::Lock(Box::new(holder.clone()), life)
        }
    }
}

fn acquire(world: &mut World, me: &Process, how: &How) -> Option<Outcome> {
    world.pass_time(10);
    let seize = match how {
        How::Seize { holder } => Some(&**holder),
        How::Once | How::Wait { .. } => None,
    };
    let acquired = match decide(found(world), &me.run, seize) {
        Decision::Take { reaped } => {
            let mine = mine(world, me);
            world.forge.set_lock(Some(mine));
            Acquired::Got { reaped, note: None }
        }
        Decision::Keep => {
            let mine = mine(world, me);
            world.forge.set_lock(Some(mine));
            Acquired::Got { reaped: None, note: None }
        }
        Decision::Fail(words) => Acquired::Failed(words),
        Decision::Busy { holder, note } => match how {
            How::Wait { until } if world.now() < *until && !world.interrupted.contains(&me.run) => {
                world.pass_time(POLL);
                return None;
            }
            How::Wait { .. } => Acquired::TimedOut { holder },
            How::Once | How::Seize { .. } => Acquired::Busy { holder, note },
        },
    };
    Some(Outcome::Acquired(acquired))
}

fn mine(world: &World, me: &Process) -> Holder {
    Holder {
        pid: me.pid,
        iteration: 1,
        started_at: world.now().to_string(),
        skill: Skill::Review,
        run: Some(me.run.clone()),
        process: None,
    }
}

/// Before each act: is the lock still ours?
fn displaced(world: &mut World, me: &Process) -> Option<Trouble> {
    match hold(&found(world), &me.run, me.pid, None) {
        Hold::Ours => None,
        Hold::Refresh => {
            let mine = mine(world, me);
            world.forge.set_lock(Some(mine));
            None
        }
        Hold::Lost(words) => Some(Trouble::Displaced(words)),
    }
}

/// What keeps an act from being done: somebody else has the lock, or the forge is out of order.
fn hindered(world: &mut World, me: &Process) -> Option<Trouble> {
    if let Some(trouble) = displaced(world, me) {
        return Some(trouble);
    }
    world.happens(|odds| odds.act_fails).then(|| Trouble::Forge("HTTP 503".into()))
}

fn did(world: &mut World, me: &Process, ticket: Ticket) {
    world.forge.history.0.push(Event::Did { run: me.run.clone(), ticket });
}

fn perform(world: &mut World, me: &Process, ticket: Ticket, act: &Act) -> Outcome {
    match act {
        Act::Acquire { .. } => Outcome::Acquired(Acquired::Failed("it is taken elsewhere".into())),
        Act::Ask { gate } => Outcome::Answered(answer(world, &me.run, gate)),
        Act::Review { number, head, allowance, without, .. } => {
            let (said, effort) = review(world, me, ticket, *number, head, without, *allowance);
            Outcome::Reviewed { said: said.map(Box::new), effort }
        }
        Act::Respond { number, head, allowance, .. } => {
            let (said, effort) = respond(world, me, ticket, *number, head, *allowance);
            Outcome::Responded { said: said.map(Box::new), effort }
        }
        Act::Reject { .. } => Outcome::Rejected(post(world, me, ticket)),
        Act::Conclude { .. } => {
            let event = ReviewEvent::Comment;
            Outcome::Concluded(post(world, me, ticket).map(|()| Concluded { event, url: String::new() }))
        }
        Act::Remains { .. } => Outcome::Remained(post(world, me, ticket)),
        Act::Update { number, head } => Outcome::Updated(update(world, me, ticket, *number, head)),
        Act::Merge { warrant } => Outcome::Merged(merge(world, me, ticket, warrant)),
        Act::Hold { number, head, holds } => {
            let posted = post(world, me, ticket);
            if posted.is_ok()
                && let Some(pull) = world.forge.pulls.get_mut(number)
            {
                pull.holds = joined(std::mem::take(&mut pull.holds), holds.clone(), head);
            }
            Outcome::Held(posted)
        }
        Act::Epics { number } => {
            world.pass_time(200);
            Outcome::Epics(vec![(200 + number % 2, EpicEnd::StaysOpen { reason: "a story is open".into() })])
        }
        Act::Sync { .. } => Outcome::Synced(if world.happens(|odds| odds.index) { Err("no answer".into()) } else { Ok(()) }),
        Act::Export { .. } => {
            Outcome::Exported(if world.happens(|odds| odds.act_fails) { Err("disk full".into()) } else { Ok(()) })
        }
        Act::Report { .. } => Outcome::Reported,
        Act::Release { .. } => {
            if lets_go(&found(world), &me.run) {
                world.forge.set_lock(None);
            }
            Outcome::Released
        }
    }
}

fn post(world: &mut World, me: &Process, ticket: Ticket) -> Result<(), Trouble> {
    world.pass_time(400);
    if let Some(trouble) = hindered(world, me) {
        return Err(trouble);
    }
    did(world, me, ticket);
    Ok(())
}

fn effort(world: &mut World, allowance: Option<Money>) -> Effort {
    let most = allowance.map_or(world.cast.price, |allowance| allowance.micros.min(world.cast.price));
    let cost = match (world.cast.unknown_prices, world.chance.below(most + 1)) {
        (true, _) => Cost::Unknown,
        (false, _) if world.cast.exact => Cost::MicroUsd(Money::micros(most)),
        (false, 0) => Cost::Free,
        (false, micros) => Cost::MicroUsd(Money::micros(micros)),
    };
    let usage = Usage { input: 100, output: 10, ..Usage::default() };
    Effort { spend: Spend { calls: 1, usage, cost }, agents: 1 }
}

fn review(
    world: &mut World,
    me: &Process,
    ticket: Ticket,
    number: u64,
    head: &Sha,
    without: &BTreeSet<AgentName>,
    allowance: Option<Money>,
) -> (Result<Reviewed, Trouble>, Effort) {
    if let Some(trouble) = displaced(world, me) {
        return (Err(trouble), Effort::default());
    }
    if let Some(Deed::Review(review)) = world.forge.deeds.get(&(me.run.clone(), ticket)) {
        return (Ok(review.clone()), Effort::default());
    }
    if world.cast.exact && allowance.is_some_and(|allowance| allowance.micros < world.cast.price) {
        return (Err(Trouble::OverBudget("the next call does not fit".into())), Effort::default());
    }
    let effort = effort(world, allowance);
    world.pass_time(60_000);
    if world.happens(|odds| odds.unavailable) {
        return (Err(Trouble::Unavailable("quota".into())), Effort::default());
    }
    let reviewer = world.cast.reviewer;
    if reviewer == Reviewer::Fails && world.chance.per_cent(40) {
        return (Err(Trouble::Incomplete("a role did not answer".into())), effort);
    }
    let Some(pull) = world.forge.pulls.get(&number).cloned() else { return (Err(Trouble::HeadMoved), effort) };
    if pull.head != *head && reviewer != Reviewer::Astray {
        return (Err(Trouble::HeadMoved), effort);
    }
    let bugs = if reviewer == Reviewer::Harsh { 1 } else { pull.bugs };
    let remaining = |at: u32| Remaining { name: format!("F{at}"), priority: None, place: "a.rs:1".into(), words: "a bug".into() };
    let verdict = match (reviewer, bugs) {
        (Reviewer::Contradicts, _) | (_, 0) => Verdict::Lgtm,
        (Reviewer::Blocks, _) => Verdict::Blocked,
        _ => Verdict::Major,
    };
    let mut agents: BTreeSet<AgentName> = BTreeSet::from([REVIEWER.into(), "rules".into()]);
    if reviewer == Reviewer::Partial && !without.is_empty() && world.chance.per_cent(50) {
        agents.insert(FIXER.into());
    }
    let read = if reviewer == Reviewer::Astray && world.chance.per_cent(30) { Sha("f".repeat(40)) } else { pull.head };
    let run = RunId(format!("{}-review-{}", me.run, ticket.0));
    let base_branch = Some("main".to_owned());
    let review = Reviewed { head: read, base_branch, run, verdict, blocking: (0..bugs).map(remaining).collect(), agents };
    did(world, me, ticket);
    world.forge.reviews.insert(number, review.clone());
    world.forge.deeds.insert((me.run.clone(), ticket), Deed::Review(review.clone()));
    (Ok(review), effort)
}

fn respond(
    world: &mut World,
    me: &Process,
    ticket: Ticket,
    number: u64,
    head: &Sha,
    allowance: Option<Money>,
) -> (Result<Responded, Trouble>, Effort) {
    if let Some(trouble) = displaced(world, me) {
        return (Err(trouble), Effort::default());
    }
    if let Some(Deed::Response(response)) = world.forge.deeds.get(&(me.run.clone(), ticket)) {
        return (Ok(response.clone()), Effort::default());
    }
    let effort = effort(world, allowance);
    world.pass_time(90_000);
    if let Some(trouble) = hindered(world, me) {
        return (Err(trouble), effort);
    }
    let Some(pull) = world.forge.pulls.get(&number).cloned() else { return (Err(Trouble::HeadMoved), effort) };
    if pull.head != *head || pull.state != PullState::Open {
        return (Err(Trouble::HeadMoved), effort);
    }
    let left = |words: &str| Remaining { name: "F9".into(), priority: None, place: "a.rs:1".into(), words: words.into() };
    let people: BTreeSet<String> = (0..pull.comments).map(|at| format!("person-{at}")).collect();
    let agents = BTreeSet::from([FIXER.into()]);
    let replies = pull.comments + pull.bugs;
    let responder = world.cast.responder;
    let response = match responder {
        Responder::Fails => return (Err(Trouble::NotPushed("it does not validate".into())), effort),
        Responder::Nothing => Responded { left: vec![left("it is not clear")], replies, people, ..Responded::default() },
        Responder::Good | Responder::Half | Responder::Breaks => {
            let pushed = world.forge.push(number, |pull| {
                pull.bugs = if responder == Responder::Half { pull.bugs.saturating_sub(1) } else { 0 };
                pull.comments = 0;
                pull.fixers.insert(FIXER.into());
                if responder == Responder::Breaks {
                    pull.fate = CheckState::Failure;
                }
            });
            let left = if responder == Responder::Half { vec![left("too large")] } else { vec![] };
            Responded { head: Some(pushed), fixed: pull.bugs, declined: 0, left, replies, people, agents, not_acted_on: vec![] }
        }
    };
    did(world, me, ticket);
    world.forge.deeds.insert((me.run.clone(), ticket), Deed::Response(response.clone()));
    (Ok(response), effort)
}

fn update(world: &mut World, me: &Process, ticket: Ticket, number: u64, head: &Sha) -> Result<Updated, Trouble> {
    world.pass_time(5_000);
    if let Some(Deed::Update(head)) = world.forge.deeds.get(&(me.run.clone(), ticket)) {
        return Ok(Updated::Head(head.clone()));
    }
    if let Some(trouble) = hindered(world, me) {
        return Err(trouble);
    }
    let Some(pull) = world.forge.pulls.get(&number).cloned() else { return Err(Trouble::HeadMoved) };
    if pull.head != *head {
        return Err(Trouble::HeadMoved);
    }
    if pull.conflicts {
        return Ok(Updated::Conflict("a.rs".into()));
    }
    if !pull.behind {
        return Ok(Updated::Head(pull.head));
    }
    let pushed = world.forge.push(number, |pull| pull.behind = false);
    did(world, me, ticket);
    world.forge.deeds.insert((me.run.clone(), ticket), Deed::Update(pushed.clone()));
    Ok(Updated::Head(pushed))
}

fn merge(world: &mut World, me: &Process, ticket: Ticket, warrant: &Warrant) -> Result<Merged, Trouble> {
    world.pass_time(2_000);
    let number = warrant.clearance.number();
    let Some(pull) = world.forge.pulls.get(&number).cloned() else { return Err(Trouble::HeadMoved) };
    if pull.merged_at.as_ref() == Some(warrant.clearance.head()) {
        return Ok(Merged::Done);
    }
    if let Some(trouble) = hindered(world, me) {
        return Err(trouble);
    }
    if let Err(lapse) = warrant.holds(&world.forge.seen(&pull)) {
        return Ok(Merged::Changed(lapse.to_string()));
    }
    did(world, me, ticket);
    world.forge.merged(&me.run, ticket, number);
    Ok(Merged::Done)
}

fn answer(world: &mut World, run: &RunId, gate: &Gate) -> Answer {
    world.pass_time(1_000);
    if world.interrupted.contains(run) || world.happens(|odds| odds.nobody) {
        let left = gate.until.saturating_sub(world.now());
        world.pass_time(left.min(600_000));
        return gate.unanswered();
    }
    let choice = match () {
        () if world.happens(|odds| odds.stop) => Choice::Stop,
        () if world.happens(|odds| odds.nonsense) => Choice::Merge,
        () => world
            .scripted
            .get(&gate.name)
            .copied()
            .unwrap_or_else(|| world.chance.pick(&gate.options()[..gate.options().len() - 1])),
    };
    let late: Millis = if world.happens(|odds| odds.nonsense) { 1_000_000 } else { 0 };
    let raise = (choice == Choice::Raise).then(|| Raise {
        iterations: Some(world.chance.below(12) as u32),
        pulls: Some(world.chance.below(30) as u32),
        minutes: Some(world.chance.below(100)),
        dollars: Some(Money::micros(world.chance.below(400_000))),
    });
    let at = (world.now() + late).min(if late == 0 { gate.until } else { u64::MAX });
    Answer { choice, by: Answerer::Person("ann".into()), at, words: choice.word().to_owned(), raise }
}
