//! From what a forge shows to items that can be answered (WL-39 to WL-45, PR-111).
//!
//! Whether something was answered is read from marks of ours, never from the prose of others: a stranger who writes `Fixed in …`
//! closes nothing. Nothing is looked for in pages of fifty; what the forge holds is all here.
//!
//! Each item comes with the right of whoever said it. In a thread in which people with and without the right speak, the words of the
//! latter are an item of their own: no suggestion block gets into an item by a reply from somebody else.

use super::item::{Item, ItemId, Label, Surface, Voice};
use super::reviewer::{BotNote, priority_in, registered, voice};
use super::right::{Permissions, Right};
use super::words::shown_words;
use crate::findings::about::About;
use crate::findings::anchor::Side;
use crate::findings::key::sha256_hex;
use crate::ids::{FindingKey, RepoPath};
use crate::policy::identity::Bots;
use crate::publish::marker::{Disposition, Mark, MarkerKey, ReadMark, Says, Seal, read};
use crate::publish::status::CONTEXT;
use crate::pull::command::commands;
use crate::pull::facts::{Account, AccountKind, Check, CheckState, Pull};
use crate::pull::talk::{Comment, Review, ReviewState, Thread, ThreadComment};
use std::collections::{BTreeMap, BTreeSet};

/// All that was said on a pull request, and who we are.
#[derive(Debug, Clone, Copy)]
pub struct Said<'a> {
    pub pull: &'a Pull,
    pub comments: &'a [Comment],
    pub reviews: &'a [Review],
    pub threads: &'a [Thread],
    pub checks: &'a [Check],
    pub me: &'a Account,
    pub case_id: &'a str,
    pub key: &'a MarkerKey,
    /// Reviewers that the configuration names.
    pub extra: &'a Bots,
    /// What the forge says that those may do who speak here.
    pub permissions: &'a Permissions,
    /// People may edit the comments of others here who may not push.
    pub others_edit: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Gathered {
    pub items: Vec<Item>,
    /// Of every item, whether it may be acted on.
    pub rights: BTreeMap<ItemId, Right>,
    /// The words of others with their hidden parts, which a search for hidden orders must see.
    pub raw: BTreeMap<ItemId, String>,
    pub left: Left,
}

/// What was seen and is no item.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Left {
    /// Whose review is still to come.
    pub running: Vec<Notice>,
    /// Who cannot review now.
    pub quota: Vec<Notice>,
    /// Who has looked and is content.
    pub satisfied: Vec<Notice>,
    /// Reports, empty words, and commands for us.
    pub noise: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    pub by: Account,
    pub voice: Voice,
    /// Whether anything follows from it.
    pub right: Right,
    pub url: String,
    /// Where it stands, as a baseline names places.
    pub place: String,
}

pub fn gather(said: &Said<'_>) -> Gathered {
    let answered = said.answered();
    let mut gathered = Gathered::default();
    for thread in said.threads {
        gathered.take_thread(said, thread);
    }
    for comment in said.comments.iter().filter(|comment| !said.is_ours(&comment.author, &comment.body)) {
        gathered.take_comment(said, comment, &answered);
    }
    for review in said.reviews.iter().filter(|review| !said.is_ours(&review.author, &review.body)) {
        gathered.take_review(said, review, &answered);
    }
    for check in said.checks.iter().filter(|check| has_failed(check)) {
        gathered.take_check(said, check, &answered);
    }
    gathered
}

impl Gathered {
    /// Whether an item may be acted on. One that nobody has looked up may not.
    pub fn right(&self, id: &ItemId) -> Right {
        self.rights.get(id).cloned().unwrap_or_default()
    }
}

/// Everybody whose permission must be looked up before [`gather`]: who speaks here, reviews, or made the head. Registered bots are
/// known by their account.
pub fn speakers<'a>(said: &Said<'a>) -> Vec<&'a Account> {
    let comments =
        said.comments.iter().filter(|comment| !said.is_ours(&comment.author, &comment.body)).map(|comment| &comment.author);
    let reviews = said.reviews.iter().filter(|review| !said.is_ours(&review.author, &review.body)).map(|review| &review.author);
    let words = said.threads.iter().flat_map(|thread| &thread.comments);
    let words = words.filter(|comment| !said.is_ours(&comment.author, &comment.body)).map(|comment| &comment.author);
    let speaks_for_head = said.checks.iter().any(has_failed) || said.threads.iter().any(|thread| said.is_brought(thread));
    let author = speaks_for_head.then_some(&said.pull.author);
    let mut known = BTreeSet::new();
    let all = comments.chain(reviews).chain(words).chain(author);
    all.filter(|account| registered(account, said.extra).is_none() && known.insert(account.id.as_str())).collect()
}

