//! What this person trusts of a repository's own configuration: records in the person's state folder, where no repository can write.
//!
//! There are two kinds. A record of *content* says that a checkout's configuration, roles and rules count although they differ from the
//! base. A record of a *value* says that a program, a variable, a key or a host may be used that the configuration names, be it the
//! base's or a checkout's. The second is needed for the base too: people clone strangers' repositories.

use super::Person;
use super::guidance::Files;
use crate::situation::{Situation, exit};
use std::fs;
use std::path::PathBuf;
use tribunal_core::findings::key::sha256_hex;
use tribunal_core::policy::admission::TrustItem;
use tribunal_core::pull::place::{ForgeKind, Place, Project, project_of_remote};
use tribunal_forge::git::Repository;

/// The variable that trusts the base's configuration, for CI: what stands on the base was reviewed there.
const VARIABLE: &str = "TRIBUNAL_TRUST";

/// Which repository something is trusted for. A checkout is known by its folder, because its remotes can be made to say anything; a
/// pull request's project by the host that it was fetched from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    Checkout(PathBuf),
    Project(String),
}

impl Scope {
    pub fn of_checkout(repository: &Repository) -> Self {
        Scope::Checkout(repository.common_dir.clone())
    }

    /// Of a pull request: its project, or the repository itself where that is the forge.
    pub fn of_pull_request(place: &Place, repository: &Repository) -> Self {
        match place.kind {
            ForgeKind::Local => Self::of_checkout(repository),
            ForgeKind::GitHub | ForgeKind::GitLab | ForgeKind::Gitea | ForgeKind::Forgejo => Self::of_project(&place.project),
        }
    }

    fn of_project(project: &Project) -> Self {
        Scope::Project(format!("{}/{}", project.host(), project.path).to_lowercase())
    }

    /// A checkout, and the project that it was cloned from: whoever trusts a value in one means the other too.
    pub fn all_of_checkout(repository: &Repository) -> Vec<Self> {
        let project = repository.remote_urls().iter().find_map(|url| project_of_remote(url));
        [Self::of_checkout(repository)].into_iter().chain(project.iter().map(Self::of_project)).collect()
    }

    fn key(&self) -> String {
        match self {
            Scope::Checkout(folder) => format!("checkout {}", folder.display()),
            Scope::Project(name) => format!("project {name}"),
        }
    }
}

/// Does the environment trust what stands on the base?
pub fn trusts_base() -> Result<bool, Situation> {
    match std::env::var_os(VARIABLE) {
        None => Ok(false),
        Some(value) if value.is_empty() => Ok(false),
        Some(value) if value == "base" => Ok(true),
        Some(value) => {
            let message = format!("{VARIABLE} is `{}`; the only value it knows is `base`", value.to_string_lossy());
            Err(Situation::new("bad-config", exit::USAGE, message)
                .help("TRIBUNAL_TRUST=base is for CI; elsewhere use `tribunal trust`"))
        }
    }
}

pub fn is_value_trusted(person: &Person, scope: &Scope, item: &TrustItem) -> bool {
    value_record(person, scope, item).is_file()
}

/// Records values for every scope that they were shown for.
pub fn trust_values(person: &Person, scopes: &[Scope], items: &[TrustItem]) -> Result<(), Situation> {
    for scope in scopes {
        for item in items {
            let about = format!("{}\n{}\n", scope.key(), item.lines().join("\n"));
            write(person, &value_record(person, scope, item), &about)?;
        }
    }
    Ok(())
}

fn value_record(person: &Person, scope: &Scope, item: &TrustItem) -> PathBuf {
    folder(person).join(sha256_hex(format!("value\n{}\n{}", scope.key(), item.canonical()).as_bytes()))
}

pub fn is_content_trusted(person: &Person, repository: &Repository, files: &Files) -> bool {
    content_record(person, repository, files).is_file()
}

pub fn trust_content(person: &Person, repository: &Repository, files: &Files) -> Result<(), Situation> {
    let names: Vec<&str> = files.keys().map(String::as_str).collect();
    let about = format!("{}\n{}\n", repository.common_dir.display(), names.join("\n"));
    write(person, &content_record(person, repository, files), &about)
}

fn content_record(person: &Person, repository: &Repository, files: &Files) -> PathBuf {
    let mut text = format!("{}\n", repository.common_dir.display());
    for (path, content) in files {
        text.push_str(&format!("{path}\0{}\0{content}\0", content.len()));
    }
    folder(person).join(sha256_hex(text.as_bytes()))
}

fn folder(person: &Person) -> PathBuf {
    person.state.join("trust")
}

fn write(person: &Person, path: &PathBuf, about: &str) -> Result<(), Situation> {
    fs::create_dir_all(folder(person)).and_then(|()| fs::write(path, about)).map_err(|error| {
        Situation::new("bad-config", exit::INCOMPLETE, format!("{} cannot be written: {error}", path.display()))
            .help("trust is kept in your own state folder, $XDG_STATE_HOME/tribunal or ~/.local/state/tribunal")
    })
}
