//! Where a program's files lie. A linter in a home folder must find its own parts, and nothing else there.

use super::reads::Homes;
use std::path::{Path, PathBuf};

/// Read by every child anyway.
const SYSTEM: [&str; 10] = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/nix/store", "/gnu/store", "/opt", "/snap"];
/// Folders that hold programs, beside which their other files lie.
const PROGRAMS: [&str; 4] = ["bin", "sbin", "shims", ".bin"];
/// Folders in a home that hold one kind of tool and nothing of the person's.
const TOOLS: [&str; 20] = [
    ".pyenv",
    ".rbenv",
    ".nodenv",
    ".goenv",
    ".asdf",
    ".volta",
    ".nvm",
    ".bun",
    ".deno",
    ".sdkman",
    ".dotnet",
    ".npm-global",
    ".npm-packages",
    ".nix-profile",
    ".rustup",
    ".ghcup",
    "miniconda3",
    "miniforge3",
    "anaconda3",
    "mambaforge",
];
/// Folders of programs in a home whose other files lie in known places: never all that is beside them.
const SCATTERED: [(&str, &[&str]); 3] = [
    (
        ".local",
        &[
            ".local/lib",
            ".local/share/uv/tools",
            ".local/share/uv/python",
            ".local/pipx/venvs",
            ".local/share/pipx/venvs",
            ".local/share/mise/installs",
            ".local/share/pnpm",
            ".local/share/fnm",
        ],
    ),
    (".cargo", &[".cargo/registry", ".cargo/git", ".rustup/toolchains", ".rustup/settings.toml"]),
    ("go", &["go/pkg/mod"]),
];
/// What shows that a folder was made by an installer.
const SIGNS: [&str; 6] = ["lib", "lib64", "libexec", "include", "pyvenv.cfg", "conda-meta"];
/// Links that are followed from a name to a program.
const MAX_LINKS: usize = 16;

/// The folders of a PATH, and the installations that they belong to.
pub fn programs(path: &[PathBuf], homes: &Homes) -> Vec<PathBuf> {
    let folders = path.iter().filter(|folder| folder.is_absolute() && folder.is_dir());
    let mut all: Vec<PathBuf> = folders
        .flat_map(|folder| {
            let real = folder.canonicalize().ok().into_iter().flat_map(|real| installation(&real, homes)).collect::<Vec<_>>();
            installation(folder, homes).into_iter().chain(real)
        })
        .collect();
    all.sort();
    all.dedup();
    all
}

/// What one program needs: its installation, that of every link on the way to it, and that of its interpreter.
pub fn of_program(program: &Path, homes: &Homes) -> Vec<PathBuf> {
    let mut needed = Vec::new();
    let mut names = chain(program);
    if let Some(interpreter) = names.last().and_then(|real| crate::cli::found::interpreter(real)) {
        names.extend(tribunal_programs::find(&interpreter).iter().flat_map(|path| chain(path)));
    }
    for name in &names {
        // The file itself, wherever it lies: somebody named it to be run.
        needed.push(name.clone());
        needed.extend(name.parent().into_iter().flat_map(|folder| installation(folder, homes)));
    }
    needed.retain(|path| homes.refusal(path).is_none());
    needed.sort();
    needed.dedup();
    needed
}

/// Every name on the way from a link to what it leads to.
fn chain(path: &Path) -> Vec<PathBuf> {
    let mut names = vec![path.to_owned()];
    let mut here = path.to_owned();
    for _ in 0..MAX_LINKS {
        let Ok(target) = std::fs::read_link(&here) else { break };
        here = here.parent().unwrap_or(Path::new("/")).join(target);
        names.push(here.clone());
    }
    names.extend(path.canonicalize());
    names.retain(|name| !name.components().any(|part| part == std::path::Component::ParentDir));
    names
}

pub(crate) fn is_system(path: &Path) -> bool {
    SYSTEM.iter().any(|system| path.starts_with(system))
}

