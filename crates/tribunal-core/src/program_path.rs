//! Which folders of a `PATH` programs are taken from.
//!
//! A relative entry (`./bin`) means another folder wherever a program runs, and in a checkout it means the change's. An entry inside of
//! the checkout (`node_modules/.bin` by its whole path) holds whatever the checked-out branch put there. Neither counts, for us and for
//! the programs that we start: a change would choose its own linter, or the git that runs outside of the sandbox.
//!
//! Which files there are is asked through [`FileSystem`]; the crates that start programs implement it.

use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

/// What the file system is asked.
pub trait FileSystem {
    /// The path without links, if it exists.
    fn real(&self, path: &Path) -> Option<PathBuf>;
    /// A regular file that may be run, links followed.
    fn is_program(&self, path: &Path) -> bool;
    /// Whether there is anything by this name, a link that leads nowhere included.
    fn exists(&self, path: &Path) -> bool;
    /// The text of a small regular file. Never waits: a checkout can hold a pipe under any name.
    fn text(&self, path: &Path) -> Option<String>;
    /// The names in a folder.
    fn names(&self, folder: &Path) -> Vec<OsString>;
}

/// The folders that programs are taken from, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramPath {
    folders: Vec<PathBuf>,
    ignored: Vec<PathBuf>,
    work_trees: Vec<PathBuf>,
}

impl ProgramPath {
    /// Of the entries of a `PATH`, those that count where a command works in these folders.
    pub fn new(entries: Vec<PathBuf>, working_folders: &[&Path], files: &dyn FileSystem) -> Self {
        let mut work_trees: Vec<PathBuf> = working_folders.iter().flat_map(|folder| work_trees_around(folder, files)).collect();
        work_trees.sort();
        work_trees.dedup();
        let counts = |entry: &PathBuf| {
            entry.is_absolute()
                && files.real(entry).is_some()
                && !entry.ancestors().any(|part| is_inside(part, &work_trees, files))
        };
        let (folders, ignored) = entries.into_iter().partition(counts);
        Self { folders, ignored, work_trees }
    }

    pub fn folders(&self) -> &[PathBuf] {
        &self.folders
    }

    /// The entries that do not count.
    pub fn ignored(&self) -> &[PathBuf] {
        &self.ignored
    }

    /// Where a program lies that somebody named without a folder: the first of these names. A link into a work tree is none.
    pub fn find(&self, names: &[String], files: &dyn FileSystem) -> Option<PathBuf> {
        let plain: Vec<&String> = names.iter().filter(|name| is_plain(name)).collect();
        let mut all = self.folders.iter().flat_map(|folder| plain.iter().map(move |name| folder.join(name)));
        all.find(|path| files.is_program(path) && !is_inside(path, &self.work_trees, files))
    }
}

/// A name without a folder, as a `PATH` is searched for.
pub fn is_plain(name: &str) -> bool {
    let mut parts = Path::new(name).components();
    matches!((parts.next(), parts.next()), (Some(Component::Normal(_)), None)) && !name.ends_with(['/', '\\'])
}

/// By its name or by what it leads to.
fn is_inside(path: &Path, work_trees: &[PathBuf], files: &dyn FileSystem) -> bool {
    let real = files.real(path);
    work_trees.iter().any(|tree| path.starts_with(tree) || real.as_ref().is_some_and(|real| real.starts_with(tree)))
}

/// Every work tree of the repository that a folder lies in, without links. A submodule and a linked work tree have a file in place of
/// `.git`; what is around them belongs to the same work and is looked for, too. What is around any other checkout is not: people keep
/// their home folder in git.
fn work_trees_around(folder: &Path, files: &dyn FileSystem) -> Vec<PathBuf> {
    let Some(folder) = files.real(folder) else { return Vec::new() };
    let mut found = Vec::new();
    for top in folder.ancestors().filter(|folder| files.exists(&folder.join(".git"))) {
        let git = top.join(".git");
        let named = files.text(&git).and_then(|text| Some(top.join(text.strip_prefix("gitdir:")?.trim())));
        let is_file = named.is_some();
        found.push(top.to_owned());
        found.extend(work_trees_of(&named.unwrap_or(git), files));
        if !is_file {
            break;
        }
    }
    found
}

