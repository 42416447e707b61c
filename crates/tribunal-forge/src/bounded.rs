//! A forge whose every call has bounds, with all that it leads to. One list leads to others (a review to its comments, a thread to its
//! pages), so a server could answer each request quickly and keep us busy for ever.
//!
//! Each method does nothing but pass the call on. A test holds this list against the port's.

use crate::http::limits::{OperationLimits, within};
use crate::port::{Answered, CheckCommit, Discuss, Forge, GitSource, Issues, Merge, React, Read, Resolve, ReviewPull};
use async_trait::async_trait;
use tribunal_core::ids::Sha;
use tribunal_core::publish::outgoing::Outgoing;
use tribunal_core::pull::capability::Capabilities;
use tribunal_core::pull::facts::{Account, BaseRules, Check, Issue, MergeOrder, Permission, Pull, PullFilter};
use tribunal_core::pull::place::Project;
use tribunal_core::pull::pushable::Pushable;
use tribunal_core::pull::talk::{
    Comment, Emoji, NewCheckRun, NewIssue, NewPull, NewReview, NewStatus, Reaction, ReactionTarget, Review, Submitted, Thread,
};

pub struct Bounded<F> {
    forge: F,
    limits: OperationLimits,
}

impl<F: Forge> Bounded<F> {
    pub fn new(forge: F) -> Self {
        Bounded::with_limits(forge, OperationLimits::default())
    }

    pub fn with_limits(forge: F, limits: OperationLimits) -> Self {
        Bounded { forge, limits }
    }
}

#[async_trait]
impl<F: Forge> Read for Bounded<F> {
    fn project(&self) -> &Project {
        self.forge.project()
    }

    async fn capabilities(&self) -> Answered<Capabilities> {
        within(&self.limits, self.forge.capabilities()).await
    }

    async fn identity(&self) -> Answered<Account> {
        within(&self.limits, self.forge.identity()).await
    }

    async fn trunk(&self) -> Answered<String> {
        within(&self.limits, self.forge.trunk()).await
    }

    async fn pull(&self, number: u64) -> Answered<Pull> {
        within(&self.limits, self.forge.pull(number)).await
    }

    async fn pulls(&self, filter: &PullFilter) -> Answered<Vec<Pull>> {
        within(&self.limits, self.forge.pulls(filter)).await
    }

    async fn pushers(&self, pull: &Pull) -> Answered<Vec<Account>> {
        within(&self.limits, self.forge.pushers(pull)).await
    }

    async fn permission(&self, account: &Account) -> Answered<Permission> {
        within(&self.limits, self.forge.permission(account)).await
    }

    async fn base_changed_at(&self, number: u64) -> Answered<Option<String>> {
        within(&self.limits, self.forge.base_changed_at(number)).await
    }

    async fn has_contributed(&self, account: &Account) -> Answered<bool> {
        within(&self.limits, self.forge.has_contributed(account)).await
    }

    fn source(&self, pull: &Pull) -> GitSource {
        self.forge.source(pull)
    }
}

#[async_trait]
impl<F: Forge> Discuss for Bounded<F> {
    async fn comments(&self, number: u64) -> Answered<Vec<Comment>> {
        within(&self.limits, self.forge.comments(number)).await
    }

    async fn comment(&self, number: u64, body: &Outgoing) -> Answered<Comment> {
        within(&self.limits, self.forge.comment(number, body)).await
    }

    async fn edit_comment(&self, number: u64, id: &str, body: &Outgoing) -> Answered<()> {
        within(&self.limits, self.forge.edit_comment(number, id, body)).await
    }

    async fn delete_comment(&self, number: u64, id: &str) -> Answered<()> {
        within(&self.limits, self.forge.delete_comment(number, id)).await
    }
}

#[async_trait]
impl<F: Forge> ReviewPull for Bounded<F> {
    async fn reviews(&self, number: u64) -> Answered<Vec<Review>> {
        within(&self.limits, self.forge.reviews(number)).await
    }

    async fn drafted(&self, number: u64, review: &str) -> Answered<Vec<String>> {
        within(&self.limits, self.forge.drafted(number, review)).await
    }

    async fn threads(&self, number: u64) -> Answered<Vec<Thread>> {
        within(&self.limits, self.forge.threads(number)).await
    }

    async fn reviews_and_threads(&self, number: u64) -> Answered<(Vec<Review>, Vec<Thread>)> {
        within(&self.limits, self.forge.reviews_and_threads(number)).await
    }

    async fn submit(&self, number: u64, review: &NewReview) -> Answered<Submitted> {
        within(&self.limits, self.forge.submit(number, review)).await
    }

    async fn delete_review(&self, number: u64, review: &str) -> Answered<()> {
        within(&self.limits, self.forge.delete_review(number, review)).await
    }

    async fn delete_pending(&self, number: u64, review: &str) -> Answered<()> {
        within(&self.limits, self.forge.delete_pending(number, review)).await
    }

    async fn reply(&self, number: u64, thread: &Thread, body: &Outgoing) -> Answered<()> {
        within(&self.limits, self.forge.reply(number, thread, body)).await
    }

