//! A list of which nothing is missing, as far as its forge counts.
//!
//! An answer with fewer items than there are is a failed read and not a short list: what stands in the rest would count as not said,
//! and be said again. So a list that has a count becomes a list only by matching it.

use crate::port::Answered;
use tribunal_core::pull::fault::ForgeFault;

#[derive(Debug)]
pub struct Whole<T>(Vec<T>);

impl<T> Whole<T> {
    /// Checked against the forge's own count. More than that were added while the list was read. Without a count nothing is known.
    pub fn counted(host: &str, what: &str, items: Vec<T>, count: Option<usize>) -> Answered<Whole<T>> {
        match count {
            Some(count) if items.len() >= count => Ok(Whole(items)),
            Some(count) => Err(hollow(host, format!("{what}: {} of {count}", items.len()))),
            None => Err(hollow(host, format!("{what}: a list without a count"))),
        }
    }

    /// Checked against what another answer names. For a list whose count includes items that are not shown to us.
    pub fn naming<I: PartialEq + std::fmt::Display>(
        host: &str,
        what: &str,
        items: Vec<T>,
        named: impl IntoIterator<Item = I>,
        name: impl Fn(&T) -> I,
    ) -> Answered<Whole<T>> {
        match named.into_iter().find(|id| !items.iter().any(|item| name(item) == *id)) {
            None => Ok(Whole(items)),
            Some(missing) => Err(hollow(host, format!("{what}: number {missing} is missing"))),
        }
    }

    pub fn into_items(self) -> Vec<T> {
        self.0
    }
}

fn hollow(host: &str, message: String) -> ForgeFault {
    ForgeFault::Hollow { host: host.to_owned(), message }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_list_that_matches_its_count_is_whole() {
        for length in 0..4_usize {
            for count in (0..5).map(Some).chain([None]) {
                let whole = Whole::counted("h", "it", vec![(); length], count);
                assert_eq!(whole.is_ok(), count.is_some_and(|count| length >= count), "{length} {count:?}");
            }
        }
    }

    #[test]
    fn what_is_named_elsewhere_must_be_there() {
        let whole = |named: &[u8]| Whole::naming("h", "it", vec![1, 2], named.iter().copied(), |item| *item);
        assert_eq!(whole(&[2]).unwrap().into_items(), [1, 2]);
        assert!(matches!(whole(&[2, 3]), Err(ForgeFault::Hollow { message, .. }) if message.ends_with("number 3 is missing")));
    }
}
