//! The second review of a branch builds on the first where that is safe, and widens wherever it is not (issue 3, point 7).

use super::sandbox::{
    CLEAN, Document, NO_TLS, NO_TLS_RULE, SHARED_LIST, SHARED_LIST_LINE, SHARED_LIST_RULE, Sandbox, answering, claim, str_of,
};
use serde_json::json;

/// `feature` with a P0 in `tls.py` (F1) and a P1 in `app.py` (F2), reviewed once.
fn reviewed() -> Sandbox {
    let sandbox = Sandbox::with_shared_list();
    sandbox.write("tls.py", NO_TLS);
    sandbox.commit("Fetch");
    let review = sandbox.review(&[]).ends_with(1);
    assert_eq!((id_of(&review, NO_TLS_RULE), id_of(&review, SHARED_LIST_RULE)), ("F1".into(), "F2".into()));
    sandbox
}

fn id_of(review: &Document, rule: &str) -> String {
    str_of(review.finding(rule), "id").to_owned()
}

/// (`yes`, `unclear` or `no`; note) of an earlier finding.
#[track_caller]
fn verification(review: &Document, id: &str) -> (String, String) {
    let all = review.json["prior_verifications"].as_array().unwrap();
    let prior = all.iter().find(|prior| prior["prior_id"] == id).unwrap_or_else(|| panic!("{id} was not verified: {all:?}"));
    (str_of(prior, "verification").to_owned(), str_of(prior, "note").to_owned())
}

/// PR-22, PR-28, PR-34: the same head again is a noop that repeats the last result, one line on stderr, with the same exit code.
#[test]
fn the_same_head_again_repeats_the_result() {
    let sandbox = reviewed();
    let mut shown = sandbox.tribunal(&["show", "--format", "json"]).json();
    let again = sandbox.tribunal(&["review", "--format", "json"]).ends_with(1).says("Nothing new since").says("--mode full");
    shown["status"] = "noop".into();
    assert_eq!(again.json(), shown);
    assert_eq!(again.stderr.lines().count(), 1);
    assert_eq!(sandbox.tribunal(&["history", "--format", "json"]).json().as_array().unwrap().len(), 1);
}

/// PR-11, PR-70, PR-72: what is gone is likely fixed, with a note; what stands is carried under its name, and still blocks.
#[test]
fn one_fixed_and_one_left() {
    let sandbox = reviewed();
    sandbox.write("app.py", CLEAN.replace("add", "join"));
    let head = sandbox.commit("Fix the list");
    let review = sandbox.review(&[]).ends_with(1);
    assert_eq!(review.json["receipt"]["mode"], "incremental");
    assert_eq!(review.json["head"], head);
    let (fixed, note) = verification(&review, "F2");
    assert_eq!(fixed, "yes");
    assert!(note.contains(SHARED_LIST_RULE), "{note}");
    assert_eq!(verification(&review, "F1").0, "no");
    assert_eq!(review.found(), [format!("tls.py:{NO_TLS_RULE}")]);
    assert_eq!(id_of(&review, NO_TLS_RULE), "F1");
    assert_eq!(review.text("status"), "blocking");
    let shown = sandbox.tribunal(&["show"]).prints("Likely fixed").prints("Still present");
    assert!(!shown.stdout.contains("✅ Fixed"));
}

/// PR-135: names are never given twice; a new finding gets the next one, also after one is gone.
#[test]
fn a_new_finding_gets_the_next_name() {
    let sandbox = reviewed();
    sandbox.write("app.py", CLEAN);
    sandbox.commit("Fix the list");
    sandbox.review(&[]).ends_with(1);
    sandbox.write("third.py", SHARED_LIST);
    sandbox.commit("Another list");
    let review = sandbox.review(&[]).ends_with(1);
    assert_eq!(id_of(&review, SHARED_LIST_RULE), "F3");
    assert_eq!(id_of(&review, NO_TLS_RULE), "F1");
}

