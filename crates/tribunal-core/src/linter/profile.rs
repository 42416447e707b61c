//! What is known of one linter: how it is run and how its output is read.

use super::suppression::Suppressions;
use super::triage::{Triage, TriageTable, find};
use crate::ids::{RepoPath, RoleName};
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use serde::Deserialize;
use std::collections::BTreeMap;

/// `linters/NAME.toml`
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// One line: what it looks for.
    pub about: String,
    /// Its name on the PATH.
    pub program: String,
    /// How a person installs it. It is never installed by us.
    pub install: String,
    /// The version that was run for real, if one was.
    #[serde(default)]
    pub tried: Option<String>,
    /// The role that `tribunal init` proposes it for.
    pub role: RoleName,
    /// The changed files that it is given.
    pub files: Vec<String>,
    #[serde(default)]
    pub tree: Tree,
    /// It imports or runs code by names that stand in the files that it reads, from the folder that they lie in. So its files are given to it
    /// under names that nothing can import.
    #[serde(default)]
    pub imports_its_files: bool,
    /// Regular expressions for the comments and attributes that make it silent about a line or a file. The first group is what has to be
    /// blanked out for it to speak. No profile may forget them: a linter without any has an empty list.
    pub suppressed_by: Vec<String>,
    /// Rules by which it says that it could not look at a file. A name may end in `*`.
    #[serde(default)]
    pub unread_rules: Vec<String>,
    #[serde(default)]
    pub passes_over: PassesOver,
    /// Arguments. `{files}` and `{folders}` stand for all files and their folders, `{config}` for the arguments of its configuration,
    /// `{own}` for the folder of its `own` files, `{output}` for the file that it writes.
    pub args: Vec<String>,
    /// What stands before each file name, where a bare name would be taken for a pattern.
    #[serde(default)]
    pub file_prefix: String,
    #[serde(default)]
    pub exit: Exit,
    /// Arguments that make it say its version.
    #[serde(default = "usual_version")]
    pub version: Vec<String>,
    /// Variables. `{own}` stands for the folder of its `own` files.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Files that it is given from us: name → content.
    #[serde(default)]
    pub own: BTreeMap<String, String>,
    #[serde(default)]
    pub config: ConfigUse,
    /// What shows that a repository uses it: a file, or `FILE: TEXT` for a file that holds a text.
    #[serde(default)]
    pub signs: Vec<String>,
    pub output: Output,
    /// Rule → category and weight.
    #[serde(default)]
    pub rules: TriageTable,
    /// The same by the level that the linter gives, for rules that `rules` does not name.
    #[serde(default)]
    pub levels: TriageTable,
    pub sample: Sample,
}

fn usual_version() -> Vec<String> {
    vec!["--version".to_owned()]
}

/// What it is given to read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tree {
    /// The changed files alone.
    #[default]
    Changed,
    /// The whole tree of the head: it resolves names across files.
    Whole,
}

/// Files that it may leave out without a word, such as those of another operating system.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PassesOver {
    /// By name.
    #[serde(default)]
    pub names: Vec<String>,
    /// By a line in them: regular expressions.
    #[serde(default)]
    pub lines: Vec<String>,
}

/// How exit codes are read. Every other code means that it did not look.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exit {
    /// It looked.
    pub clean: Vec<i32>,
    /// It looked and printed at least one result. Without one, its output was not understood.
    pub found: Vec<i32>,
}

impl Default for Exit {
    fn default() -> Self {
        Exit { clean: vec![0], found: vec![1] }
    }
}

/// Which configuration it reads. The change's own never counts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConfigUse {
    /// Names of files that are pure data for this linter: those of the base are put where they stand there.
    #[serde(default)]
    pub base: Vec<String>,
    /// Further names that it obeys, and that are kept out of what it sees.
    #[serde(default)]
    pub never: Vec<String>,
    /// The arguments where the base has such a file; `{path}` is the one nearest to the top.
    #[serde(default)]
    pub with: Vec<String>,
    /// The arguments where it has none.
    #[serde(default)]
    pub without: Vec<String>,
    /// It cannot look without one.
    #[serde(default)]
    pub required: bool,
}

