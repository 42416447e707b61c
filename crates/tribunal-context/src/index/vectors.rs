//! What pages mean, as an embeddings endpoint sees it. A vector is kept with a byte for each number, which loses nothing that matters to
//! an order, and is found by the hash of its page: an unchanged page is never paid for twice.

use super::manifest::replace;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use tribunal_core::findings::key::sha256_hex;

const MAGIC: &[u8; 8] = b"TRIBVEC1";

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Vectors {
    model: String,
    dimensions: usize,
    entries: BTreeMap<String, Small>,
}

/// A vector of length 1, a byte for each number.
#[derive(Debug, Clone, PartialEq)]
struct Small {
    scale: f32,
    numbers: Vec<i8>,
}

impl Small {
    fn of(vector: &[f32]) -> Option<Self> {
        let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
        let largest = vector.iter().fold(0.0f32, |largest, x| largest.max(x.abs()));
        if !length.is_finite() || length == 0.0 {
            return None;
        }
        let numbers = vector.iter().map(|x| (x / largest * 127.0).round() as i8).collect();
        Some(Small { scale: largest / 127.0 / length, numbers })
    }

    /// `unit` has length 1.
    fn cosine(&self, unit: &[f32]) -> f64 {
        let sum: f32 = self.numbers.iter().zip(unit).map(|(a, b)| f32::from(*a) * b).sum();
        f64::from(sum * self.scale)
    }
}

impl Vectors {
    fn file(folder: &Path, model: &str) -> PathBuf {
        folder.join(format!("vectors-{}.bin", &sha256_hex(model.as_bytes())[..16]))
    }

    /// What cannot be read is as if it had not been made.
    pub fn read(folder: &Path, model: &str) -> Self {
        let empty = || Vectors { model: model.to_owned(), ..Vectors::default() };
        fs::read(Self::file(folder, model)).ok().and_then(|bytes| Self::parse(model, &bytes)).unwrap_or_else(empty)
    }

    fn parse(model: &str, bytes: &[u8]) -> Option<Self> {
        let rest = bytes.strip_prefix(MAGIC)?;
        let (dimensions, rest) = rest.split_first_chunk::<4>()?;
        let dimensions = usize::try_from(u32::from_le_bytes(*dimensions)).ok()?;
        let size = 32 + 4 + dimensions;
        if !rest.len().is_multiple_of(size) {
            return None;
        }
        let entry = |record: &[u8]| {
            let (hash, record) = record.split_first_chunk::<32>()?;
            let (scale, numbers) = record.split_first_chunk::<4>()?;
            let numbers = numbers.iter().map(|byte| i8::from_le_bytes([*byte])).collect();
            Some((String::from_utf8(hash.to_vec()).ok()?, Small { scale: f32::from_le_bytes(*scale), numbers }))
        };
        let entries = rest.chunks_exact(size).map(entry).collect::<Option<BTreeMap<_, _>>>()?;
        Some(Vectors { model: model.to_owned(), dimensions, entries })
    }

    pub fn write(&self, folder: &Path) -> io::Result<()> {
        let dimensions = u32::try_from(self.dimensions).unwrap_or(0);
        let mut bytes = [MAGIC.as_slice(), &dimensions.to_le_bytes()].concat();
        for (hash, small) in &self.entries {
            bytes.extend_from_slice(hash.as_bytes());
            bytes.extend_from_slice(&small.scale.to_le_bytes());
            bytes.extend(small.numbers.iter().map(|number| number.to_le_bytes()[0]));
        }
        replace(&Self::file(folder, &self.model), &bytes)
    }

    pub fn has(&self, hash: &str) -> bool {
        self.entries.contains_key(hash)
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// A model that answers with another number of dimensions is another model, whatever it is called: what it said before is dropped.
    pub fn put(&mut self, hash: &str, vector: &[f32]) {
        if vector.len() != self.dimensions {
            self.entries.clear();
            self.dimensions = vector.len();
        }
        if let Some(small) = Small::of(vector).filter(|_| hash.len() == 32) {
            self.entries.insert(hash.to_owned(), small);
        }
    }

    pub fn retain(&mut self, hashes: &BTreeSet<String>) {
        self.entries.retain(|hash, _| hashes.contains(hash));
    }

    /// The mean cosine, and all of them, nearest first. Nothing where the question has other dimensions.
    pub fn compare(&self, vector: &[f32]) -> (f64, Vec<(f64, String)>) {
        let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
        if vector.len() != self.dimensions || length == 0.0 || !length.is_finite() || self.entries.is_empty() {
            return (0.0, Vec::new());
        }
        let unit: Vec<f32> = vector.iter().map(|x| x / length).collect();
        let mut cosines: Vec<(f64, String)> =
            self.entries.iter().map(|(hash, small)| (small.cosine(&unit), hash.clone())).collect();
        let mean = cosines.iter().map(|(cosine, _)| cosine).sum::<f64>() / cosines.len() as f64;
        cosines.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        (mean, cosines)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(text: &str) -> String {
        sha256_hex(text.as_bytes())[..32].to_owned()
    }

    #[test]
    fn vectors_are_read_as_they_were_written() {
        let folder = tempfile::tempdir().unwrap();
        let mut vectors = Vectors::read(folder.path(), "m");
        vectors.put(&hash("a"), &[1.0, 0.0, 0.5]);
        vectors.put(&hash("b"), &[0.0, 2.0, 0.0]);
        vectors.put(&hash("zero"), &[0.0, 0.0, 0.0]);
        vectors.write(folder.path()).unwrap();
        let read = Vectors::read(folder.path(), "m");
        assert_eq!((read.len(), &read), (2, &vectors));
        let (mean, cosines) = read.compare(&[2.0, 0.0, 1.0]);
        assert_eq!(cosines[0].1, hash("a"));
        assert!((cosines[0].0 - 1.0).abs() < 0.01 && (mean - 0.5).abs() < 0.01);
        assert!(Vectors::read(folder.path(), "other").is_empty());
    }

    #[test]
    fn what_is_broken_is_as_none() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(Vectors::file(folder.path(), "m"), b"TRIBVEC1\x02\0\0\0xyz").unwrap();
        assert!(Vectors::read(folder.path(), "m").is_empty());
        let mut vectors = Vectors::read(folder.path(), "m");
        vectors.put(&hash("a"), &[1.0, 0.0]);
        vectors.put(&hash("b"), &[1.0, 0.0, 0.0]);
        assert_eq!(vectors.len(), 1);
        assert_eq!(vectors.compare(&[1.0, 0.0]), (0.0, Vec::new()));
    }
}
