//! Every fuzz target's body over the committed corpus: what once crashed, and a sound input of each kind.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../../../fuzz/bodies.rs"]
mod bodies;

use std::path::Path;

#[track_caller]
fn over_corpus(name: &str, body: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(name);
    let seeds: Vec<Vec<u8>> = std::fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| std::fs::read(entry.unwrap().path()).unwrap())
        .collect();
    assert!(seeds.len() >= 2, "{name} has {} seeds", seeds.len());
    for seed in &seeds {
        body(seed);
        // Cut anywhere, an input is another one.
        (0..seed.len()).step_by((seed.len() / 16).max(1)).for_each(|end| body(&seed[..end]));
    }
}

macro_rules! targets {
    ($($name:ident),*) => {
        $(#[test]
        fn $name() {
            over_corpus(stringify!($name), bodies::$name);
        })*
    };
}

targets!(diff, sarif, receipt, marks, commands, suggestions, gates, replies, config);
