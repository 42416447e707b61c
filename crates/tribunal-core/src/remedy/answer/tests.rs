use super::*;
use crate::feedback::item::{ItemId, Label, Voice};
use crate::feedback::reviewer::summons;
use crate::feedback::samples::fixable;
use crate::findings::about::About;
use crate::pull::facts::{Account, AccountKind};
use crate::remedy::end::End;
use proptest::prelude::*;

pub fn item(voice: Voice, priority: Option<Priority>) -> Item {
    Item {
        id: ItemId("thread:1".into()),
        surface: Surface::Thread { id: "1".into() },
        author: Account { id: "9".into(), login: "gemini-code-assist".into(), kind: AccountKind::Bot },
        voice,
        body: "This loop is quadratic.\nUse a set.".into(),
        url: "https://forge.example/acme/shop/pull/7#r1".into(),
        path: Some("src/a.py".into()),
        line: Some(4),
        start_line: None,
        priority,
        finding: None,
        about: About::default(),
        last_word: "1".into(),
        label: Label::Actionable,
        resolved: false,
        can_resolve: true,
        one_voice: true,
        answered: None,
    }
}

/// CF-17, WL-81: one line each, in one wording.
#[test]
fn the_words() {
    let sha = Sha::from("0123456789abcdef0123456789abcdef01234567");
    assert_eq!(fixed(&sha, "use a set."), "Fixed in 0123456789abcdef0123456789abcdef01234567. use a set.");
    assert_eq!(fixed(&sha, " "), "Fixed in 0123456789abcdef0123456789abcdef01234567.");
    assert_eq!(declined("the list has\nthree entries"), "Declined: the list has three entries.");
    assert_eq!(deferred("#12", "needs an index").unwrap(), "Deferred to #12. needs an index.");
    assert_eq!(asked("Is the order kept?"), "A person must decide this: Is the order kept?");
    for home in ["", "-x", "a b", "a\nb", "@team", "<b>", "`x`"] {
        assert!(deferred(home, "x").is_err(), "{home}");
    }
}

/// CF-6, CF-7, WL-69, WL-83, RL-41.
#[test]
fn when_a_thread_is_closed() {
    let bot = item(Voice::Known("gemini".into()), Some(Priority::P2));
    let person = item(Voice::Person, None);
    let addressed = |item: &Item, decision| may_resolve(&fixable(item), decision, ResolvePolicy::Addressed, false);
    let always = |item: &Item, decision| may_resolve(&fixable(item), decision, ResolvePolicy::Always, false);
    assert!(addressed(&bot, Decision::Address) && addressed(&bot, Decision::Defer));
    assert!(!may_resolve(&fixable(&bot), Decision::Address, ResolvePolicy::Never, true));
    assert!(!addressed(&bot, Decision::Decline) && always(&bot, Decision::Decline));
    assert!(!always(&item(Voice::Bot, Some(Priority::P1)), Decision::Decline));
    for decision in [Decision::Ask, Decision::Noise, Decision::Replan] {
        assert!(!always(&bot, decision));
    }
    assert!(!always(&person, Decision::Address));
    assert!(may_resolve(&fixable(&person), Decision::Address, ResolvePolicy::Always, true));
    assert!(!may_resolve(&fixable(&person), Decision::Decline, ResolvePolicy::Always, true));
    let others = Item { one_voice: false, ..bot.clone() };
    assert!(!addressed(&others, Decision::Address) && !always(&others, Decision::Address));
    let comment = Item { surface: Surface::Comment { id: "2".into() }, ..bot.clone() };
    assert!(!always(&comment, Decision::Address));
    assert!(!always(&Item { can_resolve: false, ..bot }, Decision::Address));
}

/// CF-7, WL-70.
#[test]
fn a_grave_decline_is_told_to_a_person() {
    let light = item(Voice::Bot, Some(Priority::P3));
    assert!(!decline_escalates(&light, None) && !decline_escalates(&light, Some("E5 complexity")));
    assert!(decline_escalates(&light, Some("S1")) && decline_escalates(&light, Some("API compatibility")));
    assert!(decline_escalates(&item(Voice::Bot, Some(Priority::P0)), None));
    assert!(decline_escalates(&item(Voice::Person, None), None));
    assert!(decline_escalates(&Item { body: "SQL injection".into(), ..light }, None));
}

/// RL-43.
#[test]
fn a_deferred_issue_says_where_it_comes_from() {
    let issue = defer_issue(
        &fixable(&item(Voice::Bot, Some(Priority::P2))),
        7,
        "https://forge.example/acme/shop/pull/7",
        "a larger change",
        "",
    );
    assert_eq!(issue.title, "This loop is quadratic.");
    assert_eq!(issue.labels, ["deferred"]);
    insta::assert_snapshot!(issue.body, @r"
    ## Deferred from PR #7

    **Original thread**: `src/a.py:4`
    **Severity, as its author sees it**: P2

    ### Issue

    > This loop is quadratic.
    > Use a set.

    ### Why Deferred

    a larger change.

    ### Proposed Fix

    Not said.

    ### References

    - PR #7: https://forge.example/acme/shop/pull/7
    - https://forge.example/acme/shop/pull/7#r1
    ");
}

/// RL-47, CF-5: the awaited reviewer is the only one who is called, and only where one is awaited.
#[test]
fn the_summary_of_a_round() {
    let base = item(Voice::Bot, None);
    let ended = [
        Ended::of(&base, End::Fixed { sha: "abc1234".into() }),
        Ended::of(&base, End::Declined { reason: "by design, @alice | see #4".into() }),
        Ended::of(&base, End::Deferred { home: "#12".into() }),
    ];
    let gemini = Account { id: "9".into(), login: "gemini-code-assist[bot]".into(), kind: AccountKind::Bot };
    let gemini = summons(&gemini, &Voice::Known("gemini".into())).unwrap();
    insta::assert_snapshot!(round_summary(&ended, &[gemini]).replace('\u{2060}', ""), @r"
    ## Review Feedback Summary

    @gemini-code-assist

    | Thread | Status | Details |
    | --- | --- | --- |
    | `src/a.py:4` | Fixed | commit abc1234 |
    | `src/a.py:4` | Declined | by design, `@alice` \| see `#4` |
    | `src/a.py:4` | Deferred | #12 |

    Please review the changes again.

    /gemini review
    ");
    let silent = round_summary(&ended, &[]);
    assert!(!silent.contains("again") && !silent.contains("@gemini"));
}

proptest! {
    /// Design rules 6 and 10: whatever an agent says, it stays one line, calls nobody and has an end.
    #[test]
    fn answers_are_harmless(text in "\\PC{0,600}|[@#<>`/a \\n]{0,60}") {
        for body in [fixed(&"abc1234".into(), &text), declined(&text), asked(&text)] {
            prop_assert!(!body.contains('\n') && body.chars().count() < 3000, "{}", body);
            let prose: String = body.split('`').step_by(2).collect();
            prop_assert!(!prose.contains("<!--"), "{}", body);
        }
    }
}
