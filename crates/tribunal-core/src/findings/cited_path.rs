//! Which file of the change a reviewer means by a path.
//!
//! A path is written as diffs, tools and people write it: `b/src/x`, `./src/x`, `/srv/copy/src/x`, `"src/x"`, `src/x:12`, the name
//! before a rename. It must lead to one file of the change; the evidence then has to stand in that file.

use crate::diff::change::{Change, ChangedFile};
use crate::ids::RepoPath;
use crate::prompt::hidden;
use std::collections::BTreeMap;

pub struct CitedPaths<'a> {
    now: BTreeMap<&'a str, &'a ChangedFile>,
    before: BTreeMap<&'a str, &'a ChangedFile>,
}

impl<'a> CitedPaths<'a> {
    pub fn new(change: &'a Change) -> Self {
        let now = change.files.iter().map(|file| (file.path.as_str(), file)).collect();
        let renamed = change.files.iter().filter_map(|file| Some((file.old_path.as_ref()?.as_str(), file)));
        Self { now, before: renamed.collect() }
    }

    pub fn find(&self, written: &RepoPath) -> Option<&'a ChangedFile> {
        let known = self.known(written.as_str());
        if known.is_some() || written.as_str().len() > MAX_PATH_BYTES {
            return known;
        }
        let tidy = tidy(written.as_str());
        let bare = without_place(&tidy);
        [tidy.as_str(), bare]
            .into_iter()
            .find_map(|path| self.known(path).or_else(|| self.without_prefix(path)).or_else(|| self.only_match(path)))
    }

    /// The file under this very name, today or before the change.
    fn known(&self, path: &str) -> Option<&'a ChangedFile> {
        self.now.get(path).or_else(|| self.before.get(path)).copied()
    }

    /// A folder may be called `b` too, so a prefix is taken off only where the path is unknown with it.
    fn without_prefix(&self, path: &str) -> Option<&'a ChangedFile> {
        let path = path.trim_start_matches('/');
        let path = path.trim_start_matches("./");
        self.known(path).or_else(|| match path.as_bytes() {
            [b'a' | b'b' | b'c' | b'i' | b'o' | b'w', b'/', ..] => self.known(&path[2..]),
            _ => None,
        })
    }

    /// The one file that ends like the path, or like which the path ends: a copy of the repository stands in some folder, and people
    /// leave folders out.
    fn only_match(&self, path: &str) -> Option<&'a ChangedFile> {
        let is_absolute = path.starts_with(['/', '~']) || path.as_bytes().get(1) == Some(&b':');
        let path = path.trim_start_matches(['/', '.']);
        // A name without a folder may be that of another file in some folder.
        let ends = path.match_indices('/').map(|(at, _)| &path[at + 1..]).filter(|end| is_absolute || end.contains('/'));
        let within = ends.map(|end| self.known(end)).find(Option::is_some).flatten();
        if within.is_some() {
            return within;
        }
        let end = format!("/{path}");
        let mut longer = self.now.iter().filter(|(name, _)| !path.is_empty() && name.ends_with(&end));
        match (longer.next(), longer.next()) {
            (Some((_, file)), None) => Some(file),
            _ => None,
        }
    }
}

/// No path is longer.
const MAX_PATH_BYTES: usize = 8 * 1024;

/// Without the quotation marks, headings and separators of other systems.
fn tidy(written: &str) -> String {
    let text = hidden(written);
    let text = text.trim().trim_start_matches("=== FILE ").trim_end_matches(" ===");
    let text = ["`", "\"", "'", "**", "<"].iter().fold(text.trim(), |text, mark| {
        let close = if *mark == "<" { ">" } else { mark };
        text.strip_prefix(mark).and_then(|inner| inner.strip_suffix(close)).unwrap_or(text)
    });
    let text = match text.rsplit_once(" (") {
        Some((path, remark)) if remark.ends_with(')') => path,
        _ => text,
    };
    let text = text.strip_prefix("file://").unwrap_or(text);
    unescaped(text).replace('\\', "/").trim_end_matches(':').to_owned()
}

