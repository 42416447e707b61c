//! A copy of the reviewed head for agent CLIs: read-only, without the files that agents obey, and gone when nobody needs it.

use std::path::{Path, PathBuf};
use tribunal_agent::tree::{delete, scrub};
use tribunal_core::ids::Sha;
use tribunal_forge::git::Repository;

pub struct Tree {
    path: PathBuf,
}

impl Tree {
    /// Blocks while git writes the files.
    pub fn of(repository: &Repository, head: &Sha, root: &Path) -> Result<Self, String> {
        std::fs::create_dir_all(root).map_err(|error| format!("{} cannot be made: {error}", root.display()))?;
        let folder = tempfile::Builder::new()
            .prefix("tree-")
            .tempdir_in(root)
            .map_err(|error| format!("no folder for the tree under {}: {error}", root.display()))?;
        let tree = Tree { path: folder.keep() };
        repository.export(head, &tree.path).map_err(|error| error.to_string())?;
        scrub(&tree.path).map_err(|error| format!("the tree could not be made safe to read: {error}"))?;
        Ok(tree)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        // It is read-only, so it takes more than a plain removal. What stays behind holds nothing but the change itself.
        let _ = delete(&self.path);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use std::process::Command;

    /// TS-52, CF-14: what a reviewer may read besides the diff is the reviewed head, whatever is checked out or half written.
    #[test]
    fn a_tree_is_of_the_reviewed_head() {
        let folder = tempfile::tempdir().unwrap();
        let here = folder.path().join("here");
        let write = |text: &str| std::fs::write(here.join("app.py"), text).unwrap();
        let git = |args: &[&str]| {
            let own = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "commit.gpgsign=false"];
            assert!(Command::new("git").current_dir(&here).args(own).args(args).status().unwrap().success(), "{args:?}");
        };
        std::fs::create_dir(&here).unwrap();
        git(&["init", "--quiet", "--initial-branch=main"]);
        write("base\n");
        git(&["add", "-A"]);
        git(&["commit", "--quiet", "-m", "base"]);
        git(&["checkout", "--quiet", "-b", "feature"]);
        write("head\n");
        git(&["commit", "--quiet", "-am", "head"]);
        let repository = Repository::discover(&here).unwrap();
        let head = repository.commit("feature").unwrap();
        git(&["checkout", "--quiet", "main"]);
        write("half written\n");
        let tree = Tree::of(&repository, &head, &folder.path().join("trees")).unwrap();
        assert_eq!(std::fs::read_to_string(tree.path().join("app.py")).unwrap(), "head\n");
        let path = tree.path().to_owned();
        drop(tree);
        assert!(!path.exists());
    }
}
