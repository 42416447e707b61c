//! What pages mean, as an embeddings endpoint sees it. A vector is kept with a byte for each number, which loses nothing that matters to
//! an order, and is found by the hash of its page: an unchanged page is never paid for twice.
//!
//! In memory they lie as in the file: who asks one question wants all of them once, and has no time to unpack them.

use super::manifest::replace;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use tribunal_core::findings::key::sha256_hex;

const MAGIC: &[u8; 8] = b"TRIBVEC2";
/// Bytes of a page's hash.
const HASH: usize = 32;
/// Bytes that say which state a collection is in.
const STATE: usize = 64;
const HEADER: usize = MAGIC.len() + STATE + 4;
/// The largest number of a question. A sum of 4,096 products with it stays inside 32 bits.
const FINE: f32 = 2047.0;
const RUN: usize = 4096;

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Vectors {
    model: String,
    dimensions: usize,
    /// One record after the other, by hash: the hash, a scale, a byte for each number.
    records: Vec<u8>,
}

struct Record<'a> {
    hash: &'a [u8],
    scale: f32,
    numbers: &'a [u8],
}

/// The vectors beside a question.
pub struct Near<'a> {
    vectors: &'a Vectors,
    cosines: Vec<f64>,
    pub mean: f64,
}

impl Vectors {
    fn file(folder: &Path, model: &str) -> PathBuf {
        folder.join(format!("vectors-{}.bin", &sha256_hex(model.as_bytes())[..16]))
    }

    /// The state of the collection in which every page had one.
    pub fn complete_at(folder: &Path, model: &str) -> Option<String> {
        Some(Self::opened(folder, model)?.0)
    }

    /// What cannot be read is as if it had not been made.
    pub fn read(folder: &Path, model: &str) -> Self {
        let read = || {
            let (_, dimensions, mut file) = Self::opened(folder, model)?;
            let mut records = Vec::with_capacity(usize::try_from(file.metadata().ok()?.len()).ok()?);
            file.read_to_end(&mut records).ok()?;
            let vectors = Vectors { model: model.to_owned(), dimensions, records };
            vectors.records.len().is_multiple_of(vectors.size()).then_some(vectors)
        };
        read().unwrap_or_else(|| Vectors { model: model.to_owned(), ..Vectors::default() })
    }

    /// What stands at the beginning of the file, and the file where its records begin.
    fn opened(folder: &Path, model: &str) -> Option<(String, usize, fs::File)> {
        let mut file = fs::File::open(Self::file(folder, model)).ok()?;
        let mut header = [0; HEADER];
        file.read_exact(&mut header).ok()?;
        let (state, dimensions) = header.strip_prefix(MAGIC)?.split_at(STATE);
        let dimensions = u32::from_le_bytes(*dimensions.first_chunk::<4>()?);
        Some((String::from_utf8(state.to_vec()).ok()?, usize::try_from(dimensions).ok()?, file))
    }

    pub fn write(&self, folder: &Path, complete_at: &str) -> io::Result<()> {
        let dimensions = u32::try_from(self.dimensions).unwrap_or(0);
        let state = format!("{complete_at:STATE$}");
        let bytes = [MAGIC.as_slice(), state.as_bytes(), &dimensions.to_le_bytes(), &self.records].concat();
        replace(&Self::file(folder, &self.model), &bytes)
    }

    fn size(&self) -> usize {
        HASH + 4 + self.dimensions
    }

