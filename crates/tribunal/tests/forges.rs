//! `tribunal review PR`, run as a person would run it, on every forge: a real Gitea server, the fakes, and a plain repository.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod forges {
    /// Every story, as a test on the forge that `$town` gives; a forge that is not there has said so loudly.
    macro_rules! told {
        ($town:ident) => {
            told!(
                $town:
                a_whole_life,
                ten_pushes,
                another_machine,
                a_force_push,
                one_line,
                the_base_configures,
                a_receipt_is_posted_elsewhere,
                a_dry_run_posts_nothing,
                odd_pull_requests,
                a_lost_fork,
                a_strangers_fork,
                somebodys_draft,
                the_doctor_looks,
            );
        };
        ($town:ident: $($name:ident),* $(,)?) => {
            $(#[tokio::test(flavor = "multi_thread")]
            async fn $name() {
                let Some(town) = $town().await else { return };
                super::story::$name(&town).await;
            })*
        };
    }

    mod faults;
    mod forgejo;
    mod gitea;
    mod github;
    mod gitlab;
    mod local;
    mod story;
    mod town;
}
