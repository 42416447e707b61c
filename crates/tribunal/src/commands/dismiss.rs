//! `tribunal dismiss F3 --reason …`: a finding that is known and accepted.

use super::review;
use crate::cli::{DismissArgs, ReviewArgs};
use crate::situation::{Situation, exit};
use crate::terminal::out;
use crate::workspace::{self, forge::connect};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};
use tribunal_core::combine::dismissal::{Dismissal, Dismissed};
use tribunal_core::combine::finding::Finding;
use tribunal_core::ids::FindingId;
use tribunal_core::pull::place::Asked;
use tribunal_core::report::document::Document;
use tribunal_store::Ledger;

pub async fn run(args: &DismissArgs, quiet: bool) -> Result<u8, Situation> {
    let id: FindingId =
        args.finding.parse().map_err(|problem: String| Situation::new("unknown-finding", exit::USAGE, problem))?;
    if args.reason.trim().is_empty() {
        return Err(Situation::new("unknown-finding", exit::USAGE, "a dismissal needs a reason")
            .help("people will read it: tribunal dismiss F3 --reason \"only reachable from tests\""));
    }
    let here = workspace::discover_optional()?;
    let ledger = workspace::open_ledger(&workspace::ledger_folder(here.as_ref())).await?;
    match &args.pull {
        Some(asked) => on_pull(args, id, &asked.parse()?, &ledger, quiet).await,
        None => in_checkout(args, id, &ledger).await,
    }
}

/// The word of whoever sits here, on the last review of this checkout.
async fn in_checkout(args: &DismissArgs, id: FindingId, ledger: &Arc<Ledger>) -> Result<u8, Situation> {
    let last = ledger.history(1).await?.into_iter().next().ok_or_else(|| {
        Situation::new("unknown-finding", exit::USAGE, "nothing was reviewed here yet").help("start with: tribunal review")
    })?;
    let document: Document = review::read_document(&last.body, &last.run)?;
    let Some(finding) = document.findings.iter().find(|finding| finding.id == id) else {
        let open: Vec<String> = document.findings.iter().map(|finding| finding.id.to_string()).collect();
        return Err(Situation::new("unknown-finding", exit::USAGE, format!("the last review ({}) has no open {id}", last.run))
            .help(if open.is_empty() { "nothing is open".to_owned() } else { format!("open are {}", open.join(", ")) }));
    };
    let place = format!("{}:{}", finding.file, finding.line_start);
    let dismissed = Dismissed { by: person(), reason: args.reason.trim().to_owned(), accepted: true };
    put(ledger, &last.case_id, Dismissal { id, dismissed, finding: Some(Box::new(finding.clone())) }).await?;
    out::note(&format!("{id} ({} at {place}) no longer counts. `tribunal review` shows it under dismissed.", finding.slug));
    Ok(exit::DONE)
}

/// On a pull request the word is weighed: the author's own does not clear a finding.
async fn on_pull(args: &DismissArgs, id: FindingId, asked: &Asked, ledger: &Arc<Ledger>, quiet: bool) -> Result<u8, Situation> {
    let here = workspace::discover_optional()?;
    let connected = connect(asked, here.as_ref(), &workspace::personal_config()?.forge).await?;
    let (me, pull) = tokio::try_join!(connected.forge.identity(), connected.forge.pull(connected.place.number))?;
    let right = connected.forge.permission(&me).await?;
    if !right.may_write() {
        return Err(Situation::new(
            "forge-forbidden",
            exit::FORGE,
            format!("{} may not write to {}, so their word does not count there", me.login, connected.place.project.path),
        ));
    }
    let dismissed = Dismissed { by: me.login.clone(), reason: args.reason.trim().to_owned(), accepted: !me.is(&pull.author) };
    if !dismissed.accepted && !quiet {
        out::note("You wrote this change: the finding is not repeated any more, but it still counts.");
    }
    if args.dry_run {
        out::note(&format!("{id} would be dismissed on {} by {}; nothing was recorded or posted.", connected.place, me.login));
        return Ok(exit::DONE);
    }
    let case_id = connected.place.case_id();
    put(ledger, &case_id, Dismissal { id, dismissed, finding: last_seen(ledger, &case_id, id).await? }).await?;
    // Said on the pull request at once; nobody is asked again for it.
    let review = ReviewArgs { pull: args.pull.clone(), ..ReviewArgs::plain() };
    review::run(&review, quiet).await
}

/// The finding as this ledger knows it, by which it is known again when its code moves.
async fn last_seen(ledger: &Ledger, case_id: &str, id: FindingId) -> Result<Option<Box<Finding>>, Situation> {
    let Some(row) = ledger.last_document(case_id).await? else { return Ok(None) };
    let document = review::read_document(&row.body, &row.run)?;
    Ok(document.findings.into_iter().find(|finding| finding.id == id).map(Box::new))
}

async fn put(ledger: &Ledger, case_id: &str, dismissal: Dismissal) -> Result<(), Situation> {
    let at =
        SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |passed| i64::try_from(passed.as_millis()).unwrap_or(i64::MAX));
    let body = serde_json::to_string(&dismissal)
        .map_err(|error| Situation::new("engine-failed", exit::INCOMPLETE, error.to_string()))?;
    Ok(ledger.put_dismissal(case_id, &dismissal.id.to_string(), at, &body).await?)
}

fn person() -> String {
    let named = workspace::discover_optional().ok().flatten().and_then(|repository| repository.user_name());
    named.or_else(|| std::env::var("USER").ok()).unwrap_or_else(|| "somebody here".to_owned())
}
