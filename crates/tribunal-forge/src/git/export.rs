//! A throw-away copy of a tree, for what wants files: agents, linters, validators.
//!
//! git itself does not write it: `checkout-index` and `archive` ask the attributes of the change which filter runs over which file.
//! The bytes of each object are written as they are, below a folder of ours and nowhere else.

use super::class::{UntrustedTree, os_path};
use super::{GitError, Repository};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Read, Write as _};
use std::path::{Component, Path, PathBuf};
use tribunal_core::ids::Sha;

/// A file of a tree.
struct Entry {
    kind: Kind,
    id: String,
    path: PathBuf,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Plain,
    Executable,
    Link,
}

impl Repository {
    /// Writes every file of a tree below an empty folder. Submodules hold no files here.
    pub fn export(&self, tree: &Sha, into: &Path) -> Result<(), GitError> {
        self.bring_tree(tree)?;
        let listed = self.ask(UntrustedTree::LsTree, ["-r", "-z", "--full-tree", tree.as_str()])?;
        let mut entries = Vec::new();
        for line in listed.split(|byte| *byte == 0).filter(|line| !line.is_empty()) {
            entries.extend(entry(line, into)?);
        }
        let io = |path: &Path, source| GitError::Io { what: format!("{} cannot be written", path.display()), source };
        let mut git = self.on_tree(UntrustedTree::CatFile).arg("--batch").spawn_talking()?;
        let (Some(mut asking), Some(answers)) = (git.stdin.take(), git.stdout.take()) else {
            return Err(GitError::Hollow("cat-file has no pipes".into()));
        };
        let ids: String = entries.iter().map(|entry| format!("{}\n", entry.id)).collect();
        let asked = std::thread::spawn(move || asking.write_all(ids.as_bytes()));
        let mut answers = BufReader::new(answers);
        let mut folders: BTreeSet<PathBuf> = BTreeSet::new();
        let written = entries.iter().try_for_each(|entry| {
            let folder = entry.path.parent().unwrap_or(into);
            if !folders.contains(folder) {
                make_folders(into, folder).map_err(|source| io(folder, source))?;
                folders.insert(folder.to_path_buf());
            }
            let size = size_of_next(&mut answers, &entry.id)?;
            let result = write(entry, (&mut answers).take(size));
            result.map_err(|source| io(&entry.path, source))?;
            let mut end = [0];
            answers.read_exact(&mut end).map_err(|source| io(&entry.path, source))
        });
        // Whoever stops half-way leaves nobody waiting for a reader.
        if written.is_err() {
            let _ = git.kill();
        }
        drop(answers);
        let _ = git.wait();
        let _ = asked.join();
        written
    }
}

/// `<mode> <type> <id>\t<path>`; a submodule holds no file.
fn entry(line: &[u8], into: &Path) -> Result<Option<Entry>, GitError> {
    let hollow = || GitError::Hollow(format!("ls-tree said `{}`", String::from_utf8_lossy(line)));
    let tab = line.iter().position(|byte| *byte == b'\t').ok_or_else(hollow)?;
    let words = String::from_utf8_lossy(&line[..tab]).into_owned();
    let words: Vec<&str> = words.split(' ').collect();
    let [mode, _, id] = words.as_slice() else { return Err(hollow()) };
    let kind = match *mode {
        "100755" => Kind::Executable,
        "120000" => Kind::Link,
        "160000" => return Ok(None),
        _ => Kind::Plain,
    };
    let path = os_path(&line[tab + 1..]);
    // git refuses such names when it checks out; a tree can still hold them.
    let is_git = |name: &str| name.trim_end_matches(['.', ' ']).eq_ignore_ascii_case(".git");
    let is_plain = |part: Component<'_>| matches!(part, Component::Normal(name) if !is_git(&name.to_string_lossy()));
    if path.as_os_str().is_empty() || !path.components().all(is_plain) {
        let name = String::from_utf8_lossy(&line[tab + 1..]).into_owned();
        return Err(GitError::Hollow(format!("the tree holds a file named `{name}`, which no checkout can have")));
    }
    Ok(Some(Entry { kind, id: (*id).to_owned(), path: into.join(path) }))
}

/// Folders below ours, none of which may be a link: a tree can hold a link and a file behind it under the same name.
fn make_folders(into: &Path, folder: &Path) -> std::io::Result<()> {
    let mut step = into.to_path_buf();
    for part in folder.strip_prefix(into).map_err(std::io::Error::other)? {
        step.push(part);
        match fs::symlink_metadata(&step) {
            Ok(found) if found.is_dir() => {}
            Ok(_) => return Err(std::io::Error::other("a file stands where a folder is needed")),
            Err(_) => fs::create_dir(&step)?,
        }
    }
    Ok(())
}

fn size_of_next(answers: &mut impl std::io::BufRead, id: &str) -> Result<u64, GitError> {
    let mut header = String::new();
    let read = answers.by_ref().take(200).read_line(&mut header);
    let words: Vec<&str> = header.trim_end().split(' ').collect();
    match (read, words.as_slice()) {
        (Ok(_), [said, "blob", size]) if *said == id => {
            size.parse().map_err(|_| GitError::Hollow(format!("object {id} is {size}")))
        }
        _ => Err(GitError::Failed { command: "cat-file".into(), message: format!("object {id} is missing here") }),
    }
}

