//! Runs a linter by its profile: in a folder that holds what the change brings and nothing that the linter would obey, in the sandbox,
//! without a network.
//!
//! The folder ([`copy`]) is made of three things: the changed files that the linter is for (or the whole tree without every file that it takes
//! orders from), the base's configuration where that is pure data, and, outside of it, the files that the profile itself brings. A second
//! look, without the suppressions of the change, has a folder of its own: what ran in the first one may have left anything there.

use crate::AgentFailure;
use crate::folder::Folder;
use crate::process::{Clocks, Invocation, Printed, run, written_file};
use crate::sandbox::{Limits, Network, Reads};
use crate::scratch::Scratch;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;
use tribunal_core::findings::scale::Priority;
use tribunal_core::ids::RepoPath;
use tribunal_core::linter::edit::{Edit, Place};
use tribunal_core::linter::output::{self, LinterResult, rule_name};
use tribunal_core::linter::profile::{Format, Profile, Stream};
use tribunal_core::policy::linter::LinterConfig;

mod copy;
pub mod found;

use copy::Copy;
pub use copy::without_the_change_s_suppressions;

/// Where a linter's files come from.
pub trait Sources {
    /// Writes the whole tree of the reviewed head.
    fn export(&self, into: &Path) -> Result<(), String>;
    /// The files of the base that the test lets through.
    fn of_base(&self, wanted: &dyn Fn(&RepoPath) -> bool) -> Result<Vec<(RepoPath, Vec<u8>)>, String>;
}

pub struct ProfiledLinter<'a> {
    pub config: &'a LinterConfig,
    pub profile: &'a Profile,
}

/// A file that a linter may be given.
#[derive(Debug)]
pub struct Changed<'a> {
    pub path: &'a RepoPath,
    pub text: &'a str,
    /// The text without the suppressions that the change adds, where it adds some.
    pub unsuppressed: Option<String>,
}

/// What a linter found.
#[derive(Debug)]
pub struct Found {
    /// The files that it was given.
    pub files: BTreeSet<RepoPath>,
    pub results: Vec<LinterResult>,
    /// What it says of the files to which the change adds suppressions, without them.
    pub unsuppressed: Vec<LinterResult>,
    /// Everything that lay before it.
    pub given: BTreeSet<RepoPath>,
}

/// The names on one command line: more of them are given to another run.
const MOST_FILES: usize = 500;
const MOST_BYTES: usize = 64 * 1024;
/// Of standard error, only the end is kept.
const MOST_TALK: usize = 60 * 1024;

impl ProfiledLinter<'_> {
    pub fn look(&self, changed: &[Changed<'_>], sources: &dyn Sources) -> Result<Found, AgentFailure> {
        let failed = AgentFailure::Failed;
        let selection = self.profile.selection().map_err(failed)?;
        let changed: Vec<&Changed<'_>> = changed.iter().filter(|file| selection.looks_at(file.path)).collect();
        let files: BTreeSet<RepoPath> = changed.iter().map(|file| file.path.clone()).collect();
        if files.is_empty() {
            return Ok(Found { files, results: Vec::new(), unsuppressed: Vec::new(), given: BTreeSet::new() });
        }
        let program = self.config.program().unwrap_or_default();
        if tribunal_programs::find(program).is_none() {
            return Err(failed(format!("not-run: `{program}` is not installed here; install it: {}", self.profile.install)));
        }
        let look = |is_unsuppressed: bool, files: &BTreeSet<RepoPath>| {
            let copy = Copy::make(self, &selection, &changed, is_unsuppressed, sources)?;
            let mut results = Vec::new();
            for part in parts(files) {
                let found = Run { linter: self, program, copy: &copy }.over(&part);
                results.extend(
                    found.map_err(|failure| if is_unsuppressed { without_suppressions(&part, &failure) } else { failure })?,
                );
            }
            copy.named_as_in_the_repository(&mut results);
            Ok::<_, AgentFailure>((results, copy.files))
        };
        let (results, given) = look(false, &files)?;
        let suppressing: BTreeSet<RepoPath> =
            changed.iter().filter(|file| file.unsuppressed.is_some()).map(|file| file.path.clone()).collect();
        let unsuppressed = if suppressing.is_empty() { Vec::new() } else { look(true, &suppressing)?.0 };
        Ok(Found { files, results, unsuppressed, given })
    }
}

