//! Gate B, the convergence audit (PR-121 to PR-123): fixes of races that bring new races.

use super::{History, Remembered, Signal, Touched};
use crate::findings::race::{Damage, RaceTag, is_race};
use regex::Regex;
use serde::{Deserialize, Serialize};
use std::sync::LazyLock;

const FIRST_ROUND: u32 = 3;
const ENOUGH: usize = 2;

/// What a person may choose when gate B holds.
pub const GATE_B_CHOICES: [&str; 4] = ["accept the template", "modify", "ship", "polish"];

/// Whole beginnings of words, so that `release` is no lease and `trace` no race.
static RACE_WORDS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?i)\b(race|toctou|concurren|sweep|lifecycle|state-transition|debounce|claim|lease|fence|stale|orphan)|\bwindow=|\batomic.*\brace|\brace.*\batomic",
    )
    .ok()
});

/// The tag, or the words of PR-121 in what the finding is called. `window` or `atomic` alone say nothing.
pub fn is_race_class(finding: &Remembered) -> bool {
    let category = finding.category.as_deref().unwrap_or_default();
    let slug = finding.slug.as_deref().unwrap_or_default();
    let named = |text: &str| RACE_WORDS.as_ref().is_some_and(|words| words.is_match(text));
    finding.race || named(category) || named(slug) || is_race(category, "", slug)
}

/// From the third round on: two new findings or more on lines that our own fixes wrote, two of them about races, none asymmetric.
/// Without a fix that was pushed there are no such lines, and the gate is off (PR-119).
pub fn gate_b(history: &History) -> Signal {
    if history.last().is_none_or(|round| round.number < FIRST_ROUND) {
        return Signal::default();
    }
    let fixes: Vec<&Touched> = history.earlier().iter().flat_map(|round| &round.touched).collect();
    let inside: Vec<&Remembered> = history
        .newest()
        .into_iter()
        .filter(|finding| finding.span().is_some_and(|span| fixes.iter().any(|fix| fix.overlaps(&span))))
        .collect();
    let races: Vec<&&Remembered> = inside.iter().filter(|finding| is_race_class(finding)).collect();
    let asymmetric = inside.iter().any(|finding| finding.nature == Some(super::Nature::Asymmetric));
    if races.len() < ENOUGH || asymmetric {
        return Signal::default();
    }
    Signal::from_evidence(races.iter().map(|finding| format!("{} is a race on lines that a fix wrote", finding.name())).collect())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RaceVerdict {
    Modify,
    WontfixWithTemplate,
    DeferFollowup,
}

/// What is known of one race in the audit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RaceCase {
    pub asymmetric: bool,
    pub tag: RaceTag,
    /// Mending it would open another window.
    pub fix_adds_race: bool,
    /// Mending it needs something that the project does not have.
    pub needs_infrastructure: bool,
}

/// PR-122, first match. What no row covers (a new window, no recovery) is mended: between two values the worse is taken (PR-68).
pub fn race_verdict(case: RaceCase) -> RaceVerdict {
    let light = match case.tag.damage {
        Damage::DataLoss | Damage::Deadlock | Damage::Inconsistency => false,
        Damage::Latency | Damage::Marginal => true,
    };
    if case.asymmetric || !light {
        RaceVerdict::Modify
    } else if case.needs_infrastructure {
        RaceVerdict::DeferFollowup
    } else if case.fix_adds_race && case.tag.recovers {
        RaceVerdict::WontfixWithTemplate
    } else {
        RaceVerdict::Modify
    }
}

/// Why a race is left in place (PR-123). Six fields; the text of the original says five.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wontfix {
    pub race_window: String,
    pub precondition: String,
    pub damage: String,
    pub recovery_path: String,
    pub asymmetric_check: String,
    pub mitigation_cost: String,
    #[serde(default)]
    pub tracking: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TemplateStanding {
    Valid,
    /// Filled by whoever wrote the code: a proposal for somebody else.
    Advisory,
    Invalid(Vec<String>),
}

pub fn template_standing(template: &Wontfix, asymmetric: bool, filled_by_author: bool) -> TemplateStanding {
    let fields = [
        ("race window", &template.race_window),
        ("precondition", &template.precondition),
        ("damage", &template.damage),
        ("recovery path", &template.recovery_path),
        ("asymmetric check", &template.asymmetric_check),
        ("mitigation cost", &template.mitigation_cost),
    ];
    let mut faults: Vec<String> =
        fields.iter().filter(|(_, text)| text.trim().is_empty()).map(|(name, _)| format!("{name} is missing")).collect();
    if asymmetric {
        faults.push("an asymmetric race is always mended".to_owned());
    }
    match (faults.is_empty(), filled_by_author) {
        (false, _) => TemplateStanding::Invalid(faults),
        (true, true) => TemplateStanding::Advisory,
        (true, false) => TemplateStanding::Valid,
    }
}
