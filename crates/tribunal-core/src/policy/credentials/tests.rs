use super::*;
use proptest::prelude::*;
use std::collections::BTreeMap;

fn settings(text: &str) -> ForgeConfig {
    let config: crate::policy::config::Config = toml::from_str(text).unwrap();
    config.forge
}

fn granted(kind: ForgeKind, server: &str, config: &str, set: &[(&str, &str)]) -> Result<Option<TokenSource>, TokenRefusal> {
    let set: BTreeMap<String, String> = set.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
    grant(kind, server, &settings(config), &|name| set.get(name).cloned()).map(|grant| grant.map(|grant| grant.source))
}

fn chosen(kind: ForgeKind, server: &str, set: &[(&str, &str)]) -> Option<&'static str> {
    match granted(kind, server, "", set) {
        Ok(Some(TokenSource::Variable(name))) => Some(name),
        Ok(_) | Err(_) => None,
    }
}

/// A host that only says that it is GitHub does not get the token for github.com.
#[test]
fn a_token_goes_where_it_belongs() {
    let github = [("GITHUB_TOKEN", "t")];
    assert_eq!(chosen(GitHub, "https://github.com", &github), Some("GITHUB_TOKEN"));
    assert_eq!(chosen(GitHub, "https://evil.example", &github), None);
    let enterprise = [("GITHUB_TOKEN", "t"), ("GITHUB_SERVER_URL", "https://ghes.corp/")];
    assert_eq!(chosen(GitHub, "https://ghes.corp", &enterprise), Some("GITHUB_TOKEN"));
    assert_eq!(chosen(GitHub, "https://github.com", &enterprise), None, "it is the job's, which runs elsewhere");
    let job = [("GITHUB_TOKEN", "t"), ("GITHUB_SERVER_URL", "https://git.corp:3000")];
    assert_eq!(chosen(Gitea, "https://git.corp:3000", &job), Some("GITHUB_TOKEN"));
    assert_eq!(chosen(Gitea, "https://other.corp", &job), None);
    assert_eq!(chosen(Gitea, "https://github.com", &github), None, "whatever is said to run there");
    let forgejo =
        [("GITEA_TOKEN", "t"), ("FORGEJO_TOKEN", "t"), ("GITEA_SERVER_URL", "h.corp"), ("FORGEJO_SERVER_URL", "h.corp")];
    assert_eq!(chosen(Forgejo, "https://h.corp", &forgejo), Some("FORGEJO_TOKEN"));
    assert_eq!(chosen(Gitea, "https://h.corp", &forgejo), Some("GITEA_TOKEN"));
    assert_eq!(chosen(GitLab, "https://gl.corp", &[("CI_JOB_TOKEN", "t"), ("CI_SERVER_HOST", "gl.corp")]), Some("CI_JOB_TOKEN"));
    assert_eq!(chosen(GitLab, "https://gl.corp", &[("CI_JOB_TOKEN", "t")]), None);
    assert_eq!(chosen(GitLab, "https://gl.corp", &[("GITLAB_TOKEN", "t")]), None);
    assert_eq!(chosen(GitLab, "https://gitlab.com", &[("GITLAB_TOKEN", "t")]), Some("GITLAB_TOKEN"));
    let ours = [("GITLAB_TOKEN", " "), ("TRIBUNAL_TOKEN", "t"), ("CI_SERVER_URL", "https://gl.corp")];
    assert_eq!(chosen(GitLab, "https://gl.corp", &ours), Some("TRIBUNAL_TOKEN"));
}

/// Issue 16, point 11: a token for nobody in particular is sent to nobody, and the person is told what to write.
#[test]
fn a_token_without_a_server_is_sent_nowhere() {
    for (kind, variable) in
        [(Gitea, "GITEA_TOKEN"), (GitHub, "GH_ENTERPRISE_TOKEN"), (GitLab, "TRIBUNAL_TOKEN"), (Forgejo, "FORGEJO_TOKEN")]
    {
        let refused = granted(kind, "https://git.corp", "", &[(variable, "t")]).unwrap_err();
        assert!(matches!(&refused, TokenRefusal::Unbound { variable: named, .. } if *named == variable), "{refused}");
        let server = HttpOrigin::of("https://git.corp").unwrap();
        let line = binding(variable, &server);
        let (_, text) = line.split_once(": ").unwrap();
        let table = text.replace("] ", "]\n");
        let found = granted(kind, "https://git.corp", &table, &[(variable, "t")]).unwrap();
        assert_eq!(found, Some(TokenSource::Configured(KeySource::Env(variable.into()))), "{table}");
        assert_eq!(granted(kind, "https://evil.example", &table, &[]), Ok(None));
    }
}

