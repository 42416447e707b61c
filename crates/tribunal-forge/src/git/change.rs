//! A change between two trees, read whole or not at all.
//!
//! git says first what differs (`--raw`), then how (`-p`). The two lists must name the same files: a diff that lost one is an
//! error, not a smaller change. A monstrous file is named and left out before its diff is made, so that it takes nothing with it.

use super::{GitError, Repository, output};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use tribunal_core::diff::change::{Change, ChangedFile, FileContent, FileStatus};
use tribunal_core::diff::language::shows_testing;
use tribunal_core::diff::parse::{parse_diff, text_of};
use tribunal_core::findings::window::Touched;
use tribunal_core::ids::{RepoPath, Sha};
use tribunal_core::plan::files::{BINARY_TEST_BYTES, FileSummary, looks_binary, summary};

/// How every diff is made, whatever the repository is set to.
const DIFF: [&str; 11] = [
    "diff-tree",
    "-r",
    "--no-commit-id",
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "--full-index",
    "--ignore-submodules=none",
    "--submodule=short",
    "--src-prefix=a/",
    "--dst-prefix=b/",
];

/// Two trees, and whether a file that was moved is one file or two.
#[derive(Clone, Copy)]
struct Sides<'a> {
    old: &'a Sha,
    new: &'a Sha,
    renames: bool,
}

impl<'a> Sides<'a> {
    fn args(self) -> [&'a str; 3] {
        [if self.renames { "-M" } else { "--no-renames" }, self.old.as_str(), self.new.as_str()]
    }
}

/// What differs between the head of an earlier review and this one.
pub struct Since {
    pub paths: BTreeSet<RepoPath>,
    /// Files that were moved, by their earlier path.
    pub renamed: BTreeMap<RepoPath, RepoPath>,
    /// The change is the same one on another base.
    pub same_content: bool,
}

pub struct ReadChange {
    pub change: Change,
    pub files: Vec<FileSummary>,
}

/// By old side, new side, and whether renames are looked for.
pub(super) type Compared = Mutex<BTreeMap<(Sha, Sha, bool), Arc<Vec<RawEntry>>>>;

#[derive(Debug)]
pub(super) struct RawEntry {
    path: RepoPath,
    path_bytes: Vec<u8>,
    old_path: Option<RepoPath>,
    new_mode: String,
    old_id: String,
    new_id: String,
    status: char,
}

impl RawEntry {
    fn has_new_blob(&self) -> bool {
        self.status != 'D' && self.new_mode != "160000"
    }

    /// What the file holds, or held before it was deleted.
    fn content_id(&self) -> &str {
        if self.status == 'D' { &self.old_id } else { &self.new_id }
    }
}

impl Repository {
    pub fn read_change(&self, base: &Sha, head: &Sha, max_bytes: u64) -> Result<ReadChange, GitError> {
        let sides = Sides { old: base, new: head, renames: true };
        let entries = self.raw_entries(sides)?;
        if entries.is_empty() {
            return Ok(ReadChange { change: Change::default(), files: Vec::new() });
        }
        let sizes = self.sizes(&entries)?;
        let is_monstrous =
            |entry: &RawEntry| sizes.get(&entry.new_id).is_some_and(|size| entry.has_new_blob() && *size > max_bytes);
        let monsters: Vec<&RawEntry> = entries.iter().filter(|entry| is_monstrous(entry)).collect();
        let mut change = self.patch(sides, &monsters)?;
        self.uncover_hidden_text(sides, &mut change, &entries, max_bytes)?;
        self.load_texts(&mut change, &entries)?;
        for monster in &monsters {
            change.files.push(unread(monster, looks_binary(&self.first_bytes(&monster.new_id)?)));
        }
        complete(&change, &entries)?;
        change.repository_has_tests = self.all_paths(head)?.iter().any(shows_testing);
        change.files.sort_by(|a, b| a.path.cmp(&b.path));
        let files = change
            .files
            .iter()
            .map(|file| FileSummary { too_large: monsters.iter().any(|monster| monster.path == file.path), ..summary(file) })
            .collect();
        Ok(ReadChange { change, files })
    }

