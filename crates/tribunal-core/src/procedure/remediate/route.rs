//! From an assessment to answers: what is fixed, declined, deferred or left to a person, in this order and each at most once.

use super::pass::{Pass, Why};
use super::{
    AnswerOutcome, Answering, Effect, FixOutcome, Landing, MAX_DISCARDS, Made, Next, Phase, Seen, State, Trouble, Validation,
};
use crate::feedback::fixable::Fixable;
use crate::feedback::item::{Item, ItemId, Label, Surface, Voice};
use crate::feedback::reviewer::{Summons, summons};
use crate::ids::Sha;
use crate::policy::loops::{Defer, Rerequest};
use crate::procedure::Millis;
use crate::publish::marker::{Disposition, Mark, Says};
use crate::pull::facts::PullState;
use crate::pull::talk::{Thread, ThreadComment};
use crate::remedy::answer::{self, decline_escalates, may_resolve};
use crate::remedy::assess::{Admitted, Assessment, Checkup, Decision};
use crate::remedy::condition::{Blocker, Condition};
use crate::remedy::end::{End, Ended};
use crate::remedy::ladder::{Cycle, Reason, Return, cycle_decision};
use crate::remedy::patch::Refusal;
use crate::remedy::record;
use crate::remedy::report::Planned;
use std::collections::BTreeMap;

/// The fourth rejection of an assessment ends the loop (RL-36, CF-3).
const MAX_REJECTIONS: u32 = 3;

/// One answer to be given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    pub item: Fixable,
    pub says: Disposition,
    pub words: String,
    pub resolve: bool,
    /// The head that it speaks of.
    pub head: Sha,
}

/// What the forge shows of an answer that it took.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Proof {
    Stands,
    /// It was accepted, and it is not in the thread (PR-117).
    Missing,
    /// Somebody has spoken since (WL-83).
    Overtaken,
}

impl Reply {
    /// What its thread shows now; `mark` reads the mark of a comment of ours.
    pub fn proof(&self, thread: &Thread, mark: impl Fn(&ThreadComment) -> Option<Mark>) -> Proof {
        let answers = |mark: Mark| match mark {
            Mark::Reply { item, last_word, .. } => item == self.item.id.0 && last_word == self.item.last_word,
            // A review has looked at the same commit and said so in the thread of its own finding.
            Mark::Answer { says: Says::Fixed, head, .. } => {
                self.says == Disposition::Fixed && self.item.finding.is_some() && head == self.head
            }
            _ => false,
        };
        let stands = thread.comments.iter().any(|comment| mark(comment).is_some_and(answers));
        match (stands, self.is_overtaken(thread, |comment| mark(comment).is_some())) {
            (false, _) => Proof::Missing,
            (true, true) => Proof::Overtaken,
            (true, false) => Proof::Stands,
        }
    }

    /// Has somebody spoken in the thread since it was read? Then it stays open: closing it would hide a word that nobody has answered
    /// (WL-83).
    pub fn is_overtaken(&self, thread: &Thread, is_ours: impl Fn(&ThreadComment) -> bool) -> bool {
        is_overtaken(&self.item, thread, is_ours)
    }
}

/// Has somebody spoken in the thread of an item since it was read?
pub fn is_overtaken(item: &Item, thread: &Thread, is_ours: impl Fn(&ThreadComment) -> bool) -> bool {
    let since = thread.comments.iter().skip_while(|comment| comment.id != item.last_word).skip(1);
    since.into_iter().any(|comment| !is_ours(comment))
}

impl State {
    /// Threads that carry our answer and need only closing: whoever answered them was stopped before it could (RL-45). Each is tried
    /// once.
    pub(super) fn unclosed(&self, seen: &Seen) -> Vec<Fixable> {
        let loops = &self.request.loops;
        let is_closable = |item: &Fixable| {
            let decision = match item.answered {
                Some(Disposition::Fixed) => Decision::Address,
                Some(Disposition::Declined) => Decision::Decline,
                Some(Disposition::Deferred) => Decision::Defer,
                Some(Disposition::Asked) | None => return false,
            };
            item.label == Label::Handled && may_resolve(item, decision, loops.resolve, loops.resolve_people)
        };
        if loops.dry_run || seen.pull.state != PullState::Open {
            return Vec::new();
        }
        let entries = seen.items.iter().filter(|entry| !self.memory.closed.contains(&entry.item.id));
        entries.filter_map(super::SeenItem::fixable).filter(is_closable).collect()
    }

