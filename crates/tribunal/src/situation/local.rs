//! What a person is told when the local forge refuses.

use super::{Situation, exit};
use tribunal_core::pull::desk::act::Refusal;
use tribunal_core::pull::facts::PullState;
use tribunal_forge::git::merge::MergeError;
use tribunal_forge::git::write::MoveError;
use tribunal_forge::local::book::BookFault;
use tribunal_forge::local::fault::LocalFault;

impl From<LocalFault> for Situation {
    fn from(fault: LocalFault) -> Self {
        let text = fault.to_string();
        let usage = |code| Situation::new(code, exit::USAGE, text.clone());
        let needs_person = |code| Situation::new(code, exit::FINDINGS, text.clone());
        match fault {
            LocalFault::NoSuch { .. } => {
                usage("unknown-number").help("tribunal pr list --all").help("tribunal pr issue list --all")
            }
            LocalFault::Refused { number, refusal } => refused(number, refusal, text),
            LocalFault::Malformed(_) => usage("bad-text").help("give one line of text"),
            LocalFault::BadName(_) | LocalFault::NoBranch(_) => usage("unknown-branch")
                .help("`git branch` lists the branches of this repository")
                .help("a branch of a remote must be a branch here first: git branch NAME REMOTE/NAME"),
            LocalFault::Gone { branch, last, .. } => {
                usage("branch-gone").help(format!("bring it back: git branch {branch} {last}"))
            }
            LocalFault::SameBranch(_) => {
                usage("same-branch").help("name another branch: tribunal pr open --head BRANCH --base BRANCH")
            }
            LocalFault::NothingNew { .. } => usage("nothing-to-merge").help("commit something on the branch first"),
            LocalFault::AlreadyOpen { number, .. } => usage("already-open").help(format!("tribunal pr show {number}")),
            LocalFault::BadSpot { .. } => {
                usage("bad-line").help("only files of the change can be commented on; nothing was recorded")
            }
            LocalFault::NoCommit(_) => usage("unknown-revision").help("give the full id of a commit that is in this repository"),
            LocalFault::Unmergeable { number, problem } => match problem {
                MergeError::Conflicts(_) => needs_person("merge-conflict")
                    .help(format!(
                        "merge the base into the branch by hand, resolve, commit: tribunal pr show {number} names the branches"
                    ))
                    .help("nothing was changed"),
                MergeError::Replay { .. } | MergeError::TooMany(_) => needs_person("merge-conflict")
                    .help(format!("merge it as one commit instead: tribunal pr merge {number} --method squash"))
                    .help("or rebase the branch by hand; nothing was changed"),
                MergeError::Git(error) => error.into(),
            },
            LocalFault::NotMoved(error) => match error {
                MoveError::Moved(_) => {
                    Situation::new("branch-moved", exit::NOT_YET, text).help("nothing was changed; run the same command again")
                }
                MoveError::Dirty { .. } => needs_person("work-in-the-way")
                    .help("commit or stash it, then run the same command again; nothing was changed"),
                MoveError::InTheWay { .. } => needs_person("work-in-the-way")
                    .help("move these files away, then run the same command again; nothing was changed"),
                MoveError::Busy { what, .. } => needs_person("work-in-the-way")
                    .help(format!("finish it or give it up (git {what} --abort); nothing was changed")),
                MoveError::Git(error) => error.into(),
            },
            LocalFault::Unreadable { .. } => Situation::new("desk-unreadable", exit::INCOMPLETE, text)
                .help("was it written by a newer Tribunal? then update this one; nothing was changed"),
            LocalFault::Contended => Situation::new("two-copies", exit::NOT_YET, text).help("run the same command again"),
            LocalFault::Git(error) => error.into(),
            LocalFault::Book(BookFault::Changed(_)) => Situation::new("ledger-changed", exit::INCOMPLETE, text)
                .help("nothing in it counts; the same command sets it aside and begins anew"),
            LocalFault::Book(BookFault::Failed(_)) => Situation::new("ledger-failed", exit::INCOMPLETE, text)
                .help("is the disk full? make room and run the same command again"),
        }
    }
}

fn refused(number: u64, refusal: Refusal, text: String) -> Situation {
    let usage = |code| Situation::new(code, exit::USAGE, text.clone());
    let show = format!("tribunal pr show {number}");
    match refusal {
        Refusal::Empty | Refusal::EmptyReview | Refusal::NotOneLine | Refusal::TooLong { .. } => {
            usage("bad-text").help("nothing was recorded")
        }
        Refusal::Unknown { .. } => usage("unknown-thread").help(show),
        Refusal::NotYours { .. } => usage("not-yours").help("answer it instead"),
        Refusal::Submitted => usage("not-open").help(show),
        Refusal::NotAPull => usage("unknown-number").help(format!("tribunal pr issue show {number}")),
        Refusal::NotOpen(PullState::Closed) => usage("not-open").help(format!("open it again: tribunal pr reopen {number}")),
        Refusal::NotOpen(PullState::Open | PullState::Merged) => usage("not-open").help(show),
        Refusal::Draft => usage("not-open").help(format!("say that it is ready: tribunal pr ready {number}")),
        Refusal::HeadMoved { .. } => Situation::new("stale-head", exit::FINDINGS, text)
            .help(format!("look at what came since ({show}), then name the new head; nothing was changed")),
    }
}
