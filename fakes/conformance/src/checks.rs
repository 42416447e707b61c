//! The checks, by what they are about. Each makes its own pull request and leaves it behind.

mod abilities;
mod facts;
mod honesty;
mod issues;
mod merge;
mod people;
mod reviews;
mod statuses;
mod talk;
mod threads;

use crate::run::Check;
use tribunal_core::pull::capability::Capability;

macro_rules! listed {
    ($($module:ident: $($name:ident),+ $(,)?;)+) => {
        /// Every check, in the order in which they run: those that move `main` first, while few pull requests are open.
        pub fn checks() -> Vec<Check> {
            vec![$($(Check {
                name: concat!(stringify!($module), "::", stringify!($name)),
                run: |stage| Box::pin($module::$name(stage)),
            }),+),+]
        }
    };
}

listed! {
    people: everybody_is_somebody, rights_are_told_apart, a_merge_makes_a_contributor;
    merge:
        another_head_is_not_merged,
        a_merge_carries_its_words,
        a_merge_without_words_has_the_usual_ones,
        a_branch_is_brought_up_to_date,
        a_conflict_is_not_brought_up_to_date,
        a_base_says_what_it_asks_for,
        a_merge_closes_its_issues;
    facts:
        a_pull_is_read_whole,
        an_unknown_pull_is_not_found,
        a_draft_is_one,
        a_clean_pull_can_be_merged_and_a_conflict_cannot,
        the_head_follows_a_push_and_a_forced_push,
        pulls_are_found_by_branch_and_by_label,
        a_closed_pull_is_closed,
        a_lost_fork_still_has_a_head,
        git_finds_the_change;
    talk: comments_come_and_go, any_text_comes_back_as_it_was, a_long_comment_fits, many_comments_are_all_there;
    reviews:
        comments_stand_where_they_were_put,
        several_lines_end_at_the_last,
        a_review_keeps_its_commit,
        an_approval_and_a_refusal_are_told_apart,
        a_draft_is_seen_and_deleted,
        a_submitted_review_is_no_draft,
        many_reviews_are_all_there,
        a_reviewer_can_be_asked;
    threads:
        a_reply_joins_its_thread,
        a_thread_is_resolved_and_taken_up_again,
        many_threads_are_all_there,
        a_later_head_does_not_mix_threads,
        a_thread_outlives_its_line;
    statuses: the_latest_of_each_name_counts, many_statuses_are_all_there, a_failed_job_leaves_its_log;
    issues:
        an_issue_is_made_found_and_closed,
        an_issue_is_talked_about,
        parts_of_an_issue_are_found,
        labels_are_put_on_and_taken_off, reactions_are_counted_by_person;
    abilities:
        a_review_and_its_comments_are_one,
        what_has_no_line_is_not_lost,
        a_comment_on_lost_code_is_outdated,
        an_unchanged_pull_is_not_sent_again;
    honesty: what_is_claimed_is_no_more_than_known, what_is_not_claimed_is_refused;
}

/// The check that tries a capability where it is claimed, and sees that it is missing where it is not. Nothing: what a forge makes of
/// the words in a comment cannot be read back.
pub fn tried_by(capability: Capability) -> Option<&'static str> {
    match capability {
        Capability::OneCallReview => Some("abilities::a_review_and_its_comments_are_one"),
        Capability::MultiLine => Some("reviews::several_lines_end_at_the_last"),
        Capability::Suggestions => None,
        Capability::FileLevel => Some("abilities::what_has_no_line_is_not_lost"),
        Capability::Reply => Some("threads::a_reply_joins_its_thread"),
        Capability::Resolve => Some("threads::a_thread_is_resolved_and_taken_up_again"),
        Capability::Outdated => Some("abilities::a_comment_on_lost_code_is_outdated"),
        Capability::CommitStatus => Some("statuses::the_latest_of_each_name_counts"),
        Capability::Annotations => Some("honesty::what_is_not_claimed_is_refused"),
        Capability::Approve => Some("reviews::an_approval_and_a_refusal_are_told_apart"),
        Capability::ConditionalRequests => Some("abilities::an_unchanged_pull_is_not_sent_again"),
        Capability::Reactions => Some("issues::reactions_are_counted_by_person"),
        Capability::GuardedMerge => Some("merge::another_head_is_not_merged"),
        Capability::UpdateBranch => Some("merge::a_branch_is_brought_up_to_date"),
        Capability::Issues => Some("issues::an_issue_is_made_found_and_closed"),
        Capability::CheckLogs => Some("statuses::a_failed_job_leaves_its_log"),
    }
}
