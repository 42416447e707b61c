//! Issue 16, B5: whatever a repository's file names to run, to pass on or to contact counts only once this person trusted it, the base's
//! version included. One case for every key of such a class; a key without a case fails.

use super::sandbox::{CLEAN, NO_TLS, Run, SHARED_LIST, Sandbox, finish, str_of};
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tribunal_core::policy::key_class::{KEY_CLASSES, KeyClass};

/// A host that counts who comes, and turns everybody away.
struct Host {
    port: u16,
    visits: Arc<AtomicUsize>,
}

impl Host {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (port, visits) = (listener.local_addr().unwrap().port(), Arc::new(AtomicUsize::new(0)));
        let counted = Arc::clone(&visits);
        std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                counted.fetch_add(1, Ordering::SeqCst);
                let _ = stream.read(&mut [0; 4096]);
                let _ = stream.write_all(b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
            }
        });
        Host { port, visits }
    }
}

/// What a program of the repository says when it runs. Where it can write, it leaves a mark too.
const RAN: &str = "canary-ran";

struct Stage {
    sandbox: Sandbox,
    host: Host,
    mark: PathBuf,
}

impl Stage {
    fn new() -> Self {
        let sandbox = Sandbox::unborn();
        let mark = sandbox.temporary_folder().join("mark");
        let stage = Stage { sandbox, host: Host::start(), mark };
        // Programs that are started by a name of their own.
        for name in ["canary", "claude", "qmd", "secret-tool", "security"] {
            let script = format!("#!/bin/sh\ntouch {} 2>/dev/null\necho {RAN} >&2\nexit 9\n", stage.mark.display());
            let path = stage.bin().join(name);
            fs::write(&path, script).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        stage
    }

    fn bin(&self) -> PathBuf {
        self.sandbox.root().join("agents")
    }

    fn run(&self, args: &[&str], trusts_base: bool) -> Run {
        let mut command = self.sandbox.command(args);
        let path = format!("{}:{}", self.bin().display(), std::env::var("PATH").unwrap());
        command.env("PATH", path).env("THE_KEY", "sk-canary-0123456789").env("PASSED", "passed-on");
        if trusts_base {
            command.env("TRIBUNAL_TRUST", "base");
        }
        finish(command, b"")
    }

    /// Something of the repository's ran, was given something, or was contacted.
    fn was_reached(&self, run: &Run) -> bool {
        let said = format!("{}{}", run.stdout, run.stderr);
        said.contains(RAN) || self.mark.exists() || self.host.visits.load(Ordering::SeqCst) > 0
    }
}

/// The part of a configuration that names something by this key, and the command that would use it.
fn case(key: &str, port: u16) -> Option<(String, &'static [&'static str])> {
    const REVIEW: &[&str] = &["review", "--format", "json", "--mode", "full"];
    const SEARCH: &[&str] = &["search", "words"];
    let seat = |agent: &str| format!("[panel]\nsdet = [\"x\"]\n[agents.x]\n{agent}\n");
    let model = |more: &str| {
        seat(&format!(
            "kind = \"openai-chat\"\nmodel = \"m\"\nbase_url = \"http://127.0.0.1:{port}/v1\"\nprice = {{ input = 0.0, output = 0.0 }}\n{more}"
        ))
    };
    Some(match key {
        "agents.*.command" => (seat("kind = \"command\"\ncommand = [\"canary\"]"), REVIEW),
        "agents.*.args" => (seat("kind = \"linter\"\nprofile = \"ruff\"\nprogram = \"canary\"\nargs = [\"{files}\"]"), REVIEW),
        "agents.*.profile" => (seat("kind = \"linter\"\nprofile = \"ruff\"\nprogram = \"canary\""), REVIEW),
        "agents.*.env" => (seat("kind = \"sarif\"\ncommand = [\"canary\"]\nenv = [\"PASSED\"]"), REVIEW),
        "agents.*.network" => (seat("kind = \"sarif\"\ncommand = [\"canary\"]\nnetwork = true"), REVIEW),
        "agents.*.kind" => (seat("kind = \"claude\"\nmodel = \"m\"\nkey = { env = \"THE_KEY\" }"), REVIEW),
        "agents.*.program" => {
            (seat("kind = \"claude\"\nprogram = \"canary\"\nmodel = \"m\"\nkey = { env = \"THE_KEY\" }"), REVIEW)
        }
        "agents.*.base_url" => (model(""), REVIEW),
        "agents.*.key.command" => (model("key = { command = [\"canary\"] }"), REVIEW),
        "agents.*.key.env" => (model("key = { env = \"THE_KEY\" }"), REVIEW),
        "agents.*.key.keyring" => (model("key = { keyring = \"mine\" }"), REVIEW),
        "agents.*.key_header" => (model("key = { env = \"THE_KEY\" }\nkey_header = \"x-canary\""), REVIEW),
        "library.qmd.collection" => ("[library.qmd]\ncollection = \"c\"\n".into(), SEARCH),
        "library.qmd.command" => ("[library.qmd]\ncollection = \"c\"\ncommand = [\"canary\"]\n".into(), SEARCH),
        "library.qmd.env" => {
            ("[library.qmd]\ncollection = \"c\"\ncommand = [\"canary\"]\nenv = [\"PASSED\"]\n".into(), &["index"])
        }
        "agents.*.read" => (seat("kind = \"sarif\"\ncommand = [\"canary\"]\nread = [\"/srv\"]"), REVIEW),
        "library.qmd.read" => {
            ("[library.qmd]\ncollection = \"c\"\ncommand = [\"canary\"]\nread = [\"/srv\"]\n".into(), &["index"])
        }
        "validate.read" => ("[validate]\ncommands = [\"canary\"]\nread = [\"/srv\"]\n".into(), &["watch", "1", "--once"]),
        "validate.commands" => ("[validate]\ncommands = [\"canary\"]\n".into(), &["watch", "1", "--once"]),
        _ => return None,
    })
}

