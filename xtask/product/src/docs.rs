//! Reference pages that are made from what they describe, so that they cannot drift: commands, exit codes, rules, roles, schemas,
//! and the table of what each forge can do.

mod coverage;
mod precision;

use anyhow::{Context as _, Result, bail};
use forge_conformance::record::{self, Seen};
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use tribunal_agent::rules::file::{Example, RuleFile};
use tribunal_agent::rules::load;
use tribunal_core::findings::role::built_in_roles;
use tribunal_core::linter::built_in;
use tribunal_core::linter::triage::Triage;
use tribunal_core::pull::capability::Capability;
use xtask::root;

pub fn run(check: bool) -> Result<()> {
    let pages = pages()?;
    let folder = root().join("docs/reference");
    let mut stale = Vec::new();
    for (name, text) in &pages {
        let path = folder.join(name);
        if fs::read_to_string(&path).is_ok_and(|current| &current == text) {
            continue;
        }
        stale.push(name.clone());
        if !check {
            fs::create_dir_all(path.parent().unwrap_or(&folder))?;
            fs::write(&path, text)?;
        }
    }
    if let Some(text) = stale_capabilities()? {
        stale.push("../forges.md (the table of capabilities)".to_owned());
        if !check {
            fs::write(root().join(FORGES), text)?;
        }
    }
    for old in leftovers(&pages)? {
        stale.push(format!("{} (no longer generated)", old.display()));
        if !check {
            fs::remove_file(&old)?;
        }
    }
    if check && !stale.is_empty() {
        bail!("what is generated in docs/ is stale, run `cargo xtask docs`:\n  {}", stale.join("\n  "));
    }
    eprintln!("docs: {} generated pages, {} {}", pages.len(), stale.len(), if check { "stale" } else { "written" });
    Ok(())
}

const FORGES: &str = "docs/forges.md";
const TABLE_BEGINS: &str = "<!-- made by `cargo xtask docs` from what the conformance suite saw -->\n";
const TABLE_ENDS: &str = "<!-- end of what is made -->\n";

/// The page on forges with its table as it should be, if it is not so.
fn stale_capabilities() -> Result<Option<String>> {
    let page = fs::read_to_string(root().join(FORGES)).with_context(|| format!("{FORGES} is missing"))?;
    let parts = page.split_once(TABLE_BEGINS).and_then(|(before, rest)| Some((before, rest.split_once(TABLE_ENDS)?.1)));
    let (before, after) = parts.with_context(|| format!("{FORGES} has no place for the table of capabilities"))?;
    let made = format!("{before}{TABLE_BEGINS}{}{TABLE_ENDS}{after}", capabilities());
    Ok((made != page).then_some(made))
}

/// Rows: what a forge may be able to do. A cell is a tick, or what is done instead.
fn capabilities() -> String {
    let columns = ["GitHub", "GitHub App", "GitLab", "Gitea", "Forgejo", "local"].map(|name| (name, record::read(name)));
    let titles: Vec<String> = columns
        .iter()
        .map(|(name, record)| match record.version.split(['+', '-']).next().filter(|version| !version.is_empty()) {
            Some(version) if *name != "local" => format!("{name} {version}"),
            _ => (*name).to_owned(),
        })
        .collect();
    let mut text = format!("| | {} |\n| --- |{}\n", titles.join(" | "), " --- |".repeat(titles.len()));
    for capability in Capability::ALL {
        let cell = |record: &record::Record| match record.seen.get(&capability) {
            Some(Seen::Works) => "✔".to_owned(),
            Some(Seen::Said) => "✔ \\*".to_owned(),
            Some(Seen::Untried(why)) => why.clone(),
            Some(Seen::Missing) | None => capability.fall_back().to_owned(),
        };
        let cells: Vec<String> = columns.iter().map(|(_, record)| cell(record)).collect();
        text.push_str(&format!("| {} | {} |\n", capability.words(), cells.join(" | ")));
    }
    text
}

