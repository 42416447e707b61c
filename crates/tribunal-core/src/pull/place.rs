//! Which pull request is meant: a number, an address, or whatever the current branch has open.

use crate::findings::key::sha256_hex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ForgeKind {
    GitHub,
    GitLab,
    Gitea,
    Forgejo,
    /// Any git repository, with everything else in the ledger.
    Local,
}

impl ForgeKind {
    pub const ALL: [ForgeKind; 5] =
        [ForgeKind::GitHub, ForgeKind::GitLab, ForgeKind::Gitea, ForgeKind::Forgejo, ForgeKind::Local];

    pub fn name(self) -> &'static str {
        match self {
            ForgeKind::GitHub => "GitHub",
            ForgeKind::GitLab => "GitLab",
            ForgeKind::Gitea => "Gitea",
            ForgeKind::Forgejo => "Forgejo",
            ForgeKind::Local => "local",
        }
    }

    /// Does it say who pushed to a pull request?
    pub fn tells_pushers(self) -> bool {
        matches!(self, ForgeKind::Gitea | ForgeKind::Forgejo)
    }

    /// May people edit the comments of others who may not push? There, who may work on issues or pull requests need not write code.
    pub fn lets_others_edit(self) -> bool {
        matches!(self, ForgeKind::Gitea | ForgeKind::Forgejo)
    }

    /// What its people call it.
    pub fn request_noun(self) -> &'static str {
        match self {
            ForgeKind::GitLab => "merge request",
            ForgeKind::GitHub | ForgeKind::Gitea | ForgeKind::Forgejo | ForgeKind::Local => "pull request",
        }
    }
}

/// A repository on a host. `path` is `owner/name`, on GitLab also `group/sub/name`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Project {
    /// `https://host` or `http://host:port`, without a slash at the end; empty for the local forge.
    pub origin: String,
    pub path: String,
}

impl Project {
    pub fn local() -> Self {
        Project { origin: String::new(), path: String::new() }
    }

    /// Host and port, for people and for keys.
    pub fn host(&self) -> &str {
        self.origin.split_once("://").map_or(self.origin.as_str(), |(_, host)| host)
    }

    /// Owner and name of a two-part path.
    pub fn owner_and_name(&self) -> (&str, &str) {
        self.path.rsplit_once('/').unwrap_or(("", &self.path))
    }

    /// The name of a folder for this project and no other one: what may not stand in a name cannot make two projects the same.
    pub fn folder_name(&self) -> String {
        let readable = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c.to_ascii_lowercase() } else { '_' };
        let (owner, name) = self.owner_and_name();
        let words: String = owner.chars().chain(['_']).chain(name.chars()).map(readable).take(60).collect();
        let whole = format!("{}\n{}", self.origin.to_lowercase(), self.path.to_lowercase());
        format!("{words}-{}", &sha256_hex(whole.as_bytes())[..16])
    }
}

/// One pull request of one project.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Place {
    pub kind: ForgeKind,
    #[serde(flatten)]
    pub project: Project,
    pub number: u64,
}

impl Place {
    /// The name of its case in the ledger, the same from every checkout.
    pub fn case_id(&self) -> String {
        match self.kind {
            ForgeKind::Local => format!("pull:local#{}", self.number),
            ForgeKind::GitHub | ForgeKind::GitLab | ForgeKind::Gitea | ForgeKind::Forgejo => {
                format!("pull:{}/{}#{}", self.project.host().to_lowercase(), self.project.path.to_lowercase(), self.number)
            }
        }
    }
}

impl Place {
    /// As a person would type it anywhere: its address in the browser, or the number alone where there is no server.
    pub fn address(&self) -> String {
        let Project { origin, path } = &self.project;
        match self.kind {
            ForgeKind::Local => self.number.to_string(),
            ForgeKind::GitHub => format!("{origin}/{path}/pull/{}", self.number),
            ForgeKind::GitLab => format!("{origin}/{path}/-/merge_requests/{}", self.number),
            ForgeKind::Gitea | ForgeKind::Forgejo => format!("{origin}/{path}/pulls/{}", self.number),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.kind == ForgeKind::GitLab { '!' } else { '#' };
        write!(f, "{}{sign}{}", self.project.path, self.number)
    }
}

/// What a person typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asked {
    Number(u64),
    /// A project on the host that this checkout belongs to.
    OfPath {
        path: String,
        number: u64,
    },
    Address {
        project: Project,
        number: u64,
        /// What the address gives away; a self-hosted server must still be asked.
        hint: Hint,
    },
    CurrentBranch,
}

