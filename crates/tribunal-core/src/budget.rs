//! Money and tokens before they are spent (design rule 10): a call is only made after its worst case was set aside under every
//! cap, and what it really took replaces that afterwards.

use crate::call::money::Money;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `[budget]`
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BudgetConfig {
    /// Dollars for one run. Default 5.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_usd: Option<f64>,
    /// Dollars for all runs of one change. Default: no cap of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub case_usd: Option<f64>,
    /// Dollars for a calendar month (UTC), in this ledger. Default: no cap of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub month_usd: Option<f64>,
    /// Tokens, read and written, for one run; holds for models without a known price too. Default 5000000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_tokens: Option<u64>,
}

/// The caps that hold for a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Budget {
    pub run: Money,
    pub case: Option<Money>,
    pub month: Option<Money>,
    pub run_tokens: u64,
    /// Somebody set a cap in dollars, so a call whose price nobody knows cannot be shown to stay under it.
    pub needs_prices: bool,
}

impl Default for Budget {
    fn default() -> Self {
        Self { run: Money { micros: 5_000_000 }, case: None, month: None, run_tokens: 5_000_000, needs_prices: false }
    }
}

impl Budget {
    /// The same caps, and no more than this for the run: a share of what a larger work may spend.
    pub fn within(self, allowance: Option<Money>) -> Budget {
        match allowance {
            None => self,
            Some(most) => Budget { run: self.run.min(most), needs_prices: true, ..self },
        }
    }
}

impl BudgetConfig {
    pub fn budget(&self) -> Result<Budget, String> {
        let money = |name: &str, dollars: Option<f64>| match dollars {
            None => Ok(None),
            Some(dollars) => Money::from_dollars(dollars).map(Some).ok_or_else(|| format!("`{name}` is no amount of dollars")),
        };
        let (run, case, month) =
            (money("run_usd", self.run_usd)?, money("case_usd", self.case_usd)?, money("month_usd", self.month_usd)?);
        let usual = Budget::default();
        Ok(Budget {
            run: run.unwrap_or(usual.run),
            case,
            month,
            run_tokens: self.run_tokens.unwrap_or(usual.run_tokens),
            needs_prices: run.or(case).or(month).is_some(),
        })
    }
}

/// What was spent or set aside so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Spent {
    pub run: Money,
    pub case: Money,
    pub month: Money,
    pub run_tokens: u64,
}

/// The worst case of a call that is about to be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ask {
    /// `None`: nobody knows the price.
    pub cost: Option<Money>,
    pub tokens: u64,
}

/// Whether a call fits under every cap; if not, the sentence that a person needs.
pub fn admit(budget: &Budget, spent: &Spent, ask: &Ask) -> Result<(), String> {
    if spent.run_tokens.saturating_add(ask.tokens) > budget.run_tokens {
        return Err(format!(
            "the next call may take {} tokens, and {} of the run's {} are used; raise [budget] run_tokens",
            ask.tokens, spent.run_tokens, budget.run_tokens
        ));
    }
    let Some(cost) = ask.cost else {
        return if budget.needs_prices {
            Err("its price is unknown, so no cap in dollars can be kept; set `price` on the agent, or use [budget] run_tokens"
                .into())
        } else {
            Ok(())
        };
    };
    let caps = [
        ("run", "run_usd", Some(budget.run), spent.run),
        ("change", "case_usd", budget.case, spent.case),
        ("month", "month_usd", budget.month, spent.month),
    ];
    for (what, key, cap, so_far) in caps {
        if let Some(cap) = cap
            && so_far.plus(cost) > cap
        {
            return Err(format!(
                "the next call may cost {cost}, and {so_far} of this {what}'s {cap} is spent; raise [budget] {key}"
            ));
        }
    }
    Ok(())
}

/// The calendar month (UTC) of a moment, `2026-11`.
pub fn month_of(millis: u64) -> String {
    let (year, month, _) = crate::calendar::date_of(millis);
    format!("{year:04}-{month:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn months_begin_at_midnight_utc() {
        for (millis, month) in
            [(0, "1970-01"), (1_709_251_199_999, "2024-02"), (1_709_251_200_000, "2024-03"), (1_798_761_599_000, "2026-12")]
        {
            assert_eq!(month_of(millis), month);
        }
    }

    fn dollars(amount: f64) -> Money {
        Money::from_dollars(amount).unwrap()
    }

    fn ask(amount: f64) -> Ask {
        Ask { cost: Some(dollars(amount)), tokens: 1000 }
    }

    /// Issue 4, build 5: every cap holds, and the sentence names the key to raise.
    #[test]
    fn each_cap_stops_a_call_that_might_cross_it() {
        let budget = BudgetConfig { run_usd: Some(1.0), case_usd: Some(2.0), month_usd: Some(3.0), run_tokens: Some(10_000) }
            .budget()
            .unwrap();
        let spent = |run, case, month| Spent { run: dollars(run), case: dollars(case), month: dollars(month), run_tokens: 0 };
        assert_eq!(admit(&budget, &spent(0.5, 0.5, 0.5), &ask(0.5)), Ok(()));
        for (spent, key) in
            [(spent(0.6, 0.6, 0.6), "run_usd"), (spent(0.0, 1.6, 1.6), "case_usd"), (spent(0.0, 0.0, 2.6), "month_usd")]
        {
            assert!(admit(&budget, &spent, &ask(0.5)).unwrap_err().contains(key), "{key}");
        }
        let tokens = Spent { run_tokens: 9_500, ..Spent::default() };
        assert!(admit(&budget, &tokens, &ask(0.0)).unwrap_err().contains("run_tokens"));
    }

    /// Issue 4, build 5: unknown is never nothing.
    #[test]
    fn an_unknown_price_cannot_pass_a_cap_in_dollars() {
        let unknown = Ask { cost: None, tokens: 1000 };
        assert!(
            admit(&BudgetConfig { run_usd: Some(1.0), ..BudgetConfig::default() }.budget().unwrap(), &Spent::default(), &unknown)
                .is_err()
        );
        assert_eq!(admit(&Budget::default(), &Spent::default(), &unknown), Ok(()));
    }
}
