//! `tribunal pr`: pull requests and issues of any git repository, without a server.

mod issue;
mod merge;
mod open;
mod review;
mod show;
mod words;

use super::block_on;
use crate::cli::pr::{CheckArg, Dry, LabelAction, PrCommand};
use crate::situation::{Situation, exit};
use crate::terminal::out;
use crate::workspace;
use std::sync::Arc;
use tribunal_core::publish::outgoing::Outgoing;
use tribunal_core::pull::desk::act::Act;
use tribunal_core::pull::facts::{Account, AccountKind, CheckState, PullFilter};
use tribunal_core::pull::place::Asked;
use tribunal_core::pull::talk::NewStatus;
use tribunal_engine::local_book::LedgerBook;
use tribunal_forge::git::Repository;
use tribunal_forge::local::book::{Book, Memory};
use tribunal_forge::local::{Local, account};
use words::text;

pub fn run(command: PrCommand, quiet: bool) -> Result<u8, Situation> {
    block_on(async { dispatch(command, quiet).await.map(|()| exit::DONE) })
}

async fn dispatch(command: PrCommand, quiet: bool) -> Result<(), Situation> {
    match command {
        PrCommand::Open(args) => open::run(args).await,
        PrCommand::List { all, label, output } => {
            show::list(&PullFilter { label, all_states: all, ..PullFilter::default() }, output.is_json()).await
        }
        PrCommand::Show { pull, output } => show::run(&pull.pull, output.is_json()).await,
        PrCommand::Comment { pull, text: said, dry } => {
            let desk = Desk::to_write(dry).await?;
            let number = desk.number(&pull).await?;
            let comment = desk.local.say(number, &text(&said)?.into()).await?;
            desk.done(&format!("Commented on #{number} ({})", comment.id))
        }
        PrCommand::Review(args) => review::run(args).await,
        PrCommand::Reply { pull, thread, text: said, dry } => {
            let body = Outgoing::from(text(&said)?).into_string();
            in_thread(&pull, &thread, dry, "Replied in", |thread| Act::Reply { thread, body: body.clone() }).await
        }
        PrCommand::Resolve { thread, dry } => {
            in_thread(&thread.pull, &thread.thread, dry, "Resolved", |thread| Act::Resolve { thread }).await
        }
        PrCommand::Unresolve { thread, dry } => {
            in_thread(&thread.pull, &thread.thread, dry, "Opened again", |thread| Act::Unresolve { thread }).await
        }
        PrCommand::Check { pull, name, state, description, url, log, dry } => {
            let status = NewStatus { context: name, state: check_state(state), description: description.into(), url };
            let log = log.as_deref().map(words::end_of).transpose()?;
            check(&pull, &status, log.as_deref(), dry).await
        }
        PrCommand::Merge(args) => merge::run(args, quiet).await,
        PrCommand::Update { pull, dry } => merge::update(&pull.pull, dry).await,
        PrCommand::Close { pull, dry } => {
            let desk = Desk::to_write(dry).await?;
            let number = desk.number(&pull.pull).await?;
            let was_open = desk.local.close_pull(number).await?;
            desk.done(&format!("{} #{number}", if was_open { "Closed" } else { "Was closed already:" }))
        }
        PrCommand::Reopen { pull, dry } => {
            let desk = Desk::to_write(dry).await?;
            let number = desk.any_number(&pull.pull).await?;
            desk.local.reopen_pull(number).await?;
            desk.done(&format!("Opened #{number} again"))
        }
        PrCommand::Ready { pull, dry } => {
            let desk = Desk::to_write(dry).await?;
            let number = desk.number(&pull.pull).await?;
            desk.local.do_in(number, Act::Draft(false)).await?;
            desk.done(&format!("#{number} is ready"))
        }
        PrCommand::Label { pull, action, label, dry } => {
            let desk = Desk::to_write(dry).await?;
            let number = desk.number(&pull).await?;
            let (act, verb, where_to) = match action {
                LabelAction::Add => (Act::Label { label: label.clone() }, "Put", "on"),
                LabelAction::Remove => (Act::Unlabel { label: label.clone() }, "Took", "off"),
            };
            desk.local.do_in(number, act).await?;
            desk.done(&format!("{verb} label `{label}` {where_to} #{number}"))
        }
        PrCommand::Issue { command } => issue::run(command).await,
    }
}

/// The local forge of the repository around the current folder.
struct Desk {
    repository: Repository,
    local: Local,
    rehearses: bool,
}

impl Desk {
    /// For looking: nothing is made, and nobody has to be anybody.
    async fn to_read() -> Result<Self, Situation> {
        let repository = workspace::discover()?;
        let book = existing_book(&repository).await?;
        let nobody = || Account { id: String::new(), login: String::new(), kind: AccountKind::Unknown };
        let me = repository.signature().map_or_else(nobody, |signature| account(&signature));
        Ok(Self { local: Local::new(repository.clone(), book, me), repository, rehearses: false })
    }