/// What the shape of an address says about the forge behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hint {
    /// `/pull/7`
    GitHub,
    /// `/-/merge_requests/7`
    GitLab,
    /// `/pulls/7`
    GiteaOrForgejo,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` names no pull request; give a number, owner/name#number, an address as in the browser, or @ for the current branch"
)]
pub struct BadPlace(pub String);

impl FromStr for Asked {
    type Err = BadPlace;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let bad = || BadPlace(text.to_owned());
        let trimmed = text.trim();
        if trimmed == "@" {
            return Ok(Asked::CurrentBranch);
        }
        if let Some(number) = number(trimmed.trim_start_matches(['#', '!'])) {
            return Ok(Asked::Number(number));
        }
        if trimmed.contains("://") {
            return address(trimmed).ok_or_else(bad);
        }
        let (path, digits) = trimmed.split_once(['#', '!']).ok_or_else(bad)?;
        let is_path = path.split('/').count() >= 2 && path.split('/').all(is_path_part);
        match number(digits) {
            Some(number) if is_path => Ok(Asked::OfPath { path: path.to_owned(), number }),
            Some(_) | None => Err(bad()),
        }
    }
}

fn number(digits: &str) -> Option<u64> {
    let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse().ok().filter(|number| plain && *number > 0)
}

fn is_path_part(part: &str) -> bool {
    !part.is_empty()
        && part != "."
        && part != ".."
        && part.chars().all(|c| c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '~'))
}

fn address(text: &str) -> Option<Asked> {
    let (scheme, rest) = text.split_once("://")?;
    if !matches!(scheme, "http" | "https") {
        return None;
    }
    let rest = rest.split(['?', '#']).next()?;
    let (host, path) = rest.split_once('/')?;
    // A name before an `@` would be a credential in an address that gets stored and shown.
    if host.is_empty() || host.contains('@') {
        return None;
    }
    for (words, hint) in [("/-/merge_requests/", Hint::GitLab), ("/pulls/", Hint::GiteaOrForgejo), ("/pull/", Hint::GitHub)] {
        let Some((project, behind)) = path.split_once(words) else { continue };
        let number = number(behind.split('/').next()?)?;
        let parts = project.split('/').count();
        if !project.split('/').all(is_path_part) || parts < 2 || (hint != Hint::GitLab && parts > 2) {
            return None;
        }
        let project = Project { origin: format!("{scheme}://{}", host.to_lowercase()), path: project.to_owned() };
        return Some(Asked::Address { project, number, hint });
    }
    None
}

/// The project behind a git remote: `https://host/owner/name.git`, `git@host:owner/name`, `ssh://git@host:22/owner/name`. A path on
/// this machine has none.
pub fn project_of_remote(url: &str) -> Option<Project> {
    let url = url.trim();
    let (origin, path) = if let Some((scheme, rest)) = url.split_once("://") {
        let (host, path) = rest.split_once('/')?;
        let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
        match scheme {
            "http" | "https" => (format!("{scheme}://{host}"), path),
            // The port of ssh says nothing about the web.
            "ssh" | "git+ssh" | "git" => (format!("https://{}", host.split(':').next()?), path),
            _ => return None,
        }
    } else {
        let (host, path) = url.split_once(':')?;
        // `C:\` and `./a:b` are paths.
        if host.contains(['/', '\\']) || host.len() < 2 || path.starts_with('\\') {
            return None;
        }
        (format!("https://{}", host.rsplit_once('@').map_or(host, |(_, host)| host)), path)
    };
    let path = path.trim_matches('/').trim_end_matches(".git").trim_matches('/');
    let fine = path.split('/').count() >= 2 && path.split('/').all(is_path_part) && !origin.ends_with("//");
    fine.then(|| Project { origin: origin.to_lowercase(), path: path.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(text: &str) -> Option<Asked> {
        text.parse().ok()
    }

    #[test]
    fn an_address_is_read_back() {
        let project = Project { origin: "https://git.example.org".into(), path: "acme/shop".into() };
        for kind in [ForgeKind::GitHub, ForgeKind::GitLab, ForgeKind::Gitea, ForgeKind::Forgejo] {
            let place = Place { kind, project: project.clone(), number: 7 };
            let Some(Asked::Address { project: read, number: 7, .. }) = asked(&place.address()) else { panic!("{kind:?}") };
            assert_eq!(read, project);
        }
        assert_eq!(
            asked(&Place { kind: ForgeKind::Local, project: Project::local(), number: 7 }.address()),
            Some(Asked::Number(7))
        );
    }

    /// Issue 16: a stranger who may choose a project's name cannot make us use another project's clone.
    #[test]
    fn no_two_projects_share_a_folder() {
        let of = |origin: &str, path: &str| Project { origin: origin.into(), path: path.into() }.folder_name();
        let names = [
            of("https://h", "acme/shop_core"),
            of("https://h", "acme_shop/core"),
            of("https://h", "acme/shop-core"),
            of("https://h", "a/cme/shop_core"),
            of("https://h:1", "acme/shop_core"),
            of("http://h", "acme/shop_core"),
        ];
        assert_eq!(names.iter().collect::<std::collections::BTreeSet<_>>().len(), names.len(), "{names:?}");
        assert_eq!(of("https://h", "Acme/Shop"), of("https://H", "acme/shop"), "forges know one project by both");
        let hostile = of("https://h", "../..//etc\u{202e}");
        assert!(hostile.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_')), "{hostile}");
    }

    #[test]
    fn people_name_a_pull_request_in_these_ways() {
        assert_eq!(asked("7"), Some(Asked::Number(7)));
        assert_eq!(asked("#7"), Some(Asked::Number(7)));
        assert_eq!(asked("@"), Some(Asked::CurrentBranch));
        assert_eq!(asked("acme/shop#12"), Some(Asked::OfPath { path: "acme/shop".into(), number: 12 }));
        let project = |origin: &str, path: &str| Project { origin: origin.into(), path: path.into() };
        for (text, origin, path, hint) in [
            ("https://github.com/acme/shop/pull/12/files", "https://github.com", "acme/shop", Hint::GitHub),
            ("http://127.0.0.1:3000/acme/shop/pulls/12", "http://127.0.0.1:3000", "acme/shop", Hint::GiteaOrForgejo),
            ("https://gitlab.example.org/a/b/c/-/merge_requests/12#note_3", "https://gitlab.example.org", "a/b/c", Hint::GitLab),
        ] {
            assert_eq!(asked(text), Some(Asked::Address { project: project(origin, path), number: 12, hint }), "{text}");
        }
    }

    #[test]
    fn what_names_none_is_refused() {
        for text in ["", "0", "-3", "acme#7", "acme/shop", "ftp://x/a/b/pull/1", "https://tok@github.com/a/b/pull/1", "a/../b#1"]
        {
            assert_eq!(asked(text), None, "{text}");
        }
    }

    #[test]
    fn remotes_name_projects() {
        let of = |url: &str| project_of_remote(url).map(|project| format!("{} {}", project.origin, project.path));
        for url in ["git@github.com:acme/shop.git", "ssh://git@github.com:22/acme/shop", "https://github.com/acme/shop.git/"] {
            assert_eq!(of(url).as_deref(), Some("https://github.com acme/shop"), "{url}");
        }
        assert_eq!(of("http://bot:secret@127.0.0.1:3000/acme/shop"), Some("http://127.0.0.1:3000 acme/shop".into()));
        for url in ["/srv/git/shop.git", "../shop", "C:\\git\\shop", "file:///srv/shop"] {
            assert_eq!(of(url), None, "{url}");
        }
    }

    /// RL-66: a dot belongs to the name, only `.git` at the end does not.
    #[test]
    fn a_dot_belongs_to_the_name() {
        let of = |url: &str| project_of_remote(url).map(|project| project.path);
        assert_eq!(of("https://github.com/acme/shop.js.git").as_deref(), Some("acme/shop.js"));
        assert_eq!(of("git@github.com:acme/acme.github.io").as_deref(), Some("acme/acme.github.io"));
    }
}
