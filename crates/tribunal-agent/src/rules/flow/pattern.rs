//! The patterns of flow rules: a dotted name, a call of one, a constructor, or an assignment.
//!
//! `request.args`, `os.system($ARG)`, `subprocess.run($ARG, shell=True)`, `*.execute($ARG)`, `$ARG.isdigit()`, `new File($ARG)`,
//! `*.innerHTML = $ARG`. Names are written with dots whatever the language puts between them. `*` stands for any part of a name,
//! `{a,b}` for either. Arguments that a pattern does not list are not looked at.

use globset::{Glob, GlobMatcher};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// What one pattern looks for.
#[derive(Debug, Clone)]
pub struct Pattern {
    pub shape: Shape,
    /// The last one is the name; a leading `*` stands for whatever comes before.
    names: Vec<Name>,
    any_receiver: bool,
    /// The receiver is the argument that matters.
    receiver: bool,
    arguments: Vec<Wanted>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    Name,
    Call,
    New,
    Assign,
}

#[derive(Debug, Clone)]
enum Name {
    Exact(String),
    Glob(GlobMatcher),
}

/// What a pattern says of one argument.
#[derive(Debug, Clone)]
struct Wanted {
    place: Label,
    what: What,
}

#[derive(Debug, Clone)]
enum Label {
    Position(usize),
    /// This one and all behind it.
    From(usize),
    Named(String),
}

#[derive(Debug, Clone)]
enum What {
    Anything,
    Argument,
    Text(GlobMatcher),
    /// No such argument stands there.
    Without(GlobMatcher),
}

/// An argument of a call in the code.
pub struct Argument<'a> {
    pub label: Option<&'a str>,
    pub text: Cow<'a, str>,
}

/// Where `$ARG` stands in a call that a pattern matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Matched {
    pub receiver: bool,
    pub arguments: Vec<usize>,
}

impl Pattern {
    /// Reads one pattern; `{a,b}` makes several of it.
    pub fn parse(text: &str) -> Result<Vec<Pattern>, String> {
        expand(text.trim()).iter().map(|text| Self::parse_one(text)).collect()
    }

    fn parse_one(text: &str) -> Result<Pattern, String> {
        let problem = |why: &str| format!("`{text}`: {why}");
        if let Some(target) = text.strip_suffix("= $ARG") {
            let (names, any_receiver, _) = parse_names(target.trim()).map_err(|why| problem(&why))?;
            return Ok(Self { shape: Shape::Assign, names, any_receiver, receiver: false, arguments: Vec::new() });
        }
        let (shape, rest) = match text.strip_prefix("new ") {
            Some(rest) => (Shape::New, rest.trim()),
            None => (Shape::Call, text),
        };
        let Some((path, arguments)) = rest.split_once('(') else {
            let (names, any_receiver, receiver) = parse_names(rest).map_err(|why| problem(&why))?;
            let shape = if shape == Shape::New { Shape::New } else { Shape::Name };
            return Ok(Self { shape, names, any_receiver, receiver, arguments: Vec::new() });
        };
        let arguments = arguments.strip_suffix(')').ok_or_else(|| problem("the call has no `)`"))?;
        let (names, any_receiver, receiver) = parse_names(path.trim()).map_err(|why| problem(&why))?;
        let arguments = parse_arguments(arguments).map_err(|why| problem(&why))?;
        if !receiver && !arguments.is_empty() && arguments.iter().all(|wanted| matches!(wanted.what, What::Anything)) {
            return Err(problem("no argument is `$ARG`"));
        }
        Ok(Self { shape, names, any_receiver, receiver, arguments })
    }

    /// The name to file the pattern under; nothing if it is not one name.
    pub fn last_name(&self) -> Option<&str> {
        match self.names.last()? {
            Name::Exact(name) => Some(name),
            Name::Glob(_) => None,
        }
    }

    /// Is the receiver what matters: `$ARG.strip()`?
    pub fn takes_receiver(&self) -> bool {
        self.receiver
    }

    /// Does a dotted name end with this pattern's? A single name must be the whole, and a `new` looks at the last name alone.
    pub fn matches_path(&self, path: &[&str]) -> bool {
        let names = &self.names;
        if path.len() < names.len() || (self.any_receiver || self.receiver) && path.len() == names.len() {
            return false;
        }
        let must_be_whole = names.len() == 1 && !self.any_receiver && !self.receiver && self.shape != Shape::New;
        if must_be_whole && path.len() > 1 {
            return false;
        }
        names.iter().rev().zip(path.iter().rev()).all(|(name, part)| name.matches(part.trim_end_matches("()")))
    }

