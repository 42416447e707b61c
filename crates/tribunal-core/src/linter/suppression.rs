//! What a change does to keep a linter from saying something: comments such as `# noqa` in lines that it adds, and files from which a
//! linter takes its settings.
//!
//! Which results such a comment suppresses is the linter's own affair. So it is run twice: over the files as they are, and over a copy
//! in which the comments that the change adds are blanked out. What it says only the second time is what the change suppresses.
//! Comments that stood there before the change are obeyed.

use super::built_in;
use super::output::LinterResult;
use super::profile::{Names, Profile};
use crate::diff::change::{Change, ChangedFile, FileStatus};
use crate::diff::language::Language;
use crate::findings::report::Claim;
use crate::findings::silenced::Silenced;
use crate::ids::RepoPath;
use regex::{Captures, Regex};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::OnceLock;

/// Comments and attributes that make linters silent which have no profile.
const OF_OTHERS: &[&str] = &[
    r"\b(NOSONAR)",
    r"(checkov:skip|tfsec:ignore|trivy:ignore|kics-scan)",
    r"(phpstan-ignore|psalm-suppress|phpcs:ignore|phpcs:disable)",
    r"(swiftlint:disable|tslint:disable|credo:disable)",
    r"(deno-lint-ignore|standard-disable|jshint ignore|ts-nocheck|ts-ignore|ts-expect-error)",
    r"#pragma\s+warning\s+(disable)",
    r"//\s*(ReSharper\s+disable|noinspection)",
    r"\bSuppressFBWarnings\b([^)]*)",
    r"(pragma:\s*allowlist)",
    r"#.*(pyright|pyre-ignore|pyre-fixme|pytype):?",
];

/// Attributes that cannot be blanked out: without them the code does not compile, or means something else.
const STAYING: &str = r"#\s*!?\s*\[\s*(?:allow|expect|cfg_attr)\b";

/// The comments and attributes that make a linter silent.
#[derive(Debug)]
pub struct Suppressions(Vec<Regex>);

impl Suppressions {
    pub fn of(profile: &Profile) -> Result<Self, String> {
        // An expression that is wrong in the other lists is reported here as well: a profile is checked whole.
        PassedOver::of(profile)?;
        Self::new(profile.suppressed_by.iter().map(String::as_str))
    }

    /// Those of every linter with a profile and of others, for a program of which only its output is known.
    pub fn of_any() -> Result<Self, String> {
        let all = built_in::all().values().flat_map(|profile| profile.suppressed_by.iter().map(String::as_str));
        let all: BTreeSet<&str> = all.chain(OF_OTHERS.iter().copied()).collect();
        Self::new(all.into_iter())
    }

    fn new<'a>(patterns: impl Iterator<Item = &'a str>) -> Result<Self, String> {
        let patterns = patterns.map(|pattern| match Regex::new(pattern) {
            Ok(regex) if regex.captures_len() == 2 => Ok(regex),
            Ok(_) => Err(format!("`{pattern}` needs one group: what has to be blanked out")),
            Err(error) => Err(error.to_string()),
        });
        Ok(Suppressions(patterns.collect::<Result<_, _>>()?))
    }

    /// The text of a file without what the change suppresses in it; nothing if there is nothing of that. No column moves.
    pub fn blanked(&self, file: &ChangedFile) -> Option<String> {
        let (text, added) = (file.new_text.as_deref()?, file.added_numbers());
        // What ends a suppression ends it no longer, or the whole file came from where it stood for something else.
        let is_widened = matches!(file.status, FileStatus::Renamed | FileStatus::Copied)
            || file.removed_lines().any(|line| ends_a_suppression(&line.text));
        let mut is_changed = false;
        let lines = text.split_inclusive('\n').zip(1..).map(|(line, number)| {
            // A comment of its own line speaks of the next one.
            if !(is_widened || added.contains(number) || added.contains(number + 1)) {
                return Cow::Borrowed(line);
            }
            let blanked = self.blanked_line(line);
            is_changed |= blanked != line;
            blanked
        });
        let text: String = lines.collect();
        is_changed.then_some(text)
    }

    /// The files to which the change adds suppressions, without these.
    pub fn blanked_files(&self, change: &Change) -> Vec<(RepoPath, String)> {
        change.files.iter().filter_map(|file| Some((file.path.clone(), self.blanked(file)?))).collect()
    }

    /// The first line with one that the change adds to a file.
    fn first_in(&self, file: &ChangedFile) -> Option<u32> {
        file.added_lines().find(|line| self.0.iter().any(|pattern| pattern.is_match(&line.text)))?.new_line
    }

    fn blanked_line<'a>(&self, line: &'a str) -> Cow<'a, str> {
        self.0.iter().fold(Cow::Borrowed(line), |line, pattern| {
            match pattern.replace_all(&line, |found: &Captures<'_>| blank(found)) {
                Cow::Borrowed(_) => line,
                Cow::Owned(blanked) => Cow::Owned(blanked),
            }
        })
    }
}

