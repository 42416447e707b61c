//! From what was typed to a forge: which one, where, with whose token.

use super::Person;
use crate::situation::{Situation, exit};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tribunal_agent::model::key::{self, Secret};
use tribunal_core::findings::key::sha256_hex;
use tribunal_core::policy::agents::KeySource;
use tribunal_core::policy::config::ForgeConfig;
use tribunal_core::policy::credentials::{MARKER_KEY_VARIABLE, candidates, token_variable};
use tribunal_core::publish::marker::MarkerKey;
use tribunal_core::pull::facts::{Account, AccountKind, PullFilter, PullState};
use tribunal_core::pull::place::{Asked, ForgeKind, Hint, Place, Project, project_of_remote};
use tribunal_engine::local_book::LedgerBook;
use tribunal_forge::detect::detect;
use tribunal_forge::git::Repository;
use tribunal_forge::gitea::{Flavour, Gitea};
use tribunal_forge::github::app::App;
use tribunal_forge::github::{self, Auth, GitHub};
use tribunal_forge::gitlab::{GitLab, Token};
use tribunal_forge::http::pace::Pace;
use tribunal_forge::local::Local;
use tribunal_forge::port::Forge;

const APP_ID: &str = "TRIBUNAL_GITHUB_APP_ID";
const APP_KEY: &str = "TRIBUNAL_GITHUB_APP_KEY";

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
    let (project, kind) = locate(project, hint, here, config).await?;
    let token = token(kind, &project, config)?;
    let forge = client(kind, &project, token.clone(), here).await?;
    let number = match number {
        Some(number) => number,
        None => of_current_branch(forge.as_ref(), here).await?,
    };
    let key = marker_key(&project, token.as_deref());
    Ok(Connected { forge, place: Place { kind, project, number }, key })
}

/// Reaches the forge of this checkout, for work on several of its pull requests. The number of the place is of no account.
pub async fn connect_here(here: &Repository, config: &ForgeConfig) -> Result<Connected, Situation> {
    let (project, kind) = locate(project_here(Some(here)), None, Some(here), config).await?;
    reconnect(&Place { kind, project, number: 0 }, Some(here), config).await
}

/// Where a project is, and what runs there.
async fn locate(
    project: Option<Project>,
    hint: Option<Hint>,
    here: Option<&Repository>,
    config: &ForgeConfig,
) -> Result<(Project, ForgeKind), Situation> {
    match (project, here) {
        (_, Some(_)) if config.kind == Some(ForgeKind::Local) => Ok((Project::local(), ForgeKind::Local)),
        (Some(project), _) => {
            let kind = kind_of(&project, hint, config).await?;
            Ok((project, kind))
        }
        // A repository without a server is a forge of its own.
        (None, Some(_)) => Ok((Project::local(), ForgeKind::Local)),
        (None, None) => Err(no_forge()),
    }
}

/// The forge of this checkout, before anything is asked of it.
pub struct Home {
    pub kind: ForgeKind,
    pub project: Project,
}

pub async fn of_checkout(here: &Repository, config: &ForgeConfig) -> Result<Home, Situation> {
    let (project, kind) = locate(project_here(Some(here)), None, Some(here), config).await?;
    Ok(Home { kind, project })
}

/// A client for that forge, and where its token came from.
pub async fn connect_project(
    home: &Home,
    here: &Repository,
    config: &ForgeConfig,
) -> Result<(Arc<dyn Forge>, String), Situation> {
    let Home { kind, project } = home;
    let token = token(*kind, project, config)?;
    let is_app = *kind == ForgeKind::GitHub && app()?.is_some();
    let source = match token_variable(*kind, &project.host().to_lowercase(), &env) {
        _ if is_app => format!("the App of {APP_ID}"),
        Some(name) => format!("the token in {name}"),
        None if token.is_some() => "the token that [forge] names".to_owned(),
        None => return Err(no_token(*kind, project)),
    };
    Ok((client(*kind, project, token, Some(here)).await?, source))
}

/// Reaches the forge of a run that is gone on with.
pub async fn reconnect(place: &Place, here: Option<&Repository>, config: &ForgeConfig) -> Result<Connected, Situation> {
    let token = token(place.kind, &place.project, config)?;
    let forge = client(place.kind, &place.project, token.clone(), here).await?;
    Ok(Connected { forge, place: place.clone(), key: marker_key(&place.project, token.as_deref()) })
}

/// The project that this checkout was cloned from.
fn project_here(here: Option<&Repository>) -> Option<Project> {
    here?.remote_urls().iter().find_map(|url| project_of_remote(url))
}

fn no_forge() -> Situation {
    Situation::new("no-forge", exit::USAGE, "a number alone names no pull request outside of a checkout")
        .help("give the address as in the browser, or owner/name#number")
}

/// A host rarely changes what it runs; it is asked once a day.
const KNOWN_FOR: Duration = Duration::from_secs(24 * 3600);

/// What runs there. The shape of an address tells some apart; others are asked.
async fn kind_of(project: &Project, hint: Option<Hint>, config: &ForgeConfig) -> Result<ForgeKind, Situation> {
    match (config.kind, hint) {
        (Some(kind), _) => return Ok(kind),
        (None, Some(Hint::GitLab)) => return Ok(ForgeKind::GitLab),
        (None, Some(Hint::GitHub)) => return Ok(ForgeKind::GitHub),
        (None, Some(Hint::GiteaOrForgejo) | None) => {}
    }
    let file = Person::here().cache.join("forges").join(&sha256_hex(project.origin.as_bytes())[..32]);
    if let Some(kind) = remembered(&file) {
        return Ok(kind);
    }
    let kind = detect(&project.origin).await?;
    // A cache that cannot be written costs a request each time, nothing else.
    let _ = file.parent().map(std::fs::create_dir_all);
    let _ = serde_json::to_vec(&kind).map(|bytes| std::fs::write(&file, bytes));
    Ok(kind)
}

