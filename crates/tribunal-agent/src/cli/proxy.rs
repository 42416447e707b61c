//! Holds the key that a CLI must not have.
//!
//! A CLI is told that its API is here, and gets a random word instead of a key. The word is worth nothing elsewhere; here it buys the
//! few requests that this kind of API needs ([`route`]), for one model and without the vendor's own reach into the internet
//! ([`gate`]), a bounded number of times. The real key is added on the way out, and goes to one address whatever the request says.
//!
//! It also sees what a CLI hides behind "API error": the last refusal is kept word for word, so that the fault can be named.

use crate::process::Pulse;
use http_body_util::{BodyExt as _, Channel, Either, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use std::convert::Infallible;
use std::io;
use std::net::TcpListener;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::oneshot;
use tribunal_core::call::fault::Fault;
use tribunal_core::call::money::Money;
use tribunal_core::call::price::Price;
use tribunal_core::call::usage::Usage;
use tribunal_core::policy::agents::Wire;

mod gate;
mod meter;
mod route;

/// A request beyond this is no prompt.
const MAX_REQUEST: usize = 64 * 1024 * 1024;
/// After so many failures in a row the child is sent home: some CLIs would try again for minutes.
const MAX_FAILURES: u64 = 3;
/// Enough of a refusal to read it.
const MAX_REFUSAL: usize = 64 * 1024;
/// What a child may say beside its body. Anything else could carry what only bodies should, or another identity.
const PASSED_ON: [&str; 7] =
    ["accept", "anthropic-beta", "anthropic-version", "openai-beta", "originator", "user-agent", "x-goog-api-client"];
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

impl std::fmt::Debug for Upstream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Upstream").field("wire", &self.wire).field("base_url", &self.base_url).finish_non_exhaustive()
    }
}

/// What passed through.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Account {
    /// Requests that went out.
    pub requests: u64,
    /// Those that the model began to answer.
    pub answers: u64,
    pub bytes_out: u64,
    pub bytes_in: u64,
    /// Tokens, by the vendor's own count.
    pub usage: Usage,
    /// Requests that did not: a wrong word, another path, something the gate does not let through.
    pub refused: u64,
    /// Why the last of them did not.
    pub refusal: Option<String>,
    /// The child wanted more requests than it may have.
    pub is_used_up: bool,
    /// Or more money.
    pub is_out_of_money: bool,
    /// The last request failed, and this is how.
    pub fault: Option<Fault>,
}

#[derive(Default)]
struct Ledger {
    requests: AtomicU64,
    answers: AtomicU64,
    bytes_out: AtomicU64,
    bytes_in: AtomicU64,
    refused: AtomicU64,
    failures: AtomicU64,
    is_used_up: AtomicBool,
    is_out_of_money: AtomicBool,
    fault: Mutex<Option<Fault>>,
    /// One for each answer, as far as it has come.
    usage: Mutex<Vec<Usage>>,
    refusal: Mutex<Option<String>>,
}

impl Ledger {
    fn spent(&self) -> Usage {
        self.usage.lock().map(|all| all.iter().copied().sum()).unwrap_or_default()
    }

    /// Written down before the child sees the bytes: it may be gone a moment later.
    fn spend(&self, place: usize, usage: Usage) {
        if let Ok(mut all) = self.usage.lock() {
            if all.len() <= place {
                all.resize(place + 1, Usage::default());
            }
            all[place] = usage;
        }
    }
}

struct Shared {
    upstream: Upstream,
    client: reqwest::Client,
    pulse: Arc<Pulse>,
    ledger: Ledger,
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
        let shared = Arc::new(Shared { client: client(&upstream.base_url)?, upstream, pulse, ledger: Ledger::default() });
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

