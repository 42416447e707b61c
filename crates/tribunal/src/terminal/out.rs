//! The one way to standard output and standard error. A reader that has seen enough is no error; a disk that is full is one, for
//! every command alike.

use crate::situation::{Situation, exit};
use std::io::Write as _;
use tribunal_core::publish::visible::{in_json, on_terminal};

/// A line for people, with our colours in it.
pub fn say(line: &str) -> Result<(), Situation> {
    write(&(on_terminal(line) + "\n"))
}

/// Text for people that ends as it ends.
pub fn page(text: &str) -> Result<(), Situation> {
    write(&on_terminal(text))
}

pub fn json(value: &serde_json::Value) -> Result<(), Situation> {
    let text = serde_json::to_string_pretty(value).map_err(|error| failed(&error))?;
    write(&(in_json(&text) + "\n"))
}

/// Text that was made for a program, or made visible before.
pub fn write(text: &str) -> Result<(), Situation> {
    let mut stdout = anstream::stdout().lock();
    stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).or_else(unless_closed).map_err(|error| failed(&error))
}

/// Talk. That standard error is gone can be told to nobody.
pub fn note(line: &str) {
    let _ = writeln!(anstream::stderr().lock(), "{}", on_terminal(line));
}

fn failed(error: &dyn std::fmt::Display) -> Situation {
    Situation::new("output-failed", exit::INCOMPLETE, format!("standard output cannot be written: {error}"))
}

/// `tribunal history | head` has seen enough.
pub fn unless_closed(error: std::io::Error) -> std::io::Result<()> {
    if error.kind() == std::io::ErrorKind::BrokenPipe { Ok(()) } else { Err(error) }
}
