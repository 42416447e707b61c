//! The gate between what a reviewer said and what is kept.
//!
//! Every claim ends as an [`Admitted`] finding, as a line in a hygiene batch, or as a counted [`Dropped`]; none disappears.

mod cap;

use super::anchor::{Anchor, AnchorFailure, AnchorIndex, Hint, Quoting};
use super::category::{Category, slugify};
use super::cited_path::CitedPaths;
use super::key::Outline;
use super::leak::Watch;
use super::quote::Quote;
use super::race::{RaceTag, is_race, race_tag};
use super::report::{Claim, CleanCheck, DropSignal, Fix, PriorStatus, Report, TraceStep, Unread};
use super::role::Role;
use super::scale::{Blast, Confidence, Justification, Priority, Severity};
use super::window::Window;
use crate::diff::change::{Change, ChangedFile};
use crate::ids::{AgentName, CategoryCode, RepoPath, RoleName};
use crate::policy::context::Directive;
use crate::publish::outgoing::known::KnownSecrets;
use crate::publish::outgoing::mask::{Suspicion, has_secret};
use crate::publish::outgoing::{masked, masked_texts, masked_with, replacement};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A claim that passed: typed, anchored, and with all that its key is made of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Admitted {
    pub role: RoleName,
    pub agent: AgentName,
    /// Which of several samples of the agent.
    #[serde(default, skip_serializing_if = "crate::plan::panel::is_first")]
    pub sample: u32,
    pub category: CategoryCode,
    pub slug: String,
    pub path: RepoPath,
    pub anchor: Anchor,
    pub symbol: String,
    pub severity: Severity,
    pub cap: Option<Severity>,
    pub confidence: Confidence,
    pub blast: Blast,
    pub justification: Justification,
    pub failure_mode: String,
    pub mitigation: String,
    pub details: Option<String>,
    pub notes: Option<String>,
    pub spec_quote: Option<String>,
    pub questions: Vec<String>,
    pub mitigation_out_of_scope: bool,
    pub reversible: Option<bool>,
    pub race: Option<RaceTag>,
    pub rule: Option<String>,
    pub fix: Option<Fix>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub trace: Vec<TraceStep>,
    /// Goes into a batch instead of standing alone (PR-60, PR-62).
    pub batch: Option<Batch>,
    pub is_test: bool,
    pub is_sample: bool,
    pub is_prose: bool,
}

/// Why a finding is only batched (PR-65).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Batch {
    Hygiene,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Dropped {
    pub role: RoleName,
    pub agent: AgentName,
    pub reason: DropReason,
    pub category: CategoryCode,
    pub path: RepoPath,
    /// The claim's failure mode, cut to a line, so that a person can see what was dropped.
    pub claim: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DropReason {
    NotOwned,
    NeedsRepository,
    NotInChange,
    NoEvidence,
    EvidenceNotInDiff,
    UnchangedCode,
    AmbiguousEvidence,
    OutsideWindow,
    NoFailureMode,
    NoRaceTag,
    NoSpecQuote,
    SpecQuoteNotInSpec,
    SelfIntroduced,
    Dismissed,
    OutOfScope,
    LeakedSecret,
    TooMany,
}

impl DropReason {
    pub fn explanation(self) -> &'static str {
        match self {
            DropReason::NotOwned => "the category belongs to another role",
            DropReason::NeedsRepository => "it needs the repository beyond the diff, and there is none",
            DropReason::NotInChange => "the file is not part of the change",
            DropReason::NoEvidence => "nothing was quoted that tells one line from another",
            DropReason::EvidenceNotInDiff => "the quoted evidence does not stand in the diff",
            DropReason::UnchangedCode => "the quoted code was there before this change",
            DropReason::AmbiguousEvidence => {
                "the quoted code stands on changed and on unchanged lines, and nothing says which are meant"
            }
            DropReason::OutsideWindow => "the code did not change since the last review",
            DropReason::NoFailureMode => "it does not say in one line what breaks",
            DropReason::NoRaceTag => "a race finding without its window, damage and recovery tag",
            DropReason::NoSpecQuote => "a spec finding without a quote of the spec",
            DropReason::SpecQuoteNotInSpec => "the quoted sentence does not stand in the spec",
            DropReason::SelfIntroduced => "about code that the last fix wrote",
            DropReason::Dismissed => "dismissed earlier, and nothing new is known",
            DropReason::OutOfScope => "outside the scope that the change declares",
            DropReason::LeakedSecret => "its text held a secret of this machine",
            DropReason::TooMany => "the reviewer reported more than anyone would read",
        }
    }
}

