//! Is this the finding that was dismissed? A dismissal holds for an issue, not for a line: it stays when the code moves and when a
//! reviewer says the same in other words. Words are compared as when the reports of several reviewers are merged ([`super::dedup`]).
//! Whoever says something heavier is heard again.

use super::dedup::{self, NEAR_LINES};
use super::finding::Finding;
use super::similarity::Similarity;
use super::terms::Terms;
use crate::findings::key::normalise_code;

/// Words alone have to be this alike: see `cargo xtask bench voices`.
const WORDS_ALONE: f64 = 0.2;
/// Words about a whole function, without a line near the other.
const SAME_FUNCTION: f64 = 0.3;
/// A shared line says where a claim is only if it is more than brackets and a keyword.
const MIN_LINE: usize = 8;

pub fn is_same_issue(said: &Finding, dismissed: &Finding) -> bool {
    likeness(said, dismissed).is_some()
}

/// How alike the words are, if it is the same issue.
pub fn likeness(said: &Finding, dismissed: &Finding) -> Option<f64> {
    let is_about = said.side == dismissed.side && said.category_code.family() == dismissed.category_code.family();
    let is_heavier = said.p_code < dismissed.p_code;
    if !is_about || is_heavier || said.key.is_brought() || dismissed.key.is_brought() {
        return None;
    }
    match (&said.rule, &dismissed.rule) {
        // A rule says the same of the same code; of other code it is another match.
        (Some(ours), Some(theirs)) => (ours == theirs && is_same_code(said, dismissed)).then_some(1.0),
        (None, None) => reworded(said, dismissed),
        (Some(_), None) | (None, Some(_)) => None,
    }
}

/// The same code in whichever file or lines in common in one file, in like words; or near lines or the same function, in words that are
/// alike by themselves.
fn reworded(said: &Finding, dismissed: &Finding) -> Option<f64> {
    let in_one_file = said.file == dismissed.file;
    let least = if is_same_code(said, dismissed) || in_one_file && shares_a_line(said, dismissed) {
        dedup::ALIKE.pair
    } else if in_one_file && said.line_start.abs_diff(dismissed.line_start) <= NEAR_LINES {
        WORDS_ALONE
    } else if in_one_file && !said.symbol.is_empty() && said.symbol == dismissed.symbol {
        SAME_FUNCTION
    } else {
        return None;
    };
    let ours = words(said, &said.failure_mode);
    let theirs = std::iter::once(&dismissed.failure_mode).chain(&dismissed.also);
    let alike = theirs.map(|text| Similarity::of(&ours, &words(dismissed, text))).fold(0.0, f64::max);
    (alike >= least).then_some(alike)
}

fn is_same_code(said: &Finding, dismissed: &Finding) -> bool {
    normalise_code(&said.evidence) == normalise_code(&dismissed.evidence)
}

fn words(finding: &Finding, claim: &str) -> Terms {
    dedup::terms_of(claim, &finding.slug, dedup::without_race_tag(&finding.mitigation, finding.race.as_ref()), &finding.evidence)
}

fn shares_a_line(one: &Finding, other: &Finding) -> bool {
    let lines = |finding: &Finding| -> Vec<String> {
        finding.evidence.lines().map(normalise_code).filter(|line| line.len() >= MIN_LINE).collect()
    };
    let theirs = lines(other);
    lines(one).iter().any(|line| theirs.contains(line))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::scale::Priority;
    use proptest::prelude::*;

    const LOCK: &str = "the connection lock is not released when the handshake fails";
    const AGAIN: &str = "if the handshake fails, nobody releases the connection lock";
    const OTHER: &str = "names are sorted as bytes, so umlauts come last";

    fn finding(line_start: u32, evidence: &str, failure_mode: &str) -> Finding {
        Finding {
            line_start,
            line_end: line_start,
            evidence: evidence.into(),
            failure_mode: failure_mode.into(),
            mitigation: String::new(),
            slug: "lock".into(),
            symbol: "connect".into(),
            ..crate::combine::tests::sample_finding()
        }
    }

    /// Issue 18, section 3: a dismissed finding stays dismissed when its code moves or is reworded.
    #[test]
    fn moved_and_reworded_is_the_same() {
        let dismissed = finding(10, "    lock.acquire()", LOCK);
        assert!(is_same_issue(&finding(90, "lock.acquire()", AGAIN), &dismissed), "other lines, other words");
        let elsewhere = Finding { file: "src/new.py".into(), ..finding(3, "lock.acquire()", AGAIN) };
        assert!(is_same_issue(&elsewhere, &dismissed), "another file");
        assert!(is_same_issue(&finding(12, "handshake(peer)", AGAIN), &dismissed), "the line beside it");
        let quoted_more = finding(9, "def connect():\n    lock.acquire()", AGAIN);
        assert!(is_same_issue(&quoted_more, &dismissed));
        assert!(is_same_issue(&finding(60, "handshake(peer)", AGAIN), &dismissed), "the same function, in words that are alike");
        let category_code = "E1".into();
        assert!(is_same_issue(&Finding { category_code, ..finding(10, "lock.acquire()", AGAIN) }, &dismissed));
    }

    #[test]
    fn another_defect_is_heard() {
        let dismissed = finding(10, "    lock.acquire()", LOCK);
        assert!(!is_same_issue(&finding(10, "lock.acquire()", OTHER), &dismissed), "another claim about the same line");
        assert!(!is_same_issue(&finding(60, "sort(names)", OTHER), &dismissed));
        let elsewhere = Finding { file: "src/new.py".into(), ..finding(10, "other.acquire()", AGAIN) };
        assert!(!is_same_issue(&elsewhere, &dismissed), "other code in another file");
        let worse = Finding { p_code: Priority::P0, ..finding(10, "lock.acquire()", AGAIN) };
        assert!(!is_same_issue(&worse, &dismissed), "heavier");
        let of_security = Finding { category_code: "S4".into(), ..finding(10, "lock.acquire()", AGAIN) };
        assert!(!is_same_issue(&of_security, &dismissed));
    }

    #[test]
    fn a_rule_is_known_by_its_code() {
        let of = |rule: &str, line, code: &str| Finding { rule: Some(rule.into()), ..finding(line, code, "a rule matched") };
        let dismissed = of("no-print", 4, "print(a)");
        assert!(is_same_issue(&of("no-print", 80, "  print( a )"), &dismissed));
        assert!(!is_same_issue(&of("no-print", 5, "print(b)"), &dismissed), "the next match of the rule is another one");
        assert!(!is_same_issue(&of("no-eval", 4, "print(a)"), &dismissed));
        assert!(!is_same_issue(&finding(4, "print(a)", "a rule matched"), &dismissed));
    }

    proptest! {
        /// Where the code stands says nothing: lines and files alone never bring a dismissed finding back, and never silence a heavier one.
        #[test]
        fn moving_changes_nothing(line in 1u32..5000, file in "[a-z]{1,8}\\.py", rule in proptest::option::of("[a-z]{3,8}"), heavier: bool) {
            let dismissed = Finding { rule: rule.clone(), ..finding(10, "lock.acquire(timeout)", LOCK) };
            let p_code = if heavier { Priority::P0 } else { dismissed.p_code };
            let moved = Finding { line_start: line, line_end: line, file: file.as_str().into(), p_code, ..dismissed.clone() };
            prop_assert_eq!(is_same_issue(&moved, &dismissed), !heavier);
        }
    }
}
