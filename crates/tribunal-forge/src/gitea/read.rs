//! Pull requests and people.

use super::wire;
use super::{Gitea, Hides, MAX_PAGES, PAGE};
use crate::http::client::segment;
use crate::http::credential::{AuthScheme, for_git};
use crate::port::{Answered, GitSource, Read};
use async_trait::async_trait;
use std::collections::BTreeSet;
use tribunal_core::calendar::millis_of;
use tribunal_core::pull::capability::Capabilities;
use tribunal_core::pull::facts::{Account, Permission, Pull, PullFilter};
use tribunal_core::pull::fault::ForgeFault;
use tribunal_core::pull::place::Project;

/// Somebody whose last two hundred pull requests were all turned down is no contributor.
const MAX_PAGES_OF_AN_AUTHOR: usize = 4;

/// So many pages of things that happened to a pull request may be hidden in one piece, besides comments on lines: a thousand mentions.
pub(super) const HIDDEN_PAGES: usize = 20;
/// The same in the repository itself, where whoever pushed could write, and nothing is merged that we have not reviewed.
const FEW_HIDDEN_PAGES: usize = 3;

#[async_trait]
impl Read for Gitea {
    fn project(&self) -> &Project {
        &self.project
    }

    async fn capabilities(&self) -> Answered<Capabilities> {
        self.find_capabilities().await
    }

    async fn identity(&self) -> Answered<Account> {
        self.find_identity().await.cloned()
    }

    async fn trunk(&self) -> Answered<String> {
        let repository: wire::Repository = self.http.get(&self.repo(""), &self.project.path).await?;
        repository.default_branch.ok_or_else(|| self.hollow("the repository names no default branch"))
    }

    async fn pull(&self, number: u64) -> Answered<Pull> {
        let what = format!("pull request {number}");
        let pull: wire::Pull = self.http.get(&self.repo(&format!("/pulls/{number}")), &what).await?;
        if pull.number != number {
            return Err(self.hollow(format!("{what} was asked for and {} answered", pull.number)));
        }
        pull.facts(self.made_here().await?).map_err(|message| self.hollow(message))
    }

    /// The server filters by neither branch nor the name of a label.
    async fn pulls(&self, filter: &PullFilter) -> Answered<Vec<Pull>> {
        let state = if filter.all_states { "all" } else { "open" };
        let listed: Vec<wire::Pull> = self.list(&self.repo(&format!("/pulls?state={state}")), "the pull requests").await?;
        let made_here = self.made_here().await?;
        let mut pulls = Vec::new();
        for pull in listed {
            let pull = match (pull.facts(made_here), filter.all_states) {
                (Ok(pull), _) => pull,
                // Of an old one git may have nothing left; that must not hide the others.
                (Err(_), true) => continue,
                (Err(message), false) => return Err(self.hollow(message)),
            };
            pulls.extend(Some(pull).filter(|pull| filter.passes(pull)));
        }
        Ok(pulls)
    }

    async fn permission(&self, account: &Account) -> Answered<Permission> {
        let what = format!("the rights of {}", account.login);
        let path = self.repo(&format!("/collaborators/{}/permission", segment(&account.login)));
        let found: wire::Permission = match self.http.get(&path, &what).await {
            Ok(found) => found,
            Err(fault @ ForgeFault::Forbidden { .. }) => return self.permission_by_list(account, fault).await,
            // Nobody is called that any more.
            Err(ForgeFault::NotFound { .. }) => return Ok(Permission::None),
            Err(fault) => return Err(fault),
        };
        // A login can be given up and taken by somebody else (CF-10).
        if !found.user.account().is(account) {
            return Ok(Permission::None);
        }
        match found.permission.as_str() {
            "owner" | "admin" => Ok(Permission::Admin),
            "write" => self.written_by_teams(account).await,
            "read" => Ok(Permission::Read),
            "none" => Ok(Permission::None),
            other => Err(self.hollow(format!("{what}: `{other}`"))),
        }
    }

    async fn pushers(&self, pull: &Pull) -> Answered<Vec<Account>> {
        let hidden_pages = if pull.is_fork { HIDDEN_PAGES } else { FEW_HIDDEN_PAGES };
        let events = self.events(pull.number, hidden_pages).await?;
        let is_hidden = pull.is_fork && events.iter().any(wire::Event::hides_earlier_pushers);
        if is_hidden && !self.is_pushed_to_by_its_author_alone(pull).await? {
            return Err(self.unsupported("telling who pushed before a push by force or a change of the base"));
        }
        Ok(events.into_iter().filter_map(wire::Event::pusher).collect())
    }

    async fn base_changed_at(&self, number: u64) -> Answered<Option<String>> {
        Ok(self.events(number, HIDDEN_PAGES).await?.into_iter().filter_map(wire::Event::base_change).next_back())
    }

