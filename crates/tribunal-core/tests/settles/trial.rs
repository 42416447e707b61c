//! Several instances settle the same plan, from one file or from copies, and die and go on; then everything is quiet, and what they
//! came to must stand.

use super::chance::Chance;
use super::hands::run;
use super::judge::Judge;
use super::world::World;
use std::collections::BTreeMap;
use tribunal_core::policy::settle::{Level, SettlePolicy, Specialist};
use tribunal_core::policy::span::Span;
use tribunal_core::procedure::settle::plan_file::Status;
use tribunal_core::procedure::settle::plan_file::read::read;
use tribunal_core::procedure::settle::{Effect, Input, Request, State, step};
use tribunal_core::pull::facts::PullState;
use tribunal_core::pull::place::{ForgeKind, Project};

#[derive(Debug)]
pub struct Outcome {
    pub steps: u64,
    pub events: BTreeMap<&'static str, u64>,
}

/// No run may take more.
const MOST_STEPS: u64 = 800;

/// One process, and the file that it works on.
struct Instance {
    request: Request,
    plan: usize,
    state: Option<State>,
    effects: Vec<Effect>,
    reads: Reads,
    steps: u64,
    runs: u64,
}

/// When a process last read what it goes by. What happens later it cannot know.
#[derive(Default)]
struct Reads {
    look: u64,
    /// Pull requests that it read once more, to give a verdict.
    single: BTreeMap<u64, u64>,
}

impl Reads {
    fn note(&mut self, effect: &Effect, input: &Input, now: u64) {
        match (effect, input) {
            (Effect::Look { .. }, Input::Looked(Ok(_))) => *self = Reads { look: now, single: BTreeMap::new() },
            (Effect::Give { number, .. }, Input::Gave(Ok(_))) => drop(self.single.insert(*number, now)),
            _ => {}
        }
    }

    fn of(&self, effect: &Effect) -> u64 {
        let single = match effect {
            Effect::Merge { number, .. } => self.single.get(number).copied(),
            _ => None,
        };
        single.unwrap_or(self.look)
    }
}

/// Lives one seed through. Where something goes wrong it is lived again, and its story is told.
pub fn live(seed: u64) -> Result<Outcome, String> {
    try_seed(seed, false).or_else(|_| try_seed(seed, true))
}

fn try_seed(seed: u64, told: bool) -> Result<Outcome, String> {
    let mut world = World::new(Chance::new(seed));
    world.trace = told.then(Vec::new);
    let text = world.plan();
    let copies = 1 + world.chance.below(2) as usize;
    let mut plans = vec![text; copies];
    let specialist = match world.chance.below(4) {
        0 => Specialist::Awaited,
        1 => Specialist::Mentioned("@hall".into()),
        2 => Specialist::Labelled("hall:refine".into()),
        _ => Specialist::Agent("rules".into()),
    };
    let count = 1 + world.chance.below(3);
    let mut instances: Vec<Instance> = (0..count).map(|n| instance(&mut world, n, copies, specialist.clone())).collect();
    let mut judge = Judge::default();
    let mut steps = 0;
    let mut go = || -> Result<(), String> {
        let moves = 60 + world.chance.below(200);
        for _ in 0..moves {
            let at = world.chance.below(instances.len() as u64) as usize;
            steps += 1;
            instances[at].go_on(&mut world, &mut plans)?;
            judge.judge(&world.forge, &plans, &world.edited)?;
        }
        quiet(&mut world, &mut plans, &mut instances, &mut judge, &mut steps)
    };
    match go() {
        Ok(()) => Ok(Outcome { steps, events: world.events }),
        Err(wrong) => {
            let trace = world.trace.unwrap_or_default();
            let end = trace[trace.len().saturating_sub(80)..].join("\n");
            Err(format!("seed {seed}: {wrong}\n{specialist:?} {:?}\n{end}\n{}\nSETTLE_SEED={seed}", world.odds, plans.join("\n")))
        }
    }
}

fn instance(world: &mut World, n: u64, copies: usize, specialist: Specialist) -> Instance {
    let level = Level::try_from(world.chance.below(3) as u8).expect("a level");
    let request = Request {
        run: format!("run{n}").as_str().into(),
        engine: "0".into(),
        kind: ForgeKind::GitHub,
        project: Project { origin: "https://h".into(), path: "acme/shop".into() },
        plan: "plan.json".into(),
        level,
        remember_level: false,
        dry_run: world.chance.per_cent(5),
        watch: world.chance.per_cent(30),
        policy: SettlePolicy {
            specialist,
            escalate_to: None,
            bots: BTreeMap::new(),
            poll: Span::seconds(60),
            total: Span::seconds(1_200),
            part_of: "Part of".into(),
        },
    };
    Instance {
        request,
        plan: world.chance.below(copies as u64) as usize,
        state: None,
        effects: vec![],
        reads: Reads::default(),
        steps: 0,
        runs: 0,
    }
}

