//! The note that holds a review's own words. GitLab keeps no tie between it and the comments that were published with it, so the
//! note says by itself which head it is about. Whoever reads the mark must also look at the author: anybody can paste it.

use tribunal_core::ids::Sha;
use tribunal_core::pull::talk::ReviewEvent;

const OPEN: &str = "\n\n<!-- tribunal-review ";
const CLOSE: &str = " -->";

pub fn mark(body: &str, event: ReviewEvent, commit: &Sha) -> String {
    format!("{body}{OPEN}{} {commit}{CLOSE}", word(event))
}

/// The words without the mark, and what the mark says.
pub fn read(note: &str) -> Option<(&str, ReviewEvent, Sha)> {
    let (body, mark) = note.trim_end().strip_suffix(CLOSE)?.rsplit_once(OPEN)?;
    let (event, commit) = mark.split_once(' ')?;
    let event = EVENTS.into_iter().find(|candidate| word(*candidate) == event)?;
    let is_sha = commit.len() >= 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_sha.then(|| (body, event, Sha::new(commit)))
}

const EVENTS: [ReviewEvent; 3] = [ReviewEvent::Comment, ReviewEvent::Approve, ReviewEvent::RequestChanges];

fn word(event: ReviewEvent) -> &'static str {
    match event {
        ReviewEvent::Comment => "comment",
        ReviewEvent::Approve => "approve",
        ReviewEvent::RequestChanges => "request-changes",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_marked_is_read_back() {
        let commit = Sha::new("a".repeat(40));
        for event in EVENTS {
            let note = mark("Two findings.\n\n<!-- mine -->", event, &commit);
            assert_eq!(read(&note), Some(("Two findings.\n\n<!-- mine -->", event, commit.clone())));
        }
        for note in ["plain", "x\n\n<!-- tribunal-review comment abc -->", "x\n\n<!-- tribunal-review shout aaa -->"] {
            assert_eq!(read(note), None, "{note}");
        }
    }
}
