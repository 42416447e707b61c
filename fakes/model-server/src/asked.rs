//! A request, whatever its wire format, as the scripted model sees it: blocks of text in prompt order, tools, and the form of answer
//! that was asked for.
//!
//! Block order is the vendors' cache order (tools, system, messages), so that one list serves reading and billing.

mod anthropic;
mod chat;
mod gemini;
mod responses;
pub mod schema;

use crate::wire::{Wire, tokens};
use serde_json::Value;
use serde_json::value::RawValue;

#[derive(Debug, Clone, Default)]
pub struct Asked {
    pub model: String,
    pub stream: bool,
    pub blocks: Vec<Block>,
    pub tools: Vec<Tool>,
    /// The JSON schema that the answer must follow.
    pub schema: Option<Value>,
    /// The schema came with the promise that it would be followed to the letter.
    pub strict: bool,
    /// The tool that must be called.
    pub forced_tool: Option<String>,
    pub max_tokens: Option<u64>,
    pub include_usage: bool,
    pub cache_key: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Block {
    pub from: Speaker,
    pub text: String,
    /// Anthropic's breakpoint: the prefix up to and including this block is to be kept.
    pub keep: Option<Keep>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Speaker {
    /// A tool's definition, byte for byte.
    Definition,
    System,
    User,
    Assistant,
    /// An earlier call by the assistant.
    Call {
        name: String,
        input: Value,
    },
    Result {
        error: bool,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    FiveMinutes,
    OneHour,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    pub name: String,
    /// Of its input; `Null` for tools that take plain text or have no stated input.
    pub schema: Value,
}

/// Claude Code's tool for answers under a schema.
pub const STRUCTURED: &str = "StructuredOutput";

impl Asked {
    /// `model` is the path's, on the wire that has it there. The error is the vendor's complaint.
    pub fn read(wire: Wire, model: Option<&str>, raw: &[u8], body: &Value) -> Result<Asked, String> {
        let definitions = definitions(raw);
        let mut asked = match wire {
            Wire::Anthropic => anthropic::read(body, definitions),
            Wire::Responses => responses::read(body, definitions),
            Wire::Chat => chat::read(body, definitions),
            Wire::Gemini => gemini::read(body, definitions),
        }?;
        if let Some(model) = model {
            asked.model = model.to_owned();
        }
        Ok(asked)
    }

    fn say(&mut self, from: Speaker, text: impl Into<String>) {
        self.blocks.push(Block { from, text: text.into(), keep: None });
    }

    /// What the model is told: everything but tool definitions and its own words.
    pub fn told(&self) -> impl Iterator<Item = &str> {
        let told = |block: &&Block| matches!(block.from, Speaker::System | Speaker::User | Speaker::Result { .. });
        self.blocks.iter().filter(told).map(|block| block.text.as_str())
    }

    pub fn prompt(&self) -> String {
        self.told().collect::<Vec<_>>().join("\n")
    }

    /// The last block that the user wrote.
    pub fn own(&self) -> &str {
        self.blocks.iter().rev().find(|block| block.from == Speaker::User).map_or("", |block| &block.text)
    }

    pub fn results(&self) -> impl Iterator<Item = &str> {
        self.blocks.iter().filter(|block| matches!(block.from, Speaker::Result { .. })).map(|block| block.text.as_str())
    }

    pub fn calls(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.blocks.iter().filter_map(|block| match &block.from {
            Speaker::Call { name, input } => Some((name.as_str(), input)),
            Speaker::Definition | Speaker::System | Speaker::User | Speaker::Assistant | Speaker::Result { .. } => None,
        })
    }

    /// How often the assistant has called tools: calls side by side are one round.
    pub fn rounds(&self) -> usize {
        let is_call = |block: &Block| matches!(block.from, Speaker::Call { .. });
        let after_other = |index: usize| index == 0 || !is_call(&self.blocks[index - 1]);
        (0..self.blocks.len()).filter(|&index| is_call(&self.blocks[index]) && after_other(index)).count()
    }

    /// The answer was given by [`STRUCTURED`], and taken.
    pub fn structured_taken(&self) -> bool {
        let last = self.blocks.iter().rev().find_map(|block| match block.from {
            Speaker::Result { error } => Some(error),
            Speaker::Definition | Speaker::System | Speaker::User | Speaker::Assistant | Speaker::Call { .. } => None,
        });
        self.calls().last().is_some_and(|(name, _)| name == STRUCTURED) && last == Some(false)
    }

    pub fn tool(&self, name: &str) -> Option<&Tool> {
        self.tools.iter().find(|tool| tool.name == name)
    }

    pub fn input_tokens(&self) -> u64 {
        self.blocks.iter().map(|block| tokens(&block.text)).sum()
    }
}

/// The tools as they were written. A parsed value may reorder keys, and a cache would notice that.
fn definitions(raw: &[u8]) -> Vec<String> {
    #[derive(serde::Deserialize)]
    struct Tools {
        #[serde(default)]
        tools: Option<Vec<Box<RawValue>>>,
    }
    let tools = serde_json::from_slice::<Tools>(raw).ok().and_then(|body| body.tools).unwrap_or_default();
    tools.iter().map(|tool| tool.get().to_owned()).collect()
}

/// The string at a path, or nothing.
fn text(value: &Value, path: &str) -> String {
    value.pointer(path).and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// A string stays, a list of `{text}` parts is joined, anything else is shown as its strings.
fn flat(value: &Value) -> String {
    let mut strings = Vec::new();
    collect(value, &mut strings);
    strings.join("\n")
}

fn collect(value: &Value, strings: &mut Vec<String>) {
    match value {
        Value::String(text) => strings.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| collect(item, strings)),
        Value::Object(map) if map.get("text").is_some_and(Value::is_string) => collect(&map["text"], strings),
        Value::Object(map) => map.iter().filter(|(name, _)| *name != "type").for_each(|(_, item)| collect(item, strings)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Arguments travel as a JSON string on the OpenAI wires.
fn arguments(value: &Value) -> Value {
    match value {
        Value::String(text) => serde_json::from_str(text).unwrap_or_else(|_| value.clone()),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests;
