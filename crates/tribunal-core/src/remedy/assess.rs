//! What shall be done about an item (RL-28, RL-29, WL-61), and which answers of an assessor count (RL-30, RL-34).

use crate::feedback::fixable::Fixable;
use crate::feedback::item::{Item, ItemId};
use crate::findings::about::About;
use crate::findings::admit::one_line;
use crate::findings::plain::plain;
use crate::findings::quote::Quote;
use crate::ids::RepoPath;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Decision {
    /// It is right, and a small change answers it.
    Address,
    /// The code shows that it is wrong, or that it is so on purpose.
    Decline,
    /// It is right, and not of this pull request.
    Defer,
    /// Only a person can say.
    Ask,
    /// It asks for nothing.
    Noise,
    /// It is right, and larger than a fix.
    Replan,
}

impl Decision {
    pub fn word(self) -> &'static str {
        match self {
            Decision::Address => "Address",
            Decision::Decline => "Decline",
            Decision::Defer => "Defer",
            Decision::Ask => "Ask",
            Decision::Noise => "Noise",
            Decision::Replan => "Replan",
        }
    }

    /// Rests on what the code is, so the code must have been read (RL-30).
    fn needs_evidence(self) -> bool {
        match self {
            Decision::Address | Decision::Decline | Decision::Defer => true,
            Decision::Ask | Decision::Noise | Decision::Replan => false,
        }
    }
}

/// What an assessor says of one item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Assessment {
    pub item: ItemId,
    pub decision: Decision,
    /// Why, for whoever raised it. One or two sentences.
    pub rationale: String,
    /// A line of the code as it is now, quoted: what the decision rests on (RL-30).
    #[serde(default)]
    pub evidence: String,
    /// How to go about it; needed for `address`.
    #[serde(default)]
    pub notes: String,
    /// What the fix would be, in two or three words; items that share it may have one cause (WL-88).
    #[serde(default)]
    pub framing: Option<String>,
    /// What kind of problem it raises, as far as that can be told (PR-120, PR-121).
    #[serde(default)]
    pub about: About,
}

impl Assessment {
    /// Nobody said anything of it, so a person must.
    pub fn unanswered(item: &Item) -> Self {
        Assessment {
            item: item.id.clone(),
            decision: Decision::Ask,
            rationale: "it was not assessed".to_owned(),
            evidence: String::new(),
            notes: String::new(),
            framing: None,
            about: About::default(),
        }
    }
}

/// An assessor's whole answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Assessments {
    pub assessments: Vec<Assessment>,
}

/// A checker's whole answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CheckupAnswer {
    pub approved: bool,
    /// What is wrong, where it is not approved.
    #[serde(default)]
    pub why: String,
}

/// RL-35: go on, or assess again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Checkup {
    Approved,
    Rejected { why: String },
}

impl From<CheckupAnswer> for Checkup {
    fn from(answer: CheckupAnswer) -> Self {
        let why = one_line(&plain(&answer.why));
        if answer.approved { Checkup::Approved } else { Checkup::Rejected { why } }
    }
}

/// What of an assessor's answer counts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Admitted {
    /// In the order of the items.
    pub accepted: Vec<Assessment>,
    /// Items that have no usable word, and ids that are none.
    pub rejected: Vec<(ItemId, String)>,
    /// Decisions that did not stand and became questions to a person, with the reason.
    pub downgraded: Vec<(ItemId, String)>,
}

impl Admitted {
    /// Every item has its one decision, and each stands as it was given: what the validator asks for (RL-34).
    pub fn is_whole(&self) -> bool {
        self.rejected.is_empty() && self.downgraded.is_empty()
    }
}

/// Holds an assessor's answer against the items and the files at the head. Exactly one decision counts for each item; two are none,
/// because nobody can say which was meant.
pub fn admit<'a>(assessments: Vec<Assessment>, items: &[Fixable], texts: &dyn Fn(&RepoPath) -> Option<&'a str>) -> Admitted {
    let mut admitted = Admitted::default();
    let known: BTreeSet<&ItemId> = items.iter().map(|item| &item.id).collect();
    let mut said: BTreeMap<ItemId, Vec<Assessment>> = BTreeMap::new();
    for assessment in assessments {
        if known.contains(&assessment.item) {
            said.entry(assessment.item.clone()).or_default().push(assessment);
        } else {
            admitted.rejected.push((ItemId(one_line(&plain(&assessment.item.0))), "no item has this id".to_owned()));
        }
    }
    for item in items {
        match said.remove(&item.id).map(|mut words| (words.len(), words.pop())) {
            Some((1, Some(assessment))) => {
                let mut assessment = harmless(assessment);
                if let Some(why) = fault(&assessment, item, texts) {
                    admitted.downgraded.push((item.id.clone(), why.to_owned()));
                    assessment.decision = Decision::Ask;
                }
                admitted.accepted.push(assessment);
            }
            Some((count, _)) => admitted.rejected.push((item.id.clone(), format!("{count} decisions were given, not one"))),
            None => admitted.rejected.push((item.id.clone(), "no decision was given".to_owned())),
        }
    }
    admitted
}

