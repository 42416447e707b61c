//! The requests that each kind of API needs, and no others.

use hyper::Method;
use tribunal_core::policy::agents::Wire;

/// A request that may go out: what is appended to the base URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    pub rest: String,
    /// Whether it has a body.
    pub asks: bool,
    /// Whether the vendor charges for it: counting tokens is free.
    pub costs: bool,
    /// The model, where the path names it.
    pub model: Option<String>,
}

/// Parts of a query that mean something; the rest, a `key` for instance, is left behind.
const QUERY: [(&str, &str); 2] = [("alt", "sse"), ("beta", "true")];

pub fn find(wire: Wire, method: &Method, path: &str, query: Option<&str>) -> Option<Route> {
    let version = match wire {
        Wire::Gemini => "/v1beta/",
        Wire::Anthropic | Wire::Openai | Wire::OpenaiChat => "/v1/",
    };
    let rest = path.strip_prefix(version)?;
    let is_post = *method == Method::POST;
    let model = match wire {
        Wire::Anthropic if is_post && matches!(rest, "messages" | "messages/count_tokens") => None,
        Wire::Openai if is_post && rest == "responses" => None,
        Wire::OpenaiChat if is_post && rest == "chat/completions" => None,
        Wire::Gemini if is_post => {
            let (model, call) = rest.strip_prefix("models/")?.split_once(':')?;
            let known = matches!(call, "generateContent" | "streamGenerateContent" | "countTokens");
            Some((known && is_name(model)).then(|| model.to_owned())?)
        }
        _ if *method == Method::GET && rest == "models" => None,
        _ => return None,
    };
    let kept: Vec<String> = query
        .unwrap_or_default()
        .split('&')
        .filter(|part| part.split_once('=').is_some_and(|part| QUERY.contains(&part)))
        .map(str::to_owned)
        .collect();
    let query = if kept.is_empty() { String::new() } else { format!("?{}", kept.join("&")) };
    let is_count = rest == "messages/count_tokens" || rest.ends_with(":countTokens");
    Some(Route { rest: format!("/{rest}{query}"), asks: is_post, costs: is_post && !is_count, model })
}

fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_'))
        && text != ".."
}

#[cfg(test)]
mod tests {
    use super::*;

    fn goes(wire: Wire, method: Method, path: &str, query: &str) -> Option<String> {
        find(wire, &method, path, Some(query)).map(|route| route.rest)
    }

    #[test]
    fn each_api_has_its_own_requests() {
        assert_eq!(goes(Wire::Anthropic, Method::POST, "/v1/messages", "beta=true&key=x"), Some("/messages?beta=true".into()));
        assert_eq!(goes(Wire::Openai, Method::POST, "/v1/responses", ""), Some("/responses".into()));
        let gemini = goes(Wire::Gemini, Method::POST, "/v1beta/models/gemini-3.8-flash:streamGenerateContent", "alt=sse");
        assert_eq!(gemini, Some("/models/gemini-3.8-flash:streamGenerateContent?alt=sse".into()));
        assert_eq!(goes(Wire::OpenaiChat, Method::GET, "/v1/models", ""), Some("/models".into()));
    }

    #[test]
    fn counting_is_free() {
        let costs = |wire, path| find(wire, &Method::POST, path, None).unwrap().costs;
        assert!(costs(Wire::Anthropic, "/v1/messages") && !costs(Wire::Anthropic, "/v1/messages/count_tokens"));
        assert!(costs(Wire::Gemini, "/v1beta/models/m:generateContent") && !costs(Wire::Gemini, "/v1beta/models/m:countTokens"));
        assert!(!find(Wire::Openai, &Method::GET, "/v1/models", None).unwrap().costs);
    }

    #[test]
    fn nothing_else_goes_out() {
        for path in ["/v1/files", "/v1/messages/../files", "/v1/messages/batches", "/v1/organizations", "//evil/v1/messages", "/"]
        {
            assert_eq!(goes(Wire::Anthropic, Method::POST, path, ""), None, "{path}");
        }
        assert_eq!(goes(Wire::Anthropic, Method::DELETE, "/v1/messages", ""), None);
        assert_eq!(goes(Wire::Anthropic, Method::POST, "/v1/responses", ""), None);
        assert_eq!(goes(Wire::Gemini, Method::POST, "/v1beta/models/../files:generateContent", ""), None);
        assert_eq!(goes(Wire::Gemini, Method::POST, "/v1beta/models/m:batchGenerateContent", ""), None);
    }
}
