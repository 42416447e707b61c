//! Gemini: every chunk is a whole response of its own, the usage is in all of them and complete in the last, tool calls arrive whole.

use super::{Event, Meta, Part, Stop, Turn, Usage, pieces};
use serde_json::{Value, json};

fn finish_reason(stop: Stop) -> &'static str {
    match stop {
        Stop::Done | Stop::Calls => "STOP",
        Stop::MaxTokens => "MAX_TOKENS",
        Stop::Refused => "PROHIBITED_CONTENT",
    }
}

fn usage(usage: &Usage, output: Option<u64>) -> Value {
    let mut data = json!({
        "promptTokenCount": usage.input,
        "totalTokenCount": usage.input + output.unwrap_or(0),
        "promptTokensDetails": [{ "modality": "TEXT", "tokenCount": usage.input }],
    });
    if let Some(output) = output {
        data["candidatesTokenCount"] = Value::from(output);
    }
    // Left out rather than zero when nothing was cached, as the real one does.
    if usage.cache_read > 0 {
        data["cachedContentTokenCount"] = Value::from(usage.cache_read);
        data["cacheTokensDetails"] = json!([{ "modality": "TEXT", "tokenCount": usage.cache_read }]);
    }
    data
}

fn chunk(meta: &Meta, parts: Vec<Value>, stop: Option<Stop>, output: Option<u64>) -> Value {
    let mut candidate = json!({ "index": 0 });
    if !parts.is_empty() {
        candidate["content"] = json!({ "parts": parts, "role": "model" });
    }
    if let Some(stop) = stop {
        candidate["finishReason"] = Value::from(finish_reason(stop));
    }
    json!({
        "candidates": [candidate],
        "usageMetadata": usage(&meta.usage, output),
        "modelVersion": meta.model,
        "responseId": meta.id,
    })
}

fn part(part: &Part) -> Value {
    match part {
        Part::Text(text) => json!({ "text": text }),
        Part::Call { id, name, input } => json!({ "functionCall": { "id": id, "name": name, "args": input } }),
    }
}

/// A refused prompt has no candidate at all: the reason sits in `promptFeedback`.
fn refused(meta: &Meta) -> Value {
    json!({
        "promptFeedback": { "blockReason": "PROHIBITED_CONTENT" },
        "usageMetadata": usage(&meta.usage, None),
        "modelVersion": meta.model,
        "responseId": meta.id,
    })
}

pub fn body(turn: &Turn, meta: &Meta) -> Value {
    if turn.stop == Stop::Refused {
        return refused(meta);
    }
    chunk(meta, turn.parts.iter().map(part).collect(), Some(turn.stop), Some(meta.usage.output))
}

pub fn events(turn: &Turn, meta: &Meta) -> Vec<Event> {
    if turn.stop == Stop::Refused {
        return vec![Event::plain(refused(meta))];
    }
    let mut parts: Vec<Value> = Vec::new();
    for said in &turn.parts {
        match said {
            Part::Text(text) => parts.extend(pieces(text, meta.piece).into_iter().map(|piece| json!({ "text": piece }))),
            Part::Call { .. } => parts.push(part(said)),
        }
    }
    let mut events: Vec<Event> =
        parts.into_iter().map(|part| Event::plain(chunk(meta, vec![part], None, Some(1))).into_delta()).collect();
    events.push(Event::plain(chunk(meta, vec![json!({ "text": "" })], Some(turn.stop), Some(meta.usage.output))));
    events
}

pub fn overloaded_event() -> Event {
    let message = "The model is overloaded. Please try again later.";
    Event::plain(json!({ "error": { "code": 503, "message": message, "status": "UNAVAILABLE" } }))
}

#[cfg(test)]
mod tests {
    use super::super::tests::meta;
    use super::*;
    use crate::wire::EventData;

    #[test]
    fn the_last_chunk_has_the_reason_and_the_whole_usage() {
        let events = events(&Turn::text("abcdef"), &meta(3));
        assert_eq!(events.len(), 3);
        let EventData::Json(last) = &events[2].data else { unreachable!() };
        assert_eq!(last.pointer("/candidates/0/finishReason").and_then(Value::as_str), Some("STOP"));
        assert_eq!(last.pointer("/usageMetadata/candidatesTokenCount").and_then(Value::as_u64), Some(2));
        assert!(last.pointer("/usageMetadata/cachedContentTokenCount").is_none(), "nothing was cached");
    }

    #[test]
    fn a_refusal_has_no_candidates() {
        let body = body(&Turn { parts: vec![], stop: Stop::Refused }, &meta(3));
        assert!(body.get("candidates").is_none() && body["promptFeedback"]["blockReason"] == "PROHIBITED_CONTENT");
    }
}
