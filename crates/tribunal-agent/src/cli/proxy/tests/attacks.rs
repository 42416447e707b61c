//! What a sandboxed program did to the bill and to our memory, and does no more.

use super::*;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How a server answers one request, after it was read.
type Answering = fn(&mut TcpStream);

/// A server that answers many requests at once. It tells how many came, and how many were open at the same time.
struct Busy {
    url: String,
    came: Arc<AtomicUsize>,
    most: Arc<AtomicUsize>,
}

fn busy_server(answering: Answering) -> Busy {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let (came, open, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let counts = (Arc::clone(&came), Arc::clone(&most));
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let (came, open, most) = (Arc::clone(&came), Arc::clone(&open), Arc::clone(&most));
            std::thread::spawn(move || {
                read_request(&mut stream);
                came.fetch_add(1, Ordering::SeqCst);
                most.fetch_max(open.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                answering(&mut stream);
                open.fetch_sub(1, Ordering::SeqCst);
            });
        }
    });
    Busy { url, came: counts.0, most: counts.1 }
}

const HEAD: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\ndata: hello\n\n";
const COUNT: &str = "data: {\"type\":\"message_delta\",\"usage\":{\"input_tokens\":1000,\"output_tokens\":10}}\n\n";

fn write(stream: &mut TcpStream, text: &str) {
    let _ = stream.write_all(text.as_bytes());
    let _ = stream.flush();
}

fn pause() {
    std::thread::sleep(Duration::from_millis(300));
}

/// Counts what it did after a while, as a model does.
fn counts_late(stream: &mut TcpStream) {
    write(stream, HEAD);
    pause();
    write(stream, COUNT);
}

fn begins_late(stream: &mut TcpStream) {
    pause();
    write(stream, HEAD);
    write(stream, COUNT);
}

fn never_counts(stream: &mut TcpStream) {
    write(stream, &HEAD.replace("connection: close", "connection: close\r\ncontent-length: 1000"));
    pause();
}

const PRICE: Price = Price { input: 1.0, output: 1.0, cache_read: None, cache_write: None };

fn budget(micros: u64) -> Option<Budget> {
    Some(Budget { price: PRICE, cap: Money::micros(micros) })
}

const BODY: &str = "{\"model\":\"m\",\"max_tokens\":500}";

fn request(length: usize) -> String {
    format!("POST /v1/messages HTTP/1.1\r\nhost: x\r\nx-api-key: word\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n")
}

fn in_parallel(under: &Under, requests: usize) -> usize {
    std::thread::scope(|scope| {
        let asking: Vec<_> = (0..requests).map(|_| scope.spawn(|| under.send(&(request(BODY.len()) + BODY)))).collect();
        asking.into_iter().map(|asked| asked.join().unwrap()).filter(|answer| answer.starts_with("HTTP/1.1 200")).count()
    })
}

/// Thirty requests at once were all paid, because only finished answers were counted.
#[test]
fn parallel_requests_do_not_pass_the_cap_together() {
    let server = busy_server(counts_late);
    let under = proxy_with(&server.url, 99, budget(5_000));
    in_parallel(&under, 30);
    let account = under.proxy.account();
    // Each costs 1,010: the fifth crosses the cap.
    assert!(account.usage.input <= 5_000, "{account:?}");
    assert!(account.is_out_of_money && server.came.load(Ordering::SeqCst) >= 4, "{account:?}");
}

#[test]
fn a_few_requests_are_open_at_once() {
    let server = busy_server(counts_late);
    let under = proxy_with(&server.url, 99, None);
    assert_eq!(in_parallel(&under, 12), 12);
    assert!(server.most.load(Ordering::SeqCst) <= 4, "{}", server.most.load(Ordering::SeqCst));
    assert_eq!(under.proxy.account().requests, 12);
}

