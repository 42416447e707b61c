//! `tribunal settle`

mod plan;

use super::clerk::Clerk;
use super::review::pull::{clone_folder, fetch, on_forge};
use super::review::{interrupt, run_id};
use crate::cli::loops::LoopFormat;
use crate::cli::settle::SettleArgs;
use crate::situation::{Situation, exit};
use crate::terminal::out::Printable;
use crate::terminal::{file, out, progress, table};
use crate::workspace::forge::{Connected, connect};
use crate::workspace::guidance::Guidance;
use crate::workspace::{self, Person, Setup};
use plan::{Chosen, choose};
use std::sync::Arc;
use tribunal_core::ids::Sha;
use tribunal_core::merge::policy::MergePolicy;
use tribunal_core::policy::settle::SettlePolicy;
use tribunal_core::policy::span::Span;
use tribunal_core::procedure::settle::{Input, Report, Request, State};
use tribunal_core::pull::facts::PullFilter;
use tribunal_core::pull::place::{Asked, ForgeKind, Hint, Place, project_of_remote};
use tribunal_engine::EngineError;
use tribunal_engine::host::Work as _;
use tribunal_engine::host::embedded::{Host, stored};
use tribunal_engine::settle::Settling;
use tribunal_forge::git::Repository;
use tribunal_store::Ledger;

pub async fn run(args: &SettleArgs, quiet: bool) -> Result<u8, Situation> {
    let here = workspace::discover_optional()?.map(Arc::new);
    let chosen = choose(args, here.as_deref())?;
    let personal = workspace::personal_config()?;
    let connected = connect(&asked(args, &chosen, here.as_deref())?, here.as_deref(), &personal.forge).await?;
    is_its_project(args, &chosen, &connected)?;
    let setup = settings(&connected, here.clone()).await?;
    let request = request(args, &chosen, &connected, &setup)?;

    // A rehearsal leaves nothing behind.
    let aside = args.dry_run.then(tempfile::tempdir).transpose().map_err(|error| {
        Situation::new("engine-failed", exit::INCOMPLETE, format!("a temporary folder cannot be made: {error}"))
    })?;
    let folder = aside.as_ref().map_or_else(|| workspace::ledger_folder(here.as_deref()), |folder| folder.path().to_owned());
    let ledger = workspace::open_ledger(&folder).await?;
    let case_id = case_id(&chosen, &connected.place);
    let reporter = progress::Reporter::new(quiet);
    let host = host(&connected, here, &ledger, &reporter);
    let work = async {
        let unfinished = match args.dry_run {
            true => None,
            false => ledger.unsettled(Settling::PROCEDURE, Some(&case_id)).await?,
        };
        match unfinished {
            // Killed or interrupted before: it goes on.
            Some(row) if is_same(&stored::<Settling>(&row)?, &request) => {
                if !quiet {
                    out::note(&format!("going on with {}, which was not finished", row.id));
                }
                Ok(host.resume(row).await?)
            }
            // Somebody wants something else now. What was done stands on the forge and in the plan.
            Some(row) => {
                host.tell(row, Input::Superseded).await?;
                begin(&host, request, &case_id).await
            }
            None => begin(&host, request, &case_id).await,
        }
    };
    let state = unless_interrupted(work, &reporter).await?;
    let Some(report) = state.report() else {
        return Err(Situation::new("engine-failed", exit::INCOMPLETE, "the run ended without a report"));
    };
    print(report, args)?;
    if let Some(why) = &report.failed {
        return Err(Situation::new("not-settled", report.exit_code(), why.to_string())
            .help("what was done is kept; the same command goes on from there"));
    }
    Ok(report.exit_code())
}

async fn begin(host: &Host<Settling>, request: Request, case_id: &str) -> Result<State, Situation> {
    let run = request.run.clone();
    Ok(host.begin(&run, Input::Start { request: Box::new(request) }, case_id).await?)
}

fn is_same(unfinished: &State, request: &Request) -> bool {
    let before = &unfinished.request;
    (before.level, before.watch, &before.plan) == (request.level, request.watch, &request.plan)
}

async fn unless_interrupted(
    work: impl Future<Output = Result<State, Situation>>,
    reporter: &progress::Reporter,
) -> Result<State, Situation> {
    let state = tokio::select! {
        state = work => state,
        () = interrupt() => {
            tribunal_agent::process::end_all();
            reporter.finish();
            return Err(Situation::new("interrupted", 130, "interrupted")
                .help("what was done is kept; the same `tribunal settle` goes on"));
        }
    };
    reporter.finish();
    state
}

/// Which forge is meant: what was typed, this checkout's, or what the plan names.
fn asked(args: &SettleArgs, chosen: &Chosen, here: Option<&Repository>) -> Result<Asked, Situation> {
    let of_path = |path: &str| Asked::OfPath { path: path.to_owned(), number: 0 };
    match (&args.repo, here) {
        (Some(text), _) if text.contains("://") || text.contains('@') => {
            let project = project_of_remote(text).ok_or_else(|| {
                Situation::new("no-forge", exit::USAGE, format!("`{text}` is no address of a repository"))
                    .help("give it as https://host/owner/name, or as owner/name")
            })?;
            // What runs there is asked.
            Ok(Asked::Address { project, number: 0, hint: Hint::GiteaOrForgejo })
        }
        (Some(path), _) => Ok(of_path(path)),
        (None, Some(_)) => Ok(Asked::Number(0)),
        (None, None) => Ok(of_path(&chosen.plan.repo)),
    }
}

