use super::*;
use crate::diff::parse::parse_diff;
use crate::findings::role::built_in_roles;
use crate::findings::scale::{Justification, Severity};
use crate::linter::built_in::profile;
use crate::linter::edit::{Edit, Place};
use std::sync::Arc;

const PATCH: &[u8] =
    b"diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,4 @@\n import os\n+import re\n+x = None == os\n y = 1\n";

fn result(file: &str, line: u32, rule: &str) -> LinterResult {
    LinterResult {
        file: file.into(),
        lines: Some((line, line)),
        rule: rule.into(),
        message: format!("{rule} says so.\n\nAt length."),
        ..LinterResult::default()
    }
}

fn report(role: usize, own: &[(&str, &str)], results: &[LinterResult]) -> Report {
    let mut change = parse_diff(PATCH).unwrap();
    change.files[0].new_text = Some(Arc::from("import os\nimport re\nx = None == os\ny = 1\n"));
    let own: TriageTable =
        own.iter().map(|(rule, text)| ((*rule).to_owned(), Triage::try_from((*text).to_owned()).unwrap())).collect();
    let files = BTreeSet::from([RepoPath::from("a.py")]);
    let linted = Linted { name: "ruff", profile: profile("ruff").unwrap(), own: &own, files: &files, results, unsuppressed: &[] };
    linted.report(&built_in_roles().unwrap()[role], &change)
}

const STAFF: usize = 1;

/// Issue 18, section 2: results on lines of the change become claims, others are counted.
#[test]
fn results_on_added_lines_become_claims() {
    let results = [
        result("./a.py", 2, "F821"),
        result("a.py", 1, "F821"),
        result("../a.py", 2, "F821"),
        result("/etc/a.py", 2, "F821"),
        result("b.py", 2, "F821"),
    ];
    let report = report(STAFF, &[], &results);
    let claim = &report.findings[0];
    assert_eq!(report.findings.len(), 1);
    assert_eq!((claim.evidence.as_str(), claim.failure_mode.as_str()), ("import re", "F821 says so."));
    assert_eq!(
        (claim.category.as_str(), claim.severity, claim.justification),
        ("E5", Some(Severity::Factual), Some(Justification::Reachable))
    );
    assert_eq!(claim.mitigation, "See F821 of ruff.");
    assert_eq!(report.left_alone, BTreeMap::from([(DropReason::NotInChange, 3), (DropReason::UnchangedCode, 1)]));
}

/// A rule that nobody reviewed is hygiene, said once for a file; a person's table comes first, and `off` is off.
#[test]
fn weights_come_from_the_tables() {
    let known = report(STAFF, &[], &[result("a.py", 2, "X1"), result("a.py", 3, "X1"), result("a.py", 2, "S101")]);
    assert_eq!(known.findings.len(), 1);
    assert_eq!(known.findings[0].justification, Some(Justification::Hygiene));
    assert_eq!(known.findings[0].failure_mode, "X1 says so. (1 more in this file)");
    let own = report(STAFF, &[("X*", "E1 suggestion"), ("F821", "off")], &[result("a.py", 2, "X1"), result("a.py", 3, "F821")]);
    assert_eq!((own.findings.len(), own.findings[0].category.as_str()), (1, "E1"));
}

/// A category that the role does not own is another seat's to say; one that was looked at and had nothing is clean.
#[test]
fn each_seat_says_its_own() {
    let security = report(0, &[], &[result("a.py", 2, "S602"), result("a.py", 3, "F821")]);
    assert_eq!(security.findings.iter().map(|claim| claim.category.as_str()).collect::<Vec<_>>(), ["S1"]);
    let clean: Vec<&str> = security.checked_clean.iter().map(|check| check.category.as_str()).collect();
    assert_eq!(clean, ["S2", "S3"]);
}

/// What the linter calls safe is offered for one click, if it changes nothing but the change; the rest is told.
#[test]
fn a_fix_is_offered_or_told() {
    let edit = |start: u32, end: u32, text: &str| vec![Edit { place: Place::Offsets { start, end }, text: text.into() }];
    let fixed = |fix: Vec<Edit>, is_fix_safe: bool| {
        let claim = report(STAFF, &[], &[LinterResult { fix, is_fix_safe, ..result("a.py", 2, "F401") }]).findings.remove(0);
        (claim.fix, claim.details)
    };
    let removed = Fix::of_lines(2, 2, String::new());
    assert_eq!(fixed(edit(10, 20, ""), true), (Some(removed), None));
    assert_eq!(fixed(edit(0, 10, ""), true), (None, None), "a line that the change did not write");
    let (fix, told) = fixed(edit(17, 19, "json"), false);
    assert_eq!(
        (fix, told.as_deref()),
        (None, Some("The linter offers to replace line 2, and does not call that safe. New text:\n`import json`"))
    );
}

/// Issue 16: `#line` and `//line` have a linter speak of a file that it was not given.
#[test]
fn a_result_about_another_file_is_not_dropped_unseen() {
    let given = BTreeSet::from(["a.c", "src/b.h"].map(RepoPath::from));
    let named = |name: &str, files: &[&str]| -> Vec<String> {
        let results: Vec<_> = files.iter().map(|file| result(file, 7, "arrayIndexOutOfBounds")).collect();
        let misplaced = misplaced(profile(name).unwrap(), &TriageTable::new(), &results, &given);
        misplaced.iter().map(|one| format!("{}:{}", one.path, one.line)).collect()
    };
    let files = ["./a.c", "src\\b.h", "elsewhere.c", "../x.c", "/usr/include/stdio.h", ""];
    assert_eq!(named("cppcheck", &files), ["elsewhere.c:7", "../x.c:7", "/usr/include/stdio.h:7"]);
    // Of a whole tree, a linter reads the system's headers too.
    assert_eq!(named("clang-tidy", &files), ["elsewhere.c:7"]);
    let own = TriageTable::from([("*".to_owned(), Triage::Off)]);
    assert!(misplaced(profile("cppcheck").unwrap(), &own, &[result("x.c", 1, "y")], &given).is_empty());
}
