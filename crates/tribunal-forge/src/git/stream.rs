//! Output of git that is read as it comes, so that memory follows what is kept and not what git writes.

use super::class::{Git, UntrustedTree, os_path};
use super::{GitError, Repository};
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read, Write as _};
use std::process::{Child, ChildStdin, Stdio};
use std::thread::JoinHandle;

/// What git says when it fails is cut here.
const MAX_STDERR: u64 = 64 * 1024;

/// A running git whose output is being read.
pub(super) struct Running {
    child: Child,
    pub stdout: BufReader<std::process::ChildStdout>,
    stderr: JoinHandle<String>,
    writer: Option<JoinHandle<()>>,
    name: &'static str,
}

impl Running {
    pub fn start(asked: Git<UntrustedTree>, name: &'static str, input: Option<Vec<u8>>) -> Result<Self, GitError> {
        let mut command = asked.assembled()?;
        let stdin = if input.is_some() { Stdio::piped() } else { Stdio::null() };
        command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(unreadable)?;
        let (Some(stdout), Some(stderr)) = (child.stdout.take(), child.stderr.take()) else {
            return Err(GitError::Hollow("git has no output".into()));
        };
        let stderr = std::thread::spawn(move || {
            let mut said = Vec::new();
            let mut stderr = stderr;
            let _ = (&mut stderr).take(MAX_STDERR).read_to_end(&mut said);
            // What is beyond is read and dropped, so that git is not held up.
            let _ = std::io::copy(&mut stderr, &mut std::io::sink());
            String::from_utf8_lossy(&said).trim().to_owned()
        });
        // A writer of its own: git may fill its output pipe before it has read all of its input.
        let writer = input.and_then(|bytes| {
            let stdin: ChildStdin = child.stdin.take()?;
            Some(std::thread::spawn(move || {
                let mut stdin = stdin;
                // A broken pipe here shows as git's own failure.
                let _ = stdin.write_all(&bytes);
            }))
        });
        Ok(Self { child, stdout: BufReader::with_capacity(256 * 1024, stdout), stderr, writer, name })
    }

    /// Ends git, of which no more is wanted; how it ends says nothing.
    pub fn stop(mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Waits for the end, after all output was read.
    pub fn finish(mut self) -> Result<(), GitError> {
        let status = self.child.wait().map_err(unreadable)?;
        if let Some(writer) = self.writer.take() {
            let _ = writer.join();
        }
        let message = self.stderr.join().unwrap_or_default();
        if status.success() { Ok(()) } else { Err(GitError::Failed { command: self.name.into(), message }) }
    }
}

pub(super) fn unreadable(source: std::io::Error) -> GitError {
    match source.kind() {
        std::io::ErrorKind::NotFound => GitError::NoGit,
        _ => GitError::Io { what: "git could not be run".into(), source },
    }
}

/// The diff of one file, or that it was too large to keep.
pub(super) enum Piece {
    Diff(Vec<u8>),
    Dropped,
}

/// Bytes and lines that may still be kept, and diffs of files that may still be read.
pub(super) struct Room {
    pub bytes: u64,
    pub lines: u64,
    pub files: u64,
}

impl Room {
    fn take(&mut self, bytes: usize, lines: u64) -> bool {
        let fits = bytes as u64 <= self.bytes && lines <= self.lines;
        if fits {
            self.bytes -= bytes as u64;
            self.lines -= lines;
        }
        fits
    }
}

/// Reads a diff and hands it on file by file. Lines of a hunk begin with a sign, so a line that begins like a header is one.
pub(super) fn each_file_diff(
    asked: Git<UntrustedTree>,
    room: &mut Room,
    mut keep: impl FnMut(Piece) -> Result<(), GitError>,
) -> Result<(), GitError> {
    let mut git = Running::start(asked, "diff-tree", None)?;
    let (mut piece, mut lines, mut dropped) = (Vec::new(), 0_u64, false);
    let mut finish = |piece: &mut Vec<u8>, lines: &mut u64, dropped: &mut bool, room: &mut Room| {
        let whole = std::mem::take(piece);
        let fits = !*dropped && room.take(whole.len(), *lines);
        let is_any = *dropped || !whole.is_empty();
        (*lines, *dropped) = (0, false);
        room.files = room.files.saturating_sub(u64::from(is_any));
        match (is_any, fits) {
            (false, _) => Ok(()),
            (true, true) => keep(Piece::Diff(whole)),
            (true, false) => keep(Piece::Dropped),
        }
    };
    let mut at_line_start = true;
    loop {
        if room.files == 0 {
            git.stop();
            return Ok(());
        }
        let buffer = git.stdout.fill_buf().map_err(unreadable)?;
        if buffer.is_empty() {
            break;
        }
        // A long line comes in parts; only its first part can be a header.
        let end = buffer.iter().position(|byte| *byte == b'\n').map_or(buffer.len(), |at| at + 1);
        let part = &buffer[..end];
        let ends_line = part.ends_with(b"\n");
        // The buffer may end inside of the first bytes of a line: those are looked at with what follows.
        if at_line_start && !ends_line && part.len() < HEADER.len() && HEADER.starts_with(part) {
            let mut start = part.to_vec();
            git.stdout.consume(end);
            let missing = HEADER.len() - start.len();
            (&mut git.stdout).take(missing as u64).read_to_end(&mut start).map_err(unreadable)?;
            if start.starts_with(HEADER) {
                finish(&mut piece, &mut lines, &mut dropped, room)?;
            }
            lines += start.iter().filter(|byte| **byte == b'\n').count() as u64;
            at_line_start = start.ends_with(b"\n");
            if !dropped {
                piece.extend_from_slice(&start);
            }
            continue;
        }
        if at_line_start && part.starts_with(HEADER) {
            finish(&mut piece, &mut lines, &mut dropped, room)?;
        }
        if !dropped {
            piece.extend_from_slice(part);
        }
        lines += u64::from(ends_line);
        at_line_start = ends_line;
        git.stdout.consume(end);
        if piece.len() as u64 > room.bytes || lines > room.lines {
            (piece, dropped) = (Vec::new(), true);
        }
    }
    finish(&mut piece, &mut lines, &mut dropped, room)?;
    git.finish()
}

const HEADER: &[u8] = b"diff --git ";

/// A blob as it came, or its beginning.
pub(super) struct Blob<'a> {
    /// The name under which it was asked for, by its place in the list.
    pub index: usize,
    pub bytes: &'a [u8],
}

