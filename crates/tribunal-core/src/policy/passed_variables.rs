//! Which variables of the environment no agent may be given, whoever configured it: forge tokens, the key that marks are sealed with,
//! keys of models that are not the agent's own, and the doors to the person's session. Compared without regard to case, because on
//! some systems names have none.

use super::agents::{AgentConfig, KeySource, Means};
use super::config::Config;
use crate::ids::AgentName;
use crate::publish::outgoing::names::ends_as_secret;
use std::collections::BTreeMap;

/// Names that begin so are ours, git's, a cloud's or a session's, and hold secrets or lead to them.
const REFUSED_PREFIXES: [(&str, &str); 12] = [
    ("TRIBUNAL_", "it belongs to Tribunal itself, which keeps its token and its marker key there"),
    ("GIT_", "it can hold credentials of git"),
    ("SSH_", "it leads to your SSH keys"),
    ("ACTIONS_", "it holds tokens of the CI job"),
    ("AWS_", "it holds credentials of a cloud"),
    ("AZURE_CLIENT_", "it holds credentials of a cloud"),
    ("GOOGLE_APPLICATION_", "it holds credentials of a cloud"),
    ("VAULT_", "it leads to a store of secrets"),
    ("OP_SESSION", "it leads to a store of secrets"),
    ("BW_SESSION", "it leads to a store of secrets"),
    ("DOCKER_", "it leads to the container service, which can do everything"),
    ("DBUS_", "it leads to your session"),
];

const REFUSED_NAMES: [(&str, &str); 14] = [
    ("GH_HOST", "it belongs to the forge's own tool"),
    ("CI_REPOSITORY_URL", "it holds the token of the CI job"),
    ("SYSTEM_ACCESSTOKEN", "it holds the token of the CI job"),
    ("GPG_AGENT_INFO", "it leads to your keys"),
    ("GNUPGHOME", "it leads to your keys"),
    ("KUBECONFIG", "it holds credentials of a cluster"),
    ("KRB5CCNAME", "it holds your tickets"),
    ("CONTAINER_HOST", "it leads to the container service, which can do everything"),
    ("XDG_RUNTIME_DIR", "it leads to your session"),
    ("XAUTHORITY", "it leads to your session"),
    ("TMUX", "it leads to your session"),
    ("NETRC", "it holds passwords"),
    ("CLOUDSDK_AUTH_ACCESS_TOKEN", "it holds credentials of a cloud"),
    ("GOOGLE_OAUTH_ACCESS_TOKEN", "it holds credentials of a cloud"),
];

/// Whose tokens go to a forge.
const FORGES: [&str; 14] = [
    "GITHUB",
    "GH",
    "GHE",
    "GITLAB",
    "GL",
    "CI",
    "GITEA",
    "FORGEJO",
    "CODEBERG",
    "BITBUCKET",
    "GOGS",
    "COPILOT",
    "INPUT",
    "RUNNER",
];

/// Whose keys are for a model.
const MODELS: [&str; 24] = [
    "ANTHROPIC",
    "CLAUDE",
    "OPENAI",
    "CODEX",
    "CHATGPT",
    "GEMINI",
    "GOOGLE",
    "AZURE",
    "OPENROUTER",
    "MISTRAL",
    "GROQ",
    "DEEPSEEK",
    "XAI",
    "GROK",
    "COHERE",
    "TOGETHER",
    "FIREWORKS",
    "HF",
    "HUGGING",
    "HUGGINGFACE",
    "VOYAGE",
    "PERPLEXITY",
    "CEREBRAS",
    "REPLICATE",
];

/// Why a variable is passed on to no agent; nothing for one that may be.
pub fn refused_variable(name: &str) -> Option<String> {
    let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') && !name.starts_with(|c: char| c.is_ascii_digit());
    if name.is_empty() || !is_name {
        return Some("it is no name of a variable: letters, digits and `_`, no patterns".to_owned());
    }
    let upper = name.to_ascii_uppercase();
    let listed = REFUSED_PREFIXES.iter().find(|(prefix, _)| upper.starts_with(prefix));
    if let Some((_, why)) = listed.or_else(|| REFUSED_NAMES.iter().find(|(refused, _)| upper == *refused)) {
        return Some((*why).to_owned());
    }
    holds_token_or_key(&upper).map(|holds| match holds {
        Secret::ForgeToken => "it holds a token for a forge, which no agent is given".to_owned(),
        Secret::ModelKey => {
            "it holds a key for a model; an agent is given its own key only, which `key = { env = \"…\" }` names".to_owned()
        }
    })
}

enum Secret {
    ForgeToken,
    ModelKey,
}

/// What a name in upper case says that its value is.
fn holds_token_or_key(upper: &str) -> Option<Secret> {
    let parts: Vec<&str> = upper.split('_').filter(|part| !part.is_empty()).collect();
    let is_secret = parts.iter().any(|part| ends_as_secret(part));
    match parts.first() {
        Some(first) if is_secret && FORGES.contains(first) => Some(Secret::ForgeToken),
        Some(first) if is_secret && MODELS.contains(first) => Some(Secret::ModelKey),
        _ => None,
    }
}

