//! How much of what decides is among what a model is given, on recorded changes of large repositories.
//!
//! A folder holds `cases.txt`; each of its lines names a git repository (below the folder, or anywhere) and a range: `name base..head`. For
//! each changed function it is looked up whether its whole definition, and a caller where one exists, is among the lines that are
//! given, and what those lines take compared with whole changed files. Callers are looked up here by text over the whole tree, not by
//! the search that is measured.

use anyhow::{Context as _, Result, bail};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tribunal_context::symbols::{Definition, SymbolKind, symbols};
use tribunal_core::call::usage::estimate_tokens;
use tribunal_core::diff::change::ChangedFile;
use tribunal_core::diff::language::{Language, is_test_path};
use tribunal_core::ids::{RepoPath, Sha};
use tribunal_core::policy::config::ReadLimits;
use tribunal_core::prompt::pieces::{Chosen, budget, choose};
use tribunal_core::prompt::slices::{Focus, slices};
use tribunal_engine::context::{ContextLimits, gather};
use tribunal_forge::git::Repository;
use tribunal_forge::git::change::ChangeBase;
use tribunal_forge::git::search::{Place, SearchLimits, Wanted};

const LEAST_PRESENT: f64 = 0.9;
const MOST_TOKENS: f64 = 0.4;
/// The largest part that a model is given at once.
const LIMIT: u64 = 60_000;
const EVERYTHING: SearchLimits = SearchLimits { time: Duration::from_secs(120), bytes: 256 << 20, per_file: 100_000 };

#[derive(Debug, Default, Clone, Copy)]
struct Counts {
    functions: usize,
    whole: usize,
    /// Whole, or its head and everything near its changed lines.
    in_part: usize,
    with_caller: usize,
    caller_given: usize,
    /// Its definition, and a caller where there is one.
    both: usize,
    diff: u64,
    context: u64,
    files: u64,
}

impl Counts {
    fn plus(self, other: Counts) -> Counts {
        Counts {
            functions: self.functions + other.functions,
            whole: self.whole + other.whole,
            in_part: self.in_part + other.in_part,
            with_caller: self.with_caller + other.with_caller,
            caller_given: self.caller_given + other.caller_given,
            both: self.both + other.both,
            diff: self.diff + other.diff,
            context: self.context + other.context,
            files: self.files + other.files,
        }
    }

    fn present(&self) -> f64 {
        share(self.both as u64, self.functions as u64)
    }

    fn tokens(&self) -> f64 {
        share(self.diff + self.context, self.files)
    }

    fn line(&self, name: &str, millis: u128) -> String {
        format!(
            "{name:<44} {:>4} {:>4} {:>4} {:>4}/{:<4} {:>5.0} % {:>7} {:>7} {:>8} {:>5.0} % {:>6} {millis:>6}",
            self.functions,
            self.whole,
            self.in_part,
            self.caller_given,
            self.with_caller,
            100.0 * self.present(),
            self.diff,
            self.context,
            self.files,
            100.0 * self.tokens(),
            format!("{:.0} %", 100.0 * share(self.context, self.files)),
        )
    }
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 1.0 } else { part as f64 / whole as f64 }
}

pub fn run(folder: Option<PathBuf>) -> Result<()> {
    let Some(folder) = folder else { bail!("name a folder with a cases.txt: cargo xtask bench context FOLDER") };
    let cases = folder.join("cases.txt");
    let text = fs::read_to_string(&cases).with_context(|| format!("{} cannot be read", cases.display()))?;
    println!(
        "{:<44} {:>4} {:>4} {:>4} {:>9} {:>7} {:>7} {:>7} {:>8} {:>7} {:>6} {:>6}",
        "change", "fns", "def", "part", "callers", "both", "diff", "context", "files", "given", "ctx", "ms"
    );
    let mut all = Counts::default();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (name, range) = line.split_once(' ').with_context(|| format!("`{line}` is not `repository base..head`"))?;
        let (base, head) = range.trim().split_once("..").with_context(|| format!("`{range}` is no range"))?;
        let (counts, millis) = measure(&folder.join(name), base, head).with_context(|| line.to_owned())?;
        let short = Path::new(name).components().rev().find_map(|part| {
            let part = part.as_os_str().to_string_lossy().into_owned();
            (part != "repo" && part != ".git").then_some(part)
        });
        println!("{}", counts.line(&format!("{} {}", short.unwrap_or_default(), &head[..head.len().min(10)]), millis));
        all = all.plus(counts);
    }
    println!("{}", all.line("all", 0));
    println!("definition and a caller where one exists: {:.1} %, at least {:.0} %", 100.0 * all.present(), 100.0 * LEAST_PRESENT);
    println!("tokens given, of whole changed files:     {:.1} %, at most {:.0} %", 100.0 * all.tokens(), 100.0 * MOST_TOKENS);
    if all.present() < LEAST_PRESENT || all.tokens() > MOST_TOKENS {
        bail!("a figure of `context` missed its limit");
    }
    Ok(())
}

