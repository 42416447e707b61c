//! The page that says which weaknesses and which rules of other linters the built-in rules cover, and what is left out for which
//! reason. A person decides that in `docs/coverage.json`; the rules that it names must exist.

use anyhow::{Context as _, Result, bail};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use tribunal_agent::rules::load::LoadedRule;
use tribunal_core::diff::language::Language;
use xtask::root;

const DATA: &str = "docs/coverage.json";
const HEAD: &str = "# What the rules cover\n\nMade from `docs/coverage.json`. A number is how many built-in rules look for the weakness in that language; the list below names them. A rule \
looks at one function or one block, so a tick is no promise that every case is found. *files* are Dockerfiles, CI, Terraform, Kubernetes, manifests \
and whatever else is read line by line.\n";

pub fn page(rules: &[LoadedRule]) -> Result<String> {
    let text = fs::read_to_string(root().join(DATA)).with_context(|| format!("{DATA} is missing"))?;
    let data: Value = serde_json::from_str(&text).with_context(|| DATA.to_owned())?;
    let languages: BTreeMap<&str, &[Language]> =
        rules.iter().map(|rule| (rule.file.id.as_str(), rule.file.languages.as_slice())).collect();
    let unknown: BTreeSet<&str> = ["weaknesses", "linters"]
        .iter()
        .flat_map(|list| items(&data[list]))
        .flat_map(ids)
        .filter(|id| !languages.contains_key(id))
        .collect();
    if !unknown.is_empty() {
        bail!("{DATA} names rules that do not exist: {unknown:?}");
    }
    let columns = [
        Language::Bash,
        Language::C,
        Language::Cpp,
        Language::CSharp,
        Language::Go,
        Language::Java,
        Language::JavaScript,
        Language::TypeScript,
        Language::Kotlin,
        Language::Php,
        Language::Python,
        Language::Ruby,
        Language::Rust,
        Language::Sql,
    ];
    let mut page = HEAD.to_owned();
    page.push_str("\n## Weaknesses by language\n\n");
    page.push_str(&head("weakness", &columns));
    for weakness in items(&data["weaknesses"]) {
        let name = format!("{} {}", word(weakness, "code"), word(weakness, "name"));
        page.push_str(&row(&name, &ids(weakness).collect(), &columns, &languages));
    }
    page.push_str("\n## OWASP top 10 by language\n\n");
    page.push_str(&head("risk", &columns));
    for risk in items(&data["owasp"]) {
        let codes: BTreeSet<&str> = items(&risk["weaknesses"]).filter_map(Value::as_str).collect();
        let of_risk = items(&data["weaknesses"]).filter(|weakness| codes.contains(word(weakness, "code")));
        page.push_str(&row(word(risk, "name"), &of_risk.flat_map(ids).collect(), &columns, &languages));
    }
    page.push_str("\n## The rules of each weakness\n\n| weakness | rules | what is left out |\n| --- | --- | --- |\n");
    for weakness in items(&data["weaknesses"]) {
        page.push_str(&format!(
            "| {} {} | {} | {} |\n",
            word(weakness, "code"),
            word(weakness, "name"),
            links(weakness),
            word(weakness, "note")
        ));
    }
    page.push_str("\n## Other linters\n\nThe default rules for correctness and security. *Seat*: left to the linter itself, which can have a seat on the panel.\n\n");
    page.push_str("| linter | rules there | about | here | why |\n| --- | --- | --- | --- | --- |\n");
    for linter in items(&data["linters"]) {
        let here = match word(linter, "state") {
            "covered" => links(linter),
            "seat" => "seat".to_owned(),
            _ => "not worth it".to_owned(),
        };
        page.push_str(&format!(
            "| {} | {} | {} | {here} | {} |\n",
            word(linter, "linter"),
            word(linter, "codes"),
            word(linter, "what"),
            word(linter, "why")
        ));
    }
    Ok(page)
}

fn items(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

fn word<'a>(item: &'a Value, key: &str) -> &'a str {
    item[key].as_str().unwrap_or_default()
}

fn ids(item: &Value) -> impl Iterator<Item = &str> {
    items(&item["rules"]).filter_map(Value::as_str)
}

fn links(item: &Value) -> String {
    ids(item).map(|id| format!("[`{id}`](rules/{id}.md)")).collect::<Vec<_>>().join(", ")
}

fn head(first: &str, columns: &[Language]) -> String {
    let names: Vec<&str> = columns.iter().map(|language| language.name()).collect();
    format!("| {first} | {} | files |\n| --- |{} --- |\n", names.join(" | "), " --- |".repeat(columns.len()))
}

/// How many of the rules look at each language.
fn row(name: &str, rules: &BTreeSet<&str>, columns: &[Language], languages: &BTreeMap<&str, &[Language]>) -> String {
    let count = |has: &dyn Fn(&[Language]) -> bool| match rules
        .iter()
        .filter(|id| languages.get(*id).is_some_and(|of| has(of)))
        .count()
    {
        0 => "–".to_owned(),
        count => count.to_string(),
    };
    let cells: Vec<String> = columns.iter().map(|language| count(&|of| of.contains(language))).collect();
    format!("| {name} | {} | {} |\n", cells.join(" | "), count(&|of| of.is_empty()))
}
