//! `tribunal index` and `tribunal search`, and what a review says of what it should refer to.

use super::sandbox::{Run, Sandbox};
use fake_model_server::{ModelServer, Reply, Script};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

const RETRIES: &str = "# Retries have a budget\n\n## Status\n\nAccepted\n\n## Decision\n\nEvery HTTP client retries a failed request at most once, within a retry budget that a run shares.\n";
const QUEUE: &str = "# Messages are queued\n\n## Status\n\nSuperseded by ADR-0009\n\n## Decision\n\nMessages go through a queue before they are acknowledged by anybody.\n";
const SESSIONS: &str =
    "# ADR-0003: Who is who\n\n## Decision\n\nA session cookie expires after a day and is bound to one address.\n";
const CLIENT: &str = "def fetch(url, retry_budget):\n    return send(url, retry_budget)\n";

/// A repository with three decisions, a spec and some code.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::on_feature_from(&[
        ("docs/adrs/0001-retries.md", RETRIES),
        ("docs/adrs/0002-queue.md", QUEUE),
        ("docs/adrs/0003-sessions.md", SESSIONS),
        ("docs/adrs/README.md", "# Decisions\n\nA list of retry budget records.\n"),
        ("docs/openspec/specs/shop/spec.md", "# SPEC-0001: The shop\n\nIt sells things to people who want them.\n"),
        ("docs/openspec/specs/shop/design.md", "# How\n\nWith a basket and a till.\n"),
        ("client.py", CLIENT),
    ]);
    sandbox.git(&["config", "user.name", "Ada"]);
    sandbox.git(&["config", "user.email", "ada@example.org"]);
    sandbox
}

fn search(sandbox: &Sandbox, args: &[&str]) -> Vec<Value> {
    let all: Vec<&str> = ["search", "--format", "json"].iter().chain(args).copied().collect();
    sandbox.tribunal(&all).ends_with(0).json().as_array().unwrap().clone()
}

fn names(hits: &[Value]) -> Vec<&str> {
    hits.iter().map(|hit| hit["name"].as_str().unwrap()).collect()
}

fn counts(run: &Run, kind: &str) -> (u64, u64, u64, u64) {
    let rows = run.json();
    let row = rows.as_array().unwrap().iter().find(|row| row["kind"] == kind).unwrap().clone();
    let number = |name: &str| row[name].as_u64().unwrap();
    (number("documents"), number("added"), number("changed"), number("removed"))
}

/// SL-23, SL-88: records, specs, issues and code are found by their words, with what they share and where they stand.
#[test]
fn what_a_repository_knows_is_found() {
    let sandbox = sandbox();
    sandbox
        .tribunal(&["pr", "issue", "open", "--title", "Requests hang", "--body", "A retry would help the client."])
        .ends_with(0);
    let index = sandbox.tribunal(&["index", "--format", "json"]).ends_with(0);
    assert_eq!(
        (counts(&index, "decision"), counts(&index, "spec"), counts(&index, "issue")),
        ((3, 3, 0, 0), (2, 2, 0, 0), (1, 1, 0, 0))
    );
    assert_eq!(counts(&index, "code").0, 2);
    let hits = search(&sandbox, &["retrying", "requests", "of", "a", "client"]);
    assert_eq!(names(&hits)[..2], ["ADR-0001", "#1"], "{hits:#?}");
    assert_eq!((hits[0]["place"].as_str(), hits[0]["section"].as_str()), (Some("docs/adrs/0001-retries.md"), Some("Decision")));
    assert_eq!(hits[0]["words"], serde_json::json!(["retrying", "requests", "client"]));
    assert!(names(&search(&sandbox, &["--kind", "code", "retry budget"])).contains(&"client.py"));
    assert_eq!(search(&sandbox, &["basket", "till"])[0]["place"], "docs/openspec/specs/shop/design.md");
    sandbox.tribunal(&["search", "retry", "budget"]).ends_with(0).prints("docs/adrs/0001-retries.md:7");
    // Nothing is an answer too.
    assert!(search(&sandbox, &["zebra"]).is_empty());
    sandbox.tribunal(&["search", "zebra"]).ends_with(0).says("Nothing was found.");
}

/// What changed is read again, what is gone is gone, and nothing else is touched.
#[test]
fn an_index_follows_its_repository() {
    let sandbox = sandbox();
    sandbox.tribunal(&["index"]).ends_with(0);
    sandbox.write("docs/adrs/0001-retries.md", "# Nobody tries again\n\n## Decision\n\nA failed call is final for everybody.\n");
    sandbox.git(&["rm", "--quiet", "docs/adrs/0003-sessions.md"]);
    sandbox.commit("Decide otherwise");
    let again = sandbox.tribunal(&["index", "--format", "json"]).ends_with(0);
    assert_eq!((counts(&again, "decision"), counts(&again, "spec")), ((2, 0, 1, 1), (2, 0, 0, 0)));
    assert!(search(&sandbox, &["--kind", "decision", "retry", "budget"]).is_empty());
    assert_eq!(names(&search(&sandbox, &["--kind", "decision", "failed call"])), ["ADR-0001"]);
    let nothing = sandbox.tribunal(&["index", "--format", "json", "--no-issues"]).ends_with(0);
    assert_eq!(counts(&nothing, "decision"), (2, 0, 0, 0));
    let anew = sandbox.tribunal(&["index", "--format", "json", "--rebuild", "--kind", "decision"]).ends_with(0);
    assert_eq!(counts(&anew, "decision"), (2, 2, 0, 0));
}

