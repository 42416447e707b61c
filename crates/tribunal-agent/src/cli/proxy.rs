//! Holds the key that a CLI must not have.
//!
//! A CLI is told that its API is here, and gets a random word instead of a key. The word is worth nothing elsewhere; here it buys the
//! few requests that this kind of API needs ([`route`]), for one model and without the vendor's own reach into the internet
//! ([`gate`]), a bounded number of times. The real key is added on the way out, and goes to one address whatever the request says.
//!
//! What a request may cost is set aside before it goes out ([`ledger`]), a few are open at once, and their answers are read to the end
//! for their counts, whether the child waits for them or not ([`forward`]).
//!
//! It also sees what a CLI hides behind "API error": the last refusal is kept word for word, so that the fault can be named.

use crate::process::Pulse;
use forward::forward;
use http_body_util::{Channel, Either, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::HeaderMap;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
pub use ledger::Account;
use ledger::Ledger;
use std::convert::Infallible;
use std::io;
use std::net::TcpListener;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::sync::{Semaphore, oneshot};
use tribunal_core::call::money::Money;
use tribunal_core::call::price::Price;
use tribunal_core::call::usage::Usage;
use tribunal_core::findings::admit::one_line;
use tribunal_core::policy::agents::Wire;

mod forward;
mod gate;
mod ledger;
mod meter;
mod route;

/// Requests that are open at once. The others wait, with their bodies unread.
const MAX_OPEN: usize = 4;
const MAX_CONNECTIONS: usize = 64;
/// No request has more bytes of headers.
const MAX_HEAD: usize = 64 * 1024;
/// How long the counts of open answers are waited for when the child has ended.
const LINGER: Duration = Duration::from_secs(10);
/// What it is told beside the answer's body.
const PASSED_BACK: [&str; 4] = ["content-type", "retry-after", "request-id", "x-request-id"];

/// Whom the proxy asks, and on whose behalf. It holds the key, so it shows nothing of itself.
pub struct Upstream {
    pub wire: Wire,
    /// Up to and including the version.
    pub base_url: String,
    pub key: Option<String>,
    /// What the child must show.
    pub token: String,
    /// The only model that may be asked, where its name is known for sure.
    pub model: Option<String>,
    pub max_requests: u64,
    /// What this run may spend, where the model's price is known.
    pub budget: Option<Budget>,
}

/// A soft limit: the request that crosses it is still paid.
#[derive(Debug, Clone, Copy)]
pub struct Budget {
    pub price: Price,
    pub cap: Money,
}

impl Budget {
    fn most(&self, worst: Usage) -> Money {
        self.price.most(worst.input, worst.output)
    }
}

impl std::fmt::Debug for Upstream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Upstream").field("wire", &self.wire).field("base_url", &self.base_url).finish_non_exhaustive()
    }
}

struct Shared {
    upstream: Upstream,
    client: reqwest::Client,
    pulse: Arc<Pulse>,
    ledger: Ledger,
    open: Arc<Semaphore>,
}

/// Serves until it is dropped.
pub struct Proxy {
    shared: Arc<Shared>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

type Reply = Response<Either<Full<Bytes>, Channel<Bytes, io::Error>>>;

impl Proxy {
    /// `listener` is on this machine's loopback, or on that of the child's own network.
    pub fn serve(listener: TcpListener, upstream: Upstream, pulse: Arc<Pulse>) -> io::Result<Self> {
        let open = Arc::new(Semaphore::new(MAX_OPEN));
        let shared = Arc::new(Shared { client: client(&upstream.base_url)?, upstream, pulse, ledger: Ledger::default(), open });
        listener.set_nonblocking(true)?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (stop, stopped) = oneshot::channel();
        let serving = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("key proxy".into()).spawn(move || {
            runtime.block_on(async {
                let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
                tokio::select! {
                    () = accept(listener, serving) => {}
                    _ = stopped => {}
                }
            });
        })?;
        Ok(Self { shared, stop: Some(stop), thread: Some(thread) })
    }

