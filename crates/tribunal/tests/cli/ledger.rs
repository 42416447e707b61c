//! The ledger: what was reviewed can be listed, shown, replayed and compared (issue 3, point 9).

use super::sandbox::{CLEAN, NO_TLS, NO_TLS_RULE, SHARED_LIST_RULE, Sandbox, str_of};

/// Two reviews: a shared list; then, the list fixed and a certificate unchecked.
fn two_reviews() -> (Sandbox, String, String) {
    let sandbox = Sandbox::with_shared_list();
    let first = sandbox.review(&[]).ends_with(0);
    sandbox.write("app.py", CLEAN);
    sandbox.write("tls.py", NO_TLS);
    sandbox.commit("Fix one, make one");
    let second = sandbox.review(&[]).ends_with(1);
    let run = |json: &serde_json::Value| str_of(&json["receipt"], "run").to_owned();
    let (a, b) = (run(&first.json), run(&second.json));
    assert_ne!(a, b);
    (sandbox, a, b)
}

#[test]
fn history_lists_reviews_newest_first() {
    let (sandbox, first, second) = two_reviews();
    let rows = sandbox.tribunal(&["history", "--format", "json"]).ends_with(0).json();
    let runs: Vec<&str> = rows.as_array().unwrap().iter().map(|row| str_of(row, "run")).collect();
    assert_eq!(runs, [second.as_str(), first.as_str()]);
    let one = sandbox.tribunal(&["history", "-n", "1"]).ends_with(0).prints(&second);
    assert!(!one.stdout.contains(&first));
}

#[test]
fn history_is_empty_before_the_first_review() {
    Sandbox::on_feature().tribunal(&["history"]).ends_with(0).prints("No reviews yet");
}

/// Issue 3, point 9: `show RUN` prints what the review printed, in every format.
#[test]
fn show_prints_what_the_review_printed_in_every_format() {
    let sandbox = Sandbox::with_shared_list();
    for format in ["text", "json", "sarif", "rdjson", "markdown"] {
        let printed = sandbox.tribunal(&["review", "--mode", "full", "--format", format]).ends_with(0).stdout;
        assert!(printed.contains(SHARED_LIST_RULE), "{printed}");
        assert_eq!(sandbox.tribunal(&["show", "last", "--format", format]).ends_with(0).stdout, printed, "{format}");
    }
}

#[test]
fn a_run_is_found_by_its_id_and_by_its_beginning() {
    let (sandbox, first, _) = two_reviews();
    sandbox.tribunal(&["show", &first]).ends_with(0).prints(SHARED_LIST_RULE);
    sandbox.tribunal(&["show", &first[..first.len() - 1], "--format", "json"]).ends_with(0).prints(&first);
}

#[test]
fn a_beginning_that_fits_two_runs_is_refused() {
    let (sandbox, ..) = two_reviews();
    sandbox.tribunal(&["show", "r"]).ends_with(2).says("several runs");
}

#[test]
fn an_unknown_run_is_refused() {
    let (sandbox, ..) = two_reviews();
    for command in [&["show", "r0"][..], &["replay", "r0"], &["compare", "r0", "last"]] {
        sandbox.tribunal(command).ends_with(2).says("unknown-run");
    }
}

/// Issue 3, point 9: replaying the recorded inputs gives the same bytes, without the agents, the rules or git.
#[test]
fn a_replay_gives_the_same_bytes() {
    let sandbox = Sandbox::with_shared_list();
    let printed = sandbox.tribunal(&["review", "--format", "json"]).ends_with(0).stdout;
    let replayed = sandbox.tribunal(&["replay", "last", "--format", "json"]).ends_with(0).says("the same");
    assert_eq!(replayed.stdout, printed);
}

/// An incremental review is replayed from what it knew then, not from what is known now.
#[test]
fn an_incremental_review_is_replayed_too() {
    let (sandbox, first, second) = two_reviews();
    for run in [&first, &second] {
        let shown = sandbox.tribunal(&["show", run, "--format", "json"]).stdout;
        assert_eq!(sandbox.tribunal(&["replay", run, "--format", "json"]).ends_with(0).stdout, shown);
    }
}

/// Issue 3, point 9: which findings appear and vanish.
#[test]
fn compare_says_what_appeared_and_vanished() {
    let (sandbox, first, second) = two_reviews();
    let run = sandbox.tribunal(&["compare", &first, &second]).ends_with(0).prints("1 appeared, 1 vanished, 0 stayed");
    assert!(run.stdout.lines().any(|line| line.starts_with("+ ") && line.contains(NO_TLS_RULE)), "{}", run.stdout);
    assert!(run.stdout.lines().any(|line| line.starts_with("- ") && line.contains(SHARED_LIST_RULE)), "{}", run.stdout);
    let json = sandbox.tribunal(&["compare", &first, &second, "--format", "json"]).json();
    assert_eq!(json["appeared"][0]["slug"], NO_TLS_RULE);
    assert_eq!(json["vanished"][0]["slug"], SHARED_LIST_RULE);
}

#[test]
fn a_review_compared_with_itself_is_the_same() {
    let (sandbox, first, _) = two_reviews();
    sandbox.tribunal(&["compare", &first, &first]).ends_with(0).prints("0 appeared, 0 vanished, 1 stayed");
}

#[test]
fn there_is_nothing_to_resume_after_a_finished_run() {
    let sandbox = Sandbox::with_shared_list();
    sandbox.tribunal(&["review", "--resume"]).ends_with(2).says("no unfinished run");
    sandbox.tribunal(&["review"]).ends_with(0);
    sandbox.tribunal(&["review", "--resume"]).ends_with(2).says("no unfinished run");
}

/// A bare diff outside of a repository is kept in the person's own state.
#[test]
fn a_review_outside_of_a_repository_is_recorded_for_the_person() {
    let sandbox = Sandbox::with_shared_list();
    let diff = sandbox.git(&["diff", "main", "feature"]) + "\n";
    sandbox.tribunal_reading(&sandbox.outside(), &["review", "--stdin"], diff);
    sandbox.tribunal_in(&sandbox.outside(), &["history"]).ends_with(0).prints("standard input");
    sandbox.tribunal(&["history"]).ends_with(0).prints("No reviews yet");
}
