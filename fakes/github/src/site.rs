//! The forge as a whole: its state, its quirks, and what happens when somebody pushes.

use crate::model::{Anchor, Draft, Issue, Key, Pull, Review, Thread, World};
use crate::{Base, route};
use fake_forge_base::{Reply, Request};
use std::collections::BTreeSet;

/// Real behaviours of GitHub that a test switches on. Numbers are those of forges.md, section 8.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Quirk {
    /// 3: 406, more than 300 files.
    DiffTooManyFiles,
    /// 3: 406, more than 20 000 lines.
    DiffTooManyLines,
    /// 3: 422, the diff takes too long.
    DiffTooSlow,
    /// 3: 504 for a huge pull request.
    DiffTimeout,
    /// A comment is edited in the second in which it was written: its two times stay alike.
    SameSecond,
    /// 4: a file of the list without its patch.
    Patchless,
    /// 7: 403 without a header that would say so.
    SecondaryLimit,
    /// 403 with the headers.
    PrimaryLimit,
    /// 7: 200 with `errors`.
    GraphqlLimited,
    /// 200 with no data and no errors.
    GraphqlHollow,
    /// 200 with data beside an error.
    GraphqlHalf,
    /// 9: resolving is refused, replying is not.
    ResolveDenied,
    /// 16: a write is stored, then the connection breaks.
    AnswerLost,
    /// 16: a write is stored, then a gateway fails.
    StoredThenBadGateway,
    /// A read meets a failing gateway.
    BadGateway,
    /// 19: the version of the API is over.
    VersionGone,
    /// `mergeable: null`.
    MergeableUnknown,
    /// 6: 405 although nothing is wrong with the head.
    NotMergeable,
    /// An installation's token is refused, as after its hour.
    TokenOver,
    /// The search gave up before its end.
    SearchCutShort,
}

#[derive(Default)]
pub struct Site {
    pub world: World,
    /// Pages of GraphQL are no longer than this, whatever is asked for.
    pub graphql_page: Option<usize>,
    /// The rights that the App was given; a token can have no more.
    pub app_permissions: BTreeSet<(String, String)>,
    /// Whose bot the App's tokens are.
    pub app_user: Option<u64>,
    /// `owner/name` where the App is installed.
    pub app_installed: BTreeSet<String>,
}

impl fake_forge_base::Site for Site {
    type Fault = Quirk;

    fn answer(&mut self, base: &mut Base, request: &Request) -> Option<Reply> {
        route::answer(self, base, request)
    }

    fn pushed(&mut self, base: &mut Base, project: &str) {
        self.follow(base, project);
    }
}

impl Site {
    /// Brings every open pull request of a branch to where the branch is, and its threads with it (quirk 5).
    pub fn follow(&mut self, base: &mut Base, project: &str) {
        let keys: Vec<Key> = self
            .world
            .pulls
            .iter()
            .filter(|(_, pull)| pull.head_project.as_deref() == Some(project) && pull.merged_at.is_none())
            .map(|(key, _)| *key)
            .collect();
        for key in keys {
            let Some(issue) = self.world.issues.get(&key).filter(|issue| issue.open) else { continue };
            let (mut updated, pull) = (issue.clone(), self.world.pulls[&key].clone());
            let Some(tip) = base.repository(project).rev(&pull.head_branch).filter(|tip| *tip != pull.head_sha) else { continue };
            let home = base.project_by_id(key.0).expect("a project").path.clone();
            base.bring(project, &tip, &home, &format!("refs/pull/{}/head", key.1));
            updated.updated_at = base.clock.tick();
            self.world.issues.insert(key, updated);
            self.world.pulls.get_mut(&key).expect("the pull").head_sha.clone_from(&tip);
            self.carry_threads(base, key, &pull.head_sha, &tip);
        }
    }

    fn carry_threads(&mut self, base: &Base, key: Key, from: &str, to: &str) {
        let repository = base.repository(&base.project_by_id(key.0).expect("a project").path);
        let pull = self.world.pulls[&key].clone();
        let diff = repository.diff(&pull.base_branch, to);
        for thread in self.world.threads.iter_mut().filter(|thread| thread.on == key && thread.line.is_some()) {
            let right = thread.original.side == "RIGHT";
            let moved = |line: Option<u32>| match line {
                // The old side is what the base has; it stays while the merge base does.
                Some(line) if !right => Some(line),
                Some(line) => repository.carry_line(from, to, &thread.original.path, line),
                None => None,
            };
            let (line, start_line) = (moved(thread.line), moved(thread.start_line));
            let anchor = Anchor { line, start_line, ..thread.original.clone() };
            let shown = line.is_some() && crate::reviews::refusal(&diff, &anchor).is_none();
            (thread.line, thread.start_line, thread.outdated) =
                if shown { (line, start_line, false) } else { (None, None, true) };
        }
    }

