//! The receipt: which head was read, how much of it, by whom, under which rules, and what came out. Without one there is no
//! green (design rule 1).

use super::reason::Reason;
use crate::call::fault::{Fault, Remedy};
use crate::call::money::Money;
use crate::call::price::Price;
use crate::call::usage::Usage;
use crate::combine::verdict::{Outcome, Verdict};
use crate::diff::change::FileStatus;
use crate::findings::admit::DropReason;
use crate::ids::{AgentName, RepoPath, RunId, Sha};
use crate::plan::files::{Disposition, FileSummary, NotReviewed, SkipReason};
use crate::plan::mode::{Mode, Widening};
use crate::plan::panel::{NotCalled, Seat};
use crate::prompt::guidance::GuidanceReceipt;
use crate::prompt::pieces::{Piece, PieceKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Receipt {
    pub version: u32,
    pub run: RunId,
    pub engine: String,
    pub base: Sha,
    pub head: Sha,
    /// The branch that the pull request is to be merged into. On a receipt without it nothing is merged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_branch: Option<String>,
    /// What a person calls base and head: branch names, `working tree`, a file.
    pub subject: String,
    pub mode: Mode,
    /// The head of the last review, in an incremental one.
    pub since: Option<Sha>,
    pub widened: Option<Widening>,
    /// Config, rules, roles, inputs and engine, hashed: another value means another review.
    pub fingerprint: String,
    pub seats: Vec<SeatReceipt>,
    pub not_called: Vec<NotCalled>,
    pub coverage: Coverage,
    pub dropped: BTreeMap<DropReason, u32>,
    #[serde(default)]
    pub bill: Bill,
    /// The prompt files that every model was given, hashed. Absent when no model was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompts_hash: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub second_opinion: Option<SecondOpinionReceipt>,
    /// What the built-in rules have checked. Absent where they have not looked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rules_check: Option<RulesCheck>,
    /// What models, agent CLIs and commands were given beside the change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub context: Vec<ContextReceipt>,
    pub outcome: Outcome,
    pub verdict: Option<Verdict>,
    /// Milliseconds since 1970-01-01 UTC.
    pub started_at: u64,
    pub finished_at: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SeatReceipt {
    #[serde(flatten)]
    pub seat: Seat,
    /// `rules`, `command`, `sarif`, `anthropic`, `claude`, …
    pub kind: String,
    /// The model that was asked, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    pub prompt_hash: String,
    pub state: SeatState,
    /// The agent that was asked in its place when it could not answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaced_by: Option<AgentName>,
    pub findings: u32,
    pub dropped: u32,
    #[serde(default)]
    pub reading: Reading,
    #[serde(default)]
    pub calls: u32,
    #[serde(default)]
    pub usage: Usage,
    pub cost: Cost,
}

impl SeatReceipt {
    /// Rules and linters say the same thing whoever asks: they prove what they prove and no more (CF-27).
    pub fn is_mechanical(&self) -> bool {
        matches!(self.kind.as_str(), "rules" | "sarif")
    }

    fn has_answered(&self) -> bool {
        self.state == SeatState::Ok && self.replaced_by.is_none()
    }
}

/// What a seat was given beside the change, the role and the prompts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ContextGiven {
    /// What the maintainers wrote, in the order in which it was given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub guidance: Vec<GuidanceReceipt>,
    /// Guidance that there was no room for.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub guidance_left_out: u32,
    /// The number of the linked issue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub linked_issue: Option<u64>,
    /// Findings that were named as dismissed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub dismissed_findings: u32,
    /// Unchanged code, best first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pieces: Vec<Piece>,
    /// Pieces of each kind that there was no room for.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub pieces_left_out: BTreeMap<PieceKind, u32>,
    /// The search for pieces was stopped by its limits of time, files or bytes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_search_cut: bool,
    /// An estimate of what the pieces take.
    #[serde(default)]
    pub piece_tokens: u64,
}

fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// The same for every seat that was given the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ContextReceipt {
    /// As in `sdet/claude`.
    pub seats: Vec<String>,
    #[serde(flatten)]
    pub given: ContextGiven,
}

/// How much the built-in rules have checked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RulesCheck {
    /// Rules that apply to one of the files or more.
    pub rules: u32,
    pub files: u32,
}

/// Who has looked at a change, as far as the words of its review depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LookedBy {
    Agents,
    /// No model and no person, so nothing is approved.
    RulesAlone(Option<RulesCheck>),
}

