//! Private keys that can be used: the first line alone proves nothing, so the body is decoded.
//!
//! Documentation shows keys with dots in them, parsers compare with the first line, and an encrypted key needs a passphrase that is
//! elsewhere. A key is reported if its text decodes to a whole key. Keys come by the dozen, so one finding stands for a folder.
//! A key that the change takes away elsewhere was only moved, and one whose comment says what it is for needs no question.

use super::Scope;
use super::pattern::Pattern;
use crate::rules::suppress::stands_alone;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use tribunal_core::diff::change::{ChangedFile, DiffLine, Hunk, Origin};
use tribunal_core::diff::purpose::FilePurpose;
use tribunal_core::findings::report::Claim;
use tribunal_core::findings::scale::Severity;

static BEGIN: Pattern =
    Pattern::new(r"-----BEGIN (?:(?:RSA|EC|DSA|OPENSSH) )?PRIVATE KEY-----|-----BEGIN PGP PRIVATE KEY BLOCK-----");
/// The encoded beginning of an RSA key in a string without its PEM lines.
static BARE: Pattern = Pattern::new(r#"["'`](MII[A-Za-z0-9+/]{3}(?:IBAAK[BC]|IBADANBgkqhkiG9w0BAQEF)[A-Za-z0-9+/]{8})"#);
/// Escapes of line ends, which stand between the lines of a key in a string.
static ESCAPE: Pattern = Pattern::new(r"\\+[rnt]");
/// A key's own headers: `Proc-Type` says that it is encrypted, those of PGP say nothing.
static HEADER: Pattern = Pattern::new(r"^(?:Version|Comment|Charset|Hash|MessageID): ");

/// What people write next to a key that guards nothing.
static HARMLESS: Pattern = Pattern::new(concat!(
    r"(?i)\b(?:tests?|testing)(?: purposes?| use)? only\b",
    r"|\bonly (?:be )?(?:used )?(?:for|in) (?:\w+ )?test(?:s|ing)?\b",
    r"|\bdemonstration\b",
    r"|\bnot (?:\w+ )?secure\b",
));
/// The name that the code gives it says as much: `localhostKey`, `TEST_KEY`.
static NAMED_HARMLESS: Pattern = Pattern::new(concat!(
    r"^[^=]{0,60}?(?:(?:\b|_)(?i:localhost|test|dummy|fake|mock|sample|example)|[a-z](?:Localhost|Test|Dummy|Fake|Mock|Sample|Example))",
    r"\w*\s*(?::\s*[&'\w \[\]]+)?:?=",
));
/// How far above a key such a comment may stand.
const COMMENT_REACH: usize = 3;

/// A key of 16,384 bits has some 300 lines.
const MAX_KEY_LINES: usize = 400;
/// How many names of files a finding lists.
const MAX_NAMES: usize = 5;

pub fn check(scope: &Scope<'_>) -> Vec<Claim> {
    let mut folders: BTreeMap<&str, Vec<(&ChangedFile, &DiffLine)>> = BTreeMap::new();
    // Read only where a key was added: most changes hold none.
    let mut removed: Option<BTreeSet<String>> = None;
    let mut called_harmless = BTreeSet::new();
    for file in scope.files() {
        // Tests need keys, and nothing trusts those that they hold.
        if file.purpose() == FilePurpose::Test {
            continue;
        }
        let is_aside = !file.purpose().is_production();
        let folder = file.path.as_str().rsplit_once('/').map_or("", |(folder, _)| folder);
        for key in keys(file, Origin::Added) {
            let removed = removed.get_or_insert_with(|| {
                let all = scope.change.files().flat_map(|file| keys(file, Origin::Removed));
                all.map(|key| key.base64).collect()
            });
            if removed.contains(&key.base64) || key.is_called_harmless && is_aside {
                continue;
            }
            if key.is_called_harmless {
                called_harmless.insert((&file.path, key.line.new_line));
            }
            folders.entry(folder).or_default().push((file, key.line));
        }
    }
    let mut claims = Vec::new();
    for keys in folders.into_values() {
        // The finding of a folder stands at a key that nobody has spoken about, if there is one.
        let is_open = |(file, line): &&(&ChangedFile, &DiffLine)| !called_harmless.contains(&(&file.path, line.new_line));
        let open = keys.iter().find(is_open);
        let Some((file, line)) = open.or(keys.first()) else { continue };
        let mut claim = scope.claim(file, line);
        if open.is_none() {
            claim.severity = Some(Severity::Question);
        }
        claim.details = told(&keys);
        claims.push(claim);
    }
    claims
}

/// What one finding says about all keys of a folder.
fn told(keys: &[(&ChangedFile, &DiffLine)]) -> Option<String> {
    let (first, _) = keys.first()?;
    let kind = match first.purpose() {
        FilePurpose::Production | FilePurpose::Test => "",
        FilePurpose::Sample | FilePurpose::Documentation | FilePurpose::Translation => {
            "Sample material: harmless if the key was made for this and nothing else trusts it. "
        }
    };
    let mut names: Vec<&str> = keys.iter().map(|(file, _)| file.path.file_name()).collect();
    names.dedup();
    let more = if names.len() > MAX_NAMES { ", …" } else { "" };
    let count = match keys.len() {
        1 => String::new(),
        n => format!("This folder adds {n} keys: {}{more}.", names[..names.len().min(MAX_NAMES)].join(", ")),
    };
    let text = format!("{kind}{count}");
    (!text.is_empty()).then(|| text.trim_end().to_owned())
}

/// A usable key in a diff.
struct Key<'a> {
    /// Where it begins.
    line: &'a DiffLine,
    base64: String,
    /// A comment next to it says that nothing trusts it.
    is_called_harmless: bool,
}

