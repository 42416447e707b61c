//! How long the rules may look. A file whose time runs out is named as not reviewed; it never holds up the others.

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
