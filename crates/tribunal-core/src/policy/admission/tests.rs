use super::*;
use crate::policy::agents::AgentConfig;
use crate::policy::config::Config;
use crate::policy::key_class::KEY_CLASSES;
use crate::policy::layers::merge_layers;
use proptest::prelude::*;

const REMEDY: Remedy<'static> = Remedy { command: "tribunal trust", is_base: true };

fn read(text: &str) -> RepositoryLayer {
    RepositoryLayer::read("file", text).unwrap()
}

fn names(text: &str) -> Vec<String> {
    read(text).items().iter().map(TrustItem::name).collect()
}

fn merged(text: &str, is_trusted: bool) -> Config {
    let admitted = read(text).admit(&|_| is_trusted, REMEDY);
    merge_layers(&[admitted.layer]).unwrap().config
}

const LINT: &str = "[agents.lint]\nkind = 'sarif'\ncommand = ['lint']\n";

#[test]
fn what_names_something_needs_trust_and_nothing_else_does() {
    for (text, items) in [
        (LINT, vec!["agents.lint"]),
        ("[agents.a]\nkind = 'sarif'\nfile = 'out/lint.sarif'\n", vec![]),
        ("[agents.a]\nkind = 'rules'\n", vec![]),
        ("[agents.a]\nkind = 'anthropic'\nmodel = 'm'\n", vec!["agents.a"]),
        ("[agents.a]\nkind = 'claude'\nmodel = 'm'\n", vec!["agents.a"]),
        ("[agents.a]\nkind = 'sarif'\nfile = 'x'\nenv = ['X']\n", vec!["agents.a"]),
        ("[validate]\ncommands = ['make']\ntimeout = '1m'\n", vec!["validate.commands"]),
        ("[library.qmd]\ncollection = 'x'\n", vec!["library.qmd"]),
        ("[review]\nfail_level = 'P1'\n[merge]\nwhen = 'approved'\n", vec![]),
    ] {
        assert_eq!(names(text), items, "{text}");
    }
}

/// An agent that is not trusted stays known, and cannot run: its program is nowhere in what comes out.
#[test]
fn what_is_not_trusted_leaves_no_value_behind() {
    let config = merged(
        &format!("{LINT}[panel]\nsdet = ['lint']\n[validate]\ncommands = ['make']\n[library.qmd]\ncollection = 'x'\n"),
        false,
    );
    let AgentConfig::NotTrusted(stub) = &config.agents[&"lint".into()] else { panic!("{config:?}") };
    assert!(
        stub.why.contains("names a program") && stub.why.contains("with: tribunal trust (in CI: TRIBUNAL_TRUST=base)"),
        "{}",
        stub.why
    );
    assert_eq!((config.validate.commands.len(), config.library.qmd), (0, None));
    assert!(config.not_trusted["validate.commands"].contains("tribunal trust"));
}

#[test]
fn what_is_trusted_counts() {
    let config = merged(&format!("{LINT}[validate]\ncommands = ['make']\n"), true);
    assert!(matches!(config.agents[&"lint".into()], AgentConfig::Sarif { .. }));
    assert_eq!((config.validate.commands, config.not_trusted.len()), (vec!["make".to_owned()], 0));
}

/// Trust is for values: other keys and the way they are written do not touch it, and every value that names something does.
#[test]
fn trust_covers_exactly_what_names_something() {
    let text = |text: &str| read(text).items().iter().map(TrustItem::canonical).collect::<Vec<_>>();
    let lint = text(LINT);
    for same in [
        "agents.lint = { command = [ \"lint\" ], kind = \"sarif\" } # later\n",
        "[review]\nfail_level = 'P1'\n[agents.lint]\nkind = 'sarif'\ncommand = ['lint']\ntimeout_seconds = 9\ncategory = 'E5'\n",
    ] {
        assert_eq!(text(same), lint, "{same}");
    }
    for other in [
        "[agents.lint]\nkind = 'sarif'\ncommand = ['lint', '-x']\n",
        "[agents.lint]\nkind = 'command'\ncommand = ['lint']\n",
        "[agents.lint]\nkind = 'sarif'\ncommand = ['lint']\nnetwork = true\n",
        "[agents.lint]\nkind = 'sarif'\ncommand = ['lint']\nenv = ['X']\n",
        "[agents.tint]\nkind = 'sarif'\ncommand = ['lint']\n",
        "[agents.'lint.x']\nkind = 'sarif'\ncommand = ['lint']\n",
    ] {
        assert_ne!(text(other), lint, "{other}");
    }
}

