//! One pull request or issue of the local forge, and all that can be done to it.
//!
//! A desk holds what no ref of git can say: words, labels, reviews, resolutions. What refs do say (where the branches stand, whether
//! they merge) is asked of git each time and passed in as [`Live`]; it is kept here only as the last known answer, for the day when
//! the branch is gone. Everything is a pure function: [`apply`] takes a desk and a command and gives the next desk or a refusal, so
//! whoever stores it may try again on a newer desk when another process was faster.

pub mod act;
pub mod landing;
pub mod position;
pub mod review;
pub mod status;
pub mod stored;
pub mod view;

#[cfg(test)]
mod tests;

use super::facts::{Account, MergeMethod, PullState};
use super::talk::Emoji;
use crate::ids::Sha;
use crate::procedure::Millis;
use act::{Act, Command, Refusal, one_line, worded};
use review::{ReviewNote, ThreadNote};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Bytes that one text may hold. A bound, not a wish: nobody reads more, and a desk is read whole.
pub const BODY_LIMIT: usize = 1_000_000;
/// Characters of a title.
pub const TITLE_LIMIT: usize = 300;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Desk {
    pub title: String,
    pub body: String,
    pub author: Account,
    pub opened_at: Millis,
    pub updated_at: Millis,
    pub labels: BTreeSet<String>,
    pub comments: Vec<Said>,
    pub reactions: Vec<Reacted>,
    /// The highest id given out here; one row of numbers for everything that can be named.
    pub last_id: u64,
    pub subject: Subject,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Subject {
    Pull(Box<PullDesk>),
    Issue { open: bool },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PullDesk {
    pub draft: bool,
    pub head: Branch,
    pub base: Branch,
    pub open: bool,
    /// Merges that were begun. Whether one of them happened is to be seen in the base branch, not here: a process may die between.
    pub begun: Vec<Landing>,
    pub landed: Option<Landing>,
    pub reviews: Vec<ReviewNote>,
    pub threads: Vec<ThreadNote>,
    /// Logins that were asked to review.
    pub asked: BTreeSet<String>,
}

/// A branch, and where it was last seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Branch {
    pub name: String,
    pub sha: Sha,
}

/// A head that went, or was about to go, into its base.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Landing {
    /// The commit that the base branch holds since.
    pub commit: Sha,
    pub head: Sha,
    pub base_before: Sha,
    /// Nothing when it was merged by other means than ours.
    pub method: Option<MergeMethod>,
    pub by: Option<Account>,
    pub at: Millis,
}

/// A text that somebody wrote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Said {
    pub id: u64,
    pub by: Account,
    pub at: Millis,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edited_at: Option<Millis>,
    pub body: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reacted {
    /// A comment's id; nothing for the pull request or issue itself.
    pub on: Option<u64>,
    pub by: Account,
    pub emoji: Emoji,
}

/// What git says now.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Live {
    /// Nothing when the branch is gone.
    pub head: Option<Sha>,
    pub base: Option<Sha>,
    /// The first of [`PullDesk::candidates`] that the base branch holds.
    pub landed: Option<Sha>,
    /// The head has no commit that the base does not have.
    pub is_empty: bool,
}

/// A desk after a command, and the id of what the command made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Done {
    pub desk: Desk,
    pub made: Option<u64>,
}

impl Desk {
    pub fn open(title: &str, body: &str, author: &Account, subject: Subject, now: Millis) -> Result<Desk, Refusal> {
        if body.len() > BODY_LIMIT {
            return Err(Refusal::TooLong { bytes: body.len(), limit: BODY_LIMIT });
        }
        Ok(Desk {
            title: one_line(title)?,
            body: body.to_owned(),
            author: author.clone(),
            opened_at: now,
            updated_at: now,
            labels: BTreeSet::new(),
            comments: Vec::new(),
            reactions: Vec::new(),
            last_id: 0,
            subject,
        })
    }

    pub fn pull(&self) -> Result<&PullDesk, Refusal> {
        match &self.subject {
            Subject::Pull(pull) => Ok(pull),
            Subject::Issue { .. } => Err(Refusal::NotAPull),
        }
    }

    fn pull_mut(&mut self) -> Result<&mut PullDesk, Refusal> {
        match &mut self.subject {
            Subject::Pull(pull) => Ok(pull),
            Subject::Issue { .. } => Err(Refusal::NotAPull),
        }
    }

    fn next_id(&mut self) -> u64 {
        self.last_id += 1;
        self.last_id
    }

    /// What at most one desk may hold at a time: two open pull requests for the same two branches would be one.
    pub fn claim(&self) -> Option<String> {
        let pull = self.pull().ok().filter(|pull| pull.state() == PullState::Open)?;
        Some(format!("{}\n{}", pull.head.name, pull.base.name))
    }
}

impl PullDesk {
    pub fn new(head: Branch, base: Branch, draft: bool) -> Self {
        PullDesk {
            draft,
            head,
            base,
            open: true,
            begun: Vec::new(),
            landed: None,
            reviews: Vec::new(),
            threads: Vec::new(),
            asked: BTreeSet::new(),
        }
    }

