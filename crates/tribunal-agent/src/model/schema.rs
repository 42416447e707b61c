//! Our schemas in the part of JSON Schema that every vendor understands.
//!
//! Vendors that hold a model to a schema compile it, and refuse what their compiler does not know: `oneOf`, `default`, bounds,
//! references that recurse, properties that may be left out. So references are put in place, every property is required, and one
//! that may be absent may be `null` instead. Where an empty list or the default says "absent" just as well, there is no `null`:
//! Anthropic takes at most 16 properties of more than one type. What [`strict`] gives up, [`validate`] still checks.

mod fit;

pub use fit::validate;

use serde_json::{Map, Value, json};

/// Do lengths, ranges and patterns stay? OpenAI's strict mode and Anthropic refuse some of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bounds {
    Keep,
    Drop,
}

const BOUNDS: [&str; 13] = [
    "minLength",
    "maxLength",
    "pattern",
    "minItems",
    "maxItems",
    "uniqueItems",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minProperties",
    "maxProperties",
];

const DROPPED: [&str; 11] =
    ["$schema", "$id", "$comment", "$defs", "definitions", "title", "default", "format", "examples", "deprecated", "writeOnly"];

/// The schema that a model is held to. Ours are trees; a reference into itself becomes "anything".
pub fn strict(schema: &Value, bounds: Bounds) -> Value {
    Strict { root: schema, bounds }.node(schema, &mut Vec::new())
}

struct Strict<'a> {
    root: &'a Value,
    bounds: Bounds,
}

impl<'a> Strict<'a> {
    fn node(&self, schema: &'a Value, open: &mut Vec<&'a str>) -> Value {
        let Some(object) = schema.as_object() else { return json!({}) };
        if let Some(name) = object.get("$ref").and_then(Value::as_str) {
            let Some(target) = fit::target(self.root, name).filter(|_| !open.contains(&name)) else { return json!({}) };
            open.push(name);
            let inlined = self.node(target, open);
            open.pop();
            return described(inlined, object.get("description"));
        }
        if let Some([only]) = object.get("allOf").and_then(Value::as_array).map(Vec::as_slice) {
            return described(self.node(only, open), object.get("description"));
        }
        let mut made = Map::new();
        for (key, value) in object {
            match key.as_str() {
                "properties" | "required" | "additionalProperties" | "anyOf" | "oneOf" => {}
                "items" => {
                    made.insert(key.clone(), self.node(value, open));
                }
                "const" => {
                    made.insert("enum".into(), json!([value]));
                }
                dropped if DROPPED.contains(&dropped) => {}
                bound if self.bounds == Bounds::Drop && BOUNDS.contains(&bound) => {}
                _ => {
                    made.insert(key.clone(), value.clone());
                }
            }
        }
        if object.get("type").and_then(Value::as_str) == Some("object") || object.contains_key("properties") {
            self.properties(object, &mut made, open);
        }
        match ["anyOf", "oneOf"].iter().find_map(|key| object.get(*key)?.as_array()) {
            Some(branches) => one_of(made, branches.iter().map(|branch| self.node(branch, open)).collect()),
            None => Value::Object(made),
        }
    }

    fn properties(&self, object: &'a Map<String, Value>, made: &mut Map<String, Value>, open: &mut Vec<&'a str>) {
        let required = fit::required(object);
        let mut properties = Map::new();
        for (name, property) in object.get("properties").and_then(Value::as_object).into_iter().flatten() {
            let node = self.node(property, open);
            let needs_null = !required.contains(&name.as_str()) && !says_absent(property, &node);
            properties.insert(name.clone(), if needs_null { nullable(node) } else { node });
        }
        made.insert("required".into(), properties.keys().cloned().collect());
        made.insert("properties".into(), Value::Object(properties));
        made.insert("additionalProperties".into(), false.into());
    }
}

/// Is there a value that means the same as leaving it out?
fn says_absent(property: &Value, node: &Value) -> bool {
    property.get("default").is_some_and(|default| !default.is_null()) || node.get("type").and_then(Value::as_str) == Some("array")
}

/// What a property says about itself is nearer than what its type says.
fn described(mut schema: Value, description: Option<&Value>) -> Value {
    if let (Value::Object(object), Some(description)) = (&mut schema, description) {
        object.insert("description".into(), description.clone());
    }
    schema
}

/// Branches that only name values become one list of values: `anyOf` is left for what differs in kind.
fn one_of(mut made: Map<String, Value>, branches: Vec<Value>) -> Value {
    let (nulls, mut rest): (Vec<Value>, Vec<Value>) = branches.into_iter().partition(|branch| branch["type"] == "null");
    let kind = rest.first().map(|branch| branch["type"].clone()).unwrap_or_default();
    if rest.len() > 1 && rest.iter().all(|branch| branch["enum"].is_array() && branch["type"] == kind) {
        rest = vec![merged(&rest, kind)];
    }
    if nulls.is_empty()
        && let [Value::Object(only)] = rest.as_slice()
    {
        let outer = made.remove("description");
        let inner = only.get("description").cloned();
        made.extend(only.clone());
        let both = [outer, inner].into_iter().flatten().filter_map(|text| text.as_str().map(str::to_owned)).collect::<Vec<_>>();
        if !both.is_empty() {
            made.insert("description".into(), both.join(" ").into());
        }
        return Value::Object(made);
    }
    rest.extend(nulls.into_iter().take(1));
    made.insert("anyOf".into(), rest.into());
    Value::Object(made)
}

fn merged(branches: &[Value], kind: Value) -> Value {
    let values = |branch: &Value| branch["enum"].as_array().cloned().unwrap_or_default();
    let all: Vec<Value> = branches.iter().flat_map(values).collect();
    let explained: Vec<String> = branches
        .iter()
        .filter_map(|branch| Some(format!("{}: {}", values(branch).first()?, branch["description"].as_str()?)))
        .collect();
    let mut merged = json!({ "type": kind, "enum": all });
    if !explained.is_empty() {
        merged["description"] = explained.join(" ").into();
    }
    merged
}

fn takes_null(schema: &Value) -> bool {
    let is_null = |kind: &Value| kind == "null";
    is_null(&schema["type"])
        || schema["type"].as_array().is_some_and(|kinds| kinds.iter().any(is_null))
        || schema["anyOf"].as_array().is_some_and(|branches| branches.iter().any(takes_null))
}

fn nullable(mut schema: Value) -> Value {
    if takes_null(&schema) {
        return schema;
    }
    let Value::Object(object) = &mut schema else { return schema };
    let is_plain = !object.contains_key("enum") && !object.contains_key("properties");
    match object.get("type").cloned() {
        Some(Value::String(kind)) if is_plain => {
            object.insert("type".into(), json!([kind, "null"]));
        }
        Some(Value::Array(mut kinds)) if is_plain => {
            kinds.push("null".into());
            object.insert("type".into(), kinds.into());
        }
        _ => {
            let description = object.remove("description");
            let both = json!({ "anyOf": [Value::Object(std::mem::take(object)), { "type": "null" }] });
            return described(both, description.as_ref());
        }
    }
    schema
}

#[cfg(test)]
mod tests;