/// Design rule 4: a finding keeps its name when its lines move, and moving is not fixing (PR-11).
#[test]
fn a_moved_line_keeps_its_name_and_stays_open() {
    let sandbox = reviewed();
    sandbox.write("tls.py", format!("\"\"\"Fetches pages.\"\"\"\n\n{NO_TLS}"));
    sandbox.commit("Move it down");
    let review = sandbox.review(&[]).ends_with(1);
    assert_eq!(verification(&review, "F1").0, "no");
    assert_eq!(id_of(&review, NO_TLS_RULE), "F1");
    assert_eq!(review.findings().count(), 2, "{:?}", review.found());
}

/// PR-11, design rule 4: a moved file takes its findings along, under their names; moving is not fixing. Committed or not.
#[test]
fn a_moved_file_keeps_its_findings() {
    for committed in [true, false] {
        let sandbox = reviewed();
        std::fs::rename(sandbox.path().join("tls.py"), sandbox.path().join("net.py")).unwrap();
        sandbox.git(&["mv", "app.py", "list.py"]);
        if committed {
            sandbox.commit("Move");
        }
        let review = sandbox.review(&[]).ends_with(1);
        assert_eq!(review.json["receipt"]["mode"], "incremental");
        assert_eq!(review.found(), [format!("list.py:{SHARED_LIST_RULE}"), format!("net.py:{NO_TLS_RULE}")]);
        assert_eq!((id_of(&review, NO_TLS_RULE), id_of(&review, SHARED_LIST_RULE)), ("F1".into(), "F2".into()));
        assert_eq!((verification(&review, "F1").0, verification(&review, "F2").0), ("no".into(), "no".into()));
        assert_eq!(review.json["dropped"], json!([]));
        sandbox.write("net.py", CLEAN.replace("add", "join"));
        let fixed = sandbox.review(&[]).ends_with(0);
        assert_eq!(verification(&fixed, "F1").0, "yes", "and is verified where it is now");
    }
}

/// The same for what an agent found, which no rule can verify; and what it says of a moved file is inside the window.
#[test]
fn a_moved_file_keeps_the_findings_of_agents() {
    let sandbox = Sandbox::with_shared_list();
    sandbox.seat("staff-engineer", &answering(&json!({ "findings": [claim("E1", "    return items", "It breaks.")] })));
    let id = id_of(&sandbox.review(&[]).ends_with(0), "error-handling");
    let mut late = claim("E1", "    items.append(item)", "Under this name it breaks.");
    late["file"] = "list.py".into();
    sandbox.script("helper.sh", &answering(&json!({ "findings": [late] })));
    sandbox.git(&["mv", "app.py", "list.py"]);
    sandbox.commit("Move");
    let review = sandbox.review(&[]).ends_with(0);
    assert_eq!(review.json["dropped"], json!([]));
    assert_eq!(verification(&review, &id).0, "unclear");
    let kept = review.findings().find(|finding| finding["id"] == id.as_str()).unwrap();
    assert_eq!((str_of(kept, "file"), str_of(kept, "failure_mode")), ("list.py", "It breaks."));
    assert_eq!(review.findings().count(), 3, "{:?}", review.found());
}

/// Issue 3, point 7: code that was moved where git sees no rename is read as new.
#[test]
fn a_defect_that_went_elsewhere_is_found_there() {
    let sandbox = reviewed();
    sandbox.git(&["rm", "--quiet", "tls.py"]);
    let padding: String = (0..40).map(|n| format!("VALUE_{n} = {n}\n")).collect();
    sandbox.write("net.py", format!("{padding}\n\n{NO_TLS}"));
    sandbox.commit("Rewrite");
    let review = sandbox.review(&[]).ends_with(1);
    assert_eq!(review.json["receipt"]["mode"], "incremental");
    assert_eq!(review.found(), [format!("app.py:{SHARED_LIST_RULE}"), format!("net.py:{NO_TLS_RULE}")]);
}

