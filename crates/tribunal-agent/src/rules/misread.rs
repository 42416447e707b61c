//! Code that is run in another way than the grammar reads it: what the grammar takes for a comment or for data runs, so no rule sees it.
//! Only what the change wrote counts.

use super::checks::pattern::Pattern;
use super::checks::workflow::is_workflow;
use super::scan::whole_text;
use super::yaml;
use tree_sitter::{Node, Tree};
use tribunal_core::diff::change::{AddedLines, ChangedFile, FileStatus};
use tribunal_core::diff::language::Language;
use tribunal_core::linter::suppression::has_odd_encoding;

/// Whether lines that the change added mean something else to whoever runs this text.
pub fn is_read_otherwise(language: Language, text: &str, tree: &Tree, added: &AddedLines) -> bool {
    let is_encoded = || language == Language::Python && added.count() > 0 && has_odd_encoding(text);
    has_lone_return(text, added) || is_encoded() || has_misread_node(language, text, tree, added)
}

/// Whether the change wrote values into a workflow that its checks, which read line by line, cannot see. Nothing where only its hunks
/// are known: they do not tell what is part of a script.
pub fn hides_values(file: &ChangedFile) -> bool {
    is_workflow(file) && whole_text(file).is_some_and(|text| yaml::hides_values(&text, &file.added_numbers()))
}

/// A carriage return alone ends a line, and so a comment, for most interpreters and for no grammar.
fn has_lone_return(text: &str, added: &AddedLines) -> bool {
    let mut lines = (1..).zip(text.split('\n'));
    text.contains('\r') && lines.any(|(number, line)| added.contains(number) && line.trim_end_matches('\r').contains('\r'))
}

/// Characters that end a line, and so a comment, for JavaScript or C#.
const LINE_ENDS: [char; 3] = ['\u{85}', '\u{2028}', '\u{2029}'];

fn has_misread_node(language: Language, text: &str, tree: &Tree, added: &AddedLines) -> bool {
    let may_be_misread = match language {
        Language::Java => return text.contains("\\u") && is_escaped_in_java(text, tree, added),
        Language::Ruby => text.contains("__END__"),
        Language::JavaScript | Language::TypeScript | Language::Tsx | Language::CSharp => text.contains(LINE_ENDS),
        _ => false,
    };
    if !may_be_misread {
        return false;
    }
    let mut cursor = tree.walk();
    loop {
        let node = cursor.node();
        let (first, last) = (node.start_position().row as u32 + 1, node.end_position().row as u32 + 1);
        let is_touched = added.touches(first, last);
        if is_touched && node.child_count() == 0 && is_misread(language, node, text) {
            return true;
        }
        if is_touched && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return false;
            }
        }
    }
}

fn is_misread(language: Language, node: Node<'_>, text: &str) -> bool {
    let Some(own) = text.get(node.byte_range()) else { return false };
    let kind = node.kind();
    match language {
        Language::Ruby => kind == "uninterpreted" && !own.trim().is_empty() && !is_ended(&text[..node.start_byte()]),
        _ => kind.contains("comment") && own.contains(LINE_ENDS),
    }
}

/// Ruby stops at `__END__` only where that is a whole line.
fn is_ended(before: &str) -> bool {
    let before = before.strip_suffix('\n').unwrap_or(before);
    before.rsplit('\n').next().is_some_and(|line| line.trim_end_matches('\r') == "__END__")
}

static JAVA_ESCAPE: Pattern = Pattern::new(r"\\+u+[0-9a-fA-F]{4}");

