//! The classic hole of CI: a workflow that runs with the repository's secrets, on code that a stranger proposes.
//!
//! `pull_request_target` and `workflow_run` exist so that a workflow of the base branch can label or comment with a token that
//! may write. Checking out the head of the pull request there hands that token to the pull request's own scripts.

use super::pattern::Pattern;
use super::workflow::{code, is_workflow};
use super::{Scope, whole_text};
use tribunal_core::diff::change::DiffLine;
use tribunal_core::findings::report::Claim;

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

pub fn check(scope: &Scope<'_>) -> Vec<Claim> {
    let mut claims = Vec::new();
    for file in scope.files().filter(|file| is_workflow(file)) {
        let added =
            |pattern: &Pattern| -> Option<&DiffLine> { file.added_lines().find(|line| pattern.is_match(code(&line.text))) };
        let Some(line) = added(&HEAD).or_else(|| added(&PRIVILEGED)) else { continue };
        let Some(text) = whole_text(file) else { continue };
        let any = |pattern: &Pattern| text.iter().any(|line| pattern.is_match(code(line)));
        if any(&PRIVILEGED) && any(&HEAD) && !any(&GUARD) {
            claims.push(scope.claim(file, line));
        }
    }
    claims
}
