//! Tests that went away while the code they prove stayed: the quickest way to make a failing build pass.
//!
//! Most deleted tests are honest: renamed, moved, folded into a table, removed with their feature, or tidied up where no source
//! changed at all. So the check speaks only if the change edits source that the test spoke of, and nothing in the change explains
//! the loss; and at most once per file.

use super::Scope;
use super::pattern::Pattern;
use super::test_declarations::{Declaration, declarations};
use crate::rules::visible::VisibleChange;
use std::collections::{BTreeSet, HashSet};
use tribunal_core::diff::change::{ChangedFile, DiffLine, FileStatus, Hunk, Origin};
use tribunal_core::findings::report::Claim;

/// A lost test: its name, the line that declared it, and what else of it was removed.
struct Lost<'a> {
    file: &'a ChangedFile,
    line: &'a DiffLine,
    name: &'a str,
    body: Vec<&'a str>,
}

/// What a test says of itself when its end was planned.
static RETIRED: Pattern =
    Pattern::new(r"(?i)deprecat|legacy|obsolete|FutureWarning|compat|feature_?(?:gate|disabled)|without_?feature");
static FOLDED: Pattern = Pattern::new(
    r"parametrize|@ParameterizedTest|@(?:Csv|Value|Method|Enum)Source|\.each\(|\[InlineData|\[TestCase|#\[case|\bt\.Run\(|\[\]struct\s*\{|subTest\(",
);

/// The name of a method or function where it is declared.
static DECLARED: Pattern = Pattern::new(
    r"^\s*(?:(?:public|private|protected|internal|static|async|override|virtual|export|default|pub|def|func|fun|function|fn)\s+(?:[\w<>\[\],.?]+\s+)*|func\s+\([^)]*\)\s*)(\w{4,})\s*[(<]",
);
/// A method that is called.
static CALLED: Pattern = Pattern::new(r"\.\w{4,}\(");

static ASSERTS: Pattern = Pattern::new(r"(?i)\bassert|\bexpect|\bshould\b|require\.");
/// What a test imports says where it looks for things, not what it is about.
static IMPORT: Pattern = Pattern::new(r"^\s*(?:import|from|use|using|require|#include|const .*=\s*require\()\b");

/// Deleted files that are named one by one.
const MOST_GONE_FILES: usize = 2;
/// Each lost test is compared with all that the change writes, so only so many are; the finding is the same for more.
const MAX_LOST: usize = 300;
/// What is read of one lost test.
const MAX_BODY: usize = 400;

pub fn check(scope: &Scope<'_>) -> Vec<Claim> {
    if loses_source(scope.change) {
        return Vec::new();
    }
    let lost: Vec<Lost<'_>> =
        scope.files_and_deleted().filter(|file| holds_tests(file)).flat_map(lost_tests).take(MAX_LOST).collect();
    if lost.is_empty() {
        return Vec::new();
    }
    let evidence = Evidence::new(scope.change);
    let (mut claims, mut gone) = (Vec::new(), Vec::new());
    for tests in lost.chunk_by(|a, b| a.file.path == b.file.path) {
        let kept = Kept::new(tests[0].file);
        let open: Vec<&Lost<'_>> = tests.iter().filter(|test| !evidence.explains(test, &kept)).collect();
        // Where most losses of a file have a reason, the rest belong to the same piece of work.
        if open.len() * 2 > tests.len() {
            let Some(test) = open.into_iter().find(|test| evidence.concerns(test)) else { continue };
            let claim = scope.claim(test.file, test.line);
            if test.file.status == FileStatus::Deleted { gone.push(claim) } else { claims.push(claim) }
        }
    }
    // Whoever takes a whole suite away is asked once, not once for each of its files.
    if gone.len() > MOST_GONE_FILES {
        let count = gone.len();
        gone.truncate(1);
        gone[0].details =
            Some(format!("{count} files of tests go in this change while their source stays; this asks about them all."));
    }
    claims.extend(gone);
    claims
}

