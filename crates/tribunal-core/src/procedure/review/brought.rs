//! A receipt that was made where nothing may be posted, such as a fork's CI job. It is a claim: whoever wrote the change could have
//! written it. Each of its findings passes the same gate as a reviewer's, against the change as it was read here, and gets its key,
//! its weight and its words from there.

use crate::combine::finding::Finding;
use crate::combine::verdict::Outcome;
use crate::combine::{self, dedup, hygiene, identity, severity};
use crate::diff::change::Change;
use crate::findings::admit::{Author, Gate, admit};
use crate::findings::key::brought_key;
use crate::findings::leak::Watch;
use crate::findings::report::{Claim, Report};
use crate::findings::role::Role;
use crate::findings::scale::{Priority, Severity};
use crate::ids::{AgentName, RunId, Sha};
use crate::policy::agents::Means;
use crate::policy::config::Policy;
use crate::pull::place::Place;
use crate::report::document::Document;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The voice of everything that a receipt says.
pub const RECEIPT_AGENT: &str = "receipt";

/// More than a panel ever says, and less than would flood a pull request.
const MAX_BROUGHT: usize = 100;

/// Findings of a receipt. They can add to a review and take nothing from it ([`crate::combine::brought`]).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Brought {
    pub run: RunId,
    pub findings: Vec<Finding>,
    /// Claims that the change does not bear out.
    pub unproved: u32,
    /// It claims more than is read of it, and something heavy may be among the rest.
    #[serde(default)]
    pub is_cut: bool,
    /// That review was not whole, by its own word.
    pub trouble: Option<String>,
}

/// The receipt is of something else.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReceiptMismatch {
    #[error("is of no pull request")]
    NoPullRequest,
    #[error("is of {theirs}, not of {ours}")]
    OtherPullRequest { theirs: String, ours: String },
    #[error("is of the head {theirs}, and the pull request is at {ours}")]
    OtherHead { theirs: Sha, ours: Sha },
}

/// Is the receipt of this pull request, at this head? Asked of what the person or the workflow named, never of the receipt alone.
pub fn check_receipt(receipt: &Document, place: &Place, head: &Sha) -> Result<(), ReceiptMismatch> {
    let Some(pull) = &receipt.pull else { return Err(ReceiptMismatch::NoPullRequest) };
    if pull.place.kind != place.kind || pull.place.case_id() != place.case_id() {
        let name = |place: &Place| {
            let name: String =
                place.case_id().trim_start_matches("pull:").chars().filter(|c| !c.is_control()).take(200).collect();
            name
        };
        return Err(ReceiptMismatch::OtherPullRequest { theirs: name(&pull.place), ours: name(place) });
    }
    if receipt.head != *head || receipt.receipt.head != *head {
        let other = if receipt.head == *head { &receipt.receipt.head } else { &receipt.head };
        return Err(ReceiptMismatch::OtherHead { theirs: Sha::from(other.short()), ours: head.clone() });
    }
    Ok(())
}

/// Why each agent of the panel but the built-in rules is not asked where a receipt is posted. A receipt does not stand in for them, so
/// without them the review is incomplete, and never green.
pub fn not_asked(policy: &Policy) -> BTreeMap<AgentName, String> {
    let is_other = |agent: &&AgentName| !matches!(policy.agents.get(*agent).map(|agent| agent.means()), Some(Means::Rules));
    let playing = policy.panel.values().flatten().flat_map(|player| player.agents());
    let verifier = policy.verify.iter().map(|verify| &verify.agent);
    let reason = "not asked here: a receipt of another job is posted, and nobody has verified what it says";
    playing.chain(verifier).filter(is_other).map(|agent| (agent.clone(), reason.to_owned())).collect()
}

