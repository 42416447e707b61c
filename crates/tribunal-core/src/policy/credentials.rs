//! Which token goes to which server. Each variable that may hold a token is for exactly one server: its vendor's own, the one that the
//! CI job runs on, or the one that the person named. A token that is for no server is sent nowhere.
//!
//! What is about to be asked (an address, a remote, a receipt) never decides: it is only compared with what is known already.

pub mod origin;
pub mod token;

use super::agents::KeySource;
use super::forge::{ForgeConfig, ServerConfig};
use crate::pull::place::ForgeKind;
use origin::HttpOrigin;
use token::{BoundToken, PlainHttp};

/// Reads a variable of the process.
pub type Env<'a> = &'a dyn Fn(&str) -> Option<String>;

/// The secret that marks are sealed with: one given for the purpose, or the token itself. A token that is made anew for every CI job
/// opens none of yesterday's marks, which costs a full review and never a wrong one.
pub const MARKER_KEY_VARIABLE: &str = "TRIBUNAL_MARKER_KEY";

/// The App's variables, which are always used together.
pub const APP_VARIABLES: [&str; 2] = ["TRIBUNAL_GITHUB_APP_ID", "TRIBUNAL_GITHUB_APP_KEY"];

/// A variable that may hold a token, and what says which server it is for: the first of `named_by` that is set, else `vendor`.
struct TokenVariable {
    name: &'static str,
    kinds: &'static [ForgeKind],
    named_by: &'static [ServerName],
    vendor: Option<&'static str>,
}

/// Where a person or a CI system names a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ServerName {
    Variable(&'static str),
    /// `[forge] url` of the person's own configuration, or `TRIBUNAL__FORGE__URL`.
    ForgeUrl,
}

use ForgeKind::{Forgejo, GitHub, GitLab, Gitea};
use ServerName::{ForgeUrl, Variable};

/// Every forge's CI that speaks GitHub's dialect names its own server here, Gitea's and Forgejo's too.
const GITHUB_JOB: ServerName = Variable("GITHUB_SERVER_URL");
const GITLAB_JOB: [ServerName; 2] = [Variable("CI_SERVER_URL"), Variable("CI_SERVER_HOST")];

const EVERY: &[ForgeKind] = &[GitHub, GitLab, Gitea, Forgejo];

/// In the order in which they are taken.
const VARIABLES: [TokenVariable; 9] = [
    TokenVariable {
        name: "TRIBUNAL_TOKEN",
        kinds: EVERY,
        named_by: &[ForgeUrl, GITHUB_JOB, GITLAB_JOB[0], GITLAB_JOB[1]],
        vendor: None,
    },
    // Also the token of a job on Gitea and Forgejo, which is for the job's server.
    TokenVariable {
        name: "GITHUB_TOKEN",
        kinds: &[GitHub],
        named_by: &[GITHUB_JOB, Variable("GH_HOST")],
        vendor: Some("https://github.com"),
    },
    TokenVariable {
        name: "GH_TOKEN",
        kinds: &[GitHub],
        named_by: &[GITHUB_JOB, Variable("GH_HOST")],
        vendor: Some("https://github.com"),
    },
    TokenVariable {
        name: "GH_ENTERPRISE_TOKEN",
        kinds: &[GitHub],
        named_by: &[Variable("GH_HOST"), ForgeUrl, GITHUB_JOB],
        vendor: None,
    },
    TokenVariable {
        name: "GITHUB_ENTERPRISE_TOKEN",
        kinds: &[GitHub],
        named_by: &[Variable("GH_HOST"), ForgeUrl, GITHUB_JOB],
        vendor: None,
    },
    TokenVariable {
        name: "GITLAB_TOKEN",
        kinds: &[GitLab],
        named_by: &[Variable("GITLAB_HOST"), GITLAB_JOB[0], GITLAB_JOB[1]],
        vendor: Some("https://gitlab.com"),
    },
    TokenVariable { name: JOB_TOKEN, kinds: &[GitLab], named_by: &GITLAB_JOB, vendor: None },
    TokenVariable {
        name: "GITEA_TOKEN",
        kinds: &[Gitea, Forgejo],
        named_by: &[Variable("GITEA_SERVER_URL"), ForgeUrl, GITHUB_JOB],
        vendor: None,
    },
    TokenVariable {
        name: "FORGEJO_TOKEN",
        kinds: &[Forgejo, Gitea],
        named_by: &[Variable("FORGEJO_SERVER_URL"), ForgeUrl, GITHUB_JOB],
        vendor: None,
    },
];

