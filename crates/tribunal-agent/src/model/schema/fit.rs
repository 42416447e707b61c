//! Does an answer fit? Said in words that a model can mend it by.

use boon::{Compiler, ErrorKind, SchemaIndex, Schemas, ValidationError};
use serde_json::{Map, Value};
use tribunal_core::findings::admit::one_line;
use tribunal_core::findings::answer::read_answer;

/// More than this many problems at once help nobody.
const SHOWN: usize = 3;
/// What the schema is called while it is compiled; nothing is loaded from there.
const NAME: &str = "memory:///schema.json";

/// Reads an answer and checks it against the schema as our types made it. What a model puts around its JSON is dropped, and so are the
/// `null`s by which a strict schema says "absent".
pub fn validate(schema: &Value, text: &str) -> Result<Value, String> {
    let (mut compiler, mut schemas) = (Compiler::new(), Schemas::new());
    let wrong = |error| format!("the schema itself is wrong: {error:#}");
    compiler.add_resource(NAME, schema.clone()).map_err(wrong)?;
    let root = compiler.compile(NAME, &mut schemas).map_err(wrong)?;
    read_answer(text, |json| {
        let value = serde_json::from_str(json).map_err(|error| error.to_string())?;
        checked(schema, &schemas, root, value)
    })
}

fn checked(schema: &Value, schemas: &Schemas, root: SchemaIndex, mut value: Value) -> Result<Value, String> {
    leave_out_nulls(schema, schema, &mut value);
    let Err(error) = schemas.validate(&value, root) else { return Ok(value) };
    let mut problems = Vec::new();
    collect(&error, &mut problems);
    if problems.len() > SHOWN {
        problems.truncate(SHOWN);
        problems.push("- and more".into());
    }
    Err(problems.join("\n"))
}

/// One line for each problem. Where the schema allows several forms, only the problems of the closest one are listed.
fn collect(error: &ValidationError, into: &mut Vec<String>) {
    if matches!(error.kind, ErrorKind::AnyOf | ErrorKind::OneOf(None)) {
        let nearest = error.causes.iter().rev().max_by_key(|cause| depth(cause));
        if let Some(nearest) = nearest {
            return collect(nearest, into);
        }
    }
    if error.causes.is_empty() {
        let path = error.instance_location.to_string();
        let place = if path.is_empty() { "the whole answer" } else { path.as_str() };
        into.push(format!("- {place}: {}", one_line(&error.kind.to_string())));
    }
    error.causes.iter().for_each(|cause| collect(cause, into));
}

/// How far into the value something is wrong.
fn depth(error: &ValidationError) -> usize {
    error.causes.iter().map(depth).max().unwrap_or(error.instance_location.tokens.len())
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
