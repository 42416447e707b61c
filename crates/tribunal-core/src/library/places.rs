//! Where the records of a repository lie (SL-23): folders below its root and below each of its modules.

use super::page::Kind;
use crate::ids::RepoPath;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Places {
    pub decisions: Vec<String>,
    pub specs: Vec<String>,
    pub code: bool,
    /// Name to folder: those that count.
    pub modules: BTreeMap<String, String>,
    /// The one that was asked for; nothing for the whole repository.
    pub module: Option<String>,
}

/// A folder inside the repository, without what people put around it.
pub fn check_folder(folder: &str) -> Result<String, String> {
    let bare = folder.trim().trim_start_matches("./").trim_end_matches('/');
    let leaves = bare.starts_with('/') || bare.split('/').any(|part| part == "..") || bare.contains('\\');
    if bare.is_empty() || leaves {
        return Err(format!("[library] `{folder}` lies outside of the repository or is no folder of it"));
    }
    Ok(bare.to_owned())
}

impl Places {
    /// Folders to list; everything where code is looked up.
    pub fn folders(&self) -> Vec<String> {
        if self.code && self.module.is_none() {
            return vec![".".to_owned()];
        }
        if self.code {
            return self.modules.values().cloned().collect();
        }
        self.roots().flat_map(|root| self.decisions.iter().chain(&self.specs).map(move |folder| joined(root, folder))).collect()
    }

    /// What a file is; nothing for one that is not looked up.
    pub fn kind(&self, path: &RepoPath) -> Option<Kind> {
        let path = path.as_str();
        let is_text = path.to_ascii_lowercase().ends_with(".md");
        let in_any =
            |folders: &[String]| self.roots().any(|root| folders.iter().any(|folder| is_inside(path, &joined(root, folder))));
        if is_text && in_any(&self.decisions) && !is_listing(path) {
            return Some(Kind::Decision);
        }
        if is_text && in_any(&self.specs) && !is_listing(path) {
            return Some(Kind::Spec);
        }
        let counts = self.module.is_none() || self.modules.values().any(|folder| is_inside(path, folder));
        (self.code && counts).then_some(Kind::Code)
    }

    /// The repository itself is one too, unless one module was asked for.
    fn roots(&self) -> impl Iterator<Item = &str> {
        let whole = self.module.is_none().then_some("");
        whole.into_iter().chain(self.modules.values().map(String::as_str))
    }
}

/// `README.md`, `index.md` and templates list records or show how to write one.
fn is_listing(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
    name == "readme.md" || name == "index.md" || name.contains("template")
}

fn joined(root: &str, folder: &str) -> String {
    if root.is_empty() { folder.to_owned() } else { format!("{root}/{folder}") }
}

fn is_inside(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(module: Option<&str>) -> Places {
        Places {
            decisions: vec!["docs/adrs".into()],
            specs: vec!["docs/openspec/specs".into()],
            code: true,
            modules: BTreeMap::from([("billing".to_owned(), "services/billing".to_owned())]),
            module: module.map(str::to_owned),
        }
    }

    /// SL-23: below the root and below each module; with `--module` below that one alone.
    #[test]
    fn a_file_is_known_by_its_folder() {
        let kind = |module: Option<&str>, path: &str| places(module).kind(&RepoPath::from(path));
        assert_eq!(kind(None, "docs/adrs/0001-x.md"), Some(Kind::Decision));
        assert_eq!(kind(None, "services/billing/docs/adrs/0001-x.md"), Some(Kind::Decision));
        assert_eq!(kind(None, "docs/openspec/specs/login/spec.md"), Some(Kind::Spec));
        assert_eq!(kind(None, "docs/adrs/README.md"), Some(Kind::Code));
        assert_eq!(kind(None, "docs/adrs-old/0001-x.md"), Some(Kind::Code));
        assert_eq!(kind(Some("billing"), "docs/adrs/0001-x.md"), None);
        assert_eq!(kind(Some("billing"), "services/billing/docs/adrs/0001-x.md"), Some(Kind::Decision));
        assert_eq!(kind(Some("billing"), "services/billing/src/a.rs"), Some(Kind::Code));
    }

    #[test]
    fn only_what_is_wanted_is_listed() {
        assert_eq!(places(None).folders(), ["."]);
        assert_eq!(places(Some("billing")).folders(), ["services/billing"]);
        let records = Places { code: false, ..places(None) };
        assert_eq!(records.folders().len(), 4);
        assert_eq!(records.kind(&RepoPath::from("src/a.rs")), None);
    }
}
