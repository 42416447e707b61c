//! Comments and attributes by which a linter was told to be silent about a line: someone looked at the problem and decided.
//!
//! A rule lists the codes of other linters that mean the same as it does. A suppression that names one of them silences the rule,
//! and so does one that names no code at all, where the rule reads a language. A suppression of something else does not.

use super::checks::pattern::Pattern;
use super::file::RuleFile;

/// How far above the code a suppression may stand, if only comments and attributes lie between.
const REACH: usize = 4;

/// Suppressions that name their codes behind a mark. The first group is what follows the mark.
static NAMED: [Pattern; 10] = [
    // eslint and its kin
    Pattern::new(r"(?:eslint|oxlint)-disable(?:-next-line|-line)\b(.*)"),
    Pattern::new(r"(?:biome-ignore|deno-lint-ignore|nosemgrep:|noinspection|phpcs:ignore|@phpstan-ignore\S*)(.*)"),
    Pattern::new(r"#\s*pylint:\s*disable(?:-next)?=(.*)"),
    // What a linter's own test data expects of it.
    Pattern::new(r"#\s*\[([a-z][a-z, -]+)\]\s*$"),
    Pattern::new(r"#\s*rubocop:(?:disable|todo)\b(.*)"),
    Pattern::new(r"#\s*shellcheck\s+disable=(.*)"),
    Pattern::new(r"#\s*pragma\s+warning\s+disable\b(.*)"),
    Pattern::new(r"//\s*ReSharper\s+disable\s+once\b(.*)"),
    Pattern::new(r"#!?\[(?:allow|expect)\((.*)"),
    Pattern::new(r"@(?:\w+:)?Suppress(?:Warnings|Lint|FBWarnings)?\((.*)"),
];

/// Suppressions whose codes may be left out. The first group is the list.
static MAYBE_BARE: [Pattern; 4] = [
    Pattern::new(r"(?i)(?:#|--)\s*noqa\b(?:\s*:\s*([A-Z]+[0-9]+(?:[\s,]+[A-Z]+[0-9]+)*))?"),
    Pattern::new(r"(?:#|//)\s*#?nosec\b(?::?\s*([BG][0-9]{3}(?:[\s,]+[BG][0-9]{3})*))?"),
    Pattern::new(r"//\s*nolint\b(?::\s*([\w,-]+))?"),
    Pattern::new(r"(?://|/\*)\s*NOLINT(?:NEXTLINE)?\b(?:\(([^)]*)\))?"),
];

static BARE: [Pattern; 2] =
    [Pattern::new(r"(?:#|//|/\*|--)\s*NOSONAR\b"), Pattern::new(r"eslint-disable(?:-next-line|-line)\s*(?:\*/|--|$)")];

/// Marks that are a code themselves.
static MARKS: [(&str, &str); 2] = [("gitleaks:allow", "gitleaks"), ("pragma: allowlist secret", "detect-secrets")];

/// Whether a suppression on the `own` lines of a finding, or on the comments and attributes right above them, is meant for `rule`.
pub fn is_suppressed(rule: &RuleFile, own: &[&str], above: &[&str]) -> bool {
    if rule.suppressed_by.is_empty() {
        return false;
    }
    let over = above.iter().rev().take(REACH).take_while(|line| stands_alone(line));
    // What is longer than a line that people write is no comment.
    let mut readable = own.iter().chain(over).filter(|line| line.len() <= super::lines::PART_BYTES);
    readable.any(|line| is_meant_for(rule, line))
}

/// What a linter's own tests expect of a line: `# [some-message]`, at times with the line or the version it is meant for.
static EXPECTED: Pattern =
    Pattern::new(r"#\s*[-+<>=.:\d]*\[[a-z][a-z0-9]*(?:-[a-z0-9]+)*(?:,\s*[a-z][a-z0-9]*(?:-[a-z0-9]+)*)*\]\s*$");