/// The folders that a folder of programs belongs to. Nothing if every child reads it anyway.
fn installation(folder: &Path, homes: &Homes) -> Vec<PathBuf> {
    if is_system(folder) {
        return Vec::new();
    }
    let kept = |paths: Vec<PathBuf>| paths.into_iter().filter(|path| homes.refusal(path).is_none()).collect();
    if let Some(modules) = folder.ancestors().filter(|above| above.file_name().is_some_and(|name| name == "node_modules")).last()
    {
        return kept(vec![modules.to_owned()]);
    }
    let holds_programs = folder.file_name().is_some_and(|name| PROGRAMS.iter().any(|known| name == *known));
    let prefix = folder.parent().filter(|_| holds_programs);
    let alone = vec![folder.to_owned()];
    let Some(prefix) = prefix else { return kept(alone) };
    if let Some(home) = homes.above(prefix) {
        let inside = prefix.strip_prefix(home).unwrap_or(prefix);
        if let Some((_, others)) = SCATTERED.iter().find(|(name, _)| inside == Path::new(name)) {
            return kept(alone.into_iter().chain(others.iter().map(|other| home.join(other))).collect());
        }
        let is_tool = TOOLS.iter().any(|tool| inside == Path::new(tool));
        let is_deep = inside.components().count() > 1;
        return kept(if is_tool || (is_deep && is_installed(prefix)) { vec![prefix.to_owned()] } else { alone });
    }
    // Not the root, nor a folder of the root that holds everybody's things.
    let is_deep = prefix.components().count() > 2;
    kept(if is_deep && is_installed(prefix) { vec![prefix.to_owned()] } else { alone })
}

/// Made by an installer, and no one's work.
fn is_installed(prefix: &Path) -> bool {
    !prefix.join(".git").exists() && SIGNS.iter().any(|sign| prefix.join(sign).exists())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    fn program(home: &Path, name: &str, text: &str) -> PathBuf {
        let path = home.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    fn make(home: &Path, folders: &[&str]) {
        for folder in folders {
            std::fs::create_dir_all(home.join(folder)).unwrap();
        }
    }

    fn inside(home: &Path, paths: Vec<PathBuf>) -> Vec<String> {
        let inside = paths.iter().filter_map(|path| path.strip_prefix(home).ok());
        inside.map(|path| path.display().to_string()).collect()
    }

    #[test]
    fn each_way_to_install_a_tool_gives_its_own_folders() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().canonicalize().unwrap();
        let homes = Homes::of(&home);
        let all =
            [".cargo/registry", ".rustup/toolchains", ".pyenv/libexec", "go/src/secret", "go/pkg/mod", ".local/lib/python3"];
        make(&home, &all);
        make(
            &home,
            &["bin", "work/app/bin", "work/app/.git", "work/app/lib", "work/tool/bin", "work/tool/lib", "work/x/.venv/bin"],
        );
        make(&home, &["work/x/.venv/lib", "work/y/node_modules/.bin", ".cargo/bin", ".pyenv/shims", "go/bin", ".local/bin"]);
        let of = |name: &str| inside(&home, installation(&home.join(name), &homes));
        assert_eq!(of("bin"), ["bin"]);
        assert_eq!(
            of(".cargo/bin"),
            [".cargo/bin", ".cargo/registry", ".cargo/git", ".rustup/toolchains", ".rustup/settings.toml"]
        );
        assert_eq!(of(".pyenv/shims"), [".pyenv"]);
        assert_eq!(of("go/bin"), ["go/bin", "go/pkg/mod"]);
        assert_eq!(&of(".local/bin")[..2], [".local/bin", ".local/lib"]);
        assert_eq!(of("work/app/bin"), ["work/app/bin"], "a project of the person");
        assert_eq!(of("work/tool/bin"), ["work/tool"]);
        assert_eq!(of("work/x/.venv/bin"), ["work/x/.venv"]);
        assert_eq!(of("work/y/node_modules/.bin"), ["work/y/node_modules"]);
        assert!(installation(Path::new("/usr/local/bin"), &homes).is_empty());
        assert_eq!(installation(Path::new("/srv/bin"), &homes), [Path::new("/srv/bin")]);
    }

    /// A tool of `uv`: a link to a script, whose interpreter is a link into an environment, which is a link to a Python.
    #[test]
    fn links_and_interpreters_are_followed() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().canonicalize().unwrap();
        let homes = Homes::of(&home);
        let python = program(&home, "work/python/cpython-3.12/bin/python3", "");
        make(&home, &["work/python/cpython-3.12/lib", "work/tools/lint/lib", ".local/bin"]);
        let interpreter = home.join("work/tools/lint/bin/python");
        let script = program(&home, "work/tools/lint/bin/lint", &format!("#!{}\n", interpreter.display()));
        symlink(&python, &interpreter).unwrap();
        let name = home.join(".local/bin/lint");
        symlink(&script, &name).unwrap();
        let needed = inside(&home, of_program(&name, &homes));
        for wanted in [".local/bin/lint", "work/tools/lint", "work/python/cpython-3.12"] {
            assert!(needed.iter().any(|path| path == wanted), "{wanted} of {needed:?}");
        }
        assert!(!needed.iter().any(|path| path.is_empty() || path == "work" || path == ".local"), "{needed:?}");
    }
}
