//! Runs the checks one after the other, and says at the end which of them did not hold.

use crate::checks::checks;
use crate::record;
use crate::stage::Stage;
use futures_util::FutureExt as _;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Instant;

pub type Running = Pin<Box<dyn Future<Output = ()>>>;

/// A named check; it fails by panicking.
#[derive(Clone, Copy)]
pub struct Check {
    pub name: &'static str,
    pub run: fn(Arc<dyn Stage>) -> Running,
}

/// Runs all checks but those that are left out, each of which has a reason.
///
/// # Panics
/// With the names of the checks that failed, or when a name is left out that no check has.
pub async fn run(stage: Arc<dyn Stage>, left_out: &[(&str, &str)]) {
    let all = checks();
    for (name, _) in left_out {
        assert!(all.iter().any(|check| check.name == *name), "no check is called `{name}`");
    }
    let wanted = std::env::var("CONFORMANCE").unwrap_or_default();
    let mut failed = Vec::new();
    let mut passed = 0;
    for check in all.iter().filter(|check| check.name.contains(&wanted)) {
        if let Some((_, reason)) = left_out.iter().find(|(name, _)| *name == check.name) {
            eprintln!("{:>7}  {}: {reason}", "LEFT", check.name);
            continue;
        }
        let started = Instant::now();
        // One panic must not hide the checks behind it.
        match AssertUnwindSafe((check.run)(Arc::clone(&stage))).catch_unwind().await {
            Ok(()) => {
                passed += 1;
                eprintln!("{:>7}  {} ({} ms)", "ok", check.name, started.elapsed().as_millis());
            }
            Err(_) => {
                eprintln!("{:>7}  {}", "FAILED", check.name);
                failed.push(check.name);
            }
        }
    }
    assert!(failed.is_empty(), "{}: {passed} checks hold, {} do not: {}", stage.kind().name(), failed.len(), failed.join(", "));
    assert!(passed > 0, "no check was run");
    if wanted.is_empty() {
        record::hold(stage.as_ref(), left_out).await;
    }
}
