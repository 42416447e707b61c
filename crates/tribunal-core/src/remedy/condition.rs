//! A reason to stop that holds, with what a person needs to know about it. Several may hold at once; the ladder picks the one that is
//! named, and the report lists them all (CF-23).

use super::ladder::Reason;
use super::patch::Refusal;
use super::signals::merge_advice::Advice;
use crate::feedback::injection::Suspicion;
use crate::feedback::item::Item;
use crate::ids::RepoPath;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Condition {
    pub reason: Reason,
    /// What happened, in one or two sentences.
    pub detail: String,
    /// Where to look.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Which part of the work it came from: a stage, a signal, a category.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stage: Option<String>,
    /// What it rests on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<String>,
    /// With [`Reason::Blocked`]: what stands in the way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocker: Option<Blocker>,
    /// What its reason brings besides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payload: Option<Payload>,
}

/// What some reasons bring (the table before WL-58), each whole or not at all.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Payload {
    Suspected(Suspected),
    Advised(Advice),
}

/// Findings that seem to have one cause.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Suspected {
    pub files: Vec<RepoPath>,
    /// Where they were raised.
    pub urls: Vec<String>,
    /// What the cause may be.
    pub root: String,
    /// Why they belong together.
    pub rationale: String,
    pub members: u32,
}

/// What stands in the way of a loop that is blocked; the exit code tells it (design section 8).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Blocker {
    /// A decision that is a person's.
    Person,
    /// An agent or a command that did not do its work.
    Agent,
    Budget,
    /// The forge, or its credentials.
    Forge,
    /// Something that may be over the next time.
    Later,
}

impl Blocker {
    pub fn exit_code(self) -> u8 {
        match self {
            Blocker::Person => 1,
            Blocker::Agent => 3,
            Blocker::Budget => 4,
            Blocker::Forge => 5,
            Blocker::Later => 75,
        }
    }
}

impl Condition {
    pub fn of(reason: Reason) -> Self {
        Condition { reason, detail: String::new(), url: None, stage: None, evidence: Vec::new(), blocker: None, payload: None }
    }

    fn about(reason: Reason, item: &Item, detail: String) -> Self {
        let url = Some(item.url.clone()).filter(|url| !url.is_empty());
        Condition { detail, url, ..Condition::of(reason) }
    }

    fn at(self, stage: &str) -> Self {
        Condition { stage: Some(stage.to_owned()), ..self }
    }

    /// A step that must not be guessed around failed.
    pub fn blocked(blocker: Blocker, stage: &str, why: impl Into<String>) -> Self {
        Condition { detail: why.into(), blocker: Some(blocker), ..Condition::of(Reason::Blocked) }.at(stage)
    }

    pub fn window_elapsed() -> Self {
        Condition::of(Reason::WatchWindowElapsed)
    }

    /// WL-86: the text itself goes nowhere; its neutralised beginning shows a person what it was.
    pub fn injection(item: &Item, suspicion: &Suspicion) -> Self {
        let detail = format!("{} at {} tries to give orders ({})", item.author.login, item.place(), suspicion.why);
        Condition { evidence: vec![suspicion.quote.clone()], ..Condition::about(Reason::InjectionSuspect, item, detail) }
            .at(&suspicion.category.to_string())
    }

    /// WL-51: it was fixed twice and raised again.
    pub fn same_finding_again(item: &Item, fixes: u32) -> Self {
        let detail = format!("{} was fixed {fixes} times and raised again each time", item.place());
        Condition::about(Reason::MaxCyclesReached, item, detail).at("same-finding-repeat")
    }

    /// PR-114, CF-3.
    pub fn stubborn(item: &Item, fixes: u32) -> Self {
        let detail = format!("{} was worked on {fixes} times and is still open; a person must say what is wanted", item.place());
        Condition::about(Reason::UserInputRequired, item, detail).at("stubborn")
    }

    pub fn question(item: &Item, why: &str) -> Self {
        let detail = format!("{} at {}: {why}", item.author.login, item.place());
        Condition::about(Reason::UserInputRequired, item, detail)
    }

    /// Right, and more than a fix.
    pub fn larger(item: &Item, why: &str) -> Self {
        let detail = format!("{} at {}: {why}", item.author.login, item.place());
        Condition::about(Reason::PlannerEscalation, item, detail)
    }

    /// CF-7: what weighs much is not waved away by a machine.
    pub fn rejection(item: &Item, rationale: &str) -> Self {
        let detail = format!("{} ({}) was declined: {rationale}", item.place(), item.author.login);
        Condition::about(Reason::HighSeverityRejection, item, detail)
    }

    /// WL-87: a person approves such a change before it is committed.
    pub fn destructive(item: &Item, refusal: &Refusal) -> Self {
        let detail = format!("the fix for {} needs a person's word: {refusal}", item.place());
        Condition { blocker: Some(Blocker::Person), ..Condition::about(Reason::Blocked, item, detail) }.at("destructive-fix-gate")
    }

    pub fn validation_failed(command: &str, output: &str) -> Self {
        let detail = format!("`{command}` does not pass with the fixes; nothing was pushed");
        Condition { evidence: vec![output.to_owned()], ..Condition::blocked(Blocker::Person, "validation-failed", detail) }
    }

    /// WL-21: what cannot be run proves nothing.
    pub fn validation_cannot_run(command: &str, why: &str) -> Self {
        let detail = format!("`{command}` cannot be run, so nothing was pushed");
        Condition { evidence: vec![why.to_owned()], ..Condition::blocked(Blocker::Agent, "validation-failed", detail) }
    }

    /// WL-88, WL-89, WL-92: more patches would only move the problem.
    pub fn suspected(stage: &str, suspected: Suspected, evidence: Vec<String>) -> Self {
        let (detail, reason) = (suspected.root.clone(), Reason::RootClusterSuspected);
        Condition { detail, evidence, payload: Some(Payload::Suspected(suspected)), ..Condition::of(reason) }.at(stage)
    }

    /// WL-92. Advice, and nothing else.
    pub fn advised(advice: Advice, evidence: Vec<String>) -> Self {
        let rest = match &advice {
            Advice::BoundedTail { home } => format!("the light rest is tracked in {home}"),
            Advice::DiminishingReturns => "more rounds would bring only light remarks".to_owned(),
            Advice::StructuralHome { home } => format!("what is left is one idea, tracked in {home}"),
        };
        let detail = format!("nothing actionable is left, and {rest}; a person may merge");
        let payload = Some(Payload::Advised(advice));
        Condition { detail, evidence, payload, ..Condition::of(Reason::MergeAdvised) }.at("merge-advice")
    }

    /// A sign of the rounds that brings nothing but its evidence.
    pub fn sign(reason: Reason, stage: &str, detail: impl Into<String>, evidence: Vec<String>) -> Self {
        Condition { detail: detail.into(), evidence, ..Condition::of(reason) }.at(stage)
    }

    /// PR-112: what a check found stands where nobody here can look.
    pub fn invisible(item: &Item, where_to: &str) -> Self {
        let detail = format!(
            "`{}` failed, and what it found stands in {where_to}, which is not read here; say in a comment that names the check \
             what it found, or mend it",
            item.place()
        );
        Condition::about(Reason::UserInputRequired, item, detail).at("invisible-findings")
    }

    /// RL-36.
    pub fn assessment_rejected(why: &[String]) -> Self {
        let detail = "the assessment was rejected four times".to_owned();
        Condition { evidence: why.to_vec(), ..Condition::blocked(Blocker::Person, "assessment", detail) }
    }
}
