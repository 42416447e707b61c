//! A diff as a forge sees it: which lines of which files may carry a comment, and where lines went.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileStatus {
    Added,
    Deleted,
    Modified,
    Renamed,
    Copied,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    Context,
    Added,
    Deleted,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    pub mark: Mark,
    pub old: Option<u32>,
    pub new: Option<u32>,
    pub text: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hunk {
    /// `@@ -1,2 +1,3 @@ …`
    pub header: String,
    pub lines: Vec<Line>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileDiff {
    pub status: FileStatus,
    pub old_path: String,
    pub new_path: String,
    pub old_blob: String,
    pub new_blob: String,
    pub hunks: Vec<Hunk>,
    /// The hunks as text; empty for a binary file, a pure rename and a change of mode.
    pub patch: String,
}

impl FileDiff {
    pub fn additions(&self) -> usize {
        self.count(Mark::Added)
    }

    pub fn deletions(&self) -> usize {
        self.count(Mark::Deleted)
    }

    fn count(&self, mark: Mark) -> usize {
        self.lines().filter(|line| line.mark == mark).count()
    }

    pub fn lines(&self) -> impl Iterator<Item = &Line> {
        self.hunks.iter().flat_map(|hunk| &hunk.lines)
    }

    /// The hunk that shows this line of the new side.
    pub fn hunk_of_new(&self, line: u32) -> Option<usize> {
        self.hunks.iter().position(|hunk| hunk.lines.iter().any(|entry| entry.new == Some(line)))
    }

    /// The hunk that shows this line of the old side, deleted or unchanged.
    pub fn hunk_of_old(&self, line: u32) -> Option<usize> {
        self.hunks.iter().position(|hunk| hunk.lines.iter().any(|entry| entry.old == Some(line)))
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Diff {
    pub files: Vec<FileDiff>,
}

impl Diff {
    /// The file by its new path, or by its old one when it is gone.
    pub fn file(&self, path: &str) -> Option<&FileDiff> {
        self.files.iter().find(|file| file.new_path == path).or_else(|| self.files.iter().find(|file| file.old_path == path))
    }

    /// Names come from `--raw -z`, which never quotes; the text gives the hunks. Both list the files in the same order.
    pub(crate) fn parse(raw: &[u8], text: &[u8]) -> Diff {
        let raw = String::from_utf8_lossy(raw).into_owned();
        let mut fields = raw.split('\0').filter(|field| !field.is_empty());
        let mut files = Vec::new();
        while let Some(head) = fields.next() {
            let words: Vec<&str> = head.trim_start_matches(':').split(' ').collect();
            let (letter, path) = (words[4].chars().next().unwrap_or('M'), fields.next().unwrap_or_default());
            let status = match letter {
                'A' => FileStatus::Added,
                'D' => FileStatus::Deleted,
                'R' => FileStatus::Renamed,
                'C' => FileStatus::Copied,
                _ => FileStatus::Modified,
            };
            let second = if matches!(letter, 'R' | 'C') { fields.next().unwrap_or_default() } else { path };
            files.push(FileDiff {
                status,
                old_path: path.to_owned(),
                new_path: second.to_owned(),
                old_blob: words[2].to_owned(),
                new_blob: words[3].to_owned(),
                hunks: Vec::new(),
                patch: String::new(),
            });
        }
        let text = String::from_utf8_lossy(text).into_owned();
        let sections = split_sections(&text);
        assert_eq!(sections.len(), files.len(), "a section of the diff for each file");
        for (file, section) in files.iter_mut().zip(sections) {
            read_hunks(file, section);
        }
        Diff { files }
    }
}

/// A line of content always has a sign before it, so this begins nothing but a section.
fn split_sections(text: &str) -> Vec<&str> {
    let starts: Vec<usize> = std::iter::once(0)
        .chain(text.match_indices("\ndiff --git ").map(|(at, _)| at + 1))
        .filter(|at| text[*at..].starts_with("diff --git "))
        .collect();
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    starts.iter().zip(ends).map(|(start, end)| &text[*start..end]).collect()
}

fn read_hunks(file: &mut FileDiff, section: &str) {
    let Some(start) = section.find("\n@@ ") else { return };
    let body = &section[start + 1..];
    file.patch = body.trim_end_matches('\n').to_owned();
    let (mut old, mut new) = (0, 0);
    for line in body.lines() {
        if let Some((old_start, new_start)) = starts_of(line) {
            (old, new) = (old_start, new_start);
            file.hunks.push(Hunk { header: line.to_owned(), lines: Vec::new() });
            continue;
        }
        let Some(hunk) = file.hunks.last_mut() else { continue };
        let rest = line.get(1..).unwrap_or_default().to_owned();
        let entry = match line.chars().next() {
            Some('+') => Line { mark: Mark::Added, old: None, new: Some(new), text: rest },
            Some('-') => Line { mark: Mark::Deleted, old: Some(old), new: None, text: rest },
            Some('\\') => continue,
            Some(_) | None => Line { mark: Mark::Context, old: Some(old), new: Some(new), text: rest },
        };
        old += u32::from(entry.old.is_some());
        new += u32::from(entry.new.is_some());
        hunk.lines.push(entry);
    }
}

/// `@@ -3,2 +4 @@` → 3 and 4.
fn starts_of(line: &str) -> Option<(u32, u32)> {
    let ((old_start, _), (new_start, _)) = ranges_of(line)?;
    Some((old_start, new_start))
}

type Range = (u32, u32);

fn ranges_of(line: &str) -> Option<(Range, Range)> {
    let mut words = line.strip_prefix("@@ -")?.split(' ');
    let range = |text: &str| {
        let (start, count) = text.split_once(',').unwrap_or((text, "1"));
        Some((start.parse::<u32>().ok()?, count.parse::<u32>().ok()?))
    };
    Some((range(words.next()?)?, range(words.next()?.strip_prefix('+')?)?))
}

/// Where a line stands after a change that is given as a diff without context.
pub(crate) fn carry(diff: &str, line: u32) -> Option<u32> {
    let mut shift = 0_i64;
    for ((old_start, old_count), (_, new_count)) in diff.lines().filter_map(ranges_of) {
        // With a count of none, the start is the line *before* which nothing was taken away.
        let first = if old_count == 0 { old_start + 1 } else { old_start };
        if line < first {
            break;
        }
        if line < first + old_count {
            return None;
        }
        shift += i64::from(new_count) - i64::from(old_count);
    }
    u32::try_from(i64::from(line) + shift).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_move_with_what_is_above_them_and_end_with_their_own_change() {
        let diff = "@@ -2,0 +3,2 @@\n+a\n+b\n@@ -5 +7,0 @@\n-c\n@@ -9,2 +10,2 @@\n";
        let moved: Vec<Option<u32>> = [1, 2, 3, 5, 6, 9, 10, 11].into_iter().map(|line| carry(diff, line)).collect();
        assert_eq!(moved, [Some(1), Some(2), Some(5), None, Some(7), None, None, Some(12)]);
    }
}
