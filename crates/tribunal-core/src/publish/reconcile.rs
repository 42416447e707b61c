//! Publishing is reconciliation: what should stand on the pull request against what does, and the smallest set of writes between.
//!
//! It is asked again after every doubt (a lost answer, a killed process, another machine), and then finds less to do. When to look
//! again, and who may post, is [`super::attempt`]'s to say. The order is part of the promise: inline comments, answers, the status,
//! and the sticky last. A sticky that names a head therefore says that everything else for that head is there (PR-133), so a finding
//! that a sealed sticky says was posted is never posted again, whatever a list of threads shows.

use super::anchor::{Shown, Spot};
use super::claim::{Claim, by_age, claims};
use super::doubles::{Sorted, empty_reviews, one_of_each};
use super::drafts::Drafts;
use super::inline::{Dialect, inline_body};
use super::marker::{Mark, MarkerKey, ReadMark, Seal, read, seal};
use super::memory::{Memory, pack_finding};
use super::needs_person::{self, Signer};
use super::outgoing::Outgoing;
use super::status::{check_run, stands, status};
use super::sticky::{Links, is_intact, sticky_for, sticky_text, was_sticky};
use super::threads::{OwnThread, own};
use crate::combine::finding::Finding;
use crate::findings::about::About;
use crate::ids::{FindingId, FindingKey, RunId, Sha};
use crate::policy::publish::PublishPolicy;
use crate::pull::capability::{Capabilities, Capability};
use crate::pull::facts::{Account, Check, CheckState, Pull, PullState};
use crate::pull::talk::{Comment, NewCheckRun, NewComment, NewReview, NewStatus, Review, ReviewEvent, Thread, ThreadComment};
use crate::report::document::Document;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// What should be said, by whom, and how.
pub struct Desired<'a> {
    pub document: &'a Document,
    pub names: &'a BTreeMap<FindingKey, FindingId>,
    pub case_id: &'a str,
    pub capabilities: &'a Capabilities,
    pub me: &'a Account,
    pub key: &'a MarkerKey,
    pub shown: &'a Shown,
    pub policy: PublishPolicy,
    /// Findings that the forge would not put on their line.
    pub unplaced: &'a BTreeSet<FindingId>,
    /// The review that this one goes on from. If the pull request shows yet another one, this one does not know of its findings.
    pub built_on: Option<&'a RunId>,
    /// The review stands as it was posted; only what is amiss on the pull request is put right.
    pub is_restated: bool,
}

/// What stands there now.
#[derive(Debug, Clone)]
pub struct Observed {
    pub pull: Pull,
    pub comments: Vec<Comment>,
    pub reviews: Vec<Review>,
    pub threads: Vec<Thread>,
    /// What waits in reviews of ours that were never submitted, by review.
    pub drafted: BTreeMap<String, Vec<String>>,
    pub checks: Vec<Check>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Write {
    /// Ours, half made by a request that was cut off.
    DeletePending {
        review: String,
    },
    /// The same finding or the same answer, posted by two of us at once.
    DeleteInline {
        comment: String,
    },
    /// A review of ours whose comments are all gone.
    DeleteReview {
        review: String,
    },
    /// A comment that says who is going to post; it becomes the summary where there is none.
    Claim {
        body: Outgoing,
    },
    /// A claim that is over.
    Withdraw {
        id: String,
    },
    Review {
        review: NewReview,
        findings: Vec<FindingId>,
    },
    Answer {
        thread: Thread,
        body: Outgoing,
    },
    Resolve {
        thread: Thread,
    },
    Unresolve {
        thread: Thread,
    },
    Status {
        sha: Sha,
        status: NewStatus,
    },
    CheckRun {
        sha: Sha,
        run: NewCheckRun,
    },
    EditSticky {
        id: String,
        body: Outgoing,
    },
    DeleteSticky {
        id: String,
    },
}

/// What a forge shows under a number. Each kind is numbered on its own, so that a comment and a review can have the same one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum PostId {
    Comment(String),
    InlineComment(String),
    Review(String),
}

impl Write {
    /// What is removed, where something is.
    pub fn removes(&self) -> Option<PostId> {
        match self {
            Write::DeletePending { review } | Write::DeleteReview { review } => Some(PostId::Review(review.clone())),
            Write::DeleteInline { comment } => Some(PostId::InlineComment(comment.clone())),
            Write::Withdraw { id } | Write::DeleteSticky { id } => Some(PostId::Comment(id.clone())),
            Write::Claim { .. }
            | Write::Review { .. }
            | Write::Answer { .. }
            | Write::Resolve { .. }
            | Write::Unresolve { .. }
            | Write::Status { .. }
            | Write::CheckRun { .. }
            | Write::EditSticky { .. } => None,
        }
    }
}

