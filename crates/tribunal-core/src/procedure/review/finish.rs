//! The last step of a review: from all answers to one document.

use super::{Plan, Request, Reviewing, SeatAnswer};
use crate::combine::verdict::{outcome, status, tier, verdict};
use crate::combine::{Said, combine};
use crate::findings::key::sha256_hex;
use crate::ids::RepoPath;
use crate::plan::files::SkipReason;
use crate::plan::panel::Seat;
use crate::policy::config::AgentConfig;
use crate::policy::context::parse_context;
use crate::procedure::Millis;
use crate::publish::summary::{Partial, summary_line};
use crate::report::document::{Document, SeatFailure};
use crate::report::receipt::{Cost, Coverage, FileEnd, Read, Receipt, RulesDepth, SeatReceipt, SeatState, account};
use std::collections::{BTreeMap, BTreeSet};

pub fn document(request: &Request, reviewing: Reviewing, started_at: Millis, finished_at: Millis) -> Document {
    let Reviewing { plan, answers } = reviewing;
    let directives = request
        .context
        .iter()
        .chain(request.policy.context.iter())
        .filter_map(|text| parse_context(text).ok())
        .flat_map(|context| context.directives)
        .collect::<Vec<_>>();
    let paths: BTreeSet<RepoPath> = plan.files.iter().map(|planned| planned.file.path.clone()).collect();
    let window: Option<BTreeSet<RepoPath>> = plan
        .since
        .as_ref()
        .map(|_| plan.files.iter().filter(|planned| planned.in_scope).map(|planned| planned.file.path.clone()).collect());
    let reports: Vec<_> = answers
        .values()
        .filter_map(|answer| match answer {
            SeatAnswer::Report { report, .. } => Some(report),
            SeatAnswer::Failed { .. } | SeatAnswer::TimedOut { .. } => None,
        })
        .collect();
    let said = Said {
        roles: &request.roles,
        reports,
        mode: plan.mode,
        prior: &plan.prior,
        prior_gaps: &plan.prior_gaps,
        directives: &directives,
        caps: request.policy.caps,
        iteration: plan.iteration,
        paths: &paths,
        window: window.as_ref(),
    };
    let combined = combine(&said, plan.ids.clone());
    let failures = failures(&plan, &answers);
    let coverage = coverage(request, &plan, &answers);
    let complete = failures.is_empty() && !coverage.has_hole();
    let gaps = combined.spec_gaps.len();
    let tier = tier(&combined.findings, gaps, !said.reports.is_empty());
    let outcome = outcome(&combined.findings, gaps, complete);
    let verdict = verdict(&combined.findings, &combined.missing_prerequisites, complete);
    let partial = Partial::new(&failures, plan.panel.seats.len(), coverage.holes().count());
    let mut dropped_counts = BTreeMap::new();
    for dropped in &combined.dropped {
        *dropped_counts.entry(dropped.reason).or_insert(0) += 1;
    }
    for (reason, count) in said.reports.iter().flat_map(|report| &report.left_alone) {
        *dropped_counts.entry(*reason).or_insert(0) += count;
    }
    Document {
        version: 1,
        mode: "local".into(),
        base: request.target.base(),
        head: request.target.head(),
        last_sha: plan.since.clone(),
        status: status(tier, complete),
        tier,
        outcome,
        verdict,
        summary_line: summary_line(&partial, tier, &combined.findings, gaps, combined.checked_clean.len()),
        subagent_failures: failures,
        notices: notices(request, &plan, &coverage),
        fail_level: request.policy.fail_level,
        max_listed_p3: request.policy.caps.listed_p3,
        receipt: Receipt {
            version: 1,
            run: request.run.clone(),
            engine: request.engine.clone(),
            base: request.target.base(),
            head: request.target.head(),
            subject: request.target.subject().to_owned(),
            mode: plan.mode,
            since: plan.since.clone(),
            widened: plan.widened.clone(),
            fingerprint: request.fingerprint.clone(),
            seats: seats(request, &plan, &answers),
            not_called: plan.panel.not_called.clone(),
            coverage,
            dropped: dropped_counts,
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
    }
}

fn failures(plan: &Plan, answers: &BTreeMap<String, SeatAnswer>) -> Vec<SeatFailure> {
    let reason = |seat: &Seat| match answers.get(&seat.to_string()) {
        Some(SeatAnswer::Report { report, .. }) if !report.unread.is_empty() => Some(format!(
            "did not read {} file(s), first {}: {}",
            report.unread.len(),
            report.unread[0].path,
            report.unread[0].reason
        )),
        Some(SeatAnswer::Report { .. }) => None,
        Some(SeatAnswer::Failed { reason }) => Some(reason.clone()),
        Some(SeatAnswer::TimedOut { after_seconds }) => Some(format!("no answer within {after_seconds} s")),
        None => Some("was never asked".into()),
    };
    plan.panel.seats.iter().filter_map(|seat| Some(SeatFailure { seat: seat.clone(), reason: reason(seat)? })).collect()
}

fn seats(request: &Request, plan: &Plan, answers: &BTreeMap<String, SeatAnswer>) -> Vec<SeatReceipt> {
    plan.panel
        .seats
        .iter()
        .map(|seat| {
            let agent = request.policy.agents.get(&seat.agent);
            let prompt = request.roles.iter().find(|role| role.name == seat.role).map_or("", |role| role.prompt.as_str());
            let (state, findings, dropped) = match answers.get(&seat.to_string()) {
                Some(SeatAnswer::Report { report, .. }) => {
                    let left_alone: u32 = report.left_alone.values().sum();
                    (SeatState::Ok, report.findings.len() as u32, report.dropped.len() as u32 + left_alone)
                }
                Some(SeatAnswer::Failed { reason }) => (SeatState::Failed { reason: reason.clone() }, 0, 0),
                Some(SeatAnswer::TimedOut { after_seconds }) => (SeatState::TimedOut { after_seconds: *after_seconds }, 0, 0),
                None => (SeatState::Failed { reason: "was never asked".into() }, 0, 0),
            };
            SeatReceipt {
                role: seat.role.clone(),
                agent: seat.agent.clone(),
                kind: agent.map_or("unknown", AgentConfig::kind).to_owned(),
                prompt_hash: sha256_hex(prompt.as_bytes()),
                state,
                findings,
                dropped,
                cost: match agent {
                    Some(AgentConfig::Command { .. }) | None => Cost::Unknown,
                    Some(AgentConfig::Rules {} | AgentConfig::Sarif { .. }) => Cost::Free,
                },
            }
        })
        .collect()
}

fn coverage(request: &Request, plan: &Plan, answers: &BTreeMap<String, SeatAnswer>) -> Coverage {
    let mut unread: Vec<BTreeSet<&RepoPath>> = Vec::new();
    let mut rules_looked = false;
    for seat in &plan.panel.seats {
        if let Some(SeatAnswer::Report { report, .. }) = answers.get(&seat.to_string()) {
            unread.push(report.unread.iter().map(|unread| &unread.path).collect());
            rules_looked |= matches!(request.policy.agents.get(&seat.agent), Some(AgentConfig::Rules {}));
        }
    }
    let read = |path: &RepoPath| Read { whole: unread.iter().any(|unread| !unread.contains(path)), lines: rules_looked };
    let mut depths: BTreeMap<&RepoPath, RulesDepth> = BTreeMap::new();
    for answer in answers.values() {
        if let SeatAnswer::Report { depths: seen, .. } = answer {
            for (path, depth) in seen {
                let best = depths.entry(path).or_insert(*depth);
                *best = (*best).max(*depth);
            }
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
fn notices(request: &Request, plan: &Plan, coverage: &Coverage) -> Vec<String> {
    let mut notices = request.notices.clone();
    if let Some(widened) = &plan.widened {
        notices.push(format!("⚠️ Full review: {}.", widened.sentence()));
    }
    for hole in coverage.holes() {
        notices.push(format!(
            "{} was not read ({}): raise [files] max_bytes, or list it under [files] skip to accept that.",
            hole.path,
            SkipReason::TooLarge.words()
        ));
    }
    let only_rules =
        plan.panel.seats.iter().all(|seat| matches!(request.policy.agents.get(&seat.agent), Some(AgentConfig::Rules {})));
    if only_rules {
        let lines = coverage
            .accounts
            .iter()
            .filter(|account| matches!(account.ended, FileEnd::Reviewed) && account.rules_depth == Some(RulesDepth::Lines))
            .count();
        let mut text = "Built-in rules only: no model and no person has read this change.".to_owned();
        if lines > 0 {
            text.push_str(&format!(
                " {lines} of {} files have no grammar or no whole text here and were checked line by line.",
                coverage.reviewed
            ));
        }
        notices.push(text);
    }
    notices
}
