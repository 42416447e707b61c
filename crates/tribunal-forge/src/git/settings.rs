//! The configuration file of a person's repository, read by us and not by git.
//!
//! A repository that was unpacked from an archive or lies in a shared folder has a configuration that somebody else wrote, and git's
//! configuration runs programs: filters, ssh commands, monitors, hooks, credential helpers, and more with every release. So git never
//! reads this file. What is known to be harmless is copied into a file of ours ([`super::view`]); all else has no effect.

use super::GitError;
use std::path::Path;

/// Larger than any configuration that a person writes.
const MAX_BYTES: u64 = 1 << 20;

/// Keys that describe the files and the format of a repository. None of them names a program, a host or a path.
const ALLOWED: [&str; 20] = [
    "core.filemode",
    "core.symlinks",
    "core.ignorecase",
    "core.precomposeunicode",
    "core.autocrlf",
    "core.eol",
    "core.trustctime",
    "core.checkstat",
    "core.sparsecheckout",
    "core.sparsecheckoutcone",
    "core.logallrefupdates",
    "core.sharedrepository",
    "core.bigfilethreshold",
    "extensions.objectformat",
    "extensions.refstorage",
    "i18n.commitencoding",
    "index.sparse",
    "index.version",
    "user.email",
    "user.name",
];

/// The same for keys with a name in the middle: what `@{upstream}` is resolved by.
const ALLOWED_NAMED: [(&str, &str); 3] = [("branch", "merge"), ("branch", "remote"), ("remote", "fetch")];

#[derive(Debug, Clone, PartialEq, Eq)]
struct Setting {
    /// In lower case.
    section: String,
    /// As written.
    name: Option<String>,
    /// In lower case.
    key: String,
    /// A key without a value is true.
    value: Option<String>,
}

impl Setting {
    fn is_allowed(&self) -> bool {
        match &self.name {
            None => ALLOWED.contains(&format!("{}.{}", self.section, self.key).as_str()),
            Some(_) => ALLOWED_NAMED.contains(&(self.section.as_str(), self.key.as_str())),
        }
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Settings(Vec<Setting>);

impl Settings {
    /// The settings of a repository, and of one of its work trees where they have their own.
    pub fn of(git_dir: &Path, common_dir: &Path) -> Result<Self, GitError> {
        let mut settings = parse(&read(&common_dir.join("config"))?);
        if is_true(last(&settings, "extensions", None, "worktreeconfig")) {
            settings.extend(parse(&read(&git_dir.join("config.worktree"))?));
        }
        // Newer versions of git take an address there, and keep the refs in the folder that it names.
        let of_refs = settings.iter().filter(|setting| setting.section == "extensions" && setting.key == "refstorage");
        if of_refs.filter_map(|setting| setting.value.as_deref()).any(|value| !matches!(value, "files" | "reftable")) {
            return Err(GitError::Redirected(common_dir.join("config")));
        }
        Ok(Self(settings))
    }

    /// The last value of a key.
    pub fn get(&self, section: &str, key: &str) -> Option<&str> {
        last(&self.0, section, None, key)?.value.as_deref()
    }

    pub fn is_true(&self, section: &str, key: &str) -> bool {
        is_true(last(&self.0, section, None, key))
    }

    /// Every name in the middle of `section.*.key`, with the value.
    pub fn named<'a>(&'a self, section: &'a str, key: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        let found = self.0.iter().filter(move |setting| setting.section == section && setting.key == key);
        found.filter_map(|setting| Some((setting.name.as_deref()?, setting.value.as_deref()?)))
    }

    /// Names of the filters that are defined here.
    pub fn filters(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter(|setting| setting.section == "filter").filter_map(|setting| setting.name.as_deref())
    }

    /// Were files left on the server, to be fetched when they are needed?
    pub fn is_partial_clone(&self) -> bool {
        let of_remote =
            |setting: &Setting| setting.section == "remote" && matches!(setting.key.as_str(), "promisor" | "partialclonefilter");
        self.get("extensions", "partialclone").is_some() || self.0.iter().any(of_remote)
    }

    /// A configuration file with what is allowed, in which the repository has no work tree: who needs one names it.
    pub fn allowed_text(&self) -> String {
        let mut text = "[core]\n\tbare = true\n".to_owned();
        let mut version = 0;
        for setting in self.0.iter().filter(|setting| setting.is_allowed()) {
            version = if setting.section == "extensions" { 1 } else { version };
            text.push_str(&match &setting.name {
                None => format!("[{}]\n", setting.section),
                Some(name) => format!("[{} \"{}\"]\n", setting.section, name.replace('\\', "\\\\").replace('"', "\\\"")),
            });
            text.push_str(&match &setting.value {
                None => format!("\t{}\n", setting.key),
                Some(value) => format!("\t{} = {}\n", setting.key, quoted(value)),
            });
        }
        text.push_str(&format!("[core]\n\trepositoryformatversion = {version}\n"));
        text
    }
}

fn last<'a>(settings: &'a [Setting], section: &str, name: Option<&str>, key: &str) -> Option<&'a Setting> {
    let is_it = |setting: &&Setting| setting.section == section && setting.name.as_deref() == name && setting.key == key;
    settings.iter().rev().find(is_it)
}