/// Nobody knows what is suppressed there, so the linter has not looked.
fn without_suppressions(files: &[&RepoPath], failure: &AgentFailure) -> AgentFailure {
    let first = files.first().map_or_else(String::new, |file| file.to_string());
    let more = if files.len() > 1 { format!(" and {} more", files.len() - 1) } else { String::new() };
    AgentFailure::Failed(format!(
        "this change adds comments that suppress its results in {first}{more}, and it cannot look without them: {failure}"
    ))
}

fn scratch() -> Result<Scratch, AgentFailure> {
    Scratch::temporary().map_err(|error| AgentFailure::Failed(format!("no scratch folder: {error}")))
}

fn parts(files: &BTreeSet<RepoPath>) -> Vec<Vec<&RepoPath>> {
    let mut parts: Vec<Vec<&RepoPath>> = Vec::new();
    let mut bytes = 0;
    for file in files {
        bytes += file.as_str().len();
        match parts.last_mut() {
            Some(part) if part.len() < MOST_FILES && bytes <= MOST_BYTES => part.push(file),
            _ => {
                bytes = file.as_str().len();
                parts.push(vec![file]);
            }
        }
    }
    parts
}

/// One linter in one folder.
struct Run<'a> {
    linter: &'a ProfiledLinter<'a>,
    program: &'a str,
    copy: &'a Copy,
}

/// The name of the file that it writes, in its home.
const OUTPUT: &str = "output";

impl Run<'_> {
    /// Each run has a home of its own: an earlier one may have left anything in it.
    fn over(&self, files: &[&RepoPath]) -> Result<Vec<LinterResult>, AgentFailure> {
        let (config, profile) = (self.linter.config, self.linter.profile);
        let home = scratch()?;
        let (own, output) = (home.path().join("own"), home.path().join(OUTPUT));
        let write = || {
            std::fs::create_dir(&own)?;
            let folder = Folder::open(&own)?;
            profile.own.iter().try_for_each(|(name, text)| folder.create(Path::new(name), text.as_bytes()))
        };
        write().map_err(|error: std::io::Error| AgentFailure::Failed(format!("its folder cannot be made: {error}")))?;
        let fill =
            |text: &str| text.replace("{own}", &own.display().to_string()).replace("{output}", &output.display().to_string());
        let command = self.command(files, &fill);
        let reads = Reads::of_command(&command[..1], &config.read).map_err(AgentFailure::Failed)?;
        let set: Vec<(String, String)> = profile.env.iter().map(|(name, value)| (name.clone(), fill(value))).collect();
        let printed = run(&Invocation {
            command: &command,
            input: Vec::new(),
            directory: self.copy.path(),
            scratch: home.path(),
            env: &[],
            set: &set,
            limits: Limits::new(reads, vec![self.copy.path().to_owned(), home.path().to_owned()], Network::None),
            clocks: Clocks::total(config.timeout_seconds.map_or(crate::command::DEFAULT_TIMEOUT, Duration::from_secs)),
        })?;
        self.results(&printed, home.path())
    }

    fn command(&self, files: &[&RepoPath], fill: &dyn Fn(&str) -> String) -> Vec<String> {
        let profile = self.linter.profile;
        let files: Vec<&RepoPath> = files.iter().map(|file| self.copy.given_as(file)).collect();
        let config: Vec<String> = match &self.copy.config {
            Some(path) => profile.config.with.iter().map(|arg| arg.replace("{path}", path.as_str())).collect(),
            None => profile.config.without.clone(),
        };
        let folders: BTreeSet<String> = files
            .iter()
            .map(|file| file.as_str().rsplit_once('/').map_or_else(|| ".".to_owned(), |(folder, _)| format!("./{folder}")))
            .collect();
        let args = self.linter.config.args.as_ref().unwrap_or(&profile.args);
        let args = args.iter().flat_map(|arg| match arg.as_str() {
            // No name of a file begins like a flag.
            "{files}" => files.iter().map(|file| format!("{}./{file}", profile.file_prefix)).collect(),
            "{folders}" => folders.iter().cloned().collect(),
            "{config}" => config.iter().map(|arg| fill(arg)).collect(),
            _ => vec![fill(arg)],
        });
        std::iter::once(self.program.to_owned()).chain(args).collect()
    }

    fn results(&self, printed: &Printed, home: &Path) -> Result<Vec<LinterResult>, AgentFailure> {
        let profile = self.linter.profile;
        let failed = |problem: String| AgentFailure::Failed(format!("{problem}{}", said(printed)));
        let code = printed.code.unwrap_or(-1);
        let is_found = profile.exit.found.contains(&code);
        if !is_found && !profile.exit.clean.contains(&code) {
            return Err(failed(format!("it ended with {}", printed.exit)));
        }
        let bytes = match profile.output.stream {
            Stream::Stdout => printed.stdout.clone(),
            Stream::Stderr if printed.stderr.len() > MOST_TALK => {
                return Err(AgentFailure::Failed("it printed more to standard error than is kept".into()));
            }
            Stream::Stderr => printed.stderr.clone().into_bytes(),
            // One that found nothing may write nothing, where lines are counted.
            Stream::File if profile.output.format == Format::Lines && home.join(OUTPUT).symlink_metadata().is_err() => Vec::new(),
            Stream::File => written_file(home, OUTPUT).map_err(|error| failed(format!("it wrote no results: {error}")))?,
        };
        let is_empty = profile.output.empty_if_clean && !is_found && bytes.trim_ascii().is_empty();
        let results = match profile.output.format {
            _ if is_empty => Vec::new(),
            Format::Sarif => of_sarif(profile, &bytes)?,
            Format::Json | Format::JsonLines | Format::Lines => {
                let text = String::from_utf8_lossy(crate::command::without_mark(&bytes)).into_owned();
                output::read(&profile.output, &text).map_err(|problem| failed(format!("its output cannot be read: {problem}")))?
            }
        };
        if is_found && results.is_empty() {
            return Err(failed(format!("it ended with {} and named nothing that it found", printed.exit)));
        }
        Ok(results)
    }
}

