//! The review procedure: read the change, call the panel, merge what it says, end in one document.
//!
//! ```text
//! Start ─► ReadChange ─► ChangeRead ─► RunSeat × n ─► SeatFinished × n ─► (Verify ─► Verified) ─► (Publish ─► Published) ─► Done
//!                     │                                                                          └► Superseded ─► Noop
//!                     │                            └► could not answer: RunSeat of its stand-in
//!                     ├► ReadFailed ─► (Decline ─► Published) ─► Failed
//!                     └► nothing to do: (Publish ─► Published) ─► Noop, or (Decline ─► Published) ─► NotRun
//! ```
//! The text of the change never enters the state: effects read it again from git by the ids that the state holds.

pub mod brought;
pub mod finish;
pub mod known;
pub mod pull;

use crate::call::usage::Usage;
use crate::combine::dismissal::Dismissal;
use crate::combine::finding::SpecGap;
use crate::combine::identity::IdBook;
use crate::combine::opinion::CheckedOpinion;
use crate::combine::prior::{OpenFinding, join};
use crate::combine::rule_proposal::RuleDismissal;
use crate::diff::change::FileStatus;
use crate::findings::admit::AdmittedReport;
use crate::findings::brief::TestDirection;
use crate::findings::key::sha256_hex;
use crate::findings::role::Role;
use crate::findings::silenced::Silenced;
use crate::ids::{AgentName, EffectKey, FindingId, FindingKey, RepoPath, RunId, Sha};
use crate::plan::files::{Disposition, FileRules, FileSummary, LeftOut, NotReviewed};
use crate::plan::flags::{Flags, flags};
use crate::plan::mode::{Ground, LastReview, Mode, RequestedMode, Resolution, Widening, resolve};
use crate::plan::panel::{Panel, Seat, dispatch};
use crate::policy::config::Policy;
use crate::policy::context::{Directive, parse_context};
use crate::procedure::{Millis, Step, StepError};
use crate::report::document::Document;
use crate::report::history::PastReview;
use crate::report::publication::Publication;
use crate::report::receipt::{ContextGiven, Cost, Reading, RulesDepth, SeatState};
use brought::Brought;
use pull::{PullRead, PullRun};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Raised when a stored state would be read differently. [`State::upgrade`] reads every older one.
pub const MODEL: u32 = 1;

/// What was asked for; fixed for the life of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Request {
    pub run: RunId,
    pub engine: String,
    pub target: Target,
    pub mode: RequestedMode,
    pub spec: Option<String>,
    pub test_direction: Option<TestDirection>,
    pub context: Option<String>,
    pub policy: Policy,
    pub roles: Vec<Role>,
    /// The commit from which the maintainers' guidance is read. Never one of the change itself.
    #[serde(default)]
    pub guidance_at: Option<Sha>,
    /// Hash of config, rules, roles, inputs and engine. See [`Request::review_fingerprint`] for what a receipt brings along.
    pub fingerprint: String,
    /// Hash of the rules alone: a run that is resumed must meet the rules it began with.
    pub rules_hash: String,
    /// Uncommitted work was left out on purpose.
    #[serde(default)]
    pub committed_only: bool,
    /// Untracked files that were too large to take in: part of the change, and a hole in its review.
    pub left_out: Vec<LeftOut>,
    /// Untracked files that the person named, so that they count whatever they are called.
    #[serde(default)]
    pub included: BTreeSet<RepoPath>,
    /// Said before the findings: config of the base used, a role overridden.
    pub notices: Vec<String>,
    /// The pull request that the change is, if it is one.
    #[serde(default)]
    pub pull: Option<PullRun>,
    /// Random, and unknown to whoever wrote the change: fences and the canary of this run's prompts are made of it.
    pub nonce: String,
}

impl Request {
    /// What the caller and the configuration say about severity, in the lines of their context that are directives.
    pub fn directives(&self) -> Vec<Directive> {
        let texts = self.context.iter().chain(&self.policy.context);
        texts.filter_map(|text| parse_context(text).ok()).flat_map(|context| context.directives).collect()
    }

    /// What a receipt of another job brought along.
    pub fn brought(&self) -> Option<&Brought> {
        self.pull.as_ref().and_then(|pull| pull.brought.as_ref())
    }

    /// The branch that the pull request is to be merged into.
    pub fn base_branch(&self) -> Option<&String> {
        self.pull.as_ref()?.base_branch.as_ref()
    }

