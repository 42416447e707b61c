//! Against a server of a few lines, over a real connection: what clocks and connections do is not seen by pure functions.

use super::*;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tribunal_core::call::clocks::ClockConfig;

const OK: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
const ANSWER: &str = "data: {\"choices\":[{\"delta\":{\"content\":\"{}\"},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":7,\
                      \"completion_tokens\":2}}\n\ndata: [DONE]\n\n";
const KEY: &str = "sk-very-secret";

/// What the server does with one connection after it has read the request.
enum Play {
    Say(String),
    SayThenHang(String),
    Flood,
}

fn say(text: &str) -> Play {
    Play::Say(text.to_owned())
}

/// Status 200, and these events.
fn stream(events: &str) -> Play {
    Play::Say(format!("{OK}{events}"))
}

/// Plays one part for each connection, and gives back the requests it read.
async fn server(plays: Vec<Play>) -> (String, tokio::task::JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}/v1", listener.local_addr().unwrap());
    let served = tokio::spawn(async move {
        let mut requests = Vec::new();
        for play in plays {
            let (mut stream, _) = listener.accept().await.unwrap();
            requests.push(request_of(&mut stream).await);
            match play {
                Play::Say(text) => drop(stream.write_all(text.as_bytes()).await),
                Play::SayThenHang(text) => {
                    stream.write_all(text.as_bytes()).await.unwrap();
                    tokio::spawn(async move {
                        std::future::pending::<()>().await;
                        drop(stream);
                    });
                }
                Play::Flood => {
                    let comment = [b": ".as_slice(), &vec![b'x'; 64 * 1024], b"\n"].concat();
                    stream.write_all(OK.as_bytes()).await.unwrap();
                    while stream.write_all(&comment).await.is_ok() {}
                }
            }
        }
        requests
    });
    (address, served)
}

async fn request_of(stream: &mut TcpStream) -> String {
    let (mut seen, mut piece) = (String::new(), [0_u8; 4096]);
    loop {
        let count = stream.read(&mut piece).await.unwrap();
        seen.push_str(&String::from_utf8_lossy(&piece[..count]));
        if let Some((head, body)) = seen.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
            if body.len() >= length.parse().unwrap() {
                return seen;
            }
        }
        assert_ne!(count, 0, "{seen}");
    }
}

fn question() -> Question {
    let schema = json!({"type": "object", "properties": {}});
    Question { system: "S".into(), shared: "SHARED".into(), own: "OWN".into(), schema, repair: None }
}

/// No clock but the one that a test is about: a slow machine must not run out another one.
const PATIENT: ClockConfig =
    ClockConfig { first_byte_seconds: Some(u64::MAX), idle_seconds: Some(u64::MAX), total_seconds: Some(u64::MAX) };

fn at(base_url: &str) -> ModelConfig {
    ModelConfig { model: "m".into(), base_url: Some(base_url.into()), clocks: PATIENT, ..ModelConfig::default() }
}

type Heard = Result<Answer, (Fault, Usage)>;

async fn ask(config: &ModelConfig, key: Option<&str>) -> Heard {
    let client = client(config.base_url.as_deref().unwrap()).unwrap();
    let model = Model { wire: Wire::OpenaiChat, config, key, client: &client, cache_key: "c" };
    model.ask(&question(), &mut |_| {}).await
}

async fn fault_of(play: Play) -> Fault {
    fault_within(PATIENT, play).await
}

async fn fault_within(clocks: ClockConfig, play: Play) -> Fault {
    let (address, _served) = server(vec![play]).await;
    ask(&ModelConfig { clocks, ..at(&address) }, Some(KEY)).await.unwrap_err().0
}

#[tokio::test]
async fn an_answer_comes_with_signs_of_life() {
    let (address, served) = server(vec![Play::SayThenHang(format!("{OK}{ANSWER}"))]).await;
    let config = at(&address);
    let client = client(&address).unwrap();
    let model = Model { wire: Wire::OpenaiChat, config: &config, key: Some(KEY), client: &client, cache_key: "c" };
    let mut signs = Vec::new();
    // The connection stays open: `[DONE]` is the end, not the silence after it.
    let answer = model.ask(&question(), &mut |sign| signs.push(sign)).await.unwrap();
    assert_eq!((answer.text.as_str(), answer.usage.input), ("{}", 7));
    assert_eq!(signs[0], Sign::FirstByte);
    assert!(matches!(signs[1], Sign::Bytes(count) if count > 0));
    let request = served.await.unwrap().remove(0);
    assert!(request.starts_with("POST /v1/chat/completions HTTP/1.1\r\n"), "{request}");
    assert!(request.contains("authorization: Bearer sk-very-secret\r\n"), "{request}");
    assert!(request.contains("user-agent: tribunal/"), "{request}");
}

