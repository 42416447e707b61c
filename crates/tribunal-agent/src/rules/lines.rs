//! Rules over single added lines: regular expressions with an entropy floor, for secrets and other things without a grammar. A rule may
//! also ask for what stands around the line.

pub mod surroundings;

use self::surroundings::{Conditions, Surroundings};
use super::comments::{CommentSyntax, outside};
use super::file::{LineRule, RuleFile};
use regex::{Captures, Regex, RegexSet};
use std::borrow::Cow;
use std::cell::OnceCell;
use std::ops::Range;
use std::sync::OnceLock;
use tribunal_core::findings::report::FixKind;

/// Expressions are compiled when the first line with a keyword turns up: most changes hold none of them.
pub struct LineMatcher {
    rule: LineRule,
    compiled: OnceLock<Result<Compiled, String>>,
    keywords: Vec<String>,
    /// What is put in place of the matched text; `$1` and `${name}` are groups of the expression.
    fix: Option<(String, FixKind)>,
}

struct Compiled {
    any: Vec<Regex>,
    unless: RegexSet,
    unless_value: RegexSet,
    question: RegexSet,
    conditions: Conditions,
}

/// A line that a rule speaks about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    /// It may be meant: the rule asks instead of telling.
    pub asks: bool,
    /// What to quote: the line, or the part of a long one that holds the match.
    pub quote: String,
    /// What stands where in place of the match, in a line that is not long.
    pub replacement: Option<(Range<usize>, String)>,
}

/// A longer line is read in parts of this size, each of which overlaps the next: an expression costs more than its line is long,
/// and nothing may hide behind the length of a line.
pub const PART_BYTES: usize = 4096;
const OVERLAP_BYTES: usize = 1024;
/// What is quoted of a long line on each side of a match.
const QUOTE_MARGIN: usize = 80;

/// A line as the rules read it. Made once for all rules.
pub struct ReadLine<'a> {
    text: &'a str,
    parts: Vec<(&'a str, String)>,
    syntax: CommentSyntax,
    comments: OnceCell<Vec<Range<usize>>>,
}

impl<'a> ReadLine<'a> {
    pub fn new(line: &'a str, syntax: CommentSyntax) -> Self {
        let parts = parts(line).map(|part| (part, part.to_ascii_lowercase())).collect();
        Self { text: line, parts, syntax, comments: OnceCell::new() }
    }

    /// What decides about a match in a part: the code beside it, and of a match in a comment all that is there.
    fn beside(&self, part: &'a str, found: &Range<usize>) -> Cow<'a, str> {
        let comments = self.comments.get_or_init(|| self.syntax.ranges(self.text));
        let start = part.as_ptr() as usize - self.text.as_ptr() as usize;
        if comments.is_empty() || comments.iter().any(|comment| comment.contains(&(start + found.start))) {
            return Cow::Borrowed(part);
        }
        let in_part = |comment: &Range<usize>| {
            let range = comment.start.saturating_sub(start)..comment.end.saturating_sub(start).min(part.len());
            (range.start < range.end).then_some(range)
        };
        Cow::Owned(outside(part, &comments.iter().filter_map(in_part).collect::<Vec<_>>()))
    }
}

/// The line, or overlapping parts of a long one.
pub fn parts(line: &str) -> impl Iterator<Item = &str> {
    let mut start = Some(0);
    std::iter::from_fn(move || {
        let from = start?;
        let end = boundary(line, from + PART_BYTES);
        start = (end < line.len()).then(|| boundary(line, end - OVERLAP_BYTES));
        Some(&line[from..end])
    })
}

/// The nearest place at or before `at` where a character begins.
pub fn boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// The part of a long line to quote: a match and a little around it.
pub fn quote(part: &str, found: Range<usize>) -> String {
    let end = found.end.min(found.start + 2 * QUOTE_MARGIN);
    let range = boundary(part, found.start.saturating_sub(QUOTE_MARGIN))..boundary(part, end + QUOTE_MARGIN);
    part[range].to_owned()
}

impl LineMatcher {
    pub fn new(rule: &LineRule, file: &RuleFile) -> Self {
        let keywords = rule.keywords.iter().map(|word| word.to_ascii_lowercase()).collect();
        let fix = match (&file.fix, &file.offer) {
            (Some(text), _) => Some((text.clone(), FixKind::Safe)),
            (None, Some(text)) => Some((text.clone(), FixKind::Offered)),
            (None, None) => None,
        };
        Self { rule: rule.clone(), compiled: OnceLock::new(), keywords, fix }
    }

