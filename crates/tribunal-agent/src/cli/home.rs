//! A home for one run: empty, private, gone afterwards.

use super::found::Program;
use std::io;
use std::path::{Path, PathBuf};

/// ```text
/// run-XXXX/        HOME, 0700
///   work/          the working folder, empty
///   tmp/           TMPDIR
///   .config/ …     whatever the CLI makes
/// ```
pub struct Home {
    folder: PathBuf,
}

/// A child may have made folders that nobody may enter.
impl Drop for Home {
    fn drop(&mut self) {
        let _ = crate::tree::delete(&self.folder);
    }
}

impl Home {
    pub fn create(root: &Path) -> io::Result<Self> {
        std::fs::create_dir_all(root)?;
        let mut builder = tempfile::Builder::new();
        builder.prefix("run-");
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
        // The sandbox compares real paths.
        let home = Self { folder: builder.tempdir_in(root.canonicalize()?)?.keep() };
        for name in ["work", "tmp", ".config", ".cache", ".local/share", ".local/state"] {
            std::fs::create_dir_all(home.path().join(name))?;
        }
        Ok(home)
    }

    pub fn path(&self) -> &Path {
        &self.folder
    }

    pub fn work(&self) -> PathBuf {
        self.path().join("work")
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    /// Files that a profile wants to find at the start, by their path in the home.
    pub fn write(&self, files: &[(String, String)]) -> io::Result<()> {
        for (name, content) in files {
            let path = self.file(name);
            if let Some(folder) = path.parent() {
                std::fs::create_dir_all(folder)?;
            }
            std::fs::write(path, content)?;
        }
        Ok(())
    }

    /// What a profile's own variables are added to. Nothing of ours is passed on but where programs and certificates are.
    pub fn environment(&self, program: &Program) -> Vec<(String, String)> {
        let at = |name: &str| self.file(name).display().to_string();
        [
            ("PATH", program.path.clone()),
            ("TMPDIR", at("tmp")),
            ("XDG_CONFIG_HOME", at(".config")),
            ("XDG_DATA_HOME", at(".local/share")),
            ("XDG_STATE_HOME", at(".local/state")),
            ("XDG_CACHE_HOME", at(".cache")),
            ("LANG", "C.UTF-8".into()),
            ("TERM", "dumb".into()),
            ("NO_COLOR", "1".into()),
            // The way to the proxy must not lead through another one.
            ("NO_PROXY", "127.0.0.1,localhost".into()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into()
    }
}
