mod files;
mod text;

use super::*;
use tribunal_core::library::page::{code_pages, record_pages};
use tribunal_core::library::question::Question;

fn record(number: u32, title: &str, text: &str) -> Fresh {
    let source = format!("docs/adrs/{number:04}-x.md");
    let pages = record_pages(Kind::Decision, &source, &format!("# {title}\n\n## Decision\n\n{text}\n"));
    Fresh { source, stamp: format!("{title}{text}"), pages }
}

fn some() -> Vec<Fresh> {
    vec![
        record(1, "Use a queue", "Messages are stored before they are acknowledged."),
        record(2, "Retries have a budget", "Each client retries a request once within its retry budget."),
        record(3, "Sessions expire", "A login session expires after a day."),
        record(4, "Logs are lines", "Every log line is one object."),
    ]
}

fn asked(text: &str) -> Question {
    Question::typed(text, 8, 0.3)
}

fn names(index: &Index, text: &str) -> Vec<String> {
    index.reader.search(&asked(text), None).unwrap().into_iter().map(|hit| hit.page.name).collect()
}

#[test]
fn what_was_put_in_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let mut index = Index::open(folder.path(), Kind::Decision).unwrap();
    let done = index.refresh(some(), &[]).unwrap();
    assert_eq!((done.documents, done.added, done.changed, done.removed), (4, 4, 0, 0));
    let hits = index.reader.search(&asked("retrying with a budget"), None).unwrap();
    assert_eq!(hits[0].page.name, "ADR-0002");
    assert_eq!(hits[0].words, ["retrying", "budget"]);
    assert!(hits[0].score > 0.5, "{}", hits[0].score);
    // SL-88: nothing found is an answer.
    assert!(names(&index, "kubernetes").is_empty() && names(&index, "").is_empty());
    // Another process sees the same.
    assert_eq!(names(&Index::open(folder.path(), Kind::Decision).unwrap(), "session login"), ["ADR-0003"]);
}

#[test]
fn what_changed_is_replaced_and_what_is_gone_is_gone() {
    let folder = tempfile::tempdir().unwrap();
    let mut index = Index::open(folder.path(), Kind::Decision).unwrap();
    index.refresh(some(), &[]).unwrap();
    let done =
        index.refresh(vec![record(2, "Nobody tries again", "A failed call is final.")], &["docs/adrs/0003-x.md".into()]).unwrap();
    assert_eq!((done.documents, done.added, done.changed, done.removed), (3, 0, 1, 1));
    assert!(names(&index, "retry budget").is_empty() && names(&index, "session login").is_empty());
    assert_eq!(names(&index, "failed call"), ["ADR-0002"]);
    assert_eq!(index.sources().len(), 3);
}

#[test]
fn an_index_that_cannot_be_read_is_rebuilt() {
    let folder = tempfile::tempdir().unwrap();
    let mut index = Index::open(folder.path(), Kind::Decision).unwrap();
    index.refresh(some(), &[]).unwrap();
    drop(index);
    let words = folder.path().join("decisions/words");
    for entry in std::fs::read_dir(&words).unwrap() {
        std::fs::write(entry.unwrap().path(), b"garbage").unwrap();
    }
    let mut index = Index::open(folder.path(), Kind::Decision).unwrap();
    assert!(index.sources().is_empty());
    index.refresh(some(), &[]).unwrap();
    assert_eq!(names(&index, "queue"), ["ADR-0001"]);
}

/// Killed between the pages and the list of them, the same is put in once more, and stands there once.
#[test]
fn a_page_that_is_put_in_twice_is_there_once() {
    let folder = tempfile::tempdir().unwrap();
    let mut index = Index::open(folder.path(), Kind::Decision).unwrap();
    index.reader.collection.replace(&[], some().iter().flat_map(|document| &document.pages)).unwrap();
    index.refresh(some(), &[]).unwrap();
    assert_eq!(names(&index, "retry budget"), ["ADR-0002"]);
}