fn write(entry: &Entry, mut content: impl Read) -> std::io::Result<()> {
    if entry.kind == Kind::Link {
        let mut target = Vec::new();
        content.read_to_end(&mut target)?;
        return make_link(&target, &entry.path);
    }
    // `create_new` does not follow a link that stands there.
    let mut file = File::options().write(true).create_new(true).open(&entry.path)?;
    std::io::copy(&mut content, &mut file)?;
    if entry.kind == Kind::Executable { make_executable(&file) } else { Ok(()) }
}

#[cfg(unix)]
fn make_link(target: &[u8], at: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(os_path(target), at)
}

#[cfg(not(unix))]
fn make_link(target: &[u8], at: &Path) -> std::io::Result<()> {
    fs::write(at, target)
}

#[cfg(unix)]
fn make_executable(file: &File) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = file.metadata()?.permissions().mode();
    file.set_permissions(fs::Permissions::from_mode(mode | 0o111 & (mode >> 2)))
}

#[cfg(not(unix))]
fn make_executable(_: &File) -> std::io::Result<()> {
    Ok(())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;
    use std::process::Command;

    fn git(folder: &Path, args: &[&str]) -> String {
        let own = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "commit.gpgsign=false"];
        let output = Command::new("git").current_dir(folder).args(own).args(args).output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    /// Issue 16, point 7: attributes of the change choose no filter, and the files are the bytes that git stores.
    #[test]
    fn a_tree_is_exported_as_it_is_stored() {
        let folder = tempfile::tempdir().unwrap();
        let (here, copy, mark) = (folder.path().join("here"), folder.path().join("copy"), folder.path().join("mark"));
        fs::create_dir_all(here.join("sub/deep")).unwrap();
        fs::create_dir(&copy).unwrap();
        git(&here, &["init", "--quiet", "--initial-branch=main"]);
        fs::write(here.join(".gitattributes"), "* filter=evil eol=crlf ident export-ignore\n").unwrap();
        fs::write(here.join("sub/deep/a.txt"), "$Id$\nplain\n").unwrap();
        fs::write(here.join("run.sh"), "#!/bin/sh\n").unwrap();
        fs::set_permissions(here.join("run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
        std::os::unix::fs::symlink("run.sh", here.join("link")).unwrap();
        git(&here, &["add", "-A"]);
        git(&here, &["commit", "--quiet", "-m", "All"]);
        for key in ["filter.evil.smudge", "filter.evil.process"] {
            git(&here, &["config", key, &format!("touch {}", mark.display())]);
        }
        let repository = Repository::discover(&here).unwrap();
        let head = repository.head().unwrap();
        repository.export(&head, &copy).unwrap();
        assert_eq!(fs::read(copy.join("sub/deep/a.txt")).unwrap(), b"$Id$\nplain\n");
        assert_eq!(fs::read_link(copy.join("link")).unwrap(), Path::new("run.sh"));
        assert_eq!(fs::metadata(copy.join("run.sh")).unwrap().permissions().mode() & 0o100, 0o100);
        assert!(!mark.exists());
    }

    /// A tree can hold what no checkout can: names that lead out, or a link with files behind it.
    #[test]
    fn a_tree_cannot_write_outside_of_its_copy() {
        let folder = tempfile::tempdir().unwrap();
        let here = folder.path().join("here");
        fs::create_dir(&here).unwrap();
        git(&here, &["init", "--quiet", "--initial-branch=main"]);
        let blob = |text: &str| {
            fs::write(folder.path().join("blob"), text).unwrap();
            git(&here, &["hash-object", "-w", folder.path().join("blob").to_str().unwrap()])
        };
        let repository = Repository::discover(&here).unwrap();
        let tree = |entries: &[(&str, &str, String)]| {
            let mut bytes = Vec::new();
            for (mode, name, id) in entries {
                bytes.extend_from_slice(format!("{mode} {name}\0").as_bytes());
                bytes.extend((0..20).map(|n| u8::from_str_radix(&id[n * 2..n * 2 + 2], 16).unwrap()));
            }
            fs::write(folder.path().join("tree"), bytes).unwrap();
            git(&here, &["hash-object", "-w", "-t", "tree", "--literally", folder.path().join("tree").to_str().unwrap()])
        };
        let inner = tree(&[("100644", "x", blob("evil"))]);
        let hostile = [
            tree(&[("100644", "../x", blob("evil"))]),
            tree(&[("40000", "..", inner.clone())]),
            tree(&[("40000", ".git", inner.clone())]),
            tree(&[("120000", "a", blob("..")), ("40000", "a", inner.clone())]),
        ];
        for (n, id) in hostile.into_iter().enumerate() {
            let copy = folder.path().join(format!("copies-{n}/copy"));
            fs::create_dir_all(&copy).unwrap();
            let exported = repository.export(&Sha(id), &copy);
            assert!(exported.is_err(), "{n}");
            assert_eq!(fs::read_dir(copy.parent().unwrap()).unwrap().count(), 1, "{n}");
        }
    }
}
