//! What somebody who watches a sweep is told: a line when something begins that takes a while, and one when it has come about.

use super::effect::{Act, Effect, Merged, Order, Outcome, Read, Stage, Updated};
use crate::pull::talk::ReviewEvent;

impl Effect {
    /// What begins.
    pub fn line(&self) -> Option<String> {
        Some(match &self.order {
            Order::Read(Read::Discover { tick }) if *tick > 1 => format!("iteration {tick}: looking for pull requests"),
            Order::Read(Read::Discover { .. }) => "looking for pull requests".to_owned(),
            Order::Act(Act::Review { number, head, stage, pair, .. }) => {
                let what = match stage {
                    Stage::First => "reviewing",
                    Stage::Second => "reviewing again",
                    Stage::Updated => "reviewing with its base brought in,",
                };
                format!("PR #{number} (pair {pair}): {what} {}", head.short())
            }
            Order::Act(Act::Respond { number, pair, .. }) => format!("PR #{number} (pair {pair}): responding"),
            Order::Act(Act::Update { number, .. }) => format!("PR #{number}: bringing its base in"),
            Order::Act(Act::Ask { gate }) => {
                let about = gate.number.map(|number| format!("PR #{number}: ")).unwrap_or_default();
                format!("{about}a person is asked ({})", gate.name)
            }
            Order::Read(Read::Look { .. } | Read::Rest { .. }) | Order::Act(_) => return None,
        })
    }
}

impl Outcome {
    /// What has come about, of what was ordered.
    pub fn line(&self, effect: &Effect) -> Option<String> {
        let Order::Act(act) = &effect.order else {
            return match self {
                Outcome::Discovered(Ok(found)) => Some(format!("{} found", counted(found.pulls.len()))),
                other => other.trouble().map(|trouble| trouble.words().to_owned()),
            };
        };
        let number = act.number()?;
        let words = match self {
            Outcome::Rejected(Ok(())) => "rejected: conflict markers".to_owned(),
            Outcome::Reviewed { said: Ok(said), .. } => {
                let open = if said.blocking.is_empty() { String::new() } else { format!(", {} open", said.blocking.len()) };
                format!("{}{open}", said.verdict.word())
            }
            Outcome::Concluded(Ok(said)) => match said.event {
                ReviewEvent::Approve => "approved".to_owned(),
                ReviewEvent::RequestChanges => "changes requested".to_owned(),
                ReviewEvent::Comment => "its verdict is said".to_owned(),
            },
            Outcome::Responded { said: Ok(said), .. } => {
                format!("{} fixed, {} declined, {} left", said.fixed, said.declined, said.left.len())
            }
            Outcome::Remained(Ok(())) => "left to a person".to_owned(),
            Outcome::Updated(Ok(Updated::Head(head))) => format!("is at {}", head.short()),
            Outcome::Updated(Ok(Updated::Conflict(why) | Updated::Refused(why))) => {
                format!("cannot be brought up to date: {why}")
            }
            Outcome::Merged(Ok(Merged::Done)) => "merged".to_owned(),
            Outcome::Merged(Ok(Merged::Changed(why) | Merged::Refused(why))) => format!("not merged: {why}"),
            Outcome::Held(Ok(())) => "held, and that is on record".to_owned(),
            Outcome::Answered(answer) => format!("answered with {}", answer.choice),
            other => other.trouble()?.words().to_owned(),
        };
        Some(format!("PR #{number}: {words}"))
    }
}

fn counted(pulls: usize) -> String {
    if pulls == 1 { "1 pull request".to_owned() } else { format!("{pulls} pull requests") }
}

impl Act {
    /// The pull request that it is about.
    fn number(&self) -> Option<u64> {
        match self {
            Act::Reject { number, .. }
            | Act::Review { number, .. }
            | Act::Conclude { number, .. }
            | Act::Respond { number, .. }
            | Act::Remains { number, .. }
            | Act::Update { number, .. }
            | Act::Hold { number, .. }
            | Act::Epics { number }
            | Act::Sync { number } => Some(*number),
            Act::Merge { warrant } => Some(warrant.clearance.number()),
            Act::Ask { gate } => gate.number,
            Act::Acquire { .. } | Act::Export { .. } | Act::Report { .. } | Act::Release { .. } => None,
        }
    }
}
