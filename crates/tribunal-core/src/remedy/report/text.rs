//! The terminal report as text (WL-98 to WL-103): sections that a program can check line by line.

use super::Report;
use crate::findings::anchor::fold;
use crate::publish::visible::visible_line;
use crate::remedy::end::End;
use crate::remedy::ladder::outcome;

/// Exactly the sections of WL-98. `Mode`, `Parser` and the label under `Routed` are constants of the format.
pub fn text(report: &Report) -> String {
    let pull = &report.pull;
    let mut out = vec![format!("Status: {}", status(report))];
    let group = |out: &mut Vec<String>, header: &str, items: &[(&str, String)]| {
        out.push(String::new());
        out.push(format!("{header}:"));
        out.extend(items.iter().map(|(label, value)| format!("- {label}: {}", one(value))));
    };
    group(
        &mut out,
        "PR",
        &[
            ("Number", pull.number.to_string()),
            ("State", pull.state.word().to_owned()),
            ("Branch", pull.branch.clone()),
            ("Target", pull.target.clone()),
        ],
    );
    group(
        &mut out,
        "Watch",
        &[
            ("Mode", "Monitor".to_owned()),
            // A report that was given never claims that anything still runs (WL-103).
            ("Monitoring", "stopped".to_owned()),
            ("Parser", "gh --jq".to_owned()),
            ("Cycles", report.cycles.to_string()),
            ("Seen comments", report.seen.to_string()),
            ("New actionable comments", report.resolved.to_string()),
        ],
    );
    group(&mut out, "Routed", &[("github-reviewer", report.routed.to_string())]);
    let list = |out: &mut Vec<String>, header: &str, items: Vec<String>| {
        out.push(String::new());
        out.push(format!("{header}:"));
        let items = if items.is_empty() { vec!["none".to_owned()] } else { items };
        out.extend(items.iter().map(|item| format!("- {}", one(item))));
    };
    list(&mut out, "Stopped because", vec![format!("{} — {}", report.reason, report.explanation)]);
    list(&mut out, "Next action", report.next_actions.clone());
    list(&mut out, "Issues", issues(report));
    out.join("\n") + "\n"
}

fn status(report: &Report) -> &'static str {
    match outcome(report.reason) {
        "blocked" | "review_exhausted" => "blocked",
        _ if report.open().next().is_some() => "partial",
        _ => "complete",
    }
}

/// WL-100, WL-101, CF-23: what is open, what the reason adds, the conditions that came second, then the rest.
fn issues(report: &Report) -> Vec<String> {
    let mut issues = Vec::new();
    let open: Vec<String> = report.open().map(|ended| format!("{} ({})", ended.place, ended.end.word().to_lowercase())).collect();
    if !open.is_empty() {
        issues.push(format!("{} open: {}", open.len(), open.join(", ")));
    }
    let left_out = report.count(|end| matches!(end, End::LeftOut { .. }));
    if left_out > 0 {
        issues.push(format!("{left_out} left out, because only some reviewers count here"));
    }
    issues.extend(report.details.fields().into_iter().map(|(name, value)| format!("{name}: {value}")));
    let others: Vec<&str> =
        report.conditions.iter().filter(|reason| **reason != report.reason).map(|reason| reason.word()).collect();
    if !others.is_empty() {
        issues.push(format!("also true: {}", others.join(", ")));
    }
    issues.extend(report.issues.iter().cloned());
    issues
}

/// One line that is never empty, whatever it was made of.
fn one(text: &str) -> String {
    let line = visible_line(&fold(text));
    if line.is_empty() { "none".to_owned() } else { line }
}
