//! The outgoing filter: between anything that was produced (by agents, linters, commands, other people) and anything that is posted,
//! stored or printed.
//!
//! [`Outgoing`] is the only text that a forge takes, and only this module makes one. It holds no key by shape ([`mask`]), no secret
//! that this process knows ([`known`]), no mark that is not ours ([`forged`]), and no character that cannot be seen.

pub mod forged;
pub mod known;
pub mod mask;
pub mod names;
pub mod replacement;
mod structure;

use super::visible::{visible, visible_line};
use known::{KnownSecrets, with_known};
use mask::Suspicion;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;
use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;

/// Text that may leave this process.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(from = "String")]
pub struct Outgoing(String);

/// Hidden lines of ours: only the modules of this folder make them, of nothing that others wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HiddenLine(String);

impl HiddenLine {
    pub(super) fn new(line: String) -> Self {
        Self(line)
    }
}

impl Outgoing {
    /// Text of ours with texts of others in it, or one of them alone.
    pub fn text(text: &str) -> Self {
        Self(filtered(text))
    }

    /// The same with our marks: `head` above it, `tail` right below it.
    pub fn marked(head: &[HiddenLine], text: &str, tail: &[HiddenLine]) -> Self {
        let lines = |lines: &[HiddenLine]| lines.iter().map(|line| line.0.as_str()).collect::<Vec<_>>().join("\n");
        let head = if head.is_empty() { String::new() } else { lines(head) + "\n\n" };
        Self(format!("{head}{}{}", filtered(text), lines(tail)))
    }

    /// Text and a mark below it, with an empty line between.
    pub fn sealed(text: &str, mark: HiddenLine) -> Self {
        Self::marked(&[], &format!("{text}\n\n"), &[mark])
    }

    /// At most so many bytes, cut between characters. Hidden lines would be cut too, so this is for text without them.
    pub fn shortened(text: &str, limit: usize) -> Self {
        let text = filtered(text);
        if text.len() <= limit {
            return Self(text);
        }
        let mut end = limit.saturating_sub('…'.len_utf8());
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        Self(format!("{}…", &text[..end]))
    }

    /// What somebody else would post, as it is: for tests, which play other people through our own clients.
    #[cfg(feature = "test-support")]
    pub fn of_somebody_else(text: &str) -> Self {
        Self(text.to_owned())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// For a place that takes any text, such as a stored copy.
    pub fn into_string(self) -> String {
        self.0
    }
}

/// The whole filter for a text. Filtering twice changes nothing, and text without anything of this kind stays as it is.
pub fn filtered(text: &str) -> String {
    with_known(|known| filtered_with(text, known))
}

/// The same with the secrets given.
pub fn filtered_with(text: &str, known: &KnownSecrets) -> String {
    forged::without_marks(&shown_with(text, known))
}

/// Without secrets, and with all that cannot be seen written out. For Markdown that is only printed: our marks in it stay.
pub fn shown(text: &str) -> String {
    with_known(|known| shown_with(text, known))
}

/// The same on one line, for progress.
pub fn shown_line(text: &str) -> String {
    visible_line(&masked(text))
}

fn shown_with(text: &str, known: &KnownSecrets) -> String {
    let masked = structure::without_new_signs(&masked_with(text, known));
    // `inert` puts this one between a sign and a name; it is ours, and the texts it stands in were made visible before.
    let parts: Vec<String> = masked.split(super::markdown::JOINER).map(visible).collect();
    parts.join(super::markdown::JOINER)
}

/// Only the secrets: for what is stored, and for values of JSON, where a program must find the rest as it was.
pub fn masked(text: &str) -> String {
    with_known(|known| masked_with(text, known))
}

pub fn masked_with(text: &str, known: &KnownSecrets) -> String {
    let mut spans = known.spans(text);
    spans.extend(mask::secret_spans(text, Suspicion::Usual));
    let spans = mask::joined(spans);
    let masked = if spans.is_empty() { Cow::Borrowed(text) } else { Cow::Owned(mask::replace(text, &spans)) };
    // A value next to a mask may have been held apart from it by what is gone now.
    mask::mask(&masked)
}

/// A value with every text in it masked, however deep. The paths of files stay: they are places and not texts.
pub fn masked_texts<T: Serialize + DeserializeOwned + Clone>(value: &T) -> T {
    let masked = serde_json::to_value(value).map(|value| masked_value(value, true)).and_then(serde_json::from_value);
    // What was serialised reads back.
    masked.unwrap_or_else(|_| value.clone())
}

/// JSON with every text in it masked.
pub fn masked_json(value: Value) -> Value {
    masked_value(value, false)
}

/// The same for JSON as text, in the order and layout that it has.
pub fn masked_json_text(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    let mut rest = json;
    while let Some(at) = rest.find('"') {
        out.push_str(&rest[..at]);
        let literal = &rest[at..at + literal_length(&rest[at..])];
        let masked = serde_json::from_str::<String>(literal).ok().map(|text| (masked(&text), text));
        match masked.filter(|(masked, text)| masked != text).and_then(|(masked, _)| serde_json::to_string(&masked).ok()) {
            Some(masked) => out.push_str(&masked),
            None => out.push_str(literal),
        }
        rest = &rest[at + literal.len()..];
    }
    out + rest
}

/// How long the string literal is that the text begins with, both quotes included.
fn literal_length(text: &str) -> usize {
    let mut is_escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

fn masked_value(value: Value, keeps_paths: bool) -> Value {
    match value {
        Value::String(text) => Value::String(masked(&text)),
        Value::Array(items) => Value::Array(items.into_iter().map(|item| masked_value(item, keeps_paths)).collect()),
        Value::Object(entries) => Value::Object(
            entries
                .into_iter()
                .map(|(name, value)| {
                    let is_kept = keeps_paths && matches!(name.as_str(), "file" | "path" | "old_path") && value.is_string();
                    (name, if is_kept { value } else { masked_value(value, keeps_paths) })
                })
                .collect(),
        ),
        Value::Null | Value::Bool(_) | Value::Number(_) => value,
    }
}

impl From<&str> for Outgoing {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

impl From<String> for Outgoing {
    fn from(text: String) -> Self {
        Self::text(&text)
    }
}

impl Deref for Outgoing {
    type Target = str;
    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Outgoing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl PartialEq<str> for Outgoing {
    fn eq(&self, other: &str) -> bool {
        self.0 == other
    }
}

impl PartialEq<&str> for Outgoing {
    fn eq(&self, other: &&str) -> bool {
        self.0 == *other
    }
}

impl Serialize for Outgoing {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl schemars::JsonSchema for Outgoing {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Outgoing".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        String::json_schema(generator)
    }
}

impl Deref for HiddenLine {
    type Target = str;
    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for HiddenLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests;
