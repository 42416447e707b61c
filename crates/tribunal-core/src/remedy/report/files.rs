//! The files of the respond loop (RL-13, RL-32, RL-51, RL-83): exports of what the ledger holds, and the one that is read back.

use crate::feedback::fixable::Fixable;
use crate::feedback::item::{Item, Surface};
use crate::findings::admit::one_line;
use crate::findings::anchor::fold;
use crate::findings::plain::plain;
use crate::ids::{RepoPath, Sha};
use crate::publish::markdown::{code, fenced};
use crate::remedy::assess::{Assessment, Decision};
use serde::{Deserialize, Serialize};

/// The reviewer that the loop waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Awaited(pub String);

impl Awaited {
    pub fn login(&self) -> &str {
        &self.0
    }

    /// The original knew one reviewer, and its name is in the tokens that others read.
    pub fn token(&self) -> &'static str {
        if self.0.to_ascii_lowercase().starts_with("gemini-code-assist") { "GEMINI" } else { "REVIEWER" }
    }
}

/// Where the files of one pull request stand (RL-11).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folder(pub String);

impl Folder {
    pub fn of_pull(number: u64) -> Self {
        Folder(format!("thoughts/shared/pr-reviews/{number}"))
    }

    pub fn file(&self, name: &str) -> String {
        format!("{}/{name}", self.0)
    }
}

/// What heads an assessment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AssessedBy<'a> {
    pub number: u64,
    pub branch: &'a str,
    pub agent: &'a str,
    /// ISO 8601.
    pub time: &'a str,
    pub iteration: u32,
}

/// `assessment.md` (RL-32). No line speaks of a maximum: the loop's own limit is elsewhere (RL-33).
pub fn assessment_md(by: &AssessedBy<'_>, items: &[Fixable], assessments: &[Assessment]) -> String {
    let count = |decision: Decision| assessments.iter().filter(|one| one.decision == decision).count();
    let mut out = format!(
        "# PR #{} Review Assessment\n\n## Metadata\n\n- PR: #{}\n- Branch: {}\n- Assessed by: {}\n- Timestamp: {}\n- Iteration: {}\n\n## Summary\n\n| Decision | Count |\n| --- | --- |\n",
        by.number,
        by.number,
        code(by.branch),
        line(by.agent),
        line(by.time),
        by.iteration
    );
    for decision in [Decision::Address, Decision::Decline, Decision::Defer] {
        out += &format!("| {} | {} |\n", decision.word(), count(decision));
    }
    for decision in [Decision::Ask, Decision::Replan, Decision::Noise].into_iter().filter(|decision| count(*decision) > 0) {
        out += &format!("| {} | {} |\n", decision.word(), count(decision));
    }
    out += &format!("| Total | {} |\n\n## Thread Analysis\n", assessments.len());
    for (number, one) in (1..).zip(assessments) {
        let item = items.iter().find(|item| item.id == one.item).map(Fixable::item);
        out += &thread(number, one, item);
    }
    let has = |met: bool| if met { "x" } else { " " };
    let covered = items.iter().all(|item| assessments.iter().any(|one| one.item == item.id));
    let read = assessments.iter().all(|one| {
        !matches!(one.decision, Decision::Address | Decision::Decline | Decision::Defer) || !one.evidence.trim().is_empty()
    });
    let noted = assessments.iter().all(|one| one.decision != Decision::Address || !one.notes.is_empty());
    let reasoned = assessments.iter().all(|one| !one.rationale.is_empty());
    out += &format!(
        "\n## Verification Checklist\n\n- [{}] Every thread is assessed\n- [{}] The code was read for each decision\n- [{}] Each decision has a rationale\n- [{}] Each `Address` has implementation notes\n",
        has(covered),
        has(read),
        has(reasoned),
        has(noted)
    );
    out
}

fn thread(number: u32, one: &Assessment, item: Option<&Item>) -> String {
    let place = item.map_or_else(|| "unknown".to_owned(), Item::place);
    let (thread, comment) = match item.map(|item| (&item.surface, &item.last_word)) {
        Some((Surface::Thread { id }, word)) => (id.clone(), word.clone()),
        Some((Surface::Comment { id } | Surface::Review { id }, word)) => (format!("none ({id})"), word.clone()),
        Some((Surface::Check { name }, _)) => (format!("none ({name})"), "none".to_owned()),
        None => ("unknown".to_owned(), "unknown".to_owned()),
    };
    let concern = item.map(|item| plain(&item.body)).unwrap_or_default();
    let concern: String = concern.lines().take(40).map(|text| format!("> {}\n", line(text))).collect();
    let evidence =
        if one.evidence.trim().is_empty() { "Nothing was quoted.".to_owned() } else { fenced("", one.evidence.trim_end()) };
    let mut out = format!(
        "\n### Thread {number}: {}\n\n- Thread ID: {}\n- Comment ID: {}\n\n{concern}\n**Code Analysis**:\n\n{evidence}\n\n**Decision**: {}\n\n**Rationale**: {}\n",
        code(&place),
        line(&thread),
        line(&comment),
        one.decision.word(),
        line(&one.rationale)
    );
    if one.decision == Decision::Address {
        out += &format!("\n**Implementation Notes**: {}\n", line(&one.notes));
    }
    out
}

