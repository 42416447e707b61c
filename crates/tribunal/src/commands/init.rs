//! `tribunal init`: a small commented configuration that fits what is in the repository.

use super::doctor::on_path;
use crate::situation::{Situation, exit};
use crate::terminal::out;
use crate::workspace::guidance::{Guidance, at_commit, differing};
use crate::workspace::trust::{Scope, trust_content, trust_values};
use crate::workspace::{self, Person, guidance_base};
use std::collections::BTreeMap;
use std::path::Path;
use tribunal_agent::linter::found::try_sample;
use tribunal_core::diff::language::Language;
use tribunal_core::ids::RepoPath;
use tribunal_core::linter::built_in;
use tribunal_core::linter::profile::Profile;
use tribunal_core::policy::linter::LinterConfig;
use tribunal_forge::git::work_file::{MAX_TEXT_BYTES, check_work_path, read_work_file};

/// Files that show how a repository proves itself, and the command. They run without a network, so nothing may be fetched.
const PROOFS: [(&str, &str); 6] = [
    ("Cargo.toml", "cargo test --offline"),
    ("go.mod", "go test ./..."),
    ("package.json", "npm test"),
    ("pyproject.toml", "python3 -m pytest -q"),
    ("Gemfile", "bundle exec rake test"),
    ("Makefile", "make test"),
];

const CONFIG: &str = ".tribunal.toml";

pub fn run(dry_run: bool, force: bool) -> Result<u8, Situation> {
    let repository = workspace::discover()?;
    let top = repository.work_tree.clone().ok_or(tribunal_forge::git::GitError::Bare)?;
    let path = top.join(CONFIG);
    let languages = languages(&repository);
    let text = config(
        &languages,
        &|name| top.join(name).exists(),
        thinker(&|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()), &on_path),
        &working(used(&|name| {
            let bytes = read_work_file(&top, Path::new(name), MAX_TEXT_BYTES).ok().flatten()?;
            String::from_utf8(bytes).ok()
        })),
    );
    if dry_run {
        out::page(&text)?;
        return Ok(exit::DONE);
    }
    // Writing through a link of the branch would replace a file elsewhere.
    let is_there =
        check_work_path(&top, Path::new(CONFIG)).map_err(|error| Situation::new("bad-config", exit::USAGE, error.to_string()))?;
    if is_there && !force {
        return Err(Situation::new("already-there", exit::USAGE, ".tribunal.toml exists already")
            .help("`tribunal init --dry-run` prints what would be written; --force replaces it"));
    }
    std::fs::write(&path, &text)
        .map_err(|error| Situation::new("bad-config", exit::USAGE, format!("{} cannot be written: {error}", path.display())))?;
    // Whoever has it written trusts it, here and once it stands on the base. What else the checked-out branch brings nobody has seen.
    let (person, written) = (Person::here(), Guidance::of_work_tree(&repository)?);
    let items = written.not_trusted(&person)?;
    let of_base = guidance_base(&repository).map(|base| at_commit(&repository, &base)).unwrap_or_default();
    let unseen: Vec<String> = differing(&of_base, written.files()).into_iter().filter(|path| path != CONFIG).collect();
    if unseen.is_empty() {
        trust_content(&person, &repository, written.files())?;
    }
    trust_values(&person, &Scope::all_of_checkout(&repository), &items)?;
    let found = if languages.is_empty() { "no known language yet".to_owned() } else { languages.join(", ") };
    let next = if unseen.is_empty() {
        "Next: tribunal review".to_owned()
    } else {
        let (verb, be) = if unseen.len() == 1 { ("differs", "is") } else { ("differ", "are") };
        let unseen = unseen.join(", ");
        format!(
            "{unseen} {verb} from the base and {be} not trusted, so nothing of this checkout counts yet.\n\
             Next: tribunal trust, which shows the difference; then tribunal review"
        )
    };
    out::say(&format!("Wrote .tribunal.toml ({found}). Commit it, so that it holds for every change.\n{next}"))?;
    Ok(exit::DONE)
}

