//! The classic hole of CI: a workflow that runs with the repository's secrets, on code that a stranger proposes.
//!
//! `pull_request_target` and `workflow_run` exist so that a workflow of the base branch can label or comment with a token that
//! may write. Checking out the head of the pull request there hands that token to the pull request's own scripts.

use super::pattern::Pattern;
use super::workflow::{Job, code, condition_lines, is_workflow, jobs, script_lines};
use super::{Scope, whole_text};
use std::collections::BTreeSet;
use tribunal_core::diff::change::{ChangedFile, DiffLine};
use tribunal_core::findings::report::Claim;
use tribunal_core::findings::scale::Severity;

static PRIVILEGED: Pattern = Pattern::new(r"^\s*(?:-\s*)?(?:pull_request_target|workflow_run)\b|^on:.*\bpull_request_target\b");
static HEAD: Pattern = Pattern::new(concat!(
    r"^\s*(?:-\s*)?(?:ref|repository):\s*.*(?:github|gitea|forgejo)\.(?:head_ref\b|event\.(?:",
    r"pull_request\.head\.(?:sha|ref|repo\.full_name)|workflow_run\.head_(?:sha|branch|repository))\b)",
    r"|^\s*(?:-\s*)?ref:\s*.*refs/pull/\$\{\{",
));
/// Words of a step that only waves through what a maintainer has labelled, or reads a diff without running it.
static GUARD: Pattern = Pattern::new(
    r"author_association|github\.event\.label\.name|labels\.\*\.name|head\.repo\.full_name\s*==|head\.repo\.fork\s*==\s*false|!github\.event\.pull_request\.head\.repo\.fork",
);

/// The workflow limits its token to reading and names no secret: a stranger's code still runs, and gains little.
static WRITES: Pattern = Pattern::new(r":\s*write\b|\bwrite-all\b|\bsecrets\.|\bsecrets:\s*inherit\b");
static PERMISSIONS: Pattern = Pattern::new(r"^permissions:");

pub fn check(scope: &Scope<'_>) -> Vec<Claim> {
    let mut claims = Vec::new();
    for file in scope.files().filter(|file| is_workflow(file)) {
        let added = |pattern: &'static Pattern| scope.added_lines(file).filter(move |line| pattern.is_match(code(&line.text)));
        if added(&HEAD).chain(added(&PRIVILEGED)).next().is_none() {
            continue;
        }
        let Some(text) = whole_text(file) else { continue };
        let any = |pattern: &Pattern| text.iter().any(|line| pattern.is_match(code(line)));
        let unguarded = unguarded_checkouts(scope, file, &text);
        let is_unguarded = |line: &&DiffLine| line.new_line.is_some_and(|number| unguarded.contains(&(number as usize - 1)));
        let line = added(&HEAD).find(is_unguarded).or_else(|| added(&PRIVILEGED).next().filter(|_| !unguarded.is_empty()));
        let Some(line) = line.filter(|_| any(&PRIVILEGED)) else { continue };
        let mut claim = scope.claim(file, line);
        if any(&PERMISSIONS) && !any(&WRITES) {
            claim.severity = claim.severity.map(|severity| severity.min(Severity::Factual));
        }
        if names_guard(&text) {
            claim.severity = Some(Severity::Question);
        }
        claims.push(claim);
    }
    claims
}

/// The checkouts of a stranger's head in jobs without a condition about who that is, here or in a job that they wait for.
fn unguarded_checkouts(scope: &Scope<'_>, file: &ChangedFile, text: &[&str]) -> BTreeSet<usize> {
    let jobs = jobs(text);
    let conditions = condition_lines(text);
    let has_guard = |job: &Job<'_>| job.lines.clone().any(|index| conditions[index] && GUARD.is_match(code(text[index])));
    let guards: BTreeSet<&str> = scope.in_time(file, jobs.iter()).filter(|job| has_guard(job)).map(|job| job.name).collect();
    let is_guarded = |job: &Job<'_>| has_guard(job) || job.needs().any(|name| guards.contains(name));
    let open = scope.in_time(file, jobs.iter()).filter(|job| !is_guarded(job)).flat_map(|job| job.lines.clone());
    open.filter(|index| HEAD.is_match(code(text[*index]))).collect()
}

/// A guard that stands in a setting, such as an environment, may hold for the checkout. Words in a script hold for nothing.
fn names_guard(text: &[&str]) -> bool {
    let scripts = script_lines(text);
    let conditions = condition_lines(text);
    (0..text.len()).any(|index| !scripts[index] && !conditions[index] && GUARD.is_match(code(text[index])))
}

#[cfg(test)]
mod tests {
    use crate::rules::compile::RuleSet;
    use crate::rules::examples::added;
    use crate::rules::load::built_in;
    use crate::rules::scan::scan;
    use tribunal_core::findings::scale::Severity;

    /// Issue 18: P0 is for what is plainly exploitable.
    #[test]
    fn a_token_that_can_only_read_weighs_less() {
        let rules = RuleSet::new(built_in().unwrap()).unwrap();
        let severity = |permissions: &str| {
            let text = format!(
                "on: pull_request_target\n{permissions}jobs:\n  a:\n    steps:\n      - uses: actions/checkout@v4\n        with:\n          ref: ${{{{ github.head_ref }}}}\n      - run: make\n"
            );
            let claims = scan(&rules, &added(".github/workflows/ci.yml", &text), |_| true).unwrap().claims;
            claims
                .into_iter()
                .find(|claim| claim.rule.as_deref() == Some("ci-untrusted-checkout"))
                .and_then(|claim| claim.severity)
        };
        assert_eq!(severity(""), Some(Severity::Blocker));
        assert_eq!(severity("permissions:\n  contents: read\n"), Some(Severity::Factual));
        assert_eq!(severity("permissions:\n  contents: write\n"), Some(Severity::Blocker));
    }
}
