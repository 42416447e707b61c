//! How much of an answer is taken. A server that has gone astray, or wants to keep us busy, is cut off with a reason; nothing that was
//! read until then passes for the whole.

use crate::port::Answered;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tribunal_core::pull::fault::ForgeFault;

const MIB: usize = 1024 * 1024;

/// Bounds of one client.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Bytes of one answer. A larger one is no answer of an API.
    pub body: usize,
    /// Pages of one list.
    pub pages: usize,
    /// Bytes of one list, all pages together.
    pub list: usize,
    /// From sending a question to the last byte of its answer.
    pub read: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { body: 32 * MIB, pages: 500, list: 64 * MIB, read: Duration::from_secs(60) }
    }
}

/// Bounds of one call of the port, with everything that it leads to: an item of a list may be asked for by itself, and so may what
/// that one names.
#[derive(Debug, Clone)]
pub struct OperationLimits {
    pub requests: usize,
    pub bytes: u64,
    /// No request is begun after this long. One that is under way is not cut off: a write must not end without its answer.
    pub time: Duration,
}

impl Default for OperationLimits {
    fn default() -> Self {
        OperationLimits { requests: 5_000, bytes: 512 * MIB as u64, time: Duration::from_secs(600) }
    }
}

struct Spent {
    limits: OperationLimits,
    began: Instant,
    requests: AtomicUsize,
    bytes: AtomicU64,
}

tokio::task_local! {
    static OPERATION: Arc<Spent>;
}

/// Runs a call of the port within these bounds. Calls inside of it share them.
pub async fn within<T>(limits: &OperationLimits, call: impl Future<Output = T>) -> T {
    if OPERATION.try_with(|_| ()).is_ok() {
        return call.await;
    }
    let spent = Spent { limits: limits.clone(), began: Instant::now(), requests: AtomicUsize::new(0), bytes: AtomicU64::new(0) };
    OPERATION.scope(Arc::new(spent), call).await
}

/// Counts a request against the bounds of the call that it belongs to.
pub(super) fn begin_request(host: &str) -> Answered<()> {
    let checked = OPERATION.try_with(|spent| {
        let limits = &spent.limits;
        if spent.requests.fetch_add(1, Ordering::Relaxed) >= limits.requests {
            return Err(format!("one question led to more than {} requests", limits.requests));
        }
        if spent.began.elapsed() > limits.time {
            return Err(format!("one question took longer than {} s", limits.time.as_secs()));
        }
        Ok(())
    });
    refused(host, checked.unwrap_or(Ok(())))
}

/// The same for what came back.
pub(super) fn count_bytes(host: &str, bytes: usize) -> Answered<()> {
    let checked = OPERATION.try_with(|spent| {
        let before = spent.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        if before + bytes as u64 > spent.limits.bytes {
            return Err(format!("the answers to one question have more than {} MB", spent.limits.bytes / MIB as u64));
        }
        Ok(())
    });
    refused(host, checked.unwrap_or(Ok(())))
}

fn refused(host: &str, checked: Result<(), String>) -> Answered<()> {
    checked.map_err(|message| ForgeFault::Hollow { host: host.to_owned(), message })
}

/// Follows the pages of one list.
pub struct Pages<'a> {
    host: &'a str,
    what: &'a str,
    limits: &'a Limits,
    seen: BTreeSet<String>,
    bytes: usize,
}

impl<'a> Pages<'a> {
    pub fn new(host: &'a str, what: &'a str, limits: &'a Limits) -> Self {
        Pages { host, what, limits, seen: BTreeSet::new(), bytes: 0 }
    }

    /// Before a page is asked for.
    pub fn turn_to(&mut self, address: &str) -> Answered<()> {
        if self.seen.len() >= self.limits.pages {
            return self.fail(format!("has more than {} pages", self.limits.pages));
        }
        if !self.seen.insert(address.to_owned()) {
            return self.fail("leads back to a page that was read already".to_owned());
        }
        Ok(())
    }

    /// After it was read.
    pub fn count(&mut self, bytes: usize) -> Answered<()> {
        self.bytes += bytes;
        if self.bytes > self.limits.list {
            return self.fail(format!("has more than {} MB", self.limits.list / MIB));
        }
        Ok(())
    }

    fn fail(&self, problem: String) -> Answered<()> {
        Err(ForgeFault::Hollow { host: self.host.to_owned(), message: format!("{} {problem}", self.what) })
    }
}