/// SL-85, SL-86: issues are kept as pages with what is known of them in front; five minutes later only what changed is read.
#[test]
fn issues_are_kept_as_pages() {
    let sandbox = sandbox();
    sandbox
        .tribunal(&["pr", "issue", "open", "--title", "Slow: \"login\"", "--body", "For SPEC-0001, by ADR-0003."])
        .ends_with(0);
    sandbox.tribunal(&["index", "--kind", "issue"]).ends_with(0).says("1 issues new");
    let folder = sandbox.path().join(".git/tribunal/library/issues");
    let page = fs::read_to_string(folder.join("1.md")).unwrap();
    assert!(page.starts_with("---\nid: 1\ntitle: \"Slow: \\\"login\\\"\"\nstatus: open\n"), "{page}");
    assert!(page.contains("\"specs\":[\"SPEC-0001\"],\"adrs\":[\"ADR-0003\"]"), "{page}");
    // SL-84: asked again at once, the forge is left alone.
    sandbox.tribunal(&["pr", "issue", "open", "--title", "Another", "--body", ""]).ends_with(0);
    sandbox.tribunal(&["index", "--kind", "issue"]).ends_with(0).says("less than five minutes ago");
    assert!(!folder.join("2.md").exists());
    // SL-86: a list that cannot be read is made anew.
    fs::write(folder.join("_meta.json"), "{ broken").unwrap();
    sandbox.tribunal(&["index", "--kind", "issue"]).ends_with(0).says("1 issues new, 0 changed");
    assert!(folder.join("2.md").exists());
}

/// SL-10, SL-23: a module has records of its own; an unknown one is told with the known ones.
#[test]
fn a_module_has_its_own_records() {
    let sandbox = Sandbox::on_feature_from(&[
        (".tribunal.toml", "[library.modules]\nbilling = \"services/billing\"\nweb = \"web\"\n"),
        ("docs/adrs/0001-retries.md", RETRIES),
        (
            "services/billing/docs/adrs/0001-cents.md",
            "# Money is counted in cents\n\n## Decision\n\nEvery price of an invoice is a number of cents.\n",
        ),
    ]);
    assert_eq!(search(&sandbox, &["--kind", "decision", "price in cents"]).len(), 1);
    assert_eq!(search(&sandbox, &["--kind", "decision", "retry budget"]).len(), 1);
    assert_eq!(search(&sandbox, &["--module", "billing", "--kind", "decision", "price in cents"]).len(), 1);
    assert!(search(&sandbox, &["--module", "billing", "--kind", "decision", "retry budget"]).is_empty());
    sandbox
        .tribunal(&["search", "--module", "biling", "x"])
        .ends_with(2)
        .says("there is no module `biling`; [library.modules] has billing, web");
}

fn with_vectors(sandbox: &Sandbox, base: &str, more: &str) {
    sandbox.configure_person(&format!(
        "[library]\nembeddings = \"e\"\n[agents.e]\nkind = \"openai-chat\"\nmodel = \"small-embedding\"\nbase_url = \"{base}/v1\"\nprice = {{ input = 1.0, output = 0.0 }}\n{more}"
    ));
}

/// SL-88: meaning finds what shares no word; a page is paid for once; what it costs is put down.
#[test]
fn meaning_is_found_where_an_endpoint_makes_vectors() {
    let sandbox = sandbox();
    let alone = search(&sandbox, &["--kind", "decision", "password", "authentication"]);
    assert!(alone.is_empty(), "{alone:#?}");
    let server = ModelServer::start(Script::always(Reply::Echo));
    with_vectors(&sandbox, &server.url(), "");
    let index = sandbox.tribunal(&["index", "--kind", "decision", "--format", "json"]).ends_with(0).json();
    assert_eq!(index[0]["vectors_made"], 3, "{index:#}");
    let hits = search(&sandbox, &["--kind", "decision", "password", "authentication"]);
    assert_eq!(names(&hits), ["ADR-0003"], "{hits:#?}");
    let requests = server.requests();
    let texts = |n: usize| requests[n].body["input"].as_array().unwrap().len();
    assert_eq!((requests.len(), texts(0), texts(1)), (2, 3, 1));
    let spend = sandbox.tribunal(&["spend", "--by", "agent", "--format", "json"]).ends_with(0).json();
    assert!(spend.to_string().contains("\"e\""), "{spend:#}");
    // One more is paid for alone; one less is not paid for.
    sandbox.write("docs/adrs/0004-logs.md", "# Logs are lines\n\n## Decision\n\nEvery log line is one object.\n");
    sandbox.git(&["rm", "--quiet", "docs/adrs/0001-retries.md"]);
    sandbox.commit("Another one");
    let made = |sandbox: &Sandbox| {
        let index = sandbox.tribunal(&["index", "--kind", "decision", "--format", "json"]).ends_with(0).json();
        (index[0]["vectors_made"].as_u64().unwrap(), server.requests().len())
    };
    assert_eq!((made(&sandbox), made(&sandbox)), ((1, 3), (0, 3)));
    sandbox.git(&["rm", "--quiet", "docs/adrs/0004-logs.md"]);
    sandbox.commit("Not that one");
    assert_eq!(made(&sandbox), (0, 3));
}

