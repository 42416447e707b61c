//! Why a loop ends, which reason wins when several hold, and what a cycle is (WL sections 9, 10, 17).
//!
//! Arithmetic only: the count of cycles comes in and goes out, and is kept by whoever keeps the state.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// In the order of precedence: the first that holds is the reason (WL-52).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    InjectionSuspect,
    HighSeverityRejection,
    UserInputRequired,
    PlannerEscalation,
    BreakFixBreak,
    Blocked,
    RootClusterSuspected,
    DiminishingReturns,
    MergeAdvised,
    PrMerged,
    PrClosed,
    MaxIterationsReached,
    MaxCyclesReached,
    WatchWindowElapsed,
    /// A single pass that leaves items open (CF-32).
    PassComplete,
    Clean,
}

impl Reason {
    /// In the order of precedence.
    pub const ALL: [Reason; 16] = [
        Reason::InjectionSuspect,
        Reason::HighSeverityRejection,
        Reason::UserInputRequired,
        Reason::PlannerEscalation,
        Reason::BreakFixBreak,
        Reason::Blocked,
        Reason::RootClusterSuspected,
        Reason::DiminishingReturns,
        Reason::MergeAdvised,
        Reason::PrMerged,
        Reason::PrClosed,
        Reason::MaxIterationsReached,
        Reason::MaxCyclesReached,
        Reason::WatchWindowElapsed,
        Reason::PassComplete,
        Reason::Clean,
    ];

    /// The token by which other programs know it (WL-99).
    pub fn word(self) -> &'static str {
        match self {
            Reason::InjectionSuspect => "injection-suspect",
            Reason::HighSeverityRejection => "high-severity-rejection",
            Reason::UserInputRequired => "user-input-required",
            Reason::PlannerEscalation => "planner-escalation",
            Reason::BreakFixBreak => "break-fix-break",
            Reason::Blocked => "blocked",
            Reason::RootClusterSuspected => "root-cluster-suspected",
            Reason::DiminishingReturns => "diminishing-returns",
            Reason::MergeAdvised => "merge-advised",
            Reason::PrMerged => "pr-merged",
            Reason::PrClosed => "pr-closed",
            Reason::MaxIterationsReached => "max-iterations-reached",
            Reason::MaxCyclesReached => "max-cycles-reached",
            Reason::WatchWindowElapsed => "watch-window-elapsed",
            Reason::PassComplete => "pass-complete",
            Reason::Clean => "clean",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// A word that is none of the tokens. Two tokens in one word are none either (WL-54).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no known reason")]
pub struct UnknownToken(pub String);

impl FromStr for Reason {
    type Err = UnknownToken;
    fn from_str(text: &str) -> Result<Self, UnknownToken> {
        Reason::ALL.into_iter().find(|reason| reason.word() == text).ok_or_else(|| UnknownToken(text.to_owned()))
    }
}

/// The reason that wins; nothing when none holds (WL-49, WL-52).
pub fn precedence(reasons: &[Reason]) -> Option<Reason> {
    reasons.iter().min().copied()
}

/// The same over tokens, one in each word. None at all means `clean` (WL-54).
pub fn precedence_of_tokens<'a>(tokens: impl IntoIterator<Item = &'a str>) -> Result<Reason, UnknownToken> {
    let reasons = tokens.into_iter().map(Reason::from_str).collect::<Result<Vec<_>, _>>()?;
    Ok(precedence(&reasons).unwrap_or(Reason::Clean))
}

/// What a pass came back with (WL-47, WL-57). Nothing else may be returned, so a token out of place cannot be counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Return {
    Clean,
    /// The watched reviewer approved and nothing is left to do: the end, unlike a plain `clean`.
    ApprovalClean,
    /// Said to be fixed, and raised again (WL-51).
    SameFindingRepeat,
    RootClusterSuspected,
    MergeAdvised,
    PlannerEscalation,
    Blocked,
    InjectionSuspect,
    HighSeverityRejection,
    UserInputRequired,
}

impl Return {
    pub const ALL: [Return; 10] = [
        Return::Clean,
        Return::ApprovalClean,
        Return::SameFindingRepeat,
        Return::RootClusterSuspected,
        Return::MergeAdvised,
        Return::PlannerEscalation,
        Return::Blocked,
        Return::InjectionSuspect,
        Return::HighSeverityRejection,
        Return::UserInputRequired,
    ];

