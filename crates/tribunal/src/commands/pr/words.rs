//! Small words that several of these commands say, and the text that they are given.

use crate::situation::{Situation, exit};
use std::io::Read;
use std::path::Path;
use tribunal_core::feedback::log::READ;
use tribunal_core::pull::desk::BODY_LIMIT;
use tribunal_core::pull::facts::CheckState;
use tribunal_forge::git::work_file::{WorkFileError, check_named_path};

/// What was typed, or standard input for `-`.
pub fn text(given: &str) -> Result<String, Situation> {
    if given != "-" {
        return Ok(given.to_owned());
    }
    let mut bytes = Vec::new();
    // One byte more than allowed, so that what is too long is refused as such.
    let read = std::io::stdin().lock().take(BODY_LIMIT as u64 + 1).read_to_end(&mut bytes);
    let bad = |problem: String| Situation::new("bad-text", exit::USAGE, format!("standard input cannot be read: {problem}"));
    read.map_err(|error| bad(error.to_string()))?;
    String::from_utf8(bytes).map_err(|_| bad("it is not UTF-8".into()))
}

/// The end of what a file or standard input holds, however long it is.
pub fn end_of(file: &Path) -> Result<String, Situation> {
    let bad =
        |error: std::io::Error| Situation::new("bad-text", exit::USAGE, format!("{} cannot be read: {error}", file.display()));
    let linked = |error: WorkFileError| Situation::new("bad-text", exit::USAGE, error.to_string());
    let mut source: Box<dyn Read> = match file.to_str() {
        Some("-") => Box::new(std::io::stdin().lock()),
        _ => Box::new(std::fs::File::open(check_named_path(file).map_err(linked)?).map_err(bad)?),
    };
    let (mut kept, mut chunk) = (Vec::new(), vec![0; READ]);
    loop {
        match source.read(&mut chunk).map_err(bad)? {
            0 => return Ok(String::from_utf8_lossy(&kept).into_owned()),
            length => kept.extend_from_slice(&chunk[..length]),
        }
        kept.drain(..kept.len().saturating_sub(READ));
    }
}

pub fn count(many: usize, noun: &str) -> String {
    format!("{many} {noun}{}", if many == 1 { "" } else { "s" })
}

pub fn check_word(state: CheckState) -> &'static str {
    match state {
        CheckState::Pending => "pending",
        CheckState::Success => "success",
        CheckState::Failure => "failure",
        CheckState::Error => "error",
        CheckState::Skipped => "skipped",
    }
}
