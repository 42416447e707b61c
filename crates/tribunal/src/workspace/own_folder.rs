//! Our folder in a git directory, and the ledger in it. What was not made by this account is set aside, with a word to the person.

use super::Person;
use crate::situation::{Situation, exit};
use crate::terminal::out;
use std::path::Path;
use std::sync::Arc;
use tribunal_forge::git::Repository;
use tribunal_store::folder::{FolderError, OwnFolder, SetAside};
use tribunal_store::{Ledger, StoreError};

/// Looks at the folder of a repository before anything in it is read: a link is refused, a foreign folder is set aside.
pub fn check(repository: &Repository) -> Result<(), Situation> {
    let folder = repository.tribunal_dir();
    let state = Person::here().state;
    if OwnFolder::existing(&folder, &state)?.is_some() || !folder.exists() {
        return Ok(());
    }
    match OwnFolder::open(&folder, &state) {
        Ok((_, aside)) => {
            aside.iter().for_each(say);
            Ok(())
        }
        Err(link @ FolderError::Link(_)) => Err(link.into()),
        // Who only looks need not be able to write; nothing in a foreign folder is read then.
        Err(_) => Ok(()),
    }
}

/// The folder, made if it is not there.
pub fn make(folder: &Path) -> Result<OwnFolder, Situation> {
    let (own, aside) = OwnFolder::open(folder, &Person::here().state)?;
    aside.iter().for_each(say);
    Ok(own)
}

pub async fn open_ledger(folder: &Path) -> Result<Arc<Ledger>, Situation> {
    let own = make(folder)?;
    match Ledger::open(&own.ledger(), own.key()).await {
        Err(StoreError::NotOurs { .. }) => {
            say(&own.set_aside()?);
            let own = make(folder)?;
            Ok(Arc::new(Ledger::open(&own.ledger(), own.key()).await?))
        }
        opened => Ok(Arc::new(opened?)),
    }
}

/// The ledger for a command that only looks; nothing if there is none, or none of ours.
pub async fn existing_ledger(folder: &Path) -> Result<Option<Ledger>, Situation> {
    let Some(own) = OwnFolder::existing(folder, &Person::here().state)? else { return Ok(None) };
    match Ledger::open_existing(&own.ledger(), own.key()).await {
        Err(StoreError::NotOurs { .. }) => {
            // Where nothing can be written it stays, and is not read.
            own.set_aside().iter().for_each(say);
            Ok(None)
        }
        opened => Ok(opened?),
    }
}

fn say(aside: &SetAside) {
    out::note(&format!(
        "{} does not carry the seal of this account: it was made by another account or machine, by an earlier version, or was edited. \
         Nothing in it is used; it was moved to {}.",
        aside.from.display(),
        aside.to.display()
    ));
}

impl From<FolderError> for Situation {
    fn from(error: FolderError) -> Self {
        let text = error.to_string();
        match error {
            FolderError::Link(path) => Situation::new("linked-folder", exit::USAGE, text)
                .help(format!("look where it leads; if it is not yours, remove it: rm {}", path.display())),
            FolderError::Io { .. } => Situation::new("no-ledger", exit::INCOMPLETE, text)
                .help("the git directory must be writable: the ledger lives in <git dir>/tribunal/"),
            FolderError::NoKey { .. } => Situation::new("no-ledger", exit::INCOMPLETE, text)
                .help("set HOME, or XDG_STATE_HOME to a folder that you can write: the key that seals the ledger lives there"),
        }
    }
}
