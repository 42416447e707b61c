//! `tribunal publish r.json PR`: the second half of a review that was made where nothing may be posted.
//!
//! A receipt from elsewhere is a claim: whoever sent a change from a fork can write the file as they like. So it does not say where it
//! goes: the pull request is named by whoever runs this, or is the one of the branch that is checked out, and the receipt must be of
//! that one and of its head. The change is read again here, the rules look at it themselves, and the receipt can only add to what
//! they find, and only what the diff proves.

use super::review;
use crate::cli::{PublishArgs, ReviewArgs};
use crate::situation::{Situation, exit};
use crate::workspace;
use std::io::Read as _;
use std::path::Path;
use tribunal_core::report::document::Document;
use tribunal_forge::git::work_file::check_named_path;

/// More than any review ever filled.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

pub async fn run(args: &PublishArgs, quiet: bool) -> Result<u8, Situation> {
    let document = read(&args.receipt)?;
    let pull = match &args.pull {
        Some(pull) => pull.clone(),
        None => of_checkout()?,
    };
    let arguments = ReviewArgs { pull: Some(pull), dry_run: args.dry_run, ..ReviewArgs::plain() };
    review::publish(&arguments, document, quiet).await
}

/// What is wrong with a receipt.
pub(super) fn bad_receipt(problem: &str) -> Situation {
    Situation::new("bad-receipt", exit::USAGE, format!("the receipt {problem}"))
        .help("make one with: tribunal review PR --no-publish --format json --output r.json")
}

fn read(file: &Path) -> Result<Document, Situation> {
    let name = file.display();
    let mut text = String::new();
    let file = &check_named_path(file).map_err(|error| bad_receipt(&format!("cannot be read: {error}")))?;
    let opened = std::fs::File::open(file).and_then(|opened| opened.take(MAX_BYTES + 1).read_to_string(&mut text));
    opened.map_err(|error| bad_receipt(&format!("{name} cannot be read: {error}")))?;
    if text.len() as u64 > MAX_BYTES {
        return Err(bad_receipt(&format!("{name} is larger than {} MB", MAX_BYTES / (1024 * 1024))));
    }
    serde_json::from_str(&text).map_err(|error| bad_receipt(&format!("{name} is no document of a review: {error}")))
}

/// Without an argument: the pull request of the branch that is checked out. Never the one that the receipt names.
fn of_checkout() -> Result<String, Situation> {
    let branch = workspace::discover_optional()?.and_then(|here| here.current_branch());
    branch.map(|_| "@".to_owned()).ok_or_else(|| {
        Situation::new("no-pull-request", exit::USAGE, "nothing says which pull request the receipt is to be posted on")
            .help("name it: tribunal publish r.json https://host/owner/name/pull/7 (what the receipt itself says does not count)")
    })
}
