//! Any program as a reviewer: a JSON brief on standard input, a JSON report on standard output.

use crate::AgentFailure;
use crate::process::{Clocks, Invocation, run};
use crate::sandbox::{Limits, Network, Reads};
use std::path::Path;
use std::time::Duration;
use tribunal_core::findings::answer::read_answer;
use tribunal_core::findings::brief::Brief;
use tribunal_core::findings::report::Report;

pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(300);

pub struct CommandAgent<'a> {
    pub command: &'a [String],
    pub timeout: Option<u64>,
    pub env: &'a [String],
    pub network: bool,
    /// Paths that it may read beside its own installation.
    pub read: &'a [String],
}

impl CommandAgent<'_> {
    pub fn review(&self, brief: &Brief, scratch: &Path) -> Result<Report, AgentFailure> {
        let input = serde_json::to_vec(brief).map_err(|error| AgentFailure::Failed(error.to_string()))?;
        let reads = Reads::of_command(self.command, self.read).map_err(AgentFailure::Failed)?;
        let printed = run(&Invocation {
            command: self.command,
            input,
            directory: scratch,
            scratch,
            env: self.env,
            set: &[],
            limits: Limits::new(reads, vec![scratch.to_owned()], Network::open(self.network)),
            clocks: Clocks::total(self.timeout.map_or(DEFAULT_TIMEOUT, Duration::from_secs)),
        })?;
        if !printed.success {
            return Err(AgentFailure::Failed(format!("it ended with {}{}", printed.exit, said(&printed.stderr))));
        }
        parse_report(&printed.stdout).map_err(|problem| AgentFailure::Failed(problem + &said(&printed.stderr)))
    }
}

fn said(stderr: &str) -> String {
    match stderr.lines().last() {
        Some(line) if !line.trim().is_empty() => format!("; it said: {}", tribunal_core::findings::admit::one_line(line)),
        Some(_) | None => String::new(),
    }
}

/// The output must hold one report, and may hold talk around it. A reviewer that cannot answer has failed.
pub fn parse_report(bytes: &[u8]) -> Result<Report, String> {
    let bytes = without_mark(bytes);
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Err("it printed nothing".into());
    }
    let text = std::str::from_utf8(bytes).map_err(|error| format!("its answer is not a report: {error}"))?;
    let report = read_answer(text, |json| serde_json::from_str(json).map_err(|error| error.to_string()));
    report.map_err(|problem| format!("its answer is not a report: {problem}"))
}

/// A byte order mark, which some systems write in front of UTF-8, is no part of the text.
pub fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Issue, bad input: garbage and silence are failures, never "no findings".
    #[test]
    fn garbage_and_silence_are_failures() {
        assert_eq!(parse_report(b" \n").unwrap_err(), "it printed nothing");
        assert!(parse_report(b"LGTM!").unwrap_err().contains("not a report"));
        assert!(parse_report(b"{\"findigs\": []}").unwrap_err().contains("unknown field `findigs`"));
        assert!(parse_report(b"{\"findings\": []}").is_ok());
        assert!(parse_report(b"Reviewing...\n{\"findings\": []}\nDone.\n").is_ok());
        assert!(parse_report(b"\xef\xbb\xbf{\"findings\": []}").is_ok());
        assert_eq!(parse_report(b"\xef\xbb\xbf \n").unwrap_err(), "it printed nothing");
    }

    /// Design rule 1: an answer that does not speak of findings is no clean bill.
    #[test]
    fn an_empty_object_is_no_report() {
        for answer in ["{}", "{\"checked_clean\": []}", "{\"unread\": []}"] {
            assert!(parse_report(answer.as_bytes()).unwrap_err().contains("missing field `findings`"), "{answer}");
        }
    }
}