/// Issue 3, point 7: a file is read again when what it is compared with is another, though not a byte of it changed.
#[test]
fn a_copy_is_new_once_its_original_is_put_back() {
    let sandbox = Sandbox::on_feature_from(&[("old.py", NO_TLS), ("app.py", CLEAN)]);
    sandbox.git(&["mv", "old.py", "new.py"]);
    sandbox.write("app.py", SHARED_LIST);
    sandbox.commit("Move");
    assert_eq!(sandbox.review(&[]).ends_with(0).found(), [format!("app.py:{SHARED_LIST_RULE}")], "what moved was there before");
    sandbox.git(&["checkout", "--quiet", "main", "--", "old.py"]);
    sandbox.commit("Put it back");
    let review = sandbox.review(&[]).ends_with(1);
    assert_eq!(review.json["receipt"]["mode"], "incremental");
    assert_eq!(review.found(), [format!("app.py:{SHARED_LIST_RULE}"), format!("new.py:{NO_TLS_RULE}")]);
}

/// Design rule 4: a function that got another name keeps its finding; of two equal lines in two functions the one that is gone
/// is closed and the other is not.
#[test]
fn equal_lines_are_told_apart_by_their_functions() {
    let call = "    return requests.get(url, timeout=5, verify=False)\n";
    let text = |names: &[&str]| {
        names.iter().fold("import requests\n".to_owned(), |text, name| format!("{text}\n\ndef {name}(url):\n{call}"))
    };
    let sandbox = Sandbox::on_feature();
    sandbox.write("tls.py", text(&["one", "two"]));
    sandbox.commit("Fetch");
    sandbox.review(&[]).ends_with(1);
    sandbox.write("tls.py", text(&["one", "other"]));
    sandbox.commit("Rename");
    let ids = |review: &Document| review.findings().map(|found| str_of(found, "id").to_owned()).collect::<Vec<_>>();
    assert_eq!(ids(&sandbox.review(&[]).ends_with(1)), ["F1", "F2"]);
    sandbox.write("tls.py", text(&["other"]));
    sandbox.commit("Less");
    let review = sandbox.review(&[]).ends_with(1);
    assert_eq!(
        (ids(&review), verification(&review, "F1").0, verification(&review, "F2").0),
        (vec!["F2".into()], "yes".into(), "no".into())
    );
}

/// PR-31: fresh findings lie in what changed since the last review; files that did not change are left to it.
#[test]
fn files_that_did_not_change_are_left_to_the_last_review() {
    let sandbox = Sandbox::on_feature();
    sandbox.write("one.py", "x = 1\n");
    sandbox.commit("One");
    sandbox.review(&[]).ends_with(0);
    sandbox.write("two.py", NO_TLS);
    sandbox.commit("Two");
    let review = sandbox.review(&[]).ends_with(1);
    assert_eq!((review.ended("one.py").as_str(), review.ended("two.py").as_str()), ("unchanged", "reviewed"));
}

/// Issue 3, point 7: `.gitattributes` cannot hide from the second review what it cannot hide from the first.
#[test]
fn text_hidden_by_attributes_is_seen_by_every_review() {
    for attribute in ["-diff", "binary"] {
        let sandbox = Sandbox::on_feature();
        sandbox.write(".gitattributes", format!("*.py {attribute}\n"));
        sandbox.write("late.py", "import requests\n");
        sandbox.commit("Hide");
        sandbox.review(&[]).ends_with(0);
        sandbox.write("late.py", NO_TLS);
        sandbox.commit("Fetch");
        let review = sandbox.review(&[]).ends_with(1);
        assert_eq!(review.json["receipt"]["mode"], "incremental");
        assert_eq!(review.found(), [format!("late.py:{NO_TLS_RULE}")]);
    }
}

/// The same for a file that is gone: it is read as deleted text, and its findings are closed.
#[test]
fn hidden_text_that_was_deleted_closes_its_findings() {
    let sandbox = Sandbox::on_feature_from(&[(".gitattributes", "*.py -diff\n"), ("tls.py", "import requests\n")]);
    sandbox.write("tls.py", NO_TLS);
    sandbox.write("app.txt", "x\n");
    sandbox.commit("Fetch");
    sandbox.review(&[]).ends_with(1);
    sandbox.git(&["rm", "--quiet", "tls.py"]);
    sandbox.commit("Remove");
    let review = sandbox.review(&[]).ends_with(0);
    assert_eq!((review.ended("tls.py").as_str(), verification(&review, "F1").0), ("reviewed", "yes".into()));
}