/// A GitLab job's own token, which is sent in a header of its own.
pub const JOB_TOKEN: &str = "CI_JOB_TOKEN";

/// A job's token on Gitea and Forgejo.
const JOB_ON_GITEA: TokenVariable =
    TokenVariable { name: "GITHUB_TOKEN", kinds: &[Gitea, Forgejo], named_by: &[GITHUB_JOB], vendor: None };

/// An App's key is for one GitHub, as a token is.
const APP: TokenVariable = TokenVariable {
    name: APP_VARIABLES[0],
    kinds: &[GitHub],
    named_by: &[ForgeUrl, GITHUB_JOB, Variable("GH_HOST")],
    vendor: Some("https://github.com"),
};

/// Every variable that may hold a token, for tests and documentation.
pub fn token_variables() -> impl Iterator<Item = &'static str> {
    VARIABLES.iter().map(|variable| variable.name)
}

/// Variables that a forge's own tool would answer with, whichever server it is asked for. It is run without them, so that what it prints
/// is what it keeps for that server.
pub fn hidden_from_tools() -> Vec<&'static str> {
    let theirs = ["GITLAB_ACCESS_TOKEN", "OAUTH_TOKEN", "GITEA_SERVER_TOKEN", "GITEA_SERVER_PASSWORD"];
    token_variables().chain(theirs).chain(APP_VARIABLES).chain([MARKER_KEY_VARIABLE]).collect()
}

impl TokenVariable {
    /// Which servers it is for: several only where a host of this machine was named without a scheme.
    fn servers(&self, config: &ForgeConfig, env: Env<'_>) -> Vec<HttpOrigin> {
        let text = |name: &ServerName| match name {
            Variable(name) => env(name),
            ForgeUrl => config.url.clone(),
        };
        let named = self.named_by.iter().filter_map(text).find(|text| !text.trim().is_empty());
        match (named, self.vendor) {
            (Some(text), _) => HttpOrigin::named_by(&text),
            (None, Some(vendor)) => HttpOrigin::of(vendor).into_iter().collect(),
            (None, None) => Vec::new(),
        }
    }

    fn is_set(&self, env: Env<'_>) -> bool {
        env(self.name).is_some_and(|value| !value.trim().is_empty())
    }
}

fn variables_of(kind: ForgeKind) -> Vec<&'static TokenVariable> {
    let mut variables: Vec<&TokenVariable> = VARIABLES.iter().filter(|variable| variable.kinds.contains(&kind)).collect();
    // Each flavour's own variable before the other's.
    variables.sort_by_key(|variable| variable.kinds.len() != EVERY.len() && variable.kinds[0] != kind);
    if JOB_ON_GITEA.kinds.contains(&kind) {
        variables.push(&JOB_ON_GITEA);
    }
    variables
}

/// Where the text of a token is to be read.
#[derive(Debug, Clone, PartialEq)]
pub enum TokenSource {
    Variable(&'static str),
    /// Of the person's own configuration.
    Configured(KeySource),
    /// The forge's own tool, asked for this server.
    Tool,
}

/// The permission to send a token to one server. Only [`grant`] gives it.
#[derive(Debug, Clone, PartialEq)]
pub struct TokenGrant {
    pub source: TokenSource,
    server: HttpOrigin,
}

impl TokenGrant {
    pub fn server(&self) -> &HttpOrigin {
        &self.server
    }