/// What a person is asked to trust cannot hide from them.
#[test]
fn values_are_shown_as_they_are() {
    let text = "[agents.a]\nkind = 'command'\ncommand = ['safe', '\u{202e}live']\n";
    let item = &read(text).items()[0];
    assert!(item.lines().iter().any(|line| line.contains("<U+202E>live")), "{:?}", item.lines());
}

/// A layer above that sets the same thing is the person's own word.
#[test]
fn the_person_s_own_value_needs_no_trust() {
    let admitted = read("[validate]\ncommands = ['evil']\n").admit(&|_| false, REMEDY);
    let own = read_layer("environment", "[validate]\ncommands = ['mine']\n").unwrap();
    let config = merge_layers(&[admitted.layer, own]).unwrap().config;
    assert_eq!((config.validate.commands, config.not_trusted.len()), (vec!["mine".to_owned()], 0));
}

/// One below does not replace what the repository asked for: nothing is validated by something else in silence.
#[test]
fn a_lower_layer_does_not_stand_in() {
    let own = read_layer("person", "[validate]\ncommands = ['mine']\n[agents.lint]\nkind = 'rules'\n").unwrap();
    let admitted = read(&format!("{LINT}[validate]\ncommands = ['evil']\n")).admit(&|_| false, REMEDY);
    let config = merge_layers(&[own, admitted.layer]).unwrap().config;
    assert!(config.not_trusted.contains_key("validate.commands"));
    assert!(matches!(config.agents[&"lint".into()], AgentConfig::NotTrusted(_)));
}

#[test]
fn a_repository_sets_nothing_that_is_the_person_s() {
    let admitted = read("[forge]\nkind = 'github'\ntoken = { command = ['steal'] }\n").admit(&|_| true, REMEDY);
    assert_eq!(admitted.ignored, ["forge.kind", "forge.token.command"]);
    assert_eq!(merge_layers(&[admitted.layer]).unwrap().config.forge, Config::default().forge);
}

#[test]
fn a_path_stays_inside() {
    for path in ["/etc/passwd", "../other/x", "a/../../x", "~/x", "c:/x", "\\\\host\\x"] {
        for key in
            ["agents.a = { kind = 'sarif', file = 'P' }", "watch.sarif = ['P']", "fix.record = 'P'", "library.modules.m = 'P'"]
        {
            let error = RepositoryLayer::read("file", &key.replace('P', path)).unwrap_err();
            assert!(error.problem.contains("leads out of the repository"), "{key} {path}: {error}");
        }
    }
    assert!(RepositoryLayer::read("file", "watch.sarif = ['out/lint.sarif']").is_ok());
}

/// No file can name the kind that stands for what was taken out.
#[test]
fn the_kind_of_the_untrusted_is_ours() {
    let text = "[agents.a]\nkind = 'not-trusted'\nwhy = 'all is well'\n";
    assert!(RepositoryLayer::read("file", text).is_err() && read_layer("person", text).is_err());
}

const PRICE: &str = "input = 0.1, output = 0.1, cache_read = 0.1, cache_write = 0.1";

/// A repository lowers what may be spent, and never raises it; trust changes nothing about that.
#[test]
fn a_repository_only_lowers_a_limit() {
    let own = read_layer("person", "[budget]\nrun_usd = 1.0\nrun_tokens = 1000\n").unwrap();
    let repository = read("[budget]\nrun_usd = 50\nrun_tokens = 10\ncase_usd = 2.0\n").admit(&|_| true, REMEDY);
    let flags = read_layer("flags", "[budget]\nmonth_usd = 9.0\n").unwrap();
    let merged = merge_layers(&[own.clone(), repository.layer.clone(), flags]).unwrap();
    let origin = |key: &str| merged.origins[key].0.clone();
    assert_eq!((origin("budget.run_usd"), origin("budget.run_tokens")), ("person".into(), "file".into()));
    assert_eq!((origin("budget.case_usd"), origin("budget.month_usd")), ("file".into(), "flags".into()));
    // Whoever speaks for the person may raise it.
    let raised = read_layer("flags", "[budget]\nrun_usd = 70.0\n").unwrap();
    let merged = merge_layers(&[own, repository.layer, raised]).unwrap();
    assert_eq!(merged.origins["budget.run_usd"].0, "flags");
}

