//! Questions that only a person may answer. Whoever answers first, from whichever process, is the one who did.

use super::seal::Table;
use super::{Ledger, StoreError};
use sqlx::Row;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GateRow {
    pub id: String,
    pub run: String,
    pub case_id: String,
    pub asked_at: i64,
    /// What comes later is no answer.
    pub until: i64,
    pub question: String,
    pub answer: Option<String>,
}

impl Ledger {
    /// Asked again, the same question stays as it is, with its answer.
    pub async fn put_gate(&self, gate: &GateRow) -> Result<(), StoreError> {
        let mut write = self.write().await?;
        let values = [gate.id.as_str().into()];
        write.open(Table::Gate, "t.id = ?", &values, self).await?;
        sqlx::query(
            "INSERT OR IGNORE INTO gate (id, run, case_id, asked_at, until, question, answer) VALUES (?, ?, ?, ?, ?, ?, ?)",
        )
        .bind(&gate.id)
        .bind(&gate.run)
        .bind(&gate.case_id)
        .bind(gate.asked_at)
        .bind(gate.until)
        .bind(&gate.question)
        .bind(&gate.answer)
        .execute(&mut *write.transaction)
        .await?;
        write.close(Table::Gate, "t.id = ?", &values).await?;
        write.commit().await
    }

    pub async fn gate(&self, id: &str) -> Result<Option<GateRow>, StoreError> {
        let mut reading = self.pool.begin().await?;
        self.verify(&mut reading, Table::Gate, "t.id = ?", &[id.into()]).await?;
        let row = sqlx::query("SELECT * FROM gate WHERE id = ?").bind(id).fetch_optional(&mut *reading).await?;
        Ok(row.as_ref().map(gate_row))
    }

    /// Oldest first.
    pub async fn open_gates(&self) -> Result<Vec<GateRow>, StoreError> {
        let mut reading = self.pool.begin().await?;
        self.verify(&mut reading, Table::Gate, "true", &[]).await?;
        let rows = sqlx::query("SELECT * FROM gate WHERE answer IS NULL ORDER BY asked_at, id").fetch_all(&mut *reading).await?;
        Ok(rows.iter().map(gate_row).collect())
    }

    /// Answers a question unless somebody has; says whether it did.
    pub async fn answer_gate(&self, id: &str, answer: &str) -> Result<bool, StoreError> {
        let mut write = self.write().await?;
        write.open(Table::Gate, "t.id = ?", &[id.into()], self).await?;
        let answered = sqlx::query("UPDATE gate SET answer = ? WHERE id = ? AND answer IS NULL")
            .bind(answer)
            .bind(id)
            .execute(&mut *write.transaction)
            .await?;
        write.close(Table::Gate, "t.id = ?", &[id.into()]).await?;
        write.commit().await?;
        Ok(answered.rows_affected() == 1)
    }
}

fn gate_row(row: &sqlx::sqlite::SqliteRow) -> GateRow {
    GateRow {
        id: row.get("id"),
        run: row.get("run"),
        case_id: row.get("case_id"),
        asked_at: row.get("asked_at"),
        until: row.get("until"),
        question: row.get("question"),
        answer: row.get("answer"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gate(id: &str, asked_at: i64) -> GateRow {
        GateRow {
            id: id.into(),
            run: "r".into(),
            case_id: "c".into(),
            asked_at,
            until: asked_at + 10,
            question: "{}".into(),
            answer: None,
        }
    }

    /// SL-139: one asking, one answer; two connections, as two processes have them.
    #[tokio::test]
    async fn the_first_answer_counts() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger.db");
        let key = crate::tests::key;
        let (one, other) = (Ledger::open(&path, key()).await.unwrap(), Ledger::open(&path, key()).await.unwrap());
        for asked in [gate("b", 2), gate("a", 1), gate("a", 7)] {
            one.put_gate(&asked).await.unwrap();
        }
        assert_eq!(other.open_gates().await.unwrap(), [gate("a", 1), gate("b", 2)]);
        assert!(other.answer_gate("a", "merge").await.unwrap());
        assert!(!one.answer_gate("a", "stop").await.unwrap() && !one.answer_gate("x", "stop").await.unwrap());
        one.put_gate(&gate("a", 9)).await.unwrap();
        assert_eq!(one.gate("a").await.unwrap().unwrap().answer.as_deref(), Some("merge"));
        assert_eq!(one.open_gates().await.unwrap(), [gate("b", 2)]);
        assert_eq!(one.gate("x").await.unwrap(), None);
    }
}
