//! Things that go wrong on purpose. A fault that was armed and never met says that the test did not test it.

use std::collections::BTreeMap;
use std::fmt::Debug;

/// The list of a fake's quirks: an enum, one variant each.
pub trait Fault: Copy + Ord + Debug + Send + 'static {}

impl<T: Copy + Ord + Debug + Send + 'static> Fault for T {}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Times {
    Once,
    Count(u32),
    Always,
}

#[derive(Debug, Clone, Copy)]
struct Armed {
    /// Occasions that pass before it fires.
    skip: u32,
    times: Times,
    fired: u32,
}

#[derive(Debug)]
pub struct Faults<F> {
    armed: BTreeMap<F, Armed>,
}

impl<F> Default for Faults<F> {
    fn default() -> Self {
        Faults { armed: BTreeMap::new() }
    }
}

impl<F: Fault> Faults<F> {
    pub fn arm(&mut self, fault: F, times: Times) {
        self.arm_after(fault, 0, times);
    }

    /// Lets some occasions pass first.
    pub fn arm_after(&mut self, fault: F, skip: u32, times: Times) {
        self.armed.insert(fault, Armed { skip, times, fired: 0 });
    }

    pub fn disarm(&mut self, fault: F) {
        self.armed.remove(&fault);
    }

    /// Does it go wrong this time? Asking counts, so ask only where it would.
    pub fn fires(&mut self, fault: F) -> bool {
        let Some(armed) = self.armed.get_mut(&fault) else { return false };
        if armed.skip > 0 {
            armed.skip -= 1;
            return false;
        }
        let fires = match armed.times {
            Times::Once => armed.fired == 0,
            Times::Count(count) => armed.fired < count,
            Times::Always => true,
        };
        armed.fired += u32::from(fires);
        fires
    }

    /// Is it armed? Does not count: for what is a state of the forge rather than an accident.
    pub fn is_armed(&self, fault: F) -> bool {
        self.armed.contains_key(&fault)
    }

    pub fn fired(&self, fault: F) -> u32 {
        self.armed.get(&fault).map_or(0, |armed| armed.fired)
    }

    pub fn leftovers(&self) -> Vec<String> {
        let short = |armed: &Armed| match armed.times {
            Times::Once | Times::Always => armed.fired == 0,
            Times::Count(count) => armed.fired < count,
        };
        let left = self.armed.iter().filter(|(_, armed)| short(armed));
        left.map(|(fault, armed)| format!("{fault:?} was armed ({:?}) and fired {} times", armed.times, armed.fired)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_fire_as_often_as_they_were_armed() {
        let mut faults = Faults::default();
        faults.arm_after('a', 1, Times::Count(2));
        assert_eq!([(); 4].map(|()| faults.fires('a')), [false, true, true, false]);
        assert!(faults.leftovers().is_empty());
        faults.arm('b', Times::Always);
        assert_eq!(faults.leftovers().len(), 1);
        assert!(faults.fires('b') && faults.fires('b'));
        assert!(faults.leftovers().is_empty() && !faults.fires('c'));
    }
}
