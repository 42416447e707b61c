//! What waiting for a reviewer came to (RL-16): the same arrays in every status.

use crate::feedback::item::{Item, Surface};
use crate::publish::visible::visible_line;
use crate::pull::talk::{Review, ReviewState};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AwaitStatus {
    ActivityDetected,
    Timeout,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Activity {
    pub status: AwaitStatus,
    pub summary: String,
    pub elapsed_minutes: u64,
    pub reviews: Vec<AwaitedReview>,
    pub unresolved_threads: Vec<AwaitedThread>,
    pub issue_comments: Vec<AwaitedComment>,
    /// A reviewer says that it is still at work, or out of quota.
    pub running: bool,
    pub out_of_quota: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AwaitedReview {
    pub id: String,
    pub author: String,
    /// Lower case, as the original has it.
    pub state: String,
    pub body: String,
    pub submitted_at: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AwaitedThread {
    pub id: String,
    /// The last word in it.
    pub comment_id: String,
    pub author: String,
    pub path: Option<String>,
    pub line: Option<u32>,
    pub body: String,
    pub url: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AwaitedComment {
    pub id: String,
    pub author: String,
    pub body: String,
    pub url: String,
}

impl Activity {
    pub fn is_settled(&self) -> bool {
        self.status == AwaitStatus::ActivityDetected
    }

    pub fn new(status: AwaitStatus, elapsed_ms: u64, items: &[&Item], reviews: &[Review]) -> Self {
        let mut activity = Activity {
            status,
            summary: String::new(),
            elapsed_minutes: elapsed_ms.saturating_add(30_000) / 60_000,
            reviews: reviews.iter().map(review).collect(),
            unresolved_threads: items.iter().filter_map(|item| thread(item)).collect(),
            issue_comments: items.iter().filter_map(|item| comment(item)).collect(),
            running: false,
            out_of_quota: false,
        };
        activity.summary = activity.words();
        activity
    }

    /// Threads before reviews before comments.
    fn words(&self) -> String {
        let count = |number: usize, what: &str| format!("{number} {what}{}", if number == 1 { "" } else { "s" });
        let found = match (self.unresolved_threads.len(), self.reviews.len(), self.issue_comments.len()) {
            (0, 0, 0) => "nothing".to_owned(),
            (0, 0, comments) => count(comments, "comment"),
            (0, reviews, _) => format!("{} and no unresolved threads", count(reviews, "review")),
            (threads, _, _) => count(threads, "unresolved thread"),
        };
        match self.status {
            AwaitStatus::ActivityDetected => format!("Review activity has settled: {found}."),
            AwaitStatus::Timeout => format!("The time ran out; collected so far: {found}."),
        }
    }
}

fn review(review: &Review) -> AwaitedReview {
    let state = match review.state {
        ReviewState::Pending => "pending",
        ReviewState::Commented => "commented",
        ReviewState::Approved => "approved",
        ReviewState::ChangesRequested => "changes_requested",
        ReviewState::Dismissed => "dismissed",
    };
    AwaitedReview {
        id: review.id.clone(),
        author: review.author.login.clone(),
        state: state.into(),
        body: review.body.clone(),
        submitted_at: review.submitted_at.clone(),
    }
}

fn thread(item: &Item) -> Option<AwaitedThread> {
    let Surface::Thread { id } = &item.surface else { return None };
    Some(AwaitedThread {
        id: id.clone(),
        comment_id: item.last_word.clone(),
        author: item.author.login.clone(),
        path: item.path.as_ref().map(ToString::to_string),
        line: item.line,
        body: item.body.clone(),
        url: item.url.clone(),
    })
}

fn comment(item: &Item) -> Option<AwaitedComment> {
    let Surface::Comment { id } = &item.surface else { return None };
    Some(AwaitedComment { id: id.clone(), author: item.author.login.clone(), body: item.body.clone(), url: item.url.clone() })
}

/// For a terminal.
pub fn text(activity: &Activity) -> String {
    let first = |body: &str| visible_line(body.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().trim());
    let mut lines = vec![activity.summary.clone()];
    for thread in &activity.unresolved_threads {
        let place = match (&thread.path, thread.line) {
            (Some(path), Some(line)) => format!("{path}:{line}"),
            (Some(path), None) => path.clone(),
            (None, _) => "thread".into(),
        };
        lines.push(format!("  {} {}: {}", visible_line(&place), visible_line(&thread.author), first(&thread.body)));
    }
    for review in &activity.reviews {
        lines.push(format!("  review ({}) {}: {}", review.state, visible_line(&review.author), first(&review.body)));
    }
    for comment in &activity.issue_comments {
        lines.push(format!("  comment {}: {}", visible_line(&comment.author), first(&comment.body)));
    }
    if activity.running {
        lines.push("  A reviewer says that it is still at work.".into());
    }
    if activity.out_of_quota {
        lines.push("  A reviewer says that it is out of quota.".into());
    }
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feedback::item::Voice;
    use crate::remedy::answer::tests::item;

    fn approved() -> Review {
        Review {
            id: "r1".into(),
            author: item(Voice::Bot, None).author,
            state: ReviewState::Approved,
            body: "Fine.".into(),
            commit: None,
            submitted_at: "2026-01-02T03:04:05Z".into(),
            url: String::new(),
        }
    }

    /// RL-16, RL-17, RL-21: the arrays are there in every status; an outdated thread has no line.
    #[test]
    fn what_was_awaited_is_told_in_one_shape() {
        let thread = Item { line: None, ..item(Voice::Bot, None) };
        let note = Item { surface: Surface::Comment { id: "c1".into() }, ..item(Voice::Bot, None) };
        let late = Activity::new(AwaitStatus::Timeout, 90_000, &[&thread, &note], &[approved()]);
        let value = serde_json::to_value(&late).unwrap();
        assert_eq!((value["status"].as_str(), value["elapsed_minutes"].as_u64()), (Some("timeout"), Some(2)));
        assert_eq!(value["unresolved_threads"][0]["id"], "1");
        assert_eq!(value["unresolved_threads"][0]["comment_id"], "1");
        assert!(value["unresolved_threads"][0]["line"].is_null());
        assert_eq!(
            (value["reviews"][0]["state"].as_str(), value["issue_comments"][0]["id"].as_str()),
            (Some("approved"), Some("c1"))
        );
        let quiet = serde_json::to_value(Activity::new(AwaitStatus::ActivityDetected, 0, &[], &[])).unwrap();
        for array in ["reviews", "unresolved_threads", "issue_comments"] {
            assert!(quiet[array].as_array().is_some_and(Vec::is_empty), "{array}");
        }
    }

    /// RL-16, RL-25: the summary speaks of threads before reviews before comments.
    #[test]
    fn threads_come_before_reviews_before_comments() {
        let thread = item(Voice::Bot, None);
        let note = Item { surface: Surface::Comment { id: "c1".into() }, ..item(Voice::Bot, None) };
        let summary =
            |items: &[&Item], reviews: &[Review]| Activity::new(AwaitStatus::ActivityDetected, 0, items, reviews).summary;
        assert_eq!(summary(&[&thread, &note], &[approved()]), "Review activity has settled: 1 unresolved thread.");
        assert_eq!(summary(&[&note], &[approved()]), "Review activity has settled: 1 review and no unresolved threads.");
        assert_eq!(summary(&[&note], &[]), "Review activity has settled: 1 comment.");
        let page = text(&Activity::new(AwaitStatus::Timeout, 0, &[&thread], &[]));
        assert_eq!(
            page,
            "The time ran out; collected so far: 1 unresolved thread.\n  src/a.py:4 gemini-code-assist: This loop is quadratic.\n"
        );
    }
}
