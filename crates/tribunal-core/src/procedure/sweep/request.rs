//! What a sweep is asked for: as typed ([`Flags`]), and what that means ([`Request`]). Stored with the run, so that going on after a
//! kill needs no file and no flag.

use super::history::Carried;
use crate::call::money::Money;
use crate::ids::RunId;
use crate::merge::policy::Wanted;
use crate::policy::config::Policy;
use crate::policy::loops::LoopPolicy;
use crate::policy::span::Span;
use crate::policy::sweep::SweepConfig;
use crate::publish::visible::visible_line;
use crate::pull::place::{ForgeKind, Project};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// More at once fail more than they help (SL-165).
pub const MOST_PAIRS: u32 = 4;
const USUAL_PAIRS: u32 = 2;
const USUAL_CEILINGS: Ceilings =
    Ceilings { iterations: 5, pulls: 20, minutes: 60, dollars: Some(Money { micros: 25_000_000 }), dollars_set: false };
/// Between two ticks.
const USUAL_REST: Span = Span::seconds(300);
/// How long an answer is waited for.
const USUAL_ANSWER: Span = Span::seconds(600);
/// How long pending checks are waited for.
const USUAL_CHECKS: Span = Span::seconds(900);
pub const BUDGET_FILE: &str = ".sdd/loop/review.budget.json";
pub const HISTORY_FILE: &str = ".sdd/loop/review.history.jsonl";

/// Fixed for the life of a run, save for the ceilings, which a `raise` moves ([`super::tour::Tour`]).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Request {
    pub run: RunId,
    pub engine: String,
    pub forge: ForgeKind,
    pub project: Project,
    pub target: Target,
    pub terms: Terms,
    /// What reviews go by.
    pub policy: Policy,
    /// What responses go by.
    pub loops: LoopPolicy,
    /// Random, and unknown to whoever writes on a pull request.
    pub nonce: String,
}

/// SL-28.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Target {
    /// Open pull requests whose branch belongs to an issue of the spec, or whose body names it.
    Spec(String),
    /// Exactly these.
    Numbers(BTreeSet<u64>),
    /// Every open one.
    Open,
    /// Open ones with this label.
    Label(String),
    /// Open ones whose title, description, branch or author hold all of these words.
    Search(String),
    /// `--pr N`: this one, watched until it is over (SL-149).
    One(u64),
}

impl Target {
    pub fn single(&self) -> Option<u64> {
        match self {
            Target::One(number) => Some(*number),
            Target::Spec(_) | Target::Numbers(_) | Target::Open | Target::Label(_) | Target::Search(_) => None,
        }
    }

    /// For people.
    pub fn words(&self) -> String {
        match self {
            Target::Spec(spec) => spec.clone(),
            Target::Open => "all open pull requests".to_owned(),
            Target::Label(label) => format!("open pull requests labelled {}", visible_line(label)),
            Target::Search(words) => format!("open pull requests with the words {}", visible_line(words)),
            Target::One(number) => format!("PR #{number}"),
            Target::Numbers(numbers) => format!("PRs {}", numbered(numbers)),
        }
    }
}