    async fn to_write(dry: Dry) -> Result<Self, Situation> {
        let repository = workspace::discover()?;
        let signature = repository.signature().ok_or_else(|| {
            Situation::new("no-identity", exit::USAGE, "git does not know who you are")
                .help("git config --global user.name \"Your Name\"")
                .help("git config --global user.email you@example.com")
        })?;
        let me = account(&signature);
        if dry.dry_run {
            let local = Local::new(repository.clone(), existing_book(&repository).await?, me).rehearsing();
            return Ok(Self { local, repository, rehearses: true });
        }
        let ledger = workspace::open_ledger(&repository.tribunal_dir()).await?;
        let local = Local::new(repository.clone(), Arc::new(LedgerBook(ledger)), me);
        Ok(Self { local, repository, rehearses: false })
    }

    /// The number that is meant; `@` is the open pull request of the current branch.
    async fn number(&self, asked: &str) -> Result<u64, Situation> {
        self.find(asked, false).await
    }

    /// The same, where `@` may be one that is no longer open: the newest.
    async fn any_number(&self, asked: &str) -> Result<u64, Situation> {
        self.find(asked, true).await
    }

    async fn find(&self, asked: &str, all_states: bool) -> Result<u64, Situation> {
        let usage = |happened: String| Situation::new("unknown-number", exit::USAGE, happened);
        match asked.parse::<Asked>().map_err(|error| usage(error.to_string()).help("tribunal pr list"))? {
            Asked::Number(number) => Ok(number),
            Asked::CurrentBranch => {
                let detached = || usage("no branch is checked out, so @ names no pull request".into());
                let branch =
                    self.repository.current_branch().ok_or_else(|| detached().help("give a number: tribunal pr list"))?;
                let filter = PullFilter { head_branch: Some(branch.clone()), all_states, ..PullFilter::default() };
                let found = self.local.list(&filter).await?;
                let none = || usage(format!("branch `{branch}` has no open pull request here"));
                let newest =
                    found.last().ok_or_else(|| none().help("open one: tribunal pr open").help("tribunal pr list --all"))?;
                Ok(newest.number)
            }
            Asked::OfPath { .. } | Asked::Address { .. } => {
                Err(usage(format!("`{asked}` is on a server; `tribunal pr` keeps the pull requests of this repository"))
                    .help("give a number: tribunal pr list"))
            }
        }
    }

    /// A thread by its id, or by the id of any comment in it.
    async fn thread(&self, number: u64, id: &str) -> Result<u64, Situation> {
        let threads = self.local.conversations(number).await?;
        let is_meant = |thread: &tribunal_core::pull::talk::Thread| {
            thread.id == id || thread.comments.iter().any(|comment| comment.id == id)
        };
        let found = threads.iter().map(|(_, thread)| thread).find(|thread| is_meant(thread));
        found.and_then(|thread| thread.id.parse().ok()).ok_or_else(|| {
            Situation::new("unknown-thread", exit::USAGE, format!("#{number} has no thread `{id}`"))
                .help(format!("tribunal pr show {number} prints each thread with its id"))
        })
    }

    fn done(&self, what: &str) -> Result<(), Situation> {
        let line = tribunal_core::publish::visible::visible_line(what);
        if self.rehearses { out::say(&format!("Would be done: {line}")) } else { out::say(&line) }
    }
}

async fn existing_book(repository: &Repository) -> Result<Arc<dyn Book>, Situation> {
    Ok(match workspace::existing_ledger(&repository.tribunal_dir()).await? {
        Some(ledger) => Arc::new(LedgerBook(Arc::new(ledger))),
        None => Arc::new(Memory::default()),
    })
}

async fn in_thread(pull: &str, id: &str, dry: Dry, verb: &str, act: impl Fn(u64) -> Act) -> Result<(), Situation> {
    let desk = Desk::to_write(dry).await?;
    let number = desk.number(pull).await?;
    let thread = desk.thread(number, id).await?;
    desk.local.do_in(number, act(thread)).await?;
    desk.done(&format!("{verb} thread {thread} of #{number}"))
}

async fn check(pull: &str, status: &NewStatus, log: Option<&str>, dry: Dry) -> Result<(), Situation> {
    let desk = Desk::to_write(dry).await?;
    let number = desk.number(pull).await?;
    let head = desk.local.look_at(number).await?.head.sha;
    desk.local.put_status(&head, status, log).await?;
    desk.done(&format!("Check `{}` of #{number} at {}: {}", status.context, head.short(), words::check_word(status.state)))
}

fn check_state(state: CheckArg) -> CheckState {
    match state {
        CheckArg::Success => CheckState::Success,
        CheckArg::Failure => CheckState::Failure,
        CheckArg::Pending => CheckState::Pending,
        CheckArg::Error => CheckState::Error,
        CheckArg::Skipped => CheckState::Skipped,
    }
}
