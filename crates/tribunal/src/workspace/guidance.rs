//! What a repository says about its own review: configuration, roles, rules. Read from the base, because people check out other
//! people's branches; a checkout's own version counts only once this person has trusted exactly that content. What the configuration
//! names to run, to pass on or to contact needs the person's trust in either case ([`super::trust`]).

use super::Person;
use super::trust::{Scope, is_content_trusted, is_value_trusted, trusts_base};
use crate::situation::{Situation, exit};
use std::collections::BTreeMap;
use std::path::Path;
use tribunal_core::ids::Sha;
use tribunal_core::policy::admission::{Admitted, Remedy, RepositoryLayer, TrustItem};
use tribunal_core::pull::place::Place;
use tribunal_forge::git::Repository;
use tribunal_forge::git::refs::DefaultTip;
use tribunal_forge::git::work_file::{MAX_TEXT_BYTES, WorkFileError, list_work_folder, read_work_file};

const CONFIGS: [&str; 2] = [".tribunal.toml", ".github/tribunal.toml"];
const FOLDERS: [(&str, &str); 2] = [(".tribunal/reviewers", ".md"), (".tribunal/rules", ".yml")];

/// Files by path, from one side.
pub type Files = BTreeMap<String, String>;

#[derive(Debug, Clone, Default)]
pub struct Guidance {
    files: Files,
    side: Option<Side>,
    /// The commit that the maintainers' prose is read from: always the base's.
    pub commit: Option<Sha>,
    pub notices: Vec<String>,
}

/// Where the files were read, and what trusting their values takes.
#[derive(Debug, Clone)]
struct Side {
    /// `base 1a2b3c4d5e6f`, or `this checkout`.
    name: String,
    /// It is the base's, so that `TRIBUNAL_TRUST=base` speaks of it.
    is_base: bool,
    scope: Scope,
    /// As it is to be typed.
    command: String,
}

impl Guidance {
    /// `named` is the base that the person named, here or in their own configuration.
    pub fn in_force(
        repository: &Repository,
        base: Option<&Sha>,
        named: Option<&str>,
        person: &Person,
    ) -> Result<Self, Situation> {
        let guessed = guessed_base(repository, named);
        let guidance = Self::of_either_side(repository, base, guessed.is_none(), person)?;
        guidance.with_notice_of(guessed)
    }

    /// Says that `TRIBUNAL_TRUST=base` does not count, where it would.
    fn with_notice_of(mut self, guessed: Option<String>) -> Result<Self, Situation> {
        let Some(guessed) = guessed.filter(|_| trusts_base().unwrap_or(false)) else { return Ok(self) };
        let names_something = self.config()?.is_some_and(|(layer, _)| !layer.items().is_empty());
        if names_something {
            self.notices.push(format!(
                "TRIBUNAL_TRUST=base does not count here: that {guessed} is the base is only guessed by its name, which anybody who may \
                 push can give to a branch. `git remote set-head origin --auto` asks the remote which branch is its default; or name the \
                 base with `--base` or TRIBUNAL__REVIEW__BASE."
            ));
        }
        Ok(self)
    }

    fn of_either_side(
        repository: &Repository,
        base: Option<&Sha>,
        has_own_base: bool,
        person: &Person,
    ) -> Result<Self, Situation> {
        let of_base = base.map(|base| at_commit(repository, base)).unwrap_or_default();
        let here = in_work_tree(repository)?;
        let from_base = base.map_or_else(|| "base".to_owned(), |base| format!("base {}", base.short()));
        let side = |name: &str, is_base: bool, command: &str| {
            let scope = Scope::of_checkout(repository);
            Some(Side { name: name.to_owned(), is_base: is_base && has_own_base, scope, command: command.to_owned() })
        };
        if here == of_base {
            return Ok(Self {
                files: of_base,
                side: side(&from_base, true, "tribunal trust"),
                commit: base.cloned(),
                notices: Vec::new(),
            });
        }
        if is_content_trusted(person, repository, &here) {
            return Ok(Self {
                files: here,
                side: side("this checkout", false, "tribunal trust"),
                commit: base.cloned(),
                notices: Vec::new(),
            });
        }
        let changed = differing(&of_base, &here);
        let (verb, be) = if changed.len() == 1 { ("differs", "is") } else { ("differ", "are") };
        let changed = changed.join(", ");
        let notice = format!(
            "{changed} {verb} from the base and {be} not trusted here; the base's version is used. `tribunal trust` shows the difference."
        );
        Ok(Self {
            files: of_base,
            side: side(&from_base, true, "tribunal trust --base"),
            commit: base.cloned(),
            notices: vec![notice],
        })
    }

    /// What the base of this checkout says, whatever is checked out.
    pub fn of_base(repository: &Repository, base: &Sha) -> Self {
        let side = Side {
            name: format!("base {}", base.short()),
            is_base: true,
            scope: Scope::of_checkout(repository),
            command: "tribunal trust --base".to_owned(),
        };
        Self { files: at_commit(repository, base), side: Some(side), commit: Some(base.clone()), notices: Vec::new() }
    }

    /// Of a pull request only what stands on the branch that it is to be merged into counts.
    pub fn at(repository: &Repository, base: &Sha, place: &Place) -> Self {
        // A set of pull requests has no number of its own.
        let command = if place.number == 0 { "tribunal trust".to_owned() } else { format!("tribunal trust {}", place.address()) };
        let scope = Scope::of_pull_request(place, repository);
        let side = Side { name: format!("base {}", base.short()), is_base: true, scope, command };
        Self { files: at_commit(repository, base), side: Some(side), commit: Some(base.clone()), notices: Vec::new() }
    }