/// Issue 3, point 7: an amended commit is compared by what it holds; the last head need not be an ancestor.
#[test]
fn amended_history_is_compared_by_trees() {
    let sandbox = reviewed();
    sandbox.write("app.py", CLEAN);
    sandbox.git(&["commit", "--quiet", "--all", "--amend", "-m", "Amended"]);
    let review = sandbox.review(&[]).ends_with(1);
    assert_eq!(review.json["receipt"]["mode"], "incremental");
    assert_eq!(verification(&review, "F2").0, "yes");
    assert_eq!(id_of(&review, NO_TLS_RULE), "F1");
}

/// PR-25, PR-26: the last head is gone: a full review, announced.
#[test]
fn a_last_head_that_is_gone_widens_to_full() {
    let sandbox = reviewed();
    sandbox.git(&["commit", "--quiet", "--amend", "-m", "Amended"]);
    sandbox.write("third.py", SHARED_LIST);
    sandbox.git(&["add", "third.py"]);
    sandbox.git(&["commit", "--quiet", "--amend", "-m", "Amended again"]);
    sandbox.git(&["reflog", "expire", "--expire=now", "--all"]);
    sandbox.git(&["gc", "--quiet", "--prune=now"]);
    let review = sandbox.review(&[]).ends_with(1);
    assert_eq!(review.json["receipt"]["mode"], "full");
    assert!(review.notices().contains("is gone"), "{}", review.notices());
    assert_eq!(id_of(&review, NO_TLS_RULE), "F1");
    sandbox.tribunal(&["show", "--format", "markdown"]).prints("> ⚠️ ");
}

#[track_caller]
fn widens(sandbox: &Sandbox, why: &str) -> Document {
    let review = sandbox.review(&[]);
    assert_eq!(review.json["receipt"]["mode"], "full");
    assert!(review.notices().contains(why), "{}", review.notices());
    review
}

/// Issue 3, point 7: another configuration may judge otherwise.
#[test]
fn another_configuration_widens_to_full() {
    let sandbox = reviewed();
    sandbox.configure_person("[review]\nmax_inline_p2 = 3\n");
    widens(&sandbox, "configuration, rules, roles, inputs or the engine changed");
}

/// Issue 3, point 7: another rule may find something in what was clean.
#[test]
fn another_rule_widens_to_full() {
    let sandbox = reviewed();
    sandbox.configure_person(&format!("[rules]\ndisable = [\"{NO_TLS_RULE}\"]\n"));
    let review = widens(&sandbox, "rules");
    assert_eq!(review.found(), [format!("app.py:{SHARED_LIST_RULE}")]);
    let (gone, note) = verification(&review, "F1");
    assert!(gone == "yes" && note.contains("is switched off"), "{note}");
}

/// Issue 3, point 7: inputs such as the context are part of what a review must match to be built on.
#[test]
fn other_inputs_widen_to_full() {
    let sandbox = reviewed();
    let review = sandbox.review(&["--context", "This service is critical."]);
    assert_eq!(review.json["receipt"]["mode"], "full");
}

/// Issue 3, point 7: another base is another change.
#[test]
fn a_moved_base_widens_to_full() {
    let sandbox = reviewed();
    sandbox.switch("main");
    sandbox.write("other.py", "x = 1\n");
    sandbox.commit("Meanwhile");
    sandbox.switch("feature");
    sandbox.git(&["rebase", "--quiet", "main"]);
    let review = widens(&sandbox, "the base moved");
    assert_eq!(id_of(&review, NO_TLS_RULE), "F1", "names survive a rebase");
}

/// `feature` with a P0 that an agent reported once, and that it says nothing of from now on.
fn reported_once() -> Sandbox {
    let sandbox = Sandbox::with_shared_list();
    let mut blocker = claim("E1", "    return items", "It breaks.");
    blocker["severity"] = "blocker".into();
    sandbox.seat("staff-engineer", &answering(&json!({ "findings": [blocker] })));
    assert_eq!(sandbox.review(&[]).ends_with(1).finding("error-handling")["p_code"], "P0");
    sandbox.script("helper.sh", &answering(&json!({ "findings": [] })));
    sandbox
}

