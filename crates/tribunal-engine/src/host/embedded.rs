//! One process, one SQLite ledger. A step is one transaction; effects run outside of any, in parallel, and are run again by
//! whoever resumes the run if their result was never stored.

use super::{Excludes, Work};
use crate::{EngineError, Progress, now};
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;
use tokio::task::JoinSet;
use tribunal_core::ids::RunId;
use tribunal_core::procedure::{Millis, Step};
use tribunal_store::{EffectRow, Ledger, RunRow, StepRow};

pub struct Host<W: Work> {
    pub ledger: Arc<Ledger>,
    pub effects: Arc<W>,
    /// Where lock files live.
    pub folder: PathBuf,
}

/// A run and how far it got.
struct Running<State> {
    run: RunId,
    case_id: Arc<str>,
    seq: i64,
    state: Option<State>,
}

/// What a replay found.
pub struct Replay<State> {
    pub state: State,
    /// The document, as replayed and as stored.
    pub replayed: Option<String>,
    pub stored: Option<String>,
}

/// A run's state as it was stored last.
pub fn stored<W: Work>(row: &RunRow) -> Result<W::State, EngineError> {
    W::upgrade(parse(&row.id, &row.state)?)
}

impl<W: Work> Host<W> {
    pub async fn begin(&self, run: &RunId, start: W::Input, case_id: &str) -> Result<W::State, EngineError> {
        self.begin_until(run, start, case_id, std::future::pending()).await
    }

    /// The same; when `interrupt` comes, the procedure is told once, and brings itself to an end.
    pub async fn begin_until(
        &self,
        run: &RunId,
        start: W::Input,
        case_id: &str,
        interrupt: impl Future<Output = ()>,
    ) -> Result<W::State, EngineError> {
        let _lock = self.lock(run.as_str(), case_id).await?;
        let mut running = Running { run: run.clone(), case_id: case_id.into(), seq: 0, state: None };
        let effects = self.take(&mut running, start, None).await?;
        self.drive(running, effects, interrupt).await
    }

    /// Goes on where a killed process stopped.
    pub async fn resume(&self, row: RunRow) -> Result<W::State, EngineError> {
        self.resume_until(row, std::future::pending()).await
    }

    pub async fn resume_until(&self, row: RunRow, interrupt: impl Future<Output = ()>) -> Result<W::State, EngineError> {
        let _lock = self.lock(&row.id, &row.case_id).await?;
        // Read again under the lock: whoever held it may have gone on.
        let row = self.ledger.run(&row.id).await?.ok_or_else(|| EngineError::UnknownRun(row.id.clone()))?;
        let state = stored::<W>(&row)?;
        if W::is_settled(&state) {
            return Ok(state);
        }
        let effects = self.ledger.open_effects(&row.id).await?;
        let effects = effects.iter().map(|effect| parse(&row.id, &effect.body)).collect::<Result<Vec<W::Effect>, _>>()?;
        let running = Running { run: RunId(row.id), case_id: row.case_id.into(), seq: row.seq, state: Some(state) };
        self.drive(running, effects, interrupt).await
    }

    /// Tells a run one more thing and leaves it: nothing that it asks for then is done.
    pub async fn tell(&self, row: RunRow, input: W::Input) -> Result<W::State, EngineError> {
        let _lock = self.lock(&row.id, &row.case_id).await?;
        let row = self.ledger.run(&row.id).await?.ok_or_else(|| EngineError::UnknownRun(row.id.clone()))?;
        let state = stored::<W>(&row)?;
        let mut running = Running { run: RunId(row.id), case_id: row.case_id.into(), seq: row.seq, state: Some(state) };
        self.take(&mut running, input, None).await?;
        running.state.ok_or_else(|| EngineError::UnknownRun(running.run.0))
    }

    /// Feeds the recorded inputs to the procedure again. Nothing is read, run or written.
    pub async fn replay(&self, run: &str) -> Result<Replay<W::State>, EngineError> {
        let inputs = self.ledger.inputs(run).await?;
        let mut state: Option<W::State> = None;
        for input in inputs {
            state = Some(W::step(state, parse(run, &input.body)?, millis(input.at))?.state);
        }
        let state = state.ok_or_else(|| EngineError::UnknownRun(run.to_owned()))?;
        let replayed = W::leaves(&state, "").document.map(|document| document.body);
        let stored = self.ledger.document(run).await?.map(|row| row.body);
        Ok(Replay { state, replayed, stored })
    }

