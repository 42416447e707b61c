//! The threads that the rules run on.
//!
//! Rules walk trees whose depth the author of a change chooses. What they walk by recursion is bounded, and these threads have a stack
//! for the bound: the default of a thread is sized for code whose author means well.

use super::load::RuleError;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::sync::LazyLock;

/// Several times what the deepest tree needs that is still read, in a build without optimisations. Only what is used takes memory.
pub const STACK_BYTES: usize = 256 * 1024 * 1024;

/// Runs `work` on the threads for the rules, or where the caller already runs in a pool of its own, which has that stack.
/// Without such threads nothing is scanned: a smaller stack would end the process.
pub fn run<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, RuleError> {
    static POOL: LazyLock<Result<ThreadPool, String>> = LazyLock::new(|| {
        let builder = ThreadPoolBuilder::new().stack_size(STACK_BYTES).thread_name(|number| format!("rules-{number}"));
        builder.build().map_err(|error| format!("the threads for the rules cannot be started: {error}"))
    });
    if rayon::current_thread_index().is_some() {
        return Ok(work());
    }
    let pool = POOL.as_ref().map_err(|problem| RuleError { origin: "rules".to_owned(), problem: problem.clone() })?;
    Ok(pool.install(work))
}