#[track_caller]
fn still_blocks(review: &Document) {
    let kept = review.finding("error-handling");
    assert_eq!((str_of(kept, "p_code"), str_of(kept, "origin")), ("P0", "carried"));
    assert_eq!(verification(review, str_of(kept, "id")).0, "unclear");
    assert_eq!(review.text("verdict"), "MAJOR");
}

/// Issue 18, section 0 point 1: the base moves in another file, and after the rebase the agent is silent. The same for everything else
/// that makes a review a full one.
#[test]
fn a_full_review_keeps_what_an_agent_reported() {
    let sandbox = reported_once();
    sandbox.switch("main");
    sandbox.write("other.py", "x = 1\n");
    sandbox.commit("Meanwhile");
    sandbox.switch("feature");
    sandbox.git(&["rebase", "--quiet", "main"]);
    let review = widens(&sandbox, "the base moved").ends_with(1);
    still_blocks(&review);
    still_blocks(&sandbox.review(&["--mode", "full"]).ends_with(1));
    still_blocks(&sandbox.review(&["--context", "This service is critical."]).ends_with(1));
    sandbox.git(&["commit", "--quiet", "--amend", "-m", "Amended"]);
    sandbox.write("third.py", "x = 1\n");
    sandbox.git(&["add", "third.py"]);
    sandbox.git(&["commit", "--quiet", "--amend", "-m", "Amended again"]);
    sandbox.git(&["reflog", "expire", "--expire=now", "--all"]);
    sandbox.git(&["gc", "--quiet", "--prune=now"]);
    still_blocks(&sandbox.review(&[]).ends_with(1));
    sandbox.tribunal(&["show", "--format", "markdown"]).prints("## 🔄 Earlier findings").prints("⏸️ Untouched");
}

/// A file that equals the base again takes an agent's finding along, unless its code went elsewhere. The reason is recorded.
#[test]
fn a_reverted_file_closes_an_agents_finding_on_record() {
    let sandbox = reported_once();
    sandbox.write("keep.py", "x = 1\n");
    sandbox.git(&["checkout", "--quiet", "main", "--", "app.py"]);
    sandbox.commit("Put it back");
    let review = sandbox.review(&[]).ends_with(0);
    let closed =
        review.json["prior_verifications"].as_array().unwrap().iter().find(|prior| prior["slug"] == "error-handling").unwrap();
    assert_eq!((&closed["verification"], &closed["by"]), (&"yes".into(), &"comparison".into()));
    sandbox.tribunal(&["show"]).prints("No longer part of the change — app.py no longer differs from the base");

    let sandbox = reported_once();
    sandbox.git(&["checkout", "--quiet", "main", "--", "app.py"]);
    let padding: String = (0..40).map(|n| format!("VALUE_{n} = {n}\n")).collect();
    sandbox.write("list.py", format!("{padding}\n\n{SHARED_LIST}"));
    sandbox.commit("Move the code");
    still_blocks(&sandbox.review(&[]).ends_with(1));
}

/// Against another base it is another change, and closes nothing of this one.
#[test]
fn another_base_is_another_case() {
    let sandbox = reported_once();
    sandbox.write("later.py", "x = 1\n");
    sandbox.commit("Later");
    assert_eq!(sandbox.review(&["--base", "HEAD~1"]).ends_with(0).json["prior_verifications"], json!([]));
    still_blocks(&sandbox.review(&[]).ends_with(1));
}

/// A reviewer is shown the cited place as it is now, also in a full review.
#[test]
fn a_reviewer_sees_the_present_code_of_open_findings() {
    let sandbox = reported_once();
    let script = "brief=$(cat)\nseen=nothing\ncase \"$brief\" in *'\"cited\":\"present\"'*) seen=present;; esac\n\
         printf '{\"findings\": [], \"prior\": [{\"id\": \"F1\", \"verification\": \"no\", \"note\": \"%s\"}]}' \"$seen\"\n";
    sandbox.script("helper.sh", script);
    let review = sandbox.review(&["--mode", "full"]).ends_with(1);
    let id = id_of(&review, "error-handling");
    assert_eq!((id.as_str(), verification(&review, &id)), ("F1", ("no".into(), "present".into())));
}

