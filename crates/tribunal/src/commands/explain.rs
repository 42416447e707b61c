//! `tribunal explain`: rules, categories, roles, priorities and error codes, from the files that define them.

use crate::situation::{CODES, Situation, exit};
use crate::terminal::out;
use crate::workspace::{self, Setup};
use tribunal_agent::rules::file::{Example, RuleFile};
use tribunal_agent::rules::load;
use tribunal_core::findings::scale::Priority;
use tribunal_core::publish::visible::{visible, visible_line};

pub fn run(name: &str) -> Result<u8, Situation> {
    let repository = workspace::discover_optional()?;
    let setup = workspace::set_up(repository.as_ref(), None)?;
    let page = rule(name, &setup)
        .or_else(|| category(name, &setup))
        .or_else(|| role(name, &setup))
        .or_else(|| priority(name))
        .or_else(|| code(name));
    match page {
        Some(Page { heading, body }) => {
            out::say(&format!("\u{1b}[1m{}\u{1b}[0m{}", visible_line(&heading), visible(body.trim_end())))?;
            Ok(exit::DONE)
        }
        None => Err(Situation::new(
            "unknown-name",
            exit::USAGE,
            format!("`{name}` is no rule, category, role, priority or error code"),
        )
        .help("`tribunal rules list` lists the rules; categories look like S1, priorities like P0, codes like bad-config")),
    }
}

/// What is shown. A repository's own rules and roles are text of others.
struct Page {
    heading: String,
    body: String,
}

fn rule(name: &str, setup: &Setup) -> Option<Page> {
    let rule = setup.rules.get(name)?;
    // The set has built-in rules without their examples, and a repository's own rules with them.
    let with_examples = load::built_in_with_examples().ok()?.into_iter().find(|built_in| built_in.origin == rule.origin);
    Some(page(with_examples.as_ref().map_or(&rule.file, |loaded| &loaded.file)))
}

fn page(rule: &RuleFile) -> Page {
    let languages: Vec<&str> = rule.languages.iter().map(|language| language.name()).collect();
    let mut text = format!(
        " · {} · {}\n{}\n\nWhat breaks: {}\nWhat to do:  {}\n\n{}\n",
        rule.category,
        if languages.is_empty() { "any language".to_owned() } else { languages.join(", ") },
        rule.title,
        rule.failure_mode.trim(),
        rule.mitigation.trim(),
        rule.about.trim()
    );
    for (heading, examples) in [("Found", &rule.examples.bad), ("Left alone", &rule.examples.good)] {
        if let Some(example) = examples.first() {
            let code = match example {
                Example::Code(code) => code,
                Example::File(file) => &file.code,
                Example::Diff(diff) => &diff.diff,
            };
            text.push_str(&format!("\n{heading}:\n"));
            for line in code.trim_end().lines() {
                text.push_str(&format!("    {line}\n"));
            }
        }
    }
    Page { heading: rule.id.clone(), body: text }
}

fn category(name: &str, setup: &Setup) -> Option<Page> {
    let (role, category) = setup.roles.iter().find_map(|role| {
        let category = role.categories.iter().find(|category| category.code.as_str().eq_ignore_ascii_case(name))?;
        Some((role, category))
    })?;
    let rules: Vec<&str> =
        setup.rules.rules.iter().filter(|rule| rule.file.category == category.code).map(|rule| rule.file.id.as_str()).collect();
    let body = format!(
        " · owned by {} · {} by default\n{}\n\n{} rules: {}",
        role.name,
        category.severity.emoji(),
        category.about.trim(),
        rules.len(),
        rules.join(", ")
    );
    Some(Page { heading: format!("{} {}", category.code, category.name), body })
}

fn role(name: &str, setup: &Setup) -> Option<Page> {
    setup.roles.iter().find(|role| role.name.as_str() == name).map(|role| {
        let categories: Vec<String> =
            role.categories.iter().map(|category| format!("  {} {}", category.code, category.name)).collect();
        let body = format!("\n{}\n\nOwns:\n{}\n\n{}", role.about, categories.join("\n"), role.prompt);
        Page { heading: role.name.to_string(), body }
    })
}

fn priority(name: &str) -> Option<Page> {
    let priority: Priority = name.parse().ok()?;
    Some(Page { heading: format!("{} {priority}", priority.emoji()), body: format!(": {}", priority.meaning()) })
}

fn code(name: &str) -> Option<Page> {
    let (code, text) = CODES.iter().find(|(code, _)| *code == name)?;
    Some(Page { heading: (*code).to_owned(), body: format!(": {text}") })
}
