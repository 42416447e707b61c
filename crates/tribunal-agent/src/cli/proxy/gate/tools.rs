//! Tools that the vendor only describes to its model. One that runs on the vendor's side would carry words out.

use serde_json::Value;
use tribunal_core::policy::agents::Wire;

/// Kinds of tools that whoever asked runs itself.
const KINDS: [&str; 6] = ["function", "custom", "namespace", "local_shell", "apply_patch", "tool_search"];
/// The same, with the date of a version behind them.
const DATED_KINDS: [&str; 4] = ["bash_", "text_editor_", "memory_", "tool_search_tool_"];

/// Refuses tools of the vendor's side, at any depth.
pub fn check(wire: Wire, body: &Value) -> Result<(), String> {
    if body.get("tools").is_some_and(|tools| !tools.is_array() && !tools.is_null()) || holds_single_tool(body) {
        return Err("`tools` is not a list".into());
    }
    match tools(body).into_iter().find_map(|tool| remote(wire, tool)) {
        Some(tool) => Err(format!("the tool {tool} is not known to run on this machine, and could carry words out")),
        None => Ok(()),
    }
}

/// Codex hands tools out in groups, and in the middle of a conversation, so they are looked for at any depth.
fn tools(value: &Value) -> Vec<&Value> {
    match value {
        Value::Object(fields) => {
            let here = fields.get("tools").and_then(Value::as_array).into_iter().flatten();
            here.chain(fields.values().flat_map(tools)).collect()
        }
        Value::Array(items) => items.iter().flat_map(tools).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    }
}

/// Is there a tool where a list of them belongs, at any depth? Some vendors take it so. A parameter of that name has a type instead.
fn holds_single_tool(value: &Value) -> bool {
    match value {
        Value::Object(fields) => {
            let single = fields.get("tools").and_then(Value::as_object);
            single.is_some_and(|tool| !tool.contains_key("type")) || fields.values().any(holds_single_tool)
        }
        Value::Array(items) => items.iter().any(holds_single_tool),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

fn remote(wire: Wire, tool: &Value) -> Option<String> {
    if wire == Wire::Gemini {
        return tool
            .as_object()?
            .keys()
            .find(|key| !matches!(key.as_str(), "functionDeclarations" | "function_declarations"))
            .cloned();
    }
    match tool.get("type") {
        Some(Value::String(kind)) => (!runs_here(kind)).then(|| kind.clone()),
        Some(other) => Some(other.to_string()),
        // Only Anthropic has tools without a type.
        None => (wire != Wire::Anthropic).then(|| "without a type".into()),
    }
}

fn runs_here(kind: &str) -> bool {
    KINDS.contains(&kind) || DATED_KINDS.iter().any(|start| kind.starts_with(start))
}
