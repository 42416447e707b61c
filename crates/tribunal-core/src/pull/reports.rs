//! Which of the reports about a commit count.
//!
//! A forge takes a report under any name from anybody who may report, and shows the newest of a name. So a green report of somebody
//! else hides the red one of a check. Here a report replaces only an earlier one of the same reporter, and a failure is replaced only
//! by a later report of the same batch: a workflow that the change itself adds reports as the same app as every other workflow.

use super::facts::{Check, CheckState};
use crate::publish::status::CONTEXT;
use std::collections::BTreeMap;

/// One report, and who made it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckReport {
    pub check: Check,
    pub reporter: Reporter,
    /// When it was made, in a form that sorts; newer is greater.
    pub made: (String, u64),
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reporter {
    /// The account that set a commit status.
    Account(String),
    /// The app that made a check run, and the suite of check runs that it belongs to.
    App { app: String, suite: String },
}

/// Whose reports under a name replace each other, and the suite where that is narrower for a failure.
fn replaces(report: &CheckReport) -> (String, Reporter, String) {
    let name = report.check.name.clone();
    match &report.reporter {
        // Our own result is said by whichever account we run as, and no merge rests on it: that reads sealed reviews.
        Reporter::Account(_) if name == CONTEXT => (name, Reporter::Account(String::new()), String::new()),
        Reporter::Account(account) => (name, Reporter::Account(account.clone()), String::new()),
        Reporter::App { app, suite } => (name, Reporter::App { app: app.clone(), suite: String::new() }, suite.clone()),
    }
}

/// The newest report of each reporter under each name, and every failure that its own suite has not replaced. Of several results under
/// one name all are given.
pub fn counted(reports: impl IntoIterator<Item = CheckReport>) -> Vec<Check> {
    let mut groups: BTreeMap<(String, Reporter), BTreeMap<String, CheckReport>> = BTreeMap::new();
    for report in reports {
        let (name, reporter, suite) = replaces(&report);
        let suites = groups.entry((name, reporter)).or_default();
        if suites.get(&suite).is_none_or(|known| known.made <= report.made) {
            suites.insert(suite, report);
        }
    }
    let mut counted = Vec::new();
    for suites in groups.into_values() {
        let newest = suites.values().map(|report| report.made.clone()).max();
        let counts = |report: &CheckReport| Some(&report.made) == newest.as_ref() || report.check.state == CheckState::Failure;
        counted.extend(suites.into_values().filter(counts).map(|report| report.check));
    }
    counted
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn report(name: &str, state: CheckState, reporter: Reporter, made: u64) -> CheckReport {
        let check = Check { name: name.into(), state, description: String::new(), url: String::new(), run: None };
        CheckReport { check, reporter, made: (String::new(), made) }
    }

    fn account(name: &str) -> Reporter {
        Reporter::Account(name.into())
    }

    fn app(app: &str, suite: &str) -> Reporter {
        Reporter::App { app: app.into(), suite: suite.into() }
    }

    fn states(reports: &[CheckReport]) -> Vec<CheckState> {
        counted(reports.iter().cloned()).into_iter().map(|check| check.state).collect()
    }

    #[test]
    fn a_reporter_replaces_its_own_report() {
        use CheckState::{Error, Failure, Success};
        assert_eq!(states(&[report("t", Failure, account("ci"), 1), report("t", Success, account("ci"), 2)]), [Success]);
        assert_eq!(states(&[report("t", Success, account("ci"), 2), report("t", Failure, account("ci"), 1)]), [Success]);
        assert_eq!(states(&[report("t", Failure, app("a", "1"), 1), report("t", Success, app("a", "1"), 2)]), [Success]);
        // A run that was cancelled for a newer one came to no result; the newer one has it.
        assert_eq!(states(&[report("t", Error, app("a", "1"), 1), report("t", Success, app("a", "2"), 2)]), [Success]);
        assert_eq!(states(&[report(CONTEXT, Failure, account("ci"), 1), report(CONTEXT, Success, account("ann"), 2)]), [Success]);
    }

    #[test]
    fn nobody_else_hides_a_red_one() {
        use CheckState::{Failure, Success};
        assert_eq!(
            states(&[report("t", Failure, account("ci"), 1), report("t", Success, account("eve"), 2)]),
            [Failure, Success]
        );
        assert_eq!(states(&[report("t", Failure, app("a", "1"), 1), report("t", Success, app("b", "1"), 2)]), [Failure, Success]);
        assert_eq!(states(&[report("t", Failure, app("a", "1"), 1), report("t", Success, app("a", "2"), 2)]), [Failure, Success]);
        assert_eq!(states(&[report("t", Failure, app("a", "1"), 1), report("t", Success, account("a"), 2)]), [Success, Failure]);
    }

    fn any_report() -> impl Strategy<Value = CheckReport> {
        let state = prop::sample::select(vec![
            CheckState::Pending,
            CheckState::Success,
            CheckState::Failure,
            CheckState::Error,
            CheckState::Skipped,
        ]);
        let reporter = prop_oneof![
            "[ab]".prop_map(Reporter::Account),
            ("[ab]", "[12]").prop_map(|(app, suite)| Reporter::App { app, suite }),
        ];
        ("[tu]", state, reporter, 0..6_u64).prop_map(|(name, state, reporter, made)| report(&name, state, reporter, made))
    }

    proptest! {
        /// Whatever somebody else reports, in whatever order, every failure that counted before counts afterwards.
        #[test]
        fn what_others_report_takes_no_failure_away(
            before in prop::collection::vec(any_report(), 0..8),
            others in prop::collection::vec(any_report(), 0..8),
            first in any::<bool>(),
        ) {
            let known: Vec<Reporter> = before.iter().map(|report| report.reporter.clone()).collect();
            let others: Vec<CheckReport> = others.into_iter().filter(|report| !known.contains(&report.reporter)).collect();
            let both: Vec<CheckReport> = if first {
                others.into_iter().chain(before.clone()).collect()
            } else {
                before.iter().cloned().chain(others).collect()
            };
            let failures = |reports: Vec<CheckReport>| {
                let mut names: Vec<String> =
                    counted(reports).into_iter().filter(|check| check.state == CheckState::Failure).map(|check| check.name).collect();
                names.sort();
                names.dedup();
                names
            };
            let after = failures(both);
            prop_assert!(failures(before).iter().all(|name| after.contains(name)));
        }
    }
}
