//! Where rules come from: the ones built into the binary, and `.tribunal/rules/*.yml` of a repository.

use super::file::RuleFile;
use tribunal_core::findings::category::is_category_code;

include!(concat!(env!("OUT_DIR"), "/built_in_rules.rs"));

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("rule {origin}: {problem}")]
pub struct RuleError {
    /// The file, as its owner knows it.
    pub origin: String,
    pub problem: String,
}

/// A rule in the binary.
#[derive(Debug)]
pub struct BuiltIn {
    pub name: &'static str,
    pub text: &'static str,
    /// Without its examples.
    json: &'static str,
    /// One word of each group stands in every file that it finds something in.
    needs: &'static [&'static [&'static str]],
}

/// A rule and where it was read.
#[derive(Debug, Clone)]
pub struct LoadedRule {
    pub origin: String,
    pub file: RuleFile,
    /// See [`BuiltIn`]; of other rules nothing is known.
    pub needs: &'static [&'static [&'static str]],
}

/// The names and texts of the rule files in the binary, for `tribunal explain`.
pub fn built_in_sources() -> impl ExactSizeIterator<Item = (&'static str, &'static str)> {
    BUILT_IN.iter().map(|rule| (rule.name, rule.text))
}

/// Without their examples.
pub fn built_in() -> Result<Vec<LoadedRule>, RuleError> {
    BUILT_IN
        .iter()
        .map(|rule| {
            let origin = format!("rules/{}", rule.name);
            match serde_json::from_str(rule.json) {
                Ok(file) => Ok(LoadedRule { origin, file, needs: rule.needs }),
                Err(error) => Err(RuleError { origin, problem: error.to_string() }),
            }
        })
        .collect()
}

/// As their authors wrote them, examples included.
pub fn built_in_with_examples() -> Result<Vec<LoadedRule>, RuleError> {
    built_in_sources().map(|(name, text)| parse(&format!("rules/{name}"), text)).collect()
}

/// Reads one rule file and checks what serde cannot.
pub fn parse(origin: &str, text: &str) -> Result<LoadedRule, RuleError> {
    let fail = |problem: String| RuleError { origin: origin.to_owned(), problem };
    let file: RuleFile = serde_saphyr::from_str(text).map_err(|error| fail(error.to_string()))?;
    let ways = [file.rule.is_some(), file.flow.is_some(), file.lines.is_some(), file.check.is_some()];
    if ways.iter().filter(|given| **given).count() != 1 {
        return Err(fail("exactly one of `rule`, `flow`, `lines` and `check` must say how it finds".into()));
    }
    if file.needs_syntax() && file.languages.is_empty() {
        return Err(fail("a syntax or flow rule must name its `languages`".into()));
    }
    if file.fix.is_some() && file.offer.is_some() {
        return Err(fail("`fix` and `offer` exclude each other; `fixes` holds several".into()));
    }
    if file.rule.is_none() && !file.fixes.is_empty() || file.check.is_some() && (file.fix.is_some() || file.offer.is_some()) {
        return Err(fail("`fixes` need a `rule`, and a check has no fix".into()));
    }
    if !file.id.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-') || file.id.is_empty() {
        return Err(fail(format!("`{}` is not a kebab-case id", file.id)));
    }
    if !is_category_code(file.category.as_str()) {
        return Err(fail(format!("`{}` is not a category code", file.category)));
    }
    for (field, value) in [("title", &file.title), ("failure_mode", &file.failure_mode), ("mitigation", &file.mitigation)] {
        if value.trim().is_empty() || value.trim().contains('\n') {
            return Err(fail(format!("`{field}` must be one line of text")));
        }
    }
    if file.examples.bad.is_empty() || file.examples.good.is_empty() {
        return Err(fail("a rule needs at least one bad and one good example".into()));
    }
    Ok(LoadedRule { origin: origin.to_owned(), file, needs: &[] })
}
