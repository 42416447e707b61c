//! Command agents: any program as a reviewer, inside limits (issue 3, points 3 and 4).

use super::sandbox::{
    Document, NO_TLS, NO_TLS_RULE, SHARED_LIST_LINE, SHARED_LIST_RULE, Sandbox, answering, claim, finish, open_when_read, str_of,
};
use serde_json::json;
use std::time::{Duration, Instant};

/// PR-13, design rule 3: what the agent and the rules say is merged into one list.
#[test]
fn findings_of_an_agent_stand_beside_those_of_the_rules() {
    let sandbox = Sandbox::with_shared_list();
    let report = json!({ "findings": [claim("E1", "    items.append(item)", "A read-only sequence raises here.")] });
    sandbox.seat("staff-engineer", &answering(&report));
    let review = sandbox.review(&[]).ends_with(0);
    assert_eq!(review.found(), ["app.py:error-handling".to_owned(), format!("app.py:{SHARED_LIST_RULE}")]);
    assert_eq!(review.finding("error-handling")["line_start"], 2);
    assert_eq!(review.finding("error-handling")["agreement"], json!([{ "role": "staff-engineer", "agent": "helper" }]));
}

/// PR-74, design rule 3: the same place and category is one finding, and both voices are kept as evidence.
#[test]
fn agreement_is_kept_when_two_see_the_same_place() {
    let sandbox = Sandbox::with_shared_list();
    let report = json!({ "findings": [claim("E5", SHARED_LIST_LINE, "Callers see each other's items.")] });
    sandbox.seat("staff-engineer", &answering(&report));
    let review = sandbox.review(&[]).ends_with(0);
    assert_eq!(review.findings().count(), 1, "{:?}", review.found());
    let finding = review.findings().next().unwrap();
    let agents: Vec<&str> = finding["agreement"].as_array().unwrap().iter().map(|voice| str_of(voice, "agent")).collect();
    assert_eq!(agents, ["helper", "rules"]);
    assert_eq!(finding["also"].as_array().unwrap().len(), 1, "{finding:#}");
}

/// PR-47: findings of other categories at the same place stay apart and point at each other.
#[test]
fn other_categories_at_one_place_stay_apart() {
    let sandbox = Sandbox::with_shared_list();
    let report = json!({ "findings": [claim("E1", SHARED_LIST_LINE, "It raises.")] });
    sandbox.seat("staff-engineer", &answering(&report));
    let review = sandbox.review(&[]);
    assert_eq!(review.findings().count(), 2);
    assert_eq!(review.finding(SHARED_LIST_RULE)["related"].as_array().unwrap().len(), 1);
}

/// A failed reviewer: the review is incomplete, exit 3, the role is named, and what the others found is still there.
#[track_caller]
fn fails_visibly(script: &str, reason: &str) -> Document {
    let sandbox = Sandbox::on_feature();
    sandbox.write("app.py", NO_TLS);
    sandbox.commit("Work");
    let command = sandbox.script("helper.sh", script);
    sandbox.configure_person(&format!(
        "[panel]\nstaff-engineer = [\"helper\"]\n[agents.helper]\nkind = \"command\"\ncommand = {command}\ntimeout_seconds = 600\n"
    ));
    let review = sandbox.review(&[]).ends_with(3);
    check_failure(&review, reason);
    review
}

#[track_caller]
fn check_failure(review: &Document, reason: &str) {
    assert_eq!((review.text("outcome"), review.text("status")), ("incomplete", "partial-failure"));
    assert!(review.text("summary_line").contains("⚠️ Partial — staff-engineer failed"), "{}", review.text("summary_line"));
    let failures = review.json["subagent_failures"].as_array().unwrap();
    assert_eq!(failures.len(), 1);
    assert_eq!(failures[0]["role"], "staff-engineer");
    assert!(str_of(&failures[0], "reason").contains(reason), "{failures:?}");
    assert_eq!(review.found(), [format!("app.py:{NO_TLS_RULE}")]);
}

/// Issue 3, bad input: garbage. PR-6, PR-46.
#[test]
fn garbage_is_a_failure() {
    fails_visibly("echo 'Looks good to me!'\n", "not a report");
}

