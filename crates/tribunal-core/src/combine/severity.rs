//! From what a reviewer said to a priority, in fixed steps (PR-75, with the lessons of PR-129 and PR-130).
//!
//! First the reviewer's severity, under its category's cap. Low confidence makes it a question, and nothing raises it again. Then
//! the gates: a blocker must be reachable or asymmetric, test and sample code do not block, wide reach raises a suggestion once but
//! never to a blocker and never in test or sample code, prose is minor. The context's directives come last. Every difference is recorded with its reason.

use super::Caps;
use super::agreement::Support;
use super::finding::{Draft, Finding, FindingOrigin, SeverityAdjustment};
use crate::findings::role::Role;
use crate::findings::scale::{Blast, Confidence, Justification, Priority, Severity};
use crate::ids::{CategoryCode, FindingId, RepoPath};
use crate::policy::context::{Directive, Effect};

pub fn settle(draft: Draft, roles: &[Role], directives: &[Directive]) -> Finding {
    let (priority, adjustment) = weigh(&Weighed::of(&draft), directives);
    let lead = draft.lead;
    let heading = roles
        .iter()
        .find_map(|role| role.category(&lead.category))
        .map_or_else(|| format!("[{}]", lead.category), |category| category.heading());
    Finding {
        id: FindingId(0),
        key: draft.key,
        p_code: priority,
        severity_emoji: priority.emoji().to_owned(),
        slug: draft.slug,
        category: heading,
        category_code: lead.category,
        file: lead.path,
        line_start: lead.anchor.line_start,
        line_end: lead.anchor.line_end,
        side: lead.anchor.side,
        symbol: lead.symbol,
        confidence: lead.confidence,
        blast: lead.blast,
        justification: lead.justification,
        failure_mode: lead.failure_mode,
        mitigation: lead.mitigation,
        evidence: lead.anchor.quote,
        details: lead.details,
        notes: lead.notes,
        severity_adjustment: adjustment,
        agreement: draft.agreement,
        support: Support::default(),
        also: draft.also,
        places: draft.places,
        repeats: Vec::new(),
        related: Vec::new(),
        origin: FindingOrigin::Fresh,
        reversible: lead.reversible,
        race: lead.race,
        rule: lead.rule,
        fix: lead.fix,
        trace: lead.trace,
        mitigation_out_of_scope: lead.mitigation_out_of_scope,
        inline: false,
        dismissed: None,
    }
}

fn priority_of(severity: Severity) -> Priority {
    match severity {
        Severity::Blocker => Priority::P0,
        Severity::Factual => Priority::P1,
        Severity::Suggestion => Priority::P2,
        Severity::Question => Priority::Q,
    }
}

/// What a priority is made of.
#[derive(Debug, Clone, Copy)]
pub struct Weighed<'a> {
    pub category: &'a CategoryCode,
    pub path: &'a RepoPath,
    pub said: Severity,
    /// The most that its category may weigh.
    pub cap: Option<Severity>,
    pub confidence: Confidence,
    pub blast: Blast,
    pub justification: Justification,
    pub is_test: bool,
    pub is_sample: bool,
    pub is_prose: bool,
}

impl<'a> Weighed<'a> {
    fn of(draft: &'a Draft) -> Self {
        let lead = &draft.lead;
        Self {
            category: &lead.category,
            path: &lead.path,
            said: draft.forced.unwrap_or(lead.severity),
            cap: lead.cap,
            confidence: lead.confidence,
            blast: lead.blast,
            justification: lead.justification,
            is_test: lead.is_test,
            is_sample: lead.is_sample,
            is_prose: lead.is_prose,
        }
    }
}

