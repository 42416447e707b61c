//! What a program may read beside the system: its own installation, the programs on the PATH, what its command line names, and what
//! the config adds with `read`. Never a home folder as a whole, and never a place where keys are kept.

use super::installed;
use std::path::{Component, Path, PathBuf};

/// Folders and files, beside the system's programs and libraries.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reads {
    /// These may also be executed.
    pub run: Vec<PathBuf>,
    pub read: Vec<PathBuf>,
}

/// Where people and programs keep keys, tokens, histories and letters, below a home folder.
const PRIVATE: [&str; 52] = [
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".boto",
    ".config/gcloud",
    ".config/gh",
    ".config/glab-cli",
    ".config/tea",
    ".config/hub",
    ".config/git",
    ".config/tribunal",
    ".config/op",
    ".config/rclone",
    ".config/containers",
    ".config/doctl",
    ".config/google-chrome",
    ".config/chromium",
    ".local/state/tribunal",
    ".local/share/tribunal",
    ".local/share/keyrings",
    ".local/share/opencode",
    ".cache/tribunal",
    ".docker",
    ".kube",
    ".netrc",
    ".gitconfig",
    ".git-credentials",
    ".npmrc",
    ".yarnrc.yml",
    ".pypirc",
    ".pgpass",
    ".my.cnf",
    ".vault-token",
    ".terraform.d",
    ".terraformrc",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".cargo/config.toml",
    ".gem/credentials",
    ".m2/settings.xml",
    ".gradle/gradle.properties",
    ".password-store",
    ".mozilla",
    ".thunderbird",
    ".claude",
    ".claude.json",
    ".codex",
    ".gemini",
    ".copilot",
    ".bash_history",
    ".zsh_history",
];
/// Outside of homes.
const PRIVATE_PLACES: [&str; 12] = [
    "/root",
    "/home",
    "/Users",
    "/run",
    "/var/run",
    "/proc",
    "/sys",
    "/dev",
    "/etc/shadow",
    "/etc/gshadow",
    "/etc/sudoers",
    "/etc/ssl/private",
];

/// The folders of people on this machine, ours first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Homes(Vec<PathBuf>);

impl Homes {
    /// That of the environment, and that of the user's entry: a CI job often has both.
    pub fn here() -> Self {
        let mut homes: Vec<PathBuf> = std::env::var_os("HOME").map(PathBuf::from).into_iter().collect();
        homes.extend(home_of_user());
        homes.retain(|home| home.is_absolute() && home.parent().is_some());
        let real: Vec<PathBuf> = homes.iter().filter_map(|home| home.canonicalize().ok()).collect();
        homes.extend(real);
        Self(homes)
    }

    pub fn of(home: &Path) -> Self {
        Self(vec![home.to_owned()])
    }

    /// The home folder that a path lies in or is.
    pub fn above<'a>(&self, path: &'a Path) -> Option<&'a Path> {
        path.ancestors().find(|folder| self.is_home(folder))
    }

    fn is_home(&self, folder: &Path) -> bool {
        let usual = |parent: &Path| parent == Path::new("/home") || parent == Path::new("/Users");
        self.0.iter().any(|home| home == folder) || folder == Path::new("/root") || folder.parent().is_some_and(usual)
    }

    /// Does it hold a home, or all of them?
    fn is_above_a_home(&self, folder: &Path) -> bool {
        self.is_home(folder) || self.0.iter().any(|home| home.starts_with(folder))
    }

    /// Why nobody may be given this, if so. Both the name and what it leads to count.
    pub fn refusal(&self, path: &Path) -> Option<String> {
        let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        if installed::is_system(&real) {
            return None;
        }
        [path, &real].into_iter().find_map(|path| self.refused(path))
    }

    fn refused(&self, path: &Path) -> Option<String> {
        if path.parent().is_none() || self.is_above_a_home(path) {
            return Some(format!("{} is or holds a whole home folder", path.display()));
        }
        if let Some(home) = self.above(path) {
            let private = PRIVATE.iter().map(|name| home.join(name));
            // What would have to be left out of a folder cannot be.
            let mut kept = private.filter(|private| path.starts_with(private) || (private.starts_with(path) && private.exists()));
            return kept.next().map(|private| format!("keys and private things are kept in {}", private.display()));
        }
        let mut places = PRIVATE_PLACES.iter().map(Path::new);
        places.find(|place| path.starts_with(place)).map(|place| format!("{} is not for programs", place.display()))
    }
}