    /// Hash of all that this review follows from. Another job's findings make it another review.
    pub fn review_fingerprint(&self) -> String {
        match self.brought() {
            Some(brought) => sha256_hex(format!("{}\n{}", self.fingerprint, brought.run).as_bytes()),
            None => self.fingerprint.clone(),
        }
    }
}

/// The two sides to compare. Uncommitted work is a tree of its own, so that a resumed run reads what the first one read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Target {
    Trees {
        base: Sha,
        head: Sha,
        subject: String,
        /// The tip of the branch that `base` was the last common commit with. Whoever writes a branch chooses where it leaves, which
        /// can be a commit of their own that was merged earlier: so `base` tells what changed, and the tip what may be relied on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tip: Option<Sha>,
    },
    /// A diff without a repository behind it, kept in the ledger under its hash.
    Patch { digest: Sha, subject: String },
}

impl Target {
    pub fn base(&self) -> Sha {
        match self {
            Target::Trees { base, .. } => base.clone(),
            Target::Patch { .. } => Sha::from("patch"),
        }
    }

    pub fn head(&self) -> Sha {
        match self {
            Target::Trees { head, .. } => head.clone(),
            Target::Patch { digest, .. } => digest.clone(),
        }
    }

    pub fn subject(&self) -> &str {
        match self {
            Target::Trees { subject, .. } | Target::Patch { subject, .. } => subject,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct State {
    pub model: u32,
    pub request: Request,
    pub started_at: Millis,
    pub phase: Phase,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Phase {
    Reading,
    Reviewing(Box<Reviewing>),
    /// Everyone has answered; another agent looks at what was found.
    Verifying(Box<Reviewing>),
    /// Everything is decided; it is being said on the pull request.
    Publishing(Box<Publishing>),
    /// There is no review to publish, and the pull request's status must say so.
    Declining {
        reason: String,
        end: Decline,
    },
    Done(Box<Document>),
    /// Nothing changed since the last review, whose document still stands.
    Noop {
        head: Sha,
        last_run: RunId,
        /// That document, from the pull request or the ledger. Only states of earlier releases lack it, and reviews of no pull request:
        /// then the ledger has it.
        #[serde(default)]
        document: Option<Box<Document>>,
    },
    /// There was nothing to review.
    NotRun {
        reason: String,
    },
    Failed {
        reason: String,
    },
}

/// What is to be said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Publishing {
    pub document: Document,
    /// Every name that was ever given in this case.
    pub names: BTreeMap<FindingKey, FindingId>,
    /// The review that this one goes on from.
    #[serde(default)]
    pub built_on: Option<RunId>,
    /// It was posted before and still stands; what is amiss on the pull request is put right.
    #[serde(default)]
    pub is_restated: bool,
}

/// Why there is no review.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Decline {
    NotRun,
    Failed,
}

impl Decline {
    fn phase(self, reason: String) -> Phase {
        match self {
            Decline::NotRun => Phase::NotRun { reason },
            Decline::Failed => Phase::Failed { reason },
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reviewing {
    pub plan: Plan,
    pub answers: BTreeMap<String, SeatAnswer>,
}

/// Everything that was decided before anyone looked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    pub mode: Mode,
    pub since: Option<Sha>,
    /// What the last review compared its head with.
    #[serde(default)]
    pub since_base: Option<Sha>,
    pub widened: Option<Widening>,
    pub flags: Flags,
    pub panel: Panel,
    pub files: Vec<PlannedFile>,
    pub prior: Vec<OpenFinding>,
    pub prior_gaps: Vec<SpecGap>,
    pub prior_clean: Vec<String>,
    pub ids: IdBook,
    pub iteration: u32,
    /// The last review.
    #[serde(default)]
    pub built_on: Option<RunId>,
    #[serde(default)]
    pub dismissals: Vec<Dismissal>,
    /// Commands in comments that make no sense, and why.
    #[serde(default)]
    pub objections: Vec<String>,
    /// Findings that stand on the pull request in comments that cannot be verified here.
    #[serde(default)]
    pub unverified: u32,
    #[serde(default)]
    pub history: Vec<PastReview>,
    /// What was dismissed of rules in this repository, whichever change it was in.
    #[serde(default)]
    pub rule_dismissals: Vec<RuleDismissal>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlannedFile {
    pub file: FileSummary,
    pub disposition: Disposition,
    /// False when an incremental review leaves it to the last one.
    pub in_scope: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Input {
    Start {
        request: Box<Request>,
    },
    ChangeRead(Box<ChangeRead>),
    ReadFailed {
        reason: String,
    },
    SeatFinished {
        seat: Seat,
        answer: Box<SeatAnswer>,
    },
    Verified(Box<SecondOpinion>),
    Published(Box<Publication>),
    /// Another run has posted the review of this head while this one was at it.
    Superseded {
        document: Box<Document>,
    },
}

/// What the engine learned by reading the change and the ledger.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChangeRead {
    pub files: Vec<FileSummary>,
    pub has_repo: bool,
    pub last: Option<LastKnown>,
    /// Open findings that the last review does not know of.
    #[serde(default)]
    pub loose: Vec<OpenFinding>,
    /// Why an earlier review cannot be used, where there was one.
    #[serde(default)]
    pub lost: Option<Widening>,
    /// Findings that stand on the pull request in comments that cannot be verified here.
    #[serde(default)]
    pub unverified: u32,
    pub ids: IdBook,
    /// What stands on the pull request.
    #[serde(default)]
    pub pull: Option<PullRead>,
    #[serde(default)]
    pub dismissals: Vec<Dismissal>,
    /// What was dismissed of rules in this repository, whichever change it was in.
    #[serde(default)]
    pub rule_dismissals: Vec<RuleDismissal>,
}

/// The last review of the same case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LastKnown {
    pub run: RunId,
    pub review: LastReview,
    pub open: Vec<OpenFinding>,
    pub gaps: Vec<SpecGap>,
    pub clean: Vec<String>,
    pub iteration: u32,
    /// Paths that differ between its head and this one; absent when git no longer has it.
    pub changed_since: Option<BTreeSet<RepoPath>>,
    /// Files that were moved between its head and this one, by their earlier path.
    #[serde(default)]
    pub renamed: BTreeMap<RepoPath, RepoPath>,
    #[serde(default)]
    pub history: Vec<PastReview>,
    /// The review itself, where it may have to be published again.
    #[serde(default)]
    pub document: Option<Box<Document>>,
}

/// What earlier reviews left open.
#[derive(Default)]
struct LeftOpen {
    findings: Vec<OpenFinding>,
    gaps: Vec<SpecGap>,
    /// The last review does not know of some of it, so its result does not stand.
    has_loose: bool,
}

impl LeftOpen {
    /// What is open goes with its file: a moved line is not a fixed behaviour (PR-11), and neither is a moved file. It stays open in
    /// every mode, whatever the reason why everything is looked at anew.
    fn of(change: &mut ChangeRead) -> Self {
        let ChangeRead { files, last, loose, ids, .. } = change;
        let mut left = LeftOpen::default();
        if let Some(last) = last {
            left.findings = std::mem::take(&mut last.open);
            left.gaps = std::mem::take(&mut last.gaps);
        }
        let count = left.findings.len();
        join(&mut left.findings, std::mem::take(loose), ids);
        left.has_loose = left.findings.len() > count;
        let renamed = last.as_ref().map(|last| &last.renamed);
        let moved_to = |path: &RepoPath| {
            let since = renamed.and_then(|renamed| renamed.get(path));
            // Where git no longer has the last head, the change itself may say where a file of the base went.
            let is_gone = || !files.iter().any(|file| file.path == *path);
            let is_renamed = |file: &&FileSummary| file.status == FileStatus::Renamed && file.old_path.as_ref() == Some(path);
            since.or_else(|| files.iter().find(is_renamed).filter(|_| is_gone()).map(|file| &file.path)).cloned()
        };
        for open in &mut left.findings {
            if let Some(path) = moved_to(&open.finding.file) {
                open.follow(&path, ids);
            }
        }
        for gap in &mut left.gaps {
            if let Some(path) = moved_to(&gap.file) {
                gap.file = path;
            }
        }
        left
    }
}

/// How a seat ended. One that was stopped half-way keeps what it had proved by then.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SeatAnswer {
    pub state: SeatState,
    pub report: AdmittedReport,
    pub depths: BTreeMap<RepoPath, RulesDepth>,
    /// Built-in rules that apply to one of those files or more.
    #[serde(default)]
    pub rules: u32,
    /// Files that the rules were given and could not look at whole.
    #[serde(default)]
    pub cut: BTreeMap<RepoPath, NotReviewed>,
    /// What the rules found and comments that this change adds silence.
    #[serde(default)]
    pub silenced: Vec<Silenced>,
    pub reading: Reading,
    pub spend: Spend,
    /// What it was given beside the change; nothing for rules and linters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<Box<ContextGiven>>,
}

/// What an agent took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spend {
    pub calls: u32,
    pub usage: Usage,
    pub cost: Cost,
}

impl Spend {
    pub fn plus(self, other: Spend) -> Spend {
        Spend { calls: self.calls + other.calls, usage: self.usage.plus(other.usage), cost: self.cost.plus(other.cost) }
    }
}

impl SeatAnswer {
    pub fn troubled(state: SeatState, spend: Spend) -> Self {
        SeatAnswer {
            state,
            report: AdmittedReport::default(),
            depths: BTreeMap::new(),
            rules: 0,
            cut: BTreeMap::new(),
            silenced: Vec::new(),
            reading: Reading::default(),
            spend,
            context: None,
        }
    }

    /// It answered, be it for a part of the change.
    pub fn has_looked(&self) -> bool {
        self.state == SeatState::Ok || self.reading.read > 0
    }
}

/// What the second agent said of the findings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SecondOpinion {
    pub agent: AgentName,
    pub state: SeatState,
    pub asked: u32,
    pub opinions: Vec<CheckedOpinion>,
    pub spend: Spend,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Effect {
    ReadChange,
    RunSeat(Seat),
    /// Ask this agent to refute the findings so far.
    Verify(AgentName),
    /// Say it on the pull request.
    Publish,
    /// Say there that nothing was reviewed.
    Decline,
}

impl Effect {
    /// The same effect of the same run has the same key, however often it is asked for.
    pub fn key(&self, run: &RunId) -> EffectKey {
        EffectKey(match self {
            Effect::ReadChange => format!("{run}/read-change"),
            Effect::RunSeat(seat) => format!("{run}/seat/{seat}"),
            Effect::Verify(agent) => format!("{run}/verify/{agent}"),
            Effect::Publish => format!("{run}/publish"),
            Effect::Decline => format!("{run}/decline"),
        })
    }
}

impl State {
    /// Reads a state of any earlier release.
    pub fn upgrade(self) -> Result<State, StepError> {
        if self.model > MODEL { Err(StepError::LaterModel(self.model)) } else { Ok(self) }
    }

    pub fn is_settled(&self) -> bool {
        match self.phase {
            Phase::Reading | Phase::Reviewing(_) | Phase::Verifying(_) | Phase::Publishing(_) | Phase::Declining { .. } => false,
            Phase::Done(_) | Phase::Noop { .. } | Phase::NotRun { .. } | Phase::Failed { .. } => true,
        }
    }
}

/// One step. Inputs that do not fit the phase (a late or repeated answer) change nothing.
pub fn step(state: Option<State>, input: Input, now: Millis) -> Result<Step<State, Effect>, StepError> {
    let Some(state) = state else {
        let Input::Start { request } = input else { return Err(StepError::NotStarted) };
        let state = State { model: MODEL, request: *request, started_at: now, phase: Phase::Reading };
        return Ok(Step { state, effects: vec![Effect::ReadChange] });
    };
    let State { model, request, started_at, phase } = state;
    let (phase, effects) = match (phase, input) {
        (Phase::Reading, Input::ChangeRead(change)) => plan(&request, *change, started_at, now),
        (Phase::Reading, Input::ReadFailed { reason }) => decline(&request, Decline::Failed, reason),
        (Phase::Reviewing(reviewing), Input::SeatFinished { seat, answer }) => {
            seat_finished(&request, reviewing, seat, *answer, started_at, now)
        }
        (Phase::Verifying(reviewing), Input::Verified(opinion)) => {
            publish(&request, finish::document(&request, *reviewing, Some(*opinion), started_at, now))
        }
        (Phase::Publishing(publishing), Input::Published(publication)) => {
            (pull::published(*publishing, *publication), Vec::new())
        }
        (Phase::Publishing(_), Input::Superseded { document }) => (pull::standing(document), Vec::new()),
        (Phase::Declining { reason, end }, Input::Published(publication)) => {
            (end.phase(pull::with_shortfall(reason, &publication)), Vec::new())
        }
        (phase, _) => (phase, Vec::new()),
    };
    Ok(Step { state: State { model, request, started_at, phase }, effects })
}

fn seat_finished(
    request: &Request,
    mut reviewing: Box<Reviewing>,
    seat: Seat,
    mut answer: SeatAnswer,
    started_at: Millis,
    now: Millis,
) -> (Phase, Vec<Effect>) {
    let key = seat.to_string();
    if reviewing.answers.contains_key(&key) {
        return (Phase::Reviewing(reviewing), Vec::new());
    }
    answer.report.findings.iter_mut().for_each(|finding| finding.sample = seat.sample);
    // A cap holds for whoever is asked, so nobody stands in for a seat that met one.
    let is_capped = matches!(answer.state, SeatState::OverBudget { .. });
    let mut stand_in = if !answer.has_looked() && !is_capped { reviewing.plan.panel.replace(&seat) } else { None };
    reviewing.answers.insert(key, answer);
    // Nor may anybody stand in whom this change is not to be given to.
    while let Some((next, refusal)) =
        stand_in.as_ref().and_then(|next| Some((next.clone(), pull::refusal(request, &next.agent)?)))
    {
        reviewing.answers.insert(next.to_string(), refusal);
        stand_in = reviewing.plan.panel.replace(&next);
    }
    if let Some(stand_in) = stand_in {
        return (Phase::Reviewing(reviewing), vec![Effect::RunSeat(stand_in)]);
    }
    let waiting = reviewing.plan.panel.seats.iter().any(|seat| !reviewing.answers.contains_key(&seat.to_string()));
    if waiting {
        return (Phase::Reviewing(reviewing), Vec::new());
    }
    match &request.policy.verify {
        Some(verify)
            if pull::refusal(request, &verify.agent).is_none()
                && !finish::to_verify(request, &reviewing, &verify.agent).is_empty() =>
        {
            (Phase::Verifying(reviewing), vec![Effect::Verify(verify.agent.clone())])
        }
        Some(_) | None => publish(request, finish::document(request, *reviewing, None, started_at, now)),
    }
}

/// A review of a pull request is said there, if it is to be.
fn publish(request: &Request, publishing: Publishing) -> (Phase, Vec<Effect>) {
    match &request.pull {
        Some(pull) if pull.publish => (Phase::Publishing(Box::new(publishing)), vec![Effect::Publish]),
        Some(_) | None => (Phase::Done(Box::new(publishing.document)), Vec::new()),
    }
}

/// What was not reviewed is not green, there as well.
fn decline(request: &Request, end: Decline, reason: String) -> (Phase, Vec<Effect>) {
    match &request.pull {
        Some(pull) if pull.publish => (Phase::Declining { reason, end }, vec![Effect::Decline]),
        Some(_) | None => (end.phase(reason), Vec::new()),
    }
}

fn plan(request: &Request, mut change: ChangeRead, started_at: Millis, now: Millis) -> (Phase, Vec<Effect>) {
    change.files.extend(request.left_out.iter().map(FileSummary::left_out));
    if change.files.is_empty() {
        let reason = format!("nothing to review: {} holds no change", request.target.subject());
        return decline(request, Decline::NotRun, reason);
    }
    let (base, head) = (request.target.base(), request.target.head());
    let ground = match (&change.last, &change.lost) {
        (Some(last), _) => Ground::Last(&last.review),
        (None, Some(reason)) => Ground::Lost(reason),
        (None, None) => Ground::Nothing,
    };
    let resolve_by = |fingerprint: &str| resolve(request.mode, ground, &base, &head, fingerprint);
    let resolution = match resolve_by(&request.fingerprint) {
        // A whole review of exactly this stands. What adds nothing to it takes nothing from it either.
        Resolution::Noop { head } if !is_added_to(request, &change) => Resolution::Noop { head },
        _ => resolve_by(&request.review_fingerprint()),
    };
    let left = LeftOpen::of(&mut change);
    let (mode, since, widened) = match resolution {
        // The same head, but somebody else's result of it did not know of everything that is open.
        Resolution::Noop { head } if left.has_loose => (Mode::Incremental, Some(head), None),
        Resolution::Noop { head } => {
            if let Some(publishing) = pull::restated(request, &change) {
                return publish(request, publishing);
            }
            let last_run = change.last.as_ref().map_or_else(|| request.run.clone(), |last| last.run.clone());
            let document = change.last.and_then(|last| last.document);
            return (Phase::Noop { head, last_run, document }, Vec::new());
        }
        Resolution::Full { widened } => (Mode::Full, None, widened),
        Resolution::Incremental { since } => (Mode::Incremental, Some(since), None),
    };
    let rules = match FileRules::new(&request.policy.skip, &request.policy.review) {
        Ok(rules) => rules,
        Err(reason) => return decline(request, Decline::Failed, reason),
    };
    let flags = flags(&change.files, request.spec.is_some(), change.has_repo);
    let players = |role: &crate::ids::RoleName| request.policy.panel.get(role).cloned().unwrap_or_default();
    let mut panel = dispatch(&request.roles, players, &flags);
    if panel.seats.is_empty() {
        return decline(request, Decline::Failed, "no reviewer is left: every role is switched off in [panel]".into());
    }
    let since_base = change.last.as_ref().filter(|_| since.is_some()).map(|last| last.review.base.clone());
    let iteration = change.last.as_ref().map_or(0, |last| last.iteration) + 1;
    let history = change.last.as_ref().map(|last| last.history.clone()).unwrap_or_default();
    let built_on = change.last.as_ref().map(|last| last.run.clone());
    let (clean, changed_since) = match change.last {
        Some(last) if mode == Mode::Incremental => (last.clean, last.changed_since),
        Some(_) | None => (Vec::new(), None),
    };
    let LeftOpen { findings: open, gaps, has_loose: _ } = left;
    let open_paths: BTreeSet<&RepoPath> = open.iter().map(|open| &open.finding.file).collect();
    let files: Vec<PlannedFile> = change
        .files
        .into_iter()
        .map(|file| {
            let in_scope =
                changed_since.as_ref().is_none_or(|changed| changed.contains(&file.path) || open_paths.contains(&file.path));
            PlannedFile { disposition: rules.disposition(&file), in_scope, file }
        })
        .collect();
    if let Some(reason) = nothing_left(&files, request.target.subject()) {
        return decline(request, Decline::NotRun, reason);
    }
    let withheld = pull::withhold(request, &mut panel);
    let asked = panel.seats.iter().filter(|seat| !withheld.contains_key(&seat.to_string()));
    let effects: Vec<Effect> = asked.cloned().map(Effect::RunSeat).collect();
    let plan = Plan {
        mode,
        since,
        since_base,
        widened,
        flags,
        panel,
        files,
        prior: open,
        prior_gaps: gaps,
        prior_clean: clean,
        ids: change.ids,
        iteration,
        built_on,
        dismissals: change.dismissals,
        objections: change.pull.map(|pull| pull.objections).unwrap_or_default(),
        unverified: change.unverified,
        history,
        rule_dismissals: change.rule_dismissals,
    };
    let reviewing = Reviewing { plan, answers: withheld };
    if effects.is_empty() {
        return publish(request, finish::document(request, reviewing, None, started_at, now));
    }
    (Phase::Reviewing(Box::new(reviewing)), effects)
}

/// Does a receipt say something that neither the last review nor what is open beside it says?
fn is_added_to(request: &Request, change: &ChangeRead) -> bool {
    let Some(brought) = request.brought() else { return false };
    let standing = change.last.as_ref().and_then(|last| last.document.as_deref());
    !change.loose.is_empty() || standing.is_none_or(|standing| brought.adds_to(standing))
}

/// A change of which every file is left out was not reviewed, and what was not reviewed is not green.
fn nothing_left(files: &[PlannedFile], subject: &str) -> Option<String> {
    let mut reasons: BTreeMap<&str, u32> = BTreeMap::new();
    for planned in files {
        match planned.disposition {
            Disposition::Review | Disposition::LinesOnly(_) => return None,
            // A file that could not be read is a hole in a review, which the document shows.
            Disposition::NotReviewed(_) => return None,
            Disposition::Skip(exemption) => *reasons.entry(exemption.reason().words()).or_default() += 1,
        }
    }
    let counted: Vec<String> = reasons.into_iter().map(|(reason, count)| format!("{count} {reason}")).collect();
    Some(format!("every file of {subject} is left out ({}); list it under [files] review to have it read", counted.join(", ")))
}

#[cfg(test)]
pub mod tests;
