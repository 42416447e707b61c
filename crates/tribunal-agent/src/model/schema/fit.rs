//! Does an answer fit? Said in words that a model can mend it by.

use serde_json::{Map, Value};
use tribunal_core::findings::admit::one_line;

/// More than this many problems at once help nobody.
const SHOWN: usize = 3;

/// Reads an answer and checks it against the schema as our types made it. One code fence around the whole is taken off, and so
/// are the `null`s by which a strict schema says "absent"; nothing is guessed out of prose.
pub fn validate(schema: &Value, text: &str) -> Result<Value, String> {
    let mut value: Value = serde_json::from_str(unfenced(text)).map_err(|error| {
        let start: String = text.trim().chars().take(60).collect();
        format!("it is not one JSON value: {error} (it begins `{}`)", one_line(&start))
    })?;
    leave_out_nulls(schema, schema, &mut value);
    let validator = jsonschema::validator_for(schema).map_err(|error| format!("the schema itself is wrong: {error}"))?;
    let mut errors = validator.iter_errors(&value);
    let mut problems: Vec<String> = errors
        .by_ref()
        .take(SHOWN)
        .map(|error| {
            let path = error.instance_path().to_string();
            let place = if path.is_empty() { "the whole answer" } else { path.as_str() };
            format!("- {place}: {}", one_line(&error.to_string()))
        })
        .collect();
    if problems.is_empty() {
        drop(errors);
        return Ok(value);
    }
    if errors.next().is_some() {
        problems.push("- and more".into());
    }
    Err(problems.join("\n"))
}

/// ```` ```json … ``` ````, if that is all there is.
fn unfenced(text: &str) -> &str {
    let text = text.trim();
    let inner = text.strip_prefix("```").and_then(|rest| rest.strip_suffix("```"));
    let Some((language, body)) = inner.and_then(|inner| inner.split_once('\n')) else { return text };
    if language.trim().chars().all(char::is_alphanumeric) { body } else { text }
}

fn leave_out_nulls(root: &Value, schema: &Value, value: &mut Value) {
    let Some(object) = schema.as_object() else { return };
    if let Some(target) = object.get("$ref").and_then(Value::as_str).and_then(|name| target(root, name)) {
        leave_out_nulls(root, target, value);
    }
    for branch in ["anyOf", "oneOf", "allOf"].iter().filter_map(|key| object.get(*key)?.as_array()).flatten() {
        leave_out_nulls(root, branch, value);
    }
    match value {
        Value::Object(fields) => {
            let required = required(object);
            for (name, property) in object.get("properties").and_then(Value::as_object).into_iter().flatten() {
                if fields.get(name).is_some_and(Value::is_null) && !required.contains(&name.as_str()) {
                    fields.remove(name);
                } else if let Some(field) = fields.get_mut(name) {
                    leave_out_nulls(root, property, field);
                }
            }
        }
        Value::Array(items) => {
            if let Some(each) = object.get("items") {
                items.iter_mut().for_each(|item| leave_out_nulls(root, each, item));
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// What a reference inside the schema points at.
pub(super) fn target<'a>(root: &'a Value, reference: &str) -> Option<&'a Value> {
    root.pointer(reference.strip_prefix('#')?)
}

pub(super) fn required(object: &Map<String, Value>) -> Vec<&str> {
    object.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect()
}