/// What the rest of the change says about a lost test.
struct Evidence<'a> {
    /// Everything that an added line names: identifiers, and titles of tests.
    alive: BTreeSet<&'a str>,
    /// Added lines of tests, trimmed.
    written: HashSet<&'a str>,
    /// Names of added tests, each as its words.
    new_tests: Vec<HashSet<&'a str>>,
    /// Words that source lost: a test that uses one speaks of something that is no more.
    gone: HashSet<&'a str>,
    /// Methods and functions whose declaration source lost: the word may live on in others.
    undeclared: HashSet<&'a str>,
    /// Quoted keys that source lost, with their quotes: the word may live on as a name while what the key did is gone.
    gone_keys: HashSet<&'a str>,
    /// Words of the lines that source changed, and of those around them, which name the function that holds them.
    changed: HashSet<&'a str>,
}

impl<'a> Evidence<'a> {
    fn new(change: &VisibleChange<'a>) -> Self {
        let (mut alive, mut written, mut new_tests) = (BTreeSet::new(), HashSet::new(), Vec::new());
        for file in change.files() {
            let Some(language) = file.language() else { continue };
            let lines = || file.added_lines().filter(|line| !is_comment(&line.text));
            alive.extend(lines().flat_map(|line| words(&line.text)));
            if file.is_test() {
                let names: Vec<&str> = declarations(language, lines()).iter().map(|test| test.name).collect();
                new_tests.extend(names.iter().map(|name| name_words(name)));
                alive.extend(names);
                written.extend(lines().map(|line| line.text.trim()));
            }
        }
        let source = |origin: Origin| {
            let files = change.files().filter(|file| is_source(file));
            files.flat_map(ChangedFile::lines).filter(move |line| line.origin == origin).flat_map(|line| words(&line.text))
        };
        let added: HashSet<&str> = source(Origin::Added).collect();
        let context: HashSet<&str> = source(Origin::Context).collect();
        let removed: HashSet<&str> = source(Origin::Removed).collect();
        let gone =
            removed.iter().copied().filter(|word| word.len() > 3 && !added.contains(word) && !context.contains(word)).collect();
        let keys_of = |removed: bool| -> HashSet<&str> {
            let lines = change.files().filter(|file| is_source(file)).flat_map(ChangedFile::lines);
            lines.filter(|line| (line.origin == Origin::Removed) == removed).flat_map(|line| keys(&line.text)).collect()
        };
        let declared = |removed: bool| -> HashSet<&str> {
            let lines = change.files().filter(|file| is_source(file)).flat_map(ChangedFile::lines);
            lines
                .filter(|line| (line.origin == Origin::Removed) == removed)
                .filter_map(|line| DECLARED.group(&line.text))
                .collect()
        };
        let undeclared = declared(true).difference(&declared(false)).copied().collect();
        let gone_keys = keys_of(true).difference(&keys_of(false)).copied().collect();
        let headings = change.files().filter(|file| is_source(file)).flat_map(|file| &file.hunks);
        let changed =
            added.into_iter().chain(removed).chain(context).chain(headings.flat_map(|hunk| words(&hunk.heading))).collect();
        Self { alive, written, new_tests, gone, undeclared, gone_keys, changed }
    }

    fn explains(&self, test: &Lost<'_>, kept: &Kept<'_>) -> bool {
        // A longer name that begins alike is the old test with a word added.
        let renamed = self.alive.range(test.name..).next().is_some_and(|name| name.starts_with(test.name));
        let telling: Vec<&str> = test.body.iter().map(|line| line.trim()).filter(|line| line.len() > 10).collect();
        let mut asserts = telling.iter().filter(|line| ASSERTS.is_match(line)).peekable();
        let asserted = asserts.peek().is_some() && asserts.all(|line| self.written.contains(line));
        let moved = asserted || telling.iter().filter(|line| self.written.contains(*line)).count() * 2 > telling.len();
        let retired = RETIRED.is_match(test.name) || test.body.iter().any(|line| RETIRED.is_match(line));
        let orphaned = test.body.iter().flat_map(|line| words(line)).any(|word| self.gone.contains(word))
            || words(test.name).any(|word| self.gone.contains(word.trim_start_matches("test_")));
        let uncalled =
            test.body.iter().flat_map(|line| CALLED.all(line)).any(|call| self.undeclared.contains(&call[1..call.len() - 1]));
        let unkeyed = test.body.iter().flat_map(|line| keys(line)).any(|key| self.gone_keys.contains(key));
        renamed
            || moved
            || retired
            || orphaned
            || uncalled
            || unkeyed
            || self.replaces(test)
            || kept.has(test)
            || kept.covers(test)
    }

