//! How well a page answers a question: one number from 0 to 1 that means the same in a small collection and in a large one.

/// The largest weight that a word can have among so many pages: that of a word which stands in one of them.
fn rarest(pages: u64) -> f64 {
    let pages = pages.max(1) as f64;
    (1.0 + (pages - 0.5) / 1.5).ln()
}

/// From a sum of BM25, and from how many of the words asked for are there. A page that shares two words with the question which hardly
/// any other page has comes to about 0.6; one such word, or several that many pages have, stays around 0.4. A page that has every word
/// is an answer, however common they are: in a small collection every word is.
pub fn by_words(bm25: f64, pages: u64, shared: usize, asked: usize) -> f64 {
    if bm25 <= 0.0 || asked == 0 {
        return 0.0;
    }
    let rare = bm25 / (bm25 + 2.0 * rarest(pages));
    let whole = (shared.min(asked) as f64 / asked as f64).powi(2) / 2.0;
    1.0 - (1.0 - rare) * (1.0 - whole)
}

/// From a cosine. Every model has its own idea of how alike two unrelated texts are; the mean over all pages is that.
pub fn by_meaning(cosine: f64, mean: f64) -> f64 {
    let mean = mean.clamp(0.0, 0.99);
    ((cosine - mean) / (1.0 - mean)).clamp(0.0, 1.0)
}

/// Both together: what the words say counts in full, what the meaning says for half (SL-88: the first has double weight). Either can
/// only add.
pub fn together(words: f64, meaning: f64) -> f64 {
    1.0 - (1.0 - words.clamp(0.0, 1.0)) * (1.0 - meaning.clamp(0.0, 1.0) / 2.0)
}

/// As it is shown.
pub fn rounded(score: f64) -> f64 {
    (score * 100.0).round() / 100.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// SL-88: the first counts twice as much as the second.
    #[test]
    fn words_weigh_twice_as_much() {
        assert_eq!(together(0.4, 0.0), 0.4);
        assert!((together(0.0, 0.4) - 0.2).abs() < 1e-9);
        assert!(together(0.4, 0.8) > together(0.4, 0.0));
    }

    #[test]
    fn a_rare_word_means_the_same_in_any_collection() {
        for pages in [3, 30, 300, 30_000] {
            let one = by_words(1.4 * rarest(pages), pages, 1, 12);
            assert!((0.38..0.45).contains(&one), "{pages}: {one}");
            assert!(by_words(2.8 * rarest(pages), pages, 2, 12) > 0.55);
        }
    }

    #[test]
    fn a_page_with_every_word_is_an_answer() {
        assert!(by_words(0.3, 2, 2, 2) > 0.5 && by_words(0.3, 2, 1, 8) < 0.3);
        assert_eq!(by_words(3.0, 2, 0, 0), 0.0);
    }

    #[test]
    fn likeness_that_all_have_is_none() {
        assert_eq!(by_meaning(0.7, 0.7), 0.0);
        assert_eq!(by_meaning(0.5, 0.7), 0.0);
        assert!((by_meaning(0.85, 0.7) - 0.5).abs() < 1e-9);
    }

    proptest! {
        #[test]
        fn scores_stay_between_0_and_1(bm25 in -1.0f64..500.0, pages in 0u64..100_000, cosine in -1.0f64..1.0, mean in -1.0f64..1.0) {
            let (words, meaning) = (by_words(bm25, pages, 3, 7), by_meaning(cosine, mean));
            let both = together(words, meaning);
            prop_assert!((0.0..=1.0).contains(&both) && both >= words - 1e-9);
        }
    }
}
