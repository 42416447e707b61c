//! `.gitattributes` of the base, read as data. git itself reads the attributes of whatever is checked out, which is often the
//! change; these come from the base's tree alone.

use super::base::FileAttributes;
use crate::diff::change::ChangedFile;
use crate::ids::RepoPath;
use globset::{GlobBuilder, GlobMatcher};

/// The attribute files of a tree, outermost folder first.
#[derive(Debug, Default)]
pub struct Attributes {
    lines: Vec<AttributeLine>,
}

#[derive(Debug)]
struct AttributeLine {
    /// The folder of the file that the line stands in, with its slash; empty for the top.
    folder: String,
    /// Matched against the file name alone, or against the path below the folder.
    by_name: bool,
    pattern: GlobMatcher,
    settings: Vec<(Attribute, bool)>,
}

#[derive(Debug, Clone, Copy)]
enum Attribute {
    Generated,
    Vendored,
    Binary,
}

/// More lines than this belong to no repository that people write.
const MAX_LINES: usize = 10_000;

impl Attributes {
    /// Adds the attribute file of a folder. Folders must come before those inside them: the later line wins, as with git.
    pub fn add(&mut self, folder: &str, text: &str) {
        let room = MAX_LINES.saturating_sub(self.lines.len());
        let folder = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        self.lines.extend(text.lines().filter_map(|line| attribute_line(&folder, line)).take(room));
    }

    pub fn of(&self, path: &RepoPath) -> FileAttributes {
        let mut found = FileAttributes::default();
        for line in &self.lines {
            let Some(below) = path.as_str().strip_prefix(line.folder.as_str()) else { continue };
            let subject = if line.by_name { path.file_name() } else { below };
            if !line.pattern.is_match(subject) {
                continue;
            }
            for (attribute, value) in &line.settings {
                match attribute {
                    Attribute::Generated => found.generated = *value,
                    Attribute::Vendored => found.vendored = *value,
                    Attribute::Binary => found.binary = *value,
                }
            }
        }
        found
    }
}

fn attribute_line(folder: &str, line: &str) -> Option<AttributeLine> {
    let line = line.trim();
    // Quoted patterns and macros are rare; leaving one out exempts nothing.
    if line.is_empty() || line.starts_with(['#', '"', '!', '[']) {
        return None;
    }
    let mut words = line.split_whitespace();
    let pattern = words.next()?;
    let settings: Vec<(Attribute, bool)> = words.filter_map(setting).collect();
    if settings.is_empty() {
        return None;
    }
    let by_name = !pattern.contains('/');
    let pattern = pattern.strip_prefix('/').unwrap_or(pattern);
    // `folder/` matches no file in attributes; only `folder/**` does.
    let glob = GlobBuilder::new(pattern).literal_separator(true).build().ok()?;
    Some(AttributeLine { folder: folder.to_owned(), by_name, pattern: glob.compile_matcher(), settings })
}

fn setting(word: &str) -> Option<(Attribute, bool)> {
    Some(match word {
        "linguist-generated" | "linguist-generated=true" => (Attribute::Generated, true),
        "-linguist-generated" | "!linguist-generated" | "linguist-generated=false" => (Attribute::Generated, false),
        "linguist-vendored" | "linguist-vendored=true" => (Attribute::Vendored, true),
        "-linguist-vendored" | "!linguist-vendored" | "linguist-vendored=false" => (Attribute::Vendored, false),
        "binary" | "-diff" => (Attribute::Binary, true),
        "-binary" | "!binary" | "diff" | "!diff" | "text" => (Attribute::Binary, false),
        _ => return None,
    })
}

/// Whether the change has git write files out in another encoding than the one that they are kept, and reviewed, in.
pub fn changes_encoding(file: &ChangedFile) -> bool {
    // Some systems see no difference between small and capital letters.
    if !file.path.file_name().eq_ignore_ascii_case(".gitattributes") {
        return false;
    }
    let text = file.new_text.as_deref().unwrap_or_default();
    let encoded = text.lines().filter(|line| is_encoded(line));
    let macros: Vec<&str> = encoded.filter_map(|line| words(line).next()?.strip_prefix("[attr]")).collect();
    let is_set = |line: &str| is_encoded(line) || words(line).skip(1).any(|word| macros.contains(&word));
    // A moved file speaks of other files.
    let is_moved = file.old_path.is_some() && text.lines().any(is_set);
    is_moved
        || file.added_lines().any(|line| is_set(&line.text))
        // What went may have been the exception from a line that stays.
        || file.removed_lines().any(|line| words(&line.text).any(|word| word.contains(ENCODING)) && !is_encoded(&line.text))
}

