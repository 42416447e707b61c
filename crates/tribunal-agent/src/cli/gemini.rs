//! Gemini CLI.
//!
//! It has no schema flag. Without `-m` it asks a model of its own choice which model to ask. An address of ours makes it pick
//! another way to log in, unless its settings say which.

use super::profile::{Ending, Plan, Reading, Setting, number, text, variables, words};
use serde_json::{Value, json};
use tribunal_core::call::fault::Fault;
use tribunal_core::call::usage::Usage;

/// Tools that read. Anything that runs, writes, fetches or remembers is not even described to the model.
const TOOLS: [&str; 5] = ["list_directory", "read_file", "read_many_files", "glob", "grep_search"];

pub fn plan(setting: &Setting<'_>) -> Plan {
    let mut args = words(["-m", setting.model, "-o", "stream-json", "--approval-mode", "plan", "--skip-trust"]);
    args.extend(words(["--extensions", "none", "--allowed-mcp-server-names", "none"]));
    if let Some(tree) = setting.tree {
        args.extend(words(["--include-directories", &tree.display().to_string()]));
    }
    let settings = json!({
        "security": { "auth": { "selectedType": "gemini-api-key" } },
        "general": { "enableAutoUpdate": false, "enableAutoUpdateNotification": false, "maxAttempts": 2, "checkpointing": { "enabled": false } },
        "privacy": { "usageStatisticsEnabled": false },
        "telemetry": { "enabled": false },
        "model": { "maxSessionTurns": setting.turns },
        "tools": { "core": if setting.tree.is_some() { TOOLS.to_vec() } else { Vec::new() } },
        "context": { "fileName": "no-such-file", "loadMemoryFromIncludeDirectories": false },
        "hooksConfig": { "enabled": false },
        "skills": { "enabled": false },
        "experimental": { "enableAgents": false },
    });
    let env = variables([
        ("GOOGLE_GEMINI_BASE_URL", &setting.address),
        ("GEMINI_API_KEY", setting.token),
        ("GEMINI_CLI_NO_RELAUNCH", "true"),
        ("GEMINI_TELEMETRY_ENABLED", "false"),
    ]);
    let files = vec![(".gemini/settings.json".to_owned(), settings.to_string())];
    Plan { args, env, files, system_is_apart: false, schema_is_apart: false }
}

/// Its `message` events are pieces of text; what counts is what came after the last use of a tool.
pub fn read(ending: &Ending<'_>) -> Reading {
    let events = ending.events();
    let mut answer = String::new();
    for event in &events {
        match (text(event, "type"), text(event, "role")) {
            (Some("message"), Some("assistant")) => answer.push_str(text(event, "content").unwrap_or_default()),
            (Some("tool_use"), _) => answer.clear(),
            _ => {}
        }
    }
    let result = events.iter().rev().find(|event| text(event, "type") == Some("result"));
    let stats = result.and_then(|result| result.get("stats"));
    let is_error = result.is_none_or(|result| text(result, "status") == Some("error"));
    let error = events.iter().rev().find_map(|event| event.get("error")).cloned().or_else(|| error_in(ending.stderr));
    Reading {
        text: Some(answer).filter(|text| !text.is_empty()),
        usage: stats.map(usage).unwrap_or_default(),
        stated_cost: None,
        fault: is_error.then(|| fault(error.as_ref(), ending.code)),
    }
}

/// Sometimes it prints its error as JSON to the wrong side, among other lines.
fn error_in(talk: &str) -> Option<Value> {
    let start = talk.find("{\n").or_else(|| talk.find('{'))?;
    let value: Value = serde_json::Deserializer::from_str(&talk[start..]).into_iter().next()?.ok()?;
    value.get("error").cloned()
}

fn fault(error: Option<&Value>, code: Option<i32>) -> Fault {
    let message =
        error.and_then(|error| text(error, "message").or_else(|| error.as_str())).unwrap_or("it ended without a result");
    let message = tribunal_core::findings::admit::one_line(message);
    match code {
        Some(41) => Fault::Credentials { message },
        Some(53) => Fault::Nonsense { message: "it came to no answer in the turns it had".into() },
        Some(_) | None => Fault::Nonsense { message },
    }
}

/// Each model's own numbers where there are some: its input holds what was cached, its output leaves thoughts out.
fn usage(stats: &Value) -> Usage {
    let models = stats.get("models").and_then(Value::as_object);
    let of_models: Usage = models.into_iter().flat_map(|models| models.values()).map(of_model).sum();
    if of_models.is_nothing() { of_model(stats) } else { of_models }
}

fn of_model(model: &Value) -> Usage {
    let cached = number(model, "cached");
    let total = number(model, "total_tokens");
    let input = number(model, "input_tokens");
    Usage {
        input: input.saturating_sub(cached),
        cache_read: cached,
        cache_write: 0,
        // What is neither input nor answer was thought.
        output: total.saturating_sub(input).max(number(model, "output_tokens")),
        uncounted: 0,
    }
}
