//! Code that a change moved, indented anew or wrote around is not its fault: only what came new is.
//!
//! Text alone cannot tell: `err = decode(b)` holds all of `decode(b)`, and still the check of the error is gone. So the rules
//! read the file of before as well, and a finding is old if the same rule found the same in lines that the change took away.

use super::compile::RuleSet;
use std::collections::BTreeSet;
use tribunal_core::diff::change::{ChangedFile, DiffLine, Origin};
use tribunal_core::findings::key::normalise_code;
use tribunal_core::findings::report::Claim;

/// A match of a syntax rule: what is said of it, and the matched code as [`normalise_code`] gives it.
pub struct Found {
    pub claim: Claim,
    pub construct: String,
}

/// The claims without those that `before`, the findings in removed lines, answers for. Each of them answers once: a copy is new.
pub fn without_old(file: &ChangedFile, found: Vec<Found>, mut before: Vec<Found>) -> Vec<Claim> {
    let mut answered = |new: &Found, is_same: &dyn Fn(&Found) -> bool| {
        let place = before.iter().position(|old| old.claim.rule == new.claim.rule && is_same(old));
        place.map(|place| before.swap_remove(place)).is_some()
    };
    let unmoved: Vec<Found> = found
        .into_iter()
        .filter(|new| {
            let evidence = normalise_code(&new.claim.evidence);
            !answered(new, &|old| normalise_code(&old.claim.evidence) == evidence)
        })
        .collect();
    let rewritten = |new: &Found, old: &Found| {
        new.construct == old.construct && new_hunk(file, new.claim.line_start) == old_hunk(file, old.claim.line_start)
    };
    unmoved.into_iter().filter(|new| !answered(new, &|old| rewritten(new, old))).map(|found| found.claim).collect()
}

fn new_hunk(file: &ChangedFile, line: Option<u32>) -> Option<usize> {
    file.hunks.iter().position(|hunk| hunk.lines.iter().any(|other| other.origin == Origin::Added && other.new_line == line))
}

fn old_hunk(file: &ChangedFile, line: Option<u32>) -> Option<usize> {
    file.hunks.iter().position(|hunk| hunk.lines.iter().any(|other| other.origin == Origin::Removed && other.old_line == line))
}

/// The same for rules over single lines, which need no more than the line.
pub fn without_moved_lines(file: &ChangedFile, claims: Vec<Claim>) -> Vec<Claim> {
    if claims.is_empty() {
        return claims;
    }
    let removed: BTreeSet<String> = file.removed_lines().map(|line| normalise_code(&line.text)).collect();
    claims.into_iter().filter(|claim| !removed.contains(&normalise_code(&claim.evidence))).collect()
}

/// The claims without those in whose place their rule's `unless_removed` stood.
pub fn without_rewritten(rules: &RuleSet, file: &ChangedFile, claims: Vec<Claim>) -> Vec<Claim> {
    let is_rewritten = |claim: &Claim| {
        let pattern = claim.rule.as_deref().and_then(|id| rules.get(id)).and_then(|rule| rule.unless_removed.as_ref());
        pattern.is_some_and(|pattern| pattern.is_match(&replaced(file, claim)))
    };
    claims.into_iter().filter(|claim| !is_rewritten(claim)).collect()
}

/// The removed lines next to a claim, with nothing unchanged between.
fn replaced(file: &ChangedFile, claim: &Claim) -> String {
    let blocks = file.hunks.iter().flat_map(|hunk| hunk.lines.split(|line| line.origin == Origin::Context));
    let is_there = |line: &DiffLine| line.new_line >= claim.line_start && line.new_line <= claim.line_end;
    let of_claim = blocks.filter(|block| block.iter().any(|line| line.origin == Origin::Added && is_there(line)));
    let removed = of_claim.flatten().filter(|line| line.origin == Origin::Removed);
    removed.map(|line| line.text.as_str()).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use crate::rules::compile::RuleSet;
    use crate::rules::load;
    use crate::rules::scan::scan;
    use tribunal_core::diff::parse::parse_diff;

    /// What is found where `old` becomes `new`, below an unchanged first line.
    fn found(path: &str, first: &str, old: &str, new: &str) -> usize {
        let lines = |mark: char, text: &str| text.lines().map(|line| format!("{mark}{line}\n")).collect::<String>();
        let (old_count, new_count) = (old.lines().count() + 1, new.lines().count() + 1);
        let head = format!("diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n@@ -1,{old_count} +1,{new_count} @@\n");
        let text = format!("{head} {first}\n{}{}", lines('-', old), lines('+', new));
        let mut change = parse_diff(text.as_bytes()).unwrap();
        change.files[0].new_text = Some(format!("{first}\n{new}\n").into());
        let rules = RuleSet::new(load::built_in().unwrap()).unwrap();
        scan(&rules, &change, |_| true).unwrap().claims.len()
    }

    /// Issue 3, point 5: what was there before is not this change's fault, however it is indented now.
    #[test]
    fn code_that_was_only_moved_is_left_alone() {
        let new = "if x:\n    requests.get(u, verify=False, timeout=9)";
        assert_eq!(found("a.py", "import requests", "requests.get(u, verify=False, timeout=9)", new), 0);
        assert_eq!(found("a.py", "import requests", "requests.get(\n    u, verify=False, timeout=9)", new), 0);
        assert_eq!(found("a.py", "import requests", "requests.get(u, timeout=9)", new), 1);
    }

    #[test]
    fn the_same_construct_in_a_new_line_is_not_new() {
        let call = "requests.get(u, verify=False, timeout=9)";
        assert_eq!(found("a.py", "import requests", &format!("return {call}"), &format!("answer = {call}\nreturn answer")), 0);
        assert_eq!(found("a.py", "import requests", &format!("# {call}"), &format!("answer = {call}")), 1);
    }

    #[test]
    fn one_removal_does_not_answer_for_a_copy() {
        let call = "requests.get(u, verify=False, timeout=9)";
        assert_eq!(found("a.py", "import requests", call, &format!("a = {call}\nb = {call}")), 1);
    }

    #[test]
    fn a_guard_that_goes_leaves_something_new() {
        let option = "  curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 0L);";
        let old = format!("  if (insecure) {{\n{option}\n  }}\n}}");
        assert_eq!(found("a.c", "void get(CURL *curl, int insecure) {", &old, &format!("{option}\n}}")), 1);
    }
}
