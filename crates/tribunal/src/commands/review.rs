//! `tribunal review`

mod dry_run;
pub(super) mod pull;

use crate::cli::{FailLevelArg, ModeArg, OutputArgs, ReviewArgs};
use crate::situation::{Situation, exit};
use crate::terminal::{out, progress, render};
use crate::workspace::{self, ENGINE, Setup, target};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};
use tribunal_agent::sandbox::lack_that_is_allowed;
use tribunal_core::findings::brief::TestDirection;
use tribunal_core::findings::key::sha256_hex;
use tribunal_core::ids::{AgentName, RunId, Sha};
use tribunal_core::plan::mode::RequestedMode;
use tribunal_core::policy::config::Policy;
use tribunal_core::policy::confinement::{ProgramNetwork, unconfined_notice};
use tribunal_core::policy::context::parse_context;
use tribunal_core::policy::layers::{Layer, read_layer};
use tribunal_core::policy::panel::Player;
use tribunal_core::procedure::review::{Input, Phase, Request, State, Target};
use tribunal_core::report::document::Document;
use tribunal_engine::EngineError;
use tribunal_engine::effects::Effects;
use tribunal_engine::effects::ask::{Agents, Recording};
use tribunal_engine::host::Work as _;
use tribunal_engine::host::embedded::{Host, stored};
use tribunal_forge::git::Repository;
use tribunal_forge::git::work_file::{MAX_TEXT_BYTES, read_named_file};
use tribunal_store::Ledger;

pub async fn run(args: &ReviewArgs, quiet: bool) -> Result<u8, Situation> {
    let repository = workspace::discover_optional()?.map(Arc::new);
    match &args.resume {
        Some(named) => resume(args, named, repository, quiet).await,
        None => match &args.pull {
            Some(asked) => pull::begin(args, &asked.parse()?, repository, None, quiet).await,
            None => begin(args, repository, quiet).await,
        },
    }
}

/// Publishes what another job has found, with a review of our own around it.
pub async fn publish(args: &ReviewArgs, receipt: Document, quiet: bool) -> Result<u8, Situation> {
    let repository = workspace::discover_optional()?.map(Arc::new);
    let asked = args.pull.as_deref().unwrap_or_default().parse()?;
    pull::begin(args, &asked, repository, Some(receipt), quiet).await
}

async fn begin(args: &ReviewArgs, repository: Option<Arc<Repository>>, quiet: bool) -> Result<u8, Situation> {
    let aside = args.dry_run.then(tempfile::tempdir).transpose().map_err(|error| {
        Situation::new("engine-failed", exit::INCOMPLETE, format!("a temporary folder cannot be made: {error}"))
    })?;
    // A dry run leaves nothing in the git directory.
    let repository = match (&aside, repository) {
        (Some(folder), Some(repository)) => Some(Arc::new(repository.with_snapshots_in(folder.path()))),
        (_, repository) => repository,
    };
    if let (None, Some(repository)) = (&aside, &repository) {
        // Snapshots go into it before the ledger is opened.
        workspace::make_own_folder(&repository.tribunal_dir())?;
    }
    let mut setup = workspace::set_up_against(repository.as_deref(), args.base.as_deref(), flag_layer(args)?)?;
    if let Some(agent) = &args.agent {
        setup.play_all(agent)?;
    }
    let chosen = target::choose(args, repository.as_deref(), setup.policy.base.as_deref(), setup.policy.max_bytes)?;
    let mut request = request(args, &setup, &chosen)?;
    request.guidance_at = before_the_change(&request, repository.as_deref());
    if args.dry_run {
        return dry_run::run(&request, repository.as_deref(), chosen.patch.as_deref());
    }
    let folder = workspace::ledger_folder(repository.as_deref());
    let ledger = workspace::open_ledger(&folder).await?;
    if let Some(patch) = &chosen.patch {
        ledger.put_blob(request.target.head().as_str(), patch).await?;
    }
    let reporter = progress::Reporter::new(quiet);
    let agents = Agents::new(Arc::clone(&ledger), workspace::scratch_root(), recording(args, &ledger).await?);
    let effects = Effects::new(repository, Arc::new(setup.rules), agents, reporter.listener());
    let host = Host { ledger: Arc::clone(&ledger), effects: Arc::new(effects), folder };
    let (run, start) = (request.run.clone(), Input::Start { request: Box::new(request) });
    let state = unless_interrupted(host.begin(&run, start, &chosen.case_id), &reporter).await?;
    finish(state, &ledger, &args.output, quiet).await
}

