//! Which pages have the words of a question, and how much that says: BM25 over title and text, each by itself.
//!
//! SQLite knows where words stand; the sum is made here. Its own `bm25()` gives a word that half of the pages have no weight at all,
//! which is most words of a small collection, and a score would not mean the same there as in a large one.

use super::stems::stems;
use rusqlite::{Connection, Statement};
use std::collections::BTreeMap;

/// How fast a word that is repeated stops to count, and how much a long text needs to have it more often. The usual values.
const SATURATION: f64 = 1.2;
const LENGTH: f64 = 0.75;
/// A word of the title says more than one of the text.
const TITLE: f64 = 1.5;
const TEXT: f64 = 1.0;

/// What a question finds in a collection.
pub struct Matches {
    /// By id.
    pages: Vec<Scored>,
    /// The words as they were asked for, each with its stem.
    asked: Vec<(String, String)>,
    postings: BTreeMap<String, Vec<Posting>>,
}

struct Scored {
    id: i64,
    title_length: f64,
    text_length: f64,
    score: f64,
}

/// How often a stem occurs in the page with this id.
#[derive(Default)]
struct Posting {
    id: i64,
    in_title: u32,
    in_text: u32,
}

impl Matches {
    pub fn of(connection: &Connection, words: &[String]) -> rusqlite::Result<Self> {
        let asked: Vec<(String, String)> = words.iter().cloned().zip(stems(words)).collect();
        let mut pages = lengths(connection)?;
        let mut postings = BTreeMap::new();
        // Bound as a value: nothing that somebody types is part of a query.
        let mut statement = connection.prepare("SELECT doc, col FROM postings WHERE term = ?1")?;
        for (_, stem) in &asked {
            if !postings.contains_key(stem) {
                postings.insert(stem.clone(), postings_of(&mut statement, stem)?);
            }
        }
        for list in postings.values() {
            add(&mut pages, list, TITLE, |posting| posting.in_title, |page| page.title_length);
            add(&mut pages, list, TEXT, |posting| posting.in_text, |page| page.text_length);
        }
        Ok(Self { pages, asked, postings })
    }

    /// How many pages the collection has.
    pub fn pages(&self) -> u64 {
        self.pages.len() as u64
    }

    /// Score and id of pages that have any of the words, best first.
    pub fn best(&self, limit: usize) -> Vec<(f64, i64)> {
        let mut best: Vec<(f64, i64)> =
            self.pages.iter().filter(|page| page.score > 0.0).map(|page| (page.score, page.id)).collect();
        best.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        best.truncate(limit);
        best
    }

    /// Which of the words stand in the page, in whatever form.
    pub fn shared(&self, id: i64) -> Vec<String> {
        let stands = |stem: &String| {
            self.postings.get(stem).is_some_and(|list| list.binary_search_by_key(&id, |posting| posting.id).is_ok())
        };
        self.asked.iter().filter(|(_, stem)| stands(stem)).map(|(word, _)| word.clone()).collect()
    }
}

fn lengths(connection: &Connection) -> rusqlite::Result<Vec<Scored>> {
    let mut statement = connection.prepare("SELECT id, title_length, text_length FROM pages")?;
    let mut pages = statement
        .query_map([], |row| Ok(Scored { id: row.get(0)?, title_length: row.get(1)?, text_length: row.get(2)?, score: 0.0 }))?
        .collect::<rusqlite::Result<Vec<_>>>()?;
    pages.sort_by_key(|page| page.id);
    Ok(pages)
}

/// SQLite gives one row for each place, page by page.
fn postings_of(statement: &mut Statement<'_>, stem: &str) -> rusqlite::Result<Vec<Posting>> {
    let mut list: Vec<Posting> = Vec::new();
    let mut rows = statement.query([stem])?;
    while let Some(row) = rows.next()? {
        let (id, is_title) = (row.get(0)?, row.get_ref(1)?.as_bytes()? == b"title");
        if list.last().is_none_or(|posting| posting.id != id) {
            list.push(Posting { id, ..Posting::default() });
        }
        if let Some(posting) = list.last_mut() {
            if is_title {
                posting.in_title += 1;
            } else {
                posting.in_text += 1;
            }
        }
    }
    Ok(list)
}

/// What one word adds by one field.
fn add(pages: &mut [Scored], list: &[Posting], boost: f64, times: impl Fn(&Posting) -> u32, length: impl Fn(&Scored) -> f64) {
    let having = list.iter().filter(|posting| times(posting) > 0).count() as f64;
    let all = pages.len() as f64;
    let mean = pages.iter().map(&length).sum::<f64>() / all;
    let weight = boost * (1.0 + SATURATION) * (1.0 + (all - having + 0.5) / (having + 0.5)).ln();
    for posting in list.iter().filter(|posting| times(posting) > 0) {
        if let Ok(at) = pages.binary_search_by_key(&posting.id, |page| page.id) {
            let (page, times) = (&mut pages[at], f64::from(times(posting)));
            let long = SATURATION * (1.0 - LENGTH + LENGTH * length(page) / mean);
            page.score += weight * times / (times + long);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(id: i64, text_length: f64) -> Scored {
        Scored { id, title_length: 0.0, text_length, score: 0.0 }
    }

    fn scores(lengths: &[f64], times: &[(i64, u32)]) -> Vec<f64> {
        let mut pages: Vec<Scored> = lengths.iter().zip(1..).map(|(length, id)| page(id, *length)).collect();
        let list: Vec<Posting> = times.iter().map(|(id, in_text)| Posting { id: *id, in_title: 0, in_text: *in_text }).collect();
        add(&mut pages, &list, TEXT, |posting| posting.in_text, |page| page.text_length);
        pages.iter().map(|page| page.score).collect()
    }

    /// By hand: a page of mean length that has the word once gets just the weight of the word.
    #[test]
    fn the_sum_is_that_of_bm25() {
        let got = scores(&[10.0, 10.0, 10.0, 10.0], &[(2, 1)]);
        assert!((got[1] - (1.0f64 + 3.5 / 1.5).ln()).abs() < 1e-12 && got[0] == 0.0, "{got:?}");
        let got = scores(&[5.0, 15.0], &[(1, 2), (2, 2)]);
        let weight = 2.2 * (1.0f64 + 0.5 / 2.5).ln();
        assert!((got[0] - weight * 2.0 / (2.0 + 1.2 * 0.625)).abs() < 1e-12, "{got:?}");
        assert!((got[1] - weight * 2.0 / (2.0 + 1.2 * 1.375)).abs() < 1e-12, "{got:?}");
    }

    #[test]
    fn a_word_that_all_have_still_counts_a_little() {
        let got = scores(&[10.0, 10.0], &[(1, 1), (2, 1)]);
        assert!(got.iter().all(|score| *score > 0.1), "{got:?}");
    }

    /// A posting whose page is gone is left out rather than trusted.
    #[test]
    fn a_posting_without_a_page_counts_for_nobody() {
        assert!(scores(&[10.0], &[(7, 3)]).iter().all(|score| *score == 0.0));
    }
}
