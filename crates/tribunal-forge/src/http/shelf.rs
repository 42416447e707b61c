//! Small facts that outlive a run: what a server can do, whom a token speaks for. Each saves a request or two, and may be lost at any
//! time.
//!
//! Unlike [`super::cache`] these are believed without asking, so only what cannot change under its key belongs here.

use super::cache::{digest, private_folder};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::path::PathBuf;

#[derive(Debug, Clone)]
pub struct Shelf {
    folder: Option<PathBuf>,
}

impl Shelf {
    pub fn new(folder: Option<PathBuf>) -> Self {
        Shelf { folder }
    }

    /// The key is only ever stored as a hash: it may hold a token.
    fn file(&self, kind: &str, key: &[&str]) -> Option<PathBuf> {
        Some(self.folder.as_ref()?.join(format!("{kind}-{}", &digest(key)[..32])))
    }

    pub fn find<T: DeserializeOwned>(&self, kind: &str, key: &[&str]) -> Option<T> {
        serde_json::from_slice(&std::fs::read(self.file(kind, key)?).ok()?).ok()
    }

    /// What cannot be kept is asked for again.
    pub fn keep<T: Serialize>(&self, kind: &str, key: &[&str], fact: &T) {
        if let (Some(file), Ok(bytes)) = (self.file(kind, key), serde_json::to_vec(fact)) {
            let _ = Self::write(&file, &bytes);
        }
    }

    fn write(file: &std::path::Path, bytes: &[u8]) -> std::io::Result<()> {
        let folder = file.parent().unwrap_or(file);
        private_folder(folder)?;
        let mut temporary = tempfile::NamedTempFile::new_in(folder)?;
        std::io::Write::write_all(&mut temporary, bytes)?;
        temporary.persist(file).map(drop).map_err(|error| error.error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fact_is_found_under_its_own_key_only() {
        let folder = tempfile::tempdir().unwrap();
        let shelf = Shelf::new(Some(folder.path().join("deep")));
        shelf.keep("identity", &["host", "token"], &7);
        assert_eq!(shelf.find::<u32>("identity", &["host", "token"]), Some(7));
        assert_eq!(shelf.find::<u32>("identity", &["host", "other"]), None);
        assert_eq!(shelf.find::<u32>("abilities", &["host", "token"]), None);
        assert_eq!(Shelf::new(None).find::<u32>("identity", &["host", "token"]), None);
    }
}