async fn resume(args: &ReviewArgs, named: &str, repository: Option<Arc<Repository>>, quiet: bool) -> Result<u8, Situation> {
    let folder = workspace::ledger_folder(repository.as_deref());
    let ledger = workspace::open_ledger(&folder).await?;
    let row = if named.is_empty() { ledger.unsettled(Effects::PROCEDURE, None).await? } else { ledger.run(named).await? };
    let Some(row) = row else {
        return Err(Situation::new("unknown-run", exit::USAGE, "there is no unfinished run to go on with")
            .help("`tribunal history` lists finished ones"));
    };
    let request = stored::<Effects>(&row)?.request;
    let reporter = progress::Reporter::new(quiet);
    let recording = Recording { keep_questions: args.record, play: None };
    let agents = Agents::new(Arc::clone(&ledger), workspace::scratch_root(), recording);
    if request.pull.is_some() {
        let host = pull::host(&request, Arc::clone(&ledger), agents, &reporter).await?;
        let state = unless_interrupted(host.resume(row), &reporter).await?;
        return pull::end(state, &ledger, args, quiet).await;
    }
    let rules = workspace::rules_of(repository.as_deref(), &request)?;
    let effects = Effects::new(repository.clone(), Arc::new(rules), agents, reporter.listener());
    let host = Host { ledger: Arc::clone(&ledger), effects: Arc::new(effects), folder };
    let case_id = row.case_id.clone();
    let state = unless_interrupted(host.resume(row), &reporter).await?;
    let code = finish(state, &ledger, &args.output, quiet).await?;
    // The run is finished all the same: what was answered is kept, and the next review builds on it.
    match target::moved_on(&request, &case_id, repository.as_deref())? {
        None => Ok(code),
        Some(situation) => Err(situation),
    }
}

/// What is kept of the calls of this run, and whose answers it is given.
async fn recording(args: &ReviewArgs, ledger: &Ledger) -> Result<Recording, Situation> {
    let play = match &args.play {
        None => None,
        Some(named) => Some(RunId(super::history::find(ledger, named).await?.run)),
    };
    Ok(Recording { keep_questions: args.record, play })
}

/// Ctrl-C ends every agent that is still running; what was stored stays, and the run can be resumed.
async fn unless_interrupted(
    work: impl Future<Output = Result<State, EngineError>>,
    reporter: &progress::Reporter,
) -> Result<State, Situation> {
    let state = tokio::select! {
        state = work => state,
        () = interrupt() => {
            tribunal_agent::process::end_all();
            reporter.finish();
            return Err(Situation::new("interrupted", 130, "interrupted")
                .help("what was done is kept; go on with: tribunal review --resume"));
        }
    };
    reporter.finish();
    Ok(state?)
}

#[cfg(unix)]
pub(super) async fn interrupt() {
    use tokio::signal::unix::{SignalKind, signal};
    let Ok(mut terminate) = signal(SignalKind::terminate()) else { return std::future::pending().await };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        _ = terminate.recv() => {}
    }
}

#[cfg(not(unix))]
pub(super) async fn interrupt() {
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending().await
    }
}

