//! What became of earlier findings (PR-69 to PR-73), in incremental and in full reviews. A moved line is not a fixed behaviour: a
//! finding is closed by a reviewer's `yes` with a note of what changed, never against evidence that it still stands; or by the
//! comparison of base and head, when its file no longer differs and its code is nowhere in the change. Both are recorded.

use super::Said;
use super::brought;
use super::dedup;
use super::dismissal::Dismissal;
use super::finding::{Finding, FindingOrigin, FindingPlace, SeverityAdjustment, SpecGap};
use super::identity::IdBook;
use super::recognise::{is_same_issue, likeness};
use super::repeats;
use super::similarity::Similarity;
use super::terms::Terms;
use crate::diff::change::Change;
use crate::diff::purpose::FilePurpose;
use crate::findings::brief::PriorFinding;
use crate::findings::key::{finding_key, normalise_code};
use crate::findings::present::{PresentCode, is_in_change};
use crate::findings::report::{PriorStatus, Verification};
use crate::findings::window::{self, Known};
use crate::ids::{FindingId, FindingKey, RepoPath};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// An open finding as the ledger keeps it between reviews.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OpenFinding {
    pub finding: Finding,
    /// Its code stands on no line of the change, in whichever file.
    #[serde(default)]
    pub is_off_change: bool,
}

impl OpenFinding {
    pub fn new(finding: Finding) -> Self {
        OpenFinding { finding, is_off_change: false }
    }

    /// The same, compared with the change as it is now.
    pub fn compared(finding: Finding, change: &Change) -> Self {
        let is_off_change = change.file(&finding.file).is_none() && !is_in_change(&finding.evidence, change);
        OpenFinding { finding, is_off_change }
    }

    /// Takes it along when its file is moved. The path is part of the key, so it gets another key under the same name.
    pub fn follow(&mut self, path: &RepoPath, ids: &mut IdBook) {
        let finding = &mut self.finding;
        let (file, category) = (finding.file.clone(), finding.category_code.clone());
        let moved = |key: &FindingKey, symbol: &str, evidence: &str| {
            let key_at = |path: &RepoPath, occurrence| finding_key(path, symbol, evidence, &category, occurrence);
            // The key alone knows how many equal lines stand above this one; more than this in one function is not code.
            let occurrence = (0..1000).find(|occurrence| key_at(&file, *occurrence) == *key)?;
            Some(key_at(path, occurrence))
        };
        if let Some(key) = moved(&finding.key, &finding.symbol, &finding.evidence) {
            ids.rename(key.clone(), finding.id);
            finding.key = key;
        }
        for place in &mut finding.repeats {
            if let Some(key) = moved(&place.key, &place.symbol, &place.evidence) {
                place.key = key;
            }
        }
        finding.file = path.clone();
    }

    /// What a repetition of it is told by, at each place that it was reported at.
    pub fn known(&self) -> impl Iterator<Item = Known> + '_ {
        self.finding.all_places().map(|place| Known {
            path: self.finding.file.clone(),
            category: place.category_code,
            symbol: place.symbol,
            code: place.evidence,
        })
    }

    /// What a reviewer is told of it.
    pub fn for_brief(&self, present: Option<PresentCode>) -> PriorFinding {
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
            present,
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
    #[serde(default, skip_serializing_if = "VerifiedBy::is_reviewer")]
    pub by: VerifiedBy,
}

/// Who says what became of an open finding.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum VerifiedBy {
    #[default]
    Reviewer,
    /// No reviewer: base, head and spec were compared.
    Comparison,
    /// The rule is switched off or silenced; its code may be as it was.
    Settings,
}

impl VerifiedBy {
    fn is_reviewer(&self) -> bool {
        *self == VerifiedBy::Reviewer
    }
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
            by: VerifiedBy::Reviewer,
        }
    }

    /// PR-72: how it is shown. `Likely fixed`, never `Fixed`.
    pub fn display(&self) -> String {
        match (self.verification, self.by) {
            (Verification::Yes, VerifiedBy::Comparison) => format!("☑️ No longer part of the change — {}", self.note),
            (Verification::Yes, VerifiedBy::Settings) => format!("☑️ No longer reported — {}", self.note),
            _ if self.spec_gap => "⏸️ Awaiting spec author".to_owned(),
            (Verification::Yes, VerifiedBy::Reviewer) => format!("✅ Likely fixed — {}", self.note),
            (Verification::Unclear, _) => format!("⏸️ Untouched — {}", self.note),
            (Verification::No, _) => format!("🔄 Still present — {}", self.note),
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
    let known = known(said, fresh);
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
        let Judgement { verification, note, by } = judge(said, prior, again, statuses);
        let finding = again.unwrap_or(&prior.finding);
        if again.is_some() {
            verified.known.insert(finding.key.clone(), prior.finding.id);
        }
        let of_today = OpenFinding::new(Finding { id: prior.finding.id, ..finding.clone() });
        verified.verifications.push(PriorVerification { by, ..PriorVerification::of(&of_today, verification, note) });
        if again.is_none() && verification != Verification::Yes {
            verified.carried.push(Finding { origin: FindingOrigin::Carried, ..prior.finding.clone() });
        }
    }
    verified
}

