//! Proves a rule with its own examples: every bad one is found, every good one stays silent, every fix does what it says.

use super::compile::RuleSet;
use super::file::{DiffExample, Example, FileExample, RuleFile};
use super::load::LoadedRule;
use super::scan::scan;
use std::sync::Arc;
use tribunal_core::diff::change::{Change, ChangedFile, DiffLine, FileContent, FileStatus, Hunk, Origin};
use tribunal_core::diff::language::Language;
use tribunal_core::diff::parse::parse_diff;
use tribunal_core::findings::report::Fix;

/// What is wrong with a rule, one sentence each; empty when it holds.
pub fn failures(loaded: &LoadedRule) -> Vec<String> {
    let set = match RuleSet::new(vec![loaded.clone()]) {
        Ok(set) => set,
        Err(error) => return vec![error.to_string()],
    };
    if let Err(error) = set.compile_all() {
        return vec![error.to_string()];
    }
    let mut wrong = Vec::new();
    for (kind, examples) in [("bad", &loaded.file.examples.bad), ("good", &loaded.file.examples.good)] {
        for (number, example) in examples.iter().enumerate() {
            for (label, change) in changes(&loaded.file, example) {
                let place = format!("{}: {kind} example {} {label}", loaded.file.id, number + 1);
                match change {
                    Err(problem) => wrong.push(format!("{place}: {problem}")),
                    Ok(change) => wrong.extend(judge(&set, kind == "bad", example, &change).map(|why| format!("{place}: {why}"))),
                }
            }
        }
    }
    wrong
}

fn judge(set: &RuleSet, must_be_found: bool, example: &Example, change: &Change) -> Option<String> {
    let found = match scan(set, change, |_| true) {
        Ok(found) => found,
        Err(error) => return Some(error.to_string()),
    };
    if found.claims.is_empty() == must_be_found {
        return Some(if must_be_found { "was not found" } else { "was found" }.to_owned());
    }
    let Example::File(FileExample { code, fixed: Some(wanted), .. }) = example else { return None };
    let fixes: Vec<&Fix> = found.claims.iter().filter_map(|claim| claim.fix.as_ref()).collect();
    let got = apply(code, &fixes);
    (got.trim_end() != wanted.trim_end()).then(|| format!("the fix gave\n{got}"))
}

/// Replaces whole lines, last first so that numbers stay true.
fn apply(code: &str, fixes: &[&Fix]) -> String {
    let mut lines: Vec<String> = code.lines().map(str::to_owned).collect();
    for fix in fixes.iter().rev() {
        lines.splice(fix.line_start as usize - 1..fix.line_end as usize, fix.replacement.lines().map(str::to_owned));
    }
    lines.join("\n")
}

/// An example under each language of its rule.
fn changes(rule: &RuleFile, example: &Example) -> Vec<(String, Result<Change, String>)> {
    match example {
        Example::Code(code) if rule.languages.is_empty() => vec![(String::new(), Ok(added("example.txt", code)))],
        Example::Code(code) => rule
            .languages
            .iter()
            .map(|language| (format!("as {}", language.name()), Ok(added(&example_path(rule, *language), code))))
            .collect(),
        Example::File(FileExample { path, code, .. }) => vec![(format!("at {path}"), Ok(added(path, code)))],
        Example::Diff(DiffExample { diff, files }) => {
            let change = parse_diff(diff.as_bytes()).map_err(|error| error.to_string()).map(|mut change| {
                change.repository_has_tests = true;
                for file in &mut change.files {
                    file.new_text = files.get(file.path.as_str()).map(|text| Arc::from(text.as_str()));
                }
                change
            });
            vec![("as a diff".to_owned(), change)]
        }
    }
}

fn example_path(rule: &RuleFile, language: Language) -> String {
    let extension = match language {
        Language::Bash => "sh",
        Language::C => "c",
        Language::Cpp => "cpp",
        Language::CSharp => "cs",
        Language::Go => "go",
        Language::Java => "java",
        Language::JavaScript => "js",
        Language::Kotlin => "kt",
        Language::Php => "php",
        Language::Python => "py",
        Language::Ruby => "rb",
        Language::Rust => "rs",
        Language::Sql => "sql",
        Language::Tsx => "tsx",
        Language::TypeScript => "ts",
    };
    match rule.tests {
        super::file::TestCode::Only => format!("tests/test_example.{extension}"),
        super::file::TestCode::Skip | super::file::TestCode::Include => format!("src/example.{extension}"),
    }
}

