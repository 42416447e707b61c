//! OpenAI's Responses API.
//!
//! Nothing is stored at the vendor. `prompt_cache_key` sends the calls of a run to the machine that holds their common beginning.
//! Its `input_tokens` hold the cached ones, so these are taken out.

use super::reader::{self, answer, count, list, no_error, parse, text_at};
use super::request::{Request, SCHEMA_NAME, effort, output_limit, parts, repair_turns, structured, system};
use super::schema::{Bounds, strict};
use serde_json::{Value, json};
use tribunal_core::call::fault::Fault;
use tribunal_core::call::usage::Usage;
use tribunal_core::call::{Answer, Question};
use tribunal_core::policy::agents::{ModelConfig, Structured};

pub fn request(config: &ModelConfig, question: &Question, cache_key: &str) -> Request {
    let content: Vec<Value> = parts(question).into_iter().map(|text| json!({ "type": "input_text", "text": text })).collect();
    let mut input = vec![json!({ "role": "user", "content": content })];
    if let Some(repair) = &question.repair {
        let (said, told) = repair_turns(repair);
        input.push(json!({ "role": "assistant", "content": said }));
        input.push(json!({ "role": "user", "content": told }));
    }
    let mut body = json!({
        "model": config.model,
        "input": input,
        "max_output_tokens": output_limit(config),
        "store": false,
        "stream": true,
    });
    let system = system(config, question);
    if !system.trim().is_empty() {
        body["instructions"] = system.into();
    }
    if !cache_key.is_empty() {
        body["prompt_cache_key"] = cache_key.into();
    }
    match structured(config) {
        Structured::Schema => {
            let schema = strict(&question.schema, Bounds::Drop);
            body["text"] = json!({ "format": { "type": "json_schema", "name": SCHEMA_NAME, "strict": true, "schema": schema } });
        }
        Structured::Json => body["text"] = json!({ "format": { "type": "json_object" } }),
        Structured::Prompt => {}
    }
    if let Some(level) = config.effort {
        body["reasoning"] = json!({ "effort": effort(level) });
    }
    Request { path: "responses".into(), query: None, headers: vec![], key_header: "authorization", body }
}

pub struct Reader {
    limit: u64,
    text: String,
    /// The item of the output that `text` belongs to: an answer may have remarks before it, as items of their own.
    item: Option<u64>,
    refusal: String,
    usage: Usage,
    status: Option<String>,
    reason: Option<String>,
}

impl Reader {
    pub fn new(config: &ModelConfig) -> Self {
        Self {
            limit: output_limit(config),
            text: String::new(),
            item: None,
            refusal: String::new(),
            usage: Usage::default(),
            status: None,
            reason: None,
        }
    }

    /// The whole response, which the last event carries.
    fn settle(&mut self, response: &Value) -> Result<(), Fault> {
        if let Some(usage) = response.get("usage").filter(|usage| usage.is_object()) {
            self.usage = normalised(usage);
        }
        no_error(response)?;
        let parts = |message: &Value, kind: &str, key: &str| -> String {
            let said = list(message, "content").filter(|part| text_at(part, &["type"]) == Some(kind));
            said.filter_map(|part| text_at(part, &[key])).collect()
        };
        let mut messages = list(response, "output").rev().filter(|item| text_at(item, &["type"]) == Some("message"));
        if let Some(last) = messages.next() {
            let (text, refusal) = (parts(last, "output_text", "text"), parts(last, "refusal", "refusal"));
            self.text = if text.is_empty() { std::mem::take(&mut self.text) } else { text };
            self.refusal = if refusal.is_empty() { std::mem::take(&mut self.refusal) } else { refusal };
        }
        self.status = text_at(response, &["status"]).map(str::to_owned);
        self.reason = text_at(response, &["incomplete_details", "reason"]).map(str::to_owned);
        Ok(())
    }
}

fn normalised(usage: &Value) -> Usage {
    let detail = |name: &str| count(usage, &["input_tokens_details", name]).unwrap_or(0);
    let (cache_read, cache_write) = (detail("cached_tokens"), detail("cache_write_tokens"));
    let input = count(usage, &["input_tokens"]).unwrap_or(0).saturating_sub(cache_read + cache_write);
    Usage { input, cache_read, cache_write, output: count(usage, &["output_tokens"]).unwrap_or(0), uncounted: 0 }
}

impl reader::Reader for Reader {
    fn event(&mut self, name: Option<&str>, data: &str) -> Result<(), Fault> {
        if data == "[DONE]" {
            return Ok(());
        }
        let value = parse(data)?;
        let delta = text_at(&value, &["delta"]).unwrap_or_default();
        match text_at(&value, &["type"]).or(name).unwrap_or_default() {
            "response.output_text.delta" => {
                let item = count(&value, &["output_index"]);
                if std::mem::replace(&mut self.item, item) != item {
                    self.text.clear();
                }
                self.text.push_str(delta);
            }
            "response.refusal.delta" => self.refusal.push_str(delta),
            kind @ ("response.completed" | "response.incomplete" | "response.failed") => {
                self.settle(value.get("response").unwrap_or(&Value::Null))?;
                // The event's name says it even if the object does not.
                self.status.get_or_insert_with(|| kind.trim_start_matches("response.").to_owned());
            }
            "error" => return Err(reader::stream_error(&value)),
            // Dozens of events tell of the answer's growth in more detail than we need.
            _ => {}
        }
        Ok(())
    }

    fn whole(&mut self, body: &Value) -> Result<(), Fault> {
        self.settle(body)
    }

    fn is_over(&self) -> bool {
        self.status.is_some()
    }

    fn usage(&self) -> Usage {
        self.usage
    }

    fn finish(self: Box<Self>) -> Result<Answer, Fault> {
        match (self.status.as_deref(), self.reason.as_deref()) {
            (None | Some("in_progress" | "queued"), _) => Err(reader::cut_off()),
            (Some("incomplete"), Some("max_output_tokens")) => Err(Fault::Truncated { limit: self.limit }),
            (Some("incomplete"), Some("content_filter")) => Err(reader::refusal("a content filter ended its answer")),
            (Some(status @ ("incomplete" | "failed" | "cancelled")), reason) => {
                Err(Fault::CutOff { message: format!("it ended as {status}: {}", reason.unwrap_or("no reason given")) })
            }
            (Some(_), _) if !self.refusal.is_empty() => Err(reader::refusal(&self.refusal)),
            (Some(_), _) => answer(self.text, self.usage, None),
        }
    }
}

#[cfg(test)]
mod tests;
