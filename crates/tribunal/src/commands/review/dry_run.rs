//! `tribunal review --dry-run`: what would be looked at, by whom, and what that may cost.

use crate::situation::{Situation, exit};
use crate::terminal::out;
use std::collections::BTreeSet;
use tribunal_core::call::money::Money;
use tribunal_core::call::usage::estimate_tokens;
use tribunal_core::diff::change::Change;
use tribunal_core::diff::parse::parse_diff;
use tribunal_core::findings::brief::numbered_diff;
use tribunal_core::ids::RepoPath;
use tribunal_core::plan::files::{Disposition, FileRules, FileSummary, summarise};
use tribunal_core::plan::flags::flags;
use tribunal_core::plan::panel::{Seat, dispatch};
use tribunal_core::policy::agents::Means;
use tribunal_core::procedure::review::{Request, Target};
use tribunal_core::prompt::SYSTEM;
use tribunal_core::publish::visible::visible_line;
use tribunal_forge::git::Repository;
use tribunal_forge::git::change::ChangeBase;

pub fn run(request: &Request, repository: Option<&Repository>, patch: Option<&[u8]>) -> Result<u8, Situation> {
    let (change, files) = match (&request.target, repository) {
        (Target::Trees { base, head, tip, .. }, Some(repository)) => {
            let read = repository.read_change(ChangeBase::of(base, tip.as_ref()), head, request.policy.read_limits())?;
            (read.change, read.files)
        }
        _ => {
            let change = parse_diff(patch.unwrap_or_default())?;
            let files = summarise(&change);
            (change, files)
        }
    };
    let rules = FileRules::new(&request.policy.skip, &request.policy.review)
        .map_err(|problem| Situation::new("bad-config", exit::USAGE, problem))?;
    out::say(&format!(
        "Would review {} ({}..{})",
        visible_line(request.target.subject()),
        request.target.base().short(),
        request.target.head().short()
    ))?;
    for file in &files {
        let what = match rules.disposition(file) {
            Disposition::Review => "review".to_owned(),
            Disposition::LinesOnly(exemption) => format!("lines only ({})", exemption.reason().words()),
            Disposition::Skip(exemption) => format!("skip ({})", exemption.reason().words()),
            Disposition::NotReviewed(reason) => format!("cannot be read ({})", reason.words()),
        };
        out::say(&format!("  {:<24} +{:<5} -{:<5} {}", what, file.added, file.removed, visible_line(file.path.as_str())))?;
    }
    let tokens = tokens(&change, &files, &rules);
    let flags = flags(&files, request.spec.is_some(), patch.is_none());
    let players = |role: &tribunal_core::ids::RoleName| request.policy.panel.get(role).cloned().unwrap_or_default();
    let panel = dispatch(&request.roles, players, &flags);
    let (mut known, mut unknown) = (Money::ZERO, 0);
    for seat in &panel.seats {
        let (words, cost) = forecast(request, seat, tokens);
        match cost {
            Forecast::Free => {}
            Forecast::About(money) => known = known.plus(money),
            Forecast::Unknown => unknown += 1,
        }
        let again = if seat.sample > 0 { format!(" (sample {})", seat.sample + 1) } else { String::new() };
        out::say(&format!("  {}{again} played by {words}", seat.role))?;
    }
    for absent in &panel.not_called {
        out::say(&format!("  {} not called: {}", absent.role, absent.reason))?;
    }
    let cap = request.policy.budget.run;
    match (known, unknown) {
        (Money::ZERO, 0) => out::say("It would cost nothing.")?,
        (money, 0) => out::say(&format!("About {money} without caches; the run's cap is {cap}."))?,
        (money, seats) => {
            out::say(&format!("About {money} without caches, and {seats} seat(s) of unknown price; the run's cap is {cap}."))?
        }
    }
    out::say("Nothing was reviewed and nothing was recorded.")?;
    Ok(exit::DONE)
}

/// The change as reviewers would read it, by size.
fn tokens(change: &Change, files: &[FileSummary], rules: &FileRules) -> u64 {
    let reviewed: BTreeSet<&RepoPath> =
        files.iter().filter(|file| rules.disposition(file) == Disposition::Review).map(|file| &file.path).collect();
    let read = |path: &RepoPath| reviewed.contains(path);
    change.files.iter().filter(|file| read(&file.path)).map(|file| estimate_tokens(&numbered_diff(file))).sum()
}

enum Forecast {
    Free,
    About(Money),
    Unknown,
}

/// A usual answer is far shorter than it may be.
const USUAL_ANSWER: u64 = 1_500;

fn forecast(request: &Request, seat: &Seat, tokens: u64) -> (String, Forecast) {
    let Some(agent) = request.policy.agents.get(&seat.agent) else { return ("nobody".into(), Forecast::Unknown) };
    let name = format!("{} ({})", seat.agent, agent.kind());
    if agent.not_trusted().is_some() {
        return (format!("{name}, not asked"), Forecast::Free);
    }
    if matches!(agent.means(), Means::Rules | Means::Sarif) {
        return (name, Forecast::Free);
    }
    if matches!(agent.means(), Means::Command) {
        return (format!("{name}, price unknown"), Forecast::Unknown);
    }
    let role = request.roles.iter().find(|role| role.name == seat.role);
    let input = tokens + estimate_tokens(SYSTEM) + role.map_or(0, |role| estimate_tokens(&role.prompt)) + 2_000;
    match request.policy.prices.get(&seat.agent) {
        Some(price) => {
            let money = price.most(input, USUAL_ANSWER);
            (format!("{name}, {} tokens in, about {money}", input), Forecast::About(money))
        }
        None => (format!("{name}, {input} tokens in, price unknown"), Forecast::Unknown),
    }
}
