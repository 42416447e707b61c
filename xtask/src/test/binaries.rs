//! Runs test binaries side by side. Cargo runs them one after the other, and a binary whose last test waits leaves every core idle.

use anyhow::{Result, bail};
use serde_json::Value;
use std::collections::VecDeque;
use std::io::{Read as _, Seek as _};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Those that take longest begin first.
const LONGEST: [&str; 5] = ["forges", "cli", "loops", "tribunal_core", "tribunal_agent"];

/// So many of them start programs and servers, and wait for these half of their time.
const WAITING: usize = 2;

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Binary {
    /// Its place in the order of running.
    rank: usize,
    pub name: String,
    pub program: PathBuf,
    /// The folder of its package, where cargo would run it.
    pub folder: PathBuf,
}

impl Binary {
    /// From one of cargo's messages, if it tells of a test binary.
    pub fn of(message: &Value) -> Option<Self> {
        let program = PathBuf::from(message["executable"].as_str()?);
        if message["reason"] != "compiler-artifact" || message["profile"]["test"] != true {
            return None;
        }
        let name = message["target"]["name"].as_str()?.to_owned();
        let folder = PathBuf::from(message["manifest_path"].as_str()?).parent()?.to_owned();
        let rank = LONGEST.iter().position(|longest| *longest == name).unwrap_or(LONGEST.len());
        Some(Self { rank, name, program, folder })
    }
}

struct Ran {
    name: String,
    time: Duration,
    /// The tests that passed, and how many seconds each took.
    passed: Vec<(f64, String)>,
    output: String,
    is_ok: bool,
}

/// A binary that takes longer than this hangs.
const LONGEST_RUN: Duration = Duration::from_secs(40 * 60);

/// How many of the slowest tests are named at the end.
const SLOWEST: usize = 20;

/// All of them, however many fail, without the tests whose names hold one of these.
pub fn run_binaries(binaries: &[Binary], variables: &[(&str, &str)], without: &[&str]) -> Result<()> {
    let cores = std::thread::available_parallelism().map_or(2, |cores| cores.get());
    eprintln!("\n{} test binaries, two at a time, {cores} tests of each, {} of the longest {WAITING}", binaries.len(), 2 * cores);
    let waiting: Mutex<VecDeque<&Binary>> = Mutex::new(binaries.iter().collect());
    let all: Mutex<Vec<Ran>> = Mutex::new(Vec::new());
    let next = || waiting.lock().ok().and_then(|mut waiting| waiting.pop_front());
    // Half of what a test does is to wait for a program or a server.
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(binary) = next() {
                    let threads = if binary.rank < WAITING { 2 * cores } else { cores };
                    let ran = run_binary(binary, threads, variables, without);
                    eprintln!(
                        "{} {:>5} s  {:>4} passed  {}",
                        if ran.is_ok { "ok  " } else { "FAIL" },
                        ran.time.as_secs(),
                        ran.passed.len(),
                        ran.name
                    );
                    if !ran.is_ok {
                        eprintln!("\n==== {} ====\n{}", ran.name, failures(&ran.output));
                    }
                    if let Ok(mut all) = all.lock() {
                        all.push(ran);
                    }
                }
            });
        }
    });
    let all = all.into_inner().unwrap_or_default();
    let failed: Vec<&str> = all.iter().filter(|ran| !ran.is_ok).map(|ran| ran.name.as_str()).collect();
    let passed: usize = all.iter().map(|ran| ran.passed.len()).sum();
    let mut slowest: Vec<(f64, String)> =
        all.iter().flat_map(|ran| ran.passed.iter().map(|(seconds, test)| (*seconds, format!("{} {test}", ran.name)))).collect();
    slowest.sort_by(|one, other| other.0.total_cmp(&one.0));
    eprintln!("\nThe slowest tests:");
    for (seconds, test) in slowest.iter().take(SLOWEST) {
        eprintln!("{seconds:>7.1} s  {test}");
    }
    if all.len() != binaries.len() || !failed.is_empty() {
        bail!("{passed} tests passed; these binaries failed: {}", failed.join(", "));
    }
    eprintln!("\n{passed} tests passed");
    Ok(())
}

fn run_binary(binary: &Binary, threads: usize, variables: &[(&str, &str)], without: &[&str]) -> Ran {
    let begun = Instant::now();
    let (is_ok, output) =
        watched(binary, threads, variables, without, LONGEST_RUN).unwrap_or_else(|error| (false, format!("{error:#}")));
    let passed = output.lines().filter_map(passed_test).collect();
    // A test that skips itself prints so. It is repeated here, because its result looks like that of a test that ran.
    let skipped = skipped(&output);
    for line in &skipped {
        eprintln!("{}: {line}", binary.name);
    }
    let may_skip = skipped.is_empty() || std::env::var_os("CI").is_none();
    Ran { name: binary.name.clone(), time: begun.elapsed(), passed, is_ok: is_ok && may_skip, output }
}

