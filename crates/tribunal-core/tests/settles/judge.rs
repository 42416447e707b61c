//! What must never be so, told from the forge and from the plans alone.

use super::forge::{Forge, Wrote};
use std::collections::{BTreeMap, BTreeSet};
use tribunal_core::procedure::settle::plan_file::read::read;
use tribunal_core::procedure::settle::plan_file::{Plan, Status, TaskId};
use tribunal_core::publish::marker::{Mark, read as read_mark};
use tribunal_core::publish::outgoing::Outgoing;
use tribunal_core::publish::verdict::{Assessment, Sitting};
use tribunal_core::pull::facts::PullState;

/// Sees the same forge again and again, and remembers.
#[derive(Default)]
pub struct Judge {
    /// How much of what was written is judged.
    judged: usize,
    /// How many reviews each pull request had.
    reviews: BTreeMap<u64, usize>,
    /// Each plan as it was.
    plans: Vec<String>,
    escalated: BTreeSet<(usize, TaskId)>,
}

impl Judge {
    /// `edited`: tasks whose status a person wrote by hand since.
    pub fn judge(&mut self, forge: &Forge, plans: &[String], edited: &[TaskId]) -> Result<(), String> {
        // What has not changed was judged before.
        for (number, reviews) in &forge.reviews {
            if self.reviews.insert(*number, reviews.len()) != Some(reviews.len()) {
                one_review_each(forge, *number)?;
            }
        }
        for wrote in &forge.wrote[self.judged..] {
            may_write(forge, wrote)?;
        }
        self.judged = forge.wrote.len();
        self.plans.resize(plans.len(), String::new());
        for (at, text) in plans.iter().enumerate() {
            if self.plans[at] == *text {
                continue;
            }
            self.plans[at].clone_from(text);
            let plan = read(text).map_err(|error| format!("a plan cannot be read any more: {error}"))?;
            if !text.contains("\"colour\": [\"blue\", {}],\n  \"repo\"") {
                return Err("somebody's own keys are gone".into());
            }
            self.stays_escalated(forge, at, &plan, edited)?;
        }
        Ok(())
    }

    fn stays_escalated(&mut self, forge: &Forge, at: usize, plan: &Plan, edited: &[TaskId]) -> Result<(), String> {
        for task in &plan.tasks {
            let key = (at, task.id.clone());
            if task.status == Status::Escalated {
                self.escalated.insert(key);
            } else if self.escalated.remove(&key) && !edited.contains(&task.id) {
                let merged = task
                    .github_pr
                    .and_then(|number| forge.pulls.get(&number))
                    .is_some_and(|pull| pull.state == PullState::Merged);
                if !merged {
                    return Err(format!("{} was escalated and is {}", task.id, task.status.word()));
                }
            }
        }
        Ok(())
    }
}

/// TS-17, TS-86: at most one review for the first assessment and one for the second.
fn one_review_each(forge: &Forge, number: u64) -> Result<(), String> {
    let case_id = Forge::case_id(number);
    let of = |wanted: Assessment| {
        let ours = forge.reviews_of(number).iter().filter(|review| review.author.is(&forge.me));
        let marks = ours.filter_map(|review| read_mark(&review.body, &case_id, &forge.key)).map(|found| found.mark);
        let is_it =
            |mark: &Mark| matches!(mark, Mark::Verdict { sitting: Sitting::Settle { assessment }, .. } if *assessment == wanted);
        marks.filter(is_it).count()
    };
    match (of(Assessment::First), of(Assessment::Second)) {
        (0 | 1, 0 | 1) => Ok(()),
        (first, second) => Err(format!("#{number} was assessed {first} times first and {second} times again")),
    }
}

/// CF-1, CF-24, TS-28, TS-87: by level; and only what is clean at its head by our own sealed word.
fn may_write(forge: &Forge, wrote: &Wrote) -> Result<(), String> {
    match wrote {
        Wrote::Review { number, level } if *level == 0 => Err(format!("#{number} was reviewed at level 0")),
        Wrote::Merged { number, level, .. } if *level < 2 => Err(format!("#{number} was merged at level {level}")),
        Wrote::Merged { number, head, decided, .. } => {
            let pull = &forge.pulls[number];
            if pull.is_fork {
                return Err(format!("#{number} of a fork was merged"));
            }
            if &pull.head.sha != head || !forge.was_clean(*number, *decided) {
                return Err(format!("#{number} was merged at {head}, and that is not clean"));
            }
            Ok(())
        }
        Wrote::Review { number, .. } | Wrote::Label { number } | Wrote::Push { number } if forge.pulls[number].is_fork => {
            Err(format!("#{number} is a stranger's and was touched"))
        }
        Wrote::Review { .. } | Wrote::Label { .. } | Wrote::Push { .. } => Ok(()),
        Wrote::Closed { issue } => {
            if forge.issues[issue].open {
                Err(format!("#{issue} is said to be closed"))
            } else {
                Ok(())
            }
        }
    }
}

mod tests {
    use super::super::chance::Chance;
    use super::super::world::World;
    use super::*;
    use tribunal_core::combine::verdict::Verdict;
    use tribunal_core::publish::marker::seal;
    use tribunal_core::pull::talk::{NewReview, ReviewEvent};

