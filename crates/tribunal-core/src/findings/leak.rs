//! Secrets in what an agent says. An agent that was talked into it may try to carry a key out through a finding, which would then be
//! posted for all to read (field: comments as the way out). So every text it wrote is held against the values that this process
//! knows, in the encodings people use to slip past a scan.

use crate::publish::outgoing::known::{KnownSecrets, is_known};
use crate::publish::outgoing::mask::{Suspicion, secret_spans};
use crate::publish::outgoing::names::names_secret;

/// Shorter values are words that somebody may well write.
const SHORTEST: usize = 12;

/// Values that must not be said.
#[derive(Default)]
pub struct Watch {
    known: KnownSecrets,
    canary: KnownSecrets,
}

/// What of a variable's value is secret, if its name says that it is: all of it, or the keys in a text such as a file of credentials.
/// A path of something that is there is none.
pub fn secrets_of<'a>(name: &str, value: &'a str, is_there: impl Fn(&str) -> bool) -> Vec<&'a str> {
    let is_path =
        ["./", "../", "~/"].iter().any(|start| value.starts_with(start)) || value.starts_with(['/', '.']) && is_there(value);
    if !names_secret(name) || is_path {
        Vec::new()
    } else if value.contains(char::is_whitespace) {
        secret_spans(value, Suspicion::AboutSecrets).into_iter().map(|span| &value[span]).collect()
    } else {
        Some(value).filter(|value| value.len() >= SHORTEST).into_iter().collect()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leak {
    /// The run's canary: the agent repeats its instructions.
    Canary,
    /// A value of this process's environment or keys.
    Secret,
}

impl Watch {
    /// Beside these, everything that the process has learned counts.
    pub fn new<'a>(secrets: impl Iterator<Item = &'a str>, canary: &str) -> Self {
        Self { known: KnownSecrets::new(secrets), canary: KnownSecrets::new([canary]) }
    }

    pub fn leak(&self, text: &str) -> Option<Leak> {
        if self.canary.is_in(text) {
            return Some(Leak::Canary);
        }
        (self.known.is_in(text) || is_known(text)).then_some(Leak::Secret)
    }
}

impl std::fmt::Debug for Watch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Watch({:?})", self.known)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD_NO_PAD;

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
        let encoded = STANDARD_NO_PAD.encode(format!("x{SECRET}yz"));
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
}
