use super::*;
use std::io::{BufRead as _, BufReader, Read, Write};
use std::net::TcpStream;
use std::sync::mpsc;
use tribunal_core::call::fault::Fault;

const KEY: &str = "sk-the-real-key";

/// A server that answers every request in the same way, and tells what it was asked.
fn server(answer: &'static str) -> (String, mpsc::Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (sender, asked) = mpsc::channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let _ = sender.send(read_request(&mut stream));
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    (format!("http://{address}/v1"), asked)
}

fn read_request(stream: &mut TcpStream) -> String {
    let mut reader = BufReader::new(stream);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 || line == "\r\n" {
            break;
        }
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        head.push_str(&line);
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    head + &String::from_utf8_lossy(&body)
}

struct Under {
    proxy: Proxy,
    port: u16,
}

fn proxy(base_url: &str, max_requests: u64) -> Under {
    proxy_with(base_url, max_requests, None)
}

fn proxy_with(base_url: &str, max_requests: u64, budget: Option<Budget>) -> Under {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let upstream = Upstream {
        wire: Wire::Anthropic,
        base_url: base_url.to_owned(),
        key: Some(KEY.into()),
        token: "word".into(),
        model: None,
        max_requests,
        budget,
    };
    assert!(!format!("{upstream:?}").contains(KEY));
    Under { proxy: Proxy::serve(listener, upstream, Arc::new(Pulse::default())).unwrap(), port }
}

impl Under {
    /// Exactly these bytes.
    fn send(&self, bytes: &str) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.write_all(bytes.as_bytes()).unwrap();
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer);
        answer
    }

    fn ask(&self, request: &str, token: &str) -> String {
        let body = "{\"model\":\"m\"}";
        let request = format!(
            "{request} HTTP/1.1\r\nhost: evil.example\r\nx-api-key: {token}\r\nx-extra: no\r\ncookie: no\r\nconnection: close\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        self.send(&request)
    }
}

const FINE: &str =
    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nset-cookie: a=b\r\nconnection: close\r\n\r\ndata: hello\n\n";

#[test]
fn the_key_is_only_upstream() {
    let (url, asked) = server(FINE);
    let under = proxy(&url, 9);
    let answer = under.ask("POST /v1/messages?beta=true&key=stolen", "word");
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("data: hello"), "{answer}");
    assert!(!answer.contains("set-cookie") && !answer.contains(KEY));
    let request = asked.recv().unwrap();
    assert!(request.starts_with("POST /v1/messages?beta=true HTTP/1.1\r\n"), "{request}");
    assert!(request.contains(&format!("x-api-key: {KEY}")) && !request.contains("word"), "{request}");
    assert!(!request.contains("evil.example") && !request.contains("x-extra") && !request.contains("cookie"), "{request}");
    let account = under.proxy.account();
    assert_eq!((account.requests, account.answers, account.refused, account.fault), (1, 1, 0, None));
    assert!(account.bytes_in >= 12);
}

#[test]
fn a_wrong_word_and_another_path_stay_here() {
    let (url, asked) = server(FINE);
    let under = proxy(&url, 9);
    assert!(under.ask("POST /v1/messages", "guess").starts_with("HTTP/1.1 401"));
    assert!(under.ask("POST /v1/files", "word").starts_with("HTTP/1.1 403"));
    assert!(under.ask("GET http://other.example/v1/files", "word").starts_with("HTTP/1.1 403"));
    assert!(asked.try_recv().is_err());
    assert_eq!(under.proxy.account().refused, 3);
}