/// The usable keys that begin in added lines, or in removed ones.
fn keys(file: &ChangedFile, origin: Origin) -> Vec<Key<'_>> {
    file.hunks.iter().flat_map(|hunk| keys_of_hunk(hunk, origin)).collect()
}

fn keys_of_hunk(hunk: &Hunk, origin: Origin) -> Vec<Key<'_>> {
    let mut found = Vec::new();
    let side: Vec<&DiffLine> = hunk.lines.iter().filter(|line| line.origin == Origin::Context || line.origin == origin).collect();
    for (index, line) in side.iter().enumerate() {
        if line.origin != origin {
            continue;
        }
        let rest = || side[index + 1..].iter().take(MAX_KEY_LINES).map(|line| line.text.as_str());
        if let Some(base64) = usable_key(&line.text, rest) {
            let above = &side[index.saturating_sub(COMMENT_REACH)..index];
            let is_called_harmless = is_in_documentation(&line.text)
                || NAMED_HARMLESS.is_match(line.text.split("-----BEGIN").next().unwrap_or_default())
                || above.iter().any(|line| stands_alone(&line.text) && HARMLESS.is_match(&line.text));
            found.push(Key { line, base64, is_called_harmless });
        }
    }
    found
}

/// A comment that documents code shows what a key looks like.
fn is_in_documentation(line: &str) -> bool {
    ["* ", "///", "//!"].iter().any(|mark| line.trim_start().starts_with(mark))
}

/// The first usable key that begins in a line, which may be endless, and goes on in the next ones.
///
/// What follows a beginning is read up to the next one, so that each byte is read once, however many beginnings there are.
fn usable_key<'a, R: Iterator<Item = &'a str>>(line: &'a str, rest: impl Fn() -> R) -> Option<String> {
    let marks: Vec<Range<usize>> = BEGIN.ranges(line).collect();
    let ends = marks.iter().skip(1).map(|next| Some(next.start)).chain([None]);
    let armoured = marks.iter().zip(ends).find_map(|(mark, end)| {
        let body = match end {
            Some(end) => Body { ended: true, ..read_pem(&line[mark.end..end], std::iter::empty()) },
            None => read_pem(&line[mark.end..], rest()),
        };
        is_usable(&body).then_some(body.base64)
    });
    let bare = || {
        let starts: Vec<usize> = BARE.ranges(line).map(|found| found.start + 1).collect();
        let last = starts.last().copied();
        starts.into_iter().find_map(|start| {
            let following = rest().take(if Some(start) == last { MAX_KEY_LINES } else { 0 });
            Some(read_strings(&line[start..], following)).filter(|text| is_whole_der(&decode(text).0))
        })
    };
    armoured.or_else(bare)
}

