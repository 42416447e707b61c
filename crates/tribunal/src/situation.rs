//! What a person is told when something did not work: what happened, what it means, what to do, and the exit code.

mod local;

use std::fmt;
use tribunal_agent::rules::load::RuleError;
use tribunal_core::diff::parse::DiffError;
use tribunal_core::findings::role::RoleError;
use tribunal_core::policy::config::PolicyError;
use tribunal_core::policy::context::ContextError;
use tribunal_core::policy::layers::LayerError;
use tribunal_core::publish::visible::{visible, visible_line};
use tribunal_core::pull::fault::ForgeFault;
use tribunal_core::pull::place::BadPlace;
use tribunal_engine::EngineError;
use tribunal_forge::git::GitError;
use tribunal_store::StoreError;

/// Exit codes, the same for every command (design section 8).
pub mod exit {
    pub const DONE: u8 = 0;
    pub const FINDINGS: u8 = 1;
    pub const USAGE: u8 = 2;
    pub const INCOMPLETE: u8 = 3;
    pub const BUDGET: u8 = 4;
    pub const FORGE: u8 = 5;
    pub const NOT_YET: u8 = 75;
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Situation {
    /// Short, stable, for `tribunal explain`.
    pub code: &'static str,
    pub happened: String,
    pub help: Vec<String>,
    pub exit: u8,
}

impl Situation {
    pub fn new(code: &'static str, exit: u8, happened: impl Into<String>) -> Self {
        Self { code, happened: happened.into(), help: Vec::new(), exit }
    }

    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.help.push(text.into());
        self
    }

    pub fn print(&self) {
        crate::terminal::out::note(&self.to_string());
    }
}

impl fmt::Display for Situation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // What happened may quote a path, git or a linter; a line break in it must not begin a line that looks like ours.
        let happened = visible(&self.happened).replace('\n', "\n    ");
        write!(f, "\u{1b}[1;31merror[{}]\u{1b}[0m\u{1b}[1m: {happened}\u{1b}[0m", self.code)?;
        for help in &self.help {
            write!(f, "\n  \u{1b}[36mhelp\u{1b}[0m: {}", visible_line(help))?;
        }
        Ok(())
    }
}

