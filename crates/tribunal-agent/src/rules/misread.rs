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
    let is_encoded = || added.count() > 0 && has_odd_encoding(language, text);
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
        Language::C | Language::Cpp => return has_joined_lines(text, tree, added),
        Language::Ruby => text.contains("__END__"),
        Language::Python => !text.is_ascii(),
        Language::JavaScript | Language::TypeScript | Language::Tsx => text.contains(LINE_ENDS) || text.contains('\\'),
        Language::CSharp => text.contains(LINE_ENDS) || text.contains(['\\', '@']),
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
        Language::Python => kind == "identifier" && own.chars().any(stands_for_ascii),
        _ if kind.contains("comment") => own.contains(LINE_ENDS),
        // A name may be written with escapes, and then is another one for the rules.
        Language::CSharp => kind == "identifier" && (own.contains('\\') || is_marked_for_nothing(node, own)),
        _ if kind.contains("identifier") => own.contains('\\'),
        _ => kind == "escape_sequence" && is_escaped_letter(own) && is_in_property_name(node),
    }
}

/// Python takes these characters in a name for letters, digits and underscores of ASCII.
fn stands_for_ascii(letter: char) -> bool {
    matches!(letter,
        // Ordinals, digraphs and the long s.
        '\u{aa}' | '\u{ba}' | '\u{132}'..='\u{133}' | '\u{17f}' | '\u{1c7}'..='\u{1cc}' | '\u{1f1}'..='\u{1f3}'
        // Raised and lowered letters.
        | '\u{2b0}'..='\u{2b8}' | '\u{2e1}'..='\u{2e3}' | '\u{1d2c}'..='\u{1d65}' | '\u{1d9c}' | '\u{1da0}' | '\u{1dbb}'
        | '\u{2071}' | '\u{207f}' | '\u{2090}'..='\u{209c}' | '\u{2c7c}'..='\u{2c7d}' | '\u{a7f2}'..='\u{a7f4}' | '\u{107a5}'
        // Letterlike symbols that are not letters of another script, and Roman numerals.
        | '\u{2102}' | '\u{210a}'..='\u{210e}' | '\u{2110}'..='\u{2113}' | '\u{2115}' | '\u{2119}'..='\u{211d}' | '\u{2124}'
        | '\u{2128}' | '\u{212a}' | '\u{212c}'..='\u{212d}' | '\u{212f}'..='\u{2131}' | '\u{2133}'..='\u{2134}' | '\u{2139}'
        | '\u{2145}'..='\u{2149}' | '\u{2160}'..='\u{217f}'
        // Ligatures, underscores of other forms, full width.
        | '\u{fb00}'..='\u{fb06}' | '\u{fe33}'..='\u{fe34}' | '\u{fe4d}'..='\u{fe4f}' | '\u{ff01}'..='\u{ff5e}'
        // Mathematical letters and digits without the Greek ones, and digits of displays.
        | '\u{1d400}'..='\u{1d6a3}' | '\u{1d7ce}'..='\u{1d7ff}' | '\u{1fbf0}'..='\u{1fbf9}')
}