/// Did it fail, and is it not our own word about the review?
pub fn has_failed(check: &Check) -> bool {
    check.name != CONTEXT && matches!(check.state, CheckState::Failure | CheckState::Error)
}

/// One version of a text. An edit makes a new word of it.
pub(super) fn word_of(id: &str, body: &str) -> String {
    format!("{id}.{}", &sha256_hex(shown_words(body).as_bytes())[..12])
}

/// What a comment in a thread is to us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// Somebody's word.
    Word,
    /// A finding of our panel, under a good seal.
    Finding,
    /// We said that a finding is there again.
    Back,
    Fixed,
    /// Declined, deferred, asked or dismissed: answered, and nothing was changed.
    Answered,
    /// Ours, and it says nothing about the item; or words for our commands.
    Aside,
}

impl Said<'_> {
    /// Whether what an account says may be acted on.
    pub fn right(&self, account: &Account) -> Right {
        Right::of(account, self.extra, self.permissions)
    }

    /// Whether these words may be acted on. Every word that can become an item goes through here.
    fn right_of_words(&self, author: &Account, edited: bool) -> Right {
        Right::of_words(author, edited && self.others_edit, self.extra, self.permissions)
    }

    /// Whether what is told of the head may be acted on: the log of a check, a linter's words or another job's receipt quote what its
    /// author wrote.
    pub fn right_of_head(&self) -> Right {
        self.right(&self.pull.author)
    }

    /// The mark of a text, if our own account wrote it.
    fn mark(&self, author: &Account, body: &str) -> Option<ReadMark> {
        author.is(self.me).then(|| read(body, self.case_id, self.key)).flatten()
    }

    /// Posted by us, under a good seal or a broken one.
    pub(crate) fn is_ours(&self, author: &Account, body: &str) -> bool {
        self.mark(author, body).is_some()
    }

    pub(crate) fn part(&self, comment: &ThreadComment) -> Part {
        let ours = comment.author.is(self.me);
        match self.mark(&comment.author, &comment.body) {
            Some(ReadMark { mark, seal: Seal::Good }) => match mark {
                Mark::Finding { .. } => Part::Finding,
                Mark::Answer { says: Says::Fixed, .. } | Mark::Reply { says: Disposition::Fixed, .. } => Part::Fixed,
                Mark::Answer { says: Says::Back, .. } => Part::Back,
                Mark::Answer { says: Says::Dismissed, .. } => Part::Answered,
                Mark::Reply { says: Disposition::Declined | Disposition::Deferred | Disposition::Asked, .. } => Part::Answered,
                Mark::Sticky { .. } | Mark::Claim { .. } | Mark::Review { .. } | Mark::Holds { .. } => Part::Aside,
                Mark::Round { .. } | Mark::Verdict { .. } => Part::Aside,
                Mark::Gate { .. } | Mark::Epic { .. } | Mark::Markers { .. } | Mark::Remains { .. } => Part::Aside,
            },
            // Said, so it is not said twice; but an edited claim proves no fix.
            Some(ReadMark { mark: Mark::Answer { .. } | Mark::Reply { .. }, seal: Seal::Broken }) => Part::Answered,
            Some(ReadMark { seal: Seal::Broken, .. }) => Part::Aside,
            None if ours => by_wording(&comment.body),
            None if is_command(&comment.body) || shown_words(&comment.body).is_empty() => Part::Aside,
            None => Part::Word,
        }
    }

    /// Is the thread about a finding that another job's receipt brought? That job read the head's own files, and whoever made the
    /// head could choose what it writes.
    fn is_brought(&self, thread: &Thread) -> bool {
        thread.comments.first().and_then(|first| own_finding(self, first)).is_some_and(|(key, _)| key.is_brought())
    }

    /// The last comment that a disposition answers: the one that it names, or else all before it.
    fn answers_up_to(&self, thread: &Thread, at: usize) -> usize {
        let comment = &thread.comments[at];
        match self.mark(&comment.author, &comment.body) {
            Some(ReadMark { mark: Mark::Reply { last_word, .. }, seal: Seal::Good }) => {
                thread.comments[..at].iter().position(|earlier| earlier.id == last_word).unwrap_or(at)
            }
            _ => at,
        }
    }

    /// Closed by somebody else, it is nobody's business any more. What we closed ourselves is open again once somebody speaks in it:
    /// the word may have come in the moment between our last look and the closing (WL-83).
    fn is_over(&self, thread: &Thread) -> bool {
        thread.resolved && !thread.resolved_by.as_ref().is_some_and(|by| by.is(self.me))
    }

    /// What the last of our sealed replies to this word says.
    fn answer_in(&self, thread: &Thread, word: &str) -> Option<Disposition> {
        thread.comments.iter().rev().find_map(|comment| match self.mark(&comment.author, &comment.body)? {
            ReadMark { mark: Mark::Reply { last_word, says, .. }, seal: Seal::Good } if last_word == word => Some(says),
            _ => None,
        })
    }

    /// What our summaries of rounds name, as `item@last_word`.
    fn answered(&self) -> BTreeSet<String> {
        let comments = self.comments.iter().map(|comment| (&comment.author, &comment.body));
        let reviews = self.reviews.iter().map(|review| (&review.author, &review.body));
        comments
            .chain(reviews)
            .filter_map(|(author, body)| match self.mark(author, body)?.mark {
                Mark::Round { items, .. } => Some(items),
                _ => None,
            })
            .flatten()
            .collect()
    }

    /// A review by the same account that came after its note makes the note an old one.
    fn has_reviewed_since(&self, by: &Account, at: &str) -> bool {
        self.reviews.iter().any(|review| {
            let is_note = |note: BotNote| note.is_running() || note.is_out_of_quota();
            review.author.is(by) && review.submitted_at.as_str() > at && !is_note(BotNote::read(&review.body))
        })
    }
}

