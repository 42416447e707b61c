//! How conditions, orders and ends of merging are said: on a terminal, in Markdown and in JSON.

use super::conditions::{By, Condition, Conditions, Standing};
use super::facts::Facts;
use crate::ids::Sha;
use crate::publish::markdown::inert;
use crate::publish::visible::visible_line;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// At most so many names in one sentence.
const LISTED: usize = 5;

/// A foreign name, in a sentence of ours.
pub(crate) fn named(name: &str) -> String {
    format!("`{}`", visible_line(name).replace('`', "'"))
}

pub(crate) fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// `a`, `b` and 3 more
pub(crate) fn listed(names: impl IntoIterator<Item = String>) -> String {
    let names: Vec<String> = names.into_iter().collect();
    match names.as_slice() {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] if names.len() <= LISTED => format!("{} and {last}", first.join(", ")),
        _ => format!("{} and {} more", names[..LISTED].join(", "), names.len() - LISTED),
    }
}

/// Why one pull request is not merged, or that it could be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Why {
    pub number: u64,
    pub title: String,
    pub url: String,
    pub head: Sha,
    pub base: String,
    pub end: WhyEnd,
    /// The first reason that is not met, in a sentence.
    pub reason: Option<String>,
    /// What helps.
    pub next: Option<String>,
    pub conditions: Vec<Condition>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WhyEnd {
    /// Every condition is met.
    Ready,
    /// Only time is needed.
    Waiting,
    /// Somebody has to do something.
    Stuck,
}

impl Why {
    pub fn of(facts: &Facts, conditions: &Conditions) -> Why {
        let first = conditions.first_unmet();
        Why {
            number: facts.number,
            title: facts.title.clone(),
            url: facts.url.clone(),
            head: facts.head.clone(),
            base: facts.base_branch.clone(),
            end: match (first.is_none(), conditions.only_waits()) {
                (true, _) => WhyEnd::Ready,
                (false, true) => WhyEnd::Waiting,
                (false, false) => WhyEnd::Stuck,
            },
            reason: first.map(|condition| condition.sentence().to_owned()),
            next: first.and_then(Condition::cure).map(|cure| cure.what.clone()),
            conditions: conditions.list().to_vec(),
        }
    }

    /// One line: what is the matter, and what helps.
    pub fn headline(&self) -> String {
        let is_approved = self.conditions.iter().filter(|condition| !condition.is_met()).count() == 1
            && self.conditions.last().is_some_and(|condition| !condition.is_met());
        match (self.end, &self.reason) {
            (WhyEnd::Ready, _) | (_, None) => "every condition is met: it could be merged now".into(),
            // SL-71
            (WhyEnd::Stuck, Some(reason)) if is_approved => format!("approved, pending manual merge: {reason}"),
            (WhyEnd::Waiting, Some(reason)) => format!("waiting: {reason}"),
            (WhyEnd::Stuck, Some(reason)) => reason.clone(),
        }
    }
}

/// 0 when all could be merged, 75 when time alone is needed, 1 when somebody has to do something.
pub fn exit_code(whys: &[Why]) -> u8 {
    match whys.iter().map(|why| why.end).max() {
        None | Some(WhyEnd::Ready) => 0,
        Some(WhyEnd::Waiting) => 75,
        Some(WhyEnd::Stuck) => 1,
    }
}

/// The sign, the word and the sentence of one line of the table.
pub fn line(condition: &Condition) -> (&'static str, &'static str, String) {
    let sign = match condition.standing {
        Standing::Met { .. } => "✓",
        Standing::Unmet { .. } => "✗",
        Standing::Unknown { .. } => "?",
    };
    let sentence = match condition.cure() {
        None => condition.sentence().to_owned(),
        Some(cure) => format!("{} → {}", condition.sentence(), cure.what),
    };
    (sign, condition.name.word(), sentence)
}

pub fn markdown(whys: &[Why]) -> String {
    let mut out = String::new();
    for why in whys {
        out.push_str(&format!("### #{} {}\n\n{}\n\n", why.number, inert(&why.title), inert(&why.headline())));
        out.push_str("| | condition | how it stands | what helps |\n| --- | --- | --- | --- |\n");
        for condition in &why.conditions {
            let (sign, word, _) = line(condition);
            let cure = condition.cure().map_or(String::new(), |cure| match cure.by {
                By::Time | By::Person => cure.what.clone(),
                By::Tribunal => format!("run {}", cure.what),
            });
            out.push_str(&format!("| {sign} | {word} | {} | {} |\n", inert(condition.sentence()), inert(&cure)));
        }
        out.push('\n');
    }
    out
}
