//! Asking and telling.

use super::answer::Answer;
use super::cache::{Cache, Kept};
use super::credential::{Credential, SECRET_HEADERS};
use super::limits::{Limits, Pages, begin_request, count_bytes};
use super::pace::{Bucket, Pace};
use crate::port::Answered;
use reqwest::header::{ACCEPT, CONTENT_TYPE, ETAG, HeaderMap, HeaderValue, IF_NONE_MATCH, LINK, LOCATION};
use reqwest::{Client, Method, RequestBuilder, Response, Url};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::sync::Mutex;
use tokio::time::{Instant, sleep, sleep_until};
use tribunal_core::policy::credentials::origin::HttpOrigin;
use tribunal_core::pull::fault::ForgeFault;

const CONNECT: Duration = Duration::from_secs(10);
/// A large review takes a forge a while; being impatient here makes an uncertain write of a slow one.
const WRITE: Duration = Duration::from_secs(120);
const MAX_REDIRECTS: usize = 3;
/// A read is asked this often before a failing server is believed.
const READ_ATTEMPTS: u32 = 3;
/// A longer wait is the caller's to decide, unless told otherwise.
const MAX_WAIT: u64 = 60;

/// How to reach one forge with one token.
pub struct Settings {
    /// Root of the API, without a slash at the end.
    pub api: String,
    /// Sent with every request. None of them may hold a secret: that is what `credential` is for.
    pub headers: HeaderMap,
    pub credential: Option<Credential>,
    pub pace: Pace,
    /// Where answers are kept for conditional requests; nothing where the forge has no tags.
    pub cache: Option<PathBuf>,
    pub limits: Limits,
}

impl Settings {
    /// Without a token, at any pace.
    pub fn anonymous(api: String) -> Self {
        Settings { api, headers: HeaderMap::new(), credential: None, pace: Pace::NONE, cache: None, limits: Limits::default() }
    }
}

pub struct Http {
    client: Client,
    api: String,
    host: String,
    headers: HeaderMap,
    credential: Option<Credential>,
    limits: Limits,
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
        if SECRET_HEADERS.iter().any(|name| settings.headers.contains_key(*name)) {
            return Err(unusable("a header with a token must be bound to its server".into()));
        }
        if HttpOrigin::of(url.as_str()).is_some_and(|origin| origin.is_loopback()) {
            builder = builder.no_proxy();
        }
        if url.scheme() == "http" {
            // A machine without certificates must still reach its own forge.
            builder = builder.tls_certs_only([]);
        }
        let client = builder.build().map_err(|error| unusable(error.to_string()))?;
        let owner = settings.credential.as_ref().map(|credential| credential.token().digest()).unwrap_or_default();
        Ok(Http {
            client,
            cache: Cache::new(settings.cache, &host, &owner),
            host,
            api: settings.api,
            headers: settings.headers,
            credential: settings.credential,
            limits: settings.limits,
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

    /// Begins a request. The only place that adds a token, and only to the token's own server.
    pub(super) fn request(&self, method: Method, url: &Url) -> RequestBuilder {
        let request = self.client.request(method, url.clone()).headers(self.headers.clone());
        match self.credential.as_ref().and_then(|credential| credential.header_for(url)) {
            Some((name, value)) => request.header(name, value),
            None => request,
        }
    }

    /// The same as somebody who is nobody in particular.
    pub(super) fn request_as_stranger(&self, url: &Url) -> RequestBuilder {
        self.client.get(url.clone())
    }

    pub(super) fn count_read(&self) -> Answered<()> {
        begin_request(&self.host)?;
        self.reads.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    pub fn limits(&self) -> &Limits {
        &self.limits
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
        let mut pages = Pages::new(&self.host, what, &self.limits);
        let mut next = Some(path.to_owned());
        while let Some(address) = next {
            pages.turn_to(&address)?;
            let answer = self.read(&address, what).await?;
            pages.count(answer.body.len())?;
            all.extend(answer.json::<Vec<T>>(what)?);
            next = answer.next_page();
        }
        Ok(all)
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
        let request = self.request(Method::GET, &self.url(path)?).timeout(CONNECT);
        self.count_read()?;
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
        let mut request = self.request(Method::GET, url).timeout(self.limits.read);
        if let Some(tag) = kept.as_ref().and_then(|kept| HeaderValue::from_str(&kept.etag).ok()) {
            request = request.header(IF_NONE_MATCH, tag);
        }
        self.count_read()?;
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
            let mut request = self.request(method.clone(), &url).headers(more.clone()).timeout(WRITE);
            if let Some(body) = body {
                request = request.header(CONTENT_TYPE, "application/json").body(body.to_string());
            }
            begin_request(&self.host)?;
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
            self.count_read()?;
            let request = self.request(Method::POST, &url).timeout(self.limits.read);
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
        let body = match body(response, self.limits.body).await {
            Ok(body) => body,
            Err(Some(error)) => return Err(failed(&error)),
            Err(None) => {
                let message = format!("an answer of more than {} MB", self.limits.body / (1024 * 1024));
                return Err(self.cut_off(message, is_write));
            }
        };
        count_bytes(&self.host, body.len()).map_err(|fault| self.cut_off(fault.to_string(), is_write))?;
        Ok(Answer { host: self.host.clone(), status, headers, body })
    }

    /// A write whose answer is not read to its end may have been done.
    fn cut_off(&self, message: String, is_write: bool) -> ForgeFault {
        let host = self.host.clone();
        if is_write { ForgeFault::Uncertain { host, message } } else { ForgeFault::Hollow { host, message } }
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
        self.credential.as_ref().map_or_else(|| text.to_owned(), |credential| credential.token().mask(text))
    }
}

async fn body(mut response: Response, most: usize) -> Result<Vec<u8>, Option<reqwest::Error>> {
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(Some)? {
        bytes.extend_from_slice(&chunk);
        if bytes.len() > most {
            return Err(None);
        }
    }
    Ok(bytes)
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