/// The main work tree of a git directory, and those that are linked to it.
fn work_trees_of(git_dir: &Path, files: &dyn FileSystem) -> Vec<PathBuf> {
    let common = files.text(&git_dir.join("commondir")).map_or_else(|| git_dir.to_owned(), |text| git_dir.join(text.trim()));
    let Some(common) = files.real(&common) else { return Vec::new() };
    let main = common.parent().filter(|_| common.file_name().is_some_and(|name| name == ".git"));
    let lists = common.join("worktrees");
    let linked = files.names(&lists).into_iter().filter_map(|name| {
        let place = lists.join(name);
        let git = files.text(&place.join("gitdir"))?;
        place.join(git.trim()).parent().map(Path::to_owned)
    });
    // One that is gone holds no program.
    linked.chain(main.map(Path::to_owned)).filter_map(|tree| files.real(&tree)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    /// Paths and what is there: a folder, a program, a text (`=…`) or a link (`>…`).
    struct Tree(BTreeMap<&'static str, &'static str>);

    impl FileSystem for Tree {
        fn real(&self, path: &Path) -> Option<PathBuf> {
            let mut real = PathBuf::new();
            for part in path.components() {
                match part {
                    Component::ParentDir => drop(real.pop()),
                    Component::CurDir => {}
                    part => real.push(part),
                }
                if let Some(target) = self.0.get(real.to_str()?).and_then(|what| what.strip_prefix('>')) {
                    real = PathBuf::from(target);
                }
            }
            let is_there = self.0.keys().any(|known| Path::new(known).starts_with(&real));
            is_there.then_some(real)
        }

        fn is_program(&self, path: &Path) -> bool {
            self.real(path).is_some_and(|real| self.0.get(real.to_str().unwrap()) == Some(&"program"))
        }

        fn exists(&self, path: &Path) -> bool {
            self.real(path).is_some()
        }

        fn text(&self, path: &Path) -> Option<String> {
            self.0.get(self.real(path)?.to_str()?)?.strip_prefix('=').map(str::to_owned)
        }

        fn names(&self, folder: &Path) -> Vec<OsString> {
            let inside =
                |path: &str| Some(Path::new(path).strip_prefix(folder).ok()?.components().next()?.as_os_str().to_owned());
            self.0.keys().filter_map(|path| inside(path)).collect()
        }
    }

    fn tree(more: &[(&'static str, &'static str)]) -> Tree {
        let known = [
            ("/home/ana/.git", "folder"),
            ("/home/ana/.local/bin/ruff", "program"),
            ("/usr/bin/git", "program"),
            ("/code/app/.git/worktrees/side/gitdir", "=/code/side/.git\n"),
            ("/code/app/.git/worktrees/side/commondir", "=../..\n"),
            ("/code/app/bin/git", "program"),
            ("/code/app/src", "folder"),
            ("/code/side/.git", "=gitdir: /code/app/.git/worktrees/side\n"),
            ("/code/side/bin/git", "program"),
        ];
        Tree(known.into_iter().chain(more.iter().copied()).collect())
    }

    fn path(entries: &[&str], here: &str, files: &Tree) -> ProgramPath {
        ProgramPath::new(entries.iter().map(PathBuf::from).collect(), &[Path::new(here)], files)
    }

    fn git(entries: &[&str], here: &str, files: &Tree) -> Option<PathBuf> {
        path(entries, here, files).find(&["git".into()], files)
    }

    #[test]
    fn a_checkout_holds_no_programs() {
        let files = tree(&[
            ("/tools", ">/code/app/bin"),
            ("/apps", ">/work"),
            ("/bin/git", ">/code/app/bin/git"),
            ("/code/app/out", ">/usr/bin"),
        ]);
        let usual = Some(PathBuf::from("/usr/bin/git"));
        for entry in
            ["", ".", "./bin", "bin", "../app/bin", "/code/app/bin", "/code/app", "/code/app/src/../bin", "/code/side/bin"]
        {
            for here in ["/code/app", "/code/app/src", "/code/side"] {
                assert_eq!(git(&[entry, "/usr/bin"], here, &files), usual, "{entry} in {here}");
                assert_eq!(path(&[entry, "/usr/bin"], here, &files).folders(), [PathBuf::from("/usr/bin")], "{entry}");
            }
        }
        for link in ["/tools", "/apps/app/bin", "/bin", "/code/app/out"] {
            assert_eq!(git(&[link, "/usr/bin"], "/code/side", &files), usual, "{link}");
        }
        // Elsewhere it is a folder like any other.
        assert_eq!(git(&["/code/app/bin", "/usr/bin"], "/home/ana", &files), Some("/code/app/bin/git".into()));
        assert_eq!(git(&["/nowhere"], "/code/app", &files), None);
    }

    /// The home folder in git is not the checkout of what lies in it; a superproject is that of its submodule.
    #[test]
    fn what_is_around_a_checkout() {
        let files = tree(&[
            ("/home/ana/code/x/.git", "folder"),
            ("/code/app/.git/modules/part", "folder"),
            ("/code/app/part/.git", "=gitdir: ../.git/modules/part\n"),
        ]);
        let ruff = path(&["/home/ana/.local/bin"], "/home/ana/code/x", &files).find(&["ruff".into()], &files);
        assert_eq!(ruff, Some("/home/ana/.local/bin/ruff".into()));
        assert_eq!(path(&["/home/ana/.local/bin"], "/home/ana/code", &files).folders(), [] as [PathBuf; 0]);
        assert_eq!(git(&["/code/app/bin"], "/code/app/part", &files), None);
    }

    #[test]
    fn a_name_with_a_folder_is_not_searched_for() {
        for name in ["./git", "bin/git", "/usr/bin/git", "..", "", "git/"] {
            assert!(!is_plain(name), "{name}");
            assert_eq!(path(&["/usr/bin"], "/code/app", &tree(&[])).find(&[name.into()], &tree(&[])), None);
        }
        assert!(is_plain("git"));
    }
}