/// Every key that needs trust, with its case on a stage of its own.
fn for_every_key(check: impl Fn(&str, &str, &Stage, &[&str]) + Sync) {
    // A price starts and reaches nothing; the unit tests of the admission hold that it does not count.
    let reaches = |class: KeyClass| class.needs_trust() && class != KeyClass::Price;
    let keys: Vec<&str> = KEY_CLASSES.iter().filter(|(_, class)| reaches(*class)).map(|(key, _)| *key).collect();
    assert!(keys.len() >= 14);
    std::thread::scope(|scope| {
        let (check, all) = (&check, keys.chunks(keys.len().div_ceil(2)));
        for some in all {
            scope.spawn(move || {
                for key in some {
                    let stage = Stage::new();
                    let (config, args) = case(key, stage.host.port)
                        .unwrap_or_else(|| panic!("write a case for `{key}`: it names something that may not run"));
                    check(key, &config, &stage, args);
                }
            });
        }
    });
}

/// `main` with these files, and a `feature` that changes `app.py`, open as pull request 1.
fn open_pull_request(stage: &Stage, base: &[(&str, &str)], change: &[(&str, &str)]) {
    let sandbox = &stage.sandbox;
    let write = |files: &[(&str, &str)]| files.iter().for_each(|(path, text)| sandbox.write(path, text));
    sandbox.git(&["config", "user.name", "Ada"]);
    sandbox.git(&["config", "user.email", "ada@example.com"]);
    write(&[("app.py", CLEAN)]);
    write(base);
    sandbox.commit("Base");
    sandbox.git(&["checkout", "--quiet", "-b", "feature"]);
    write(&[("app.py", SHARED_LIST)]);
    write(change);
    sandbox.commit("Work");
    sandbox.tribunal(&["pr", "open", "--title", "Work"]).ends_with(0);
}

/// A clone of a stranger's repository: the base names it, and nobody has trusted it.
#[test]
fn nothing_of_an_untrusted_base_runs() {
    for_every_key(|key, config, stage, args| {
        open_pull_request(stage, &[(".tribunal.toml", config)], &[]);
        let run = stage.run(args, false);
        assert!(!stage.was_reached(&run), "{key}: {run:?}");
        let said = format!("{}{}", run.stdout, run.stderr);
        assert_eq!(run.code, 3, "{key}: {said}");
        assert!(said.contains("not trusted") && said.contains("tribunal trust"), "{key}: {said}");
        if args[0] == "review" {
            let document = run.json();
            let seat = document["receipt"]["seats"].as_array().unwrap().iter().find(|seat| seat["agent"] == "x").unwrap();
            assert!(seat["state"]["not-trusted"].is_object(), "{key}: {seat}");
            let failure = &document["subagent_failures"][0];
            assert!(str_of(failure, "reason").starts_with("not-run: not trusted"), "{key}: {failure}");
            assert_eq!(document["outcome"], "incomplete", "{key}");
        }
    });
}

