//! What several voices change (issue 18, section 3): agreement, the folded list, each reviewer's record, dismissals that stay, and a
//! second opinion that is asked for little.

use super::sandbox::{CLEAN, Document, SHARED_LIST, SHARED_LIST_RULE, Sandbox, answering, claim, str_of};
use fake_model_server::{ModelServer, Reply, Script};
use serde_json::{Value, json};

const TOTALS: &str =
    "def total(prices):\n    amount = 0.0\n    for price in prices:\n        amount = amount + price\n    return amount\n";
const SUM: &str = "        amount = amount + price";

fn report(findings: &[Value]) -> String {
    answering(&json!({ "findings": findings }))
}

/// Gives the staff engineer's role to these scripts, each a vendor of its own.
fn seat(sandbox: &Sandbox, scripts: &[(&str, &str)], more: &str) {
    let names: Vec<String> = scripts.iter().map(|(name, _)| format!("\"{name}\"")).collect();
    let mut config = format!("[panel]\nstaff-engineer = [{}]\n", names.join(", "));
    config.push_str(more);
    for (name, script) in scripts {
        let command = sandbox.script(&format!("{name}.sh"), script);
        config.push_str(&format!("[agents.{name}]\nkind = \"command\"\ncommand = {command}\n"));
    }
    sandbox.configure_person(&config);
}

fn on_totals() -> Sandbox {
    let sandbox = Sandbox::on_feature();
    sandbox.write("app.py", TOTALS);
    sandbox.commit("Add up");
    sandbox
}

fn guess(failure_mode: &str) -> Value {
    let mut guess = claim("E5", SUM, failure_mode);
    guess["confidence"] = "low".into();
    guess
}

fn run_of(review: &Document) -> String {
    str_of(&review.json["receipt"], "run").to_owned()
}

/// What one weak voice says is folded and counted; another vendor's agreement lists it, and `compare` shows what that changed.
#[test]
fn one_weak_voice_is_folded_until_another_agrees() {
    let sandbox = on_totals();
    let one = report(&[guess("adding prices as floats loses cents"), claim("E6", "    amount = 0.0", "the sum is kept twice")]);
    seat(&sandbox, &[("one", &one)], "");
    let first = sandbox.review(&[]).ends_with(0);
    let weak = first.findings().find(|finding| finding["p_code"] == "Q").unwrap();
    assert_eq!(weak["support"], json!({ "voices": 1.0, "folded": true }));
    assert_eq!(first.text("outcome"), "findings", "folded is not clean");
    assert!(first.text("summary_line").contains("2 findings (P1×1, Q×1)"), "{}", first.text("summary_line"));
    let shown = sandbox.tribunal(&["show", "last", "--format", "markdown"]).ends_with(0);
    let (flat, folded) = shown.stdout.split_once("<details><summary>🔉 Reported by one weak voice (1)</summary>").unwrap();
    assert!(flat.contains("## 📋 Currently open (2)") && flat.contains("1 that one weak voice reports"), "{flat}");
    assert!(!flat.contains("loses cents") && folded.contains("loses cents"), "{}", shown.stdout);
    let text =
        sandbox.tribunal(&["show", "last"]).ends_with(0).prints("Reported by one weak voice (1)").prints("loses cents (by one");
    assert_eq!(text.stdout.matches("loses cents").count(), 1, "{}", text.stdout);

    let two = report(&[guess("float addition of prices loses cents")]);
    seat(&sandbox, &[("one", &one), ("two", &two)], "");
    let second = sandbox.review(&["--mode", "full"]).ends_with(0);
    let agreed = second.findings().find(|finding| finding["p_code"] == "Q").unwrap();
    assert_eq!(agreed["support"], json!({ "voices": 2.0, "confidence_from": "low" }), "{agreed:#}");
    assert_eq!(agreed["confidence"], "medium", "PR-106: a question all the same");
    let words = "1 voice → 2 voices, confidence low → medium, folded → listed";
    sandbox.tribunal(&["compare", &run_of(&first), &run_of(&second)]).ends_with(0).prints(words).prints("0 vanished, 2 stayed");
    let compared = sandbox.tribunal(&["compare", &run_of(&first), &run_of(&second), "--format", "json"]).ends_with(0).json();
    assert_eq!(compared["agreement"][0]["after"]["voices"], 2.0, "{compared:#}");
    sandbox.tribunal(&["show", "last", "--format", "markdown"]).ends_with(0).prints("· 2 voices");
}

