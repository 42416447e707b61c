//! Claude Code.
//!
//! `--restricted` and an empty `--setting-sources` keep a checkout's settings, hooks and helpers out; `--tools` (not
//! `--allowedTools`, which would open the whole disk) leaves three tools that read.

use super::profile::{Ending, Plan, Reading, Setting, effort, number, text, variables, words};
use serde_json::Value;
use tribunal_core::call::fault::Fault;
use tribunal_core::call::money::Money;
use tribunal_core::call::usage::Usage;

const SYSTEM: &str = "system.txt";
/// The kernel takes no longer argument than 128 KiB; a longer schema goes into the prompt.
const MAX_SCHEMA: usize = 100_000;

pub fn plan(setting: &Setting<'_>) -> Plan {
    let schema = setting.question.schema.to_string();
    let schema_is_apart = schema.len() <= MAX_SCHEMA;
    let mut args = words(["-p", "--output-format", "stream-json", "--verbose", "--model", setting.model]);
    args.extend(words(["--restricted", "--strict-mcp-config", "--setting-sources", "", "--permission-prompts", "none"]));
    args.extend(words(["--no-session-persistence", "--max-turns", &setting.turns.to_string()]));
    args.extend(words(["--tools", if setting.tree.is_some() { "Read,Grep,Glob" } else { "" }]));
    args.extend(words(["--system-prompt-file", &setting.home.file(SYSTEM).display().to_string()]));
    if schema_is_apart {
        args.extend(words(["--json-schema", &schema]));
    }
    if let Some(level) = setting.effort {
        args.extend(words(["--effort", effort(level)]));
    }
    if let Some(cap) = setting.cap {
        args.extend(words(["--max-budget-usd", &format!("{:.6}", cap.dollars())]));
    }
    if let Some(tree) = setting.tree {
        args.extend(words(["--add-dir", &tree.display().to_string()]));
    }
    let mut env = variables([
        ("ANTHROPIC_BASE_URL", &setting.address),
        ("ANTHROPIC_API_KEY", setting.token),
        // A refused key would be tried again for most of a minute.
        ("CLAUDE_CODE_MAX_RETRIES", "1"),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
        ("DISABLE_AUTOUPDATER", "1"),
        ("DISABLE_TELEMETRY", "1"),
        ("DISABLE_ERROR_REPORTING", "1"),
        ("ANTHROPIC_SMALL_FAST_MODEL", setting.model),
        ("ANTHROPIC_DEFAULT_HAIKU_MODEL", setting.model),
    ]);
    env.push(("CLAUDE_CONFIG_DIR".into(), setting.home.file(".claude").display().to_string()));
    env.push(("CLAUDE_CODE_TMPDIR".into(), setting.home.file("tmp").display().to_string()));
    let files = vec![(SYSTEM.to_owned(), setting.question.system.clone())];
    Plan { args, env, files, system_is_apart: true, schema_is_apart }
}

/// The last `result` event. Its `subtype` says "success" even for API errors, so `is_error` is read; and a model that never used the
/// schema's tool leaves its words in `result`, which are then for the validator to refuse.
pub fn read(ending: &Ending<'_>) -> Reading {
    let events = ending.events();
    let Some(result) = events.iter().rev().find(|event| text(event, "type") == Some("result")) else {
        return Reading { usage: of_messages(&events), ..Reading::default() };
    };
    let structured = result.get("structured_output").filter(|value| !value.is_null()).map(Value::to_string);
    let is_error = result.get("is_error").and_then(Value::as_bool).unwrap_or(false);
    Reading {
        text: structured.or_else(|| text(result, "result").map(str::to_owned)).filter(|_| !is_error),
        usage: usage(result),
        stated_cost: result.get("total_cost_usd").and_then(Value::as_f64).and_then(Money::from_dollars),
        fault: is_error.then(|| fault(result)),
    }
}

/// `modelUsage` counts every model it used; `usage` the main one.
fn usage(result: &Value) -> Usage {
    let of_models = result.get("modelUsage").and_then(Value::as_object).into_iter().flat_map(|models| models.values());
    let sum: Usage = of_models
        .map(|model| Usage {
            input: number(model, "inputTokens"),
            cache_read: number(model, "cacheReadInputTokens"),
            cache_write: number(model, "cacheCreationInputTokens"),
            output: number(model, "outputTokens"),
            uncounted: 0,
        })
        .sum();
    if sum.is_nothing() { result.get("usage").map(of_message).unwrap_or_default() } else { sum }
}

fn of_message(usage: &Value) -> Usage {
    Usage {
        input: number(usage, "input_tokens"),
        cache_read: number(usage, "cache_read_input_tokens"),
        cache_write: number(usage, "cache_creation_input_tokens"),
        output: number(usage, "output_tokens"),
        uncounted: 0,
    }
}

/// Of a run that was cut short: each message once, though it is told in parts.
fn of_messages(events: &[Value]) -> Usage {
    let mut last: std::collections::BTreeMap<&str, Usage> = std::collections::BTreeMap::new();
    for message in events.iter().filter_map(|event| event.get("message")) {
        if let (Some(id), Some(usage)) = (text(message, "id"), message.get("usage")) {
            last.insert(id, of_message(usage));
        }
    }
    last.into_values().sum()
}

fn fault(result: &Value) -> Fault {
    let errors = result.get("errors").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let message = text(result, "result").map(str::to_owned).unwrap_or_else(|| errors.collect::<Vec<_>>().join("; "));
    let status = result.get("api_error_status").and_then(Value::as_u64).and_then(|status| u16::try_from(status).ok());
    match (status, text(result, "terminal_reason"), text(result, "subtype")) {
        (Some(status), ..) => Fault::from_response(status, None, &message),
        (None, Some("prompt_too_long"), _) => Fault::TooLong { message },
        (None, Some("budget_exhausted"), _) | (None, _, Some("error_max_budget_usd")) => {
            Fault::OutOfQuota { retry_after: None, message: "this answer's money is used up".into() }
        }
        (None, Some("max_turns"), _) | (None, _, Some("error_max_turns")) => {
            Fault::Nonsense { message: "it came to no answer in the turns it had".into() }
        }
        (None, reason, _) => Fault::Nonsense { message: format!("{}: {message}", reason.unwrap_or("it failed")) },
    }
}
