//! What kind of file a path names. Decided from the path alone, so that every crate agrees.

use crate::ids::RepoPath;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Languages that the built-in rules can parse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    Bash,
    C,
    Cpp,
    CSharp,
    Go,
    Java,
    JavaScript,
    Kotlin,
    Php,
    Python,
    Ruby,
    Rust,
    Sql,
    Tsx,
    TypeScript,
}

impl Language {
    pub const ALL: [Language; 15] = [
        Language::Bash,
        Language::C,
        Language::Cpp,
        Language::CSharp,
        Language::Go,
        Language::Java,
        Language::JavaScript,
        Language::Kotlin,
        Language::Php,
        Language::Python,
        Language::Ruby,
        Language::Rust,
        Language::Sql,
        Language::Tsx,
        Language::TypeScript,
    ];

    pub fn of(path: &RepoPath) -> Option<Language> {
        // A template of Blade is HTML with directives, which no grammar of PHP reads.
        if path.file_name().to_ascii_lowercase().ends_with(".blade.php") {
            return None;
        }
        Some(match path.extension()?.to_ascii_lowercase().as_str() {
            "sh" | "bash" | "ksh" | "bats" => Language::Bash,
            "c" | "h" => Language::C,
            "cc" | "cpp" | "cxx" | "hpp" | "hh" | "hxx" | "ipp" | "inl" => Language::Cpp,
            "cs" => Language::CSharp,
            "go" => Language::Go,
            "java" => Language::Java,
            "js" | "mjs" | "cjs" | "jsx" => Language::JavaScript,
            "kt" | "kts" => Language::Kotlin,
            "php" | "phtml" => Language::Php,
            "py" | "pyi" | "pyw" => Language::Python,
            "rb" | "rake" | "gemspec" => Language::Ruby,
            "rs" => Language::Rust,
            "sql" => Language::Sql,
            "tsx" => Language::Tsx,
            "ts" | "mts" | "cts" => Language::TypeScript,
            _ => return None,
        })
    }

    pub fn name(self) -> &'static str {
        match self {
            Language::Bash => "Bash",
            Language::C => "C",
            Language::Cpp => "C++",
            Language::CSharp => "C#",
            Language::Go => "Go",
            Language::Java => "Java",
            Language::JavaScript => "JavaScript",
            Language::Kotlin => "Kotlin",
            Language::Php => "PHP",
            Language::Python => "Python",
            Language::Ruby => "Ruby",
            Language::Rust => "Rust",
            Language::Sql => "SQL",
            Language::Tsx => "TSX",
            Language::TypeScript => "TypeScript",
        }
    }
}

/// Test code: a finding there weighs less, and a rule may ask for it or for its absence.
pub fn is_test_path(path: &RepoPath) -> bool {
    let lower = path.0.to_ascii_lowercase();
    // The `<package>test` packages of Go, with the certificates and other data beside them. Elsewhere such a folder is as often a
    // product: `pytest`, `googletest`.
    let go_like = matches!(Language::of(path), None | Some(Language::Go));
    let folder = lower.split('/').rev().skip(1).any(|part| is_test_folder(part) || go_like && is_test_package(part));
    // Python has a package of this name.
    let folder =
        folder || Language::of(path) == Some(Language::CSharp) && lower.split('/').rev().skip(1).any(|part| part == "unittest");
    folder || is_source_set_of_tests(path.as_str()) || is_named_as_test(path) || is_development_data(path)
}

