//! Text from a change is data (design rule 6): before it stands in Markdown of ours it is made harmless.

/// Makes a line of foreign text safe in running Markdown: no HTML, no mention, no link to an issue, no link, no image, no code
/// fence, no slash command at the start.
pub fn inert(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    let mut in_code = false;
    let mut previous = ' ';
    for c in text.chars() {
        match c {
            '`' => {
                in_code = !in_code;
                out.push(c);
            }
            '<' if !in_code => out.push_str("&lt;"),
            '>' if !in_code => out.push_str("&gt;"),
            '[' | ']' | '!' | '*' | '_' | '|' | '~'
                if !in_code && (c != '!' && c != '_' && c != '*' || is_markup(c, previous)) =>
            {
                out.push('\\');
                out.push(c);
            }
            '@' | '#' if !in_code && !previous.is_alphanumeric() => {
                out.push(c);
                // A zero-width joiner ends what a forge would take for a name or a number.
                out.push('\u{2060}');
            }
            '\n' | '\r' => out.push(' '),
            _ => out.push(c),
        }
        previous = c;
    }
    if in_code {
        out.push('`');
    }
    if out.starts_with('/') {
        out.insert(0, '\u{2060}');
    }
    out.replace("://", ":\u{2060}//")
}

/// `*` and `_` inside words are names, not emphasis; `!` matters only before `[`, which is escaped by itself.
fn is_markup(c: char, previous: char) -> bool {
    match c {
        '*' => true,
        '_' => !previous.is_alphanumeric(),
        _ => false,
    }
}

/// A fenced block whose fence is longer than any run of backticks inside.
pub fn fenced(language: &str, text: &str) -> String {
    let mut longest = 0;
    let mut run = 0;
    for c in text.chars() {
        run = if c == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    let fence = "`".repeat(3.max(longest + 1));
    format!("{fence}{language}\n{text}\n{fence}")
}

/// Code type for a path or a name, whatever it holds.
pub fn code(text: &str) -> String {
    let text = text.replace(['\n', '\r'], " ");
    if text.contains('`') { format!("`` {text} ``") } else { format!("`{text}`") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Design rule 6: foreign text cannot ping, link, embed or command.
    #[test]
    fn foreign_text_is_inert() {
        let text = inert("@alice see #12 <img src=x> ![a](http://x) [b](c)");
        assert!(!text.contains("@alice") && !text.contains("#12") && !text.contains('<') && !text.contains("http://"));
        assert!(text.contains("\\["));
        assert!(!inert("/merge now").starts_with('/'));
    }

    #[test]
    fn code_in_backticks_keeps_its_characters() {
        assert_eq!(inert("use `a < b` here"), "use `a < b` here");
    }

    proptest! {
        #[test]
        fn a_fence_is_never_closed_from_inside(text in "[`a\\n]{0,40}") {
            let block = fenced("diff", &text);
            let fence: String = block.chars().take_while(|c| *c == '`').collect();
            prop_assert!(!text.contains(&fence));
        }

        #[test]
        fn inert_text_never_has_a_tag_or_a_line_break(text in "\\PC{0,60}") {
            let out = inert(&text);
            prop_assert!(!out.contains('\n'));
            prop_assert!(out.matches('`').count().is_multiple_of(2));
        }
    }
}
