//! The hands of `sweep`: they list, look, have reviewed and remedied, say, ask, merge and keep the files of a loop. What to do, and
//! in which order, is the procedure's to say.
//!
//! Each act looks whether the lock of the set still names its run; a run that was passed over does nothing more (SL-174).

mod against;
mod ask;
pub mod bring;
mod discover;
mod facts;
pub mod files;
mod land;
pub mod lock;
mod look;
mod one;
mod say;
mod work;

use crate::effects::on_forge::OnForge;
use crate::library::Library;
use crate::one_pull::OnePull;
use crate::{EngineError, Listener, Progress, now};
use bring::Clones;
use lock::SetLock;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tribunal_core::ids::Sha;
use tribunal_core::merge::policy::MergePolicy;
use tribunal_core::policy::library::LibraryPolicy;
use tribunal_core::procedure::Millis;
use tribunal_core::procedure::sweep::report::Report;
use tribunal_core::procedure::sweep::{Request, Trouble};
use tribunal_core::pull::place::Place;
use tribunal_forge::git::Repository;
use tribunal_store::Ledger;

pub struct Sweeps {
    pub on: OnForge,
    pub ledger: Arc<Ledger>,
    pub one: Arc<dyn OnePull>,
    /// Where changes are brought to.
    pub clones: Clones,
    /// What a commit of the base says of merging and of its records.
    pub base: BaseAt,
    pub library: Arc<Library>,
    pub lock: SetLock,
    /// Where somebody sits and can be asked.
    pub asker: Option<Asker>,
    /// Who that is.
    pub person: String,
    pub hand_over: HandOver,
    /// True once somebody wants it to end.
    pub interrupted: watch::Receiver<bool>,
    pub listener: Listener,
}

/// What the base says.
pub struct BaseSays {
    pub merge: MergePolicy,
    pub library: LibraryPolicy,
}

pub type BaseAt = Arc<dyn Fn(&Arc<Repository>, &Sha) -> Result<BaseSays, String> + Send + Sync>;
/// Puts a line to whoever sits there, and gives the line that comes back; nothing when nobody sits there any more.
pub type Asker = Arc<dyn Fn(String) -> Pin<Box<dyn Future<Output = Option<String>> + Send>> + Send + Sync>;
pub type HandOver = Arc<dyn Fn(&Report) + Send + Sync>;

/// Between two looks at the ledger, which costs nothing.
const GLANCE: Duration = Duration::from_millis(500);

impl Sweeps {
    fn place(&self, request: &Request, number: u64) -> Place {
        Place { kind: request.forge, project: request.project.clone(), number }
    }

    /// Nothing is done for a run that somebody has passed over.
    async fn still_ours(&self, request: &Request) -> Result<(), Trouble> {
        let (lock, run) = (self.lock.clone(), request.run.clone());
        let held = crate::effects::blocking(move || lock.hold(&run)).await;
        held.unwrap_or_else(|error| Err(error.to_string())).map_err(Trouble::Displaced)
    }

    /// Between two looks at the forge.
    fn poll(request: &Request) -> Duration {
        Duration::from_millis(request.loops.wait.poll.as_millis().max(1_000))
    }

    /// Sleeps until then, or until somebody wants it to end; says whether that was so.
    async fn rest(&self, until: Millis) -> bool {
        let mut interrupted = self.interrupted.clone();
        let span = Duration::from_millis(until.saturating_sub(now()));
        tokio::select! {
            () = tokio::time::sleep(span) => false,
            // A sender that is gone will never say so.
            Ok(_) = interrupted.wait_for(|interrupted| *interrupted) => true,
        }
    }

    fn is_interrupted(&self) -> bool {
        *self.interrupted.borrow()
    }

    fn tell(&self, line: String) {
        (self.listener)(Progress::Told { line });
    }
}

/// What a fault of a forge or of git means for a sweep. Anything else breaks it, and the same command goes on.
fn trouble(error: EngineError) -> Result<Trouble, EngineError> {
    match error {
        EngineError::Forge(fault) => Ok(Trouble::Forge(fault.to_string())),
        EngineError::Git(error) => Ok(Trouble::Forge(error.to_string())),
        other => Err(other),
    }
}

/// Folders that hold what runs of one set share.
pub fn folder_of(state: &std::path::Path, project: &tribunal_core::pull::place::Project) -> PathBuf {
    let name = tribunal_core::findings::key::sha256_hex(format!("{}/{}", project.origin, project.path).as_bytes());
    state.join("sweeps").join(&name[..16])
}
