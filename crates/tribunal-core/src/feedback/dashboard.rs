//! Checks whose findings cannot be seen from here (PR-112): an analyser fails, says how many problems it has, and keeps them on its own
//! pages. Whoever works on the rest meanwhile, or guesses, wastes a round.
//!
//! Builds and tests are not meant, wherever they run: what they say is short, but it is no list of findings that somebody else holds.
//! Coverage services say their one number, so they are not here either.

use super::item::{Item, Surface, Voice};

/// Analysers, by the end of the host that their checks link to.
const HOSTS: [&str; 14] = [
    "sonarcloud.io",
    "codacy.com",
    "deepsource.com",
    "deepsource.io",
    "codeclimate.com",
    "qlty.sh",
    "snyk.io",
    "gitguardian.com",
    "semgrep.dev",
    "qodana.cloud",
    "codescene.io",
    "checkmarx.net",
    "veracode.com",
    "scan.coverity.com",
];

/// Those that people run on hosts of their own, by the name of the check.
const NAMES: [&str; 3] = ["sonarqube", "coverity", "checkmarx"];

/// Where a failing check keeps what it found, if it does not say it and no person has said it for it.
pub fn hidden_findings<'a>(check: &Item, said: impl IntoIterator<Item = &'a Item>) -> Option<String> {
    let Surface::Check { name } = &check.surface else { return None };
    // A linter's result says where it stands.
    if check.path.is_some() {
        return None;
    }
    let name = name.to_lowercase();
    let host = host(&check.url);
    let is_analyser = HOSTS.iter().any(|known| host == *known || host.ends_with(&format!(".{known}")))
        || NAMES.iter().any(|known| name.contains(known));
    if !is_analyser || names_a_line(&check.body) {
        return None;
    }
    let is_told = said.into_iter().any(|item| item.voice == Voice::Person && item.body.to_lowercase().contains(&name));
    (!is_told).then(|| if host.is_empty() { "its own pages".to_owned() } else { host.to_owned() })
}

fn host(url: &str) -> &str {
    let rest = url.split_once("://").map_or("", |(_, rest)| rest);
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = host.rsplit('@').next().unwrap_or_default();
    host.split(':').next().unwrap_or_default()
}

/// `src/a.py:4`, anywhere in it.
fn names_a_line(text: &str) -> bool {
    text.split_whitespace().any(|word| {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric());
        let place = word.rsplit_once(':');
        place.is_some_and(|(path, line)| path.contains('.') && !path.contains("//") && line.parse::<u32>().is_ok())
    })
}

#[cfg(test)]
mod tests {
    use super::super::samples::{codex, item, person};
    use super::*;

    fn check(name: &str, url: &str, body: &str) -> Item {
        let surface = Surface::Check { name: name.into() };
        Item { surface, url: url.into(), path: None, ..item("check:x", &codex(), Voice::Check, "x", 1, body) }
    }

    const SONAR: &str = "https://sonarcloud.io/dashboard?id=shop&pullRequest=7";

    /// PR-112: who keeps findings to himself, and who does not.
    #[test]
    fn only_what_an_analyser_keeps_is_hidden() {
        let hidden = |name: &str, url: &str, body: &str| hidden_findings(&check(name, url, body), []);
        assert_eq!(hidden("SonarCloud Code Analysis", SONAR, "Quality Gate failed").as_deref(), Some("sonarcloud.io"));
        assert_eq!(hidden("Codacy", "https://app.codacy.com/gh/a/b", "2 new issues").as_deref(), Some("app.codacy.com"));
        assert_eq!(hidden("SonarQube", "https://sonar.corp:9000/x", "failed").as_deref(), Some("sonar.corp"));
        assert_eq!(hidden("sonarqube", "", "failed").as_deref(), Some("its own pages"));
        assert_eq!(hidden("SonarCloud", SONAR, "src/a.py:4: a null is read"), None);
        let result = Item { path: Some("src/a.py".into()), ..check("sonarqube/S1", "", "a null is read") };
        assert_eq!(hidden_findings(&result, []), None);
        assert_eq!(hidden("ci/test", "https://ci.example.com/7", "3 tests failed"), None);
        assert_eq!(hidden("ci", "https://ci.example.com/?next=//sonarcloud.io", "failed"), None);
        assert_eq!(hidden("ci", "https://notsonarcloud.io/7", "failed"), None);
        assert_eq!(hidden_findings(&item("thread:1", &codex(), Voice::Bot, "a.py", 1, "SonarQube failed"), []), None);
    }

    /// PR-112: the question is answered by a person who says what it found; a bot that repeats it answers nothing.
    #[test]
    fn a_person_answers_it() {
        let failed = check("SonarCloud", SONAR, "Quality Gate failed");
        let said = |voice| item("comment:1", &person("alice"), voice, "x", 1, "sonarcloud says that `f` reads a null in cart.py");
        assert_eq!(hidden_findings(&failed, [&said(Voice::Person)]), None);
        assert!(hidden_findings(&failed, [&said(Voice::Bot)]).is_some());
    }
}
