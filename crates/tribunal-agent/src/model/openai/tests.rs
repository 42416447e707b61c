use super::*;
use reader::Reader as _;
use tribunal_core::call::Repair;
use tribunal_core::policy::agents::Effort;

fn question() -> Question {
    let schema = json!({"type": "object", "properties": {"n": {"type": "string", "maxLength": 3}}, "required": ["n"]});
    Question { system: "S".into(), shared: "SHARED".into(), own: "OWN".into(), schema, repair: None }
}

fn config() -> ModelConfig {
    ModelConfig { model: "gpt-x".into(), effort: Some(Effort::High), max_output_tokens: Some(900), ..ModelConfig::default() }
}

fn read(events: &[Value]) -> (Result<Answer, Fault>, Usage) {
    let mut reader = Box::new(Reader::new(&config()));
    let heard = events.iter().try_for_each(|event| reader.event(event["type"].as_str(), &event.to_string()));
    let usage = reader.usage();
    (heard.and_then(|()| reader.finish()), usage)
}

fn delta(item: u64, text: &str) -> Value {
    json!({"type": "response.output_text.delta", "item_id": "m", "output_index": item, "content_index": 0, "delta": text})
}

fn ended(status: &str, more: Value) -> Value {
    let mut response = json!({
        "id": "resp_1", "object": "response", "status": status, "error": null, "incomplete_details": null, "output": [],
        "usage": {"input_tokens": 2006, "input_tokens_details": {"cached_tokens": 1920, "cache_write_tokens": 6},
            "output_tokens": 300, "output_tokens_details": {"reasoning_tokens": 200}, "total_tokens": 2306},
    });
    response.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    json!({"type": format!("response.{status}"), "response": response})
}

#[test]
fn the_request_is_strict_and_stores_nothing() {
    let request = request(&config(), &question(), "prefix");
    assert_eq!((request.path.as_str(), request.key_header), ("responses", "authorization"));
    assert_eq!(
        request.body,
        json!({
            "model": "gpt-x", "instructions": "S", "store": false, "stream": true, "max_output_tokens": 900,
            "prompt_cache_key": "prefix", "reasoning": {"effort": "high"},
            "input": [{"role": "user", "content": [
                {"type": "input_text", "text": "SHARED"}, {"type": "input_text", "text": "OWN"}]}],
            "text": {"format": {"type": "json_schema", "name": "answer", "strict": true, "schema": {"type": "object",
                "properties": {"n": {"type": "string"}}, "required": ["n"], "additionalProperties": false}}},
        })
    );
}

#[test]
fn a_repair_is_two_more_turns() {
    let repair = Repair { answer: " ".into(), problem: "it is not JSON".into() };
    let json_only = ModelConfig { structured: Some(Structured::Json), ..config() };
    let body = request(&json_only, &Question { repair: Some(repair), ..question() }, "").body;
    assert_eq!(body["input"][1], json!({"role": "assistant", "content": "(nothing)"}));
    assert!(body["input"][2]["content"].as_str().unwrap().contains("it is not JSON"));
    assert_eq!(body["text"], json!({"format": {"type": "json_object"}}));
    assert_eq!(body.get("prompt_cache_key"), None);
}

#[test]
fn cached_tokens_are_taken_out_of_the_input() {
    let (answer, _) = read(&[
        json!({"type": "response.created", "response": {"status": "in_progress"}}),
        delta(1, "{}"),
        ended("completed", json!({})),
    ]);
    let answer = answer.unwrap();
    assert_eq!(answer.text, "{}");
    assert_eq!(answer.usage, Usage { input: 80, cache_read: 1920, cache_write: 6, output: 300, uncounted: 0 });
}

/// A remark before the answer is an item of its own, with and without the whole output in the last event.
#[test]
fn only_the_last_message_is_the_answer() {
    let (answer, _) = read(&[delta(1, "Let me look."), delta(2, "{"), delta(2, "}"), ended("completed", json!({}))]);
    assert_eq!(answer.unwrap().text, "{}");
    let message = |text: &str| json!({"type": "message", "content": [{"type": "output_text", "text": text}]});
    let output = json!({"output": [{"type": "reasoning"}, message("Let me look."), message("{}")]});
    assert_eq!(read(&[ended("completed", output)]).0.unwrap().text, "{}");
}

#[test]
fn bad_ends_are_told_apart() {
    let because = |reason: &str| ended("incomplete", json!({"incomplete_details": {"reason": reason}}));
    assert_eq!(read(&[delta(0, "{"), because("max_output_tokens")]).0, Err(Fault::Truncated { limit: 900 }));
    assert!(matches!(read(&[because("content_filter")]).0, Err(Fault::Refusal { .. })));
    let refused = [
        json!({"type": "response.refusal.delta", "delta": "I cannot "}),
        json!({"type": "response.refusal.delta", "delta": "help."}),
        ended("completed", json!({})),
    ];
    assert_eq!(read(&refused).0, Err(Fault::Refusal { message: "I cannot help.".into() }));
    assert!(matches!(read(&[delta(0, "{}")]).0, Err(Fault::CutOff { .. })));
    assert!(matches!(read(&[ended("completed", json!({}))]).0, Err(Fault::Nonsense { .. })));
}

#[test]
fn errors_are_faults_and_keep_their_price() {
    let failed = ended("failed", json!({"error": {"code": "rate_limit_exceeded", "message": "slow down"}}));
    let (answer, usage) = read(&[failed]);
    assert_eq!(answer, Err(Fault::Busy { status: 429, retry_after: None, message: "slow down".into() }));
    assert_eq!(usage.output, 300);
    let bare = json!({"type": "error", "code": "server_error", "message": "oops", "param": null});
    assert_eq!(read(&[bare]).0, Err(Fault::Busy { status: 500, retry_after: None, message: "oops".into() }));
}
