//! Doing an effect again. Every effect looks before it writes, so after a fault of the forge that may pass it is simply done anew.

use crate::EngineError;
use std::time::Duration;

/// Between tries, in milliseconds.
const PAUSES: [u64; 3] = [500, 2_000, 8_000];

/// Tries as long as it is wanted; what still fails then is what it came to (WL-20).
pub async fn patiently<T, Tried>(wanted: impl Fn() -> bool, attempt: impl Fn() -> Tried) -> Result<T, EngineError>
where
    Tried: Future<Output = Result<T, EngineError>>,
{
    with_pauses(PAUSES, wanted, attempt).await
}

async fn with_pauses<T, Tried>(pauses: [u64; 3], wanted: impl Fn() -> bool, attempt: impl Fn() -> Tried) -> Result<T, EngineError>
where
    Tried: Future<Output = Result<T, EngineError>>,
{
    for pause in pauses {
        match attempt().await {
            Err(EngineError::Forge(fault)) if (fault.may_pass() || fault.is_uncertain()) && wanted() => {
                tokio::time::sleep(Duration::from_millis(pause)).await;
            }
            other => return other,
        }
    }
    attempt().await
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};
    use tribunal_core::pull::fault::ForgeFault;

    /// How often it was tried, and whether it went well, with an attempt that fails so often.
    async fn tried(failures: u32, fault: ForgeFault, wanted: bool) -> (u32, bool) {
        let tries = AtomicU32::new(0);
        let attempt = || async {
            if tries.fetch_add(1, Ordering::SeqCst) < failures { Err(EngineError::from(fault.clone())) } else { Ok(()) }
        };
        let went_well = with_pauses([0; 3], || wanted, attempt).await.is_ok();
        (tries.load(Ordering::SeqCst), went_well)
    }

    /// WL-20: what may pass is tried again, a bounded number of times; nothing else is, and nothing that nobody wants any more.
    #[tokio::test]
    async fn only_what_may_pass_is_tried_again() {
        let passing = || ForgeFault::Limited { host: "h".into(), seconds: None };
        let lasting = || ForgeFault::NotFound { host: "h".into(), what: "x".into() };
        assert_eq!(tried(0, passing(), true).await, (1, true));
        assert_eq!(tried(2, passing(), true).await, (3, true));
        assert_eq!(tried(9, passing(), true).await, (4, false));
        assert_eq!(tried(9, passing(), false).await, (1, false));
        assert_eq!(tried(9, lasting(), true).await, (1, false));
    }
}
