//! What the checks of CI share: which files are workflows, and where a line stands in one.
//!
//! Read by indentation and not as YAML: the diff's lines must keep their numbers, and half a file must still be readable.

use super::pattern::Pattern;
use tribunal_core::diff::change::ChangedFile;

/// GitHub's, and those that speak its dialect.
pub fn is_workflow(file: &ChangedFile) -> bool {
    let path = file.path.as_str();
    matches!(file.path.extension(), Some("yml" | "yaml"))
        && [".github/", ".gitea/", ".forgejo/"].iter().any(|root| {
            path.strip_prefix(root).is_some_and(|rest| rest.starts_with("workflows/") || rest.starts_with("actions/"))
        })
}

/// A line without its comment, or nothing where it is one.
pub fn code(line: &str) -> &str {
    let line = line.split_once(" #").map_or(line, |(code, _)| code);
    if line.trim_start().starts_with('#') { "" } else { line.trim_end() }
}

static SCRIPT: Pattern = Pattern::new(r"^\s*(?:-\s+)?(?:run|script)\s*:\s*(.*)$");
static BLOCK: Pattern = Pattern::new(r"^[|>][+-]?\d*\s*(?:#.*)?$");

/// For every line, whether a shell or a script engine will read it.
pub fn script_lines(lines: &[&str]) -> Vec<bool> {
    let mut inside: Option<usize> = None;
    lines
        .iter()
        .map(|line| {
            let depth = indent(line);
            if let Some(key) = inside {
                if line.trim().is_empty() || depth > key {
                    return true;
                }
                inside = None;
            }
            let Some(value) = SCRIPT.captures(line).and_then(|found| found.get(1)) else { return false };
            if BLOCK.is_match(value.as_str()) || value.as_str().is_empty() {
                // `- run: |` hangs its block from the key, two columns right of the dash.
                inside = Some(line.len() - line.trim_start_matches([' ', '-']).len());
            }
            true
        })
        .collect()
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_ends_where_its_indentation_does() {
        let text = "steps:\n  - run: |\n      a\n\n      b\n    env:\n      A: b\n  - name: x\n    run: c\n  - uses: d";
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(script_lines(&lines), [false, true, true, true, true, false, false, false, true, false]);
    }
}