/// Issue 3, bad input: nothing. Silence is not "no findings".
#[test]
fn silence_is_a_failure() {
    fails_visibly("cat > /dev/null\n", "printed nothing");
}

/// Issue 3, bad input: 1 GB.
#[test]
fn a_gigabyte_of_output_is_a_failure() {
    fails_visibly("head -c 1073741824 /dev/zero\n", "printed more than");
}

/// Issue 3, bad input: a hang, which ends with everything the agent started.
#[test]
fn a_hang_is_a_failure_after_its_time() {
    let sandbox = Sandbox::on_feature();
    sandbox.write("app.py", NO_TLS);
    let command = sandbox.script("helper.sh", "sleep 3600 &\nsleep 3600\n");
    sandbox.configure_person(&format!(
        "[panel]\nstaff-engineer = [\"helper\"]\n[agents.helper]\nkind = \"command\"\ncommand = {command}\ntimeout_seconds = 1\n"
    ));
    let begun = Instant::now();
    let review = sandbox.review(&[]).ends_with(3);
    check_failure(&review, "no answer within 1 s");
    assert!(begun.elapsed() < Duration::from_secs(1800), "it was waited for, not ended: {:?}", begun.elapsed());
}

/// A reviewer that says it failed has failed, whatever it printed before.
#[test]
fn a_non_zero_exit_is_a_failure() {
    let review =
        fails_visibly("cat > /dev/null\necho '{\"findings\": []}'\necho 'no quota left' >&2\nexit 7\n", "exit status: 7");
    assert!(str_of(&review.json["subagent_failures"][0], "reason").contains("no quota left"));
}

/// A key that nobody knows may be a finding that nobody would see.
#[test]
fn an_unknown_key_in_the_answer_is_a_failure() {
    fails_visibly(&answering(&json!({ "findings": [], "verdict": "LGTM" })), "unknown field `verdict`");
}

/// Which of two answers counts is not guessed, and half an answer is none.
#[test]
fn two_answers_and_half_an_answer_are_failures() {
    let empty = "echo 'Here it is:'\necho '{\"findings\": []}'\n";
    let other = "echo '{\"findings\": [], \"missing_prerequisites\": [\"a key\"]}'\n";
    fails_visibly(&format!("cat > /dev/null\n{empty}{other}"), "2 different JSON objects");
    fails_visibly(&format!("cat > /dev/null\n{empty}echo '{{\"findings\": ['\n"), "does not end");
}

#[test]
fn a_program_that_is_not_there_is_a_failure() {
    let sandbox = Sandbox::on_feature();
    sandbox.write("app.py", NO_TLS);
    sandbox.configure_person(
        "[panel]\nstaff-engineer = [\"helper\"]\n[agents.helper]\nkind = \"command\"\ncommand = [\"/nonexistent/reviewer\"]\n",
    );
    check_failure(&sandbox.review(&[]).ends_with(3), "/nonexistent/reviewer");
}

/// A reviewer that could not read a file it was given has not reviewed it.
#[test]
fn a_file_that_the_agent_did_not_read_makes_it_incomplete() {
    fails_visibly(&answering(&json!({ "findings": [], "unread": [{ "path": "app.py", "reason": "too long" }] })), "too long");
}

/// A reviewer may answer without reading all of its brief; the broken pipe is nobody's problem.
#[test]
fn an_agent_need_not_read_its_brief() {
    let sandbox = Sandbox::with_shared_list();
    sandbox.write("long.txt", "more than a pipe can hold\n".repeat(20_000));
    sandbox.seat("sdet", "exec 0<&-\necho '{\"findings\": []}'\n");
    let review = sandbox.review(&[]).ends_with(0);
    assert_eq!(review.json["subagent_failures"], json!([]));
}

/// PR-6: the terminal names the failed role too.
#[test]
fn a_failed_role_is_named_on_the_terminal() {
    let sandbox = Sandbox::with_shared_list();
    sandbox.seat("sdet", "echo no\n");
    let run = sandbox.tribunal(&["review"]).ends_with(3);
    run.prints("✗ sdet (helper) failed:").prints("Partial — sdet failed").prints(SHARED_LIST_RULE);
}

