//! Which linters are installed here, in which version, and whether they work.

use super::{Changed, Given, ProfiledLinter};
use crate::AgentFailure;
use crate::process::{Clocks, Invocation, run};
use crate::sandbox::{Limits, Network, Reads};
use regex::Regex;
use std::path::PathBuf;
use std::time::Duration;
use tribunal_core::linter::built_in;
use tribunal_core::linter::profile::Profile;
use tribunal_core::policy::linter::LinterConfig;

/// A linter on the PATH.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstalledLinter {
    pub name: &'static str,
    pub path: PathBuf,
    /// As it says itself; `None` if it does not say.
    pub version: Option<String>,
}

/// All that have a profile. Each is asked for its version, at most twenty seconds, all at once.
pub fn installed() -> Vec<InstalledLinter> {
    let here: Vec<_> = built_in::all()
        .iter()
        .filter_map(|(name, profile)| Some((*name, profile, tribunal_programs::find(&profile.program)?)))
        .collect();
    std::thread::scope(|scope| {
        let asked: Vec<_> = here
            .into_iter()
            .map(|(name, profile, path)| {
                scope.spawn(move || InstalledLinter { name, path, version: version(&profile.program, &profile.version) })
            })
            .collect();
        asked.into_iter().filter_map(|linter| linter.join().ok()).collect()
    })
}

/// What a program says when it is asked for its version.
pub fn version(program: &str, args: &[String]) -> Option<String> {
    let folder = super::scratch().ok()?;
    let command: Vec<String> = std::iter::once(program.to_owned()).chain(args.iter().cloned()).collect();
    let reads = Reads::of_command(&command[..1], &[]).ok()?;
    let printed = run(&Invocation {
        command: &command,
        input: Vec::new(),
        directory: folder.path(),
        scratch: folder.path(),
        env: &[],
        set: &[],
        limits: Limits::new(reads, vec![folder.path().to_owned()], Network::None),
        clocks: Clocks::total(Duration::from_secs(20)),
    });
    printed.ok().and_then(|printed| number_in(&String::from_utf8_lossy(&printed.stdout)))
}

/// The first number with a dot.
fn number_in(text: &str) -> Option<String> {
    let number = Regex::new(r"\d+\.\d+(?:\.\d+)*").ok()?;
    number.find(text).map(|found| found.as_str().to_owned())
}

/// Runs a linter over its profile's sample, as a review would. It works if it finds what is in there.
pub fn try_sample(config: &LinterConfig, profile: &Profile) -> Result<(), AgentFailure> {
    let sample = &profile.sample;
    let mut given = Given { files: sample.beside.clone() };
    given.files.insert(sample.path.clone(), sample.text.clone());
    let linter = ProfiledLinter { config, profile };
    let found = linter.look(&[Changed { path: &sample.path, text: &sample.text, unsuppressed: None }], &given)?;
    if found.results.iter().any(|result| result.rule == sample.rule) {
        return Ok(());
    }
    let rules: Vec<&str> = found.results.iter().map(|result| result.rule.as_str()).collect();
    Err(AgentFailure::Failed(format!(
        "it did not find {} in its sample, but: {}",
        sample.rule,
        if rules.is_empty() { "nothing".to_owned() } else { rules.join(", ") }
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_as_each_linter_says_them() {
        for (text, version) in [
            ("ruff 0.17.5\n", "0.17.5"),
            ("Version: 2.6.7\n", "2.6.7"),
            ("staticcheck 2026.2.2 (0.8.2)", "2026.2.2"),
            ("go version go1.26.8 linux/amd64", "1.26.8"),
            ("Cppcheck 2.22", "2.22"),
            ("ShellCheck - shell script analysis tool\nversion: 0.11.0\n", "0.11.0"),
        ] {
            assert_eq!(number_in(text).as_deref(), Some(version));
        }
        assert_eq!(number_in("version is set by build process"), None);
    }
}
