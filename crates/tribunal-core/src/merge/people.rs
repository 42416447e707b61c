//! What people say about a merge (design rule 11): who approved this head, who asks for changes, and which of their threads are open.
//! A machine's approval is never a person's, and an approval of another head, or from before the base was changed, is no approval of
//! this one (design rule 7).

use crate::calendar::millis_of;
use crate::feedback::gather::{Part, Said};
use crate::feedback::item::Voice;
use crate::feedback::reviewer::voice;
use crate::pull::chronological::Chronological;
use crate::pull::facts::Account;
use crate::pull::talk::{Review, ReviewState, Thread};
use crate::pull::told::Told;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Voices {
    /// Logins of people other than the author who approved the head, and may write here: anybody can press a button.
    pub approved: BTreeSet<String>,
    /// Of those who approved the head, and of whom it cannot be found out whether they may, or for which base they did.
    #[serde(default)]
    pub unsure: BTreeSet<String>,
    /// Of those who approved an earlier one, or before the base was changed, and have not said anything since.
    pub approved_before: BTreeSet<String>,
    /// Of those who ask for changes, at whatever head: only they, or whoever dismisses it, take it back.
    pub asking: BTreeSet<String>,
    /// Of those whose last judgement is there and asks for nothing any more.
    #[serde(default)]
    pub taken_back: BTreeSet<String>,
    pub threads: Vec<OpenThread>,
    /// Ids of threads of people that are there and closed.
    #[serde(default)]
    pub closed: BTreeSet<String>,
}

/// A conversation that a person takes part in and nobody has closed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenThread {
    #[serde(default)]
    pub id: String,
    pub by: String,
    pub path: String,
    pub line: Option<u32>,
    /// The last word in it is ours.
    pub answered: bool,
    /// May whoever opened it write here? What others say is not acted on. Nothing where that could not be read.
    #[serde(default)]
    pub may_write: Option<bool>,
}

/// Everybody whose permission must be known: who approves the head, and who holds it up with a thread.
pub fn deciders<'a>(said: &Said<'a>) -> Vec<&'a Account> {
    let approvers = last_words(said).into_values().filter(|review| approves_head(said, review)).map(|review| &review.author);
    let words = said.threads.iter().flat_map(|thread| thread.comments.iter().map(|comment| (&comment.author, &comment.body)));
    let openers = words.filter(|(author, body)| is_persons(said, author, body)).map(|(author, _)| author);
    let mut known = BTreeSet::new();
    approvers.chain(openers).filter(|account| known.insert(account.id.as_str())).collect()
}

/// The last judgement of each person.
fn last_words<'a>(said: &Said<'a>) -> BTreeMap<&'a str, &'a Review> {
    let judges = |review: &Review| match review.state {
        ReviewState::Approved | ReviewState::ChangesRequested | ReviewState::Dismissed => true,
        ReviewState::Pending | ReviewState::Commented => false,
    };
    Chronological::of(said.reviews).last_of_each(|review| judges(review) && is_persons(said, &review.author, &review.body))
}

/// Only then does it matter when the pull request was aimed at another branch.
pub fn has_approval_of_head(said: &Said<'_>) -> bool {
    said.reviews.iter().any(|review| approves_head(said, review))
}

fn approves_head(said: &Said<'_>, review: &Review) -> bool {
    review.state == ReviewState::Approved
        && review.commit.as_ref() == Some(&said.pull.head.sha)
        && can_approve(said, &review.author)
}

/// Was it said when the pull request was aimed at the branch that it is aimed at now? Nothing where that cannot be told. A forge keeps
/// an approval when the base is changed, and writes down when that was. In the same second nobody knows which came first.
fn is_for_base(review: &Review, base_changed_at: &Told<Option<String>>) -> Option<bool> {
    match base_changed_at {
        Told::Unknown(_) => None,
        Told::Is(None) => Some(true),
        Told::Is(Some(changed_at)) => {
            let in_seconds = |at: &str| millis_of(at).map(|millis| millis / 1_000);
            Some(in_seconds(&review.submitted_at)? > in_seconds(changed_at)?)
        }
    }
}

