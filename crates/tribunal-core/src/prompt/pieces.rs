//! Unchanged code that decides whether a change is right: the whole of a changed function, who calls it, what it calls, the types it
//! uses, the tests that cover it. Whoever reads the repository proposes candidates; this module ranks them, fills a budget and says what
//! did not fit. A small change pays for small context, never for the repository.

use crate::call::usage::estimate_tokens;
use crate::ids::RepoPath;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// What a piece is to the changed symbol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PieceKind {
    /// The changed function or type itself, of which the diff shows a part.
    Definition,
    Caller,
    Callee,
    Type,
    Test,
}

impl PieceKind {
    /// What comes before what. The second caller of a function says less than the first callee.
    fn score(self, nth: u32) -> u32 {
        let (first, step) = match self {
            PieceKind::Definition => (0, 1),
            PieceKind::Caller => (10, 30),
            PieceKind::Callee => (20, 8),
            PieceKind::Type => (24, 8),
            PieceKind::Test => (26, 30),
        };
        first + step * nth.min(20)
    }
}

/// A line of a file: its number, from 1, and its text.
pub type Line = (u32, String);

/// A changed function or type: the file, its first line, its name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ChangedSymbol {
    pub path: RepoPath,
    pub start_line: u32,
    pub name: String,
}

/// Lines that may be worth showing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    pub kind: PieceKind,
    /// The changed symbol that it is about.
    pub of: ChangedSymbol,
    pub path: RepoPath,
    /// Ascending.
    pub lines: Vec<Line>,
    /// Fewer lines that still say the most, for when all of them take too much.
    pub short: Option<Vec<Line>>,
    /// How far away from the change it stands: 0 in the same file.
    pub distance: u32,
    pub reason: String,
}

/// A chosen piece, as the receipt states it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Piece {
    pub path: RepoPath,
    pub start_line: u32,
    pub end_line: u32,
    pub kind: PieceKind,
    pub reason: String,
    /// Lines between the first and the last are left out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_shortened: bool,
}

/// Lines of one file as they stand in a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excerpt {
    pub path: RepoPath,
    /// Why they are shown.
    pub reasons: Vec<String>,
    pub text: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Chosen {
    pub excerpts: Vec<Excerpt>,
    pub pieces: Vec<Piece>,
    /// Candidates that there was no room for.
    pub left_out: BTreeMap<PieceKind, u32>,
    pub tokens: u64,
}

/// Tokens of context that even a one-line change may have.
const LEAST: u64 = 2_000;
/// A change of a few lines in a large file gets no more than this.
const MOST_FOR_A_SMALL_CHANGE: u64 = 8_000;

/// A piece of this size is always shown whole, where it fits.
const FAIR_SHARE: u64 = 100;

/// How many tokens of context go with a part of a change. `diff` is what is shown of it, `whole` what its files hold, `limit` what a
/// question may hold. Diff and context together stay below two fifths of the whole files, as far as the diff itself does.
pub fn budget(diff: u64, whole: u64, limit: u64) -> u64 {
    let share = (whole * 2 / 5).saturating_sub(diff).max(LEAST);
    share.min(MOST_FOR_A_SMALL_CHANGE.max(3 * diff)).min(limit / 3)
}

/// How far apart two files are: 0 for the same one, 1 in the same folder, and 1 more for each folder between.
pub fn distance(one: &RepoPath, other: &RepoPath) -> u32 {
    if one == other {
        return 0;
    }
    let folders = |path: &RepoPath| path.as_str().split('/').map(str::to_owned).collect::<Vec<_>>();
    let (mut one, mut other) = (folders(one), folders(other));
    one.pop();
    other.pop();
    let common = one.iter().zip(&other).take_while(|(a, b)| a == b).count();
    1 + (one.len() + other.len() - 2 * common) as u32
}

