//! What GitHub says about a pull request and about people.

use super::graphql::BASE_CHANGES;
use super::shapes::{Found, PullShape, Role};
use super::{GitHub, roots};
use crate::http::client::segment;
use crate::http::credential::{AuthScheme, for_git};
use crate::port::{Answered, GitSource, Read};
use async_trait::async_trait;
use serde::Deserialize;
use serde_json::json;
use std::collections::BTreeSet;
use tribunal_core::pull::capability::{Capabilities, Capability};
use tribunal_core::pull::facts::{Account, Permission, Pull, PullFilter};
use tribunal_core::pull::fault::ForgeFault;
use tribunal_core::pull::place::{ForgeKind, Project};

/// GitHub counts characters; bytes are never fewer.
const BODY_LIMIT: usize = 65_536;

#[derive(Deserialize)]
struct Meta {
    /// Only an enterprise server has one.
    installed_version: Option<String>,
}

/// Of a repository.
#[derive(Deserialize)]
struct Facts {
    default_branch: String,
}

#[derive(Deserialize)]
struct OfRepository {
    repository: Option<OfPull>,
}

#[derive(Deserialize)]
struct OfPull {
    #[serde(rename = "pullRequest")]
    pull: Option<Timeline>,
}

#[derive(Deserialize)]
struct Timeline {
    #[serde(rename = "timelineItems")]
    items: BaseChanges,
}

#[derive(Deserialize)]
struct BaseChanges {
    nodes: Vec<BaseChange>,
}

#[derive(Deserialize)]
struct BaseChange {
    #[serde(rename = "createdAt")]
    created_at: String,
}

/// What GitHub can do for a token. Only an App makes check runs, and a tag is worth nothing to a token that is new in every run.
fn capabilities_of(is_app: bool, keeps_tags: bool) -> BTreeSet<Capability> {
    let left_out = |capability: &Capability| match capability {
        Capability::Annotations => !is_app,
        Capability::ConditionalRequests => !keeps_tags,
        // It has them, in a call of their own for each; the summary holds such a finding without.
        Capability::FileLevel => true,
        _ => false,
    };
    Capability::ALL.into_iter().filter(|capability| !left_out(capability)).collect()
}

#[async_trait]
impl Read for GitHub {
    fn project(&self) -> &Project {
        &self.project
    }

    async fn capabilities(&self) -> Answered<Capabilities> {
        let is_public = roots(&self.project.origin).0 == "https://api.github.com";
        let version = if is_public {
            String::new()
        } else {
            self.get::<Meta>("/meta", "the server's version").await?.installed_version.unwrap_or_default()
        };
        let can = capabilities_of(self.sessions.is_app(), self.sessions.keeps_tags());
        Ok(Capabilities { kind: ForgeKind::GitHub, version, can, body_limit: BODY_LIMIT })
    }

    async fn identity(&self) -> Answered<Account> {
        self.whoami().await
    }

    async fn trunk(&self) -> Answered<String> {
        Ok(self.get::<Facts>(&self.path(""), &self.project.path).await?.default_branch)
    }

    async fn pull(&self, number: u64) -> Answered<Pull> {
        let shape: PullShape = self.get(&self.path(&format!("/pulls/{number}")), &format!("pull request {number}")).await?;
        Ok(shape.into())
    }

    async fn pulls(&self, filter: &PullFilter) -> Answered<Vec<Pull>> {
        let mut query = format!("?state={}&per_page=100", if filter.all_states { "all" } else { "open" });
        if let Some(branch) = &filter.head_branch {
            let (owner, _) = self.project.owner_and_name();
            query.push_str(&format!("&head={}%3A{}", segment(owner), segment(branch)));
        }
        let shapes: Vec<PullShape> = self.pages(&self.path(&format!("/pulls{query}")), "pull requests").await?;
        // The owner's fork of the same name would pass the server's filter.
        Ok(shapes.into_iter().map(Pull::from).filter(|pull| filter.passes(pull)).collect())
    }

    async fn permission(&self, account: &Account) -> Answered<Permission> {
        let path = self.path(&format!("/collaborators/{}/permission", segment(&account.login)));
        let role: Role = match self.get(&path, &format!("the rights of {}", account.login)).await {
            Ok(role) => role,
            // No user of this name, as for most bots.
            Err(ForgeFault::NotFound { .. }) => return Ok(Permission::None),
            Err(fault) => return Err(fault),
        };
        // The login may be somebody else's by now.
        if !role.user.map(Account::from).is_some_and(|found| found.is(account)) {
            return Ok(Permission::None);
        }
        let by_name = |name: &str| match name {
            "admin" => Some(Permission::Admin),
            "maintain" | "write" => Some(Permission::Write),
            "triage" => Some(Permission::Triage),
            "read" => Some(Permission::Read),
            "none" => Some(Permission::None),
            _ => None,
        };
        // An organisation can have roles of its own; the old word then says what they amount to.
        let found = role.role_name.as_deref().and_then(by_name).or_else(|| by_name(&role.permission));
        found.ok_or_else(|| self.hollow(format!("a permission called `{}`", role.permission)))
    }

    async fn base_changed_at(&self, number: u64) -> Answered<Option<String>> {
        let (owner, name) = self.project.owner_and_name();
        let what = format!("base changes of {number}");
        let variables = json!({ "owner": owner, "name": name, "number": number });
        let said: OfRepository = self.query(BASE_CHANGES, variables, &what).await?;
        let pull = said.repository.and_then(|repository| repository.pull);
        let items = pull.ok_or_else(|| self.hollow(format!("{what}: no pull request")))?.items;
        Ok(items.nodes.into_iter().map(|change| change.created_at).next_back())
    }

    async fn has_contributed(&self, account: &Account) -> Answered<bool> {
        // An App is searched for by its name behind `app/`.
        let author = match account.login.strip_suffix("[bot]") {
            Some(app) => format!("app/{app}"),
            None => account.login.clone(),
        };
        let query = format!("repo:{} is:pr is:merged author:{author}", self.project.path);
        let found: Found = match self.get(&format!("/search/issues?q={}&per_page=10", segment(&query)), "merged work").await {
            Ok(found) => found,
            // GitHub refuses to search for people it does not know.
            Err(ForgeFault::Refused { status: 422, .. }) => return Ok(false),
            Err(fault) => return Err(fault),
        };
        let incomplete = found.incomplete_results;
        if found.items.into_iter().any(|mut item| item.author().is(account)) {
            return Ok(true);
        }
        if incomplete { Err(self.hollow("the search for merged work was cut short")) } else { Ok(false) }
    }

    fn source(&self, pull: &Pull) -> GitSource {
        let url = format!("{}/{}.git", self.project.origin, self.project.path);
        let basic = AuthScheme::Basic { user: "x-access-token".to_owned() };
        GitSource {
            authorization: self.sessions.git_token().and_then(|token| for_git(&token, &basic, &url)),
            url,
            head_ref: format!("refs/pull/{}/head", pull.number),
            base_ref: format!("refs/heads/{}", pull.base.branch),
        }
    }
}
