//! Git runs three of Gitea's hooks for each push, and each would start the whole server program: a tenth of a second, most of it for
//! syntax definitions and database models that no hook uses. This makes a program of the hooks alone, out of Gitea's own source, that
//! starts in a hundredth of a second. It asks the running server the same questions in the same words.

use anyhow::{Context as _, Result};
use std::fs;
use std::path::Path;

/// Files that are taken over with another package name or other imports.
const FILES: [(&str, &str); 5] = [
    ("cmd/hook.go", "hook/hook.go"),
    ("modules/private/hook.go", "hook/private/hook.go"),
    ("modules/private/internal.go", "hook/private/internal.go"),
    ("modules/private/request.go", "hook/private/request.go"),
    ("modules/private/pushoptions.go", "hook/private/pushoptions.go"),
];

const REPLACED: [(&str, &str); 4] = [
    ("package cmd\n", "package main\n"),
    ("repo_module \"gitea.dev/modules/repository\"", "repo_module \"gitea.dev/hook/env\""),
    ("\t\"gitea.dev/modules/repository\"", "\trepository \"gitea.dev/hook/env\""),
    ("\"gitea.dev/modules/private\"", "\"gitea.dev/hook/private\""),
];

/// Functions that `cmd/hook.go` calls; the rest of their files would bring in the whole server.
const FUNCTIONS: [(&str, &str); 7] = [
    ("cmd/serv.go", "setup"),
    ("cmd/serv.go", "fail"),
    ("cmd/helper.go", "setupConsoleLogger"),
    ("cmd/helper.go", "globalBool"),
    ("cmd/helper.go", "PrepareConsoleLoggerLevel"),
    ("cmd/main.go", "prepareWorkPathAndCustomConf"),
    ("cmd/main.go", "PrepareSubcommandWithGlobalFlags"),
];

const MAIN: &str = r#"package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"unicode"

	"gitea.dev/hook/private"
	"gitea.dev/modules/git"
	"gitea.dev/modules/log"
	"gitea.dev/modules/setting"

	"github.com/urfave/cli/v3"
)

func main() {
	hook := newHookCommand()
	hook.Flags = append(hook.Flags, &cli.StringFlag{Name: "config"})
	PrepareSubcommandWithGlobalFlags(hook)
	if err := (&cli.Command{Commands: []*cli.Command{hook}}).Run(context.Background(), os.Args); err != nil {
		os.Exit(1)
	}
}
"#;

/// The names of the variables that a hook reads, up to the first function that needs a model.
const VARIABLES: (&str, &str, &str) =
    ("modules/repository/env.go", "// env keys for git hooks need", "// InternalPushingEnvironment");

/// What it is made of, to notice when it changed.
pub fn text() -> String {
    format!("{FILES:?}\n{REPLACED:?}\n{FUNCTIONS:?}\n{VARIABLES:?}\n{MAIN}")
}

pub fn write(source: &Path) -> Result<()> {
    let read = |file: &str| fs::read_to_string(source.join(file)).with_context(|| format!("{file} cannot be read"));
    for folder in ["hook/env", "hook/private"] {
        fs::create_dir_all(source.join(folder))?;
    }
    for (from, to) in FILES {
        let text = REPLACED.iter().fold(read(from)?, |text, (old, new)| text.replace(old, new));
        fs::write(source.join(to), text)?;
    }
    let mut main = MAIN.to_owned();
    for (file, name) in FUNCTIONS {
        let text = read(file)?;
        let function =
            between(&text, &format!("func {name}("), "\n}\n").with_context(|| format!("{file} has no function {name}"))?;
        main.push_str(&format!("\n{function}\n}}\n"));
    }
    fs::write(source.join("hook/main.go"), main)?;
    let (file, first, after) = VARIABLES;
    let text = read(file)?;
    let variables = between(&text, first, after).with_context(|| format!("{file} names no variables"))?;
    Ok(fs::write(source.join("hook/env/env.go"), format!("package env\n\n{variables}"))?)
}

/// The text from `first` on, up to `after`.
fn between<'a>(text: &'a str, first: &str, after: &str) -> Option<&'a str> {
    let text = &text[text.find(first)?..];
    text.find(after).map(|end| &text[..end])
}
