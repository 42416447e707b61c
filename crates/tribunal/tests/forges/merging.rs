//! Why something is not merged, and merging it once nothing is in the way.

pub mod landing;
pub mod stuck;
pub mod why;

use super::town::{Said, Town};
use forge_conformance::Who;
use std::sync::atomic::{AtomicUsize, Ordering};
use tribunal_core::ids::Sha;
use tribunal_core::pull::facts::CheckState;
use tribunal_core::pull::talk::{NewPull, NewStatus};

static NAMES: AtomicUsize = AtomicUsize::new(1);

/// Branches and files that no other story uses.
pub fn name(stem: &str) -> String {
    format!("{stem}-{}-{:05}", std::process::id(), NAMES.fetch_add(1, Ordering::Relaxed))
}

pub struct Opened {
    pub number: u64,
    pub branch: String,
    pub head: Sha,
}

/// A pull request with a harmless change and this description.
pub async fn opened(town: &Town, body: &str) -> Opened {
    let file = format!("{}.md", name("notes"));
    onto(town, "main", body, &[(&file, Some("Some words.\n"))]).await
}

pub async fn onto(town: &Town, base: &str, body: &str, files: &[(&str, Option<&str>)]) -> Opened {
    let branch = name("branch");
    let head = match base {
        "main" => town.stage.push(&branch, files, "a change").await,
        base => on_top(town, base, &branch, files).await,
    };
    let number = town.stage.open_pull(&branch, base, "A change", body).await;
    Opened { number, branch, head }
}

/// A branch that begins where another one ends.
async fn on_top(town: &Town, base: &str, branch: &str, files: &[(&str, Option<&str>)]) -> Sha {
    let checkout = town.stage.checkout();
    checkout.git(&["fetch", "--quiet", "origin", &format!("+refs/heads/{base}:refs/remotes/origin/{base}")]).await;
    checkout.git(&["push", "--quiet", "origin", &format!("refs/remotes/origin/{base}:refs/heads/{branch}")]).await;
    town.stage.push(branch, files, "on top").await
}

pub async fn draft(town: &Town) -> Opened {
    let (branch, file) = (name("draft"), format!("{}.md", name("draft")));
    let head = town.stage.push(&branch, &[(&file, Some("Half a word.\n"))], "half").await;
    let pull =
        NewPull { title: "Half".into(), body: "".into(), head_branch: branch.clone(), base_branch: "main".into(), draft: true };
    let number = town.stage.forge_as(Who::Author).open(&pull).await.unwrap().number;
    Opened { number, branch, head }
}

pub async fn status(town: &Town, sha: &Sha, context: &str, state: CheckState) {
    let status = NewStatus { context: context.into(), state, description: "".into(), url: None };
    town.stage.forge_as(Who::Bot).set_status(sha, &status).await.unwrap();
}

/// The sign that this forge puts before the number of a pull request.
pub fn sign(town: &Town) -> char {
    if town.stage.kind() == tribunal_core::pull::place::ForgeKind::GitLab { '!' } else { '#' }
}

/// `tribunal why`, under these settings of `[merge]`.
pub fn why(town: &Town, numbers: &[u64], settings: &[(&str, &str)], more: &[&str]) -> Said {
    let addresses: Vec<String> = numbers.iter().map(|number| town.address(*number)).collect();
    let mut args = vec!["why"];
    args.extend(addresses.iter().map(String::as_str));
    args.extend(more);
    let mut command = town.command(&town.machine, Who::Bot, &args);
    for (key, value) in settings {
        command.env(format!("TRIBUNAL__MERGE__{}", key.to_uppercase()), value);
    }
    Said::of(command.output().unwrap())
}
