//! What a reason means, and what to do next.

use crate::remedy::ladder::Reason;

pub fn explanation(reason: Reason) -> &'static str {
    match reason {
        Reason::InjectionSuspect => "a comment tries to instruct the machine that reads it; nothing was changed because of it",
        Reason::HighSeverityRejection => "feedback of high severity was turned down, and a person must agree or disagree",
        Reason::UserInputRequired => "a question is open that only a person can answer",
        Reason::PlannerEscalation => "what is asked for is larger than a fix",
        Reason::BreakFixBreak => "fixes break what earlier fixes mended",
        Reason::Blocked => "something stands in the way that no further try removes",
        Reason::RootClusterSuspected => "several findings seem to have one cause, so none of them was patched alone",
        Reason::DiminishingReturns => "the last rounds brought only light remarks, and fewer of them",
        Reason::MergeAdvised => "nothing actionable is left, and more rounds would bring only light remarks",
        Reason::PrMerged => "the pull request was merged",
        Reason::PrClosed => "the pull request was closed",
        Reason::MaxIterationsReached => "the limit of iterations is reached",
        Reason::MaxCyclesReached => "the limit of cycles is reached, or the same finding came back after its fix",
        Reason::WatchWindowElapsed => "nothing more happened within the time to wait",
        Reason::PassComplete => "one pass is done, and some items are still open",
        Reason::Clean => "nothing actionable is open",
    }
}

pub fn next_actions(reason: Reason) -> Vec<String> {
    let steps: &[&str] = match reason {
        Reason::InjectionSuspect => &["look at the quoted comment and at who wrote it", "hide or answer it, then start again"],
        Reason::HighSeverityRejection => {
            &["read the reason given in the thread", "agree by resolving the thread, or say what shall be done"]
        }
        Reason::UserInputRequired => &["answer the open question in its thread, then start again"],
        Reason::PlannerEscalation => &["plan the change that is asked for, implement it, then start again"],
        Reason::BreakFixBreak => &["stop patching and look at the place as a whole"],
        Reason::Blocked => &["remove what blocks it (see the issues), then start again"],
        Reason::RootClusterSuspected => {
            &["zoom out: find the common cause and plan one change that removes it", "then start again"]
        }
        Reason::DiminishingReturns => &["decide: ship it, polish it, or have all of it reviewed again"],
        Reason::MergeAdvised => &["decide about the merge; nothing is merged by this program here"],
        Reason::PrMerged | Reason::PrClosed => &["nothing; the pull request is over"],
        Reason::MaxIterationsReached | Reason::MaxCyclesReached => {
            &["look at what is still open", "raise the limit, or finish it by hand"]
        }
        Reason::WatchWindowElapsed => &["start again when there is something new"],
        Reason::PassComplete => &["look at what is still open, or run another pass"],
        Reason::Clean => &["nothing; a person decides about the merge"],
    };
    steps.iter().map(|step| (*step).to_owned()).collect()
}