    /// A new test whose name has at least half of the old one's words tells the same story elsewhere.
    fn replaces(&self, test: &Lost<'_>) -> bool {
        let old = name_words(test.name);
        self.new_tests.iter().any(|new| {
            let shared = new.intersection(&old).count();
            shared >= 2 && shared * 2 >= old.len()
        })
    }

    /// Whether the test mentions something that stands where source changed.
    fn concerns(&self, test: &Lost<'_>) -> bool {
        test.body
            .iter()
            .filter(|line| !IMPORT.is_match(line))
            .flat_map(|line| words(line))
            .any(|word| word.len() > 3 && !COMMON.contains(&word) && self.changed.contains(word))
    }
}

/// Words that every test and every source share.
const COMMON: [&str; 24] = [
    "self",
    "this",
    "assert",
    "assertEqual",
    "assertEquals",
    "assert_eq",
    "expect",
    "return",
    "with",
    "import",
    "from",
    "None",
    "null",
    "true",
    "false",
    "True",
    "False",
    "const",
    "await",
    "async",
    "result",
    "value",
    "expected",
    "func",
];

/// What a file still holds of tests, read once for all that it lost.
struct Kept<'a> {
    text: &'a str,
    words: HashSet<&'a str>,
    /// Names of tests, each as its words.
    tests: Vec<HashSet<String>>,
}

impl<'a> Kept<'a> {
    fn new(file: &'a ChangedFile) -> Self {
        let text = file.new_text.as_deref().unwrap_or_default();
        let line = |text: &str| DiffLine { origin: Origin::Context, text: text.to_owned(), old_line: None, new_line: None };
        let lines: Vec<DiffLine> = text.lines().map(line).collect();
        let declared = file.language().map(|language| declarations(language, lines.iter())).unwrap_or_default();
        Self { text, words: words(text).collect(), tests: declared.iter().map(|test| plain_words(test.name)).collect() }
    }

    /// Another class of the file has a test of this name: the lost one was a copy, or was inherited from then on.
    fn has(&self, test: &Lost<'_>) -> bool {
        self.words.contains(test.name) || test.name.contains(' ') && self.text.contains(test.name)
    }

    /// A test of the file whose name says all that the lost one's said, and more.
    fn covers(&self, test: &Lost<'_>) -> bool {
        let old = plain_words(test.name);
        old.len() >= 2 && self.tests.iter().any(|other| other.is_superset(&old))
    }
}

/// The words of a name in lower case, whichever way they are joined.
fn plain_words(name: &str) -> HashSet<String> {
    let mut spaced = String::new();
    for c in name.chars() {
        if c.is_uppercase() {
            spaced.push(' ');
        }
        spaced.extend(c.to_lowercase());
    }
    spaced.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty() && *word != "test").map(str::to_owned).collect()
}

/// A change that takes code away takes its tests with it.
fn loses_source(change: &VisibleChange<'_>) -> bool {
    let (mut added, mut removed) = (0, 0);
    for file in change.files().filter(|file| is_source(file)) {
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

/// Helpers of tests may be called `test_…` without being tests.
fn holds_tests(file: &ChangedFile) -> bool {
    file.is_test() && !matches!(file.path.file_name(), "__init__.py" | "conftest.py")
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
            lost.extend(whole_losses(file, hunk, &old));
        }
    }
    if new_tests >= lost.len() { Vec::new() } else { lost }
}

