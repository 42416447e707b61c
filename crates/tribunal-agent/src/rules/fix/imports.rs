//! Where an import goes that a fix needs, and whether the file has it already.
//!
//! The import stands with those of its kind at the top of the file. Where the name that it brings is used for something else, there
//! is no place for it, and so no fix.

use super::SyntaxNode;
use tribunal_core::diff::language::Language;
use tribunal_core::findings::report::Insertion;

#[derive(Debug, PartialEq, Eq)]
pub enum ImportPlace {
    /// The file has it.
    Present,
    At(Insertion),
    /// Its name means something else here, or the language has no imports that we know.
    Nowhere,
}

/// How a language writes imports.
struct Style {
    /// Kinds of the nodes that import.
    kinds: &'static [&'static str],
    /// Kinds of what may stand above them.
    header: &'static [&'static str],
}

fn style(language: Language) -> Option<Style> {
    let (kinds, header): (&[&str], &[&str]) = match language {
        Language::Python => (&["import_statement", "import_from_statement", "future_import_statement"], &[]),
        Language::Go => (&["import_declaration"], &["package_clause"]),
        Language::Java => (&["import_declaration"], &["package_declaration"]),
        Language::Kotlin => (&["import_list", "import_header"], &["package_header", "file_annotation", "shebang_line"]),
        Language::CSharp => (&["using_directive"], &["extern_alias_directive"]),
        Language::Rust => (&["use_declaration", "extern_crate_declaration"], &["inner_attribute_item"]),
        Language::C | Language::Cpp => (&["preproc_include"], &["preproc_call", "preproc_def"]),
        Language::JavaScript | Language::TypeScript | Language::Tsx => (&["import_statement"], &["hash_bang_line"]),
        Language::Ruby | Language::Php | Language::Bash | Language::Sql => return None,
    };
    Some(Style { kinds, header })
}

/// Where `statement` goes in the file of `root`.
pub fn find_place(language: Language, root: &SyntaxNode<'_>, statement: &str) -> ImportPlace {
    let Some(style) = style(language) else { return ImportPlace::Nowhere };
    let Top { imports, header } = top(language, root, &style);
    let everywhere: Vec<SyntaxNode<'_>> = root.children().flat_map(|child| imports_in(language, child, &style)).collect();
    if everywhere.iter().any(|node| brings(language, node, statement)) {
        return ImportPlace::Present;
    }
    if bound_name(language, statement).is_some_and(|name| is_used(root, &name)) {
        return ImportPlace::Nowhere;
    }
    ImportPlace::At(insertion(language, &imports, header, statement, &root.text()))
}

/// What stands at the top of a file.
struct Top<'t> {
    /// The imports before any other code.
    imports: Vec<SyntaxNode<'t>>,
    /// The last line (from 1) of what must stay above an import.
    header: u32,
}

fn top<'t>(language: Language, root: &SyntaxNode<'t>, style: &Style) -> Top<'t> {
    let mut imports = Vec::new();
    let mut header = 0;
    let mut is_first = true;
    for child in root.children() {
        let kind = child.kind();
        let line = last_line(&child);
        if style.kinds.contains(&kind.as_ref()) || is_require(language, &child) {
            imports.extend(imports_in(language, child, style));
            is_first = false;
        } else if style.header.contains(&kind.as_ref()) || is_first && is_docstring(language, &child) {
            header = line;
            is_first = false;
        } else if kind.contains("comment") {
            // A comment at the very top is the licence or a mark for tools; one further down belongs to the code below it.
            if imports.is_empty() && is_first && (header + 1 >= first_line(&child)) {
                header = line;
            }
        } else if !matches!(kind.as_ref(), "\n" | ";" | "php_tag") {
            break;
        }
    }
    Top { imports, header }
}