    pub fn account(&self) -> Account {
        let ledger = &self.shared.ledger;
        let count = |number: &AtomicU64| number.load(Ordering::Relaxed);
        Account {
            requests: count(&ledger.requests),
            answers: count(&ledger.answers),
            bytes_out: count(&ledger.bytes_out),
            bytes_in: count(&ledger.bytes_in),
            usage: ledger.spent(),
            refused: count(&ledger.refused),
            refusal: ledger.refusal.lock().ok().and_then(|refusal| refusal.clone()),
            is_used_up: ledger.is_used_up.load(Ordering::Relaxed),
            is_out_of_money: ledger.is_out_of_money.load(Ordering::Relaxed),
            fault: ledger.fault.lock().ok().and_then(|fault| fault.clone()),
        }
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
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(Duration::from_millis(20)).await;
            continue;
        };
        let shared = Arc::clone(&shared);
        tokio::spawn(async move {
            let service = service_fn(move |request| {
                let shared = Arc::clone(&shared);
                async move { Ok::<_, Infallible>(answer(request, shared).await) }
            });
            let _ = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

async fn answer(request: Request<Incoming>, shared: Arc<Shared>) -> Reply {
    match forward(request, &shared).await {
        Ok(reply) => reply,
        Err((status, words)) => {
            shared.ledger.refused.fetch_add(1, Ordering::Relaxed);
            let body = serde_json::json!({ "type": "error", "error": { "type": "tribunal", "code": status.as_u16(), "message": words } });
            if let Ok(mut refusal) = shared.ledger.refusal.lock() {
                *refusal = Some(words);
            }
            reply(status, &HeaderMap::new(), Either::Left(Full::new(Bytes::from(body.to_string()))), true)
        }
    }
}

type Refused = (StatusCode, String);

async fn forward(request: Request<Incoming>, shared: &Arc<Shared>) -> Result<Reply, Refused> {
    let upstream = &shared.upstream;
    let (parts, body) = request.into_parts();
    if !shows(&parts.headers, upstream.wire, &upstream.token) {
        return Err((StatusCode::UNAUTHORIZED, "wrong key".into()));
    }
    let route = route::find(upstream.wire, &parts.method, parts.uri.path(), parts.uri.query())
        .ok_or_else(|| (StatusCode::FORBIDDEN, format!("{} {} is not open to agents", parts.method, parts.uri.path())))?;
    let body = Limited::new(body, MAX_REQUEST).collect().await;
    let body = body.map_err(|_| (StatusCode::PAYLOAD_TOO_LARGE, "the request broke off or is too large".to_owned()))?.to_bytes();
    let checked =
        gate::check(upstream.wire, &route, &body, upstream.model.as_deref()).map_err(|words| (StatusCode::FORBIDDEN, words))?;
    let headers = passed(&parts.headers, &PASSED_ON)
        .ok_or_else(|| (StatusCode::BAD_REQUEST, "a header of the request stands there twice".to_owned()))?;
    let body = checked.map(|checked| checked.bytes());
    if shared.ledger.failures.load(Ordering::Relaxed) >= MAX_FAILURES {
        return Err((StatusCode::FORBIDDEN, format!("the model failed {MAX_FAILURES} times in a row")));
    }
    if upstream.budget.is_some_and(|budget| budget.price.cost(&shared.ledger.spent()) >= budget.cap) {
        shared.ledger.is_out_of_money.store(true, Ordering::Relaxed);
        return Err((StatusCode::FORBIDDEN, "this answer's money is used up".to_owned()));
    }
    if shared.ledger.requests.fetch_add(1, Ordering::Relaxed) >= upstream.max_requests {
        shared.ledger.is_used_up.store(true, Ordering::Relaxed);
        shared.ledger.requests.fetch_sub(1, Ordering::Relaxed);
        return Err((StatusCode::FORBIDDEN, format!("all {} requests of this run are used up", upstream.max_requests)));
    }
    shared.ledger.bytes_out.fetch_add(body.as_ref().map_or(0, Vec::len) as u64, Ordering::Relaxed);
    let url = format!("{}{}", upstream.base_url.trim_end_matches('/'), route.rest);
    // Method, path, query, headers and body are those that were read and checked; nothing of the request goes out as it came.
    let mut outgoing = shared.client.request(parts.method, url).headers(headers);
    if let Some((name, value)) = credentials(upstream) {
        outgoing = outgoing.header(name, value);
    }
    if let Some(body) = body {
        outgoing = outgoing.header(hyper::header::CONTENT_TYPE, HeaderValue::from_static("application/json")).body(body);
    }
    match outgoing.send().await {
        Ok(incoming) => Ok(relay(incoming, shared).await),
        Err(error) => {
            let message = said(&error);
            note(shared, Some(Fault::Unreachable { message: message.clone() }));
            Err((StatusCode::BAD_GATEWAY, format!("the model cannot be reached: {message}")))
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

fn credentials(upstream: &Upstream) -> Option<(HeaderName, HeaderValue)> {
    let key = upstream.key.as_deref()?;
    let (name, value) = match upstream.wire {
        Wire::Anthropic => (HeaderName::from_static("x-api-key"), key.to_owned()),
        Wire::Gemini => (HeaderName::from_static("x-goog-api-key"), key.to_owned()),
        Wire::Openai | Wire::OpenaiChat => (hyper::header::AUTHORIZATION, format!("Bearer {key}")),
    };
    let mut value = HeaderValue::from_str(&value).ok()?;
    value.set_sensitive(true);
    Some((name, value))
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

fn note(shared: &Shared, fault: Option<Fault>) {
    match &fault {
        Some(_) => shared.ledger.failures.fetch_add(1, Ordering::Relaxed),
        None => shared.ledger.failures.swap(0, Ordering::Relaxed),
    };
    if let Ok(mut last) = shared.ledger.fault.lock() {
        *last = fault;
    }
}

async fn relay(mut incoming: reqwest::Response, shared: &Arc<Shared>) -> Reply {
    let status = incoming.status();
    let headers = incoming.headers().clone();
    shared.pulse.answered();
    if !status.is_success() {
        let mut body = Vec::new();
        while let Ok(Some(chunk)) = incoming.chunk().await {
            body.extend_from_slice(&chunk);
            if body.len() > MAX_REFUSAL {
                body.truncate(MAX_REFUSAL);
                break;
            }
        }
        shared.ledger.bytes_in.fetch_add(body.len() as u64, Ordering::Relaxed);
        let retry_after = headers.get("retry-after").and_then(|value| value.to_str().ok());
        note(shared, Some(Fault::from_response(status.as_u16(), retry_after, &String::from_utf8_lossy(&body))));
        // A redirect is neither followed nor passed on: the child could not go there anyway.
        let status = if status.is_redirection() { StatusCode::BAD_GATEWAY } else { status };
        return reply(status, &headers, Either::Left(Full::new(Bytes::from(body))), false);
    }
    let place = shared.ledger.answers.fetch_add(1, Ordering::Relaxed) as usize;
    let mut meter = meter::Meter::new(shared.upstream.wire);
    let (mut sender, body) = Channel::new(16);
    let relaying = Arc::clone(shared);
    tokio::spawn(async move {
        loop {
            match incoming.chunk().await {
                Ok(Some(chunk)) => {
                    relaying.pulse.answered();
                    relaying.ledger.bytes_in.fetch_add(chunk.len() as u64, Ordering::Relaxed);
                    relaying.ledger.spend(place, meter.take(&chunk));
                    if sender.send_data(chunk).await.is_err() {
                        return;
                    }
                }
                Ok(None) => {
                    relaying.ledger.spend(place, meter.finish());
                    return note(&relaying, None);
                }
                Err(error) => {
                    note(&relaying, Some(Fault::CutOff { message: said(&error) }));
                    return sender.abort(io::Error::other("the answer broke off"));
                }
            }
        }
    });
    reply(status, &headers, Either::Right(body), false)
}

fn reply(status: StatusCode, headers: &HeaderMap, body: Either<Full<Bytes>, Channel<Bytes, io::Error>>, is_ours: bool) -> Reply {
    let mut reply = Response::new(body);
    *reply.status_mut() = status;
    *reply.headers_mut() = passed(headers, &PASSED_BACK).unwrap_or_default();
    if is_ours {
        reply.headers_mut().insert(hyper::header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    }
    reply
}

#[cfg(test)]
mod tests;
