//! Requests and answers, held against the swagger that Forgejo publishes.
//!
//! Stricter than the swagger says: a body may have no field that it does not list, in either direction. More lenient where it is
//! wrong about the server: Go writes `null` for what is empty, and failures of the server or the token are not listed.

use fake_forge_base::{Draft, Entry, JsonSchema};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;
use std::sync::{LazyLock, Mutex, PoisonError};

pub struct Contract {
    swagger: Value,
    /// With `null` let in and other fields kept out.
    definitions: Value,
    /// By schema: to make one takes longer than to use it.
    validators: Mutex<BTreeMap<String, JsonSchema>>,
}

static PUBLISHED: LazyLock<Contract> = LazyLock::new(Contract::load);

impl Contract {
    /// Read once for all tests of a program.
    pub fn published() -> &'static Contract {
        &PUBLISHED
    }

    /// Reads the swagger from the sources of the crate that ships it.
    ///
    /// # Panics
    /// When cargo does not know where they are; `cargo fetch` brings them.
    fn load() -> Contract {
        let folder = folder().expect("the sources of `forgejo-api`; run `cargo fetch` once");
        let text = std::fs::read(folder.join("swagger.v1.json")).expect("its swagger");
        let swagger: Value = serde_json::from_slice(&text).expect("JSON");
        let mut definitions = swagger["definitions"].clone();
        for definition in definitions.as_object_mut().into_iter().flat_map(|map| map.values_mut()) {
            tighten(definition);
        }
        Contract { swagger, definitions, validators: Mutex::default() }
    }

    pub fn has_route(&self, path: &str, method: &str) -> bool {
        !self.swagger["paths"][path][method].is_null()
    }

    /// Everything in which these requests and answers differ from what is published.
    pub fn breaches<'a>(&self, entries: impl IntoIterator<Item = &'a Entry>) -> Vec<String> {
        entries.into_iter().flat_map(|entry| self.breaches_of(entry)).collect()
    }

    fn breaches_of(&self, entry: &Entry) -> Vec<String> {
        let Some(path) = entry.path().strip_prefix("/api/v1").filter(|_| !entry.is_git) else { return Vec::new() };
        let line = format!("{} {}", entry.method, entry.target);
        let method = entry.method.to_ascii_lowercase();
        let Some(operation) = self.operation(path, &method) else { return vec![format!("{line}: no such route")] };
        let mut breaches = Vec::new();
        let parameters = operation["parameters"].as_array().cloned().unwrap_or_default();
        let named = |place: &str| parameters.iter().filter(|one| one["in"] == place).cloned().collect::<Vec<_>>();
        let query = entry.target.split_once('?').map_or("", |(_, query)| query);
        for (name, _) in query.split('&').filter_map(|pair| pair.split_once('=')) {
            // Pages may be asked for everywhere, listed or not.
            if !matches!(name, "page" | "limit") && !named("query").iter().any(|one| one["name"] == name) {
                breaches.push(format!("{line}: no parameter {name}"));
            }
        }
        if !entry.request_body.is_empty() {
            match named("body").first() {
                None => breaches.push(format!("{line}: a body where none belongs")),
                Some(one) => breaches.extend(self.misfits(&one["schema"], &entry.request_body, &format!("{line}, sent"))),
            }
        }
        // What every route may answer is written down at none.
        if matches!(entry.status, 301 | 401 | 403 | 500..) {
            return breaches;
        }
        let listed = &operation["responses"][entry.status.to_string()];
        if listed.is_null() {
            breaches.push(format!("{line}: no answer {}", entry.status));
            return breaches;
        }
        let name = listed["$ref"].as_str().and_then(|text| text.strip_prefix("#/responses/")).unwrap_or_default();
        let schema = &self.swagger["responses"][name]["schema"];
        if !schema.is_null() {
            breaches.extend(self.misfits(schema, &entry.answer_body, &format!("{line}, answered")));
        }
        breaches
    }

    /// The route with the most words in common: `issues/comments/7` is not the issue called comments.
    fn operation(&self, path: &str, method: &str) -> Option<&Value> {
        let asked: Vec<&str> = path.split('/').collect();
        let open = |part: &str| part.starts_with('{') && part.ends_with('}') && !part.contains('.');
        let fits = |template: &str| {
            let parts: Vec<&str> = template.split('/').collect();
            let same = |(part, word): (&&str, &&str)| open(part) || part == word;
            (parts.len() == asked.len() && parts.iter().zip(&asked).all(same))
                .then(|| parts.iter().filter(|part| !open(part)).count())
        };
        let paths = self.swagger["paths"].as_object()?;
        let best =
            paths.iter().filter_map(|(path, methods)| Some((fits(path)?, methods.get(method)?))).max_by_key(|(score, _)| *score);
        best.map(|(_, operation)| operation)
    }

    fn misfits(&self, schema: &Value, body: &[u8], what: &str) -> Vec<String> {
        let Ok(value) = serde_json::from_slice::<Value>(body) else { return vec![format!("{what}: no JSON")] };
        let mut validators = self.validators.lock().unwrap_or_else(PoisonError::into_inner);
        let validator = validators.entry(schema.to_string()).or_insert_with(|| {
            let mut root = schema.clone();
            root["definitions"] = self.definitions.clone();
            JsonSchema::new(&root, Draft::V4).expect("a schema")
        });
        validator.misfits(&value).into_iter().map(|misfit| format!("{what}: {misfit}")).collect()
    }
}

