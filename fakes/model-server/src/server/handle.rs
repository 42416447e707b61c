//! One request from its head to the decision what to answer; [`super::deliver`] does the talking.

use super::deliver::{Answering, Reply, json_reply, refuse};
use super::route::{Framing, Own, Route, route};
use super::{Shared, State};
use crate::asked::{Asked, schema};
use crate::cache::Pending;
use crate::record::{Accounting, Received};
use crate::reply::{Delivery, Play, play};
use crate::script::{self, Script};
use crate::wire::errors::{Problem, refusal};
use crate::wire::{Meta, Usage, Wire};
use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::Request;
use hyper::body::Incoming;
use serde_json::{Value, json};
use std::io;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

pub async fn handle(shared: Arc<Shared>, request: Request<Incoming>) -> io::Result<Reply> {
    let (head, body) = request.into_parts();
    let raw = body.collect().await.map_err(io::Error::other)?.to_bytes();
    let (path, query) = (head.uri.path().to_owned(), head.uri.query().unwrap_or_default().to_owned());
    let headers =
        head.headers.iter().map(|(name, value)| (name.to_string(), String::from_utf8_lossy(value.as_bytes()).into_owned()));
    let mut call = Call {
        id: format!("{:020x}", shared.id()),
        received: Received {
            at: shared.now(),
            began: None,
            method: head.method.to_string(),
            wire: None,
            model: String::new(),
            path: head.uri.to_string(),
            headers: headers.collect(),
            body: body_value(&raw),
            key: None,
            usage: None,
            status: 200,
            reply: String::new(),
        },
        raw,
        shared,
    };
    call.received.key = key(&call.received, &query);
    match route(&head.method, &path, &query, vendor(&call.received)) {
        Route::Own(own) => call.own(own),
        Route::Home => Ok(call.small("home", json!({}))),
        Route::Unknown(wire) => Ok(call.refused(wire, Problem::NoSuchPath(format!("{} {path}", head.method)), "unknown")),
        Route::BadMethod(wire) => Ok(call.refused(wire, Problem::BadMethod, "error")),
        Route::Socket => Ok(call.no_socket()),
        Route::Embeddings => Ok(call.embeddings()),
        Route::Models(wire) => Ok(call.models(wire)),
        Route::Model(wire, name) => Ok(call.model(wire, &name)),
        Route::CountTokens { wire, model } => Ok(call.count(wire, model.as_deref())),
        Route::Generate { wire, model, framing } => call.generate(wire, model.as_deref(), framing).await,
    }
}

fn body_value(raw: &[u8]) -> Value {
    if raw.is_empty() {
        return Value::Null;
    }
    serde_json::from_slice(raw).unwrap_or_else(|_| Value::from(String::from_utf8_lossy(raw).into_owned()))
}

/// Whose client this is, as far as headers tell.
fn vendor(received: &Received) -> Wire {
    if received.headers.contains_key("anthropic-version") {
        Wire::Anthropic
    } else if received.headers.keys().any(|name| name.starts_with("x-goog-")) {
        Wire::Gemini
    } else {
        Wire::Chat
    }
}

/// Each vendor has its header; Gemini also takes the key in the query.
fn key(received: &Received, query: &str) -> Option<String> {
    let header = |name: &str| received.headers.get(name).cloned();
    let bearer = || header("authorization").map(|value| value.trim_start_matches("Bearer ").to_owned());
    let in_query = || query.split('&').find_map(|pair| pair.strip_prefix("key=")).map(str::to_owned);
    header("x-api-key").or_else(|| header("x-goog-api-key")).or_else(|| header("api-key")).or_else(bearer).or_else(in_query)
}

struct Call {
    shared: Arc<Shared>,
    id: String,
    raw: Bytes,
    received: Received,
}

impl Call {
    /// Puts the request on record; its place there.
    fn record(&self, state: &mut State) -> usize {
        state.received.push(self.received.clone());
        state.received.len() - 1
    }

    fn small(mut self, kind: &str, body: Value) -> Reply {
        self.received.reply = kind.to_owned();
        self.record(&mut self.shared.state());
        json_reply(200, &body)
    }

    fn refused(mut self, wire: Wire, problem: Problem, kind: &str) -> Reply {
        let refusal = refusal(wire, &problem, None, None, &self.id);
        self.received.wire = Some(wire);
        self.received.status = refusal.status;
        self.received.reply = kind.to_owned();
        self.record(&mut self.shared.state());
        refuse(wire, refusal, None, &self.id)
    }

    fn no_socket(mut self) -> Reply {
        self.received.wire = Some(Wire::Responses);
        self.received.status = 426;
        self.received.reply = "unknown".to_owned();
        self.record(&mut self.shared.state());
        let error =
            json!({ "message": "WebSockets are not served here.", "type": "invalid_request_error", "param": null, "code": null });
        json_reply(426, &json!({ "error": error }))
    }