/// Whether an escape in a string means a letter, a digit or an underscore of ASCII, which needs no escape.
fn is_escaped_letter(escape: &str) -> bool {
    let code = escape.trim_start_matches(['\\', 'u', 'x', '{']).trim_end_matches('}');
    let is_code = escape.starts_with("\\u") || escape.starts_with("\\x");
    let letter = u32::from_str_radix(code, 16).ok().and_then(char::from_u32);
    is_code && letter.is_some_and(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

/// Whether a text is the name of a property, in which this escape is: `a["b"]` or `{ "b": 1 }`.
fn is_in_property_name(escape: Node<'_>) -> bool {
    let Some(text) = escape.parent() else { return false };
    let Some(holder) = text.parent() else { return false };
    holder.kind() == "computed_property_name"
        || ["index", "key", "name"].iter().any(|field| holder.child_by_field_name(field) == Some(text))
}

/// Words of C# that are names only with an `@` before them, or are words of the language in some places.
const CSHARP_WORDS: &str = "abstract add alias allows and args as ascending async await base bool break by byte case catch char checked \
    class const continue decimal default delegate descending do double dynamic else enum equals event explicit extension extern false \
    field file finally fixed float for foreach from get global goto group if implicit in init int interface internal into is join let \
    lock long managed nameof namespace new nint not notnull null nuint object on operator or orderby out override params partial \
    private protected public readonly record ref remove required return sbyte scoped sealed select set short sizeof stackalloc static \
    string struct switch this throw true try typeof uint ulong unchecked unmanaged unsafe ushort using value var virtual void volatile \
    when where while with yield";

/// Whether a name has an `@` before it although it is not a keyword. C# reads it as the same name without the `@`.
fn is_marked_for_nothing(node: Node<'_>, own: &str) -> bool {
    let Some(name) = own.strip_prefix('@') else { return false };
    // `new { @id = 1 }`: attributes of HTML are often all written so.
    let is_new_member = node.parent().is_some_and(|parent| parent.kind() == "anonymous_object_creation_expression")
        && node.next_sibling().is_some_and(|next| next.kind() == "=");
    !is_new_member && CSHARP_WORDS.split_whitespace().all(|word| word != name)
}

/// C joins a line that ends in a backslash with the next one before it reads anything else, and so the halves of a name or of the end of a
/// comment. That is common in directives and in texts, where the grammar does the same.
fn has_joined_lines(text: &str, tree: &Tree, added: &AddedLines) -> bool {
    let kind_at = |at: usize| {
        let mut node = tree.root_node().descendant_for_byte_range(at, at + 1);
        while let Some(inner) = node.filter(|node| !is_text_or_comment(node.kind())) {
            node = inner.parent();
        }
        node.map_or("", |node| node.kind())
    };
    let mut lines = (1..).zip(text.split('\n')).peekable();
    // Where the line begins that the last ones were joined with, if it looks like a directive.
    let mut directive = None;
    let mut is_joined = false;
    while let Some((number, line)) = lines.next() {
        let begin = line.as_ptr() as usize - text.as_ptr() as usize;
        if !is_joined {
            directive = line.trim_start().starts_with('#').then(|| begin + line.len() - line.trim_start().len());
        }
        let half = first_half(line);
        is_joined = half.is_some();
        let (Some(half), Some((_, next))) = (half, lines.peek()) else { continue };
        if !added.touches(number, number + 1) || next.trim().is_empty() {
            continue;
        }
        let is_trigraph = line.trim_end().ends_with(TRIGRAPH);
        let is_word = half.ends_with(is_part_of_token) && next.starts_with(is_part_of_token);
        let is_comment = half.ends_with('*') && next.starts_with(['/', '\\']) || is_longer_comment(line, next);
        // The tree is asked last: most lines that are joined have a blank between them.
        if !(is_trigraph || is_word || is_comment) || directive.is_some_and(|at| kind_at(at).is_empty()) {
            continue;
        }
        let is_read_otherwise = match kind_at(begin + half.len()) {
            "comment" => is_trigraph || is_comment,
            "" => is_trigraph || is_word,
            _ => is_trigraph,
        };
        if is_read_otherwise {
            return true;
        }
    }
    false
}

/// C reads this as a backslash.
const TRIGRAPH: &str = "??/";

/// A line that is joined with the next one, without what joins them. Compilers look past blanks at its end.
fn first_half(line: &str) -> Option<&str> {
    let line = line.trim_end();
    line.strip_suffix('\\').or_else(|| line.strip_suffix(TRIGRAPH))
}

/// A comment to the end of a line goes on in code below it for compilers, and blanks behind the backslash end it for the grammar.
fn is_longer_comment(line: &str, next: &str) -> bool {
    let has_blanks = line.trim_end_matches('\r') != line.trim_end();
    has_blanks && line.contains("//") && !next.trim_start().starts_with("//")
}

fn is_text_or_comment(kind: &str) -> bool {
    matches!(kind, "comment" | "string_literal" | "char_literal" | "raw_string_literal" | "system_lib_string")
}

fn is_part_of_token(sign: char) -> bool {
    !sign.is_whitespace() && !matches!(sign, ',' | ';' | '(' | ')' | '{' | '}' | '[' | ']')
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
