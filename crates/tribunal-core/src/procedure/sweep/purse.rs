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
    /// Efforts that cost something, for what the next ones will cost.
    pub efforts: u32,
    /// The most that an effort had and that was not enough for it.
    #[serde(default)]
    pub too_little: Money,
    /// Something was to be done for which all that was left is not enough: a ceiling that is kept is seldom met to the cent.
    #[serde(default)]
    pub exhausted: bool,
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

/// What is asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Asks {
    /// So many more are about to ask.
    pub others: u32,
    /// Less than this is hardly enough.
    pub likely: Money,
    /// That much is not enough.
    pub more_than: Money,
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
    /// What the next effort may take, when `reserved` is set aside for others.
    pub fn grant(&self, spent: Money, reserved: Money, asks: Asks) -> Grant {
        let Some(ceiling) = self.ceiling else { return Grant::Go(None) };
        let left = ceiling.minus(spent).minus(reserved);
        let share = Money::micros(left.micros / (u64::from(asks.others) + 1)).min(self.each);
        // Where sharing leaves crumbs, the first one takes what it needs and the others wait for what comes back.
        let share = if share < CRUMB.max(asks.likely) { left.min(self.each) } else { share };
        match (share >= CRUMB.min(ceiling) && share > asks.more_than, reserved > Money::ZERO) {
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
        // Who could not be paid says nothing of what it costs.
        self.efforts += u32::from(effort.spend.calls > 0);
    }

    /// What the next effort asks for. Once something could not be paid for, nobody is sent with less than such work has cost so far.
    pub fn asks(&self, others: u32) -> Asks {
        let (one, least) = (Money::micros(1), self.projected(1));
        let more_than = match (self.exhausted, self.efforts) {
            (false, _) => Money::ZERO,
            (true, 0) => self.too_little,
            (true, _) => least.minus(one),
        };
        Asks { others, likely: least.max(self.too_little.plus(one)), more_than }
    }

    /// An effort had that much, of which the ceiling left no more to it, and it was not enough.
    pub fn came_short(&mut self, had: Money, limits: &Limits, reserved: Money) {
        self.too_little = self.too_little.max(had);
        let again = Asks { more_than: had, ..Asks::default() };
        self.exhausted |= limits.grant(self.spent, reserved, again) == Grant::Refused;
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
            too_little: self.too_little,
            exhausted: self.exhausted,
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
        assert_eq!(open.grant(Money::micros(99_000_000), Money::ZERO, Asks::default()), Grant::Go(None));
        let mut purse = Purse::default();
        purse.settle(&effort(Cost::MicroUsd(Money::micros(7))), None, false);
        assert_eq!((purse.spent.micros, purse.tokens_in, purse.tokens_out, purse.agents), (7, 10, 3, 2));
    }

    /// Design rule 10: those who work at the same time share what is left; who finds nothing waits for what others give back.
    #[test]
    fn what_is_left_is_shared() {
        let limits = limits(3_000_000);
        let grant = |spent: u64, reserved: u64, others: u32| {
            limits.grant(Money::micros(spent), Money::micros(reserved), Asks { others, ..Asks::default() })
        };
        assert_eq!(grant(0, 0, 1), Grant::Go(Some(Money::micros(1_500_000))));
        assert_eq!(grant(0, 1_500_000, 0), Grant::Go(Some(Money::micros(1_500_000))));
        assert_eq!(grant(0, 3_000_000, 0), Grant::Wait);
        assert_eq!(grant(2_995_000, 0, 0), Grant::Refused);
        assert_eq!(grant(2_980_000, 0, 3), Grant::Go(Some(Money::micros(20_000))));
        let small = Limits { ceiling: Some(Money::micros(500)), ..limits };
        let three = Asks { others: 3, ..Asks::default() };
        assert_eq!(small.grant(Money::ZERO, Money::ZERO, three), Grant::Go(Some(Money::micros(500))));
    }

    /// Half of what is left is of no use where such work costs more than that, or where as much was not enough.
    #[test]
    fn a_share_is_enough_to_work_with() {
        let limits = limits(500_000);
        let mut purse = Purse::default();
        let grant = |purse: &Purse| limits.grant(purse.spent, Money::ZERO, purse.asks(1));
        for _ in 0..5 {
            assert_ne!(grant(&purse), Grant::Refused);
            purse.settle(&effort(Cost::MicroUsd(Money::micros(70_000))), None, true);
        }
        assert_eq!(grant(&purse), Grant::Go(Some(Money::micros(75_000))));
        purse.settle(&effort(Cost::MicroUsd(Money::micros(70_000))), None, true);
        assert_eq!(grant(&purse), Grant::Go(Some(Money::micros(80_000))));
        let mut first = Purse::default();
        first.came_short(Money::micros(250_000), &limits, Money::micros(250_000));
        assert_eq!((grant(&first), first.exhausted), (Grant::Go(Some(Money::micros(500_000))), false));
    }

    /// When all that was left was not enough, it is the end; somebody who costs less than that may still be sent.
    #[test]
    fn what_was_not_enough_exhausts_it() {
        let limits = limits(500_000);
        let mut purse = Purse::default();
        purse.settle(&effort(Cost::MicroUsd(Money::micros(300_000))), None, true);
        purse.came_short(Money::micros(200_000), &limits, Money::ZERO);
        assert!(purse.exhausted);
        assert_eq!(limits.grant(purse.spent, Money::ZERO, purse.asks(0)), Grant::Refused);
        purse.efforts = 3;
        assert_eq!(limits.grant(purse.spent, Money::ZERO, purse.asks(0)), Grant::Go(Some(Money::micros(200_000))));
        let mut never = Purse::default();
        never.came_short(Money::micros(500_000), &limits, Money::ZERO);
        assert_eq!(limits.grant(Money::ZERO, Money::ZERO, never.asks(3)), Grant::Refused);
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
        fn never_over_the_ceiling(ceiling in 1u64..50_000_000, likely in 0u64..2_000_000, moves in prop::collection::vec((0u64..100, any::<bool>()), 1..60)) {
            let limits = limits(ceiling);
            let mut purse = Purse::default();
            let mut set_aside: Vec<Money> = Vec::new();
            for (part, takes) in moves {
                let reserved: Money = set_aside.iter().copied().sum();
                if takes {
                    let asks = Asks { others: u32::try_from(part % 4).unwrap(), likely: Money::micros(likely), more_than: Money::ZERO };
                    match limits.grant(purse.spent, reserved, asks) {
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
