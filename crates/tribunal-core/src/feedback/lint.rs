//! What linters found, read from their SARIF files, as items that can be answered like a failing check: a commit answers them.
//!
//! A file speaks of the tree as it was when it was written, and it may lie there long after: our own fixes move and change the lines
//! that it names. So each of our commits says which files it knew; the lines of a file are read before the first commit that knew it,
//! and looked for again at the head. What is no longer there was dealt with. A linter speaks of the whole tree and a pull request of its change, so only
//! results on lines that the change wrote are items.

mod replace;

use super::item::{Item, ItemId, Label, Surface, Voice};
use crate::diff::change::Change;
use crate::findings::about::About;
use crate::findings::anchor::fold;
use crate::findings::category::slugify;
use crate::findings::key::sha256_hex;
use crate::findings::scale::Priority;
use crate::ids::{RepoPath, Sha};
use crate::pull::facts::{Account, AccountKind};
pub use replace::{Replace, Spot, whole_lines};
use std::collections::{BTreeMap, BTreeSet};

/// A file of results, as it was read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LintFile {
    /// As it was named.
    pub name: String,
    /// Of its bytes and of when they were written: a linter that says the same again says it of a later tree.
    pub version: String,
    pub results: Vec<LintResult>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LintResult {
    pub tool: String,
    pub rule: String,
    /// As the file has it: relative to the repository, or absolute on the machine where the tool ran.
    pub path: String,
    /// First and last.
    pub lines: Option<(u32, u32)>,
    pub priority: Priority,
    pub message: String,
    /// What the tool saw there, if it says so.
    pub snippet: Option<String>,
    /// What shall be put in place of what, all in the same file.
    pub fix: Vec<Replace>,
}

/// A commit of the branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Past {
    pub sha: Sha,
    pub parent: Option<Sha>,
    /// It has more than one parent.
    pub is_merge: bool,
    pub message: String,
}

impl Past {
    fn knew(&self, version: &str) -> bool {
        self.message.lines().any(|line| line.strip_prefix(KNEW).is_some_and(|known| known.trim() == version))
    }

    fn answers(&self) -> impl Iterator<Item = &str> {
        self.message.lines().filter_map(|line| line.strip_prefix("Tribunal-Item: "))
    }
}

const KNEW: &str = "Tribunal-Lint: ";

/// The message of a commit, with the files that were known when it was made.
pub fn knowing<'a>(message: &str, versions: impl IntoIterator<Item = &'a str>) -> String {
    let lines: String = versions.into_iter().map(|version| format!("{KNEW}{version}\n")).collect();
    format!("{message}{lines}")
}

/// What became of the results of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Linted {
    pub items: Vec<Item>,
    /// Of code that this change did not write.
    pub elsewhere: usize,
    /// Of code that is not there any more, or that a commit of ours answered.
    pub over: usize,
    /// More than anybody works on.
    pub too_many: usize,
}

/// Items of one file.
const MOST: usize = 200;

/// Our commits that knew a file, and the commit before them.
pub struct Since<'a> {
    pub before: Option<&'a Sha>,
    ours: Vec<&'a Past>,
}

/// `history` is the branch from its head down to its base.
pub fn since<'a>(history: &'a [Past], version: &str) -> Since<'a> {
    let ours: Vec<&Past> = history.iter().filter(|commit| commit.knew(version)).collect();
    Since { before: ours.last().and_then(|oldest| oldest.parent.as_ref()), ours }
}

/// The items of a file. `then` and `now` give the text of a file where the results were written and at the head.
pub fn items(
    file: &LintFile,
    since: &Since<'_>,
    change: &Change,
    then: &dyn Fn(&RepoPath) -> Option<String>,
    now: &dyn Fn(&RepoPath) -> Option<String>,
) -> Linted {
    let answered: BTreeSet<&str> = since.ours.iter().flat_map(|commit| commit.answers()).collect();
    let mut linted = Linted::default();
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    for result in &file.results {
        let Some(path) = path_in(change, &result.path) else {
            linted.elsewhere += 1;
            continue;
        };
        let (before, text) = (then(&path), now(&path));
        let place = match (result.lines, &before, &text) {
            (None, ..) => Ok(None),
            (Some(lines), Some(before), Some(text)) => place(result, lines, before, text).map(Some).ok_or(()),
            (Some(_), ..) => Err(()),
        };
        let Ok(place) = place else {
            linted.over += 1;
            continue;
        };
        let item = item(result, &path, place.as_ref(), &mut known);
        let touches =
            |place: &Place<'_>| change.file(&path).is_some_and(|file| file.added_numbers().touches(place.line, place.last));
        if answered.contains(item.id.0.as_str()) {
            linted.over += 1;
        } else if place.as_ref().is_some_and(|place| !touches(place)) {
            linted.elsewhere += 1;
        } else if linted.items.len() == MOST {
            linted.too_many += 1;
        } else {
            linted.items.push(item);
        }
    }
    linted
}

