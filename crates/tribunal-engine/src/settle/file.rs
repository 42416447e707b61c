//! The plan file, and what lies beside it.

use crate::checkout_file::could_be_brought;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use tribunal_core::procedure::settle::plan_file::write::{Change, apply};
use tribunal_forge::git::work_file::{read_regular_file, read_work_file};

/// No plan is longer, and no persona.
const MAX_PLAN: u64 = 20 * 1024 * 1024;
const MAX_PERSONA: u64 = 256 * 1024;

pub(super) fn read(path: &Path) -> Result<String, String> {
    let bytes = read_regular_file(path, MAX_PLAN).map_err(|error| error.to_string())?;
    String::from_utf8(bytes).map_err(|_| format!("{} is no text in UTF-8", path.display()))
}

/// Puts the changes into the file as it is now: whole, or not at all.
pub(super) fn change(path: &Path, changes: &[Change]) -> Result<(), String> {
    let text = read(path)?;
    let changed = apply(&text, changes);
    if changed == text {
        return Ok(());
    }
    let failed = |error: std::io::Error| format!("{} cannot be written: {error}", path.display());
    // Where the plan is a link, what it points to is the plan.
    let path = path.canonicalize().map_err(failed)?;
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
    file.write_all(changed.as_bytes()).and_then(|()| file.as_file().sync_all()).map_err(failed)?;
    let permissions = std::fs::metadata(&path).map_err(failed)?.permissions();
    std::fs::set_permissions(file.path(), permissions).map_err(failed)?;
    file.persist(&path).map(drop).map_err(|error| failed(error.error))
}

/// TS-2, TS-48: what the specialist goes by, in the cache that the plan lies in. Without one there is nothing to tell, and what a
/// branch could have written is no maintainer's word.
pub(super) fn persona(plan: &Path, specialist: &str) -> Option<String> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if specialist.is_empty() || !specialist.chars().all(is_name) {
        return None;
    }
    let cache: PathBuf = plan.ancestors().find(|folder| folder.ends_with("plans"))?.parent()?.to_owned();
    // It goes into a prompt: a link there would send another file to a model.
    let file = Path::new("personas").join(format!("{specialist}.md"));
    let bytes = read_work_file(&cache, &file, MAX_PERSONA).ok().flatten()?;
    if could_be_brought(&cache.join(&file)) {
        return None;
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use std::fs;

    /// TS-2, TS-48: the specialist's name selects the file, in the cache that the plan lies in; a name that leads elsewhere selects none.
    #[test]
    fn a_persona_lies_beside_the_plans() {
        let folder = tempfile::tempdir().unwrap();
        let cache = folder.path().join(".hall-cache");
        let plan = cache.join("plans/2026-01-31-shop/plan.json");
        fs::create_dir_all(cache.join("personas")).unwrap();
        fs::write(cache.join("personas/sdet.md"), "# The tester\n").unwrap();
        fs::write(cache.join("secret.md"), "# A secret\n").unwrap();
        assert_eq!(persona(&plan, "sdet").as_deref(), Some("# The tester\n"));
        for other in ["staff", "", "../secret", "sdet.md", "."] {
            assert_eq!(persona(&plan, other), None, "{other}");
        }
        assert_eq!(persona(Path::new("/tmp/plan.json"), "sdet"), None, "it lies in no cache");
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink("../secret.md", cache.join("personas/linked.md")).unwrap();
            assert_eq!(persona(&plan, "linked"), None, "a branch can bring a link");
        }
    }
}
