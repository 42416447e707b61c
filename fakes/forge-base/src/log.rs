//! What was asked and answered, in order of arrival.

use std::collections::BTreeMap;

#[derive(Debug, Clone)]
pub struct Entry {
    pub method: String,
    /// With the query.
    pub target: String,
    pub request_headers: BTreeMap<String, String>,
    pub request_body: Vec<u8>,
    /// Whose token it was.
    pub login: Option<String>,
    pub status: u16,
    pub answer_headers: BTreeMap<String, String>,
    pub answer_body: Vec<u8>,
    pub is_write: bool,
    /// Git over HTTP, whose bodies are not kept.
    pub is_git: bool,
    /// The fake does not know this route.
    pub unknown: bool,
}

impl Entry {
    pub fn path(&self) -> &str {
        self.target.split('?').next().unwrap_or_default()
    }
}

#[derive(Debug, Clone, Default)]
pub struct Log {
    pub entries: Vec<Entry>,
}

impl Log {
    /// Requests to the API, without git.
    pub fn reads(&self) -> usize {
        self.entries.iter().filter(|entry| !entry.is_git && !entry.is_write).count()
    }

    pub fn writes(&self) -> usize {
        self.entries.iter().filter(|entry| !entry.is_git && entry.is_write).count()
    }

    /// Those of a method whose path holds these words.
    pub fn matching(&self, method: &str, words: &str) -> Vec<&Entry> {
        self.entries.iter().filter(|entry| entry.method == method && entry.path().contains(words)).collect()
    }

    /// A line for each request, for a test that failed.
    pub fn story(&self) -> String {
        self.entries.iter().map(|entry| format!("{} {} {}\n", entry.status, entry.method, entry.target)).collect()
    }
}
