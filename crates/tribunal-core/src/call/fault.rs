//! How a call can go wrong, told apart by what helps: waiting, asking again, another agent, or a person.

use serde_json::Value;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    #[error("the key was refused: {message}")]
    Credentials { message: String },
    #[error("the request was refused (HTTP {status}): {message}")]
    BadRequest { status: u16, message: String },
    #[error("the prompt is too long for this model: {message}")]
    TooLong { message: String },
    /// The model declined to answer.
    #[error("the model declined: {message}")]
    Refusal { message: String },
    /// Money or a daily allowance is used up: asking again only costs more time.
    #[error("its quota is used up: {message}")]
    OutOfQuota { retry_after: Option<u64>, message: String },
    /// Rate limits, overload, failing servers: asking again may help.
    #[error("it is busy or failing (HTTP {status}): {message}")]
    Busy { status: u16, retry_after: Option<u64>, message: String },
    #[error("it cannot be reached: {message}")]
    Unreachable { message: String },
    #[error("no first byte within {seconds} s")]
    NoFirstByte { seconds: u64 },
    #[error("its answer stopped for {seconds} s")]
    Stalled { seconds: u64 },
    #[error("no whole answer within {seconds} s")]
    OutOfTime { seconds: u64 },
    #[error("its answer broke off: {message}")]
    CutOff { message: String },
    #[error("its answer hit the limit of {limit} output tokens")]
    Truncated { limit: u64 },
    #[error("it wrote more than {mebibytes} MiB")]
    Endless { mebibytes: u64 },
    /// Not what this kind of server says.
    #[error("its answer makes no sense: {message}")]
    Nonsense { message: String },
}

/// What a seat may do about a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remedy {
    /// Ask again after this many milliseconds.
    Retry { after: u64 },
    /// Nothing this run can do; the same command may succeed later.
    Later { seconds: Option<u64> },
    /// Nothing helps but a person or another agent.
    Fail,
}

pub const MAX_RETRIES: u32 = 2;
/// A server that wants a longer pause is not waited for.
const LONGEST_PAUSE: u64 = 60;

impl Fault {
    /// From an answer that is not a success. `retry_after` is the header, in seconds or as the vendor writes it.
    pub fn from_response(status: u16, retry_after: Option<&str>, body: &str) -> Fault {
        let parsed: Value = serde_json::from_str(body).unwrap_or(Value::Null);
        let parsed = if let Value::Array(mut items) = parsed { items.drain(..).next().unwrap_or(Value::Null) } else { parsed };
        let error = parsed.get("error").unwrap_or(&parsed);
        let message = error.get("message").and_then(Value::as_str).or_else(|| error.as_str()).unwrap_or(body);
        let message = short(message, status);
        let retry_after = retry_after.and_then(seconds).or_else(|| retry_info(error));
        let signs = signs(error);
        let has = |words: &[&str]| words.iter().any(|word| signs.contains(word));
        if status == 402
            || has(&MONEY)
            || (status == 429 && (signs.contains("per day") || signs.contains("perday") || signs.contains("limit: 0")))
        {
            return Fault::OutOfQuota { retry_after, message };
        }
        match status {
            401 | 403 => Fault::Credentials { message },
            400 if has(&BAD_KEY) => Fault::Credentials { message },
            413 => Fault::TooLong { message },
            400 | 422 | 500 if has(&TOO_LONG) => Fault::TooLong { message },
            408 | 409 | 425 | 429 => Fault::Busy { status, retry_after, message },
            500.. => Fault::Busy { status, retry_after, message },
            _ => Fault::BadRequest { status, message },
        }
    }

    /// Whether a server may have worked before it failed, and so may charge for it.
    pub fn may_be_billed(&self) -> bool {
        match self {
            Fault::Credentials { .. }
            | Fault::BadRequest { .. }
            | Fault::TooLong { .. }
            | Fault::OutOfQuota { .. }
            | Fault::Busy { .. }
            | Fault::Unreachable { .. } => false,
            Fault::Refusal { .. }
            | Fault::NoFirstByte { .. }
            | Fault::Stalled { .. }
            | Fault::OutOfTime { .. }
            | Fault::CutOff { .. }
            | Fault::Truncated { .. }
            | Fault::Endless { .. }
            | Fault::Nonsense { .. } => true,
        }
    }