    pub fn fix_kind(&self) -> FixKind {
        self.fix.as_ref().map(|(_, kind)| *kind).unwrap_or_default()
    }

    /// Whether every expression of the rule can be read.
    pub fn check(&self) -> Result<(), String> {
        self.compiled().as_ref().map(|_| ()).map_err(Clone::clone)
    }

    fn compiled(&self) -> &Result<Compiled, String> {
        self.compiled.get_or_init(|| {
            let any = self.rule.any.iter().map(|text| Regex::new(text)).collect::<Result<_, _>>();
            Ok(Compiled {
                any: any.map_err(|error: regex::Error| error.to_string())?,
                unless: RegexSet::new(&self.rule.unless).map_err(|error| error.to_string())?,
                unless_value: RegexSet::new(&self.rule.unless_value).map_err(|error| error.to_string())?,
                question: RegexSet::new(&self.rule.question).map_err(|error| error.to_string())?,
                conditions: Conditions::new(&self.rule).map_err(|error| error.to_string())?,
            })
        })
    }

    /// Whether one line of a file is enough.
    pub fn is_said_once(&self) -> bool {
        self.rule.once
    }

    pub fn find(&self, line: &ReadLine<'_>) -> Option<Hit> {
        let is_long = line.parts.len() > 1;
        line.parts.iter().find_map(|(part, lower)| self.find_in(line, part, lower, is_long))
    }

    /// Whether the same line means something else in another place of the file.
    pub fn asks_about_place(&self) -> bool {
        let rule = &self.rule;
        [&rule.inside, &rule.not_inside, &rule.beside, &rule.not_beside].iter().any(|patterns| !patterns.is_empty())
    }

    /// Whether what stands around the line fits too. Where the file is not known as a whole, a rule that asks for it is silent.
    pub fn fits(&self, around: Option<&Surroundings<'_>>, number: u32) -> bool {
        let Ok(compiled) = self.compiled() else { return false };
        let holds = |around: &Surroundings<'_>| compiled.conditions.hold(around, (number as usize).saturating_sub(1));
        compiled.conditions.is_empty() || around.is_some_and(holds)
    }

    fn find_in<'a>(&self, line: &ReadLine<'a>, part: &'a str, lower: &str, is_long: bool) -> Option<Hit> {
        if !self.keywords.is_empty() && !self.keywords.iter().any(|word| lower.contains(word)) {
            return None;
        }
        // A rule that cannot be read was refused when it was loaded.
        let compiled = self.compiled().as_ref().ok()?;
        let found = compiled.any.iter().find_map(|regex| {
            regex.captures_iter(part).find_map(|captures| {
                let hit = captures.name("secret").or_else(|| captures.get(0))?;
                let is_random = self.rule.entropy.is_none_or(|floor| entropy(hit.as_str()) >= floor);
                let is_hit = is_random && !compiled.unless_value.is_match(hit.as_str());
                is_hit.then(|| (hit.range(), self.replacement(&captures).filter(|_| !is_long)))
            })
        });
        let (found, replacement) = found?;
        let beside = line.beside(part, &found);
        if compiled.unless.is_match(&beside) {
            return None;
        }
        let quote = if is_long { quote(part, found) } else { part.to_owned() };
        Some(Hit { asks: compiled.question.is_match(&beside), quote, replacement })
    }

