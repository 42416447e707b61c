//! `tribunal await PR`: blocks until review activity has settled.

use super::loops::waits;
use super::review::interrupt;
use super::review::pull::on_forge;
use crate::cli::loops::AwaitArgs;
use crate::situation::{Situation, exit};
use crate::terminal::{out, progress};
use crate::workspace::{self, forge::connect};
use tribunal_core::feedback::reviewer::Filter;
use tribunal_core::policy::loops::{LoopKind, LoopPolicy};
use tribunal_core::remedy::awaited::{Activity, text};
use tribunal_engine::waiting::{Await, until_settled};

pub async fn run(args: &AwaitArgs, quiet: bool) -> Result<u8, Situation> {
    let here = workspace::discover_optional()?;
    let personal = workspace::personal_config()?;
    let bad = |problem: String| Situation::new("bad-config", exit::USAGE, problem);
    let filter: Filter = args.reviewer.parse().map_err(bad)?;
    let usual = LoopPolicy::new(LoopKind::Respond, &personal).map_err(bad)?;
    let mut wait = waits(&args.wait, usual.wait);
    wait.total = args.timeout.unwrap_or(wait.total);
    let connected = connect(&args.pull.parse()?, here.as_ref(), &personal.forge).await?;
    let reporter = progress::Reporter::new(quiet);
    let asked =
        Await { on: on_forge(&connected), place: connected.place.clone(), filter, wait, bots: usual.bots, after: args.after };
    let listener = reporter.listener();
    let activity = tokio::select! {
        activity = until_settled(&asked, &listener) => activity?,
        () = interrupt() => {
            reporter.finish();
            return Err(Situation::new("interrupted", 130, "interrupted"));
        }
    };
    reporter.finish();
    print(&activity, args.json)?;
    Ok(if activity.is_settled() { exit::DONE } else { exit::NOT_YET })
}

fn print(activity: &Activity, as_json: bool) -> Result<(), Situation> {
    if as_json {
        let value = serde_json::to_value(activity)
            .map_err(|error| Situation::new("engine-failed", exit::INCOMPLETE, error.to_string()))?;
        return out::json(&value);
    }
    out::page(&text(activity))
}
