//! Every git command that Tribunal runs, and the class of each. No command can be built without one.
//!
//! | class | runs in | may | never |
//! | --- | --- | --- | --- |
//! | [`TrustedClone`] | a clone of our own | talk to the forge it was made from, with a token | touch a tree or a file of a change |
//! | [`UntrustedTree`] | any repository | read and write objects and refs | have a token, a work tree, attributes, filters or a network |
//! | [`PersonsCheckout`] | the person's work tree | read and write its files | have a token or a network, run a filter or look into submodules |
//! | [`NoRepository`] | nowhere, or before a repository is known | say where a repository is, make an empty one | read objects |
//!
//! In a person's repository none of them reads the repository's own configuration: see [`super::view`].

use super::{GitError, Repository, program};
use std::ffi::{OsStr, OsString};
use std::io::{Read, Write as _};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Names the subcommands of a class; nothing else can be run in it.
macro_rules! class {
    ($(#[$about:meta])* $class:ident { $($variant:ident = $name:literal),+ $(,)? }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(super) enum $class { $($variant),+ }

        impl Class for $class {
            fn subcommand(self) -> &'static str {
                match self { $(Self::$variant => $name),+ }
            }
        }
    };
}

pub(super) trait Class: Copy {
    fn subcommand(self) -> &'static str;
}

class! {
    /// Talks to the forge, with its token, from a bare clone whose configuration is ours.
    TrustedClone { Fetch = "fetch", LsRemote = "ls-remote", Push = "push" }
}

class! {
    /// Reads and writes objects and refs, whose content somebody else chose.
    UntrustedTree {
        CatFile = "cat-file",
        CheckRefFormat = "check-ref-format",
        CommitTree = "commit-tree",
        Config = "config",
        DiffTree = "diff-tree",
        ForEachRef = "for-each-ref",
        Grep = "grep",
        HashObject = "hash-object",
        Log = "log",
        LsTree = "ls-tree",
        MergeBase = "merge-base",
        MergeTree = "merge-tree",
        ReadTree = "read-tree",
        RevList = "rev-list",
        RevParse = "rev-parse",
        Show = "show",
        SymbolicRef = "symbolic-ref",
        UpdateIndex = "update-index",
        UpdateRef = "update-ref",
        Var = "var",
        WriteTree = "write-tree",
    }
}

class! {
    /// Touches files of the person's work tree.
    PersonsCheckout {
        CheckAttr = "check-attr",
        CheckIgnore = "check-ignore",
        DiffFiles = "diff-files",
        DiffIndex = "diff-index",
        LsFiles = "ls-files",
        ReadTree = "read-tree",
        UpdateIndex = "update-index",
    }
}

class! {
    /// Asked before a repository is known, or of none.
    NoRepository { Config = "config", Init = "init", RevParse = "rev-parse", Version = "version" }
}

/// Settings that no configuration may override.
const HARDENED: [(&str, &str); 15] = [
    ("core.hooksPath", "/dev/null"),
    ("core.fsmonitor", "false"),
    // Both are claims of whoever wrote the git directory about what the objects and the work tree hold.
    ("core.commitGraph", "false"),
    ("core.untrackedCache", "false"),
    ("core.quotePath", "false"),
    ("core.pager", "cat"),
    // A snapshot writes no file, so line ends cannot be harmed by it; a check of them would only refuse to read.
    ("core.safecrlf", "false"),
    ("core.attributesFile", "/dev/null"),
    ("diff.suppressBlankEmpty", "false"),
    ("safe.bareRepository", "explicit"),
    ("submodule.recurse", "false"),
    ("fetch.recurseSubmodules", "false"),
    ("commit.gpgSign", "false"),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
];

const EMPTY_TREE: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
const EMPTY_TREE_SHA256: &str = "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321";

/// Variables that git needs from outside; everything else stays outside, all other `GIT_*` variables included. `PATH` is given to it
/// without the entries that do not count.
const PASSED_ON: [&str; 8] = [
    "HOME",
    "USER",
    "XDG_CONFIG_HOME",
    "TMPDIR",
    "SYSTEMROOT",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_CEILING_DIRECTORIES",
];

