//! What the suite saw of each forge, kept in `seen/`: the table of capabilities in `docs/forges.md` is made from it.

use crate::checks::tried_by;
use crate::stage::{Stage, Who};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;
use tribunal_core::pull::capability::Capability;

/// Set it to write the records anew instead of holding the forge to them.
const RECORD: &str = "CONFORMANCE_RECORD";

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Seen {
    Works,
    Missing,
    /// Claimed, and no answer of the forge can show it.
    Said,
    /// Its check is left out on this forge, for this reason.
    Untried(String),
}

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    pub version: String,
    pub seen: BTreeMap<Capability, Seen>,
}

fn path(name: &str) -> PathBuf {
    let file = name.to_lowercase().replace(", ", "-").replace(' ', "-");
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("seen").join(format!("{file}.json"))
}

/// The record of a forge.
///
/// # Panics
/// If there is none.
pub fn read(name: &str) -> Record {
    let path = path(name);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// All checks hold on this forge: its record must say the same.
pub(crate) async fn hold(stage: &dyn Stage, left_out: &[(&str, &str)]) {
    let capabilities = stage.forge_as(Who::Bot).capabilities().await.expect("capabilities");
    let seen = |capability: Capability| {
        let check = tried_by(capability);
        match (left_out.iter().find(|(name, _)| Some(*name) == check), capabilities.can(capability), check) {
            (Some((_, reason)), _, _) => Seen::Untried((*reason).to_owned()),
            (None, true, Some(_)) => Seen::Works,
            (None, true, None) => Seen::Said,
            (None, false, _) => Seen::Missing,
        }
    };
    let record = Record {
        version: capabilities.version.clone(),
        seen: Capability::ALL.into_iter().map(|capability| (capability, seen(capability))).collect(),
    };
    if std::env::var_os(RECORD).is_some() {
        let path = path(stage.name());
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("the folder of the records");
        let text = serde_json::to_string_pretty(&record).expect("a record") + "\n";
        std::fs::write(&path, text).expect("the record");
        return;
    }
    assert_eq!(record, read(stage.name()), "{}: set {RECORD}=1 to record this, then run `cargo xtask docs`", stage.name());
}
