//! A hybrid index on disk: words in the full-text index of SQLite, and meaning in vectors where an endpoint makes them.
//!
//! One collection for each kind of page, so that a word which is rare among decisions is not common because code is full of it. All of
//! it can be made again from the repository and the forge: what cannot be read is thrown away and rebuilt, never repaired.

mod collection;
mod database;
mod manifest;
mod ranking;
mod reader;
mod stems;
mod vectors;

pub use manifest::Entry;
pub use reader::Reader;
pub use vectors::Vectors;

use collection::{Collection, Placed};
use manifest::Manifest;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use tribunal_core::library::page::{Kind, Page};

const WORDS: &str = "words";
const LOCK: &str = "lock";

#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    #[error("the index cannot be read or written: {0}")]
    Io(#[from] std::io::Error),
    #[error("the index cannot be used: {0}")]
    Sqlite(rusqlite::Error),
    #[error("the index is damaged ({0}); it holds nothing that cannot be made again: `tribunal index --rebuild`")]
    Damaged(rusqlite::Error),
    #[error("the index is being written by another process")]
    Busy,
}

impl From<rusqlite::Error> for IndexError {
    fn from(error: rusqlite::Error) -> Self {
        match error {
            error if database::is_busy(&error) => Self::Busy,
            error if database::is_damaged(&error) => Self::Damaged(error),
            error => Self::Sqlite(error),
        }
    }
}

/// A document that is new or has changed, in pages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fresh {
    pub source: String,
    /// Changes when the document does: the id of a blob, or a moment.
    pub stamp: String,
    pub pages: Vec<Page>,
}

/// What a refresh did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Refreshed {
    pub documents: usize,
    pub pages: usize,
    pub added: usize,
    pub changed: usize,
    pub removed: usize,
}

/// The collection of one kind, to be written.
pub struct Index {
    pub reader: Reader,
    manifest: Manifest,
}

impl Index {
    /// Opens it, or makes an empty one where there is none or none that can be read.
    pub fn open(folder: &Path, kind: Kind) -> Result<Self, IndexError> {
        let folder = folder.join(kind.plural());
        fs::create_dir_all(&folder)?;
        if let Some(index) = Self::open_existing(&folder)? {
            return Ok(index);
        }
        // Two that come first at the same moment must not make it over each other.
        let _alone = alone(&folder)?;
        Self::open_or_create(&folder)
    }

    fn open_existing(folder: &Path) -> Result<Option<Self>, IndexError> {
        let Some(manifest) = Manifest::read(folder) else { return Ok(None) };
        Ok(Reader::open_existing(folder)?.map(|reader| Self { reader, manifest }))
    }

    fn open_or_create(folder: &Path) -> Result<Self, IndexError> {
        Self::open_existing(folder)?.map_or_else(|| Self::create(folder), Ok)
    }

    /// Throws away what is there, vectors too.
    pub fn rebuilt(folder: &Path, kind: Kind) -> Result<Self, IndexError> {
        let folder = folder.join(kind.plural());
        fs::create_dir_all(&folder)?;
        let _alone = alone(&folder)?;
        for entry in fs::read_dir(&folder)?.collect::<std::io::Result<Vec<_>>>()? {
            // Others wait for the lock; without its file they would not see who has it.
            if entry.file_name() != LOCK {
                gone(&entry.path())?;
            }
        }
        Self::create(&folder)
    }

    fn create(folder: &Path) -> Result<Self, IndexError> {
        let words = folder.join(WORDS);
        gone(&words)?;
        let collection = Collection::create(&words)?;
        let manifest = Manifest::default();
        manifest.write(folder)?;
        Ok(Self { reader: Reader { folder: folder.to_owned(), collection }, manifest })
    }

    /// Source to stamp: what is in it.
    pub fn sources(&self) -> &BTreeMap<String, Entry> {
        &self.manifest.sources
    }

    /// Replaces documents and takes others out. The list is written after the pages: killed in between, the same is done again.
    pub fn refresh(&mut self, fresh: Vec<Fresh>, gone: &[String]) -> Result<Refreshed, IndexError> {
        let folder = self.reader.folder.clone();
        // Pages and list belong together, and another process may have written or rebuilt both in the meantime.
        let _alone = alone(&folder)?;
        *self = Self::open_or_create(&folder)?;
        let added = fresh.iter().filter(|document| !self.manifest.sources.contains_key(&document.source)).count();
        let changed = fresh.len() - added;
        let removed = gone.iter().filter(|source| self.manifest.sources.contains_key(*source)).count();
        if !fresh.is_empty() || removed > 0 {
            let replaced: Vec<&str> =
                fresh.iter().map(|document| document.source.as_str()).chain(gone.iter().map(String::as_str)).collect();
            self.reader.collection.replace(&replaced, fresh.iter().flat_map(|document| &document.pages))?;
            for source in gone {
                self.manifest.sources.remove(source);
            }
            for document in fresh {
                let pages = document.pages.iter().map(collection::hash).collect();
                self.manifest.sources.insert(document.source, Entry { stamp: document.stamp, pages });
            }
            self.manifest.write(&folder)?;
        }
        Ok(Refreshed { documents: self.manifest.sources.len(), pages: self.manifest.pages(), added, changed, removed })
    }

    /// Those that were made now beside those that are there; those of pages that are gone are let go.
    pub fn keep_vectors(&self, model: &str, made: &BTreeMap<String, Vec<f32>>) -> Result<(), IndexError> {
        let folder = &self.reader.folder;
        // What another process has put in or paid for meanwhile counts as well.
        let _alone = alone(folder)?;
        let now = Self::open_or_create(folder)?;
        let pages = now.manifest.hashes();
        let vectors = now.reader.vectors(model).with(made, &pages);
        let is_complete = pages.iter().all(|hash| vectors.has(hash));
        let complete_at = if is_complete { now.reader.collection.state()? } else { String::new() };
        Ok(vectors.write(folder, &complete_at)?)
    }

    /// Pages that have no vector yet: hash and text.
    pub fn without_vector(&self, vectors: &Vectors) -> Result<Vec<(String, String)>, IndexError> {
        let missing: Vec<String> = self.manifest.hashes().into_iter().filter(|hash| !vectors.has(hash)).collect();
        let snapshot = self.reader.collection.snapshot()?;
        let mut texts = Vec::new();
        for hash in missing {
            if let Some(Placed { page, .. }) = snapshot.by_hash(&hash)? {
                texts.push((hash, format!("{}\n{}\n{}", page.title, page.section, page.text)));
            }
        }
        Ok(texts)
    }
}

/// Held until it is dropped; the system lets go of it when a process dies.
fn alone(folder: &Path) -> std::io::Result<fs::File> {
    let file = fs::File::create(folder.join(LOCK))?;
    file.lock()?;
    Ok(file)
}

/// One that is not there is gone already.
fn gone(path: &Path) -> std::io::Result<()> {
    let removed = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    match removed {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests;
