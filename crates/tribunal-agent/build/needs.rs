//! The words without which a syntax rule finds nothing in a file. A pattern is compiled by parsing it, a language has hundreds, and most
//! files need a few of them: the others are never compiled.
//!
//! What is said here must hold for whatever the rule can match. Where that is not plain, nothing is said, and the rule is always compiled.

use serde_json::{Map, Value};

/// One word of each group stands in every file that the rule matches in.
pub type Needs = Vec<Vec<String>>;

/// Shorter words are in every file.
const SHORTEST: usize = 3;
/// A utility of a rule may use another one.
const DEEPEST: usize = 8;

pub fn of(rule: &Value, utils: Option<&Value>) -> Needs {
    let utils = utils.and_then(Value::as_object);
    let mut needs = of_rule(rule, utils, 0);
    // Two say nearly as much as all, and are looked up faster.
    needs.sort_by_key(|group| (group.len(), usize::MAX - shortest(group)));
    needs.dedup();
    needs.truncate(2);
    needs
}

fn of_rule(rule: &Value, utils: Option<&Map<String, Value>>, depth: usize) -> Needs {
    let Some(fields) = rule.as_object().filter(|_| depth < DEEPEST) else { return Needs::new() };
    let mut needs = Needs::new();
    for (name, value) in fields {
        match (name.as_str(), value) {
            ("pattern", Value::String(pattern)) => needs.extend(of_pattern(pattern)),
            ("regex", Value::String(regex)) => needs.extend(of_regex(regex)),
            ("any", Value::Array(rules)) => needs.extend(of_any(rules.iter().map(|rule| of_rule(rule, utils, depth + 1)))),
            ("all", Value::Array(rules)) => needs.extend(rules.iter().flat_map(|rule| of_rule(rule, utils, depth + 1))),
            // What must stand somewhere around it stands in the file.
            ("has" | "inside" | "follows" | "precedes", related) => needs.extend(of_rule(related, utils, depth + 1)),
            ("matches", Value::String(name)) => {
                if let Some(rule) = utils.and_then(|utils| utils.get(name)) {
                    needs.extend(of_rule(rule, utils, depth + 1));
                }
            }
            _ => {}
        }
    }
    needs
}

/// The best group of each alternative, together. Nothing if one of them needs nothing.
fn of_any(alternatives: impl Iterator<Item = Needs>) -> Option<Vec<String>> {
    let mut union = Vec::new();
    for needs in alternatives {
        union.extend(needs.into_iter().max_by_key(|group| (shortest(group), usize::MAX - group.len()))?);
    }
    union.sort();
    union.dedup();
    (!union.is_empty()).then_some(union)
}

fn shortest(group: &[String]) -> usize {
    group.iter().map(String::len).min().unwrap_or(0)
}

/// Each name of a pattern, but for what stands for anything.
fn of_pattern(pattern: &str) -> Needs {
    // A comment or an escape is not compared as it is written.
    if ["//", "/*", "#", "--", "\\"].iter().any(|sign| pattern.contains(sign)) {
        return Needs::new();
    }
    let mut needs = Needs::new();
    let mut word = String::new();
    let mut before = ' ';
    for character in pattern.chars().chain([' ']) {
        if character.is_ascii_alphanumeric() || character == '_' {
            word.push(character);
            continue;
        }
        if before != '$' && character.is_ascii() && before.is_ascii() && word.len() >= SHORTEST {
            needs.push(vec![std::mem::take(&mut word)]);
        }
        word.clear();
        before = character;
    }
    needs
}

/// A word of each alternative of a regular expression; nothing if one of them has none.
fn of_regex(regex: &str) -> Option<Vec<String>> {
    // Flags may let letters be of either case, or let white space mean nothing.
    let has_flags = regex.match_indices("(?").any(|(at, _)| !["(?:", "(?-u:"].iter().any(|plain| regex[at..].starts_with(plain)));
    if has_flags {
        return None;
    }
    let characters: Vec<char> = regex.chars().collect();
    let mut at = 0;
    let needs = alternatives(&characters, &mut at)?;
    (at == characters.len()).then_some(needs)
}

/// Up to the end, or to the parenthesis that closes the group.
fn alternatives(characters: &[char], at: &mut usize) -> Option<Vec<String>> {
    let mut union = Some(Vec::new());
    loop {
        let branch = branch(characters, at);
        union = union.zip(branch).map(|(union, branch)| [union, branch].concat());
        match characters.get(*at) {
            Some('|') => *at += 1,
            _ => break,
        }
    }
    union.map(|mut union| {
        union.sort();
        union.dedup();
        union
    })
}

fn branch(characters: &[char], at: &mut usize) -> Option<Vec<String>> {
    let mut best: Option<Vec<String>> = None;
    let mut word = String::new();
    let keep = |group: Vec<String>, best: &mut Option<Vec<String>>| {
        if shortest(&group) >= SHORTEST && best.as_ref().is_none_or(|best| shortest(best) < shortest(&group)) {
            *best = Some(group);
        }
    };
    while let Some(&character) = characters.get(*at) {
        match character {
            '|' | ')' => break,
            'A'..='Z' | 'a'..='z' | '0'..='9' | '_' => {
                word.push(character);
                *at += 1;
                continue;
            }
            '?' | '*' | '{' => {
                // The last letter need not be there.
                word.pop();
                keep(vec![std::mem::take(&mut word)], &mut best);
                *at += 1;
                if character == '{' {
                    while characters.get(*at).is_some_and(|&character| character != '}') {
                        *at += 1;
                    }
                    *at += 1;
                }
                continue;
            }
            _ => keep(vec![std::mem::take(&mut word)], &mut best),
        }
        *at += 1;
        match character {
            '\\' => *at += 1,
            '[' => skip_class(characters, at),
            '(' => {
                if characters.get(*at) == Some(&'?') {
                    while characters.get(*at).is_some_and(|&character| character != ':') {
                        *at += 1;
                    }
                    *at += 1;
                }
                let group = alternatives(characters, at);
                *at += 1;
                let may_be_absent = matches!(characters.get(*at), Some('?' | '*' | '{'));
                if let Some(group) = group.filter(|_| !may_be_absent) {
                    keep(group, &mut best);
                }
            }
            _ => {}
        }
    }
    keep(vec![word], &mut best);
    best
}

/// Behind the bracket that closes a class.
fn skip_class(characters: &[char], at: &mut usize) {
    let mut depth = 1;
    let mut is_first = true;
    while let Some(&character) = characters.get(*at) {
        *at += 1;
        match character {
            '\\' => *at += 1,
            '^' if is_first => continue,
            '[' => depth += 1,
            // As the first one of a class it is one of its characters.
            ']' if !is_first => depth -= 1,
            _ => {}
        }
        is_first = false;
        if depth == 0 {
            return;
        }
    }
}