/// Why nothing may be posted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    HeadMoved { to: Sha },
    Closed,
    ForeignDraft,
}

/// What one look shows of our own.
pub struct View<'a> {
    /// Reviews of ours that were never submitted.
    pub pending: Vec<String>,
    pub threads: Sorted<'a>,
    /// The summary, and copies of it.
    pub sticky: Option<&'a Comment>,
    pub twins: Vec<&'a Comment>,
    /// What the summary says under a good seal.
    pub memory: Option<Memory>,
    /// Does the summary show the text that its mark was made for?
    pub is_intact: bool,
    pub claims: Vec<Claim<'a>>,
    /// Findings that a sealed summary says were posted.
    pub posted: BTreeSet<FindingId>,
}

impl<'a> View<'a> {
    pub fn of(desired: &Desired<'_>, observed: &'a Observed) -> Result<Self, Stop> {
        if observed.pull.state != PullState::Open {
            return Err(Stop::Closed);
        }
        if observed.pull.head.sha != desired.document.head {
            return Err(Stop::HeadMoved { to: observed.pull.head.sha.clone() });
        }
        let (me, case_id, key) = (desired.me, desired.case_id, desired.key);
        let drafts = Drafts { reviews: &observed.reviews, drafted: &observed.drafted };
        let pending = drafts.ours(me, case_id, key)?;
        let threads = one_of_each(own(&observed.threads, me, case_id, key));
        let mut summaries = summaries(&observed.comments, &observed.reviews, me, case_id, key);
        // Under a good seal before any other, and of those the newest (PR-136).
        summaries.sort_by(|one, other| one.is_good.cmp(&other.is_good).then(by_age(&one.comment.id, &other.comment.id)));
        let best = summaries.pop();
        let memory = best.as_ref().and_then(|best| best.memory(case_id, key));
        Ok(View {
            pending,
            threads,
            sticky: best.as_ref().map(|best| best.comment),
            is_intact: best.as_ref().is_some_and(|best| best.is_intact),
            twins: summaries.into_iter().map(|twin| twin.comment).collect(),
            posted: memory.as_ref().map(Memory::posted).unwrap_or_default(),
            memory,
            claims: claims(&observed.comments, me, case_id, key),
        })
    }

    /// A summary stands there that this process cannot verify, without the comments that may have been posted along with it.
    pub fn is_unverified(&self) -> bool {
        self.sticky.is_some() && self.memory.is_none() && self.threads.kept.is_empty()
    }

    /// Is each of these findings shown that the review still has?
    pub fn shows_all(&self, document: &Document, posted: &BTreeSet<FindingId>) -> bool {
        let mut wanted = document.findings.iter().filter(|finding| posted.contains(&finding.id));
        wanted.all(|finding| self.threads.kept.iter().any(|thread| thread.is_of(finding)))
    }

    /// Somebody may have deleted one; a list that shows none of them is out of date, or hollow.
    pub fn shows_some(&self, document: &Document, posted: &BTreeSet<FindingId>) -> bool {
        let wanted: Vec<&Finding> = document.findings.iter().filter(|finding| posted.contains(&finding.id)).collect();
        wanted.is_empty() || wanted.iter().any(|finding| self.threads.kept.iter().any(|thread| thread.is_of(finding)))
    }
}

/// What is left to do, in the order in which it is done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// Removes what is there twice. Two of us may do it at the same time.
    pub tidy: Vec<Write>,
    /// Reviews without comments. They go when two looks agree.
    pub empty_reviews: BTreeSet<String>,
    /// Posted at most once, so only by whoever holds the claim.
    pub review: Option<Write>,
    pub answers: Vec<Write>,
    /// The pull request has no summary yet.
    pub makes_sticky: bool,
    pub status: Vec<Write>,
    /// The summary's new text, unless it stands.
    pub sticky: Option<Outgoing>,
}

impl Plan {
    /// Resolving, the status and an edit of the summary come to the same however often they are done.
    pub fn needs_claim(&self) -> bool {
        let is_answer = |write: &Write| matches!(write, Write::Answer { .. });
        self.review.is_some() || self.makes_sticky || self.answers.iter().any(is_answer)
    }
}

