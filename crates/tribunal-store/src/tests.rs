use super::*;

pub(crate) fn key() -> SealKey {
    SealKey::new(&[7; 32], "a ledger", None)
}

fn step(seq: i64) -> StepRow<'static> {
    StepRow {
        run: "r1",
        case_id: "c",
        procedure: "review",
        seq,
        at: 1,
        input: "{}",
        finished_effect: None,
        state: "{}",
        settled: false,
        effects: &[],
        document: None,
        names: &[],
    }
}

/// Two processes that step the same run: the second learns that it was late, and nothing is stored twice.
#[tokio::test]
async fn a_late_step_is_refused_whole() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = Ledger::open(&folder.path().join("ledger.db"), key()).await.unwrap();
    ledger.store_step(&step(0)).await.unwrap();
    ledger.store_step(&step(1)).await.unwrap();
    assert!(matches!(ledger.store_step(&step(1)).await, Err(StoreError::Conflict(_))));
    assert_eq!(ledger.inputs("r1").await.unwrap().len(), 2);
}

#[tokio::test]
async fn effects_are_open_until_their_result_is_stored() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = Ledger::open(&folder.path().join("ledger.db"), key()).await.unwrap();
    let effects = [EffectRow { key: "r1/a".into(), body: "{}".into() }];
    ledger.store_step(&StepRow { effects: &effects, ..step(0) }).await.unwrap();
    assert_eq!(ledger.open_effects("r1").await.unwrap().len(), 1);
    ledger.store_step(&StepRow { finished_effect: Some("r1/a"), ..step(1) }).await.unwrap();
    assert!(ledger.open_effects("r1").await.unwrap().is_empty());
}

/// Who only looks needs no right to write, and leaves nothing behind.
#[tokio::test]
async fn a_ledger_can_be_read_where_nothing_can_be_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.db");
    assert!(Ledger::open_existing(&path, key()).await.unwrap().is_none());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    let ledger = Ledger::open(&path, key()).await.unwrap();
    ledger.store_step(&step(0)).await.unwrap();
    ledger.pool.close().await;
    let reader = Ledger::open_read_only(&path, key()).await.unwrap();
    assert!(reader.run("r1").await.unwrap().is_some());
    assert!(matches!(reader.store_step(&step(1)).await, Err(StoreError::Query(_))));
}

#[tokio::test]
async fn what_is_no_database_is_called_damaged() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.db");
    std::fs::write(&path, "no database\n".repeat(1000)).unwrap();
    assert!(Ledger::open(&path, key()).await.err().unwrap().is_damaged());
}

#[tokio::test]
async fn a_ledger_of_a_later_release_is_not_touched() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.db");
    let ledger = Ledger::open(&path, key()).await.unwrap();
    sqlx::raw_sql("PRAGMA user_version = 99").execute(&ledger.pool).await.unwrap();
    drop(ledger);
    assert!(matches!(Ledger::open(&path, key()).await, Err(StoreError::TooNew { found: 99, .. })));
}

fn document(run: &str, case_id: &str, at: i64, outcome: &str) -> DocumentRow {
    DocumentRow {
        run: run.into(),
        case_id: case_id.into(),
        at,
        base: "b".into(),
        head: "h".into(),
        subject: "s".into(),
        outcome: outcome.into(),
        verdict: "v".into(),
        findings: 1,
        body: format!("{{\"outcome\":\"{outcome}\"}}"),
    }
}

