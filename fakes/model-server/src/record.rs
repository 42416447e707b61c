//! What the server saw and what it charged, for tests to look at and for benchmarks to add up.

use crate::wire::{Usage, Wire};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::Duration;

/// One request, recorded as soon as its answer was decided: a caller that is kept waiting is in the list already.
#[derive(Debug, Clone, Serialize)]
pub struct Received {
    /// Since the server started.
    pub at: Duration,
    /// When the first byte of the body went out; absent if it did not.
    pub began: Option<Duration>,
    pub method: String,
    /// `None` for paths that belong to no vendor.
    pub wire: Option<Wire>,
    pub model: String,
    /// With its query.
    pub path: String,
    /// Lower-case names.
    pub headers: BTreeMap<String, String>,
    /// `Null` if there was none; a string if it was not JSON.
    pub body: Value,
    /// From whichever place the caller put it.
    pub key: Option<String>,
    /// What the answer cost; absent for errors and for calls that cost nothing.
    pub usage: Option<Usage>,
    pub status: u16,
    /// `echo`, `fault:stall`, `count_tokens`, `models`, `error`, …
    pub reply: String,
}

/// Sums over all requests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Accounting {
    /// Requests for an answer, refused ones included.
    pub requests: u64,
    pub input_full_price: u64,
    pub cache_read: u64,
    pub cache_write: u64,
    pub output: u64,
}

impl Accounting {
    pub fn of(requests: &[Received]) -> Accounting {
        let free = ["count_tokens", "models", "unknown", "home"];
        let mut sum = Accounting::default();
        for received in requests {
            sum.requests += u64::from(!free.contains(&received.reply.as_str()));
            let usage = received.usage.unwrap_or_default();
            sum.input_full_price += usage.full_price();
            sum.cache_read += usage.cache_read;
            sum.cache_write += usage.cache_write + usage.cache_write_1h;
            sum.output += usage.output;
        }
        sum
    }
}
