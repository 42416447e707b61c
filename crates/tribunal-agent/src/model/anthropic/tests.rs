use super::*;
use crate::model::sse::Sse;
use reader::Reader as _;
use tribunal_core::call::Repair;
use tribunal_core::policy::agents::Effort;

fn question() -> Question {
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer", "format": "uint32"}}});
    Question { system: "S".into(), shared: "SHARED".into(), own: "OWN".into(), schema, repair: None }
}

fn config() -> ModelConfig {
    ModelConfig { model: "claude-x".into(), effort: Some(Effort::Low), ..ModelConfig::default() }
}

fn read(stream: &str) -> (Result<Answer, Fault>, Usage) {
    let mut reader = Box::new(Reader::new(&config()));
    let events = Sse::default().push(stream.as_bytes());
    let heard = events.iter().try_for_each(|event| reader.event(event.name.as_deref(), &event.data));
    let usage = reader.usage();
    (heard.and_then(|()| reader.finish()), usage)
}

const START: &str = r#"event: message_start
data: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","content":[],"model":"claude-x","stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":25,"cache_creation_input_tokens":900,"cache_read_input_tokens":30000,"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hmm"}}

event: content_block_start
data: {"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}

event: ping
data: {"type":"ping"}

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"{\"n\":"}}

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"1}"}}

"#;

fn ending(reason: &str) -> String {
    format!(
        "{START}event: message_delta\ndata: {{\"type\":\"message_delta\",\"delta\":{{\"stop_reason\":\"{reason}\"}},\
         \"usage\":{{\"input_tokens\":27,\"output_tokens\":15}}}}\n\nevent: message_stop\ndata: {{\"type\":\"message_stop\"}}\n\n"
    )
}

#[test]
fn the_request_marks_what_can_be_cached() {
    let request = request(&config(), &question());
    assert_eq!(request.path, "messages");
    let mark = json!({"type": "ephemeral"});
    assert_eq!(
        request.body,
        json!({
            "model": "claude-x", "max_tokens": 16000, "stream": true,
            "system": [{"type": "text", "text": "S", "cache_control": mark}],
            "messages": [{"role": "user", "content": [
                {"type": "text", "text": "SHARED", "cache_control": mark}, {"type": "text", "text": "OWN"}]}],
            "output_config": {"effort": "low", "format": {"type": "json_schema", "schema": {
                "type": "object", "properties": {"n": {"type": ["integer", "null"]}}, "required": ["n"],
                "additionalProperties": false}}},
        })
    );
}

/// A repair goes behind everything that is cached, and a model without a schema reads it.
#[test]
fn a_repair_shows_the_answer_and_its_problem() {
    let repair = Repair { answer: "{\"n\":\"1\"}".into(), problem: "- /n: not an integer".into() };
    let plain = ModelConfig { structured: Some(Structured::Prompt), effort: None, ..config() };
    let body = request(&plain, &Question { repair: Some(repair), ..question() }).body;
    assert_eq!(body["messages"][1], json!({"role": "assistant", "content": "{\"n\":\"1\"}"}));
    assert_eq!(body["messages"][2]["role"], "user");
    assert!(body["messages"][2]["content"].as_str().unwrap().contains("- /n: not an integer"));
    assert!(body["system"][0]["text"].as_str().unwrap().contains("\"properties\""));
    assert_eq!(body.get("output_config"), None);
}

#[test]
fn an_answer_is_put_together_and_the_last_count_holds() {
    let (answer, _) = read(&ending("end_turn"));
    let usage = Usage { input: 27, cache_read: 30_000, cache_write: 900, output: 15, uncounted: 0 };
    assert_eq!(answer.unwrap(), Answer { text: "{\"n\":1}".into(), usage, stated_cost: None });
}

#[test]
fn bad_ends_are_told_apart() {
    assert!(matches!(read(&ending("refusal")).0, Err(Fault::Refusal { .. })));
    assert_eq!(read(&ending("max_tokens")).0, Err(Fault::Truncated { limit: 16_000 }));
    assert!(matches!(read(&ending("model_context_window_exceeded")).0, Err(Fault::TooLong { .. })));
    let (cut, usage) = read(START);
    assert!(matches!(cut, Err(Fault::CutOff { .. })));
    assert_eq!(usage.total_input(), 30_925);
}

/// Anthropic breaks off with an event when it is overloaded, after status 200.
#[test]
fn an_error_in_the_stream_is_a_fault_with_its_price() {
    let error = r#"event: error
data: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}

"#;
    let (answer, usage) = read(&format!("{START}{error}"));
    assert_eq!(answer, Err(Fault::Busy { status: 529, retry_after: None, message: "Overloaded".into() }));
    assert_eq!(usage.cache_write, 900);
}

#[test]
fn a_whole_message_is_read() {
    let mut reader = Box::new(Reader::new(&config()));
    let content = json!([{"type": "thinking", "thinking": "hmm"}, {"type": "text", "text": "{}"}]);
    reader
        .whole(&json!({"type": "message", "content": content, "stop_reason": "end_turn", "usage": {"output_tokens": 3}}))
        .unwrap();
    let answer = reader.finish().unwrap();
    assert_eq!((answer.text.as_str(), answer.usage.output), ("{}", 3));
}