    /// The configuration file, of which nothing counts yet; two at once would leave open which one counts, so the one at the root does.
    fn config(&self) -> Result<Option<(RepositoryLayer, &Side)>, Situation> {
        let Some(side) = &self.side else { return Ok(None) };
        let Some((path, text)) = CONFIGS.iter().find_map(|path| Some((path, self.files.get(*path)?))) else { return Ok(None) };
        Ok(Some((RepositoryLayer::read(&format!("{path} ({})", side.name), text)?, side)))
    }

    /// The configuration as far as this person trusts it.
    pub fn admitted(&self, person: &Person) -> Result<Option<Admitted>, Situation> {
        let trusts_base = trusts_base()?;
        let Some((layer, side)) = self.config()? else { return Ok(None) };
        let is_trusted = |item: &TrustItem| (side.is_base && trusts_base) || is_value_trusted(person, &side.scope, item);
        Ok(Some(layer.admit(&is_trusted, Remedy { command: &side.command, is_base: side.is_base })))
    }

    /// What the configuration names that needs trust, and that this person has not trusted yet.
    pub fn not_trusted(&self, person: &Person) -> Result<Vec<TrustItem>, Situation> {
        let Some((layer, side)) = self.config()? else { return Ok(Vec::new()) };
        Ok(layer.items().into_iter().filter(|item| !is_value_trusted(person, &side.scope, item)).collect())
    }

    /// The checkout's own files, as if they were trusted.
    pub fn of_work_tree(repository: &Repository) -> Result<Self, Situation> {
        let side = Side {
            name: "this checkout".to_owned(),
            is_base: false,
            scope: Scope::of_checkout(repository),
            command: "tribunal trust".to_owned(),
        };
        Ok(Self { files: in_work_tree(repository)?, side: Some(side), commit: None, notices: Vec::new() })
    }

    pub fn files(&self) -> &Files {
        &self.files
    }

    pub fn roles(&self) -> impl Iterator<Item = (String, &str)> {
        self.inside(FOLDERS[0].0)
    }

    pub fn rules(&self) -> impl Iterator<Item = (String, &str)> {
        self.inside(FOLDERS[1].0)
    }

    fn inside(&self, folder: &'static str) -> impl Iterator<Item = (String, &str)> {
        self.files.iter().filter(move |(path, _)| path.starts_with(folder)).map(|(path, text)| (path.clone(), text.as_str()))
    }
}

/// The name of the base, where nobody but its name says that it is one. Where there are remotes, a local branch that happens to be called
/// `main` may be anybody's: CI jobs check out other people's branches under their own names. And where the remote's default branch has
/// another name, anybody who may push can push a branch of that one. So the remote must call it its head, or the person must name it.
fn guessed_base(repository: &Repository, named: Option<&str>) -> Option<String> {
    let tip = repository.default_tip().ok();
    let short =
        |name: &str| name.strip_prefix("refs/remotes/").or_else(|| name.strip_prefix("refs/heads/")).unwrap_or(name).to_owned();
    // By its name: `HEAD` is no base because it happens to be the same commit. And that commit: a branch that was checked out can have
    // the name `origin/main` too.
    let is_named = |tip: &DefaultTip| {
        let is_it = |name: &&str| [tip.name.as_str(), short(&tip.name).as_str(), tip.commit.as_str()].contains(name);
        let named = named.filter(is_it).and_then(|name| repository.branch_or_commit(name).ok());
        named.is_some_and(|named| named.commit == tip.commit)
    };
    let is_sure = |tip: &DefaultTip| tip.name.starts_with("refs/remotes/") && (tip.is_remote_head || is_named(tip));
    if repository.remote_urls().is_empty() || tip.as_ref().is_some_and(is_sure) {
        return None;
    }
    Some(tip.map_or_else(|| "what".to_owned(), |tip| short(&tip.name)))
}

fn wanted(path: &str) -> bool {
    CONFIGS.contains(&path) || FOLDERS.iter().any(|(folder, ending)| path.starts_with(folder) && path.ends_with(ending))
}

pub fn at_commit(repository: &Repository, commit: &Sha) -> Files {
    let mut files = Files::new();
    let places: Vec<&str> = CONFIGS.iter().copied().chain(FOLDERS.iter().map(|(folder, _)| *folder)).collect();
    for path in repository.files_among(commit, &places).into_iter().map(|path| path.0).filter(|path| wanted(path)) {
        if let Some(bytes) = repository.file_at(commit, &path) {
            files.insert(path, String::from_utf8_lossy(&bytes).into_owned());
        }
    }
    files
}

pub fn in_work_tree(repository: &Repository) -> Result<Files, Situation> {
    let mut files = Files::new();
    let Some(top) = &repository.work_tree else { return Ok(files) };
    // Read before anybody was asked to trust the branch that is checked out.
    let unreadable = |error: WorkFileError| Situation::new("bad-config", exit::USAGE, error.to_string());
    let mut paths: Vec<String> = CONFIGS.iter().map(|path| (*path).to_owned()).collect();
    for (folder, _) in FOLDERS {
        let names = list_work_folder(top, Path::new(folder)).map_err(unreadable)?;
        paths.extend(names.iter().map(|name| format!("{folder}/{name}")));
    }
    for path in paths.into_iter().filter(|path| wanted(path)) {
        if let Some(bytes) = read_work_file(top, Path::new(&path), MAX_TEXT_BYTES).map_err(unreadable)? {
            files.insert(path, String::from_utf8_lossy(&bytes).into_owned());
        }
    }
    Ok(files)
}

pub fn differing(before: &Files, after: &Files) -> Vec<String> {
    let paths: std::collections::BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    paths.into_iter().filter(|path| before.get(*path) != after.get(*path)).cloned().collect()
}
