//! A throw-away machine: a home, a temporary folder and a git repository, with nothing of the real environment but the PATH.

use serde_json::Value;
use std::ffi::OsStr;
use std::fs;
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// No defect in it.
pub const CLEAN: &str = "def add(item, items=None):\n    return (items or []) + [item]\n";
/// One P1: the default list is shared by every call.
pub const SHARED_LIST: &str = "def add(item, items=[]):\n    items.append(item)\n    return items\n";
pub const SHARED_LIST_RULE: &str = "py-mutable-default-argument";
pub const SHARED_LIST_LINE: &str = "def add(item, items=[]):";
/// One P0: nobody checks the certificate.
pub const NO_TLS: &str = "import requests\n\n\ndef fetch(url):\n    return requests.get(url, timeout=5, verify=False)\n";
pub const NO_TLS_RULE: &str = "py-tls-verification-off";
pub const NO_TLS_LINE: &str = "    return requests.get(url, timeout=5, verify=False)";

/// How long a test waits for what must come, on a machine that may be twenty times slower than usual.
pub const PATIENCE: Duration = Duration::from_secs(300);

pub struct Sandbox {
    root: TempDir,
}

/// What a run of the binary left.
#[derive(Debug)]
pub struct Run {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Run {
    #[track_caller]
    pub fn ends_with(self, code: i32) -> Self {
        assert_eq!(self.code, code, "stdout:\n{}\nstderr:\n{}", self.stdout, self.stderr);
        self
    }

    #[track_caller]
    pub fn says(self, text: &str) -> Self {
        assert!(self.stderr.contains(text), "stderr does not say `{text}`:\n{}\nstdout:\n{}", self.stderr, self.stdout);
        self
    }

    #[track_caller]
    pub fn prints(self, text: &str) -> Self {
        assert!(self.stdout.contains(text), "stdout does not hold `{text}`:\n{}\nstderr:\n{}", self.stdout, self.stderr);
        self
    }

    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("{error}, exit {}\nstdout:\n{}\nstderr:\n{}", self.code, self.stdout, self.stderr))
    }
}

impl Sandbox {
    /// A repository without any commit.
    pub fn unborn() -> Self {
        let sandbox = Self { root: tempfile::Builder::new().prefix("tribunal-test-").tempdir().unwrap() };
        for folder in ["home", "tmp", "repo", "outside", "agents"] {
            fs::create_dir(sandbox.root.path().join(folder)).unwrap();
        }
        sandbox.git(&["init", "--quiet", "--initial-branch=main"]);
        sandbox
    }

    /// `main` with one clean file, and `feature` checked out on top of it.
    pub fn on_feature() -> Self {
        Self::on_feature_from(&[("app.py", CLEAN)])
    }

    pub fn on_feature_from(files: &[(&str, &str)]) -> Self {
        let sandbox = Self::unborn();
        for (path, text) in files {
            sandbox.write(path, text);
        }
        sandbox.commit("Base");
        sandbox.git(&["checkout", "--quiet", "-b", "feature"]);
        sandbox
    }

    /// `feature` with one P1 committed.
    pub fn with_shared_list() -> Self {
        let sandbox = Self::on_feature();
        sandbox.write("app.py", SHARED_LIST);
        sandbox.commit("Share a list");
        sandbox
    }

    pub fn path(&self) -> PathBuf {
        self.root.path().join("repo")
    }

    pub fn root(&self) -> &Path {
        self.root.path()
    }

    pub fn outside(&self) -> PathBuf {
        self.root.path().join("outside")
    }

    pub fn temporary_folder(&self) -> PathBuf {
        self.root.path().join("tmp")
    }