impl LookedBy {
    pub fn of(seats: &[SeatReceipt], check: Option<RulesCheck>) -> Self {
        let mut answered = seats.iter().filter(|seat| seat.has_answered()).peekable();
        match answered.peek().is_some() && answered.all(SeatReceipt::is_mechanical) {
            true => LookedBy::RulesAlone(check),
            false => LookedBy::Agents,
        }
    }
}

/// What became of the verification of findings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SecondOpinionReceipt {
    pub agent: AgentName,
    pub state: SeatState,
    pub asked: u32,
    pub confirmed: u32,
    pub refuted: u32,
    pub usage: Usage,
    pub cost: Cost,
}

/// How much of the change a seat was given. A large change is given in parts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Reading {
    pub files: u32,
    pub read: u32,
    pub parts: u32,
}

/// How a seat ended. A reason may quote what an agent or a server said, so it is stored and shown without secrets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SeatState {
    Ok,
    Failed {
        reason: Reason,
    },
    TimedOut {
        after_seconds: u64,
    },
    /// Quota or outage: nothing is wrong with the change or the set-up, and later it may work.
    Unavailable {
        reason: Reason,
        /// Seconds that the other side wants to be left alone, if it said so.
        retry_after: Option<u64>,
    },
    /// A cap was reached before it had read everything.
    OverBudget {
        reason: Reason,
    },
    /// This author's change was not given to it.
    Withheld {
        reason: Reason,
    },
    /// The repository's file names it, and the person who runs this has not trusted that.
    NotTrusted {
        reason: Reason,
    },
}

impl SeatState {
    /// How a seat ends whose agent failed, after everything that asking again could do.
    pub fn from_fault(fault: &Fault) -> SeatState {
        match (fault, fault.remedy(u32::MAX, 0)) {
            (Fault::OutOfTime { seconds }, _) => SeatState::TimedOut { after_seconds: *seconds },
            (_, Remedy::Later { seconds }) => SeatState::Unavailable { reason: fault.to_string().into(), retry_after: seconds },
            (_, Remedy::Fail | Remedy::Retry { .. }) => SeatState::Failed { reason: fault.to_string().into() },
        }
    }

    /// What went wrong, in a line.
    pub fn trouble(&self) -> Option<String> {
        match self {
            SeatState::Ok => None,
            SeatState::Failed { reason } => Some(reason.to_string()),
            SeatState::TimedOut { after_seconds } => Some(format!("no answer within {after_seconds} s")),
            SeatState::Unavailable { reason, retry_after: Some(seconds) } => {
                Some(format!("{reason} (it asks to wait {seconds} s)"))
            }
            SeatState::Unavailable { reason, retry_after: None } => Some(reason.to_string()),
            SeatState::OverBudget { reason } => Some(format!("the budget stopped it: {reason}")),
            SeatState::Withheld { reason } => Some(format!("was not asked: {reason}")),
            SeatState::NotTrusted { reason } => Some(format!("not-run: {reason}")),
        }
    }
}

/// Money spent. What is not known is never written as nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Cost {
    /// Runs on this machine and costs nothing.
    #[default]
    Free,
    /// It may have cost something, and nobody here knows what.
    Unknown,
    /// Millionths of a dollar.
    MicroUsd(Money),
}

impl Cost {
    /// What an agent says it cost, or what the price list says; tokens that nobody counted have no known cost.
    pub fn of_answer(stated: Option<Money>, usage: &Usage, price: Option<&Price>) -> Cost {
        match (stated, price) {
            (Some(cost), _) => Cost::MicroUsd(cost),
            (None, Some(price)) if !usage.is_nothing() => Cost::MicroUsd(price.cost(usage)),
            (None, _) => Cost::Unknown,
        }
    }

    /// A call that was turned away before any work cost nothing.
    pub fn of_fault(fault: &Fault, usage: &Usage, price: Option<&Price>) -> Cost {
        if usage.is_nothing() && !fault.may_be_billed() {
            return Cost::MicroUsd(Money::ZERO);
        }
        Cost::of_answer(None, usage, price)
    }

    pub fn words(self) -> String {
        match self {
            Cost::Free => "free".into(),
            Cost::Unknown => "unknown".into(),
            Cost::MicroUsd(money) => money.to_string(),
        }
    }

    pub fn plus(self, other: Cost) -> Cost {
        match (self, other) {
            (Cost::Unknown, _) | (_, Cost::Unknown) => Cost::Unknown,
            (Cost::Free, other) => other,
            (cost, Cost::Free) => cost,
            (Cost::MicroUsd(a), Cost::MicroUsd(b)) => Cost::MicroUsd(a.plus(b)),
        }
    }
}

