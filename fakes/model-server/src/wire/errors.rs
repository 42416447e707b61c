//! Errors before the stream begins, in each vendor's words.
//!
//! Clients tell a retry from a dead end by these bodies, so the same status means different things here: a 429 may be a busy minute or
//! an empty account, and Gemini calls a bad key a bad argument.

use super::Wire;
use serde_json::{Value, json};

/// What went wrong, before a vendor has named it.
#[derive(Debug, Clone, PartialEq)]
pub enum Problem {
    Status(u16),
    /// The account is out of money.
    Money,
    /// A spending cap or a daily quota: no retry helps today.
    SpendLimit,
    /// The vendor's own answer to a key it does not know.
    BadKey,
    PromptTooLong,
    /// The request is not understood; the words say why.
    Invalid(String),
    NoSuchModel(String),
    NoSuchPath(String),
    BadMethod,
}

/// A vendor's error as it goes out.
#[derive(Debug, Clone, PartialEq)]
pub struct Refusal {
    pub status: u16,
    pub body: Value,
}

/// `retry_after` matters to Gemini alone, which tells it in the body; for the others it is a header.
pub fn refusal(wire: Wire, problem: &Problem, message: Option<&str>, retry_after: Option<u64>, id: &str) -> Refusal {
    match wire {
        Wire::Anthropic => anthropic(problem, message, id),
        Wire::Responses | Wire::Chat => openai(problem, message),
        Wire::Gemini => gemini(problem, message, retry_after),
    }
}

fn anthropic(problem: &Problem, message: Option<&str>, id: &str) -> Refusal {
    const INVALID: &str = "invalid_request_error";
    let poor = "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.";
    let capped = "You have reached your specified API usage limits. You will regain access on the first day of next month.";
    let (status, kind, words): (u16, &str, &str) = match problem {
        Problem::Money => (400, INVALID, poor),
        Problem::SpendLimit => (429, "rate_limit_error", capped),
        Problem::BadKey => (401, "authentication_error", "invalid x-api-key"),
        Problem::PromptTooLong => (400, INVALID, "prompt is too long: 208310 tokens > 200000 maximum"),
        Problem::Invalid(why) => (400, INVALID, why),
        Problem::NoSuchModel(model) => (404, "not_found_error", &format!("model: {model}")),
        Problem::NoSuchPath(_) => (404, "not_found_error", "Not Found"),
        Problem::BadMethod => (405, INVALID, "Method Not Allowed"),
        Problem::Status(code) => match code {
            400 => (400, INVALID, "messages: at least one message is required"),
            401 => (401, "authentication_error", "invalid x-api-key"),
            402 => (402, "billing_error", "Your account has a billing issue. Please check your payment details."),
            403 => (403, "permission_error", "Your API key does not have permission to use the specified resource."),
            404 => (404, "not_found_error", "The requested resource could not be found."),
            413 => (413, "request_too_large", "Request exceeds the maximum size"),
            429 => (429, "rate_limit_error", "This request would exceed your organization's rate limit."),
            504 => (504, "timeout_error", "The request timed out while processing."),
            529 => (529, "overloaded_error", "Overloaded"),
            other => (*other, "api_error", "Internal server error"),
        },
    };
    let mut error = json!({ "type": kind, "message": message.unwrap_or(words) });
    // Looks like any busy minute but for this code.
    if *problem == Problem::SpendLimit {
        error["details"] = json!({ "error_code": "enforced_spend_limit_reached" });
    }
    Refusal { status, body: json!({ "type": "error", "error": error, "request_id": format!("req_{id}") }) }
}

fn openai(problem: &Problem, message: Option<&str>) -> Refusal {
    const INVALID: &str = "invalid_request_error";
    let broke = "You exceeded your current quota, please check your plan and billing details.";
    let capped = "Billing hard limit has been reached";
    let bad_key = "Incorrect API key provided. You can find your API key at https://platform.openai.com/account/api-keys.";
    let too_long = "Your input exceeds the context window of this model. Please adjust your input and try again.";
    let overloaded = "The server is currently overloaded with other requests. Please try again later.";
    let (status, kind, code, words): (u16, &str, Option<&str>, &str) = match problem {
        Problem::Money => (429, "insufficient_quota", Some("insufficient_quota"), broke),
        Problem::SpendLimit => (429, "insufficient_quota", Some("billing_hard_limit_reached"), capped),
        Problem::BadKey => (401, INVALID, Some("invalid_api_key"), bad_key),
        Problem::PromptTooLong => (400, INVALID, Some("context_length_exceeded"), too_long),
        Problem::Invalid(why) => (400, INVALID, None, why),
        Problem::NoSuchModel(model) => (
            404,
            INVALID,
            Some("model_not_found"),
            &format!("The model `{model}` does not exist or you do not have access to it."),
        ),
        Problem::NoSuchPath(path) => (404, INVALID, None, &format!("Invalid URL ({path})")),
        Problem::BadMethod => (405, INVALID, Some("method_not_supported"), "Not allowed on this path"),
        Problem::Status(status) => match status {
            400 => (400, INVALID, None, "Invalid request"),
            401 => (401, INVALID, Some("invalid_api_key"), bad_key),
            402 => (402, "insufficient_quota", Some("credit_balance_exhausted"), broke),
            403 => (403, INVALID, None, "You are not allowed to use this model."),
            404 => (404, INVALID, Some("model_not_found"), "The model does not exist."),
            413 => (413, INVALID, None, "Request body too large"),
            429 => (429, "requests", Some("rate_limit_exceeded"), "Rate limit reached for requests per min (RPM)."),
            503 | 529 => (*status, "server_error", Some("server_is_overloaded"), overloaded),
            other => (*other, "server_error", None, "The server had an error while processing your request."),
        },
    };
    let error = json!({ "message": message.unwrap_or(words), "type": kind, "param": null, "code": code });
    Refusal { status, body: json!({ "error": error }) }
}