/// Languages by how many files they have, most first.
fn languages(repository: &tribunal_forge::git::Repository) -> Vec<String> {
    let paths: Vec<RepoPath> = repository.head().and_then(|head| repository.all_paths(&head)).unwrap_or_default();
    let mut counts: BTreeMap<Language, usize> = BTreeMap::new();
    for language in paths.iter().filter_map(Language::of) {
        *counts.entry(language).or_default() += 1;
    }
    let mut ordered: Vec<_> = counts.into_iter().collect();
    ordered.sort_by_key(|(language, count)| (std::cmp::Reverse(*count), *language));
    ordered.into_iter().map(|(language, _)| language.name().to_owned()).collect()
}

/// A model or an agent CLI that is at hand, ready to play a role.
struct Thinker {
    name: &'static str,
    kind: &'static str,
    model: &'static str,
    /// Why it was chosen, for the comment.
    because: String,
}

/// Cheap models of each vendor that can review, to begin with.
const MODELS: [(&str, &str, &str, &str); 3] = [
    ("ANTHROPIC_API_KEY", "claude", "anthropic", "claude-sonnet-5-5"),
    ("OPENAI_API_KEY", "gpt", "openai", "gpt-6-sol"),
    ("GEMINI_API_KEY", "gemini", "gemini", "gemini-3.8-flash"),
];

fn thinker(is_set: &dyn Fn(&str) -> bool, on_path: &dyn Fn(&str) -> bool) -> Option<Thinker> {
    let by_key = MODELS.iter().find(|(variable, ..)| is_set(variable)).map(|(variable, name, kind, model)| Thinker {
        name,
        kind,
        model,
        because: format!("{variable} is set here"),
    });
    by_key.or_else(|| {
        let clis: [(&str, &str, &str); 3] = [
            ("claude", "claude", "claude-sonnet-5-5"),
            ("codex", "codex", "gpt-6-sol"),
            ("gemini", "gemini-cli", "gemini-3.8-flash"),
        ];
        clis.into_iter().find(|(program, ..)| on_path(program)).map(|(program, kind, model)| Thinker {
            name: program,
            kind,
            model,
            because: format!("`{program}` is on the PATH here; its API key must be set when a review runs"),
        })
    })
}

/// A linter's word, and the role that it is proposed for.
type Linter = (&'static str, &'static Profile);

/// Linters that the repository shows signs of.
fn used(read: &dyn Fn(&str) -> Option<String>) -> Vec<Linter> {
    let shows = |sign: &String| match sign.split_once(": ") {
        Some((file, text)) => read(file).is_some_and(|content| content.contains(text)),
        None => read(sign).is_some(),
    };
    built_in::all()
        .iter()
        .filter(|(_, profile)| profile.signs.iter().any(shows))
        .map(|(name, profile)| (*name, profile))
        .collect()
}

/// Those that are installed here and find what is in their sample. All are tried at once.
fn working(linters: Vec<Linter>) -> Vec<Linter> {
    std::thread::scope(|scope| {
        let tried: Vec<_> = linters
            .into_iter()
            .filter(|(_, profile)| on_path(&profile.program))
            .map(|(name, profile)| {
                scope.spawn(move || try_sample(&LinterConfig::of(name), profile).is_ok().then_some((name, profile)))
            })
            .collect();
        tried.into_iter().filter_map(|linter| linter.join().ok().flatten()).collect()
    })
}