fn measure(path: &Path, base: &str, head: &str) -> Result<(Counts, u128)> {
    let repository = Repository::discover(path)?;
    let (base, head) = (repository.commit(base)?, repository.commit(head)?);
    let read = repository.read_change(ChangeBase::commit(&base), &head, ReadLimits::default())?;
    let files: Vec<&ChangedFile> =
        read.change.files.iter().filter(|file| file.language().is_some() && file.new_text.is_some()).collect();
    let begun = Instant::now();
    let gathered = gather(Some((&repository, &head)), &files, ContextLimits::default());
    let everything = Focus { window: None, open_lines: &BTreeSet::new() };
    let mut shown: BTreeMap<RepoPath, BTreeSet<u32>> = BTreeMap::new();
    let mut counts = Counts::default();
    for file in &files {
        for slice in slices(file, None, &everything, LIMIT) {
            counts.diff += estimate_tokens(&slice.text);
            shown.entry(slice.path).or_default().extend(slice.shown);
        }
        counts.files += estimate_tokens(file.new_text.as_deref().unwrap_or_default());
    }
    let chosen = choose(&gathered.candidates, &shown, budget(counts.diff, counts.files, LIMIT));
    let millis = begun.elapsed().as_millis();
    counts.context = chosen.excerpts.iter().map(|excerpt| estimate_tokens(&excerpt.text)).sum();
    let given = given(&shown, &chosen);
    for file in &files {
        for (definition, touched) in changed_functions(file) {
            judge(&repository, &head, file, &definition, &touched, &given, &mut counts)?;
        }
    }
    Ok((counts, millis))
}

/// Every line of the head that a model sees.
fn given(shown: &BTreeMap<RepoPath, BTreeSet<u32>>, chosen: &Chosen) -> BTreeMap<RepoPath, BTreeSet<u32>> {
    let mut given = shown.clone();
    for excerpt in &chosen.excerpts {
        let numbers = excerpt.text.lines().filter_map(|line| line.trim_start().split(' ').next()?.parse::<u32>().ok());
        given.entry(excerpt.path.clone()).or_default().extend(numbers);
    }
    given
}

/// The functions in which a line was written.
fn changed_functions(file: &ChangedFile) -> Vec<(Definition, BTreeSet<u32>)> {
    let (Some(language), Some(text)) = (file.language(), file.new_text.as_deref()) else { return Vec::new() };
    let Some(symbols) = symbols(language, text, &BTreeSet::new()) else { return Vec::new() };
    let mut found: Vec<(Definition, BTreeSet<u32>)> = Vec::new();
    for line in file.added_lines().filter(|line| !line.text.trim().is_empty()).filter_map(|line| line.new_line) {
        let Some(definition) = symbols.innermost(line, SymbolKind::Function) else { continue };
        match found.iter_mut().find(|(known, _)| known == definition) {
            Some((_, touched)) => touched.insert(line),
            None => {
                found.push((definition.clone(), BTreeSet::from([line])));
                true
            }
        };
    }
    found
}