/// A plan of another repository would settle the wrong pull requests. A plain repository has no name to compare.
fn is_its_project(args: &SettleArgs, chosen: &Chosen, connected: &Connected) -> Result<(), Situation> {
    let (wanted, found) = (&chosen.plan.repo, &connected.place.project.path);
    if connected.place.kind == ForgeKind::Local || args.repo.is_some() || wanted.eq_ignore_ascii_case(found) {
        return Ok(());
    }
    Err(Situation::new("plan-elsewhere", exit::USAGE, format!("the plan is of {wanted}, and this is a checkout of {found}"))
        .help("run it in a checkout of its repository, or name it: --repo"))
}

/// Configuration as the base has it. Where nothing is open there is nothing to decide, and this checkout's own will do.
async fn settings(connected: &Connected, here: Option<Arc<Repository>>) -> Result<Setup, Situation> {
    let trunk = connected.forge.trunk().await?;
    let mut open = connected.forge.pulls(&PullFilter::default()).await?;
    open.sort_by_key(|pull| (pull.base.branch != trunk, pull.number));
    let Some(number) = open.first().map(|pull| pull.number) else { return workspace::set_up(here.as_deref(), None) };
    let at_hand = fetch(
        Connected {
            forge: Arc::clone(&connected.forge),
            place: Place { number, ..connected.place.clone() },
            key: connected.key.clone(),
        },
        here,
    )
    .await?;
    workspace::set_up_with(Guidance::at(&at_hand.repository, &at_hand.base_tip, &at_hand.connected.place), None)
}

fn request(args: &SettleArgs, chosen: &Chosen, connected: &Connected, setup: &Setup) -> Result<Request, Situation> {
    let config = &setup.merged.config;
    let mut policy = SettlePolicy::new(config).map_err(|problem| Situation::new("bad-config", exit::USAGE, problem))?;
    policy.poll = args.poll.unwrap_or(policy.poll).max(Span::seconds(1));
    policy.total = args.total.unwrap_or(policy.total);
    let level = chosen.level.or(config.settle.level).unwrap_or_default();
    Ok(Request {
        run: run_id(),
        engine: workspace::ENGINE.into(),
        kind: connected.place.kind,
        project: connected.place.project.clone(),
        plan: chosen.path.display().to_string(),
        level,
        remember_level: args.level.is_some() && !args.dry_run,
        dry_run: args.dry_run,
        watch: args.watch,
        policy,
    })
}

/// One plan of one project, from whichever checkout it is settled (CF-29).
fn case_id(chosen: &Chosen, place: &Place) -> String {
    match place.kind {
        ForgeKind::Local => format!("settle:local:{}", chosen.path.display()),
        ForgeKind::GitHub | ForgeKind::GitLab | ForgeKind::Gitea | ForgeKind::Forgejo => {
            format!("settle:{}/{}:{}", place.project.host().to_lowercase(), place.project.path.to_lowercase(), chosen.plan.id)
        }
    }
}

fn host(
    connected: &Connected,
    here: Option<Arc<Repository>>,
    ledger: &Arc<Ledger>,
    reporter: &progress::Reporter,
) -> Host<Settling> {
    let clerk = Clerk {
        connected: Connected { forge: Arc::clone(&connected.forge), place: connected.place.clone(), key: connected.key.clone() },
        here: here.clone(),
        ledger: Arc::clone(ledger),
        listener: reporter.listener(),
        fetching: tokio::sync::Mutex::new(()),
    };
    let place = connected.place.clone();
    let settling = Settling {
        on: on_forge(connected),
        clerk: Arc::new(clerk),
        ledger: Arc::clone(ledger),
        here,
        clone: clone_folder(connected),
        merge_policy: Arc::new(move |repository, base| merge_policy(repository, base, &place)),
        listener: reporter.listener(),
    };
    Host { ledger: Arc::clone(ledger), effects: Arc::new(settling), folder: Person::here().state }
}

/// `[merge]` as the base says it at the moment of the merge, under what this person and the environment say.
fn merge_policy(repository: &Repository, base: &Sha, place: &Place) -> Result<MergePolicy, EngineError> {
    let setup = workspace::set_up_with(Guidance::at(repository, base, place), None);
    setup.map(|setup| setup.merged.config.merge.policy()).map_err(|situation| EngineError::Worker(situation.happened))
}

fn print(report: &Report, args: &SettleArgs) -> Result<(), Situation> {
    let ended = |text: String| if text.ends_with('\n') { text } else { text + "\n" };
    let printable = match args.format {
        LoopFormat::Text => Printable::page(&ended(text(report))),
        LoopFormat::Markdown => Printable::plain(&ended(report.markdown())),
        LoopFormat::Json => Printable::json_of(report)?,
    };
    match &args.output {
        Some(file) => file::write(file, printable.as_str()),
        None => out::write(&printable),
    }
}

fn text(report: &Report) -> String {
    let rows = report.rows().into_iter().map(|row| row.to_vec());
    let mut lines = vec![report.heading(), String::new(), table::table(&Report::HEADINGS, rows), String::new()];
    lines.extend(report.asides());
    lines.push(report.summary.clone());
    lines.join("\n")
}
