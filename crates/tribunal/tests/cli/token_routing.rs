//! Issue 16, point 11: a token goes to the one server that it is for. Each variable is set, its own server is named, and everything
//! that a stranger controls (an address, a remote, a repository's configuration, a receipt, a redirect, a link to a next page) points
//! at another one: another host of this machine, another port, another name of it. No byte of a token may arrive there.

use super::sandbox::Sandbox;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::sync::{Arc, Mutex};

const SECRET: &str = "tok-0123456789abcdefghijkl";

/// A variable that holds a token, and how its server is named.
struct Variable {
    name: &'static str,
    /// As it stands in the address of a pull request.
    words: &'static str,
    kind: &'static str,
    named_by: &'static str,
}

const VARIABLES: [Variable; 10] = [
    Variable { name: "TRIBUNAL_TOKEN", words: "pulls", kind: "gitea", named_by: "TRIBUNAL__FORGE__URL" },
    Variable { name: "GITHUB_TOKEN", words: "pull", kind: "github", named_by: "GITHUB_SERVER_URL" },
    Variable { name: "GH_TOKEN", words: "pull", kind: "github", named_by: "GH_HOST" },
    Variable { name: "GH_ENTERPRISE_TOKEN", words: "pull", kind: "github", named_by: "GH_HOST" },
    Variable { name: "GITHUB_ENTERPRISE_TOKEN", words: "pull", kind: "github", named_by: "TRIBUNAL__FORGE__URL" },
    Variable { name: "GITLAB_TOKEN", words: "-/merge_requests", kind: "gitlab", named_by: "GITLAB_HOST" },
    Variable { name: "CI_JOB_TOKEN", words: "-/merge_requests", kind: "gitlab", named_by: "CI_SERVER_URL" },
    Variable { name: "GITEA_TOKEN", words: "pulls", kind: "gitea", named_by: "GITEA_SERVER_URL" },
    Variable { name: "FORGEJO_TOKEN", words: "pulls", kind: "forgejo", named_by: "FORGEJO_SERVER_URL" },
    Variable { name: "TRIBUNAL_GITHUB_APP_KEY", words: "pull", kind: "github", named_by: "GITHUB_SERVER_URL" },
];

/// A server of the test's own, that writes down every byte it is sent.
struct Listener {
    port: u16,
    host: &'static str,
    seen: Arc<Mutex<String>>,
}

impl Listener {
    fn start(host: &'static str, answer: impl Fn(&str) -> String + Send + Sync + 'static) -> Listener {
        let listener = TcpListener::bind((host, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let seen: Arc<Mutex<String>> = Arc::default();
        let (log, answer) = (Arc::clone(&seen), Arc::new(answer));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (log, answer) = (Arc::clone(&log), Arc::clone(&answer));
                std::thread::spawn(move || serve(&mut stream.unwrap(), &log, answer.as_ref()));
            }
        });
        Listener { port, host, seen }
    }

    fn origin(&self) -> String {
        format!("http://{}:{}", self.host, self.port)
    }

    fn seen(&self) -> String {
        self.seen.lock().unwrap().clone()
    }
}

fn serve(stream: &mut TcpStream, log: &Mutex<String>, answer: &dyn Fn(&str) -> String) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 || line == "\r\n" {
            break;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or(0);
        }
        head.push_str(&line);
    }
    let mut body = vec![0; length];
    let _ = reader.read_exact(&mut body);
    log.lock().unwrap().push_str(&format!("{head}{}\n", String::from_utf8_lossy(&body)));
    let path = head.split_whitespace().nth(1).unwrap_or_default();
    let _ = stream.write_all(answer(path).as_bytes());
}

fn response(status: &str, headers: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\n{headers}content-length: {}\r\nconnection: close\r\n\r\n{body}", body.len())
}

/// Says that it is whatever is looked for, and answers everything with an empty list.
fn impersonator(_path: &str) -> String {
    response("200 OK", "x-gitea: 1\r\n", "[]")
}

