//! Where names stand in a tree, without an index: one `git grep` over the files of a language, bounded by time and bytes.

use super::Repository;
use super::class::UntrustedTree;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};
use tribunal_core::diff::parse::text_of;
use tribunal_core::ids::{RepoPath, Sha};

/// A line that holds a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    pub path: RepoPath,
    /// 1-based.
    pub line: u32,
    pub text: String,
}

/// What a search may take.
#[derive(Debug, Clone, Copy)]
pub struct SearchLimits {
    pub time: Duration,
    /// Bytes of git's answer.
    pub bytes: usize,
    /// Lines of one file.
    pub per_file: u32,
}

/// Which lines are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    Mentions,
    /// Lines that look as if they define one of the names. Coarse: whoever wants to be sure parses the file.
    Definitions,
}

#[derive(Debug, Clone, Default)]
pub struct Found {
    pub places: Vec<Place>,
    /// A limit was reached, and there may be more.
    pub is_cut: bool,
}

const DEFINING: &str = "(def|fn|func|function|fun|class|struct|enum|union|trait|interface|type|typedef|module|object|record|namespace|macro_rules!|define|const|let|var|val|void)";

impl Repository {
    /// Nothing found and nothing readable are the same: this only saves a reader the search. `endings` are those of file names.
    pub fn search(&self, tree: &Sha, names: &[&str], endings: &[&str], wanted: Wanted, limits: SearchLimits) -> Found {
        // Names come from a change; only what cannot be anything but a name goes into an expression.
        let is_name = |name: &&&str| !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
        let names: Vec<&str> = names.iter().filter(is_name).copied().collect();
        if names.is_empty() || endings.is_empty() {
            return Found::default();
        }
        let begun = Instant::now();
        if self.bring_ending_in(tree, endings).is_err() {
            return Found::default();
        }
        let mut git = self.on_tree(UntrustedTree::Grep).with_pathspec_magic().args([
            "-I",
            "-z",
            "-n",
            "--no-color",
            "--full-name",
            &format!("--max-count={}", limits.per_file),
        ]);
        match wanted {
            Wanted::Mentions => {
                git = git.args(["-w", "-F"]);
                for name in &names {
                    git = git.args(["-e", name]);
                }
            }
            Wanted::Definitions => {
                let any = names.join("|");
                // With a word before it (and a receiver, or `self.`), or as languages do that begin with a type.
                let worded =
                    format!("{DEFINING}[[:space:]]+(\\([^)]*\\)[[:space:]]*|[A-Za-z0-9_<>:.]+[.:])?({any})([^A-Za-z0-9_]|$)");
                let typed = format!("^[[:space:]]*[A-Za-z_][^=;(){{}}\"']*[[:space:]&*:]({any})[[:space:]]*\\([^;]*$");
                git = git.args(["-E", "-e", &worded, "-e", &typed]);
            }
        }
        let globs: Vec<String> = endings.iter().map(|ending| format!(":(glob,icase)**/*.{ending}")).collect();
        let git = git.arg(tree.as_str()).arg("--").args(&globs);
        let Ok(mut child) = git.spawn_reading() else { return Found::default() };
        let Some(mut stdout) = child.stdout.take() else { return Found::default() };
        let (sender, receiver) = sync_channel::<Vec<u8>>(4);
        let reader = std::thread::spawn(move || {
            let mut buffer = vec![0; 64 * 1024];
            while let Ok(count @ 1..) = stdout.read(&mut buffer) {
                if sender.send(buffer[..count].to_vec()).is_err() {
                    break;
                }
            }
        });
        let (mut bytes, mut is_cut) = (Vec::new(), false);
        loop {
            match receiver.recv_timeout(limits.time.saturating_sub(begun.elapsed())) {
                Ok(more) => bytes.extend(more),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => is_cut = true,
            }
            is_cut |= bytes.len() > limits.bytes;
            if is_cut {
                break;
            }
        }
        drop(receiver);
        // It may still be reading the tree.
        let _ = child.kill();
        let _ = child.wait();
        let _ = reader.join();
        if is_cut {
            let whole = bytes.iter().rposition(|byte| *byte == b'\n').unwrap_or(0);
            bytes.truncate(whole);
        }
        let prefix = format!("{tree}:");
        let places = bytes.split(|byte| *byte == b'\n').filter_map(|line| place(line, &prefix)).collect();
        Found { places, is_cut }
    }