/// What is missing. `posted` is what this process has posted and `claim` the comment that it holds.
pub fn plan(
    desired: &Desired<'_>,
    observed: &Observed,
    view: &View<'_>,
    posted: &BTreeSet<FindingId>,
    claim: Option<&str>,
) -> Plan {
    let (me, case_id, key) = (desired.me, desired.case_id, desired.key);
    let kept = &view.threads.kept;
    let mut tidy: Vec<Write> = view.pending.iter().cloned().map(|review| Write::DeletePending { review }).collect();
    tidy.extend(view.threads.doubled.iter().cloned().map(|comment| Write::DeleteInline { comment }));
    tidy.extend(view.twins.iter().map(|twin| Write::DeleteSticky { id: twin.id.clone() }));
    let can_delete_reviews = desired.capabilities.can_delete_reviews();
    let empty = |_| empty_reviews(&observed.reviews, &observed.threads, &view.threads, me, case_id, key);
    let empty_reviews = can_delete_reviews.then_some(()).map(empty).unwrap_or_default();
    if !desired.document.receipt.is_of_a_review() {
        // PR-7: nobody has looked, so nothing is said; but the status must not stay green.
        let status = status_writes(desired, observed, "");
        return Plan { tidy, empty_reviews, review: None, answers: Vec::new(), makes_sticky: false, status, sticky: None };
    }
    let posted: BTreeSet<FindingId> = view.posted.union(posted).copied().collect();
    let summary = view.sticky.map(|sticky| sticky.id.as_str()).or(claim);
    let links = links(desired, kept, &posted);
    let body =
        sticky_for(desired.document, desired.names, &links, desired.capabilities.body_limit, |mark| seal(mark, case_id, key));
    let stands = match view.sticky {
        Some(sticky) if desired.is_restated => view.is_intact || is_same(&sticky.body, &body),
        Some(sticky) => is_same(&sticky.body, &body),
        None => false,
    };
    Plan {
        tidy,
        empty_reviews,
        review: missing_comments(desired, kept, &posted, summary),
        answers: kept.iter().flat_map(|thread| answers(desired, thread)).collect(),
        makes_sticky: view.sticky.is_none(),
        status: status_writes(desired, observed, &sticky_text(desired.document, &links, desired.capabilities.body_limit)),
        sticky: (!stands).then_some(body),
    }
}

fn is_same(one: &str, other: &str) -> bool {
    one.trim_end() == other.trim_end()
}

/// The writes that end a publication, the summary last. `claim` is the comment that this process holds, `over` are claims to remove.
pub fn closing(plan: &Plan, view: &View<'_>, claim: Option<&str>, over: Vec<String>) -> Vec<Write> {
    let mut writes = plan.answers.clone();
    writes.extend(plan.status.iter().cloned());
    let target = view.sticky.map(|sticky| sticky.id.as_str()).or(claim);
    if let (Some(id), Some(body)) = (target, &plan.sticky) {
        writes.push(Write::EditSticky { id: id.to_owned(), body: body.clone() });
    }
    writes.extend(over.into_iter().filter(|id| Some(id.as_str()) != target).map(|id| Write::Withdraw { id }));
    writes
}

/// The same pull request as if this had been written: what a dry run goes on from. The id of a comment that was created.
pub fn assume_written(observed: &mut Observed, write: &Write, me: &Account) -> Option<String> {
    match write {
        Write::Claim { body } => {
            let id = "to be posted".to_owned();
            let (author, body, empty) = (me.clone(), body.to_string(), String::new);
            let comment =
                Comment { id: id.clone(), author, body, created_at: empty(), updated_at: empty(), url: empty(), edited: false };
            observed.comments.push(comment);
            return Some(id);
        }
        Write::Review { review, .. } => assume_review(observed, review, me),
        _ => {}
    }
    None
}

fn assume_review(observed: &mut Observed, review: &NewReview, me: &Account) {
    for (n, comment) in review.comments.iter().enumerate() {
        let id = format!("to be posted {n}");
        let first = ThreadComment {
            id: id.clone(),
            author: me.clone(),
            body: comment.body.to_string(),
            created_at: String::new(),
            url: String::new(),
            review: None,
            edited: false,
        };
        observed.threads.push(Thread {
            id,
            path: comment.path.clone(),
            line: Some(comment.line),
            start_line: comment.start_line,
            side: comment.side,
            resolved: false,
            resolved_by: None,
            outdated: None,
            can_resolve: None,
            comments: vec![first],
        });
    }
}

