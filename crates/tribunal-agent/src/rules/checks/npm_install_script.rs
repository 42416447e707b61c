//! An install script in a package that others install: it runs on every machine that adds the package, before any of its code
//! was looked at. It is how most poisoned npm packages act, so a new one deserves a second pair of eyes.
//!
//! A private package runs it only for its own developers, and tools that set up git hooks or patches do nothing elsewhere.

use super::Scope;
use super::manifest::{Format, sections};
use super::pattern::Pattern;
use std::collections::BTreeSet;
use tribunal_core::diff::change::{ChangedFile, DiffLine, FileStatus};
use tribunal_core::findings::report::Claim;

static SCRIPT: Pattern = Pattern::new(r#"^\s*"(preinstall|install|postinstall)"\s*:\s*"[^"]"#);
static HOUSEKEEPING: Pattern =
    Pattern::new(r"husky|patch-package|lefthook|simple-git-hooks|node-gyp|prebuild|only-allow|lerna bootstrap");
static PRIVATE: Pattern = Pattern::new(r#"^\s*"private"\s*:\s*true"#);

pub fn check(scope: &Scope<'_>) -> Vec<Claim> {
    let mut claims = Vec::new();
    for file in scope.files().filter(|file| file.path.file_name() == "package.json" && is_published(file)) {
        let scripts = sections(file, Format::Json).into_iter().filter(|(_, section)| section == "scripts");
        let removed: BTreeSet<&str> = file.removed_lines().filter_map(|line| SCRIPT.group(&line.text)).collect();
        let new = scripts.filter(|(line, _)| is_new(file, &removed, line));
        claims.extend(new.map(|(line, _)| scope.claim(file, line)));
    }
    claims
}

/// Without the whole file nobody knows whether it is private.
fn is_published(file: &ChangedFile) -> bool {
    let text = super::whole_text(file);
    text.is_some_and(|text| !text.iter().any(|line| PRIVATE.is_match(line)))
}

fn is_new(file: &ChangedFile, removed: &BTreeSet<&str>, line: &DiffLine) -> bool {
    let Some(hook) = SCRIPT.group(&line.text) else { return false };
    !HOUSEKEEPING.is_match(&line.text) && (file.status == FileStatus::Added || !removed.contains(hook))
}
