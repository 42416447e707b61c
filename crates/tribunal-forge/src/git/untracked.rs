//! Files that git does not know, held against the ignore rules of the base and not only against those that the branch left.

use super::class::{PersonsCheckout, UntrustedTree, os_path};
use super::{GitError, Repository};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use tribunal_core::ids::Sha;

impl Repository {
    /// Untracked files that the rules in the work tree, the person's own and `info/exclude` do not ignore.
    pub(super) fn untracked(&self) -> Result<Vec<Vec<u8>>, GitError> {
        let listed = self.in_checkout(PersonsCheckout::LsFiles)?.args(["--others", "--exclude-standard", "-z"]).run(None)?;
        let is_file = |path: &&[u8]| !path.is_empty() && !path.ends_with(b"/");
        Ok(listed.split(|byte| *byte == 0).filter(is_file).map(<[u8]>::to_vec).collect())
    }

    /// Those of these paths that the base ignores.
    pub(super) fn ignored_by(&self, base: &Sha, paths: &[Vec<u8>]) -> Result<BTreeSet<Vec<u8>>, GitError> {
        let rules = self.ignore_files(base)?;
        if rules.is_empty() || paths.is_empty() {
            return Ok(BTreeSet::new());
        }
        let io = |source| GitError::Io { what: "the base's ignore rules cannot be written to a temporary folder".into(), source };
        // git takes the rules from files, so it is shown a work tree in which there is nothing else.
        let folder = tempfile::Builder::new().prefix("tribunal-ignore-").tempdir().map_err(io)?;
        for (path, text) in &rules {
            let file = folder.path().join(path);
            std::fs::create_dir_all(file.parent().unwrap_or(folder.path())).map_err(io)?;
            std::fs::write(&file, text).map_err(io)?;
        }
        let mut input = Vec::new();
        for path in paths {
            // `check-ignore` takes no literal pathspecs; after this no name is read as a pathspec with magic.
            input.extend_from_slice(b"./");
            input.extend_from_slice(path);
            input.push(0);
        }
        let asked = self.in_files(PersonsCheckout::CheckIgnore, folder.path())?;
        // Exit code 1 says that none of them is ignored.
        let answer = asked.with_pathspec_magic().args(["--no-index", "-z", "--stdin"]).output(Some(&input))?;
        if !answer.success && !answer.stderr.is_empty() {
            return Err(GitError::Failed { command: "check-ignore".into(), message: answer.stderr });
        }
        Ok(answer.stdout.split(|byte| *byte == 0).filter_map(|path| path.strip_prefix(b"./")).map(<[u8]>::to_vec).collect())
    }

    /// Every `.gitignore` of a commit, by its path.
    fn ignore_files(&self, base: &Sha) -> Result<BTreeMap<std::path::PathBuf, Vec<u8>>, GitError> {
        let listed = self.ask(UntrustedTree::LsTree, ["-r", "-z", "--full-tree", base.as_str()])?;
        let entry = |line: &[u8]| {
            let tab = line.iter().position(|byte| *byte == b'\t')?;
            let path = os_path(&line[tab + 1..]);
            let is_plain = path.components().all(|part| matches!(part, std::path::Component::Normal(_)));
            let words = String::from_utf8_lossy(&line[..tab]).into_owned();
            let id = words.strip_prefix("100644 blob ").or_else(|| words.strip_prefix("100755 blob "))?;
            (is_plain && path.file_name() == Some(Path::new(".gitignore").as_os_str())).then(|| (path, id.to_owned()))
        };
        let found: Vec<_> = listed.split(|byte| *byte == 0).filter_map(entry).collect();
        let blobs = self.blobs(&found.iter().map(|(_, id)| id.as_str()).collect())?;
        // Several folders may have the same rules.
        let text = |id: &str| blobs.get(id).cloned().unwrap_or_default();
        Ok(found.iter().map(|(path, id)| (path.clone(), text(id))).collect())
    }
}