    pub fn bind(&self, text: &str) -> Result<BoundToken, PlainHttp> {
        BoundToken::given_for(&self.server, text.trim())
    }
}

/// Why no token may be sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TokenRefusal {
    #[error("`{0}` is no address of a server")]
    NoServer(String),
    #[error(transparent)]
    PlainHttp(#[from] PlainHttp),
    /// A variable is set, and nothing says which server it is for.
    #[error("{variable} is set, and nothing says that it is a token for {server}")]
    Unbound { variable: &'static str, server: HttpOrigin },
}

/// Which token may be sent to this server, if there is one. In this order: a variable that is for it, the person's `[forge."host"]`, the
/// person's `[forge]` if its `url` names the server, the forge's own tool if the person wants it asked.
pub fn grant(kind: ForgeKind, server: &str, config: &ForgeConfig, env: Env<'_>) -> Result<Option<TokenGrant>, TokenRefusal> {
    if kind == ForgeKind::Local {
        return Ok(None);
    }
    let server = HttpOrigin::of(server).ok_or_else(|| TokenRefusal::NoServer(server.to_owned()))?;
    let variables = variables_of(kind);
    let is_for = |variable: &TokenVariable| variable.is_set(env) && variable.servers(config, env).contains(&server);
    let source = match variables.iter().find(|variable| is_for(variable)) {
        Some(variable) => Some(TokenSource::Variable(variable.name)),
        None => configured(&server, config),
    };
    let Some(source) = source else {
        // Anybody may have the token of a GitHub in their environment; it says nothing about a Gitea.
        let own = VARIABLES.iter().filter(|variable| variable.kinds.contains(&kind));
        let mut homeless = own.filter(|variable| variable.is_set(env) && variable.servers(config, env).is_empty());
        return match homeless.next() {
            Some(variable) => Err(TokenRefusal::Unbound { variable: variable.name, server }),
            None => Ok(None),
        };
    };
    if !server.may_carry_secrets() {
        return Err(PlainHttp(server).into());
    }
    Ok(Some(TokenGrant { source, server }))
}

/// May the App's key speak for itself at this server?
pub fn grant_app(kind: ForgeKind, server: &str, config: &ForgeConfig, env: Env<'_>) -> Result<Option<TokenGrant>, TokenRefusal> {
    let is_set = APP_VARIABLES.iter().all(|name| env(name).is_some_and(|value| !value.trim().is_empty()));
    if kind != GitHub || !is_set {
        return Ok(None);
    }
    let server = HttpOrigin::of(server).ok_or_else(|| TokenRefusal::NoServer(server.to_owned()))?;
    if !APP.servers(config, env).contains(&server) {
        return Ok(None);
    }
    if !server.may_carry_secrets() {
        return Err(PlainHttp(server).into());
    }
    Ok(Some(TokenGrant { source: TokenSource::Variable(APP.name), server }))
}

/// The table that the person wrote for this server.
pub fn server_config<'a>(server: &HttpOrigin, config: &'a ForgeConfig) -> Option<&'a ServerConfig> {
    config.servers.iter().find(|(name, _)| HttpOrigin::named_by(name).contains(server)).map(|(_, config)| config)
}

fn configured(server: &HttpOrigin, config: &ForgeConfig) -> Option<TokenSource> {
    let own = server_config(server, config);
    let is_home = config.url.as_deref().is_some_and(|url| HttpOrigin::named_by(url).contains(server));
    let token = own.and_then(|own| own.token.as_ref()).or_else(|| config.token.as_ref().filter(|_| is_home));
    // A tool is asked for this server by name, so what it prints is for it.
    let use_cli = own.and_then(|own| own.use_cli).or(config.use_cli).unwrap_or(false);
    match token {
        Some(source) => Some(TokenSource::Configured(source.clone())),
        None => use_cli.then_some(TokenSource::Tool),
    }
}

/// What a person without a token for this server can do, in one sentence.
pub fn advice(kind: ForgeKind, server: &str, config: &ForgeConfig, env: Env<'_>) -> String {
    let Some(server) = HttpOrigin::of(server) else { return "give the address of the server".to_owned() };
    if !server.may_carry_secrets() {
        return "reach it with https; only a server on this machine is sent a token without".to_owned();
    }
    let variables = variables_of(kind);
    let sent: Vec<&str> = variables
        .iter()
        .filter(|variable| variable.servers(config, env).contains(&server))
        .map(|variable| variable.name)
        .collect();
    if !sent.is_empty() {
        return format!("set one of {}", sent.join(", "));
    }
    let own = variables.iter().find(|variable| variable.kinds.len() != EVERY.len()).map_or("TRIBUNAL_TOKEN", |own| own.name);
    format!("{}, with the token in {own}", binding(own, &server))
}

/// The line that says which server a variable's token is for.
pub fn binding(variable: &str, server: &HttpOrigin) -> String {
    let name = if server.to_string().starts_with("https://") { server.authority() } else { server.to_string() };
    format!("say so in your own configuration: [forge.\"{name}\"] token = {{ env = \"{variable}\" }}")
}

#[cfg(test)]
mod tests;
