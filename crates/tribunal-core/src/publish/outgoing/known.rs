//! The secrets that this process knows by value: forge tokens, model keys, the marker key, whatever the environment names a secret.
//! They are found in the encodings that people use to slip past a scan, and in fragments.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::{LazyLock, PoisonError, RwLock};

/// Shorter values would match by chance.
const SHORTEST: usize = 8;
/// A value that is shorter than this is looked for as a whole only.
const SHORTEST_WITH_FRAGMENTS: usize = 16;
/// This much of a value is as bad as the whole.
const FRAGMENT: usize = 12;
/// Its beginning and its end tell more than its middle.
const END_FRAGMENT: usize = 8;

/// What every key of a vendor begins with says nothing about one of them.
const PUBLIC_STARTS: [&str; 16] = [
    "github_pat_",
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "glpat-",
    "sk-ant-api03-",
    "sk-ant-",
    "sk-proj-",
    "sk-",
    "xoxb-",
    "AIza",
    "AKIA",
    "-----BEGIN RSA PRIVATE KEY-----",
    "-----BEGIN PRIVATE KEY-----",
];

/// A set of secret values.
#[derive(Default, Clone)]
pub struct KnownSecrets {
    values: BTreeSet<String>,
    /// Pieces of all forms of the values, squeezed, by their length.
    pieces: BTreeMap<usize, BTreeSet<Vec<u8>>>,
}

impl std::fmt::Debug for KnownSecrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "KnownSecrets({} values)", self.values.len())
    }
}

impl KnownSecrets {
    pub fn new<'a>(values: impl IntoIterator<Item = &'a str>) -> Self {
        let mut known = Self::default();
        values.into_iter().for_each(|value| known.learn(value));
        known
    }

    /// Adds a value. What is too short to tell from a word is left out.
    pub fn learn(&mut self, value: &str) {
        let value = value.trim();
        if value.chars().count() < SHORTEST || !self.values.insert(value.to_owned()) {
            return;
        }
        // A private key is secret line by line.
        let lines =
            value.lines().map(str::trim).filter(|line| line.len() >= SHORTEST_WITH_FRAGMENTS && !line.starts_with("-----"));
        let parts: Vec<&str> = if value.contains('\n') { lines.collect() } else { vec![value] };
        for part in parts.into_iter().filter(|part| part.len() >= SHORTEST_WITH_FRAGMENTS) {
            for (form, fragment) in forms(part) {
                let form = squeeze(&form);
                self.add(&form, fragment.min(form.len()));
            }
            let start = PUBLIC_STARTS.iter().find_map(|start| part.strip_prefix(start)).unwrap_or(part);
            let (start, whole) = (squeeze(start), squeeze(part));
            // Words are no fragments: `tribunal` at the end of a made-up value must not vanish from every text.
            let tells = |piece: &[u8]| piece.iter().any(u8::is_ascii_digit);
            if let Some(piece) = start.get(..END_FRAGMENT).filter(|piece| tells(piece)) {
                self.add(piece, END_FRAGMENT);
            }
            if let Some(piece) = whole.len().checked_sub(END_FRAGMENT).map(|at| &whole[at..]).filter(|piece| tells(piece)) {
                self.add(piece, END_FRAGMENT);
            }
        }
    }

    fn add(&mut self, form: &[u8], length: usize) {
        if length >= SHORTEST {
            let pieces = self.pieces.entry(length).or_default();
            form.windows(length).for_each(|piece| _ = pieces.insert(piece.to_vec()));
        }
    }

    /// Where a text holds one of them, or a piece of one, in any form.
    pub fn spans(&self, text: &str) -> Vec<Range<usize>> {
        if self.values.is_empty() {
            return Vec::new();
        }
        let mut spans = Vec::new();
        for value in &self.values {
            spans.extend(text.match_indices(value.as_str()).map(|(at, found)| at..at + found.len()));
            if value.len() < SHORTEST_WITH_FRAGMENTS {
                for (form, _) in forms(value) {
                    spans.extend(text.match_indices(form.as_str()).map(|(at, found)| at..at + found.len()));
                }
            }
        }
        let (bytes, places) = squeeze_with_places(text);
        for (length, pieces) in &self.pieces {
            for at in 0..(bytes.len() + 1).saturating_sub(*length) {
                if pieces.contains(&bytes[at..at + length]) {
                    spans.push(places[at]..places[at + length - 1] + 1);
                }
            }
        }
        super::mask::joined(spans)
    }

    pub fn is_in(&self, text: &str) -> bool {
        !self.spans(text).is_empty()
    }
}

