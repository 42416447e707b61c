//! Lock files, by their exact names. A new one is an everyday thing, and its form can be checked: what is called a lock file and
//! does not read as one is read like any other file.

use crate::ids::RepoPath;
use serde::de::IgnoredAny;

/// More is not parsed; the file then counts as a lock file only if it was one in the base.
const MAX_CHECKED_BYTES: usize = 8 * 1024 * 1024;

enum Form {
    Json,
    Toml,
    /// `module version h1:hash`
    GoSum,
    /// Known by its name alone.
    Unchecked,
}

fn form(path: &RepoPath) -> Option<Form> {
    Some(match path.file_name() {
        "package-lock.json"
        | "npm-shrinkwrap.json"
        | "composer.lock"
        | "Pipfile.lock"
        | "deno.lock"
        | "flake.lock"
        | "packages.lock.json"
        | "Package.resolved"
        | "MODULE.bazel.lock" => Form::Json,
        "Cargo.lock" | "poetry.lock" | "uv.lock" | "pdm.lock" => Form::Toml,
        "go.sum" | "go.work.sum" => Form::GoSum,
        "yarn.lock"
        | "pnpm-lock.yaml"
        | "bun.lock"
        | "bun.lockb"
        | "Gemfile.lock"
        | "gradle.lockfile"
        | "mix.lock"
        | "pubspec.lock"
        | "Podfile.lock"
        | ".terraform.lock.hcl" => Form::Unchecked,
        _ => return None,
    })
}

pub fn is_lock_file(path: &RepoPath) -> bool {
    form(path).is_some()
}

/// Can the content be told from other content?
pub fn has_known_form(path: &RepoPath) -> bool {
    form(path).is_some_and(|form| !matches!(form, Form::Unchecked))
}

/// Does a text read as the lock file that its name says it is?
pub fn is_lock_form(path: &RepoPath, text: &str) -> bool {
    if text.len() > MAX_CHECKED_BYTES {
        return false;
    }
    match form(path) {
        Some(Form::Json) => text.trim_start().starts_with('{') && serde_json::from_str::<IgnoredAny>(text).is_ok(),
        Some(Form::Toml) => toml::from_str::<toml::Table>(text).is_ok_and(|table| is_toml_lock(&table)),
        Some(Form::GoSum) => text.lines().all(is_go_sum_line),
        Some(Form::Unchecked) | None => false,
    }
}

fn is_toml_lock(table: &toml::Table) -> bool {
    table.get("package").is_none_or(toml::Value::is_array)
}

fn is_go_sum_line(line: &str) -> bool {
    let mut words = line.split(' ');
    match (words.next(), words.next(), words.next(), words.next()) {
        (Some(""), None, ..) => true,
        (Some(_), Some(version), Some(hash), None) => version.starts_with('v') && hash.starts_with("h1:"),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_file_is_known_by_its_form() {
        for (path, good, bad) in [
            ("package-lock.json", "{ \"packages\": {} }\n", "require('child_process').exec('id')\n"),
            ("Cargo.lock", "version = 4\n[[package]]\nname = \"a\"\n", "import os\n"),
            ("go.sum", "a.b/c v1.0.0 h1:abc=\na.b/c v1.0.0/go.mod h1:abc=\n", "package main\n"),
        ] {
            assert!(is_lock_form(&path.into(), good), "{path}");
            assert!(!is_lock_form(&path.into(), bad), "{path}");
        }
        assert!(is_lock_file(&"yarn.lock".into()) && !has_known_form(&"yarn.lock".into()));
        assert!(!is_lock_file(&"my-yarn.lock".into()));
    }
}
