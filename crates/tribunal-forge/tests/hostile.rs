//! A server that means us harm: it answers without an end, leads in circles, drips, and points elsewhere.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tribunal_core::policy::credentials::token::BoundToken;
use tribunal_core::pull::fault::ForgeFault;
use tribunal_forge::http::client::{Http, Settings};
use tribunal_forge::http::credential::{AuthScheme, Credential, SECRET_HEADERS};
use tribunal_forge::http::limits::{Limits, OperationLimits, within};
use tribunal_forge::port::Answered;

const SECRET: &str = "s3cr3t-0123456789";

/// What is sent for the n-th request to a path: all that follows the request, as bytes.
type Script = dyn Fn(usize, &str, &mut TcpStream) + Send + Sync;

struct Hostile {
    origin: String,
    seen: Arc<Mutex<Vec<String>>>,
}

impl Hostile {
    fn start(address: &str, script: impl Fn(usize, &str, &mut TcpStream) + Send + Sync + 'static) -> Hostile {
        let listener = TcpListener::bind(address).unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        let (seen, script): (Arc<Mutex<Vec<String>>>, Arc<Script>) = (Arc::default(), Arc::new(script));
        let (log, count) = (Arc::clone(&seen), Arc::new(AtomicUsize::new(0)));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (log, script, count) = (Arc::clone(&log), Arc::clone(&script), Arc::clone(&count));
                std::thread::spawn(move || {
                    let mut stream = stream.unwrap();
                    let head = request(&mut stream);
                    let path = head.split_whitespace().nth(1).unwrap_or_default().to_owned();
                    log.lock().unwrap().push(head);
                    script(count.fetch_add(1, Ordering::Relaxed), &path, &mut stream);
                });
            }
        });
        Hostile { origin, seen }
    }

    fn requests(&self) -> usize {
        self.seen.lock().unwrap().len()
    }

    /// A client whose token is for this server.
    fn client(&self, limits: Limits) -> Http {
        let token = BoundToken::given_for_url(&self.origin, SECRET).unwrap();
        let credential = Some(Credential::new(token, AuthScheme::Bearer).unwrap());
        Http::new(Settings { credential, limits, ..Settings::anonymous(self.origin.clone()) }).unwrap()
    }
}

fn request(stream: &mut TcpStream) -> String {
    let mut reader = BufReader::new(stream);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 || line == "\r\n" {
            break;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or(0);
        }
        head.push_str(&line);
    }
    let _ = reader.read_exact(&mut vec![0; length]);
    head
}

fn send(stream: &mut TcpStream, status: &str, headers: &str, body: &str) {
    let text = format!("HTTP/1.1 {status}\r\n{headers}content-length: {}\r\nconnection: close\r\n\r\n{body}", body.len());
    let _ = stream.write_all(text.as_bytes());
}

fn hollow(answer: Answered<Vec<Value>>) -> String {
    match answer {
        Err(ForgeFault::Hollow { message, .. }) => message,
        other => panic!("{other:?}"),
    }
}

/// Issue 16, point 19: pages without an end, and a page that is its own next one.
#[tokio::test]
async fn endless_pages_are_cut_off() {
    let endless = Hostile::start("127.0.0.1:0", |n, _, stream| {
        send(stream, "200 OK", &format!("link: </list?page={n}>; rel=\"next\"\r\n"), "[1]");
    });
    // A relative link is none; forges give whole addresses.
    assert!(endless.client(Limits::default()).pages::<Value>("/list", "the list").await.is_err());
    let endless = {
        let at = Arc::new(Mutex::new(String::new()));
        let here = Arc::clone(&at);
        let server = Hostile::start("127.0.0.1:0", move |n, _, stream| {
            let origin = here.lock().unwrap().clone();
            send(stream, "200 OK", &format!("link: <{origin}/list?page={n}>; rel=\"next\"\r\n"), "[1]");
        });
        at.lock().unwrap().clone_from(&server.origin);
        server
    };
    let few = Limits { pages: 5, ..Limits::default() };
    let message = hollow(endless.client(few).pages("/list", "the list").await);
    assert_eq!((message.as_str(), endless.requests()), ("the list has more than 5 pages", 5));
    let small = Limits { list: 8, ..Limits::default() };
    assert!(hollow(endless.client(small).pages("/list", "the list").await).contains("more than 0 MB"));

    let at = Arc::new(Mutex::new(String::new()));
    let here = Arc::clone(&at);
    let circle = Hostile::start("127.0.0.1:0", move |_, _, stream| {
        let origin = here.lock().unwrap().clone();
        send(stream, "200 OK", &format!("link: <{origin}/list?page=2>; rel=\"next\"\r\n"), "[1]");
    });
    at.lock().unwrap().clone_from(&circle.origin);
    let message = hollow(circle.client(Limits::default()).pages("/list", "the list").await);
    assert_eq!((message.as_str(), circle.requests()), ("the list leads back to a page that was read already", 2));
}

