//! Reading the whole conversation, and whether everything is in a state that may be worked on.

use super::{Remedies, lint};
use crate::EngineError;
use crate::effects::blocking;
use crate::effects::on_forge::OnForge;
use std::collections::BTreeSet;
use std::sync::Arc;
use tribunal_core::feedback::baseline::Baseline;
use tribunal_core::feedback::gather::{Gathered, Notice, Said, gather, speakers};
use tribunal_core::feedback::injection::scan;
use tribunal_core::feedback::lint::{LintFile, Linted};
use tribunal_core::feedback::reviewer::{Filter, approvals_by_reaction};
use tribunal_core::feedback::right::Permissions;
use tribunal_core::ids::{RepoPath, Sha};
use tribunal_core::policy::identity::Bots;
use tribunal_core::procedure::remediate::{Input, Preflight, PullFacts, Seen, SeenItem, State, seen};
use tribunal_core::publish::marker::MarkerKey;
use tribunal_core::pull::capability::Capability;
use tribunal_core::pull::facts::{Account, Check, Pull, PullState};
use tribunal_core::pull::fault::ForgeFault;
use tribunal_core::pull::place::{ForgeKind, Place};
use tribunal_core::pull::pushable::NotPushable;
use tribunal_core::pull::talk::{Comment, Reaction, ReactionTarget, Review, Thread};
use tribunal_core::remedy::signals::young_files;
use tribunal_forge::git::change::ChangeBase;

/// Young files, and each file of results with its items.
type Brought = (BTreeSet<RepoPath>, Vec<(LintFile, Linted)>);

/// Everything that is said on a pull request, as the forge gave it.
pub(crate) struct Heard {
    pub pull: Pull,
    pub comments: Vec<Comment>,
    pub reviews: Vec<Review>,
    pub threads: Vec<Thread>,
    pub checks: Vec<Check>,
    pub reactions: Vec<Reaction>,
    pub me: Account,
    pub kind: ForgeKind,
    pub case_id: String,
    /// Of those who speak; empty until somebody has asked.
    pub permissions: Permissions,
}

impl Heard {
    /// Looks up what those may do who speak here.
    pub async fn look_up(&mut self, on: &OnForge, extra: &Bots) -> Result<(), ForgeFault> {
        self.permissions = on.permissions(&speakers(&self.said(&on.key, extra))).await?;
        Ok(())
    }

    pub fn said<'a>(&'a self, key: &'a MarkerKey, extra: &'a Bots) -> Said<'a> {
        Said {
            pull: &self.pull,
            comments: &self.comments,
            reviews: &self.reviews,
            threads: &self.threads,
            checks: &self.checks,
            me: &self.me,
            case_id: &self.case_id,
            key,
            extra,
            permissions: &self.permissions,
            others_edit: self.kind.lets_others_edit(),
        }
    }

    pub fn is_running(&self, gathered: &Gathered, extra: &Bots, filter: &Filter) -> bool {
        seen::is_running(gathered, &self.reactions, &self.me, filter, extra)
    }

    pub fn baseline(&self, key: &MarkerKey, extra: &Bots, filter: &Filter) -> Baseline {
        let by_reaction = approvals_by_reaction(&self.reactions, &self.me, extra);
        Baseline::of(&self.said(key, extra), &by_reaction, filter)
    }
}

/// Reads everything that is said on a pull request.
pub(crate) async fn hear(on: &OnForge, place: &Place) -> Result<Heard, ForgeFault> {
    let (forge, number) = (&on.forge, place.number);
    let (pull, comments, (reviews, mut threads), me, capabilities) = tokio::try_join!(
        forge.pull(number),
        forge.comments(number),
        forge.reviews_and_threads(number),
        forge.identity(),
        forge.capabilities()
    )?;
    if !capabilities.can(Capability::Resolve) {
        threads.iter_mut().for_each(|thread| thread.can_resolve = Some(false));
    }
    let reacts = async {
        if capabilities.can(Capability::Reactions) {
            forge.reactions(number, &ReactionTarget::Pull).await
        } else {
            Ok(Vec::new())
        }
    };
    let (checks, reactions) = tokio::try_join!(forge.checks(&pull.head.sha), reacts)?;
    let case_id = place.case_id();
    let (kind, permissions) = (place.kind, Permissions::default());
    Ok(Heard { pull, comments, reviews, threads, checks, reactions, me, kind, case_id, permissions })
}

impl Remedies {
    pub(super) async fn prepare(&self, state: &State) -> Result<Input, EngineError> {
        let number = state.request.place.number;
        let checked = async {
            let (pull, trunk, _) = tokio::try_join!(self.on.forge.pull(number), self.on.forge.trunk(), self.on.forge.identity())?;
            Ok::<(Pull, String), ForgeFault>((pull, trunk))
        };
        let (pull, trunk) = match checked.await {
            Ok(found) => found,
            Err(fault) if fault.may_pass() => return Err(fault.into()),
            Err(fault) => return Ok(Input::Prepared(Err(fault.to_string()))),
        };
        let unfit = self.unsafe_state(state, &pull).await?;
        let not_pushable = NotPushable::of(pull.is_fork, &self.on.head_makers(&pull).await?);
        Ok(Input::Prepared(Ok(Box::new(Preflight { pull: facts(&pull), trunk, unfit, not_pushable }))))
    }

