//! One function for each condition. What is not known is `Unknown`, and each answer that is not `Met` says what helps.

use super::{By, Condition, Cure, Name, Standing};
use crate::combine::verdict::{Outcome, Verdict};
use crate::feedback::right::NO_RIGHT;
use crate::merge::facts::{Declared, Dependency, DependencyState, Facts, HeadMaker, Reviewed};
use crate::merge::policy::{Confirm, MergePolicy, VerifiedBy, Wanted};
use crate::merge::words::{counted, listed, named};
use crate::publish::status::CONTEXT;
use crate::publish::visible::visible_line;
use crate::pull::facts::{Check, CheckState, Mergeable, Obstacle, PullState, RequiredChecks};
use crate::pull::told::Told;
use std::collections::BTreeSet;

pub(super) fn standing(name: Name, policy: &MergePolicy, facts: &Facts, wanted: Wanted, before: &[Condition]) -> Standing {
    match name {
        Name::Open => open(facts),
        Name::NotDraft => not_draft(facts),
        Name::NoHoldLabel => no_hold_label(policy, facts),
        Name::NoConflict => no_conflict(facts),
        Name::NoConflictMarkers => no_conflict_markers(facts),
        Name::DependenciesMerged => dependencies_merged(facts),
        Name::ChecksGreen => checks_green(policy, facts),
        Name::Reviewed => reviewed(facts),
        Name::VerdictLgtm => verdict_lgtm(facts),
        Name::NoBlockingFinding => no_blocking_finding(facts),
        Name::Verified => verified(policy, facts),
        Name::NoChangesRequested => no_changes_requested(facts),
        Name::ThreadsSettled => threads_settled(facts),
        Name::Approvals => approvals(policy, facts),
        Name::Author => author(facts),
        Name::FeedbackSettled => feedback_settled(facts),
        Name::GatesAnswered => gates_answered(policy, facts),
        Name::MethodAllowed => method_allowed(policy, facts),
        Name::HeadGuarded => head_guarded(facts),
        Name::ForgeAllows => forge_allows(facts, before),
        Name::MergingAllowed => merging_allowed(policy, wanted),
    }
}

fn met(note: impl Into<String>) -> Standing {
    Standing::Met { note: note.into() }
}

fn unmet(because: impl Into<String>, by: By, what: impl Into<String>) -> Standing {
    Standing::Unmet { because: because.into(), cure: Cure { by, what: what.into() } }
}

fn unknown(because: impl Into<String>, by: By, what: impl Into<String>) -> Standing {
    Standing::Unknown { because: because.into(), cure: Cure { by, what: what.into() } }
}

/// A read that failed, with its reason.
fn unread(what: &str, because: &str) -> Standing {
    unknown(format!("{what} could not be read: {}", visible_line(because)), By::Person, "let the token read it, or try again")
}

fn open(facts: &Facts) -> Standing {
    match facts.state {
        PullState::Open => met("open"),
        PullState::Merged => unmet("it is merged already", By::Person, "nothing is left to do"),
        PullState::Closed => unmet("it was closed", By::Person, "reopen it if it is still wanted"),
    }
}

fn not_draft(facts: &Facts) -> Standing {
    match facts.draft {
        false => met("no draft"),
        true => unmet("it is a draft", By::Person, "mark it as ready when it is"),
    }
}

fn no_hold_label(policy: &MergePolicy, facts: &Facts) -> Standing {
    match policy.holding(&facts.labels) {
        None => met("no label holds it back"),
        Some(label) => unmet(format!("the label {} holds it back", named(label)), By::Person, "take the label off"),
    }
}

