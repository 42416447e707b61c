//! Publishing is reconciliation: what should stand on the pull request against what does, and the smallest set of writes between.
//!
//! It is asked again after every doubt (a lost answer, a killed process, another machine), and then finds less to do; so nothing is
//! ever posted twice, and no write needs a retry. The order is part of the promise: inline comments, answers, the status, and the
//! sticky last. A sticky that names a head therefore says that everything else for that head is there (PR-133).

use super::anchor::{Shown, Spot};
use super::drafts::Drafts;
use super::inline::{Dialect, inline_body};
use super::marker::{Mark, MarkerKey, ReadMark, Seal, read, seal};
use super::status::{check_run, stands, status};
use super::sticky::{Links, sticky_for};
use super::threads::{OwnThread, own};
use crate::combine::finding::Finding;
use crate::findings::about::About;
use crate::ids::{FindingId, FindingKey, Sha};
use crate::policy::publish::PublishPolicy;
use crate::pull::capability::{Capabilities, Capability};
use crate::pull::facts::{Account, Check, Pull, PullState};
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
    /// The same finding, posted by two of us at once.
    DeleteInline {
        comment: String,
    },
    Review {
        review: NewReview,
        findings: Vec<FindingId>,
    },
    Answer {
        thread: Thread,
        body: String,
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
    CreateSticky {
        body: String,
    },
    EditSticky {
        id: String,
        body: String,
    },
    DeleteSticky {
        id: String,
    },
}

/// What to do next. After `look_again` the rest depends on what the forge made of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Next {
    pub writes: Vec<Write>,
    pub look_again: bool,
}

/// Why nothing may be posted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    HeadMoved { to: Sha },
    Closed,
    ForeignDraft,
}

pub fn reconcile(desired: &Desired<'_>, observed: &Observed) -> Result<Next, Stop> {
    if observed.pull.state != PullState::Open {
        return Err(Stop::Closed);
    }
    if observed.pull.head.sha != desired.document.head {
        return Err(Stop::HeadMoved { to: observed.pull.head.sha.clone() });
    }
    let drafts = Drafts { reviews: &observed.reviews, drafted: &observed.drafted };
    let pending = drafts.ours(desired.me, desired.case_id, desired.key)?;
    let threads = own(&observed.threads, desired.me, desired.case_id, desired.key);
    let mut writes: Vec<Write> = pending.into_iter().map(|review| Write::DeletePending { review }).collect();
    let (kept, doubled) = first_of_each(threads);
    writes.extend(doubled.into_iter().map(|comment| Write::DeleteInline { comment }));
    if !desired.document.receipt.is_of_a_review() {
        // PR-7: nobody has looked, so nothing is said; but the status must not stay green.
        writes.extend(status_writes(desired, observed, ""));
        return Ok(Next { writes, look_again: false });
    }
    if let Some(review) = missing_comments(desired, &kept) {
        writes.push(review);
        return Ok(Next { writes, look_again: true });
    }
    for thread in &kept {
        writes.extend(answers(desired, thread));
    }
    let links = links(desired, &kept);
    let body = sticky_for(desired.document, desired.names, &links, desired.capabilities.body_limit, |mark| {
        seal(mark, desired.case_id, desired.key)
    });
    writes.extend(status_writes(desired, observed, &body));
    writes.extend(sticky_writes(desired, observed, body));
    Ok(Next { writes, look_again: false })
}

