//! Why a seat gave no answer, at a length that a person reads. It may quote what an agent, a server or a program in the sandbox said,
//! and any of them can say a lot.

use crate::publish::outgoing::Outgoing;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;

const MAX_BYTES: usize = 2_000;

/// Without secrets, and bounded, wherever it comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String")]
pub struct Reason(Outgoing);

impl Reason {
    pub fn into_string(self) -> String {
        self.0.into_string()
    }
}

impl From<&str> for Reason {
    fn from(text: &str) -> Self {
        Self(Outgoing::shortened(text, MAX_BYTES))
    }
}

impl From<String> for Reason {
    fn from(text: String) -> Self {
        text.as_str().into()
    }
}

impl Deref for Reason {
    type Target = str;
    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl JsonSchema for Reason {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Reason".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        String::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use super::super::receipt::SeatState;
    use super::*;
    use crate::call::fault::Fault;

    #[test]
    fn no_reason_is_long() {
        let message = "m".repeat(300_000);
        let state = SeatState::from_fault(&Fault::Nonsense { message: message.clone() });
        assert!(state.trouble().is_some_and(|words| words.len() <= MAX_BYTES && words.ends_with('…')));
        // An old ledger may hold a long one.
        let kept = serde_json::json!({ "failed": { "reason": message } });
        let SeatState::Failed { reason } = serde_json::from_value(kept).unwrap() else { panic!("it is a failure") };
        assert_eq!(reason.len(), MAX_BYTES);
        assert_eq!(serde_json::to_value(&reason).unwrap(), *reason);
    }
}