fn is_true(setting: Option<&Setting>) -> bool {
    let is_yes = |value: &str| matches!(value.to_ascii_lowercase().as_str(), "true" | "yes" | "on" | "1");
    setting.is_some_and(|setting| setting.value.as_deref().is_none_or(is_yes))
}

fn quoted(value: &str) -> String {
    let mut text = String::from("\"");
    for letter in value.chars() {
        match letter {
            '"' | '\\' => text.extend(['\\', letter]),
            '\n' => text.push_str("\\n"),
            '\t' => text.push_str("\\t"),
            '\u{8}' => text.push_str("\\b"),
            other => text.push(other),
        }
    }
    text.push('"');
    text
}

/// No file is an empty one. What is not a plain file is not opened: it could be a pipe that never ends.
fn read(path: &Path) -> Result<String, GitError> {
    let io = |source| GitError::Io { what: format!("{} cannot be read", path.display()), source };
    let found = match std::fs::metadata(path) {
        Ok(found) => found,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(String::new()),
        Err(error) => return Err(io(error)),
    };
    if !found.is_file() || found.len() > MAX_BYTES {
        return Err(io(std::io::Error::other("it is not a plain file of less than 1 MiB")));
    }
    Ok(String::from_utf8_lossy(&std::fs::read(path).map_err(io)?).into_owned())
}

/// git's format. Where the two readers differ, an allowed key has another value than git would see; no other key comes to life.
fn parse(text: &str) -> Vec<Setting> {
    let mut settings = Vec::new();
    let (mut section, mut name) = (String::new(), None);
    let text = text.trim_start_matches('\u{feff}').replace("\r\n", "\n");
    let mut rest = text.as_str();
    loop {
        rest = rest.trim_start();
        let Some(first) = rest.chars().next() else { return settings };
        match first {
            '#' | ';' => rest = after_line(rest),
            '[' => {
                let Some((head, behind)) = header(&rest[1..]) else { return settings };
                (section, name) = head;
                rest = behind;
            }
            _ => {
                let end = rest.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '-').unwrap_or(rest.len());
                if end == 0 || section.is_empty() {
                    return settings;
                }
                let key = rest[..end].to_ascii_lowercase();
                rest = rest[end..].trim_start_matches([' ', '\t']);
                let value = match rest.strip_prefix('=') {
                    None => None,
                    Some(behind) => {
                        let (value, behind) = value(behind);
                        rest = behind;
                        Some(value)
                    }
                };
                settings.push(Setting { section: section.clone(), name: name.clone(), key, value });
                if settings.last().is_some_and(|setting| setting.value.is_none()) {
                    rest = after_line(rest);
                }
            }
        }
    }
}

fn after_line(text: &str) -> &str {
    text.find('\n').map_or("", |end| &text[end + 1..])
}

/// `section]`, `section "name"]` or, as in old files, `section.name]`.
fn header(text: &str) -> Option<((String, Option<String>), &str)> {
    let end = text.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '-' && letter != '.')?;
    let (section, rest) = text.split_at(end);
    let rest = rest.trim_start_matches([' ', '\t']);
    if let Some(behind) = rest.strip_prefix(']') {
        let lower = section.to_ascii_lowercase();
        return Some(match lower.split_once('.') {
            None => ((lower, None), behind),
            Some((section, name)) => ((section.to_owned(), Some(name.to_owned())), behind),
        });
    }
    let mut name = String::new();
    let mut letters = rest.strip_prefix('"')?.char_indices();
    let inside = rest.strip_prefix('"')?;
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return Some(((section.to_ascii_lowercase(), Some(name)), inside[at + 1..].trim_start().strip_prefix(']')?)),
            '\\' => name.push(letters.next()?.1),
            '\n' => return None,
            other => name.push(other),
        }
    }
    None
}