/// A change that brings its own configuration is reviewed by the base's, in CI too.
#[test]
fn nothing_of_a_change_runs() {
    for_every_key(|key, config, stage, args| {
        open_pull_request(stage, &[], &[(".tribunal.toml", config)]);
        for trusts_base in [false, true] {
            let run = stage.run(args, trusts_base);
            assert!(!stage.was_reached(&run), "{key}: {run:?}");
        }
    });
}

/// `tribunal trust` shows the values, and they count from then on.
#[test]
fn what_is_trusted_runs() {
    for_every_key(|key, config, stage, args| {
        open_pull_request(stage, &[(".tribunal.toml", config)], &[]);
        let shown = stage.run(&["trust", "--yes"], false).ends_with(0);
        assert!(shown.stdout.contains(key.split('.').next_back().unwrap()), "{key}: {}", shown.stdout);
        assert_counts(key, stage, &stage.run(args, false));
    });
}

/// In CI, one variable trusts what stands on the base.
#[test]
fn the_base_is_trusted_in_ci() {
    for_every_key(|key, config, stage, args| {
        open_pull_request(stage, &[(".tribunal.toml", config)], &[]);
        assert_counts(key, stage, &stage.run(args, true));
    });
}

fn assert_counts(key: &str, stage: &Stage, run: &Run) {
    let said = format!("{}{}", run.stdout, run.stderr);
    assert!(!said.contains("not trusted"), "{key}: {said}");
    // A CLI runs in a sandbox of its own and says nothing of itself; nothing was there to be fixed and so to be validated.
    let is_silent = ["agents.*.kind", "agents.*.program", "validate.commands", "validate.read"].contains(&key);
    assert!(is_silent || stage.was_reached(run), "{key}: {said}");
}

const COMMAND: &str =
    "[panel]\nsdet = [\"x\"]\n[agents.x]\nkind = \"command\"\ncommand = [\"sh\", \"-c\", \"echo '{\\\"findings\\\": []}'\"]\n";

/// Trust is for values: another key may change, the program may not.
#[test]
fn trust_ends_with_the_values_and_not_with_the_file() {
    let sandbox = Sandbox::on_feature_from(&[("app.py", CLEAN), (".tribunal.toml", COMMAND)]);
    sandbox.write("app.py", SHARED_LIST);
    sandbox.review(&[]).ends_with(3);
    sandbox.tribunal(&["trust", "--yes"]).ends_with(0).prints("agents.x.command").prints("sh");
    sandbox.tribunal(&["trust", "--yes"]).ends_with(0).prints("nothing to trust");
    sandbox.review(&[]).ends_with(0);
    let rewrite = |text: &str| {
        sandbox.git(&["stash", "--quiet"]);
        sandbox.switch("main");
        sandbox.write(".tribunal.toml", text);
        sandbox.commit("Configure");
        sandbox.switch("feature");
        sandbox.git(&["reset", "--quiet", "--hard", "main"]);
        sandbox.git(&["stash", "pop", "--quiet"]);
    };
    rewrite(&format!("# a word more\n[review]\nfail_level = \"P1\"\n{COMMAND}timeout_seconds = 60\n"));
    sandbox.review(&[]).ends_with(1);
    rewrite(&COMMAND.replace("echo", "printf %s"));
    sandbox.review(&[]).ends_with(3);
}

/// On a stranger's branch the base can be trusted without the stranger's version.
#[test]
fn the_base_alone_can_be_trusted() {
    let sandbox = Sandbox::on_feature_from(&[("app.py", CLEAN), (".tribunal.toml", COMMAND)]);
    sandbox.write("app.py", SHARED_LIST);
    sandbox.write(".tribunal.toml", COMMAND.replace("findings", "evil"));
    sandbox.tribunal(&["review"]).ends_with(3).prints("tribunal trust --base");
    let shown = sandbox.tribunal(&["trust", "--base", "--yes"]).ends_with(0);
    assert!(!shown.stdout.contains("evil"), "{}", shown.stdout);
    let review = sandbox.review(&[]).ends_with(0);
    assert!(review.notices().contains("differs from the base"), "{}", review.notices());
    assert_eq!(review.json["subagent_failures"], serde_json::json!([]));
}

