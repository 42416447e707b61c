//! Asks a collection. The list of its documents is not read for that: of a large repository it is most of what is kept.

use super::collection::{self, Collection, Placed};
use super::{Index, IndexError, Vectors, WORDS};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use tribunal_core::library::hint::Hit;
use tribunal_core::library::page::{Kind, Page};
use tribunal_core::library::question::Question;
use tribunal_core::library::score::{by_meaning, by_words, together};

/// The collection of one kind, to be asked.
pub struct Reader {
    pub(super) folder: PathBuf,
    pub(super) collection: Collection,
}

/// A page beside a question.
struct Found {
    page: Page,
    /// Those of the question that stand in it.
    words: Vec<String>,
    by_words: f64,
    by_meaning: f64,
}

impl Reader {
    /// As `Index::open`.
    pub fn open(folder: &Path, kind: Kind) -> Result<Self, IndexError> {
        match Self::open_existing(&folder.join(kind.plural()))? {
            Some(reader) => Ok(reader),
            None => Ok(Index::open(folder, kind)?.reader),
        }
    }

    pub(super) fn open_existing(folder: &Path) -> Result<Option<Self>, IndexError> {
        let collection = Collection::open(&folder.join(WORDS))?;
        Ok(collection.map(|collection| Self { folder: folder.to_owned(), collection }))
    }

    /// The vectors of a model; none where it has not made any.
    pub fn vectors(&self, model: &str) -> Vectors {
        Vectors::read(&self.folder, model)
    }

    /// Does every page have its vector, and every vector its page?
    pub fn has_all_vectors(&self, model: &str) -> Result<bool, IndexError> {
        Ok(Vectors::complete_at(&self.folder, model) == Some(self.collection.state()?))
    }

    /// Best first. `meaning` is the vector of the question's sentence, with the vectors it is compared with.
    pub fn search(&self, question: &Question, meaning: Option<(&[f32], &Vectors)>) -> Result<Vec<Hit>, IndexError> {
        let snapshot = self.collection.snapshot()?;
        let matches = snapshot.matches(&question.words)?;
        let wide = question.limit.saturating_mul(4).max(16);
        let mut found: BTreeMap<String, Found> = BTreeMap::new();
        let known = |Placed { page, id }: Placed| Found { page, words: matches.shared(id), by_words: 0.0, by_meaning: 0.0 };
        for (bm25, id) in matches.best(wide) {
            let Some(mut of_page) = snapshot.page(id)?.map(known) else { continue };
            of_page.by_words = by_words(bm25, matches.pages(), of_page.words.len(), question.words.len());
            found.insert(collection::hash(&of_page.page), of_page);
        }
        if let Some(near) = meaning.and_then(|(vector, vectors)| vectors.compare(vector)) {
            for hash in near.nearest(wide) {
                if !found.contains_key(&hash)
                    && let Some(placed) = snapshot.by_hash(&hash)?
                {
                    found.insert(hash, known(placed));
                }
            }
            for (hash, of_page) in &mut found {
                of_page.by_meaning = near.cosine(hash).map_or(0.0, |cosine| by_meaning(cosine, near.mean));
            }
        }
        let mut hits: Vec<Hit> = found
            .into_values()
            .map(|of| Hit { score: together(of.by_words, of.by_meaning), words: of.words, page: of.page })
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
