//! What the base of a change says about a file. Only the base can exempt a file from being read: a change must not be able to
//! switch its own reviewers off by a name, a header, an attribute or a stray byte.

use super::files::{ContentKind, FileSummary, SkipReason, is_generated_path, is_vendored};
use super::lock_file;
use crate::diff::change::FileStatus;
use crate::diff::language::Language;
use crate::ids::RepoPath;
use serde::{Deserialize, Serialize};

/// The base's side of a changed file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BaseFacts {
    /// Attributes that the base's `.gitattributes` files give to the path.
    pub attributes: FileAttributes,
    /// The file as it was, if it was there.
    pub before: Option<FileBefore>,
}

/// The attributes that matter here.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileAttributes {
    /// `linguist-generated`
    pub generated: bool,
    /// `linguist-vendored`
    pub vendored: bool,
    /// `binary`, or `-diff`
    pub binary: bool,
}

impl FileAttributes {
    /// What two commits of the base say alike.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            generated: self.generated && other.generated,
            vendored: self.vendored && other.vendored,
            binary: self.binary && other.binary,
        }
    }
}

/// A file of the base.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileBefore {
    pub path: RepoPath,
    pub content: ContentKind,
    /// Its first lines said that a tool wrote it.
    pub says_generated: bool,
    /// What its first bytes showed, for binary content.
    pub format: Option<String>,
}

/// The base's word that a file need not be read. It can only be made here, from [`BaseFacts`] or from a glob of the
/// configuration, which is read from the base too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Exemption(SkipReason);

impl Exemption {
    pub fn reason(self) -> SkipReason {
        self.0
    }

    /// A glob of `[files] skip`.
    pub(super) fn configured() -> Self {
        Exemption(SkipReason::Configured)
    }

    /// Binary content, or what stands for it, that the base knows as binary: by an attribute, or because the file was there in the same format. Nothing
    /// of a deleted file is left to read. A path that an interpreter runs is never taken for data.
    pub(super) fn for_binary(file: &FileSummary) -> Option<Self> {
        let base = file.base.as_ref();
        let is_code = Language::of(&file.path).is_some();
        let marked = base.is_some_and(|base| base.attributes.binary) && !is_code;
        let before = base.and_then(|base| base.before.as_ref());
        let was_so = before.is_some_and(|before| {
            let same_name = before.path == file.path || before.path.extension() == file.path.extension();
            let is_pointer = file.content == ContentKind::Pointer && file.format.is_some();
            let same_kind = before.content == file.content && (is_pointer || file.content == ContentKind::Binary);
            same_kind && before.format == file.format && same_name && !is_code
        });
        let is_gone = file.status == FileStatus::Deleted;
        ((marked || was_so) && !file.became_executable || is_gone).then_some(Exemption(SkipReason::Binary))
    }

    /// A submodule that is removed. Another commit of one is other code, whatever the base had.
    pub(super) fn for_submodule(file: &FileSummary) -> Option<Self> {
        (file.status == FileStatus::Deleted).then_some(Exemption(SkipReason::Submodule))
    }

    /// Text that a tool wrote or another project owns: the base says so of the path, or the file of this path was already so in the
    /// base and still is. A renamed file is read whatever it was before: half of it may be new, under a name of its choice.
    pub(super) fn for_text(file: &FileSummary) -> Option<Self> {
        if file.became_executable {
            return None;
        }
        let base = file.base.as_ref();
        let attributes = base.map(|base| base.attributes).unwrap_or_default();
        let before = base.and_then(|base| base.before.as_ref());
        let before = before.filter(|before| before.content == ContentKind::Text && before.path == file.path);
        let was = |holds: fn(&RepoPath) -> bool| holds(&file.path) && before.is_some();
        let is_gone = file.status == FileStatus::Deleted;
        let reason = if lock_file::is_lock_file(&file.path) {
            let known_form = lock_file::has_known_form(&file.path);
            let holds = if known_form && !is_gone { file.is_lock_form } else { was(lock_file::is_lock_file) };
            holds.then_some(SkipReason::LockFile)
        } else if attributes.vendored || was(is_vendored) {
            Some(SkipReason::Vendored)
        } else if attributes.generated
            || was(is_generated_path)
            || before.is_some_and(|before| before.says_generated) && (file.says_generated || is_gone)
        {
            Some(SkipReason::Generated)
        } else {
            None
        };
        reason.map(Exemption)
    }

    /// A deleted file that was too large to show: nothing of it is left.
    pub(super) fn for_deleted(file: &FileSummary) -> Option<Self> {
        (file.status == FileStatus::Deleted).then_some(Exemption(SkipReason::Deleted))
    }
}

/// The format of binary content, by its first bytes.
pub fn binary_format(start: &[u8]) -> Option<&'static str> {
    const SIGNATURES: [(&[u8], &str); 22] = [
        (b"\x89PNG\r\n\x1a\n", "PNG"),
        (b"\xff\xd8\xff", "JPEG"),
        (b"GIF8", "GIF"),
        (b"\0\0\x01\0", "icon"),
        (b"BM", "bitmap"),
        (b"%PDF-", "PDF"),
        (b"PK\x03\x04", "ZIP"),
        (b"\x1f\x8b", "gzip"),
        (b"BZh", "bzip2"),
        (b"\xfd7zXZ\0", "xz"),
        (b"\x28\xb5\x2f\xfd", "zstd"),
        (b"wOFF", "font"),
        (b"wOF2", "font"),
        (b"\0\x01\0\0\0", "font"),
        (b"OTTO", "font"),
        (b"OggS", "Ogg"),
        (b"ID3", "MP3"),
        (b"\0asm", "WebAssembly"),
        (b"\x7fELF", "ELF executable"),
        (b"MZ", "Windows executable"),
        (b"\xca\xfe\xba\xbe", "Java class or macOS executable"),
        (b"SQLite format 3\0", "SQLite"),
    ];
    let signed = SIGNATURES.iter().find(|(signature, _)| start.starts_with(signature)).map(|(_, name)| *name);
    signed.or_else(|| {
        let at = |range: std::ops::Range<usize>, word: &[u8]| start.get(range).is_some_and(|bytes| bytes == word);
        match start {
            [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => Some("UTF-16 text"),
            _ if at(8..12, b"WEBP") => Some("WebP"),
            _ if at(4..8, b"ftyp") => Some("MP4"),
            _ => None,
        }
    })
}

#[cfg(test)]
mod tests;
