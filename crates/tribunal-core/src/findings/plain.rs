//! What an agent wrote, made harmless before it is kept: prose without links, images, HTML, mentions, references, commands or fences.
//! Code in backticks stays as it is; there it is only text.

use crate::publish::code_span::{CodeSpans, backtick_run};

/// Plain prose. Line breaks stay.
pub fn plain(text: &str) -> String {
    let text = text.replace("```", "'''").replace("~~~", "'''").replace("\r\n", "\n");
    text.split(['\n', '\r']).map(plain_line).collect::<Vec<_>>().join("\n")
}

/// Each line closes the code that it opens, and no backtick is escaped, so that every reader of Markdown sees the same code in it.
fn plain_line(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let (spans, mut rest) = (CodeSpans::of(line), line);
    while let Some(at) = rest.find('`') {
        push_prose(&mut out, rest[..at].trim_end_matches('\\'));
        rest = &rest[at..];
        let length = match spans.at(line.len() - rest.len()) {
            Some(span) => {
                push_code(&mut out, span);
                span.len()
            }
            None => {
                let run = backtick_run(rest);
                out.push_str(&"'".repeat(run));
                run
            }
        };
        rest = &rest[length..];
    }
    push_prose(&mut out, rest);
    quoted_command(without_block_marks(out))
}

/// A backtick beside the span would lengthen its run, and a backslash would take its meaning.
fn push_code(out: &mut String, span: &str) {
    if out.ends_with(['`', '\\']) {
        out.push(' ');
    }
    out.push_str(span);
}

/// Behind what is in `out` already.
fn push_prose(out: &mut String, prose: &str) {
    let mut rest = prose;
    // Behind the last one no target of a link ends; looking for one from each bracket would take the square of the text's length.
    let last_end = prose.rfind(')').unwrap_or(0);
    while let Some(c) = rest.chars().next() {
        let before = out.chars().last().unwrap_or(' ');
        let may_be_link = prose.len() - rest.len() < last_end;
        if let Some((shown, after)) = Some(rest).filter(|_| may_be_link).and_then(markdown_link) {
            push_prose(out, shown);
            rest = after;
        } else if let Some(after) = Some(rest).filter(|_| !before.is_ascii_alphanumeric()).and_then(bare_link) {
            out.push_str("[link removed]");
            rest = after;
        } else if c == '<' && rest[1..].starts_with(|next: char| next.is_ascii_alphabetic() || "/!?".contains(next)) {
            out.push('‹');
            rest = &rest[1..];
        } else if let Some(word) = reference(rest).filter(|_| !before.is_ascii_alphanumeric()) {
            push_code(out, &format!("`{word}`"));
            rest = &rest[word.len()..];
        } else {
            // The rest of a link inside of a link.
            if c == '(' && before == ']' {
                out.push(' ');
            }
            out.push(c);
            // `&#64;` and `&commat;` are an `@` to everyone who looks for mentions.
            if c == '&' && is_entity(rest) {
                out.push(' ');
            }
            rest = &rest[c.len_utf8()..];
        }
    }
}

/// `&name;` or `&#number;`
fn is_entity(rest: &str) -> bool {
    let name = rest[1..].strip_prefix('#').unwrap_or(&rest[1..]);
    name.trim_start_matches(|c: char| c.is_ascii_alphanumeric()).starts_with(';')
}

/// `[name]: target` at the start of a line makes a link of every `[name]`. The row under a table's head makes cells of lines, and a
/// `|` in code ends a cell.
fn without_block_marks(line: String) -> String {
    let is_mark = |c: char| c.is_whitespace() || c.is_ascii_digit() || ">-*+.)".contains(c);
    let is_table = line.contains('-') && line.contains(['|', ':']) && line.chars().all(|c| is_mark(c) || "|:".contains(c));
    match line.trim_start_matches(is_mark).starts_with('[') {
        true => line.replace("]:", "] :"),
        false if is_table => line.replace('-', "–"),
        false => line,
    }
}

/// `[text](target)` keeps its text; `![text](target)` keeps nothing that loads.
fn markdown_link(rest: &str) -> Option<(&str, &str)> {
    let (is_image, inner) = match rest.strip_prefix("![") {
        Some(inner) => (true, inner),
        None => (false, rest.strip_prefix('[')?),
    };
    let (text, after) = inner.split_at(inner.find(['[', ']', '\n'])?);
    let after = after.strip_prefix("](")?;
    let (_, after) = after.split_once(')')?;
    Some((if is_image { "[image removed]" } else { text }, after))
}

fn bare_link(rest: &str) -> Option<&str> {
    let lower: String = rest.chars().take(12).collect::<String>().to_ascii_lowercase();
    let begins = ["http://", "https://", "ftp://", "www.", "mailto:", "javascript:", "data:text", "file://"];
    begins.iter().any(|begin| lower.starts_with(begin)).then(|| {
        let end = rest.find(|c: char| c.is_whitespace() || "<>\"'`)]}".contains(c)).unwrap_or(rest.len());
        &rest[end..]
    })
}

