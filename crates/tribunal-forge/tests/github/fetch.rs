//! What is asked of a forge's git.

use super::stage::GitHubStage;
use forge_conformance::{Stage as _, Who};
use std::path::Path;
use std::process::Command;
use tribunal_core::pull::facts::Pull;
use tribunal_forge::git::Repository;
use tribunal_forge::port::Read as _;

fn objects(clone: &Path) -> u64 {
    let counted = Command::new("git").arg("-C").arg(clone).args(["count-objects", "-v"]).output().unwrap();
    let text = String::from_utf8(counted.stdout).unwrap();
    text.lines().filter_map(|line| line.strip_prefix("in-pack: ").or(line.strip_prefix("count: "))?.parse::<u64>().ok()).sum()
}

/// One fetch for history and one for files, however many there are; after a push only what is new comes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn little_is_fetched_and_nothing_twice() {
    let stage = GitHubStage::new().await;
    for commit in 0..20 {
        stage.push("main", &[("README.md", Some(&format!("A shop, {commit}.\n")))], "before").await;
    }
    let names: Vec<String> = (0..10).map(|n| format!("file{n}.txt")).collect();
    let files: Vec<(&str, Option<&str>)> = names.iter().map(|name| (name.as_str(), Some(name.as_str()))).collect();
    stage.push("fetched", &files, "ten files").await;
    let number = stage.open_pull("fetched", "main", "Ten files", "").await;
    let forge = stage.client(Who::Bot);
    let folder = tempfile::tempdir().unwrap();
    let clone = folder.path().join("shop.git");
    let bring = async |pull: &Pull| {
        stage.server.forget_log();
        let (source, pull, clone) = (forge.source(pull), pull.clone(), clone.clone());
        tokio::task::spawn_blocking(move || {
            let repository = Repository::clone_of(&clone, &source).unwrap();
            let fetched = repository.fetch_pull(&source, &pull.base.sha, &pull.head.sha).unwrap();
            assert_eq!((&fetched.base, &fetched.head), (&pull.base.sha, &pull.head.sha));
            let merge_base = repository.merge_base(&fetched.base, &fetched.head, "base", "head").unwrap();
            repository.bring_changed(&merge_base, &fetched.head).unwrap();
        })
        .await
        .unwrap();
        stage.server.log().matching("GET", "info/refs").len()
    };

    let pull = forge.pull(number).await.unwrap();
    assert_eq!(bring(&pull).await, 2, "{}", stage.server.log().story());
    assert_eq!(bring(&pull).await, 0, "{}", stage.server.log().story());
    let before = objects(&clone);
    assert!(before > 40, "{before}");

    stage.push("fetched", &[("file0.txt", Some("new\n"))], "a push").await;
    let pull = forge.pull(number).await.unwrap();
    assert_eq!(bring(&pull).await, 1, "{}", stage.server.log().story());
    let came = objects(&clone) - before;
    assert!((3..=5).contains(&came), "a commit, a tree and a file, and what they are told apart from: {came}");
}
