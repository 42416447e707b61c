//! Effects, done to the paper world in the way the engine does them to the real one: look before you write, try again after a fault
//! that may pass, and tell the procedure when it does not.

use super::cast::{Assessor, Checker, Fixer};
use super::world::{CODE, World};
use std::collections::BTreeMap;
use tribunal_core::call::usage::Usage;
use tribunal_core::feedback::baseline::{Arm, Change, change};
use tribunal_core::feedback::fixable::Fixable;
use tribunal_core::feedback::item::{Item, Surface};
use tribunal_core::findings::about::About;
use tribunal_core::findings::scale::Justification;
use tribunal_core::policy::loops::Defer;
use tribunal_core::procedure::Millis;
use tribunal_core::procedure::remediate::vigil::{Glance, Vigil};
use tribunal_core::procedure::remediate::{
    AnswerOutcome, Answering, Effect, FixOutcome, Input, Landing, Made, Pass, Phase, Preflight, Reply, State, Trouble,
    Validation, Wake, is_overtaken,
};
use tribunal_core::procedure::review::Spend;
use tribunal_core::publish::marker::{Mark, read, seal};
use tribunal_core::pull::talk::{Thread, ThreadComment};
use tribunal_core::remedy::answer::{defer_issue, round_summary};
use tribunal_core::remedy::assess::{Assessment, Checkup, Decision, admit};
use tribunal_core::remedy::patch::Refusal;
use tribunal_core::remedy::rewrite::Rewrite;

/// The forge did not answer, or its answer was lost.
pub struct Fault;

const TRIES: usize = 4;
/// What a call of an agent takes at most, which is set aside before it is made.
const CALL: u64 = 100;

/// Nothing: nobody can say how it went, and only doing it again can tell.
pub fn run(world: &mut World, effect: &Effect, state: &State) -> Option<Input> {
    for pause in [500, 2_000, 8_000, 0] {
        match perform(world, effect, state) {
            Ok(input) => return Some(input),
            Err(Fault) => world.pass_time(pause),
        }
    }
    let why = format!("the forge did not answer {TRIES} times");
    Some(match effect {
        Effect::Prepare => Input::Prepared(Err(why)),
        Effect::Read { .. } => Input::Seen(Err(why)),
        Effect::Land { .. } => Input::Landed(Landing::Refused(why)),
        Effect::AskAgain { .. } => Input::AskedAgain(Err(why)),
        Effect::Wait { .. } => Input::Woken(Wake::Failed(why)),
        Effect::Post => Input::Posted(Err(why)),
        Effect::Answer { .. } | Effect::Home { .. } | Effect::Close { .. } => return None,
        Effect::Assess { .. } | Effect::Check { .. } | Effect::Fix { .. } | Effect::Validate { .. } => return None,
    })
}

fn perform(world: &mut World, effect: &Effect, state: &State) -> Result<Input, Fault> {
    Ok(match effect {
        Effect::Prepare => {
            world.pass_time(500);
            reads(world)?;
            Input::Prepared(Ok(Box::new(Preflight {
                pull: world.look().pull,
                trunk: "main".into(),
                unfit: None,
                not_pushable: None,
            })))
        }
        Effect::Read { .. } => {
            world.pass_time(1_000);
            reads(world)?;
            let seen = world.look();
            world.read_head = Some(seen.pull.head.clone());
            world.suspects =
                seen.items.iter().filter(|entry| entry.suspicion.is_some()).map(|entry| entry.item.id.clone()).collect();
            Input::Seen(Ok(Box::new(seen)))
        }
        Effect::Close { .. } => {
            world.pass_time(500);
            close(world, state)?
        }
        Effect::Assess { .. } => {
            world.pass_time(20_000);
            assess(world, pass(state))
        }
        Effect::Check { .. } => {
            world.pass_time(10_000);
            check(world, pass(state))
        }
        Effect::Fix { .. } => {
            world.pass_time(60_000);
            fix(world, state)
        }
        Effect::Validate { .. } => {
            world.pass_time(30_000);
            Input::Validated(validate(world, state))
        }
        Effect::Land { tip, onto, .. } => {
            world.pass_time(1_000);
            land(world, tip, onto, state)?
        }
        Effect::Home { .. } => home(world, pass(state))?,
        Effect::Answer { .. } => answer(world, state)?,
        Effect::AskAgain { .. } => {
            world.pass_time(500);
            Input::AskedAgain(writes(world).map_err(|Fault| "no".to_owned()))
        }
        Effect::Wait { until, arm, active, .. } => Input::Woken(wait(world, state, *until, *arm, *active)),
        Effect::Post => post(world, state)?,
    })
}

