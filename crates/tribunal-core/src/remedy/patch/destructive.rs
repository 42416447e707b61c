//! The ten categories of WL-87, each found from what a patch takes away and what it brings.
//!
//! Two kinds of signs. A *loss* is a word of protection that stands on more removed lines than added ones. A *gain* is a phrase of
//! weakness that stands on more added lines than removed ones. So a line that is only rewritten says nothing either way, and taking
//! a weakness away is never held against a fix.

use super::dependencies::dependency;
use super::lines::{self, Changed, is_comment, without_comment, without_strings};
use super::paths::{self, Manifest};
use super::secrets;
use crate::diff::change::{Change, ChangedFile, FileStatus};
use crate::diff::language::Language;
use crate::ids::RepoPath;
use regex::Regex;
use std::sync::LazyLock;

type Pattern = LazyLock<Option<Regex>>;

macro_rules! pattern {
    ($name:ident, $text:expr) => {
        static $name: Pattern = LazyLock::new(|| Regex::new($text).ok());
    };
}

fn is_match(pattern: &Pattern, text: &str) -> bool {
    pattern.as_ref().is_some_and(|pattern| pattern.is_match(text))
}

// Category 1.
pattern!(
    AUTH,
    r"(?i)authenticat|authori[sz]|require_?auth|login_?required|permission|csrf|xsrf|is_?admin|has_?role|access_?control|check_?access|verif|rolesallowed|logged_?in|current_?user|check_?password|require_?login|is_?staff|is_?superuser|jwt|before_action"
);
pattern!(
    TRUST_OFF,
    r#"(?i)verify(_ssl|_certs|_peer)?['"]?\s*[=:]\s*(false|0|none)\b|verify_signature['"]?\s*[:=]\s*false|insecureskipverify['"]?\s*[:=]\s*true|rejectunauthorized['"]?\s*[:=]\s*false|node_tls_reject_unauthorized|check_hostname\s*=\s*false|cert_none\b|verify_none|unverified_context|danger_accept_invalid|stricthostkeychecking[= ]no|sslverify\s*[=:]?\s*false|trust_?all|--insecure\b|\bcurl\b.*\s-k\b|--no-check-certificate|csrf_exempt|csrf\(\)\.disable|permitall|allowany\b|allowanonymous|skip_before_action|skip_forgery|algorithms?['"]?\s*[:=]\s*\[?['"]none['"]|auth\w*['"]?\s*[:=]\s*(false|none)\b"#
);
// Category 3.
pattern!(
    ASSERTS,
    r"(?i)\bassert\w*\b|\bexpect\s*\(|\bexpect_\w+|\brequire\.\w+\(|\bshould\b|\.should\(|\bt\.(error|errorf|fatal|fatalf|fail)\("
);
pattern!(
    STOPS,
    r"\b(raise|throw|panic!|bail!|ensure!|return Err|Err\(|abort|reject|throws)\b|\bpanic\(|return nil, |errors?\.New|fmt\.Errorf"
);
pattern!(
    TESTS,
    r"#\[(tokio::)?test|^\s*(async\s+)?def test_|\b(it|test|describe|context|scenario)\s*\(\s*['\x22`]|^\s*(it|test|describe|context)\s+['\x22]|\bfunc Test\w|@(Parameterized)?Test\b|\[(Fact|Theory|Test|TestMethod)\b|\bpublic function test"
);
pattern!(
    SUPPRESSIONS,
    r"(?i)#\[ignore|#!?\[(cfg_attr\(.*)?allow\(|#\[should_panic|@ignore\b|@disabled\b|@suppress\w*|@pytest\.mark\.(skip|xfail)|pytest\.(skip|xfail)\(|unittest\.skip|\bxfail\b|\b(it|test|describe|context)\.(skip|only|todo)\b|\bx(it|describe|test)\s*\(|\bt\.skip(now|f)?\(|eslint-disable|biome-ignore|tslint:disable|stylelint-disable|\bnoqa\b|\bnosec\b|\bnolint\b|nosemgrep|nosonar|gitleaks:allow|@ts-(ignore|nocheck|expect-error)|type:\s*ignore|pylint:\s*disable|pyright:\s*ignore|mypy:\s*ignore|rubocop:disable|phpcs:(ignore|disable)|phpstan-ignore|psalm-suppress|shellcheck disable|istanbul ignore|c8 ignore|pragma:\s*no cover|--no-verify|--no-gpg-sign|continue-on-error:\s*true|\[skip ci\]|\[ci skip\]|#pragma warning disable|suppressed?warnings|swiftlint:disable|ktlint-disable|allow_failure:\s*true|--passwithnotests|--exit-zero"
);
pattern!(
    TAUTOLOGY,
    r"\bassert True\b|assert!\(true\)|expect\(true\)\.to|assertTrue\(true\)|assertTrue\(True\)|\bif \(?(true|True|1 ?== ?1)\)?\s*[:{]|\bor True\b|\|\| ?true\b|\bif \(?(false|False)\)?\s*[:{]|&& ?false\b|\band False\b"
);
pattern!(VALIDATION, r"(?i)validat|is_?valid\b|\bcheck_\w+\(|\bensure\w*\(|max_?length|max_?size|rate_?limit|throttl");
pattern!(SHELL_SHRUG, r"\|\| ?(true|:)\s*$|^\s*set \+e");
pattern!(CONFIG_OFF, r"(?i)\b(ignore|disable|exclude|skip|omit|per-file-ignores|addopts)\b");
// Category 4.
pattern!(
    SANITISES,
    r"(?i)escape|saniti[sz]|htmlspecialchars|encodeuricomponent|bleach\.|dompurify|strip_tags|shlex\.quote|quote_identifier|\bquote\(|safe_?load|parameteri[sz]|prepare\(|preparedstatement|purify|autoescape|normali[sz]e_?path|secure_filename|realpath"
);
pattern!(SANITISES_OFF, r"(?i)\bunescape|autoescape['\x22]?\s*[=:]?\s*(false|off)|disable_?escap|noescape");
pattern!(
    RAW,
    r"(?i)dangerouslysetinnerhtml|\bmark_safe\(|\|\s*safe\b|\.html_safe|autoescape['\x22]?\s*[=:]?\s*(false|off)|v-html|\.innerhtml\s*\+?=|\{\{\{|\bshell\s*=\s*true|pickle\.loads?\(|yaml\.(unsafe_load|full_load)\(|\byaml\.load\([^)]*\)\s*$|\byaml\.loader\b|unsafe-inline|unsafe-eval|\beval\(|\bexec\(|bypasssecuritytrust|raw\s*\(|template\.html\("
);
// Category 5.
pattern!(
    OPEN_DOORS,
    r#"(?i)\b0?o?0?777\b|\b0o?666\b|chmod\s+(-R\s+)?(777|666|a\+)|a\+rwx|access-control-allow-origin['"]?\s*[,:=]\s*['"]?\*|allow_?origins?['"]?\s*[:=(]\s*\[?\s*['"]\*|\borigins?['"]?\s*[:=]\s*\[?\s*(['"]\*|true)|write-all|privileged['"]?\s*[:=]\s*true|--privileged|hostnetwork['"]?\s*:\s*true|hostpid['"]?\s*:\s*true|runasuser['"]?\s*:\s*0\b|runasnonroot['"]?\s*:\s*false|allowprivilegeescalation['"]?\s*:\s*true|^\s*user\s+root\b|cap_add|"?(action|resource|principal)s?"?\s*[:=]\s*\[?\s*"\*"|grant\s+all|0\.0\.0\.0/0|nopasswd|public-read|allowed_hosts['"]?\s*=\s*\[\s*['"]\*|\bsetuid\b|cluster-admin|acl['"]?\s*[:=]\s*['"]public"#
);
// Category 6.
pattern!(
    WEAK_CRYPTO,
    r#"(?i)(^|[^a-z0-9])(md5|md4|sha-?1|rc4|3des|desede|ecb|blowfish|tlsv1(_0|\.0|_1|\.1)?|sslv[23]|versiontls1[01]|versionssl30)([^a-z0-9.]|\.[a-z]|$)|\bDES\.new|["']des["'/]|createcipheriv\(['"]des"#
);
pattern!(
    CRYPTO,
    r"(?i)encrypt|bcrypt|argon2|scrypt|pbkdf2|hmac|compare_digest|constant_?time|timingsafeequal|secure_?compare|\bsecrets\.|crypto/rand|securerandom|osrng|randombytes|getrandomvalues|sha-?(256|384|512)|aes-?(128|256)|tlsv1[._][23]"
);
pattern!(
    KEY_STRENGTH,
    r"(?i)key_?(size|length|len|bits)|\bbits\b|modulus|iterations|rounds|generate_?key|\brsa\b|pbkdf2|bcrypt|cost|nbytes|token_(hex|bytes|urlsafe)|salt"
);
pattern!(NUMBER, r"\d+");