    async fn drive(
        &self,
        mut running: Running<W::State>,
        effects: Vec<W::Effect>,
        interrupt: impl Future<Output = ()>,
    ) -> Result<W::State, EngineError> {
        let mut tasks = JoinSet::new();
        let mut waiting = effects;
        let mut interrupt = pin!(interrupt);
        let mut listens = true;
        loop {
            let Some(state) = running.state.clone() else { return Err(EngineError::UnknownRun(running.run.0)) };
            let shared = Arc::new(state);
            for effect in waiting.drain(..) {
                let (effects, state, case_id) = (Arc::clone(&self.effects), Arc::clone(&shared), Arc::clone(&running.case_id));
                tasks.spawn(async move {
                    let result = effects.run(effect.clone(), state, case_id).await;
                    (effect, result)
                });
            }
            // What has come about goes first: an interrupt ends nothing that is done already.
            let joined = tokio::select! {
                biased;
                joined = tasks.join_next() => joined,
                () = &mut interrupt, if listens => {
                    listens = false;
                    if let Some(input) = W::interrupted() {
                        waiting = self.take(&mut running, input, None).await?;
                    }
                    continue;
                }
            };
            match joined {
                None => return Ok(Arc::unwrap_or_clone(shared)),
                Some(Err(error)) => return Err(EngineError::Worker(error.to_string())),
                Some(Ok((effect, result))) => waiting = self.take(&mut running, result?, Some(&effect)).await?,
            }
        }
    }

    /// One step, stored whole before any of its effects runs.
    async fn take(
        &self,
        running: &mut Running<W::State>,
        input: W::Input,
        finished: Option<&W::Effect>,
    ) -> Result<Vec<W::Effect>, EngineError> {
        let run = running.run.clone();
        let now = now();
        let body = to_json(&run, &input)?;
        let Step { state, effects } = W::step(running.state.take(), input, now)?;
        let rows = effects
            .iter()
            .map(|effect| Ok(EffectRow { key: W::key(effect, &run).0, body: to_json(&run, effect)? }))
            .collect::<Result<Vec<_>, EngineError>>()?;
        let leaves = W::leaves(&state, &running.case_id);
        let finished_key = finished.map(|effect| W::key(effect, &run).0);
        self.ledger
            .store_step(&StepRow {
                run: run.as_str(),
                case_id: &running.case_id,
                procedure: W::PROCEDURE,
                seq: running.seq,
                at: i64::try_from(now).unwrap_or(i64::MAX),
                input: &body,
                finished_effect: finished_key.as_deref(),
                state: &to_json(&run, &state)?,
                settled: W::is_settled(&state),
                effects: &rows,
                document: leaves.document.as_ref(),
                names: &leaves.names,
            })
            .await?;
        running.seq += 1;
        running.state = Some(state);
        Ok(effects)
    }

    /// One process at a time works on a case, or on a run. The lock is the operating system's, so a killed process leaves none behind.
    async fn lock(&self, run: &str, case_id: &str) -> Result<File, EngineError> {
        let io = |source| EngineError::Io {
            what: format!("the lock of this case in {} cannot be taken", self.folder.display()),
            source,
        };
        let path = lock_path(
            &self.folder,
            match W::EXCLUDES {
                Excludes::OthersOfTheCase => case_id,
                Excludes::OthersOfTheRun => run,
            },
        );
        std::fs::create_dir_all(path.parent().unwrap_or(&self.folder)).map_err(io)?;
        let file = File::options().create(true).truncate(false).write(true).open(path).map_err(io)?;
        match file.try_lock() {
            Ok(()) => Ok(file),
            Err(TryLockError::Error(error)) => Err(io(error)),
            Err(TryLockError::WouldBlock) if W::EXCLUDES == Excludes::OthersOfTheRun => {
                Err(EngineError::Busy { run: run.to_owned() })
            }
            Err(TryLockError::WouldBlock) => {
                (self.effects.listener())(Progress::Waiting { on: W::WAITS_ON.to_owned() });
                tokio::task::spawn_blocking(move || file.lock().map(|()| file))
                    .await
                    .map_err(|error| EngineError::Worker(error.to_string()))?
                    .map_err(io)
            }
        }
    }
}

/// What is locked while a case, or a run, is worked on.
pub(crate) fn lock_path(folder: &Path, name: &str) -> PathBuf {
    folder.join("locks").join(&tribunal_core::findings::key::sha256_hex(name.as_bytes())[..16])
}

fn parse<T: for<'de> serde::Deserialize<'de>>(run: &str, text: &str) -> Result<T, EngineError> {
    serde_json::from_str(text).map_err(|error| EngineError::Damaged { run: run.to_owned(), problem: error.to_string() })
}

fn to_json(run: &RunId, value: &impl serde::Serialize) -> Result<String, EngineError> {
    serde_json::to_string(value).map_err(|error| EngineError::Damaged { run: run.0.clone(), problem: error.to_string() })
}

fn millis(at: i64) -> Millis {
    Millis::try_from(at).unwrap_or(0)
}
