//! Serial writes with a gap between them, after a first handful: forges count created content by the minute.

use std::time::Duration;
use tokio::time::Instant;

/// This many writes may follow each other at once.
const BURST: u32 = 5;

/// How fast a forge lets one create content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    /// Between two writes, once the first handful is used up.
    pub gap: Duration,
}

impl Pace {
    /// GitHub asks for a second between writes, and stops at 80 a minute.
    pub const GITHUB: Pace = Pace { gap: Duration::from_millis(1000) };
    /// GitLab.com stops at 60 notes a minute.
    pub const GITLAB: Pace = Pace { gap: Duration::from_millis(1100) };
    pub const NONE: Pace = Pace { gap: Duration::ZERO };
}

/// A bucket that fills by one token a gap.
#[derive(Debug)]
pub struct Bucket {
    pace: Pace,
    /// When the bucket is full again.
    full_at: Option<Instant>,
}

impl Bucket {
    pub fn new(pace: Pace) -> Self {
        Bucket { pace, full_at: None }
    }

    /// Takes a token, and says when it may be used.
    pub fn take(&mut self, now: Instant) -> Instant {
        let full_at = self.full_at.unwrap_or(now).max(now) + self.pace.gap;
        self.full_at = Some(full_at);
        let spare = self.pace.gap * (BURST - 1);
        full_at.checked_sub(spare + self.pace.gap).unwrap_or(now).max(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// forges.md 2.5: at most 80 created things a minute, and the usual review of three writes waits for nothing.
    #[test]
    fn a_handful_goes_at_once_and_the_rest_in_step() {
        let mut bucket = Bucket::new(Pace::GITHUB);
        let start = Instant::now();
        let times: Vec<Duration> = (0..80).map(|_| bucket.take(start) - start).collect();
        assert!(times[..5].iter().all(Duration::is_zero), "{:?}", &times[..6]);
        assert_eq!(times[5], Duration::from_secs(1));
        assert!(times[79] >= Duration::from_secs(74));
        // After a pause the bucket is full again.
        let later = start + Duration::from_secs(200);
        assert_eq!(bucket.take(later), later);
    }
}
