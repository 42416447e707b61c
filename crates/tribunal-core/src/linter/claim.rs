//! Results of a linter as claims about a change. A linter speaks of whole files, a review of the change: what lies on other lines is
//! counted and left alone.

use super::edit::fix_of;
use super::output::LinterResult;
use super::profile::{Profile, Tree};
use super::suppression::only_without;
use super::triage::{Triage, TriageTable, Weight, justification};
use crate::diff::change::{AddedLines, Change, ChangedFile};
use crate::findings::admit::{DropReason, one_line};
use crate::findings::report::{Claim, CleanCheck, Fix, Report};
use crate::findings::role::Role;
use crate::findings::scale::{Blast, Confidence};
use crate::findings::silenced::{self, Means, Silenced};
use crate::ids::{CategoryCode, RepoPath};
use std::collections::{BTreeMap, BTreeSet};

/// A linter that looked.
pub struct Linted<'a> {
    /// As it is called in the panel.
    pub name: &'a str,
    pub profile: &'a Profile,
    /// Weights of the person who runs it, before those of the profile.
    pub own: &'a TriageTable,
    /// The files that it was given.
    pub files: &'a BTreeSet<RepoPath>,
    pub results: &'a [LinterResult],
    /// What it says without the suppressions that the change adds; nothing where the change adds none.
    pub unsuppressed: &'a [LinterResult],
}

/// More lines than these are no place.
const MOST_LINES: u32 = 5;

impl Linted<'_> {
    /// The claims for results on lines that the change added, in categories that the role owns.
    fn report(&self, role: &Role, change: &Change) -> Report {
        let mut report = Report::default();
        let mut small: BTreeMap<(RepoPath, String), usize> = BTreeMap::new();
        for result in self.results {
            let triage = self.profile.triage(self.own, &result.rule, result.level.as_deref());
            let Triage::Finding { category, weight } = triage else { continue };
            match self.place(result, change) {
                Err(reason) => *report.left_alone.entry(reason).or_insert(0) += 1,
                // Another seat of this linter says it.
                Ok(_) if !role.owns(&category) => {}
                Ok(place) => {
                    let known = (place.path.clone(), result.rule.clone());
                    // What is only batched is said once for a file.
                    if weight == Weight::Hygiene && small.contains_key(&known) {
                        *small.entry(known).or_insert(0) += 1;
                        continue;
                    }
                    if weight == Weight::Hygiene {
                        small.insert(known, 0);
                    }
                    report.findings.push(self.claim(result, &place, category, weight));
                }
            }
        }
        for claim in &mut report.findings {
            let more = claim.rule.as_ref().and_then(|rule| small.get(&(claim.file.clone(), rule.clone())));
            if let Some(more) = more.filter(|more| **more > 0) {
                claim.failure_mode = format!("{} ({more} more in this file)", claim.failure_mode);
            }
        }
        report.checked_clean = self.clean(role, &report);
        report
    }

    /// The report with questions about what the change keeps the linter from saying, as far as it is grave, and the rest of that.
    pub fn report_on(&self, role: &Role, change: &Change) -> (Report, Vec<Silenced>) {
        let (mut report, suppressed) = (self.report(role, change), self.suppressed(role, change));
        report.checked_clean.retain(|clean| !suppressed.iter().any(|claim| claim.category == clean.category));
        let (questions, silenced) = silenced::split(&suppressed, Means::Comment);
        report.findings.extend(questions);
        (report, silenced)
    }

    fn suppressed(&self, role: &Role, change: &Change) -> Vec<Claim> {
        let claim = |result: &LinterResult| {
            let triage = self.profile.triage(self.own, &result.rule, result.level.as_deref());
            let Triage::Finding { category, weight } = triage else { return None };
            let place = self.place(result, change).ok().filter(|_| role.owns(&category))?;
            Some(self.claim(result, &place, category, weight))
        };
        only_without(self.unsuppressed, self.results).into_iter().filter_map(claim).collect()
    }

    fn place<'c>(&self, result: &LinterResult, change: &'c Change) -> Result<Place<'c>, DropReason> {
        let file = named_file(&result.file, None, change).ok_or(DropReason::NotInChange)?;
        let (start, end) = place_of(result.lines.ok_or(DropReason::NoEvidence)?, &file.added_numbers())?;
        Ok(Place { path: file.path.clone(), file, start, end })
    }

    fn claim(&self, result: &LinterResult, place: &Place<'_>, category: CategoryCode, weight: Weight) -> Claim {
        let evidence: Vec<&str> = place
            .file
            .lines()
            .filter(|line| line.new_line.is_some_and(|line| (place.start..=place.end).contains(&line)))
            .map(|line| line.text.as_str())
            .collect();
        let fix = place.file.new_text.as_deref().and_then(|text| fix_of(&result.fix, text));
        let (safe, offered) =
            if result.is_fix_safe { (fix.filter(|fix| is_of_change(fix, place.file)), None) } else { (None, fix) };
        let name = format!("{} {}", self.name, result.rule);
        Claim {
            justification: Some(justification(&category, weight)),
            category,
            file: place.path.clone(),
            line_start: Some(place.start),
            line_end: Some(place.end),
            severity: Some(weight.severity()),
            confidence: Confidence::Medium,
            blast: Blast::Local,
            evidence: evidence.join("\n"),
            failure_mode: first_paragraph(&result.message, &name),
            mitigation: result
                .help
                .as_deref()
                .map(one_line)
                .filter(|help| !help.is_empty())
                .unwrap_or_else(|| format!("See {} of {}.", result.rule, self.name)),
            details: offered.as_ref().and_then(described),
            notes: Some(name),
            slug: Some(result.rule.clone()),
            signal: None,
            spec_quote: None,
            questions: Vec::new(),
            mitigation_out_of_scope: false,
            reversible: None,
            rule: Some(result.rule.clone()),
            fix: safe,
            trace: Vec::new(),
        }
    }

    /// Categories that its rules are about and in which nothing was found.
    fn clean(&self, role: &Role, report: &Report) -> Vec<CleanCheck> {
        if self.files.is_empty() {
            return Vec::new();
        }
        let tables = [self.own, &self.profile.rules, &self.profile.levels];
        let speaks_of = |code: &str| {
            tables.iter().flat_map(|table| table.values()).any(|triage| matches!(triage, Triage::Finding { category, weight } if category.as_str() == code && *weight != Weight::Hygiene))
        };
        let is_found = |code: &str| report.findings.iter().any(|claim| claim.category.as_str() == code);
        let codes = role.categories.iter().map(|category| &category.code);
        let clean = codes.filter(|code| speaks_of(code.as_str()) && !is_found(code.as_str()));
        clean
            .map(|code| CleanCheck {
                category: code.clone(),
                evidence: format!(
                    "{}: {} file(s) of this change, {} result(s), none of this category on an added line",
                    self.name,
                    self.files.len(),
                    self.results.len()
                ),
            })
            .collect()
    }
}

