//! What follows when a forge does not do what it was asked.

use super::reconcile::Write;
use crate::ids::FindingId;
use crate::pull::fault::ForgeFault;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Then {
    /// It may have happened: what is really there must be seen before anything else is written.
    LookAgain,
    /// The review as a whole was not taken, so nothing of it is on the pull request: the summary holds these findings instead.
    Unplace {
        findings: Vec<FindingId>,
        shortfall: String,
    },
    /// What was to be removed is not there any more.
    Gone,
    /// The rest is worth posting without it.
    GoOn {
        shortfall: String,
    },
    /// The rest is posted, and then the run fails all the same: a status is what branch protection reads.
    GoOnAndFail {
        shortfall: String,
    },
    Stop,
}

pub fn after_fault(write: &Write, fault: &ForgeFault) -> Then {
    if fault.is_uncertain() {
        return Then::LookAgain;
    }
    match (write, fault) {
        (Write::Review { findings, .. }, ForgeFault::Refused { .. }) => {
            Then::Unplace { findings: findings.clone(), shortfall: format!("no inline comments: {fault}") }
        }
        // A fork's commit is in no branch of the project, and some forges then know of no place for a status.
        (Write::Status { .. } | Write::CheckRun { .. }, ForgeFault::NotFound { .. }) => {
            Then::GoOn { shortfall: format!("no status: {fault}") }
        }
        (Write::Status { .. } | Write::CheckRun { .. }, _) if !fault.may_pass() => {
            Then::GoOnAndFail { shortfall: format!("no status: {fault}") }
        }
        // Somebody was quicker.
        (
            Write::DeleteInline { .. } | Write::DeleteReview { .. } | Write::DeleteSticky { .. } | Write::Withdraw { .. },
            ForgeFault::NotFound { .. },
        ) => Then::Gone,
        // A claim lapses, and an empty review says nothing.
        (Write::Withdraw { .. } | Write::DeleteReview { .. }, _) => Then::GoOn { shortfall: fault.to_string() },
        (
            Write::Answer { .. }
            | Write::Resolve { .. }
            | Write::Unresolve { .. }
            | Write::DeleteInline { .. }
            | Write::DeleteSticky { .. },
            _,
        ) if !fault.may_pass() => Then::GoOn { shortfall: fault.to_string() },
        _ => Then::Stop,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pull::facts::CheckState;
    use crate::pull::talk::NewStatus;

    fn status() -> Write {
        let status = NewStatus { context: "c".into(), state: CheckState::Success, description: "".into(), url: None };
        Write::Status { sha: "1111111".into(), status }
    }

    fn refused() -> ForgeFault {
        ForgeFault::Refused { host: "h".into(), status: 422, message: "no".into() }
    }

    /// Issue 5, build 6: after a doubt it is looked at; what was plainly refused is told, and the rest is posted.
    #[test]
    fn a_fault_has_one_consequence() {
        let doubt = ForgeFault::Uncertain { host: "h".into(), message: "cut off".into() };
        let gone = ForgeFault::NotFound { host: "h".into(), what: "the commit".into() };
        let create = Write::Claim { body: "b".into() };
        assert_eq!(after_fault(&create, &doubt), Then::LookAgain);
        assert_eq!(after_fault(&create, &refused()), Then::Stop);
        assert!(matches!(after_fault(&status(), &refused()), Then::GoOnAndFail { .. }));
        assert!(matches!(after_fault(&status(), &gone), Then::GoOn { .. }));
        assert!(matches!(after_fault(&Write::DeleteSticky { id: "1".into() }, &refused()), Then::GoOn { .. }));
        assert_eq!(after_fault(&Write::Withdraw { id: "1".into() }, &gone), Then::Gone);
    }
}
