//! What became of earlier findings (PR-69 to PR-73). A moved line is not a fixed behaviour: only a reviewer's `yes`, with a note
//! of what changed, closes a finding, and never against evidence that it still stands.

use super::Said;
use super::brought;
use super::finding::{Finding, FindingOrigin, SpecGap};
use super::identity::IdBook;
use crate::findings::brief::PriorFinding;
use crate::findings::key::{finding_key, normalise_code};
use crate::findings::report::{PriorStatus, Verification};
use crate::findings::window::{Known, same_code};
use crate::ids::{FindingId, FindingKey, RepoPath};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// An open finding as the ledger keeps it between reviews.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OpenFinding {
    pub finding: Finding,
}

impl OpenFinding {
    /// Takes it along when its file is moved. The path is part of the key, so it gets another key under the same name.
    pub fn follow(&mut self, path: &RepoPath, ids: &mut IdBook) {
        let finding = &mut self.finding;
        let key = |path: &RepoPath, occurrence| {
            finding_key(path, &finding.symbol, &finding.evidence, &finding.category_code, occurrence)
        };
        // The key alone knows how many equal lines stand above this one; more than this in one function is not code.
        if let Some(occurrence) = (0..1000).find(|occurrence| key(&finding.file, *occurrence) == finding.key) {
            finding.key = key(path, occurrence);
            ids.rename(finding.key.clone(), finding.id);
        }
        finding.file = path.clone();
    }

    /// What a repetition of it is told by.
    pub fn known(&self) -> Known {
        let finding = &self.finding;
        Known {
            path: finding.file.clone(),
            category: finding.category_code.clone(),
            symbol: finding.symbol.clone(),
            code: finding.evidence.clone(),
        }
    }