/// The single imports of a node: those of a list, or the node itself.
fn imports_in<'t>(language: Language, node: SyntaxNode<'t>, style: &Style) -> Vec<SyntaxNode<'t>> {
    if language == Language::Kotlin && node.kind() == "import_list" {
        return node.children().filter(|child| child.kind() == "import_header").collect();
    }
    if language == Language::Go && node.kind() == "import_declaration" {
        return node.dfs().filter(|child| child.kind() == "import_spec").collect();
    }
    let is_guard = matches!(language, Language::C | Language::Cpp) && node.kind().starts_with("preproc_if");
    if is_guard {
        return node.children().filter(|child| style.kinds.contains(&child.kind().as_ref())).collect();
    }
    if style.kinds.contains(&node.kind().as_ref()) || is_require(language, &node) { vec![node] } else { Vec::new() }
}

fn is_script(language: Language) -> bool {
    matches!(language, Language::JavaScript | Language::TypeScript | Language::Tsx)
}

/// `const x = require("x")`, which is how older JavaScript imports.
fn is_require(language: Language, node: &SyntaxNode<'_>) -> bool {
    is_script(language)
        && matches!(node.kind().as_ref(), "lexical_declaration" | "variable_declaration")
        && node.text().contains("require(")
        && node.text().lines().count() == 1
}

fn is_docstring(language: Language, node: &SyntaxNode<'_>) -> bool {
    let is_text = node.kind() == "expression_statement" && node.child(0).is_some_and(|child| child.kind() == "string");
    is_text && (language == Language::Python || is_script(language))
}

/// Whether an import of the file brings what `statement` would.
fn brings(language: Language, node: &SyntaxNode<'_>, statement: &str) -> bool {
    let (has, wanted) = (folded(&node.text()), folded(statement));
    if has == wanted {
        return true;
    }
    match language {
        Language::Go => quoted(&has).is_some() && quoted(&has) == quoted(&wanted) && has.starts_with('"'),
        Language::Python => match (wanted.strip_prefix("from "), wanted.strip_prefix("import ")) {
            (Some(from), _) => {
                let Some((module, name)) = from.split_once(" import ") else { return false };
                let names = has.strip_prefix(&format!("from {module} import "));
                names.is_some_and(|names| names.split(',').any(|one| one.trim_matches([' ', '(', ')']) == name))
            }
            (None, Some(module)) => {
                has.strip_prefix("import ").is_some_and(|names| names.split(',').any(|one| one.trim() == module))
            }
            (None, None) => false,
        },
        Language::Java | Language::Kotlin => wanted.rsplit_once('.').is_some_and(|(package, _)| has == format!("{package}.*")),
        Language::CSharp => has == format!("global {wanted}"),
        _ if is_script(language) => match (names_in_braces(&has), names_in_braces(&wanted)) {
            (Some(has_names), Some(names)) => {
                module(&has) == module(&wanted) && names.iter().all(|name| has_names.contains(name))
            }
            _ => false,
        },
        _ => false,
    }
}

/// A statement without what formatting decides.
fn folded(text: &str) -> String {
    text.trim().trim_end_matches(';').replace('\'', "\"").split_whitespace().collect::<Vec<_>>().join(" ")
}

fn quoted(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once('"')?;
    rest.split_once('"').map(|(path, _)| path)
}

fn module(text: &str) -> Option<&str> {
    quoted(text).map(|path| path.strip_prefix("node:").unwrap_or(path))
}

fn names_in_braces(text: &str) -> Option<Vec<&str>> {
    let (_, rest) = text.split_once('{')?;
    let (names, _) = rest.split_once('}')?;
    Some(names.split(',').map(str::trim).filter(|name| !name.is_empty()).collect())
}

/// The name that a statement brings, where it brings one.
fn bound_name(language: Language, statement: &str) -> Option<String> {
    let text = folded(statement);
    let name = match language {
        Language::Python => text.rsplit_once(" import ").map(|(_, name)| name).or(text.strip_prefix("import "))?,
        Language::Go => quoted(&text)?.rsplit('/').next()?,
        Language::Java | Language::Kotlin => text.rsplit('.').next()?,
        Language::Rust => text.rsplit("::").next()?,
        Language::JavaScript | Language::TypeScript | Language::Tsx => {
            return names_in_braces(&text)?.first().map(|&name| name.into());
        }
        _ => return None,
    };
    let is_module = language == Language::Python;
    Some(if is_module { name.split('.').next().unwrap_or(name) } else { name }.to_owned())
}

