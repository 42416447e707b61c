//! The summary line (PR-80, PR-82), the same on the terminal, in JSON and in the sticky comment.

use crate::combine::finding::Finding;
use crate::combine::verdict::Tier;
use crate::findings::scale::Priority;
use crate::report::document::{Document, SeatFailure};
use crate::report::receipt::{Coverage, LookedBy};

/// What is missing from a review, if anything, and what was left out because the base says so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Partial {
    words: Option<String>,
    exempt: Option<String>,
}

impl Partial {
    pub fn new(failures: &[SeatFailure], seats: usize, coverage: &Coverage) -> Self {
        let mut parts = Vec::new();
        let unread = coverage.holes().count();
        match failures {
            [] => {}
            [one] => parts.push(format!("{} failed", one.seat.role)),
            many => {
                let names: Vec<&str> = many.iter().map(|failure| failure.seat.role.as_str()).collect();
                // The original always said "of 4"; this is how many were asked (PR-46).
                parts.push(format!("{}/{seats} reviewers failed: {}", many.len(), names.join(", ")));
            }
        }
        if unread > 0 {
            parts.push(format!("{unread} file{} not read", if unread == 1 { "" } else { "s" }));
        }
        // Lines of a tool's code were checked, and that is no review.
        if parts.is_empty() && coverage.files > 0 && coverage.reviewed + coverage.unchanged + coverage.unread == 0 {
            parts.push("no file read in full".to_owned());
        }
        Self { words: (!parts.is_empty()).then(|| parts.join(", ")), exempt: exempt(coverage) }
    }
}

/// `3 exempt (2 generated, 1 lock file)`: how many files nobody read in full because the base says that nobody need.
fn exempt(coverage: &Coverage) -> Option<String> {
    let groups: Vec<(usize, &str)> = coverage
        .by_reason()
        .into_iter()
        .filter(|(_, accounts)| accounts.iter().any(|account| !account.ended.is_missing()))
        .map(|(words, accounts)| (accounts.len(), words))
        .collect();
    let total: usize = groups.iter().map(|(count, _)| count).sum();
    let listed: Vec<String> = groups.iter().map(|(count, words)| format!("{count} {words}")).collect();
    (total > 0).then(|| format!("{total} exempt ({})", listed.join(", ")))
}

pub fn status_wording(partial: &Partial, tier: Tier, looked_by: LookedBy) -> String {
    match (&partial.words, tier) {
        (None, _) => tier_wording(tier, looked_by).to_owned(),
        (Some(words), Tier::NotReviewed) => format!("{} — {words}", tier.wording()),
        // Half a review approves nothing.
        (Some(words), Tier::Approved | Tier::ApprovedWithNotes) => format!("⚠️ Partial — {words} · no verdict"),
        (Some(words), Tier::Blocking | Tier::ReviewBeforeMerge) => format!("⚠️ Partial — {words} · {}", tier.wording()),
    }
}

/// Rules find what they know and approve nothing, so the words of PR-80 that approve are those of agents.
fn tier_wording(tier: Tier, looked_by: LookedBy) -> &'static str {
    match (tier, looked_by) {
        (Tier::Approved, LookedBy::RulesAlone(_)) => "no rule matched",
        (Tier::ApprovedWithNotes, LookedBy::RulesAlone(_)) => "nothing at P0 or P1 is open",
        (tier, LookedBy::RulesAlone(_) | LookedBy::Agents) => tier.wording(),
    }
}

/// How much was looked at: categories that reviewers found clean, or the files that rules have checked.
fn scope(clean: usize, looked_by: LookedBy) -> Option<String> {
    let counted = |count: u32, noun: &str| format!("{count} {noun}{}", if count == 1 { "" } else { "s" });
    match looked_by {
        LookedBy::Agents => (clean > 0).then(|| format!("✅ {clean} clean")),
        LookedBy::RulesAlone(check) => {
            check.map(|check| format!("{} over {}", counted(check.rules, "rule"), counted(check.files, "file")))
        }
    }
}

pub fn summary_line(
    partial: &Partial,
    tier: Tier,
    findings: &[Finding],
    gaps: usize,
    clean: usize,
    looked_by: LookedBy,
) -> String {
    let dismissed = findings.iter().filter(|finding| !finding.counts()).count();
    let total = findings.len() - dismissed + gaps;
    let buckets: Vec<String> = Priority::ALL
        .into_iter()
        .filter_map(|priority| {
            let mut count = findings.iter().filter(|finding| finding.counts() && finding.p_code == priority).count();
            if priority == Priority::Q {
                count += gaps;
            }
            (count > 0).then(|| format!("{priority}×{count}"))
        })
        .collect();
    let status = status_wording(partial, tier, looked_by);
    let mut line = format!("**Review: {status}** · {total} finding{}", if total == 1 { "" } else { "s" });
    if !buckets.is_empty() {
        line.push_str(&format!(" ({})", buckets.join(", ")));
    }
    if dismissed > 0 {
        line.push_str(&format!(" · {dismissed} dismissed"));
    }
    if let Some(scope) = scope(clean, looked_by) {
        line.push_str(&format!(" · {scope}"));
    }
    if let Some(exempt) = &partial.exempt {
        line.push_str(&format!(" · {exempt}"));
    }
    line
}

