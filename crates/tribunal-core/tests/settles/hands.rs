//! Effects, done to the paper world in the way the engine does them to the real one.

use super::forge::{Forge, TRUNK, Wrote};
use super::world::World;
use std::collections::BTreeMap;
use std::sync::LazyLock;
use tribunal_core::combine::verdict::Verdict;
use tribunal_core::ids::Sha;
use tribunal_core::procedure::order::Hindrance;
use tribunal_core::procedure::settle::link::pull_of;
use tribunal_core::procedure::settle::plan_file::write::apply;
use tribunal_core::procedure::settle::plan_file::{Status, Task};
use tribunal_core::procedure::settle::seen::{Given, TaskSeen, Word};
use tribunal_core::procedure::settle::{Closing, Effect, Input, Look, Merging, Phase, Refinement, State};
use tribunal_core::publish::verdict::post::{Desired, Next, Observed, next, taken};
use tribunal_core::publish::verdict::{Assessment, Sitting};
use tribunal_core::pull::capability::{Capabilities, Capability};
use tribunal_core::pull::facts::{Pull, PullState};
use tribunal_core::pull::place::ForgeKind;
use tribunal_core::report::document::Document;

/// A document that some review came to; only its head and its verdict matter here.
static DOCUMENT: LazyLock<Document> = LazyLock::new(|| serde_json::from_str(include_str!("document.json")).expect("a document"));

/// Nothing: the answer got lost, and only doing it again can tell. `decided`: when whoever orders it had last read what it is about.
pub fn run(world: &mut World, plans: &mut [String], mine: usize, effect: &Effect, state: &State, decided: u64) -> Option<Input> {
    world.pass_time(1_000, plans);
    let trouble = world.chance.per_cent(world.odds.trouble);
    let down = || Hindrance::Forge { reason: "HTTP 502".into() };
    let level = state.request.level.number();
    Some(match effect {
        Effect::Look { .. } if trouble => Input::Looked(Err(Hindrance::NotYet { reason: "HTTP 502".into() })),
        Effect::Look { .. } => look(world, &plans[mine]),
        Effect::Write { changes, .. } => {
            plans[mine] = apply(&plans[mine], changes);
            Input::Written(Ok(()))
        }
        Effect::Review { .. } if trouble => Input::Reviewed(Err(Hindrance::NotYet { reason: "quota".into() })),
        Effect::Review { number, head, .. } => {
            world.pass_time(60_000, plans);
            let pull = &world.forge.pulls[number];
            if pull.state != PullState::Open {
                return Some(Input::Reviewed(Err(Hindrance::NotOpen { state: pull.state })));
            }
            if &pull.head.sha != head {
                world.happened("head-moved");
                return Some(Input::Reviewed(Err(Hindrance::HeadMoved { to: None })));
            }
            let mut document = Document { verdict: Some(world.verdict(head)), head: head.clone(), ..DOCUMENT.clone() };
            document.receipt.base_branch = Some(TRUNK.into());
            Input::Reviewed(Ok(Box::new(document)))
        }
        Effect::Give { .. } if trouble => Input::Gave(Err(down())),
        Effect::Give { number, assessment, .. } => {
            let given = give(world, *number, *assessment, state);
            if given.is_ok() && world.chance.per_cent(world.odds.lost) {
                world.happened("lost-answer");
                return None;
            }
            Input::Gave(given)
        }
        Effect::Label { number, label, .. } => {
            world.happened("labelled");
            world.forge.pulls.get_mut(number).expect("it is there").labels.push(label.clone());
            world.forge.wrote.push(Wrote::Label { number: *number });
            Input::Labelled(Ok(()))
        }
        Effect::Refine { .. } if trouble => Input::Refined(Err(Hindrance::Agent { reason: "it broke".into() })),
        Effect::Refine { number, head, .. } => {
            let pull = &world.forge.pulls[number];
            if pull.state != PullState::Open || &pull.head.sha != head {
                return Some(Input::Refined(Err(Hindrance::HeadMoved { to: None })));
            }
            if world.chance.per_cent(25) {
                return Some(Input::Refined(Ok(Refinement { commits: 0, said: "nothing to fix".into() })));
            }
            world.happened("refined");
            world.forge.push(*number);
            world.forge.wrote.push(Wrote::Push { number: *number });
            Input::Refined(Ok(Refinement { commits: 1, said: "clean".into() }))
        }
        Effect::Merge { number, head, .. } => {
            let merged = merge(world, *number, head, level, decided);
            if merged == Ok(Merging::Merged) && world.chance.per_cent(world.odds.lost) {
                world.happened("lost-answer");
                return None;
            }
            Input::Merged(merged)
        }
        Effect::Close { merged, parents, .. } => {
            let mut closed = Vec::new();
            for issue in merged {
                world.forge.issues.get_mut(issue).expect("it is there").open = false;
            }
            for (parent, children) in parents {
                let open = children.iter().any(|child| world.forge.issues[child].open);
                let issue = world.forge.issues.get_mut(parent).expect("it is there");
                if issue.open && !open {
                    issue.open = false;
                    closed.push(*parent);
                    world.happened("closed");
                    world.forge.wrote.push(Wrote::Closed { issue: *parent });
                }
            }
            Input::Closed(Closing { closed, notes: vec![] })
        }
        Effect::Wait { until, .. } => {
            world.happened("waited");
            let left = until.saturating_sub(world.clock);
            world.pass_time(left, plans);
            Input::Woken
        }
    })
}

