//! `tribunal review PR`, run as a person would run it, on every forge: a real Gitea server, the fakes, and a plain repository.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod forges {
    mod faults;
    mod forgejo;
    mod gitea;
    mod github;
    mod gitlab;
    mod local;
    mod story;
    mod town;
}