    /// `attempt` counts from 0; `jitter` is any number, so that several callers do not come back together.
    pub fn remedy(&self, attempt: u32, jitter: u64) -> Remedy {
        match self {
            Fault::Busy { retry_after, .. } => match retry_after {
                Some(seconds) if *seconds > LONGEST_PAUSE => Remedy::Later { seconds: Some(*seconds) },
                _ if attempt >= MAX_RETRIES => Remedy::Later { seconds: *retry_after },
                _ => Remedy::Retry { after: pause(attempt, *retry_after, jitter) },
            },
            Fault::Unreachable { .. } if attempt < MAX_RETRIES => Remedy::Retry { after: pause(attempt, None, jitter) },
            Fault::Unreachable { .. } => Remedy::Later { seconds: None },
            Fault::CutOff { .. } if attempt < 1 => Remedy::Retry { after: pause(attempt, None, jitter) },
            Fault::OutOfQuota { retry_after, .. } => Remedy::Later { seconds: *retry_after },
            Fault::Credentials { .. }
            | Fault::BadRequest { .. }
            | Fault::TooLong { .. }
            | Fault::Refusal { .. }
            | Fault::NoFirstByte { .. }
            | Fault::Stalled { .. }
            | Fault::OutOfTime { .. }
            | Fault::CutOff { .. }
            | Fault::Truncated { .. }
            | Fault::Endless { .. }
            | Fault::Nonsense { .. } => Remedy::Fail,
        }
    }
}

/// Words with which vendors say that money or an allowance is gone.
const MONEY: [&str; 11] = [
    "insufficient_quota",
    "api usage limits",
    "billing_not_active",
    "credit_balance",
    "credit balance",
    "enforced_spend_limit",
    "spend limit",
    "billing_error",
    "billing_hard_limit",
    "quota_exceeded",
    "payment required",
];
/// Gemini calls a bad key a bad argument.
const BAD_KEY: [&str; 2] = ["api_key_invalid", "api key not valid"];
/// llama.cpp's servers have a word of their own, and some of them a 500 around it.
const TOO_LONG: [&str; 8] = [
    "context_length_exceeded",
    "exceed_context_size",
    "prompt is too long",
    "context length",
    "context window",
    "context limit",
    "input token count",
    "maximum context",
];

/// Type, code and message of an error, in lower case.
fn signs(error: &Value) -> String {
    let text = |key: &str| error.get(key).map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned));
    ["type", "code", "status", "message", "details"]
        .iter()
        .filter_map(|key| text(key))
        .collect::<Vec<_>>()
        .join(" ")
        .to_lowercase()
}

/// Gemini puts the pause into the body: `details[].retryDelay = "39s"`.
fn retry_info(error: &Value) -> Option<u64> {
    let details = error.get("details")?.as_array()?;
    details.iter().find_map(|detail| seconds(detail.get("retryDelay")?.as_str()?))
}

/// `39`, `39s`, `1.5`, `6m0s`. A date is not read: vendors do not send one.
fn seconds(text: &str) -> Option<u64> {
    let mut total = 0.0;
    let mut number = String::new();
    for c in text.trim().chars() {
        match c {
            '0'..='9' | '.' => number.push(c),
            'h' | 'm' | 's' => {
                let factor = match c {
                    'h' => 3600.0,
                    'm' => 60.0,
                    _ => 1.0,
                };
                total += number.parse::<f64>().ok()? * factor;
                number.clear();
            }
            _ => return None,
        }
    }
    if !number.is_empty() {
        total += number.parse::<f64>().ok()?;
    }
    (total.is_finite() && total >= 0.0).then_some(total.ceil() as u64)
}

