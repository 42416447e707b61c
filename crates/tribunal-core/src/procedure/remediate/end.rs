//! The one end of a loop, and its report.

use super::pass::Why;
use super::{Effect, Next, Phase, State};
use crate::feedback::item::Item;
use crate::feedback::right::NOT_ACTED_ON;
use crate::pull::facts::PullState;
use crate::remedy::condition::{Condition, Payload};
use crate::remedy::end::{End, Ended};
use crate::remedy::ladder::Reason;
use crate::remedy::report::{Details, Planned, PullFacts, Report, Spending, words};

impl State {
    /// Stops after one more look: what was said while a pass worked is in the report, too (WL-123, WL-130).
    pub(super) fn close(&mut self, conditions: Vec<Condition>) -> Next {
        self.read(Why::Closing { conditions })
    }

    /// Stops for the reason that stands highest on the ladder; every condition that holds is in the report (CF-23).
    pub(super) fn end(&mut self, conditions: Vec<Condition>) -> Next {
        let report = Box::new(self.make_report(conditions));
        if self.request.loops.comment && !self.request.loops.dry_run {
            return (Phase::Posting(report), vec![Effect::Post]);
        }
        (Phase::Done(report), Vec::new())
    }

    pub(super) fn make_report(&self, mut conditions: Vec<Condition>) -> Report {
        conditions.sort_by_key(|condition| condition.reason);
        let reason = conditions.first().map_or(Reason::Clean, |first| first.reason);
        let memory = &self.memory;
        let pull = match &memory.pull {
            Some(pull) => PullFacts {
                number: pull.number,
                state: state_at_end(reason, pull.state),
                branch: pull.branch.clone(),
                target: pull.base.clone(),
                url: pull.url.clone(),
            },
            None => PullFacts {
                number: self.request.place.number,
                state: PullState::Open,
                branch: "unknown".into(),
                target: "unknown".into(),
                url: String::new(),
            },
        };
        let mut report = Report::new(reason, pull);
        if let Some(detail) = conditions.first().map(|first| first.detail.as_str()).filter(|detail| !detail.is_empty()) {
            report.explanation = format!("{}: {detail}", words::explanation(reason));
        }
        report.conditions = conditions.iter().map(|condition| condition.reason).collect();
        report.conditions.dedup();
        report.cycles = memory.cycles;
        report.seen = count(memory.items.len());
        report.routed = memory.routed;
        report.items = memory.items.values().map(|item| Ended::of(item, self.end_of_item(item))).collect();
        report.resolved = count(report.items.iter().filter(|ended| is_answered(&ended.end)).count());
        report.new_actionable = report.resolved;
        report.issues = self.issues(&conditions);
        report.details = details(&conditions);
        if reason == Reason::Blocked {
            report.details.blocked_candidates = self.still_to_do();
        }
        report.planned.clone_from(&memory.planned);
        report.blocker = conditions.first().and_then(|first| first.blocker);
        report.spend = Spending {
            calls: memory.spend.calls,
            tokens: memory.spend.usage.total_input() + memory.spend.usage.output,
            cost: memory.spend.cost,
        };
        report
    }

    /// What became of an item. One that was answered elsewhere before this run is nobody's work here, and what was said after our
    /// answer is not answered by it.
    fn end_of_item(&self, item: &Item) -> End {
        match self.memory.ends.get(&item.id) {
            Some((last_word, end)) if !item.is_open() || *last_word == item.last_word => end.clone(),
            Some(_) => End::Open { why: "something was said after it was answered".into() },
            None if !item.is_open() => End::AnsweredBefore,
            None if self.memory.not_acted_on.contains_key(&item.id) => {
                let why = self.memory.not_acted_on.get(&item.id).cloned().unwrap_or_default();
                End::LeftOut { why: format!("{NOT_ACTED_ON}{why}") }
            }
            None if self.memory.left_out.contains(&item.id) => {
                End::LeftOut { why: format!("only the words of `{}` count here", self.request.loops.reviewer) }
            }
            None => End::Open { why: "it was not worked on".into() },
        }
    }

