//! What a flow rule and the shared table of a language say in their files.

use crate::rules::object::RuleObject;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use tribunal_core::diff::language::Language;
use tribunal_core::findings::scale::Severity;

/// Where untrusted data comes from, where it must not arrive, and what makes it safe.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlowRule {
    pub sources: Vec<Entry>,
    pub sinks: Vec<Entry>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sanitizers: Vec<Entry>,
}

/// One line of a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Entry {
    /// The name of a list of the language's table, or a pattern: `request.args`, `os.system($ARG)`, `new File($ARG)`, `*.innerHTML = $ARG`.
    Text(String),
    Form(Form),
}

/// The long form of an entry. Exactly one of `list`, `pattern`, `name`, `parameter` and `rule` says what it looks for.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Form {
    /// A list of the language's table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub list: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// A variable whose name alone says what it is, such as `params`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Source only: a regular expression over the text of a parameter, annotations and type included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parameter: Option<String>,
    /// With `parameter`: a regular expression over what stands before the body of the function, decorators included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub function: Option<String>,
    /// An ast-grep rule object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<RuleObject>,
    /// With `rule`, sinks only: the meta variable (without `$`) that must not be untrusted. The whole match if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub focus: Option<String>,
    /// Sink only: the value must have been joined with a text, and the expression that joins them must match this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub built: Option<String>,
    /// Sink only: the value must stand at the beginning of the text, as the host of a URL does.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub leading: bool,
    /// The severity of a finding with this source or sink, where it is less than the rule's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub severity: Option<Severity>,
}

/// What all flow rules of a language share: `rules/flow/<language>.yml`.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Tribunal flow table, version 1")]
pub struct FlowTable {
    pub languages: Vec<Language>,
    /// Lists of sources by name.
    #[serde(default)]
    pub sources: BTreeMap<String, Vec<Entry>>,
    /// Lists of sanitizers by name.
    #[serde(default)]
    pub sanitizers: BTreeMap<String, Vec<Entry>>,
    /// Whatever the rule: numbers, digests, lengths, and checks against a list or a pattern.
    #[serde(default)]
    pub always_safe: Vec<String>,
    /// Calls whose result is as dangerous as what they are given: `str($ARG)`, `$ARG.strip()`.
    #[serde(default)]
    pub passes: Vec<String>,
    /// Calls that join texts: `$ARG.format()`, `fmt.Sprintf()`.
    #[serde(default)]
    pub builders: Vec<String>,
    /// Calls that put their arguments into their receiver, or into their first argument if they have none: `*.append($ARG)`.
    #[serde(default)]
    pub collectors: Vec<String>,
    /// Calls whose result is what their function argument returns: `*.map()`.
    #[serde(default)]
    pub maps: Vec<String>,
    /// Calls that do not come back: `sys.exit()`.
    #[serde(default)]
    pub exits: Vec<String>,
    /// Parts by which a check judges the whole: the host of a URL.
    #[serde(default)]
    pub checked_parts: Vec<String>,
    /// A regular expression over the text of a parameter that no caller from outside chooses: `self`, `db`.
    #[serde(default)]
    pub safe_parameters: Option<String>,
    /// A regular expression over the text of a type: a value of it is harmless.
    #[serde(default)]
    pub safe_types: Option<String>,
}

impl Entry {
    pub fn form(&self) -> Form {
        match self {
            Entry::Form(form) => form.clone(),
            // A word alone is the name of a list; a pattern has a dot, a bracket or an equals sign.
            Entry::Text(text) if text.chars().all(|c| c.is_ascii_lowercase() || c == '-') => {
                Form { list: Some(text.clone()), ..Form::default() }
            }
            Entry::Text(text) => Form { pattern: Some(text.clone()), ..Form::default() },
        }
    }
}
