//! What an agent wrote, made harmless before it is kept: prose without links, images, HTML, mentions, references, commands or fences.
//! Code in backticks stays as it is; there it is only text.

/// Plain prose. Line breaks stay.
pub fn plain(text: &str) -> String {
    let text = text.replace("```", "'''").replace("~~~", "'''");
    let lines: Vec<String> = text.split('\n').map(plain_line).collect();
    // Quoting may have put backticks beside others.
    lines.join("\n").replace("```", "'''")
}

fn plain_line(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let parts: Vec<&str> = line.split('`').collect();
    // An odd number of backticks leaves the last one open: what follows it is prose.
    let closed = if parts.len() % 2 == 1 { parts.len() } else { parts.len() - 1 };
    for (n, part) in parts.iter().enumerate() {
        let is_code = n % 2 == 1 && n < closed;
        if is_code {
            out.push_str(&format!("`{part}`"));
        } else {
            out.push_str(&without_links(part));
        }
    }
    quoted_command(out)
}

fn without_links(prose: &str) -> String {
    let mut out = String::with_capacity(prose.len());
    let mut rest = prose;
    while let Some(c) = rest.chars().next() {
        let before = out.chars().last().unwrap_or(' ');
        if let Some((shown, after)) = markdown_link(rest) {
            out.push_str(&shown);
            rest = after;
        } else if let Some(after) = bare_link(rest).filter(|_| !before.is_ascii_alphanumeric()) {
            out.push_str("[link removed]");
            rest = after;
        } else if c == '<' && rest[1..].starts_with(|next: char| next.is_ascii_alphabetic() || "/!?".contains(next)) {
            out.push('‹');
            rest = &rest[1..];
        } else if let Some(word) = reference(rest).filter(|_| !before.is_ascii_alphanumeric() && before != '`') {
            out.push_str(&format!("`{word}`"));
            rest = &rest[word.len()..];
        } else {
            out.push(c);
            rest = &rest[c.len_utf8()..];
        }
    }
    out
}

/// `[text](target)` keeps its text; `![text](target)` keeps nothing that loads.
fn markdown_link(rest: &str) -> Option<(String, &str)> {
    let (is_image, inner) = match rest.strip_prefix("![") {
        Some(inner) => (true, inner),
        None => (false, rest.strip_prefix('[')?),
    };
    let (text, after) = inner.split_once("](")?;
    if text.contains(['[', ']', '\n']) {
        return None;
    }
    let (_, after) = after.split_once(')')?;
    Some((if is_image { "[image removed]".to_owned() } else { without_links(text) }, after))
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
    let word = trimmed.split_whitespace().next().unwrap_or_default();
    if word.len() > 1 && word.starts_with('/') && word[1..].starts_with(|c: char| c.is_ascii_alphabetic()) {
        let indent = &line[..line.len() - trimmed.len()];
        return format!("{indent}`{word}`{}", &trimmed[word.len()..]);
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

    proptest! {
        /// Nothing that renders as a link or an image survives outside of code, whatever was written.
        #[test]
        fn no_link_survives(text in "[ a-c`\\[\\]()!@#<>/:.h-t]{0,60}") {
            let out = plain(&text);
            let prose: String = out.split('`').step_by(2).collect();
            prop_assert!(!prose.contains("](http"), "{}", out);
            prop_assert!(!out.contains("```"), "{}", out);
        }
    }
}