    /// Where the arguments that matter are; nothing if the arguments do not fit. A pattern that lists none means all of them.
    pub fn match_arguments(&self, arguments: &[Argument<'_>]) -> Option<Matched> {
        if self.arguments.is_empty() {
            let all = if self.receiver { Vec::new() } else { (0..arguments.len()).collect() };
            return Some(Matched { receiver: self.receiver, arguments: all });
        }
        let mut matched = Vec::new();
        for wanted in &self.arguments {
            let places: Vec<usize> = match &wanted.place {
                Label::Position(position) => vec![*position],
                Label::From(position) => (*position..arguments.len()).collect(),
                Label::Named(name) => (0..arguments.len()).filter(|at| arguments[*at].label == Some(name)).collect(),
            };
            let is_position = matches!(wanted.place, Label::Position(_));
            let mut found = places.into_iter().filter(|at| match arguments.get(*at) {
                None => false,
                Some(argument) if is_position && argument.label.is_some() => false,
                Some(argument) => wanted.what.matches(&argument.text),
            });
            let first = match (found.next(), &wanted.what) {
                (Some(first), _) => first,
                (None, What::Without(_)) if !is_given(&wanted.place, arguments) => continue,
                (None, _) => return None,
            };
            if matches!(wanted.what, What::Argument) {
                matched.push(first);
                matched.extend(found);
            }
        }
        Some(Matched { receiver: self.receiver, arguments: matched })
    }
}

impl Name {
    fn new(text: &str) -> Result<Self, String> {
        match text.contains('*') {
            true => Glob::new(text).map(|glob| Self::Glob(glob.compile_matcher())).map_err(|error| error.to_string()),
            false => Ok(Self::Exact(text.to_owned())),
        }
    }

    fn matches(&self, part: &str) -> bool {
        match self {
            Name::Exact(name) => name == part,
            Name::Glob(glob) => glob.is_match(part),
        }
    }
}

impl What {
    fn matches(&self, text: &str) -> bool {
        match self {
            What::Anything | What::Argument => true,
            What::Text(glob) => glob.is_match(text.replace(['\'', '`'], "\"")),
            What::Without(glob) => !glob.is_match(text.replace(['\'', '`'], "\"")),
        }
    }
}

/// The names of a path, whether `*` and whether `$ARG` stands before them.
fn parse_names(path: &str) -> Result<(Vec<Name>, bool, bool), String> {
    if path.is_empty() || path.contains(char::is_whitespace) {
        return Err("a name is missing or holds a space".to_owned());
    }
    let (any, receiver, rest) = match (path.strip_prefix("*."), path.strip_prefix("$ARG.")) {
        (Some(rest), _) => (true, false, rest),
        (None, Some(rest)) => (false, true, rest),
        (None, None) => (false, false, path),
    };
    let names: Vec<Name> = rest.split('.').map(Name::new).collect::<Result<_, _>>()?;
    Ok((names, any, receiver))
}

fn parse_arguments(text: &str) -> Result<Vec<Wanted>, String> {
    let mut wanted = Vec::new();
    let items = text.split(',').map(str::trim).filter(|item| !item.is_empty() && *item != "...");
    for (position, item) in items.enumerate() {
        let (place, value) = match item.split_once('=') {
            Some((name, value)) if !name.starts_with('"') => (Label::Named(name.trim().to_owned()), value.trim()),
            _ if item == "$ARG..." => (Label::From(position), "$ARG"),
            _ => (Label::Position(position), item),
        };
        let what = match value {
            "_" => What::Anything,
            "$ARG" => What::Argument,
            text => match text.strip_prefix('!') {
                Some(text) => What::Without(compile_glob(text)?),
                None => What::Text(compile_glob(text)?),
            },
        };
        wanted.push(Wanted { place, what });
    }
    Ok(wanted)
}

fn compile_glob(text: &str) -> Result<GlobMatcher, String> {
    Glob::new(text).map(|glob| glob.compile_matcher()).map_err(|error| error.to_string())
}

fn is_given(place: &Label, arguments: &[Argument<'_>]) -> bool {
    match place {
        Label::Position(position) | Label::From(position) => *position < arguments.len(),
        Label::Named(name) => arguments.iter().any(|argument| argument.label == Some(name)),
    }
}

/// `{a,b}.c` becomes `a.c` and `b.c`.
fn expand(text: &str) -> Vec<String> {
    let Some((before, rest)) = text.split_once('{') else { return vec![text.to_owned()] };
    let Some((choices, after)) = rest.split_once('}') else { return vec![text.to_owned()] };
    choices.split(',').flat_map(|choice| expand(&format!("{before}{}{after}", choice.trim()))).collect()
}

/// Patterns by their last name, each with what it stands for.
#[derive(Debug)]
pub struct PatternIndex<T> {
    by_name: BTreeMap<String, Vec<(Pattern, T)>>,
    rest: Vec<(Pattern, T)>,
}

impl<T> Default for PatternIndex<T> {
    fn default() -> Self {
        Self { by_name: BTreeMap::new(), rest: Vec::new() }
    }
}

impl<T> PatternIndex<T> {
    pub fn insert(&mut self, pattern: Pattern, what: T) {
        match pattern.last_name() {
            Some(name) => self.by_name.entry(name.to_owned()).or_default().push((pattern, what)),
            None => self.rest.push((pattern, what)),
        }
    }

    pub fn named(&self, name: &str) -> impl Iterator<Item = &(Pattern, T)> {
        self.by_name.get(name).into_iter().flatten().chain(&self.rest)
    }

    /// Is there anything to look for under this name?
    pub fn has(&self, name: &str) -> bool {
        !self.rest.is_empty() || self.by_name.contains_key(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(text: &str) -> Pattern {
        Pattern::parse(text).unwrap().remove(0)
    }

    fn arguments<'a>(texts: &[&'a str]) -> Vec<Argument<'a>> {
        let argument = |text: &&'a str| match text.split_once('=') {
            Some((label, text)) => Argument { label: Some(label), text: text.into() },
            None => Argument { label: None, text: (*text).into() },
        };
        texts.iter().map(argument).collect()
    }

