//! OpenAI Responses: every event has a sequence number, items open and close, and the last event carries the whole response.

use super::{Event, Meta, Part, Stop, Turn, Usage, pieces};
use serde_json::{Value, json};

fn usage(usage: &Usage) -> Value {
    json!({
        "input_tokens": usage.input,
        "input_tokens_details": { "cached_tokens": usage.cache_read, "cache_write_tokens": usage.cache_write },
        "output_tokens": usage.output,
        "output_tokens_details": { "reasoning_tokens": 0 },
        "total_tokens": usage.input + usage.output,
    })
}

fn envelope(meta: &Meta, status: &str, output: Vec<Value>) -> Value {
    json!({
        "id": format!("resp_{}", meta.id),
        "object": "response",
        "created_at": meta.created,
        "status": status,
        "background": false,
        "error": null,
        "incomplete_details": null,
        "instructions": null,
        "max_output_tokens": null,
        "metadata": {},
        "model": meta.model,
        "output": output,
        "parallel_tool_calls": true,
        "previous_response_id": null,
        "reasoning": { "effort": null, "summary": null },
        "service_tier": "default",
        "store": false,
        "temperature": 1.0,
        "text": { "format": { "type": "text" } },
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
        "truncation": "disabled",
        "usage": null,
    })
}

fn content(text: &str, stop: Stop) -> Value {
    if stop == Stop::Refused {
        json!({ "type": "refusal", "refusal": text })
    } else {
        json!({ "type": "output_text", "annotations": [], "logprobs": [], "text": text })
    }
}

fn item(part: &Part, index: usize, stop: Stop, meta: &Meta) -> Value {
    let status = if stop == Stop::MaxTokens { "incomplete" } else { "completed" };
    match part {
        Part::Text(text) => json!({
            "id": format!("msg_{}_{index}", meta.id), "type": "message", "status": status, "role": "assistant",
            "content": [content(text, stop)],
        }),
        Part::Call { id, name, input } => json!({
            "id": format!("fc_{}_{index}", meta.id), "type": "function_call", "status": status,
            "call_id": format!("call_{id}"), "name": name, "arguments": input.to_string(),
        }),
    }
}

pub fn body(turn: &Turn, meta: &Meta) -> Value {
    let items = turn.parts.iter().enumerate().map(|(index, part)| item(part, index, turn.stop, meta)).collect();
    let cut = turn.stop == Stop::MaxTokens;
    let mut body = envelope(meta, if cut { "incomplete" } else { "completed" }, items);
    if cut {
        body["incomplete_details"] = json!({ "reason": "max_output_tokens" });
    }
    body["usage"] = usage(&meta.usage);
    body
}

pub fn events(turn: &Turn, meta: &Meta) -> Vec<Event> {
    let mut events = Sequence(Vec::new());
    let opened = json!({ "response": envelope(meta, "in_progress", Vec::new()) });
    events.push("response.created", opened.clone());
    events.push("response.in_progress", opened);
    for (index, part) in turn.parts.iter().enumerate() {
        let done = item(part, index, turn.stop, meta);
        let place = Place { item: done["id"].clone(), index };
        let mut opened = done.clone();
        opened["status"] = Value::from("in_progress");
        let hollow = if matches!(part, Part::Text(_)) { ("content", json!([])) } else { ("arguments", json!("")) };
        opened[hollow.0] = hollow.1;
        events.push("response.output_item.added", json!({ "output_index": index, "item": opened }));
        match part {
            Part::Text(text) => text_events(&mut events, &place, text, turn.stop, meta.piece),
            Part::Call { name, input, .. } => {
                for piece in pieces(&input.to_string(), meta.piece) {
                    events.push_delta("response.function_call_arguments.delta", place.with(json!({ "delta": piece })));
                }
                let whole = place.with(json!({ "name": name, "arguments": input.to_string() }));
                events.push("response.function_call_arguments.done", whole);
            }
        }
        events.push("response.output_item.done", json!({ "output_index": index, "item": done }));
    }
    let last = if turn.stop == Stop::MaxTokens { "response.incomplete" } else { "response.completed" };
    events.push(last, json!({ "response": body(turn, meta) }));
    events.0
}

fn text_events(events: &mut Sequence, place: &Place, text: &str, stop: Stop, size: usize) {
    let part = |text: &str| place.with(json!({ "content_index": 0, "part": content(text, stop) }));
    events.push("response.content_part.added", part(""));
    if stop == Stop::Refused {
        for piece in pieces(text, size) {
            events.push_delta("response.refusal.delta", place.with(json!({ "content_index": 0, "delta": piece })));
        }
        events.push("response.refusal.done", place.with(json!({ "content_index": 0, "refusal": text })));
    } else {
        for piece in pieces(text, size) {
            let data = json!({ "content_index": 0, "delta": piece, "logprobs": [] });
            events.push_delta("response.output_text.delta", place.with(data));
        }
        events.push("response.output_text.done", place.with(json!({ "content_index": 0, "text": text, "logprobs": [] })));
    }
    events.push("response.content_part.done", part(text));
}

/// Which output item an event is about.
struct Place {
    item: Value,
    index: usize,
}

impl Place {
    fn with(&self, mut data: Value) -> Value {
        data["item_id"] = self.item.clone();
        data["output_index"] = Value::from(self.index);
        data
    }
}

/// Numbers the events as they are added.
struct Sequence(Vec<Event>);

impl Sequence {
    fn push(&mut self, name: &'static str, mut data: Value) {
        data["type"] = Value::from(name);
        data["sequence_number"] = Value::from(self.0.len());
        self.0.push(Event::named(name, data));
    }

    fn push_delta(&mut self, name: &'static str, data: Value) {
        self.push(name, data);
        if let Some(event) = self.0.last_mut() {
            event.delta = true;
        }
    }
}

pub fn overloaded_event(meta: &Meta, sent: usize) -> Event {
    let mut response = envelope(meta, "failed", Vec::new());
    response["error"] =
        json!({ "code": "server_is_overloaded", "message": "Our servers are currently overloaded. Please try again later." });
    Event::named("response.failed", json!({ "type": "response.failed", "sequence_number": sent, "response": response }))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{meta, names};
    use super::*;
    use crate::wire::EventData;

    #[test]
    fn a_text_opens_and_closes_item_and_part() {
        let events = events(&Turn::text("abcdef"), &meta(3));
        assert_eq!(
            names(&events).replace("response.", ""),
            "created in_progress output_item.added content_part.added output_text.delta output_text.delta output_text.done \
             content_part.done output_item.done completed"
        );
        for (index, event) in events.iter().enumerate() {
            let EventData::Json(data) = &event.data else { unreachable!() };
            assert_eq!(data["sequence_number"], index);
        }
    }

    #[test]
    fn truncation_ends_incomplete_and_refusal_is_a_content_kind() {
        let cut = events(&Turn { parts: vec![Part::Text("x".into())], stop: Stop::MaxTokens }, &meta(3));
        assert!(names(&cut).ends_with("response.incomplete"));
        let refused = body(&Turn { parts: vec![Part::Text("no".into())], stop: Stop::Refused }, &meta(3));
        assert_eq!(refused.pointer("/output/0/content/0/refusal").and_then(Value::as_str), Some("no"));
    }
}