    async fn delete_inline(&self, number: u64, comment: &str) -> Answered<()> {
        within(&self.limits, self.forge.delete_inline(number, comment)).await
    }
}

#[async_trait]
impl<F: Forge> Resolve for Bounded<F> {
    async fn resolve(&self, number: u64, thread: &Thread) -> Answered<()> {
        within(&self.limits, self.forge.resolve(number, thread)).await
    }

    async fn unresolve(&self, number: u64, thread: &Thread) -> Answered<()> {
        within(&self.limits, self.forge.unresolve(number, thread)).await
    }
}

#[async_trait]
impl<F: Forge> CheckCommit for Bounded<F> {
    async fn checks(&self, sha: &Sha) -> Answered<Vec<Check>> {
        within(&self.limits, self.forge.checks(sha)).await
    }

    async fn set_status(&self, sha: &Sha, status: &NewStatus) -> Answered<()> {
        within(&self.limits, self.forge.set_status(sha, status)).await
    }

    async fn check_log(&self, check: &Check) -> Answered<Option<String>> {
        within(&self.limits, self.forge.check_log(check)).await
    }

    async fn check_run(&self, sha: &Sha, run: &NewCheckRun) -> Answered<()> {
        within(&self.limits, self.forge.check_run(sha, run)).await
    }
}

#[async_trait]
impl<F: Forge> Merge for Bounded<F> {
    async fn open(&self, pull: &NewPull) -> Answered<Pull> {
        within(&self.limits, self.forge.open(pull)).await
    }

    async fn merge(&self, number: u64, order: &MergeOrder) -> Answered<()> {
        within(&self.limits, self.forge.merge(number, order)).await
    }

    async fn update_branch(&self, branch: &Pushable) -> Answered<()> {
        within(&self.limits, self.forge.update_branch(branch)).await
    }

    async fn base_rules(&self, branch: &str) -> Answered<BaseRules> {
        within(&self.limits, self.forge.base_rules(branch)).await
    }

    async fn close(&self, number: u64) -> Answered<()> {
        within(&self.limits, self.forge.close(number)).await
    }
}

#[async_trait]
impl<F: Forge> Issues for Bounded<F> {
    async fn issue(&self, number: u64) -> Answered<Issue> {
        within(&self.limits, self.forge.issue(number)).await
    }

    async fn find_issues(&self, words: &str) -> Answered<Vec<Issue>> {
        within(&self.limits, self.forge.find_issues(words)).await
    }

    async fn issues_since(&self, since: Option<&str>) -> Answered<Vec<Issue>> {
        within(&self.limits, self.forge.issues_since(since)).await
    }

    async fn issue_children(&self, number: u64, keyword: &str) -> Answered<Vec<Issue>> {
        within(&self.limits, self.forge.issue_children(number, keyword)).await
    }

    async fn issue_comments(&self, number: u64) -> Answered<Vec<Comment>> {
        within(&self.limits, self.forge.issue_comments(number)).await
    }

    async fn comment_on_issue(&self, number: u64, body: &Outgoing) -> Answered<()> {
        within(&self.limits, self.forge.comment_on_issue(number, body)).await
    }

    async fn create_issue(&self, issue: &NewIssue) -> Answered<Issue> {
        within(&self.limits, self.forge.create_issue(issue)).await
    }

    async fn close_issue(&self, number: u64) -> Answered<()> {
        within(&self.limits, self.forge.close_issue(number)).await
    }

    async fn add_label(&self, number: u64, label: &Outgoing) -> Answered<()> {
        within(&self.limits, self.forge.add_label(number, label)).await
    }

    async fn remove_label(&self, number: u64, label: &str) -> Answered<()> {
        within(&self.limits, self.forge.remove_label(number, label)).await
    }

    async fn request_review(&self, number: u64, logins: &[String]) -> Answered<()> {
        within(&self.limits, self.forge.request_review(number, logins)).await
    }
}

#[async_trait]
impl<F: Forge> React for Bounded<F> {
    async fn reactions(&self, number: u64, target: &ReactionTarget) -> Answered<Vec<Reaction>> {
        within(&self.limits, self.forge.reactions(number, target)).await
    }

    async fn react(&self, number: u64, target: &ReactionTarget, emoji: Emoji) -> Answered<()> {
        within(&self.limits, self.forge.react(number, target, emoji)).await
    }
}

#[cfg(test)]
mod tests {
    /// A method that the port gains must be passed on here, also where the port has a default for it.
    #[test]
    fn every_call_of_the_port_is_bounded() {
        let methods = |text: &'static str| -> Vec<&'static str> {
            let names = text.lines().map(str::trim_start).filter_map(|line| {
                let rest = line.strip_prefix("async fn ").or_else(|| line.strip_prefix("fn "))?;
                rest.split('(').next().filter(|_| rest.contains("&self") || rest.ends_with('('))
            });
            names.collect()
        };
        let port = methods(include_str!("port.rs"));
        let here = methods(include_str!("bounded.rs"));
        assert!(port.len() > 30, "{port:?}");
        let missing: Vec<&&str> = port.iter().filter(|name| !here.contains(name)).collect();
        assert!(missing.is_empty(), "{missing:?} must be passed on by Bounded");
    }
}