/// PR-46: two failures are counted against those that were asked.
#[test]
fn two_failed_roles_are_counted_and_named() {
    let sandbox = Sandbox::with_shared_list();
    let command = sandbox.script("helper.sh", "exit 1\n");
    sandbox.configure_person(&format!(
        "[panel]\nsdet = [\"helper\"]\nsecurity-reviewer = [\"helper\"]\n[agents.helper]\nkind = \"command\"\ncommand = {command}\n"
    ));
    let review = sandbox.review(&[]).ends_with(3);
    assert!(
        review.text("summary_line").contains("2/3 reviewers failed: security-reviewer, sdet"),
        "{}",
        review.text("summary_line")
    );
}

/// PR-7: all fail: failure is reported, nothing reads as approved, and nobody else steps in.
#[test]
fn when_all_fail_nothing_is_approved() {
    let sandbox = Sandbox::with_shared_list();
    let command = sandbox.script("helper.sh", "exit 1\n");
    sandbox.configure_person(&format!(
        "[panel]\nsdet = [\"helper\"]\nsecurity-reviewer = [\"helper\"]\nstaff-engineer = [\"helper\"]\n[agents.helper]\nkind = \"command\"\ncommand = {command}\n"
    ));
    let run = sandbox.tribunal(&["review"]).ends_with(3);
    assert!(!run.stdout.contains("Approved") && !run.stdout.contains("LGTM"), "{}", run.stdout);
    assert!(!run.stdout.contains(SHARED_LIST_RULE), "the rules were not asked: {}", run.stdout);
    run.prints("❌ Not reviewed — 3/3 reviewers failed").prints("not read by anyone: app.py").prints("0 of 1 files read");
}

/// PR-7, PR-46: the receipt proves what was read, and nothing is published of a review that did not happen.
#[test]
fn when_all_fail_nothing_counts_as_read_and_nothing_is_published() {
    let sandbox = Sandbox::with_shared_list();
    let command = sandbox.script("helper.sh", "exit 1\n");
    sandbox.configure_person(&format!(
        "[panel]\nsdet = [\"helper\"]\nsecurity-reviewer = [\"helper\"]\nstaff-engineer = [\"helper\"]\n[agents.helper]\nkind = \"command\"\ncommand = {command}\n"
    ));
    let review = sandbox.review(&[]).ends_with(3);
    assert_eq!((review.text("tier"), review.text("outcome")), ("not-reviewed", "incomplete"));
    assert_eq!(review.ended("app.py"), "unread");
    let coverage = &review.json["receipt"]["coverage"];
    assert_eq!((&coverage["reviewed"], &coverage["unread"]), (&json!(0), &json!(1)));
    let markdown = sandbox.tribunal(&["review", "--format", "markdown"]).ends_with(3).prints("there is nothing to publish");
    assert!(!markdown.stdout.contains("<!--") && !markdown.stdout.contains("files read"), "{}", markdown.stdout);
    let rdjson = sandbox.tribunal(&["review", "--format", "rdjson"]).ends_with(3).json();
    assert_eq!(rdjson["severity"], "ERROR");
    assert_eq!(rdjson["diagnostics"].as_array().unwrap().len(), 4, "{rdjson:#}");
}

/// A file is read if one reviewer that answered was given it; generated lines are given to the rules alone.
#[test]
fn a_file_counts_as_read_only_if_somebody_who_answered_read_it() {
    let header = "# Code generated by tool. DO NOT EDIT.\n";
    let sandbox = Sandbox::on_feature_from(&[("app.py", ""), ("api.py", header)]);
    sandbox.write("app.py", super::sandbox::SHARED_LIST);
    sandbox.write("api.py", format!("{header}x = 1\n"));
    let unread = json!({ "findings": [], "unread": [{ "path": "app.py", "reason": "too long" }] });
    let command = sandbox.script("helper.sh", &answering(&unread));
    sandbox.configure_person(&format!(
        "[panel]\nsdet = [\"helper\"]\nsecurity-reviewer = []\nstaff-engineer = []\n[agents.helper]\nkind = \"command\"\ncommand = {command}\n"
    ));
    let review = sandbox.review(&[]).ends_with(3);
    assert_eq!((review.ended("app.py"), review.ended("api.py")), ("unread".to_owned(), "generated".to_owned()));
}