/// `@name`, `#12`, `!12`, `GH-12`, `owner/repo#12` begins at its `#`: what a forge would turn into a link or a message to a person.
fn reference(rest: &str) -> Option<&str> {
    let mut chars = rest.chars();
    let sign = chars.next()?;
    let fits = |c: &char| match sign {
        '@' => c.is_alphanumeric() || "-_/.".contains(*c),
        _ => c.is_ascii_digit(),
    };
    let length: usize = chars.take_while(fits).map(char::len_utf8).sum();
    (matches!(sign, '@' | '#' | '!') && length > 0).then(|| &rest[..sign.len_utf8() + length])
}

/// A line that begins like a command to a bot is quoted.
fn quoted_command(line: String) -> String {
    let trimmed = line.trim_start();
    let word = trimmed.split(|c: char| c.is_whitespace() || c == '`').next().unwrap_or_default();
    if word.len() > 1 && word.starts_with('/') && word[1..].starts_with(|c: char| c.is_ascii_alphabetic()) {
        let (indent, after) = (&line[..line.len() - trimmed.len()], &trimmed[word.len()..]);
        let gap = if after.starts_with('`') { " " } else { "" };
        return format!("{indent}`{word}`{gap}{after}");
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Issue 4, build 8.
    #[test]
    fn what_a_forge_would_act_on_is_taken_away() {
        for (said, kept) in [
            ("See [the docs](https://evil.example/x?y=1) now", "See the docs now"),
            ("![x](https://evil.example/p.png) done", "[image removed] done"),
            ("go to https://evil.example/a?b=c, then stop", "go to [link removed] then stop"),
            ("<img src=x onerror=y> and <!-- hidden -->", "‹img src=x onerror=y> and ‹!-- hidden -->"),
            ("cc @security/team and #12, !34", "cc `@security/team` and `#12`, `!34`"),
            ("caf\u{e9}@octocat, \u{4e2d}https://evil.example", "caf\u{e9}`@octocat`, \u{4e2d}[link removed]"),
            ("/tribunal dismiss F1", "`/tribunal` dismiss F1"),
            ("```suggestion\nrm\n```", "'''suggestion\nrm\n'''"),
            ("`Vec<String>` at `http://x` keeps", "`Vec<String>` at `http://x` keeps"),
            ("mail a@b.c, C# and a != b stay", "mail a@b.c, C# and a != b stay"),
        ] {
            assert_eq!(plain(said), kept);
        }
    }

    /// Runs of backticks are matched as Markdown matches them, on each line for itself.
    #[test]
    fn prose_is_what_markdown_takes_for_prose() {
        for (said, kept) in [
            (
                "`` a ` b `` @octo-victim please [approve](https://evil.example/x) <img src=//evil.example/p.png> `c",
                "`` a ` b `` `@octo-victim` please approve ‹img src=//evil.example/p.png> 'c",
            ),
            ("a ` b\nc ` [x](//evil.example) ` d", "a ' b\nc ` [x](//evil.example) ` d"),
            (r"\`a` @b `", "`a` `@b` '"),
            (r"\@octocat `a`@b@c @d``e``", r"\ `@octocat` `a` `@b` `@c` `@d` ``e``"),
            ("a `b\r\nc\r/merge", "a 'b\nc\n`/merge`"),
            ("/a`@octo` b", "`/a` `@octo` b"),
            ("[a [b](x)](//evil.example)", "[a b] (//evil.example)"),
            ("> [x]: //evil.example", "> [x] : //evil.example"),
            ("&#x40;octo &commat;octo a && b", "& #x40;octo & commat;octo a && b"),
            ("a|b\n-|-\n`x | @octo`", "a|b\n–|–\n`x | @octo`"),
        ] {
            assert_eq!(plain(said), kept);
        }
    }

    fn piece() -> impl Strategy<Value = &'static str> {
        prop::sample::select(vec![
            "`",
            "``",
            "```",
            "\\",
            "\n",
            " ",
            "|",
            "-|-",
            ":-",
            "@octo",
            "#12",
            "/merge",
            "[",
            "]",
            "(",
            ")",
            "![",
            "](//evil.example)",
            "]: //e",
            "[x](//e)",
            "<img src=//e>",
            "<b",
            ">",
            "&#64;octo",
            "&commat;octo",
            "a",
            "- ",
            "~~~",
            "https://e.example",
        ])
    }

    proptest! {
        /// Nothing that renders as a link, an image, HTML or a mention survives outside of code, whatever was written.
        #[test]
        fn no_link_survives(pieces in prop::collection::vec(piece(), 1..16)) {
            let out = plain(&pieces.concat());
            prop_assert_eq!(crate::publish::tests::acted_on(&out), Vec::<String>::new(), "{}", out);
            prop_assert!(!out.contains("```"), "{}", out);
        }
    }
}