    pub fn word(self) -> &'static str {
        match self {
            Return::ApprovalClean => "approval-clean",
            Return::SameFindingRepeat => "same-finding-repeat",
            Return::Clean
            | Return::RootClusterSuspected
            | Return::MergeAdvised
            | Return::PlannerEscalation
            | Return::Blocked
            | Return::InjectionSuspect
            | Return::HighSeverityRejection
            | Return::UserInputRequired => self.reason().word(),
        }
    }

    /// The terminal reason that it stands for, should it be one.
    fn reason(self) -> Reason {
        match self {
            Return::Clean | Return::ApprovalClean => Reason::Clean,
            Return::SameFindingRepeat => Reason::MaxCyclesReached,
            Return::RootClusterSuspected => Reason::RootClusterSuspected,
            Return::MergeAdvised => Reason::MergeAdvised,
            Return::PlannerEscalation => Reason::PlannerEscalation,
            Return::Blocked => Reason::Blocked,
            Return::InjectionSuspect => Reason::InjectionSuspect,
            Return::HighSeverityRejection => Reason::HighSeverityRejection,
            Return::UserInputRequired => Reason::UserInputRequired,
        }
    }
}

impl FromStr for Return {
    type Err = UnknownToken;
    fn from_str(text: &str) -> Result<Self, UnknownToken> {
        Return::ALL.into_iter().find(|known| known.word() == text).ok_or_else(|| UnknownToken(text.to_owned()))
    }
}

impl TryFrom<Reason> for Return {
    type Error = UnknownToken;
    fn try_from(reason: Reason) -> Result<Self, UnknownToken> {
        reason.word().parse()
    }
}

/// The fewest cycles that make sense (CF-3).
pub const CYCLE_FLOOR: u32 = 1;

