//! Records and issues that a change should perhaps have named (SL-40 to SL-42). A hint is a question with its evidence; it never blocks.

use super::named;
use super::page::{Kind, Page};
use super::score::rounded;
use crate::findings::admit::one_line;
use crate::ids::RepoPath;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// A page that the index found.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    pub page: Page,
    /// From 0 to 1.
    pub score: f64,
    /// Words of the question that stand in it.
    pub words: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Hint {
    pub kind: Kind,
    /// `ADR-0007`, `#12`
    pub name: String,
    pub title: String,
    /// A path or an address.
    pub place: String,
    /// The section that suggests the link.
    pub section: String,
    /// Where it begins.
    pub line: u32,
    /// The beginning of that section.
    pub quote: String,
    /// What the change and the section have in common.
    pub words: Vec<String>,
    /// From 0 to 1.
    pub score: f64,
}

impl Hint {
    /// A hit as it is shown.
    pub fn of(hit: Hit) -> Self {
        shown(hit)
    }

    /// As it is asked.
    pub fn question(&self) -> String {
        match self.kind {
            Kind::Issue => format!("Is this about {} ({}) too? Then its description should say so.", self.name, self.title),
            Kind::Decision | Kind::Spec | Kind::Code => {
                format!("Should this pull request refer to {} ({})?", self.name, self.title)
            }
        }
    }
}

/// What a change says of itself.
#[derive(Debug, Clone, Default)]
pub struct Said<'a> {
    pub title: &'a str,
    pub body: &'a str,
    pub branch: &'a str,
    /// The changed files as they are now: a comment in one of them may name the record that governs it.
    pub files: &'a [(RepoPath, String)],
}

/// One shared word is a coincidence.
const FEWEST_WORDS: usize = 2;
const QUOTE: usize = 240;

/// The hits that the change does not name; of each document the best section, best first.
pub fn missing(hits: Vec<Hit>, said: &Said<'_>, limit: usize, min_score: f64) -> Vec<Hint> {
    let known = Known::of(said);
    let mut hits: Vec<Hit> = hits
        .into_iter()
        .filter(|hit| hit.score >= min_score && hit.words.len() >= FEWEST_WORDS && hit.page.in_force)
        .filter(|hit| !known.names(&hit.page))
        .collect();
    hits.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.page.name.cmp(&b.page.name)));
    let mut seen = BTreeSet::new();
    hits.retain(|hit| seen.insert((hit.page.kind, hit.page.name.clone())));
    hits.truncate(limit);
    hits.into_iter().map(Hint::of).collect()
}

fn shown(hit: Hit) -> Hint {
    let page = hit.page;
    let words = page.text.lines().filter(|line| super::page::heading(line).is_none()).collect::<Vec<_>>().join(" ");
    let line = |text: &str, most: usize| {
        let text = one_line(text);
        if text.chars().count() > most { text.chars().take(most).collect::<String>() + "…" } else { text }
    };
    Hint {
        kind: page.kind,
        name: line(&page.name, 80),
        title: line(&page.title, 120),
        place: page.place,
        section: line(&page.section, 120),
        line: page.line,
        quote: line(&words, QUOTE),
        words: hit.words,
        score: rounded(hit.score),
    }
}

/// What needs not be asked for.
struct Known {
    text: String,
    records: BTreeSet<String>,
    issues: BTreeSet<u64>,
    paths: BTreeSet<String>,
}

impl Known {
    fn of(said: &Said<'_>) -> Self {
        let words = format!("{}\n{}", said.title, said.body);
        let mut issues = named::issue_numbers(&words);
        issues.extend(named::issue_of_branch(said.branch));
        let files = said.files.iter().flat_map(|(_, text)| named::ids(text, "ADR"));
        let records = named::ids(&words, "ADR").into_iter().chain(named::ids(&words, "SPEC")).chain(files).collect();
        let paths = said.files.iter().map(|(path, _)| path.as_str().to_owned()).collect();
        Known { text: words, records, issues, paths }
    }

