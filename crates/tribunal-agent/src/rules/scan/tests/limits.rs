//! Issue 16, point 19: the rules take time in proportion to the change, and stop when their time is over. Point 18: what they could
//! not look at is said.

#[path = "../../../../tests/thread_time/mod.rs"]
mod thread_time;

use super::*;
use crate::rules::examples::added;
use crate::rules::load::built_in;
use std::collections::BTreeMap;
use std::sync::OnceLock;
use std::time::Duration;
use thread_time::worked;
use tribunal_core::diff::parse::parse_diff;
use tribunal_core::findings::admit::{Gate, admit};
use tribunal_core::findings::report::Report;
use tribunal_core::findings::role::{Role, built_in_roles};

fn rules() -> &'static RuleSet {
    static RULES: OnceLock<RuleSet> = OnceLock::new();
    RULES.get_or_init(|| RuleSet::new(built_in().unwrap()).unwrap())
}

fn role() -> Role {
    built_in_roles().unwrap().into_iter().find(|role| role.name.as_str() == "security-reviewer").unwrap()
}

/// One file's diff: hunks of (removed, added) lines between unchanged ones.
fn diff(path: &str, hunks: &[(Vec<String>, Vec<String>)]) -> (String, String) {
    let mut text = format!(
        "diff --git a/{path} b/{path}\nindex {}..{} 100644\n--- a/{path}\n+++ b/{path}\n",
        "1".repeat(40),
        "2".repeat(40)
    );
    let mut whole = String::new();
    let (mut old, mut new) = (1, 1);
    for (removed, written) in hunks {
        text.push_str(&format!("@@ -{old},{} +{new},{} @@\n x = 0\n", removed.len() + 1, written.len() + 1));
        whole.push_str("x = 0\n");
        for line in removed {
            text.push_str(&format!("-{line}\n"));
        }
        for line in written {
            text.push_str(&format!("+{line}\n"));
            whole.push_str(&format!("{line}\n"));
        }
        old += removed.len() + 1;
        new += written.len() + 1;
    }
    (text, whole)
}

/// The lines of a hunk that went, and those that came.
type Replaced = (Vec<String>, Vec<String>);

fn change(files: &[(String, Vec<Replaced>)]) -> Change {
    let diffs: Vec<(String, String)> = files.iter().map(|(path, hunks)| diff(path, hunks)).collect();
    let text: String = diffs.iter().map(|(text, _)| text.as_str()).collect();
    let mut change = parse_diff(text.as_bytes()).unwrap();
    for (file, (_, whole)) in change.files.iter_mut().zip(&diffs) {
        file.new_text = Some(Arc::from(whole.as_str()));
    }
    change.repository_has_tests = true;
    change
}

fn call(n: usize, extra: &str) -> String {
    format!("requests.get(u{n}{extra}, verify=False, timeout=9)")
}

