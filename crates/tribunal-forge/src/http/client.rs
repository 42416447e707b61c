//! Asking and telling.

use super::answer::Answer;
use super::cache::{Cache, Kept};
use super::pace::{Bucket, Pace};
use crate::port::Answered;
use reqwest::header::{ACCEPT, CONTENT_TYPE, ETAG, HeaderMap, HeaderName, HeaderValue, IF_NONE_MATCH, LINK, LOCATION};
use reqwest::{Client, Method, RequestBuilder, Response, Url};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::sync::Mutex;
use tokio::time::{Instant, sleep, sleep_until};
use tribunal_core::pull::fault::ForgeFault;

const CONNECT: Duration = Duration::from_secs(10);
const READ: Duration = Duration::from_secs(60);
/// A large review takes a forge a while; being impatient here makes an uncertain write of a slow one.
const WRITE: Duration = Duration::from_secs(120);
/// An answer larger than this is no answer of an API.
const MAX_BODY: usize = 64 * 1024 * 1024;
const MAX_PAGES: usize = 500;
const MAX_REDIRECTS: usize = 3;
/// A read is asked this often before a failing server is believed.
const READ_ATTEMPTS: u32 = 3;
/// A longer wait is the caller's to decide, unless told otherwise.
const MAX_WAIT: u64 = 60;

/// How to reach one forge with one token.
pub struct Settings {
    /// Root of the API, without a slash at the end.
    pub api: String,
    pub headers: HeaderMap,
    /// To key the cache, and to be taken out of whatever is said. Never sent from here.
    pub token: String,
    pub pace: Pace,
    /// Where answers are kept for conditional requests; nothing where the forge has no tags.
    pub cache: Option<PathBuf>,
}

pub struct Http {
    client: Client,
    api: String,
    host: String,
    headers: HeaderMap,
    token: String,
    cache: Cache,
    bucket: Mutex<Bucket>,
    patience: u64,
    reads: AtomicU64,
    writes: AtomicU64,
}

impl Http {
    pub fn new(settings: Settings) -> Answered<Self> {
        // The first provider of a process stays; any that is there already will do.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let host = host_of(&settings.api);
        let unusable = |message: String| ForgeFault::Unreachable { host: host.clone(), message };
        let url = Url::parse(&settings.api).map_err(|error| unusable(format!("`{}` is no address: {error}", settings.api)))?;
        let mut builder = Client::builder()
            .user_agent(concat!("tribunal/", env!("CARGO_PKG_VERSION")))
            .redirect(reqwest::redirect::Policy::none())
            .retry(reqwest::retry::never())
            .connect_timeout(CONNECT);
        let loopback = url.host_str().is_some_and(|host| host == "localhost" || host == "[::1]" || host.starts_with("127."));
        if loopback {
            builder = builder.no_proxy();
        }
        if url.scheme() == "http" {
            // A machine without certificates must still reach its own forge.
            builder = builder.tls_certs_only([]);
        }
        let client = builder.build().map_err(|error| unusable(error.to_string()))?;
        Ok(Http {
            client,
            cache: Cache::new(settings.cache, &host, &settings.token),
            host,
            api: settings.api,
            headers: settings.headers,
            token: settings.token,
            bucket: Mutex::new(Bucket::new(settings.pace)),
            patience: MAX_WAIT,
            reads: AtomicU64::new(0),
            writes: AtomicU64::new(0),
        })
    }

    /// Sits out no wait that is longer than this many seconds.
    #[must_use]
    pub fn with_patience(mut self, seconds: u64) -> Self {
        self.patience = seconds;
        self
    }

    pub fn host(&self) -> &str {
        &self.host
    }

    pub(super) fn client(&self) -> &Client {
        &self.client
    }

    pub(super) fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    pub(super) fn count_read(&self) {
        self.reads.fetch_add(1, Ordering::Relaxed);
    }

    pub fn api(&self) -> &str {
        &self.api
    }

    /// Requests sent so far: reads, writes.
    pub fn counts(&self) -> (u64, u64) {
        (self.reads.load(Ordering::Relaxed), self.writes.load(Ordering::Relaxed))
    }

    /// Reads one thing. `path` begins with a slash, or is an address of this forge.
    pub async fn get<T: DeserializeOwned>(&self, path: &str, what: &str) -> Answered<T> {
        self.read(path, what).await?.json(what)
    }

    /// Reads a list, every page of it.
    pub async fn pages<T: DeserializeOwned>(&self, path: &str, what: &str) -> Answered<Vec<T>> {
        let mut all = Vec::new();
        let mut next = Some(path.to_owned());
        for _ in 0..MAX_PAGES {
            let Some(address) = next else { return Ok(all) };
            let answer = self.read(&address, what).await?;
            all.extend(answer.json::<Vec<T>>(what)?);
            next = answer.next_page();
        }
        Err(ForgeFault::Hollow { host: self.host.clone(), message: format!("{what} has more than {MAX_PAGES} pages") })
    }

