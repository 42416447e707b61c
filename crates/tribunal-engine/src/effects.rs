//! Effects of the review procedure: `run(effect) -> input`. Running one twice does no harm, and none of them posts anything.

pub mod ask;
mod context;
mod given;
mod linter;
pub mod on_forge;
mod opinion;
mod publish;
mod sarif;
mod schemas;
mod seat;
mod thinking;
mod warm;
mod work;

use crate::{EngineError, Listener, Progress};
use ask::{Agents, Tree};
use context::Context;
use on_forge::OnForge;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{SystemTime, UNIX_EPOCH};
use tribunal_agent::rules::compile::RuleSet;
use tribunal_agent::rules::load::RuleError;
use tribunal_agent::rules::scan::Scan;
use tribunal_core::combine::dismissal::{Dismissal, find};
use tribunal_core::combine::finding::Finding;
use tribunal_core::combine::identity::IdBook;
use tribunal_core::combine::prior::OpenFinding;
use tribunal_core::combine::rule_proposal::RuleDismissal;
use tribunal_core::combine::verdict::Outcome;
use tribunal_core::diff::apply::{apply_hunks, undo_hunks};
use tribunal_core::diff::change::{Change, ChangedFile, FileContent, FileStatus};
use tribunal_core::diff::parse::{parse_diff, text_of};
use tribunal_core::diff::prefix::Prefixes;
use tribunal_core::findings::window::Window;
use tribunal_core::ids::{FindingId, FindingKey};
use tribunal_core::plan::files::summarise;
use tribunal_core::plan::mode::LastReview;
use tribunal_core::policy::agents::{AgentConfig, Means};
use tribunal_core::procedure::review::known::{Known, KnownReview};
use tribunal_core::procedure::review::{ChangeRead, Effect, Input, LastKnown, Phase, State, Target};
use tribunal_core::report::history::{PastReview, remember};
use tribunal_forge::git::change::{ChangeBase, ReadChange};
use tribunal_forge::git::{GitError, Repository};
use tribunal_store::Ledger;
use warm::WarmUp;

/// What effects need. The caches only save work: everything in them can be read again from git and the ledger.
pub struct Effects {
    pub ledger: Arc<Ledger>,
    pub repository: Option<Arc<Repository>>,
    pub rules: Arc<RuleSet>,
    pub listener: Listener,
    pub agents: Agents,
    /// The forge that the change comes from, if it comes from one.
    pub on: Option<OnForge>,
    warm: WarmUp,
    tree: tokio::sync::Mutex<Option<Arc<Tree>>>,
    change: OnceLock<Arc<ReadChange>>,
    scan: OnceLock<Result<Arc<Scan>, RuleError>>,
    window: Mutex<Option<Arc<Window>>>,
    context: Mutex<Option<Arc<Context>>>,
}

impl Effects {
    pub fn new(repository: Option<Arc<Repository>>, rules: Arc<RuleSet>, agents: Agents, listener: Listener) -> Self {
        Self {
            ledger: Arc::clone(agents.ledger()),
            repository,
            rules,
            listener,
            agents,
            on: None,
            warm: WarmUp::default(),
            tree: tokio::sync::Mutex::default(),
            change: OnceLock::new(),
            scan: OnceLock::new(),
            window: Mutex::default(),
            context: Mutex::default(),
        }
    }

    async fn perform(self: Arc<Self>, effect: Effect, state: Arc<State>, case_id: Arc<str>) -> Result<Input, EngineError> {
        match effect {
            Effect::ReadChange => self.read_change(state, &case_id).await,
            Effect::RunSeat(seat) => {
                let patch = self.patch_bytes(&state.request.target).await?;
                let means = state.request.policy.agents.get(&seat.agent).map(AgentConfig::means);
                if matches!(means, Some(Means::Model(..) | Means::Cli(..))) {
                    return self.run_thinking_seat(seat, state, case_id, patch).await;
                }
                let (worker, state) = (Arc::clone(&self), Arc::clone(&state));
                blocking(move || worker.run_seat(seat, &state, patch)).await?
            }
            Effect::Publish => self.publish(state, &case_id).await,
            Effect::Decline => self.decline(state).await,
            Effect::Verify(agent) => {
                let patch = self.patch_bytes(&state.request.target).await?;
                self.verify(agent, state, case_id, patch).await
            }
        }
    }

