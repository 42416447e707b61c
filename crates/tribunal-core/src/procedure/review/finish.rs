//! The last step of a review: from all answers to one document.

use super::brought::Brought;
use super::pull::dismiss;
use super::{Plan, Publishing, Request, Reviewing, SeatAnswer, SecondOpinion, Spend};
use crate::combine::finding::Finding;
use crate::combine::verdict::{WholeReview, outcome, status, tier, verdict};
use crate::combine::{Combined, Said, combine, dismissal, doubt, opinion, rule_proposal};
use crate::diff::language::Language;
use crate::findings::admit::AdmittedReport;
use crate::findings::key::sha256_hex;
use crate::findings::silenced::Silenced;
use crate::ids::{AgentName, RepoPath};
use crate::plan::files::{NotReviewed, SkipReason};
use crate::plan::panel::Seat;
use crate::policy::agents::AgentConfig;
use crate::procedure::Millis;
use crate::prompt::prompts_hash;
use crate::publish::outgoing::masked_texts;
use crate::publish::summary::{Partial, summary_line};
use crate::report::document::{Document, SeatFailure};
use crate::report::receipt::{
    Bill, ContextReceipt, Coverage, FileAccount, FileEnd, LookedBy, Read, Receipt, RulesCheck, RulesDepth, SeatReceipt,
    SeatState, SecondOpinionReceipt, account,
};
use std::collections::{BTreeMap, BTreeSet};

pub fn document(
    request: &Request,
    reviewing: Reviewing,
    opinion: Option<SecondOpinion>,
    started_at: Millis,
    finished_at: Millis,
) -> Publishing {
    let mut combined = combined(request, &reviewing);
    let Reviewing { plan, answers } = reviewing;
    let mut refuted = Vec::new();
    if let Some(opinion) = &opinion {
        let findings = std::mem::take(&mut combined.findings);
        (combined.findings, refuted) = opinion::apply(findings, &opinion.agent, &opinion.opinions);
    }
    let mut failures = failures(&plan, &answers);
    if let Some(reason) = request.brought().and_then(|brought| brought.trouble.clone()) {
        let seat = Seat { role: "receipt".into(), agent: "receipt".into(), sample: 0 };
        failures.push(SeatFailure { seat, reason });
    }
    failures.extend(verifier_not_trusted(request));
    let coverage = coverage(request, &plan, &answers);
    let capped = opinion.as_ref().is_some_and(|opinion| matches!(opinion.state, SeatState::OverBudget { .. }));
    let whole = WholeReview::new(coverage.whole(), !failures.is_empty() || capped);
    let someone_looked = answers.values().any(SeatAnswer::has_looked);
    let gaps = combined.spec_gaps.len();
    let tier = tier(&combined.findings, gaps, someone_looked);
    let outcome = outcome(&combined.findings, gaps, whole);
    let verdict = verdict(&combined.findings, &combined.missing_prerequisites, whole);
    let partial = Partial::new(&failures, plan.panel.standing().count(), &coverage);
    let mut dropped_counts = BTreeMap::new();
    for dropped in &combined.dropped {
        *dropped_counts.entry(dropped.reason).or_insert(0) += 1;
    }
    for (reason, count) in answers.values().flat_map(|answer| &answer.report.left_alone) {
        *dropped_counts.entry(*reason).or_insert(0) += count;
    }
    let seats = seats(request, &plan, &answers);
    let second_opinion = opinion.map(|opinion| second_opinion(&opinion, refuted.len()));
    let parts = seats.iter().map(|seat| (&seat.usage, seat.cost));
    let bill = Bill::of(parts.chain(second_opinion.iter().map(|opinion| (&opinion.usage, opinion.cost))));
    let rules_check = rules_check(request, &plan, &answers);
    let looked_by = LookedBy::of(&seats, rules_check);
    let asked_a_model = seats.iter().any(|seat| seat.model.is_some());
    let names = combined.ids.names().clone();
    let mut document = Document {
        version: 1,
        mode: if request.pull.is_some() { "pull".into() } else { "local".into() },
        iteration: plan.iteration,
        history: plan.history.clone(),
        pull: request.pull.as_ref().map(|pull| pull.subject.clone()),
        publication: None,
        base: request.target.base(),
        head: request.target.head(),
        last_sha: plan.since.clone(),
        status: status(tier, whole),
        tier,
        outcome,
        verdict,
        summary_line: summary_line(&partial, tier, &combined.findings, gaps, combined.checked_clean.len(), looked_by),
        subagent_failures: failures,
        notices: notices(request, &plan, &answers, &coverage, second_opinion.as_ref()),
        fail_level: request.policy.fail_level,
        max_listed_p3: request.policy.caps.listed_p3,
        receipt: Receipt {
            version: 1,
            run: request.run.clone(),
            engine: request.engine.clone(),
            base: request.target.base(),
            head: request.target.head(),
            base_branch: request.base_branch().cloned(),
            subject: request.target.subject().to_owned(),
            mode: plan.mode,
            since: plan.since.clone(),
            widened: plan.widened.clone(),
            fingerprint: request.review_fingerprint(),
            seats,
            not_called: plan.panel.not_called.clone(),
            coverage,
            dropped: dropped_counts,
            bill,
            prompts_hash: asked_a_model.then(prompts_hash),
            second_opinion,
            rules_check,
            context: context(&plan, &answers),
            outcome,
            verdict,
            started_at,
            finished_at,
        },
        findings: combined.findings,
        spec_gaps: combined.spec_gaps,
        prior_verifications: combined.prior_verifications,
        checked_and_clean: combined.checked_clean,
        missing_prerequisites: combined.missing_prerequisites,
        dropped: combined.dropped,
        references: request.pull.as_ref().map(|pull| pull.references.clone()).unwrap_or_default(),
        refuted,
        proposals: Vec::new(),
    };
    dismiss(&mut document, &plan.dismissals);
    document.proposals = rule_proposal::proposals(&plan.rule_dismissals, &document.findings);
    // Every format, the ledger and the pull request show this document; no secret gets into it.
    Publishing { document: masked_texts(&document), names, built_on: plan.built_on.clone(), is_restated: false }
}

