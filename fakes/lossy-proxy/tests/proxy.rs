//! Each harm, as a client meets it.

#![allow(clippy::unwrap_used)]

use lossy_proxy::{Harm, LossyProxy, Rule};
use reqwest::{Client, Response};
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// A server that counts what it was asked, and always says the same.
struct Counting {
    origin: String,
    asked: Arc<AtomicUsize>,
}

fn counting() -> Counting {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    let asked = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&asked);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 4096]).unwrap();
            counter.fetch_add(1, Ordering::SeqCst);
            let body = r#"{"done":true}"#;
            let _ = write!(stream, "HTTP/1.1 201 Created\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len());
        }
    });
    Counting { origin, asked }
}

fn client() -> Client {
    let _ = rustls::crypto::ring::default_provider().install_default();
    Client::builder().no_proxy().tls_certs_only([]).timeout(Duration::from_secs(60)).build().unwrap()
}

async fn post(proxy: &LossyProxy) -> reqwest::Result<Response> {
    client().post(format!("{}/api/things?x=1", proxy.origin())).body("{}").send().await
}

/// The answer's status and text, or nothing; and how often the server was asked.
async fn met(harm: Option<Harm>) -> (Option<(u16, String)>, usize) {
    let server = counting();
    let proxy = LossyProxy::start(&server.origin);
    if let Some(harm) = harm {
        proxy.add(Rule::first("POST", "/things", harm));
    }
    let answer = match post(&proxy).await {
        Ok(answer) => {
            let status = answer.status().as_u16();
            answer.bytes().await.ok().map(|bytes| (status, String::from_utf8_lossy(&bytes).into_owned()))
        }
        Err(_) => None,
    };
    proxy.assert_used_up();
    assert_eq!(proxy.count("POST", "/api/things"), 1);
    let asked = server.asked.load(Ordering::SeqCst);
    assert_eq!(proxy.passed("*", "/things"), asked);
    (answer, asked)
}

#[tokio::test]
async fn what_is_not_harmed_is_passed_on() {
    assert_eq!(met(None).await, (Some((201, r#"{"done":true}"#.into())), 1));
}

/// forges.md 8, 16: the server stored it, and nobody was told.
#[tokio::test]
async fn an_answer_is_lost_after_the_work() {
    assert_eq!(met(Some(Harm::DropAnswer)).await, (None, 1));
    assert_eq!(met(Some(Harm::CutAnswer)).await, (None, 1));
    let (answer, asked) = met(Some(Harm::AnswerInstead(502))).await;
    assert_eq!((answer.unwrap().0, asked), (502, 1));
    let (answer, asked) = met(Some(Harm::Garble)).await;
    assert_eq!((answer.unwrap().0, asked), (201, 1));
}

#[tokio::test]
async fn a_request_is_lost_before_the_work() {
    assert_eq!(met(Some(Harm::DropRequest)).await, (None, 0));
    let (answer, asked) = met(Some(Harm::RefuseWith(500))).await;
    assert_eq!((answer.unwrap().0, asked), (500, 0));
    let (answer, asked) = met(Some(Harm::Limit(3))).await;
    assert_eq!((answer.unwrap().0, asked), (429, 0));
}

#[tokio::test]
async fn a_request_waits() {
    let started = Instant::now();
    let (answer, asked) = met(Some(Harm::Delay(Duration::from_millis(200)))).await;
    assert_eq!((answer.unwrap().0, asked), (201, 1));
    assert!(started.elapsed() >= Duration::from_millis(200));
}

#[tokio::test]
async fn a_request_is_held_until_it_is_let_go() {
    let server = counting();
    let proxy = LossyProxy::start(&server.origin);
    proxy.add(Rule::first("POST", "/things", Harm::Hold));
    let begun = Instant::now();
    let (answer, ()) = tokio::join!(post(&proxy), async {
        while proxy.count("POST", "/things") == 0 {
            assert!(begun.elapsed() < Duration::from_secs(300), "it never came");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        assert_eq!(server.asked.load(Ordering::SeqCst), 0);
        proxy.release();
    });
    assert_eq!((answer.unwrap().status().as_u16(), server.asked.load(Ordering::SeqCst)), (201, 1));
}

/// A client that gives up does not stop the server.
#[tokio::test]
async fn the_work_is_done_for_a_client_that_left() {
    let server = counting();
    let proxy = LossyProxy::start(&server.origin);
    proxy.add(Rule::nth(2, "POST", "/things", Harm::DropAnswer));
    assert!(post(&proxy).await.is_ok() && post(&proxy).await.is_err() && post(&proxy).await.is_ok());
    assert_eq!((server.asked.load(Ordering::SeqCst), proxy.seen().len()), (3, 3));
    assert_eq!(proxy.seen()[1].query, "x=1");
}
