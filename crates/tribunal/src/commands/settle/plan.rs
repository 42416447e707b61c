//! Which plan, and at which level.

use crate::cli::settle::SettleArgs;
use crate::situation::{Situation, exit};
use crate::terminal::out;
use std::io::{BufRead as _, IsTerminal as _};
use std::path::{Path, PathBuf};
use tribunal_core::policy::settle::Level;
use tribunal_core::procedure::settle::plan_file::Plan;
use tribunal_core::procedure::settle::plan_file::read::{read, session_level};
use tribunal_engine::checkout_file::could_be_brought;
use tribunal_forge::git::Repository;
use tribunal_forge::git::work_file::{
    MAX_TEXT_BYTES, WorkFileError, check_work_path, list_work_folder, read_regular_file, read_work_file,
};

/// Where plans lie (TS-34).
const PLANS: &str = ".hall-cache/plans";
/// No plan is longer.
const MAX_PLAN_BYTES: u64 = 20 * 1024 * 1024;
const SESSION: &str = "session/config.json";

pub struct Chosen {
    pub path: PathBuf,
    pub plan: Plan,
    /// Nothing when neither somebody, nor the plan, nor its session has said one.
    pub level: Option<Level>,
}

pub fn choose(args: &SettleArgs, here: Option<&Repository>) -> Result<Chosen, Situation> {
    let path = match &args.plan {
        Some(path) => path.clone(),
        None => newest(here)?,
    };
    let bad = |problem: String| Situation::new("bad-plan", exit::USAGE, problem);
    let unread = |problem: String| bad(problem).help("name a plan that is there: tribunal settle --plan FILE");
    let bytes = read_regular_file(&path, MAX_PLAN_BYTES).map_err(|error| unread(error.to_string()))?;
    let text = String::from_utf8(bytes).map_err(|_| unread(format!("{} is no text in UTF-8", path.display())))?;
    let no_path = |error: std::io::Error| unread(format!("{} cannot be read: {error}", path.display()));
    // A link that git tracks was brought along, wherever it leads.
    let named = std::path::absolute(&path).map_err(no_path)?;
    let path = path.canonicalize().map_err(no_path)?;
    let plan = read(&text).map_err(|error| {
        bad(format!("{}: {error}", path.display())).help("`tribunal schema plan` prints what a plan may hold")
    })?;
    let is_brought = could_be_brought(&named) || could_be_brought(&path);
    if is_brought && args.plan.is_none() {
        let message = format!("git tracks {}, so whoever wrote this branch chose its tasks and its level", path.display());
        let help = "read it, and if it is the plan that you mean: tribunal settle --plan FILE --level N";
        return Err(Situation::new("bad-plan", exit::USAGE, message).help(help));
    }
    let level = level(args, &path, &plan, is_brought)?;
    Ok(Chosen { path, plan, level })
}

/// The lexicographically last one: their names begin with a date.
fn newest(here: Option<&Repository>) -> Result<PathBuf, Situation> {
    let top = match here.and_then(|repository| repository.work_tree.clone()) {
        Some(top) => top,
        None => PathBuf::from("."),
    };
    let linked = |error: WorkFileError| Situation::new("bad-plan", exit::USAGE, error.to_string());
    let mut plans = Vec::new();
    for folder in list_work_folder(&top, Path::new(PLANS)).map_err(linked)? {
        let plan = Path::new(PLANS).join(folder).join("plan.json");
        if check_work_path(&top, &plan).map_err(linked)? && top.join(&plan).is_file() {
            plans.push(top.join(plan));
        }
    }
    plans.pop().ok_or_else(|| {
        Situation::new("no-plan", exit::USAGE, format!("there is no {PLANS}/*/plan.json here"))
            .help("name the plan: tribunal settle --plan FILE")
    })
}

/// TS-33: in the middle of a plan the level is changed only by somebody who says that it is meant. A level that a branch could have
/// written is nobody's: the person or the base's configuration says one.
fn level(args: &SettleArgs, path: &Path, plan: &Plan, is_brought: bool) -> Result<Option<Level>, Situation> {
    let before = plan.automation_level.filter(|_| !is_brought);
    match (args.level, before) {
        (Some(wanted), Some(before)) if wanted != before && !args.dry_run => {
            if args.yes || confirmed(before, wanted)? {
                return Ok(Some(wanted));
            }
            let message = format!("this plan is settled at level {before}, and {wanted} was asked for");
            Err(Situation::new("level-changed", exit::USAGE, message).help("pass --yes if that is meant"))
        }
        (Some(wanted), _) => Ok(Some(wanted)),
        (None, Some(before)) => Ok(Some(before)),
        (None, None) if is_brought => Ok(None),
        (None, None) => of_session(path),
    }
}

/// TS-28, TS-31: the level of the session that the plan was made in.
fn of_session(plan: &Path) -> Result<Option<Level>, Situation> {
    let cache = plan.ancestors().find(|folder| folder.ends_with("plans")).and_then(Path::parent);
    let Some(cache) = cache else { return Ok(None) };
    let bad = |problem: String| Situation::new("bad-plan", exit::USAGE, format!("{}: {problem}", cache.join(SESSION).display()));
    let read = read_work_file(cache, Path::new(SESSION), MAX_TEXT_BYTES).map_err(|error| bad(error.to_string()))?;
    let Some(bytes) = read else { return Ok(None) };
    session_level(&String::from_utf8_lossy(&bytes)).map_err(bad)
}

fn confirmed(before: Level, wanted: Level) -> Result<bool, Situation> {
    if !std::io::stdin().is_terminal() {
        return Ok(false);
    }
    out::page(&format!(
        "This plan is settled at level {before} ({}). Go on at level {wanted} ({})? [y/N] ",
        before.word(),
        wanted.word()
    ))?;
    let mut answer = String::new();
    Ok(std::io::stdin().lock().read_line(&mut answer).is_ok() && answer.trim().eq_ignore_ascii_case("y"))
}