/// Trusting a checkout's own version is trusting what it names, and `init` trusts what it writes.
#[test]
fn a_checkout_s_own_version_is_trusted_as_a_whole() {
    let sandbox = Sandbox::on_feature();
    sandbox.write("app.py", SHARED_LIST);
    sandbox.configure(COMMAND);
    sandbox.review(&[]).ends_with(0);
    let sandbox = Sandbox::on_feature_from(&[("app.py", CLEAN), ("Makefile", "test:\n")]);
    sandbox.tribunal(&["init"]).ends_with(0);
    sandbox.commit("Configure");
    sandbox.tribunal(&["trust", "--base", "--yes"]).ends_with(0).prints("nothing to trust");
    let shown = sandbox.tribunal(&["config", "show"]).ends_with(0);
    assert!(shown.stdout.contains("validate.commands") && !shown.stdout.contains("not trusted"), "{}", shown.stdout);
}

/// Whoever looks at the set-up sees what does not count.
#[test]
fn what_is_not_trusted_is_shown() {
    let config = format!("{COMMAND}[validate]\ncommands = [\"make\"]\n");
    let sandbox = Sandbox::on_feature_from(&[("app.py", CLEAN), (".tribunal.toml", &config)]);
    sandbox.tribunal(&["config", "show"]).ends_with(0).prints("not trusted").prints("(not in force)").prints("tribunal trust");
    sandbox.tribunal(&["doctor"]).prints("Not trusted").prints("agents.x, validate.commands");
    sandbox.tribunal(&["agents"]).ends_with(0).prints("not trusted");
    sandbox.tribunal(&["agents", "test", "x"]).ends_with(3).says("not-trusted");
    sandbox.tribunal(&["review", "--dry-run"]);
}

/// The other place of the file is a repository's file as well.
#[test]
fn the_file_beside_the_workflows_needs_trust_too() {
    let sandbox = Sandbox::on_feature_from(&[("app.py", CLEAN), (".github/tribunal.toml", COMMAND)]);
    sandbox.write("app.py", SHARED_LIST);
    sandbox.tribunal(&["review"]).ends_with(3).prints("not-run: not trusted").prints(".github/tribunal.toml");
    sandbox.tribunal(&["trust", "--yes"]).ends_with(0);
    sandbox.review(&[]).ends_with(0);
}

/// A stand-in does not make up for an agent that is not trusted, nor does the person's own agent of the same name.
#[test]
fn nobody_stands_in_for_what_is_not_trusted() {
    let config = COMMAND.replace("[\"x\"]", "[{ agent = \"x\", fallback = [\"rules\"] }]");
    let sandbox = Sandbox::on_feature_from(&[("app.py", CLEAN), (".tribunal.toml", &config)]);
    sandbox.configure_person("[agents.x]\nkind = \"rules\"\n");
    sandbox.write("app.py", SHARED_LIST);
    assert_eq!(sandbox.review(&[]).ends_with(3).json["outcome"], "incomplete");
}

/// A second opinion that nobody is trusted to give is missing.
#[test]
fn a_verifier_that_is_not_trusted_makes_it_incomplete() {
    let config = "[panel.verify]\nagent = \"v\"\n[agents.v]\nkind = \"openai\"\nmodel = \"m\"\n";
    let sandbox = Sandbox::on_feature_from(&[("app.py", CLEAN), (".tribunal.toml", config)]);
    for text in [SHARED_LIST, "LIMIT = 1\n"] {
        sandbox.write("app.py", text);
        assert_eq!(sandbox.review(&["--mode", "full"]).ends_with(3).json["outcome"], "incomplete", "{text}");
    }
}

/// The person's own words need no trust: their file, the environment.
#[test]
fn the_person_s_own_configuration_needs_no_trust() {
    let sandbox = Sandbox::on_feature();
    sandbox.write("app.py", SHARED_LIST);
    sandbox.configure_person(COMMAND);
    sandbox.review(&[]).ends_with(0);
}

#[test]
fn the_variable_has_one_value() {
    let sandbox = Sandbox::with_shared_list();
    let mut command = sandbox.command(&["review"]);
    command.env("TRIBUNAL_TRUST", "all");
    finish(command, b"").ends_with(2).says("the only value it knows is `base`");
}

