//! The forge port: small traits, one for each thing that one does on a forge. Five forges implement them all; what one of them
//! cannot do it says in its [`Capabilities`], and answers [`ForgeFault::Unsupported`] if it is asked all the same.
//!
//! Text goes out as [`Outgoing`] only, which the filter in the core makes: a plain string cannot be posted.
//!
//! Every `Err` of a write says whether the write may have happened ([`ForgeFault::is_uncertain`]). Nothing in here sends a write
//! twice.

use async_trait::async_trait;
use tribunal_core::ids::Sha;
use tribunal_core::merge::epic::belongs;
use tribunal_core::publish::outgoing::Outgoing;
use tribunal_core::pull::capability::Capabilities;
use tribunal_core::pull::facts::{Account, BaseRules, Check, Issue, MergeOrder, Permission, Pull, PullFilter};
use tribunal_core::pull::fault::ForgeFault;
use tribunal_core::pull::place::Project;
use tribunal_core::pull::pushable::Pushable;
use tribunal_core::pull::talk::{
    Comment, Emoji, NewCheckRun, NewIssue, NewPull, NewReview, NewStatus, Reaction, ReactionTarget, Review, Submitted, Thread,
};

pub type Answered<T> = Result<T, ForgeFault>;

#[async_trait]
pub trait Read: Send + Sync {
    fn project(&self) -> &Project;
    /// Asked once, then known.
    async fn capabilities(&self) -> Answered<Capabilities>;
    /// Whom the token speaks for.
    async fn identity(&self) -> Answered<Account>;
    /// The branch that everything is merged into.
    async fn trunk(&self) -> Answered<String>;
    async fn pull(&self, number: u64) -> Answered<Pull>;
    async fn pulls(&self, filter: &PullFilter) -> Answered<Vec<Pull>>;
    async fn permission(&self, account: &Account) -> Answered<Permission>;
    /// Everybody who pushed to a pull request after it was opened, as far as the forge tells; each may be there more than once.
    async fn pushers(&self, pull: &Pull) -> Answered<Vec<Account>> {
        let _ = pull;
        Ok(Vec::new())
    }
    /// When a pull request was last aimed at another branch; nothing if it never was. The local forge cannot do that.
    async fn base_changed_at(&self, number: u64) -> Answered<Option<String>>;
    /// Has this account had something merged here before?
    async fn has_contributed(&self, account: &Account) -> Answered<bool>;
    /// Where git finds the change.
    fn source(&self, pull: &Pull) -> GitSource;
}

/// What to fetch, and from where. Always from the base repository: it has the head of a deleted fork too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitSource {
    pub url: String,
    pub head_ref: String,
    pub base_ref: String,
    /// `Authorization` for git over HTTP; never shown.
    pub authorization: Option<String>,
}

#[async_trait]
pub trait Discuss: Send + Sync {
    /// Every page, oldest first.
    async fn comments(&self, number: u64) -> Answered<Vec<Comment>>;
    async fn comment(&self, number: u64, body: &Outgoing) -> Answered<Comment>;
    async fn edit_comment(&self, number: u64, id: &str, body: &Outgoing) -> Answered<()>;
    async fn delete_comment(&self, number: u64, id: &str) -> Answered<()>;
}

#[async_trait]
pub trait ReviewPull: Send + Sync {
    /// Every page, oldest first; our own pending ones too.
    async fn reviews(&self, number: u64) -> Answered<Vec<Review>>;
    /// The bodies of the comments that wait in a pending review of ours, where they are not the review's own body.
    async fn drafted(&self, number: u64, review: &str) -> Answered<Vec<String>> {
        let _ = (number, review);
        Ok(Vec::new())
    }
    /// Every page, oldest first, with all their comments. What waits in a pending review was said to nobody, and is not among them.
    async fn threads(&self, number: u64) -> Answered<Vec<Thread>>;
    /// Both, where one list leads to the other.
    async fn reviews_and_threads(&self, number: u64) -> Answered<(Vec<Review>, Vec<Thread>)> {
        tokio::try_join!(self.reviews(number), self.threads(number))
    }
    async fn submit(&self, number: u64, review: &NewReview) -> Answered<Submitted>;
    /// Removes a review of ours that was never submitted.
    async fn delete_pending(&self, number: u64, review: &str) -> Answered<()>;
    /// Removes a submitted review of ours that holds no comments.
    async fn delete_review(&self, number: u64, review: &str) -> Answered<()> {
        let what = format!("removing the submitted review {review} of {number}");
        Err(ForgeFault::Unsupported { kind: "this forge".into(), what })
    }
    async fn reply(&self, number: u64, thread: &Thread, body: &Outgoing) -> Answered<()>;
    /// Removes a comment of ours that stands on a line.
    async fn delete_inline(&self, number: u64, comment: &str) -> Answered<()>;
}

