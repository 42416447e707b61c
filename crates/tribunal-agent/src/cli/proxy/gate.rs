//! What a request's body may not ask for.
//!
//! The child's network ends at the proxy, but the vendor's does not: a model can be given tools that run on the vendor's side
//! (search, fetch, code, remote tool servers), and a picture or a document can be named by an address that the vendor fetches. Each
//! would carry words out of the sandbox. Tools that run on our side are only descriptions, and pass. What is not known to be harmless
//! does not: a tool is refused, and a field is left out, because a CLI adds new ones with every version.

mod known;

use super::route::Route;
use known::{fields, runs_here};
use serde_json::Value;
use tribunal_core::policy::agents::Wire;

/// Fields that reach out by themselves.
const REACHING: [&str; 5] = ["mcp_servers", "web_search_options", "container", "background", "plugins"];

/// Fields whose text the vendor would fetch.
const ADDRESSES: [&str; 5] = ["image_url", "file_url", "fileUri", "file_uri", "video_url"];

/// A body as it was read and found to be fine. Only it goes out, written anew: of the bytes that came in, the vendor might read
/// something else than we did (a name that stands twice, for instance).
#[derive(Debug, Clone, PartialEq)]
pub struct Checked(Value);

impl Checked {
    pub fn bytes(&self) -> Vec<u8> {
        self.0.to_string().into_bytes()
    }
}

