//! Where a name is defined in a tree, by the words with which languages define things. Coarse, quick, and without an index.

use super::Repository;
use super::class::UntrustedTree;
use tribunal_core::ids::{RepoPath, Sha};

/// A line that looks like the definition of a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    pub path: RepoPath,
    /// 1-based.
    pub line: u32,
    pub text: String,
}

const DEFINING: &str = "(def|fn|func|function|fun|class|struct|enum|trait|interface|type|module|sub|void|const)";

impl Repository {
    /// Nothing found and nothing readable are the same: this only saves a reader the search.
    pub fn definitions(&self, tree: &Sha, names: &[&str]) -> Vec<Place> {
        // Names come from a change; only what cannot be anything but a name goes into an expression.
        let is_name = |name: &&&str| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let names: Vec<&str> = names.iter().filter(is_name).copied().collect();
        if names.is_empty() {
            return Vec::new();
        }
        let expression = format!("{DEFINING}[[:space:]]+({})([^A-Za-z0-9_]|$)", names.join("|"));
        if self.bring_tree(tree).is_err() {
            return Vec::new();
        }
        let args = ["-I", "-z", "-n", "--no-color", "--full-name", "--max-count=20", "-E", "-e", &expression, tree.as_str()];
        let Ok(found) = self.ask(UntrustedTree::Grep, args) else { return Vec::new() };
        let prefix = format!("{tree}:");
        String::from_utf8_lossy(&found).lines().filter_map(|line| place(line, &prefix)).collect()
    }
}

/// `<tree>:<path>␀<line>␀<text>`, or with a colon behind the line, as older gits write it.
fn place(line: &str, prefix: &str) -> Option<Place> {
    let (path, rest) = line.strip_prefix(prefix)?.split_once('\0')?;
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let number = rest[..digits].parse().ok()?;
    let text = rest[digits..].trim_start_matches(['\0', ':']).to_owned();
    Some(Place { path: path.into(), line: number, text })
}
