use super::*;
use crate::combine::dismissal::Dismissed;
use crate::combine::opinion::Refuted;
use crate::combine::prior::PriorVerification;
use crate::findings::scale::Priority;
use proptest::prelude::*;

fn finding(id: u32, agents: &[(&str, Option<&str>)]) -> Finding {
    let voice = |(agent, rule): &(&str, Option<&str>)| Voice {
        role: "sdet".into(),
        agent: (*agent).into(),
        rule: rule.map(str::to_owned),
        sample: 0,
    };
    Finding {
        id: FindingId(id),
        key: format!("key{id}").as_str().into(),
        agreement: agents.iter().map(voice).collect(),
        ..crate::combine::tests::sample_finding()
    }
}

fn document(findings: Vec<Finding>) -> Document {
    let prior_verifications = Vec::new();
    Document { findings, prior_verifications, ..crate::publish::tests::first() }
}

fn closed(id: u32, verification: Verification, by: VerifiedBy) -> PriorVerification {
    PriorVerification {
        prior_id: FindingId(id),
        verification,
        note: "n".into(),
        p_code: "P1".into(),
        slug: "s".into(),
        file: "a.py".into(),
        line: 1,
        spec_gap: false,
        by,
    }
}

fn refuted(agent: &str) -> Refuted {
    let gone = finding(99, &[(agent, None)]);
    Refuted {
        id: gone.id,
        key: gone.key,
        p_code: Priority::P2,
        category: gone.category_code,
        file: gone.file,
        line: 1,
        failure_mode: gone.failure_mode,
        agreement: gone.agreement,
        by: "judge".into(),
        reason: "no".into(),
    }
}

fn word(id: u32, accepted: bool) -> Dismissal {
    let dismissed = Dismissed { by: "ada".into(), reason: "known".into(), accepted };
    Dismissal { id: FindingId(id), dismissed, finding: None }
}

/// Issue 18, section 3: reported, accepted, dismissed, refuted.
#[test]
fn each_finding_is_counted_once_by_its_end() {
    let first = document(vec![
        finding(1, &[("opus", None)]),
        finding(2, &[("opus", None), ("ruff", Some("E501"))]),
        finding(3, &[("ruff", Some("E501"))]),
        finding(4, &[("opus", None)]),
        finding(5, &[("ruff", Some("F401"))]),
    ]);
    let mut second = document(vec![finding(2, &[("opus", None)]), finding(4, &[("opus", None)])]);
    second.prior_verifications = vec![
        closed(1, Verification::Yes, VerifiedBy::Reviewer),
        closed(2, Verification::No, VerifiedBy::Reviewer),
        closed(3, Verification::Yes, VerifiedBy::Settings),
        closed(5, Verification::Yes, VerifiedBy::Comparison),
    ];
    second.refuted = vec![refuted("opus")];
    let change = ReviewedChange { documents: vec![first, second], dismissals: vec![word(4, true), word(2, false)] };
    let of = records(std::slice::from_ref(&change), RecordBy::Agent);
    let opus = Record { reported: 4, fixed: 1, dismissed: 1, refuted: 1, open: 1, withdrawn: 0, agreed: 1 };
    assert_eq!(of["opus"], opus);
    assert_eq!(of["opus"].accepted(), Some(1.0 / 3.0));
    assert_eq!(of["ruff"], Record { reported: 3, open: 1, withdrawn: 2, agreed: 1, ..Record::default() });
    assert_eq!(of["ruff"].accepted(), None);
    let by_rule = records(&[change], RecordBy::Rule);
    assert_eq!(by_rule.keys().collect::<Vec<_>>(), ["opus", "ruff/E501", "ruff/F401"]);
    assert_eq!(by_rule["ruff/E501"].reported, 2);
}

proptest! {
    /// Whatever happens, every reported finding has exactly one end.
    #[test]
    fn the_ends_add_up(
        rounds in prop::collection::vec(prop::collection::vec((1u32..8, 0usize..3), 0..5), 1..4),
        ends in prop::collection::vec((1u32..8, 0usize..3), 0..6),
        words in prop::collection::vec((1u32..8, any::<bool>()), 0..4),
    ) {
        let agents = ["opus", "gpt", "ruff"];
        let base = document(Vec::new());
        let mut documents: Vec<Document> = rounds
            .iter()
            .map(|round| Document { findings: round.iter().map(|(id, agent)| finding(*id, &[(agents[*agent], None)])).collect(), ..base.clone() })
            .collect();
        let by = [VerifiedBy::Reviewer, VerifiedBy::Comparison, VerifiedBy::Settings];
        let last = documents.last_mut().unwrap();
        last.prior_verifications = ends.iter().map(|(id, how)| closed(*id, Verification::Yes, by[*how])).collect();
        let change = ReviewedChange { documents, dismissals: words.iter().map(|(id, accepted)| word(*id, *accepted)).collect() };
        for record in records(&[change], RecordBy::Agent).values() {
            prop_assert_eq!(record.reported, record.fixed + record.dismissed + record.refuted + record.open + record.withdrawn);
        }
    }
}
