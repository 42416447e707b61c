use crate::combine::finding::Finding;
use crate::combine::identity::IdBook;
use crate::combine::prior::OpenFinding;
use crate::combine::tests::{claim, run, said};
use crate::findings::report::{Claim, Fix, Verification};
use crate::findings::scale::Severity;

fn of_rule(rule: &str, line: u32) -> Claim {
    Claim { rule: Some(rule.into()), ..claim("E5", line) }
}

fn found(claims: Vec<Claim>) -> Vec<Finding> {
    run(&said(claims), &[], Vec::new(), "", IdBook::default()).findings
}

fn repeats(lines: &[u32]) -> Vec<Claim> {
    lines.iter().map(|line| of_rule("a-rule", *line)).collect()
}

/// Lines of a finding, its own first.
fn lines(finding: &Finding) -> Vec<u32> {
    std::iter::once(finding.line_start).chain(finding.repeats.iter().map(|place| place.line_start)).collect()
}

#[test]
fn three_repeats_are_one_finding_and_two_are_two() {
    assert_eq!(found(repeats(&[9, 3])).len(), 2);
    let folded = found(repeats(&[9, 3, 20, 12]));
    assert_eq!(folded.iter().map(lines).collect::<Vec<_>>(), [vec![3, 9, 12, 20]]);
    assert_eq!(folded[0].further_lines().unwrap(), "the same in lines 9, 12, 20");
    assert_eq!(folded[0].repeats[0].evidence, "line 9 end");
}

#[test]
fn only_repeats_of_one_kind_are_folded() {
    let other_rule = of_rule("b-rule", 20);
    assert_eq!(found(vec![of_rule("a-rule", 3), of_rule("a-rule", 9), other_rule]).len(), 3);
    let heavier = Claim { severity: Some(Severity::Blocker), ..of_rule("a-rule", 20) };
    assert_eq!(found(vec![of_rule("a-rule", 3), of_rule("a-rule", 9), heavier]).len(), 3);
    let elsewhere = Claim { file: "examples/a.py".into(), ..of_rule("a-rule", 20) };
    assert_eq!(found(vec![of_rule("a-rule", 3), of_rule("a-rule", 9), elsewhere]).len(), 3);
    assert_eq!(found(vec![claim("E5", 3), claim("E5", 9), claim("E5", 20)]).len(), 3, "no rule said it");
}

/// Each fix is applied to its own lines.
#[test]
fn a_finding_with_a_fix_stands_alone() {
    let fixed = |line| Claim { fix: Some(Fix::of_lines(line, line, "end".into())), ..of_rule("a-rule", line) };
    assert_eq!(found(vec![fixed(3), fixed(9), fixed(20)]).len(), 3);
}

/// The finding keeps its name as long as one of its places is left, and a place that is new is news.
#[test]
fn a_folded_finding_is_open_until_its_last_place_is_gone() {
    let first = run(&said(repeats(&[3, 9, 12])), &[], Vec::new(), "", IdBook::default());
    let open: Vec<OpenFinding> = first.findings.iter().cloned().map(OpenFinding::new).collect();
    let again = |lines: &[u32]| run(&said(repeats(lines)), &open, Vec::new(), "", first.ids.clone());

    let same = again(&[3, 9, 12]);
    assert_eq!(same.findings.iter().map(|finding| (finding.id.0, lines(finding))).collect::<Vec<_>>(), [(1, vec![3, 9, 12])]);

    let first_gone = again(&[9, 12]);
    assert_eq!(first_gone.findings.iter().map(|finding| (finding.id.0, lines(finding))).collect::<Vec<_>>(), [(1, vec![9, 12])]);
    assert_eq!(first_gone.prior_verifications[0].verification, Verification::No);

    let grown = again(&[3, 9, 12, 20]);
    assert_eq!(
        grown.findings.iter().map(|finding| (finding.id.0, lines(finding))).collect::<Vec<_>>(),
        [(1, vec![3, 9, 12]), (2, vec![20])]
    );

    // Nobody said that it is fixed.
    let silent = again(&[]);
    assert_eq!(silent.findings.iter().map(|finding| (finding.id.0, lines(finding))).collect::<Vec<_>>(), [(1, vec![3, 9, 12])]);
}

/// Matches that stood alone before stay alone: their comments are out.
#[test]
fn what_stood_alone_is_not_folded_later() {
    let first = run(&said(repeats(&[3, 9])), &[], Vec::new(), "", IdBook::default());
    let open: Vec<OpenFinding> = first.findings.iter().cloned().map(OpenFinding::new).collect();
    let second = run(&said(repeats(&[3, 9, 12])), &open, Vec::new(), "", first.ids);
    assert_eq!(second.findings.iter().map(lines).collect::<Vec<_>>(), [[3], [9], [12]]);
}

/// A moved file takes all places of a folded finding along.
#[test]
fn places_follow_a_moved_file() {
    let first = run(&said(repeats(&[3, 9, 12])), &[], Vec::new(), "", IdBook::default());
    let (mut ids, mut open) = (first.ids, OpenFinding::new(first.findings[0].clone()));
    open.follow(&"examples/a.py".into(), &mut ids);
    let moved = |line| Claim { file: "examples/a.py".into(), ..of_rule("a-rule", line) };
    let second = run(&said(vec![moved(3), moved(9), moved(12)]), &[open], Vec::new(), "", ids);
    assert_eq!(second.findings.iter().map(|finding| (finding.id.0, lines(finding))).collect::<Vec<_>>(), [(1, vec![3, 9, 12])]);
}
