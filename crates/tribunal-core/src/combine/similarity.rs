//! How alike the words of two texts are: the cosine of their terms, from 0 to 1.
//!
//! A term that few of the texts hold says more than one that all hold. With few texts that cannot be counted, so every count starts
//! from what review comments usually hold. No model, no order: the same texts always give the same number.

use super::terms::{TermId, Terms};

/// Texts that are compared with each other.
pub struct Similarity {
    /// For each text the terms that another one holds as well, by number, with weights whose squares are at most 1 together.
    vectors: Vec<Vec<(usize, f64)>>,
    shared_terms: usize,
}

/// The usual share of a term counts as much as this many texts.
const USUAL_TEXTS: f64 = 20.0;
/// A term that is repeated says little more: its weight stays under this many times the first one's.
const REPEATED: f64 = 3.0;

impl Similarity {
    pub fn new(texts: &[&Terms]) -> Self {
        let count = texts.iter().map(|terms| terms.weights().len()).sum();
        let mut entries: Vec<(TermId, u32, f64)> = Vec::with_capacity(count);
        for (text, terms) in (0u32..).zip(texts) {
            entries.extend(terms.weights().iter().map(|(term, weight)| (*term, text, *weight)));
        }
        entries.sort_unstable_by_key(|entry| (entry.0, entry.1));
        let mut vectors: Vec<Vec<(usize, f64)>> = vec![Vec::new(); texts.len()];
        let mut squares = vec![0.0; texts.len()];
        let mut shared_terms = 0;
        for holders in entries.chunk_by(|a, b| a.0 == b.0) {
            let rarity = rarity(holders[0].0, holders.len(), texts.len());
            let is_shared = holders.len() > 1;
            for (_, text, weight) in holders {
                let weight = weight * REPEATED / (weight + REPEATED - 1.0) * rarity;
                squares[*text as usize] += weight * weight;
                if is_shared {
                    vectors[*text as usize].push((shared_terms, weight));
                }
            }
            shared_terms += usize::from(is_shared);
        }
        for (vector, square) in vectors.iter_mut().zip(squares) {
            let length = f64::sqrt(square);
            vector.iter_mut().for_each(|(_, weight)| *weight /= length);
        }
        Self { vectors, shared_terms }
    }

    /// One text with each of the others.
    pub fn with_each(&self, one: usize, others: &[usize]) -> Vec<f64> {
        let mut weights = vec![0.0; self.shared_terms];
        for (term, weight) in &self.vectors[one] {
            weights[*term] = *weight;
        }
        others.iter().map(|other| self.vectors[*other].iter().map(|(term, weight)| weights[*term] * weight).sum()).collect()
    }

    /// Two texts alone.
    pub fn of(one: &Terms, other: &Terms) -> f64 {
        Self::new(&[one, other]).with_each(0, &[1]).into_iter().sum()
    }
}

fn rarity(term: TermId, holders: usize, texts: usize) -> f64 {
    let usual = USUAL_TEXTS * term.usual_share();
    f64::ln((texts as f64 + USUAL_TEXTS + 1.0) / (holders as f64 + usual + 0.5)).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(one: &str, other: &str) -> f64 {
        Similarity::of(&Terms::of_prose(one), &Terms::of_prose(other))
    }

    #[test]
    fn the_same_defect_in_other_words_is_more_alike_than_another_one() {
        let race = "two threads may both find the map empty and create the lock twice";
        let same = "race: `lock` is created twice when two threads call get_lock() at once";
        let other = "the file stays open when parsing fails, so handles leak";
        assert!(of(race, same) > 0.2, "{}", of(race, same));
        assert!(of(race, other) < 0.05, "{}", of(race, other));
        assert!((of(race, race) - 1.0).abs() < 1e-9);
    }

    /// That two reviewers write `error` and `return` says little; that both name `parse_port` says much.
    #[test]
    fn rare_words_say_more_than_usual_ones() {
        let usual = of("the error is returned to a caller", "checks fail and an error value is returned");
        let rare = of("`parse_port` accepts zero", "zero passes parse_port");
        assert!(rare > 2.0 * usual, "{rare} {usual}");
    }

    #[test]
    fn nothing_is_like_an_empty_text() {
        assert_eq!(of("", "a text"), 0.0);
        assert_eq!(of("", ""), 0.0);
    }
}