struct Place<'c> {
    path: RepoPath,
    file: &'c ChangedFile,
    start: u32,
    end: u32,
}

/// Are all its lines of this change? What stands elsewhere is not rewritten on one click.
fn is_of_change(fix: &Fix, file: &ChangedFile) -> bool {
    let added = file.added_numbers();
    (fix.line_start..=fix.line_end).all(|line| added.contains(line))
}

/// A fix in words.
fn described(fix: &Fix) -> Option<String> {
    let lines: Vec<&str> = fix.replacement.lines().collect();
    if lines.len() > MOST_LINES as usize || fix.replacement.len() > 600 {
        return None;
    }
    let place = match (fix.line_start, fix.line_end) {
        (start, end) if start == end => format!("line {start}"),
        (start, end) => format!("lines {start} to {end}"),
    };
    if lines.is_empty() {
        return Some(format!("The linter offers to remove {place}. It does not call that safe."));
    }
    let code: Vec<String> = lines.iter().map(|line| format!("`{}`", line.replace('`', "'"))).collect();
    Some(format!("The linter offers to replace {place}, and does not call that safe. New text:\n{}", code.join("\n")))
}

fn first_paragraph(text: &str, otherwise: &str) -> String {
    let text = text.trim();
    let line = one_line(text.split("\n\n").next().unwrap_or(text));
    if line.is_empty() { format!("Reported by {otherwise}.") } else { line }
}

/// The files of the change of which a linter says that it could not look at them, each with the line.
pub fn unread(profile: &Profile, results: &[LinterResult], change: &Change) -> Vec<Silenced> {
    let unread = results.iter().filter(|result| profile.is_unread_rule(&result.rule));
    let file = |result: &LinterResult| {
        let file = named_file(&result.file, None, change)?;
        Some(Silenced::unread(&file.path, result.lines.map_or(1, |(start, _)| start)))
    };
    unread.filter_map(file).collect()
}

/// Results about files that it was not given. `//line` and `#line` have some linters speak of any name, so nobody knows which of its files
/// they are about. Of a whole tree, a linter may also read what is installed with it.
pub fn misplaced(profile: &Profile, own: &TriageTable, results: &[LinterResult], given: &BTreeSet<RepoPath>) -> Vec<Silenced> {
    let is_given = |named: &str| match repo_path(named, None) {
        Some(path) => given.contains(&path) || given.contains(&RepoPath::from(path.as_str().replace('\\', "/").as_str())),
        None => named.is_empty() || profile.tree == Tree::Whole,
    };
    let counts = |result: &&LinterResult| profile.triage(own, &result.rule, result.level.as_deref()) != Triage::Off;
    let misplaced = results.iter().filter(counts).filter(|result| !is_given(&result.file));
    let named = |result: &LinterResult| {
        Silenced::unread(&RepoPath::from(one_line(&result.file).as_str()), result.lines.map_or(1, |(start, _)| start))
    };
    misplaced.map(named).collect()
}

/// The file of the change that a linter names. A backslash may be part of a name, or divide folders.
pub fn named_file<'c>(named: &str, root: Option<&str>, change: &'c Change) -> Option<&'c ChangedFile> {
    let find = |named: &str| change.file(&repo_path(named, root)?);
    find(named).or_else(|| find(&named.replace('\\', "/")))
}

/// The lines that a result is shown with: at most `MOST_LINES` more than its first, and at least one that the change added.
pub fn place_of((start, end): (u32, u32), added: &AddedLines) -> Result<(u32, u32), DropReason> {
    let end = end.max(start);
    let first = added.first_in(start, end).ok_or(DropReason::UnchangedCode)?;
    let start = if first - start > MOST_LINES { first } else { start };
    Ok((start, end.min(start.saturating_add(MOST_LINES))))
}

/// A path of a linter's output as a path of the repository; nothing if it leads elsewhere.
fn repo_path(named: &str, root: Option<&str>) -> Option<RepoPath> {
    let inside = match named.strip_prefix('/') {
        Some(_) => named.strip_prefix(root?)?.strip_prefix('/')?,
        None => named,
    };
    let parts: Vec<&str> = inside.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    (!parts.is_empty() && !parts.contains(&"..")).then(|| RepoPath::from(parts.join("/").as_str()))
}

#[cfg(test)]
mod tests;
