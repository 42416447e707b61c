//! What programs that the config names can do to the machine they run on: `command` agents, linters and their copies, seen from
//! outside. Each test here is an attack; that the same program works when it behaves is shown in `agents` and `sarif_agent`.

use super::sandbox::{Document, Sandbox, answering, finish, str_of};
use serde_json::json;
use std::fs;
use std::os::unix::net::UnixListener;
use std::path::Path;

/// Without a sandbox nothing is started, and there is nothing to see here.
fn sandbox() -> Option<Sandbox> {
    let sandbox = Sandbox::with_shared_list();
    let doctor = sandbox.tribunal(&["doctor"]).stdout;
    let is_there = !doctor.contains("sandbox for agents and linters: none");
    assert!(is_there || std::env::var_os("CI").is_none(), "CI must have a sandbox: {doctor}");
    assert!(!is_there || doctor.contains("a child tried 11 ways out, and all were refused"), "{doctor}");
    is_there.then_some(sandbox)
}

/// Runs a script as an agent; what it prints to `report` is said back in a finding.
fn run(sandbox: &Sandbox, script: &str, more: &str) -> (Document, String) {
    let answer = "cat > /dev/null\nfound=$( { ".to_owned()
        + script
        + " ; } 2>/dev/null | tr '\\n\"\\\\' '   ' )\ncat <<REPORT\n{\"findings\": [{\"category\": \"E1\", \"file\": \"app.py\", \"confidence\": \"high\", \"blast\": \"local\", \
           \"justification\": \"reachable\", \"evidence\": \"    return items\", \"failure_mode\": \"seen: $found.\", \"mitigation\": \"m\"}]}\nREPORT\n";
    sandbox.seat_with("staff-engineer", &answer, more);
    let run = finish(sandbox.command(&["review", "--mode", "full", "--format", "json"]), b"");
    let review = Document { code: run.code, json: run.json() };
    let said = review.findings().find(|finding| str_of(finding, "failure_mode").starts_with("seen:"));
    let said = said.unwrap_or_else(|| panic!("it said nothing: {:#}", review.json));
    let said = str_of(said, "failure_mode").trim_start_matches("seen:").trim_end_matches('.').trim().to_owned();
    (review, said)
}

