//! Untracked files: which of them belong to a change, and which the person must name first.
//!
//! A file that git does not know is the person's own until they say otherwise. A branch can empty `.gitignore`, so the base's rules
//! count as well; and what looks like a secret is never taken along unasked, because a review hands its files to agents.

use crate::publish::outgoing::mask::has_key_shape;
use crate::ids::RepoPath;
use std::collections::BTreeSet;

/// Which untracked files a review takes in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UntrackedRules {
    /// Larger files are named as not reviewed.
    pub max_bytes: u64,
    /// Files that the person named, and the content of folders that they named: these count whatever they are called.
    pub included: BTreeSet<RepoPath>,
}

impl UntrackedRules {
    pub fn includes(&self, path: &RepoPath) -> bool {
        let inside = |folder: &RepoPath| {
            let folder = folder.as_str().trim_end_matches('/');
            path.as_str() == folder || path.as_str().strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
        };
        self.included.iter().any(inside)
    }
}

/// A file of the work tree that is no part of the change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WithheldFile {
    pub path: RepoPath,
    pub reason: WithheldReason,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum WithheldReason {
    /// The branch no longer ignores it, but the base does.
    IgnoredByBase,
    SecretName,
    SecretContent,
    /// It passes through a git filter, such as one that encrypts; filters are not run, and its plain content is not meant to be read.
    Filter(String),
}

/// Endings of files that hold data; source code may be about secrets without holding one.
const DATA: [&str; 14] =
    ["", "yml", "yaml", "json", "toml", "ini", "txt", "properties", "xml", "conf", "cfg", "env", "csv", "enc"];
const SECRET_ENDINGS: [&str; 22] = [
    "pem",
    "key",
    "p12",
    "pfx",
    "p8",
    "pk8",
    "der",
    "jks",
    "keystore",
    "kdbx",
    "kdb",
    "ppk",
    "ovpn",
    "tfvars",
    "tfstate",
    "token",
    "secret",
    "env",
    "mobileprovision",
    "gpg",
    "age",
    "htpasswd",
];
const SECRET_NAMES: [&str; 24] = [
    ".netrc",
    "_netrc",
    ".npmrc",
    ".yarnrc.yml",
    ".pypirc",
    ".pgpass",
    ".my.cnf",
    ".htpasswd",
    ".git-credentials",
    ".dockercfg",
    ".dockerconfigjson",
    ".vault-token",
    ".s3cfg",
    ".boto",
    ".envrc",
    "kubeconfig",
    "wallet.dat",
    "master.key",
    "auth.json",
    "terraform.tfstate.backup",
    "known_hosts",
    "authorized_keys",
    "shadow",
    "application_default_credentials.json",
];
const SECRET_FOLDERS: [&str; 7] = [".ssh", ".aws", ".gnupg", ".kube", ".azure", ".docker", ".gcloud"];
/// Written to be shared: they show which values are needed, without them.
const TEMPLATES: [&str; 7] = ["example", "sample", "template", "dist", "tmpl", "tpl", "default"];

/// Is it called like something that holds a secret?
pub fn is_secret_name(path: &RepoPath) -> bool {
    let path = path.as_str().to_ascii_lowercase();
    let mut parts: Vec<&str> = path.split('/').collect();
    let name = parts.pop().unwrap_or_default();
    if parts.iter().any(|folder| SECRET_FOLDERS.contains(folder)) {
        return true;
    }
    let (stem, ending) = name.rsplit_once('.').unwrap_or((name, ""));
    if TEMPLATES.contains(&ending) {
        return false;
    }
    let is_data = DATA.contains(&ending);
    let words: Vec<&str> = stem.split(['.', '-', '_']).collect();
    let named_so = ["secret", "secrets", "credential", "credentials", "password", "passwords", "passwd", "token", "tokens"];
    let is_account_file = ending == "json" && (stem.contains("service-account") || stem.contains("service_account"));
    SECRET_NAMES.contains(&name)
        || name == ".env"
        || name.starts_with(".env.")
        || name.starts_with(".env-")
        || name.starts_with(".env_")
        || (SECRET_ENDINGS.contains(&ending) && !stem.is_empty())
        || (name.starts_with("id_") && ["rsa", "dsa", "ecdsa", "ed25519", "ecdsa_sk", "ed25519_sk"].contains(&&name[3..]))
        || (is_data && words.iter().any(|word| named_so.contains(word)))
        || is_account_file
}

