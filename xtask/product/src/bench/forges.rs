//! Figures of reviews on forges: the requests that publishing, a re-review and a poll cost, on a real Gitea, on the fakes of GitHub
//! and of Forgejo; and the time of a whole review on the real one.

use super::{Figure, median, millis};
use anyhow::{Context as _, Result, bail};
use forge_conformance::{Stage, Who};
use gitea_peer::{BOT, GiteaStage};
use lossy_proxy::LossyProxy;
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;
use tribunal_core::policy::credentials::token::BoundToken;
use tribunal_core::pull::place::{ForgeKind, Project};
use tribunal_forge::gitea::{Flavour, Gitea};
use tribunal_forge::port::Forge;

#[path = "../../../../crates/tribunal-forge/tests/forgejo/stage.rs"]
#[allow(dead_code)]
mod forgejo;
#[path = "../../../../crates/tribunal-forge/tests/github/stage.rs"]
#[allow(dead_code)]
pub mod github;

const MANY: usize = 100;
const FILES: usize = 10;
/// New pull requests, or pushes, of which the median is taken.
const RUNS: usize = 5;

pub fn figures(binary: &Path) -> Result<Vec<Figure>> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(all(binary))
}

async fn all(binary: &Path) -> Result<Vec<Figure>> {
    let mut figures = Vec::new();
    let stage = github::GitHubStage::new().await;
    let log = || stage.server.log();
    let place = Place {
        binary,
        name: "GitHub",
        stage: &stage,
        origin: stage.server.url(),
        path: github::PATH,
        token: &github::token(Who::Bot),
        counts: &|| (log().reads(), log().writes()),
    };
    figures.extend(requests(&place).await?);
    let cache = tempfile::tempdir()?;
    let client = || stage.client_with(stage.auth(&github::token(Who::Bot)), Some(cache.path().to_owned()));
    figures.extend(poll(&place, || Box::new(client())).await?);
    let last = log().entries.pop().context("a poll")?;
    if last.status != 304 || !last.request_headers.contains_key("if-none-match") {
        bail!("the poll of an unchanged pull request on GitHub was not conditional, or was answered {}", last.status);
    }

    let stage = forgejo::ForgejoStage::new().await;
    let log = || stage.server.log();
    let place = Place {
        binary,
        name: "Forgejo",
        stage: &stage,
        origin: stage.server.url(),
        path: forgejo::PATH,
        token: &forgejo::token(Who::Bot),
        counts: &|| (log().reads(), log().writes()),
    };
    figures.extend(requests(&place).await?);
    figures.extend(poll(&place, || Box::new(stage.client(Who::Bot))).await?);

    let Some(stage) = GiteaStage::start("shop").await else { return Ok(figures) };
    let (proxy, token) = (LossyProxy::start(&stage.peer.origin()), stage.peer.token(BOT).to_owned());
    let counts = || {
        let seen = proxy.seen();
        let (reads, writes): (Vec<_>, Vec<_>) =
            seen.iter().filter(|seen| !seen.path.contains(".git/")).partition(|seen| seen.method == "GET");
        (reads.len(), writes.len())
    };
    let mut place =
        Place { binary, name: "Gitea", stage: &stage, origin: proxy.origin(), path: &stage.path, token: &token, counts: &counts };
    figures.extend(requests(&place).await?);
    let project = Project { origin: proxy.origin(), path: stage.path.clone() };
    let bound = BoundToken::given_for_url(&project.origin, &token).context("a server on this machine")?;
    let client = || Gitea::new(project.clone(), Flavour::Gitea, Some(bound.clone()), None).expect("a client");
    figures.extend(poll(&place, || Box::new(client())).await?);
    place.origin = stage.peer.origin();
    figures.extend(times(&place).await?);
    Ok(figures)
}

/// A forge with a repository, and how its requests are counted.
struct Place<'a> {
    binary: &'a Path,
    name: &'static str,
    stage: &'a dyn Stage,
    origin: String,
    path: &'a str,
    token: &'a str,
    /// Reads and writes so far, without those of git.
    counts: &'a (dyn Fn() -> (usize, usize) + Sync),
}

static BRANCHES: AtomicUsize = AtomicUsize::new(1);

