//! Anthropic Messages: breakpoints on blocks, the schema in `output_config.format`.

use super::{Asked, Keep, Speaker, Tool, flat, list, text};
use serde_json::Value;

pub fn read(body: &Value, definitions: Vec<String>) -> Result<Asked, String> {
    if !body["max_tokens"].is_u64() {
        return Err("max_tokens: Field required".into());
    }
    if list(body, "messages").is_empty() {
        return Err("messages: at least one message is required".into());
    }
    let format =
        [&body["output_config"]["format"], &body["output_format"]].into_iter().find(|format| format["type"] == "json_schema");
    let mut asked = Asked {
        model: text(body, "/model"),
        stream: body["stream"] == true,
        schema: format.map(|format| format["schema"].clone()),
        strict: format.is_some(),
        max_tokens: body["max_tokens"].as_u64(),
        forced_tool: (body["tool_choice"]["type"] == "tool").then(|| text(body, "/tool_choice/name")),
        ..Asked::default()
    };
    for (tool, definition) in list(body, "tools").iter().zip(definitions) {
        asked.tools.push(Tool { name: text(tool, "/name"), schema: tool["input_schema"].clone() });
        asked.say(Speaker::Definition, unmarked(tool).unwrap_or(definition));
        mark(&mut asked, tool);
    }
    match &body["system"] {
        Value::String(words) => asked.say(Speaker::System, words),
        blocks => {
            for block in blocks.as_array().into_iter().flatten() {
                asked.say(Speaker::System, text(block, "/text"));
                mark(&mut asked, block);
            }
        }
    }
    for message in list(body, "messages") {
        // Claude Code puts its environment into a system message after the user's.
        let speaker = match message["role"].as_str() {
            Some("assistant") => Speaker::Assistant,
            Some("system") => Speaker::System,
            _ => Speaker::User,
        };
        match &message["content"] {
            Value::String(words) => asked.say(speaker, words),
            blocks => {
                for block in blocks.as_array().into_iter().flatten() {
                    say_block(&mut asked, &speaker, block);
                    mark(&mut asked, block);
                }
            }
        }
    }
    // Automatic caching: one mark for the whole request stands for one on its last block.
    if body["cache_control"].is_object() {
        mark(&mut asked, body);
    }
    let marks = asked.blocks.iter().filter(|block| block.keep.is_some()).count();
    if marks > 4 {
        return Err(format!("A maximum of 4 blocks with cache_control may be provided. Found {marks}."));
    }
    Ok(asked)
}

fn say_block(asked: &mut Asked, speaker: &Speaker, block: &Value) {
    match block["type"].as_str() {
        Some("tool_use") => {
            let call = Speaker::Call { name: text(block, "/name"), input: block["input"].clone() };
            asked.say(call, format!("{} {}", text(block, "/name"), block["input"]));
        }
        Some("tool_result") => asked.say(Speaker::Result { error: block["is_error"] == true }, flat(&block["content"])),
        Some("text") => asked.say(speaker.clone(), text(block, "/text")),
        _ => asked.say(speaker.clone(), flat(block)),
    }
}

fn mark(asked: &mut Asked, block: &Value) {
    let Some(control) = block.get("cache_control").filter(|control| control.is_object()) else { return };
    let keep = if control["ttl"] == "1h" { Keep::OneHour } else { Keep::FiveMinutes };
    if let Some(last) = asked.blocks.last_mut() {
        last.keep = Some(keep);
    }
}

/// A breakpoint is not part of what is cached, so a marked definition is taken without it.
fn unmarked(tool: &Value) -> Option<String> {
    let mut tool = tool.clone();
    tool.as_object_mut()?.remove("cache_control")?;
    Some(tool.to_string())
}