fn leftovers(pages: &BTreeMap<String, String>) -> Result<Vec<PathBuf>> {
    let folder = root().join("docs/reference");
    let mut old = Vec::new();
    let mut folders = vec![folder.clone()];
    while let Some(next) = folders.pop() {
        let Ok(entries) = fs::read_dir(&next) else { continue };
        for entry in entries {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if !path.strip_prefix(&folder).is_ok_and(|name| pages.contains_key(&name.to_string_lossy().replace('\\', "/")))
            {
                old.push(path);
            }
        }
    }
    Ok(old)
}

fn pages() -> Result<BTreeMap<String, String>> {
    let mut pages = BTreeMap::new();
    pages.insert(
        "cli.md".to_owned(),
        clap_markdown::help_markdown_custom::<tribunal::cli::Cli>(&clap_markdown::MarkdownOptions::new().show_footer(false)),
    );
    for (name, schema) in tribunal::schemas::ALL {
        pages.insert(format!("schema/{name}.json"), tribunal::schemas::schema(schema));
    }
    let mut codes = "# Error codes\n\nEvery error names its code; `tribunal explain CODE` says this page's sentence.\n\n| code | meaning |\n| --- | --- |\n".to_owned();
    for (code, text) in tribunal::situation::CODES {
        codes.push_str(&format!("| `{code}` | {text} |\n"));
    }
    pages.insert("errors.md".to_owned(), codes);
    pages.insert("roles.md".to_owned(), roles()?);
    pages.insert("linters.md".to_owned(), linters());
    let rules = load::built_in_with_examples()?;
    let mut index = format!(
        "# Built-in rules\n\n{} rules. Each page is made from the rule's own file, and each example is run as a test. A safe fix is applied unattended, an offered one is only shown.\n\n| rule | category | languages | fix | what |\n| --- | --- | --- | --- | --- |\n",
        rules.len()
    );
    for rule in &rules {
        index.push_str(&format!(
            "| [`{0}`](rules/{0}.md) | {1} | {2} | {3} | {4} |\n",
            rule.file.id,
            rule.file.category,
            languages(&rule.file),
            fix(&rule.file),
            rule.file.title
        ));
        pages.insert(format!("rules/{}.md", rule.file.id), rule_page(&rule.origin, &rule.file));
    }
    pages.insert("rules.md".to_owned(), index);
    pages.insert("coverage.md".to_owned(), coverage::page(&rules)?);
    pages.insert("rule-record.md".to_owned(), precision::page(&rules)?);
    Ok(pages)
}

/// A row for each profile, and its table of rules.
fn linters() -> String {
    let profiles = built_in::all();
    let mut text = format!(
        "# Linters\n\n{} profiles, each made from its file in `linters/`. [How they are run](../linters.md). *Tried* names the version that was run over the profile's sample for real; a profile without one was written from the linter's documentation.\n\n| linter | what | files | output | configuration | tried |\n| --- | --- | --- | --- | --- | --- |\n",
        profiles.len()
    );
    let code = |names: &[String]| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" ");
    for (name, profile) in profiles {
        let config = match (profile.config.base.is_empty(), profile.own.is_empty()) {
            (false, _) => format!("the base's {}", code(&profile.config.base)),
            (true, false) => "the profile's".to_owned(),
            (true, true) => "the linter's defaults".to_owned(),
        };
        let files = code(&profile.files).replace('|', "\\|");
        let (about, format) = (&profile.about, profile.output.format.word());
        let tried = profile.tried.as_deref().unwrap_or("no");
        text.push_str(&format!("| [`{name}`](#{name}) | {about} | {files} | {format} | {config} | {tried} |\n"));
    }
    for (name, profile) in profiles {
        text.push_str(&format!("\n## {name}\n\nInstall: {}.\n\n| rule | weight |\n| --- | --- |\n", profile.install));
        let levels = profile.levels.iter().map(|(level, triage)| (format!("others of level {level}"), triage));
        let rules = profile.rules.iter().map(|(rule, triage)| (format!("`{rule}`"), triage));
        for (rule, triage) in rules.chain(levels) {
            text.push_str(&format!("| {rule} | {triage} |\n"));
        }
        if profile.levels.is_empty() && !profile.rules.contains_key("*") {
            text.push_str(&format!("| others | {} |\n", Triage::unknown()));
        }
    }
    text
}

