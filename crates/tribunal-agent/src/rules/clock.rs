//! How long the rules may look. A file whose time runs out is named as not reviewed; it never holds up the others.

use std::cell::Cell;
use std::time::{Duration, Instant};

#[derive(Debug, Clone, Copy)]
pub struct TimeLimits {
    /// For one file.
    pub file: Duration,
    /// For all files together.
    pub total: Duration,
}

impl Default for TimeLimits {
    fn default() -> Self {
        Self { file: Duration::from_secs(30), total: Duration::from_secs(300) }
    }
}

/// The moment at which somebody has to stop.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    end: Instant,
    file: Duration,
}

impl Clock {
    pub fn start(limits: TimeLimits) -> Self {
        Self { end: Instant::now() + limits.total, file: limits.file }
    }

    /// The clock of one file, which never runs longer than the whole.
    pub fn for_file(self) -> Self {
        Self { end: self.end.min(Instant::now() + self.file), ..self }
    }

    pub fn is_over(&self) -> bool {
        Instant::now() >= self.end
    }
}

/// Steps between two looks at the clock.
const STEPS_PER_LOOK: usize = 64;

/// Asks a clock at the first of many steps and then now and then. It counts the steps that are made, and not what they are made over:
/// the change decides which lines are passed over.
pub struct Steps {
    clock: Clock,
    made: Cell<usize>,
}

impl Steps {
    pub fn new(clock: Clock) -> Self {
        Self { clock, made: Cell::new(0) }
    }

    /// Makes one step, and tells whether there was no time left for it.
    pub fn is_over(&self) -> bool {
        let made = self.made.replace(self.made.get() + 1);
        made.is_multiple_of(STEPS_PER_LOOK) && self.clock.is_over()
    }
}
