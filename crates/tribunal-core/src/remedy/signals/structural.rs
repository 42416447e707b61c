//! Is a fix structural (WL-93)? It must name a class of findings that can no longer occur. A list of handled cases is a longer patch.

use super::Signal;
use crate::findings::anchor::fold;
use crate::ids::RepoPath;
use serde::{Deserialize, Serialize};

/// What a fixer claims of a larger fix.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StructuralFix {
    pub path: RepoPath,
    /// The class of findings made impossible, in one phrase.
    #[serde(default)]
    pub class: Option<String>,
    /// The cases it handles one by one.
    #[serde(default)]
    pub cases: Vec<String>,
}

/// Words of somebody who lists.
const LISTING: [&str; 6] = ["case", "also handle", "handles", "in addition", "as well as", "etc"];

pub fn is_structural(fix: &StructuralFix) -> Signal {
    let class = fix.class.as_deref().map(fold).unwrap_or_default();
    let lower = class.to_lowercase();
    let why_not = if class.is_empty() {
        Some("it names no class of findings that it makes impossible")
    } else if !fix.cases.is_empty() {
        Some("it lists the cases it handles, so others are left")
    } else if class.matches([',', ';']).count() >= 2 || LISTING.iter().any(|word| lower.contains(word)) {
        Some("what it names is a list of cases, not a class")
    } else {
        None
    };
    match why_not {
        Some(reason) => Signal { fired: false, evidence: vec![reason.to_owned()] },
        None => Signal { fired: true, evidence: vec![format!("{}: no more {class}", fix.path)] },
    }
}
