use super::*;
use serde_json::json;

fn route() -> Route {
    super::super::route::find(Wire::Openai, &hyper::Method::POST, "/v1/responses", None).unwrap()
}

fn gate(wire: Wire, body: &Value) -> Result<(), String> {
    let route = route();
    check(wire, &route, body.to_string().as_bytes(), None).map(|checked| assert!(checked.is_some()))
}

fn sent(wire: Wire, body: &Value) -> Value {
    let checked = check(wire, &route(), body.to_string().as_bytes(), None).unwrap().unwrap();
    serde_json::from_slice(&checked.bytes()).unwrap()
}

/// C14: what the vendor reads is what was checked, whatever a lenient reader would make of the bytes.
#[test]
fn what_goes_out_is_what_was_read() {
    let route = route();
    let twice = br#"{"model":"dear","tools":[{"type":"web_search"}],"tools":[],"model":"cheap"}"#;
    let checked = check(Wire::Openai, &route, twice, Some("cheap")).unwrap().unwrap();
    let sent: Value = serde_json::from_slice(&checked.bytes()).unwrap();
    assert_eq!(sent, json!({ "model": "cheap", "tools": [] }));
    let text = String::from_utf8(checked.bytes()).unwrap();
    assert!(!text.contains("web_search") && !text.contains("dear"), "{text}");
    for odd in [&b"[]"[..], b"\"x\"", b"{} {}", b"{}\0", b""] {
        assert!(check(Wire::Openai, &route, odd, None).is_err(), "{odd:?}");
    }
    let silent = Route { asks: false, ..route };
    assert_eq!(check(Wire::Openai, &silent, b"", None), Ok(None));
    assert!(check(Wire::Openai, &silent, twice, None).is_err());
}

#[test]
fn tools_of_our_side_pass() {
    assert_eq!(gate(Wire::Anthropic, &json!({ "tools": [{ "name": "Read", "input_schema": {} }] })), Ok(()));
    assert_eq!(gate(Wire::Openai, &json!({ "tools": [{ "type": "function", "name": "exec" }, { "type": "custom" }] })), Ok(()));
    assert_eq!(gate(Wire::Gemini, &json!({ "tools": [{ "functionDeclarations": [] }] })), Ok(()));
    let schema =
        json!({ "tools": [{ "type": "function", "parameters": { "properties": { "image_url": { "type": "string" } } } }] });
    assert_eq!(gate(Wire::Openai, &schema), Ok(()));
}

#[test]
fn tools_of_the_vendor_s_side_do_not() {
    for tool in
        ["web_search_20250305", "web_fetch_20250910", "mcp_toolset", "code_interpreter", "shell", "openrouter:shell", "new"]
    {
        for wire in [Wire::Anthropic, Wire::Openai, Wire::OpenaiChat] {
            assert!(gate(wire, &json!({ "tools": [{ "type": tool, "name": "x" }] })).is_err(), "{tool}");
        }
    }
    for tools in [json!({ "urlContext": {} }), json!("urlContext"), json!({ "urlContext": {}, "type": "x" })] {
        assert!(gate(Wire::Gemini, &json!({ "tools": tools })).is_err(), "{tools}");
    }
    assert!(gate(Wire::Gemini, &json!({ "generationConfig": { "tools": { "urlContext": {} } } })).is_err());
    let parameter = json!({ "functionDeclarations": [{ "parameters": { "properties": { "tools": { "type": "ARRAY" } } } }] });
    assert_eq!(gate(Wire::Gemini, &json!({ "tools": [parameter] })), Ok(()));
    let grouped = json!({ "input": [{ "type": "additional_tools", "tools": [{ "type": "namespace", "tools": [{ "type": "web_search" }] }] }] });
    assert!(gate(Wire::Openai, &grouped).is_err());
    assert!(gate(Wire::Gemini, &json!({ "tools": [{ "urlContext": {} }] })).is_err());
    assert!(gate(Wire::Anthropic, &json!({ "mcp_servers": [{ "url": "https://evil.example" }] })).is_err());
    assert!(gate(Wire::OpenaiChat, &json!({ "plugins": [{ "id": "web" }] })).is_err());
}