    fn world() -> (World, String, u64) {
        let mut world = World::new(Chance::new(7));
        let plan = world.plan();
        let number = world.forge.open(1, "sdet", false, false);
        (world, plan, number)
    }

    fn verdict(world: &mut World, number: u64, assessment: Assessment, verdict: Verdict, level: u8) {
        let head = world.forge.pulls[&number].head.sha.clone();
        let mark = Mark::Verdict {
            sitting: Sitting::Settle { assessment },
            run: "r".into(),
            verdict,
            head: head.clone(),
            base_branch: Some("main".into()),
        };
        let body =
            Outgoing::sealed(&format!("VERDICT: {}", verdict.word()), seal(&mark, &Forge::case_id(number), &world.forge.key));
        let review = NewReview { commit: head, event: ReviewEvent::Comment, body, comments: vec![] };
        world.forge.submit(number, &review, level);
    }

    fn judged(world: &World, plan: &str) -> Result<(), String> {
        Judge::default().judge(&world.forge, &[plan.to_owned()], &[])
    }

    /// A judge that lets a forged history pass proves nothing: a third assessment.
    #[test]
    fn a_third_assessment_is_found() {
        let (mut world, plan, number) = world();
        verdict(&mut world, number, Assessment::First, Verdict::Minor, 1);
        verdict(&mut world, number, Assessment::Second, Verdict::Minor, 1);
        assert_eq!(judged(&world, &plan), Ok(()));
        verdict(&mut world, number, Assessment::Second, Verdict::Lgtm, 1);
        assert!(judged(&world, &plan).expect_err("it was not found").contains("2 times again"));
    }

    /// A review at level 0, and one of a stranger's pull request.
    #[test]
    fn a_review_that_was_not_allowed_is_found() {
        let (mut world, plan, number) = world();
        verdict(&mut world, number, Assessment::First, Verdict::Minor, 0);
        assert!(judged(&world, &plan).expect_err("it was not found").contains("at level 0"));
        let (mut world, plan, _) = super::tests::world();
        let fork = world.forge.open(1, "sdet", true, false);
        verdict(&mut world, fork, Assessment::First, Verdict::Minor, 1);
        assert!(judged(&world, &plan).expect_err("it was not found").contains("a stranger's"));
    }

    /// A merge of what is not clean, of another head, or at the wrong level.
    #[test]
    fn a_merge_that_was_not_cleared_is_found() {
        for (said, level, moved) in
            [(None, 2, false), (Some(Verdict::Minor), 2, false), (Some(Verdict::Lgtm), 1, false), (Some(Verdict::Lgtm), 2, true)]
        {
            let (mut world, plan, number) = world();
            if let Some(said) = said {
                verdict(&mut world, number, Assessment::First, said, 2);
            }
            let head = world.forge.pulls[&number].head.sha.clone();
            if moved {
                world.forge.push(number);
            }
            let decided = world.clock;
            world.forge.wrote.push(Wrote::Merged { number, head, level, decided });
            assert!(judged(&world, &plan).expect_err("it was not found").contains("was merged"), "{said:?} {level} {moved}");
        }
    }

    /// A merge by somebody who had seen the broken seal; one that was decided before it was broken is none, unless it was not clean then
    /// either.
    #[test]
    fn a_merge_on_a_broken_seal_is_found() {
        for (said, decided_later, is_fine) in [
            (Verdict::Lgtm, false, true),
            (Verdict::Lgtm, true, false),
            (Verdict::Minor, false, false),
            (Verdict::Minor, true, false),
        ] {
            let (mut world, plan, number) = world();
            verdict(&mut world, number, Assessment::First, said, 2);
            let before = world.clock;
            for _ in 0..2 {
                world.clock += 1;
                world.tamper(number);
            }
            assert_eq!(world.forge.tampered.len(), 2, "the seal was not broken");
            let decided = if decided_later { world.clock } else { before };
            let head = world.forge.pulls[&number].head.sha.clone();
            world.forge.wrote.push(Wrote::Merged { number, head, level: 2, decided });
            assert_eq!(judged(&world, &plan).is_ok(), is_fine, "{said:?}, decided later: {decided_later}");
        }
    }

    /// What was escalated and is not any more; what a person edited or merged is no crime.
    #[test]
    fn a_lost_escalation_is_found() {
        let (world, plan, _) = world();
        let task = read(&plan).expect("a plan").tasks[0].clone();
        let with = |status: &str| {
            plan.replacen(&format!("\"status\": \"{}\"", task.status.word()), &format!("\"status\": \"{status}\""), 1)
        };
        let mut judge = Judge::default();
        assert_eq!(judge.judge(&world.forge, &[with("ESCALATED")], &[]), Ok(()));
        assert!(judge.judge(&world.forge, &[with("REVIEWING")], &[]).expect_err("it was not found").contains("was escalated"));
        assert_eq!(judge.judge(&world.forge, &[with("ESCALATED")], &[]), Ok(()));
        assert_eq!(judge.judge(&world.forge, &[with("REVIEWING")], &[task.id]), Ok(()));
    }

    /// A plan that lost somebody's keys, or cannot be read.
    #[test]
    fn a_spoiled_plan_is_found() {
        let (world, plan, _) = world();
        assert!(judged(&world, &plan.replace("colour", "color")).is_err());
        assert!(judged(&world, "{").is_err());
    }
}
