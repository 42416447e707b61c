//! How old what is looked up may be, and from where issues are read on (SL-84, SL-86, SL-87, SL-89).

use crate::calendar::{millis_of, rfc3339};
use crate::procedure::Millis;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Issues that were synced this recently are not asked for again.
pub const ISSUES_FOR: Millis = 5 * 60 * 1000;
/// An external index that was told this recently is taken as it is.
pub const EXTERNAL_FOR: Millis = 120 * 60 * 1000;
/// Between tries after a fault that may pass.
pub const PAUSES: [Millis; 3] = [1_000, 2_000, 4_000];
/// Forges stamp with seconds, and not all with one clock: what was written in the same moment as the cursor is read again.
const OVERLAP: Millis = 2_000;

/// `_meta.json` beside the pages.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Meta {
    /// When issues were last read, whole or in part.
    pub last_sync: String,
    pub tracker: String,
    /// By tracker: everything that changed up to then is here.
    pub cursor: BTreeMap<String, String>,
    pub sync_counts: Counts,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    pub added: u64,
    pub updated: u64,
    pub removed: u64,
}

/// How an issue that was listed came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Came {
    New,
    Changed,
    Same,
    /// Its page could not be written.
    Lost,
}

impl Meta {
    /// What a file says. One that cannot be read is as none: everything is read anew.
    pub fn read(text: &str) -> Option<Meta> {
        serde_json::from_str(text).ok()
    }

    pub fn is_fresh(&self, tracker: &str, now: Millis) -> bool {
        self.tracker == tracker && within(&self.last_sync, ISSUES_FOR, now)
    }

    /// From when on issues have to be read.
    pub fn since(&self, tracker: &str) -> Option<String> {
        let at = millis_of(self.cursor.get(tracker)?)?;
        Some(rfc3339(at.saturating_sub(OVERLAP)))
    }

    /// After a reading. The cursor stops before the first issue that was lost, so that it is read again; and a reading that was not
    /// whole moves it not at all (the defect of SL-87).
    pub fn after(&self, tracker: &str, came: &[(String, Came)], whole: bool, now: Millis) -> Meta {
        let mut counts = Counts::default();
        for (_, came) in came {
            match came {
                Came::New => counts.added += 1,
                Came::Changed => counts.updated += 1,
                Came::Same | Came::Lost => {}
            }
        }
        let at = |text: &String| millis_of(text);
        let first_lost = came.iter().filter(|(_, came)| *came == Came::Lost).filter_map(|(updated, _)| at(updated)).min();
        let newest =
            came.iter().filter_map(|(updated, _)| at(updated)).filter(|at| first_lost.is_none_or(|lost| *at < lost)).max();
        let mut cursor = self.cursor.clone();
        if let Some(newest) = newest.filter(|_| whole) {
            let known = cursor.get(tracker).and_then(|text| millis_of(text)).unwrap_or(0);
            cursor.insert(tracker.to_owned(), rfc3339(newest.max(known)));
        }
        Meta { last_sync: rfc3339(now), tracker: tracker.to_owned(), cursor, sync_counts: counts }
    }
}

/// Was it less than that long ago? What lies in the future was written by a clock that is wrong, and counts for nothing.
pub fn within(at: &str, span: Millis, now: Millis) -> bool {
    millis_of(at).is_some_and(|at| at <= now && now - at < span)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Millis = 1_800_000_000_000;

    fn at(seconds_ago: u64) -> String {
        rfc3339(NOW - seconds_ago * 1000)
    }

    /// SL-84, SL-89: five minutes for issues, two hours for an external index.
    #[test]
    fn how_old_each_may_be() {
        let meta = |seconds| Meta { last_sync: at(seconds), tracker: "gitea".into(), ..Meta::default() };
        assert!(meta(299).is_fresh("gitea", NOW) && !meta(300).is_fresh("gitea", NOW));
        assert!(!meta(1).is_fresh("github", NOW));
        assert!(within(&at(7199), EXTERNAL_FOR, NOW) && !within(&at(7200), EXTERNAL_FOR, NOW));
        assert!(!within(&rfc3339(NOW + 1000), ISSUES_FOR, NOW) && !within("yesterday", ISSUES_FOR, NOW));
    }

    /// SL-87: what failed is read again.
    #[test]
    fn a_lost_issue_holds_the_cursor_back() {
        let came = [(at(100), Came::New), (at(80), Came::Lost), (at(60), Came::Changed)];
        let meta = Meta::default().after("gitea", &came, true, NOW);
        assert_eq!(meta.cursor["gitea"], at(100));
        assert_eq!(meta.sync_counts, Counts { added: 1, updated: 1, removed: 0 });
        assert_eq!(meta.since("gitea"), Some(at(102)));
        let again = meta.after("gitea", &[(at(80), Came::New), (at(60), Came::Same)], true, NOW);
        assert_eq!(again.cursor["gitea"], at(60));
    }

    #[test]
    fn half_a_reading_moves_nothing() {
        let meta = Meta::default().after("gitea", &[(at(100), Came::New)], false, NOW);
        assert_eq!(meta.since("gitea"), None);
        assert_eq!(meta.after("github", &[], true, NOW).since("github"), None);
    }

    /// SL-86: four keys; a broken file is read as none.
    #[test]
    fn the_file_is_read_as_it_was_written() {
        let meta = Meta::default().after("gitea", &[(at(9), Came::New)], true, NOW);
        let text = serde_json::to_string(&meta).unwrap();
        assert_eq!(Meta::read(&text), Some(meta));
        assert_eq!(Meta::read("{\"last_sync\": 3"), None);
        for key in ["last_sync", "tracker", "cursor", "sync_counts"] {
            assert!(text.contains(key));
        }
    }
}
