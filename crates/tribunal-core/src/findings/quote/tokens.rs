//! Words and borders of code in any language: where a quote may begin and end, and how much of one is enough.

/// Does a token go on across this place? A quote that begins or ends here was cut out of an identifier, a number or an operator.
pub fn splits_token(text: &str, at: usize) -> bool {
    let (left, right) = text.split_at(at);
    let (Some(before), Some(after)) = (left.chars().next_back(), right.chars().next()) else { return false };
    if is_word(before) && is_word(after) || OPERATORS.contains(&(before, after)) {
        return true;
    }
    let is_digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
    match (before, after) {
        ('.', '0'..='9') => is_digit(left[..left.len() - 1].chars().next_back()),
        ('0'..='9', '.') => is_digit(right[1..].chars().next()),
        _ => false,
    }
}

/// A character that its neighbour of the same kind continues.
pub fn is_word(c: char) -> bool {
    (c.is_alphanumeric() && !is_own_word(c)) || matches!(c, '_' | '$' | '\u{300}'..='\u{36f}')
}

/// Scripts that put no blanks between words: each character may begin or end a quote.
fn is_own_word(c: char) -> bool {
    matches!(c, '\u{e00}'..='\u{eff}' | '\u{1780}'..='\u{17ff}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// Operators of two characters. Brackets that only stand side by side, such as `>>`, are not among them.
const OPERATORS: [(char, char); 20] = [
    ('=', '='),
    ('!', '='),
    ('<', '='),
    ('>', '='),
    ('=', '>'),
    ('-', '>'),
    ('&', '&'),
    ('|', '|'),
    (':', ':'),
    (':', '='),
    ('+', '='),
    ('-', '='),
    ('*', '='),
    ('/', '='),
    ('+', '+'),
    ('-', '-'),
    ('*', '*'),
    ('?', '?'),
    ('?', '.'),
    ('/', '/'),
];

/// What a quote is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Substance {
    /// Words and other characters that are not white space.
    pub tokens: usize,
    /// Names and literals: words that are no keyword of any language.
    pub names: usize,
    /// Some name is long enough to mean something by itself.
    pub has_long_name: bool,
}

impl Substance {
    pub fn of(text: &str) -> Self {
        let mut substance = Self { tokens: 0, names: 0, has_long_name: false };
        for word in text.split(|c: char| !is_word(c) && !is_own_word(c)).filter(|word| !word.is_empty()) {
            substance.tokens += 1;
            if is_keyword(word) {
                continue;
            }
            substance.names += 1;
            let least = if word.chars().any(is_own_word) { 2 } else { LONG_NAME };
            substance.has_long_name |= word.chars().count() >= least;
        }
        substance.tokens += text.chars().filter(|c| !is_word(*c) && !is_own_word(*c) && !c.is_whitespace()).count();
        substance
    }

    /// Enough for a part of a line: it names something, and is more than one word that may stand anywhere.
    pub fn is_enough_for_part(self) -> bool {
        self.tokens >= 2 && (self.has_long_name || self.names >= 2)
    }
}

/// A shorter name (`id`, `x`, `10`) tells nothing alone.
const LONG_NAME: usize = 3;

fn is_keyword(word: &str) -> bool {
    word.len() <= 12 && KEYWORDS.contains(&word.to_ascii_lowercase().as_str())
}

/// Keywords, plain types and constants of the languages that people use most.
const KEYWORDS: [&str; 115] = [
    "abstract",
    "and",
    "any",
    "as",
    "assert",
    "async",
    "await",
    "begin",
    "bool",
    "boolean",
    "break",
    "byte",
    "case",
    "catch",
    "chan",
    "char",
    "class",
    "const",
    "constructor",
    "continue",
    "def",
    "default",
    "defer",
    "del",
    "delete",
    "do",
    "done",
    "double",
    "elif",
    "else",
    "elsif",
    "elseif",
    "end",
    "ensure",
    "enum",
    "esac",
    "except",
    "export",
    "extends",
    "extern",
    "false",
    "fi",
    "final",
    "finally",
    "float",
    "fn",
    "for",
    "foreach",
    "from",
    "func",
    "function",
    "global",
    "go",
    "goto",
    "if",
    "impl",
    "implements",
    "import",
    "in",
    "inline",
    "int",
    "interface",
    "internal",
    "is",
    "lambda",
    "let",
    "long",
    "match",
    "mod",
    "module",
    "mut",
    "namespace",
    "new",
    "nil",
    "none",
    "not",
    "null",
    "object",
    "of",
    "or",
    "override",
    "package",
    "pass",
    "private",
    "protected",
    "pub",
    "public",
    "raise",
    "rescue",
    "return",
    "select",
    "self",
    "short",
    "static",
    "string",
    "struct",
    "super",
    "switch",
    "then",
    "this",
    "throw",
    "throws",
    "true",
    "try",
    "type",
    "undefined",
    "unsafe",
    "use",
    "using",
    "var",
    "void",
    "when",
    "where",
    "while",
    "with",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quote_may_begin_and_end_only_between_tokens() {
        let splits = |text: &str| {
            let at = text.find('^').unwrap();
            splits_token(&text.replace('^', ""), at)
        };
        for inside in ["ret^urn", "user^_id", "$^name", "x =^= y", "a &^& b", "1^.5", "1.^5", "tim\u{e9}^out", "std:^:fmt"] {
            assert!(splits(inside), "{inside}");
        }
        for between in ["return^ x", "a^.b", "f^(x)", "Vec<Vec<u8>^>", "用^户", "x^ = 1", "^x", "x^", "\"^key", "list.^0"] {
            assert!(!splits(between), "{between}");
        }
    }

    #[test]
    fn a_part_of_a_line_must_name_something() {
        for enough in ["eval(x)", "verify=False", "a[i]", "os.system", "n - 1", "密码 = 1"] {
            assert!(Substance::of(enough).is_enough_for_part(), "{enough}");
        }
        for little in ["return", "return None", "} else {", "x", "});", "password", "if (", "true,", ""] {
            assert!(!Substance::of(little).is_enough_for_part(), "{little}");
        }
    }
}
