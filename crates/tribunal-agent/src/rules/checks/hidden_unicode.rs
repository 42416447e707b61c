//! Characters that a reviewer cannot see but a compiler, or a language model, reads.
//!
//! Bidirectional controls make code read in another order than it runs; zero-width and tag characters hide text or split names.
//! Many of them also have honest work: joiners shape emoji, Persian and Indic words, a flag is spelled with tags, isolates wrap
//! Hebrew and Arabic text. The neighbours tell which.

use super::{Scope, whole_text};
use crate::rules::misread::language_of;
use std::collections::BTreeSet;
use tribunal_core::diff::change::{ChangedFile, DiffLine};
use tribunal_core::diff::language::Language;
use tribunal_core::diff::purpose::FilePurpose;
use tribunal_core::findings::report::Claim;
use tribunal_core::findings::rule_severity::MAX_WRITTEN_LINE;

/// A file full of them is one problem, not a hundred.
const MAX_PER_FILE: usize = 3;
/// Variation selectors in a row: one is typography, more hide bytes.
const HIDDEN_RUN: usize = 4;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Code,
    TestCode,
    /// Prose, translations, data, markup.
    Text,
    /// Data of tests: test vectors hold such characters because they are about them.
    TestData,
}

pub fn check(scope: &Scope<'_>) -> Vec<Claim> {
    let mut claims = Vec::new();
    for file in scope.files() {
        let place = place(file);
        let comments = block_comments(file);
        let commented = |line: &&DiffLine| line.new_line.is_some_and(|number| comments.contains(&number));
        let shows = |line: &&DiffLine| {
            // A line end ends a comment of one line, wherever a block comment seems to begin: in a text of many lines it begins none.
            place == Place::Code && hides_line_end(line)
                || is_suspect(line, if place == Place::Code && commented(line) { Place::TestCode } else { place })
        };
        let hits = scope.added_lines(file).filter(shows).take(MAX_PER_FILE);
        claims.extend(hits.map(|line| scope.claim(file, line)));
    }
    claims
}

fn place(file: &ChangedFile) -> Place {
    let other_code = matches!(
        file.path.extension(),
        Some(
            "swift"
                | "scala"
                | "lua"
                | "pl"
                | "pm"
                | "vue"
                | "svelte"
                | "dart"
                | "ex"
                | "exs"
                | "groovy"
                | "gradle"
                | "zig"
                | "sol"
                | "ps1"
                | "tf"
        )
    ) || file.path.as_str().ends_with(".blade.php")
        || matches!(file.path.file_name(), "Dockerfile" | "Makefile" | "Jenkinsfile");
    // A table of texts in a language of its own: what people pasted there is prose.
    let is_code =
        (language_of(file).is_some() || file.language().is_some() || other_code) && file.purpose() != FilePurpose::Translation;
    match (is_code, file.is_test()) {
        (true, false) => Place::Code,
        (true, true) => Place::TestCode,
        (false, true) if !file.is_prose() => Place::TestData,
        (false, _) => Place::Text,
    }
}

/// The lines that stand wholly inside a comment between `/*` and `*/`.
fn block_comments(file: &ChangedFile) -> BTreeSet<u32> {
    let mut inside = false;
    let mut found = BTreeSet::new();
    if matches!(language_of(file), Some(Language::Python | Language::Ruby | Language::Bash)) {
        return found;
    }
    for (number, line) in (1..).zip(whole_text(file).unwrap_or_default()) {
        let was_inside = inside;
        let text = line.trim();
        if inside || text.starts_with("/*") {
            inside = !text.contains("*/");
        }
        if was_inside && inside {
            found.insert(number);
        }
    }
    found
}

/// A carriage return alone ends a line for many compilers and for nobody who reads a diff: what follows it hides in a comment.
fn hides_line_end(line: &DiffLine) -> bool {
    line.text.trim_end_matches('\r').contains('\r')
}

fn is_suspect(line: &DiffLine, place: Place) -> bool {
    if place == Place::TestData {
        return false;
    }
    if place == Place::Code && hides_line_end(line) {
        return true;
    }
    if line.text.is_ascii() {
        return false;
    }
    let chars: Vec<char> = line.text.chars().collect();
    let right_to_left = chars.iter().any(|&c| is_right_to_left(c));
    let mut selectors = 0;
    let mut in_flag = false;
    // A tool writes such a character as it is where the source had an escape, and nobody approves the line by reading it.
    let is_minified = line.text.len() > MAX_WRITTEN_LINE;
    for (index, &c) in chars.iter().enumerate() {
        let before = index.checked_sub(1).and_then(|at| chars.get(at)).copied();
        let after = chars.get(index + 1).copied();
        selectors = if matches!(c, '\u{FE00}'..='\u{FE0F}' | '\u{E0100}'..='\u{E01EF}') { selectors + 1 } else { 0 };
        in_flag = c == '\u{1F3F4}' || in_flag && is_tag(c);
        let hit = match c {
            // A number inside Persian or Arabic prose is often forced into its order.
            '\u{202D}' | '\u{202E}' => place != Place::Text || !right_to_left,
            // Line ends for JavaScript, and for nobody who reads a diff.
            '\u{2028}' | '\u{2029}' => place == Place::Code && !is_literal(before, after),
            '\u{2066}'..='\u{2069}' => place != Place::Text || !right_to_left,
            '\u{202A}'..='\u{202C}' => place != Place::Text && !right_to_left,
            _ if is_tag(c) => !in_flag,
            '\u{FEFF}' if index == 0 && line.new_line == Some(1) => false,
            '\u{200B}'..='\u{200D}' | '\u{2060}' | '\u{FEFF}' => {
                place == Place::Code
                    && !is_spelling(before, after)
                    && !is_literal(before, after)
                    && !is_minified
                    // Last, because it reads the whole line again.
                    && !is_comment(&line.text)
            }
            // Blank letters of Hangul: valid in names, and invisible.
            '\u{115F}' | '\u{1160}' | '\u{3164}' | '\u{FFA0}' => {
                place == Place::Code && ![before, after].into_iter().flatten().any(is_hangul) && !is_literal(before, after)
            }
            // Behind a letter of a name it makes another name, unless it is half of a keycap.
            '\u{FE00}'..='\u{FE0F}' if place == Place::Code && before.is_some_and(is_name) && after != Some('\u{20E3}') => true,
            _ => selectors >= HIDDEN_RUN,
        };
        if hit {
            return true;
        }
    }
    false
}

