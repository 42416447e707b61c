//! The folder that holds a ledger and what belongs to it: made by this account, on this machine, for nobody else to read.
//!
//! It lies in a git directory, and git directories are unpacked from archives, shared and cached. So the folder carries a file that
//! only this account can write: an id under a seal, whose key is in the person's own state folder. A folder without it was made by
//! somebody else, or by this account before it had a key; nothing in it is read. It is renamed, and a new one takes its place.

use crate::seal::SealKey;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

const OWNER: &str = "owner";
const KEY: &str = "ledger.key";
/// So often is a folder looked at again that other processes make at the same time.
const ATTEMPTS: usize = 8;

#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    #[error("{} is a symbolic link; Tribunal does not write through links in a git directory", .0.display())]
    Link(PathBuf),
    #[error("{} cannot be used: {source}", .path.display())]
    Io { path: PathBuf, source: std::io::Error },
    #[error("the key of this account's ledgers, {}, cannot be read or made: {source}", .path.display())]
    NoKey { path: PathBuf, source: std::io::Error },
}

/// A folder that is known to be ours.
#[derive(Debug, Clone)]
pub struct OwnFolder {
    path: PathBuf,
    id: String,
    secret: [u8; 32],
    state: PathBuf,
}

/// What became of a folder that somebody else made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetAside {
    pub from: PathBuf,
    pub to: PathBuf,
}

impl OwnFolder {
    /// The folder, made if it is not there. A foreign one is set aside first.
    pub fn open(path: &Path, state: &Path) -> Result<(Self, Option<SetAside>), FolderError> {
        let secret = secret(state)?;
        if path == state {
            return Ok((Self::of_person(state, secret), None));
        }
        let io = |source| FolderError::Io { path: path.to_path_buf(), source };
        let mut aside = None;
        // Another process may make the folder between two looks, so each answer is looked at again.
        for _ in 0..ATTEMPTS {
            if is_there(path)? {
                if let Some(id) = owner(path, &secret) {
                    make_private(path).map_err(io)?;
                    refuse_links(path)?;
                    return Ok((Self { path: path.to_path_buf(), id, secret, state: state.to_path_buf() }, aside));
                }
                if !is_empty(path) {
                    aside = Some(set_aside(path)?);
                }
            }
            make_owned(path, &secret).map_err(io)?;
        }
        Err(io(std::io::Error::other("its owner file cannot be read back")))
    }

    /// The folder if it is there and ours. Nothing is made and nothing is moved.
    pub fn existing(path: &Path, state: &Path) -> Result<Option<Self>, FolderError> {
        if path == state && state.join(KEY).is_file() {
            return Ok(Some(Self::of_person(state, secret(state)?)));
        }
        if !is_there(path)? || !state.join(KEY).is_file() {
            return Ok(None);
        }
        let secret = secret(state)?;
        let Some(id) = owner(path, &secret) else { return Ok(None) };
        refuse_links(path)?;
        Ok(Some(Self { path: path.to_path_buf(), id, secret, state: state.to_path_buf() }))
    }

    /// The person's own state folder, for work that is in no repository: it needs no proof, and is never set aside.
    fn of_person(state: &Path, secret: [u8; 32]) -> Self {
        Self { path: state.to_path_buf(), id: "person".to_owned(), secret, state: state.to_path_buf() }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn ledger(&self) -> PathBuf {
        self.path.join("ledger.db")
    }

    /// What the ledger in this folder is sealed with.
    pub fn key(&self) -> SealKey {
        SealKey::new(&self.secret, &self.id, Some(self.state.join("ledgers").join(&self.id)))
    }

    /// Renames the folder: its ledger was changed by somebody else. Of the person's own state folder only the ledger goes.
    pub fn set_aside(self) -> Result<SetAside, FolderError> {
        if self.path != self.state {
            // Another process may have set it aside already, and made a new one.
            return match owner(&self.path, &self.secret) {
                Some(id) if id != self.id => Ok(SetAside { from: self.path.clone(), to: self.path }),
                _ => set_aside(&self.path),
            };
        }
        for ending in ["-wal", "-shm"] {
            let mut name = self.ledger().into_os_string();
            name.push(ending);
            // SQLite applies a log to whatever ledger lies beside it.
            let _ = fs::remove_file(name);
        }
        set_aside(&self.ledger())
    }
}

/// A folder with its owner file, renamed into place as a whole: nobody sees it without the file. One that somebody else was faster
/// with stays.
fn make_owned(path: &Path, secret: &[u8; 32]) -> std::io::Result<()> {
    let id = hex(&random()?[..16]);
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let made = path.with_file_name(format!(".{name}-{id}"));
    make_private(&made)?;
    write_private(&made.join(OWNER), format!("{id} {}\n", seal_of(secret, &id)).as_bytes())?;
    if fs::rename(&made, path).is_err() {
        fs::remove_dir_all(&made)?;
    }
    Ok(())
}

/// Is there anything, and is it a folder? A link is neither.
fn is_there(path: &Path) -> Result<bool, FolderError> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_symlink() => Err(FolderError::Link(path.to_path_buf())),
        Ok(found) if found.is_dir() => Ok(true),
        Ok(_) => Err(FolderError::Io { path: path.to_path_buf(), source: std::io::Error::other("it is not a folder") }),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(source) => Err(FolderError::Io { path: path.to_path_buf(), source }),
    }
}

