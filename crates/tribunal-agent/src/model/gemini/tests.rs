use super::*;
use reader::Reader as _;
use tribunal_core::call::Repair;

fn question() -> Question {
    let schema = json!({"type": "object", "properties": {"n": {"type": "array", "maxItems": 3, "items": {"type": "string"}}}});
    Question { system: "S".into(), shared: "SHARED".into(), own: "OWN".into(), schema, repair: None }
}

fn config(model: &str, effort: Option<Effort>) -> ModelConfig {
    ModelConfig { model: model.into(), effort, ..ModelConfig::default() }
}

fn read(events: &[Value]) -> Result<Answer, Fault> {
    let mut reader = Box::new(Reader::new(&config("gemini-x", None)));
    events.iter().try_for_each(|event| reader.event(None, &event.to_string()))?;
    reader.finish()
}

fn piece(text: &str) -> Value {
    json!({"candidates": [{"content": {"parts": [{"text": text}], "role": "model"}, "index": 0}],
        "usageMetadata": {"promptTokenCount": 5000, "cachedContentTokenCount": 4096, "totalTokenCount": 5000}})
}

fn last(reason: &str) -> Value {
    json!({"candidates": [{"content": {"parts": [{"text": ""}]}, "finishReason": reason}],
        "usageMetadata": {"promptTokenCount": 5000, "cachedContentTokenCount": 4096, "candidatesTokenCount": 20,
            "thoughtsTokenCount": 300, "totalTokenCount": 5320}})
}

#[test]
fn the_request_streams_events_and_keeps_bounds() {
    let request = request(&config("models/gemini-3.8-flash", None), &question());
    assert_eq!(request.path, "models/gemini-3.8-flash:streamGenerateContent");
    assert_eq!((request.query, request.key_header), (Some(("alt", "sse")), "x-goog-api-key"));
    assert_eq!(
        request.body,
        json!({
            "systemInstruction": {"parts": [{"text": "S"}]},
            "contents": [{"role": "user", "parts": [{"text": "SHARED"}, {"text": "OWN"}]}],
            "generationConfig": {"maxOutputTokens": 16000, "responseMimeType": "application/json", "responseJsonSchema": {
                "type": "object", "properties": {"n": {"type": "array", "maxItems": 3, "items": {"type": "string"}}},
                "required": ["n"], "additionalProperties": false}},
        })
    );
}

#[test]
fn effort_follows_the_generation() {
    let thinking =
        |model| request(&config(model, Some(Effort::Low)), &question()).body["generationConfig"]["thinkingConfig"].clone();
    assert_eq!(thinking("gemini-2.5-pro"), json!({"thinkingBudget": 1024}));
    assert_eq!(thinking("gemini-3.8-flash"), json!({"thinkingLevel": "low"}));
}

#[test]
fn a_repair_is_the_model_s_turn_and_ours() {
    let repair = Repair { answer: "[]".into(), problem: "- the whole answer: no object".into() };
    let plain = ModelConfig { structured: Some(Structured::Prompt), ..config("m", None) };
    let body = request(&plain, &Question { repair: Some(repair), ..question() }).body;
    assert_eq!(body["contents"][1], json!({"role": "model", "parts": [{"text": "[]"}]}));
    assert!(body["contents"][2]["parts"][0]["text"].as_str().unwrap().contains("no object"));
    assert_eq!(body["generationConfig"], json!({"maxOutputTokens": 16000}));
}

#[test]
fn thoughts_are_counted_but_not_said() {
    let thought = json!({"candidates": [{"content": {"parts": [{"text": "hmm", "thought": true}]}}]});
    let answer = read(&[thought, piece("{\"n\":"), piece("[]}"), last("STOP")]).unwrap();
    assert_eq!(answer.text, "{\"n\":[]}");
    assert_eq!(answer.usage, Usage { input: 904, cache_read: 4096, cache_write: 0, output: 320, uncounted: 0 });
}

#[test]
fn bad_ends_are_told_apart() {
    for reason in ["SAFETY", "PROHIBITED_CONTENT", "RECITATION", "BLOCKLIST"] {
        assert!(matches!(read(&[piece("{"), last(reason)]), Err(Fault::Refusal { .. })), "{reason}");
    }
    assert_eq!(read(&[piece("{"), last("MAX_TOKENS")]), Err(Fault::Truncated { limit: 16_000 }));
    assert!(matches!(read(&[json!({"promptFeedback": {"blockReason": "SAFETY"}})]), Err(Fault::Refusal { .. })));
    assert!(matches!(read(&[piece("{}")]), Err(Fault::CutOff { .. })));
    assert!(matches!(read(&[last("MALFORMED_RESPONSE")]), Err(Fault::Nonsense { .. })));
    let error = json!({"error": {"code": 503, "status": "UNAVAILABLE", "message": "overloaded"}});
    assert!(matches!(read(&[piece("{"), error]), Err(Fault::Busy { status: 503, .. })));
}

/// Asked without `alt=sse`, or through a proxy that drops it, the API answers with a list.
#[test]
fn a_list_of_pieces_is_read() {
    let mut reader = Box::new(Reader::new(&config("gemini-x", None)));
    reader.whole(&json!([piece("{"), piece("}"), last("STOP")])).unwrap();
    assert_eq!(reader.finish().unwrap().text, "{}");
}