#[tokio::test]
async fn each_wire_has_its_place_and_its_header() {
    let wires = [
        (Wire::Anthropic, "POST /v1/messages HTTP", "x-api-key: sk-very-secret\r\n"),
        (Wire::Openai, "POST /v1/responses HTTP", "authorization: Bearer sk-very-secret\r\n"),
        (Wire::OpenaiChat, "POST /v1/chat/completions HTTP", "authorization: Bearer sk-very-secret\r\n"),
        (Wire::Gemini, "POST /v1/models/m:streamGenerateContent?alt=sse HTTP", "x-goog-api-key: sk-very-secret\r\n"),
    ];
    for (wire, place, header) in wires {
        let (address, served) = server(vec![stream("")]).await;
        let (config, client) = (at(&address), client(&address).unwrap());
        let model = Model { wire, config: &config, key: Some(KEY), client: &client, cache_key: "c" };
        let (fault, _) = model.ask(&question(), &mut |_| {}).await.unwrap_err();
        assert!(matches!(fault, Fault::CutOff { .. }), "{fault}");
        let request = served.await.unwrap().remove(0);
        assert!(request.starts_with(place) && request.contains(header), "{request}");
        assert_eq!(request.contains("anthropic-version: 2023-06-01\r\n"), wire == Wire::Anthropic);
    }
}

#[tokio::test]
async fn silence_runs_out_the_first_clock() {
    let clocks = ClockConfig { first_byte_seconds: Some(1), ..PATIENT };
    for said in ["", OK] {
        let fault = fault_within(clocks, Play::SayThenHang(said.to_owned())).await;
        assert_eq!(fault, Fault::NoFirstByte { seconds: 1 }, "after `{said}`");
    }
}

#[tokio::test]
async fn a_stall_runs_out_the_second() {
    let clocks = ClockConfig { idle_seconds: Some(1), ..PATIENT };
    assert_eq!(fault_within(clocks, Play::SayThenHang(format!("{OK}: thinking\n\n"))).await, Fault::Stalled { seconds: 1 });
}

#[tokio::test]
async fn the_total_clock_ends_everything() {
    let clocks = ClockConfig { total_seconds: Some(1), ..PATIENT };
    assert_eq!(fault_within(clocks, Play::SayThenHang(OK.to_owned())).await, Fault::OutOfTime { seconds: 1 });
}

#[tokio::test]
async fn a_flood_is_refused() {
    assert_eq!(fault_of(Play::Flood).await, Fault::Endless { mebibytes: 32 });
}

/// Each of these looks like an end, and none is.
#[tokio::test]
async fn a_cut_is_no_end() {
    let half_event = format!("{OK}data: {{\"choices\":[{{\"delta\"");
    let no_end = format!("{OK}data: {{\"choices\":[{{\"delta\":{{\"content\":\"{{}}\"}}}}]}}\n\n");
    let short = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 900\r\n\r\n{\"choices\"";
    for text in [&half_event, &no_end, short, "", OK] {
        let fault = fault_of(say(text)).await;
        assert!(matches!(fault, Fault::CutOff { .. }), "{text}: {fault:?}");
    }
}

#[tokio::test]
async fn a_server_that_does_not_stream_is_read_too() {
    let body = r#"{"choices":[{"message":{"content":"{}"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3}}"#;
    for kind in ["content-type: application/json; charset=utf-8\r\n", ""] {
        let whole = format!("HTTP/1.1 200 OK\r\n{kind}content-length: {}\r\n\r\n{body}", body.len());
        let (address, _served) = server(vec![say(&whole)]).await;
        let answer = ask(&at(&address), None).await.unwrap();
        assert_eq!((answer.text.as_str(), answer.usage.input), ("{}", 3));
    }
}

#[tokio::test]
async fn a_web_page_is_no_answer() {
    let page = "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\nconnection: close\r\n\r\n<html>";
    let fault = fault_of(say(page)).await;
    assert!(fault.to_string().contains("web page"), "{fault}");
}

/// The key stays with the server it was meant for.
#[tokio::test]
async fn a_redirect_is_not_followed() {
    let (elsewhere, other) = server(vec![say("")]).await;
    let reply = format!("HTTP/1.1 307 Go\r\nlocation: {elsewhere}\r\ncontent-length: 0\r\n\r\n");
    let fault = fault_of(say(&reply)).await;
    assert!(matches!(&fault, Fault::BadRequest { status: 307, message } if message.contains("base_url")), "{fault}");
    // The first whom the other server meets is this test.
    let mut stream = TcpStream::connect(elsewhere.trim_start_matches("http://").trim_end_matches("/v1")).await.unwrap();
    stream.write_all(b"POST /nobody-else HTTP/1.1\r\ncontent-length: 0\r\n\r\n").await.unwrap();
    assert!(other.await.unwrap()[0].starts_with("POST /nobody-else "));
}

#[tokio::test]
async fn a_refusal_is_read_and_the_key_taken_out() {
    let said = "HTTP/1.1 401 No\r\nconnection: close\r\n\r\n{\"error\":{\"message\":\"bad key sk-very-secret, go away\"}}";
    assert_eq!(fault_of(say(said)).await, Fault::Credentials { message: "bad key [key], go away".into() });
    let wait = "HTTP/1.1 429 No\r\nretry-after: 7\r\nconnection: close\r\n\r\n";
    assert!(matches!(fault_of(say(wait)).await, Fault::Busy { status: 429, retry_after: Some(7), .. }));
}

#[tokio::test]
async fn nobody_at_home_says_what_to_do() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let (fault, usage) = ask(&at(&format!("http://{address}/v1")), None).await.unwrap_err();
    let expected = format!("nothing listens on {address}; is the model server running?");
    assert_eq!(fault, Fault::Unreachable { message: expected });
    assert!(usage.is_nothing());
}

