//! A copy of the reviewed tree, made safe to show to a coding agent.
//!
//! Agents read instructions, settings, hooks and plugins from the folders they work on, and some obey them whatever their flags say
//! (field notes: six CLIs, none without a way in). So those files are taken out of the copy; the change's version of them is in the
//! diff like everything else. Links that lead out of the copy are taken out too, and the rest is made read-only.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, PoisonError};

#[cfg(unix)]
pub(crate) mod held;

/// Names that some agent obeys wherever they stand. Lower case: file systems and agents may not care.
const ANYWHERE: [&str; 32] = [
    ".agents",
    ".amp",
    ".augment",
    ".claude",
    ".claude.json",
    ".clinerules",
    ".codex",
    ".continue",
    ".copilot",
    ".cursor",
    ".cursorrules",
    ".envrc",
    ".gemini",
    ".gitattributes",
    ".gitmodules",
    ".goosehints",
    ".husky",
    ".idea",
    ".kiro",
    ".mcp.json",
    ".opencode",
    ".ripgreprc",
    ".roo",
    ".vscode",
    ".windsurf",
    ".windsurfrules",
    "agents.override.md",
    "claude.local.md",
    "opencode.json",
    "opencode.jsonc",
    ".npmrc",
    ".git",
];
/// Instruction files, which agents look for in every folder that they read from.
const INSTRUCTIONS: [&str; 5] = ["agents.md", "agent.md", "claude.md", "gemini.md", "copilot-instructions.md"];
/// Beginnings of names: `.aider.conf.yml`, `.env.local`.
const BEGINNINGS: [&str; 3] = [".aider", ".env.", ".roorules"];
const EXACT_ENV: &str = ".env";
/// Below `.github` only.
const OF_GITHUB: [&str; 8] =
    ["agents", "chatmodes", "copilot-instructions.md", "copilot", "instructions", "prompts", "skills", "hooks"];

/// Removes what an agent would obey, makes the rest read-only, and says what was removed. Links are never followed.
pub fn scrub(tree: &Path) -> io::Result<Vec<PathBuf>> {
    let root = tree.canonicalize()?;
    let mut removed = Vec::new();
    clean(&root, &root, &mut removed)?;
    removed.sort();
    Ok(removed)
}

fn clean(root: &Path, folder: &Path, removed: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let path = entry.path();
        let kind = entry.file_type()?;
        let relative = path.strip_prefix(root).unwrap_or(&path).to_owned();
        // Pipes, sockets and devices have no place in a tree either.
        let is_odd = !kind.is_file() && !kind.is_dir() && !kind.is_symlink();
        if is_obeyed(&relative) || is_odd || (kind.is_symlink() && leads_away(root, &path)) {
            if kind.is_dir() {
                fs::remove_dir_all(&path)?;
            } else {
                fs::remove_file(&path)?;
            }
            removed.push(relative);
        } else if kind.is_dir() {
            clean(root, &path, removed)?;
        } else if kind.is_file() {
            set_writable(&path, false)?;
        }
    }
    set_writable(folder, false)
}

fn is_obeyed(relative: &Path) -> bool {
    let name = |path: &Path| path.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
    let own = name(relative);
    let is_in_github = relative.parent().is_some_and(|parent| name(parent) == ".github");
    ANYWHERE.contains(&own.as_str())
        || INSTRUCTIONS.contains(&own.as_str())
        || own == EXACT_ENV
        || BEGINNINGS.iter().any(|beginning| own.starts_with(beginning))
        || (is_in_github && OF_GITHUB.contains(&own.as_str()))
}

/// Where a link ends is worked out by its text, step by step: asking the file system would follow it. A link that passes
/// through another is taken for one that leads away, because what that other is may depend on a third.
fn leads_away(root: &Path, link: &Path) -> bool {
    let Ok(target) = fs::read_link(link) else { return true };
    let mut place = link.parent().unwrap_or(root).to_owned();
    for part in target.components() {
        match part {
            Component::Prefix(_) | Component::RootDir => return true,
            Component::CurDir => {}
            Component::ParentDir => {
                if place == root || !place.pop() {
                    return true;
                }
            }
            Component::Normal(name) => {
                place.push(name);
                if place.is_symlink() {
                    return true;
                }
            }
        }
    }
    // It must not bring back under another name what was taken out.
    let mut parts = PathBuf::new();
    place.strip_prefix(root).is_ok_and(|inside| {
        inside.components().any(|part| {
            parts.push(part);
            is_obeyed(&parts)
        })
    })
}

