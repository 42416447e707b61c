//! Whether a fix does what it must, tried out on the file: it parses as before, its rule has nothing more to say there, and no other
//! rule has. A fix that fails this is not made unattended, whoever wrote its rule.

use super::compile::RuleSet;
use super::examples::added;
use super::misread::language_of;
use super::scan::scan;
use ast_grep_core::tree_sitter::LanguageExt;
use std::collections::BTreeMap;
use tribunal_context::grammar::Grammar;
use tribunal_core::diff::language::Language;
use tribunal_core::findings::report::{Claim, Fix};
use tribunal_core::ids::RepoPath;
use tribunal_core::remedy::edits::apply;
use tribunal_core::remedy::splice::{edit, splices};

/// The file after a fix.
pub fn fixed(fix: &Fix, path: &RepoPath, text: &str) -> Option<String> {
    let edit = edit(&splices(fix, path, text)?, text)?;
    apply(&[edit], |_| Some(text.to_owned())).ok()?.remove(path)
}

/// What is wrong with the fix of one of the `claims` about a file, in one sentence.
pub fn problem(rules: &RuleSet, path: &RepoPath, text: &str, claims: &[Claim], claim: &Claim) -> Option<String> {
    let Some(after) = claim.fix.as_ref().and_then(|fix| fixed(fix, path, text)) else {
        return Some("the fix cannot be applied".into());
    };
    let change = added(path.as_str(), &after);
    let language = change.files.first().and_then(language_of);
    if let Some(language) = language
        && errors(language, &after) > errors(language, text)
    {
        return Some(format!("the fix breaks the syntax:\n{after}"));
    }
    let left = match scan(rules, &change, |_| true) {
        Ok(scan) => counts(&scan.claims),
        Err(error) => return Some(error.to_string()),
    };
    let before = counts(claims);
    let of = |counts: &BTreeMap<String, usize>, rule: &str| counts.get(rule).copied().unwrap_or(0);
    let rule = claim.rule.clone().unwrap_or_default();
    if of(&left, &rule) >= of(&before, &rule) {
        return Some(format!("the rule still matches after its fix:\n{after}"));
    }
    // A general rule is silent beside another one, so it may speak where the fixed one no longer does.
    let uncovered = of(&before, &rule) - of(&left, &rule);
    let is_general = |rule: &str| rules.get(rule).is_some_and(|rule| rule.file.general);
    let allowed = |rule: &str| of(&before, rule) + if is_general(rule) { uncovered } else { 0 };
    let new = left.iter().find(|(rule, count)| **count > allowed(rule))?;
    Some(format!("the fix makes {} match:\n{after}", new.0))
}

fn counts(claims: &[Claim]) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for claim in claims {
        *counts.entry(claim.rule.clone().unwrap_or_default()).or_default() += 1;
    }
    counts
}

/// How many places of a text a grammar cannot read.
fn errors(language: Language, text: &str) -> usize {
    let tree = Grammar::from(language).ast_grep(text);
    tree.root().dfs().filter(|node| node.is_error() || node.is_missing()).count()
}