impl From<GitError> for Situation {
    fn from(error: GitError) -> Self {
        let text = error.to_string();
        match error {
            GitError::NoGit => {
                Situation::new("no-git", exit::USAGE, text).help("install git 2.38 or later and put it on the PATH")
            }
            GitError::NotARepository(_) => Situation::new("not-a-repository", exit::USAGE, text)
                .help("run this inside a git checkout, or review a diff: git diff | tribunal review --stdin"),
            GitError::UnknownRevision(_) => Situation::new("unknown-revision", exit::USAGE, text)
                .help("`git branch --all` lists what exists here; a branch of the remote may need `git fetch` first"),
            GitError::Unborn(_) => Situation::new("unborn-branch", exit::USAGE, text)
                .help("commit something first, or review what is staged: tribunal review --staged"),
            GitError::NoBase => Situation::new("no-base", exit::USAGE, text)
                .help("name the base: tribunal review --base BRANCH")
                .help("a clone of one branch (as CI makes it) needs the base first: git fetch origin BRANCH (in CI: fetch-depth: 0)"),
            GitError::NoMergeBase { shallow: true, .. } => Situation::new(
                "shallow-clone",
                exit::USAGE,
                format!("{text}: this clone is shallow, and its history ends before they meet"),
            )
            .help("fetch the rest: git fetch --unshallow (in CI: fetch-depth: 0)"),
            GitError::NoParent(_) => Situation::new("shallow-clone", exit::USAGE, text)
                .help("fetch the rest: git fetch --unshallow (in CI: fetch-depth: 0)"),
            GitError::NoMergeBase { .. } => Situation::new("no-merge-base", exit::USAGE, text)
                .help("name another base: tribunal review --base REF, or compare directly: tribunal review --range A..B"),
            GitError::Bare => Situation::new("bare-repository", exit::USAGE, text)
                .help("review commits: tribunal review --committed, --commit or --range"),
            GitError::ForeignWorkTree { .. } => Situation::new("foreign-work-tree", exit::USAGE, text)
                .help("files outside of a repository's own folder are not handed to reviewers")
                .help("if you set it yourself, take it away: git config --unset core.worktree, or review commits from another clone"),
            GitError::Redirected(_) => Situation::new("foreign-git-directory", exit::USAGE, text)
                .help("a work tree and its git directory must name each other: see `git worktree repair` and core.worktree"),
            GitError::SpecialFile(_) => Situation::new("special-file", exit::USAGE, text)
                .help("a git directory holds files only; if this one was unpacked from an archive, do not use it"),
            GitError::Embedded { .. } => Situation::new("embedded-repository", exit::USAGE, text)
                .help("files of a repository are not taken for a repository; run this in the top folder of the one that you mean"),
            GitError::Alternates(ref path) => Situation::new("borrowed-objects", exit::USAGE, text)
                .help(format!("if that is yours, allow it: git config --global --add tribunal.alternates {}", path.display()))
                .help("or copy the objects: git repack -a -d && rm .git/objects/info/alternates"),
            GitError::LinkedAway { ref target, .. } => Situation::new("borrowed-objects", exit::USAGE, text)
                .help(format!("if that is yours, allow it: git config --global --add tribunal.alternates {}", target.display()))
                .help("or use a repository of its own: git clone, or git worktree add"),
            GitError::Link(ref path) => Situation::new("linked-folder", exit::USAGE, text)
                .help(format!("look where it leads; if it is not yours, remove it: rm {}", path.display())),
            GitError::Partial { .. } => Situation::new("partial-clone", exit::USAGE, text)
                .help("or only what a comparison needs: git diff BASE...HEAD > /dev/null"),
            GitError::Unmerged(_) => Situation::new("unmerged-index", exit::USAGE, text)
                .help("resolve it and stage the result with `git add`, or review the files as they stand: tribunal review"),
            GitError::Diff(error) => error.into(),
            GitError::Fetch(_) => Situation::new("fetch-failed", exit::NOT_YET, text)
                .help("is the forge up, and may this token read the repository? `tribunal doctor` checks both"),
            GitError::TooManyFiles { .. } => {
                Situation::new("git-failed", exit::INCOMPLETE, text).help("nothing was reviewed; split the change")
            }
            GitError::Failed { .. } | GitError::Hollow(_) | GitError::Io { .. } => {
                Situation::new("git-failed", exit::INCOMPLETE, text)
                    .help("nothing was reviewed; `tribunal doctor` checks the set-up")
            }
        }
    }
}

impl From<DiffError> for Situation {
    fn from(error: DiffError) -> Self {
        let text = error.to_string();
        match error {
            DiffError::Combined => Situation::new("combined-diff", exit::USAGE, text)
                .help("make it with `git diff A B`, or review the merge: tribunal review --commit SHA"),
            DiffError::Series(_) => Situation::new("several-commits", exit::USAGE, text)
                .help("make one diff of them: git diff A B")
                .help("or review the commits where they are: tribunal review --range A..B"),
            DiffError::Coloured => Situation::new("malformed-diff", exit::USAGE, text)
                .help("make it with `git diff --no-color`; nothing was reviewed"),
            DiffError::Malformed(_) | DiffError::NotADiff(_) => Situation::new("malformed-diff", exit::USAGE, text)
                .help("make it with `git diff` and pass it whole; nothing was reviewed"),
        }
    }
}

impl From<StoreError> for Situation {
    fn from(error: StoreError) -> Self {
        let text = error.to_string();
        if error.is_damaged() {
            return Situation::new("ledger-damaged", exit::INCOMPLETE, text)
                .help("remove it and begin anew: rm -r .git/tribunal (the history of reviews and the pull requests of the local forge go with it)");
        }
        match error {
            StoreError::Open { .. } => Situation::new("no-ledger", exit::INCOMPLETE, text)
                .help("the git directory must be writable: the ledger lives in <git dir>/tribunal/"),
            StoreError::TooNew { .. } => {
                Situation::new("ledger-too-new", exit::USAGE, text).help("update Tribunal; nothing was changed")
            }
            StoreError::Query(_) => Situation::new("ledger-failed", exit::INCOMPLETE, text)
                .help("is the disk full? make room and run the same command again")
                .help("a run that had begun goes on where it stopped: tribunal review --resume"),
            StoreError::NotOurs { .. } | StoreError::Changed { .. } => Situation::new("ledger-changed", exit::INCOMPLETE, text)
                .help("nothing in it counts; the same command sets it aside and begins anew"),
            StoreError::Conflict(_) => {
                Situation::new("two-copies", exit::NOT_YET, text).help("wait for the other one, then: tribunal review --resume")
            }
        }
    }
}