/// Nothing for a request that asks nothing: it has no body.
pub fn check(wire: Wire, route: &Route, body: &[u8], model: Option<&str>) -> Result<Option<Checked>, String> {
    if !route.asks {
        return if body.is_empty() { Ok(None) } else { Err("a request that asks nothing has no body".into()) };
    }
    let mut body: Value = serde_json::from_slice(body).map_err(|_| "the request is not JSON".to_owned())?;
    let Some(top) = body.as_object_mut() else { return Err("the request is not a JSON object".into()) };
    if let Some(model) = model {
        let asked = route.model.as_deref().or_else(|| top.get("model").and_then(Value::as_str)).unwrap_or_default();
        if asked != model {
            return Err(format!("only the model {model} may be asked, not {asked}"));
        }
    }
    if let Some(field) = REACHING.iter().find(|field| top.get(**field).is_some_and(|value| !is_off(value))) {
        return Err(format!("`{field}` would let the model reach beyond this machine"));
    }
    top.retain(|field, _| fields(wire).contains(&field.as_str()));
    if top.get("tools").is_some_and(|tools| !tools.is_array() && !tools.is_null()) || holds_single_tool(&body) {
        return Err("`tools` is not a list".into());
    }
    if let Some(tool) = tools(&body).into_iter().find_map(|tool| remote(wire, tool)) {
        return Err(format!("the tool {tool} is not known to run on this machine, and could carry words out"));
    }
    match fetched(&body) {
        Some(field) => Err(format!("`{field}` holds an address that the vendor would fetch")),
        None => Ok(Some(Checked(body))),
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

fn is_off(value: &Value) -> bool {
    matches!(value, Value::Null | Value::Bool(false)) || value.as_array().is_some_and(Vec::is_empty)
}

fn remote(wire: Wire, tool: &Value) -> Option<String> {
    if wire == Wire::Gemini {
        return tool
            .as_object()?
            .keys()
            .find(|key| !matches!(key.as_str(), "functionDeclarations" | "function_declarations"))
            .cloned();
    }
    let kind = tool.get("type").and_then(Value::as_str)?;
    (!runs_here(kind)).then(|| kind.to_owned())
}

/// The first field, at any depth, that names something to fetch. A `data:` address carries its own content.
fn fetched(value: &Value) -> Option<String> {
    match value {
        Value::Object(fields) => {
            let is_source =
                fields.get("type").and_then(Value::as_str) == Some("url") && fields.get("url").is_some_and(Value::is_string);
            if is_source {
                return Some("url".into());
            }
            fields.iter().find_map(|(name, value)| {
                let text = value.as_str().or_else(|| value.get("url")?.as_str());
                let is_address = ADDRESSES.contains(&name.as_str()) && text.is_some_and(|text| !text.starts_with("data:"));
                if is_address { Some(name.clone()) } else { fetched(value) }
            })
        }
        Value::Array(items) => items.iter().find_map(fetched),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn gate(wire: Wire, body: &Value) -> Result<(), String> {
        let route = Route { rest: "/x".into(), asks: true, model: None };
        check(wire, &route, body.to_string().as_bytes(), None).map(|checked| assert!(checked.is_some()))
    }

    /// C14: what the vendor reads is what was checked, whatever a lenient reader would make of the bytes.
    #[test]
    fn what_goes_out_is_what_was_read() {
        let route = Route { rest: "/x".into(), asks: true, model: None };
        let twice = br#"{"model":"dear","tools":[{"type":"web_search"}],"tools":[],"model":"cheap"}"#;
        let checked = check(Wire::Openai, &route, twice, Some("cheap")).unwrap().unwrap();
        let sent: Value = serde_json::from_slice(&checked.bytes()).unwrap();
        assert_eq!(sent, json!({ "model": "cheap", "tools": [] }));
        let text = String::from_utf8(checked.bytes()).unwrap();
        assert!(!text.contains("web_search") && !text.contains("dear"), "{text}");
        for odd in [&b"[]"[..], b"\"x\"", b"{} {}", b"{}\0", b""] {
            assert!(check(Wire::Openai, &route, odd, None).is_err(), "{odd:?}");
        }
        let silent = Route { asks: false, ..route };
        assert_eq!(check(Wire::Openai, &silent, b"", None), Ok(None));
        assert!(check(Wire::Openai, &silent, twice, None).is_err());
    }

    #[test]
    fn tools_of_our_side_pass() {
        assert_eq!(gate(Wire::Anthropic, &json!({ "tools": [{ "name": "Read", "input_schema": {} }] })), Ok(()));
        assert_eq!(
            gate(Wire::Openai, &json!({ "tools": [{ "type": "function", "name": "exec" }, { "type": "custom" }] })),
            Ok(())
        );
        assert_eq!(gate(Wire::Gemini, &json!({ "tools": [{ "functionDeclarations": [] }] })), Ok(()));
        let schema =
            json!({ "tools": [{ "type": "function", "parameters": { "properties": { "image_url": { "type": "string" } } } }] });
        assert_eq!(gate(Wire::Openai, &schema), Ok(()));
    }

    #[test]
    fn tools_of_the_vendor_s_side_do_not() {
        for tool in
            ["web_search_20250305", "web_fetch_20250910", "mcp_toolset", "code_interpreter", "shell", "openrouter:shell", "new"]
        {
            for wire in [Wire::Anthropic, Wire::Openai, Wire::OpenaiChat] {
                assert!(gate(wire, &json!({ "tools": [{ "type": tool, "name": "x" }] })).is_err(), "{tool}");
            }
        }
        for tools in [json!({ "urlContext": {} }), json!("urlContext"), json!({ "urlContext": {}, "type": "x" })] {
            assert!(gate(Wire::Gemini, &json!({ "tools": tools })).is_err(), "{tools}");
        }
        assert!(gate(Wire::Gemini, &json!({ "generationConfig": { "tools": { "urlContext": {} } } })).is_err());
        let parameter = json!({ "functionDeclarations": [{ "parameters": { "properties": { "tools": { "type": "ARRAY" } } } }] });
        assert_eq!(gate(Wire::Gemini, &json!({ "tools": [parameter] })), Ok(()));
        let grouped = json!({ "input": [{ "tools": [{ "type": "namespace", "tools": [{ "type": "web_search" }] }] }] });
        assert!(gate(Wire::Openai, &grouped).is_err());
        assert!(gate(Wire::Gemini, &json!({ "tools": [{ "urlContext": {} }] })).is_err());
        assert!(gate(Wire::Anthropic, &json!({ "mcp_servers": [{ "url": "https://evil.example" }] })).is_err());
        assert!(gate(Wire::OpenaiChat, &json!({ "plugins": [{ "id": "web" }] })).is_err());
    }

    /// A field that is new to us may be one that reaches out.
    #[test]
    fn fields_that_are_not_known_are_left_out() {
        let route = Route { rest: "/x".into(), asks: true, model: None };
        for wire in [Wire::Anthropic, Wire::Openai, Wire::OpenaiChat, Wire::Gemini] {
            let checked = check(wire, &route, br#"{"tools":[],"cachedContent":"x","prompt":{"id":"x"},"models":["dear"]}"#, None);
            assert_eq!(checked.unwrap().unwrap().0, json!({ "tools": [] }), "{wire:?}");
        }
    }

    #[test]
    fn nothing_is_fetched_on_a_child_s_behalf() {
        let picture =
            json!({ "messages": [{ "content": [{ "type": "image", "source": { "type": "url", "url": "https://e/?s=1" } }] }] });
        assert!(gate(Wire::Anthropic, &picture).is_err());
        let inline = json!({ "input": [{ "content": [{ "type": "input_image", "image_url": "data:image/png;base64,AA" }] }] });
        assert_eq!(gate(Wire::Openai, &inline), Ok(()));
        let chat = json!({ "messages": [{ "content": [{ "type": "image_url", "image_url": { "url": "http://e/" } }] }] });
        assert!(gate(Wire::OpenaiChat, &chat).is_err());
        assert!(
            gate(Wire::Gemini, &json!({ "contents": [{ "parts": [{ "fileData": { "fileUri": "https://e/" } }] }] })).is_err()
        );
    }

    #[test]
    fn only_its_own_model_is_asked() {
        let route = Route { rest: "/x".into(), asks: true, model: None };
        assert!(check(Wire::Openai, &route, br#"{"model":"dear"}"#, Some("cheap")).is_err());
        assert!(check(Wire::Openai, &route, br#"{"model":"cheap"}"#, Some("cheap")).is_ok());
    }
}
