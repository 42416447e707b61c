//! Text of a stranger pasted into a shell script: whoever opens a pull request or an issue runs commands on the runner.
//!
//! `${{ … }}` is replaced before the shell starts, so no quoting helps. The same value in `env:` is harmless, hence the need to
//! know whether a line is part of a script.

use super::pattern::Pattern;
use super::workflow::{is_workflow, script_lines};
use super::{Scope, whole_text};
use tribunal_core::diff::change::Origin;
use tribunal_core::findings::report::Claim;

/// Fields that hold what the author of a pull request, an issue, a comment or a commit typed. Names of repositories and users
/// cannot hold a shell's special characters, and a base branch is the owner's.
static TYPED: Pattern = Pattern::new(concat!(
    r"\$\{\{\s*(?:format\([^}]*|toJSON\(\s*)?",
    r"(?:github|gitea|forgejo)\.(?:head_ref\b|event\.(?:",
    r"issue\.(?:title|body)\b",
    r"|pull_request\.(?:title\b|body\b|head\.(?:ref|label)\b|milestone\.title\b)",
    r"|(?:comment|review|review_comment)\.body\b",
    r"|discussion\.(?:title|body)\b",
    r"|(?:head_commit|commits\[\d+\]|workflow_run\.head_commit)\.(?:message|author\.(?:name|email))\b",
    r"|workflow_run\.(?:head_branch|display_title)\b",
    r"))\s*(?:\}\}|\|\||\)|,)",
));

pub fn check(scope: &Scope<'_>) -> Vec<Claim> {
    let mut claims = Vec::new();
    for file in scope.files().filter(|file| is_workflow(file)) {
        if !scope.added_lines(file).any(|line| TYPED.is_match(&line.text)) {
            continue;
        }
        match whole_text(file) {
            Some(text) => {
                let scripts = script_lines(&text);
                let in_script = |number: u32| scripts.get(number as usize - 1).copied().unwrap_or(false);
                let hits =
                    scope.added_lines(file).filter(|line| line.new_line.is_some_and(in_script) && TYPED.is_match(&line.text));
                claims.extend(hits.map(|line| scope.claim(file, line)));
            }
            // Without the file, a hunk shows only the scripts that begin in it.
            None => {
                for hunk in &file.hunks {
                    let new_side: Vec<_> = hunk.lines.iter().filter(|line| line.new_line.is_some()).collect();
                    let scripts = script_lines(&new_side.iter().map(|line| line.text.as_str()).collect::<Vec<_>>());
                    let hits = new_side
                        .iter()
                        .zip(scripts)
                        .filter(|(line, script)| *script && line.origin == Origin::Added && TYPED.is_match(&line.text));
                    claims.extend(hits.map(|(line, _)| scope.claim(file, line)));
                }
            }
        }
    }
    claims
}