#[cfg(unix)]
fn set_writable(path: &Path, writable: bool) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = fs::symlink_metadata(path)?.permissions().mode();
    let mode = if writable { mode | 0o700 } else { mode & !0o7222 };
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn set_writable(path: &Path, writable: bool) -> io::Result<()> {
    let mut permissions = fs::symlink_metadata(path)?.permissions();
    permissions.set_readonly(!writable);
    fs::set_permissions(path, permissions)
}

/// Makes a copy of somebody's tree safe to hand to a program that follows links: whatever leads out of it, and whatever is neither a
/// file nor a folder, is removed, and no file is shared with another place. Says what was removed.
pub fn cut_links(tree: &Path) -> io::Result<Vec<PathBuf>> {
    let root = tree.canonicalize()?;
    let mut removed = Vec::new();
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let (path, kind) = entry.and_then(|entry| Ok((entry.path(), entry.file_type()?)))?;
            if kind.is_dir() {
                folders.push(path);
            } else if kind.is_file() {
                unshare(&path)?;
            } else if !kind.is_symlink() || !stays_inside(&root, &path) {
                fs::remove_file(&path)?;
                removed.push(path.strip_prefix(&root).unwrap_or(&path).to_owned());
            }
        }
    }
    removed.sort();
    Ok(removed)
}

/// A file with a second name is replaced by a copy of its own.
#[cfg(unix)]
fn unshare(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt as _;
    if fs::symlink_metadata(path)?.nlink() <= 1 {
        return Ok(());
    }
    let folder = path.parent().unwrap_or(Path::new("/"));
    let copy = tempfile::NamedTempFile::new_in(folder)?;
    fs::copy(path, copy.path())?;
    copy.persist(path).map_err(|error| error.error)?;
    Ok(())
}

#[cfg(not(unix))]
fn unshare(_path: &Path) -> io::Result<()> {
    Ok(())
}

/// Links that are followed from one to the next.
const MAX_LINKS: usize = 40;

/// Where a link leads, by the texts of all links on the way. The file system is asked for nothing but those texts, and never about a
/// place outside.
fn stays_inside(root: &Path, link: &Path) -> bool {
    let mut place = link.to_owned();
    let mut rest: Vec<std::ffi::OsString> = Vec::new();
    let mut links = 0;
    loop {
        if let Ok(target) = fs::read_link(&place) {
            links += 1;
            if links > MAX_LINKS || target.is_absolute() || !place.pop() {
                return false;
            }
            rest.extend(target.components().rev().map(|part| part.as_os_str().to_owned()));
        }
        // A step into what is no folder leads nowhere, and so not outside.
        match rest.pop() {
            None => return true,
            Some(part) if part == "." => {}
            Some(part) if part == ".." => {
                if place == root || !place.pop() {
                    return false;
                }
            }
            Some(part) => place.push(part),
        }
    }
}

/// Folders that processes which could not be ended may still write to.
static SHARED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// From here on nothing is deleted in these folders.
pub fn leave_alone(folders: &[PathBuf]) {
    SHARED.lock().unwrap_or_else(PoisonError::into_inner).extend(folders.iter().cloned());
}

/// Deletes a tree, whatever was done to it: folders that nobody may enter, and nests so deep that they have no name, included. What is
/// already gone is no error. Links are removed, not followed, whenever they are put there.
pub fn delete(tree: &Path) -> io::Result<()> {
    let is_shared = |folder: &PathBuf| folder.starts_with(tree) || tree.starts_with(folder);
    if SHARED.lock().unwrap_or_else(PoisonError::into_inner).iter().any(is_shared) {
        return Err(io::Error::other("processes that could not be ended may still write to it"));
    }
    delete_whole(tree)
}

#[cfg(unix)]
fn delete_whole(tree: &Path) -> io::Result<()> {
    held::delete(tree)
}