impl Place<'_> {
    async fn pull(&self, files: &[(String, String)]) -> (u64, String) {
        let branch = format!("feature-{}", BRANCHES.fetch_add(1, Ordering::Relaxed));
        self.push(&branch, files).await;
        (self.stage.open_pull(&branch, "main", "A change", "It does something.").await, branch)
    }

    async fn push(&self, branch: &str, files: &[(String, String)]) {
        let files: Vec<(&str, Option<&str>)> = files.iter().map(|(path, text)| (path.as_str(), Some(text.as_str()))).collect();
        self.stage.push(branch, &files, "a change").await;
    }

    /// Reviews and posts. Milliseconds, and the document.
    fn review(&self, home: &Path, number: u64) -> Result<(f64, Value)> {
        let words = if self.stage.kind() == ForgeKind::GitHub { "pull" } else { "pulls" };
        let begun = Instant::now();
        let output = Command::new(self.binary)
            .args(["review", &format!("{}/{}/{words}/{number}", self.origin, self.path), "--quiet", "--format", "json"])
            .current_dir(home)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", home)
            .env("TRIBUNAL_TOKEN", self.token)
            .env("TRIBUNAL__FORGE__URL", &self.origin)
            .stdin(Stdio::null())
            .output()?;
        let time = millis(begun.elapsed());
        if !matches!(output.status.code(), Some(0 | 1)) {
            bail!("the review on {} ended with {}: {}", self.name, output.status, String::from_utf8_lossy(&output.stderr));
        }
        Ok((time, serde_json::from_slice(&output.stdout).unwrap_or_default()))
    }

    fn figure(&self, what: &str, value: usize, limit: usize) -> Figure {
        Figure { name: format!("{}: {what}", self.name), value: value as f64, limit: limit as f64, unit: "" }
    }
}

/// A first review and the same again, of one finding and of many. A machine of its own each time, so that nothing is remembered.
async fn requests(place: &Place<'_>) -> Result<Vec<Figure>> {
    let mut figures = Vec::new();
    for findings in [1, MANY] {
        let home = tempfile::tempdir()?;
        let (number, _) = place.pull(&with_findings(findings)).await;
        let (_, before) = (place.counts)();
        let (_, document) = place.review(home.path(), number)?;
        let (reads, writes) = (place.counts)();
        let inline = document["publication"]["inline"].as_u64().unwrap_or_default();
        if inline != findings as u64 {
            bail!("{}: {inline} of {findings} findings were put on their lines: {}", place.name, document["publication"]);
        }
        place.review(home.path(), number)?;
        let (reads_again, writes_again) = (place.counts)();
        let words = if findings == 1 { "1 finding".to_owned() } else { format!("{findings} findings") };
        figures.push(place.figure(&format!("writes, {words}"), writes - before, 4));
        figures.push(place.figure(&format!("reads, {words}, nothing new"), reads_again - reads, 3));
        figures.push(place.figure(&format!("writes, {words}, nothing new"), writes_again - writes, 0));
    }
    Ok(figures)
}

/// The second look at a pull request that did not change.
async fn poll(place: &Place<'_>, client: impl Fn() -> Box<dyn Forge>) -> Result<Vec<Figure>> {
    let (number, _) = place.pull(&with_findings(1)).await;
    client().pull(number).await?;
    let (reads, writes) = (place.counts)();
    client().pull(number).await?;
    let (reads_now, writes_now) = (place.counts)();
    Ok(vec![place.figure("requests of a poll, nothing new", reads_now + writes_now - reads - writes, 1)])
}

/// Everything but the model, without a proxy in between. Each first review is on a machine that has seen nothing of the forge yet.
async fn times(place: &Place<'_>) -> Result<Vec<Figure>> {
    let (mut first, mut noop, mut push) = (Vec::new(), Vec::new(), Vec::new());
    for run in 0..RUNS {
        let home = tempfile::tempdir()?;
        let (number, branch) = place.pull(&ten_files(run)).await;
        first.push(place.review(home.path(), number)?.0);
        noop.push(place.review(home.path(), number)?.0);
        place.push(&branch, &[("stage0.py".into(), format!("{}\n\nDONE = True\n", function(run, 0)))]).await;
        push.push(place.review(home.path(), number)?.0);
    }
    let seconds = |name: &str, times: Vec<f64>, limit| -> Result<Figure> {
        let mut times = times.into_iter();
        let value = median(RUNS, || times.next().context("a run"))? / 1000.0;
        Ok(Figure { name: format!("{}: {name}", place.name), value, limit, unit: "s" })
    };
    Ok(vec![
        seconds("10 files, first review", first, 1.5)?,
        seconds("10 files, again, nothing new", noop, 0.5)?,
        seconds("10 files, again, after a small push", push, 0.5)?,
    ])
}

/// Findings of a severity that is never left out, each in a function of its own, ten to a file.
fn with_findings(count: usize) -> Vec<(String, String)> {
    let files = count.div_ceil(10);
    (0..files)
        .map(|file| {
            let functions: String = (0..10.min(count - file * 10))
                .map(|n| format!("\n\ndef load_{n}(text):\n    return yaml.load(text)\n"))
                .collect();
            (format!("load{file}.py"), format!("import yaml\n{functions}"))
        })
        .collect()
}

/// An everyday change, with a finding in every other file.
fn ten_files(run: usize) -> Vec<(String, String)> {
    (0..FILES).map(|file| (format!("stage{file}.py"), function(run, file))).collect()
}

fn function(run: usize, file: usize) -> String {
    let load = if file.is_multiple_of(2) { "yaml.load" } else { "yaml.safe_load" };
    let body: String =
        (0..10).map(|n| format!("\n\ndef step_{run}_{n}(items):\n    return [item + {n} for item in items]\n")).collect();
    format!("import yaml\n\n\ndef read(text):\n    return {load}(text)\n{body}")
}
