//! Words: comments, reviews, threads, reactions.

use super::fault::LocalFault;
use super::{Local, Locally, Seen, blocking, id};
use crate::git::change::ChangeBase;
use crate::git::{GitError, Repository};
use crate::port::{Answered, Discuss, React, Resolve, ReviewPull};
use async_trait::async_trait;
use std::collections::BTreeMap;
use tribunal_core::diff::change::{Change, FileStatus};
use tribunal_core::findings::anchor::Side;
use tribunal_core::ids::Sha;
use tribunal_core::policy::config::{DEFAULT_MAX_TOTAL_BYTES, MAX_CHANGED_FILES, ReadLimits};
use tribunal_core::publish::outgoing::Outgoing;
use tribunal_core::pull::desk::act::Act;
use tribunal_core::pull::desk::position::{Moved, follow};
use tribunal_core::pull::desk::review::{Spot, Written};
use tribunal_core::pull::desk::view::address;
use tribunal_core::pull::desk::{Desk, PullDesk};
use tribunal_core::pull::talk::{Comment, Emoji, NewComment, NewReview, Reaction, ReactionTarget, Review, Submitted, Thread};

/// A file beyond this is named in a diff and not read.
const LIMITS: ReadLimits =
    ReadLimits { file: 20_000_000, total: DEFAULT_MAX_TOTAL_BYTES, lines: 2_000_000, files: MAX_CHANGED_FILES };

impl Local {
    pub async fn say(&self, number: u64, body: &Outgoing) -> Locally<Comment> {
        let done = self.change(number, Act::Comment { body: body.to_string() }).await?;
        let made = done.made.map(|made| made.to_string()).unwrap_or_default();
        let said = done.desk.comments(number).into_iter().find(|comment| comment.id == made);
        said.ok_or(LocalFault::Unreadable { number, problem: "the new comment is not in it".into() })
    }

    pub async fn write_review(&self, number: u64, review: &NewReview) -> Locally<Submitted> {
        let written = self.written(number, review).await?;
        let done = self.change(number, Act::Review { written, event: review.event }).await?;
        let id = done.made.map(|made| made.to_string()).unwrap_or_default();
        // A place that is no good refuses the whole review, so none of its comments is ever left behind.
        Ok(Submitted { url: format!("{}#{id}", address(number)), review: id, refused: Vec::new() })
    }

    /// A review that only I see.
    pub async fn begin_review(&self, number: u64, review: &NewReview) -> Locally<u64> {
        let written = self.written(number, review).await?;
        Ok(self.change(number, Act::Begin(written)).await?.made.unwrap_or_default())
    }

    pub async fn do_in(&self, number: u64, act: Act) -> Locally<()> {
        self.change(number, act).await.map(drop)
    }

    /// The review with each comment's place looked up in the version that was read.
    async fn written(&self, number: u64, review: &NewReview) -> Locally<Written> {
        let Seen { desk, live } = self.seen(number).await?;
        let (repository, review) = (self.repository.clone(), review.clone());
        blocking(move || {
            let pull = desk.pull().map_err(|refusal| LocalFault::Refused { number, refusal })?;
            if !repository.has(&review.commit) {
                return Err(LocalFault::NoCommit(review.commit));
            }
            let base = live.base.as_ref().unwrap_or(&pull.base.sha);
            let parted = repository.merge_base(base, &review.commit, &pull.base.name, &pull.head.name)?;
            let change = repository.read_change(ChangeBase::commit(&parted), &review.commit, LIMITS)?.change;
            let spots = review.comments.iter().map(|comment| spot(&repository, &change, &parted, &review.commit, comment));
            Ok(Written {
                commit: review.commit.clone(),
                body: review.body.to_string(),
                comments: spots.collect::<Locally<Vec<_>>>()?,
            })
        })
        .await
    }

    pub async fn conversations(&self, number: u64) -> Locally<Vec<(Spot, Thread)>> {
        let seen = self.seen(number).await?;
        let repository = self.repository.clone();
        blocking(move || {
            let Ok(pull) = seen.desk.pull() else { return Ok(Vec::new()) };
            let moved = positions(&repository, &seen, pull);
            Ok(pull.threads_said().map(|thread| (thread.place.clone(), thread.shown(number, &moved))).collect())
        })
        .await
    }

    /// The desk itself, for what the port has no word for.
    pub async fn whole(&self, number: u64) -> Locally<Desk> {
        let (_, desk) = self.page(number).await?;
        Ok(self.look(desk).await?.desk)
    }
}

fn spot(repository: &Repository, change: &Change, base: &Sha, head: &Sha, comment: &NewComment) -> Locally<(Spot, String)> {
    let bad = |why| LocalFault::BadSpot { path: comment.path.clone(), line: comment.line, why };
    let file = change.files.iter().find(|file| file.path.as_str() == comment.path);
    let file = file.ok_or_else(|| bad("the file is no part of this change"))?;
    let old_path = file.old_path.as_ref().unwrap_or(&file.path).as_str();
    let (version, path) = match comment.side {
        Side::New if file.status == FileStatus::Deleted => {
            return Err(bad("the file is deleted; it has lines on the old side only"));
        }
        Side::Old if file.status == FileStatus::Added => return Err(bad("the file is new; it has no old side")),
        Side::New => (head, comment.path.as_str()),
        Side::Old => (base, old_path),
    };
    let comment = NewComment { old_path: old_path.to_owned(), ..comment.clone() };
    if comment.line == 0 {
        return Ok(Written::comment(&comment, version, Vec::new()));
    }
    let bytes = repository.file_at(version, path).ok_or_else(|| bad("the file cannot be read"))?;
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().collect();
    let first = comment.start_line.unwrap_or(comment.line).clamp(1, comment.line);
    let range = first as usize - 1..comment.line as usize;
    let code = lines.get(range).ok_or_else(|| bad("the file has no such line"))?;
    Ok(Written::comment(&comment, version, code.iter().map(|line| (*line).to_owned()).collect()))
}