    async fn has_contributed(&self, account: &Account) -> Answered<bool> {
        let author = segment(&account.login);
        let path = self.repo(&format!("/issues?type=pulls&state=closed&created_by={author}"));
        let what = format!("the pull requests of {}", account.login);
        let closed: Vec<wire::Issue> = match self.first_pages(&path, &what, MAX_PAGES_OF_AN_AUTHOR, Hides::Nothing).await {
            Ok(found) => found.items,
            // Nobody is called that any more.
            Err(ForgeFault::NotFound { .. } | ForgeFault::Refused { status: 422, .. }) => return Ok(false),
            Err(fault) => return Err(fault),
        };
        let made_here = self.made_here().await?;
        let mut merged = closed.into_iter().filter(|issue| issue.pull_request.as_ref().is_some_and(|pull| pull.merged));
        Ok(merged.any(|issue| issue.facts(made_here).author.is(account)))
    }

    fn source(&self, pull: &Pull) -> GitSource {
        let url = format!("{}/{}.git", self.project.origin, self.project.path);
        GitSource {
            authorization: self.token.as_ref().and_then(|token| for_git(token, &AuthScheme::Token, &url)),
            url,
            head_ref: format!("refs/pull/{}/head", pull.number),
            base_ref: format!("refs/heads/{}", pull.base.branch),
        }
    }
}

impl Gitea {
    /// Asked once: a repository is made once.
    pub(super) async fn made_here(&self) -> Answered<wire::MadeHere> {
        let find = || async {
            let repository: wire::Repository = self.http.get(&self.repo(""), &self.project.path).await?;
            let unread = |date: String| self.hollow(format!("the repository was made at `{date}`"));
            let made = repository.created_at.map(|date| millis_of(&date).ok_or_else(|| unread(date))).transpose()?;
            Ok::<_, ForgeFault>(wire::MadeHere(made))
        };
        self.made_here.get_or_try_init(find).await.copied()
    }

    /// What happened to a pull request, but for comments on lines, and mentions elsewhere that this account may not see.
    ///
    /// The server cuts pages before it takes these out, and counts nothing, so a page without an entry need not be the end: whoever adds
    /// enough of them hides what happens next. Comments on lines are counted among the reviews. The rest may
    /// fill `hidden_pages` in one piece; and our own reviews must be among the entries, so that nothing that came before one of them is missing.
    pub(super) async fn events(&self, number: u64, hidden_pages: usize) -> Answered<Vec<wire::Event>> {
        let what = format!("what happened to pull request {number}");
        // Without a token there is nothing of ours.
        let me = if self.token.is_some() { Some(self.find_identity().await?) } else { None };
        let reviews = self.shown_reviews(number).await?.items;
        let on_lines: usize = reviews.iter().map(|review| review.comments_count).sum();
        let hides = Hides::Kinds { empty_pages: hidden_pages + on_lines.div_ceil(PAGE) };
        let read = self.first_pages(&self.repo(&format!("/issues/{number}/timeline")), &what, MAX_PAGES, hides).await?;
        self.ended(&read, &what)?;
        let told: BTreeSet<i64> = read.items.iter().filter_map(wire::Event::review).collect();
        let is_ours = |review: &&wire::Review| me.is_some_and(|me| review.user.as_ref().is_some_and(|user| user.is(me)));
        match reviews.iter().filter(is_ours).find(|review| review.is_submitted() && !told.contains(&review.id)) {
            Some(review) => Err(self.hollow(format!("{what} lacks our review {}", review.id))),
            None => Ok(read.items),
        }
    }

    /// Does the head come from a repository of the author's own, to which nobody else may push?
    async fn is_pushed_to_by_its_author_alone(&self, pull: &Pull) -> Answered<bool> {
        let Some((owner, name)) = pull.head.repository.as_deref().and_then(|path| path.split_once('/')) else {
            return Ok(false);
        };
        if !owner.eq_ignore_ascii_case(&pull.author.login) {
            return Ok(false);
        }
        let path = format!("/repos/{}/{}/collaborators", segment(owner), segment(name));
        match self.list::<wire::User>(&path, "who may push to the fork").await {
            Ok(others) => Ok(others.is_empty()),
            Err(fault) if fault.may_pass() => Err(fault),
            Err(_) => Ok(false),
        }
    }

    /// Only an administrator may ask for the rights of others. Everybody may see who can be given work, and in a person's repository
    /// that is exactly who may write; in an organisation's it is not, so there the refusal stands.
    async fn permission_by_list(&self, account: &Account, refusal: ForgeFault) -> Answered<Permission> {
        match self.http.read(&self.repo("/teams"), "the teams").await {
            Err(ForgeFault::Refused { status: 405, .. }) => {}
            Ok(_) | Err(_) => return Err(refusal),
        }
        let writers: Vec<wire::User> = self.uncounted(&self.repo("/assignees"), "who may write").await?;
        let (owner, _) = self.project.owner_and_name();
        let found = writers.into_iter().map(wire::User::account).find(|writer| writer.is(account));
        Ok(match found {
            Some(writer) if writer.login.eq_ignore_ascii_case(owner) => Permission::Admin,
            Some(_) => Permission::Write,
            None => Permission::Read,
        })
    }
}
