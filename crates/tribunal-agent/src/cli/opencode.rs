//! opencode, on any server that speaks OpenAI's chat completions.
//!
//! It loads plugins and settings from its working folder whatever its flags say, which is why that folder is empty and ours.

use super::profile::{Ending, Plan, Reading, Setting, effort, number, text, variables, words};
use serde_json::{Value, json};
use tribunal_core::call::fault::Fault;
use tribunal_core::call::money::Money;
use tribunal_core::call::usage::Usage;

pub fn plan(setting: &Setting<'_>) -> Plan {
    let model = format!("tribunal/{}", setting.model);
    let mut args = words(["run", "--pure", "--format", "json", "--title", "review", "-m", &model]);
    if let Some(level) = setting.effort {
        args.extend(words(["--variant", effort(level)]));
    }
    let reads = if setting.tree.is_some() { "allow" } else { "deny" };
    let mut outside = serde_json::Map::from_iter([("*".to_owned(), json!("deny"))]);
    if let Some(tree) = setting.tree {
        outside.insert(format!("{}/**", tree.display()), json!("allow"));
        outside.insert(tree.display().to_string(), json!("allow"));
    }
    let config = json!({
        "provider": { "tribunal": {
            "npm": "@ai-sdk/openai-compatible",
            "name": "tribunal",
            "options": { "baseURL": format!("{}/v1", setting.address), "apiKey": setting.token },
            "models": { setting.model: { "name": setting.model, "tool_call": true } },
        } },
        "enabled_providers": ["tribunal"],
        "model": model,
        "small_model": model,
        "share": "disabled",
        "autoupdate": false,
        "snapshot": false,
        "plugin": [],
        "mcp": {},
        "lsp": false,
        "formatter": false,
        "instructions": [],
        "permission": {
            "*": "deny", "edit": "deny", "bash": "deny", "webfetch": "deny", "websearch": "deny", "task": "deny", "skill": "deny",
            "read": reads, "grep": reads, "glob": reads, "list": reads,
            "external_directory": outside,
        },
    });
    let env = variables([
        ("OPENCODE_CONFIG_CONTENT", &config.to_string()),
        ("OPENCODE_DISABLE_PROJECT_CONFIG", "1"),
        ("OPENCODE_DISABLE_AUTOUPDATE", "1"),
        ("OPENCODE_DISABLE_DEFAULT_PLUGINS", "1"),
        ("OPENCODE_DISABLE_LSP_DOWNLOAD", "1"),
        ("OPENCODE_DISABLE_MODELS_FETCH", "1"),
        ("OPENCODE_DISABLE_CLAUDE_CODE", "1"),
    ]);
    Plan { args, env, files: Vec::new(), system_is_apart: false, schema_is_apart: false }
}

/// Text of the last step that wrote some; tokens of all steps.
pub fn read(ending: &Ending<'_>) -> Reading {
    let events = ending.events();
    let parts = |name: &'static str| {
        events.iter().filter(move |event| text(event, "type") == Some(name)).filter_map(|event| event.get("part"))
    };
    let step = parts("text").next_back().and_then(|part| text(part, "messageID"));
    let answer: String =
        parts("text").filter(|part| text(part, "messageID") == step).filter_map(|part| text(part, "text")).collect();
    let error = events.iter().rev().find(|event| text(event, "type") == Some("error")).and_then(|event| event.get("error"));
    let costs: f64 = parts("step_finish").filter_map(|part| part.get("cost")?.as_f64()).sum();
    Reading {
        text: Some(answer).filter(|text| !text.is_empty()),
        usage: parts("step_finish").filter_map(|part| part.get("tokens")).map(usage).sum(),
        // It knows no prices but those of its config, where we put none: nothing means unknown.
        stated_cost: (costs > 0.0).then_some(costs).and_then(Money::from_dollars),
        fault: error.map(fault),
    }
}

/// Cached input and thoughts are counted apart.
fn usage(tokens: &Value) -> Usage {
    let cache = tokens.get("cache").unwrap_or(&Value::Null);
    Usage {
        input: number(tokens, "input"),
        cache_read: number(cache, "read"),
        cache_write: number(cache, "write"),
        output: number(tokens, "output") + number(tokens, "reasoning"),
        uncounted: 0,
    }
}

fn fault(error: &Value) -> Fault {
    let data = error.get("data").unwrap_or(error);
    let message = text(data, "message").or_else(|| text(error, "name")).unwrap_or("it failed");
    match data.get("statusCode").and_then(Value::as_u64).and_then(|status| u16::try_from(status).ok()) {
        Some(status) => Fault::from_response(status, None, text(data, "responseBody").unwrap_or(message)),
        None => Fault::Nonsense { message: tribunal_core::findings::admit::one_line(message) },
    }
}
