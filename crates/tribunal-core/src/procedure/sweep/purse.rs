//! Money, tokens and counts of a run (SL section 18). An amount is set aside before an agent is sent to work and replaced by what it
//! took when it is back, so that what is spent and what is set aside never pass the ceiling together (design rule 10).

use super::effect::Effort;
use crate::call::money::Money;
use crate::report::receipt::Cost;
use serde::{Deserialize, Serialize};

/// Less than this is not worth sending anybody for, unless the whole ceiling is less.
const CRUMB: Money = Money { micros: 10_000 };

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Purse {
    pub spent: Money,
    /// Efforts whose price nobody knows.
    pub unknown: u32,
    pub tokens_in: u64,
    pub tokens_out: u64,
    pub agents: u32,
    /// Reviews and replies that were posted (SL-131).
    pub comments: u32,
    pub merges: u32,
    /// Efforts that were settled, for what the next ones will cost.
    pub efforts: u32,
}

/// What holds for money.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    pub ceiling: Option<Money>,
    /// Somebody asked for it: what nobody knows the price of counts as all that was set aside for it.
    pub strict: bool,
    /// The most that one effort may take.
    pub each: Money,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grant {
    /// `None`: no ceiling holds.
    Go(Option<Money>),
    /// What is left is set aside for others, who may give some back.
    Wait,
    /// There is nothing left.
    Refused,
}

impl Limits {
    /// What the next effort may take, when `others` more are about to ask and `reserved` is set aside.
    pub fn grant(&self, spent: Money, reserved: Money, others: u32) -> Grant {
        let Some(ceiling) = self.ceiling else { return Grant::Go(None) };
        let left = ceiling.minus(spent).minus(reserved);
        let share = Money::micros(left.micros / (u64::from(others) + 1)).min(self.each);
        // Where sharing leaves crumbs, the first one takes what it needs and the others wait for what comes back.
        let (share, least) = (if share < CRUMB { left.min(self.each) } else { share }, CRUMB.min(ceiling));
        match (share >= least && share > Money::ZERO, reserved > Money::ZERO) {
            (true, _) => Grant::Go(Some(share)),
            (false, true) => Grant::Wait,
            (false, false) => Grant::Refused,
        }
    }
}

impl Purse {
    /// An effort is over: what it took takes the place of what was set aside.
    pub fn settle(&mut self, effort: &Effort, allowance: Option<Money>, strict: bool) {
        let cost = match (effort.spend.cost, allowance) {
            (Cost::Free, _) => Money::ZERO,
            (Cost::MicroUsd(money), _) => money,
            (Cost::Unknown, allowance) => {
                self.unknown += 1;
                allowance.filter(|_| strict).unwrap_or_default()
            }
        };
        self.spent = self.spent.plus(cost);
        self.tokens_in = self.tokens_in.saturating_add(effort.spend.usage.total_input());
        self.tokens_out = self.tokens_out.saturating_add(effort.spend.usage.output);
        self.agents = self.agents.saturating_add(effort.agents);
        self.efforts += 1;
    }

    /// What so many more are likely to cost, from what those before did. Before the first nobody knows.
    pub fn projected(&self, efforts: u32) -> Money {
        let each = self.spent.micros.checked_div(u64::from(self.efforts)).unwrap_or(0);
        Money::micros(each.saturating_mul(u64::from(efforts)))
    }

