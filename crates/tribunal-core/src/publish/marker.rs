//! The hidden line at the end of everything we post (design rule 9).
//!
//! A mark says what a comment is: the sticky, a finding, an answer. It counts only on a comment of our own account, and only as its
//! last line, where no quoted text can stand. Anyone with write access can edit our comments while they keep our name, so the mark
//! is sealed with a key that only we hold, and bound to the pull request: a mark that was pasted, copied from another pull request
//! or changed does not open.
//!
//! A mark of our account whose seal does not open (the key was lost, or never shared between machines) still shows *where* a comment
//! of ours is, so that nothing is said twice. It never decides anything: what it claims to have been reviewed is reviewed again.

use super::outgoing::HiddenLine;
use super::verdict::Sitting;
use crate::combine::verdict::Verdict;
use crate::findings::about::About;
use crate::findings::key::sha256_hex;
use crate::gate::words::GateId;
use crate::ids::{FindingId, FindingKey, RunId, Sha};
use crate::merge::hold::Hold;
use crate::policy::credentials::token::BoundToken;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde::{Deserialize, Serialize};
use sha2::Sha256;
use std::fmt;

pub(super) const OPENING: &str = "<!-- tribunal:1 ";
const CLOSING: &str = " -->";

/// What a comment of ours is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub enum Mark {
    /// The one summary. `memory` is the hash of what it carries for the next review, `text` that of what people read in it.
    Sticky {
        head: Sha,
        run: RunId,
        memory: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>,
    },
    /// A run is about to post what may be posted only once. The earliest live claim decides which one does.
    Claim { head: Sha, run: RunId, nonce: String },
    /// An inline comment on a finding, and what kind of claim it makes: the loops read it from here and not from the words (PR-125).
    Finding {
        key: FindingKey,
        id: FindingId,
        head: Sha,
        #[serde(default, skip_serializing_if = "About::is_empty")]
        about: About,
        /// The finding itself, packed, so that it is known where the summary and the ledger are not.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        finding: Option<String>,
    },
    /// An answer in a finding's thread.
    Answer { id: FindingId, says: Says, head: Sha },
    /// The body of a review that carries inline comments: which findings, and which comment is or becomes the summary.
    Review {
        head: Sha,
        run: RunId,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        findings: Vec<FindingKey>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        summary: Option<String>,
    },
    /// An answer to somebody's item, and the word that it answers: what was said later is not answered by it.
    Reply { item: String, last_word: String, says: Disposition, head: Sha, run: RunId },
    /// On an issue: it was closed because these parts of it are done.
    Epic { stories: Vec<u64> },
    /// The summary of a round. It answers what cannot be replied to, each as `item@last_word`.
    Round { run: RunId, cycle: u32, items: Vec<String> },
    /// A formal verdict, and the occasion that it was given on (TS-101).
    Verdict {
        sitting: Sitting,
        run: RunId,
        verdict: Verdict,
        head: Sha,
        /// The branch that the head was to be merged into. Nothing in marks of earlier versions.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        base_branch: Option<String>,
    },
    /// A question that only a person may answer.
    Gate { id: GateId },
    /// The review of a head that is not reviewed because of conflict markers (SL-36).
    Markers { head: Sha },
    /// What a sweep leaves to a person (SL-67).
    Remains {
        run: RunId,
        head: Sha,
        /// How many things are left; 0 in marks of earlier versions.
        #[serde(default, skip_serializing_if = "is_zero")]
        items: u32,
    },
    /// Our record of feedback that held a merge back.
    Holds { holds: Vec<Hold> },
}

fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// What an answer says of its finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Says {
    Fixed,
    /// It was said to be fixed, and is there again.
    Back,
    Dismissed,
}

/// What a reply does about an item (CF-17).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Disposition {
    Fixed,
    Declined,
    Deferred,
    /// Only a person can say, and was asked.
    Asked,
}

/// Does the seal open?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seal {
    Good,
    /// Another key, another pull request, or somebody's edit.
    Broken,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadMark {
    pub mark: Mark,
    pub seal: Seal,
}

/// The key that marks of one installation are sealed with. Never stored, never shown.
#[derive(Clone)]
pub struct MarkerKey([u8; 32]);

impl fmt::Debug for MarkerKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MarkerKey(…)")
    }
}

impl MarkerKey {
    /// From any secret of ours that stays the same: a key given for this purpose, or the forge token.
    pub fn from_secret(secret: &str) -> Self {
        MarkerKey(mac(b"tribunal markers, version 1", &[secret.as_bytes()]))
    }

    /// From a secret, for the marks of one host.
    pub fn for_host(host: &str, secret: &str) -> Self {
        MarkerKey::from_secret(&format!("{}\n{secret}", sha256_hex(host.as_bytes())))
    }

    /// From the token itself, where no key was given for the purpose.
    pub fn from_token(host: &str, token: &BoundToken) -> Self {
        MarkerKey::for_host(host, token.secret())
    }
}

fn mac(key: &[u8], parts: &[&[u8]]) -> [u8; 32] {
    let mut mac = hasher(key);
    for part in parts {
        mac.update(&(part.len() as u64).to_le_bytes());
        mac.update(part);
    }
    mac.finalize().into_bytes().into()
}

