//! From what was typed to a forge: which one, where, with whose token.

use super::Person;
use crate::situation::{Situation, exit};
use std::sync::Arc;
use tribunal_agent::model::key;
use tribunal_core::findings::key::sha256_hex;
use tribunal_core::policy::config::ForgeConfig;
use tribunal_core::policy::credentials::{MARKER_KEY_VARIABLE, candidates, token_variable};
use tribunal_core::publish::marker::MarkerKey;
use tribunal_core::pull::facts::{PullFilter, PullState};
use tribunal_core::pull::place::{Asked, ForgeKind, Hint, Place, Project, project_of_remote};
use tribunal_forge::detect::detect;
use tribunal_forge::git::Repository;
use tribunal_forge::gitea::{Flavour, Gitea};
use tribunal_forge::port::Forge;

/// A forge, reached.
pub struct Connected {
    pub forge: Arc<dyn Forge>,
    pub place: Place,
    pub key: MarkerKey,
}

fn env(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Reaches the forge of a pull request that was named in any way.
pub async fn connect(asked: &Asked, here: Option<&Repository>, config: &ForgeConfig) -> Result<Connected, Situation> {
    let (project, number, hint) = match asked {
        Asked::Address { project, number, hint } => (Some(project.clone()), Some(*number), Some(*hint)),
        Asked::OfPath { path, number } => {
            let origin = project_here(here).map_or_else(|| "https://github.com".to_owned(), |project| project.origin);
            (Some(Project { origin, path: path.clone() }), Some(*number), None)
        }
        Asked::Number(number) => (project_here(here), Some(*number), None),
        Asked::CurrentBranch => (project_here(here), None, None),
    };
    let Some(project) = project else { return Err(no_forge(here)) };
    let kind = kind_of(&project, hint, config).await?;
    let token = token(kind, &project, config)?;
    let forge = client(kind, &project, token.clone())?;
    let number = match number {
        Some(number) => number,
        None => of_current_branch(forge.as_ref(), here).await?,
    };
    let key = marker_key(&project, token.as_deref());
    Ok(Connected { forge, place: Place { kind, project, number }, key })
}

/// Reaches the forge of a run that is gone on with.
pub async fn reconnect(place: &Place, config: &ForgeConfig) -> Result<Connected, Situation> {
    let token = token(place.kind, &place.project, config)?;
    let forge = client(place.kind, &place.project, token.clone())?;
    Ok(Connected { forge, place: place.clone(), key: marker_key(&place.project, token.as_deref()) })
}

/// The project that this checkout was cloned from.
fn project_here(here: Option<&Repository>) -> Option<Project> {
    here?.remote_urls().iter().find_map(|url| project_of_remote(url))
}

fn no_forge(here: Option<&Repository>) -> Situation {
    match here {
        None => Situation::new("no-forge", exit::USAGE, "a number alone names no pull request outside of a checkout")
            .help("give the address as in the browser, or owner/name#number"),
        Some(_) => Situation::new("no-forge", exit::USAGE, "this checkout has no remote on a forge")
            .help("give the address as in the browser"),
    }
}

async fn kind_of(project: &Project, hint: Option<Hint>, config: &ForgeConfig) -> Result<ForgeKind, Situation> {
    match (config.kind, hint) {
        (Some(kind), _) => Ok(kind),
        (None, Some(Hint::GitLab)) => Ok(ForgeKind::GitLab),
        (None, _) => Ok(detect(&project.origin).await?),
    }
}

fn token(kind: ForgeKind, project: &Project, config: &ForgeConfig) -> Result<Option<String>, Situation> {
    let host = project.host().to_lowercase();
    if let Some(name) = token_variable(kind, &host, &env) {
        return Ok(env(name).map(|value| value.trim().to_owned()));
    }
    let source = config.token.clone().or_else(|| config.use_cli.unwrap_or(false).then(|| cli_token(kind, &host)).flatten());
    let Some(source) = source else { return Ok(None) };
    let found = key::read(&source, &env).map_err(|problem| {
        Situation::new("no-token", exit::FORGE, format!("no token for {host}: {problem}"))
            .help(format!("or set one of {}", candidates(kind, &host, &env).join(", ")))
    })?;
    Ok(Some(found.expose().to_owned()))
}

/// What the forge's own tool prints.
fn cli_token(kind: ForgeKind, host: &str) -> Option<tribunal_core::policy::agents::KeySource> {
    let words: &[&str] = match kind {
        ForgeKind::GitHub => &["gh", "auth", "token", "--hostname", host],
        ForgeKind::GitLab => &["glab", "config", "get", "token", "--host", host],
        ForgeKind::Gitea | ForgeKind::Forgejo => &["tea", "login", "helper", "get"],
        ForgeKind::Local => return None,
    };
    Some(tribunal_core::policy::agents::KeySource::Command(words.iter().map(|word| (*word).to_owned()).collect()))
}

fn client(kind: ForgeKind, project: &Project, token: Option<String>) -> Result<Arc<dyn Forge>, Situation> {
    let cache = Some(Person::here().cache.join("http"));
    Ok(match kind {
        ForgeKind::Gitea => Arc::new(Gitea::new(project.clone(), Flavour::Gitea, token, cache)?),
        ForgeKind::Forgejo => Arc::new(Gitea::new(project.clone(), Flavour::Forgejo, token, cache)?),
        ForgeKind::GitHub | ForgeKind::GitLab | ForgeKind::Local => {
            return Err(Situation::new("no-forge", exit::USAGE, format!("{} is not reached yet", kind.name())));
        }
    })
}

async fn of_current_branch(forge: &dyn Forge, here: Option<&Repository>) -> Result<u64, Situation> {
    let branch = here.and_then(Repository::current_branch).ok_or_else(|| {
        Situation::new("no-pull-request", exit::USAGE, "no branch is checked out here").help("give the pull request's number")
    })?;
    let filter = PullFilter { head_branch: Some(branch.clone()), ..PullFilter::default() };
    let open: Vec<u64> =
        forge.pulls(&filter).await?.iter().filter(|pull| pull.state == PullState::Open).map(|pull| pull.number).collect();
    match open.as_slice() {
        [number] => Ok(*number),
        [] => Err(Situation::new("no-pull-request", exit::USAGE, format!("no open pull request has the head `{branch}`"))
            .help("push the branch and open one, or give a number")),
        many => {
            let numbers: Vec<String> = many.iter().map(|number| format!("#{number}")).collect();
            Err(Situation::new("no-pull-request", exit::USAGE, format!("`{branch}` is the head of {}", numbers.join(" and ")))
                .help("give the one that is meant"))
        }
    }
}

/// One key for one project, from a secret that stays the same.
fn marker_key(project: &Project, token: Option<&str>) -> MarkerKey {
    let secret = env(MARKER_KEY_VARIABLE).filter(|value| !value.trim().is_empty());
    let secret = secret.as_deref().or(token).unwrap_or_default();
    MarkerKey::from_secret(&format!("{}\n{secret}", sha256_hex(project.host().as_bytes())))
}