    pub(super) fn closed(&mut self, items: &[Fixable], why: Why, outcomes: &BTreeMap<ItemId, Result<(), String>>) -> Next {
        for item in items {
            self.memory.closed.insert(item.id.clone());
            match outcomes.get(&item.id) {
                Some(Err(problem)) => {
                    self.memory.not_resolved.insert(item.id.clone(), format!("{} ({problem})", item.place()));
                }
                Some(Ok(())) => drop(self.memory.not_resolved.remove(&item.id)),
                None => {}
            }
        }
        self.read(why)
    }
}

impl State {
    pub(super) fn assessed(&mut self, mut pass: Box<Pass>, said: Result<Admitted, Trouble>, now: Millis) -> Next {
        let admitted = match said {
            Ok(admitted) => admitted,
            Err(trouble) => return self.close(vec![Condition::blocked(trouble.blocker(), "assessing", trouble.words())]),
        };
        pass.assessments = admitted.accepted;
        if self.request.loops.checker.is_some() {
            let effect = Effect::Check { pass: pass.number, attempt: pass.rejections.len() as u32 };
            return (Phase::Checking(pass), vec![effect]);
        }
        self.routed(pass, now)
    }

    pub(super) fn checked(&mut self, mut pass: Box<Pass>, said: Result<Checkup, Trouble>, now: Millis) -> Next {
        match said {
            Err(trouble) => self.close(vec![Condition::blocked(trouble.blocker(), "checking the assessment", trouble.words())]),
            Ok(Checkup::Approved) => self.routed(pass, now),
            Ok(Checkup::Rejected { why }) => {
                self.memory.rejections += 1;
                pass.rejections.push(why);
                if self.memory.rejections > MAX_REJECTIONS {
                    return self.close(vec![Condition::assessment_rejected(&pass.rejections)]);
                }
                self.assess(pass)
            }
        }
    }

    /// Every candidate has a decision.
    fn routed(&mut self, mut pass: Box<Pass>, now: Millis) -> Next {
        self.note_assessed(&pass);
        if let Some(sign) = self.signs() {
            // No patch is made where patching is what does not help (WL-62).
            pass.conditions.push(sign);
            self.close_round(&pass);
            return self.close(pass.conditions);
        }
        let leaders: Vec<Fixable> = pass.leaders().cloned().collect();
        let mut to_fix = false;
        for item in &leaders {
            let assessment = pass.assessment(&item.id).cloned().unwrap_or_else(|| Assessment::unanswered(item));
            match assessment.decision {
                Decision::Address => to_fix = true,
                // A record is a commit of the same pass (CF-18).
                Decision::Defer if self.request.loops.defer == Defer::Record => to_fix = true,
                Decision::Decline if decline_escalates(item, None) => {
                    pass.conditions.push(Condition::rejection(item, &assessment.rationale));
                }
                Decision::Ask => pass.conditions.push(Condition::question(item, &assessment.rationale)),
                Decision::Replan => pass.conditions.push(Condition::larger(item, &assessment.rationale)),
                Decision::Decline | Decision::Defer | Decision::Noise => {}
            }
        }
        if to_fix {
            let effect = Effect::Fix { pass: pass.number };
            return (Phase::Fixing(pass), vec![effect]);
        }
        self.settle_rest(pass, now)
    }

    pub(super) fn fixed(&mut self, mut pass: Box<Pass>, made: Result<Made, Trouble>, now: Millis) -> Next {
        let made = match made {
            Ok(made) => made,
            Err(trouble) => return self.close(vec![Condition::blocked(trouble.blocker(), "fixing", trouble.words())]),
        };
        for (id, outcome) in &made.outcomes {
            let Some(item) = pass.item(id).cloned() else { continue };
            if pass.defers(id) {
                continue;
            }
            match outcome {
                FixOutcome::Refused(refusal @ Refusal::Destructive { .. }) => {
                    pass.conditions.push(Condition::destructive(&item, refusal));
                }
                FixOutcome::Refused(refusal @ (Refusal::TooLarge { .. } | Refusal::ContractChange { .. })) => {
                    pass.conditions.push(Condition::larger(&item, &refusal.to_string()));
                }
                FixOutcome::Refused(refusal) => pass.conditions.push(Condition::question(&item, &refusal.to_string())),
                FixOutcome::Nothing(why) => pass.conditions.push(Condition::question(&item, why)),
                FixOutcome::Made { .. } | FixOutcome::With { .. } | FixOutcome::Recorded { .. } => {}
            }
        }
        let tip = made.tip.clone();
        pass.made = Some(made);
        match tip {
            Some(tip) => {
                let effect = Effect::Validate { pass: pass.number, tip };
                (Phase::Validating(pass), vec![effect])
            }
            None => self.settle_rest(pass, now),
        }
    }

