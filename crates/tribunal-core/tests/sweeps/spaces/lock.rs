//! Three processes and one lock, whole: taken, waited for, passed over, crashed with and let go, in every order.

use super::explore;
use tribunal_core::ids::RunId;
use tribunal_core::procedure::sweep::lock::{Decision, Found, Held, Hold, Holder, Life, Skill, decide, hold, lets_go};
use tribunal_core::procedure::sweep::request::LockMode;

const PROCESSES: usize = 3;
/// Incarnations of a run: a killed one is resumed once.
const LIVES: u32 = 2;

#[derive(Debug, Clone, PartialEq, Eq)]
enum Place {
    Outside,
    /// Was shown this holder, and a person is asked.
    Asking(Box<Holder>),
    /// May take the lock of this holder.
    Told(Box<Holder>),
    /// Believes that it holds the lock.
    Inside,
    /// Found out that it does not, and does nothing more.
    Displaced,
    Over,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Process {
    mode: LockMode,
    place: Place,
    alive: bool,
    life: u32,
    /// It believes that it holds the lock, across a crash.
    held: bool,
    /// A person said that it may be passed over.
    passed_over: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct World {
    file: Option<Holder>,
    processes: Vec<Process>,
}

fn run(at: usize) -> RunId {
    RunId(format!("run-{at}"))
}

fn pid(at: usize, life: u32) -> u32 {
    at as u32 * 10 + life
}

fn holder(at: usize, life: u32) -> Holder {
    Holder {
        pid: pid(at, life),
        iteration: 1,
        started_at: String::new(),
        skill: Skill::Review,
        run: Some(run(at)),
        process: None,
    }
}

impl World {
    fn found(&self) -> Found {
        let Some(file) = &self.file else { return Found::Nothing };
        let lives = |(at, process): (usize, &Process)| process.alive && pid(at, process.life) == file.pid;
        let life = if self.processes.iter().enumerate().any(lives) { Life::Alive } else { Life::Dead };
        Found::Lock(Box::new(file.clone()), life)
    }

    /// The process that the file names, by its run.
    fn named(&self) -> Option<usize> {
        (0..PROCESSES).find(|at| self.file.as_ref().is_some_and(|file| file.is(&run(*at))))
    }

    /// Takes the lock as the hands do: what is found is decided about and written under one guard.
    fn acquire(&self, at: usize, seize: Option<&Holder>) -> World {
        let mut after = self.clone();
        let process = &mut after.processes[at];
        match decide(self.found(), &run(at), seize) {
            Decision::Take { .. } | Decision::Keep => {
                process.place = Place::Inside;
                process.held = true;
                after.file = Some(holder(at, self.processes[at].life));
                if let (Some(of), Some(_)) = (self.named().filter(|of| *of != at), seize) {
                    after.processes[of].passed_over = true;
                }
            }
            Decision::Busy { holder, .. } => match process.mode.on_held(false) {
                Held::SkipTick => process.place = Place::Outside,
                Held::AskToForce => process.place = Place::Asking(holder),
                Held::OutOfTime => process.place = Place::Over,
            },
            Decision::Fail(words) => panic!("{words}"),
        }
        after
    }

    fn with(&self, at: usize, change: impl FnOnce(&mut Process)) -> World {
        let mut after = self.clone();
        change(&mut after.processes[at]);
        after
    }

    /// Looks before an act whether the lock is still its own, and acts or does not.
    fn act(&self, at: usize) -> World {
        let life = self.processes[at].life;
        match hold(&self.found(), &run(at), pid(at, life), None) {
            Hold::Ours => self.clone(),
            Hold::Refresh => World { file: Some(holder(at, life)), ..self.clone() },
            Hold::Lost(_) => self.with(at, |process| (process.place, process.held) = (Place::Displaced, false)),
        }
    }

    fn release(&self, at: usize) -> World {
        let mut after = self.with(at, |process| (process.place, process.held) = (Place::Over, false));
        if lets_go(&self.found(), &run(at)) {
            after.file = None;
        }
        after
    }

    fn next(&self) -> Vec<(String, World)> {
        let mut all = Vec::new();
        for (at, process) in self.processes.iter().enumerate() {
            let mut go = |name: &str, world: World| all.push((format!("{at} {name}"), world));
            if !process.alive {
                if process.life + 1 < LIVES {
                    // It goes on where its stored state is: a run that held the lock believes it still does.
                    go("resumes", self.with(at, |process| (process.alive, process.life) = (true, process.life + 1)));
                }
                continue;
            }
            go("crashes", self.with(at, |process| process.alive = false));
            match &process.place {
                Place::Outside => go("acquires", self.acquire(at, None)),
                Place::Asking(holder) => {
                    go("is told yes", self.with(at, |process| process.place = Place::Told(holder.clone())));
                    go("is told no", self.with(at, |process| process.place = Place::Outside));
                    go("is told stop", self.with(at, |process| process.place = Place::Over));
                }
                Place::Told(holder) => go("seizes", self.acquire(at, Some(holder))),
                Place::Inside => {
                    go("acts", self.act(at));
                    go("releases", self.release(at));
                }
                Place::Displaced => go("reports", self.with(at, |process| process.place = Place::Over)),
                Place::Over => {}
            }
        }
        all
    }

    /// Those whose next act would be done.
    fn may_act(&self) -> Vec<usize> {
        let may = |at: &usize| {
            let process = &self.processes[*at];
            let held = hold(&self.found(), &run(*at), pid(*at, process.life), None);
            process.alive && process.place == Place::Inside && matches!(held, Hold::Ours | Hold::Refresh)
        };
        (0..PROCESSES).filter(may).collect()
    }
}

fn world(modes: [LockMode; PROCESSES]) -> World {
    let process = |mode| Process { mode, place: Place::Outside, alive: true, life: 0, held: false, passed_over: false };
    World { file: None, processes: modes.map(process).to_vec() }
}

/// Issue 7: one holder at a time; a live one loses the lock only by a person's yes; nobody removes another's; and from everywhere the
/// lock can be had again.
#[test]
fn the_lock_protocol_has_no_hole() {
    let mut states = 0;
    for modes in [
        [LockMode::Skip, LockMode::Skip, LockMode::Skip],
        [LockMode::Force, LockMode::Skip, LockMode::Skip],
        [LockMode::Force, LockMode::Force, LockMode::Skip],
        [LockMode::Force, LockMode::Force, LockMode::Force],
    ] {
        let known = explore(world(modes), |world| format!("{world:?}"), World::next, 2_000_000);
        states += known.len();
        for (world, way) in known.values() {
            judge(world, way);
        }
    }
    println!("{states} states");
    assert!(states > 10_000, "only {states} states");
}

fn judge(world: &World, way: &[String]) {
    let may_act = world.may_act();
    assert!(may_act.len() <= 1, "{may_act:?} may act after {way:?}");
    for (name, after) in world.next() {
        let mut way = way.to_vec();
        way.push(name.clone());
        let actor: usize = name[..1].parse().expect("who");
        if let (Some(of), true) = (world.named(), world.named() != after.named()) {
            let process = &world.processes[of];
            let own = actor == of;
            let dead = !process.alive || world.file.as_ref().is_some_and(|file| file.pid != pid(of, process.life));
            assert!(own || dead || after.processes[of].passed_over, "{of} loses its lock in {way:?}");
            assert!(own || after.file.is_some(), "{actor} removes the lock of {of} in {way:?}");
        }
        if name.ends_with("seizes") && after.processes[actor].place == Place::Inside {
            let Place::Told(shown) = &world.processes[actor].place else { panic!("{way:?}") };
            // Exactly the one that was shown, or one that is gone, or nobody's.
            let free = matches!(world.found(), Found::Nothing | Found::Lock(_, Life::Dead));
            let own = world.named() == Some(actor);
            assert!(free || own || world.file.as_ref() == Some(shown), "{way:?}");
        }
    }
    // Whoever comes when all are gone has the lock.
    let mut gone = world.clone();
    gone.processes.iter_mut().for_each(|process| process.alive = false);
    assert!(matches!(decide(gone.found(), &RunId::from("new"), None), Decision::Take { .. }), "{way:?}");
}