/// One seat's answer after the gate.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct AdmittedReport {
    pub findings: Vec<Admitted>,
    pub dropped: Vec<Dropped>,
    pub not_applicable: Vec<CategoryCode>,
    pub checked_clean: Vec<CleanCheck>,
    pub prior: Vec<PriorStatus>,
    pub missing_prerequisites: Vec<String>,
    pub unread: Vec<Unread>,
    /// Results of a linter outside this change, by why they were not kept.
    #[serde(default)]
    pub left_alone: BTreeMap<DropReason, u32>,
    /// Claims beyond the cap that would have been a P0 or a P1: the seat saw more than it could say.
    #[serde(default)]
    pub over_cap: BTreeMap<Priority, u32>,
}

/// What the gate compares a report with.
pub struct Gate<'a> {
    pub role: &'a Role,
    pub agent: &'a AgentName,
    pub change: &'a Change,
    pub outlines: &'a BTreeMap<RepoPath, Outline>,
    /// In an incremental review: what changed since the last one. Whom it binds, must touch it (PR-31).
    pub window: Option<&'a Window>,
    pub has_repo: bool,
    pub spec: Option<&'a str>,
    /// What moves severity at the merge: it decides which claims are kept where there are too many.
    pub directives: &'a [Directive],
    pub author: Author<'a>,
}

/// Who wrote a report. It decides what its texts may hold.
#[derive(Debug, Clone, Copy)]
pub enum Author<'a> {
    /// Our own rules: their sentences come from rule files.
    Rules,
    /// A program that quotes the change in its messages: they are made harmless.
    Linter,
    /// Writes prose of its own: it is made harmless, and may not carry a secret out.
    Agent(&'a Watch),
}

impl Author<'_> {
    fn quoting(self) -> Quoting {
        match self {
            Author::Rules | Author::Linter => Quoting::Copied,
            Author::Agent(_) => Quoting::Written,
        }
    }
}

/// A line that people read stays a line: longer text is cut, with a sign that it was.
const MAX_LINE_CHARS: usize = 400;
const MAX_DETAILS_CHARS: usize = 4_000;
/// Steps of a trace that anybody would follow.
const MAX_TRACE_STEPS: usize = 20;

pub fn admit(report: Report, gate: &Gate<'_>) -> AdmittedReport {
    let report = match gate.author {
        Author::Agent(watch) => harmless_asides(report, |text| watch.leak(text).is_some()),
        Author::Linter => harmless_asides(report, |_| false),
        Author::Rules => report,
    };
    let paths = CitedPaths::new(gate.change);
    let unread = report.unread.into_iter().map(|unread| Unread { path: known_path(&paths, unread.path), ..unread });
    let mut admitted = AdmittedReport {
        not_applicable: report.not_applicable.into_iter().filter(|code| gate.role.owns(code)).collect(),
        checked_clean: report.checked_clean.into_iter().filter(|check| gate.role.owns(&check.category)).collect(),
        prior: report.prior,
        missing_prerequisites: report.missing_prerequisites.iter().map(|text| one_line(text)).collect(),
        unread: unread.collect(),
        left_alone: report.left_alone,
        ..AdmittedReport::default()
    };
    let mut indexes: BTreeMap<&RepoPath, AnchorIndex<'_>> = BTreeMap::new();
    for (n, (expected, claim)) in cap::heaviest_first(report.findings, gate, &paths).into_iter().enumerate() {
        let (category, path) = (claim.category.clone(), claim.file.clone());
        let is_over_cap = n >= cap::MAX_READ || expected.is_some() && admitted.findings.len() >= cap::MAX_CLAIMS;
        if let Some(priority) = expected.filter(|priority| is_over_cap && *priority <= Priority::P1) {
            *admitted.over_cap.entry(priority).or_insert(0) += 1;
        }
        let claim = match gate.author {
            _ if is_over_cap => Err(DropReason::TooMany),
            Author::Agent(watch) => harmless(claim, watch),
            Author::Linter => {
                Ok(Claim { rule: claim.rule.clone().filter(|rule| is_rule_name(rule)), ..with_harmless_prose(claim) })
            }
            Author::Rules => Ok(claim),
        };
        let text = claim.as_ref().map(|claim| one_line(&claim.failure_mode)).unwrap_or_default();
        let index = match paths.find(&path).filter(|_| claim.is_ok()) {
            Some(file) => {
                let fresh = || AnchorIndex::new(file).with_outline(gate.outlines.get(&file.path));
                Some(&*indexes.entry(&file.path).or_insert_with(fresh))
            }
            None => None,
        };
        match claim.and_then(|claim| admit_claim(claim, gate, index)) {
            Ok(finding) => admitted.findings.push(finding),
            Err(reason) => admitted.dropped.push(Dropped {
                role: gate.role.name.clone(),
                agent: gate.agent.clone(),
                reason,
                category,
                path: known_path(&paths, path),
                claim: text,
            }),
        }
    }
    // Whatever field a text stands in: from here on it is stored, printed and posted.
    masked_texts(&admitted)
}

