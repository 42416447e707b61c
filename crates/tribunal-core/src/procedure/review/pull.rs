//! What a review of a pull request knows beyond a change.

use super::{ChangeRead, Publishing, Request, SeatAnswer, Spend};
use crate::combine::dismissal;
use crate::combine::finding::Finding;
use crate::combine::verdict::{Outcome, WholeReview, outcome, status, tier, verdict};
use crate::diff::change::Change;
use crate::findings::admit::one_line;
use crate::findings::anchor::anchor;
use crate::ids::{AgentName, RunId, Sha};
use crate::library::hint::Hint;
use crate::plan::panel::{Panel, Seat};
use crate::policy::config::RULES_AGENT;
use crate::publish::summary::{Partial, summary_line};
use crate::pull::facts::Account;
use crate::report::document::Document;
use crate::report::publication::{Publication, PublicationEnd, PullSubject};
use crate::report::receipt::SeatState;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The pull request of a run; fixed for its life.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PullRun {
    pub subject: PullSubject,
    pub author: Account,
    /// When the forge last saw something happen on it.
    pub updated_at: String,
    /// Where the repository's own configuration, roles and rules were read.
    pub base_tip: Sha,
    /// The language of its prose, by its English name; nothing for English.
    #[serde(default)]
    pub language: Option<String>,
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

/// Findings of a receipt that was made where nothing may be posted. They can add to a review and take nothing from it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Brought {
    pub run: RunId,
    pub findings: Vec<Finding>,
    /// Claims that the change does not bear out.
    pub unproved: u32,
    /// That review was not whole, and why.
    pub trouble: Option<String>,
    /// Who looked there.
    pub agents: BTreeSet<AgentName>,
}

impl Brought {
    pub fn from_receipt(receipt: Document, change: &Change) -> Self {
        let mut unproved = 0;
        let mut findings = Vec::new();
        for finding in receipt.findings {
            if findings.len() == MAX_BROUGHT {
                unproved += 1;
                continue;
            }
            let file = change.files.iter().find(|file| file.path == finding.file);
            match file.map(|file| anchor(file, &finding.evidence, Some(finding.line_start))) {
                Some(Ok(place)) => findings.push(Finding {
                    line_start: place.line_start,
                    line_end: place.line_end,
                    side: place.side,
                    evidence: place.quote,
                    slug: slug(&finding.slug),
                    failure_mode: shortened(&finding.failure_mode),
                    mitigation: shortened(&finding.mitigation),
                    also: Vec::new(),
                    details: None,
                    notes: None,
                    severity_adjustment: None,
                    dismissed: None,
                    fix: None,
                    ..finding
                }),
                Some(Err(_)) | None => unproved += 1,
            }
        }
        let trouble = (receipt.outcome == Outcome::Incomplete || receipt.outcome == Outcome::NotRun)
            .then(|| receipt.subagent_failures.first().map_or("it says so itself".into(), |failure| failure.reason.clone()));
        let agents = receipt.receipt.seats.into_iter().map(|seat| seat.seat.agent).collect();
        Brought { run: receipt.receipt.run, findings, unproved, trouble, agents }
    }

    pub fn notice(&self) -> String {
        let agents: Vec<&str> = self.agents.iter().map(AgentName::as_str).collect();
        let mut text =
            format!("A receipt of another job ({}) brought {} findings of {}", self.run, self.findings.len(), agents.join(", "));
        if self.unproved > 0 {
            text.push_str(&format!(" and {} that the change does not bear out", self.unproved));
        }
        text + "; the built-in rules have looked at the change here."
    }
}

/// More than a panel ever says, and less than would flood a pull request.
const MAX_BROUGHT: usize = 100;

/// A receipt may hold anything; a slug is letters, digits and dashes.
fn slug(text: &str) -> String {
    let fine = !text.is_empty() && text.len() <= 80 && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    if fine { text.to_owned() } else { "finding".to_owned() }
}

fn shortened(text: &str) -> String {
    one_line(text).chars().take(600).collect()
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

/// The answer of an agent that this change is not given to.
pub fn refusal(request: &Request, agent: &AgentName) -> Option<SeatAnswer> {
    let reason = request.pull.as_ref()?.withheld.get(agent)?.clone();
    Some(SeatAnswer::troubled(SeatState::Withheld { reason }, Spend::default()))
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

/// The last review, when it must be said again although nothing changed: its status is gone, or somebody has waved a finding away
/// since.
pub fn restated(change: &ChangeRead) -> Option<Publishing> {
    let standing = change.last.as_ref()?.document.as_deref()?;
    let mut document = standing.clone();
    dismiss(&mut document, &change.dismissals);
    let stands = change.pull.as_ref().is_none_or(|pull| pull.status_stands);
    (!stands || document != *standing).then(|| Publishing { document, names: change.ids.names().clone() })
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
    document.summary_line = summary_line(&partial, document.tier, findings, gaps, document.checked_and_clean.len());
    document.receipt.outcome = document.outcome;
    document.receipt.verdict = document.verdict;
}

/// The reason, and that not even the status could be set.
pub fn with_shortfall(reason: String, publication: &Publication) -> String {
    match &publication.end {
        PublicationEnd::Failed { reason: why, .. } => format!("{reason}; and its status could not be set: {why}"),
        PublicationEnd::Published | PublicationEnd::HeadMoved { .. } | PublicationEnd::Closed | PublicationEnd::ForeignDraft => {
            reason
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diff::parse::parse_diff;
    use crate::publish::tests::{DIFF, first};

    /// Issue 5, build 10: a forged receipt can add what the diff proves, and nothing else.
    #[test]
    fn a_receipt_brings_only_what_the_change_bears_out() {
        let change = parse_diff(DIFF.as_bytes()).unwrap();
        let mut receipt = first();
        let honest = Brought::from_receipt(receipt.clone(), &change);
        assert_eq!((honest.findings.len(), honest.unproved), (receipt.findings.len(), 0));
        receipt.findings[0].evidence = "drop_all_tables()".into();
        receipt.findings[1].slug = "x** <img src=y>".into();
        receipt.findings[1].failure_mode = "a\nb".repeat(1000);
        let forged = Brought::from_receipt(receipt, &change);
        assert_eq!(forged.unproved, 1);
        assert_eq!(forged.findings[0].slug, "finding");
        assert!(forged.findings[0].failure_mode.chars().count() <= 600);
    }

    #[test]
    fn half_a_review_stays_half() {
        let change = parse_diff(DIFF.as_bytes()).unwrap();
        let receipt = Document { outcome: Outcome::Incomplete, ..first() };
        assert!(Brought::from_receipt(receipt, &change).trouble.is_some());
    }
}
