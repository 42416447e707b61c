//! The fixes of rules. `built_in_fixes_are_safe` proves those of the binary; the others are tools that read files:
//! `FIXES_RULES=FILE:FILE cargo test --test fixes -- --ignored rule_files` tests rules as they stand on the disk, and
//! `FIXES_TREE=FOLDER … over_a_tree` applies each fix to code that is not ours.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tribunal_agent::rules::compile::RuleSet;
use tribunal_agent::rules::examples::{added, failures};
use tribunal_agent::rules::file::{Example, FileExample};
use tribunal_agent::rules::load::{self, LoadedRule};
use tribunal_agent::rules::proof;
use tribunal_agent::rules::scan::scan;
use tribunal_core::findings::report::{Fix, FixKind};

/// A rule file about Python or another language, with this way to find and this way to fix.
fn rule(language: &str, body: &str) -> LoadedRule {
    let text = format!(
        "id: r\nlanguages: [{language}]\ncategory: E1\nseverity: factual\nconfidence: high\nblast: local\njustification: reachable\n\
         title: t\nfailure_mode: f\nmitigation: m\nabout: a\ntests: include\nexamples: {{ bad: [code], good: [other] }}\n{body}"
    );
    load::parse("r.yml", &text).unwrap()
}

/// The file after the first fix of the rule, and who may make it.
fn fixed(rule: LoadedRule, path: &str, code: &str) -> Option<(String, FixKind)> {
    let set = RuleSet::new(vec![rule]).unwrap();
    let claims = scan(&set, &added(path, code), |_| true).unwrap().claims;
    let fix = claims.iter().find_map(|claim| claim.fix.clone())?;
    Some((proof::fixed(&fix, &path.into(), code).unwrap(), fix.kind))
}

fn text(rule: LoadedRule, path: &str, code: &str) -> Option<String> {
    fixed(rule, path, code).map(|(text, _)| text)
}

#[test]
fn lines_of_a_template_are_indented_like_the_file() {
    let wrap = "rule: { kind: expression_statement, has: { kind: call_expression, pattern: run($X) } }\nfix: |-\n  if ok() {\n  \t\trun($X);\n  }";
    let of = |code: &str| text(rule("javascript", wrap), "a.js", code).unwrap();
    assert_eq!(of("function a() {\n\trun(1);\n}\n"), "function a() {\n\tif ok() {\n\t\t\trun(1);\n\t}\n}\n");
    assert_eq!(of("function a() {\n  run(1);\n}\n"), "function a() {\n  if ok() {\n      run(1);\n  }\n}\n");
    // What was matched is copied, line breaks and all, and line ends stay.
    assert_eq!(of("  run(`a\nb`);\n"), "  if ok() {\n      run(`a\nb`);\n  }\n");
    assert_eq!(of("  run(1);\r\n"), "  if ok() {\r\n      run(1);\r\n  }\r\n");
}

#[test]
fn an_empty_template_deletes_with_comma_and_line() {
    let argument = "rule: { kind: keyword_argument, regex: '^off=' }\nfix: ''";
    let of = |code: &str| text(rule("python", argument), "a.py", code).unwrap();
    assert_eq!(of("f(a, off=True)\n"), "f(a)\n");
    assert_eq!(of("f(off=True, a=1)\n"), "f(a=1)\n");
    assert_eq!(of("f(off=True)\n"), "f()\n");
    assert_eq!(of("f(\n    a,\n    off=True,\n    b=1,\n)\n"), "f(\n    a,\n    b=1,\n)\n");
    assert_eq!(of("f(\n    a,\n    off=True\n)\n"), "f(\n    a\n)\n");
    assert_eq!(of("f(a, off=True,\n  b=1)\n"), "f(a,\n  b=1)\n");
    let statement = "rule: { kind: expression_statement, has: { kind: call, pattern: bad() } }\nfix: ''";
    assert_eq!(text(rule("python", statement), "a.py", "if x:\n    bad()\n    good()\n").unwrap(), "if x:\n    good()\n");
    // A line that goes on in the next one would take that with it.
    let flag = "rule: { kind: word, regex: '^-k$' }\nfix: ''";
    assert_eq!(text(rule("bash", flag), "a.sh", "curl x \\\n  -k\nls\n"), None);
    assert_eq!(text(rule("bash", flag), "a.sh", "curl -k x\n").unwrap(), "curl x\n");
}