fn no_conflict(facts: &Facts) -> Standing {
    let base = named(&facts.base_branch);
    match facts.mergeable {
        Mergeable::Yes | Mergeable::Behind | Mergeable::Blocked => met(format!("no conflict with {base}")),
        Mergeable::Conflict => unmet(
            format!("it conflicts with {base}"),
            By::Person,
            format!("bring {base} into {} and settle the conflict", named(&facts.head_branch)),
        ),
        Mergeable::Unknown if facts.state == PullState::Open => {
            unknown("the forge has not worked out yet whether it merges", By::Time, "ask again in a moment")
        }
        Mergeable::Unknown => unknown("the forge does not say of a closed one whether it merges", By::Person, "reopen it"),
    }
}

fn no_conflict_markers(facts: &Facts) -> Standing {
    match &facts.conflict_markers {
        Told::Unknown(because) => unread("the change", because),
        Told::Is(markers) if markers.is_empty() => met("no conflict markers"),
        Told::Is(markers) => unmet(
            format!(
                "conflict markers stand in {}",
                listed(markers.iter().map(|marker| named(&format!("{}:{}", marker.path, marker.line))))
            ),
            By::Person,
            "finish the merge that left them",
        ),
    }
}

fn dependencies_merged(facts: &Facts) -> Standing {
    let dependencies = match &facts.dependencies {
        Told::Unknown(because) => return unread("what it depends on", because),
        Told::Is(dependencies) => dependencies,
    };
    let undone = |dependency: &&Dependency| {
        !matches!(
            (&dependency.state, dependency.declared),
            (Told::Is(DependencyState::Done), Declared::InWords | Declared::InPlan)
        )
    };
    let Some(first) = dependencies.iter().find(undone) else {
        return met(match dependencies.len() {
            0 => "depends on nothing".to_owned(),
            count => format!("{} done", counted(count, "dependency", "dependencies")),
        });
    };
    let on = first.on;
    match (&first.state, first.declared) {
        (Told::Unknown(because), _) => unread(&format!("{on}, which it depends on,"), because),
        (Told::Is(DependencyState::Circular), _) => unmet(
            format!("it depends on {on}, which depends on it"),
            By::Person,
            "take one of the dependencies out of its description",
        ),
        (Told::Is(DependencyState::Open), Declared::Stacked) => {
            unmet(format!("it is stacked on {on}, which is open"), By::Person, format!("merge {on} first"))
        }
        (Told::Is(DependencyState::Open), Declared::InWords | Declared::InPlan) => {
            unmet(format!("it depends on {on}, which is open"), By::Person, format!("merge or close {on} first"))
        }
        (Told::Is(DependencyState::Abandoned), _) => unmet(
            format!("it depends on {on}, which was closed without being merged"),
            By::Person,
            "take the dependency out, if it is none any more",
        ),
        (Told::Is(DependencyState::Done), _) => unmet(
            format!("its base {} is the branch of {on}, which is merged", named(&facts.base_branch)),
            By::Person,
            "change its base to the branch that the other was merged into",
        ),
    }
}

fn checks_green(policy: &MergePolicy, facts: &Facts) -> Standing {
    let (checks, required) = match (&facts.checks, &facts.rules.checks) {
        (Told::Unknown(because), _) => return unread("the checks", because),
        (_, Told::Unknown(because)) => return unread("which checks the base requires", because),
        (Told::Is(checks), Told::Is(required)) => (checks, required),
    };
    let in_state = |wanted: &[CheckState]| -> Vec<String> {
        checks.iter().filter(|check| wanted.contains(&check.state)).map(|check| named(&check.name)).collect()
    };
    let red = in_state(&[CheckState::Failure, CheckState::Error]);
    if !red.is_empty() {
        let verb = if red.len() == 1 { "is" } else { "are" };
        return unmet(format!("{} {verb} red", listed(red)), By::Person, "fix what it says, or run it again");
    }
    let pending = in_state(&[CheckState::Pending]);
    if !pending.is_empty() {
        let verb = if pending.len() == 1 { "is" } else { "are" };
        return unmet(format!("{} {verb} still running", listed(pending)), By::Time, "wait for it");
    }
    let missing = missing(required, checks);
    if !missing.is_empty() {
        let verb = if missing.len() == 1 { "is" } else { "are" };
        let what = "wait for it; if it never starts, look at the workflow or at the branch's rules";
        return unmet(format!("{} {verb} required and not there", listed(missing)), By::Time, what);
    }
    match checks.iter().filter(|check| check.name != CONTEXT).count() {
        0 if policy.require_checks => unmet(
            "no checks, and `merge.require_checks` asks for some",
            By::Time,
            "wait for one to start, or take the setting out",
        ),
        0 if required.any => unmet("no checks, and the base requires one", By::Time, "wait for one to start"),
        0 => met("no checks"),
        count => met(format!("{} green", counted(count, "check", "checks"))),
    }
}

