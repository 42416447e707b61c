//! Where a line stands in a manifest: the section of a TOML or JSON file that holds it.

use super::pattern::Pattern;
use tribunal_core::diff::change::{ChangedFile, DiffLine};

static TOML_SECTION: Pattern = Pattern::new(r"^\s*\[+\s*([^\[\]]+?)\s*\]+\s*(?:#.*)?$");
static JSON_SECTION: Pattern = Pattern::new(r#"^\s*"([^"]+)"\s*:\s*\{\s*$"#);

const MAX_DEPTH: usize = 16;
/// Nor anything with a longer name, which every line below it would be given.
const MAX_NAME_BYTES: usize = 1024;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Toml,
    Json,
}

/// Every added line with the section it stands in; empty where the text at hand does not tell.
pub fn sections(file: &ChangedFile, format: Format) -> Vec<(&DiffLine, String)> {
    let whole: Option<Vec<String>> = file.new_text.as_deref().map(|text| walk(text.lines(), format));
    let mut found = Vec::new();
    for hunk in &file.hunks {
        let new_side: Vec<&DiffLine> = hunk.lines.iter().filter(|line| line.new_line.is_some()).collect();
        let here = walk(new_side.iter().map(|line| line.text.as_str()), format);
        for (line, section) in new_side.into_iter().zip(here).filter(|(line, _)| line.old_line.is_none()) {
            let number = line.new_line.unwrap_or(1) as usize;
            let known = whole.as_ref().and_then(|whole| whole.get(number - 1)).cloned();
            found.push((line, known.unwrap_or(section)));
        }
    }
    found
}

fn walk<'a>(lines: impl Iterator<Item = &'a str>, format: Format) -> Vec<String> {
    // JSON sections nest and close; a TOML section lasts until the next.
    let mut open: Vec<String> = Vec::new();
    // The name of the innermost sections: no manifest means anything deeper, and names must not grow with the nesting.
    let is_known = |open: &[String]| open.len() <= MAX_DEPTH && open.iter().map(String::len).sum::<usize>() <= MAX_NAME_BYTES;
    let name = |open: &[String]| if is_known(open) { open.join(".") } else { String::new() };
    lines
        .map(|line| {
            match format {
                Format::Toml => {
                    if let Some(name) = TOML_SECTION.group(line) {
                        open = vec![name.to_owned()];
                    }
                }
                Format::Json => {
                    if let Some(name) = JSON_SECTION.group(line) {
                        open.push(name.to_owned());
                    } else if line.trim_start().starts_with('}') {
                        open.pop();
                    }
                }
            }
            name(&open)
        })
        .collect()
}
