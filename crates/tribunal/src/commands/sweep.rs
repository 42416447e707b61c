//! `tribunal sweep`

mod aim;
mod ask_for_one;
mod request;

use super::clerk::Clerk;
use super::library;
use super::review::interrupt;
use super::review::pull::{clone_folder, on_forge};
use crate::cli::loops::LoopFormat;
use crate::cli::sweep::SweepArgs;
use crate::situation::{Situation, exit};
use crate::terminal::out::Printable;
use crate::terminal::sweep::page;
use crate::terminal::{asker, file, out, progress};
use crate::workspace::forge::Connected;
use crate::workspace::guidance::Guidance;
use crate::workspace::{self, Person};
use aim::Aim;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use tokio::sync::watch;
use tribunal_core::policy::library::LibraryPolicy;
use tribunal_core::procedure::sweep::report::{Report, markdown::markdown, text::text};
use tribunal_core::procedure::sweep::{Input, Request, State};
use tribunal_core::pull::place::ForgeKind;
use tribunal_engine::host::Work as _;
use tribunal_engine::host::embedded::Host;
use tribunal_engine::sweep::bring::Clones;
use tribunal_engine::sweep::lock::SetLock;
use tribunal_engine::sweep::{BaseSays, HandOver, Sweeps, folder_of};
use tribunal_engine::{EngineError, Listener, Progress};
use tribunal_forge::git::Repository;
use tribunal_store::Ledger;

/// Where a sweep keeps what.
struct Places {
    ledger: PathBuf,
    /// What is held while a run is worked on.
    runs: PathBuf,
    /// The lock of the set.
    lock: PathBuf,
    /// Budget and history of a loop.
    files: PathBuf,
}

impl Places {
    fn of(connected: &Connected, here: Option<&Repository>) -> Self {
        let (ledger, runs) = (workspace::ledger_folder(here), Person::here().state);
        let project = folder_of(&runs, &connected.place.project);
        // Every local forge is the same project; its own folder tells it from others.
        let lock = if connected.place.kind == ForgeKind::Local { ledger.join("sweep") } else { project.clone() };
        let files = if here.is_some() { ledger.join("sweep") } else { project };
        Places { ledger, runs, lock, files }
    }

    /// A dry run leaves nothing behind.
    fn aside(folder: &Path) -> Self {
        let folder = folder.to_path_buf();
        Places { ledger: folder.clone(), runs: folder.clone(), lock: folder.clone(), files: folder }
    }
}

pub async fn run(args: &SweepArgs, quiet: bool) -> Result<u8, Situation> {
    let here = workspace::discover_optional()?.map(Arc::new);
    let personal = workspace::personal_config()?;
    let Aim { connected, target } = aim::aim(args, here.as_deref(), &personal.forge).await?;
    let aside = args.dry_run.then(tempfile::tempdir).transpose().map_err(|error| {
        Situation::new("engine-failed", exit::INCOMPLETE, format!("a temporary folder cannot be made: {error}"))
    })?;
    let places = aside.as_ref().map_or_else(|| Places::of(&connected, here.as_deref()), |folder| Places::aside(folder.path()));
    let request = request::request(args, &connected, target, here.clone(), &places.files).await?;
    let case_id = case_id(&request);
    let ledger = workspace::open_ledger(&places.ledger).await?;
    let reporter = progress::Reporter::new(quiet);
    let (tell, interrupted) = watch::channel(false);
    let handed: Arc<OnceLock<Result<(), Situation>>> = Arc::default();
    let host = Host {
        effects: Arc::new(sweeps(args, connected, here, &ledger, &places, &interrupted, &reporter, hand_over(args, &handed))),
        ledger: Arc::clone(&ledger),
        folder: places.runs.clone(),
    };
    let state = tokio::select! {
        state = work(&host, &ledger, Asked { request, resumes: args.loops.resume, case_id }, interrupted.clone(), quiet) => state?,
        () = until_twice(&tell, quiet) => {
            tribunal_agent::process::end_all();
            reporter.finish();
            return Err(Situation::new("interrupted", 130, "interrupted, twice").help("what was done is kept; the same command goes on"));
        }
    };
    reporter.finish();
    let Some(report) = state.report() else {
        return Err(Situation::new("engine-failed", exit::INCOMPLETE, "the sweep ended without a report"));
    };
    // A run that was killed after its report was given says it again.
    handed.get_or_init(|| print(report, args)).clone()?;
    Ok(report.exit_code)
}

/// Another way of ending, merging or choosing is another piece of work: what was begun so is never gone on with otherwise.
fn case_id(request: &Request) -> String {
    let project = format!("{}/{}", request.project.origin, request.project.path);
    let mode = if request.looping().is_some() { "loop" } else { "once" };
    format!("sweep:{project}:{}:{mode}:{:?}", request.target.words(), request.terms.merging)
}