/// Changes of one shape that grow with `n`.
fn shapes(n: usize) -> Vec<(&'static str, Change)> {
    let lines = |extra: &str| -> Vec<String> { (0..n).map(|n| call(n, extra)).collect() };
    let tests = |word: &str| -> Vec<String> {
        (0..n / 4)
            .flat_map(|n| {
                [format!("def test_{word}_{n}(self):"), format!("    self.assertEqual(load_{n}(), {n})"), String::new()]
            })
            .collect()
    };
    let one = |path: &str, removed: Vec<String>, written: Vec<String>| change(&[(path.to_owned(), vec![(removed, written)])]);
    let many_hunks = (0..n).map(|n| (vec![call(n, "")], vec![call(n, "+1")])).collect();
    let many_files = (0..n / 4).map(|n| (format!("src/f{n}.py"), vec![(vec![], vec![call(n, "")])])).collect::<Vec<_>>();
    let manifests = (0..n / 4).flat_map(|n| {
        let dependency = vec!["[dependencies]".to_owned(), "b = { git = \"https://h/a/b\" }".to_owned()];
        [(format!("f{n}/Cargo.toml"), vec![(vec![], dependency)]), (format!("f{n}/bun.lock"), vec![(vec![], vec![call(n, "")])])]
    });
    let manifests = manifests.collect::<Vec<_>>();
    let workflow = |word: &str| (0..n).map(|_| format!("      contents: {word}")).collect::<Vec<_>>();
    let alternatives = |first: &str, each: &str, last: &str| -> Vec<String> {
        format!("{first}\n{}{last}", format!("{each}\n").repeat(n)).lines().map(str::to_owned).collect()
    };
    let nested = (0..n).map(|n| format!("\"k{n}\": {{")).collect::<Vec<_>>();
    let presence = (0..n).map(|n| format!("    self.assertTrue(load_{n}())")).collect::<Vec<_>>();
    let equality = (0..n).map(|n| format!("    self.assertEqual(load_{n}(), {n})")).collect::<Vec<_>>();
    vec![
        ("replaced lines", one("src/a.py", lines(""), lines("+1"))),
        ("added lines", one("src/a.py", vec![], lines(""))),
        ("deleted lines", one("src/a.py", lines(""), vec![])),
        ("many hunks", change(&[("src/a.py".to_owned(), many_hunks)])),
        ("many files", change(&many_files)),
        ("many manifests", change(&manifests)),
        ("lost tests", {
            let source =
                ("src/b.py".to_owned(), vec![(vec!["load_1()".to_owned()], vec!["load_1(1)".to_owned(), "load_2()".to_owned()])]);
            change(&[source, ("tests/test_b.py".to_owned(), vec![(tests("old"), vec![])])])
        }),
        ("weakened tests", one("tests/test_a.py", equality, presence)),
        ("a workflow", one(".github/workflows/a.yml", workflow("read"), workflow("write"))),
        ("jobs that wait for others", {
            let job = |n: usize| [format!("  j{n}:"), "    needs: [a, b]".to_owned(), "    steps: []".to_owned()];
            let head = ["on: pull_request_target".to_owned(), "jobs:".to_owned()];
            one(".github/workflows/a.yml", vec![], head.into_iter().chain((0..10 * n).flat_map(job)).collect())
        }),
        ("a section with a long name", {
            let inside = (0..n).map(|n| format!("    \"d{n}\": \"o/r{n}\","));
            let name = format!("\"{}\": {{", "name".repeat(25 * n));
            one("package.json", vec![], std::iter::once(name).chain(inside).collect())
        }),
        ("sources and a lock", {
            let sources = (0..n).map(|n| format!("    \"d{n}\": \"git+https://github.com/o{n}/r{n}\","));
            let sources = std::iter::once("  \"dependencies\": {".to_owned()).chain(sources).collect();
            let locked = (0..n).map(|n| format!("d@git+https://github.com/o/r.git#{:040}", n)).collect();
            change(&[("package.json".to_owned(), vec![(vec![], sources)]), ("yarn.lock".to_owned(), vec![(vec![], locked)])])
        }),
        ("beginnings of keys", {
            // One in each part of an endless line, and all of them could go on below.
            let part = format!("{} -----BEGIN PRIVATE {}{}", "A".repeat(2000), "KEY-----", "QUJD".repeat(250));
            let below = (0..n).map(|_| "QUJD".repeat(200));
            one("data/a.txt", vec![], std::iter::once(part.repeat(n / 4)).chain(below).collect())
        }),
        ("beginnings of keys, line by line", {
            let line = format!("\"QUJD\" -----BEGIN PRIVATE {}", "KEY-----");
            one("data/a.txt", vec![], vec![line; 4 * n])
        }),
        ("keys without their first line", {
            let line = format!("x = \"MIIEowIBAAKC{}\"", "QUJD".repeat(20));
            one("data/a.txt", vec![], vec![line; 2 * n])
        }),
        ("hidden characters in a long comment", one("src/a.py", vec![], vec![format!("# {}", "a\u{200b}b ".repeat(50 * n))])),
        ("nested sections", one("package.json", vec![], nested)),
        (
            "alternatives",
            one("src/a.py", vec![], alternatives("def f(a):\n    if a:\n        b()", "    elif c():\n        b()", "")),
        ),
        (
            "alternatives in each other",
            one("src/a.js", vec![], alternatives("function f(a) {", "if (c()) { b() } else", "{}\n}")),
        ),
        ("one long line", one("src/a.txt", vec![], vec![format!("password = \"{}\" ", "q7Zr!2kLx9Pv4TnW8s").repeat(n)])),
    ]
}

