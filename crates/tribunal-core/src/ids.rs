//! Newtypes for everything that is passed around by name, so that a head is never taken for a base.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
        #[serde(transparent)]
        pub struct $name(pub String);

        impl $name {
            pub fn new(text: impl Into<String>) -> Self {
                Self(text.into())
            }
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.to_owned())
            }
        }
    };
}

text_id!(
    /// An object id of git: a commit, or a tree where uncommitted work was snapshotted.
    Sha
);
text_id!(
    /// A path inside the repository, with forward slashes. Bytes that are not UTF-8 are escaped as `\xNN`.
    RepoPath
);
text_id!(RoleName);
text_id!(AgentName);
text_id!(RunId);
text_id!(
    /// Two letters of the alphabet we share with reviewers: `S1`, `E5`, `T4`, `C2`, or a code a repository's role adds.
    CategoryCode
);
text_id!(
    /// What makes a finding the same finding: made of path, symbol, code and category, never of prose.
    FindingKey
);
text_id!(
    /// Names one effect of one run; running it twice must do no harm.
    EffectKey
);

impl Sha {
    /// The first twelve digits, for people.
    pub fn short(&self) -> &str {
        self.0.get(..12).unwrap_or(&self.0)
    }

    /// All digits of an id, so that it names one object for ever: no beginning of one, and no name of a branch.
    pub fn is_full(&self) -> bool {
        matches!(self.0.len(), 40 | 64) && self.0.bytes().all(|byte| byte.is_ascii_hexdigit())
    }
}

impl RepoPath {
    pub fn file_name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or(&self.0)
    }

    pub fn extension(&self) -> Option<&str> {
        let name = self.file_name();
        match name.rfind('.') {
            Some(0) | None => None,
            Some(dot) => Some(&name[dot + 1..]),
        }
    }
}

/// `F<n>`: the name people use for a finding. Kept for the life of a case, never `#n`, which forges turn into links.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FindingId(pub u32);

impl fmt::Display for FindingId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "F{}", self.0)
    }
}

impl std::str::FromStr for FindingId {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.strip_prefix(['F', 'f'])
            .and_then(|digits| digits.parse().ok())
            .map(FindingId)
            .ok_or_else(|| format!("`{text}` is not a finding id; they look like F3"))
    }
}

impl Serialize for FindingId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for FindingId {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for FindingId {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "FindingId".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "pattern": "^F[0-9]+$" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dot_file_has_no_extension() {
        assert_eq!(RepoPath::from("a/.gitignore").extension(), None);
        assert_eq!(RepoPath::from("a/b.tar.gz").extension(), Some("gz"));
    }

    /// PR-135: ids are `F<n>`, never `#<n>`.
    #[test]
    fn finding_ids_read_and_print_as_f_numbers() {
        assert_eq!("F12".parse::<FindingId>().unwrap().to_string(), "F12");
        assert!("#12".parse::<FindingId>().is_err());
    }
}