/// The first that fires, in the order of the files and of the categories that a path decides before those that lines do.
pub fn find(change: &Change) -> Option<(u8, RepoPath, String)> {
    let by_path = change.files.iter().find_map(|file| {
        [Some(&file.path), file.old_path.as_ref()]
            .into_iter()
            .flatten()
            .find_map(|path| of_path(file, path).map(|(category, why)| (category, path, why)))
    });
    if let Some((category, path, why)) = by_path {
        return Some((category, path.clone(), why.to_owned()));
    }
    change.files.iter().find_map(|file| {
        let changed = lines::of(change, file);
        of_lines(file, &changed).map(|(category, why)| (category, file.path.clone(), why))
    })
}

fn of_path(file: &ChangedFile, path: &RepoPath) -> Option<(u8, &'static str)> {
    let gone = file.status == FileStatus::Deleted;
    if paths::is_ci(path) {
        return Some((8, "it belongs to CI"));
    }
    if paths::is_secret_file(path) {
        return Some((9, "it holds secrets or settings of an environment"));
    }
    if gone && file.is_test() {
        return Some((3, "a test file is deleted"));
    }
    if gone && paths::is_security_file(path) {
        return Some((2, "a file that protects something is deleted"));
    }
    if paths::is_lint_config(path) {
        return Some((3, "it configures a checker"));
    }
    let executable = |mode: &Option<String>| mode.as_deref() == Some("100755");
    (executable(&file.new_mode) && !executable(&file.old_mode)).then_some((5, "it becomes executable"))
}