/// A git command of a class, not yet run.
pub(super) struct Git<C> {
    /// Nothing where git is not installed.
    command: Option<Command>,
    subcommand: &'static str,
    /// Key and value apart: in one text, a name that holds `=` would make another key of it.
    settings: Vec<(String, String)>,
    literal_pathspecs: bool,
    args: Vec<OsString>,
    class: PhantomData<C>,
}

pub(super) struct Output {
    pub success: bool,
    /// Of a program that was not killed.
    pub code: Option<i32>,
    pub stdout: Vec<u8>,
    pub stderr: String,
}

impl<C: Class> Git<C> {
    fn new(class: C, directory: &Path) -> Self {
        let command = program::command_in(directory).map(|command| Self::hardened(command, directory));
        let subcommand = class.subcommand();
        let settings = HARDENED.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        Self { command, subcommand, settings, literal_pathspecs: true, args: Vec::new(), class: PhantomData }
    }

    fn hardened(mut command: Command, directory: &Path) -> Command {
        for (name, _) in std::env::vars_os().filter(|(name, _)| name != "PATH" && !PASSED_ON.iter().any(|passed| name == passed))
        {
            command.env_remove(name);
        }
        command.env("LC_ALL", "C").env("GIT_TERMINAL_PROMPT", "0").env("GIT_OPTIONAL_LOCKS", "0");
        // A commit is what its id says, not what a replacement ref says.
        command.env("GIT_NO_REPLACE_OBJECTS", "1").env("GIT_ATTR_NOSYSTEM", "1");
        // No transport at all; the one class that may use one sets this again.
        command.env("GIT_ALLOW_PROTOCOL", "").env("GIT_NO_LAZY_FETCH", "1");
        command.arg("-C").arg(directory);
        command
    }

    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.args.push(arg.as_ref().to_owned());
        self
    }

    pub fn args<I: IntoIterator<Item = S>, S: AsRef<OsStr>>(mut self, args: I) -> Self {
        self.args.extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        if let Some(command) = &mut self.command {
            command.env(name, value);
        }
        self
    }

    pub fn setting(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.settings.push((key.into(), value.into()));
        self
    }

    /// Pathspecs may carry magic: the caller writes it, and marks every path in it literal.
    pub fn with_pathspec_magic(mut self) -> Self {
        self.literal_pathspecs = false;
        self
    }

    pub(super) fn assembled(self) -> Result<Command, GitError> {
        let mut command = self.command.ok_or(GitError::NoGit)?;
        if self.literal_pathspecs {
            command.arg("--literal-pathspecs");
        }
        give_settings(&mut command, self.settings.iter().map(|(key, value)| (key.as_str(), value.as_str())));
        command.arg(self.subcommand).args(&self.args);
        Ok(command)
    }

    /// For who reads only the beginning of what it prints.
    pub fn spawn_reading(self) -> Result<std::process::Child, GitError> {
        let mut command = self.assembled()?;
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().map_err(not_started)
    }

    /// For who writes to it and reads from it in turn.
    pub fn spawn_talking(self) -> Result<std::process::Child, GitError> {
        let mut command = self.assembled()?;
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().map_err(not_started)
    }

    /// For who watches it: it is given this to read, and what it prints for programs is not wanted.
    pub fn spawn_given(self, input: String) -> Result<std::process::Child, GitError> {
        let mut command = self.assembled()?;
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().map_err(not_started)?;
        let mut stdin = child.stdin.take();
        // A broken pipe shows as git's own failure.
        std::thread::spawn(move || drop(stdin.as_mut().map(|stdin| stdin.write_all(input.as_bytes()))));
        Ok(child)
    }

    /// Runs it and returns how it ended, whatever that was.
    pub fn output(self, input: Option<&[u8]>) -> Result<Output, GitError> {
        let subcommand = self.subcommand;
        let mut command = self.assembled()?;
        command.stdin(if input.is_some() { Stdio::piped() } else { Stdio::null() }).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(not_started)?;
        // A writer of its own: git may fill its output pipe before it has read all of its input.
        let writer = input.map(|bytes| {
            let mut stdin = child.stdin.take();
            let bytes = bytes.to_vec();
            std::thread::spawn(move || stdin.as_mut().map(|stdin| stdin.write_all(&bytes)))
        });
        let listener = child.stderr.take().map(|stderr| std::thread::spawn(move || beginning(stderr, MAX_STDERR)));
        let mut stdout = Vec::new();
        if let Some(from) = child.stdout.take() {
            from.take(MAX_OUTPUT + 1).read_to_end(&mut stdout).map_err(not_started)?;
        }
        let is_over = stdout.len() as u64 > MAX_OUTPUT;
        if is_over {
            child.kill().map_err(not_started)?;
        }
        let status = child.wait().map_err(not_started)?;
        if is_over {
            let message = format!("it wrote more than {} MiB", MAX_OUTPUT >> 20);
            return Err(GitError::Failed { command: subcommand.to_owned(), message });
        }
        let stderr = listener.and_then(|listener| listener.join().ok()).unwrap_or_default();
        if let Some(writer) = writer {
            // A broken pipe here shows as git's own failure below.
            let _ = writer.join();
        }
        Ok(Output { success: status.success(), code: status.code(), stdout, stderr })
    }

    /// Runs it; a failure of git is an error.
    pub fn run(self, input: Option<&[u8]>) -> Result<Vec<u8>, GitError> {
        let command = self.subcommand.to_owned();
        let answer = self.output(input)?;
        if answer.success { Ok(answer.stdout) } else { Err(GitError::Failed { command, message: answer.stderr }) }
    }

    pub fn run_text(self, input: Option<&[u8]>) -> Result<String, GitError> {
        Ok(String::from_utf8_lossy(&self.run(input)?).trim_end().to_owned())
    }
}

