//! Checks that need the whole diff and not one line or one tree: each is named by a rule file, which says how its finding reads.
//!
//! A check decides only *where*; severity, words and paths stay in the rule file, so that a repository can override them without
//! code. Every check reads the diff a fixed number of times, whatever it holds: a change of a hundred thousand lines must not
//! wait for them.

mod assertions;
mod ci_permissions;
mod ci_script_injection;
mod ci_untrusted_checkout;
mod conflict_markers;
mod dependency_source;
mod go_local_replace;
mod hidden_unicode;
mod manifest;
mod missing_tests;
mod npm_install_script;
mod package_json;
pub mod pattern;
mod private_key;
mod test_declarations;
mod tests_deleted;
mod tests_weakened;
pub mod workflow;

use super::clock::{Clock, Steps};
use super::compile::Rule;
use super::lines::{PART_BYTES, boundary};
use super::scan::claim;
use super::visible::VisibleChange;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::Arc;
use tribunal_core::diff::change::{ChangedFile, DiffLine, FileContent, FileStatus};
use tribunal_core::findings::report::Claim;
use tribunal_core::ids::RepoPath;

/// What a check sees: its rule, and the change.
pub type CheckFn = fn(&Scope<'_>) -> Vec<Claim>;

#[derive(Clone, Copy)]
pub struct Check(CheckFn);

/// A rule at work on a change.
pub struct Scope<'a> {
    rule: &'a Arc<Rule>,
    change: &'a VisibleChange<'a>,
    clock: Clock,
    /// Files at which a check had no time left.
    unread: RefCell<BTreeSet<RepoPath>>,
}

impl Check {
    /// What the check says, and the files that it did not get to before the time for all rules was over.
    pub fn run(self, rule: &Arc<Rule>, change: &VisibleChange<'_>, clock: Clock) -> (Vec<Claim>, BTreeSet<RepoPath>) {
        let scope = Scope { rule, change, clock, unread: RefCell::default() };
        let claims = (self.0)(&scope);
        (claims, scope.unread.into_inner())
    }
}

impl<'a> Scope<'a> {
    /// Text files that exist after the change and that the rule may speak about. A check may still read the others.
    fn files(&self) -> impl Iterator<Item = &'a ChangedFile> + '_ {
        self.files_and_deleted().filter(|file| file.status != FileStatus::Deleted)
    }

    /// The same, and those that the change deletes: what is gone is the whole point of some checks.
    fn files_and_deleted(&self) -> impl Iterator<Item = &'a ChangedFile> + '_ {
        let wanted = self
            .change
            .files()
            .filter(|file| file.content == FileContent::Text && self.rule.looks_at(&file.path, file.is_test()));
        wanted.filter(|file| {
            let has_time = !self.clock.is_over();
            if !has_time {
                self.unread.borrow_mut().insert(file.path.clone());
            }
            has_time
        })
    }

    /// The lines that the change added to a file, as far as there is time.
    fn added_lines<'f>(&self, file: &'f ChangedFile) -> impl Iterator<Item = &'f DiffLine> {
        self.in_time(file, file.added_lines())
    }

    /// What is to be looked at in a file, until the time is over: then the file is named as not reviewed.
    fn in_time<T>(&self, file: &ChangedFile, all: impl Iterator<Item = T>) -> impl Iterator<Item = T> {
        let steps = Steps::new(self.clock);
        let path = file.path.clone();
        all.take_while(move |_| {
            let is_over = steps.is_over();
            if is_over {
                self.unread.borrow_mut().insert(path.clone());
            }
            !is_over
        })
    }

    /// The claim about one line of the diff: by its old number if the change removed it.
    fn claim(&self, file: &ChangedFile, line: &DiffLine) -> Claim {
        self.claim_of_part(file, line, &line.text)
    }

    /// The claim about a part of a line. Of an endless line only the beginning is quoted.
    fn claim_of_part(&self, file: &ChangedFile, line: &DiffLine, part: &str) -> Claim {
        let number = line.new_line.or(line.old_line).unwrap_or(1);
        let end = if part.len() > PART_BYTES { boundary(part, MAX_QUOTE_BYTES) } else { part.len() };
        claim(self.rule, &file.path, number, number, part[..end].to_owned())
    }
}

/// What is quoted of an endless line.
const MAX_QUOTE_BYTES: usize = 200;

/// The file after the change, line by line, where all of it is known.
fn whole_text(file: &ChangedFile) -> Option<Vec<&str>> {
    match &file.new_text {
        Some(text) => Some(text.lines().collect()),
        None if file.status == FileStatus::Added => Some(file.added_lines().map(|line| line.text.as_str()).collect()),
        None => None,
    }
}

pub fn by_name(name: &str) -> Option<Check> {
    Some(Check(match name {
        "ci-permissions" => ci_permissions::check,
        "ci-script-injection" => ci_script_injection::check,
        "ci-untrusted-checkout" => ci_untrusted_checkout::check,
        "conflict-markers" => conflict_markers::check,
        "deleted-test" => tests_deleted::check,
        "dependency-source" => dependency_source::check,
        "go-local-replace" => go_local_replace::check,
        "hidden-unicode" => hidden_unicode::check,
        "missing-tests" => missing_tests::check,
        "npm-install-script" => npm_install_script::check,
        "private-key" => private_key::check,
        "weakened-test" => tests_weakened::check,
        _ => return None,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::clock::TimeLimits;
    use crate::rules::compile::RuleSet;
    use crate::rules::examples::added;
    use crate::rules::load::built_in;
    use crate::rules::visible::Look;
    use std::time::Duration;

    /// Also inside of a file, which may be as large as a change.
    #[test]
    fn a_check_stops_inside_a_file_and_names_it() {
        let change = added("a.txt", &"x\n".repeat(200));
        let visible = VisibleChange::new(&change, |_| Some(Look::Whole));
        let rules = RuleSet::new(built_in().unwrap()).unwrap();
        let looked_at = |total: Duration| {
            let clock = Clock::start(TimeLimits { total, ..TimeLimits::default() });
            let scope = Scope { rule: &rules.rules[0], change: &visible, clock, unread: RefCell::default() };
            let count = scope.added_lines(&change.files[0]).count();
            (count, scope.unread.into_inner().len())
        };
        assert_eq!(looked_at(Duration::ZERO), (0, 1));
        assert_eq!(looked_at(TimeLimits::default().total), (200, 0));
    }
}
