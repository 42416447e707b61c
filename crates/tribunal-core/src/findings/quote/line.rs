//! What stands around a line of code where somebody copied it from a diff, a listing or a message.

use crate::findings::anchor::Side;

/// A line of a quote without the diff's sign and the line's number.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BareLine<'a> {
    pub side: Option<Side>,
    pub number: Option<u32>,
    pub text: &'a str,
}

/// Takes one `+` or `-` off.
pub fn without_sign(line: &str) -> BareLine<'_> {
    let trimmed = line.trim();
    let side = match trimmed.as_bytes().first() {
        Some(b'+') => Some(Side::New),
        Some(b'-') => Some(Side::Old),
        _ => None,
    };
    BareLine { side, number: None, text: if side.is_some() { &trimmed[1..] } else { trimmed } }
}

/// Takes the sign and the number off: `+    12 code`, `12* code`, `+ 12 | code`, `12: + code`, `L12: code`, `12→code`, `src/a.rs:12: code`.
pub fn without_number(line: &str) -> BareLine<'_> {
    let signed = without_sign(line);
    let Some((number, text)) = numbered(signed.text.trim_start()) else { return signed };
    if signed.side.is_some() {
        return BareLine { number: Some(number), text, ..signed };
    }
    BareLine { number: Some(number), ..without_sign(text) }
}

fn numbered(text: &str) -> Option<(u32, &str)> {
    let text = without_path(text);
    let text = ["line ", "Line ", "L"].iter().find_map(|word| text.strip_prefix(word)).unwrap_or(text);
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let number = text[..end].parse().ok().filter(|number| *number > 0)?;
    let rest = &text[end..];
    let rest = rest.strip_prefix('*').unwrap_or(rest);
    if rest.is_empty() {
        return Some((number, rest));
    }
    let after_blanks = rest.trim_start();
    match after_blanks.strip_prefix(['|', ':', '│', '→', '▏', ')']) {
        Some(code) => Some((number, code)),
        None => (after_blanks.len() < rest.len()).then_some((number, after_blanks)),
    }
}

/// `src/a.rs:12: code` as tools print it: without the path.
fn without_path(text: &str) -> &str {
    let Some((path, rest)) = text.split_once([':', '#']) else { return text };
    let is_path = path.contains(['.', '/']) && !path.contains(char::is_whitespace);
    if is_path && rest.trim_start_matches('L').starts_with(|c: char| c.is_ascii_digit()) { rest } else { text }
}

/// A line about the code instead of a line of it: a fence, or a heading of a diff or of a brief.
pub fn is_heading(line: &str) -> bool {
    let line = line.trim();
    let is_fence = ["```", "~~~"].iter().any(|fence| {
        line.strip_prefix(fence).is_some_and(|rest| rest.chars().all(|c| c.is_alphanumeric() || "-+_.#{}=".contains(c)))
    });
    is_fence
        || line.starts_with("@@ ") && line[3..].contains("@@")
        || ["diff --git ", "=== FILE ", "=== AROUND ", "--- a/", "+++ b/", "--- /dev/null", "+++ /dev/null"]
            .iter()
            .any(|start| line.starts_with(start))
}

/// Takes off backticks around a line, and a remark such as `(line 12)` behind it.
pub fn without_wrapping(line: &str) -> &str {
    let line = without_remark(line.trim());
    let ticks = line.len() - line.trim_start_matches('`').len();
    let inner = line.get(ticks..line.len().saturating_sub(ticks)).filter(|_| ticks > 0 && line.ends_with(&"`".repeat(ticks)));
    inner.filter(|inner| !inner.is_empty()).unwrap_or(line)
}

fn without_remark(line: &str) -> &str {
    let Some((code, remark)) = line.strip_suffix(')').and_then(|line| line.rsplit_once('(')) else { return line };
    let number = remark.strip_prefix("lines ").or_else(|| remark.strip_prefix("line ")).or_else(|| remark.strip_prefix('L'));
    let is_number =
        number.is_some_and(|number| !number.is_empty() && number.chars().all(|c| c.is_ascii_digit() || "-–L".contains(c)));
    if is_number { code.trim_end() } else { line }
}

/// The parts of a line between the places where something is left out: `...` and `…`. No parts where all of it is: `// ... as before`.
pub fn around_ellipses(line: &str) -> Vec<&str> {
    let starts_with_dots = line.trim_start_matches(|c: char| c.is_whitespace() || "/#*-;<!([{".contains(c));
    let is_remark = starts_with_dots.starts_with("...") || starts_with_dots.starts_with('…');
    let is_comment = starts_with_dots.len() < line.trim_start().len();
    if is_remark && (is_comment || starts_with_dots.trim_matches(['.', '…', ' ']).is_empty()) {
        return Vec::new();
    }
    line.split("...").flat_map(|part| part.split('…')).map(|part| part.trim_matches('.').trim()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_signs_are_told_from_code() {
        let (new, old) = (Some(Side::New), Some(Side::Old));
        for (line, side, number, text) in [
            ("+    12 x = f(y)", new, Some(12), "x = f(y)"),
            ("-     3 x = f(y)", old, Some(3), "x = f(y)"),
            ("     12 x = f(y)", None, Some(12), "x = f(y)"),
            ("+    12* x = f(y)", new, Some(12), "x = f(y)"),
            ("+ 12 | x = f(y)", new, Some(12), " x = f(y)"),
            ("12: + x = f(y)", new, Some(12), " x = f(y)"),
            ("L12: x = f(y)", None, Some(12), "x = f(y)"),
            ("   12→x = f(y)", None, Some(12), "x = f(y)"),
            ("12\tx = f(y)", None, Some(12), "x = f(y)"),
            ("src/a.py:12: x = f(y)", None, Some(12), "x = f(y)"),
            ("+x = f(y)", new, None, "x = f(y)"),
            ("x = f(y)", None, None, "x = f(y)"),
            ("1.5 * x", None, None, "1.5 * x"),
            ("+   12", new, Some(12), ""),
        ] {
            assert_eq!(without_number(line), BareLine { side, number, text }, "{line}");
        }
    }

    #[test]
    fn an_ellipsis_splits_a_line_or_is_one() {
        for gap in ["...", "…", "  ...", "// ...", "# ... rest of the function", "/* … */", "[...]", "<!-- ... -->"] {
            assert!(around_ellipses(gap).is_empty(), "{gap}");
        }
        assert_eq!(around_ellipses("f(a, ...)"), ["f(a,", ")"]);
        assert_eq!(around_ellipses("f(a, b"), ["f(a, b"]);
        assert_eq!(around_ellipses("let x = ..."), ["let x =", ""]);
    }

    #[test]
    fn headings_and_wrapping_are_no_code() {
        for heading in ["```rust", "```", "@@ -1,2 +3,4 @@ fn f", "=== FILE src/a.rs (modified) ===", "+++ b/src/a.rs"] {
            assert!(is_heading(heading), "{heading}");
        }
        for code in ["``` opens a fence", "--- title", "@@ x"] {
            assert!(!is_heading(code), "{code}");
        }
        assert_eq!(without_wrapping("`x = 1`"), "x = 1");
        assert_eq!(without_wrapping("``x`y``"), "x`y");
        assert_eq!(without_wrapping("x = f(1) (line 12)"), "x = f(1)");
        assert_eq!(without_wrapping("x = f(line)"), "x = f(line)");
    }
}
