//! What others wrote, made safe to look at (design rule 6): a branch, a path, an agent or a linter can hold characters that move
//! the cursor, erase a line, turn text around or cannot be seen at all. Everything that is shown passes through here.

/// Foreign text of several lines: line breaks and tabs are its layout, all else that cannot be seen is written out.
pub fn visible(text: &str) -> String {
    written_out(text, |c| matches!(c, '\n' | '\t'))
}

/// A path, a name or a sentence: one line, so a line break in it is a trick and is written out too.
pub fn visible_line(text: &str) -> String {
    written_out(text, |_| false)
}

fn written_out(text: &str, keeps: impl Fn(char) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    for (before, c) in with_previous(text) {
        if is_hidden_behind(before, c) && !keeps(c) {
            out.push_str(&format!("<U+{:04X}>", u32::from(c)));
        } else {
            out.push(c);
        }
    }
    out
}

/// Each character with the one before it.
pub fn with_previous(text: &str) -> impl Iterator<Item = (Option<char>, char)> {
    text.chars().scan(None, |before, c| Some((before.replace(c), c)))
}

/// Is the character hidden where it stands? One that chooses how a sign is drawn is seen behind a sign, and behind a letter by nobody.
pub fn is_hidden_behind(before: Option<char>, c: char) -> bool {
    let is_sign = |before: char| {
        let is_drawn = !before.is_alphanumeric() || matches!(before, '\u{2100}'..='\u{214f}');
        is_drawn && !before.is_ascii() && !is_hidden(before) && !selects_form(before)
    };
    is_hidden(c) || selects_form(c) && !before.is_some_and(is_sign)
}

/// Chooses how the character before it is drawn.
pub fn selects_form(c: char) -> bool {
    matches!(c, '\u{fe00}'..='\u{fe0f}')
}

/// Control characters, and those that are not seen or change the order in which others are.
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// The last look at a page of ours before it reaches a terminal: colours that we use pass, every other control character is
/// written out. Foreign text was made visible before; this holds where somebody forgot.
pub fn on_terminal(page: &str) -> String {
    let mut out = String::with_capacity(page.len());
    let mut rest = page;
    while let Some(at) = rest.find('\u{1b}') {
        out.push_str(&visible(&rest[..at]));
        let sequence = colour(&rest[at..]);
        out.push_str(sequence.unwrap_or("<U+001B>"));
        rest = &rest[at + sequence.map_or(1, str::len)..];
    }
    out.push_str(&visible(rest));
    out
}

/// Ours are far shorter. A search without an end from each escape character takes the square of a text's length.
const MAX_COLOUR_BYTES: usize = 64;

/// The colour or weight that the text begins with. Concealed text and backgrounds are none of ours.
fn colour(text: &str) -> Option<&str> {
    let end = text.bytes().take(MAX_COLOUR_BYTES).position(|byte| byte == b'm')?;
    let numbers = text[..end].strip_prefix("\u{1b}[").filter(|numbers| !numbers.contains('+'))?;
    let numbers: Vec<u8> = numbers.split(';').map(|number| number.parse().ok()).collect::<Option<_>>()?;
    // Of 256 colours, one is named by three numbers.
    let is_ours =
        matches!(numbers[..], [38, 5, _]) || numbers.iter().all(|number| matches!(number, 0..=4 | 31..=37 | 39 | 91..=97));
    is_ours.then(|| &text[..=end])
}

/// The same JSON, with what cannot be seen as `\uXXXX`: a program reads the same value, and a terminal obeys nothing.
pub fn in_json(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for (before, c) in with_previous(json) {
        if is_hidden_behind(before, c) && c != '\n' {
            let mut units = [0; 2];
            c.encode_utf16(&mut units).iter().for_each(|unit| out.push_str(&format!("\\u{unit:04x}")));
        } else {
            out.push(c);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Design rule 6: a change cannot steer a terminal or hide from a reader.
    #[test]
    fn control_and_invisible_characters_are_written_out() {
        assert_eq!(visible("a\u{1b}[2Jb\u{202e}c\r"), "a<U+001B>[2Jb<U+202E>c<U+000D>");
        assert_eq!(visible("a\n\tb"), "a\n\tb");
        assert_eq!(visible_line("a\nb\u{2028}"), "a<U+000A>b<U+2028>");
        assert_eq!(
            visible("\u{26a0}\u{fe0f} \u{2139}\u{fe0f}"),
            "\u{26a0}\u{fe0f} \u{2139}\u{fe0f}",
            "two signs that are drawn in colour"
        );
        assert_eq!(visible("user\u{fe00} \u{26a0}\u{fe0f}\u{fe0e}"), "user<U+FE00> \u{26a0}\u{fe0f}<U+FE0E>");
    }

    #[test]
    fn what_is_hidden_hides_nothing_behind_it() {
        assert_eq!(visible_line("\u{200b}\u{fe00}"), "<U+200B><U+FE00>");
    }

    #[test]
    fn only_our_own_colours_pass_to_a_terminal() {
        let ours = "\u{1b}[1;31merror\u{1b}[0m \u{1b}[38;5;12m|\u{1b}[0m\n";
        assert_eq!(on_terminal(ours), ours);
        assert_eq!(on_terminal("\u{1b}[8mhidden\u{1b}[1A\u{1b}]0;x\u{7}"), "<U+001B>[8mhidden<U+001B>[1A<U+001B>]0;x<U+0007>");
        for concealed in ["1;8", "38;5;1;8", "0;;8", "31;40", "+1"] {
            assert_eq!(on_terminal(&format!("\u{1b}[{concealed}m")), format!("<U+001B>[{concealed}m"));
        }
    }

    #[test]
    fn json_keeps_its_value() {
        let value = serde_json::json!({ "a": "x\u{202e}\u{7f}\u{e0041}\u{9b}31m\n" });
        let shown = in_json(&serde_json::to_string_pretty(&value).unwrap());
        assert!(shown.chars().all(|c| c == '\n' || !is_hidden(c)), "{shown:?}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).unwrap(), value);
    }

    proptest! {
        #[test]
        fn nothing_hidden_is_left(text in "[\\x00-\\x1f\\x7f-\\x9f\u{1b}\u{202e}\u{200b}\u{fe00}\u{26a0}a\\[;0-9m]{0,40}") {
            prop_assert!(!with_previous(&visible_line(&text)).any(|(before, c)| is_hidden_behind(before, c)));
            let shown = on_terminal(&text);
            prop_assert!(shown.split('\u{1b}').skip(1).all(|tail| colour(&format!("\u{1b}{tail}")).is_some()), "{:?}", shown);
        }
    }
}
