//! `[rules.disable_in]`: rules that are switched off below some paths.

use crate::ids::RepoPath;
use globset::{GlobBuilder, GlobMatcher};
use std::collections::BTreeMap;

#[derive(Debug, Clone, Default)]
pub struct DisabledIn {
    rules: Vec<(GlobMatcher, Vec<String>)>,
}

impl DisabledIn {
    /// From globs over whole paths; `*` does not cross a `/`.
    pub fn new(configured: &BTreeMap<String, Vec<String>>) -> Result<Self, String> {
        let read = |(glob, rules): (&String, &Vec<String>)| {
            let matcher = GlobBuilder::new(glob).literal_separator(true).build();
            matcher.map(|matcher| (matcher.compile_matcher(), rules.clone())).map_err(|error| error.to_string())
        };
        Ok(DisabledIn { rules: configured.iter().map(read).collect::<Result<_, _>>()? })
    }

    pub fn is_disabled(&self, path: &RepoPath, rule: &str) -> bool {
        let names = |rules: &[String]| rules.iter().any(|name| name == rule);
        self.rules.iter().any(|(glob, rules)| names(rules) && glob.is_match(path.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_is_off_below_its_path_only() {
        let off = DisabledIn::new(&BTreeMap::from([("scripts/**".to_owned(), vec!["no-print".to_owned()])])).unwrap();
        let is_off = |path: &str, rule: &str| off.is_disabled(&path.into(), rule);
        assert!(is_off("scripts/a.py", "no-print") && is_off("scripts/deep/a.py", "no-print"));
        assert!(!is_off("src/a.py", "no-print") && !is_off("scripts/a.py", "no-eval"));
        assert!(DisabledIn::new(&BTreeMap::from([("a[".to_owned(), Vec::new())])).is_err());
    }
}
