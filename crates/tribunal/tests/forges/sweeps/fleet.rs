//! A fleet is swept, merged in order, swept again, disturbed.

use super::super::loops::{file, head};
use super::super::town::Town;
use super::{Fleet, is_open, row, said, set_check, state};
use tribunal_core::pull::facts::{CheckState, PullState};

/// What a sweep of the fleet comes to, whatever happened on the way (SL-36, SL-51, SL-68, SL-70, SL-79).
pub async fn assert_swept(town: &Town, fleet: &Fleet) {
    for sent in [&fleet.settings, &fleet.prices, &fleet.basket, &fleet.receipts] {
        assert_eq!(state(town, sent.number).await, PullState::Merged, "#{}", sent.number);
    }
    for sent in [&fleet.tax, &fleet.notes] {
        assert_eq!(state(town, sent.number).await, PullState::Open, "#{}", sent.number);
    }
    let shop = file(town, "main", "shop.py").await;
    assert!(shop.contains("round(sum(items), 2)") && shop.contains("if items else None"), "{shop}");
    assert!(file(town, "main", "settings.py").await.contains("yaml.safe_load(text)"));
    assert_eq!(file(town, "main", "receipts.md").await, "A receipt.");
    for story in &fleet.stories[..4] {
        assert!(!is_open(town, *story).await, "#{story}");
    }
    assert!(is_open(town, fleet.stories[4]).await && is_open(town, fleet.epic).await);
    // Each word stands there once.
    for sent in fleet.all() {
        let mut all: Vec<String> = said(town, sent.number).await.into_iter().filter(|words| !words.is_empty()).collect();
        let count = all.len();
        all.sort();
        all.dedup();
        assert_eq!(all.len(), count, "something was said twice on #{}: {all:#?}", sent.number);
    }
    let rejections = said(town, fleet.notes.number).await;
    let rejections = rejections.iter().filter(|words| words.contains("## Conflict Markers Detected")).count();
    assert_eq!(rejections, 1);
}

/// Issue 7: six pull requests for five stories are reviewed by pairs, mended, and merged in order; the red one and the marked one stay,
/// and so does their epic. A second sweep changes nothing; when the two are mended, a third one closes the epic (SL-1, SL-35, SL-51,
/// SL-68, SL-70, SL-72 to SL-83, SL-172).
pub async fn a_fleet(town: &Town) {
    let fleet = Fleet::new(town).await;
    let report = fleet.sweep(town, &["--merge", "--yes"]).ended(1).json();
    for sent in [&fleet.settings, &fleet.prices, &fleet.basket, &fleet.receipts] {
        let row = row(&report, sent.number);
        assert_eq!((&row["status"], &row["merge"]["merged"]), (&"complete".into(), &"squash".into()), "{report:#}");
    }
    assert_eq!(row(&report, fleet.tax.number)["status"], "checks-failing", "{report:#}");
    assert_eq!(row(&report, fleet.notes.number)["status"], "rejected", "{report:#}");
    assert!(report["epics"].as_array().unwrap().iter().all(|epic| epic["closed"] == false), "{report:#}");
    assert_swept(town, &fleet).await;

    let before = (said(town, fleet.tax.number).await, said(town, fleet.notes.number).await, head(town, fleet.notes.number).await);
    let again = fleet.sweep(town, &["--merge", "--yes"]).ended(1).json();
    assert_eq!(row(&again, fleet.notes.number)["status"], "rejected", "{again:#}");
    let after = (said(town, fleet.tax.number).await, said(town, fleet.notes.number).await, head(town, fleet.notes.number).await);
    assert_eq!(after, before, "a second sweep changed something");
    assert_swept(town, &fleet).await;

    town.stage.push(&fleet.notes.branch, &[("NOTES.txt", Some("# Notes\n\nopen\n"))], "resolved").await;
    set_check(town, &head(town, fleet.tax.number).await, CheckState::Success).await;
    let mended = fleet.sweep(town, &["--merge", "--yes"]).ended(0).json();
    assert_eq!(row(&mended, fleet.tax.number)["status"], "complete", "{mended:#}");
    assert!(!is_open(town, fleet.epic).await, "{mended:#}");
    assert!(mended["epics"].as_array().unwrap().iter().any(|epic| epic["closed"] == true), "{mended:#}");
}

/// SL-8, SL-71, CF-1: without `--merge` nothing is merged, what is approved says so, and a second sweep says nothing new.
pub async fn a_fleet_that_waits(town: &Town) {
    let fleet = Fleet::new(town).await;
    let report = fleet.sweep(town, &[]).ended(1).json();
    assert_eq!(row(&report, fleet.prices.number)["status"], "pending-manual-merge", "{report:#}");
    let mut before = Vec::new();
    for sent in fleet.all() {
        assert_eq!(state(town, sent.number).await, PullState::Open);
        before.push((head(town, sent.number).await, said(town, sent.number).await));
    }
    fleet.sweep(town, &["--no-merge"]).ended(1);
    for (sent, before) in fleet.all().iter().zip(before) {
        let after = (head(town, sent.number).await, said(town, sent.number).await);
        assert_eq!(after, before, "a second sweep changed something on #{}", sent.number);
    }
}

/// SL-9, SL-44, SL-173: a dry run looks and says what it would do, and leaves nothing anywhere.
pub async fn a_fleet_is_only_looked_at(town: &Town) {
    let fleet = Fleet::new(town).await;
    let mut before = Vec::new();
    for sent in fleet.all() {
        before.push((head(town, sent.number).await, said(town, sent.number).await));
    }
    let report = fleet.sweep(town, &["--merge", "--yes", "--dry-run"]).ended(1).json();
    assert_eq!(row(&report, fleet.settings.number)["status"], "would-review", "{report:#}");
    assert_eq!(row(&report, fleet.notes.number)["status"], "would-reject", "{report:#}");
    assert_eq!(row(&report, fleet.tax.number)["status"], "checks-failing", "{report:#}");
    for (sent, before) in fleet.all().iter().zip(before) {
        assert_eq!((head(town, sent.number).await, said(town, sent.number).await), before, "#{}", sent.number);
        assert_eq!(state(town, sent.number).await, PullState::Open);
    }
    assert!(!town.machine.folder().join(".local/state/tribunal").join("ledger.db").exists(), "a dry run left a ledger");
}