    fn names(&self, page: &Page) -> bool {
        match page.kind {
            Kind::Issue => page.name.trim_start_matches('#').parse().is_ok_and(|number| self.issues.contains(&number)),
            // A record without a number is named by its path; one that the change itself touches needs no naming.
            Kind::Decision | Kind::Spec | Kind::Code => {
                self.records.contains(&page.name) || self.paths.contains(&page.source) || self.text.contains(&page.source)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hit(kind: Kind, name: &str, score: f64) -> Hit {
        let page = Page {
            kind,
            source: format!("docs/{name}.md"),
            name: name.into(),
            title: "Retries have a budget".into(),
            place: format!("docs/{name}.md"),
            section: "Decision".into(),
            line: 3,
            in_force: true,
            text: "## Decision\n\nEach client\nmay retry once.".into(),
        };
        Hit { page, score, words: vec!["retry".into(), "budget".into()] }
    }

    fn names(hits: Vec<Hit>, said: &Said<'_>) -> Vec<String> {
        missing(hits, said, 8, 0.4).into_iter().map(|hint| hint.name).collect()
    }

    /// SL-40: neither the description nor a comment in a changed file names it.
    #[test]
    fn a_decision_that_nobody_names_is_asked_for() {
        let hits = || vec![hit(Kind::Decision, "ADR-0007", 0.6)];
        assert_eq!(names(hits(), &Said { body: "Adds retries.", ..Said::default() }), ["ADR-0007"]);
        assert!(names(hits(), &Said { body: "See adr-0007.", ..Said::default() }).is_empty());
        assert!(names(hits(), &Said { title: "ADR-0007: retries", ..Said::default() }).is_empty());
        let governed = [(RepoPath::from("src/a.rs"), "// Governed by ADR-0007.\nfn a() {}".to_owned())];
        assert!(names(hits(), &Said { files: &governed, ..Said::default() }).is_empty());
        let touched = [(RepoPath::from("docs/ADR-0007.md"), String::new())];
        assert!(names(hits(), &Said { files: &touched, ..Said::default() }).is_empty());
    }

    /// SL-41: an issue that the description names in any way is not asked for.
    #[test]
    fn an_issue_that_nobody_names_is_noted() {
        let hits = || vec![hit(Kind::Issue, "#12", 0.6)];
        assert_eq!(names(hits(), &Said { body: "Closes #13", ..Said::default() }), ["#12"]);
        for body in ["Closes #12", "Fixes #12.", "Part of #12", "Related: #12"] {
            assert!(names(hits(), &Said { body, ..Said::default() }).is_empty(), "{body}");
        }
        assert!(names(hits(), &Said { branch: "feature/12-retries", ..Said::default() }).is_empty());
    }

    /// SL-42: id, section, score and what they share.
    #[test]
    fn a_hint_has_its_evidence() {
        let hint = missing(vec![hit(Kind::Decision, "ADR-0007", 0.618)], &Said::default(), 8, 0.4).remove(0);
        assert_eq!((hint.score, hint.section.as_str(), hint.quote.as_str()), (0.62, "Decision", "Each client may retry once."));
        assert_eq!(hint.words, ["retry", "budget"]);
        assert_eq!(hint.question(), "Should this pull request refer to ADR-0007 (Retries have a budget)?");
    }

    #[test]
    fn weak_retired_and_doubled_hits_are_no_hints() {
        let mut retired = hit(Kind::Decision, "ADR-0001", 0.9);
        retired.page.in_force = false;
        let mut chance = hit(Kind::Decision, "ADR-0002", 0.9);
        chance.words.pop();
        let hits = vec![
            retired,
            chance,
            hit(Kind::Decision, "ADR-0003", 0.39),
            hit(Kind::Decision, "ADR-0004", 0.5),
            hit(Kind::Decision, "ADR-0005", 0.8),
            hit(Kind::Decision, "ADR-0004", 0.7),
        ];
        assert_eq!(names(hits.clone(), &Said::default()), ["ADR-0005", "ADR-0004"]);
        assert_eq!(missing(hits, &Said::default(), 1, 0.4).len(), 1);
    }
}