fn of_lines(file: &ChangedFile, changed: &Changed) -> Option<(u8, String)> {
    if let Some(why) = changed.added.iter().find_map(|line| secrets::exposes(line)) {
        return Some((10, why));
    }
    if let Some(why) = paths::manifest(&file.path).and_then(|kind| dependency(kind, changed)) {
        return Some((7, why));
    }
    if paths::manifest(&file.path) == Some(Manifest::PyProject)
        && let Some(line) = gained(&CONFIG_OFF, &changed.removed, &changed.added)
    {
        return Some((3, format!("a checker is told to look away: {}", shown(line))));
    }
    if file.is_prose() {
        return None;
    }
    let (code_gone, code_new) = (code(&changed.removed), code(&changed.added));
    // Suppressions are written in comments, so here every line counts.
    if let Some(line) = gained(&SUPPRESSIONS, &changed.removed, &changed.added) {
        return Some((3, format!("a check is switched off: {}", shown(line))));
    }
    let shell = matches!(file.language(), Some(Language::Bash))
        || paths::manifest(&file.path) == Some(Manifest::Container)
        || file.path.file_name() == "Makefile";
    let always = if shell { &SHELL_SHRUG } else { &TAUTOLOGY };
    if let Some(line) = gained(always, &code_gone, &code_new) {
        return Some((3, format!("a condition no longer decides: {}", shown(line))));
    }
    let by_gain: [(u8, &Pattern, &str); 4] = [
        (1, &TRUST_OFF, "a check of identity is switched off"),
        (5, &OPEN_DOORS, "more is permitted than before"),
        (6, &WEAK_CRYPTO, "weak cryptography is brought in"),
        (4, &RAW, "text is no longer made harmless"),
    ];
    for (category, pattern, why) in by_gain {
        // A test may well name what is forbidden.
        if let Some(line) = gained(pattern, &code_gone, &code_new).filter(|_| !file.is_test()) {
            return Some((category, format!("{why}: {}", shown(line))));
        }
    }
    lost_words(file, &code_gone, &code_new)
}