/// What an agent wrote is shown to people and posted. The evidence is only ever compared.
fn harmless(assessment: Assessment) -> Assessment {
    let line = |text: &str| one_line(&plain(text));
    let framing = assessment.framing.as_deref().map(line).filter(|framing| !framing.is_empty());
    let (rationale, notes) = (line(&assessment.rationale), line(&assessment.notes));
    Assessment { rationale, notes, framing, about: assessment.about.harmless(), ..assessment }
}

fn fault<'a>(assessment: &Assessment, item: &Item, texts: &dyn Fn(&RepoPath) -> Option<&'a str>) -> Option<&'static str> {
    let decision = assessment.decision;
    if decision == Decision::Address && assessment.notes.is_empty() {
        return Some("it says nothing about how to go about it");
    }
    if decision == Decision::Decline && assessment.rationale.is_empty() {
        return Some("it declines without a reason");
    }
    let path = item.path.as_ref().filter(|_| decision.needs_evidence())?;
    if assessment.evidence.chars().filter(|c| c.is_alphanumeric()).count() < MIN_EVIDENCE {
        return Some("it quotes nothing of the code");
    }
    let stands = texts(path).is_some_and(|text| Quote::new(&assessment.evidence).stands_in(text));
    (!stands).then_some("what it quotes does not stand in the file")
}

/// A bracket stands in every file.
const MIN_EVIDENCE: usize = 3;

/// Without a model: a rule that has a fix addresses its finding, praise asks for nothing, and the rest is for a person.
pub fn by_rules(item: &Fixable, has_fix: bool) -> Assessment {
    let (decision, rationale, notes) = if has_fix {
        (Decision::Address, "a rule found it and has a fix for it", "apply the rule's fix")
    } else if is_thanks(&item.body) {
        (Decision::Noise, "it asks for nothing", "")
    } else if is_question(&item.body) {
        (Decision::Ask, "it is a question, and no rule can answer it", "")
    } else {
        (Decision::Ask, "no rule has a fix for it", "")
    };
    Assessment {
        item: item.id.clone(),
        decision,
        rationale: rationale.into(),
        evidence: String::new(),
        notes: notes.into(),
        framing: None,
        about: About::default(),
    }
}

/// Words of which praise is made. A text of nothing else asks for nothing.
const PRAISE: [&str; 38] = [
    "thanks",
    "thank",
    "you",
    "lgtm",
    "looks",
    "look",
    "good",
    "great",
    "nice",
    "to",
    "me",
    "work",
    "job",
    "done",
    "well",
    "very",
    "much",
    "awesome",
    "perfect",
    "cool",
    "ok",
    "okay",
    "the",
    "this",
    "is",
    "it",
    "all",
    "for",
    "a",
    "lot",
    "so",
    "ship",
    "1",
    "approved",
    "excellent",
    "catch",
    "change",
    "fix",
];
const HEARTY: [&str; 12] =
    ["thanks", "thank", "lgtm", "good", "great", "nice", "awesome", "perfect", "cool", "ship", "approved", "excellent"];

fn is_thanks(body: &str) -> bool {
    let lower = body.to_lowercase();
    let words: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let emoji = ["👍", "🎉", "🚀", "❤"].iter().any(|sign| body.contains(sign));
    let hearty = emoji || words.iter().any(|word| HEARTY.contains(word));
    hearty && !body.contains('?') && words.iter().all(|word| PRAISE.contains(word))
}

fn is_question(body: &str) -> bool {
    let first = body.trim_start().to_lowercase();
    body.trim_end().ends_with('?')
        || ["why ", "what ", "how ", "is ", "should ", "could ", "do "].iter().any(|word| first.starts_with(word))
}

#[cfg(test)]
mod tests;
