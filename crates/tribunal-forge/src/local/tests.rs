//! The local forge over real git, with a book in memory.

use super::book::Memory;
use super::*;
use crate::git::write::MoveError;
use crate::port::{CheckCommit, Discuss, Issues, Merge, React, Read, Resolve, ReviewPull};
use std::path::{Path, PathBuf};
use std::process::Command as Process;
use tempfile::TempDir;
use tribunal_core::findings::anchor::Side;
use tribunal_core::merge::facts::{HeadMaker, Part};
use tribunal_core::pull::capability::Capability;
use tribunal_core::pull::facts::{CheckState, MergeMethod, MergeOrder, Mergeable, Pull, PullFilter, PullState};
use tribunal_core::pull::fault::ForgeFault;
use tribunal_core::pull::pushable::Pushable;
use tribunal_core::pull::talk::{
    Emoji, NewComment, NewIssue, NewPull, NewReview, NewStatus, ReactionTarget, ReviewEvent, ReviewState,
};
use tribunal_core::pull::told::Told;

struct Bench {
    folder: TempDir,
    local: Local,
}

fn ada() -> Account {
    account(&Signature { name: "Ada".into(), email: "Ada@Example.com".into() })
}

fn git(folder: &Path, args: &[&str]) -> String {
    let mut command = Process::new("git");
    command.env_clear().current_dir(folder).env("PATH", std::env::var_os("PATH").unwrap()).env("HOME", folder);
    command.args(["-c", "user.name=Grace", "-c", "user.email=grace@example.com", "-c", "init.defaultBranch=main"]).args(args);
    let output = command.output().unwrap();
    assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
}

impl Bench {
    /// `main` with two files; `feature` changes one and adds one; `main` is checked out.
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        git(folder.path(), &["init", "--quiet"]);
        let local = Local::new(Repository::discover(folder.path()).unwrap(), Arc::new(Memory::default()), ada());
        let bench = Self { folder, local };
        bench.write("app.txt", "one\ntwo\nthree\nfour\n");
        bench.write("other.txt", "other\n");
        bench.commit("Base");
        bench.git(&["checkout", "--quiet", "-b", "feature"]);
        bench.write("app.txt", "one\nzwei\nthree\nfour\n");
        bench.write("new.txt", "new\n");
        bench.commit("Change two");
        bench.git(&["checkout", "--quiet", "main"]);
        bench
    }

    fn path(&self) -> PathBuf {
        self.folder.path().to_owned()
    }

    fn git(&self, args: &[&str]) -> String {
        git(self.folder.path(), args)
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.folder.path().join(name), text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.folder.path().join(name)).unwrap()
    }

    fn commit(&self, message: &str) -> Sha {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "-m", message]);
        Sha(self.git(&["rev-parse", "HEAD"]))
    }

    /// Commits on a branch and comes back.
    fn commit_on(&self, branch: &str, name: &str, text: &str) -> Sha {
        let back = self.git(&["rev-parse", "--abbrev-ref", "HEAD"]);
        self.git(&["checkout", "--quiet", branch]);
        self.write(name, text);
        let commit = self.commit("More");
        self.git(&["checkout", "--quiet", &back]);
        commit
    }

    fn tip(&self, branch: &str) -> Sha {
        Sha(self.git(&["rev-parse", &format!("refs/heads/{branch}")]))
    }

    async fn open(&self) -> Pull {
        self.local.open(&new_pull("feature", "main")).await.unwrap()
    }

    async fn merge(&self, method: MergeMethod) -> Locally<Sha> {
        self.local.land(1, &order(self.tip("feature"), method)).await
    }

    /// Nothing in the index or the files differs from what is checked out.
    fn is_clean(&self) -> bool {
        self.git(&["status", "--porcelain"]).is_empty()
    }
}

fn new_pull(head: &str, base: &str) -> NewPull {
    let (title, body) = ("Change two".into(), "Because.".into());
    NewPull { title, body, head_branch: head.into(), base_branch: base.into(), draft: false }
}

fn order(head: Sha, method: MergeMethod) -> MergeOrder {
    MergeOrder { head, method, title: "".into(), message: "".into() }
}