#[async_trait]
pub trait Resolve: Send + Sync {
    async fn resolve(&self, number: u64, thread: &Thread) -> Answered<()>;
    async fn unresolve(&self, number: u64, thread: &Thread) -> Answered<()>;
}

#[async_trait]
pub trait CheckCommit: Send + Sync {
    /// The latest of each name, statuses and check runs together.
    async fn checks(&self, sha: &Sha) -> Answered<Vec<Check>>;
    async fn set_status(&self, sha: &Sha, status: &NewStatus) -> Answered<()>;
    /// The end of what a check printed, and what its run says of itself. Nothing where the forge keeps none of it, or no more.
    async fn check_log(&self, check: &Check) -> Answered<Option<String>>;
    async fn check_run(&self, sha: &Sha, run: &NewCheckRun) -> Answered<()>;
}

#[async_trait]
pub trait Merge: Send + Sync {
    /// Opens a pull request.
    async fn open(&self, pull: &NewPull) -> Answered<Pull>;
    /// Refused when the head is not the one that the order names.
    async fn merge(&self, number: u64, order: &MergeOrder) -> Answered<()>;
    /// Brings the base into the branch.
    async fn update_branch(&self, branch: &Pushable) -> Answered<()>;
    /// What the forge asks of a merge into a branch. What this token may not see is unknown, and never "nothing".
    async fn base_rules(&self, branch: &str) -> Answered<BaseRules>;
    async fn close(&self, number: u64) -> Answered<()>;
}

#[async_trait]
pub trait Issues: Discuss {
    async fn issue(&self, number: u64) -> Answered<Issue>;
    async fn find_issues(&self, words: &str) -> Answered<Vec<Issue>>;
    /// Every issue, open and closed, that changed since then, or all of them; in any order, perhaps with some from before.
    async fn issues_since(&self, since: Option<&str>) -> Answered<Vec<Issue>>;
    /// The issues, open and closed, that belong to a larger one: because they say so with the keyword, or because the forge does.
    async fn issue_children(&self, number: u64, keyword: &str) -> Answered<Vec<Issue>> {
        let found = self.find_issues(&format!("#{number}")).await?;
        Ok(found.into_iter().filter(|issue| issue.number != number && belongs(&issue.body, keyword, number)).collect())
    }
    /// Every page, oldest first. On most forges an issue is talked about as a pull request is.
    async fn issue_comments(&self, number: u64) -> Answered<Vec<Comment>> {
        self.comments(number).await
    }
    async fn comment_on_issue(&self, number: u64, body: &Outgoing) -> Answered<()> {
        self.comment(number, body).await.map(drop)
    }
    async fn create_issue(&self, issue: &NewIssue) -> Answered<Issue>;
    async fn close_issue(&self, number: u64) -> Answered<()>;
    /// Adds a label to an issue or a pull request; an unknown label is made.
    async fn add_label(&self, number: u64, label: &Outgoing) -> Answered<()>;
    async fn remove_label(&self, number: u64, label: &str) -> Answered<()>;
    /// Asks people to review, by login.
    async fn request_review(&self, number: u64, logins: &[String]) -> Answered<()>;
}

#[async_trait]
pub trait React: Send + Sync {
    async fn reactions(&self, number: u64, target: &ReactionTarget) -> Answered<Vec<Reaction>>;
    async fn react(&self, number: u64, target: &ReactionTarget, emoji: Emoji) -> Answered<()>;
}

/// A log that is not there, or not any more, is no fault.
pub(crate) fn or_none(read: Answered<Vec<u8>>) -> Answered<Option<String>> {
    match read {
        Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
        Err(ForgeFault::NotFound { .. } | ForgeFault::Refused { status: 410, .. }) => Ok(None),
        Err(fault) => Err(fault),
    }
}

/// A forge, whole.
pub trait Forge: Read + Discuss + ReviewPull + Resolve + CheckCommit + Merge + Issues + React {}

impl<T: Read + Discuss + ReviewPull + Resolve + CheckCommit + Merge + Issues + React> Forge for T {}
