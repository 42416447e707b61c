//! The local forge: any git repository, no server. A branch pair is a pull request.
//!
//! Refs say where the branches stand; everything that was said is a desk (see `tribunal_core::pull::desk`) in a [`book::Book`]. A
//! change loads a desk, applies one command and swaps the text if nobody was faster; otherwise it begins again from the newer one.
//! So any number of processes may write at once, and one that dies leaves either all or nothing of its command.

pub mod book;
mod checks;
pub mod fault;
mod issues;
mod land;
mod open;
mod read;
mod talk;

#[cfg(test)]
mod tests;

use crate::git::write::Signature;
use crate::git::{GitError, Repository};
use book::{Book, Kind, Page, Rehearsal, Wrote};
use fault::LocalFault;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tribunal_core::ids::Sha;
use tribunal_core::procedure::Millis;
use tribunal_core::pull::desk::act::{Act, Command, Refusal};
use tribunal_core::pull::desk::{Desk, Done, Live, Subject, apply};
use tribunal_core::pull::facts::{Account, AccountKind};
use tribunal_core::pull::place::Project;

pub use read::capabilities_of;

/// Each try means that somebody else got through, so this many are a crowd.
const TRIES: u32 = 200;

pub type Locally<T> = Result<T, LocalFault>;

#[derive(Clone)]
pub struct Local {
    repository: Repository,
    book: Arc<dyn Book>,
    me: Account,
    project: Project,
    /// Everything is looked at and nothing is changed.
    rehearses: bool,
}

/// The account behind a name in commits, which everybody chooses for themselves.
pub fn account(signature: &Signature) -> Account {
    let kind = if signature.name.ends_with("[bot]") { AccountKind::ServiceAccount } else { AccountKind::Person };
    Account { id: signature.email.to_lowercase(), login: signature.name.clone(), kind }
}

/// A desk, and what git says about its branches.
pub(crate) struct Seen {
    pub desk: Desk,
    pub live: Live,
}

impl Local {
    pub fn new(repository: Repository, book: Arc<dyn Book>, me: Account) -> Self {
        Self { repository, book, me, project: Project::local(), rehearses: false }
    }

    /// The same forge for a dry run: every question is answered and every refusal given, and nothing is written.
    pub fn rehearsing(self) -> Self {
        Self { book: Arc::new(Rehearsal(self.book)), rehearses: true, ..self }
    }

    /// My name as commits carry it.
    fn signature(&self) -> Signature {
        let mine = self.repository.signature().filter(|signature| account(signature).is(&self.me));
        mine.unwrap_or_else(|| signature_of(&self.me))
    }

    async fn page(&self, number: u64) -> Locally<(Page, Desk)> {
        let no_such = LocalFault::NoSuch { what: "pull request or issue", number };
        let page = self.book.load(number).await?.ok_or(no_such)?;
        let desk = read(&page)?;
        Ok((page, desk))
    }

    async fn desk(&self, number: u64, kind: Kind) -> Locally<Desk> {
        let found = self.book.load(number).await?.map(|page| read(&page)).transpose()?;
        let right = found.filter(|desk| matches!(desk.subject, Subject::Pull(_)) == (kind == Kind::Pull));
        right.ok_or(LocalFault::NoSuch { what: kind.noun(), number })
    }

    /// A pull request in the light of its branches.
    async fn seen(&self, number: u64) -> Locally<Seen> {
        let desk = self.desk(number, Kind::Pull).await?;
        self.look(desk).await
    }

    async fn look(&self, desk: Desk) -> Locally<Seen> {
        let repository = self.repository.clone();
        blocking(move || {
            let live = live(&repository, &desk);
            Ok(Seen { desk: desk.seen(&live, now()), live })
        })
        .await
    }

    /// Does one thing to one desk, on top of whatever others have done to it meanwhile.
    async fn change(&self, number: u64, act: Act) -> Locally<Done> {
        self.change_if(number, |_| Ok(Some(act.clone()))).await
    }

    /// What is done may depend on the desk; nothing is done but taking note of where the branches stand if it says so.
    async fn change_if(&self, number: u64, act: impl Fn(&Desk) -> Locally<Option<Act>>) -> Locally<Done> {
        for attempt in 0..TRIES {
            let (page, desk) = self.page(number).await?;
            let Seen { desk, .. } = self.look(desk).await?;
            let done = match act(&desk)? {
                Some(act) => apply(&desk, Command { by: self.me.clone(), act }, now())
                    .map_err(|refusal| LocalFault::Refused { number, refusal })?,
                None => Done { desk, made: None },
            };
            match self.book.swap(&page, done.desk.claim().as_deref(), &write(&done.desk, number)?).await? {
                Wrote::Done(_) => return Ok(done),
                Wrote::Claimed(holder) => return Err(already_open(holder, &done.desk)),
                Wrote::Late => tokio::time::sleep(Duration::from_millis(u64::from(attempt.min(20)))).await,
            }
        }
        Err(LocalFault::Contended)
    }
}

fn already_open(number: u64, desk: &Desk) -> LocalFault {
    let name = |head: bool| {
        let branch = desk.pull().map(|pull| if head { &pull.head } else { &pull.base });
        branch.map_or_else(|_| String::new(), |branch| branch.name.clone())
    };
    LocalFault::AlreadyOpen { number, head: name(true), base: name(false) }
}

fn read(page: &Page) -> Locally<Desk> {
    let number = page.number;
    Desk::from_text(&page.body).map_err(|problem| LocalFault::Unreadable { number, problem: problem.to_string() })
}

fn write(desk: &Desk, number: u64) -> Locally<String> {
    desk.to_text().map_err(|problem| LocalFault::Unreadable { number, problem: problem.to_string() })
}

/// Where the branches of a pull request stand, and whether it has landed.
fn live(repository: &Repository, desk: &Desk) -> Live {
    let Ok(pull) = desk.pull() else { return Live::default() };
    let tips = repository.branch_tips(&[pull.head.name.as_str(), pull.base.name.as_str()].into());
    let tip = |name: &str| tips.get(name).cloned();
    let (head, base) = (tip(&pull.head.name), tip(&pull.base.name));
    let holds = |base: &Sha, commit: &Sha| repository.is_ancestor(commit, base);
    let landed = match (&pull.landed, &base) {
        (None, Some(base)) => pull.candidates().into_iter().find(|commit| holds(base, commit)),
        (Some(_), _) | (_, None) => None,
    };
    let is_empty = matches!((&head, &base), (Some(head), Some(base)) if holds(base, head));
    Live { head, base, landed, is_empty }
}

pub(crate) fn signature_of(account: &Account) -> Signature {
    let email = if account.id.contains('@') { account.id.clone() } else { format!("{}@localhost", account.id) };
    Signature { name: account.login.clone(), email }
}

fn now() -> Millis {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_millis() as u64)
}

/// git is a process that is waited for; elsewhere, so that nobody else waits.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Locally<T> + Send + 'static) -> Locally<T> {
    tokio::task::spawn_blocking(work)
        .await
        .unwrap_or_else(|error| Err(LocalFault::Git(GitError::Hollow(format!("a worker died: {error}")))))
}

/// An id of a comment, a thread or a review as the port passes it.
fn id(what: &'static str, number: u64, text: &str) -> Locally<u64> {
    let unknown = || LocalFault::NoSuch { what, number };
    text.parse().map_err(|_| unknown())
}

fn malformed(refusal: Refusal) -> LocalFault {
    LocalFault::Malformed(refusal)
}
