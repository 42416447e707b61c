//! The `tribunal` binary, run as a person would run it.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod cli {
    mod accounting;
    mod agents;
    mod bad_input;
    mod blindness;
    mod bounds;
    mod clis;
    mod confined;
    mod context;
    mod first_contact;
    mod git_safety;
    mod hostile;
    mod hostile_git;
    mod incremental;
    mod integrations;
    mod kill;
    mod kill_moments;
    mod ledger;
    mod library;
    mod linked_files;
    mod linter_suppression;
    mod linters;
    mod models;
    mod outgoing;
    mod output;
    mod peers;
    mod pull_killed;
    mod pull_refused;
    mod pull_story;
    mod sandbox;
    mod sarif_agent;
    mod small_model;
    mod spec;
    mod targets;
    mod token_routing;
    mod trust;
    mod trust_values;
    mod two_copies;
    mod voices;
}
