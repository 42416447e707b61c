//! One request, one answer, three clocks.
//!
//! A redirect is never followed: it would carry the key to whoever the server names. Nothing is asked twice in here; whether
//! asking again helps is [`Fault::remedy`]'s to say.

use super::Sign;
use super::reader::{Reader, parse};
use super::request::is_loopback;
use super::sse::Sse;
use super::unreachable::unreachable;
use crate::process::MAX_OUTPUT;
use reqwest::header::{CONTENT_TYPE, HeaderMap, LOCATION, RETRY_AFTER};
use reqwest::{Client, Response, Url};
use std::time::Duration;
use tokio::time::{Instant, timeout_at};
use tribunal_core::call::clocks::Clocks;
use tribunal_core::call::fault::Fault;
use tribunal_core::findings::admit::one_line;

/// Of a refusal's body, more than this explains nothing.
const MAX_REFUSAL: usize = 64 * 1024;
const CONNECT: Duration = Duration::from_secs(20);
/// Longer than any call, and short enough to be added to any instant.
const LONGEST: u64 = 30 * 24 * 3600;

/// A client for the server at this address. The proxies that the environment names are used, except towards this machine.
pub fn client(base_url: &str) -> Result<Client, Fault> {
    // The first provider of a process stays; any that is there already will do.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut builder = Client::builder()
        .user_agent(concat!("tribunal/", env!("CARGO_PKG_VERSION")))
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
        .connect_timeout(CONNECT);
    let url = Url::parse(base_url).ok();
    if url.as_ref().and_then(Url::host_str).is_some_and(is_loopback) {
        builder = builder.no_proxy();
    }
    if url.is_some_and(|url| url.scheme() == "http") {
        // A machine without certificates must still reach its own model.
        builder = builder.tls_certs_only([]);
    }
    builder.build().map_err(|error| Fault::Unreachable { message: format!("no client could be made: {}", innermost(&error)) })
}

pub struct Call<'a> {
    pub client: &'a Client,
    pub url: Url,
    pub headers: HeaderMap,
    /// Only to be taken out of what the server says.
    pub key: Option<&'a str>,
    pub body: Vec<u8>,
    pub clocks: Clocks,
    /// The end of the total clock, which all attempts share.
    pub deadline: Instant,
}

pub fn after(start: Instant, seconds: u64) -> Instant {
    start + Duration::from_secs(seconds.min(LONGEST))
}

/// Which clock runs out next.
struct Watch {
    clocks: Clocks,
    start: Instant,
    deadline: Instant,
    has_begun: bool,
}

impl Watch {
    fn next(&self) -> (Instant, Fault) {
        let (at, fault) = if self.has_begun {
            (after(Instant::now(), self.clocks.idle), Fault::Stalled { seconds: self.clocks.idle })
        } else {
            (after(self.start, self.clocks.first_byte), Fault::NoFirstByte { seconds: self.clocks.first_byte })
        };
        if at < self.deadline { (at, fault) } else { (self.deadline, Fault::OutOfTime { seconds: self.clocks.total }) }
    }
}

pub async fn exchange(call: Call<'_>, reader: &mut dyn Reader, heard: &mut (dyn FnMut(Sign) + Send)) -> Result<(), Fault> {
    let Call { client, url, headers, key, body, clocks, deadline } = call;
    let mut watch = Watch { clocks, start: Instant::now(), deadline, has_begun: false };
    let (at, late) = watch.next();
    let sent = client.post(url.clone()).headers(headers).body(body).send();
    let response = match timeout_at(at, sent).await {
        Err(_) => return Err(late),
        Ok(Err(error)) if error.is_connect() || error.is_builder() => return Err(unreachable(&url, &error)),
        Ok(Err(error)) => return Err(Fault::CutOff { message: format!("no answer came: {}", innermost(&error)) }),
        Ok(Ok(response)) => response,
    };
    if !response.status().is_success() {
        return Err(refusal(response, &mut watch, key).await);
    }
    let mut body = Body::of(&header(&response, CONTENT_TYPE).unwrap_or_default())?;
    listen(response, &mut watch, &mut body, reader, heard).await?;
    if reader.is_over() { Ok(()) } else { body.end(reader) }
}

