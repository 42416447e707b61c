//! Google's Gemini API.
//!
//! Its cache works by itself, on equal beginnings. No event ends its stream: the last piece carries a `finishReason`, and then
//! the connection closes. Thoughts are parts with a mark, and are counted apart from the answer.

use super::reader::{self, answer, count, list, no_error, parse, text_at};
use super::request::{Request, effort, output_limit, parts, repair_turns, structured, system};
use super::schema::{Bounds, strict};
use serde_json::{Value, json};
use tribunal_core::call::fault::Fault;
use tribunal_core::call::usage::Usage;
use tribunal_core::call::{Answer, Question};
use tribunal_core::policy::agents::{Effort, ModelConfig, Structured};

pub fn request(config: &ModelConfig, question: &Question) -> Request {
    let asked: Vec<Value> = parts(question).into_iter().map(|text| json!({ "text": text })).collect();
    let mut contents = vec![json!({ "role": "user", "parts": asked })];
    if let Some(repair) = &question.repair {
        let (said, told) = repair_turns(repair);
        contents.push(json!({ "role": "model", "parts": [{ "text": said }] }));
        contents.push(json!({ "role": "user", "parts": [{ "text": told }] }));
    }
    let mut generation = json!({ "maxOutputTokens": output_limit(config) });
    if structured(config) != Structured::Prompt {
        generation["responseMimeType"] = "application/json".into();
    }
    if structured(config) == Structured::Schema {
        generation["responseJsonSchema"] = strict(&question.schema, Bounds::Keep);
    }
    if let Some(level) = config.effort {
        generation["thinkingConfig"] = thinking(&config.model, level);
    }
    let mut body = json!({ "contents": contents, "generationConfig": generation });
    let system = system(config, question);
    if !system.trim().is_empty() {
        body["systemInstruction"] = json!({ "parts": [{ "text": system }] });
    }
    // The vendor lists its models as `models/NAME`, and people copy that.
    let model = config.model.strip_prefix("models/").unwrap_or(&config.model);
    Request {
        path: format!("models/{model}:streamGenerateContent"),
        query: Some(("alt", "sse")),
        headers: vec![],
        key_header: "x-goog-api-key",
        body,
    }
}

/// Models before the third generation count tokens of thought instead of naming a level.
fn thinking(model: &str, level: Effort) -> Value {
    if model.contains("gemini-2") {
        let budget = match level {
            Effort::Low => 1024,
            Effort::Medium => 8192,
            Effort::High => 24_576,
        };
        json!({ "thinkingBudget": budget })
    } else {
        json!({ "thinkingLevel": effort(level) })
    }
}

pub struct Reader {
    limit: u64,
    text: String,
    usage: Usage,
    stop: Option<String>,
    blocked: Option<String>,
}

impl Reader {
    pub fn new(config: &ModelConfig) -> Self {
        Self { limit: output_limit(config), text: String::new(), usage: Usage::default(), stop: None, blocked: None }
    }

    fn piece(&mut self, value: &Value) {
        if let Some(candidate) = list(value, "candidates").next() {
            let parts = list(candidate.get("content").unwrap_or(&Value::Null), "parts");
            let said = parts.filter(|part| part.get("thought").and_then(Value::as_bool) != Some(true));
            self.text.extend(said.filter_map(|part| text_at(part, &["text"])));
            if let Some(reason) = text_at(candidate, &["finishReason"]) {
                self.stop = Some(reason.to_owned());
            }
        }
        if let Some(reason) = text_at(value, &["promptFeedback", "blockReason"]) {
            self.blocked = Some(reason.to_owned());
        }
        if let Some(usage) = value.get("usageMetadata") {
            self.usage = normalised(usage);
        }
    }
}

fn normalised(usage: &Value) -> Usage {
    let tokens = |name: &str| count(usage, &[name]).unwrap_or(0);
    let cache_read = tokens("cachedContentTokenCount");
    Usage {
        input: tokens("promptTokenCount").saturating_sub(cache_read),
        cache_read,
        cache_write: 0,
        output: tokens("candidatesTokenCount") + tokens("thoughtsTokenCount"),
        uncounted: 0,
    }
}

impl reader::Reader for Reader {
    fn event(&mut self, _name: Option<&str>, data: &str) -> Result<(), Fault> {
        if data != "[DONE]" {
            self.piece(&parse(data)?);
        }
        Ok(())
    }

    /// One object, or the list of pieces that the API sends when it is not asked for events.
    fn whole(&mut self, body: &Value) -> Result<(), Fault> {
        for piece in body.as_array().map_or(std::slice::from_ref(body), Vec::as_slice) {
            no_error(piece)?;
            self.piece(piece);
        }
        Ok(())
    }

    fn is_over(&self) -> bool {
        false
    }

    fn usage(&self) -> Usage {
        self.usage
    }

    fn finish(self: Box<Self>) -> Result<Answer, Fault> {
        if let Some(reason) = self.blocked {
            return Err(reader::refusal(&format!("the prompt was blocked: {reason}")));
        }
        match self.stop.as_deref() {
            None => Err(reader::cut_off()),
            Some("STOP") => answer(self.text, self.usage, None),
            Some("MAX_TOKENS") => Err(Fault::Truncated { limit: self.limit }),
            Some(reason @ ("SAFETY" | "PROHIBITED_CONTENT" | "RECITATION" | "BLOCKLIST" | "SPII" | "LANGUAGE")) => {
                Err(reader::refusal(&format!("its answer was blocked: {reason}")))
            }
            Some(reason) => Err(Fault::Nonsense { message: format!("it ended for the reason `{reason}`") }),
        }
    }
}

#[cfg(test)]
mod tests;