/// A field that is new to us may be one that reaches out.
#[test]
fn fields_that_are_not_known_are_left_out() {
    let route = route();
    for wire in [Wire::Anthropic, Wire::Openai, Wire::OpenaiChat, Wire::Gemini] {
        let checked = check(wire, &route, br#"{"tools":[],"cachedContent":"x","prompt":{"id":"x"},"models":["dear"]}"#, None);
        assert_eq!(checked.unwrap().unwrap().body, json!({ "tools": [] }), "{wire:?}");
    }
}

#[test]
fn nothing_is_fetched_on_a_child_s_behalf() {
    let picture =
        json!({ "messages": [{ "content": [{ "type": "image", "source": { "type": "url", "url": "https://e/?s=1" } }] }] });
    assert!(gate(Wire::Anthropic, &picture).is_err());
    let inline = json!({ "input": [{ "content": [{ "type": "input_image", "image_url": "data:image/png;base64,AA" }] }] });
    assert_eq!(gate(Wire::Openai, &inline), Ok(()));
    let chat = json!({ "messages": [{ "content": [{ "type": "image_url", "image_url": { "url": "http://e/" } }] }] });
    assert!(gate(Wire::OpenaiChat, &chat).is_err());
    assert!(gate(Wire::Gemini, &json!({ "contents": [{ "parts": [{ "fileData": { "fileUri": "https://e/" } }] }] })).is_err());
}

/// Each of these was sent on with the real key while addresses were found by a list of names.
#[test]
fn content_that_no_table_names_is_refused() {
    let address = "http://169.254.169.254/latest/";
    let chat = [
        json!({ "type": "document_url", "document_url": { "url": address } }),
        json!({ "type": "audio_url", "audio_url": { "url": address } }),
        json!({ "type": "file", "file": { "file_data": "https://evil.example/?words" } }),
        json!({ "type": "file", "file": { "file_id": "https://evil.example/?words" } }),
        json!({ "type": "video", "video": ["https://evil.example/1.png"] }),
        json!({ "type": "input_audio", "input_audio": { "data": address, "format": "wav" } }),
        json!({ "type": "image_url", "image_url": "data:image/svg+xml;base64,AAAA" }),
        json!({ "type": "image_url", "image_url": { "url": "data:image/png,http://e/" } }),
        json!({ "type": "text", "text": "x", "image": address }),
        json!({ "text": "x" }),
    ];
    for part in chat {
        assert!(
            gate(Wire::OpenaiChat, &json!({ "messages": [{ "role": "user", "content": [part.clone()] }] })).is_err(),
            "{part}"
        );
    }
    for message in [json!({ "role": "user", "images": [address] }), json!({ "role": "user", "content": { "url": address } })] {
        assert!(gate(Wire::OpenaiChat, &json!({ "messages": [message] })).is_err(), "{message}");
    }
    let responses = [
        json!({ "type": "message", "content": [{ "type": "input_file", "file_data": address }] }),
        json!({ "type": "message", "content": [{ "type": "input_file", "file_id": "file-1" }] }),
        json!({ "type": "message", "content": [{ "type": "input_image", "file_id": address }] }),
        json!({ "type": "function_call_output", "call_id": "1", "output": [{ "type": "input_video", "video": address }] }),
        json!({ "type": "item_reference", "id": "msg_1" }),
        json!({ "type": "mcp_approval_response", "approve": true }),
    ];
    for item in responses {
        assert!(gate(Wire::Openai, &json!({ "input": [item.clone()] })).is_err(), "{item}");
    }
    let anthropic = [
        json!({ "type": "document", "source": { "type": "file", "file_id": "file_1" } }),
        json!({ "type": "container_upload", "file_id": "file_1" }),
        json!({ "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": "https://evil.example/" } }),
        json!({ "type": "tool_result", "tool_use_id": "1", "content": [{ "type": "web_fetch_result", "link": address }] }),
    ];
    for part in anthropic {
        assert!(
            gate(Wire::Anthropic, &json!({ "messages": [{ "role": "user", "content": [part.clone()] }] })).is_err(),
            "{part}"
        );
    }
    let gemini = [
        json!({ "inlineData": { "mimeType": "image/png", "data": "https://evil.example/" } }),
        json!({ "file_data": { "file_uri": null, "uri": address } }),
        json!({ "functionResponse": { "name": "x", "response": {}, "parts": [{ "fileData": { "uri": address } }] } }),
    ];
    for part in gemini {
        assert!(gate(Wire::Gemini, &json!({ "contents": [{ "parts": [part.clone()] }] })).is_err(), "{part}");
    }
}