    /// A scripted key is the only one; anything else is the vendor's 401.
    fn authorized(&self) -> bool {
        self.shared.state().script.key.as_ref().is_none_or(|key| self.received.key.as_ref() == Some(key))
    }

    fn own(self, own: Own) -> io::Result<Reply> {
        let mut state = self.shared.state();
        let body = match own {
            Own::Requests => serde_json::to_value(&state.received),
            Own::Accounting => serde_json::to_value(Accounting::of(&state.received)),
            Own::Script if self.received.method == "GET" => serde_json::to_value(&state.script),
            Own::Script => match serde_json::from_value::<Script>(self.received.body) {
                Ok(script) => {
                    state.set_script(script);
                    Ok(json!({ "ok": true }))
                }
                Err(error) => return Ok(json_reply(400, &json!({ "error": error.to_string() }))),
            },
        };
        Ok(json_reply(200, &body.map_err(io::Error::other)?))
    }

    fn embeddings(mut self) -> Reply {
        if !self.authorized() {
            return self.refused(Wire::Chat, Problem::Status(401), "error");
        }
        let Some((body, tokens)) = crate::embeddings::answer(&self.received.body) else {
            return self.refused(Wire::Chat, Problem::Invalid("input: Field required".into()), "error");
        };
        self.received.wire = Some(Wire::Chat);
        self.received.model = body["model"].as_str().unwrap_or_default().to_owned();
        self.received.usage = Some(Usage { input: tokens, ..Usage::default() });
        self.small("embeddings", body)
    }

    fn models(mut self, wire: Wire) -> Reply {
        if !self.authorized() {
            return self.refused(wire, Problem::Status(401), "error");
        }
        self.received.wire = Some(wire);
        let mut names = self.shared.state().script.models.clone();
        if names.is_empty() {
            names.push("fake-model".into());
        }
        let cards: Vec<Value> = names.iter().map(|name| card(wire, name)).collect();
        let body = match wire {
            Wire::Anthropic => json!({ "data": cards, "has_more": false, "first_id": names.first(), "last_id": names.last() }),
            Wire::Responses | Wire::Chat => json!({ "object": "list", "data": cards }),
            Wire::Gemini => json!({ "models": cards }),
        };
        self.small("models", body)
    }

    fn model(mut self, wire: Wire, name: &str) -> Reply {
        let known = self.known(name);
        match (self.authorized(), known) {
            (false, _) => self.refused(wire, Problem::Status(401), "error"),
            (true, false) => self.refused(wire, Problem::NoSuchModel(name.to_owned()), "error"),
            (true, true) => {
                self.received.wire = Some(wire);
                self.small("models", card(wire, name))
            }
        }
    }

    fn known(&self, model: &str) -> bool {
        let state = self.shared.state();
        state.script.models.is_empty() || state.script.models.iter().any(|known| known == model)
    }

    fn count(mut self, wire: Wire, model: Option<&str>) -> Reply {
        if !self.authorized() {
            return self.refused(wire, Problem::Status(401), "error");
        }
        self.received.wire = Some(wire);
        let mut body = self.received.body.clone();
        match wire {
            // Counting takes the request without its limit.
            Wire::Anthropic if body.is_object() => body["max_tokens"] = json!(1),
            Wire::Gemini if body.get("generateContentRequest").is_some() => body = body["generateContentRequest"].clone(),
            Wire::Anthropic | Wire::Responses | Wire::Chat | Wire::Gemini => {}
        }
        let asked = match Asked::read(wire, model, &self.raw, &body) {
            Ok(asked) => asked,
            Err(why) => return self.refused(wire, Problem::Invalid(why), "error"),
        };
        self.received.model = asked.model.clone();
        let tokens = asked.input_tokens();
        let body = match wire {
            Wire::Anthropic => json!({ "input_tokens": tokens }),
            Wire::Responses | Wire::Chat => json!({ "object": "response.input_tokens", "input_tokens": tokens }),
            Wire::Gemini => {
                json!({ "totalTokens": tokens, "promptTokensDetails": [{ "modality": "TEXT", "tokenCount": tokens }] })
            }
        };
        self.small("count_tokens", body)
    }

    /// Everything a vendor checks before the model sees the request.
    fn admit(&self, wire: Wire, model: Option<&str>) -> Result<Asked, Problem> {
        if !self.authorized() {
            return Err(Problem::Status(401));
        }
        if !self.received.body.is_object() {
            return Err(Problem::Invalid("We could not parse the JSON body of your request.".into()));
        }
        if wire == Wire::Anthropic && !self.received.headers.contains_key("anthropic-version") {
            return Err(Problem::Invalid("anthropic-version: header is required".into()));
        }
        let asked = Asked::read(wire, model, &self.raw, &self.received.body).map_err(Problem::Invalid)?;
        if asked.model.is_empty() {
            return Err(Problem::Invalid("model: Field required".into()));
        }
        if !self.known(&asked.model) {
            return Err(Problem::NoSuchModel(asked.model));
        }
        let state = self.shared.state();
        if let Some(schema) = asked.schema.as_ref().filter(|_| state.script.check_schemas)
            && let Some(why) = schema::complaint(wire, schema, asked.strict)
        {
            return Err(Problem::Invalid(why));
        }
        if state.script.context_window.is_some_and(|window| asked.input_tokens() > window) {
            return Err(Problem::PromptTooLong);
        }
        Ok(asked)
    }