#[cfg(unix)]
fn home_of_user() -> Option<PathBuf> {
    use std::os::unix::fs::MetadataExt as _;
    let user = std::fs::metadata("/proc/self").ok()?.uid().to_string();
    let users = std::fs::read_to_string("/etc/passwd").ok()?;
    let entry =
        users.lines().map(|line| line.split(':').collect::<Vec<_>>()).find(|entry| entry.get(2) == Some(&user.as_str()))?;
    entry.get(5).map(PathBuf::from)
}

#[cfg(not(unix))]
fn home_of_user() -> Option<PathBuf> {
    None
}

impl Reads {
    /// For a program of the config. `more` are the paths of its `read`.
    pub fn of_command(command: &[String], more: &[String]) -> Result<Self, String> {
        let homes = Homes::here();
        let mut run = installed::programs(tribunal_programs::folders(), &homes);
        if let Some(program) = command.first().and_then(|program| tribunal_programs::find(program)) {
            run.extend(installed::of_program(&program, &homes));
        }
        run.extend(named(command, &homes));
        // The variable is passed on, so its file has to be there.
        let certificates = std::env::var_os("SSL_CERT_FILE").map(PathBuf::from);
        run.extend(certificates.filter(|path| path.is_absolute() && path.is_file() && homes.refusal(path).is_none()));
        for path in more {
            let path = expanded(path, std::env::var_os("HOME").map(PathBuf::from))?;
            if let Some(refusal) = homes.refusal(&path) {
                return Err(format!("`read` names {}, which is refused: {refusal}", path.display()));
            }
            run.push(path);
        }
        run.sort();
        run.dedup();
        Ok(Self { run, read: Vec::new() })
    }
}

/// Files that the command line names by their whole path: the script of an interpreter, a file of settings. Folders have to be named
/// with `read`.
fn named(command: &[String], homes: &Homes) -> Vec<PathBuf> {
    let paths = command.iter().skip(1).map(PathBuf::from);
    paths.filter(|path| path.is_absolute() && path.is_file() && homes.refusal(path).is_none()).collect()
}

/// `~/x` is below the person's home.
fn expanded(path: &str, home: Option<PathBuf>) -> Result<PathBuf, String> {
    let absolute = match (path.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => PathBuf::from(path),
    };
    if !absolute.is_absolute() || absolute.components().any(|part| part == Component::ParentDir) {
        return Err(format!("`read` names `{path}`, which is no absolute path; a relative one would be the change's own"));
    }
    Ok(absolute)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(root: &Path, name: &str) -> PathBuf {
        let path = root.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, name).unwrap();
        path
    }

    /// B6 (b): no name leads to a key: not its own, not that of a folder above, not a link.
    #[cfg(unix)]
    #[test]
    fn keys_are_never_given_out() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().canonicalize().unwrap();
        let homes = Homes::of(&home);
        for private in PRIVATE {
            let path = put(&home, &format!("{private}/inner")).parent().unwrap().to_owned();
            assert!(homes.refusal(&path).is_some(), "{private}");
            assert!(homes.refusal(&path.join("inner")).is_some(), "{private}/inner");
            assert!(homes.refusal(path.parent().unwrap()).is_some(), "above {private}");
        }
        std::os::unix::fs::symlink(home.join(".ssh"), home.join("keys")).unwrap();
        assert!(homes.refusal(&home.join("keys")).is_some());
        for place in ["/", "/home", "/home/ana", "/root", "/root/.ssh/id", "/run/docker.sock", "/etc/shadow", "/proc/1"] {
            assert!(homes.refusal(Path::new(place)).is_some(), "{place}");
        }
        assert_eq!(homes.refusal(&put(&home, "tools/rules.yml")), None);
        assert_eq!(homes.refusal(Path::new("/srv/rules")), None);
    }

    #[test]
    fn read_takes_whole_paths() {
        let home = Some(PathBuf::from("/home/ana"));
        assert_eq!(expanded("~/rules", home.clone()).unwrap(), Path::new("/home/ana/rules"));
        for wrong in ["rules", "../rules", "/srv/../root", "~", "~bob/x"] {
            assert!(expanded(wrong, home.clone()).is_err(), "{wrong}");
        }
        assert!(Reads::of_command(&["sh".into()], &["/".into()]).unwrap_err().contains("home folder"));
    }
}
