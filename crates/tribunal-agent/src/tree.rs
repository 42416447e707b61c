//! A copy of the reviewed tree, made safe to show to a coding agent.
//!
//! Agents read instructions, settings, hooks and plugins from the folders they work on, and some obey them whatever their flags say
//! (field notes: six CLIs, none without a way in). So those files are taken out of the copy; the change's version of them is in the
//! diff like everything else. Links that lead out of the copy are taken out too, and the rest is made read-only.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

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

/// Deletes a tree that was made read-only. What is already gone is no error.
pub fn delete(tree: &Path) -> io::Result<()> {
    match unlock(tree) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
        Ok(()) => {}
    }
    fs::remove_dir_all(tree)
}

fn unlock(folder: &Path) -> io::Result<()> {
    set_writable(folder, true)?;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() {
            unlock(&entry.path())?;
        } else if cfg!(windows) && kind.is_file() {
            set_writable(&entry.path(), true)?;
        }
    }
    Ok(())
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
}
