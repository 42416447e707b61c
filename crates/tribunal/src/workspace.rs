//! Everything a command needs to know before it starts: the repository, the ledger, and the configuration, roles and rules in
//! force, each with where it came from.

pub mod forge;
pub mod guidance;
mod own_folder;
pub mod target;
pub mod trust;

use crate::situation::{Situation, exit};
use guidance::Guidance;
use std::collections::BTreeMap;
use std::path::PathBuf;
use tribunal_agent::rules::compile::RuleSet;
use tribunal_agent::rules::load;
use tribunal_core::budget::Budget;
use tribunal_core::findings::key::sha256_hex;
use tribunal_core::findings::role::{Role, built_in_roles, merge_roles, parse_role};
use tribunal_core::ids::{AgentName, RoleName, Sha};
use tribunal_core::linter::built_in::is_linter;
use tribunal_core::policy::agents::AgentConfig;
use tribunal_core::policy::config::{Config, Policy};
use tribunal_core::policy::layers::{Layer, Merged, environment_layer, merge_layers, read_layer};
use tribunal_core::policy::linter::LinterConfig;
use tribunal_core::policy::panel::Player;
use tribunal_core::procedure::Millis;
use tribunal_core::procedure::review::Request;
use tribunal_core::prompt::prompts_hash;
use tribunal_forge::git::Repository;
use tribunal_forge::git::work_file::{MAX_TEXT_BYTES, read_regular_file};
use tribunal_store::folder::make_private;

pub use own_folder::{existing_ledger, make as make_own_folder, open_ledger};

pub const ENGINE: &str = env!("CARGO_PKG_VERSION");

/// Folders of the person who runs this, following the XDG base directories.
#[derive(Debug, Clone)]
pub struct Person {
    pub config: PathBuf,
    pub state: PathBuf,
    pub cache: PathBuf,
}

impl Person {
    pub fn here() -> Self {
        // Without a home the folders are nowhere. Never below the current folder: that is a repository's, which must neither be taken
        // for the person's own configuration nor record trust in itself.
        let absolute = |home: PathBuf| Some(home).filter(|home| home.is_absolute());
        let home = std::env::var_os("HOME").map(PathBuf::from).and_then(absolute);
        let home = home.or_else(|| std::env::home_dir().and_then(absolute)).unwrap_or_else(|| PathBuf::from("/nonexistent"));
        let folder = |variable: &str, usual: &str| {
            std::env::var_os(variable)
                .map(PathBuf::from)
                .filter(|path| path.is_absolute())
                .unwrap_or_else(|| home.join(usual))
                .join("tribunal")
        };
        Self {
            config: folder("XDG_CONFIG_HOME", ".config"),
            state: folder("XDG_STATE_HOME", ".local/state"),
            cache: folder("XDG_CACHE_HOME", ".cache"),
        }
    }
}

/// Configuration, roles and rules, resolved.
pub struct Setup {
    pub merged: Merged,
    pub policy: Policy,
    pub roles: Vec<Role>,
    pub rules: RuleSet,
    pub notices: Vec<String>,
    /// Hash over everything that can change what a review says.
    pub fingerprint: String,
    /// Hash over the rules alone.
    pub rules_hash: String,
    /// The commit that the maintainers' guidance is read from.
    pub guidance_at: Option<Sha>,
}

impl Setup {
    /// One agent for every role, for a single run.
    pub fn play_all(&mut self, name: &str) -> Result<(), Situation> {
        let agent = AgentName::from(name);
        // Whoever types a linter's word means its profile, and trusts it.
        let is_free = self.policy.agents.get(&agent).is_none_or(AgentConfig::is_profile_not_trusted);
        if is_free && is_linter(name) {
            self.policy.agents.insert(agent.clone(), AgentConfig::Linter(LinterConfig::of(name)));
        }
        if !self.policy.agents.contains_key(&agent) {
            let known: Vec<&str> = self.policy.agents.keys().map(AgentName::as_str).collect();
            return Err(Situation::new("unknown-agent", exit::USAGE, format!("there is no [agents.{name}]"))
                .help(format!("configured here: {}", known.join(", "))));
        }
        for players in self.policy.panel.values_mut() {
            *players = vec![Player { agent: agent.clone(), fallback: Vec::new(), samples: 1 }];
        }
        self.fingerprint = fingerprint(&self.policy, &self.roles, &self.rules_hash);
        Ok(())
    }
}

