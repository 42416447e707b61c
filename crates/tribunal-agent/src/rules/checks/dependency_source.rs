//! Dependencies that bypass the registry and follow a moving target: what is built tomorrow is whatever the branch, or the web
//! server, says tomorrow, and no registry has seen it.
//!
//! A commit is a pin, and a tag or a version in the address is close enough to one that a reviewer would let it pass. A Gemfile is
//! left alone: Bundler writes the commit into the lock, and nobody builds from the Gemfile alone.

use super::Scope;
use super::manifest::sections;
use super::package_json;
use super::pattern::Pattern;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use tribunal_core::diff::change::{ChangedFile, DiffLine};
use tribunal_core::findings::report::Claim;

static NPM: Pattern =
    Pattern::new(r"^\s*((?i:git\+\w+:|git:|git@|github:|gitlab:|bitbucket:|https?:).+|[\w.-]+/[\w.-]+(?:#.*)?)\s*$");
static NPM_SECTION: Pattern =
    Pattern::new(r"^\.(?:dependencies|optionalDependencies|devDependencies|resolutions|overrides|pnpm\.overrides)$");
static PIP: Pattern = Pattern::new(
    r"^\s*(?:(?:-e|--editable)\s+)?(?:[\w.\[\],-]+\s*@\s*)?((?:git\+|hg\+|svn\+)\S+|https?://\S+(?:\.zip|\.tar\.gz|\.tgz|\.whl)\S*)",
);
static PYPROJECT: Pattern = Pattern::new(r#"["'][\w.\[\],-]+\s*@\s*((?:git\+|hg\+)[^"'\s]+|https?://[^"'\s]+)[^"']*["']"#);
static TOML_GIT: Pattern = Pattern::new(r#"(?:^|[\s{,])(git\s*=\s*["'][^"']+["'].*)$"#);
static TOML_SECTION: Pattern = Pattern::new(r"(?:^|\.)(?:[\w-]*dependencies|sources|patch)(?:\.|$)");
static TOML_PIN: Pattern = Pattern::new(r#"\b(?:rev|tag)\s*=\s*["']"#);
/// A commit, a checksum, a tag or a version in the address.
static PIN: Pattern =
    Pattern::new(r"[0-9a-f]{40}|[#@/][0-9a-f]{7,39}(?:$|[#&/.])|sha(?:256|512)[=-]|semver:|v?\d+\.\d+|refs/tags/");

/// Owner and name of the repository, or the end of an address.
static REPOSITORY: Pattern = Pattern::new(r#"([\w.-]+/[\w.-]+?)(?:\.git)?/?(?:["'#@?\s,}]|$)"#);
/// A commit, as lock files write it.
static COMMIT: Pattern = Pattern::new(r"\b[0-9a-f]{7,64}\b");
/// Lines between the name of a source and its commit in a lock file.
const COMMIT_REACH: usize = 4;

/// Every name of a lock file.
const LOCKS: [&str; 9] = [
    "package-lock.json",
    "npm-shrinkwrap.json",
    "yarn.lock",
    "pnpm-lock.yaml",
    "bun.lock",
    "Cargo.lock",
    "poetry.lock",
    "uv.lock",
    "pdm.lock",
];

/// The lock files in which the tool of a manifest writes the commit that it took.
fn locks_of(manifest: &str) -> &'static [&'static str] {
    match manifest {
        "package.json" => &["package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock"],
        "Cargo.toml" => &["Cargo.lock"],
        "pyproject.toml" => &["poetry.lock", "uv.lock", "pdm.lock"],
        _ => &[],
    }
}

pub fn check(scope: &Scope<'_>) -> Vec<Claim> {
    // A source is pinned if the lock file names its commit, and the lock file is part of the change.
    let files = scope.change.all.iter().filter(|file| LOCKS.contains(&file.path.file_name()));
    let locks: BTreeMap<&str, Lock<'_>> = files.map(|file| (file.path.as_str(), Lock::new(file))).collect();
    let of_file = |file: &'_ ChangedFile| {
        let mut lines = BTreeSet::new();
        let free = scope.in_time(file, unpinned(scope, file).into_iter()).filter(|(_, source)| !is_locked(&locks, file, source));
        free.filter(|(line, _)| lines.insert(line.new_line)).map(|(line, _)| scope.claim(file, line)).collect::<Vec<_>>()
    };
    scope.files().flat_map(of_file).collect()
}

/// Does a lock of the same folder, or of one above it, take the source at a commit in this change?
fn is_locked(locks: &BTreeMap<&str, Lock<'_>>, manifest: &ChangedFile, source: &str) -> bool {
    let names = locks_of(manifest.path.file_name());
    let Some(repository) = REPOSITORY.group(source).filter(|_| !names.is_empty()) else { return false };
    let folders = manifest.path.as_str().rmatch_indices('/').map(|(at, _)| &manifest.path.as_str()[..=at]);
    let beside = folders.chain([""]).flat_map(|folder| names.iter().map(move |name| format!("{folder}{name}")));
    beside.filter_map(|path| locks.get(path.as_str())).any(|lock| lock.pins(repository))
}

/// The repositories that a lock file takes at a commit: read once, because a manifest may name as many as the lock has lines.
struct Lock<'a> {
    /// Owner and project of what stands next to a commit.
    pinned: BTreeSet<(&'a str, &'a str)>,
}

impl<'a> Lock<'a> {
    fn new(file: &'a ChangedFile) -> Self {
        let lines: Vec<&str> = file.added_lines().map(|line| line.text.as_str()).collect();
        let commits: Vec<usize> = (0..lines.len()).filter(|index| COMMIT.is_match(lines[*index])).collect();
        let is_near = |index: usize| {
            let next = commits.partition_point(|commit| commit + COMMIT_REACH < index);
            commits.get(next).is_some_and(|commit| *commit <= index + COMMIT_REACH)
        };
        let near = (0..lines.len()).filter(|index| is_near(*index)).map(|index| lines[index]);
        Self { pinned: near.flat_map(pairs).collect() }
    }

    fn pins(&self, repository: &str) -> bool {
        repository.split_once('/').is_some_and(|pair| self.pinned.contains(&pair))
    }
}

/// The words on both sides of each slash.
fn pairs(line: &str) -> impl Iterator<Item = (&str, &str)> {
    let is_name = |c: char| c.is_alphanumeric() || "_.-".contains(c);
    line.match_indices('/').map(move |(at, _)| {
        let before = &line[line[..at].trim_end_matches(is_name).len()..at];
        let after = &line[at + 1..];
        let after = &after[..after.len() - after.trim_start_matches(is_name).len()];
        (before, after.strip_suffix(".git").unwrap_or(after))
    })
}

/// Each source that is not pinned, with the line to point at.
fn unpinned<'a>(scope: &Scope<'_>, file: &'a ChangedFile) -> Vec<(&'a DiffLine, Cow<'a, str>)> {
    let name = file.path.file_name();
    let by_line = |line: &'a DiffLine| (line, Cow::Borrowed(line.text.as_str()));
    let with = |pattern: &'static Pattern| {
        let is_free = |line: &&DiffLine| pattern.group(&line.text).is_some_and(|source| !PIN.is_match(source));
        scope.added_lines(file).filter(is_free).map(by_line).collect::<Vec<_>>()
    };
    match name {
        "package.json" => {
            let new = scope.in_time(file, package_json::written(file).new.into_iter());
            let sources = new.filter(|(_, entry)| entry.is_text && NPM_SECTION.is_match(&entry.section) && npm(&entry.value));
            sources.map(|(line, entry)| (line, Cow::Owned(entry.value))).collect()
        }
        "Cargo.toml" => toml(file).into_iter().map(by_line).collect(),
        "pyproject.toml" => toml(file).into_iter().map(by_line).chain(with(&PYPROJECT)).collect(),
        _ if name.starts_with("requirements") && name.ends_with(".txt") => with(&PIP),
        _ => Vec::new(),
    }
}