/// Design rule 1: an answer that says nothing is no clean bill.
#[test]
fn an_empty_object_is_a_failure() {
    let sandbox = Sandbox::with_shared_list();
    sandbox.seat("sdet", "cat > /dev/null\necho '{}'\n");
    let review = sandbox.review(&[]).ends_with(3);
    assert!(review.json["subagent_failures"][0]["reason"].as_str().unwrap().contains("missing field `findings`"));
}

/// Design rule 1: an incomplete review has no verdict that reads as approval.
#[test]
fn an_incomplete_review_never_reads_as_lgtm() {
    let sandbox = Sandbox::on_feature();
    sandbox.write("app.py", "x = 1\n");
    sandbox.seat("sdet", "exit 1\n");
    let review = sandbox.review(&[]).ends_with(3);
    assert_ne!(review.json["verdict"], "LGTM");
    assert!(!sandbox.tribunal(&["history"]).stdout.contains("LGTM"));
}

fn dropped(claim: serde_json::Value, reason: &str) {
    let sandbox = Sandbox::with_shared_list();
    sandbox.seat("staff-engineer", &answering(&json!({ "findings": [claim] })));
    let review = sandbox.review(&[]).ends_with(0);
    assert_eq!(review.found(), [format!("app.py:{SHARED_LIST_RULE}")]);
    assert_eq!(review.json["receipt"]["dropped"], json!({ reason: 1 }));
    assert_eq!(review.json["dropped"][0]["reason"], reason);
    sandbox.tribunal(&["show"]).prints("1 claim not kept");
}

/// PR-58, design rule 2: evidence that does not stand in the diff: no finding, counted and shown.
#[test]
fn a_claim_without_its_evidence_in_the_diff_is_dropped_and_counted() {
    dropped(claim("E1", "    items.extend(item)", "It breaks."), "evidence-not-in-diff");
}

/// PR-58: no evidence at all.
#[test]
fn a_claim_without_evidence_is_dropped_and_counted() {
    dropped(claim("E1", "", "It breaks."), "no-evidence");
}

/// PR-47: a reviewer never emits another's category.
#[test]
fn a_claim_of_another_roles_category_is_dropped_and_counted() {
    dropped(claim("S1", SHARED_LIST_LINE, "It is injected."), "not-owned");
}

/// PR-103: a race finding without its tag.
#[test]
fn a_race_without_its_tag_is_dropped_and_counted() {
    dropped(claim("E2", SHARED_LIST_LINE, "A race between two writers."), "no-race-tag");
}

/// PR-106: low confidence always becomes a question, and the adjustment is recorded.
#[test]
fn what_is_guessed_is_asked() {
    let sandbox = Sandbox::with_shared_list();
    let mut guess = claim("E1", "    return items", "Perhaps it fails.");
    guess["confidence"] = "low".into();
    guess["severity"] = "blocker".into();
    sandbox.seat("staff-engineer", &answering(&json!({ "findings": [guess] })));
    let review = sandbox.review(&["--fail-level", "P0"]).ends_with(0);
    let finding = review.finding("error-handling");
    assert_eq!(finding["p_code"], "Q");
    assert_eq!(finding["severity_adjustment"]["to"], "❓ Q");
}

/// PR-60, PR-65: what has no justification is batched as one question per file.
#[test]
fn hygiene_is_batched() {
    let sandbox = Sandbox::with_shared_list();
    let mut nit = claim("E1", "    return items", "Could be shorter.");
    nit.as_object_mut().unwrap().remove("justification");
    let mut other = nit.clone();
    other["evidence"] = "    items.append(item)".into();
    other["category"] = "E8".into();
    sandbox.seat("staff-engineer", &answering(&json!({ "findings": [nit, other] })));
    let review = sandbox.review(&[]);
    assert_eq!(review.finding("app-py-hygiene-followups")["p_code"], "Q");
    assert_eq!(review.findings().count(), 2, "{:?}", review.found());
}

