use super::*;
use crate::rules::examples::changes;
use crate::rules::load::{built_in, built_in_with_examples};
use crate::rules::scan::scan;
use tribunal_core::diff::change::Change;

/// A rule that is not compiled because its words are missing would have found nothing: over the examples of all rules, each looked at by
/// all rules, the same is said as by rules of which no word is known.
#[test]
fn rules_without_their_words_find_nothing() {
    let lazy = built_in().unwrap();
    let known = lazy.iter().filter(|rule| !rule.needs.is_empty()).count();
    let syntax = lazy.iter().filter(|rule| rule.file.rule.is_some()).count();
    assert!(known * 10 > syntax * 6, "words are known of {known} rules out of {syntax}");
    let eager: Vec<LoadedRule> = lazy.iter().cloned().map(|rule| LoadedRule { needs: &[], ..rule }).collect();
    let (lazy, eager) = (RuleSet::new(lazy).unwrap(), RuleSet::new(eager).unwrap());
    let rules = built_in_with_examples().unwrap();
    let examples = rules.iter().flat_map(|rule| {
        let examples = rule.file.examples.bad.iter().chain(&rule.file.examples.good);
        examples.flat_map(|example| changes(&rule.file, example))
    });
    // Each bad one is found by its own rule in another test; here every third will do.
    let changes: Vec<(String, Change)> = examples.step_by(3).filter_map(|(label, change)| Some((label, change.ok()?))).collect();
    assert!(changes.len() > 500, "{}", changes.len());
    changes.par_iter().for_each(|(label, change)| {
        let claims = |set: &RuleSet| scan(set, change, |_| true).unwrap().claims;
        assert_eq!(claims(&lazy), claims(&eager), "{label}");
    });
}

/// Small files need few rules, which is what the words are for.
#[test]
fn few_rules_are_compiled_for_a_small_file() {
    let set = RuleSet::new(built_in().unwrap()).unwrap();
    let python = set.syntax_rules(Language::Python).unwrap().unwrap();
    let few = python.for_text("LIMIT = 1\n", |_| true).unwrap().matchers.len();
    assert!(few * 3 < python.rules.len(), "{few} of {}", python.rules.len());
    let more = python.for_text("import yaml\nyaml.load(text)\n", |_| true).unwrap();
    assert!(more.matchers.iter().any(|rule| rule.rule.file.id.contains("yaml")));
}