/// Tests of which no line stayed: a body that lives on under another name is not lost.
fn whole_losses<'a>(file: &'a ChangedFile, hunk: &'a Hunk, old: &[Declaration<'a>]) -> Vec<Lost<'a>> {
    // Declarations come in the order of the lines, so each search goes on where the last one ended.
    let mut from = 0;
    let mut places = Vec::new();
    for test in old.iter().take(MAX_LOST + 1) {
        let Some(at) = hunk.lines[from..].iter().position(|line| std::ptr::eq(line, test.line)) else { continue };
        places.push((from + at, test));
        from += at + 1;
    }
    let ends = places.iter().skip(1).map(|(at, _)| *at).chain([hunk.lines.len()]);
    // A body ends where the next test begins.
    let bodies = places.iter().zip(ends).take(MAX_LOST);
    bodies.filter_map(|((at, test), end)| whole_loss(file, &hunk.lines[at + 1..end], test)).collect()
}

fn whole_loss<'a>(file: &'a ChangedFile, below: &'a [DiffLine], test: &Declaration<'a>) -> Option<Lost<'a>> {
    if test.line.origin != Origin::Removed {
        return None;
    }
    let mut rest = below.iter();
    let first = rest.find(|line| line.old_line.is_some() && !line.text.trim().is_empty())?;
    if first.origin != Origin::Removed {
        return None;
    }
    let body: Vec<&str> = std::iter::once(first)
        .chain(rest)
        .take_while(|line| line.origin == Origin::Removed)
        .take(MAX_BODY)
        .map(|line| line.text.as_str())
        .collect();
    Some(Lost { file, line: test.line, name: test.name, body })
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

/// The words of a test's name or title, without the one that every test has.
fn name_words(name: &str) -> HashSet<&str> {
    name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty() && *word != "test").collect()
}

/// Quoted words of a line, quotes included.
fn keys(text: &str) -> impl Iterator<Item = &str> {
    static KEY: Pattern = Pattern::new(r#"(?:"[\w.-]{4,}"|'[\w.-]{4,}')"#);
    KEY.all(text)
}

/// A test that was commented out is lost all the same.
fn is_comment(text: &str) -> bool {
    let text = text.trim_start();
    text.starts_with("//") || text.starts_with("# ") || text.starts_with("/*") || text.starts_with("* ")
}

#[cfg(test)]
mod tests {
    use crate::rules::{compile::RuleSet, load::built_in, scan::scan};
    use tribunal_core::diff::parse::parse_diff;

    #[test]
    fn a_whole_suite_that_goes_is_asked_about_once() {
        let source = "diff --git a/cart.py b/cart.py\n--- a/cart.py\n+++ b/cart.py\n@@ -1,2 +1,2 @@\n def total(items):\n\
                      -    return sum(items)\n+    return sum(items, 0)\n";
        let gone = |name: &str| {
            format!(
                "diff --git a/tests/test_{name}.py b/tests/test_{name}.py\ndeleted file mode 100644\n--- a/tests/test_{name}.py\n\
                 +++ /dev/null\n@@ -1,4 +0,0 @@\n-from cart import total\n-\n-def test_{name}():\n-    assert total([]) == 0\n"
            )
        };
        let found = |names: &[&str]| {
            let text = source.to_owned() + &names.iter().map(|name| gone(name)).collect::<String>();
            let rules = RuleSet::new(built_in().unwrap()).unwrap();
            let claims = scan(&rules, &parse_diff(text.as_bytes()).unwrap(), |_| true).unwrap().claims;
            claims.into_iter().map(|claim| claim.details.unwrap_or_default()).collect::<Vec<_>>()
        };
        assert_eq!(found(&["none", "sum"]), ["", ""]);
        let all = found(&["none", "sum", "tax"]);
        assert_eq!(all.len(), 1, "{all:?}");
        assert!(all[0].starts_with("3 files of tests go"), "{all:?}");
    }
}
