//! Does a patch change what others build on (CF-19)? Told from the lines that declare something public.

use super::lines::{self, Changed};
use super::paths;
use crate::diff::change::{Change, ChangedFile};
use crate::diff::language::Language;
use crate::ids::RepoPath;
use regex::Regex;
use std::sync::LazyLock;

pub fn find(change: &Change) -> Option<(RepoPath, String)> {
    change.files.iter().find_map(|file| {
        let what = [Some(&file.path), file.old_path.as_ref()].into_iter().flatten().find_map(paths::contract_file);
        let what = what.map(str::to_owned).or_else(|| signature(file, &lines::of(change, file)))?;
        Some((file.path.clone(), what))
    })
}

/// A public declaration that is gone, or has come back with other parameters. One that is only added takes nothing from anybody.
fn signature(file: &ChangedFile, changed: &Changed) -> Option<String> {
    if file.is_test() || file.is_sample() {
        return None;
    }
    let language = file.language()?;
    let now: Vec<(String, String)> = changed.added.iter().filter_map(|line| declaration(language, line)).collect();
    changed.removed.iter().filter_map(|line| declaration(language, line)).find_map(|(name, before)| {
        let same = now.iter().filter(|(other, _)| *other == name).map(|(_, shape)| shape).collect::<Vec<_>>();
        if same.contains(&&before) {
            None
        } else if same.is_empty() {
            Some(format!("`{name}` is no longer there"))
        } else {
            Some(format!("`{name}` is declared in another way"))
        }
    })
}

static RUST: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#"^pub (?:default |const |async |unsafe |extern "C" )*(?:fn|struct|enum|trait|type|const|static|mod|union|macro) (\w+)|^pub (\w+):"#).ok()
});
static SCRIPT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"^export (?:default )?(?:abstract |async |declare )*(?:function\*?|class|const|let|interface|type|enum) (\w+)")
        .ok()
});
static PYTHON: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"^(?:async )?(?:def|class) ([A-Za-z]\w*)").ok());
static GO: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"^(?:func (?:\([^)]*\) )?|type )([A-Z]\w*)").ok());
static MANAGED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"^public [\w<>\[\], .?]*?\b(\w+)\s*\(|^public (?:\w+ )*(?:class|interface|enum|record|struct) (\w+)|^public function (\w+)").ok()
});

/// Name and shape of what a line declares to the outside.
fn declaration(language: Language, line: &str) -> Option<(String, String)> {
    let pattern = match language {
        Language::Rust => &RUST,
        Language::JavaScript | Language::TypeScript | Language::Tsx => &SCRIPT,
        Language::Python => &PYTHON,
        Language::Go => &GO,
        Language::Java | Language::CSharp | Language::Php => &MANAGED,
        Language::Bash | Language::C | Language::Cpp | Language::Kotlin | Language::Ruby | Language::Sql => return None,
    };
    let found = pattern.as_ref()?.captures(line)?;
    let name = found.iter().skip(1).flatten().next()?.as_str().to_owned();
    Some((name, shape(language, line)))
}

/// What matters to a caller: the line without its body, in Python also without the result's type, in scripts only up to the value.
fn shape(language: Language, line: &str) -> String {
    let end = match language {
        Language::Python => closing(line).or_else(|| line.rfind(':')),
        Language::JavaScript | Language::TypeScript | Language::Tsx if line.contains(" const ") || line.contains(" let ") => {
            line.find(" = ")
        }
        Language::Go if line.starts_with("type ") => None,
        Language::Rust if line.contains(" const ") || line.contains(" static ") => line.find(" = "),
        _ => line.find('{').or_else(|| line.rfind(';')),
    };
    line[..end.unwrap_or(line.len())].trim_end_matches([' ', '{', ':', ',']).to_owned()
}

/// Where the first pair of parentheses ends.
fn closing(line: &str) -> Option<usize> {
    let mut depth = 0usize;
    for (at, c) in line.char_indices() {
        match c {
            '(' => depth += 1,
            ')' if depth == 1 => return Some(at + 1),
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    None
}