/// Issue 16, B5: tokens, the marker key and keys of models are passed on to nobody, whoever configured it.
#[test]
fn secrets_are_refused_by_name_in_every_layer() {
    for name in ["GITHUB_TOKEN", "gitlab_token", "TRIBUNAL_MARKER_KEY", "TRIBUNAL_TOKEN", "ANTHROPIC_API_KEY", "SSH_AUTH_SOCK"] {
        let config = format!("[agents.x]\nkind = \"command\"\ncommand = [\"sh\"]\nenv = [\"PATH\", \"{name}\"]\n");
        let sandbox = Sandbox::on_feature_from(&[("app.py", CLEAN), (".tribunal.toml", &config)]);
        sandbox.tribunal(&["review"]).ends_with(2).says("bad-config").says(".tribunal.toml").says(name);
        let sandbox = Sandbox::on_feature();
        sandbox.configure_person(&config);
        sandbox.tribunal(&["review"]).ends_with(2).says("bad-config").says("config.toml:4").says(name);
    }
}

/// A command agent is given the key that it calls its own.
#[test]
fn a_command_is_given_its_own_key() {
    let sandbox = Sandbox::on_feature();
    sandbox.write("app.py", SHARED_LIST);
    let script = sandbox.script("own.sh", "test \"$OPENAI_API_KEY\" = sk-own || exit 9\necho '{\"findings\": []}'\n");
    sandbox.configure_person(&format!(
        "[panel]\nsdet = [\"x\"]\n[agents.x]\nkind = \"command\"\ncommand = {script}\nkey = {{ env = \"OPENAI_API_KEY\" }}\n"
    ));
    let mut command = sandbox.command(&["review"]);
    command.env("OPENAI_API_KEY", "sk-own");
    finish(command, b"").ends_with(0);
}

/// Keys that are the person's alone are ignored in a repository's file, and paths stay inside.
#[test]
fn a_repository_names_no_forge_and_no_place_outside() {
    let sandbox = Sandbox::on_feature_from(&[("app.py", CLEAN), (".tribunal.toml", "[forge]\nuse_cli = true\n")]);
    sandbox.write("app.py", NO_TLS);
    assert!(sandbox.review(&[]).ends_with(1).notices().contains("forge.use_cli"));
    let config = "[agents.x]\nkind = \"sarif\"\nfile = \"/etc/hosts\"\n";
    let sandbox = Sandbox::on_feature_from(&[("app.py", CLEAN), (".tribunal.toml", config)]);
    sandbox.tribunal(&["review"]).ends_with(2).says("leads out of the repository");
}

/// A repository is nobody's home: without one, its files are neither the person's configuration nor records of trust.
#[test]
fn a_repository_cannot_pass_for_the_person_s_home() {
    let config = COMMAND.replace("echo", "echo canary-ran >&2; echo");
    let sandbox = Sandbox::on_feature_from(&[("app.py", CLEAN), (".config/tribunal/config.toml", &config)]);
    sandbox.write("app.py", SHARED_LIST);
    for home in ["", ".", "relative"] {
        let mut command = sandbox.command(&["config", "show"]);
        for variable in ["XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"] {
            command.env_remove(variable);
        }
        command.env("HOME", home);
        let run = finish(command, b"");
        assert!(!run.stdout.contains("agents.x"), "HOME={home}: {}", run.stdout);
    }
}

/// A CI job may have checked out a stranger's branch that is called `main`, and fetched one that somebody pushed under such a name: the
/// base is what the remote calls its head, or what the person names.
#[test]
fn a_branch_that_is_only_called_main_is_no_base_in_ci() {
    let sandbox = Sandbox::on_feature_from(&[("app.py", CLEAN), (".tribunal.toml", COMMAND)]);
    sandbox.write("app.py", SHARED_LIST);
    let review_with = |args: &[&str], variables: &[(&str, &str)]| {
        let mut command = sandbox.command(&[&["review"], args].concat());
        command.env("TRIBUNAL_TRUST", "base").envs(variables.iter().copied());
        finish(command, b"")
    };
    let review = || review_with(&[], &[]);
    review().ends_with(0);
    sandbox.git(&["remote", "add", "origin", "https://git.example.org/acme/shop.git"]);
    review().ends_with(3).prints("not trusted");
    // The person's word does not make a branch of the checkout one of the remote.
    review_with(&["--base", "main"], &[]).ends_with(3).prints("not trusted");
    // Anybody who may push can push a branch of this name, where the default branch has another one.
    sandbox.git(&["update-ref", "refs/remotes/origin/main", "main"]);
    review().ends_with(3).prints("not trusted").prints("git remote set-head origin --auto").prints("--base");
    review_with(&["--base", "origin/main"], &[]).ends_with(0);
    review_with(&[], &[("TRIBUNAL__REVIEW__BASE", "origin/main")]).ends_with(0);
    review_with(&["--base", "HEAD"], &[]).ends_with(3).prints("not trusted");
    sandbox.git(&["branch", "origin/main", "main"]);
    sandbox.git(&["branch", "--force", "origin/main", &sandbox.git(&["commit-tree", "-p", "HEAD", "-m", "Mine", "HEAD^{tree}"])]);
    review_with(&["--base", "origin/main"], &[]).prints("not trusted");
    sandbox.git(&["branch", "-D", "origin/main"]);
    sandbox.git(&["symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main"]);
    review().ends_with(0);
}

