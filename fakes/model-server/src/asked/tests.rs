//! The same conversation on four wires reads the same.

use super::*;
use serde_json::json;

fn read(wire: Wire, body: Value) -> Asked {
    Asked::read(wire, None, body.to_string().as_bytes(), &body).unwrap()
}

fn four() -> Vec<Asked> {
    let schema = json!({ "type": "object" });
    vec![
        read(
            Wire::Anthropic,
            json!({
                "model": "m", "max_tokens": 9, "system": [{ "type": "text", "text": "be good" }],
                "tools": [{ "name": "bash", "input_schema": schema }],
                "messages": [
                    { "role": "user", "content": "do it" },
                    { "role": "assistant", "content": [{ "type": "tool_use", "id": "1", "name": "bash", "input": { "command": "ls" } }] },
                    { "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "1", "content": [{ "type": "text", "text": "a.rs" }] }] },
                ],
            }),
        ),
        read(
            Wire::Responses,
            json!({
                "model": "m", "instructions": "be good", "tools": [{ "type": "function", "name": "bash", "parameters": schema }],
                "input": [
                    { "role": "user", "content": [{ "type": "input_text", "text": "do it" }] },
                    { "type": "function_call", "call_id": "1", "name": "bash", "arguments": "{\"command\":\"ls\"}" },
                    { "type": "function_call_output", "call_id": "1", "output": "a.rs" },
                ],
            }),
        ),
        read(
            Wire::Chat,
            json!({
                "model": "m", "tools": [{ "type": "function", "function": { "name": "bash", "parameters": schema } }],
                "messages": [
                    { "role": "system", "content": "be good" },
                    { "role": "user", "content": "do it" },
                    { "role": "assistant", "tool_calls": [{ "id": "1", "function": { "name": "bash", "arguments": "{\"command\":\"ls\"}" } }] },
                    { "role": "tool", "tool_call_id": "1", "content": "a.rs" },
                ],
            }),
        ),
        read(
            Wire::Gemini,
            json!({
                "systemInstruction": { "parts": [{ "text": "be good" }] },
                "tools": [{ "functionDeclarations": [{ "name": "bash", "parameters": schema }] }],
                "contents": [
                    { "role": "user", "parts": [{ "text": "do it" }] },
                    { "role": "model", "parts": [{ "functionCall": { "name": "bash", "args": { "command": "ls" } } }] },
                    { "role": "user", "parts": [{ "functionResponse": { "name": "bash", "response": { "output": "a.rs" } } }] },
                ],
            }),
        ),
    ]
}

#[test]
fn four_wires_read_alike() {
    for asked in four() {
        assert_eq!(asked.prompt(), "be good\ndo it\na.rs");
        assert_eq!((asked.own(), asked.rounds()), ("do it", 1));
        assert_eq!(asked.calls().collect::<Vec<_>>(), [("bash", &json!({ "command": "ls" }))]);
        assert_eq!(asked.tools, [Tool { name: "bash".into(), schema: json!({ "type": "object" }) }]);
    }
}

#[test]
fn five_breakpoints_are_one_too_many() {
    let block = json!({ "type": "text", "text": "x", "cache_control": { "type": "ephemeral" } });
    let body = json!({ "model": "m", "max_tokens": 9, "messages": [{ "role": "user", "content": vec![block; 5] }] });
    let why = Asked::read(Wire::Anthropic, None, body.to_string().as_bytes(), &body).unwrap_err();
    assert!(why.contains("Found 5"), "{why}");
}

/// As Claude Code 2.1.325 sends it.
#[test]
fn the_users_own_words_are_found_before_a_late_system_message() {
    let late = json!([{ "type": "text", "text": "# Environment", "cache_control": { "type": "ephemeral" } }]);
    let messages = json!([{ "role": "user", "content": "Role: r" }, { "role": "system", "content": late }]);
    let asked = read(Wire::Anthropic, json!({ "model": "m", "max_tokens": 9, "messages": messages }));
    assert_eq!((asked.own(), asked.blocks[1].keep), ("Role: r", Some(Keep::FiveMinutes)));
}
