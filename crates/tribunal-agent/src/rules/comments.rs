//! Where comments stand in a line, by the custom of its file. What a comment says decides nothing about code beside it.
//!
//! Read without a grammar: files that have none are the ones that need it. A mark inside of quotes begins no comment.

use std::ops::Range;
use tribunal_core::diff::language::Language;
use tribunal_core::ids::RepoPath;

/// How comments are written in a file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CommentSyntax {
    /// Each begins a comment that goes to the end of the line.
    line: &'static [&'static str],
    /// `line` counts only at the beginning of a line or behind a blank, as in a shell.
    needs_blank: bool,
    block: Option<(&'static str, &'static str)>,
}

const SLASHES: CommentSyntax = CommentSyntax { line: &["//"], needs_blank: false, block: Some(("/*", "*/")) };
const SHELL: CommentSyntax = CommentSyntax { line: &["#"], needs_blank: true, block: None };
const MARKUP: CommentSyntax = CommentSyntax { line: &[], needs_blank: false, block: Some(("<!--", "-->")) };

impl CommentSyntax {
    /// Nothing where the name of a file tells no custom: then its whole text counts as code.
    pub fn of(path: &RepoPath, language: Option<Language>) -> Self {
        let name = path.file_name().to_ascii_lowercase();
        match language.or_else(|| Language::of(path)) {
            Some(Language::Python | Language::Ruby) => return Self { needs_blank: false, ..SHELL },
            Some(Language::Bash) => return SHELL,
            Some(Language::Php) => return Self { line: &["//", "#"], ..SLASHES },
            Some(Language::Sql) => return Self { line: &["--"], ..SLASHES },
            Some(_) => return SLASHES,
            None => {}
        }
        let is_build_file = ["dockerfile", "containerfile", "makefile", "procfile"].iter().any(|word| name.contains(word));
        match path.extension().map(str::to_ascii_lowercase).as_deref() {
            _ if is_build_file || name.starts_with(".env") || matches!(name.as_str(), ".npmrc" | "gemfile" | "rakefile") => SHELL,
            Some(
                "yml" | "yaml" | "toml" | "properties" | "env" | "conf" | "cfg" | "ini" | "r" | "pl" | "pm" | "mk" | "cmake"
                | "ex" | "exs" | "nix" | "zsh" | "fish" | "dockerfile" | "ps1",
            ) => SHELL,
            Some("tf" | "tfvars" | "hcl" | "bicep") => Self { line: &["#", "//"], ..SLASHES },
            Some(
                "swift" | "scala" | "dart" | "groovy" | "gradle" | "zig" | "sol" | "proto" | "m" | "mm" | "jsonc" | "json5"
                | "scss" | "less",
            ) => SLASHES,
            Some("lua" | "hs" | "elm") => Self { line: &["--"], needs_blank: false, block: None },
            Some("html" | "htm" | "xml" | "svg" | "md" | "markdown" | "csproj" | "props" | "vue" | "svelte") => MARKUP,
            _ => Self::default(),
        }
    }

    /// The comments of one line, in order.
    pub fn ranges(&self, line: &str) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        let mut at = 0;
        while let Some(begin) = self.next(line, at) {
            let end = match self.block.filter(|(open, _)| line[begin..].starts_with(open)) {
                Some((open, close)) => {
                    let inner = begin + open.len();
                    line[inner..].find(close).map_or(line.len(), |length| inner + length + close.len())
                }
                None => line.len(),
            };
            found.push(begin..end);
            at = end;
        }
        found
    }

    /// Where the next comment begins.
    fn next(&self, line: &str, from: usize) -> Option<usize> {
        let bytes = line.as_bytes();
        let mut at = from;
        while at < bytes.len() {
            if matches!(bytes[at], b'"' | b'\'' | b'`')
                && let Some(end) = quoted_until(bytes, at)
            {
                at = end;
                continue;
            }
            let rest = bytes.get(at..).unwrap_or_default();
            let is_free = !self.needs_blank || at == 0 || bytes[at - 1].is_ascii_whitespace();
            let opens_line = is_free && self.line.iter().any(|mark| rest.starts_with(mark.as_bytes()));
            if opens_line || self.block.is_some_and(|(open, _)| rest.starts_with(open.as_bytes())) {
                return Some(at);
            }
            at += 1;
        }
        None
    }

    /// A text without its comments, line by line as before.
    pub fn without_comments(&self, text: &str) -> String {
        let mut kept = String::with_capacity(text.len());
        let mut inside = false;
        for line in text.split_inclusive('\n') {
            let (line, end) = line.strip_suffix('\n').map_or((line, ""), |line| (line, "\n"));
            let begin = match (inside, self.block) {
                (true, Some((_, close))) => line.find(close).map(|at| at + close.len()),
                _ => Some(0),
            };
            if let Some(begin) = begin {
                let code = &line[begin..];
                let ranges = self.ranges(code);
                inside = ranges.last().is_some_and(|last| {
                    let block = self.block.filter(|(open, _)| code[last.start..].starts_with(open));
                    block.is_some_and(|(open, close)| last.end == code.len() && !code[last.start + open.len()..].contains(close))
                });
                kept.push_str(&outside(code, &ranges));
            }
            kept.push_str(end);
        }
        kept
    }
}

/// What is left of a line without these parts.
pub fn outside(line: &str, ranges: &[Range<usize>]) -> String {
    let mut kept = String::with_capacity(line.len());
    let mut at = 0;
    for range in ranges {
        kept.push_str(&line[at..range.start]);
        kept.push(' ');
        at = range.end;
    }
    kept.push_str(&line[at..]);
    kept
}

/// Behind the quote that ends what the one at `start` begins; nothing where it stays open, as an apostrophe does.
fn quoted_until(line: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    while at < line.len() {
        match line[at] {
            b'\\' => at += 1,
            byte if byte == line[start] => return Some(at + 1),
            _ => {}
        }
        at += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(path: &str, line: &str) -> String {
        CommentSyntax::of(&path.into(), None).without_comments(line).trim_end().to_owned()
    }

    #[test]
    fn a_comment_is_known_by_the_custom_of_its_file() {
        for (path, line, kept) in [
            ("a.py", "key = \"a # b\"  # test=1", "key = \"a # b\""),
            ("a.py", "x = 1# y", "x = 1"),
            ("Dockerfile", "RUN curl x | bash # sha256sum", "RUN curl x | bash"),
            ("Dockerfile", "RUN echo a#b don't # c", "RUN echo a#b don't"),
            ("a.yaml", "# namespace: kube-system", ""),
            ("a.ts", "get(\"http://x\") // y", "get(\"http://x\")"),
            ("a.ts", "get(/* a */ b)", "get(  b)"),
            ("m.tf", "a = 1 # b", "a = 1"),
            ("a.sql", "select 1 -- where", "select 1"),
            ("a.txt", "a # b // c", "a # b // c"),
        ] {
            assert_eq!(code(path, line), kept, "{path}: {line}");
        }
    }

    #[test]
    fn a_block_of_comments_may_have_many_lines() {
        assert_eq!(code("a.ts", "a();\n/* b\n c\n*/ d();\n"), "a();\n \n\n d();");
    }
}