/// Prints, in the details of a finding, which of these words its brief and its environment hold.
fn spy(words: &[&str]) -> String {
    let mut script = String::from("brief=$(cat)\nall=\"$brief $(env)\"\nseen=\n");
    for word in words {
        let shown = word.replace('"', "");
        script.push_str(&format!("case \"$all\" in *'{word}'*) seen=\"$seen [{shown}]\";; esac\n"));
    }
    // The role's own first category: the one code that its brief gives first.
    script.push_str("code=$(printf '%s' \"$brief\" | sed 's/.*\"categories\":\\[{\"code\":\"\\([A-Z0-9]*\\)\".*/\\1/')\n");
    script.push_str("[ \"$code\" = C1 ] && quote='\"spec_quote\": \"Items are never shared\",'\n");
    script.push_str(&format!(
        "cat <<REPORT\n{{\"findings\": [{{\"category\": \"$code\", \"file\": \"app.py\", \"confidence\": \"high\", \"blast\": \"local\", $quote\n\
         \"justification\": \"reachable\", \"evidence\": \"{SHARED_LIST_LINE}\", \"failure_mode\": \"seen:$seen\", \"mitigation\": \"m\"}}]}}\nREPORT\n"
    ));
    script
}

/// What the spy in this role saw.
#[track_caller]
fn seen_by(review: &Document, role: &str) -> String {
    let finding = review.findings().find(|finding| {
        finding["agreement"].as_array().unwrap().iter().any(|voice| voice["role"] == role && voice["agent"] == "spy")
            && str_of(finding, "failure_mode").starts_with("seen:")
    });
    str_of(finding.unwrap_or_else(|| panic!("{role} said nothing: {:#}", review.json)), "failure_mode").to_owned()
}

fn spy_on(sandbox: &Sandbox, roles: &[&str], words: &[&str], more: &str) {
    let command = sandbox.script("spy.sh", &spy(words));
    let panel: String = roles.iter().map(|role| format!("{role} = [\"spy\"]\n")).collect();
    sandbox.configure_person(&format!("[panel]\n{panel}[agents.spy]\nkind = \"command\"\ncommand = {command}\n{more}"));
}

/// Design rule 5, TS-53: an agent sees an allow-listed environment, not the secrets of whoever runs it.
#[test]
fn an_agent_does_not_see_the_environment() {
    let sandbox = Sandbox::with_shared_list();
    spy_on(&sandbox, &["security-reviewer"], &["hunter2", "GITHUB_TOKEN", "AWS_", "PATH="], "");
    let mut command = sandbox.command(&["review", "--format", "json"]);
    command.env("GITHUB_TOKEN", "hunter2").env("AWS_SECRET_ACCESS_KEY", "hunter2").env("MY_PASSWORD", "hunter2");
    let run = finish(command, b"");
    let review = Document { code: run.code, json: run.json() };
    assert_eq!(seen_by(&review, "security-reviewer"), "seen: [PATH=]");
}

/// Design section 7: what the configuration names is passed on.
#[test]
fn an_agent_sees_the_variables_it_is_given() {
    let sandbox = Sandbox::with_shared_list();
    spy_on(&sandbox, &["security-reviewer"], &["MODEL_KEY=k1", "OTHER_KEY"], "env = [\"MODEL_KEY\"]\n");
    let mut command = sandbox.command(&["review", "--format", "json"]);
    command.env("MODEL_KEY", "k1").env("OTHER_KEY", "k2");
    let run = finish(command, b"");
    let review = Document { code: run.code, json: run.json() };
    assert_eq!(seen_by(&review, "security-reviewer"), "seen: [MODEL_KEY=k1]");
}