    /// What a reviewer is told of it.
    pub fn for_brief(&self) -> PriorFinding {
        let finding = &self.finding;
        PriorFinding {
            id: finding.id,
            slug: finding.slug.clone(),
            file: finding.file.clone(),
            line: finding.line_start,
            category: finding.category_code.clone(),
            severity: finding.p_code.code().to_owned(),
            justification: finding.justification.word().to_owned(),
            summary: finding.failure_mode.clone(),
            evidence: finding.evidence.clone(),
            last_verification: None,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PriorVerification {
    pub prior_id: FindingId,
    pub verification: Verification,
    pub note: String,
    pub p_code: String,
    pub slug: String,
    pub file: String,
    pub line: u32,
    /// A question to the spec's author: no reviewer can close it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub spec_gap: bool,
}

impl PriorVerification {
    fn of(open: &OpenFinding, verification: Verification, note: String) -> Self {
        let finding = &open.finding;
        PriorVerification {
            prior_id: finding.id,
            verification,
            note,
            p_code: finding.p_code.code().to_owned(),
            slug: finding.slug.clone(),
            file: finding.file.0.clone(),
            line: finding.line_start,
            spec_gap: false,
        }
    }

    /// PR-72: how it is shown. `Likely fixed`, never `Fixed`.
    pub fn display(&self) -> String {
        if self.spec_gap {
            return "⏸️ Awaiting spec author".to_owned();
        }
        match self.verification {
            Verification::Yes => format!("✅ Likely fixed — {}", self.note),
            Verification::Unclear => format!("⏸️ Untouched — {}", self.note),
            Verification::No => format!("🔄 Still present — {}", self.note),
        }
    }
}

pub struct Verified {
    pub carried: Vec<Finding>,
    /// Findings of this review that were open before, by their keys of today, with the names they have.
    pub known: BTreeMap<FindingKey, FindingId>,
    pub verifications: Vec<PriorVerification>,
}

pub fn verify(said: &Said<'_>, fresh: &[Finding], statuses: &[&PriorStatus]) -> Verified {
    let known = known(said.prior, fresh);
    let mut verified = Verified { carried: Vec::new(), verifications: Vec::new(), known: BTreeMap::new() };
    let mut priors: Vec<&OpenFinding> = said.prior.iter().collect();
    priors.sort_by_key(|prior| prior.finding.id);
    for prior in priors {
        if let Some(ours) = brought::found_here(&prior.finding, fresh) {
            verified.verifications.push(PriorVerification::of(
                prior,
                Verification::No,
                format!("found here as well, at {}:{}", ours.file, ours.line_start),
            ));
            continue;
        }
        let again = known.get(&prior.finding.id).copied();
        let (verification, note) = judge(said, prior, again, statuses);
        let finding = again.unwrap_or(&prior.finding);
        if again.is_some() {
            verified.known.insert(finding.key.clone(), prior.finding.id);
        }
        let of_today = OpenFinding { finding: Finding { id: prior.finding.id, ..finding.clone() } };
        verified.verifications.push(PriorVerification::of(&of_today, verification, note));
        if again.is_none() && verification != Verification::Yes {
            verified.carried.push(Finding { origin: FindingOrigin::Carried, ..prior.finding.clone() });
        }
    }
    verified
}

/// Which finding of today is which open one. By key first; what is left over on both sides in one file, of one category and
/// with the same code, is a finding whose function got another name or was moved into another one. A lighter statement does not
/// take the place of a heavier one.
fn known<'a>(open: &[OpenFinding], fresh: &'a [Finding]) -> BTreeMap<FindingId, &'a Finding> {
    let keys: BTreeSet<&FindingKey> = open.iter().map(|open| &open.finding.key).collect();
    let mut known: BTreeMap<FindingId, &Finding> = BTreeMap::new();
    for open in open {
        known.extend(fresh.iter().find(|finding| finding.key == open.finding.key).map(|finding| (open.finding.id, finding)));
    }
    let place = |finding: &Finding| {
        (finding.file.clone(), finding.category_code.clone(), finding.side, normalise_code(&finding.evidence))
    };
    let mut left: Vec<&Finding> = fresh.iter().filter(|finding| !keys.contains(&finding.key)).collect();
    left.sort_by_key(|finding| finding.line_start);
    for open in open.iter().map(|open| &open.finding).filter(|open| !open.key.is_brought()) {
        let is_moved = |finding: &&Finding| finding.p_code <= open.p_code && place(finding) == place(open);
        if let (false, Some(at)) = (known.contains_key(&open.id), left.iter().position(is_moved)) {
            known.insert(open.id, left.remove(at));
        }
    }
    known
}

/// A finding that was open before keeps its name and is no news, even if it was found again.
pub fn recognise(fresh: &mut [Finding], known: &BTreeMap<FindingKey, FindingId>, ids: &mut IdBook) {
    for finding in fresh {
        if let Some(id) = known.get(&finding.key) {
            finding.origin = FindingOrigin::Carried;
            ids.rename(finding.key.clone(), *id);
        }
    }
}

/// Joins what is carried with what was said now. A part of a carried finding that one of its voices repeats is the same finding
/// (PR-74), which keeps its name and its weight; a heavier statement stands beside it.
pub fn absorb(fresh: &mut Vec<Finding>, carried: Vec<Finding>) {
    for mut finding in carried {
        if finding.key.is_brought() {
            fresh.push(finding);
            continue;
        }
        let is_part = |said: &Finding| {
            said.origin == FindingOrigin::Fresh
                && (&said.file, &said.category_code, said.side, &said.symbol)
                    == (&finding.file, &finding.category_code, finding.side, &finding.symbol)
                && said.p_code >= finding.p_code
                && said.agreement.iter().any(|voice| finding.agreement.contains(voice))
                && same_code(&said.evidence, &finding.evidence)
        };
        let (parts, others): (Vec<Finding>, Vec<Finding>) = std::mem::take(fresh).into_iter().partition(is_part);
        for part in parts {
            finding.agreement.extend(part.agreement);
            finding.also.extend(part.also.into_iter().chain([part.failure_mode]).filter(|text| text != &finding.failure_mode));
        }
        finding.agreement.sort();
        finding.agreement.dedup();
        finding.also.sort();
        finding.also.dedup();
        *fresh = others;
        fresh.push(finding);
    }
}

/// Questions to the spec's author stay open until the spec or the code they ask about is gone (PR-70, PR-72).
pub fn carry_gaps(said: &Said<'_>, fresh: &mut Vec<SpecGap>) -> Vec<PriorVerification> {
    let mut verifications = Vec::new();
    for gap in said.prior_gaps.iter().filter(|gap| said.paths.contains(&gap.file)) {
        verifications.push(PriorVerification {
            prior_id: gap.id,
            verification: Verification::Unclear,
            note: "asked of the spec's author".into(),
            p_code: "Q".into(),
            slug: "spec-gap".into(),
            file: gap.file.0.clone(),
            line: gap.line,
            spec_gap: true,
        });
        if !fresh.iter().any(|known| known.key == gap.key) {
            fresh.push(gap.clone());
        }
    }
    verifications
}

fn judge(said: &Said<'_>, prior: &OpenFinding, again: Option<&Finding>, statuses: &[&PriorStatus]) -> (Verification, String) {
    if let Some(finding) = again {
        return (Verification::No, format!("reported again at {}:{}", finding.file, finding.line_start));
    }
    let mut of_this: Vec<&&PriorStatus> = statuses.iter().filter(|status| status.id == prior.finding.id).collect();
    of_this.sort_by(|a, b| (a.verification, &a.note).cmp(&(b.verification, &b.note)));
    let said_no = of_this.iter().find(|status| status.verification == Verification::No);
    let said_unclear = of_this.iter().find(|status| status.verification == Verification::Unclear);
    let said_yes = of_this.iter().find(|status| status.verification == Verification::Yes && !status.note.trim().is_empty());
    let note = |status: &PriorStatus| crate::findings::admit::one_line(&status.note);
    if let Some(status) = said_no {
        return (Verification::No, note(status));
    }
    // One reviewer who could not tell outweighs one who could: the finding stays open.
    if let (Some(status), None) = (said_yes, said_unclear) {
        return (Verification::Yes, note(status));
    }
    let reason = if let Some(status) = said_unclear {
        note(status)
    } else if !said.paths.contains(&prior.finding.file) {
        "its file is no longer part of the change, and no reviewer verified it".into()
    } else if said.window.is_some_and(|window| !window.contains(&prior.finding.file)) {
        "its file did not change since the last review".into()
    } else {
        "no reviewer verified it".into()
    };
    (Verification::Unclear, reason)
}