/// A value that cannot be mistaken for another, in the type of the key.
fn sample(pattern: &str, canary: &str) -> Option<String> {
    Some(match pattern {
        "agents.*.command" => format!("agents.x = {{ kind = 'command', command = ['{canary}'] }}"),
        "agents.*.args" => format!("agents.x = {{ kind = 'linter', profile = 'ruff', args = ['{canary}'] }}"),
        "agents.*.profile" => format!("agents.x = {{ kind = 'linter', profile = '{canary}' }}"),
        "agents.*.env" => format!("agents.x = {{ kind = 'sarif', file = 'f', env = ['{canary}'] }}"),
        "agents.*.network" => "agents.x = { kind = 'sarif', file = 'f', network = true }".to_owned(),
        "agents.*.kind" => "agents.x = { kind = 'claude', model = 'm' }".to_owned(),
        "agents.*.program" => format!("agents.x = {{ kind = 'claude', model = 'm', program = '{canary}' }}"),
        "agents.*.base_url" => format!("agents.x = {{ kind = 'openai', model = 'm', base_url = 'https://{canary}/v1' }}"),
        "agents.*.key.command" => format!("agents.x = {{ kind = 'openai', model = 'm', key = {{ command = ['{canary}'] }} }}"),
        "agents.*.key.env" => format!("agents.x = {{ kind = 'openai', model = 'm', key = {{ env = '{canary}' }} }}"),
        "agents.*.key.keyring" => format!("agents.x = {{ kind = 'openai', model = 'm', key = {{ keyring = '{canary}' }} }}"),
        "agents.*.key_header" => format!("agents.x = {{ kind = 'openai', model = 'm', key_header = '{canary}' }}"),
        "library.qmd.collection" => format!("library.qmd = {{ collection = '{canary}' }}"),
        "library.qmd.command" => format!("library.qmd = {{ collection = 'c', command = ['{canary}'] }}"),
        "library.qmd.env" => format!("library.qmd = {{ collection = 'c', env = ['{canary}'] }}"),
        "agents.*.read" => format!("agents.x = {{ kind = 'sarif', file = 'f', read = ['/{canary}'] }}"),
        "library.qmd.read" => format!("library.qmd = {{ collection = 'c', read = ['/{canary}'] }}"),
        "validate.read" => format!("validate.read = ['/{canary}']"),
        "validate.commands" => format!("validate.commands = ['{canary}']"),
        "agents.*.price.input" | "agents.*.price.output" | "agents.*.price.cache_read" | "agents.*.price.cache_write" => {
            format!("agents.x = {{ kind = 'openai', model = '{canary}', price = {{ {PRICE} }} }}")
        }
        "prices.*.input" | "prices.*.output" | "prices.*.cache_read" | "prices.*.cache_write" => {
            format!("prices.m = {{ {PRICE} }}")
        }
        _ => return None,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]
    /// Issue 16, B5, for every key of a class that needs trust: whatever stands in it, nothing of it is in the configuration that runs,
    /// and the file's unit is named as not trusted. A new key of such a class fails here until it has a sample.
    #[test]
    fn no_untrusted_value_reaches_the_configuration(canary in "canary[a-z]{6}") {
        for (pattern, class) in KEY_CLASSES.iter().filter(|(_, class)| class.needs_trust()) {
            let text = sample(pattern, &canary);
            prop_assert!(text.is_some(), "write a sample for `{}` ({:?})", pattern, class);
            let text = text.unwrap_or_default();
            let layer = read(&text);
            prop_assert_eq!(layer.items().len(), 1, "{}", text);
            let admitted = layer.admit(&|_| false, REMEDY);
            prop_assert_eq!(admitted.layer.not_trusted.len(), 1);
            let config = merge_layers(&[admitted.layer]).unwrap().config;
            let shown = format!("{config:?}");
            prop_assert!(!shown.contains(&canary), "{}: {}", text, shown);
            prop_assert!(config.prices.is_empty(), "{}", shown);
            prop_assert!(config.agents.values().all(|agent| matches!(agent, AgentConfig::NotTrusted(_))), "{}", shown);
            let whole = merge_layers(&[read(&text).admit(&|_| true, REMEDY).layer]).unwrap().config;
            prop_assert!(whole.not_trusted.is_empty());
        }
    }
}
