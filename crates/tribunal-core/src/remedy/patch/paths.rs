//! What a path alone says about a patch.

use crate::diff::language::Language;
use crate::ids::RepoPath;
use crate::plan::files::is_lock_file;

/// Files that no fixer writes, whoever asks for it: they steer agents, this program or git, or only a tool may write them.
pub fn forbidden(path: &RepoPath) -> Option<&'static str> {
    let lower = path.as_str().to_ascii_lowercase();
    let name = lower.rsplit('/').next().unwrap_or_default();
    let folders: Vec<&str> = lower.split('/').rev().skip(1).collect();
    if lower.starts_with('/') || lower.contains('\\') || lower.split('/').any(|part| part == ".." || part.is_empty()) {
        return Some("the path leaves the repository");
    }
    let instructs = matches!(
        name,
        "agents.md"
            | "agent.md"
            | "claude.md"
            | "claude.local.md"
            | "gemini.md"
            | "review.md"
            | "copilot-instructions.md"
            | ".cursorrules"
            | ".windsurfrules"
            | ".clinerules"
            | ".goosehints"
            | ".mcp.json"
            | "skill.md"
            | ".coderabbit.yaml"
            | ".coderabbit.yml"
    ) || name.ends_with(".instructions.md")
        || name.starts_with(".aider");
    let agent_folder = |part: &&str| {
        matches!(
            *part,
            ".claude" | ".codex" | ".gemini" | ".cursor" | ".continue" | ".opencode" | ".windsurf" | ".roo" | ".cline"
        ) || part.starts_with(".cursor")
    };
    if instructs || folders.iter().any(agent_folder) || name.starts_with(".cursor") {
        return Some("it instructs agents");
    }
    if lower.split('/').any(|part| part.starts_with(".tribunal")) || name == "tribunal.toml" {
        return Some("it configures this program");
    }
    // `.github`, `.gitlab`, `.gitea` are the forge's; what of them is forbidden is CI, which has its own category.
    let of_git =
        |part: &str| matches!(part, ".git" | ".gitattributes" | ".gitmodules" | ".gitignore" | ".gitconfig" | ".githooks");
    if lower.split('/').any(of_git) {
        return Some("it steers git");
    }
    is_lock_file(path).then_some("only its tool writes a lock file")
}

/// WL-87, 8.
pub fn is_ci(path: &RepoPath) -> bool {
    let lower = path.as_str().to_ascii_lowercase();
    let name = lower.rsplit('/').next().unwrap_or_default();
    let folders = [
        ".github/workflows/",
        ".github/actions/",
        ".gitea/workflows/",
        ".forgejo/workflows/",
        ".gitlab/ci/",
        ".circleci/",
        ".buildkite/",
        ".woodpecker/",
        ".husky/",
        ".tekton/",
    ];
    folders.iter().any(|folder| lower.starts_with(folder) || lower.contains(&format!("/{folder}")))
        || matches!(
            name,
            "jenkinsfile"
                | ".travis.yml"
                | "appveyor.yml"
                | ".appveyor.yml"
                | "bitbucket-pipelines.yml"
                | "cloudbuild.yaml"
                | "cloudbuild.yml"
                | ".pre-commit-config.yaml"
                | "lefthook.yml"
                | "dependabot.yml"
                | "renovate.json"
                | "codeowners"
                | "action.yml"
                | "action.yaml"
                | ".cirrus.yml"
        )
        || [".gitlab-ci", "azure-pipelines", ".drone.", ".woodpecker."].iter().any(|begin| name.starts_with(begin))
}