const GOOGLE: &str = "type.googleapis.com/google.rpc";

fn quota(id: &str, value: &str) -> Value {
    let metric = "generativelanguage.googleapis.com/generate_content_requests";
    json!({
        "@type": format!("{GOOGLE}.QuotaFailure"),
        "violations": [{ "quotaMetric": metric, "quotaId": id, "quotaValue": value }],
    })
}

fn gemini(problem: &Problem, message: Option<&str>, retry_after: Option<u64>) -> Refusal {
    const INVALID: &str = "INVALID_ARGUMENT";
    const EXHAUSTED: &str = "RESOURCE_EXHAUSTED";
    const DAY: &str = "GenerateRequestsPerDayPerProjectPerModel";
    let spent = "You exceeded your current quota, please check your plan and billing details.";
    let too_long = "The input token count (1200310) exceeds the maximum number of tokens allowed (1048576).";
    let bad_key = || {
        json!({
            "@type": format!("{GOOGLE}.ErrorInfo"), "reason": "API_KEY_INVALID", "domain": "googleapis.com",
            "metadata": { "service": "generativelanguage.googleapis.com" },
        })
    };
    let (status, name, words, detail): (u16, &str, &str, Option<Value>) = match problem {
        Problem::Money => (429, EXHAUSTED, &format!("{spent} limit: 0"), Some(quota(&format!("{DAY}-FreeTier"), "0"))),
        Problem::SpendLimit => (429, EXHAUSTED, &format!("{spent} limit: 250"), Some(quota(DAY, "250"))),
        Problem::BadKey => (400, INVALID, "API key not valid. Please pass a valid API key.", Some(bad_key())),
        Problem::PromptTooLong => (400, INVALID, too_long, None),
        Problem::Invalid(why) => (400, INVALID, why, None),
        Problem::NoSuchModel(model) => {
            (404, "NOT_FOUND", &format!("models/{model} is not found for API version v1beta, or is not supported."), None)
        }
        Problem::NoSuchPath(path) => (404, "NOT_FOUND", &format!("The requested URL {path} was not found on this server."), None),
        Problem::BadMethod => (405, "UNIMPLEMENTED", "Method not allowed", None),
        Problem::Status(code) => match code {
            400 => (400, INVALID, "Request contains an invalid argument.", None),
            401 => (401, "UNAUTHENTICATED", "Request had invalid authentication credentials.", None),
            403 => (403, "PERMISSION_DENIED", "The caller does not have permission", None),
            404 => (404, "NOT_FOUND", "Requested entity was not found.", None),
            413 => (413, INVALID, "Request payload size exceeds the limit: 20971520 bytes.", None),
            429 => (429, EXHAUSTED, spent, Some(quota("GenerateRequestsPerMinutePerProjectPerModel", "10"))),
            500 => (500, "INTERNAL", "An internal error has occurred. Please retry.", None),
            503 | 529 => (*code, "UNAVAILABLE", "The model is overloaded. Please try again later.", None),
            504 => (504, "DEADLINE_EXCEEDED", "Deadline expired before operation could complete.", None),
            other => (*other, "UNKNOWN", "Unknown error.", None),
        },
    };
    let retry = retry_after.map(|seconds| json!({ "@type": format!("{GOOGLE}.RetryInfo"), "retryDelay": format!("{seconds}s") }));
    let details: Vec<Value> = detail.into_iter().chain(retry).collect();
    let mut error = json!({ "code": status, "message": message.unwrap_or(words), "status": name });
    if !details.is_empty() {
        error["details"] = Value::from(details);
    }
    Refusal { status, body: json!({ "error": error }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_trouble_has_three_faces() {
        let money = |wire| refusal(wire, &Problem::Money, None, None, "1");
        assert_eq!(money(Wire::Anthropic).status, 400);
        assert_eq!(money(Wire::Chat).body["error"]["code"], "insufficient_quota");
        assert_eq!(money(Wire::Gemini).body["error"]["status"], "RESOURCE_EXHAUSTED");
        let busy = refusal(Wire::Gemini, &Problem::Status(429), None, Some(39), "1");
        assert_eq!(busy.body.pointer("/error/details/1/retryDelay").and_then(Value::as_str), Some("39s"));
    }
}
