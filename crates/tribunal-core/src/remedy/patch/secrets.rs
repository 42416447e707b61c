//! Credentials in what a patch adds (WL-87, 10): written out, or written to where others read.

use super::lines::{is_comment, without_strings};
use crate::publish::outgoing::mask::has_key_shape;
use regex::Regex;
use std::sync::LazyLock;

static ASSIGNED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#"(?i)(passwd|password|pwd|secret|token|api_?key|access_?key|private_?key|credential)\w*['"]?\]?\s*(:\s*\w+\s*)?(=|:|=>|:=)\s*f?['"]([^'"\s]{8,})['"]"#).ok()
});
static IN_URL: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"://[^/\s:@'\x22{}$]+:[^/\s:@'\x22{}$<]{3,}@").ok());
static NAMES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?i)passw(or)?d|\bpwd\b|secret|\w*token\b|api_?key|access_?key|private_?key|credential|os\.environ\b|process\.env\b",
    )
    .ok()
});
static SAYS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(log(ger|ging)?\.\w+|console\.\w+|print(ln|f)?!?|echo|eprintln!|puts|System\.out\.\w+|fmt\.Print\w*|log\.\w+|(info|warn|debug|error|trace)!)\s*[( ]").ok()
});

/// Words of somebody who writes no real value.
const PLACEHOLDERS: [&str; 13] =
    ["example", "changeme", "change-me", "your", "xxxx", "****", "placeholder", "dummy", "<", "${", "{{", "test", "redacted"];

pub fn exposes(line: &str) -> Option<String> {
    if has_key_shape(line) || line.contains("PRIVATE KEY-----") {
        return Some("a key is written into the code".to_owned());
    }
    let value = ASSIGNED.as_ref().and_then(|pattern| pattern.captures(line)).and_then(|found| found.get(4));
    let placeholder = |text: &str| PLACEHOLDERS.iter().any(|word| text.to_ascii_lowercase().contains(word));
    if value.is_some_and(|value| !placeholder(value.as_str()) && !is_comment(line)) {
        return Some("a credential is written into the code".to_owned());
    }
    if IN_URL.as_ref().is_some_and(|pattern| pattern.is_match(line)) && !placeholder(line) {
        return Some("an address carries a password".to_owned());
    }
    let code = without_strings(line);
    let says = SAYS.as_ref().is_some_and(|pattern| pattern.is_match(&code)) && !is_comment(line);
    let named = NAMES.as_ref().is_some_and(|pattern| pattern.is_match(&code));
    (says && named).then(|| "a credential is written to a log".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// WL-87, 10.
    #[test]
    fn credentials_that_a_patch_adds() {
        for line in [
            "key = \"AKIAIOSFODNN7EXAMPLE\"",
            "-----BEGIN RSA PRIVATE KEY-----",
            "password = \"hunter2hunter2\"",
            "api_key: \"9f8e7d6c5b4a3210\",",
            "const apiKey: string = '9f8e7d6c5b4a3210';",
            "db = connect(\"postgres://shop:s3cr3t@db/shop\")",
            "logger.info(\"user %s %s\", user, password)",
            "print(f\"token={token}\")",
            "console.log(process.env)",
        ] {
            assert!(exposes(line).is_some(), "{line}");
        }
        for line in [
            "password = os.environ[\"DB_PASSWORD\"]",
            "password = \"<your password>\"",
            "logger.warning(\"the token could not be refreshed\")",
            "token = read_token(path)",
            "# password = \"hunter2hunter2\"",
            "if not password: raise ValueError(\"password missing\")",
            "url = f\"https://{user}:{word}@host\"",
        ] {
            assert_eq!(exposes(line), None, "{line}");
        }
    }
}