/// The owner of a repository may weigh a reviewer, and sees by what.
#[test]
fn the_owner_weighs_a_reviewer_by_its_record() {
    let sandbox = on_totals();
    let one = report(&[claim("E6", "    amount = 0.0", "the sum is kept twice")]);
    let two = report(&[claim("E6", "    amount = 0.0", "the sum is kept in two places")]);
    let scripts = [("one", one.as_str()), ("two", two.as_str())];
    seat(&sandbox, &scripts, "[panel.weight]\ntwo = 0.5\n");
    let review = sandbox.review(&[]).ends_with(0);
    assert_eq!(review.findings().next().unwrap()["support"]["voices"], 1.5);
    sandbox.tribunal(&["dismiss", "F1", "--reason", "known"]).ends_with(0);
    let record = sandbox.tribunal(&["agents", "record", "--format", "json"]).ends_with(0).json();
    let names: Vec<&str> = record.as_array().unwrap().iter().map(|entry| str_of(entry, "name")).collect();
    assert_eq!(names, ["one", "two"]);
    assert_eq!((&record[0]["reported"], &record[0]["dismissed"], &record[0]["agreed"]), (&json!(1), &json!(1), &json!(1)));
    sandbox.tribunal(&["agents", "record"]).ends_with(0).prints("REPORTED").prints("0 %");
    seat(&sandbox, &scripts, "[panel.weight]\ntwo = 1.5\n");
    sandbox.tribunal(&["review"]).ends_with(2).says("a weight is from 0 to 1");
    seat(&sandbox, &scripts, "[panel.weight]\nthree = 0.5\n");
    sandbox.tribunal(&["review"]).ends_with(2).says("there is no [agents.three]");
}

/// A dismissed finding stays dismissed when its file is renamed, its lines move and its reviewer finds other words.
#[test]
fn a_dismissal_outlives_a_move_and_other_words() {
    let sandbox = on_totals();
    seat(&sandbox, &[("one", &report(&[claim("E5", SUM, "adding prices as floats loses cents")]))], "");
    let first = sandbox.review(&[]).ends_with(0);
    let id = str_of(first.findings().next().unwrap(), "id").to_owned();
    sandbox.tribunal(&["dismiss", &id, "--reason", "prices are rounded later"]).ends_with(0);

    sandbox.git(&["mv", "app.py", "totals.py"]);
    sandbox.write("totals.py", format!("\"\"\"Totals.\"\"\"\n\n\n{TOTALS}"));
    sandbox.commit("Move");
    let mut again = claim("E1", &format!("    for price in prices:\n{SUM}"), "cents are lost because float prices are added");
    again["file"] = "totals.py".into();
    let mut other = claim("E6", "    amount = 0.0", "a generator of prices is consumed here and empty afterwards");
    other["file"] = "totals.py".into();
    seat(&sandbox, &[("one", &report(&[again, other]))], "");
    let second = sandbox.review(&[]).ends_with(0);
    let (dismissed, open): (Vec<&Value>, Vec<&Value>) = second.findings().partition(|finding| finding["dismissed"].is_object());
    assert_eq!((dismissed.len(), open.len()), (1, 1), "{:#}", second.json["findings"]);
    assert_eq!(str_of(dismissed[0], "id"), id);
    assert_eq!(str_of(&dismissed[0]["dismissed"], "reason"), "prices are rounded later");
    assert_eq!(str_of(open[0], "category_code"), "E6", "another defect is heard");
    sandbox.tribunal(&["show", "last", "--format", "markdown"]).ends_with(0).prints("Dismissed (1)");
}

