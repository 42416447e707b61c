//! The functions and types that a change touches.

use std::collections::BTreeSet;
use tribunal_context::outline::outline;
use tribunal_core::diff::change::{Change, Origin};

/// More say nothing new of what a change is about.
const MOST: usize = 24;

pub fn symbols(change: &Change) -> Vec<String> {
    let mut found = Vec::new();
    let mut seen = BTreeSet::new();
    for file in &change.files {
        let (Some(language), Some(text)) = (file.language(), file.new_text.as_deref()) else { continue };
        let outline = outline(language, text);
        let added = file.hunks.iter().flat_map(|hunk| &hunk.lines).filter(|line| line.origin == Origin::Added);
        for line in added.filter_map(|line| line.new_line) {
            if found.len() == MOST {
                return found;
            }
            let name = outline.innermost(line).map(|symbol| symbol.name.clone());
            found.extend(name.filter(|name| seen.insert(name.clone())));
        }
    }
    found
}
