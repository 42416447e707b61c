//! Dollars, exactly: whole millionths, so that sums are the same in any order.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Money {
    /// Millionths of a dollar.
    pub micros: u64,
}

impl Money {
    pub const ZERO: Money = Money { micros: 0 };

    pub fn micros(micros: u64) -> Self {
        Self { micros }
    }

    /// From a number in a config or an agent's output. What is no amount of money is none.
    pub fn from_dollars(dollars: f64) -> Option<Self> {
        let micros = (dollars * 1e6).round();
        (micros.is_finite() && (0.0..1e15).contains(&micros)).then_some(Self { micros: micros as u64 })
    }

    pub fn dollars(self) -> f64 {
        self.micros as f64 / 1e6
    }

    pub fn plus(self, other: Money) -> Money {
        Money { micros: self.micros.saturating_add(other.micros) }
    }

    pub fn minus(self, other: Money) -> Money {
        Money { micros: self.micros.saturating_sub(other.micros) }
    }
}

impl std::iter::Sum for Money {
    fn sum<I: Iterator<Item = Money>>(parts: I) -> Money {
        parts.fold(Money::ZERO, Money::plus)
    }
}

/// `$1.25`, and enough digits to tell a fraction of a cent from nothing.
impl std::fmt::Display for Money {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (whole, rest) = (self.micros / 1_000_000, self.micros % 1_000_000);
        if rest % 10_000 == 0 || self.micros >= 1_000_000 {
            write!(f, "${whole}.{:02}", rest / 10_000)
        } else if self.micros >= 1_000 {
            write!(f, "${whole}.{:04}", rest / 100)
        } else {
            write!(f, "${whole}.{rest:06}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_amounts_never_look_like_nothing() {
        let shown: Vec<String> = [0, 7, 1_234, 250_000, 1_999_999].map(|micros| Money { micros }.to_string()).into();
        assert_eq!(shown, ["$0.00", "$0.000007", "$0.0012", "$0.25", "$1.99"]);
    }

    #[test]
    fn what_is_no_amount_is_none() {
        assert_eq!(Money::from_dollars(0.5), Some(Money { micros: 500_000 }));
        assert_eq!([-1.0, f64::NAN, f64::INFINITY].map(Money::from_dollars), [None; 3]);
    }
}
