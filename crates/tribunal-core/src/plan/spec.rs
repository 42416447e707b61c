//! A pull request that says what it is for brings its own spec (PR-39): a section of its description under a heading of that kind.

/// Words that such a heading holds.
const HEADINGS: [&str; 7] = ["goal", "requirement", "acceptance", "spec", "expected behav", "user stor", "definition of done"];

/// The sections that say what the change must do, with their headings; nothing when there are none.
pub fn spec_in(description: &str) -> Option<String> {
    let mut kept = Vec::new();
    let mut level = None;
    let mut in_code = false;
    for line in description.lines() {
        in_code ^= line.trim_start().starts_with("```");
        let depth = line.chars().take_while(|c| *c == '#').count();
        let is_heading = !in_code && (1..=6).contains(&depth) && line[depth..].starts_with(' ');
        if is_heading {
            let words = line.to_lowercase();
            let is_spec = HEADINGS.iter().any(|heading| words.contains(heading));
            level = match level {
                // A smaller heading inside belongs to it.
                Some(open) if depth > open => Some(open),
                _ => is_spec.then_some(depth),
            };
        }
        if level.is_some() {
            kept.push(line);
        }
    }
    let has_text = kept.iter().any(|line| !line.starts_with('#') && !line.trim().is_empty());
    has_text.then(|| kept.join("\n").trim().to_owned())
}

/// The issue that a description says it closes: `Fixes #7`.
pub fn linked_issue(description: &str) -> Option<u64> {
    super::links::closes(description).first().copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_linked_issue_is_found() {
        assert_eq!(linked_issue("Some text.\n\nFixes #12."), Some(12));
        assert_eq!(linked_issue("see #12"), None);
    }

    /// PR-39: the description's own goal or requirement section is a spec; anything else is not.
    #[test]
    fn a_goal_section_is_a_spec() {
        let body = "Hello\n\n## Goal\n\nRetry once.\n\n### Limits\nNever twice.\n\n## Notes\nnone";
        assert_eq!(spec_in(body).unwrap(), "## Goal\n\nRetry once.\n\n### Limits\nNever twice.");
        assert_eq!(spec_in("Goal: be nice"), None);
        assert_eq!(spec_in("## Requirements\n\n## Notes\nx"), None);
        assert_eq!(spec_in("```\n# goal\nx\n```"), None);
    }
}