/// Nobody approves their own change. Nor is an approval of the account whose token we use a person's: whatever runs with the token can
/// give one, and what was cut off may have left ours there without its seal. Its other words may be a person's, because they merge
/// nothing.
fn can_approve(said: &Said<'_>, account: &Account) -> bool {
    !account.is(&said.pull.author) && !account.is(said.me)
}

impl Voices {
    /// `base_changed_at`: when the pull request was last aimed at another branch, if it ever was.
    pub fn of(said: &Said<'_>, base_changed_at: &Told<Option<String>>) -> Voices {
        let mut voices = Voices::default();
        for thread in said.threads {
            match state_of(said, thread) {
                Some(ThreadState::Open(open)) => voices.threads.push(open),
                Some(ThreadState::Closed) => drop(voices.closed.insert(thread.id.clone())),
                None => {}
            }
        }
        for review in last_words(said).into_values() {
            let login = review.author.login.clone();
            let decides = review.author.kind.may_decide();
            let right = said.permissions.may_write(&review.author).filter(|_| decides);
            if review.state != ReviewState::ChangesRequested && decides {
                voices.taken_back.insert(login.clone());
            }
            let approves = approves_head(said, review);
            let (is_for_base, right) = match is_for_base(review, base_changed_at) {
                Some(is_for_base) => (is_for_base, right),
                None => (true, right.filter(|may_write| !may_write)),
            };
            match (review.state, approves && is_for_base, right) {
                (ReviewState::ChangesRequested, _, _) => voices.asking.insert(login),
                (ReviewState::Approved, true, Some(true)) => voices.approved.insert(login),
                (ReviewState::Approved, true, None) => voices.unsure.insert(login),
                (ReviewState::Approved, true, Some(false)) => false,
                (ReviewState::Approved, false, _) if !can_approve(said, &review.author) => false,
                (ReviewState::Approved, false, _) => voices.approved_before.insert(login),
                (ReviewState::Dismissed | ReviewState::Pending | ReviewState::Commented, _, _) => false,
            };
        }
        voices
    }
}

/// Not known to be a machine's, and not posted by us. A word of our own account without our mark is a person's, who uses it too
/// (CF-33), unless the forge calls the account a bot; what such a word cannot do is approve.
fn is_persons(said: &Said<'_>, author: &Account, body: &str) -> bool {
    let person = voice(author, said.me, said.extra) == Voice::Person && !author.kind.is_machine();
    person && !said.is_ours(author, body)
}

enum ThreadState {
    Open(OpenThread),
    Closed,
}