/// The file of the change that is meant. On another machine the repository lay somewhere else, so the end of an absolute path counts.
fn path_in(change: &Change, named: &str) -> Option<RepoPath> {
    let parts: Vec<&str> = named.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    if parts.contains(&"..") {
        return None;
    }
    let endings = if named.starts_with('/') { parts.len() } else { parts.len().min(1) };
    (0..endings).map(|from| RepoPath::from(parts[from..].join("/").as_str())).find(|path| change.file(path).is_some())
}

/// Where a result stands at the head.
struct Place<'a> {
    /// What the first of its lines says.
    code: &'a str,
    line: u32,
    last: u32,
    suggestion: Option<String>,
}

/// A result is known by its first line, where tools point to.
fn place<'a>(result: &LintResult, (first, last): (u32, u32), before: &'a str, text: &str) -> Option<Place<'a>> {
    let then: Vec<&str> = before.lines().collect();
    let code = then.get((first as usize).checked_sub(1)?)?.trim_end();
    if let Some(snippet) = &result.snippet {
        let seen = then[first as usize - 1..(last as usize).clamp(first as usize, then.len())].join("\n");
        if !fold(&seen).contains(&fold(snippet)) {
            return None;
        }
    }
    let lines = text.lines().zip(1_u32..).filter(|(line, _)| line.trim_end() == code).map(|(_, number)| number);
    let line = lines.min_by_key(|number| number.abs_diff(first))?;
    let suggestion = replace::suggestion(&result.fix, first, line, before, text);
    Some(Place { code, line, last: line + last.saturating_sub(first), suggestion })
}

fn item(result: &LintResult, path: &RepoPath, place: Option<&Place<'_>>, known: &mut BTreeMap<String, usize>) -> Item {
    let code = place.map_or("", |place| place.code);
    let (tool, rule) = (word(&result.tool), word(&result.rule));
    let same = format!("lint:{tool}/{rule}:{path}:{}", &sha256_hex(fold(code).as_bytes())[..8]);
    let times = known.entry(same.clone()).or_default();
    *times += 1;
    let id = if *times == 1 { same } else { format!("{same}#{times}") };
    let last_word = sha256_hex(format!("{rule}\n{}\n{}", fold(code), fold(&result.message)).as_bytes())[..12].to_owned();
    let name = format!("{tool}/{rule}");
    let mut body = format!("{tool} {rule}: {}", result.message.trim());
    if let Some(suggestion) = place.and_then(|place| place.suggestion.as_ref()) {
        body = format!("{body}\n\n{suggestion}");
    }
    Item {
        id: ItemId(id),
        surface: Surface::Check { name },
        author: Account { id: format!("lint:{tool}"), login: tool, kind: AccountKind::Bot },
        voice: Voice::Check,
        body,
        url: String::new(),
        path: Some(path.clone()),
        line: place.map(|place| place.line),
        start_line: None,
        priority: Some(result.priority),
        finding: None,
        last_word,
        label: Label::Actionable,
        answered: None,
        about: About { slug: Some(slugify(&rule)).filter(|slug| !slug.is_empty()), ..About::default() },
        resolved: false,
        can_resolve: false,
        one_voice: true,
    }
}

/// A name that can stand in an id, a commit's message and a table.
fn word(text: &str) -> String {
    let kept: String =
        text.trim().chars().map(|c| if c.is_alphanumeric() || "-_./@:+".contains(c) { c } else { '-' }).take(MAX_WORD).collect();
    if kept.is_empty() { "unnamed".to_owned() } else { kept }
}

const MAX_WORD: usize = 80;

#[cfg(test)]
mod tests;