/// A ledger with at least one row of every table.
async fn full(path: &Path, key: SealKey) -> Ledger {
    let ledger = Ledger::open(path, key).await.unwrap();
    let effects = [EffectRow { key: "r1/a".into(), body: "{}".into() }];
    let names = [("k".to_owned(), 1)];
    let first = document("r1", "c", 1, "findings");
    ledger.store_step(&StepRow { effects: &effects, document: Some(&first), names: &names, ..step(0) }).await.unwrap();
    let second = document("r2", "c", 2, "findings");
    ledger.store_step(&StepRow { run: "r2", document: Some(&second), ..step(0) }).await.unwrap();
    let call = CallRow {
        key: "k1".into(),
        run: "r1".into(),
        case_id: "c".into(),
        month: "2026-11".into(),
        at: 1,
        slot: "s".into(),
        agent: "a".into(),
        question_hash: "h".into(),
        question: None,
        reserved: 5,
        tokens: 1,
    };
    ledger.reserve(&call, |_| Ok(())).await.unwrap().unwrap();
    ledger.settle("k1", Some(7), 2, Some("said")).await.unwrap();
    ledger.put_dismissal("c", "f", 1, "no").await.unwrap();
    ledger.put_blob("d", b"bytes").await.unwrap();
    ledger.add_desk("pull", Some("a"), "one").await.unwrap();
    ledger.put_status("sha", "lint", "failed").await.unwrap();
    let gate = GateRow {
        id: "g".into(),
        run: "r1".into(),
        case_id: "c".into(),
        asked_at: 1,
        until: 2,
        question: "q".into(),
        answer: None,
    };
    ledger.put_gate(&gate).await.unwrap();
    ledger.put_hold("c", "1", "t1", "{}").await.unwrap();
    ledger
}

/// Everything that anybody asks a ledger.
async fn read_all(ledger: &Ledger) -> Result<(), StoreError> {
    ledger.holds("c").await?;
    ledger.run("r1").await?;
    ledger.run("r2").await?;
    ledger.unsettled("review", None).await?;
    ledger.inputs("r1").await?;
    ledger.inputs("r2").await?;
    ledger.open_effects("r1").await?;
    ledger.document("r1").await?;
    ledger.document("r2").await?;
    ledger.last_document("c").await?;
    ledger.count_documents("c").await?;
    ledger.history(10).await?;
    ledger.names("c").await?;
    ledger.dismissals("c").await?;
    ledger.blob("d").await?;
    ledger.answered("r1", "s").await?;
    ledger.total_of("r1").await?;
    ledger.totals(SpendBy::Month).await?;
    ledger.desk(1).await?;
    ledger.desks("pull").await?;
    ledger.statuses("sha").await?;
    ledger.gate("g").await?;
    ledger.open_gates().await?;
    Ok(())
}

/// Opens it again and reads everything: the error that a changed ledger leads to.
async fn refused(path: &Path, key: SealKey) -> bool {
    let outcome = match Ledger::open(path, key).await {
        Ok(ledger) => read_all(&ledger).await,
        Err(error) => Err(error),
    };
    matches!(outcome, Err(StoreError::NotOurs { .. } | StoreError::Changed { .. }))
}

/// Runs a statement as somebody does who has the file and not the key.
async fn edit(path: &Path, statement: String) {
    let pool =
        SqlitePoolOptions::new().max_connections(1).connect_with(SqliteConnectOptions::new().filename(path)).await.unwrap();
    sqlx::raw_sql(sqlx::AssertSqlSafe(statement)).execute(&pool).await.unwrap();
    pool.close().await;
}

