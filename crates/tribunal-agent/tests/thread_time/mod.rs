//! The clock of tests that compare how long two things take.

use std::time::Duration;

/// Time that this thread worked, so that a busy machine does not matter. Told to the nanosecond: what `/proc` says of a thread that runs is
/// as old as the last tick.
#[cfg(unix)]
#[allow(unsafe_code)]
pub fn worked() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: it writes the time into the place that it is given, which is ours.
    let told = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    assert_eq!(told, 0);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap())
}

/// The time that passed.
#[cfg(not(unix))]
pub fn worked() -> Duration {
    static BEGUN: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    BEGUN.get_or_init(std::time::Instant::now).elapsed()
}
