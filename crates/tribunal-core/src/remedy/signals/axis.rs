//! A young file that takes findings round after round (WL-89): its approach is the problem, not its lines.

use super::structural::is_structural;
use super::{History, Remembered, Round};
use crate::feedback::item::ItemId;
use crate::ids::RepoPath;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

const ENOUGH: usize = 3;
const ENOUGH_WITH_PRIMITIVE: usize = 2;
const ENOUGH_STRUCTURAL: usize = 2;

/// What data goes through, and the word that names it. Findings around one of them are rarely apart.
const PRIMITIVES: [(&str, &str); 16] = [
    ("deserial", "serialisation"),
    ("serial", "serialisation"),
    ("serialis", "serialisation"),
    ("marshal", "serialisation"),
    ("encode", "serialisation"),
    ("decode", "serialisation"),
    ("json", "serialisation"),
    ("yaml", "serialisation"),
    ("query", "query"),
    ("sql", "query"),
    ("orm", "query"),
    ("parse", "parse"),
    ("parsing", "parse"),
    ("tokeni", "parse"),
    ("data-access", "data access"),
    ("repository", "data access"),
];

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Axis {
    pub fired: bool,
    pub evidence: Vec<String>,
    /// What fell on the file.
    #[serde(default)]
    pub members: Vec<ItemId>,
    pub file: Option<RepoPath>,
    pub primitive: Option<String>,
    /// Two structural fixes have not closed it: the approach itself must be thought over.
    pub zoom_out: bool,
}

impl Axis {
    /// What the cause may be, for people.
    pub fn root(&self) -> String {
        let file = self.file.as_ref().map_or("one file", RepoPath::as_str);
        match (self.zoom_out, &self.primitive) {
            (true, _) => format!("two structural fixes of {file} did not end it: the approach itself must be thought over"),
            (false, Some(primitive)) => format!("{file} draws findings about its {primitive} round after round"),
            (false, None) => format!("{file} draws findings round after round"),
        }
    }

    /// Why they belong together.
    pub fn rationale(&self) -> String {
        let file = self.file.as_ref().map_or("one file", RepoPath::as_str);
        format!("{} findings fell on {file}, which is young, in more than one round", self.members.len())
    }
}

/// The first file, by name, that shows it. Structural fixes in between do not reset the count; only quiet does.
pub fn cross_iteration_axis(history: &History) -> Axis {
    let mut files: BTreeMap<&RepoPath, Vec<&Remembered>> = BTreeMap::new();
    for finding in history.distinct().into_iter().filter(|finding| history.is_young(finding)) {
        if let Some(path) = &finding.path {
            files.entry(path).or_default().push(finding);
        }
    }
    let open: BTreeSet<&RepoPath> = history.open().into_iter().filter_map(|finding| finding.path.as_ref()).collect();
    files
        .into_iter()
        .filter(|(path, _)| open.contains(path))
        .find_map(|(path, findings)| axis(history, path, &findings))
        .unwrap_or_default()
}

fn axis(history: &History, path: &RepoPath, findings: &[&Remembered]) -> Option<Axis> {
    let rounds: BTreeSet<u32> = findings.iter().map(|finding| finding.round).collect();
    let shared = shared_primitive(findings);
    let enough = if shared.is_some() { ENOUGH_WITH_PRIMITIVE } else { ENOUGH };
    let claims = structural_claims(history, path);
    // What two structural fixes did not close needs no third finding.
    let zoom_out = claims.len() >= ENOUGH_STRUCTURAL;
    if !zoom_out && (rounds.len() < 2 || findings.len() < enough) {
        return None;
    }
    let raised = findings.iter().map(|finding| format!("{}, first raised in round {}", finding.name(), finding.round));
    Some(Axis {
        fired: true,
        evidence: raised.chain(claims).collect(),
        members: findings.iter().map(|finding| finding.item.clone()).collect(),
        file: Some(path.clone()),
        primitive: shared.map(str::to_owned),
        zoom_out,
    })
}

/// What fixes of the file claimed to make impossible, one for each round that really named a class (WL-93).
fn structural_claims(history: &History, path: &RepoPath) -> Vec<String> {
    let claim = |round: &Round| {
        let named = round.structural.iter().filter(|fix| &fix.path == path).map(is_structural).find(|claim| claim.fired)?;
        Some(format!("round {} promised: {}", round.number, named.evidence.join("; ")))
    };
    history.rounds.iter().filter_map(claim).collect()
}

/// A primitive that two findings of different rounds have in common.
fn shared_primitive(findings: &[&Remembered]) -> Option<&'static str> {
    let mut rounds: BTreeMap<&'static str, BTreeSet<u32>> = BTreeMap::new();
    for finding in findings {
        for primitive in primitives(finding) {
            rounds.entry(primitive).or_default().insert(finding.round);
        }
    }
    rounds.into_iter().find(|(_, rounds)| rounds.len() >= 2).map(|(primitive, _)| primitive)
}

fn primitives(finding: &Remembered) -> BTreeSet<&'static str> {
    let said = [&finding.framing, &finding.slug, &finding.category].into_iter().flatten().map(|text| text.to_lowercase());
    let words: Vec<String> =
        said.flat_map(|text| text.split([' ', '-', '_', '/', '.']).map(str::to_owned).collect::<Vec<_>>()).collect();
    let joined = words.join("-");
    PRIMITIVES
        .iter()
        .filter(|(sign, _)| words.iter().any(|word| word.starts_with(sign)) || sign.contains('-') && joined.contains(sign))
        .map(|(_, name)| *name)
        .collect()
}
