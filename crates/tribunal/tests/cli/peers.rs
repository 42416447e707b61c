//! Real parts that `cargo xtask peers` fetches. In CI a missing one is a failure; elsewhere it is a loud skip.

use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/peers").canonicalize().unwrap_or_default()
}

fn peer(what: &str, path: PathBuf) -> Option<PathBuf> {
    if path.is_file() {
        return Some(path);
    }
    assert!(std::env::var_os("CI").is_none(), "{what} is missing in CI: {}", path.display());
    eprintln!("SKIPPED: {what} is missing; `cargo xtask peers` fetches it");
    None
}

/// An agent CLI: its kind in a config, its program, and how its API is reached at a server.
#[derive(Debug, Clone, Copy)]
pub struct Cli {
    pub kind: &'static str,
    path: &'static str,
    pub version: &'static str,
}

pub const CLIS: [Cli; 5] = [
    Cli { kind: "claude", path: "node_modules/@anthropic-ai/claude-code-linux-x64/claude", version: "/v1" },
    Cli {
        kind: "codex",
        path: "node_modules/@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex",
        version: "/v1",
    },
    Cli { kind: "gemini-cli", path: "node_modules/@google/gemini-cli/bundle/gemini.js", version: "/v1beta" },
    Cli { kind: "opencode", path: "node_modules/opencode-linux-x64/bin/opencode", version: "/v1" },
    Cli { kind: "copilot", path: "node_modules/@github/copilot-linux-x64/copilot", version: "/v1" },
];

impl Cli {
    pub fn program(&self) -> Option<PathBuf> {
        peer(self.kind, folder().join(self.path))
    }
}

/// The folders of the real linters, for a PATH.
pub fn linters() -> Option<Vec<PathBuf>> {
    let python = peer("ruff, with the other linters", folder().join("linters/bin/ruff"))?;
    let node = peer("eslint, with the other linters", folder().join("linters-npm/node_modules/.bin/eslint"))?;
    Some([python, node].iter().filter_map(|program| program.parent().map(Path::to_owned)).collect())
}

/// The Python that has the small model.
pub fn python() -> Option<PathBuf> {
    peer("the small model's Python", folder().join("python/bin/python3"))
}
