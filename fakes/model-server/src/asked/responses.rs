//! OpenAI Responses: `instructions`, a list of typed items, the schema in `text.format`.

use super::{Asked, Speaker, Tool, arguments, flat, list, text};
use serde_json::Value;

pub fn read(body: &Value, definitions: Vec<String>) -> Result<Asked, String> {
    let format = &body["text"]["format"];
    let mut asked = Asked {
        model: text(body, "/model"),
        stream: body["stream"] == true,
        schema: (format["type"] == "json_schema").then(|| format["schema"].clone()),
        strict: format["strict"] == true,
        max_tokens: body["max_output_tokens"].as_u64(),
        forced_tool: (body["tool_choice"]["type"] == "function").then(|| text(body, "/tool_choice/name")),
        include_usage: true,
        cache_key: body["prompt_cache_key"].as_str().map(str::to_owned),
        ..Asked::default()
    };
    for (tool, definition) in list(body, "tools").iter().zip(definitions) {
        add_tool(&mut asked, tool);
        asked.say(Speaker::Definition, definition);
    }
    if let Some(instructions) = body["instructions"].as_str() {
        asked.say(Speaker::System, instructions);
    }
    match &body["input"] {
        Value::String(words) => asked.say(Speaker::User, words),
        Value::Array(items) => items.iter().for_each(|item| say_item(&mut asked, item)),
        _ => return Err("Missing required parameter: 'input'.".into()),
    }
    Ok(asked)
}

/// Tools may come in groups (`namespace`), and built-in ones have a type in place of a name.
fn add_tool(asked: &mut Asked, tool: &Value) {
    let inner = list(tool, "tools");
    if !inner.is_empty() {
        return inner.iter().for_each(|tool| add_tool(asked, tool));
    }
    let name = tool["name"].as_str().or(tool["type"].as_str()).unwrap_or_default().to_owned();
    // Tools without a schema (built-in ones, free-form text) cannot be called with an object.
    if tool["type"] == "function" {
        asked.tools.push(Tool { name, schema: tool["parameters"].clone() });
    }
}

fn say_item(asked: &mut Asked, item: &Value) {
    match item["type"].as_str().unwrap_or("message") {
        "message" => {
            let speaker = match item["role"].as_str() {
                Some("system" | "developer") => Speaker::System,
                Some("assistant") => Speaker::Assistant,
                _ => Speaker::User,
            };
            match &item["content"] {
                Value::Array(parts) => parts.iter().for_each(|part| asked.say(speaker.clone(), flat(part))),
                content => asked.say(speaker, flat(content)),
            }
        }
        "function_call" => {
            let (name, input) = (text(item, "/name"), arguments(&item["arguments"]));
            let shown = format!("{name} {input}");
            asked.say(Speaker::Call { name, input }, shown);
        }
        "custom_tool_call" => {
            let shown = format!("{} {}", text(item, "/name"), item["input"]);
            asked.say(Speaker::Call { name: text(item, "/name"), input: item["input"].clone() }, shown);
        }
        "function_call_output" | "custom_tool_call_output" => {
            asked.say(Speaker::Result { error: false }, flat(&item["output"]));
        }
        _ => asked.say(Speaker::Assistant, flat(item)),
    }
}
