//! `[[guidance]]`: what maintainers want reviewers to know, for the whole repository or for some paths.

use super::admission::is_inside;
use globset::{Glob, GlobSet, GlobSetBuilder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One entry. Either `text` or `file` says it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GuidanceConfig {
    /// Globs of changed files that it is about. Default: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paths: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// A file of the repository, read from the base.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
}

impl GuidanceConfig {
    pub fn problem(&self) -> Option<String> {
        if let Some(problem) = globs(self.paths.as_deref().unwrap_or_default()).err() {
            return Some(problem);
        }
        match (&self.text, &self.file) {
            (Some(text), None) if text.trim().is_empty() => Some("`text` is empty".to_owned()),
            (None, Some(file)) if file.is_empty() || !is_inside(file) => {
                Some(format!("`file` is `{file}`, which is no file of the repository; name it from the repository's top"))
            }
            (Some(_), None) | (None, Some(_)) => None,
            (Some(_), Some(_)) => Some("it has both a `text` and a `file`; use one of them".to_owned()),
            (None, None) => Some("it needs a `text` or a `file`".to_owned()),
        }
    }

    /// The globs of `paths`; nothing matches where one of them is no glob, which [`Self::problem`] refuses first.
    pub fn globs(&self) -> Option<GlobSet> {
        self.paths.as_deref().map(|paths| globs(paths).unwrap_or_default())
    }
}

fn globs(paths: &[String]) -> Result<GlobSet, String> {
    let mut set = GlobSetBuilder::new();
    for path in paths {
        set.add(Glob::new(path).map_err(|error| format!("`{path}` is no glob: {error}"))?);
    }
    set.build().map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_has_either_a_text_or_a_file() {
        let problem = |text: &str| toml::from_str::<GuidanceConfig>(text).unwrap().problem();
        assert_eq!(problem("text = 'No unwrap.'\npaths = ['src/**']"), None);
        assert_eq!(problem("file = 'docs/review.md'"), None);
        for (text, words) in [
            ("", "needs a `text`"),
            ("text = ' '", "is empty"),
            ("text = 'a'\nfile = 'b'", "both"),
            ("file = '../b'", "no file of the repository"),
            ("text = 'a'\npaths = ['[']", "is no glob"),
        ] {
            assert!(problem(text).unwrap().contains(words), "{text}");
        }
    }
}