pub fn weigh(lead: &Weighed<'_>, directives: &[Directive]) -> (Priority, Option<SeverityAdjustment>) {
    let said = lead.said;
    let applies = |directive: &&Directive| directive.applies(lead.category, lead.path);
    let mut weight = Weight { now: priority_of(said), reasons: Vec::new(), pinned: false };
    weight.pinned = directives.iter().filter(applies).any(|directive| directive.effect == Effect::NeverLower);

    if lead.confidence == Confidence::Low && weight.now != Priority::Q {
        // PR-106: what is guessed is asked, whatever else holds.
        weight.now = Priority::Q;
        weight.reasons.push("low confidence makes it a question".into());
        return weight.finish(said);
    }
    if weight.now == Priority::Q {
        return weight.finish(said);
    }
    if let Some(cap) = lead.cap.map(priority_of) {
        weight.lower_to(cap, "this category never blocks");
    }
    if weight.now == Priority::P0 && !matches!(lead.justification, Justification::Reachable | Justification::Asymmetric) {
        weight.lower_to(Priority::P1, "a blocker must be reachable today or asymmetric");
    }
    if lead.is_test {
        weight.lower_to(Priority::P1, "test code does not reach production");
    } else if lead.is_sample {
        weight.lower_to(Priority::P1, "sample code does not reach production");
    }
    let passes_p1_gate =
        matches!(lead.justification, Justification::Reachable | Justification::Asymmetric | Justification::Historical);
    // What does not reach production has no reach, whatever it would do there.
    let reaches = lead.blast.is_wide() && !lead.is_test && !lead.is_sample;
    if weight.now == Priority::P2 && reaches && passes_p1_gate {
        weight.now = Priority::P1;
        weight.reasons.push(format!("blast {}", lead.blast.word()));
    }
    let is_prose_matter = !lead.category.as_str().starts_with(['S', 'C']) && lead.justification != Justification::Asymmetric;
    if lead.is_prose && is_prose_matter {
        weight.lower_to(Priority::P3, "the cited file is prose");
    }
    for directive in directives.iter().filter(applies) {
        match directive.effect {
            Effect::NeverLower => {}
            Effect::Raise(to) if to < weight.now => {
                weight.now = to;
                weight.reasons.push(format!("context: {}", directive.reason));
            }
            Effect::Lower(to) => weight.lower_to(to, &format!("context: {}", directive.reason)),
            Effect::Raise(_) => {}
        }
    }
    weight.finish(said)
}

struct Weight {
    now: Priority,
    reasons: Vec<String>,
    /// A directive forbids lowering.
    pinned: bool,
}

impl Weight {
    fn lower_to(&mut self, to: Priority, reason: &str) {
        if to > self.now && !self.pinned {
            self.now = to;
            self.reasons.push(reason.to_owned());
        }
    }

    fn finish(self, said: Severity) -> (Priority, Option<SeverityAdjustment>) {
        let base = priority_of(said);
        let label = |priority: Priority| format!("{} {}", priority.emoji(), priority.code());
        let adjustment = (base != self.now).then(|| SeverityAdjustment {
            from: label(base),
            to: label(self.now),
            reason: self.reasons.join("; "),
        });
        (self.now, adjustment)
    }
}

/// Are findings of this priority posted on their lines in this round, up to their cap?
pub fn is_posted_inline(priority: Priority, iteration: u32) -> bool {
    match priority {
        Priority::P0 => true,
        Priority::P1 => iteration <= 2,
        Priority::P2 => iteration <= 1,
        Priority::P3 | Priority::Q => false,
    }
}

/// What is posted on its line (PR-90, PR-131): P0 always, P1 and P2 up to their caps and only in the first rounds, surest first; from
/// the second round P0 and P1, from the third P0 alone. P3 and Q stay in the summary.
pub fn mark_inline(findings: &mut [Finding], caps: Caps, iteration: u32) {
    for finding in findings.iter_mut() {
        finding.inline = finding.p_code == Priority::P0;
    }
    for (priority, cap) in [(Priority::P1, caps.inline_p1), (Priority::P2, caps.inline_p2)] {
        if !is_posted_inline(priority, iteration) {
            continue;
        }
        let mut ranked: Vec<&mut Finding> =
            findings.iter_mut().filter(|finding| finding.p_code == priority && !finding.support.folded).collect();
        // What a receipt claims takes nobody's place.
        let rank = |finding: &Finding| (finding.key.is_brought(), std::cmp::Reverse(finding.confidence));
        ranked.sort_by(|a, b| rank(a).cmp(&rank(b)).then_with(|| super::finding::order(a, b)));
        ranked.into_iter().take(cap as usize).for_each(|finding| finding.inline = true);
    }
}