    /// What of each file differs between two trees: what an incremental review may speak of. A file that was moved is a new file
    /// here: nobody has read it under its name, and rules go by names.
    pub fn window(
        &self,
        old_base: &Sha,
        since: &Sha,
        base: &Sha,
        head: &Sha,
        max_bytes: u64,
    ) -> Result<BTreeMap<RepoPath, Touched>, GitError> {
        let sides = Sides { old: since, new: head, renames: false };
        let entries = self.raw_entries(sides)?;
        let sizes = self.sizes(&entries)?;
        let monsters: Vec<&RawEntry> =
            entries.iter().filter(|entry| sizes.get(&entry.new_id).is_some_and(|size| *size > max_bytes)).collect();
        let mut change = if entries.is_empty() { Change::default() } else { self.patch(sides, &monsters)? };
        self.uncover_hidden_text(sides, &mut change, &entries, max_bytes)?;
        let unread = monsters.iter().map(|monster| monster.path.clone());
        let whole = unread.chain(self.recompared(old_base, since, base, head)?).map(|path| (path, Touched::Whole));
        Ok(change.files.iter().map(|file| (file.path.clone(), Touched::of(file))).chain(whole).collect())
    }

    /// What differs between the change of the last review and that of today, each against its own base.
    pub fn changed_since(&self, old_base: &Sha, since: &Sha, base: &Sha, head: &Sha) -> Result<Since, GitError> {
        let mut found =
            Since { paths: self.recompared(old_base, since, base, head)?, renamed: BTreeMap::new(), same_content: false };
        let moved = self.raw_entries(Sides { old: since, new: head, renames: true })?;
        found.same_content = found.paths.is_empty()
            && (if old_base == base { moved.is_empty() } else { self.is_same_change(old_base, since, base, head)? });
        for entry in moved.iter() {
            found.paths.insert(entry.path.clone());
            if let Some(old) = &entry.old_path {
                found.paths.insert(old.clone());
                found.renamed.insert(old.clone(), entry.path.clone());
            }
        }
        Ok(found)
    }

    /// Files that are compared with another one of the base than before. Their content may be what it was, but what of it is new
    /// is not: once the file that it was a copy of is put back, all of it is.
    fn recompared(&self, old_base: &Sha, since: &Sha, base: &Sha, head: &Sha) -> Result<BTreeSet<RepoPath>, GitError> {
        let before = self.raw_entries(Sides { old: old_base, new: since, renames: true })?;
        let before: BTreeMap<&RepoPath, &RawEntry> = before.iter().map(|entry| (&entry.path, entry)).collect();
        let now = self.raw_entries(Sides { old: base, new: head, renames: true })?;
        let is_other = |entry: &RawEntry| {
            before.get(&entry.path).is_none_or(|before| before.old_path != entry.old_path || before.old_id != entry.old_id)
        };
        Ok(now.iter().filter(|entry| is_other(entry)).map(|entry| entry.path.clone()).collect())
    }

    /// The same files, each from the same content to the same content.
    fn is_same_change(&self, old_base: &Sha, since: &Sha, base: &Sha, head: &Sha) -> Result<bool, GitError> {
        let contents = |old, new| -> Result<BTreeSet<(RepoPath, String, String)>, GitError> {
            let entries = self.raw_entries(Sides { old, new, renames: false })?;
            Ok(entries.iter().map(|entry| (entry.path.clone(), entry.old_id.clone(), entry.new_id.clone())).collect())
        };
        Ok(contents(old_base, since)? == contents(base, head)?)
    }

    fn raw_entries(&self, sides: Sides<'_>) -> Result<Arc<Vec<RawEntry>>, GitError> {
        let key = (sides.old.clone(), sides.new.clone(), sides.renames);
        let compared = || self.compared.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(kept) = compared().get(&key) {
            return Ok(Arc::clone(kept));
        }
        let mut args: Vec<&str> = DIFF.to_vec();
        args.extend(["--raw", "-z"]);
        args.extend(sides.args());
        let entries = Arc::new(parse_raw(&self.run(args)?)?);
        compared().insert(key, Arc::clone(&entries));
        Ok(entries)
    }

    fn sizes(&self, entries: &[RawEntry]) -> Result<BTreeMap<String, u64>, GitError> {
        let ids: BTreeSet<&str> =
            entries.iter().filter(|entry| entry.has_new_blob()).map(|entry| entry.new_id.as_str()).collect();
        if ids.is_empty() {
            return Ok(BTreeMap::new());
        }
        let input: String = ids.iter().map(|id| format!("{id}\n")).collect();
        let mut asked = self.git();
        asked.args(["cat-file", "--batch-check=%(objectname) %(objectsize)"]);
        let answer = Self::checked(Some(&"cat-file".into()), output(asked, Some(input.as_bytes()))?)?;
        let text = String::from_utf8_lossy(&answer);
        text.lines()
            .map(|line| {
                let (id, size) = line.split_once(' ').ok_or_else(|| GitError::Hollow(format!("cat-file said `{line}`")))?;
                let size = size.parse().map_err(|_| GitError::Hollow(format!("object {id} is {size}")))?;
                Ok((id.to_owned(), size))
            })
            .collect()
    }

