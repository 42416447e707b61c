//! The format of one rule file: what it looks for, how the finding reads, and the examples that prove it.

use super::flow::entry::FlowRule;
use super::object::RuleObject;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use tribunal_core::diff::language::Language;
use tribunal_core::findings::scale::{Blast, Confidence, Justification, Severity};
use tribunal_core::ids::CategoryCode;

/// One rule. Exactly one of `rule`, `flow`, `lines` and `check` says how it finds.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Tribunal rule file, version 1")]
pub struct RuleFile {
    /// Kebab case and unique; the file is called `<id>.yml`.
    pub id: String,
    /// Grammars that `rule` or `flow` is matched under. Empty for `lines` and `check` rules.
    #[serde(default)]
    pub languages: Vec<Language>,
    pub category: CategoryCode,
    pub severity: Severity,
    pub confidence: Confidence,
    pub blast: Blast,
    pub justification: Justification,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reversible: Option<bool>,
    /// Severity in tests, samples, documentation and translations, where the same thing does less harm. Without it, a question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test_severity: Option<Severity>,
    /// One short line that names the problem.
    pub title: String,
    /// One line: what breaks if this ships.
    pub failure_mode: String,
    /// One line: the fix.
    pub mitigation: String,
    /// When to worry and when not: shown on the rule's page and in `tribunal explain`.
    pub about: String,
    /// Says nothing of a line of which a more particular rule of its category has spoken.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub general: bool,
    /// Says nothing of a line whose address leads to a script of the same repository.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub foreign_only: bool,
    /// What to do with test code.
    #[serde(default)]
    pub tests: TestCode,
    /// Globs of paths the rule looks at; all if empty.
    #[serde(default)]
    pub files: Vec<String>,
    /// Globs of paths it leaves alone.
    #[serde(default)]
    pub ignores: Vec<String>,
    /// Codes of other linters for the same problem. A line that suppresses one of them has been thought about and is left alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub suppressed_by: Vec<String>,
    /// Where the lines that the change took away right there match this, it only rewrites what stood there: silent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unless_removed: Option<String>,

    /// An ast-grep rule object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<RuleObject>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub constraints: Option<RuleObject>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub utils: Option<RuleObject>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transform: Option<RuleObject>,
    /// Meta variable (without `$`) whose node is the evidence, where the whole match is too wide.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub focus: Option<String>,
    /// Template for the matched node; for `lines`, for the matched text. Only where applying it unread is safe.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
    /// The same where a choice is left: it is shown, and nobody applies it unattended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offer: Option<String>,
    /// Import statements that `fix` or `offer` needs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub imports: Vec<String>,
    /// Several ways, tried before `fix` and `offer`: the first that fits is taken.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fixes: Vec<FixCase>,

    /// Follows untrusted data from its sources to where it must not arrive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<FlowRule>,

    /// Regular expressions over single added lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<LineRule>,

    /// A check of the whole diff that is written in Rust, by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<String>,

    pub examples: Examples,
}

impl RuleFile {
    /// It needs the parsed file, and speaks only its `languages`.
    pub fn needs_syntax(&self) -> bool {
        self.rule.is_some() || self.flow.is_some()
    }
}

/// A fix for some of the code that a rule matches. Exactly one of `fix` and `offer` is given.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FixCase {
    /// An ast-grep rule object that the matched node must fit. It shares the meta variables and `utils` of the rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<RuleObject>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub constraints: Option<RuleObject>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transform: Option<RuleObject>,
    /// Meta variable (without `$`) whose node is replaced instead of the matched one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaces: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offer: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub imports: Vec<String>,
    /// Other nodes that are replaced with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<AlsoReplaced>,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AlsoReplaced {
    /// Meta variable (without `$`) whose node is replaced.
    pub replaces: String,
    /// The template; empty deletes.
    pub with: String,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TestCode {
    /// Test code is left alone.
    #[default]
    Skip,
    /// Only test code is looked at.
    Only,
    /// Test code is code.
    Include,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LineRule {
    /// The line must match one of these. A group called `secret` is the value that `unless_value` and `entropy` look at; else the whole match.
    pub any: Vec<String>,
    /// A line that matches one of these is left alone.
    #[serde(default)]
    pub unless: Vec<String>,
    /// A value that matches one of these is left alone, whatever stands beside it on the line.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unless_value: Vec<String>,
    /// A line that matches one of these is asked about instead: it may be meant.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub question: Vec<String>,
    /// The match must carry at least this many bits per character (Shannon).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entropy: Option<f64>,
    /// Lines with one of these words (case-insensitive) are the only ones tried: keeps large diffs cheap.
    #[serde(default)]
    pub keywords: Vec<String>,
    /// Only the first line of a file is reported: the others say the same.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub once: bool,
    /// Each must match a line that this one is indented under.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inside: Vec<String>,
    /// None may match a line that this one is indented under.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_inside: Vec<String>,
    /// Each must match a line of the same block, by indentation: the item of a list, a section, or else the whole document.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beside: Vec<String>,
    /// None may match a line of the same block.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_beside: Vec<String>,
    /// Each must match somewhere in the file. `^` and `$` are the ends of a line.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub file_has: Vec<String>,
    /// None may match anywhere in the file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub file_lacks: Vec<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Examples {
    /// Each must be found.
    pub bad: Vec<Example>,
    /// Each must stay silent.
    pub good: Vec<Example>,
}

/// Code that stands for a whole added file, or a diff.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Example {
    Code(String),
    File(FileExample),
    Diff(DiffExample),
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FileExample {
    pub path: String,
    pub code: String,
    /// What the fixes must turn the code into, those that are only offered included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fixed: Option<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DiffExample {
    pub diff: String,
    /// Whole new files by path, where the check reads them.
    #[serde(default)]
    pub files: BTreeMap<String, String>,
}
