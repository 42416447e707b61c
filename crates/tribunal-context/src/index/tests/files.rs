//! What lies on the disk: of another version, of another program, damaged, or in use by another process.

use super::*;
use rusqlite::Connection;

fn words(folder: &Path) -> std::path::PathBuf {
    folder.join("decisions/words/words.db")
}

fn filled(folder: &Path) -> Index {
    let mut index = Index::open(folder, Kind::Decision).unwrap();
    index.refresh(some(), &[]).unwrap();
    index
}

/// Versions before this one kept segments of another library in the same folder.
#[test]
fn an_index_of_an_earlier_version_is_rebuilt_and_keeps_its_vectors() {
    let folder = tempfile::tempdir().unwrap();
    let old = folder.path().join("decisions/words");
    fs::create_dir_all(&old).unwrap();
    fs::write(old.join("meta.json"), r#"{"segments":[],"schema":[],"opstamp":7}"#).unwrap();
    fs::write(old.join("0a1b.store"), b"segment").unwrap();
    fs::write(folder.path().join("decisions/sources.json"), r#"{"version":1,"sources":{"a":{"stamp":"1","pages":["x"]}}}"#)
        .unwrap();
    fs::write(folder.path().join("decisions/vectors-0.bin"), b"paid for").unwrap();
    assert!(Reader::open(folder.path(), Kind::Decision).unwrap().search(&asked("queue"), None).unwrap().is_empty());
    let mut index = Index::open(folder.path(), Kind::Decision).unwrap();
    assert!(index.sources().is_empty() && !old.join("meta.json").exists() && !old.join("0a1b.store").exists());
    assert_eq!(index.refresh(some(), &[]).unwrap().added, 4);
    assert!(folder.path().join("decisions/vectors-0.bin").exists());
}

#[test]
fn a_database_that_is_not_ours_is_rebuilt() {
    let empty = |path: &Path| fs::write(path, b"").unwrap();
    let other = |path: &Path| {
        let connection = Connection::open(path).unwrap();
        connection.execute_batch("CREATE TABLE pages (id); PRAGMA user_version = 1").unwrap();
    };
    let folder_in_its_place = |path: &Path| fs::create_dir(path).unwrap();
    let of_a_later_version = |path: &Path| {
        database::create(path.parent().unwrap()).unwrap().pragma_update(None, "user_version", 99).unwrap();
    };
    let without_its_tables = |path: &Path| {
        database::create(path.parent().unwrap()).unwrap().execute_batch("DROP TABLE state").unwrap();
    };
    for (nth, make) in
        [&empty as &dyn Fn(&Path), &other, &folder_in_its_place, &of_a_later_version, &without_its_tables].iter().enumerate()
    {
        let folder = tempfile::tempdir().unwrap();
        drop(filled(folder.path()));
        fs::remove_file(words(folder.path())).unwrap();
        make(&words(folder.path()));
        let reader = Reader::open(folder.path(), Kind::Decision).unwrap();
        assert!(reader.search(&asked("queue"), None).unwrap().is_empty(), "{nth}");
        assert_eq!(names(&filled(folder.path()), "queue"), ["ADR-0001"], "{nth}");
    }
}

/// Wherever the damage is: an answer, a rebuilt index, or an error that says what helps.
#[test]
fn damage_anywhere_is_said_and_rebuilding_helps() {
    let folder = tempfile::tempdir().unwrap();
    drop(filled(folder.path()));
    let whole = fs::read(words(folder.path())).unwrap();
    let mut said = 0;
    for at in (0..whole.len()).step_by(4096) {
        for tail in [whole.len(), at] {
            let mut bytes = whole[..tail].to_vec();
            let end = (at + 1024).min(tail);
            bytes[at.min(tail)..end].fill(0xa5);
            fs::write(words(folder.path()), bytes).unwrap();
            let searched = Reader::open(folder.path(), Kind::Decision).and_then(|it| it.search(&asked("queue budget"), None));
            let refreshed = Index::open(folder.path(), Kind::Decision).and_then(|mut it| it.refresh(some(), &["x".into()]));
            for error in [searched.err(), refreshed.err()].into_iter().flatten() {
                said += 1;
                assert!(error.to_string().contains("tribunal index --rebuild"), "{at}: {error}");
            }
            Index::rebuilt(folder.path(), Kind::Decision).unwrap();
            assert_eq!(names(&filled(folder.path()), "queue"), ["ADR-0001"]);
            // The file must be whole at the same places next time.
            fs::remove_dir_all(folder.path().join("decisions/words")).unwrap();
            fs::create_dir(folder.path().join("decisions/words")).unwrap();
        }
    }
    assert!(said > 0, "nothing was damaged");
}

#[test]
#[cfg(unix)]
fn nobody_else_can_read_it() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let index = filled(folder.path());
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let files: Vec<_> = fs::read_dir(folder.path().join("decisions/words")).unwrap().map(|entry| entry.unwrap().path()).collect();
    // The file and, while it is open, two beside it.
    assert_eq!(files.len(), 3, "{files:?}");
    assert!(files.iter().all(|file| mode(file) == 0o600), "{files:?}");
    assert_eq!(mode(&folder.path().join("decisions/words")), 0o700);
    drop(index);
}

#[test]
fn who_reads_does_not_wait_for_who_writes() {
    let folder = tempfile::tempdir().unwrap();
    let index = filled(folder.path());
    let writer = index.reader.collection.writer().unwrap();
    writer.execute_batch("DELETE FROM words; DELETE FROM pages;").unwrap();
    let before = std::time::Instant::now();
    let reader = Reader::open(folder.path(), Kind::Decision).unwrap();
    assert_eq!(reader.search(&asked("queue"), None).unwrap().len(), 1);
    assert!(before.elapsed() < database::PATIENCE);
    writer.commit().unwrap();
    assert!(reader.search(&asked("queue"), None).unwrap().is_empty());
}

/// What was replaced many times weighs as what was put in once: nothing of it is left behind to be counted.
#[test]
fn what_is_gone_has_no_part_in_a_score() {
    let (folder, once) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut index = filled(folder.path());
    for nth in 0..40 {
        let others = (10..20).map(|number| record(number, "Retry", &format!("A retry budget, {nth} times over."))).collect();
        index.refresh(others, &[]).unwrap();
        index.refresh(some(), &[]).unwrap();
    }
    let others: Vec<String> = (10..20).map(|number| format!("docs/adrs/{number:04}-x.md")).collect();
    index.refresh(Vec::new(), &others).unwrap();
    let score = |index: &Index| index.reader.search(&asked("retry budget"), None).unwrap()[0].score;
    assert_eq!(score(&index), score(&filled(once.path())));
}

#[test]
fn a_state_is_that_of_the_pages() {
    let (folder, same) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let state = |index: &Index| index.reader.collection.state().unwrap();
    let mut index = filled(folder.path());
    let full = state(&index);
    assert_eq!(full, state(&filled(same.path())));
    index.refresh(Vec::new(), &["docs/adrs/0001-x.md".into()]).unwrap();
    let less = state(&index);
    index.refresh(some(), &[]).unwrap();
    assert!(less != full && state(&index) != less);
    assert_ne!(state(&Index::rebuilt(folder.path(), Kind::Decision).unwrap()), full);
}

/// One process looks, another one rebuilds the index, the first one writes: into the new index.
#[test]
fn who_looked_before_a_rebuild_writes_after_it() {
    let folder = tempfile::tempdir().unwrap();
    let mut index = filled(folder.path());
    drop(Index::rebuilt(folder.path(), Kind::Decision).unwrap());
    let done = index.refresh(vec![record(9, "Caches are small", "A cache holds a page.")], &[]).unwrap();
    assert_eq!((done.documents, done.added), (1, 1));
    drop(index);
    let index = Index::open(folder.path(), Kind::Decision).unwrap();
    assert_eq!((names(&index, "cache"), names(&index, "queue")), (vec!["ADR-0009".to_owned()], Vec::new()));
}

/// Issue 16, B9: a link in somebody else's `.git` is neither read nor written through.
#[test]
#[cfg(unix)]
fn a_link_is_not_followed() {
    let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    drop(filled(other.path()));
    let foreign = fs::read(words(other.path())).unwrap();
    for name in ["decisions/words", "decisions/words/words.db"] {
        drop(filled(folder.path()));
        let link = folder.path().join(name);
        gone(&link).unwrap();
        std::os::unix::fs::symlink(other.path().join(name), &link).unwrap();
        let mut index = Index::open(folder.path(), Kind::Decision).unwrap();
        assert!(names(&index, "queue").is_empty(), "{name} was read through a link");
        index.refresh(some(), &[]).unwrap();
        assert!(!link.is_symlink());
        assert_eq!(fs::read(words(other.path())).unwrap(), foreign, "{name} was written through a link");
    }
}
