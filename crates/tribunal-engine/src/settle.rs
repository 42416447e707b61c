//! The hands of `settle`: they read the plan and the forge, order reviews and passes, give verdicts, merge, close and wait. What to do
//! is the procedure's to say.

mod act;
mod carry;
mod file;
mod look;
mod work;

use crate::effects::on_forge::OnForge;
use crate::one_pull::OnePull;
use crate::{EngineError, Listener};
use std::path::PathBuf;
use std::sync::Arc;
use tribunal_core::ids::Sha;
use tribunal_core::merge::policy::MergePolicy;
use tribunal_forge::git::Repository;
use tribunal_store::Ledger;

/// `[merge]` as the configuration has it at a commit.
pub type MergePolicyAt = dyn Fn(&Repository, &Sha) -> Result<MergePolicy, EngineError> + Send + Sync;

pub struct Settling {
    pub on: OnForge,
    /// Has one pull request reviewed, or remedied.
    pub clerk: Arc<dyn OnePull>,
    pub ledger: Arc<Ledger>,
    /// The checkout that a plain repository is.
    pub here: Option<Arc<Repository>>,
    /// Where our own clone of the project lies.
    pub clone: PathBuf,
    pub merge_policy: Arc<MergePolicyAt>,
    pub listener: Listener,
}
