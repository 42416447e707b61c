//! An issue as a page: what is known of it in front, its text behind (SL-85). Pages lie in a folder, so that any index can read them.

use super::named;
use super::page::{ISSUE_BYTES, Kind, Page};
use crate::plan::links;
use crate::pull::facts::Issue;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Front {
    pub id: u64,
    pub title: String,
    /// `open` or `closed`
    pub status: String,
    pub labels: Vec<String>,
    pub assignees: Vec<String>,
    pub author: String,
    pub created: String,
    pub updated: String,
    pub closed: Option<String>,
    pub url: String,
    pub tracker: String,
    pub references: References,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct References {
    pub specs: Vec<String>,
    pub adrs: Vec<String>,
    pub blocks: Vec<u64>,
    pub blocked_by: Vec<u64>,
}

/// The name of its file.
pub fn file_name(number: u64) -> String {
    format!("{number}.md")
}

/// Front matter whose values are JSON, which every reader of YAML takes.
pub fn write(issue: &Issue, tracker: &str) -> String {
    let front = front(issue, tracker);
    let value = |value: serde_json::Result<String>| value.unwrap_or_default();
    let lines = [
        format!("id: {}", front.id),
        format!("title: {}", value(serde_json::to_string(&front.title))),
        format!("status: {}", front.status),
        format!("labels: {}", value(serde_json::to_string(&front.labels))),
        format!("assignees: {}", value(serde_json::to_string(&front.assignees))),
        format!("author: {}", value(serde_json::to_string(&front.author))),
        format!("created: {}", value(serde_json::to_string(&front.created))),
        format!("updated: {}", value(serde_json::to_string(&front.updated))),
        format!("closed: {}", value(serde_json::to_string(&front.closed))),
        format!("url: {}", value(serde_json::to_string(&front.url))),
        format!("tracker: {}", value(serde_json::to_string(&front.tracker))),
        format!("references: {}", value(serde_json::to_string(&front.references))),
    ];
    format!("---\n{}\n---\n\n# {}\n\n{}\n", lines.join("\n"), crate::findings::admit::one_line(&front.title), capped(&issue.body))
}

fn front(issue: &Issue, tracker: &str) -> Front {
    let words = format!("{}\n{}", issue.title, issue.body);
    let numbers = |references: Vec<links::Reference>| references.into_iter().map(links::Reference::number).collect();
    Front {
        id: issue.number,
        title: issue.title.clone(),
        status: if issue.open { "open" } else { "closed" }.to_owned(),
        labels: issue.labels.clone(),
        assignees: issue.assignees.clone(),
        author: issue.author.login.clone(),
        created: issue.created_at.clone(),
        updated: issue.updated_at.clone(),
        closed: issue.closed_at.clone(),
        url: issue.url.clone(),
        tracker: tracker.to_owned(),
        references: References {
            specs: named::ids(&words, "SPEC"),
            adrs: named::ids(&words, "ADR"),
            blocks: numbers(links::blocks(&issue.body)),
            blocked_by: numbers(links::depends_on(&issue.body)),
        },
    }
}

/// What a page says; nothing for a file that is none.
pub fn read(text: &str) -> Option<(Front, String)> {
    let (front, body) = text.strip_prefix("---\n")?.split_once("\n---\n")?;
    Some((serde_saphyr::from_str(front).ok()?, body.trim().to_owned()))
}

/// As it is looked up.
pub fn page(front: &Front, body: &str) -> Page {
    Page {
        kind: Kind::Issue,
        source: format!("#{}", front.id),
        name: format!("#{}", front.id),
        title: front.title.clone(),
        place: front.url.clone(),
        section: String::new(),
        line: 1,
        in_force: front.status == "open",
        text: body.to_owned(),
    }
}

fn capped(body: &str) -> &str {
    let end = (0..=ISSUE_BYTES.min(body.len())).rev().find(|at| body.is_char_boundary(*at)).unwrap_or(0);
    &body[..end]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feedback::samples::person;

    fn issue() -> Issue {
        Issue {
            number: 12,
            title: "Login: \"slow\" # not yaml".into(),
            body: "For SPEC-0004 and ADR-0002.\nBlocked by #3\nBlocks #9\n---\nmore".into(),
            author: person("ann"),
            open: true,
            labels: vec!["a: b".into()],
            url: "https://forge.example/a/b/issues/12".into(),
            assignees: vec!["bob".into()],
            created_at: "2026-01-01T00:00:00Z".into(),
            updated_at: "2026-01-02T00:00:00Z".into(),
            closed_at: None,
        }
    }

    /// SL-85: every key of the front matter, and ids from title and body.
    #[test]
    fn a_page_is_read_as_it_was_written() {
        let text = write(&issue(), "gitea");
        let (read, body) = read(&text).unwrap();
        assert_eq!(read, front(&issue(), "gitea"));
        assert_eq!(read.references.specs, ["SPEC-0004"]);
        assert_eq!((read.references.blocked_by, read.references.blocks), (vec![3], vec![9]));
        assert!(body.ends_with("---\nmore"));
        for key in [
            "id",
            "title",
            "status",
            "labels",
            "assignees",
            "author",
            "created",
            "updated",
            "closed",
            "url",
            "tracker",
            "references",
        ] {
            assert!(text.contains(&format!("\n{key}: ")), "{key}");
        }
    }

    /// SL-85: no more than 100 KB of its text.
    #[test]
    fn a_long_body_is_cut() {
        let long = Issue { body: "ä".repeat(ISSUE_BYTES), ..issue() };
        let text = write(&long, "gitea");
        assert!(text.len() < ISSUE_BYTES + 1_000 && text.len() > ISSUE_BYTES - 10);
    }

    #[test]
    fn what_is_no_page_is_left_alone() {
        assert_eq!(read("# plain"), None);
        assert_eq!(read("---\nid: x\n---\n"), None);
    }
}
