//! What all four wires share in what they send.

use reqwest::Url;
use serde_json::Value;
use std::net::IpAddr;
use tribunal_core::call::{Question, Repair};
use tribunal_core::policy::agents::{Effort, ModelConfig, Structured, Wire};

/// The name under which vendors file our schema.
pub const SCHEMA_NAME: &str = "answer";

/// One HTTP request but for its key, which no pure function gets to see.
#[derive(Debug, PartialEq)]
pub struct Request {
    /// Behind the base address.
    pub path: String,
    pub query: Option<(&'static str, &'static str)>,
    pub headers: Vec<(&'static str, &'static str)>,
    /// The header in which this vendor wants its key.
    pub key_header: &'static str,
    pub body: Value,
}

pub fn output_limit(config: &ModelConfig) -> u64 {
    config.max_output_tokens.unwrap_or(16_000)
}

pub fn structured(config: &ModelConfig) -> Structured {
    config.structured.unwrap_or_default()
}

pub fn effort(effort: Effort) -> &'static str {
    match effort {
        Effort::Low => "low",
        Effort::Medium => "medium",
        Effort::High => "high",
    }
}

/// A model that is not held to the schema has to read it. It stands in the system part, where it is the same for all roles.
pub fn system(config: &ModelConfig, question: &Question) -> String {
    match structured(config) {
        Structured::Schema => question.system.clone(),
        Structured::Json | Structured::Prompt => format!(
            "{}\n\nAnswer with one JSON object and nothing else: no text around it, no code fence. It must fit this JSON Schema:\n{}",
            question.system, question.schema
        ),
    }
}

/// The parts of the user's turn that say something: vendors refuse empty ones.
pub fn parts(question: &Question) -> Vec<&str> {
    [question.shared.as_str(), question.own.as_str()].into_iter().filter(|part| !part.trim().is_empty()).collect()
}

/// What the model said, and what it is told about it.
pub fn repair_turns(repair: &Repair) -> (String, String) {
    let said = if repair.answer.trim().is_empty() { "(nothing)".to_owned() } else { repair.answer.clone() };
    let told = format!(
        "Your answer does not fit the form that was asked for:\n{}\n\nSend the whole answer again with this put right: one JSON object, \
         nothing before it and nothing after it.",
        repair.problem
    );
    (said, told)
}

pub fn base_url(wire: Wire, config: &ModelConfig) -> &str {
    config.base_url.as_deref().unwrap_or(wire.base_url())
}

/// OpenAI's own models, at OpenAI or at Azure? Servers that only speak its language know less of it.
pub fn is_openai(config: &ModelConfig) -> bool {
    let url = Url::parse(base_url(Wire::OpenaiChat, config)).ok();
    url.as_ref().and_then(Url::host_str).is_some_and(|host| host == "api.openai.com" || host.ends_with(".openai.azure.com"))
}

/// The whole address. What a base address carries in its query (Azure's `api-version`) stays.
pub fn address(base: &str, request: &Request) -> Result<Url, String> {
    let mut url = Url::parse(base).map_err(|error| format!("`base_url` is no address: {error}"))?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none_or(str::is_empty) {
        return Err("`base_url` is no http or https address".into());
    }
    let path = format!("{}/{}", url.path().trim_end_matches('/'), request.path);
    url.set_path(&path);
    if let Some((name, value)) = request.query {
        url.query_pairs_mut().append_pair(name, value);
    }
    Ok(url)
}

/// This machine itself: no proxy can reach it for us.
pub fn is_loopback(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    bare == "localhost" || bare.ends_with(".localhost") || bare.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn to(path: &str, query: Option<(&'static str, &'static str)>) -> Request {
        Request { path: path.into(), query, headers: vec![], key_header: "x", body: json!({}) }
    }

    #[test]
    fn addresses_are_joined() {
        let join = |base: &str, request: &Request| address(base, request).map(String::from);
        assert_eq!(join("http://localhost:11434/v1/", &to("messages", None)).unwrap(), "http://localhost:11434/v1/messages");
        assert_eq!(
            join("https://a.example/v1?api-version=2", &to("models/a b?:go", Some(("alt", "sse")))).unwrap(),
            "https://a.example/v1/models/a%20b%3F:go?api-version=2&alt=sse"
        );
        for bad in ["http://", "file:///etc/passwd", "models", "http://:80/v1"] {
            assert!(join(bad, &to("x", None)).is_err(), "{bad}");
        }
    }

    #[test]
    fn openai_is_known_by_its_host() {
        let at = |base: Option<&str>| ModelConfig { base_url: base.map(str::to_owned), ..ModelConfig::default() };
        assert!(is_openai(&at(None)));
        assert!(is_openai(&at(Some("https://api.openai.com/v1/"))));
        assert!(is_openai(&at(Some("https://mine.openai.azure.com/openai/v1"))));
        assert!(!is_openai(&at(Some("https://api.openai.com.evil.example/v1"))));
        assert!(!is_openai(&at(Some("http://127.0.0.1:8080/v1"))));
    }

    #[test]
    fn this_machine_is_known() {
        assert!(["localhost", "127.0.0.1", "127.1.2.3", "[::1]", "model.localhost"].into_iter().all(is_loopback));
        assert!(!["localhost.example.com", "10.0.0.1", "api.openai.com"].into_iter().any(is_loopback));
    }
}
