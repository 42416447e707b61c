//! Which path means what. Paths match by their end, so that gateways with a prefix of their own work too.

use crate::wire::Wire;
use hyper::Method;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Route {
    Generate {
        wire: Wire,
        /// The path's, on Gemini.
        model: Option<String>,
        framing: Framing,
    },
    CountTokens {
        wire: Wire,
        model: Option<String>,
    },
    Embeddings,
    Models(Wire),
    Model(Wire, String),
    /// Codex tries a socket on the Responses path before it settles for HTTP.
    Socket,
    /// What a caller may poke at to see whether anyone is home.
    Home,
    /// The server's own: record, sums, script.
    Own(Own),
    BadMethod(Wire),
    Unknown(Wire),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Own {
    Requests,
    Accounting,
    Script,
}

/// How a stream is asked for and framed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// The body's `stream` decides; events are server-sent.
    ByBody,
    Whole,
    Events,
    /// Gemini without `alt=sse`: one JSON array, element by element.
    Array,
}

/// `shared` is whose headers the request has, which decides where vendors share a path.
pub fn route(method: &Method, path: &str, query: &str, shared: Wire) -> Route {
    let post = method == Method::POST;
    let generate = |wire| {
        if post { Route::Generate { wire, model: None, framing: Framing::ByBody } } else { Route::BadMethod(wire) }
    };
    let count = |wire| if post { Route::CountTokens { wire, model: None } } else { Route::BadMethod(wire) };
    match path {
        "/" => return Route::Home,
        "/_fake/requests" => return Route::Own(Own::Requests),
        "/_fake/accounting" => return Route::Own(Own::Accounting),
        "/_fake/script" => return Route::Own(Own::Script),
        _ => {}
    }
    if path.ends_with("/messages/count_tokens") {
        count(Wire::Anthropic)
    } else if path.ends_with("/responses/input_tokens") {
        count(Wire::Responses)
    } else if path.ends_with("/messages") {
        generate(Wire::Anthropic)
    } else if path.ends_with("/embeddings") {
        if post { Route::Embeddings } else { Route::BadMethod(Wire::Chat) }
    } else if path.ends_with("/chat/completions") {
        generate(Wire::Chat)
    } else if path.ends_with("/responses") {
        if method == Method::GET { Route::Socket } else { generate(Wire::Responses) }
    } else {
        models(method, path, query, shared)
    }
}

fn models(method: &Method, path: &str, query: &str, shared: Wire) -> Route {
    let vendor = if path.starts_with("/v1beta") || path.contains(':') { Wire::Gemini } else { shared };
    let Some((_, name)) = path.rsplit_once("/models") else { return Route::Unknown(vendor) };
    let Some(name) = name.strip_prefix('/').filter(|name| !name.is_empty()) else { return Route::Models(vendor) };
    let Some((model, verb)) = name.split_once(':') else { return Route::Model(vendor, name.to_owned()) };
    if method != Method::POST {
        return Route::BadMethod(Wire::Gemini);
    }
    let model = Some(model.to_owned());
    let framing = match verb {
        "countTokens" => return Route::CountTokens { wire: Wire::Gemini, model },
        "generateContent" => Framing::Whole,
        "streamGenerateContent" if query.split('&').any(|pair| pair == "alt=sse") => Framing::Events,
        "streamGenerateContent" => Framing::Array,
        _ => return Route::Unknown(Wire::Gemini),
    };
    Route::Generate { wire: Wire::Gemini, model, framing }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_find_their_vendor() {
        let post = |path: &str, query: &str| route(&Method::POST, path, query, Wire::Chat);
        let by_body = |wire| Route::Generate { wire, model: None, framing: Framing::ByBody };
        assert_eq!(post("/v1/messages", "beta=true"), by_body(Wire::Anthropic));
        assert_eq!(post("/openai/deployments/x/chat/completions", ""), by_body(Wire::Chat));
        assert_eq!(post("/v1/responses", ""), by_body(Wire::Responses));
        assert_eq!(route(&Method::GET, "/v1/responses", "", Wire::Chat), Route::Socket);
        let gemini = |framing| Route::Generate { wire: Wire::Gemini, model: Some("g".into()), framing };
        assert_eq!(post("/v1beta/models/g:generateContent", ""), gemini(Framing::Whole));
        assert_eq!(post("/v1beta/models/g:streamGenerateContent", "alt=sse"), gemini(Framing::Events));
        assert_eq!(post("/v1beta/models/g:streamGenerateContent", ""), gemini(Framing::Array));
        assert_eq!(route(&Method::GET, "/v1/models", "", Wire::Anthropic), Route::Models(Wire::Anthropic));
        assert_eq!(route(&Method::GET, "/v1/models/m", "", Wire::Chat), Route::Model(Wire::Chat, "m".into()));
        assert_eq!(post("/v1beta/nothing", ""), Route::Unknown(Wire::Gemini));
    }
}
