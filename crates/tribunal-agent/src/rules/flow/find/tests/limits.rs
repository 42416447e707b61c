//! What the author of a change may make long, deep or many.

use super::{LARGE, is_found, rules_for};
use crate::rules::examples::added;
use crate::rules::scan::{Scan, scan};
use tribunal_core::findings::scale::Severity;

/// A scan with the own rule for the language of `path`.
fn scanned(path: &str, code: &str) -> Scan {
    scan(rules_for(path), &added(path, code), |_| true).unwrap()
}

/// Nothing was left out: the last line is found.
fn is_found_to_the_end(path: &str, code: &str) {
    let scan = scanned(path, code);
    assert!(scan.cut.is_empty(), "{:?}", scan.cut);
    let last = u32::try_from(code.trim_end().lines().count()).unwrap();
    assert!(scan.claims.iter().any(|claim| claim.line_start == Some(last)), "{} claims", scan.claims.len());
}

#[test]
fn a_long_chain_of_assignments_is_followed() {
    let code = format!("x = outside()\n{}sink(x)\n", "x=x\n".repeat(LARGE));
    is_found_to_the_end("src/a.py", &code);
    let code = format!("x = outside()\n{}sink(x)\n", "x += 'a'\ny = x\nx = y\n".repeat(LARGE / 3));
    is_found_to_the_end("src/a.py", &code);
    let code = format!("let x = outside();\n{}sink(x);\n", "x = x;\n".repeat(LARGE));
    is_found_to_the_end("src/a.js", &code);
}

/// The change touched one step in the middle of many.
#[test]
fn a_touched_step_among_many_is_found() {
    let code = format!("x = outside()\n{}sink(x)\n", "x=x\n".repeat(60));
    let found = super::claims(&super::touched(&code, &[30]));
    assert_eq!(found.first().and_then(|claim| claim.line_start), Some(30));
}

#[test]
fn a_long_list_of_alternatives_is_followed() {
    let code = format!("x = outside()\nif y:\n    pass\n{}sink(x)\n", "elif y == 1:\n    pass\n".repeat(LARGE / 4));
    is_found_to_the_end("src/a.py", &code);
    let code = format!("let x = outside();\n{} {{}}\nsink(x);\n", "if (y == 1) { f() } else".repeat(1_400));
    is_found_to_the_end("src/a.js", &code);
    let code = format!("let x = outside();\nsink({} x);\n", "y ? 1 :".repeat(2_800));
    is_found_to_the_end("src/a.js", &code);
}

/// Expressions as deep as the parser lets them be.
#[test]
fn nested_expressions_are_followed() {
    for (open, close, count) in
        [("(", ")", 900), ("str(", ")", 900), ("[", "]", 900), ("", " + 'a' % 1", 700), ("", "[0]", 1_400)]
    {
        is_found_to_the_end("src/a.py", &format!("sink({}outside(){})\n", open.repeat(count), close.repeat(count)));
    }
    let methods = format!("sink(outside(){})\n", ".strip()".repeat(1_200));
    is_found_to_the_end("src/a.py", &methods);
    let functions = format!("{}sink(outside()){}\n", "function f() {".repeat(900), "}".repeat(900));
    is_found_to_the_end("src/a.js", &functions);
}

#[test]
fn the_gravest_of_many_sources_is_told() {
    let weak = "setting() + ".repeat(40);
    let found = scanned("src/a.py", &format!("sink({weak}outside())\n")).claims;
    assert_eq!(found.iter().map(|claim| claim.severity).collect::<Vec<_>>(), [Some(Severity::Blocker)]);
    let found = scanned("src/a.py", &format!("sink([{}outside()])\n", "quote(outside()), setting(), ".repeat(40))).claims;
    assert_eq!(found.iter().map(|claim| claim.severity).collect::<Vec<_>>(), [Some(Severity::Blocker)]);
}

#[test]
fn many_parameters_variables_and_fields_are_followed() {
    let names: Vec<String> = (0..900).map(|number| format!("v{number}")).collect();
    let set: String = names.iter().map(|name| format!("{name} = outside()\n")).collect();
    is_found_to_the_end("src/a.py", &format!("{set}y = outside()\nsink(y)\n"));
    let set: String = names.iter().map(|name| format!("        self.{name} = outside()\n")).collect();
    let class =
        format!("class A:\n    def load(self):\n{set}        self.y = outside()\n    def show(self):\n        sink(self.y)\n");
    is_found_to_the_end("src/a.py", &class);
    let code =
        format!("def h({}, y):\n    return [{}, y]\nsink(h(*a, y=outside()))\n", names[..60].join(", "), names[..60].join(", "));
    is_found_to_the_end("src/a.py", &code);
}

#[test]
fn a_long_name_is_a_name() {
    let name = "x".repeat(500);
    assert!(is_found(&format!("{name} = outside()\nsink({name})\n")));
    assert!(is_found(&format!("o.{name} = outside()\nsink(o.{name})\n")));
}

/// Each round hands the data on by one variable.
#[test]
fn a_loop_runs_until_nothing_new_is_learnt() {
    let names: Vec<String> = (0..12).map(|number| format!("v{number}")).collect();
    let handed: String = names.windows(2).map(|pair| format!("    {} = {}\n", pair[0], pair[1])).collect();
    let clean: String = names.iter().map(|name| format!("{name} = ''\n")).collect();
    assert!(is_found(&format!("{clean}for i in y:\n{handed}    v11 = outside()\nsink(v0)\n")));
    let inner = handed.replace("    ", "      ");
    assert!(is_found(&format!("{clean}for i in y:\n  for j in y:\n    for k in y:\n{inner}      v11 = outside()\nsink(v0)\n")));
    // A chain that no one writes: the file is named instead of being called clean.
    let names: Vec<String> = (0..300).map(|number| format!("v{number}")).collect();
    let handed: String = names.windows(2).map(|pair| format!("    {} = {}\n", pair[0], pair[1])).collect();
    let clean: String = names.iter().map(|name| format!("{name} = ''\n")).collect();
    let scan = scanned("src/a.py", &format!("{clean}for i in y:\n{handed}    v299 = outside()\nsink(v0)\n"));
    assert!(!scan.claims.is_empty() || !scan.cut.is_empty());
}

/// Work that grows beyond all bounds names the file, and what was found before stays.
#[test]
fn what_is_not_followed_is_named() {
    let blowup = format!("let x = {}outside(){};\n", "[a, b] = [1, ".repeat(40), "]".repeat(40));
    let scan = scanned("src/a.js", &format!("sink(outside());\n{blowup}"));
    assert_eq!(scan.cut.len(), 1);
    assert_eq!(scan.claims.iter().filter_map(|claim| claim.line_start).collect::<Vec<_>>(), [1]);
}

#[test]
fn a_callee_in_parentheses_is_a_name() {
    assert!(is_found(&format!("{}sink{}(outside())\n", "(".repeat(20), ")".repeat(20))));
    assert_eq!(scanned("src/a.js", "(0, sink)(outside());\n").claims.len(), 1);
}