    async fn read_change(self: Arc<Self>, state: Arc<State>, case_id: &str) -> Result<Input, EngineError> {
        (self.listener)(Progress::Reading);
        let patch = self.patch_bytes(&state.request.target).await?;
        // git reads while the forge is asked; whether that went well is seen below, where the same change is wanted.
        let (worker, shared, given) = (Arc::clone(&self), Arc::clone(&state), patch.clone());
        let reading = blocking(move || worker.change(&shared, given).is_ok());
        let known = self.known(case_id).await?;
        let looking = async {
            match (&self.on, &state.request.pull) {
                (Some(on), Some(pull)) => on.look(pull, &state.request.target.head(), &state.request.policy.bots, known).await,
                _ => Ok(known),
            }
        };
        let (known, _) = tokio::try_join!(looking, reading)?;
        if state.request.pull.is_some() {
            self.keep_dismissals(case_id, &known).await?;
        }
        let rule_dismissals = self.rule_dismissals().await?;
        let worker = Arc::clone(&self);
        let read = blocking(move || -> Result<ChangeRead, GitError> {
            let change = worker.change(&state, patch)?;
            let keep = state.request.pull.is_some() || !known.dismissals.is_empty();
            let last = known.last.map(|last| worker.last_known(&state, last, &change.change, keep));
            let compared = |finding| OpenFinding::compared(finding, &change.change);
            Ok(ChangeRead {
                files: change.files.clone(),
                has_repo: matches!(state.request.target, Target::Trees { .. }),
                last,
                loose: known.loose.into_iter().map(compared).collect(),
                lost: known.lost,
                unverified: known.unverified,
                ids: IdBook::from_names(known.names).after(known.spoken_of),
                pull: known.pull,
                dismissals: known.dismissals,
                rule_dismissals,
            })
        })
        .await?;
        Ok(match read {
            Ok(change) => Input::ChangeRead(Box::new(change)),
            Err(error) => Input::ReadFailed { reason: error.to_string() },
        })
    }

    /// What the ledger knows of a case.
    async fn known(&self, case_id: &str) -> Result<Known, EngineError> {
        let names = self.ledger.names(case_id).await?;
        let iteration = self.ledger.count_documents(case_id).await?;
        let last = self.ledger.last_document(case_id).await?;
        let dismissals = self.ledger.dismissals(case_id).await?;
        Ok(Known::of_ledger(
            names.into_iter().map(|(key, n)| (FindingKey(key), FindingId(u32::try_from(n).unwrap_or(u32::MAX)))).collect(),
            last.as_ref().map(|row| row.body.as_str()),
            u32::try_from(iteration).unwrap_or(u32::MAX),
            dismissals.iter().filter_map(|body| serde_json::from_str(body).ok()).collect(),
        ))
    }

    /// What was dismissed of rules, in every change that this ledger knows.
    async fn rule_dismissals(&self) -> Result<Vec<RuleDismissal>, EngineError> {
        let all = self.ledger.all_dismissals().await?;
        let read = |(case_id, body): &(String, String)| RuleDismissal::of(case_id, &serde_json::from_str(body).ok()?);
        Ok(all.iter().filter_map(read).collect())
    }

    /// Keeps what people dismissed on a pull request, with the finding as it is now: a comment names it alone.
    async fn keep_dismissals(&self, case_id: &str, known: &Known) -> Result<(), EngineError> {
        let findings = known.last.iter().flat_map(|last| &last.document.findings);
        let findings: BTreeMap<FindingId, &Finding> = findings.map(|finding| (finding.id, finding)).collect();
        let kept = self.ledger.dismissals(case_id).await?;
        let kept: Vec<Dismissal> = kept.iter().filter_map(|body| serde_json::from_str(body).ok()).collect();
        let is_kept = |id: FindingId| kept.iter().any(|kept| kept.id == id && kept.dismissed.accepted && kept.finding.is_some());
        for (id, finding) in findings {
            let Some(dismissed) = find(&known.dismissals, id).filter(|word| word.accepted && !is_kept(id)) else { continue };
            let dismissal = Dismissal { id, dismissed, finding: Some(Box::new(finding.clone())) };
            let body = serde_json::to_string(&dismissal).map_err(|error| EngineError::Worker(error.to_string()))?;
            self.ledger.put_dismissal(case_id, &id.to_string(), now(), &body).await?;
        }
        Ok(())
    }

    async fn patch_bytes(&self, target: &Target) -> Result<Option<Vec<u8>>, EngineError> {
        match target {
            Target::Trees { .. } => Ok(None),
            Target::Patch { digest, .. } => Ok(self.ledger.blob(digest.as_str()).await?),
        }
    }

    /// The change under review, read once per process.
    fn change(&self, state: &State, patch: Option<Vec<u8>>) -> Result<Arc<ReadChange>, GitError> {
        if let Some(change) = self.change.get() {
            return Ok(Arc::clone(change));
        }
        let read = match &state.request.target {
            Target::Trees { base, head, tip, .. } => {
                let base = ChangeBase::of(base, tip.as_ref());
                self.repository()?.read_change(base, head, state.request.policy.read_limits())?
            }
            Target::Patch { .. } => self.read_patch(&patch.unwrap_or_default())?,
        };
        Ok(Arc::clone(self.change.get_or_init(|| Arc::new(read))))
    }

    fn repository(&self) -> Result<&Repository, GitError> {
        self.repository.as_deref().ok_or_else(|| GitError::Hollow("the run names trees, but there is no repository".into()))
    }

