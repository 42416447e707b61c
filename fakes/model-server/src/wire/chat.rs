//! OpenAI Chat Completions, the dialect that every compatible server speaks: usage comes in a chunk of its own, and only if asked for.

use super::{Event, EventData, Meta, Part, Stop, Turn, Usage, pieces};
use serde_json::{Value, json};

fn finish_reason(stop: Stop) -> &'static str {
    match stop {
        Stop::Done | Stop::Refused => "stop",
        Stop::Calls => "tool_calls",
        Stop::MaxTokens => "length",
    }
}

fn usage(usage: &Usage) -> Value {
    json!({
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": usage.input + usage.output,
        "prompt_tokens_details": { "cached_tokens": usage.cache_read, "cache_write_tokens": 0, "audio_tokens": 0 },
        "completion_tokens_details": {
            "reasoning_tokens": 0, "audio_tokens": 0, "accepted_prediction_tokens": 0, "rejected_prediction_tokens": 0,
        },
    })
}

fn call_id(id: &str) -> String {
    format!("call_{id}")
}

pub fn body(turn: &Turn, meta: &Meta) -> Value {
    let mut text = String::new();
    let mut calls = Vec::new();
    for part in &turn.parts {
        match part {
            Part::Text(said) => text.push_str(said),
            Part::Call { id, name, input } => calls.push(json!({
                "id": call_id(id), "type": "function", "function": { "name": name, "arguments": input.to_string() },
            })),
        }
    }
    let said = if text.is_empty() && !calls.is_empty() { Value::Null } else { Value::from(text) };
    let (content, refusal) = if turn.stop == Stop::Refused { (Value::Null, said) } else { (said, Value::Null) };
    let mut message = json!({ "role": "assistant", "content": content, "refusal": refusal, "annotations": [] });
    if !calls.is_empty() {
        message["tool_calls"] = Value::from(calls);
    }
    json!({
        "id": format!("chatcmpl-{}", meta.id),
        "object": "chat.completion",
        "created": meta.created,
        "model": meta.model,
        "choices": [{ "index": 0, "message": message, "logprobs": null, "finish_reason": finish_reason(turn.stop) }],
        "usage": usage(&meta.usage),
        "service_tier": "default",
        "system_fingerprint": "fp_fake",
    })
}

fn chunk(meta: &Meta, choices: Value, with_usage: Value) -> Value {
    let mut chunk = json!({
        "id": format!("chatcmpl-{}", meta.id),
        "object": "chat.completion.chunk",
        "created": meta.created,
        "model": meta.model,
        "service_tier": "default",
        "system_fingerprint": "fp_fake",
        "choices": choices,
    });
    if meta.include_usage {
        chunk["usage"] = with_usage;
    }
    chunk
}

pub fn events(turn: &Turn, meta: &Meta) -> Vec<Event> {
    let delta = |delta: Value, finish: Option<&str>| {
        let choice = json!([{ "index": 0, "delta": delta, "logprobs": null, "finish_reason": finish }]);
        Event::plain(chunk(meta, choice, Value::Null))
    };
    let opening = if turn.has_calls() { Value::Null } else { Value::from("") };
    let mut events = vec![delta(json!({ "role": "assistant", "content": opening, "refusal": null }), None)];
    let mut called = 0;
    for part in &turn.parts {
        match part {
            Part::Text(text) => {
                let field = if turn.stop == Stop::Refused { "refusal" } else { "content" };
                events
                    .extend(pieces(text, meta.piece).into_iter().map(|piece| delta(json!({ field: piece }), None).into_delta()));
            }
            Part::Call { id, name, input } => {
                let function = json!({ "name": name, "arguments": "" });
                let head = json!([{ "index": called, "id": call_id(id), "type": "function", "function": function }]);
                events.push(delta(json!({ "tool_calls": head }), None));
                events.extend(pieces(&input.to_string(), meta.piece).into_iter().map(|piece| {
                    delta(json!({ "tool_calls": [{ "index": called, "function": { "arguments": piece } }] }), None).into_delta()
                }));
                called += 1;
            }
        }
    }
    events.push(delta(json!({}), Some(finish_reason(turn.stop))));
    if meta.include_usage {
        events.push(Event::plain(chunk(meta, json!([]), usage(&meta.usage))));
    }
    events.push(Event { name: None, data: EventData::Word("[DONE]"), delta: false });
    events
}

pub fn overloaded_event() -> Event {
    let message = "The server is currently overloaded with other requests. Please try again later.";
    Event::plain(
        json!({ "error": { "message": message, "type": "server_error", "param": null, "code": "server_is_overloaded" } }),
    )
}

#[cfg(test)]
mod tests {
    use super::super::Wire;
    use super::super::tests::meta;
    use super::*;

    #[test]
    fn usage_comes_last_and_only_if_asked_for() {
        let mut meta = meta(3);
        let plain = events(&Turn::text("abcdef"), &meta);
        assert_eq!(plain.len(), 5, "role, two pieces, finish, done");
        assert!(plain.iter().all(|event| !event.encode(Wire::Chat).contains("usage")));
        meta.include_usage = true;
        let asked = events(&Turn::text("abcdef"), &meta);
        let EventData::Json(last) = &asked[asked.len() - 2].data else { unreachable!() };
        assert_eq!((last["choices"].as_array().unwrap().len(), last["usage"]["completion_tokens"].as_u64()), (0, Some(2)));
        assert_eq!(asked[asked.len() - 1].encode(Wire::Chat), "data: [DONE]\n\n");
    }

    #[test]
    fn a_call_streams_its_head_and_then_its_arguments() {
        let call = Part::Call { id: "1".into(), name: "bash".into(), input: json!({ "command": "ls" }) };
        let events = events(&Turn { parts: vec![call], stop: Stop::Calls }, &meta(100));
        let EventData::Json(arguments) = &events[2].data else { unreachable!() };
        let path = "/choices/0/delta/tool_calls/0/function/arguments";
        assert_eq!(arguments.pointer(path).and_then(Value::as_str), Some(r#"{"command":"ls"}"#));
    }
}
