//! Languages whose files call each other, by the endings of their names.

use tribunal_core::diff::language::Language;

/// Endings of the files in which a name of this language may be used.
pub fn endings(language: Language) -> &'static [&'static str] {
    match language {
        Language::Bash => &["sh", "bash", "ksh", "bats"],
        Language::C | Language::Cpp => &["c", "h", "cc", "cpp", "cxx", "hpp", "hh", "hxx", "ipp", "inl"],
        Language::CSharp => &["cs"],
        Language::Go => &["go"],
        Language::Java | Language::Kotlin => &["java", "kt", "kts"],
        Language::JavaScript | Language::TypeScript | Language::Tsx => &["js", "mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx"],
        Language::Php => &["php", "phtml"],
        Language::Python => &["py", "pyi", "pyw"],
        Language::Ruby => &["rb", "rake", "gemspec"],
        Language::Rust => &["rs"],
        Language::Sql => &["sql"],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tribunal_core::ids::RepoPath;

    #[test]
    fn every_ending_is_one_of_a_language_of_the_family() {
        for language in Language::ALL {
            for ending in endings(language) {
                let of_file = Language::of(&RepoPath::from(format!("a.{ending}").as_str())).unwrap();
                assert_eq!(endings(of_file), endings(language), "{ending}");
            }
        }
    }
}
