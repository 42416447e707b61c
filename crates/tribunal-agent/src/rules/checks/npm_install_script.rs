//! An install script in a package that others install: it runs on every machine that adds the package, before any of its code
//! was looked at. It is how most poisoned npm packages act, so a new one deserves a second pair of eyes.
//!
//! A private package runs it only for its own developers, and tools that set up git hooks or patches do nothing elsewhere.

use super::Scope;
use super::package_json::{self, Entry};
use super::pattern::Pattern;
use std::collections::BTreeSet;
use tribunal_core::diff::change::ChangedFile;
use tribunal_core::findings::report::Claim;

/// One command, all of it: words behind it must not start another one.
static HOUSEKEEPING: Pattern = Pattern::new(concat!(
    r"^\s*(?:(?:npx|pnpx|bunx|pnpm exec|yarn exec)(?: --?(?:no-install|yes|y))? +|(?:\./)?node_modules/\.bin/)?",
    r"(?:husky|patch-package|lefthook|simple-git-hooks|node-gyp(?:-build)?|prebuild(?:-install)?|only-allow|lerna bootstrap|is-ci|true|exit 0)",
    r"(?: +[\w@./=:-]+)*\s*$",
));
static BETWEEN_COMMANDS: Pattern = Pattern::new(r"&&|\|\||;");

pub fn check(scope: &Scope<'_>) -> Vec<Claim> {
    let mut claims = Vec::new();
    for file in scope.files().filter(|file| file.path.file_name() == "package.json" && is_published(file)) {
        let written = package_json::written(file);
        let stood: BTreeSet<&str> =
            written.before.iter().filter(|entry| is_hook(entry)).map(|entry| entry.key.as_str()).collect();
        let mut lines = BTreeSet::new();
        let new = scope
            .in_time(file, written.new.iter())
            .filter(|(line, entry)| is_hook(entry) && !stood.contains(entry.key.as_str()) && lines.insert(line.new_line));
        claims.extend(new.map(|(line, _)| scope.claim(file, line)));
    }
    claims
}

/// Without the whole file nobody knows whether it is private.
fn is_published(file: &ChangedFile) -> bool {
    let Some(entries) = package_json::whole(file) else { return false };
    // Of a key that is there twice, the last one counts.
    let private = entries.iter().rfind(|entry| entry.section.is_empty() && entry.key == "private");
    private.is_none_or(|entry| entry.is_text || entry.value != "true")
}

/// Whether it runs at an install, and is more than housekeeping.
fn is_hook(entry: &Entry) -> bool {
    let is_run = matches!(entry.key.as_str(), "preinstall" | "install" | "postinstall") && &*entry.section == ".scripts";
    is_run
        && entry.is_text
        && !entry.value.is_empty()
        && !BETWEEN_COMMANDS.split(&entry.value).all(|part| HOUSEKEEPING.is_match(part))
}

#[cfg(test)]
mod tests {
    use crate::rules::compile::RuleSet;
    use crate::rules::examples::added;
    use crate::rules::load::built_in;
    use crate::rules::scan::scan;
    use tribunal_core::diff::parse::parse_diff;

    fn spoken_of(change: &tribunal_core::diff::change::Change) -> Vec<Option<u32>> {
        let rules = RuleSet::new(built_in().unwrap()).unwrap();
        let claims = scan(&rules, change, |_| true).unwrap().claims;
        let own = claims.into_iter().filter(|claim| claim.rule.as_deref() == Some("npm-install-script"));
        own.map(|claim| claim.line_start).collect()
    }

    #[test]
    fn a_hook_is_seen_however_it_is_written() {
        for text in [
            r#"{"name":"a","scripts":{"test":"b","postinstall":"node evil.js"}}"#,
            "{\"scripts\": {\"postinst\\u0061ll\":\n\"node evil.js\"}}",
            r#"{"scripts": {"install": "node evil.js && : husky"}}"#,
            r#"{"scripts": {"install": "husky; node evil.js"}}"#,
            r#"{"scripts": {"install": "husky $(node evil.js)"}}"#,
            r#"{"config": {"private": true}, "scripts": {"install": "node evil.js"}}"#,
            r#"{"private": true, "private": false, "scripts": {"install": "node evil.js"}}"#,
        ] {
            assert_eq!(spoken_of(&added("package.json", text)).len(), 1, "{text}");
        }
        for text in [
            r#"{"config": {"postinstall": "node a.js"}}"#,
            r#"{"priv\u0061te": true, "scripts": {"postinstall": "node a.js"}}"#,
            r#"{"scripts": {"install": "prebuild-install || node-gyp rebuild", "postinstall": "is-ci || npx husky install"}}"#,
        ] {
            assert_eq!(spoken_of(&added("package.json", text)), [], "{text}");
        }
    }

    #[test]
    fn a_line_that_stays_may_become_a_hook() {
        let diff = "diff --git a/package.json b/package.json\n--- a/package.json\n+++ b/package.json\n@@ -1,5 +1,5 @@\n {\n-  \"config\": {\n+  \"scripts\": {\n     \"postinstall\": \"node a.js\"\n   }\n }\n";
        let mut change = parse_diff(diff.as_bytes()).unwrap();
        change.files[0].new_text = Some("{\n  \"scripts\": {\n    \"postinstall\": \"node a.js\"\n  }\n}\n".into());
        assert_eq!(spoken_of(&change), [Some(2)]);
    }
}
