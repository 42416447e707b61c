//! Files of linters' results, read anew at each look.

use super::Remedies;
use crate::Progress;
use crate::checkout_file::MAX_BYTES;
use std::fs::Metadata;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};
use tribunal_agent::sarif;
use tribunal_core::diff::change::Change;
use tribunal_core::feedback::gather::Gathered;
use tribunal_core::feedback::lint::{LintFile, Linted, items, since};
use tribunal_core::feedback::right::Right;
use tribunal_core::findings::key::sha256_hex;
use tribunal_core::ids::{RepoPath, Sha};
use tribunal_core::policy::loops::LoopPolicy;
use tribunal_core::procedure::remediate::State;
use tribunal_forge::git::Repository;
use tribunal_forge::git::work_file::read_regular_file;

/// A linter that writes its file anew leaves half of one there for a moment.
const PAUSES: [u64; 4] = [100, 300, 1_000, 0];

/// Reads one file; what is wrong with it is said in words that name it.
pub fn read_file(name: &str) -> Result<LintFile, String> {
    let bad = |problem: String| format!("{name}: {problem}");
    let about = std::fs::metadata(Path::new(name)).map_err(|error| bad(error.to_string()))?;
    let bytes = read_regular_file(Path::new(name), MAX_BYTES).map_err(|error| error.to_string())?;
    let results = sarif::results(&bytes).map_err(|failure| bad(failure.to_string()))?;
    Ok(LintFile { name: name.to_owned(), version: version(&bytes, &about), results })
}

fn version(bytes: &[u8], about: &Metadata) -> String {
    let written = about.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok()).unwrap_or_default();
    format!("{}-{:x}", &sha256_hex(bytes)[..12], written.as_millis())
}

/// What stands there now, for whoever waits for something to happen: the files' versions.
pub(super) fn versions(loops: &LoopPolicy) -> Vec<String> {
    let now = |name: &String| Some(version(&read_regular_file(Path::new(name), MAX_BYTES).ok()?, &std::fs::metadata(name).ok()?));
    loops.sarif.iter().map(|name| format!("{name}{AT}{}", now(name).unwrap_or_else(|| "gone".to_owned()))).collect()
}

/// The same of files that were read.
pub(super) fn named(files: &[(LintFile, Linted)]) -> Vec<String> {
    files.iter().map(|(file, _)| format!("{}{AT}{}", file.name, file.version)).collect()
}

/// Between a file and its version.
const AT: &str = "@lint:";

/// The versions that the pass under way has read.
pub(super) fn known(state: &State) -> impl Iterator<Item = &str> {
    let seen = state.memory.baseline.iter().flat_map(|baseline| &baseline.failing);
    seen.filter_map(|entry| Some(entry.rsplit_once(AT)?.1))
}

impl Remedies {
    /// All files of a loop. A read that decides fails closed (CF-9).
    pub(super) async fn lint_files(&self, loops: &LoopPolicy) -> Result<Vec<LintFile>, String> {
        let mut files = Vec::new();
        for name in &loops.sarif {
            let mut read = read_file(name);
            for pause in PAUSES {
                if read.is_ok() {
                    break;
                }
                tokio::time::sleep(Duration::from_millis(pause)).await;
                read = read_file(name);
            }
            files.push(read?);
        }
        Ok(files)
    }

    /// Results join what was said; their words are looked through like everybody's, and have the right of the head's author: they
    /// quote what stands there.
    pub(super) fn add_lints(&self, linted: &[(LintFile, Linted)], gathered: &mut Gathered, right: &Right) {
        for (file, linted) in linted {
            self.tell_left(file, linted);
            for item in &linted.items {
                gathered.raw.insert(item.id.clone(), item.body.clone());
                gathered.rights.insert(item.id.clone(), right.clone());
                gathered.items.push(item.clone());
            }
        }
    }

    /// Says what was not made an item of, so that nobody takes silence for a clean bill.
    fn tell_left(&self, file: &LintFile, linted: &Linted) {
        let left = [
            (linted.elsewhere, "on lines that this change did not write"),
            (linted.over, "of code that is gone or was dealt with"),
            (linted.too_many, "beyond what one loop works on"),
        ];
        for (count, which) in left.into_iter().filter(|(count, _)| *count > 0) {
            (self.listener)(Progress::Working { what: format!("{}: {count} results {which} are left alone", file.name) });
        }
    }
}

/// The items of a file at a head.
pub(super) fn found(repository: &Repository, file: &LintFile, base: &Sha, head: &Sha, change: &Change) -> Result<Linted, String> {
    let history = repository.history(base, head).map_err(|error| error.to_string())?;
    let since = since(&history, &file.version);
    let text_at = |commit: &Sha, path: &RepoPath| String::from_utf8(repository.file_at(commit, path.as_str())?).ok();
    let written = since.before.unwrap_or(head);
    Ok(items(file, &since, change, &|path| text_at(written, path), &|path| text_at(head, path)))
}