    /// A bare diff. Whole files are had where this repository holds the objects that its `index` lines name.
    fn read_patch(&self, bytes: &[u8]) -> Result<ReadChange, GitError> {
        let mut change = parse_diff(bytes)?;
        let objects = index_lines(bytes);
        for file in &mut change.files {
            file.new_text = self.whole_text(file, objects.get(file.path.as_str())).map(Arc::from);
            file.reread_if_repurposed();
        }
        let files = summarise(&change);
        Ok(ReadChange { change, files })
    }

    /// An added file stands in its diff whole; of a changed one the objects may be at hand. Whoever wrote the diff named them, so a text
    /// counts only if the hunks fit it: another file in its place would hide what the diff adds.
    fn whole_text(&self, file: &ChangedFile, objects: Option<&(String, String)>) -> Option<String> {
        if file.status == FileStatus::Added && file.content == FileContent::Text {
            return apply_hunks("", &file.hunks);
        }
        let (old, new) = objects?;
        let repository = self.repository.as_ref()?;
        let text = |id: &str| repository.blob(id).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        let fits = |text: &String| undo_hunks(text, &file.hunks).is_some();
        text(new).filter(fits).or_else(|| apply_hunks(&text(old)?, &file.hunks))
    }

    fn last_known(&self, state: &State, last: KnownReview, change: &Change, keep_document: bool) -> LastKnown {
        let KnownReview { document, iteration, history, proved } = last;
        let (base, head) = (state.request.target.base(), state.request.target.head());
        let repository = self.repository.as_ref();
        let reachable = repository
            .is_some_and(|repository| repository.fetch_commit(&document.head) && repository.fetch_commit(&document.base));
        let since =
            repository.filter(|_| reachable).and_then(|git| git.changed_since(&document.base, &document.head, &base, &head).ok());
        // Where a person asks for a review by hand another base is another change; a pull request is rebased all the time.
        let same_content = state.request.pull.is_some() && since.as_ref().is_some_and(|since| since.same_content);
        let (changed_since, renamed) = since.map(|since| (since.paths, since.renamed)).unzip();
        LastKnown {
            run: document.receipt.run.clone(),
            review: LastReview {
                reachable: changed_since.is_some(),
                head: document.head.clone(),
                base: document.base.clone(),
                fingerprint: document.receipt.fingerprint.clone(),
                complete: matches!(document.outcome, Outcome::Clean | Outcome::Findings),
                proved,
                same_content,
                other_target: document.receipt.base_branch.as_ref() != state.request.base_branch(),
            },
            gaps: document.spec_gaps.clone(),
            open: document.findings.iter().map(|finding| OpenFinding::compared(finding.clone(), change)).collect(),
            clean: document.checked_and_clean.iter().map(|check| check.slug.clone()).collect(),
            iteration,
            changed_since,
            renamed: renamed.unwrap_or_default(),
            history: remember(history, PastReview::of(&document)),
            document: keep_document.then(|| Box::new(document)),
        }
    }

    /// What changed since the last review; nothing in a full one.
    fn window(&self, state: &State) -> Result<Option<Arc<Window>>, GitError> {
        let (Phase::Reviewing(reviewing) | Phase::Verifying(reviewing)) = &state.phase else { return Ok(None) };
        let Some(since) = &reviewing.plan.since else { return Ok(None) };
        // Held while git works: every seat asks at the same moment, and one answer does for all.
        let mut kept = self.window.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(window) = kept.as_ref() {
            return Ok(Some(Arc::clone(window)));
        }
        let target = &state.request.target;
        let base = target.base();
        let old_base = reviewing.plan.since_base.as_ref().unwrap_or(&base);
        let touched = self.repository()?.window(old_base, since, &base, &target.head(), state.request.policy.read_limits())?;
        let window = Arc::new(Window::new(touched, reviewing.plan.prior.iter().flat_map(|open| open.known()).collect()));
        *kept = Some(Arc::clone(&window));
        Ok(Some(window))
    }
}

/// `index <old>..<new>` lines by the path of the `+++` line that follows.
fn index_lines(bytes: &[u8]) -> BTreeMap<String, (String, String)> {
    let prefixes = Prefixes::of(bytes);
    let mut objects = BTreeMap::new();
    let mut pair: Option<(String, String)> = None;
    for line in bytes.split(|byte| *byte == b'\n') {
        let line = String::from_utf8_lossy(&line[..line.len().min(4096)]);
        if let Some(ids) = line.strip_prefix("index ") {
            pair = ids.split(' ').next().and_then(|ids| ids.split_once("..")).map(|(old, new)| (old.to_owned(), new.to_owned()));
        } else if let Some(path) = line.strip_prefix("+++ ")
            && let Some(pair) = pair.take()
        {
            let path = prefixes.new_path(path.trim_end_matches(['\r', '\t']).as_bytes());
            objects.insert(text_of(path), pair);
        }
    }
    objects
}

pub(crate) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, EngineError> {
    tokio::task::spawn_blocking(work).await.map_err(|error| EngineError::Worker(error.to_string()))
}

fn now() -> i64 {
    let passed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(passed.as_millis()).unwrap_or(i64::MAX)
}