/// One review with everything that has no thread yet and was not posted before.
fn missing_comments(
    desired: &Desired<'_>,
    threads: &[OwnThread<'_>],
    posted: &BTreeSet<FindingId>,
    summary: Option<&str>,
) -> Option<Write> {
    let dialect = Dialect::of(desired.capabilities);
    let mut findings = Vec::new();
    let mut comments = Vec::new();
    let mut keys = Vec::new();
    for (finding, spot) in placed(desired) {
        if posted.contains(&finding.id) || threads.iter().any(|thread| thread.is_of(finding)) {
            continue;
        }
        keys.push(finding.key.clone());
        let (key, head) = (finding.key.clone(), desired.document.head.clone());
        let mark = Mark::Finding { key, id: finding.id, head, about: About::of(finding), finding: pack_finding(finding) };
        let can_range = desired.capabilities.can(Capability::MultiLine);
        findings.push(finding.id);
        comments.push(NewComment {
            body: inline_body(finding, dialect, Some(seal(&mark, desired.case_id, desired.key))),
            path: spot.path,
            old_path: spot.old_path,
            side: spot.side,
            line: spot.line,
            start_line: spot.start_line.filter(|_| can_range),
        });
    }
    if comments.is_empty() {
        return None;
    }
    let document = desired.document;
    let (head, run) = (document.head.clone(), document.receipt.run.clone());
    let mark = Mark::Review { head, run, findings: keys, summary: summary.map(str::to_owned) };
    let (count, noun) = (comments.len(), if comments.len() == 1 { "finding" } else { "findings" });
    let words = format!("Tribunal left {count} {noun} on the lines they speak of; the summary comment holds the whole review.");
    let body = Outgoing::sealed(&words, seal(&mark, desired.case_id, desired.key));
    let review = NewReview { commit: document.head.clone(), event: ReviewEvent::Comment, body, comments };
    Some(Write::Review { review, findings })
}

/// Findings that go on a line, with the line. A finding that was waved away is not said again.
fn placed<'a>(desired: &'a Desired<'_>) -> impl Iterator<Item = (&'a Finding, Spot)> {
    desired
        .document
        .findings
        .iter()
        .filter(|finding| finding.inline && finding.dismissed.is_none() && !desired.unplaced.contains(&finding.id))
        .filter_map(|finding| Some((finding, desired.shown.spot(finding)?)))
}

fn answers(desired: &Desired<'_>, own: &OwnThread<'_>) -> Vec<Write> {
    let answer = own.answer(desired.document, desired.policy.resolve);
    let thread = || own.thread.clone();
    let mut writes = Vec::new();
    if let Some((says, words)) = answer.says {
        let mark = Mark::Answer { id: own.id, says, head: desired.document.head.clone() };
        let body = Outgoing::sealed(&words, seal(&mark, desired.case_id, desired.key));
        writes.push(Write::Answer { thread: thread(), body });
    }
    match answer.resolve.filter(|_| desired.capabilities.can(Capability::Resolve)) {
        Some(true) => writes.push(Write::Resolve { thread: thread() }),
        Some(false) => writes.push(Write::Unresolve { thread: thread() }),
        None => {}
    }
    writes
}

fn links(desired: &Desired<'_>, threads: &[OwnThread<'_>], posted: &BTreeSet<FindingId>) -> Links {
    let mut links = Links::default();
    for finding in &desired.document.findings {
        let thread = threads.iter().find(|thread| thread.is_of(finding));
        if let Some(url) = thread.map(|thread| thread.comment.url.clone()) {
            links.urls.insert(finding.id, url);
        } else if finding.inline && finding.dismissed.is_none() {
            // One that was posted and is not shown is written out too: nothing is lost, and nothing is posted again.
            links.without_line.insert(finding.id);
            if !posted.contains(&finding.id) {
                links.unplaced.insert(finding.id);
            }
        }
        let closed_by = thread
            .filter(|thread| thread.thread.resolved)
            .and_then(|thread| thread.thread.resolved_by.as_ref())
            .filter(|by| !by.is(desired.me));
        if let Some(by) = closed_by {
            links.resolved_by.insert(finding.id, by.login.clone());
        }
    }
    links
}

