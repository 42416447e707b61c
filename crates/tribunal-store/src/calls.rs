//! Calls to agents: what was set aside for each, what it took, and what was answered. One table serves the budget, the resumed run that
//! must not pay twice, and the recording that can be played again.

use super::seal::Table;
use super::{Ledger, StoreError};
use sqlx::Row;

/// A call that is about to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallRow {
    /// The same call of the same run has the same key.
    pub key: String,
    pub run: String,
    pub case_id: String,
    /// `2026-11`
    pub month: String,
    pub at: i64,
    /// Which question of the run: seat, part, try. The same in a run that is played again.
    pub slot: String,
    pub agent: String,
    pub question_hash: String,
    /// Kept when the run is recorded.
    pub question: Option<String>,
    /// Millionths of a dollar; 0 when nobody knows the price.
    pub reserved: i64,
    pub tokens: i64,
}

/// What was spent or set aside, in millionths of a dollar.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Spending {
    pub run: i64,
    pub case: i64,
    pub month: i64,
    pub run_tokens: i64,
}

/// Sums of a column of the ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Totals {
    pub name: String,
    pub calls: i64,
    pub cost: i64,
    pub tokens: i64,
    /// Calls whose cost nobody knows.
    pub unknown: i64,
}

const SUMS: &str = "
SELECT coalesce(sum(CASE WHEN run = ?1 THEN coalesce(cost, reserved) END), 0) AS run,
       coalesce(sum(CASE WHEN case_id = ?2 THEN coalesce(cost, reserved) END), 0) AS case_sum,
       coalesce(sum(CASE WHEN month = ?3 THEN coalesce(cost, reserved) END), 0) AS month,
       coalesce(sum(CASE WHEN run = ?1 THEN tokens END), 0) AS run_tokens
FROM call WHERE run = ?1 OR case_id = ?2 OR month = ?3";

/// An earlier try of the same call, under a name of its own, settled for what was set aside for it; 0 was for a price that nobody knows.
const LOST: &str = "
UPDATE call SET key = key || '/' || (SELECT count(*) FROM call AS other WHERE other.key >= ?1 AND other.key < ?1 || '0'),
                cost = coalesce(cost, nullif(reserved, 0))
WHERE key = ?1 RETURNING key";

/// Both parts of a call that are sealed.
const PARTS: [Table; 2] = [Table::Call, Table::CallText];

