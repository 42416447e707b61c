//! Where changes come from and where words go: git, and the forges. The only crate that holds forge tokens.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

pub mod bounded;
pub mod detect;
pub mod git;
pub mod gitea;
pub mod github;
pub mod gitlab;
pub mod http;
pub mod local;
pub mod port;