/// Hanging up after the first bytes left the usage at nothing, and the cap untouched.
#[test]
fn an_answer_is_counted_after_the_child_has_hung_up() {
    let server = busy_server(counts_late);
    let under = proxy_with(&server.url, 99, budget(5_000));
    let mut paid = 0;
    for _ in 0..9 {
        let mut stream = TcpStream::connect(("127.0.0.1", under.port)).unwrap();
        stream.write_all((request(BODY.len()) + BODY).as_bytes()).unwrap();
        let mut first = [0; 12];
        stream.read_exact(&mut first).unwrap();
        paid += usize::from(first.ends_with(b"200"));
    }
    let account = under.proxy.account();
    assert_eq!(account.usage.input, 1_000 * paid as u64, "{account:?}");
    assert!(paid < 9 && account.is_out_of_money, "{paid} {account:?}");
}

#[test]
fn an_answer_that_begins_after_the_child_has_hung_up_is_counted() {
    let server = busy_server(begins_late);
    let under = proxy_with(&server.url, 99, budget(5_000));
    let mut stream = TcpStream::connect(("127.0.0.1", under.port)).unwrap();
    stream.write_all((request(BODY.len()) + BODY).as_bytes()).unwrap();
    while server.came.load(Ordering::SeqCst) == 0 {
        std::thread::sleep(Duration::from_millis(5));
    }
    drop(stream);
    let account = under.proxy.account();
    assert_eq!((account.usage.input, account.usage.output), (1_000, 10), "{account:?}");
}

/// A count that cannot be had is not nothing.
#[test]
fn an_answer_without_a_count_costs_its_worst_case() {
    let server = busy_server(never_counts);
    let under = proxy_with(&server.url, 99, budget(5_000));
    under.send(&(request(BODY.len()) + BODY));
    let account = under.proxy.account();
    assert!(account.usage.output == 500 && account.usage.input > BODY.len() as u64, "{account:?}");
}

#[test]
fn a_body_that_is_no_prompt_is_not_kept() {
    let (url, asked) = server(FINE);
    let under = proxy(&url, 9);
    let length = 17 * 1024 * 1024;
    let mut stream = TcpStream::connect(("127.0.0.1", under.port)).unwrap();
    stream.write_all(request(length).as_bytes()).unwrap();
    let chunk = vec![b' '; 64 * 1024];
    for _ in 0..length / chunk.len() {
        if stream.write_all(&chunk).is_err() {
            break;
        }
    }
    let mut answer = [0; 12];
    let answered = stream.read_exact(&mut answer);
    assert!(answered.is_err() || answer == *b"HTTP/1.1 413", "{}", String::from_utf8_lossy(&answer));
    assert!(asked.try_recv().is_err());
    assert_eq!(under.proxy.account().requests, 0);
}

/// A connection beyond the limit waits until one of the others is closed.
#[test]
fn connections_are_bounded() {
    let (url, _asked) = server(FINE);
    let under = proxy(&url, 99);
    let idle: Vec<_> = (0..64).map(|_| TcpStream::connect(("127.0.0.1", under.port)).unwrap()).collect();
    pause();
    let mut one_more = TcpStream::connect(("127.0.0.1", under.port)).unwrap();
    one_more.write_all((request(BODY.len()) + BODY).as_bytes()).unwrap();
    one_more.set_read_timeout(Some(Duration::from_millis(500))).unwrap();
    assert!(one_more.read(&mut [0; 12]).is_err());
    drop(idle);
    one_more.set_read_timeout(None).unwrap();
    assert!(one_more.read(&mut [0; 12]).unwrap() > 0);
}

/// The name of a model is the child's word, and can be as long as a body.
#[test]
fn a_long_name_makes_no_long_refusal() {
    let (url, _asked) = server(FINE);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let upstream = Upstream {
        wire: Wire::Anthropic,
        base_url: url,
        key: Some(KEY.into()),
        token: "word".into(),
        model: Some("cheap".into()),
        max_requests: 9,
        budget: None,
    };
    let under = Under { proxy: Proxy::serve(listener, upstream, Arc::new(Pulse::default())).unwrap(), port };
    let body = format!("{{\"model\":\"{}\"}}", "m".repeat(300_000));
    let answer = under.send(&(request(body.len()) + &body));
    assert!(answer.starts_with("HTTP/1.1 403") && answer.len() < 1_000, "{}", answer.len());
    assert!(under.proxy.account().refusal.is_some_and(|words| words.len() < 1_000));
}