fn config(languages: &[String], exists: &dyn Fn(&str) -> bool, thinker: Option<Thinker>, linters: &[Linter]) -> String {
    let mut text = String::from(
        "# Tribunal reviews changes by these settings. They are read from the base branch, never from the change itself.\n",
    );
    text.push_str("# `tribunal config show` prints every value in force and where it came from.\n");
    if !languages.is_empty() {
        text.push_str(&format!("# Found here: {}.\n", languages.join(", ")));
    }
    text.push_str("\n[review]\n# Findings at or above this fail the run: P0, P1, P2, P3 or \"never\".\nfail_level = \"P0\"\n");
    text.push_str(
        "\n[files]\n# Globs to leave out. Lock files, vendored, generated and binary files are left out anyway.\nskip = []\n",
    );
    text.push_str(
        "\n[panel]\n# Who plays each role. Several agents may play one; each looks alone, and agreement is kept as evidence.\n",
    );
    if !linters.is_empty() {
        text.push_str("# Linters that this repository uses and that work here; docs/linters.md says how they are run.\n");
    }
    for role in ["security-reviewer", "staff-engineer", "sdet"] {
        let mut agents = vec!["\"rules\"".to_owned()];
        agents.extend(thinker.iter().map(|thinker| format!("\"{}\"", thinker.name)));
        agents.extend(linters.iter().filter(|(_, profile)| profile.role.as_str() == role).map(|(name, _)| format!("\"{name}\"")));
        text.push_str(&format!("{role} = [{}]\n", agents.join(", ")));
    }
    if let Some(thinker) = &thinker {
        text.push_str(&format!("spec-auditor = [\"{}\"]\n", thinker.name));
    }
    if let Some(Thinker { name, kind, model, because }) = &thinker {
        text.push_str(&format!(
            "\n# {because}. `tribunal agents test {name}` proves that it answers; keys never stand in this file.\n[agents.{name}]\nkind = \"{kind}\"\nmodel = \"{model}\"\n"
        ));
        text.push_str("\n[budget]\n# Dollars that one run may spend.\nrun_usd = 2.0\n");
    }
    text.push_str("\n# Any program that reads a JSON brief and prints a JSON report can play a role:\n# [agents.mine]\n# kind = \"command\"\n# command = [\"my-reviewer\"]  # on the PATH, or an absolute path\n");
    if let Some((file, command)) = PROOFS.iter().find(|(file, _)| exists(file)) {
        text.push_str(&format!(
            "\n# `tribunal watch` runs these in a sandboxed copy, without a network, before it pushes a fix ({file} is here).\n[validate]\ncommands = [\"{command}\"]\n"
        ));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use tribunal_core::policy::config::{Config, Policy};
    use tribunal_core::policy::layers::{merge_layers, read_layer};

    /// Issue 18, section 2: a linter is proposed where the repository uses it.
    #[test]
    fn signs_of_linters_are_seen() {
        let files = |name: &str| match name {
            "pyproject.toml" => Some("[tool.ruff]\nline-length = 100\n".to_owned()),
            ".pre-commit-config.yaml" => Some("- id: shellcheck\n".to_owned()),
            "eslint.config.js" => Some(String::new()),
            _ => None,
        };
        assert_eq!(used(&files).iter().map(|(name, _)| *name).collect::<Vec<_>>(), ["eslint", "ruff", "shellcheck"]);
        assert!(used(&|name| (name == "pyproject.toml").then(String::new)).is_empty());
    }

    /// What `init` writes must be read back without complaint.
    #[test]
    fn the_written_config_is_valid() {
        let roles = ["security-reviewer".into(), "staff-engineer".into(), "sdet".into(), "spec-auditor".into()];
        for (key, program) in [
            ("", ""),
            ("ANTHROPIC_API_KEY", ""),
            ("OPENAI_API_KEY", ""),
            ("GEMINI_API_KEY", ""),
            ("", "claude"),
            ("", "codex"),
            ("", "gemini"),
        ] {
            let linters = used(&|_| Some("[tool.ruff".into()));
            let text = config(&["Rust".into()], &|_| true, thinker(&|name| name == key, &|name| name == program), &linters);
            let parsed: Config = toml::from_str(&text).unwrap();
            assert_eq!(parsed.validate.commands, ["cargo test --offline"]);
            let layer = read_layer("x", &text).unwrap();
            let policy = Policy::new(&merge_layers(&[layer]).unwrap().config, &roles).unwrap();
            assert!(text.contains("\"ruff\"") && policy.agents.contains_key(&"ruff".into()), "{text}");
            let thinks = policy.agents.values().any(|agent| agent.model().is_some());
            assert_eq!(thinks, !key.is_empty() || !program.is_empty(), "{text}");
            assert_eq!(policy.prices.is_empty(), !thinks, "a model whose price is unknown: {text}");
        }
    }
}
