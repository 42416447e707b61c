use super::*;
use crate::combine::finding::{SeverityAdjustment, Voice, order};
use proptest::prelude::*;

fn voice(agent: &str, sample: u32) -> Voice {
    Voice { role: "staff-engineer".into(), agent: agent.into(), rule: None, sample }
}

fn speakers() -> Speakers {
    let of = |vendor, weight| Speaker { vendor, weight };
    let model = |maker: &str| Vendor::Model(maker.to_owned());
    Speakers::from([
        ("rules".into(), of(Vendor::Rules, 1.0)),
        ("ruff".into(), of(Vendor::Linter("ruff".into()), 1.0)),
        ("opus".into(), of(model("anthropic"), 1.0)),
        ("haiku".into(), of(model("anthropic"), 1.0)),
        ("gpt".into(), of(model("openai"), 1.0)),
        ("half".into(), of(model("small"), 0.5)),
        ("mute".into(), of(model("tiny"), 0.0)),
    ])
}

/// A question that is not sure and speaks of nothing in its quote, unless a test changes it.
fn finding(p_code: Priority, confidence: Confidence, agents: &[(&str, u32)]) -> Finding {
    Finding {
        p_code,
        confidence,
        agreement: agents.iter().map(|(agent, sample)| voice(agent, *sample)).collect(),
        failure_mode: "somebody may be surprised".into(),
        mitigation: String::new(),
        evidence: "total = price * count".into(),
        ..crate::combine::tests::sample_finding()
    }
}

fn weighed(mut finding: Finding) -> Finding {
    weigh(std::slice::from_mut(&mut finding), &speakers());
    finding
}

fn worth(agents: &[(&str, u32)]) -> f64 {
    voices(&finding(Priority::P2, Confidence::High, agents), &speakers())
}

/// Issue 18, section 3: different vendors count more than two samples of one.
#[test]
fn vendors_count_more_than_samples() {
    assert_eq!(worth(&[("opus", 0)]), 1.0);
    assert_eq!(worth(&[("opus", 0), ("opus", 1)]), 1.25);
    assert_eq!(worth(&[("opus", 0), ("haiku", 0)]), 1.5);
    assert_eq!(worth(&[("opus", 0), ("gpt", 0)]), 2.0);
    assert_eq!(worth(&[("rules", 0), ("ruff", 0), ("gpt", 0)]), 3.0);
    // Asked again, a program says the same.
    assert_eq!(worth(&[("ruff", 0), ("ruff", 1)]), 1.0);
    assert_eq!(worth(&[("half", 0), ("gpt", 0)]), 1.5);
    assert_eq!(worth(&[("mute", 0)]), 0.0);
    assert_eq!(worth(&[("stranger", 0), ("gpt", 0)]), 2.0, "who is not configured any more speaks for itself");
}

/// Agreement moves the confidence that is shown, never the priority, and says where it was.
#[test]
fn two_vendors_raise_the_confidence_and_nothing_else() {
    let alone = weighed(finding(Priority::P1, Confidence::Medium, &[("opus", 0), ("haiku", 0)]));
    assert_eq!((alone.confidence, alone.support.confidence_from), (Confidence::Medium, None));
    let both = weighed(finding(Priority::P1, Confidence::Medium, &[("opus", 0), ("gpt", 0)]));
    assert_eq!((both.confidence, both.p_code), (Confidence::High, Priority::P1));
    assert_eq!(both.support.confidence_words(both.confidence), "high, raised from medium by 2 voices");
    // PR-106: a shared guess is a question still, and raising is not repeated in the next review.
    let guess = weighed(weighed(finding(Priority::Q, Confidence::Low, &[("opus", 0), ("gpt", 0)])));
    assert_eq!((guess.confidence, guess.p_code, guess.support.folded), (Confidence::Medium, Priority::Q, false));
}

