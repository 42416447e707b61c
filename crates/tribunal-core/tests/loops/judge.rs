//! One loop from its start to its end, and what must hold after each of its steps.

use super::cast::request;
use super::chance::Chance;
use super::forge::{HERS, MALLORY};
use super::hands::{pass, run};
use super::world::World;
use std::collections::BTreeSet;
use tribunal_core::feedback::fixable::Fixable;
use tribunal_core::feedback::item::ItemId;
use tribunal_core::feedback::reviewer::Filter;
use tribunal_core::procedure::remediate::{Effect, Input, Phase, State, Wake, step};
use tribunal_core::remedy::end::End;
use tribunal_core::remedy::ladder::Reason;
use tribunal_core::remedy::report::Report;

#[derive(Debug)]
pub struct Outcome {
    pub steps: u64,
    pub ticks: u64,
    pub reason: String,
}

/// No loop may take more than this, whatever happens.
const MOST_STEPS: u64 = 3_000;
/// What the work of passes may take over the total, in milliseconds: a wait is never begun after it, but a pass is finished.
const SLACK: u64 = 40 * 60_000;

/// What the loop was told last, as far as it matters for how it may end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    Looked,
    CouldNotLook,
    Other,
}

struct Trial {
    world: World,
    /// Always there between steps.
    state: Option<State>,
    steps: u64,
    /// Everything that the loop was ever shown and that is its to answer.
    shown: BTreeSet<ItemId>,
    /// What is open in the last look, with its last word.
    open: Vec<(ItemId, String)>,
    approved: bool,
    last_input: Last,
    reports: u32,
}

/// Lives one seed through. Where something goes wrong it is lived again, and its story is told.
pub fn live(seed: u64) -> Result<Outcome, String> {
    try_seed(seed, false).or_else(|_| try_seed(seed, true))
}

fn try_seed(seed: u64, told: bool) -> Result<Outcome, String> {
    let mut chance = Chance::new(seed);
    let request = request(&mut chance);
    let filter: Filter = request.loops.reviewer.parse().expect("a filter");
    let mut world = World::new(chance, request.place.case_id(), filter);
    world.trace = told.then(Vec::new);
    let now = world.now();
    let first = step(None, Input::Start { request: Box::new(request) }, now).expect("a start");
    let mut trial = Trial {
        world,
        state: Some(first.state),
        steps: 1,
        shown: BTreeSet::new(),
        open: Vec::new(),
        approved: false,
        last_input: Last::Other,
        reports: 0,
    };
    match trial.live(first.effects) {
        Ok(reason) => Ok(Outcome { steps: trial.steps, ticks: trial.world.ticks, reason }),
        Err(wrong) => {
            let trace = trial.world.trace.as_deref().unwrap_or_default();
            let end = trace[trace.len().saturating_sub(60)..].join("\n");
            let loops = &trial.state().request.loops;
            Err(format!("seed {seed}: {wrong}\n{loops:?}\n{:?}\n{end}\nLOOP_SEED={seed}", trial.world.cast))
        }
    }
}

impl Trial {
    fn state(&self) -> &State {
        self.state.as_ref().expect("a state between steps")
    }

    fn live(&mut self, mut effects: Vec<Effect>) -> Result<String, String> {
        while let Some(effect) = effects.pop() {
            if !effects.is_empty() {
                return Err("two effects at once".into());
            }
            let input = self.result_of(&effect);
            self.heed(&input);
            effects = self.step(input)?;
            self.judge()?;
            if self.steps > MOST_STEPS {
                return Err(format!("it has not ended after {MOST_STEPS} steps"));
            }
        }
        let Phase::Done(report) = &self.state().phase else {
            return Err(format!("nothing is left to do in {:?}", self.state().phase));
        };
        let report = report.clone();
        self.judge_end(&report)?;
        Ok(report.reason.word().to_owned())
    }

    /// Does an effect, dies now and then before or after it, and does it again.
    fn result_of(&mut self, effect: &Effect) -> Input {
        loop {
            let odds = self.world.cast.odds.crash;
            let (dies_before, dies_after) = (self.world.chance.per_cent(odds), self.world.chance.per_cent(odds));
            let input = if dies_before {
                None
            } else {
                run(&mut self.world, effect, self.state.as_ref().expect("a state between steps"))
            };
            match input {
                Some(input) if !dies_after => return input,
                Some(_) | None => self.crash(effect),
            }
        }
    }

    /// Only what is stored lasts.
    fn crash(&mut self, effect: &Effect) {
        let stored = serde_json::to_string(self.state()).expect("a state can be stored");
        let state: State = serde_json::from_str(&stored).expect("a stored state can be read");
        self.state = Some(state.upgrade().expect("its shape is known"));
        let away = self.world.chance.pick(&[1_000, 10_000, 300_000]);
        self.world.note(|| format!("dies at {effect:?}, for {away} ms"));
        self.world.lost_time += away + 120_000;
        self.world.pass_time(away);
    }

    fn heed(&mut self, input: &Input) {
        self.world.note(|| format!("{input:?}").chars().take(110).collect());
        self.last_input = match input {
            Input::Seen(Ok(seen)) => {
                for entry in seen.items.iter().filter(|entry| entry.item.is_open() && entry.fixable().is_some()) {
                    if !self.shown.contains(&entry.item.id) {
                        self.shown.insert(entry.item.id.clone());
                    }
                }
                let open = seen.items.iter().filter(|entry| entry.item.is_open() && entry.fixable().is_some());
                self.open = open.map(|entry| (entry.item.id.clone(), entry.item.last_word.clone())).collect();
                self.approved = !seen.baseline.approvals.is_empty();
                Last::Looked
            }
            // Refused before it began, it has nothing to look at.
            Input::Seen(Err(_)) | Input::Prepared(_) | Input::Woken(Wake::Failed(_)) => Last::CouldNotLook,
            _ => Last::Other,
        };
    }