/// Beside what the real CLIs send in the tests that start them.
#[test]
fn conversations_pass_unchanged() {
    let input = json!({ "image_url": "https://in.a/tool's-input", "deep": [{ "file_id": "x" }] });
    let ephemeral = json!({ "type": "ephemeral" });
    let anthropic = json!({
        "system": [{ "type": "text", "text": "x", "cache_control": ephemeral }],
        "messages": [
            { "role": "user", "content": "look at https://a.b/" },
            { "role": "assistant", "content": [
                { "type": "thinking", "thinking": "x", "signature": "s" },
                { "type": "redacted_thinking", "data": "x" },
                { "type": "text", "text": "x", "citations": [{ "type": "char_location", "cited_text": "x", "document_index": 0 }] },
                { "type": "tool_use", "id": "1", "name": "Read", "input": input },
            ] },
            { "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "1", "is_error": false, "content": [
                { "type": "text", "text": "x" },
                { "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": "iVBO" } },
                { "type": "document", "source": { "type": "base64", "media_type": "application/pdf", "data": "JVBE" } },
            ] }] },
        ],
    });
    let output =
        json!([{ "type": "input_text", "text": "x" }, { "type": "input_image", "image_url": "data:image/png;base64,iVBO" }]);
    let responses = json!({ "input": [
        { "type": "message", "role": "assistant", "id": "1", "status": "completed", "phase": "final_answer",
          "content": [{ "type": "output_text", "text": "x", "annotations": [{ "type": "url_citation", "url": "https://a.b/" }] }] },
        { "type": "reasoning", "id": "2", "summary": [{ "type": "summary_text", "text": "x" }], "encrypted_content": "x" },
        { "type": "function_call", "call_id": "3", "name": "exec", "arguments": "{}", "status": "completed" },
        { "type": "function_call_output", "call_id": "3", "output": output },
        { "type": "custom_tool_call", "call_id": "4", "name": "apply_patch", "input": "x" },
        { "type": "custom_tool_call_output", "call_id": "4", "output": "x" },
    ] });
    let chat = json!({ "messages": [
        { "role": "system", "content": [{ "type": "text", "text": "x", "cache_control": ephemeral }] },
        { "role": "user", "content": [{ "type": "image_url", "image_url": { "url": "data:image/png;base64,iVBO", "detail": "low" } }] },
        { "role": "assistant", "content": null, "reasoning_content": "x",
          "tool_calls": [{ "id": "1", "type": "function", "function": { "name": "read", "arguments": input.to_string() } }] },
        { "role": "tool", "tool_call_id": "1", "content": "x" },
    ] });
    let gemini = json!({ "systemInstruction": { "role": "user", "parts": [{ "text": "x" }] }, "contents": [
        { "role": "model", "parts": [
            { "text": "x", "thought": true, "thoughtSignature": "s" },
            { "functionCall": { "id": "1", "name": "read_file", "args": input } },
        ] },
        { "role": "user", "parts": [
            { "functionResponse": { "id": "1", "name": "read_file", "response": { "output": input } } },
            { "inlineData": { "mimeType": "image/png", "data": "iVBO" } },
        ] },
    ] });
    for (wire, body) in
        [(Wire::Anthropic, anthropic), (Wire::Openai, responses), (Wire::OpenaiChat, chat), (Wire::Gemini, gemini)]
    {
        assert_eq!(sent(wire, &body), body, "{wire:?}");
    }
}

#[test]
fn what_changes_the_price_is_left_out() {
    for field in ["service_tier", "serviceTier", "speed", "n", "modalities", "prediction", "inference_geo"] {
        for wire in [Wire::Anthropic, Wire::Openai, Wire::OpenaiChat, Wire::Gemini] {
            assert_eq!(sent(wire, &json!({ field: "fast", "tools": [] })), json!({ "tools": [] }), "{wire:?} {field}");
        }
    }
    let several = json!({ "generationConfig": { "candidateCount": 9, "responseModalities": ["AUDIO"], "topP": 1 } });
    assert_eq!(sent(Wire::Gemini, &several), json!({ "generationConfig": { "topP": 1 } }));
    let hour = json!({ "type": "ephemeral", "ttl": "1h" });
    let kept = json!({ "type": "ephemeral" });
    let cached = |control: &Value| {
        json!({ "cache_control": control, "tools": [{ "name": "x", "cache_control": control }],
            "messages": [{ "role": "user", "content": [{ "type": "text", "text": "x", "cache_control": control }] }] })
    };
    assert_eq!(sent(Wire::Anthropic, &cached(&hour)), cached(&kept));
    // A stream whose end is not asked to count tokens would cost nothing that anybody sees.
    let silent = json!({ "stream": true, "stream_options": { "include_usage": false } });
    assert_eq!(sent(Wire::OpenaiChat, &silent)["stream_options"]["include_usage"], true);
}

#[test]
fn a_request_of_many_small_values_is_not_read() {
    let body = format!("{{\"tool_choice\":[{}0]}}", "0,".repeat(300_000));
    assert!(check(Wire::Openai, &route(), body.as_bytes(), None).is_err());
    let commas = json!({ "instructions": "\",[{".repeat(300_000) });
    assert_eq!(gate(Wire::Openai, &commas), Ok(()));
}

#[test]
fn only_its_own_model_is_asked() {
    let route = route();
    assert!(check(Wire::Openai, &route, br#"{"model":"dear"}"#, Some("cheap")).is_err());
    assert!(check(Wire::Openai, &route, br#"{"model":"cheap"}"#, Some("cheap")).is_ok());
}