async fn listen(
    mut response: Response,
    watch: &mut Watch,
    body: &mut Body,
    reader: &mut dyn Reader,
    heard: &mut (dyn FnMut(Sign) + Send),
) -> Result<(), Fault> {
    let mut total = 0;
    loop {
        let (at, late) = watch.next();
        // A server that is always faster than we are never makes us wait, and only a wait can time out.
        if Instant::now() >= watch.deadline {
            return Err(late);
        }
        let bytes = match timeout_at(at, response.chunk()).await {
            Err(_) => return Err(late),
            Ok(Err(error)) => return Err(Fault::CutOff { message: innermost(&error) }),
            Ok(Ok(None)) => return Ok(()),
            Ok(Ok(Some(bytes))) if bytes.is_empty() => continue,
            Ok(Ok(Some(bytes))) => bytes,
        };
        if !std::mem::replace(&mut watch.has_begun, true) {
            heard(Sign::FirstByte);
        }
        heard(Sign::Bytes(bytes.len()));
        total += bytes.len();
        if total > MAX_OUTPUT {
            return Err(Fault::Endless { mebibytes: MAX_OUTPUT as u64 / (1024 * 1024) });
        }
        body.take(&bytes, reader)?;
        if reader.is_over() {
            return Ok(());
        }
    }
}

/// An answer is a stream of events, as was asked for, or one JSON value from a server that does not stream.
enum Body {
    Events(Sse),
    Whole(Vec<u8>),
    /// The server did not say which; the first character will.
    Unknown,
}

impl Body {
    fn of(content_type: &str) -> Result<Body, Fault> {
        let kind = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        match kind.as_str() {
            "text/event-stream" => Ok(Body::Events(Sse::default())),
            "text/html" => Err(Fault::Nonsense { message: "it is a web page; does `base_url` point at the API?".into() }),
            json if json.ends_with("json") => Ok(Body::Whole(Vec::new())),
            _ => Ok(Body::Unknown),
        }
    }

    fn take(&mut self, bytes: &[u8], reader: &mut dyn Reader) -> Result<(), Fault> {
        if matches!(self, Body::Unknown) {
            match bytes.iter().find(|byte| !byte.is_ascii_whitespace()) {
                Some(b'{' | b'[') => *self = Body::Whole(Vec::new()),
                Some(_) => *self = Body::Events(Sse::default()),
                None => {}
            }
        }
        match self {
            Body::Events(sse) => sse.push(bytes).iter().try_for_each(|event| reader.event(event.name.as_deref(), &event.data)),
            Body::Whole(whole) => {
                whole.extend_from_slice(bytes);
                Ok(())
            }
            Body::Unknown => Ok(()),
        }
    }

    fn end(self, reader: &mut dyn Reader) -> Result<(), Fault> {
        match self {
            Body::Whole(whole) => reader.whole(&parse(&String::from_utf8_lossy(&whole))?),
            Body::Events(sse) => match sse.rest() {
                // Half an event is the sign of a stream that broke off, which the reader will notice.
                Some(event) if event.data == "[DONE]" || serde_json::from_str::<serde::de::IgnoredAny>(&event.data).is_ok() => {
                    reader.event(event.name.as_deref(), &event.data)
                }
                Some(_) | None => Ok(()),
            },
            Body::Unknown => Ok(()),
        }
    }
}

/// Reads what can be read of the reason; that it was refused is known already.
async fn refusal(mut response: Response, watch: &mut Watch, key: Option<&str>) -> Fault {
    let status = response.status();
    if status.is_redirection() {
        let place = header(&response, LOCATION).unwrap_or_default();
        let message = format!(
            "it points elsewhere (`{}`), and a redirect is not followed because it would carry the key along; set `base_url`",
            one_line(&place)
        );
        return Fault::BadRequest { status: status.as_u16(), message };
    }
    let retry_after = header(&response, RETRY_AFTER);
    let mut body = Vec::new();
    while body.len() < MAX_REFUSAL {
        let (at, _) = watch.next();
        let Ok(Ok(Some(bytes))) = timeout_at(at, response.chunk()).await else { break };
        watch.has_begun = true;
        body.extend_from_slice(&bytes);
    }
    body.truncate(MAX_REFUSAL);
    // Before the message is cut: half a key is still too much of it.
    let body = without_key(&String::from_utf8_lossy(&body), key);
    Fault::from_response(status.as_u16(), retry_after.as_deref(), &body)
}

/// What a server says, less the key that it may repeat. Made-up keys of a few letters stand in any text, and are no secret.
pub fn without_key(text: &str, key: Option<&str>) -> String {
    match key {
        Some(key) if key.len() >= 8 => text.replace(key, "[key]"),
        Some(_) | None => text.to_owned(),
    }
}

fn header(response: &Response, name: reqwest::header::HeaderName) -> Option<String> {
    Some(String::from_utf8_lossy(response.headers().get(name)?.as_bytes()).into_owned())
}

/// The cause behind all the layers, which is the one that says something.
pub fn innermost(error: &dyn std::error::Error) -> String {
    let mut cause = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    one_line(&cause.to_string())
}