    pub fn state(&self) -> PullState {
        match (&self.landed, self.open) {
            (Some(_), _) => PullState::Merged,
            (None, true) => PullState::Open,
            (None, false) => PullState::Closed,
        }
    }
}

/// One command on one desk. Nothing happens by halves: a refusal leaves the desk that was passed in as it was.
pub fn apply(desk: &Desk, command: Command, now: Millis) -> Result<Done, Refusal> {
    let mut desk = desk.clone();
    let made = act(&mut desk, command, now)?;
    desk.updated_at = desk.updated_at.max(now);
    Ok(Done { desk, made })
}

fn act(desk: &mut Desk, Command { by, act }: Command, now: Millis) -> Result<Option<u64>, Refusal> {
    match act {
        Act::Comment { body } => {
            let said = Said { id: desk.last_id + 1, by, at: now, edited_at: None, body: worded(body)? };
            desk.comments.push(said);
            return Ok(Some(desk.next_id()));
        }
        Act::Edit { id, body } => {
            let body = worded(body)?;
            let said = desk.said_mut(id, &by)?;
            said.body = body;
            said.edited_at = Some(now);
        }
        Act::Delete { id } => {
            desk.said_mut(id, &by)?;
            desk.forget(id);
        }
        Act::Describe { title, body } => {
            if body.as_ref().is_some_and(|body| body.len() > BODY_LIMIT) {
                return Err(Refusal::TooLong { bytes: body.map_or(0, |body| body.len()), limit: BODY_LIMIT });
            }
            desk.title = title.map_or_else(|| Ok(desk.title.clone()), |title| one_line(&title))?;
            desk.body = body.unwrap_or_else(|| desk.body.clone());
        }
        Act::Draft(draft) => desk.pull_mut()?.draft = draft,
        Act::Begin(written) => return desk.begin_review(by, written, now).map(Some),
        Act::Submit { review, event } => desk.submit_review(&by, review, event, now)?,
        Act::Review { written, event } => {
            let review = desk.begin_review(by.clone(), written, now)?;
            desk.submit_review(&by, review, event, now)?;
            return Ok(Some(review));
        }
        Act::DropReview { review } => desk.drop_review(&by, review)?,
        Act::Reply { thread, body } => return desk.reply(by, thread, worded(body)?, now).map(Some),
        Act::Resolve { thread } => desk.thread_mut(thread, &by)?.resolve(by, now),
        Act::Unresolve { thread } => desk.thread_mut(thread, &by)?.resolved = None,
        Act::Label { label } => {
            desk.labels.insert(one_line(&label)?);
        }
        Act::Unlabel { label } => {
            desk.labels.remove(label.trim());
        }
        Act::React { on, emoji } => {
            if let Some(id) = on.filter(|id| !desk.has_said(*id)) {
                return Err(Refusal::Unknown { what: "comment", id });
            }
            let reaction = Reacted { on, by, emoji };
            let again = |known: &Reacted| known.on == reaction.on && known.emoji == reaction.emoji && known.by.is(&reaction.by);
            if !desk.reactions.iter().any(again) {
                desk.reactions.push(reaction);
            }
        }
        Act::Ask { logins } => desk.pull_mut()?.asked.extend(logins),
        Act::Close => desk.set_open(false)?,
        Act::Reopen => desk.set_open(true)?,
        Act::BeginLanding(landing) => desk.begin_landing(landing)?,
    }
    Ok(None)
}

impl Desk {
    fn set_open(&mut self, open: bool) -> Result<(), Refusal> {
        match &mut self.subject {
            Subject::Issue { open: is_open } => *is_open = open,
            Subject::Pull(pull) if pull.landed.is_some() => return Err(Refusal::NotOpen(PullState::Merged)),
            Subject::Pull(pull) => pull.open = open,
        }
        Ok(())
    }

    fn texts_mut(&mut self) -> impl Iterator<Item = &mut Said> {
        let threads = match &mut self.subject {
            Subject::Pull(pull) => pull.threads.as_mut_slice(),
            Subject::Issue { .. } => &mut [],
        };
        self.comments.iter_mut().chain(threads.iter_mut().flat_map(|thread| &mut thread.said))
    }

    /// A text that is the asker's own: nobody puts words into somebody else's mouth.
    fn said_mut(&mut self, id: u64, by: &Account) -> Result<&mut Said, Refusal> {
        let said = self.texts_mut().find(|said| said.id == id).ok_or(Refusal::Unknown { what: "comment", id })?;
        if said.by.is(by) { Ok(said) } else { Err(Refusal::NotYours { what: "comment", whose: said.by.login.clone() }) }
    }

    fn has_said(&mut self, id: u64) -> bool {
        self.texts_mut().any(|said| said.id == id)
    }

    fn forget(&mut self, id: u64) {
        self.comments.retain(|said| said.id != id);
        self.reactions.retain(|reaction| reaction.on != Some(id));
        if let Subject::Pull(pull) = &mut self.subject {
            for thread in &mut pull.threads {
                thread.said.retain(|said| said.id != id);
            }
            // A conversation without a word is none.
            pull.threads.retain(|thread| !thread.said.is_empty());
        }
    }
}
