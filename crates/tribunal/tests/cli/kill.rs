//! A run killed at any point goes on to the same result (issue 3, "Accepted when"; design rule 13).

use super::kill_moments::{Kills, wait_for_orphans};
use super::sandbox::{Document, NO_TLS, Sandbox, answering, claim, finish, open_when_read, wait_until};
use serde_json::json;
use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::Instant;

const MOMENTS: u32 = 20;

fn slow_panel() -> Sandbox {
    let sandbox = Sandbox::with_shared_list();
    sandbox.write("tls.py", NO_TLS);
    sandbox.commit("Fetch");
    // A model that takes its time: it is the agent that waits here, as agents do, not the test.
    let report = json!({ "findings": [claim("E1", "    return items", "It breaks.")] });
    sandbox.seat("staff-engineer", &format!("sleep 0.3\n{}", answering(&report)));
    sandbox
}

fn document(run: &super::sandbox::Run) -> Document {
    Document { code: run.code, json: run.json() }
}

/// Twenty moments spread over the time that a run takes.
#[test]
fn a_run_killed_at_any_moment_goes_on_to_the_same_result() {
    let sandbox = slow_panel();
    let ledger = sandbox.path().join(".git/tribunal");
    let begun = Instant::now();
    let undisturbed = sandbox.review(&[]).ends_with(1);
    let (mut kills, mut resumed) = (Kills::within(begun.elapsed()), 0);
    while kills.go_on(MOMENTS, kills.hit() >= 5 && resumed >= 3) {
        fs::remove_dir_all(&ledger).unwrap();
        let mut child = sandbox
            .command(&["review", "--format", "json"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        kills.strike(&mut child);
        wait_for_orphans(&sandbox.path());
        let again = sandbox.tribunal(&["review", "--resume", "--format", "json"]);
        let end = if again.code == 2 {
            // Killed before anything was recorded, or after everything was.
            again.says("no unfinished run");
            sandbox.tribunal(&["review", "--format", "json"])
        } else {
            resumed += 1;
            again
        };
        let mut end = document(&end).ends_with(1);
        if end.json["status"] == "noop" {
            // Everything was recorded before the kill, and the record is repeated.
            end.json["status"] = undisturbed.json["status"].clone();
        }
        assert_eq!(end.without_run(), undisturbed.without_run(), "{kills:?}");
        sandbox.tribunal(&["replay", "last"]).ends_with(0).says("the same");
    }
    assert!(kills.hit() >= 5, "too few kills met a running process: {kills:?}");
    assert!(resumed >= 3, "only {resumed} runs had something to go on with: {kills:?}");
}

/// A killed run does not stand in the way of a plain `tribunal review`, which starts anew.
#[test]
fn a_killed_run_blocks_nobody() {
    let sandbox = slow_panel();
    let mut child =
        sandbox.command(&["review"]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    // As soon as the run is recorded; before that there would be nothing to be in the way.
    let database = sandbox.path().join(".git/tribunal/ledger.db-wal");
    wait_until("the run is recorded", || fs::metadata(&database).map_or(0, |found| found.len()) > 0);
    child.kill().unwrap();
    child.wait().unwrap();
    sandbox.review(&[]).ends_with(1);
}

/// What git was shown of the repository goes with the run, and where the run was killed, with the next one.
#[test]
fn temporary_folders_of_a_killed_run_go_with_the_next_one() {
    let sandbox = slow_panel();
    let left = || {
        let entries = fs::read_dir(sandbox.temporary_folder()).unwrap().flatten();
        entries.filter(|entry| entry.file_name().to_string_lossy().starts_with("tribunal-git-")).count()
    };
    let mut child =
        sandbox.command(&["review"]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let database = sandbox.path().join(".git/tribunal/ledger.db-wal");
    wait_until("the run is recorded", || fs::metadata(&database).map_or(0, |found| found.len()) > 0);
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(left() > 0, "the killed run left nothing, so nothing is shown here");
    // What it had started may hold on to the folder for a moment.
    wait_until("the next run removes it", || {
        sandbox.tribunal(&["history"]).ends_with(0);
        left() == 0
    });
}

fn make_pipe(path: &Path) {
    assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
}

/// Begins a review that waits for a word from a pipe, interrupts it, and returns what it said and the pipe.
fn interrupted(sandbox: &Sandbox, args: &[&str]) -> (String, std::path::PathBuf) {
    let pipe = sandbox.root().join("started");
    make_pipe(&pipe);
    let script = format!("read word < '{}'\n{}", pipe.display(), answering(&json!({ "findings": [] })));
    sandbox.seat_with("sdet", &script, &format!("read = [\"{}\"]\n", pipe.display()));
    let all: Vec<&str> = ["review"].iter().chain(args).copied().collect();
    let child = sandbox.command(&all).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // Opening returns when the agent has opened its end, so the review is under way.
    let writer = open_when_read(pipe.clone());
    let kill = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(kill.success());
    let output = child.wait_with_output().unwrap();
    drop(writer);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{stderr}");
    (stderr, pipe)
}

/// Design rule 12: a run that was interrupted with Ctrl-C ends with its own code and can be gone on with.
#[test]
fn an_interrupted_run_says_how_to_go_on() {
    let sandbox = Sandbox::with_shared_list();
    let (stderr, pipe) = interrupted(&sandbox, &[]);
    assert!(stderr.contains("tribunal review --resume"), "{stderr}");
    // A pipe of its own: the agent that was just ended may still hold the first one open, and would swallow the word.
    fs::remove_file(&pipe).unwrap();
    make_pipe(&pipe);
    let go_on = std::thread::spawn(move || {
        std::io::Write::write_all(&mut open_when_read(pipe), b"go\n").unwrap();
    });
    finish(sandbox.command(&["review", "--resume"]), b"").ends_with(0).prints("✓ sdet (helper)");
    go_on.join().unwrap();
}

/// Design rules 1 and 7: a resumed run says nothing of a head that it has not read. What it did is kept and built on.
#[test]
fn a_run_resumed_after_the_head_moved_is_not_green() {
    for committed in [true, false] {
        let sandbox = Sandbox::with_shared_list();
        let head = sandbox.git(&["rev-parse", "HEAD"]);
        interrupted(&sandbox, &[]);
        sandbox.script("helper.sh", &answering(&json!({ "findings": [] })));
        sandbox.write("tls.py", NO_TLS);
        if committed {
            sandbox.commit("Fetch");
        }
        let run = sandbox.tribunal(&["review", "--resume", "--format", "json"]).ends_with(3).says("head-moved").says(&head[..12]);
        assert_eq!(run.json()["head"], head);
        let review = sandbox.review(&[]).ends_with(1);
        assert_eq!(review.json["receipt"]["mode"], "incremental");
    }
}

/// What was left out on purpose does not move the head, and neither does committing what was read.
#[test]
fn a_run_resumed_over_the_same_content_is_as_good() {
    let sandbox = Sandbox::with_shared_list();
    sandbox.write("tls.py", NO_TLS);
    interrupted(&sandbox, &["--committed"]);
    sandbox.script("helper.sh", &answering(&json!({ "findings": [] })));
    sandbox.tribunal(&["review", "--resume"]).ends_with(0);
    let sandbox = Sandbox::with_shared_list();
    sandbox.write("tls.py", NO_TLS);
    interrupted(&sandbox, &[]);
    sandbox.script("helper.sh", &answering(&json!({ "findings": [] })));
    sandbox.commit("Fetch");
    sandbox.tribunal(&["review", "--resume"]).ends_with(1);
}

/// What a run reads and how it judges was settled when it began; a flag that would say otherwise is refused, not ignored.
#[test]
fn a_resumed_run_takes_no_other_flags() {
    let sandbox = Sandbox::with_shared_list();
    let flags: [&[&str]; 5] =
        [&["--base", "main"], &["--staged"], &["--fail-level", "P1"], &["--mode", "full"], &["--skip", "*.md"]];
    for flag in flags {
        let all: Vec<&str> = ["review", "--resume"].iter().chain(flag).copied().collect();
        sandbox.tribunal(&all).ends_with(2).says("cannot be used with");
    }
}
