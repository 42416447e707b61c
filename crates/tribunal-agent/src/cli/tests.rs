//! The profiles against what the real programs printed (`fixtures/`): each reads one file and answers, or is refused a key.

use super::*;
use serde_json::json;

fn home() -> (tempfile::TempDir, home::Home) {
    let root = tempfile::tempdir().unwrap();
    let home = home::Home::create(root.path()).unwrap();
    (root, home)
}

fn reading(cli: Cli, stdout: &str, home: &home::Home) -> Reading {
    profile::read(cli, &Ending { stdout: stdout.as_bytes(), stderr: "", code: Some(0), home })
}

fn question() -> Question {
    Question {
        system: "SYSTEM".into(),
        shared: "SHARED".into(),
        own: "OWN".into(),
        schema: json!({ "type": "object" }),
        repair: None,
    }
}

#[test]
fn answers_and_tokens_are_read_from_real_outputs() {
    let (_root, home) = home();
    home.write(&[("usage.json".into(), include_str!("fixtures/copilot-usage.json").into())]).unwrap();
    let two_turns = |input, cache_read, cache_write, output| Usage { input, cache_read, cache_write, output, uncounted: 0 };
    let cases = [
        (Cli::Claude, include_str!("fixtures/claude.jsonl"), two_turns(202, 22, 14, 46), Some(Money::micros(452))),
        (Cli::Codex, include_str!("fixtures/codex.jsonl"), two_turns(200, 40, 0, 60), None),
        (Cli::Gemini, include_str!("fixtures/gemini.jsonl"), two_turns(200, 120, 0, 60), None),
        (Cli::Opencode, include_str!("fixtures/opencode.jsonl"), two_turns(200, 80, 0, 62), None),
        (Cli::Copilot, include_str!("fixtures/copilot.jsonl"), two_turns(100, 40, 0, 31), None),
    ];
    for (cli, stdout, usage, stated_cost) in cases {
        let reading = reading(cli, stdout, &home);
        let text: serde_json::Value = serde_json::from_str(&reading.text.unwrap()).unwrap();
        assert_eq!(text, json!({ "ok": true, "notes": "fixed" }), "{cli:?}");
        assert_eq!((reading.usage, reading.stated_cost, reading.fault), (usage, stated_cost, None), "{cli:?}");
    }
}

#[test]
fn refused_keys_are_failures_in_real_outputs() {
    let (_root, home) = home();
    let cases = [
        (Cli::Claude, include_str!("fixtures/claude-401.jsonl")),
        (Cli::Codex, include_str!("fixtures/codex-401.jsonl")),
        (Cli::Gemini, include_str!("fixtures/gemini-401.jsonl")),
        (Cli::Opencode, include_str!("fixtures/opencode-401.jsonl")),
        (Cli::Copilot, include_str!("fixtures/copilot-401.jsonl")),
    ];
    for (cli, stdout) in cases {
        let reading = reading(cli, stdout, &home);
        assert!(reading.fault.is_some(), "{cli:?}: {reading:?}");
        assert_eq!(reading.text, None, "{cli:?}");
    }
}

/// field/agents.md A.2: exit 0 and "success", and yet no structured output. The words are left to the validator.
#[test]
fn claude_without_its_schema_s_tool_leaves_its_words() {
    let (_root, home) = home();
    let plain = r#"{"type":"result","subtype":"success","is_error":false,"result":"Looks good!","usage":{"input_tokens":5}}"#;
    let reading = reading(Cli::Claude, plain, &home);
    assert_eq!(reading.text.as_deref(), Some("Looks good!"));
    assert_eq!(reading.usage.input, 5);
}