    /// What was added since `before`.
    pub fn since(&self, before: &Purse) -> Purse {
        Purse {
            spent: self.spent.minus(before.spent),
            unknown: self.unknown - before.unknown,
            tokens_in: self.tokens_in - before.tokens_in,
            tokens_out: self.tokens_out - before.tokens_out,
            agents: self.agents - before.agents,
            comments: self.comments - before.comments,
            merges: self.merges - before.merges,
            efforts: self.efforts - before.efforts,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::usage::Usage;
    use crate::procedure::review::Spend;
    use proptest::prelude::*;

    fn limits(ceiling: u64) -> Limits {
        Limits { ceiling: Some(Money::micros(ceiling)), strict: true, each: Money::micros(5_000_000) }
    }

    fn effort(cost: Cost) -> Effort {
        Effort { spend: Spend { calls: 1, usage: Usage { input: 10, output: 3, ..Usage::default() }, cost }, agents: 2 }
    }

    /// SL-15: 0 disables the stop, and the sum is kept.
    #[test]
    fn without_a_ceiling_the_sum_is_kept() {
        let open = Limits { ceiling: None, ..limits(0) };
        assert_eq!(open.grant(Money::micros(99_000_000), Money::ZERO, 0), Grant::Go(None));
        let mut purse = Purse::default();
        purse.settle(&effort(Cost::MicroUsd(Money::micros(7))), None, false);
        assert_eq!((purse.spent.micros, purse.tokens_in, purse.tokens_out, purse.agents), (7, 10, 3, 2));
    }

    /// Design rule 10: those who work at the same time share what is left; who finds nothing waits for what others give back.
    #[test]
    fn what_is_left_is_shared() {
        let limits = limits(3_000_000);
        assert_eq!(limits.grant(Money::ZERO, Money::ZERO, 1), Grant::Go(Some(Money::micros(1_500_000))));
        assert_eq!(limits.grant(Money::ZERO, Money::micros(1_500_000), 0), Grant::Go(Some(Money::micros(1_500_000))));
        assert_eq!(limits.grant(Money::ZERO, Money::micros(3_000_000), 0), Grant::Wait);
        assert_eq!(limits.grant(Money::micros(2_995_000), Money::ZERO, 0), Grant::Refused);
        assert_eq!(limits.grant(Money::micros(2_980_000), Money::ZERO, 3), Grant::Go(Some(Money::micros(20_000))));
        let small = Limits { ceiling: Some(Money::micros(500)), ..limits };
        assert_eq!(small.grant(Money::ZERO, Money::ZERO, 3), Grant::Go(Some(Money::micros(500))));
    }

    /// SL-133, and as `budget.rs` has it: unknown is never nothing where somebody asked for a ceiling.
    #[test]
    fn an_unknown_price_takes_all_that_was_set_aside() {
        let mut purse = Purse::default();
        purse.settle(&effort(Cost::Unknown), Some(Money::micros(900)), true);
        assert_eq!((purse.spent.micros, purse.unknown), (900, 1));
        purse.settle(&effort(Cost::Unknown), Some(Money::micros(900)), false);
        assert_eq!((purse.spent.micros, purse.unknown), (900, 2));
    }

    /// SL-143: the projection is what efforts took so far.
    #[test]
    fn the_projection_is_an_average() {
        let mut purse = Purse::default();
        assert_eq!(purse.projected(5), Money::ZERO);
        purse.settle(&effort(Cost::MicroUsd(Money::micros(100))), None, false);
        purse.settle(&effort(Cost::MicroUsd(Money::micros(300))), None, false);
        assert_eq!(purse.projected(3), Money::micros(600));
    }

    proptest! {
        /// Whatever is granted and however it comes back, spent and reserved never pass the ceiling.
        #[test]
        fn never_over_the_ceiling(ceiling in 1u64..50_000_000, moves in prop::collection::vec((0u64..100, any::<bool>()), 1..60)) {
            let limits = limits(ceiling);
            let mut purse = Purse::default();
            let mut set_aside: Vec<Money> = Vec::new();
            for (part, takes) in moves {
                let reserved: Money = set_aside.iter().copied().sum();
                if takes {
                    match limits.grant(purse.spent, reserved, u32::try_from(part % 4).unwrap()) {
                        Grant::Go(Some(money)) => set_aside.push(money),
                        Grant::Go(None) => prop_assert!(false, "there is a ceiling"),
                        Grant::Wait => prop_assert!(!set_aside.is_empty()),
                        Grant::Refused => prop_assert!(set_aside.is_empty()),
                    }
                } else if let Some(allowance) = set_aside.pop() {
                    let cost = Cost::MicroUsd(Money::micros(allowance.micros * part / 100));
                    purse.settle(&effort(cost), Some(allowance), true);
                }
                let reserved: Money = set_aside.iter().copied().sum();
                prop_assert!(purse.spent.plus(reserved) <= Money::micros(ceiling));
            }
        }
    }
}