/// What whoever runs this is called, for the record.
pub fn person(repository: Option<&Repository>) -> String {
    let login = || ["USER", "USERNAME", "LOGNAME"].into_iter().find_map(|name| std::env::var(name).ok());
    let name = repository.and_then(Repository::user_name).or_else(login).filter(|name| !name.trim().is_empty());
    name.unwrap_or_else(|| "somebody at this machine".to_owned())
}

/// Milliseconds since 1970-01-01 UTC.
pub fn now() -> Millis {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    Millis::try_from(since.as_millis()).unwrap_or(Millis::MAX)
}

/// Private folders for agent CLIs: not under the shared temporary folder, whose neighbours some of them distrust.
pub fn scratch_root() -> PathBuf {
    let cache = Person::here().cache;
    // What cannot be made or tightened shows where it is used.
    let _ = make_private(&cache);
    cache.join("agents")
}

pub fn discover() -> Result<Repository, Situation> {
    let here = std::env::current_dir()
        .map_err(|error| Situation::new("git-failed", exit::USAGE, format!("the current folder cannot be read: {error}")))?;
    let repository = Repository::discover(&here)?;
    own_folder::check(&repository)?;
    Ok(repository)
}

/// Where a repository's own configuration, roles and rules are read from: the default branch as it is now. Never a commit of the branch
/// itself, whatever it is compared with: its author could have written it. Nor where the branch left: whoever writes a branch chooses
/// that, and could bring back what the base has taken out since, or name a commit of their own that was merged earlier.
pub fn guidance_base(repository: &Repository) -> Option<Sha> {
    Some(repository.default_tip().ok()?.commit)
}

/// The repository if there is one; outside of one only a bare diff can be reviewed.
pub fn discover_optional() -> Result<Option<Repository>, Situation> {
    match discover() {
        Ok(repository) => Ok(Some(repository)),
        Err(situation) if situation.code == "not-a-repository" => Ok(None),
        Err(situation) => Err(situation),
    }
}

/// Where the ledger and its locks live.
pub fn ledger_folder(repository: Option<&Repository>) -> PathBuf {
    match repository {
        Some(repository) => repository.tribunal_dir(),
        None => Person::here().state,
    }
}

/// Reads configuration, roles and rules; `flags` is the last layer.
pub fn set_up(repository: Option<&Repository>, flags: Option<Layer>) -> Result<Setup, Situation> {
    set_up_against(repository, None, flags)
}

/// The same where the person named a base.
pub fn set_up_against(repository: Option<&Repository>, base: Option<&str>, flags: Option<Layer>) -> Result<Setup, Situation> {
    set_up_with(guidance_in_force(repository, base)?, flags)
}

/// What counts in this checkout; `base` is the one that the person named for this command.
pub fn guidance_in_force(repository: Option<&Repository>, base: Option<&str>) -> Result<Guidance, Situation> {
    let Some(repository) = repository else { return Ok(Guidance::default()) };
    let usual = personal_config()?.review.base;
    Guidance::in_force(repository, guidance_base(repository).as_ref(), base.or(usual.as_deref()), &Person::here())
}

/// The person's own layers: their file, and the environment.
fn personal_layers() -> Result<(Vec<Layer>, Layer), Situation> {
    let mut layers = Vec::new();
    let personal = Person::here().config.join("config.toml");
    // A file that is there and cannot be read must not pass for one that says nothing: it may hold what somebody is not to do.
    match read_regular_file(&personal, MAX_TEXT_BYTES) {
        Ok(bytes) => layers.push(read_layer(&personal.display().to_string(), &String::from_utf8_lossy(&bytes))?),
        Err(error) if error.is_not_found() => {}
        Err(error) => return Err(Situation::new("bad-config", exit::USAGE, error.to_string())),
    }
    let environment = environment_layer(
        std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?))),
    )?;
    Ok((layers, environment))
}

/// What only the person themself may set: where tokens come from and go to.
pub fn personal_config() -> Result<Config, Situation> {
    let (mut layers, environment) = personal_layers()?;
    layers.push(environment);
    Ok(merge_layers(&layers)?.config)
}

