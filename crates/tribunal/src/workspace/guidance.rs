//! What a repository says about its own review: configuration, roles, rules. Read from the base, because people check out other
//! people's branches; a checkout's own version counts only once this person has trusted exactly that content.

use super::Person;
use crate::situation::{Situation, exit};
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use tribunal_core::findings::key::sha256_hex;
use tribunal_core::ids::Sha;
use tribunal_forge::git::Repository;

const CONFIGS: [&str; 2] = [".tribunal.toml", ".github/tribunal.toml"];
const FOLDERS: [(&str, &str); 2] = [(".tribunal/reviewers", ".md"), (".tribunal/rules", ".yml")];

/// Files by path, from one side.
pub type Files = BTreeMap<String, String>;

#[derive(Debug, Clone, Default)]
pub struct Guidance {
    files: Files,
    /// `base 1a2b3c4d5e6f`, or `this checkout`.
    from: String,
    pub notices: Vec<String>,
}

impl Guidance {
    pub fn in_force(repository: &Repository, base: Option<&Sha>, person: &Person) -> Result<Self, Situation> {
        let of_base = base.map(|base| at_commit(repository, base)).unwrap_or_default();
        let here = in_work_tree(repository)?;
        let from_base = base.map_or_else(|| "base".to_owned(), |base| format!("base {}", base.short()));
        if here == of_base {
            return Ok(Self { files: of_base, from: from_base, notices: Vec::new() });
        }
        if is_trusted(repository, person, &here) {
            return Ok(Self { files: here, from: "this checkout".into(), notices: Vec::new() });
        }
        let changed = differing(&of_base, &here);
        let (verb, be) = if changed.len() == 1 { ("differs", "is") } else { ("differ", "are") };
        let changed = changed.join(", ");
        let notice = format!(
            "{changed} {verb} from the base and {be} not trusted here; the base's version is used. `tribunal trust` shows the difference."
        );
        Ok(Self { files: of_base, from: from_base, notices: vec![notice] })
    }

    /// Of a pull request only what stands on the branch that it is to be merged into counts.
    pub fn at(repository: &Repository, base: &Sha) -> Self {
        Self { files: at_commit(repository, base), from: format!("base {}", base.short()), notices: Vec::new() }
    }

    /// The configuration file; two at once would leave open which one counts, so the one at the root does.
    pub fn config(&self) -> Option<(String, &str)> {
        CONFIGS.iter().find_map(|path| Some((format!("{path} ({})", self.from), self.files.get(*path)?.as_str())))
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
    let listed = FOLDERS.iter().flat_map(|(folder, _)| {
        let names = fs::read_dir(top.join(folder)).into_iter().flatten().flatten();
        names.map(move |entry| format!("{folder}/{}", entry.file_name().to_string_lossy()))
    });
    for path in CONFIGS.iter().map(|path| (*path).to_owned()).chain(listed).filter(|path| wanted(path)) {
        match fs::read(top.join(&path)) {
            Ok(bytes) => {
                files.insert(path, String::from_utf8_lossy(&bytes).into_owned());
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(Situation::new("bad-config", exit::USAGE, format!("{path} cannot be read: {error}"))),
        }
    }
    Ok(files)
}

pub fn differing(before: &Files, after: &Files) -> Vec<String> {
    let paths: std::collections::BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    paths.into_iter().filter(|path| before.get(*path) != after.get(*path)).cloned().collect()
}

/// Trust is for exactly this content in exactly this repository, kept where no repository can write.
fn record(repository: &Repository, person: &Person, files: &Files) -> PathBuf {
    let mut text = format!("{}\n", repository.common_dir.display());
    for (path, content) in files {
        text.push_str(&format!("{path}\0{}\0{content}\0", content.len()));
    }
    person.state.join("trust").join(sha256_hex(text.as_bytes()))
}

pub fn is_trusted(repository: &Repository, person: &Person, files: &Files) -> bool {
    record(repository, person, files).exists()
}

pub fn trust(repository: &Repository, person: &Person, files: &Files) -> Result<(), Situation> {
    let path = record(repository, person, files);
    let failed = |error: std::io::Error| {
        Situation::new("bad-config", exit::INCOMPLETE, format!("{} cannot be written: {error}", path.display()))
    };
    fs::create_dir_all(person.state.join("trust")).map_err(failed)?;
    let names: Vec<&str> = files.keys().map(String::as_str).collect();
    fs::write(&path, format!("{}\n{}\n", repository.common_dir.display(), names.join("\n"))).map_err(failed)
}
