//! An index that is not ours, asked through the `qmd` command: what is typed, what comes back, and what follows a silence (SL-43, SL-88).

use super::hint::Hit;
use super::page::{Kind, Page};
use super::question::{INTENT, Question};
use super::words::words;
use serde::Deserialize;

/// How it is asked. A silence leads to the next; after the last one there is no index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rung {
    /// By words and by meaning, ranked anew by a model.
    Whole,
    Unranked,
    /// By words alone, which is said.
    Words,
}

impl Rung {
    pub const FIRST: Rung = Rung::Whole;

    pub fn next(self) -> Option<Rung> {
        match self {
            Rung::Whole => Some(Rung::Unranked),
            Rung::Unranked => Some(Rung::Words),
            Rung::Words => None,
        }
    }
}

/// `NAME-adrs` or `NAME-MODULE-adrs`; never a part of a name.
pub fn collection(name: &str, module: Option<&str>, kind: Kind) -> String {
    let kind = match kind {
        Kind::Decision => "adrs",
        Kind::Spec => "specs",
        Kind::Issue => "issues",
        Kind::Code => "code",
    };
    match module {
        Some(module) => format!("{name}-{module}-{kind}"),
        None => format!("{name}-{kind}"),
    }
}

/// The arguments of a query. The first of its lines has double weight there too.
pub fn query(rung: Rung, collection: &str, question: &Question) -> Vec<String> {
    let words = question.words.join(" ");
    let mut args: Vec<String> = match rung {
        Rung::Whole | Rung::Unranked => {
            let sentence = question.sentence.replace(['\n', '\r'], " ");
            vec!["query".into(), format!("intent: {INTENT}\nlex: {words}\nvec: {sentence}")]
        }
        Rung::Words => vec!["search".into(), words],
    };
    if rung == Rung::Unranked {
        args.push("--no-rerank".into());
    }
    let rest = ["--json", "-c", collection, "-n", &question.limit.to_string(), "--min-score", &question.min_score.to_string()];
    args.extend(rest.map(str::to_owned));
    args
}

/// Does this list name the collection? One name on a line, with whatever stands behind it.
pub fn has_collection(listed: &str, collection: &str) -> bool {
    listed.split_whitespace().any(|word| word.trim_end_matches('/').rsplit("//").next() == Some(collection))
}

#[derive(Debug, Deserialize)]
struct Found {
    #[serde(default)]
    docid: String,
    score: f64,
    file: String,
    #[serde(default)]
    title: String,
    #[serde(default)]
    snippet: String,
    #[serde(default)]
    line: Option<u32>,
}

/// What it answered. Anything but a list of hits is no answer.
pub fn read(printed: &str, kind: Kind, question: &Question) -> Result<Vec<Hit>, String> {
    let found: Vec<Found> =
        serde_json::from_str(printed.trim()).map_err(|error| format!("its answer is no list of hits: {error}"))?;
    Ok(found.into_iter().map(|found| hit(found, kind, question)).collect())
}

fn hit(found: Found, kind: Kind, question: &Question) -> Hit {
    // `qmd://collection/path`
    let path =
        found.file.strip_prefix("qmd://").and_then(|rest| rest.split_once('/')).map_or(found.file.as_str(), |(_, path)| path);
    let text = found.snippet;
    let inside = words(&format!("{} {text}", found.title));
    let shared: Vec<String> = question.words.iter().filter(|word| inside.contains(word)).cloned().collect();
    let name = match kind {
        Kind::Issue => path.rsplit('/').next().and_then(|name| name.strip_suffix(".md")).map(|number| format!("#{number}")),
        Kind::Decision => {
            super::page::record_pages(kind, path, &format!("# {}\n\n{text}", found.title)).first().map(|page| page.name.clone())
        }
        Kind::Spec | Kind::Code => None,
    };
    let page = Page {
        kind,
        source: path.to_owned(),
        name: name.unwrap_or_else(|| path.to_owned()),
        title: if found.title.is_empty() { found.docid } else { found.title },
        place: path.to_owned(),
        section: String::new(),
        line: found.line.unwrap_or(1),
        in_force: true,
        text,
    };
    Hit { page, score: found.score.clamp(0.0, 1.0), words: shared }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question() -> Question {
        Question { words: vec!["retry".into(), "budget".into()], sentence: "Retry\nonce.".into(), limit: 8, min_score: 0.4 }
    }

    /// SL-88: hybrid, once more without ranking, then by words alone.
    #[test]
    fn a_silence_leads_to_the_next() {
        let args = query(Rung::Whole, "app-adrs", &question());
        assert_eq!(args[0], "query");
        assert!(args[1].ends_with("\nlex: retry budget\nvec: Retry once."), "{}", args[1]);
        assert!(args.ends_with(&["-n".into(), "8".into(), "--min-score".into(), "0.4".into()]));
        assert!(query(Rung::Unranked, "app-adrs", &question()).contains(&"--no-rerank".to_owned()));
        assert_eq!(query(Rung::Words, "app-adrs", &question())[..2], ["search", "retry budget"]);
        assert_eq!(Rung::FIRST.next().and_then(Rung::next).and_then(Rung::next), None);
    }

    /// SL-88: collections are exact.
    #[test]
    fn a_part_of_a_name_is_another_name() {
        assert_eq!(collection("app", None, Kind::Decision), "app-adrs");
        assert_eq!(collection("app", Some("web"), Kind::Issue), "app-web-issues");
        let listed = "Collections (2):\n\nmy-app-adrs (qmd://my-app-adrs/)\n  Files: 3\napp-issues (qmd://app-issues/)";
        assert!(has_collection(listed, "my-app-adrs") && has_collection(listed, "app-issues"));
        assert!(!has_collection(listed, "app-adrs"));
    }

    #[test]
    fn an_answer_is_read_or_refused() {
        let printed = r##"[{"docid":"#a1","score":0.71,"file":"qmd://app-adrs/0007-retries.md","title":"Retries","snippet":"a retry budget"}]"##;
        let hits = read(printed, Kind::Decision, &question()).unwrap();
        assert_eq!((hits[0].page.name.as_str(), hits[0].score), ("ADR-0007", 0.71));
        assert_eq!(hits[0].words, ["retry", "budget"]);
        assert!(read("[]", Kind::Issue, &question()).unwrap().is_empty());
        assert!(read("No results", Kind::Issue, &question()).is_err());
        let issue = r#"[{"score":0.5,"file":"qmd://app-issues/12.md","title":"Slow"}]"#;
        assert_eq!(read(issue, Kind::Issue, &question()).unwrap()[0].page.name, "#12");
    }
}
