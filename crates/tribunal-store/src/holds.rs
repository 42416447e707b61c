//! What held the merge of a head back. It is only ever added to: what lifts a hold is decided anew at each look.

use super::seal::Table;
use super::{Ledger, StoreError};

impl Ledger {
    /// What holds a head back already stays as it is.
    pub async fn put_hold(&self, case_id: &str, head: &str, source: &str, body: &str) -> Result<(), StoreError> {
        let mut write = self.write().await?;
        let condition = "t.case_id = ? AND t.head = ? AND t.source = ?";
        let values = [case_id.into(), head.into(), source.into()];
        write.open(Table::Hold, condition, &values, self).await?;
        sqlx::query("INSERT OR IGNORE INTO hold (case_id, head, source, body) VALUES (?, ?, ?, ?)")
            .bind(case_id)
            .bind(head)
            .bind(source)
            .bind(body)
            .execute(&mut *write.transaction)
            .await?;
        write.close(Table::Hold, condition, &values).await?;
        write.commit().await
    }

    /// Of one pull request, at whatever head.
    pub async fn holds(&self, case_id: &str) -> Result<Vec<String>, StoreError> {
        let mut reading = self.pool.begin().await?;
        self.verify(&mut reading, Table::Hold, "t.case_id = ?", &[case_id.into()]).await?;
        let rows = sqlx::query_scalar("SELECT body FROM hold WHERE case_id = ? ORDER BY head, source").bind(case_id);
        Ok(rows.fetch_all(&mut *reading).await?)
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::key;
    use crate::{Ledger, seal};

    #[tokio::test]
    async fn a_hold_is_added_and_never_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let ledger = Ledger::open(&folder.path().join("ledger.db"), key()).await.unwrap();
        for (head, source, body) in [("1", "t1", "one"), ("1", "t1", "another"), ("1", "t2", "two"), ("2", "t1", "three")] {
            ledger.put_hold("c", head, source, body).await.unwrap();
        }
        assert_eq!(ledger.holds("c").await.unwrap(), ["one", "two", "three"]);
        assert!(ledger.holds("d").await.unwrap().is_empty());
    }

    /// A ledger that an earlier release has sealed is brought up to date, with everything in it.
    #[tokio::test]
    async fn a_sealed_ledger_without_holds_gets_them() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger.db");
        let ledger = Ledger::open(&path, key()).await.unwrap();
        ledger.put_dismissal("c", "F1", 1, "{}").await.unwrap();
        let mut older = ledger.pool.acquire().await.unwrap();
        sqlx::raw_sql("DROP TABLE hold; PRAGMA user_version = 6").execute(&mut *older).await.unwrap();
        seal::seal_again(&mut older, &key()).await.unwrap();
        drop(older);
        ledger.pool.close().await;
        let ledger = Ledger::open(&path, key()).await.unwrap();
        ledger.put_hold("c", "1", "t1", "one").await.unwrap();
        assert_eq!((ledger.holds("c").await.unwrap().len(), ledger.dismissals("c").await.unwrap().len()), (1, 1));
    }
}
