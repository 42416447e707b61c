//! Anthropic Messages: `input_tokens` leaves out what was read from or written to the cache, a `ping` follows the first block's start.

use super::{Event, Meta, Part, Stop, Turn, Usage, pieces};
use serde_json::{Value, json};

fn stop_reason(stop: Stop) -> &'static str {
    match stop {
        Stop::Done => "end_turn",
        Stop::Calls => "tool_use",
        Stop::MaxTokens => "max_tokens",
        Stop::Refused => "refusal",
    }
}

fn usage(usage: &Usage, output: u64) -> Value {
    json!({
        "input_tokens": usage.full_price(),
        "cache_creation_input_tokens": usage.cache_write + usage.cache_write_1h,
        "cache_read_input_tokens": usage.cache_read,
        "cache_creation": { "ephemeral_5m_input_tokens": usage.cache_write, "ephemeral_1h_input_tokens": usage.cache_write_1h },
        "output_tokens": output,
        "service_tier": "standard",
    })
}

/// Why a refused answer stopped; `null` otherwise.
fn stop_details(stop: Option<Stop>) -> Value {
    match stop {
        Some(Stop::Refused) => json!({ "type": "refusal", "category": "cyber", "explanation": "This request was declined." }),
        Some(Stop::Done | Stop::Calls | Stop::MaxTokens) | None => Value::Null,
    }
}

fn envelope(meta: &Meta, content: Vec<Value>, stop: Option<Stop>, output: u64) -> Value {
    json!({
        "id": format!("msg_{}", meta.id),
        "type": "message",
        "role": "assistant",
        "model": meta.model,
        "content": content,
        "stop_reason": stop.map(stop_reason),
        "stop_sequence": null,
        "stop_details": stop_details(stop),
        "usage": usage(&meta.usage, output),
    })
}

/// A refusal has no text: whatever was said before it is withdrawn.
fn spoken(turn: &Turn) -> &[Part] {
    if turn.stop == Stop::Refused { &[] } else { &turn.parts }
}

fn call_id(id: &str) -> String {
    format!("toolu_{id}")
}

pub fn body(turn: &Turn, meta: &Meta) -> Value {
    let content = spoken(turn)
        .iter()
        .map(|part| match part {
            Part::Text(text) => json!({ "type": "text", "text": text }),
            Part::Call { id, name, input } => json!({ "type": "tool_use", "id": call_id(id), "name": name, "input": input }),
        })
        .collect();
    envelope(meta, content, Some(turn.stop), meta.usage.output)
}

pub fn events(turn: &Turn, meta: &Meta) -> Vec<Event> {
    let start = json!({ "type": "message_start", "message": envelope(meta, Vec::new(), None, meta.usage.output.min(1)) });
    let mut events = vec![Event::named("message_start", start)];
    let ping = || Event::named("ping", json!({ "type": "ping" }));
    for (index, part) in spoken(turn).iter().enumerate() {
        let (block, deltas) = open(part, meta.piece);
        let opened = json!({ "type": "content_block_start", "index": index, "content_block": block });
        events.push(Event::named("content_block_start", opened));
        if index == 0 {
            events.push(ping());
        }
        for delta in deltas {
            let data = json!({ "type": "content_block_delta", "index": index, "delta": delta });
            events.push(Event::named("content_block_delta", data).into_delta());
        }
        events.push(Event::named("content_block_stop", json!({ "type": "content_block_stop", "index": index })));
    }
    if events.len() == 1 {
        events.push(ping());
    }
    let last = json!({
        "type": "message_delta",
        "delta": { "stop_reason": stop_reason(turn.stop), "stop_sequence": null, "stop_details": stop_details(Some(turn.stop)) },
        "usage": {
            "input_tokens": meta.usage.full_price(),
            "cache_creation_input_tokens": meta.usage.cache_write + meta.usage.cache_write_1h,
            "cache_read_input_tokens": meta.usage.cache_read,
            "output_tokens": meta.usage.output,
        },
    });
    events.push(Event::named("message_delta", last));
    events.push(Event::named("message_stop", json!({ "type": "message_stop" })));
    events
}

/// A block as it stands at its start, and the deltas that fill it. Tool input begins with an empty piece, as the real one does.
fn open(part: &Part, piece: usize) -> (Value, Vec<Value>) {
    match part {
        Part::Text(text) => (
            json!({ "type": "text", "text": "" }),
            pieces(text, piece).into_iter().map(|piece| json!({ "type": "text_delta", "text": piece })).collect(),
        ),
        Part::Call { id, name, input } => (
            json!({ "type": "tool_use", "id": call_id(id), "name": name, "input": {} }),
            std::iter::once(String::new())
                .chain(pieces(&input.to_string(), piece))
                .map(|piece| json!({ "type": "input_json_delta", "partial_json": piece }))
                .collect(),
        ),
    }
}

pub fn overloaded_event() -> Event {
    let error = json!({ "type": "overloaded_error", "message": "Overloaded" });
    Event::named("error", json!({ "type": "error", "error": error }))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{meta, names};
    use super::*;

    #[test]
    fn a_text_streams_as_one_block_with_a_ping() {
        let events = events(&Turn::text("abcdef"), &meta(4));
        assert_eq!(
            names(&events),
            "message_start content_block_start ping content_block_delta content_block_delta content_block_stop message_delta message_stop"
        );
    }

    #[test]
    fn a_refusal_says_nothing_but_its_reason() {
        let refused = Turn { parts: vec![Part::Text("no".into())], stop: Stop::Refused };
        let body = body(&refused, &meta(4));
        assert_eq!((body["content"].as_array().unwrap().len(), body["stop_reason"].as_str()), (0, Some("refusal")));
    }

    #[test]
    fn input_leaves_out_the_cached_part() {
        let mut meta = meta(4);
        meta.usage = Usage { input: 100, cache_read: 60, cache_write: 30, cache_write_1h: 0, output: 2 };
        assert_eq!(body(&Turn::text("x"), &meta)["usage"]["input_tokens"], 10);
    }
}
