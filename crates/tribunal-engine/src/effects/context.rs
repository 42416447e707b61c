//! What a seat is given beside the change: the maintainers' guidance as the base has it, the linked issue, what people dismissed, and the
//! code around. Read once for all seats of a run, so that all of them are told the same, byte for byte.

use super::Effects;
use super::given::Given;
use crate::context::{ContextLimits, Gathered, gather};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, PoisonError};
use tribunal_core::call::usage::estimate_tokens;
use tribunal_core::combine::dismissal;
use tribunal_core::diff::change::ChangedFile;
use tribunal_core::findings::brief::DismissedFinding;
use tribunal_core::ids::{RepoPath, Sha};
use tribunal_core::policy::guidance::GuidanceConfig;
use tribunal_core::procedure::review::{Plan, State, Target};
use tribunal_core::prompt::guidance::{Guidance, GuidancePlace, GuidanceSource, compose, sources};
use tribunal_core::prompt::pieces::{Candidate, Chosen, budget, choose};
use tribunal_core::report::receipt::ContextGiven;
use tribunal_forge::git::Repository;

/// A file of guidance that is larger was not written for reviewers.
const MAX_GUIDANCE_BYTES: u64 = 256 * 1024;

/// Read from git; what of it fits depends on the agent.
#[derive(Default)]
pub(super) struct Context {
    gathered: Gathered,
    guidance: Vec<(GuidanceSource, String)>,
    guidance_left_out: u32,
}

/// What goes with every part of a change.
#[derive(Default)]
pub(super) struct Beside {
    pub guidance: Guidance,
    pub dismissed_findings: Vec<DismissedFinding>,
}

impl Effects {
    /// Blocks while git works, and with it every seat that asks at the same moment.
    pub(super) fn context(&self, state: &State, given: &Given, plan: &Plan) -> Arc<Context> {
        let mut kept = self.context.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(context) = kept.as_ref() {
            return Arc::clone(context);
        }
        let files = given.files(plan);
        let repository = self.repository.as_deref();
        let tree = match &state.request.target {
            Target::Trees { head, .. } => repository.map(|repository| (repository, head)),
            Target::Patch { .. } => None,
        };
        let (guidance, guidance_left_out) =
            read_guidance(repository, state.request.guidance_at.as_ref(), &files, &state.request.policy.guidance);
        let gathered = gather(tree, &files, ContextLimits::default());
        let context = Arc::new(Context { gathered, guidance, guidance_left_out });
        *kept = Some(Arc::clone(&context));
        context
    }
}

/// The guidance for these files. Only a commit that the change did not write is asked.
fn read_guidance(
    repository: Option<&Repository>,
    commit: Option<&Sha>,
    files: &[&ChangedFile],
    configured: &[GuidanceConfig],
) -> (Vec<(GuidanceSource, String)>, u32) {
    let changed: Vec<&RepoPath> = files.iter().map(|file| &file.path).collect();
    let base = repository.zip(commit);
    // Links are no files here: they lead to a file that is listed itself, or out of the repository.
    let listed = base.and_then(|(repository, commit)| repository.listed(commit, &[".".to_owned()]).ok());
    let tree: Vec<RepoPath> = listed.unwrap_or_default().into_iter().map(|(path, _)| path).collect();
    let (sources, mut left_out) = sources(&tree, &changed, configured);
    let paths: Vec<&RepoPath> = sources
        .iter()
        .filter_map(|source| match &source.place {
            GuidancePlace::File(path) => Some(path),
            GuidancePlace::Entry { .. } => None,
        })
        .collect();
    let texts = match base {
        Some((repository, commit)) => repository.texts_at(commit, &paths, MAX_GUIDANCE_BYTES),
        None => BTreeMap::new(),
    };
    let mut read = Vec::new();
    for source in sources {
        let text = match &source.place {
            GuidancePlace::Entry { text, .. } => Some(text.clone()),
            GuidancePlace::File(path) => texts.get(path).cloned(),
        };
        match text {
            Some(text) => read.push((source, text)),
            None => left_out += 1,
        }
    }
    (read, left_out)
}

impl Context {
    /// What goes with every part, where a question holds `limit` tokens: guidance takes at most a quarter of them.
    pub fn beside(&self, plan: &Plan, limit: u64) -> Beside {
        // The estimate of tokens, backwards.
        let bytes = usize::try_from(limit / 4 * 33 / 10).unwrap_or(usize::MAX);
        Beside {
            guidance: compose(self.guidance.clone(), self.guidance_left_out, bytes),
            dismissed_findings: dismissed_findings(plan),
        }
    }

    /// Code around the lines that a part of the change shows.
    pub fn around(&self, files: &[&ChangedFile], shown: &BTreeMap<RepoPath, BTreeSet<u32>>, diff: u64, limit: u64) -> Chosen {
        let whole: u64 = files
            .iter()
            .filter(|file| shown.contains_key(&file.path))
            .filter_map(|file| file.new_text.as_deref())
            .map(estimate_tokens)
            .sum();
        let is_shown = |candidate: &&Candidate| {
            let touched = self.gathered.symbols.get(&candidate.of);
            shown.get(&candidate.of.path).is_some_and(|lines| {
                touched.is_none_or(|touched| touched.is_empty() || touched.iter().any(|line| lines.contains(line)))
            })
        };
        let candidates: Vec<Candidate> = self.gathered.candidates.iter().filter(is_shown).cloned().collect();
        choose(&candidates, shown, budget(diff, whole, limit))
    }

    /// For the receipt.
    pub fn given(&self, state: &State, beside: &Beside, parts: &[&Chosen]) -> ContextGiven {
        let mut given = ContextGiven {
            guidance: beside.guidance.texts.iter().map(|text| text.receipt()).collect(),
            guidance_left_out: beside.guidance.left_out,
            linked_issue: state.request.pull.as_ref().and_then(|pull| pull.linked_issue.as_ref()).map(|issue| issue.number),
            dismissed_findings: beside.dismissed_findings.len() as u32,
            is_search_cut: self.gathered.is_cut,
            ..ContextGiven::default()
        };
        for chosen in parts {
            given.piece_tokens += chosen.tokens;
            for piece in &chosen.pieces {
                if !given.pieces.contains(piece) {
                    given.pieces.push(piece.clone());
                }
            }
            for (kind, count) in &chosen.left_out {
                *given.pieces_left_out.entry(*kind).or_insert(0) += count;
            }
        }
        given
    }
}

impl Beside {
    /// What it takes of a question.
    pub fn tokens(&self, state: &State) -> u64 {
        let issue = state.request.pull.as_ref().and_then(|pull| pull.linked_issue.as_ref());
        let dismissed = serde_json::to_string_pretty(&self.dismissed_findings).unwrap_or_default();
        estimate_tokens(&self.guidance.listing())
            + estimate_tokens(&dismissed)
            + issue.map_or(0, |issue| estimate_tokens(&issue.text))
    }
}

/// The word of the change's own author silences a finding and does not clear it, so it is not told to those who judge anew.
fn dismissed_findings(plan: &Plan) -> Vec<DismissedFinding> {
    let dismissed = |open: &tribunal_core::combine::prior::OpenFinding| {
        let finding = &open.finding;
        let said = dismissal::find(&plan.dismissals, finding.id).or_else(|| finding.dismissed.clone())?;
        said.accepted.then(|| DismissedFinding {
            id: finding.id,
            file: finding.file.clone(),
            line: finding.line_start,
            category: finding.category_code.clone(),
            failure_mode: finding.failure_mode.clone(),
            reason: said.reason,
        })
    };
    plan.prior.iter().filter_map(dismissed).collect()
}