    #[test]
    fn a_name_is_the_end_of_a_path() {
        assert!(one("request.args").matches_path(&["request", "args"]));
        assert!(one("request.args").matches_path(&["flask", "request", "args"]));
        assert!(!one("request.args").matches_path(&["args"]));
        assert!(!one("eval($ARG)").matches_path(&["self", "eval"]));
        assert!(one("*.execute($ARG)").matches_path(&["db()", "execute"]));
        assert!(!one("*.execute($ARG)").matches_path(&["execute"]));
        assert!(one("{os,posix}.system($ARG)").matches_path(&["os", "system"]));
        assert!(one("*db*.run($ARG)").matches_path(&["my_db", "run"]));
    }

    #[test]
    fn the_argument_that_matters_is_found() {
        let found =
            |pattern: &str, texts: &[&str]| one(pattern).match_arguments(&arguments(texts)).map(|matched| matched.arguments);
        assert_eq!(found("run($ARG, shell=True)", &["cmd", "shell=True"]), Some(vec![0]));
        assert_eq!(found("run($ARG, shell=True)", &["cmd", "shell=False"]), None);
        assert_eq!(found("get(url=$ARG)", &["x", "url=y"]), Some(vec![1]));
        assert_eq!(found("f(_, $ARG...)", &["a", "b", "c"]), Some(vec![1, 2]));
        assert_eq!(found("exec(\"sh\", \"-c\", $ARG)", &["'sh'", "\"-c\"", "x"]), Some(vec![2]));
        assert_eq!(found("f()", &["a", "b"]), Some(vec![0, 1]));
        assert_eq!(found("f(_, $ARG)", &["a"]), None);
        assert_eq!(found("f($ARG, !*root*)", &["a"]), Some(vec![0]));
        assert_eq!(found("f($ARG, !*root*)", &["a", "{ x }"]), Some(vec![0]));
        assert_eq!(found("f($ARG, !*root*)", &["a", "{ root: b }"]), None);
        assert_eq!(found("getenv(\"HTTP_*\")", &["'HTTP_HOST'"]), Some(vec![]));
        assert!(one("$ARG.isdigit()").match_arguments(&[]).is_some_and(|matched| matched.receiver));
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for text in ["f(", "f(_)", "", "a b"] {
            assert!(Pattern::parse(text).is_err(), "{text}");
        }
    }
}
