//! What every forge has: projects, people, time, faults, and a log.

use crate::clock::{Clock, Ids};
use crate::faults::{Fault, Faults};
use crate::git::Repository;
use crate::log::Log;
use crate::people::{Level, People, User};
use crate::protection::Protection;
use crate::wire::Request;
use std::collections::BTreeMap;

pub struct Project {
    pub id: u64,
    /// `owner/name`, or `group/sub/name`.
    pub path: String,
    pub private: bool,
    pub repository: Repository,
}

/// Handed to a [`crate::Site`] with each request.
pub struct Base<F> {
    /// `http://127.0.0.1:PORT`
    pub url: String,
    pub clock: Clock,
    pub ids: Ids,
    pub people: People,
    pub faults: Faults<F>,
    pub log: Log,
    projects: BTreeMap<String, Project>,
    renamed: BTreeMap<String, String>,
    /// By project and branch.
    protections: BTreeMap<(u64, String), Protection>,
    folder: tempfile::TempDir,
}

impl<F: Fault> Base<F> {
    pub(crate) fn new(url: String) -> Self {
        let memory = std::env::var_os("TRIBUNAL_TEST_MEMORY").map_or_else(std::env::temp_dir, std::path::PathBuf::from);
        Base {
            url,
            clock: Clock::default(),
            ids: Ids::default(),
            people: People::default(),
            faults: Faults::default(),
            log: Log::default(),
            projects: BTreeMap::new(),
            renamed: BTreeMap::new(),
            protections: BTreeMap::new(),
            folder: tempfile::tempdir_in(memory).expect("a folder for repositories"),
        }
    }

    /// Makes an empty public project.
    pub fn add_project(&mut self, path: &str) -> &mut Project {
        let id = self.ids.fresh();
        let repository = Repository::create(&self.folder.path().join(format!("{id}.git")));
        self.projects.insert(path.to_owned(), Project { id, path: path.to_owned(), private: false, repository });
        self.projects.get_mut(path).expect("just made")
    }

    /// A copy with all branches, as pressing "fork" makes one.
    pub fn fork(&mut self, from: &str, to: &str) -> &mut Project {
        let source = self.repository(from).folder().display().to_string();
        self.add_project(to).repository.run(&["fetch", "-q", &source, "+refs/heads/*:refs/heads/*"]);
        self.projects.get_mut(to).expect("just made")
    }

    pub fn remove_project(&mut self, path: &str) {
        self.projects.remove(path);
    }

    pub fn rename_project(&mut self, from: &str, to: &str) {
        if let Some(mut project) = self.projects.remove(from) {
            project.path = to.to_owned();
            self.projects.insert(to.to_owned(), project);
            self.renamed.insert(from.to_owned(), to.to_owned());
            self.people.move_project(from, to);
        }
    }

    /// What a project is called today, when it once had this name.
    pub fn new_name(&self, path: &str) -> Option<&str> {
        self.renamed.get(path).map(String::as_str)
    }

    /// Paths are compared without case, as all these forges do.
    pub fn project(&self, path: &str) -> Option<&Project> {
        self.projects.values().find(|project| project.path.eq_ignore_ascii_case(path))
    }

    pub fn project_by_id(&self, id: u64) -> Option<&Project> {
        self.projects.values().find(|project| project.id == id)
    }

    pub fn project_mut(&mut self, path: &str) -> Option<&mut Project> {
        self.projects.get_mut(path)
    }

    pub fn repository(&self, path: &str) -> Repository {
        self.project(path).map(|project| project.repository.clone()).expect("a project of this name")
    }

    /// Protects a branch, or stops protecting it.
    pub fn protect(&mut self, path: &str, branch: &str, protection: Option<Protection>) {
        let Some(id) = self.project(path).map(|project| project.id) else { return };
        let key = (id, branch.to_owned());
        match protection {
            Some(protection) => self.protections.insert(key, protection),
            None => self.protections.remove(&key),
        };
    }

    pub fn protection(&self, path: &str, branch: &str) -> Option<&Protection> {
        self.protections.get(&(self.project(path)?.id, branch.to_owned()))
    }

    /// Brings the commit of another project's branch here and points a reference at it: how a forge shows the head of a fork.
    pub fn bring(&self, from: &str, sha: &str, to: &str, reference: &str) {
        let target = self.repository(to);
        if from != to {
            let source = self.repository(from).folder().display().to_string();
            target.run(&["fetch", "-q", &source, sha]);
        }
        target.set_ref(reference, sha);
    }

    /// Whose token a request carries.
    pub fn caller(&self, request: &Request) -> Option<User> {
        self.people.by_token(&request.token()?, self.clock.now()).cloned()
    }

    /// What somebody, or nobody, may do in a project.
    pub fn level(&self, path: &str, user: Option<&User>) -> Level {
        let Some(project) = self.project(path) else { return Level::None };
        let least = if project.private { Level::None } else { Level::Read };
        user.map_or(least, |user| self.people.level(&project.path, user.id).max(least))
    }
}