/// What stands between the first and the last line of a key.
struct Body {
    base64: String,
    /// The last line was seen; otherwise the diff ended before.
    ended: bool,
    /// Something stood there that no usable key has.
    broken: bool,
}

fn read_pem<'a>(first: &'a str, rest: impl Iterator<Item = &'a str>) -> Body {
    let mut body = Body { base64: String::new(), ended: false, broken: false };
    for (number, line) in std::iter::once(first).chain(rest).enumerate() {
        // A key in which another one begins is none, and the lines below are read for that one.
        if number > 0 && BEGIN.is_match(line) {
            body.broken = true;
            break;
        }
        let (line, last) = match line.find("-----END ") {
            Some(at) => (&line[..at], true),
            None => (line, false),
        };
        let plain = ESCAPE.replace_all(line, " ");
        let plain = strip(&plain);
        if plain.contains("ENCRYPTED") || plain.contains("...") || plain.contains('…') {
            body.broken = true;
        } else if !HEADER.is_match(plain) {
            for piece in plain.split_whitespace() {
                match is_base64(piece) {
                    true => body.base64.push_str(piece),
                    // Operators between two strings: `+`, `.`, `<<`; `=` and four letters are the checksum of PGP.
                    false if piece.chars().all(|c| !c.is_alphanumeric()) || piece.starts_with('=') => {}
                    false => body.broken = true,
                }
            }
        }
        body.ended |= last;
        if body.ended || body.broken {
            break;
        }
    }
    body
}

/// The text of a line without what quotes it, comments it out, or joins it to the next.
fn strip(line: &str) -> &str {
    let line = line.trim();
    if is_base64(line) {
        return line;
    }
    let quotes = ['"', '\'', '`'];
    if let (Some(first), Some(last)) = (line.find(quotes), line.rfind(quotes)) {
        // A quote alone ends a string that began on the first line, or begins one that goes on.
        return match (first == last, first * 2 < line.len()) {
            (false, _) => line[first..=last].trim_matches(|c| quotes.contains(&c) || c == ' '),
            (true, true) => line[first + 1..].trim_matches(' '),
            (true, false) => line[..first].trim_matches(' '),
        };
    }
    line.trim_start_matches(['#', '*', '|', '>', ' ']).trim_start_matches("// ").trim_end_matches(['\\', ' '])
}

/// Strings that are joined over several lines, as one.
fn read_strings<'a>(first: &'a str, rest: impl Iterator<Item = &'a str>) -> String {
    let quotes = ['"', '\'', '`'];
    let mut text = first.split(quotes).next().unwrap_or_default().to_owned();
    for line in rest {
        let Some(piece) = line.split(quotes).nth(1).filter(|piece| is_base64(piece) && !BARE.is_match(line)) else { break };
        text.push_str(piece);
    }
    text
}

fn is_base64(text: &str) -> bool {
    !text.is_empty() && !text.starts_with('=') && text.bytes().all(|byte| matches!(byte, b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'+' | b'/' | b'='))
        // A `+` alone joins two strings.
        && text != "+"
}

/// The bytes, and whether all of the text could be read.
fn decode(text: &str) -> (Vec<u8>, bool) {
    let mut bytes = Vec::with_capacity(text.len() * 3 / 4);
    let (mut bits, mut count) = (0_u32, 0);
    let mut letters = text.trim_end_matches('=').bytes();
    let clean = letters.all(|byte| {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return false,
        };
        bits = (bits << 6 | u32::from(value)) & 0x00FF_FFFF;
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
        }
        true
    });
    (bytes, clean)
}

