//! `tribunal publish r.json`: the second half of a review that was made where nothing may be posted.
//!
//! A receipt from elsewhere is a claim: whoever sent a change from a fork can write the file as they like. So the change is read again
//! here, the rules look at it themselves, and the receipt can only add to what they find, and only what the diff proves.

use super::review;
use crate::cli::{PublishArgs, ReviewArgs};
use crate::situation::{Situation, exit};
use tribunal_core::pull::place::{ForgeKind, Place};
use tribunal_core::report::document::Document;

pub async fn run(args: &PublishArgs, quiet: bool) -> Result<u8, Situation> {
    let name = args.receipt.display();
    let bad = |problem: String| {
        Situation::new("bad-receipt", exit::USAGE, format!("{name}: {problem}"))
            .help("make one with: tribunal review PR --no-publish --format json --output r.json")
    };
    let text = std::fs::read_to_string(&args.receipt).map_err(|error| bad(format!("cannot be read: {error}")))?;
    let document: Document = serde_json::from_str(&text).map_err(|error| bad(format!("is no receipt of a review: {error}")))?;
    let Some(pull) = &document.pull else { return Err(bad("is of no pull request".into())) };
    let address = address(&pull.place);
    if let Some(asked) = args.pull.as_ref().filter(|asked| **asked != address && **asked != pull.place.number.to_string()) {
        return Err(bad(format!("is of {address}, not of {asked}")));
    }
    let arguments = ReviewArgs {
        pull: Some(args.pull.clone().unwrap_or(address)),
        agent: Some("rules".into()),
        dry_run: args.dry_run,
        ..ReviewArgs::plain()
    };
    review::publish(&arguments, document, quiet).await
}

/// The address of a pull request, as in a browser.
fn address(place: &Place) -> String {
    let words = match place.kind {
        ForgeKind::GitHub => "pull",
        ForgeKind::GitLab => "-/merge_requests",
        ForgeKind::Gitea | ForgeKind::Forgejo => "pulls",
        ForgeKind::Local => return place.number.to_string(),
    };
    format!("{}/{}/{words}/{}", place.project.origin, place.project.path, place.number)
}
