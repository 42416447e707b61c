//! Gemini: parts in contents, the schema in `generationConfig`, tools as function declarations in groups.

use super::{Asked, Speaker, Tool, flat, list, text};
use serde_json::Value;

pub fn read(body: &Value, definitions: Vec<String>) -> Result<Asked, String> {
    if list(body, "contents").is_empty() {
        return Err("* GenerateContentRequest.contents: contents is not specified".into());
    }
    let config = &body["generationConfig"];
    let schema = [config.get("responseJsonSchema"), config.get("_responseJsonSchema"), config.get("responseSchema")];
    let mut asked = Asked {
        schema: schema.into_iter().flatten().next().cloned(),
        max_tokens: config["maxOutputTokens"].as_u64(),
        forced_tool: forced(body),
        include_usage: true,
        ..Asked::default()
    };
    if asked.schema.is_some() && config["responseMimeType"] != "application/json" {
        return Err("* GenerateContentRequest.generation_config: response_schema is only supported with response mime type application/json".into());
    }
    for (group, definition) in list(body, "tools").iter().zip(definitions) {
        for tool in list(group, "functionDeclarations") {
            let schema = tool.get("parametersJsonSchema").or(tool.get("parameters")).cloned().unwrap_or_default();
            asked.tools.push(Tool { name: text(tool, "/name"), schema });
        }
        asked.say(Speaker::Definition, definition);
    }
    let system = body.get("systemInstruction").or(body.get("system_instruction")).unwrap_or(&Value::Null);
    for part in list(system, "parts") {
        asked.say(Speaker::System, text(part, "/text"));
    }
    for content in list(body, "contents") {
        let speaker = if content["role"] == "model" { Speaker::Assistant } else { Speaker::User };
        for part in list(content, "parts") {
            say_part(&mut asked, &speaker, part);
        }
    }
    Ok(asked)
}

fn say_part(asked: &mut Asked, speaker: &Speaker, part: &Value) {
    if let Some(call) = part.get("functionCall") {
        let (name, input) = (text(call, "/name"), call["args"].clone());
        let shown = format!("{name} {input}");
        asked.say(Speaker::Call { name, input }, shown);
    } else if let Some(result) = part.get("functionResponse") {
        asked.say(Speaker::Result { error: result["response"].get("error").is_some() }, flat(&result["response"]));
    } else {
        asked.say(speaker.clone(), flat(part));
    }
}

fn forced(body: &Value) -> Option<String> {
    let config = body.pointer("/toolConfig/functionCallingConfig")?;
    let only = list(config, "allowedFunctionNames");
    (config["mode"] == "ANY" && only.len() == 1).then(|| flat(&only[0]))
}
