//! `tribunal why [PR…]`: what keeps a pull request from being merged, condition by condition, the real reason first.

use super::review::pull::{clone_folder, on_forge};
use crate::cli::why::{WhyArgs, WhyFormat};
use crate::situation::{Situation, exit};
use crate::terminal::out::{self, Printable};
use crate::workspace;
use crate::workspace::forge::{Connected, connect};
use crate::workspace::guidance::Guidance;
use std::collections::BTreeSet;
use std::sync::Arc;
use tribunal_core::ids::Sha;
use tribunal_core::merge::conditions::{Condition, Standing, conditions};
use tribunal_core::merge::policy::{MergePolicy, Wanted};
use tribunal_core::merge::words::{Why, WhyEnd, exit_code, line, markdown};
use tribunal_core::policy::config::Config;
use tribunal_core::publish::visible::visible_line;
use tribunal_core::pull::facts::PullFilter;
use tribunal_core::pull::place::{Asked, ForgeKind};
use tribunal_core::pull::told::Told;
use tribunal_engine::EngineError;
use tribunal_engine::merging::{Look, Merging};
use tribunal_forge::git::Repository;

pub async fn run(args: &WhyArgs, quiet: bool) -> Result<u8, Situation> {
    let mut whys: Vec<Why> = Vec::new();
    let ended = look_at(args, &mut whys).await;
    if ended.is_err() && whys.is_empty() {
        return ended.map(|()| 0);
    }
    if whys.is_empty() && !quiet {
        out::note("No pull request is open.");
    }
    // What is known of some is worth its words, whatever became of another.
    print(&whys, args.format)?;
    ended.map(|()| exit_code(&whys))
}

async fn look_at(args: &WhyArgs, whys: &mut Vec<Why>) -> Result<(), Situation> {
    let here = workspace::discover_optional()?.map(Arc::new);
    let personal = workspace::personal_config()?;
    let asked: Vec<Asked> = args.pulls.iter().map(|text| text.parse()).collect::<Result<_, _>>()?;
    let whole = Asked::Number(0);
    let mut seen: BTreeSet<String> = BTreeSet::new();
    for asked in if asked.is_empty() { vec![&whole] } else { asked.iter().collect() } {
        let connected = connect(asked, here.as_deref(), &personal.forge).await?;
        let numbers = match args.pulls.is_empty() {
            true => all_open(&connected).await?,
            false => vec![connected.place.number],
        };
        let Some(first) = numbers.first() else { continue };
        let merging = merging(&connected, *first, here.clone(), &personal).await?;
        for number in numbers {
            if seen.insert(merging.place(number).case_id()) {
                let look = merging.look(number).await.map_err(of_forge)?;
                let policy = policy_of(&merging, &look)?;
                let wanted = if args.merge { Wanted::Asked } else { Wanted::AsConfigured };
                whys.push(Why::of(&look.facts, &conditions(&policy, &look.facts, wanted)));
            }
        }
    }
    Ok(())
}

/// Nothing is reviewed here, so that there is nothing to go on with.
fn of_forge(error: EngineError) -> Situation {
    match error {
        EngineError::Forge(fault) => fault.into(),
        other => other.into(),
    }
}

async fn all_open(connected: &Connected) -> Result<Vec<u64>, Situation> {
    let mut numbers: Vec<u64> = connected.forge.pulls(&PullFilter::default()).await?.iter().map(|pull| pull.number).collect();
    numbers.sort_unstable();
    Ok(numbers)
}

/// Any pull request of the project says where git finds it.
async fn merging(
    connected: &Connected,
    number: u64,
    here: Option<Arc<Repository>>,
    personal: &Config,
) -> Result<Merging, Situation> {
    let ledger = workspace::open_ledger(&workspace::ledger_folder(here.as_deref())).await?;
    let place = &connected.place;
    let repository = match (place.kind, here) {
        (ForgeKind::Local, Some(here)) => here,
        _ => {
            let pull = connected.forge.pull(number).await?;
            let (folder, source) = (clone_folder(connected), connected.forge.source(&pull));
            let made = tokio::task::spawn_blocking(move || Repository::clone_of(&folder, &source)).await;
            Arc::new(made.map_err(|error| Situation::new("engine-failed", exit::INCOMPLETE, error.to_string()))??)
        }
    };
    Ok(Merging {
        on: on_forge(connected),
        kind: place.kind,
        project: place.project.clone(),
        repository,
        ledger,
        bots: personal.identity.bots.clone(),
    })
}

/// `[merge]` as the base says it, under what this person and the environment say.
fn policy_of(merging: &Merging, look: &Look) -> Result<MergePolicy, Situation> {
    let base: &Sha = match &look.base_tip {
        Told::Is(base) => base,
        // Of one that is over nothing is decided any more.
        Told::Unknown(_) => return Ok(workspace::personal_config()?.merge.policy()),
    };
    let guidance = Guidance::at(&merging.repository, base, &merging.place(0));
    Ok(workspace::set_up_with(guidance, None)?.merged.config.merge.policy())
}

fn print(whys: &[Why], format: WhyFormat) -> Result<(), Situation> {
    match format {
        WhyFormat::Text => out::page(&whys.iter().map(text).collect::<Vec<_>>().join("\n")),
        WhyFormat::Markdown => out::write(&Printable::plain(&markdown(whys))),
        WhyFormat::Json => {
            let value = serde_json::to_value(whys)
                .map_err(|error| Situation::new("engine-failed", exit::INCOMPLETE, error.to_string()))?;
            out::json(&value)
        }
    }
}

const RED: &str = "\u{1b}[31m";
const GREEN: &str = "\u{1b}[32m";
const YELLOW: &str = "\u{1b}[33m";
const BOLD: &str = "\u{1b}[1m";
const DIM: &str = "\u{1b}[2m";
const RESET: &str = "\u{1b}[0m";

/// The reason, what helps, and the conditions in their order.
fn text(why: &Why) -> String {
    let colour = match why.end {
        WhyEnd::Ready => GREEN,
        WhyEnd::Waiting => YELLOW,
        WhyEnd::Stuck => RED,
    };
    let mut text = format!("{BOLD}#{} {}{RESET}\n", why.number, visible_line(&why.title));
    text.push_str(&format!("  {colour}{}{RESET}\n", visible_line(&why.headline())));
    if let Some(next) = &why.next {
        text.push_str(&format!("  {DIM}what helps:{RESET} {}\n", visible_line(next)));
    }
    let width = why.conditions.iter().map(|condition| condition.name.word().len()).max().unwrap_or(0);
    text.push('\n');
    for condition in &why.conditions {
        text.push_str(&row(condition, width));
    }
    text
}

fn row(condition: &Condition, width: usize) -> String {
    let (sign, word, sentence) = line(condition);
    let colour = match condition.standing {
        Standing::Met { .. } => GREEN,
        Standing::Unmet { .. } => RED,
        Standing::Unknown { .. } => YELLOW,
    };
    format!("  {colour}{sign}{RESET} {word:<width$}  {}\n", visible_line(&sentence))
}
