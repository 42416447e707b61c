//! The way of one request to the vendor, and of its answer back.

use super::ledger::Ledger;
use super::{Refused, Reply, Shared, Upstream, gate, meter, passed, reply, route, said, shows};
use http_body_util::{BodyExt as _, Channel, Either, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use hyper::{Request, StatusCode};
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Instant, timeout_at};
use tribunal_core::call::fault::Fault;
use tribunal_core::call::usage::Usage;
use tribunal_core::policy::agents::Wire;

/// A request beyond this is no prompt.
const MAX_REQUEST: usize = 16 * 1024 * 1024;
/// After so many failures in a row the child is sent home: some CLIs would try again for minutes.
const MAX_FAILURES: u64 = 3;
/// Enough of a refusal to read it.
const MAX_REFUSAL: usize = 64 * 1024;
/// How long, and how far, an answer is read for its count after the child has hung up.
const UNHEARD: Duration = Duration::from_secs(120);
const MAX_UNHEARD: usize = 16 * 1024 * 1024;
/// What a child may say beside its body. Anything else could carry what only bodies should, or another identity.
const PASSED_ON: [&str; 7] =
    ["accept", "anthropic-beta", "anthropic-version", "openai-beta", "originator", "user-agent", "x-goog-api-client"];
/// Betas that make a token dearer. A model's name with a mark of Claude Code's (`[1m]`) asks for them; see `profile::pinned`.
const DEAR_BETAS: [&str; 2] = ["context-1m", "fast-mode"];

/// A request that was counted. It is given back unless it went out.
struct Taken<'a>(Option<&'a Ledger>);

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        if let Some(ledger) = self.0 {
            ledger.give_request_back();
        }
    }
}

/// A request on its way. Whatever ends it before its count is whole leaves its worst case standing.
struct Call {
    shared: Arc<Shared>,
    /// Nothing for one that costs nothing.
    place: Option<usize>,
    _open: OwnedSemaphorePermit,
}

impl Call {
    fn count(&self, usage: Usage) {
        if let Some(place) = self.place {
            self.shared.ledger.count(place, usage);
        }
    }

    fn is_counted(&self) {
        if let Some(place) = self.place {
            self.shared.ledger.settle(place, true);
        }
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        if let Some(place) = self.place {
            self.shared.ledger.settle(place, false);
        }
    }
}

pub async fn forward(request: Request<Incoming>, shared: &Arc<Shared>) -> Result<Reply, Refused> {
    let (upstream, ledger) = (&shared.upstream, &shared.ledger);
    let (parts, body) = request.into_parts();
    if !shows(&parts.headers, upstream.wire, &upstream.token) {
        return Err((StatusCode::UNAUTHORIZED, "wrong key".into()));
    }
    let route = route::find(upstream.wire, &parts.method, parts.uri.path(), parts.uri.query())
        .ok_or_else(|| (StatusCode::FORBIDDEN, format!("{} {} is not open to agents", parts.method, parts.uri.path())))?;
    let mut headers = passed(&parts.headers, &PASSED_ON)
        .ok_or_else(|| (StatusCode::BAD_REQUEST, "a header of the request stands there twice".to_owned()))?;
    if upstream.model.is_some() {
        drop_dear_betas(&mut headers);
    }
    // Before the body is read: bodies that wait are kept by the child and not by us.
    let open = Arc::clone(&shared.open).acquire_owned().await;
    let open = open.map_err(|_| (StatusCode::BAD_GATEWAY, "the run is over".to_owned()))?;
    if ledger.failures() >= MAX_FAILURES {
        return Err((StatusCode::FORBIDDEN, format!("the model failed {MAX_FAILURES} times in a row")));
    }
    if !ledger.take_request(upstream.max_requests) {
        return Err((StatusCode::FORBIDDEN, format!("all {} requests of this run are used up", upstream.max_requests)));
    }
    let mut taken = Taken(Some(ledger));
    let body = Limited::new(body, MAX_REQUEST).collect().await;
    let body = body.map_err(|_| (StatusCode::PAYLOAD_TOO_LARGE, "the request broke off or is too large".to_owned()))?.to_bytes();
    let checked =
        gate::check(upstream.wire, &route, &body, upstream.model.as_deref()).map_err(|words| (StatusCode::FORBIDDEN, words))?;
    drop(body);
    let (bytes, worst) = match checked {
        Some(checked) => {
            let bytes = checked.bytes();
            let worst = checked.worst_case(bytes.len());
            (Some(bytes), worst)
        }
        None => (None, Usage::default()),
    };
    let place = match route.costs {
        true => match ledger.reserve(worst, upstream.budget).await {
            Some(place) => Some(place),
            None => return Err((StatusCode::FORBIDDEN, "this answer's money is used up".to_owned())),
        },
        false => None,
    };
    taken.0 = None;
    let call = Call { shared: Arc::clone(shared), place, _open: open };
    ledger.write(|account| account.bytes_out += bytes.as_ref().map_or(0, Vec::len) as u64);
    let url = format!("{}{}", upstream.base_url.trim_end_matches('/'), route.rest);
    // Method, path, query, headers and body are those that were read and checked; nothing of the request goes out as it came.
    let mut outgoing = shared.client.request(parts.method, url).headers(headers);
    if let Some((name, value)) = credentials(upstream) {
        outgoing = outgoing.header(name, value);
    }
    if let Some(bytes) = bytes {
        outgoing = outgoing.header(CONTENT_TYPE, HeaderValue::from_static("application/json")).body(bytes);
    }
    // On its own: a child that hangs up ends this function, and not the count of what it asked for.
    let sent = tokio::spawn(send(outgoing, call));
    sent.await.unwrap_or_else(|_| Err((StatusCode::BAD_GATEWAY, "the request failed".into())))
}

