//! What a forge can do, and what we do where it cannot. Found out once per host, shown by `tribunal doctor`, and the same words stand
//! in `docs/forges.md`.

use super::place::ForgeKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Capability {
    /// Review and inline comments in one call.
    OneCallReview,
    /// Comments on several lines at once.
    MultiLine,
    /// Comments on a file without a line.
    FileLevel,
    /// A suggestion that can be applied by a click.
    Suggestions,
    /// A reply that joins its thread.
    Reply,
    Resolve,
    /// The forge says that a thread is out of date.
    Outdated,
    CommitStatus,
    /// Check runs with annotations.
    Annotations,
    Approve,
    /// `If-None-Match` answers 304.
    ConditionalRequests,
    Reactions,
    /// A merge is refused when the head is not the given one.
    GuardedMerge,
    UpdateBranch,
    Issues,
    /// What a check printed before it failed.
    CheckLogs,
}

impl Capability {
    pub const ALL: [Capability; 16] = [
        Capability::OneCallReview,
        Capability::MultiLine,
        Capability::FileLevel,
        Capability::Suggestions,
        Capability::Reply,
        Capability::Resolve,
        Capability::Outdated,
        Capability::CommitStatus,
        Capability::Annotations,
        Capability::Approve,
        Capability::ConditionalRequests,
        Capability::Reactions,
        Capability::GuardedMerge,
        Capability::UpdateBranch,
        Capability::Issues,
        Capability::CheckLogs,
    ];

    pub fn words(self) -> &'static str {
        match self {
            Capability::OneCallReview => "review and inline comments in one call",
            Capability::MultiLine => "comments on several lines",
            Capability::FileLevel => "comments on a file",
            Capability::Suggestions => "suggestions to apply",
            Capability::Reply => "replies inside a thread",
            Capability::Resolve => "resolving threads",
            Capability::Outdated => "notice of outdated threads",
            Capability::CommitStatus => "commit status",
            Capability::Annotations => "check runs with annotations",
            Capability::Approve => "approvals",
            Capability::ConditionalRequests => "conditional requests",
            Capability::Reactions => "reactions",
            Capability::GuardedMerge => "merge guarded by the head",
            Capability::UpdateBranch => "updating a branch from its base",
            Capability::Issues => "issues",
            Capability::CheckLogs => "logs of failed checks",
        }
    }

    /// What happens where it is missing.
    pub fn fall_back(self) -> &'static str {
        match self {
            Capability::OneCallReview => "comments are drafted one by one and published together",
            Capability::MultiLine => "the comment stands on the last line and names the range",
            Capability::FileLevel => "the finding is written out in the summary comment",
            Capability::Suggestions => "the fix is shown as a code block",
            Capability::Reply => "a comment of its own on the same line, which the forge shows in the same conversation",
            Capability::Resolve => "the reply says that it is fixed; the thread stays open for a person",
            Capability::Outdated => "the place is found again from the code the comment was written on",
            Capability::CommitStatus => "the sticky comment alone says the result",
            Capability::Annotations => "the commit status and the inline comments say it",
            Capability::Approve => "a comment carries the verdict",
            Capability::ConditionalRequests => "one plain request for each look",
            Capability::Reactions => "nothing is marked as seen",
            Capability::GuardedMerge => "the head is read right before and right after",
            Capability::UpdateBranch => "the branch is updated with git and pushed with a lease",
            Capability::Issues => "work is deferred to a file of the repository (`[fix] defer = \"record\"`)",
            Capability::CheckLogs => "a fixer is told what the check says of itself",
        }
    }
}

/// What one host, with one token, can do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Capabilities {
    pub kind: ForgeKind,
    /// As the server says it; empty where it does not.
    pub version: String,
    pub can: BTreeSet<Capability>,
    /// Bytes that one comment may hold.
    pub body_limit: usize,
}

impl Capabilities {
    pub fn can(&self, capability: Capability) -> bool {
        self.can.contains(&capability)
    }

    /// Can a submitted review be removed? GitHub removes only drafts.
    pub fn can_delete_reviews(&self) -> bool {
        match self.kind {
            ForgeKind::GitHub | ForgeKind::Local => false,
            ForgeKind::GitLab | ForgeKind::Gitea | ForgeKind::Forgejo => true,
        }
    }
}
