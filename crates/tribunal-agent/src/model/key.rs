//! Where a model's key comes from: the environment, a program, or the system's keyring. Never a file of the repository.
//!
//! The keyring is asked through the program that the system has for it, which unlocks it and asks the person as it is used to; a
//! library for it would bring a D-Bus client along.

use std::io::Write as _;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};
use tribunal_core::findings::admit::one_line;
use tribunal_core::policy::agents::{KeySource, Wire};
use tribunal_core::policy::keys::is_exposed;
use tribunal_core::publish::outgoing::known::learn_secret;

/// A person may have to type a passphrase or touch a token.
const PATIENCE: Duration = Duration::from_secs(30);
const SERVICE: &str = "tribunal";

/// A text that is shown to nobody.
pub struct Secret(String);

impl Secret {
    /// From here on nothing that this process posts, stores or prints holds it.
    pub fn new(text: impl Into<String>) -> Self {
        let text = text.into();
        learn_secret(&text);
        Self(text)
    }

    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(…)")
    }
}

impl std::fmt::Display for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("…")
    }
}

/// The key, or none for a server of one's own that was given none. A program that prints it is not shown variables that `is_hidden`. May
/// run a program and wait for it: not for an async thread.
pub fn resolve(
    source: Option<&KeySource>,
    wire: Wire,
    base_url: Option<&str>,
    is_hidden: &dyn Fn(&str) -> bool,
    env: &dyn Fn(&str) -> Option<String>,
) -> Result<Option<Secret>, String> {
    match source {
        None if base_url.is_some() => Ok(None),
        _ if is_exposed(wire, base_url) => Err(format!(
            "its key is not sent to `{}`: without https anybody on the way could read it; use https, or a server on this machine",
            base_url.unwrap_or_else(|| wire.base_url())
        )),
        None => variable(wire.key_variable(), env).map(Some),
        Some(KeySource::Command(command)) => {
            let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
            let without: Vec<String> = names.filter(|name| is_hidden(name)).collect();
            let without: Vec<&str> = without.iter().map(String::as_str).collect();
            printed(command, "", &without, env).and_then(|text| whole(command, &text)).map(Some)
        }
        Some(source) => read(source, env).map(Some),
    }
}

/// A secret from where it is kept. May run a program and wait for it: not for an async thread.
pub fn read(source: &KeySource, env: &dyn Fn(&str) -> Option<String>) -> Result<Secret, String> {
    match source {
        KeySource::Env(name) => variable(name, env),
        KeySource::Command(command) => printed(command, "", &[], env).and_then(|text| whole(command, &text)),
        KeySource::Keyring(name) => {
            let command = keyring(name, std::env::consts::OS)?;
            printed(&command, "", &[], env).and_then(|text| whole(&command, &text)).map_err(|problem| {
                format!("the keyring gave no key for the account `{name}` of the service `{SERVICE}`: {problem}")
            })
        }
    }
}

/// What a forge's own tool keeps for a server. It is not shown the variables `without`: some tools would print what such a variable
/// holds, whichever server they are asked for. May run for long: not for an async thread.
pub fn of_tool(command: &[String], without: &[&str], env: &dyn Fn(&str) -> Option<String>) -> Result<Secret, String> {
    printed(command, "", without, env).and_then(|text| whole(command, &text))
}

/// The same of a program that speaks git's credential protocol.
pub fn credential(
    command: &[String],
    origin: &str,
    without: &[&str],
    env: &dyn Fn(&str) -> Option<String>,
) -> Result<Secret, String> {
    let (protocol, host) = origin.split_once("://").ok_or_else(|| format!("`{origin}` is no address"))?;
    let text = printed(command, &format!("protocol={protocol}\nhost={host}\n\n"), without, env)?;
    let password = text.lines().find_map(|line| line.strip_prefix("password="));
    let password = password.map(str::trim).filter(|password| !password.is_empty());
    let program = command.first().map_or("", String::as_str);
    password.map(Secret::new).ok_or_else(|| format!("`{program}` has no login for {host}"))
}

