//! What a seat is given to read, in the shape that its kind of agent takes.

use super::Effects;
use super::context::{Beside, Context};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use tribunal_context::outline::outline;
use tribunal_core::call::usage::estimate_tokens;
use tribunal_core::combine::finding::Finding;
use tribunal_core::combine::prior::OpenFinding;
use tribunal_core::diff::change::{AddedLines, Change, ChangedFile};
use tribunal_core::findings::brief::{Assignment, PriorFinding, reading_order};
use tribunal_core::findings::key::Outline;
use tribunal_core::findings::present::{PresentCode, present_code};
use tribunal_core::findings::window::Window;
use tribunal_core::ids::{RepoPath, Sha};
use tribunal_core::plan::files::Disposition;
use tribunal_core::policy::context::parse_context;
use tribunal_core::procedure::review::{Phase, Plan, State, Target};
use tribunal_core::prompt::RunWords;
use tribunal_core::prompt::brief::{Part, common_sections, shared};
use tribunal_core::prompt::diff_excerpt::diff_near;
use tribunal_core::prompt::pieces::Chosen;
use tribunal_core::prompt::slices::{Focus, Slice, parts, slices};
use tribunal_forge::git::change::ReadChange;

/// The change under review and everything that was said about it, read once for a seat.
pub(super) struct Given {
    pub read: Arc<ReadChange>,
    pub window: Option<Arc<Window>>,
    prior: Vec<PriorFinding>,
    context: String,
    range: Option<String>,
    base: Sha,
    head: Sha,
}

/// What of a change is given.
struct PartSource<'a> {
    files: &'a [&'a ChangedFile],
    /// What changed since the last review, where only that is given.
    window: Option<&'a Window>,
    common: &'a [String],
}

/// One question's worth of a change.
pub(super) struct SharedPart {
    pub text: String,
    pub paths: BTreeSet<RepoPath>,
    pub around: Chosen,
}

impl Effects {
    pub(super) fn given(&self, state: &State, patch: Option<Vec<u8>>) -> Result<Given, String> {
        let plan = plan(state)?;
        let said = |error: tribunal_forge::git::GitError| error.to_string();
        let texts: Vec<&str> = state.request.context.iter().chain(&state.request.policy.context).map(String::as_str).collect();
        let (base, head) = (state.request.target.base(), state.request.target.head());
        let read = self.change(state, patch).map_err(said)?;
        Ok(Given {
            window: self.window(state).map_err(said)?,
            prior: plan.prior.iter().map(|open| open.for_brief(Some(self.present(state, &read.change, open)))).collect(),
            read,
            context: parse_context(&texts.join("\n")).map(|context| context.prose).unwrap_or_default(),
            range: plan.since.as_ref().map(|since| format!("{since}..{head}")),
            base,
            head,
        })
    }
}

impl Effects {
    /// The code of an open finding at the head, from the change or from the tree.
    fn present(&self, state: &State, change: &Change, open: &OpenFinding) -> PresentCode {
        let finding = &open.finding;
        let in_change = change.file(&finding.file).and_then(|file| file.new_text.as_deref()).map(str::to_owned);
        let in_tree = || match &state.request.target {
            Target::Trees { head, .. } => self.repository.as_deref()?.file_at(head, finding.file.as_str()),
            Target::Patch { .. } => None,
        };
        let text = in_change.or_else(|| String::from_utf8(in_tree()?).ok());
        present_code(&finding.evidence, finding.line_start, text.as_deref())
    }
}

pub(super) fn plan(state: &State) -> Result<&Plan, String> {
    match &state.phase {
        Phase::Reviewing(reviewing) | Phase::Verifying(reviewing) => Ok(&reviewing.plan),
        Phase::Reading
        | Phase::Publishing(_)
        | Phase::Declining { .. }
        | Phase::Done(_)
        | Phase::Noop { .. }
        | Phase::NotRun { .. }
        | Phase::Failed { .. } => Err("the run is not under review".into()),
    }
}

impl Given {
    pub fn change(&self) -> &Change {
        &self.read.change
    }

    pub fn assignment<'a>(&'a self, state: &'a State, plan: &'a Plan, beside: &'a Beside) -> Assignment<'a> {
        let pull = state.request.pull.as_ref();
        Assignment {
            mode: plan.mode,
            flags: &plan.flags,
            base: &self.base,
            head: &self.head,
            files: self.files(plan),
            spec: state.request.spec.as_deref(),
            test_direction: state.request.test_direction.as_ref(),
            context: Some(self.context.as_str()).filter(|text| !text.is_empty()),
            guidance: &beside.guidance,
            linked_issue: pull.and_then(|pull| pull.linked_issue.as_ref()).map(|issue| issue.text.as_str()),
            dismissed_findings: &beside.dismissed_findings,
            language: pull.and_then(|pull| pull.language.as_deref()),
            prior_findings: &self.prior,
            prior_clean: &plan.prior_clean,
            prior_fix_range: self.range.as_deref(),
            window: self.window.as_deref(),
        }
    }