/// A test by a folder or a name that everybody uses for tests alone. What else [`is_test_path`] admits, such as `benchmark_api.py` or a
/// folder `dummy_api`, may be a name that a change chose for its product.
pub fn is_plainly_test_path(path: &RepoPath) -> bool {
    const FOLDERS: [&str; 24] = [
        "test",
        "tests",
        "testing",
        "__tests__",
        "__mocks__",
        "__fixtures__",
        "spec",
        "specs",
        "testdata",
        "test-data",
        "test_data",
        "fixture",
        "fixtures",
        "e2e",
        "testutil",
        "testutils",
        "benches",
        "benchmarks",
        "testsuite",
        "androidtest",
        "unittests",
        "testfixtures",
        "cypress",
        "playwright",
    ];
    let lower = path.as_str().to_ascii_lowercase();
    let name = path.file_name();
    let stem = name.split('.').next().unwrap_or(name);
    let small = stem.to_ascii_lowercase();
    let is_named = small.starts_with("test_")
        || ["_test", "_tests", "_spec"].iter().any(|end| small.ends_with(end))
        || matches!(small.as_str(), "conftest" | "tests")
        || ["Test", "Tests", "TestCase"].iter().any(|end| stem.ends_with(end))
        || [".test.", ".spec."].iter().any(|part| name.to_ascii_lowercase().contains(part));
    // `t` and `bench` are customs of the top folder.
    let is_top = ["t/", "bench/", "benchmark/"].iter().any(|folder| lower.starts_with(folder));
    let folder = lower.split('/').rev().skip(1).any(|part| FOLDERS.contains(&part));
    is_test_path(path) && (folder || is_named || is_top || is_source_set_of_tests(path.as_str()))
}

/// What a name makes of a file: its language, where one program runs several of them together, or else its ending.
pub fn form(path: &RepoPath) -> String {
    match Language::of(path) {
        Some(Language::JavaScript | Language::TypeScript | Language::Tsx) => "javascript".to_owned(),
        Some(Language::C | Language::Cpp) => "c".to_owned(),
        Some(language) => language.name().to_ascii_lowercase(),
        None => match path.extension().map(str::to_ascii_lowercase) {
            Some(extension) if extension == "yml" => "yaml".to_owned(),
            Some(extension) => extension,
            None => path.file_name().to_owned(),
        },
    }
}

/// What fills the database of a developer: `database/seeders/DevelopmentUserSeeder.php`.
fn is_development_data(path: &RepoPath) -> bool {
    let lower = path.0.to_ascii_lowercase();
    let is_seed = |part: &str| matches!(part, "seed" | "seeds" | "seeder" | "seeders");
    let name = path.file_name().to_ascii_lowercase();
    lower.split('/').rev().skip(1).any(is_seed) && ["dev", "test", "demo"].iter().any(|word| name.starts_with(word))
}

/// The source sets of Gradle: `src/commonTest`, `src/integrationTest`.
fn is_source_set_of_tests(path: &str) -> bool {
    let folders: Vec<&str> = path.split('/').collect();
    let is_language = |folder: &str| matches!(folder, "kotlin" | "java" | "groovy" | "scala" | "resources");
    folders.windows(3).any(|three| three[0] == "src" && three[1].ends_with("Test") && is_language(three[2]))
}

fn is_test_folder(part: &str) -> bool {
    matches!(
        part,
        "t" | "test"
            | "tests"
            | "testing"
            | "__tests__"
            | "__mocks__"
            | "__fixtures__"
            | "spec"
            | "specs"
            | "testdata"
            | "test-data"
            | "test_data"
            | "fixture"
            | "fixtures"
            | "e2e"
            | "testutil"
            | "testutils"
            | "bench"
            | "benches"
            | "benchmark"
            | "benchmarks"
            | "testlib"
            | "testsuite"
            | "androidtest"
            | "unittests"
            | "testfixtures"
            | "cypress"
            | "playwright"
    ) || part.starts_with("dummy")
        || TEST_ENDINGS.iter().any(|ending| part.ends_with(ending))
}

const TEST_ENDINGS: [&str; 9] =
    ["_test", "_tests", "-test", "-tests", ".tests", "_fixture", "_fixtures", "-fixture", "-fixtures"];

