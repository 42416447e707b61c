//! Tasks and pull requests for tests.

use super::plan_file::{Cycle, Mode, Plan, Status, Task};
use super::seen::{Given, IssueSeen, PullSeen, TaskSeen};
use crate::combine::verdict::Verdict;
use crate::ids::Sha;
use crate::publish::verdict::Assessment;
use crate::pull::facts::{Account, AccountKind, Mergeable, Pull, PullState, Tip};
use std::collections::BTreeMap;

pub fn account(login: &str) -> Account {
    Account { id: format!("id-{login}"), login: login.into(), kind: AccountKind::Person }
}

pub fn task(id: &str, issue: u64) -> Task {
    Task {
        id: id.into(),
        title: format!("Task {id}"),
        specialist: "sdet".into(),
        mode: Mode::Doing,
        status: Status::InProgress,
        github_issue: Some(issue),
        github_pr: None,
        depends_on: Vec::new(),
        routing_rationale: None,
        issue_body: None,
        board_parent: None,
        last_reviewed_sha: None,
        needs_review: false,
        review_cycle: None,
        assessed: None,
        verdict: None,
        escalation: None,
    }
}

pub fn plan(tasks: Vec<Task>) -> Plan {
    Plan {
        id: "2026-01-31-checkout".into(),
        created_at: "2026-01-31T12:00:00Z".into(),
        repo: "acme/shop".into(),
        invoker: Some("ann".into()),
        automation_level: None,
        tasks,
    }
}

pub fn pull(number: u64, head: &str) -> Pull {
    let tip = |branch: &str, sha: &str| Tip { branch: branch.into(), sha: sha.into(), repository: Some("acme/shop".into()) };
    Pull {
        number,
        title: "t".into(),
        body: String::new(),
        author: account("dev"),
        state: PullState::Open,
        draft: false,
        head: tip("x", head),
        base: tip("main", "0000"),
        is_fork: false,
        labels: vec![],
        url: format!("https://h/{number}"),
        updated_at: String::new(),
        mergeable: Mergeable::Unknown,
        changed_files: None,
    }
}

pub fn issue(number: u64, open: bool, labels: &[&str]) -> IssueSeen {
    let labels = labels.iter().map(|label| (*label).to_owned()).collect();
    IssueSeen { number, open, labels, body: "It must add up.".into() }
}

pub fn pull_seen(number: u64, head: &str) -> PullSeen {
    PullSeen {
        number,
        url: format!("https://h/{number}"),
        state: PullState::Open,
        draft: false,
        head: head.into(),
        base_branch: "main".into(),
        labels: vec![],
        verdicts: vec![],
        unmarked: vec![],
        people: BTreeMap::new(),
        reviewers: vec![],
    }
}

pub fn seen(pull: PullSeen) -> TaskSeen {
    TaskSeen { issue: Some(issue(7, true, &[])), pull: Some(pull), notes: vec![] }
}

pub fn given(assessment: Assessment, verdict: Verdict, head: &str) -> Given {
    let (head, base_branch) = (Sha::from(head), Some("main".to_owned()));
    Given { assessment, verdict: Some(verdict), head, base_branch, url: "https://h/review".into() }
}

pub const FIRST: Cycle = Cycle(Assessment::First);
pub const SECOND: Cycle = Cycle(Assessment::Second);