/// Whether a name occurs as one of its own in the file.
fn is_used(root: &SyntaxNode<'_>, name: &str) -> bool {
    root.text().contains(name)
        && root.dfs().any(|node| node.is_leaf() && node.kind().contains("identifier") && node.text() == name)
}

fn first_line(node: &SyntaxNode<'_>) -> u32 {
    node.start_pos().line() as u32 + 1
}

/// The line in which the last character of a node stands.
fn last_line(node: &SyntaxNode<'_>) -> u32 {
    let text = node.text();
    let trimmed = text.trim_end_matches(['\n', '\r']);
    first_line(node) + trimmed.matches('\n').count() as u32
}

fn insertion(language: Language, imports: &[SyntaxNode<'_>], header: u32, statement: &str, source: &str) -> Insertion {
    let statement = written(language, imports, statement, source);
    let related: Vec<&SyntaxNode<'_>> = group(language, imports, &statement);
    let Some(last) = related.last() else { return below(header, &statement, source) };
    // Sorted imports stay sorted; others take it at their end.
    let is_greater = |node: &&&SyntaxNode<'_>| order(language, &node.text()) > order(language, &statement);
    let line = match related.iter().find(is_greater) {
        Some(next) => first_line(next),
        None => last_line(last) + 1,
    };
    let is_listed = language == Language::Go && last.parent().is_some_and(|parent| parent.kind() == "import_spec_list");
    let text = match (language, is_listed) {
        (Language::Go, true) => format!("\t{}", statement.trim_start_matches("import ")),
        _ => statement,
    };
    Insertion { line, text }
}

/// The imports among which a new one stands.
fn group<'n, 't>(language: Language, imports: &'n [SyntaxNode<'t>], statement: &str) -> Vec<&'n SyntaxNode<'t>> {
    let word = |text: &str| text.split_whitespace().next().unwrap_or_default().to_owned();
    let family = |text: &str| folded(text).split(['.', ':', ';']).next().unwrap_or_default().to_owned();
    let kin: Vec<&SyntaxNode<'_>> = match language {
        Language::Python => imports.iter().filter(|node| word(&node.text()) == word(statement)).collect(),
        Language::Java | Language::Kotlin | Language::CSharp | Language::Rust => {
            imports.iter().filter(|node| family(&node.text()) == family(statement)).collect()
        }
        _ => imports.iter().collect(),
    };
    // The first of several groups between blank lines: the standard library's.
    let mut first: Vec<&SyntaxNode<'_>> = Vec::new();
    for node in kin {
        if first.last().is_some_and(|last| first_line(node) > last_line(last) + 1) && !is_script(language) {
            break;
        }
        first.push(node);
    }
    if first.is_empty() { imports.last().into_iter().collect() } else { first }
}

fn order(language: Language, text: &str) -> String {
    match language {
        // Order in scripts is a matter of taste: at the end.
        Language::JavaScript | Language::TypeScript | Language::Tsx => String::new(),
        Language::Go => quoted(text).unwrap_or_default().to_owned(),
        // Capitals first, as their formatters have it.
        Language::Java | Language::Kotlin => folded(text),
        _ => folded(text).to_ascii_lowercase(),
    }
}

