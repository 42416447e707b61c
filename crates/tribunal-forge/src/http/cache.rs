//! Answers that may be asked for again with `If-None-Match`. Always revalidated, never served on trust: what saves a request here is
//! the forge's own word that nothing changed.
//!
//! One file per answer in the person's cache folder. A tag is bound to the token it was given for, so the token is part of the key
//! (as a hash); whoever can read the folder could read the answers, hence the mode.

use sha2::{Digest, Sha256};
use std::path::PathBuf;

/// More than this is asked for anew.
const MAX_KEPT: usize = 4 * 1024 * 1024;

#[derive(Debug, Clone)]
pub struct Cache {
    folder: Option<PathBuf>,
    /// Token and host, hashed.
    owner: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    pub etag: String,
    pub body: Vec<u8>,
    /// The `Link` header, by which pages are followed.
    pub link: String,
}

impl Cache {
    pub fn new(folder: Option<PathBuf>, host: &str, token: &str) -> Self {
        Cache { folder, owner: digest(&[host, token]) }
    }

    fn file(&self, url: &str, accept: &str) -> Option<PathBuf> {
        Some(self.folder.as_ref()?.join(&self.owner[..16]).join(&digest(&[accept, url])[..32]))
    }

    pub fn find(&self, url: &str, accept: &str) -> Option<Kept> {
        let bytes = std::fs::read(self.file(url, accept)?).ok()?;
        let mut parts = bytes.splitn(3, |byte| *byte == b'\n');
        let mut text = || String::from_utf8(parts.next()?.to_vec()).ok();
        let (etag, link) = (text()?, text()?);
        Some(Kept { etag, link, body: parts.next()?.to_vec() })
    }

    /// A cache that cannot be written costs a request, nothing else.
    pub fn keep(&self, url: &str, accept: &str, kept: &Kept) {
        let fits = kept.body.len() <= MAX_KEPT && !kept.etag.contains('\n') && !kept.link.contains('\n');
        if let (true, Some(file)) = (fits, self.file(url, accept)) {
            let _ = self.write(&file, kept);
        }
    }

    fn write(&self, file: &std::path::Path, kept: &Kept) -> std::io::Result<()> {
        let folder = file.parent().unwrap_or(file);
        private_folder(folder)?;
        let mut bytes = format!("{}\n{}\n", kept.etag, kept.link).into_bytes();
        bytes.extend_from_slice(&kept.body);
        // Whole or not at all: another process may read it meanwhile.
        let mut temporary = tempfile::NamedTempFile::new_in(folder)?;
        std::io::Write::write_all(&mut temporary, &bytes)?;
        temporary.persist(file).map(drop).map_err(|error| error.error)
    }
}

#[cfg(unix)]
pub(super) fn private_folder(folder: &std::path::Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

#[cfg(not(unix))]
pub(super) fn private_folder(folder: &std::path::Path) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)
}

pub(super) fn digest(parts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part.as_bytes());
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// forges.md 2.5: a tag dies with its token.
    #[test]
    fn another_token_finds_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let kept = Kept { etag: "\"abc\"".into(), body: b"{\n}".to_vec(), link: "<x>; rel=\"next\"".into() };
        let first = Cache::new(Some(folder.path().into()), "h", "token-1");
        first.keep("https://h/a", "json", &kept);
        assert_eq!(first.find("https://h/a", "json"), Some(kept));
        assert_eq!(first.find("https://h/a", "diff"), None);
        assert_eq!(Cache::new(Some(folder.path().into()), "h", "token-2").find("https://h/a", "json"), None);
        assert_eq!(Cache::new(None, "h", "token-1").find("https://h/a", "json"), None);
    }
}