fn whole(command: &[String], text: &str) -> Result<Secret, String> {
    match text.trim() {
        "" => Err(format!("`{}` printed nothing", command.first().map_or("", String::as_str))),
        key => Ok(Secret::new(key)),
    }
}

fn variable(name: &str, env: &dyn Fn(&str) -> Option<String>) -> Result<Secret, String> {
    match env(name) {
        None => Err(format!("the variable `{name}` is not set, and it must hold the key")),
        Some(value) if value.trim().is_empty() => Err(format!("the variable `{name}` is empty, and it must hold the key")),
        Some(value) => Ok(Secret::new(value.trim())),
    }
}

fn keyring(name: &str, system: &str) -> Result<Vec<String>, String> {
    let words: &[&str] = match system {
        "linux" | "freebsd" | "openbsd" | "netbsd" => &["secret-tool", "lookup", "service", SERVICE, "account", name],
        "macos" => &["security", "find-generic-password", "-s", SERVICE, "-a", name, "-w"],
        _ => return Err(format!("no keyring is read on {system} yet; use `key.env` or `key.command`")),
    };
    Ok(words.iter().map(|word| (*word).to_owned()).collect())
}

/// Runs with the person's whole environment, as credential helpers do, but for the variables `without`: agents, sockets and sessions of
/// password managers are found through it. Not in the current folder, though: interpreters load modules from there, and that is the change's own tree.
fn printed(command: &[String], input: &str, without: &[&str], env: &dyn Fn(&str) -> Option<String>) -> Result<String, String> {
    let (program, args) = command.split_first().ok_or("its command is empty")?;
    let home = env("HOME").map(std::path::PathBuf::from).filter(|home| home.is_dir());
    let mut child = tribunal_programs::command(program).map_err(|error| format!("`{program}` cannot be started: {error}"))?;
    child.args(args).current_dir(home.unwrap_or_else(std::env::temp_dir));
    for name in without {
        child.env_remove(name);
    }
    child.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let output = within(PATIENCE, program, child, input)?;
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        let said = stderr.lines().last().map(|line| format!(": {}", one_line(line))).unwrap_or_default();
        return Err(format!("`{program}` ended with {}{said}", output.status));
    }
    String::from_utf8(output.stdout).map_err(|_| format!("`{program}` printed what is no text"))
}

