//! What a review of one pull request and a pass over it come to, for the sweep that ordered them.

use super::effect::{Remaining, Responded, Reviewed, Trouble};
use crate::combine::finding::Finding;
use crate::feedback::item::Voice;
use crate::feedback::right::NOT_ACTED_ON;
use crate::ids::{AgentName, Sha};
use crate::merge::facts::blocks;
use crate::procedure::order::Hindrance;
use crate::publish::visible::visible_line;
use crate::remedy::condition::Blocker;
use crate::remedy::end::{End, Ended};
use crate::remedy::ladder::Reason;
use crate::remedy::report::Report;
use crate::report::document::Document;
use crate::report::receipt::SeatState;
use std::collections::BTreeSet;

impl Reviewed {
    /// What a document says; half a review says nothing (design rule 1).
    pub fn of(document: &Document) -> Result<Reviewed, Trouble> {
        let answered = document.receipt.seats.iter().filter(|seat| seat.state == SeatState::Ok && seat.replaced_by.is_none());
        let (code, verdict) = (document.exit_code(), document.verdict);
        match (code, verdict) {
            (0 | 1, Some(verdict)) => Ok(Reviewed {
                head: document.head.clone(),
                base_branch: document.receipt.base_branch.clone(),
                run: document.receipt.run.clone(),
                verdict,
                blocking: document
                    .findings
                    .iter()
                    .filter(|finding| blocks(finding, document.fail_level))
                    .map(remaining)
                    .collect(),
                agents: answered.map(|seat| seat.seat.agent.clone()).collect(),
            }),
            (4, _) => Err(Trouble::OverBudget(half(document))),
            (75, _) => Err(Trouble::Unavailable(half(document))),
            _ => Err(Trouble::Incomplete(half(document))),
        }
    }
}

fn half(document: &Document) -> String {
    match document.subagent_failures.first() {
        Some(failure) => visible_line(&format!("{} did not look: {}", failure.seat.role, failure.reason)),
        None => format!("the review is incomplete: {}", visible_line(&document.summary_line)),
    }
}

fn remaining(finding: &Finding) -> Remaining {
    Remaining {
        name: finding.id.to_string(),
        priority: Some(finding.p_code),
        place: format!("{}:{}", visible_line(finding.file.as_str()), finding.line_start),
        words: visible_line(&finding.failure_mode),
    }
}

impl Responded {
    /// `commits` were pushed, oldest first; `by` made them.
    pub fn of(report: &Report, commits: &[(Sha, String)], by: &AgentName) -> Result<Responded, Trouble> {
        if let Some(trouble) = blocked(report) {
            return Err(trouble);
        }
        let count =
            |is: fn(&End) -> bool| u32::try_from(report.items.iter().filter(|ended| is(&ended.end)).count()).unwrap_or(u32::MAX);
        let is_reply =
            |end: &End| matches!(end, End::Fixed { .. } | End::Declined { .. } | End::Deferred { .. } | End::Asked { .. });
        let head = commits.last().map(|(sha, _)| sha.clone());
        Ok(Responded {
            fixed: count(|end| matches!(end, End::Fixed { .. })),
            declined: count(|end| matches!(end, End::Declined { .. })),
            left: report.open().map(left).collect(),
            replies: count(is_reply),
            people: answered_people(report),
            agents: head.iter().map(|_| by.clone()).collect(),
            not_acted_on: report.items.iter().filter_map(not_acted_on).collect(),
            head,
        })
    }
}

/// Logins of people whose comments a pass has answered (SL-145).
pub fn answered_people(report: &Report) -> BTreeSet<String> {
    let is_reply = |end: &End| matches!(end, End::Fixed { .. } | End::Declined { .. } | End::Deferred { .. } | End::Asked { .. });
    let addressed = |ended: &&Ended| ended.voice == Voice::Person && is_reply(&ended.end);
    report.items.iter().filter(addressed).map(|ended| ended.author.clone()).collect()
}

fn not_acted_on(ended: &Ended) -> Option<String> {
    match &ended.end {
        End::LeftOut { why } if why.starts_with(NOT_ACTED_ON) => {
            Some(visible_line(&format!("{} at {}: {why}", ended.author, ended.place)))
        }
        _ => None,
    }
}

