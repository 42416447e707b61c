//! Code merges, models don't (design rule 3).
//!
//! The order: reports of one defect become one finding with the agreement kept ([`dedup`]), hygiene is batched ([`hygiene`]), weight is
//! settled ([`severity`]), earlier findings are verified ([`prior`]), repeats of a rule are folded ([`repeats`]), the voices are counted ([`agreement`]), names are given
//! ([`identity`]), and the whole is judged ([`verdict`]). Each step is a function of its input alone; the order in which reviewers finished never shows.

pub mod agreement;
pub mod brought;
pub mod dedup;
pub mod dismissal;
pub mod doubt;
pub mod finding;
pub mod hygiene;
pub mod identity;
pub mod linkage;
pub mod opinion;
pub mod prior;
pub mod recheck;
pub mod recognise;
pub mod repeats;
pub mod rule_proposal;
pub mod severity;
pub mod similarity;
pub mod terms;
pub mod verdict;

use crate::findings::admit::{Admitted, AdmittedReport, Dropped};
use crate::findings::report::CleanCheck;
use crate::findings::role::Role;
use crate::plan::mode::Mode;
use crate::policy::context::Directive;
use agreement::Speakers;
use dismissal::Dismissal;
use finding::{Finding, SpecGap};
use identity::IdBook;
use prior::{OpenFinding, PriorVerification};
use serde::{Deserialize, Serialize};

/// What the panel said, as far as it answered.
pub struct Said<'a> {
    pub roles: &'a [Role],
    pub reports: Vec<&'a AdmittedReport>,
    pub mode: Mode,
    /// Open findings of earlier reviews, in every mode.
    pub prior: &'a [OpenFinding],
    /// Open questions to the spec's author, which only he can close.
    pub prior_gaps: &'a [SpecGap],
    /// The spec of this review, if there is one.
    pub spec: Option<&'a str>,
    pub directives: &'a [Directive],
    pub caps: Caps,
    /// 1 for the first review of a case.
    pub iteration: u32,
    /// Paths of the whole change, to tell a finding whose file is gone from it.
    pub paths: &'a std::collections::BTreeSet<crate::ids::RepoPath>,
    /// Findings that another job's receipt brought along.
    pub brought: &'a [Finding],
    /// Dismissed findings that are not among the open ones any more.
    pub dismissed: &'a [Dismissal],
    /// Who speaks, for the worth of their agreement.
    pub speakers: &'a Speakers,
    /// Paths that changed since the last review.
    pub window: Option<&'a std::collections::BTreeSet<crate::ids::RepoPath>>,
}

/// How much is said inline (PR-131). What is over the cap is listed, never lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Caps {
    #[serde(default = "default_inline_p1")]
    pub inline_p1: u32,
    pub inline_p2: u32,
    pub listed_p3: u32,
}

fn default_inline_p1() -> u32 {
    Caps::default().inline_p1
}

impl Default for Caps {
    fn default() -> Self {
        Self { inline_p1: 25, inline_p2: 12, listed_p3: 5 }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Combined {
    /// Open findings: fresh ones and carried ones, most urgent first.
    pub findings: Vec<Finding>,
    pub spec_gaps: Vec<SpecGap>,
    pub prior_verifications: Vec<PriorVerification>,
    pub checked_clean: Vec<CleanSlug>,
    pub dropped: Vec<Dropped>,
    pub missing_prerequisites: Vec<String>,
    pub ids: IdBook,
}

/// A category that was looked at and found clean, under its public name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema)]
pub struct CleanSlug {
    pub slug: String,
    pub evidence: String,
}

pub fn combine(said: &Said<'_>, ids: IdBook) -> Combined {
    let mut ids = ids;
    let all: Vec<Admitted> = said.reports.iter().flat_map(|report| report.findings.iter().cloned()).collect();
    let (gaps, claims): (Vec<_>, Vec<_>) = all.into_iter().partition(|finding| !finding.questions.is_empty());
    let (batched, alone): (Vec<_>, Vec<_>) = claims.into_iter().partition(|finding| finding.batch.is_some());

    let mut drafts = dedup::merge(alone);
    drafts.extend(hygiene::batch(batched));
    let mut findings: Vec<Finding> =
        identity::with_keys(drafts).into_iter().map(|draft| severity::settle(draft, said.roles, said.directives)).collect();

    let statuses: Vec<_> = said.reports.iter().flat_map(|report| report.prior.iter()).collect();
    let verified = prior::verify(said, &findings, &statuses);
    prior::recognise(&mut findings, &verified.known, said.prior, &mut ids);
    prior::recognise_dismissed(&findings, said.prior, said.dismissed, &mut ids);
    prior::absorb(&mut findings, verified.carried);
    repeats::fold(&mut findings, said.prior, &verified.known);
    // Last: what was brought along verifies nothing and takes no finding's place.
    brought::add(&mut findings, said.brought);
    agreement::weigh(&mut findings, said.speakers);
    identity::name(&mut findings, &mut ids);
    identity::relate(&mut findings);
    let mut spec_gaps = identity::name_gaps(gaps, said.roles, &mut ids);
    let mut verifications = verified.verifications;
    verifications.extend(prior::carry_gaps(said, &mut spec_gaps));
    spec_gaps.sort_by_key(|gap| gap.id);
    findings.sort_by(finding::order);
    severity::mark_inline(&mut findings, said.caps, said.iteration);

    let mut dropped: Vec<Dropped> = said.reports.iter().flat_map(|report| report.dropped.iter().cloned()).collect();
    dropped.sort();
    let mut missing: Vec<String> = said.reports.iter().flat_map(|report| report.missing_prerequisites.iter().cloned()).collect();
    missing.sort();
    missing.dedup();
    Combined {
        checked_clean: clean_slugs(said, &findings),
        findings,
        spec_gaps,
        prior_verifications: verifications,
        dropped,
        missing_prerequisites: missing,
        ids,
    }
}

/// Clean checks by slug; a category that has an open finding is not clean, whoever says so.
fn clean_slugs(said: &Said<'_>, findings: &[Finding]) -> Vec<CleanSlug> {
    let open =
        |check: &CleanCheck| findings.iter().flat_map(Finding::all_places).any(|place| place.category_code == check.category);
    let mut clean: Vec<CleanSlug> = said
        .reports
        .iter()
        .flat_map(|report| &report.checked_clean)
        .filter(|check| !open(check))
        .filter_map(|check| {
            let category = said.roles.iter().find_map(|role| role.category(&check.category))?;
            Some(CleanSlug { slug: category.slug.clone(), evidence: crate::findings::admit::one_line(&check.evidence) })
        })
        .collect();
    clean.sort();
    clean.dedup_by(|a, b| a.slug == b.slug);
    clean
}

#[cfg(test)]
pub(crate) mod tests;
