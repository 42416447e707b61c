//! What this server can do, and whom our token speaks for. Both are found out once and kept.
//!
//! Versions say little: one of the two flavours still calls itself a version of the other from years ago. The server describes its
//! routes itself; only where that page is switched off does the version decide.

use super::wire::{TokenInfo, User, Version};
use super::{Flavour, Gitea};
use crate::port::Answered;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tribunal_core::pull::capability::{Capabilities, Capability};
use tribunal_core::pull::facts::Account;
use tribunal_core::pull::fault::ForgeFault;

/// No limit is documented or was met; this is what a person still scrolls through.
const BODY_LIMIT: usize = 256 * 1024;

/// To be raised whenever more is asked of the list of routes: what was kept before does not say it.
const SHELF: &str = "gitea-abilities-2";

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Abilities {
    pub version: String,
    pub resolve: bool,
    /// A reply to a comment.
    pub reply: bool,
    /// A comment added to a review that is there already.
    pub add_to_review: bool,
    pub several_lines: bool,
    /// What a job printed.
    #[serde(default)]
    pub job_logs: bool,
}

impl Abilities {
    fn described(version: String, description: &Value) -> Self {
        let posts = |path: &str| !description["paths"][format!("/repos/{{owner}}/{{repo}}/pulls{path}")]["post"].is_null();
        let gets = |path: &str| !description["paths"][format!("/repos/{{owner}}/{{repo}}/actions{path}")]["get"].is_null();
        let new_comment = &description["definitions"]["CreatePullReviewComment"]["properties"];
        Abilities {
            version,
            resolve: posts("/comments/{id}/resolve") && posts("/comments/{id}/unresolve"),
            reply: posts("/{index}/comments/{id}/replies"),
            add_to_review: posts("/{index}/reviews/{id}/comments"),
            several_lines: !new_comment["extra_lines_count"].is_null(),
            job_logs: gets("/jobs/{job_id}/logs"),
        }
    }

    fn guessed(version: String) -> Self {
        let numbers: Vec<u32> = version.split(['.', '-', '+']).map_while(|part| part.parse().ok()).collect();
        let at_least = |wanted: [u32; 2]| numbers.as_slice() >= wanted.as_slice();
        let forgejo = version.contains("+gitea-");
        Abilities {
            resolve: !forgejo && at_least([1, 26]),
            reply: !forgejo && at_least([1, 27]),
            add_to_review: forgejo,
            several_lines: forgejo && at_least([16, 0]),
            job_logs: if forgejo { at_least([17, 0]) } else { at_least([1, 25]) },
            version,
        }
    }

    fn capabilities(&self, flavour: Flavour) -> Capabilities {
        let mut can = std::collections::BTreeSet::from([
            Capability::OneCallReview,
            // Without a route for it a comment on the same line does, which joins the conversation.
            Capability::Reply,
            Capability::CommitStatus,
            Capability::Approve,
            Capability::Reactions,
            Capability::GuardedMerge,
            Capability::UpdateBranch,
            Capability::Issues,
        ]);
        if self.resolve {
            can.insert(Capability::Resolve);
        }
        if self.several_lines {
            can.insert(Capability::MultiLine);
        }
        if self.job_logs {
            can.insert(Capability::CheckLogs);
        }
        Capabilities { kind: flavour.kind(), version: self.version.clone(), can, body_limit: BODY_LIMIT }
    }
}

impl Gitea {
    pub(super) async fn abilities(&self) -> Answered<&Abilities> {
        self.abilities.get_or_try_init(|| self.find_abilities()).await
    }

    async fn find_abilities(&self) -> Answered<Abilities> {
        let version = self.http.get::<Version>("/version", "the server's version").await?.version;
        let key = [self.project.origin.as_str(), version.as_str()];
        if let Some(kept) = self.shelf.find(SHELF, &key) {
            return Ok(kept);
        }
        let page = format!("{}/swagger.v1.json", self.project.origin);
        let found = match self.http.get::<Value>(&page, "the list of routes").await {
            Ok(description) => Abilities::described(version.clone(), &description),
            // Later it may be there; a guess that is kept would hide it for good.
            Err(fault) if fault.may_pass() => return Err(fault),
            Err(_) => return Ok(Abilities::guessed(version)),
        };
        self.shelf.keep(SHELF, &key, &found);
        Ok(found)
    }

    pub(super) async fn find_capabilities(&self) -> Answered<Capabilities> {
        Ok(self.abilities().await?.capabilities(self.flavour))
    }

    pub(super) async fn find_identity(&self) -> Answered<&Account> {
        self.identity.get_or_try_init(|| self.ask_identity()).await
    }

    async fn ask_identity(&self) -> Answered<Account> {
        let Some(token) = &self.token else {
            let message = "no token is for this server".to_owned();
            return Err(ForgeFault::Unauthorized { host: self.http.host().to_owned(), message });
        };
        let owner = token.digest();
        let key = [self.project.origin.as_str(), owner.as_str()];
        if let Some(kept) = self.shelf.find("gitea-identity", &key) {
            return Ok(kept);
        }
        let account = self.ask_token().await?.account();
        self.shelf.keep("gitea-identity", &key, &account);
        Ok(account)
    }

    /// The token says whose it is, whatever it may do; the account's own page wants a scope of its own, but is everywhere.
    async fn ask_token(&self) -> Answered<User> {
        if self.flavour == Flavour::Gitea {
            match self.http.get::<TokenInfo>("/token", "the token").await {
                Ok(info) => return Ok(info.user),
                Err(ForgeFault::NotFound { .. } | ForgeFault::Forbidden { .. } | ForgeFault::Refused { .. }) => {}
                Err(fault) => return Err(fault),
            }
        }
        self.http.get("/user", "the token's account").await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// forges.md 3, capability by version.
    #[test]
    fn a_version_stands_in_for_the_list_of_routes() {
        let guess = |version: &str| {
            let found = Abilities::guessed(version.to_owned());
            (found.resolve, found.reply, found.add_to_review, found.several_lines)
        };
        assert_eq!(guess("1.25.4"), (false, false, false, false));
        assert_eq!(guess("1.26.0+dev-12-gabc"), (true, false, false, false));
        assert_eq!(guess("1.27.3"), (true, true, false, false));
        assert_eq!(guess("15.0.1+gitea-1.22.0"), (false, false, true, false));
        assert_eq!(guess("16.0.0+gitea-1.22.0"), (false, false, true, true));
        assert_eq!(guess("development"), (false, false, false, false));
    }

    #[test]
    fn routes_say_what_can_be_done() {
        let description = json!({
            "paths": {
                "/repos/{owner}/{repo}/pulls/{index}/reviews/{id}/comments": { "get": {}, "post": {} },
                "/repos/{owner}/{repo}/pulls/comments/{id}/resolve": { "post": {} }
            },
            "definitions": { "CreatePullReviewComment": { "properties": { "extra_lines_count": {} } } }
        });
        let found = Abilities::described("17".into(), &description);
        assert!(found.add_to_review && found.several_lines && !found.reply);
        // Half of it is nothing: what cannot be taken back is not offered.
        assert!(!found.resolve);
        let capabilities = found.capabilities(Flavour::Forgejo);
        assert!(capabilities.can(Capability::MultiLine) && !capabilities.can(Capability::Resolve));
    }
}