/// Ends a run: prints its document, or says why there is none.
async fn finish(state: State, ledger: &Ledger, output: &OutputArgs, quiet: bool) -> Result<u8, Situation> {
    match state.phase {
        Phase::Done(document) => print(&document, output),
        Phase::Noop { head, last_run, document } => {
            let document = match document {
                Some(document) => *document,
                None => {
                    let row = ledger.document(last_run.as_str()).await?.ok_or_else(|| {
                        Situation::new(
                            "unknown-run",
                            exit::INCOMPLETE,
                            format!("the review {last_run} that still stands is gone"),
                        )
                        .help("review again: tribunal review --mode full")
                    })?;
                    read_document(&row.body, last_run.as_str())?
                }
            };
            if !quiet {
                out::note(&format!(
                    "Nothing new since {}: the review {last_run} stands. `--mode full` reviews again.",
                    head.short()
                ));
            }
            print(&document.standing(), output)
        }
        Phase::NotRun { reason } => Err(Situation::new("nothing-to-review", exit::USAGE, reason)
            .help("nothing was reviewed, so nothing is green; choose another base with --base, or a commit with --commit")),
        Phase::Failed { reason } => Err(Situation::new("not-reviewed", exit::INCOMPLETE, reason)
            .help("nothing was reviewed; `tribunal doctor` checks the set-up")),
        Phase::Reading | Phase::Reviewing(_) | Phase::Verifying(_) | Phase::Publishing(_) | Phase::Declining { .. } => {
            Err(Situation::new("engine-failed", exit::INCOMPLETE, "the run stopped half-way")
                .help("go on with: tribunal review --resume"))
        }
    }
}

pub fn read_document(body: &str, run: &str) -> Result<Document, Situation> {
    serde_json::from_str(body).map_err(|error| {
        Situation::new("engine-failed", exit::INCOMPLETE, format!("the stored review {run} cannot be read: {error}"))
    })
}

/// Prints a document in the format that was asked for. All reviewers failing means no review (PR-7).
pub fn print(document: &Document, output: &OutputArgs) -> Result<u8, Situation> {
    render::write(document, output)?;
    Ok(document.exit_code())
}

fn request(args: &ReviewArgs, setup: &Setup, chosen: &target::Chosen) -> Result<Request, Situation> {
    let spec = if args.spec.is_empty() {
        None
    } else {
        Some(args.spec.iter().map(|spec| spec_text(spec)).collect::<Result<Vec<_>, _>>()?.join("\n\n"))
    };
    let context = args.context.as_deref().map(path_or_text).transpose()?;
    for text in context.iter().chain(setup.policy.context.iter()) {
        parse_context(text)?.check(&setup.roles)?;
    }
    let test_direction = args
        .test_direction
        .as_deref()
        .map(str::parse::<TestDirection>)
        .transpose()
        .map_err(|problem| Situation::new("bad-context", exit::USAGE, problem))?;
    // Inputs change what a review says, so they are part of what it must match to be built on.
    let inputs = format!("{}\n{spec:?}\n{context:?}\n{test_direction:?}", setup.fingerprint);
    Ok(Request {
        run: run_id(),
        engine: ENGINE.to_owned(),
        target: chosen.target.clone(),
        mode: match args.mode {
            ModeArg::Auto => RequestedMode::Auto,
            ModeArg::Full => RequestedMode::Full,
            ModeArg::Incremental => RequestedMode::Incremental,
        },
        spec,
        test_direction,
        context,
        policy: setup.policy.clone(),
        roles: setup.roles.clone(),
        fingerprint: sha256_hex(inputs.as_bytes()),
        rules_hash: setup.rules_hash.clone(),
        guidance_at: setup.guidance_at.clone(),
        committed_only: args.committed,
        left_out: chosen.left_out.clone(),
        included: chosen.included.clone(),
        notices: setup.notices.iter().chain(&chosen.notices).cloned().chain(unconfined(setup)).collect(),
        pull: None,
        nonce: nonce(),
    })
}

/// The maintainers' guidance is read from before the change, also where the change is part of the default branch already.
fn before_the_change(request: &Request, repository: Option<&Repository>) -> Option<Sha> {
    let at = request.guidance_at.clone()?;
    match (&request.target, repository) {
        (Target::Trees { base, tip: None, .. }, Some(repository)) if repository.is_ancestor(base, &at) => Some(base.clone()),
        (Target::Trees { .. } | Target::Patch { .. }, _) => Some(at),
    }
}

