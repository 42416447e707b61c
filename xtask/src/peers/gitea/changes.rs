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
    /// How often `from` is there.
    times: usize,
}

const CHANGES: [Change; 8] = [
    // Asks whether an error is one of a client that is left out; now it never is.
    Change {
        file: "services/migrations/error.go",
        from: "import (\n\t\"errors\"\n\n\t\"github.com/google/go-github/v88/github\"\n)",
        to: "import \"errors\"",
        times: 1,
    },
    Change {
        file: "services/migrations/error.go",
        from: "\t_, ok := err.(*github.RateLimitError)\n\treturn ok\n",
        to: "\treturn false\n",
        times: 1,
    },
    Change {
        file: "services/migrations/error.go",
        from: "\t_, ok := err.(*github.TwoFactorAuthError)\n\treturn ok\n",
        to: "\treturn false\n",
        times: 1,
    },
    // A slip of the pen: what models want to be done at the start is never noted, so the cache of good tokens is never made, and each
    // request hashes its token ten thousand times.
    Change {
        file: "models/db/engine.go",
        from: "\tif len(registeredInitFuncs) > 0 && initFunc[0] != nil {",
        to: "\tif len(initFunc) > 0 && initFunc[0] != nil {",
        times: 1,
    },
    // Hooks are run by the small program of `hook_program`.
    Change {
        file: "modules/gitrepo/hooks.go",
        from: "util.ShellEscape(setting.AppPath)",
        to: "util.ShellEscape(setting.AppPath+\"-hook\")",
        times: 4,
    },
    // Nearly every request asks for the kind of a repository's ids, by a git process of its own. A repository keeps its kind.
    Change {
        file: "modules/git/repo_object.go",
        from: "\tstr, err := repo.hashObjectBytes(nil, false)\n",
        to: "\tif known, ok := objectFormats.Load(repo.Path); ok {\n\t\trepo.objectFormat = known.(ObjectFormat)\n\t\treturn repo.objectFormat, nil\n\t}\n\tstr, err := repo.hashObjectBytes(nil, false)\n",
        times: 1,
    },
    Change {
        file: "modules/git/repo_object.go",
        from: "\trepo.objectFormat = hash.Type()\n",
        to: "\trepo.objectFormat = hash.Type()\n\tobjectFormats.Store(repo.Path, repo.objectFormat)\n",
        times: 1,
    },
    Change {
        file: "modules/git/repo_object.go",
        from: "import (\n\t\"strings\"\n\n\t\"gitea.dev/modules/git/gitcmd\"\n)\n",
        to: "import (\n\t\"strings\"\n\t\"sync\"\n\n\t\"gitea.dev/modules/git/gitcmd\"\n)\n\nvar objectFormats sync.Map\n",
        times: 1,
    },
];

/// All of it, to notice when it is no longer what a server was built with.
pub fn text() -> String {
    let changes = CHANGES.map(|Change { file, from, to, .. }| format!("{file}\n{from}\n{to}\n")).concat();
    format!("{}\n{changes}", LEFT_OUT.join(" "))
}

pub fn apply(source: &Path) -> Result<()> {
    for name in LEFT_OUT {
        let file = format!("services/migrations/{name}.go");
        fs::remove_file(source.join(&file)).with_context(|| format!("{file} cannot be left out"))?;
    }
    for Change { file, from, to, times } in CHANGES {
        let path = source.join(file);
        let text = fs::read_to_string(&path).with_context(|| format!("{file} cannot be changed"))?;
        let found = text.matches(from).count();
        if found != times {
            bail!("{file} holds this {found} times instead of {times}:\n{from}");
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
        assert!(said.contains("error.go holds this 0 times instead of 1") && said.contains("go-github"), "{said}");
    }
}
