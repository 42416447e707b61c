//! The figures that were promised, measured on the release binary and printed beside their limits. Times are medians of several
//! runs; where a time would be noise, the figure is a ratio within one run.

mod bounds;
mod context;
mod forges;
mod index;
mod models;
mod order;
mod voices;
mod watch;

pub use order::order_time;
pub use voices::measure_voices;
pub use watch::watch_many;

use anyhow::{Context as _, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tribunal_core::findings::anchor::{Hint, Quoting, anchor};
use xtask::root;

struct Figure {
    name: String,
    value: f64,
    limit: f64,
    unit: &'static str,
}

/// What is measured together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Part {
    /// The binary, and an everyday change reviewed with rules
    Small,
    /// Reviews by models, against the scripted server
    Models,
    /// Reviews on forges
    Forges,
    /// Many pull requests watched at once
    Watch,
    /// The order in which a thousand pull requests are merged
    Order,
    /// An index of 20,000 documents
    Index,
    /// A change of 200,000 lines
    Large,
    /// How time grows with a change, and the memory of a very large one
    Bounds,
    /// How much of the code that decides a model is given, on recorded changes
    Context,
    /// How well findings of different reviewers are told to be one, on recorded reviews
    Voices,
}

pub fn run(only: Option<Part>, recordings: Option<PathBuf>) -> Result<()> {
    match only {
        Some(Part::Voices) => return voices::run(recordings),
        Some(Part::Context) => return context::run(recordings),
        Some(_) | None => {}
    }
    // Watching and ordering are measured in processes of ours.
    if !matches!(only, Some(Part::Watch | Part::Order)) {
        xtask::run("cargo", &["build", "--release", "--quiet", "-p", "tribunal"])?;
    }
    let binary = root().join("target/release/tribunal");
    let work = tempfile::tempdir()?;
    let wanted = |part| only.is_none_or(|only| only == part);
    let small = small_repository(work.path())?;
    let mut figures = Vec::new();
    if wanted(Part::Small) {
        figures.extend(small_figures(&binary, &small)?);
    }
    if wanted(Part::Models) {
        figures.extend(models::figures(&binary, work.path(), &small)?);
    }
    if wanted(Part::Forges) {
        figures.extend(forges::figures(&binary)?);
    }
    if wanted(Part::Watch) {
        figures.extend(watch::figures()?);
    }
    if wanted(Part::Order) {
        figures.extend(order::figures()?);
    }
    if wanted(Part::Index) {
        figures.extend(index::figures(&binary, work.path())?);
    }
    if wanted(Part::Large) {
        figures.extend(large_figures(&binary, work.path())?);
    }
    if wanted(Part::Bounds) {
        figures.extend(bounds::figures(&binary, work.path())?);
    }
    print(&figures)?;
    if only.is_none() { voices::run(recordings) } else { Ok(()) }
}

fn small_figures(binary: &Path, small: &Path) -> Result<Vec<Figure>> {
    Ok(vec![
        Figure { name: "binary size".into(), value: fs::metadata(binary)?.len() as f64 / 1e6, limit: 80.0, unit: "MB" },
        Figure {
            name: "tribunal --version".into(),
            value: median(20, || timed(Command::new(binary).arg("--version")))?,
            limit: 15.0,
            unit: "ms",
        },
        Figure {
            name: "120-line diff, rules only".into(),
            value: median(10, || review(binary, small, "small").map(|run| run.0))?,
            limit: 150.0,
            unit: "ms",
        },
        Figure { name: "120-line diff, peak memory".into(), value: review(binary, small, "small")?.1, limit: 80.0, unit: "MB" },
    ])
}

fn large_figures(binary: &Path, work: &Path) -> Result<Vec<Figure>> {
    let Some(large) = large_repository(work)? else {
        println!("SKIPPED: the large diff needs npm to fetch two releases of three.js");
        return Ok(Vec::new());
    };
    let git = median(3, || timed(git_in(&large).args(["diff-tree", "-r", "-p", "-M", "--full-index", "main", "half"])))?;
    let parse = median(3, || optimised_parse_time(&large))?;
    let (half, memory) = (median(3, || review(binary, &large, "half").map(|run| run.0))?, review(binary, &large, "half")?.1);
    let whole = median(3, || review(binary, &large, "whole").map(|run| run.0))?;
    println!(
        "large diff: git makes it in {git:.0} ms, we parse and anchor it in {parse:.0} ms; whole review {half:.0} ms; twice the diff {whole:.0} ms"
    );
    Ok(vec![
        Figure { name: "parse + anchor against git's own time".into(), value: parse / git, limit: 1.0, unit: "×" },
        Figure { name: "200,000-line diff, whole review".into(), value: half / 1000.0, limit: 8.0, unit: "s" },
        Figure { name: "200,000-line diff, peak memory".into(), value: memory, limit: 500.0, unit: "MB" },
        Figure { name: "twice the diff".into(), value: whole / half, limit: 2.2, unit: "×" },
    ])
}

