//! The one way to standard output and standard error. A reader that has seen enough is no error; a disk that is full is one, for
//! every command alike.
//!
//! Everything passes the outgoing filter on its way: no secret that this process knows, no key, and nothing that a terminal obeys.

use crate::situation::{Situation, exit};
use std::io::Write as _;
use tribunal_core::publish::outgoing::{masked, masked_json_text, shown};
use tribunal_core::publish::visible::{in_json, on_terminal};

/// A text that may be printed or written into a file that was asked for.
pub struct Printable(String);

impl Printable {
    /// For people, with our colours in it.
    pub fn page(text: &str) -> Self {
        Self(on_terminal(&masked(text)))
    }

    /// For people, without colours: Markdown, plain tables.
    pub fn plain(text: &str) -> Self {
        Self(shown(text))
    }

    /// JSON in the layout that it has.
    pub fn json_text(text: &str) -> Self {
        Self(in_json(&masked_json_text(text)))
    }

    /// Anything that serialises, as JSON.
    pub fn json_of(value: &impl serde::Serialize) -> Result<Self, Situation> {
        let text = serde_json::to_string_pretty(value).map_err(|error| failed(&error))?;
        Ok(Self::json_text(&(text + "\n")))
    }

    /// What this program made of itself alone: help, completions, schemas.
    pub fn own(text: String) -> Self {
        Self(text)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A line for people, with our colours in it.
pub fn say(line: &str) -> Result<(), Situation> {
    write(&Printable::page(&format!("{line}\n")))
}

/// Text for people that ends as it ends.
pub fn page(text: &str) -> Result<(), Situation> {
    write(&Printable::page(text))
}

pub fn json(value: &serde_json::Value) -> Result<(), Situation> {
    write(&Printable::json_of(value)?)
}

pub fn write(text: &Printable) -> Result<(), Situation> {
    let mut stdout = anstream::stdout().lock();
    stdout.write_all(text.0.as_bytes()).and_then(|()| stdout.flush()).or_else(unless_closed).map_err(|error| failed(&error))
}

/// Talk. That standard error is gone can be told to nobody.
pub fn note(line: &str) {
    let _ = writeln!(anstream::stderr().lock(), "{}", on_terminal(&masked(line)));
}

fn failed(error: &dyn std::fmt::Display) -> Situation {
    Situation::new("output-failed", exit::INCOMPLETE, format!("standard output cannot be written: {error}"))
}

/// `tribunal history | head` has seen enough.
pub fn unless_closed(error: std::io::Error) -> std::io::Result<()> {
    if error.kind() == std::io::ErrorKind::BrokenPipe { Ok(()) } else { Err(error) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Issue 16, C13 and C14: JSON keeps its values, except secrets, and no terminal obeys it.
    #[test]
    fn printed_json_holds_no_key_and_steers_nothing() {
        let value = serde_json::json!({ "quote": "x\u{202e}\u{9b}31m", "key": "AKIAQ3WZ7T5RY2KXQ3WZ" });
        let printed = Printable::json_of(&value).unwrap_or(Printable(String::new()));
        assert!(printed.as_str().is_ascii() || printed.as_str().contains('…'), "{}", printed.as_str());
        assert!(!printed.as_str().contains("Q3WZ7T5RY2") && !printed.as_str().contains('\u{202e}'), "{}", printed.as_str());
        let read: serde_json::Value = serde_json::from_str(printed.as_str()).unwrap();
        assert_eq!(read["quote"], value["quote"]);
    }
}