/// More than this of git's answer to one question is not kept. What may be longer is read as it comes ([`super::stream`], [`super::listed`]).
const MAX_OUTPUT: u64 = 512 << 20;
const MAX_STDERR: u64 = 64 * 1024;

/// All of it is read, so that git is not held up; the beginning is kept.
fn beginning(mut from: impl Read, limit: u64) -> String {
    let mut kept = Vec::new();
    let _ = from.by_ref().take(limit).read_to_end(&mut kept);
    let _ = std::io::copy(&mut from, &mut std::io::sink());
    String::from_utf8_lossy(&kept).trim().to_owned()
}

/// Above every configuration file, and never as an argument, which is split at its first `=`.
fn give_settings<'a>(command: &mut Command, settings: impl Iterator<Item = (&'a str, &'a str)>) {
    let mut count = 0;
    for (key, value) in settings {
        command.env(format!("GIT_CONFIG_KEY_{count}"), key).env(format!("GIT_CONFIG_VALUE_{count}"), value);
        count += 1;
    }
    command.env("GIT_CONFIG_COUNT", count.to_string());
}

fn not_started(source: std::io::Error) -> GitError {
    match source.kind() {
        std::io::ErrorKind::NotFound => GitError::NoGit,
        _ => GitError::Io { what: "git could not be run".into(), source },
    }
}

/// In a folder that is not yet known to be a repository.
pub(super) fn no_repository(class: NoRepository, directory: &Path) -> Git<NoRepository> {
    Git::new(class, directory)
}

/// What git calls itself, if it is there.
pub fn git_version() -> Result<String, GitError> {
    no_repository(NoRepository::Version, Path::new(".")).run_text(None)
}

/// Any git command in a folder that we made a moment ago and filled from this binary: for the demonstration.
pub fn git_in_demo(folder: &Path, args: &[&str]) -> Result<(), GitError> {
    let mut command = program::command_in(folder).ok_or(GitError::NoGit)?;
    for (name, _) in std::env::vars_os().filter(|(name, _)| name != "PATH" && name != "SYSTEMROOT") {
        command.env_remove(name);
    }
    command.env("HOME", folder).env("GIT_CONFIG_NOSYSTEM", "1").arg("-C").arg(folder);
    give_settings(&mut command, [("user.name", "Demo"), ("user.email", "demo@example.com")].into_iter().chain(HARDENED));
    let answer = command.args(args).output().map_err(not_started)?;
    if answer.status.success() {
        return Ok(());
    }
    let command = args.first().copied().unwrap_or_default().to_owned();
    Err(GitError::Failed { command, message: String::from_utf8_lossy(&answer.stderr).trim().to_owned() })
}