    /// Opens a pull request as its author's client would.
    pub fn open(&mut self, base: &mut Base, project: &str, head: (&str, &str), into: &str, author: u64, title: &str) -> u64 {
        let home = base.project(project).expect("the project").id;
        let number = self.world.next_number(home);
        let head_sha = base.repository(head.0).rev(head.1).expect("the head's branch");
        let base_sha = base.repository(project).rev(into).expect("the base's branch");
        base.bring(head.0, &head_sha, project, &format!("refs/pull/{number}/head"));
        let (id, now) = (base.ids.fresh(), base.clock.tick());
        let pull = Pull {
            head_project: Some(head.0.to_owned()),
            head_owner: head.0.split('/').next().unwrap_or_default().to_owned(),
            head_branch: head.1.to_owned(),
            head_sha,
            base_branch: into.to_owned(),
            base_changed_at: None,
            base_sha,
            draft: false,
            merged_at: None,
            reviewers: BTreeSet::new(),
        };
        let issue = Issue {
            id,
            title: title.to_owned(),
            body: String::new(),
            author,
            open: true,
            labels: Vec::new(),
            created_at: now.clone(),
            updated_at: now,
            closed_at: None,
        };
        self.world.pulls.insert((home, number), pull);
        self.world.issues.insert((home, number), issue);
        number
    }

    /// Deletes a repository; the heads of its pull requests stay where they were brought to (quirk 20).
    pub fn delete_project(&mut self, base: &mut Base, path: &str) {
        base.remove_project(path);
        for pull in self.world.pulls.values_mut().filter(|pull| pull.head_project.as_deref() == Some(path)) {
            pull.head_project = None;
        }
    }

    /// Leaves a review that was never submitted, as a crash does.
    pub fn leave_pending(&mut self, base: &mut Base, on: Key, author: u64, drafts: &[Draft]) -> u64 {
        let commit = self.world.pulls[&on].head_sha.clone();
        self.store_review(base, on, author, "", "PENDING", &commit, drafts)
    }

    /// Stores what was checked before.
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn store_review(
        &mut self,
        base: &mut Base,
        on: Key,
        author: u64,
        body: &str,
        state: &str,
        commit: &str,
        drafts: &[Draft],
    ) -> u64 {
        let (id, now) = (base.ids.fresh(), base.clock.tick());
        let submitted_at = (state != "PENDING").then(|| now.clone());
        let commit = commit.to_owned();
        let review =
            Review { id, on, author, body: body.to_owned(), state: state.to_owned(), commit: commit.clone(), submitted_at };
        self.world.reviews.push(review);
        for draft in drafts {
            let thread = self.store_thread(base, on, &commit, &draft.anchor);
            let note = crate::model::Note {
                id: base.ids.fresh(),
                thread,
                review: id,
                author,
                body: draft.body.clone(),
                created_at: now.clone(),
                reply_to: None,
            };
            self.world.notes.push(note);
        }
        let head = self.world.pulls[&on].head_sha.clone();
        if commit != head {
            self.carry_threads_of(base, on, &commit, &head, id);
        }
        id
    }

    /// A review of an older commit stands where its lines are now.
    fn carry_threads_of(&mut self, base: &Base, on: Key, from: &str, to: &str, review: u64) {
        let mine: Vec<u64> = self.world.notes.iter().filter(|note| note.review == review).map(|note| note.thread).collect();
        let others: Vec<Thread> = self.world.threads.iter().filter(|thread| !mine.contains(&thread.id)).cloned().collect();
        self.world.threads.retain(|thread| mine.contains(&thread.id));
        self.carry_threads(base, on, from, to);
        self.world.threads.extend(others);
        self.world.threads.sort_by_key(|thread| thread.id);
    }

    pub(crate) fn store_thread(&mut self, base: &mut Base, on: Key, commit: &str, anchor: &Anchor) -> u64 {
        let repository = base.repository(&base.project_by_id(on.0).expect("a project").path);
        let diff = repository.diff(&self.world.pulls[&on].base_branch, commit);
        let id = base.ids.fresh();
        self.world.threads.push(Thread {
            id,
            on,
            original: anchor.clone(),
            original_commit: commit.to_owned(),
            line: anchor.line,
            start_line: anchor.start_line,
            outdated: false,
            resolved_by: None,
            invisible: false,
            hunk: crate::reviews::hunk_text(&diff, anchor),
        });
        id
    }
}