/// Where cargo keeps the crate. Its dependency is under a condition that is never true, which `metadata` lists all the same.
fn folder() -> Option<PathBuf> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
    let output = Command::new(cargo).args(["metadata", "--format-version", "1", "--manifest-path", manifest]).output().ok()?;
    let metadata: Value = serde_json::from_slice(&output.stdout).ok()?;
    let package = metadata["packages"].as_array()?.iter().find(|package| package["name"] == "forgejo-api")?;
    Some(PathBuf::from(package["manifest_path"].as_str()?).parent()?.to_owned())
}

fn tighten(definition: &mut Value) {
    let Some(fields) = definition.get_mut("properties").and_then(Value::as_object_mut) else { return };
    let lenient: Map<String, Value> =
        fields.iter().map(|(name, schema)| (name.clone(), json!({ "anyOf": [schema, { "type": "null" }] }))).collect();
    *fields = lenient;
    definition["additionalProperties"] = false.into();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn breaches(method: &str, target: &str, sent: &str, status: u16, answered: &str) -> Vec<String> {
        let entry = Entry {
            method: method.into(),
            target: format!("/api/v1{target}"),
            request_headers: BTreeMap::new(),
            request_body: sent.into(),
            login: None,
            status,
            answer_headers: BTreeMap::new(),
            answer_body: answered.into(),
            is_write: method != "GET",
            is_git: false,
            unknown: false,
        };
        Contract::published().breaches([&entry])
    }

    /// A contract that nothing can break is none.
    #[test]
    fn what_is_not_published_is_a_breach() {
        let reviews = "/repos/a/b/pulls/1/reviews";
        let answer = r#"{"id":1,"state":"COMMENT","team":null}"#;
        assert_eq!(breaches("POST", reviews, r#"{"event":"COMMENT","body":"x"}"#, 200, answer), Vec::<String>::new());
        assert_eq!(breaches("GET", "/repos/a/b/issues/comments/7", "", 200, r#"{"id":7}"#), Vec::<String>::new());
        for (method, target, sent, status, answered, word) in [
            ("POST", reviews, r#"{"event":"COMMENT","verdict":"x"}"#, 200, answer, "sent"),
            ("POST", reviews, r#"{"event":"COMMENT"}"#, 200, r#"{"id":"one"}"#, "answered"),
            ("POST", reviews, r#"{"event":"COMMENT"}"#, 201, answer, "no answer 201"),
            ("GET", "/repos/a/b/pulls?flavour=x", "", 200, "[]", "no parameter flavour"),
            ("POST", "/repos/a/b/pulls/1/update", "{}", 200, "", "a body"),
            ("POST", "/repos/a/b/pulls/comments/1/resolve", "", 204, "", "no such route"),
        ] {
            let found = breaches(method, target, sent, status, answered);
            assert!(found.iter().any(|breach| breach.contains(word)), "{method} {target}: {found:?}");
        }
    }
}