/// A value to the end of its line, with quotes, escapes and comments; and what stands behind it.
fn value(text: &str) -> (String, &str) {
    let mut value = String::new();
    let (mut in_quotes, mut kept) = (false, 0);
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\n' => return (trimmed(value, kept), &text[at + 1..]),
            '"' => {
                in_quotes = !in_quotes;
                kept = value.len();
            }
            '\\' => match letters.next().map(|(_, letter)| letter) {
                Some('\n') => {}
                Some(escaped) => {
                    value.push(match escaped {
                        'n' => '\n',
                        't' => '\t',
                        'b' => '\u{8}',
                        other => other,
                    });
                    kept = value.len();
                }
                None => return (trimmed(value, kept), ""),
            },
            '#' | ';' if !in_quotes => return (trimmed(value, kept), after_line(&text[at..])),
            ' ' | '\t' if !in_quotes && value.is_empty() && kept == 0 => {}
            other => {
                value.push(other);
                kept = if in_quotes || !other.is_whitespace() { value.len() } else { kept };
            }
        }
    }
    (trimmed(value, kept), "")
}

fn trimmed(mut value: String, kept: usize) -> String {
    value.truncate(kept);
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Vec<(String, Option<String>)> {
        let name = |setting: &Setting| match &setting.name {
            None => format!("{}.{}", setting.section, setting.key),
            Some(name) => format!("{}.{name}.{}", setting.section, setting.key),
        };
        parse(text).iter().map(|setting| (name(setting), setting.value.clone())).collect()
    }

    #[test]
    fn the_format_is_read_as_git_reads_it() {
        let text = "# a comment\n[core]\n\tbare = false ; why\n\tFileMode\n[remote \"o\\\"r\"] url = \"a # b\" c\\\n d\n\
                    [Branch.Old]\nmerge=refs/heads/x\n[user]\n\tname =  Ada  Lovelace  \n";
        let expected = [
            ("core.bare", Some("false")),
            ("core.filemode", None),
            ("remote.o\"r.url", Some("a # b c d")),
            ("branch.old.merge", Some("refs/heads/x")),
            ("user.name", Some("Ada  Lovelace")),
        ];
        let expected: Vec<_> = expected.into_iter().map(|(key, value)| (key.to_owned(), value.map(str::to_owned))).collect();
        assert_eq!(all(text), expected);
    }

    /// Issue 16, point 9: nothing but what is listed as harmless is passed on, however it is written.
    #[test]
    fn only_what_is_allowed_is_passed_on() {
        let text = "[core]\n\tautocrlf = true\n\tfsmonitor = /evil\n\tworktree = /home\n\tsshCommand = /evil\n\
                    [filter \"x\"]\n\tclean = /evil\n[include]\n\tpath = /evil\n[user]\n\tname = \"A\\n[core]\\nfsmonitor=/evil\"\n\
                    [branch \"x\\\\\\\"]\\n[core]\"]\n\tmerge = refs/heads/main\n[remote \"o\"]\n\turl = ext::evil\n\tfetch = +a:b\n";
        let settings = Settings(parse(text));
        let passed = Settings(parse(&settings.allowed_text()));
        let mut keys: Vec<String> = all(&settings.allowed_text()).into_iter().map(|(key, _)| key).collect();
        keys.sort();
        keys.dedup();
        let expected = [
            "branch.x\\\"]n[core].merge",
            "core.autocrlf",
            "core.bare",
            "core.repositoryformatversion",
            "remote.o.fetch",
            "user.name",
        ];
        assert_eq!(keys, expected);
        assert_eq!(passed.get("user", "name"), Some("A\n[core]\nfsmonitor=/evil"));
        assert_eq!(settings.filters().collect::<Vec<_>>(), ["x"]);
    }

    /// Issue 16, point 9: refs are kept in the repository itself.
    #[test]
    fn refs_are_kept_nowhere_else() {
        let folder = tempfile::tempdir().unwrap();
        let read = |value: &str| {
            let text = format!("[core]\n\trepositoryformatversion = 1\n[extensions]\n\trefStorage = {value}\n");
            std::fs::write(folder.path().join("config"), text).unwrap();
            Settings::of(folder.path(), folder.path())
        };
        assert!(read("files").is_ok() && read("reftable").is_ok());
        for elsewhere in ["files:///home/ada/.git", "reftable://../other", "\"\""] {
            assert!(matches!(read(elsewhere), Err(GitError::Redirected(_))), "{elsewhere}");
        }
    }
}
