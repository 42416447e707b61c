//! A folder for one run of a program: private, and gone afterwards whatever the program did to it.

use std::io;
use std::path::{Path, PathBuf};

#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
}

impl Scratch {
    /// Below a folder, which is made if it is not there.
    pub fn below(root: &Path) -> io::Result<Self> {
        std::fs::create_dir_all(root)?;
        let mut builder = tempfile::Builder::new();
        builder.prefix("tribunal-");
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
        // The sandbox compares real paths.
        Ok(Self { path: builder.tempdir_in(root.canonicalize()?)?.keep() })
    }

    /// Below the system's folder for temporary files.
    pub fn temporary() -> io::Result<Self> {
        Self::below(&std::env::temp_dir())
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = crate::tree::delete(&self.path);
    }
}
