//! Runs a linter by its profile: in a folder that holds what the change brings and nothing that the linter would obey, in the sandbox,
//! without a network.
//!
//! The folder is made of three things: the changed files that the linter is for (or the whole tree without every file that it takes
//! orders from), the base's configuration where that is pure data, and, outside of it, the files that the profile itself brings.

use crate::AgentFailure;
use crate::cli::found::on_path;
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
use tribunal_core::linter::profile::{Format, Profile, Selection, Stream, Tree};
use tribunal_core::linter::suppression::Settings;
use tribunal_core::policy::linter::{LinterConfig, LinterConfigFrom};

pub mod found;

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
    /// What absolute paths in it begin with.
    pub root: String,
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
            return Ok(Found { files, results: Vec::new(), unsuppressed: Vec::new(), root: String::new() });
        }
        let program = self.config.program().unwrap_or_default();
        if on_path(program).is_none() {
            return Err(failed(format!("not-run: `{program}` is not installed here; install it: {}", self.profile.install)));
        }
        let (copy, home) = (scratch()?, scratch()?);
        let io = |error: std::io::Error| AgentFailure::Failed(format!("its folder cannot be made: {error}"));
        match self.profile.tree {
            Tree::Changed => {
                changed.iter().try_for_each(|file| put(copy.path(), file.path, file.text.as_bytes())).map_err(io)?;
            }
            Tree::Whole => {
                sources.export(copy.path()).map_err(failed)?;
                crate::tree::cut_links(copy.path()).map_err(io)?;
                remove_all(copy.path(), &|path| selection.obeys(path)).map_err(io)?;
            }
        }
        let config = self.base_config(&selection, copy.path(), sources)?;
        let own = home.path().join("own");
        std::fs::create_dir_all(&own).map_err(io)?;
        self.profile.own.iter().try_for_each(|(name, text)| std::fs::write(own.join(name), text)).map_err(io)?;
        let run = Run { linter: self, program, copy: copy.path(), home: home.path(), own: &own, config: config.as_ref() };
        let mut results = Vec::new();
        for part in parts(&files) {
            results.extend(run.over(&part)?);
        }
        let suppressing: Vec<(&RepoPath, &str)> =
            changed.iter().filter_map(|file| Some((file.path, file.unsuppressed.as_deref()?))).collect();
        suppressing.iter().try_for_each(|(path, text)| put(copy.path(), path, text.as_bytes())).map_err(io)?;
        let mut unsuppressed = Vec::new();
        for part in parts(&suppressing.iter().map(|(path, _)| (*path).clone()).collect()) {
            unsuppressed.extend(run.over(&part).map_err(|failure| without_suppressions(&part, &failure))?);
        }
        Ok(Found { files, results, unsuppressed, root: copy.path().display().to_string() })
    }

    /// Puts the base's configuration into the copy, and names the file nearest to the top.
    fn base_config(&self, selection: &Selection, copy: &Path, sources: &dyn Sources) -> Result<Option<RepoPath>, AgentFailure> {
        let failed = AgentFailure::Failed;
        let wanted = &self.profile.config;
        if wanted.base.is_empty() || self.config.config == Some(LinterConfigFrom::Default) {
            return Ok(None);
        }
        let found = sources.of_base(&|path| selection.is_base_config(path)).map_err(failed)?;
        for (path, bytes) in &found {
            put(copy, path, bytes).map_err(|error| failed(format!("{path} of the base cannot be written: {error}")))?;
        }
        let first = found.into_iter().map(|(path, _)| path).min_by_key(|path| (path.as_str().matches('/').count(), path.clone()));
        if first.is_none() && wanted.required {
            return Err(failed(format!("not-run: it needs a configuration, and the base has no {}", wanted.base.join(" or "))));
        }
        Ok(first)
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

/// Makes the copy of a tree one in which the change suppresses nothing: with the base's settings of linters in place of its own, and
/// with these texts.
pub fn without_the_change_s_suppressions(
    copy: &Path,
    sources: &dyn Sources,
    settings: &Settings,
    texts: &[(RepoPath, String)],
) -> Result<(), String> {
    let io = |error: std::io::Error| error.to_string();
    crate::tree::cut_links(copy).map_err(io)?;
    remove_all(copy, &|path| settings.contains(path)).map_err(io)?;
    let of_base = sources.of_base(&|path| settings.contains(path))?;
    of_base.iter().try_for_each(|(path, bytes)| put(copy, path, bytes)).map_err(io)?;
    texts.iter().try_for_each(|(path, text)| put(copy, path, text.as_bytes())).map_err(io)
}

fn scratch() -> Result<Scratch, AgentFailure> {
    Scratch::temporary().map_err(|error| AgentFailure::Failed(format!("no scratch folder: {error}")))
}

fn put(root: &Path, path: &RepoPath, bytes: &[u8]) -> std::io::Result<()> {
    if path.as_str().split('/').any(|part| part == ".." || part.is_empty()) || Path::new(path.as_str()).is_absolute() {
        return Err(std::io::Error::other("it leads out of the repository"));
    }
    let place = root.join(path.as_str());
    if let Some(folder) = place.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(place, bytes)
}

/// Takes out whatever the test names, links included: what they lead to lies in the same tree.
fn remove_all(root: &Path, is_named: &dyn Fn(&RepoPath) -> bool) -> std::io::Result<()> {
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder)? {
            let entry = entry?;
            let path = entry.path();
            let name = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().replace('\\', "/");
            let is_folder = entry.file_type()?.is_dir();
            match (is_named(&RepoPath::from(name.as_str())), is_folder) {
                (true, true) => std::fs::remove_dir_all(&path)?,
                (true, false) => std::fs::remove_file(&path)?,
                (false, true) => folders.push(path),
                (false, false) => {}
            }
        }
    }
    Ok(())
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
    copy: &'a Path,
    home: &'a Path,
    own: &'a Path,
    config: Option<&'a RepoPath>,
}

