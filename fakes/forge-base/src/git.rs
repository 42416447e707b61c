//! A bare repository and the few things that a forge does to one. Real git, so that diffs, merges and fetches are what they are.

use crate::diff::{Diff, carry};
use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};

/// One file of a commit: its content, or nothing when the commit deletes it.
pub type Change<'a> = (&'a str, Option<&'a [u8]>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MergeWay {
    Merge,
    Squash,
    Rebase,
}

#[derive(Debug, Clone)]
pub struct Repository {
    folder: PathBuf,
    /// What git said of objects that are named by their ids, which it says for ever.
    said: Arc<Mutex<BTreeMap<Vec<String>, Vec<u8>>>>,
}

fn is_id(name: &str) -> bool {
    name.len() == 40 && name.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// git that knows nothing of the person's settings.
pub(crate) fn git() -> Command {
    let mut command = Command::new("git");
    // Not cleared as a whole: then a copy of this process would look for git.
    let passed = ["PATH", "TMPDIR", "SYSTEMROOT"];
    for (name, _) in std::env::vars_os().filter(|(name, _)| !passed.iter().any(|passed| name == passed)) {
        command.env_remove(name);
    }
    command.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null").env("HOME", "/nonexistent");
    for role in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{role}_NAME"), "Forge").env(format!("GIT_{role}_EMAIL"), "forge@example.org");
        command.env(format!("GIT_{role}_DATE"), "1793491200 +0000");
    }
    command
}

impl Repository {
    /// An empty bare repository that serves any commit by its id, and partial clones.
    pub(crate) fn create(folder: &Path) -> Repository {
        let repository = Repository { folder: folder.to_owned(), said: Arc::default() };
        let made = git().args(["init", "-q", "--bare", "--template=", "-b", "main"]).arg(folder).status().expect("git runs");
        assert!(made.success(), "git init");
        for (key, value) in [
            ("uploadpack.allowFilter", "true"),
            ("uploadpack.allowAnySHA1InWant", "true"),
            ("http.receivepack", "true"),
            ("core.hooksPath", "/dev/null"),
            ("gc.auto", "0"),
        ] {
            repository.run(&["config", key, value]);
        }
        repository
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    fn output(&self, args: &[&str], input: &[u8]) -> std::process::Output {
        let mut child = git()
            .arg("--git-dir")
            .arg(&self.folder)
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("git runs");
        // A pipe that is full on both ends would wait for ever.
        let mut stdin = child.stdin.take().expect("a pipe");
        let input = input.to_owned();
        let feeder = std::thread::spawn(move || drop(stdin.write_all(&input)));
        let output = child.wait_with_output().expect("git ends");
        let _ = feeder.join();
        output
    }

    /// Asks something whose answer depends on these objects alone; nothing when git fails. A forge shows every pull request in every
    /// list, and asks often.
    fn ask_once(&self, args: &[&str], objects: &[&str]) -> Option<Vec<u8>> {
        let question: Vec<String> = args.iter().map(|word| (*word).to_owned()).collect();
        let said = || self.said.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = said().get(&question) {
            return Some(known.clone());
        }
        let output = self.output(args, b"");
        if !output.status.success() {
            return None;
        }
        if objects.iter().all(|object| is_id(object)) {
            said().insert(question, output.stdout.clone());
        }
        Some(output.stdout)
    }

    fn line_once(&self, args: &[&str], objects: &[&str]) -> Option<String> {
        let said = self.ask_once(args, objects)?;
        Some(String::from_utf8_lossy(&said).lines().next()?.to_owned())
    }

    /// Runs git and gives what it printed, or nothing when it failed.
    pub fn try_run(&self, args: &[&str]) -> Option<String> {
        let output = self.output(args, b"");
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim_end().to_owned())
    }

    pub fn run(&self, args: &[&str]) -> String {
        self.run_with(args, b"")
    }

    fn run_with(&self, args: &[&str], input: &[u8]) -> String {
        let output = self.output(args, input);
        assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
    }