    /// What is open and came from somebody whose words count here (WL-57).
    fn still_to_do(&self) -> Vec<String> {
        let open = self.open_items();
        self.memory.items.values().filter(|item| open.contains(&item.id)).map(Item::address).collect()
    }

    fn issues(&self, conditions: &[Condition]) -> Vec<String> {
        // What the first one says is the explanation already.
        let adds = |(nth, condition): &(usize, &Condition)| {
            let more = condition.stage.is_some() || !condition.evidence.is_empty();
            !condition.detail.is_empty() && (*nth > 0 || more)
        };
        let mut issues: Vec<String> = conditions.iter().enumerate().filter(adds).map(|(_, condition)| line(condition)).collect();
        issues.extend(self.memory.planned.iter().map(Planned::line));
        if self.memory.unvalidated {
            issues.push("the fixes were validated by nothing: the repository names no commands ([validate])".into());
        }
        let not_resolved: Vec<&str> = self.memory.not_resolved.values().map(String::as_str).collect();
        if !not_resolved.is_empty() {
            issues.push(format!("answered, but not resolved on the forge: {}", not_resolved.join("; ")));
        }
        issues
    }
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

fn is_answered(end: &End) -> bool {
    matches!(end, End::Fixed { .. } | End::Declined { .. } | End::Deferred { .. })
}

fn state_at_end(reason: Reason, seen: PullState) -> PullState {
    match reason {
        Reason::PrMerged => PullState::Merged,
        Reason::PrClosed => PullState::Closed,
        _ => seen,
    }
}

fn line(condition: &Condition) -> String {
    let stage = condition.stage.as_ref().map_or_else(String::new, |stage| format!(" ({stage})"));
    let evidence = if condition.evidence.is_empty() { String::new() } else { format!(" [{}]", condition.evidence.join(" | ")) };
    format!("{}{stage}: {}{evidence}", condition.reason, condition.detail)
}

/// The fields that some reasons carry (the table before WL-58).
fn details(conditions: &[Condition]) -> Details {
    let mut details = Details::default();
    let Some(first) = conditions.first() else { return details };
    details.candidate_url.clone_from(&first.url);
    match first.reason {
        Reason::InjectionSuspect => details.pattern_category.clone_from(&first.stage),
        Reason::HighSeverityRejection => details.rationale_text = Some(first.detail.clone()),
        Reason::UserInputRequired => details.escalation_target = Some("a person".into()),
        Reason::PlannerEscalation => details.escalation_target = Some("whoever plans the change".into()),
        Reason::MergeAdvised | Reason::DiminishingReturns => details.recommendation_text = Some(first.detail.clone()),
        Reason::Blocked => {
            let stage = first.stage.clone().unwrap_or_default();
            details.blocker_reason =
                Some(if stage.is_empty() { first.detail.clone() } else { format!("{stage}: {}", first.detail) });
        }
        // What they bring is their payload.
        Reason::RootClusterSuspected
        | Reason::BreakFixBreak
        | Reason::PrMerged
        | Reason::PrClosed
        | Reason::MaxIterationsReached
        | Reason::MaxCyclesReached
        | Reason::WatchWindowElapsed
        | Reason::PassComplete
        | Reason::Clean => {}
    }
    match first.payload.clone() {
        Some(Payload::Suspected(suspected)) => {
            details.cluster_files = suspected.files;
            details.cluster_thread_urls = suspected.urls;
            details.hypothesized_root = Some(suspected.root);
            details.same_framing_rationale = Some(suspected.rationale);
            details.member_count = Some(suspected.members);
        }
        Some(Payload::Advised(advice)) => {
            details.advisory_reason = Some(advice.reason());
            details.structural_home = advice.home().map(str::to_owned);
        }
        None => {}
    }
    let later = conditions.iter().skip(1).filter_map(|condition| condition.url.clone());
    details.deferred_escalation_items = later.collect();
    details
}