impl Repository {
    /// Reads blobs one after the other; at most `limit` bytes of each are kept. What is missing is left out.
    pub(super) fn each_blob(
        &self,
        names: &[String],
        limit: u64,
        mut see: impl FnMut(Blob<'_>) -> Result<(), GitError>,
    ) -> Result<(), GitError> {
        if names.is_empty() {
            return Ok(());
        }
        self.bring_named(names)?;
        let input: String = names.iter().map(|name| format!("{name}\n")).collect();
        let asked = self.on_tree(UntrustedTree::CatFile).arg("--batch");
        let mut git = Running::start(asked, "cat-file", Some(input.into_bytes()))?;
        let hollow = |what: &str| GitError::Hollow(format!("cat-file {what}"));
        for index in 0..names.len() {
            let mut header = Vec::new();
            git.stdout.read_until(b'\n', &mut header).map_err(unreadable)?;
            let header = String::from_utf8_lossy(&header).trim_end().to_owned();
            if header.ends_with(" missing") {
                continue;
            }
            let mut words = header.rsplit(' ');
            let size: u64 = words.next().and_then(|size| size.parse().ok()).ok_or_else(|| hollow("was cut off"))?;
            let is_blob = words.next() == Some("blob");
            let mut bytes = Vec::new();
            (&mut git.stdout).take(size.min(limit)).read_to_end(&mut bytes).map_err(unreadable)?;
            let rest = size - bytes.len() as u64;
            let skipped = std::io::copy(&mut (&mut git.stdout).take(rest + 1), &mut std::io::sink()).map_err(unreadable)?;
            if skipped != rest + 1 {
                return Err(hollow("was cut off"));
            }
            if is_blob {
                see(Blob { index, bytes: &bytes })?;
            }
        }
        git.finish()
    }

    /// Brings blobs that a clone does not have, by their ids or as `<commit>:<path>`.
    fn bring_named(&self, names: &[String]) -> Result<(), GitError> {
        if self.remote.is_none() {
            return Ok(());
        }
        let mut ids: BTreeSet<String> = names.iter().filter(|name| !name.contains(':')).cloned().collect();
        let commits: BTreeSet<&str> = names.iter().filter_map(|name| Some(name.split_once(':')?.0)).collect();
        for commit in commits {
            let listed = self.ask(UntrustedTree::LsTree, ["-r", "-z", "--full-tree", commit])?;
            // `<mode> blob <id>\t<path>`
            for line in listed.split(|byte| *byte == 0) {
                let Some(tab) = line.iter().position(|byte| *byte == b'\t') else { continue };
                let name = format!("{commit}:{}", os_path(&line[tab + 1..]).display());
                let words = String::from_utf8_lossy(&line[..tab]).into_owned();
                if names.contains(&name) {
                    ids.extend(words.split(' ').nth(2).map(str::to_owned));
                }
            }
        }
        self.bring(ids)
    }

    /// The same for ids.
    pub(super) fn each_object(
        &self,
        ids: &BTreeSet<&str>,
        limit: u64,
        mut see: impl FnMut(&str, &[u8]) -> Result<(), GitError>,
    ) -> Result<(), GitError> {
        let names: Vec<String> = ids.iter().map(|id| (*id).to_owned()).collect();
        self.each_blob(&names, limit, |blob| see(&names[blob.index], blob.bytes))
    }
}