impl Repository {
    /// Objects and refs, and nothing else: no work tree, so no attributes; no remote, so nothing is fetched.
    pub(super) fn on_tree(&self, class: UntrustedTree) -> Git<UntrustedTree> {
        // git 2.43 to 2.45 take the attributes of `HEAD` where there is no work tree, and with them a way to merge that a change chose.
        self.in_repository(Git::new(class, &self.git_dir))
            .setting("attr.tree", self.no_attributes())
            .env("GIT_ALTERNATE_OBJECT_DIRECTORIES", self.own_objects())
    }

    /// git knows this object without having it. One that did not would go on without attributes, and versions before 2.43 do not know the
    /// setting.
    fn no_attributes(&self) -> &'static str {
        let format = self.view.as_ref().and_then(|view| view.settings.get("extensions", "objectformat"));
        if format.is_some_and(|format| format.eq_ignore_ascii_case("sha256")) { EMPTY_TREE_SHA256 } else { EMPTY_TREE }
    }

    /// The same with an index and with objects that go beside the repository's own.
    pub(super) fn on_tree_beside(&self, class: UntrustedTree, index: &Path) -> Git<UntrustedTree> {
        self.beside(self.on_tree(class), index)
    }

    /// Files of the work tree. Every filter that the person's own configuration defines is switched off: which of them runs on what
    /// is chosen by attributes, and those are part of the change.
    pub(super) fn in_checkout(&self, class: PersonsCheckout) -> Result<Git<PersonsCheckout>, GitError> {
        self.in_files(class, self.work_tree.as_ref().ok_or(GitError::Bare)?)
    }

    /// The same with other files in place of the work tree's.
    pub(super) fn in_files(&self, class: PersonsCheckout, folder: &Path) -> Result<Git<PersonsCheckout>, GitError> {
        let mut git = self.in_repository(Git::new(class, folder)).env("GIT_WORK_TREE", folder);
        // Those of the repository's own configuration are never known to git.
        for filter in self.persons_filters()? {
            for (key, value) in [("clean", ""), ("smudge", ""), ("process", ""), ("required", "false")] {
                git = git.setting(format!("filter.{filter}.{key}"), value);
            }
        }
        Ok(git.env("GIT_ALTERNATE_OBJECT_DIRECTORIES", self.own_objects()))
    }

    pub(super) fn in_checkout_beside(&self, class: PersonsCheckout, index: &Path) -> Result<Git<PersonsCheckout>, GitError> {
        Ok(self.beside(self.in_checkout(class)?, index))
    }

    /// The forge that this clone was made from. A person's own repository has none: nothing is fetched or pushed there.
    pub(super) fn in_clone(&self, class: TrustedClone) -> Result<Git<TrustedClone>, GitError> {
        let remote = self.remote.as_ref().ok_or_else(|| GitError::Fetch("this is not a clone of a forge's project".into()))?;
        let git = self.in_repository(Git::new(class, &self.git_dir)).env("GIT_ALLOW_PROTOCOL", "https:http");
        // A pack may build on objects that a partial clone has not fetched yet; git brings them from the same server.
        Ok(remote.apply(git.env("GIT_NO_LAZY_FETCH", "0")))
    }

    fn in_repository<C: Class>(&self, git: Git<C>) -> Git<C> {
        let git = git.env("GIT_DIR", &self.git_dir).env("GIT_OBJECT_DIRECTORY", self.common_dir.join("objects"));
        match &self.view {
            Some(view) => git.env("GIT_COMMON_DIR", view.path()),
            None => git,
        }
    }

    fn beside<C: Class>(&self, git: Git<C>, index: &Path) -> Git<C> {
        git.env("GIT_INDEX_FILE", index)
            .env("GIT_OBJECT_DIRECTORY", self.objects_dir())
            .env("GIT_ALTERNATE_OBJECT_DIRECTORIES", one_path(&self.common_dir.join("objects")))
    }

    fn own_objects(&self) -> OsString {
        one_path(&self.objects_dir())
    }
}