/// The path of the file that is meant. One that is not part of the change is only a text, and filtered as one.
fn known_path(paths: &CitedPaths<'_>, path: RepoPath) -> RepoPath {
    paths.find(&path).map_or_else(|| RepoPath::from(masked(path.as_str()).as_str()), |file| file.path.clone())
}

fn admit_claim(claim: Claim, gate: &Gate<'_>, index: Option<&AnchorIndex<'_>>) -> Result<Admitted, DropReason> {
    let category = gate.role.category(&claim.category).ok_or(DropReason::NotOwned)?;
    if category.needs_repo && !gate.has_repo {
        return Err(DropReason::NeedsRepository);
    }
    let failure_mode = one_line(&claim.failure_mode);
    if failure_mode.is_empty() {
        return Err(DropReason::NoFailureMode);
    }
    let index = index.ok_or(DropReason::NotInChange)?;
    let file = index.file();
    let hint = Hint::new(claim.line_start, claim.line_end);
    let mut anchor = index.anchor(gate.author.quoting(), &claim.evidence, hint).map_err(|failure| match failure {
        AnchorFailure::NoEvidence => DropReason::NoEvidence,
        AnchorFailure::NotInDiff => DropReason::EvidenceNotInDiff,
        AnchorFailure::UnchangedCode => DropReason::UnchangedCode,
        AnchorFailure::Ambiguous => DropReason::AmbiguousEvidence,
    })?;
    let code = anchor.quote.clone();
    let (quote, keys) = index.masked_quote(&anchor, suspicion(&category.code));
    anchor.quote = quote;
    let claim = without_keys(claim, &keys);
    let failure_mode = one_line(&claim.failure_mode);
    let symbol = symbol_at(gate, file, anchor.line_start);
    if gate
        .window
        .is_some_and(|window| !window.admits(&file.path, &category.code, &anchor, &symbol, gate.outlines.get(&file.path)))
    {
        return Err(DropReason::OutsideWindow);
    }
    check_spec(gate, category, &claim)?;
    let slug = claim
        .slug
        .as_deref()
        .filter(|slug| !has_secret(slug))
        .map(slugify)
        .filter(|slug| !slug.is_empty())
        .unwrap_or_else(|| category.slug.clone());
    let mitigation = one_line(&claim.mitigation);
    let race = race_tag(&mitigation);
    // A linter has no words of its own for what a race may do, and quotes names of the change.
    let needs_tag = !matches!(gate.author, Author::Linter);
    if needs_tag && race.is_none() && (category.race || is_race(category.code.as_str(), &failure_mode, &slug)) {
        return Err(DropReason::NoRaceTag);
    }
    let batch = batch_of(&claim, gate.window.is_some())?;
    let is_spec_gap = is_spec_gap(&claim.questions, &failure_mode);
    let (blast, confidence) = verified_reach(gate.has_repo, claim.blast, claim.confidence);
    let withheld = claim.fix.as_ref().and_then(|fix| replacement::problem(&fix.written(), &replaced(file, fix, &code)));
    let notes = notes(&claim, withheld);
    Ok(Admitted {
        role: gate.role.name.clone(),
        agent: gate.agent.clone(),
        sample: 0,
        category: category.code.clone(),
        slug,
        path: file.path.clone(),
        anchor,
        symbol,
        severity: if is_spec_gap { Severity::Question } else { claim.severity.unwrap_or(category.severity) },
        cap: category.cap,
        confidence,
        blast,
        justification: claim.justification.unwrap_or(Justification::Hygiene),
        failure_mode,
        mitigation,
        details: claim.details.map(|text| cut(text.trim(), MAX_DETAILS_CHARS)).filter(|text| !text.is_empty()),
        notes,
        spec_quote: claim.spec_quote.map(|text| cut(text.trim(), MAX_DETAILS_CHARS)),
        questions: claim.questions.iter().map(|text| one_line(text)).collect(),
        mitigation_out_of_scope: claim.mitigation_out_of_scope,
        reversible: claim.reversible,
        race,
        rule: claim.rule,
        fix: claim.fix.filter(|fix| withheld.is_none() && fix.is_well_placed()),
        trace: shown_trace(claim.trace),
        batch: if is_spec_gap { None } else { batch },
        is_test: file.is_test(),
        is_sample: file.is_sample() || is_aside_for_rules(gate, file),
        is_prose: file.is_prose(),
    })
}