/// A blank that came along with pasted prose does nothing in a comment; it matters where it splits a name. A table may show each
/// character in a comment of its own behind the number.
fn is_comment(line: &str) -> bool {
    let shown = |mark: &str| line.rsplit_once(mark).is_some_and(|(code, rest)| code.is_ascii() && rest.chars().count() <= 2);
    shown("// ") || shown("# ") || ["//", "#", "*", "/*", "--", ";"].iter().any(|start| line.trim_start().starts_with(start))
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

fn is_tag(c: char) -> bool {
    matches!(c, '\u{E0000}'..='\u{E007F}')
}

/// Part of a word or an emoji that is written with it. ASCII never needs a joiner, so every other letter is given the benefit.
fn is_spelling(before: Option<char>, after: Option<char>) -> bool {
    [before, after].into_iter().flatten().any(|c| {
        matches!(c, '\u{0590}'..='\u{109F}' | '\u{1780}'..='\u{17FF}' | '\u{FB1D}'..='\u{FEFC}')
            || matches!(c, '\u{2190}'..='\u{2BFF}' | '\u{3030}' | '\u{303D}' | '\u{1F000}'..='\u{1FAFF}')
    })
}

/// A quoted character that stands alone was meant: a table of entities, a trim set.
fn is_literal(before: Option<char>, after: Option<char>) -> bool {
    let quote = |c: Option<char>| matches!(c, Some('\'' | '"' | '`'));
    quote(before) && quote(after)
}

fn is_right_to_left(c: char) -> bool {
    matches!(c, '\u{0590}'..='\u{08FF}' | '\u{FB1D}'..='\u{FDFF}' | '\u{FE70}'..='\u{FEFC}')
}

fn is_hangul(c: char) -> bool {
    matches!(c, '\u{1100}'..='\u{11FF}' | '\u{3130}'..='\u{318F}' | '\u{AC00}'..='\u{D7FF}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use tribunal_core::diff::change::Origin;

    fn suspect(text: &str, place: Place) -> bool {
        let line = DiffLine { origin: Origin::Added, text: text.to_owned(), old_line: None, new_line: Some(2) };
        is_suspect(&line, place)
    }

    #[test]
    fn neighbours_decide_about_joiners() {
        assert!(suspect("let user\u{200D}name = 1;", Place::Code));
        assert!(!suspect("let family = \"\u{1F468}\u{200D}\u{1F469}\";", Place::Code));
        assert!(!suspect("let plural = \"می\u{200C}خواهم\";", Place::Code));
        assert!(!suspect("let space = '\u{200B}';", Place::Code));
        assert!(!suspect("    0x200c, // \u{200C}", Place::Code));
        assert!(suspect("    user\u{200C}name(); // a", Place::Code));
        let minified = format!("{}/[a\u{200B}b]/", "f(1);".repeat(200));
        assert!(!suspect(&minified, Place::Code));
        assert!(suspect(&format!("{minified}\u{202E}x"), Place::Code));
    }

    /// Issue 16, point 18: code behind a line end that a diff does not show.
    #[test]
    fn a_hidden_line_end_is_suspect() {
        assert!(suspect("# a comment\rimport os", Place::Code));
        assert!(suspect("// a comment\u{2028}run()", Place::Code));
        assert!(!suspect("x = 1\r", Place::Code));
        assert!(!suspect("one\rtwo", Place::Text));
    }

    #[test]
    fn tags_spell_flags_and_hide_orders() {
        assert!(suspect("text \u{E0069}\u{E0067}", Place::Text));
        assert!(!suspect("flag \u{1F3F4}\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}", Place::Text));
        assert!(suspect("x = `\u{FE01}\u{FE05}\u{FE0A}\u{FE00}`", Place::Code));
    }

    /// Issue 16, point 13: two names that look alike.
    #[test]
    fn a_selector_behind_a_name_is_suspect() {
        assert!(suspect("    return allowed(user\u{FE00})", Place::Code));
        assert!(!suspect("say(\"\u{26A0}\u{FE0F} 1\u{FE0F}\u{20E3}\")", Place::Code));
        assert!(!suspect("user\u{FE00}", Place::Text));
    }

    /// Issue 18: a translation with a phone number is no attack; the same character in code is.
    #[test]
    fn overrides_are_used_in_right_to_left_prose() {
        assert!(!suspect("\"hint\": \"برای مثال: \u{202D}628123456789\"", Place::Text));
        assert!(suspect("\"hint\": \"plain \u{202D}text\"", Place::Text));
        assert!(suspect("x = \"برای \u{202D}628\"", Place::Code));
    }

    #[test]
    fn isolates_belong_to_hebrew_text_but_not_to_code() {
        assert!(!suspect("msgstr \"\u{2068}שלום\u{2069}\"", Place::Text));
        assert!(suspect("if access != \"user\u{2066}\" {", Place::Code));
    }
}