pub fn pass(state: &State) -> &Pass {
    match &state.phase {
        Phase::Assessing(pass)
        | Phase::Checking(pass)
        | Phase::Fixing(pass)
        | Phase::Validating(pass)
        | Phase::Landing(pass)
        | Phase::Homing(pass)
        | Phase::Answering(pass)
        | Phase::AskingAgain(pass) => pass,
        Phase::Preparing | Phase::Reading(_) | Phase::Closing(..) | Phase::Waiting | Phase::Posting(_) | Phase::Done(_) => {
            panic!("no pass is under way")
        }
    }
}

fn reads(world: &mut World) -> Result<(), Fault> {
    let odds = world.cast.odds.read_fails;
    if world.chance.per_cent(odds) { Err(Fault) } else { Ok(()) }
}

/// A write that failed for good, before anything was written.
fn writes(world: &mut World) -> Result<(), Fault> {
    let odds = world.cast.odds.write_lost / 2;
    if world.chance.per_cent(odds) { Err(Fault) } else { Ok(()) }
}

/// The answer to a write that has happened gets lost on its way.
fn arrives(world: &mut World) -> Result<(), Fault> {
    writes(world)
}

/// One call of an agent, paid from the budget: what it may take is set aside first (reserved + spent ≤ budget).
fn pay(world: &mut World) -> Result<Spend, Trouble> {
    if world.spent + CALL > world.cast.budget {
        return Err(Trouble::OverBudget("the budget is used up".into()));
    }
    let took = 1 + world.chance.below(CALL);
    world.spent += took;
    Ok(Spend { calls: 1, usage: Usage { output: took, ..Usage::default() }, ..Spend::default() })
}

/// No word of an item that gives orders may come this far (WL-60).
fn shown(world: &mut World, pass: &Pass) {
    let reached: Vec<String> =
        pass.items.iter().filter(|item| world.suspects.contains(&item.id)).map(|item| item.id.to_string()).collect();
    world.forge.wrongs.extend(reached.into_iter().map(|item| format!("{item} gives orders, and an agent was shown it")));
}

fn assess(world: &mut World, pass: &Pass) -> Input {
    shown(world, pass);
    let spend = match pay(world) {
        Ok(spend) => spend,
        Err(trouble) => return Input::Assessed { said: Err(trouble), spend: Spend::default() },
    };
    let leaders: Vec<Fixable> = pass.leaders().cloned().collect();
    if world.cast.assessor == Assessor::Fails && world.chance.per_cent(50) {
        return Input::Assessed { said: Err(Trouble::Failed("nonsense".into())), spend };
    }
    let mut said = Vec::new();
    for (n, item) in leaders.iter().enumerate() {
        let decision = match world.cast.assessor {
            Assessor::Addresses | Assessor::Twice | Assessor::Omits | Assessor::Fails => Decision::Address,
            Assessor::Declines => Decision::Decline,
            Assessor::Defers => Decision::Defer,
            Assessor::Asks => world.chance.pick(&[Decision::Ask, Decision::Replan, Decision::Noise]),
            Assessor::Mixed => world.chance.pick(&[
                Decision::Address,
                Decision::Address,
                Decision::Address,
                Decision::Decline,
                Decision::Defer,
                Decision::Noise,
                Decision::Noise,
            ]),
        };
        let assessment = Assessment {
            item: item.id.clone(),
            decision,
            rationale: "the code shows it".into(),
            evidence: "cart.sum()".into(),
            notes: "change the line".into(),
            framing: world.chance.pick(&[None, None, Some("check the bounds"), Some("close the handle")]).map(str::to_owned),
            about: about(world),
        };
        let odd = n % 3 == 2;
        if !(world.cast.assessor == Assessor::Omits && odd) {
            said.push(assessment.clone());
        }
        if world.cast.assessor == Assessor::Twice && odd {
            said.push(assessment);
        }
    }
    Input::Assessed { said: Ok(admit(said, &leaders, &|_| Some(CODE))), spend }
}

/// Mostly nothing; else a kind of problem, and what it is worth.
fn about(world: &mut World) -> About {
    let slug = world.chance.pick(&[None, None, Some("stale-lease"), Some("unbounded-read")]);
    let nature = world.chance.pick(&[None, None, Some(Justification::Hygiene), Some(Justification::Reachable)]);
    About {
        category: slug.map(|_| "lifecycle".to_owned()),
        slug: slug.map(str::to_owned),
        race: false,
        nature,
        ..About::default()
    }
}