fn is_empty(path: &Path) -> bool {
    fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none())
}

/// The id in the owner file, if its seal is ours.
fn owner(path: &Path, secret: &[u8; 32]) -> Option<String> {
    let file = path.join(OWNER);
    if !fs::symlink_metadata(&file).is_ok_and(|found| found.is_file() && found.len() < 1024) {
        return None;
    }
    let text = fs::read_to_string(file).ok()?;
    let (id, seal) = text.trim_end().split_once(' ')?;
    (seal == seal_of(secret, id)).then(|| id.to_owned())
}

fn seal_of(secret: &[u8; 32], id: &str) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret).unwrap_or_else(|_| unreachable!("a key of any length is taken"));
    mac.update(b"folder\0");
    mac.update(id.as_bytes());
    hex(&mac.finalize().into_bytes())
}

fn set_aside(path: &Path) -> Result<SetAside, FolderError> {
    let io = |source| FolderError::Io { path: path.to_path_buf(), source };
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let to = (1..).map(|n| path.with_file_name(format!("{name}.set-aside-{n}"))).find(|to| fs::symlink_metadata(to).is_err());
    let to = to.ok_or_else(|| io(std::io::Error::other("no free name beside it")))?;
    fs::rename(path, &to).map_err(io)?;
    Ok(SetAside { from: path.to_path_buf(), to })
}

/// Nothing below the folder may be a link. Objects are written under names that nobody chooses, and are not looked at one by one.
fn refuse_links(path: &Path) -> Result<(), FolderError> {
    let mut folders = vec![path.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let io = |source| FolderError::Io { path: folder.clone(), source };
        let entries = match fs::read_dir(&folder) {
            // A temporary folder of another process.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            listed => listed.map_err(io)?,
        };
        for entry in entries {
            let entry = entry.map_err(io)?;
            let kind = entry.file_type().map_err(io)?;
            if kind.is_symlink() {
                return Err(FolderError::Link(entry.path()));
            }
            let is_objects = folder.ends_with("objects") && entry.file_name().len() == 2;
            if kind.is_dir() && !is_objects {
                folders.push(entry.path());
            }
        }
    }
    Ok(())
}

/// The key of this account, made on first use.
fn secret(state: &Path) -> Result<[u8; 32], FolderError> {
    let path = state.join(KEY);
    let no_key = |source| FolderError::NoKey { path: path.clone(), source };
    if !state.is_absolute() {
        // A relative path would lead into whatever folder this runs in.
        return Err(no_key(std::io::Error::other("there is no home folder; set HOME or XDG_STATE_HOME")));
    }
    make_private(state).map_err(no_key)?;
    if !path.exists() {
        let made = state.join(format!(".key-{}", hex(&random().map_err(no_key)?[..16])));
        write_private(&made, &random().map_err(no_key)?).map_err(no_key)?;
        let linked = fs::hard_link(&made, &path);
        let copied = match linked {
            Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => fs::rename(&made, &path),
            Ok(()) | Err(_) => Ok(()),
        };
        let _ = fs::remove_file(&made);
        copied.map_err(no_key)?;
    }
    let mut secret = [0; 32];
    File::open(&path).and_then(|mut file| file.read_exact(&mut secret)).map_err(no_key)?;
    make_file_private(&path).map_err(no_key)?;
    Ok(secret)
}

fn random() -> std::io::Result<[u8; 32]> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(std::io::Error::other)?;
    Ok(bytes)
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn write_private(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let _ = fs::remove_file(path);
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)?.write_all(bytes)
}

/// A folder that only this account can look into, whatever the umask is; one that was looser is tightened.
pub fn make_private(folder: &Path) -> std::io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
        fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        if fs::metadata(folder)?.permissions().mode() & 0o077 != 0 {
            fs::set_permissions(folder, fs::Permissions::from_mode(0o700))?;
        }
        Ok(())
    }
    #[cfg(not(unix))]
    fs::create_dir_all(folder)
}