fn put(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// B6 (b): nothing of a home is read but the tools that are installed there. `read` opens what it names, and no keys.
#[test]
fn a_home_is_not_read() {
    let Some(sandbox) = sandbox() else { return };
    let home = sandbox.root().join("home");
    for name in [".ssh/id_ed25519", ".aws/credentials", ".config/gh/hosts.yml", ".netrc", "notes.txt", ".cargo/credentials.toml"]
    {
        put(&home.join(name), "SECRET");
    }
    put(&home.join("rules/lint.yml"), "allowed");
    let script = format!(
        "cat {0}/.ssh/* {0}/.aws/* {0}/.config/gh/* {0}/.netrc {0}/notes.txt {0}/.cargo/* {0}/rules/lint.yml {1}/app.py /etc/shadow; ls -A {0}/.ssh {1}; true",
        home.display(),
        sandbox.path().display()
    );
    for network in ["network = true\n", "network = false\n"] {
        assert_eq!(run(&sandbox, &script, network).1, "");
    }
    let (_, said) = run(&sandbox, &script, "read = [\"~/rules\"]\n");
    assert_eq!(said, "allowed");
    for refused in ["~/.ssh", "~/.aws/credentials", "/", "~/.config", "~/.cargo"] {
        sandbox.seat_with("staff-engineer", &answering(&json!({ "findings": [] })), &format!("read = [\"{refused}\"]\n"));
        let review = sandbox.review(&["--mode", "full"]).ends_with(3);
        let reason = str_of(&review.json["subagent_failures"][0], "reason");
        assert!(reason.contains("which is refused"), "{refused}: {reason}");
    }
    sandbox.seat_with("staff-engineer", "", "read = [\"rules\"]\n");
    sandbox.tribunal(&["review"]).ends_with(2).says("neither an absolute path");
}

/// B6 (b): a tool that is installed in a home runs, with its interpreter and its parts, by their own place and
/// below its own `HOME`, and sees nothing else there.
#[test]
fn a_tool_in_a_home_finds_its_own_parts() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let Some(sandbox) = sandbox() else { return };
    let home = sandbox.root().join("home");
    put(&home.join(".ssh/id_ed25519"), "SECRET");
    put(&home.join(".local/share/uv/tools/lint/lib/parts"), "part");
    let program = home.join(".local/share/uv/tools/lint/bin/lint");
    let sarif = json!({ "version": "2.1.0", "runs": [{ "tool": { "driver": { "name": "lint" } }, "results": [{ "ruleId": "L1",
        "message": { "text": "PART KEY" }, "locations": [{ "physicalLocation": { "artifactLocation": { "uri": "app.py" }, "region": { "startLine": 1 } } }] }] }] });
    let script = format!(
        "#!/bin/sh\ncat {0}/.local/share/uv/tools/lint/lib/parts >/dev/null || exit 1\npart=$(cat $HOME/.local/share/uv/tools/lint/lib/parts) || exit 1\nkey=$(cat {0}/.ssh/id_ed25519)\ncat <<SARIF\n{1}\nSARIF\n",
        home.display(),
        sarif.to_string().replace("PART", "$part").replace("KEY", "$key")
    );
    put(&program, &script);
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    fs::create_dir_all(home.join(".local/bin")).unwrap();
    symlink(&program, home.join(".local/bin/lint")).unwrap();
    sandbox.configure_person(
        "[panel]\nstaff-engineer = [\"lint\"]\n[agents.lint]\nkind = \"sarif\"\ncommand = [\"lint\"]\ncategory = \"E1\"\n",
    );
    let mut command = sandbox.command(&["review", "--format", "json"]);
    let path = format!("{}:{}", home.join(".local/bin").display(), std::env::var("PATH").unwrap());
    command.env("PATH", path);
    let run = finish(command, b"").ends_with(0);
    let json = run.json();
    let said: Vec<&str> = json["findings"].as_array().unwrap().iter().map(|finding| str_of(finding, "failure_mode")).collect();
    assert_eq!(said, ["part"], "{json:#}");
}

/// B6 (a): a socket is as much out of reach as a file, and so is every other one.
#[test]
fn sockets_of_the_machine_are_not_reached() {
    let Some(sandbox) = sandbox() else { return };
    let path = sandbox.outside().join("docker.sock");
    let listener = UnixListener::bind(&path).unwrap();
    listener.set_nonblocking(true).unwrap();
    let script = format!(
        "/usr/bin/python3 -c 'import socket; print(\"ran\", flush=True); s = socket.socket(socket.AF_UNIX); s.connect(\"{}\"); print(\"reached\")'; true",
        path.display()
    );
    let read = format!("read = [\"{}\"]\n", sandbox.outside().display());
    for more in ["network = true\n".to_owned(), "network = false\n".to_owned(), format!("network = true\n{read}")] {
        assert_eq!(run(&sandbox, &script, &more).1, if Path::new("/usr/bin/python3").exists() { "ran" } else { "" });
    }
    assert!(listener.accept().is_err());
}