/// The bill of a run: what is known, and how many seats have no known price.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Bill {
    pub usage: Usage,
    /// Millionths of a dollar.
    pub known_micro_usd: Money,
    pub seats_of_unknown_cost: u32,
}

impl Bill {
    pub fn of<'a>(parts: impl Iterator<Item = (&'a Usage, Cost)>) -> Self {
        parts.fold(Bill::default(), |bill, (usage, cost)| Bill {
            usage: bill.usage.plus(*usage),
            known_micro_usd: match cost {
                Cost::MicroUsd(money) => bill.known_micro_usd.plus(money),
                Cost::Free | Cost::Unknown => bill.known_micro_usd,
            },
            seats_of_unknown_cost: bill.seats_of_unknown_cost + u32::from(cost == Cost::Unknown),
        })
    }

    /// `$0.12`, `at most $0.12`, `$0.12 + unknown`, `unknown`, `free`.
    pub fn words(&self) -> String {
        match (self.known_micro_usd, self.seats_of_unknown_cost) {
            (money, 0) if self.usage.uncounted > 0 => format!("at most {money}"),
            (Money::ZERO, 0) => "free".into(),
            (money, 0) => money.to_string(),
            (Money::ZERO, _) => "unknown".into(),
            (money, _) => format!("{money} + unknown"),
        }
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Coverage {
    pub files: u32,
    pub reviewed: u32,
    pub lines_only: u32,
    pub unchanged: u32,
    pub skipped: u32,
    /// To be read, but no reviewer that answered has read it.
    #[serde(default)]
    pub unread: u32,
    /// Nobody could read it, and the base does not exempt it.
    #[serde(default)]
    pub not_reviewed: u32,
    pub added_lines: u64,
    pub removed_lines: u64,
    pub accounts: Vec<FileAccount>,
}

/// How one file of the diff ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileAccount {
    pub path: RepoPath,
    pub status: FileStatus,
    pub ended: FileEnd,
    pub added: u32,
    pub removed: u32,
    /// How closely the built-in rules could look: `syntax` or `lines`. Absent when they did not look.
    pub rules_depth: Option<RulesDepth>,
    /// Why only its lines were checked, where the base says that a tool wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exempt: Option<SkipReason>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FileEnd {
    Reviewed,
    /// Its added lines were checked; its code was written by a tool, as the base says.
    LinesOnly,
    /// Read by the last review and not changed since.
    Unchanged,
    /// Not read, and the base says that it need not be.
    Skipped(SkipReason),
    /// It should have been read and could not be.
    NotReviewed(NotReviewed),
    /// Every reviewer that was given it failed, or said that it could not read it.
    Unread,
}

/// What those that answered could look at. A reviewer that failed has read nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Read {
    /// Somebody was given the file and did not say that he could not read it.
    pub whole: bool,
    /// The rules have looked, which alone are given the lines of generated files.
    pub lines: bool,
    /// The rules could not look at all of it.
    pub cut: Option<NotReviewed>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RulesDepth {
    Lines,
    Syntax,
}

impl FileEnd {
    /// Should have been read, and was not.
    pub fn is_missing(&self) -> bool {
        match self {
            FileEnd::Unread | FileEnd::NotReviewed(_) => true,
            FileEnd::Skipped(reason) => reason.is_hole(),
            FileEnd::Reviewed | FileEnd::LinesOnly | FileEnd::Unchanged => false,
        }
    }
}

impl FileEnd {
    /// The reason in words, where the file was not read in full.
    pub fn words(&self) -> Option<&'static str> {
        match self {
            FileEnd::Reviewed | FileEnd::Unchanged => None,
            FileEnd::LinesOnly => Some("generated, lines only"),
            FileEnd::Skipped(reason) => Some(reason.words()),
            FileEnd::NotReviewed(reason) => Some(reason.words()),
            FileEnd::Unread => Some("not read by anyone"),
        }
    }
}

/// Proof that every file of a change was read, or need not be because the base says so, and that at least one was read in full.
/// Without it no review is clean: [`crate::combine::verdict`] asks for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WholeCoverage(());