/// The command with the token set, and its server named.
fn armed(sandbox: &Sandbox, folder: &std::path::Path, variable: &Variable, home: Option<&str>, args: &[&str]) -> Command {
    let mut command = sandbox.command_in(folder, args);
    if variable.name == "TRIBUNAL_GITHUB_APP_KEY" {
        command.env("TRIBUNAL_GITHUB_APP_ID", "1").env(variable.name, fake_github::private_key());
    } else {
        command.env(variable.name, SECRET);
    }
    if let Some(home) = home {
        command.env(variable.named_by, home);
    }
    // Whatever is asked answers as this kind: the question of what it is is not what is tried here.
    command.env("TRIBUNAL__FORGE__KIND", variable.kind);
    command
}

/// Nothing of a token, in no form, under no header that could carry one.
#[track_caller]
fn assert_untold(listener: &Listener, what: &str) {
    let seen = listener.seen();
    let lower = seen.to_ascii_lowercase();
    for header in ["authorization:", "private-token:", "job-token:", "cookie:"] {
        assert!(!lower.contains(header), "{what}: {header} arrived\n{seen}");
    }
    use base64::Engine as _;
    let encoded = |skip: usize| base64::prelude::BASE64_STANDARD_NO_PAD.encode(&SECRET.as_bytes()[skip..]);
    for form in [SECRET.to_owned(), encoded(0), encoded(1), encoded(2)] {
        // The ends of an encoded text depend on its neighbours.
        let middle = &form[2..form.len() - 2];
        assert!(!seen.contains(middle), "{what}: the token arrived\n{seen}");
    }
}

/// The other servers: another address of this machine, another port, another name.
fn strangers() -> Vec<(Listener, String)> {
    ["127.0.0.2", "127.0.0.1", "localhost"]
        .into_iter()
        .map(|name| {
            let listener = Listener::start(if name == "127.0.0.2" { name } else { "127.0.0.1" }, impersonator);
            let origin = format!("http://{name}:{}", listener.port);
            (listener, origin)
        })
        .collect()
}

/// What a stranger can point elsewhere before anything is asked.
#[test]
fn an_address_a_remote_a_file_and_a_receipt_draw_no_token() {
    let home = Listener::start("127.0.0.1", impersonator);
    let sandbox = Sandbox::on_feature();
    let receipt = receipt(&sandbox);
    for (n, (listener, foreign)) in strangers().into_iter().enumerate() {
        let file = format!(
            "[forge]\nurl = \"{foreign}\"\ntoken = {{ env = \"{}\" }}\n[forge.\"{foreign}\"]\ntoken = {{ env = \"TRIBUNAL_TOKEN\" }}\n",
            "GITHUB_TOKEN"
        );
        sandbox.switch("main");
        sandbox.write(".tribunal.toml", &file);
        sandbox.commit("Say where tokens go");
        let _ = sandbox.command(&["trust", "--yes"]).output();
        sandbox.git(&["config", "remote.origin.url", &format!("{foreign}/acme/shop.git")]);
        for variable in &VARIABLES {
            let forged = forge_receipt(&sandbox, &receipt, &foreign, variable.kind);
            let address = format!("{foreign}/acme/shop/{}/1", variable.words);
            for server in [Some(home.origin()), None] {
                let server = server.as_deref();
                let tries: [&[&str]; 6] = [
                    &["review", &address],
                    &["review", "1"],
                    &["doctor"],
                    &["publish", &forged],
                    &["publish", &forged, "1"],
                    &["publish", &forged, &address],
                ];
                // Everything is tried with one stranger; with the others, what could tell them apart.
                for args in tries.into_iter().take(if n == 0 { 6 } else { 1 }) {
                    let output = armed(&sandbox, &sandbox.path(), variable, server, args).output().unwrap();
                    assert_untold(&listener, &format!("{} {args:?} {server:?}", variable.name));
                    let said = String::from_utf8_lossy(&output.stderr) + String::from_utf8_lossy(&output.stdout);
                    assert!(!said.contains(SECRET), "{}: {said}", variable.name);
                }
                if n > 0 {
                    continue;
                }
                let args = ["publish", &forged];
                let output = armed(&sandbox, &sandbox.outside(), variable, server, &args).output().unwrap();
                assert_eq!(output.status.code(), Some(2), "a receipt does not say where it goes");
                assert_untold(&listener, variable.name);
            }
        }
    }
    assert_untold(&home, "nothing was to be asked there");
}

