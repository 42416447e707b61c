//! Merging what is cleared, once; bringing the rest up to date; and closing what is finished by it.

use super::super::town::Town;
use super::{Opened, onto, opened};
use forge_conformance::Who;
use std::sync::Arc;
use tempfile::TempDir;
use tribunal_core::findings::key::sha256_hex;
use tribunal_core::merge::clearance::{Clearance, Lapse};
use tribunal_core::merge::conditions::{Conditions, conditions};
use tribunal_core::merge::epic::EpicEnd;
use tribunal_core::merge::policy::{MergePolicy, VerifiedBy, Wanted, When};
use tribunal_core::publish::marker::MarkerKey;
use tribunal_core::pull::facts::PullState;
use tribunal_core::pull::place::Project;
use tribunal_core::pull::talk::NewIssue;
use tribunal_engine::effects::on_forge::OnForge;
use tribunal_engine::merging::{Look, MergeEnd, Merging, UpdateEnd};
use tribunal_forge::git::Repository;
use tribunal_store::{Ledger, SealKey};

fn policy() -> MergePolicy {
    MergePolicy { when: When::Approved, verified_by: VerifiedBy::Rules, ..MergePolicy::default() }
}

fn judged(look: &Look) -> Conditions {
    conditions(&policy(), &look.facts, Wanted::AsConfigured)
}

/// As a machine that has none of the ledgers of the others has it: everything is read from the forge.
async fn merging(town: &Town, of: &Opened) -> (Merging, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let forge = town.stage.forge_as(Who::Bot);
    let project = Project { origin: town.origin.clone(), path: town.path.clone() };
    let secret = format!("{}\n{}", sha256_hex(project.host().as_bytes()), "the key of this town");
    let source = forge.source(&forge.pull(of.number).await.unwrap());
    let merging = Merging {
        on: OnForge {
            forge,
            key: MarkerKey::from_secret(&secret),
            dry: false,
            looked_up: Default::default(),
            posted: Default::default(),
        },
        kind: town.stage.kind(),
        project,
        repository: Arc::new(Repository::clone_of(&folder.path().join("clone.git"), &source).unwrap()),
        ledger: Arc::new(Ledger::open(&folder.path().join("ledger.db"), SealKey::new(&[7; 32], "landing", None)).await.unwrap()),
        bots: Default::default(),
    };
    (merging, folder)
}

/// Looks until the forge has worked out what it has to.
async fn cleared(merging: &Merging, number: u64) -> Clearance {
    let begun = std::time::Instant::now();
    loop {
        let look = merging.look(number).await.unwrap();
        let judged = judged(&look);
        if let Some(clearance) = judged.clearance() {
            return clearance.clone();
        }
        let late = begun.elapsed() > std::time::Duration::from_secs(180);
        assert!(judged.only_waits() && !late, "{:#?}", judged.unmet().collect::<Vec<_>>());
        tokio::time::sleep(std::time::Duration::from_millis(200)).await;
    }
}

async fn issue(town: &Town, body: &str) -> u64 {
    let new = NewIssue { title: super::name("issue").into(), body: body.into(), labels: Vec::new() };
    town.stage.forge_as(Who::Bot).create_issue(&new).await.unwrap().number
}

