//! The four wire formats, and what a turn looks like in each of them.
//!
//! A [`Turn`] is what the scripted model decided to say; a wire module writes it down as one JSON body or as the event sequence its
//! vendor would stream. Shapes were held against the vendors' own SDKs (see `check_with_sdks.py`).

pub mod anthropic;
pub mod chat;
pub mod errors;
pub mod gemini;
pub mod responses;

use serde::{Deserialize, Serialize};
use serde_json::Value;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wire {
    /// `POST /v1/messages`
    Anthropic,
    /// `POST /v1/responses`
    Responses,
    /// `POST /v1/chat/completions`
    Chat,
    /// `POST /v1beta/models/{model}:generateContent`
    Gemini,
}

/// What the model says in one response.
#[derive(Debug, Clone, PartialEq)]
pub struct Turn {
    pub parts: Vec<Part>,
    pub stop: Stop,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    Text(String),
    Call { id: String, name: String, input: Value },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    Done,
    Calls,
    MaxTokens,
    Refused,
}

impl Turn {
    pub fn text(text: impl Into<String>) -> Turn {
        Turn { parts: vec![Part::Text(text.into())], stop: Stop::Done }
    }

    pub fn has_calls(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, Part::Call { .. }))
    }

    /// The estimate that all usage numbers are made of: four characters to a token, per part.
    pub fn output_tokens(&self) -> u64 {
        self.parts
            .iter()
            .map(|part| match part {
                Part::Text(text) => tokens(text),
                Part::Call { name, input, .. } => tokens(name) + tokens(&input.to_string()),
            })
            .sum()
    }
}

/// Four characters to a token, rounded up.
pub fn tokens(text: &str) -> u64 {
    text.chars().count().div_ceil(4) as u64
}

/// Tokens of one call, before a vendor's habit of reporting them: `input` counts the whole prompt, cached parts included.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    pub input: u64,
    pub cache_read: u64,
    /// Tokens written to the cache at the five-minute price.
    pub cache_write: u64,
    /// Of those written, the ones at the one-hour price come on top of `cache_write`.
    pub cache_write_1h: u64,
    pub output: u64,
}

impl Usage {
    /// What is billed at the plain input price.
    pub fn full_price(&self) -> u64 {
        self.input.saturating_sub(self.cache_read + self.cache_write + self.cache_write_1h)
    }
}

/// What a wire module must know about the call besides the turn.
#[derive(Debug, Clone)]
pub struct Meta {
    /// Unique per request; each vendor puts its own prefix before it.
    pub id: String,
    pub model: String,
    pub created: u64,
    pub usage: Usage,
    /// Chat only: the caller asked for the usage chunk.
    pub include_usage: bool,
    /// Size of the pieces in which text is streamed.
    pub piece: usize,
}

/// One server-sent event, or one array element on Gemini's plain stream.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    pub name: Option<&'static str>,
    pub data: EventData,
    /// Carries a piece of the answer: the place where faults stall, cut or repeat.
    pub delta: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub enum EventData {
    Json(Value),
    /// Chat's `[DONE]`.
    Word(&'static str),
}

impl Event {
    pub fn named(name: &'static str, data: Value) -> Event {
        Event { name: Some(name), data: EventData::Json(data), delta: false }
    }

    pub fn plain(data: Value) -> Event {
        Event { name: None, data: EventData::Json(data), delta: false }
    }

    pub fn into_delta(mut self) -> Event {
        self.delta = true;
        self
    }

    /// The bytes of a server-sent event. Gemini ends its lines the way HTTP does, the others the way Unix does.
    pub fn encode(&self, wire: Wire) -> String {
        let data = match &self.data {
            EventData::Json(value) => value.to_string(),
            EventData::Word(word) => (*word).to_owned(),
        };
        match (wire, self.name) {
            (Wire::Gemini, _) => format!("data: {data}\r\n\r\n"),
            (_, Some(name)) => format!("event: {name}\ndata: {data}\n\n"),
            (_, None) => format!("data: {data}\n\n"),
        }
    }
}

impl Wire {
    pub fn body(self, turn: &Turn, meta: &Meta) -> Value {
        match self {
            Wire::Anthropic => anthropic::body(turn, meta),
            Wire::Responses => responses::body(turn, meta),
            Wire::Chat => chat::body(turn, meta),
            Wire::Gemini => gemini::body(turn, meta),
        }
    }

    pub fn events(self, turn: &Turn, meta: &Meta) -> Vec<Event> {
        match self {
            Wire::Anthropic => anthropic::events(turn, meta),
            Wire::Responses => responses::events(turn, meta),
            Wire::Chat => chat::events(turn, meta),
            Wire::Gemini => gemini::events(turn, meta),
        }
    }

    /// What the vendor sends when it breaks down after the stream began.
    pub fn overloaded_event(self, meta: &Meta, sent: usize) -> Event {
        match self {
            Wire::Anthropic => anthropic::overloaded_event(),
            Wire::Responses => responses::overloaded_event(meta, sent),
            Wire::Chat => chat::overloaded_event(),
            Wire::Gemini => gemini::overloaded_event(),
        }
    }
}

/// Text in pieces of at most `size` characters; one empty piece for empty text, so that every block has a delta.
pub fn pieces(text: &str, size: usize) -> Vec<String> {
    let letters: Vec<char> = text.chars().collect();
    if letters.is_empty() {
        return vec![String::new()];
    }
    letters.chunks(size.max(1)).map(|piece| piece.iter().collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    pub fn meta(piece: usize) -> Meta {
        let usage = Usage { input: 10, output: 2, ..Usage::default() };
        Meta { id: "1".into(), model: "m".into(), created: 1, usage, include_usage: false, piece }
    }

    pub fn names(events: &[Event]) -> String {
        events.iter().map(|event| event.name.unwrap_or("-")).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn tokens_round_up_and_pieces_keep_letters_whole() {
        assert_eq!((tokens(""), tokens("a"), tokens("äöüß"), tokens("abcde")), (0, 1, 1, 2));
        assert_eq!(pieces("äöü", 2), ["äö", "ü"]);
    }
}
