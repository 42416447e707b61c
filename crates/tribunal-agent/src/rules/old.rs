//! Code that a change moved, indented anew or wrote around is not its fault: only what came new is.
//!
//! Text alone cannot tell: `err = decode(b)` holds all of `decode(b)`, and still the check of the error is gone. So the rules
//! read the file of before as well, and a finding is old if the same rule found the same in lines that the change took away.

use super::compile::RuleSet;
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use tribunal_core::diff::change::{ChangedFile, DiffLine, Origin};
use tribunal_core::findings::key::normalise_code;
use tribunal_core::findings::report::Claim;

/// A match of a syntax rule: what is said of it, and a hash of the matched code as [`normalise_code`] gives it.
pub struct Found {
    pub claim: Claim,
    pub construct: String,
    /// Where the matched code begins, which may be above the lines of the claim.
    pub first_line: u32,
}

impl Found {
    /// Whether the matched code begins above the lines of the claim, on a line that the change did not write.
    pub fn begins_before(&self) -> bool {
        self.claim.line_start.is_some_and(|start| self.first_line < start)
    }
}

/// Findings of before by what a finding of now must share with one of them to be old. Each of them answers once.
struct Answers<K> {
    open: BTreeMap<K, VecDeque<usize>>,
}

impl<K: Ord> Answers<K> {
    fn new(keys: impl Iterator<Item = (K, usize)>) -> Self {
        let mut open: BTreeMap<K, VecDeque<usize>> = BTreeMap::new();
        for (key, index) in keys {
            open.entry(key).or_default().push_back(index);
        }
        Self { open }
    }

    fn take(&mut self, key: &K) -> Option<usize> {
        self.open.get_mut(key)?.pop_front()
    }
}

/// What is found without what `before`, the findings in removed lines, answers for. Each of these answers once: a copy is new.
pub fn without_old(file: &ChangedFile, found: Vec<Found>, before: Vec<Found>) -> Vec<Found> {
    if before.is_empty() {
        return found;
    }
    let by_evidence = |found: &Found| (found.claim.rule.clone(), normalise_code(&found.claim.evidence));
    let mut answers = Answers::new(before.iter().map(by_evidence).zip(0..));
    let mut answered = vec![false; before.len()];
    let mut unmoved = Vec::new();
    for new in found {
        match answers.take(&by_evidence(&new)) {
            Some(index) => answered[index] = true,
            None => unmoved.push(new),
        }
    }
    let hunks = Hunks::new(file);
    let construct = |found: &Found, hunk: Option<usize>| (found.claim.rule.clone(), found.construct.clone(), hunk);
    let rest = (0..).zip(&before).filter(|(index, _)| !answered[*index]);
    let mut answers = Answers::new(rest.map(|(index, old)| (construct(old, hunks.of_removed(old.claim.line_start)), index)));
    unmoved.retain(|new| answers.take(&construct(new, hunks.of_added(new.claim.line_start))).is_none());
    unmoved
}

/// Those of `found` that are new although their code begins on a line of before: `standing` are the findings that began there already.
pub fn without_standing(file: &ChangedFile, found: Vec<Found>, standing: &[Found]) -> Vec<Found> {
    let place = |found: &Found, line: u32| (found.claim.rule.clone(), line);
    let known: BTreeSet<_> = standing.iter().map(|found| place(found, found.first_line)).collect();
    let is_known = |found: &Found| {
        found.begins_before() && old_number(file, found.first_line).is_none_or(|line| known.contains(&place(found, line)))
    };
    found.into_iter().filter(|found| !is_known(found)).collect()
}

/// The number in the old file of a line that the change left as it was.
pub fn old_number(file: &ChangedFile, number: u32) -> Option<u32> {
    let mut old = number;
    for line in file.lines() {
        match (line.new_line, line.old_line) {
            (Some(new), old_line) if new == number => return old_line,
            (Some(new), _) if new > number => break,
            (Some(_), None) => old = old.checked_sub(1)?,
            (None, Some(removed)) if removed <= old => old += 1,
            _ => {}
        }
    }
    Some(old)
}

/// Which hunk holds a line, by its number on either side.
struct Hunks {
    added: BTreeMap<u32, usize>,
    removed: BTreeMap<u32, usize>,
}

impl Hunks {
    fn new(file: &ChangedFile) -> Self {
        let mut hunks = Self { added: BTreeMap::new(), removed: BTreeMap::new() };
        for (index, hunk) in file.hunks.iter().enumerate() {
            for line in &hunk.lines {
                match (line.origin, line.new_line, line.old_line) {
                    (Origin::Added, Some(number), _) => drop(hunks.added.entry(number).or_insert(index)),
                    (Origin::Removed, _, Some(number)) => drop(hunks.removed.entry(number).or_insert(index)),
                    _ => {}
                }
            }
        }
        hunks
    }

    fn of_added(&self, line: Option<u32>) -> Option<usize> {
        self.added.get(&line?).copied()
    }

    fn of_removed(&self, line: Option<u32>) -> Option<usize> {
        self.removed.get(&line?).copied()
    }
}

/// The same for rules over single lines, which need no more than the line. Read where it is first asked for.
pub struct MovedLines<'a> {
    file: &'a ChangedFile,
    removed: OnceCell<BTreeMap<String, Vec<u32>>>,
    /// How many of the removed lines with the same text were looked at for a rule.
    taken: BTreeMap<(usize, String), usize>,
}

impl<'a> MovedLines<'a> {
    pub fn new(file: &'a ChangedFile) -> Self {
        Self { file, removed: OnceCell::new(), taken: BTreeMap::new() }
    }