    /// The texts of these files of a tree, as far as they are text and not larger than `limit`.
    pub fn texts_at(&self, tree: &Sha, paths: &[&RepoPath], limit: u64) -> BTreeMap<RepoPath, String> {
        // The question is one name a line.
        let paths: Vec<&RepoPath> = paths.iter().filter(|path| !path.as_str().contains('\n')).copied().collect();
        let names: Vec<String> = paths.iter().map(|path| format!("{tree}:{path}")).collect();
        let mut texts = BTreeMap::new();
        // What cannot be read is no context.
        let _ = self.each_blob(&names, limit + 1, |blob| {
            if blob.bytes.len() as u64 <= limit
                && let Ok(text) = std::str::from_utf8(blob.bytes)
            {
                texts.insert(paths[blob.index].clone(), text.to_owned());
            }
            Ok(())
        });
        texts
    }

    /// A clone of ours may not have the files yet.
    fn bring_ending_in(&self, tree: &Sha, endings: &[&str]) -> Result<(), super::GitError> {
        let has_ending = |path: &RepoPath| {
            let ending = path.extension().map(str::to_ascii_lowercase);
            ending.is_some_and(|ending| endings.contains(&ending.as_str()))
        };
        if !self.is_clone() {
            return Ok(());
        }
        let listed = self.listed(tree, &[".".to_owned()])?;
        let ids: BTreeSet<String> = listed.into_iter().filter(|(path, _)| has_ending(path)).map(|(_, id)| id).collect();
        self.bring(ids)
    }
}

/// `<tree>:<path>␀<line>␀<text>`, or with a colon behind the line, as older gits write it.
fn place(line: &[u8], prefix: &str) -> Option<Place> {
    let line = line.strip_prefix(prefix.as_bytes())?;
    let end = line.iter().position(|byte| *byte == 0)?;
    let (path, rest) = (text_of(&line[..end]), String::from_utf8_lossy(&line[end + 1..]));
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let number = rest[..digits].parse().ok()?;
    let text = rest[digits..].trim_start_matches(['\0', ':']).to_owned();
    Some(Place { path: RepoPath(path), line: number, text })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    const LIMITS: SearchLimits = SearchLimits { time: Duration::from_secs(30), bytes: 1_000_000, per_file: 50 };

    fn repository(files: &[(&str, &str)]) -> (tempfile::TempDir, Repository, Sha) {
        let folder = tempfile::tempdir().unwrap();
        let git = |args: &[&str]| {
            let own = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "commit.gpgsign=false"];
            assert!(Command::new("git").current_dir(&folder).args(own).args(args).status().unwrap().success(), "{args:?}");
        };
        git(&["init", "--quiet"]);
        for (path, text) in files {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        git(&["add", "-A"]);
        git(&["commit", "--quiet", "-m", "all"]);
        let repository = Repository::discover(folder.path()).unwrap();
        let head = repository.commit("HEAD").unwrap();
        (folder, repository, head)
    }

    fn found(repository: &Repository, head: &Sha, names: &[&str], endings: &[&str], wanted: Wanted) -> Vec<String> {
        let found = repository.search(head, names, endings, wanted, LIMITS);
        assert!(!found.is_cut);
        found.places.iter().map(|place| format!("{}:{}", place.path, place.line)).collect()
    }

    #[test]
    fn names_are_found_as_whole_words_in_files_of_a_language() {
        let files = [
            ("a/b.py", "x = 1\nrun(x)\nrunner()\n"),
            ("odd\tname.py", "y = run\n"),
            ("c.md", "run it\n"),
            (".hidden/d.PY", "run()\n"),
        ];
        let (_folder, repository, head) = repository(&files);
        let mentions = |names: &[&str]| found(&repository, &head, names, &["py"], Wanted::Mentions);
        assert_eq!(mentions(&["run", "x.*"]), [".hidden/d.PY:1", "a/b.py:2", "odd\tname.py:1"]);
        assert!(mentions(&["--all", ".", "run it"]).is_empty(), "only names are searched for");
        let none = SearchLimits { time: Duration::ZERO, ..LIMITS };
        assert!(repository.search(&head, &["run"], &["py"], Wanted::Mentions, none).is_cut);
    }

    #[test]
    fn definitions_are_found_in_the_words_of_many_languages() {
        let files = [
            ("a.py", "def run(x):\nrun(x)\n"),
            ("a.go", "func (t *T) run() {\n\trun()\n"),
            ("a.c", "static int *run(int x)\n{\n  return run(x);\n"),
            ("a.cc", "int A::run(int x) {\n"),
            ("A.java", "  public List<String> run(int x) {\n    run(x);\n"),
            ("a.rb", "def self.run\n"),
            ("a.ts", "export const run = () => 1;\n"),
        ];
        let (_folder, repository, head) = repository(&files);
        let endings = ["py", "go", "c", "cc", "java", "rb", "ts"];
        assert_eq!(
            found(&repository, &head, &["run"], &endings, Wanted::Definitions),
            ["A.java:1", "a.c:1", "a.cc:1", "a.go:1", "a.py:1", "a.rb:1", "a.ts:1"]
        );
    }
}