struct Asked {
    request: Request,
    /// `--resume`
    resumes: bool,
    case_id: String,
}

async fn work(
    host: &Host<Sweeps>,
    ledger: &Ledger,
    Asked { mut request, resumes, case_id }: Asked,
    interrupted: watch::Receiver<bool>,
    quiet: bool,
) -> Result<State, Situation> {
    let interrupt = || {
        let mut interrupted = interrupted.clone();
        async move {
            if interrupted.wait_for(|interrupted| *interrupted).await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    };
    // Killed before: it goes on with what it was asked for then, however far it had got with its files.
    if let Some(row) = ledger.unsettled(Sweeps::PROCEDURE, Some(&case_id)).await? {
        let id = row.id.clone();
        match host.resume_until(row, interrupt()).await {
            // Somebody works on it; the lock of the set says what follows.
            Err(EngineError::Busy { .. }) => {}
            other => {
                if !quiet {
                    out::note(&format!("went on with {id}, which was not finished"));
                }
                return Ok(other?);
            }
        }
    }
    if resumes {
        request::resume(&mut request)?;
    }
    let run = request.run.clone();
    Ok(host.begin_until(&run, Input::Start { request: Box::new(request) }, &case_id, interrupt()).await?)
}

/// The first interrupt lets what is under way come to its end; the second one does not.
async fn until_twice(tell: &watch::Sender<bool>, quiet: bool) {
    interrupt().await;
    if !quiet {
        out::note("Interrupted: what is under way is finished, and nothing new is begun. Once more ends it now.");
    }
    tell.send_replace(true);
    interrupt().await;
}

#[allow(clippy::too_many_arguments, reason = "each is a different thing, made by the one caller")]
fn sweeps(
    args: &SweepArgs,
    connected: Connected,
    here: Option<Arc<Repository>>,
    ledger: &Arc<Ledger>,
    places: &Places,
    interrupted: &watch::Receiver<bool>,
    reporter: &progress::Reporter,
    hand_over: HandOver,
) -> Sweeps {
    let listener = reporter.listener();
    let clones = Clones::new(connected.place.kind, here.clone(), clone_folder(&connected));
    let on = on_forge(&connected);
    let library = Arc::new(library::open(Some(&connected), here.as_deref(), ledger));
    let module = args.module.clone();
    let place = connected.place.clone();
    let clerk = Clerk {
        connected,
        here: here.clone(),
        ledger: Arc::clone(ledger),
        listener: only_waiting(&listener),
        fetching: tokio::sync::Mutex::default(),
    };
    Sweeps {
        on,
        ledger: Arc::clone(ledger),
        one: Arc::new(clerk),
        clones,
        base: Arc::new(move |repository, base| {
            let merged =
                workspace::merged_with(&Guidance::at(repository, base, &place), None).map_err(|situation| situation.happened)?;
            let library = LibraryPolicy::new(&merged.config, module.as_deref())?;
            Ok(BaseSays { merge: merged.config.merge.policy(), library })
        }),
        library,
        lock: SetLock { folder: places.lock.clone(), runs: places.runs.clone() },
        asker: (asker::is_there() && !args.yes).then(asker::asker),
        person: workspace::person(here.as_deref()),
        hand_over,
        interrupted: interrupted.clone(),
        listener,
    }
}

/// Several pull requests at once: who looks at which is more than anybody follows.
fn only_waiting(listener: &Listener) -> Listener {
    let listener = Arc::clone(listener);
    Arc::new(move |progress| {
        if matches!(progress, Progress::Waiting { .. }) {
            listener(progress);
        }
    })
}

fn hand_over(args: &SweepArgs, handed: &Arc<OnceLock<Result<(), Situation>>>) -> HandOver {
    let (handed, format, output) = (Arc::clone(handed), args.format, args.output.clone());
    Arc::new(move |report| {
        handed.get_or_init(|| print_as(report, format, output.as_deref()));
    })
}

fn print(report: &Report, args: &SweepArgs) -> Result<(), Situation> {
    print_as(report, args.format, args.output.as_deref())
}

fn print_as(report: &Report, format: LoopFormat, output: Option<&Path>) -> Result<(), Situation> {
    let ended = |text: String| if text.ends_with('\n') { text } else { text + "\n" };
    let printable = match format {
        LoopFormat::Text => Printable::plain(&ended(text(report))),
        LoopFormat::Markdown => Printable::plain(&ended(markdown(report))),
        LoopFormat::Json => Printable::json_of(report)?,
    };
    match (output, format) {
        (Some(file), _) => file::write(file, printable.as_str()),
        (None, LoopFormat::Text) => out::page(&page(report)),
        (None, LoopFormat::Markdown | LoopFormat::Json) => out::write(&printable),
    }
}
