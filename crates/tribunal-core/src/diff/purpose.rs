//! What a file is for. Decided from the path alone, so that every crate agrees.
//!
//! Only production code reaches users. A built-in rule that matches elsewhere asks a question, see [`crate::findings::rule_severity`].

use super::language::{Language, is_prose_path, is_sample_path, is_test_path};
use crate::ids::RepoPath;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FilePurpose {
    Production,
    /// Tests, specs, benchmarks, and the data that they read.
    Test,
    /// Examples, tutorials, and settings to copy.
    Sample,
    /// Prose, and everything in a folder of documentation.
    Documentation,
    /// Texts of the user interface.
    Translation,
}

impl FilePurpose {
    pub fn of(path: &RepoPath) -> Self {
        if is_pipeline(path) {
            FilePurpose::Production
        } else if is_test_path(path) {
            FilePurpose::Test
        } else if is_sample_path(path) || is_tutorial(path) || is_settings_sample(path) {
            FilePurpose::Sample
        } else if is_translation(path) {
            FilePurpose::Translation
        } else if is_prose_path(path) || is_in_documentation(path) || is_api_description(path) {
            FilePurpose::Documentation
        } else {
            FilePurpose::Production
        }
    }

    pub fn is_production(self) -> bool {
        self == FilePurpose::Production
    }
}

fn folders(path: &RepoPath) -> Vec<String> {
    let mut parts: Vec<String> = path.as_str().split('/').map(str::to_ascii_lowercase).collect();
    parts.pop();
    parts
}

/// A pipeline runs with the rights of the repository, whatever it is called: `.github/workflows/tests.yml`.
pub fn is_pipeline(path: &RepoPath) -> bool {
    let home = path.as_str().split('/').next().unwrap_or_default();
    matches!(home, ".github" | ".gitlab" | ".gitea" | ".forgejo" | ".circleci") && !is_prose_path(path)
}

fn is_tutorial(path: &RepoPath) -> bool {
    folders(path).iter().any(|folder| {
        let word = folder.rsplit(['-', '_', '.']).next().unwrap_or(folder);
        matches!(word, "tutorial" | "tutorials" | "quickstart" | "quickstarts" | "playground" | "playgrounds")
    })
}

/// A file that people copy and fill in, such as `config.php.example`.
fn is_settings_sample(path: &RepoPath) -> bool {
    let name = path.file_name().to_ascii_lowercase();
    let endings = [".example", ".sample", ".dist", ".template", ".tmpl"];
    let is_data = Language::of(path).is_none();
    endings.iter().any(|ending| name.ends_with(ending))
        || is_data && name.split('.').any(|part| matches!(part, "example" | "sample"))
}

/// A `docs` folder near the top. Deeper down, a folder of this name may hold a feature of the product.
fn is_in_documentation(path: &RepoPath) -> bool {
    let reach = if Language::of(path).is_some() { 2 } else { usize::MAX };
    folders(path).iter().take(reach).any(|folder| {
        matches!(
            folder.as_str(),
            "doc" | "docs" | "docs_src" | "documentation" | "documentations" | "apidoc" | "apidocs" | "wiki"
        )
    })
}

/// Descriptions of an interface hold values that only show a form.
fn is_api_description(path: &RepoPath) -> bool {
    let name = path.file_name().to_ascii_lowercase();
    let is_data = matches!(path.extension(), Some("json" | "yaml" | "yml"));
    let begins = name.starts_with("openapi") || name.starts_with("swagger");
    is_data && (begins || name.contains(".openapi.") || name.contains("postman_collection"))
}

fn is_translation(path: &RepoPath) -> bool {
    let extension = path.extension().unwrap_or_default().to_ascii_lowercase();
    if matches!(extension.as_str(), "po" | "pot" | "xlf" | "xliff" | "strings" | "stringsdict" | "arb" | "ftl") {
        return true;
    }
    let folders = folders(path);
    let is_named_for = |folder: &String| {
        matches!(
            folder.as_str(),
            "locale" | "locales" | "i18n" | "l10n" | "lang" | "langs" | "language" | "languages" | "translation" | "translations"
        ) || folder.ends_with(".lproj")
    };
    let is_text_table = matches!(extension.as_str(), "json" | "yml" | "yaml" | "properties" | "xml" | "resx" | "toml" | "ini");
    let is_code_table = matches!(extension.as_str(), "php" | "js" | "ts" | "mjs" | "py" | "rb");
    let stem = path.file_name().split('.').next().unwrap_or_default();
    let is_in_locale = folders.windows(2).any(|pair| is_named_for(&pair[0]) && is_locale(&pair[1]));
    let names_locale = is_locale(stem) || folders.last().is_some_and(|folder| is_locale(folder)) || is_in_locale;
    // `values-de/strings.xml` of Android.
    let is_android = extension == "xml" && folders.last().is_some_and(|folder| folder.starts_with("values"));
    is_android || folders.iter().any(is_named_for) && (is_text_table || is_code_table && names_locale)
}

/// `de`, `pt-BR`, `zh_Hans`.
fn is_locale(name: &str) -> bool {
    let mut parts = name.split(['-', '_']);
    let language = parts.next().unwrap_or_default();
    let is_code = |part: &str, sizes: std::ops::RangeInclusive<usize>| {
        sizes.contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphabetic())
    };
    is_code(language, 2..=3) && parts.all(|part| is_code(part, 2..=4) || part == "419")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_ships_is_production() {
        use FilePurpose::*;
        for (path, purpose) in [
            ("src/app.py", Production),
            ("internal/lang/parse.go", Production),
            ("src/i18n/index.ts", Production),
            ("internal/server/docs/handler.go", Production),
            ("config/database.yml", Production),
            ("cookbook/views/api.py", Production),
            ("requirements.txt", Production),
            (".github/workflows/tests.yml", Production),
            (".github/workflows/openapi.yml", Production),
            ("src/lang/fa.json", Translation),
            ("locales/de.ts", Translation),
            ("resources/lang/pt_BR/auth.php", Translation),
            ("resources/lang/af-ZA/admin/hardware/message.php", Translation),
            ("app/src/main/res/values-ar/strings.xml", Translation),
            ("po/he.po", Translation),
            ("docs/conf.py", Documentation),
            ("guides/setup.md", Documentation),
            ("server/api/openapi.yaml", Documentation),
            ("database/seeders/DevelopmentUserSeeder.php", Test),
            ("database/seeders/CountrySeeder.php", Production),
            ("Duplicati/UnitTest/Issue1.cs", Test),
            ("Lib/unittest/case.py", Production),
            ("examples/a.go", Sample),
            ("tutorials/first/app.js", Sample),
            ("config/settings.yml.example", Sample),
            (".env.example", Sample),
            ("bench/run.rs", Test),
            ("src/commonTest/kotlin/A.kt", Test),
            ("spec/models/user.rb", Test),
        ] {
            assert_eq!(FilePurpose::of(&path.into()), purpose, "{path}");
        }
    }
}
