//! The `tribunal` binary, run as a person would run it.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod cli {
    mod accounting;
    mod agents;
    mod bad_input;
    mod first_contact;
    mod git_safety;
    mod incremental;
    mod kill;
    mod ledger;
    mod models;
    mod output;
    mod sandbox;
    mod sarif_agent;
    mod spec;
    mod targets;
    mod trust;
    mod two_copies;
}
