//! From what a reviewer said to a priority, in fixed steps (PR-75, with the lessons of PR-129 and PR-130).
//!
//! First the reviewer's severity, under its category's cap. Low confidence makes it a question, and nothing raises it again. Then
//! the gates: a blocker must be reachable or asymmetric, test and sample code do not block, wide reach raises a suggestion once but
//! never to a blocker and never in test or sample code, prose is minor. The context's directives come last. Every difference is recorded with its reason.

use super::Caps;
use super::finding::{Draft, Finding, FindingOrigin, SeverityAdjustment};
use crate::findings::role::Role;
use crate::findings::scale::{Confidence, Justification, Priority, Severity};
use crate::ids::FindingId;
use crate::policy::context::{Directive, Effect};

pub fn settle(draft: Draft, roles: &[Role], directives: &[Directive]) -> Finding {
    let (priority, adjustment) = weigh(&draft, directives);
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
        also: draft.also,
        related: Vec::new(),
        origin: FindingOrigin::Fresh,
        reversible: lead.reversible,
        race: lead.race,
        rule: lead.rule,
        fix: lead.fix,
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

fn weigh(draft: &Draft, directives: &[Directive]) -> (Priority, Option<SeverityAdjustment>) {
    let lead = &draft.lead;
    let said = draft.forced.unwrap_or(lead.severity);
    let mut weight = Weight { now: priority_of(said), reasons: Vec::new(), pinned: false };
    weight.pinned = directives.iter().any(|directive| directive.effect == Effect::NeverLower && directive.applies(lead));

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
    for directive in directives.iter().filter(|directive| directive.applies(lead)) {
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

/// What is posted on its line (PR-90, PR-131): P0 and P1 always, P2 up to the cap and only in the first round, surest first;
/// from the second round P0 and P1, from the third P0 alone. P3 and Q stay in the summary.
pub fn mark_inline(findings: &mut [Finding], caps: Caps, iteration: u32) {
    let mut p2: Vec<&mut Finding> = Vec::new();
    for finding in findings.iter_mut() {
        match finding.p_code {
            Priority::P0 => finding.inline = true,
            Priority::P1 => finding.inline = iteration <= 2,
            Priority::P2 => p2.push(finding),
            Priority::P3 | Priority::Q => finding.inline = false,
        }
    }
    // What a receipt claims takes nobody's place.
    let rank = |finding: &Finding| (finding.key.is_brought(), std::cmp::Reverse(finding.confidence));
    p2.sort_by(|a, b| rank(a).cmp(&rank(b)).then_with(|| super::finding::order(a, b)));
    for (rank, finding) in p2.into_iter().enumerate() {
        finding.inline = iteration <= 1 && (rank as u32) < caps.inline_p2;
    }
}