    /// WL-18, where our pushes would touch somebody's files.
    async fn unsafe_state(&self, state: &State, pull: &Pull) -> Result<Option<String>, EngineError> {
        if state.request.place.kind != ForgeKind::Local || pull.state != PullState::Open {
            return Ok(None);
        }
        let (repository, branch, head) = (Arc::clone(&self.repository), pull.head.branch.clone(), pull.head.sha.clone());
        let fit = blocking(move || repository.checked_out(&branch, &head, &head).map(drop));
        Ok(fit.await?.err().map(|error| error.to_string()))
    }

    /// Everything that is said, and who of those who speak may write.
    pub(super) async fn hear(&self, state: &State) -> Result<Heard, ForgeFault> {
        let mut heard = hear(&self.on, &state.request.place).await?;
        heard.look_up(&self.on, &state.request.loops.bots).await?;
        // Linters' words are about the head, too.
        if !state.request.loops.sarif.is_empty() {
            let told = self.on.permission(&heard.pull.author).await?;
            let author = heard.pull.author.clone();
            heard.permissions.put(&author, told);
        }
        Ok(heard)
    }

    pub(super) async fn read(&self, state: &State) -> Result<Input, EngineError> {
        let heard = match self.hear(state).await {
            Ok(heard) => heard,
            Err(fault) if fault.may_pass() => return Err(fault.into()),
            Err(fault) => return Ok(Input::Seen(Err(fault.to_string()))),
        };
        let filter = match state.request.loops.reviewer.parse::<Filter>() {
            Ok(filter) => filter,
            Err(problem) => return Ok(Input::Seen(Err(problem.to_string()))),
        };
        let files = match self.lint_files(&state.request.loops).await {
            Ok(files) => files,
            Err(problem) => return Ok(Input::Seen(Err(problem))),
        };
        let (young, linted) = match self.bring(state, &heard.pull, files).await? {
            Ok(brought) => brought,
            Err(problem) => return Ok(Input::Seen(Err(problem))),
        };
        let extra = &state.request.loops.bots;
        let said = heard.said(&self.on.key, extra);
        let mut gathered = gather(&said);
        self.add_logs(state, &heard, &filter, &mut gathered).await;
        self.add_lints(&linted, &mut gathered, &said.right_of_head());
        let items: Vec<SeenItem> = gathered
            .items
            .iter()
            .map(|item| SeenItem {
                in_scope: filter.covers(&item.voice, &item.author),
                right: gathered.right(&item.id),
                suspicion: gathered.raw.get(&item.id).and_then(|raw| scan(raw)),
                item: item.clone(),
            })
            .collect();
        let in_scope = |notice: &&Notice| notice.right.is_granted() && filter.covers(&notice.voice, &notice.by);
        let quota = gathered.left.quota.iter().find(in_scope);
        let satisfied = gathered.left.satisfied.iter().filter(in_scope).map(|notice| notice.place.clone()).collect();
        let seen = Seen {
            pull: facts(&heard.pull),
            baseline: heard.baseline(&self.on.key, extra, &filter).with_failing(lint::named(&linted)),
            reviewed: seen::is_reviewed(&said, &filter),
            running: heard.is_running(&gathered, extra, &filter),
            satisfied,
            quota: quota.map(|notice| format!("{} says that it is out of quota: {}", notice.by.login, notice.url)),
            items,
            young,
        };
        Ok(Input::Seen(Ok(Box::new(seen))))
    }

    /// Brings the head here, and says which files of it are young and what linters found in it.
    async fn bring(&self, state: &State, pull: &Pull, files: Vec<LintFile>) -> Result<Result<Brought, String>, EngineError> {
        let (repository, source) = (Arc::clone(&self.repository), self.on.forge.source(pull));
        let (base, head) = (pull.base.sha.clone(), pull.head.sha.clone());
        let is_local = state.request.place.kind == ForgeKind::Local;
        let limits = state.request.policy.read_limits();
        let brought = blocking(move || -> Result<Brought, String> {
            let said = |error: tribunal_forge::git::GitError| error.to_string();
            let fetched: (Sha, Sha) = if is_local {
                (base, head)
            } else {
                let fetched = repository.fetch_pull(&source, &base, &head).map_err(said)?;
                // What a forge says of the base may be of an earlier day.
                (repository.fetch_base(&source).map_err(said)?, fetched.head)
            };
            let merge_base = repository.merge_base(&fetched.0, &fetched.1, "base", "head").map_err(said)?;
            repository.bring_changed(&merge_base, &fetched.1).map_err(said)?;
            let read =
                repository.read_change(ChangeBase { commit: &merge_base, tip: &fetched.0 }, &fetched.1, limits).map_err(said)?;
            let found = |file: LintFile| {
                let linted = lint::found(&repository, &file, &merge_base, &fetched.1, &read.change)?;
                Ok((file, linted))
            };
            let linted = files.into_iter().map(found).collect::<Result<_, String>>()?;
            Ok((young_files(&read.change), linted))
        });
        brought.await
    }
}

fn facts(pull: &Pull) -> PullFacts {
    PullFacts {
        number: pull.number,
        url: pull.url.clone(),
        title: pull.title.clone(),
        state: pull.state,
        head: pull.head.sha.clone(),
        branch: pull.head.branch.clone(),
        base: pull.base.branch.clone(),
    }
}