    pub fn len(&self) -> usize {
        self.records.len() / self.size()
    }

    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    fn records(&self) -> impl Iterator<Item = Record<'_>> {
        self.records.chunks_exact(self.size()).map(|record| {
            let (hash, rest) = record.split_at(HASH);
            let (scale, numbers) = rest.split_at(4);
            let scale = scale.first_chunk::<4>().map_or(0.0, |scale| f32::from_le_bytes(*scale));
            Record { hash, scale, numbers }
        })
    }

    fn hash(&self, nth: usize) -> &[u8] {
        self.records.get(nth * self.size()..).and_then(|rest| rest.get(..HASH)).unwrap_or_default()
    }

    fn place(&self, hash: &str) -> Option<usize> {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low.midpoint(high);
            match self.hash(middle).cmp(hash.as_bytes()) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => return Some(middle),
            }
        }
        None
    }

    pub fn has(&self, hash: &str) -> bool {
        self.place(hash).is_some()
    }

    /// These and those that were made, as far as they belong to one of these pages. A model that answers with another number of
    /// dimensions is another model, whatever it is called: what it said before is dropped.
    pub fn with(&self, made: &BTreeMap<String, Vec<f32>>, pages: &BTreeSet<String>) -> Self {
        let dimensions = made.values().next().map_or(self.dimensions, Vec::len);
        let mut all: BTreeMap<&[u8], Vec<u8>> = BTreeMap::new();
        if dimensions == self.dimensions {
            let records = self.records().zip(self.records.chunks_exact(self.size()));
            all.extend(records.map(|(record, bytes)| (record.hash, bytes.to_vec())));
        }
        for (hash, vector) in made.iter().filter(|(hash, vector)| hash.len() == HASH && vector.len() == dimensions) {
            all.insert(hash.as_bytes(), packed(hash, vector));
        }
        let is_wanted = |hash: &[u8]| std::str::from_utf8(hash).is_ok_and(|hash| pages.contains(hash));
        let records = all.into_iter().filter(|(hash, _)| is_wanted(hash)).flat_map(|(_, record)| record).collect();
        Vectors { model: self.model.clone(), dimensions, records }
    }

    /// Nothing where the question has other dimensions, or no direction.
    pub fn compare(&self, vector: &[f32]) -> Option<Near<'_>> {
        let length = length(vector).filter(|_| vector.len() == self.dimensions && !self.is_empty())?;
        let largest = largest(vector);
        let question: Vec<i16> = vector.iter().map(|x| (x / largest * FINE).round() as i16).collect();
        let scale = largest / FINE / length;
        // Whole numbers, because a compiler may reorder their sum and do many at once.
        let dot = |numbers: &[u8]| -> i64 {
            let runs = numbers.chunks(RUN).zip(question.chunks(RUN));
            runs.map(|(a, b)| i64::from(a.iter().zip(b).map(|(a, b)| i32::from(*a as i8) * i32::from(*b)).sum::<i32>())).sum()
        };
        let cosines: Vec<f64> =
            self.records().map(|record| dot(record.numbers) as f64 * f64::from(record.scale) * f64::from(scale)).collect();
        let mean = cosines.iter().sum::<f64>() / cosines.len() as f64;
        Some(Near { vectors: self, cosines, mean })
    }
}

impl Near<'_> {
    pub fn cosine(&self, hash: &str) -> Option<f64> {
        self.cosines.get(self.vectors.place(hash)?).copied()
    }

    /// Hashes, nearest first.
    pub fn nearest(&self, many: usize) -> Vec<String> {
        let mut places: Vec<(f64, usize)> = self.cosines.iter().copied().zip(0..).collect();
        let order = |a: &(f64, usize), b: &(f64, usize)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
        if many < places.len() {
            places.select_nth_unstable_by(many, order);
            places.truncate(many);
        }
        places.sort_by(order);
        places.into_iter().map(|(_, nth)| String::from_utf8_lossy(self.vectors.hash(nth)).into_owned()).collect()
    }
}

fn length(vector: &[f32]) -> Option<f32> {
    Some(vector.iter().map(|x| x * x).sum::<f32>().sqrt()).filter(|length| length.is_finite() && *length > 0.0)
}

fn largest(vector: &[f32]) -> f32 {
    vector.iter().fold(0.0f32, |largest, x| largest.max(x.abs()))
}

