//! `--output FILE`: a file is replaced as a whole, so that a full disk never leaves half a report; anything else that can be
//! written to (a device, a pipe, another program's end of `>(…)`) is written to and stays what it is.

use crate::situation::{Situation, exit};
use std::fs::{self, Metadata, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

pub fn write(path: &Path, text: &str) -> Result<(), Situation> {
    destination(path).and_then(|destination| destination.write(text)).map_err(|error| {
        Situation::new("output-failed", exit::INCOMPLETE, format!("{} cannot be written: {error}", path.display()))
            .help("the review itself is kept: tribunal show last")
    })
}

enum Destination {
    /// A regular file, or none yet.
    File(PathBuf, Option<Metadata>),
    /// Opened and written to.
    Stream(PathBuf),
}

/// As many links as Linux follows.
const MAX_LINKS: usize = 40;

/// Follows links to what is really meant.
fn destination(path: &Path) -> io::Result<Destination> {
    let mut here = std::path::absolute(path)?;
    for _ in 0..MAX_LINKS {
        // `/dev/stdout` may lead to a regular file, but the open descriptor is what was meant.
        if is_descriptor(&here) {
            return Ok(Destination::Stream(here));
        }
        match fs::symlink_metadata(&here) {
            Ok(found) if found.is_symlink() => {
                let target = fs::read_link(&here)?;
                here = here.parent().map_or_else(|| target.clone(), |folder| folder.join(&target));
            }
            Ok(found) if found.is_file() => return Ok(Destination::File(here, Some(found))),
            Ok(_) => return Ok(Destination::Stream(here)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Destination::File(here, None)),
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other("too many links"))
}

fn is_descriptor(path: &Path) -> bool {
    path.starts_with("/proc")
        || path.starts_with("/dev/fd")
        || ["/dev/stdin", "/dev/stdout", "/dev/stderr"].iter().any(|name| path == Path::new(name))
}

impl Destination {
    fn write(self, text: &str) -> io::Result<()> {
        match self {
            Destination::File(path, before) => replace(&path, before.as_ref(), text),
            // Appending is how a shell's `>>` meant it; a device or a pipe does not know the difference.
            Destination::Stream(path) => {
                let mut stream = OpenOptions::new().append(true).open(path)?;
                stream.write_all(text.as_bytes()).and_then(|()| stream.flush()).or_else(super::out::unless_closed)
            }
        }
    }
}

fn replace(path: &Path, before: Option<&Metadata>, text: &str) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    // A name that nobody can guess, never opened through a link of somebody else's.
    let mut draft = builder().tempfile_in(folder)?;
    draft.write_all(text.as_bytes())?;
    if let Some(before) = before {
        draft.as_file().set_permissions(before.permissions())?;
    }
    draft.persist(path).map(|_| ()).map_err(|error| error.error)
}

/// Readable like any file that a program writes: the umask decides.
fn builder() -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".tribunal-");
    #[cfg(unix)]
    builder.permissions(<fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o666));
    builder
}
