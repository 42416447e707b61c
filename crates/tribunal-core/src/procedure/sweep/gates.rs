//! When a gate fires and what it asks (SL section 20). Questions are filled in; what others wrote in them was made visible.

use super::request::{Ceilings, Request};
use super::stops::minutes_since;
use super::tour::Tour;
use crate::gate::{Gate, GateName};
use crate::ids::Sha;
use crate::merge::order::{HeldBecause, MergeSequence};
use crate::procedure::Millis;
use crate::publish::visible::visible_line;
use std::collections::BTreeMap;

/// A budget of which four fifths are used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tripped {
    pub name: &'static str,
    pub used: String,
    pub total: String,
}

/// What a tick is about to do.
#[derive(Debug, Clone, Copy, Default)]
pub struct Projected {
    /// Pull requests that were not touched before.
    pub pulls: u32,
    /// Efforts of agents.
    pub efforts: u32,
}

fn four_fifths(used: u64, max: u64) -> bool {
    used.saturating_mul(10) >= max.saturating_mul(8)
}

/// SL-143. A watch of a single one never counts pull requests (SL-149).
pub fn tripped(tour: &Tour, request: &Request, projected: Projected, started_at: Millis, now: Millis) -> Vec<Tripped> {
    let Some(ceilings) = tour.ceilings else { return Vec::new() };
    let Ceilings { iterations, pulls, minutes, dollars, .. } = ceilings;
    let mut all = Vec::new();
    if four_fifths(u64::from(tour.iterations) + 1, u64::from(iterations)) {
        all.push(Tripped { name: "iterations", used: (tour.iterations + 1).to_string(), total: iterations.to_string() });
    }
    let touched = tour.touched.len() as u64 + u64::from(projected.pulls);
    if request.target.single().is_none() && four_fifths(touched, u64::from(pulls)) {
        all.push(Tripped { name: "pull requests", used: touched.to_string(), total: pulls.to_string() });
    }
    let elapsed = minutes_since(started_at, now);
    if four_fifths(elapsed, minutes) {
        all.push(Tripped { name: "minutes", used: elapsed.to_string(), total: minutes.to_string() });
    }
    let spending = tour.purse.spent.plus(tour.purse.projected(projected.efforts));
    if let Some(max) = dollars.filter(|max| four_fifths(spending.micros, max.micros)) {
        all.push(Tripped { name: "dollars", used: spending.to_string(), total: max.to_string() });
    }
    all
}

fn gate(name: GateName, question: String, until: Millis) -> Gate {
    Gate { name, number: None, head: None, question, until }
}

fn about(name: GateName, number: u64, head: &Sha, question: String, until: Millis) -> Gate {
    Gate { name, number: Some(number), head: Some(head.clone()), question, until }
}

pub fn force_unlock(holder: &str, until: Millis) -> Gate {
    let question = format!(
        "The lock of this set is held by {}. Passing it over may corrupt what that run is doing; its process is not ended, and \
         stops at its next step. Take the lock?",
        visible_line(holder)
    );
    gate(GateName::ForceUnlock, question, until)
}

pub fn ambiguous(number: u64, head: &Sha, issue: u64, why: &str, until: Millis) -> Gate {
    let question = format!(
        "PR #{number}: the acceptance criteria of issue #{issue} are not clear ({}). Skip it, escalate it to a person, or go on \
         with the best interpretation?",
        visible_line(why)
    );
    about(GateName::AmbiguousCriteria, number, head, question, until)
}

/// One question for all that are tripped.
pub fn budget(tripped: &[Tripped], until: Millis) -> Gate {
    let all: Vec<String> = tripped.iter().map(|one| format!("{} {} / {}", one.name, one.used, one.total)).collect();
    gate(
        GateName::BudgetEscalation,
        format!("Budgets at 80 % or more: {}. Continue, raise them, or stop?", all.join(", ")),
        until,
    )
}

pub fn post_feedback(number: u64, head: &Sha, people: &[&str], until: Millis) -> Gate {
    let people: Vec<String> = people.iter().map(|login| visible_line(login)).collect();
    let question = format!(
        "PR #{number} at {}: the responder has answered comments of {}. Merge it, or hold it until a person has looked again?",
        head.short(),
        people.join(", ")
    );
    about(GateName::PostFeedbackMerge, number, head, question, until)
}

pub fn confirm(number: u64, head: &Sha, until: Millis) -> Gate {
    let question = format!("PR #{number} at {}: every condition is met. Merge it?", head.short());
    about(GateName::MergeOrder, number, head, question, until)
}

/// SL-77, SL-78.
pub fn order(sequence: &MergeSequence, heads: &BTreeMap<u64, Sha>, until: Millis) -> Gate {
    let step = |(place, number): (usize, u64)| {
        let head = heads.get(&number).map(|head| format!(" at {}", head.short())).unwrap_or_default();
        format!("{}. #{number}{head}", place + 1)
    };
    let steps: Vec<String> = sequence.steps.iter().map(|step| step.number).enumerate().map(step).collect();
    let held: Vec<String> = sequence.held.iter().map(|held| held_words(held.number, &held.because)).collect();
    let held = if held.is_empty() { String::new() } else { format!(" Not merged: {}.", held.join("; ")) };
    gate(GateName::MergeOrder, format!("Merge in this order: {}?{held}", steps.join(", ")), until)
}

pub fn held_words(number: u64, because: &HeldBecause) -> String {
    match because {
        HeldBecause::Cycle(members) => {
            let members: Vec<String> = members.iter().map(|member| format!("#{member}")).collect();
            format!("#{number} depends on itself through {}", members.join(", "))
        }
        HeldBecause::Behind(on) => format!("#{number} waits for #{on}, which is not merged"),
    }
}

pub fn repeated_failure(number: u64, head: &Sha, signature: &str, words: &str, until: Millis) -> Gate {
    let question = format!(
        "PR #{number} failed in two iterations in a row for one cause, `{signature}` ({}). Skip it, retry it once more, or stop?",
        visible_line(words)
    );
    about(GateName::RepeatedFailure, number, head, question, until)
}

pub fn divergence(number: u64, recorded: &Sha, live: &Sha, until: Millis) -> Gate {
    let question = format!(
        "PR #{number}: the resumed run left it at {}, and its head is {} now. Re-attach it, skip it, or stop?",
        recorded.short(),
        live.short()
    );
    about(GateName::ResumeDivergence, number, live, question, until)
}

/// What a person who did not say yes has said.
pub fn held_by(gate: &Gate, by: Option<&str>) -> String {
    match by {
        Some(person) => format!("{} answered {} with hold", visible_line(person), gate.name),
        None => format!("nobody answered {}", gate.name),
    }
}