const ENCODING: &str = "working-tree-encoding";

fn is_encoded(line: &str) -> bool {
    let mut encodings = words(line).filter_map(|word| word.strip_prefix(ENCODING)?.strip_prefix('='));
    encodings.any(|encoding| !["utf-8", "utf8"].contains(&encoding.to_ascii_lowercase().as_str()))
}

/// The words of a line; a comment has none. Only a `#` at the beginning makes a comment: `"a #b.py"` is a pattern.
fn words(line: &str) -> impl Iterator<Item = &str> {
    Some(line.trim_start()).filter(|line| !line.starts_with('#')).unwrap_or_default().split_whitespace()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diff::parse::parse_diff;

    #[test]
    fn an_encoding_of_checked_out_files_is_known() {
        let changes = |path: &str, lines: &str, text: &str| {
            let count = |mark: char| lines.lines().filter(|line| line.starts_with([mark, ' '])).count();
            let head = format!("diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n");
            let diff = format!("{head}@@ -1,{} +1,{} @@\n{lines}", count('-'), count('+'));
            let mut change = parse_diff(diff.as_bytes()).unwrap();
            change.files[0].new_text = Some(text.into());
            changes_encoding(&change.files[0])
        };
        let root = ".gitattributes";
        for lines in [
            "+*.py text working-tree-encoding=UTF-7\n",
            "+\"a b.py\" working-tree-encoding=UTF-16LE-BOM\n",
            "+\"a #b.py\" working-tree-encoding=UTF-7\n",
            "-*.py working-tree-encoding=UTF-8\n+*.py working-tree-encoding=SJIS\n",
            "-a.py -working-tree-encoding\n *.sh text\n",
        ] {
            assert!(changes(root, lines, "") && changes("app/.gitattributes", lines, ""), "{lines}");
            assert!(!changes("notes.txt", lines, ""), "{lines}");
        }
        let encoded = "[attr]wide working-tree-encoding=UTF-7\n*.py wide\n";
        assert!(changes(root, " [attr]wide working-tree-encoding=UTF-7\n+*.py wide\n", encoded));
        for lines in [
            "+*.py text working-tree-encoding=utf-8\n",
            "+# *.py working-tree-encoding=UTF-7\n",
            "-*.py working-tree-encoding=UTF-7\n *.sh text\n",
            "+*.png binary\n",
        ] {
            assert!(!changes(root, lines, "*.ps1 working-tree-encoding=UTF-16\n"), "{lines}");
        }
        let moved =
            format!("diff --git a/old/{root} b/{root}\nsimilarity index 100%\nrename from old/{root}\nrename to {root}\n");
        let mut change = parse_diff(moved.as_bytes()).unwrap();
        change.files[0].new_text = Some(encoded.into());
        assert!(changes_encoding(&change.files[0]));
    }

    #[test]
    fn the_last_line_that_matches_wins() {
        let mut attributes = Attributes::default();
        attributes
            .add("", "# comment\n*.pb.go linguist-generated\n*.png binary\n/third/** linguist-vendored=true\nsrc/*.js -diff\n");
        attributes.add("web", "*.pb.go -linguist-generated\nlib/** linguist-vendored\n");
        let of = |path: &str| attributes.of(&path.into());
        assert!(of("a.pb.go").generated && of("deep/er/a.pb.go").generated && !of("web/a.pb.go").generated);
        assert!(of("img/a.png").binary && !of("a.jpg").binary);
        assert!(of("third/x/y.c").vendored && !of("my/third/x.c").vendored && of("web/lib/a.js").vendored);
        assert!(of("src/a.js").binary && !of("src/b/a.js").binary);
    }
}