    pub fn write(&self, path: impl AsRef<Path>, content: impl AsRef<[u8]>) {
        let path = self.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub fn read(&self, path: impl AsRef<Path>) -> String {
        fs::read_to_string(self.path().join(path)).unwrap()
    }

    /// Stages everything and commits it; returns the commit's id.
    pub fn commit(&self, message: &str) -> String {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "-m", message]);
        self.git(&["rev-parse", "HEAD"])
    }

    pub fn switch(&self, branch: &str) {
        self.git(&["checkout", "--quiet", branch]);
    }

    pub fn git<S: AsRef<OsStr>>(&self, args: &[S]) -> String {
        self.git_in(&self.path(), args)
    }

    pub fn git_in<S: AsRef<OsStr>>(&self, folder: &Path, args: &[S]) -> String {
        let mut command = self.clean_command("git", folder);
        command.args(args);
        let output = command.output().unwrap();
        assert!(output.status.success(), "git failed: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
    }

    fn clean_command(&self, program: &str, folder: &Path) -> Command {
        let home = self.root.path().join("home");
        let mut command = Command::new(program);
        command.env_clear().current_dir(folder);
        command
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", &home)
            .env("XDG_CONFIG_HOME", home.join("config"))
            .env("XDG_STATE_HOME", home.join("state"))
            .env("XDG_CACHE_HOME", home.join("cache"))
            .env("XDG_DATA_HOME", home.join("data"))
            .env("TMPDIR", self.temporary_folder())
            .env("TZ", "UTC")
            .env("GIT_CONFIG_NOSYSTEM", "1");
        if program == "git" {
            // The same content always has the same id.
            for who in ["AUTHOR", "COMMITTER"] {
                command
                    .env(format!("GIT_{who}_NAME"), "Ada")
                    .env(format!("GIT_{who}_EMAIL"), "ada@example.com")
                    .env(format!("GIT_{who}_DATE"), "2026-01-02T03:04:05Z");
            }
        }
        command
    }

    /// `tribunal` in the repository, not yet started.
    pub fn command(&self, args: &[&str]) -> Command {
        self.command_in(&self.path(), args)
    }

    pub fn command_in(&self, folder: &Path, args: &[&str]) -> Command {
        let mut command = self.clean_command(env!("CARGO_BIN_EXE_tribunal"), folder);
        command.args(args);
        command
    }

    pub fn tribunal(&self, args: &[&str]) -> Run {
        finish(self.command(args), b"")
    }

    pub fn tribunal_in(&self, folder: &Path, args: &[&str]) -> Run {
        finish(self.command_in(folder, args), b"")
    }

    pub fn tribunal_reading(&self, folder: &Path, args: &[&str], input: impl AsRef<[u8]>) -> Run {
        finish(self.command_in(folder, args), input.as_ref())
    }

    /// Reviews and reads the JSON document.
    #[track_caller]
    pub fn review(&self, args: &[&str]) -> Document {
        let mut all = vec!["review", "--format", "json"];
        all.extend(args);
        let run = self.tribunal(&all);
        Document { code: run.code, json: run.json() }
    }

    /// Writes `.tribunal.toml` and trusts it.
    pub fn configure(&self, text: &str) {
        self.write(".tribunal.toml", text);
        self.tribunal(&["trust", "--yes"]).ends_with(0);
    }

    /// Configuration of the person, which needs no trust.
    pub fn configure_person(&self, text: &str) {
        let folder = self.root.path().join("home/config/tribunal");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("config.toml"), text).unwrap();
    }

    /// A script that can play a role, as the `command` of an agent.
    pub fn script(&self, name: &str, text: &str) -> String {
        let path = self.root.path().join("agents").join(name);
        fs::write(&path, text).unwrap();
        format!("[\"sh\", \"{}\"]", path.display())
    }

    /// Gives a role the built-in rules and, beside them, a script.
    pub fn seat(&self, role: &str, script: &str) {
        self.seat_with(role, script, "");
    }

    /// The same with more settings of the script.
    pub fn seat_with(&self, role: &str, script: &str, more: &str) {
        let command = self.script("helper.sh", script);
        self.configure_person(&format!(
            "[panel]\n{role} = [\"rules\", \"helper\"]\n[agents.helper]\nkind = \"command\"\ncommand = {command}\n{more}"
        ));
    }
}

