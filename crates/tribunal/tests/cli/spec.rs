//! `--spec` and the spec auditor (PR-19, PR-39, PR-51, PR-53).

use super::sandbox::{SHARED_LIST_LINE, SHARED_LIST_RULE, Sandbox, answering, claim, str_of};
use serde_json::{Value, json};

const SPEC: &str = "Adding an item returns the list of that call alone.";

fn seat_auditor(sandbox: &Sandbox, findings: Value) {
    let command = sandbox.script("auditor.sh", &answering(&json!({ "findings": findings })));
    sandbox.configure_person(&format!(
        "[panel]\nspec-auditor = [\"auditor\"]\n[agents.auditor]\nkind = \"command\"\ncommand = {command}\n"
    ));
}

/// PR-5, PR-39: a spec calls the spec auditor; the built-in rules cannot read one, and say so instead of finding nothing.
#[test]
fn rules_alone_cannot_audit_a_spec_and_say_so() {
    let sandbox = Sandbox::with_shared_list();
    let review = sandbox.review(&["--spec", SPEC]).ends_with(3);
    assert_eq!(review.text("outcome"), "incomplete");
    assert!(review.text("summary_line").contains("spec-auditor failed"), "{}", review.text("summary_line"));
    assert!(str_of(&review.json["subagent_failures"][0], "reason").contains("cannot read a spec"));
    assert_eq!(review.found(), [format!("app.py:{SHARED_LIST_RULE}")]);
}

/// PR-19: without a spec the auditor is not called, and nobody guesses one.
#[test]
fn without_a_spec_the_auditor_is_not_called() {
    let sandbox = Sandbox::with_shared_list();
    seat_auditor(&sandbox, json!([]));
    let review = sandbox.review(&[]).ends_with(0);
    assert!(
        review.json["receipt"]["not_called"]
            .as_array()
            .unwrap()
            .contains(&json!({ "role": "spec-auditor", "reason": "no spec was given" }))
    );
}

/// PR-51, PR-104: a spec without a word is no spec; it is refused instead of audited.
#[test]
fn an_empty_spec_is_refused() {
    let sandbox = Sandbox::with_shared_list();
    let file = sandbox.outside().join("empty.md");
    std::fs::write(&file, " \n\n").unwrap();
    for spec in [file.to_str().unwrap(), "", "  "] {
        sandbox.tribunal(&["review", "--spec", spec]).ends_with(2).says("is empty");
        sandbox.tribunal(&["review", "--spec", SPEC, "--spec", spec]).ends_with(2).says("is empty");
    }
    sandbox.tribunal(&["history"]).prints("No reviews yet");
}

/// PR-58: the auditor quotes the spec and the code, both verbatim; the finding counts like any other.
#[test]
fn a_violated_rule_of_the_spec_is_a_finding() {
    let sandbox = Sandbox::with_shared_list();
    let mut broken = claim("C4", SHARED_LIST_LINE, "Calls share one list.");
    broken["spec_quote"] = SPEC.into();
    broken["severity"] = "blocker".into();
    seat_auditor(&sandbox, json!([broken]));
    let review = sandbox.review(&["--spec", SPEC]).ends_with(1);
    assert_eq!(review.finding("decision-conflict")["p_code"], "P0");
}

/// PR-58: a quote that the spec does not hold is no quote.
#[test]
fn a_made_up_quote_of_the_spec_is_dropped_and_counted() {
    let sandbox = Sandbox::with_shared_list();
    let mut broken = claim("C4", SHARED_LIST_LINE, "Calls share one list.");
    broken["spec_quote"] = "Items are immutable.".into();
    seat_auditor(&sandbox, json!([broken]));
    let review = sandbox.review(&["--spec", SPEC]).ends_with(0);
    assert_eq!(review.json["receipt"]["dropped"], json!({ "spec-quote-not-in-spec": 1 }));
}

/// PR-53, PR-107: a spec gap is a question to the spec's author; it is shown and never blocks, at no fail level.
#[test]
fn a_spec_gap_is_asked_and_never_blocks() {
    let sandbox = Sandbox::with_shared_list();
    let mut gap = claim("C4", SHARED_LIST_LINE, "Spec gap: what an empty list means");
    gap["severity"] = "blocker".into();
    gap["spec_quote"] = SPEC.into();
    gap["questions"] = json!(["Is an empty list allowed?"]);
    seat_auditor(&sandbox, json!([gap]));
    sandbox.configure_person(&format!(
        "[rules]\ndisable = [\"{SHARED_LIST_RULE}\"]\n[panel]\nspec-auditor = [\"auditor\"]\n[agents.auditor]\nkind = \"command\"\ncommand = [\"sh\", \"{}\"]\n",
        sandbox.root().join("agents/auditor.sh").display()
    ));
    let review = sandbox.review(&["--spec", SPEC, "--fail-level", "P3"]).ends_with(0);
    assert!(review.found().is_empty(), "{:?}", review.found());
    let gaps = review.json["spec_gaps"].as_array().unwrap();
    assert_eq!(gaps.len(), 1);
    assert_eq!((str_of(&gaps[0], "spec_quote"), str_of(&gaps[0], "code_quote")), (SPEC, SHARED_LIST_LINE));
    assert_eq!(gaps[0]["questions"], json!(["Is an empty list allowed?"]));
    assert_eq!(review.text("status"), "approved-with-notes");
    sandbox.tribunal(&["show"]).prints("? Is an empty list allowed?");
    sandbox.tribunal(&["show", "--format", "markdown"]).prints("❓ Spec gap questions (1)");
}

/// PR-19: a spec is a file, or text, or several.
#[test]
fn a_spec_may_be_a_file() {
    let sandbox = Sandbox::with_shared_list();
    let file = sandbox.outside().join("spec.md");
    std::fs::write(&file, SPEC).unwrap();
    let mut broken = claim("C2", SHARED_LIST_LINE, "Calls share one list.");
    broken["spec_quote"] = SPEC.into();
    seat_auditor(&sandbox, json!([broken]));
    let review = sandbox.review(&["--spec", file.to_str().unwrap(), "--spec", "Another sentence that matters."]).ends_with(0);
    assert_eq!(review.finding("requirement-coverage")["p_code"], "P1");
}
