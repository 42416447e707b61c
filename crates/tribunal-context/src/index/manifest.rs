//! What is in a collection: which documents, in which state, cut into which pages.

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::Path;

/// Raised when pages are cut, hashed or stored in another way: an index of another version is rebuilt.
const VERSION: u32 = 2;
const FILE: &str = "sources.json";

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    pub stamp: String,
    /// Hashes.
    pub pages: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    version: u32,
    pub sources: BTreeMap<String, Entry>,
}

impl Default for Manifest {
    fn default() -> Self {
        Self { version: VERSION, sources: BTreeMap::new() }
    }
}

impl Manifest {
    pub fn read(folder: &Path) -> Option<Self> {
        let text = fs::read_to_string(folder.join(FILE)).ok()?;
        serde_json::from_str(&text).ok().filter(|manifest: &Manifest| manifest.version == VERSION)
    }

    pub fn write(&self, folder: &Path) -> io::Result<()> {
        replace(&folder.join(FILE), &serde_json::to_vec(self)?)
    }

    pub fn pages(&self) -> usize {
        self.sources.values().map(|entry| entry.pages.len()).sum()
    }

    pub fn hashes(&self) -> BTreeSet<String> {
        self.sources.values().flat_map(|entry| entry.pages.iter().cloned()).collect()
    }
}

/// Whole or not at all.
pub fn replace(file: &Path, bytes: &[u8]) -> io::Result<()> {
    let aside = file.with_extension(format!("{}.new", std::process::id()));
    fs::write(&aside, bytes)?;
    fs::rename(&aside, file)
}
