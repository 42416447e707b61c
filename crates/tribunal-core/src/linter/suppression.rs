//! What a change does to keep a linter from saying something: comments such as `# noqa` in lines that it adds, and files from which a
//! linter takes its settings.
//!
//! Which results such a comment suppresses is the linter's own affair. So it is run twice: over the files as they are, and over a copy
//! in which the comments that the change adds are blanked out. What it says only the second time is what the change suppresses.
//! Comments that stood there before the change are obeyed.

use super::built_in;
use super::output::LinterResult;
use super::profile::{Names, Profile};
use crate::diff::change::{AddedLines, Change, ChangedFile, FileStatus};
use crate::findings::report::Claim;
use crate::findings::silenced::Silenced;
use crate::ids::{AgentName, RepoPath};
use regex::{Captures, Regex};
use std::borrow::Cow;
use std::collections::BTreeSet;

/// The comments and attributes that make a linter silent.
#[derive(Debug)]
pub struct Suppressions(Vec<Regex>);

impl Suppressions {
    pub fn of(profile: &Profile) -> Result<Self, String> {
        // An expression that is wrong in the other lists is reported here as well: a profile is checked whole.
        PassedOver::of(profile)?;
        Self::new(profile.suppressed_by.iter())
    }

    /// Those of every linter with a profile, for a program of which only its output is known.
    pub fn of_any() -> Result<Self, String> {
        let all: BTreeSet<&String> = built_in::all().values().flat_map(|profile| &profile.suppressed_by).collect();
        Self::new(all.into_iter())
    }

    fn new<'a>(patterns: impl Iterator<Item = &'a String>) -> Result<Self, String> {
        let patterns = patterns.map(|pattern| match Regex::new(pattern) {
            Ok(regex) if regex.captures_len() == 2 => Ok(regex),
            Ok(_) => Err(format!("`{pattern}` needs one group: what has to be blanked out")),
            Err(error) => Err(error.to_string()),
        });
        Ok(Suppressions(patterns.collect::<Result<_, _>>()?))
    }

    /// The text of a file with what suppresses something on the added lines blanked out; nothing if there is none. No column moves.
    pub fn blanked(&self, text: &str, added: &AddedLines) -> Option<String> {
        let mut is_changed = false;
        let lines = text.split_inclusive('\n').zip(1..).map(|(line, number)| {
            if !added.contains(number) {
                return Cow::Borrowed(line);
            }
            let blanked = self.blanked_line(line);
            is_changed |= matches!(blanked, Cow::Owned(_));
            blanked
        });
        let text: String = lines.collect();
        is_changed.then_some(text)
    }

    /// The files to which the change adds suppressions, without these.
    pub fn blanked_files(&self, change: &Change) -> Vec<(RepoPath, String)> {
        let blanked = |file: &ChangedFile| self.blanked(file.new_text.as_deref()?, &file.added_numbers());
        change.files.iter().filter_map(|file| Some((file.path.clone(), blanked(file)?))).collect()
    }

    /// The first line with one that the change adds to a file.
    fn first_in(&self, file: &ChangedFile) -> Option<u32> {
        file.added_lines().find(|line| self.0.iter().any(|pattern| pattern.is_match(&line.text)))?.new_line
    }

    fn blanked_line<'a>(&self, line: &'a str) -> Cow<'a, str> {
        self.0.iter().fold(Cow::Borrowed(line), |line, pattern| {
            match pattern.replace_all(&line, |found: &Captures<'_>| blank(found)) {
                Cow::Borrowed(_) => line,
                Cow::Owned(blanked) => Cow::Owned(blanked),
            }
        })
    }
}

/// The match with its group replaced by underscores, which read as a word of a comment and as a name.
fn blank(found: &Captures<'_>) -> String {
    let (Some(whole), Some(group)) = (found.get(0), found.get(1)) else { return found[0].to_owned() };
    let (before, after) = (&whole.as_str()[..group.start() - whole.start()], &whole.as_str()[group.end() - whole.start()..]);
    format!("{before}{}{after}", "_".repeat(group.len()))
}

/// What was said of the copy without the change's suppressions and not of the files as they are.
pub fn only_without<'a>(without: &'a [LinterResult], with: &[LinterResult]) -> Vec<&'a LinterResult> {
    let place = |result: &LinterResult| (result.file.clone(), result.lines, result.rule.clone());
    let said: BTreeSet<_> = with.iter().map(place).collect();
    without.iter().filter(|result| !said.contains(&place(result))).collect()
}

/// The files of which nobody knows what a linter would say without the suppressions that the change adds: its results, which are all that
/// we have, name nothing that is suppressed there.
pub fn unread(suppressions: &Suppressions, change: &Change, linter: &AgentName, suppressed: &[Claim]) -> Vec<Silenced> {
    let unknown = change.files.iter().filter(|file| !suppressed.iter().any(|claim| claim.file == file.path));
    let named = |file: &ChangedFile| {
        let line = suppressions.first_in(file)?;
        Some(Silenced { rule: format!("an unknown rule of {linter}"), path: file.path.clone(), line })
    };
    unknown.filter_map(named).collect()
}

/// Files that a linter may leave out without a word because of what the change wrote into them.
pub struct PassedOver {
    names: Names,
    lines: Vec<Regex>,
}

impl PassedOver {
    pub fn of(profile: &Profile) -> Result<Self, String> {
        let lines = profile.passes_over.lines.iter().map(|line| Regex::new(line).map_err(|error| error.to_string()));
        Ok(PassedOver { names: Names::new(&profile.passes_over.names)?, lines: lines.collect::<Result<_, _>>()? })
    }

    /// Named with the line that is the reason. `linter` is what it is called in the panel.
    pub fn find(&self, linter: &str, file: &ChangedFile) -> Option<Silenced> {
        let by_line = || file.added_lines().find(|line| self.lines.iter().any(|pattern| pattern.is_match(&line.text)));
        let line = match self.names.contains(&file.path) {
            true if file.status != FileStatus::Modified => 1,
            _ => by_line()?.new_line?,
        };
        Some(Silenced { rule: format!("every rule of {linter}"), path: file.path.clone(), line })
    }
}

/// Names of files that some linter takes its settings from, and of files that say how linters are started.
pub struct Settings(Names);

/// Beside those that the profiles name.
const STARTS_LINTERS: &[&str] = &["package.json", "Makefile", "Taskfile.yml", "justfile", "noxfile.py", "tox.ini", "clippy.toml"];

impl Settings {
    pub fn of_any() -> Result<Self, String> {
        let profiles = built_in::all().values().flat_map(|profile| profile.config.base.iter().chain(&profile.config.never));
        let names: BTreeSet<String> = profiles.cloned().chain(STARTS_LINTERS.iter().map(|name| (*name).to_owned())).collect();
        Ok(Settings(Names::new(&names.into_iter().collect::<Vec<_>>())?))
    }

    pub fn contains(&self, path: &RepoPath) -> bool {
        self.0.contains(path)
    }

    /// Does the change touch one of them?
    pub fn are_changed(&self, change: &Change) -> bool {
        change.files.iter().any(|file| self.contains(&file.path) || file.old_path.as_ref().is_some_and(|old| self.contains(old)))
    }
}

#[cfg(test)]
mod tests;