impl From<EngineError> for Situation {
    fn from(error: EngineError) -> Self {
        let text = error.to_string();
        match error {
            EngineError::Store(error) => error.into(),
            EngineError::Git(error) => error.into(),
            EngineError::Forge(fault) => {
                Situation::from(fault).help("what was reviewed is kept; the same command goes on from there")
            }
            EngineError::UnknownRun(_) => {
                Situation::new("unknown-run", exit::USAGE, text).help("`tribunal history` lists the runs")
            }
            EngineError::Busy { .. } => Situation::new("two-copies", exit::NOT_YET, text),
            EngineError::PostedElsewhere { .. } => Situation::new("posted-elsewhere", exit::NOT_YET, text).help(
                "run the same command again: it takes over that run's result, or posts after five minutes if that run was killed",
            ),
            EngineError::Step(_) | EngineError::Damaged { .. } | EngineError::Io { .. } | EngineError::Worker(_) => {
                Situation::new("engine-failed", exit::INCOMPLETE, text)
                    .help("the run is kept; go on with: tribunal review --resume")
            }
        }
    }
}

impl From<ForgeFault> for Situation {
    fn from(fault: ForgeFault) -> Self {
        let text = fault.to_string();
        let later = if fault.may_pass() { exit::NOT_YET } else { exit::FORGE };
        match fault {
            ForgeFault::Unreachable { .. } => Situation::new("forge-unreachable", later, text)
                .help("check the address and the network; the same command may succeed later"),
            ForgeFault::Uncertain { .. } | ForgeFault::Failing { .. } => Situation::new("forge-failing", later, text)
                .help("try the same command later: it looks at what is there before it writes anything"),
            ForgeFault::Limited { .. } => Situation::new("forge-limited", later, text).help("try the same command then"),
            ForgeFault::Unauthorized { .. } => Situation::new("forge-unauthorized", later, text)
                .help("the token is wrong or has expired; set TRIBUNAL_TOKEN, or the forge's usual variable, to a valid one"),
            ForgeFault::Forbidden { .. } => Situation::new("forge-forbidden", later, text)
                .help("give the token that right, or use one that has it; docs/forges.md lists what each forge needs"),
            ForgeFault::NotFound { .. } => Situation::new("forge-not-found", later, text)
                .help("check the number and the address; without a token only public repositories can be seen"),
            ForgeFault::Moved { .. } => {
                Situation::new("forge-moved", later, text).help("use the new address; nothing is written to a redirect")
            }
            ForgeFault::Conflict { .. } | ForgeFault::Refused { .. } => Situation::new("forge-refused", later, text),
            ForgeFault::Hollow { .. } => Situation::new("forge-hollow", later, text)
                .help("nothing was decided on it; is there a proxy in between, or another program at this address?"),
            ForgeFault::Unsupported { .. } => Situation::new("forge-cannot", later, text),
        }
    }
}

impl From<LayerError> for Situation {
    fn from(error: LayerError) -> Self {
        let situation = Situation::new("bad-config", exit::USAGE, error.to_string());
        match error.help {
            Some(help) => situation.help(help),
            None => situation,
        }
    }
}

impl From<BadPlace> for Situation {
    fn from(error: BadPlace) -> Self {
        Situation::new("no-pull-request", exit::USAGE, error.to_string())
    }
}

impl From<PolicyError> for Situation {
    fn from(error: PolicyError) -> Self {
        Situation::new("bad-config", exit::USAGE, error.to_string())
            .help("`tribunal config show` prints every value and where it came from")
    }
}

impl From<RoleError> for Situation {
    fn from(error: RoleError) -> Self {
        Situation::new("bad-role", exit::USAGE, error.to_string())
            .help("a role file is front matter between `---` lines, then the prompt; see docs/reviewers.md")
    }
}

impl From<RuleError> for Situation {
    fn from(error: RuleError) -> Self {
        Situation::new("bad-rule", exit::USAGE, error.to_string()).help("try it alone: tribunal rules test FILE")
    }
}

impl From<ContextError> for Situation {
    fn from(error: ContextError) -> Self {
        Situation::new("bad-context", exit::USAGE, error.to_string())
            .help("directives look like `never lower S*: reason` or `raise E5 in src/** to P0: reason`")
    }
}

