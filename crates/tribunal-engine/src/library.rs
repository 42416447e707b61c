//! Reads what a repository knows besides its code into an index, and asks it. What counts, how it is scored and what is said of it is
//! decided in the core; all that is kept here can be made again.

mod external;
mod issues;
mod meaning;
mod records;
mod spec;
mod touched;

pub use issues::Synced;
pub use meaning::model_of;
pub use spec::Architecture;
pub use touched::symbols;

use crate::EngineError;
use crate::effects::ask::Agents;
use crate::effects::blocking;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
pub use tribunal_context::index::Refreshed;
use tribunal_context::index::{Index, IndexError, Reader};
use tribunal_core::ids::{RunId, Sha};
use tribunal_core::library::hint::{Hint, Hit, Said, missing};
use tribunal_core::library::page::Kind;
use tribunal_core::library::question::Question;
use tribunal_core::policy::config::Policy;
use tribunal_core::policy::library::LibraryPolicy;
use tribunal_forge::git::Repository;
use tribunal_forge::port::Forge;

pub struct Library {
    /// Whose issues are read; nothing where there is no forge, or nobody may ask it.
    pub forge: Option<Arc<dyn Forge>>,
    /// What that forge is called in what is kept.
    pub tracker: String,
    /// Everything that is kept, of one project.
    pub folder: PathBuf,
    /// Where an external index runs.
    pub scratch: PathBuf,
    pub agents: Arc<Agents>,
    /// Several reviews of one sweep ask at once.
    pub turn: tokio::sync::Mutex<()>,
}

/// Under which run what a lookup costs is put down, and what is in force there.
#[derive(Clone, Copy)]
pub struct Account<'a> {
    pub run: &'a RunId,
    pub case_id: &'a str,
    pub policy: &'a Policy,
    pub library: &'a LibraryPolicy,
}

/// Why nothing could be looked up.
#[derive(Debug, thiserror::Error)]
pub enum LibraryTrouble {
    #[error(transparent)]
    Engine(#[from] EngineError),
    #[error(transparent)]
    Index(#[from] IndexError),
    #[error("the index `{command}` cannot be used: {problem}")]
    External { command: String, problem: String },
}

/// What was found, and what a reader should know of how.
#[derive(Debug, Clone, Default)]
pub struct Found {
    pub hits: Vec<Hit>,
    pub notices: Vec<String>,
}

/// A change that wants to know what it should refer to.
pub struct Asking<'a> {
    pub question: Question,
    pub said: Said<'a>,
}

/// Between two tries to write an index that another process writes, and how often.
const BUSY: (Duration, u32) = (Duration::from_millis(200), 50);

impl Library {
    fn index_folder(&self, library: &LibraryPolicy) -> PathBuf {
        // A module has other documents, and so an index of its own.
        match &library.places.module {
            None => self.folder.join("index"),
            Some(module) => {
                self.folder.join("modules").join(module.replace(|c: char| !c.is_ascii_alphanumeric(), "_")).join("index")
            }
        }
    }

    /// Brings the collections of these kinds up to a commit, and to what the forge has.
    pub async fn refresh(
        &self,
        library: &LibraryPolicy,
        repository: &Arc<Repository>,
        commit: &Sha,
        kinds: &[Kind],
    ) -> Result<Vec<(Kind, Refreshed)>, LibraryTrouble> {
        let _turn = self.turn.lock().await;
        let mut done = Vec::new();
        for kind in kinds {
            let refreshed = match kind {
                Kind::Issue => self.shelve_issues(library).await?,
                Kind::Decision | Kind::Spec | Kind::Code => self.shelve_files(library, repository, commit, *kind).await?,
            };
            done.push((*kind, refreshed));
        }
        Ok(done)
    }

    /// Throws collections away, with their vectors.
    pub async fn forget(&self, library: &LibraryPolicy, kinds: &[Kind]) -> Result<(), LibraryTrouble> {
        let _turn = self.turn.lock().await;
        for kind in kinds {
            let (folder, kind) = (self.index_folder(library), *kind);
            self.when_free(move || Index::rebuilt(&folder, kind).map(drop)).await?;
        }
        Ok(())
    }

    /// Asks every collection of these kinds, best first.
    pub async fn search(&self, account: Account<'_>, question: &Question, kinds: &[Kind]) -> Result<Found, LibraryTrouble> {
        external::is_trusted(account.library)?;
        if let Some(qmd) = &account.library.qmd {
            return self.ask_external(qmd, account.library, question, kinds).await;
        }
        let mut found = Found::default();
        let meaning = self.meaning(account, question, kinds, &mut found.notices).await?;
        for kind in kinds {
            let (folder, kind, question, meaning) =
                (self.index_folder(account.library), *kind, question.clone(), meaning.clone());
            let hits = blocking(move || -> Result<Vec<Hit>, IndexError> {
                let reader = Reader::open(&folder, kind)?;
                let vectors = meaning.as_ref().map(|(model, vector)| (reader.vectors(model), vector));
                reader.search(&question, vectors.as_ref().map(|(vectors, vector)| (vector.as_slice(), vectors)))
            });
            found.hits.extend(hits.await??);
        }
        found.hits.sort_by(|a, b| b.score.total_cmp(&a.score));
        found.hits.truncate(question.limit);
        Ok(found)
    }

    /// SL-39 to SL-42: decisions and issues that a change should perhaps name. What cannot be looked up is said, and holds nothing up.
    pub async fn references(
        &self,
        account: Account<'_>,
        repository: &Arc<Repository>,
        base: &Sha,
        asking: Asking<'_>,
    ) -> (Vec<Hint>, Vec<String>) {
        let (mut hits, mut notices) = (Vec::new(), Vec::new());
        for kind in [Kind::Decision, Kind::Issue] {
            match self.hits_of(account, repository, base, &asking.question, kind, &mut notices).await {
                Ok(found) => {
                    hits.extend(found.hits);
                    notices.extend(found.notices);
                }
                Err(trouble) => {
                    notices.push(format!("Which {} this should refer to could not be looked up: {trouble}.", kind.plural()))
                }
            }
        }
        let hints = missing(hits, &asking.said, account.library.limit, account.library.min_score);
        notices.dedup();
        (hints, notices)
    }

    async fn hits_of(
        &self,
        account: Account<'_>,
        repository: &Arc<Repository>,
        base: &Sha,
        question: &Question,
        kind: Kind,
        notices: &mut Vec<String>,
    ) -> Result<Found, LibraryTrouble> {
        if kind == Kind::Issue {
            if self.forge.is_none() {
                return Ok(Found::default());
            }
            if let Synced::Failed(why) = self.sync_issues().await {
                notices.push(format!("The issues could not be synced ({why}); the forge was asked itself."));
                return self.ask_forge(question).await;
            }
        }
        if account.library.qmd.is_none() {
            self.refresh(account.library, repository, base, &[kind]).await?;
        }
        self.search(account, question, &[kind]).await
    }

    /// Tries again while another process writes.
    async fn when_free<T: Send + 'static>(
        &self,
        work: impl Fn() -> Result<T, IndexError> + Clone + Send + 'static,
    ) -> Result<T, LibraryTrouble> {
        for _ in 0..BUSY.1 {
            let work = work.clone();
            match blocking(work).await? {
                Err(IndexError::Busy) => tokio::time::sleep(BUSY.0).await,
                done => return Ok(done?),
            }
        }
        Err(IndexError::Busy.into())
    }
}