impl Ledger {
    /// Sets the worst case of a call aside if `admit` agrees, which sees all that is spent and set aside, by other processes too.
    /// The same call of a process that died is kept beside it, at its worst case: whoever answers had perhaps begun to, and bills it.
    pub async fn reserve(
        &self,
        call: &CallRow,
        admit: impl FnOnce(Spending) -> Result<(), String> + Send,
    ) -> Result<Result<(), String>, StoreError> {
        let mut write = self.write().await?;
        // All of them: a call that was moved to another month is missing in the sum of this one.
        self.verify(&mut write.transaction, Table::Call, "true", &[]).await?;
        let values = [call.key.as_str().into()];
        for part in PARTS {
            write.open(part, "t.key = ?", &values, self).await?;
        }
        let lost: Option<String> = sqlx::query_scalar(LOST).bind(&call.key).fetch_optional(&mut *write.transaction).await?;
        if let Some(lost) = &lost {
            for part in PARTS {
                write.close(part, "t.key = ?", &[lost.as_str().into()]).await?;
            }
        }
        let sums = sqlx::query(SUMS).bind(&call.run).bind(&call.case_id).bind(&call.month);
        let row = sums.fetch_one(&mut *write.transaction).await?;
        let spending = Spending {
            run: row.get("run"),
            case: row.get("case_sum"),
            month: row.get("month"),
            run_tokens: row.get("run_tokens"),
        };
        if let Err(reason) = admit(spending) {
            // That the earlier try is lost stays true.
            write.commit().await?;
            return Ok(Err(reason));
        }
        sqlx::query(
            "INSERT INTO call (key, run, case_id, month, at, slot, agent, question_hash, question, reserved, tokens)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        )
        .bind(&call.key)
        .bind(&call.run)
        .bind(&call.case_id)
        .bind(&call.month)
        .bind(call.at)
        .bind(&call.slot)
        .bind(&call.agent)
        .bind(&call.question_hash)
        .bind(&call.question)
        .bind(call.reserved)
        .bind(call.tokens)
        .execute(&mut *write.transaction)
        .await?;
        for part in PARTS {
            write.close(part, "t.key = ?", &values).await?;
        }
        write.commit().await?;
        Ok(Ok(()))
    }

    /// Replaces what was set aside by what the call took. `cost` is absent when nobody knows it.
    pub async fn settle(&self, key: &str, cost: Option<i64>, tokens: i64, answer: Option<&str>) -> Result<(), StoreError> {
        let mut write = self.write().await?;
        for part in PARTS {
            write.open(part, "t.key = ?", &[key.into()], self).await?;
        }
        sqlx::query("UPDATE call SET cost = ?, reserved = CASE WHEN ? IS NULL THEN 0 ELSE reserved END, tokens = ?, answer = ? WHERE key = ?")
            .bind(cost)
            .bind(cost)
            .bind(tokens)
            .bind(answer)
            .bind(key)
            .execute(&mut *write.transaction)
            .await?;
        for part in PARTS {
            write.close(part, "t.key = ?", &[key.into()]).await?;
        }
        write.commit().await
    }

    /// What a call of a run was answered, if it was.
    pub async fn answered(&self, run: &str, slot: &str) -> Result<Option<String>, StoreError> {
        let mut reading = self.pool.begin().await?;
        for part in PARTS {
            self.verify(&mut reading, part, "t.run = ? AND t.slot = ?", &[run.into(), slot.into()]).await?;
        }
        let answer = sqlx::query_scalar("SELECT answer FROM call WHERE run = ? AND slot = ? AND answer IS NOT NULL LIMIT 1")
            .bind(run)
            .bind(slot)
            .fetch_optional(&mut *reading)
            .await?;
        Ok(answer.flatten())
    }

    /// What the calls of one run took so far.
    pub async fn total_of(&self, run: &str) -> Result<Totals, StoreError> {
        let mut reading = self.pool.begin().await?;
        self.verify(&mut reading, Table::Call, "t.run = ?", &[run.into()]).await?;
        let row = sqlx::query(
            "SELECT count(*) AS calls, coalesce(sum(cost), 0) AS cost, coalesce(sum(tokens), 0) AS tokens,
                    count(*) - count(cost) AS unknown
             FROM call WHERE run = ?",
        )
        .bind(run)
        .fetch_one(&mut *reading)
        .await?;
        let name = run.to_owned();
        Ok(Totals {
            name,
            calls: row.get("calls"),
            cost: row.get("cost"),
            tokens: row.get("tokens"),
            unknown: row.get("unknown"),
        })
    }

    /// Spending by `month`, `case_id`, `run` or `agent`, newest or dearest first.
    pub async fn totals(&self, by: SpendBy) -> Result<Vec<Totals>, StoreError> {
        let column = match by {
            SpendBy::Month => "month",
            SpendBy::Case => "case_id",
            SpendBy::Run => "run",
            SpendBy::Agent => "agent",
        };
        let text = format!(
            "SELECT {column} AS name, count(*) AS calls, coalesce(sum(cost), 0) AS cost, coalesce(sum(tokens), 0) AS tokens,
                    count(*) - count(cost) AS unknown
             FROM call GROUP BY {column} ORDER BY max(at) DESC LIMIT 100"
        );
        // Made of the four names above and nothing else.
        let mut reading = self.pool.begin().await?;
        self.verify(&mut reading, Table::Call, "true", &[]).await?;
        let rows = sqlx::query(sqlx::AssertSqlSafe(text)).fetch_all(&mut *reading).await?;
        Ok(rows
            .iter()
            .map(|row| Totals {
                name: row.get("name"),
                calls: row.get("calls"),
                cost: row.get("cost"),
                tokens: row.get("tokens"),
                unknown: row.get("unknown"),
            })
            .collect())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpendBy {
    Month,
    Case,
    Run,
    Agent,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(key: &str, run: &str, reserved: i64) -> CallRow {
        CallRow {
            key: key.into(),
            run: run.into(),
            case_id: "c".into(),
            month: "2026-11".into(),
            at: 1,
            slot: key.into(),
            agent: "a".into(),
            question_hash: "h".into(),
            question: None,
            reserved,
            tokens: 10,
        }
    }

    async fn ledger(folder: &tempfile::TempDir) -> Ledger {
        Ledger::open(&folder.path().join("ledger.db"), crate::tests::key()).await.unwrap()
    }

    /// Issue 4, build 5: what is set aside counts until it is settled, across runs and processes.
    #[tokio::test]
    async fn what_is_set_aside_counts() {
        let folder = tempfile::tempdir().unwrap();
        let (one, other) = (ledger(&folder).await, ledger(&folder).await);
        one.reserve(&call("k1", "r1", 70), |_| Ok(())).await.unwrap().unwrap();
        let mut seen = Spending::default();
        let refused = other
            .reserve(&call("k2", "r2", 70), |spending| {
                seen = spending;
                Err("full".into())
            })
            .await
            .unwrap();
        assert_eq!(refused, Err("full".into()));
        assert_eq!(seen, Spending { run: 0, case: 70, month: 70, run_tokens: 0 });
        one.settle("k1", Some(20), 5, Some("said")).await.unwrap();
        other
            .reserve(&call("k2", "r1", 1), |spending| {
                seen = spending;
                Ok(())
            })
            .await
            .unwrap()
            .unwrap();
        assert_eq!(seen, Spending { run: 20, case: 20, month: 20, run_tokens: 5 });
        assert_eq!(one.answered("r1", "k1").await.unwrap().as_deref(), Some("said"));
        let total = one.total_of("r1").await.unwrap();
        assert_eq!((total.calls, total.cost, total.tokens, total.unknown), (2, 20, 15, 1));
        assert_eq!(one.total_of("r9").await.unwrap().calls, 0);
        assert_eq!(one.answered("r1", "k2").await.unwrap(), None);
    }

    /// A call that was set aside, killed and made again was perhaps paid for each time, and counts each time.
    #[tokio::test]
    async fn a_call_that_was_killed_is_not_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let ledger = ledger(&folder).await;
        for before in [0, 70, 140] {
            let mut seen = Spending::default();
            let admit = |spending| {
                seen = spending;
                Ok(())
            };
            ledger.reserve(&call("k1", "r1", 70), admit).await.unwrap().unwrap();
            assert_eq!((seen.run, seen.case, seen.month), (before, before, before));
        }
        ledger.settle("k1", Some(20), 5, Some("said")).await.unwrap();
        let total = ledger.total_of("r1").await.unwrap();
        assert_eq!((total.calls, total.cost, total.unknown), (3, 160, 0));
        assert_eq!(ledger.answered("r1", "k1").await.unwrap().as_deref(), Some("said"));
        // Refused or not, what is lost is lost; and what nobody knows the price of stays unknown.
        ledger.reserve(&call("k2", "r2", 0), |_| Ok(())).await.unwrap().unwrap();
        ledger.reserve(&call("k2", "r2", 0), |_| Err("full".into())).await.unwrap().unwrap_err();
        let total = ledger.total_of("r2").await.unwrap();
        assert_eq!((total.calls, total.cost, total.unknown), (1, 0, 1));
    }
}