fn check(world: &mut World, pass: &Pass) -> Input {
    shown(world, pass);
    let spend = match pay(world) {
        Ok(spend) => spend,
        Err(trouble) => return Input::Checked { said: Err(trouble), spend: Spend::default() },
    };
    let rejects = match world.cast.checker {
        Checker::Approves => false,
        Checker::Rejects => true,
        Checker::Sometimes => world.chance.per_cent(30),
    };
    let said = if rejects { Checkup::Rejected { why: "no evidence".into() } } else { Checkup::Approved };
    Input::Checked { said: Ok(said), spend }
}

fn fix(world: &mut World, state: &State) -> Input {
    let pass = pass(state);
    shown(world, pass);
    let mut made = Made { outcomes: BTreeMap::new(), tip: None, rewrites: Vec::new() };
    let mut all = Spend::default();
    let to_fix: Vec<&Fixable> =
        pass.leaders().filter(|item| pass.assessment(&item.id).is_some_and(|said| said.decision == Decision::Address)).collect();
    for (n, item) in to_fix.into_iter().enumerate() {
        let fails = world.cast.fixer == Fixer::Fails && world.chance.per_cent(30);
        let outcome = match pay(world) {
            Err(trouble) if made.tip.is_none() => return Input::Fixed { made: Err(trouble), spend: all },
            Err(trouble) => FixOutcome::Nothing(trouble.words().to_owned()),
            Ok(spend) => {
                all = all.plus(spend);
                if fails && made.tip.is_none() {
                    return Input::Fixed { made: Err(Trouble::Failed("it broke".into())), spend: all };
                }
                outcome(world, item, n)
            }
        };
        if let FixOutcome::Made { commit, files, .. } = &outcome {
            made.tip = Some(commit.clone());
            let first = item.line.unwrap_or(1);
            let added = world.chance.below(4) as u32;
            made.rewrites.extend(files.iter().map(|path| Rewrite { path: path.clone(), first, removed: 1, added }));
        }
        made.outcomes.insert(item.id.clone(), outcome);
    }
    if state.request.loops.defer == Defer::Record {
        enter_deferred(world, pass, &mut made);
    }
    Input::Fixed { made: Ok(made), spend: all }
}

/// One commit for all of them, unless the record cannot be written.
fn enter_deferred(world: &mut World, pass: &Pass, made: &mut Made) {
    let defers = |item: &&Fixable| pass.assessment(&item.id).is_some_and(|said| said.decision == Decision::Defer);
    let deferred: Vec<&Fixable> = pass.leaders().filter(defers).collect();
    if deferred.is_empty() {
        return;
    }
    if world.chance.per_cent(10) {
        let nothing = |item: &&Fixable| (item.id.clone(), FixOutcome::Nothing("it is a link".into()));
        made.outcomes.extend(deferred.iter().map(nothing));
        return;
    }
    // It may stand there since an earlier run.
    let commit = (!world.chance.per_cent(20)).then(|| world.forge.new_commit());
    if commit.is_some() {
        made.tip.clone_from(&commit);
    }
    for item in deferred {
        let home = format!("docs/deferred.md#{}", item.id.0.replace(':', "-"));
        made.outcomes.insert(item.id.clone(), FixOutcome::Recorded { commit: commit.clone(), home });
    }
}

fn outcome(world: &mut World, item: &Item, n: usize) -> FixOutcome {
    let path = item.path.clone().unwrap_or_else(|| "src/cart.rs".into());
    let bad = world.chance.per_cent(30);
    match world.cast.fixer {
        Fixer::Nothing => FixOutcome::Nothing("it saw nothing to change".into()),
        Fixer::Half if n % 2 == 1 => FixOutcome::Nothing("it saw nothing to change".into()),
        Fixer::Forbidden if bad => FixOutcome::Refused(Refusal::Forbidden { path, why: "a lock file".into() }),
        Fixer::TooLarge if bad => FixOutcome::Refused(Refusal::TooLarge { files: 9, lines: 900 }),
        Fixer::Destructive if bad => FixOutcome::Refused(Refusal::Destructive { category: 3, path, why: "a test goes".into() }),
        Fixer::Good | Fixer::Half | Fixer::Breaks | Fixer::Forbidden | Fixer::TooLarge | Fixer::Destructive | Fixer::Fails => {
            let commit = world.forge.new_commit();
            let class = world.chance.pick(&[None, None, Some("unchecked bounds")]).map(str::to_owned);
            FixOutcome::Made { commit, summary: "Mend it".into(), files: vec![path], lines: 2, class }
        }
    }
}