    fn replacement(&self, captures: &Captures<'_>) -> Option<(Range<usize>, String)> {
        let (template, _) = self.fix.as_ref()?;
        let mut text = String::new();
        captures.expand(template, &mut text);
        Some((captures.get(0)?.range(), text))
    }
}

/// Shannon entropy in bits per character: random keys have more of it than words.
pub fn entropy(text: &str) -> f64 {
    let mut counts = std::collections::BTreeMap::new();
    let mut total = 0_u32;
    for c in text.chars() {
        *counts.entry(c).or_insert(0_u32) += 1;
        total += 1;
    }
    counts
        .values()
        .map(|&count| {
            let share = f64::from(count) / f64::from(total);
            -share * share.log2()
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> ReadLine<'_> {
        ReadLine::new(line, CommentSyntax::of(&"a.py".into(), None))
    }

    fn matcher() -> LineMatcher {
        matcher_with("")
    }

    fn matcher_with(fix: &str) -> LineMatcher {
        let text = format!(
            "id: a\ncategory: E1\nseverity: question\nconfidence: high\nblast: local\njustification: reachable\ntitle: t\n\
             failure_mode: f\nmitigation: m\nabout: a\nlines: {{ any: ['key = ([a-z])\\d'], unless: [env], unless_value: [a9], question: [default] }}\n\
             examples: {{ bad: [key = a1], good: [key] }}\n{fix}"
        );
        let file = crate::rules::load::parse("a.yml", &text).unwrap().file;
        LineMatcher::new(file.lines.as_ref().unwrap(), &file)
    }

    /// A rule over lines replaces what it matched, with the groups of its expression.
    #[test]
    fn a_match_may_be_replaced() {
        let fixed = |fix: &str, line: &str| matcher_with(fix).find(&read(line)).unwrap().replacement;
        assert_eq!(fixed("fix: env(${1})", "x key = a1;"), Some((2..10, "env(a)".to_owned())));
        assert_eq!(fixed("", "key = a1"), None);
        assert_eq!(matcher_with("offer: x").fix_kind(), FixKind::Offered);
    }

    #[test]
    fn a_line_that_may_be_meant_is_asked_about() {
        let asks = |line: &str| matcher().find(&read(line)).map(|hit| hit.asks);
        assert_eq!(asks("key = a1"), Some(false));
        assert_eq!(asks("default key = a1"), Some(true));
        assert_eq!(asks("key = a1 env"), None);
        // A comment says nothing of the code beside it, and decides where all of it is one.
        assert_eq!(asks("key = a1  # env, default"), Some(false));
        assert_eq!(asks("# key = a1 env"), None);
    }

    /// Issue 18: a placeholder is known by the value. Words beside it, and another value before it, silence nothing.
    #[test]
    fn a_value_is_judged_alone() {
        let finds = |line: &str| matcher().find(&read(line)).is_some();
        assert!(!finds("key = a9"));
        assert!(finds("key = a1 # not a9"));
        assert!(finds("key = a9 key = a1"));
    }

    /// Issue 16, point 18: nothing hides behind the length of a line, wherever in it it stands.
    #[test]
    fn a_long_line_is_read_to_its_end() {
        for before in [0, 3000, 4090, 4096, 5000, 50_000] {
            let line = format!("{}key = a1{}", "ü".repeat(before / 2), "x".repeat(20_000));
            let hit = matcher().find(&read(&line)).unwrap();
            assert!(hit.quote.contains("key = a1") && hit.quote.len() < 400, "{before}: {}", hit.quote.len());
        }
    }

    #[test]
    fn random_text_has_more_entropy_than_words() {
        assert!(entropy("aaaaaaaaaaaa") < 0.1);
        assert!(entropy("changeme-changeme") < 3.2);
        assert!(entropy("9fK2pQ7xZ1mV8bT4cR6w") > 4.0);
    }
}
