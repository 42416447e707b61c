//! What the sticky carries for the next review, so that it can go on where no ledger is: on another machine, in a fresh CI job, after
//! a lost disk (CF-8). Compressed, hidden, and proved by the hash in the sticky's sealed mark.

use super::marker::Seal;
use super::outgoing::{HiddenLine, masked_texts};
use super::threads::OwnThread;
use crate::combine::finding::Finding;
use crate::combine::identity::IdBook;
use crate::findings::key::sha256_hex;
use crate::ids::{FindingId, FindingKey};
use crate::report::document::Document;
use crate::report::history::PastReview;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

pub(super) const OPENING: &str = "<!-- tribunal:memory ";
const CLOSING: &str = " -->";
/// Nothing that we wrote unpacks to more.
const MAX_UNPACKED: usize = 16 * 1024 * 1024;

/// Files that were not read in full, as far as a summary names them.
const MAX_ACCOUNTS: usize = 100;

/// The last review, as far as the next one needs it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Memory {
    pub document: Document,
    pub names: BTreeMap<FindingKey, FindingId>,
    pub iteration: u32,
    pub history: Vec<PastReview>,
    /// Findings that should stand on a line and were never posted on one.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub unplaced: BTreeSet<FindingId>,
}

impl Memory {
    /// Findings that were posted on their lines. A list of threads that lacks them is out of date, or somebody deleted them; either
    /// way they are not posted again.
    pub fn posted(&self) -> BTreeSet<FindingId> {
        let findings = self.document.findings.iter().filter(|finding| finding.inline && finding.dismissed.is_none());
        findings.map(|finding| finding.id).filter(|id| !self.unplaced.contains(id)).collect()
    }

    /// Do our own sealed comments know more than this review does? Whoever may edit comments can put an earlier summary of ours back,
    /// and its seal opens as it did then. A finding that stands in a thread was given its name before it was posted, so a summary
    /// without that name is older than the thread; and at the head that it is about it lacks nothing that we say there.
    pub fn is_older_than(&self, threads: &[OwnThread<'_>]) -> bool {
        threads.iter().filter(|thread| thread.seal == Seal::Good).any(|thread| {
            let is_named = self.names.contains_key(&thread.key) || self.names.values().any(|id| *id == thread.id);
            let is_known = || self.document.findings.iter().any(|finding| thread.is_of(finding));
            !is_named || (thread.last_said_at() == &self.document.head && !thread.is_closed_by_review() && !is_known())
        })
    }

    pub fn ids(&self) -> IdBook {
        IdBook::from_names(self.names.clone())
    }

    /// The hidden line, with the words of its findings shortened as far as the room asks for. What identifies a finding stays.
    pub fn pack_within(self, room: usize) -> Option<Packed> {
        let whole = self.pack(room);
        whole.or_else(|| LENGTHS.iter().find_map(|length| self.clone().shortened(*length).pack(room)))
    }

    fn shortened(mut self, length: Length) -> Self {
        for finding in &mut self.document.findings {
            *finding = essential(finding, length);
        }
        for check in &mut self.document.checked_and_clean {
            check.evidence.clear();
        }
        self.document.prior_verifications.clear();
        self.document.references.clear();
        self.document.receipt.coverage.accounts.clear();
        self
    }

    /// Leaves out what no later review reads.
    pub fn of(document: &Document, names: BTreeMap<FindingKey, FindingId>) -> Self {
        let mut kept = document.clone();
        // A summary that is posted again names what was not read.
        kept.receipt.coverage.accounts.retain(|account| account.ended.words().is_some());
        kept.receipt.coverage.accounts.truncate(MAX_ACCOUNTS);
        kept.dropped.clear();
        kept.receipt.context.clear();
        kept.refuted.clear();
        kept.publication = None;
        kept.history.clear();
        for finding in &mut kept.findings {
            finding.also.clear();
            finding.places.iter_mut().for_each(|place| place.fix = None);
            finding.details = None;
            finding.trace.clear();
        }
        let (iteration, history) = (document.iteration, document.history.clone());
        Memory { iteration, history, document: kept, names, unplaced: BTreeSet::new() }
    }

    /// The hidden line and its hash; nothing when it would not fit.
    pub fn pack(&self, room: usize) -> Option<Packed> {
        // Whoever unpacks it reads it, so it is filtered as what is shown.
        let line = format!("{OPENING}{}{CLOSING}", packed(&masked_texts(self))?);
        (line.len() <= room).then(|| Packed { hash: sha256_hex(line.as_bytes()), line: HiddenLine::new(line) })
    }

    /// Reads it back out of a sticky whose mark named this hash.
    pub fn unpack(body: &str, hash: &str) -> Option<Memory> {
        let line = body.lines().map(str::trim).find(|line| line.starts_with(OPENING) && sha256_hex(line.as_bytes()) == hash)?;
        let text = line.strip_prefix(OPENING)?.strip_suffix(CLOSING)?;
        unpacked(text)
    }
}

fn packed<T: Serialize>(value: &T) -> Option<String> {
    let json = serde_json::to_vec(value).ok()?;
    Some(STANDARD_NO_PAD.encode(miniz_oxide::deflate::compress_to_vec(&json, 8)))
}

fn unpacked<T: DeserializeOwned>(text: &str) -> Option<T> {
    let bytes = STANDARD_NO_PAD.decode(text).ok()?;
    let json = miniz_oxide::inflate::decompress_to_vec_with_limit(&bytes, MAX_UNPACKED).ok()?;
    serde_json::from_slice(&json).ok()
}

/// A finding for the mark of its own comment. A comment shows its words, so the mark has them shortened.
pub fn pack_finding(finding: &Finding) -> Option<String> {
    packed(&masked_texts(&essential(finding, LENGTHS[0])))
}

pub fn unpack_finding(text: &str) -> Option<Finding> {
    unpacked(text)
}

/// How many characters are kept of the texts of a finding.
#[derive(Debug, Clone, Copy)]
struct Length {
    words: usize,
    evidence: usize,
}

const LENGTHS: [Length; 3] =
    [Length { words: 300, evidence: 2_000 }, Length { words: 80, evidence: 300 }, Length { words: 20, evidence: 80 }];

/// What a later review needs of an open finding.
fn essential(finding: &Finding, length: Length) -> Finding {
    let cut = |text: &str, most: usize| text.chars().take(most).collect::<String>();
    Finding {
        failure_mode: cut(&finding.failure_mode, length.words),
        mitigation: cut(&finding.mitigation, length.words),
        evidence: cut(&finding.evidence, length.evidence),
        details: None,
        notes: None,
        also: Vec::new(),
        related: Vec::new(),
        fix: None,
        ..finding.clone()
    }
}

pub struct Packed {
    pub line: HiddenLine,
    pub hash: String,
}