/// The required ones that nobody has reported.
fn missing(required: &RequiredChecks, checks: &[Check]) -> Vec<String> {
    let names = required.names.iter().filter(|name| !checks.iter().any(|check| check.name == **name));
    let patterns = required.patterns.iter().filter(|pattern| !checks.iter().any(|check| matches(pattern, &check.name)));
    names.chain(patterns).map(|name| named(name)).collect()
}

/// A pattern that cannot be read matches nothing, and so is missing.
fn matches(pattern: &str, name: &str) -> bool {
    globset::Glob::new(pattern).is_ok_and(|glob| glob.compile_matcher().is_match(name))
}

fn review_command(facts: &Facts) -> String {
    format!("`tribunal review {}`", facts.number)
}

fn reviewed(facts: &Facts) -> Standing {
    let review = match &facts.review {
        Told::Unknown(because) => return unread("our last review", because),
        Told::Is(None) => return unmet("it was never reviewed", By::Tribunal, review_command(facts)),
        Told::Is(Some(review)) => review,
    };
    if review.head != facts.head {
        let because = format!("the last review is of {}, and the head is {}", review.head.short(), facts.head.short());
        return unmet(because, By::Tribunal, review_command(facts));
    }
    if !review.place().is_same(facts.place()) {
        let of = match &review.base_branch {
            Some(branch) => format!("was made for a merge into {}", named(branch)),
            None => "does not name the branch that it was made for".to_owned(),
        };
        let because = format!("the last review {of}, and the base is {}", named(&facts.base_branch));
        return unmet(because, By::Tribunal, review_command(facts));
    }
    match review.outcome {
        Outcome::Clean | Outcome::Findings => met(format!("reviewed at {} (run {})", review.head.short(), review.run)),
        Outcome::Incomplete => unmet("its review is incomplete", By::Tribunal, review_command(facts)),
        Outcome::NotRun => unmet("its review did not run", By::Tribunal, review_command(facts)),
    }
}

/// The review of this head, or what to say without one.
fn review(facts: &Facts) -> Result<&Reviewed, Standing> {
    facts.review_of_head().ok_or_else(|| unknown("no review of this head says so", By::Tribunal, review_command(facts)))
}

fn verdict_lgtm(facts: &Facts) -> Standing {
    match review(facts).map(|review| review.verdict) {
        Err(standing) => standing,
        Ok(Some(Verdict::Lgtm)) => met("LGTM"),
        Ok(Some(verdict @ (Verdict::Minor | Verdict::Major))) => {
            unmet(format!("the verdict is {}", verdict.word()), By::Person, "answer the findings, and have it reviewed again")
        }
        Ok(Some(Verdict::Blocked)) => {
            unmet("the verdict is BLOCKED", By::Person, "bring in what it waits for, and have it reviewed again")
        }
        Ok(None) => unmet("its review came to no verdict", By::Tribunal, review_command(facts)),
    }
}