fn languages(rule: &RuleFile) -> String {
    if rule.languages.is_empty() {
        return "any".to_owned();
    }
    rule.languages.iter().map(|language| language.name()).collect::<Vec<_>>().join(", ")
}

/// Whether a rule has a fix, and who applies it.
fn fix(rule: &RuleFile) -> &'static str {
    if rule.fix.is_some() || rule.fixes.iter().any(|case| case.fix.is_some()) {
        "safe"
    } else if rule.offer.is_some() || rule.fixes.iter().any(|case| case.offer.is_some()) {
        "offered"
    } else {
        "–"
    }
}

fn rule_page(origin: &str, rule: &RuleFile) -> String {
    let mut text = format!(
        "# {}\n\n`{}` · category {} · {} · confidence {} · blast {} · {}\n\n**What breaks**: {}\n\n**What to do**: {}\n\n{}\n",
        rule.title,
        rule.id,
        rule.category,
        languages(rule),
        rule.confidence.word(),
        rule.blast.word(),
        rule.justification.word(),
        rule.failure_mode.trim(),
        rule.mitigation.trim(),
        rule.about.trim()
    );
    for (heading, examples) in [("Found", &rule.examples.bad), ("Left alone", &rule.examples.good)] {
        text.push_str(&format!("\n## {heading}\n"));
        for example in examples {
            let (place, body, fixed) = match example {
                Example::Code(code) => (None, code, None),
                Example::File(file) => (Some(&file.path), &file.code, file.fixed.as_ref()),
                Example::Diff(diff) => (None, &diff.diff, None),
            };
            if let Some(place) = place {
                text.push_str(&format!("\n`{place}`:\n"));
            }
            text.push_str(&format!("\n{}\n", tribunal_core::publish::markdown::fenced("", body.trim_end())));
            if let Some(fixed) = fixed {
                text.push_str(&format!(
                    "\nThe fix gives:\n\n{}\n",
                    tribunal_core::publish::markdown::fenced("", fixed.trim_end())
                ));
            }
        }
    }
    if !rule.suppressed_by.is_empty() {
        let codes: Vec<String> = rule.suppressed_by.iter().map(|code| format!("`{code}`")).collect();
        text.push_str(&format!("\nSilent where the line suppresses {}.\n", codes.join(", ")));
    }
    text.push_str(&format!("\nDefined in `{origin}`. Switch it off with `[rules] disable = [\"{}\"]`.\n", rule.id));
    text
}

fn roles() -> Result<String> {
    let mut text =
        "# Roles\n\nThe panel that every repository starts with. `.tribunal/reviewers/*.md` adds or overrides.\n".to_owned();
    for role in built_in_roles()? {
        text.push_str(&format!(
            "\n## {}\n\n{}\n\n| category | name | by default | at most | what belongs here |\n| --- | --- | --- | --- | --- |\n",
            role.name,
            role.about.trim()
        ));
        for category in &role.categories {
            let cap = category.cap.map_or("–", |cap| cap.emoji());
            text.push_str(&format!(
                "| {} | {} | {} | {cap} | {} |\n",
                category.code,
                category.name,
                category.severity.emoji(),
                category.about.trim().replace('\n', " ")
            ));
        }
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    #[test]
    fn generated_pages_are_up_to_date() {
        super::run(true).unwrap();
    }
}
