//! Everything that is said about feedback on a pull request (CF-17, WL-81), and when a thread may be closed over it (CF-6, CF-7).
//!
//! Summaries, reasons and questions come from agents: each is one line, bounded, and cannot call anybody. Our mark is put under the
//! text by whoever posts it; the mark is what is read back, never the prose.

use super::assess::Decision;
use super::end::Ended;
use crate::feedback::fixable::Fixable;
use crate::feedback::item::{Item, Surface};
use crate::feedback::reviewer::Summons;
use crate::findings::admit::one_line;
use crate::findings::plain::plain;
use crate::findings::scale::Priority;
use crate::ids::Sha;
use crate::policy::loops::ResolvePolicy;
use crate::publish::markdown::{code, inert};
use crate::pull::talk::NewIssue;

/// A name for an issue or a record that cannot be one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no place that work can be deferred to")]
pub struct BadHome(pub String);

const MAX_HOME: usize = 300;

pub fn fixed(sha: &Sha, summary: &str) -> String {
    format!("Fixed in {sha}.{}", sentence(summary))
}

pub fn declined(reason: &str) -> String {
    let reason = said(reason);
    if reason.is_empty() { "Declined.".to_owned() } else { format!("Declined: {reason}.") }
}

/// `home` is an issue's number or address, or a path; it stands there as it is, because it must work as a link.
pub fn deferred(home: &str, summary: &str) -> Result<String, BadHome> {
    Ok(format!("Deferred to {}.{}", checked_home(home)?, sentence(summary)))
}

pub fn asked(question: &str) -> String {
    let question = said(question);
    let question = question.trim_end_matches('?');
    if question.is_empty() { "A person must decide this.".to_owned() } else { format!("A person must decide this: {question}?") }
}

pub(crate) fn checked_home(home: &str) -> Result<&str, BadHome> {
    let fine = !home.is_empty()
        && home.len() <= MAX_HOME
        && !home.starts_with('-')
        && !home.contains(|c: char| c.is_whitespace() || c.is_control() || "@<>`|\\[]()".contains(c));
    if fine { Ok(home) } else { Err(BadHome(one_line(home))) }
}

/// One harmless line without a full stop at its end.
fn said(text: &str) -> String {
    inert(one_line(&plain(text)).trim().trim_end_matches(['.', ' ']))
}

fn sentence(text: &str) -> String {
    let text = said(text);
    if text.is_empty() { String::new() } else { format!(" {text}.") }
}

/// May the thread be resolved once the answer stands (CF-6, CF-7, WL-69, WL-83)?
pub fn may_resolve(item: &Fixable, decision: Decision, policy: ResolvePolicy, resolve_people: bool) -> bool {
    let is_thread = matches!(item.surface, Surface::Thread { .. });
    if !is_thread || item.resolved || !item.can_resolve || item.voice.is_person() && !resolve_people {
        return false;
    }
    match (decision, policy) {
        (_, ResolvePolicy::Never) => false,
        // A question is closed by whoever asked it.
        (Decision::Ask | Decision::Replan | Decision::Noise, ResolvePolicy::Addressed | ResolvePolicy::Always) => false,
        (Decision::Address | Decision::Defer, ResolvePolicy::Addressed) => item.one_voice,
        (Decision::Address | Decision::Defer, ResolvePolicy::Always) => item.one_voice || resolve_people,
        (Decision::Decline, ResolvePolicy::Addressed) => false,
        (Decision::Decline, ResolvePolicy::Always) => item.one_voice && !decline_escalates(item, None),
    }
}

/// Words that make a finding one of those which are not ours to turn down.
const GRAVE: [&str; 16] = [
    "security",
    "auth",
    "injection",
    "xss",
    "csrf",
    "crypto",
    "secret",
    "credential",
    "permission",
    "api",
    "compat",
    "contract",
    "schema",
    "architect",
    "release",
    "data",
];

const FEARED: [&str; 9] =
    ["security", "vulnerab", "injection", "xss", "csrf", "credential", "exploit", "data loss", "breaking change"];

/// Declining it is said, the thread stays open and a person is told (CF-7, WL-70): high severity, security, interface, data,
/// architecture or release, and everything that a person raised.
pub fn decline_escalates(item: &Item, category: Option<&str>) -> bool {
    let high = matches!(item.priority, Some(Priority::P0 | Priority::P1));
    let words = category.unwrap_or_default().to_lowercase();
    let named = words.split(|c: char| !c.is_alphanumeric()).any(|word| GRAVE.iter().any(|grave| word.starts_with(grave)));
    // A foreign reviewer gives no category, but says what it fears.
    let body = item.body.to_lowercase();
    let feared = FEARED.iter().any(|word| body.contains(word));
    // `S1` to `S9` are the security reviewer's.
    let coded = words.strip_prefix('s').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    item.voice.is_person() || high || named || coded || feared
}

