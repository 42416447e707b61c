//! What a linter printed, as results. A table in its profile says where each value stands, so that a new linter needs no parser.

use super::edit::{Edit, Place};
use super::profile::{FixPointers, Format, Output};
use crate::feedback::lint::{Replace, Spot};
use regex::Regex;
use serde_json::Value;

/// One result of a linter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LinterResult {
    /// As the linter names it.
    pub file: String,
    /// First and last.
    pub lines: Option<(u32, u32)>,
    pub rule: String,
    pub level: Option<String>,
    pub message: String,
    pub help: Option<String>,
    pub fix: Vec<Edit>,
    pub is_fix_safe: bool,
}

/// Reads every format but SARIF, which has a reader of its own.
pub fn read(output: &Output, text: &str) -> Result<Vec<LinterResult>, String> {
    match output.format {
        Format::Json => {
            let start = text.find(['[', '{']).ok_or_else(|| begins(text))?;
            let value: Value = serde_json::from_str(&text[start..]).map_err(|error| format!("{error}; {}", begins(text)))?;
            json(output, &value)
        }
        Format::JsonLines => {
            let lines = text.lines().filter(|line| !line.trim().is_empty());
            let values =
                lines.map(|line| serde_json::from_str::<Value>(line).map_err(|error| format!("{error}; {}", begins(line))));
            let values = values.collect::<Result<Vec<_>, _>>()?;
            Ok(values.iter().map(|value| json(output, value)).collect::<Result<Vec<_>, _>>()?.concat())
        }
        Format::Lines => lines(output, text),
        Format::Sarif => Err("SARIF has a reader of its own".into()),
    }
}

fn begins(text: &str) -> String {
    let start: String = text.trim().chars().take(60).collect();
    if start.is_empty() { "it printed nothing".into() } else { format!("it begins `{}`", start.replace(['\n', '\r'], " ")) }
}

fn json(output: &Output, value: &Value) -> Result<Vec<LinterResult>, String> {
    if let Some(problem) = at(value, &output.failed).filter(|problem| !is_nothing(problem)) {
        let text: String = problem.to_string().chars().take(200).collect();
        return Err(format!("it says that it could not look: {text}"));
    }
    let reader = Reader { output, name: part(&output.rule_pattern)? };
    let mut results = Vec::new();
    reader.descend(&output.each, &mut vec![value], &mut results)?;
    Ok(results)
}

fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Array(all) => all.is_empty(),
        Value::Object(all) => all.is_empty(),
        Value::String(text) => text.is_empty(),
        Value::Bool(true) | Value::Number(_) => false,
    }
}

/// The name of a rule as the tables have it.
pub fn rule_name(output: &Output, named: &str) -> String {
    let name = part(&output.rule_pattern).ok().flatten();
    Reader { output, name }.rule(Some(named.to_owned()))
}

fn part(pattern: &str) -> Result<Option<Regex>, String> {
    if pattern.is_empty() { Ok(None) } else { Regex::new(pattern).map(Some).map_err(|error| error.to_string()) }
}

struct Reader<'a> {
    output: &'a Output,
    /// Finds the part of a rule's name that counts.
    name: Option<Regex>,
}

impl Reader<'_> {
    fn descend(&self, each: &[String], path: &mut Vec<&Value>, results: &mut Vec<LinterResult>) -> Result<(), String> {
        let Some((step, deeper)) = each.split_first() else {
            results.extend(self.result(path));
            return Ok(());
        };
        let here = path.last().and_then(|value| value.pointer(step));
        match here {
            Some(Value::Array(elements)) => {
                for element in elements {
                    path.push(element);
                    self.descend(deeper, path, results)?;
                    path.pop();
                }
                Ok(())
            }
            // Go writes an empty list as null.
            Some(Value::Null) => Ok(()),
            _ => Err(format!("its output has no list at `{step}`, so nobody says that anything was looked at")),
        }
    }

    fn result(&self, path: &[&Value]) -> Option<LinterResult> {
        let output = self.output;
        let text = |pointer: &str| seek(path, pointer).and_then(words);
        let file = text(&output.file)?;
        let first = seek(path, &output.line).and_then(number);
        let last = seek(path, &output.end_line).and_then(number);
        let element = path.last().copied();
        Some(LinterResult {
            file,
            lines: first.map(|first| (first, last.unwrap_or(first).max(first))),
            rule: self.rule(text(&output.rule)),
            level: text(&output.level),
            message: if output.message.contains('{') {
                filled(path, &output.message)
            } else {
                text(&output.message).unwrap_or_default()
            },
            help: text(&output.help),
            fix: output.fix.as_ref().zip(element).map(|(fix, element)| edits(fix, element)).unwrap_or_default(),
            is_fix_safe: output.fix.as_ref().zip(element).is_some_and(|(fix, element)| is_safe(fix, element)),
        })
    }

    fn rule(&self, named: Option<String>) -> String {
        let Some(named) = named.filter(|named| !named.is_empty()) else { return self.output.no_rule.clone() };
        let counts = self.name.as_ref().and_then(|name| Some(name.captures(&named)?.get(1)?.as_str().to_owned()));
        format!("{}{}", self.output.rule_prefix, counts.unwrap_or(named))
    }
}