fn validate(world: &mut World, state: &State) -> Validation {
    let odds = world.cast.odds.validation_fails;
    let command = "make test".to_owned();
    match () {
        () if state.request.loops.validate.is_empty() => Validation::NotRun,
        () if !world.chance.per_cent(odds) => Validation::Passed,
        () if world.chance.per_cent(50) => Validation::Failed { command, output: "1 failed".into() },
        () => Validation::CannotRun { command, why: "no make".into() },
    }
}

fn land(world: &mut World, tip: &tribunal_core::ids::Sha, onto: &tribunal_core::ids::Sha, state: &State) -> Result<Input, Fault> {
    reads(world)?;
    if world.forge.head() == tip {
        return Ok(Input::Landed(Landing::Pushed { head: tip.clone() }));
    }
    if world.read_head.as_ref() != Some(onto) {
        world.forge.wrongs.push(format!("it pushes onto {onto}, and read {:?}", world.read_head));
    }
    writes(world)?;
    if !world.forge.push(onto, tip.clone()) {
        return Ok(Input::Landed(Landing::Moved));
    }
    world.note(|| format!("pushed {}", &tip.0[36..]));
    if world.cast.fixer == Fixer::Breaks && world.chance.per_cent(60) {
        let place = pass(state).items.first().and_then(|item| Some((item.path.as_ref()?.to_string(), item.line?)));
        world.break_something(place);
    }
    arrives(world)?;
    Ok(Input::Landed(Landing::Pushed { head: tip.clone() }))
}

fn home(world: &mut World, pass: &Pass) -> Result<Input, Fault> {
    world.pass_time(500);
    reads(world)?;
    let mut homes = BTreeMap::new();
    for item in pass.leaders() {
        let Some(assessment) = pass.assessment(&item.id).filter(|said| said.decision == Decision::Defer) else { continue };
        let issue = defer_issue(item, 7, &item.url, &assessment.rationale, &assessment.notes);
        let number = match world.forge.issues.iter().position(|title| issue.title == title.as_str()) {
            Some(at) => at,
            None => {
                writes(world)?;
                world.forge.issues.push(issue.title.into_string());
                arrives(world)?;
                world.forge.issues.len() - 1
            }
        };
        homes.insert(item.id.clone(), Ok(format!("#{}", number + 100)));
    }
    Ok(Input::Homed(homes))
}

fn answer(world: &mut World, state: &State) -> Result<Input, Fault> {
    world.pass_time(500);
    let pass = pass(state);
    let replies = state.replies(pass);
    reads(world)?;
    // What was written by ourselves is always there when it is looked for again: a forge that forgets for longer than the pauses
    // between tries can be answered twice, and nobody can tell.
    let threads = world.forge.talk.threads.clone();
    let mut answering = Answering::default();
    for reply in &replies {
        let outcome = match &reply.item.surface {
            Surface::Thread { id } => match threads.iter().find(|thread| &thread.id == id) {
                Some(thread) => answer_thread(world, state, pass, reply, thread)?,
                None => AnswerOutcome::Failed("its thread is gone".into()),
            },
            Surface::Comment { .. } | Surface::Review { .. } | Surface::Check { .. } => AnswerOutcome::Said { resolved: false },
        };
        answering.outcomes.insert(reply.item.id.clone(), outcome);
    }
    let summoned = state.summoned(pass, &answering.outcomes);
    if state.needs_summary(&replies, &summoned) {
        let items = replies.iter().map(|reply| format!("{}@{}", reply.item.id, reply.item.last_word)).collect();
        let mark = Mark::Round { run: state.request.run.clone(), cycle: pass.number, items };
        let words = round_summary(&state.ended(pass, &replies), &summoned);
        answering.summary = Some(say_once(world, &mark, &words)?);
    }
    Ok(Input::Answered(answering))
}

/// A comment that stands there once, however often it is tried.
fn say_once(world: &mut World, mark: &Mark, words: &str) -> Result<Result<String, String>, Fault> {
    let forge = &world.forge;
    let is_said = forge.talk.comments.iter().filter(|comment| comment.author.is(&forge.me)).find(|comment| {
        read(&comment.body, &forge.case_id, &forge.key).is_some_and(|found| match (&found.mark, mark) {
            (Mark::Round { run, cycle, .. }, Mark::Round { run: mine, cycle: now, .. }) => run == mine && cycle == now,
            _ => false,
        })
    });
    if let Some(said) = is_said {
        return Ok(Ok(said.url.clone()));
    }
    if writes(world).is_err() {
        return Ok(Err("the forge said no".into()));
    }
    let (me, at) = (world.forge.me.clone(), world.elapsed);
    let body = format!("{words}\n\n{}", seal(mark, &world.forge.case_id, &world.forge.key));
    let url = world.forge.comment(&me, body, at);
    arrives(world)?;
    Ok(Ok(url))
}