/// Which finding of today is which open one. By key first; what is left over on both sides in one file, of one category and
/// with the same code, is a finding whose function got another name or was moved into another one, or one of its voices. A lighter
/// statement does not take the place of a heavier one.
fn known<'a>(said: &Said<'_>, fresh: &'a [Finding]) -> BTreeMap<FindingId, &'a Finding> {
    let open = said.prior;
    let is_dismissed =
        |open: &Finding| open.dismissed.is_some() || said.dismissed.iter().any(|dismissal| dismissal.id == open.id);
    let keys: BTreeSet<&FindingKey> = open.iter().flat_map(|open| repeats::keys(&open.finding)).collect();
    let mut known: BTreeMap<FindingId, &Finding> = BTreeMap::new();
    for open in open {
        // A repeated finding is open as long as one of its places is.
        let again = repeats::keys(&open.finding).find_map(|key| fresh.iter().find(|finding| finding.key == *key));
        known.extend(again.map(|finding| (open.finding.id, finding)));
    }
    let code = |place: &FindingPlace| (place.category_code.clone(), normalise_code(&place.evidence));
    let own = |finding: &Finding| (finding.category_code.clone(), normalise_code(&finding.evidence));
    let holds = |finding: &Finding, other: &Finding| finding.all_places().any(|place| code(&place) == own(other));
    let mut left: Vec<&Finding> = fresh.iter().filter(|finding| !keys.contains(&finding.key)).collect();
    left.sort_by_key(|finding| finding.line_start);
    for open in open.iter().map(|open| &open.finding).filter(|open| !open.key.is_brought()) {
        if known.contains_key(&open.id) {
            continue;
        }
        let may_be = |said: &Finding| said.p_code <= open.p_code && (&said.file, said.side) == (&open.file, open.side);
        let is_moved = |said: &&Finding| may_be(said) && own(said) == own(open);
        let is_voice = |said: &&Finding| may_be(said) && (holds(open, said) || holds(said, open));
        // What was dismissed is known in other words and at another place, too; what is open is not closed by a likeness.
        let at = left.iter().position(is_moved).or_else(|| left.iter().position(is_voice));
        let again = || nearest(&left, open).filter(|_| is_dismissed(open));
        if let Some(at) = at.or_else(again) {
            known.insert(open.id, left.remove(at));
        }
    }
    known
}

/// Which of these findings is most like a dismissed one, if one is the same issue.
fn nearest(said: &[&Finding], dismissed: &Finding) -> Option<usize> {
    let alike = said.iter().enumerate().filter_map(|(at, said)| Some((at, likeness(said, dismissed)?)));
    alike.max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0))).map(|(at, _)| at)
}

/// A finding that was open before keeps its name and is no news, even if it was found again.
pub fn recognise(fresh: &mut [Finding], known: &BTreeMap<FindingKey, FindingId>, open: &[OpenFinding], ids: &mut IdBook) {
    for finding in fresh {
        let Some(id) = known.get(&finding.key) else { continue };
        finding.origin = FindingOrigin::Carried;
        ids.rename(finding.key.clone(), *id);
        if let Some(open) = open.iter().find(|open| open.finding.id == *id) {
            keep_weight(finding, &open.finding);
        }
    }
}

/// A finding that was dismissed, was gone, and is reported again in other words or at another place has its name again, and so its
/// dismissal.
pub fn recognise_dismissed(fresh: &[Finding], open: &[OpenFinding], dismissed: &[Dismissal], ids: &mut IdBook) {
    for dismissal in dismissed {
        let Some(before) = &dismissal.finding else { continue };
        let is_taken = open.iter().any(|open| open.finding.id == dismissal.id)
            || fresh.iter().any(|said| ids.names().get(&said.key) == Some(&dismissal.id));
        let is_known = |said: &Finding| said.origin == FindingOrigin::Carried || ids.names().contains_key(&said.key);
        if let Some(said) = fresh.iter().find(|said| !is_taken && !is_known(said) && is_same_issue(said, before)) {
            ids.rename(said.key.clone(), dismissal.id);
        }
    }
}

