//! Text from a change is data (design rule 6): before it stands in Markdown of ours it is made harmless.

use super::code_span::{CodeSpans, backtick_run};
use super::visible::{visible, visible_line};

/// Ends what a forge would take for a name, a number or an address, and is not seen.
pub(super) const JOINER: &str = "\u{2060}";

/// Makes a line of foreign text safe in running Markdown: no HTML, no mention, no link to an issue, no link, no image, no code
/// fence, no slash command at the start.
///
/// Code between backticks keeps its characters only where every reader of Markdown sees code: a run of backticks is closed by the
/// next run of the same length, and by nothing else. All other backticks are escaped.
pub fn inert(text: &str) -> String {
    let text = shown_line(&text.replace(['\n', '\r'], " "));
    let mut out = String::with_capacity(text.len() + 8);
    let spans = CodeSpans::of(&text);
    let mut rest = text.as_str();
    let mut previous = ' ';
    while let Some(c) = rest.chars().next() {
        let span = spans.at(text.len() - rest.len()).filter(|span| !breaks_a_cell(span));
        let length = match (c, span) {
            ('`', Some(span)) => {
                out.push_str(span);
                span.len()
            }
            ('`', None) => {
                let run = backtick_run(rest);
                out.push_str(&"\\`".repeat(run));
                run
            }
            _ => {
                push_inert(&mut out, c, previous, rest[c.len_utf8()..].chars().next());
                c.len_utf8()
            }
        };
        previous = c;
        rest = &rest[length..];
    }
    let blank = out.len() - out.trim_start().len();
    if out[blank..].starts_with('/') {
        out.insert_str(blank, JOINER);
    }
    without_addresses(&out)
}

/// A `|` would end the cell of a table in the middle of a span, and so open what it closes; such a span is none.
fn breaks_a_cell(span: &str) -> bool {
    span.contains('|')
}

/// Everything visible but the joiner, which may be there from an earlier time.
fn shown_line(text: &str) -> String {
    text.split(JOINER).map(visible_line).collect::<Vec<_>>().join(JOINER)
}

/// What a forge makes a link of without being asked.
fn without_addresses(text: &str) -> String {
    let text = text.replace("://", &format!(":{JOINER}//"));
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for (at, _) in text.to_ascii_lowercase().match_indices("www.") {
        out.push_str(&text[done..at + 3]);
        out.push_str(JOINER);
        done = at + 3;
    }
    out + &text[done..]
}

/// One character outside of code.
fn push_inert(out: &mut String, c: char, previous: char, next: Option<char>) {
    match c {
        // A backslash would take away the meaning of ours, or of the backtick behind it.
        '\\' => out.push_str("\\\\"),
        // `&#64;` is an `@` to everyone who looks for mentions.
        '&' => out.push_str("&amp;"),
        '<' => out.push_str("&lt;"),
        '>' => out.push_str("&gt;"),
        '[' | ']' | '*' | '|' | '~' => out.extend(['\\', c]),
        // Inside a word it is part of a name, not emphasis.
        '_' if !previous.is_alphanumeric() => out.extend(['\\', c]),
        // Only a letter or digit of ASCII makes it part of an address: forges see a mention behind `é`.
        '@' | '#' if !previous.is_ascii_alphanumeric() => {
            out.push(c);
            out.push_str(JOINER);
        }
        // `owner/project#12`, GitLab's `!12`, GitHub's `GH-12`.
        '#' | '!' if next.is_some_and(|next| next.is_ascii_digit()) => {
            out.push(c);
            out.push_str(JOINER);
        }
        '-' if (out.ends_with("GH") || out.ends_with("gh")) && next.is_some_and(|next| next.is_ascii_digit()) => {
            out.push(c);
            out.push_str(JOINER);
        }
        _ => out.push(c),
    }
}

fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

/// A fenced block whose fence is longer than any run of backticks inside.
pub fn fenced(language: &str, text: &str) -> String {
    let text: Vec<String> = text.split(JOINER).map(visible).collect();
    let text = text.join(JOINER);
    let fence = "`".repeat(3.max(longest_run(&text) + 1));
    format!("{fence}{language}\n{text}\n{fence}")
}

/// Code type for a path or a name, whatever it holds.
pub fn code(text: &str) -> String {
    let text = shown_line(&text.replace(['\n', '\r'], " "));
    let fence = "`".repeat(longest_run(&text) + 1);
    // The blanks are no part of the code; without them a backtick at an end would lengthen the fence.
    if text.contains('`') { format!("{fence} {text} {fence}") } else { format!("`{text}`") }
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
        for text in ["/merge now", " /merge now", "\n/merge now", "\u{a0}/merge now"] {
            assert!(!inert(text).trim_start().starts_with('/'), "{text:?}");
        }
        // Ruby's `\W`, which forges look for mentions with, is one of ASCII.
        assert_eq!(inert("caf\u{e9}@octocat \u{4e2d}@x a@b.c"), "caf\u{e9}@\u{2060}octocat \u{4e2d}@\u{2060}x a@b.c");
    }

    #[test]
    fn code_in_backticks_keeps_its_characters() {
        assert_eq!(inert("use `a < b` here"), "use `a < b` here");
    }

    /// Design rules 6 and 9: runs of backticks of another length close nothing, so neither tags, markers nor mentions get out.
    #[test]
    fn code_spans_are_matched_as_markdown_matches_them() {
        let text = inert("`` a ` b `` <img src=x> <!-- pr-review:finding-id=F9 --> @octocat `");
        assert!(!outside_code(&text).contains('<') && !text.contains("@octocat"), "{text}");
        assert!(text.starts_with("`` a ` b `` "), "{text}");
        assert_eq!(inert(r"\`<b>`"), r"\\`<b>`");
        assert_eq!(inert("a ` | <b> ` c"), r"a \` \| &lt;b&gt; \` c");
        assert_eq!(inert("&#64;octocat"), "&amp;#\u{2060}64;octocat");
    }

    /// What CommonMark 0.31 (6.1) takes for text outside of code spans, written from its words and not from the code above:
    /// backslash escapes first, then a backtick string is closed by the next one of equal length, or stands for itself.
    fn outside_code(markdown: &str) -> String {
        let characters: Vec<char> = markdown.chars().collect();
        let run_at = |at: usize| characters[at..].iter().take_while(|c| **c == '`').count();
        let (mut outside, mut at) = (String::new(), 0);
        while at < characters.len() {
            match characters[at] {
                '\\' if characters.get(at + 1).is_some_and(char::is_ascii_punctuation) => at += 2,
                '`' => {
                    let open = run_at(at);
                    let mut end = at + open;
                    let closed = loop {
                        match characters[end..].iter().position(|c| *c == '`') {
                            None => break None,
                            Some(next) if run_at(end + next) == open => break Some(end + next + open),
                            Some(next) => end += next + run_at(end + next),
                        }
                    };
                    at = closed.unwrap_or(at + open);
                }
                c => {
                    outside.push(c);
                    at += 1;
                }
            }
        }
        outside
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
            prop_assert!(!outside_code(&out).contains('<'), "{}", out);
        }

        #[test]
        fn no_run_of_backticks_opens_a_door(text in "[`<>\\\\|@&# a]{0,40}") {
            let out = inert(&text);
            prop_assert!(!outside_code(&out).contains(['<', '>']), "{} -> {}", text, out);
        }

        #[test]
        fn a_name_in_code_type_stays_in_it(text in "[`<a ]{1,20}") {
            let out = code(&text);
            prop_assert!(!outside_code(&out).contains(['<', 'a']), "{}", out);
        }
    }
}
