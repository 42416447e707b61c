//! Bringing changes here. All of them go into one clone of the project, so one is brought at a time; on the local forge they are here.

use crate::EngineError;
use crate::effects::blocking;
use std::path::PathBuf;
use std::sync::Arc;
use tribunal_core::ids::Sha;
use tribunal_core::pull::facts::Pull;
use tribunal_core::pull::fault::ForgeFault;
use tribunal_core::pull::place::ForgeKind;
use tribunal_forge::git::Repository;
use tribunal_forge::git::fetch::Fetched;
use tribunal_forge::port::GitSource;

pub struct Clones {
    /// The repository that is its own forge.
    here: Option<Arc<Repository>>,
    folder: PathBuf,
    one_at_a_time: Arc<tokio::sync::Mutex<()>>,
}

/// A change that is here.
pub struct Brought {
    pub repository: Arc<Repository>,
    /// The tip of the branch that it is to be merged into.
    pub base: Sha,
    /// Where the two parted.
    pub merge_base: Sha,
    pub head: Sha,
}

impl Clones {
    pub fn new(kind: ForgeKind, here: Option<Arc<Repository>>, folder: PathBuf) -> Self {
        let here = here.filter(|_| kind == ForgeKind::Local);
        Clones { here, folder, one_at_a_time: Arc::default() }
    }

    /// The clone of the project, made where it is not there yet.
    pub async fn repository(&self, source: GitSource) -> Result<Arc<Repository>, EngineError> {
        if let Some(here) = &self.here {
            return Ok(Arc::clone(here));
        }
        let _turn = self.turn().await;
        let folder = self.folder.clone();
        Ok(Arc::new(blocking(move || Repository::clone_of(&folder, &source)).await??))
    }

    /// Held while something is fetched.
    pub async fn turn(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.one_at_a_time.lock().await
    }

    pub async fn bring(&self, pull: &Pull, source: GitSource) -> Result<Brought, EngineError> {
        let _turn = self.turn().await;
        let (here, folder) = (self.here.clone(), self.folder.clone());
        let (base, head, number) = (pull.base.sha.clone(), pull.head.sha.clone(), pull.number);
        blocking(move || -> Result<Brought, EngineError> {
            let (repository, fetched) = match here {
                Some(here) => (here, Fetched { base, head: head.clone() }),
                None => {
                    let repository = Arc::new(Repository::clone_of(&folder, &source)?);
                    let fetched = repository.fetch_pull(&source, &base, &head)?;
                    // What a forge says of the base may be of an earlier day.
                    let base = repository.fetch_base(&source)?;
                    (repository, Fetched { base, ..fetched })
                }
            };
            if fetched.head != head {
                return Err(moved(number));
            }
            let merge_base = repository.merge_base(&fetched.base, &fetched.head, "base", "head")?;
            Ok(Brought { repository, base: fetched.base, merge_base, head: fetched.head })
        })
        .await?
    }
}

/// Pushed to between two questions: what was read does not belong together.
fn moved(number: u64) -> EngineError {
    EngineError::Forge(ForgeFault::Conflict { host: format!("#{number}"), message: "it was pushed to while it was read".into() })
}
