//! Which plan, and at which level.

use crate::cli::settle::SettleArgs;
use crate::situation::{Situation, exit};
use crate::terminal::out;
use std::io::{BufRead as _, IsTerminal as _};
use std::path::{Path, PathBuf};
use tribunal_core::policy::settle::Level;
use tribunal_core::procedure::settle::plan_file::Plan;
use tribunal_core::procedure::settle::plan_file::read::{read, session_level};
use tribunal_forge::git::Repository;

/// Where plans lie (TS-34).
const PLANS: &str = ".hall-cache/plans";
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
    let unread = |error: std::io::Error| {
        bad(format!("{} cannot be read: {error}", path.display())).help("name a plan that is there: tribunal settle --plan FILE")
    };
    let text = std::fs::read_to_string(&path).map_err(unread)?;
    let path = path.canonicalize().map_err(unread)?;
    let plan = read(&text).map_err(|error| {
        bad(format!("{}: {error}", path.display())).help("`tribunal schema plan` prints what a plan may hold")
    })?;
    let level = level(args, &path, &plan)?;
    Ok(Chosen { path, plan, level })
}

/// The lexicographically last one: their names begin with a date.
fn newest(here: Option<&Repository>) -> Result<PathBuf, Situation> {
    let top = match here.and_then(|repository| repository.work_tree.clone()) {
        Some(top) => top,
        None => PathBuf::from("."),
    };
    let folders = std::fs::read_dir(top.join(PLANS)).into_iter().flatten().flatten();
    let mut plans: Vec<PathBuf> = folders.map(|folder| folder.path().join("plan.json")).filter(|plan| plan.is_file()).collect();
    plans.sort();
    plans.pop().ok_or_else(|| {
        Situation::new("no-plan", exit::USAGE, format!("there is no {PLANS}/*/plan.json here"))
            .help("name the plan: tribunal settle --plan FILE")
    })
}

/// TS-33: in the middle of a plan the level is changed only by somebody who says that it is meant.
fn level(args: &SettleArgs, path: &Path, plan: &Plan) -> Result<Option<Level>, Situation> {
    let before = plan.automation_level;
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
        (None, None) => of_session(path),
    }
}

/// TS-28, TS-31: the level of the session that the plan was made in.
fn of_session(plan: &Path) -> Result<Option<Level>, Situation> {
    let cache = plan.ancestors().find(|folder| folder.ends_with("plans")).and_then(Path::parent);
    let Some(file) = cache.map(|cache| cache.join(SESSION)).filter(|file| file.is_file()) else { return Ok(None) };
    let bad = |problem: String| Situation::new("bad-plan", exit::USAGE, format!("{}: {problem}", file.display()));
    let text = std::fs::read_to_string(&file).map_err(|error| bad(error.to_string()))?;
    session_level(&text).map_err(bad)
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
