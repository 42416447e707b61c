//! JSON schemas from both sides: what a vendor would refuse, and an answer bent into the shape that was asked for.
//!
//! The fake model must not know Tribunal's schema by heart: it follows whatever the request carries, as a real one under constrained
//! decoding does.

use crate::wire::Wire;
use serde_json::{Map, Value, json};

/// Why the vendor would answer 400 to this schema.
pub fn complaint(wire: Wire, schema: &Value, strict: bool) -> Option<String> {
    match wire {
        Wire::Anthropic => {
            let open = open_object(schema)
                .map(|_| "For 'object' type, 'additionalProperties' must be explicitly set to false".to_owned());
            open.or_else(|| limited(schema)).map(|why| format!("output_config.format.schema: {why}"))
        }
        Wire::Responses | Wire::Chat if strict => {
            let field = if wire == Wire::Chat { "response_format" } else { "text.format.schema" };
            if schema["type"] != "object" {
                return Some(format!("Invalid schema for {field}: schema must be a JSON Schema of 'type: \"object\"'."));
            }
            if open_object(schema).is_some() {
                return Some(format!(
                    "Invalid schema for {field}: 'additionalProperties' is required to be supplied and to be false."
                ));
            }
            optional_property(schema).map(|name| {
                format!(
                    "Invalid schema for {field}: 'required' is required to be supplied and to be an array including every key in properties. Missing '{name}'."
                )
            })
        }
        Wire::Responses | Wire::Chat | Wire::Gemini => None,
    }
}

fn is_object(schema: &Value) -> bool {
    types(schema).iter().any(|kind| kind == "object")
}

fn open_object(schema: &Value) -> Option<&Value> {
    find(schema, &|schema| is_object(schema) && schema["additionalProperties"] != false)
}