/// The same pull request as if the review had been posted: what a dry run goes on from.
pub fn assume_posted(observed: &mut Observed, review: &NewReview, me: &Account) {
    for (n, comment) in review.comments.iter().enumerate() {
        let id = format!("to be posted {n}");
        let first = ThreadComment {
            id: id.clone(),
            author: me.clone(),
            body: comment.body.clone(),
            created_at: String::new(),
            url: String::new(),
            review: None,
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

/// The oldest comment of each finding; later ones go, unless somebody has answered them.
fn first_of_each(threads: Vec<OwnThread<'_>>) -> (Vec<OwnThread<'_>>, Vec<String>) {
    let mut kept: Vec<OwnThread<'_>> = Vec::new();
    let mut doubled = Vec::new();
    for thread in threads {
        let again = kept.iter().any(|known| known.key == thread.key);
        let is_alone = thread.thread.comments.len() == 1;
        let is_among_ours = thread.thread.first().is_some_and(|first| first.id != thread.comment.id) && !thread.has_others;
        if again && (is_alone || is_among_ours) {
            doubled.push(thread.comment.id.clone());
        } else if !again {
            kept.push(thread);
        }
    }
    (kept, doubled)
}

/// One review with everything that has no thread yet.
fn missing_comments(desired: &Desired<'_>, threads: &[OwnThread<'_>]) -> Option<Write> {
    let dialect = Dialect::of(desired.capabilities);
    let mut findings = Vec::new();
    let mut comments = Vec::new();
    for (finding, spot) in placed(desired) {
        if threads.iter().any(|thread| thread.is_of(finding)) {
            continue;
        }
        let (key, head) = (finding.key.clone(), desired.document.head.clone());
        let mark = Mark::Finding { key, id: finding.id, head, about: About::of(finding) };
        let can_range = desired.capabilities.can(Capability::MultiLine);
        findings.push(finding.id);
        comments.push(NewComment {
            body: format!("{}{}", inline_body(finding, dialect), seal(&mark, desired.case_id, desired.key)),
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
    let mark = Mark::Review { head: document.head.clone(), run: document.receipt.run.clone() };
    let (count, noun) = (comments.len(), if comments.len() == 1 { "finding" } else { "findings" });
    let body = format!(
        "Tribunal left {count} {noun} on the lines they speak of; the summary comment holds the whole review.\n\n{}",
        seal(&mark, desired.case_id, desired.key)
    );
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
        let body = format!("{words}\n\n{}", seal(&mark, desired.case_id, desired.key));
        writes.push(Write::Answer { thread: thread(), body });
    }
    match answer.resolve.filter(|_| desired.capabilities.can(Capability::Resolve)) {
        Some(true) => writes.push(Write::Resolve { thread: thread() }),
        Some(false) => writes.push(Write::Unresolve { thread: thread() }),
        None => {}
    }
    writes
}

fn links(desired: &Desired<'_>, threads: &[OwnThread<'_>]) -> Links {
    let mut links = Links::default();
    for finding in &desired.document.findings {
        let thread = threads.iter().find(|thread| thread.is_of(finding));
        if let Some(url) = thread.map(|thread| thread.comment.url.clone()) {
            links.urls.insert(finding.id, url);
        } else if finding.inline && finding.dismissed.is_none() {
            links.without_line.insert(finding.id);
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
    let wanted = status(document);
    let sha = document.head.clone();
    if !desired.policy.status || stands(&wanted, &observed.checks) {
        return Vec::new();
    }
    if capabilities.can(Capability::Annotations) {
        return vec![Write::CheckRun { sha, run: check_run(document, summary) }];
    }
    if capabilities.can(Capability::CommitStatus) { vec![Write::Status { sha, status: wanted }] } else { Vec::new() }
}

/// Stickies of ours: the newest is the one (PR-136), found by mark and account (PR-140).
pub fn stickies<'a>(comments: &'a [Comment], me: &Account, case_id: &str, key: &MarkerKey) -> Vec<(&'a Comment, ReadMark)> {
    let marked = |comment: &'a Comment| {
        let found = read(&comment.body, case_id, key).filter(|read| matches!(read.mark, Mark::Sticky { .. }))?;
        Some((comment, found))
    };
    comments.iter().filter(|comment| comment.author.is(me)).filter_map(marked).collect()
}

fn sticky_writes(desired: &Desired<'_>, observed: &Observed, body: String) -> Vec<Write> {
    let mut found = stickies(&observed.comments, desired.me, desired.case_id, desired.key);
    let Some((newest, _)) = found.pop() else { return vec![Write::CreateSticky { body }] };
    // A copy whose seal does not open may hold a person's edits; it is left alone.
    let mut writes: Vec<Write> = found
        .into_iter()
        .filter(|(_, read)| read.seal == Seal::Good)
        .map(|(comment, _)| Write::DeleteSticky { id: comment.id.clone() })
        .collect();
    if newest.body.trim_end() != body.trim_end() {
        writes.push(Write::EditSticky { id: newest.id.clone(), body });
    }
    writes
}

#[cfg(test)]
mod tests;