    pub(super) fn validated(&mut self, pass: Box<Pass>, validation: Validation, now: Millis) -> Next {
        match validation {
            Validation::Passed | Validation::NotRun => {
                let Some(tip) = pass.made.as_ref().and_then(|made| made.tip.clone()) else { return self.settle_rest(pass, now) };
                self.memory.unvalidated = validation == Validation::NotRun;
                if self.request.loops.dry_run {
                    return self.rehearsed(pass);
                }
                let effect = Effect::Land { pass: pass.number, tip, onto: pass.head.clone() };
                (Phase::Landing(pass), vec![effect])
            }
            Validation::Failed { command, output } => {
                let mut conditions = pass.conditions;
                conditions.push(Condition::validation_failed(&command, &output));
                self.close(conditions)
            }
            Validation::CannotRun { command, why } => {
                let mut conditions = pass.conditions;
                conditions.push(Condition::validation_cannot_run(&command, &why));
                self.close(conditions)
            }
        }
    }

    pub(super) fn landed(&mut self, mut pass: Box<Pass>, landing: Landing, now: Millis) -> Next {
        match landing {
            Landing::Pushed { head } => {
                pass.landed = Some(head);
                self.remember(&pass);
                self.settle_rest(pass, now)
            }
            // Nothing may be written to a head that was not read (design rule 7): all of the pass is thrown away.
            Landing::Moved => {
                self.memory.discards += 1;
                self.drop_round();
                if self.memory.discards > MAX_DISCARDS {
                    let why = format!("the branch moved {MAX_DISCARDS} times while fixes for it were made");
                    return self.close(vec![Condition::blocked(Blocker::Later, "pushing", why)]);
                }
                self.read(Why::Event)
            }
            Landing::Refused(why) => {
                let mut conditions = pass.conditions;
                conditions.push(Condition::blocked(Blocker::Forge, "pushing", why));
                self.close(conditions)
            }
        }
    }

    /// What a fix was made for, so that its return is noticed; our own commit is no news to the next wait.
    fn remember(&mut self, pass: &Pass) {
        let made = pass.made.as_ref().map(|made| &made.outcomes);
        for (id, outcome) in made.into_iter().flatten() {
            if let FixOutcome::Made { commit, summary, .. } = outcome {
                self.memory.commits.push((commit.clone(), summary.clone()));
            }
            if let FixOutcome::Recorded { commit: Some(commit), .. } = outcome
                && !self.memory.commits.iter().any(|(known, _)| known == commit)
            {
                self.memory.commits.push((commit.clone(), record::SUBJECT.to_owned()));
            }
            if matches!(outcome, FixOutcome::Made { .. } | FixOutcome::With { .. }) {
                // Whoever said the same was answered by the same fix.
                let followers = pass.same_as.iter().filter(|(_, leader)| *leader == id).map(|(follower, _)| follower);
                for fixed in std::iter::once(id).chain(followers) {
                    *self.memory.fixes.entry(fixed.clone()).or_default() += 1;
                }
            }
        }
        if let (Some(baseline), Some(head)) = (self.memory.baseline.take(), &pass.landed) {
            self.memory.baseline = Some(baseline.at_head(head.clone()));
        }
    }

    /// Everything but the fixes: places for what is deferred, then all answers.
    fn settle_rest(&mut self, pass: Box<Pass>, now: Millis) -> Next {
        if self.request.loops.dry_run {
            return self.rehearsed(pass);
        }
        let defers = pass.assessments.iter().any(|assessment| assessment.decision == Decision::Defer);
        if defers && self.request.loops.defer == Defer::Record {
            let homes = pass.recorded();
            return self.homed(pass, homes, now);
        }
        if defers {
            let effect = Effect::Home { pass: pass.number };
            return (Phase::Homing(pass), vec![effect]);
        }
        self.answer(pass, now)
    }

    pub(super) fn homed(&mut self, mut pass: Box<Pass>, homes: BTreeMap<ItemId, Result<String, String>>, now: Millis) -> Next {
        for (id, home) in &homes {
            if let (Some(item), Err(why)) = (pass.item(id).cloned(), home) {
                pass.conditions.push(Condition::blocked(Blocker::Forge, "deferring", format!("{}: {why}", item.place())));
            }
        }
        pass.homes = homes;
        self.answer(pass, now)
    }

