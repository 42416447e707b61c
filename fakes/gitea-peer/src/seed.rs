//! A data folder with the accounts in it. Making one takes seconds, so it is made once and copied.

use crate::install::Install;
use crate::server::{AUTHOR, BOT, MAINTAINER, STRANGER};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tokio::process::Command;

/// To be raised whenever what is in it changes.
const EDITION: &str = "seed-1";
const TOKENS: &str = "tokens.json";

pub type Tokens = BTreeMap<String, String>;

/// Copies the seed into `data`, and says whose tokens are in it.
pub async fn plant(install: &Install, data: &Path) -> Tokens {
    let seed = install.folder.join(EDITION);
    if !seed.join(TOKENS).is_file() {
        make(install, &seed).await;
    }
    copy(&seed, data);
    serde_json::from_slice(&std::fs::read(data.join(TOKENS)).expect("tokens")).expect("tokens")
}

async fn make(install: &Install, seed: &Path) {
    let making = tempfile::tempdir_in(&install.folder).expect("a folder");
    let settings = making.path().join("app.ini");
    std::fs::write(&settings, install.settings(making.path(), 1)).expect("settings");
    run(install, &settings, &["migrate"]).await;
    let mut tokens = Tokens::new();
    for user in [MAINTAINER, BOT, AUTHOR, STRANGER] {
        let address = format!("{user}@example.org");
        let mut create = vec!["admin", "user", "create", "--username", user, "--password", "not-a-secret", "--email", &address];
        create.push("--must-change-password=false");
        if user == MAINTAINER {
            create.push("--admin");
        }
        run(install, &settings, &create).await;
        let token =
            ["admin", "user", "generate-access-token", "--username", user, "--token-name", "test", "--scopes", "all", "--raw"];
        tokens.insert(user.to_owned(), run(install, &settings, &token).await);
    }
    std::fs::write(making.path().join(TOKENS), serde_json::to_vec(&tokens).expect("tokens")).expect("tokens");
    // Another test may have been quicker; its seed is as good.
    if std::fs::rename(making.path(), seed).is_ok() {
        let _ = making.keep();
    }
    assert!(seed.join(TOKENS).is_file(), "{} could not be made", seed.display());
}

/// The last line of what it says: the token, where one is made.
async fn run(install: &Install, settings: &Path, args: &[&str]) -> String {
    let output = Command::new(&install.program).arg("--config").arg(settings).args(args).output().await.expect("it starts");
    let said = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    assert!(output.status.success(), "gitea {args:?}: {said} {}", String::from_utf8_lossy(&output.stderr));
    said.lines().last().unwrap_or_default().to_owned()
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder");
    for entry in std::fs::read_dir(from).expect("a folder").map(|entry| entry.expect("an entry")) {
        let target: PathBuf = to.join(entry.file_name());
        match entry.file_type().expect("a type").is_dir() {
            true => copy(&entry.path(), &target),
            false => {
                std::fs::copy(entry.path(), target).expect("a copy");
            }
        }
    }
}
