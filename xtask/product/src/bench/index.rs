//! An index of 20,000 documents, made and asked as a person would: the release binary in a checkout.

use super::{Figure, median, millis};
use anyhow::{Context as _, Result, bail, ensure};
use fake_model_server::{ModelServer, Reply, Script};
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::time::Instant;
use xtask::root;

const DOCUMENTS: usize = 20_000;
const CHANGED: usize = 100;
const LINES: usize = 40;

pub fn figures(binary: &Path, work: &Path) -> Result<Vec<Figure>> {
    let (checkout, home) = (work.join("library"), work.join("library-home"));
    let server = ModelServer::start(Script::always(Reply::Echo));
    let at = Place { binary, checkout: &checkout, home: &home };
    at.make()?;
    let begun = Instant::now();
    at.tribunal(&["index", "--no-issues"])?;
    eprintln!("bench: {DOCUMENTS} documents were indexed in {:.1} s", begun.elapsed().as_secs_f64());
    let answer = |at: &Place<'_>| -> Result<f64> {
        let begun = Instant::now();
        let found = at.tribunal(&["search", "--no-refresh", "--kind", "code", "retry budget of the forge client"])?;
        let time = millis(begun.elapsed());
        ensure!(String::from_utf8_lossy(&found.stdout).lines().count() > 2, "nothing was found");
        Ok(time)
    };
    let by_words = median(7, || answer(&at))?;
    let mut round = 0;
    let refresh = median(5, || {
        round += 1;
        at.change(round)?;
        let begun = Instant::now();
        let done = at.tribunal(&["index", "--no-issues", "--kind", "code", "--format", "json"])?;
        let time = millis(begun.elapsed());
        let rows: serde_json::Value = serde_json::from_slice(&done.stdout)?;
        ensure!(rows[0]["changed"] == CHANGED, "{rows}");
        Ok(time)
    })?;
    at.with_vectors(&server.url())?;
    at.tribunal(&["index", "--no-issues", "--kind", "code"])?;
    let by_meaning = median(7, || answer(&at))?;
    let figure = |name: &str, value, limit| Figure { name: name.into(), value, limit, unit: "ms" };
    Ok(vec![
        figure("20,000 documents, answer by words", by_words, 50.0),
        figure("20,000 documents, answer by words and meaning", by_meaning, 50.0),
        figure("20,000 documents, 100 changed, refresh", refresh, 2000.0),
    ])
}

struct Place<'a> {
    binary: &'a Path,
    checkout: &'a Path,
    home: &'a Path,
}

impl Place<'_> {
    fn run(&self, program: &Path, args: &[&str]) -> Result<Output> {
        let output = Command::new(program)
            .args(args)
            .current_dir(self.checkout)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.home)
            .output()
            .with_context(|| format!("{} could not be run", program.display()))?;
        if !output.status.success() {
            bail!("{} {args:?}: {}", program.display(), String::from_utf8_lossy(&output.stderr));
        }
        Ok(output)
    }

    fn git(&self, args: &[&str]) -> Result<Output> {
        self.run(Path::new("git"), args)
    }

    fn tribunal(&self, args: &[&str]) -> Result<Output> {
        self.run(self.binary, args)
    }

    /// Documents whose words are those of this project.
    fn make(&self) -> Result<()> {
        fs::create_dir_all(self.checkout)?;
        fs::create_dir_all(self.home)?;
        self.git(&["init", "--quiet", "--initial-branch=main"])?;
        let lines = lines(&root())?;
        for number in 0..DOCUMENTS {
            let folder = self.checkout.join(format!("src/{}", number / 500));
            fs::create_dir_all(&folder)?;
            let text: Vec<&str> = (0..LINES).map(|nth| lines[(number * 7919 + nth * 104_729) % lines.len()].as_str()).collect();
            fs::write(folder.join(format!("{number}.rs")), text.join("\n"))?;
        }
        self.commit()
    }

    fn change(&self, round: usize) -> Result<()> {
        for nth in 0..CHANGED {
            let number = (round * CHANGED + nth * 197) % DOCUMENTS;
            let path = self.checkout.join(format!("src/{}/{number}.rs", number / 500));
            let text = fs::read_to_string(&path)?;
            fs::write(path, format!("{text}\n// round {round}"))?;
        }
        self.commit()
    }

    fn commit(&self) -> Result<()> {
        self.git(&["add", "--all"])?;
        self.git(&["-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "--quiet", "-m", "documents"]).map(drop)
    }

    fn with_vectors(&self, server: &str) -> Result<()> {
        let folder = self.home.join(".config/tribunal");
        fs::create_dir_all(&folder)?;
        let config = format!(
            "[budget]\nrun_tokens = 100000000\n[library]\nembeddings = \"e\"\n[agents.e]\nkind = \"openai-chat\"\nmodel = \"e\"\nbase_url = \"{server}/v1\"\nprice = {{ input = 0.0, output = 0.0 }}\n"
        );
        Ok(fs::write(folder.join("config.toml"), config)?)
    }
}

fn lines(root: &Path) -> Result<Vec<String>> {
    let listed = Command::new("git").args(["ls-files", "crates", "docs"]).current_dir(root).output()?;
    let mut lines = Vec::new();
    for path in String::from_utf8_lossy(&listed.stdout).lines().filter(|path| path.ends_with(".rs") || path.ends_with(".md")) {
        lines.extend(fs::read_to_string(root.join(path))?.lines().filter(|line| line.len() > 20).map(str::to_owned));
    }
    ensure!(lines.len() > 1000, "there is no text to make documents of");
    Ok(lines)
}