fn review(commit: &Sha, event: ReviewEvent, lines: &[(&str, u32)]) -> NewReview {
    let comment = |(path, line): &(&str, u32)| NewComment {
        path: (*path).into(),
        old_path: (*path).into(),
        side: Side::New,
        line: *line,
        start_line: None,
        body: format!("about {path}:{line}").into(),
    };
    NewReview { commit: commit.clone(), event, body: "I have read it".into(), comments: lines.iter().map(comment).collect() }
}

#[tokio::test]
async fn a_branch_pair_is_a_pull_request_and_refs_say_where_it_stands() {
    let bench = Bench::new();
    let pull = bench.open().await;
    assert_eq!((pull.number, pull.state, pull.mergeable), (1, PullState::Open, Mergeable::Yes));
    assert_eq!((pull.head.sha.clone(), pull.base.sha.clone()), (bench.tip("feature"), bench.tip("main")));
    assert_eq!((pull.changed_files, pull.is_fork, pull.author.id.as_str()), (Some(2), false, "ada@example.com"));
    let source = bench.local.source(&pull);
    assert_eq!((source.head_ref.as_str(), source.base_ref.as_str()), ("refs/heads/feature", "refs/heads/main"));
    let pushed = bench.commit_on("feature", "more.txt", "more\n");
    let later = bench.local.pull(1).await.unwrap();
    assert_eq!((later.head.sha, later.changed_files), (pushed, Some(3)));
    assert_ne!(later.updated_at, pull.updated_at);
    let filter = |branch: &str| PullFilter { head_branch: Some(branch.into()), ..PullFilter::default() };
    assert_eq!(bench.local.pulls(&filter("feature")).await.unwrap().len(), 1);
    assert_eq!(bench.local.pulls(&filter("main")).await.unwrap().len(), 0);
    let able = bench.local.capabilities().await.unwrap();
    assert!(able.can(Capability::GuardedMerge) && !able.can(Capability::Suggestions));
}