/// Said loudly where a program of the panel would run with nothing around it.
fn unconfined(setup: &Setup) -> Option<String> {
    let library = setup.merged.config.library.qmd.as_ref().map(|_| ("library.qmd", ProgramNetwork::Anybody));
    unconfined_notice(programs(&setup.policy, &[]).chain(library), &lack_that_is_allowed)
}

/// The programs of the panel, of the second opinion and of agents `besides`, by the agents' names.
pub(super) fn programs<'a>(policy: &'a Policy, besides: &'a [&'a AgentName]) -> impl Iterator<Item = (&'a str, ProgramNetwork)> {
    let players = policy.panel.values().flatten().flat_map(Player::agents);
    let verifier = policy.verify.iter().map(|verify| &verify.agent);
    let all = players.chain(verifier).chain(besides.iter().copied());
    all.filter_map(|name| Some((name.as_str(), policy.agents.get(name)?.program_network()?)))
}

/// A spec without a word would call the auditor and hold the change against nothing (PR-51, PR-104).
fn spec_text(given: &str) -> Result<String, Situation> {
    let text = path_or_text(given)?;
    if text.trim().is_empty() {
        let what = if given.trim().is_empty() { "the spec" } else { given };
        return Err(Situation::new(
            "bad-context",
            exit::USAGE,
            format!("{what} is empty: there is nothing to hold the change against"),
        )
        .help("leave --spec out, or give a spec with text in it"));
    }
    Ok(text)
}

/// A file if there is one of that name, else the text itself. What looks like a path and is none is refused, not reviewed against.
fn path_or_text(given: &str) -> Result<String, Situation> {
    let path = std::path::Path::new(given);
    if !given.contains('\n') && path.is_file() {
        let unreadable = |problem: String| Situation::new("bad-context", exit::USAGE, problem);
        // What it says goes to reviewers, so it must not be another file than the person sees.
        let bytes = read_named_file(path, MAX_TEXT_BYTES).map_err(|error| unreadable(error.to_string()))?;
        return String::from_utf8(bytes).map_err(|_| unreadable(format!("{given} is no text in UTF-8")));
    }
    let looks_like_a_path = !given.contains(char::is_whitespace) && (given.contains('/') || path.extension().is_some());
    if looks_like_a_path {
        return Err(Situation::new("bad-context", exit::USAGE, format!("there is no file `{given}`"))
            .help("pass an existing file, or text with spaces in it"));
    }
    Ok(given.to_owned())
}

/// Unknown to whoever wrote the change.
pub(super) fn nonce() -> String {
    // The standard library seeds each hasher's keys from the system's source of randomness.
    use std::hash::{BuildHasher as _, RandomState};
    (0..4).map(|n| format!("{:016x}", RandomState::new().hash_one(n))).collect()
}

/// Sorts by time and is unique on this machine.
pub(super) fn run_id() -> RunId {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let noise = sha256_hex(format!("{}-{}", now.as_nanos(), std::process::id()).as_bytes());
    RunId(format!("r{:08x}{}", now.as_secs(), &noise[..6]))
}

fn flag_layer(args: &ReviewArgs) -> Result<Option<Layer>, Situation> {
    let mut text = String::new();
    if let Some(level) = args.fail_level {
        let level = match level {
            FailLevelArg::P0 => "P0",
            FailLevelArg::P1 => "P1",
            FailLevelArg::P2 => "P2",
            FailLevelArg::P3 => "P3",
            FailLevelArg::Never => "never",
        };
        text.push_str(&format!("review.fail_level = \"{level}\"\n"));
    }
    if !args.skip.is_empty() {
        let globs: Vec<toml::Value> = args.skip.iter().cloned().map(toml::Value::String).collect();
        text.push_str(&format!("files.skip = {}\n", toml::Value::Array(globs)));
    }
    if let Some(dollars) = args.budget {
        text.push_str(&format!("budget.run_usd = {dollars:?}\n"));
    }
    if text.is_empty() { Ok(None) } else { Ok(Some(read_layer("flags", &text)?)) }
}