#[cfg(not(unix))]
fn delete_whole(tree: &Path) -> io::Result<()> {
    match fs::symlink_metadata(tree) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
        Ok(about) if !about.is_dir() => return fs::remove_file(tree),
        Ok(_) => {}
    }
    set_writable(tree, true)?;
    // Folders are moved up before they are emptied, so that no path grows and nothing recurses.
    let mut number = 0_u64;
    let mut folders: Vec<PathBuf> = Vec::new();
    let mut empty = |folder: &Path, folders: &mut Vec<PathBuf>| -> io::Result<()> {
        for entry in fs::read_dir(folder)? {
            let (path, kind) = entry.and_then(|entry| Ok((entry.path(), entry.file_type()?)))?;
            if !kind.is_dir() {
                if kind.is_file() {
                    set_writable(&path, true)?;
                }
                fs::remove_file(&path)?;
                continue;
            }
            set_writable(&path, true)?;
            if folder == tree {
                folders.push(path);
                continue;
            }
            number += 1;
            let mut above = tree.join(format!(".gone-{number}"));
            while above.symlink_metadata().is_ok() {
                number += 1;
                above = tree.join(format!(".gone-{number}"));
            }
            fs::rename(&path, &above)?;
            folders.push(above);
        }
        Ok(())
    };
    empty(tree, &mut folders)?;
    while let Some(folder) = folders.pop() {
        empty(&folder, &mut folders)?;
        fs::remove_dir(&folder)?;
    }
    fs::remove_dir(tree)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(root: &Path, name: &str) {
        let path = root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, name).unwrap();
    }

    /// field/agents.md A.3: what some CLI loads from a checkout, at any depth and in any case.
    #[test]
    fn what_agents_obey_is_taken_out() {
        let folder = tempfile::tempdir().unwrap();
        let tree = folder.path().join("tree");
        let bad = [
            "CLAUDE.md",
            "docs/deep/claude.MD",
            "Agents.md",
            "sub/AGENTS.override.md",
            "GEMINI.md",
            ".Claude/settings.json",
            "pkg/.mcp.json",
            ".codex/config.toml",
            ".gemini/.env",
            ".opencode/plugin/x.js",
            "opencode.jsonc",
            ".cursor/rules",
            ".cursorrules",
            ".roo/x",
            ".GitHub/Copilot-Instructions.md",
            ".github/instructions/a.md",
            ".github/agents/a.md",
            ".aider.conf.yml",
            ".env",
            "app/.env.local",
            ".envrc",
            ".ripgreprc",
            ".gitmodules",
            ".gitattributes",
            ".husky/pre-commit",
            ".vscode/settings.json",
            ".idea/x.xml",
            ".git/config",
        ];
        let good =
            ["src/main.rs", "README.md", ".github/workflows/ci.yml", "docs/claude.md.txt", "environment.rs", "src/agents.rs"];
        bad.iter().chain(&good).for_each(|name| put(&tree, name));
        let removed = scrub(&tree).unwrap();
        assert!(removed.len() >= 25, "{removed:?}");
        for name in bad {
            assert!(!tree.join(name).exists(), "{name}");
        }
        for name in good {
            assert!(tree.join(name).exists(), "{name}");
        }
        delete(&tree).unwrap();
        assert!(!tree.exists());
        delete(&tree).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn links_lead_nowhere_else() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let tree = folder.path().join("tree");
        put(folder.path(), "outside/secret");
        put(&tree, "src/lib.rs");
        put(&tree, "CLAUDE.md");
        let links = [
            ("absolute", "/etc/passwd"),
            ("up", "../outside/secret"),
            ("src/deep", "../../outside"),
            ("src/round", "../src/../../outside"),
            ("renamed", "CLAUDE.md"),
            ("through", "inside/../../outside/secret"),
            ("dir", "../outside"),
        ];
        for (name, target) in links {
            symlink(target, tree.join(name)).unwrap();
        }
        symlink("src/lib.rs", tree.join("inside")).unwrap();
        symlink("gone", tree.join("src/dangling")).unwrap();
        let removed = scrub(&tree).unwrap();
        assert!(links.iter().all(|(name, _)| removed.contains(&PathBuf::from(name))), "{removed:?}");
        assert_eq!(fs::read(tree.join("inside")).unwrap(), b"src/lib.rs");
        assert!(folder.path().join("outside/secret").exists());
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(fs::metadata(tree.join("src/lib.rs")).unwrap().permissions().mode() & 0o222, 0);
        assert_eq!(fs::metadata(tree.join("src")).unwrap().permissions().mode() & 0o222, 0);
        delete(&tree).unwrap();
    }

    /// A process that outlived its run exchanges folders for links while they are deleted.
    #[cfg(unix)]
    #[test]
    fn links_that_are_put_there_meanwhile_are_not_followed() {
        use std::os::unix::fs::symlink;
        use std::sync::atomic::{AtomicBool, Ordering};
        let folder = tempfile::tempdir().unwrap();
        let persons = folder.path().join("persons");
        put(&persons, "kept/deep/file");
        let is_over = AtomicBool::new(false);
        let trees: Vec<PathBuf> = (0..60).map(|number| folder.path().join(format!("tree-{number}"))).collect();
        for tree in &trees {
            (0..20).for_each(|number| put(tree, &format!("a/{number:02}/b/c/file")));
        }
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    for tree in trees.iter().filter(|tree| tree.exists()) {
                        let gone = (1..50).map(|number| format!(".gone-{number}"));
                        for name in gone.chain((0..20).map(|number| format!("a/{number:02}"))) {
                            let aside = tree.join("aside");
                            if fs::rename(tree.join(&name), &aside).is_ok() {
                                let _ = symlink(&persons, tree.join(&name));
                                break;
                            }
                        }
                    }
                }
            });
            // What is left over is left; what lies elsewhere is not touched.
            trees.iter().for_each(|tree| drop(delete(tree)));
            is_over.store(true, Ordering::Relaxed);
        });
        assert_eq!(fs::read(persons.join("kept/deep/file")).unwrap(), b"kept/deep/file");
    }

    #[test]
    fn what_survivors_may_write_to_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        put(folder.path(), "shared/part/file");
        put(folder.path(), "other/file");
        leave_alone(&[folder.path().join("shared/part")]);
        assert!(delete(&folder.path().join("shared")).is_err() && delete(&folder.path().join("shared/part")).is_err());
        delete(&folder.path().join("other")).unwrap();
        assert!(folder.path().join("shared/part/file").exists() && !folder.path().join("other").exists());
    }

    /// B6 (e): a linter's copy keeps links that stay inside, however many there are on the way, and no others.
    #[cfg(unix)]
    #[test]
    fn a_copy_keeps_no_link_that_leads_out() {
        use std::os::unix::fs::{MetadataExt as _, symlink};
        let folder = tempfile::tempdir().unwrap();
        let tree = folder.path().join("tree");
        put(folder.path(), "outside/secret");
        put(&tree, "src/lib.rs");
        let outside = [
            ("absolute", "/etc/passwd"),
            ("own", tree.join("src/lib.rs").to_str().unwrap().to_owned().leak() as &str),
            ("up", "../outside/secret"),
            ("src/round", "../src/../../outside"),
            ("self", "self"),
            ("hop", "inner/../../outside/secret"),
            ("second", "src/round/secret"),
        ];
        let inside = [("inner", "src"), ("file", "inner/lib.rs"), ("src/back", "../file"), ("dangling", "src/gone")];
        for (name, target) in outside.iter().chain(&inside) {
            symlink(target, tree.join(name)).unwrap();
        }
        fs::hard_link(folder.path().join("outside/secret"), tree.join("shared")).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(tree.join("pipe")).status().unwrap().success());
        let removed = cut_links(&tree).unwrap();
        let mut expected: Vec<PathBuf> = outside.iter().map(|(name, _)| PathBuf::from(name)).chain(["pipe".into()]).collect();
        expected.sort();
        assert_eq!(removed, expected);
        assert_eq!(fs::read(tree.join("src/back")).unwrap(), b"src/lib.rs");
        assert_eq!(fs::metadata(tree.join("shared")).unwrap().nlink(), 1);
        assert_eq!(fs::metadata(folder.path().join("outside/secret")).unwrap().nlink(), 1);
        delete(&tree).unwrap();
        assert!(folder.path().join("outside/secret").exists());
    }

    /// A program may leave a nest of folders that is too deep for any path, and lock it.
    #[cfg(unix)]
    #[test]
    fn a_deep_locked_nest_is_deleted() {
        let folder = tempfile::tempdir().unwrap();
        let steps = "d/".repeat(500);
        let script = format!(
            "i=0; while [ $i -lt 9 ]; do mkdir -p {steps} && cd -P {steps} || exit 1; i=$((i+1)); done; echo x > file; chmod 000 ."
        );
        let tree = folder.path().join("tree");
        fs::create_dir(&tree).unwrap();
        put(&tree, ".gone-1/x");
        assert!(std::process::Command::new("sh").args(["-c", &script]).current_dir(&tree).status().unwrap().success());
        delete(&tree).unwrap();
        assert!(!tree.exists());
    }
}