/// The doubtful findings that an agent other than their author may try to refute. What is dismissed is not asked about.
pub fn to_verify(request: &Request, reviewing: &Reviewing, agent: &AgentName) -> Vec<Finding> {
    let dismissals = &reviewing.plan.dismissals;
    let is_dismissed = |finding: &Finding| dismissal::find(dismissals, finding.id).is_some_and(|word| word.accepted);
    let is_asked = |finding: &Finding| doubt::is_asked(finding, agent, request.policy.fail_level) && !is_dismissed(finding);
    combined(request, reviewing).findings.into_iter().filter(is_asked).collect()
}

fn combined(request: &Request, reviewing: &Reviewing) -> Combined {
    let Reviewing { plan, answers } = reviewing;
    let directives = request.directives();
    let paths: BTreeSet<RepoPath> = plan.files.iter().map(|planned| planned.file.path.clone()).collect();
    let window: Option<BTreeSet<RepoPath>> = plan
        .since
        .as_ref()
        .map(|_| plan.files.iter().filter(|planned| planned.in_scope).map(|planned| planned.file.path.clone()).collect());
    let speakers = request.policy.speakers();
    let said = Said {
        roles: &request.roles,
        reports: answers.values().map(|answer| &answer.report).collect(),
        mode: plan.mode,
        prior: &plan.prior,
        prior_gaps: &plan.prior_gaps,
        spec: request.spec.as_deref(),
        directives: &directives,
        caps: request.policy.caps,
        iteration: plan.iteration,
        paths: &paths,
        brought: request.brought().map_or(&[], |brought| brought.findings.as_slice()),
        dismissed: &plan.dismissals,
        speakers: &speakers,
        window: window.as_ref(),
    };
    combine(&said, plan.ids.clone())
}

