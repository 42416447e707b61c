//! Posting at most once. Everything that a run says outside of a review and of a formal verdict goes through here; those two have a look
//! of their own. When something is sent is [`SayOnce`]'s to say.

use crate::effects::on_forge::OnForge;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;
use tribunal_core::publish::outgoing::Outgoing;
use tribunal_core::publish::say_once::{SayOnce, SayStep, identity};
use tribunal_core::pull::facts::{Account, Issue};
use tribunal_core::pull::fault::ForgeFault;
use tribunal_core::pull::talk::{Comment, NewIssue, Thread};

/// A list shows what it accepted after so long. What it does not show then, somebody has removed.
const LAG: Duration = Duration::from_secs(60);

/// What this process has posted, by what it is and where.
#[derive(Clone, Default)]
pub struct Posted(Arc<Mutex<BTreeMap<String, (SayOnce, Instant)>>>);

/// Something to post, with what the caller has just read of the place.
#[derive(Clone, Copy)]
pub enum Post<'a> {
    Comment {
        number: u64,
        body: &'a Outgoing,
        seen: &'a [Comment],
    },
    /// A comment that must stand there: where somebody has removed it, it is posted again.
    Record {
        number: u64,
        body: &'a Outgoing,
        seen: &'a [Comment],
    },
    Reply {
        number: u64,
        thread: &'a Thread,
        body: &'a Outgoing,
    },
    IssueComment {
        number: u64,
        body: &'a Outgoing,
        seen: &'a [Comment],
    },
    /// An issue, known by its title while it is open.
    Issue {
        issue: &'a NewIssue,
        seen: &'a [Issue],
    },
}

impl OnForge {
    /// Posts this, unless it stands there or was posted by this process, and gives its address. After an answer that leaves it open
    /// whether it was stored, the place is read again, twice, before it is sent again.
    pub async fn say_once(&self, post: Post<'_>) -> Result<String, ForgeFault> {
        let me = self.forge.identity().await?;
        let key = post.key();
        let mut say = self.posted.take(&key, matches!(post, Post::Record { .. }));
        let mut shown = post.seen(&me);
        let mut doubt = None;
        let ended = loop {
            match say.next(shown) {
                SayStep::Said(url) => break Ok(url),
                SayStep::GiveUp => break Err(doubt.unwrap_or_else(|| self.never_shown())),
                SayStep::Look(millis) => {
                    tokio::time::sleep(Duration::from_millis(millis)).await;
                    shown = match self.find_post(post, &me).await {
                        Ok(shown) => shown,
                        Err(fault) => break Err(fault),
                    };
                }
                SayStep::Send => {
                    shown = None;
                    match self.send(post).await {
                        Ok(url) => say.was_accepted(url),
                        Err(fault) if fault.is_uncertain() => {
                            say.is_unsure();
                            doubt = Some(fault);
                        }
                        Err(fault) => {
                            say.was_refused();
                            break Err(fault);
                        }
                    }
                }
            }
        };
        self.posted.put(key, say);
        ended
    }

    async fn find_post(&self, post: Post<'_>, me: &Account) -> Result<Option<String>, ForgeFault> {
        Ok(match post {
            Post::Comment { number, body, .. } | Post::Record { number, body, .. } => {
                find(&self.forge.comments(number).await?, body, me)
            }
            Post::IssueComment { number, body, .. } => find(&self.forge.issue_comments(number).await?, body, me),
            Post::Reply { number, thread, body } => {
                let threads = self.forge.threads(number).await?;
                threads.iter().find(|shown| shown.id == thread.id).and_then(|shown| find_reply(shown, body, me))
            }
            Post::Issue { issue, .. } => find_issue(&self.forge.find_issues(&issue.title).await?, issue),
        })
    }

