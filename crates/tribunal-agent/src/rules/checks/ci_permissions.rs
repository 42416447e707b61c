//! A workflow that may do more after the change than before it.
//!
//! What a token may do is only visible as a difference: `contents: write` in a new block can be less than the default it
//! replaces, and a right that moved from the workflow to one job became smaller. So a right counts as new only if the workflow
//! stated its rights before, and nothing in the change took the same right away.

use super::pattern::Pattern;
use super::workflow::{code, is_workflow, script_lines};
use super::{Scope, whole_text};
use std::collections::BTreeSet;
use tribunal_core::diff::change::{ChangedFile, DiffLine, FileStatus, Origin};
use tribunal_core::findings::report::Claim;
use tribunal_core::findings::scale::Severity;

static ALL: Pattern = Pattern::new(r"^\s*permissions:\s*write-all\s*$");
static PERMISSIONS: Pattern = Pattern::new(r"^\s*permissions:");
static WRITE: Pattern = Pattern::new(r"^\s*(contents|id-token|packages|actions|deployments)\s*:\s*write\s*$");
static TARGET: Pattern = Pattern::new(r"^\s*(?:-\s*)?pull_request_target\b|^on:.*\bpull_request_target\b");
static INHERIT: Pattern = Pattern::new(r"^\s*secrets:\s*inherit\s*$");
static FOREIGN: Pattern = Pattern::new(r"^\s*(?:-\s+)?uses:\s*['\x22]?(\w[\w.-]*)/[\w.-]+/\.\w+/workflows/");
static KEEPS: Pattern = Pattern::new(r"^\s*persist-credentials:\s*true\s*$");
static DROPS: Pattern = Pattern::new(r"^\s*persist-credentials:\s*false\s*$");
/// Publishing needs such rights, and says so.
static PUBLISHES: Pattern = Pattern::new(
    r"(?i)release|publish|deploy|attest|provenance|cosign|sigstore|pages|goreleaser|configure-aws|google-github-actions/auth|azure/login|codspeed|push",
);

pub fn check(scope: &Scope<'_>) -> Vec<Claim> {
    let mut claims = Vec::new();
    for file in scope.files().filter(|file| is_workflow(file)) {
        let Some(text) = whole_text(file) else { continue };
        let facts = Facts::new(file, &text);
        for line in scope.added_lines(file).filter(|line| facts.widens(&text, line)) {
            let mut claim = scope.claim(file, line);
            if TARGET.is_match(code(&line.text)) && runs_no_code(&text) {
                claim.severity = Some(Severity::Question);
            }
            claims.push(claim);
        }
    }
    claims
}

/// What a workflow says besides the line in question, read once.
struct Facts<'a> {
    is_new: bool,
    removed: BTreeSet<Statement>,
    /// Rights that the change took away or left as they were.
    rights: BTreeSet<&'a str>,
    all_elsewhere: bool,
    states_rights: bool,
    stated_before: bool,
    publishes: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Statement {
    All,
    Target,
    Inherit,
    Drops,
}

impl<'a> Facts<'a> {
    fn new(file: &'a ChangedFile, text: &[&str]) -> Self {
        let states = |pattern: &Pattern| text.iter().any(|line| pattern.is_match(code(line)));
        let removed = |pattern: &Pattern| file.removed_lines().any(|line| pattern.is_match(code(&line.text)));
        let patterns =
            [(Statement::All, &ALL), (Statement::Target, &TARGET), (Statement::Inherit, &INHERIT), (Statement::Drops, &DROPS)];
        let elsewhere = || file.lines().filter(|line| line.origin != Origin::Added);
        Self {
            is_new: file.status == FileStatus::Added,
            removed: patterns.into_iter().filter(|(_, pattern)| removed(pattern)).map(|(statement, _)| statement).collect(),
            rights: elsewhere().filter_map(|line| WRITE.group(code(&line.text))).collect(),
            all_elsewhere: elsewhere().any(|line| ALL.is_match(code(&line.text))),
            states_rights: states(&PERMISSIONS),
            stated_before: stated_before(file, text),
            publishes: PUBLISHES.is_match(file.path.as_str()) || states(&PUBLISHES),
        }
    }

    fn widens(&self, text: &[&str], line: &DiffLine) -> bool {
        let added = code(&line.text);
        let removed = |statement: Statement| self.removed.contains(&statement);
        if ALL.is_match(added) {
            return !removed(Statement::All);
        }
        if TARGET.is_match(added) {
            // With stated rights the token is as small as its author made it; without, it is the repository's default.
            return !removed(Statement::Target) && !self.states_rights;
        }
        if KEEPS.is_match(added) {
            return removed(Statement::Drops);
        }
        if INHERIT.is_match(added) {
            return !removed(Statement::Inherit) && calls_a_stranger(text, line);
        }
        let Some(right) = WRITE.group(added) else { return false };
        !self.is_new && self.stated_before && !self.rights.contains(right) && !self.all_elsewhere && !self.publishes
    }
}

/// A workflow of actions alone, without a checkout, as those are that only label or greet: nothing of the pull request is run.
fn runs_no_code(text: &[&str]) -> bool {
    !script_lines(text).contains(&true) && !text.iter().any(|line| code(line).contains("checkout"))
}

/// Whether the workflow of before limited its token: a statement that stands now and was not added, or one that was removed.
fn stated_before(file: &ChangedFile, text: &[&str]) -> bool {
    let added = file.added_numbers();
    let kept = (1..).zip(text).any(|(number, line)| PERMISSIONS.is_match(code(line)) && !added.contains(number));
    kept || file.removed_lines().any(|line| PERMISSIONS.is_match(code(&line.text)))
}

/// The job that passes its secrets on calls a workflow of another repository.
fn calls_a_stranger(text: &[&str], line: &DiffLine) -> bool {
    const REACH: usize = 12;
    let Some(index) = line.new_line.map(|number| number as usize - 1) else { return false };
    let around = text.get(index.saturating_sub(REACH)..text.len().min(index + REACH)).unwrap_or_default();
    around.iter().any(|line| FOREIGN.is_match(code(line)))
}

#[cfg(test)]
mod tests {
    use crate::rules::{compile::RuleSet, examples::added, load::built_in, scan::scan};
    use tribunal_core::findings::scale::Severity;

    #[test]
    fn a_workflow_that_runs_nothing_is_asked_about() {
        let rules = RuleSet::new(built_in().unwrap()).unwrap();
        let severity = |step: &str| {
            let text = format!("on:\n- pull_request_target\njobs:\n  a:\n    steps:\n    - {step}\n");
            scan(&rules, &added(".github/workflows/a.yml", &text), |_| true).unwrap().claims[0].severity
        };
        assert_eq!(severity("uses: actions/labeler@v5"), Some(Severity::Question));
        assert_eq!(severity("run: make greet"), Some(Severity::Factual));
        assert_eq!(severity("uses: actions/checkout@v4"), Some(Severity::Factual));
    }
}