/// What is folded is what one voice says without being sure. P0 and P1 never are.
#[test]
fn one_weak_voice_is_folded() {
    let is_folded = |p_code, confidence, agents| weighed(finding(p_code, confidence, agents)).support.folded;
    assert!(is_folded(Priority::Q, Confidence::Low, &[("opus", 0)]));
    assert!(is_folded(Priority::Q, Confidence::Low, &[("opus", 0), ("opus", 1)]), "one model guesses twice");
    assert!(is_folded(Priority::P3, Confidence::Medium, &[("opus", 0)]));
    assert!(!is_folded(Priority::P3, Confidence::High, &[("opus", 0)]));
    assert!(!is_folded(Priority::Q, Confidence::Low, &[("opus", 0), ("haiku", 0)]));
    assert!(!is_folded(Priority::Q, Confidence::Low, &[("ruff", 0)]), "a linter does not guess");
    assert!(!is_folded(Priority::P2, Confidence::Low, &[("opus", 0)]), "PR-90: it belongs on its line");
    assert!(is_folded(Priority::P2, Confidence::High, &[("mute", 0)]), "the owner said so");
    assert!(!is_folded(Priority::P1, Confidence::Low, &[("mute", 0)]));
    let about =
        Finding { failure_mode: "`price` may be negative".into(), ..finding(Priority::Q, Confidence::Medium, &[("opus", 0)]) };
    assert!(!weighed(about).support.folded, "it speaks of what it quotes");
    let from = "🚨 P0".to_owned();
    let moved = SeverityAdjustment { from, to: "❓ Q".into(), reason: "low confidence makes it a question".into() };
    let blocker = Finding { severity_adjustment: Some(moved), ..finding(Priority::Q, Confidence::Low, &[("opus", 0)]) };
    assert!(!weighed(blocker).support.folded, "a guessed blocker stays in sight");
}

/// PR-76, PR-85: more voices come first within a priority, never before a more urgent one.
#[test]
fn agreement_ranks_within_a_priority() {
    let at = |line_start, p_code, agents| weighed(Finding { line_start, ..finding(p_code, Confidence::High, agents) });
    let mut all = [
        at(1, Priority::P2, &[("opus", 0)]),
        at(9, Priority::P2, &[("opus", 0), ("gpt", 0)]),
        at(20, Priority::P1, &[("opus", 0)]),
    ];
    all.sort_by(order);
    assert_eq!(all.iter().map(|finding| finding.line_start).collect::<Vec<_>>(), [20, 9, 1]);
    all.sort_by(crate::combine::finding::listing_order);
    assert_eq!(all.iter().map(|finding| finding.line_start).collect::<Vec<_>>(), [20, 1, 9]);
}

fn any_voices() -> impl Strategy<Value = Vec<Voice>> {
    let agent = prop::sample::select(vec!["rules", "ruff", "opus", "haiku", "gpt", "half", "mute", "stranger"]);
    let role = prop::sample::select(vec!["sdet", "staff-engineer"]);
    let one = (agent, role, 0u32..4).prop_map(|(agent, role, sample)| Voice { role: role.into(), ..voice(agent, sample) });
    prop::collection::vec(one, 1..8)
}

fn any_finding() -> impl Strategy<Value = Finding> {
    let priority = prop::sample::select(Priority::ALL.to_vec());
    let confidence = prop::sample::select(vec![Confidence::Low, Confidence::Medium, Confidence::High]);
    (priority, confidence, any_voices())
        .prop_map(|(p_code, confidence, agreement)| Finding { agreement, ..finding(p_code, confidence, &[]) })
}

proptest! {
    /// One vendor alone never counts as two, however often it is asked.
    #[test]
    fn one_vendor_is_never_two_voices(samples in prop::collection::btree_set((prop::sample::select(vec!["opus", "haiku"]), 0u32..5), 1..10)) {
        let agents: Vec<(&str, u32)> = samples.into_iter().collect();
        prop_assert!(worth(&agents) < AGREED);
    }

    /// Another voice never takes anything away, whoever it is, and the order of the voices changes nothing.
    #[test]
    fn another_voice_never_weakens(one in any_finding(), more in any_voices()) {
        let mut both = one.clone();
        both.agreement.extend(more);
        let mut turned = both.clone();
        turned.agreement.reverse();
        let (one, both, turned) = (weighed(one), weighed(both), weighed(turned));
        prop_assert!(both.support.voices >= one.support.voices);
        prop_assert!(both.confidence >= one.confidence);
        prop_assert!(one.support.folded || !both.support.folded);
        prop_assert_eq!(&both.support, &turned.support);
    }

    /// No priority moves, no P0 or P1 is folded, and weighing twice is weighing once.
    #[test]
    fn weighing_keeps_priorities(finding in any_finding()) {
        let once = weighed(finding.clone());
        prop_assert_eq!(once.p_code, finding.p_code);
        prop_assert!(!once.support.folded || once.p_code > Priority::P1);
        prop_assert!(once.confidence >= finding.confidence);
        prop_assert_eq!(weighed(once.clone()), once);
    }
}
