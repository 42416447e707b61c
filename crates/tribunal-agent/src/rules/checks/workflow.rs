//! What the checks of CI share: which files are workflows, and where a line stands in one.
//!
//! Read by indentation and not as YAML: the diff's lines must keep their numbers, and half a file must still be readable.

use super::pattern::Pattern;
use std::ops::Range;
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

/// Keys may be quoted, and stand in braces behind others.
static SCRIPT: Pattern = Pattern::new(r#"^\s*(?:-\s+)?(?:\{(?:.*,)?\s*)?["']?(?:run|script)["']?\s*:"#);
static CONDITION: Pattern = Pattern::new(r#"^\s*(?:-\s+)?["']?if["']?\s*:"#);
static NEEDS: Pattern = Pattern::new(r#"^\s*["']?needs["']?\s*:"#);

/// For every line, whether a shell or a script engine will read it.
pub fn script_lines(lines: &[&str]) -> Vec<bool> {
    value_lines(lines, &SCRIPT)
}

/// For every line, whether it is part of a condition.
pub fn condition_lines(lines: &[&str]) -> Vec<bool> {
    value_lines(lines, &CONDITION)
}

/// For every line, whether it holds such a key or a part of its value. A value goes on in lines that are indented deeper than its key,
/// in a block and without one.
fn value_lines(lines: &[&str], key: &Pattern) -> Vec<bool> {
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
            if !key.is_match(line) {
                return false;
            }
            // `- run: |` hangs its block from the key, two columns right of the dash.
            inside = Some(line.len() - line.trim_start_matches([' ', '-']).len());
            true
        })
        .collect()
}

/// A job of a workflow, by its name and its lines. An action without jobs is one.
pub struct Job<'a> {
    pub name: &'a str,
    pub lines: Range<usize>,
    needs: Vec<&'a str>,
}

impl<'a> Job<'a> {
    /// The words where this job says which others it waits for, and so the names of these.
    pub fn needs(&self) -> impl Iterator<Item = &'a str> {
        let is_name = |c: char| c.is_alphanumeric() || "_-".contains(c);
        self.needs.iter().flat_map(move |line| line.split(move |c: char| !is_name(c))).filter(|word| !word.is_empty())
    }
}

pub fn jobs<'a>(lines: &[&'a str]) -> Vec<Job<'a>> {
    let Some(top) = lines.iter().position(|line| code(line).trim_end() == "jobs:") else {
        return vec![Job { name: "", lines: 0..lines.len(), needs: Vec::new() }];
    };
    let end = lines[top + 1..].iter().position(|line| !code(line).is_empty() && indent(line) == 0);
    let end = end.map_or(lines.len(), |count| top + 1 + count);
    let inner = || (top + 1..end).filter(|index| !code(lines[*index]).trim().is_empty());
    let Some(depth) = inner().next().map(|index| indent(lines[index])) else { return Vec::new() };
    let starts: Vec<usize> = inner().filter(|index| indent(lines[*index]) == depth).collect();
    let ends = starts.iter().skip(1).copied().chain([end]);
    let job = |(start, end): (usize, usize)| {
        let needed = value_lines(&lines[start..end], &NEEDS);
        Job {
            name: code(lines[start]).trim().trim_end_matches(':').trim_matches(['"', '\'']),
            lines: start..end,
            needs: lines[start..end].iter().zip(needed).filter(|(_, needed)| *needed).map(|(line, _)| code(line)).collect(),
        }
    };
    starts.iter().copied().zip(ends).map(job).collect()
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

    #[test]
    fn a_script_may_go_on_without_a_block() {
        let text = "steps:\n  - run: echo\n      a\n    name: b\n  - \"run\": c\n  - { name: d, run: e }\n  - name: f";
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(script_lines(&lines), [false, true, true, false, true, true, false]);
    }

    #[test]
    fn jobs_are_known_by_their_names() {
        let text = "on: push\njobs:\n  a:\n    if: b\n\n  # c\n  d:\n    needs: [a]\n    steps: []\nenv:\n  e: f";
        let lines: Vec<&str> = text.lines().collect();
        let jobs = jobs(&lines);
        let names: Vec<_> = jobs.iter().map(|job| (job.name, job.lines.clone())).collect();
        assert_eq!(names, [("a", 2..6), ("d", 6..9)]);
        assert_eq!(jobs[1].needs().collect::<Vec<_>>(), ["needs", "a"]);
        assert_eq!(jobs[0].needs().count(), 0);
    }
}