    /// Everything was done that nobody else sees. What would come next is told instead.
    fn rehearsed(&mut self, mut pass: Box<Pass>) -> Next {
        pass.landed = pass.made.as_ref().and_then(|made| made.tip.clone());
        for assessment in pass.assessments.iter().filter(|assessment| assessment.decision == Decision::Defer) {
            let recorded = pass.made.as_ref().and_then(|made| made.outcomes.get(&assessment.item));
            let home = match recorded {
                Some(FixOutcome::Recorded { home, .. }) => home.clone(),
                _ => "#?".to_owned(),
            };
            pass.homes.insert(assessment.item.clone(), Ok(home));
        }
        for reply in self.replies(&pass) {
            let planned = Planned { place: reply.item.place(), words: reply.words.clone(), resolve: reply.resolve };
            self.memory.planned.push(planned);
            let end = End::Open { why: format!("dry run: {}", reply.words) };
            self.memory.ends.insert(reply.item.id.clone(), (reply.item.last_word.clone(), end));
        }
        self.note_rest(&pass);
        self.close(pass.conditions)
    }

    fn answer(&mut self, pass: Box<Pass>, now: Millis) -> Next {
        if self.replies(&pass).is_empty() {
            return self.pass_over(pass, now);
        }
        let effect = Effect::Answer { pass: pass.number };
        (Phase::Answering(pass), vec![effect])
    }

    /// The answers of a pass, one for each item that came to something.
    pub fn replies(&self, pass: &Pass) -> Vec<Reply> {
        let loops = &self.request.loops;
        let mut replies = Vec::new();
        for item in &pass.items {
            let leader = pass.same_as.get(&item.id).unwrap_or(&item.id);
            let Some(assessment) = pass.assessment(leader) else { continue };
            let Some((says, words)) = self.words(pass, leader, assessment) else { continue };
            let resolve = matches!(item.surface, Surface::Thread { .. })
                && may_resolve(item, assessment.decision, loops.resolve, loops.resolve_people);
            let head = pass.landed.clone().unwrap_or_else(|| pass.head.clone());
            replies.push(Reply { item: item.clone(), says, words, resolve, head });
        }
        replies
    }

    fn words(&self, pass: &Pass, leader: &ItemId, assessment: &Assessment) -> Option<(Disposition, String)> {
        match assessment.decision {
            Decision::Address => {
                let (commit, summary) = fix_of(pass, leader)?;
                Some((Disposition::Fixed, answer::fixed(&commit, &summary)))
            }
            Decision::Decline => Some((Disposition::Declined, answer::declined(&assessment.rationale))),
            Decision::Defer => {
                let home = pass.homes.get(leader)?.as_ref().ok()?;
                Some((Disposition::Deferred, answer::deferred(home, &assessment.rationale).ok()?))
            }
            Decision::Ask | Decision::Noise | Decision::Replan => None,
        }
    }

    pub(super) fn answered(&mut self, mut pass: Box<Pass>, answering: Answering, now: Millis) -> Next {
        for reply in self.replies(&pass) {
            match answering.outcomes.get(&reply.item.id) {
                Some(AnswerOutcome::Said { .. }) => {}
                Some(AnswerOutcome::NotResolved(why)) => {
                    self.memory.not_resolved.insert(reply.item.id.clone(), format!("{} ({why})", reply.item.place()));
                }
                Some(AnswerOutcome::Failed(why)) => {
                    pass.conditions.push(Condition::blocked(
                        Blocker::Forge,
                        "answering",
                        format!("{}: {why}", reply.item.place()),
                    ));
                    continue;
                }
                None => continue,
            }
            let end = self.end_of(&pass, &reply);
            self.memory.ends.insert(reply.item.id.clone(), (reply.item.last_word.clone(), end));
        }
        if let Some(Err(why)) = &answering.summary {
            pass.conditions.push(Condition::blocked(Blocker::Forge, "marker-write-failed", why.clone()));
        }
        if self.may_ask_again(&pass, &answering.outcomes) && !self.awaited(&pass).is_empty() {
            let effect = Effect::AskAgain { pass: pass.number };
            return (Phase::AskingAgain(pass), vec![effect]);
        }
        self.pass_over(pass, now)
    }