/// PR-22: `--mode full` reviews again whatever was said before.
#[test]
fn a_full_review_can_be_forced() {
    let sandbox = reviewed();
    let review = sandbox.review(&["--mode", "full"]).ends_with(1);
    assert_eq!(review.json["receipt"]["mode"], "full");
    assert_eq!(review.json["receipt"]["widened"], json!(null));
    assert_eq!((verification(&review, "F1").0, verification(&review, "F2").0), ("no".into(), "no".into()));
    assert_eq!(id_of(&review, NO_TLS_RULE), "F1");
}

/// PR-27: a forced incremental review with nothing to build on is a full one, announced.
#[test]
fn a_forced_incremental_review_without_a_last_one_is_full() {
    let review = Sandbox::with_shared_list().review(&["--mode", "incremental"]).ends_with(0);
    assert_eq!(review.json["receipt"]["mode"], "full");
    assert!(review.notices().contains("no earlier review to build on"), "{}", review.notices());
}

/// Design rule 1: an incomplete review is never built on, and the same head is looked at again.
#[test]
fn an_incomplete_review_is_not_built_on() {
    let sandbox = Sandbox::with_shared_list();
    sandbox.review(&["--spec", "A spec that rules cannot read."]).ends_with(3);
    let review = sandbox.review(&["--spec", "A spec that rules cannot read."]).ends_with(3);
    assert_eq!(review.json["receipt"]["mode"], "full");
    assert!(review.notices().contains("last review was incomplete"), "{}", review.notices());
}

/// Issue 3, point 7: uncommitted work is bound to a tree of its own and is built on like any other head.
#[test]
fn uncommitted_work_is_built_on_too() {
    let sandbox = Sandbox::on_feature();
    sandbox.write("app.py", SHARED_LIST);
    sandbox.review(&[]).ends_with(0);
    sandbox.tribunal(&["review"]).ends_with(0).says("Nothing new");
    sandbox.write("app.py", CLEAN.replace("add", "join"));
    let review = sandbox.review(&[]).ends_with(0);
    assert_eq!(review.json["receipt"]["mode"], "incremental");
    assert_eq!(verification(&review, "F1").0, "yes");
    assert_eq!(review.text("outcome"), "clean");
}

/// A file that was put back as it was no longer differs from the base, and neither does its finding.
#[test]
fn a_reverted_file_closes_its_findings() {
    let sandbox = reviewed();
    sandbox.git(&["checkout", "--quiet", "main", "--", "app.py"]);
    sandbox.commit("Put it back");
    let review = sandbox.review(&[]).ends_with(1);
    assert_eq!(verification(&review, "F2").0, "yes");
    assert_eq!(review.found(), [format!("tls.py:{NO_TLS_RULE}")]);
}

/// PR-11: only a reviewer's yes closes a finding; an agent that says nothing of it leaves it open.
#[test]
fn a_finding_that_nobody_verified_stays_open() {
    let sandbox = Sandbox::with_shared_list();
    sandbox.seat("staff-engineer", &answering(&json!({ "findings": [claim("E1", "    return items", "It breaks.")] })));
    sandbox.review(&[]).ends_with(0);
    sandbox.script("helper.sh", &answering(&json!({ "findings": [] })));
    sandbox.write("app.py", SHARED_LIST.replace("    return items", "    return list(items)"));
    sandbox.commit("Change the line");
    let review = sandbox.review(&[]).ends_with(0);
    let id = id_of(&review, "error-handling");
    assert_eq!(verification(&review, &id).0, "unclear");
    assert_eq!(review.finding("error-handling")["origin"], "carried");
    sandbox.tribunal(&["show"]).prints("Untouched");
}