#[test]
fn all_matches_of_a_line_are_fixed_at_once() {
    let is = "rule: { pattern: $A is 1 }\nfix: $A == 1\n";
    assert_eq!(text(rule("python", is), "a.py", "x = a is 1 or b is 1\n").unwrap(), "x = a == 1 or b == 1\n");
}

#[test]
fn several_places_and_imports() {
    let body = "rule: { kind: call, pattern: weak($X) }\nfix: hmac.strong($X)\nimports: [import hmac]";
    let of = |code: &str| text(rule("python", body), "a.py", code);
    assert_eq!(of("import os\n\nweak(1)\n").unwrap(), "import hmac\nimport os\n\nhmac.strong(1)\n");
    assert_eq!(of("import hmac\n\nweak(1)\n").unwrap(), "import hmac\n\nhmac.strong(1)\n");
    assert_eq!(of("hmac = 1\nweak(hmac)\n"), None);
    let moved = "rule: { pattern: $FIRST, kind: expression_statement, regex: '^late', precedes: { pattern: $NEXT } }\n\
                 fixes:\n  - replaces: NEXT\n    fix: |-\n      $NEXT\n      $FIRST\n    also: [{ replaces: FIRST, with: '' }]";
    assert_eq!(
        text(rule("python", moved), "a.py", "def f():\n    late()\n    early()\n").unwrap(),
        "def f():\n    early()\n    late()\n"
    );
}

#[test]
fn the_first_way_that_fits_is_taken() {
    let body = "rule: { pattern: f($X) }\nfixes:\n  - rule: { has: { kind: argument_list, has: { kind: integer, pattern: $N } } }\n    fix: g($N)\n\
                offer: h($X)";
    let of = |code: &str| fixed(rule("python", body), "a.py", code).unwrap();
    assert_eq!(of("f(1)\n"), ("g(1)\n".to_owned(), FixKind::Safe));
    assert_eq!(of("f(a)\n"), ("h(a)\n".to_owned(), FixKind::Offered));
}

#[test]
fn a_fix_that_cannot_be_read_is_an_error() {
    let fails = |body: &str| RuleSet::new(vec![rule("python", body)]).unwrap().compile_all().unwrap_err().problem;
    assert!(fails("rule: { pattern: f($X) }\nfixes: [{ replaces: Y, fix: g }]").contains("names $Y"));
    assert!(fails("rule: { pattern: f($X) }\nfixes: [{ rule: { pattern: f($X) } }]").contains("one of `fix` and `offer`"));
}

/// What breaks the syntax, or leaves the rule something to say, is found out before it is made.
#[test]
fn a_bad_fix_is_refused() {
    for (fix, why) in [("g(", "breaks the syntax"), ("f($$$X, 1)", "still matches")] {
        let set = RuleSet::new(vec![rule("python", &format!("rule: {{ pattern: f($$$X) }}\nfix: {fix}"))]).unwrap();
        let claims = scan(&set, &added("a.py", "f(1)\n"), |_| true).unwrap().claims;
        let problem = proof::problem(&set, &"a.py".into(), "f(1)\n", &claims, &claims[0]).unwrap();
        assert!(problem.contains(why), "{problem}");
    }
}

