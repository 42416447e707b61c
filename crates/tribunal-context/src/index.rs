//! A hybrid index on disk: words in an inverted index, and meaning in vectors where an endpoint makes them.
//!
//! One collection for each kind of page, so that a word which is rare among decisions is not common because code is full of it. All of
//! it can be made again from the repository and the forge: what cannot be read is thrown away and rebuilt, never repaired.

mod collection;
mod manifest;
mod vectors;

pub use manifest::Entry;
pub use vectors::Vectors;

use collection::Collection;
use manifest::Manifest;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use tribunal_core::library::hint::Hit;
use tribunal_core::library::page::{Kind, Page};
use tribunal_core::library::question::Question;
use tribunal_core::library::score::{by_meaning, by_words, together};

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

/// The collection of one kind.
pub struct Index {
    folder: PathBuf,
    collection: Collection,
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
        let (manifest, collection) = (Manifest::read(folder)?, Collection::open(&folder.join("words")).ok()?);
        Some(Self { folder: folder.to_owned(), collection, manifest })
    }

    /// Throws away what is there, vectors too.
    pub fn rebuilt(folder: &Path, kind: Kind) -> Result<Self, IndexError> {
        let folder = folder.join(kind.plural());
        gone(&folder)?;
        Self::anew(folder)
    }

    fn anew(folder: PathBuf) -> Result<Self, IndexError> {
        let words = folder.join("words");
        gone(&words)?;
        fs::create_dir_all(&words)?;
        let collection = Collection::create(&words)?;
        let manifest = Manifest::default();
        manifest.write(&folder)?;
        Ok(Self { folder, collection, manifest })
    }

    /// Source to stamp: what is in it.
    pub fn sources(&self) -> &BTreeMap<String, Entry> {
        &self.manifest.sources
    }

    pub fn pages(&self) -> usize {
        self.manifest.pages()
    }

    /// Replaces documents and takes others out. The list is written after the pages: killed in between, the same is done again.
    pub fn refresh(&mut self, fresh: Vec<Fresh>, gone: &[String]) -> Result<Refreshed, IndexError> {
        // Pages and list belong together: another process may have written both since this one looked.
        let _alone = alone(&self.folder)?;
        self.manifest = Manifest::read(&self.folder).unwrap_or_default();
        let added = fresh.iter().filter(|document| !self.manifest.sources.contains_key(&document.source)).count();
        let changed = fresh.len() - added;
        let removed = gone.iter().filter(|source| self.manifest.sources.contains_key(*source)).count();
        if !fresh.is_empty() || removed > 0 {
            let replaced: Vec<&str> =
                fresh.iter().map(|document| document.source.as_str()).chain(gone.iter().map(String::as_str)).collect();
            self.collection.replace(&replaced, fresh.iter().flat_map(|document| &document.pages))?;
            for source in gone {
                self.manifest.sources.remove(source);
            }
            for document in fresh {
                let pages = document.pages.iter().map(collection::hash).collect();
                self.manifest.sources.insert(document.source, Entry { stamp: document.stamp, pages });
            }
            self.manifest.write(&self.folder)?;
        }
        Ok(Refreshed { documents: self.manifest.sources.len(), pages: self.pages(), added, changed, removed })
    }

    /// The vectors of a model; none where it has not made any.
    pub fn vectors(&self, model: &str) -> Vectors {
        Vectors::read(&self.folder, model)
    }

    pub fn keep_vectors(&self, mut vectors: Vectors) -> Result<(), IndexError> {
        vectors.retain(&self.manifest.hashes());
        Ok(vectors.write(&self.folder)?)
    }

    /// Pages that have no vector yet: hash and text.
    pub fn without_vector(&self, vectors: &Vectors) -> Result<Vec<(String, String)>, IndexError> {
        let missing: Vec<String> = self.manifest.hashes().into_iter().filter(|hash| !vectors.has(hash)).collect();
        let pages = self.collection.by_hash(&missing)?;
        Ok(pages.into_iter().map(|(hash, page)| (hash, format!("{}\n{}\n{}", page.title, page.section, page.text))).collect())
    }

    /// Best first. `meaning` is the vector of the question's sentence, with the vectors it is compared with.
    pub fn search(&self, question: &Question, meaning: Option<(&[f32], &Vectors)>) -> Result<Vec<Hit>, IndexError> {
        let pages = self.pages() as u64;
        let wide = question.limit.saturating_mul(4).max(16);
        let mut scores: BTreeMap<String, (Page, f64, f64)> = BTreeMap::new();
        for (bm25, page) in self.collection.search(&question.words, wide)? {
            let shared = self.collection.shared(&question.words, &page).len();
            scores.insert(collection::hash(&page), (page, by_words(f64::from(bm25), pages, shared, question.words.len()), 0.0));
        }
        if let Some((vector, vectors)) = meaning {
            let (mean, cosines) = vectors.compare(vector);
            let nearest: Vec<String> = cosines.iter().take(wide).map(|(_, hash)| hash.clone()).collect();
            for (hash, page) in self.collection.by_hash(&nearest)? {
                scores.entry(hash).or_insert((page, 0.0, 0.0));
            }
            for (cosine, hash) in cosines {
                if let Some(score) = scores.get_mut(&hash) {
                    score.2 = by_meaning(cosine, mean);
                }
            }
        }
        let mut hits: Vec<Hit> = scores
            .into_values()
            .map(|(page, words, meaning)| Hit {
                score: together(words, meaning),
                words: self.collection.shared(&question.words, &page),
                page,
            })
            .filter(|hit| hit.score >= question.min_score)
            .collect();
        hits.sort_by(|a, b| {
            b.score.total_cmp(&a.score).then_with(|| (&a.page.source, a.page.line).cmp(&(&b.page.source, b.page.line)))
        });
        // Of a document its best page says enough.
        let mut seen = BTreeSet::new();
        hits.retain(|hit| seen.insert(hit.page.source.clone()));
        hits.truncate(question.limit);
        Ok(hits)
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