    async fn send(&self, post: Post<'_>) -> Result<String, ForgeFault> {
        Ok(match post {
            Post::Comment { number, body, .. } | Post::Record { number, body, .. } => self.forge.comment(number, body).await?.url,
            Post::IssueComment { number, body, .. } => {
                self.forge.comment_on_issue(number, body).await?;
                String::new()
            }
            Post::Reply { number, thread, body } => {
                self.forge.reply(number, thread, body).await?;
                String::new()
            }
            Post::Issue { issue, .. } => format!("#{}", self.forge.create_issue(issue).await?.number),
        })
    }

    fn never_shown(&self) -> ForgeFault {
        let message = "it does not show what was sent; it is not sent again".to_owned();
        ForgeFault::Hollow { host: self.forge.project().origin.clone(), message }
    }
}

impl Posted {
    /// What is known of a post. Of one that may be missing again, only for as long as a list may lag.
    fn take(&self, key: &str, may_be_removed: bool) -> SayOnce {
        let mut posts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = posts.remove(key).filter(|(_, at)| !may_be_removed || at.elapsed() < LAG);
        known.map(|(say, _)| say).unwrap_or_default()
    }

    fn put(&self, key: String, say: SayOnce) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(key, (say, Instant::now()));
    }
}

impl Post<'_> {
    fn key(&self) -> String {
        match self {
            Post::Comment { number, body, .. } => format!("comment {number} {}", identity(body)),
            Post::Record { number, body, .. } => format!("record {number} {}", identity(body)),
            Post::IssueComment { number, body, .. } => format!("issue {number} {}", identity(body)),
            Post::Reply { number, thread, body } => format!("reply {number} {} {}", thread.id, identity(body)),
            Post::Issue { issue, .. } => format!("issue {}", issue.title),
        }
    }

    /// Where it stands in what the caller has read.
    fn seen(&self, me: &Account) -> Option<String> {
        match self {
            Post::Comment { body, seen, .. } | Post::Record { body, seen, .. } | Post::IssueComment { body, seen, .. } => {
                find(seen, body, me)
            }
            Post::Reply { thread, body, .. } => find_reply(thread, body, me),
            Post::Issue { issue, seen } => find_issue(seen, issue),
        }
    }
}

fn find(comments: &[Comment], body: &Outgoing, me: &Account) -> Option<String> {
    let is_it = |comment: &&Comment| comment.author.is(me) && identity(&comment.body) == identity(body);
    comments.iter().find(is_it).map(|comment| comment.url.clone())
}

fn find_reply(thread: &Thread, body: &Outgoing, me: &Account) -> Option<String> {
    let is_it =
        |comment: &&tribunal_core::pull::talk::ThreadComment| comment.author.is(me) && identity(&comment.body) == identity(body);
    thread.comments.iter().find(is_it).map(|comment| comment.url.clone())
}

fn find_issue(issues: &[Issue], wanted: &NewIssue) -> Option<String> {
    let open = issues.iter().find(|issue| wanted.title == issue.title.as_str() && issue.open)?;
    Some(format!("#{}", open.number))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    /// Files that post with a look of their own: the review, the formal verdict, and a sweep's review of conflict markers.
    const OWN_LOOK: [&str; 4] = ["say_once.rs", "effects/publish.rs", "verdicts.rs", "sweep/say.rs"];
    const POSTS: [&str; 5] = [".comment(", ".reply(", ".comment_on_issue(", ".create_issue(", ".submit("];

    fn sources(folder: &Path, found: &mut Vec<std::path::PathBuf>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => sources(&path, found),
                false => found.push(path),
            }
        }
    }

    /// No other file of this crate hands words to a forge.
    #[test]
    fn everything_is_posted_through_here() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let mut files = Vec::new();
        sources(&root, &mut files);
        for file in files {
            let name = file.strip_prefix(&root).unwrap().to_string_lossy().replace('\\', "/");
            if OWN_LOOK.contains(&name.as_str()) {
                continue;
            }
            for line in std::fs::read_to_string(&file).unwrap().lines() {
                let posts = POSTS.iter().any(|post| line.contains(&format!("forge{post}")));
                assert!(!posts, "{name} posts without a look: {line}");
            }
        }
    }
}