fn no_blocking_finding(facts: &Facts) -> Standing {
    match review(facts) {
        Err(standing) => standing,
        Ok(review) if review.blocking.is_empty() => met("no finding blocks"),
        Ok(review) => {
            let ids = listed(review.blocking.iter().map(ToString::to_string));
            let verb = if review.blocking.len() == 1 { "blocks" } else { "block" };
            unmet(format!("{ids} {verb}"), By::Person, "fix or dismiss it")
        }
    }
}

fn verified(policy: &MergePolicy, facts: &Facts) -> Standing {
    if let Some(consent) = facts.consent() {
        return met(format!("{} said that it may be merged", visible_line(&consent.by)));
    }
    if let Some(person) = facts.people.as_ref().known().and_then(|people| people.approved.first()) {
        return met(format!("verified by {}", visible_line(person)));
    }
    let review = match review(facts) {
        Ok(review) => review,
        Err(standing) => return standing,
    };
    let fixers = match &facts.fixers {
        Told::Unknown(because) => return unread("who fixed it", because),
        Told::Is(fixers) => fixers,
    };
    let other = review.agents.iter().find(|agent| !fixers.contains(agent));
    match (other, policy.verified_by) {
        (Some(agent), _) => met(format!("verified by {}", visible_line(agent.as_str()))),
        (None, VerifiedBy::Rules) if review.rules => met("verified by rules"),
        (None, _) if !review.agents.is_empty() => {
            unmet("only the agent that fixed it has looked at it since", By::Person, "approve it, or let another agent review it")
        }
        (None, _) => unmet(
            "only rules have looked at it",
            By::Person,
            "approve it, let an agent review it, or set `merge.verified_by = \"rules\"`",
        ),
    }
}

fn no_changes_requested(facts: &Facts) -> Standing {
    match &facts.people {
        Told::Unknown(because) => unread("the reviews", because),
        Told::Is(people) if people.asking.is_empty() => met("nobody asks for changes"),
        Told::Is(people) => {
            let verb = if people.asking.len() == 1 { "asks" } else { "ask" };
            let who = listed(people.asking.iter().map(|login| visible_line(login)));
            unmet(format!("{who} {verb} for changes"), By::Person, "make them, and ask for another look")
        }
    }
}

/// A person's thread stays open until a person closes it; an approval of this head by the same person says as much.
fn threads_settled(facts: &Facts) -> Standing {
    let people = match &facts.people {
        Told::Unknown(because) => return unread("the threads", because),
        Told::Is(people) => people,
    };
    let open: Vec<_> = people.threads.iter().filter(|thread| !people.approved.contains(&thread.by)).collect();
    if open.is_empty() {
        return met("no thread of a person is open");
    }
    if let Some(consent) = facts.consent() {
        return met(format!(
            "{} said that it may be merged over {}",
            visible_line(&consent.by),
            counted(open.len(), "open thread", "open threads")
        ));
    }
    let places = listed(open.iter().map(|thread| match (thread.path.as_str(), thread.line) {
        ("", _) => format!("the one of {}", visible_line(&thread.by)),
        (path, Some(line)) => named(&format!("{path}:{line}")),
        (path, None) => named(path),
    }));
    let verb = if open.len() == 1 { "is" } else { "are" };
    let because = format!("{} of people {verb} open: {places}", counted(open.len(), "thread", "threads"));
    // Anybody can open one, and it is still a person's to close; but nobody waits for us to act on it.
    let strangers: BTreeSet<String> =
        open.iter().filter(|thread| thread.may_write == Some(false)).map(|thread| visible_line(&thread.by)).collect();
    let because = match strangers.is_empty() {
        true => because,
        false => format!("{because}; not acted on: {NO_RIGHT} ({})", listed(strangers)),
    };
    let what = match open.iter().all(|thread| thread.answered) {
        true => "they are answered; whoever opened them resolves them",
        false => "answer and resolve them",
    };
    unmet(because, By::Person, what)
}

