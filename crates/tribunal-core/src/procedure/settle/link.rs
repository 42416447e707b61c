//! Which pull request is a task's (TS-43, TS-58, TS-99). Anybody can write `closes #7` into a pull request from a fork, and what is a
//! task's is reviewed, fixed and merged: so a fork's is a task's only when the plan names it.

use super::plan_file::Task;
use crate::plan::links::closes;
use crate::pull::facts::{Pull, PullState};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Linked<'a> {
    pub pull: Option<&'a Pull>,
    /// What else claims to be it.
    pub notes: Vec<String>,
}

/// Of the pull requests given, those of the task's issue, the best first: open ones, then the branch that a specialist would use, then
/// the oldest.
pub fn pull_of<'a>(task: &Task, pulls: &'a [Pull]) -> Linked<'a> {
    let Some(issue) = task.github_issue else { return Linked { pull: None, notes: Vec::new() } };
    let branch = format!("hall/{}/issue-{issue}", task.specialist);
    let claims = |pull: &&Pull| pull.head.branch == branch || closes(&pull.body).contains(&issue);
    let (forks, mut own): (Vec<&Pull>, Vec<&Pull>) = pulls.iter().filter(claims).partition(|pull| pull.is_fork);
    let rank = |pull: &Pull| match pull.state {
        PullState::Open => 0,
        PullState::Merged => 1,
        PullState::Closed => 2,
    };
    own.sort_by_key(|pull| (rank(pull), pull.head.branch != branch, pull.number));
    let mut notes: Vec<String> = own
        .iter()
        .skip(1)
        .filter(|pull| pull.state == PullState::Open)
        .map(|pull| format!("#{} closes #{issue} too and is left alone", pull.number))
        .collect();
    let open_forks = forks.iter().filter(|pull| pull.state == PullState::Open);
    notes.extend(open_forks.map(|pull| {
        format!("#{} from a fork says that it closes #{issue}; it is the task's only when the plan names it", pull.number)
    }));
    Linked { pull: own.first().copied(), notes }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::procedure::settle::samples::{pull, task};

    fn numbered(number: u64, body: &str, branch: &str) -> Pull {
        let mut made = pull(number, "1111");
        made.body = body.into();
        made.head.branch = branch.into();
        made
    }

    /// TS-43, TS-58: the open pull request that closes the issue.
    #[test]
    fn the_pull_request_that_closes_the_issue_is_the_task_s() {
        let pulls = [numbered(3, "see #7", "x"), numbered(4, "Closes #70", "y"), numbered(5, "closes #7", "z")];
        assert_eq!(pull_of(&task("t1", 7), &pulls).pull.map(|pull| pull.number), Some(5));
        assert_eq!(pull_of(&task("t1", 8), &pulls).pull, None);
    }

    /// TS-99: the branch says it as well, and more surely; a second one is told and left alone.
    #[test]
    fn the_specialist_s_branch_comes_first() {
        let pulls = [numbered(5, "closes #7", "z"), numbered(6, "", "hall/sdet/issue-7")];
        let linked = pull_of(&task("t1", 7), &pulls);
        assert_eq!(linked.pull.map(|pull| pull.number), Some(6));
        assert_eq!(linked.notes, ["#5 closes #7 too and is left alone"]);
        let mut merged = pulls.clone();
        merged[1].state = PullState::Merged;
        assert_eq!(pull_of(&task("t1", 7), &merged).pull.map(|pull| pull.number), Some(5), "what is open is worked on");
    }

    /// Design rule 6: a stranger's words make nothing the task's.
    #[test]
    fn a_fork_is_never_taken_for_it() {
        let mut fork = numbered(5, "closes #7", "hall/sdet/issue-7");
        fork.is_fork = true;
        let linked = pull_of(&task("t1", 7), std::slice::from_ref(&fork));
        assert_eq!(linked.pull, None);
        assert!(linked.notes[0].contains("#5 from a fork"), "{:?}", linked.notes);
    }
}
