//! What a team's dismissals teach. Whoever dismisses one rule three times in one folder says that the rule does not fit there. The
//! configuration that would switch it off there is proposed, and never put in force by itself.

use super::dismissal::Dismissal;
use super::finding::Finding;
use crate::ids::RepoPath;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// As many dismissals of one rule in one folder propose a line of configuration.
pub const ENOUGH: usize = 3;

/// A dismissal of something that a rule reported, in any change of this repository.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RuleDismissal {
    /// The change and the finding's name in it: the same word is not counted twice.
    pub case_id: String,
    pub finding: String,
    pub rule: String,
    pub path: RepoPath,
}

impl RuleDismissal {
    /// A word that clears a finding of a rule. The author's own word about a change of his clears nothing.
    pub fn of(case_id: &str, dismissal: &Dismissal) -> Option<Self> {
        let finding = dismissal.finding.as_ref().filter(|_| dismissal.dismissed.accepted)?;
        Some(RuleDismissal {
            case_id: case_id.to_owned(),
            finding: dismissal.id.to_string(),
            rule: finding.rule.clone()?,
            path: finding.file.clone(),
        })
    }
}

/// A line of configuration that somebody may want.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Proposal {
    pub rule: String,
    /// The folder; empty for the top of the repository.
    pub folder: String,
    /// How often the rule was dismissed there.
    pub dismissals: u32,
    /// For `.tribunal.toml`. Nothing changes until somebody puts it there.
    pub config: String,
}

impl Proposal {
    pub fn sentence(&self) -> String {
        let place = if self.folder.is_empty() { "the top folder".to_owned() } else { format!("{}/", self.folder) };
        format!(
            "{} was dismissed {} times in {place}. To switch it off there, add this to .tribunal.toml:",
            self.rule, self.dismissals
        )
    }
}

/// Proposals that this review has to do with: it holds a finding of the rule in the folder.
pub fn proposals(dismissals: &[RuleDismissal], findings: &[Finding]) -> Vec<Proposal> {
    let mut counts: BTreeMap<(&str, &str), BTreeSet<(&str, &str)>> = BTreeMap::new();
    for word in dismissals {
        counts.entry((&word.rule, folder(&word.path))).or_default().insert((&word.case_id, &word.finding));
    }
    let concerns = |rule: &str, at: &str| {
        findings.iter().any(|finding| finding.rule.as_deref() == Some(rule) && folder(&finding.file) == at)
    };
    counts
        .into_iter()
        .filter(|((rule, at), words)| words.len() >= ENOUGH && concerns(rule, at))
        .map(|((rule, at), words)| Proposal {
            rule: rule.to_owned(),
            folder: at.to_owned(),
            dismissals: u32::try_from(words.len()).unwrap_or(u32::MAX),
            config: config(rule, at),
        })
        .collect()
}

fn folder(path: &RepoPath) -> &str {
    path.as_str().rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Files of the folder itself: what lies below it was not dismissed.
fn config(rule: &str, folder: &str) -> String {
    let glob = if folder.is_empty() { "*".to_owned() } else { format!("{}/*", globset::escape(folder)) };
    let line = toml::Table::from_iter([(glob, toml::Value::Array(vec![toml::Value::String(rule.to_owned())]))]);
    format!("[rules.disable_in]\n{}", line.to_string().trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::config::Config;
    use crate::policy::disabled_in::DisabledIn;
    use proptest::prelude::*;

    fn word(case_id: &str, finding: &str, path: &str) -> RuleDismissal {
        RuleDismissal { case_id: case_id.into(), finding: finding.into(), rule: "no-print".into(), path: path.into() }
    }

    fn found(path: &str) -> Finding {
        Finding { rule: Some("no-print".into()), file: path.into(), ..crate::combine::tests::sample_finding() }
    }

    /// Issue 18, section 3: three dismissals of one rule on one path propose a line.
    #[test]
    fn three_dismissals_in_one_folder_propose_a_line() {
        let mut words = vec![word("a", "F1", "scripts/x.py"), word("a", "F2", "scripts/y.py"), word("a", "F2", "scripts/y.py")];
        let open = [found("scripts/z.py")];
        assert!(proposals(&words, &open).is_empty(), "two, one of them said twice");
        words.push(word("b", "F1", "src/x.py"));
        assert!(proposals(&words, &open).is_empty(), "another folder");
        words.push(word("b", "F2", "scripts/x.py"));
        let proposed = proposals(&words, &open);
        assert_eq!(proposed[0].config, "[rules.disable_in]\n\"scripts/*\" = [\"no-print\"]");
        assert_eq!(
            proposed[0].sentence(),
            "no-print was dismissed 3 times in scripts/. To switch it off there, add this to .tribunal.toml:"
        );
        assert!(proposals(&words, &[found("src/z.py")]).is_empty(), "this review has nothing to do with it");
    }

    proptest! {
        /// What is proposed can be read, switches the rule off in that folder, and nowhere else.
        #[test]
        fn the_line_does_what_it_says(folder in "[a-zA-Z0-9_.\\[\\]{}*? -]{1,8}(/[a-z\\[]{1,6}){0,2}", rule in "[a-z-]{1,12}|[A-Z]+[0-9]{3}") {
            let config: Config = toml::from_str(&config(&rule, &folder)).unwrap();
            let off = DisabledIn::new(&config.rules.disable_in).unwrap();
            let is_off = |path: String| off.is_disabled(&path.as_str().into(), &rule);
            let [own, below, other] = ["", "below/", ""].map(|between| format!("{folder}/{between}a.py"));
            prop_assert!(is_off(own));
            prop_assert!(!is_off(below) && !is_off("x".to_owned() + &other) && !is_off("a.py".into()));
        }
    }
}