/// Replies of other tools under our account, which carry no mark: `Fixed in 1234567.` and the like (CF-17, WL-42). A deferral is told
/// by its beginning alone, because a person under the same login writes prose, too (WL-133).
fn by_wording(body: &str) -> Part {
    if body.starts_with("<!-- hivemind-defer-v1 -->") {
        return Part::Answered;
    }
    let digits = |rest: &str| rest.chars().take_while(|c| matches!(c, '0'..='9' | 'a'..='f')).count();
    let is_sha = |rest: &str| (7..=40).contains(&digits(rest));
    let after = |phrase: &str| body.match_indices(phrase).map(|(at, _)| &body[at + phrase.len()..]).collect::<Vec<_>>();
    let fixed = after("Fixed in ").into_iter().any(|rest| is_sha(rest) && rest[digits(rest)..].starts_with('.'));
    let addressed = after("Addressed in ").into_iter().any(is_sha) || body.trim_start().starts_with("**Addressed in commit");
    match (fixed || addressed, shown_words(body).is_empty()) {
        (true, _) => Part::Fixed,
        (false, true) => Part::Aside,
        (false, false) => Part::Word,
    }
}

/// Nothing but commands for us.
fn is_command(body: &str) -> bool {
    !commands(body).is_empty()
        && shown_words(body).lines().all(|line| line.trim().is_empty() || line.trim().starts_with("/tribunal"))
}

impl Gathered {
    fn take_thread(&mut self, said: &Said<'_>, thread: &Thread) {
        let parts: Vec<Part> = thread.comments.iter().map(|comment| said.part(comment)).collect();
        let is_brought = said.is_brought(thread);
        // A finding counts only where it opens its thread.
        let panel = parts.first() == Some(&Part::Finding);
        let speaks = |at: &usize| match parts[*at] {
            Part::Word => true,
            Part::Back => panel,
            Part::Finding => *at == 0,
            Part::Fixed | Part::Answered | Part::Aside => false,
        };
        let right = |at: usize| match parts[at] {
            Part::Word => said.right_of_words(&thread.comments[at].author, thread.comments[at].edited),
            // We posted it for somebody else: our seal says nothing about the words.
            Part::Finding | Part::Back if is_brought => said.right_of_head(),
            // Told apart from words by their seal.
            Part::Finding | Part::Back | Part::Fixed | Part::Answered | Part::Aside => Right::by_seal(),
        };
        let (granted, refused): (Vec<usize>, Vec<usize>) =
            (0..parts.len()).filter(speaks).partition(|at| right(*at).is_granted());
        if granted.is_empty() && refused.is_empty() {
            self.left.noise += usize::from(!thread.comments.iter().all(|comment| comment.author.is(said.me)));
            return;
        }
        let id = format!("thread:{}", thread.id);
        if let Some(first) = granted.first() {
            self.take_words(said, thread, &parts, ItemId(id.clone()), &granted, right(*first));
        }
        if let Some(first) = refused.first() {
            let id = if granted.is_empty() { id } else { format!("{id}/{}", thread.comments[*first].id) };
            self.take_words(said, thread, &parts, ItemId(id), &refused, right(*first));
        }
    }

