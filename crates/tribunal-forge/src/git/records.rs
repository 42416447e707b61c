//! Files of a commit by the ids of what they hold: what has the same id has not changed, and needs not be read again.

use super::class::UntrustedTree;
use super::{GitError, Repository};
use std::collections::{BTreeMap, BTreeSet};
use tribunal_core::diff::parse::text_of;
use tribunal_core::ids::{RepoPath, Sha};

impl Repository {
    /// Every file below these folders, with the id of its content. Links and submodules hold no text and are left out.
    pub fn listed(&self, commit: &Sha, folders: &[String]) -> Result<Vec<(RepoPath, String)>, GitError> {
        let mut args = vec!["-r", "-z", "--full-tree", commit.as_str()];
        let everything = folders.iter().any(|folder| folder == ".");
        if !everything {
            args.push("--");
            args.extend(folders.iter().map(String::as_str));
        }
        let listed = self.ask_cached(UntrustedTree::LsTree, &args, &[commit])?;
        // `<mode> blob <id>\t<path>`
        let entry = |line: &[u8]| {
            let tab = line.iter().position(|byte| *byte == b'\t')?;
            let words = String::from_utf8_lossy(&line[..tab]).into_owned();
            let id = words.strip_prefix("100644 blob ").or_else(|| words.strip_prefix("100755 blob "))?;
            Some((RepoPath(text_of(&line[tab + 1..])), id.to_owned()))
        };
        Ok(listed.split(|byte| *byte == 0).filter_map(entry).collect())
    }

    /// What these ids hold, brought here first where the clone does not have it.
    pub fn contents(&self, ids: &BTreeSet<String>) -> Result<BTreeMap<String, Vec<u8>>, GitError> {
        self.bring(ids.clone())?;
        self.blobs(&ids.iter().map(String::as_str).collect())
    }
}