fn is_usable(body: &Body) -> bool {
    if body.broken {
        return false;
    }
    let (bytes, clean) = decode(&body.base64);
    if !body.ended {
        // The diff shows only the beginning: believe it if it begins as keys do.
        return bytes.len() >= 24 && der_length(&bytes).is_some_and(|(header, _)| is_key(&bytes[header..]));
    }
    clean && (is_whole_der(&bytes) || is_open_ssh(&bytes) || is_pgp(&bytes))
}

/// An outer sequence as long as it says, which begins as keys do.
fn is_whole_der(bytes: &[u8]) -> bool {
    der_length(bytes).is_some_and(|(header, length)| header + length == bytes.len() && is_key(&bytes[header..]))
}

/// The length of the header of a DER sequence, and of what it holds.
fn der_length(bytes: &[u8]) -> Option<(usize, usize)> {
    match *bytes {
        [0x30, length @ 0..=0x7F, ..] => Some((2, length.into())),
        [0x30, 0x81, length, ..] => Some((3, length.into())),
        [0x30, 0x82, high, low, ..] => Some((4, usize::from(high) << 8 | usize::from(low))),
        _ => None,
    }
}

/// Keys begin with their version; an encrypted one begins with the cipher instead.
fn is_key(inner: &[u8]) -> bool {
    matches!(inner, [2, 1, 0 | 1, ..])
}

/// OpenSSH's own format: no cipher, no options for one, one key, its public part and, to the end, its private part.
fn is_open_ssh(bytes: &[u8]) -> bool {
    const HEAD: &[u8] = b"openssh-key-v1\0\0\0\0\x04none\0\0\0\x04none\0\0\0\0\0\0\0\x01";
    let rest = bytes.strip_prefix(HEAD).and_then(after_string);
    rest.and_then(after_string).is_some_and(<[u8]>::is_empty)
}

/// What follows a string that begins with its length.
fn after_string(bytes: &[u8]) -> Option<&[u8]> {
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    rest.get(u32::from_be_bytes(*length) as usize..).filter(|after| after.len() < rest.len())
}