/// Java turns `\u000a` into a line end before it knows what a comment or a string is.
fn is_escaped_in_java(text: &str, tree: &Tree, added: &AddedLines) -> bool {
    (1..).zip(text.split('\n')).filter(|(number, _)| added.contains(*number)).any(|(_, line)| {
        JAVA_ESCAPE.all(line).any(|escape| {
            let slashes = escape.bytes().take_while(|byte| *byte == b'\\').count();
            let code = escape.get(escape.len() - 4..).and_then(|code| u32::from_str_radix(code, 16).ok());
            let means = code.and_then(char::from_u32).filter(char::is_ascii);
            let at = escape.as_ptr() as usize - text.as_ptr() as usize + slashes - 1;
            let kind = tree.root_node().descendant_for_byte_range(at, at + 1).map_or("", |node| node.kind());
            // A second backslash before it makes it text.
            slashes % 2 == 1 && means.is_some_and(|means| is_misplaced(kind, means))
        })
    })
}

/// Whether an escape of this character does something else than stand for it, in this kind of node.
fn is_misplaced(kind: &str, means: char) -> bool {
    match kind {
        "line_comment" => matches!(means, '\n' | '\r'),
        "block_comment" => matches!(means, '*' | '/'),
        "string_fragment" | "character_literal" | "string_literal" | "escape_sequence" => {
            matches!(means, '\n' | '\r' | '"' | '\\')
        }
        "multiline_string_fragment" => matches!(means, '"' | '\\'),
        _ => true,
    }
}

/// The language of a program that a first line starts; nothing for one that is not known.
enum Started {
    Language(Language),
    /// One that no grammar here reads.
    Foreign,
    Unknown,
}

fn started(first: &str) -> Started {
    let script = first.strip_prefix("#!").filter(|script| script.len() < 256 && !script.starts_with('['));
    let program = script.map(interpreter).unwrap_or_default().trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    Started::Language(match program {
        "python" | "pypy" => Language::Python,
        "ruby" | "jruby" => Language::Ruby,
        "node" | "nodejs" => Language::JavaScript,
        "deno" | "bun" | "tsx" | "ts-node" => Language::TypeScript,
        "php" => Language::Php,
        "bash" | "sh" | "ksh" | "dash" | "zsh" => Language::Bash,
        "perl" | "tclsh" | "wish" | "expect" | "lua" | "awk" | "gawk" | "sed" | "make" | "pwsh" => return Started::Foreign,
        _ => return Started::Unknown,
    })
}

/// The name of the program that a first line names, without its folder. `env` starts what comes after it.
fn interpreter(script: &str) -> &str {
    let mut words = script.split_whitespace().filter(|word| !word.starts_with('-') && !word.contains('='));
    let mut name = || words.next().and_then(|word| word.rsplit('/').next()).unwrap_or_default();
    match name() {
        "env" => name(),
        program => program,
    }
}

fn first_line(file: &ChangedFile) -> &str {
    file.new_text.as_deref().and_then(|text| text.lines().next()).unwrap_or_default()
}

/// The language that a file is read as: by its name, unless its first line names another interpreter. Nothing where no grammar fits.
pub fn language_of(file: &ChangedFile) -> Option<Language> {
    let named = file.language();
    let first = first_line(file);
    if first.starts_with("<?php") && named == Some(Language::Bash) {
        return Some(Language::Php);
    }
    if !matches!(named, None | Some(Language::Bash)) {
        return named;
    }
    match started(first) {
        Started::Language(language) => Some(language),
        Started::Foreign => None,
        Started::Unknown => named,
    }
}

/// Whether the change made the name of a file say one language and its first line another: which of them runs it, the caller decides.
pub fn is_disputed(file: &ChangedFile) -> bool {
    let Some(named) = file.language() else { return false };
    let first = first_line(file);
    let other = match started(first) {
        Started::Language(language) => family(language) != family(named),
        Started::Foreign => true,
        Started::Unknown => first.starts_with("<?php") && named == Language::Bash,
    };
    other && (file.added_numbers().contains(1) || file.status != FileStatus::Modified)
}

/// Languages that one interpreter runs.
fn family(language: Language) -> Language {
    match language {
        Language::TypeScript | Language::Tsx => Language::JavaScript,
        other => other,
    }
}