fn look(world: &mut World, text: &str) -> Input {
    let plan = match world.read(text) {
        Ok(plan) => plan,
        Err(reason) => return Input::Looked(Err(Hindrance::Setup { reason })),
    };
    let tasks = plan.tasks.iter().map(|task| (task.id.clone(), Ok(seen(&world.forge, task)))).collect();
    Input::Looked(Ok(Box::new(Look { plan, tasks })))
}

fn seen(forge: &Forge, task: &Task) -> TaskSeen {
    let issue = task.github_issue.and_then(|issue| forge.issues.get(&issue)).cloned();
    let named = task.github_pr.and_then(|number| forge.pulls.get(&number));
    let issue_open = issue.as_ref().is_none_or(|issue| issue.open);
    let number = match named.filter(|pull| pull.state != PullState::Closed) {
        Some(pull) => Some(pull.number),
        None => {
            let of = |keep: &dyn Fn(&Pull) -> bool| -> Option<u64> {
                let pulls: Vec<Pull> = forge.pulls.values().filter(|pull| keep(pull)).cloned().collect();
                pull_of(task, &pulls).pull.map(|pull| pull.number)
            };
            let past = || if issue_open && task.status != Status::Reviewing { None } else { of(&|_| true) };
            of(&|pull| pull.state == PullState::Open).or(named.map(|pull| pull.number)).or_else(past)
        }
    };
    TaskSeen { issue, pull: number.and_then(|number| forge.seen(number)), notes: vec![] }
}

fn give(world: &mut World, number: u64, assessment: Assessment, state: &State) -> Result<Given, Hindrance> {
    let Phase::Giving { document, task, .. } = &state.phase else { panic!("nothing is to be given") };
    let seen = world.forge.seen(number).expect("it is there");
    if let Some(hindrance) = seen.talked_over() {
        return Err(hindrance);
    }
    let can = Capability::ALL.into_iter().collect();
    let capabilities = Capabilities { kind: ForgeKind::GitHub, version: String::new(), can, body_limit: 65_000 };
    let (sitting, case_id) = (Sitting::Settle { assessment }, Forge::case_id(number));
    let observed = Observed {
        pull: world.forge.pulls[&number].clone(),
        reviews: world.forge.reviews_of(number).to_vec(),
        drafted: BTreeMap::new(),
    };
    let (me, key) = (world.forge.me.clone(), world.forge.key.clone());
    let desired = Desired {
        document,
        sitting: &sitting,
        run: &state.request.run,
        closing: &state.closing(task, assessment, document.verdict),
        case_id: &case_id,
        me: &me,
        capabilities: &capabilities,
        key: &key,
        only_comment: world.chance.per_cent(20),
    };
    let standing = match next(&desired, &observed)? {
        Next::Stands(standing) => standing,
        Next::Post { review, .. } => {
            world.forge.submit(number, &review, state.request.level.number());
            world.happened(if assessment == Assessment::First { "first" } else { "second" });
            taken(&desired, &review.commit, review.event, String::new(), String::new())
        }
    };
    Ok(Given::of(standing).expect("it is of a settlement"))
}

fn merge(world: &mut World, number: u64, head: &Sha, level: u8, decided: u64) -> Result<Merging, Hindrance> {
    let pull = world.forge.pulls[&number].clone();
    if pull.state == PullState::Merged && &pull.head.sha == head {
        return Ok(Merging::Merged);
    }
    if pull.state != PullState::Open {
        return Err(Hindrance::NotOpen { state: pull.state });
    }
    if &pull.head.sha != head {
        world.happened("head-moved");
        return Err(Hindrance::HeadMoved { to: Some(pull.head.sha) });
    }
    if world.forge.tampered.iter().any(|edit| edit.number == number && edit.at > decided) {
        world.happened("tampered-since");
    }
    if world.forge.red.contains(head) {
        return Ok(Merging::Waits { reason: "ci is red".into() });
    }
    let seen = world.forge.seen(number).expect("it is there");
    if pull.draft || seen.people.values().any(|word| *word == Word::ChangesRequested) {
        return Ok(Merging::Stuck { reason: "somebody objects".into() });
    }
    // The receipt of a review is of the head and says that it is clean, whatever the procedure believes.
    if world.verdict(head) != Verdict::Lgtm {
        return Ok(Merging::Stuck { reason: "its review is not clean".into() });
    }
    world.happened("merged");
    world.forge.pulls.get_mut(&number).expect("it is there").state = PullState::Merged;
    world.forge.wrote.push(Wrote::Merged { number, head: head.clone(), level, decided });
    Ok(Merging::Merged)
}
