//! A change between two trees, read whole or not at all.
//!
//! git says first what differs (`--raw`), then how (`-p`). The two lists must name the same files: a diff that lost one is an
//! error, not a smaller change. A file that is too large, or that lies beyond the limit for all files together, is named and left
//! out before its diff is made, so that it takes nothing with it. The diff is read file by file as git writes it.

use super::class::{Git, UntrustedTree};
use super::known_paths::tested;
use super::stream::{Piece, Room, each_file_diff};
use super::{GitError, Repository};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;
use std::sync::Arc;
use tribunal_core::diff::change::{Change, ChangedFile, FileContent, FileStatus};
use tribunal_core::diff::language::shows_testing;
use tribunal_core::diff::parse::parse_diff;
use tribunal_core::diff::series::merge_type_changes;
use tribunal_core::findings::window::Touched;
use tribunal_core::ids::{RepoPath, Sha};
use tribunal_core::plan::files::{BINARY_TEST_BYTES, ContentKind, FileSummary, looks_binary, summary};
use tribunal_core::policy::config::ReadLimits;

/// How every diff is made, whatever the repository is set to.
pub(super) const DIFF: [&str; 10] = [
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
pub(super) struct Sides<'a> {
    pub old: &'a Sha,
    pub new: &'a Sha,
    pub renames: bool,
}

/// Where a change begins.
#[derive(Clone, Copy)]
pub struct ChangeBase<'a> {
    /// What the head is compared with.
    pub commit: &'a Sha,
    /// The tip of the branch that it goes to. What exempts a file must hold here, too.
    pub tip: &'a Sha,
}

impl<'a> ChangeBase<'a> {
    /// For a comparison that no branch is behind, or in which nothing is exempted.
    pub fn commit(commit: &'a Sha) -> Self {
        Self { commit, tip: commit }
    }

    pub fn of(commit: &'a Sha, tip: Option<&'a Sha>) -> Self {
        Self { commit, tip: tip.unwrap_or(commit) }
    }
}