/// PR-70: an agent's yes with a note closes its finding; one without a note does not.
#[test]
fn a_yes_counts_only_with_a_note() {
    for (note, open) in [("The line was rewritten.", 0), ("", 1)] {
        let sandbox = Sandbox::on_feature();
        sandbox.write("app.py", "def f(items):\n    return items\n");
        sandbox.commit("Work");
        sandbox.seat("staff-engineer", &answering(&json!({ "findings": [claim("E1", "    return items", "It breaks.")] })));
        sandbox.review(&[]).ends_with(0);
        sandbox.script(
            "helper.sh",
            &answering(&json!({ "findings": [], "prior": [{ "id": "F1", "verification": "yes", "note": note }] })),
        );
        sandbox.write("app.py", "def f(items):\n    return list(items)\n");
        sandbox.commit("Rewrite");
        assert_eq!(sandbox.review(&[]).ends_with(0).findings().count(), open, "{note}");
    }
}

/// PR-44: a reviewer is told the open findings of its own categories, and of no other role's.
#[test]
fn a_reviewer_is_told_its_own_open_findings() {
    let sandbox = reviewed();
    let script = "brief=$(cat)\nseen=\nfor id in F1 F2; do case \"$brief\" in *\"\\\"id\\\":\\\"$id\\\"\"*) seen=\"$seen $id\";; esac; done\n\
         case \"$brief\" in *prior_fix_range*) seen=\"$seen range\";; esac\n\
         cat <<REPORT\n{\"findings\": [{\"category\": \"E1\", \"file\": \"app.py\", \"confidence\": \"high\", \"blast\": \"local\",\n\
         \"justification\": \"reachable\", \"evidence\": \"LIMIT = 3\", \"failure_mode\": \"told:$seen\", \"mitigation\": \"m\"}]}\nREPORT\n";
    // The same configuration in both reviews, so that the second one is incremental.
    sandbox.seat("staff-engineer", &answering(&json!({ "findings": [] })));
    sandbox.review(&[]).ends_with(1);
    sandbox.script("helper.sh", script);
    sandbox.write("app.py", format!("{SHARED_LIST}\n\nLIMIT = 3\n"));
    sandbox.commit("More");
    let review = sandbox.review(&[]).ends_with(1);
    assert_eq!(review.json["receipt"]["mode"], "incremental");
    assert_eq!(review.finding("error-handling")["failure_mode"], "told: F2 range");
}

/// PR-31: an agent's claim about lines that did not change since the last review is dropped and counted.
#[test]
fn a_fresh_claim_outside_of_the_window_is_dropped() {
    let sandbox = Sandbox::with_shared_list();
    sandbox.seat("staff-engineer", &answering(&json!({ "findings": [] })));
    sandbox.review(&[]).ends_with(0);
    sandbox.script("helper.sh", &answering(&json!({ "findings": [claim("E1", SHARED_LIST_LINE, "Late.")] })));
    sandbox.write("other.py", "x = 1\n");
    sandbox.commit("Elsewhere");
    let review = sandbox.review(&[]).ends_with(0);
    assert!(!review.found().contains(&"app.py:error-handling".to_owned()));
    assert_eq!(review.json["dropped"][0]["reason"], "outside-window");
}

const GO: &str = "package m\n\nimport (\n\t\"net/http\"\n\t\"time\"\n)\n\nvar client = &http.Client{Timeout: time.Second}\n\nfunc Get(u string) (int, error) {\n\tresp, err := client.Get(u)\n\tif err != nil {\n\t\treturn 0, err\n\t}\n\
     \tdefer resp.Body.Close()\n\treturn resp.StatusCode, nil\n}\n";

/// Issue 3, point 7: to delete a line can be the defect, and the line that a rule then cites is an old one. Design rule 2: what
/// is listed as open is not counted as dropped.
#[test]
fn a_deletion_is_part_of_the_window() {
    let sandbox = Sandbox::on_feature();
    sandbox.write("m.go", GO);
    sandbox.write("tls.py", NO_TLS);
    sandbox.commit("Get");
    sandbox.review(&[]).ends_with(1);
    sandbox.write("m.go", GO.replace("\tdefer resp.Body.Close()\n", ""));
    sandbox.commit("Less");
    let review = sandbox.review(&[]).ends_with(1);
    assert_eq!(review.json["receipt"]["mode"], "incremental");
    assert_eq!(review.found(), ["m.go:go-response-body-leak".to_owned(), format!("tls.py:{NO_TLS_RULE}")]);
    assert_eq!((&review.json["dropped"], &review.json["receipt"]["dropped"]), (&json!([]), &json!({})));
    assert_eq!(review.finding("go-response-body-leak")["origin"], "fresh");
    assert_eq!(review.finding(NO_TLS_RULE)["origin"], "carried");
}

