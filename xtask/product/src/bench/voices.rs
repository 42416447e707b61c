//! How well findings of different reviewers are told to be one, by their words alone, on recorded remarks of review tools.
//!
//! For each pull request the remarks of all tools are grouped. A group is kept if enough tools are in it. A kept group is right if most
//! of its remarks were matched to one issue by a judge; a second group of that issue is wrong. F0.5 weighs precision over recall.

use super::{median, millis};
use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;
use tribunal_core::combine::dedup::merge;
use tribunal_core::combine::linkage::{Link, Threshold, groups};
use tribunal_core::combine::similarity::Similarity;
use tribunal_core::combine::terms::Terms;
use tribunal_core::findings::admit::Admitted;
use xtask::root;

/// How many tools must be in a group for it to be kept.
const VOICES: usize = 5;
/// Without places, words must be more alike than [`tribunal_core::combine::dedup::ALIKE`].
const WORDS_ALONE: Threshold = Threshold { pair: 0.2, less_per_doubling: 0.025 };
const LEAST_SCORE: f64 = 0.65;
const MOST_MILLIS: f64 = 5.0;
/// How many findings the time is measured with.
const FINDINGS: usize = 200;
const RECORDINGS: &str = "../shared/data/panel-recordings.json";

pub fn run(recordings: Option<PathBuf>) -> Result<()> {
    let path = recordings.unwrap_or_else(|| root().join(RECORDINGS));
    if !path.is_file() {
        bail!("there are no recorded reviews at {}; name the file: cargo xtask bench voices FILE", path.display());
    }
    let output = xtask::command("cargo")
        .args(["run", "--release", "--quiet", "-p", "xtask-product", "--", "measure-voices"])
        .arg(fs::canonicalize(&path)?)
        .current_dir(root())
        .output()?;
    let measured: Value =
        serde_json::from_slice(&output.stdout).with_context(|| String::from_utf8_lossy(&output.stderr).into_owned())?;
    let number = |name: &str| measured[name].as_f64().with_context(|| format!("no {name} was measured"));
    let (score, words, places) = (number("score")?, number("words_ms")?, number("merge_ms")?);
    println!("{} remarks, {} issues; groups of at least {VOICES} tools", measured["remarks"], measured["issues"]);
    println!("{:<42} {:>10} {:>12}", "figure", "measured", "limit");
    println!("{:<42} {:>10.2}", "precision", number("precision")?);
    println!("{:<42} {:>10.2}", "recall", number("recall")?);
    let missed = |is_missed: bool| if is_missed { "MISSED" } else { "" };
    println!("{:<42} {:>10.3} ≥ {:>7.2}    {}", "F0.5", score, LEAST_SCORE, missed(score < LEAST_SCORE));
    for (name, time) in [("200 remarks, words alone", words), ("200 findings, with places", places)] {
        println!("{name:<42} {time:>7.1} ms ≤ {MOST_MILLIS:>6.1} ms {}", missed(time > MOST_MILLIS));
    }
    if score < LEAST_SCORE || words > MOST_MILLIS || places > MOST_MILLIS {
        bail!("a figure of `voices` missed its limit");
    }
    Ok(())
}

struct Remark {
    tool: String,
    text: String,
    issue: Option<u64>,
}

struct Pull {
    issues: usize,
    remarks: Vec<Remark>,
}

/// The figures as JSON.
pub fn measure_voices(recordings: &Path) -> Result<Value> {
    let pulls = read(recordings)?;
    let (mut right, mut kept) = (0, 0);
    for pull in &pulls {
        let (of_pull_right, of_pull_kept) = judge(&pull.remarks, &grouped(&pull.remarks));
        right += of_pull_right;
        kept += of_pull_kept;
    }
    let issues: usize = pulls.iter().map(|pull| pull.issues).sum();
    let all: Vec<Remark> = pulls.into_iter().flat_map(|pull| pull.remarks).collect();
    let (precision, recall) = (share(right, kept), share(right, issues));
    let weighed = 0.25 * precision + recall;
    let score = if weighed > 0.0 { 1.25 * precision * recall / weighed } else { 0.0 };
    let timed = &all[..FINDINGS.min(all.len())];
    let findings = findings(timed)?;
    let words_ms = median(21, || {
        let begun = Instant::now();
        std::hint::black_box(grouped(timed));
        Ok(millis(begun.elapsed()))
    })?;
    let merge_ms = median(21, || {
        let findings = findings.clone();
        let begun = Instant::now();
        std::hint::black_box(merge(findings));
        Ok(millis(begun.elapsed()))
    })?;
    Ok(json!({
        "remarks": all.len(), "issues": issues, "precision": precision, "recall": recall, "score": score, "words_ms": words_ms,
        "merge_ms": merge_ms
    }))
}

fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// How many of the kept groups are right, and how many are kept.
fn judge(remarks: &[Remark], groups: &[Vec<usize>]) -> (usize, usize) {
    let (mut found, mut kept) = (BTreeSet::new(), 0);
    for group in groups {
        let tools: BTreeSet<&str> = group.iter().map(|member| remarks[*member].tool.as_str()).collect();
        if tools.len() < VOICES {
            continue;
        }
        kept += 1;
        let mut named: BTreeMap<u64, usize> = BTreeMap::new();
        for issue in group.iter().filter_map(|member| remarks[*member].issue) {
            *named.entry(issue).or_default() += 1;
        }
        found.extend(named.into_iter().find(|(_, members)| members * 2 > group.len()).map(|(issue, _)| issue));
    }
    (found.len(), kept)
}

/// The groups of one pull request. Two remarks of one tool are two issues by its own word.
fn grouped(remarks: &[Remark]) -> Vec<Vec<usize>> {
    let terms: Vec<Terms> = remarks.iter().map(|remark| Terms::of_prose(&remark.text)).collect();
    let similarity = Similarity::new(&terms.iter().collect::<Vec<_>>());
    let mut links = Vec::new();
    for (one, remark) in remarks.iter().enumerate() {
        let others: Vec<usize> = (one + 1..remarks.len()).filter(|other| remarks[*other].tool != remark.tool).collect();
        let alike = similarity.with_each(one, &others);
        links.extend(others.into_iter().zip(alike).map(|(other, similarity)| Link { one, other, similarity }));
    }
    groups(remarks.len(), &links, WORDS_ALONE)
}

fn read(path: &Path) -> Result<Vec<Pull>> {
    let text = fs::read_to_string(path).with_context(|| format!("{} cannot be read", path.display()))?;
    let recorded: Value = serde_json::from_str(&text).with_context(|| format!("{} is not JSON", path.display()))?;
    let pulls = recorded["pulls"].as_array().with_context(|| format!("{} has no `pulls`", path.display()))?;
    let text = |item: &Value, name: &str| item[name].as_str().unwrap_or_default().to_owned();
    let remark = |item: &Value| Remark { tool: text(item, "tool"), text: text(item, "text"), issue: item["issue"].as_u64() };
    let pull = |pull: &Value| Pull {
        issues: pull["issues"].as_u64().unwrap_or_default() as usize,
        remarks: pull["items"].as_array().into_iter().flatten().map(remark).collect(),
    };
    Ok(pulls.iter().map(pull).collect())
}

/// The remarks as findings of one file, four on each line: the worst case for comparing places.
fn findings(remarks: &[Remark]) -> Result<Vec<Admitted>> {
    let finding = |(index, remark): (usize, &Remark)| {
        let line = index / 4 + 1;
        serde_json::from_value::<Admitted>(json!({
            "role": "staff-engineer", "agent": remark.tool, "category": format!("E{}", index % 5 + 1), "slug": "logic-error",
            "path": "src/a.rs", "symbol": "", "severity": "factual", "confidence": "high", "blast": "local",
            "justification": "reachable", "failure_mode": remark.text, "mitigation": "check the value before it is used",
            "anchor": { "side": "new", "line_start": line, "line_end": line, "quote": format!("let value_{line} = read(input, {line});") },
            "questions": [], "mitigation_out_of_scope": false, "is_test": false, "is_sample": false, "is_prose": false
        }))
        .context("a finding")
    };
    remarks.iter().enumerate().map(finding).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn remark(tool: usize, text: &str, issue: Option<u64>) -> Remark {
        Remark { tool: format!("tool-{tool}"), text: text.into(), issue }
    }

    #[test]
    fn a_second_group_of_an_issue_is_wrong() {
        let issues = [Some(1), Some(1), Some(1), None, None];
        let remarks: Vec<Remark> = (0..15).map(|n| remark(n % 5, "", issues[n % 5])).collect();
        let group = |from: usize| (from..from + 5).collect::<Vec<_>>();
        assert_eq!(judge(&remarks, &[group(0), group(5), (10..14).collect()]), (1, 2), "one is right, one is too small");
    }

    #[test]
    fn one_issue_in_five_wordings_is_one_group() {
        let leak = [
            "the `file_handle` is never closed when parse_header fails, so handles leak",
            "parse_header returns early on failure and leaks file_handle",
            "file_handle leaks: on the failure path of parse_header nobody closes it",
            "a failing parse_header leaves file_handle open",
            "close file_handle if parse_header fails; it leaks",
        ];
        let mut remarks: Vec<Remark> = leak.iter().enumerate().map(|(tool, text)| remark(tool, text, Some(0))).collect();
        remarks.push(remark(0, "the retry loop in send_batch has no limit and can run forever", None));
        remarks.push(remark(1, "a missing test covers empty batches", None));
        assert_eq!(judge(&remarks, &grouped(&remarks)), (1, 1));
    }
}
