//! Tokens, in one meaning for all vendors. They count differently (Anthropic's input leaves cached tokens out, OpenAI's and
//! Gemini's holds them), so adapters normalise before anything is added up.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Usage {
    /// Input billed at full price: neither read from a cache nor written to one.
    pub input: u64,
    pub cache_read: u64,
    pub cache_write: u64,
    /// Everything the model wrote, thoughts included.
    pub output: u64,
    /// How many of these the vendor did not count: the worst case of answers that broke off, or whose count could not be had.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub uncounted: u64,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Usage {
    pub fn plus(self, other: Usage) -> Usage {
        Usage {
            input: self.input.saturating_add(other.input),
            cache_read: self.cache_read.saturating_add(other.cache_read),
            cache_write: self.cache_write.saturating_add(other.cache_write),
            output: self.output.saturating_add(other.output),
            uncounted: self.uncounted.saturating_add(other.uncounted),
        }
    }

    pub fn total_input(&self) -> u64 {
        self.input.saturating_add(self.cache_read).saturating_add(self.cache_write)
    }

    pub fn is_nothing(&self) -> bool {
        *self == Usage::default()
    }
}

impl std::iter::Sum for Usage {
    fn sum<I: Iterator<Item = Usage>>(parts: I) -> Usage {
        parts.fold(Usage::default(), Usage::plus)
    }
}

/// A guess from the size of a text, on the high side: what is reserved must cover what is spent.
pub fn estimate_tokens(text: &str) -> u64 {
    (text.len() as u64 * 10).div_ceil(33)
}