/// PR-43: each reviewer gets only its own inputs: the spec for the spec auditor, the test direction for the SDET.
#[test]
fn each_role_gets_only_its_own_inputs() {
    let sandbox = Sandbox::with_shared_list();
    let roles = ["security-reviewer", "staff-engineer", "sdet", "spec-auditor"];
    spy_on(&sandbox, &roles, &["Items are never shared", "expired tokens", "cardholder data"], "");
    let review = sandbox.review(&[
        "--spec",
        "Items are never shared between calls.",
        "--test-direction",
        "integration required; focus=expired tokens",
        "--context",
        "This service keeps cardholder data.",
    ]);
    assert_eq!(seen_by(&review, "security-reviewer"), "seen: [cardholder data]");
    assert_eq!(seen_by(&review, "staff-engineer"), "seen: [cardholder data]");
    assert_eq!(seen_by(&review, "sdet"), "seen: [expired tokens] [cardholder data]");
    assert_eq!(seen_by(&review, "spec-auditor"), "seen: [Items are never shared] [cardholder data]");
}

/// PR-43, PR-4: nothing of what other reviewers find in this run.
#[test]
fn a_reviewer_sees_nothing_of_the_others() {
    let sandbox = Sandbox::with_shared_list();
    let spy = sandbox.script("spy.sh", &spy(&[SHARED_LIST_RULE, "hearsay", "app.py"]));
    let talker = sandbox.script("talker.sh", &answering(&json!({ "findings": [claim("E1", "    return items", "hearsay")] })));
    sandbox.configure_person(&format!(
        "[panel]\nstaff-engineer = [\"rules\", \"talker\"]\nsecurity-reviewer = [\"spy\"]\n\
         [agents.talker]\nkind = \"command\"\ncommand = {talker}\n[agents.spy]\nkind = \"command\"\ncommand = {spy}\n"
    ));
    for mode in ["auto", "full"] {
        let review = sandbox.review(&["--mode", mode]);
        assert_eq!(seen_by(&review, "security-reviewer"), "seen: [app.py]", "{mode}");
    }
}

/// PR-43: the brief names the role it is for, and its prompt.
#[test]
fn the_brief_carries_the_role_and_its_prompt() {
    let sandbox = Sandbox::with_shared_list();
    spy_on(&sandbox, &["sdet"], &["\"name\":\"sdet\"", "\"name\":\"security-reviewer\"", "prompt_hash"], "");
    assert_eq!(seen_by(&sandbox.review(&[]), "sdet"), "seen: [name:sdet] [prompt_hash]");
}

/// Design rule 5, TS-53: an agent runs in a folder of its own and cannot write into the repository.
#[test]
fn an_agent_cannot_write_into_the_repository() {
    let sandbox = Sandbox::with_shared_list();
    let doctor = sandbox.tribunal(&["doctor"]).stdout;
    assert!(doctor.contains("sandbox for agents and linters"), "{doctor}");
    if doctor.contains("sandbox for agents and linters: none") {
        assert!(std::env::var_os("CI").is_none(), "CI must have Landlock");
        return;
    }
    let target = sandbox.path().join("planted.py");
    let script = format!("echo 'x = 1' > '{}'\n{}", target.display(), answering(&json!({ "findings": [] })));
    sandbox.seat("sdet", &script);
    sandbox.tribunal(&["review"]).ends_with(0);
    assert!(!target.exists());
}

/// PR-4: seats run side by side, not one after the other. Each waits until the other has begun.
#[test]
fn reviewers_run_in_parallel() {
    let sandbox = Sandbox::with_shared_list();
    // Two processes meet in a pipe that both can open: each reads what the other wrote. One alone would wait until its time is up.
    let pipes = sandbox.root().join("pipes");
    std::fs::create_dir(&pipes).unwrap();
    for name in ["a", "b"] {
        assert!(std::process::Command::new("mkfifo").arg(pipes.join(name)).status().unwrap().success());
    }
    let answer = answering(&json!({ "findings": [] }));
    // They may read there; the writers are started here.
    let read = format!("read = [\"{}\"]\n", pipes.display());
    let [first, second] = ["a", "b"]
        .map(|name| sandbox.script(&format!("{name}.sh"), &format!("read word < '{}'\n{answer}", pipes.join(name).display())));
    sandbox.configure_person(&format!(
        "[panel]\nsecurity-reviewer = [\"first\"]\nsdet = [\"second\"]\n[agents.first]\nkind = \"command\"\ncommand = {first}\ntimeout_seconds = 600\n{read}\
         [agents.second]\nkind = \"command\"\ncommand = {second}\ntimeout_seconds = 600\n{read}"
    ));
    // Opening a pipe for writing returns when its reader is there: when both returned, both agents are running at once.
    let writers: Vec<_> = ["b", "a"].map(|name| pipes.join(name)).into_iter().collect();
    let meet = std::thread::spawn(move || {
        let open: Vec<_> = writers.into_iter().map(open_when_read).collect();
        for mut pipe in open {
            std::io::Write::write_all(&mut pipe, b"go\n").unwrap();
        }
    });
    sandbox.tribunal(&["review"]).ends_with(0);
    meet.join().unwrap();
}

