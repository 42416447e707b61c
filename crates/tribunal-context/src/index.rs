//! A hybrid index on disk: words in an inverted index, and meaning in vectors where an endpoint makes them.
//!
//! One collection for each kind of page, so that a word which is rare among decisions is not common because code is full of it. All of
//! it can be made again from the repository and the forge: what cannot be read is thrown away and rebuilt, never repaired.

mod collection;
mod manifest;
mod reader;
mod vectors;

pub use manifest::Entry;
pub use reader::Reader;
pub use vectors::Vectors;

use collection::Collection;
use manifest::Manifest;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use tribunal_core::library::page::{Kind, Page};

const WORDS: &str = "words";

#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    #[error("the index cannot be read or written: {0}")]
    Io(#[from] std::io::Error),
    #[error("the index cannot be used: {0}")]
    Tantivy(#[from] tantivy::TantivyError),
    #[error("the index is being written by another process")]
    Busy,
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
        if let Some(index) = Self::as_it_is(&folder) {
            return Ok(index);
        }
        // Two that come first at the same moment must not make it over each other.
        let _alone = alone(&folder)?;
        Self::as_it_is(&folder).map_or_else(|| Self::anew(folder), Ok)
    }

    fn as_it_is(folder: &Path) -> Option<Self> {
        Some(Self { manifest: Manifest::read(folder)?, reader: Reader::as_it_is(folder)? })
    }

    /// Throws away what is there, vectors too.
    pub fn rebuilt(folder: &Path, kind: Kind) -> Result<Self, IndexError> {
        let folder = folder.join(kind.plural());
        gone(&folder)?;
        Self::anew(folder)
    }

    fn anew(folder: PathBuf) -> Result<Self, IndexError> {
        let words = folder.join(WORDS);
        gone(&words)?;
        fs::create_dir_all(&words)?;
        let collection = Collection::create(&words)?;
        let manifest = Manifest::default();
        manifest.write(&folder)?;
        Ok(Self { reader: Reader { folder, collection }, manifest })
    }

    /// Source to stamp: what is in it.
    pub fn sources(&self) -> &BTreeMap<String, Entry> {
        &self.manifest.sources
    }

    /// Replaces documents and takes others out. The list is written after the pages: killed in between, the same is done again.
    pub fn refresh(&mut self, fresh: Vec<Fresh>, gone: &[String]) -> Result<Refreshed, IndexError> {
        let Reader { folder, collection } = &self.reader;
        // Pages and list belong together: another process may have written both since this one looked.
        let _alone = alone(folder)?;
        self.manifest = Manifest::read(folder).unwrap_or_default();
        let added = fresh.iter().filter(|document| !self.manifest.sources.contains_key(&document.source)).count();
        let changed = fresh.len() - added;
        let removed = gone.iter().filter(|source| self.manifest.sources.contains_key(*source)).count();
        if !fresh.is_empty() || removed > 0 {
            let replaced: Vec<&str> =
                fresh.iter().map(|document| document.source.as_str()).chain(gone.iter().map(String::as_str)).collect();
            collection.replace(&replaced, fresh.iter().flat_map(|document| &document.pages))?;
            for source in gone {
                self.manifest.sources.remove(source);
            }
            for document in fresh {
                let pages = document.pages.iter().map(collection::hash).collect();
                self.manifest.sources.insert(document.source, Entry { stamp: document.stamp, pages });
            }
            self.manifest.write(folder)?;
        }
        Ok(Refreshed { documents: self.manifest.sources.len(), pages: self.manifest.pages(), added, changed, removed })
    }

    /// Those that were made now beside those that are there; those of pages that are gone are let go.
    pub fn keep_vectors(&self, model: &str, made: &BTreeMap<String, Vec<f32>>) -> Result<(), IndexError> {
        let Reader { folder, collection } = &self.reader;
        // What another process has put in or paid for meanwhile counts as well.
        let _alone = alone(folder)?;
        let pages = Manifest::read(folder).unwrap_or_default().hashes();
        let vectors = self.reader.vectors(model).with(made, &pages);
        let complete_at = if pages.iter().all(|hash| vectors.has(hash)) { collection.state()? } else { String::new() };
        Ok(vectors.write(folder, &complete_at)?)
    }

    /// Pages that have no vector yet: hash and text.
    pub fn without_vector(&self, vectors: &Vectors) -> Result<Vec<(String, String)>, IndexError> {
        let missing: Vec<String> = self.manifest.hashes().into_iter().filter(|hash| !vectors.has(hash)).collect();
        let pages = self.reader.collection.by_hash(&self.reader.collection.searcher()?, &missing)?;
        let text = |page: &Page| format!("{}\n{}\n{}", page.title, page.section, page.text);
        Ok(pages.into_iter().map(|(hash, placed)| (hash, text(&placed.page))).collect())
    }
}

/// Held until it is dropped; the system lets go of it when a process dies.
fn alone(folder: &Path) -> std::io::Result<fs::File> {
    let file = fs::File::create(folder.join("lock"))?;
    file.lock()?;
    Ok(file)
}

/// One that is not there is gone already.
fn gone(folder: &Path) -> std::io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests;
