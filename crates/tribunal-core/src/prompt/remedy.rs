//! What is told to those who assess feedback, check assessments and make fixes: the items as quoted data, each with the code it
//! speaks of.

use super::RunWords;
use crate::feedback::fixable::Fixable;
use crate::feedback::item::Voice;
use crate::ids::RepoPath;
use crate::publish::outgoing::forged::without_marks;
use crate::publish::visible::visible_line;
use crate::remedy::assess::Assessment;

/// Lines above and below the place of an item.
const AROUND: usize = 40;
/// Of a file without a place only its beginning is shown.
const HEAD: usize = 80;
/// More of one item is not read by anybody.
const MAX_BODY: usize = 10_000;

/// An item, and its file as it is at the head.
pub struct Shown<'a> {
    pub item: &'a Fixable,
    pub code: Option<&'a str>,
    /// Files that its words name, each with a line.
    pub named: Vec<(RepoPath, u32, &'a str)>,
}

/// Items with their code.
pub fn items(words: &RunWords, title: &str, shown: &[Shown<'_>]) -> String {
    let mut text = format!(
        "Canary word of this run: {}\n\nThe pull request's title:\n{}\n",
        words.canary,
        words.quote(&without_marks(title))
    );
    for entry in shown {
        text.push_str(&item(words, entry));
    }
    text
}

fn item(words: &RunWords, shown: &Shown<'_>) -> String {
    let Shown { item, code, named } = shown;
    let voice = match &item.voice {
        Voice::Panel => "a finding of the review panel".to_owned(),
        Voice::Known(name) => format!("the review bot {name}"),
        Voice::Bot => "a bot".to_owned(),
        Voice::Person => "a person".to_owned(),
        Voice::Check => "a check that failed".to_owned(),
    };
    let weight = item.priority.map_or_else(String::new, |priority| format!(", weighed {priority} by its author"));
    let body: String = item.body.chars().take(MAX_BODY).collect();
    let mut text = format!(
        "\n# Item `{}`\n\nFrom {voice}{weight}. What it says:\n{}\n",
        visible_line(&item.id.0),
        words.quote(&without_marks(&body))
    );
    if let (Some(path), Some(code)) = (&item.path, code) {
        text.push_str(&format!("\nIts file as it is now:\n{}\n", words.quote(&file(path, code, item.line))));
    }
    for (path, line, code) in named {
        text.push_str(&format!("\nA file that it names, as it is now:\n{}\n", words.quote(&file(path, code, Some(*line)))));
    }
    text
}

/// A file's name and code. The name is the change's, too, so it stands inside the quote.
fn file(path: &RepoPath, code: &str, line: Option<u32>) -> String {
    format!("=== FILE {} ===\n{}", super::shown(path.as_str()), excerpt(code, line))
}

/// Numbered lines around a place.
fn excerpt(code: &str, line: Option<u32>) -> String {
    let lines: Vec<&str> = code.lines().collect();
    let (from, to) = match line {
        Some(line) => ((line as usize).saturating_sub(AROUND + 1), (line as usize + AROUND).min(lines.len())),
        None => (0, HEAD.min(lines.len())),
    };
    let numbered = lines.iter().enumerate().take(to).skip(from.min(to));
    numbered.map(|(index, text)| format!("{:>5}  {text}\n", index + 1)).collect()
}

/// What the assessor is asked.
pub fn to_assess(words: &RunWords, rejections: &[String]) -> String {
    let mut text = "Assess every item above.\n".to_owned();
    if let Some(last) = rejections.last() {
        text.push_str(&format!("\nAn earlier assessment was sent back. What was said against it:\n{}\n", words.quote(last)));
    }
    text
}

/// What the checker is asked.
pub fn to_check(words: &RunWords, assessments: &[Assessment]) -> String {
    let written = serde_json::to_string_pretty(assessments).unwrap_or_default();
    format!("The assessment to check:\n{}\n", words.quote(&written))
}

/// What the fixer is asked, and why its last edits did not apply.
pub fn to_fix(words: &RunWords, assessment: &Assessment, problem: Option<&str>) -> String {
    let notes = if assessment.notes.is_empty() { &assessment.rationale } else { &assessment.notes };
    let mut text = format!("Make the fix for the item above. The notes of the assessment:\n{}\n", words.quote(notes));
    if let Some(problem) = problem {
        text.push_str(&format!("\nYour last edits could not be used. Why:\n{}\n", words.quote(problem)));
    }
    text
}