/// Notes of the author to himself hold nothing up; what anybody else says does, also in a thread that a machine began.
fn state_of(said: &Said<'_>, thread: &Thread) -> Option<ThreadState> {
    let words = |at: &usize| {
        let comment = &thread.comments[*at];
        said.part(comment) == Part::Word && is_persons(said, &comment.author, &comment.body)
    };
    let places: Vec<usize> = (0..thread.comments.len()).filter(words).collect();
    let by = places.iter().map(|at| &thread.comments[*at].author).find(|author| !author.is(&said.pull.author))?;
    let last_word = *places.last()?;
    let answered = thread.comments[last_word..].iter().any(|comment| matches!(said.part(comment), Part::Fixed | Part::Answered));
    // What we closed ourselves is open again once somebody speaks in it.
    let by_us = thread.resolved_by.as_ref().is_some_and(|by| by.is(said.me));
    let closed = thread.resolved && (answered || !by_us);
    if closed {
        return Some(ThreadState::Closed);
    }
    Some(ThreadState::Open(OpenThread {
        id: thread.id.clone(),
        by: by.login.clone(),
        path: thread.path.clone(),
        line: thread.line,
        answered,
        may_write: said.permissions.may_write(by),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feedback::right::Permissions;
    use crate::feedback::samples::{HEAD, Stage, bot, codex, person, reply};
    use crate::publish::marker::{Disposition, Mark};
    use crate::pull::facts::{AccountKind, Permission};

    fn voices(stage: &Stage) -> Voices {
        voices_since(stage, &Told::Is(None))
    }

    /// Everybody may write but strangers.
    fn voices_since(stage: &Stage, base_changed_at: &Told<Option<String>>) -> Voices {
        let mut permissions = Permissions::default();
        for account in deciders(&stage.said()) {
            permissions.put(
                account,
                match account.login.as_str() {
                    "stranger" => Told::Is(Permission::Read),
                    "somebody" => Told::Unknown("HTTP 403".into()),
                    _ => Told::Is(Permission::Write),
                },
            );
        }
        Voices::of(&Said { permissions: &permissions, ..stage.said() }, base_changed_at)
    }

    fn logins(logins: &BTreeSet<String>) -> Vec<&str> {
        logins.iter().map(String::as_str).collect()
    }

    /// Design rules 7 and 11: a person's approval, of this head.
    #[test]
    fn only_people_approve_and_only_this_head() {
        let mut stage = Stage::new()
            .review(&person("ann"), ReviewState::Approved, "fine")
            .review(&person("bob"), ReviewState::Approved, "")
            .review(&codex(), ReviewState::Approved, "")
            .review(&person("dev"), ReviewState::Approved, "my own")
            .review(&person("stranger"), ReviewState::Approved, "nice")
            .review(&person("somebody"), ReviewState::Approved, "nice")
            .review(&person("eve"), ReviewState::Commented, "hm");
        stage.reviews[1].commit = Some("3333333333333333333333333333333333333333".into());
        let voices = voices(&stage);
        assert_eq!((logins(&voices.approved), logins(&voices.unsure)), (vec!["ann"], vec!["somebody"]));
        assert_eq!(logins(&voices.approved_before), ["bob"]);
        assert!(voices.asking.is_empty());
    }

    /// Approved for `develop`, and then aimed at `main`: the forge keeps the approval, and it is none.
    #[test]
    fn an_approval_from_before_the_base_was_changed_does_not_count() {
        let mut stage = Stage::new()
            .review(&person("ann"), ReviewState::Approved, "fine for develop")
            .review(&person("bob"), ReviewState::Approved, "fine for main")
            .review(&person("cem"), ReviewState::Approved, "in the same second");
        stage.reviews[0].submitted_at = "2026-11-19T10:00:00Z".into();
        stage.reviews[1].submitted_at = "2026-11-19T12:00:02+01:00".into();
        stage.reviews[2].submitted_at = "2026-11-19T11:00:01Z".into();
        let changed = voices_since(&stage, &Told::Is(Some("2026-11-19T11:00:01.500Z".into())));
        assert_eq!(logins(&changed.approved), ["bob"]);
        assert_eq!(logins(&changed.approved_before), ["ann", "cem"]);
        assert_eq!(logins(&voices(&stage).approved), ["ann", "bob", "cem"], "it was never changed");
        for unread in [Told::Unknown("HTTP 403".to_owned()), Told::Is(Some("yesterday".to_owned()))] {
            let voices = voices_since(&stage, &unread);
            assert!(voices.approved.is_empty());
            assert_eq!(logins(&voices.unsure), ["ann", "bob", "cem"], "{unread:?}");
        }
    }

    /// Whose kind could not be read may be a machine: it approves nothing and takes nothing back, and what it asks for holds.
    #[test]
    fn an_account_whose_kind_was_not_read_only_objects() {
        let unread = |login: &str| Account { kind: AccountKind::Unread, ..person(login) };
        let stage = Stage::new().review(&unread("ann"), ReviewState::Approved, "fine").review(
            &unread("bob"),
            ReviewState::ChangesRequested,
            "no",
        );
        let voices = voices(&stage);
        assert!(voices.approved.is_empty() && voices.taken_back.is_empty());
        assert_eq!((logins(&voices.unsure), logins(&voices.asking)), (vec!["ann"], vec!["bob"]));
    }

    /// CF-33: a wish for changes by hand is a person's also under our account; an approval never is, with a seal or without one, at
    /// whatever head, and whatever kind of account the forge says that it is.
    #[test]
    fn our_own_approval_is_nobodys() {
        for me in [person("tribunal"), bot("tribunal")] {
            let blank = Stage::new();
            let (head, run) = (blank.pull.head.sha.clone(), "run".into());
            let sealed = blank.marked("LGTM", &Mark::Review { head, run, findings: Vec::new(), summary: None });
            for body in [sealed.as_str(), "by hand", ""] {
                for commit in [Some(HEAD.into()), Some("3333333333333333333333333333333333333333".into()), None] {
                    let mut stage = Stage { me: me.clone(), ..Stage::new() }.review(&me, ReviewState::Approved, body);
                    stage.reviews[0].commit = commit;
                    let voices = voices(&stage);
                    let counted = [&voices.approved, &voices.unsure, &voices.approved_before];
                    assert!(counted.into_iter().all(BTreeSet::is_empty), "{body:?}: {voices:?}");
                    assert!(deciders(&stage.said()).is_empty());
                }
            }
        }
        let asking = Stage::new().review(&person("tribunal"), ReviewState::ChangesRequested, "by hand");
        assert_eq!(logins(&voices(&asking).asking), ["tribunal"]);
    }

    /// A wish for changes stands over later heads and later comments, until it is taken back.
    #[test]
    fn a_change_request_stands_until_it_is_taken_back() {
        let ann = person("ann");
        let mut stage =
            Stage::new().review(&ann, ReviewState::ChangesRequested, "no").review(&ann, ReviewState::Commented, "so?");
        stage.reviews[0].commit = Some("3333333333333333333333333333333333333333".into());
        assert_eq!(logins(&voices(&stage).asking), ["ann"]);
        let approved = stage.review(&ann, ReviewState::Approved, "yes");
        assert!(voices(&approved).asking.is_empty());
        let dismissed = Stage::new().review(&ann, ReviewState::Dismissed, "no");
        assert_eq!(voices(&dismissed), Voices { taken_back: ["ann".to_owned()].into(), ..Voices::default() });
        let machine = Stage::new().review(&codex(), ReviewState::ChangesRequested, "no");
        assert!(voices(&machine).asking.is_empty());
    }

    #[test]
    fn threads_of_people_are_open_until_somebody_closes_them() {
        let (ann, dev) = (person("ann"), person("dev"));
        let stage = Stage::new().thread(&[(&ann, "why?")]).thread(&[(&codex(), "P1: bug")]).thread(&[(&dev, "note to self")]);
        let open = voices(&stage).threads;
        let (by, path) = ("ann".into(), "src/cart.rs".into());
        let thread = OpenThread { id: "t1".into(), by, path, line: Some(10), answered: false, may_write: Some(true) };
        assert_eq!(open, vec![thread]);
        // In a machine's thread, too.
        let joined = Stage::new().thread(&[(&codex(), "P1: bug"), (&ann, "yes, please")]);
        assert_eq!(voices(&joined).threads.len(), 1);
        let mut closed = Stage::new().thread(&[(&ann, "why?")]);
        closed.threads[0].resolved = true;
        let voices = voices(&closed);
        assert!(voices.threads.is_empty() && voices.closed.contains("t1"));
    }

    /// What we answered and closed is open again when the person goes on.
    #[test]
    fn a_thread_that_we_closed_is_open_for_the_next_word() {
        let ann = person("ann");
        let blank = Stage::new();
        let answer = blank.marked("Fixed in 1234567.", &reply("thread:t1", "t1.1", Disposition::Fixed));
        let me = blank.me.clone();
        let mut stage = blank.thread(&[(&ann, "why?"), (&me, &answer)]);
        assert!(voices(&stage).threads[0].answered);
        stage.threads[0].resolved = true;
        stage.threads[0].resolved_by = Some(me.clone());
        assert!(voices(&stage).threads.is_empty());
        let mut later = Stage::new().thread(&[(&ann, "why?"), (&me, &answer), (&ann, "not at all")]);
        later.threads[0].resolved = true;
        later.threads[0].resolved_by = Some(me);
        let open = voices(&later).threads;
        assert_eq!(open.iter().map(|thread| thread.answered).collect::<Vec<_>>(), [false]);
    }
}
