//! Dependencies that bypass the registry and follow a moving target: what is built tomorrow is whatever the branch, or the web
//! server, says tomorrow, and no registry has seen it.
//!
//! A commit is a pin, and a tag or a version in the address is close enough to one that a reviewer would let it pass. A Gemfile is
//! left alone: Bundler writes the commit into the lock, and nobody builds from the Gemfile alone.

use super::Scope;
use super::manifest::{Format, sections};
use super::pattern::Pattern;
use std::collections::BTreeMap;
use tribunal_core::diff::change::{ChangedFile, DiffLine};
use tribunal_core::findings::report::Claim;

static NPM: Pattern = Pattern::new(
    r#"^\s*"[^"]+"\s*:\s*"((?:git\+\w+:|git:|git@|github:|gitlab:|bitbucket:|https?:)[^"]+|[\w.-]+/[\w.-]+(?:#[^"]*)?)"\s*,?\s*$"#,
);
static NPM_SECTION: Pattern =
    Pattern::new(r"^(?:dependencies|optionalDependencies|devDependencies|resolutions|overrides|pnpm\.overrides)$");
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

/// Lock files that hold a git source at one commit.
const LOCKS: [&str; 9] = [
    "Cargo.lock",
    "package-lock.json",
    "npm-shrinkwrap.json",
    "yarn.lock",
    "pnpm-lock.yaml",
    "bun.lock",
    "poetry.lock",
    "uv.lock",
    "pdm.lock",
];

pub fn check(scope: &Scope<'_>) -> Vec<Claim> {
    // The commit that was taken stands in the lock that comes along.
    scope
        .files()
        .filter(|file| !is_locked(scope, file))
        .flat_map(|file| unpinned(file).into_iter().map(|line| scope.claim(file, line)).collect::<Vec<_>>())
        .collect()
}

/// A lock of the same folder, or of one above it, changes too.
fn is_locked(scope: &Scope<'_>, file: &ChangedFile) -> bool {
    scope.change.paths.iter().any(|path| {
        let folder = path.as_str().strip_suffix(path.file_name()).unwrap_or_default();
        LOCKS.contains(&path.file_name()) && file.path.as_str().starts_with(folder)
    })
}

fn unpinned(file: &ChangedFile) -> Vec<&DiffLine> {
    let name = file.path.file_name();
    match name {
        "package.json" => sections(file, Format::Json)
            .into_iter()
            .filter(|(line, section)| NPM_SECTION.is_match(section) && npm(&line.text))
            .map(|(line, _)| line)
            .collect(),
        "Cargo.toml" => toml(file),
        "pyproject.toml" => {
            let mut found = toml(file);
            found.extend(
                file.added_lines().filter(|line| PYPROJECT.group(&line.text).is_some_and(|source| !PIN.is_match(source))),
            );
            found
        }
        _ if name.starts_with("requirements") && name.ends_with(".txt") => {
            file.added_lines().filter(|line| PIP.group(&line.text).is_some_and(|source| !PIN.is_match(source))).collect()
        }
        _ => Vec::new(),
    }
}

fn npm(line: &str) -> bool {
    NPM.group(line).is_some_and(|source| !PIN.is_match(source) && !source.starts_with("https://registry."))
}

/// `x = { git = "…" }` in one line, or `git = "…"` in a section of its own; the pin may stand on a neighbour.
fn toml(file: &ChangedFile) -> Vec<&DiffLine> {
    let mut found = Vec::new();
    let pins: BTreeMap<u32, bool> =
        file.lines().filter_map(|line| Some((line.new_line?, TOML_PIN.is_match(&line.text)))).collect();
    for (line, section) in sections(file, Format::Toml) {
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