    fn patch(&self, sides: Sides<'_>, without: &[&RawEntry]) -> Result<Change, GitError> {
        // The one place where pathspec magic is wanted, and every path in it is marked literal by us.
        let mut asked = if without.is_empty() { self.git() } else { self.git_with_magic() };
        asked.args(DIFF).arg("-p").args(sides.args());
        if !without.is_empty() {
            asked.arg("--").arg(":/");
            for entry in without {
                asked.arg(os_pathspec(b":(top,exclude,literal)", &entry.path_bytes));
            }
        }
        let bytes = Self::checked(Some(&"diff-tree".into()), output(asked, None)?)?;
        Ok(parse_diff(&bytes)?)
    }

    /// Like [`Repository::git`], but pathspecs may carry magic: the callers write it themselves.
    fn git_with_magic(&self) -> std::process::Command {
        let asked = self.git();
        let mut plain = std::process::Command::new("git");
        for (name, value) in asked.get_envs() {
            match value {
                Some(value) => plain.env(name, value),
                None => plain.env_remove(name),
            };
        }
        plain.args(asked.get_args().filter(|arg| *arg != "--literal-pathspecs"));
        plain
    }

    /// `.gitattributes` can call any text binary. What has no NUL byte is text, and its diff is read as such.
    fn uncover_hidden_text(
        &self,
        sides: Sides<'_>,
        change: &mut Change,
        entries: &[RawEntry],
        max_bytes: u64,
    ) -> Result<(), GitError> {
        let suspects: Vec<&RawEntry> = entries
            .iter()
            .filter(|entry| change.files.iter().any(|file| file.path == entry.path && file.content == FileContent::Binary))
            .collect();
        if suspects.is_empty() {
            return Ok(());
        }
        let blobs = self.blobs(&suspects.iter().map(|entry| entry.content_id()).collect())?;
        let hidden: Vec<&&RawEntry> = suspects
            .iter()
            .filter(|entry| {
                blobs
                    .get(entry.content_id())
                    .is_some_and(|blob| (blob.len() as u64) <= max_bytes && !blob.iter().take(8000).any(|byte| *byte == 0))
            })
            .collect();
        if hidden.is_empty() {
            return Ok(());
        }
        let mut asked = self.git_with_magic();
        asked.args(DIFF).args(["-p", "--text"]).args(sides.args()).arg("--");
        for entry in &hidden {
            asked.arg(os_pathspec(b":(top,literal)", &entry.path_bytes));
        }
        let bytes = Self::checked(Some(&"diff-tree".into()), output(asked, None)?)?;
        for uncovered in parse_diff(&bytes)?.files {
            if let Some(file) = change.files.iter_mut().find(|file| file.path == uncovered.path) {
                *file = uncovered;
            }
        }
        Ok(())
    }

    fn load_texts(&self, change: &mut Change, entries: &[RawEntry]) -> Result<(), GitError> {
        let ids: BTreeMap<&RepoPath, &str> =
            entries.iter().filter(|entry| entry.has_new_blob()).map(|entry| (&entry.path, entry.new_id.as_str())).collect();
        let wanted: BTreeSet<&str> = change
            .files
            .iter()
            .filter(|file| file.content == FileContent::Text)
            .filter_map(|file| ids.get(&file.path).copied())
            .collect();
        let mut blobs = self.blobs(&wanted)?;
        for file in change.files.iter_mut().filter(|file| file.content == FileContent::Text) {
            let Some(bytes) = ids.get(&file.path).and_then(|id| blobs.get_mut(*id)) else { continue };
            file.new_text = Some(match std::str::from_utf8(bytes) {
                Ok(text) => Arc::from(text),
                Err(_) => Arc::from(String::from_utf8_lossy(bytes).into_owned()),
            });
        }
        Ok(())
    }

    pub(super) fn blobs(&self, ids: &BTreeSet<&str>) -> Result<BTreeMap<String, Vec<u8>>, GitError> {
        if ids.is_empty() {
            return Ok(BTreeMap::new());
        }
        let input: String = ids.iter().map(|id| format!("{id}\n")).collect();
        let mut asked = self.git();
        asked.args(["cat-file", "--batch"]);
        let answer = Self::checked(Some(&"cat-file".into()), output(asked, Some(input.as_bytes()))?)?;
        parse_batch(&answer)
    }