/// A packet that holds a secret key.
fn is_pgp(bytes: &[u8]) -> bool {
    bytes.len() > 100 && matches!(bytes[0], 0x94..=0x97 | 0xC5)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::examples::added;

    /// A made-up sequence of the form of a key.
    fn pem(line_end: &str) -> String {
        let body = "MEwCAQAwBQYDK2VwBECqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq";
        let [a, b] = [&body[..64], &body[64..]];
        format!("-----BEGIN {0}-----{line_end}{a}{line_end}{b}{line_end}-----END {0}-----", "PRIVATE KEY")
    }

    fn count(code: &str) -> usize {
        keys(&added("src/a.txt", code).files[0], Origin::Added).len()
    }

    #[test]
    fn a_whole_key_is_found_however_it_is_written() {
        assert_eq!(count(&pem("\n")), 1);
        assert_eq!(count(&pem("\n    ")), 1);
        assert_eq!(count(&format!("KEY = \"{}\"", pem("\\n"))), 1);
        assert_eq!(count(&format!("{{\"key\": \"{}\\n\"}}", pem("\\r\\n"))), 1);
        assert_eq!(count(&format!("String key = \"{}\";", pem("\\n\" +\n    \""))), 1);
        assert_eq!(count(&format!("KEY = b'''{}'''", pem("\n"))), 1);
        assert_eq!(count(&format!("# {}", pem("\n# "))), 1);
    }

    #[test]
    fn a_folder_is_told_of_once() {
        let mut change = added("examples/certs/a.key", &pem("\n"));
        for name in ["examples/certs/b.key", "examples/other/c.key"] {
            change.files.extend(added(name, &pem("\n")).files);
        }
        let files: Vec<_> = change.files.iter().map(|file| (file, keys(file, Origin::Added)[0].line)).collect();
        assert!(told(&files[..1]).unwrap().starts_with("Sample material"));
        assert!(told(&files[..2]).unwrap().ends_with("This folder adds 2 keys: a.key, b.key."));
        let rules = crate::rules::compile::RuleSet::new(crate::rules::load::built_in().unwrap()).unwrap();
        let found = crate::rules::scan::scan(&rules, &change, |_| true).unwrap().claims;
        let places: Vec<&str> = found.iter().map(|claim| claim.file.as_str()).collect();
        assert_eq!(places, ["examples/certs/a.key", "examples/other/c.key"]);
    }

    #[test]
    fn tests_may_hold_keys() {
        assert_eq!(places(&added("server/testdata/a.key", &pem("\n"))), []);
        assert_eq!(places(&added("database/seeders/DevelopmentKeySeeder.php", &pem("\n"))), []);
    }

    fn places(change: &tribunal_core::diff::change::Change) -> Vec<(String, Option<Severity>)> {
        let rules = crate::rules::compile::RuleSet::new(crate::rules::load::built_in().unwrap()).unwrap();
        let claims = crate::rules::scan::scan(&rules, change, |_| true).unwrap().claims;
        claims.into_iter().map(|claim| (claim.file.as_str().to_owned(), claim.severity)).collect()
    }

    #[test]
    fn a_key_that_was_moved_is_not_new() {
        let mut change = added("docs/new.rst", &pem("\n    "));
        assert_eq!(places(&change).len(), 1);
        let mut old = added("docs/old.cfg", &pem("\n")).files.remove(0);
        for (number, line) in (1..).zip(&mut old.hunks[0].lines) {
            (line.origin, line.old_line, line.new_line) = (Origin::Removed, Some(number), None);
        }
        change.files.push(old);
        assert_eq!(places(&change), []);
    }

    #[test]
    fn a_comment_may_say_that_a_key_guards_nothing() {
        let code =
            format!("// A fixture.\n// For testing purposes only, and not considered secure.\nvar key = `{}`\n", pem("\n"));
        assert_eq!(places(&added("pkg/a_test.go", &code)), []);
        assert_eq!(places(&added("pkg/a.go", &code)), [("pkg/a.go".to_owned(), Some(Severity::Question))]);
        let far = code.replace("var key", "\n\n\nvar key");
        assert_eq!(places(&added("pkg/a.go", &far)), [("pkg/a.go".to_owned(), Some(Severity::Blocker))]);
    }

    /// Issue 18: the documentation of a class shows what a key looks like.
    #[test]
    fn a_key_in_a_documentation_comment_is_asked_about() {
        let code: String = pem("\n").lines().map(|line| format!(" * {line}\n")).collect();
        assert_eq!(
            places(&added("src/Held.kt", &format!("/**\n{code} */\n"))),
            [("src/Held.kt".to_owned(), Some(Severity::Question))]
        );
    }

    #[test]
    fn what_cannot_be_used_is_no_key() {
        assert_eq!(count("if line == \"-----BEGIN PRIVATE KEY-----\":\n    return True\n"), 0);
        assert_eq!(count(&pem("\n").replace("qqqq", "...")), 0);
        assert_eq!(count(&pem("\n").replacen("qqqq", "", 1)), 0);
        assert_eq!(count(&pem("\n").replace("MEwCAQAw", "MEwwAgEA")), 0);
        assert_eq!(count(&pem("\n").replacen("-----\n", "-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\n", 1)), 0);
    }

    #[test]
    fn a_diff_may_show_only_the_beginning() {
        let whole = pem("\n");
        let cut = whole.lines().take(2).collect::<Vec<_>>().join("\n");
        assert_eq!(count(&cut), 1);
        assert_eq!(count(whole.lines().next().unwrap()), 0);
    }
}