/// A vector of length 1. One without a direction is like nothing, and is kept all the same: it was paid for.
fn packed(hash: &str, vector: &[f32]) -> Vec<u8> {
    let (scale, numbers): (f32, Vec<u8>) = match length(vector) {
        None => (0.0, vec![0; vector.len()]),
        Some(length) => {
            let largest = largest(vector);
            let byte = |x: &f32| ((x / largest * 127.0).round() as i8) as u8;
            (largest / 127.0 / length, vector.iter().map(byte).collect())
        }
    };
    [hash.as_bytes(), &scale.to_le_bytes(), &numbers].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(text: &str) -> String {
        sha256_hex(text.as_bytes())[..32].to_owned()
    }

    fn made(vectors: &[(&str, &[f32])]) -> BTreeMap<String, Vec<f32>> {
        vectors.iter().map(|(text, vector)| (hash(text), vector.to_vec())).collect()
    }

    fn pages(texts: &[&str]) -> BTreeSet<String> {
        texts.iter().map(|text| hash(text)).collect()
    }

    #[test]
    fn vectors_are_read_as_they_were_written() {
        let folder = tempfile::tempdir().unwrap();
        let three = made(&[("a", &[1.0, 0.0, 0.5]), ("b", &[0.0, 2.0, 0.0]), ("nowhere", &[0.0, 0.0, 0.0])]);
        let vectors = Vectors::read(folder.path(), "m").with(&three, &pages(&["a", "b", "nowhere"]));
        vectors.write(folder.path(), "").unwrap();
        let read = Vectors::read(folder.path(), "m");
        assert_eq!((read.len(), &read), (3, &vectors));
        let near = read.compare(&[2.0, 0.0, 1.0]).unwrap();
        assert_eq!(near.nearest(1), [hash("a")]);
        assert_eq!(near.nearest(9).len(), 3);
        assert!((near.cosine(&hash("a")).unwrap() - 1.0).abs() < 0.01 && (near.mean - 1.0 / 3.0).abs() < 0.01);
        assert!(near.cosine(&hash("nowhere")).unwrap().abs() < 0.01 && near.cosine(&hash("unknown")).is_none());
        assert!(Vectors::read(folder.path(), "other").is_empty());
    }

    /// Beside the exact cosines of some thousand numbers.
    #[test]
    fn small_numbers_keep_the_order() {
        let wave = |step: f32| -> Vec<f32> { (0..5000).map(|nth| (nth as f32 * step).sin()).collect() };
        let names: Vec<String> = (1..40).map(|nth| nth.to_string()).collect();
        let steps: Vec<f32> = (1..40).map(|nth| 0.01 + nth as f32 * 0.000_005).collect();
        let all: BTreeMap<String, Vec<f32>> = names.iter().zip(&steps).map(|(name, step)| (hash(name), wave(*step))).collect();
        let vectors = Vectors::default().with(&all, &all.keys().cloned().collect());
        let question = wave(0.01);
        let near = vectors.compare(&question).unwrap();
        for (hash, vector) in &all {
            let sum: f32 = vector.iter().zip(&question).map(|(a, b)| a * b).sum();
            let exact = f64::from(sum / length(vector).unwrap() / length(&question).unwrap());
            assert!((near.cosine(hash).unwrap() - exact).abs() < 0.005, "{exact}");
        }
        assert_eq!(near.nearest(3), [hash("1"), hash("2"), hash("3")]);
    }

    #[test]
    fn what_is_broken_is_as_none() {
        let folder = tempfile::tempdir().unwrap();
        for broken in [&b"TRIBVEC1\x02\0\0\0xyz"[..], b"TRIBVEC2", &[b"TRIBVEC2".as_slice(), &[7; 80]].concat()] {
            fs::write(Vectors::file(folder.path(), "m"), broken).unwrap();
            assert!(Vectors::read(folder.path(), "m").is_empty());
        }
        assert_eq!(Vectors::complete_at(folder.path(), "other"), None);
    }

    #[test]
    fn other_dimensions_are_another_model() {
        let both = pages(&["a", "b"]);
        let vectors = Vectors::default().with(&made(&[("a", &[1.0, 0.0])]), &both);
        assert_eq!(vectors.with(&made(&[("b", &[1.0, 1.0])]), &both).len(), 2);
        let others = vectors.with(&made(&[("b", &[1.0, 0.0, 0.0])]), &both);
        assert!(others.has(&hash("b")) && !others.has(&hash("a")));
        assert!(others.compare(&[1.0, 0.0]).is_none() && others.compare(&[0.0, 0.0, 0.0]).is_none());
    }

    #[test]
    fn vectors_of_pages_that_are_gone_go_too() {
        let vectors = Vectors::default().with(&made(&[("a", &[1.0, 0.0]), ("b", &[1.0, 1.0])]), &pages(&["a", "b"]));
        assert_eq!(vectors.with(&BTreeMap::new(), &pages(&["b"])).len(), 1);
    }
}