/// A pass that could not do its work is no response.
fn blocked(report: &Report) -> Option<Trouble> {
    if report.reason != Reason::Blocked {
        return None;
    }
    let words = report.details.blocker_reason.clone().unwrap_or_else(|| report.explanation.clone());
    let words = visible_line(&words);
    Some(match report.blocker {
        Some(Blocker::Forge) => Trouble::Forge(words),
        Some(Blocker::Budget) => Trouble::OverBudget(words),
        Some(Blocker::Later) => Trouble::Unavailable(words),
        Some(Blocker::Person) => Trouble::NotPushed(words),
        Some(Blocker::Agent) | None => Trouble::Incomplete(words),
    })
}

fn left(ended: &Ended) -> Remaining {
    let words = match &ended.end {
        End::Asked { question } => question.clone(),
        End::Open { why } | End::LeftOut { why } => why.clone(),
        End::Fixed { .. } | End::Declined { .. } | End::Deferred { .. } | End::NothingAsked | End::AnsweredBefore => {
            String::new()
        }
    };
    Remaining {
        name: visible_line(&ended.author),
        priority: ended.priority,
        place: visible_line(&ended.place),
        words: visible_line(&words),
    }
}

impl Trouble {
    pub fn of(hindrance: &Hindrance) -> Trouble {
        let words = visible_line(&hindrance.to_string());
        match hindrance {
            Hindrance::HeadMoved { .. } => Trouble::HeadMoved,
            Hindrance::NotOpen { .. } | Hindrance::Agent { .. } | Hindrance::Setup { .. } => Trouble::Incomplete(words),
            Hindrance::InTheWay { .. } | Hindrance::NotYet { .. } => Trouble::Unavailable(words),
            Hindrance::Budget { .. } => Trouble::OverBudget(words),
            Hindrance::Forge { .. } => Trouble::Forge(words),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feedback::item::ItemId;
    use crate::findings::scale::Priority;
    use crate::pull::facts::PullState;
    use crate::remedy::report::PullFacts;

    fn ended(author: &str, voice: Voice, end: End) -> Ended {
        Ended {
            item: ItemId(format!("thread:{author}")),
            place: "a.py:3".into(),
            author: author.into(),
            voice,
            url: String::new(),
            priority: Some(Priority::P1),
            end,
        }
    }

    fn report(reason: Reason) -> Report {
        let pull = PullFacts { number: 7, state: PullState::Open, branch: "b".into(), target: "main".into(), url: String::new() };
        let fixed = End::Fixed { sha: "abc".into() };
        Report {
            items: vec![
                ended("ann", Voice::Person, fixed.clone()),
                ended("bot", Voice::Bot, fixed),
                ended("bob", Voice::Person, End::Open { why: "too\nlarge".into() }),
            ],
            ..Report::new(reason, pull)
        }
    }

    /// SL-62, SL-145: what is left is told, and whose comments were addressed is known.
    #[test]
    fn a_pass_becomes_a_response() {
        let commits = [("1".into(), "a".into()), ("2".into(), "b".into())];
        let responded = Responded::of(&report(Reason::PassComplete), &commits, &"rules".into()).unwrap();
        assert_eq!((responded.fixed, responded.declined, responded.replies), (2, 0, 2));
        assert_eq!(responded.head, Some("2".into()));
        assert_eq!(responded.people, ["ann".to_owned()].into());
        assert_eq!(responded.agents, ["rules".into()].into());
        assert_eq!(responded.left.len(), 1);
        assert!(responded.left[0].words.starts_with("too") && !responded.left[0].words.contains('\n'));
        let nothing = Responded::of(&report(Reason::PassComplete), &[], &"rules".into()).unwrap();
        assert!(nothing.agents.is_empty() && nothing.head.is_none());
    }

    /// SL-99, CF-9: what kept it from its work is told apart.
    #[test]
    fn a_blocked_pass_is_trouble() {
        for (blocker, wanted) in [
            (Some(Blocker::Forge), Trouble::Forge("why".into())),
            (Some(Blocker::Person), Trouble::NotPushed("why".into())),
            (Some(Blocker::Budget), Trouble::OverBudget("why".into())),
            (Some(Blocker::Later), Trouble::Unavailable("why".into())),
            (None, Trouble::Incomplete("why".into())),
        ] {
            let mut blocked = report(Reason::Blocked);
            (blocked.blocker, blocked.details.blocker_reason) = (blocker, Some("why".into()));
            assert_eq!(Responded::of(&blocked, &[], &"rules".into()), Err(wanted));
        }
    }

    #[test]
    fn a_hindrance_is_trouble() {
        assert_eq!(Trouble::of(&Hindrance::HeadMoved { to: None }), Trouble::HeadMoved);
        let closed = Trouble::of(&Hindrance::NotOpen { state: PullState::Closed });
        assert_eq!(closed, Trouble::Incomplete("it is closed".into()));
    }
}