impl Run<'_> {
    fn over(&self, files: &[&RepoPath]) -> Result<Vec<LinterResult>, AgentFailure> {
        let (config, profile) = (self.linter.config, self.linter.profile);
        let output = self.home.join("output");
        let _ = std::fs::remove_file(&output);
        let command = self.command(files, &output);
        let reads = Reads::of_command(&command[..1], &config.read).map_err(AgentFailure::Failed)?;
        let set: Vec<(String, String)> = profile.env.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        let printed = run(&Invocation {
            command: &command,
            input: Vec::new(),
            directory: self.copy,
            scratch: self.home,
            env: &[],
            set: &set,
            limits: Limits::new(reads, vec![self.copy.to_owned(), self.home.to_owned()], Network::None),
            clocks: Clocks::total(config.timeout_seconds.map_or(crate::command::DEFAULT_TIMEOUT, Duration::from_secs)),
        })?;
        self.results(&printed, &output)
    }

    fn command(&self, files: &[&RepoPath], output: &Path) -> Vec<String> {
        let profile = self.linter.profile;
        let config: Vec<String> = match self.config {
            Some(path) => profile.config.with.iter().map(|arg| arg.replace("{path}", path.as_str())).collect(),
            None => profile.config.without.clone(),
        };
        let folders: BTreeSet<String> = files
            .iter()
            .map(|file| file.as_str().rsplit_once('/').map_or_else(|| ".".to_owned(), |(folder, _)| format!("./{folder}")))
            .collect();
        let fill =
            |arg: &str| arg.replace("{own}", &self.own.display().to_string()).replace("{output}", &output.display().to_string());
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

    fn results(&self, printed: &Printed, written: &Path) -> Result<Vec<LinterResult>, AgentFailure> {
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
            Stream::File if profile.output.format == Format::Lines && written.symlink_metadata().is_err() => Vec::new(),
            Stream::File => written_file(written).map_err(|error| failed(format!("it wrote no results: {error}")))?,
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
        self.files.iter().try_for_each(|(path, text)| put(into, path, text.as_bytes())).map_err(|error| error.to_string())
    }

    fn of_base(&self, wanted: &dyn Fn(&RepoPath) -> bool) -> Result<Vec<(RepoPath, Vec<u8>)>, String> {
        let found = self.files.iter().filter(|(path, _)| wanted(path));
        Ok(found.map(|(path, text)| (path.clone(), text.clone().into_bytes())).collect())
    }
}

#[cfg(test)]
mod tests;