    /// Reads, with the forge's patience: conditional, again after a failing answer, and after a stated wait.
    pub async fn read(&self, path: &str, what: &str) -> Answered<Answer> {
        let mut attempt = 0;
        loop {
            attempt += 1;
            let fault = match self.read_once(path, what).await {
                Ok(answer) => return Ok(answer),
                Err(fault) => fault,
            };
            let wait = match &fault {
                ForgeFault::Limited { seconds, .. } => {
                    seconds.filter(|seconds| *seconds <= self.patience).map(Duration::from_secs)
                }
                ForgeFault::Failing { status: 502..=504, .. } | ForgeFault::Unreachable { .. } => {
                    Some(Duration::from_millis(250 << attempt))
                }
                _ => None,
            };
            match wait {
                Some(wait) if attempt < READ_ATTEMPTS => sleep(wait).await,
                _ => return Err(fault),
            }
        }
    }

    /// Looks once, whatever the answer is: to find out what kind of server this is, a refusal tells as much as a page.
    pub async fn look(&self, path: &str) -> Answered<Answer> {
        let request = self.client.get(self.url(path)?).headers(self.headers.clone()).timeout(CONNECT);
        self.reads.fetch_add(1, Ordering::Relaxed);
        self.answer(request, false).await
    }

    async fn read_once(&self, path: &str, what: &str) -> Answered<Answer> {
        let mut url = self.url(path)?;
        for _ in 0..=MAX_REDIRECTS {
            let answer = self.read_at(&url, what).await?;
            if !matches!(answer.status, 301 | 302 | 307 | 308) {
                return Ok(answer);
            }
            // A renamed repository; never to another host, which would be given the token.
            let to = answer.headers.get(LOCATION).and_then(|to| to.to_str().ok()).and_then(|to| url.join(to).ok());
            match to.filter(|to| to.origin() == url.origin()) {
                Some(to) => url = to,
                None => return Err(answer.fault(what, false, now()).unwrap_or_else(|| self.too_many_redirects(what))),
            }
        }
        Err(self.too_many_redirects(what))
    }

    fn too_many_redirects(&self, what: &str) -> ForgeFault {
        ForgeFault::Hollow { host: self.host.clone(), message: format!("{what} is redirected without an end") }
    }