    /// Did the change take this line away elsewhere, where the rule spoke of it? One removed line answers for one added one.
    pub fn take(&mut self, rule: usize, line: &str, was_found: impl Fn(u32) -> bool) -> bool {
        let removed = || {
            let mut removed: BTreeMap<String, Vec<u32>> = BTreeMap::new();
            for line in self.file.removed_lines() {
                removed.entry(normalise_code(&line.text)).or_default().extend(line.old_line);
            }
            removed
        };
        let removed = self.removed.get_or_init(removed);
        if removed.is_empty() {
            return false;
        }
        let line = normalise_code(line);
        let Some(numbers) = removed.get(&line) else { return false };
        let taken = self.taken.entry((rule, line)).or_default();
        let open = numbers.get(*taken..).unwrap_or_default();
        match open.iter().position(|number| was_found(*number)) {
            Some(at) => {
                *taken += at + 1;
                true
            }
            None => {
                *taken = numbers.len();
                false
            }
        }
    }
}

/// The claims without those in whose place their rule's `unless_removed` stood.
pub fn without_rewritten(rules: &RuleSet, file: &ChangedFile, claims: Vec<Claim>) -> Vec<Claim> {
    let pattern =
        |claim: &Claim| claim.rule.as_deref().and_then(|id| rules.get(id)).and_then(|rule| rule.unless_removed.as_ref());
    if !claims.iter().any(|claim| pattern(claim).is_some()) {
        return claims;
    }
    let blocks = Blocks::new(file);
    let is_rewritten =
        |claim: &Claim| pattern(claim).is_some_and(|pattern| blocks.removed_at(claim).any(|text| pattern.is_match(text)));
    claims.into_iter().filter(|claim| !is_rewritten(claim)).collect()
}

/// The blocks of a diff that hold no unchanged line: the new lines that each covers, and what it takes away.
struct Blocks {
    /// Ascending by their lines.
    blocks: Vec<Block>,
}

struct Block {
    first: u32,
    last: u32,
    removed: String,
}

impl Blocks {
    fn new(file: &ChangedFile) -> Self {
        let runs = file.hunks.iter().flat_map(|hunk| hunk.lines.split(|line| line.origin == Origin::Context));
        Self { blocks: runs.filter_map(block).collect() }
    }

    /// The removed lines next to a claim, with nothing unchanged between.
    fn removed_at(&self, claim: &Claim) -> impl Iterator<Item = &str> {
        let (start, end) = (claim.line_start.unwrap_or(0), claim.line_end.or(claim.line_start).unwrap_or(0));
        let from = self.blocks.partition_point(|block| block.last < start);
        self.blocks[from..].iter().take_while(move |block| block.first <= end).map(|block| block.removed.as_str())
    }
}

fn block(lines: &[DiffLine]) -> Option<Block> {
    let mut added = lines.iter().filter(|line| line.origin == Origin::Added).filter_map(|line| line.new_line);
    let first = added.next()?;
    let removed: Vec<&str> = lines.iter().filter(|line| line.origin == Origin::Removed).map(|line| line.text.as_str()).collect();
    Some(Block { first, last: added.next_back().unwrap_or(first), removed: removed.join("\n") })
}

#[cfg(test)]
mod tests {
    use crate::rules::compile::RuleSet;
    use crate::rules::load;
    use crate::rules::scan::scan;
    use tribunal_core::diff::parse::parse_diff;

    /// What is found where `old` becomes `new`, below an unchanged first line.
    fn found(path: &str, first: &str, old: &str, new: &str) -> usize {
        let lines = |mark: char, text: &str| text.lines().map(|line| format!("{mark}{line}\n")).collect::<String>();
        let (old_count, new_count) = (old.lines().count() + 1, new.lines().count() + 1);
        let head = format!("diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n@@ -1,{old_count} +1,{new_count} @@\n");
        let text = format!("{head} {first}\n{}{}", lines('-', old), lines('+', new));
        let mut change = parse_diff(text.as_bytes()).unwrap();
        change.files[0].new_text = Some(format!("{first}\n{new}\n").into());
        let rules = RuleSet::new(load::built_in().unwrap()).unwrap();
        scan(&rules, &change, |_| true).unwrap().claims.len()
    }

    /// Issue 3, point 5: what was there before is not this change's fault, however it is indented now.
    #[test]
    fn code_that_was_only_moved_is_left_alone() {
        let new = "if x:\n    requests.get(u, verify=False, timeout=9)";
        assert_eq!(found("a.py", "import requests", "requests.get(u, verify=False, timeout=9)", new), 0);
        assert_eq!(found("a.py", "import requests", "requests.get(\n    u, verify=False, timeout=9)", new), 0);
        assert_eq!(found("a.py", "import requests", "requests.get(u, timeout=9)", new), 1);
    }

    #[test]
    fn the_same_construct_in_a_new_line_is_not_new() {
        let call = "requests.get(u, verify=False, timeout=9)";
        assert_eq!(found("a.py", "import requests", &format!("return {call}"), &format!("answer = {call}\nreturn answer")), 0);
        assert_eq!(found("a.py", "import requests", &format!("# {call}"), &format!("answer = {call}")), 1);
    }

    #[test]
    fn one_removal_does_not_answer_for_a_copy() {
        let call = "requests.get(u, verify=False, timeout=9)";
        assert_eq!(found("a.py", "import requests", call, &format!("a = {call}\nb = {call}")), 1);
    }

    #[test]
    fn a_guard_that_goes_leaves_something_new() {
        let option = "  curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 0L);";
        let old = format!("  if (insecure) {{\n{option}\n  }}\n}}");
        assert_eq!(found("a.c", "void get(CURL *curl, int insecure) {", &old, &format!("{option}\n}}")), 1);
    }
}
