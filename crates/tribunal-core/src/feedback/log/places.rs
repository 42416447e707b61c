//! Which files of the repository a log speaks of, so that whoever fixes it can be shown them.

use crate::ids::RepoPath;
use regex::Regex;
use std::sync::LazyLock;

/// `src/a.rs:12:5`, `src\a.cs(12,5)`, `File "a.py", line 12`, `a.go#L12`.
static NAMED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#"([A-Za-z0-9_./\\@+-]*[A-Za-z0-9_+-]\.[A-Za-z][A-Za-z0-9]{0,9})(?::|\(|", line |#L)(\d{1,6})\b"#).ok()
});
/// Names that are looked up before nobody cares.
const CANDIDATES: usize = 60;
/// Files that are shown.
const FILES: usize = 3;

/// The first files that the text names with a line and that are there. On a runner the repository lies somewhere else, so the end of
/// a path counts too.
pub fn places(text: &str, is_file: &dyn Fn(&RepoPath) -> bool) -> Vec<(RepoPath, u32)> {
    let mut found: Vec<(RepoPath, u32)> = Vec::new();
    let mut seen: Vec<&str> = Vec::new();
    let Some(pattern) = NAMED.as_ref() else { return found };
    for named in pattern.captures_iter(text) {
        let (Some(name), Some(line)) = (named.get(1), named.get(2).and_then(|line| line.as_str().parse().ok())) else { continue };
        if seen.contains(&name.as_str()) {
            continue;
        }
        seen.push(name.as_str());
        let path = endings(name.as_str()).into_iter().find(|path| is_file(path));
        if let Some(path) = path.filter(|path| !found.iter().any(|(known, _)| known == path)) {
            found.push((path, line));
        }
        if found.len() == FILES || seen.len() == CANDIDATES {
            break;
        }
    }
    found
}

/// The path itself, and what is left of it without each of its first folders.
fn endings(name: &str) -> Vec<RepoPath> {
    let name = name.replace('\\', "/");
    let parts: Vec<&str> = name.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    if parts.contains(&"..") {
        return Vec::new();
    }
    (0..parts.len()).map(|from| RepoPath::from(parts[from..].join("/").as_str())).collect()
}