/// What it prints.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Output {
    pub format: Format,
    #[serde(default)]
    pub stream: Stream,
    /// Where it finds nothing, it writes nothing, not even an empty list.
    #[serde(default)]
    pub empty_if_clean: bool,
    /// JSON pointers from one list to the next, outermost first.
    #[serde(default)]
    pub each: Vec<String>,
    /// JSON pointers within an element, looked for in the innermost element first.
    #[serde(default)]
    pub file: String,
    #[serde(default)]
    pub line: String,
    #[serde(default)]
    pub end_line: String,
    #[serde(default)]
    pub rule: String,
    #[serde(default)]
    pub level: String,
    #[serde(default)]
    pub message: String,
    #[serde(default)]
    pub help: String,
    /// A JSON pointer to what is empty unless it could not look at something.
    #[serde(default)]
    pub failed: String,
    /// `format = "lines"`: a regular expression with the groups `file`, `line`, `rule`, `message` and, if there are, `level` and
    /// `end_line`.
    #[serde(default)]
    pub pattern: String,
    /// The part of a rule's name that counts: the first group.
    #[serde(default)]
    pub rule_pattern: String,
    /// What stands before a rule's name.
    #[serde(default)]
    pub rule_prefix: String,
    /// The name for a result without a rule: usually a file that cannot be parsed.
    #[serde(default = "usual_rule")]
    pub no_rule: String,
    #[serde(default)]
    pub fix: Option<FixPointers>,
}

fn usual_rule() -> String {
    "syntax-error".to_owned()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    Json,
    /// A JSON value on each line.
    JsonLines,
    Lines,
    Sarif,
}

impl Format {
    pub fn word(self) -> &'static str {
        match self {
            Format::Json => "JSON",
            Format::JsonLines => "JSON lines",
            Format::Lines => "text lines",
            Format::Sarif => "SARIF",
        }
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stream {
    #[default]
    Stdout,
    Stderr,
    /// The file `{output}`.
    File,
}

/// Where a JSON result carries its fix.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FixPointers {
    /// A list of edits, or one edit.
    pub edits: String,
    pub text: String,
    /// Offsets of the edit in the file, in UTF-16 units.
    #[serde(default)]
    pub start: String,
    #[serde(default)]
    pub end: String,
    /// Or lines and columns, counted from 1; the end is behind the last character.
    #[serde(default)]
    pub line: String,
    #[serde(default)]
    pub column: String,
    #[serde(default)]
    pub end_line: String,
    #[serde(default)]
    pub end_column: String,
    /// `always`, or `POINTER=VALUE`. A fix that the linter does not call safe is described and not offered for one click.
    #[serde(default)]
    pub safe: String,
}

/// A file that it must find something in: what `tribunal agents test` and `tribunal init` try.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sample {
    pub path: RepoPath,
    pub text: String,
    pub rule: String,
    /// Further files that it needs there.
    #[serde(default)]
    pub beside: BTreeMap<RepoPath, String>,
}

impl Profile {
    pub fn parse(text: &str) -> Result<Self, String> {
        let profile: Profile = toml::from_str(text).map_err(|error| error.message().to_owned())?;
        profile.check()?;
        Ok(profile)
    }

    fn check(&self) -> Result<(), String> {
        self.selection()?;
        Suppressions::of(self)?;
        for pattern in [&self.output.pattern, &self.output.rule_pattern] {
            regex::Regex::new(pattern).map_err(|error| error.to_string())?;
        }
        if self.imports_its_files && self.tree == Tree::Whole {
            return Err("a tool that imports its files cannot be given a whole tree: there they have their names".into());
        }
        let needs = match self.output.format {
            Format::Json | Format::JsonLines => [&self.output.file, &self.output.line, &self.output.message],
            Format::Lines => [&self.output.pattern; 3],
            Format::Sarif => return Ok(()),
        };
        if needs.iter().any(|needed| needed.is_empty()) {
            return Err("its output cannot be read: file, line and message, or a pattern, are missing".into());
        }
        Ok(())
    }

    /// Could its output say something else than that it speaks of this file?
    pub fn cannot_name(&self, path: &RepoPath) -> bool {
        let is_split = self.output.format == Format::Lines && path.as_str().contains(':');
        is_split || path.as_str().contains('\\') || path.as_str().chars().any(char::is_control)
    }

    /// Does it say by this rule that it could not look?
    pub fn is_unread_rule(&self, rule: &str) -> bool {
        self.unread_rules.iter().any(|known| match known.strip_suffix('*') {
            Some(start) => rule.starts_with(start),
            None => rule == known,
        })
    }

    pub fn selection(&self) -> Result<Selection, String> {
        Ok(Selection {
            files: Names::new(&self.files)?,
            base: Names::new(&self.config.base)?,
            obeyed: Names::at_any_depth(
                self.config.base.iter().chain(&self.config.never).map(String::as_str).chain(OBEYED_BY_ANY),
            )?,
            obeyed_in_a_tree: Names::at_any_depth(OBEYED_IN_A_TREE)?,
        })
    }

