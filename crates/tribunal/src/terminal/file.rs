//! `--output FILE`: a file is replaced as a whole, so that a full disk never leaves half a report; anything else that can be
//! written to (a device, a pipe, another program's end of `>(…)`) is written to and stays what it is.

use crate::situation::{Situation, exit};
use std::fs::{self, Metadata, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use tribunal_forge::git::work_file::check_named_path;

pub fn write(path: &Path, text: &str) -> Result<(), Situation> {
    let failed = |problem: String| {
        Situation::new("output-failed", exit::INCOMPLETE, problem).help("the result itself is kept: tribunal show last")
    };
    // In a checkout, a link may be one that a branch brought, and would have another file replaced.
    check_named_path(path).map_err(|error| failed(error.to_string()))?;
    destination(path)
        .and_then(|destination| destination.write(text))
        .map_err(|error| failed(format!("{} cannot be written: {error}", path.display())))
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::path::{Path, PathBuf};

    fn sources(folder: &Path) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        entries.flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] }).collect()
    }

    /// A path that a person types can be one where a branch has put a link. So it is opened by functions that look for links; who opens
    /// files in another way is listed here, because the path is ours, or was looked at before.
    #[test]
    fn paths_that_people_type_are_opened_in_few_places() {
        const ALLOWED: [&str; 9] = [
            "commands/demo.rs",
            "commands/demo/fleet.rs",
            "commands/init.rs",
            "commands/pr/words.rs",
            "commands/publish.rs",
            "terminal/file.rs",
            "workspace/forge.rs",
            "workspace/target.rs",
            "workspace/trust.rs",
        ];
        let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let all = sources(&top);
        assert!(all.len() > 60, "{}", all.len());
        for path in all {
            let name = path.strip_prefix(&top).unwrap().to_str().unwrap().to_owned();
            let text = std::fs::read_to_string(&path).unwrap();
            let code = text.split("#[cfg(test)]").next().unwrap();
            let opens = ["fs::write(", "fs::read(", "fs::read_to_string(", "File::open(", "File::create(", "OpenOptions::new("];
            let found = opens.iter().find(|how| code.contains(*how));
            assert!(found.is_none() || ALLOWED.contains(&name.as_str()), "{name}: {found:?}");
        }
    }
}
