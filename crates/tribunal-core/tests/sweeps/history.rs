//! What happened, as an onlooker writes it down: what each run was asked, what it ordered and was told, and how the forge changed.

use super::forge::Pr;
use tribunal_core::ids::{RunId, Sha};
use tribunal_core::merge::policy::MergePolicy;
use tribunal_core::procedure::Millis;
use tribunal_core::procedure::sweep::{Effect, Outcome, Report, Request, Ticket};

#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// A pull request as it is from now on.
    Pull(Pr),
    Policy(MergePolicy),
    /// Whose lock it is from now on.
    Lock(Option<RunId>),
    Began {
        run: RunId,
        at: Millis,
        request: Box<Request>,
    },
    Sent {
        run: RunId,
        at: Millis,
        effect: Effect,
    },
    /// An act was really done, and not found done.
    Did {
        run: RunId,
        ticket: Ticket,
    },
    Merged {
        run: RunId,
        ticket: Ticket,
        number: u64,
        head: Sha,
    },
    Came {
        run: RunId,
        at: Millis,
        ticket: Ticket,
        outcome: Outcome,
    },
    Interrupted {
        run: RunId,
    },
    Ended {
        run: RunId,
        report: Box<Report>,
    },
}

#[derive(Debug, Clone, Default)]
pub struct History(pub Vec<Event>);

impl Event {
    /// A line of a story.
    pub fn line(&self) -> String {
        let text = match self {
            Event::Pull(pull) => format!("pull {pull:?}"),
            Event::Began { run, request, .. } => format!("{run} began {:?} {:?}", request.target, request.terms),
            Event::Ended { run, report } => format!("{run} ended {} ({}) exit {}", report.stop, report.reason, report.exit_code),
            other => format!("{other:?}"),
        };
        text.chars().take(330).collect()
    }
}
