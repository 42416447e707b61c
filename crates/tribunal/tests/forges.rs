//! `tribunal review PR`, `watch`, `respond`, `await`, `settle`, `sweep` and `why`, run as a person would run it, on every forge: a real Gitea server, the fakes, and a plain repository.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "cli/kill_moments.rs"]
mod kill_moments;

mod forges {
    /// Every story, as a test on the forge that `$town` gives; a forge that is not there has said so loudly.
    macro_rules! told {
        ($town:ident) => {
            told!(
                $town:
                a_whole_life,
                ten_pushes,
                another_machine,
                an_unchanged_head_elsewhere,
                other_commands_elsewhere,
                a_sweep_goes_on_elsewhere,
                doubles_are_removed,
                an_edited_summary,
                fixer_and_review_answer_once,
                a_force_push,
                a_silent_reviewer_closes_nothing,
                one_line,
                the_base_configures,
                a_base_is_trusted_first,
                a_receipt_is_posted_elsewhere,
                a_forged_receipt_makes_nothing_better,
                a_dry_run_posts_nothing,
                odd_pull_requests,
                a_lost_fork,
                a_strangers_fork,
                somebodys_draft,
                the_doctor_looks,
                the_tools_token,
                twelve_comments,
                lines_move,
                it_wakes_up,
                an_approval_ends_it,
                an_injected_comment,
                a_moved_head,
                validation_fails,
                by_a_model,
                a_destructive_fix,
                a_fork_is_not_pushed_to,
                a_rehearsal,
                a_round_of_answers,
                waiting_for_reviewers,
                a_log_is_read,
                a_hostile_log,
                lints_are_fixed,
                a_linter_wakes_it_up,
                a_record_of_what_is_deferred,
                an_issue_for_what_is_deferred,
                pages_of_respond,
                eight_at_level_0,
                eight_at_level_1,
                eight_at_level_2,
                never_a_third_verdict,
                a_clean_head_is_kept,
                a_draft_in_the_way,
                the_specialist_is_called,
                the_order_of_a_plan,
                a_merge_that_waits,
                odd_plans,
                a_fleet,
                a_fleet_that_waits,
                a_fleet_is_only_looked_at,
                a_loop_that_is_killed,
                what_is_left_to_a_person_stays_red,
                answered_in_a_comment,
                answered_from_another_terminal,
                a_stop_ends_it,
                two_at_once,
                a_loop_keeps_books,
                one_is_watched,
                the_lock_is_taken,
                references_are_asked_for,
                changes_are_held_against_their_spec,
                why_after_a_review,
                why_people_are_in_the_way,
                a_retargeted_change_is_reviewed_again,
                why_the_base_asks_for_more,
                why_of_all_and_of_nothing,
                a_merge_is_made_once,
                a_push_lapses_a_clearance,
                the_rest_is_brought_up_to_date,
                no_key_gets_out,
                marks_in_a_description,
                strangers_cause_nothing,
                a_strangers_suggestion_is_not_pushed,
                a_former_members_branch_is_not_pushed_to,
                a_deleted_word_lifts_no_hold,
                a_strangers_change_needs_a_person,
                a_fork_stays_its_owners,
            );
        };
        ($town:ident: $($name:ident),* $(,)?) => {
            $(#[tokio::test(flavor = "multi_thread")]
            async fn $name() {
                let Some(town) = $town().await else { return };
                super::stories::$name(&town).await;
            })*
        };
    }

    mod faults;
    mod forgejo;
    mod gitea;
    mod github;
    mod gitlab;
    mod kept_open;
    mod local;
    mod loops;
    mod machines;
    mod merging;
    mod outgoing;
    mod settles;
    mod story;
    mod strangers;
    mod sweeps;
    mod town;
    mod trusting;

    /// All that is told on each forge.
    mod stories {
        pub use super::kept_open::*;
        pub use super::loops::agents::*;
        pub use super::loops::answers::*;
        pub use super::loops::lints::*;
        pub use super::loops::records::*;
        pub use super::loops::remedies::*;
        pub use super::loops::safety::*;
        pub use super::loops::sources::*;
        pub use super::machines::*;
        pub use super::merging::landing::*;
        pub use super::merging::stuck::why_each_is_stuck;
        pub use super::merging::why::*;
        pub use super::outgoing::*;
        pub use super::settles::eight::*;
        pub use super::settles::kept::*;
        pub use super::story::*;
        pub use super::strangers::*;
        pub use super::sweeps::fleet::*;
        pub use super::sweeps::killed::*;
        pub use super::sweeps::money::a_ceiling_is_kept;
        pub use super::sweeps::needs_person::*;
        pub use super::sweeps::questions::*;
        pub use super::sweeps::records::*;
        pub use super::sweeps::turns::*;
        pub use super::trusting::*;
    }
}