/// Chooses pieces within `budget` tokens. Lines that the diff shows (`shown`) or an earlier piece holds cost nothing and are not repeated.
pub fn choose(candidates: &[Candidate], shown: &BTreeMap<RepoPath, BTreeSet<u32>>, budget: u64) -> Chosen {
    let mut given: BTreeMap<RepoPath, BTreeMap<u32, String>> = BTreeMap::new();
    let mut reasons: BTreeMap<RepoPath, Vec<String>> = BTreeMap::new();
    let mut chosen = Chosen::default();
    let symbols = candidates.iter().map(|candidate| &candidate.of).collect::<BTreeSet<_>>().len() as u64;
    for candidate in ranked(candidates) {
        let left = budget - chosen.tokens;
        let is_fresh = |number: &u32| {
            !shown.get(&candidate.path).is_some_and(|shown| shown.contains(number))
                && !given.get(&candidate.path).is_some_and(|given| given.contains_key(number))
        };
        let fresh = |lines: &[Line]| lines.iter().filter(|(number, _)| is_fresh(number)).cloned().collect::<Vec<Line>>();
        let whole = fresh(&candidate.lines);
        if !says_something(&whole) {
            continue;
        }
        let fits = |lines: &[Line], room: u64| cost(lines) <= room;
        // Long definitions must leave room for the callers, which come after them.
        let left = match candidate.kind {
            PieceKind::Definition => left.saturating_sub(budget / 3),
            PieceKind::Caller | PieceKind::Callee | PieceKind::Type | PieceKind::Test => left,
        };
        let short = candidate.short.as_deref().map(fresh);
        let is_large = cost(&whole) > fair_share(candidate.kind, budget, symbols);
        let (lines, is_shortened) = match short {
            _ if !is_large && fits(&whole, left) => (whole, false),
            Some(short) if fits(&short, left) => (short, true),
            None if fits(&whole, left) => (whole, false),
            Some(_) | None => {
                *chosen.left_out.entry(candidate.kind).or_insert(0) += 1;
                continue;
            }
        };
        let all = if is_shortened { candidate.short.as_deref().unwrap_or_default() } else { &candidate.lines };
        let (Some((first, _)), Some((last, _))) = (all.first(), all.last()) else { continue };
        chosen.tokens += cost(&lines);
        chosen.pieces.push(Piece {
            path: candidate.path.clone(),
            start_line: *first,
            end_line: *last,
            kind: candidate.kind,
            reason: candidate.reason.clone(),
            is_shortened,
        });
        given.entry(candidate.path.clone()).or_default().extend(lines);
        let of_file = reasons.entry(candidate.path.clone()).or_default();
        if !of_file.contains(&candidate.reason) {
            of_file.push(candidate.reason.clone());
        }
    }
    chosen.excerpts = given
        .into_iter()
        .map(|(path, lines)| Excerpt { text: listing(&lines), reasons: reasons.remove(&path).unwrap_or_default(), path })
        .collect();
    chosen
}

/// What a piece may take before its short form is preferred: one large piece must not keep out all others, and of many changed symbols
/// the last one should get its caller too.
fn fair_share(kind: PieceKind, budget: u64, symbols: u64) -> u64 {
    match kind {
        PieceKind::Definition => budget / 2,
        PieceKind::Caller | PieceKind::Callee | PieceKind::Type | PieceKind::Test => (budget / (symbols + 1)).max(FAIR_SHARE),
    }
}

/// Best first. Among those of one kind for one symbol the nearest counts most, then the shortest.
fn ranked(candidates: &[Candidate]) -> Vec<&Candidate> {
    let place = |candidate: &Candidate| {
        let first = candidate.lines.first().map_or(0, |(number, _)| *number);
        (cost(&candidate.lines), candidate.path.clone(), first)
    };
    let mut groups: BTreeMap<(&ChangedSymbol, PieceKind), Vec<&Candidate>> = BTreeMap::new();
    for candidate in candidates {
        groups.entry((&candidate.of, candidate.kind)).or_default().push(candidate);
    }
    let mut ranked = Vec::new();
    for ((_, kind), mut group) in groups {
        group.sort_by_cached_key(|candidate| (candidate.distance, place(candidate)));
        ranked.extend((0..).zip(group).map(|(nth, candidate)| (kind.score(nth) + candidate.distance.min(5), candidate)));
    }
    ranked.sort_by_cached_key(|(score, candidate)| (*score, place(candidate), candidate.kind, candidate.of.clone()));
    ranked.into_iter().map(|(_, candidate)| candidate).collect()
}

/// Brackets and blank lines alone are no piece.
fn says_something(lines: &[Line]) -> bool {
    lines.iter().any(|(_, text)| text.chars().any(char::is_alphanumeric))
}

/// The text and the number in front of it.
fn cost(lines: &[Line]) -> u64 {
    lines.iter().map(|(_, text)| estimate_tokens(text) + 3).sum()
}

fn listing(lines: &BTreeMap<u32, String>) -> String {
    let mut out = String::new();
    let mut last = None;
    for (number, line) in lines {
        if last.is_some_and(|last| *number > last + 1) {
            out.push_str("       …\n");
        }
        out.push_str(&format!(" {number:>6} {}\n", super::shown(line)));
        last = Some(*number);
    }
    out
}

#[cfg(test)]
mod tests;