/// `validation.md` (RL-35): written on rejection only.
pub fn validation_md(number: u64, iteration: u32, rejections: u32, faults: &[String]) -> String {
    let faults: String = faults.iter().map(|fault| format!("- {}\n", line(fault))).collect();
    format!("# PR #{number} Validation\n\nREJECTED: {rejections}. rejection, iteration {iteration}\n\n## Details\n\n{faults}")
}

/// `changes.md` (RL-39).
pub fn changes_md(number: u64, branch: &str, sha: &Sha, changes: &[(RepoPath, String)]) -> String {
    let rows: String = changes.iter().map(|(path, what)| format!("- {}: {}\n", code(path.as_str()), line(what))).collect();
    format!(
        "# PR #{number} Changes\n\n- Commit: {sha}\n- Branch: {}\n- Count: {}\n\n## Changes\n\n{rows}",
        code(branch),
        changes.len()
    )
}

/// What a later run goes on from (RL-12, RL-83).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedState {
    pub iteration_count: u32,
    /// ISO 8601; the next wait looks for what is newer.
    pub last_action_time: String,
    pub last_action: String,
    pub pr_number: u64,
    #[serde(default)]
    pub pr_url: String,
    #[serde(default)]
    pub threads_addressed_total: u32,
    #[serde(default)]
    pub threads_declined_total: u32,
    #[serde(default)]
    pub threads_deferred_total: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    InProgress,
    Waiting,
    Complete,
    Handoff,
}

/// `state.md`: front matter for programs (RL-83), then the page of RL-51 for people.
pub fn state_md(state: &SavedState, phase: Phase, awaited: &Awaited, commits: &[(Sha, String)]) -> String {
    // A JSON string is a YAML string too, whatever stands in it.
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    let status = match phase {
        Phase::InProgress => "IN_PROGRESS".to_owned(),
        Phase::Waiting => format!("WAITING_FOR_{}", awaited.token()),
        Phase::Complete => "COMPLETE".to_owned(),
        Phase::Handoff => "HANDOFF".to_owned(),
    };
    let total = state.threads_addressed_total + state.threads_declined_total + state.threads_deferred_total;
    let time = line(&state.last_action_time);
    let commits: String = commits.iter().map(|(sha, message)| format!("- `{sha}`: {}\n", line(message))).collect();
    let commits = if commits.is_empty() { "- none\n".to_owned() } else { commits };
    format!(
        "---\niteration_count: {}\nlast_action_time: {}\nlast_action: {}\npr_number: {}\npr_url: {}\nthreads_addressed_total: {}\nthreads_declined_total: {}\nthreads_deferred_total: {}\n---\n\n# PR #{} Review State\n\n- Last Updated: {time}\n- Iteration: {}\n- Status: {status}\n\n## Progress\n\n- Threads total: {total}\n- Addressed: {}\n- Declined: {}\n- Deferred: {}\n\n## Last Action\n\n- Type: {}\n- Time: {time}\n- After: {time}\n\n## Commits This Session\n\n{commits}",
        state.iteration_count,
        quoted(&state.last_action_time),
        quoted(&state.last_action),
        state.pr_number,
        quoted(&state.pr_url),
        state.threads_addressed_total,
        state.threads_declined_total,
        state.threads_deferred_total,
        state.pr_number,
        state.iteration_count,
        state.threads_addressed_total,
        state.threads_declined_total,
        state.threads_deferred_total,
        line(&state.last_action),
    )
}

/// Reads the front matter; the page below it is for people.
pub fn parse_state(text: &str) -> Result<SavedState, String> {
    let text = text.replace("\r\n", "\n");
    let (front, _) = text
        .trim_start_matches('\u{feff}')
        .strip_prefix("---\n")
        .and_then(|rest| rest.split_once("\n---"))
        .ok_or("the state file must begin with front matter between two `---` lines")?;
    let state: SavedState = serde_saphyr::from_str(front).map_err(|error| format!("the state file cannot be read: {error}"))?;
    if fold(&state.last_action_time).is_empty() {
        return Err("the state file does not say when the last action was".to_owned());
    }
    Ok(state)
}

fn line(text: &str) -> String {
    one_line(&plain(text))
}