/// A change that adds one file.
pub fn added(path: &str, code: &str) -> Change {
    let lines = code
        .lines()
        .zip(1..)
        .map(|(text, number)| DiffLine { origin: Origin::Added, text: text.to_owned(), old_line: None, new_line: Some(number) })
        .collect();
    Change {
        files: vec![ChangedFile {
            path: path.into(),
            old_path: None,
            status: FileStatus::Added,
            content: FileContent::Text,
            new_mode: Some("100644".to_owned()),
            old_mode: None,
            hunks: vec![Hunk { old_start: 0, new_start: 1, heading: String::new(), lines }],
            new_text: Some(Arc::from(code)),
        }],
        repository_has_tests: true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every built-in rule proves itself, and is filed under its own name.
    #[test]
    fn built_in_rules_hold_their_examples() {
        let mut wrong = Vec::new();
        let built_in = crate::rules::load::built_in().unwrap();
        for (name, text) in crate::rules::load::built_in_sources() {
            match crate::rules::load::parse(name, text) {
                Err(error) => wrong.push(error.to_string()),
                Ok(loaded) => {
                    if !name.ends_with(&format!("/{}.yml", loaded.file.id)) {
                        wrong.push(format!("{name} holds rule {}", loaded.file.id));
                    }
                    wrong.extend(failures(&loaded));
                    let of_binary = built_in.iter().find(|rule| rule.file.id == loaded.file.id);
                    if of_binary.and_then(|rule| serde_json::to_value(&rule.file).ok()) != serde_json::to_value(&loaded.file).ok()
                    {
                        wrong.push(format!("{name} reads differently from the binary's table"));
                    }
                }
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    /// Issue 16, C13: what a rule of ours finds as a secret, the outgoing filter masks; a new rule that it does not know fails here.
    #[test]
    fn every_secret_that_a_rule_finds_is_masked() {
        use tribunal_core::publish::outgoing::mask::{Suspicion, mask_as};
        let mut seen = 0;
        // A private key is more than the line that gives it away.
        let armour = regex::Regex::new("[A-Za-z0-9+/]{40,}").unwrap();
        for rule in crate::rules::load::built_in().unwrap() {
            let (Some(lines), true) = (&rule.file.lines, rule.file.id.starts_with("secret-")) else { continue };
            let patterns: Vec<regex::Regex> = lines.any.iter().map(|pattern| regex::Regex::new(pattern).unwrap()).collect();
            for example in &rule.file.examples.bad {
                let code = match example {
                    Example::Code(code) | Example::File(FileExample { code, .. }) => code,
                    Example::Diff(_) => continue,
                };
                let named = code.lines().flat_map(|line| patterns.iter().filter_map(|pattern| pattern.captures(line)));
                let named: Vec<String> = named.filter_map(|found| Some(found.name("secret")?.as_str().to_owned())).collect();
                let lines: Vec<String> = match rule.file.id.as_str() {
                    "secret-private-key" => armour.find_iter(code).map(|line| line.as_str().to_owned()).collect(),
                    _ => Vec::new(),
                };
                let masked = mask_as(code, Suspicion::AboutSecrets);
                for secret in named.iter().chain(&lines).filter(|secret| !secret.contains("PRIVATE KEY")) {
                    assert!(!masked.contains(secret.as_str()), "{}: {secret} is shown in\n{masked}", rule.file.id);
                    seen += 1;
                }
            }
        }
        assert!(seen > 20, "{seen}");
    }

    /// Two rules of a category at one place are two findings, so none may say in other words what another says already.
    #[test]
    fn no_built_in_rule_repeats_another() {
        let built_in = crate::rules::load::built_in().unwrap();
        let set = RuleSet::new(built_in.clone()).unwrap();
        let mut twice = std::collections::BTreeSet::new();
        for (rule, example) in built_in.iter().flat_map(|rule| rule.file.examples.bad.iter().map(move |example| (rule, example)))
        {
            for change in changes(&rule.file, example).into_iter().filter_map(|(_, change)| change.ok()) {
                let claims = scan(&set, &change, |_| true).unwrap().claims;
                for (a, b) in claims.iter().flat_map(|a| claims.iter().map(move |b| (a, b))) {
                    let same_place = (&a.file, &a.category) == (&b.file, &b.category) && a.line_start == b.line_start;
                    if same_place && a.rule < b.rule {
                        twice.insert(format!("{:?} and {:?}: {}", a.rule, b.rule, a.evidence));
                    }
                }
            }
        }
        assert!(twice.is_empty(), "{twice:#?}");
    }
}
