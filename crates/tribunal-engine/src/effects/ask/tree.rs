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