/// Runs it, and ends it when it takes too long. Gives whether all is well, and what was printed.
fn watched(
    binary: &Binary,
    threads: usize,
    variables: &[(&str, &str)],
    without: &[&str],
    limit: Duration,
) -> Result<(bool, String)> {
    let mut printed = tempfile::tempfile()?;
    let mut child = Command::new(&binary.program)
        .args([&format!("--test-threads={threads}"), "--show-output"])
        .args(without.iter().flat_map(|name| ["--skip", name]))
        // Times are told by unstable versions only, or to those who ask so.
        .args(["-Zunstable-options", "--report-time"])
        .env("RUSTC_BOOTSTRAP", "1")
        .current_dir(&binary.folder)
        .env("CARGO_MANIFEST_DIR", &binary.folder)
        .envs(variables.iter().copied())
        .stdin(Stdio::null())
        .stdout(printed.try_clone()?)
        .stderr(printed.try_clone()?)
        .spawn()?;
    let begun = Instant::now();
    let status = loop {
        match child.try_wait()? {
            Some(status) => break Some(status),
            None if begun.elapsed() > limit => {
                child.kill()?;
                child.wait()?;
                break None;
            }
            None => std::thread::sleep(Duration::from_millis(50)),
        }
    };
    let mut output = Vec::new();
    printed.rewind()?;
    printed.read_to_end(&mut output)?;
    let mut output = String::from_utf8_lossy(&output).into_owned();
    if status.is_none() {
        output.push_str(&format!("\nIt did not end within {} s, and was stopped.\n", limit.as_secs()));
    }
    Ok((status.is_some_and(|status| status.success()), output))
}

/// In CI nothing may be skipped: there a skipped test fails its binary.
fn skipped(output: &str) -> Vec<&str> {
    output.lines().filter(|line| line.starts_with("SKIPPED")).collect()
}

/// What the failing tests printed, and their names. A binary that did not come so far is shown as a whole.
fn failures(output: &str) -> &str {
    output.find("\nfailures:\n").map_or(output, |at| &output[at..])
}

/// `test a::b ... ok <0.012s>`
fn passed_test(line: &str) -> Option<(f64, String)> {
    let (name, time) = line.strip_prefix("test ")?.split_once(" ... ok")?;
    let seconds = time.trim().trim_start_matches('<').trim_end_matches("s>").parse().unwrap_or_default();
    Some((seconds, name.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_test_binaries_are_run_the_longest_first() {
        let message = |name: &str, test: bool| {
            json!({ "reason": "compiler-artifact", "executable": format!("/t/{name}-1"), "manifest_path": "/w/crate/Cargo.toml",
                "profile": { "test": test }, "target": { "name": name } })
        };
        let library = json!({ "reason": "compiler-artifact", "executable": null, "profile": { "test": true } });
        let messages = [message("alpha", true), message("tribunal", false), message("forges", true), library];
        let mut found: Vec<Binary> = messages.iter().filter_map(Binary::of).collect();
        found.sort();
        let names: Vec<&str> = found.iter().map(|binary| binary.name.as_str()).collect();
        assert_eq!(names, ["forges", "alpha"]);
        assert_eq!(found[0].folder, PathBuf::from("/w/crate"));
    }

    #[test]
    fn times_are_read() {
        assert_eq!(passed_test("test a::b ... ok <0.012s>"), Some((0.012, "a::b".into())));
        assert_eq!(passed_test("test a::b ... ok"), Some((0.0, "a::b".into())));
        assert_eq!(passed_test("test a::b ... FAILED <1.0s>"), None);
    }

    #[test]
    fn a_skipped_test_is_seen() {
        assert_eq!(skipped("test a ... ok\nSKIPPED: no peer\nand it was not SKIPPED"), ["SKIPPED: no peer"]);
    }

    #[test]
    fn a_failing_binary_fails_the_run() {
        let binary = |program: &str| Binary { rank: 0, name: program.into(), program: program.into(), folder: "/".into() };
        assert!(run_binaries(&[binary("true")], &[], &[]).is_ok());
        for wrong in ["false", "/no/such/program"] {
            assert!(run_binaries(&[binary("true"), binary(wrong)], &[], &[]).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_binary_that_hangs_is_stopped() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("hangs");
        std::fs::write(&program, "#!/bin/sh\necho begun\nexec sleep 600\n").unwrap();
        Command::new("chmod").arg("+x").arg(&program).status().unwrap();
        let binary = Binary { rank: 0, name: "hangs".into(), program, folder: "/".into() };
        let begun = Instant::now();
        let (is_ok, output) = watched(&binary, 1, &[], &[], Duration::from_millis(200)).unwrap();
        assert!(!is_ok && output.starts_with("begun") && output.contains("was stopped"), "{output}");
        assert!(begun.elapsed() < Duration::from_secs(60));
    }
}