/// Whether a line of a test folder is wrong on purpose, for a linter to find.
pub fn is_linter_data(line: &str) -> bool {
    EXPECTED.is_match(line)
}

/// Words by which a comment says why something is as it is.
static REASON: Pattern =
    Pattern::new(r"(?i)\b(?:since|because|unless|otherwise|so that|on purpose|deliberately|intentionally)\b");

/// Whether a comment that ends right above the code gives a reason for it.
pub fn gives_reason(above: &[&str]) -> bool {
    const MAX_COMMENT_LINES: usize = 6;
    let near = above.iter().rev().take(MAX_COMMENT_LINES).map(|line| line.trim());
    if above.last().is_some_and(|line| line.trim_end().ends_with("*/")) {
        // The text of a block comment may stand there without a mark.
        let first = near.clone().position(|line| line.starts_with("/*"));
        return first.is_some_and(|first| near.take(first + 1).any(|line| REASON.is_match(line)));
    }
    near.take_while(|line| stands_alone(line) && !line.starts_with('@')).any(|line| REASON.is_match(line))
}

/// A line without code of its own speaks about the next.
pub fn stands_alone(line: &str) -> bool {
    let line = line.trim_start();
    ["//", "/*", "* ", "*/", "#", "--", "@", "<!--", "{/*"].iter().any(|start| line.starts_with(start))
}

fn is_meant_for(rule: &RuleFile, line: &str) -> bool {
    if MARKS.iter().any(|(mark, code)| line.contains(mark) && is_listed(rule, code)) {
        return true;
    }
    // Secrets and checks of the whole diff are too much for a word that names nothing.
    let bare_counts = !rule.languages.is_empty();
    let named = NAMED.iter().filter_map(|pattern| pattern.group(line)).any(|list| names(rule, list));
    let listed = MAYBE_BARE.iter().filter_map(|pattern| pattern.captures(line)).any(|found| match found.get(1) {
        Some(list) if !list.as_str().trim().is_empty() => names(rule, list.as_str()),
        _ => bare_counts,
    });
    named || listed || bare_counts && BARE.iter().any(|pattern| pattern.is_match(line))
}

/// Whether a list of codes holds one of the rule's. What follows ` -- ` is a reason.
fn names(rule: &RuleFile, list: &str) -> bool {
    let list = list.split(" -- ").next().unwrap_or(list);
    list.split(|c: char| !c.is_alphanumeric() && !"_-/.:@".contains(c)).any(|code| is_listed(rule, code))
}