fn second_opinion(opinion: &SecondOpinion, refuted: usize) -> SecondOpinionReceipt {
    SecondOpinionReceipt {
        agent: opinion.agent.clone(),
        state: opinion.state.clone(),
        asked: opinion.asked,
        confirmed: opinion.opinions.iter().filter(|opinion| opinion.stand == opinion::Stand::Confirmed).count() as u32,
        refuted: refuted as u32,
        usage: opinion.spend.usage,
        cost: opinion.spend.cost,
    }
}

fn failures(plan: &Plan, answers: &BTreeMap<String, SeatAnswer>) -> Vec<SeatFailure> {
    let reason = |seat: &Seat| match answers.get(&seat.to_string()) {
        Some(answer) => match answer.state.trouble() {
            Some(trouble) => Some(trouble),
            None => unread(&answer.report).or_else(|| over_cap(&answer.report)),
        },
        None => Some("was never asked".into()),
    };
    plan.panel.standing().filter_map(|seat| Some(SeatFailure { seat: seat.clone(), reason: reason(seat)? })).collect()
}

fn unread(report: &AdmittedReport) -> Option<String> {
    let first = report.unread.first()?;
    Some(format!("did not read {} file(s), first {}: {}", report.unread.len(), first.path, first.reason))
}

/// What a reviewer saw and could not say is missing from the review.
fn over_cap(report: &AdmittedReport) -> Option<String> {
    let counts: Vec<String> = report.over_cap.iter().map(|(priority, count)| format!("{count} {priority}")).collect();
    let kept = report.findings.len();
    (!counts.is_empty()).then(|| format!("reported too many findings: {kept} are kept, and {} are not", counts.join(" and ")))
}

/// A second opinion that nobody was trusted to give makes the review incomplete, as a seat would.
fn verifier_not_trusted(request: &Request) -> Option<SeatFailure> {
    let agent = &request.policy.verify.as_ref()?.agent;
    let why = request.policy.agents.get(agent)?.not_trusted()?;
    let reason = SeatState::NotTrusted { reason: why.into() }.trouble()?;
    Some(SeatFailure { seat: Seat { role: "verify".into(), agent: agent.clone(), sample: 0 }, reason })
}

fn seats(request: &Request, plan: &Plan, answers: &BTreeMap<String, SeatAnswer>) -> Vec<SeatReceipt> {
    plan.panel
        .seats
        .iter()
        .map(|seat| {
            let agent = request.policy.agents.get(&seat.agent);
            let prompt = request.roles.iter().find(|role| role.name == seat.role).map_or("", |role| role.prompt.as_str());
            let unasked;
            let answer = match answers.get(&seat.to_string()) {
                Some(answer) => answer,
                None => {
                    let state = SeatState::Failed { reason: "was never asked".into() };
                    unasked = SeatAnswer::troubled(state, Spend::default());
                    &unasked
                }
            };
            SeatReceipt {
                seat: seat.clone(),
                kind: agent.map_or("unknown", AgentConfig::kind).to_owned(),
                model: agent.and_then(AgentConfig::model).map(str::to_owned),
                prompt_hash: sha256_hex(prompt.as_bytes()),
                state: answer.state.clone(),
                replaced_by: plan.panel.replaced.get(&seat.to_string()).map(|seat| seat.agent.clone()),
                findings: answer.report.findings.len() as u32,
                dropped: answer.report.dropped.len() as u32 + answer.report.left_alone.values().sum::<u32>(),
                reading: answer.reading,
                calls: answer.spend.calls,
                usage: answer.spend.usage,
                cost: answer.spend.cost,
            }
        })
        .collect()
}

/// Seats of one agent are given the same, so it is listed once.
fn context(plan: &Plan, answers: &BTreeMap<String, SeatAnswer>) -> Vec<ContextReceipt> {
    let mut receipts: Vec<ContextReceipt> = Vec::new();
    for seat in plan.panel.seats.iter().map(Seat::to_string) {
        let Some(given) = answers.get(&seat).and_then(|answer| answer.context.as_deref()) else { continue };
        match receipts.iter_mut().find(|receipt| receipt.given == *given) {
            Some(receipt) => receipt.seats.push(seat),
            None => receipts.push(ContextReceipt { seats: vec![seat], given: given.clone() }),
        }
    }
    receipts
}

