//! A `replace` that points out of the repository: it builds on its author's machine and nowhere else.
//!
//! Within a repository of several modules such a line is ordinary, so the path is followed: only one that climbs above the root,
//! or is absolute, is wrong.

use super::Scope;
use super::pattern::Pattern;
use tribunal_core::diff::change::ChangedFile;
use tribunal_core::findings::report::Claim;

static LOCAL: Pattern = Pattern::new(r"=>\s*((?:\.{1,2}|[A-Za-z]:)?[/\\][^\s]*|\.\.)\s*(?://.*)?$");

pub fn check(scope: &Scope<'_>) -> Vec<Claim> {
    let mut claims = Vec::new();
    for file in scope.files().filter(|file| matches!(file.path.file_name(), "go.mod" | "go.work")) {
        let outside = scope.added_lines(file).filter(|line| LOCAL.group(code(&line.text)).is_some_and(|path| leaves(file, path)));
        claims.extend(outside.map(|line| scope.claim(file, line)));
    }
    claims
}

fn code(line: &str) -> &str {
    if line.trim_start().starts_with("//") { "" } else { line }
}

/// Whether `path`, read from the module's folder, lies outside the repository.
fn leaves(file: &ChangedFile, path: &str) -> bool {
    if !path.starts_with('.') {
        return true;
    }
    let mut depth = file.path.as_str().matches('/').count() as i64;
    path.split(['/', '\\']).any(|part| {
        depth += match part {
            ".." => -1,
            "." | "" => 0,
            _ => 1,
        };
        depth < 0
    })
}