async fn send(outgoing: reqwest::RequestBuilder, call: Call) -> Result<Reply, Refused> {
    match outgoing.send().await {
        Ok(incoming) => Ok(relay(incoming, call).await),
        Err(error) => {
            if error.is_connect() {
                call.is_counted();
            }
            let message = said(&error);
            call.shared.ledger.note(Some(Fault::Unreachable { message: message.clone() }));
            Err((StatusCode::BAD_GATEWAY, format!("the model cannot be reached: {message}")))
        }
    }
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

fn drop_dear_betas(headers: &mut HeaderMap) {
    let Some(betas) = headers.remove("anthropic-beta") else { return };
    let is_dear = |beta: &str| DEAR_BETAS.iter().any(|dear| beta.trim().starts_with(dear));
    let kept: Vec<&str> = betas.to_str().unwrap_or_default().split(',').filter(|beta| !is_dear(beta)).collect();
    if let (false, Ok(kept)) = (kept.is_empty(), HeaderValue::from_str(&kept.join(","))) {
        headers.insert("anthropic-beta", kept);
    }
}

async fn relay(mut incoming: reqwest::Response, call: Call) -> Reply {
    let shared = Arc::clone(&call.shared);
    let status = incoming.status();
    let headers = incoming.headers().clone();
    shared.pulse.answered();
    if !status.is_success() {
        // No vendor charges for a refusal.
        call.is_counted();
        let mut body = Vec::new();
        while let Ok(Some(chunk)) = incoming.chunk().await {
            body.extend_from_slice(&chunk);
            if body.len() > MAX_REFUSAL {
                body.truncate(MAX_REFUSAL);
                break;
            }
        }
        shared.ledger.write(|account| account.bytes_in += body.len() as u64);
        let retry_after = headers.get("retry-after").and_then(|value| value.to_str().ok());
        shared.ledger.note(Some(Fault::from_response(status.as_u16(), retry_after, &String::from_utf8_lossy(&body))));
        // A redirect is neither followed nor passed on: the child could not go there anyway.
        let status = if status.is_redirection() { StatusCode::BAD_GATEWAY } else { status };
        return reply(status, &headers, Either::Left(Full::new(Bytes::from(body))), false);
    }
    shared.ledger.write(|account| account.answers += 1);
    let (sender, body) = Channel::new(16);
    tokio::spawn(pass_back(incoming, sender, call));
    reply(status, &headers, Either::Right(body), false)
}

/// Hands an answer to the child as it comes, and reads its count. A child that has hung up does not end that.
async fn pass_back(mut incoming: reqwest::Response, sender: http_body_util::channel::Sender<Bytes, io::Error>, call: Call) {
    let shared = Arc::clone(&call.shared);
    let mut meter = meter::Meter::new(shared.upstream.wire);
    let mut child = Some(sender);
    let (mut until, mut unheard) = (None, 0);
    loop {
        let chunk = match until {
            None => incoming.chunk().await,
            Some(until) => match timeout_at(until, incoming.chunk()).await {
                Ok(chunk) => chunk,
                Err(_) => return,
            },
        };
        match chunk {
            Ok(Some(chunk)) => {
                shared.ledger.write(|account| account.bytes_in += chunk.len() as u64);
                call.count(meter.take(&chunk));
                // A child asks again as soon as it has read the count, and not when the connection ends.
                if meter.is_whole() {
                    call.is_counted();
                }
                if let Some(sender) = &mut child {
                    shared.pulse.answered();
                    if sender.send_data(chunk).await.is_err() {
                        (child, until) = (None, Some(Instant::now() + UNHEARD));
                    }
                } else {
                    unheard += chunk.len();
                }
                if child.is_none() && (meter.is_whole() || unheard > MAX_UNHEARD) {
                    return;
                }
            }
            Ok(None) => {
                let usage = meter.finish();
                call.count(usage);
                if !usage.is_nothing() {
                    call.is_counted();
                }
                return shared.ledger.note(None);
            }
            Err(error) => {
                if let Some(sender) = child {
                    shared.ledger.note(Some(Fault::CutOff { message: said(&error) }));
                    // Settled before the child hears of it.
                    drop(call);
                    sender.abort(io::Error::other("the answer broke off"));
                }
                return;
            }
        }
    }
}
