//! Where the server was built, and how it is configured.

use std::path::{Path, PathBuf};

pub struct Install {
    pub program: PathBuf,
    /// Templates and the like, which the program reads at run time.
    pub source: PathBuf,
    pub folder: PathBuf,
}

/// What `cargo xtask peers` built. In CI a missing one is a failure; elsewhere a loud skip.
pub fn find() -> Option<Install> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/peers/gitea");
    let program = folder.join("gitea");
    if program.is_file() {
        let folder = folder.canonicalize().expect("a folder");
        return Some(Install { program: folder.join("gitea"), source: folder.join("src"), folder });
    }
    assert!(std::env::var_os("CI").is_none(), "Gitea is missing in CI: {}", program.display());
    eprintln!("SKIPPED: Gitea is missing; `cargo xtask peers` builds it");
    None
}

impl Install {
    /// Everything that would talk to the outside, or run by the clock, is off. Issues are searched in the database: an index of its own
    /// would lag behind.
    pub fn settings(&self, data: &Path, port: u16) -> String {
        let (data, source) = (data.display(), self.source.display());
        format!(
            "RUN_MODE = prod
I_AM_BEING_UNSAFE_RUNNING_AS_ROOT = true
WORK_PATH = {data}

[server]
HTTP_ADDR = 127.0.0.1
HTTP_PORT = {port}
ROOT_URL = http://127.0.0.1:{port}/
STATIC_ROOT_PATH = {source}
APP_DATA_PATH = {data}/data
OFFLINE_MODE = true
DISABLE_SSH = true
LFS_START_SERVER = false

[database]
DB_TYPE = sqlite3
PATH = {data}/gitea.db

[repository]
ROOT = {data}/repositories
DEFAULT_BRANCH = main

[security]
INSTALL_LOCK = true
SECRET_KEY = for-tests-only
INTERNAL_TOKEN = for-tests-only
PASSWORD_HASH_ALGO = pbkdf2$1$10

[oauth2]
ENABLED = false

[service]
DISABLE_REGISTRATION = true

[indexer]
ISSUE_INDEXER_TYPE = db

[webhook]
ALLOWED_HOST_LIST = loopback

[picture]
DISABLE_GRAVATAR = true

[log]
MODE = console
LEVEL = Warn

[cron]
ENABLED = false

[actions]
ENABLED = true
"
        )
    }
}