/// F19: nothing stays behind, nothing outside changes.
#[test]
fn nothing_stays_and_nothing_changes() {
    use std::os::unix::fs::MetadataExt as _;
    let Some(sandbox) = sandbox() else { return };
    let (file, name) = (sandbox.outside().join("file"), format!("tribunal-left-{}", std::process::id()));
    put(&file, "x");
    let before = fs::metadata(&file).unwrap();
    let script = format!(
        "for f in /tmp /var/tmp /dev/shm {0} {1}; do echo x > $f/{2}; done; chmod 777 {0}/file {3}/app.py; touch -d 2001-01-01 {0}/file {3}/app.py; \
         mkdir -p a/b; echo x > a/b/c; chmod 000 a/b a; ln -s / root; true",
        sandbox.outside().display(),
        sandbox.root().join("home").display(),
        name,
        sandbox.path().display()
    );
    let of_repository = fs::metadata(sandbox.path().join("app.py")).unwrap();
    run(&sandbox, &script, &format!("read = [\"{}\"]\n", sandbox.outside().display()));
    for folder in
        [Path::new("/tmp"), Path::new("/var/tmp"), Path::new("/dev/shm"), &sandbox.outside(), &sandbox.root().join("home")]
    {
        assert!(!folder.join(&name).exists(), "{}", folder.display());
    }
    let facts = |about: &fs::Metadata| (about.mode(), about.mtime(), about.ctime_nsec());
    assert_eq!(facts(&before), facts(&fs::metadata(&file).unwrap()));
    assert_eq!(facts(&of_repository), facts(&fs::metadata(sandbox.path().join("app.py")).unwrap()));
    let left: Vec<_> = fs::read_dir(sandbox.temporary_folder()).unwrap().flatten().map(|entry| entry.path()).collect();
    assert!(left.is_empty(), "{left:?}");
}

/// B6 (e): a linter that follows links finds none that leads out of its copy.
#[test]
fn a_linter_s_copy_has_no_way_out() {
    use std::os::unix::fs::symlink;
    let Some(sandbox) = sandbox() else { return };
    put(&sandbox.outside().join("secret"), "SECRET");
    for (name, target) in
        [("absolute", sandbox.outside().join("secret")), ("up", "../outside/secret".into()), ("etc", "/etc/passwd".into())]
    {
        symlink(target, sandbox.path().join(name)).unwrap();
    }
    symlink("app.py", sandbox.path().join("inside.py")).unwrap();
    sandbox.commit("Bring links");
    let sarif = json!({ "version": "2.1.0", "runs": [{ "tool": { "driver": { "name": "lint" } }, "results": [{ "ruleId": "L1",
        "message": { "text": "$(echo *) $(cat absolute up etc 2>/dev/null | tr -cd A-Za-z)" },
        "locations": [{ "physicalLocation": { "artifactLocation": { "uri": "app.py" }, "region": { "startLine": 1 } } }] }] }] });
    let command = sandbox.script("lint.sh", &format!("cat <<SARIF\n{sarif}\nSARIF\n"));
    // It may read outside; the links are gone all the same.
    sandbox.configure_person(&format!(
        "[panel]\nstaff-engineer = [\"lint\"]\n[agents.lint]\nkind = \"sarif\"\ncommand = {command}\ncategory = \"E1\"\nread = [\"{}\"]\n",
        sandbox.outside().display()
    ));
    let review = sandbox.review(&["--mode", "full"]);
    let said = review.findings().map(|finding| str_of(finding, "failure_mode")).find(|text| text.contains("app.py"));
    assert_eq!(said.map(str::trim), Some("app.py inside.py"), "{:#}", review.json);
}

/// B6 (c): a daemon does not outlive the agent that left it, whatever it does to be forgotten.
#[test]
fn a_daemon_does_not_survive() {
    let Some(sandbox) = sandbox() else { return };
    let mark = format!("3600.{}", std::process::id());
    let script = format!(
        "env -i setsid sh -c '(sleep {mark} & : > started; wait) </dev/null >/dev/null 2>&1 &' </dev/null >/dev/null 2>&1 & until [ -e started ]; do sleep 0.05; done"
    );
    run(&sandbox, &script, "");
    let runs = fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .any(|entry| fs::read(entry.path().join("cmdline")).is_ok_and(|line| line == format!("sleep\0{mark}\0").as_bytes()));
    assert!(!runs, "a daemon has survived");
}
