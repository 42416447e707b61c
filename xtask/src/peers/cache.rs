//! Where the peers are kept: in the person's cache folder, under a name that says what they are, so that every checkout finds them and
//! none finds another version's. `target/peers` leads there.

use super::{folder, pins};
use anyhow::{Context as _, Result};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::PathBuf;

/// Makes the link, unless somebody keeps the parts in the target folder itself.
pub fn link() -> Result<()> {
    let link = folder();
    if link.is_dir() && !link.is_symlink() {
        return Ok(());
    }
    let kept = kept_in().unwrap_or_else(|| link.with_file_name("peers-kept"));
    std::fs::create_dir_all(&kept).with_context(|| format!("{} cannot be made", kept.display()))?;
    if std::fs::read_link(&link).is_ok_and(|current| current == kept) {
        return Ok(());
    }
    if link.is_symlink() {
        std::fs::remove_file(&link)?;
    }
    if let Some(above) = link.parent() {
        std::fs::create_dir_all(above)?;
    }
    std::os::unix::fs::symlink(&kept, &link).with_context(|| format!("{} cannot be made", link.display()))
}

fn kept_in() -> Option<PathBuf> {
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let cache = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")))?;
    let mut hasher = DefaultHasher::new();
    pins().hash(&mut hasher);
    Some(cache.join(format!("tribunal-peers/{:016x}", hasher.finish())))
}