/// The summary line without its Markdown and pictures, for a status.
pub fn plain(document: &Document) -> String {
    let kept: String =
        document.summary_line.chars().filter(|c| c.is_ascii() || c.is_alphanumeric() || "×·—…".contains(*c)).collect();
    let text = kept.replace("**", "").replace("Review: ", "");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diff::change::FileStatus;
    use crate::plan::files::{NotReviewed, SkipReason};
    use crate::plan::panel::Seat;
    use crate::report::receipt::{FileAccount, FileEnd, RulesCheck};

    fn failure(role: &str) -> SeatFailure {
        SeatFailure { seat: Seat { role: role.into(), agent: "x".into(), sample: 0 }, reason: "r".into() }
    }

    /// PR-82: zero buckets are left out.
    #[test]
    fn a_clean_review_counts_what_was_clean() {
        let line = summary_line(&Partial::new(&[], 3, &Coverage::default()), Tier::Approved, &[], 0, 11, LookedBy::Agents);
        assert_eq!(line, "**Review: ✅ Approved** · 0 findings · ✅ 11 clean");
    }

    /// Issue 18, section 0 point 5: rules alone approve nothing, and the line says what they checked.
    #[test]
    fn rules_alone_approve_nothing() {
        let whole = Partial::new(&[], 3, &Coverage::default());
        let rules = |check| LookedBy::RulesAlone(check);
        let check = RulesCheck { rules: 254, files: 14 };
        let line = |tier, check| summary_line(&whole, tier, &[], 0, 12, rules(check));
        assert_eq!(line(Tier::Approved, Some(check)), "**Review: no rule matched** · 0 findings · 254 rules over 14 files");
        let one = RulesCheck { rules: 1, files: 1 };
        assert_eq!(line(Tier::Approved, Some(one)), "**Review: no rule matched** · 0 findings · 1 rule over 1 file");
        assert_eq!(line(Tier::ApprovedWithNotes, None), "**Review: nothing at P0 or P1 is open** · 0 findings");
        assert!(line(Tier::Blocking, None).contains("🔴 Blocking issues found"));
    }

    /// PR-6, PR-46: a failed reviewer is named, and the number asked is the number asked.
    #[test]
    fn failures_stand_in_front() {
        let one = Partial::new(&[failure("security-reviewer")], 3, &Coverage::default());
        assert_eq!(
            summary_line(&one, Tier::ReviewBeforeMerge, &[], 0, 0, LookedBy::Agents),
            "**Review: ⚠️ Partial — security-reviewer failed · ⚠️ Review before merge** · 0 findings"
        );
        let two = Partial::new(&[failure("security-reviewer"), failure("sdet")], 3, &Coverage::default());
        assert!(
            status_wording(&two, Tier::Blocking, LookedBy::Agents)
                .starts_with("⚠️ Partial — 2/3 reviewers failed: security-reviewer, sdet")
        );
    }

    /// PR-7, PR-46: when all fail there is no half of a review either.
    #[test]
    fn no_review_is_not_called_partial() {
        let all = Partial::new(&[failure("security-reviewer"), failure("sdet")], 2, &Coverage::default());
        assert_eq!(
            status_wording(&all, Tier::NotReviewed, LookedBy::Agents),
            "❌ Not reviewed — 2/2 reviewers failed: security-reviewer, sdet"
        );
    }

    /// Design rule 1: a partial review never reads as approved.
    #[test]
    fn a_partial_review_is_never_approved() {
        let wording =
            status_wording(&Partial::new(&[failure("sdet")], 3, &Coverage::default()), Tier::Approved, LookedBy::Agents);
        assert!(!wording.contains("Approved"), "{wording}");
    }

    /// What the base exempts stands in the line, and never among what is clean.
    #[test]
    fn what_was_not_read_is_counted_by_reason() {
        let account = |path: &str, ended| FileAccount {
            path: path.into(),
            status: FileStatus::Modified,
            ended,
            added: 1,
            removed: 0,
            rules_depth: None,
            exempt: None,
        };
        let read = account("a.py", FileEnd::Reviewed);
        let exempt = [account("b.png", FileEnd::Skipped(SkipReason::Binary)), account("c.go", FileEnd::LinesOnly)];
        let coverage = Coverage::new([read.clone()].into_iter().chain(exempt.clone()).collect());
        let line = summary_line(&Partial::new(&[], 3, &coverage), Tier::Approved, &[], 0, 2, LookedBy::Agents);
        assert_eq!(line, "**Review: ✅ Approved** · 0 findings · ✅ 2 clean · 2 exempt (1 binary, 1 generated, lines only)");
        let hole = account("d.js", FileEnd::NotReviewed(NotReviewed::Binary));
        let coverage = Coverage::new([read, hole].into_iter().collect());
        let line = summary_line(&Partial::new(&[], 3, &coverage), Tier::Approved, &[], 0, 2, LookedBy::Agents);
        assert!(line.contains("⚠️ Partial — 1 file not read · no verdict") && !line.contains("Approved"), "{line}");
        let line =
            summary_line(&Partial::new(&[], 3, &Coverage::new(exempt.into())), Tier::Approved, &[], 0, 0, LookedBy::Agents);
        assert!(line.contains("no file read in full") && !line.contains("Approved"), "{line}");
    }
}