/// In the file's own way: quotes, final stops and `require`.
fn written(language: Language, imports: &[SyntaxNode<'_>], statement: &str, source: &str) -> String {
    if !is_script(language) {
        return statement.to_owned();
    }
    let uses_require = match imports.first() {
        Some(first) => first.kind() != "import_statement",
        None => source.contains("module.exports") || source.contains("require("),
    };
    let mut text = statement.to_owned();
    if uses_require && let Some((names, path)) = statement.trim_start_matches("import ").split_once(" from ") {
        text = format!("const {names} = require({});", path.trim_end_matches(';'));
    }
    let sample = imports.first().map(|node| node.text().into_owned()).unwrap_or_default();
    if sample.contains('\'') {
        text = text.replace('"', "'");
    }
    if !sample.is_empty() && !sample.trim_end().ends_with(';') {
        text = text.trim_end_matches(';').to_owned();
    }
    text
}

/// The first import of a file, under its header and with a blank line on each side that has code.
fn below(header: u32, statement: &str, source: &str) -> Insertion {
    let is_blank = |line: usize| source.lines().nth(line).is_none_or(|text| text.trim().is_empty());
    let before = if header > 0 { "\n" } else { "" };
    let mut line = header + 1;
    // The blank line that follows the header stays between it and the import.
    let has_gap = header > 0 && is_blank(header as usize) && source.lines().count() > header as usize;
    let before = if has_gap { "" } else { before };
    if has_gap {
        line += 1;
    }
    let after = if is_blank(line as usize - 1) { "" } else { "\n" };
    Insertion { line, text: format!("{before}{statement}{after}") }
}

#[cfg(test)]
mod tests {
    use super::super::Grammar;
    use super::*;
    use ast_grep_core::tree_sitter::LanguageExt;
    use tribunal_core::findings::report::Fix;
    use tribunal_core::remedy::edits::apply;
    use tribunal_core::remedy::splice::{edit, splices};

    /// The file with the import, or why it has none.
    fn with(language: Language, source: &str, statement: &str) -> String {
        let tree = Grammar::from(language).ast_grep(source);
        let insertion = match find_place(language, &tree.root(), statement) {
            ImportPlace::At(insertion) => insertion,
            ImportPlace::Present => return "present".into(),
            ImportPlace::Nowhere => return "nowhere".into(),
        };
        let last = source.lines().count() as u32;
        let unchanged = source.lines().last().unwrap_or_default().to_owned();
        let fix = Fix { insertions: vec![insertion], ..Fix::of_lines(last, last, unchanged) };
        let path = "a".into();
        let edit = edit(&splices(&fix, &path, source).unwrap(), source).unwrap();
        apply(&[edit], |_| Some(source.to_owned())).unwrap().remove(&path).unwrap()
    }

    #[test]
    fn python() {
        let with = |source: &str| with(Language::Python, source, "import hmac");
        assert_eq!(
            with("import os\nimport sys\n\nimport django\n\nx = 1\n"),
            "import hmac\nimport os\nimport sys\n\nimport django\n\nx = 1\n"
        );
        assert_eq!(with("import ast\n\nx = 1\n"), "import ast\nimport hmac\n\nx = 1\n");
        assert_eq!(with("\"\"\"Doc.\"\"\"\n\nx = 1\n"), "\"\"\"Doc.\"\"\"\n\nimport hmac\n\nx = 1\n");
        assert_eq!(with("#!/usr/bin/env python\nx = 1\n"), "#!/usr/bin/env python\n\nimport hmac\n\nx = 1\n");
        assert_eq!(with("x = 1\n"), "import hmac\n\nx = 1\n");
        assert_eq!(
            with("from __future__ import annotations\n\nx = 1\n"),
            "from __future__ import annotations\nimport hmac\n\nx = 1\n"
        );
        assert_eq!(with("import os, hmac\nx = 1\n"), "present");
        assert_eq!(with("from a import hmac\nx = 1\n"), "nowhere");
        assert_eq!(with("def f(hmac):\n    pass\n"), "nowhere");
        let from = |source: &str| super::tests::with(Language::Python, source, "from math import isnan");
        assert_eq!(from("from math import (\n    inf,\n    isnan,\n)\nx = 1\n"), "present");
    }

    #[test]
    fn go() {
        let with = |source: &str| with(Language::Go, source, "import \"crypto/hmac\"");
        assert_eq!(
            with("package a\n\nimport (\n\t\"bytes\"\n\t\"os\"\n\n\t\"x.org/y\"\n)\n\nvar x = 1\n"),
            "package a\n\nimport (\n\t\"bytes\"\n\t\"crypto/hmac\"\n\t\"os\"\n\n\t\"x.org/y\"\n)\n\nvar x = 1\n"
        );
        assert_eq!(
            with("package a\n\nimport \"bytes\"\n\nvar x = 1\n"),
            "package a\n\nimport \"bytes\"\nimport \"crypto/hmac\"\n\nvar x = 1\n"
        );
        assert_eq!(with("package a\n\nvar x = 1\n"), "package a\n\nimport \"crypto/hmac\"\n\nvar x = 1\n");
        assert_eq!(with("package a\n\nimport (\n\t\"crypto/hmac\"\n)\n"), "present");
        assert_eq!(with("package a\n\nimport h \"crypto/hmac\"\n\nvar hmac = 1\n"), "nowhere");
    }

    #[test]
    fn java_and_its_like() {
        let java = |source: &str| with(Language::Java, source, "import java.util.Objects;");
        assert_eq!(
            java("package a;\n\nimport java.util.List;\nimport java.util.Set;\nimport org.x.Y;\n\nclass A {}\n"),
            "package a;\n\nimport java.util.List;\nimport java.util.Objects;\nimport java.util.Set;\nimport org.x.Y;\n\nclass A {}\n"
        );
        assert_eq!(java("package a;\n\nclass A {}\n"), "package a;\n\nimport java.util.Objects;\n\nclass A {}\n");
        assert_eq!(java("import java.util.*;\nclass A {}\n"), "present");
        assert_eq!(java("import com.google.common.base.Objects;\nclass A {}\n"), "nowhere");
        let kotlin = |source: &str| with(Language::Kotlin, source, "import kotlinx.coroutines.delay");
        assert_eq!(
            kotlin("package a\n\nimport kotlinx.coroutines.Job\n\nfun a() {}\n"),
            "package a\n\nimport kotlinx.coroutines.Job\nimport kotlinx.coroutines.delay\n\nfun a() {}\n"
        );
        let csharp = |source: &str| with(Language::CSharp, source, "using System.Text;");
        assert_eq!(
            csharp("using System;\nusing Xunit;\n\nclass A {}\n"),
            "using System;\nusing System.Text;\nusing Xunit;\n\nclass A {}\n"
        );
        assert_eq!(csharp("class A {}\n"), "using System.Text;\n\nclass A {}\n");
    }

    #[test]
    fn scripts_and_others() {
        let script = |source: &str| with(Language::JavaScript, source, "import { timingSafeEqual } from \"node:crypto\";");
        assert_eq!(
            script("import a from 'a'\n\na()\n"),
            "import a from 'a'\nimport { timingSafeEqual } from 'node:crypto'\n\na()\n"
        );
        assert_eq!(
            script("const a = require(\"a\");\na();\n"),
            "const a = require(\"a\");\nconst { timingSafeEqual } = require(\"node:crypto\");\na();\n"
        );
        assert_eq!(script("import { timingSafeEqual, x } from 'crypto'\n"), "present");
        let rust = |source: &str| with(Language::Rust, source, "use std::fmt::Write;");
        assert_eq!(
            rust("//! Doc.\n\nuse std::io;\n\nfn a() {}\n"),
            "//! Doc.\n\nuse std::fmt::Write;\nuse std::io;\n\nfn a() {}\n"
        );
        let c = |source: &str| with(Language::C, source, "#include <string.h>");
        assert_eq!(c("#include <stdio.h>\n\nint a;\n"), "#include <stdio.h>\n#include <string.h>\n\nint a;\n");
        assert_eq!(with(Language::Bash, "a\n", "source b"), "nowhere");
    }
}
