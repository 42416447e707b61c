//! Where forges under test keep their repositories and databases: in memory, where the machine has a folder for that. On a disk, a fifth
//! of the time of a real forge's stories goes into files that nobody reads again. Only forges: the sandbox hides that folder from agents.

use std::process::Command;
use tempfile::TempDir;

const MEMORY: &str = "/dev/shm";
/// More than all tests together have been seen to need. Containers often have no more than 64 MiB there.
const NEEDED: u64 = 4 << 30;

/// A folder in memory, deleted on drop. `None` if the machine has no such place or too little space there.
pub fn make() -> Option<TempDir> {
    let output = Command::new("df").args(["--output=avail", "--block-size=1", MEMORY]).output().ok()?;
    let free: u64 = String::from_utf8_lossy(&output.stdout).lines().nth(1)?.trim().parse().ok()?;
    (free >= NEEDED).then(|| tempfile::Builder::new().prefix("tribunal-test-").tempdir_in(MEMORY).ok()).flatten()
}