#[test]
fn a_redirect_is_not_followed() {
    let (trap, trapped) = server(FINE);
    let moved = format!("HTTP/1.1 307 Moved\r\nlocation: {trap}/messages\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
    let (url, _asked) = server(Box::leak(moved.into_boxed_str()));
    let under = proxy(&url, 9);
    let answer = under.ask("POST /v1/messages", "word");
    assert!(answer.starts_with("HTTP/1.1 502") && !answer.contains("location"), "{answer}");
    assert!(matches!(under.proxy.account().fault, Some(Fault::BadRequest { status: 307, .. })));
    assert!(trapped.try_recv().is_err());
}

#[test]
fn the_last_refusal_is_kept_word_for_word() {
    let refusal = "HTTP/1.1 429 Slow\r\nretry-after: 7\r\ncontent-length: 36\r\nconnection: close\r\n\r\n{\"error\":{\"message\":\"slow down, pal\"}}";
    let (url, _asked) = server(refusal);
    let under = proxy(&url, 9);
    let answer = under.ask("POST /v1/messages", "word");
    assert!(answer.starts_with("HTTP/1.1 429") && answer.contains("retry-after: 7"), "{answer}");
    assert!(matches!(under.proxy.account().fault, Some(Fault::Busy { status: 429, retry_after: Some(7), .. })));
}

#[test]
fn requests_are_counted_out() {
    let (url, asked) = server(FINE);
    let under = proxy(&url, 2);
    for _ in 0..2 {
        assert!(under.ask("POST /v1/messages", "word").starts_with("HTTP/1.1 200"));
    }
    assert!(under.ask("POST /v1/messages", "word").starts_with("HTTP/1.1 403"));
    assert!(under.proxy.account().is_used_up);
    assert_eq!(asked.try_iter().count(), 2);
}

#[test]
fn money_is_counted_out() {
    let counted = "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n{\"usage\":{\"input_tokens\":1000,\"output_tokens\":10}}";
    let (url, asked) = server(counted);
    let price = Price { input: 1.0, output: 1.0, cache_read: None, cache_write: None };
    let under = proxy_with(&url, 9, Some(Budget { price, cap: Money::micros(1_500) }));
    for _ in 0..2 {
        assert!(under.ask("POST /v1/messages", "word").starts_with("HTTP/1.1 200"));
    }
    assert!(under.ask("POST /v1/messages", "word").starts_with("HTTP/1.1 403"));
    let account = under.proxy.account();
    assert_eq!((account.is_out_of_money, account.usage.input, account.usage.output), (true, 2_000, 20));
    assert_eq!(asked.try_iter().count(), 2);
}

#[test]
fn a_server_that_is_not_there_is_named_without_its_address() {
    let under = proxy("http://user:secret@127.0.0.1:1/v1", 9);
    let answer = under.ask("POST /v1/messages", "word");
    assert!(answer.starts_with("HTTP/1.1 502") && !answer.contains("secret"), "{answer}");
    assert!(matches!(under.proxy.account().fault, Some(Fault::Unreachable { message }) if !message.contains("secret")));
}

/// Some CLIs try again for minutes.
#[test]
fn a_failing_server_is_given_up() {
    let (url, asked) = server("HTTP/1.1 500 No\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}");
    let under = proxy(&url, 99);
    for _ in 0..3 {
        assert!(under.ask("POST /v1/messages", "word").starts_with("HTTP/1.1 500"));
    }
    assert!(under.ask("POST /v1/messages", "word").starts_with("HTTP/1.1 403"));
    assert_eq!(asked.try_iter().count(), 3);
    assert!(matches!(under.proxy.account().fault, Some(Fault::Busy { status: 500, .. })));
}

/// C14: a request that two readers would read differently goes out as one that all read as we did, or not at all.
#[test]
fn what_is_forwarded_is_what_was_parsed() {
    let (url, asked) = server(FINE);
    let under = proxy(&url, 99);
    let head = "host: x\r\nx-api-key: word\r\nconnection: close\r\n";
    let body = "{\"model\":\"m\",\"tools\":[{\"type\":\"web_search_1\",\"name\":\"w\"}],\"tools\":[]}";
    let length = body.len();
    // A name that stands twice in the body; another kind of content; a target with another host.
    let request = format!(
        "POST http://other.example/v1/messages HTTP/1.1\r\n{head}content-type: text/plain\r\ncontent-length: {length}\r\n\r\n{body}"
    );
    assert!(under.send(&request).starts_with("HTTP/1.1 200"));
    let sent = asked.recv().unwrap();
    assert!(sent.starts_with("POST /v1/messages HTTP/1.1\r\n") && sent.contains("application/json"), "{sent}");
    assert!(!sent.contains("web_search") && !sent.contains("other.example") && !sent.contains("text/plain"), "{sent}");
    // Two lengths: what follows the body is no second request, neither here nor there.
    let chunked = format!("{length:x}\r\n{body}\r\n0\r\n\r\n");
    let hidden = "POST /v1/files HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n";
    let both =
        format!("POST /v1/messages HTTP/1.1\r\n{head}content-length: 4\r\ntransfer-encoding: chunked\r\n\r\n{chunked}{hidden}");
    let _ = under.send(&both);
    for sent in asked.try_iter() {
        assert!(!sent.contains("/files") && !sent.to_lowercase().contains("transfer-encoding"), "{sent}");
    }
    // Headers that stand twice, a body where none belongs, names for the path that somebody might resolve.
    let refused = [
        format!(
            "POST /v1/messages HTTP/1.1\r\n{head}anthropic-beta: a\r\nanthropic-beta: b\r\ncontent-length: {length}\r\n\r\n{body}"
        ),
        format!("GET /v1/models HTTP/1.1\r\n{head}content-length: {length}\r\n\r\n{body}"),
        format!("POST /v1/x/../messages HTTP/1.1\r\n{head}content-length: {length}\r\n\r\n{body}"),
        format!("POST /v1/%6dessages HTTP/1.1\r\n{head}content-length: {length}\r\n\r\n{body}"),
        format!("POST /v1//messages HTTP/1.1\r\n{head}content-length: {length}\r\n\r\n{body}"),
        format!("POST /v1/messages HTTP/1.1\r\n{head}content-length: 4\r\ncontent-length: {length}\r\n\r\n{body}"),
    ];
    for request in refused {
        let answer = under.send(&request);
        assert!(answer.starts_with("HTTP/1.1 4"), "{request}\n{answer}");
    }
    assert!(asked.try_recv().is_err());
}

#[test]
fn a_refusal_is_short_whatever_it_is_about() {
    let (url, asked) = server(FINE);
    let under = proxy(&url, 9);
    let path = "x".repeat(20_000);
    let answer = under.ask(&format!("POST /v1/{path}"), "word");
    assert!(answer.starts_with("HTTP/1.1 403") && answer.len() < 1_000, "{}", answer.len());
    assert!(under.proxy.account().refusal.is_some_and(|words| words.len() < 500));
    assert!(asked.try_recv().is_err());
}

mod attacks;
