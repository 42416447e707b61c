//! `tribunal demo`: a throw-away repository with planted defects in four languages, reviewed for real.

use crate::cli::OutputArgs;
use crate::situation::{Situation, exit};
use crate::terminal::out;
use std::path::Path;
use std::process::Command;

/// Path, text before, text after.
const PLANTED: [(&str, &str, &str); 5] = [
    (
        "app/orders.py",
        "import yaml\n\n\ndef load(path):\n    with open(path) as handle:\n        return yaml.safe_load(handle)\n",
        "import yaml\n\n\ndef load(path):\n    with open(path) as handle:\n        return yaml.load(handle)\n\n\ndef find(cursor, name):\n    cursor.execute(f\"SELECT * FROM orders WHERE name = '{name}'\")\n    return cursor.fetchall()\n\n\ndef add(item, basket=[]):\n    basket.append(item)\n    return basket\n",
    ),
    (
        "web/server.js",
        "const https = require('https');\n\nmodule.exports = {};\n",
        "const https = require('https');\nconst { exec } = require('child_process');\n\nfunction convert(req, res) {\n  exec(`convert ${req.query.file} out.png`, () => res.end());\n}\n\nasync function notifyAll(users) {\n  users.forEach(async (user) => {\n    await send(user);\n  });\n}\n\nmodule.exports = { convert, notifyAll };\n",
    ),
    (
        "worker/main.go",
        "package worker\n\nimport \"net/http\"\n\nvar client = http.DefaultClient\n",
        "package worker\n\nimport (\n\t\"crypto/tls\"\n\t\"net/http\"\n)\n\nvar client = &http.Client{\n\tTransport: &http.Transport{\n\t\tTLSClientConfig: &tls.Config{InsecureSkipVerify: true},\n\t},\n}\n",
    ),
    (
        "engine/src/lib.rs",
        "pub fn wait() {}\n",
        "use std::time::Duration;\n\npub async fn wait() {\n    std::thread::sleep(Duration::from_secs(5));\n}\n",
    ),
    ("README.md", "# Demo\n", "# Demo\n\nOrders, a web front end and a worker.\n"),
];

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
    // The child writes to the same place, but decides for itself; tell it what this process decided.
    let coloured = anstream::AutoStream::choice(&std::io::stdout()) != anstream::ColorChoice::Never;
    let this = std::env::current_exe().map_err(failed)?;
    let mut review = Command::new(this);
    review
        .current_dir(top)
        .args(["review", "--committed", "--format", format_name(output)])
        .env("HOME", top)
        .env("XDG_CONFIG_HOME", top)
        .env("XDG_STATE_HOME", top);
    review.env_remove("GIT_DIR").env_remove("GIT_INDEX_FILE").env_remove("GIT_WORK_TREE");
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("TRIBUNAL__")) {
        // The demo shows the tool, not whoever set it up.
        review.env_remove(name);
    }
    review.args(["--color", if coloured { "always" } else { "never" }]);
    if quiet {
        review.arg("--quiet");
    }
    if let Some(path) = &output.output {
        review.arg("--output").arg(std::path::absolute(path).map_err(failed)?);
    }
    let status = review.status().map_err(failed)?;
    let planted_and_found = status.code() == Some(i32::from(exit::FINDINGS));
    folder.close().map_err(failed)?;
    if !planted_and_found {
        return Err(Situation::new(
            "demo-failed",
            exit::INCOMPLETE,
            format!("the review of the demo ended with {status} instead of finding what was planted"),
        ));
    }
    if !quiet {
        out::note(
            "\nThat was exit code 1: blocking findings. The repository is gone again. In a checkout of yours: tribunal review",
        );
    }
    Ok(exit::DONE)
}

fn format_name(output: &OutputArgs) -> &'static str {
    use crate::cli::Format;
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
    let mut command = Command::new("git");
    command.env_clear();
    for name in ["PATH", "SYSTEMROOT"] {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    command.env("HOME", top).env("GIT_CONFIG_NOSYSTEM", "1").arg("-C").arg(top);
    command
        .args([
            "-c",
            "user.name=Demo",
            "-c",
            "user.email=demo@example.com",
            "-c",
            "commit.gpgSign=false",
            "-c",
            "core.hooksPath=/dev/null",
        ])
        .args(args);
    match command.output() {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(Situation::new(
            "demo-failed",
            exit::INCOMPLETE,
            format!("git {}: {}", args[0], String::from_utf8_lossy(&output.stderr).trim()),
        )),
        Err(error) => Err(Situation::new("no-git", exit::USAGE, format!("git cannot be run: {error}"))),
    }
}
