//! Tests that stay in place but prove less: skipped, or asking only whether there is a value where they asked which.
//!
//! A new test may be born skipped, and a skip under a condition (a platform, a version) is a statement about the platform.
//! What counts is a test that ran before this change and does not run, or hardly looks, after it.

use super::Scope;
use super::assertions::weakened;
use super::pattern::Pattern;
use super::test_declarations::declarations;
use std::collections::HashSet;
use tribunal_core::diff::change::{ChangedFile, DiffLine, FileStatus, Hunk, Origin};
use tribunal_core::diff::language::Language;
use tribunal_core::findings::report::Claim;
use tribunal_core::findings::scale::Severity;

/// Marks above a test, without a condition.
static MARK: Pattern = Pattern::new(concat!(
    r"^\s*(?:@(?:pytest\.)?mark\.(?:skip|xfail)\s*(?:\(.*)?$",
    r"|@(?:unittest\.)?(?:skip|expectedFailure)\b(?:\(|\s*$)",
    r"|#\[ignore\b",
    r"|@(?:Ignore|Disabled)\b(?:\(|\s*$)",
    r"|\[Ignore\b)",
));
static CSHARP_SKIP: Pattern = Pattern::new(r"^\s*\[(?:Fact|Theory)\s*\([^)]*\bSkip\s*=");
/// The same test as before, now under a name that does not run.
static SCRIPT_SKIP: Pattern = Pattern::new(
    r#"^\s*(?:(?:it|test|describe|context)\.(?:skip|todo|fixme)|xit|xtest|xdescribe|xcontext)\(\s*(?:'((?:[^'\\]|\\.)+)'|"((?:[^"\\]|\\.)+)"|`([^`]+)`)"#,
);
static SCRIPT_RUN: Pattern =
    Pattern::new(r#"^\s*(?:it|test|describe|context)(?:\.only)?\(\s*(?:'((?:[^'\\]|\\.)+)'|"((?:[^"\\]|\\.)+)"|`([^`]+)`)"#);
static GO_SKIP: Pattern = Pattern::new(r"^\t\w+\.Skip(?:f|Now)?\(");

/// The first argument of a mark that has no condition. A formatter may have moved it to the next line.
static PLAIN: Pattern = Pattern::new(r"^\s*(?:(?:reason|strict|raises|run)\s*=|['\x22)]|f['\x22]|$)");

/// How far below its mark a test's name may stand.
const MARK_REACH: usize = 8;

pub fn check(scope: &Scope<'_>) -> Vec<Claim> {
    let mut claims = Vec::new();
    for file in scope.files().filter(|file| file.is_test() && file.status != FileStatus::Added) {
        let Some(language) = file.language() else { continue };
        let before = old_names(file, language);
        let reasons: HashSet<&str> = file.removed_lines().flat_map(|line| REASON.all(&line.text)).collect();
        for hunk in &file.hunks {
            let new_side: Vec<&DiffLine> = hunk.lines.iter().filter(|line| line.new_line.is_some()).collect();
            let skipped_before = hunk.lines.iter().any(|line| line.origin == Origin::Removed && is_skip(&line.text));
            let functions = last_functions(language, &new_side);
            for (index, line) in new_side.iter().enumerate().filter(|(_, line)| line.origin == Origin::Added && !skipped_before) {
                if has_old_reason(&new_side[index..], &reasons) {
                    continue;
                }
                if skips(language, &new_side[index..], &before)
                    || go_skips(language, line, functions.get(index).copied().flatten(), hunk)
                {
                    let mut claim = scope.claim(file, line);
                    // A skip that names its ticket is known to somebody: worth a question, not an alarm.
                    if has_ticket(&new_side, index) {
                        claim.severity = Some(Severity::Question);
                    }
                    claims.push(claim);
                }
            }
            claims.extend(weakened(hunk).into_iter().map(|line| scope.claim(file, line)));
        }
    }
    claims
}

static TICKET: Pattern = Pattern::new(r"#\d{2,}|\b(?:GH|LP|gh)[:\s-]?\s?#?\d+|\b[A-Z]{2,}-\d+|/(?:issues|pull|browse|bugs?)/");

/// Whether the mark or a line next to it names where the matter is followed up.
fn has_ticket(lines: &[&DiffLine], index: usize) -> bool {
    lines[index.saturating_sub(2)..lines.len().min(index + 4)].iter().any(|line| TICKET.is_match(&line.text))
}

/// Reasons are quoted; shorter ones are said of anything.
static REASON: Pattern = Pattern::new(r#""[^"]{8,}"|'[^']{8,}'"#);

/// A reason that the change took away elsewhere in the file: the skip was there before, under a condition or in a comment.
fn has_old_reason(from: &[&DiffLine], reasons: &HashSet<&str>) -> bool {
    let mark = from.iter().take(2).take_while(|line| line.origin == Origin::Added);
    mark.flat_map(|line| REASON.all(&line.text)).any(|reason| reasons.contains(reason))
}

/// A skip that only changed its words, or its place, is not new.
fn is_skip(line: &str) -> bool {
    [&MARK, &CSHARP_SKIP, &SCRIPT_SKIP, &GO_SKIP].iter().any(|pattern| pattern.is_match(line))
}

/// Names of tests and groups that ran before: where a skip wears one of them, an old test stopped running.
fn old_names(file: &ChangedFile, language: Language) -> HashSet<&str> {
    let mut names: HashSet<&str> = HashSet::new();
    for hunk in &file.hunks {
        let old = hunk.lines.iter().filter(|line| line.origin == Origin::Removed);
        names.extend(old.filter_map(|line| SCRIPT_RUN.group(&line.text)));
        let old_side = hunk.lines.iter().filter(|line| line.old_line.is_some());
        names.extend(declarations(language, old_side).iter().filter(|test| !is_skip(&test.line.text)).map(|test| test.name));
    }
    names
}

/// Whether the first of these lines skips a test of before.
fn skips(language: Language, from: &[&DiffLine], before: &HashSet<&str>) -> bool {
    let Some(line) = from.first() else { return false };
    match language {
        Language::JavaScript | Language::TypeScript | Language::Tsx => {
            SCRIPT_SKIP.group(&line.text).is_some_and(|name| before.contains(name))
        }
        Language::Python | Language::Rust | Language::Java | Language::Kotlin | Language::CSharp => {
            if !MARK.is_match(&line.text) && !CSHARP_SKIP.is_match(&line.text) || is_conditional(language, from) {
                return false;
            }
            let below = from.iter().skip(1).take(MARK_REACH);
            let named = below.map(|line| (line, subject(language, &line.text))).find(|(_, name)| name.is_some());
            named.is_some_and(|(line, name)| line.origin == Origin::Context || name.is_some_and(|name| before.contains(name)))
        }
        _ => false,
    }
}

/// `xfail(sys.platform == "win32", …)` speaks of one platform. Only Python writes conditions into the mark.
fn is_conditional(language: Language, from: &[&DiffLine]) -> bool {
    let arguments = match from {
        [line, rest @ ..] if language == Language::Python => match line.text.split_once('(') {
            Some((_, "")) => rest.first().map_or("", |next| next.text.as_str()),
            Some((_, arguments)) => arguments,
            None => "",
        },
        _ => "",
    };
    !PLAIN.is_match(arguments) || arguments.contains("condition")
}

static PYTHON_SUBJECT: Pattern = Pattern::new(r"^\s*(?:async\s+)?(?:def\s+(test\w*)|class\s+(Test\w*|\w*Tests?)\b)");
static RUST_SUBJECT: Pattern = Pattern::new(r"^\s*(?:pub\s+)?(?:async\s+)?fn\s+(\w+)");
static CURLY_SUBJECT: Pattern =
    Pattern::new(r"\bfun\s+`([^`]+)`\s*\(|\bfun\s+(\w+)\s*\(|\b(?:void|Task)\s+(\w+)\s*\(|\bclass\s+(\w+)");

/// What a mark above this line is about.
fn subject(language: Language, line: &str) -> Option<&str> {
    match language {
        Language::Python => PYTHON_SUBJECT.group(line),
        Language::Rust => RUST_SUBJECT.group(line),
        _ => CURLY_SUBJECT.group(line),
    }
}

/// For every line of a Go file, the function that begins last above it.
fn last_functions<'a>(language: Language, lines: &[&'a DiffLine]) -> Vec<Option<&'a DiffLine>> {
    if language != Language::Go {
        return Vec::new();
    }
    let mut last = None;
    lines
        .iter()
        .map(|line| {
            let above = last;
            if line.text.starts_with("func ") {
                last = Some(*line);
            }
            above
        })
        .collect()
}

/// A Go skip that stands in the body of an old test itself, under no condition.
fn go_skips(language: Language, line: &DiffLine, function: Option<&DiffLine>, hunk: &Hunk) -> bool {
    if language != Language::Go || !GO_SKIP.is_match(&line.text) {
        return false;
    }
    match function {
        Some(function) => function.text.starts_with("func Test") && function.origin == Origin::Context,
        None => hunk.heading.starts_with("func Test"),
    }
}
