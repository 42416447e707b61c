//! `tribunal index`

use super::library::{Here, unusable};
use crate::cli::ListFormat;
use crate::cli::library::{IndexArgs, kinds};
use crate::situation::{Situation, exit};
use crate::terminal::out;
use crate::terminal::table::table;
use serde_json::json;
use tribunal_core::library::page::Kind;
use tribunal_engine::library::{Refreshed, Synced, model_of};

pub async fn run(args: &IndexArgs, quiet: bool) -> Result<u8, Situation> {
    let mut kinds = kinds(&args.kind);
    let wants_issues = kinds.contains(&Kind::Issue) && !args.no_issues;
    let here = Here::new(args.module.as_deref(), wants_issues).await?;
    let say = |line: &str| {
        if !quiet {
            out::note(line);
        }
    };
    here.notices.iter().for_each(|notice| say(notice));
    if here.policy.qmd.is_some() {
        here.library.tell_external(&here.policy).await.map_err(unusable)?;
        out::note("The external index of [library.qmd] has read everything anew.");
        return Ok(exit::DONE);
    }
    let mut warned = false;
    if wants_issues {
        match (here.library.sync_issues().await, &here.without_forge) {
            (Synced::Done(counts), _) => {
                say(&format!("{}: {} issues new, {} changed", here.library.tracker, counts.added, counts.updated));
            }
            (Synced::Fresh, _) => say("The issues were read less than five minutes ago."),
            (Synced::Nobody, why) => {
                warned = true;
                out::note(&format!("warning: no issues: {}", why.as_deref().unwrap_or("there is no forge")));
            }
            (Synced::Failed(why), _) => {
                warned = true;
                out::note(&format!("warning: the issues could not be read: {why}"));
            }
        }
    } else {
        kinds.retain(|kind| *kind != Kind::Issue);
    }
    if args.rebuild {
        here.library.forget(&here.policy, &kinds).await.map_err(unusable)?;
    }
    let head = here.repository.head()?;
    let done = here.library.refresh(&here.policy, &here.repository, &head, &kinds).await.map_err(unusable)?;
    let mut vectors = Vec::new();
    if let Some(agent) = &here.policy.embeddings
        && let Some(model) = model_of(here.account(), agent)
    {
        for kind in &kinds {
            match here.library.embed_pages(here.account(), agent, &model, *kind).await.map_err(unusable)? {
                Ok(made) => vectors.push((*kind, made)),
                Err(why) => {
                    warned = true;
                    out::note(&format!("warning: no vectors for {}: {why}", kind.plural()));
                }
            }
        }
    }
    print(&done, &vectors, args.format)?;
    Ok(if warned { exit::INCOMPLETE } else { exit::DONE })
}

fn print(done: &[(Kind, Refreshed)], vectors: &[(Kind, usize)], format: ListFormat) -> Result<(), Situation> {
    let made = |kind: Kind| vectors.iter().find(|(of, _)| *of == kind).map(|(_, made)| *made);
    match format {
        ListFormat::Json => {
            let rows: Vec<_> = done
                .iter()
                .map(|(kind, done)| {
                    json!({
                        "kind": kind, "documents": done.documents, "pages": done.pages, "added": done.added,
                        "changed": done.changed, "removed": done.removed, "vectors_made": made(*kind),
                    })
                })
                .collect();
            out::json(&serde_json::Value::Array(rows))
        }
        ListFormat::Text => {
            let row = |(kind, done): &(Kind, Refreshed)| {
                let numbers =
                    [done.documents, done.pages, done.added, done.changed, done.removed].map(|number| number.to_string());
                let vectors = made(*kind).map_or_else(|| "-".to_owned(), |made| made.to_string());
                [vec![kind.plural().to_owned()], numbers.to_vec(), vec![vectors]].concat()
            };
            let head = ["KIND", "DOCUMENTS", "PAGES", "NEW", "CHANGED", "GONE", "NEW VECTORS"];
            out::say(table(&head, done.iter().map(row)).trim_end())
        }
    }
}