/// `eslint-enable`, `NOLINTEND` and their like.
fn ends_a_suppression(line: &str) -> bool {
    let line = line.to_ascii_lowercase();
    let words = ["-enable", "nolintend", "ignore-end", "suppress-end", "lint:enable", "lint: enable", "lint enable"];
    words.iter().chain(&["rubocop:enable", "rubocop: enable", "ruff:enable", "ruff: enable"]).any(|word| line.contains(word))
}

/// The match with the letters of its group replaced by underscores. What was a name is one still, and signs between names stay: where the
/// text is code after all, it parses as before.
fn blank(found: &Captures<'_>) -> String {
    let (Some(whole), Some(group)) = (found.get(0), found.get(1)) else { return found[0].to_owned() };
    let (before, after) = (&whole.as_str()[..group.start() - whole.start()], &whole.as_str()[group.end() - whole.start()..]);
    let group: String = group.as_str().chars().map(|letter| if letter.is_ascii_alphanumeric() { '_' } else { letter }).collect();
    format!("{before}{group}{after}")
}

/// What was said of the copy without the change's suppressions and not of the files as they are.
pub fn only_without<'a>(without: &'a [LinterResult], with: &[LinterResult]) -> Vec<&'a LinterResult> {
    let place = |result: &LinterResult| (result.file.clone(), result.lines, result.rule.clone());
    let said: BTreeSet<_> = with.iter().map(place).collect();
    without.iter().filter(|result| !said.contains(&place(result))).collect()
}

/// The files of which nobody knows what a linter would say without the change's suppressions, where its results are all that we have and
/// name nothing that is suppressed there.
pub fn unread(suppressions: &Suppressions, change: &Change, suppressed: &[Claim]) -> Vec<Silenced> {
    let unknown = change.files.iter().filter(|file| !suppressed.iter().any(|claim| claim.file == file.path));
    unknown.filter_map(|file| Some(Silenced::unread(&file.path, suppressions.first_in(file)?))).collect()
}

/// Where the change adds attributes that suppress something and cannot be blanked out.
pub fn staying(change: &Change) -> Result<Vec<Silenced>, String> {
    let pattern = Regex::new(STAYING).map_err(|error| error.to_string())?;
    Ok(change.files.iter().filter_map(|file| Some(Silenced::unread(&file.path, first_match(&pattern, file)?))).collect())
}

/// The line of the first match, over several lines or in one, that the change has written a part of.
fn first_match(pattern: &Regex, file: &ChangedFile) -> Option<u32> {
    let Some(text) = file.new_text.as_deref() else {
        return file.added_lines().find(|line| pattern.is_match(&line.text))?.new_line;
    };
    let added = file.added_numbers();
    let (mut line, mut end) = (1, 0);
    for found in pattern.find_iter(text) {
        line += line_ends(&text[end..found.start()]);
        let first = line;
        line += line_ends(found.as_str());
        end = found.end();
        if (first..=line).any(|line| added.contains(line)) {
            return Some(first);
        }
    }
    None
}

fn line_ends(text: &str) -> u32 {
    u32::try_from(text.bytes().filter(|byte| *byte == b'\n').count()).unwrap_or(u32::MAX)
}

/// Why no linter can be relied upon to read this text as it was reviewed: it counts lines in another way, or decodes it in another way.
pub fn is_read_otherwise(path: &RepoPath, text: &str) -> bool {
    let bytes = text.as_bytes();
    let lone_return = bytes.iter().zip(bytes.iter().skip(1).chain([&0])).any(|(byte, next)| *byte == b'\r' && *next != b'\n');
    lone_return
        || text.contains(['\u{2028}', '\u{2029}'])
        || Language::of(path).is_some_and(|language| has_odd_encoding(language, text))
}

/// Whether Python or Ruby decodes this text, as its first two lines say, into other characters than those that stand there.
pub fn has_odd_encoding(language: Language, text: &str) -> bool {
    let start = text.strip_prefix('\u{feff}').unwrap_or(text);
    let is_ascii = start.is_ascii();
    let mut names = start.lines().take(2).filter_map(|line| declared_encoding(language, line));
    match language {
        Language::Python => names.any(|name| !(is_plain(&name) || is_ascii && READ_ASCII.contains(&name.as_str()))),
        // Ruby refuses an encoding that reads ASCII as anything else.
        Language::Ruby => !is_ascii && names.any(|name| !is_plain(&name)),
        _ => false,
    }
}

/// Encodings whose second byte of a character may be one of ASCII, such as a quotation mark or a backslash. Text of ASCII alone they read as
/// it stands.
const READ_ASCII: [&str; 9] = ["cp932", "cp936", "cp949", "cp950", "gbk", "gb18030", "big5", "shift-jis", "sjis"];