/// Issue 16, points 11 and 19: redirects end after three, and neither a redirect nor a link leads the token to another server.
#[tokio::test]
async fn redirects_end_and_stay_at_home() {
    let ring = Hostile::start("127.0.0.1:0", |n, _, stream| {
        send(stream, "302 Found", &format!("location: /again/{n}\r\n"), "");
    });
    let fault = ring.client(Limits::default()).read("/x", "it").await.unwrap_err();
    assert!(fault.to_string().contains("redirected without an end"), "{fault}");
    assert_eq!(ring.requests(), 4);

    // Another address of this machine is another server, and so is another port.
    for (elsewhere, how) in
        [("127.0.0.2:0", "redirect"), ("127.0.0.1:0", "redirect"), ("127.0.0.2:0", "link"), ("127.0.0.1:0", "link")]
    {
        let foreign = Hostile::start(elsewhere, |_, _, stream| send(stream, "200 OK", "", "[]"));
        let to = foreign.origin.clone();
        let home = Hostile::start("127.0.0.1:0", move |_, _, stream| match how {
            "link" => send(stream, "200 OK", &format!("link: <{to}/list>; rel=\"next\"\r\n"), "[1]"),
            _ => send(stream, "307 Temporary Redirect", &format!("location: {to}/list\r\n"), ""),
        });
        let http = home.client(Limits::default());
        assert!(http.pages::<Value>("/list", "the list").await.is_err(), "{elsewhere} {how}");
        if how == "redirect" {
            assert!(http.write(reqwest::Method::POST, "/x", Some(&json!({})), "it").await.is_err());
            assert!(http.ask("/graphql", &json!({}), "it").await.is_err());
        }
        assert_eq!(foreign.requests(), 0, "{elsewhere} {how}");
        assert!(home.seen.lock().unwrap().iter().all(|head| head.contains(SECRET)), "it is sent at home");
        // A log may be kept elsewhere; whoever keeps it is told nothing about us.
        if how == "redirect" {
            http.tail("/log", "the log", 100).await.unwrap();
            let seen = foreign.seen.lock().unwrap().join("\n").to_ascii_lowercase();
            assert!(!seen.is_empty() && !seen.contains(SECRET) && !seen.contains("authorization"), "{seen}");
        }
    }
}

/// No client takes a secret among its plain headers: they go wherever it goes.
#[test]
fn a_secret_is_no_plain_header() {
    for name in SECRET_HEADERS {
        let mut settings = Settings::anonymous("http://127.0.0.1:1".into());
        settings.headers.insert(name, reqwest::header::HeaderValue::from_static("x"));
        assert!(Http::new(settings).is_err(), "{name}");
    }
}

/// Issue 16, point 19: a drip, a flood and a pit.
#[tokio::test]
async fn a_body_has_bounds() {
    let drip = Hostile::start("127.0.0.1:0", |_, _, stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n");
        while stream.write_all(b" ").and_then(|()| stream.flush()).is_ok() {
            std::thread::sleep(Duration::from_millis(20));
        }
    });
    let begun = Instant::now();
    let fault = drip.client(Limits { read: Duration::from_millis(200), ..Limits::default() }).ask("/x", &json!({}), "it").await;
    assert!(matches!(fault, Err(ForgeFault::Unreachable { .. })), "{fault:?}");
    assert!(begun.elapsed() < Duration::from_secs(5));

    let flood = Hostile::start("127.0.0.1:0", |_, _, stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n");
        while stream.write_all(&[b' '; 4096]).is_ok() {}
    });
    let small = || Limits { body: 64 * 1024, ..Limits::default() };
    let fault = flood.client(small()).read("/x", "it").await.unwrap_err();
    assert!(fault.to_string().contains("more than"), "{fault}");
    // What was sent to be done may have been done.
    let fault = flood.client(small()).write(reqwest::Method::POST, "/x", None, "it").await.unwrap_err();
    assert!(fault.is_uncertain(), "{fault}");

    let pit = Hostile::start("127.0.0.1:0", |_, _, stream| send(stream, "200 OK", "", &"[".repeat(200_000)));
    assert!(matches!(pit.client(Limits::default()).get::<Value>("/x", "it").await, Err(ForgeFault::Hollow { .. })));
}

/// Issue 16, point 19: one question may lead to others, and not for ever.
#[tokio::test]
async fn nested_questions_are_counted_together() {
    let server = Hostile::start("127.0.0.1:0", |_, _, stream| send(stream, "200 OK", "", "[1]"));
    let http = server.client(Limits::default());
    let nested = async |limits: OperationLimits| {
        within(&limits, async {
            loop {
                // As an item of a list is asked for, and what that one names.
                if let Err(fault) = within(&OperationLimits::default(), http.get::<Value>("/item", "an item")).await {
                    return fault.to_string();
                }
            }
        })
        .await
    };
    let usual = OperationLimits::default();
    let said = nested(OperationLimits { requests: 7, ..usual.clone() }).await;
    assert!(said.contains("more than 7 requests"), "{said}");
    assert_eq!(server.requests(), 7);
    assert!(nested(OperationLimits { bytes: 10, ..usual.clone() }).await.contains("have more than"));
    assert!(nested(OperationLimits { time: Duration::ZERO, ..usual }).await.contains("took longer"));
    // Outside of a call there is nothing to count against.
    assert!(http.get::<Value>("/item", "an item").await.is_ok());
}
