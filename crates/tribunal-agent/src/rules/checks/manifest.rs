//! The section of a TOML manifest that each line is in.

use super::pattern::Pattern;
use tribunal_core::diff::change::{ChangedFile, DiffLine};

static SECTION: Pattern = Pattern::new(r"^\s*\[+\s*([^\[\]]+?)\s*\]+\s*(?:#.*)?$");

/// Nobody means anything with a longer name, which every line below it would be given.
const MAX_NAME_BYTES: usize = 1024;

/// Every added line with the section it stands in; empty where the text at hand does not tell.
pub fn sections(file: &ChangedFile) -> Vec<(&DiffLine, String)> {
    let whole: Option<Vec<String>> = file.new_text.as_deref().map(|text| walk(text.lines()));
    let mut found = Vec::new();
    for hunk in &file.hunks {
        let new_side: Vec<&DiffLine> = hunk.lines.iter().filter(|line| line.new_line.is_some()).collect();
        let here = walk(new_side.iter().map(|line| line.text.as_str()));
        for (line, section) in new_side.into_iter().zip(here).filter(|(line, _)| line.old_line.is_none()) {
            let number = line.new_line.unwrap_or(1) as usize;
            let known = whole.as_ref().and_then(|whole| whole.get(number - 1)).cloned();
            found.push((line, known.unwrap_or(section)));
        }
    }
    found
}

/// A section lasts until the next.
fn walk<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut open = "";
    lines
        .map(|line| {
            if let Some(name) = SECTION.group(line) {
                open = if name.len() <= MAX_NAME_BYTES { name } else { "" };
            }
            open.to_owned()
        })
        .collect()
}
