//! Which token goes to which host. A token is only ever sent where it belongs: a variable that a vendor's own tools read holds a token
//! for that vendor's host, or for the server that the CI job runs on.

use crate::pull::place::ForgeKind;

/// A variable that holds a token for this host, if one is set. First `TRIBUNAL_TOKEN`, then the forge's usual ones.
pub fn token_variable(kind: ForgeKind, host: &str, env: &dyn Fn(&str) -> Option<String>) -> Option<&'static str> {
    let is_set = |name: &str| env(name).is_some_and(|value| !value.trim().is_empty());
    candidates(kind, host, env).into_iter().find(|name| is_set(name))
}

/// The variables that may hold it, in order. Also what a person without a token is told.
pub fn candidates(kind: ForgeKind, host: &str, env: &dyn Fn(&str) -> Option<String>) -> Vec<&'static str> {
    let names_host = |name: &str| {
        env(name).is_some_and(|value| {
            let value = value.trim().trim_end_matches('/').to_ascii_lowercase();
            value.rsplit("://").next().is_some_and(|named| named == host)
        })
    };
    let mut names = vec!["TRIBUNAL_TOKEN"];
    // Every forge's CI that speaks GitHub's dialect names its own server here, Gitea's and Forgejo's too.
    let on_this_server = names_host("GITHUB_SERVER_URL") || names_host("GH_HOST");
    match kind {
        ForgeKind::GitHub if host == "github.com" || on_this_server => names.extend(["GITHUB_TOKEN", "GH_TOKEN"]),
        ForgeKind::GitHub => names.extend(["GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN"]),
        ForgeKind::GitLab => {
            names.push("GITLAB_TOKEN");
            if names_host("CI_SERVER_HOST") || names_host("CI_SERVER_URL") {
                names.push("CI_JOB_TOKEN");
            }
        }
        ForgeKind::Gitea | ForgeKind::Forgejo => {
            names.extend(if kind == ForgeKind::Gitea {
                ["GITEA_TOKEN", "FORGEJO_TOKEN"]
            } else {
                ["FORGEJO_TOKEN", "GITEA_TOKEN"]
            });
            if on_this_server {
                names.push("GITHUB_TOKEN");
            }
        }
        ForgeKind::Local => names.clear(),
    }
    names
}

/// The secret that marks are sealed with: one given for the purpose, or the token itself. A token that is made anew for every CI job
/// opens none of yesterday's marks, which costs a full review and never a wrong one.
pub const MARKER_KEY_VARIABLE: &str = "TRIBUNAL_MARKER_KEY";

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn chosen(kind: ForgeKind, host: &str, set: &[(&str, &str)]) -> Option<&'static str> {
        let set: BTreeMap<String, String> = set.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        token_variable(kind, host, &|name| set.get(name).cloned())
    }

    /// A host that only says that it is GitHub does not get the token for github.com.
    #[test]
    fn a_token_goes_where_it_belongs() {
        use ForgeKind::{Forgejo, GitHub, GitLab, Gitea};
        let github = [("GITHUB_TOKEN", "t")];
        assert_eq!(chosen(GitHub, "github.com", &github), Some("GITHUB_TOKEN"));
        assert_eq!(chosen(GitHub, "evil.example", &github), None);
        assert_eq!(
            chosen(GitHub, "ghes.corp", &[("GITHUB_TOKEN", "t"), ("GITHUB_SERVER_URL", "https://ghes.corp/")]),
            Some("GITHUB_TOKEN")
        );
        let job = [("GITHUB_TOKEN", "t"), ("GITHUB_SERVER_URL", "http://git.corp:3000")];
        assert_eq!(chosen(Gitea, "git.corp:3000", &job), Some("GITHUB_TOKEN"));
        assert_eq!(chosen(Gitea, "other.corp", &job), None);
        assert_eq!(chosen(Forgejo, "h", &[("GITEA_TOKEN", "t")]), Some("GITEA_TOKEN"));
        assert_eq!(chosen(GitLab, "gl.corp", &[("CI_JOB_TOKEN", "t"), ("CI_SERVER_HOST", "gl.corp")]), Some("CI_JOB_TOKEN"));
        assert_eq!(chosen(GitLab, "gl.corp", &[("CI_JOB_TOKEN", "t")]), None);
        assert_eq!(chosen(GitLab, "h", &[("GITLAB_TOKEN", " "), ("TRIBUNAL_TOKEN", "t")]), Some("TRIBUNAL_TOKEN"));
    }
}