    /// Category and weight of a rule. `own` is the table of the person who runs it.
    pub fn triage(&self, own: &TriageTable, rule: &str, level: Option<&str>) -> Triage {
        let by_level = || level.and_then(|level| find(&self.levels, level));
        let found = find(own, rule).or_else(|| find(&self.rules, rule)).or_else(by_level);
        found.cloned().unwrap_or_else(Triage::unknown)
    }
}

/// Which files a linter is given.
#[derive(Debug, Clone)]
pub struct Selection {
    files: Names,
    base: Names,
    obeyed: Names,
    obeyed_in_a_tree: Names,
}

/// What the program behind a linter's name may obey, whatever the linter is: version managers put a program of their own under its name, and
/// choose by these files what to run; Node takes plugins and formatters from `node_modules` of the folder that it runs in; a build tool asks
/// the version control whose folder it sees, and that runs what its settings there name.
const OBEYED_BY_ANY: [&str; 40] = [
    ".tool-versions",
    ".python-version",
    ".node-version",
    ".nvmrc",
    ".ruby-version",
    ".ruby-gemset",
    ".rvmrc",
    ".rbenv-vars",
    ".rbenv-gemsets",
    ".go-version",
    ".java-version",
    ".sdkmanrc",
    ".php-version",
    ".perl-version",
    ".lua-version",
    ".swift-version",
    ".terraform-version",
    ".terragrunt-version",
    ".opentofu-version",
    ".asdfrc",
    ".prototools",
    "mise.toml",
    "mise.*.toml",
    ".mise.toml",
    ".mise.*.toml",
    ".rtx.toml",
    "mise/config*.toml",
    ".mise/**",
    ".config/mise.toml",
    ".config/mise/**",
    "rust-toolchain",
    "rust-toolchain.toml",
    "node_modules/**",
    ".git/**",
    ".hg/**",
    ".svn/**",
    ".bzr/**",
    ".jj/**",
    ".fslckout",
    "_FOSSIL_",
];
/// Files of a shell, which no linter is run by. Out of a whole tree they are taken all the same; where one is what changed, a scanner for
/// secrets is to read it.
const OBEYED_IN_A_TREE: [&str; 1] = [".envrc"];

impl Selection {
    /// Is a changed file given to it?
    pub fn looks_at(&self, path: &RepoPath) -> bool {
        self.files.contains(path) && !self.obeys(path)
    }

    /// Would it be given a file of this name, if it did not obey it?
    pub fn is_withheld(&self, path: &RepoPath) -> bool {
        self.files.contains(path) && self.obeys(path)
    }

    /// Would it take orders from a file of this name?
    pub fn obeys(&self, path: &RepoPath) -> bool {
        self.obeyed.contains(path)
    }

    /// Is it taken out of a whole tree?
    pub fn obeys_in_a_tree(&self, path: &RepoPath) -> bool {
        self.obeys(path) || self.obeyed_in_a_tree.contains(path)
    }

    pub fn is_base_config(&self, path: &RepoPath) -> bool {
        self.base.contains(path)
    }
}

/// Patterns of file names. One without a slash fits a name in any folder. Case does not count: on some systems it does not either.
#[derive(Debug, Clone)]
pub(super) struct Names {
    names: GlobSet,
    paths: GlobSet,
}

impl Names {
    pub(super) fn new(patterns: &[String]) -> Result<Self, String> {
        let set = |is_path: bool| {
            let mut set = GlobSetBuilder::new();
            for pattern in patterns.iter().filter(|pattern| pattern.contains('/') == is_path) {
                let glob = GlobBuilder::new(pattern).case_insensitive(true).literal_separator(true).build();
                set.add(glob.map_err(|error| error.to_string())?);
            }
            set.build().map_err(|error| error.to_string())
        };
        Ok(Names { names: set(false)?, paths: set(true)? })
    }

    /// A pattern with a slash fits below any folder too, and one for all that is in a folder fits the folder itself: it may be a link.
    pub(super) fn at_any_depth<'p>(patterns: impl IntoIterator<Item = &'p str>) -> Result<Self, String> {
        let mut all = Vec::new();
        for pattern in patterns {
            match pattern.trim_start_matches("**/") {
                name if !name.contains('/') => all.push(name.to_owned()),
                path => all.push(format!("**/{path}")),
            }
            if let Some(folder) = pattern.strip_suffix("/**") {
                all.push(format!("**/{}", folder.trim_start_matches("**/")));
            }
        }
        Names::new(&all)
    }

    pub(super) fn contains(&self, path: &RepoPath) -> bool {
        let name = path.as_str().rsplit('/').next().unwrap_or_default();
        self.names.is_match(name) || self.paths.is_match(path.as_str())
    }
}