    /// Commits onto `parent`, or onto nothing, and sets the branch to it, whatever it was before.
    pub fn commit(&self, branch: &str, parent: Option<&str>, changes: &[Change<'_>], message: &str) -> String {
        let reference = format!("refs/heads/{branch}");
        let mut stream = Vec::new();
        let mut line = |text: String| stream.extend_from_slice(text.as_bytes());
        // Without a parent named, fast-import would go on from where the branch is.
        line(format!("reset {reference}\n\n"));
        line(format!("commit {reference}\ncommitter Author <author@example.org> 1793491200 +0000\n"));
        line(format!("data {}\n{message}\n", message.len()));
        if let Some(parent) = parent {
            line(format!("from {}\n", self.rev(parent).expect("the parent is there")));
        }
        for (path, content) in changes {
            let quoted = path.replace('\\', "\\\\").replace('"', "\\\"");
            match content {
                None => stream.extend_from_slice(format!("D \"{quoted}\"\n").as_bytes()),
                Some(content) => {
                    stream.extend_from_slice(format!("M 100644 inline \"{quoted}\"\ndata {}\n", content.len()).as_bytes());
                    stream.extend_from_slice(content);
                    stream.push(b'\n');
                }
            }
        }
        self.run_with(&["fast-import", "--quiet", "--force"], &stream);
        self.rev(&reference).expect("the branch is there")
    }

    /// The commit of a branch, a reference or an id.
    pub fn rev(&self, name: &str) -> Option<String> {
        let branch = if name.starts_with("refs/") { name.to_owned() } else { format!("refs/heads/{name}") };
        // Nothing packs refs here, so each of them is a file; asking git would be a process for each question of a client.
        let tip = std::fs::read_to_string(self.folder.join(&branch)).ok().map(|tip| tip.trim_end().to_owned());
        let is_commit = |tip: &String| is_id(tip) && !branch.starts_with("refs/tags/");
        tip.filter(is_commit).or_else(|| self.line_once(&["rev-parse", "--verify", "-q", &format!("{name}^{{commit}}")], &[name]))
    }

    pub fn set_ref(&self, reference: &str, sha: &str) {
        self.run(&["update-ref", reference, sha]);
    }

    pub fn delete_ref(&self, reference: &str) {
        self.run(&["update-ref", "-d", reference]);
    }

    pub fn merge_base(&self, one: &str, other: &str) -> Option<String> {
        self.line_once(&["merge-base", one, other], &[one, other])
    }

    /// The commits of `head` that `base` has not, oldest first.
    pub fn commits(&self, base: &str, head: &str) -> Vec<String> {
        let said = self.ask_once(&["rev-list", "--reverse", &format!("{base}..{head}")], &[base, head]).expect("both are here");
        String::from_utf8_lossy(&said).lines().map(str::to_owned).collect()
    }

    pub fn message(&self, sha: &str) -> String {
        let said = self.ask_once(&["log", "-1", "--format=%B", sha], &[sha]).expect("it is here");
        String::from_utf8_lossy(&said).trim_end().to_owned()
    }

    pub fn file(&self, sha: &str, path: &str) -> Option<Vec<u8>> {
        self.ask_once(&["cat-file", "blob", &format!("{sha}:{path}")], &[sha])
    }

    /// What a forge shows for a pull request: the head against where it left the base.
    pub fn diff(&self, base: &str, head: &str) -> Diff {
        let from = self.merge_base(base, head).unwrap_or_else(|| base.to_owned());
        self.diff_between(&from, head)
    }

    pub fn diff_text(&self, base: &str, head: &str) -> Vec<u8> {
        let from = self.merge_base(base, head).unwrap_or_else(|| base.to_owned());
        self.diff_text_between(&from, head).unwrap_or_default()
    }

    fn diff_text_between(&self, from: &str, to: &str) -> Option<Vec<u8>> {
        self.ask_once(&["-c", "core.quotePath=false", "diff", "--full-index", "--no-ext-diff", "-M", from, to], &[from, to])
    }

    pub fn diff_between(&self, from: &str, to: &str) -> Diff {
        let raw = self.ask_once(&["diff", "--raw", "-z", "--no-abbrev", "--no-ext-diff", "-M", from, to], &[from, to]);
        let text = self.diff_text_between(from, to);
        Diff::parse(&raw.unwrap_or_default(), &text.unwrap_or_default())
    }

    /// Where a line of a file at one commit stands at another; nothing when it was changed or deleted.
    pub fn carry_line(&self, from: &str, to: &str, path: &str, line: u32) -> Option<u32> {
        if from == to {
            return Some(line);
        }
        let args = ["--literal-pathspecs", "diff", "--no-ext-diff", "-U0", from, to, "--", path];
        let diff = self.ask_once(&args, &[from, to]).unwrap_or_default();
        self.file(to, path)?;
        carry(&String::from_utf8_lossy(&diff), line)
    }

    /// Merges and gives the new commit of the base; nothing when there is a conflict.
    pub fn merge(&self, base: &str, head: &str, way: MergeWay, message: &str) -> Option<String> {
        let onto = self.rev(base)?;
        let new = match way {
            MergeWay::Merge | MergeWay::Squash => {
                let tree = self.merged_tree(&onto, head)?;
                let mut args = vec!["commit-tree", &tree, "-m", message, "-p", &onto];
                if way == MergeWay::Merge {
                    args.extend(["-p", head]);
                }
                self.run(&args)
            }
            MergeWay::Rebase => {
                let mut tip = onto.clone();
                for commit in self.commits(&onto, head) {
                    let parent = self.rev(&format!("{commit}~1"))?;
                    let tree = self.picked_tree(&parent, &tip, &commit)?;
                    tip = self.run(&["commit-tree", &tree, "-m", &self.message(&commit), "-p", &tip]);
                }
                tip
            }
        };
        self.set_ref(&format!("refs/heads/{base}"), &new);
        Some(new)
    }

    pub fn conflicts(&self, base: &str, head: &str) -> bool {
        self.merged_tree(base, head).is_none()
    }

    fn merged_tree(&self, base: &str, head: &str) -> Option<String> {
        self.line_once(&["merge-tree", "--write-tree", base, head], &[base, head])
    }

    /// The tree of `tip` with what `commit` did to `parent`. A commit is made with the wanted merge base, since older gits do not
    /// take one by name.
    fn picked_tree(&self, parent: &str, tip: &str, commit: &str) -> Option<String> {
        let tip_tree = self.run(&["rev-parse", &format!("{tip}^{{tree}}")]);
        let stand_in = self.run(&["commit-tree", &tip_tree, "-m", "stand-in", "-p", parent]);
        self.merged_tree(&stand_in, commit)
    }
}