/// Issue 16, point 9: whatever is edited in a ledger, the ledger is refused. Every column of every table, and every row taken out or
/// put in twice; a table or column that a later release adds is found here by itself.
#[tokio::test]
async fn an_edited_ledger_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let original = folder.path().join("original.db");
    let ledger = full(&original, key()).await;
    read_all(&ledger).await.unwrap();
    let tables: Vec<String> =
        sqlx::query_scalar("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
            .fetch_all(&ledger.pool)
            .await
            .unwrap();
    let mut edits =
        vec!["CREATE TRIGGER evil AFTER INSERT ON document BEGIN UPDATE document SET outcome = 'clean'; END".to_owned()];
    for table in &tables {
        let columns: Vec<String> =
            sqlx::query_scalar("SELECT name FROM pragma_table_info(?)").bind(table).fetch_all(&ledger.pool).await.unwrap();
        let rows: i64 = sqlx::query_scalar(sqlx::AssertSqlSafe(format!("SELECT count(*) FROM {table}")))
            .fetch_one(&ledger.pool)
            .await
            .unwrap();
        assert!(rows > 0, "the test puts nothing into {table}");
        edits.push(format!("DELETE FROM {table}"));
        for column in columns.iter().filter(|column| *column != "one") {
            let text = format!(
                "CASE typeof({column}) WHEN 'text' THEN {column} || 'x' WHEN 'blob' THEN x'00' WHEN 'null' THEN 'x' ELSE {column} + 1 END"
            );
            edits.push(format!("UPDATE {table} SET {column} = {text}"));
        }
    }
    edits.push(
        "INSERT INTO document SELECT 'r9', case_id, at + 9, base, head, subject, 'clean', verdict, 0, body FROM document LIMIT 1"
            .into(),
    );
    ledger.pool.close().await;
    assert!(edits.len() > 60, "{}", edits.len());
    for (n, statement) in edits.into_iter().enumerate() {
        let copy = folder.path().join(format!("copy-{n}.db"));
        std::fs::copy(&original, &copy).unwrap();
        edit(&copy, statement.clone()).await;
        assert!(refused(&copy, key()).await, "{statement}");
        // The next one does not meet it again.
        assert!(matches!(Ledger::open(&copy, key()).await, Err(StoreError::NotOurs { .. })), "{statement}");
    }
    assert!(!refused(&original, key()).await);
    assert!(refused(&original, SealKey::new(&[8; 32], "a ledger", None)).await, "another account");
    assert!(refused(&original, SealKey::new(&[7; 32], "another ledger", None)).await, "another folder");
}

/// Issue 16, point 9: a run that was given another name, case or end is refused by the question which would no longer find it.
#[tokio::test]
async fn an_edited_run_is_not_overlooked() {
    let folder = tempfile::tempdir().unwrap();
    let original = folder.path().join("original.db");
    full(&original, key()).await.pool.close().await;
    for (n, change) in ["settled = 1", "case_id = 'other'", "procedure = 'other'", "created_at = 0"].into_iter().enumerate() {
        let copy = folder.path().join(format!("copy-{n}.db"));
        std::fs::copy(&original, &copy).unwrap();
        edit(&copy, format!("UPDATE run SET {change} WHERE id = 'r2'")).await;
        let asked = match Ledger::open(&copy, key()).await {
            Ok(ledger) => ledger.unsettled("review", Some("c")).await.map(drop),
            Err(error) => Err(error),
        };
        assert!(matches!(asked, Err(StoreError::NotOurs { .. } | StoreError::Changed { .. })), "{change}");
    }
}

/// A ledger that was put back as it was before is not the one that was written last, though every seal in it is ours.
#[tokio::test]
async fn a_ledger_that_was_put_back_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (path, old) = (folder.path().join("ledger.db"), folder.path().join("old.db"));
    let key = || SealKey::new(&[7; 32], "a ledger", Some(folder.path().join("marks/a")));
    let ledger = full(&path, key()).await;
    ledger.pool.close().await;
    std::fs::copy(&path, &old).unwrap();
    let ledger = Ledger::open(&path, key()).await.unwrap();
    ledger.put_status("sha", "lint", "newer").await.unwrap();
    ledger.pool.close().await;
    assert!(!refused(&path, key()).await);
    std::fs::copy(&old, &path).unwrap();
    assert!(refused(&path, key()).await);
}

#[cfg(unix)]
#[tokio::test]
async fn only_this_account_can_read_a_ledger() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.db");
    for loose in [0o600, 0o644] {
        let ledger = full(&path, key()).await;
        for entry in std::fs::read_dir(folder.path()).unwrap().flatten() {
            assert_eq!(entry.metadata().unwrap().permissions().mode() & 0o777, 0o600, "{:?}", entry.path());
        }
        ledger.pool.close().await;
        std::fs::remove_file(&path).unwrap();
        std::fs::write(&path, "").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(loose)).unwrap();
    }
}