/// Only a reviewer that reported a finding can report it lighter, and that is recorded. Another voice does not make it lighter, and
/// neither does the name of a test: there a rule weighs less, whoever gave the file this name.
fn keep_weight(finding: &mut Finding, open: &Finding) {
    if finding.p_code <= open.p_code {
        return;
    }
    let weight = |of: &Finding| format!("{} {}", of.severity_emoji, of.p_code);
    let (now, before) = (weight(finding), weight(open));
    let is_same_voice = finding
        .agreement
        .iter()
        .any(|voice| open.agreement.iter().any(|known| (&known.role, &known.agent) == (&voice.role, &voice.agent)));
    let is_rule = finding.agreement.iter().any(|voice| voice.rule.is_some());
    let is_lighter_by_name = is_rule && !FilePurpose::of(&finding.file).is_production();
    if is_same_voice && !is_lighter_by_name {
        let reason = "its reviewer reports it lighter than in the last review".to_owned();
        finding.severity_adjustment.get_or_insert(SeverityAdjustment { from: before, to: now, reason });
        return;
    }
    let reason = "open with this weight since an earlier review".to_owned();
    finding.severity_adjustment = Some(SeverityAdjustment { from: now, to: before, reason });
    finding.p_code = open.p_code;
    finding.severity_emoji.clone_from(&open.severity_emoji);
    finding.agreement.extend(open.agreement.iter().cloned());
    finding.agreement.sort();
    finding.agreement.dedup();
}

/// Adds open findings that the last review does not know of. Two reviews that did not know of each other may have given one name to
/// two findings; then the added one gets a new name.
pub fn join(open: &mut Vec<OpenFinding>, loose: Vec<OpenFinding>, ids: &mut IdBook) {
    let code = |finding: &Finding| (finding.category_code.clone(), normalise_code(&finding.evidence));
    for mut loose in loose {
        let is_same = |known: &OpenFinding| {
            let (known, loose) = (&known.finding, &loose.finding);
            known.key == loose.key || (known.id == loose.id && code(known) == code(loose))
        };
        if let Some(known) = open.iter_mut().find(|known| is_same(known)) {
            if loose.finding.p_code < known.finding.p_code {
                known.finding.p_code = loose.finding.p_code;
                known.finding.severity_emoji = loose.finding.severity_emoji;
            }
            continue;
        }
        let is_taken = open.iter().any(|known| known.finding.id == loose.finding.id)
            || ids.names().iter().any(|(key, id)| *id == loose.finding.id && *key != loose.finding.key);
        match is_taken {
            true => loose.finding.id = ids.rename_anew(loose.finding.key.clone()),
            false => ids.rename(loose.finding.key.clone(), loose.finding.id),
        }
        open.push(loose);
    }
}

/// Joins what is carried with what was said now. A part of a carried finding that one of its voices repeats is the same finding
/// (PR-74), which keeps its name and its weight; a heavier statement stands beside it, and so does another defect in the code that the
/// carried one quotes.
pub fn absorb(fresh: &mut Vec<Finding>, carried: Vec<Finding>) {
    for mut finding in carried {
        if finding.key.is_brought() {
            fresh.push(finding);
            continue;
        }
        let is_repeated = |said: &Finding| {
            said.origin == FindingOrigin::Fresh
                && said.p_code >= finding.p_code
                && said.agreement.iter().any(|voice| finding.agreement.iter().any(|known| known.is_same_reviewer(voice)))
                && is_part(said, &finding)
        };
        let (parts, others): (Vec<Finding>, Vec<Finding>) = std::mem::take(fresh).into_iter().partition(is_repeated);
        for part in parts {
            // Lines move between reviews; the code tells whether a place is known.
            let place = |place: &FindingPlace| (place.category_code.clone(), normalise_code(&place.evidence), place.fix.clone());
            let known: BTreeSet<_> = finding.all_places().map(|known| place(&known)).collect();
            finding.places.extend(part.all_places().filter(|said| !known.contains(&place(said))));
            finding.agreement.extend(part.agreement);
            finding.also.extend(part.also.into_iter().chain([part.failure_mode]).filter(|text| text != &finding.failure_mode));
        }
        finding.agreement.sort();
        finding.agreement.dedup();
        finding.also.sort();
        finding.also.dedup();
        finding.places.sort();
        finding.places.dedup();
        *fresh = others;
        fresh.push(finding);
    }
}

