use super::*;
use crate::publish::markdown::{code, fenced, inert};
use crate::publish::marker::{self, Mark, MarkerKey};
use crate::publish::visible::is_hidden;
use base64::Engine as _;
use proptest::prelude::*;

const AWS: &str = "AKIAQ3WZ7T5RY2KXQ3WZ";
const OURS: &str = "tok-5f3e9a7c2b1d4e6f8091";

fn known() -> KnownSecrets {
    KnownSecrets::new([OURS])
}

/// The same secret as somebody would write it to get it past a filter.
fn dress(n: usize) -> String {
    match n % 7 {
        0 => OURS.to_owned(),
        1 => OURS.chars().rev().collect(),
        2 => OURS.bytes().map(|byte| format!("{byte:02x}")).collect(),
        3 => base64::engine::general_purpose::STANDARD.encode(OURS),
        4 => base64::engine::general_purpose::URL_SAFE.encode(format!("ab{OURS}")),
        5 => OURS.chars().map(|c| format!("{c}\u{200b}")).collect(),
        _ => OURS.bytes().map(|byte| format!("%{byte:02x}")).collect(),
    }
}

fn is_clean(text: &str) -> bool {
    let seen = text.replace('\u{2060}', "");
    !known().is_in(text)
        && !text.contains(AWS)
        && !forged::has_mark(text)
        && !seen.chars().any(|c| is_hidden(c) && !matches!(c, '\n' | '\t'))
}

/// Issue 16, C13: nothing but the filter makes one, and a mark of ours is no part of the text.
#[test]
fn our_mark_stays_and_a_forged_one_does_not() {
    let key = MarkerKey::from_secret("key");
    let mark = Mark::Markers { head: "1234".into() };
    let sealed = marker::seal(&mark, "case", &key);
    let body = Outgoing::sealed(&format!("quoted: {sealed}\nAKIAQ3WZ7T5RY2KXQ3WZ"), sealed.clone());
    assert_eq!(marker::read(&body, "case", &key).map(|read| read.mark), Some(mark));
    assert_eq!(body.matches("<!-- tribunal:1 ").count(), 1);
    assert!(!body.contains(AWS));
    // What was posted and read back is somebody's text: its mark is not ours any more.
    let again: Outgoing = serde_json::from_str(&serde_json::to_string(&body).unwrap()).unwrap();
    assert_eq!(again.matches("<!-- tribunal:1 ").count(), 0);
}

#[test]
fn json_keeps_its_order_and_its_other_values() {
    let json = format!("{{\"z\": \"a \\\"{AWS}\\\" \\u202e\", \"a\": [1, \"b\\\\\", true]}}");
    let masked = masked_json_text(&json);
    let (was, is): (Value, Value) = (serde_json::from_str(&json).unwrap(), serde_json::from_str(&masked).unwrap());
    assert_eq!(is["a"], was["a"]);
    assert!(!masked.contains(AWS) && masked.starts_with("{\"z\": ") && masked.contains("\\\""), "{masked}");
}

#[test]
fn a_learned_secret_is_in_nothing() {
    known::learn_secret("Zq81-outgoing-test-value-77x");
    let text = Outgoing::text("it is Zq81-outgoing-test-value-77x, or x77-eulav-tset-gniogtuo-18qZ");
    assert!(!text.contains("Zq81-outgoing") && !text.contains("x77-eulav"), "{text}");
}

proptest! {
    /// Whatever stands around it, in whatever dress: no known secret, no key, no mark, no hidden character gets out.
    #[test]
    fn nothing_of_it_gets_out(
        before in "[ -~\n]{0,40}", n in 0usize..7, mark in prop::sample::select(vec!["<!-- tribunal:1 a.b -->", "<!--tribunal:memory x", "<!--\tpr-review:sticky -->", ""]),
        hidden in "[\u{202e}\u{200b}\u{9b}\u{1b}\u{e0041}\u{7f}]{0,3}", after in "[ -~\n]{0,40}",
    ) {
        let text = format!("{before} {} {mark}{hidden} {AWS} {after}", dress(n));
        let out = filtered_with(&text, &known());
        prop_assert!(is_clean(&out), "{:?} -> {:?}", text, out);
        prop_assert_eq!(filtered_with(&out, &known()), out.clone());
        for quoted in [inert(&text), code(&text), fenced("text", &text)] {
            let out = filtered_with(&quoted, &known());
            prop_assert!(is_clean(&out), "{:?} -> {:?}", quoted, out);
        }
    }

    /// Our own Markdown, code and prose pass as they are.
    #[test]
    fn harmless_text_is_not_changed(text in "([A-Za-z]{1,10}|[0-9]{1,6}|`[a-z<>(){} ]{1,12}`|\\*\\*|[.,;:!?()\\[\\]#|>-]|<details>|</sub>| |\n){0,40}") {
        prop_assert_eq!(filtered_with(&text, &known()), text);
    }
}