/// The configuration alone, with a repository's guidance at hand. Of the repository's file only what the person trusts is in it.
pub fn merged_with(guidance: &Guidance, flags: Option<Layer>) -> Result<Merged, Situation> {
    let (mut layers, environment) = personal_layers()?;
    let mut ignored = None;
    if let Some(admitted) = guidance.admitted(&Person::here())? {
        if !admitted.ignored.is_empty() {
            let (keys, source) = (admitted.ignored.join(", "), &admitted.layer.source);
            ignored = Some(format!("Ignored: {keys} of {source}, which counts in your own configuration only."));
        }
        layers.push(admitted.layer);
    }
    layers.push(environment);
    layers.extend(flags);
    let mut merged = merge_layers(&layers)?;
    merged.notices.extend(ignored);
    Ok(merged)
}

/// The same with roles, and what follows from both.
pub fn policy_with(guidance: &Guidance, flags: Option<Layer>) -> Result<(Merged, Policy, Vec<Role>), Situation> {
    let merged = merged_with(guidance, flags)?;

    let added = guidance
        .roles()
        .map(|(origin, text)| Ok((origin.clone(), parse_role(&origin, text)?)))
        .collect::<Result<Vec<_>, Situation>>()?;
    let roles = merge_roles(built_in_roles()?, added)?;
    let names: Vec<RoleName> = roles.iter().map(|role| role.name.clone()).collect();
    let policy = Policy::new(&merged.config, &names)?;
    Ok((merged, policy, roles))
}

/// The same with rules: everything that a review goes by.
pub fn set_up_with(guidance: Guidance, flags: Option<Layer>) -> Result<Setup, Situation> {
    let (merged, policy, roles) = policy_with(&guidance, flags)?;
    let rules = rules(&guidance, &policy.disabled_rules)?;
    let rules_hash = rules_hash(&guidance);
    let fingerprint = fingerprint(&policy, &roles, &rules_hash);
    let guidance_at = guidance.commit.clone();
    let notices = guidance.notices.into_iter().chain(merged.notices.iter().cloned()).collect();
    Ok(Setup { merged, policy, roles, rules, notices, fingerprint, rules_hash, guidance_at })
}

/// The rules of a run that is resumed: those it began with, or none at all.
pub fn rules_of(repository: Option<&Repository>, request: &Request) -> Result<RuleSet, Situation> {
    let guidance = guidance_in_force(repository, None)?;
    rules_with(&guidance, request)
}

pub fn rules_with(guidance: &Guidance, request: &Request) -> Result<RuleSet, Situation> {
    if rules_hash(guidance) != request.rules_hash {
        return Err(Situation::new(
            "rules-changed",
            exit::USAGE,
            format!("the rules are not the ones that run {} began with", request.run),
        )
        .help("begin anew: tribunal review"));
    }
    rules(guidance, &request.policy.disabled_rules)
}

fn rules(guidance: &Guidance, disabled: &[String]) -> Result<RuleSet, Situation> {
    let mut loaded = load::built_in()?;
    for id in disabled {
        if !loaded.iter().any(|rule| &rule.file.id == id) {
            return Err(Situation::new(
                "bad-config",
                exit::USAGE,
                format!("[rules] disable names `{id}`, and there is no such rule"),
            )
            .help("`tribunal rules list` shows them all"));
        }
    }
    loaded.retain(|rule| !disabled.contains(&rule.file.id));
    let own = guidance.rules().map(|(origin, text)| load::parse(&origin, text)).collect::<Result<Vec<_>, _>>()?;
    let has_own = !own.is_empty();
    loaded.extend(own);
    let set = RuleSet::new(loaded)?;
    if has_own {
        // The built-in ones are proved by their tests; a repository's own are proved here, whatever the change holds.
        set.compile_all()?;
    }
    Ok(set)
}

fn rules_hash(guidance: &Guidance) -> String {
    let mut text = format!("engine {ENGINE}\nrules {}\n", load::BUILT_IN_HASH);
    for (name, rule) in guidance.rules() {
        text.push_str(&name);
        text.push_str(rule);
    }
    sha256_hex(text.as_bytes())
}

fn fingerprint(policy: &Policy, roles: &[Role], rules_hash: &str) -> String {
    // Limits and prices change what a review costs, not what it says.
    let policy = Policy { budget: Budget::default(), prices: BTreeMap::new(), ..policy.clone() };
    let policy = serde_json::to_string(&policy).unwrap_or_default();
    let roles = serde_json::to_string(roles).unwrap_or_default();
    sha256_hex(format!("{rules_hash}\n{policy}\n{roles}\n{}", prompts_hash()).as_bytes())
}