fn lost_words(file: &ChangedFile, gone: &[String], new: &[String]) -> Option<(u8, String)> {
    // In a program, a word in a string guards nothing; in a data file everything is one.
    let bare = |lines: &[String]| -> Vec<String> {
        lines.iter().map(|line| if file.language().is_some() { without_strings(line) } else { line.clone() }).collect()
    };
    let (gone, new) = (&bare(gone)[..], &bare(new)[..]);
    let say = |what: &str, line: &str| format!("{what}: {}", shown(line));
    if let Some(line) = lost(gone, new, |line| is_match(&TESTS, line)) {
        return Some((3, say("a test is taken out", line)));
    }
    // Outside of tests an assertion may become a real error, which is more and not less.
    let holds = |line: &str| is_match(&ASSERTS, line);
    let replaced = if file.is_test() { 0 } else { new.iter().filter(|line| is_match(&STOPS, line) && !holds(line)).count() };
    if let Some(line) = lost_by(gone, new, holds, replaced) {
        return Some((3, say("an assertion is taken out", line)));
    }
    if file.is_test() {
        return None;
    }
    let guards = |line: &str| is_match(&AUTH, line) && !is_match(&TRUST_OFF, line);
    if let Some(line) = lost(gone, new, guards) {
        return Some((1, say("a check of identity or permission is taken out", line)));
    }
    let cleans = |line: &str| is_match(&SANITISES, line) && !is_match(&SANITISES_OFF, line);
    if let Some(line) = lost(gone, new, cleans) {
        return Some((4, say("sanitising is taken out", line)));
    }
    if let Some(line) = lost(gone, new, |line| is_match(&CRYPTO, line) && !is_match(&WEAK_CRYPTO, line)) {
        return Some((6, say("cryptography is taken out", line)));
    }
    if let Some(line) = weaker_key(gone, new) {
        return Some((6, say("a key or its making gets weaker", line)));
    }
    if let Some(line) = lost(gone, new, |line| is_match(&VALIDATION, line)) {
        return Some((3, say("validation is taken out", line)));
    }
    None
}

fn code(lines: &[String]) -> Vec<String> {
    lines.iter().filter(|line| !is_comment(line)).map(|line| without_comment(line).to_owned()).collect()
}

/// Lines of which there are more now than before; the first of them.
fn gained<'a>(pattern: &Pattern, gone: &[String], new: &'a [String]) -> Option<&'a str> {
    let before = gone.iter().filter(|line| is_match(pattern, line)).count();
    let mut now = new.iter().filter(|line| is_match(pattern, line));
    let first = now.next()?;
    (now.count() + 1 > before).then_some(first.as_str())
}

fn lost<'a>(gone: &'a [String], new: &[String], is: impl Fn(&str) -> bool) -> Option<&'a str> {
    lost_by(gone, new, is, 0)
}

fn lost_by<'a>(gone: &'a [String], new: &[String], is: impl Fn(&str) -> bool, replaced: usize) -> Option<&'a str> {
    let now = new.iter().filter(|line| is(line)).count() + replaced;
    let mut before = gone.iter().filter(|line| is(line));
    let first = before.next()?;
    (before.count() + 1 > now).then_some(first.as_str())
}

/// The same line with a smaller number in it.
fn weaker_key<'a>(gone: &[String], new: &'a [String]) -> Option<&'a str> {
    let pattern = NUMBER.as_ref()?;
    let apart = |line: &str| {
        let numbers: Vec<u64> = pattern.find_iter(line).filter_map(|number| number.as_str().parse().ok()).collect();
        (pattern.replace_all(line, "0").into_owned(), numbers)
    };
    new.iter().filter(|line| is_match(&KEY_STRENGTH, line)).map(String::as_str).find(|line| {
        let (shape, now) = apart(line);
        gone.iter()
            .map(|line| apart(line))
            .any(|(was, before)| was == shape && now.iter().zip(&before).any(|(now, before)| now < before))
    })
}

/// The beginning of a line, for a message.
fn shown(line: &str) -> String {
    let line = crate::publish::outgoing::masked(line);
    let mut short: String = line.chars().take(80).collect();
    if short.len() < line.len() {
        short.push('…');
    }
    format!("`{}`", short.replace('`', "'"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_can_be_read() {
        for pattern in [
            &AUTH,
            &TRUST_OFF,
            &ASSERTS,
            &STOPS,
            &TESTS,
            &SUPPRESSIONS,
            &TAUTOLOGY,
            &VALIDATION,
            &SHELL_SHRUG,
            &CONFIG_OFF,
            &SANITISES,
            &SANITISES_OFF,
            &RAW,
            &OPEN_DOORS,
            &WEAK_CRYPTO,
            &CRYPTO,
            &KEY_STRENGTH,
            &NUMBER,
        ] {
            assert!(pattern.is_some());
        }
    }
}
