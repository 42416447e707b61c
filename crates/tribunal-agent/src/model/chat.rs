//! OpenAI's Chat Completions API, and the many servers that speak a part of it.
//!
//! What only the vendor knows (parts of a message, `max_completion_tokens`, `prompt_cache_key`) is sent to nobody else: some
//! servers refuse what they do not know.

use super::reader::{self, answer, count, list, parse, text_at};
use super::request::{Request, SCHEMA_NAME, effort, is_openai, output_limit, parts, repair_turns, structured, system};
use super::schema::{Bounds, strict};
use serde_json::{Value, json};
use tribunal_core::call::fault::Fault;
use tribunal_core::call::money::Money;
use tribunal_core::call::usage::Usage;
use tribunal_core::call::{Answer, Question};
use tribunal_core::policy::agents::{ModelConfig, Structured};

pub fn request(config: &ModelConfig, question: &Question, cache_key: &str) -> Request {
    let vendor = is_openai(config);
    let asked: Value = if vendor {
        parts(question).into_iter().map(|text| json!({ "type": "text", "text": text })).collect()
    } else {
        parts(question).join("\n\n").into()
    };
    let mut messages = vec![json!({ "role": "user", "content": asked })];
    let system = system(config, question);
    if !system.trim().is_empty() {
        messages.insert(0, json!({ "role": "system", "content": system }));
    }
    if let Some(repair) = &question.repair {
        let (said, told) = repair_turns(repair);
        messages.push(json!({ "role": "assistant", "content": said }));
        messages.push(json!({ "role": "user", "content": told }));
    }
    let mut body = json!({
        "model": config.model,
        "messages": messages,
        "stream": true,
        "stream_options": { "include_usage": true },
    });
    body[if vendor { "max_completion_tokens" } else { "max_tokens" }] = output_limit(config).into();
    if vendor && !cache_key.is_empty() {
        body["prompt_cache_key"] = cache_key.into();
    }
    match structured(config) {
        Structured::Schema => {
            let schema = strict(&question.schema, if vendor { Bounds::Drop } else { Bounds::Keep });
            let format = json!({ "name": SCHEMA_NAME, "strict": true, "schema": schema });
            body["response_format"] = json!({ "type": "json_schema", "json_schema": format });
        }
        Structured::Json => body["response_format"] = json!({ "type": "json_object" }),
        Structured::Prompt => {}
    }
    if let Some(level) = config.effort {
        body["reasoning_effort"] = effort(level).into();
    }
    Request { path: "chat/completions".into(), query: None, headers: vec![], key_header: "authorization", body }
}

pub struct Reader {
    limit: u64,
    text: String,
    refusal: String,
    usage: Usage,
    cost: Option<Money>,
    stop: Option<String>,
    is_over: bool,
}

impl Reader {
    pub fn new(config: &ModelConfig) -> Self {
        Self {
            limit: output_limit(config),
            text: String::new(),
            refusal: String::new(),
            usage: Usage::default(),
            cost: None,
            stop: None,
            is_over: false,
        }
    }

    /// A piece of an answer has a `delta` where a whole one has a `message`; the rest is the same.
    fn piece(&mut self, value: &Value) {
        if let Some(choice) = list(value, "choices").next() {
            let said = choice.get("delta").or_else(|| choice.get("message")).unwrap_or(&Value::Null);
            match said.get("content") {
                Some(Value::String(text)) => self.text.push_str(text),
                // Thoughts are parts of another type.
                Some(Value::Array(parts)) => {
                    let texts = parts.iter().filter(|part| text_at(part, &["type"]) == Some("text"));
                    self.text.extend(texts.filter_map(|part| text_at(part, &["text"])));
                }
                Some(_) | None => {}
            }
            self.refusal.push_str(text_at(said, &["refusal"]).unwrap_or_default());
            if let Some(reason) = text_at(choice, &["finish_reason"]) {
                self.stop = Some(reason.to_owned());
            }
        }
        if let Some(usage) = value.get("usage").filter(|usage| usage.is_object()) {
            self.usage = normalised(usage);
            // OpenRouter and its like say what they will bill.
            self.cost = usage.get("cost").and_then(Value::as_f64).and_then(Money::from_dollars);
        }
    }
}

fn normalised(usage: &Value) -> Usage {
    let detail = |name: &str| count(usage, &["prompt_tokens_details", name]);
    let cache_read = detail("cached_tokens").or_else(|| count(usage, &["prompt_cache_hit_tokens"])).unwrap_or(0);
    let cache_write = detail("cache_write_tokens").unwrap_or(0);
    let prompt = count(usage, &["prompt_tokens"]).unwrap_or(0);
    let written = count(usage, &["completion_tokens"]).unwrap_or(0);
    // Some servers leave thoughts out of `completion_tokens`, but never out of the total.
    let output = count(usage, &["total_tokens"]).unwrap_or(0).saturating_sub(prompt).max(written);
    Usage { input: prompt.saturating_sub(cache_read + cache_write), cache_read, cache_write, output, uncounted: 0 }
}

impl reader::Reader for Reader {
    fn event(&mut self, _name: Option<&str>, data: &str) -> Result<(), Fault> {
        if data.trim() == "[DONE]" {
            self.is_over = true;
            return Ok(());
        }
        self.piece(&parse(data)?);
        Ok(())
    }

    fn whole(&mut self, body: &Value) -> Result<(), Fault> {
        self.piece(body);
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
            None if !self.is_over => Err(reader::cut_off()),
            Some("length") => Err(Fault::Truncated { limit: self.limit }),
            Some("content_filter") => Err(reader::refusal("a content filter ended its answer")),
            Some("error") => Err(Fault::CutOff { message: "it ended with an error that it did not name".into() }),
            None | Some(_) if !self.refusal.is_empty() => Err(reader::refusal(&self.refusal)),
            None | Some(_) => answer(self.text, self.usage, self.cost),
        }
    }
}

#[cfg(test)]
mod tests;
