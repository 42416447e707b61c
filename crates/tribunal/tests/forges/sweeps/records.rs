//! What a sweep knows of a project's records: what a change is held against, and what it should have named.

use super::super::loops::{configure, head};
use super::super::town::Town;
use super::{PLAIN, row, run, sent};
use fake_model_server::{ModelServer, Reply, Script};
use forge_conformance::Who;
use tribunal_core::pull::talk::NewIssue;

const RETRIES: &str = "# Retries have a budget\n\n## Status\n\nAccepted\n\n## Decision\n\nEvery client retries a failed request at most once, within the retry budget of its run.\n";
const QUEUE: &str = "# Messages are queued\n\n## Decision\n\nMessages are stored before anybody acknowledges them.\n";
const CLIENT: &str = "def fetch_with_retry(url, budget):\n    return send(url, budget)\n";

async fn issue(town: &Town, title: &str, body: &str) -> u64 {
    let issue = NewIssue { title: title.into(), body: body.into(), labels: vec![] };
    town.stage.forge_as(Who::Maintainer).create_issue(&issue).await.unwrap().number
}

/// The summary of a review.
async fn page(town: &Town, number: u64) -> String {
    town.stickies(number).await.remove(0).body
}

/// SL-39 to SL-42, SL-84: decisions and issues that a change does not name are asked for, with their evidence; those that it names are
/// not, nor those that a comment in its files names. They block nothing.
pub async fn references_are_asked_for(town: &Town) {
    configure(town, PLAIN).await;
    let records = [("docs/adrs/0001-retries.md", Some(RETRIES)), ("docs/adrs/0002-queue.md", Some(QUEUE))];
    town.stage.push("main", &records, "decisions").await;
    let hang = issue(town, "Requests hang without a retry", "The client should retry within a budget.").await;
    let silent = sent(town, "main", &[("retry_budget.py", CLIENT)], "Adds it.").await;
    let named = format!("By ADR-0001. Related: #{hang}");
    let naming = sent(town, "main", &[("retry_budget.py", CLIENT)], &named).await;
    let governed = format!("# Governed by ADR-0001.\n{CLIENT}");
    let governed = sent(town, "main", &[("retry_budget.py", &governed)], &format!("Part of #{hang}")).await;
    let words: Vec<String> =
        ["sweep".to_owned()].into_iter().chain([&silent, &naming, &governed].map(|sent| town.address(sent.number))).collect();
    let report = run(town, &words).ended(0).json();
    assert_eq!(row(&report, silent.number)["status"], "pending-manual-merge", "{report:#}");
    let asked = page(town, silent.number).await;
    assert!(asked.contains("References that may be missing (2)"), "{asked}");
    assert!(asked.contains("Should this pull request refer to ADR-0001 (Retries have a budget)?"), "{asked}");
    assert!(asked.contains("docs/adrs/0001-retries.md") && asked.contains("section Decision · score 0."), "{asked}");
    assert!(asked.contains("Requests hang without a retry") && !asked.contains("ADR-0002"), "{asked}");
    for sent in [&naming, &governed] {
        let page = page(town, sent.number).await;
        assert!(!page.contains("References that may be missing"), "{page}");
    }
}

/// SL-24, SL-27, SL-50: the auditor is given spec and design, the decision that they name and the criteria of the issue; half a spec ends
/// the sweep before anybody is paid.
pub async fn changes_are_held_against_their_spec(town: &Town) {
    let server = ModelServer::start(Script::always(Reply::Echo));
    let auditor = format!(
        "{PLAIN}[panel]\nspec-auditor = [\"m\"]\n[agents.m]\nkind = \"openai-chat\"\nmodel = \"m\"\nbase_url = \"{}/v1\"\nprice = {{ input = 0.1, output = 0.1 }}\n",
        server.url()
    );
    configure(town, &auditor).await;
    let spec = "# SPEC-0004: Fetching\n\n## Requirements\n\nA page is fetched twice at most, as ADR-0001 says.\n";
    let folder = "docs/openspec/specs/fetching";
    let (spec_file, design_file) = (format!("{folder}/spec.md"), format!("{folder}/design.md"));
    let half = [(spec_file.as_str(), Some(spec)), ("docs/adrs/0001-retries.md", Some(RETRIES))];
    town.stage.push("main", &half, "half a spec").await;
    let story = issue(town, "Fetch pages", "### Acceptance Criteria\n\n- a page that is gone is said to be gone\n").await;
    let change = sent(town, "main", &[("fetch.py", CLIENT)], &format!("For SPEC-0004.\n\nFixes #{story}")).await;
    let words = ["sweep".to_owned(), town.address(change.number)];
    let before = head(town, change.number).await;
    let halted = run(town, &words).ended(2).json();
    assert_eq!(halted["stop"], "setup");
    assert!(halted["explanation"].as_str().unwrap().contains("fetching/spec.md has no design.md beside it"), "{halted:#}");
    assert!(server.requests().is_empty() && head(town, change.number).await == before);

    town.stage.push("main", &[(design_file.as_str(), Some("# How\n\nWith one client for everybody.\n"))], "the other half").await;
    let swept = run(town, &words);
    let asked = server.requests().iter().map(|request| request.body.to_string()).collect::<String>();
    for text in [
        "A page is fetched twice at most",
        "With one client for everybody",
        "within the retry budget of its run",
        "a page that is gone is said to be gone",
    ] {
        assert!(asked.contains(text), "the auditor was not given `{text}`: {}{}", swept.stdout, swept.stderr);
    }
}
