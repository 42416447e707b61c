//! The folder that a linter is given. It is made once, for one look: after a linter ran in it, nothing is written there.

use super::{Changed, ProfiledLinter, Sources, scratch};
use crate::AgentFailure;
use crate::folder::Folder;
use crate::scratch::Scratch;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;
use tribunal_core::ids::RepoPath;
use tribunal_core::linter::output::LinterResult;
use tribunal_core::linter::profile::{Selection, Tree};
use tribunal_core::linter::suppression::Settings;
use tribunal_core::policy::linter::LinterConfigFrom;

pub(super) struct Copy {
    folder: Scratch,
    /// The base's configuration that is nearest to the top.
    pub config: Option<RepoPath>,
    /// What lies in it, by the names of the repository.
    pub files: BTreeSet<RepoPath>,
    /// Where a file lies under another name.
    given: BTreeMap<RepoPath, RepoPath>,
}

impl Copy {
    /// `text` is a file's text in this look, where it is not the one of the tree.
    pub fn make(
        linter: &ProfiledLinter<'_>,
        selection: &Selection,
        changed: &[&Changed<'_>],
        is_unsuppressed: bool,
        sources: &dyn Sources,
    ) -> Result<Self, AgentFailure> {
        let failed = AgentFailure::Failed;
        let io = |error: io::Error| AgentFailure::Failed(format!("its folder cannot be made: {error}"));
        let scratch = scratch()?;
        let folder = Folder::open(scratch.path()).map_err(io)?;
        let mut copy = Copy { folder: scratch, config: None, files: BTreeSet::new(), given: BTreeMap::new() };
        match linter.profile.tree {
            Tree::Changed => {
                if linter.profile.imports_its_files {
                    copy.given = without_importable_names(changed).map_err(io)?;
                }
                for file in changed {
                    let unsuppressed = file.unsuppressed.as_deref().filter(|_| is_unsuppressed);
                    put(&folder, copy.given_as(file.path), unsuppressed.unwrap_or(file.text).as_bytes()).map_err(io)?;
                    copy.files.insert(file.path.clone());
                }
            }
            Tree::Whole => {
                sources.export(copy.path()).map_err(failed)?;
                crate::tree::cut_links(copy.path()).map_err(io)?;
                let is_obeyed = |path: &RepoPath| selection.obeys_in_a_tree(path);
                copy.files = remove_obeyed(copy.path(), &is_obeyed, FolderLinks::Removed).map_err(io)?;
                for file in changed.iter().filter(|_| is_unsuppressed) {
                    let Some(text) = &file.unsuppressed else { continue };
                    folder.replace(Path::new(file.path.as_str()), text.as_bytes()).map_err(io)?;
                }
            }
        }
        copy.add_base_config(linter, selection, &folder, sources)?;
        Ok(copy)
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The name that a file has here.
    pub fn given_as<'p>(&'p self, path: &'p RepoPath) -> &'p RepoPath {
        self.given.get(path).unwrap_or(path)
    }

    /// Names the files of results as the repository does.
    pub fn named_as_in_the_repository(&self, results: &mut [LinterResult]) {
        let root = format!("{}/", self.path().display());
        for result in results {
            if let Some(inside) = result.file.strip_prefix(&root) {
                result.file = inside.to_owned();
            }
            let named = result.file.strip_prefix("./").unwrap_or(&result.file);
            let Some((path, given)) = self.given.iter().find(|(_, given)| given.as_str() == named) else { continue };
            let (module, given_module) = (module(path), module(given));
            let said = |text: &str| text.replace(given_module, module);
            (result.message, result.help) = (said(&result.message), result.help.as_deref().map(said));
            result.file = path.to_string();
        }
    }

    /// Puts the base's configuration into the copy, and names the file nearest to the top.
    fn add_base_config(
        &mut self,
        linter: &ProfiledLinter<'_>,
        selection: &Selection,
        folder: &Folder,
        sources: &dyn Sources,
    ) -> Result<(), AgentFailure> {
        let failed = AgentFailure::Failed;
        let wanted = &linter.profile.config;
        if wanted.base.is_empty() || linter.config.config == Some(LinterConfigFrom::Default) {
            return Ok(());
        }
        let found = sources.of_base(&|path| selection.is_base_config(path)).map_err(failed)?;
        for (path, bytes) in &found {
            put(folder, path, bytes).map_err(|error| failed(format!("{path} of the base cannot be written: {error}")))?;
        }
        self.files.extend(found.iter().map(|(path, _)| path.clone()));
        let depth = |path: &RepoPath| path.as_str().matches('/').count();
        self.config = found.into_iter().map(|(path, _)| path).min_by_key(|path| (depth(path), path.clone()));
        if self.config.is_none() && wanted.required {
            return Err(failed(format!("not-run: it needs a configuration, and the base has no {}", wanted.base.join(" or "))));
        }
        Ok(())
    }
}

/// The name without its folders and its ending.
fn module(path: &RepoPath) -> &str {
    let path = path.as_str().strip_suffix("/__init__.py").unwrap_or(path.as_str());
    let name = path.rsplit('/').next().unwrap_or_default();
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}

/// Names that no `import` can say: they are no identifiers, and whoever wrote the change cannot know them. All lie at the top, so that no
/// folder is a package either.
fn without_importable_names(changed: &[&Changed<'_>]) -> io::Result<BTreeMap<RepoPath, RepoPath>> {
    let token = crate::token()?;
    let given = |(number, file): (usize, &&Changed<'_>)| {
        let name = file.path.as_str().rsplit('/').next().unwrap_or_default();
        let given = match name.rsplit_once('.') {
            // What it says of a package differs.
            Some(("__init__", "py")) => format!("{token}-{number}/__init__.py"),
            Some((_, ending)) => format!("{token}-{number}.{ending}"),
            None => format!("{token}-{number}"),
        };
        (file.path.clone(), RepoPath::from(given.as_str()))
    };
    Ok(changed.iter().enumerate().map(given).collect())
}

/// Makes the copy of a tree one in which the change suppresses nothing: with the base's settings of linters in place of its own, and
/// with these texts. Nothing may have run in it.
pub fn without_the_change_s_suppressions(
    copy: &Path,
    sources: &dyn Sources,
    settings: &Settings,
    texts: &[(RepoPath, String)],
) -> Result<(), String> {
    let io = |error: io::Error| error.to_string();
    crate::tree::cut_links(copy).map_err(io)?;
    remove_obeyed(copy, &|path| settings.contains(path), FolderLinks::KeptUnlessObeyed).map_err(io)?;
    let of_base = sources.of_base(&|path| settings.contains(path))?;
    let folder = Folder::open(copy).map_err(io)?;
    of_base.iter().try_for_each(|(path, bytes)| put(&folder, path, bytes)).map_err(io)?;
    texts.iter().try_for_each(|(path, text)| folder.replace(Path::new(path.as_str()), text.as_bytes())).map_err(io)
}

pub(super) fn put(folder: &Folder, path: &RepoPath, bytes: &[u8]) -> io::Result<()> {
    folder.create(Path::new(path.as_str()), bytes)
}

/// What becomes of links that lead to folders. Behind one, a file has a name that no list of ours knows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FolderLinks {
    Removed,
    /// For programs of which nothing is known, and which may need them: those stay behind which nothing is obeyed.
    KeptUnlessObeyed,
}

/// Takes out whatever the test names, and links that lead nowhere. What is left is listed. All links lead to a place in the same tree.
fn remove_obeyed(root: &Path, is_obeyed: &dyn Fn(&RepoPath) -> bool, links: FolderLinks) -> io::Result<BTreeSet<RepoPath>> {
    let (mut files, mut linked) = (BTreeSet::new(), Vec::new());
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder)? {
            let (path, kind) = entry.and_then(|entry| Ok((entry.path(), entry.file_type()?)))?;
            let name = name_in(root, &path);
            match (is_obeyed(&name), kind.is_dir()) {
                (true, true) => std::fs::remove_dir_all(&path)?,
                (true, false) => std::fs::remove_file(&path)?,
                (false, true) => folders.push(path),
                (false, false) if kind.is_symlink() => linked.push((name, path)),
                (false, false) => drop(files.insert(name)),
            }
        }
    }
    // Only now is gone what they could lead to.
    for (name, path) in linked {
        let is_kept = match std::fs::metadata(&path) {
            Ok(about) if about.is_dir() => links == FolderLinks::KeptUnlessObeyed && !leads_to_obeyed(&path, &name, is_obeyed),
            Ok(_) => true,
            Err(_) => false,
        };
        if is_kept {
            files.insert(name);
        } else {
            std::fs::remove_file(&path)?;
        }
    }
    Ok(files)
}

/// Is something obeyed under the name that it has behind this link? What cannot be read may be.
fn leads_to_obeyed(link: &Path, name: &RepoPath, is_obeyed: &dyn Fn(&RepoPath) -> bool) -> bool {
    let mut folders = vec![link.to_owned()];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else { return true };
        for entry in entries {
            let Ok(entry) = entry else { return true };
            let path = entry.path();
            let below = name_in(link, &path);
            if is_obeyed(&RepoPath::from(format!("{name}/{below}").as_str())) {
                return true;
            }
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push(path);
            }
        }
    }
    false
}

fn name_in(root: &Path, path: &Path) -> RepoPath {
    RepoPath::from(path.strip_prefix(root).unwrap_or(path).to_string_lossy().replace('\\', "/").as_str())
}
