//! How long a call may take, in seconds.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Each may be left out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClockConfig {
    /// Until the first byte of an answer. Default 120.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_byte_seconds: Option<u64>,
    /// Between two signs of life. Default 60; for agent CLIs 240.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_seconds: Option<u64>,
    /// For the whole answer, retries included. Default 600.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_seconds: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Clocks {
    pub first_byte: u64,
    pub idle: u64,
    pub total: u64,
}

impl ClockConfig {
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }

    pub fn for_model(&self) -> Clocks {
        self.or(Clocks { first_byte: 120, idle: 60, total: 600 })
    }

    /// A CLI thinks and calls tools between two lines of output.
    pub fn for_cli(&self) -> Clocks {
        self.or(Clocks { first_byte: 240, idle: 240, total: 900 })
    }

    fn or(&self, usual: Clocks) -> Clocks {
        Clocks {
            first_byte: self.first_byte_seconds.unwrap_or(usual.first_byte),
            idle: self.idle_seconds.unwrap_or(usual.idle),
            total: self.total_seconds.unwrap_or(usual.total),
        }
    }

    pub fn problem(&self) -> Option<&'static str> {
        let given = [self.first_byte_seconds, self.idle_seconds, self.total_seconds];
        given.contains(&Some(0)).then_some("a clock of 0 seconds would never let it answer")
    }
}
