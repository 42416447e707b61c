//! `tribunal pr issue`: work that is left for later.

use super::Desk;
use super::words::text;
use crate::cli::pr::IssueCommand;
use crate::situation::{Situation, exit};
use crate::terminal::table::table;
use crate::terminal::{out, pull as page};
use tribunal_core::pull::talk::NewIssue;
use tribunal_forge::port::Discuss as _;

pub async fn run(command: IssueCommand) -> Result<(), Situation> {
    match command {
        IssueCommand::Open { title, body, label, dry } => {
            let desk = Desk::to_write(dry).await?;
            let issue = desk
                .local
                .open_issue(&NewIssue {
                    title: title.into(),
                    body: text(&body)?.into(),
                    labels: label.into_iter().map(Into::into).collect(),
                })
                .await?;
            desk.done(&format!("Opened issue #{}: {}", issue.number, issue.title))
        }
        IssueCommand::List { all, words, output } => list(all, &words, output.is_json()).await,
        IssueCommand::Show { number, output } => {
            let desk = Desk::to_read().await?;
            let issue = desk.local.issue_of(self::number(&number)?).await?;
            let comments = desk.local.comments(issue.number).await?;
            if output.is_json() {
                return out::json(&serde_json::json!({ "issue": issue, "comments": comments }));
            }
            out::page(&page::issue(&issue, &comments))
        }
        IssueCommand::Close { number, dry } => set(&number, false, dry).await,
        IssueCommand::Reopen { number, dry } => set(&number, true, dry).await,
    }
}

async fn set(typed: &str, open: bool, dry: super::Dry) -> Result<(), Situation> {
    let number = number(typed)?;
    let desk = Desk::to_write(dry).await?;
    desk.local.set_issue(number, open).await?;
    desk.done(&if open { format!("Opened issue #{number} again") } else { format!("Closed issue #{number}") })
}

async fn list(all: bool, words: &str, json: bool) -> Result<(), Situation> {
    let mut issues = Desk::to_read().await?.local.issues_with(words).await?;
    issues.retain(|issue| all || issue.open);
    if json {
        return out::json(&serde_json::json!(issues));
    }
    if issues.is_empty() {
        return out::say("No issues. Open one with: tribunal pr issue open --title TEXT");
    }
    let rows = issues.iter().map(|issue| {
        let state = if issue.open { "open" } else { "closed" };
        vec![
            format!("#{}", issue.number),
            state.to_owned(),
            issue.author.login.clone(),
            issue.labels.join(", "),
            issue.title.clone(),
        ]
    });
    out::say(&table(&["ISSUE", "STATE", "BY", "LABELS", "TITLE"], rows))
}

fn number(typed: &str) -> Result<u64, Situation> {
    typed.trim_start_matches('#').parse().ok().filter(|number| *number > 0).ok_or_else(|| {
        Situation::new("unknown-number", exit::USAGE, format!("`{typed}` is not the number of an issue"))
            .help("tribunal pr issue list")
    })
}