/// Whether an encoding reads each sign of ASCII as that sign, and nothing else as one.
fn is_plain(name: &str) -> bool {
    const PLAIN: [&str; 19] = [
        "utf-8",
        "utf8",
        "utf-8-sig",
        "u8",
        "ascii",
        "us-ascii",
        "latin-1",
        "latin1",
        "latin-2",
        "latin2",
        "cp437",
        "cp850",
        "cp852",
        "cp866",
        "gb2312",
        "tis-620",
        "ascii-8bit",
        "binary",
        "l1",
    ];
    const FAMILIES: [&str; 7] = ["iso-8859-", "iso8859-", "cp125", "windows-125", "koi8-", "euc-", "mac-"];
    // They read some high bytes as signs of ASCII that are written from right to left.
    const ODD: [&str; 2] = ["mac-arabic", "mac-farsi"];
    let is_of_family = FAMILIES.iter().any(|start| name.starts_with(start)) && !ODD.contains(&name);
    PLAIN.contains(&name) || is_of_family || name.starts_with("utf-8-")
}

fn declared_encoding(language: Language, line: &str) -> Option<String> {
    static OF_PYTHON: OnceLock<Option<Regex>> = OnceLock::new();
    static OF_RUBY: OnceLock<Option<Regex>> = OnceLock::new();
    // Both take the first `coding` that a name follows; Ruby lets it be in capitals, apart from its sign and in quotation marks.
    let declared = match language {
        Language::Ruby => OF_RUBY.get_or_init(|| Regex::new(r#"^\s*#.*?(?i:coding)\s*[:=]\s*["']?([-_.a-zA-Z0-9]+)"#).ok()),
        _ => OF_PYTHON.get_or_init(|| Regex::new(r"^[ \t\x0c]*#.*?coding[:=][ \t]*([-_.a-zA-Z0-9]+)").ok()),
    };
    let captures = declared.as_ref()?.captures(line)?;
    Some(captures[1].to_ascii_lowercase().replace('_', "-"))
}

/// Files that a linter may leave out without a word because of what the change wrote into them.
pub struct PassedOver {
    names: Names,
    lines: Vec<Regex>,
}

impl PassedOver {
    pub fn of(profile: &Profile) -> Result<Self, String> {
        let lines = profile.passes_over.lines.iter().map(|line| Regex::new(line).map_err(|error| error.to_string()));
        Ok(PassedOver { names: Names::new(&profile.passes_over.names)?, lines: lines.collect::<Result<_, _>>()? })
    }

    /// With the line that is the reason.
    pub fn find(&self, file: &ChangedFile) -> Option<Silenced> {
        let by_line = || file.added_lines().find(|line| self.lines.iter().any(|pattern| pattern.is_match(&line.text)));
        let line = if self.names.contains(&file.path) { 1 } else { by_line()?.new_line? };
        Some(Silenced::unread(&file.path, line))
    }
}

/// Names of files that some linter takes its settings from, and of files that say how linters are started.
pub struct Settings {
    all: Names,
    manifests: Names,
}

/// Beside those that the profiles name.
const OF_OTHER_LINTERS: &[&str] = &[
    "clippy.toml",
    ".clippy.toml",
    "rustfmt.toml",
    "phpstan.neon*",
    "psalm.xml*",
    "phpcs.xml*",
    ".phpcs.xml*",
    ".checkov.y*ml",
    ".tfsec*",
    ".trivyignore*",
    ".swiftlint.yml",
    "tslint.json",
    ".jshintrc",
    ".ignore",
    ".pre-commit-config.yaml",
    "detekt.yml",
    ".spectral.*",
    ".ansible-lint",
    ".yamlignore",
    "spotbugs*.xml",
    "checkstyle*.xml",
    ".scalafix.conf",
    ".credo.exs",
    "pyrightconfig.json",
    ".pyre_configuration",
    "sonar-project.properties",
];

/// Files that also say what a program is built from: the base's may not fit the change.
const MANIFESTS: &[&str] = &[
    "package.json",
    "Makefile",
    "makefile",
    "GNUmakefile",
    "Taskfile.y*ml",
    "justfile",
    ".justfile",
    "noxfile.py",
    "tox.ini",
    "setup.cfg",
    "pyproject.toml",
    "Cargo.toml",
    "**/.cargo/config.toml",
    "**/.cargo/config",
    "deno.json*",
];

impl Settings {
    pub fn of_any() -> Result<Self, String> {
        let profiles = built_in::all().values().flat_map(|profile| profile.config.base.iter().chain(&profile.config.never));
        let others = OF_OTHER_LINTERS.iter().chain(MANIFESTS).map(|name| (*name).to_owned());
        let names: BTreeSet<String> = profiles.cloned().chain(others).collect();
        let manifests: Vec<String> = MANIFESTS.iter().map(|name| (*name).to_owned()).collect();
        Ok(Settings { all: Names::at_any_depth(names.iter().map(String::as_str))?, manifests: Names::new(&manifests)? })
    }

    pub fn contains(&self, path: &RepoPath) -> bool {
        self.all.contains(path)
    }

    /// Those that the change touches.
    pub fn changed<'c>(&self, change: &'c Change) -> Vec<&'c ChangedFile> {
        let is_setting =
            |file: &&ChangedFile| self.contains(&file.path) || file.old_path.as_ref().is_some_and(|old| self.contains(old));
        change.files.iter().filter(is_setting).collect()
    }

    pub fn is_manifest(&self, file: &ChangedFile) -> bool {
        self.manifests.contains(&file.path)
    }
}

#[cfg(test)]
mod tests;
