//! What a review of a pull request knows beyond a change.

use super::brought::Brought;
use super::{ChangeRead, Phase, Publishing, Request, SeatAnswer, Spend};
use crate::combine::finding::Finding;
use crate::combine::verdict::{WholeReview, outcome, status, tier, verdict};
use crate::combine::{dismissal, rule_proposal};
use crate::ids::{AgentName, Sha};
use crate::library::hint::Hint;
use crate::plan::panel::{Panel, Seat};
use crate::policy::agents::AgentConfig;
use crate::policy::config::RULES_AGENT;
use crate::publish::summary::{Partial, summary_line};
use crate::pull::facts::{Account, Issue};
use crate::report::document::Document;
use crate::report::publication::{Publication, PublicationEnd, PullSubject};
use crate::report::receipt::SeatState;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The pull request of a run; fixed for its life.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PullRun {
    pub subject: PullSubject,
    pub author: Account,
    /// When the forge last saw something happen on it.
    pub updated_at: String,
    /// Where the repository's own configuration, roles and rules were read.
    pub base_tip: Sha,
    /// The branch that it is to be merged into. Nothing in runs of older releases.
    #[serde(default)]
    pub base_branch: Option<String>,
    /// The language of its prose, by its English name; nothing for English.
    #[serde(default)]
    pub language: Option<String>,
    /// The issue that the description says it closes, where the forge gave it.
    #[serde(default)]
    pub linked_issue: Option<LinkedIssue>,
    /// False with `--no-publish`.
    pub publish: bool,
    /// What another job found and could not post.
    #[serde(default)]
    pub brought: Option<Brought>,
    /// Records and issues that it should perhaps name.
    #[serde(default)]
    pub references: Vec<Hint>,
    /// Agents that this author's change is not given to, and why.
    pub withheld: BTreeMap<AgentName, String>,
}

/// The issue that a pull request says it closes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkedIssue {
    pub number: u64,
    /// Title and description, at most [`LinkedIssue::MAX_BYTES`] of it.
    pub text: String,
}

impl LinkedIssue {
    pub const MAX_BYTES: usize = 6 * 1024;

    pub fn new(issue: &Issue) -> Self {
        let mut text = format!("#{} {}\n\n{}", issue.number, issue.title, issue.body.trim());
        if text.len() > Self::MAX_BYTES {
            let end = (0..=Self::MAX_BYTES).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
            text.truncate(end);
            text.push_str("\n(cut here)");
        }
        LinkedIssue { number: issue.number, text }
    }
}

/// What was found on the pull request before anyone looked at its change.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PullRead {
    /// The status at the head says what the last review came to.
    pub status_stands: bool,
    /// Commands in comments that make no sense, and why.
    #[serde(default)]
    pub objections: Vec<String>,
}

/// The answer of an agent that this change is not given to, or that nobody has trusted here.
pub fn refusal(request: &Request, agent: &AgentName) -> Option<SeatAnswer> {
    let not_trusted = request.policy.agents.get(agent).and_then(AgentConfig::not_trusted);
    let withheld = || request.pull.as_ref()?.withheld.get(agent);
    let state = match not_trusted {
        Some(why) => SeatState::NotTrusted { reason: why.into() },
        None => SeatState::Withheld { reason: withheld()?.as_str().into() },
    };
    Some(SeatAnswer::troubled(state, Spend::default()))
}

/// Seats whose agent is not let near this change. Their answer is that they were not asked; the rules look in their place, which
/// does not make the review whole.
pub fn withhold(request: &Request, panel: &mut Panel) -> BTreeMap<String, SeatAnswer> {
    let mut answers = BTreeMap::new();
    for seat in panel.seats.clone() {
        let Some(refusal) = refusal(request, &seat.agent) else { continue };
        let has_rules = panel.seats.iter().any(|other| other.role == seat.role && other.agent.as_str() == RULES_AGENT);
        if !has_rules {
            panel.seats.push(Seat { agent: RULES_AGENT.into(), sample: 0, ..seat.clone() });
        }
        answers.insert(seat.to_string(), refusal);
    }
    answers
}

/// The last review again, although nothing changed. On a pull request it is compared with what stands there: a status may be gone,
/// something may stand twice, somebody may have edited the summary or waved a finding away.
pub fn restated(request: &Request, change: &ChangeRead) -> Option<Publishing> {
    let standing = change.last.as_ref()?.document.as_deref()?;
    let mut document = standing.clone();
    dismiss(&mut document, &change.dismissals);
    document.proposals = rule_proposal::proposals(&change.rule_dismissals, &document.findings);
    let is_restated = document == *standing;
    let is_published = request.pull.as_ref().is_some_and(|pull| pull.publish);
    let (names, built_on) = (change.ids.names().clone(), Some(standing.receipt.run.clone()));
    (is_published || !is_restated).then_some(Publishing { document, names, built_on, is_restated })
}

/// How a publication ends a run.
pub fn published(publishing: Publishing, publication: Publication) -> Phase {
    let Publishing { document, is_restated, .. } = publishing;
    // Somebody's draft is in nobody's way where nothing is to be posted.
    let is_quiet = matches!(publication.end, PublicationEnd::Published | PublicationEnd::ForeignDraft);
    if is_restated && is_quiet && publication.planned.is_empty() {
        return standing(Box::new(document));
    }
    Phase::Done(Box::new(Document { publication: Some(publication), ..document }))
}

/// A review that stands already.
pub fn standing(document: Box<Document>) -> Phase {
    Phase::Noop { head: document.head.clone(), last_run: document.receipt.run.clone(), document: Some(document) }
}

/// Puts people's words to the findings, and judges anew.
pub fn dismiss(document: &mut Document, dismissals: &[dismissal::Dismissal]) {
    let mut changed = false;
    for finding in &mut document.findings {
        let found = dismissal::find(dismissals, finding.id);
        if found.is_some() && finding.dismissed != found {
            finding.dismissed = found;
            finding.inline = false;
            changed = true;
        }
    }
    if changed {
        judge(document);
    }
}

fn judge(document: &mut Document) {
    let (findings, gaps): (&[Finding], usize) = (&document.findings, document.spec_gaps.len());
    let seats = document.receipt.seats.iter().filter(|seat| seat.replaced_by.is_none()).count();
    let whole = WholeReview::of_stored(document.outcome);
    let partial = Partial::new(&document.subagent_failures, seats, &document.receipt.coverage);
    document.tier = tier(findings, gaps, document.receipt.is_of_a_review());
    document.status = status(document.tier, whole);
    document.outcome = outcome(findings, gaps, whole);
    document.verdict = verdict(findings, &document.missing_prerequisites, whole);
    let (clean, looked_by) = (document.checked_and_clean.len(), document.receipt.looked_by());
    document.summary_line = summary_line(&partial, document.tier, findings, gaps, clean, looked_by);
    document.receipt.outcome = document.outcome;
    document.receipt.verdict = document.verdict;
}

/// The reason, and that not even the status could be set.
pub fn with_shortfall(reason: String, publication: &Publication) -> String {
    match &publication.end {
        PublicationEnd::Failed { reason: why, .. } => format!("{reason}; and its status could not be set: {why}"),
        PublicationEnd::Published
        | PublicationEnd::HeadMoved { .. }
        | PublicationEnd::Closed
        | PublicationEnd::ForeignDraft
        | PublicationEnd::Overtaken { .. } => reason,
    }
}