/// A checkout's own configuration counts once it is trusted; until then it is said that it does not.
#[test]
fn a_configuration_that_is_not_trusted_is_named() {
    let sandbox = sandbox();
    sandbox.write(".tribunal.toml", "[library]\ndecisions = [\"elsewhere\"]\n");
    for args in [&["index", "--kind", "decision"][..], &["search", "--kind", "decision", "retry", "budget"]] {
        sandbox.tribunal(args).ends_with(0).says(".tribunal.toml differs from the base and is not trusted here");
    }
    assert_eq!(names(&search(&sandbox, &["--kind", "decision", "retry", "budget"])), ["ADR-0001"]);
}

/// SL-88: an endpoint that fails, or that a budget does not allow, leaves the search by words, and says so.
#[test]
fn without_vectors_words_are_enough() {
    let sandbox = sandbox();
    with_vectors(&sandbox, "http://127.0.0.1:9", "[agents.e.clocks]\ntotal_seconds = 2\n");
    let found = sandbox.tribunal(&["search", "--kind", "decision", "retry", "budget"]).ends_with(0).prints("ADR-0001");
    assert!(found.stderr.contains("looked up by words alone"), "{}", found.stderr);
    let server = ModelServer::start(Script::always(Reply::Echo));
    with_vectors(&sandbox, &server.url(), "[budget]\nrun_usd = 0.000001\n");
    sandbox.tribunal(&["search", "--kind", "decision", "retry", "budget"]).ends_with(0).prints("ADR-0001").says("words alone");
    assert!(server.requests().is_empty(), "more was spent than allowed");
}

/// A `qmd` that writes down what it is told and answers from files.
fn qmd(sandbox: &Sandbox, script: &str) -> String {
    let path = sandbox.root().join("agents/qmd");
    fs::write(
        &path,
        format!("#!/bin/sh\nLOG={}\necho \"$1\" >> $LOG\n{script}\n", sandbox.root().join("home/.cache/qmd/log").display()),
    )
    .unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    fs::create_dir_all(sandbox.root().join("home/.cache/qmd")).unwrap();
    path.display().to_string()
}

/// Issue 7, build 4; SL-88: another index is used where it is configured, by exact collections; when it is slow it is asked more simply,
/// and when it fails there is no answer instead of a wrong one.
#[test]
fn another_index_is_asked_where_it_is_configured() {
    let sandbox = sandbox();
    let hit = r#"[{"docid":"x","score":0.8,"file":"qmd://shop-adrs/0001-retries.md","title":"Retries have a budget","snippet":"a retry budget"}]"#;
    let answering = qmd(&sandbox, &format!("case \"$*\" in update) ;; *shop-adrs*) echo '{hit}' ;; *) exit 1 ;; esac"));
    let configure = |command: &str| {
        sandbox.configure_person(&format!("[library.qmd]\ncommand = [\"{command}\"]\ncollection = \"shop\"\ntimeout = \"2s\"\n"));
    };
    configure(&answering);
    let hits = search(&sandbox, &["--kind", "decision", "retry", "budget"]);
    assert_eq!((names(&hits), hits[0]["score"].as_f64()), (vec!["ADR-0001"], Some(0.8)));
    let asked = fs::read_to_string(sandbox.root().join("home/.cache/qmd/log")).unwrap();
    assert_eq!(asked, "update\nquery\n");
    // By meaning it hangs; by words it answers.
    qmd(&sandbox, &format!("case \"$1\" in query) sleep 60 ;; search) echo '{hit}' ;; esac"));
    sandbox.tribunal(&["search", "--kind", "decision", "retry"]).ends_with(0).prints("ADR-0001").says("by words alone");
    qmd(&sandbox, "echo 'index is locked' >&2; exit 3");
    sandbox.tribunal(&["search", "--kind", "decision", "retry"]).ends_with(3).says("index is locked");
}

#[test]
fn nonsense_is_refused() {
    let sandbox = sandbox();
    sandbox.tribunal(&["search", "x", "--min-score", "7"]).ends_with(2).says("from 0 to 1");
    sandbox.tribunal(&["search"]).ends_with(2);
    sandbox.configure_person("[library]\ndecisions = [\"../elsewhere\"]\n");
    sandbox.tribunal(&["index"]).ends_with(2).says("outside of the repository");
}