/// Waits for a program, and ends it when its time is up.
fn within(patience: Duration, program: &str, mut command: Command, input: &str) -> Result<Output, String> {
    let mut child = command.spawn().map_err(|error| format!("`{program}` cannot be started: {error}"))?;
    // A few words, which a pipe holds. One that does not want them has ended already, and what it printed counts.
    if let Some(mut stdin) = child.stdin.take() {
        let _ = stdin.write_all(input.as_bytes());
    }
    let deadline = Instant::now() + patience;
    loop {
        match child.try_wait() {
            Ok(Some(_)) => return child.wait_with_output().map_err(|error| format!("`{program}` failed: {error}")),
            Ok(None) if Instant::now() < deadline => std::thread::sleep(Duration::from_millis(10)),
            Ok(None) | Err(_) => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("`{program}` printed no key within {} s", patience.as_secs()));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(source: Option<KeySource>, has_own_base_url: bool) -> Result<Option<String>, String> {
        let env = |name: &str| match name {
            "ANTHROPIC_API_KEY" => Some("sk-one\n".to_owned()),
            "EMPTY" => Some(" ".to_owned()),
            _ => None,
        };
        let base_url = has_own_base_url.then_some("http://127.0.0.1:1/v1");
        let key = resolve(source.as_ref(), Wire::Anthropic, base_url, &|_| false, &env)?;
        Ok(key.map(|key| key.expose().to_owned()))
    }

    fn command(script: &str) -> Option<KeySource> {
        Some(KeySource::Command(["sh", "-c", script].map(str::to_owned).into()))
    }

    #[test]
    fn the_vendor_s_variable_is_the_default() {
        assert_eq!(ask(None, false).unwrap().as_deref(), Some("sk-one"));
        assert_eq!(ask(None, true).unwrap(), None);
    }

    /// Issue 16, point 11: the same holds for a model's key as for a forge's token.
    #[test]
    fn a_key_is_not_sent_in_the_clear() {
        let source = KeySource::Env("ANTHROPIC_API_KEY".into());
        let ask = |url: &str| {
            resolve(Some(&source), Wire::Anthropic, Some(url), &|_| false, &|_| Some("sk-one".into())).map(|key| key.is_some())
        };
        for exposed in ["http://models.example.org/v1", "http://127.0.0.1.example.org/", "HTTP://api.anthropic.com/"] {
            assert!(ask(exposed).unwrap_err().contains("https"), "{exposed}");
        }
        for fine in ["https://models.example.org/v1", "http://127.0.0.1:11434", "http://localhost:1/v1"] {
            assert_eq!(ask(fine), Ok(true), "{fine}");
        }
        assert_eq!(
            resolve(None, Wire::Anthropic, Some("http://models.example.org"), &|_| false, &|_| None).map(|key| key.is_some()),
            Ok(false)
        );
    }

    #[test]
    fn a_missing_variable_is_named() {
        let missing = ask(Some(KeySource::Env("NOWHERE".into())), true).unwrap_err();
        assert_eq!(missing, "the variable `NOWHERE` is not set, and it must hold the key");
        assert!(ask(Some(KeySource::Env("EMPTY".into())), true).unwrap_err().contains("`EMPTY` is empty"));
    }

    #[cfg(unix)]
    #[test]
    fn a_program_prints_it() {
        assert_eq!(ask(command("echo sk-two"), true).unwrap().as_deref(), Some("sk-two"));
        let failed = ask(command("echo first >&2; echo locked >&2; echo sk-half; exit 3"), true).unwrap_err();
        assert!(failed.contains("exit status: 3: locked") && !failed.contains("sk-half"), "{failed}");
        assert!(ask(command("true"), true).unwrap_err().contains("printed nothing"));
        let missing = ask(Some(KeySource::Command(vec!["/nowhere/at/all".into()])), true).unwrap_err();
        assert!(missing.contains("cannot be started"), "{missing}");
    }

    /// Found by its name in our environment, so that it is gone from the program's.
    #[cfg(unix)]
    #[test]
    fn a_program_is_not_shown_what_is_hidden() {
        let source = command("printenv PATH >/dev/null && echo seen || echo hidden").unwrap();
        let ask = |is_hidden: &dyn Fn(&str) -> bool| {
            resolve(Some(&source), Wire::Anthropic, None, is_hidden, &|_| None).unwrap().unwrap().expose().to_owned()
        };
        assert_eq!(ask(&|_| false), "seen");
        assert_eq!(ask(&|name| name == "PATH"), "hidden");
    }

    /// Interpreters load code from the folder they are started in.
    #[cfg(unix)]
    #[test]
    fn the_program_does_not_run_in_the_change_s_tree() {
        let here = std::env::current_dir().unwrap();
        assert_ne!(ask(command("pwd"), true).unwrap().unwrap(), here.to_string_lossy());
    }

    #[test]
    fn keyrings_are_asked_by_the_system_s_program() {
        assert_eq!(keyring("work", "linux").unwrap().join(" "), "secret-tool lookup service tribunal account work");
        assert_eq!(keyring("work", "macos").unwrap().join(" "), "security find-generic-password -s tribunal -a work -w");
        assert!(keyring("work", "windows").unwrap_err().contains("key.env"));
    }

    #[test]
    fn a_secret_shows_itself_to_nobody() {
        let secret = Secret::new("sk-one");
        assert_eq!(format!("{secret:?} {secret}"), "Secret(…) …");
    }
}