/// TLS has its provider, and a server without it is no server for this address.
#[tokio::test]
async fn tls_is_spoken() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let plain = format!("https://{}/v1", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        stream.write_all(b"HTTP/1.1 400 what?\r\n\r\n").await.unwrap();
    });
    let (fault, _) = ask(&at(&plain), Some(KEY)).await.unwrap_err();
    assert!(matches!(fault, Fault::Unreachable { .. }), "{fault}");
}

#[tokio::test]
async fn a_key_that_no_header_carries_is_a_clear_fault() {
    let (fault, _) = ask(&at("http://127.0.0.1:9/v1"), Some("sk-one\nsk-two")).await.unwrap_err();
    assert!(matches!(&fault, Fault::Credentials { message } if !message.contains("sk-")), "{fault}");
    let config = ModelConfig { key_header: Some("not a header".into()), ..at("http://127.0.0.1:9/v1") };
    assert!(matches!(ask(&config, Some(KEY)).await.unwrap_err().0, Fault::Credentials { .. }));
}

#[test]
fn a_key_in_a_header_of_its_own_stands_alone() {
    let value = |name: &str| key_header(name, KEY).unwrap().1.to_str().unwrap().to_owned();
    assert_eq!(value("api-key"), KEY);
    assert_eq!(value("Authorization"), format!("Bearer {KEY}"));
    assert!(!format!("{:?}", key_header("api-key", KEY).unwrap()).contains(KEY));
}

async fn patiently(config: &ModelConfig) -> Heard {
    let client = client(config.base_url.as_deref().unwrap()).unwrap();
    let model = Model { wire: Wire::OpenaiChat, config, key: None, client: &client, cache_key: "c" };
    let heard: &mut (dyn FnMut(Sign) + Send) = &mut |_| {};
    fn is_send<T: Send>(future: T) -> T {
        future
    }
    is_send(model.ask_with_patience(&question(), heard)).await
}

/// Busy, then cut off, then well: what the cut one may have cost is in the sum.
#[tokio::test]
async fn patience_asks_again_and_adds_up() {
    let busy = "HTTP/1.1 503 Busy\r\nconnection: close\r\n\r\n";
    let (address, served) = server(vec![say(busy), stream(ANSWER)]).await;
    assert_eq!(patiently(&at(&address)).await.unwrap().usage.input, 7);
    assert_eq!(served.await.unwrap().len(), 2);
    let (address, _served) = server(vec![stream(": hello\n\n"), stream(ANSWER)]).await;
    assert_eq!(patiently(&at(&address)).await.unwrap().usage.input, 7 + estimate(&question()).input);
}

#[tokio::test]
async fn patience_ends_where_it_cannot_help() {
    let bad = "HTTP/1.1 400 Bad\r\nconnection: close\r\n\r\n{\"error\":\"no such model\"}";
    let (address, served) = server(vec![say(bad)]).await;
    let (fault, usage) = patiently(&at(&address)).await.unwrap_err();
    assert_eq!(fault, Fault::BadRequest { status: 400, message: "no such model".into() });
    assert!(usage.is_nothing());
    assert_eq!(served.await.unwrap().len(), 1);
    // A pause beyond the total clock is not begun.
    let later = "HTTP/1.1 429 Slow\r\nretry-after: 60\r\nconnection: close\r\n\r\n";
    let (address, _served) = server(vec![say(later)]).await;
    let config = ModelConfig { clocks: ClockConfig { total_seconds: Some(50), ..PATIENT }, ..at(&address) };
    // Had it been, the clock would have run out before anything else could be said.
    assert!(matches!(patiently(&config).await.unwrap_err().0, Fault::Busy { status: 429, .. }));
}
