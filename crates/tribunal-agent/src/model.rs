//! A model over HTTP: one question, one answer.
//!
//! Four wires, each a thin adapter of two pure halves: what is sent, and how its events become an answer. They are written here
//! and not taken from a library because every byte counts: the order of a prompt decides what a cache can save, the clocks need
//! the stream itself, and a bill is settled from what the vendor counted. Around them is one [`transport`] that knows no vendor.
//!
//! A key is a borrowed text that is put into one header. It is in no type that can be printed, and is taken out of what servers
//! say before anybody reads it.

pub mod anthropic;
pub mod chat;
pub mod embeddings;
pub mod gemini;
pub mod key;
pub mod openai;
pub mod reader;
pub mod request;
pub mod schema;
pub mod sse;
pub mod transport;
mod unreachable;

pub use transport::client;

use reader::Reader;
use request::Request;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::time::Instant;
use transport::{Call, after, exchange, without_key};
use tribunal_core::call::fault::{Fault, Remedy};
use tribunal_core::call::usage::{Usage, estimate_tokens};
use tribunal_core::call::{Answer, Question};
use tribunal_core::policy::agents::{ModelConfig, Wire};

/// A sign of life while an answer is on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sign {
    /// Once an attempt. From now on the vendor's cache knows the prompt's beginning.
    FirstByte,
    Bytes(usize),
}

pub struct Model<'a> {
    pub wire: Wire,
    pub config: &'a ModelConfig,
    pub key: Option<&'a str>,
    /// Made by [`client`] for this model's base address.
    pub client: &'a reqwest::Client,
    /// The same for all questions that begin alike.
    pub cache_key: &'a str,
}