#[test]
fn the_person_names_servers() {
    let config = "[forge]\nurl = 'https://git.corp'\ntoken = { env = 'MINE' }\n[forge.'other.corp']\ntoken = { env = 'THEIRS' }\n\
                  [forge.'third.corp']\nuse_cli = true";
    let of = |server: &str| granted(Gitea, server, config, &[]).unwrap();
    assert_eq!(of("https://git.corp"), Some(TokenSource::Configured(KeySource::Env("MINE".into()))));
    assert_eq!(of("https://other.corp"), Some(TokenSource::Configured(KeySource::Env("THEIRS".into()))));
    assert_eq!(of("https://third.corp"), Some(TokenSource::Tool));
    assert_eq!(of("https://evil.example"), None);
    // A token without a server, in the file as in a variable.
    assert_eq!(granted(Gitea, "https://git.corp", "[forge]\ntoken = { env = 'MINE' }", &[]), Ok(None));
    let refused = granted(Gitea, "http://git.corp", "[forge.'http://git.corp']\ntoken = { env = 'MINE' }", &[]);
    assert!(matches!(refused, Err(TokenRefusal::PlainHttp(_))), "{refused:?}");
}

#[test]
fn an_app_speaks_at_one_github() {
    let app = [("TRIBUNAL_GITHUB_APP_ID", "1"), ("TRIBUNAL_GITHUB_APP_KEY", "k")];
    let may = |kind, server: &str, config: &str, more: &[(&str, &str)]| {
        let set: BTreeMap<&str, &str> = app.iter().chain(more).copied().collect();
        let env = |name: &str| set.get(name).map(|value| (*value).to_owned());
        matches!(grant_app(kind, server, &settings(config), &env), Ok(Some(_)))
    };
    assert!(may(GitHub, "https://github.com", "", &[]));
    assert!(!may(GitHub, "https://evil.example", "", &[]) && !may(Gitea, "https://github.com", "", &[]));
    assert!(may(GitHub, "https://ghes.corp", "", &[("GITHUB_SERVER_URL", "https://ghes.corp")]));
    assert!(may(GitHub, "https://ghes.corp", "forge.url = 'https://ghes.corp'", &[]));
    assert!(!may(GitHub, "https://github.com", "forge.url = 'https://ghes.corp'", &[]));
    assert!(!may(GitHub, "http://ghes.corp", "forge.url = 'http://ghes.corp'", &[]));
}

#[test]
fn advice_names_what_would_be_taken() {
    let advice = |kind, server: &str| super::advice(kind, server, &ForgeConfig::default(), &|_| None);
    assert_eq!(advice(GitHub, "https://github.com"), "set one of GITHUB_TOKEN, GH_TOKEN");
    let line = advice(Gitea, "https://git.corp");
    assert!(line.contains("[forge.\"git.corp\"] token = { env = \"GITEA_TOKEN\" }"), "{line}");
    assert!(advice(Gitea, "http://git.corp").contains("https"));
    assert!(advice(Gitea, "http://127.0.0.1:3000").contains("[forge.\"http://127.0.0.1:3000\"]"));
}

const SERVERS: [&str; 6] = [
    "https://github.com",
    "https://gitlab.com",
    "https://home.example",
    "https://evil.example",
    "http://home.example",
    "http://127.0.0.1:3000",
];
const NAMES: [&str; 8] = [
    "GITHUB_SERVER_URL",
    "GH_HOST",
    "CI_SERVER_URL",
    "CI_SERVER_HOST",
    "GITLAB_HOST",
    "GITEA_SERVER_URL",
    "FORGEJO_SERVER_URL",
    "TRIBUNAL__FORGE__URL",
];

proptest! {
    /// Issue 16, point 11, as a property: whatever is set, each variable's token can be had by at most one server, that server was named
    /// by the person, by the CI job or by the vendor, and it is reached with https or is this machine.
    #[test]
    fn each_token_has_one_server(named in prop::collection::vec((0..NAMES.len(), 0..SERVERS.len()), 0..5), token in 0..VARIABLES.len()) {
        let mut set: BTreeMap<&str, &str> = BTreeMap::new();
        for (name, server) in named {
            set.insert(NAMES[name], SERVERS[server]);
        }
        let variable = VARIABLES[token].name;
        let config = ForgeConfig { url: set.get("TRIBUNAL__FORGE__URL").map(|url| (*url).to_owned()), ..ForgeConfig::default() };
        let env = |name: &str| if name == variable { Some("t".to_owned()) } else { set.get(name).map(|value| (*value).to_owned()) };
        let mut got: Vec<&str> = Vec::new();
        for kind in [GitHub, GitLab, Gitea, Forgejo] {
            for server in SERVERS {
                if let Ok(Some(grant)) = grant(kind, server, &config, &env) {
                    prop_assert_eq!(&grant.source, &TokenSource::Variable(variable));
                    let bound = grant.bind("t").unwrap();
                    prop_assert!(SERVERS.iter().all(|other| bound.text_for(other).is_none() || *other == server));
                    got.push(server);
                }
            }
        }
        got.sort_unstable();
        got.dedup();
        prop_assert!(got.len() <= 1, "{variable} went to {got:?} with {set:?}");
        if let Some(server) = got.first() {
            let is_named = set.values().any(|named| named == server);
            let is_vendor = VARIABLES[token].vendor == Some(*server);
            prop_assert!(is_named || is_vendor, "{variable} went to {server} with {set:?}");
            prop_assert!(!server.starts_with("http://home"));
        }
    }
}