/// Hosts that take a GitHub token as the key of a model.
const GITHUB_MODELS: [&str; 3] = ["models.github.ai", "models.inference.ai.azure.com", "api.githubcopilot.com"];

/// Why a variable is not read as the key of a model at this address.
pub fn refused_key(name: &str, base_url: Option<&str>) -> Option<String> {
    let why = refused_variable(name)?;
    let upper = name.to_ascii_uppercase();
    let first = upper.split('_').find(|part| !part.is_empty()).unwrap_or_default();
    let is_github = matches!(first, "GITHUB" | "GH" | "COPILOT");
    let for_github = base_url.is_some_and(|url| url.starts_with("https://") && GITHUB_MODELS.contains(&super::keys::host(url)));
    let is_for_models = MODELS.contains(&first) || upper == "AWS_BEARER_TOKEN_BEDROCK";
    let is_its_own = is_for_models || (is_github && for_github);
    (!is_its_own).then_some(why)
}

/// Is it kept from a program of a repository's file that prints a key? Tokens of forges and of the CI job, what is ours, and keys of
/// models are. The doors to the person's session and to stores of secrets stay open: through them such a program finds its key, and the
/// person trusted it with that.
pub fn is_hidden_from_key_programs(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    let is_of_job = ["CI_REPOSITORY_URL", "SYSTEM_ACCESSTOKEN"].contains(&upper.as_str()) || upper.starts_with("ACTIONS_");
    let is_of_tool = super::credentials::hidden_from_tools().iter().any(|hidden| upper == *hidden);
    is_of_job || is_of_tool || upper.starts_with("TRIBUNAL_") || holds_token_or_key(&upper).is_some()
}

/// Agents whose key is printed by a program that a repository's file names, each with the variables that hold other secrets.
pub fn key_programs_of_repository(config: &Config) -> BTreeMap<AgentName, Vec<String>> {
    let named: Vec<String> = secret_variables(config).into_iter().map(|(name, _)| name).collect();
    let prints = |name: &&AgentName| {
        let key = config.agents.get(*name).and_then(key_of);
        matches!(key, Some(KeySource::Command(_)))
    };
    config.agents_of_repository.iter().filter(prints).map(|name| (name.clone(), named.clone())).collect()
}

fn key_of(agent: &AgentConfig) -> Option<&KeySource> {
    match agent.means() {
        Means::Model(_, model) => model.key.as_ref(),
        Means::Cli(_, cli) => cli.key.as_ref(),
        Means::Rules | Means::Command | Means::Sarif | Means::NotTrusted => agent.own_key(),
    }
}

/// Variables that the configuration says hold a secret, and whose.
fn secret_variables(config: &Config) -> Vec<(String, String)> {
    let mut keys: Vec<(String, String)> = Vec::new();
    if let Some(KeySource::Env(name)) = &config.forge.token {
        keys.push((name.clone(), "the token of [forge]".to_owned()));
    }
    for (server, of) in &config.forge.servers {
        if let Some(KeySource::Env(name)) = &of.token {
            keys.push((name.clone(), format!("the token of [forge.\"{server}\"]")));
        }
    }
    for (agent, of) in &config.agents {
        if let Some(KeySource::Env(name)) = key_of(of) {
            keys.push((name.clone(), format!("the key of [agents.{agent}]")));
        }
    }
    keys
}