#[tokio::test]
async fn what_is_no_pair_is_refused() {
    let bench = Bench::new();
    bench.git(&["branch", "same"]);
    bench.git(&["tag", "tagged"]);
    bench.open().await;
    let open = async |head: &str, base: &str| bench.local.open_pull(&new_pull(head, base)).await.unwrap_err();
    assert!(matches!(open("nowhere", "main").await, LocalFault::NoBranch(name) if name == "nowhere"));
    assert!(matches!(open("tagged", "main").await, LocalFault::NoBranch(_)));
    assert!(matches!(open("--all", "main").await, LocalFault::BadName(_)));
    assert!(matches!(open("main", "main").await, LocalFault::SameBranch(_)));
    assert!(matches!(open("same", "main").await, LocalFault::NothingNew { .. }));
    assert!(matches!(open("feature", "main").await, LocalFault::AlreadyOpen { number: 1, .. }));
    bench.git(&["checkout", "--quiet", "--orphan", "alone"]);
    bench.commit("Alone");
    assert!(matches!(open("alone", "main").await, LocalFault::Git(GitError::NoMergeBase { .. })));
    assert_eq!(bench.local.list(&PullFilter { all_states: true, ..PullFilter::default() }).await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_conversation_is_kept_and_follows_its_line() {
    let bench = Bench::new();
    let pull = bench.open().await;
    bench
        .local
        .submit(1, &review(&pull.head.sha, ReviewEvent::RequestChanges, &[("app.txt", 2), ("app.txt", 4), ("new.txt", 0)]))
        .await
        .unwrap();
    let threads = bench.local.threads(1).await.unwrap();
    let places: Vec<_> = threads.iter().map(|thread| (thread.line, thread.outdated)).collect();
    assert_eq!(places, [(Some(2), Some(false)), (Some(4), Some(false)), (None, Some(false))]);
    bench.local.reply(1, &threads[0], &"done".into()).await.unwrap();
    bench.local.resolve(1, &threads[0]).await.unwrap();
    bench.commit_on("feature", "app.txt", "zero\none\nZWEI\nthree\nfour\n");
    let threads = bench.local.threads(1).await.unwrap();
    let places: Vec<_> = threads.iter().map(|thread| (thread.line, thread.outdated)).collect();
    assert_eq!(places, [(None, Some(true)), (Some(5), Some(false)), (None, Some(false))]);
    assert!(threads[0].resolved && threads[0].comments.len() == 2 && !threads[1].resolved);
    bench.local.delete_inline(1, &threads[1].comments[0].id).await.unwrap();
    assert_eq!(bench.local.threads(1).await.unwrap().len(), 2, "a conversation without a word is none");
    bench.local.unresolve(1, &threads[0]).await.unwrap();
    assert!(!bench.local.threads(1).await.unwrap()[0].resolved);
    let reviews = bench.local.reviews(1).await.unwrap();
    assert_eq!((reviews[0].state, reviews[0].commit.clone()), (ReviewState::ChangesRequested, Some(pull.head.sha)));
}

#[tokio::test]
async fn a_comment_stands_on_a_line_of_the_change_or_is_refused_with_the_whole_review() {
    let bench = Bench::new();
    let head = bench.open().await.head.sha;
    for (path, line) in [("other.txt", 1), ("app.txt", 99), ("gone.txt", 1)] {
        let refused = bench.local.submit(1, &review(&head, ReviewEvent::Comment, &[("app.txt", 2), (path, line)])).await;
        assert!(matches!(refused, Err(ForgeFault::Refused { status: 422, .. })), "{path}:{line}: {refused:?}");
    }
    let unknown = Sha("1".repeat(40));
    assert!(matches!(
        bench.local.submit(1, &review(&unknown, ReviewEvent::Comment, &[])).await,
        Err(ForgeFault::NotFound { .. })
    ));
    assert!(bench.local.reviews(1).await.unwrap().is_empty());
}

#[tokio::test]
async fn words_labels_checks_reactions_and_issues_are_kept() {
    let bench = Bench::new();
    let (local, head) = (&bench.local, bench.open().await.head.sha);
    let comment = local.comment(1, &"hello".into()).await.unwrap();
    local.edit_comment(1, &comment.id, &"hello again".into()).await.unwrap();
    assert_eq!(local.comments(1).await.unwrap()[0].body, "hello again");
    let on = ReactionTarget::Comment(comment.id.clone());
    for _ in 0..2 {
        local.react(1, &on, Emoji::Eyes).await.unwrap();
    }
    assert_eq!(local.reactions(1, &on).await.unwrap().len(), 1);
    local.delete_comment(1, &comment.id).await.unwrap();
    assert!(matches!(local.delete_comment(1, &comment.id).await, Err(ForgeFault::NotFound { .. })));
    local.add_label(1, &"urgent".into()).await.unwrap();
    assert_eq!(local.pull(1).await.unwrap().labels, ["urgent"]);
    for state in [CheckState::Pending, CheckState::Success] {
        let status = NewStatus { context: "build".into(), state, description: "fine".into(), url: None };
        local.set_status(&head, &status).await.unwrap();
    }
    let checks = local.checks(&head).await.unwrap();
    assert_eq!((checks.len(), checks[0].state), (1, CheckState::Success));
    let issue = NewIssue { title: "It is slow".into(), body: "On Mondays.".into(), labels: vec!["later".into()] };
    assert_eq!(local.create_issue(&issue).await.unwrap().number, 2);
    assert_eq!(local.find_issues("slow MONDAYS").await.unwrap().len(), 1);
    assert!(local.find_issues("fast").await.unwrap().is_empty());
    local.close_issue(2).await.unwrap();
    assert!(!local.issue(2).await.unwrap().open);
    assert!(matches!(local.pull(2).await, Err(ForgeFault::NotFound { .. })));
    assert!(matches!(local.issue(1).await, Err(ForgeFault::NotFound { .. })));
}

/// `main` is checked out in all of these: its files go along.
#[tokio::test]
async fn each_way_to_merge_gives_its_history() {
    for (method, parents, author) in
        [(MergeMethod::Merge, 2, "Ada"), (MergeMethod::Squash, 1, "Ada"), (MergeMethod::Rebase, 1, "Grace")]
    {
        let bench = Bench::new();
        bench.open().await;
        let base = bench.commit_on("main", "other.txt", "else\n");
        let feature = bench.tip("feature");
        let commit = bench.merge(method).await.unwrap();
        assert_eq!(bench.tip("main"), commit, "{method:?}");
        let listed = bench.git(&["log", "-1", "--format=%P%n%an%n%cn%n%s", "main"]);
        let lines: Vec<&str> = listed.lines().collect();
        assert_eq!(lines[0].split(' ').count(), parents, "{method:?}");
        assert!(lines[0].starts_with(base.as_str()));
        assert_eq!((lines[1], lines[2]), (author, "Ada"), "{method:?}");
        let subject = match method {
            MergeMethod::Merge => "Merge pull request #1 from feature",
            MergeMethod::Squash => "Change two (#1)",
            MergeMethod::Rebase => "Change two",
        };
        assert_eq!(lines[3], subject);
        assert_eq!((bench.read("app.txt"), bench.read("other.txt")), ("one\nzwei\nthree\nfour\n".into(), "else\n".into()));
        assert!(bench.is_clean(), "{method:?}");
        let pull = bench.local.pull(1).await.unwrap();
        assert_eq!((pull.state, pull.head.sha.clone()), (PullState::Merged, feature));
        let again = bench.local.merge(1, &order(pull.head.sha, method)).await;
        assert!(matches!(again, Err(ForgeFault::Refused { status: 405, .. })), "{again:?}");
        assert!(bench.local.has_contributed(&ada()).await.unwrap());
    }
}

#[tokio::test]
async fn a_rebase_keeps_each_commit_and_drops_what_the_base_has() {
    let bench = Bench::new();
    bench.open().await;
    bench.commit_on("feature", "late.txt", "late\n");
    bench.commit_on("main", "late.txt", "late\n");
    bench.merge(MergeMethod::Rebase).await.unwrap();
    assert_eq!(bench.git(&["log", "--format=%s", "main"]), "Change two\nMore\nBase");
    assert!(bench.is_clean());
}

#[tokio::test]
async fn a_rebase_onto_an_unmoved_base_is_the_branch_itself() {
    let bench = Bench::new();
    bench.open().await;
    assert_eq!(bench.merge(MergeMethod::Rebase).await.unwrap(), bench.tip("feature"));
}

#[tokio::test]
async fn a_conflict_names_its_files_and_changes_nothing() {
    for method in [MergeMethod::Merge, MergeMethod::Squash, MergeMethod::Rebase] {
        let bench = Bench::new();
        bench.open().await;
        let base = bench.commit_on("main", "app.txt", "one\ndeux\nthree\nfour\n");
        assert_eq!(bench.local.pull(1).await.unwrap().mergeable, Mergeable::Conflict);
        let fault = bench.merge(method).await.unwrap_err();
        assert_eq!(fault.conflicts(), [tribunal_core::ids::RepoPath("app.txt".into())], "{fault}");
        assert!(matches!(ForgeFault::from(fault), ForgeFault::Conflict { .. }));
        assert_eq!((bench.tip("main"), bench.is_clean()), (base, true));
        assert_eq!(bench.local.pull(1).await.unwrap().state, PullState::Open);
    }
}

#[tokio::test]
async fn a_moved_head_is_not_merged() {
    let bench = Bench::new();
    let seen = bench.open().await.head.sha;
    bench.commit_on("feature", "more.txt", "more\n");
    let late = bench.local.merge(1, &order(seen, MergeMethod::Merge)).await;
    assert!(matches!(late, Err(ForgeFault::Conflict { .. })), "{late:?}");
}

/// Whatever is not committed stays as it is, and so does the branch.
#[tokio::test]
async fn uncommitted_work_stops_a_merge() {
    let bench = Bench::new();
    bench.open().await;
    let base = bench.tip("main");
    bench.write("other.txt", "mine\n");
    let dirty = bench.merge(MergeMethod::Squash).await.unwrap_err();
    assert!(
        matches!(&dirty, LocalFault::NotMoved(MoveError::Dirty { paths, .. }) if paths[0].as_str() == "other.txt"),
        "{dirty}"
    );
    bench.git(&["checkout", "--quiet", "other.txt"]);
    for ignored in [false, true] {
        if ignored {
            std::fs::write(bench.path().join(".git/info/exclude"), "new.txt\n").unwrap();
        }
        bench.write("new.txt", "mine\n");
        let in_the_way = bench.merge(MergeMethod::Squash).await.unwrap_err();
        assert!(matches!(in_the_way, LocalFault::NotMoved(MoveError::InTheWay { .. })), "{in_the_way}");
        assert_eq!((bench.read("new.txt"), bench.tip("main")), ("mine\n".into(), base.clone()));
    }
    std::fs::remove_file(bench.path().join("new.txt")).unwrap();
    std::fs::create_dir(bench.path().join("new.txt")).unwrap();
    bench.write("new.txt/inside", "mine\n");
    assert!(bench.merge(MergeMethod::Squash).await.is_err());
    assert_eq!(bench.read("new.txt/inside"), "mine\n");
    std::fs::remove_dir_all(bench.path().join("new.txt")).unwrap();
    std::fs::write(bench.path().join(".git/MERGE_HEAD"), format!("{base}\n")).unwrap();
    assert!(matches!(bench.merge(MergeMethod::Squash).await, Err(LocalFault::NotMoved(MoveError::Busy { what: "merge", .. }))));
    std::fs::remove_file(bench.path().join(".git/MERGE_HEAD")).unwrap();
    bench.write("untracked.txt", "mine\n");
    bench.merge(MergeMethod::Squash).await.unwrap();
    assert_eq!((bench.read("untracked.txt"), bench.read("new.txt")), ("mine\n".into(), "new\n".into()));
}

#[tokio::test]
async fn a_linked_work_tree_goes_along_too() {
    let bench = Bench::new();
    bench.open().await;
    bench.git(&["checkout", "--quiet", "feature"]);
    let linked = tempfile::tempdir().unwrap();
    let linked = linked.path().join("linked");
    bench.git(&["worktree", "add", "--quiet", linked.to_str().unwrap(), "main"]);
    bench.merge(MergeMethod::Merge).await.unwrap();
    assert_eq!(std::fs::read_to_string(linked.join("new.txt")).unwrap(), "new\n");
    assert_eq!(git(&linked, &["status", "--porcelain"]), "");
}

/// A process that died at any point of a merge: the branch says what happened, and the same command goes on.
#[tokio::test]
async fn a_merge_that_was_cut_off_is_seen_for_what_it_is() {
    // Begun and never done: still open, and it can be merged.
    let bench = Bench::new();
    let pull = bench.open().await;
    let merger = crate::git::merge::Merger::new(&bench.local.repository, bench.local.signature());
    let commit = merger.squash(&pull.base.sha, &pull.head.sha, &bench.local.signature(), &"Cut off\n".into()).unwrap();
    let landing = tribunal_core::pull::desk::Landing {
        commit: commit.clone(),
        head: pull.head.sha.clone(),
        base_before: pull.base.sha.clone(),
        method: Some(MergeMethod::Squash),
        by: Some(ada()),
        at: 1,
    };
    bench.local.change(1, Act::BeginLanding(landing)).await.unwrap();
    assert_eq!(bench.local.pull(1).await.unwrap().state, PullState::Open);
    // The files were written and the branch was not moved: it goes on from there.
    bench.git(&["read-tree", "-m", "-u", pull.base.sha.as_str(), commit.as_str()]);
    assert!(!bench.is_clean());
    bench.merge(MergeMethod::Squash).await.unwrap();
    assert!(bench.is_clean());
    // The branch was moved and nobody wrote it down: merged.
    let bench = Bench::new();
    let pull = bench.open().await;
    let merger = crate::git::merge::Merger::new(&bench.local.repository, bench.local.signature());
    let commit = merger.squash(&pull.base.sha, &pull.head.sha, &bench.local.signature(), &"Cut off\n".into()).unwrap();
    let landing = tribunal_core::pull::desk::Landing {
        commit: commit.clone(),
        head: pull.head.sha.clone(),
        base_before: pull.base.sha.clone(),
        method: Some(MergeMethod::Squash),
        by: Some(ada()),
        at: 1,
    };
    bench.local.change(1, Act::BeginLanding(landing)).await.unwrap();
    bench.git(&["update-ref", "refs/heads/main", commit.as_str(), pull.base.sha.as_str()]);
    assert_eq!(bench.local.pull(1).await.unwrap().state, PullState::Merged);
    // And its branches are free for the next one.
    bench.git(&["reset", "--quiet", "--hard"]);
    bench.commit_on("feature", "next.txt", "next\n");
    assert_eq!(bench.open().await.number, 2);
}

#[tokio::test]
async fn a_merge_by_hand_counts_and_a_branch_that_was_set_back_does_not() {
    let bench = Bench::new();
    bench.open().await;
    bench.git(&["branch", "--force", "feature", "main"]);
    let pull = bench.local.pull(1).await.unwrap();
    assert_eq!((pull.state, pull.mergeable), (PullState::Open, Mergeable::Blocked));
    assert!(matches!(bench.merge(MergeMethod::Merge).await, Err(LocalFault::NothingNew { .. })));
    bench.local.comment(1, &"where has it gone?".into()).await.unwrap();
    assert_eq!(bench.local.pull(1).await.unwrap().state, PullState::Open);
    bench.git(&["branch", "--force", "feature", "feature@{1}"]);
    bench.git(&["merge", "--quiet", "--no-ff", "-m", "By hand", "feature"]);
    assert_eq!(bench.local.pull(1).await.unwrap().state, PullState::Merged);
}

#[tokio::test]
async fn a_deleted_branch_leaves_the_last_known_head_and_a_clear_refusal() {
    let bench = Bench::new();
    let head = bench.open().await.head.sha;
    bench.git(&["branch", "--quiet", "-D", "feature"]);
    let pull = bench.local.pull(1).await.unwrap();
    assert_eq!((pull.head.sha, pull.mergeable), (head.clone(), Mergeable::Blocked));
    let fault = bench.local.land(1, &order(head, MergeMethod::Merge)).await.unwrap_err();
    assert!(matches!(fault, LocalFault::Gone { .. }), "{fault}");
    bench.local.close(1).await.unwrap();
    assert!(matches!(bench.local.reopen_pull(1).await, Err(LocalFault::Gone { .. })));
}

#[tokio::test]
async fn a_branch_is_brought_up_to_date_where_it_is_checked_out() {
    let bench = Bench::new();
    let pull = bench.open().await;
    let author = HeadMaker { login: pull.author.login.clone(), part: Part::Author, may_write: Told::Is(true) };
    let (branch, head) = (Pushable::new(&pull, &[author]).unwrap(), pull.head.sha);
    bench.local.update_branch(&branch).await.unwrap();
    assert_eq!(bench.tip("feature"), head, "there is nothing to bring");
    bench.commit_on("main", "other.txt", "else\n");
    bench.git(&["checkout", "--quiet", "feature"]);
    bench.local.update_branch(&branch).await.unwrap();
    assert_eq!((bench.read("other.txt"), bench.read("app.txt")), ("else\n".into(), "one\nzwei\nthree\nfour\n".into()));
    assert!(bench.is_clean());
    let late = bench.local.update_branch(&branch).await;
    assert!(matches!(late, Err(ForgeFault::Conflict { .. })), "{late:?}");
}

#[tokio::test]
async fn a_rehearsal_refuses_what_would_be_refused_and_changes_nothing() {
    let bench = Bench::new();
    let head = bench.open().await.head.sha;
    let rehearsal = bench.local.clone().rehearsing();
    let objects = || bench.git(&["count-objects"]);
    let (base, before) = (bench.tip("main"), objects());
    rehearsal.comment(1, &"hello".into()).await.unwrap();
    rehearsal.land(1, &order(head.clone(), MergeMethod::Rebase)).await.unwrap();
    rehearsal.land(1, &order(head.clone(), MergeMethod::Squash)).await.unwrap();
    assert_eq!(rehearsal.open_issue(&NewIssue { title: "x".into(), body: "".into(), labels: vec![] }).await.unwrap().number, 2);
    assert_eq!((bench.tip("main"), objects()), (base, before));
    assert!(bench.local.comments(1).await.unwrap().is_empty());
    bench.write("other.txt", "mine\n");
    assert!(matches!(rehearsal.land(1, &order(head, MergeMethod::Squash)).await, Err(LocalFault::NotMoved(_))));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_who_write_at_once_lose_nothing() {
    let bench = Bench::new();
    bench.open().await;
    let writing: Vec<_> = (0..12)
        .map(|writer| {
            let local = bench.local.clone();
            tokio::spawn(async move { local.say(1, &format!("from {writer}").into()).await.unwrap().id })
        })
        .collect();
    let mut ids = std::collections::BTreeSet::new();
    for writer in writing {
        ids.insert(writer.await.unwrap());
    }
    assert_eq!((ids.len(), bench.local.comments(1).await.unwrap().len()), (12, 12));
}