    /// Is what the summary of a round is for there: items that no reply can be given to, or somebody to ask again (RL-47)?
    pub fn needs_summary(&self, replies: &[Reply], summoned: &[Summons]) -> bool {
        let has_no_thread = |reply: &Reply| matches!(reply.item.surface, Surface::Comment { .. } | Surface::Review { .. });
        !summoned.is_empty() || replies.iter().any(has_no_thread)
    }

    /// Whom the summary of a round calls.
    pub fn summoned(&self, pass: &Pass, outcomes: &BTreeMap<ItemId, AnswerOutcome>) -> Vec<Summons> {
        if self.request.loops.rerequest != Rerequest::Mention || !self.may_ask_again(pass, outcomes) {
            return Vec::new();
        }
        let awaited = self.awaited(pass);
        let mut called: Vec<Summons> = awaited.iter().filter_map(|item| summons(&item.author, &item.voice)).collect();
        called.dedup();
        called
    }

    /// Nobody is asked again before everything is answered, and closed where it should be (RL-82).
    fn may_ask_again(&self, pass: &Pass, outcomes: &BTreeMap<ItemId, AnswerOutcome>) -> bool {
        let stands = |reply: &Reply| match outcomes.get(&reply.item.id) {
            Some(AnswerOutcome::Said { resolved }) => *resolved || !reply.resolve,
            Some(AnswerOutcome::NotResolved(_) | AnswerOutcome::Failed(_)) | None => false,
        };
        self.is_respond() && pass.conditions.is_empty() && self.replies(pass).iter().all(stands)
    }

    /// One item of each reviewer whose next look is awaited, by login. The panel is run, not asked.
    pub fn awaited<'a>(&self, pass: &'a Pass) -> Vec<&'a Fixable> {
        let mut items: Vec<&Fixable> = match self.request.loops.rerequest {
            Rerequest::Never => Vec::new(),
            Rerequest::Mention => pass.items.iter().filter(|item| matches!(item.voice, Voice::Known(_) | Voice::Bot)).collect(),
            Rerequest::Reviewer => pass.items.iter().filter(|item| !matches!(item.voice, Voice::Panel | Voice::Check)).collect(),
        };
        items.sort_by_key(|item| &item.author.login);
        items.dedup_by_key(|item| &item.author.login);
        items
    }

    /// The rows of the round's summary.
    pub fn ended(&self, pass: &Pass, replies: &[Reply]) -> Vec<Ended> {
        replies.iter().map(|reply| Ended::of(&reply.item, self.end_of(pass, reply))).collect()
    }

    fn end_of(&self, pass: &Pass, reply: &Reply) -> End {
        let leader = pass.same_as.get(&reply.item.id).unwrap_or(&reply.item.id);
        let reason = || pass.assessment(leader).map(|assessment| assessment.rationale.clone()).unwrap_or_default();
        match reply.says {
            Disposition::Fixed => {
                End::Fixed { sha: fix_of(pass, leader).map_or_else(|| pass.head.clone(), |(commit, _)| commit) }
            }
            Disposition::Declined => End::Declined { reason: reason() },
            Disposition::Deferred => {
                End::Deferred { home: pass.homes.get(leader).and_then(|home| home.clone().ok()).unwrap_or_default() }
            }
            Disposition::Asked => End::Asked { question: reason() },
        }
    }

    pub(super) fn asked_again(&mut self, mut pass: Box<Pass>, asked: Result<(), String>, now: Millis) -> Next {
        match asked {
            Ok(()) => self.memory.asked_at = Some(pass.landed.clone().unwrap_or_else(|| pass.head.clone())),
            Err(why) => pass.conditions.push(Condition::blocked(Blocker::Forge, "asking again", why)),
        }
        self.pass_over(pass, now)
    }

    /// The pass is done: is it a cycle, and does anything end the loop (WL-47)?
    fn pass_over(&mut self, pass: Box<Pass>, now: Millis) -> Next {
        self.note_rest(&pass);
        self.close_round(&pass);
        let resolved = pass.items.iter().filter(|item| self.answered_here(item)).count() as u32;
        let cycle = Cycle { count: self.memory.cycles, max: self.request.loops.cycles, resolved };
        let mut conditions = pass.conditions;
        // Read before it is counted: a pass that ends with some of the signs is no cycle (WL-47, rows 2 and 4).
        if conditions.is_empty() {
            conditions.extend(self.signs());
        }
        let returned = returned(&conditions);
        // The policy refuses fewer cycles than one before a loop begins.
        if let Ok(decided) = cycle_decision(cycle, returned) {
            self.memory.cycles = decided.count;
            let is_new = |reason: &_| !conditions.iter().any(|condition| condition.reason == *reason);
            conditions.extend(decided.end.filter(is_new).map(Condition::of));
        }
        if !conditions.is_empty() {
            return self.close(conditions);
        }
        if self.request.loops.once {
            return self.close(Vec::new());
        }
        if resolved > 0 {
            self.memory.idle_until = now.saturating_add(self.request.loops.wait.idle.as_millis());
        }
        self.wait(false, now)
    }

    /// Was it fixed, declined or deferred? What asks for nothing makes no cycle (WL-47).
    fn answered_here(&self, item: &Item) -> bool {
        self.settled(item) && !matches!(self.memory.ends.get(&item.id), Some((_, End::NothingAsked)))
    }

    pub(super) fn settled(&self, item: &Item) -> bool {
        self.memory.ends.get(&item.id).is_some_and(|(last_word, end)| *last_word == item.last_word && end.is_settled())
    }

    /// Items that got no answer have come to something too.
    fn note_rest(&mut self, pass: &Pass) {
        for item in &pass.items {
            if self.memory.ends.get(&item.id).is_some_and(|(last_word, _)| *last_word == item.last_word) {
                continue;
            }
            let leader = pass.same_as.get(&item.id).unwrap_or(&item.id);
            let end = match pass.assessment(leader) {
                Some(Assessment { decision: Decision::Noise, .. }) => End::NothingAsked,
                Some(Assessment { decision: Decision::Ask, rationale, .. }) => End::Asked { question: rationale.clone() },
                Some(Assessment { decision: Decision::Replan, rationale, .. }) => End::Open { why: rationale.clone() },
                Some(_) | None => {
                    let outcome = pass.made.as_ref().and_then(|made| made.outcomes.get(leader));
                    let why = match outcome {
                        Some(FixOutcome::Refused(refusal)) => refusal.to_string(),
                        Some(FixOutcome::Nothing(why)) => why.clone(),
                        _ => "it was not answered".to_owned(),
                    };
                    End::Open { why }
                }
            };
            self.memory.ends.insert(item.id.clone(), (item.last_word.clone(), end));
        }
    }
}