/// What the base names is read at its tip: a branch that left it long ago does not bring back a program that was taken out since.
#[test]
fn an_old_base_names_no_program() {
    let sandbox = Sandbox::on_feature_from(&[("app.py", CLEAN), (".tribunal.toml", COMMAND)]);
    sandbox.write("app.py", SHARED_LIST);
    sandbox.commit("Work");
    let seats = |trusts_base: bool| {
        let mut command = sandbox.command(&["review", "--format", "json", "--mode", "full"]);
        if trusts_base {
            command.env("TRIBUNAL_TRUST", "base");
        }
        finish(command, b"").json()["receipt"]["seats"].to_string()
    };
    assert!([false, true].into_iter().all(|trusts_base| seats(trusts_base).contains("\"agent\":\"x\"")));
    sandbox.switch("main");
    sandbox.write(".tribunal.toml", "[panel]\nsdet = [\"rules\"]\n");
    sandbox.commit("Take the program out");
    sandbox.switch("feature");
    assert!([false, true].into_iter().all(|trusts_base| !seats(trusts_base).contains("\"agent\":\"x\"")));
}

/// A program that a repository names prints a key and is shown no other one; one of the person's own has the whole environment.
#[test]
fn a_key_program_of_a_repository_is_shown_no_other_secret() {
    const SECRETS: [&str; 8] = [
        "GITHUB_TOKEN",
        "CI_JOB_TOKEN",
        "TRIBUNAL_TOKEN",
        "TRIBUNAL_MARKER_KEY",
        "OPENAI_API_KEY",
        "ANTHROPIC_API_KEY",
        "OWN_MODEL",
        "OWN_FORGE",
    ];
    let run = |of_repository: bool| {
        let stage = Stage::new();
        let printed = stage.sandbox.outside().join("environment");
        let script = format!("#!/bin/sh\nenv > {}\necho sk-printed-0123456789\n", printed.display());
        let program = stage.bin().join("print-key");
        fs::write(&program, script).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let (agent, _) = case("agents.*.key.command", stage.host.port).unwrap();
        let agent = agent.replace("canary", "print-key");
        let other = "[agents.other]\nkind = \"openai-chat\"\nmodel = \"m\"\nbase_url = \"http://127.0.0.1:1/v1\"\nkey = { env = \"OWN_MODEL\" }\n\
                     [forge.\"git.example.org\"]\ntoken = { env = \"OWN_FORGE\" }\n";
        let base: &[(&str, &str)] = if of_repository { &[(".tribunal.toml", &agent)] } else { &[] };
        open_pull_request(&stage, base, &[]);
        stage.sandbox.configure_person(&if of_repository { other.to_owned() } else { format!("{agent}{other}") });
        let mut command = stage.sandbox.command(&["review", "--mode", "full"]);
        let path = format!("{}:{}", stage.bin().display(), std::env::var("PATH").unwrap());
        command.env("PATH", path).env("TRIBUNAL_TRUST", "base").env("SESSION_OF_A_VAULT", "kept");
        command.envs(SECRETS.iter().map(|name| (name, "a-secret-0123456789")));
        finish(command, b"");
        let seen = fs::read_to_string(&printed).unwrap();
        assert!(seen.contains("SESSION_OF_A_VAULT=kept") && seen.contains("HOME="), "{seen}");
        let is_seen = |name: &&str| seen.lines().any(|line| line.starts_with(&format!("{name}=")));
        SECRETS.into_iter().filter(is_seen).collect::<Vec<_>>()
    };
    assert_eq!(run(true), Vec::<&str>::new());
    assert_eq!(run(false), SECRETS);
}