    /// These words of a thread, as one item.
    fn take_words(&mut self, said: &Said<'_>, thread: &Thread, parts: &[Part], id: ItemId, words: &[usize], right: Right) {
        let (Some(first), Some(last)) = (words.first(), words.last()) else { return };
        let opening = &thread.comments[*first];
        let author = &opening.author;
        let panel = parts[*first] == Part::Finding;
        let others: Vec<&ThreadComment> =
            words.iter().filter(|at| parts[**at] == Part::Word).map(|at| &thread.comments[*at]).collect();
        // Whoever has spoken, with or without the right: closing the thread would close their word, too.
        let spoken = thread.comments.iter().zip(parts).filter(|(_, part)| **part == Part::Word);
        let voices: BTreeSet<&str> = spoken.map(|(comment, _)| comment.author.id.as_str()).collect();
        let shown: Vec<String> = words.iter().map(|at| shown_words(&thread.comments[*at].body)).collect();
        // A line of the old side is no line of the file as it is.
        let is_now = thread.side == Side::New;
        let (finding, about) = panel.then(|| own_finding(said, opening)).flatten().unzip();
        self.raw.insert(id.clone(), others.iter().map(|comment| comment.body.as_str()).collect::<Vec<_>>().join("\n\n"));
        self.rights.insert(id.clone(), right);
        self.items.push(Item {
            id,
            surface: Surface::Thread { id: thread.id.clone() },
            author: author.clone(),
            voice: if panel { Voice::Panel } else { voice(author, said.me, said.extra) },
            body: shown.join("\n\n"),
            url: opening.url.clone(),
            path: Some(RepoPath::new(thread.path.as_str())),
            line: thread.line.filter(|_| is_now),
            start_line: thread.start_line.filter(|_| is_now),
            priority: priority_in(&opening.body),
            finding,
            about: about.unwrap_or_default(),
            last_word: thread.comments[*last].id.clone(),
            label: if said.is_over(thread) { Label::Handled } else { label(said, thread, parts, *last) },
            resolved: thread.resolved,
            can_resolve: thread.can_resolve != Some(false),
            one_voice: if panel { voices.is_empty() } else { voices.len() == 1 },
            answered: said.answer_in(thread, &thread.comments[*last].id),
        });
    }

    fn take_comment(&mut self, said: &Said<'_>, comment: &Comment, answered: &BTreeSet<String>) {
        let id = ItemId(format!("comment:{}", comment.id));
        let right = said.right_of_words(&comment.author, comment.edited);
        if self.is_left(said, &id, (&comment.author, &comment.body, &comment.url), &comment.created_at, &right) {
            return;
        }
        let surface = Surface::Comment { id: comment.id.clone() };
        self.take_whole(said, id, surface, (&comment.author, right), (&comment.id, &comment.body, &comment.url), answered);
    }

    fn take_review(&mut self, said: &Said<'_>, review: &Review, answered: &BTreeSet<String>) {
        match review.state {
            ReviewState::ChangesRequested | ReviewState::Commented => {}
            ReviewState::Pending | ReviewState::Approved | ReviewState::Dismissed => return,
        }
        // A reply in a thread comes as an empty review; its words are in the thread.
        let id = ItemId(format!("review:{}", review.id));
        // Where others may edit, the forge shows a review's own words as they were submitted.
        let right = said.right_of_words(&review.author, false);
        if review.body.trim().is_empty()
            || self.is_left(said, &id, (&review.author, &review.body, &review.url), &review.submitted_at, &right)
        {
            return;
        }
        let surface = Surface::Review { id: review.id.clone() };
        self.take_whole(said, id, surface, (&review.author, right), (&review.id, &review.body, &review.url), answered);
    }

