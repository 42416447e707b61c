//! Time and numbers that are the same in every run.

use jiff::Timestamp;

/// 2026-11-01, midnight.
const START: i64 = 1_793_491_200;

/// Moves only when something is written, so that order is visible and nothing depends on the machine.
#[derive(Debug, Clone)]
pub struct Clock {
    seconds: i64,
}

impl Default for Clock {
    fn default() -> Self {
        Clock { seconds: START }
    }
}

impl Clock {
    /// Seconds since 1970.
    pub fn now(&self) -> i64 {
        self.seconds
    }

    /// One second later, in RFC 3339.
    pub fn tick(&mut self) -> String {
        self.pass(1);
        self.text()
    }

    pub fn pass(&mut self, seconds: i64) {
        self.seconds += seconds;
    }

    pub fn text(&self) -> String {
        Timestamp::from_second(self.seconds).expect("a time in this century").to_string()
    }
}

/// Numbers for whatever needs one. Never small: an id must not pass for the number of a pull request.
#[derive(Debug, Clone)]
pub struct Ids {
    last: u64,
}

impl Default for Ids {
    fn default() -> Self {
        Ids { last: 5000 }
    }
}

impl Ids {
    pub fn fresh(&mut self) -> u64 {
        self.last += 1;
        self.last
    }
}