/// What the arithmetic starts from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cycle {
    /// Cycles so far.
    pub count: u32,
    pub max: u32,
    /// Items that this pass settled.
    pub resolved: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CycleError {
    #[error("`{0}` is no whole number")]
    NotANumber(String),
    #[error("{0} cycles are fewer than {CYCLE_FLOOR}, the fewest there can be")]
    BelowFloor(u32),
    #[error(transparent)]
    Unknown(#[from] UnknownToken),
}

impl Cycle {
    /// From words, as a command line has them. Digits only: a sign, a blank or `0x` is no number.
    pub fn read(count: &str, max: &str, resolved: &str) -> Result<Cycle, CycleError> {
        let number = |text: &str| {
            let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            text.parse::<u32>().ok().filter(|_| digits).ok_or_else(|| CycleError::NotANumber(text.to_owned()))
        };
        Ok(Cycle { count: number(count)?, max: number(max)?, resolved: number(resolved)? })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decided {
    pub count: u32,
    /// Nothing: keep watching.
    pub end: Option<Reason>,
}

/// What a pass makes of the count, and whether it is the last one (WL-47). A maximum below the floor is refused, not mended.
pub fn cycle_decision(cycle: Cycle, returned: Return) -> Result<Decided, CycleError> {
    if cycle.max < CYCLE_FLOOR {
        return Err(CycleError::BelowFloor(cycle.max));
    }
    let counted = if cycle.resolved >= 1 { cycle.count.saturating_add(1) } else { cycle.count };
    let reason = returned.reason();
    Ok(match returned {
        Return::SameFindingRepeat | Return::ApprovalClean | Return::RootClusterSuspected | Return::MergeAdvised => {
            Decided { count: cycle.count, end: Some(reason) }
        }
        // Its own reason stands, even where the count lands on the ceiling: a person must see the escalation, not the limit.
        Return::PlannerEscalation
        | Return::Blocked
        | Return::InjectionSuspect
        | Return::HighSeverityRejection
        | Return::UserInputRequired => Decided { count: counted, end: Some(reason) },
        Return::Clean => Decided { count: counted, end: (counted >= cycle.max).then_some(Reason::MaxCyclesReached) },
    })
}

/// The same over words (WL-47, row 7: any other token is an error).
pub fn cycle_decision_of(count: &str, max: &str, resolved: &str, returned: &str) -> Result<Decided, CycleError> {
    let cycle = Cycle::read(count, max, resolved)?;
    if cycle.max < CYCLE_FLOOR {
        return Err(CycleError::BelowFloor(cycle.max));
    }
    cycle_decision(cycle, returned.parse::<Return>()?)
}

/// What a wait ended on, where that ends the loop (WL-48).
pub fn reason_of_signal(signal: &str) -> Result<Reason, UnknownToken> {
    match signal {
        "STATE=MERGED" => Ok(Reason::PrMerged),
        "STATE=CLOSED" => Ok(Reason::PrClosed),
        "WATCH_TIMEOUT" => Ok(Reason::WatchWindowElapsed),
        "POLL_ERROR" => Ok(Reason::Blocked),
        other => Err(UnknownToken(other.to_owned())),
    }
}

/// What callers make of a reason (WL-105).
pub fn outcome(reason: Reason) -> &'static str {
    match reason {
        Reason::Clean | Reason::PrMerged | Reason::PrClosed | Reason::DiminishingReturns => "complete",
        Reason::MaxCyclesReached | Reason::MaxIterationsReached => "review_exhausted",
        Reason::WatchWindowElapsed => "review_window_elapsed",
        Reason::PlannerEscalation | Reason::RootClusterSuspected => "replan",
        Reason::MergeAdvised => "merge_advised",
        Reason::InjectionSuspect | Reason::Blocked | Reason::BreakFixBreak => "blocked",
        Reason::HighSeverityRejection => "review_rejected",
        Reason::UserInputRequired => "user_input_required",
        Reason::PassComplete => "pass_complete",
    }
}

/// The exit code of a command that ended so (design section 8). Zero is never said over something open at the fail level, save where
/// the pull request itself is over.
pub fn exit_code(reason: Reason, open_at_fail_level: bool) -> u8 {
    match reason {
        Reason::PrMerged | Reason::PrClosed => 0,
        Reason::Clean | Reason::MergeAdvised | Reason::DiminishingReturns | Reason::PassComplete => u8::from(open_at_fail_level),
        Reason::InjectionSuspect
        | Reason::HighSeverityRejection
        | Reason::UserInputRequired
        | Reason::PlannerEscalation
        | Reason::BreakFixBreak
        | Reason::RootClusterSuspected
        | Reason::MaxIterationsReached
        | Reason::MaxCyclesReached => 1,
        Reason::Blocked => 5,
        Reason::WatchWindowElapsed => 75,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn decide(count: u32, max: u32, resolved: u32, returned: Return) -> (u32, Option<Reason>) {
        let decided = cycle_decision(Cycle { count, max, resolved }, returned).unwrap();
        (decided.count, decided.end)
    }

    /// WL-52, WL-99: every token reads back, and serde writes the same word.
    #[test]
    fn tokens_read_back() {
        for reason in Reason::ALL {
            assert_eq!(reason.word().parse(), Ok(reason));
            assert_eq!(serde_json::to_string(&reason).unwrap(), format!("\"{reason}\""));
        }
        for returned in Return::ALL {
            assert_eq!(returned.word().parse(), Ok(returned));
        }
    }

    /// WL-52, WL-54, WL-55.
    #[test]
    fn the_first_of_the_list_wins() {
        assert_eq!(precedence(&[]), None);
        assert_eq!(precedence(&[Reason::Clean, Reason::Blocked, Reason::UserInputRequired]), Some(Reason::UserInputRequired));
        assert_eq!(precedence(&[Reason::PrMerged, Reason::HighSeverityRejection]), Some(Reason::HighSeverityRejection));
        assert_eq!(precedence(&[Reason::MaxCyclesReached, Reason::PrMerged]), Some(Reason::PrMerged));
        assert_eq!(precedence_of_tokens([]), Ok(Reason::Clean));
        assert_eq!(precedence_of_tokens(["clean", "watch-window-elapsed"]), Ok(Reason::WatchWindowElapsed));
        assert_eq!(precedence_of_tokens(["blocked clean"]), Err(UnknownToken("blocked clean".into())));
    }

    /// WL-47, row by row.
    #[test]
    fn a_cycle_is_a_pass_that_settled_something() {
        assert_eq!(decide(1, 3, 2, Return::SameFindingRepeat), (1, Some(Reason::MaxCyclesReached)));
        assert_eq!(decide(1, 3, 2, Return::ApprovalClean), (1, Some(Reason::Clean)));
        assert_eq!(decide(1, 3, 2, Return::RootClusterSuspected), (1, Some(Reason::RootClusterSuspected)));
        assert_eq!(decide(1, 3, 2, Return::MergeAdvised), (1, Some(Reason::MergeAdvised)));
        assert_eq!(decide(2, 3, 1, Return::Blocked), (3, Some(Reason::Blocked)));
        assert_eq!(decide(2, 3, 0, Return::UserInputRequired), (2, Some(Reason::UserInputRequired)));
        assert_eq!(decide(0, 3, 0, Return::Clean), (0, None));
        assert_eq!(decide(0, 3, 5, Return::Clean), (1, None));
        assert_eq!(decide(2, 3, 1, Return::Clean), (3, Some(Reason::MaxCyclesReached)));
        assert_eq!(decide(0, 1, 1, Return::Clean), (1, Some(Reason::MaxCyclesReached)));
    }

    /// WL-47 rows 1 and 7, WL-114, CF-3.
    #[test]
    fn what_cannot_be_counted_is_an_error() {
        assert_eq!(cycle_decision_of("0", "0", "0", "clean"), Err(CycleError::BelowFloor(0)));
        for bad in ["-1", "", " 1", "+1", "1.5", "0x1", "99999999999"] {
            assert_eq!(cycle_decision_of(bad, "3", "0", "clean"), Err(CycleError::NotANumber(bad.into())), "{bad}");
        }
        // Leading zeros are decimal.
        assert_eq!(cycle_decision_of("010", "011", "01", "clean").unwrap().count, 11);
        for token in ["pr-merged", "break-fix-break", "none", "Clean", "max-cycles-reached"] {
            assert_eq!(cycle_decision_of("0", "3", "0", token), Err(CycleError::Unknown(UnknownToken(token.into()))));
        }
        assert!(Return::try_from(Reason::PrMerged).is_err());
        assert_eq!(Return::try_from(Reason::Blocked), Ok(Return::Blocked));
    }

    /// WL-48, WL-128.
    #[test]
    fn a_quiet_window_is_not_an_exhausted_one() {
        assert_eq!(reason_of_signal("WATCH_TIMEOUT"), Ok(Reason::WatchWindowElapsed));
        assert_eq!(reason_of_signal("POLL_ERROR"), Ok(Reason::Blocked));
        assert!(reason_of_signal("CHANGED").is_err());
    }

    /// Design section 8, CF-31, CF-32.
    #[test]
    fn exit_codes() {
        assert_eq!(exit_code(Reason::Clean, false), 0);
        assert_eq!(exit_code(Reason::Clean, true), 1);
        assert_eq!(exit_code(Reason::PassComplete, false), 0);
        assert_eq!(exit_code(Reason::PassComplete, true), 1);
        assert_eq!(exit_code(Reason::PrMerged, true), 0);
        assert_eq!(exit_code(Reason::MaxCyclesReached, false), 1);
        assert_eq!(exit_code(Reason::Blocked, false), 5);
        assert_eq!(exit_code(Reason::WatchWindowElapsed, false), 75);
        assert_eq!(outcome(Reason::MaxCyclesReached), "review_exhausted");
    }

    /// WL-105: what callers make of each reason.
    #[test]
    fn every_reason_has_its_outcome() {
        for (outcomes, reasons) in [
            ("complete", vec![Reason::Clean, Reason::PrMerged, Reason::PrClosed]),
            ("review_exhausted", vec![Reason::MaxCyclesReached]),
            ("review_window_elapsed", vec![Reason::WatchWindowElapsed]),
            ("replan", vec![Reason::PlannerEscalation, Reason::RootClusterSuspected]),
            ("merge_advised", vec![Reason::MergeAdvised]),
            ("blocked", vec![Reason::InjectionSuspect, Reason::Blocked]),
            ("review_rejected", vec![Reason::HighSeverityRejection]),
            ("user_input_required", vec![Reason::UserInputRequired]),
        ] {
            assert!(reasons.iter().all(|reason| outcome(*reason) == outcomes), "{outcomes}");
        }
    }

    proptest! {
        /// WL-47: the count never falls, and never rises by more than one.
        #[test]
        fn the_count_moves_by_one_at_most(count in 0u32..50, max in 1u32..50, resolved in 0u32..5, which in 0usize..10) {
            let (next, end) = decide(count, max, resolved, Return::ALL[which]);
            prop_assert!(next == count || next == count + 1 && resolved > 0);
            prop_assert!(end.is_some() || Return::ALL[which] == Return::Clean && next < max);
        }
    }
}