/// Where each thread's line is in the versions that are compared today.
fn positions(repository: &Repository, seen: &Seen, pull: &PullDesk) -> BTreeMap<u64, Moved> {
    let head = seen.desk.head_now(&seen.live);
    let base =
        seen.live.base.clone().filter(|_| pull.landed.is_none()).or_else(|| pull.landed.as_ref().map(|l| l.base_before.clone()));
    let parted = head.as_ref().zip(base.as_ref()).and_then(|(head, base)| repository.merge_base(base, head, "", "").ok());
    let mut changes: BTreeMap<(Sha, Sha), Result<Change, GitError>> = BTreeMap::new();
    let mut positions = BTreeMap::new();
    for thread in &pull.threads {
        let place = &thread.place;
        let (now, path) = match place.side {
            Side::New => (head.clone(), &place.path),
            Side::Old => (parted.clone(), &place.old_path),
        };
        let Some(now) = now else { continue };
        let key = (place.commit.clone(), now);
        let change = changes.entry(key).or_insert_with_key(|(then, now)| {
            if then == now {
                Ok(Change::default())
            } else {
                repository.read_change(ChangeBase::commit(then), now, LIMITS).map(|read| read.change)
            }
        });
        // A version that git has thrown away says nothing about today.
        if let Ok(change) = change {
            positions.insert(thread.id, follow(&change.files, path, place.line));
        }
    }
    positions
}

#[async_trait]
impl Discuss for Local {
    async fn comments(&self, number: u64) -> Answered<Vec<Comment>> {
        let (_, desk) = self.page(number).await?;
        Ok(desk.comments(number))
    }

    async fn comment(&self, number: u64, body: &Outgoing) -> Answered<Comment> {
        Ok(self.say(number, body).await?)
    }

    async fn edit_comment(&self, number: u64, comment: &str, body: &Outgoing) -> Answered<()> {
        let id = id("comment", number, comment)?;
        Ok(self.do_in(number, Act::Edit { id, body: body.to_string() }).await?)
    }

    async fn delete_comment(&self, number: u64, comment: &str) -> Answered<()> {
        let id = id("comment", number, comment)?;
        Ok(self.do_in(number, Act::Delete { id }).await?)
    }
}

#[async_trait]
impl ReviewPull for Local {
    async fn reviews(&self, number: u64) -> Answered<Vec<Review>> {
        let desk = self.desk(number, super::Kind::Pull).await?;
        let shown = desk.pull().map(|pull| pull.reviews_for(&self.me).map(|review| review.shown(number)).collect());
        Ok(shown.unwrap_or_default())
    }

    async fn threads(&self, number: u64) -> Answered<Vec<Thread>> {
        Ok(self.conversations(number).await?.into_iter().map(|(_, thread)| thread).collect())
    }

    async fn submit(&self, number: u64, review: &NewReview) -> Answered<Submitted> {
        Ok(self.write_review(number, review).await?)
    }

    async fn delete_pending(&self, number: u64, review: &str) -> Answered<()> {
        let review = id("review", number, review)?;
        Ok(self.do_in(number, Act::DropReview { review }).await?)
    }

    async fn delete_inline(&self, number: u64, comment: &str) -> Answered<()> {
        let id = id("comment", number, comment)?;
        Ok(self.do_in(number, Act::Delete { id }).await?)
    }

    async fn reply(&self, number: u64, thread: &Thread, body: &Outgoing) -> Answered<()> {
        let thread = id("thread", number, &thread.id)?;
        Ok(self.do_in(number, Act::Reply { thread, body: body.to_string() }).await?)
    }
}

#[async_trait]
impl Resolve for Local {
    async fn resolve(&self, number: u64, thread: &Thread) -> Answered<()> {
        let thread = id("thread", number, &thread.id)?;
        Ok(self.do_in(number, Act::Resolve { thread }).await?)
    }

    async fn unresolve(&self, number: u64, thread: &Thread) -> Answered<()> {
        let thread = id("thread", number, &thread.id)?;
        Ok(self.do_in(number, Act::Unresolve { thread }).await?)
    }
}

#[async_trait]
impl React for Local {
    async fn reactions(&self, number: u64, target: &ReactionTarget) -> Answered<Vec<Reaction>> {
        let (_, desk) = self.page(number).await?;
        Ok(desk.reactions_on(on(number, target)?))
    }

    async fn react(&self, number: u64, target: &ReactionTarget, emoji: Emoji) -> Answered<()> {
        Ok(self.do_in(number, Act::React { on: on(number, target)?, emoji }).await?)
    }
}

fn on(number: u64, target: &ReactionTarget) -> Locally<Option<u64>> {
    match target {
        ReactionTarget::Pull => Ok(None),
        ReactionTarget::Comment(comment) | ReactionTarget::ThreadComment(comment) => id("comment", number, comment).map(Some),
    }
}