pub fn finish(mut command: Command, input: &[u8]) -> Run {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    let writer = std::thread::spawn(move || {
        // A command that does not read its input is not at fault.
        let _ = stdin.write_all(&input);
    });
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    Run {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// A review's document and the exit code it came with.
#[derive(Debug, Clone)]
pub struct Document {
    pub code: i32,
    pub json: Value,
}

impl Document {
    #[track_caller]
    pub fn ends_with(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{:#}", self.json);
        self
    }

    pub fn text(&self, key: &str) -> &str {
        self.json[key].as_str().unwrap_or_default()
    }

    /// `file:rule-or-slug` of every open finding, sorted.
    pub fn found(&self) -> Vec<String> {
        let mut found: Vec<String> =
            self.findings().map(|finding| format!("{}:{}", str_of(finding, "file"), str_of(finding, "slug"))).collect();
        found.sort();
        found
    }

    pub fn findings(&self) -> impl Iterator<Item = &Value> {
        self.json["findings"].as_array().unwrap().iter()
    }

    #[track_caller]
    pub fn finding(&self, slug: &str) -> &Value {
        self.findings().find(|finding| finding["slug"] == slug).unwrap_or_else(|| panic!("no {slug} in {:?}", self.found()))
    }

    /// Paths in the account of the receipt, sorted.
    pub fn files(&self) -> Vec<String> {
        let mut files: Vec<String> = self.accounts().map(|account| str_of(account, "path").to_owned()).collect();
        files.sort();
        files
    }

    pub fn accounts(&self) -> impl Iterator<Item = &Value> {
        self.json["receipt"]["coverage"]["accounts"].as_array().unwrap().iter()
    }

    #[track_caller]
    pub fn account(&self, path: &str) -> &Value {
        self.accounts().find(|account| account["path"] == path).unwrap_or_else(|| panic!("no {path:?} in {:?}", self.files()))
    }

    /// How a file ended: `reviewed`, `lines-only`, or the reason for which it was skipped or could not be read.
    #[track_caller]
    pub fn ended(&self, path: &str) -> String {
        let ended = &self.account(path)["ended"];
        let reason = ended["skipped"].as_str().or_else(|| ended["not-reviewed"].as_str());
        ended.as_str().or(reason).unwrap().to_owned()
    }

    pub fn notices(&self) -> String {
        self.json["notices"].as_array().unwrap().iter().filter_map(Value::as_str).collect::<Vec<_>>().join("\n")
    }

    /// Everything but what two runs over the same change may differ in.
    pub fn without_run(&self) -> Value {
        let mut json = self.json.clone();
        for key in ["run", "started_at", "finished_at"] {
            assert!(json["receipt"].as_object_mut().unwrap().remove(key).is_some(), "{key}");
        }
        json
    }
}

pub fn str_of<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

/// A path from bytes that need not be UTF-8.
pub fn odd_path(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(bytes))
}

/// A script that swallows its brief and prints this report.
pub fn answering(report: &Value) -> String {
    format!("cat > /dev/null\ncat <<'REPORT'\n{report}\nREPORT\n")
}

/// A claim about a line of `app.py`, in a shape that passes the gate.
pub fn claim(category: &str, evidence: &str, failure_mode: &str) -> Value {
    serde_json::json!({
        "category": category, "file": "app.py", "confidence": "high", "blast": "local", "justification": "reachable",
        "severity": "factual", "evidence": evidence, "failure_mode": failure_mode, "mitigation": "Change it.",
    })
}

/// Waits until it holds, and looks often: what comes then is often about the moment.
pub fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < PATIENCE, "not within {} s: {what}", PATIENCE.as_secs());
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Opens a named pipe for writing, which succeeds once a reader is there. A reader that never comes fails the test instead of
/// holding it up.
pub fn open_when_read(pipe: PathBuf) -> fs::File {
    let (sender, opened) = std::sync::mpsc::channel();
    std::thread::spawn(move || sender.send(fs::OpenOptions::new().write(true).open(pipe)));
    opened.recv_timeout(PATIENCE).expect("nobody opened the pipe").unwrap()
}
