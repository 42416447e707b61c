//! What a request's body may ask for.
//!
//! The child's network ends at the proxy, but the vendor's does not: a model can be given tools that run on the vendor's side
//! (search, fetch, code, remote tool servers), and a picture or a document can be named by an address that the vendor fetches. Each
//! would carry words out of the sandbox. Tools that run on our side are only descriptions, and pass. What is not known to be harmless
//! does not: a tool or a part of the content is refused, and a field of the request is left out, because a CLI adds new ones with
//! every version. Fields that change what a token costs are left out too: no configuration asks for them.

mod anthropic;
mod chat;
mod gemini;
mod responses;
mod shape;
mod tools;

use super::route::Route;
use serde_json::{Value, json};
use shape::Shape;
use tribunal_core::call::usage::Usage;
use tribunal_core::policy::agents::Wire;

/// Fields that reach out by themselves, or to what the vendor keeps of other requests.
const REACHING: [&str; 6] = ["mcp_servers", "web_search_options", "container", "background", "plugins", "previous_response_id"];
/// More values than any conversation has. Each takes many times the memory of its bytes.
const MAX_VALUES: usize = 200_000;
/// What a model may write where the request sets no limit.
const MOST_OUTPUT: u64 = 128_000;
/// What the largest window holds, and what a vendor adds to a prompt.
const MOST_INPUT: u64 = 2_000_000;
const PREAMBLE: u64 = 1_000;

/// A body as it was read and found to be fine. Only it goes out, written anew: of the bytes that came in, the vendor might read
/// something else than we did (a name that stands twice, for instance).
#[derive(Debug, Clone, PartialEq)]
pub struct Checked {
    body: Value,
    /// Tokens of its pictures and documents beyond one for each byte.
    media_tokens: u64,
}

impl Checked {
    pub fn bytes(&self) -> Vec<u8> {
        self.body.to_string().into_bytes()
    }

    /// The most that the vendor may count for it: no text has more tokens than bytes.
    pub fn worst_case(&self, bytes: usize) -> Usage {
        let limits = ["/max_tokens", "/max_completion_tokens", "/max_output_tokens", "/generationConfig/maxOutputTokens"];
        let asked = limits.iter().filter_map(|path| self.body.pointer(path)?.as_u64()).max();
        let input = (bytes as u64).saturating_add(self.media_tokens).saturating_add(PREAMBLE);
        Usage { input: input.min(MOST_INPUT), output: asked.unwrap_or(MOST_OUTPUT), ..Usage::default() }
    }
}

/// Nothing for a request that asks nothing: it has no body.
pub fn check(wire: Wire, route: &Route, body: &[u8], model: Option<&str>) -> Result<Option<Checked>, String> {
    if !route.asks {
        return if body.is_empty() { Ok(None) } else { Err("a request that asks nothing has no body".into()) };
    }
    if values(body) > MAX_VALUES {
        return Err(format!("the request holds more than {MAX_VALUES} values"));
    }
    let mut body: Value = serde_json::from_slice(body).map_err(|_| "the request is not JSON".to_owned())?;
    let Some(top) = body.as_object_mut() else { return Err("the request is not a JSON object".into()) };
    if let Some(model) = model {
        let asked = route.model.as_deref().or_else(|| top.get("model").and_then(Value::as_str)).unwrap_or_default();
        if asked != model {
            return Err(format!("only the model {model} may be asked, not {asked}"));
        }
    }
    if let Some(field) = REACHING.iter().find(|field| top.get(**field).is_some_and(|value| !is_off(value))) {
        return Err(format!("`{field}` would let the model reach beyond this machine"));
    }
    let fields: &'static [shape::Field] = match wire {
        Wire::Anthropic => &anthropic::BODY,
        Wire::Openai => &responses::BODY,
        Wire::OpenaiChat => &chat::BODY,
        Wire::Gemini => &gemini::BODY,
    };
    top.retain(|field, _| fields.iter().any(|(known, _)| known == field));
    pin(wire, top);
    tools::check(wire, &body)?;
    let media_tokens = Shape::Kept(fields).check("request", &mut body)?;
    Ok(Some(Checked { body, media_tokens }))
}

/// What would change the price, or hide the count, whatever the child says.
fn pin(wire: Wire, top: &mut serde_json::Map<String, Value>) {
    if wire == Wire::OpenaiChat && top.get("stream") == Some(&Value::Bool(true)) {
        top.insert("stream_options".into(), json!({ "include_usage": true }));
    }
    let tools = top.get_mut("tools").and_then(Value::as_array_mut).into_iter().flatten();
    for cached in tools.filter_map(|tool| tool.get_mut("cache_control")?.as_object_mut()) {
        cached.retain(|field, _| field == "type");
    }
}

/// How many values a JSON text holds, roughly, counted before anything is made of it.
fn values(text: &[u8]) -> usize {
    let (mut is_text, mut is_escaped, mut count) = (false, false, 0);
    for byte in text {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_text => is_escaped = true,
            b'"' => is_text = !is_text,
            b',' | b'[' | b'{' if !is_text => count += 1,
            _ => {}
        }
    }
    count
}

fn is_off(value: &Value) -> bool {
    matches!(value, Value::Null | Value::Bool(false)) || value.as_array().is_some_and(Vec::is_empty)
}

#[cfg(test)]
mod tests;