    async fn generate(mut self, wire: Wire, model: Option<&str>, framing: Framing) -> io::Result<Reply> {
        self.received.wire = Some(wire);
        self.received.model = model.or(self.received.body["model"].as_str()).unwrap_or_default().to_owned();
        let asked = match self.admit(wire, model) {
            Ok(asked) => asked,
            Err(problem) => return Ok(self.refused(wire, problem, "error")),
        };
        let framing = match framing {
            Framing::ByBody if asked.stream => Framing::Events,
            Framing::ByBody => Framing::Whole,
            Framing::Whole | Framing::Events | Framing::Array => framing,
        };
        let (answering, latency) = self.decide(wire, asked, framing);
        tokio::time::sleep(latency).await;
        answering.reply().await
    }

    /// Rule, words, bill and record under one lock, so that requests are counted in the order in which they are recorded.
    fn decide(mut self, wire: Wire, asked: Asked, framing: Framing) -> (Answering, Duration) {
        let shared = Arc::clone(&self.shared);
        let mut state = shared.state();
        let (reply, latency) = pick(&mut state, wire, &asked);
        let play = play(&reply, &asked, &self.id);
        let (mut usage, pending) = match state.script.cache {
            true => state.cache.bill(wire, &asked, state.script.cache_minimum),
            false => (Usage { input: asked.input_tokens(), ..Usage::default() }, Pending::default()),
        };
        self.received.reply = reply.kind();
        match &play {
            Play::Say { turn, .. } => {
                usage.output = turn.output_tokens();
                self.received.usage = Some(usage);
            }
            Play::Refuse { problem, .. } => self.received.status = refusal(wire, problem, None, None, "").status,
            Play::Redirect { code, .. } => self.received.status = *code,
            Play::Silence { .. } | Play::Garbage | Play::Empty => {}
        }
        if let (Play::Say { delivery: Delivery::ErrorEvent { .. }, .. }, Framing::Whole) = (&play, framing) {
            self.received.usage = None;
        }
        let created = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let piece = state.script.chunk_chars;
        let meta = Meta { id: self.id.clone(), model: asked.model, created, usage, include_usage: asked.include_usage, piece };
        let index = self.record(&mut state);
        let answering = Answering {
            wire,
            framing,
            play,
            meta,
            pending,
            index,
            first_byte: Duration::from_millis(state.script.first_byte_ms),
            chunk: Duration::from_millis(state.script.chunk_ms),
            shared: Arc::clone(&shared),
        };
        (answering, Duration::from_millis(latency))
    }
}

fn card(wire: Wire, name: &str) -> Value {
    match wire {
        Wire::Anthropic => json!({ "type": "model", "id": name, "display_name": name, "created_at": "2026-01-01T00:00:00Z" }),
        Wire::Responses | Wire::Chat => json!({ "id": name, "object": "model", "created": 1, "owned_by": "fake" }),
        Wire::Gemini => json!({
            "name": format!("models/{name}"), "version": "1", "displayName": name, "inputTokenLimit": 1_048_576, "outputTokenLimit": 65_536,
            "supportedGenerationMethods": ["generateContent", "countTokens"],
        }),
    }
}

/// The first rule that holds. A rule counts the requests that reach it and that its other conditions let through.
fn pick(state: &mut State, wire: Wire, asked: &Asked) -> (script::Reply, u64) {
    let prompt = asked.prompt();
    let State { script, matched, .. } = state;
    let mut chosen = None;
    for (rule, count) in script.replies.iter().zip(matched) {
        let when = &rule.when;
        let holds = when.wire.is_none_or(|asked_on| asked_on == wire)
            && when.model.as_ref().is_none_or(|model| *model == asked.model)
            && when.contains.as_ref().is_none_or(|words| prompt.contains(words))
            && when.own_contains.as_ref().is_none_or(|words| asked.own().contains(words));
        if !holds || chosen.is_some() {
            continue;
        }
        let nth = *count;
        *count += 1;
        if when.nth.is_none_or(|range| nth >= range.from && range.to.is_none_or(|to| nth < to)) {
            chosen = Some((rule.reply.clone(), rule.latency_ms.unwrap_or(script.latency_ms)));
        }
    }
    chosen.unwrap_or_else(|| (script.default.clone(), script.latency_ms))
}
