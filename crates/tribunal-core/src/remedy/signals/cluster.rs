//! Several findings with one cause (WL-88): patching them one by one would only move the problem.

use super::{History, Remembered, Touched};
use crate::feedback::item::ItemId;
use crate::ids::RepoPath;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

const ENOUGH: usize = 3;
/// With a grave one among them that came back to where we just were, or to the same idea of a fix.
const ENOUGH_WHEN_HIGH: usize = 2;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cluster {
    pub fired: bool,
    pub evidence: Vec<String>,
    pub members: Vec<ItemId>,
    pub files: Vec<RepoPath>,
    pub hypothesized_root: String,
    pub same_framing_rationale: String,
}

/// The largest group that shares a framing, else the largest whose lines overlap. At least one member must still be open: a class
/// that is closed is nobody's trouble.
pub fn root_cluster(history: &History) -> Cluster {
    let all = history.distinct();
    by_framing(&all).into_iter().chain(by_place(&all)).find(|group| is_cluster(history, group)).map(cluster).unwrap_or_default()
}

struct Group<'a> {
    framing: Option<String>,
    members: Vec<&'a Remembered>,
}

/// Largest first.
fn by_framing<'a>(all: &[&'a Remembered]) -> Vec<Group<'a>> {
    let mut groups: BTreeMap<String, Vec<&Remembered>> = BTreeMap::new();
    for finding in all {
        if let Some(framing) = finding.framing_key() {
            groups.entry(framing).or_default().push(finding);
        }
    }
    let groups = groups.into_iter().map(|(framing, members)| Group { framing: Some(framing), members }).collect();
    largest_first(groups)
}

/// Findings whose lines touch each other, directly or through another one.
fn by_place<'a>(all: &[&'a Remembered]) -> Vec<Group<'a>> {
    let mut placed: Vec<(Touched, &Remembered)> = all.iter().filter_map(|finding| Some((finding.span()?, *finding))).collect();
    placed.sort_by(|a, b| (&a.0, &a.1.item).cmp(&(&b.0, &b.1.item)));
    let mut groups: Vec<(Touched, Vec<&Remembered>)> = Vec::new();
    for (span, finding) in placed {
        match groups.last_mut() {
            Some((reach, members)) if reach.overlaps(&span) => {
                reach.last = reach.last.max(span.last);
                members.push(finding);
            }
            Some(_) | None => groups.push((span, vec![finding])),
        }
    }
    largest_first(groups.into_iter().map(|(_, members)| Group { framing: None, members }).collect())
}

fn largest_first(mut groups: Vec<Group<'_>>) -> Vec<Group<'_>> {
    groups.sort_by_key(|group| std::cmp::Reverse(group.members.len()));
    groups
}

fn is_cluster(history: &History, group: &Group<'_>) -> bool {
    let open: BTreeSet<&ItemId> = history.open().into_iter().map(|finding| &finding.item).collect();
    if !group.members.iter().any(|member| open.contains(&member.item)) {
        return false;
    }
    // The weight of a finding alone never makes a cluster; where it landed does.
    let grave = group.members.iter().any(|member| {
        let back = group.framing.is_some() || is_just_touched(history, member);
        open.contains(&member.item) && member.is_high() && back
    });
    group.members.len() >= if grave { ENOUGH_WHEN_HIGH } else { ENOUGH }
}

/// On lines that a fix of the round before wrote.
fn is_just_touched(history: &History, finding: &Remembered) -> bool {
    let touched = history.earlier().last().map_or(&[][..], |round| &round.touched);
    finding.span().is_some_and(|span| touched.iter().any(|touched| touched.overlaps(&span)))
}

fn cluster(group: Group<'_>) -> Cluster {
    let files: BTreeSet<RepoPath> = group.members.iter().filter_map(|member| member.path.clone()).collect();
    let files: Vec<RepoPath> = files.into_iter().collect();
    let names = files.iter().map(RepoPath::as_str).collect::<Vec<_>>().join(", ");
    let (root, rationale) = match &group.framing {
        Some(framing) => (
            format!("each asks for the same thing: {framing}"),
            format!("{} findings share the framing “{framing}”", group.members.len()),
        ),
        None => (
            format!("the code at one place of {names} carries more than one cause"),
            format!("{} findings overlap in {names}", group.members.len()),
        ),
    };
    Cluster {
        fired: true,
        evidence: group
            .members
            .iter()
            .map(|member| format!("{}, first raised in round {}", member.name(), member.round))
            .collect(),
        members: group.members.iter().map(|member| member.item.clone()).collect(),
        files,
        hypothesized_root: root,
        same_framing_rationale: rationale,
    }
}
