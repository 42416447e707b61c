//! `tribunal demo`: a throw-away repository with planted defects, reviewed for real; then a pull request in it that is reviewed, fixed,
//! answered and reviewed again until it is clean.

mod fleet;
mod planted;

use crate::cli::{Format, OutputArgs};
use crate::situation::{Situation, exit};
use crate::terminal::out;
use planted::{FIXABLE, PLANTED};
use std::path::Path;
use std::process::{Command, ExitStatus};

pub fn run(output: &OutputArgs, quiet: bool) -> Result<u8, Situation> {
    let failed = |error: std::io::Error| {
        Situation::new("demo-failed", exit::INCOMPLETE, format!("the demo repository cannot be made: {error}"))
    };
    let folder = tempfile::Builder::new().prefix("tribunal-demo-").tempdir().map_err(failed)?;
    let top = folder.path();
    git(top, &["init", "--quiet", "--initial-branch=main"])?;
    write(top, |(path, before, _)| (path, before)).map_err(failed)?;
    git(top, &["add", "."])?;
    git(top, &["commit", "--quiet", "-m", "Before"])?;
    git(top, &["checkout", "--quiet", "-b", "feature"])?;
    write(top, |(path, _, after)| (path, after)).map_err(failed)?;
    git(top, &["add", "."])?;
    git(top, &["commit", "--quiet", "-m", "Add orders, conversion and a worker"])?;
    if !quiet {
        out::note("A throw-away repository with defects planted in Python, JavaScript, Go and Rust. `tribunal review` says:\n");
    }
    let mut args = vec!["review", "--committed", "--format", format_name(output)];
    let file = output.output.as_ref().map(std::path::absolute).transpose().map_err(failed)?;
    let file = file.map(|file| file.display().to_string());
    args.extend(file.iter().flat_map(|file| ["--output", file.as_str()]));
    expect(exit::FINDINGS, tribunal(top, &args, quiet).map_err(failed)?, "the review of the demo")?;
    if output.format == Format::Text && output.output.is_none() && !quiet {
        show_the_loop(top).map_err(|situation| Situation { code: "demo-failed", ..situation })?;
    }
    folder.close().map_err(failed)?;
    if !quiet {
        out::note("\nThe repository is gone again. In a checkout of yours: tribunal review");
    }
    Ok(exit::DONE)
}

/// Several pull requests at once, in another repository.
pub fn fleet() -> Result<u8, Situation> {
    let failed = |error: std::io::Error| Situation::new("demo-failed", exit::INCOMPLETE, error.to_string());
    let folder = tempfile::Builder::new().prefix("tribunal-demo-").tempdir().map_err(failed)?;
    fleet::show(folder.path()).map_err(|situation| Situation { code: "demo-failed", ..situation })?;
    folder.close().map_err(failed)?;
    out::note("\nThe repository is gone again. In a checkout of yours: tribunal sweep --open --dry-run");
    Ok(exit::DONE)
}

/// A pull request without a server: opened, reviewed, fixed and answered by the embedded fixer, and reviewed again.
fn show_the_loop(top: &Path) -> Result<(), Situation> {
    let failed = |error: std::io::Error| Situation::new("demo-failed", exit::INCOMPLETE, error.to_string());
    git(top, &["checkout", "--quiet", "-b", "settings", "main"])?;
    for (path, text) in FIXABLE {
        std::fs::write(top.join(path), text).map_err(failed)?;
    }
    git(top, &["add", "."])?;
    git(top, &["commit", "--quiet", "-m", "Read settings"])?;
    // A branch that is checked out would be moved under somebody's hands.
    git(top, &["checkout", "--quiet", "main"])?;
    let step = |title: &str, args: &[&str], wanted: u8| {
        out::note(&format!("\n\u{1b}[1m$ tribunal {}\u{1b}[0m   {title}\n", args.join(" ")));
        expect(wanted, tribunal(top, args, false).map_err(failed)?, title)
    };
    out::note("\nThat was exit code 1: blocking findings. Now a pull request in the same repository, without a server.");
    step(
        "opens a pull request",
        &["pr", "open", "--head", "settings", "--base", "main", "--title", "Read settings"],
        exit::DONE,
    )?;
    step("reviews it and leaves its findings on their lines", &["review", "1"], exit::FINDINGS)?;
    step("has the rules fix, answer and resolve what they can", &["watch", "1", "--once"], exit::DONE)?;
    step("looks again", &["review", "1"], exit::DONE)?;
    Ok(())
}

fn expect(wanted: u8, status: ExitStatus, what: &str) -> Result<(), Situation> {
    if status.code() == Some(i32::from(wanted)) {
        return Ok(());
    }
    Err(Situation::new("demo-failed", exit::INCOMPLETE, format!("{what} ended with {status} instead of {wanted}")))
}

/// This program again, in the demo's repository, with nothing of whoever runs it.
fn tribunal(top: &Path, args: &[&str], quiet: bool) -> std::io::Result<ExitStatus> {
    command(top, args, quiet)?.status()
}

fn command(top: &Path, args: &[&str], quiet: bool) -> std::io::Result<Command> {
    // The child writes to the same place, but decides for itself; tell it what this process decided.
    let coloured = anstream::AutoStream::choice(&std::io::stdout()) != anstream::ColorChoice::Never;
    let mut command = Command::new(std::env::current_exe()?);
    command.current_dir(top).args(args).env("HOME", top);
    for name in ["XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"] {
        command.env(name, top.join(".git/demo").join(name));
    }
    for name in ["GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE"] {
        command.env_remove(name);
    }
    command.env("GIT_AUTHOR_NAME", "Demo").env("GIT_AUTHOR_EMAIL", "demo@example.com");
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("TRIBUNAL")) {
        // The demo shows the tool, not whoever set it up.
        command.env_remove(name);
    }
    command.args(["--color", if coloured { "always" } else { "never" }]);
    if quiet {
        command.arg("--quiet");
    }
    Ok(command)
}

fn format_name(output: &OutputArgs) -> &'static str {
    match output.format {
        Format::Text => "text",
        Format::Json => "json",
        Format::Sarif => "sarif",
        Format::Rdjson => "rdjson",
        Format::Markdown => "markdown",
    }
}

fn write(
    top: &Path,
    side: impl Fn((&'static str, &'static str, &'static str)) -> (&'static str, &'static str),
) -> std::io::Result<()> {
    for planted in PLANTED {
        let (path, text) = side(planted);
        let path = top.join(path);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        std::fs::write(path, text)?;
    }
    Ok(())
}

fn git(top: &Path, args: &[&str]) -> Result<(), Situation> {
    use tribunal_forge::git::{GitError, git_in_demo};
    git_in_demo(top, args).map_err(|error| match error {
        GitError::Failed { .. } => Situation::new("demo-failed", exit::INCOMPLETE, error.to_string()),
        other => other.into(),
    })
}
