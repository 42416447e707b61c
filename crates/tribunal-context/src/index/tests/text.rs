//! What people write is text: none of it is a query, none of it is cut in another way than the core cuts it.

use super::*;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use std::cell::RefCell;
use tribunal_core::library::words::words;

/// Whole words, as they are, without the core having looked at them.
fn raw(words: &[&str]) -> Question {
    Question { words: words.iter().map(|word| (*word).to_owned()).collect(), ..asked("") }
}

fn filled(folder: &Path, fresh: Vec<Fresh>) -> Index {
    let mut index = Index::open(folder, Kind::Decision).unwrap();
    index.refresh(fresh, &[]).unwrap();
    index
}

#[test]
fn signs_of_a_query_language_mean_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let index = filled(folder.path(), some());
    for text in
        ["\"budget", "budget\"\"", "budget*", "^budget", "text:budget", "-budget", "+budget", "{title}: budget", "budget\0"]
    {
        assert_eq!(names(&index, text), ["ADR-0002"], "{text:?}");
    }
    // Neither a beginning, nor an exclusion, nor one of two.
    assert!(names(&index, "budg*").is_empty() && names(&index, "*").is_empty() && names(&index, "👍 \"\" ()").is_empty());
    assert_eq!(names(&index, "budget NOT retry"), ["ADR-0002"]);
    assert_eq!(names(&index, "NEAR(retry budget, 1) AND"), ["ADR-0002"]);
}

#[test]
fn words_that_nobody_cut_are_only_not_found() {
    let folder = tempfile::tempdir().unwrap();
    let index = filled(folder.path(), some());
    for word in
        ["", " ", "\"", "'", "queue OR budget", "queue*", "NEAR(queue", "title:queue", "-queue", "^queue", "que\0ue", "%", "_"]
    {
        assert!(index.reader.search(&raw(&[word]), None).unwrap().is_empty(), "{word:?}");
    }
    assert_eq!(index.reader.search(&raw(&["\"", "queue", "\0"]), None).unwrap()[0].words, ["queue"]);
}

#[test]
fn words_of_any_script_stay_whole() {
    let folder = tempfile::tempdir().unwrap();
    let long = "x".repeat(70_000);
    let index = filled(
        folder.path(),
        vec![
            record(1, "Größe", "Die Länge zählt."),
            record(2, "検索", "किताब और поиск"),
            record(3, "Data", &format!("A blob {long} follows.")),
            record(4, "Keywords", "Words near each other, and NOT beside."),
        ],
    );
    for (text, name) in [
        ("größe", "ADR-0001"),
        ("LÄNGE", "ADR-0001"),
        ("検索", "ADR-0002"),
        ("किताब", "ADR-0002"),
        ("Поиск", "ADR-0002"),
        ("near", "ADR-0004"),
    ] {
        assert_eq!(names(&index, text), [name], "{text}");
    }
    assert_eq!(names(&index, &long), ["ADR-0003"]);
    // Another letter is another word.
    assert!(names(&index, "grosse").is_empty() && names(&index, "große").is_empty() && names(&index, "कित").is_empty());
}

/// Some questions to one index: making it takes longer than asking.
fn for_any<S: Strategy>(any: S, test: impl Fn(S::Value) -> Result<(), TestCaseError>) {
    let config = ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() };
    TestRunner::new(config).run(&any, test).unwrap();
}

/// Whatever stands in a page, each of its words finds it, and is shared with it.
#[test]
fn every_word_of_a_page_finds_it() {
    let folder = tempfile::tempdir().unwrap();
    let index = RefCell::new(filled(folder.path(), some()));
    for_any("(\\PC|[\"'*^:(){}+\\-\0\n]| NEAR | AND ){0,60}", |text| {
        let mut document = some().remove(0);
        document.pages[0].text.clone_from(&text);
        index.borrow_mut().refresh(vec![document], &[]).unwrap();
        for word in words(&text) {
            let question = Question { words: vec![word.clone()], min_score: 0.0, ..asked("") };
            let hits = index.borrow().reader.search(&question, None).unwrap();
            prop_assert!(hits.iter().any(|hit| hit.page.text == text && hit.words == [word.as_str()]), "{}", word);
        }
        Ok(())
    });
}

#[test]
fn no_question_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let index = filled(folder.path(), some());
    for_any(prop::collection::vec(any::<String>(), 0..6), |asked_for| {
        let words: Vec<&str> = asked_for.iter().map(String::as_str).collect();
        prop_assert!(index.reader.search(&raw(&words), None).is_ok());
        Ok(())
    });
}