/// Three dismissals of one rule in one folder propose a line of configuration, which does what it says once somebody writes it down.
#[test]
fn three_dismissals_propose_a_line() {
    let sandbox = Sandbox::on_feature_from(&[("app.py", CLEAN)]);
    for name in ["a", "b", "c", "d"] {
        sandbox.write(format!("scripts/{name}.py"), SHARED_LIST);
    }
    sandbox.write("app.py", SHARED_LIST);
    sandbox.commit("Scripts");
    let first = sandbox.review(&[]).ends_with(0);
    assert_eq!(first.findings().count(), 5);
    let in_scripts = first.findings().filter(|finding| str_of(finding, "file").starts_with("scripts/"));
    for finding in in_scripts.take(3) {
        assert_eq!(sandbox.review(&[]).json["proposals"], Value::Null);
        sandbox.tribunal(&["dismiss", str_of(finding, "id"), "--reason", "run once"]).ends_with(0);
    }
    let line = format!("[rules.disable_in]\n\"scripts/*\" = [\"{SHARED_LIST_RULE}\"]");
    let review = sandbox.review(&[]).ends_with(0);
    assert_eq!(str_of(&review.json["proposals"][0], "config"), line);
    let said = format!("{SHARED_LIST_RULE} was dismissed 3 times in scripts/");
    sandbox.tribunal(&["show", "last"]).ends_with(0).prints(&said);
    sandbox.tribunal(&["show", "last", "--format", "markdown"]).ends_with(0).prints(&line);
    assert_eq!(sandbox.review(&["--mode", "full"]).findings().count(), 5, "nothing is applied by itself");

    sandbox.configure_person(&line);
    let after = sandbox.review(&["--mode", "full"]).ends_with(0);
    assert_eq!(after.found(), [format!("app.py:{SHARED_LIST_RULE}")]);
    let verifications = after.json["prior_verifications"].to_string();
    assert!(verifications.contains("is switched off") && verifications.contains("\"by\":\"settings\""), "{verifications}");
}

/// Doubtful findings of one file make one question with the code around them; what two vendors report is not asked about.
#[test]
fn a_second_opinion_is_one_question_for_a_file() {
    let judge = ModelServer::start(Script::always(Reply::Json(json!({ "opinions": [] }))));
    let server = ModelServer::start(Script::always(Reply::Echo));
    let review = |more_seats: &str| {
        let sandbox = Sandbox::on_feature();
        let mut lines: Vec<String> = (1..=400).map(|n| format!("value_{n} = compute({n})")).collect();
        for n in [50, 60, 70] {
            lines[n - 1] = format!("value_{n} = run({n})  # BUG(S1 blocker): anyone runs commands, case {n}");
        }
        sandbox.write("app.py", lines.join("\n") + "\n");
        sandbox.commit("Work");
        sandbox.configure_person(&format!(
            "[panel]\nsecurity-reviewer = [\"m\"{more_seats}]\n[panel.verify]\nagent = \"judge\"\n\
             [agents.m]\nkind = \"openai-chat\"\nmodel = \"qwen-coder\"\nbase_url = \"{0}/v1\"\n\
             [agents.other]\nkind = \"openai-chat\"\nmodel = \"llama3\"\nbase_url = \"{0}/v1\"\n\
             [agents.judge]\nkind = \"openai\"\nmodel = \"gpt-6-luna\"\nbase_url = \"{1}/v1\"\n",
            server.url(),
            judge.url()
        ));
        sandbox.review(&[]).ends_with(1)
    };
    let alone = review("");
    assert_eq!(alone.json["receipt"]["second_opinion"]["asked"], 3, "{:#}", alone.json["receipt"]);
    let asked = judge.requests();
    assert_eq!(asked.len(), 1, "three findings of one file are one question");
    let question = asked[0].body.to_string();
    assert!((50..=70).step_by(10).all(|n| question.contains(&format!("case {n}"))), "{question}");
    assert!(question.contains("value_45 = ") && !question.contains("value_300 = "), "the code around, not the whole file");
    let read = server.requests()[0].body.to_string().len();
    assert!(question.len() < read, "{} is not less than the {read} that a reviewer reads", question.len());

    let agreed = review(", \"other\"");
    assert_eq!(agreed.findings().filter(|finding| finding["support"]["voices"] == 2.0).count(), 3, "{:#}", agreed.json);
    assert_eq!(agreed.json["receipt"]["second_opinion"], Value::Null);
    assert_eq!(judge.requests().len(), 1, "nobody is asked about what two vendors report");
}
