//! The server over real sockets, by a client that knows nothing: HTTP/1.0, so that a response ends where the connection does.
#![allow(clippy::unwrap_used)]

use fake_model_server::{Fault, Matcher, ModelServer, Reply, Script, Wire};
use serde_json::{Value, json};
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

struct Answer {
    status: u16,
    head: String,
    body: String,
    /// The connection neither ended nor said more.
    hangs: bool,
}

impl Answer {
    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }
}

/// For an answer that must come.
const PATIENCE: Duration = Duration::from_secs(300);
/// Silence of this length is taken for good.
const SILENCE: Duration = Duration::from_millis(150);

/// How much of an answer is waited for, before its silence means anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Expected {
    Nothing,
    Head,
    SomeBody,
    All,
}

impl Expected {
    fn is_there(self, bytes: &[u8]) -> bool {
        let end = bytes.windows(4).position(|window| window == b"\r\n\r\n");
        match self {
            Expected::Nothing => true,
            Expected::Head => end.is_some(),
            Expected::SomeBody => end.is_some_and(|end| bytes.len() > end + 4),
            Expected::All => false,
        }
    }
}

fn post(server: &ModelServer, path: &str, headers: &str, body: &Value) -> Answer {
    post_until(Expected::All, server, path, headers, body)
}

fn post_until(expected: Expected, server: &ModelServer, path: &str, headers: &str, body: &Value) -> Answer {
    let mut stream = TcpStream::connect(server.url().trim_start_matches("http://")).unwrap();
    let body = body.to_string();
    write!(stream, "POST {path} HTTP/1.0\r\n{headers}content-length: {}\r\n\r\n{body}", body.len()).unwrap();
    let mut bytes = Vec::new();
    let mut buffer = [0; 8192];
    let hangs = loop {
        stream.set_read_timeout(Some(if expected.is_there(&bytes) { SILENCE } else { PATIENCE })).unwrap();
        match stream.read(&mut buffer) {
            Ok(0) => break false,
            Ok(count) if bytes.len() < 100_000 => bytes.extend_from_slice(&buffer[..count]),
            Ok(_) => break true,
            Err(error) => break matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut),
        }
    };
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0);
    Answer { status, head: head.to_ascii_lowercase(), body: body.to_owned(), hangs }
}

const PROMPT: &str = "=== FILE a.rs ===\n+    12 let x = 1; // BUG(S1): wrong\nRole: r\nCategories: S1\n";
const VERSION: &str = "anthropic-version: 2023-06-01\r\n";

fn ask(server: &ModelServer, wire: Wire, stream: bool) -> Answer {
    ask_until(Expected::All, server, wire, stream)
}

fn ask_until(expected: Expected, server: &ModelServer, wire: Wire, stream: bool) -> Answer {
    let post = |path: &str, headers: &str, body: &Value| post_until(expected, server, path, headers, body);
    let user = json!([{ "role": "user", "content": PROMPT }]);
    match wire {
        Wire::Anthropic => {
            let body = json!({ "model": "m", "max_tokens": 4000, "stream": stream, "messages": user });
            post("/v1/messages?beta=true", VERSION, &body)
        }
        Wire::Responses => post("/v1/responses", "", &json!({ "model": "m", "stream": stream, "input": user })),
        Wire::Chat => post("/v1/chat/completions", "", &json!({ "model": "m", "stream": stream, "messages": user })),
        Wire::Gemini => {
            let path = if stream { "streamGenerateContent?alt=sse" } else { "generateContent" };
            let body = json!({ "contents": [{ "role": "user", "parts": [{ "text": PROMPT }] }] });
            post(&format!("/v1beta/models/m:{path}"), "", &body)
        }
    }
}

const WIRES: [Wire; 4] = [Wire::Anthropic, Wire::Responses, Wire::Chat, Wire::Gemini];

#[test]
fn every_wire_answers_whole_and_in_a_stream() {
    let server = ModelServer::start(Script::default());
    for wire in WIRES {
        for stream in [false, true] {
            let answer = ask(&server, wire, stream);
            assert_eq!(answer.status, 200, "{wire:?} {}", answer.body);
            assert_eq!(answer.head.contains("text/event-stream"), stream);
            assert!(answer.body.contains("BUG(S1)"), "{wire:?} {}", answer.body);
            assert!(!answer.hangs);
        }
    }
    let body = json!({ "contents": [{ "parts": [{ "text": PROMPT }] }] });
    let array = post(&server, "/v1beta/models/m:streamGenerateContent", "", &body).json();
    assert!(array.as_array().unwrap().len() > 2, "without alt=sse the chunks are one array");
    let received = server.requests();
    assert_eq!(received.len(), 9);
    assert!(received.iter().all(|received| received.reply == "echo" && received.usage.is_some() && received.began.is_some()));
    assert_eq!(server.accounting().requests, 9);
}

#[test]
fn a_wrong_key_is_a_401_and_the_right_one_is_recorded() {
    let server = ModelServer::start(Script::default().key("right"));
    for wire in WIRES {
        assert_eq!(ask(&server, wire, true).status, 401, "{wire:?}");
    }
    let body = json!({ "contents": [{ "parts": [{ "text": "x" }] }] });
    assert_eq!(post(&server, "/v1beta/models/m:generateContent", "X-Goog-Api-Key: right\r\n", &body).status, 200);
    assert_eq!(server.requests()[4].key.as_deref(), Some("right"));
    assert_eq!(server.requests()[4].headers["x-goog-api-key"], "right");
}