/// PR-41, PR-42: a trivial change is still read by security and tests; the staff engineer is left out, and that is recorded.
#[test]
fn a_trivial_change_leaves_only_the_staff_engineer_out() {
    let sandbox = Sandbox::on_feature_from(&[("README.md", "# A\n")]);
    sandbox.write("README.md", "# A\n\nMore.\n");
    let review = sandbox.review(&[]).ends_with(0);
    let seats: Vec<&str> = review.json["receipt"]["seats"].as_array().unwrap().iter().map(|seat| str_of(seat, "role")).collect();
    assert_eq!(seats, ["security-reviewer", "sdet"]);
    let absent: Vec<&str> =
        review.json["receipt"]["not_called"].as_array().unwrap().iter().map(|role| str_of(role, "role")).collect();
    assert_eq!(absent, ["staff-engineer", "spec-auditor"]);
}

/// Issue 3, point 3: `.tribunal/reviewers/*.md` adds a role, which is then on the panel.
#[test]
fn a_repository_can_add_a_reviewer() {
    let role = "---\nname: accessibility\ntitle: Accessibility\nabout: Screen readers.\nwhen: always\nreads: []\ncategories:\n  - code: A1\n    name: Labels\n    slug: missing-label\n    severity: factual\n    about: Controls without a label.\n---\nYou look at labels.\n";
    let sandbox = Sandbox::on_feature_from(&[("app.py", ""), (".tribunal/reviewers/accessibility.md", role)]);
    sandbox.write("app.py", super::sandbox::SHARED_LIST);
    let report = json!({ "findings": [claim("A1", SHARED_LIST_LINE, "No label.")] });
    let command = sandbox.script("helper.sh", &answering(&report));
    sandbox.configure_person(&format!(
        "[panel]\naccessibility = [\"helper\"]\n[agents.helper]\nkind = \"command\"\ncommand = {command}\n"
    ));
    let review = sandbox.review(&[]).ends_with(0);
    assert_eq!(review.finding("missing-label")["category"], "[A1 Labels]");
}

/// Issue 3, point 4: the configuration of the repository names agents as well, once it is trusted.
#[test]
fn an_agent_of_a_trusted_configuration_plays_its_role() {
    let sandbox = Sandbox::with_shared_list();
    let command =
        sandbox.script("helper.sh", &answering(&json!({ "findings": [claim("E1", "    return items", "It breaks.")] })));
    sandbox.configure(&format!(
        "[panel]\nstaff-engineer = [\"rules\", \"helper\"]\n[agents.helper]\nkind = \"command\"\ncommand = {command}\n"
    ));
    assert_eq!(sandbox.review(&[]).ends_with(0).finding("error-handling")["failure_mode"], "It breaks.");
}

/// Design section 5: the output always says which agents looked.
#[test]
fn a_review_by_rules_alone_says_so() {
    let sandbox = Sandbox::with_shared_list();
    assert!(sandbox.review(&[]).notices().contains("Built-in rules only"));
    sandbox.seat("sdet", &answering(&json!({ "findings": [] })));
    let with_agent = sandbox.review(&[]);
    assert!(!with_agent.notices().contains("Built-in rules only"));
    sandbox.tribunal(&["show"]).prints("✓ sdet (helper)");
}