/// `src/x:12`, `src/x:12-14`, `src/x:12:5`, `src/x#L12`: without the place.
fn without_place(path: &str) -> &str {
    let path = path.split_once("#L").map_or(path, |(path, _)| path);
    let is_number = |at: usize| path[at + 1..].starts_with(|c: char| c.is_ascii_digit() || c == 'L');
    path.match_indices(':').find(|(at, _)| is_number(*at)).map_or(path, |(at, _)| &path[..at])
}

/// Bytes that git writes as `\303\244` in a quoted name.
fn unescaped(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let octal =
            bytes.get(at..at + 4).filter(|code| code[0] == b'\\' && code[1..].iter().all(|digit| (b'0'..=b'7').contains(digit)));
        let byte = octal.and_then(|code| u8::from_str_radix(std::str::from_utf8(&code[1..]).ok()?, 8).ok());
        out.push(byte.unwrap_or(bytes[at]));
        at += if byte.is_some() { 4 } else { 1 };
    }
    String::from_utf8(out).unwrap_or_else(|_| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diff::parse::parse_diff;

    fn change() -> Change {
        let file = |path: &str| format!("diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-x\n+y\n");
        let renamed = "diff --git a/lib/old.rs b/lib/new.rs\nsimilarity index 90%\nrename from lib/old.rs\nrename to lib/new.rs\n--- a/lib/old.rs\n+++ b/lib/new.rs\n@@ -1 +1 @@\n-x\n+y\n";
        let paths = ["src/app/main.rs", "main.py", "b/inner.rs", "one/mod.rs", "two/mod.rs", "src/größe.rs", "a b.txt"];
        let diff: String = paths.iter().map(|path| file(path)).collect();
        parse_diff(format!("{diff}{renamed}").as_bytes()).unwrap()
    }

    /// Issue 18, section 0: paths as models, diffs and tools write them.
    #[test]
    fn a_path_is_found_however_it_is_written() {
        let change = change();
        let paths = CitedPaths::new(&change);
        for (written, file) in [
            ("src/app/main.rs", Some("src/app/main.rs")),
            ("b/src/app/main.rs", Some("src/app/main.rs")),
            ("a/src/app/main.rs", Some("src/app/main.rs")),
            ("./src/app/main.rs", Some("src/app/main.rs")),
            ("/src/app/main.rs", Some("src/app/main.rs")),
            ("/tmp/run-1/copy/src/app/main.rs", Some("src/app/main.rs")),
            ("C:\\work\\shop\\src\\app\\main.rs", Some("src/app/main.rs")),
            ("src\\app\\main.rs", Some("src/app/main.rs")),
            ("shop/src/app/main.rs", Some("src/app/main.rs")),
            ("app/main.rs", Some("src/app/main.rs")),
            ("main.rs", Some("src/app/main.rs")),
            ("`src/app/main.rs`", Some("src/app/main.rs")),
            ("\"src/app/main.rs\"", Some("src/app/main.rs")),
            ("src/app/main.rs:12", Some("src/app/main.rs")),
            ("src/app/main.rs:12-14", Some("src/app/main.rs")),
            ("src/app/main.rs:12:5", Some("src/app/main.rs")),
            ("src/app/main.rs#L12-L14", Some("src/app/main.rs")),
            ("file:///tmp/src/app/main.rs", Some("src/app/main.rs")),
            ("=== FILE src/app/main.rs (modified) ===", Some("src/app/main.rs")),
            ("src/app/main.rs (modified)", Some("src/app/main.rs")),
            (" src/app/main.rs\n", Some("src/app/main.rs")),
            ("lib/old.rs", Some("lib/new.rs")),
            ("a/lib/old.rs", Some("lib/new.rs")),
            ("lib/new.rs (renamed, was lib/old.rs)", Some("lib/new.rs")),
            ("\"b/src/gr\\303\\266\\303\\237e.rs\"", Some("src/größe.rs")),
            ("b/inner.rs", Some("b/inner.rs")),
            ("b/b/inner.rs", Some("b/inner.rs")),
            ("a b.txt", Some("a b.txt")),
            ("/srv/copy/main.py", Some("main.py")),
            ("mod.rs", None),
            ("three/mod.rs", None),
            ("tests/main.py", None),
            ("ain.rs", None),
            ("src/app", None),
            ("", None),
            ("/", None),
        ] {
            let found = paths.find(&RepoPath::from(written)).map(|file| file.path.as_str());
            assert_eq!(found, file, "{written}");
        }
    }
}
