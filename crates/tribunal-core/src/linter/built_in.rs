//! The profiles in the binary.

use super::profile::Profile;
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// Name and text of each profile.
pub const SOURCES: &[(&str, &str)] = &[
    ("actionlint", include_str!("../../../../linters/actionlint.toml")),
    ("bandit", include_str!("../../../../linters/bandit.toml")),
    ("biome", include_str!("../../../../linters/biome.toml")),
    ("brakeman", include_str!("../../../../linters/brakeman.toml")),
    ("clang-tidy", include_str!("../../../../linters/clang-tidy.toml")),
    ("codespell", include_str!("../../../../linters/codespell.toml")),
    ("cppcheck", include_str!("../../../../linters/cppcheck.toml")),
    ("eslint", include_str!("../../../../linters/eslint.toml")),
    ("flake8", include_str!("../../../../linters/flake8.toml")),
    ("gitleaks", include_str!("../../../../linters/gitleaks.toml")),
    ("golangci-lint", include_str!("../../../../linters/golangci-lint.toml")),
    ("gosec", include_str!("../../../../linters/gosec.toml")),
    ("govet", include_str!("../../../../linters/govet.toml")),
    ("hadolint", include_str!("../../../../linters/hadolint.toml")),
    ("ktlint", include_str!("../../../../linters/ktlint.toml")),
    ("markdownlint", include_str!("../../../../linters/markdownlint.toml")),
    ("mypy", include_str!("../../../../linters/mypy.toml")),
    ("oxlint", include_str!("../../../../linters/oxlint.toml")),
    ("pmd", include_str!("../../../../linters/pmd.toml")),
    ("pylint", include_str!("../../../../linters/pylint.toml")),
    ("rubocop", include_str!("../../../../linters/rubocop.toml")),
    ("ruff", include_str!("../../../../linters/ruff.toml")),
    ("semgrep", include_str!("../../../../linters/semgrep.toml")),
    ("shellcheck", include_str!("../../../../linters/shellcheck.toml")),
    ("sqlfluff", include_str!("../../../../linters/sqlfluff.toml")),
    ("staticcheck", include_str!("../../../../linters/staticcheck.toml")),
    ("stylelint", include_str!("../../../../linters/stylelint.toml")),
    ("tflint", include_str!("../../../../linters/tflint.toml")),
    ("typos", include_str!("../../../../linters/typos.toml")),
    ("yamllint", include_str!("../../../../linters/yamllint.toml")),
    ("zizmor", include_str!("../../../../linters/zizmor.toml")),
];

/// Does the panel know a linter by this word?
pub fn is_linter(name: &str) -> bool {
    SOURCES.iter().any(|(known, _)| *known == name)
}

pub fn profile(name: &str) -> Option<&'static Profile> {
    all().get(name)
}

/// Every profile, by name. A test reads each of them, so that none is missing here.
pub fn all() -> &'static BTreeMap<&'static str, Profile> {
    static PROFILES: OnceLock<BTreeMap<&'static str, Profile>> = OnceLock::new();
    PROFILES.get_or_init(|| SOURCES.iter().filter_map(|(name, text)| Some((*name, Profile::parse(text).ok()?))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::role::built_in_roles;
    use crate::linter::triage::{Triage, find};

    /// Issue 18, section 2: at least twenty, each whole: every category of its tables is somebody's, its sample is a file that it is
    /// given, and the rule of its sample is a finding.
    #[test]
    fn every_profile_is_whole() {
        assert!(SOURCES.len() >= 20);
        assert!(SOURCES.is_sorted());
        let roles = built_in_roles().unwrap();
        for (name, text) in SOURCES {
            let profile = Profile::parse(text).unwrap_or_else(|problem| panic!("{name}: {problem}"));
            assert!(roles.iter().any(|role| role.name == profile.role), "{name}");
            for triage in profile.rules.values().chain(profile.levels.values()) {
                let Triage::Finding { category, .. } = triage else { continue };
                assert!(roles.iter().any(|role| role.owns(category)), "{name}: {category}");
            }
            assert!(profile.selection().unwrap().looks_at(&profile.sample.path), "{name}");
            let is_by_level = !profile.levels.is_empty();
            let triage = find(&profile.rules, &profile.sample.rule);
            assert!(is_by_level || triage.is_some_and(|triage| *triage != Triage::Off), "{name}");
        }
        assert!(profile("ruff").is_some() && profile("rules").is_none() && is_linter("eslint"));
    }

    /// What a linter obeys is never what the change brings, be it a file that the linter would look at.
    #[test]
    fn a_change_brings_no_configuration() {
        for (name, file) in [
            ("eslint", "eslint.config.js"),
            ("eslint", "web/.eslintrc.CJS"),
            ("ruff", "deep/ruff.toml"),
            ("rubocop", ".rubocop"),
            ("biome", "tools/plugin.grit"),
            ("pylint", "sub/.pylintrc"),
            ("mypy", "setup.cfg"),
            ("tflint", ".tflint.d/plugins/x"),
            ("tflint", "modules/evil/.tflint.d/plugins/x"),
            ("tflint", "modules/evil/.tflint.d"),
            ("brakeman", "engines/x/config/brakeman.yml"),
            ("ktlint", "deep/.ktlint/x.jar"),
            ("eslint", "node_modules/eslint-formatter-json/index.js"),
            ("codespell", ".tool-versions"),
            ("mypy", "sub/.python-version"),
            ("typos", "sub/mise.local.toml"),
            ("golangci-lint", ".golangci.yml"),
            ("stylelint", "stylelint.config.mjs"),
            ("typos", "_typos.toml"),
            ("staticcheck", "sub/.hg/hgrc"),
            ("shellcheck", ".git/config.sh"),
        ] {
            let selection = profile(name).unwrap().selection().unwrap();
            assert!(selection.obeys(&file.into()) && !selection.looks_at(&file.into()), "{name}: {file}");
        }
        let selection = profile("eslint").unwrap().selection().unwrap();
        assert!(selection.looks_at(&"src/a.js".into()) && !selection.looks_at(&"a.py".into()));
        let selection = profile("gitleaks").unwrap().selection().unwrap();
        assert!(selection.looks_at(&".envrc".into()) && selection.obeys_in_a_tree(&"sub/.envrc".into()), "a place for secrets");
    }
}
