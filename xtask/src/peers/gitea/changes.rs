//! What is changed in Gitea's source before it is built. Each change names what it expects to find, and stops the build where that is not
//! there: a release that changed must be looked at, not guessed at.

use anyhow::{Context as _, Result, bail};
use std::fs;
use std::path::Path;

/// Imports from other forges. Their clients are a third of all that would be compiled, and one of them cannot be fetched.
const LEFT_OUT: [&str; 5] = ["gitea_downloader", "github", "gitbucket", "gitlab", "codecommit"];

struct Change {
    file: &'static str,
    from: &'static str,
    to: &'static str,
}

const CHANGES: [Change; 4] = [
    // Asks whether an error is one of a client that is left out; now it never is.
    Change {
        file: "services/migrations/error.go",
        from: "import (\n\t\"errors\"\n\n\t\"github.com/google/go-github/v88/github\"\n)",
        to: "import \"errors\"",
    },
    Change {
        file: "services/migrations/error.go",
        from: "\t_, ok := err.(*github.RateLimitError)\n\treturn ok\n",
        to: "\treturn false\n",
    },
    Change {
        file: "services/migrations/error.go",
        from: "\t_, ok := err.(*github.TwoFactorAuthError)\n\treturn ok\n",
        to: "\treturn false\n",
    },
    // A slip of the pen: what models want to be done at the start is never noted, so the cache of good tokens is never made, and each
    // request hashes its token ten thousand times.
    Change {
        file: "models/db/engine.go",
        from: "\tif len(registeredInitFuncs) > 0 && initFunc[0] != nil {",
        to: "\tif len(initFunc) > 0 && initFunc[0] != nil {",
    },
];

/// All of it, to notice when it is no longer what a server was built with.
pub fn text() -> String {
    let changes = CHANGES.map(|Change { file, from, to }| format!("{file}\n{from}\n{to}\n")).concat();
    format!("{}\n{changes}", LEFT_OUT.join(" "))
}

pub fn apply(source: &Path) -> Result<()> {
    for name in LEFT_OUT {
        let file = format!("services/migrations/{name}.go");
        fs::remove_file(source.join(&file)).with_context(|| format!("{file} cannot be left out"))?;
    }
    for Change { file, from, to } in CHANGES {
        let path = source.join(file);
        let text = fs::read_to_string(&path).with_context(|| format!("{file} cannot be changed"))?;
        if text.matches(from).count() != 1 {
            bail!("{file} does not hold this once:\n{from}");
        }
        fs::write(path, text.replace(from, to))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_as_expected_stops_the_build() {
        let source = tempfile::tempdir().unwrap();
        for name in LEFT_OUT {
            let file = source.path().join(format!("services/migrations/{name}.go"));
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, "").unwrap();
        }
        fs::write(source.path().join("services/migrations/error.go"), "package migrations\n").unwrap();
        let said = format!("{:#}", apply(source.path()).unwrap_err());
        assert!(said.contains("error.go does not hold this once") && said.contains("go-github"), "{said}");
    }
}