    fn step(&mut self, input: Input) -> Result<Vec<Effect>, String> {
        let was_over = self.state().report().is_some();
        let now = self.world.now();
        let state = self.state.take();
        let done = step(state, input, now).map_err(|error| error.to_string())?;
        self.steps += 1;
        self.state = Some(done.state);
        self.reports += u32::from(!was_over && self.state().report().is_some());
        if !was_over && self.state().report().is_some() {
            self.judge_stop()?;
        }
        Ok(done.effects)
    }

    /// After every step.
    fn judge(&mut self) -> Result<(), String> {
        if let Some(wrong) = self.world.forge.wrongs.first() {
            return Err(wrong.clone());
        }
        let (memory, loops) = (&self.state().memory, &self.state().request.loops);
        let ensure = |holds: bool, wrong: &str| if holds { Ok(()) } else { Err(wrong.to_owned()) };
        ensure(memory.cycles <= loops.cycles, "more cycles than allowed")?;
        ensure(memory.passes <= loops.cycles * 4 + 16, "more passes than allowed")?;
        ensure(memory.rejections <= 4, "more rejections than allowed")?;
        ensure(self.world.spent <= self.world.cast.budget, "more was spent than allowed")?;
        ensure(memory.spend.usage.output <= self.world.spent, "more is said to be spent than was")?;
        let limit = loops.wait.total.as_millis() + self.world.lost_time + SLACK;
        ensure(self.world.elapsed <= limit, "it takes longer than allowed")?;
        if let Phase::Assessing(_) | Phase::Fixing(_) | Phase::Validating(_) | Phase::Answering(_) = self.state().phase {
            let mut ids: Vec<&ItemId> = pass(self.state()).items.iter().map(|item| &item.id).collect();
            let all = ids.len();
            ids.sort();
            ids.dedup();
            ensure(ids.len() == all, "an item is in the pass twice")?;
            // Issue 16, A1: whoever has no right to write reaches no assessor, fixer, validation or answer.
            let hers =
                |item: &Fixable| item.author.login == MALLORY || item.body.contains(HERS) || item.author.login == "lint[bot]";
            ensure(!pass(self.state()).items.iter().any(hers), "words of somebody without the right are worked on")?;
        }
        Ok(())
    }

    /// The moment it decides to stop: has it looked at what came in while it worked (WL-130)?
    fn judge_stop(&self) -> Result<(), String> {
        let Some(report) = self.state().report() else { return Ok(()) };
        let over = matches!(report.reason, Reason::PrMerged | Reason::PrClosed);
        if self.last_input != Last::Other || over {
            return Ok(());
        }
        Err(format!("it ends with {} without a last look", report.reason))
    }

    /// What the one report says.
    fn judge_end(&mut self, report: &Report) -> Result<(), String> {
        if self.reports != 1 {
            return Err(format!("there are {} reports", self.reports));
        }
        let is_hers =
            |ended: &&tribunal_core::remedy::end::Ended| ended.author == MALLORY && !matches!(ended.end, End::AnsweredBefore);
        for ended in report.items.iter().filter(is_hers) {
            if !matches!(&ended.end, End::LeftOut { why } if why == "not acted on: no right to write") {
                return Err(format!("{} of mallory ended as {:?}", ended.item, ended.end));
            }
        }
        for item in &self.shown {
            if !report.items.iter().any(|ended| ended.item == *item) {
                return Err(format!("{item} was shown and is not in the report"));
            }
        }
        let again =
            step(self.state.clone(), Input::Woken(Wake::TimedOut), self.world.now()).map_err(|error| error.to_string())?;
        if again.state != *self.state() || !again.effects.is_empty() {
            return Err("it goes on after its end".into());
        }
        self.steps += 1;
        let memory = &self.state().memory;
        for (item, last_word) in &self.open {
            let ended = report.items.iter().find(|ended| ended.item == *item);
            let decided = memory.ends.get(item).is_some_and(|(word, _)| word == last_word);
            if ended.is_some_and(|ended| ended.end.is_settled()) && !decided {
                return Err(format!("{item} has words that nobody answered, and is said to be settled"));
            }
            if report.reason == Reason::Clean && !decided {
                return Err(format!("{item} is open, and the end is clean"));
            }
        }
        let is_watch = self.state().request.loops.kind == tribunal_core::policy::loops::LoopKind::Watch;
        if report.reason == Reason::Clean && is_watch && !self.state().request.loops.once && !self.approved {
            return Err("it ends clean, and nobody approves".into());
        }
        let details = &report.details;
        let whole = match report.reason {
            Reason::RootClusterSuspected => {
                details.member_count.is_some_and(|count| count as usize == details.cluster_thread_urls.len())
            }
            Reason::MergeAdvised => details.advisory_reason.is_some(),
            _ => true,
        };
        if !whole {
            return Err(format!("it ends with {}, and does not say what that rests on: {details:?}", report.reason));
        }
        let unfinished = |end: &End| matches!(end, End::Open { .. } | End::Asked { .. });
        if report.reason == Reason::Clean
            && report.items.iter().any(|ended| self.shown.contains(&ended.item) && unfinished(&ended.end))
        {
            return Err("it ends clean with something unfinished".into());
        }
        Ok(())
    }
}