/// A folder that ends in `test` and is no other word, or one for what tests read.
fn is_test_package(part: &str) -> bool {
    let what = part.strip_prefix("test").unwrap_or_default().trim_start_matches(['-', '_']).trim_end_matches('s');
    if matches!(what, "cert" | "key" | "file" | "resource" | "asset" | "vector" | "case") {
        return true;
    }
    const OTHER: [&str; 14] = [
        "attest",
        "contest",
        "detest",
        "fastest",
        "greatest",
        "latest",
        "protest",
        "shortest",
        "speedtest",
        "pentest",
        "pytest",
        "doctest",
        "unittest",
        "gtest",
    ];
    part.len() > "test".len() && part.ends_with("test") && !OTHER.iter().any(|word| part.ends_with(word))
}

/// Code that shows how to use the product and is not part of it: like test code, it weighs less.
pub fn is_sample_path(path: &RepoPath) -> bool {
    let lower = path.0.to_ascii_lowercase();
    let folders: Vec<&str> = lower.split('/').collect();
    let (_, folders) = folders.split_last().unwrap_or((&"", &[]));
    folders.iter().enumerate().any(|(index, part)| {
        // `com/example` is a package name that many products kept.
        let is_package = || index > 0 && matches!(folders[index - 1], "com" | "org" | "net" | "io");
        let part = part.trim_start_matches('_');
        let word = part.rsplit(['-', '_', '.']).next().unwrap_or(part);
        // `demo-setups`; what begins with `sample` is often a feature, as in `sample-rate`.
        let begins = ["demo-", "demos-", "example-", "examples-"].iter().any(|start| part.starts_with(start));
        (begins || matches!(word, "example" | "examples" | "sample" | "samples" | "demo" | "demos")) && !is_package()
    })
}

/// A repository with such a file tests itself. A folder called `test` deep inside may be a product's feature, so there the
/// file's own name has to say it.
pub fn shows_testing(path: &RepoPath) -> bool {
    let lower = path.0.to_ascii_lowercase();
    let own_folder = ["test/", "tests/", "spec/", "specs/", "__tests__/", "t/"].iter().any(|folder| lower.starts_with(folder))
        || ["src/test/", "/tests/", "/__tests__/"].iter().any(|folder| lower.contains(folder));
    Language::of(path).is_some() && (own_folder || is_named_as_test(path))
}

/// The name of the file that a test file is named after, in small letters and without what says that it is a test.
pub fn tested_name(path: &RepoPath) -> Option<String> {
    let stem = path.file_name().split('.').next().unwrap_or_default().to_ascii_lowercase();
    let is_test = Language::of(path).is_some() && (is_named_as_test(path) || shows_testing(path));
    let stem = stem.strip_prefix("test_").unwrap_or(&stem);
    let ends = ["_tests", "_test", "_spec", "tests", "test", "spec"];
    let name = ends.iter().find_map(|end| stem.strip_suffix(end)).unwrap_or(stem);
    (is_test && !name.is_empty()).then(|| name.trim_matches(['_', '-']).to_owned())
}

fn is_named_as_test(path: &RepoPath) -> bool {
    let name = path.file_name().to_ascii_lowercase();
    let stem = name.split('.').next().unwrap_or(&name);
    stem.starts_with("test_")
        || stem.ends_with("_test")
        || stem.ends_with("_tests")
        || stem.ends_with("_spec")
        || stem.ends_with("_fixture")
        || stem.ends_with("_fixtures")
        || stem == "conftest"
        || stem == "testapp"
        || stem == "testharness"
        || stem.starts_with("benchmark")
        || stem == "tests"
        || stem == "test" && matches!(Language::of(path), Some(Language::C | Language::Cpp))
        || name.contains(".test.")
        || name.contains(".spec.")
        || original_stem(path).ends_with("Test")
        || original_stem(path).ends_with("Tests")
        || original_stem(path).ends_with("TestCase")
        || original_stem(path).ends_with("IT") && Language::of(path) == Some(Language::Java)
}