/// Each built-in fix proves itself on an example: the code parses, no rule has more to say, and only its lines change.
#[test]
fn built_in_fixes_are_safe() {
    let all = RuleSet::new(load::built_in().unwrap()).unwrap();
    let mut wrong = Vec::new();
    let (mut safe, mut offered) = (0, 0);
    for loaded in load::built_in_with_examples().unwrap() {
        let file = &loaded.file;
        let is_safe = file.fix.is_some() || file.fixes.iter().any(|case| case.fix.is_some());
        let is_offered = file.offer.is_some() || file.fixes.iter().any(|case| case.offer.is_some());
        if !is_safe && !is_offered {
            continue;
        }
        if is_safe {
            safe += 1
        } else {
            offered += 1
        }
        let mut shown = false;
        for example in &file.examples.bad {
            let Example::File(FileExample { path, code, fixed: Some(_) }) = example else { continue };
            let claims = scan(&all, &added(path, code), |_| true).unwrap().claims;
            for claim in claims.iter().filter(|claim| claim.rule.as_deref() == Some(file.id.as_str())) {
                let Some(fix) = &claim.fix else { continue };
                shown |= fix.kind.is_safe() == is_safe;
                if let Some(problem) = proof::problem(&all, &claim.file, code, &claims, claim) {
                    wrong.push(format!("{}: {problem}", file.id));
                }
                wrong.extend(
                    elsewhere(fix, code, &proof::fixed(fix, &claim.file, code).unwrap()).map(|why| format!("{}: {why}", file.id)),
                );
            }
        }
        if !shown {
            wrong.push(format!("{} has no example of its fix", file.id));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(safe >= 120, "{safe} safe, {offered} only offered");
}

/// A change outside of the lines that a fix names.
fn elsewhere(fix: &Fix, before: &str, after: &str) -> Option<String> {
    let kept = |text: &str| -> Vec<String> { text.lines().map(str::to_owned).collect() };
    let (before, mut after) = (kept(before), kept(after));
    let inserted: Vec<&str> = fix.insertions.iter().flat_map(|added| added.text.split('\n')).collect();
    for line in inserted {
        let at = after.iter().position(|other| other == line)?;
        after.remove(at);
    }
    let (first, last) = (fix.line_start as usize - 1, fix.line_end as usize);
    let below = before.len() - last;
    let same =
        after.len() >= first + below && before[..first] == after[..first] && before[last..] == after[after.len() - below..];
    (!same).then(|| format!("other lines changed:\n{}", after.join("\n")))
}

#[test]
#[ignore = "a tool"]
fn rule_files() {
    let files = std::env::var("FIXES_RULES").unwrap();
    for file in files.split(':').filter(|file| !file.is_empty()) {
        match load::parse(file, &std::fs::read_to_string(file).unwrap()) {
            Ok(loaded) => failures(&loaded).iter().for_each(|failure| println!("{failure}\n")),
            Err(error) => println!("{error}\n"),
        }
    }
}

#[derive(Default)]
struct Count {
    found: usize,
    offered: usize,
    applied: usize,
    wrong: Vec<String>,
}

#[test]
#[ignore = "a tool"]
fn over_a_tree() {
    let folder = PathBuf::from(std::env::var("FIXES_TREE").unwrap());
    let rules = match std::env::var("FIXES_RULES") {
        Ok(files) => files.split(':').map(|file| load::parse(file, &std::fs::read_to_string(file).unwrap()).unwrap()).collect(),
        Err(_) => load::built_in().unwrap(),
    };
    let rules = RuleSet::new(rules).unwrap();
    let mut files = Vec::new();
    collect(&folder, &mut files);
    let mut counts: BTreeMap<String, Count> = BTreeMap::new();
    for file in files {
        let Ok(text) = std::fs::read_to_string(&file) else { continue };
        let path = file.strip_prefix(&folder).unwrap().to_string_lossy().replace('\\', "/");
        let Ok(found) = scan(&rules, &added(&path, &text), |_| true) else { continue };
        for claim in &found.claims {
            let count = counts.entry(claim.rule.clone().unwrap_or_default()).or_default();
            count.found += 1;
            match claim.fix.as_ref().map(|fix| fix.kind) {
                None => {}
                Some(FixKind::Offered) => count.offered += 1,
                Some(FixKind::Safe) => match proof::problem(&rules, &claim.file, &text, &found.claims, claim) {
                    None => {
                        count.applied += 1;
                        if std::env::var("FIXES_SHOW").is_ok() {
                            let fix = claim.fix.as_ref().unwrap();
                            let old =
                                text.lines().skip(fix.line_start as usize - 1).take((fix.line_end - fix.line_start) as usize + 1);
                            let old: Vec<_> = old.collect();
                            println!(
                                "## {} {path}:{}\n-{}\n+{}\n{:?}",
                                claim.rule.as_deref().unwrap_or_default(),
                                fix.line_start,
                                old.join("\n-"),
                                fix.replacement.replace('\n', "\n+"),
                                fix.insertions
                            );
                        }
                    }
                    Some(why) => {
                        count.wrong.push(format!("{path}:{:?}: {}", claim.line_start, why.lines().next().unwrap_or_default()))
                    }
                },
            }
        }
    }
    for (rule, count) in counts {
        println!(
            "{rule:40} found {:>5} offered {:>5} applied {:>5} refused {:>5}",
            count.found,
            count.offered,
            count.applied,
            count.wrong.len()
        );
        count.wrong.iter().take(3).for_each(|why| println!("    {why}"));
    }
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true if path.is_symlink() || path.ends_with(".git") || path.ends_with("node_modules") => {}
            true => collect(&path, files),
            false => files.push(path),
        }
    }
}