fn approvals(policy: &MergePolicy, facts: &Facts) -> Standing {
    let wanted = match &facts.rules.approvals {
        Told::Unknown(because) => return unread("how many approvals the base wants", because),
        Told::Is(wanted) => (*wanted).max(policy.approvals) as usize,
    };
    let people = match &facts.people {
        Told::Unknown(because) => return unread("the reviews", because),
        Told::Is(people) => people,
    };
    if people.approved.len() >= wanted {
        return met(match people.approved.len() {
            0 => "no approval is wanted".to_owned(),
            _ => format!("approved by {}", listed(people.approved.iter().map(|login| visible_line(login)))),
        });
    }
    let have = people.approved.len();
    if have + people.unsure.len() >= wanted {
        let who = listed(people.unsure.iter().map(|login| visible_line(login)));
        return unknown(
            format!("whether {who} may approve, and did so for this base, could not be found out"),
            By::Person,
            "let the token read who may write here, or merge it by hand",
        );
    }
    let stale = match people.approved_before.is_empty() {
        true => String::new(),
        false => format!(
            "; {} approved an earlier head or another base",
            listed(people.approved_before.iter().map(|login| visible_line(login)))
        ),
    };
    unmet(
        format!("{} of {} by people{stale}", have, counted(wanted, "approval", "approvals")),
        By::Person,
        "ask for a review; a bot's approval does not count",
    )
}

/// A change of somebody who may not write is a person's to let in: somebody who may has looked at exactly this head and approved it.
/// Labels, words, a spec and an answer to a question of ours do not stand for that.
fn author(facts: &Facts) -> Standing {
    let who = |maker: &HeadMaker| visible_line(&maker.login);
    let lacking: Vec<&HeadMaker> = facts.made_by.iter().filter(|maker| maker.may_write != Told::Is(true)).collect();
    let Some(first) = lacking.first() else {
        return match facts.made_by.as_slice() {
            [] => unknown("who made this head is not known", By::Tribunal, "ask again"),
            [one] => met(format!("{} may write here", who(one))),
            all => met(format!("{} may write here", listed(all.iter().map(who)))),
        };
    };
    let people = match &facts.people {
        Told::Unknown(because) => return unread("the reviews", because),
        Told::Is(people) => people,
    };
    let by = listed(people.approved.iter().map(|login| visible_line(login)));
    if !by.is_empty() {
        return met(format!("approved at {} by {by}, who may write here", facts.head.short()));
    }
    let cure = format!("somebody who may write here approves exactly {}; a bot's approval does not count", facts.head.short());
    let part = first.part.deed();
    match &first.may_write {
        Told::Unknown(because) => {
            let because =
                format!("whether {}, who {part}, may write here could not be read: {}", who(first), visible_line(because));
            unknown(because, By::Person, cure)
        }
        Told::Is(_) => unmet(format!("{}, who {part}, may not write here", who(first)), By::Person, cure),
    }
}

/// A merge that was held back because of feedback stays held by our own record. Whoever spoke can delete their words; that settles
/// nothing.
fn feedback_settled(facts: &Facts) -> Standing {
    match &facts.holds {
        Told::Unknown(because) => unread("our record of what held it back", because),
        Told::Is(holds) => match holds.iter().find(|hold| hold.stands(facts)) {
            None => met("no feedback holds it back"),
            Some(hold) => unmet(
                format!("it is held at {}: {}", facts.head.short(), visible_line(&hold.reason)),
                By::Person,
                "somebody who may write here approves this head or says that it may be merged, or a new head is reviewed",
            ),
        },
    }
}

fn gates_answered(policy: &MergePolicy, facts: &Facts) -> Standing {
    let gates = match &facts.gates {
        Told::Unknown(because) => return unread("the questions to people", because),
        Told::Is(gates) => gates,
    };
    if let Some(gate) = gates.refused.first() {
        return unmet(format!("{} was answered with no", named(&gate.name)), By::Person, "it is theirs to merge");
    }
    if let Some(gate) = gates.pending.first() {
        return unmet(
            format!("{} waits for an answer: {}", named(&gate.name), visible_line(&gate.question)),
            By::Person,
            "answer it",
        );
    }
    match (facts.consent(), policy.confirm) {
        (Some(consent), _) => met(format!("{} said that it may be merged", visible_line(&consent.by))),
        (None, Confirm::Auto) => met("no question waits"),
        (None, Confirm::Always) => {
            unmet("`merge.confirm` asks for a person's word before each merge", By::Person, "say that it may be merged")
        }
    }
}