/// How a value may be written, and how long a piece of that form is as bad as the whole.
fn forms(value: &str) -> Vec<(String, usize)> {
    let bytes = value.as_bytes();
    let mut forms = vec![
        (value.to_owned(), FRAGMENT),
        (value.chars().rev().collect(), FRAGMENT),
        (bytes.iter().map(|byte| format!("{byte:02x}")).collect(), 2 * FRAGMENT),
    ];
    // Base64 depends on where in a group of three the value begins; its last group depends on what follows.
    for skip in 0..3.min(bytes.len()) {
        let whole = &bytes[skip..skip + (bytes.len() - skip) / 3 * 3];
        if whole.len() >= SHORTEST {
            forms.push((STANDARD_NO_PAD.encode(whole), FRAGMENT));
        }
    }
    forms
}

/// Only letters and digits count, and case does not: white space, invisible characters and separators may break a value up, `%41%42`
/// is `4142`, and both alphabets of base64 are one.
fn squeezed(c: char) -> Option<u8> {
    u8::try_from(c).ok().filter(u8::is_ascii_alphanumeric).map(|byte| byte.to_ascii_lowercase())
}

fn squeeze(text: &str) -> Vec<u8> {
    text.chars().filter_map(squeezed).collect()
}

/// The same, with the way back to where each byte stands.
fn squeeze_with_places(text: &str) -> (Vec<u8>, Vec<usize>) {
    text.char_indices().filter_map(|(at, c)| Some((squeezed(c)?, at))).unzip()
}

static OF_PROCESS: LazyLock<RwLock<KnownSecrets>> = LazyLock::new(RwLock::default);

/// Tells the outgoing filter of a secret, from wherever it was read: from then on nothing that is posted, stored or printed holds it.
pub fn learn_secret(value: &str) {
    let known = OF_PROCESS.read().unwrap_or_else(PoisonError::into_inner).values.contains(value.trim());
    if !known {
        OF_PROCESS.write().unwrap_or_else(PoisonError::into_inner).learn(value);
    }
}

/// Does a text hold a secret of this process?
pub fn is_known(text: &str) -> bool {
    with_known(|known| known.is_in(text))
}

/// What the process knows in this moment.
pub(super) fn with_known<T>(use_them: impl FnOnce(&KnownSecrets) -> T) -> T {
    use_them(&OF_PROCESS.read().unwrap_or_else(PoisonError::into_inner))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SECRET: &str = "tok-5f3e9a7c2b1d4e6f8091";

    fn dresses(secret: &str) -> Vec<String> {
        let hex: String = secret.bytes().map(|byte| format!("{byte:02X}")).collect();
        let percent: String = secret.bytes().map(|byte| format!("%{byte:02x}")).collect();
        let spaced: String = secret.chars().map(|c| format!("{c} ")).collect();
        let zero_width: String = secret.chars().map(|c| format!("{c}\u{200b}")).collect();
        let reversed: String = secret.chars().rev().collect();
        let encoded = STANDARD_NO_PAD.encode(format!("x{secret}yz"));
        let url_safe = base64::engine::general_purpose::URL_SAFE.encode(secret);
        vec![secret.to_owned(), secret.to_uppercase(), hex, percent, spaced, zero_width, reversed, encoded, url_safe]
    }

    /// agents.md D.2, 8: by value, with encodings, fragments of at least eight at the ends.
    #[test]
    fn a_value_is_found_in_every_dress() {
        let known = KnownSecrets::new([SECRET]);
        for text in dresses(SECRET).into_iter().chain([SECRET[4..].to_owned(), "4e6f8091".into(), "x tok-5f3e9a7c2b1d".into()]) {
            assert!(known.is_in(&format!("the key is {text}.")), "{text}");
        }
        assert!(!known.is_in("The token is compared with `==`, so timing tells it."));
    }

    #[test]
    fn a_short_value_is_looked_for_as_a_whole() {
        let known = KnownSecrets::new(["hunter2222", "short"]);
        assert!(known.is_in("a hunter2222 b") && !known.is_in("a hunter222 short b"));
        assert_eq!(format!("{known:?}"), "KnownSecrets(1 values)");
    }

    #[test]
    fn a_private_key_is_known_line_by_line() {
        let line = "MIIEowIBAAKCAQEAqV7hT9xLk2Zr5WcPf8sNbYgD3mJvXeQ0";
        let known =
            KnownSecrets::new([
                format!("-----BEGIN RSA PRIVATE KEY-----\n{line}\nshort==\n-----END RSA PRIVATE KEY-----").as_str()
            ]);
        assert!(known.is_in(&format!("x {} y", &line[8..30])));
        assert!(!known.is_in("-----BEGIN RSA PRIVATE KEY-----"));
    }

    proptest! {
        #[test]
        fn any_value_is_found_wherever_it_stands(
            secret in "[A-Za-z0-9_-]{20,60}", before in "[ -~]{0,30}", after in "[ -~]{0,30}",
        ) {
            prop_assume!(squeeze(&secret).len() >= 16);
            let known = KnownSecrets::new([secret.as_str()]);
            for dress in dresses(&secret) {
                let text = format!("{before}{dress}{after}");
                prop_assert!(known.is_in(&text), "{}", text);
            }
        }
    }
}
