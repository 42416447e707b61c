//! Which CLIs are here, where their files are, and whether their version is one that the profile was written against.

use crate::process::{Clocks, Invocation, run};
use crate::sandbox::reads::Homes;
use crate::sandbox::{Limits, Network, Reads};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tribunal_core::policy::agents::Cli;

/// A CLI on the PATH.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    pub cli: Cli,
    pub path: PathBuf,
    /// As it says itself; `None` if it does not say.
    pub version: Option<String>,
    /// Whether its profile was tried with this version.
    pub is_known: bool,
}

/// Versions that were run for real, as ranges of what may differ: releases come every few days, and only the middle number breaks.
pub fn known(cli: Cli) -> &'static str {
    match cli {
        Cli::Claude => "2.1.",
        Cli::Codex => "0.166.",
        Cli::Gemini => "0.61.",
        Cli::Opencode => "1.18.",
        Cli::Copilot => "1.0.",
        Cli::Aider => "0.86.",
    }
}

/// A program and what it needs to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// Its interpreter, if it is a script, and itself.
    pub command: Vec<String>,
    /// Where its files lie.
    pub needs: Vec<PathBuf>,
    /// A PATH for it: its own folders and the system's.
    pub path: String,
}

impl Program {
    pub fn reads(&self) -> Reads {
        Reads { run: self.needs.clone(), read: Vec::new() }
    }
}

/// All CLIs on the PATH. Each is asked for its version, at most ten seconds, without any variable of ours.
pub fn all() -> Vec<Found> {
    Cli::ALL.into_iter().filter_map(|cli| find(cli, cli.program())).collect()
}

pub fn find(cli: Cli, program: &str) -> Option<Found> {
    let located = locate(program)?;
    let path = tribunal_programs::find(program)?;
    let version = version(&located);
    let is_known = version.as_deref().is_some_and(|version| version.starts_with(known(cli)));
    Some(Found { cli, path, version, is_known })
}

fn version(program: &Program) -> Option<String> {
    let folder = tempfile::tempdir().ok()?;
    let mut command = program.command.clone();
    command.push("--version".into());
    let printed = run(&Invocation {
        command: &command,
        input: Vec::new(),
        directory: folder.path(),
        scratch: folder.path(),
        env: &[],
        set: &[("PATH".into(), program.path.clone())],
        limits: Limits::new(program.reads(), vec![folder.path().to_owned()], Network::None),
        clocks: Clocks::total(Duration::from_secs(10)),
    });
    printed.ok().and_then(|printed| number_in(&String::from_utf8_lossy(&printed.stdout)))
}

/// `codex-cli 0.166.0`, `2.1.325 (Claude Code)`, `1.18.33`: the first word that begins like a number with two dots.
fn number_in(text: &str) -> Option<String> {
    let word = text.split_whitespace().map(|word| word.trim_start_matches('v')).find(|word| {
        let numbers: Vec<&str> = word.split('.').collect();
        numbers.len() >= 3 && numbers[..2].iter().all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
    })?;
    Some(word.trim_end_matches(['.', ',', ')']).to_owned())
}

/// Finds a program, its interpreter and their files.
pub fn locate(program: &str) -> Option<Program> {
    let path = tribunal_programs::find(program)?;
    let real = path.canonicalize().ok()?;
    let mut command = vec![real.display().to_string()];
    let mut needs = vec![surroundings(&real)];
    let mut folders = vec![real.parent()?.to_owned()];
    if let Some(interpreter) = interpreter(&real) {
        let interpreter = tribunal_programs::find(&interpreter)?;
        folders.insert(0, interpreter.parent()?.to_owned());
        let interpreter = interpreter.canonicalize().ok()?;
        command.insert(0, interpreter.display().to_string());
        needs.push(interpreter);
    }
    folders.extend(["/usr/local/bin", "/usr/bin", "/bin"].map(PathBuf::from));
    let path = std::env::join_paths(folders).ok()?.into_string().ok()?;
    Some(Program { command, needs, path })
}

/// What a script's first line names: `#!/usr/bin/env node`, `#!/usr/bin/node`.
pub(crate) fn interpreter(path: &Path) -> Option<String> {
    use std::io::Read as _;
    let mut start = Vec::new();
    std::fs::File::open(path).ok()?.take(256).read_to_end(&mut start).ok()?;
    let line = start.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    let line = String::from_utf8_lossy(line);
    let mut words = line.split_whitespace();
    let first = words.next()?;
    if !first.ends_with("/env") {
        return Some(first.to_owned());
    }
    words.find(|word| !word.starts_with('-') && !word.contains('=')).map(str::to_owned)
}

/// The folder whose files belong to a program: the outermost `node_modules` it lies in, else its own folder. Never a folder that
/// holds someone's home or keys: then it is the file alone.
fn surroundings(real: &Path) -> PathBuf {
    let modules = real.ancestors().filter(|folder| folder.file_name().is_some_and(|name| name == "node_modules")).last();
    let folder = modules.or_else(|| real.parent()).unwrap_or(real);
    let is_shared = folder.parent().is_none() || folder == Path::new("/tmp");
    if is_shared || Homes::here().refusal(folder).is_some() { real.to_owned() } else { folder.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_as_each_cli_says_them() {
        let said =
            ["2.1.325 (Claude Code)\n", "codex-cli 0.166.0\n", "0.61.0\n", "aider 0.86.2", "GitHub Copilot CLI 1.0.102.\nRun"];
        let numbers: Vec<Option<String>> = said.iter().map(|text| number_in(text)).collect();
        assert_eq!(numbers.iter().flatten().collect::<Vec<_>>(), ["2.1.325", "0.166.0", "0.61.0", "0.86.2", "1.0.102"]);
        assert_eq!(number_in("no number"), None);
    }

    #[cfg(unix)]
    #[test]
    fn a_script_runs_by_its_interpreter_and_may_read_its_packages() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let package = folder.path().join("lib/node_modules/@x/cli");
        std::fs::create_dir_all(&package).unwrap();
        let script = package.join("cli.js");
        std::fs::write(&script, "#!/usr/bin/env -S sh\necho 1.2.3\n").unwrap();
        std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
        let link = folder.path().join("cli");
        std::os::unix::fs::symlink(&script, &link).unwrap();
        let program = locate(link.to_str().unwrap()).unwrap();
        assert_eq!(program.command.len(), 2);
        assert!(program.needs[0].ends_with("lib/node_modules"), "{program:?}");
        assert_eq!(version(&program).as_deref(), Some("1.2.3"));
        assert_eq!(locate("no-such-program-anywhere"), None);
    }
}
