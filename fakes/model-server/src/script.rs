//! The script: who gets which answer, how fast, and with which fault. It is JSON for the binary and for people, and a builder for tests.
//!
//! Rules are tried in order and the first that matches answers; everything else gets `default`. A rule counts only the requests that its
//! other conditions let through, so `nth` reads as "the first two of these fail".

use crate::wire::Wire;
use serde::{Deserialize, Serialize};
use serde_json::Value;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Script {
    /// Wait before the response head: what a queue costs.
    pub latency_ms: u64,
    /// Wait between the head and the first byte of the body, in streams: what reading the prompt costs.
    pub first_byte_ms: u64,
    /// Wait between two pieces of a stream: what writing costs.
    pub chunk_ms: u64,
    /// Characters in one piece of a stream.
    pub chunk_chars: usize,
    pub replies: Vec<Rule>,
    /// Answers what no rule matched.
    pub default: Reply,
    /// The one key that is let in. `None`: any key, or none at all.
    pub key: Option<String>,
    /// Bill cached prefixes as the vendors do.
    pub cache: bool,
    pub cache_minimum: CacheMinimum,
    /// More input than this is the vendor's "prompt too long".
    pub context_window: Option<u64>,
    /// Models that exist. Empty: every name does.
    pub models: Vec<String>,
    /// Refuse schemas that the vendor would refuse (strict mode, objects left open). Compatible servers do not care: switch it off for them.
    pub check_schemas: bool,
}

/// Shortest prefix, in tokens, that each vendor caches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CacheMinimum {
    pub anthropic: u64,
    pub openai: u64,
    pub gemini: u64,
}

impl Default for CacheMinimum {
    fn default() -> Self {
        CacheMinimum { anthropic: 1024, openai: 1024, gemini: 2048 }
    }
}

impl Default for Script {
    fn default() -> Self {
        Script {
            latency_ms: 0,
            first_byte_ms: 0,
            chunk_ms: 0,
            chunk_chars: 48,
            replies: Vec::new(),
            default: Reply::Echo,
            key: None,
            cache: true,
            cache_minimum: CacheMinimum::default(),
            context_window: None,
            models: Vec::new(),
            check_schemas: true,
        }
    }
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Rule {
    pub when: Matcher,
    pub reply: Reply,
    /// In place of the script's.
    pub latency_ms: Option<u64>,
}

/// All that is given must hold.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Matcher {
    /// Anywhere in the prompt: system, messages, tool results.
    pub contains: Option<String>,
    /// In the last block the user wrote, which is where a role's own part stands.
    pub own_contains: Option<String>,
    pub wire: Option<Wire>,
    pub model: Option<String>,
    pub nth: Option<Nth>,
}

/// Which of the matching requests: `from` counts from zero, `to` is the first one left out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Nth {
    pub from: usize,
    pub to: Option<usize>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    /// This JSON as it stands, in the form the caller asked for (schema, tool or text).
    Json(Value),
    /// This text, whatever was asked for.
    Text(String),
    /// A valid report of the prompt's role with these findings.
    Report(ReportPlan),
    /// A reviewer that finds each added line with a `BUG(S1): words` comment, in the categories of its role.
    #[default]
    Echo,
    /// Calls tools first; `then` comes after their results. Nest it for several rounds.
    ToolCalls {
        calls: Vec<ToolCall>,
        then: Box<Reply>,
    },
    Fault(Fault),
    /// Does whatever the text of the request tells it to.
    Obedient,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ReportPlan {
    /// Objects laid over a valid claim on the first added line of the diff; `{}` is a valid claim.
    pub findings: Vec<Value>,
    pub not_applicable: Vec<String>,
    pub missing_prerequisites: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolCall {
    pub name: String,
    pub input: Value,
}

/// What can go wrong. Those that begin well say what [`Reply::Echo`] would have said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// An error status with the vendor's body.
    Status {
        code: u16,
        #[serde(default)]
        retry_after: Option<u64>,
        #[serde(default)]
        message: Option<String>,
    },
    /// Out of credit, in the vendor's way.
    Money,
    /// A spending cap or a daily quota, in the vendor's way.
    SpendLimit,
    /// The vendor's answer to an unknown key: on Gemini a 400.
    BadKey,
    PromptTooLong,
    /// Takes the request and never answers; with `after_head` the status comes, the body does not.
    Silence {
        #[serde(default)]
        after_head: bool,
    },
    /// Stops talking after so many pieces and keeps the connection.
    Stall {
        after: usize,
    },
    /// Drops the connection after so many pieces.
    Cut {
        after: usize,
    },
    /// An overload event after so many pieces.
    ErrorEvent {
        after: usize,
    },
    /// A well-formed response whose text is half of the JSON.
    CutJson,
    /// Prose where JSON was asked for.
    IgnoredSchema,
    /// JSON of some other shape.
    WrongSchema,
    Refusal,
    /// Half of the answer, and the vendor's sign that the output limit was hit.
    MaxTokens,
    /// Talks until the caller hangs up.
    Endless,
    Redirect {
        to: String,
        code: u16,
    },
    /// A 200 whose body is noise.
    Garbage,
    /// A 200 without a body.
    Empty,
    /// A good answer under this many bytes of headers.
    BigHeaders {
        bytes: usize,
    },
}