fn at<'v>(value: &'v Value, pointer: &str) -> Option<&'v Value> {
    if pointer.is_empty() { None } else { value.pointer(pointer) }
}

/// In the innermost element that has it.
fn seek<'v>(path: &[&'v Value], pointer: &str) -> Option<&'v Value> {
    path.iter().rev().find_map(|value| at(value, pointer)).filter(|value| !value.is_null())
}

/// A sentence with JSON pointers in braces.
fn filled(path: &[&Value], template: &str) -> String {
    let mut parts = template.split('{');
    let start = parts.next().unwrap_or_default().to_owned();
    parts.fold(start, |text, part| match part.split_once('}') {
        Some((pointer, rest)) => text + &seek(path, pointer).and_then(words).unwrap_or_default() + rest,
        None => text + part,
    })
}

fn words(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(is) => Some(is.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// A line number; some write it as text, and as a range.
fn number(value: &Value) -> Option<u32> {
    let digits = words(value)?;
    let digits = digits.split(|c: char| !c.is_ascii_digit()).next()?;
    digits.parse().ok().filter(|line| *line > 0)
}

fn edits(fix: &FixPointers, element: &Value) -> Vec<Edit> {
    let all = match at(element, &fix.edits) {
        Some(Value::Array(edits)) => edits.iter().map(|one| edit(fix, one)).collect::<Option<Vec<Edit>>>(),
        Some(one @ Value::Object(_)) => edit(fix, one).map(|edit| vec![edit]),
        _ => None,
    };
    // Half a fix is none.
    all.unwrap_or_default()
}

fn edit(fix: &FixPointers, one: &Value) -> Option<Edit> {
    let text = at(one, &fix.text).and_then(words)?;
    let whole = |pointer: &str| at(one, pointer).and_then(Value::as_u64).and_then(|number| u32::try_from(number).ok());
    if let (Some(start), Some(end)) = (whole(&fix.start), whole(&fix.end)) {
        return Some(Edit { place: Place::Offsets { start, end }, text });
    }
    let from = Spot { line: whole(&fix.line)?, column: Some(whole(&fix.column)?) };
    let to = Spot { line: whole(&fix.end_line)?, column: Some(whole(&fix.end_column)?) };
    Some(Edit { place: Place::Spots(Replace { from, to, text: text.clone(), utf16: false }), text })
}

fn is_safe(fix: &FixPointers, element: &Value) -> bool {
    match fix.safe.split_once('=') {
        None => fix.safe == "always",
        Some((pointer, value)) => at(element, pointer).and_then(words).as_deref() == Some(value),
    }
}

fn lines(output: &Output, text: &str) -> Result<Vec<LinterResult>, String> {
    let pattern = Regex::new(&output.pattern).map_err(|error| error.to_string())?;
    let reader = Reader { output, name: part(&output.rule_pattern)? };
    let found = text.lines().filter_map(|line| {
        let groups = pattern.captures(line)?;
        let group = |name: &str| groups.name(name).map(|found| found.as_str().to_owned()).filter(|text| !text.is_empty());
        let first: u32 = group("line")?.parse().ok()?;
        let last = group("end_line").and_then(|line| line.parse().ok()).unwrap_or(first);
        Some(LinterResult {
            file: group("file")?,
            lines: Some((first, last.max(first))),
            rule: reader.rule(group("rule")),
            level: group("level"),
            message: group("message")?,
            ..LinterResult::default()
        })
    });
    Ok(found.collect())
}

#[cfg(test)]
mod tests;
