//! Secrets in what an agent says. An agent that was talked into it may try to carry a key out through a finding, which would then be
//! posted for all to read (field: comments as the way out). So every text it wrote is held against the values that this process
//! knows, in the encodings people use to slip past a scan, and against the shapes of common keys.

/// Values that must not be said.
#[derive(Default)]
pub struct Watch {
    needles: Vec<String>,
    canary: String,
}

/// Shorter values would match by chance.
const MIN_SECRET: usize = 8;
/// This much of a value is as bad as the whole.
const FRAGMENT: usize = 12;

/// Variables that hold secrets are called so; paths and short words in them are not secrets.
pub fn is_secret(name: &str, value: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let named = ["KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL"].iter().any(|word| name.contains(word));
    named && value.len() >= 12 && !value.contains(char::is_whitespace) && !value.starts_with(['/', '~', '.'])
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leak {
    /// The run's canary: the agent repeats its instructions.
    Canary,
    /// A value of this process's environment or keys.
    Secret,
}

impl Watch {
    pub fn new<'a>(secrets: impl Iterator<Item = &'a str>, canary: &str) -> Self {
        let mut needles: Vec<String> = secrets.filter(|secret| secret.trim().len() >= MIN_SECRET).flat_map(forms).collect();
        needles.sort();
        needles.dedup();
        Self { needles, canary: squeezed(canary) }
    }

    pub fn leak(&self, text: &str) -> Option<Leak> {
        let squeezed = squeezed(text);
        if !self.canary.is_empty() && forms(&self.canary).iter().any(|form| squeezed.contains(form.as_str())) {
            return Some(Leak::Canary);
        }
        self.needles.iter().any(|needle| squeezed.contains(needle.as_str())).then_some(Leak::Secret)
    }
}

impl std::fmt::Debug for Watch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Watch({} values)", self.needles.len())
    }
}

/// How a value may be written: as it is, backwards, base64, hex, percent; and each in fragments, so that a few characters less do
/// not hide it.
fn forms(secret: &str) -> Vec<String> {
    let secret = secret.trim();
    let bytes = secret.as_bytes();
    let mut whole = vec![secret.to_owned(), secret.chars().rev().collect()];
    whole.push(bytes.iter().map(|byte| format!("{byte:02x}")).collect());
    whole.push(bytes.iter().map(|byte| format!("%{byte:02x}")).collect());
    // Base64 depends on where in a group of three the value begins.
    for skip in 0..3.min(bytes.len()) {
        whole.push(base64(&bytes[skip..]));
    }
    whole.iter().map(|form| squeezed(form)).flat_map(|form| fragments(&form)).collect()
}

/// Overlapping pieces, so that any run of that length holds one.
fn fragments(form: &str) -> Vec<String> {
    let chars: Vec<char> = form.chars().collect();
    if chars.len() <= FRAGMENT {
        return vec![form.to_owned()];
    }
    chars.windows(FRAGMENT).map(|piece| piece.iter().collect()).collect()
}

/// White space, invisible characters and separators that break a value up are left out, and case does not count.
fn squeezed(text: &str) -> String {
    text.chars().filter(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '%')).flat_map(char::to_lowercase).collect()
}

fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    // Whole groups only: the last one depends on what follows the value.
    bytes
        .chunks_exact(3)
        .flat_map(|group| {
            let word = u32::from(group[0]) << 16 | u32::from(group[1]) << 8 | u32::from(group[2]);
            [18, 12, 6, 0].map(|shift| char::from(ALPHABET[(word >> shift & 63) as usize]))
        })
        .collect()
}

/// Beginnings of well-known keys, and how many characters of a key must follow.
const SHAPES: [(&str, usize); 16] = [
    ("ghp_", 20),
    ("gho_", 20),
    ("ghu_", 20),
    ("ghs_", 20),
    ("ghr_", 20),
    ("github_pat_", 20),
    ("glpat-", 16),
    ("sk-ant-", 16),
    ("sk-proj-", 16),
    ("sk-", 32),
    ("AKIA", 16),
    ("ASIA", 16),
    ("xoxb-", 12),
    ("xoxp-", 12),
    ("AIza", 30),
    ("eyJ", 60),
];

/// Takes out what looks like a key, whoever it belongs to. Says whether there was one.
pub fn masked(text: &str) -> (String, bool) {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut found = false;
    while let Some((at, length)) = next_key(rest) {
        out.push_str(&rest[..at]);
        out.push_str("[key removed]");
        rest = &rest[at + length..];
        found = true;
    }
    out.push_str(rest);
    (out, found)
}

fn next_key(text: &str) -> Option<(usize, usize)> {
    SHAPES
        .iter()
        .flat_map(|(prefix, least)| {
            text.match_indices(prefix).filter_map(move |(at, _)| {
                let starts_a_word = !text[..at].ends_with(|c: char| c.is_ascii_alphanumeric());
                let tail = text[at + prefix.len()..]
                    .bytes()
                    .take_while(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(byte))
                    .count();
                (starts_a_word && tail >= *least).then_some((at, prefix.len() + tail))
            })
        })
        .min_by_key(|(at, length)| (*at, std::cmp::Reverse(*length)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "tok-5f3e9a7c2b1d4e6f8091";

    fn leak(text: &str) -> Option<Leak> {
        Watch::new([SECRET].into_iter(), "heron-0123456789abcdef").leak(text)
    }

    /// Issue 4, build 8: by value, with encodings.
    #[test]
    fn a_value_is_found_in_every_dress() {
        let hex: String = SECRET.bytes().map(|byte| format!("{byte:02X}")).collect();
        let spaced: String = SECRET.chars().map(|c| format!("{c} ")).collect();
        let reversed: String = SECRET.chars().rev().collect();
        let encoded = base64(format!("x{SECRET}yz").as_bytes());
        let cut = &SECRET[5..];
        for text in [SECRET, &hex, &spaced, &reversed, &encoded, cut, "see tok-5f3e9a7c2b1d and more"] {
            assert_eq!(leak(&format!("the key is {text}.")), Some(Leak::Secret), "{text}");
        }
        assert_eq!(leak("The token is compared with `==`, so timing tells it."), None);
    }

    #[test]
    fn the_canary_is_found_too() {
        assert_eq!(leak("my rules say HERON 0123456789ABCDEF"), Some(Leak::Canary));
        assert_eq!(leak("a heron stands in the water"), None);
    }

    /// Issue 4, build 8: by pattern. The finding about a committed key stays; the key does not.
    #[test]
    fn keys_of_known_shape_are_taken_out() {
        let (text, found) = masked("The key AKIAIOSFODNN7EXAMPLE is committed; task-force is not a key, nor is sk-short.");
        assert!(found);
        assert_eq!(text, "The key [key removed] is committed; task-force is not a key, nor is sk-short.");
    }
}