/// Does a text hold what looks like a key? Data that is not text is searched as well as it can be.
pub fn is_secret_content(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let is_key_block = |line: &str| {
        line.contains("-----BEGIN") && line.contains("PRIVATE KEY")
            || line.starts_with("PuTTY-User-Key-File-")
            || line.contains("AGE-SECRET-KEY-1")
    };
    text.lines().any(|line| is_key_block(line) || has_key_shape(line))
}

/// What the output says of the files that were withheld, one sentence for each reason.
pub fn notices(withheld: &[WithheldFile]) -> Vec<String> {
    let reasons: BTreeSet<&WithheldReason> = withheld.iter().map(|file| &file.reason).collect();
    let notice = |reason: &WithheldReason| {
        let paths: Vec<&str> = withheld.iter().filter(|file| file.reason == *reason).map(|file| file.path.as_str()).collect();
        let (why, next) = match reason {
            WithheldReason::IgnoredByBase => (
                "untracked, and ignored by the base's .gitignore".to_owned(),
                "include it with --include-untracked PATH, or `git add` it",
            ),
            WithheldReason::SecretName => (
                "untracked, and named like a file with secrets".to_owned(),
                "include it with --include-untracked PATH if reviewers may read it",
            ),
            WithheldReason::SecretContent => (
                "untracked, and looks as if it held a key".to_owned(),
                "include it with --include-untracked PATH if reviewers may read it",
            ),
            WithheldReason::Filter(name) => (
                format!("changed, and passes through the git filter `{name}`, which is not run"),
                "commit it, and what git stores is reviewed",
            ),
        };
        format!("Not reviewed: {} ({why}); {next}.", listed(&paths))
    };
    reasons.into_iter().map(notice).collect()
}

fn listed(paths: &[&str]) -> String {
    const SHOWN: usize = 10;
    let shown = paths.iter().take(SHOWN).copied().collect::<Vec<_>>().join(", ");
    match paths.len().saturating_sub(SHOWN) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_secret(path: &str) -> bool {
        is_secret_name(&RepoPath::from(path))
    }

    /// Issue 16, point 10.
    #[test]
    fn names_of_files_that_hold_secrets() {
        for path in [
            ".env",
            ".ENV",
            "deploy/.env.production",
            "prod.env",
            "server.pem",
            "tls/server.key",
            "id_rsa",
            "home/id_ed25519",
            "credentials",
            "config/credentials.yml",
            "client_secret.json",
            "my-service-account-key.json",
            "terraform.tfvars",
            ".netrc",
            ".aws/config",
            "db-passwords.csv",
            "release.keystore",
        ] {
            assert!(is_secret(path), "{path}");
        }
        for path in [
            ".env.example",
            ".env.sample",
            "id_rsa.pub",
            "src/secrets.py",
            "token.rs",
            "tokenizer.json",
            "environment.yml",
            "docs/keys.md",
            "monkey.txt",
            "app.py",
            "credentials.rs",
        ] {
            assert!(!is_secret(path), "{path}");
        }
    }

    #[test]
    fn content_that_looks_like_a_key() {
        assert!(is_secret_content(b"a\n-----BEGIN OPENSSH PRIVATE KEY-----\nxx\n"));
        assert!(is_secret_content(format!("aws = \"AKIA{}\"\n", "IOSFODNN7EXAMPLE").as_bytes()));
        assert!(!is_secret_content(b"def add(item):\n    return item\n"));
        assert!(!is_secret_content(b"-----BEGIN PUBLIC KEY-----\n"));
    }

    #[test]
    fn each_reason_is_one_sentence_that_names_the_files() {
        let file = |path: &str, reason| WithheldFile { path: RepoPath::from(path), reason };
        let withheld = [
            file(".env", WithheldReason::SecretName),
            file("dist/a.js", WithheldReason::IgnoredByBase),
            file("server.key", WithheldReason::SecretName),
        ];
        assert_eq!(
            notices(&withheld),
            [
                "Not reviewed: dist/a.js (untracked, and ignored by the base's .gitignore); include it with --include-untracked PATH, or `git add` it.",
                "Not reviewed: .env, server.key (untracked, and named like a file with secrets); include it with --include-untracked PATH if reviewers may read it.",
            ]
        );
    }

    #[test]
    fn a_file_is_included_by_its_name_or_its_folder() {
        let rules = UntrackedRules { max_bytes: 1, included: ["conf/".into(), ".env".into()].into() };
        for (path, expected) in [(".env", true), (".env.local", false), ("conf/a", true), ("config", false), ("conf", true)] {
            assert_eq!(rules.includes(&RepoPath::from(path)), expected, "{path}");
        }
    }
}