fn answer_thread(world: &mut World, state: &State, pass: &Pass, reply: &Reply, thread: &Thread) -> Result<AnswerOutcome, Fault> {
    let is_said = world.forge.marks_of(thread).iter().any(|mark| match mark {
        Mark::Reply { item, last_word, .. } => *item == reply.item.id.0 && *last_word == reply.item.last_word,
        _ => false,
    });
    if !is_said {
        let mark = Mark::Reply {
            item: reply.item.id.0.clone(),
            last_word: reply.item.last_word.clone(),
            says: reply.says,
            head: pass.landed.clone().unwrap_or_else(|| pass.head.clone()),
            run: state.request.run.clone(),
        };
        writes(world)?;
        let body = format!("{}\n\n{}", reply.words, seal(&mark, &world.forge.case_id, &world.forge.key));
        world.forge.reply(&thread.id, body);
        arrives(world)?;
    }
    let forge = &world.forge;
    let is_ours =
        |comment: &ThreadComment| comment.author.is(&forge.me) && read(&comment.body, &forge.case_id, &forge.key).is_some();
    if !reply.resolve || thread.resolved || reply.is_overtaken(thread, is_ours) {
        return Ok(AnswerOutcome::Said { resolved: thread.resolved });
    }
    if writes(world).is_err() {
        return Ok(AnswerOutcome::NotResolved("the forge said no".into()));
    }
    world.forge.resolve(&thread.id, state.request.loops.resolve_people);
    Ok(AnswerOutcome::Said { resolved: true })
}

/// What was answered and is still open.
fn close(world: &mut World, state: &State) -> Result<Input, Fault> {
    let Phase::Closing(items, _) = &state.phase else { panic!("nothing is to be closed") };
    reads(world)?;
    let threads = world.forge.talk.threads.clone();
    let mut outcomes = BTreeMap::new();
    for item in items {
        let Surface::Thread { id } = &item.surface else { panic!("{item:?} is no thread") };
        let forge = &world.forge;
        let is_ours =
            |comment: &ThreadComment| comment.author.is(&forge.me) && read(&comment.body, &forge.case_id, &forge.key).is_some();
        let open = threads.iter().find(|thread| &thread.id == id && !thread.resolved);
        let Some(thread) = open.filter(|thread| !is_overtaken(item, thread, is_ours)) else { continue };
        let closed = writes(world).map_err(|Fault| "the forge said no".to_owned());
        if closed.is_ok() {
            world.forge.resolve(&thread.id, state.request.loops.resolve_people);
        }
        outcomes.insert(item.id.clone(), closed);
    }
    Ok(Input::Closed(outcomes))
}

fn post(world: &mut World, state: &State) -> Result<Input, Fault> {
    world.pass_time(500);
    reads(world)?;
    let Some(report) = state.report() else { panic!("there is no report") };
    let mark = Mark::Round { run: state.request.run.clone(), cycle: u32::MAX, items: Vec::new() };
    Ok(Input::Posted(say_once(world, &mark, report.reason.word())?))
}

fn wait(world: &mut World, state: &State, until: Millis, arm: Arm, active: bool) -> Wake {
    let loops = &state.request.loops;
    let Some(baseline) = &state.memory.baseline else { return Wake::Failed("there is nothing to compare with".into()) };
    let mut vigil = Vigil::new(loops, until, active, world.now());
    let mut looked_at = None;
    loop {
        if let Some(wake) = vigil.is_over(world.now()) {
            return wake;
        }
        // An arm may end without a word (WL-126).
        if world.chance.below(1_000) == 0 {
            return Wake::Changed(Change::Nothing);
        }
        let glance = if reads(world).is_err() {
            Glance::Failed("no answer".into())
        } else if looked_at != Some(world.forge.version) || world.is_stale() {
            let (now, running) = world.glance();
            looked_at = (!world.is_stale()).then_some(world.forge.version);
            Glance::Saw { change: change(baseline, &now, arm), running }
        } else {
            Glance::Same
        };
        if let Some(wake) = vigil.looked(glance, world.now()) {
            return wake;
        }
        let nap = vigil.nap(world.now());
        world.pass_time(nap);
    }
}
