//! `tribunal pr open`: what was not said is taken from the branch.

use super::Desk;
use super::words::text;
use crate::cli::pr::OpenArgs;
use crate::situation::{Situation, exit};
use tribunal_core::pull::desk::TITLE_LIMIT;
use tribunal_core::pull::talk::NewPull;
use tribunal_forge::git::Repository;

pub async fn run(args: OpenArgs) -> Result<(), Situation> {
    let desk = Desk::to_write(args.dry).await?;
    let head_branch = match args.head {
        Some(head) => head,
        None => desk.repository.current_branch().ok_or_else(|| {
            Situation::new("unknown-branch", exit::USAGE, "no branch is checked out")
                .help("name the branch to be merged: tribunal pr open --head BRANCH")
        })?,
    };
    let base_branch = match args.base {
        Some(base) => base,
        None => default_base(&desk.repository)?,
    };
    let (subject, body) = described(&desk.repository, &base_branch, &head_branch);
    let title = args.title.unwrap_or(subject);
    let body = args.body.map_or(Ok(body), |body| text(&body))?;
    let pull = desk
        .local
        .open_pull(&NewPull { title: title.into(), body: body.into(), head_branch, base_branch, draft: args.draft })
        .await?;
    let draft = if pull.draft { " as a draft" } else { "" };
    desk.done(&format!("Opened #{}{draft}: {} ({} → {})", pull.number, pull.title, pull.head.branch, pull.base.branch))
}

/// The branch of this repository that has the default branch's name, wherever that one is.
fn default_base(repository: &Repository) -> Result<String, Situation> {
    let full = repository.default_branch()?;
    let name = match full.strip_prefix("refs/remotes/") {
        Some(rest) => rest.split_once('/').map_or(rest, |(_, name)| name),
        None => full.strip_prefix("refs/heads/").unwrap_or(&full),
    };
    if repository.branch_tip(name).is_none() {
        return Err(Situation::new(
            "unknown-branch",
            exit::USAGE,
            format!("the default branch `{name}` is not checked out here"),
        )
        .help(format!("git branch {name} {full}"))
        .help("or name another one: tribunal pr open --base BRANCH"));
    }
    Ok(name.to_owned())
}

/// A single commit says what it is about; several have the branch's name in common.
fn described(repository: &Repository, base: &str, head: &str) -> (String, String) {
    let messages = repository.messages_between(base, head).unwrap_or_default();
    if let [only] = messages.as_slice() {
        let (subject, body) = only.split_once('\n').unwrap_or((only, ""));
        return (subject.trim().chars().take(TITLE_LIMIT).collect(), body.trim().to_owned());
    }
    let words = head.rsplit('/').next().unwrap_or(head).replace(['-', '_'], " ");
    let mut letters = words.chars();
    let title = letters.next().map(|first| first.to_uppercase().chain(letters).collect());
    (title.unwrap_or(words), String::new())
}