/// What a server can point elsewhere once it is asked. Each time the token did arrive at home, so that the test can fail.
#[test]
fn a_redirect_and_a_link_carry_no_token() {
    for (listener, foreign) in strangers().into_iter().take(2) {
        for how in ["redirect", "link"] {
            let to = foreign.clone();
            let home = Listener::start("127.0.0.1", move |path| match how {
                "redirect" => response("307 Temporary Redirect", &format!("location: {to}{path}\r\n"), ""),
                _ => response("200 OK", &format!("link: <{to}{path}&page=2>; rel=\"next\"\r\nx-next: 2\r\n"), "[]"),
            });
            let sandbox = Sandbox::on_feature();
            sandbox.git(&["config", "remote.origin.url", &format!("{}/acme/shop.git", home.origin())]);
            for variable in &VARIABLES {
                let address = format!("{}/acme/shop/{}/1", home.origin(), variable.words);
                let tries: [&[&str]; 2] = [&["doctor"], &["review", &address]];
                for args in tries {
                    let output = armed(&sandbox, &sandbox.path(), variable, Some(&home.origin()), args).output().unwrap();
                    assert_ne!(output.status.code(), Some(0), "{} {how} {args:?}", variable.name);
                    assert_untold(&listener, &format!("{} {how} {args:?}", variable.name));
                }
                let seen = home.seen().to_ascii_lowercase();
                let is_sent = ["authorization:", "private-token:", "job-token:"].iter().any(|name| seen.contains(name));
                assert!(is_sent, "{} never arrived at its own server:\n{seen}", variable.name);
                home.seen.lock().unwrap().clear();
            }
        }
    }
}

