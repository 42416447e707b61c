//! What a fixer answers: places in files, each named by the text that stands there, and what shall stand there instead.
//!
//! Every agent fixes this way, models and coding-agent CLIs alike. None of them writes a file: what thinks cannot write (design
//! rule 5), and a patch that was made from types can be checked before anything exists.

use crate::findings::admit::one_line;
use crate::findings::plain::plain;
use crate::ids::RepoPath;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The answer for one item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Fix {
    /// What the change does, as the subject of a commit: at most 72 characters, no final stop.
    #[serde(default)]
    pub summary: String,
    /// Empty when nothing can be done.
    #[serde(default)]
    pub edits: Vec<Edit>,
    /// Why nothing can be done.
    #[serde(default)]
    pub cannot: String,
    /// Only for a fix that is meant to end a whole class of findings: that class, in one phrase. Mostly empty.
    #[serde(default)]
    pub class: String,
}

impl Fix {
    /// The class that it claims to end, if it claims any (WL-93).
    pub fn claimed_class(&self) -> Option<String> {
        Some(one_line(&plain(&self.class))).filter(|class| !class.is_empty())
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Edit {
    /// A file of the repository. One that is not there yet is made when `find` is empty.
    pub path: RepoPath,
    /// Text of the file as it is, exactly, with enough of it to occur once.
    pub find: String,
    /// What stands there afterwards.
    pub replace: String,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    #[error("{0} is no path inside the repository")]
    BadPath(RepoPath),
    #[error("{0} is not in the repository")]
    NoFile(RepoPath),
    #[error("{0} is there already; `find` must quote what is replaced")]
    Exists(RepoPath),
    #[error("`find` does not occur in {0}")]
    NotFound(RepoPath),
    #[error("`find` occurs {count} times in {path}; quote more of it")]
    Ambiguous { path: RepoPath, count: usize },
}

/// The files as they are after the edits, those that changed only. `read` gives a file as it is now.
pub fn apply(edits: &[Edit], read: impl Fn(&RepoPath) -> Option<String>) -> Result<BTreeMap<RepoPath, String>, EditError> {
    let mut files: BTreeMap<RepoPath, String> = BTreeMap::new();
    let mut before: BTreeMap<RepoPath, Option<String>> = BTreeMap::new();
    for edit in edits {
        if !is_inside(&edit.path) {
            return Err(EditError::BadPath(edit.path.clone()));
        }
        let original = before.entry(edit.path.clone()).or_insert_with(|| read(&edit.path));
        let current = files.get(&edit.path).or(original.as_ref());
        let next = match (current, edit.find.as_str()) {
            (None, "") => edit.replace.clone(),
            (None, _) => return Err(EditError::NoFile(edit.path.clone())),
            (Some(text), "") if text.is_empty() => edit.replace.clone(),
            (Some(_), "") => return Err(EditError::Exists(edit.path.clone())),
            (Some(text), find) => match occurrences(text, find) {
                0 => return Err(EditError::NotFound(edit.path.clone())),
                1 => text.replacen(find, &edit.replace, 1),
                count => return Err(EditError::Ambiguous { path: edit.path.clone(), count }),
            },
        };
        files.insert(edit.path.clone(), next);
    }
    files.retain(|path, text| before.get(path).is_none_or(|before| before.as_ref() != Some(text)));
    Ok(files)
}

/// Overlapping ones count too: which of them is meant cannot be known.
fn occurrences(text: &str, find: &str) -> usize {
    let step = find.chars().next().map_or(1, char::len_utf8);
    let mut count = 0;
    let mut from = 0;
    while let Some(at) = text.get(from..).and_then(|rest| rest.find(find)) {
        count += 1;
        from += at + step;
    }
    count
}

fn is_inside(path: &RepoPath) -> bool {
    let text = path.as_str();
    let is_plain =
        !text.is_empty() && !text.starts_with('/') && !text.contains('\\') && !text.contains('\0') && !text.contains(':');
    is_plain && text.split('/').all(|part| !part.is_empty() && part != "." && part != ".." && !part.eq_ignore_ascii_case(".git"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(path: &str, find: &str, replace: &str) -> Edit {
        Edit { path: path.into(), find: find.into(), replace: replace.into() }
    }

    fn read(path: &RepoPath) -> Option<String> {
        (path.as_str() == "a.py").then(|| "import yaml\nx = yaml.load(a)\ny = yaml.load(b)\n".to_owned())
    }

    #[test]
    fn edits_apply_one_after_the_other() {
        let edits = [edit("a.py", "yaml.load(a)", "yaml.safe_load(a)"), edit("a.py", "safe_load(a)", "safe_load(c)")];
        let files = apply(&edits, read).unwrap();
        assert_eq!(files[&RepoPath::from("a.py")], "import yaml\nx = yaml.safe_load(c)\ny = yaml.load(b)\n");
    }

    #[test]
    fn what_is_not_certain_is_refused() {
        let fails = |edit| apply(&[edit], read).unwrap_err();
        assert_eq!(fails(edit("a.py", "yaml.load", "x")), EditError::Ambiguous { path: "a.py".into(), count: 2 });
        assert_eq!(fails(edit("a.py", "nothing", "x")), EditError::NotFound("a.py".into()));
        assert_eq!(fails(edit("b.py", "x", "y")), EditError::NoFile("b.py".into()));
        assert_eq!(fails(edit("a.py", "", "y")), EditError::Exists("a.py".into()));
    }

    /// Design rule 5: nothing outside the repository, and nothing of git's own.
    #[test]
    fn no_path_leads_out() {
        for path in ["/etc/passwd", "../x", "a/../b", ".git/hooks/pre-commit", "a/.GIT/config", "", "a//b", "C:x", "a\\b"] {
            assert_eq!(apply(&[edit(path, "", "x")], read), Err(EditError::BadPath(path.into())), "{path}");
        }
    }

    #[test]
    fn a_new_file_is_made_and_no_change_is_none() {
        assert_eq!(apply(&[edit("new.py", "", "x\n")], read).unwrap().len(), 1);
        let there_and_back = [edit("a.py", "import yaml", "import json"), edit("a.py", "import json", "import yaml")];
        assert!(apply(&there_and_back, read).unwrap().is_empty());
    }
}
