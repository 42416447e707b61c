//! Tests that went away while the code they prove stayed: the quickest way to make a failing build pass.
//!
//! Most deleted tests are honest: renamed, moved, folded into a table, or removed with their feature. So the check speaks only
//! if nothing in the change explains the loss, and at most once per file.

use super::Scope;
use super::pattern::Pattern;
use super::test_declarations::{Declaration, declarations};
use std::collections::HashSet;
use tribunal_core::diff::change::{Change, ChangedFile, DiffLine, FileStatus, Hunk, Origin};
use tribunal_core::findings::report::Claim;

/// A lost test: its name, the line that declared it, and what else of it was removed.
struct Lost<'a> {
    file: &'a ChangedFile,
    line: &'a DiffLine,
    name: &'a str,
    body: Vec<&'a str>,
}

/// What a test says of itself when its end was planned.
static RETIRED: Pattern = Pattern::new(r"(?i)deprecat|legacy|obsolete|FutureWarning|compat|feature_?(?:gate|disabled)|without_?feature");
static FOLDED: Pattern =
    Pattern::new(r"parametrize|@ParameterizedTest|@(?:Csv|Value|Method|Enum)Source|\.each\(|\[InlineData|\[TestCase|#\[case|\bt\.Run\(|\[\]struct\s*\{|subTest\(");

pub fn check(scope: &Scope<'_>) -> Vec<Claim> {
    if loses_source(scope.change) {
        return Vec::new();
    }
    let lost: Vec<Lost<'_>> = scope.files().filter(|file| file.is_test()).flat_map(lost_tests).collect();
    if lost.is_empty() {
        return Vec::new();
    }
    let alive = added_names(scope.change);
    let gone = gone_words(scope.change);
    let mut claims = Vec::new();
    for tests in lost.chunk_by(|a, b| a.file.path == b.file.path) {
        let open: Vec<&Lost<'_>> = tests.iter().filter(|test| !is_explained(test, &alive, &gone)).collect();
        // Where most losses of a file have a reason, the rest belong to the same piece of work.
        if open.len() * 2 > tests.len() {
            claims.extend(open.first().map(|test| scope.claim(test.file, test.line)));
        }
    }
    claims
}

fn is_explained(test: &Lost<'_>, alive: &HashSet<&str>, gone: &HashSet<&str>) -> bool {
    alive.contains(test.name)
        || RETIRED.is_match(test.name)
        || test.body.iter().any(|line| RETIRED.is_match(line) || words(line).any(|word| gone.contains(word)))
        || words(test.name).any(|word| gone.contains(word.trim_start_matches("test_")))
        || still_there(test)
}

/// Another class of the file has a test of this name: the lost one was a copy, or was inherited from then on.
fn still_there(test: &Lost<'_>) -> bool {
    let text = test.file.new_text.as_deref().unwrap_or_default();
    text.lines().filter(|line| line.contains(test.name)).any(|line| words(line).any(|word| word == test.name) || test.name.contains(' '))
}

/// A change that takes code away takes its tests with it.
fn loses_source(change: &Change) -> bool {
    let (mut added, mut removed) = (0, 0);
    for file in change.files.iter().filter(|file| is_source(file)) {
        if file.status == FileStatus::Deleted {
            return true;
        }
        added += file.added_lines().count();
        removed += file.removed_lines().count();
    }
    removed > added
}

fn is_source(file: &ChangedFile) -> bool {
    file.language().is_some() && !file.is_test()
}

fn lost_tests(file: &ChangedFile) -> Vec<Lost<'_>> {
    let Some(language) = file.language() else { return Vec::new() };
    if file.added_lines().any(|line| FOLDED.is_match(&line.text)) {
        return Vec::new();
    }
    let mut lost = Vec::new();
    let mut new_tests = 0;
    for hunk in &file.hunks {
        let declared = declarations(language, hunk.lines.iter().filter(|line| line.new_line.is_some()));
        let added = declared.iter().filter(|test| test.line.origin == Origin::Added).count();
        new_tests += added;
        let removed = hunk.lines.iter().filter(|line| line.origin == Origin::Removed).count();
        let written = hunk.lines.iter().filter(|line| line.origin == Origin::Added).count();
        // Where new tests or many new lines took the place, the old ones were rewritten.
        if added == 0 && removed >= 2 * written {
            let old = declarations(language, hunk.lines.iter().filter(|line| line.old_line.is_some()));
            lost.extend(old.iter().filter_map(|test| whole_loss(file, hunk, test)));
        }
    }
    if new_tests >= lost.len() { Vec::new() } else { lost }
}

/// A test of which no line stayed: a body that lives on under another name is not lost.
fn whole_loss<'a>(file: &'a ChangedFile, hunk: &'a Hunk, test: &Declaration<'a>) -> Option<Lost<'a>> {
    if test.line.origin != Origin::Removed {
        return None;
    }
    let mut rest = hunk.lines.iter().skip_while(|line| !std::ptr::eq(*line, test.line)).skip(1);
    let first = rest.find(|line| line.old_line.is_some() && !line.text.trim().is_empty())?;
    if first.origin != Origin::Removed {
        return None;
    }
    let body: Vec<&str> = std::iter::once(first)
        .chain(rest)
        .take_while(|line| line.origin == Origin::Removed)
        .map(|line| line.text.as_str())
        .collect();
    Some(Lost { file, line: test.line, name: test.name, body })
}

/// Everything that an added line names: identifiers, and titles of tests.
fn added_names(change: &Change) -> HashSet<&str> {
    let mut names = HashSet::new();
    for file in &change.files {
        let Some(language) = file.language() else { continue };
        let lines = || file.added_lines().filter(|line| !is_comment(&line.text));
        names.extend(lines().flat_map(|line| words(&line.text)));
        if file.is_test() {
            names.extend(declarations(language, lines()).iter().map(|test| test.name));
        }
    }
    names
}

/// Words that source lost: a test that uses one speaks of something that is no more.
fn gone_words(change: &Change) -> HashSet<&str> {
    let of = |origin: Origin| {
        let files = change.files.iter().filter(|file| is_source(file));
        files.flat_map(ChangedFile::lines).filter(move |line| line.origin == origin).flat_map(|line| words(&line.text))
    };
    let kept: HashSet<&str> = of(Origin::Added).chain(of(Origin::Context)).collect();
    of(Origin::Removed).filter(|word| word.len() > 3 && !kept.contains(word)).collect()
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

/// A test that was commented out is lost all the same.
fn is_comment(text: &str) -> bool {
    let text = text.trim_start();
    text.starts_with("//") || text.starts_with("# ") || text.starts_with("/*") || text.starts_with("* ")
}