    async fn read_at(&self, url: &Url, what: &str) -> Answered<Answer> {
        let accept = self.headers.get(ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let kept = self.cache.find(url.as_str(), accept);
        let mut request = self.client.get(url.clone()).headers(self.headers.clone()).timeout(READ);
        if let Some(tag) = kept.as_ref().and_then(|kept| HeaderValue::from_str(&kept.etag).ok()) {
            request = request.header(IF_NONE_MATCH, tag);
        }
        self.reads.fetch_add(1, Ordering::Relaxed);
        let mut answer = self.answer(request, false).await?;
        if let (304, Some(kept)) = (answer.status, kept) {
            answer.status = 200;
            answer.body = kept.body;
            if let Ok(link) = HeaderValue::from_str(&kept.link) {
                answer.headers.insert(LINK, link);
            }
            return Ok(answer);
        }
        if !matches!(answer.status, 301 | 302 | 307 | 308)
            && let Some(fault) = answer.fault(what, false, now())
        {
            return Err(fault);
        }
        if let (200, Some(etag)) = (answer.status, answer.header(ETAG.as_str())) {
            let link = answer.header(LINK.as_str()).unwrap_or_default().to_owned();
            self.cache.keep(url.as_str(), accept, &Kept { etag: etag.to_owned(), link, body: answer.body.clone() });
        }
        Ok(answer)
    }

    /// Writes once. Only an answer that says "too fast" is answered by waiting and sending again: that one was certainly not done.
    pub async fn write(&self, method: Method, path: &str, body: Option<&Value>, what: &str) -> Answered<Answer> {
        self.write_with(method, path, body, what, HeaderMap::new()).await
    }

    pub async fn write_with(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
        what: &str,
        more: HeaderMap,
    ) -> Answered<Answer> {
        let url = self.url(path)?;
        let mut attempt = 0;
        loop {
            attempt += 1;
            let turn = self.bucket.lock().await.take(Instant::now());
            sleep_until(turn).await;
            let mut request = self
                .client
                .request(method.clone(), url.clone())
                .headers(self.headers.clone())
                .headers(more.clone())
                .timeout(WRITE);
            if let Some(body) = body {
                request = request.header(CONTENT_TYPE, "application/json").body(body.to_string());
            }
            self.writes.fetch_add(1, Ordering::Relaxed);
            let answer = self.answer(request, true).await?;
            match answer.fault(what, true, now()) {
                None => return Ok(answer),
                Some(ForgeFault::Limited { seconds: Some(seconds), .. })
                    if seconds <= self.patience && attempt < READ_ATTEMPTS =>
                {
                    sleep(Duration::from_secs(seconds)).await;
                }
                Some(fault) => return Err(fault),
            }
        }
    }

    /// A question in the form of a write, such as a GraphQL query: it changes nothing, so it may be asked again.
    pub async fn ask(&self, path: &str, body: &Value, what: &str) -> Answered<Answer> {
        let url = self.url(path)?;
        let mut attempt = 0;
        loop {
            attempt += 1;
            self.reads.fetch_add(1, Ordering::Relaxed);
            let request = self.client.post(url.clone()).headers(self.headers.clone()).timeout(READ);
            let request = request.header(CONTENT_TYPE, "application/json").body(body.to_string());
            let answer = self.answer(request, false).await;
            match answer.and_then(|answer| answer.fault(what, false, now()).map_or(Ok(answer), Err)) {
                Err(ForgeFault::Failing { status: 502..=504, .. }) if attempt < READ_ATTEMPTS => {
                    sleep(Duration::from_millis(250 << attempt)).await;
                }
                other => return other,
            }
        }
    }

    async fn answer(&self, request: RequestBuilder, is_write: bool) -> Answered<Answer> {
        let failed = |error: &reqwest::Error| {
            let message = self.masked(&innermost(error));
            // Only a connection that was never made has certainly carried nothing.
            if is_write && !error.is_connect() && !error.is_builder() {
                ForgeFault::Uncertain { host: self.host.clone(), message }
            } else {
                ForgeFault::Unreachable { host: self.host.clone(), message }
            }
        };
        let response = request.send().await.map_err(|error| failed(&error))?;
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let body = match body(response).await {
            Ok(body) => body,
            Err(Some(error)) => return Err(failed(&error)),
            Err(None) => {
                let message = format!("an answer of more than {} MB", MAX_BODY / (1024 * 1024));
                return Err(ForgeFault::Hollow { host: self.host.clone(), message });
            }
        };
        Ok(Answer { host: self.host.clone(), status, headers, body })
    }

    pub(super) fn url(&self, path: &str) -> Answered<Url> {
        let hollow = |message: String| ForgeFault::Hollow { host: self.host.clone(), message };
        let api = Url::parse(&self.api).map_err(|error| hollow(error.to_string()))?;
        if path.starts_with('/') {
            return Url::parse(&format!("{}{path}", self.api)).map_err(|error| hollow(error.to_string()));
        }
        // The address of a next page comes from the forge; it may name no other one.
        let url = Url::parse(path).map_err(|error| hollow(error.to_string()))?;
        if url.origin() == api.origin() { Ok(url) } else { Err(hollow(format!("a page on another host, {}", url.authority()))) }
    }

    pub(super) fn masked(&self, text: &str) -> String {
        if self.token.is_empty() { text.to_owned() } else { text.replace(&self.token, "…") }
    }
}

async fn body(mut response: Response) -> Result<Vec<u8>, Option<reqwest::Error>> {
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(Some)? {
        bytes.extend_from_slice(&chunk);
        if bytes.len() > MAX_BODY {
            return Err(None);
        }
    }
    Ok(bytes)
}

/// A header from text that may hold a secret: marked, so that nothing prints it.
pub fn secret_header(name: &'static str, value: &str) -> Answered<(HeaderName, HeaderValue)> {
    let mut header = HeaderValue::from_str(value).map_err(|_| ForgeFault::Unauthorized {
        host: "the forge".into(),
        message: "the token holds characters that no token has; is there a line break in it?".into(),
    })?;
    header.set_sensitive(true);
    Ok((HeaderName::from_static(name), header))
}

pub fn host_of(address: &str) -> String {
    Url::parse(address).ok().map_or_else(|| address.to_owned(), |url| url.authority().to_owned())
}

/// One segment of a path, whatever it holds.
pub fn segment(text: &str) -> String {
    text.bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => char::from(byte).to_string(),
            other => format!("%{other:02X}"),
        })
        .collect()
}

pub(super) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |passed| passed.as_secs())
}

pub(super) fn innermost(error: &reqwest::Error) -> String {
    let mut deepest: &dyn std::error::Error = error;
    while let Some(source) = deepest.source() {
        deepest = source;
    }
    if error.is_timeout() { "it took too long".to_owned() } else { deepest.to_string() }
}