    /// The beginning of a blob that is too large to be read whole.
    fn first_bytes(&self, id: &str) -> Result<Vec<u8>, GitError> {
        let io = |source| GitError::Io { what: "git could not be run".into(), source };
        let mut asked = self.git();
        asked.args(["cat-file", "blob", id]).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut git = asked.spawn().map_err(io)?;
        let mut start = Vec::new();
        let read = git.stdout.take().map(|stdout| stdout.take(BINARY_TEST_BYTES as u64).read_to_end(&mut start));
        // It was going to write the rest of the file, which nobody wants; how it ends says nothing.
        let _ = git.kill();
        let _ = git.wait();
        read.transpose().map_err(io)?;
        Ok(start)
    }

    /// Blobs by id, for a diff whose `index` lines name objects that this repository has.
    pub fn blob(&self, id: &str) -> Option<Vec<u8>> {
        self.run(["cat-file", "blob", id]).ok()
    }
}

/// `<id> blob <size>\n<bytes>\n`, again and again.
fn parse_batch(mut rest: &[u8]) -> Result<BTreeMap<String, Vec<u8>>, GitError> {
    let hollow = || GitError::Hollow("cat-file was cut off".into());
    let mut blobs = BTreeMap::new();
    while !rest.is_empty() {
        let end = rest.iter().position(|byte| *byte == b'\n').ok_or_else(hollow)?;
        let header = String::from_utf8_lossy(&rest[..end]).into_owned();
        let mut words = header.split(' ');
        let (Some(id), Some("blob"), Some(size)) = (words.next(), words.next(), words.next()) else {
            return Err(GitError::Hollow(format!("cat-file said `{header}`")));
        };
        let size: usize = size.parse().map_err(|_| hollow())?;
        let body = rest.get(end + 1..end + 1 + size).ok_or_else(hollow)?;
        blobs.insert(id.to_owned(), body.to_vec());
        rest = rest.get(end + 2 + size..).ok_or_else(hollow)?;
    }
    Ok(blobs)
}

/// `:<old mode> <new mode> <old id> <new id> <status>\0<path>\0[<new path>\0]`
fn parse_raw(bytes: &[u8]) -> Result<Vec<RawEntry>, GitError> {
    let mut fields = bytes.split(|byte| *byte == 0).filter(|field| !field.is_empty());
    let mut entries = Vec::new();
    while let Some(header) = fields.next() {
        let header = String::from_utf8_lossy(header).into_owned();
        let hollow = || GitError::Hollow(format!("diff-tree said `{header}`"));
        let words: Vec<&str> = header.strip_prefix(':').ok_or_else(hollow)?.split(' ').collect();
        let [_, new_mode, old_id, new_id, status] = words.as_slice() else { return Err(hollow()) };
        let status = status.chars().next().ok_or_else(hollow)?;
        let first = fields.next().ok_or_else(hollow)?;
        let (old_path, path) = match status {
            'R' | 'C' => (Some(RepoPath(text_of(first))), fields.next().ok_or_else(hollow)?),
            _ => (None, first),
        };
        entries.push(RawEntry {
            path: RepoPath(text_of(path)),
            path_bytes: path.to_vec(),
            old_path,
            new_mode: (*new_mode).to_owned(),
            old_id: (*old_id).to_owned(),
            new_id: (*new_id).to_owned(),
            status,
        });
    }
    Ok(entries)
}

fn unread(entry: &RawEntry, is_binary: bool) -> ChangedFile {
    ChangedFile {
        path: entry.path.clone(),
        old_path: entry.old_path.clone(),
        status: match entry.status {
            'A' => FileStatus::Added,
            'D' => FileStatus::Deleted,
            'R' => FileStatus::Renamed,
            'C' => FileStatus::Copied,
            _ => FileStatus::Modified,
        },
        content: if is_binary { FileContent::Binary } else { FileContent::Text },
        new_mode: Some(entry.new_mode.clone()),
        old_mode: None,
        hunks: Vec::new(),
        new_text: None,
    }
}

/// The diff must name every file that git said differs.
fn complete(change: &Change, entries: &[RawEntry]) -> Result<(), GitError> {
    let seen: BTreeSet<&RepoPath> = change.files.iter().map(|file| &file.path).collect();
    match entries.iter().find(|entry| !seen.contains(&entry.path)) {
        None => Ok(()),
        Some(entry) => Err(GitError::Hollow(format!("{} differs, but its diff is missing", entry.path))),
    }
}

#[cfg(unix)]
fn os_pathspec(magic: &[u8], path: &[u8]) -> std::ffi::OsString {
    use std::os::unix::ffi::OsStringExt as _;
    std::ffi::OsString::from_vec([magic, path].concat())
}

#[cfg(not(unix))]
fn os_pathspec(magic: &[u8], path: &[u8]) -> std::ffi::OsString {
    String::from_utf8_lossy(&[magic, path].concat()).into_owned().into()
}