    /// Something that cannot be replied to, so that only the summary of a round answers it.
    fn take_whole(
        &mut self,
        said: &Said<'_>,
        id: ItemId,
        surface: Surface,
        (author, right): (&Account, Right),
        (word, body, url): (&str, &str, &str),
        answered: &BTreeSet<String>,
    ) {
        let last_word = word_of(word, body);
        let handled = answered.contains(&format!("{id}@{last_word}"));
        self.raw.insert(id.clone(), body.to_owned());
        self.rights.insert(id.clone(), right);
        self.items.push(Item {
            id,
            surface,
            author: author.clone(),
            voice: voice(author, said.me, said.extra),
            body: shown_words(body),
            url: url.to_owned(),
            path: None,
            line: None,
            start_line: None,
            priority: priority_in(body),
            finding: None,
            about: About::default(),
            last_word,
            label: if handled { Label::Handled } else { Label::Actionable },
            resolved: false,
            can_resolve: false,
            one_voice: true,
            answered: None,
        });
    }

    /// Told by what it says, not by who says it, except that people are never taken for machines (PR-111).
    fn is_left(
        &mut self,
        said: &Said<'_>,
        id: &ItemId,
        (author, body, url): (&Account, &str, &str),
        at: &str,
        right: &Right,
    ) -> bool {
        if is_command(body) || shown_words(body).is_empty() {
            self.left.noise += 1;
            return true;
        }
        let voice = voice(author, said.me, said.extra);
        if voice.is_person() {
            return false;
        }
        let note = BotNote::read(body);
        let notice = || Notice {
            by: author.clone(),
            voice: voice.clone(),
            right: right.clone(),
            url: url.to_owned(),
            place: id.0.clone(),
        };
        match () {
            () if note.is_out_of_quota() && !said.has_reviewed_since(author, at) => self.left.quota.push(notice()),
            () if note.is_running() && !said.has_reviewed_since(author, at) => self.left.running.push(notice()),
            () if note.is_satisfied() => self.left.satisfied.push(notice()),
            () if note.is_out_of_quota() || note.is_running() || note.is_chatter() => self.left.noise += 1,
            () => return false,
        }
        true
    }

    /// A failure belongs to its commit: at the next one it is news again.
    fn take_check(&mut self, said: &Said<'_>, check: &Check, answered: &BTreeSet<String>) {
        let id = ItemId(format!("check:{}", check.name));
        // Several reporters may use one name; the first failure stands for it.
        if self.raw.contains_key(&id) {
            return;
        }
        let last_word = said.pull.head.sha.to_string();
        let handled = answered.contains(&format!("{id}@{last_word}"));
        let body = match check.description.trim() {
            "" => "The check failed and gives no reason.".to_owned(),
            description => shown_words(description),
        };
        self.raw.insert(id.clone(), check.description.clone());
        self.rights.insert(id.clone(), said.right_of_head());
        self.items.push(Item {
            id,
            surface: Surface::Check { name: check.name.clone() },
            author: Account { id: format!("check:{}", check.name), login: check.name.clone(), kind: AccountKind::Bot },
            voice: Voice::Check,
            body,
            url: check.url.clone(),
            path: None,
            line: None,
            start_line: None,
            priority: None,
            finding: None,
            about: About::default(),
            last_word,
            label: if handled { Label::Handled } else { Label::Actionable },
            resolved: false,
            can_resolve: false,
            one_voice: true,
            answered: None,
        });
    }
}

fn own_finding(said: &Said<'_>, comment: &ThreadComment) -> Option<(FindingKey, About)> {
    match said.mark(&comment.author, &comment.body)?.mark {
        Mark::Finding { key, about, .. } => Some((key, about)),
        _ => None,
    }
}

/// The latest of our answers governs the thread (WL-41, WL-42); what was said after what it answers is open again. The order is the
/// forge's, because ids need not be numbers.
fn label(said: &Said<'_>, thread: &Thread, parts: &[Part], last_word: usize) -> Label {
    // A finding that is back stands as if it had never been answered.
    let from = parts.iter().rposition(|part| *part == Part::Back).unwrap_or(0);
    let latest = (from..parts.len()).rev().find(|at| matches!(parts[*at], Part::Fixed | Part::Answered));
    match latest {
        None => Label::Actionable,
        Some(at) if last_word <= said.answers_up_to(thread, at) => Label::Handled,
        // Said before our reply and not seen by it: open, but not raised again.
        Some(at) if parts[at] == Part::Fixed && last_word > at => Label::FollowupAfterFix,
        Some(_) => Label::Actionable,
    }
}

#[cfg(test)]
mod tests;
