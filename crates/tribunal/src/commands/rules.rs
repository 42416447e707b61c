//! `tribunal rules list`, `tribunal rules test`

use crate::cli::{ListFormat, RulesCommand};
use crate::situation::{Situation, exit};
use crate::terminal::out;
use crate::terminal::table::table;
use crate::workspace;
use std::path::Path;
use tribunal_agent::rules::{examples, load};
use tribunal_core::publish::visible::visible;
use tribunal_forge::git::work_file::{MAX_TEXT_BYTES, read_named_file};

pub fn run(command: RulesCommand) -> Result<u8, Situation> {
    match command {
        RulesCommand::List { format } => list(format),
        RulesCommand::Test { files } => {
            let mut failures = 0;
            for path in &files {
                let name = path.display().to_string();
                let text = text(path)?;
                let wrong = match load::parse(&name, &text) {
                    Ok(rule) => examples::failures(&rule),
                    Err(error) => vec![error.to_string()],
                };
                for problem in &wrong {
                    out::say(&visible(problem))?;
                }
                failures += wrong.len();
            }
            out::say(&format!(
                "{} rule file{}, {failures} failure{}",
                files.len(),
                if files.len() == 1 { "" } else { "s" },
                if failures == 1 { "" } else { "s" }
            ))?;
            Ok(if failures == 0 { exit::DONE } else { exit::FINDINGS })
        }
    }
}

fn text(path: &Path) -> Result<String, Situation> {
    let unreadable = |problem: String| Situation::new("bad-rule", exit::USAGE, problem);
    let bytes = read_named_file(path, MAX_TEXT_BYTES).map_err(|error| unreadable(error.to_string()))?;
    String::from_utf8(bytes).map_err(|_| unreadable(format!("{} is not text in UTF-8", path.display())))
}

fn list(format: ListFormat) -> Result<u8, Situation> {
    let repository = workspace::discover_optional()?;
    let rules = workspace::set_up(repository.as_ref(), None)?.rules.rules;
    match format {
        ListFormat::Json => {
            let body: Vec<_> = rules.iter().map(|rule| &rule.file).collect();
            out::json(&serde_json::json!(body))?;
        }
        ListFormat::Text => {
            let rows = rules.iter().map(|rule| {
                let languages: Vec<&str> = rule.file.languages.iter().map(|language| language.name()).collect();
                let languages = if languages.is_empty() { "any".to_owned() } else { languages.join(", ") };
                vec![rule.file.id.clone(), rule.file.category.0.clone(), languages, rule.file.title.clone()]
            });
            out::say(&table(&["RULE", "CATEGORY", "LANGUAGES", "WHAT"], rows))?;
        }
    }
    Ok(exit::DONE)
}