impl Script {
    /// Every request gets this.
    pub fn always(reply: Reply) -> Script {
        Script { default: reply, ..Script::default() }
    }

    pub fn rule(mut self, when: Matcher, reply: Reply) -> Script {
        self.replies.push(Rule { when, reply, latency_ms: None });
        self
    }

    /// Like [`Script::rule`], with a latency of its own.
    pub fn slow_rule(mut self, when: Matcher, reply: Reply, latency_ms: u64) -> Script {
        self.replies.push(Rule { when, reply, latency_ms: Some(latency_ms) });
        self
    }

    pub fn latency_ms(mut self, latency_ms: u64) -> Script {
        self.latency_ms = latency_ms;
        self
    }

    pub fn first_byte_ms(mut self, first_byte_ms: u64) -> Script {
        self.first_byte_ms = first_byte_ms;
        self
    }

    pub fn chunk_ms(mut self, chunk_ms: u64) -> Script {
        self.chunk_ms = chunk_ms;
        self
    }

    pub fn key(mut self, key: impl Into<String>) -> Script {
        self.key = Some(key.into());
        self
    }
}

impl Matcher {
    pub fn any() -> Matcher {
        Matcher::default()
    }

    pub fn contains(mut self, words: impl Into<String>) -> Matcher {
        self.contains = Some(words.into());
        self
    }

    pub fn own_contains(mut self, words: impl Into<String>) -> Matcher {
        self.own_contains = Some(words.into());
        self
    }

    pub fn wire(mut self, wire: Wire) -> Matcher {
        self.wire = Some(wire);
        self
    }

    pub fn model(mut self, model: impl Into<String>) -> Matcher {
        self.model = Some(model.into());
        self
    }

    /// The first `count` of the matching requests.
    pub fn first(mut self, count: usize) -> Matcher {
        self.nth = Some(Nth { from: 0, to: Some(count) });
        self
    }

    /// All matching requests from this one on, counted from zero.
    pub fn from(mut self, from: usize) -> Matcher {
        self.nth = Some(Nth { from, to: None });
        self
    }
}

impl Fault {
    pub fn status(code: u16) -> Fault {
        Fault::Status { code, retry_after: None, message: None }
    }

    pub fn retry_after(code: u16, seconds: u64) -> Fault {
        Fault::Status { code, retry_after: Some(seconds), message: None }
    }
}

impl From<Fault> for Reply {
    fn from(fault: Fault) -> Reply {
        Reply::Fault(fault)
    }
}

impl Reply {
    /// The name a request is recorded under: `echo`, `fault:stall`.
    pub fn kind(&self) -> String {
        let tag = |value: Value| match value {
            Value::String(name) => name,
            Value::Object(map) => map.keys().next().cloned().unwrap_or_default(),
            _ => String::new(),
        };
        match self {
            Reply::Fault(fault) => format!("fault:{}", tag(serde_json::to_value(fault).unwrap_or_default())),
            other => tag(serde_json::to_value(other).unwrap_or_default()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_reads_from_json() {
        let text = r#"{
            "latency_ms": 20,
            "key": "sk-test",
            "replies": [
                { "when": { "own_contains": "Role: sdet", "nth": { "to": 2 } }, "reply": { "fault": { "status": { "code": 429, "retry_after": 1 } } } },
                { "when": { "wire": "gemini" }, "reply": { "fault": "refusal" } },
                { "reply": { "tool_calls": { "calls": [{ "name": "Read", "input": { "file_path": "a" } }], "then": "echo" } } }
            ],
            "default": "obedient"
        }"#;
        let script: Script = serde_json::from_str(text).unwrap();
        assert_eq!(script.replies[0].reply, Fault::retry_after(429, 1).into());
        let kinds: Vec<String> = script.replies.iter().map(|rule| rule.reply.kind()).collect();
        assert_eq!(kinds, ["fault:status", "fault:refusal", "tool_calls"]);
        assert_eq!(serde_json::from_str::<Script>(&serde_json::to_string(&script).unwrap()).unwrap(), script);
    }
}