/// git is given a token as well, and follows no redirect with it.
#[test]
fn git_carries_no_token_elsewhere() {
    let (listener, foreign) = strangers().remove(0);
    let sha = "1".repeat(40);
    let end = |name: &str| {
        format!(
            r#"{{"label":"{name}","ref":"{name}","sha":"{sha}","repo_id":1,"repo":{{"id":1,"full_name":"acme/shop","name":"shop"}}}}"#
        )
    };
    let pull = format!(
        r#"{{"number":1,"title":"t","body":"","user":{{"id":1,"login":"ada"}},"state":"open","draft":false,"merged":false,"mergeable":true,"head":{},"base":{},"labels":[],"html_url":"http://x/1","updated_at":"2026-01-01T00:00:00Z"}}"#,
        end("feature"),
        end("main")
    );
    let home = Listener::start("127.0.0.1", move |path| {
        if path.starts_with("/api/v1/repos/acme/shop/pulls/1") {
            response("200 OK", "", &pull)
        } else if path == "/api/v1/repos/acme/shop" {
            response("200 OK", "", r#"{"id":1,"full_name":"acme/shop","name":"shop","created_at":"2026-01-01T00:00:00Z"}"#)
        } else {
            response("302 Found", &format!("location: {foreign}{path}\r\n"), "")
        }
    });
    let sandbox = Sandbox::on_feature();
    let address = format!("{}/acme/shop/pulls/1", home.origin());
    let gitea = VARIABLES.iter().find(|variable| variable.name == "GITEA_TOKEN").unwrap();
    let output = armed(&sandbox, &sandbox.outside(), gitea, Some(&home.origin()), &["review", &address]).output().unwrap();
    assert_ne!(output.status.code(), Some(0));
    assert!(home.seen().contains("info/refs"), "git asked: {}\n{}", home.seen(), String::from_utf8_lossy(&output.stderr));
    assert_untold(&listener, "git");
    assert_eq!(listener.seen(), "", "git did not go there at all");
}

/// Nothing says which server a token is for: it is sent to nobody, and the line to write is printed. With that line it works.
#[test]
fn a_token_without_a_server_asks_for_one_line() {
    let home = Listener::start("127.0.0.1", impersonator);
    let sandbox = Sandbox::on_feature();
    let address = format!("{}/acme/shop/pulls/1", home.origin());
    let run = || {
        let mut command = sandbox.command_in(&sandbox.outside(), &["review", &address]);
        let output = command.env("GITEA_TOKEN", SECRET).env("TRIBUNAL__FORGE__KIND", "gitea").output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (code, said) = run();
    assert_eq!(code, Some(5), "{said}");
    let line = format!("[forge.\"{}\"] token = {{ env = \"GITEA_TOKEN\" }}", home.origin());
    assert!(said.contains("no-token") && said.contains(&line), "{said}");
    assert_eq!(home.seen(), "");
    sandbox.configure_person(&line.replace("] ", "]\n"));
    run();
    assert!(home.seen().contains(SECRET), "{}", home.seen());
}

/// A forge's own tool may answer with a variable, whichever server it is asked for; then that is not what it keeps for the server.
#[test]
fn a_tool_does_not_pass_a_variable_on() {
    let (listener, foreign) = strangers().remove(0);
    let sandbox = Sandbox::on_feature();
    let tools = sandbox.root().join("tools");
    std::fs::create_dir_all(&tools).unwrap();
    let answer = "for name in $(env | sed 's/=.*//'); do case $name in *TOKEN*|*APP_KEY) eval \"said=\\$$name\";; esac; done\n";
    for (tool, print) in [("gh", "echo \"$said\""), ("glab", "echo \"$said\""), ("tea", "echo \"password=$said\"")] {
        let file = tools.join(tool);
        std::fs::write(&file, format!("#!/bin/sh\n{answer}[ -n \"$said\" ] || exit 1\n{print}\n")).unwrap();
        std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    }
    let path = format!("{}:{}", tools.display(), std::env::var("PATH").unwrap());
    for variable in &VARIABLES {
        let address = format!("{foreign}/acme/shop/{}/1", variable.words);
        let home = Some("https://home.example.org");
        let mut command = armed(&sandbox, &sandbox.outside(), variable, home, &["review", &address]);
        let output = command.env("PATH", &path).env("TRIBUNAL__FORGE__USE_CLI", "true").output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(5) && said.contains("no token for"), "{}: {said}", variable.name);
        assert_untold(&listener, variable.name);
    }
}

/// Without https a token stays here, whoever names the server.
#[test]
fn a_token_is_not_sent_in_the_clear() {
    let sandbox = Sandbox::on_feature();
    for variable in &VARIABLES {
        let address = format!("http://git.example.org/acme/shop/{}/1", variable.words);
        let server = Some("http://git.example.org");
        let output = armed(&sandbox, &sandbox.outside(), variable, server, &["review", &address]).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(5), "{}: {said}", variable.name);
        assert!(said.contains("no-token") && said.contains("https"), "{}: {said}", variable.name);
    }
}

/// A receipt of a local review, to be made into one of anything.
fn receipt(sandbox: &Sandbox) -> serde_json::Value {
    sandbox.write("app.py", super::sandbox::SHARED_LIST);
    sandbox.commit("Share a list");
    sandbox.review(&[]).json
}

fn forge_receipt(sandbox: &Sandbox, receipt: &serde_json::Value, origin: &str, kind: &str) -> String {
    let mut forged = receipt.clone();
    forged["mode"] = "pull".into();
    forged["pull"] = serde_json::json!({
        "kind": kind, "origin": origin, "path": "acme/shop", "number": 1, "title": "t", "url": format!("{origin}/acme/shop/pulls/1"),
    });
    let file = sandbox.outside().join("forged.json");
    std::fs::write(&file, forged.to_string()).unwrap();
    file.display().to_string()
}