fn time_of(change: &Change, role: &Role) -> Duration {
    let begun = worked();
    let found = scan(rules(), change, |_| true).unwrap();
    let gate = Gate {
        role,
        agent: &"rules".into(),
        change,
        outlines: &BTreeMap::new(),
        window: None,
        has_repo: true,
        spec: None,
        directives: &[],
        author: tribunal_core::findings::admit::Author::Rules,
    };
    let report = Report { findings: found.claims, ..Report::default() };
    std::hint::black_box(admit(report, &gate));
    worked() - begun
}

#[test]
fn the_rules_take_time_in_proportion_to_the_change() {
    const N: usize = 120;
    let role = role();
    let alone = rayon::ThreadPoolBuilder::new().num_threads(1).stack_size(threads::STACK_BYTES).build().unwrap();
    alone.install(|| {
        for ((name, small), (_, large)) in shapes(N).into_iter().zip(shapes(4 * N)) {
            // The first run compiles what both need.
            time_of(&small, &role);
            let (mut one, mut four) = (time_of(&small, &role), time_of(&large, &role));
            // A neighbour on the same core slows single runs down, in one of the two more than in the other: the quickest of
            // several runs, taken in turns, are compared. What takes less than a few milliseconds is noise.
            // A parent is found from the root of a tree, so what is nested takes a little more; how deep it may be has a limit of its own.
            let most = if name.ends_with("in each other") { 7 } else { 5 };
            let in_proportion = |one: Duration, four: Duration| four <= one.max(Duration::from_millis(4)) * most;
            for _ in 0..20 {
                if in_proportion(one, four) {
                    break;
                }
                one = one.min(time_of(&small, &role));
                four = four.min(time_of(&large, &role));
            }
            assert!(in_proportion(one, four), "{name}: {one:?} for {N}, {four:?} for four times as many");
        }
    });
}

/// The quickest and the most patient clock.
fn cut(change: &Change, limits: TimeLimits) -> Vec<NotReviewed> {
    let visible = VisibleChange::new(change, |_| Some(Look::Whole));
    scan_visible(rules(), &visible, limits).unwrap().cut.into_iter().map(|(_, reason)| reason).collect()
}

#[test]
fn a_file_whose_time_is_over_is_not_reviewed() {
    let none = Duration::ZERO;
    let change = added("src/a.py", "x = eval(y)\n");
    assert_eq!(cut(&change, TimeLimits { file: none, ..TimeLimits::default() }), [NotReviewed::OutOfTime]);
    assert_eq!(cut(&change, TimeLimits { total: none, ..TimeLimits::default() }), [NotReviewed::OutOfTime]);
    assert_eq!(cut(&change, TimeLimits::default()), []);
}

/// A manifest of `count` lines, for each of which a rule looks at the lines around it. Every 64th line is unchanged.
fn mixed(count: usize) -> Change {
    let mut text = "kind: Deployment\n".to_owned();
    text.push_str(&"    privileged: true\n".repeat(count - 1));
    let mut change = added("k8s/a.yaml", &text);
    let file = &mut change.files[0];
    file.status = FileStatus::Modified;
    for (old, line) in (1..).zip(file.hunks[0].lines.iter_mut().step_by(64)) {
        (line.origin, line.old_line) = (Origin::Context, Some(old));
    }
    file.hunks[0].old_start = 1;
    change
}

/// The change decides which lines are new, and must not decide when the clock is asked.
#[test]
fn unchanged_lines_do_not_hide_the_end_of_the_time() {
    let limits = |file: Duration| TimeLimits { file, ..TimeLimits::default() };
    let mut hunks_alone = mixed(640);
    hunks_alone.files[0].new_text = None;
    assert_eq!(cut(&hunks_alone, limits(Duration::ZERO)), [NotReviewed::OutOfTime]);
    assert_eq!(cut(&mixed(640), limits(Duration::ZERO)), [NotReviewed::OutOfTime]);
    assert_eq!(cut(&mixed(640), TimeLimits::default()), []);
    let large = mixed(64 * 300);
    let alone = rayon::ThreadPoolBuilder::new().num_threads(1).stack_size(threads::STACK_BYTES).build().unwrap();
    alone.install(|| {
        // The first run compiles what the next one needs.
        cut(&mixed(640), TimeLimits::default());
        let begun = worked();
        assert_eq!(cut(&large, limits(Duration::from_millis(20))), [NotReviewed::OutOfTime]);
        let took = worked() - begun;
        assert!(took < Duration::from_secs(2), "{took:?}");
    });
}