/// What a pass came back with, for the arithmetic of cycles.
fn returned(conditions: &[Condition]) -> Return {
    match conditions.iter().map(|condition| condition.reason).min() {
        // The limit itself is decided later; until then only a finding that came back ends with it.
        Some(Reason::MaxCyclesReached) => Return::SameFindingRepeat,
        Some(reason) => Return::try_from(reason).unwrap_or(Return::Clean),
        None => Return::Clean,
    }
}

/// The commit that answers an item, and what it does.
fn fix_of(pass: &Pass, item: &ItemId) -> Option<(Sha, String)> {
    // What was not pushed answers nothing.
    pass.landed.as_ref()?;
    let outcomes = &pass.made.as_ref()?.outcomes;
    match outcomes.get(item)? {
        FixOutcome::Made { commit, summary, .. } => Some((commit.clone(), summary.clone())),
        FixOutcome::With { item: other } => match outcomes.get(other)? {
            FixOutcome::Made { commit, summary, .. } => Some((commit.clone(), summary.clone())),
            _ => None,
        },
        FixOutcome::Recorded { .. } | FixOutcome::Refused(_) | FixOutcome::Nothing(_) => None,
    }
}

impl Pass {
    fn defers(&self, id: &ItemId) -> bool {
        self.assessment(id).is_some_and(|assessment| assessment.decision == Decision::Defer)
    }

    /// Where what is deferred stands in the record. What was not pushed stands nowhere.
    fn recorded(&self) -> BTreeMap<ItemId, Result<String, String>> {
        let outcome = |id: &ItemId| self.made.as_ref().and_then(|made| made.outcomes.get(id));
        let home = |item: &Fixable| match outcome(&item.id) {
            Some(FixOutcome::Recorded { commit: None, home }) => Ok(home.clone()),
            Some(FixOutcome::Recorded { commit: Some(_), home }) if self.landed.is_some() => Ok(home.clone()),
            Some(FixOutcome::Nothing(why)) => Err(why.clone()),
            _ => Err("it was not recorded".to_owned()),
        };
        self.leaders().filter(|item| self.defers(&item.id)).map(|item| (item.id.clone(), home(item))).collect()
    }
}