#[test]
fn two_writers_do_not_mix() {
    let folder = tempfile::tempdir().unwrap();
    let mut one = Index::open(folder.path(), Kind::Code).unwrap();
    let other = Index::open(folder.path(), Kind::Code).unwrap();
    let writer = other.reader.collection.writer().unwrap();
    let fresh = Fresh { source: "a.rs".into(), stamp: "1".into(), pages: code_pages("a.rs", "fn a() {}") };
    assert!(matches!(one.refresh(vec![fresh.clone()], &[]), Err(IndexError::Busy)));
    drop(writer);
    assert_eq!(one.refresh(vec![fresh], &[]).unwrap().added, 1);
}

/// SL-88: meaning finds what shares no word, and adds to what does.
#[test]
fn meaning_counts_where_there_are_vectors() {
    let folder = tempfile::tempdir().unwrap();
    let mut index = Index::open(folder.path(), Kind::Decision).unwrap();
    index.refresh(some(), &[]).unwrap();
    assert!(!index.reader.has_all_vectors("m").unwrap());
    let missing = index.without_vector(&index.reader.vectors("m")).unwrap();
    assert_eq!(missing.len(), 4);
    let vector = |text: &str| if text.contains("Sessions") { vec![1.0, 0.0, 0.1] } else { vec![0.0, 1.0, 0.1] };
    let made: BTreeMap<String, Vec<f32>> = missing.iter().map(|(hash, text)| (hash.clone(), vector(text))).collect();
    // What is made in two parts is there once both are.
    let (hash, first) = made.first_key_value().unwrap();
    index.keep_vectors("m", &BTreeMap::from([(hash.clone(), first.clone())])).unwrap();
    assert!(!index.reader.has_all_vectors("m").unwrap());
    index.keep_vectors("m", &made).unwrap();
    let vectors = index.reader.vectors("m");
    assert!(index.without_vector(&vectors).unwrap().is_empty() && index.reader.has_all_vectors("m").unwrap());
    let hits = index.reader.search(&asked("authentication cookie"), Some((&[1.0, 0.0, 0.0], &vectors))).unwrap();
    assert_eq!(hits.iter().map(|hit| hit.page.name.as_str()).collect::<Vec<_>>(), ["ADR-0003"]);
    let alone = index.reader.search(&asked("login session"), None).unwrap()[0].score;
    let both = index.reader.search(&asked("login session"), Some((&[1.0, 0.0, 0.0], &vectors))).unwrap()[0].score;
    assert!(both > alone);
    // A page less: its vector goes with it, and nobody is asked for that.
    index.refresh(Vec::new(), &["docs/adrs/0001-x.md".into()]).unwrap();
    assert!(!index.reader.has_all_vectors("m").unwrap());
    index.keep_vectors("m", &BTreeMap::new()).unwrap();
    assert!(index.reader.has_all_vectors("m").unwrap());
    assert_eq!(index.reader.vectors("m").len(), 3);
}

/// The list of documents is not needed to ask, and a collection that is not there has no answers.
#[test]
fn who_asks_opens_the_words_alone() {
    let folder = tempfile::tempdir().unwrap();
    let asked_for = |text: &str| Reader::open(folder.path(), Kind::Decision).unwrap().search(&asked(text), None).unwrap();
    assert!(asked_for("retry budget").is_empty());
    Index::open(folder.path(), Kind::Decision).unwrap().refresh(some(), &[]).unwrap();
    std::fs::write(folder.path().join("decisions/sources.json"), "garbage").unwrap();
    assert_eq!(asked_for("retry budget")[0].page.name, "ADR-0002");
}

/// Two processes that looked at the same moment: what each put in is there, once, and is known to be.
#[test]
fn two_that_looked_at_once_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut one = Index::open(folder.path(), Kind::Decision).unwrap();
    let mut other = Index::open(folder.path(), Kind::Decision).unwrap();
    let mut all = some();
    let half = all.split_off(2);
    one.refresh(all, &[]).unwrap();
    assert_eq!(other.refresh(half, &[]).unwrap().documents, 4);
    let index = Index::open(folder.path(), Kind::Decision).unwrap();
    assert_eq!(
        (names(&index, "queue"), names(&index, "session login")),
        (vec!["ADR-0001".to_owned()], vec!["ADR-0003".to_owned()])
    );
}
