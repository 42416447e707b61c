//! What the paths of the repository say about a change: which of its files have a test of their own, and which addresses are its own.

use super::Repository;
use std::collections::BTreeSet;
use tribunal_core::diff::change::ChangedFile;
use tribunal_core::diff::language::tested_name;
use tribunal_core::ids::{RepoPath, Sha};

const HOST: &str = "https://raw.githubusercontent.com/";

/// The changed files after which a test file of the repository is named.
pub(super) fn tested(files: &[ChangedFile], paths: &[RepoPath]) -> BTreeSet<RepoPath> {
    let names: BTreeSet<String> = paths.iter().filter_map(tested_name).collect();
    let stem = |path: &RepoPath| path.file_name().split('.').next().unwrap_or_default().to_ascii_lowercase();
    files.iter().map(|file| &file.path).filter(|path| names.contains(stem(path).trim_matches(['_', '-']))).cloned().collect()
}

impl Repository {
    /// The addresses in added lines that lead to a script of this repository: it has a file at the end of the path, and the README
    /// of the base names the same account and project. A change alone cannot make a foreign address its own.
    pub(super) fn own_addresses(&self, base: &Sha, files: &[ChangedFile], paths: &[RepoPath]) -> BTreeSet<String> {
        let addresses = addresses(files);
        if addresses.is_empty() {
            return BTreeSet::new();
        }
        let is_readme =
            |path: &&RepoPath| path.as_str().to_ascii_lowercase().starts_with("readme") && !path.as_str().contains('/');
        let readme = paths.iter().find(is_readme).and_then(|path| self.file_at(base, path.as_str())).unwrap_or_default();
        let readme = String::from_utf8_lossy(&readme).to_ascii_lowercase();
        let paths: BTreeSet<&str> = paths.iter().map(RepoPath::as_str).collect();
        addresses.into_iter().filter(|address| leads_to(address, &paths, &readme)).collect()
    }
}

fn addresses(files: &[ChangedFile]) -> BTreeSet<String> {
    let ends = |c: char| c.is_whitespace() || "\"'`()|;<>,".contains(c);
    let lines = files.iter().flat_map(ChangedFile::added_lines);
    let starts = lines.flat_map(|line| line.text.match_indices(HOST).map(|(at, _)| &line.text[at..]));
    starts.filter_map(|text| text.split(ends).next()).map(str::to_owned).collect()
}

/// `HOST/account/project/branch/path`
fn leads_to(address: &str, paths: &BTreeSet<&str>, readme: &str) -> bool {
    let rest = address.strip_prefix(HOST).unwrap_or_default().replacen("refs/heads/", "", 1);
    let mut parts = rest.splitn(4, '/');
    let (Some(account), Some(project), Some(_), Some(path)) = (parts.next(), parts.next(), parts.next(), parts.next()) else {
        return false;
    };
    paths.contains(path) && readme.contains(&format!("{account}/{project}").to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_own_if_the_base_says_so() {
        let paths = BTreeSet::from(["update.sh", "misc/build.func"]);
        let readme = "install: https://github.com/acme/tool";
        let own = |address: &str| leads_to(&format!("{HOST}{address}"), &paths, readme);
        assert!(own("Acme/tool/main/update.sh"));
        assert!(own("acme/tool/refs/heads/main/misc/build.func"));
        assert!(!own("acme/tool/main/other.sh"));
        assert!(!own("evil/tool/main/update.sh"));
    }

    #[test]
    fn a_test_is_named_after_its_file() {
        let paths = ["tests/test_orders.py", "src/CartTest.java", "src/other.py"].map(RepoPath::from);
        let diff = |path: &str| format!("diff --git a/{path} b/{path}\nold mode 100644\nnew mode 100755\n");
        let text: String = ["app/orders.py", "src/Cart.java", "src/other.py"].map(diff).concat();
        let change = tribunal_core::diff::parse::parse_diff(text.as_bytes()).unwrap();
        let found = tested(&change.files, &paths);
        assert_eq!(found, BTreeSet::from(["app/orders.py", "src/Cart.java"].map(RepoPath::from)));
    }
}
