//! From what was typed to a forge: which one, where, with whose token.

use super::Person;
use crate::situation::{Situation, exit};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tribunal_agent::model::key::{self, Secret};
use tribunal_core::findings::key::sha256_hex;
use tribunal_core::policy::agents::KeySource;
use tribunal_core::policy::credentials::origin::HttpOrigin;
use tribunal_core::policy::credentials::token::BoundToken;
use tribunal_core::policy::credentials::{
    APP_VARIABLES, JOB_TOKEN, MARKER_KEY_VARIABLE, TokenRefusal, TokenSource, advice, binding, grant, grant_app,
    hidden_from_tools, server_config,
};
use tribunal_core::policy::forge::ForgeConfig;
use tribunal_core::publish::marker::MarkerKey;
use tribunal_core::publish::outgoing::known::learn_secret;
use tribunal_core::pull::facts::{Account, AccountKind, PullFilter, PullState};
use tribunal_core::pull::place::{Asked, ForgeKind, Hint, Place, Project, project_of_remote};
use tribunal_engine::local_book::LedgerBook;
use tribunal_forge::bounded::Bounded;
use tribunal_forge::detect::detect;
use tribunal_forge::git::Repository;
use tribunal_forge::git::work_file::{MAX_TEXT_BYTES, read_regular_file};
use tribunal_forge::gitea::{Flavour, Gitea};
use tribunal_forge::github::app::App;
use tribunal_forge::github::{self, Auth, GitHub};
use tribunal_forge::gitlab::{GitLab, Token};
use tribunal_forge::http::pace::Pace;
use tribunal_forge::local::Local;
use tribunal_forge::port::Forge;

const APP_ID: &str = APP_VARIABLES[0];
const APP_KEY: &str = APP_VARIABLES[1];

/// A forge, reached.
pub struct Connected {
    pub forge: Arc<dyn Forge>,
    pub place: Place,
    pub key: MarkerKey,
}