fn print(figures: &[Figure]) -> Result<()> {
    let mut missed = 0;
    println!("{:<42} {:>10} {:>12}", "figure", "measured", "limit");
    for figure in figures {
        let good = figure.value <= figure.limit;
        missed += usize::from(!good);
        println!(
            "{:<42} {:>7.1} {:<2} ≤ {:>6.1} {:<2} {}",
            figure.name,
            figure.value,
            figure.unit,
            figure.limit,
            figure.unit,
            if good { "" } else { "MISSED" }
        );
    }
    if missed > 0 {
        bail!("{missed} figures missed");
    }
    Ok(())
}

fn median(runs: usize, mut measure: impl FnMut() -> Result<f64>) -> Result<f64> {
    let mut values = (0..runs).map(|_| measure()).collect::<Result<Vec<_>>>()?;
    values.sort_by(f64::total_cmp);
    Ok(values[values.len() / 2])
}

fn timed(command: &mut Command) -> Result<f64> {
    let begun = Instant::now();
    command.stdout(Stdio::null()).stderr(Stdio::null()).status()?;
    Ok(millis(begun.elapsed()))
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

/// Milliseconds and peak megabytes of one review.
fn review(binary: &Path, repository: &Path, head: &str) -> Result<(f64, f64)> {
    review_ending(binary, repository, head, &[0, 1])
}

/// The same for a review that may end with one of these exit codes.
fn review_ending(binary: &Path, repository: &Path, head: &str, codes: &[i32]) -> Result<(f64, f64)> {
    let begun = Instant::now();
    let mut child = Command::new(binary)
        .args(["review", "--mode", "full", "--quiet", "--format", "json", "--range"])
        .arg(format!("main..{head}"))
        .current_dir(repository)
        .env("HOME", repository)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()?;
    let peak = peak_memory(&mut child)?;
    let status = child.wait()?;
    let time = millis(begun.elapsed());
    if !status.code().is_some_and(|code| codes.contains(&code)) {
        bail!("the review in {} ended with {status}", repository.display());
    }
    Ok((time, peak))
}

/// The kernel keeps a high-water mark for every process; it is read until the process is gone.
fn peak_memory(child: &mut std::process::Child) -> Result<f64> {
    let mut peak = 0.0_f64;
    while child.try_wait()?.is_none() {
        if let Ok(status) = fs::read_to_string(format!("/proc/{}/status", child.id())) {
            let kilobytes = status
                .lines()
                .find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix("kB")?.trim().parse::<f64>().ok());
            peak = peak.max(kilobytes.unwrap_or(0.0) / 1000.0);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    Ok(peak)
}

fn git_in(folder: &Path) -> Command {
    let mut command = Command::new("git");
    command.arg("-C").arg(folder).args([
        "-c",
        "user.name=Bench",
        "-c",
        "user.email=bench@example.com",
        "-c",
        "commit.gpgSign=false",
    ]);
    command
}

fn git(folder: &Path, args: &[&str]) -> Result<()> {
    let output = git_in(folder).args(args).output()?;
    if !output.status.success() {
        bail!("git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(())
}

/// 120 added lines of Python and Rust over six files, in the manner of an everyday change.
fn small_repository(work: &Path) -> Result<PathBuf> {
    let folder = work.join("small");
    fs::create_dir_all(&folder)?;
    git(&folder, &["init", "--quiet", "--initial-branch=main"])?;
    git(&folder, &["commit", "--quiet", "--allow-empty", "-m", "empty"])?;
    git(&folder, &["checkout", "--quiet", "-b", "small"])?;
    for file in 0..3 {
        let python: String = (0..5).map(|n| format!("def task_{n}(cursor, items):\n    for item in items:\n        cursor.execute(\"INSERT INTO t VALUES (?)\", (item,))\n    return len(items)\n")).collect();
        fs::write(folder.join(format!("tasks{file}.py")), python)?;
        let rust: String = (0..5)
            .map(|n| {
                format!(
                    "pub fn area_{n}(width: u32, height: u32) -> u32 {{\n    let area = width * height;\n    area + {n}\n}}\n"
                )
            })
            .collect();
        fs::write(folder.join(format!("area{file}.rs")), rust)?;
    }
    git(&folder, &["add", "."])?;
    git(&folder, &["commit", "--quiet", "-m", "tasks"])?;
    Ok(folder)
}

/// Two releases of three.js: `main` is the old one, `half` and `whole` hold the first 200,000 and 400,000 lines of the change.
fn large_repository(work: &Path) -> Result<Option<PathBuf>> {
    let folder = work.join("large");
    let (old, new) = (work.join("old"), work.join("new"));
    for (version, into) in [("three@0.150.0", &old), ("three@0.187.0", &new)] {
        let packed = Command::new("npm").args(["pack", "--silent", version]).current_dir(work).output();
        let Ok(packed) = packed else { return Ok(None) };
        let name = String::from_utf8_lossy(&packed.stdout).trim().lines().last().unwrap_or_default().to_owned();
        fs::create_dir_all(into)?;
        let unpacked = Command::new("tar").arg("xzf").arg(work.join(&name)).arg("-C").arg(into).status()?;
        if name.is_empty() || !unpacked.success() {
            return Ok(None);
        }
    }
    fs::create_dir_all(&folder)?;
    git(&folder, &["init", "--quiet", "--initial-branch=main"])?;
    copy_all(&old.join("package"), &folder)?;
    git(&folder, &["add", "--all"])?;
    git(&folder, &["commit", "--quiet", "-m", "old"])?;
    git(&folder, &["branch", "all"])?;
    git(&folder, &["checkout", "--quiet", "all"])?;
    for entry in fs::read_dir(&folder)? {
        let path = entry?.path();
        if path.file_name().is_some_and(|name| name != ".git") {
            if path.is_dir() { fs::remove_dir_all(&path)? } else { fs::remove_file(&path)? }
        }
    }
    copy_all(&new.join("package"), &folder)?;
    git(&folder, &["add", "--all"])?;
    git(&folder, &["commit", "--quiet", "-m", "new"])?;
    let listed = git_in(&folder).args(["diff", "--numstat", "--no-renames", "main", "all"]).output()?;
    let listed = String::from_utf8(listed.stdout).context("numstat")?;
    for (branch, wanted) in [("half", 200_000_u64), ("whole", 400_000)] {
        git(&folder, &["checkout", "--quiet", "-f", "-B", branch, "main"])?;
        let mut lines = 0;
        let mut files = 0;
        // Small files first, so that the change is made of many files and not of one bundle.
        let mut changed: Vec<(u64, &str)> = listed
            .lines()
            .filter_map(|line| {
                let mut cells = line.split('\t');
                let (added, removed) = (cells.next()?.parse::<u64>().ok()?, cells.next()?.parse::<u64>().ok()?);
                Some((added + removed, cells.next()?))
            })
            .filter(|(_, path)| !path.starts_with("build/"))
            .collect();
        changed.sort();
        // Every other file for the half, so that both branches have the same mix of sizes.
        let picked: Vec<_> = if wanted == 200_000 { changed.iter().step_by(2).collect() } else { changed.iter().collect() };
        for (size, path) in picked {
            if lines >= wanted && files >= 500 {
                break;
            }
            let in_new = git_in(&folder).args(["cat-file", "-e", &format!("all:{path}")]).output()?.status.success();
            if in_new {
                git(&folder, &["checkout", "--quiet", "all", "--", path])?
            } else {
                git(&folder, &["rm", "--quiet", "--", path])?
            }
            lines += size;
            files += 1;
        }
        git(&folder, &["commit", "--quiet", "-m", branch])?;
        println!("{branch}: {files} files, {lines} changed lines");
    }
    Ok(Some(folder))
}

fn copy_all(from: &Path, to: &Path) -> Result<()> {
    let status = Command::new("cp").arg("-r").arg(format!("{}/.", from.display())).arg(to).status()?;
    if !status.success() {
        bail!("cp failed");
    }
    Ok(())
}

/// This program itself is not optimised; the measurement runs in a copy that is.
fn optimised_parse_time(repository: &Path) -> Result<f64> {
    let output = xtask::command("cargo")
        .args(["run", "--release", "--quiet", "-p", "xtask-product", "--", "parse-time"])
        .arg(repository)
        .current_dir(root())
        .output()?;
    String::from_utf8(output.stdout)?.trim().parse().with_context(|| String::from_utf8_lossy(&output.stderr).into_owned())
}

/// Parsing the diff and anchoring one quote in every file, without git's own time.
pub fn parse_time(repository: &Path) -> Result<f64> {
    let diff = git_in(repository).args(["diff-tree", "-r", "-p", "-M", "--full-index", "main", "half"]).output()?.stdout;
    let begun = Instant::now();
    let change = tribunal_core::diff::parse::parse_diff(&diff)?;
    let mut anchored = 0;
    for file in &change.files {
        if let Some(line) = file.added_lines().last() {
            anchored += usize::from(anchor(file, Quoting::Copied, &line.text, line.new_line.map(Hint::line)).is_ok());
        }
    }
    let time = millis(begun.elapsed());
    if anchored == 0 {
        bail!("nothing was anchored");
    }
    Ok(time)
}