/// Every rules seat has looked at the same files, each with the rules of its own categories.
fn rules_check(request: &Request, plan: &Plan, answers: &BTreeMap<String, SeatAnswer>) -> Option<RulesCheck> {
    let is_rules = |seat: &&Seat| matches!(request.policy.agents.get(&seat.agent), Some(AgentConfig::Rules {}));
    let of_rules = plan.panel.seats.iter().filter(is_rules).filter_map(|seat| answers.get(&seat.to_string()));
    let looked: Vec<&SeatAnswer> = of_rules.filter(|answer| answer.has_looked()).collect();
    let files: BTreeSet<&RepoPath> = looked.iter().flat_map(|answer| answer.depths.keys()).collect();
    let rules = looked.iter().map(|answer| answer.rules).sum();
    (!looked.is_empty()).then(|| RulesCheck { rules, files: u32::try_from(files.len()).unwrap_or(u32::MAX) })
}

fn coverage(request: &Request, plan: &Plan, answers: &BTreeMap<String, SeatAnswer>) -> Coverage {
    let mut unread: Vec<BTreeSet<&RepoPath>> = Vec::new();
    let mut rules_looked = false;
    for seat in &plan.panel.seats {
        if let Some(answer) = answers.get(&seat.to_string()).filter(|answer| answer.has_looked()) {
            unread.push(answer.report.unread.iter().map(|unread| &unread.path).collect());
            rules_looked |= matches!(request.policy.agents.get(&seat.agent), Some(AgentConfig::Rules {}));
        }
    }
    let cut: BTreeMap<&RepoPath, NotReviewed> =
        answers.values().flat_map(|answer| &answer.cut).map(|(path, reason)| (path, *reason)).collect();
    let read = |path: &RepoPath| Read {
        whole: unread.iter().any(|unread| !unread.contains(path)),
        lines: rules_looked,
        cut: cut.get(path).copied(),
    };
    let mut depths: BTreeMap<&RepoPath, RulesDepth> = BTreeMap::new();
    for answer in answers.values() {
        for (path, depth) in &answer.depths {
            let best = depths.entry(path).or_insert(*depth);
            *best = (*best).max(*depth);
        }
    }
    Coverage::new(
        plan.files
            .iter()
            .map(|planned| {
                let path = &planned.file.path;
                account(&planned.file, planned.disposition, planned.in_scope, read(path), depths.get(path).copied())
            })
            .collect(),
    )
}

/// Sentences a reader needs before the findings.
fn notices(
    request: &Request,
    plan: &Plan,
    answers: &BTreeMap<String, SeatAnswer>,
    coverage: &Coverage,
    opinion: Option<&SecondOpinionReceipt>,
) -> Vec<String> {
    let mut notices = request.notices.clone();
    notices.extend(request.brought().map(Brought::notice));
    notices.extend(plan.objections.iter().cloned());
    let verifier = request.policy.verify.as_ref().map(|verify| &verify.agent);
    if let Some(reason) = verifier.and_then(|agent| request.pull.as_ref()?.withheld.get(agent)) {
        notices.push(format!("No second opinion was asked for: {reason}."));
    }
    for (seat, stand_in) in &plan.panel.replaced {
        notices.push(format!("{seat} could not answer; {} was asked in its place.", stand_in.agent));
    }
    if let Some(trouble) = opinion.and_then(|opinion| opinion.state.trouble()) {
        notices.push(format!("The second opinion is missing ({trouble}); the findings stand as they were reported."));
    }
    if let Some(widened) = &plan.widened {
        notices.push(format!("⚠️ Full review: {}.", widened.sentence()));
    }
    notices.extend(unverified(plan.unverified));
    notices.extend(not_reviewed(coverage));
    notices.extend(exempt_code(coverage));
    notices.extend(silenced(answers));
    let only_rules =
        plan.panel.standing().all(|seat| matches!(request.policy.agents.get(&seat.agent), Some(AgentConfig::Rules {})));
    if only_rules {
        let by_lines: Vec<&str> = coverage.by_lines().map(|account| account.path.as_str()).collect();
        let mut text = "Built-in rules only: no model and no person has read this change.".to_owned();
        if !by_lines.is_empty() {
            text.push_str(&format!(
                " {} of {} files have no grammar or no whole text here and were checked line by line: {}.",
                by_lines.len(),
                coverage.reviewed,
                listed(&by_lines)
            ));
        }
        notices.push(text);
    }
    notices
}