fn original_stem(path: &RepoPath) -> &str {
    let name = path.file_name();
    name.split('.').next().unwrap_or(name)
}

/// Prose: its findings are capped (PR-130), and a change of nothing else may be trivial (PR-41).
pub fn is_prose_path(path: &RepoPath) -> bool {
    match path.extension().map(str::to_ascii_lowercase).as_deref() {
        Some("md" | "mdx" | "markdown" | "rst" | "adoc" | "asciidoc" | "txt" | "org") => {
            !matches!(path.file_name(), "requirements.txt" | "constraints.txt" | "CMakeLists.txt")
        }
        Some(_) => false,
        None => matches!(path.file_name(), "LICENSE" | "README" | "CHANGELOG" | "AUTHORS" | "NOTICE" | "COPYING"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_known_by_folder_and_by_name() {
        for path in ["tests/a.py", "src/foo_test.go", "src/a.test.ts", "src/main/FooTest.java", "pkg/__tests__/x.js", "test_x.py"]
        {
            assert!(is_test_path(&path.into()), "{path}");
        }
        for path in [
            "caddytest/localhost.key",
            "internal/cmdtest/run.go",
            "src/key_fixtures/a.pem",
            "fixture/a.rb",
            "it-test/A.kt",
            "testcerts/a.key",
            "deps/client/test.c",
            "src/commonTest/kotlin/A.kt",
            "playwright/setup.ts",
            "bench/load.py",
        ] {
            assert!(is_test_path(&path.into()), "{path}");
        }
        for path in [
            "src/latest.py",
            "src/latest/java/A.java",
            "src/feature/test.ts",
            "src/contest/a.py",
            "src/attestation.rs",
            "src/Latest.java",
        ] {
            assert!(!is_test_path(&path.into()), "{path}");
        }
        for path in ["src/_pytest/main.py", "googletest/src/gtest.cc", "releases/latest/server.key", "cmd/speedtest/main.go"] {
            assert!(!is_test_path(&path.into()), "{path}");
        }
    }

    #[test]
    fn a_change_may_have_chosen_a_name_of_a_test() {
        for path in ["tests/a.py", "a/spec/b.rb", "src/a.test.ts", "x/test_a.py", "src/FooTest.java", "t/a.py", "benchmarks/a.py"]
        {
            assert!(is_plainly_test_path(&path.into()), "{path}");
        }
        for path in ["app/benchmark_api.py", "app/dummy_api/views.py", "app/t/views.py", "app/load_test/views.py", "src/app.py"] {
            assert!(!is_plainly_test_path(&path.into()), "{path}");
        }
    }

    #[test]
    fn samples_are_known_by_folder() {
        for path in ["examples/puma/ca.key", "a/sample/b.py", "_examples/x.go", "apps/shop-demo/src/a.ts", "demo-setups/a.yml"] {
            assert!(is_sample_path(&path.into()), "{path}");
        }
        for path in ["src/com/example/App.java", "src/sampler/a.py", "src/example.py", "demography/a.r", "sample-rate/a.py"] {
            assert!(!is_sample_path(&path.into()), "{path}");
        }
    }

    #[test]
    fn a_feature_called_test_does_not_show_testing() {
        for path in ["tests/a.py", "src/a.test.ts", "src/test/java/Foo.java", "crates/x/tests/cli.rs", "pkg/x_test.go"] {
            assert!(shows_testing(&path.into()), "{path}");
        }
        for path in ["actions/test/mine.ts", "clients/decorators/test.ts", "test/README.md", "lib/testing/index.js"] {
            assert!(!shows_testing(&path.into()), "{path}");
        }
    }

    #[test]
    fn prose_is_not_requirements() {
        assert!(is_prose_path(&"docs/a.md".into()));
        assert!(!is_prose_path(&"requirements.txt".into()));
    }
}