const MAX_TITLE: usize = 120;

/// The issue that deferred work goes to (RL-43). The title says what it is about; the original put `Type Safety` before everything.
pub fn defer_issue(item: &Fixable, number: u64, url: &str, rationale: &str, proposed: &str) -> NewIssue {
    let concern = plain(&item.body);
    let severity = item.priority.map_or_else(|| "not given".to_owned(), |priority| priority.to_string());
    let body = format!(
        "## Deferred from PR #{number}\n\n**Original thread**: {}\n**Severity, as its author sees it**: {severity}\n\n### Issue\n\n{}\n\n### Why Deferred\n\n{}\n\n### Proposed Fix\n\n{}\n\n### References\n\n- PR #{number}: {}\n- {}\n",
        code(&item.place()),
        quoted(&concern),
        or_none(rationale),
        or_none(proposed),
        address(url),
        address(&item.url),
    );
    NewIssue { title: title_of(item).into(), body: body.into(), labels: vec!["deferred".into()] }
}

/// The first thing that it says, as a heading.
pub(super) fn title_of(item: &Item) -> String {
    let concern = plain(&item.body);
    let first = concern.lines().map(|line| line.trim_matches(['#', '*', '_', '>', ' ', '-'])).find(|line| !line.is_empty());
    let first = one_line(first.unwrap_or("feedback without words"));
    let mut title: String = first.chars().take(MAX_TITLE).collect();
    if title.len() < first.len() {
        title.push('…');
    }
    plain(&title)
}

pub(super) fn or_none(text: &str) -> String {
    let text = said(text);
    if text.is_empty() { "Not said.".to_owned() } else { format!("{text}.") }
}

const MAX_QUOTED_LINES: usize = 40;

/// Somebody's words, line by line behind `>`.
pub(super) fn quoted(text: &str) -> String {
    let mut lines: Vec<String> =
        text.lines().take(MAX_QUOTED_LINES).map(|line| format!("> {}", inert(&one_line(line))).trim_end().to_owned()).collect();
    if text.lines().count() > MAX_QUOTED_LINES {
        lines.push("> …".to_owned());
    }
    lines.join("\n")
}

/// An address that a forge gave; anything else is shown as text.
pub(super) fn address(url: &str) -> String {
    let fine = (url.starts_with("https://") || url.starts_with("http://"))
        && !url.contains(|c: char| c.is_whitespace() || "<>()[]`|\"@".contains(c));
    match url {
        "" => "no address".to_owned(),
        _ if fine => url.to_owned(),
        _ => code(&one_line(url)),
    }
}

const MAX_ROWS: usize = 60;

/// The one comment of a round (RL-47): for items that have no thread to answer in, and, where somebody's next look is awaited, the
/// request for it. The reviewers that are awaited are the only names that are ever called.
pub fn round_summary(ended: &[Ended], awaited: &[Summons]) -> String {
    let mut parts = vec!["## Review Feedback Summary".to_owned()];
    let names: Vec<String> = awaited.iter().map(|summons| format!("@{}", summons.login)).collect();
    if !names.is_empty() {
        parts.push(names.join(" "));
    }
    parts.push(table(ended, MAX_ROWS));
    if !names.is_empty() {
        parts.push("Please review the changes again.".to_owned());
    }
    parts.extend(awaited.iter().filter_map(|summons| summons.command.map(str::to_owned)));
    parts.join("\n\n") + "\n"
}

/// `Thread | Status | Details`.
pub(super) fn table(ended: &[Ended], limit: usize) -> String {
    let mut rows = vec!["| Thread | Status | Details |".to_owned(), "| --- | --- | --- |".to_owned()];
    rows.extend(ended.iter().take(limit).map(|ended| {
        let place = in_cell(&code(&ended.place));
        let details = match &ended.end {
            super::end::End::Fixed { sha } => format!("commit {sha}"),
            super::end::End::Deferred { home } => checked_home(home).map_or_else(|_| in_cell(&said(home)), str::to_owned),
            other => in_cell(&said(&other.details())),
        };
        format!("| {place} | {} | {details} |", ended.end.word())
    }));
    if ended.len() > limit {
        rows.push(format!("| and {} more | | |", ended.len() - limit));
    }
    rows.join("\n")
}

/// A bar in code type would end the cell.
fn in_cell(text: &str) -> String {
    if text.starts_with('`') { text.replace('|', "\\|") } else { text.to_owned() }
}

#[cfg(test)]
pub(super) mod tests;
