//! Proves a rule with its own examples: every bad one is found, every good one stays silent, every fix does what it says.

use super::compile::RuleSet;
use super::file::{DiffExample, Example, FileExample, RuleFile};
use super::load::LoadedRule;
use super::proof;
use super::scan::scan;
use std::sync::Arc;
use tribunal_core::diff::change::{Change, ChangedFile, DiffLine, FileContent, FileStatus, Hunk, Origin};
use tribunal_core::diff::language::Language;
use tribunal_core::diff::parse::parse_diff;
use tribunal_core::feedback::item::ItemId;
use tribunal_core::findings::report::Fix;
use tribunal_core::ids::RepoPath;
use tribunal_core::remedy::edits::apply;
use tribunal_core::remedy::splice::{Moved, after, edit, splices};

/// What is wrong with a rule, one sentence each; empty when it holds.
pub fn failures(loaded: &LoadedRule) -> Vec<String> {
    let set = match RuleSet::new(vec![loaded.clone()]) {
        Ok(set) => set,
        Err(error) => return vec![error.to_string()],
    };
    failures_of(&set, loaded)
}

/// The same with a set of rules that holds this one.
pub fn failures_of(set: &RuleSet, loaded: &LoadedRule) -> Vec<String> {
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
                    Ok(change) => wrong.extend(judge(set, kind == "bad", example, &change).map(|why| format!("{place}: {why}"))),
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
    let [ChangedFile { path, status: FileStatus::Added, new_text: Some(code), .. }] = change.files.as_slice() else {
        return None;
    };
    let of_fixes = found.claims.iter().filter(|claim| claim.fix.is_some());
    if let Some(why) = of_fixes.clone().find_map(|claim| proof::problem(set, path, code, &found.claims, claim)) {
        return Some(why);
    }
    let fixes: Vec<&Fix> = of_fixes.filter_map(|claim| claim.fix.as_ref()).collect();
    let got = match fix_all(path, code, &fixes) {
        Some(got) => got,
        None => return Some("its fixes do not go together".to_owned()),
    };
    match example {
        Example::File(FileExample { fixed: Some(wanted), .. }) if got.trim_end() != wanted.trim_end() => {
            Some(format!("the fix gave\n{got}"))
        }
        Example::File(FileExample { fixed: Some(_), .. }) => {
            // What is fixed stays as it is.
            let again = scan(set, &added(path.as_str(), &got), |_| true).map(|scan| scan.claims).unwrap_or_default();
            again.iter().any(|claim| claim.fix.is_some()).then(|| "the fixed code is fixed again".to_owned())
        }
        _ => None,
    }
}

/// The file after all of these fixes, each made for the file as it is.
fn fix_all(path: &RepoPath, code: &str, fixes: &[&Fix]) -> Option<String> {
    let mut text = code.to_owned();
    let mut made = Vec::new();
    for (number, fix) in fixes.iter().enumerate() {
        let splices = splices(fix, path, code)?;
        match after(&splices, &made) {
            Moved::To(moved) => text = apply(&[edit(&moved, &text)?], |_| Some(text.clone())).ok()?.remove(path)?,
            Moved::Done(_) => {}
            Moved::Taken(_) => return None,
        }
        made.extend(splices.into_iter().map(|splice| (ItemId(number.to_string()), splice)));
    }
    Some(text)
}

/// An example under each language of its rule.
pub(super) fn changes(rule: &RuleFile, example: &Example) -> Vec<(String, Result<Change, String>)> {
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
                change.tested = change.files.iter().map(|file| file.path.clone()).collect();
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
        ..Change::default()
    }
}

#[cfg(test)]
#[path = "../../build/ascii_regex.rs"]
mod ascii_regex;

#[cfg(test)]
mod tests {
    use super::*;

    /// Every built-in rule proves itself as it is in the binary, and is filed under its own name.
    #[test]
    fn built_in_rules_hold_their_examples() {
        let mut wrong = Vec::new();
        let built_in = crate::rules::load::built_in().unwrap();
        for (name, text) in crate::rules::load::built_in_sources() {
            let loaded = match crate::rules::load::parse(name, text) {
                Ok(loaded) => loaded,
                Err(error) => {
                    wrong.push(error.to_string());
                    continue;
                }
            };
            if !name.ends_with(&format!("/{}.yml", loaded.file.id)) {
                wrong.push(format!("{name} holds rule {}", loaded.file.id));
            }
            let mut of_binary = built_in.iter().find(|rule| rule.file.id == loaded.file.id).unwrap().clone();
            of_binary.file.examples = loaded.file.examples.clone();
            wrong.extend(failures(&of_binary));
            let mut of_file = serde_json::to_value(&loaded.file).unwrap();
            ascii_regex::rewrite(&mut of_file);
            if serde_json::to_value(&of_binary.file).unwrap() != of_file {
                wrong.push(format!("{name} reads differently from the binary's table"));
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
        for rule in crate::rules::load::built_in_with_examples().unwrap() {
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
        let built_in = crate::rules::load::built_in_with_examples().unwrap();
        let set = RuleSet::new(crate::rules::load::built_in().unwrap()).unwrap();
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

    #[test]
    fn patterns_keep_what_they_find() {
        let rewritten = |pattern: &str| {
            let mut rule = serde_json::json!({ "any": [{ "regex": pattern }], "pattern": pattern });
            ascii_regex::rewrite(&mut rule);
            assert_eq!(rule["pattern"], pattern);
            rule["any"][0]["regex"].as_str().unwrap().to_owned()
        };
        assert_eq!(rewritten(r"^\w+\[\d]\.$"), r"^[0-9A-Za-z_]+\[[0-9]]\.$");
        assert_eq!(rewritten(r"[\w.]+\b\\w"), r"[0-9A-Za-z_.]+(?-u:\b)\\w");
        for (pattern, text) in
            [(r"a\sb", "a\tb"), (r"(?x) a [\s] b", "a b"), (r"^[^\s;]+$", "x;"), (r"\bin\b", "a in b"), (r"\W", "é")]
        {
            let (old, new) = (regex::Regex::new(pattern).unwrap(), regex::Regex::new(&rewritten(pattern)).unwrap());
            assert_eq!(old.is_match(text), new.is_match(text), "{pattern}");
        }
    }
}
