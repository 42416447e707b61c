//! What it costs to keep an eye on many pull requests: 500 of them in one process, on the fake of GitHub in another.

use super::Figure;
use super::forges::github;
use anyhow::{Context as _, Result, bail};
use forge_conformance::{Stage as _, Who};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;
use tribunal_core::feedback::reviewer::Filter;
use tribunal_core::policy::credentials::token::BoundToken;
use tribunal_core::policy::loops::WaitPolicy;
use tribunal_core::policy::span::Span;
use tribunal_core::publish::marker::MarkerKey;
use tribunal_core::pull::place::{ForgeKind, Place, Project};
use tribunal_engine::effects::on_forge::OnForge;
use tribunal_engine::waiting::{Await, until_settled};
use tribunal_forge::github::{Auth, GitHub, Settings};
use tribunal_forge::http::pace::Pace;

const PULLS: u64 = 500;
/// As `watch` polls unless it is told otherwise.
const POLL: u64 = 60;
/// Between the starts of two of them, so that their polls are spread over the minute as they would be.
const APART: Duration = Duration::from_millis(120);
/// Long enough for everybody's first look, on which all is read.
const WARM_UP: u64 = 75;
/// One poll of each.
const WINDOW: u64 = 60;

pub fn figures() -> Result<Vec<Figure>> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(measured())
}

async fn measured() -> Result<Vec<Figure>> {
    let stage = github::GitHubStage::new().await;
    let author = github::id(Who::Author);
    for number in 1..=PULLS {
        let branch = format!("idea-{number}");
        let text = format!("idea {number}\n");
        stage.server.with(|base, site| {
            base.repository(github::PATH).commit(&branch, Some("main"), &[("idea.txt", Some(text.as_bytes()))], "an idea");
            site.open(base, github::PATH, (github::PATH, &branch), "main", author, &branch)
        });
    }
    assert_eq!(stage.kind(), ForgeKind::GitHub);
    let mut child = Command::new(std::env::current_exe()?);
    child.args(["watch-many", &stage.server.url(), &github::token(Who::Bot)]).stdin(Stdio::null()).stdout(Stdio::piped());
    let child = tokio::task::spawn_blocking(move || child.spawn().and_then(std::process::Child::wait_with_output));
    tokio::time::sleep(Duration::from_secs(WARM_UP)).await;
    stage.server.forget_log();
    tokio::time::sleep(Duration::from_secs(WINDOW)).await;
    let log = stage.server.log();
    let output = child.await??;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut numbers = said.split_whitespace().map(str::parse::<f64>);
    let (Some(Ok(cpu)), Some(Ok(memory))) = (numbers.next(), numbers.next()) else { bail!("the watcher said `{said}`") };
    let polls = (PULLS * WINDOW / POLL) as f64;
    if (log.entries.len() as f64) < polls * 0.9 {
        bail!("{} requests were seen, and {polls} polls were due", log.entries.len());
    }
    let conditional = log.entries.iter().filter(|entry| entry.status == 304).count();
    if conditional * 100 < log.entries.len() * 99 {
        bail!(
            "{} of {} looks at unchanged pull requests were not conditional",
            log.entries.len() - conditional,
            log.entries.len()
        );
    }
    Ok(vec![
        Figure {
            name: "GitHub: requests for a poll of an unchanged pull request".into(),
            value: log.entries.len() as f64 / polls,
            limit: 1.05,
            unit: "",
        },
        Figure { name: format!("{PULLS} watched pull requests, of a core"), value: cpu, limit: 5.0, unit: "%" },
        Figure { name: format!("{PULLS} watched pull requests, memory"), value: memory, limit: 150.0, unit: "MB" },
    ])
}

/// The watcher, in a process of its own: prints percent of a core and megabytes.
pub fn watch_many(origin: &str, token: &str) -> Result<()> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(async {
        let kept = tempfile::tempdir()?;
        let project = Project { origin: origin.to_owned(), path: github::PATH.into() };
        let auth = Auth::Token(BoundToken::given_for_url(origin, token).context("a server on this machine")?);
        let cache = Some(kept.path().to_owned());
        let settings = Settings { project: project.clone(), auth, cache, pace: Pace::NONE, patience: 1 };
        let forge = Arc::new(GitHub::new(settings).context("a client")?);
        let wait = WaitPolicy {
            poll: Span::seconds(POLL),
            settle: Span::seconds(60),
            idle: Span::seconds(3_600),
            total: Span::seconds(3_600),
        };
        let mut watches = Vec::new();
        for number in 1..=PULLS {
            let asked = Await {
                on: OnForge {
                    forge: forge.clone(),
                    key: MarkerKey::from_secret(token),
                    dry: false,
                    looked_up: Default::default(),
                    posted: Default::default(),
                },
                place: Place { kind: ForgeKind::GitHub, project: project.clone(), number },
                filter: Filter::All,
                wait,
                bots: Default::default(),
                after: None,
            };
            let watch = async move { until_settled(&asked, &(Arc::new(|_| {}) as tribunal_engine::Listener)).await.map(drop) };
            watches.push(tokio::spawn(watch));
            tokio::time::sleep(APART).await;
        }
        tokio::time::sleep(Duration::from_secs(WARM_UP).saturating_sub(APART * PULLS as u32)).await;
        let before = cpu_ticks()?;
        tokio::time::sleep(Duration::from_secs(WINDOW)).await;
        // One that has ended costs nothing, and would be praised for it.
        for watch in watches {
            if watch.is_finished() {
                bail!("a watch ended early: {:?}", watch.await);
            }
        }
        let ticks_per_second = 100.0;
        println!("{} {}", (cpu_ticks()? - before) / ticks_per_second / WINDOW as f64 * 100.0, resident_megabytes()?);
        Ok(())
    })
}

fn cpu_ticks() -> Result<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let number = |index: usize| fields.get(index).and_then(|field| field.parse::<f64>().ok()).context("the time of this process");
    Ok(number(11)? + number(12)?)
}

fn resident_megabytes() -> Result<f64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("the memory of this process")?;
    Ok(line.trim().trim_end_matches(" kB").parse::<f64>()? / 1000.0)
}