/// The last line of what it said beside its results.
fn said(printed: &Printed) -> String {
    match printed.stderr.lines().rev().find(|line| !line.trim().is_empty()) {
        Some(line) => format!("; it said: {}", tribunal_core::findings::admit::one_line(line)),
        None => String::new(),
    }
}

fn of_sarif(profile: &Profile, bytes: &[u8]) -> Result<Vec<LinterResult>, AgentFailure> {
    let results = crate::sarif::results(bytes)?;
    let level = |priority: Priority| match priority {
        Priority::P0 | Priority::P1 => "error",
        Priority::P2 => "warning",
        Priority::P3 | Priority::Q => "note",
    };
    let read = results.into_iter().map(|result| {
        let (message, help) = match result.message.split_once("\n\n") {
            Some((message, help)) => (message.to_owned(), Some(help.to_owned())),
            None => (result.message.clone(), None),
        };
        LinterResult {
            file: result.path,
            lines: result.lines,
            rule: rule_name(&profile.output, &result.rule),
            level: Some(level(result.priority).to_owned()),
            message,
            help,
            // SARIF does not say whether a fix is safe.
            fix: result.fix.into_iter().map(|fix| Edit { text: fix.text.clone(), place: Place::Spots(fix) }).collect(),
            is_fix_safe: false,
        }
    });
    Ok(read.collect())
}

/// Files that are given by hand: a profile's sample.
pub struct Given {
    pub files: BTreeMap<RepoPath, String>,
}

impl Sources for Given {
    fn export(&self, into: &Path) -> Result<(), String> {
        let put = |folder: Folder| self.files.iter().try_for_each(|(path, text)| copy::put(&folder, path, text.as_bytes()));
        Folder::open(into).and_then(put).map_err(|error| error.to_string())
    }

    fn of_base(&self, wanted: &dyn Fn(&RepoPath) -> bool) -> Result<Vec<(RepoPath, Vec<u8>)>, String> {
        let found = self.files.iter().filter(|(path, _)| wanted(path));
        Ok(found.map(|(path, text)| (path.clone(), text.clone().into_bytes())).collect())
    }
}

#[cfg(test)]
mod tests;