impl Coverage {
    pub fn new(accounts: Vec<FileAccount>) -> Self {
        let count = |holds: fn(&FileEnd) -> bool| accounts.iter().filter(|account| holds(&account.ended)).count() as u32;
        Coverage {
            files: accounts.len() as u32,
            reviewed: count(|end| matches!(end, FileEnd::Reviewed)),
            lines_only: count(|end| matches!(end, FileEnd::LinesOnly)),
            unchanged: count(|end| matches!(end, FileEnd::Unchanged)),
            skipped: count(|end| matches!(end, FileEnd::Skipped(_))),
            unread: count(|end| matches!(end, FileEnd::Unread)),
            not_reviewed: count(|end| matches!(end, FileEnd::NotReviewed(_))),
            added_lines: accounts.iter().map(|account| u64::from(account.added)).sum(),
            removed_lines: accounts.iter().map(|account| u64::from(account.removed)).sum(),
            accounts,
        }
    }

    pub fn whole(&self) -> Option<WholeCoverage> {
        let is_missing = self.accounts.iter().any(|account| account.ended.is_missing());
        let is_read = self.accounts.iter().any(|account| matches!(account.ended, FileEnd::Reviewed | FileEnd::Unchanged));
        (!is_missing && is_read).then_some(WholeCoverage(()))
    }

    /// Files that should have been read and could not be, whoever was asked.
    pub fn holes(&self) -> impl Iterator<Item = &FileAccount> {
        self.accounts.iter().filter(|account| account.ended.is_missing() && account.ended != FileEnd::Unread)
    }

    /// Every file that was not read in full, by the reason, most in need of attention first.
    pub fn by_reason(&self) -> Vec<(&'static str, Vec<&FileAccount>)> {
        let mut groups: BTreeMap<(bool, &'static str), Vec<&FileAccount>> = BTreeMap::new();
        for account in &self.accounts {
            if let Some(words) = account.ended.words() {
                groups.entry((!account.ended.is_missing(), words)).or_default().push(account);
            }
        }
        groups.into_iter().map(|((_, words), accounts)| (words, accounts)).collect()
    }

    /// Read by line rules alone, because the rules have no grammar for it or not the whole text.
    pub fn by_lines(&self) -> impl Iterator<Item = &FileAccount> {
        self.accounts.iter().filter(|account| {
            account.ended == FileEnd::Reviewed
                && account.status != FileStatus::Deleted
                && account.rules_depth == Some(RulesDepth::Lines)
        })
    }
}

impl Receipt {
    /// Did anybody answer? If not there was no review, whatever was planned (PR-7).
    pub fn is_of_a_review(&self) -> bool {
        self.seats.iter().any(|seat| seat.state == SeatState::Ok)
    }

    /// The seats that answered and whose answer counts.
    pub fn answered(&self) -> impl Iterator<Item = &SeatReceipt> {
        self.seats.iter().filter(|seat| seat.has_answered())
    }

    pub fn looked_by(&self) -> LookedBy {
        LookedBy::of(&self.seats, self.rules_check)
    }

    /// The verdict in words. Rules alone give none, whatever a program reads in the field.
    pub fn verdict_words(&self) -> &'static str {
        match (self.verdict, self.looked_by()) {
            (Some(Verdict::Lgtm), LookedBy::RulesAlone(_)) => "none (rules only)",
            (verdict, LookedBy::RulesAlone(_) | LookedBy::Agents) => Verdict::words(verdict),
        }
    }
}

pub fn account(
    file: &FileSummary,
    disposition: Disposition,
    in_scope: bool,
    read: Read,
    rules_depth: Option<RulesDepth>,
) -> FileAccount {
    let mut exempt = None;
    let ended = match disposition {
        Disposition::Skip(exemption) => FileEnd::Skipped(exemption.reason()),
        Disposition::NotReviewed(reason) => FileEnd::NotReviewed(reason),
        Disposition::Review if !in_scope => FileEnd::Unchanged,
        Disposition::Review => match read.cut {
            Some(reason) => FileEnd::NotReviewed(reason),
            None if read.whole => FileEnd::Reviewed,
            None => FileEnd::Unread,
        },
        // Outside the scope it was the last review that checked its lines.
        Disposition::LinesOnly(exemption) if read.lines || !in_scope => {
            exempt = Some(exemption.reason());
            FileEnd::LinesOnly
        }
        Disposition::LinesOnly(exemption) if read.whole => FileEnd::Skipped(exemption.reason()),
        Disposition::LinesOnly(_) => FileEnd::Unread,
    };
    let (path, status) = (file.path.clone(), file.status);
    FileAccount { path, status, ended, added: file.added, removed: file.removed, rules_depth, exempt }
}
