//! How much a match of a rule weighs, by where it stands.
//!
//! A rule knows a pattern and not its use. The pattern reaches users only from production code; in tests, samples, documentation and
//! translations the rule asks a question, unless it is about tests or names a severity for such places. What a model or a linter says
//! is not changed here: it has read the file.

use super::scale::Severity;
use crate::diff::purpose::FilePurpose;

/// What a rule says of its own weight.
#[derive(Debug, Clone, Copy)]
pub struct RuleWeight {
    /// In production code.
    pub severity: Severity,
    /// Outside of it, if the rule names one.
    pub elsewhere: Option<Severity>,
    pub is_about_tests: bool,
}

pub fn rule_severity(weight: RuleWeight, purpose: FilePurpose) -> Severity {
    match purpose {
        FilePurpose::Production => weight.severity,
        FilePurpose::Test if weight.is_about_tests => weight.severity,
        FilePurpose::Test | FilePurpose::Sample | FilePurpose::Documentation | FilePurpose::Translation => {
            weight.elsewhere.unwrap_or(Severity::Question)
        }
    }
}

/// A longer line of code was written by a tool.
pub const MAX_WRITTEN_LINE: usize = 500;

/// The same for a match on a line of a file that is a minified bundle in the base: its source is elsewhere, and nobody repairs the bundle.
/// A file that only the change makes look like one keeps its weight: otherwise a long line would hide a defect.
pub fn severity_on_line(severity: Severity, line: &str, was_bundle: bool) -> Severity {
    if was_bundle && line.len() > MAX_WRITTEN_LINE { Severity::Question } else { severity }
}

/// Most of its text is on lines that nobody writes by hand.
pub fn is_bundle(text: &str) -> bool {
    let long: usize = text.lines().map(str::len).filter(|length| *length > MAX_WRITTEN_LINE).sum();
    long * 2 > text.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use FilePurpose::*;

    const BLOCKER: RuleWeight = RuleWeight { severity: Severity::Blocker, elsewhere: None, is_about_tests: false };

    #[test]
    fn a_rule_asks_outside_production_code() {
        assert_eq!(rule_severity(BLOCKER, Production), Severity::Blocker);
        for purpose in [Test, Sample, Documentation, Translation] {
            assert_eq!(rule_severity(BLOCKER, purpose), Severity::Question);
            let live_key = RuleWeight { elsewhere: Some(Severity::Suggestion), ..BLOCKER };
            assert_eq!(rule_severity(live_key, purpose), Severity::Suggestion);
        }
    }

    #[test]
    fn a_rule_asks_in_a_bundle() {
        let (short, long) = ("a();".repeat(20), "a();".repeat(200));
        assert!(
            is_bundle(&format!("// licence\n{long}\n")) && !is_bundle(&format!("{long}\n{}", format!("{short}\n").repeat(20)))
        );
        assert_eq!(severity_on_line(Severity::Blocker, &short, true), Severity::Blocker);
        assert_eq!(severity_on_line(Severity::Blocker, &long, true), Severity::Question);
        assert_eq!(severity_on_line(Severity::Blocker, &long, false), Severity::Blocker);
    }

    #[test]
    fn a_rule_about_tests_keeps_its_weight_there() {
        let about_tests = RuleWeight { severity: Severity::Factual, is_about_tests: true, ..BLOCKER };
        assert_eq!(rule_severity(about_tests, Test), Severity::Factual);
        assert_eq!(rule_severity(about_tests, Documentation), Severity::Question);
    }
}