fn is_spec_gap(questions: &[String], failure_mode: &str) -> bool {
    !questions.is_empty() || failure_mode.starts_with("Spec gap:")
}

/// A rule knows a pattern and not its use: what it finds in documentation or translations has no reach.
fn is_aside_for_rules(gate: &Gate<'_>, file: &ChangedFile) -> bool {
    matches!(gate.author, Author::Rules) && !file.is_test() && !file.purpose().is_production()
}

/// A claim whose prose is harmless, or none at all if it carries a secret of ours. A key of known shape that the change itself may
/// hold is only taken out: the finding about it is worth having.
fn harmless(claim: Claim, watch: &Watch) -> Result<Claim, DropReason> {
    // What is cited stands in the change already, and is masked.
    let texts = [Some(&claim.failure_mode), Some(&claim.mitigation), claim.details.as_ref()];
    let written = claim.fix.as_ref().map(Fix::written);
    let more = [claim.notes.as_ref(), claim.slug.as_ref(), claim.spec_quote.as_ref(), written.as_ref()];
    if texts.into_iter().chain(more).flatten().chain(&claim.questions).any(|text| watch.leak(text).is_some()) {
        return Err(DropReason::LeakedSecret);
    }
    let evidence = crate::prompt::hidden(&claim.evidence);
    // Only rules and linters have rules, and only rules follow data line by line.
    Ok(Claim { evidence, rule: None, trace: Vec::new(), ..with_harmless_prose(claim) })
}

fn with_harmless_prose(claim: Claim) -> Claim {
    Claim {
        failure_mode: prose(&claim.failure_mode),
        mitigation: prose(&claim.mitigation),
        details: claim.details.as_deref().map(prose),
        notes: claim.notes.as_deref().map(prose),
        questions: claim.questions.iter().map(|text| prose(text)).collect(),
        trace: with_notes(&claim.trace, prose),
        ..claim
    }
}

/// The same steps in other words.
fn with_notes(trace: &[TraceStep], word: impl Fn(&str) -> String) -> Vec<TraceStep> {
    trace.iter().map(|step| TraceStep { line: step.line, note: word(&step.note) }).collect()
}

/// A trace as it is shown: short, each step on one line, and without the keys that the code may hold.
fn shown_trace(trace: Vec<TraceStep>) -> Vec<TraceStep> {
    let steps: Vec<TraceStep> = trace.into_iter().filter(|step| step.line >= 1).take(MAX_TRACE_STEPS).collect();
    with_notes(&steps, |note| one_line(&masked(note)))
}

/// A linter's name for a rule, and not a sentence in its place.
fn is_rule_name(rule: &str) -> bool {
    (1..=120).contains(&rule.len()) && rule.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_./:@#+".contains(&byte))
}

/// A quote in a finding about credentials shows no value that is called one.
pub fn suspicion(category: &CategoryCode) -> Suspicion {
    if category.as_str() == SECRETS { Suspicion::AboutSecrets } else { Suspicion::Usual }
}

/// Credentials in the code.
const SECRETS: &str = "S3";

/// The claim's prose without the keys of the code that it cites, however they look.
fn without_keys(claim: Claim, keys: &[String]) -> Claim {
    if keys.is_empty() {
        return claim;
    }
    let keys = KnownSecrets::new(keys.iter().map(String::as_str));
    let without = |text: &String| masked_with(text, &keys);
    Claim {
        failure_mode: without(&claim.failure_mode),
        mitigation: without(&claim.mitigation),
        details: claim.details.as_ref().map(without),
        notes: claim.notes.as_ref().map(without),
        questions: claim.questions.iter().map(without).collect(),
        trace: with_notes(&claim.trace, |note| masked_with(note, &keys)),
        ..claim
    }
}

/// What the reviewer noted, and why its fix is not offered.
fn notes(claim: &Claim, withheld: Option<replacement::ReplacementProblem>) -> Option<String> {
    let noted = claim.notes.as_deref().map(one_line).filter(|text| !text.is_empty());
    let withheld = withheld.map(|problem| format!("{FIX_LEFT_OUT}{}.", problem.words()));
    match (noted, withheld) {
        (Some(noted), Some(withheld)) => Some(format!("{noted} {withheld}")),
        (noted, withheld) => noted.or(withheld),
    }
}

