//! `.gitattributes` of the base, read as data. git itself reads the attributes of whatever is checked out, which is often the
//! change; these come from the base's tree alone.

use super::base::FileAttributes;
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

#[cfg(test)]
mod tests {
    use super::*;

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