fn hasher(key: &[u8]) -> Hmac<Sha256> {
    // HMAC takes a key of any length; the error type is for the other constructions of the trait.
    Hmac::<Sha256>::new_from_slice(key).unwrap_or_else(|_| Hmac::<Sha256>::new(&Default::default()))
}

/// The line for the end of a body.
pub fn seal(mark: &Mark, case_id: &str, key: &MarkerKey) -> HiddenLine {
    let payload = URL_SAFE_NO_PAD.encode(serde_json::to_vec(mark).unwrap_or_default());
    let proof = URL_SAFE_NO_PAD.encode(mac(&key.0, &[case_id.as_bytes(), payload.as_bytes()]));
    HiddenLine::new(format!("{OPENING}{payload}.{proof}{CLOSING}"))
}

/// A hidden line that other tools read: `<!-- pr-review:name=value -->`. The value is a word of ours.
pub fn note(name: &'static str, value: &str) -> HiddenLine {
    let value: String = value.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_' | '.')).collect();
    HiddenLine::new(if value.is_empty() {
        format!("<!-- pr-review:{name} -->")
    } else {
        format!("<!-- pr-review:{name}={value} -->")
    })
}

/// The mark of a body, if its last line is one. Who wrote the body is the caller's to check.
pub fn read(body: &str, case_id: &str, key: &MarkerKey) -> Option<ReadMark> {
    let line = body.trim_end().rsplit('\n').next()?.trim();
    let (payload, proof) = line.strip_prefix(OPENING)?.strip_suffix(CLOSING)?.split_once('.')?;
    let mark = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(payload).ok()?).ok()?;
    let mut check = hasher(&key.0);
    for part in [case_id.as_bytes(), payload.as_bytes()] {
        check.update(&(part.len() as u64).to_le_bytes());
        check.update(part);
    }
    let good = URL_SAFE_NO_PAD.decode(proof).is_ok_and(|proof| check.verify_slice(&proof).is_ok());
    Some(ReadMark { mark, seal: if good { Seal::Good } else { Seal::Broken } })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const CASE: &str = "pull:h/acme/shop#7";

    fn key() -> MarkerKey {
        MarkerKey::from_secret("a token of any length")
    }

    fn mark() -> Mark {
        Mark::Finding { key: "abc".into(), id: FindingId(3), head: "1234".into(), about: About::default(), finding: None }
    }

    /// Issue 5, build 6: bound to pull request, head and finding key, with a MAC.
    #[test]
    fn a_mark_opens_only_where_it_was_made() {
        let body = format!("text\n\n{}", seal(&mark(), CASE, &key()));
        assert_eq!(read(&body, CASE, &key()), Some(ReadMark { mark: mark(), seal: Seal::Good }));
        let seal_of = |case: &str, key: MarkerKey| read(&body, case, &key).map(|read| read.seal);
        assert_eq!(seal_of("pull:h/acme/shop#8", key()), Some(Seal::Broken));
        assert_eq!(seal_of(CASE, MarkerKey::from_secret("another")), Some(Seal::Broken));
    }

    /// forges.md 3.x-7: whoever edits our comment changes the claim, and the seal does not open any more.
    #[test]
    fn an_edited_mark_is_broken() {
        let line = seal(&mark(), CASE, &key());
        let other =
            Mark::Finding { key: "abc".into(), id: FindingId(3), head: "9999".into(), about: About::default(), finding: None };
        let (_, proof) = line.split_once('.').unwrap();
        let (forged, _) = seal(&other, CASE, &MarkerKey::from_secret("mine"))
            .split_once('.')
            .map(|(a, b)| (a.to_owned(), b.to_owned()))
            .unwrap();
        let body = format!("{forged}.{proof}");
        assert_eq!(read(&body, CASE, &key()), Some(ReadMark { mark: other, seal: Seal::Broken }));
    }

    /// PR-140: text that only holds a mark somewhere, as a quotation does, has none.
    #[test]
    fn a_quoted_mark_is_no_mark() {
        let line = seal(&mark(), CASE, &key());
        for body in [format!("> {line}"), format!("{line}\nI do not agree"), format!("`{line}`"), "nothing".to_owned()] {
            assert_eq!(read(&body, CASE, &key()), None, "{body}");
        }
    }

    /// CF-17: the mark, not the prose, is what is read back.
    #[test]
    fn replies_and_rounds_are_read_back() {
        let reply = Mark::Reply {
            item: "thread:7".into(),
            last_word: "9".into(),
            says: Disposition::Fixed,
            head: "1234".into(),
            run: "run".into(),
        };
        let round = Mark::Round { run: "run".into(), cycle: 2, items: vec!["comment:3@5".into()] };
        for mark in [reply, round] {
            let body = format!("words\n\n{}", seal(&mark, CASE, &key()));
            assert_eq!(read(&body, CASE, &key()), Some(ReadMark { mark, seal: Seal::Good }));
        }
    }

    proptest! {
        #[test]
        fn any_text_can_be_read(body in "\\PC{0,80}") {
            let _ = read(&body, CASE, &key());
            let _ = read(&format!("{OPENING}{body}{CLOSING}"), CASE, &key());
        }
    }
}
