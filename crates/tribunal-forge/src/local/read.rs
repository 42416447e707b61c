//! Pull requests as facts.

use super::book::Kind;
use super::{Local, Locally, Seen, blocking, read};
use crate::git::Repository;
use crate::git::write::Signature;
use crate::port::{Answered, GitSource, Read};
use async_trait::async_trait;
use std::collections::BTreeSet;
use tribunal_core::ids::Sha;
use tribunal_core::pull::capability::{Capabilities, Capability};
use tribunal_core::pull::desk::BODY_LIMIT;
use tribunal_core::pull::desk::view::Weighed;
use tribunal_core::pull::facts::{Account, Mergeable, Permission, Pull, PullFilter, PullState};
use tribunal_core::pull::place::{ForgeKind, Project};

/// What a server would have to offer, or a button in a browser.
const CANNOT: [Capability; 4] =
    [Capability::Annotations, Capability::ConditionalRequests, Capability::FileLevel, Capability::Suggestions];

/// What any git repository can do.
pub fn capabilities_of() -> BTreeSet<Capability> {
    Capability::ALL.into_iter().filter(|able| !CANNOT.contains(able)).collect()
}

impl Local {
    pub async fn look_at(&self, number: u64) -> Locally<Pull> {
        let seen = self.seen(number).await?;
        self.facts(number, seen).await
    }

    pub(super) async fn facts(&self, number: u64, seen: Seen) -> Locally<Pull> {
        let (repository, signature) = (self.repository.clone(), self.signature());
        blocking(move || {
            let Seen { desk, live } = seen;
            let Ok(pull) = desk.pull() else { return Err(super::LocalFault::NoSuch { what: "pull request", number }) };
            let mergeable = match (pull.state(), pull.draft, &live.head, &live.base) {
                (PullState::Closed | PullState::Merged, ..) => Mergeable::Unknown,
                (PullState::Open, false, Some(head), Some(base)) if !live.is_empty => {
                    mergeable(&repository, head, base, signature)
                }
                // A draft, a branch that is gone, nothing to merge.
                (PullState::Open, ..) => Mergeable::Blocked,
            };
            let head = desk.head_now(&live).unwrap_or_else(|| pull.head.sha.clone());
            let changed_files = match (&pull.landed, &live.base) {
                (Some(landed), _) => changed(&repository, &landed.base_before, &landed.head),
                (None, Some(base)) => changed(&repository, base, &head),
                (None, None) => None,
            };
            Ok(desk.facts(pull, number, &live, Weighed { mergeable, changed_files }))
        })
        .await
    }

    pub async fn list(&self, filter: &PullFilter) -> Locally<Vec<Pull>> {
        let mut found = Vec::new();
        for page in self.book.list(Kind::Pull).await? {
            let seen = self.look(read(&page)?).await?;
            // To weigh one takes git, so those that cannot pass are left out before.
            let may_pass = seen.desk.pull().is_ok_and(|pull| {
                let of_branch = filter.head_branch.as_ref().is_none_or(|branch| *branch == pull.head.name);
                of_branch && (filter.all_states || pull.state() == PullState::Open)
            });
            if may_pass {
                found.extend(Some(self.facts(page.number, seen).await?).filter(|pull| filter.passes(pull)));
            }
        }
        Ok(found)
    }
}

fn mergeable(repository: &Repository, head: &Sha, base: &Sha, by: Signature) -> Mergeable {
    match repository.merges_cleanly(base, head, by) {
        Ok(true) => Mergeable::Yes,
        Ok(false) => Mergeable::Conflict,
        Err(_) => Mergeable::Unknown,
    }
}

/// How many files the head changes since it left the base.
fn changed(repository: &Repository, base: &Sha, head: &Sha) -> Option<u64> {
    let parted = repository.merge_base(base, head, "base", "head").ok()?;
    repository.count_changed(&parted, head).ok()
}

#[async_trait]
impl Read for Local {
    fn project(&self) -> &Project {
        &self.project
    }

    async fn capabilities(&self) -> Answered<Capabilities> {
        let can = capabilities_of();
        let repository = self.repository.clone();
        let version = blocking(move || Ok(repository.git_version()?)).await?;
        Ok(Capabilities { kind: ForgeKind::Local, version, can, body_limit: BODY_LIMIT })
    }

    async fn trunk(&self) -> Answered<String> {
        let repository = self.repository.clone();
        let full = blocking(move || Ok(repository.default_branch()?)).await?;
        let short = full.strip_prefix("refs/heads/").map(str::to_owned);
        let of_remote = || full.strip_prefix("refs/remotes/").and_then(|rest| Some(rest.split_once('/')?.1.to_owned()));
        Ok(short.or_else(of_remote).unwrap_or_else(|| full.clone()))
    }

    async fn identity(&self) -> Answered<Account> {
        Ok(self.me.clone())
    }

    async fn pull(&self, number: u64) -> Answered<Pull> {
        Ok(self.look_at(number).await?)
    }

    async fn pulls(&self, filter: &PullFilter) -> Answered<Vec<Pull>> {
        Ok(self.list(filter).await?)
    }

    /// Whoever can say something here can write the repository's folder; there is nobody else.
    async fn permission(&self, _: &Account) -> Answered<Permission> {
        Ok(Permission::Write)
    }

    async fn base_changed_at(&self, _: u64) -> Answered<Option<String>> {
        Ok(None)
    }

    async fn has_contributed(&self, account: &Account) -> Answered<bool> {
        for page in self.book.list(Kind::Pull).await.map_err(super::LocalFault::from)? {
            let seen = self.look(read(&page)?).await?;
            let is_merged = seen.desk.pull().is_ok_and(|pull| pull.state() == PullState::Merged);
            if is_merged && seen.desk.author.is(account) {
                return Ok(true);
            }
        }
        let (repository, email) = (self.repository.clone(), account.id.clone());
        Ok(blocking(move || Ok(repository.has_commit_by(&email))).await?)
    }

    fn source(&self, pull: &Pull) -> GitSource {
        GitSource {
            url: self.repository.common_dir.display().to_string(),
            head_ref: format!("refs/heads/{}", pull.head.branch),
            base_ref: format!("refs/heads/{}", pull.base.branch),
            authorization: None,
        }
    }
}
