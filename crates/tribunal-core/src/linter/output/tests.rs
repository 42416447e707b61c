use super::*;
use crate::linter::built_in::profile;

fn read_as(name: &str, text: &str) -> Result<Vec<LinterResult>, String> {
    read(&profile(name).unwrap().output, text)
}

fn seen(name: &str, text: &str) -> Vec<(String, u32, String, String)> {
    let results = read_as(name, text).unwrap();
    results.into_iter().map(|one| (one.file, one.lines.map_or(0, |lines| lines.0), one.rule, one.message)).collect()
}

fn one(file: &str, line: u32, rule: &str, message: &str) -> Vec<(String, u32, String, String)> {
    vec![(file.into(), line, rule.into(), message.into())]
}

/// Issue 18, section 2: what each linter prints is read by the table of its profile. The texts are what the tools printed.
#[test]
fn each_format_is_read() {
    let ruff = r#"[{"cell":null,"code":"F401","end_location":{"column":10,"row":1},"filename":"/w/a.py","fix":{"applicability":"safe","edits":[{"content":"","end_location":{"column":1,"row":2},"location":{"column":1,"row":1}}],"message":"Remove"},"location":{"column":8,"row":1},"message":"`os` imported but unused"}]"#;
    assert_eq!(seen("ruff", ruff), one("/w/a.py", 1, "F401", "`os` imported but unused"));
    let eslint = r#"[{"filePath":"/w/a.js","messages":[{"ruleId":"no-debugger","severity":2,"message":"Unexpected.","line":2,"endLine":3}]},{"filePath":"/w/b.js","messages":[{"ruleId":null,"fatal":true,"severity":2,"message":"Parsing error: x","line":1}]}]"#;
    let both = seen("eslint", eslint);
    assert_eq!(both[..1], one("/w/a.js", 2, "no-debugger", "Unexpected.")[..]);
    assert_eq!(both[1..], one("/w/b.js", 1, "syntax-error", "Parsing error: x")[..]);
    let shellcheck =
        r#"{"comments":[{"file":"./a.sh","line":2,"endLine":2,"level":"warning","code":2164,"message":"Use cd","fix":null}]}"#;
    assert_eq!(seen("shellcheck", shellcheck), one("./a.sh", 2, "SC2164", "Use cd"));
    let oxlint = r#"{ "diagnostics": [{"message": "Never","code": "eslint(use-isnan)","severity": "error","filename": "a.js","labels": [{"span": {"offset": 22,"line": 2}}]}] }"#;
    assert_eq!(seen("oxlint", oxlint), one("a.js", 2, "use-isnan", "Never"));
    let typos = "{\"type\":\"typo\",\"path\":\"./a.txt\",\"line_num\":1,\"typo\":\"teh\",\"corrections\":[\"the\"]}\n\n";
    assert_eq!(seen("typos", typos), one("./a.txt", 1, "typo", "`teh` looks misspelt; `the` may be meant."));
    let gosec =
        r#"{"Golang errors":{},"Issues":[{"severity":"HIGH","rule_id":"G402","details":"TLS","file":"/w/a.go","line":"5-7"}]}"#;
    assert_eq!(seen("gosec", gosec), one("/w/a.go", 5, "G402", "TLS"));
    assert_eq!(seen("flake8", "./a.py:8:16: F821 undefined name 'x'\n"), one("./a.py", 8, "F821", "undefined name 'x'"));
    assert_eq!(
        seen("yamllint", "./a.yml:2:1: [error] duplication of key \"a\" (key-duplicates)"),
        one("./a.yml", 2, "key-duplicates", "duplication of key \"a\"")
    );
    assert_eq!(seen("yamllint", "./a.yml:2:1: [error] syntax error: expected x (syntax)").len(), 1);
    assert_eq!(seen("codespell", "./a.txt:1: teh ==> the\n"), one("./a.txt", 1, "misspelling", "teh ==> the"));
    let tidy =
        "/w/a.c:2:26: warning: Out of bound [clang-analyzer-security.ArrayBound]\n    2 | int x;\n/w/a.c:2:26: note: Access\n";
    assert_eq!(seen("clang-tidy", tidy), one("/w/a.c", 2, "clang-analyzer-security.ArrayBound", "Out of bound"));
    assert_eq!(seen("govet", "# x/p\np/a.go:6:14: fmt.Printf format %d\n"), one("p/a.go", 6, "vet", "fmt.Printf format %d"));
    assert_eq!(seen("cppcheck", "a.c:2:error:nullPointer:Null: p"), one("a.c", 2, "nullPointer", "Null: p"));
}

/// Design rule 8: output that does not say that anything was looked at is no clean result.
#[test]
fn what_is_no_result_list_is_an_error() {
    for text in ["", "All checks passed!", "{}", "{\"messages\": 3}", "[1", "null"] {
        assert!(read_as("pylint", text).is_err(), "{text}");
    }
    assert!(read_as("golangci-lint", r#"{"Issues":null,"Report":{}}"#).unwrap().is_empty(), "Go's empty list");
    let failed = r#"{"errors":[{"filename":"a.py","reason":"syntax error"}],"results":[]}"#;
    assert!(read_as("bandit", failed).unwrap_err().contains("syntax error"));
    assert!(read_as("staticcheck", "not json").is_err());
    assert!(read_as("staticcheck", "").unwrap().is_empty(), "nothing on any line; the exit code decides");
}

/// A fix is whole or none, and only what the linter itself calls safe is one.
#[test]
fn fixes_are_read_with_their_safety() {
    let ruff = |applicability: &str, row: &str| {
        let text = format!(
            r#"[{{"code":"B006","filename":"a.py","fix":{{"applicability":"{applicability}","edits":[{{"content":"None","location":{{"column":16,"row":5}},"end_location":{{"column":18,"row":{row}}}}}]}},"location":{{"row":5}},"message":"m"}}]"#
        );
        let result = read_as("ruff", &text).unwrap().remove(0);
        (result.fix.len(), result.is_fix_safe)
    };
    assert_eq!(ruff("safe", "5"), (1, true));
    assert_eq!(ruff("unsafe", "5"), (1, false));
    assert_eq!(ruff("safe", "null").0, 0);
    let eslint = r#"[{"filePath":"a.js","messages":[{"ruleId":"r","message":"m","line":1,"fix":{"range":[4,7],"text":"x"}}]}]"#;
    let result = read_as("eslint", eslint).unwrap().remove(0);
    assert_eq!(result.fix, [Edit { place: Place::Offsets { start: 4, end: 7 }, text: "x".into() }]);
    assert!(result.is_fix_safe);
}