/// The same for a file that is there.
pub(crate) fn make_file_private(path: &Path) -> std::io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        if fs::symlink_metadata(path)?.permissions().mode() & 0o077 != 0 {
            fs::set_permissions(path, fs::Permissions::from_mode(0o600))?;
        }
    }
    let _ = path;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folders() -> (tempfile::TempDir, PathBuf, PathBuf) {
        let root = tempfile::tempdir().unwrap();
        let (git, state) = (root.path().join("git"), root.path().join("state"));
        fs::create_dir(&git).unwrap();
        (root, git.join("tribunal"), state)
    }

    #[test]
    fn a_folder_of_ours_is_known_again() {
        let (_root, path, state) = folders();
        assert!(OwnFolder::existing(&path, &state).unwrap().is_none());
        let (made, aside) = OwnFolder::open(&path, &state).unwrap();
        assert_eq!(aside, None);
        let (again, aside) = OwnFolder::open(&path, &state).unwrap();
        assert_eq!((aside, again.id), (None, made.id.clone()));
        assert_eq!(OwnFolder::existing(&path, &state).unwrap().unwrap().id, made.id);
    }

    /// Processes that begin at once end up in one folder, and none of them sets aside what another has just made.
    #[test]
    fn many_who_begin_at_once_share_one_folder() {
        for _ in 0..20 {
            let (_root, path, state) = folders();
            let open = || OwnFolder::open(&path, &state).unwrap();
            let made: Vec<_> = std::thread::scope(|scope| {
                let threads: Vec<_> = (0..8).map(|_| scope.spawn(open)).collect();
                threads.into_iter().map(|thread| thread.join().unwrap()).collect()
            });
            assert!(made.iter().all(|(own, aside)| own.id == made[0].0.id && aside.is_none()));
        }
    }

    /// Issue 16, point 9: a folder that came with the repository, or that another account made, is not read.
    #[test]
    fn a_foreign_folder_is_set_aside() {
        let (root, path, state) = folders();
        fs::create_dir(&path).unwrap();
        fs::write(path.join("ledger.db"), "theirs").unwrap();
        assert!(OwnFolder::existing(&path, &state).unwrap().is_none());
        let (_, aside) = OwnFolder::open(&path, &state).unwrap();
        let aside = aside.unwrap();
        assert_eq!(fs::read_to_string(aside.to.join("ledger.db")).unwrap(), "theirs");
        assert!(!path.join("ledger.db").exists());
        // Another account, with its own key.
        let (_, aside) = OwnFolder::open(&path, &root.path().join("other state")).unwrap();
        assert!(aside.is_some_and(|other| other.to != root.path().join("git/tribunal.set-aside-1")));
        assert!(OwnFolder::existing(&path, &state).unwrap().is_none());
    }

    #[cfg(unix)]
    #[test]
    fn links_are_refused() {
        use std::os::unix::fs::symlink;
        let (root, path, state) = folders();
        let outside = root.path().join("outside");
        fs::create_dir(&outside).unwrap();
        symlink(&outside, &path).unwrap();
        assert!(matches!(OwnFolder::open(&path, &state), Err(FolderError::Link(_))));
        assert!(matches!(OwnFolder::existing(&path, &state), Err(FolderError::Link(_))));
        assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
        fs::remove_file(&path).unwrap();
        OwnFolder::open(&path, &state).unwrap();
        for name in ["ledger.db", "ledger.db-wal", "library/words"] {
            let at = path.join(name);
            fs::create_dir_all(at.parent().unwrap()).unwrap();
            symlink(outside.join("x"), &at).unwrap();
            assert!(matches!(OwnFolder::open(&path, &state), Err(FolderError::Link(_))), "{name}");
            fs::remove_file(&at).unwrap();
        }
    }

    #[cfg(unix)]
    #[test]
    fn only_this_account_can_read_it() {
        use std::os::unix::fs::PermissionsExt as _;
        let (_root, path, state) = folders();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        OwnFolder::open(&path, &state).unwrap();
        for loose in [0o755, 0o777] {
            fs::set_permissions(&path, fs::Permissions::from_mode(loose)).unwrap();
            OwnFolder::open(&path, &state).unwrap();
            assert_eq!((mode(&path), mode(&state)), (0o700, 0o700));
        }
        assert_eq!((mode(&state.join(KEY)), mode(&path.join(OWNER))), (0o600, 0o600));
    }

    /// Without a home the state folder would be one of the repository's.
    #[test]
    fn a_relative_state_folder_is_refused() {
        let (_root, path, _) = folders();
        assert!(matches!(OwnFolder::open(&path, Path::new("state")), Err(FolderError::NoKey { .. })));
    }
}
