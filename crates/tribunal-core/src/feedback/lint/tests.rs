use super::*;
use crate::diff::parse::parse_diff;
use crate::feedback::dedup::groups;
use crate::feedback::samples::fixable;
use crate::remedy::suggestion;
use proptest::prelude::*;

const BEFORE: &str = "import os\nimport re\n\n\ndef find(text):\n    return re.match('a', text) == None\n";

fn change(text: &str) -> Change {
    let lines: String = text.lines().map(|line| format!("+{line}\n")).collect();
    let diff = format!("--- /dev/null\n+++ b/src/find.py\n@@ -0,0 +1,{} @@\n{lines}", text.lines().count());
    parse_diff(diff.as_bytes()).unwrap()
}

fn result(rule: &str, line: u32) -> LintResult {
    LintResult {
        tool: "ruff".into(),
        rule: rule.into(),
        path: "src/find.py".into(),
        lines: Some((line, line)),
        priority: Priority::P2,
        message: format!("{rule} is broken"),
        snippet: None,
        fix: Vec::new(),
    }
}

fn file(results: Vec<LintResult>) -> LintFile {
    LintFile { name: "out.sarif".into(), version: "v1".into(), results }
}

fn past(sha: &str, parent: &str, message: &str) -> Past {
    Past { sha: sha.into(), parent: Some(parent.into()), is_merge: false, message: message.into() }
}

/// A commit of ours for an item, made when these files were known.
fn ours(sha: &str, parent: &str, item: &str, files: &[&str]) -> Past {
    let message = format!("Fix\n\nTribunal-Item: {item}\nTribunal-Run: r\n");
    past(sha, parent, &knowing(&message, files.iter().copied()))
}

fn read(results: Vec<LintResult>, history: &[Past], now: &str) -> Linted {
    items(&file(results), &since(history, "v1"), &change(now), &|_| Some(BEFORE.to_owned()), &|_| Some(now.to_owned()))
}

fn ids(linted: &Linted) -> Vec<&str> {
    linted.items.iter().map(|item| item.id.0.as_str()).collect()
}

/// Issue 6: a result is an item with a place, as a check's that a commit answers.
#[test]
fn results_become_items() {
    let found = read(vec![result("F401", 1), result("E711", 6)], &[], BEFORE);
    let first = &found.items[0];
    assert_eq!((first.place(), first.voice.clone(), first.priority), ("src/find.py:1".into(), Voice::Check, Some(Priority::P2)));
    assert_eq!((first.body.as_str(), first.author.login.as_str()), ("ruff F401: F401 is broken", "ruff"));
    assert_eq!(first.surface, Surface::Check { name: "ruff/F401".into() });
    assert!(first.id.0.starts_with("lint:ruff/F401:src/find.py:"), "{}", first.id);
    let may_be_acted_on: Vec<_> = found.items.iter().map(fixable).collect();
    assert_eq!(groups(&may_be_acted_on), Vec::<Vec<ItemId>>::new());
    // The same rule twice on one line is two items.
    let twice = read(vec![result("F401", 1), result("F401", 1)], &[], BEFORE);
    assert_eq!((twice.items.len(), ids(&twice)[0] == ids(&twice)[1]), (2, false));
}

/// A linter speaks of the whole tree; what this change did not write is left alone, and counted (design rule 2).
#[test]
fn what_the_change_did_not_write_is_left_alone() {
    let old = "--- a/src/find.py\n+++ b/src/find.py\n@@ -5,2 +5,2 @@\n def find(text):\n-    return 1\n+    return re.match('a', text) == None\n";
    let change = parse_diff(old.as_bytes()).unwrap();
    let mut elsewhere = result("F401", 1);
    elsewhere.path = "src/other.py".into();
    let mut outside = result("F401", 1);
    outside.path = "../find.py".into();
    let results = vec![result("F401", 1), elsewhere, outside, result("E711", 6)];
    let text = |_: &RepoPath| Some(BEFORE.to_owned());
    let found = items(&file(results), &since(&[], "v1"), &change, &text, &text);
    assert_eq!((found.items.len(), found.elsewhere, found.over), (1, 3, 0));
    assert_eq!(found.items[0].line, Some(6));
}

/// On a runner the repository lies elsewhere.
#[test]
fn absolute_paths_are_found_by_their_end() {
    let mut absolute = result("F401", 1);
    absolute.path = "/home/runner/work/shop/shop/src/find.py".into();
    assert_eq!(read(vec![absolute], &[], BEFORE).items[0].path, Some("src/find.py".into()));
}

/// The same file is read at each look: what is said once is said once, wherever its lines have gone since, and what a commit of ours
/// answered is over, in this run and in any other.
#[test]
fn a_file_that_lies_there_says_nothing_twice() {
    let first = read(vec![result("F401", 1), result("E711", 6)], &[], BEFORE);
    // Another fix moved the lines; nothing was said of these two.
    let fix = |item: &str| [ours("b", "a", item, &["v1"]), past("a", "0", "theirs")];
    let moved = format!("# A comment.\n{BEFORE}");
    let again = read(vec![result("F401", 1), result("E711", 6)], &fix("thread:1"), &moved);
    assert_eq!(ids(&again), ids(&first));
    assert_eq!(again.items.iter().map(|item| item.line).collect::<Vec<_>>(), [Some(2), Some(7)]);
    assert_eq!(again.items[0].last_word, first.items[0].last_word);
    // The line is gone.
    let fixed = read(vec![result("F401", 1), result("E711", 6)], &fix("thread:1"), &BEFORE.replace("import os\n", ""));
    assert_eq!((ids(&fixed), fixed.over), (vec![ids(&first)[1]], 1));
    // The line stayed, and a commit of ours says that it answers it.
    let answered = read(vec![result("F401", 1), result("E711", 6)], &fix(ids(&first)[0]), BEFORE);
    assert_eq!((ids(&answered), answered.over), (vec![ids(&first)[1]], 1));
    // The linter was run again after that, and still complains.
    let history = fix(ids(&first)[0]);
    let text = |_: &RepoPath| Some(BEFORE.to_owned());
    let later = LintFile { version: "v2".into(), ..file(vec![result("F401", 1)]) };
    assert_eq!(items(&later, &since(&history, "v2"), &change(BEFORE), &text, &text).items.len(), 1);
}

