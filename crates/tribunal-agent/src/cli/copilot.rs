//! GitHub's Copilot CLI with a model of your own: no GitHub account takes part.

use super::profile::{Ending, Plan, Reading, Setting, effort, number, text, variables, words};
use serde_json::Value;
use tribunal_core::call::fault::Fault;
use tribunal_core::call::usage::Usage;

const USAGE: &str = "usage.json";

pub fn plan(setting: &Setting<'_>) -> Plan {
    let mut args =
        words(["--output-format", "json", "--no-color", "--no-auto-update", "--no-ask-user", "--no-custom-instructions"]);
    args.extend(words([
        "--disable-builtin-mcps",
        "--no-remote",
        "--disable-client-telemetry",
        "--no-bash-env",
        "--allow-all-tools",
    ]));
    args.extend(words(["--model", setting.model, "--usage-output-file", &setting.home.file(USAGE).display().to_string()]));
    if let Some(level) = setting.effort {
        args.extend(words(["--reasoning-effort", effort(level)]));
    }
    if let Some(tree) = setting.tree {
        args.extend(words(["--add-dir", &tree.display().to_string()]));
    }
    args.push(format!("--available-tools={}", if setting.tree.is_some() { "view,grep,glob" } else { "none" }));
    let env = variables([
        ("COPILOT_PROVIDER_BASE_URL", &format!("{}/v1", setting.address)),
        ("COPILOT_PROVIDER_TYPE", "openai"),
        ("COPILOT_PROVIDER_API_KEY", setting.token),
        ("COPILOT_PROVIDER_WIRE_API", "completions"),
        ("COPILOT_MODEL", setting.model),
        ("COPILOT_AUTO_UPDATE", "false"),
        ("COPILOT_OFFLINE", "true"),
    ]);
    Plan { args, env, files: Vec::new(), system_is_apart: false, schema_is_apart: false }
}

/// The last whole message of the model; tokens stand in a file of their own.
pub fn read(ending: &Ending<'_>) -> Reading {
    let events = ending.events();
    let data = |name: &'static str| {
        events.iter().filter(move |event| text(event, "type") == Some(name)).filter_map(|event| event.get("data"))
    };
    let answer = data("assistant.message").filter_map(|data| text(data, "content")).rfind(|text| !text.trim().is_empty());
    let error = data("session.error").next_back().and_then(|data| text(data, "message"));
    let metrics: Option<Value> = ending.file(USAGE).and_then(|text| serde_json::from_str(&text).ok());
    let models = metrics.as_ref().and_then(|metrics| metrics.get("modelMetrics")).and_then(Value::as_object);
    Reading {
        text: answer.map(str::to_owned),
        usage: models.into_iter().flat_map(|models| models.values()).filter_map(|model| model.get("usage")).map(usage).sum(),
        stated_cost: None,
        fault: error.map(|message| Fault::Nonsense { message: tribunal_core::findings::admit::one_line(message) }),
    }
}

/// Its input holds what was cached.
fn usage(usage: &Value) -> Usage {
    let (cache_read, cache_write) = (number(usage, "cacheReadTokens"), number(usage, "cacheWriteTokens"));
    Usage {
        input: number(usage, "inputTokens").saturating_sub(cache_read + cache_write),
        cache_read,
        cache_write,
        output: number(usage, "outputTokens"),
        uncounted: 0,
    }
}