fn remembered(file: &Path) -> Option<ForgeKind> {
    let age = std::fs::metadata(file).ok()?.modified().ok()?.elapsed().ok()?;
    let bytes = std::fs::read(file).ok().filter(|_| age < KNOWN_FOR)?;
    serde_json::from_slice(&bytes).ok()
}

fn token(kind: ForgeKind, project: &Project, config: &ForgeConfig) -> Result<Option<String>, Situation> {
    let host = project.host().to_lowercase();
    if let Some(name) = token_variable(kind, &host, &env) {
        return Ok(env(name).map(|value| value.trim().to_owned()));
    }
    let found = match (&config.token, config.use_cli.unwrap_or(false)) {
        (Some(source), _) => key::read(source, &env),
        (None, true) => match cli_token(kind, project, &host) {
            Some(found) => found,
            None => return Ok(None),
        },
        (None, false) => return Ok(None),
    };
    let found = found.map_err(|problem| {
        Situation::new("no-token", exit::FORGE, format!("no token for {host}: {problem}"))
            .help(format!("or set one of {}", candidates(kind, &host, &env).join(", ")))
    })?;
    Ok(Some(found.expose().to_owned()))
}

/// What the forge's own tool keeps.
fn cli_token(kind: ForgeKind, project: &Project, host: &str) -> Option<Result<Secret, String>> {
    let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<String>>();
    let printed = |words: &[&str]| key::read(&KeySource::Command(owned(words)), &env);
    match kind {
        ForgeKind::GitHub => Some(printed(&["gh", "auth", "token", "--hostname", host])),
        ForgeKind::GitLab => Some(printed(&["glab", "config", "get", "token", "--host", host])),
        // It prints its tokens to nobody but git.
        ForgeKind::Gitea | ForgeKind::Forgejo => {
            Some(key::credential(&owned(&["tea", "login", "helper", "get"]), &project.origin, &env))
        }
        ForgeKind::Local => None,
    }
}

async fn client(
    kind: ForgeKind,
    project: &Project,
    token: Option<String>,
    here: Option<&Repository>,
) -> Result<Arc<dyn Forge>, Situation> {
    let cache = Some(Person::here().cache.join("http"));
    Ok(match kind {
        ForgeKind::Gitea => Arc::new(Gitea::new(project.clone(), Flavour::Gitea, token, cache)?),
        ForgeKind::Forgejo => Arc::new(Gitea::new(project.clone(), Flavour::Forgejo, token, cache)?),
        ForgeKind::GitLab => {
            let token = token.ok_or_else(|| no_token(kind, project))?;
            let is_job = env("CI_JOB_TOKEN").is_some_and(|job| job.trim() == token);
            let token = if is_job { Token::Job(token) } else { Token::Access(token) };
            Arc::new(GitLab::new(project.clone(), token, pace(project, Pace::GITLAB), cache)?)
        }
        ForgeKind::Local => {
            let here = here.ok_or_else(no_forge)?;
            let ledger = super::open_ledger(&super::ledger_folder(Some(here))).await?;
            // Not the person at the keyboard: who reviewed must be plain to see.
            let me = Account { id: "tribunal".into(), login: "tribunal[bot]".into(), kind: AccountKind::Bot };
            Arc::new(Local::new(here.clone(), Arc::new(LedgerBook(ledger)), me))
        }
        ForgeKind::GitHub => {
            let auth = match (app()?, token) {
                (Some((issuer, pem)), _) => Auth::App(App::new(&issuer, &pem)?),
                (None, Some(token)) => Auth::Token(token),
                (None, None) => return Err(no_token(kind, project)),
            };
            let settings =
                github::Settings { cache, pace: pace(project, Pace::GITHUB), ..github::Settings::new(project.clone(), auth) };
            Arc::new(GitHub::new(settings)?)
        }
    })
}

/// A GitHub App, by its id and its private key: the key itself, or the file it is in.
fn app() -> Result<Option<(String, String)>, Situation> {
    let (Some(id), Some(key)) = (env(APP_ID), env(APP_KEY)) else { return Ok(None) };
    if key.contains("-----BEGIN") {
        return Ok(Some((id, key)));
    }
    let pem = std::fs::read_to_string(&key).map_err(|error| {
        Situation::new("no-token", exit::FORGE, format!("{APP_KEY} names no key and no file that can be read: {error}"))
    })?;
    Ok(Some((id, pem)))
}

fn no_token(kind: ForgeKind, project: &Project) -> Situation {
    let names = candidates(kind, project.host(), &env);
    Situation::new("no-token", exit::FORGE, format!("no token for {}", project.host()))
        .help(format!("set one of {}", names.join(", ")))
}

/// A server on this machine counts nothing by the minute.
fn pace(project: &Project, usual: Pace) -> Pace {
    if project.host().starts_with("127.0.0.1") || project.host().starts_with("localhost") { Pace::NONE } else { usual }
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
    // An app's tokens live for an hour; its key stays.
    let app_key = app().ok().flatten().map(|(_, pem)| pem);
    let secret = secret.as_deref().or(app_key.as_deref()).or(token).unwrap_or_default();
    MarkerKey::from_secret(&format!("{}\n{secret}", sha256_hex(project.host().as_bytes())))
}
