//! The home folder of a child is its scratch folder, but many tools look for their own parts below `HOME`: `rustup` for its
//! toolchains, `pyenv` for its versions, `go` for its modules. What a child may run of the person's home is linked at the same place in
//! its own. A home that a child was in before may hold links of that child, which are not followed.

use super::reads::{Homes, Reads};
use crate::folder::Folder;
use std::io::{self, ErrorKind};
use std::path::Path;

pub fn link_tools(scratch: &Path, reads: &Reads, homes: &Homes) -> io::Result<()> {
    let folder = Folder::open(scratch)?;
    // Sorted, so that a folder comes before what is in it.
    for tool in &reads.run {
        let Some(place) = homes.above(tool).and_then(|home| tool.strip_prefix(home).ok()) else { continue };
        if place.as_os_str().is_empty() || !tool.exists() {
            continue;
        }
        match folder.link(tool, place) {
            // Something stands there: a link that was made before, or what an earlier child left.
            Err(error) if matches!(error.kind(), ErrorKind::AlreadyExists | ErrorKind::NotADirectory) => {}
            linked => linked?,
        }
    }
    Ok(())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn tools_are_linked_at_their_own_places_once() {
        let folder = tempfile::tempdir().unwrap();
        let (home, scratch) = (folder.path().join("home"), folder.path().join("scratch"));
        for name in [".cargo/bin", ".cargo/registry", ".rustup/toolchains/stable", ".pyenv/shims", ".ssh"] {
            std::fs::create_dir_all(home.join(name)).unwrap();
        }
        std::fs::create_dir_all(scratch.join(".cargo/registry")).unwrap();
        let run = [".cargo/bin", ".cargo/registry", ".missing", ".pyenv", ".pyenv/shims", ".rustup/toolchains"];
        let mut run: Vec<_> = run.iter().map(|name| home.join(name)).collect();
        run.push("/usr/bin".into());
        for _ in 0..2 {
            link_tools(&scratch, &Reads { run: run.clone(), read: vec![home.join(".ssh")] }, &Homes::of(&home)).unwrap();
        }
        let links = |name: &str| std::fs::read_link(scratch.join(name)).ok();
        for name in [".cargo/bin", ".pyenv", ".rustup/toolchains"] {
            assert_eq!(links(name), Some(home.join(name)));
        }
        assert_eq!(links(".cargo/registry"), None, "an existing folder is kept");
        assert!(!scratch.join(".missing").exists() && !scratch.join(".ssh").exists());
    }

    /// A home that a child was in already may hold links of the child.
    #[test]
    fn no_link_of_a_child_is_followed() {
        let folder = tempfile::tempdir().unwrap();
        let (home, scratch, outside) = (folder.path().join("home"), folder.path().join("scratch"), folder.path().join("outside"));
        for path in [&home.join(".rustup/toolchains/stable"), &home.join("go/bin"), &scratch, &outside] {
            std::fs::create_dir_all(path).unwrap();
        }
        std::os::unix::fs::symlink(&outside, scratch.join(".rustup")).unwrap();
        std::fs::write(scratch.join("go"), "").unwrap();
        let run = [".rustup/toolchains", "go/bin"].map(|name| home.join(name)).to_vec();
        link_tools(&scratch, &Reads { run, read: Vec::new() }, &Homes::of(&home)).unwrap();
        assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 0);
    }
}