/// Codes are compared without their tool's name, which not everyone writes: `clippy::dbg_macro`, `lint/suspicious/noDebugger`.
fn is_listed(rule: &RuleFile, code: &str) -> bool {
    let short = |code: &str| code.trim_end_matches([':', '.']).rsplit([':', '/']).next().unwrap_or_default().to_ascii_lowercase();
    let code = short(code);
    !code.is_empty() && rule.suppressed_by.iter().any(|known| short(known) == code)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::load::built_in;

    fn silences(rule: &RuleFile, own: &[&str], above: &[&str]) -> bool {
        is_suppressed(rule, own, above)
    }

    fn rule(languages: &[&str], codes: &[&str]) -> RuleFile {
        let mut rule = built_in().unwrap().swap_remove(0).file;
        rule.languages = serde_json::from_value(serde_json::json!(languages)).unwrap();
        rule.suppressed_by = codes.iter().map(|code| (*code).to_owned()).collect();
        rule
    }

    #[test]
    fn every_linter_s_own_words_are_read() {
        for (code, line) in [
            ("B006", "def f(a=[]):  # noqa: B006"),
            ("B006", "def f(a=[]):  # noqa: E501, B006 - read only"),
            ("B602", "run(line, shell=True)  # nosec B602"),
            ("dangerous-default-value", "def f(a=[]):  # pylint: disable=dangerous-default-value"),
            ("literal-comparison", "if () is {1, 2}:  # [literal-comparison]"),
            ("gosec", "InsecureSkipVerify: true, //nolint:gosec // loopback only"),
            ("G402", "InsecureSkipVerify: true, // #nosec G402 -- loopback only"),
            ("no-eval", "eval(text); // eslint-disable-line no-eval -- our own text"),
            ("bugprone-suspicious-realloc-usage", "p = realloc(p, n); // NOLINT(bugprone-suspicious-realloc-usage)"),
            ("Lint/RescueException", "rescue Exception # rubocop:disable Lint/RescueException"),
            ("gitleaks", "key = \"a1\" # gitleaks:allow"),
            ("detect-secrets", "key = \"a1\" # pragma: allowlist secret"),
        ] {
            assert!(silences(&rule(&["python"], &[code]), &[line], &[]), "{line}");
            assert!(!silences(&rule(&["python"], &["X999"]), &[line], &[]), "{line}");
            assert!(!silences(&rule(&["python"], &[]), &[line], &[]), "{line}");
        }
    }

    #[test]
    fn a_comment_above_speaks_about_the_next_line() {
        for (code, line) in [
            ("no-eval", "  // eslint-disable-next-line no-eval"),
            ("noDebugger", "// biome-ignore lint/suspicious/noDebugger: on purpose"),
            ("clippy::dbg_macro", "#[allow(clippy::dbg_macro)]"),
            ("dbg_macro", "    #[expect(clippy::dbg_macro, reason = \"a demo\")]"),
            ("SC2155", "# shellcheck disable=SC2034,SC2155"),
            ("CA1031", "#pragma warning disable CA1031"),
            ("WEAK_HOSTNAME_VERIFIER", "@SuppressFBWarnings(\"WEAK_HOSTNAME_VERIFIER\")"),
            ("EmptyCatchBlock", "@SuppressWarnings({\"EmptyCatchBlock\", \"unused\"})"),
        ] {
            assert!(silences(&rule(&["rust"], &[code]), &["code();"], &["other();", line]), "{line}");
            assert!(silences(&rule(&["rust"], &[code]), &["code();"], &[line, "// and why"]), "{line}");
            assert!(!silences(&rule(&["rust"], &[code]), &["code();"], &[line, "other();"]), "{line}");
        }
        assert!(!silences(&rule(&["python"], &["B006"]), &["def g(a=[]):"], &["def f(a=[]): pass  # noqa: B006"]));
    }

    #[test]
    fn the_test_data_of_a_linter_is_known_by_its_mark() {
        for line in ["if x is 1:  # [some-message]", "x = []  # [one, two-words]", "def f(  # +1:[late]", "a()  # <3.12:[old]"] {
            assert!(is_linter_data(line), "{line}");
        }
        for line in ["x = 1  # [Note] see below", "x = y[name]", "x = 1  # [TODO]", "x = 1  # see [name] there"] {
            assert!(!is_linter_data(line), "{line}");
        }
    }

    #[test]
    fn a_comment_gives_a_reason_right_above_the_code() {
        assert!(gives_reason(&["b();", "/* off, because the host is", "   another */"]));
        assert!(gives_reason(&["b();", "// The name does not fit,", "// since the host is another."]));
        assert!(!gives_reason(&["// off, because", "b();"]));
        assert!(!gives_reason(&["/* because */", "b();", "/* now the call */"]));
        assert!(!gives_reason(&["// now the call"]));
        assert!(!gives_reason(&[]));
    }

    #[test]
    fn a_bare_suppression_counts_for_code_alone() {
        for line in
            ["x = 1  # noqa", "x() // NOSONAR", "x() //nolint", "x(); // NOLINT", "x() // eslint-disable-line", "x()  # nosec"]
        {
            assert!(silences(&rule(&["python"], &["B006"]), &[line], &[]), "{line}");
            assert!(!silences(&rule(&[], &["gitleaks"]), &[line], &[]), "{line}");
        }
        assert!(!silences(&rule(&["python"], &["B006"]), &["nosecrets = noqa_list  # see nolint.md"], &[]));
    }
}