/// Checks of the whole diff run after all files were scanned, and have the same end.
#[test]
fn a_check_of_the_whole_diff_has_the_clock_of_the_scan() {
    let change = added("src/a.py", "x = 1\n");
    let visible = VisibleChange::new(&change, |_| Some(Look::Whole));
    let over = Clock::start(TimeLimits { total: Duration::ZERO, ..TimeLimits::default() });
    let rule = rules().rules.iter().find(|rule| rule.file.id == "secret-private-key").unwrap();
    let check = rule.check.unwrap();
    assert_eq!(check.run(rule, &visible, over).1.into_iter().collect::<Vec<_>>(), [change.files[0].path.clone()]);
    assert!(check.run(rule, &visible, Clock::start(TimeLimits::default())).1.is_empty());
}

#[test]
fn a_file_that_is_too_large_to_parse_is_not_reviewed() {
    let line = format!("# {}\n", "padding ".repeat(100));
    let large = format!("x = 1\n{}", line.repeat(MAX_PARSED_BYTES / line.len() + 1));
    assert_eq!(cut(&added("src/a.py", &large), TimeLimits::default()), [NotReviewed::TooLargeToParse]);
    // Text without a grammar is read line by line at any size.
    assert_eq!(cut(&added("a.txt", &large), TimeLimits::default()), []);
}

/// No nesting overflows a stack or takes forever, in any language.
#[test]
fn deep_nesting_ends_soon() {
    for (path, open, close) in [
        ("a.py", "(", ")"),
        ("a.js", "[", "]"),
        ("a.rs", "{", "}"),
        ("a.c", "(", ")"),
        ("a.java", "{", "}"),
        ("a.go", "(", ")"),
        ("a.rb", "[", "]"),
        ("a.ts", "{", "}"),
        ("a.sh", "(", ")"),
        ("a.php", "(", ")"),
        ("a.sql", "(", ")"),
        ("a.kt", "{", "}"),
        ("a.cs", "{", "}"),
        ("a.cpp", "<", ">"),
    ] {
        let depth = 20_000;
        for text in [format!("{}1{}\n", open.repeat(depth), close.repeat(depth)), format!("{}\n", open.repeat(depth))] {
            let limits = TimeLimits { file: Duration::from_secs(3), total: Duration::from_secs(60) };
            let reasons = cut(&added(&format!("src/{path}"), &text), limits);
            assert!(reasons.len() <= 1, "{path}: {reasons:?}");
        }
    }
}

/// What a comment silences in code that the change wrote is kept apart.
#[test]
fn what_a_suppression_silences_is_kept_apart() {
    let code = "import requests\nrequests.get(u, verify=False, timeout=9)  # nosec\n";
    let fresh = scan(rules(), &added("src/a.py", code), |_| true).unwrap();
    assert_eq!((fresh.claims.len(), fresh.silenced.len()), (0, 1), "{:?}", fresh.claims);
    let plain = scan(rules(), &added("src/a.py", &code.replace("  # nosec", "")), |_| true).unwrap();
    assert_eq!((plain.claims.len(), plain.silenced.len()), (1, 0));
}

/// A minified file is matched like any other, and its finding quotes the match.
#[test]
fn a_match_in_an_endless_line_is_quoted_by_itself() {
    let code = format!("var a=1;{}eval(location.hash);{}\n", "f(1);".repeat(3000), "g(2);".repeat(3000));
    let found = scan(rules(), &added("src/a.js", &code), |_| true).unwrap();
    let claim = found.claims.iter().find(|claim| claim.evidence.contains("eval(location.hash)")).unwrap();
    assert!(claim.evidence.len() < 400, "{}", claim.evidence.len());
    assert!(found.cut.is_empty(), "{:?}", found.cut);
}
