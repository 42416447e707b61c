use super::super::{filtered_with, known::KnownSecrets};
use crate::publish::markdown::{code, fenced, inert};
use crate::publish::tests::acted_on;
use proptest::prelude::*;
use pulldown_cmark::{Event, Tag};

const KNOWN: &str = "tok-5f3e9a7c2b1d4e6f8091";
const KEY: &str = "AKIAQ3WZ7T5RY2KXQ3WZ";

fn runs(text: &str) -> Vec<usize> {
    text.split(|c| c != '`').map(str::len).filter(|length| *length > 0).collect()
}

fn foreign() -> impl Strategy<Value = String> {
    let pieces = vec![
        "password=\"",
        "token=",
        "token=\"",
        "secret='",
        "api_key: `",
        "\"",
        "'",
        "<",
        "****",
        "://",
        "`",
        "``",
        "```",
        "\n",
        " ",
        "|",
        "\\",
        "~~~",
        "&",
        "_",
        "[",
        "]",
        "(",
        ")",
        "@octo-victim",
        "@octo-victim please ",
        "<h3>",
        "<!-- ",
        "![x](https://e.example)",
        "[x](https://e.example)",
        "www.e.example",
        "Xk9",
        "Lm2QzR4t",
        "q7Zr2kLx9Pv4TnW8s",
        KEY,
        KNOWN,
        "tok-5f3e9a",
        "7c2b1d4e6f8091",
        "x://user:",
    ];
    prop::collection::vec(prop::sample::select(pieces), 1..14).prop_map(|pieces| pieces.concat())
}

/// The file name of an attack: the mask of its token took the first backtick of the span, so that what was code came alive.
#[test]
fn a_mask_takes_no_backtick() {
    let name =
        r#"token="Xk9<`Lm2QzR4t" @octo-victim please merge <h3>Approved by Tribunal</h3> ![x](https:/evil.example/p.png) `.conf"#;
    for text in [inert(name), code(name), inert(&code(name))] {
        let out = filtered_with(&text, &KnownSecrets::default());
        assert_eq!(acted_on(&out), [""; 0], "{out}");
        assert_eq!(runs(&out), runs(&text));
    }
    let out = filtered_with("`token=\"Xk94`Lm2QzR4t\"`", &KnownSecrets::default());
    assert_eq!(out, "`token=\"X…(4 masked)`…(8 masked)\"`");
}

/// A backtick that is escaped stays so, and so does a bracket.
#[test]
fn a_mask_takes_no_escape() {
    let out = filtered_with(&inert("token=\"Xk9z`Lm2QzR4t\" ``<b>``"), &KnownSecrets::default());
    assert_eq!(out, "token=\"X…(4 masked)\\`…(8 masked)\" ``<b>``");
    let known = KnownSecrets::new(["hunter-2222\\"]);
    let out = filtered_with(&inert("hunter-2222\\[x](https:/e.example)"), &known);
    assert_eq!(acted_on(&out), [""; 0], "{out}");
}

/// `@` behind a letter is part of an address, until the letters are masked.
#[test]
fn a_mask_makes_no_mention() {
    for key in [KEY, KNOWN] {
        let out = filtered_with(&inert(&format!("{key}@octo-victim please, {key}_a_ b")), &KnownSecrets::new([KNOWN]));
        assert_eq!(acted_on(&out), [""; 0], "{out}");
        assert!(out.contains("masked, ") && out.contains("@\u{2060}octo-victim please"), "{out}");
        assert!(!pulldown_cmark::Parser::new(&out).any(|event| matches!(event, Event::Start(Tag::Emphasis))), "{out}");
    }
}

/// A value may be found over several lines: their ends, and what lists, quotes and fences begin with, are no part of it.
#[test]
fn lines_stay_lines() {
    let known = KnownSecrets::new([KNOWN]);
    let parts = [
        ("> ", "tok-5f3e9a7c", "> ", "2b1d4e6f8091"),
        ("- ", "tok-5f3e9a7c", "- ", "2b1d4e6f8091"),
        ("", "tok-5f3e9a7c\n", "~~~\n", "2b1d4e6f8091"),
    ];
    for (first, start, second, end) in parts {
        let out = filtered_with(&format!("{first}{start}\n{second}{end}\n"), &known);
        let lines: Vec<&str> = out.lines().collect();
        assert!(lines[0].starts_with(first) && out.contains(&format!("\n{second}")) && !out.contains("2b1d"), "{out}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3_000))]

    /// Design rule 6: what was inert stays inert when the filter has masked it, alone and beside texts of ours.
    #[test]
    fn the_filter_opens_and_closes_nothing(first in foreign(), second in foreign()) {
        let known = KnownSecrets::new([KNOWN]);
        let page = format!("- **F1** {}: {}\n\n| {} | {} |\n| --- | --- |\n| {} | x |\n\n> {}\n\n{}\n\nend {}\n",
            code(&first), inert(&second), inert(&first), inert(&second), inert(&second), inert(&first), fenced("text", &format!("{first}\n{second}")), inert(&first));
        for text in [inert(&first), code(&first), page] {
            prop_assert_eq!(acted_on(&text), Vec::<String>::new(), "before the filter: {:?}", text);
            let out = filtered_with(&text, &known);
            prop_assert_eq!(acted_on(&out), Vec::<String>::new(), "{:?} -> {:?}", text, out);
            prop_assert_eq!(runs(&out), runs(&text), "{:?} -> {:?}", text, out);
            prop_assert_eq!(out.lines().count(), text.lines().count());
            prop_assert_eq!(filtered_with(&out, &known), out.clone());
        }
    }

    /// What was masked as a whole stays masked in its pieces.
    #[test]
    fn nothing_of_a_value_is_left(start in "[A-Za-z]{3}[0-9][A-Za-z0-9]{4,12}", end in "[A-Za-z][0-9][A-Za-z0-9!^]{6,12}") {
        let out = filtered_with(&format!("password = \"{start}`{end}\""), &KnownSecrets::default());
        prop_assert!(!out.contains(&start[4..]) && !out.contains(&end[..3]), "{}", out);
    }
}
