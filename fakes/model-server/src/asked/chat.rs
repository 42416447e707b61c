//! OpenAI Chat Completions: the schema in `response_format`, results as messages of the role `tool`.

use super::{Asked, Speaker, Tool, arguments, flat, list, text};
use serde_json::Value;

pub fn read(body: &Value, definitions: Vec<String>) -> Result<Asked, String> {
    if list(body, "messages").is_empty() {
        return Err("Missing required parameter: 'messages'.".into());
    }
    let format = &body["response_format"];
    let schema = [format.pointer("/json_schema/schema"), format.get("schema")].into_iter().flatten().next().cloned();
    let mut asked = Asked {
        model: text(body, "/model"),
        stream: body["stream"] == true,
        schema,
        strict: format["json_schema"]["strict"] == true,
        max_tokens: body["max_completion_tokens"].as_u64().or(body["max_tokens"].as_u64()),
        forced_tool: body.pointer("/tool_choice/function/name").and_then(Value::as_str).map(str::to_owned),
        include_usage: body["stream_options"]["include_usage"] == true,
        cache_key: body["prompt_cache_key"].as_str().map(str::to_owned),
        ..Asked::default()
    };
    for (tool, definition) in list(body, "tools").iter().zip(definitions) {
        asked.tools.push(Tool { name: text(tool, "/function/name"), schema: tool["function"]["parameters"].clone() });
        asked.say(Speaker::Definition, definition);
    }
    for message in list(body, "messages") {
        let words = flat(&message["content"]);
        match message["role"].as_str() {
            Some("system" | "developer") => asked.say(Speaker::System, words),
            Some("tool" | "function") => asked.say(Speaker::Result { error: false }, words),
            Some("assistant") => {
                if !words.is_empty() {
                    asked.say(Speaker::Assistant, words);
                }
                for call in list(message, "tool_calls") {
                    let (name, input) = (text(call, "/function/name"), arguments(&call["function"]["arguments"]));
                    let shown = format!("{name} {input}");
                    asked.say(Speaker::Call { name, input }, shown);
                }
            }
            _ => say_parts(&mut asked, &message["content"], words),
        }
    }
    Ok(asked)
}

/// Each part of a user's message is a block of its own, so that the last one can be told from the rest.
fn say_parts(asked: &mut Asked, content: &Value, words: String) {
    match content {
        Value::Array(parts) => parts.iter().for_each(|part| asked.say(Speaker::User, flat(part))),
        _ => asked.say(Speaker::User, words),
    }
}