/// Variables that one agent would be given although they are another's key, or the forge's.
pub fn check_passed_variables(config: &Config) -> Result<(), String> {
    let keys = secret_variables(config);
    let lists = config.agents.iter().filter_map(|(agent, of)| match of {
        AgentConfig::Command { env, .. } | AgentConfig::Sarif { env, .. } => Some((format!("[agents.{agent}] env"), env)),
        _ => None,
    });
    let qmd = config.library.qmd.iter().map(|qmd| ("[library.qmd] env".to_owned(), &qmd.env));
    for (place, names) in lists.chain(qmd) {
        for name in names {
            if let Some((_, whose)) = keys.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)) {
                return Err(format!("{place} names `{name}`, which holds {whose}; it is passed on to nobody else"));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Issue 16, B5: forge tokens, the marker key and keys of models are refused, in any case.
    #[test]
    fn known_secrets_are_refused() {
        let vendors = ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"];
        let tokens = crate::policy::credentials::token_variables();
        let more = [
            crate::policy::credentials::MARKER_KEY_VARIABLE,
            "TRIBUNAL_GITHUB_APP_KEY",
            "TRIBUNAL__FORGE__TOKEN",
            "CI_JOB_TOKEN",
            "CI_REGISTRY_PASSWORD",
            "CI_REPOSITORY_URL",
            "ACTIONS_ID_TOKEN_REQUEST_TOKEN",
            "SSH_AUTH_SOCK",
            "AWS_SECRET_ACCESS_KEY",
            "GIT_ASKPASS",
            "CLAUDE_CODE_OAUTH_TOKEN",
            "ANTHROPIC_AUTH_TOKEN",
            "OPENROUTER_API_KEY",
            "HF_TOKEN",
            "GITHUB__TOKEN",
            "_GITHUB_TOKEN",
            "GITHUB_*",
            "GITHUB_TOKEN ",
            "A=B",
            "",
        ];
        for name in tokens.chain(vendors).chain(more) {
            assert!(refused_variable(name).is_some(), "{name}");
            assert!(refused_variable(&name.to_lowercase()).is_some(), "{name} in lower case");
        }
        for fine in [
            "SEMGREP_RULES",
            "RUFF_CACHE_DIR",
            "THE_KEY",
            "SONAR_TOKEN",
            "GOOGLE_CLOUD_PROJECT",
            "CI",
            "GITHUB_ACTIONS",
            "NO_COLOR",
        ] {
            assert_eq!(refused_variable(fine), None, "{fine}");
        }
    }

    /// A program of a repository's file that prints a key finds it in a store of secrets, and sees no other key.
    #[test]
    fn key_programs_are_shown_no_other_secret() {
        let tokens = crate::policy::credentials::hidden_from_tools();
        let more = [
            "ANTHROPIC_API_KEY",
            "openai_api_key",
            "TRIBUNAL_TOKEN",
            "TRIBUNAL__FORGE__TOKEN",
            "ACTIONS_RUNTIME_TOKEN",
            "HF_TOKEN",
        ];
        for name in tokens.into_iter().chain(more) {
            assert!(is_hidden_from_key_programs(name), "{name}");
        }
        for name in
            ["HOME", "PATH", "SSH_AUTH_SOCK", "VAULT_TOKEN", "AWS_PROFILE", "DBUS_SESSION_BUS_ADDRESS", "CI", "GITHUB_ACTIONS"]
        {
            assert!(!is_hidden_from_key_programs(name), "{name}");
        }
    }

    /// Which programs those are: the repository's own, unless the person names the same agent.
    #[test]
    fn a_key_program_is_a_repository_s_if_no_layer_above_names_the_agent() {
        use crate::policy::layers::{Layer, merge_layers, read_layer};
        let agent = |name: &str, key: &str| {
            format!("[agents.{name}]\nkind = 'openai'\nmodel = 'x'\nbase_url = 'https://git.corp'\nkey = {key}\n")
        };
        let own = read_layer("own", &(agent("mine", "{ command = ['a'] }") + &agent("other", "{ env = 'CORP_KEY' }"))).unwrap();
        let text =
            agent("theirs", "{ command = ['b'] }") + &agent("taken", "{ command = ['c'] }") + &agent("env", "{ env = 'X_1' }");
        let theirs = Layer { is_of_repository: true, ..read_layer("theirs", &text).unwrap() };
        let above = read_layer("environment", &agent("taken", "{ command = ['d'] }")).unwrap();
        let config = merge_layers(&[own, theirs, above]).unwrap().config;
        let found = key_programs_of_repository(&config);
        assert_eq!(found.keys().map(AgentName::as_str).collect::<Vec<_>>(), ["theirs"]);
        assert_eq!(found.values().next().unwrap(), &["X_1", "CORP_KEY"]);
    }

    #[test]
    fn a_forge_token_is_no_key_of_a_model() {
        assert!(refused_key("GITHUB_TOKEN", Some("https://evil.example/v1")).is_some());
        assert!(refused_key("GITLAB_TOKEN", Some("https://models.github.ai/inference")).is_some());
        assert!(refused_key("TRIBUNAL_MARKER_KEY", None).is_some());
        assert_eq!(refused_key("GITHUB_TOKEN", Some("https://models.github.ai/inference")), None);
        assert!(refused_key("GITHUB_TOKEN", Some("https://models.github.ai@evil.example/v1")).is_some());
        assert_eq!(refused_key("OPENROUTER_API_KEY", Some("https://openrouter.ai/api/v1")), None);
        assert_eq!(refused_key("THE_KEY", None), None);
    }

    #[test]
    fn one_agent_is_not_given_the_key_of_another() {
        let problem = |text: &str| check_passed_variables(&toml::from_str(text).unwrap()).err();
        let model = "[agents.m]\nkind = 'openai'\nmodel = 'x'\nkey = { env = 'CORP_KEY' }\n";
        let spy = |name: &str| format!("{model}[agents.spy]\nkind = 'command'\ncommand = ['spy']\nenv = ['{name}']\n");
        assert!(problem(&spy("corp_key")).unwrap().contains("the key of [agents.m]"));
        assert_eq!(problem(&spy("OTHER")), None);
        let forge = "[forge]\ntoken = { env = 'MY_TOKEN' }\n[library.qmd]\ncollection = 'x'\nenv = ['MY_TOKEN']\n";
        assert!(problem(forge).unwrap().contains("[library.qmd] env"));
        let server = forge.replace("[forge]", "[forge.'git.corp']");
        assert!(problem(&server).unwrap().contains("git.corp"));
    }
}
