//! Small machines explored whole, breadth first.

#[path = "spaces/landing.rs"]
mod landing;
#[path = "spaces/lock.rs"]
mod lock;
#[path = "spaces/round.rs"]
mod round;

use std::collections::{BTreeMap, VecDeque};

/// Every state that can be reached, each with the shortest way to it.
pub fn explore<S: Clone + PartialEq>(
    first: S,
    key: impl Fn(&S) -> String,
    mut next: impl FnMut(&S) -> Vec<(String, S)>,
    most: usize,
) -> BTreeMap<String, (S, Vec<String>)> {
    let mut known = BTreeMap::from([(key(&first), (first.clone(), Vec::new()))]);
    let mut open = VecDeque::from([(first, Vec::new())]);
    while let Some((state, way)) = open.pop_front() {
        for (name, after) in next(&state) {
            let id = key(&after);
            if known.contains_key(&id) {
                continue;
            }
            let mut way: Vec<String> = way.clone();
            way.push(name);
            known.insert(id, (after.clone(), way.clone()));
            assert!(known.len() <= most, "more than {most} states");
            open.push_back((after, way));
        }
    }
    known
}
