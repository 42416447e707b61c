//! Does a patch add to what a project depends on (WL-87, 7)? Read from the lines of its manifests, each in its own format.

use super::lines::{Changed, is_comment};
use super::paths::Manifest;

/// WL-87, 7: a name that was not there before, or another source for one that was.
pub fn dependency(kind: Manifest, changed: &Changed) -> Option<String> {
    let before: Vec<String> = changed.removed.iter().filter_map(|line| dependency_name(kind, line)).collect();
    for line in changed.added.iter().filter(|line| !is_comment(line)) {
        let Some(name) = dependency_name(kind, line) else { continue };
        let foreign =
            ["git", "http://", "https://", "file:", "path"].iter().any(|word| line.replacen(&name, "", 1).contains(word));
        if !before.contains(&name) || foreign {
            return Some(format!("`{name}` is added to what is depended on"));
        }
    }
    None
}

fn dependency_name(kind: Manifest, line: &str) -> Option<String> {
    let line = line.trim().trim_end_matches(',');
    let name_end = |c: char| !(c.is_ascii_alphanumeric() || "-_./@:".contains(c));
    let first_name = |text: &str| {
        let text = text.trim_start_matches(['"', '\'', '(', ' ']);
        let name: String = text.chars().take_while(|c| !name_end(*c)).collect();
        (!name.is_empty()).then_some(name)
    };
    let versionish = |value: &str| {
        let value = value.trim().trim_start_matches(['"', '\'']);
        value.starts_with(|c: char| c.is_ascii_digit() || "^~><=*{".contains(c))
            || ["workspace:", "file:", "git", "http", "npm:", "latest", "v0", "v1", "v2", "v3"]
                .iter()
                .any(|begin| value.starts_with(begin))
    };
    match kind {
        Manifest::Cargo => {
            let (key, value) = line.split_once('=')?;
            let key = key.trim().trim_matches('"');
            if let Some(name) = key.strip_suffix(".workspace").or_else(|| key.strip_suffix(".version")) {
                return Some(name.to_owned());
            }
            let own = ["version", "edition", "rust-version", "opt-level", "resolver", "codegen-units", "debug", "lto"];
            (versionish(value) && !own.contains(&key)).then(|| key.to_owned())
        }
        Manifest::Json => {
            let (key, value) = line.split_once("\":")?;
            let key = key.trim().trim_matches('"');
            if matches!(key, "preinstall" | "install" | "postinstall" | "prepare" | "prepublish") {
                return Some(key.to_owned());
            }
            let own = ["version", "node", "npm", "lockfileVersion", "indent", "port"];
            let fits = versionish(value) && value.trim().starts_with('"') && !own.contains(&key);
            fits.then(|| key.to_owned())
        }
        Manifest::Requirements => (!line.starts_with('#'))
            .then_some(line)
            .and_then(|line| if line.starts_with('-') { Some(line.to_owned()) } else { first_name(line) }),
        Manifest::PyProject => {
            if line.starts_with(['"', '\'']) {
                let inner = line.trim_matches(['"', '\'']);
                let looks = inner.starts_with(|c: char| c.is_ascii_alphabetic()) && !inner.contains('/') && !inner.contains(' ')
                    || inner.contains([']', '=', '>', '<', '~']);
                return looks.then(|| first_name(inner).unwrap_or_default()).filter(|name| !name.is_empty());
            }
            if let Some((name, rest)) = line.split_once(['>', '<', '~', '=']).filter(|_| !line.contains(" = ")) {
                return (rest.starts_with('=') || rest.starts_with(|c: char| c.is_ascii_digit())).then(|| name.trim().to_owned());
            }
            let (key, value) = line.split_once('=')?;
            let own = ["version", "python", "python_requires", "line-length", "target-version", "requires-python"];
            if key.trim().ends_with("dependencies") || key.trim().ends_with("requires") {
                return value.contains(['"', '\'']).then(|| value.trim().to_owned());
            }
            (versionish(value) && value.trim().starts_with(['"', '\'', '{']) && !own.contains(&key.trim()))
                .then(|| key.trim().to_owned())
        }
        Manifest::GoMod => {
            let line = line.strip_prefix("require ").unwrap_or(line).trim();
            let (name, version) = line.split_once(' ')?;
            if matches!(name, "replace" | "exclude" | "toolchain") {
                return Some(line.to_owned());
            }
            (name.contains('.') && version.starts_with('v') || line.contains("=>")).then(|| name.to_owned())
        }
        Manifest::Maven => {
            let inner = line.strip_prefix("<artifactId>")?.split('<').next()?;
            Some(inner.to_owned())
        }
        Manifest::Gradle => {
            let words = [
                "implementation",
                "api",
                "compile",
                "testImplementation",
                "runtimeOnly",
                "compileOnly",
                "classpath",
                "kapt",
                "annotationProcessor",
                "id",
                "libraryDependencies",
            ];
            let word = words.iter().find(|word| line.strip_prefix(**word).is_some_and(|rest| rest.starts_with(['(', ' '])))?;
            let quoted = line[word.len()..].split(['"', '\'']).nth(1)?;
            let mut parts = quoted.split(':');
            Some(parts.by_ref().take(2).collect::<Vec<_>>().join(":"))
        }
        Manifest::Gemfile => {
            let rest = ["gem ", "gem(", "spec.add_dependency ", "s.add_dependency ", "s.add_runtime_dependency "]
                .iter()
                .find_map(|begin| line.strip_prefix(begin))?;
            rest.split(['"', '\'']).nth(1).map(str::to_owned)
        }
        Manifest::DotNet => {
            let at = ["<PackageReference Include=\"", "<PackageVersion Include=\"", "<package id=\""]
                .iter()
                .find_map(|begin| line.strip_prefix(begin))?;
            at.split('"').next().map(str::to_owned)
        }
        Manifest::Yaml => {
            let line = line.trim_start_matches("- ");
            let (name, value) = line.split_once([':', '='])?;
            (versionish(value) && !matches!(name, "version" | "sdk" | "python")).then(|| name.trim().to_owned())
        }
        Manifest::Container => {
            let lower = line.to_ascii_lowercase();
            let installs = [
                "apt-get install",
                "apt install",
                "apk add",
                "pip install",
                "npm install",
                "npm i ",
                "yum install",
                "dnf install",
                "gem install",
                "cargo install",
                "go install",
                "| sh",
                "| bash",
            ];
            let base =
                lower.strip_prefix("from ").map(|image| image.split([':', '@', ' ']).next().unwrap_or_default().to_owned());
            base.or_else(|| installs.iter().any(|word| lower.contains(word)).then(|| line.to_owned()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_dependencies() {
        for (kind, line, name) in [
            (Manifest::Cargo, "serde = \"1\"", Some("serde")),
            (Manifest::Cargo, "serde.workspace = true", Some("serde")),
            (Manifest::Cargo, "version = \"0.2.0\"", None),
            (Manifest::Json, "\"left-pad\": \"^1.3.0\",", Some("left-pad")),
            (Manifest::Json, "\"test\": \"jest\",", None),
            (Manifest::Json, "\"version\": \"1.2.3\",", None),
            (Manifest::Requirements, "requests[socks]>=2.31", Some("requests")),
            (Manifest::PyProject, "\"httpx>=0.27\",", Some("httpx")),
            (Manifest::PyProject, "httpx = \"^0.27\"", Some("httpx")),
            (Manifest::PyProject, "name = \"shop\"", None),
            (Manifest::GoMod, "require golang.org/x/net v0.1.0", Some("golang.org/x/net")),
            (Manifest::GoMod, "go 1.22", None),
            (Manifest::Maven, "<artifactId>guava</artifactId>", Some("guava")),
            (Manifest::Gradle, "implementation(\"com.x:y:1.0\")", Some("com.x:y")),
            (Manifest::Gemfile, "gem 'rails', '~> 7'", Some("rails")),
            (Manifest::DotNet, "<PackageReference Include=\"Dapper\" Version=\"2\" />", Some("Dapper")),
            (Manifest::Container, "RUN apt-get install -y curl", Some("RUN apt-get install -y curl")),
        ] {
            assert_eq!(dependency_name(kind, line).as_deref(), name, "{line}");
        }
    }
}