/// Comments of ours that prove nothing here are not silently left behind.
fn unverified(count: u32) -> Option<String> {
    let what = if count == 1 { "1 earlier finding stands".to_owned() } else { format!("{count} earlier findings stand") };
    (count > 0).then(|| {
        format!(
            "⚠️ {what} on this pull request in comments whose mark cannot be verified here; nobody has verified that what they report is gone."
        )
    })
}

/// One sentence for each reason for which files that should have been read were not.
fn not_reviewed(coverage: &Coverage) -> Vec<String> {
    let mut reasons: BTreeMap<NotReviewed, Vec<&str>> = BTreeMap::new();
    for account in &coverage.accounts {
        if let FileEnd::NotReviewed(reason) = account.ended {
            reasons.entry(reason).or_default().push(account.path.as_str());
        }
    }
    reasons
        .into_iter()
        .map(|(reason, paths)| {
            let what = match paths.as_slice() {
                [path] => format!("{path} was not read"),
                many => format!("{} files were not read", many.len()),
            };
            let names = if paths.len() > 1 { format!(": {}", listed(&paths)) } else { String::new() };
            format!("{what} ({}){names}. To change that, {}.", reason.words(), reason.advice())
        })
        .collect()
}

/// Code that the base exempts is named before the findings: an edit by hand of what a tool wrote is not told from another run of the
/// tool.
fn exempt_code(coverage: &Coverage) -> Option<String> {
    let is_exempt = |account: &&FileAccount| {
        matches!(account.ended, FileEnd::Skipped(SkipReason::Generated | SkipReason::Vendored))
            && Language::of(&account.path).is_some()
    };
    let names: Vec<&str> = coverage.accounts.iter().filter(is_exempt).map(|account| account.path.as_str()).collect();
    let what = match names.len() {
        0 => return None,
        1 => "1 file of code was".to_owned(),
        count => format!("{count} files of code were"),
    };
    Some(format!(
        "{what} not read, because the base knows them as generated or vendored: {}. To have them read, list them under [files] review.",
        listed(&names)
    ))
}

/// What a change's own comments and settings keep the rules and linters from saying is said by name.
fn silenced(answers: &BTreeMap<String, SeatAnswer>) -> Vec<String> {
    let all: BTreeSet<&Silenced> = answers.values().flat_map(|answer| &answer.silenced).collect();
    let place = |one: &Silenced| format!("{}:{}", one.path, one.line);
    let known: Vec<String> = all.iter().filter_map(|one| Some(format!("{} at {}", one.rule.as_ref()?, place(one)))).collect();
    let unread: Vec<String> = all.iter().filter(|one| one.rule.is_none()).map(|one| place(one)).collect();
    let matches = match known.len() {
        1 => "1 match is".to_owned(),
        count => format!("{count} matches are"),
    };
    let known = (!known.is_empty())
        .then(|| format!("{matches} silenced by what this change adds: {}.", listed_up_to(MOST_SILENCED, &known)));
    let unread = (!unread.is_empty()).then(|| {
        format!(
            "It is not known what each linter would say here, where it did not look: {}.",
            listed_up_to(MOST_SILENCED, &unread)
        )
    });
    known.into_iter().chain(unread).collect()
}

/// Many that weigh little must not hide one that weighs more.
const MOST_SILENCED: usize = 50;

/// The first few names, and how many there are beyond them.
fn listed(names: &[&str]) -> String {
    listed_up_to(8, names)
}

fn listed_up_to<S: AsRef<str>>(most: usize, names: &[S]) -> String {
    let shown: Vec<&str> = names.iter().take(most).map(AsRef::as_ref).collect();
    let shown = shown.join(", ");
    match names.len().saturating_sub(most) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}
