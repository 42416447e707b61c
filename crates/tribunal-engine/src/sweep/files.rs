//! The files of a loop: the budget, replaced whole, and the history, one line for each tick (SL sections 18 and 22). They are made of
//! what the ledger knows; what somebody else left there is refused with its reason, never mended (SL-128).

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;
use tribunal_core::procedure::sweep::history::{BudgetFile, HistoryLine};
use tribunal_forge::git::work_file::{check_named_path, read_named_file};

/// More than this at the end of a history is no line of one.
const LONGEST_LINE: u64 = 16 * 1024 * 1024;
/// Years of a loop's history.
const MAX_BYTES: u64 = 256 * 1024 * 1024;

/// Replaces the budget, whole or not at all.
pub fn put_budget(path: &Path, budget: &BudgetFile) -> Result<(), String> {
    let told = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let text = serde_json::to_string_pretty(budget).map_err(|error| told(&error))? + "\n";
    let checked = |path| check_named_path(path).map_err(|error| told(&error));
    let (path, temporary) = (&checked(path)?, checked(&path.with_extension("json.tmp"))?);
    let write = || -> std::io::Result<()> {
        make_folder(path)?;
        let mut file = File::create(&temporary)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        std::fs::rename(&temporary, path)
    };
    write().map_err(|error| told(&error))
}

/// Appends a line unless it stands there. Says whether the file is a new one.
pub fn put_line(path: &Path, line: &HistoryLine) -> Result<bool, String> {
    let told = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let text = serde_json::to_string(line).map_err(|error| told(&error))? + "\n";
    let path = &check_named_path(path).map_err(|error| told(&error))?;
    let write = || -> std::io::Result<bool> {
        make_folder(path)?;
        let is_new = !path.exists();
        let mut file = File::options().create(true).append(true).read(true).open(path)?;
        let end = ending(&mut file)?;
        let last = end.lines().next_back().and_then(|last| serde_json::from_str::<HistoryLine>(last).ok());
        if last.is_some_and(|last| last.run == line.run && last.tick == line.tick) {
            return Ok(false);
        }
        // Cut off in the middle of a line: what comes next must not become part of it.
        let gap = if end.is_empty() || end.ends_with('\n') { "" } else { "\n" };
        file.write_all(format!("{gap}{text}").as_bytes())?;
        file.sync_all()?;
        Ok(is_new)
    };
    write().map_err(|error| told(&error))
}

/// What is there; nothing when there is no such file.
pub fn text(path: &Path) -> Result<Option<String>, String> {
    match read_named_file(path, MAX_BYTES) {
        Ok(bytes) => String::from_utf8(bytes).map(Some).map_err(|_| format!("{} is not text in UTF-8", path.display())),
        Err(error) if error.is_not_found() => Ok(None),
        Err(error) => Err(error.to_string()),
    }
}

fn make_folder(path: &Path) -> std::io::Result<()> {
    path.parent().map_or(Ok(()), std::fs::create_dir_all)
}

/// The end of a file, as much as a line can be.
fn ending(file: &mut File) -> std::io::Result<String> {
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(LONGEST_LINE)))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(all(test, unix))]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use std::os::unix::fs::symlink;
    use tribunal_core::procedure::sweep::history::TickOutcome;
    use tribunal_core::procedure::sweep::lock::Skill;

    fn budget() -> BudgetFile {
        BudgetFile {
            started_at: "2026-01-01T00:00:00Z".into(),
            max_iterations: 1,
            max_prs: 1,
            max_minutes: 1,
            max_dollars: 0.0,
            iterations_used: 0,
            prs_touched: Vec::new(),
            comments_pushed: 0,
            merges_attempted: 0,
            minutes_elapsed: 0,
            tokens_in: 0,
            tokens_out: 0,
            agents_dispatched: 0,
            dollars_estimate: 0.0,
            rate_table_source: String::new(),
            qmd_failures_consecutive: 0,
            run: None,
        }
    }

    fn line() -> HistoryLine {
        HistoryLine {
            iteration: 1,
            skill: Skill::Review,
            started_at: String::new(),
            ended_at: String::new(),
            outcome: TickOutcome::Ok,
            prs_touched_this_iter: Vec::new(),
            agents_dispatched_this_iter: 0,
            tokens_in_this_iter: 0,
            tokens_out_this_iter: 0,
            dollars_this_iter: 0.0,
            budget_snapshot: budget(),
            tracked_prs: Vec::new(),
            active_worktrees: Vec::new(),
            gates: Vec::new(),
            stop_conditions_fired: Vec::new(),
            run: None,
            tick: Some(1),
        }
    }

    /// A loop may be told to keep its files in the checkout, where a branch can put a link under any of their names.
    #[test]
    fn nothing_is_read_or_written_through_a_link_of_the_checkout() {
        let folder = tempfile::tempdir().unwrap();
        let (top, mine) = (folder.path().join("top"), folder.path().join("mine"));
        std::fs::create_dir_all(top.join(".git")).unwrap();
        std::fs::write(&mine, "mine").unwrap();
        let path = top.join("review.budget.json");
        put_budget(&path, &budget()).unwrap();
        assert!(put_line(&top.join("history"), &line()).unwrap());
        assert!(text(&path).unwrap().unwrap().contains("max_minutes"));
        for name in ["linked.json", "other.json.tmp", "line"] {
            symlink(&mine, top.join(name)).unwrap();
        }
        let refusals = [
            put_budget(&top.join("linked.json"), &budget()).unwrap_err(),
            put_budget(&top.join("other.json"), &budget()).unwrap_err(),
            put_line(&top.join("line"), &line()).unwrap_err(),
            text(&top.join("linked.json")).unwrap_err(),
        ];
        assert!(refusals.iter().all(|refusal| refusal.contains("symbolic link")), "{refusals:?}");
        assert_eq!(std::fs::read_to_string(&mine).unwrap(), "mine");
    }
}
