//! GitHub's description of its REST API, as far as the requests at hand need it.

use fake_forge_base::{Draft, Entry, JsonSchema, Misfit};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::{Mutex, OnceLock};

/// Answers that any route may give and the description does not list for each.
const ANYWHERE: [u16; 13] = [301, 304, 307, 401, 403, 404, 405, 409, 410, 422, 429, 502, 504];

pub struct Description {
    document: Value,
    /// Compiled schemas, by their text: the same few are asked for again and again.
    compiled: Mutex<BTreeMap<String, JsonSchema>>,
}

/// Read once for all tests: it is thirteen megabytes.
pub fn description() -> Option<&'static Description> {
    static READ: OnceLock<Option<Description>> = OnceLock::new();
    let read = || {
        let document = serde_json::from_str(&super::peer("api.github.com.json")?).expect("the description is JSON");
        Some(Description { document, compiled: Mutex::default() })
    };
    READ.get_or_init(read).as_ref()
}

impl Description {
    pub fn check(&self, entry: &Entry) -> Vec<String> {
        let path = entry.path().strip_prefix("/api/v3").unwrap_or_default();
        // What a rename leads to has no description of its own.
        if path.starts_with("/repositories/") {
            return Vec::new();
        }
        let name = format!("{} {path}", entry.method);
        let Some(operation) = self.operation(&entry.method.to_lowercase(), path) else {
            return vec![format!("{name}: no such operation")];
        };
        let mut wrong: Vec<String> = self.request(operation, entry);
        wrong.extend(self.answer(operation, entry));
        wrong.into_iter().map(|words| format!("{name} {}: {words}", entry.status)).collect()
    }

    fn operation(&self, method: &str, path: &str) -> Option<&Value> {
        let parts: Vec<&str> = path.split('/').collect();
        let fits = |template: &str| {
            let wanted: Vec<&str> = template.split('/').collect();
            let same = |(part, wanted): (&&str, &&str)| part == wanted || (wanted.starts_with('{') && !part.is_empty());
            (wanted.len() == parts.len() && parts.iter().zip(&wanted).all(same))
                .then(|| wanted.iter().filter(|part| part.starts_with('{')).count())
        };
        let paths = self.document["paths"].as_object()?;
        // The fewest blanks win: `/issues/comments/{id}` over `/issues/{number}/{x}`.
        let best = paths.iter().filter_map(|(template, item)| Some((fits(template)?, item))).min_by_key(|(blanks, _)| *blanks)?;
        Some(&best.1[method]).filter(|operation| operation.is_object())
    }

    fn resolved<'a>(&'a self, value: &'a Value) -> &'a Value {
        let Some(reference) = value["$ref"].as_str() else { return value };
        self.document.pointer(reference.trim_start_matches('#')).expect("a reference leads somewhere")
    }

    fn request(&self, operation: &Value, entry: &Entry) -> Vec<String> {
        let mut wrong = Vec::new();
        let parameters: Vec<&Value> =
            operation["parameters"].as_array().into_iter().flatten().map(|value| self.resolved(value)).collect();
        let query = entry.target.split_once('?').map_or("", |(_, query)| query);
        for name in query.split('&').filter_map(|pair| pair.split('=').next()).filter(|name| !name.is_empty()) {
            if !parameters.iter().any(|parameter| parameter["name"] == name && parameter["in"] == "query") {
                wrong.push(format!("no parameter `{name}`"));
            }
        }
        let schema = &operation["requestBody"]["content"]["application/json"]["schema"];
        match (entry.request_body.is_empty(), schema.is_object()) {
            (true, _) => {}
            (false, false) => wrong.push("a body where none is expected".into()),
            (false, true) => {
                let body = serde_json::from_slice(&entry.request_body).unwrap_or_default();
                wrong.extend(self.validate(schema, &body, true).into_iter().map(|words| format!("request {words}")));
            }
        }
        wrong
    }

    fn answer(&self, operation: &Value, entry: &Entry) -> Vec<String> {
        let response = self.resolved(&operation["responses"][entry.status.to_string()]);
        if response.is_null() {
            return if ANYWHERE.contains(&entry.status) { Vec::new() } else { vec!["no such status".into()] };
        }
        let schema = &response["content"]["application/json"]["schema"];
        let plain = entry.answer_headers.get("content-type").is_some_and(|kind| !kind.contains("json"));
        if !schema.is_object() || plain {
            return Vec::new();
        }
        let body = serde_json::from_slice(&entry.answer_body).unwrap_or_default();
        self.validate(schema, &body, false).into_iter().map(|words| format!("answer {words}")).collect()
    }

    fn validate(&self, schema: &Value, body: &Value, strict: bool) -> Vec<String> {
        let key = format!("{strict} {schema}");
        let mut compiled = self.compiled.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let validator = compiled.entry(key).or_insert_with(|| {
            let mut needed = Map::new();
            self.gather(schema, &mut needed);
            // A reference takes no neighbours, so the schema stands beside what it refers to.
            let components = json!({ "schemas": plain(&Value::Object(needed), strict) });
            let whole = json!({ "allOf": [plain(schema, strict)], "components": components });
            JsonSchema::new(&whole, Draft::V7).expect("a schema")
        });
        let new = |misfit: &Misfit| !is_known(&misfit.path, body.pointer(&misfit.path));
        validator.misfits(body).into_iter().filter(new).map(|misfit| misfit.to_string()).collect()
    }

    /// The schemas that this one needs, by name.
    fn gather(&self, value: &Value, into: &mut Map<String, Value>) {
        match value {
            Value::Object(entries) => {
                if let Some(name) = entries.get("$ref").and_then(Value::as_str).and_then(|text| text.rsplit('/').next())
                    && !into.contains_key(name)
                {
                    let schema = self.document["components"]["schemas"][name].clone();
                    into.insert(name.to_owned(), schema.clone());
                    self.gather(&schema, into);
                }
                entries.values().for_each(|inner| self.gather(inner, into));
            }
            Value::Array(items) => items.iter().for_each(|inner| self.gather(inner, into)),
            _ => {}
        }
    }
}

/// Where GitHub itself departs from its description: the head of a fork that was deleted, and the line of an outdated comment.
fn is_known(path: &str, instance: Option<&Value>) -> bool {
    instance.is_some_and(Value::is_null) && ["/head/repo", "/head/user", "/line"].iter().any(|end| path.ends_with(end))
}

/// OpenAPI 3.0 says `nullable` where JSON Schema lists a type more. `strict` refuses fields that are not described.
fn plain(value: &Value, strict: bool) -> Value {
    match value {
        Value::Array(items) => Value::Array(items.iter().map(|item| plain(item, strict)).collect()),
        Value::Object(entries) => {
            let skipped =
                |key: &str| matches!(key, "example" | "examples" | "description" | "nullable" | "discriminator" | "format");
            let mut kept: Map<String, Value> = Map::new();
            for (key, inner) in entries {
                // Inside `properties` these are names, not words.
                let is_word = !inner.is_object() || !matches!(key.as_str(), "description" | "format" | "example");
                if !(skipped(key) && is_word) {
                    kept.insert(key.clone(), plain(inner, strict));
                }
            }
            if strict && kept.contains_key("properties") && !kept.contains_key("additionalProperties") {
                kept.insert("additionalProperties".into(), json!(false));
            }
            let whole = Value::Object(kept);
            if entries.get("nullable") == Some(&json!(true)) { json!({ "anyOf": [whole, { "type": "null" }] }) } else { whole }
        }
        other => other.clone(),
    }
}
