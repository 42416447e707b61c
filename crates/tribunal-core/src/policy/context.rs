//! The `context` input (PR-21): prose for the reviewers, and directives that move severity at the merge.
//!
//! A directive is a line of its own, so that what moves severity can be read, tested and audited:
//!
//! ```text
//! never lower S*: cardholder data
//! raise E5 in src/billing/** to P0: billing path
//! lower T* to P3: spike
//! only S*: hotfix, everything else can wait
//! ```

use crate::findings::role::Role;
use crate::findings::scale::Priority;
use crate::ids::{CategoryCode, RepoPath};
use globset::{Glob, GlobMatcher};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Directive {
    pub effect: Effect,
    /// `S1`, or `S*` for a whole letter.
    pub category: String,
    /// `only` turns the category around.
    pub inverted: bool,
    pub path: Option<String>,
    pub reason: String,
    /// As it was written.
    pub line: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Effect {
    NeverLower,
    Raise(Priority),
    Lower(Priority),
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("context line `{line}`: {problem}")]
pub struct ContextError {
    pub line: String,
    pub problem: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Context {
    pub directives: Vec<Directive>,
    /// Everything that is not a directive.
    pub prose: String,
}

pub fn parse_context(text: &str) -> Result<Context, ContextError> {
    let mut context = Context::default();
    let mut prose = Vec::new();
    for line in text.lines() {
        match directive(line.trim())? {
            Some(directive) => context.directives.push(directive),
            None => prose.push(line),
        }
    }
    context.prose = prose.join("\n").trim().to_owned();
    Ok(context)
}

fn directive(line: &str) -> Result<Option<Directive>, ContextError> {
    let words: Vec<&str> = line.split(':').next().unwrap_or(line).split_whitespace().collect();
    let (verb, rest) = match words.as_slice() {
        ["never", "lower", rest @ ..] => ("never lower", rest),
        ["raise", rest @ ..] => ("raise", rest),
        ["lower", rest @ ..] => ("lower", rest),
        ["only", rest @ ..] => ("only", rest),
        _ => return Ok(None),
    };
    let fail = |problem: &str| ContextError { line: line.to_owned(), problem: problem.to_owned() };
    // Prose may begin with one of these words; a category behind it is what makes a directive. What has the whole shape of one
    // and only no category is a slip, and a slip in a line that protects something must be told.
    let Some(category) = rest.first().filter(|word| is_category_pattern(word)) else {
        return match has_shape(verb, rest, line) {
            true => Err(fail(&format!("`{}` is no category: write a code such as S1, S* for a whole letter, or *", rest[0]))),
            false => Ok(None),
        };
    };
    let reason = line.split_once(':').map(|(_, reason)| reason.trim().to_owned()).unwrap_or_default();
    if reason.is_empty() {
        return Err(fail("a directive must say why, after a colon"));
    }
    let (path, target) = match &rest[1..] {
        [] => (None, None),
        ["in", path] => (Some((*path).to_owned()), None),
        ["to", level] => (None, Some(*level)),
        ["in", path, "to", level] => (Some((*path).to_owned()), Some(*level)),
        _ => return Err(fail("expected `[in GLOB] [to P0…P3]` after the category")),
    };
    if let Some(glob) = &path {
        Glob::new(glob).map_err(|error| fail(&error.to_string()))?;
    }
    let level = |target: Option<&str>| match target {
        Some(text) => text.parse::<Priority>().map_err(|problem| fail(&problem)),
        None => Err(fail("say to which priority: `to P1`")),
    };
    let (effect, inverted) = match verb {
        "never lower" => (Effect::NeverLower, false),
        "raise" => (Effect::Raise(level(target)?), false),
        "lower" => (Effect::Lower(level(target)?), false),
        _ => (Effect::Lower(Priority::P3), true),
    };
    Ok(Some(Directive { effect, category: (*category).to_owned(), inverted, path, reason, line: line.to_owned() }))
}

/// `never lower x: why`, `raise x to P1: why`: nobody writes prose like that. `only x: why` somebody might.
fn has_shape(verb: &str, rest: &[&str], line: &str) -> bool {
    let says_why = line.split_once(':').is_some_and(|(_, reason)| !reason.trim().is_empty());
    let is_level = |word: &str| word.parse::<Priority>().is_ok();
    says_why
        && match (verb, rest) {
            ("never lower", [_] | [_, "in", _]) => true,
            ("raise" | "lower", [_, "to", level] | [_, "in", _, "to", level]) => is_level(level),
            _ => false,
        }
}

impl Context {
    /// A directive for a category that no role owns would do nothing, in silence.
    pub fn check(&self, roles: &[Role]) -> Result<(), ContextError> {
        let known = || roles.iter().flat_map(|role| &role.categories).map(|category| category.code.as_str());
        match self.directives.iter().find(|directive| !known().any(|code| directive.covers(code))) {
            None => Ok(()),
            Some(unknown) => Err(ContextError {
                line: unknown.line.clone(),
                problem: format!("no role owns `{}`; known are {}", unknown.category, known().collect::<Vec<_>>().join(", ")),
            }),
        }
    }
}

fn is_category_pattern(word: &str) -> bool {
    word == "*"
        || crate::findings::category::is_category_code(word)
        || word.strip_suffix('*').is_some_and(|letters| !letters.is_empty() && letters.chars().all(|c| c.is_ascii_uppercase()))
}

impl Directive {
    pub fn applies(&self, category: &CategoryCode, path: &RepoPath) -> bool {
        let category_fits = self.covers(category.as_str());
        let path_fits = self.path.as_deref().is_none_or(|glob| matcher(glob).is_some_and(|glob| glob.is_match(path.as_str())));
        path_fits && (category_fits != self.inverted)
    }

    fn covers(&self, code: &str) -> bool {
        match self.category.strip_suffix('*') {
            Some(letters) => code.starts_with(letters),
            None => code == self.category,
        }
    }
}

fn matcher(glob: &str) -> Option<GlobMatcher> {
    Glob::new(glob).ok().map(|glob| glob.compile_matcher())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// PR-21: prose goes to the reviewers, directives to the merge.
    #[test]
    fn directives_and_prose_are_told_apart() {
        let context = parse_context("This is a payment service.\nnever lower S*: cardholder data\nonly a hotfix, please\nraise E5 in src/pay/** to P0: money").unwrap();
        assert_eq!(context.prose, "This is a payment service.\nonly a hotfix, please");
        assert_eq!(context.directives.len(), 2);
        assert_eq!(context.directives[1].effect, Effect::Raise(Priority::P0));
        assert_eq!(context.directives[1].path.as_deref(), Some("src/pay/**"));
    }

    /// PR-21, PR-77: a typo in a directive is refused; it would have had no effect.
    #[test]
    fn a_directive_for_an_unknown_category_is_refused() {
        let roles = crate::findings::role::built_in_roles().unwrap();
        let check = |text: &str| parse_context(text).and_then(|context| context.check(&roles)).map_err(|error| error.to_string());
        for known in
            ["never lower S*: cards", "raise E5 to P0: money", "only *: all", "Never lower the bar: please", "raise hell: now"]
        {
            assert_eq!(check(known), Ok(()), "{known}");
        }
        for unknown in ["raise Q9 to P0: x", "never lower SS1: pci", "lower Z* to P3: x", "only X1: hotfix"] {
            assert!(check(unknown).unwrap_err().contains("known are S1, S2"), "{unknown}");
        }
        for slip in ["never lower s1: pci", "never lower secrets in src/**: pci", "raise logic to P0: x"] {
            assert!(check(slip).unwrap_err().contains("is no category"), "{slip}");
        }
    }

    #[test]
    fn a_directive_without_a_reason_is_refused() {
        assert!(parse_context("lower T* to P3").unwrap_err().to_string().contains("say why"));
        assert!(parse_context("raise S1: because").is_err());
    }
}
