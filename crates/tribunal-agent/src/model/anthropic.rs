//! Anthropic's Messages API, and servers that speak it.
//!
//! Two cache marks: after the system part, which outlives a run, and after what all roles of a run share. The role comes behind
//! both. Its `input_tokens` leave cached tokens out, as ours do.

use super::reader::{self, answer, count, list, parse, text_at};
use super::request::{Request, effort, output_limit, parts, repair_turns, structured, system};
use super::schema::{Bounds, strict};
use serde_json::{Map, Value, json};
use tribunal_core::call::fault::Fault;
use tribunal_core::call::usage::Usage;
use tribunal_core::call::{Answer, Question};
use tribunal_core::policy::agents::{ModelConfig, Structured};

pub fn request(config: &ModelConfig, question: &Question) -> Request {
    let marked = |text: &str| json!({ "type": "text", "text": text, "cache_control": { "type": "ephemeral" } });
    let mut content: Vec<Value> = parts(question).into_iter().map(|text| json!({ "type": "text", "text": text })).collect();
    if content.len() == 2 {
        content[0] = marked(&question.shared);
    }
    let mut messages = vec![json!({ "role": "user", "content": content })];
    if let Some(repair) = &question.repair {
        let (said, told) = repair_turns(repair);
        messages.push(json!({ "role": "assistant", "content": said }));
        messages.push(json!({ "role": "user", "content": told }));
    }
    let mut body = json!({
        "model": config.model,
        "max_tokens": output_limit(config),
        "messages": messages,
        "stream": true,
    });
    let system = system(config, question);
    if !system.trim().is_empty() {
        body["system"] = json!([marked(&system)]);
    }
    let mut output = Map::new();
    if structured(config) == Structured::Schema {
        output.insert("format".into(), json!({ "type": "json_schema", "schema": strict(&question.schema, Bounds::Drop) }));
    }
    if let Some(level) = config.effort {
        output.insert("effort".into(), effort(level).into());
    }
    if !output.is_empty() {
        body["output_config"] = Value::Object(output);
    }
    Request {
        path: "messages".into(),
        query: None,
        headers: vec![("anthropic-version", "2023-06-01")],
        key_header: "x-api-key",
        body,
    }
}

pub struct Reader {
    limit: u64,
    text: String,
    usage: Usage,
    stop: Option<String>,
    explanation: Option<String>,
    is_over: bool,
}

impl Reader {
    pub fn new(config: &ModelConfig) -> Self {
        let usage = Usage::default();
        Self { limit: output_limit(config), text: String::new(), usage, stop: None, explanation: None, is_over: false }
    }

    /// Later counts replace earlier ones, and one that is left out stays.
    fn counted(&mut self, usage: Option<&Value>) {
        let Some(usage) = usage else { return };
        let fields = [
            ("input_tokens", &mut self.usage.input),
            ("cache_read_input_tokens", &mut self.usage.cache_read),
            ("cache_creation_input_tokens", &mut self.usage.cache_write),
            ("output_tokens", &mut self.usage.output),
        ];
        for (name, field) in fields {
            *field = count(usage, &[name]).unwrap_or(*field);
        }
    }

    fn stopped(&mut self, said: &Value) {
        if let Some(reason) = text_at(said, &["stop_reason"]) {
            self.stop = Some(reason.to_owned());
            self.explanation = text_at(said, &["stop_details", "explanation"]).map(str::to_owned);
        }
    }
}

impl reader::Reader for Reader {
    fn event(&mut self, name: Option<&str>, data: &str) -> Result<(), Fault> {
        let value = parse(data)?;
        match text_at(&value, &["type"]).or(name).unwrap_or_default() {
            "message_start" => self.counted(value.get("message").and_then(|message| message.get("usage"))),
            "content_block_start" => self.text.push_str(text_at(&value, &["content_block", "text"]).unwrap_or_default()),
            // Thoughts come in a delta of their own, under another key.
            "content_block_delta" => self.text.push_str(text_at(&value, &["delta", "text"]).unwrap_or_default()),
            "message_delta" => {
                self.counted(value.get("usage"));
                self.stopped(value.get("delta").unwrap_or(&Value::Null));
            }
            "message_stop" => self.is_over = true,
            "error" => return Err(reader::stream_error(&value)),
            // New kinds of events are promised, and `ping` is only a sign of life.
            _ => {}
        }
        Ok(())
    }

    fn whole(&mut self, body: &Value) -> Result<(), Fault> {
        for block in list(body, "content").filter(|block| text_at(block, &["type"]) == Some("text")) {
            self.text.push_str(text_at(block, &["text"]).unwrap_or_default());
        }
        self.counted(body.get("usage"));
        self.stopped(body);
        Ok(())
    }

    fn is_over(&self) -> bool {
        self.is_over
    }

    fn usage(&self) -> Usage {
        self.usage
    }

    fn finish(self: Box<Self>) -> Result<Answer, Fault> {
        match self.stop.as_deref() {
            None => Err(reader::cut_off()),
            Some("refusal") => Err(reader::refusal(self.explanation.as_deref().unwrap_or("it gave no reason"))),
            Some("max_tokens") => Err(Fault::Truncated { limit: self.limit }),
            Some("model_context_window_exceeded") => {
                Err(Fault::TooLong { message: "prompt and answer together exceed its context window".into() })
            }
            Some(_) => answer(self.text, self.usage, None),
        }
    }
}

#[cfg(test)]
mod tests;