/// As people write several of them.
pub(super) fn numbered<'a>(numbers: impl IntoIterator<Item = &'a u64>) -> String {
    let all: Vec<String> = numbers.into_iter().map(|number| format!("#{number}")).collect();
    all.join(", ")
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Terms {
    pub pairs: u32,
    /// Whether this run is to merge at all (CF-1). How, and on whose word, the base says.
    pub merging: Wanted,
    /// Somebody can be asked about the order of several merges, and `--yes` has not answered (CF-28).
    pub ask_order: bool,
    /// Looks and says what it would do; nothing else (SL-9).
    pub dry_run: bool,
    pub module: Option<String>,
    pub mode: Mode,
    /// How long an answer to a gate is waited for; the wall clock of a loop ends it too.
    pub answer: Span,
    /// How long pending checks are waited for before a review and after a push; the wall clock of a loop ends it too.
    pub checks: Span,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// One tick. No files, no ceilings but the policy's own budget (SL-11).
    Once,
    Loop(Box<Looping>),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Looping {
    pub ceilings: Ceilings,
    pub lock: LockMode,
    /// Between two ticks.
    pub every: Span,
    pub budget_file: String,
    pub history_file: String,
    /// Where prices come from, for the budget file (SL-133).
    pub rates: String,
    /// What an earlier run left, with `--resume`.
    pub carried: Option<Box<Carried>>,
    /// Patterns that are struck out of questions and answers in the history (SL-155). Checked before the run began.
    pub redact: Vec<String>,
}

/// For the whole run, not for a tick (SL-20).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ceilings {
    pub iterations: u32,
    /// Distinct pull requests; holds for no watch of a single one (SL-13).
    pub pulls: u32,
    pub minutes: u64,
    /// Nothing: no ceiling, the sum is still kept (SL-15).
    pub dollars: Option<Money>,
    /// Somebody asked for that ceiling, so that a price which nobody knows cannot pass it; as `needs_prices` of a budget.
    pub dollars_set: bool,
}

impl Ceilings {
    /// The four numbers, without where they come from.
    pub fn figures(&self) -> (u32, u32, u64, Option<Money>) {
        (self.iterations, self.pulls, self.minutes, self.dollars)
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LockMode {
    #[default]
    Skip,
    Wait,
    Force,
}

/// The command line as typed (SL-6).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Flags {
    pub pairs: Option<u32>,
    pub no_merge: bool,
    pub merge: bool,
    pub dry_run: bool,
    pub module: Option<String>,
    /// Somebody sits at a terminal and can be asked.
    pub terminal: bool,
    /// `--yes`: nothing is asked that the flags have answered.
    pub yes: bool,
    /// How long an answer is waited for.
    pub answer: Option<Span>,
    pub checks: Option<Span>,
    pub looping: bool,
    pub loops: LoopFlags,
}

/// Those that mean nothing without `--loop` (SL-20).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LoopFlags {
    pub pr: Option<u64>,
    pub max_iterations: Option<u32>,
    pub max_prs: Option<u32>,
    pub max_minutes: Option<u64>,
    pub max_dollars: Option<f64>,
    pub lock: Option<LockMode>,
    pub resume: bool,
    pub every: Option<Span>,
    pub budget_file: Option<String>,
}

impl LoopFlags {
    /// The first that was given, as it is typed.
    fn given(&self) -> Option<&'static str> {
        [
            ("--pr", self.pr.is_some()),
            ("--max-iterations", self.max_iterations.is_some()),
            ("--max-prs", self.max_prs.is_some()),
            ("--max-minutes", self.max_minutes.is_some()),
            ("--max-dollars", self.max_dollars.is_some()),
            ("--lock", self.lock.is_some()),
            ("--resume", self.resume),
            ("--every", self.every.is_some()),
            ("--budget-file", self.budget_file.is_some()),
        ]
        .into_iter()
        .find_map(|(name, given)| given.then_some(name))
    }

    fn looping(&self, config: &SweepConfig) -> Result<Looping, String> {
        let (usual, most) = (USUAL_CEILINGS, |name: &str| format!("{name} must be at least 1"));
        let ceilings = Ceilings {
            iterations: self.max_iterations.unwrap_or(usual.iterations),
            pulls: self.max_prs.unwrap_or(usual.pulls),
            minutes: self.max_minutes.unwrap_or(usual.minutes),
            dollars: match self.max_dollars {
                None => usual.dollars,
                Some(dollars) => {
                    let money = Money::from_dollars(dollars).ok_or("--max-dollars is no amount of dollars")?;
                    Some(money).filter(|money| *money > Money::ZERO)
                }
            },
            dollars_set: self.max_dollars.is_some_and(|dollars| dollars > 0.0),
        };
        for (name, is_none) in [
            ("--max-iterations", ceilings.iterations == 0),
            ("--max-prs", ceilings.pulls == 0),
            ("--max-minutes", ceilings.minutes == 0),
        ] {
            if is_none {
                return Err(most(name));
            }
        }
        let budget_file = self.budget_file.clone().unwrap_or_else(|| BUDGET_FILE.to_owned());
        Ok(Looping {
            ceilings,
            lock: self.lock.unwrap_or_default(),
            every: self.every.or(config.every).unwrap_or(USUAL_REST),
            budget_file,
            history_file: HISTORY_FILE.to_owned(),
            rates: "built-in default".to_owned(),
            carried: None,
            redact: config.redact.clone(),
        })
    }
}

impl Flags {
    /// What the flags mean, over what the configuration says.
    pub fn terms(&self, config: &SweepConfig) -> Result<Terms, String> {
        if let Some(problem) = config.problem() {
            return Err(problem);
        }
        let pairs = self.pairs.or(config.pairs).unwrap_or(USUAL_PAIRS);
        if pairs == 0 {
            return Err("--pairs must be at least 1".to_owned());
        }
        if self.merge && self.no_merge {
            return Err("--merge and --no-merge exclude each other".to_owned());
        }
        let mode = match (self.looping, self.loops.given()) {
            (false, Some(flag)) => return Err(format!("{flag} needs --loop")),
            (false, None) => Mode::Once,
            (true, _) => Mode::Loop(Box::new(self.loops.looping(config)?)),
        };
        let merging = match (self.merge, self.no_merge) {
            (true, _) => Wanted::Asked,
            (false, true) => Wanted::Refused,
            (false, false) => Wanted::AsConfigured,
        };
        Ok(Terms {
            pairs: pairs.min(MOST_PAIRS),
            merging,
            ask_order: self.terminal && !self.yes,
            dry_run: self.dry_run,
            module: self.module.clone(),
            mode,
            answer: self.answer.or(config.answer_within).unwrap_or(USUAL_ANSWER),
            checks: self.checks.or(config.checks).unwrap_or(USUAL_CHECKS),
        })
    }
}

impl Request {
    pub fn looping(&self) -> Option<&Looping> {
        match &self.terms.mode {
            Mode::Once => None,
            Mode::Loop(looping) => Some(looping),
        }
    }

    /// What a plain sweep may cost: what `[budget] run_usd` says, or the usual ceiling of a loop; and whether somebody asked for it.
    pub fn plain_ceiling(&self) -> (Option<Money>, bool) {
        let budget = &self.policy.budget;
        if budget.needs_prices { (Some(budget.run), true) } else { (USUAL_CEILINGS.dollars, false) }
    }
}
