//! `tribunal pr merge` and `pr update`.

use super::review::looked_at;
use super::words::{count, text};
use super::{Desk, Dry};
use crate::cli::pr::{MergeArgs, MethodArg};
use crate::situation::Situation;
use crate::terminal::out;
use tribunal_core::publish::visible::visible_line;
use tribunal_core::pull::chronological::Chronological;
use tribunal_core::pull::facts::{CheckState, MergeMethod, MergeOrder, Pull};
use tribunal_core::pull::talk::{Review, ReviewState};
use tribunal_forge::port::ReviewPull as _;

pub async fn run(args: MergeArgs, quiet: bool) -> Result<(), Situation> {
    let desk = Desk::to_write(args.dry).await?;
    let number = desk.number(&args.pull.pull).await?;
    let pull = desk.local.look_at(number).await?;
    let head = looked_at(&desk.repository, &pull, args.head.as_deref())?;
    if !quiet {
        reasons_to_wait(&desk, &pull).await?.iter().for_each(|reason| out::note(&format!("note: {}", visible_line(reason))));
    }
    let method = match args.method {
        MethodArg::Squash => MergeMethod::Squash,
        MethodArg::Merge => MergeMethod::Merge,
        MethodArg::Rebase => MergeMethod::Rebase,
    };
    let message = args.message.as_deref().map_or(Ok(String::new()), text)?;
    // A message without a title is still one's own.
    let title =
        args.title.unwrap_or_else(|| if message.is_empty() { String::new() } else { format!("{} (#{number})", pull.title) });
    let commit =
        desk.local.land(number, &MergeOrder { head: head.clone(), method, title: title.into(), message: message.into() }).await?;
    let now = if desk.rehearses { String::new() } else { format!("; {} is at {}", pull.base.branch, commit.short()) };
    desk.done(&format!("Merged #{number} ({} at {}) into {}{now}", pull.head.branch, head.short(), pull.base.branch))
}

/// What somebody who merges would want to know. The forge does not judge; it only does not keep silent.
async fn reasons_to_wait(desk: &Desk, pull: &Pull) -> Result<Vec<String>, Situation> {
    let mut reasons = Vec::new();
    for check in desk.local.checks_of(&pull.head.sha).await? {
        match check.state {
            CheckState::Success | CheckState::Skipped => {}
            CheckState::Pending => reasons.push(format!("check `{}` is pending", check.name)),
            CheckState::Failure | CheckState::Error => reasons.push(format!("check `{}` failed", check.name)),
        }
    }
    let open = desk.local.conversations(pull.number).await?.iter().filter(|(_, thread)| !thread.resolved).count();
    if open > 0 {
        reasons.push(format!("{} not resolved", count(open, "thread")));
    }
    let reviews = desk.local.reviews(pull.number).await.unwrap_or_default();
    let judges = |review: &Review| matches!(review.state, ReviewState::Approved | ReviewState::ChangesRequested);
    let last = Chronological::of(&reviews).last_of_each(judges).into_values();
    let asking = last.filter(|review| review.state == ReviewState::ChangesRequested);
    reasons.extend(asking.map(|review| format!("{} asked for changes", review.author.login)));
    Ok(reasons)
}

pub async fn update(pull: &str, dry: Dry) -> Result<(), Situation> {
    let desk = Desk::to_write(dry).await?;
    let number = desk.number(pull).await?;
    let pull = desk.local.look_at(number).await?;
    let brought = desk.local.refresh(number, &pull.head.sha).await?;
    if brought {
        desk.done(&format!("Merged {} into {} (#{number})", pull.base.branch, pull.head.branch))
    } else {
        out::say(&format!("{} has all of {} already", pull.head.branch, pull.base.branch))
    }
}