/// A path for a variable that takes a list: a colon in it would make two of one.
pub(super) fn one_path(path: &Path) -> OsString {
    let text = path.to_string_lossy();
    if !text.contains([':', '"', '\n']) {
        return path.as_os_str().to_owned();
    }
    let mut quoted = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            '\n' => quoted.push_str("\\n"),
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted.into()
}

/// A path as git prints it.
#[cfg(unix)]
pub(super) fn os_path(bytes: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt as _;
    PathBuf::from(OsStr::from_bytes(bytes))
}

#[cfg(not(unix))]
pub(super) fn os_path(bytes: &[u8]) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    /// Without the modules of tests: these make repositories with git as a person does, and quote code that starts programs.
    fn sources(folder: &Path, into: &mut Vec<std::path::PathBuf>) {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            if path.file_stem().is_some_and(|name| name == "tests") {
                continue;
            }
            if path.is_dir() {
                sources(&path, into);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                into.push(path);
            }
        }
    }

    /// Issue 16, point 7: git is started here and nowhere else, so that no call is without a class.
    #[test]
    fn git_is_started_in_this_module_only() {
        let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let mut found = Vec::new();
        for entry in std::fs::read_dir(crates).unwrap().flatten() {
            sources(&entry.path().join("src"), &mut found);
        }
        assert!(found.len() > 100, "{}", found.len());
        let here = Path::new("tribunal-forge/src/git/class.rs");
        for path in found.iter().filter(|path| !path.ends_with(here)) {
            let text = std::fs::read_to_string(path).unwrap();
            let code = text.split("#[cfg(test)]").next().and_then(|code| code.split("#[cfg(all(test").next()).unwrap();
            assert!(!code.contains("program::command_in"), "{} starts git", path.display());
        }
    }

    /// A program that is started by its bare name is looked for on the whole `PATH`, which may lead into the change.
    #[test]
    fn every_program_is_started_by_its_whole_path() {
        let resolved = [
            ("tribunal-programs/src/lib.rs", "located(program)?"),
            ("tribunal-agent/src/process/start.rs", "tribunal_programs::located(program)?"),
            ("tribunal-agent/src/sandbox/bubblewrap.rs", "tribunal_programs::find(\"bwrap\")?"),
            ("tribunal-agent/src/sandbox/probe.rs", "\"/\""),
            ("tribunal-forge/src/git/program.rs", "found.git?"),
            ("tribunal/src/commands/demo.rs", "std::env::current_exe()?"),
        ];
        let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let mut found = Vec::new();
        for entry in std::fs::read_dir(crates).unwrap().flatten() {
            sources(&entry.path().join("src"), &mut found);
        }
        let mut unused: Vec<_> = resolved.iter().collect();
        for path in &found {
            let text = std::fs::read_to_string(path).unwrap();
            let code = text.split("#[cfg(test)]").next().and_then(|code| code.split("#[cfg(all(test").next()).unwrap();
            for start in code.split("Command::new(").skip(1) {
                let place =
                    resolved.iter().find(|(file, program)| path.ends_with(file) && start.starts_with(&format!("{program})")));
                let line = start.lines().next().unwrap_or_default();
                assert!(place.is_some(), "{} starts a program in a way that is not listed: Command::new({line}", path.display());
                unused.retain(|known| Some(*known) != place);
            }
        }
        assert!(unused.is_empty(), "{unused:?}");
    }

    #[test]
    fn a_colon_in_a_path_does_not_make_two_of_it() {
        assert_eq!(super::one_path(Path::new("/a b/c")), "/a b/c");
        assert_eq!(super::one_path(Path::new("/a:b/\"c")), "\"/a:b/\\\"c\"");
    }
}