/// WL-87, 9. A source file that is called `secrets` or `credentials` is code.
pub fn is_secret_file(path: &RepoPath) -> bool {
    let lower = path.as_str().to_ascii_lowercase();
    let name = lower.rsplit('/').next().unwrap_or_default();
    let sample = [".example", ".sample", ".template", ".dist"].iter().any(|ending| name.ends_with(ending));
    let env = (name == ".env" || name.starts_with(".env.") || name.ends_with(".env") || name == ".envrc") && !sample;
    let by_ending = [".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".tfvars", ".ppk", ".gpg", ".kdbx", ".asc"];
    let by_name = matches!(
        name,
        ".npmrc"
            | ".pypirc"
            | ".netrc"
            | ".htpasswd"
            | ".git-credentials"
            | "kubeconfig"
            | ".pgpass"
            | "master.key"
            | ".dockercfg"
    );
    let stem = name.split('.').next().unwrap_or_default();
    let called = Language::of(path).is_none()
        && (matches!(stem, "secrets" | "secret" | "credentials" | "credential")
            || stem.starts_with("id_rsa")
            || stem.starts_with("service-account"))
        && !sample
        && !matches!(path.extension(), Some("md" | "rst" | "txt"));
    let folder = lower.split('/').rev().skip(1).any(|part| matches!(part, ".ssh" | ".aws" | ".gnupg" | ".kube"));
    env || by_name || called || folder || by_ending.iter().any(|ending| name.ends_with(ending))
}

/// Configuration of linters and checkers: changing it changes what is looked for (WL-87, 3).
pub fn is_lint_config(path: &RepoPath) -> bool {
    let name = path.file_name().to_ascii_lowercase();
    let begins =
        [".eslint", "eslint.config.", ".prettier", ".stylelint", ".rubocop", ".golangci", ".pylintrc", "pylintrc", ".flake8"];
    begins.iter().any(|begin| name.starts_with(begin))
        || matches!(
            name.as_str(),
            "ruff.toml"
                | ".ruff.toml"
                | "clippy.toml"
                | ".clippy.toml"
                | "mypy.ini"
                | ".mypy.ini"
                | "tslint.json"
                | "biome.json"
                | ".semgrepignore"
                | ".bandit"
                | "bandit.yaml"
                | "phpstan.neon"
                | "detekt.yml"
                | "checkstyle.xml"
                | "pytest.ini"
                | ".coveragerc"
                | "codecov.yml"
                | ".codecov.yml"
                | "deny.toml"
                | ".gitleaks.toml"
                | ".trivyignore"
        )
}

/// A file whose loss would take protection away (WL-87, 2).
pub fn is_security_file(path: &RepoPath) -> bool {
    let lower = path.as_str().to_ascii_lowercase();
    const WORDS: [&str; 17] = [
        "auth",
        "security",
        "crypto",
        "permission",
        "policy",
        "policies",
        "csrf",
        "sanitiz",
        "sanitis",
        "login",
        "acl",
        "rbac",
        "firewall",
        "encrypt",
        "password",
        "session",
        "guard",
    ];
    // `author.rs` is no guard.
    let named = |part: &str| WORDS.iter().any(|word| part.starts_with(word)) && !part.starts_with("author");
    lower.split(['/', '.', '_', '-']).any(|part| named(part) || part.starts_with("authoriz") || part.starts_with("authoris"))
}

/// WL-87, 7: files that name what a project depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Manifest {
    Cargo,
    Json,
    Requirements,
    PyProject,
    GoMod,
    Maven,
    Gradle,
    Gemfile,
    DotNet,
    Yaml,
    Container,
}

pub fn manifest(path: &RepoPath) -> Option<Manifest> {
    let name = path.file_name().to_ascii_lowercase();
    Some(match name.as_str() {
        "cargo.toml" => Manifest::Cargo,
        "package.json" | "composer.json" | "deno.json" | "deno.jsonc" | "bower.json" => Manifest::Json,
        "pyproject.toml" | "pipfile" | "setup.cfg" | "setup.py" => Manifest::PyProject,
        "go.mod" => Manifest::GoMod,
        "pom.xml" => Manifest::Maven,
        "gemfile" => Manifest::Gemfile,
        "pubspec.yaml" | "environment.yml" | "environment.yaml" => Manifest::Yaml,
        "directory.packages.props" | "packages.config" => Manifest::DotNet,
        "dockerfile" | "containerfile" => Manifest::Container,
        _ if name.ends_with(".gradle") || name.ends_with(".gradle.kts") || name == "build.sbt" => Manifest::Gradle,
        _ if name.ends_with(".gemspec") => Manifest::Gemfile,
        _ if name.ends_with(".csproj") || name.ends_with(".fsproj") || name.ends_with(".vbproj") => Manifest::DotNet,
        _ if name.ends_with(".txt") && (name.contains("requirements") || name.starts_with("constraints")) => {
            Manifest::Requirements
        }
        _ if name.ends_with(".dockerfile") || name.starts_with("dockerfile.") => Manifest::Container,
        _ => return None,
    })
}

/// Descriptions of an interface or of stored data: whoever changes them changes it for others (CF-19).
pub fn contract_file(path: &RepoPath) -> Option<&'static str> {
    let lower = path.as_str().to_ascii_lowercase();
    let name = lower.rsplit('/').next().unwrap_or_default();
    let ends = |endings: &[&str]| endings.iter().any(|ending| name.ends_with(ending));
    let described =
        ["openapi", "swagger", "asyncapi"].iter().any(|word| name.contains(word)) && ends(&[".json", ".yaml", ".yml"]);
    if described || ends(&[".proto", ".graphql", ".graphqls", ".gql", ".avsc", ".thrift", ".wsdl", ".xsd", ".fbs", ".capnp"]) {
        return Some("it describes an interface");
    }
    let migrates = lower
        .split('/')
        .rev()
        .skip(1)
        .any(|part| matches!(part, "migrations" | "migration" | "migrate" | "alembic" | "changelog"));
    let schema = matches!(name, "schema.rb" | "schema.prisma" | "structure.sql" | "schema.sql");
    (migrates && !name.ends_with(".md") || schema).then_some("it changes stored data")
}