impl<'a> Sides<'a> {
    pub(super) fn args(self) -> [&'a str; 3] {
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

/// A diff, and the files that it leaves out.
struct Read {
    change: Change,
    too_large: BTreeSet<RepoPath>,
    over_total: BTreeSet<RepoPath>,
}

/// Bytes of paths that are passed to git on one command line.
const MAX_PATHSPECS: usize = 512 * 1024;
/// What a path takes there beside its own bytes.
const PATHSPEC_COST: usize = 40;
const PATHSPECS_AT_ONCE: usize = 200;

pub struct ReadChange {
    pub change: Change,
    pub files: Vec<FileSummary>,
}

#[derive(Debug, Clone)]
pub(super) struct RawEntry {
    pub(super) path: RepoPath,
    pub(super) path_bytes: Vec<u8>,
    pub(super) old_path: Option<RepoPath>,
    pub(super) old_mode: String,
    pub(super) new_mode: String,
    pub(super) old_id: String,
    pub(super) new_id: String,
    pub(super) status: char,
}

impl RawEntry {
    pub(super) fn has_new_blob(&self) -> bool {
        self.status != 'D' && self.new_mode != "160000"
    }

    pub(super) fn has_old_blob(&self) -> bool {
        self.status != 'A' && self.old_mode != "160000"
    }

    /// What the file holds, or held before it was deleted.
    fn content_id(&self) -> &str {
        if self.status == 'D' { &self.old_id } else { &self.new_id }
    }
}

impl Repository {
    pub fn read_change(&self, base: ChangeBase<'_>, head: &Sha, limits: ReadLimits) -> Result<ReadChange, GitError> {
        let sides = Sides { old: base.commit, new: head, renames: true };
        let listed = self.first_entries(sides)?;
        let entries = &listed.entries[..listed.entries.len().min(limits.files)];
        let is_cut = listed.is_cut || entries.len() < listed.entries.len();
        if entries.is_empty() {
            return Ok(ReadChange { change: Change::default(), files: Vec::new() });
        }
        let Read { mut change, too_large, over_total } = self.read_diff(sides, entries, limits)?;
        self.load_texts(&mut change, entries, |path| too_large.contains(path) || over_total.contains(path))?;
        let paths = self.all_paths(head)?;
        change.repository_has_tests = paths.iter().any(shows_testing);
        change.tested = tested(&change.files, &paths);
        change.own_addresses = self.own_addresses(base.tip, &change.files, &paths);
        change.files.sort_by(|a, b| a.path.cmp(&b.path));
        let mut files: Vec<FileSummary> = change
            .files
            .iter()
            .map(|file| FileSummary {
                too_large: too_large.contains(&file.path),
                over_total: over_total.contains(&file.path),
                ..summary(file)
            })
            .collect();
        let has_attributes = paths.iter().chain(entries.iter().map(|entry| &entry.path)).any(is_attribute_file);
        self.add_base_facts(base, entries, &mut files, has_attributes)?;
        files.extend(is_cut.then(|| further_files(limits.files)));
        Ok(ReadChange { change, files })
    }

    /// The diff of every file that fits, and the others by name.
    fn read_diff(&self, sides: Sides<'_>, entries: &[RawEntry], limits: ReadLimits) -> Result<Read, GitError> {
        let sizes = self.sizes(entries)?;
        let size = |id: &str, has: bool| if has { sizes.get(id).copied().unwrap_or(0) } else { 0 };
        let both = |entry: &RawEntry| (size(&entry.old_id, entry.has_old_blob()), size(&entry.new_id, entry.has_new_blob()));
        let (large, mut rest): (Vec<&RawEntry>, Vec<&RawEntry>) = entries.iter().partition(|entry| {
            let (old, new) = both(entry);
            old.max(new) > limits.file
        });
        // The smallest first: as many files as fit.
        rest.sort_by_key(|entry| {
            let (old, new) = both(entry);
            (old + new, &entry.path)
        });
        let mut left = limits.total;
        let fits = rest.iter().take_while(|entry| {
            let (old, new) = both(entry);
            left.checked_sub(old + new).map(|rest| left = rest).is_some()
        });
        let fitting = fits.count();
        let beyond = rest.split_off(fitting);
        let without: Vec<&RawEntry> = large.iter().chain(beyond.iter().rev()).copied().collect();
        let mut over_total: BTreeSet<RepoPath> = beyond.iter().map(|entry| entry.path.clone()).collect();
        let too_large: BTreeSet<RepoPath> = large.iter().map(|entry| entry.path.clone()).collect();

        // A change of type is two diffs. Beyond the files that are listed, git is not heard any more.
        let files = entries.len() as u64 * 2;
        let mut room = Room { bytes: limits.total.saturating_mul(2), lines: limits.lines, files };
        let mut change = if rest.is_empty() { Change::default() } else { self.patch(sides, &without, &mut room)? };
        let listed: BTreeSet<&RepoPath> = entries.iter().map(|entry| &entry.path).collect();
        change.files.retain(|file| listed.contains(&file.path) || file.status == FileStatus::Deleted);
        room.files = files;
        change.files.retain(|file| !over_total.contains(&file.path) && !too_large.contains(&file.path));
        self.uncover_hidden_text(sides, &mut change, entries, &mut room)?;
        for entry in large {
            let start = if entry.has_new_blob() { self.first_bytes(&entry.new_id)? } else { Vec::new() };
            change.files.push(unread(entry, looks_binary(&start)));
        }
        let missing = missing(&mut change, entries);
        let ids: BTreeSet<&str> =
            missing.iter().filter(|entry| entry.has_new_blob()).map(|entry| entry.new_id.as_str()).collect();
        let mut binary: BTreeSet<String> = BTreeSet::new();
        self.each_object(&ids, BINARY_TEST_BYTES as u64, |id, start| {
            if looks_binary(start) {
                binary.insert(id.to_owned());
            }
            Ok(())
        })?;
        for entry in missing {
            over_total.insert(entry.path.clone());
            change.files.push(unread(entry, binary.contains(&entry.new_id)));
        }
        Ok(Read { change, too_large, over_total })
    }

    /// What of each file differs between two trees: what an incremental review may speak of. A file that was moved is a new file
    /// here: nobody has read it under its name, and rules go by names.
    pub fn window(
        &self,
        old_base: &Sha,
        since: &Sha,
        base: &Sha,
        head: &Sha,
        limits: ReadLimits,
    ) -> Result<BTreeMap<RepoPath, Touched>, GitError> {
        let sides = Sides { old: since, new: head, renames: false };
        let listed = self.raw_entries(sides)?;
        let Read { change, too_large, over_total } = self.read_diff(sides, &listed.entries, limits)?;
        let unread = too_large.into_iter().chain(over_total);
        let whole = unread.chain(self.recompared(old_base, since, base, head)?).map(|path| (path, Touched::Whole));
        Ok(change.files.iter().map(|file| (file.path.clone(), Touched::of(file))).chain(whole).collect())
    }

    /// What differs between the change of the last review and that of today, each against its own base.
    pub fn changed_since(&self, old_base: &Sha, since: &Sha, base: &Sha, head: &Sha) -> Result<Since, GitError> {
        let mut found =
            Since { paths: self.recompared(old_base, since, base, head)?, renamed: BTreeMap::new(), same_content: false };
        let moved = self.raw_entries(Sides { old: since, new: head, renames: true })?;
        found.same_content = found.paths.is_empty()
            && (if old_base == base { moved.entries.is_empty() } else { self.is_same_change(old_base, since, base, head)? });
        for entry in &moved.entries {
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
        let before: BTreeMap<&RepoPath, &RawEntry> = before.entries.iter().map(|entry| (&entry.path, entry)).collect();
        let now = self.raw_entries(Sides { old: base, new: head, renames: true })?;
        let is_other = |entry: &RawEntry| {
            before.get(&entry.path).is_none_or(|before| before.old_path != entry.old_path || before.old_id != entry.old_id)
        };
        Ok(now.entries.iter().filter(|entry| is_other(entry)).map(|entry| entry.path.clone()).collect())
    }

    /// The same files, each from the same content to the same content.
    fn is_same_change(&self, old_base: &Sha, since: &Sha, base: &Sha, head: &Sha) -> Result<bool, GitError> {
        let contents = |old, new| -> Result<BTreeSet<(RepoPath, String, String)>, GitError> {
            let entries = self.raw_entries(Sides { old, new, renames: false })?;
            Ok(entries.entries.iter().map(|entry| (entry.path.clone(), entry.old_id.clone(), entry.new_id.clone())).collect())
        };
        Ok(contents(old_base, since)? == contents(base, head)?)
    }

    fn sizes(&self, entries: &[RawEntry]) -> Result<BTreeMap<String, u64>, GitError> {
        let new = entries.iter().filter(|entry| entry.has_new_blob()).map(|entry| entry.new_id.as_str());
        let old = entries.iter().filter(|entry| entry.has_old_blob()).map(|entry| entry.old_id.as_str());
        self.sizes_of(&new.chain(old).collect())
    }

    pub(super) fn sizes_of(&self, ids: &BTreeSet<&str>) -> Result<BTreeMap<String, u64>, GitError> {
        if ids.is_empty() {
            return Ok(BTreeMap::new());
        }
        let answer = self.batch("--batch-check=%(objectname) %(objectsize)", ids)?;
        let text = String::from_utf8_lossy(&answer);
        text.lines()
            .map(|line| {
                let (id, size) = line.split_once(' ').ok_or_else(|| GitError::Hollow(format!("cat-file said `{line}`")))?;
                let size = size.parse().map_err(|_| GitError::Hollow(format!("object {id} is {size}")))?;
                Ok((id.to_owned(), size))
            })
            .collect()
    }

    fn patch(&self, sides: Sides<'_>, without: &[&RawEntry], room: &mut Room) -> Result<Change, GitError> {
        let mut asked = self.on_tree(UntrustedTree::DiffTree).args(DIFF).arg("-p").args(sides.args());
        if !without.is_empty() {
            // Pathspec magic is wanted here, and every path in it is marked literal by us.
            asked = asked.with_pathspec_magic().args(["--", ":/"]);
            // What does not fit on a command line is read and dropped.
            let mut length = 0;
            for entry in without {
                length += entry.path_bytes.len() + PATHSPEC_COST;
                if length > MAX_PATHSPECS {
                    break;
                }
                asked = asked.arg(os_pathspec(b":(top,exclude,literal)", &entry.path_bytes));
            }
        }
        self.bring_changed(sides.old, sides.new)?;
        self.read_pieces(asked, room).map_err(|error| self.explained(error))
    }

    fn read_pieces(&self, asked: Git<UntrustedTree>, room: &mut Room) -> Result<Change, GitError> {
        let mut files = Vec::new();
        each_file_diff(asked, room, |piece| {
            match piece {
                Piece::Diff(bytes) => files.extend(parse_diff(&bytes)?.files),
                // Whose diff it was is told by who is missing at the end.
                Piece::Dropped => {}
            }
            Ok(())
        })?;
        let files = merge_type_changes(files);
        let mut seen: BTreeSet<&RepoPath> = BTreeSet::new();
        if let Some(twice) = files.iter().find(|file| !seen.insert(&file.path)) {
            return Err(GitError::Hollow(format!("{} stands in the diff twice", twice.path)));
        }
        Ok(Change { files, ..Change::default() })
    }

    /// `.gitattributes` can call any text binary. What has no NUL byte is text, and its diff is read as such.
    fn uncover_hidden_text(
        &self,
        sides: Sides<'_>,
        change: &mut Change,
        entries: &[RawEntry],
        room: &mut Room,
    ) -> Result<(), GitError> {
        let binary: BTreeSet<&RepoPath> =
            change.files.iter().filter(|file| file.content == FileContent::Binary).map(|file| &file.path).collect();
        let suspects: Vec<&RawEntry> = entries.iter().filter(|entry| binary.contains(&entry.path)).collect();
        let ids: BTreeSet<&str> = suspects.iter().map(|entry| entry.content_id()).collect();
        let mut text: BTreeSet<String> = BTreeSet::new();
        self.each_object(&ids, BINARY_TEST_BYTES as u64, |id, start| {
            if !looks_binary(start) {
                text.insert(id.to_owned());
            }
            Ok(())
        })?;
        let hidden: Vec<&RawEntry> = suspects.into_iter().filter(|entry| text.contains(entry.content_id())).collect();
        let mut uncovered: BTreeMap<RepoPath, ChangedFile> = BTreeMap::new();
        for group in hidden.chunks(PATHSPECS_AT_ONCE) {
            let asked = self.on_tree(UntrustedTree::DiffTree).with_pathspec_magic().args(DIFF).args(["-p", "--text"]);
            let paths = group.iter().map(|entry| os_pathspec(b":(top,literal)", &entry.path_bytes));
            let asked = asked.args(sides.args()).arg("--").args(paths);
            uncovered.extend(self.read_pieces(asked, room)?.files.into_iter().map(|file| (file.path.clone(), file)));
        }
        let hidden: BTreeSet<&RepoPath> = hidden.iter().map(|entry| &entry.path).collect();
        let files = std::mem::take(&mut change.files).into_iter();
        // Hidden text for which there was no room is missing, and so named.
        change.files = files
            .filter_map(|file| if hidden.contains(&file.path) { uncovered.remove(&file.path) } else { Some(file) })
            .collect();
        Ok(())
    }

    fn load_texts(
        &self,
        change: &mut Change,
        entries: &[RawEntry],
        is_unread: impl Fn(&RepoPath) -> bool,
    ) -> Result<(), GitError> {
        let ids: BTreeMap<&RepoPath, &str> =
            entries.iter().filter(|entry| entry.has_new_blob()).map(|entry| (&entry.path, entry.new_id.as_str())).collect();
        let is_wanted = |file: &ChangedFile| file.content == FileContent::Text && !is_unread(&file.path);
        let wanted: BTreeSet<&str> =
            change.files.iter().filter(|file| is_wanted(file)).filter_map(|file| ids.get(&file.path).copied()).collect();
        let mut texts: BTreeMap<String, Arc<str>> = BTreeMap::new();
        self.each_object(&wanted, u64::MAX, |id, bytes| {
            let text = match std::str::from_utf8(bytes) {
                Ok(text) => Arc::from(text),
                Err(_) => Arc::from(String::from_utf8_lossy(bytes).into_owned()),
            };
            texts.insert(id.to_owned(), text);
            Ok(())
        })?;
        if let Some(gone) = wanted.iter().find(|id| !texts.contains_key(**id)) {
            return Err(GitError::Hollow(format!("cat-file has no object {gone}")));
        }
        let links: BTreeSet<&RepoPath> =
            entries.iter().filter(|entry| entry.new_mode == "120000").map(|entry| &entry.path).collect();
        for file in change.files.iter_mut().filter(|file| is_wanted(file)) {
            file.new_text = ids.get(&file.path).and_then(|id| texts.get(*id)).cloned();
            if links.contains(&file.path) {
                file.take_for_link();
            } else {
                file.reread_if_repurposed();
            }
        }
        Ok(())
    }

    pub(super) fn blobs(&self, ids: &BTreeSet<&str>) -> Result<BTreeMap<String, Vec<u8>>, GitError> {
        if ids.is_empty() {
            return Ok(BTreeMap::new());
        }
        parse_batch(&self.batch("--batch", ids)?)
    }

    /// Asks about many objects at once. What a clone does not have is brought, once git has said that it is missing.
    fn batch(&self, how: &str, ids: &BTreeSet<&str>) -> Result<Vec<u8>, GitError> {
        let input: String = ids.iter().map(|id| format!("{id}\n")).collect();
        let ask = || self.on_tree(UntrustedTree::CatFile).arg(how).run(Some(input.as_bytes()));
        let answer = ask()?;
        // The words could also stand in a file; then nothing is brought, because nothing is missing.
        if !contains(&answer, b" missing\n") {
            return Ok(answer);
        }
        if self.remote.is_some() {
            self.bring(ids.iter().map(|id| (*id).to_owned()).collect())?;
            return ask();
        }
        let is_missing = |id: &&&str| contains(&answer, format!("{id} missing\n").as_bytes());
        match ids.iter().find(is_missing) {
            Some(id) if self.is_partial() => {
                Err(GitError::Partial { command: "cat-file".into(), message: format!("{id} is missing") })
            }
            _ => Ok(answer),
        }
    }

    /// The beginning of a blob that is too large to be read whole.
    fn first_bytes(&self, id: &str) -> Result<Vec<u8>, GitError> {
        let io = |source| GitError::Io { what: "git could not be run".into(), source };
        self.bring([id.to_owned()].into())?;
        let mut git = self.on_tree(UntrustedTree::CatFile).args(["blob", id]).spawn_reading()?;
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
        // Whoever wrote the diff wrote the id: no name of a branch, and no path in one.
        if !id.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        self.bring([id.to_owned()].into()).ok()?;
        self.ask(UntrustedTree::CatFile, ["blob", id]).ok()
    }
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
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

/// All files beyond those that are listed, which count as not reviewed.
fn further_files(limit: usize) -> FileSummary {
    let path = RepoPath(format!("(further files: the change has more than {limit})"));
    FileSummary { over_total: true, ..FileSummary::new(path, FileStatus::Modified, ContentKind::Text) }
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

/// Files that differ by git's own word and that the diff does not show. Half of a change of type is not shown either.
fn missing<'a>(change: &mut Change, entries: &'a [RawEntry]) -> Vec<&'a RawEntry> {
    let deleted: BTreeSet<&RepoPath> = entries.iter().filter(|entry| entry.status == 'D').map(|entry| &entry.path).collect();
    change.files.retain(|file| file.status != FileStatus::Deleted || deleted.contains(&file.path));
    let seen: BTreeSet<&RepoPath> = change.files.iter().map(|file| &file.path).collect();
    entries.iter().filter(|entry| !seen.contains(&entry.path)).collect()
}

fn is_attribute_file(path: &RepoPath) -> bool {
    path.file_name() == ".gitattributes"
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

#[cfg(test)]
mod tests;