/// Whether a statement repeats a part of an open finding: at one of its places, or in like words about a part of what it quotes.
fn is_part(said: &Finding, open: &Finding) -> bool {
    let is_like = || {
        let ours = Terms::of_prose(&said.failure_mode);
        let theirs = std::iter::once(&open.failure_mode).chain(&open.also);
        theirs.into_iter().any(|text| Similarity::of(&ours, &Terms::of_prose(text)) >= dedup::ALIKE.pair)
    };
    (&said.file, said.side) == (&open.file, open.side)
        && open.all_places().any(|place| {
            (&place.category_code, &place.symbol) == (&said.category_code, &said.symbol)
                && (normalise_code(&place.evidence) == normalise_code(&said.evidence)
                    || (window::is_part(&place.evidence, &said.evidence) && is_like()))
        })
}

/// Questions to the spec's author stay open until the spec or the code they ask about is gone (PR-70, PR-72).
pub fn carry_gaps(said: &Said<'_>, fresh: &mut Vec<SpecGap>) -> Vec<PriorVerification> {
    let mut verifications = Vec::new();
    for gap in said.prior_gaps {
        let is_again = fresh.iter().any(|known| known.key == gap.key);
        let gone = gap_is_gone(said, gap).filter(|_| !is_again);
        let (verification, by) = match gone {
            Some(_) => (Verification::Yes, VerifiedBy::Comparison),
            None => (Verification::Unclear, VerifiedBy::Reviewer),
        };
        if gone.is_none() && !is_again {
            fresh.push(gap.clone());
        }
        verifications.push(PriorVerification {
            prior_id: gap.id,
            verification,
            note: gone.unwrap_or("asked of the spec's author").into(),
            p_code: "Q".into(),
            slug: "spec-gap".into(),
            file: gap.file.0.clone(),
            line: gap.line,
            spec_gap: true,
            by,
        });
    }
    verifications
}

/// Why a question to the spec's author has no object any more.
fn gap_is_gone(said: &Said<'_>, gap: &SpecGap) -> Option<&'static str> {
    let folded = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let quote = folded(&gap.spec_quote);
    if !said.paths.contains(&gap.file) {
        Some("its file no longer differs from the base")
    } else if said.spec.is_some_and(|spec| !quote.is_empty() && !folded(spec).contains(&quote)) {
        Some("the spec no longer holds the sentence that it asks about")
    } else {
        None
    }
}

/// What became of an open finding, and who says so.
struct Judgement {
    verification: Verification,
    note: String,
    by: VerifiedBy,
}

impl Judgement {
    fn of_reviewer(verification: Verification, note: String) -> Self {
        Judgement { verification, note, by: VerifiedBy::Reviewer }
    }
}

fn judge(said: &Said<'_>, prior: &OpenFinding, again: Option<&Finding>, statuses: &[&PriorStatus]) -> Judgement {
    if let Some(finding) = again {
        let note = format!("reported again at {}:{}", finding.file, finding.line_start);
        return Judgement::of_reviewer(Verification::No, note);
    }
    let mut of_this: Vec<&&PriorStatus> = statuses.iter().filter(|status| status.id == prior.finding.id).collect();
    of_this.sort_by(|a, b| (a.verification, &a.note).cmp(&(b.verification, &b.note)));
    let said_no = of_this.iter().find(|status| status.verification == Verification::No);
    let said_unclear = of_this.iter().find(|status| status.verification == Verification::Unclear);
    let is_yes = |status: &PriorStatus| status.verification == Verification::Yes && !status.note.trim().is_empty();
    let said_yes = of_this.iter().find(|status| is_yes(status));
    let note = |status: &PriorStatus| crate::findings::admit::one_line(&status.note);
    if let Some(status) = said_no {
        return Judgement::of_reviewer(Verification::No, note(status));
    }
    // One reviewer who could not tell outweighs one who could: the finding stays open.
    if let (Some(status), None) = (said_yes, said_unclear) {
        let by = if of_this.iter().any(|status| is_yes(status) && !status.is_switched_off) {
            VerifiedBy::Reviewer
        } else {
            VerifiedBy::Settings
        };
        return Judgement { verification: Verification::Yes, note: note(status), by };
    }
    let is_in_change = said.paths.contains(&prior.finding.file);
    if !is_in_change && prior.is_off_change {
        let note = format!("{} no longer differs from the base, and the cited code is nowhere in the change", prior.finding.file);
        return Judgement { verification: Verification::Yes, note, by: VerifiedBy::Comparison };
    }
    let reason = if let Some(status) = said_unclear {
        note(status)
    } else if !is_in_change {
        "its file is no longer part of the change, its code may be elsewhere in it, and no reviewer verified it".into()
    } else if said.window.is_some_and(|window| !window.contains(&prior.finding.file)) {
        "its file did not change since the last review".into()
    } else {
        "no reviewer verified it".into()
    };
    Judgement::of_reviewer(Verification::Unclear, reason)
}
