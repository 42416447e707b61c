//! `docs/contract/*.md` holds one row per rule id: what we do, and the test that holds it. This check fails on a rule without a
//! row, on a row without an end, and on a named test that does not exist.
//!
//! A row is `| PR-3 | what we do | held: crates/…/file.rs::test_name |`, or ends in `differs: why`, `due: with what`, or
//! `note: why there is nothing to test`.

use anyhow::{Context as _, Result, bail};
use std::collections::BTreeMap;
use std::fs;
use xtask::root;

/// Contract page → prefix and number of rules.
const PAGES: [(&str, &str, u32); 5] = [
    ("panel-review.md", "PR", 143),
    ("watch-loop.md", "WL", 136),
    ("respond-loop.md", "RL", 85),
    ("task-settle.md", "TS", 105),
    ("sweep-loop.md", "SL", 174),
];

pub fn run() -> Result<()> {
    let mut wrong = Vec::new();
    for (page, prefix, count) in PAGES {
        let path = root().join("docs/contract").join(page);
        let text = fs::read_to_string(&path).with_context(|| format!("{} is missing", path.display()))?;
        let (rows, doubled) = rows(&text, prefix);
        wrong.extend(doubled.into_iter().map(|id| format!("{page}: {id} has two rows")));
        let numbers = 1..=count;
        let is_rule =
            |id: &&String| id.rsplit_once('-').and_then(|(_, number)| number.parse().ok()).is_some_and(|n| numbers.contains(&n));
        wrong.extend(rows.keys().filter(|id| !is_rule(id)).map(|id| format!("{page}: there is no rule {id}")));
        for number in 1..=count {
            let id = format!("{prefix}-{number}");
            match rows.get(&id) {
                None => wrong.push(format!("{page}: {id} has no row")),
                Some(end) => wrong.extend(judge(end)?.into_iter().map(|problem| format!("{page}: {id}: {problem}"))),
            }
        }
        let count_of = |word: &str| rows.values().filter(|end| end.starts_with(word)).count();
        eprintln!(
            "contract: {page}: {count} rules: {} held by tests, {} differ, {} due, {} notes",
            count_of("held:"),
            count_of("differs:"),
            count_of("due:"),
            count_of("note:")
        );
    }
    if !wrong.is_empty() {
        bail!("contract:\n  {}", wrong.join("\n  "));
    }
    Ok(())
}

/// The end of each row, and ids that stand twice: of two rows only one would be judged.
fn rows(text: &str, prefix: &str) -> (BTreeMap<String, String>, Vec<String>) {
    let found = text.lines().filter_map(|line| {
        let cells: Vec<&str> = line.trim().strip_prefix('|')?.strip_suffix('|')?.split(" | ").map(str::trim).collect();
        let id = cells.first()?.strip_prefix(prefix)?.strip_prefix('-')?.parse::<u32>().ok()?;
        Some((format!("{prefix}-{id}"), (*cells.last()?).to_owned()))
    });
    let (mut rows, mut doubled) = (BTreeMap::new(), Vec::new());
    for (id, end) in found {
        if rows.insert(id.clone(), end).is_some() {
            doubled.push(id);
        }
    }
    (rows, doubled)
}

fn judge(end: &str) -> Result<Vec<String>> {
    if let Some(tests) = end.strip_prefix("held:") {
        let mut wrong = Vec::new();
        for test in tests.split(',').map(|test| test.trim().trim_matches('`')) {
            if !exists(test)? {
                wrong.push(format!("there is no test {test}"));
            }
        }
        return Ok(wrong);
    }
    let explained =
        ["differs:", "due:", "note:"].iter().any(|word| end.strip_prefix(word).is_some_and(|why| why.trim().len() > 10));
    Ok(if explained { Vec::new() } else { vec![format!("`{end}` is neither held, differs, due nor note")] })
}

/// A name in the list of `told!`, the macro that makes a test of each story on each forge; the list stands in the file above.
fn told_on_each_forge(file: &str, lines: &[&str], name: &str) -> bool {
    let Some(folder) = file.rsplit_once('/').map(|(folder, _)| folder) else { return false };
    let Ok(above) = fs::read_to_string(root().join(format!("{folder}.rs"))) else { return false };
    let list = above.lines().map(str::trim).skip_while(|line| *line != "told!(").take_while(|line| *line != ");");
    let mut listed = list.map(|line| line.trim_end_matches(','));
    lines.iter().any(|line| line.starts_with("told!(")) && listed.any(|line| line == name)
}

/// A name in `told!(town: …);` of one forge.
fn told_here(lines: &[&str], name: &str) -> bool {
    let mut lists = lines.iter().filter_map(|line| line.strip_prefix("told!(")?.strip_suffix(");")?.split_once(':'));
    lists.any(|(_, names)| names.split(',').any(|listed| listed.trim() == name))
}

/// `file::name`: the file has a function of that name with a test attribute above it.
fn exists(test: &str) -> Result<bool> {
    let Some((file, name)) = test.rsplit_once("::") else { return Ok(false) };
    let Ok(text) = fs::read_to_string(root().join(file)) else { return Ok(false) };
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    if told_on_each_forge(file, &lines, name) || told_here(&lines, name) {
        return Ok(true);
    }
    let declared = |line: &str| line.contains(&format!("fn {name}(")) || line.contains(&format!("fn {name}<"));
    Ok(lines.iter().enumerate().any(|(index, line)| {
        declared(line)
            && lines[..index]
                .iter()
                .rev()
                .take_while(|above| above.starts_with("#[") || above.starts_with("//"))
                .any(|above| above.starts_with("#[test]") || above.starts_with("#[tokio::test"))
    }))
}
