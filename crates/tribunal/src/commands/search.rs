//! `tribunal search`

use super::library::{Here, unusable};
use crate::cli::ListFormat;
use crate::cli::library::{SearchArgs, kinds};
use crate::situation::{Situation, exit};
use crate::terminal::out::{self, Printable};
use crate::terminal::table::table;
use tribunal_core::library::hint::Hint;
use tribunal_core::library::page::Kind;
use tribunal_core::library::question::Question;
use tribunal_core::publish::visible::visible_line;
use tribunal_engine::library::Synced;

/// Of a hit's own words, in the terminal.
const QUOTE: usize = 100;

pub async fn run(args: &SearchArgs, quiet: bool) -> Result<u8, Situation> {
    if !(0.0..=1.0).contains(&args.min_score) {
        return Err(Situation::new("bad-config", exit::USAGE, "--min-score goes from 0 to 1"));
    }
    let kinds = kinds(&args.kind);
    let ask_forge = kinds.contains(&Kind::Issue);
    let here = Here::new(args.module.as_deref(), ask_forge).await?;
    let say = |line: &str| {
        if !quiet {
            out::note(line);
        }
    };
    here.notices.iter().for_each(|notice| say(notice));
    if !args.no_refresh && here.policy.qmd.is_none() {
        if ask_forge && let Synced::Failed(why) = here.library.sync_issues().await {
            say(&format!("warning: the issues could not be read ({why}); those that were read before are searched"));
        }
        let head = here.repository.head()?;
        here.library.refresh(&here.policy, &here.repository, &head, &kinds).await.map_err(unusable)?;
    }
    let question = Question::typed(&args.words.join(" "), args.limit, args.min_score);
    let found = here.library.search(here.account(), &question, &kinds).await.map_err(unusable)?;
    found.notices.iter().for_each(|notice| say(notice));
    let hits: Vec<Hint> = found.hits.into_iter().map(Hint::of).collect();
    match args.format {
        ListFormat::Json => {
            out::write(&Printable::json_of(&hits)?)?;
        }
        ListFormat::Text if hits.is_empty() => say("Nothing was found."),
        ListFormat::Text => {
            let row = |hit: &Hint| {
                let place = if hit.kind == Kind::Issue { hit.place.clone() } else { format!("{}:{}", hit.place, hit.line) };
                let quote: String = visible_line(&hit.quote).chars().take(QUOTE).collect();
                let title = if hit.kind == Kind::Code { String::new() } else { visible_line(&hit.title) };
                let said =
                    [title, visible_line(&hit.section), quote].into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>();
                vec![
                    format!("{:.2}", hit.score),
                    hit.kind.to_string(),
                    visible_line(&hit.name),
                    visible_line(&place),
                    said.join(" · "),
                ]
            };
            out::say(table(&["SCORE", "KIND", "NAME", "PLACE", "WHAT IT SAYS"], hits.iter().map(row)).trim_end())?;
        }
    }
    Ok(exit::DONE)
}