/// How the note begins that names why a suggested fix is not offered.
pub const FIX_LEFT_OUT: &str = "The suggested fix is left out: ";

/// The lines that a fix would replace, and those it was found by.
fn replaced(file: &ChangedFile, fix: &Fix, code: &str) -> String {
    let lines = file.lines().filter(|line| line.new_line.is_some_and(|at| (fix.line_start..=fix.line_end).contains(&at)));
    lines.map(|line| line.text.as_str()).chain([code]).collect::<Vec<_>>().join("\n")
}

/// The same for what is said beside the findings.
fn harmless_asides(report: Report, leaks: impl Fn(&str) -> bool) -> Report {
    let kept = |text: &str| if leaks(text) { String::new() } else { prose(text) };
    Report {
        checked_clean: report
            .checked_clean
            .into_iter()
            .map(|check| CleanCheck { evidence: kept(&check.evidence), ..check })
            .collect(),
        prior: report
            .prior
            .into_iter()
            .map(|status| PriorStatus { note: kept(&status.note), is_switched_off: false, ..status })
            .collect(),
        missing_prerequisites: report
            .missing_prerequisites
            .iter()
            .map(|text| kept(text))
            .filter(|text| !text.is_empty())
            .collect(),
        unread: report.unread.into_iter().map(|unread| Unread { reason: kept(&unread.reason), ..unread }).collect(),
        ..report
    }
}

fn prose(text: &str) -> String {
    super::plain::plain(&masked(text))
}

fn symbol_at(gate: &Gate<'_>, file: &ChangedFile, line: u32) -> String {
    let outline = gate.outlines.get(&file.path);
    outline
        .map(|outline| outline.enclosing(line))
        .filter(|symbol| !symbol.is_empty())
        .or_else(|| file.hunk_heading(line).map(str::to_owned))
        .unwrap_or_default()
}

/// PR-58: the spec auditor quotes the spec as well as the code, both verbatim.
fn check_spec(gate: &Gate<'_>, category: &Category, claim: &Claim) -> Result<(), DropReason> {
    if !category.code.as_str().starts_with('C') {
        return Ok(());
    }
    let quote = claim.spec_quote.as_deref().filter(|quote| !quote.trim().is_empty());
    let Some(quote) = quote else { return Err(DropReason::NoSpecQuote) };
    let stands = gate.spec.is_some_and(|spec| Quote::new(quote).stands_in(spec));
    if stands { Ok(()) } else { Err(DropReason::SpecQuoteNotInSpec) }
}

/// One outcome per drop signal (PR-127): A, C and D are batched, B, E and F are dropped. An asymmetric finding of wide reach
/// escapes B alone (PR-63, PR-128).
fn batch_of(claim: &Claim, incremental: bool) -> Result<Option<Batch>, DropReason> {
    let asymmetric = claim.justification == Some(Justification::Asymmetric) && claim.blast.is_wide();
    // Without an earlier review there is no fix that could have introduced anything (PR-64).
    let signal = claim.signal.filter(|signal| incremental || *signal != DropSignal::SelfIntroduced);
    match signal {
        Some(DropSignal::SelfIntroduced) if asymmetric => Ok(None),
        Some(DropSignal::SelfIntroduced) => Err(DropReason::SelfIntroduced),
        Some(DropSignal::Dismissed) => Err(DropReason::Dismissed),
        Some(DropSignal::OutOfScope) => Err(DropReason::OutOfScope),
        Some(DropSignal::Hypothetical | DropSignal::CallShape | DropSignal::Style) => Ok(Some(Batch::Hygiene)),
        None => Ok(match claim.justification {
            None | Some(Justification::Hygiene) => Some(Batch::Hygiene),
            Some(_) => None,
        }),
    }
}

/// PR-54: without the repository no reach is verified.
fn verified_reach(has_repo: bool, blast: Blast, confidence: Confidence) -> (Blast, Confidence) {
    if has_repo {
        return (blast, confidence);
    }
    match blast {
        Blast::Local | Blast::LocalUnverified | Blast::Module => (Blast::LocalUnverified, confidence.lowered()),
        Blast::CrossService | Blast::DataLayer => (blast, confidence.lowered()),
    }
}

/// Folds text to one line and cuts it.
pub fn one_line(text: &str) -> String {
    cut(&super::anchor::fold(text), MAX_LINE_CHARS)
}

fn cut(text: &str, limit: usize) -> String {
    if text.chars().count() <= limit {
        return text.to_owned();
    }
    let mut kept: String = text.chars().take(limit - 1).collect();
    kept.push('…');
    kept
}

#[cfg(test)]
mod tests;
