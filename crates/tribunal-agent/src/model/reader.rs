//! What all four wires share in what they hear.

use serde_json::{Value, json};
use tribunal_core::call::Answer;
use tribunal_core::call::fault::Fault;
use tribunal_core::call::money::Money;
use tribunal_core::call::usage::Usage;
use tribunal_core::findings::admit::one_line;

/// Puts an answer together from a vendor's events.
pub trait Reader: Send {
    fn event(&mut self, name: Option<&str>, data: &str) -> Result<(), Fault>;

    /// From a server that did not stream although it was asked to; it has gone through [`parse`].
    fn whole(&mut self, body: &Value) -> Result<(), Fault>;

    /// Nothing more will come, even if the connection stays open.
    fn is_over(&self) -> bool;

    /// What has been counted so far: an answer that failed has its price too.
    fn usage(&self) -> Usage;

    fn finish(self: Box<Self>) -> Result<Answer, Fault>;
}

/// An event's JSON. An error that a vendor sends instead is a fault.
pub fn parse(data: &str) -> Result<Value, Fault> {
    let value: Value = serde_json::from_str(data)
        .map_err(|error| Fault::Nonsense { message: format!("{error} in `{}`", one_line(&start(data))) })?;
    no_error(&value)?;
    Ok(value)
}

pub fn no_error(value: &Value) -> Result<(), Fault> {
    match value.get("error") {
        None | Some(Value::Null) => Ok(()),
        Some(error) => Err(stream_error(error)),
    }
}

fn start(text: &str) -> String {
    text.chars().take(80).collect()
}

/// An error inside a stream comes without a status: it is found from what the error says about itself, so that
/// [`Fault::from_response`] decides alone what helps.
pub fn stream_error(error: &Value) -> Fault {
    let numbered = ["code", "status"].iter().find_map(|key| error.get(key)?.as_u64()).and_then(|code| u16::try_from(code).ok());
    let named = ["type", "code", "status"].iter().filter_map(|key| error.get(key)?.as_str()).find_map(status_of);
    let status = numbered.filter(|code| (400..600).contains(code)).or(named).unwrap_or(500);
    Fault::from_response(status, None, &json!({ "error": error }).to_string())
}

fn status_of(name: &str) -> Option<u16> {
    Some(match name {
        "invalid_request_error" | "invalid_prompt" | "context_length_exceeded" | "exceed_context_size_error" => 400,
        "INVALID_ARGUMENT" | "FAILED_PRECONDITION" => 400,
        "authentication_error" | "invalid_api_key" | "UNAUTHENTICATED" => 401,
        "billing_error" => 402,
        "permission_error" | "PERMISSION_DENIED" => 403,
        "not_found_error" | "model_not_found" | "NOT_FOUND" => 404,
        "request_too_large" => 413,
        "rate_limit_error" | "rate_limit_exceeded" | "insufficient_quota" | "RESOURCE_EXHAUSTED" => 429,
        "api_error" | "server_error" | "INTERNAL" => 500,
        "UNAVAILABLE" | "server_is_overloaded" => 503,
        "timeout_error" | "DEADLINE_EXCEEDED" => 504,
        "overloaded_error" => 529,
        _ => return None,
    })
}

pub fn cut_off() -> Fault {
    Fault::CutOff { message: "the stream ended before the answer did".into() }
}

/// The model's or the vendor's own words, cut to a line.
pub fn refusal(words: &str) -> Fault {
    Fault::Refusal { message: one_line(words) }
}

pub fn answer(text: String, usage: Usage, stated_cost: Option<Money>) -> Result<Answer, Fault> {
    if text.trim().is_empty() {
        return Err(Fault::Nonsense { message: "it ended without a word of answer".into() });
    }
    Ok(Answer { text, usage, stated_cost })
}

/// The number at a path of keys.
pub fn count(value: &Value, path: &[&str]) -> Option<u64> {
    path.iter().try_fold(value, |value, key| value.get(key))?.as_u64()
}

pub fn text_at<'a>(value: &'a Value, path: &[&str]) -> Option<&'a str> {
    path.iter().try_fold(value, |value, key| value.get(key))?.as_str()
}

/// A list at a key, or nothing.
pub fn list<'a>(value: &'a Value, key: &str) -> impl DoubleEndedIterator<Item = &'a Value> + use<'a> {
    value.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default().iter()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tribunal_core::call::fault::Remedy;

    /// What helps against an error is the same inside a stream as before it.
    #[test]
    fn errors_in_a_stream_find_their_status() {
        let busy = |error: Value| matches!(stream_error(&error).remedy(0, 0), Remedy::Retry { .. });
        assert!(busy(json!({"type": "overloaded_error", "message": "Overloaded"})));
        assert!(busy(json!({"code": 503, "status": "UNAVAILABLE", "message": "try later"})));
        assert!(busy(json!({"code": "server_error", "message": "oops"})));
        assert!(busy(json!("something broke")));
        assert!(matches!(stream_error(&json!({"type": "overloaded_error"})), Fault::Busy { status: 529, .. }));
        assert!(matches!(stream_error(&json!({"type": "authentication_error"})), Fault::Credentials { .. }));
        assert!(matches!(
            stream_error(&json!({"type": "insufficient_quota", "code": "insufficient_quota"})),
            Fault::OutOfQuota { .. }
        ));
        assert!(matches!(
            stream_error(&json!({"code": "context_length_exceeded", "message": "too many tokens"})),
            Fault::TooLong { .. }
        ));
    }

    #[test]
    fn what_is_no_json_is_shown() {
        let fault = parse("<html>").unwrap_err();
        assert!(fault.to_string().contains("`<html>`"), "{fault}");
    }
}
