//! What a reader sees of a text on a forge: hidden parts are cut out, and the first thing it says is found.

/// The text without HTML comments and without link definitions that only serve as comments. What stands in code is shown by every
/// forge, so it stays. Whoever looks for hidden orders reads the raw text instead.
pub fn shown_words(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut fence: Option<&str> = None;
    let mut in_comment = false;
    for line in text.split_inclusive('\n') {
        let start = line.trim_start();
        if !in_comment {
            match fence {
                Some(open) => {
                    if start.starts_with(open) {
                        fence = None;
                    }
                    kept.push_str(line);
                    continue;
                }
                None => fence = ["```", "~~~"].into_iter().find(|mark| start.starts_with(mark)),
            }
            if fence.is_some() {
                kept.push_str(line);
                continue;
            }
            if is_hidden_definition(start) {
                continue;
            }
        }
        in_comment = push_shown(&mut kept, line, in_comment);
    }
    kept.trim().to_owned()
}

/// Pushes what is shown of a line outside of fences, and says whether a comment is still open at its end.
fn push_shown(kept: &mut String, line: &str, mut in_comment: bool) -> bool {
    let mut rest = line;
    while !rest.is_empty() {
        if in_comment {
            match rest.split_once("-->") {
                Some((_, behind)) => (in_comment, rest) = (false, behind),
                None => return true,
            }
            continue;
        }
        let Some(at) = rest.find("<!--") else {
            kept.push_str(rest);
            return false;
        };
        // Between backticks it is code, and a reader sees it.
        let in_code = rest[..at].matches('`').count() % 2 == 1 && rest[at..].contains('`');
        kept.push_str(&rest[..at]);
        rest = &rest[at + "<!--".len()..];
        if in_code {
            kept.push_str("<!--");
        } else {
            in_comment = true;
        }
    }
    in_comment
}

/// What stands inside comments, which nobody reads on a forge.
pub fn hidden_words(text: &str) -> Vec<&str> {
    let inside = |behind| str::split_once(behind, "-->").map_or(behind, |(inside, _)| inside);
    let comments = text.split("<!--").skip(1).map(inside);
    comments.chain(text.lines().map(str::trim_start).filter(|line| is_hidden_definition(line))).collect()
}

/// A link that nothing can point to is written to hide a note.
fn is_hidden_definition(line: &str) -> bool {
    line.starts_with("[//]:") || line.starts_with("[comment]:")
}

/// The first thing it says, without badges, tags and decoration: a title and what follows it, up to 240 characters.
pub fn gist(text: &str) -> String {
    let mut said = String::new();
    for line in shown_words(text).lines() {
        let line = bare(line);
        let words = line.split_whitespace().filter(|word| word.chars().filter(|c| c.is_alphanumeric()).count() > 1).count();
        // `Potential issue | Major` weighs, it does not say anything; a single name such as a slug does.
        let weighs = line.contains(" | ") || (words < 3 && !line.contains('-') && !said.is_empty());
        if words == 0 || weighs {
            continue;
        }
        said.push_str(line.trim());
        said.push(' ');
        if said.chars().count() >= 60 {
            break;
        }
    }
    said.trim().chars().take(240).collect()
}

/// A line without images, tags and emphasis.
fn bare(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line.trim().trim_start_matches(['#', '>', '-', ' ']);
    while let Some(c) = rest.chars().next() {
        let skipped = match c {
            '<' => rest.find('>').map(|end| end + 1),
            '!' if rest.starts_with("![") => rest.find("](").and_then(|at| rest[at..].find(')').map(|end| at + end + 1)),
            '*' => Some(1),
            _ => None,
        };
        match skipped {
            Some(length) => rest = &rest[length..],
            None => {
                out.push(c);
                rest = &rest[c.len_utf8()..];
            }
        }
    }
    out.trim().trim_matches('_').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// CF-11: what a person cannot see on the forge is no part of what they are taken to have said.
    #[test]
    fn hidden_parts_are_cut_out_and_code_stays() {
        let text = "a <!-- x\n```\ny --> b\n[//]: # (secret)\n`<!-- shown -->` c\n```html\n<!-- code -->\n```\n<!-- open";
        assert_eq!(shown_words(text), "a  b\n`<!-- shown -->` c\n```html\n<!-- code -->\n```");
        assert_eq!(hidden_words("a <!-- x --> b <!-- y"), [" x ", " y"]);
    }

    #[test]
    fn a_gist_leaves_badges_out() {
        let codex =
            "**<sub><sub>![P2 Badge](https://img.shields.io/badge/P2-yellow?style=flat)</sub></sub>  Keep the order**\n\nWhen x.";
        assert_eq!(gist(codex), "Keep the order");
        let rabbit = "_⚠️ Potential issue_ | _🟠 Major_\n\n**Close the file before the early return.**\n\n<details>x</details>";
        assert_eq!(gist(rabbit), "Close the file before the early return.");
        assert_eq!(gist("**![P1](https://img.shields.io/badge/P1-orange) sql-injection**"), "sql-injection");
    }

    proptest! {
        #[test]
        fn any_text_has_a_gist(text in "[-<>!`*~a \\n\\[\\]()|é]{0,60}") {
            let _ = gist(&text);
            prop_assert!(shown_words(&text).len() <= text.len());
        }
    }
}
