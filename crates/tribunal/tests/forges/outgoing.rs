//! What leaves: no key that a change adds, no secret of the machine, no mark of somebody else.

use super::town::{Machine, Town};
use forge_conformance::{Voice as _, Who};
use std::path::Path;
use tribunal_core::findings::key::sha256_hex;
use tribunal_core::publish::memory::Memory;
use tribunal_core::publish::outgoing::Outgoing;
use tribunal_core::pull::facts::CheckState;
use tribunal_core::pull::talk::NewPull;

// In two parts, so that secret scanners pass over this file.
const AWS: &str = concat!("AK", "IAQ3WZ7T5RY2KXQ3WZ");
const GITHUB: &str = concat!("gh", "p_A3f8LrW1d6JmSxb4G9NtY2E7kpUzC5h0Qv1d");
const PASSWORD: &str = "q7Zr!2kLx9Pv4TnW8s";
const PEM_LINE: &str = "MIIEowIBAAKCAQEAqV7hT9xLk2Zr5WcPf8sNbYgD3mJvXeQ0qV7hT9xLk2Zr5Wc";

/// Everything that stands on a pull request, as the forge gives it back.
async fn posted(town: &Town, number: u64) -> String {
    let forge = town.stage.forge_as(Who::Bot);
    let head = forge.pull(number).await.unwrap().head.sha;
    let mut all = String::new();
    for comment in town.comments(number).await {
        all.push_str(&format!("{}\n{}\n", comment.body, unpacked(&comment.body)));
    }
    forge.reviews(number).await.unwrap().iter().for_each(|review| all.push_str(&format!("{}\n", review.body)));
    let threads = town.threads(number).await;
    threads.iter().flat_map(|thread| &thread.comments).for_each(|comment| all.push_str(&format!("{}\n", comment.body)));
    forge.checks(&head).await.unwrap().iter().for_each(|check| all.push_str(&format!("{}\n", check.description)));
    all
}

/// What the sticky carries for the next review, as whoever unpacks it would read it.
fn unpacked(body: &str) -> String {
    let Some(line) = body.lines().find(|line| line.starts_with("<!-- tribunal:memory ")) else { return String::new() };
    let memory = Memory::unpack(body, &sha256_hex(line.trim().as_bytes())).expect("the sticky's memory");
    serde_json::to_string(&memory).unwrap()
}

/// Every ledger of a machine, with what is still in its log.
fn ledgers(folder: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        if path.is_dir() {
            bytes.extend(ledgers(&path));
        } else if name.starts_with("ledger.db") {
            bytes.extend(std::fs::read(&path).unwrap());
        }
    }
    bytes
}

fn holds(bytes: &[u8], secret: &str) -> bool {
    bytes.windows(secret.len()).any(|window| window == secret.as_bytes())
}

/// Issue 16, C13: a comment that quotes a key outlives the push that removes it, so no key is quoted: not on the forge, not in the
/// ledger, not in any format. The same for the token that posts, wherever a change got it from.
pub async fn no_key_gets_out(town: &Town) {
    let token = town.tokens.iter().find(|(who, _)| *who == Who::Bot).map(|(_, token)| token.clone()).unwrap();
    let token = if token.len() < 16 { "the key of this town".to_owned() } else { token };
    let keys = format!(
        "aws_access_key_id = \"{AWS}\"\ntoken = \"{GITHUB}\"\ndb_password = \"{PASSWORD}\"\nKEY = \"\"\"\n-----BEGIN RSA PRIVATE KEY-----\n{PEM_LINE}\n-----END RSA PRIVATE KEY-----\n\"\"\"\n"
    );
    let ours = format!("import yaml\n\n\ndef load(text):\n    return yaml.load(text)  # {token}\n");
    let (number, branch, head) = town.pull(&[("settings.py", Some(&keys)), ("app.py", Some(&ours))]).await;
    let document = town.review(number);
    let slugs: Vec<&str> =
        document["findings"].as_array().unwrap().iter().filter_map(|finding| finding["slug"].as_str()).collect();
    for slug in ["secret-aws-access-key", "secret-github-token", "py-yaml-unsafe-load"] {
        assert!(slugs.contains(&slug), "{slug} is not among {slugs:?}");
    }
    assert_eq!(town.status(&head).await, Some(CheckState::Failure));
    let mut printed = document.to_string();
    let run = document["receipt"]["run"].as_str().unwrap();
    for format in ["text", "json", "sarif", "rdjson", "markdown"] {
        printed.push_str(&town.run(&["show", run, "--format", format]).stdout);
    }
    let dry = town.run(&["review", &town.address(number), "--dry-run", "--mode", "full"]);
    printed.push_str(&dry.stdout);
    let posted = posted(town, number).await;
    assert!(posted.contains("AKIA…(20 masked, "), "a person recognises the key by its start and length: {posted}");
    let stored = ledgers(&town.machine.folder());
    assert!(!stored.is_empty());
    for secret in [AWS, GITHUB, PASSWORD, PEM_LINE, token.as_str()] {
        assert!(!posted.contains(secret), "{secret} was posted:\n{posted}");
        assert!(!printed.contains(secret), "{secret} was printed");
        assert!(!holds(&stored, secret), "{secret} is in the ledger");
    }
    // The finding is told by its masked code: a push beside it repeats nothing, on another machine either.
    let threads = town.threads(number).await.len();
    town.stage.push(&branch, &[("more.md", Some("text\n"))], "more").await;
    let again = town.run_on(&Machine::new(), &["review", &town.address(number), "--format", "json"]).json();
    let count = |document: &serde_json::Value| document["findings"].as_array().map(Vec::len);
    assert_eq!(count(&again), count(&document));
    assert_eq!(town.threads(number).await.len(), threads, "nothing is said twice");
}

/// Issue 16, D17: a description, a title and a comment that carry our marker text suppress nothing, whoever wrote them.
pub async fn marks_in_a_description(town: &Town) {
    let (first, _, _) = town.pull(&[("app.py", Some("import yaml\nx = yaml.load(y)\n"))]).await;
    town.review(first);
    let sticky = town.stickies(first).await.remove(0).body;
    let branch = super::town::new_branch();
    let head = town.stage.push(&branch, &[("app.py", Some("import yaml\nx = yaml.load(y)\n"))], "a change").await;
    // Our own account, a person's token in CI, may have opened it.
    let pull = NewPull {
        title: Outgoing::of_somebody_else("Fix <!-- tribunal:1 a.b -->"),
        body: Outgoing::of_somebody_else(&sticky),
        head_branch: branch,
        base_branch: "main".into(),
        draft: false,
    };
    let number = town.stage.forge_as(Who::Bot).open(&pull).await.unwrap().number;
    if town.stage.has_accounts() {
        town.stage.forge_as(Who::Stranger).comment(number, &format!("look:\n{sticky}")).await.unwrap();
    }
    let document = town.review(number);
    assert_eq!(document["findings"].as_array().map(Vec::len), Some(1), "{document:#}");
    assert_eq!(town.status(&head).await, Some(CheckState::Failure));
    assert_eq!(town.threads(number).await.len(), 1);
    assert_eq!(town.stickies(number).await.len(), 1);
}
