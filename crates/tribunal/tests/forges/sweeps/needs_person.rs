//! What a sweep leaves to a person keeps the status of that head red (issue 16, point 12).

use super::super::loops::{configure, head, says};
use super::super::town::{Machine, Town};
use super::{PLAIN, UNSAFE, row, run, sent};
use forge_conformance::Who;
use tribunal_core::pull::capability::Capability;
use tribunal_core::pull::facts::CheckState;

/// SL-67: neither an emptied receipt nor another review of the same head turns it green. Once the person's thread is resolved, the next
/// sweep does.
pub async fn what_is_left_to_a_person_stays_red(town: &Town) {
    configure(town, PLAIN).await;
    let number = sent(town, "main", &[("settings.py", UNSAFE)], "A change").await.number;
    let address = town.address(number);
    says(town, number, Who::Maintainer, "", &[("settings.py", 4, "Which settings does this load?".to_owned())]).await;
    let sweep = || run(town, &["sweep".to_owned(), address.clone(), "--no-merge".to_owned()]);
    let report = sweep().ended(1).json();
    assert_eq!(row(&report, number)["status"], "needs-human-follow-up", "{report:#}");
    let at = head(town, number).await;
    assert_eq!(town.status(&at).await, Some(CheckState::Failure), "{report:#}");

    let publisher = Machine::new();
    let made = town.run_on(&publisher, &["review", &address, "--no-publish", "--format", "json"]).ended(0).json();
    assert_eq!(made["findings"].as_array().map(Vec::len), Some(0), "{made:#}");
    let file = publisher.folder().join("emptied.json");
    std::fs::write(&file, made.to_string()).unwrap();
    town.run_on(&publisher, &["publish", &file.display().to_string(), &address]);
    assert_eq!(town.status(&at).await, Some(CheckState::Failure), "by a receipt");
    town.run(&["review", &address]);
    town.run(&["review", &address, "--mode", "full"]);
    assert_eq!(town.status(&at).await, Some(CheckState::Failure), "by another review");

    // One forge resolves threads on its pages alone.
    let maintainer = town.stage.forge_as(Who::Maintainer);
    if !maintainer.capabilities().await.unwrap().can(Capability::Resolve) {
        return;
    }
    for thread in town.threads(number).await.iter().filter(|thread| !thread.resolved) {
        maintainer.resolve(number, thread).await.unwrap();
    }
    let report = sweep().json();
    assert_eq!(head(town, number).await, at, "{report:#}");
    assert_eq!(town.status(&at).await, Some(CheckState::Success), "{report:#}");
}