impl Model<'_> {
    pub fn base_url(&self) -> &str {
        request::base_url(self.wire, self.config)
    }

    /// One call, whatever comes of it. A fault carries what the vendor had counted until then; nothing means unknown.
    pub async fn ask(&self, question: &Question, heard: &mut (dyn FnMut(Sign) + Send)) -> Result<Answer, (Fault, Usage)> {
        self.attempt(self.request(question), self.reader(), self.deadline(), heard).await
    }

    pub async fn ask_with_patience(
        &self,
        question: &Question,
        heard: &mut (dyn FnMut(Sign) + Send),
    ) -> Result<Answer, (Fault, Usage)> {
        self.patiently(&|| (self.request(question), self.reader()), estimate(question), heard).await
    }

    /// The vectors of some texts, in their order.
    pub async fn embed(&self, texts: &[String]) -> Result<embeddings::Embedded, (Fault, Usage)> {
        let estimate = Usage { input: texts.iter().map(|text| estimate_tokens(text)).sum(), ..Usage::default() };
        let make = || -> (Request, Box<dyn Reader>) {
            (embeddings::request(self.config, texts), Box::new(embeddings::Reader::default()))
        };
        let answer = self.patiently(&make, estimate, &mut |_| {}).await?;
        embeddings::read(&answer, texts.len()).map_err(|fault| (fault, answer.usage))
    }

    /// Asks again while that can help and the total clock allows. What all attempts took is added up; one that broke off before
    /// its vendor counted is put down with an estimate of its input, so that a sum never hides it.
    async fn patiently(
        &self,
        make: &(dyn Fn() -> (Request, Box<dyn Reader>) + Sync),
        estimate: Usage,
        heard: &mut (dyn FnMut(Sign) + Send),
    ) -> Result<Answer, (Fault, Usage)> {
        let deadline = self.deadline();
        let mut spent = Usage::default();
        let mut attempt = 0;
        loop {
            let mut has_begun = false;
            let mut noticed = |sign: Sign| {
                has_begun |= sign == Sign::FirstByte;
                heard(sign);
            };
            let (request, reader) = make();
            let (fault, usage) = match self.attempt(request, reader, deadline, &mut noticed).await {
                Ok(answer) => return Ok(after_others(answer, spent)),
                Err(failed) => failed,
            };
            let counted = if has_begun && usage.is_nothing() { estimate } else { usage };
            match fault.remedy(attempt, jitter()) {
                Remedy::Retry { after } if Instant::now() + Duration::from_millis(after) < deadline => {
                    spent = spent.plus(counted);
                    tokio::time::sleep(Duration::from_millis(after)).await;
                }
                Remedy::Retry { .. } | Remedy::Later { .. } | Remedy::Fail if spent.is_nothing() => return Err((fault, usage)),
                Remedy::Retry { .. } | Remedy::Later { .. } | Remedy::Fail => return Err((fault, spent.plus(counted))),
            }
            attempt += 1;
        }
    }

    fn deadline(&self) -> Instant {
        after(Instant::now(), self.config.clocks.for_model().total)
    }

    async fn attempt(
        &self,
        request: Request,
        mut reader: Box<dyn Reader>,
        deadline: Instant,
        heard: &mut (dyn FnMut(Sign) + Send),
    ) -> Result<Answer, (Fault, Usage)> {
        let call = self.call(request, deadline).map_err(|fault| (fault, Usage::default()))?;
        let heard_out = exchange(call, &mut *reader, heard).await;
        let usage = reader.usage();
        heard_out.and_then(|()| reader.finish()).map_err(|fault| (self.without_key(fault), usage))
    }

    fn request(&self, question: &Question) -> Request {
        match self.wire {
            Wire::Anthropic => anthropic::request(self.config, question),
            Wire::Openai => openai::request(self.config, question, self.cache_key),
            Wire::OpenaiChat => chat::request(self.config, question, self.cache_key),
            Wire::Gemini => gemini::request(self.config, question),
        }
    }

    fn reader(&self) -> Box<dyn Reader> {
        match self.wire {
            Wire::Anthropic => Box::new(anthropic::Reader::new(self.config)),
            Wire::Openai => Box::new(openai::Reader::new(self.config)),
            Wire::OpenaiChat => Box::new(chat::Reader::new(self.config)),
            Wire::Gemini => Box::new(gemini::Reader::new(self.config)),
        }
    }

    fn call(&self, request: Request, deadline: Instant) -> Result<Call<'_>, Fault> {
        let url = request::address(self.base_url(), &request).map_err(|message| Fault::Unreachable { message })?;
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        for (name, value) in &request.headers {
            headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        if let Some(key) = self.key {
            let name = self.config.key_header.as_deref().unwrap_or(request.key_header);
            let (name, value) = key_header(name, key)?;
            headers.insert(name, value);
        }
        let body = request.body.to_string().into_bytes();
        let clocks = self.config.clocks.for_model();
        Ok(Call { client: self.client, url, headers, key: self.key, body, clocks, deadline })
    }

    /// A server may repeat the key in its complaint about it.
    fn without_key(&self, mut fault: Fault) -> Fault {
        match &mut fault {
            Fault::Credentials { message }
            | Fault::BadRequest { message, .. }
            | Fault::TooLong { message }
            | Fault::Refusal { message }
            | Fault::OutOfQuota { message, .. }
            | Fault::Busy { message, .. }
            | Fault::Unreachable { message }
            | Fault::CutOff { message }
            | Fault::Nonsense { message } => *message = without_key(message, self.key),
            Fault::NoFirstByte { .. }
            | Fault::Stalled { .. }
            | Fault::OutOfTime { .. }
            | Fault::Truncated { .. }
            | Fault::Endless { .. } => {}
        }
        fault
    }
}

fn key_header(name: &str, key: &str) -> Result<(HeaderName, HeaderValue), Fault> {
    let name: HeaderName = name
        .parse()
        .map_err(|_| Fault::Credentials { message: format!("`key_header` is `{name}`, which is no name of a header") })?;
    let text = if name == AUTHORIZATION { format!("Bearer {key}") } else { key.to_owned() };
    let mut value = HeaderValue::from_str(&text).map_err(|_| Fault::Credentials {
        message: "it holds a line break or another character that no header can carry; was more than the key copied?".into(),
    })?;
    value.set_sensitive(true);
    Ok((name, value))
}

/// The cost of one attempt is not the cost of all: with others before it, the price list has to say.
fn after_others(answer: Answer, spent: Usage) -> Answer {
    let stated_cost = answer.stated_cost.filter(|_| spent.is_nothing());
    let usage = if answer.usage.is_nothing() { answer.usage } else { answer.usage.plus(spent) };
    Answer { usage, stated_cost, ..answer }
}

fn estimate(question: &Question) -> Usage {
    let input = [&question.system, &question.shared, &question.own].into_iter().map(|text| estimate_tokens(text)).sum();
    Usage { input, ..Usage::default() }
}

/// Any number that differs between callers.
fn jitter() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| u64::from(now.subsec_nanos()) / 1000)
}

#[cfg(test)]
mod tests;