/// CF-1, SL-68, SL-70, TS-105: cleared, merged once, its story closed by the forge, its epic by us, with one comment, and up the chain.
pub async fn a_merge_is_made_once(town: &Town) {
    let bot = town.stage.forge_as(Who::Bot);
    let saga = issue(town, "Everything.").await;
    let epic = issue(town, &format!("The larger work.\n\nPart of #{saga}")).await;
    let (story, other) = (issue(town, &format!("Part of #{epic}")).await, issue(town, &format!("Part of #{epic}")).await);
    let first = opened(town, &format!("Closes #{story}\n\nPart of #{epic}")).await;
    let second = opened(town, &format!("Fixes #{other}")).await;
    for pull in [&first, &second] {
        town.review(pull.number);
    }
    let (merging, _folder) = merging(town, &first).await;

    let clearance = cleared(&merging, first.number).await;
    let holds = |look: &Look| clearance.still_holds(&look.facts, &judged(look));
    assert_eq!(merging.merge(&clearance, holds).await.unwrap(), MergeEnd::Merged);
    assert_eq!(bot.pull(first.number).await.unwrap().state, PullState::Merged);
    // A process that died before it could say so does nothing more.
    let main = town.stage.checkout().tip("main").await;
    assert_eq!(merging.merge(&clearance, holds).await.unwrap(), MergeEnd::Merged);
    assert_eq!(town.stage.checkout().tip("main").await, main);

    // SL-172: one story is open, so nothing is closed.
    let ends = merging.epics(first.number, "Part of").await;
    assert!(matches!(ends.as_slice(), [(number, EpicEnd::StaysOpen { .. })] if *number == epic), "{ends:?}");
    assert!(!bot.issue(story).await.unwrap().open, "the forge closed the story");

    let clearance = cleared(&merging, second.number).await;
    assert_eq!(
        merging.merge(&clearance, |look| clearance.still_holds(&look.facts, &judged(look))).await.unwrap(),
        MergeEnd::Merged
    );
    let ends = merging.epics(second.number, "Part of").await;
    assert!(matches!(ends.as_slice(), [(_, EpicEnd::Close { .. }), (_, EpicEnd::Close { .. })]), "{ends:?}");
    for issue in [epic, saga] {
        assert!(!bot.issue(issue).await.unwrap().open);
        assert_eq!(bot.issue_comments(issue).await.unwrap().len(), 1);
    }
    // Once more is nothing more.
    let ends = merging.epics(second.number, "Part of").await;
    assert!(ends.iter().all(|(_, end)| *end == EpicEnd::Closed), "{ends:?}");
    assert_eq!(bot.issue_comments(epic).await.unwrap().len(), 1);
}

/// Field pain 25, butido#168: a push between the clearance and the merge takes the right back, and nothing is merged.
pub async fn a_push_lapses_a_clearance(town: &Town) {
    let pull = opened(town, "").await;
    town.review(pull.number);
    let (merging, _folder) = merging(town, &pull).await;
    let clearance = cleared(&merging, pull.number).await;
    let main = town.stage.checkout().tip("main").await;
    let file = format!("{}.md", super::name("late"));
    let pushed = town.stage.push(&pull.branch, &[(&file, Some("Slipped in.\n"))], "slipped in").await;
    let end = merging.merge(&clearance, |look| clearance.still_holds(&look.facts, &judged(look))).await.unwrap();
    assert!(matches!(&end, MergeEnd::Lapsed(Lapse::HeadMoved { found, .. }) if *found == pushed), "{end:?}");
    // Where nobody looks again, the guard does.
    let end = merging.merge(&clearance, |_| Ok(())).await.unwrap();
    assert!(matches!(&end, MergeEnd::Lapsed(Lapse::HeadMoved { .. })), "{end:?}");
    assert_eq!(town.stage.checkout().tip("main").await, main);
    assert_eq!(town.stage.forge_as(Who::Bot).pull(pull.number).await.unwrap().state, PullState::Open);
}

/// SL-79: after a merge the rest is brought up to date; what cannot be is left as it is.
pub async fn the_rest_is_brought_up_to_date(town: &Town) {
    let file = format!("{}.md", super::name("shared"));
    let lines = |first: &str, last: &str| format!("{first}\n{}{last}\n", "between\n".repeat(20));
    town.stage.push("main", &[(&file, Some(&lines("a", "z")))], "before").await;
    let beside = onto(town, "main", "", &[(&file, Some(&lines("a", "Z")))]).await;
    let against = onto(town, "main", "", &[(&file, Some(&lines("b", "z")))]).await;
    let (merging, _folder) = merging(town, &beside).await;
    assert_eq!(merging.update(beside.number, &beside.head).await.unwrap(), UpdateEnd::Head(beside.head.clone()));
    town.stage.push("main", &[(&file, Some(&lines("A", "z")))], "somebody merged").await;

    let end = merging.update(beside.number, &beside.head).await.unwrap();
    let UpdateEnd::Head(head) = end else { panic!("{end:?}") };
    assert_ne!(head, beside.head);
    assert_eq!(town.stage.forge_as(Who::Bot).pull(beside.number).await.unwrap().head.sha, head);
    // Asked again for the head before, as after a kill: it is what the base added, and no push of anybody's.
    assert_eq!(merging.update(beside.number, &beside.head).await.unwrap(), UpdateEnd::Head(head));

    let end = merging.update(against.number, &against.head).await.unwrap();
    assert!(matches!(end, UpdateEnd::Conflict(_)), "{end:?}");
    let pushed = town.stage.push(&against.branch, &[("other.md", Some("More.\n"))], "more").await;
    let end = merging.update(against.number, &against.head).await.unwrap();
    assert_eq!(end, UpdateEnd::Moved(pushed));
}