/// Its lines are those of the tree before the first commit that knew it. Other people's commits say nothing about that: one lints
/// first and commits then.
#[test]
fn a_file_is_read_where_it_was_written() {
    let history = [
        ours("e", "d", "x", &["v1", "v2"]),
        ours("d", "c", "x", &["v1"]),
        past("c", "b", "theirs\n\nTribunal-Lint: v12\n"),
        ours("b", "a", "x", &["v0"]),
    ];
    assert_eq!(since(&history, "v1").before, Some(&"c".into()));
    assert_eq!(since(&history, "v2").before, Some(&"d".into()));
    assert_eq!(since(&history, "v3").before, None);
}

/// What the tool says it saw must be there, else its file is of another tree.
#[test]
fn a_snippet_must_stand_there() {
    let with = |snippet: &str| LintResult { snippet: Some(snippet.into()), ..result("F401", 1) };
    assert_eq!(read(vec![with("import  os")], &[], BEFORE).items.len(), 1);
    assert_eq!(read(vec![with("import sys")], &[], BEFORE).over, 1);
    // A line behind the end is of another tree, too.
    assert_eq!(read(vec![result("F401", 99)], &[], BEFORE).over, 1);
}

fn replace(from: (u32, u32), to: (u32, u32), text: &str) -> Replace {
    let spot = |(line, column): (u32, u32)| Spot { line, column: Some(column) };
    Replace { from: spot(from), to: spot(to), text: text.into(), utf16: true }
}

/// What the embedded fixer makes of a result's own fix.
fn fixed(line: u32, fix: Vec<Replace>, now: &str) -> Option<String> {
    let found = read(vec![LintResult { fix, ..result("X1", line) }], &[], now);
    let item = &found.items[0];
    let block = suggestion::suggestion(&fixable(item))?;
    let splice = suggestion::splice(&block, item.path.as_ref()?, (item.line?, item.line?), now)?;
    let edit = crate::remedy::splice::edit(&[splice], now)?;
    crate::remedy::edits::apply(&[edit], |_| Some(now.to_owned())).ok()?.remove(item.path.as_ref()?)
}

/// Issue 6: SARIF `fixes` are applied without a model, also after lines have moved.
#[test]
fn a_result_may_carry_its_fix() {
    let part = || vec![replace((6, 32), (6, 34), "is")];
    assert_eq!(fixed(6, part(), BEFORE), Some(BEFORE.replace("==", "is")));
    let moved = format!("# One.\n# Two.\n{BEFORE}");
    assert_eq!(fixed(6, part(), &moved), Some(moved.replace("==", "is")));
    // A whole line, as linters take it away.
    assert_eq!(fixed(1, vec![replace((1, 1), (2, 1), "")], BEFORE), Some(BEFORE.replace("import os\n", "")));
    let whole = Replace {
        from: Spot { line: 6, column: None },
        to: Spot { line: 6, column: None },
        text: "    return None".into(),
        utf16: true,
    };
    assert_eq!(fixed(6, vec![whole], BEFORE), Some(BEFORE.replace("    return re.match('a', text) == None", "    return None")));
    // Several, over several lines.
    let both = vec![replace((6, 12), (6, 20), "re.search"), replace((5, 5), (5, 9), "seek")];
    assert_eq!(fixed(6, both, BEFORE), Some(BEFORE.replace("re.match", "re.search").replace("def find", "def seek")));
    // One that does not hold the line of the result, two that overlap, and columns that are not there.
    assert_eq!(fixed(6, vec![replace((1, 1), (2, 1), "")], BEFORE), None);
    assert_eq!(fixed(6, vec![replace((6, 5), (6, 12), "x"), replace((6, 8), (6, 15), "y")], BEFORE), None);
    assert_eq!(fixed(6, vec![replace((6, 5), (6, 500), "x")], BEFORE), None);
}

proptest! {
    /// Whatever a file holds, nothing panics, and every id is a single line.
    #[test]
    fn any_result_is_read(rule in "\\PC{0,12}", path in "[a-z./\\\\]{0,20}", line in 0u32..9, last in 0u32..9, from in (0u32..9, 0u32..60), to in (0u32..9, 0u32..60), text in "\\PC{0,9}") {
        let result = LintResult { rule, path, lines: Some((line, last)), fix: vec![replace(from, to, &text)], ..result("X", 1) };
        for item in read(vec![result.clone(), LintResult { path: "src/find.py".into(), ..result }], &[], BEFORE).items {
            prop_assert!(!item.id.0.contains('\n'));
        }
    }
}