impl Instance {
    /// One effect and one step; or a new run, or a death.
    fn go_on(&mut self, world: &mut World, plans: &mut [String]) -> Result<(), String> {
        let Some(effect) = self.effects.pop() else { return self.begin(world) };
        if !self.effects.is_empty() {
            return Err("two effects at once".into());
        }
        let state = self.state.as_ref().ok_or("an effect without a state")?;
        world.note(|| format!("{} {effect:?}", state.request.run).chars().take(150).collect());
        if world.chance.per_cent(world.odds.crash) {
            return self.die(world, effect);
        }
        let before = world.forge.wrote.len();
        let plan_before = self.request.dry_run.then(|| plans[self.plan].clone());
        let Some(input) = run(world, plans, self.plan, &effect, state, self.reads.of(&effect)) else {
            // Nobody knows how it went: it is done again.
            self.effects.push(effect);
            return Ok(());
        };
        let changed = |plan: String| matches!(effect, Effect::Write { .. }) && plans[self.plan] != plan;
        if plan_before.is_some_and(|plan| world.forge.wrote.len() > before || changed(plan)) {
            return Err("a rehearsal wrote something".into());
        }
        if world.chance.per_cent(world.odds.crash) {
            return self.die(world, effect);
        }
        self.reads.note(&effect, &input, world.clock);
        self.take(world, input)
    }

    fn begin(&mut self, world: &mut World) -> Result<(), String> {
        self.runs += 1;
        self.steps = 0;
        self.state = None;
        let mut request = self.request.clone();
        request.run = format!("{}-{}", request.run, self.runs).as_str().into();
        if request.level == Level::HandsOn {
            world.happened("level-0");
        }
        self.take(world, Input::Start { request: Box::new(request) })
    }

    fn take(&mut self, world: &mut World, input: Input) -> Result<(), String> {
        self.steps += 1;
        if self.steps > MOST_STEPS {
            return Err(format!("a run has not ended after {MOST_STEPS} steps"));
        }
        let done = step(self.state.take(), input, world.clock).map_err(|error| error.to_string())?;
        if done.state.is_settled() != done.effects.is_empty() {
            return Err(format!("{:?} with {:?}", done.state.phase, done.effects));
        }
        let escalated =
            done.state.report().map_or(0, |report| report.tasks.iter().filter(|task| task.status == Status::Escalated).count());
        if escalated > 0 {
            world.happened("escalated");
        }
        (self.state, self.effects) = (Some(done.state), done.effects);
        Ok(())
    }

    /// Only what is stored lasts; now and then not even that.
    fn die(&mut self, world: &mut World, effect: Effect) -> Result<(), String> {
        if world.chance.per_cent(30) {
            world.happened("started-anew");
            (self.state, self.effects) = (None, vec![]);
            return Ok(());
        }
        world.happened("crashed");
        let stored = serde_json::to_string(&self.state).map_err(|error| error.to_string())?;
        self.state = serde_json::from_str(&stored).map_err(|error| error.to_string())?;
        self.effects = vec![effect];
        Ok(())
    }

    /// A whole run in a quiet world.
    fn finish(&mut self, world: &mut World, plans: &mut [String]) -> Result<(), String> {
        while !self.state.as_ref().is_some_and(State::is_settled) {
            self.go_on(world, plans)?;
        }
        Ok(())
    }
}

/// Nobody does anything any more: each instance finishes, runs once more, and then a further run changes nothing. And the plans say
/// what the forge says.
fn quiet(
    world: &mut World,
    plans: &mut [String],
    instances: &mut [Instance],
    judge: &mut Judge,
    steps: &mut u64,
) -> Result<(), String> {
    world.calm_down();
    for _ in 0..3 {
        for instance in instances.iter_mut() {
            instance.finish(world, plans)?;
            *steps += instance.steps;
            instance.state = None;
            instance.finish(world, plans)?;
            *steps += instance.steps;
            instance.state = None;
            judge.judge(&world.forge, plans, &world.edited)?;
        }
    }
    for instance in instances.iter_mut().filter(|instance| !instance.request.dry_run) {
        let (wrote, text) = (world.forge.wrote.clone(), plans[instance.plan].clone());
        instance.finish(world, plans)?;
        if wrote != world.forge.wrote {
            return Err(format!("another run did more: {:?}", &world.forge.wrote[wrote.len()..]));
        }
        if text != plans[instance.plan] {
            return Err(format!("another run changed the plan from\n{text}"));
        }
        let plan = read(&text).map_err(|error| error.to_string())?;
        for task in &plan.tasks {
            let merged = task
                .github_pr
                .and_then(|number| world.forge.pulls.get(&number))
                .is_some_and(|pull| pull.state == PullState::Merged);
            if merged != (task.status == Status::Merged) && task.status != Status::Done {
                return Err(format!("{} is {}, and its pull request is merged: {merged}", task.id, task.status.word()));
            }
        }
    }
    Ok(())
}