/// Anthropic takes no bounds on values, lengths and numbers of items; a bound must be checked on the caller's side.
fn limited(schema: &Value) -> Option<String> {
    const BOUNDS: [(&str, &[&str]); 4] = [
        ("integer", &["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]),
        ("number", &["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]),
        ("string", &["minLength", "maxLength"]),
        ("array", &["maxItems", "uniqueItems"]),
    ];
    let bound = |schema: &Value| {
        let kinds = types(schema);
        let here = BOUNDS.iter().filter(|(kind, _)| kinds.iter().any(|known| known == kind));
        let mut named = here.flat_map(|(kind, names)| names.iter().map(move |name| (*kind, *name)));
        named.find(|(_, name)| schema.get(name).is_some())
    };
    let (kind, name) = find(schema, &|schema| bound(schema).is_some()).and_then(bound)?;
    Some(format!("For '{kind}' type, property '{name}' is not supported"))
}

fn optional_property(schema: &Value) -> Option<String> {
    let missing = |schema: &Value| -> Option<String> {
        let required = schema["required"].as_array().cloned().unwrap_or_default();
        schema["properties"].as_object()?.keys().find(|name| !required.contains(&json!(name))).cloned()
    };
    find(schema, &|schema| missing(schema).is_some()).and_then(missing)
}

/// The first schema in the tree that the test holds for. Only places where schemas stand are walked, so property names cannot mislead.
fn find<'a>(schema: &'a Value, test: &dyn Fn(&Value) -> bool) -> Option<&'a Value> {
    if test(schema) {
        return Some(schema);
    }
    let maps = ["properties", "$defs", "definitions"].into_iter().filter_map(|name| schema.get(name)?.as_object());
    let lists = ["anyOf", "oneOf", "allOf"].into_iter().filter_map(|name| schema.get(name)?.as_array());
    maps.flat_map(|map| map.values())
        .chain(lists.flatten())
        .chain(schema.get("items").filter(|items| items.is_object()))
        .find_map(|inner| find(inner, test))
}

/// Lower-case type names; Gemini's own dialect writes them in capitals.
fn types(schema: &Value) -> Vec<String> {
    let mut names: Vec<String> = match &schema["type"] {
        Value::String(name) => vec![name.to_ascii_lowercase()],
        Value::Array(names) => names.iter().filter_map(Value::as_str).map(str::to_ascii_lowercase).collect(),
        _ if schema.get("properties").is_some() => vec!["object".into()],
        _ => Vec::new(),
    };
    if schema["nullable"] == true {
        names.push("null".into());
    }
    names
}

/// The value in the schema's shape: unknown fields go, required ones that are missing come in as empty as the schema lets them.
pub fn conform(value: Value, schema: &Value) -> Value {
    shape(value, schema, schema, 0)
}

fn shape(value: Value, schema: &Value, root: &Value, depth: usize) -> Value {
    if depth > 40 {
        return value;
    }
    if let Some(path) = schema["$ref"].as_str() {
        let target = path.strip_prefix('#').and_then(|path| root.pointer(path));
        return target.map_or(value.clone(), |target| shape(value, target, root, depth + 1));
    }
    for name in ["anyOf", "oneOf", "allOf"] {
        if let Some(options) = schema.get(name).and_then(Value::as_array) {
            let chosen = options.iter().find(|option| fits(&value, option, root)).or(options.first());
            return chosen.map_or(value.clone(), |option| shape(value, option, root, depth + 1));
        }
    }
    if let Some(fixed) = schema.get("const") {
        return fixed.clone();
    }
    if let Some(choices) = schema.get("enum").and_then(Value::as_array) {
        return if choices.contains(&value) { value } else { choices.first().cloned().unwrap_or_default() };
    }
    let kinds = types(schema);
    let allows = |kind: &str| kinds.is_empty() || kinds.iter().any(|known| known == kind);
    match value {
        Value::Null if allows("null") => Value::Null,
        Value::Object(map) if allows("object") => object(map, schema, root, depth),
        Value::Array(items) if allows("array") => array(items, schema, root, depth),
        Value::String(text) if allows("string") => {
            let most = schema["maxLength"].as_u64().map_or(usize::MAX, |most| most as usize);
            Value::from(text.chars().take(most).collect::<String>())
        }
        Value::Bool(_) if allows("boolean") => value,
        Value::Number(_) if allows("number") || allows("integer") => value,
        _ => match kinds.first().map(String::as_str) {
            Some("object") => object(Map::new(), schema, root, depth),
            Some("array") => json!([]),
            Some("string") => json!(""),
            Some("boolean") => json!(false),
            Some("integer" | "number") => schema.get("minimum").cloned().unwrap_or(json!(0)),
            _ => Value::Null,
        },
    }
}

fn fits(value: &Value, option: &Value, root: &Value) -> bool {
    if let Some(path) = option["$ref"].as_str() {
        return path.strip_prefix('#').and_then(|path| root.pointer(path)).is_some_and(|target| fits(value, target, root));
    }
    if let Some(fixed) = option.get("const") {
        return fixed == value;
    }
    if let Some(choices) = option.get("enum").and_then(Value::as_array) {
        return choices.contains(value);
    }
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    types(option).iter().any(|known| known == kind || (kind == "number" && known == "integer"))
}

fn object(mut map: Map<String, Value>, schema: &Value, root: &Value, depth: usize) -> Value {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return Value::Object(map) };
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    let mut shaped = Map::new();
    for (name, inner) in properties {
        match map.remove(name) {
            Some(value) => shaped.insert(name.clone(), shape(value, inner, root, depth + 1)),
            None if required.contains(&json!(name)) => shaped.insert(name.clone(), shape(Value::Null, inner, root, depth + 1)),
            None => None,
        };
    }
    Value::Object(shaped)
}

fn array(items: Vec<Value>, schema: &Value, root: &Value, depth: usize) -> Value {
    let most = schema["maxItems"].as_u64().map_or(usize::MAX, |most| most as usize);
    let inner = schema.get("items").unwrap_or(&Value::Null);
    items.into_iter().take(most).map(|item| if inner.is_object() { shape(item, inner, root, depth + 1) } else { item }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_takes_the_shape_that_was_asked_for() {
        let schema = json!({
            "type": "object", "required": ["findings", "lens", "note"], "additionalProperties": false,
            "properties": {
                "findings": { "type": "array", "items": { "$ref": "#/$defs/finding" } },
                "lens": { "enum": ["a", "b"] },
                "note": { "anyOf": [{ "type": "string" }, { "type": "null" }] },
            },
            "$defs": { "finding": { "type": "object", "required": ["file"], "properties": { "file": { "type": "string", "maxLength": 3 } } } },
        });
        let given = json!({ "findings": [{ "file": "abcdef", "extra": 1 }], "other": 2 });
        assert_eq!(conform(given, &schema), json!({ "findings": [{ "file": "abc" }], "lens": "a", "note": null }));
    }

    #[test]
    fn strict_mode_wants_closed_objects_with_every_property_required() {
        let open = json!({ "type": "object", "properties": { "a": { "type": "string" } }, "required": ["a"] });
        assert!(complaint(Wire::Chat, &open, true).unwrap().contains("additionalProperties"));
        assert!(complaint(Wire::Anthropic, &open, true).is_some() && complaint(Wire::Chat, &open, false).is_none());
        let optional = json!({ "type": "object", "properties": { "a": { "type": "string" } }, "additionalProperties": false });
        assert!(complaint(Wire::Responses, &optional, true).unwrap().contains("Missing 'a'"));
        assert!(complaint(Wire::Gemini, &open, true).is_none());
        let bounded = json!({ "type": "array", "items": { "type": ["string", "null"], "maxLength": 9 } });
        assert!(
            complaint(Wire::Anthropic, &bounded, true)
                .unwrap()
                .ends_with("For 'string' type, property 'maxLength' is not supported")
        );
    }
}
