//! From flags and configuration to what a sweep is asked for.

use crate::cli::sweep::{LockArg, SweepArgs};
use crate::commands::review::pull::fetch;
use crate::commands::review::{nonce, run_id};
use crate::situation::{Situation, exit};
use crate::terminal::asker;
use crate::workspace::forge::Connected;
use crate::workspace::guidance::Guidance;
use crate::workspace::{self, Setup};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tribunal_core::policy::library::LibraryPolicy;
use tribunal_core::policy::loops::{LoopKind, LoopPolicy};
use tribunal_core::procedure::sweep::Request;
use tribunal_core::procedure::sweep::history::{Carried, carry};
use tribunal_core::procedure::sweep::request::{Flags, LockMode, LoopFlags, Looping, Mode, Target};
use tribunal_core::pull::facts::{PullFilter, PullState};
use tribunal_core::pull::fault::ForgeFault;
use tribunal_core::pull::place::Place;
use tribunal_engine::sweep::files;
use tribunal_forge::git::Repository;

const BUDGET: &str = "review.budget.json";
const HISTORY: &str = "review.history.jsonl";

pub async fn request(
    args: &SweepArgs,
    connected: &Connected,
    target: Target,
    here: Option<Arc<Repository>>,
    folder: &Path,
) -> Result<Request, Situation> {
    let setup = set_up(connected, &target, here).await?;
    let config = &setup.merged.config;
    let bad = |problem: String| Situation::new("bad-config", exit::USAGE, problem);
    LibraryPolicy::new(config, args.module.as_deref()).map_err(bad)?;
    let mut terms = flags(args).terms(&config.sweep).map_err(bad)?;
    if let Mode::Loop(looping) = &mut terms.mode {
        place(looping, args, folder)?;
        looping.rates = if config.prices.is_empty() { "built-in default" } else { "[prices]" }.to_owned();
    }
    let loops = LoopPolicy::new(LoopKind::Watch, config).map_err(bad)?.single_pass(config);
    Ok(Request {
        run: run_id(),
        engine: workspace::ENGINE.into(),
        forge: connected.place.kind,
        project: connected.place.project.clone(),
        target,
        terms,
        policy: setup.policy,
        loops,
        nonce: nonce(),
    })
}

/// What the base says of its own sweeping, where there is anything to be swept.
async fn set_up(connected: &Connected, target: &Target, here: Option<Arc<Repository>>) -> Result<Setup, Situation> {
    // One that was open a moment ago may be merged by now: then the next one is asked. Listed as open all the same, it is the forge's error.
    let mut over = BTreeSet::new();
    while let Some(number) = first_open(connected, target).await? {
        let place = Place { number, ..connected.place.clone() };
        let connected = Connected { forge: Arc::clone(&connected.forge), place, key: connected.key.clone() };
        match fetch(connected, here.clone()).await {
            Ok(at_hand) => {
                let guidance = Guidance::at(&at_hand.repository, &at_hand.base_tip, &at_hand.connected.place);
                return workspace::set_up_with(guidance, None);
            }
            Err(situation) if situation.code == "not-open" && over.insert(number) => {}
            Err(situation) => return Err(situation),
        }
    }
    workspace::set_up_with(Guidance::default(), None)
}

async fn first_open(connected: &Connected, target: &Target) -> Result<Option<u64>, Situation> {
    let numbers: Vec<u64> = match target {
        Target::Numbers(numbers) => numbers.iter().copied().collect(),
        Target::One(number) => vec![*number],
        Target::Spec(_) | Target::Open | Target::Label(_) | Target::Search(_) => {
            let pulls = connected.forge.pulls(&PullFilter::default()).await?;
            return Ok(pulls.iter().find(|pull| pull.state == PullState::Open).map(|pull| pull.number));
        }
    };
    for number in numbers {
        match connected.forge.pull(number).await {
            Ok(pull) if pull.state == PullState::Open => return Ok(Some(number)),
            Ok(_) | Err(ForgeFault::NotFound { .. }) => {}
            Err(fault) => return Err(fault.into()),
        }
    }
    Ok(None)
}

fn flags(args: &SweepArgs) -> Flags {
    let loops = &args.loops;
    Flags {
        pairs: args.pairs,
        no_merge: args.no_merge,
        merge: args.merge,
        dry_run: args.dry_run,
        module: args.module.clone(),
        terminal: asker::is_there(),
        yes: args.yes,
        answer: args.answer_within,
        checks: args.checks,
        looping: args.looping,
        loops: LoopFlags {
            pr: None,
            max_iterations: loops.max_iterations,
            max_prs: loops.max_prs,
            max_minutes: loops.max_minutes,
            max_dollars: loops.max_dollars,
            lock: loops.lock.map(|lock| match lock {
                LockArg::Skip => LockMode::Skip,
                LockArg::Wait => LockMode::Wait,
                LockArg::Force => LockMode::Force,
            }),
            resume: loops.resume,
            every: loops.every,
            budget_file: loops.budget_file.as_ref().map(|file| file.display().to_string()),
        },
    }
}

/// Never into the work tree, unless somebody says so; the history lies beside the budget.
fn place(looping: &mut Looping, args: &SweepArgs, folder: &Path) -> Result<(), Situation> {
    let budget = match &args.loops.budget_file {
        Some(file) => std::path::absolute(file).map_err(|error| unusable(format!("{}: {error}", file.display())))?,
        None => folder.join(BUDGET),
    };
    let history = budget.with_file_name(HISTORY);
    let name = |path: &PathBuf| {
        path.to_str().map(str::to_owned).ok_or_else(|| unusable(format!("{}: its name is not UTF-8", path.display())))
    };
    (looping.budget_file, looping.history_file) = (name(&budget)?, name(&history)?);
    Ok(())
}

/// `--resume`, where the ledger has no run that was not finished: it goes on with what the files of the last one say (SL-157).
pub fn resume(request: &mut Request) -> Result<(), Situation> {
    if let Mode::Loop(looping) = &mut request.terms.mode {
        looping.carried = Some(Box::new(carried(looping)?));
    }
    Ok(())
}

/// What the last run wrote, or why it cannot be gone on with.
fn carried(looping: &Looping) -> Result<Carried, Situation> {
    let text = |file: &str| files::text(Path::new(file)).map_err(unusable);
    let (budget, history) = (text(&looping.budget_file)?, text(&looping.history_file)?);
    let none = || {
        Situation::new(
            "nothing-to-resume",
            exit::USAGE,
            format!("there is no loop to go on with: none was begun here, and {} is not there", looping.budget_file),
        )
        .help("begin one without --resume, or name its file with --budget-file")
    };
    let budget = budget.ok_or_else(none)?;
    carry(Some(&budget), &history.unwrap_or_default()).map_err(|bad| unusable(format!("{}: {bad}", looping.budget_file)))
}

fn unusable(problem: String) -> Situation {
    Situation::new("bad-loop-file", exit::USAGE, problem).help(
        "it is never mended by itself: correct it, or remove it together with its neighbour and begin anew without --resume",
    )
}
