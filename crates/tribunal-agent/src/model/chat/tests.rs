use super::*;
use reader::Reader as _;
use tribunal_core::policy::agents::Effort;

fn question() -> Question {
    let schema = json!({"type": "object", "properties": {"n": {"type": "string", "maxLength": 3}}, "required": ["n"]});
    Question { system: "S".into(), shared: "SHARED".into(), own: "OWN".into(), schema, repair: None }
}

fn config(base_url: Option<&str>) -> ModelConfig {
    let effort = Some(Effort::Medium);
    ModelConfig { model: "m".into(), base_url: base_url.map(str::to_owned), effort, ..ModelConfig::default() }
}

fn read(events: &[&str]) -> Result<Answer, Fault> {
    let mut reader = Box::new(Reader::new(&config(None)));
    events.iter().try_for_each(|data| reader.event(None, data))?;
    reader.finish()
}

#[test]
fn the_vendor_gets_parts_and_its_own_names() {
    let body = request(&config(None), &question(), "prefix").body;
    assert_eq!(
        body,
        json!({
            "model": "m", "stream": true, "stream_options": {"include_usage": true}, "max_completion_tokens": 16000,
            "prompt_cache_key": "prefix", "reasoning_effort": "medium",
            "messages": [{"role": "system", "content": "S"}, {"role": "user", "content": [
                {"type": "text", "text": "SHARED"}, {"type": "text", "text": "OWN"}]}],
            "response_format": {"type": "json_schema", "json_schema": {"name": "answer", "strict": true, "schema": {
                "type": "object", "properties": {"n": {"type": "string"}}, "required": ["n"], "additionalProperties": false}}},
        })
    );
}

#[test]
fn other_servers_get_plain_text_and_bounds() {
    let body = request(&config(Some("http://127.0.0.1:11434/v1")), &question(), "prefix").body;
    assert_eq!(body["messages"][1]["content"], "SHARED\n\nOWN");
    assert_eq!(body["max_tokens"], 16000);
    assert_eq!(body["response_format"]["json_schema"]["schema"]["properties"]["n"]["maxLength"], 3);
    assert!(body.get("prompt_cache_key").is_none() && body.get("max_completion_tokens").is_none());
}

#[test]
fn servers_without_schemas_are_told_in_words() {
    let at = |structured| ModelConfig { structured: Some(structured), ..config(None) };
    let json_only = request(&at(Structured::Json), &question(), "").body;
    assert_eq!(json_only["response_format"], json!({"type": "json_object"}));
    let plain = request(&at(Structured::Prompt), &question(), "").body;
    assert_eq!(plain.get("response_format"), None);
    for body in [json_only, plain] {
        assert!(body["messages"][0]["content"].as_str().unwrap().contains("\"maxLength\":3"));
    }
}

#[test]
fn pieces_and_the_count_behind_them_are_read() {
    let answer = read(&[
        r#"{"choices":[{"index":0,"delta":{"role":"assistant","content":"","refusal":null},"finish_reason":null}],"usage":null}"#,
        r#"{"choices":[{"index":0,"delta":{"reasoning_content":"hmm"},"finish_reason":null}]}"#,
        r#"{"choices":[{"index":0,"delta":{"content":"{\"n\":"},"finish_reason":null}]}"#,
        r#"{"choices":[{"index":0,"delta":{"content":[{"type":"thinking","thinking":"x"},{"type":"text","text":"1}"}]}}]}"#,
        r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#,
        r#"{"choices":[],"usage":{"prompt_tokens":1000,"completion_tokens":50,"total_tokens":1050,"prompt_tokens_details":{"cached_tokens":900},"cost":0.0125}}"#,
        "[DONE]",
    ])
    .unwrap();
    assert_eq!(answer.text, "{\"n\":1}");
    assert_eq!(answer.usage, Usage { input: 100, cache_read: 900, cache_write: 0, output: 50, uncounted: 0 });
    assert_eq!(answer.stated_cost, Some(Money::micros(12_500)));
}

/// Local servers may count nothing, and some never say `[DONE]`.
#[test]
fn a_missing_count_is_nothing_and_a_missing_end_is_forgiven() {
    let answer = read(&[r#"{"choices":[{"delta":{"content":"{}"},"finish_reason":"stop"}]}"#]).unwrap();
    assert!(answer.usage.is_nothing());
    assert!(read(&[r#"{"choices":[{"delta":{"content":"{}"}}]}"#, "[DONE]"]).is_ok());
}

#[test]
fn thoughts_outside_the_count_are_counted() {
    let usage = json!({"prompt_tokens": 100, "completion_tokens": 5, "total_tokens": 165});
    assert_eq!(normalised(&usage), Usage { input: 100, output: 65, ..Usage::default() });
}

#[test]
fn bad_ends_are_told_apart() {
    let ending = |reason: &str| read(&[&json!({"choices": [{"delta": {"content": "{"}, "finish_reason": reason}]}).to_string()]);
    assert_eq!(ending("length"), Err(Fault::Truncated { limit: 16_000 }));
    assert!(matches!(ending("content_filter"), Err(Fault::Refusal { .. })));
    assert!(matches!(read(&[r#"{"choices":[{"delta":{"content":"{}"}}]}"#]), Err(Fault::CutOff { .. })));
    let refused = r#"{"choices":[{"delta":{"refusal":"No."},"finish_reason":"stop"}]}"#;
    assert_eq!(read(&[refused, "[DONE]"]), Err(Fault::Refusal { message: "No.".into() }));
    let broken = r#"{"error":{"code":502,"message":"Provider disconnected"},"choices":[{"delta":{},"finish_reason":"error"}]}"#;
    assert!(matches!(read(&[broken]), Err(Fault::Busy { status: 502, .. })));
    assert!(matches!(read(&["{\"choices\""]), Err(Fault::Nonsense { .. })));
}
