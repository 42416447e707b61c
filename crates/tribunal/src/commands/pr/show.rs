//! `tribunal pr list` and `pr show`.

use super::Desk;
use crate::situation::Situation;
use crate::terminal::out;
use crate::terminal::pull as page;
use crate::terminal::table::table;
use tribunal_core::pull::facts::PullFilter;
use tribunal_forge::port::{Discuss as _, ReviewPull as _};

pub async fn list(filter: &PullFilter, json: bool) -> Result<(), Situation> {
    let pulls = Desk::to_read().await?.local.list(filter).await?;
    if json {
        return out::json(&serde_json::json!(pulls));
    }
    if pulls.is_empty() {
        let more = if filter.all_states { "" } else { " `--all` lists closed and merged ones too." };
        return out::say(&format!("No open pull requests. Open one with: tribunal pr open.{more}"));
    }
    let rows = pulls.iter().map(|pull| {
        let state = if pull.draft { "draft" } else { pull.state.word() };
        vec![
            format!("#{}", pull.number),
            state.to_owned(),
            pull.author.login.clone(),
            format!("{} → {}", pull.head.branch, pull.base.branch),
            pull.head.sha.short().to_owned(),
            pull.title.clone(),
        ]
    });
    out::say(&table(&["PULL", "STATE", "BY", "BRANCHES", "HEAD", "TITLE"], rows))
}

pub async fn run(asked: &str, json: bool) -> Result<(), Situation> {
    let desk = Desk::to_read().await?;
    let number = desk.any_number(asked).await?;
    let pull = desk.local.look_at(number).await?;
    let checks = desk.local.checks_of(&pull.head.sha).await?;
    let reviews = desk.local.reviews(number).await?;
    let threads = desk.local.conversations(number).await?;
    let comments = desk.local.comments(number).await?;
    if json {
        let threads: Vec<_> = threads.iter().map(|(_, thread)| thread).collect();
        return out::json(&serde_json::json!({
            "pull": pull, "checks": checks, "reviews": reviews, "threads": threads, "comments": comments,
        }));
    }
    out::page(&page::page(&page::Shown { pull, checks, reviews, threads, comments }))
}
