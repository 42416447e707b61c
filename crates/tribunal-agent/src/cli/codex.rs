//! Codex.
//!
//! The provider is given by flags and named anew: the built-in one tries a web socket for ten seconds first. It has no tools that
//! read files, only commands.

use super::profile::{Ending, Plan, Reading, Setting, effort, number, text, words};
use serde_json::Value;
use tribunal_core::call::fault::Fault;
use tribunal_core::call::usage::Usage;

const SCHEMA: &str = "schema.json";
const LAST: &str = "last.txt";
const KEY: &str = "TRIBUNAL_WORD";
/// Parts that reach out or run things by themselves. Unknown names are refused by Codex, so only those of every known version.
const OFF: [&str; 9] =
    ["apps", "browser_use", "computer_use", "goals", "hooks", "image_generation", "multi_agent", "plugins", "shell_snapshot"];

pub fn plan(setting: &Setting<'_>) -> Plan {
    let mut args = words(["exec", "--json", "--ephemeral", "--ignore-user-config", "--ignore-rules", "--skip-git-repo-check"]);
    args.extend(words(["-C", &setting.home.work().display().to_string(), "-m", setting.model]));
    // Its own sandbox cannot start inside ours, and then every command of the model fails. Ours already lets it read what it may
    // and write nothing that stays.
    args.extend(words(["--sandbox", if setting.is_confined { "danger-full-access" } else { "read-only" }]));
    let provider = format!(
        "model_providers.tribunal={{name=\"tribunal\",base_url=\"{}/v1\",env_key=\"{KEY}\",wire_api=\"responses\",\
         request_max_retries=1,stream_max_retries=1}}",
        setting.address
    );
    let mut settings = vec!["model_provider=\"tribunal\"".to_owned(), provider];
    settings.push("project_doc_max_bytes=0".into());
    // The model's commands get no key, and no variables of ours.
    settings.push("shell_environment_policy.inherit=\"core\"".into());
    settings.push("web_search=\"disabled\"".into());
    if let Some(level) = setting.effort {
        settings.push(format!("model_reasoning_effort=\"{}\"", effort(level)));
    }
    for setting in settings {
        args.extend(["-c".to_owned(), setting]);
    }
    for feature in OFF {
        args.extend(words(["--disable", feature]));
    }
    args.extend(words(["--output-schema", &setting.home.file(SCHEMA).display().to_string()]));
    args.extend(words(["-o", &setting.home.file(LAST).display().to_string(), "-"]));
    let env = vec![
        (KEY.to_owned(), setting.token.to_owned()),
        ("CODEX_HOME".to_owned(), setting.home.file(".codex").display().to_string()),
    ];
    let files = vec![(SCHEMA.to_owned(), setting.question.schema.to_string()), (".codex/config.toml".to_owned(), String::new())];
    Plan { args, env, files, system_is_apart: false, schema_is_apart: true }
}

/// The last message, and the usage of all turns. An `error` item may be a mere warning; `turn.failed` is not.
pub fn read(ending: &Ending<'_>) -> Reading {
    let events = ending.events();
    let of_type = |name: &str| events.iter().filter(move |event| text(event, "type") == Some(name)).collect::<Vec<_>>();
    let message =
        events.iter().rev().filter_map(|event| event.get("item")).find(|item| text(item, "type") == Some("agent_message"));
    let usage = of_type("turn.completed").iter().filter_map(|event| event.get("usage")).map(usage).sum();
    let failed = of_type("turn.failed")
        .last()
        .and_then(|event| event.get("error"))
        .and_then(|error| text(error, "message"))
        .map(str::to_owned);
    let failed = failed.or_else(|| {
        let said = of_type("error").last().and_then(|event| text(event, "message")).map(str::to_owned);
        said.filter(|_| of_type("turn.completed").is_empty())
    });
    Reading {
        text: ending
            .file(LAST)
            .filter(|text| !text.trim().is_empty())
            .or_else(|| message.and_then(|item| text(item, "text")).map(str::to_owned)),
        usage,
        stated_cost: None,
        fault: failed.map(|message| Fault::Nonsense { message: tribunal_core::findings::admit::one_line(&message) }),
    }
}

/// Its input holds what was cached.
fn usage(usage: &Value) -> Usage {
    let (cache_read, cache_write) = (number(usage, "cached_input_tokens"), number(usage, "cache_write_input_tokens"));
    Usage {
        input: number(usage, "input_tokens").saturating_sub(cache_read + cache_write),
        cache_read,
        cache_write,
        output: number(usage, "output_tokens"),
        uncounted: 0,
    }
}