fn npm(value: &str) -> bool {
    NPM.group(value).is_some_and(|source| !PIN.is_match(source) && !source.starts_with("https://registry."))
}

/// `x = { git = "…" }` in one line, or `git = "…"` in a section of its own; the pin may stand on a neighbour.
fn toml(file: &ChangedFile) -> Vec<&DiffLine> {
    let mut found = Vec::new();
    let pins: BTreeMap<u32, bool> =
        file.lines().filter_map(|line| Some((line.new_line?, TOML_PIN.is_match(&line.text)))).collect();
    for (line, section) in sections(file) {
        let Some(source) = TOML_GIT.group(&line.text) else { continue };
        if !TOML_SECTION.is_match(&section) || TOML_PIN.is_match(&line.text) {
            continue;
        }
        let own_section = line.text.trim_start().starts_with("git");
        let number = line.new_line.unwrap_or(0);
        let near = number.saturating_sub(PIN_REACH)..=number.saturating_add(PIN_REACH);
        let pinned_beside = own_section && pins.range(near).any(|(_, is_pin)| *is_pin);
        if !pinned_beside && !PIN.is_match(source) {
            found.push(line);
        }
    }
    found
}

/// How far from its source a pin may stand, in the same section.
const PIN_REACH: u32 = 3;

#[cfg(test)]
mod tests {
    use crate::rules::compile::RuleSet;
    use crate::rules::examples::added;
    use crate::rules::load::built_in;
    use crate::rules::scan::scan;

    #[test]
    fn a_source_is_seen_however_it_is_written() {
        let rules = RuleSet::new(built_in().unwrap()).unwrap();
        let lines = |text: &str| {
            let claims = scan(&rules, &added("package.json", text), |_| true).unwrap().claims;
            let own = claims.into_iter().filter(|claim| claim.rule.as_deref() == Some("dependency-from-unpinned-source"));
            own.map(|claim| claim.line_start).collect::<Vec<_>>()
        };
        assert_eq!(lines(r#"{"name":"a","dependencies":{"b":"^1.0.0","x":"git+http://evil.com/x"}}"#), [Some(1)]);
        assert_eq!(lines("{\n  \"depend\\u0065ncies\": {\n    \"x\": \"git+http://evil.com/x\"\n  }\n}\n"), [Some(3)]);
        assert_eq!(lines("{\n  \"dependencies\": {\n    \"x\":\n      \"g\\u0069thub:a/b\"\n  }\n}\n"), [Some(4)]);
        assert_eq!(lines(r#"{"name":"a","repository":{"url":"git+http://evil.com/x"}}"#), []);
    }
}