fn method_allowed(policy: &MergePolicy, facts: &Facts) -> Standing {
    let wanted = policy.method.word();
    match &facts.rules.methods {
        Told::Unknown(because) => unread("which ways of merging the repository allows", because),
        Told::Is(methods) if methods.contains(&policy.method) => met(format!("{wanted} is allowed")),
        Told::Is(methods) if methods.is_empty() => {
            unmet("the repository allows no way of merging", By::Person, "allow one in its settings")
        }
        Told::Is(methods) => {
            let allowed = listed(methods.iter().map(|method| format!("`{}`", method.word())));
            unmet(
                format!("the repository does not allow `{wanted}`"),
                By::Person,
                format!("set `merge.method` to what it allows: {allowed}"),
            )
        }
    }
}

fn head_guarded(facts: &Facts) -> Standing {
    match &facts.guarded {
        Told::Unknown(because) => unread("what the forge can do", because),
        Told::Is(true) => met("the merge is guarded by the head"),
        Told::Is(false) => unmet("with this token a merge cannot be guarded by the head", By::Person, "merge it by hand"),
    }
}

/// The forge's own word comes last: most of what it means stands above it already, with its reason.
fn forge_allows(facts: &Facts, before: &[Condition]) -> Standing {
    let explained = before.iter().any(|condition| {
        !condition.is_met()
            && matches!(
                condition.name,
                Name::Open
                    | Name::NotDraft
                    | Name::ChecksGreen
                    | Name::NoChangesRequested
                    | Name::ThreadsSettled
                    | Name::Approvals
            )
    });
    match facts.rules.obstacle {
        Some(Obstacle::MergeQueue) => {
            let because = format!("everything goes into {} through the forge's merge queue", named(&facts.base_branch));
            return unmet(because, By::Person, "add it to the queue");
        }
        Some(Obstacle::NotAllowed) => {
            let because = format!("our account may not merge into {}", named(&facts.base_branch));
            return unmet(because, By::Person, "let the account merge there, or merge it by hand");
        }
        None => {}
    }
    match facts.mergeable {
        Mergeable::Yes => met("the forge would merge it"),
        Mergeable::Behind => unmet(
            format!("it is behind {}, and the forge merges only what is up to date", named(&facts.base_branch)),
            By::Tribunal,
            "bring the base in, and have it checked and reviewed again",
        ),
        Mergeable::Blocked if explained => {
            unmet("the forge says that it is blocked, which follows from the above", By::Time, "see above")
        }
        Mergeable::Blocked => unmet(
            "the forge says that it is blocked",
            By::Person,
            format!("see what {} says about merging it", visible_line(&facts.url)),
        ),
        Mergeable::Conflict => unmet("the forge does not merge over a conflict", By::Time, "see above"),
        Mergeable::Unknown => unknown("the forge does not say yet", By::Time, "ask again in a moment"),
    }
}

fn merging_allowed(policy: &MergePolicy, wanted: Wanted) -> Standing {
    match (wanted.is_allowed(policy), wanted) {
        (true, Wanted::Asked) => met("merging was asked for"),
        (true, _) => met("`merge.when = \"approved\"`"),
        (false, Wanted::Refused) => unmet("this run merges nothing", By::Person, "merge it by hand"),
        (false, _) => {
            unmet("merging is off", By::Person, "merge it by hand, or set `merge.when = \"approved\"`, or use `--merge`")
        }
    }
}