fn judge(
    repository: &Repository,
    head: &Sha,
    file: &ChangedFile,
    definition: &Definition,
    touched: &BTreeSet<u32>,
    given: &BTreeMap<RepoPath, BTreeSet<u32>>,
    counts: &mut Counts,
) -> Result<()> {
    let text = file.new_text.as_deref().unwrap_or_default();
    let none = BTreeSet::new();
    let lines = given.get(&file.path).unwrap_or(&none);
    let mut own = (1..).zip(text.lines()).filter(|(number, _)| (definition.start_line..=definition.end_line).contains(number));
    let is_whole = own.all(|(number, line)| lines.contains(&number) || !line.chars().any(char::is_alphanumeric));
    let near =
        touched.iter().flat_map(|line| line.saturating_sub(3).max(definition.start_line)..=(line + 3).min(definition.end_line));
    let is_in_part = is_whole || lines.contains(&definition.name_line) && near.into_iter().all(|line| lines.contains(&line));
    counts.functions += 1;
    counts.whole += usize::from(is_whole);
    counts.in_part += usize::from(is_in_part);
    let callers = callers(repository, head, file, definition)?;
    // A caller in product code where there is one, else a test.
    let product: Vec<&Place> = callers.iter().filter(|place| !is_test_path(&place.path)).collect();
    let wanted = if product.is_empty() { callers.iter().collect() } else { product };
    let is_given = |place: &&Place| given.get(&place.path).is_some_and(|lines| lines.contains(&place.line));
    let has_caller = wanted.iter().any(is_given);
    counts.with_caller += usize::from(!wanted.is_empty());
    counts.caller_given += usize::from(has_caller);
    counts.both += usize::from(is_whole && (has_caller || wanted.is_empty()));
    Ok(())
}

/// Lines that seem to call a function, anywhere in files of its language.
fn callers(repository: &Repository, head: &Sha, file: &ChangedFile, definition: &Definition) -> Result<Vec<Place>> {
    let language = file.language().context("a language")?;
    let endings: Vec<&str> = match language {
        Language::C | Language::Cpp => vec!["c", "h", "cc", "cpp", "hpp"],
        Language::JavaScript | Language::TypeScript | Language::Tsx => vec!["js", "mjs", "cjs", "jsx", "ts", "mts", "tsx"],
        Language::Java | Language::Kotlin => vec!["java", "kt"],
        _ => file.path.extension().into_iter().collect(),
    };
    let is_constructor = matches!(definition.name.as_str(), "__init__" | "__construct" | "constructor" | "initialize" | "new");
    let name = match &definition.container {
        Some(container) if is_constructor => container.as_str(),
        _ => definition.name.as_str(),
    };
    let found = repository.search(head, &[name], &endings, Wanted::Mentions, EVERYTHING);
    let is_own = |place: &Place| place.path == file.path && (definition.start_line..=definition.end_line).contains(&place.line);
    Ok(found.places.into_iter().filter(|place| !is_own(place) && is_call(&place.text, name, language)).collect())
}

fn is_call(text: &str, name: &str, language: Language) -> bool {
    let trimmed = text.trim_start();
    if ["//", "#", "*", "/*", "--", "import ", "from "].iter().any(|start| trimmed.starts_with(start)) {
        return false;
    }
    text.match_indices(name).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + name.len()..]);
        let is_word = !before.ends_with(|c: char| c.is_alphanumeric() || c == '_')
            && !after.starts_with(|c: char| c.is_alphanumeric() || c == '_');
        let after = after.trim_start();
        let last = before.trim_end();
        let word = last.rsplit(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
        // `int name(` and `def name(` define; `return name(` and `x = name(` call.
        let is_defined = last.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '*' | '&' | '>' | ']'))
            && !last.ends_with("->")
            && !last.ends_with("=>")
            && !matches!(
                word,
                "return"
                    | "await"
                    | "new"
                    | "throw"
                    | "in"
                    | "not"
                    | "and"
                    | "or"
                    | "if"
                    | "else"
                    | "yield"
                    | "go"
                    | "defer"
                    | "case"
                    | "unless"
                    | "elif"
                    | "while"
                    | "assert"
                    | "match"
                    | "from"
                    | "raise"
            );
        let has_parentheses = after.starts_with('(') || after.starts_with("::<") || after.starts_with("?.(");
        let is_ruby = language == Language::Ruby && !last.ends_with(':') && !after.starts_with(':');
        is_word && !is_defined && (has_parentheses || is_ruby)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_told_from_definitions() {
        let call = |text: &str| is_call(text, "run", Language::Java);
        for text in
            ["run(x)", "  return run(x);", "a.run(x)", "x = run (1)", "if (run())", "p->run()", "() => run()", "vec::<u8>(run())"]
        {
            assert!(call(text), "{text}");
        }
        for text in
            ["void run(int x) {", "def run(x):", "// run(x)", "rerun(x)", "import run", "static char *run(", "List<A> run("]
        {
            assert!(!call(text), "{text}");
        }
        assert!(is_call("job.run", "run", Language::Ruby) && !is_call("def run", "run", Language::Ruby));
    }
}