impl Brought {
    pub fn from_receipt(receipt: &Document, change: &Change, roles: &[Role]) -> Self {
        let (agent, outlines, watch) = (AgentName::from(RECEIPT_AGENT), BTreeMap::new(), Watch::default());
        let said = receipt.findings.len();
        let mut admitted = Vec::new();
        // The heaviest first: whoever wrote the receipt chose the order.
        let mut claimed: Vec<&Finding> = receipt.findings.iter().collect();
        claimed.sort_by_key(|finding| finding.p_code);
        let is_cut = claimed.get(MAX_BROUGHT).is_some_and(|finding| finding.p_code <= Priority::P1);
        for finding in claimed.into_iter().take(MAX_BROUGHT) {
            let Some(role) = roles.iter().find(|role| role.owns(&finding.category_code)) else { continue };
            let gate = Gate {
                role,
                agent: &agent,
                change,
                outlines: &outlines,
                window: None,
                has_repo: true,
                spec: None,
                directives: &[],
                author: Author::Agent(&watch),
            };
            admitted.extend(admit(Report { findings: vec![claim(finding)], ..Report::default() }, &gate).findings);
        }
        let unproved = said - admitted.len();
        let (batched, alone): (Vec<_>, Vec<_>) = admitted.into_iter().partition(|finding| finding.batch.is_some());
        let mut drafts = dedup::merge(alone);
        drafts.extend(hygiene::batch(batched));
        let mut findings: Vec<Finding> =
            identity::with_keys(drafts).into_iter().map(|draft| severity::settle(draft, roles, &[])).collect();
        let mut seen: BTreeMap<String, u32> = BTreeMap::new();
        for finding in &mut findings {
            let key = |occurrence| brought_key(&finding.file, &finding.evidence, &finding.category_code, occurrence);
            let occurrence = seen.entry(key(0).0).or_insert(0);
            finding.key = key(*occurrence);
            *occurrence += 1;
        }
        let is_half = receipt.outcome == Outcome::Incomplete || receipt.outcome == Outcome::NotRun;
        let trouble = match (is_half, is_cut) {
            (true, _) => Some("by its own word, the review that it is of is not complete".to_owned()),
            (false, true) => Some(format!("it claims more than {MAX_BROUGHT} findings, and a P0 or P1 is among those left out")),
            (false, false) => None,
        };
        let unproved = u32::try_from(unproved).unwrap_or(u32::MAX);
        Brought { run: name(&receipt.receipt.run), findings, unproved, is_cut, trouble }
    }

    /// Does it say anything that this review, made here and whole, does not? How whole the receipt's own review was says nothing of this
    /// one.
    pub fn adds_to(&self, standing: &Document) -> bool {
        self.is_cut || combine::brought::adds(&standing.findings, &self.findings)
    }

    pub fn notice(&self) -> String {
        let mut text = format!("A receipt of another job ({}) brought {} findings", self.run, self.findings.len());
        if self.unproved > 0 {
            text.push_str(&format!(" and {} that the change does not bear out", self.unproved));
        }
        text + "; nobody has verified them. The built-in rules have looked at the change here."
    }
}

/// What it claims, as a reviewer would have said it. Nothing else of it is taken over: no name, no key, no dismissal, no fix.
fn claim(finding: &Finding) -> Claim {
    Claim {
        category: finding.category_code.clone(),
        file: finding.file.clone(),
        line_start: Some(finding.line_start),
        line_end: Some(finding.line_end),
        severity: Some(match finding.p_code {
            Priority::P0 => Severity::Blocker,
            Priority::P1 => Severity::Factual,
            Priority::P2 | Priority::P3 => Severity::Suggestion,
            Priority::Q => Severity::Question,
        }),
        confidence: finding.confidence,
        blast: finding.blast,
        justification: Some(finding.justification),
        evidence: finding.evidence.clone(),
        failure_mode: finding.failure_mode.clone(),
        mitigation: finding.mitigation.clone(),
        details: None,
        notes: None,
        slug: Some(finding.slug.clone()),
        signal: None,
        spec_quote: None,
        questions: Vec::new(),
        mitigation_out_of_scope: finding.mitigation_out_of_scope,
        reversible: None,
        rule: None,
        fix: None,
        trace: Vec::new(),
    }
}

/// A receipt may hold anything; the id of a run is letters and digits.
fn name(run: &RunId) -> RunId {
    RunId(run.as_str().chars().filter(char::is_ascii_alphanumeric).take(32).collect())
}

#[cfg(test)]
mod tests;