fn pause(attempt: u32, retry_after: Option<u64>, jitter: u64) -> u64 {
    let doubled = 500_u64 << attempt.min(6);
    doubled.max(retry_after.unwrap_or(0) * 1000) + jitter % 250
}

fn short(message: &str, status: u16) -> String {
    let line = crate::findings::admit::one_line(message);
    if line.is_empty() { format!("no reason given with HTTP {status}") } else { line }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(status: u16, body: &str) -> Fault {
        Fault::from_response(status, None, body)
    }

    /// field/agents.md B.5: money errors are never asked again.
    #[test]
    fn money_is_told_from_haste() {
        let openai =
            r#"{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}}"#;
        let anthropic = r#"{"type":"error","error":{"type":"rate_limit_error","message":"enforced_spend_limit_reached"}}"#;
        let gemini = r#"{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"Quota exceeded for metric: limit: 0"}}"#;
        let capped = r#"{"type":"error","error":{"type":"invalid_request_error","message":"You have reached your specified API usage limits. You will regain access on 2026-04-01 at 00:00 UTC."}}"#;
        for (status, body) in [(429, openai), (429, anthropic), (400, capped), (429, gemini), (402, "{}")] {
            assert!(matches!(fault(status, body), Fault::OutOfQuota { .. }), "{body}");
            assert!(matches!(fault(status, body).remedy(0, 0), Remedy::Later { .. }));
        }
        let hasty = fault(429, r#"{"error":{"type":"rate_limit_error","message":"slow down"}}"#);
        assert!(matches!(hasty.remedy(0, 0), Remedy::Retry { .. }));
    }

    /// field/agents.md B.5: `retry-after` is the least pause, and a long one is not waited for.
    #[test]
    fn the_server_s_pause_is_honoured() {
        let busy = |after: &str| Fault::from_response(429, Some(after), "{}");
        assert_eq!(busy("3").remedy(0, 0), Remedy::Retry { after: 3000 });
        assert_eq!(busy("6m0s").remedy(0, 0), Remedy::Later { seconds: Some(360) });
        assert_eq!(busy("1").remedy(MAX_RETRIES, 0), Remedy::Later { seconds: Some(1) });
        let gemini = r#"{"error":{"code":429,"message":"slow","details":[{"@type":"…RetryInfo","retryDelay":"39s"}]}}"#;
        assert_eq!(fault(429, gemini).remedy(0, 0), Remedy::Retry { after: 39_000 });
    }

    /// What a retry cannot help is not retried.
    #[test]
    fn only_what_waiting_can_mend_is_asked_again() {
        for status in [400, 401, 403, 404, 413, 422] {
            assert_eq!(fault(status, "{}").remedy(0, 0), Remedy::Fail, "{status}");
        }
        for status in [408, 409, 429, 500, 502, 503, 529] {
            assert!(matches!(fault(status, "{}").remedy(0, 7), Remedy::Retry { after } if after >= 500), "{status}");
        }
    }

    #[test]
    fn a_prompt_that_is_too_long_says_so() {
        let openai = r#"{"error":{"code":"context_length_exceeded","message":"maximum context length is 128000 tokens"}}"#;
        let anthropic =
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens"}}"#;
        assert!(matches!(fault(400, openai), Fault::TooLong { .. }));
        assert!(matches!(fault(400, anthropic), Fault::TooLong { .. }));
        let llama = r#"{"error":{"code":500,"type":"exceed_context_size_error","message":"the request exceeds the available context size"}}"#;
        assert!(matches!(fault(500, llama), Fault::TooLong { .. }));
        assert!(matches!(fault(400, r#"{"error":"bad model"}"#), Fault::BadRequest { .. }));
    }

    #[test]
    fn gemini_s_bad_key_is_a_bad_key() {
        let bad = r#"{"error":{"code":400,"status":"INVALID_ARGUMENT","message":"API key not valid. Please pass a valid API key.","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID"}]}}"#;
        assert!(matches!(fault(400, bad), Fault::Credentials { .. }));
    }
}