    /// The files that a reviewer reads, code first and prose last.
    pub fn files(&self, plan: &Plan) -> Vec<&ChangedFile> {
        let given: BTreeSet<&RepoPath> = plan
            .files
            .iter()
            .filter(|planned| planned.in_scope && planned.disposition == Disposition::Review)
            .map(|planned| &planned.file.path)
            .collect();
        reading_order(self.change(), |file| given.contains(&file.path))
    }

    /// Code around the whole change, for an agent that is given it at once.
    pub fn around(&self, plan: &Plan, context: &Context, limit: u64) -> Chosen {
        let files = self.files(plan);
        let lines = |file: &&ChangedFile| (file.path.clone(), file.lines().filter_map(|line| line.new_line).collect());
        let diff = files.iter().flat_map(|file| file.lines()).map(|line| estimate_tokens(&line.text)).sum();
        context.around(&files, &files.iter().map(lines).collect(), diff, limit)
    }

    /// The change as text, in parts of at most `limit` tokens.
    pub fn shared_parts(&self, state: &State, plan: &Plan, context: &Context, beside: &Beside, limit: u64) -> Vec<SharedPart> {
        let common = common_sections(&state.request.roles);
        let source = PartSource { files: &self.files(plan), window: self.window.as_deref(), common: &common };
        self.parts_of(&source, state, plan, context, beside, limit)
    }

    /// The code that some findings are about, as text: file by file, each with all of its findings, several small ones in one part.
    pub fn parts_near(
        &self,
        findings: &[Finding],
        state: &State,
        plan: &Plan,
        context: &Context,
        beside: &Beside,
        limit: u64,
    ) -> Vec<SharedPart> {
        let about = |file: &ChangedFile| findings.iter().filter(|finding| finding.file == file.path).collect::<Vec<_>>();
        let seen = self.change().files.iter().filter(|file| !about(file).is_empty());
        let trimmed: Vec<ChangedFile> = seen.map(|file| diff_near(file, outline_of(file).as_ref(), &about(file))).collect();
        let source = PartSource { files: &trimmed.iter().collect::<Vec<_>>(), window: None, common: &[] };
        self.parts_of(&source, state, plan, context, beside, limit)
    }

    fn parts_of(
        &self,
        source: &PartSource<'_>,
        state: &State,
        plan: &Plan,
        context: &Context,
        beside: &Beside,
        limit: u64,
    ) -> Vec<SharedPart> {
        let PartSource { files, window, common } = *source;
        let words = RunWords::new(&state.request.nonce);
        let assignment = self.assignment(state, plan, beside);
        let outlines: BTreeMap<&RepoPath, Outline> =
            files.iter().filter_map(|file| Some((&file.path, outline_of(file)?))).collect();
        let mut open_lines: BTreeMap<&RepoPath, BTreeSet<u32>> = BTreeMap::new();
        for prior in &self.prior {
            open_lines.entry(&prior.file).or_default().insert(prior.line);
        }
        let none = BTreeSet::new();
        let all: Vec<Slice> = files
            .iter()
            .flat_map(|file| {
                let window: Option<AddedLines> = window.map(|window| window.lines_of(file).into_iter().collect());
                let focus = Focus { window: window.as_ref(), open_lines: open_lines.get(&file.path).unwrap_or(&none) };
                slices(file, outlines.get(&file.path), &focus, limit)
            })
            .collect();
        let parts = parts(all, limit);
        let of = parts.len();
        (1..)
            .zip(parts)
            .map(|(number, slices)| {
                let paths: BTreeSet<RepoPath> = slices.iter().map(|slice| slice.path.clone()).collect();
                let size: u64 = slices.iter().map(|slice| estimate_tokens(&slice.text)).sum();
                let around = context.around(files, &shown_lines(&slices), size, limit);
                let text = shared(&assignment, &words, common, Part { number, of }, &slices, &around.excerpts);
                SharedPart { text, paths, around }
            })
            .collect()
    }
}

/// Lines of the new files that these slices show.
fn shown_lines(slices: &[Slice]) -> BTreeMap<RepoPath, BTreeSet<u32>> {
    let mut shown: BTreeMap<RepoPath, BTreeSet<u32>> = BTreeMap::new();
    for slice in slices {
        shown.entry(slice.path.clone()).or_default().extend(&slice.shown);
    }
    shown
}

fn outline_of(file: &ChangedFile) -> Option<Outline> {
    Some(outline(file.language()?, file.new_text.as_deref()?))
}