#[test]
fn claude_s_limits_are_named() {
    let (_root, home) = home();
    let result = |more: &str| format!(r#"{{"type":"result","is_error":true,{more}}}"#);
    let fault = |more: &str| reading(Cli::Claude, &result(more), &home).fault.unwrap();
    assert!(matches!(fault(r#""terminal_reason":"budget_exhausted""#), Fault::OutOfQuota { .. }));
    assert!(matches!(fault(r#""subtype":"error_max_turns""#), Fault::Nonsense { .. }));
    assert!(matches!(fault(r#""terminal_reason":"prompt_too_long","result":"long""#), Fault::TooLong { .. }));
    assert!(matches!(fault(r#""api_error_status":529,"result":"Overloaded""#), Fault::Busy { status: 529, .. }));
}

/// Nothing of the prompt, and no key, is an argument; what a profile knows is where things are.
#[test]
fn prompts_go_in_by_standard_input_alone() {
    let (_root, home) = home();
    let question = question();
    for cli in Cli::ALL {
        let setting = Setting {
            model: "m",
            effort: None,
            turns: 3,
            cap: Money::from_dollars(0.5),
            address: "http://127.0.0.1:1".into(),
            token: "t0ken",
            home: &home,
            tree: Some(Path::new("/tree")),
            question: &question,
            is_confined: true,
        };
        let plan = profile::plan(cli, &setting);
        let line = plan.args.join(" ");
        assert!(!["SYSTEM", "SHARED", "OWN", "t0ken"].iter().any(|secret| line.contains(secret)), "{cli:?}: {line}");
        let text = prompt::text(&question, setting.tree, plan.system_is_apart, plan.schema_is_apart);
        assert!(text.contains("SHARED\n\nOWN"), "{text}");
        assert_eq!(text.contains("SYSTEM"), !plan.system_is_apart);
    }
}

#[test]
fn a_repair_shows_the_answer_and_what_was_wrong() {
    let repair = tribunal_core::call::Repair { answer: "{bad".into(), problem: "no JSON".into() };
    let text = prompt::text(&Question { repair: Some(repair), ..question() }, None, false, false);
    assert!(text.starts_with("SYSTEM\n\nSHARED\n\nOWN") && text.contains("{bad") && text.ends_with("corrected."), "{text}");
}

#[cfg(unix)]
fn agent_for(script: &str, cli: Cli) -> Result<Answer, Failed> {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("bin/agent");
    std::fs::create_dir(folder.path().join("bin")).unwrap();
    std::fs::write(&program, script).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let config = CliConfig {
        program: Some(program.display().to_string()),
        model: "claude-x".into(),
        base_url: Some("http://127.0.0.1:1/v1".into()),
        ..CliConfig::default()
    };
    let agent = CliAgent {
        cli,
        config: &config,
        key: Some("sk-real"),
        tree: None,
        cap: None,
        scratch_root: &folder.path().join("scratch"),
    };
    assert!(!format!("{agent:?}").contains("sk-real"));
    let answer = agent.ask(&question());
    assert_eq!(std::fs::read_dir(folder.path().join("scratch")).map_or(0, Iterator::count), 0, "a home was left behind");
    answer
}

/// A program that was replaced, or talked into it, could print any answer. One that never asked its model is not believed.
#[cfg(unix)]
#[test]
fn an_answer_that_no_model_gave_is_refused() {
    let script = "#!/bin/sh\necho '{\"type\":\"result\",\"is_error\":false,\"result\":\"{}\"}'\n";
    let (fault, _) = agent_for(script, Cli::Claude).unwrap_err();
    assert_eq!(fault, Fault::Nonsense { message: "it answered without asking its model".into() });
}

#[cfg(unix)]
#[test]
fn a_failure_says_what_the_program_said() {
    let (fault, _) = agent_for("#!/bin/sh\necho 'no such flag' >&2; exit 2\n", Cli::Codex).unwrap_err();
    assert!(fault.to_string().contains("exit status: 2; it said: no such flag"), "{fault}");
}

/// The helper fails if a home is left behind.
#[cfg(unix)]
#[test]
fn a_home_goes_away_whatever_was_done_to_it() {
    let script = "#!/bin/sh\nmkdir -p ~/a/b; ln -s / ~/a/root; chmod 000 ~/a/b ~/a; exit 1\n";
    assert!(agent_for(script, Cli::Codex).is_err());
}

#[cfg(unix)]
#[test]
fn aider_is_no_reviewer() {
    let (fault, _) = agent_for("#!/bin/sh\n", Cli::Aider).unwrap_err();
    assert!(fault.to_string().contains("it can play the fixer"), "{fault}");
}
