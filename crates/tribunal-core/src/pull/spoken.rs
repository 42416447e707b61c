//! What a comment's writer says in it, as a forge shows it. Quoted lines, code and hidden text are other people's words, which somebody
//! pasted or was talked into pasting: nothing in them is said to us.

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag};

/// Elements of HTML that quote, strike out or fold what stands in them.
const SET_APART: [&str; 9] = ["blockquote", "details", "del", "s", "strike", "pre", "code", "samp", "kbd"];

/// A line that its writer says. Only [`spoken_lines`] makes one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpokenLine<'a>(&'a str);

impl<'a> SpokenLine<'a> {
    pub fn text(self) -> &'a str {
        self.0
    }
}

/// Lines of paragraphs and headings that stand in nothing else, from their beginning.
pub fn spoken_lines(body: &str) -> Vec<SpokenLine<'_>> {
    let quotes = quotes_of_gitlab(body);
    let mut found = Vec::new();
    let mut open: Vec<bool> = Vec::new();
    let mut set_apart = 0_usize;
    for (event, range) in parser(body).into_offset_iter() {
        match event {
            Event::Start(tag) => open.push(matches!(tag, Tag::Paragraph | Tag::Heading { .. })),
            Event::End(_) => {
                open.pop();
            }
            Event::Html(html) | Event::InlineHtml(html) => {
                set_apart = (set_apart + tags(&html, "<")).saturating_sub(tags(&html, "</"));
            }
            Event::Text(_) if open == [true] && set_apart == 0 => {
                let is_quoted = quotes.partition_point(|mark| *mark < range.start) % 2 == 1;
                if begins_a_line(body, range.start) && !is_quoted {
                    let line = body[range.start..].split(['\n', '\r']).next().unwrap_or_default();
                    found.push(SpokenLine(line.trim_end()));
                }
            }
            Event::Text(_)
            | Event::Code(_)
            | Event::InlineMath(_)
            | Event::DisplayMath(_)
            | Event::FootnoteReference(_)
            | Event::SoftBreak
            | Event::HardBreak
            | Event::Rule
            | Event::TaskListMarker(_) => {}
        }
    }
    found
}

/// A block of code behind a fence that nobody quoted: what stands behind the fence's marks, and its lines.
pub fn spoken_blocks(body: &str) -> Vec<(String, Vec<String>)> {
    let mut found = Vec::new();
    let mut quotes = 0_usize;
    let mut block: Option<(String, String)> = None;
    for event in parser(body) {
        match event {
            Event::Start(Tag::BlockQuote(_)) => quotes += 1,
            Event::End(pulldown_cmark::TagEnd::BlockQuote(_)) => quotes -= 1,
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(info))) if quotes == 0 => {
                block = Some((info.trim().to_owned(), String::new()));
            }
            Event::Text(text) => {
                if let Some((_, inside)) = &mut block {
                    inside.push_str(&text);
                }
            }
            Event::End(pulldown_cmark::TagEnd::CodeBlock) => {
                found.extend(block.take().map(|(info, inside)| (info, inside.lines().map(str::to_owned).collect())));
            }
            _ => {}
        }
    }
    found
}

fn parser(body: &str) -> Parser<'_> {
    let github = Options::ENABLE_TABLES | Options::ENABLE_FOOTNOTES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    Parser::new_ext(body, github)
}

/// Four spaces make code, but for a line of words above; who writes so has pasted it.
fn begins_a_line(body: &str, at: usize) -> bool {
    let spaces = body[..at].bytes().rev().take(4).take_while(|byte| *byte == b' ').count();
    // A carriage return alone ends a line as well, but whoever quotes a text line by line does not see it.
    spaces < 4 && (at == spaces || body.as_bytes()[at - spaces - 1] == b'\n')
}

/// Where lines of `>>>` stand: GitLab quotes what is between two of them.
fn quotes_of_gitlab(body: &str) -> Vec<usize> {
    let lines = body.split_inclusive('\n').scan(0, |end, line| {
        *end += line.len();
        Some((*end - line.len(), line))
    });
    lines.filter(|(_, line)| line.trim() == ">>>").map(|(at, _)| at).collect()
}

/// How many of these elements the mark opens or closes.
fn tags(html: &str, mark: &str) -> usize {
    let html = html.to_ascii_lowercase();
    let names = html.match_indices(mark).map(|(at, _)| &html[at + mark.len()..]);
    names.filter(|rest| SET_APART.contains(&rest.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default())).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn said(body: &str) -> Vec<&str> {
        spoken_lines(body).into_iter().map(SpokenLine::text).collect()
    }

    #[test]
    fn plain_lines_are_said() {
        assert_eq!(said("one\r\n  two  \n\nthree\n---\n"), ["one", "two", "three"]);
        // Quoted by a program that knows lines by `\n` alone.
        assert_eq!(said("> one\r\r\rtwo\rthree"), Vec::<&str>::new());
        assert_eq!(said("one\rtwo\n\rthree"), ["one"]);
        assert_eq!(said("Vec<T> is fine\n/x <!-- y -->"), ["Vec<T> is fine", "/x <!-- y -->"]);
    }

    /// C4: a log that somebody pastes, and what no reader sees, commands nothing.
    #[test]
    fn what_is_pasted_or_hidden_is_not() {
        for body in [
            "```\n~~~\n/x\n```",
            "````\n```\n/x\n````",
            "a\n\n    /x\n",
            "a\n    /x",
            "a\n\t/x",
            "a <!--\n/x\n--> b",
            "<!--\n\n/x\n\n-->",
            "`a\n/x\nb`",
            "~~a\n/x\nb~~",
            "> a\n/x",
            ">>>\n/x\n>>>",
            "- a\n/x",
            "<details>\n\n/x\n\n</details>",
            "<blockquote>\n\n/x\n\n</blockquote>",
            "<pre>\n/x\n</pre>",
            "[a](\n/x)",
            "[a]: b \"\n/x\n\"",
            "\\/x",
            "&#47;x",
        ] {
            assert!(!said(body).iter().any(|line| line.starts_with("/x")), "{body:?}: {:?}", said(body));
        }
    }

    proptest! {
        #[test]
        fn whatever_is_wrapped_says_nothing(text in "[ax/`~> \\-<!\n\t]{0,30}", longer in 0_usize..3) {
            let text = format!("{text}\n/x y\n{text}");
            let lines = |prefix: &str| text.lines().map(|line| format!("{prefix}{line}\n")).collect::<String>();
            let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
            let fence = "`".repeat(longest.max(2) + 1 + longer);
            let wrapped = [
                format!("a\n\n{}", lines("    ")),
                format!("a\n\n{}", lines("> ")),
                format!("{fence}\n{text}\n{fence}\n"),
                format!("<!--\n{}\n-->", text.replace("-->", "")),
            ];
            for body in wrapped {
                prop_assert!(!said(&body).iter().any(|line| line.starts_with("/x")), "{:?}", body);
            }
        }
    }
}
