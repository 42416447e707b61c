//! What a change writes around a defect must not keep it out of sight: each defect is found, asked about, or its file is named.

use super::*;
use crate::rules::load::built_in;
use std::sync::OnceLock;
use tribunal_core::diff::parse::parse_diff;

fn rules() -> &'static RuleSet {
    static RULES: OnceLock<RuleSet> = OnceLock::new();
    RULES.get_or_init(|| RuleSet::new(built_in().unwrap()).unwrap())
}

/// One file before and after a change: what both share at the top and at the end is unchanged.
fn changed(path: &str, before: &str, after: &str) -> Change {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.split_terminator('\n').collect(), after.split_terminator('\n').collect());
    let top = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let rest = old.len().min(new.len()) - top;
    let end = old.iter().rev().zip(new.iter().rev()).take(rest).take_while(|(old, new)| old == new).count();
    let marked = |mark: &str, lines: &[&str]| lines.iter().map(|line| format!("{mark}{line}\n")).collect::<String>();
    let text = format!(
        "diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n@@ -{},{} +{},{} @@\n{}{}{}{}",
        usize::from(!old.is_empty()),
        old.len(),
        usize::from(!new.is_empty()),
        new.len(),
        marked(" ", &old[..top]),
        marked("-", &old[top..old.len() - end]),
        marked("+", &new[top..new.len() - end]),
        marked(" ", &old[old.len() - end..]),
    );
    let mut change = parse_diff(text.as_bytes()).unwrap();
    change.files[0].new_text = Some(after.into());
    if old.is_empty() {
        change.files[0].status = FileStatus::Added;
    }
    change
}

/// Rule, line and weight of everything that is found.
fn found(change: &Change) -> Vec<(String, u32, Severity)> {
    let claims = scan(rules(), change, |_| true).unwrap().claims;
    claims.into_iter().map(|claim| (claim.rule.unwrap(), claim.line_start.unwrap(), claim.severity.unwrap())).collect()
}

fn names(change: &Change) -> Vec<String> {
    found(change).into_iter().map(|(rule, _, _)| rule).collect()
}

fn long_call(argument: &str) -> String {
    let head = "import requests\n\n\ndef fetch(url, h, p, c):\n    return requests.get(\n        url,\n        headers=h,\n";
    format!("{head}        params=p,\n        cookies=c,\n        timeout=5,\n{argument}    )\n")
}

#[test]
fn a_line_in_the_middle_of_a_long_call_is_found() {
    let (before, after) = (long_call(""), long_call("        verify=False,\n"));
    assert_eq!(found(&changed("app/a.py", &before, &after)), [("py-tls-verification-off".to_owned(), 11, Severity::Blocker)]);
    // What the long call was before the change is not its fault.
    let again = after.replace("timeout=5", "timeout=6");
    assert_eq!(found(&changed("app/a.py", &after, &again)), []);
}

#[test]
fn an_old_comment_does_not_speak_for_new_code() {
    let code = |argument: &str| {
        let head = "import subprocess\nfrom flask import request\n\n\ndef view():\n    # nosec B602\n";
        format!("{head}    subprocess.run({argument}, shell=True)\n")
    };
    let silenced = |before: &str, after: &str| {
        let scan = scan(rules(), &changed("app/a.py", before, after), |_| true).unwrap();
        (scan.claims.len(), scan.silenced.len())
    };
    let new = code("request.args[\"c\"]");
    assert!(silenced(&code("\"ls\""), &new).1 > 0);
    // Code that was silenced before and only moved says nothing new.
    assert_eq!(silenced(&new, &new.replace("    subprocess", "  subprocess")), (0, 0));
    // The same for rules over single lines.
    let key = |value: &str| format!("# gitleaks:allow\nkey = \"{value}\"\n");
    let silenced = |path: &str| {
        let scan = scan(rules(), &changed(path, &key("none"), &key("AKIAQ3EGTR7XWZ5KLMNP")), |_| true).unwrap();
        (scan.claims.len(), scan.silenced.len())
    };
    assert_eq!(silenced("app/a.py"), (0, 1));
}
