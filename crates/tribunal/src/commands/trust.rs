//! `tribunal trust`: show what a repository's configuration runs, passes on and contacts, and how this checkout's version differs from the
//! base; record that it is fine.

use super::review::pull::fetch;
use crate::situation::{Situation, exit};
use crate::terminal::out;
use crate::workspace::forge::connect;
use crate::workspace::guidance::{Files, Guidance, differing};
use crate::workspace::trust::{Scope, is_content_trusted, trust_content, trust_values};
use crate::workspace::{self, Person};
use std::io::{BufRead as _, IsTerminal as _};
use std::sync::Arc;
use tribunal_core::policy::admission::TrustItem;
use tribunal_core::publish::difference::{Row, difference};
use tribunal_core::publish::visible::visible_line;
use tribunal_forge::git::Repository;

/// What would be recorded.
struct Shown {
    /// For which values are trusted.
    scopes: Vec<Scope>,
    items: Vec<TrustItem>,
    /// The checkout's own files, where they differ from the base and are not trusted yet.
    content: Option<(Repository, Files)>,
    /// Something was there to be looked at, trusted or not.
    differs: bool,
}

pub async fn run(pull: Option<&str>, base: bool, dry_run: bool, yes: bool) -> Result<u8, Situation> {
    let person = Person::here();
    let shown = match pull {
        Some(pull) => of_pull_request(pull, &person).await?,
        None => of_checkout(base, &person)?,
    };
    if shown.items.is_empty() && shown.content.is_none() {
        out::say(match shown.differs {
            true => "Already trusted.",
            false => {
                "Configuration, roles and rules are the base's own, and name nothing that is not trusted; there is nothing to trust."
            }
        })?;
        return Ok(exit::DONE);
    }
    show_items(&shown.items)?;
    if dry_run {
        out::say("Nothing was recorded.")?;
        return Ok(exit::DONE);
    }
    if !yes && !confirmed()? {
        let message = "nothing was recorded; what is not trusted stays out of force";
        return Err(Situation::new("not-trusted", exit::FINDINGS, message).help("answer y, or pass --yes"));
    }
    if let Some((repository, files)) = &shown.content {
        trust_content(&person, repository, files)?;
    }
    trust_values(&person, &shown.scopes, &shown.items)?;
    out::say("Trusted: exactly this content, in this repository, for you.")?;
    Ok(exit::DONE)
}

fn of_checkout(base_only: bool, person: &Person) -> Result<Shown, Situation> {
    let repository = workspace::discover()?;
    let scopes = Scope::all_of_checkout(&repository);
    let base = workspace::guidance_base(&repository);
    let of_base = base.map(|base| Guidance::of_base(&repository, &base)).unwrap_or_default();
    if base_only {
        return Ok(Shown { scopes, items: of_base.not_trusted(person)?, content: None, differs: false });
    }
    let here = Guidance::of_work_tree(&repository)?;
    let changed = differing(of_base.files(), here.files());
    for path in &changed {
        show(path, of_base.files(), here.files())?;
    }
    // A file that cannot be read names nothing; every other command says what is wrong with it.
    let items = here.not_trusted(person).unwrap_or_default();
    let is_new = !changed.is_empty() && !is_content_trusted(person, &repository, here.files());
    let content = is_new.then(|| (repository, here.files().clone()));
    Ok(Shown { scopes, items, content, differs: !changed.is_empty() })
}

/// The base of a pull request, as its review reads it.
async fn of_pull_request(pull: &str, person: &Person) -> Result<Shown, Situation> {
    let here = workspace::discover_optional()?.map(Arc::new);
    let connected = connect(&pull.parse()?, here.as_deref(), &workspace::personal_config()?.forge).await?;
    let at_hand = fetch(connected, here).await?;
    let place = &at_hand.connected.place;
    let guidance = Guidance::at(&at_hand.repository, &at_hand.base_tip, place);
    let scopes = vec![Scope::of_pull_request(place, &at_hand.repository)];
    Ok(Shown { scopes, items: guidance.not_trusted(person)?, content: None, differs: false })
}

fn show_items(items: &[TrustItem]) -> Result<(), Situation> {
    if !items.is_empty() {
        out::say("The configuration names what is not trusted yet:")?;
    }
    for item in items {
        out::say(&format!("\u{1b}[1m{}\u{1b}[0m ({})", visible_line(&item.name()), item.nouns()))?;
        for line in item.lines() {
            out::say(&format!("  {line}"))?;
        }
    }
    Ok(())
}

fn show(path: &str, before: &Files, here: &Files) -> Result<(), Situation> {
    let (old, new) = (before.get(path), here.get(path));
    let what = match (old, new) {
        (None, _) => " (not in the base)",
        (_, None) => " (only in the base)",
        (Some(_), Some(_)) => "",
    };
    out::say(&format!("\u{1b}[1m{}\u{1b}[0m{what}", visible_line(path)))?;
    for row in difference(old.map_or("", String::as_str), new.map_or("", String::as_str)) {
        out::say(&match row {
            Row::Place(place) => format!("\u{1b}[2m{place}\u{1b}[0m"),
            Row::Same(line) => format!(" {line}"),
            Row::Removed(line) => format!("\u{1b}[31m-{line}\u{1b}[0m"),
            Row::Added(line) => format!("\u{1b}[32m+{line}\u{1b}[0m"),
        })?;
    }
    Ok(())
}

fn confirmed() -> Result<bool, Situation> {
    if !std::io::stdin().is_terminal() {
        return Ok(false);
    }
    out::page("Trust this? [y/N] ")?;
    let mut answer = String::new();
    Ok(std::io::stdin().lock().read_line(&mut answer).is_ok() && answer.trim().eq_ignore_ascii_case("y"))
}