fn status_writes(desired: &Desired<'_>, observed: &Observed, summary: &str) -> Vec<Write> {
    let (document, capabilities) = (desired.document, desired.capabilities);
    let sha = document.head.clone();
    let wanted = status(document);
    let kept_red = (wanted.state == CheckState::Success).then(|| kept_red(desired, observed)).flatten();
    let is_kept_red = kept_red.is_some();
    let wanted = kept_red.unwrap_or(wanted);
    if !desired.policy.status || stands(&wanted, &observed.checks) {
        return Vec::new();
    }
    if capabilities.can(Capability::Annotations) {
        let run = check_run(document, summary);
        let run = if is_kept_red { NewCheckRun { state: wanted.state, title: wanted.description, ..run } } else { run };
        return vec![Write::CheckRun { sha, run }];
    }
    if capabilities.can(Capability::CommitStatus) { vec![Write::Status { sha, status: wanted }] } else { Vec::new() }
}

fn kept_red(desired: &Desired<'_>, observed: &Observed) -> Option<NewStatus> {
    let Observed { comments, reviews, threads, checks, .. } = observed;
    let signer = Signer { me: desired.me, case_id: desired.case_id, key: desired.key };
    needs_person::kept_red(desired.document, &needs_person::Shown { comments, reviews, threads, checks }, &signer)
}

/// Stickies of ours: the newest is the one (PR-136), found by mark and account (PR-140).
pub fn stickies<'a>(comments: &'a [Comment], me: &Account, case_id: &str, key: &MarkerKey) -> Vec<(&'a Comment, ReadMark)> {
    let marked = |comment: &'a Comment| {
        let found = read(&comment.body, case_id, key).filter(|read| matches!(read.mark, Mark::Sticky { .. }))?;
        Some((comment, found))
    };
    comments.iter().filter(|comment| comment.author.is(me)).filter_map(marked).collect()
}

/// The review that a pull request shows in a sealed summary; nothing where our own threads show that it is not the last one.
pub fn remembered(
    comments: &[Comment],
    threads: &[OwnThread<'_>],
    me: &Account,
    case_id: &str,
    key: &MarkerKey,
) -> Option<Memory> {
    let good = |(_, read): &(&Comment, ReadMark)| read.seal == Seal::Good;
    let mut found: Vec<_> = stickies(comments, me, case_id, key).into_iter().filter(good).collect();
    found.sort_by(|(one, _), (other, _)| by_age(&one.id, &other.id));
    let (comment, _) = found.pop()?;
    let memory = Summary { comment, is_good: true, is_intact: true }.memory(case_id, key)?;
    (!memory.is_older_than(threads)).then_some(memory)
}

/// A comment of ours that is a summary, or was one before somebody edited it.
struct Summary<'a> {
    comment: &'a Comment,
    is_good: bool,
    is_intact: bool,
}

impl Summary<'_> {
    fn memory(&self, case_id: &str, key: &MarkerKey) -> Option<Memory> {
        match read(&self.comment.body, case_id, key)? {
            ReadMark { mark: Mark::Sticky { memory: Some(hash), .. }, seal: Seal::Good } => {
                Memory::unpack(&self.comment.body, &hash)
            }
            _ => None,
        }
    }
}

/// Everybody with write access can edit a comment of ours while it keeps our name. One that was a summary stays ours to put right or
/// to remove: by its mark, by what else of a summary is left in it, or because a sealed review of ours names it.
fn summaries<'a>(comments: &'a [Comment], reviews: &[Review], me: &Account, case_id: &str, key: &MarkerKey) -> Vec<Summary<'a>> {
    let named: BTreeSet<String> = reviews
        .iter()
        .filter(|review| review.author.is(me))
        .filter_map(|review| match read(&review.body, case_id, key)? {
            ReadMark { mark: Mark::Review { summary, .. }, seal: Seal::Good } => summary,
            _ => None,
        })
        .collect();
    let summary = |comment: &'a Comment| match read(&comment.body, case_id, key) {
        Some(ReadMark { mark: Mark::Sticky { text, memory, .. }, seal }) => {
            let is_good = seal == Seal::Good;
            let is_intact = is_good && is_intact(&comment.body, text.as_deref(), memory.as_deref());
            Some(Summary { comment, is_good, is_intact })
        }
        Some(_) => None,
        None => {
            let was_ours = was_sticky(&comment.body) || named.contains(&comment.id);
            was_ours.then_some(Summary { comment, is_good: false, is_intact: false })
        }
    };
    comments.iter().filter(|comment| comment.author.is(me)).filter_map(summary).collect()
}

#[cfg(test)]
mod tests;