#[test]
fn faults_take_turns_by_rule() {
    let script = Script::default()
        .rule(Matcher::any().own_contains("Role: r").first(1), Fault::retry_after(429, 3).into())
        .rule(Matcher::any().contains("Role: r").first(1), Fault::status(529).into());
    let server = ModelServer::start(script);
    let answers: Vec<Answer> = (0..3).map(|_| ask(&server, Wire::Anthropic, false)).collect();
    assert_eq!(answers.iter().map(|answer| answer.status).collect::<Vec<_>>(), [429, 529, 200]);
    assert!(answers[0].head.contains("retry-after: 3"));
    assert_eq!(answers[1].json()["error"]["type"], "overloaded_error");
    assert_eq!(server.requests()[0].reply, "fault:status");
}

#[test]
fn silence_stall_and_endless_hold_the_caller() {
    let server = ModelServer::start(Script::default());
    for (fault, expected) in [
        (Fault::Silence { after_head: false }, Expected::Nothing),
        (Fault::Silence { after_head: true }, Expected::Head),
        (Fault::Stall { after: 1 }, Expected::SomeBody),
        (Fault::Endless, Expected::SomeBody),
    ] {
        server.set_script(Script::always(fault.clone().into()));
        std::thread::scope(|scope| {
            for (wire, stream) in WIRES.into_iter().zip([true, false, true, true]) {
                let (fault, server) = (&fault, &server);
                scope.spawn(move || {
                    let answer = ask_until(expected, server, wire, stream);
                    assert!(answer.hangs, "{fault:?} {wire:?} {}", answer.body);
                    assert_eq!(answer.body.is_empty(), matches!(fault, Fault::Silence { .. }), "{fault:?} {wire:?}");
                });
            }
        });
    }
    let (sender, dropped) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        drop(server);
        sender.send(())
    });
    assert!(dropped.recv_timeout(PATIENCE).is_ok(), "hanging responses keep the server");
}

#[test]
fn broken_answers_break_as_asked() {
    let server = ModelServer::start(Script::default());
    let with = |fault: Fault, wire, stream| {
        server.set_script(Script::always(fault.into()));
        ask(&server, wire, stream)
    };
    for wire in WIRES {
        let cut = with(Fault::Cut { after: 2 }, wire, true);
        assert!(
            !cut.hangs && !cut.body.is_empty() && !cut.body.contains("stop_reason\":\"end") && !cut.body.contains("[DONE]"),
            "{wire:?}"
        );
        let error = with(Fault::ErrorEvent { after: 2 }, wire, true);
        assert!(error.body.to_lowercase().contains("overloaded"), "{wire:?} {}", error.body);
        assert_eq!(with(Fault::Empty, wire, true).body, "");
        assert!(serde_json::from_str::<Value>(&with(Fault::Garbage, wire, false).body).is_err());
        assert_eq!(with(Fault::Redirect { to: "http://x/".into(), code: 307 }, wire, false).status, 307);
        assert!(with(Fault::BigHeaders { bytes: 60_000 }, wire, false).head.len() > 60_000);
        assert!(!with(Fault::IgnoredSchema, wire, false).body.contains("findings"));
    }
    let text = with(Fault::CutJson, Wire::Anthropic, false).json()["content"][0]["text"].as_str().unwrap().to_owned();
    assert!(text.starts_with('{') && serde_json::from_str::<Value>(&text).is_err());
}

/// The prefix of a call that has not begun is of no use to the next.
#[test]
fn parallel_first_calls_all_pay() {
    let server = ModelServer::start(Script::default());
    let ask = |role: &str| {
        let block = json!({ "type": "text", "text": "d".repeat(8000), "cache_control": { "type": "ephemeral" } });
        let content = json!([block, { "type": "text", "text": role }]);
        let body = json!({ "model": "m", "max_tokens": 9, "messages": [{ "role": "user", "content": content }] });
        post(&server, "/v1/messages", VERSION, &body).json()["usage"]["cache_read_input_tokens"].as_u64().unwrap()
    };
    // Long enough for the second to come before the first has begun; how long that is depends on the machine.
    let took_turns = [100, 1_000, 10_000, 60_000].into_iter().find_map(|latency| {
        server.forget();
        server.set_script(Script::always(Reply::Text("ok".into())).latency_ms(latency));
        let read =
            std::thread::scope(|scope| [scope.spawn(|| ask("one")), scope.spawn(|| ask("two"))].map(|call| call.join().unwrap()));
        let received = server.requests();
        (received[1].at < received[0].began.unwrap()).then_some(read)
    });
    assert_eq!(took_turns, Some([0, 0]));
    server.set_script(Script::always(Reply::Text("ok".into())));
    assert_eq!(ask("three"), 2000);
    assert_eq!(server.accounting().cache_write, 4000);
}

#[test]
fn unknown_things_are_told_apart() {
    let server = ModelServer::start(Script { models: vec!["known".into()], context_window: Some(10), ..Script::default() });
    let body = |model: &str, text: &str| json!({ "model": model, "messages": [{ "role": "user", "content": text }] });
    assert_eq!(post(&server, "/v1/chat/completions", "", &body("other", "x")).json()["error"]["code"], "model_not_found");
    let long = post(&server, "/v1/chat/completions", "", &body("known", &"x".repeat(100)));
    assert_eq!(long.json()["error"]["code"], "context_length_exceeded");
    assert_eq!(
        post(&server, "/v1/messages", VERSION, &body("known", "x")).json()["error"]["message"],
        "max_tokens: Field required"
    );
    assert_eq!(post(&server, "/v1beta/what", "", &json!({})).json()["error"]["status"], "NOT_FOUND");
    assert_eq!(server.accounting().input_full_price, 0);
}