    /// Waits a little for the counts of answers that the child did not wait for.
    pub fn account(&self) -> Account {
        let until = Instant::now() + LINGER;
        while self.shared.ledger.is_waiting() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(10));
        }
        self.shared.ledger.account()
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn client(base_url: &str) -> io::Result<reqwest::Client> {
    crate::model::client(base_url).map_err(|fault| io::Error::other(fault.to_string()))
}

/// An error without its address: a base URL may hold a password.
fn said(error: &reqwest::Error) -> String {
    let mut words = Vec::new();
    let mut cause: Option<&(dyn std::error::Error + 'static)> = std::error::Error::source(error);
    while let Some(error) = cause {
        words.push(error.to_string());
        cause = error.source();
    }
    match words.pop() {
        Some(last) => last,
        None if error.is_timeout() => "it took too long".into(),
        None => "the request failed".into(),
    }
}

async fn accept(listener: tokio::net::TcpListener, shared: Arc<Shared>) {
    let connections = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        let Ok(place) = Arc::clone(&connections).acquire_owned().await else { return };
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(Duration::from_millis(20)).await;
            continue;
        };
        let shared = Arc::clone(&shared);
        tokio::spawn(async move {
            let _place = place;
            let service = service_fn(move |request| {
                let shared = Arc::clone(&shared);
                async move { Ok::<_, Infallible>(answer(request, shared).await) }
            });
            let mut server = hyper::server::conn::http1::Builder::new();
            let _ = server.max_buf_size(MAX_HEAD).serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

type Refused = (StatusCode, String);

async fn answer(request: Request<Incoming>, shared: Arc<Shared>) -> Reply {
    match forward(request, &shared).await {
        Ok(reply) => reply,
        Err((status, words)) => {
            // It may quote what the child sent, at any length.
            let words = one_line(&words);
            let body = serde_json::json!({ "type": "error", "error": { "type": "tribunal", "code": status.as_u16(), "message": words } });
            shared.ledger.write(|account| {
                account.refused += 1;
                account.refusal = Some(words);
            });
            reply(status, &HeaderMap::new(), Either::Left(Full::new(Bytes::from(body.to_string()))), true)
        }
    }
}

/// Each kind of API has a header for its key; the child must show its word there.
fn shows(headers: &HeaderMap, wire: Wire, token: &str) -> bool {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let shown = match wire {
        Wire::Anthropic => text("x-api-key"),
        Wire::Gemini => text("x-goog-api-key"),
        Wire::Openai | Wire::OpenaiChat => text("authorization").strip_prefix("Bearer ").unwrap_or_default(),
    };
    // Every byte is looked at, so that time tells nothing.
    shown.len() == token.len() && shown.bytes().zip(token.bytes()).fold(0, |differ, (one, other)| differ | (one ^ other)) == 0
}

/// Those of these names. Nothing if one of them stands there twice: which of the two would be read is anybody's guess.
fn passed(headers: &HeaderMap, names: &[&str]) -> Option<HeaderMap> {
    let mut kept = HeaderMap::new();
    for name in headers.keys().filter(|name| names.contains(&name.as_str())) {
        let mut values = headers.get_all(name).iter();
        match (values.next(), values.next()) {
            (Some(value), None) => kept.insert(name.clone(), value.clone()),
            _ => return None,
        };
    }
    Some(kept)
}

fn reply(status: StatusCode, headers: &HeaderMap, body: Either<Full<Bytes>, Channel<Bytes, io::Error>>, is_ours: bool) -> Reply {
    let mut reply = Response::new(body);
    *reply.status_mut() = status;
    *reply.headers_mut() = passed(headers, &PASSED_BACK).unwrap_or_default();
    if is_ours {
        reply.headers_mut().insert(hyper::header::CONTENT_TYPE, hyper::header::HeaderValue::from_static("application/json"));
    }
    reply
}

#[cfg(test)]
mod tests;
