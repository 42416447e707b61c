//! Every request of the client and every answer of the fake, held against GitHub's own description of its REST API; every GraphQL
//! document, and every answer to one, against GitHub's schema.
//!
//! Both come as packages that `cargo xtask peers` fetches. Without them the check is skipped, loudly; in CI that is a failure.

#[path = "contract/graphql.rs"]
mod graphql;
#[path = "contract/openapi.rs"]
mod openapi;

use fake_forge_base::{Entry, Log};
use std::path::PathBuf;

/// A file of the packages, if it was fetched.
fn peer(name: &str) -> Option<String> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../target/peers/github").join(name);
    let text = std::fs::read_to_string(&path).ok();
    if text.is_none() {
        assert!(std::env::var_os("CI").is_none(), "{name} is missing; `cargo xtask peers` fetches it");
        eprintln!("SKIPPED: nothing is held against GitHub's {name}; `cargo xtask peers` fetches it");
    }
    text
}

/// Fails with everything in the log that GitHub would not know.
pub fn check(log: &Log) {
    let mut wrong = Vec::new();
    let (graph, rest): (Vec<&Entry>, Vec<&Entry>) =
        // What lies on another host has no description of its own.
        log.entries.iter().filter(|entry| !entry.is_git && entry.path().starts_with("/api/")).partition(|entry| entry.path() == "/api/graphql");
    if let Some(description) = openapi::description() {
        wrong.extend(rest.iter().flat_map(|entry| description.check(entry)));
    }
    if let Some(schema) = graphql::schema() {
        wrong.extend(graph.iter().flat_map(|entry| schema.check(entry)));
    }
    wrong.sort();
    wrong.dedup();
    assert!(wrong.is_empty(), "{} departures from GitHub's description:\n{}", wrong.len(), wrong.join("\n"));
}

/// A check that passes whatever it is given checks nothing.
#[test]
fn departures_are_seen() {
    let entry = |method: &str, target: &str, request: &str, status: u16, answer: &str| Entry {
        method: method.into(),
        target: target.into(),
        request_headers: Default::default(),
        request_body: request.into(),
        login: None,
        status,
        answer_headers: Default::default(),
        answer_body: answer.into(),
        is_write: false,
        is_git: false,
        unknown: false,
    };
    let Some(description) = openapi::description() else { return };
    let seen = |entry: Entry| !description.check(&entry).is_empty();
    assert!(seen(entry("GET", "/api/v3/repos/a/b/nothing", "", 200, "{}")), "a route that is not there");
    assert!(seen(entry("GET", "/api/v3/repos/a/b/pulls?stat=open", "", 200, "[]")), "a parameter that is not there");
    assert!(!seen(entry("GET", "/api/v3/repos/a/b/pulls?state=open", "", 200, "[]")));
    let statuses = "/api/v3/repos/a/b/statuses/0123";
    assert!(seen(entry("POST", statuses, r#"{"state":"fine"}"#, 404, "{}")), "a word that is not in the list");
    assert!(seen(entry("POST", statuses, r#"{"state":"success","extra":1}"#, 404, "{}")), "a field that is not there");
    assert!(seen(entry("GET", "/api/v3/repos/a/b/issues/1/reactions", "", 200, r#"[{"id":1}]"#)), "an answer that lacks fields");
    let Some(schema) = graphql::schema() else { return };
    let asked = |query: &str, answer: &str| {
        let request = serde_json::json!({ "query": query, "variables": {} }).to_string();
        schema.check(&entry("POST", "/api/graphql", &request, 200, answer))
    };
    assert_ne!(asked("query A { viewer { shoeSize } }", r#"{"data":{"viewer":{"shoeSize":1}}}"#), Vec::<String>::new());
    assert_ne!(asked("query A { viewer { login } }", r#"{"data":{"viewer":{"login":null}}}"#), Vec::<String>::new());
    assert_eq!(asked("query A { viewer { login } }", r#"{"data":{"viewer":{"login":"a"}}}"#), Vec::<String>::new());
}

/// All the documents that there are, also those which no test happens to send.
#[test]
fn every_document_fits_the_schema() {
    let Some(schema) = graphql::schema() else { return };
    for (name, document) in tribunal_forge::github::graphql::DOCUMENTS {
        assert_eq!(schema.problems(document), None, "{name}");
    }
}
