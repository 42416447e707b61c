//! The home folder of a child is its scratch folder, but many tools look for their own parts below `HOME`: `rustup` for its
//! toolchains, `pyenv` for its versions, `go` for its modules. What a child may run of the person's home is linked at the same place in
//! its own.

use super::reads::{Homes, Reads};
use std::io;
use std::path::Path;

pub fn link_tools(scratch: &Path, reads: &Reads, homes: &Homes) -> io::Result<()> {
    // Sorted, so that a folder comes before what is in it.
    for tool in &reads.run {
        let Some(place) = homes.above(tool).and_then(|home| tool.strip_prefix(home).ok()) else { continue };
        let is_linked = || scratch.join(place).ancestors().take_while(|above| *above != scratch).any(Path::is_symlink);
        let link = scratch.join(place);
        if is_linked() || link.exists() || !tool.exists() {
            continue;
        }
        if let Some(parent) = link.parent() {
            std::fs::create_dir_all(parent)?;
        }
        make_link(tool, &link)?;
    }
    Ok(())
}

#[cfg(unix)]
fn make_link(tool: &Path, link: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(tool, link)
}

/// Other systems have no sandbox, and Windows needs a privilege for links.
#[cfg(not(unix))]
fn make_link(_: &Path, _: &Path) -> io::Result<()> {
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
}