/// Issue 3, point 7: a check of the whole change counts what the last review read, too.
#[test]
fn a_test_that_was_taken_back_is_missed() {
    let test = "from work import work\n\n\ndef test_work():\n    assert work(1) == 1\n";
    let sandbox = Sandbox::on_feature_from(&[("tests/test_work.py", test), ("work.py", "")]);
    let body: String = (0..70).map(|n| format!("    if x == {n}:\n        x += {n}\n")).collect();
    sandbox.write("work.py", format!("def work(x):\n{body}    return x\n"));
    sandbox.write("tests/test_work.py", format!("{test}    assert work(2) == 4\n"));
    sandbox.commit("Work");
    sandbox.review(&[]).ends_with(0);
    sandbox.git(&["checkout", "--quiet", "main", "--", "tests"]);
    sandbox.write("other.py", "x = 1\n");
    sandbox.commit("Take the test back");
    let review = sandbox.review(&[]).ends_with(0);
    assert_eq!(review.json["receipt"]["mode"], "incremental");
    assert_eq!(review.ended("work.py"), "unchanged");
    let whole = sandbox.review(&["--mode", "full"]).ends_with(0);
    assert!(!whole.found().is_empty());
    assert_eq!(review.found(), whole.found());
}

/// PR-31: an agent may speak of the function that changed, not of the one beside it, and may repeat what is open.
#[test]
fn an_agent_speaks_of_what_changed_and_of_what_is_open() {
    let lines = |name: &str| (0..9).map(|n| format!("    {name}{n} = {n}\n")).collect::<String>();
    let (one, two) = (format!("def one():\n{}", lines("a")), format!("def two():\n{}", lines("b")));
    let sandbox = Sandbox::on_feature();
    sandbox.write("app.py", format!("{one}\n\n{two}"));
    sandbox.commit("Two");
    let known = claim("E1", "b8 = 8", "Known.");
    sandbox.seat("staff-engineer", &answering(&json!({ "findings": [known] })));
    let id = id_of(&sandbox.review(&[]).ends_with(0), "error-handling");
    let findings = [claim("E5", "a0 = 0", "In the same function."), claim("E5", "b7 = 7", "Late."), known];
    sandbox.script("helper.sh", &answering(&json!({ "findings": findings })));
    sandbox.write("app.py", format!("{}\n\n{two}", one.replace("    a8 = 8\n", "")));
    sandbox.commit("Less");
    let review = sandbox.review(&[]).ends_with(0);
    assert_eq!(review.json["receipt"]["mode"], "incremental");
    let said: Vec<&str> = review.findings().map(|finding| str_of(finding, "failure_mode")).collect();
    assert!(said.contains(&"In the same function.") && said.contains(&"Known.") && said.len() == 2, "{said:?}");
    assert_eq!(id_of(&review, "error-handling"), id);
    assert_eq!(verification(&review, &id).0, "no");
    let dropped = review.json["dropped"].as_array().unwrap();
    assert_eq!((dropped.len(), str_of(&dropped[0], "claim")), (1, "Late."));
}

/// Every branch is a case of its own: names and reviews of one do not leak into another.
#[test]
fn another_branch_starts_anew() {
    let sandbox = reviewed();
    sandbox.git(&["checkout", "--quiet", "-b", "second", "main"]);
    sandbox.write("app.py", SHARED_LIST);
    sandbox.commit("The same defect elsewhere");
    let review = sandbox.review(&[]).ends_with(0);
    assert_eq!(review.json["receipt"]["mode"], "full");
    assert_eq!(id_of(&review, SHARED_LIST_RULE), "F1");
}