fn env(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// How we prove who we are to one server.
#[derive(Clone)]
enum Proof {
    App(App),
    Token(BoundToken, TokenSource),
    /// Some forges let anybody read.
    None,
}

impl Proof {
    /// Where it came from, for people.
    fn source(&self) -> Option<String> {
        match self {
            Proof::App(_) => Some(format!("the App of {APP_ID}")),
            Proof::Token(_, TokenSource::Variable(name)) => Some(format!("the token in {name}")),
            Proof::Token(_, TokenSource::Configured(_)) => Some("the token that [forge] names".to_owned()),
            Proof::Token(_, TokenSource::Tool) => Some("the token of the forge's own tool".to_owned()),
            Proof::None => None,
        }
    }
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
    let proof = proof(kind, &project, config)?;
    let key = marker_key(&project, &proof);
    let forge = client(kind, &project, proof, config, here).await?;
    let number = match number {
        Some(number) => number,
        None => of_current_branch(forge.as_ref(), here).await?,
    };
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
    let proof = proof(*kind, project, config)?;
    let source = proof.source().ok_or_else(|| no_token(*kind, project, config))?;
    Ok((client(*kind, project, proof, config, Some(here)).await?, source))
}

/// Reaches the forge of a run that is gone on with.
pub async fn reconnect(place: &Place, here: Option<&Repository>, config: &ForgeConfig) -> Result<Connected, Situation> {
    let proof = proof(place.kind, &place.project, config)?;
    let key = marker_key(&place.project, &proof);
    let forge = client(place.kind, &place.project, proof, config, here).await?;
    Ok(Connected { forge, place: place.clone(), key })
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
    let own = HttpOrigin::of(&project.origin).and_then(|server| server_config(&server, config)?.kind);
    match (own.or(config.kind), hint) {
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
    let _ = file.parent().map(tribunal_store::folder::make_private);
    let _ = serde_json::to_vec(&kind).map(|bytes| std::fs::write(&file, bytes));
    Ok(kind)
}

fn remembered(file: &Path) -> Option<ForgeKind> {
    let age = std::fs::metadata(file).ok()?.modified().ok()?.elapsed().ok()?;
    let bytes = std::fs::read(file).ok().filter(|_| age < KNOWN_FOR)?;
    serde_json::from_slice(&bytes).ok()
}

/// The App or the token that this server may be sent. What is for another server stays here.
fn proof(kind: ForgeKind, project: &Project, config: &ForgeConfig) -> Result<Proof, Situation> {
    let server = &project.origin;
    let refused = |refusal: TokenRefusal| refused(kind, project, config, &refusal);
    if let Some(grant) = grant_app(kind, server, config, &env).map_err(refused)? {
        let (issuer, pem) = app_key()?;
        return Ok(Proof::App(App::new(&issuer, &pem, grant.server())?));
    }
    let Some(grant) = grant(kind, server, config, &env).map_err(refused)? else { return Ok(Proof::None) };
    let read = match &grant.source {
        TokenSource::Variable(name) => key::read(&KeySource::Env((*name).to_owned()), &env),
        TokenSource::Configured(source) => key::read(source, &env),
        TokenSource::Tool => match cli_token(kind, project) {
            Some(found) => found,
            None => return Ok(Proof::None),
        },
    };
    let host = project.host();
    let text = read.map_err(|problem| {
        Situation::new("no-token", exit::FORGE, format!("no token for {host}: {problem}"))
            .help(format!("or {}", advice(kind, server, config, &env)))
    })?;
    let token = grant.bind(text.expose()).map_err(|plain| refused(plain.into()))?;
    Ok(Proof::Token(token, grant.source))
}

fn refused(kind: ForgeKind, project: &Project, config: &ForgeConfig, refusal: &TokenRefusal) -> Situation {
    let situation = Situation::new("no-token", exit::FORGE, refusal.to_string());
    match refusal {
        TokenRefusal::Unbound { variable, server } => {
            situation.help(binding(variable, server)).help(format!("or, for this command: TRIBUNAL__FORGE__URL={server}"))
        }
        TokenRefusal::NoServer(_) | TokenRefusal::PlainHttp(_) => situation.help(advice(kind, &project.origin, config, &env)),
    }
}

/// What the forge's own tool keeps.
fn cli_token(kind: ForgeKind, project: &Project) -> Option<Result<Secret, String>> {
    let host = project.host();
    let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<String>>();
    let without = hidden_from_tools();
    let printed = |words: &[&str]| key::of_tool(&owned(words), &without, &env);
    match kind {
        ForgeKind::GitHub => Some(printed(&["gh", "auth", "token", "--hostname", host])),
        ForgeKind::GitLab => Some(printed(&["glab", "config", "get", "token", "--host", host])),
        // It prints its tokens to nobody but git.
        ForgeKind::Gitea | ForgeKind::Forgejo => {
            Some(key::credential(&owned(&["tea", "login", "helper", "get"]), &project.origin, &without, &env))
        }
        ForgeKind::Local => None,
    }
}

async fn client(
    kind: ForgeKind,
    project: &Project,
    proof: Proof,
    config: &ForgeConfig,
    here: Option<&Repository>,
) -> Result<Arc<dyn Forge>, Situation> {
    let cache = Some(Person::here().cache.join("http"));
    let gitea = |flavour, proof| {
        let token = match proof {
            Proof::Token(token, _) => Some(token),
            Proof::App(_) | Proof::None => None,
        };
        Gitea::new(project.clone(), flavour, token, cache.clone())
    };
    Ok(match (kind, proof) {
        (ForgeKind::Gitea, proof) => Arc::new(Bounded::new(gitea(Flavour::Gitea, proof)?)),
        (ForgeKind::Forgejo, proof) => Arc::new(Bounded::new(gitea(Flavour::Forgejo, proof)?)),
        (ForgeKind::GitLab, Proof::Token(token, source)) => {
            let is_job = source == TokenSource::Variable(JOB_TOKEN);
            let token = if is_job { Token::Job(token) } else { Token::Access(token) };
            Arc::new(Bounded::new(GitLab::new(project.clone(), token, pace(project, Pace::GITLAB), cache)?))
        }
        (ForgeKind::Local, _) => {
            let here = here.ok_or_else(no_forge)?;
            let ledger = super::open_ledger(&super::ledger_folder(Some(here))).await?;
            // Not the person at the keyboard: who reviewed must be plain to see.
            let me = Account { id: "tribunal".into(), login: "tribunal[bot]".into(), kind: AccountKind::Bot };
            Arc::new(Local::new(here.clone(), Arc::new(LedgerBook(ledger)), me))
        }
        (ForgeKind::GitHub, proof) => {
            let auth = match proof {
                Proof::App(app) => Auth::App(app),
                Proof::Token(token, _) => Auth::Token(token),
                Proof::None => return Err(no_token(kind, project, config)),
            };
            let settings =
                github::Settings { cache, pace: pace(project, Pace::GITHUB), ..github::Settings::new(project.clone(), auth) };
            Arc::new(Bounded::new(GitHub::new(settings)?))
        }
        (ForgeKind::GitLab, Proof::App(_) | Proof::None) => return Err(no_token(kind, project, config)),
    })
}

/// A GitHub App, by its id and its private key: the key itself, or the file it is in.
fn app_key() -> Result<(String, String), Situation> {
    let (id, key) = (env(APP_ID).unwrap_or_default(), env(APP_KEY).unwrap_or_default());
    if key.contains("-----BEGIN") {
        return Ok((id, key));
    }
    let unreadable = |problem: String| {
        Situation::new("no-token", exit::FORGE, format!("{APP_KEY} is neither a key nor the file of one: {problem}"))
    };
    let bytes = read_regular_file(Path::new(&key), MAX_TEXT_BYTES).map_err(|error| unreadable(error.to_string()))?;
    let pem = String::from_utf8(bytes).map_err(|_| unreadable("it is not text in UTF-8".into()))?;
    Ok((id, pem))
}

fn no_token(kind: ForgeKind, project: &Project, config: &ForgeConfig) -> Situation {
    Situation::new("no-token", exit::FORGE, format!("no token for {}", project.host())).help(advice(
        kind,
        &project.origin,
        config,
        &env,
    ))
}

/// A server on this machine counts nothing by the minute.
fn pace(project: &Project, usual: Pace) -> Pace {
    if HttpOrigin::of(&project.origin).is_some_and(|server| server.is_loopback()) { Pace::NONE } else { usual }
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
fn marker_key(project: &Project, proof: &Proof) -> MarkerKey {
    if let Some(secret) = env(MARKER_KEY_VARIABLE).filter(|value| !value.trim().is_empty()) {
        learn_secret(&secret);
        return MarkerKey::for_host(project.host(), &secret);
    }
    match proof {
        // An app's tokens live for an hour; its key stays.
        Proof::App(_) => MarkerKey::for_host(project.host(), &app_key().map(|(_, pem)| pem).unwrap_or_default()),
        Proof::Token(token, _) => MarkerKey::from_token(project.host(), token),
        Proof::None => MarkerKey::for_host(project.host(), ""),
    }
}
