//! Signs of life, and the clocks that are read against them.

use super::{Clocks, Why};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

/// Shared by all who hear from a child.
#[derive(Debug)]
pub struct Pulse {
    begun: Instant,
    /// Milliseconds from the beginning to the last sign.
    last: AtomicU64,
    answered: AtomicBool,
    /// A line that the program prints at once, before any model has said a word, is no first byte.
    elsewhere: bool,
}

impl Default for Pulse {
    fn default() -> Self {
        Self { begun: Instant::now(), last: AtomicU64::new(0), answered: AtomicBool::new(false), elsewhere: false }
    }
}

impl Pulse {
    /// The first byte is not the program's own but one that [`Pulse::answered`] tells of.
    pub fn of_a_model() -> Self {
        Self { elsewhere: true, ..Self::default() }
    }

    pub fn printed(&self) {
        self.alive();
        if !self.elsewhere {
            self.answered.store(true, Ordering::Relaxed);
        }
    }

    pub fn answered(&self) {
        self.alive();
        self.answered.store(true, Ordering::Relaxed);
    }

    fn alive(&self) {
        self.last.store(self.begun.elapsed().as_millis() as u64, Ordering::Relaxed);
    }

    /// The clock that has run out, if one has.
    pub(super) fn late(&self, clocks: &Clocks) -> Option<Why> {
        let now = self.begun.elapsed();
        if now >= clocks.total {
            return Some(Why::OutOfTime { seconds: clocks.total.as_secs() });
        }
        if !self.answered.load(Ordering::Relaxed) {
            return clocks.first_byte.filter(|limit| now >= *limit).map(|limit| Why::NoFirstByte { seconds: limit.as_secs() });
        }
        let silent = (now.as_millis() as u64).saturating_sub(self.last.load(Ordering::Relaxed));
        clocks.idle.filter(|limit| u128::from(silent) >= limit.as_millis()).map(|limit| Why::Stalled { seconds: limit.as_secs() })
    }
}