/// Every code, for `tribunal explain` and the reference page.
pub const CODES: &[(&str, &str)] = &[
    ("no-git", "git could not be found. Tribunal reads every change through git."),
    ("not-a-repository", "The current folder is in no git repository, and no diff was given."),
    ("unknown-revision", "A branch, tag or commit that was named does not exist here."),
    ("unborn-branch", "The branch has no commit yet, so there is nothing to compare with."),
    ("no-base", "No branch could be found that this change is made against."),
    ("shallow-clone", "The clone's history ends before the base of the change. CI systems clone so by default."),
    ("no-merge-base", "Base and head share no history."),
    ("bare-repository", "A bare repository has no working tree; only commits can be reviewed."),
    (
        "foreign-work-tree",
        "core.worktree of this repository names another folder than the one that holds it. Files from there are not reviewed.",
    ),
    ("foreign-git-directory", "The `.git` here leads to a git directory that does not name this folder as its work tree."),
    (
        "special-file",
        "A pipe, a socket or a device in the git directory, in the place of a file. git would wait for it for ever.",
    ),
    ("embedded-repository", "A bare repository among the files of another one. It is content, and is not opened."),
    (
        "borrowed-objects",
        "The repository uses the objects or refs of another one (objects/info/alternates, or a link in its git directory), which the person has not allowed.",
    ),
    ("linked-folder", "A symbolic link in the git directory where Tribunal would write. It does not write through links."),
    ("partial-clone", "Files that a review needs are still on the server, because this is a partial clone."),
    ("unknown-file", "A file that was named is not there, or not in this work tree."),
    ("unmerged-index", "What is staged holds a merge that is not resolved, so it is no content that could be reviewed."),
    ("git-failed", "git failed or gave an answer that does not add up. Nothing was reviewed."),
    ("combined-diff", "A combined diff (of a merge) has several old sides and cannot be reviewed as one change."),
    (
        "several-commits",
        "A patch series (git format-patch, git log -p) that changes a file more than once. Nothing was reviewed.",
    ),
    ("malformed-diff", "The input is not a diff, or a diff that was cut off or edited. It is refused whole."),
    (
        "no-index",
        "What a project knows could not be looked up: its index is being written, cannot be written, or an external one failed.",
    ),
    ("no-ledger", "The ledger could not be opened. It lives in the git directory."),
    ("ledger-too-new", "A newer Tribunal has written this ledger."),
    ("ledger-changed", "Rows of the ledger are not the ones that this account wrote. It is set aside, and nothing in it counts."),
    ("ledger-failed", "The ledger could not be read or written, for instance because the disk is full."),
    ("ledger-damaged", "The ledger is no database any more. What it held is lost; removing it makes room for a new one."),
    ("retargeted", "The pull request is not against the branch that it was expected to be against."),
    ("bad-sarif", "A SARIF file that shall be feedback is not there, or is no SARIF of a linter that finished."),
    ("unfinished-loop", "Another loop on the same pull request was begun and not finished."),
    ("nothing-to-sweep", "No spec, pull request, label or words were given, so there is no set to sweep."),
    ("unknown-spec", "What was named is no spec, or none that is here."),
    ("nothing-to-resume", "`--resume` was given, and no loop was begun here, or has left a budget file there."),
    ("bad-loop-file", "The budget or history file of a loop cannot be read or written. It is never mended by itself."),
    ("unknown-gate", "The ledger here has no such question."),
    ("bad-answer", "A question was answered with something that is none of its options."),
    ("gate-closed", "The question was answered before, or the time to answer it is over."),
    ("no-plan", "No plan was named, and there is none where plans lie."),
    ("bad-plan", "The plan, or the session beside it, cannot be read; the message names the line and the place."),
    ("plan-elsewhere", "The plan is of another repository than this checkout."),
    ("level-changed", "A plan that was settled at one automation level was to be settled at another, and nobody confirmed it."),
    ("not-settled", "The plan or the forge could not be read, or the plan not be written. What was done before is kept."),
    ("two-copies", "Another Tribunal is working on the same change."),
    (
        "posted-elsewhere",
        "Another run, perhaps on another machine, is posting or has just posted a review of the same pull request. At most one posts.",
    ),
    ("unknown-run", "The ledger has no such run."),
    ("engine-failed", "Something broke inside; the run is kept and can be resumed."),
    ("bad-config", "The configuration has a key or value that is not known."),
    ("bad-role", "A file in .tribunal/reviewers cannot be read as a role."),
    ("bad-rule", "A rule file cannot be read, or its pattern does not parse."),
    ("nothing-to-review", "Base and head are the same, so nothing was reviewed and nothing is green."),
    ("not-reviewed", "The change could not be read or no reviewer was left. Nothing was reviewed."),
    ("rules-changed", "A run can only be resumed under the rules it began with."),
    (
        "head-moved",
        "Somebody pushed while it was reviewed, or since an interrupted run began. Nothing is posted about a head that is gone, and nothing is green.",
    ),
    ("interrupted", "The run was interrupted. What was done is kept; `tribunal review --resume` goes on."),
    (
        "not-trusted",
        "The repository's configuration names a program, variables, a key or a host, or differs from the base, and you have not trusted it. Nothing of it is run; `tribunal trust` shows it and asks.",
    ),
    ("already-there", "`tribunal init` found a configuration and left it alone."),
    ("unknown-name", "`tribunal explain` knows no such rule, category, role, priority or code."),
    ("demo-failed", "The demonstration could not be made, or did not find what it planted."),
    ("replay-differs", "Replaying a run's recorded inputs gave another result than the one that is stored."),
    (
        "output-failed",
        "The result could not be written, for instance because the disk is full. A review itself is kept: `tribunal show last`.",
    ),
    ("no-forge", "It is not clear which forge is meant, or it cannot be reached with this configuration."),
    ("no-token", "No token could be read for the forge."),
    ("no-pull-request", "What was typed names no pull request, or no open one."),
    ("unknown-finding", "The last review has no such finding, or the dismissal lacks a reason."),
    ("bad-receipt", "The file is no receipt of a pull request's review."),
    ("not-open", "The pull request is closed, merged or a draft, or was open already."),
    ("fetch-failed", "git could not fetch the change from the forge. Nothing was reviewed."),
    ("forge-unreachable", "No connection to the forge. Nothing was posted."),
    ("forge-failing", "The forge failed, or did not say whether it did something. The same command looks first and goes on."),
    ("forge-limited", "The forge asks to be left alone for a while."),
    ("forge-unauthorized", "The forge does not accept the token."),
    ("forge-forbidden", "The token lacks a right; the message names it where the forge does."),
    ("forge-not-found", "The forge has no such thing, or does not show it to this token."),
    ("forge-moved", "The repository was renamed. Reads follow, writes do not."),
    ("forge-refused", "The forge refused a request."),
    ("forge-hollow", "The forge gave an answer that cannot be what it should be; it is never read as `nothing there`."),
    ("forge-cannot", "This forge has no such function; docs/forges.md says what happens instead."),
    ("forge-failed", "Publishing failed."),
    (
        "foreign-draft",
        "Under the account of the token there is an unsubmitted review with comments that are not ours. Submitting ours would send it along.",
    ),
    ("no-identity", "git has no user.email here, so nobody could be named as the author of a comment or a commit."),
    ("unknown-number", "There is no such pull request or issue in this repository's ledger."),
    ("unknown-thread", "The pull request has no such thread."),
    ("unknown-branch", "A branch that was named, or is taken for granted, does not exist in this repository."),
    ("branch-gone", "A branch of the pull request was deleted. Its last known commit is remembered; it cannot be merged."),
    ("same-branch", "Head and base are the same branch."),
    ("nothing-to-merge", "The head branch has no commit that the base does not have."),
    ("already-open", "There is an open pull request for the same two branches."),
    ("stale-head", "The head is not the one that was named. What was judged is not what would be merged."),
    ("merge-conflict", "Head and base change the same lines. Nothing was changed."),
    (
        "work-in-the-way",
        "A work tree has the branch checked out, with work in it that a merge would take away. Nothing was changed.",
    ),
    ("branch-moved", "Somebody else moved the branch at the same moment. Nothing was changed."),
    ("bad-line", "A comment names a file or line that is no part of the change."),
    ("bad-text", "A text is empty, too long, or cannot be read."),
    ("not-yours", "A comment can be changed by its author only."),
    ("desk-unreadable", "The record of a pull request or issue is damaged, or was written by a newer Tribunal."),
    ("bad-context", "A spec, a context or a test direction cannot be read, is empty, or holds a malformed directive."),
];
